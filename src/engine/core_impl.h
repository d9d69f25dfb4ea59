/* core_impl.h: the inside of the core, for the files that work on its thread. */
#ifndef HF_ENGINE_CORE_IMPL_H
#define HF_ENGINE_CORE_IMPL_H

#include <stdatomic.h>

#include "base/deadline.h"
#include "base/list.h"
#include "base/map.h"
#include "base/thread.h"
#include "decide/decide.h"
#include "engine/core.h"
#include "engine/retention.h"
#include "engine/seat.h"
#include "engine/stall.h"
#include "replay/coro.h"
#include "replay/replay.h"
#include "task/matching.h"

/* An attempt that is to begin: now, later, or when there is a place for it. */
typedef struct core_start {
    struct core_start *next;
    hf_job *job; /* filled in; the pool gets it after the commit */
    int64_t available_us;
    bool placed;      /* a place in the pool is reserved */
    int64_t retry_us; /* staged as late: when the next attempt may begin, HF_NONE: never */
    bool offered;     /* to workers elsewhere: nobody here knows the activity */
    bool claimed;     /* one of them gets it when it is on the record */
    hf_slice worker;  /* that one, in the job's memory */
    int64_t lease_us; /* for as long; 0: it did not say */
    int64_t until_us; /* as it is on the record */
    hf_slice former;  /* whose lost attempt this is to follow, and who may report on that until it
                         begins; in the job's memory; ptr NULL: nobody */
} core_start;

/* A timer that is due, or an activity for which something is. */
typedef struct core_due {
    struct core_due *next;
    bool activity;
    hf_job *late;  /* the attempt that the unit under way records as timed out */
    int64_t timer; /* or the activity's key */
    int64_t step;
    hf_timer_kind kind;
    int64_t due_us;
} core_due;

typedef enum core_alarm_kind {
    CORE_ALARM_TIMER,
    CORE_ALARM_TURN,    /* a turn that could not be committed is tried again */
    CORE_ALARM_ATTEMPT, /* an activity may begin, is late, or has a sign of life to record */
    CORE_ALARM_RUN,     /* the run's own deadline */
    CORE_ALARM_GATE,    /* a gate is asked again, or slots are renewed */
    CORE_ALARM_SWEEP,   /* the watchdog looks around */
    CORE_ALARM_STEP,    /* a step of a machine may begin; the key is the run's, negative */
    CORE_ALARM_ERRAND,  /* a worker's lease on the run ends, or it is offered again; the same key */
    CORE_ALARM_SCHEDULE,  /* key: a schedule that fires; HF_SCHEDULE_SWEEP: look at all of them */
    CORE_ALARM_RETENTION, /* closed runs may be over */
    CORE_ALARM_HORIZON    /* what is due next is read from the store (window.h) */
} core_alarm_kind;

/* Something the core must do at a time. */
typedef struct core_alarm {
    hf_deadline deadline; /* its place: when it is due, or before that when many are late */
    int64_t due_us;
    bool grouped; /* it is one of many that were late */
    core_alarm_kind kind;
    int64_t run;
    int64_t key; /* timer, activity or run; none of them has two alarms */
    int64_t step;
    hf_timer_kind timer_kind;
    bool retry; /* of a step: what it waits for is the pause behind a failed attempt */
} core_alarm;

/* Up to where alarms of a kind are in memory; rows come by time and then by key. */
typedef struct core_window {
    int64_t until_us; /* INT64_MAX: all of them are */
    int64_t until_key;
} core_window;

/* A run whose code is in another process: who works on it. Lives as long as the run is in memory,
   with or without its replay. */
typedef struct core_far {
    uint32_t number; /* in the ids of its tasks: attempts are counted anew with each load of the
                        run, and a report on one of an earlier load is none on one of this */
    bool seen_known;
    int64_t seen_seq; /* newest event that a worker answered to */
    bool offered;     /* its next task is */
    bool steps;       /* its tasks are steps of a machine */
    int64_t step;     /* that was handed out last */
    int64_t attempt;  /* at it */
    int64_t losses;   /* of those who had it */
    bool pin_known;
    bool pinned;            /* to workers of its build */
    bool faulty;            /* the task's row says that a worker could not do it */
    int64_t fault_again_us; /* staged: when it is offered again */
    struct {
        bool held;
        char owner[HF_MATCHING_WORKER_SIZE];
        int64_t attempt;
        int64_t seen_seq;
        int64_t known_seq; /* up to which the worker has seen it before; 0: it has not */
        bool sticky;       /* the worker had the run last */
        int64_t taken_us;
        int64_t again_us; /* not offered before */
        bool lost;        /* its holder was, who may report until another has the task */
    } lease;
    struct hf_ticket *answer; /* the turn at hand decides it, */
    bool drafted;             /* or the unit under way has what it decided */
} core_far;

