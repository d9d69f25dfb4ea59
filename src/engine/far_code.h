/* far_code.h: a run whose code lives in another process, as far as this one must know it: which
   steps its history has, which of them are open, and whether something happened that its worker has
   not seen. It takes the place of the coroutine: fed with the same events, it gives decisions too,
   those that a worker sent and those that need no code. Never reads the store, never runs code. */
#ifndef HF_ENGINE_FAR_CODE_H
#define HF_ENGINE_FAR_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "decide/worker_command.h"
#include "model/event.h"

typedef struct hf_far_code hf_far_code;

/* What a worker answered to its task. Lives until the turn that uses it was committed. */
typedef struct hf_far_answer {
    const hf_worker_command *commands;
    size_t count;
    int64_t seen_seq; /* newest event that the worker knew */
} hf_far_answer;

HF_NODISCARD hf_far_code *hf_far_code_new(void); /* NULL: no memory */
void hf_far_code_free(hf_far_code *code);        /* NULL is allowed */

HF_NODISCARD hf_status hf_far_code_feed(hf_far_code *code, const hf_event *events, size_t count,
                                        int64_t first_seq, hf_err *err);

/* Decides: what follows from history alone, then the answer (NULL: there is none). HF_INVALID with
   a sentence when the answer contradicts history: nothing of it may be used then. The rows live
   until the next call. */
HF_NODISCARD hf_status hf_far_code_turn(hf_far_code *code, const hf_far_answer *answer,
                                        const hf_decision_row **out_rows, size_t *out_count,
                                        hf_err *err);

/* The newest event that a worker should react to; what it has seen is below when it has none. */
int64_t hf_far_code_news(const hf_far_code *code);

/* The oldest update that waits to be applied: the seq of its UpdateAccepted, 0: none. */
int64_t hf_far_code_update(const hf_far_code *code);

/* For people: "activity", "timer", "signal:NAME", "condition:KEY", "child", "" while a worker has
   something to do. */
void hf_far_code_waiting(const hf_far_code *code, char *out_text, size_t size);

/* Bytes it occupies, for the cache of live runs. */
size_t hf_far_code_held(const hf_far_code *code);

#endif
