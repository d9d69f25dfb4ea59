/* liveness_impl.h: a fold of a run's liveness under way, for liveness.c, which collects what is
   open, and liveness_wait.c, which describes the one that counts. */
#ifndef HF_PROJECT_LIVENESS_IMPL_H
#define HF_PROJECT_LIVENESS_IMPL_H

#include "project/liveness.h"

/* One fold under way. */
typedef struct liveness_fold {
    const hf_dossier *dossier;
    const hf_liveness_world *world;
    hf_mem *mem;
    hf_liveness *out;
    hf_lost **tail;
    const hf_dossier_task *turn; /* the open or blocked workflow task */
    bool turn_open;
    bool turn_blocked;
    /* the first open one of each kind */
    const hf_track_step *activity;
    const hf_track_step *lost_activity;
    const hf_track_step *running_alone; /* an attempt may run, but there is no row */
    const hf_track_message *update;
    const hf_track_message *signal; /* came, and a wait for it is open */
    const hf_track_step *condition;
    const hf_track_step *signal_wait;
    const hf_track_step *timed_signal_wait;
    const hf_track_step *timer;
    const hf_track_step *child;
    const hf_dossier_child *child_ended;
    const hf_track_step *child_ended_step;
    const hf_event *paused;            /* the order that nobody has taken back */
    const hf_track_step *machine_park; /* where a step machine waits for signals */
    int64_t stray_activity; /* steps of open rows that no event speaks of; HF_NONE: there is none */
    int64_t stray_timer;
    int64_t stray_ended; /* the same of a row that says it is over */
    bool timeout_fired;  /* of a condition, and nobody has told the code yet */
    bool wants_turn;     /* something is there for the code */
    bool lost_timer;     /* of the wait that counts */
    bool failed;         /* memory ran out */
} liveness_fold;

/* ---- liveness.c */

/* The newest row of the step that is open; NULL: there is none. */
const hf_dossier_activity *hf_liveness_activity_row(const hf_dossier *dossier, int64_t step);
const hf_dossier_timer *hf_liveness_timer_row(const hf_dossier *dossier, int64_t step);
const hf_dossier_child *hf_liveness_child_row(const hf_dossier *dossier, int64_t step);

/* What history says of the step's timer. */
bool hf_liveness_timer_pending(const hf_track_step *step);
bool hf_liveness_timer_fired(const hf_track_step *step);

/* ---- liveness_wait.c */

void hf_liveness_say(liveness_fold *f, hf_liveness_state state, const char *reason);

/* What is waited for, whatever the state of the next task. */
void hf_liveness_wait(liveness_fold *f);

/* Trouble with the next task comes before what the run waits for. */
void hf_liveness_trouble(liveness_fold *f);

/* Attempts and timers are no tasks with rows of their own; those that are due wait for a worker
   that supports the run all the same. */
void hf_liveness_unserved(liveness_fold *f);

#endif
