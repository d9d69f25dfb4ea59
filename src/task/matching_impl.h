/* matching_impl.h: what the files of matching share. Everything here is reached under the lock, but
   for what a poll says of itself, which never changes. */
#ifndef HF_TASK_MATCHING_IMPL_H
#define HF_TASK_MATCHING_IMPL_H

#include <pthread.h>

#include "base/list.h"
#include "base/map.h"
#include "base/thread.h"
#include "task/matching.h"

/* A queue of a namespace. Made when it is first named and kept: an engine has few. */
typedef struct task_queue {
    struct task_queue *next; /* of the same name in another namespace */
    int64_t namespace_key;
    hf_map *shelves;               /* by type and build */
    hf_list anyone[HF_TASK_KINDS]; /* places of polls that take all types */
    hf_list tasks[HF_TASK_KINDS];  /* offered, of all types, oldest first */
    int64_t ready[HF_TASK_KINDS];  /* how many they are */
    int64_t polls[HF_TASK_KINDS];  /* that wait */
    int64_t asked_us[HF_TASK_KINDS];
    size_t name_len;
    char name[];
} task_queue;

/* One type at a queue, and one build where tasks are for its workers alone: a poll that serves one
   of its tasks serves all, so that nothing is searched. Lives while a task or a poll is of it. */
typedef struct task_shelf {
    task_queue *queue;
    size_t users;
    hf_list tasks[HF_TASK_KINDS]; /* offered, oldest first */
    hf_list polls[HF_TASK_KINDS]; /* places of polls that name the type */
    hf_list stay[HF_TASK_KINDS];  /* offered tasks of this node that no other one is told of */
    hf_slice type;                /* in `key`, this and the next */
    hf_slice build;               /* ptr NULL: for all */
    size_t key_len;
    char key[];
} task_shelf;

/* Polls that wait at another node for one kind of task, as that node told. */
typedef struct task_far {
    hf_list link; /* the next one to be told of a task first */
    int64_t node;
    hf_task_kind kind;
    task_queue *queue; /* NULL: programs that bring the type, at whatever queue */
    task_shelf *shelf; /* NULL: of any type */
    int64_t room;      /* tasks that it may be told of beside those that it is told of */
    int64_t polls;
    hf_list lent;   /* tasks that it is told of, oldest first */
    bool kept;      /* it is in the newest that the node told */
    bool missed;    /* it did not take one in time: it gets no more before the node is heard of */
    hf_slice type;  /* without a queue; in `texts`, as the next */
    hf_slice build; /* of polls of any type; ptr NULL: they say none */
    char texts[];
} task_far;

/* A task that another node was told of is not to be had any more. */
typedef struct task_recall {
    struct task_recall *next;
    int64_t node;
    hf_task_key key;
} task_recall;

/* That a worker has a task. */
typedef struct record_lease {
    int64_t lease_us;
    int64_t until_us;
    bool unheard; /* the worker has not been heard of since this node has the task */
    char worker[];
} record_lease;

/* What is said of a task to people. */
typedef enum task_text { TASK_WORKFLOW_ID, TASK_RUN_ID, TASK_ID, TASK_TEXTS } task_text;

/* A task, of which there may be a hundred thousand. Where it stands is its state and nothing else;
   record_check (matching.c) says what goes with each. */
typedef struct task_record {
    hf_task_key key;
    hf_task_state state;
    task_shelf *shelf;
    hf_list place; /* on the shelf, while it is offered; this and the next */
    hf_list in_queue;
    hf_list claim;        /* among those that its owner has not seen */
    int64_t owner;        /* the node that it came from; 0: this one */
    hf_list lend;         /* offered here: in `stay` of its shelf, or in `lent` of the next */
    task_far *far;        /* another node that is told of it, too; NULL: none */
    struct hf_poll *poll; /* that took it; NULL: none, it left, or the claim is confirmed */
    record_lease *lease;  /* NULL: there is none */
    int64_t run;
    int64_t shard;             /* HF_NONE: a question's */
    int64_t since_us;          /* offered */
    int64_t order;             /* of offers */
    uint16_t ends[TASK_TEXTS]; /* of each in `texts` */
    char texts[];
} task_record;

/* Where a poll waits for one kind of task: at a shelf, or with those that take any type of a queue.
 */
typedef struct task_place {
    hf_list link;
    struct hf_poll *poll;
    task_queue *queue;
    task_shelf *shelf; /* NULL: of any type */
    hf_task_kind kind;
    bool first; /* of its poll's at this queue for this kind */
} task_place;

typedef enum poll_state {
    POLL_WAITS,
    POLL_CLAIMED, /* it has a task that its owner has not confirmed */
    POLL_CALLING, /* `got` runs */
    POLL_DONE
} poll_state;

