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
#include "model/limit.h"
#include "model/retry.h"

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
    bool update;
    /* filled only where the run closes */
    hf_slice name;
    hf_target_scope scope;
    hf_payload_codec codec;
    hf_slice arguments; /* ptr NULL: none */
} hf_open_message;

/* A child that is open. */
typedef struct hf_open_child {
    int64_t step; /* HF_NONE: the run before this one called it */
    hf_parent_close_policy policy;
    int64_t call; /* the call's id is formed from these two */
    int64_t call_us;
    int64_t instance;
    int64_t run;
    int64_t run_us;
    hf_slice id;
} hf_open_child;

/* How a child hangs on its parent. */
typedef struct hf_child_call_info {
    int64_t step;
    hf_parent_close_policy policy;
    int64_t call;
    int64_t call_us;
    int64_t attempt;
    int64_t max_attempts; /* 0: not retried, -1: no limit */
    int64_t parent_us;    /* when the parent run began */
    hf_slice parent_id;   /* its instance */
} hf_child_call_info;

/* What a child or the next run needs of its definition. */
typedef struct hf_decide_type {
    int64_t definition;
    hf_slice fingerprint;
    int64_t execution_timeout_us; /* 0: none */
    int64_t run_timeout_us;
} hf_decide_type;

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
    int64_t begins_us;        /* its first turn is not taken before; 0: at once */
    int64_t parent_run;       /* HF_NONE: it is nobody's child */
    hf_child_call_info call;  /* of a child */
    const hf_open_work *open; /* before this unit */
    size_t open_count;
    const hf_open_child *children; /* before this unit; known where a decision asks for them */
    size_t child_count;
    const hf_open_message *messages; /* known where the run closes */
    size_t message_count;
    hf_decide_type self; /* the definition that the run's code has in this program */
    /* What is handed on to the next run. JSON; ptr NULL: none. */
    hf_slice business_key;
    hf_slice labels;
    hf_slice memo;
    hf_slice attributes;
    hf_slice compatibility;
    hf_slice retry_policy; /* of a child; children of programs before it was recorded have none */
    hf_decision_payload input; /* known where the run may be retried */
    bool cancel_asked; /* its code was asked to clean up and end; by which command, and why */
    hf_ulid cancel_command;
    hf_slice cancel_reason;
} hf_decide_run;

/* Whose an attempt is, and until when. */
typedef struct hf_attempt_lease {
    hf_slice owner;   /* a worker of another process; ptr NULL: none, it runs here */
    int64_t until_us; /* HF_NONE: it runs here */
} hf_attempt_lease;

/* Something to be done once the unit is committed. */
typedef enum hf_effect_kind {
    HF_EFFECT_ACTIVITY, /* run or queue it */
    HF_EFFECT_TIMER,    /* arm it */
    HF_EFFECT_RUN,      /* another run has work */
    HF_EFFECT_WARN      /* a limit is near: operators should know */
} hf_effect_kind;

typedef struct hf_effect {
    struct hf_effect *next;
    hf_effect_kind kind;
    int64_t run;
    int64_t key; /* of the activity or timer */
    int64_t step;
    int64_t due_us;
    hf_timer_kind timer_kind;
    hf_slice name;  /* activity type */
    hf_slice queue; /* ptr NULL: the run's */
    hf_slice input;
    hf_payload_codec codec;
    hf_slice policy;
    int64_t scheduled_us;
    int64_t close_deadline_us; /* schedule-to-close, HF_NONE: none */
    bool started;              /* the unit claimed it for this process */
    hf_attempt_lease lease;    /* or for a worker of another one, who was handed it then; */
    int64_t lease_us;          /* for so long, */
    int64_t epoch;             /* at this epoch of the run's shard */
    int64_t attempts;          /* began and failed in the unit itself; the next one may begin */
    int64_t available_us;      /* from then on */
    hf_limit limit;            /* HF_EFFECT_WARN, with the count in `key` */
} hf_effect;

/* Parts of hf_decide_run that cost a look into the store. */
typedef enum hf_decide_known {
    HF_KNOW_CHILDREN = 1,
    HF_KNOW_MESSAGES = 2, /* that are open */
    HF_KNOW_META = 4,     /* memo, search attributes, labels */
    HF_KNOW_INPUT = 8,
    HF_KNOW_WHOLE = 16 /* messages with their arguments */
} hf_decide_known;

/* How often an activity was tried. What counts against max_attempts is attempt - lost + missed. */
typedef struct hf_attempt_count {
    int64_t attempt; /* attempts that began */
    int64_t lost;    /* of those, ended with their process */
    int64_t crashes; /* of those, with their own code running */
    int64_t missed;  /* schedule-to-start windows that passed */
} hf_attempt_count;

