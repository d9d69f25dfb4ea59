/* matching.h: where polls of workers in other processes and the tasks they ask for meet. A task is
   offered until a poll that serves its queue and type takes it; a poll waits until there is such a
   task. Nothing is polled: whichever comes second finds the other.

   What is here is a copy. The owner of a task (the core, or who asks a question) knows it by its
   key and says: offer, withdraw, deliver. A poll that takes one makes a claim, which its owner is
   told of and confirms by delivering the task; until then the poll may leave and the task may be
   withdrawn, and neither can meet what the other has freed, because neither has a pointer to it. A
   claim that turns out to be stale puts its poll back at the front.

   A delivered task is a lease: who has it and until when. Nothing of this is stored; rows are the
   truth, and recovery offers and resumes what they say.

   Any thread. Callbacks are called without the lock. It must never call user code or the store. */
#ifndef HF_TASK_MATCHING_H
#define HF_TASK_MATCHING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/id.h"
#include "base/mem.h"
#include "base/slice.h"
#include "holdfast/value.h"
#include "task/task.h"

typedef struct hf_matching hf_matching;

#define HF_MATCHING_VISIT_US                                                                       \
    INT64_C(60000000) /* a worker that asked so long ago counts as there                           \
                       */

enum {
    HF_MATCHING_WORKER_SIZE = 256, /* of a worker's name, the NUL included */
    HF_MATCHING_QUEUES_MAX = 16    /* that one poll may wait at */
};

HF_NODISCARD hf_status hf_matching_open(const hf_clock *clock, hf_matching **out_matching,
                                        hf_err *err);
void hf_matching_close(hf_matching *matching); /* NULL is allowed; it has been shut */

/* Shut, every poll that waits is sent away, and so is each that comes until it opens again. Tasks
   stay, and claims that are made already come to their end. NULL is allowed. */
void hf_matching_shut(hf_matching *matching, bool shut);

/* ---- the owner of tasks */

/* `claimed` is called when claims of these kinds (a bit 1 << kind for each) wait for
   hf_matching_claim. It must not block. */
void hf_matching_listen(hf_matching *matching, unsigned kinds, void (*claimed)(void *ctx),
                        void *ctx);

/* The owner of these kinds goes: all its tasks are withdrawn, and `claimed` is not called any more
   when this returns. */
void hf_matching_forget(hf_matching *matching, unsigned kinds);

/* What is said of a task. All texts are copied. */
typedef struct hf_task_offer {
    hf_task_key key;
    int64_t run;
    int64_t shard; /* of the run; HF_NONE: nobody but the owner of the task knows of it */
    int64_t namespace_key;
    hf_slice queue;
    hf_slice type;
    hf_slice workflow_id;
    hf_slice run_id;
    hf_slice task_id; /* what it is called when it is taken by name; empty: never */
    hf_slice build;   /* whose workers alone may have it; ptr NULL: all */
    hf_slice prefers; /* the worker that had the run last and may still know it; ptr NULL: none */
    bool now;         /* for a poll that waits, or nobody */
} hf_task_offer;

/* The worker behind a claim or a lease, as a copy. */
typedef struct hf_task_holder {
    char worker[HF_MATCHING_WORKER_SIZE];
    int64_t lease_us; /* how long it asked for; 0: the kind's default */
    int64_t until_us; /* the lease ends; 0: the claim is not confirmed */
    bool unheard;     /* the lease was resumed, and nobody has spoken of it since */
} hf_task_holder;

/* Offers the task, once: it may be there already. True in *out_claimed: a poll has it now, and the
   owner answers with hf_matching_deliver or hf_matching_withdraw. Another task of the same subject
   is withdrawn. HF_NOMEM: the task is not offered. */
HF_NODISCARD hf_status hf_matching_offer(hf_matching *matching, const hf_task_offer *offer,
                                         bool *out_claimed, hf_task_holder *out_holder,
                                         hf_err *err);

/* The owner takes it back, whatever state it is in. It need not be there. */
void hf_matching_withdraw(hf_matching *matching, const hf_task_key *key);

