/* stall.h: notices workflow code that does not come back. A turn takes microseconds; code that has
   not yielded for two seconds loops or blocks, and nothing else of the core goes on meanwhile. The
   watcher says so once per turn, in the log and through hf_stall_look; it can neither stop the
   code nor move the other runs elsewhere. It sleeps while no code runs: an idle engine is not
   woken. */
#ifndef HF_ENGINE_STALL_H
#define HF_ENGINE_STALL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

typedef struct hf_stall hf_stall;

enum { HF_STALL_MS = 2000 };

HF_NODISCARD hf_status hf_stall_open(hf_stall **out_stall, hf_err *err);
void hf_stall_close(hf_stall *stall); /* NULL is allowed */

/* The core's thread: the run's code begins, and ends. */
void hf_stall_enter(hf_stall *stall, int64_t run);
void hf_stall_leave(hf_stall *stall);

/* Any thread: the run whose code is overdue at this moment, 0 when none is. */
int64_t hf_stall_look(hf_stall *stall);

#endif
