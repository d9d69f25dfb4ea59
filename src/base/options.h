/* options.h: structs of options as callers hand them over. Their first member says how long the
   caller's program knows them; members are only ever appended, and zero means default. This is the
   only place that believes such a size. */
#ifndef HF_BASE_OPTIONS_H
#define HF_BASE_OPTIONS_H

#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"

enum { HF_OPTIONS_BYTES_MAX = 4096 }; /* longer ones are a size that was never set */

/* Copies what the caller's program knows; what it does not know, and all of it when nothing is
   given, stays as it was. HF_MISUSE: the size is none that such a struct can have. HF_UNSUPPORTED:
   a newer program uses what this library does not know; what it leaves zero does no harm. */
HF_NODISCARD hf_status hf_options_take(void *out, size_t size, const void *given, hf_err *err);

#endif
