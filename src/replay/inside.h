/* inside.h: the inside of a replay, shared by the files of this folder and by nobody else.
   Functions that say "on the coroutine" may leave it and come back much later, or never. */
#ifndef HF_REPLAY_INSIDE_H
#define HF_REPLAY_INSIDE_H

#include <setjmp.h>

#include "base/mem.h"
#include "base/attr.h"
#include "base/rng.h"
#include "base/value.h"
#include "replay/coro.h"
#include "replay/far.h"
#include "replay/history.h"
#include "replay/replay.h"
#include "replay/steps.h"

/* Here they are made: a call of one by another has the line of the first. */
#undef hf_async
#undef hf_sleep
#undef hf_side_effect
#undef hf_version
#undef hf_patched
#undef hf_deprecate_patch
#undef hf_memo
#undef hf_search_attributes
#undef hf_label
#undef hf_messages_peek
#undef hf_messages_receive
#undef hf_continue_as_new

enum { HF_CTX_TAG = 0x68666378 }; /* tells a workflow's handle from an activity's */

/* Where user code stands: steps are for the body alone. */
typedef enum hf_place {
    HF_PLACE_OUTSIDE, /* not on the coroutine */
    HF_PLACE_BODY,
    HF_PLACE_UPDATE,
    HF_PLACE_EFFECT, /* computing a side effect */
    HF_PLACE_PREDICATE,
    HF_PLACE_QUERY /* a query or an update's check, on the caller's stack */
} hf_place;

/* Why the coroutine came back. */
typedef enum hf_leave {
    HF_LEAVE_PARKED,
    HF_LEAVE_CLOSED,
    HF_LEAVE_BLOCKED,
    HF_LEAVE_BROKEN, /* replay->failure says why */
    HF_LEAVE_ABANDONED
} hf_leave;

/* A failure as code sees it, and what the engine must know of it. */
typedef struct hf_failure {
    hf_error seen; /* first: code holds a pointer to it */
    hf_failure_category category;
    int64_t step;                /* that failed; 0: raised by code */
    bool recorded;               /* history says already that code went on after it */
    bool cancelled;              /* the run's own cancellation */
    struct hf_failure *older;    /* of all failures of this replay */
    struct hf_failure *survivor; /* the next that code went on after */
} hf_failure;

/* A place that failures fly to. Lives on the coroutine's stack. */
typedef struct hf_frame {
    struct hf_frame *outer;
    hf_place place;
    hf_failure *failure;
    jmp_buf jump;
} hf_frame;

typedef struct hf_deferred {
    struct hf_deferred *older;
    void (*fn)(void *);
    void *arg;
} hf_deferred;

typedef struct hf_compensation {
    struct hf_compensation *older;
    const char *activity;
    hf_value in;
} hf_compensation;

typedef struct hf_child_call {
    struct hf_child_call *next;
    int64_t step;
    int64_t open_seq; /* 0: not recorded yet */
    char text[HF_ULID_TEXT_SIZE];
} hf_child_call;

struct hf_ctx {
    uint32_t tag;
    hf_replay *replay;
};

