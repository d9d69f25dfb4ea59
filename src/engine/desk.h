/* desk.h: where workers of other processes and work for them meet. Work lies on the desk until a
   worker that serves its queue and type asks for it; a worker waits at the desk until there is such
   work. Whoever comes second finds the other: nothing is polled. What lies here is a hint, the rows
   in the store are the truth: a crash empties the desk, and recovery fills it again.

   Any thread. It must never call user code or the store. */
#ifndef HF_ENGINE_DESK_H
#define HF_ENGINE_DESK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/id.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/slice.h"
#include "holdfast/value.h"
#include "holdfast/worker.h"

typedef struct hf_desk hf_desk;
struct hf_core;

#define HF_DESK_VISIT_US INT64_C(60000000) /* a worker that asked so long ago counts as there */

enum {
    HF_DESK_KINDS = 4,       /* of hf_task_kind */
    HF_DESK_QUEUES_MAX = 16, /* that one worker may wait at */
    HF_DESK_LOOK_MAX = 64    /* workers that are looked at for the one that is preferred */
};

/* Work that waits for a worker. Part of what it is work on; the texts are borrowed while it lies on
   the desk, where other threads read them: they stay as they are from the first offer on. */
typedef struct hf_errand {
    hf_list place; /* the desk's */
    hf_task_kind kind;
    struct hf_core *core;
    struct hf_inquiries *inquiries; /* instead of a core: it is a question, see inquiry.h */
    int64_t run;
    int64_t activity; /* its key, of an attempt that may begin; or of the question */
    int64_t namespace_key;
    hf_slice queue;
    hf_slice type;
    hf_slice instance_id;
    hf_slice run_id;
    hf_slice build;                  /* whose workers alone may have it; ptr NULL: all */
    char task_id[HF_ULID_TEXT_SIZE]; /* what it is called when it is taken by name; "": never */
    int64_t since_us;                /* it lies there; the desk's */
} hf_errand;

struct hf_waiter;

/* Where a worker waits: at one queue for one kind of work. */
typedef struct hf_waiter_place {
    hf_list link;
    struct hf_waiter *waiter;
} hf_waiter_place;

/* A worker that waits. */
typedef struct hf_waiter {
    unsigned kinds; /* a bit 1 << kind for each */
    int64_t namespace_key;
    const hf_slice *queues;
    size_t queue_count;
    hf_waiter_place *places; /* one for each queue and kind; the desk's */
    size_t place_count;
    const hf_slice *types;
    size_t type_count; /* 0: all */
    hf_slice worker;
    hf_slice build;   /* ptr NULL: it says none */
    int64_t lease_us; /* 0: the kind's default */
    bool once;        /* it waits nowhere: this work or none */
    bool leaving;     /* it waits no more: the work that is on its way to it or none; the desk's */
    hf_mem *mem;      /* for the task */
    /* The core's thread, once: the task, or NULL when there is none for it: the engine stops,
       memory ran out. False: the worker is gone. Must not block. The waiter may be gone when it
       returns. */
    bool (*got)(struct hf_waiter *waiter, hf_value task);
} hf_waiter;

HF_NODISCARD hf_status hf_desk_open(const hf_clock *clock, hf_desk **out_desk, hf_err *err);
void hf_desk_close(hf_desk *desk); /* NULL is allowed; it has been shut */

/* Whoever waits is sent away, and so is everybody who comes before it opens again. NULL is allowed.
 */
void hf_desk_shut(hf_desk *desk, bool shut);

/* Puts the work on the desk, unless it lies there. A worker that waited for it is returned, and the
   work does not lie there then. `prefers` is the worker that had the run last and may still know
   it; ptr NULL: none. HF_NOMEM: it is offered again at its run's next turn. */
HF_NODISCARD hf_status hf_desk_offer(hf_desk *desk, hf_errand *errand, hf_slice prefers,
                                     hf_waiter **out_waiter, hf_err *err);
void hf_desk_withdraw(hf_desk *desk, hf_errand *errand); /* it need not lie there */

/* The worker gets the oldest work that it serves: *out_found has core, run and activity of it, and
   true is returned; or it waits. HF_STOPPED: the desk is shut, or it left. */
HF_NODISCARD hf_status hf_desk_ask(hf_desk *desk, hf_waiter *waiter, bool *out_found,
                                   hf_errand *out_errand, hf_err *err);

/* The worker gets the work on a run (`activity` 0) or on an attempt that lies there, whatever its
   queue: true; it never waits. */
bool hf_desk_claim(hf_desk *desk, const hf_waiter *waiter, int64_t run, int64_t activity,
                   hf_errand *out_errand);

/* True: the worker waited and does not any more. False: somebody has work for it right now; when
   that comes to nothing, it does not wait again. */
bool hf_desk_leave(hf_desk *desk, hf_waiter *waiter);

/* Whether anybody asked for this kind of work at the queue within the last `within_us`. */
bool hf_desk_served(hf_desk *desk, hf_task_kind kind, int64_t namespace_key, hf_slice queue,
                    int64_t within_us);

/* Whether anybody asked for anything here within the last `within_us`. */
bool hf_desk_visited(hf_desk *desk, int64_t within_us);

/* Whether work has waited for `patience_us` for which nobody asked here in that time. */
bool hf_desk_starves(hf_desk *desk, int64_t patience_us);

/* What lies at the queue (ptr NULL: any) and has a name, the oldest first at each queue, at most so
   many; see hf_tasks_ready. Whoever looks counts as a worker that asked. NULL: no memory. */
hf_value hf_desk_ready(hf_desk *desk, int64_t namespace_key, hf_task_kind kind, hf_slice queue,
                       size_t most, hf_mem *mem);

/* See hf_workers_queues; NULL: no memory. */
hf_value hf_desk_show(hf_desk *desk, int64_t namespace_key, hf_mem *mem);

#endif
