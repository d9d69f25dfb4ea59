/* decide.h: what workflow code asked for becomes events and open work in a unit. The only place
   where a decision turns into history, whether the code ran in this process or in a worker far
   away. It reads no database: what it must know of the world comes with hf_decide_run and
   hf_decide_host. Must never commit. */
#ifndef HF_DECIDE_DECIDE_H
#define HF_DECIDE_DECIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "commit/unit.h"
#include "model/decision.h"
#include "model/retry.h"

/* Kinds of inbox rows; stored. */
typedef enum hf_inbox_kind {
    HF_INBOX_CHILD_CLOSED = 1 /* body: how; source_run: which child run */
} hf_inbox_kind;

/* Something of the run that is open: cancelled on the record when the run closes. */
typedef struct hf_open_work {
    bool is_timer;
    int64_t key;
    int64_t step;
    int64_t attempt; /* activities */
    int64_t due_us;  /* timers */
    hf_timer_kind timer_kind;
} hf_open_work;

/* A signal or update that was accepted and waits to be applied. */
typedef struct hf_open_message {
    int64_t seq;     /* of the event that brought it */
    int64_t command; /* row key */
    hf_ulid command_id;
    int64_t number; /* message_seq */
} hf_open_message;

/* The run that decides. */
typedef struct hf_decide_run {
    const hf_run_base *base;
    int64_t namespace_key;
    hf_slice instance_id;
    hf_slice type;
    hf_slice queue;
    int64_t number;
    int64_t created_us;
    int64_t definition;            /* HF_NONE: unknown */
    int64_t execution_deadline_us; /* HF_NONE: none, both */
    int64_t run_deadline_us;
    int64_t parent_run;       /* HF_NONE: it is nobody's child */
    const hf_open_work *open; /* before this unit */
    size_t open_count;
} hf_decide_run;

/* What a child or the next run needs of its definition. */
typedef struct hf_decide_type {
    int64_t definition;
    hf_slice fingerprint;
    int64_t execution_timeout_us; /* 0: none */
    int64_t run_timeout_us;
} hf_decide_type;

/* Something to be done once the unit is committed. */
typedef enum hf_effect_kind {
    HF_EFFECT_ACTIVITY, /* run or queue it */
    HF_EFFECT_TIMER,    /* arm it */
    HF_EFFECT_RUN       /* another run has work */
} hf_effect_kind;

typedef struct hf_effect {
    struct hf_effect *next;
    hf_effect_kind kind;
    int64_t run;
    int64_t key; /* of the activity or timer */
    int64_t step;
    int64_t due_us;
    hf_timer_kind timer_kind;
    hf_slice name; /* activity type */
    hf_slice input;
    hf_payload_codec codec;
    hf_slice policy;
    bool started; /* the unit claimed it for this process */
} hf_effect;

/* What the engine answers while a unit is put together. */
typedef struct hf_decide_host {
    void *ctx;
    /* Fills the policy that the activity's definition brings; false when the type is not known
     * here. */
    bool (*activity)(void *ctx, hf_slice name, hf_retry_policy *out_policy);
    /* The definition of a workflow type; false when it is not known here. */
    bool (*workflow)(void *ctx, hf_slice type, hf_decide_type *out_type);
    /* True reserves a place in this process for the activity: it is started in the same unit. */
    bool (*claim)(void *ctx, hf_slice name, hf_slice queue);
    /* The message that the event at `seq` brought; NULL when there is none. */
    const hf_open_message *(*message)(void *ctx, int64_t seq);
    hf_slice owner; /* who claims */
} hf_decide_host;

typedef struct hf_decide {
    hf_unit *unit;
    hf_stager *stager;
    hf_keys *keys;
    const hf_decide_run *run;
    const hf_decide_host *host;
    int64_t now_us;
    hf_effect *effects; /* out, in order */
    hf_effect *last_effect;
    bool closed;           /* out: a decision closed the run */
    bool signal_timed_out; /* out: a timeout of a signal wait fired, so the unit must not be based
                              anew */
} hf_decide;

/* Adds the decisions, in order. HF_INVALID when they contradict each other (nothing may follow a
   closing one), HF_BUSY when keys ran out, HF_NOMEM. The unit is then to be thrown away. */
HF_NODISCARD hf_status hf_decide_add(hf_decide *decide, const hf_decision_row *rows, size_t count,
                                     hf_err *err);

/* ---- facts from outside that the engine folds into the same unit */

/* An attempt of an activity that ended. */
typedef struct hf_attempt_end {
    int64_t activity;
    int64_t step;
    int64_t attempt;
    int64_t reported; /* attempts that reported or timed out so far, this one included */
    hf_slice name;
    hf_slice policy; /* snapshot, empty for the default */
    bool failed;
    hf_payload_codec codec;
    hf_slice result; /* of a success */
    hf_decision_failure failure;
    hf_timeout_kind timeout; /* 0: it reported */
} hf_attempt_end;

/* Completed, failed or timed out for good, or another attempt to come (out_retry_us: when; HF_NONE:
 * none). */
HF_NODISCARD hf_status hf_decide_attempt(hf_decide *decide, const hf_attempt_end *end,
                                         int64_t *out_retry_us, hf_err *err);

/* Another attempt begins. */
HF_NODISCARD hf_status hf_decide_start_attempt(hf_decide *decide, int64_t activity, int64_t step,
                                               int64_t attempt, int64_t lost, hf_slice policy,
                                               int64_t close_deadline_us, hf_err *err);

/* A timer is due. */
void hf_decide_timer(hf_decide *decide, int64_t timer, int64_t step, hf_timer_kind kind,
                     int64_t due_us);

/* The public id of something, formed from its key and the moment it came to be. */
hf_ulid hf_decide_id(int64_t time_us, int64_t key, uint32_t counter);

/* Somebody cancels or terminates the run: it closes with everything that is open in it. `command`
   is the command's row key, added by the caller. */
void hf_decide_stop(hf_decide *decide, bool terminate, int64_t command, hf_slice reason);

/* The run is about to close: open activities, then open timers are cancelled on the record. */
void hf_decide_cancel_open(hf_decide *decide);

/* The closing event was added: open work goes away, the parent is told. */
void hf_decide_closed(hf_decide *decide, hf_run_status status, hf_closed_reason reason);

#endif
