/* replay_rows.h: what history recorded beside what code asks for, step by step around the place
   where they part. Pure functions. */
#ifndef HF_PROJECT_REPLAY_ROWS_H
#define HF_PROJECT_REPLAY_ROWS_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"
#include "model/event.h"

enum { HF_REPLAY_ROWS_AROUND = 10 };

/* What a replay came to. */
typedef struct hf_replay_outcome {
    int64_t step;    /* where code and history part; 0: nowhere, or at the end of the run */
    hf_slice shape;  /* what code wants there: "activity:ship" */
    hf_slice line;   /* and where that stands; empty: nobody said */
    int64_t entered; /* highest step that code began; INT64_MAX: nobody said */
    hf_slice (*line_of)(const void *ctx, int64_t step); /* of steps that it began; NULL: unknown */
    const void *ctx;
} hf_replay_outcome;

/* {"rows": [{step, state: same, different, not_reached or missing, recorded {kind, name, events,
   source_line, outcome}, wanted {kind, name, source_line}}], "rows_before", "rows_after": how many
   are left out}: those around the place, or the last ones. HF_NOMEM. */
HF_NODISCARD hf_status hf_replay_rows(hf_mem *mem, const hf_event *events, size_t count,
                                      int64_t run_key, const hf_replay_outcome *outcome,
                                      hf_value *out_rows, hf_err *err);

/* A line that lets runs pass which recorded something else at that step: {change_id, line}. Null
   where none would help. */
hf_value hf_replay_guard(hf_mem *mem, hf_slice type, hf_slice reason, int64_t step);

#endif
