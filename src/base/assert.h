/* assert.h: invariants that stay checked in release builds.
   A broken invariant panics, because going on could write a false history. Never use it on a
   caller's mistake: misuse of the public API returns HF_MISUSE. */
#ifndef HF_BASE_ASSERT_H
#define HF_BASE_ASSERT_H

#include "base/attr.h"

/* Called with the broken condition; must not return. Tests replace it to observe a panic. */
typedef void hf_panic_fn(const char *condition, const char *file, int line);

/* Replaces the panic hook and returns the previous one. Not for use while engines run. */
hf_panic_fn *hf_panic_hook(hf_panic_fn *hook);

HF_NORETURN_FN void hf_panic(const char *condition, const char *file, int line);

#define HF_ASSERT(condition) ((condition) ? (void)0 : hf_panic(#condition, __FILE__, __LINE__))

#endif
