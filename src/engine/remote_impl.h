/* remote_impl.h: the handle of an engine behind a server, for the files that implement it. */
#ifndef HF_ENGINE_REMOTE_IMPL_H
#define HF_ENGINE_REMOTE_IMPL_H

#include <stdatomic.h>

#include "base/rng.h"
#include "base/thread.h"
#include "client/client.h"
#include "engine/pool.h"
#include "engine/registry.h"
#include "engine/remote.h"
#include "engine/remote_crumb.h"
#include "engine/remote_link.h"
#include "base/list.h"
#include "base/map.h"
#include "replay/coro.h"

enum {
    REMOTE_TASKS = 64,                    /* workflow tasks at once */
    REMOTE_RUNNERS = 16,                  /* threads for those that their rooms cannot do alone */
    REMOTE_ROOMS = HF_REMOTE_CRUMB_ROOMS, /* threads that run workflow code */
    REMOTE_ATTEMPTS = 32,                 /* activities at once */
    REMOTE_STEPPERS = 8,                  /* steps of machines at once */
    REMOTE_LOCAL = 4,                     /* runners for other nodes, which poll for nothing else */
    REMOTE_POLL_S = 20,                   /* how long a poll waits for a task */
    REMOTE_PATIENCE_MS = 15000,           /* how long a command is asked again */
    REMOTE_PAGE_EVENTS = 1000,            /* of a history */
    REMOTE_MEMORY_TRIES = 20, /* when there is none: nothing is failed or lost for that */
    REMOTE_MEMORY_MS = 50,    /* between them */
    REMOTE_CACHE_BYTES = 64 << 20
};

typedef struct remote_room remote_room;

/* A client that nobody uses right now. */
typedef struct remote_client {
    struct remote_client *next;
    hf_client *client;
} remote_client;

/* A thread that works. */
typedef struct remote_hand {
    hf_remote *remote;
    remote_kind kind;
    hf_thread thread;
    bool started;
    bool polled; /* the next is the answer; under the remote's lock, as the next */
    hf_value task;
    int64_t namespace_key; /* whose that is */
    hf_client *poll;       /* of a poller: is stopped when the program ends */
    hf_mem *mem;           /* of the work on one task */
    hf_mem *task_mem;      /* of the task itself */
    const hf_err *fault;   /* of that: why its room could not do it; NULL: nothing */
    hf_status fault_status;
    bool slot;     /* its task has one (remote_link.c); under the remote's lock, as the next two */
    bool told;     /* its report is answered */
    hf_cond woken; /* for that */
    char ask[40];  /* name of the poll that was not answered yet; "": none */
    /* attempts and steps */
    hf_pool *pool; /* moved by this thread alone */
    hf_mutex lock;
    hf_job *job; /* that runs; under the lock */
    char task_id[64];
    char attempt_id[64];
    int64_t attempt;
    int64_t lease_us; /* of a step */
    int64_t beat_us;  /* when the server last heard of it; under the lock */
} remote_hand;

struct hf_remote {
    hf_engine *engine;
    const hf_app *app;
    hf_registry *registry;
    hf_client_options address;
    char *url;
    char *token;
    char *namespace;
    char worker[192];
    bool local; /* for other nodes of the store that is this process's (remote_local.c) */
    hf_slice *workflow_types; /* then: what the program brings, and its aliases */
    size_t workflow_type_count;
    hf_slice *activity_types; /* behind them */
    size_t activity_type_count;
    hf_mem *step_mem;
    hf_slice *step_types; /* in that */
    size_t step_type_count;
    hf_rng rng;                 /* under the lock */
    _Atomic bool met;           /* the server has answered: when it does not, it may come back */
    _Atomic size_t cache_bytes; /* for coroutines of runs that wait */
    hf_mutex lock;
    hf_cond changed;
    remote_link *link;
    remote_client *idle; /* under the lock, as all below */
    bool begun;
    bool stopping; /* nothing new is taken */
    bool registered;
    bool tried; /* it was refused, or nobody answered */
    uint64_t registrations;
    hf_remote_crumb *crumb; /* whose code runs, by the number of the hand */
    remote_hand *hands;
    size_t hand_count;
    remote_room *rooms;
    hf_thread keeper;
    hf_mem *keeper_mem;
    bool kept;
};

/* ---- asking */

/* Asks again while a server that was there does not answer or has too much to do, for at most
   `patience_ms`. */
HF_NODISCARD hf_status hf_remote_ask(hf_remote *remote, const hf_client_request *request,
                                     int64_t patience_ms, hf_mem *mem, hf_client_reply *out_reply,
                                     hf_err *err);

/* The same with a client of the caller's. */
HF_NODISCARD hf_status hf_remote_ask_with(hf_client *client, const hf_client_request *request,
                                          int64_t patience_ms, hf_mem *mem,
                                          hf_client_reply *out_reply, hf_err *err);

