/* task.h: a piece of work for a worker in another process, as the key under which everybody speaks
   of it, and the states that it goes through. The table in task.c decides each move; nothing else
   does. Pure: no lock, no clock, no store. */
#ifndef HF_TASK_TASK_H
#define HF_TASK_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "holdfast/worker.h"

enum { HF_TASK_KINDS = 5 }; /* of hf_task_kind */

/* Names one hand-out of one piece of work. What is offered again after a lease ended, or by another
   owner of the run, has another attempt or epoch: messages about the one before do not fit it. */
typedef struct hf_task_key {
    hf_task_kind kind;
    int64_t subject; /* key of the run, of the activity, or of the question */
    int64_t attempt;
    int64_t epoch; /* of the run's shard; HF_NONE where there are no shards */
} hf_task_key;

typedef enum hf_task_state {
    HF_TASK_UNKNOWN,   /* there is no record of it */
    HF_TASK_OFFERED,   /* a poll may take it */
    HF_TASK_CLAIMED,   /* a poll took it: its owner has to confirm that, then it is leased */
    HF_TASK_REPORTED,  /* its worker has reported, and the report is committed */
    HF_TASK_WITHDRAWN, /* its owner took it back */
    HF_TASK_EXPIRED    /* the lease ended without a report */
} hf_task_state;

typedef enum hf_task_move {
    HF_TASK_OFFER,
    HF_TASK_CLAIM,
    HF_TASK_LEASE,   /* the claim is confirmed */
    HF_TASK_RELEASE, /* the poll left before that */
    HF_TASK_RESUME,  /* a lease that an engine before this one gave */
    HF_TASK_REPORT,
    HF_TASK_WITHDRAW,
    HF_TASK_EXPIRE
} hf_task_move;

enum { HF_TASK_STATES = HF_TASK_EXPIRED + 1, HF_TASK_MOVES = HF_TASK_EXPIRE + 1 };

bool hf_task_key_equal(const hf_task_key *a, const hf_task_key *b);

/* Where the move leads. False: it is not one that this state has. */
bool hf_task_next(hf_task_state from, hf_task_move on, hf_task_state *out_to);

/* Whether the record ends there. */
bool hf_task_over(hf_task_state state);

#endif