struct hf_replay {
    hf_ctx ctx;
    hf_replay_info info;
    hf_history history;
    hf_mem *mem;  /* for the life of the replay: values, errors, state */
    hf_mem *turn; /* for one turn: decisions */
    hf_coro *coro;
    hf_steps *steps;                /* of a machine, which has no coroutine */
    const hf_step_end *end;         /* what its step decided, for the next turn */
    hf_far *far;                    /* of a run whose code is in another process */
    const hf_worker_answer *answer; /* what its worker decided, for the next turn */
    void *state;
    hf_rng rng;
    struct hf_sha256 *sha; /* made when a condition first has a revision */
    /* the turn */
    hf_decision_row *decisions;
    size_t decision_count;
    size_t decision_room;
    int64_t events; /* that the decisions will become, about */
    bool measured;  /* code asked for the length of history */
    hf_leave leave;
    hf_err failure;
    hf_replay_mismatch mismatch;
    const char *waiting;
    char waiting_text[256];
    /* the life */
    char line[HF_SOURCE_LINE_SIZE]; /* the newest source line that history has */
    bool closed, blocked, broken, spoiled;
    bool frozen;  /* only what history has resolved is passed */
    bool leaving; /* the run leaves memory, and its code asked to be told */
    int refused;  /* steps that it tried to take then */
    /* the code */
    hf_place place;
    const char *here; /* source line of the step that comes next, where its call has none */
    bool quiet;       /* an update is run again: what it sends was sent */
    hf_frame *frame;
    hf_failure *failures; /* newest first */
    hf_failure *survived; /* oldest first: not yet told to history */
    hf_fact consumed;     /* the newest fact the code has seen */
    bool cancel_heard;
    bool shielded; /* compensating: no cancellation */
    int64_t notes;
    int64_t outgoing;
    hf_deferred *deferred;
    hf_compensation *compensations;
    hf_child_call *children;
    hf_child_call **children_end;
};

/* What code wants of a step. */
typedef struct hf_want {
    hf_step_look look; /* borrowed texts */
    const char *at;
} hf_want;

/* ---- turn.c: leaving the coroutine, deciding */

/* On the coroutine: gives the turn back; comes back with the next one. */
void hf_in_park(hf_replay *replay, const char *kind, const char *name);

/* On the coroutine: for good. */
HF_NORETURN_FN void hf_in_leave(hf_replay *replay, hf_leave leave);
HF_NORETURN_FN void hf_in_break(hf_replay *replay, hf_status status, const char *what);

/* On the coroutine: a decision of the turn, zeroed but for its kind, step and line. `events`: what
   it will become. Ends the turn when the batch is full. */
hf_decision_row *hf_in_decide(hf_replay *replay, hf_decision kind, int64_t step, int64_t events);

/* On the coroutine: ends the turn when `more` decisions do not fit any more. */
void hf_in_room(hf_replay *replay, size_t more);

/* On the coroutine: copies for a decision. NULL gives a slice without pointer. */
hf_slice hf_in_text(hf_replay *replay, const char *text);
hf_decision_payload hf_in_payload(hf_replay *replay, hf_value value);
void hf_in_decide_failure(hf_replay *replay, hf_decision_row *row, const hf_failure *failure);

/* On the coroutine: memory that lasts as long as the replay; breaks off when there is none. */
void *hf_in_alloc(hf_replay *replay, size_t bytes);
char *hf_in_keep(hf_replay *replay, const char *text);

/* On the coroutine: the value of a recorded payload; JSON null when there is none. */
hf_value hf_in_value(hf_replay *replay, const hf_stored *stored);

/* ---- flow.c: failures */

/* The coroutine's main function; arg is the replay. */
void hf_in_body(void *arg);

hf_failure *hf_in_failure(hf_replay *replay, hf_status status, hf_failure_category category,
                          const char *type, const char *message);

/* Flies to the nearest frame. */
/* The run leaves memory: the innermost frame is told. */
HF_NORETURN_FN void hf_in_unwind(hf_replay *replay);
HF_NORETURN_FN void hf_in_raise(hf_replay *replay, hf_failure *failure);
HF_NORETURN_FN void hf_in_misuse(hf_replay *replay, const char *type, const char *format, ...)
    HF_FORMAT(3, 4);

/* Code goes on though it was handed failures: a decision says which. */
void hf_in_tell_survived(hf_replay *replay);

/* Hands a step's failure to *err, or raises it. Always NULL. */
hf_value hf_in_fail_step(hf_replay *replay, hf_failure *failure, const hf_error **err);

