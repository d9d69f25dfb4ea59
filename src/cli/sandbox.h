/* sandbox.h: what the serving process gives up before it takes its first request, so that whoever
   takes it over gets little: it starts no program, gains no privilege, writes nowhere but where its
   store and its payloads are, and, with a store that is a file, connects to nobody. For good: there
   is no way back, and threads and children inherit it. */
#ifndef HF_CLI_SANDBOX_H
#define HF_CLI_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"

typedef struct hf_sandbox {
    const char *const *folders; /* that are written to */
    size_t count;
    bool connects; /* it may open connections */
} hf_sandbox;

/* To be called before other threads are there. What this system does not offer is left out; HF_IO
   when it refuses what it offers. */
HF_NODISCARD hf_status hf_sandbox_enter(const hf_sandbox *sandbox, hf_err *err);

#endif