/* Whether the server says that it has too much to do, or no room, now. */
bool hf_remote_busy(const hf_client_reply *reply);

/* The same in a hand's name, for at most REMOTE_PATIENCE_MS; the answer lives in hand->mem. */
HF_NODISCARD hf_status hf_remote_report(remote_hand *hand, const char *path, hf_value body,
                                        hf_client_reply *out_reply, hf_err *err);

/* The body that asks for a command: what is not in its path, values in envelopes, and a request id,
   so that it may be asked again. NULL: no memory. */
hf_value hf_remote_command_body(hf_remote *remote, hf_mem *mem, const char *command,
                                hf_value request);

/* HF_INVALID: one of them cannot be said in JSON. Absent ones are none. */
HF_NODISCARD hf_status hf_remote_texts_check(const char *const *texts, size_t count, hf_err *err);

/* The envelope of a JSON text, however long it is; NULL: no memory. */
hf_value hf_remote_envelope(hf_mem *mem, hf_slice json);

/* The next for signs of life, which nobody sends twice. */
HF_NODISCARD hf_status hf_remote_sign(remote_hand *hand, const hf_client_request *request,
                                      hf_mem *mem, hf_client_reply *out_reply, hf_err *err);

/* ---- remote_local.c */

/* What hf_remote_poll and the two above do when the store is this process's. */
hf_value hf_remote_local_poll(remote_hand *hand);
HF_NODISCARD hf_status hf_remote_local_ask(remote_hand *hand, const hf_client_request *request,
                                           hf_mem *mem, hf_client_reply *out_reply, hf_err *err);

/* What hf_remote_tell does then. */
HF_NODISCARD hf_status hf_remote_local_tell(remote_hand *hand, hf_value said,
                                            hf_client_reply *out_reply, hf_err *err);

/* Tells the other nodes of tasks of theirs that processes before this one died of. */
void hf_remote_local_crashes(hf_remote *remote);

/* A handle without an address. */
HF_NODISCARD hf_status hf_remote_new(hf_engine *engine, hf_remote **out_remote, hf_err *err);

/* ---- working */

/* Waits until it may poll; false: the program ends. */
bool hf_remote_ready(hf_remote *remote);

/* Waits until the server knows what this program brings, if it can be told: runs that are started
   carry it. */
void hf_remote_known(hf_remote *remote);

/* A name for a request that may be asked again: a task that it was answered with is not lost then.
   NULL: no memory. */
const char *hf_remote_name(hf_remote *remote, hf_mem *mem);

/* The queue that the program works at. */
const char *hf_remote_queue(const hf_remote *remote);

/* A poll at the server for at most so many: a list in hand->mem, which may be NULL. */
hf_value hf_remote_poll(remote_hand *hand, int64_t most);

/* Which threads do it. */
remote_kind hf_remote_kind_of(hf_value task);

/* A workflow's task for its room, which is done and reported without a thread that waits for it;
   the arena is the room's then. False: it is one for a runner. With the remote's lock held. */
bool hf_remote_quick(hf_remote *remote, hf_mem *mem, hf_value task);

/* Waits, but not longer than the program lives. */
void hf_remote_pause(hf_remote *remote, int64_t ms);

void hf_remote_runner(void *hand); /* threads */
void hf_remote_attempts(void *hand);
void hf_remote_steps(void *hand);

/* The pool that a thread for attempts or steps moves; `done` is told of what has ended. */
HF_NODISCARD hf_status hf_remote_pool_open(remote_hand *hand, void (*done)(void *ctx, hf_job *job),
                                           hf_err *err);
void hf_remote_attempt_done(void *hand, hf_job *job); /* of those */
void hf_remote_step_done(void *hand, hf_job *job);

/* Runs the job to its end; `kind` is what is told of a process that dies of it. */
void hf_remote_job_run(remote_hand *hand, hf_job *job, const char *kind, int64_t attempt);

/* What the job that has ended left. */
void hf_remote_job_over(remote_hand *hand);

/* The steps that the program's machines have, as the types of their tasks (worker.h), in the
   arena. */
HF_NODISCARD hf_status hf_remote_step_types(const hf_app *app, hf_mem *mem, hf_slice **out_types,
                                            size_t *out_count, hf_err *err);

/* Says that the task of a run could not be done. `blocked` may be NULL. */
void hf_remote_task_fail(remote_hand *hand, hf_value task, const char *type, const char *message,
                         hf_value blocked);

/* Adds what this program's definition says of a child that is started. */
void hf_remote_child_fill(const hf_remote *remote, hf_slice *type, hf_decision_child *child);

/* The keeper's: signs of life of attempts that have not shown one for long. */
void hf_remote_beats(remote_hand *hand, int64_t now_us);

#endif
