/* world.h: small lives of runs for tests: start, activity, timer, signal, child, continue-as-new,
   completion, each one unit as the engine would stage it, with the events, open work and counters
   that the invariants demand. Store, crash, verify and benchmark programs share it, so that they
   all exercise the same representative rows.

   Every action waits until its unit is committed and returns its outcome; on HF_OK the handle shows
   the run as it is now. A world belongs to one thread. Nothing here is random: same calls, same
   bytes (a virtual clock ticks 1 ms per action unless options bring another clock). */
#ifndef HF_TEST_LIB_WORLD_H
#define HF_TEST_LIB_WORLD_H

#include <stdbool.h>

#include "base/clock.h"
#include "base/err.h"
#include "commit/unit.h"
#include "commit/writer.h"
#include "store/store.h"

typedef struct hf_world {
    hf_store *store;
    hf_writer *writer;
    hf_stager stager;
    hf_clock *clock;       /* virtual, starts at 2026-01-01 */
    int64_t namespace_key; /* "default" */
    bool manual;
    int64_t acknowledged; /* units whose commit was reported */
} hf_world;

typedef struct hf_world_options {
    const char *vfs; /* SQLite VFS */
    bool manual;     /* step the writer instead of running its thread */
    bool existing;   /* the store must exist already */
    int64_t sync_us; /* what the writer takes a sync to last; 0: it measures */
} hf_world_options;

/* A run and the open work it has. 0 means none. */
typedef struct hf_world_run {
    hf_run_base base;
    hf_slice id; /* borrowed from the caller */
    int64_t number;
    int64_t created_us;
    int64_t step; /* the newest step */
    int64_t workflow_task;
    int64_t activity; /* open activity execution, its step and attempt */
    int64_t activity_step;
    int64_t attempt;
    int64_t timer;
    int64_t timer_step;
    int64_t timer_due_us;
    int64_t signal_command; /* received and not yet applied */
    int64_t signal_message;
    int64_t child_run; /* open child and the step that started it */
    int64_t child_step;
    int64_t child_link;
    int64_t parent_run; /* of a child: told when this run finishes, through an inbox row */
    int64_t parent_inbox;
} hf_world_run;

HF_NODISCARD hf_status hf_world_open(hf_world *world, const char *address,
                                     const hf_world_options *options, hf_err *err);
void hf_world_close(hf_world *world);

/* StartAccepted, WorkflowStarted, the start command, the first workflow task. HF_EXISTS when the id
 * is taken. */
hf_status hf_world_start(hf_world *world, const char *id, hf_world_run *out_run, hf_err *err);
/* The workflow task ends: an activity is scheduled. */
hf_status hf_world_activity(hf_world *world, hf_world_run *run, hf_err *err);
/* A worker takes the activity: ActivityStarted, and its row says so. */
hf_status hf_world_claim(hf_world *world, hf_world_run *run, hf_err *err);
/* The activity completes with a result of `result_bytes` bytes of JSON; a workflow task resumes the
 * run. */
hf_status hf_world_complete(hf_world *world, hf_world_run *run, size_t result_bytes, hf_err *err);
/* All three in one unit, as the engine does when it runs ahead: the open activity completes and the
   next one is scheduled and started. Needs a claimed activity. */
hf_status hf_world_step(hf_world *world, hf_world_run *run, hf_err *err);
/* The workflow task ends: a timer is started; later it fires. */
hf_status hf_world_timer(hf_world *world, hf_world_run *run, int64_t delay_us, hf_err *err);
hf_status hf_world_fire(hf_world *world, hf_world_run *run, hf_err *err);
/* A signal arrives at any time (a fact from outside: based anew while the run is open); later it is
 * applied. */
hf_status hf_world_signal(hf_world *world, hf_world_run *run, const char *name, size_t bytes,
                          hf_err *err);
hf_status hf_world_apply(hf_world *world, hf_world_run *run, const char *name, hf_err *err);
/* A child run is started; when it has finished, its parent records that. */
hf_status hf_world_child(hf_world *world, hf_world_run *run, const char *child_id,
                         hf_world_run *out_child, hf_err *err);
hf_status hf_world_child_done(hf_world *world, hf_world_run *run, const hf_world_run *child,
                              hf_err *err);
/* The run goes on as the next run of its instance. Needs an open workflow task and nothing else
 * open. */
hf_status hf_world_continue(hf_world *world, hf_world_run *run, hf_world_run *out_next,
                            hf_err *err);
/* The run completes. Needs an open workflow task and nothing else open. */
hf_status hf_world_finish(hf_world *world, hf_world_run *run, hf_err *err);

/* A whole life: start, two activities (one with a 3 KB result), a timer, a signal, finish. */
hf_status hf_world_life(hf_world *world, const char *id, hf_err *err);

/* Reads the run again, after a crash or a conflict; open work in the handle is the caller's to
 * know. */
hf_status hf_world_reload(hf_world *world, hf_world_run *run, hf_err *err);

/* ---- for tests of the commit layer: the unit of hf_world_signal, sealed but not submitted. */
hf_unit *hf_world_signal_unit(hf_world *world, const hf_world_run *run, const char *name,
                              hf_unit_done *done, void *ctx, hf_err *err);

#endif
