/* core.h: the part of an engine that runs workflow code. One thread owns it: live runs with their
   coroutines, the deadlines, and what waits for a place in the pool. Everybody else tells it things
   through messages.

   A run is live while something is to be done for it or while the cache has room; its coroutine is
   dirty from the moment a unit is staged until COMMIT answered. What is not committed is forgotten
   by throwing the coroutine away. */
#ifndef HF_ENGINE_CORE_H
#define HF_ENGINE_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "commit/shard.h"
#include "commit/writer.h"
#include "engine/pool.h"
#include "engine/registry.h"
#include "engine/seat.h"
#include "engine/setting.h"
#include "model/event.h"
#include "model/limit.h"
#include "store/store.h"

typedef struct hf_core hf_core;

/* Failures that a test asked for: the next `times` attempts of the activity fail with `type`
 * instead of running. */
typedef struct hf_core_fault {
    struct hf_core_fault *next;
    char activity[192];
    char type[64];
    int times;
} hf_core_fault;

/* Events of one run that are committed now. Borrowed for the call. */
typedef struct hf_core_facts {
    hf_slice instance_id;
    hf_slice run_id;
    hf_slice type;
    const hf_event *events;
    size_t count;
    int64_t first_seq;
    bool begun; /* it is the run's first turn */
    /* The type of the activity that is the step; empty when it is not known any more. */
    hf_slice (*activity)(const void *ctx, int64_t step);
    const void *ctx;
} hf_core_facts;

struct hf_matching;
struct hf_ticket;

typedef struct hf_core_options {
    hf_store *store;
    hf_writer *writer;
    const hf_registry *registry;
    const hf_clock *clock;
    hf_slice owner;              /* of claims */
    hf_shards *shards;           /* whose runs this node works on; NULL: all */
    const hf_log *log;           /* for operators; NULL: none */
    const hf_limits *limits;     /* of the owner; NULL: the defaults */
    const hf_settings *settings; /* of the owner */
    const hf_app *app;           /* which runs it may take; NULL: all */
    hf_slice compatibility;      /* of this program; ptr NULL: it says none */
    size_t activity_threads;     /* 0: stepped */
    size_t activity_places;
    size_t cache_bytes; /* for coroutines of parked runs */
    int64_t alarms_max; /* timers and deadlines in memory; 0: HF_WINDOW_ALARMS */
    bool single;        /* one thread does everything: read through the writer's connection */
    /* Called after each commit that changed a run, from the core's thread; must not block. */
    void (*changed)(void *ctx, int64_t run, bool closed);
    /* Another node owns the run and may not know that it has new facts. */
    void (*tell)(void *ctx, int64_t run);
    /* A task that came back (handback.h) is of a run that another node has. */
    void (*elsewhere)(void *ctx, const struct hf_ticket *ticket);
    void (*unswept)(void *ctx); /* a sweep failed: what it was for is still to be found */
    void (*wake)(void *ctx);    /* something is to be done: the thread may be asleep */
    /* Code has not come back in time; from the watcher's thread, must not block. NULL: it is only
       logged. */
    void (*stalled)(void *ctx, hf_seat *seat, uint64_t look);
    /* What a turn committed, from the core's thread; must not block. NULL: nobody wants to know. */
    void (*observe)(void *ctx, const hf_core_facts *facts);
    void *ctx;
    hf_core_fault **faults;       /* the owner's list, which outlives the core; NULL: none */
    struct hf_known *known;       /* told where runs at rest stand; NULL: nobody asks */
    struct hf_matching *matching; /* where workers elsewhere ask; NULL: none may come */
} hf_core_options;

HF_NODISCARD hf_status hf_core_open(const hf_core_options *options, hf_core **out_core,
                                    hf_err *err);
void hf_core_close(hf_core *core); /* NULL is allowed */

/* The core's thread, as its last act: coroutines must end where they lived. */
void hf_core_leave(hf_core *core);

/* Finds the work that was left when the store was last closed, however that was. Once, before
 * stepping. */
HF_NODISCARD hf_status hf_core_recover(hf_core *core, hf_err *err);

/* Any thread: the run has new facts in the store, by a commit of this node. */
void hf_core_notify(hf_core *core, int64_t run);
/* The same for a run that was just made; who knows what its task says spares the core a look. */
void hf_core_notify_new(hf_core *core, int64_t run, int64_t priority);

