/* answer.h: what became of an update. */
#ifndef HF_ENGINE_ANSWER_H
#define HF_ENGINE_ANSWER_H

#include "engine/call.h"

/* The life of an update, as far as it has come. */
typedef struct hf_update_life {
    hf_update_status status;
    int64_t outcome;   /* hf_cmd_outcome, HF_NONE while it is open */
    int64_t rejection; /* hf_rejection_reason, HF_NONE */
    int64_t instance;
    int64_t run;    /* which has it now; HF_NONE: none had */
    int64_t run_us; /* when that run was created */
    int64_t command_seq;
    const char *name;
    int64_t step;            /* at which it was applied; HF_NONE: at none */
    hf_value result;         /* NULL: none */
    const hf_error *failure; /* NULL: it did not fail */
    hf_ulid failure_id;      /* of that failure */
    int64_t recorded_us;
    int64_t applied_us; /* HF_NONE: not yet, both */
    int64_t closed_us;
} hf_update_life;

/* Reads it; texts and values live in `mem`. HF_NOTFOUND: the command is no update. */
HF_NODISCARD hf_status hf_answer_update(hf_call *call, int64_t command, hf_mem *mem,
                                        hf_update_life *out_life, hf_err *err);

/* Waits at most `wait` until the update is not open any more: HF_TIMEOUT, with its life so far.
   The failure is in the slot. */
HF_NODISCARD hf_status hf_answer_await(hf_call *call, int64_t command, hf_ms wait, hf_mem *mem,
                                       hf_update_life *out_life);

#endif
