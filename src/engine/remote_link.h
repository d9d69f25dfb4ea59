/* remote_link.h: tasks of a server and reports on them, for the threads of a program that works for
   it; see remote_link.c. */
#ifndef HF_ENGINE_REMOTE_LINK_H
#define HF_ENGINE_REMOTE_LINK_H

#include "base/err.h"
#include "client/client.h"
#include "engine/remote.h"

typedef struct remote_link remote_link;
struct remote_hand;

/* What a thread works on, and what a task is for. */
typedef enum remote_kind {
    REMOTE_WORKFLOWS, /* their tasks, queries and validations */
    REMOTE_ACTIVITIES,
    REMOTE_STEPS, /* of machines */
    REMOTE_KINDS
} remote_kind;

/* A report on its way. It is the link's from its posting until `answered`. */
typedef struct remote_report {
    struct remote_report *next;
    remote_kind kind;
    bool slot;     /* its task still counts as one that the program works on */
    hf_mem *mem;   /* where its answer goes */
    hf_value said; /* as hf_tasks_report takes it */
    int64_t due_us;
    int64_t until_us;
    int memory; /* how often it was tried without memory */
    /* how it ended, for `answered`, which must not block */
    hf_status status;
    hf_client_reply reply; /* as if it had been a request alone; the body only when not 200 */
    hf_err err;
    void (*answered)(struct remote_report *report);
    void *ctx;
} remote_report;

HF_NODISCARD hf_status hf_remote_link_open(hf_remote *remote, remote_link **out_link, hf_err *err);
void hf_remote_link_close(remote_link *link); /* NULL is allowed; no thread uses it any more */

/* Starts to send; `slots` tasks of each kind are worked on at once. */
HF_NODISCARD hf_status hf_remote_link_start(remote_link *link, const int64_t slots[REMOTE_KINDS],
                                            hf_err *err);

/* With the remote's lock held: nothing new is taken, and who waits for a task gets none. */
void hf_remote_link_stop(remote_link *link);

/* When nobody posts any more: what was posted is answered. */
void hf_remote_link_end(remote_link *link);

/* With the remote's lock held: attempts in hand, from their coming to the answer to their report,
   and requests of registrations before `number` that may still bring one. */
int64_t hf_remote_link_attempts(const remote_link *link, uint64_t number);

/* A thread that waits for tasks at the server, for all threads of its hand's kind. */
void hf_remote_poller(void *hand);

/* The next task, which lives until the next call; NULL: there is none, ask again or end. */
hf_value hf_remote_task(struct remote_hand *hand);

/* A workflow's task, in an arena that is the link's now, that its room could not do: a runner does
   it, or says that it failed for `fault`; NULL: nothing yet. `counted`: it has a slot. */
void hf_remote_task_again(remote_link *link, hf_mem *mem, hf_value said, const hf_err *fault,
                          hf_status status, bool counted);

/* Reports without waiting. Asked again as hf_remote_report does. Of a task that `hand` took from
   hf_remote_task: it may take its next one at once; NULL: it took none. */
void hf_remote_post(remote_link *link, struct remote_hand *hand, remote_report *report);

/* Reports on a task as hf_tasks_report takes it, and waits for the answer: its status as that of
   the request it would have been alone, its body when it is not 200, in hand->mem. Asked again as
   hf_remote_report does. */
HF_NODISCARD hf_status hf_remote_tell(struct remote_hand *hand, hf_value said,
                                      hf_client_reply *out_reply, hf_err *err);

#endif