/* The oldest claim of these kinds that its owner has not seen, the run it is of and whose it is
   (may be NULL); false: there is none. The owner answers as above, or offers the task again when it
   is ready to. */
bool hf_matching_claim(hf_matching *matching, unsigned kinds, hf_task_key *out_key,
                       int64_t *out_run, hf_task_holder *out_holder);

/* Confirms the claim: the poll gets the task, which lives in `mem` and takes that along, and the
   lease begins. False: the poll is gone, `task` is NULL, or there is no such claim; nothing is left
   of the task then. */
bool hf_matching_deliver(hf_matching *matching, const hf_task_key *key, int64_t lease_us,
                         int64_t until_us, hf_mem *mem, hf_value task);

/* ---- leases */

/* A lease that was given before this engine began. An empty worker is not known. */
HF_NODISCARD hf_status hf_matching_resume(hf_matching *matching, const hf_task_offer *offer,
                                          hf_slice worker, int64_t lease_us, int64_t until_us,
                                          hf_err *err);

/* Who has the task; false: nobody does. */
bool hf_matching_leased(hf_matching *matching, const hf_task_key *key, hf_task_holder *out_holder);

/* Who has the subject's task of that kind, whatever its attempt; false: nobody does. */
bool hf_matching_holder(hf_matching *matching, hf_task_kind kind, int64_t subject,
                        hf_task_holder *out_holder);

/* Of the run that the task is of, in `mem`; NULL: it is not known, or memory ran out. */
const char *hf_matching_workflow_id(hf_matching *matching, const hf_task_key *key, hf_mem *mem);

/* Its worker was heard of: the lease lasts until then. False: there is none. */
bool hf_matching_extend(hf_matching *matching, const hf_task_key *key, int64_t until_us);

/* The lease is over. It need not be there. */
void hf_matching_end(hf_matching *matching, const hf_task_key *key, hf_task_move how);

typedef struct hf_task_lease {
    hf_task_key key;
    int64_t run;
    bool unheard;
} hf_task_lease;

/* All leases of these kinds that the worker holds; hf_alloc_free. */
HF_NODISCARD hf_status hf_matching_leases_of(hf_matching *matching, unsigned kinds,
                                             int64_t namespace_key, hf_slice worker,
                                             hf_task_lease **out_leases, size_t *out_count,
                                             hf_err *err);

/* ---- polls: see hf_poll_leave and hf_poll_end in holdfast/worker.h for how they end */

typedef struct hf_poll_spec {
    unsigned kinds; /* a bit 1 << kind for each */
    int64_t namespace_key;
    const hf_slice *queues;
    size_t queue_count; /* 0: whatever the queue and namespace; it gets tasks of other nodes */
    const hf_slice *types;
    size_t type_count; /* 0: all */
    hf_slice worker;
    hf_slice build;   /* ptr NULL: it says none */
    int64_t lease_us; /* 0: the kind's default */
    bool (*got)(void *arg, hf_value task);
    void *arg;
} hf_poll_spec;

/* A worker asks. *out_poll is set before `got` may be called. */
HF_NODISCARD hf_status hf_matching_poll(hf_matching *matching, const hf_poll_spec *spec,
                                        hf_poll **out_poll, hf_err *err);

/* A worker asks for this one, whatever its queue, and does not wait. HF_NOTFOUND: nobody offers it.
 */
HF_NODISCARD hf_status hf_matching_poll_task(hf_matching *matching, const hf_poll_spec *spec,
                                             hf_task_kind kind, int64_t subject, hf_poll **out_poll,
                                             hf_err *err);

/* ---- other nodes of a shared store (engine/carrier.h)

   A task that no poll here takes is told to one other node that has polls for it. There it is a
   copy under the same key, which a poll may claim; the claim comes back here, where it is a poll
   for this one task, and only its owner confirms it. Until then it may be taken here as well: what
   another node was told is a hint. */

