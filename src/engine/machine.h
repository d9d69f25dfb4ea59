/* machine.h: the core's side of step machines: which step of a live run may run, when, and what
   becomes of its end. A machine that can go on always has its workflow task in the store, so that
   whoever comes after a crash finds it; a parked one has none. The core's thread only. */
#ifndef HF_ENGINE_MACHINE_H
#define HF_ENGINE_MACHINE_H

#include "engine/core_impl.h"

/* Whether the run is a machine's with a step to run. */
bool hf_machine_runnable(const live_run *run);

/* Runs the step that comes next, if there is one: now, when its time comes, or when there is a
   place. Nothing when a unit of the run is under way or its step runs already. */
void hf_machine_dispatch(hf_core *core, live_run *run);

/* The same for a run that waited: it may have lost its fold meanwhile. */
void hf_machine_resume(hf_core *core, live_run *run);

/* Gives places in the pool to those that wait, the lowest priority number first. True: somebody got
   one. */
bool hf_machine_serve(hf_core *core);

/* The job of the run's step has ended, whatever it says. */
void hf_machine_back(live_run *run, hf_job *job);

/* The run has nothing to do before that moment: it leaves memory until then. */
void hf_machine_later(hf_core *core, live_run *run, int64_t due_us);

/* When the next pause behind a failed attempt at a step ends; INT64_MAX: there is none. */
int64_t hf_machine_pause_end(hf_core *core);

/* A step ended: the turn at hand decides what it decided. A stale end is dropped and counted. */
void hf_machine_ended(live_run *run, const hf_job *job);

/* The run is over: its step is told to stop, and what it decides is dropped. */
void hf_machine_closed(hf_core *core, int64_t run);

#endif
