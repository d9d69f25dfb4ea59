/* liveness.h: what, if anything, will move a run on. A pure fold over a run's history and its rows
   of open work: history says what must be there, the rows say what is. List, page, `why`, watchdog
   and repair all ask here, so that they cannot disagree.

   Precedence of the answer: closed, blocked, trouble with the next task, open activity, open
   update, signal to be applied, condition, signal wait with a timeout, timer, next task, child that
   ended, open child, signal wait, and last: nothing (repair_needed). Must never read a database. */
#ifndef HF_PROJECT_LIVENESS_H
#define HF_PROJECT_LIVENESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"
#include "model/vocab.h"
#include "project/dossier.h"
#include "project/track.h"

/* What the asker knows of the world outside the store. */
typedef struct hf_liveness_world {
    int64_t now_us;
    /* Whether an attempt of the activity with this key may be running somewhere. NULL: nobody can
       say, so it may. */
    bool (*running)(void *ctx, int64_t activity);
    /* Whether a worker is there that may take tasks of this kind and queue for a run with this
       marker (ptr NULL: none). NULL: nobody can say, so there is. */
    bool (*served)(void *ctx, hf_task_type kind, hf_slice queue, hf_slice compatibility);
    /* The worker of another process that has the run's workflow task, and until when; the name is
       in the arena, ptr NULL: none has. NULL: nobody can say. */
    hf_slice (*holder)(void *ctx, int64_t run, hf_mem *mem, int64_t *out_until_us);
    void *ctx;
    bool past; /* an earlier moment (moment.h): a turn that was due has no row to be asked for */
} hf_liveness_world;

typedef enum hf_lost_kind {
    HF_LOST_TASK,     /* the run wants a turn and no workflow task says so */
    HF_LOST_ACTIVITY, /* history has it open, there is no row */
    HF_LOST_TIMER,
    HF_LOST_FACT /* a child closed, its parent was not told */
} hf_lost_kind;

/* A row that should be there. */
typedef struct hf_lost {
    struct hf_lost *next;
    hf_lost_kind kind;
    bool drifted;                  /* the row is there and says that it is over; history does not */
    const hf_track_step *step;     /* activity, timer, child */
    const hf_dossier_child *child; /* HF_LOST_FACT */
    const hf_track_message *message; /* HF_LOST_TASK: what the turn is for; NULL: something else */
} hf_lost;

typedef struct hf_liveness {
    hf_liveness_state state;
    const char *reason;     /* one sentence */
    hf_wait_kind wait_kind; /* 0: none */
    const char *open_wait_id;
    int64_t since_us; /* when the wait began, HF_NONE: unknown */
    int64_t until_us; /* when it ends by itself, HF_NONE: never */
    hf_resume_source_kind source_kind;
    const char *source_id;
    const hf_track_step *step; /* what is waited for; NULL: no step */
    int64_t stray; /* step of the row without history that blocks the run; HF_NONE: there is none */
    const hf_track_message *message;
    const hf_dossier_activity *activity; /* its row; NULL: there is none, both */
    const hf_dossier_timer *timer;
    const hf_dossier_child *child;
    const hf_dossier_task *task; /* the next one; NULL: there is none */
    hf_transport_state transport;
    hf_repair_blocked_reason repair_blocked; /* 0: a repair would do something */
    bool repair_attention;
    bool task_problem;
    size_t open_waits;
    hf_slice compatibility; /* the run's marker; ptr NULL: none */
    hf_lost *lost;          /* every row that should be there, not only the one that counts most */
} hf_liveness;

/* Leases of workflow tasks are in memory alone: puts the one of this run beside its row. */
void hf_liveness_hold(hf_dossier *dossier, const hf_liveness_world *world, hf_mem *mem);

/* Texts and lists live in `mem`. HF_NOMEM. */
HF_NODISCARD hf_status hf_liveness_fold(const hf_dossier *dossier, const hf_track *track,
                                        const hf_liveness_world *world, hf_mem *mem,
                                        hf_liveness *out_liveness, hf_err *err);

/* What a list puts beside a run whose tasks are in trouble: {"code", "tone"}, or null. NULL: no
   memory. */
hf_value hf_liveness_badge(hf_mem *mem, bool problem, bool replay_blocked);

/* A track of all events of a dossier; hf_track_free it. */
HF_NODISCARD hf_status hf_liveness_track(const hf_dossier *dossier, hf_mem *mem,
                                         hf_track **out_track, hf_err *err);

/* A task's state as operators see it. */
hf_transport_state hf_liveness_transport(const hf_dossier_task *task, int64_t now_us);

/* When a task that was repaired `count` times may be tried again: at once the first time, then
   later and later. */
int64_t hf_liveness_backoff_us(int64_t count, int64_t now_us);

#endif
