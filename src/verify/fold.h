/* fold.h: one run, folded. The scan hands over what belongs to the run: first the row of the run,
   then its other rows in any order, then its history chunk by chunk; at the end everything must
   agree. Memory is bounded by what is open in the run and by the number of its commands and
   payload references, never by the length of its history, and is given back with each run.

   A history that cannot be read on (a gap, a chunk that does not decode) makes the fold blind:
   from then on it reports only what does not depend on the events it could not see.

   Functions report findings to `report` and fail only for want of memory (HF_NOMEM) or when a
   digest cannot be computed. One thread. */
#ifndef HF_VERIFY_FOLD_H
#define HF_VERIFY_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/crypto.h"
#include "base/err.h"
#include "base/slice.h"
#include "verify/report.h"

typedef struct hf_fold hf_fold;

/* The run as its row has it. HF_NONE (store/row.h) stands for null. */
typedef struct hf_fold_run {
    int64_t number;
    int64_t status;
    int64_t closed_reason;
    int64_t blocked;
    int64_t last_seq;
    int64_t last_us;
    int64_t history_bytes;
    int64_t command_seq;
    int64_t message_seq;
    int64_t message_cursor;
    int64_t closed_us;
    int64_t inherited_cursor; /* of the run before, 0 when there is none */
    int64_t execution_deadline_us;
    int64_t run_deadline_us;
    hf_slice head;
} hf_fold_run;

typedef struct hf_fold_link {
    int64_t key;
    int64_t kind; /* hf_link_type */
    int64_t step;
    int64_t policy;
    int64_t child_run;
    bool child_exists;
    bool child_open; /* the current run of the child's instance */
    bool child_told; /* that run has a row in its inbox */
    bool taken_over; /* by another run, which answers for the child from then on */
} hf_fold_link;

typedef struct hf_fold_activity {
    int64_t key;
    int64_t step;
    int64_t status;
    int64_t attempt;
} hf_fold_activity;

typedef struct hf_fold_timer {
    int64_t key;
    int64_t step;
    int64_t status;
    int64_t due_us;
    bool matched; /* set by the fold: history has it pending */
} hf_fold_timer;

typedef struct hf_fold_task {
    int64_t key;
    int64_t kind;
    int64_t status;
} hf_fold_task;

typedef struct hf_fold_command {
    int64_t key;
    int64_t type;
    int64_t status;
    int64_t outcome;
    int64_t command_seq;
    int64_t message_seq;
    int64_t state;
    int32_t accepted; /* the rest is counted by the fold: events that accept, apply, answer it */
    int32_t applied;
    int32_t completed;
} hf_fold_command;

typedef struct hf_fold_payload {
    int64_t key;
    int64_t codec;
    int64_t size;
    hf_slice digest;
} hf_fold_payload;

typedef struct hf_fold_chunk {
    int64_t first_seq;
    int64_t count;
    int64_t format;
    hf_slice hash;
    hf_slice body;
} hf_fold_chunk;

/* `report` is borrowed. `chain`: recompute the hashes. */
HF_NODISCARD hf_status hf_fold_new(hf_report *report, bool chain, hf_fold **out_fold, hf_err *err);
void hf_fold_free(hf_fold *fold); /* NULL is allowed */

/* A run begins: everything of the run before is forgotten. `facts` NULL: rows name a run that is
   not there; each of them is reported. */
void hf_fold_begin(hf_fold *fold, int64_t run, const hf_fold_run *facts);

HF_NODISCARD hf_status hf_fold_link_add(hf_fold *fold, const hf_fold_link *link, hf_err *err);
HF_NODISCARD hf_status hf_fold_activity_add(hf_fold *fold, const hf_fold_activity *activity,
                                            hf_err *err);
HF_NODISCARD hf_status hf_fold_timer_add(hf_fold *fold, const hf_fold_timer *timer, hf_err *err);
HF_NODISCARD hf_status hf_fold_task_add(hf_fold *fold, const hf_fold_task *task, hf_err *err);
HF_NODISCARD hf_status hf_fold_command_add(hf_fold *fold, const hf_fold_command *command,
                                           hf_err *err);
void hf_fold_inbox_add(hf_fold *fold, int64_t key);
/* Whether the row says that the run is paused, and archived. */
void hf_fold_marks_set(hf_fold *fold, bool paused, bool archived);
HF_NODISCARD hf_status hf_fold_payload_add(hf_fold *fold, const hf_fold_payload *payload,
                                           hf_err *err);
HF_NODISCARD hf_status hf_fold_chunk_add(hf_fold *fold, const hf_fold_chunk *chunk, hf_err *err);

/* The run is complete: compares everything. */
HF_NODISCARD hf_status hf_fold_end(hf_fold *fold, hf_err *err);

/* Events folded since it was made. */
int64_t hf_fold_events(const hf_fold *fold);

#endif