typedef struct hf_turnstile hf_turnstile;

typedef struct live_run {
    hf_core *core;
    hf_list place;  /* while it has a replay: in the core's list, least recently used first */
    hf_list hunger; /* in the core\'s list of runs that wait for a place in the pool */
    struct live_run *next_ready;
    bool missed; /* it was ready while its unit was under way */
    int64_t key;
    hf_mem *mem; /* texts below */
    hf_run_base base;
    hf_decide_run info;
    hf_slice code; /* the type whose code it runs, which is another one than its own for async
                      children */
    hf_replay_info replay_info;
    hf_replay *replay; /* NULL: to be loaded before the next turn */
    size_t counted;    /* bytes of the replay in core->held: it may have grown or shrunk since */
    char run_id[27];
    int64_t fed;           /* newest event the replay knows */
    int64_t message_count; /* signals and updates among the events fed */
    hf_open_message *messages;
    int64_t *ordinals;     /* of each, counted within the run */
    int64_t unit_messages; /* among them, those that the unit under way brings */
    size_t messages_open;
    size_t messages_room;
    hf_open_work *open;
    size_t open_count;
    size_t open_room;
    /* to be folded into the next unit */
    hf_job *ended;
    core_due *due;
    core_start *starts;
    int64_t started_seq; /* events that say what the run was started with, and its metadata now */
    int64_t memo_seq;    /* 0: it has none */
    int64_t attributes_seq;
    bool copied;       /* its history began as another run's */
    bool paused;       /* facts are recorded, code and new attempts rest */
    bool has_children; /* it may have some */
    bool check_ids;    /* the store refused a unit that made children: look at every id */
    bool makes_children;
    bool again;              /* the unit resolves a step of its own: the code has another turn */
    bool look;               /* the store has facts that the replay does not know */
    bool untold;             /* it was loaded for this turn, and its inbox was empty then */
    bool stale;              /* rows came back: load it anew before its next turn */
    bool gone;               /* out of the core's map: freed when its turn comes up */
    bool ready;              /* in the ready list */
    bool alarmed;            /* its next turn is a due alarm's */
    bool roused;             /* by a due alarm; nobody else has asked for a turn since */
    bool pass_on;            /* who looks at it knows what other nodes may not */
    bool elsewhere;          /* another node has it, or may have it */
    int64_t epoch;           /* of its shard; HF_NONE where there are no shards */
    bool foreign;            /* its coroutine was made by a thread that lost the core */
    struct live_rows *ahead; /* what it will be loaded from, read in this step; NULL: nothing */
    hf_seat *seat;           /* of the thread that its code runs on */
    struct hf_lent *lent;    /* the unit under way is a caller's, who waits for it (lent.h) */
    bool unborn;             /* it is not in the store yet: its first turn goes there with it */
    hf_unit *draft; /* while a turn is taken: values that are not in the store yet are here */
    /* the unit under way */
    bool dirty;
    bool due_unit;    /* it counts among those of due alarms */
    bool bare;        /* it appends nothing: the wake-up task goes, or the run is blocked */
    int64_t troubles; /* turns in a row that could not be taken */
    int64_t crashes;  /* of the process in this run's code since it last got further */
    bool quarantined; /* its code is not run */
    bool blocked;     /* code and history disagree: nothing more happens here until a repair */
    bool stuck;       /* its row says that they disagreed */
    hf_err doom;      /* the store refused what the code asked for: the run fails with this */
    hf_unit *unit;
    hf_effect *effects;
    int64_t unit_events;
    hf_job *staged_ended;
    core_due *staged_due;
    core_start *staged_starts;
    core_start *staged_late; /* starts that the unit records as timed out or put aside */
    core_start *retries;     /* become starts when the unit is committed */
    struct core_far *far;    /* its code is in another process, see errand.h; NULL: it is here */
    bool unshaped;           /* and nothing says yet whether it is a machine's (shape.h) */
    /* a machine's step that may begin */
    hf_deadline turn;    /* its place in a gate's queue or in core->steps */
    hf_turnstile *waits; /* the gate; NULL: none */
    hf_turnstile *slot;  /* under whose key it has a slot; NULL: it has none */
    int64_t weight;      /* tokens that it waits for */
    int64_t paid;        /* the step whose tokens are taken */
    bool stepping;       /* a job runs its step */
} live_run;

