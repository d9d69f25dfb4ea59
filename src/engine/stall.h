/* stall.h: notices workflow code that does not come back. A turn takes microseconds; code that has
   not yielded for two seconds loops or blocks, and nothing else of its core goes on meanwhile. The
   watcher says so (task_timeout) in the log, and asks its host for another thread to take the seat
   over. It sleeps while no code runs: an idle engine is not woken.
 */
#ifndef HF_ENGINE_STALL_H
#define HF_ENGINE_STALL_H

#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "engine/seat.h"

typedef struct hf_stall hf_stall;

enum { HF_STALL_MS = 2000 };

/* `late` is called on the watcher's thread, again and again while a turn is late; `look` is what
   hf_seat_take wants. Must not block. NULL: it is only told. */
HF_NODISCARD hf_status hf_stall_open(const hf_log *log,
                                     void (*late)(void *ctx, hf_seat *seat, uint64_t look),
                                     void *ctx, hf_stall **out_stall, hf_err *err);
void hf_stall_close(hf_stall *stall); /* NULL is allowed; no seat is watched any more */

/* Any thread. */
void hf_stall_watch(hf_stall *stall, hf_seat *seat);
void hf_stall_ignore(hf_stall *stall, hf_seat *seat); /* one that is not watched is allowed */

/* The seat's thread, before it enters code: the watcher may be asleep. */
void hf_stall_wake(hf_stall *stall);

#endif