struct hf_poll {
    hf_matching *matching;
    hf_poll_spec spec; /* its texts in `mem`, with the places */
    hf_mem *mem;
    hf_mem *task_mem; /* of the task that it got */
    task_place *places;
    size_t place_count; /* 0: it waits nowhere, but for one task by name, or in the next */
    hf_list anywhere;   /* among polls of whatever queue */
    bool any_queue;
    poll_state state;
    task_record *task; /* POLL_CLAIMED */
    int64_t order;     /* among those that wait: one that is sent back is in front */
    bool leaving;      /* it does not wait again */
    bool ended;        /* from inside `got` */
    pthread_t caller;  /* of `got` */
};

typedef struct matching_listener {
    unsigned kinds;
    void (*claimed)(void *ctx);
    void *ctx;
} matching_listener;

enum { MATCHING_LISTENERS = 2 };

struct hf_matching {
    hf_mutex lock;
    hf_cond called; /* a callback came back */
    const hf_clock *clock;
    hf_map_seed seed;
    hf_map *queues;                     /* by name */
    hf_map_int *records[HF_TASK_KINDS]; /* by subject */
    hf_list claims[HF_TASK_KINDS];      /* that their owner has not seen, oldest first */
    hf_list foreign;                    /* the same of tasks of other nodes */
    hf_list fars;                       /* polls at other nodes */
    hf_list anywhere;                   /* polls of whatever queue, for tasks of other nodes */
    task_recall *recalls;
    task_recall **recalls_last;
    void (*shared)(void *ctx,
                   bool waits); /* something is to be said to other nodes; NULL: there are none */
    void *shared_ctx;
    bool share; /* say so when the lock is given up */
    bool waits; /* a poll does: the same */
    matching_listener listeners[MATCHING_LISTENERS];
    int calls;      /* of listeners that have not come back */
    int64_t orders; /* the last one that was given at the end */
    int64_t fronts; /* the last one that was given at the front: they fall */
    bool shut;
};

/* What is to be done when the lock is given up: a call may lead to one of each at most. */
typedef struct matching_after {
    unsigned kinds;            /* of which claims are new */
    struct hf_poll *dismissed; /* nothing comes for it */
} matching_after;

/* ---- matching.c */

/* NULL: no memory, or there is none. */
task_queue *hf_task_queue_get(hf_matching *matching, int64_t namespace_key, hf_slice name);
task_queue *hf_task_queue_find(const hf_matching *matching, int64_t namespace_key, hf_slice name);
/* Used once more; and once less: then it may be gone. */
task_shelf *hf_task_shelf_use(task_queue *queue, hf_slice type, hf_slice build);
void hf_task_shelf_drop(task_shelf *shelf);

/* The record of the key, and of nothing else; NULL: there is none. */
task_record *hf_task_find(const hf_matching *matching, const hf_task_key *key);
hf_slice hf_task_text(const task_record *record, task_text which);

/* A record in no state; NULL: no memory. */
task_record *hf_task_record_new(hf_matching *matching, const hf_task_offer *offer);

/* The only function that changes a state. A record that is over is freed. */
void hf_task_go(hf_matching *matching, task_record *record, hf_task_move on);

/* The poll has the task now: it waits nowhere, and the owner has to hear of the claim. */
void hf_task_claim_by(hf_matching *matching, task_record *record, hf_poll *poll,
                      matching_after *after);

/* The offered task goes to a poll that waits, if one does. */
void hf_task_seek_poll(hf_matching *matching, task_record *record, hf_slice prefers,
                       matching_after *after);

/* ---- share.c */

/* The offered task stays here until another node has room for it. */
void hf_task_stay(task_record *record);
/* The poll of whatever queue that takes the task of another node; NULL: none. And the task. */
hf_poll *hf_task_anywhere_poll(const hf_matching *matching, const task_record *record);
task_record *hf_task_anywhere(const hf_matching *matching, const hf_poll *poll);
/* No other node is told of it any more; `recall`: it is to hear so. */
void hf_task_unlend(hf_matching *matching, task_record *record, bool recall);
/* Whether another node has polls for the kind at the queue (NULL: it is not known), or brings the
   type. */
bool hf_task_far_serves(const hf_matching *matching, hf_task_kind kind, const task_queue *queue,
                        hf_slice type);
void hf_task_fars_free(hf_matching *matching);

/* ---- matching.c */

/* The record ends; a poll that had claimed it is the first to get something else. */
void hf_task_withdraw(hf_matching *matching, task_record *record, matching_after *after);

/* Of a claim that is not confirmed. */
hf_task_holder hf_task_claim_holder(const task_record *record);

/* Gives up the lock and does what is to be done then. */
void hf_matching_unlock(hf_matching *matching, const matching_after *after);

/* ---- poll.c */

/* The poll gets a task that is offered, or waits, in front of the others if it waited before; or
   is dismissed. */
void hf_poll_seek(hf_poll *poll, bool front, matching_after *after);

/* The poll waits nowhere any more. */
void hf_poll_unplace(hf_poll *poll);

/* This thread is about to call `got`. */
void hf_poll_calling(hf_poll *poll);

/* Calls `got`, without the lock, after hf_poll_calling. The poll may be gone afterwards. */
bool hf_poll_call(hf_poll *poll, hf_value task);

#endif