/* The share of due alarms: how many fire before the core looks at other work again, and how many of
   their units may be in front of its commits. After so many of theirs without any other they are
   alone, and have more room until there is other work again; what the runs do that they woke is
   none. */
enum {
    HF_CORE_DUE_SHARE = 8,
    HF_CORE_DUE_FLYING = 32,
    HF_CORE_DUE_ALONE = 256,
    HF_CORE_DUE_ROOM = 4 /* times as much */
};

enum { HF_CORE_FLYING_MAX = 512 }; /* runs whose unit is under way at most */

enum { HF_CORE_AHEAD = 64 }; /* runs that are read together at most */

/* Which shards are to be looked through. */
typedef struct core_sweep {
    bool gained; /* they are new here: for everything, not only for what wants a turn */
    bool shards[HF_SHARDS];
} core_sweep;

typedef enum core_message_kind {
    CORE_MESSAGE_RUN,
    CORE_MESSAGE_SWEEP,
    CORE_MESSAGE_RELOAD,
    CORE_MESSAGE_JOB,
    CORE_MESSAGE_BEAT,
    CORE_MESSAGE_UNIT,
    CORE_MESSAGE_LENT, /* a caller's unit that takes a turn along */
    CORE_MESSAGE_BACK,
    CORE_MESSAGE_GATE, /* `run` is the number of the gate */
    CORE_MESSAGE_ASK,
    CORE_MESSAGE_CALL,
    CORE_MESSAGE_SCHEDULE, /* somebody changed the schedule whose key is in `run` */
    CORE_MESSAGE_FIRED,    /* the unit of a schedule that fired is done */
    CORE_MESSAGE_RETIRED   /* a unit of retention is done */
} core_message_kind;

typedef struct core_message {
    struct core_message *next;
    core_message_kind kind;
    hf_core *core;
    int64_t run;
    int64_t activity; /* CORE_MESSAGE_BEAT, this and the next */
    int64_t attempt;
    hf_job *job;
    hf_unit *unit;
    struct hf_lent *lent; /* CORE_MESSAGE_LENT; CORE_MESSAGE_UNIT: of the run, or NULL */
    hf_core_ask *ask;
    hf_core_call *call;
    core_sweep *sweep;
    bool pass_on;                   /* CORE_MESSAGE_RUN: other nodes do not know of it */
    int64_t priority;               /* and this is what its task says; 0: look */
    struct core_firing *firing;     /* CORE_MESSAGE_FIRED; in the unit's arena, this and the next */
    struct core_retiring *retiring; /* CORE_MESSAGE_RETIRED */
} core_message;

/* A run whose code did not come back in time. It has no turn until the code did, and then twice
   the time, because it has shown that it does come back. */
typedef struct core_late {
    hf_seat *seat; /* that it keeps; NULL: it came back */
    unsigned times;
    bool unborn; /* the run is in no store: nothing of it comes back */
} core_late;

