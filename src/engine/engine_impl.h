/* engine_impl.h: the engine handle, for the files that implement holdfast.h. */
#ifndef HF_ENGINE_ENGINE_IMPL_H
#define HF_ENGINE_ENGINE_IMPL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/thread.h"
#include "commit/unit.h"
#include "commit/writer.h"
#include "engine/batch.h"
#include "engine/core.h"
#include "engine/node.h"
#include "engine/folder.h"
#include "engine/known.h"
#include "engine/registry.h"
#include "engine/setting.h"
#include "holdfast/holdfast.h"
#include "holdfast/worker.h"
#include "intake/intake.h"
#include "store/store.h"

/* Who moves the engine. Chosen by the first call that needs to know. */
typedef enum engine_mode {
    ENGINE_UNDECIDED,
    ENGINE_THREADS, /* threads of its own */
    ENGINE_TICK,    /* the host's event loop, through hf_tick; activities have threads */
    ENGINE_TEST     /* nobody but the caller, on a virtual clock */
} engine_mode;

/* What belongs to one calling thread. */
typedef struct engine_slot {
    struct engine_slot *next;
    hf_mem *mem;
    hf_mem *scratch; /* what a call reads on its way; the next look begins anew */
    hf_err err;
    hf_stager stager;
    int64_t namespace_key; /* where this thread's calls work (space.c) */
    const char *namespace_name;
    hf_buf context; /* who this thread changes schedules for (schedule_api.c); empty: itself */
    /* while it waits for a run; under the engine's lock */
    hf_cond woken;
    hf_list waiting; /* in the engine's list */
    int64_t awaits;  /* the run */
    bool awaits_end; /* and nothing less than that it is closed */
    bool is_woken;
    /* the run that the thread's last start made, so that it can be waited for without a look */
    int64_t started; /* 0: none */
    int64_t started_namespace;
    uint64_t started_seen; /* hf_engine.changes before it was there */
    char started_id[192];  /* of its instance */
} engine_slot;

typedef struct engine_runner engine_runner;

enum { ENGINE_RECENT = 1024 };

#define HF_ENGINE_SOME_RUN INT64_MAX /* no run has this key: some run, nobody knows which */

#define HF_SPACE_DEFAULT "default" /* the namespace that every store has */

struct hf_engine {
    const hf_app *app;
    _Atomic bool promotions; /* somebody has promoted a build, and when that was looked at */
    _Atomic int64_t promotions_us;
    hf_registry *registry;
    hf_store *store;
    hf_writer *_Atomic writer; /* hf_working looks while another thread begins */
    hf_core *core;
    hf_node *node;                  /* NULL: nobody else works on the store */
    struct hf_carrier *carrier;     /* with it */
    hf_batcher *batcher;            /* one command for many instances */
    hf_folder *folder;              /* what is committed becomes projections */
    hf_known *known;                /* runs whose whereabouts need not be read */
    struct hf_matching *matching;   /* NULL: no workers from elsewhere, and no other nodes */
    bool workers;                   /* they may come: hf_workers_allow */
    struct hf_inquiries *inquiries; /* with it */
    struct hf_remote *remote;       /* the store is behind a server; NULL: it is here */
    hf_mutex local_lock;            /* for the next four */
    struct hf_remote *local;        /* what this program is for other nodes; NULL: there are none */
    bool alone;                     /* it is nothing for them any more */
    hf_workers_heard_fn *heard;     /* hf_workers_watch */
    void *heard_ctx;
    const hf_clock *clock; /* the steady one */
    hf_clock *steady;
    hf_log log;              /* warnings for operators, on standard error */
    hf_clock *virtual_clock; /* ENGINE_TEST */
    int64_t namespace_key;   /* of "default" */
    hf_settings settings;
    engine_mode mode;
    hf_db *reader; /* API reads, under reader_lock; NULL: the writer's connection */
    hf_mutex reader_lock;
    pthread_key_t slot_key;
    hf_err open_error; /* of an hf_open that failed */
    int wake_fd;       /* ENGINE_TICK: readable when there is something to do */
    /* under the lock */
    hf_mutex lock;
    hf_cond work;    /* the core's thread may have something to do */
    hf_cond changed; /* a question was answered, or the engine stopped */
    uint64_t changes;
    int64_t
        recent[ENGINE_RECENT]; /* runs that changed last, by number of the change; closed: < 0 */
    int64_t recent_us[ENGINE_RECENT]; /* when, by the monotonic clock */
    hf_list waiting;                  /* slots of threads that wait for a run */
    size_t waiting_any;               /* those of them that wait for any change of it */
    hf_list watches;                  /* hosts that follow one (watch.c) */
    bool woken;
    bool dozing;           /* the core's thread sleeps */
    engine_runner *runner; /* the core's thread; NULL: none */
    int heirs;             /* threads that may become it */
    int64_t alarms_max;    /* timers and deadlines that the core keeps in memory; 0: as many as it
                              likes */
    int64_t lost_max;      /* threads that may be away in user code */
    _Atomic int replays;   /* that somebody waits for (run_replay.c) */
    bool draining;         /* hf_shutdown: no new attempts, the running ones end */
    bool stopping;         /* the core's thread ends, or has ended */
    bool waits_over;       /* hf_waits_stop: nobody waits any more */
    engine_slot *slots;
    struct engine_space *spaces; /* namespaces whose key is known; they are never renamed */
    hf_observer observer;
    bool births; /* tests: every start that may takes its first turn along */
    bool nudges; /* tests: every signal that may takes the turn it causes along */
    /* ENGINE_TEST */
    hf_core_fault *faults; /* survive a crash */
    int64_t commits;       /* since it was opened */
    int64_t crash_at;      /* the commit after which it crashes; 0: none */
    bool crash_due;        /* that commit was made: the next move is the crash */
    int64_t meddle_at;     /* before this commit, and once, `meddle` is called; 0: never */
    void (*meddle)(void *ctx);
    void *meddle_ctx;
};