/* An attempt of an activity that ended, or one that did not begin in time. */
typedef struct hf_attempt_end {
    int64_t activity;
    int64_t step;
    hf_attempt_count count; /* this one included */
    int64_t close_deadline_us;
    hf_slice name;
    hf_slice policy; /* snapshot, empty for the default */
    bool failed;
    hf_payload_codec codec;
    hf_slice result; /* of a success */
    hf_decision_failure failure;
    hf_timeout_kind timeout; /* 0: it reported */
} hf_attempt_end;

/* What the engine answers while a unit is put together. Without one (NULL) everything that is asked
   for must be known. */
typedef struct hf_decide_host {
    void *ctx;
    /* Fills the policy that the activity's definition brings; false when the type is not known
     * here. */
    bool (*activity)(void *ctx, hf_slice name, hf_retry_policy *out_policy);
    /* The definition of a workflow type; false when it is not known here. */
    bool (*workflow)(void *ctx, hf_slice type, hf_decide_type *out_type);
    /* Whether nobody can have a type that is not known here: it was never recorded, and no other
       process is there or may come. NULL: nobody can say. */
    bool (*nobody)(void *ctx, hf_slice type);
    /* True reserves a place in this process for the activity: it is started in the same unit. */
    bool (*claim)(void *ctx, hf_slice name, hf_slice queue);
    /* The same for one that is not known here, and a worker of another process that waits for it:
       fills in its lease, whose texts live as long as the unit. NULL: there are no such workers. */
    bool (*hand)(void *ctx, hf_effect *io_effect);
    /* Runs the first attempt of a local activity that is known here, on this thread, and fills in
       how it ended and when; what that points to lives as long as the unit. */
    hf_status (*local)(void *ctx, const hf_decision_row *row, hf_ulid id, hf_attempt_end *io_end,
                       int64_t *out_ended_us, hf_err *err);
    /* The message that the event at `seq` brought; NULL when there is none. */
    const hf_open_message *(*message)(void *ctx, int64_t seq);
    /* Fills in what hf_decide_run says is known where it is asked for (hf_decide_known). */
    hf_status (*know)(void *ctx, unsigned what, hf_err *err);
    /* Whether an instance of that id exists already. */
    hf_status (*taken)(void *ctx, hf_slice id, bool *out_taken, hf_err *err);
    /* Whether texts of the search attribute are keywords because it is registered as such. */
    hf_status (*keyword)(const void *ctx, hf_slice name, bool *out_keyword, hf_err *err);
    hf_slice owner; /* who claims */
} hf_decide_host;

typedef struct hf_decide {
    hf_unit *unit;
    hf_stager *stager;
    hf_keys *keys;
    const hf_decide_run *run;
    const hf_decide_host *host;
    const hf_limits *limits; /* NULL: the defaults */
    const char *line;        /* the newest source line in the run's history; NULL or "": none */
    const char *at;          /* source line of the decision at hand */
    bool opens;              /* its step is not open yet */
    int64_t now_us;
    hf_effect *effects; /* out, in order */
    hf_effect *last_effect;
    bool closed;      /* out: a decision closed the run */
    unsigned known;   /* hf_decide_known: asked for already */
    bool retries;     /* the run closes and another attempt of it begins */
    bool again;       /* out: a step was resolved in its own unit: the code has another turn */
    bool resolved;    /* out: a local activity was: the code may go on within this one */
    int64_t cursor;   /* of messages, as far as this unit moved it */
    int64_t commands; /* command rows that the unit adds to the run, and messages among them */
    int64_t messages;
    hf_slice memo; /* after this unit's changes; ptr NULL: unchanged, both */
    hf_slice attributes;
    struct decide_made_id *made_ids;   /* of the children that this unit creates */
    hf_err failure;                    /* of calls that return nothing; look at it before sealing */
    const hf_decision_step *last_step; /* a machine ends with it; NULL: it does not */
    bool signal_timed_out; /* out: a timeout of a signal wait fired, so the unit must not be based
                              anew */
} hf_decide;

/* Adds the decisions, in order. HF_INVALID when they contradict each other (nothing may follow a
   closing one), HF_BUSY when keys ran out, HF_NOMEM. The unit is then to be thrown away. */
HF_NODISCARD hf_status hf_decide_add(hf_decide *decide, const hf_decision_row *rows, size_t count,
                                     hf_err *err);

/* ---- facts from outside that the engine folds into the same unit */