struct hf_core {
    hf_core_options o;
    hf_seat *seat;       /* of the thread that works here; NULL: nobody else ever could */
    live_run *inside;    /* whose code runs */
    hf_map_int *late;    /* run key to core_late */
    core_message *taken; /* messages that are next */
    hf_db *db;           /* for reading */
    bool own_db;
    hf_pool *pool;
    hf_stager stager;
    hf_coro_cache *stacks; /* of coroutines that have ended */
    hf_map_int *runs;      /* key to live_run */
    hf_list lru;
    size_t held;                  /* bytes of parked coroutines */
    size_t flying;                /* runs whose unit is under way */
    size_t flying_due;            /* among them, those that a due alarm made ready */
    size_t due_alone;             /* units of due alarms since the last other one */
    int64_t ahead[HF_CORE_AHEAD]; /* runs that were read together last, in this step */
    size_t ahead_count;
    live_run *ready;
    live_run **ready_tail;
    size_t ready_count;
    hf_deadlines *backlog;    /* runs that are to be made ready, by priority (backlog.h) */
    hf_map_int *backlog_runs; /* by key */
    hf_map_int *plain;        /* definitions whose first turn does not fit into a start */
    hf_map_int *far_shapes;   /* definitions of code elsewhere: whether they are machines */
    hf_map_int *jobs;         /* activity key to the job that is running or queued in the pool */
    hf_deadlines *alarms;
    core_window timer_window;
    core_window run_window;
    hf_map_int *timers;         /* timer, activity or run key to its alarm, so that none has two */
    hf_map_int *schedules;      /* key to core_schedule (schedule.c) */
    hf_map_int *schedule_waits; /* instance to the core_schedule that waits for it to close */
    hf_breadcrumb *crumb;
    hf_stall *stall;                /* NULL: nobody watches */
    bool slots[HF_BREADCRUMB_RUNS]; /* of the breadcrumb that are taken; under the lock */
    _Atomic int64_t lost;           /* threads that are away in user code */
    _Atomic int64_t lost_ever;
    _Atomic int64_t lost_runs[HF_BREADCRUMB_RUNS]; /* by slot: whose code they are in */
    hf_list hungry;      /* runs with an attempt that waits for a place in the pool, oldest first */
    int64_t sweep_us;    /* when the watchdog looks next; 0: not at all */
    int64_t swept_us;    /* when it last did */
    int64_t lost_us;     /* from when on it finds a task that nobody told of; 0: there is none */
    int64_t sweep_after; /* runs up to this key were looked at, of those up to the next */
    int64_t sweep_last;
    int64_t sweep_skip;  /* so many tasks that nobody takes were looked at: none can be helped */
    bool sweep_held;     /* some of them were in good hands */
    int64_t tasks_swept; /* up to which key nodes last looked for work that was overlooked */
    int64_t inbox_swept;
    bool retiring; /* a walk is under way */
    hf_retention_walk walk;
    int64_t walk_runs;           /* removed by it */
    _Atomic bool hint_lost;      /* somebody could not tell of a task */
    _Atomic bool claims;         /* workers took tasks that are offered */
    _Atomic int handbacks;       /* tasks that are being given back (handback.h) */
    char waiting[256];           /* of the run that was last asked about */
    _Atomic int64_t stale_steps; /* ends of steps that came too late */
    hf_deadlines *steps;         /* machines that wait for a place in the pool, by priority */
    hf_map *gates;               /* by kind and key */
    hf_map_int *gate_numbers;
    int64_t gates_made;
    int64_t slots_held;
    char holder[96]; /* of slots: this process and no other */
    hf_err failure;
    /* under the lock */
    hf_mutex lock;
    core_message *inbox;
    core_message **inbox_tail;
    core_message *ended; /* jobs that ended; they are read before the inbox */
    core_message **ended_tail;
    bool shut;             /* the thread that works here has left: nothing is lent any more */
    bool schedules_unseen; /* one was changed, and there was no memory to say which */
};

void hf_core_fail(hf_core *core, hf_status st, const hf_err *err);
void hf_core_ready(hf_core *core, live_run *run);
void hf_core_remove(hf_core *core, live_run *run);  /* the run leaves memory */
live_run *hf_core_live(hf_core *core, int64_t key); /* NULL: no memory; the core has failed */
void hf_core_look(hf_core *core, int64_t run); /* another run has new facts, by a unit of ours */
/* User code of a run begins, and has come back. False: somebody else took the core meanwhile. Then
   nothing of it may be touched, the run is the caller's to free (hf_live_free with no core), and
   all callers return at once. */
void hf_core_enter(hf_core *core, live_run *run);
HF_NODISCARD bool hf_core_exit(hf_core *core, live_run *run);
void hf_core_job_ended(hf_core *core, hf_job *job); /* it reported */

/* Commits before anything else happens, for what is rare. The unit is freed. */
HF_NODISCARD hf_status hf_core_commit(hf_core *core, hf_unit *unit, hf_err *err);

/* alarm.c */
/* Arms it, unless it is armed already, or due so late that it is read from the store in time. */
bool hf_core_alarm_set(hf_core *core, const core_alarm *alarm, int64_t due_us);
/* Arms it however late it is due. */
bool hf_core_alarm_arm(hf_core *core, const core_alarm *alarm, int64_t due_us);
/* Arms it or gives it another time. */
bool hf_core_alarm_move(hf_core *core, const core_alarm *alarm, int64_t due_us);
void hf_core_disarm(hf_core *core, int64_t key);
/* Their share of those that are due; false: none was. */
bool hf_core_alarms_fire(hf_core *core);

