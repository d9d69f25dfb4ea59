/* step.h: what goes into one step of a machine and what comes out of it. Plain data in an arena of
   the side that made it: replay folds history into the input, the engine runs the step, and what
   the step decided travels back as its end. */
#ifndef HF_MODEL_STEP_H
#define HF_MODEL_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/slice.h"
#include "model/decision.h"
#include "model/vocab.h"

enum { HF_STEP_PRIORITY = 5 }; /* when nothing else is said; the lower goes first */

/* A signal in the inbox of a machine. */
typedef struct hf_step_message {
    int64_t seq; /* of the event that brought it */
    char id[HF_ULID_TEXT_SIZE];
    hf_slice name;
    hf_decision_payload arguments;
    bool awaited; /* the step was woken for its name */
} hf_step_message;

/* A child that the machine started, as far as it got. */
typedef struct hf_step_child {
    hf_slice id;
    hf_slice type;
    hf_slice status; /* "running" while it is open */
    hf_decision_payload result;
    hf_slice failure_type; /* ptr NULL: none, both */
    hf_slice message;
} hf_step_child;

/* A step that may run. */
typedef struct hf_step_work {
    int64_t number;       /* of the execution: what it decides is recorded under this step */
    int64_t entry;        /* number of the first execution since the machine came here */
    int64_t attempt;      /* from 1 */
    int64_t available_us; /* not before */
    bool failed;          /* the attempt before did: until then is the pause behind it */
    hf_slice name;        /* empty: the first, and only its code knows how that is called */
    int64_t priority;
    hf_slice concurrency_key; /* empty: none, both */
    hf_slice rate_limit;
    int64_t weight;
    bool timed_out; /* it was woken by the timeout of the wait before it */
    /* filled by hf_replay_work_fill */
    hf_decision_payload state;
    hf_step_message *signals;
    size_t signal_count;
    hf_step_child *children;
    size_t child_count;
} hf_step_work;

/* A child to start. */
typedef struct hf_step_start {
    hf_slice type;
    hf_decision_payload input;
    hf_decision_child options;
    const char *at;
} hf_step_start;

/* What a step decided. */
typedef struct hf_step_end {
    hf_step_outcome outcome;
    hf_slice name;   /* of the step, from elsewhere; ptr NULL: it ran here */
    int64_t number;  /* hf_step_work.number: another one is stale */
    int64_t attempt; /* as the step was told */
    hf_slice next;
    hf_decision_payload state;  /* bytes.ptr NULL: unchanged */
    hf_decision_payload result; /* done */
    hf_slice concurrency_key;   /* next; ptr NULL: as it was; empty: none any more */
    hf_slice rate_limit;        /* next; ptr NULL: none */
    int64_t weight;
    int64_t after_us;      /* again: the delay; park: the timeout or HF_DECISION_NO_TIMEOUT */
    const hf_slice *names; /* park */
    size_t name_count;
    const hf_step_start *starts; /* fan_out */
    size_t start_count;
    hf_slice failure_type; /* stop, or what on_error answered; ptr NULL: none */
    hf_slice message;
    bool handled;     /* on_error decided: nothing is used up */
    const char *at;   /* source line of the decision, or NULL */
    int64_t seen_seq; /* newest event when it was handed out elsewhere; 0: it ran here */
    /* Sequences of the awaited signals that the step was handed here. */
    const int64_t *presented;
    size_t presented_count;
} hf_step_end;

#endif
