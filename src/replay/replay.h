/* replay.h: workflow code over recorded facts. A replay owns one coroutine of one run. It is fed
   the run's events, in order, whether they were committed long ago or are about to be; it runs user
   code until the code waits for something that is not recorded, and hands out what the code asked
   for meanwhile.

   It sees no database, no clock and no other run. Everything it answers depends on the definition
   and the events alone, so that a replay that was fed one event at a time and one that was fed the
   whole history at once make the same decisions. A replay belongs to one thread for its life: a
   coroutine never moves. */
#ifndef HF_REPLAY_REPLAY_H
#define HF_REPLAY_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "holdfast/holdfast.h"
#include "model/decision.h"
#include "model/event.h"
#include "model/step.h"

typedef struct hf_replay hf_replay;

/* Reads a payload that is stored apart from its event. `bytes` must live until the replay is freed
   (put them into `mem`). Called while feeding or when code first asks for the value. */
typedef hf_status hf_replay_payload_fn(void *ctx, hf_mem *mem, const hf_payload_value *reference,
                                       hf_slice *out_bytes, hf_err *err);

/* Unread messages of a stream behind `after` (and behind what earlier runs of the instance read),
   at most `max` (0: as many as there may be): an array in `mem`, oldest first, each with an integer
   "position". Called only when code goes on live; what it answers is recorded with the step. */
typedef hf_status hf_replay_messages_fn(void *ctx, hf_mem *mem, hf_slice stream, int64_t after,
                                        size_t max, hf_value *out_messages, hf_err *err);

/* Code has begun a step; `at` is its source line, or NULL. */
typedef void hf_replay_entered_fn(void *ctx, int64_t step, const char *at);

/* What every replay of a run is seeded with. A copied run draws the numbers of the run it was
   copied from: its history says which. */
static inline uint64_t hf_replay_seed(int64_t run_key)
{
    return (uint64_t)run_key * UINT64_C(0x9e3779b97f4a7c15);
}

/* What is fixed for a run. Borrowed for the replay's life. */
typedef struct hf_replay_info {
    const hf_workflow_def *definition;
    const hf_machine_def *machine; /* the run is a step machine's; NULL: it has a body */
    bool far;                      /* its code is in another process; there is no definition */
    bool far_steps;                /* and it is a step machine's */
    hf_slice instance_id;
    hf_slice run_id;         /* text */
    uint64_t random_seed;    /* the same for every replay of the run */
    hf_slice fingerprint;    /* of the definition in this program */
    hf_slice compatibility;  /* of this worker; ptr NULL: none */
    int64_t batch_max;       /* limit command_batch_size */
    int64_t events_max;      /* limit history_transaction_size */
    int64_t payload_max;     /* limit payload_size_bytes; 0: none, all three */
    int64_t continue_events; /* history budget: hf_should_continue_as_new, 0 disables */
    int64_t continue_bytes;
    size_t stack_bytes; /* 0: the definition's, else 64 KiB */
    hf_replay_payload_fn *payload;
    void *payload_ctx;
    hf_replay_messages_fn *messages; /* NULL: streams are empty */
    void *messages_ctx;
    hf_replay_entered_fn *entered; /* NULL: nobody wants to know */
    void *entered_ctx;
    struct hf_coro_cache
        *stacks; /* of those the replay belongs to (coro.h); NULL: a new stack each */
} hf_replay_info;

typedef enum hf_turn {
    HF_TURN_PARKED, /* code waits; decisions may have been made on the way */
    HF_TURN_CLOSED, /* the last decision closes the run */
    HF_TURN_BLOCKED /* code and history disagree: nothing was decided, see hf_replay_mismatch */
} hf_turn;

/* Why a replay is blocked; the words of contract 2.3. Texts live as long as the replay. */
typedef struct hf_replay_mismatch {
    hf_replay_blocked_reason reason;
    int64_t step;
    const char *at;                /* source line of the step in code, or NULL */
    const char *expected_shape;    /* "activity:charge" */
    const char *recorded_events;   /* "TimerScheduled, TimerFired", or "no typed history" */
    const char *condition_wait_id; /* conditions; NULL when absent */
    const char *recorded_key, *current_key;                 /* conditions; "none" for no key */
    const char *recorded_fingerprint, *current_fingerprint; /* NULL when absent */
    const char *failure_type;       /* of a failure that the code cannot have back; else NULL, as */
    const char *failure_resolution; /* is what became of it (failure.def) */
    const char *sentence;           /* the whole in one line for people */
} hf_replay_mismatch;

HF_NODISCARD hf_status hf_replay_new(const hf_replay_info *info, hf_replay **out_replay,
                                     hf_err *err);

/* Abandons the coroutine: functions given to hf_defer run, nothing else of user code does, unless
   the definition says HF_WORKFLOW_UNWINDS: then the step that it waits in ends with HF_ABANDONED
   first. NULL is allowed. */
void hf_replay_free(hf_replay *replay);

/* Nothing of it goes back to info.stacks, which others use from now on. */
void hf_replay_part(hf_replay *replay);

