/* far.h: a run whose code lives in another process, as far as this one must know it: which
   steps its history has, which of them are open, and whether something happened that its worker has
   not seen. It takes the place of the coroutine: fed with the same events, it gives decisions too,
   those that a worker sent and those that need no code. Never reads the store, never runs code. */
#ifndef HF_REPLAY_FAR_H
#define HF_REPLAY_FAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/event.h"
#include "replay/replay.h"

typedef struct hf_far hf_far;

HF_NODISCARD hf_far *hf_far_new(void); /* NULL: no memory */
void hf_far_free(hf_far *code);        /* NULL is allowed */

HF_NODISCARD hf_status hf_far_feed(hf_far *code, const hf_event *events, size_t count,
                                   int64_t first_seq, hf_err *err);

/* A worker was handed the run as it stood at `seq`: its answer may name steps that were resolved
   after that. Also before the events are fed, for code that is made anew meanwhile. */
void hf_far_handed(hf_far *code, int64_t seq);

/* Decides: what follows from history alone, then the answer (NULL: there is none). HF_INVALID with
   a sentence when the answer contradicts history: nothing of it may be used then. The rows live
   until the next call. */
HF_NODISCARD hf_status hf_far_turn(hf_far *code, const hf_worker_answer *answer,
                                   hf_decision_row **out_rows, size_t *out_count, hf_err *err);

/* The newest event that a worker should react to; what it has seen is below when it has none. */
int64_t hf_far_news(const hf_far *code);

/* Whether the last turn ends a wait and begins it again, because no further message was on the way:
   its unit may not be re-based over one. */
bool hf_far_reopened(const hf_far *code);

/* The oldest update that waits to be applied: the seq of its UpdateAccepted, 0: none. */
int64_t hf_far_update(const hf_far *code);

/* For people: "activity", "timer", "signal:NAME", "condition:KEY", "child", "" while a worker has
   something to do. */
void hf_far_waiting(const hf_far *code, char *out_text, size_t size);

/* Bytes it occupies, for the cache of live runs. */
size_t hf_far_held(const hf_far *code);

#endif
