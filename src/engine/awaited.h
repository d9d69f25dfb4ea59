/* awaited.h: runs that callers at other nodes wait for, so that a commit of one is told and all
   others cost nothing. A waiting node says so again with each of its sweeps: what it said counts
   for a little longer than that, and nobody has to take it back. Any thread; never blocks. */
#ifndef HF_ENGINE_AWAITED_H
#define HF_ENGINE_AWAITED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

typedef struct hf_awaited hf_awaited;

/* `sweep_us`: how often a waiting node says it again. */
HF_NODISCARD hf_status hf_awaited_open(int64_t sweep_us, hf_awaited **out_awaited, hf_err *err);
void hf_awaited_close(hf_awaited *awaited); /* NULL is allowed */

/* A node waits for the run; 0: for any. Too many to keep count as all. */
void hf_awaited_add(hf_awaited *awaited, int64_t run, int64_t now_us);

bool hf_awaited_has(hf_awaited *awaited, int64_t run, int64_t now_us);

#endif