/* The calling thread's slot; NULL when memory ran out, or there is no engine. */
engine_slot *hf_engine_slot_get(hf_engine *engine);

/* Starts the engine in this mode, or as it was started. */
HF_NODISCARD hf_status hf_engine_begin(hf_engine *engine, engine_mode wanted, hf_err *err);

/* The same, and HF_MISUSE when it was started otherwise. */
HF_NODISCARD hf_status hf_engine_begin_as(hf_engine *engine, engine_mode mode, hf_err *err);

/* Forgets the names of namespaces; nobody uses the engine any more. */
/* Whether the worker was heard at this node within so long, or is this node; loss.c. Any thread. */
bool hf_engine_hears(hf_engine *engine, const char *space, const char *worker, int64_t within_us);

void hf_engine_spaces_free(hf_engine *engine);
/* Of one that was used or listed before; NULL. Lives as long as the engine. */
const char *hf_engine_space_name(hf_engine *engine, int64_t key);

/* Polls and tasks may meet from now on, of workers or of other nodes. */
HF_NODISCARD hf_status hf_engine_match(hf_engine *engine, hf_err *err);

/* What a turn committed, for the observer (observe.c). */
void hf_engine_observe(void *ctx, const hf_core_facts *facts);

/* Stops and forgets everything that is not in the store: writer, core, pool. */
void hf_engine_end(hf_engine *engine);

/* The same as a kill would do it: what is under way is not finished. ENGINE_TEST. */
void hf_engine_crash(hf_engine *engine);

/* Jumps of wall time are logged, once each, and schedules follow them; on the core's thread. */
void hf_engine_clock_look(hf_engine *engine);

/* ENGINE_TICK and ENGINE_TEST: does what can be done now. True when anything was. */
bool hf_engine_pump(hf_engine *engine);

/* The same for one batch of the writer alone. */
bool hf_engine_write(hf_engine *engine);

/* Commits a sealed unit and waits for its outcome, whoever moves the engine. The unit stays the
 * caller's. */
HF_NODISCARD hf_status hf_engine_commit(hf_engine *engine, hf_unit *unit, hf_err *err);

/* The same for many, in as few transactions as the writer can make of them; each has its outcome.
   Anything but HF_OK: they have none. */
HF_NODISCARD hf_status hf_engine_commit_all(hf_engine *engine, hf_unit *const *units, size_t count,
                                            hf_err *err);

/* A commit of this engine changed the run: who waits for it looks again, here and at other nodes.
   Run 0: everybody here does. */
void hf_engine_changed(hf_engine *engine, int64_t run, bool closed);

/* Another node said that the run changed, or HF_ENGINE_SOME_RUN: who waits here looks again. Run 0:
   everybody does. */
void hf_engine_heard(hf_engine *engine, int64_t run);

/* Whether the run (0: any) may have changed here in the last second. */
bool hf_engine_changed_lately(hf_engine *engine, int64_t run);

/* Those who wait for the run look again; 0: all of them. With the lock held. */
void hf_engine_wake_waiting(hf_engine *engine, int64_t run, bool closed);

/* Waits until the run changed (is closed) after the change `seen`, or the time is up: HF_TIMEOUT.
   `shard`: the run's, as far as known, or HF_NONE. In the other modes it pumps. */
HF_NODISCARD hf_status hf_engine_wait(hf_engine *engine, int64_t shard, int64_t run, bool closed,
                                      uint64_t *seen, int64_t until_us, hf_err *err);

/* The store as the caller may read it; give it back with hf_engine_read_end. */
hf_db *hf_engine_read_begin(hf_engine *engine);
void hf_engine_read_end(hf_engine *engine);

/* Opens an engine on an address with a clock of its own (NULL: the real one). */
HF_NODISCARD hf_status hf_engine_open(const char *where, const hf_app *app, hf_clock *clock,
                                      hf_engine **out_engine);

/* The same in a file system of SQLite's that a test brings (its VFS; NULL: the usual one). */
HF_NODISCARD hf_status hf_engine_open_in(const char *where, const char *vfs, const hf_app *app,
                                         hf_clock *clock, hf_engine **out_engine);

#endif