/* mailbox.c */
void hf_core_put(hf_core *core, core_message *message); /* somebody else wakes the core */
void hf_core_post(hf_core *core, core_message *message);
void hf_core_post_done(void *ctx, hf_job *job); /* for the pool, this and the next; ctx: the core */
void hf_core_post_beat(void *ctx, const hf_job *job);
/* Moves what has come to core->taken: jobs that ended, and the rest unless something is left there.
   True: a schedule was changed, and nobody could say which. */
bool hf_core_mail_fetch(hf_core *core);
void hf_core_mail_free(hf_core *core); /* the core closes: those who wait for an answer get one */

/* live.c */
live_run *hf_live_new(hf_core *core, int64_t key);
/* A copy in the run's arena. */
HF_NODISCARD hf_status hf_live_text(live_run *run, hf_slice text, hf_slice *out_text, hf_err *err);
/* Arms the run's own deadline, whether or not its code is here. */
HF_NODISCARD hf_status hf_live_arm(hf_core *core, const live_run *run, hf_err *err);
void hf_live_free(hf_core *core, live_run *run);   /* core NULL: of one that its core gave up */
void hf_live_forget(hf_core *core, live_run *run); /* throws the coroutine away */
void hf_live_count(hf_core *core, live_run *run);  /* core->held knows its size as it is now */
HF_NODISCARD hf_status hf_live_feed(live_run *run, const hf_event *events, size_t count,
                                    int64_t first_seq, hf_err *err);
HF_NODISCARD hf_status hf_live_open_add(live_run *run, const hf_open_work *work, hf_err *err);
/* Takes what committed events closed off the lists of open messages and open work. Messages leave
   theirs only when the unit that applied them is committed. */
void hf_live_settle(live_run *run, const hf_event *events, size_t count);
/* The same for messages alone: open work was read from its rows. */
void hf_live_settle_messages(live_run *run, const hf_event *events, size_t count);
const hf_open_message *hf_live_message(live_run *run, int64_t seq);
/* Which deadline of the run has passed, 0: none; the execution's comes before the run's. */
hf_timeout_kind hf_live_overdue(const live_run *run, int64_t now_us);

/* live_load.c */
/* Gives the run, whose info is known, its code and a history without events. */
HF_NODISCARD hf_status hf_live_attach(hf_core *core, live_run *run,
                                      const hf_registry_workflow *workflow, hf_err *err);
/* Brings the replay up to what is committed. *out_gone: the run is closed or cannot run here. */
HF_NODISCARD hf_status hf_live_load(hf_core *core, live_run *run, bool *out_gone, hf_err *err);
/* A replay of what is committed, for one query. */
HF_NODISCARD hf_status hf_live_peek(hf_core *core, int64_t key, live_run **out_run, hf_err *err);

/* takeover.c */
void hf_core_came_back(hf_core *core, int64_t run);            /* code that was late has ended */
int64_t hf_core_patience_us(const hf_core *core, int64_t run); /* how long its code may take */
void hf_core_in_time(hf_core *core, int64_t run);              /* a turn of it is committed */
void hf_core_stand(hf_core *core); /* nobody works here any more; nobody listens for late ones */

/* turn.c */
void hf_turn_run(hf_core *core, live_run *run);
/* A turn that goes with a unit which run->lent brought, and which is the core's from now on. The
   unit holds what the code is to see. False: it is not under way, the unit is gone and so is a run
   that is unborn; *out_misfit says that its code does what the unit cannot hold. */
HF_NODISCARD bool hf_turn_lent(hf_core *core, live_run *run, hf_unit *unit, bool *out_misfit);

/* turn_done.c */
void hf_turn_committed(hf_core *core, live_run *run, hf_unit *unit);
void hf_turn_return(live_run *run);     /* what the turn had taken is to be taken again */
void hf_turn_due_forget(live_run *run); /* what was due is dealt with */
/* What could not be committed is given back and the coroutine thrown away: the next turn begins
   from the store. */
void hf_turn_abandon(hf_core *core, live_run *run, hf_effect *effects);
/* The turn is taken again: soon when it is the store's trouble, else later and later, and the task
   says so. */
void hf_turn_later(hf_core *core, live_run *run, hf_task_trouble trouble, hf_status st);

#endif