/* The failure of a record that ended so. */
/* A recorded failure cannot be given back to the code: replay->mismatch says so. */
void hf_in_unresolved(hf_replay *replay, const hf_record *record, const char *type, bool decoder);
hf_failure *hf_in_record_failure(hf_replay *replay, const hf_record *record);

void hf_in_run_deferred(hf_replay *replay);

/* ---- update.c */

/* Runs what history says was applied at or before `step`, recorded before `limit`. */
void hf_in_updates_recorded(hf_replay *replay, int64_t step, int64_t limit);

/* Runs what waits, in order. Only where code has no recorded fact to go on with. */
void hf_in_updates_pending(hf_replay *replay, int64_t step);

const hf_update_def *hf_in_update_def(const hf_replay *replay, const char *name, size_t len);

/* ---- guard.c */

/* Whether code and history mean the same step; fills the mismatch when they do not. */
bool hf_in_same(hf_replay *replay, const hf_record *record, const hf_want *want);
void hf_in_mismatch(hf_replay *replay, int64_t step, const char *at, const char *expected,
                    const hf_record *record);

/* ---- step.c: what all steps share, on the coroutine */

/* The replay behind a handle that may begin a step now; raises or returns NULL otherwise. */
hf_replay *hf_in_ready(hf_ctx *w);

/* Raises unless the name is one of its kind. */
void hf_in_name(hf_replay *replay, hf_name_kind kind, const char *name);

/* Copies options as far as the program knows them (base/options.h); raises when they are none. */
void hf_in_options(hf_replay *replay, void *out, size_t size, const void *given);

/* Begins the next step. *out_fresh: nothing is recorded, so decide. Returns the failure that the
   run hears of instead (a cancellation), or NULL. */
hf_failure *hf_in_enter(hf_replay *replay, const hf_want *want, hf_record **out_record,
                        bool *out_fresh);

/* A cancellation the code has not heard of. */
bool hf_in_cancel_waits(const hf_replay *replay);

/* Hears it if the next step was not begun before it came; NULL otherwise. */
hf_failure *hf_in_cancel_due(hf_replay *replay);

/* Whether a fact is there for the code to see: not if a cancellation came before it. */
bool hf_in_visible(const hf_replay *replay, const hf_fact *fact);

/* Whether the step has ended as far as code may know. */
bool hf_in_ended(const hf_replay *replay, const hf_record *record);

void hf_in_consume(hf_replay *replay, const hf_fact *fact);

/* Before parking: a cancellation, which is returned, or else the updates that history has, then
   those that wait. */
hf_failure *hf_in_round(hf_replay *replay);

/* Parks until the step has ended. Returns a cancellation instead, or NULL. */
hf_failure *hf_in_await(hf_replay *replay, hf_record *record, const char *kind, const char *name);

/* Code will not look at the step again. */
void hf_in_pass(hf_replay *replay, hf_record *record);

/* ---- call.c: activities and children, shared with group.c */

typedef struct hf_call {
    bool child;
    const char *name;
    const char *at;
    hf_activity_opts activity; /* one of the two */
    hf_child_opts options;
} hf_call;

hf_call hf_in_activity_call(hf_replay *replay, const char *name, const hf_activity_opts *o);
hf_call hf_in_child_call(hf_replay *replay, const char *type, const hf_child_opts *o);
const hf_error **hf_in_call_err(const hf_call *call);
hf_value hf_in_call_input(const hf_call *call);
hf_want hf_in_call_want(const hf_call *call);

/* Decides a call that was entered fresh; groups may be NULL. */
void hf_in_call_decide(hf_replay *replay, const hf_call *call, hf_value input, int64_t step,
                       const hf_decision_group *groups, size_t group_count);

/* Remembers a child for hf_children. */
void hf_in_child_note(hf_replay *replay, const hf_record *record);

/* Runs one activity as a step of its own; *out_failure instead of raising. */
hf_value hf_in_activity(hf_replay *replay, const hf_call *call, hf_value input,
                        hf_failure **out_failure);

#endif