/* `shared` is called when one of the next functions has something to say; `waits`: it is only that
   one more poll waits. It must not block. NULL: there are no other nodes. */
void hf_matching_share(hf_matching *matching, void (*shared)(void *ctx, bool waits), void *ctx);

/* Polls at another node that wait for one kind of task. */
typedef struct hf_task_demand {
    hf_task_kind kind;
    bool any_queue; /* it is a program that brings the type */
    int64_t namespace_key;
    hf_slice queue;
    hf_slice type;  /* ptr NULL: any */
    hf_slice build; /* ptr NULL: they say none */
    int64_t polls;
} hf_task_demand;

/* All that waits at that node now; what it said before is forgotten. */
HF_NODISCARD hf_status hf_matching_demand(hf_matching *matching, int64_t node,
                                          const hf_task_demand *demands, size_t count, hf_err *err);

/* What waits here, for other nodes; at most so many, in `mem`. NULL: no memory. */
hf_task_demand *hf_matching_wanted(hf_matching *matching, hf_mem *mem, size_t most,
                                   size_t *out_count);

/* The next task that the node is to be told of, in `mem`. False: there is none now. */
bool hf_matching_lend(hf_matching *matching, hf_mem *mem, int64_t *out_node,
                      hf_task_offer *out_offer);
/* The next one that the node was told of and that is not to be had any more. */
bool hf_matching_recall(hf_matching *matching, int64_t *out_node, hf_task_key *out_key);
/* Nobody there took it in time: it is told to another one, and that node gets no more before it
   says again what waits there. */
void hf_matching_unlent(hf_matching *matching, const hf_task_key *key, int64_t node);

/* A task of another node. Nothing happens when there is one of the same subject and epoch here; one
   of an epoch before is over. */
HF_NODISCARD hf_status hf_matching_borrow(hf_matching *matching, const hf_task_offer *offer,
                                          int64_t owner, hf_err *err);
/* It is over for this node, unless a poll has claimed it. */
void hf_matching_return(hf_matching *matching, const hf_task_key *key);
/* The oldest claim of another node's task that it was not told of. */
typedef struct hf_task_abroad {
    hf_task_key key;
    int64_t owner;
    int64_t shard;
    int64_t namespace_key;
    hf_task_holder holder;
    hf_slice build; /* of the poll, in `mem` */
    bool any_queue; /* it is one of whatever queue */
} hf_task_abroad;
bool hf_matching_claim_abroad(hf_matching *matching, hf_mem *mem, hf_task_abroad *out);

/* A poll at another node has claimed the task. HF_NOTFOUND: it is not to be had under this key. */
HF_NODISCARD hf_status hf_matching_poll_key(hf_matching *matching, const hf_poll_spec *spec,
                                            const hf_task_key *key, hf_poll **out_poll,
                                            hf_err *err);

/* ---- what is here */

/* Whether a worker asked for this kind of task at the queue within the last `within_us`, or one at
   another node waits for it there or brings the type. */
bool hf_matching_served(hf_matching *matching, hf_task_kind kind, int64_t namespace_key,
                        hf_slice queue, hf_slice type, int64_t within_us);

/* What is offered at the queue (ptr NULL: any) and has a name, the oldest first at each queue, at
   most so many; see hf_tasks_ready. Who looks counts as a worker that asked. NULL: no memory. */
hf_value hf_matching_ready(hf_matching *matching, int64_t namespace_key, hf_task_kind kind,
                           hf_slice queue, size_t most, hf_mem *mem);

/* See hf_workers_queues and hf_tasks_held; NULL: no memory. */
hf_value hf_matching_queues(hf_matching *matching, int64_t namespace_key, hf_mem *mem);
hf_value hf_matching_held(hf_matching *matching, int64_t namespace_key, hf_slice queue,
                          hf_mem *mem);

/* Workers of all namespaces that hold something, each once: [{"namespace" (its key), "worker"}].
   NULL: no memory. */
hf_value hf_matching_holders(hf_matching *matching, hf_mem *mem);

#endif