/* Any thread: the same, said by another node. */
void hf_core_heard(hf_core *core, int64_t run);

/* Any thread: work may wait in these shards. `gained`: this node did not own them before. */
void hf_core_sweep(hf_core *core, const bool shards[HF_SHARDS], bool gained);

/* The engine's time: the database's where nodes share one. Any thread. */
int64_t hf_core_now(const hf_core *core);

/* How far wall time, which schedules follow, is ahead of that. */
int64_t hf_core_wall_ahead(const hf_core *core);

/* Wall time jumped: when each schedule fires is looked at again (schedule.c, this and the next). */
void hf_core_clock_jumped(hf_core *core);

/* Whether there are schedules, which follow it; its jumps wake nobody. */
bool hf_core_clock_watched(const hf_core *core);

/* Any thread: rows of the run's open work came back; what memory holds of it is out of date. */
void hf_core_reload(hf_core *core, int64_t run);

/* Any thread: the schedule was changed in the store. */
void hf_core_notify_schedule(hf_core *core, int64_t schedule);

/* The core's thread: does what is to be done now. True when anything was. */
bool hf_core_step(hf_core *core);

/* The core's thread, a pool without threads: runs one activity. */
bool hf_core_run_activity(hf_core *core);

/* When the next deadline is due, by the engine's clock; INT64_MAX when there is none. */
int64_t hf_core_next_us(const hf_core *core);

/* A question to a run's code, answered on the core's thread against what is committed. */
typedef struct hf_core_ask {
    int64_t run;
    hf_slice name; /* of the declared query */
    bool check;    /* it is an update instead: would its validator take the arguments? */
    hf_value args;
    hf_mem *mem; /* where the answer goes; the asker's, who waits */
    hf_value answer;
    const char *refusal; /* of the validator, in `mem`; NULL: it takes them */
    hf_status status;
    hf_err err;
    void (*done)(struct hf_core_ask *ask); /* called once, on the core's thread */
    void *ctx;
} hf_core_ask;

/* Something to be done on the core's thread. The caller's own struct begins with it and lives until
   `run` was called; with no core when the engine closes first. */
typedef struct hf_core_call {
    void (*run)(hf_core *core, struct hf_core_call *call);
} hf_core_call;

/* Any thread. HF_NOMEM: it will not be called. */
HF_NODISCARD hf_status hf_core_call_post(hf_core *core, hf_core_call *call, hf_err *err);

/* Any thread. The ask lives until `done` was called. HF_NOMEM: it was not asked. */
HF_NODISCARD hf_status hf_core_query(hf_core *core, hf_core_ask *ask, hf_err *err);

/* What the run's code waits for, "" when it is not known. The core's thread; borrowed until the
 * next call. */
const char *hf_core_waiting(hf_core *core, int64_t run);

/* ---- code that does not come back */

/* How many threads may be away in user code at a time. */
enum { HF_CORE_LOST_MAX = 16 };

/* Any thread: how many threads are away, and how many ever were. */
int64_t hf_core_lost(const hf_core *core, int64_t *out_ever);

/* Any thread: the run when its code has not come back (task_timeout), else 0. */
int64_t hf_core_stalled(const hf_core *core, int64_t run);

/* The same for the core's thread. */
bool hf_core_away(const hf_core *core, int64_t run);

/* A new thread takes the core from one that is away in user code (core.h's `stalled`). The new
   seat is made first, so that nothing can fail once the old one is taken. False: the code came back
   just now; the caller's thread and seat are not needed. */
HF_NODISCARD hf_status hf_core_sit(hf_core *core, hf_seat **out_seat, hf_err *err);
void hf_core_unsit(hf_core *core, hf_seat *seat); /* one that was not needed */
hf_seat *hf_core_seat(hf_core *core);             /* of the thread that works there */
HF_NODISCARD bool hf_core_take_over(hf_core *core, hf_seat *old, uint64_t look, hf_seat *seat);

/* Why the core cannot go on: HF_OK while it can. */
hf_status hf_core_failure(const hf_core *core, hf_err *out_failure);

/* The core's thread: no attempt begins from now on. True while attempts are running or what they
   reported is not committed. */
bool hf_core_drain(hf_core *core);

#endif