/* Events of the run in order, beginning behind those fed before; first_seq says where. What is
   needed later is copied. HF_CORRUPT when events contradict each other (a step resolved twice, a
   resolution without an open). */
HF_NODISCARD hf_status hf_replay_feed(hf_replay *replay, const hf_event *events, size_t count,
                                      int64_t first_seq, hf_err *err);

/* Runs user code as far as it gets. Decisions of this turn replace those of the turn before. A
   limit that trips (batch_max, events_max) ends the turn with a fail_workflow decision of category
   structural_limit and no other. A run whose closing event was fed decides nothing. A failure
   (HF_NOMEM, HF_CORRUPT for a value that cannot be read, what the callbacks returned) leaves a
   replay that can only be freed: HF_ABANDONED from then on. */
HF_NODISCARD hf_status hf_replay_turn(hf_replay *replay, hf_turn *out_turn, hf_err *err);

/* The decisions of the last turn, in order; borrowed until the next turn. */
const hf_decision_row *hf_replay_decisions(const hf_replay *replay, size_t *out_count);

/* Whether code asked in the last turn how long history is, or code elsewhere decided what depends
   on which message is the newest. A unit that holds the fact it was measured at may then not be
   re-based: a replay would measure otherwise. */
bool hf_replay_measured(const hf_replay *replay);

/* Whether an update failed in the last turn: the turn ended there, and the code has seen a change
   that must not last. Record the decisions, free this replay and make another; it takes no further
   turn (HF_ABANDONED). */
bool hf_replay_spoiled(const hf_replay *replay);

/* Set after HF_TURN_BLOCKED. */
const hf_replay_mismatch *hf_replay_mismatch_get(const hf_replay *replay);

/* For a question: from now on code goes no further than history has resolved. Messages that are not
   applied are not seen, and no step is begun. Before the first turn. */
void hf_replay_freeze(hf_replay *replay);

/* Calls a declared query on the state as the events so far left it. Never decides, never runs the
   body further than the facts allow (call hf_replay_turn first and drop its decisions). HF_NOTFOUND
   for an unknown name. */
HF_NODISCARD hf_status hf_replay_query(hf_replay *replay, hf_slice name, hf_value args, hf_mem *mem,
                                       hf_value *out_value, hf_err *err);

/* Runs the update's check function against the state: NULL when it accepts, else the reason.
   HF_NOTFOUND for an unknown name. */
HF_NODISCARD hf_status hf_replay_check_update(hf_replay *replay, hf_slice name, hf_value args,
                                              const char **out_reason, hf_err *err);

/* Events fed so far, and memory held (arena, state, touched stack): for caches that are bounded by
 * memory. */
size_t hf_replay_held(const hf_replay *replay);

/* The newest source line that the events so far carry, or "". */
const char *hf_replay_line(const hf_replay *replay);

/* The label of what the code waits for now ("timer", "signal:approved-by", "activity:charge"), or
 * "". */
const char *hf_replay_waiting(const hf_replay *replay);

/* ---- step machines: the same history without a coroutine. A turn decides what
   hf_replay_step_ended was handed before it, and nothing otherwise. */

bool hf_replay_is_machine(const hf_replay *replay);

/* The step that may run, with what is fixed about it; false when the machine waits or the run has a
   body. The name is borrowed until the next feeding. */
bool hf_replay_work(const hf_replay *replay, hf_step_work *out_work);

/* Completes it with all that the step sees, in the arena. */
HF_NODISCARD hf_status hf_replay_work_fill(const hf_replay *replay, hf_mem *mem, hf_step_work *work,
                                           hf_err *err);

/* What the step decided; borrowed until the next turn has decided it. False: it is stale, the
   machine is elsewhere. */
bool hf_replay_step_ended(hf_replay *replay, const hf_step_end *end);

/* Whether a timer of that step still means something to the code: a machine that was woken does
   not care for the timeout of its wait any more. */
bool hf_replay_timer_wanted(const hf_replay *replay, int64_t step);

/* ---- code in another process: the same history again without a coroutine. A turn decides what
   follows from history alone, and what hf_replay_answered was handed before it. */

bool hf_replay_is_far(const hf_replay *replay);

/* Machines whose code is elsewhere are both: hf_replay_step_ended takes the end of their step, and
   the turn fails with HF_INVALID when it is none of the step that comes next. */

/* The worker's answer; borrowed until the next turn has decided it. The turn fails with HF_INVALID
   when the answer contradicts history, and may be taken again without it. */
void hf_replay_answered(hf_replay *replay, const hf_worker_answer *answer);

/* A worker has been handed the run as it stood at `seq`; what happens from here on is news to it.
 */
void hf_replay_handed(hf_replay *replay, int64_t seq);

/* The newest event that the worker should know of. */
int64_t hf_replay_news(const hf_replay *replay);

/* The sequence of the oldest update that waits to be applied, 0: none. */
int64_t hf_replay_open_update(const hf_replay *replay);

#endif