/* Where an activity stands on the clock. */
typedef struct hf_attempt_clock {
    bool running;              /* an attempt is under way; else one waits to begin */
    int64_t since_us;          /* when it began, or from when on it may begin */
    int64_t beat_us;           /* running: the newest sign of life, its beginning included */
    int64_t close_deadline_us; /* schedule-to-close, HF_NONE: none */
} hf_attempt_clock;

/* When the next of the four timeouts passes; HF_NONE: never. */
int64_t hf_decide_due(const hf_retry_policy *policy, const hf_attempt_clock *clock);

/* Which of them has passed, 0 when none has. The order when several have: schedule_to_close,
   schedule_to_start, heartbeat, start_to_close. */
hf_timeout_kind hf_decide_late(const hf_retry_policy *policy, const hf_attempt_clock *clock,
                               int64_t now_us);

/* Completed, failed or timed out for good, or another attempt to come (out_retry_us: when; HF_NONE:
 * none). */
HF_NODISCARD hf_status hf_decide_attempt(hf_decide *decide, const hf_attempt_end *end,
                                         int64_t *out_retry_us, hf_err *err);

/* Another attempt begins, counted already. */
HF_NODISCARD hf_status hf_decide_start_attempt(hf_decide *decide, int64_t activity, int64_t step,
                                               const hf_attempt_count *count, hf_slice policy,
                                               int64_t close_deadline_us,
                                               const hf_attempt_lease *lease, hf_err *err);

/* An attempt showed that it lives. */
typedef struct hf_attempt_sign {
    int64_t activity;
    int64_t step;
    int64_t attempt;
    int64_t at_us;
    int64_t lease_until_us; /* HF_NONE: it runs here */
    hf_slice progress;      /* JSON; ptr NULL: none */
} hf_attempt_sign;

void hf_decide_heartbeat(hf_decide *decide, const hf_attempt_sign *beat);

/* The run's execution or run deadline has passed: it closes with everything that is open in it. */
void hf_decide_deadline(hf_decide *decide, hf_timeout_kind kind);

/* The run's code killed its process too often: it is not run again until somebody says so. */
void hf_decide_quarantine(hf_decide *decide, int64_t crashes);

/* A timer is due. */
void hf_decide_timer(hf_decide *decide, int64_t timer, int64_t step, hf_timer_kind kind,
                     int64_t due_us);

/* How a child ended, as its own history says. */
typedef struct hf_child_end {
    int64_t run;
    int64_t run_us;
    int64_t number;
    hf_slice id;
    hf_slice type;
    hf_child_call_info call;
    int64_t link;
    hf_run_status status;
    hf_closed_reason reason;
    int64_t closed_us;
    int64_t pause_ms; /* before this run of a child that is tried again */
    hf_decision_payload output;
    hf_slice failure_type; /* ptr NULL: none, all three */
    hf_slice message;
    hf_decision_payload details;
} hf_child_end;

/* The parent's own record of it: the only thing its code ever sees. */
void hf_decide_child_closed(hf_decide *decide, const hf_child_end *end);

/* The child goes on as another run. */
void hf_decide_child_started(hf_decide *decide, const hf_child_end *child);

/* A signal that the parent sent; `body` is the inbox row's. */
HF_NODISCARD hf_status hf_decide_child_signal(hf_decide *decide, int64_t sender, hf_slice hash,
                                              hf_slice body, hf_err *err);

/* The parent closed, and its policy closes this run too; `body` is the inbox row's. */
HF_NODISCARD hf_status hf_decide_parent_closed(hf_decide *decide, int64_t parent, hf_slice body,
                                               hf_err *err);

/* Somebody cancels or terminates the run: it closes with everything that is open in it. `command`
   is the command's row key, added by the caller. */
void hf_decide_stop(hf_decide *decide, bool terminate, int64_t command, hf_slice reason);

/* Somebody cancels the run and leaves it time to clean up: its code hears of it where it waits. */
void hf_decide_cancel_ask(hf_decide *decide, int64_t command, hf_slice reason);

/* The run's code and new attempts rest until it is resumed. */
void hf_decide_pause(hf_decide *decide, int64_t command, hf_slice reason);
void hf_decide_resume(hf_decide *decide, int64_t command, hf_slice reason);

/* Another run takes this one's place: it closes as terminated; its parent waits for `next_run`. */
void hf_decide_replace(hf_decide *decide, int64_t command, hf_slice reason, int64_t next_run);

/* A closed run is marked as archived. */
void hf_decide_archive(hf_decide *decide, int64_t command, hf_slice reason);

/* The run is about to close: open activities, then open timers are cancelled on the record. */
void hf_decide_cancel_open(hf_decide *decide);

/* The closing event was added: open work goes away, the parent is told. */
void hf_decide_closed(hf_decide *decide, hf_run_status status, hf_closed_reason reason);

#endif
