/* compare.h: two runs side by side, step by step. Steps are aligned by number. What counts as input
   and output are the recorded values, not their bytes: those that were stored in another codec can
   be the same. Big values are read when they could differ, one at a time. One thread. */
#ifndef HF_PROJECT_COMPARE_H
#define HF_PROJECT_COMPARE_H

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"
#include "model/event.h"
#include "project/track.h"

/* One of the two. Borrowed. */
typedef struct hf_compare_run {
    const hf_event *events; /* big payloads may be erased ones with a size */
    size_t count;
    int64_t run_key;
    /* An event with all its bytes; NULL: `events` has them. */
    hf_status (*whole)(void *ctx, hf_mem *mem, int64_t seq, hf_event *out_event, hf_err *err);
    void *ctx;
} hf_compare_run;

typedef enum hf_compare_state {
    HF_COMPARE_SAME,
    HF_COMPARE_DIFFERENT_STEP, /* another kind, or another name */
    HF_COMPARE_DIFFERENT_INPUT,
    HF_COMPARE_DIFFERENT_OUTPUT, /* or it ended in another way */
    HF_COMPARE_ONLY_A,
    HF_COMPARE_ONLY_B
} hf_compare_state;

typedef struct hf_compare hf_compare;

/* Lives in `mem`. HF_NOMEM. */
HF_NODISCARD hf_status hf_compare_new(hf_mem *mem, const hf_compare_run *a, const hf_compare_run *b,
                                      hf_compare **out_compare, hf_err *err);
void hf_compare_free(hf_compare *compare); /* NULL is allowed */

typedef struct hf_compare_step {
    int64_t step;
    hf_compare_state state;
    const hf_track_step *a; /* NULL: the run has no such step, or nothing of how it began */
    const hf_track_step *b;
} hf_compare_step;

/* The next step; false in *out_there at the end. What reading a value says. */
HF_NODISCARD hf_status hf_compare_next(hf_compare *compare, hf_compare_step *out_step,
                                       bool *out_there, hf_err *err);

/* Whether what went into the runs, or what came out of them and how they ended, is the same. */
HF_NODISCARD hf_status hf_compare_input(hf_compare *compare, bool *out_same, hf_err *err);
HF_NODISCARD hf_status hf_compare_output(hf_compare *compare, bool *out_same, hf_err *err);

#endif
