/* remote_room.h: the threads that own the workflow code of a program behind a server. Tasks come in
   on other threads, and a coroutine never leaves its own: each run belongs to one room, by its id,
   a task is carried there, and who carries it waits outside.

   A room keeps the coroutines of runs that it has seen, so that their next task brings only what is
   new. The rule: a run that is kept stands where the server has it. It is settled when the server
   has recorded what its last turn decided; until then, and when it is not exactly where the task
   begins, it is no use and is made anew from its whole history. What is kept is bounded; the run
   that was used longest ago goes first. */
#ifndef HF_ENGINE_REMOTE_ROOM_H
#define HF_ENGINE_REMOTE_ROOM_H

#include "engine/remote_impl.h"
#include "replay/replay.h"

enum { REMOTE_RUN_ID_BYTES = 64 };

/* A big value that came beside its event. */
typedef struct remote_payload {
    struct remote_payload *next;
    uint8_t digest[HF_SHA256_BYTES];
    hf_slice bytes;
} remote_payload;

typedef enum remote_standing {
    REMOTE_REPORTING, /* what it decided is on its way to the server */
    REMOTE_SETTLED,   /* it is recorded */
    REMOTE_LOST       /* nobody knows */
} remote_standing;

/* The task that a turn is taken for. */
typedef struct remote_task {
    remote_hand *hand; /* waits for the turn: what it has is the room's meanwhile */
    const char *id;
    int64_t attempt;
} remote_task;

/* A run in memory. The room's thread alone, but for what is under the lock. */
typedef struct remote_live {
    hf_list lru;
    hf_mem *mem; /* this, and what the replay borrows */
    char run_id[REMOTE_RUN_ID_BYTES];
    hf_replay_info info;
    hf_replay *replay;
    remote_payload *payloads;
    int64_t fed;
    size_t decided;           /* in the last turn */
    remote_task task;         /* while a turn is taken */
    remote_standing standing; /* under the room's lock */
    uint64_t turn;            /* which report that is about */
    size_t held;              /* bytes, as they were counted */
} remote_live;

/* Something to be done in a room. */
typedef struct remote_visit {
    struct remote_visit *next;
    void (*work)(struct remote_visit *visit, remote_room *room);
    void *arg;
    const char *run_id; /* nobody waits for it, and it waits for the report of this run */
    bool done;          /* under the room's lock */
} remote_visit;

HF_NODISCARD hf_status hf_remote_rooms_open(hf_remote *remote, hf_err *err);
void hf_remote_rooms_end(hf_remote *remote);   /* when nobody visits any more: all is done */
void hf_remote_rooms_close(hf_remote *remote); /* when nobody settles any more */

/* The room that a run belongs to. */
remote_room *hf_remote_room_of(hf_remote *remote, const char *run_id);

/* Has visit->work done by the room's thread and waits for it. */
void hf_remote_visit(remote_room *room, remote_visit *visit);

/* Has visit->work done by the room's thread, which has the visit from now on. */
void hf_remote_visit_later(remote_room *room, remote_visit *visit);

/* Any thread: waits while what the run decided is on its way to the server: the next task may come
   in before the answer to that does. */
void hf_remote_await(remote_room *room, const char *run_id);

/* Any thread: how the report of that turn ended. */
void hf_remote_settle(remote_room *room, const char *run_id, uint64_t turn,
                      remote_standing standing);

/* ---- from inside a room */

/* In whose name the room does what no thread waits for; its arena is what the caller sets. */
remote_hand *hf_remote_room_hand(remote_room *room);

/* The run, if it is settled and stands at `seq`; else it is forgotten: NULL. */
remote_live *hf_remote_live_find(remote_room *room, const char *run_id, int64_t seq);

/* A run without any history yet. It is not kept. */
HF_NODISCARD hf_status hf_remote_live_new(remote_room *room, hf_value task,
                                          const hf_registry_workflow *workflow,
                                          remote_live **out_live, hf_err *err);

/* Feeds a history of the server's (hf_task_events). */
HF_NODISCARD hf_status hf_remote_live_feed(remote_live *live, hf_value history, hf_mem *mem,
                                           hf_err *err);

/* Runs its code, for live->task, until it waits. A process that dies of it is told of, unless the
   task is a question. */
HF_NODISCARD hf_status hf_remote_live_turn(remote_room *room, remote_live *live, hf_turn *out_turn,
                                           hf_err *err);

/* Keeps it, newest of all, and lets go what is too much. If there is no memory for that, it is
   freed: nothing depends on it. The turn that its report is to be settled under. */
uint64_t hf_remote_live_keep(remote_room *room, remote_live *live);

/* Forgets and frees it, kept or not; NULL is allowed. */
void hf_remote_live_drop(remote_room *room, remote_live *live);

#endif
