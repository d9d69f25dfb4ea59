/* attempt.h: the core's side of activities: attempts that begin, report, show signs of life, time
   out or were lost with their process. An open activity of a live run is in exactly one place: a
   start that waits (run->starts), a job in the pool (core->jobs), or a report (run->ended). The
   functions that fold put what happened into the unit that is being made; what they promise comes
   true in hf_attempt_committed, or is taken back by hf_attempt_abandoned. The core's thread only.
 */
#ifndef HF_ENGINE_ATTEMPT_H
#define HF_ENGINE_ATTEMPT_H

#include "engine/core_impl.h"

/* Reports of ended attempts: staged_ended. */
HF_NODISCARD hf_status hf_attempt_fold_ended(live_run *run, hf_decide *decide, hf_err *err);

/* A deadline of an activity was reached, or a sign of life is to be recorded. */
HF_NODISCARD hf_status hf_attempt_fold_due(live_run *run, hf_decide *decide, core_due *due,
                                           hf_err *err);

/* Attempts that may begin now and find a place. The others stay. */
HF_NODISCARD hf_status hf_attempt_fold_starts(live_run *run, hf_decide *decide, hf_err *err);

/* The unit is committed. Before the effects are kept. */
void hf_attempt_committed(live_run *run);

/* The unit is not: everything is as it was before. */
void hf_attempt_abandoned(live_run *run);

/* A fault that a test asked for (hf_test_fail) takes the place of the attempt: true. */
bool hf_attempt_fault(hf_core_fault *faults, hf_job *job);

/* The first attempt of a local activity, here and now. *out_lost: the core was taken over meanwhile
   and is not to be touched; the job is the caller's in any case but a failure. */
HF_NODISCARD hf_status hf_attempt_local(live_run *run, const hf_decision_row *row, hf_ulid id,
                                        hf_job **out_job, bool *out_lost, hf_err *err);

/* The promise of a committed decision. */
void hf_attempt_scheduled(live_run *run, const hf_effect *effect);

/* An alarm of an activity went off: whether there is something to fold. Arms it again when not. */
bool hf_attempt_alarm(hf_core *core, int64_t activity);

/* Whether the clock says that a timeout of the activity has passed; true also when nothing of it is
   in memory. */
bool hf_attempt_is_late(hf_core *core, int64_t run, int64_t activity);

/* A job showed a sign of life. */
void hf_attempt_beat(hf_core *core, int64_t activity, int64_t attempt);

/* The alarm of a job: its next timeout, sign of life to record, or the end of its worker's lease.
 */
void hf_attempt_arm(hf_core *core, const hf_job *job);

/* The worker that had it is lost: another may try, and no attempt is used up. The store is told, so
   that a restart does not wait for that worker. */
void hf_attempt_lost(hf_core *core, hf_job *job);

/* The same when its process died of it; and when it was held for lost already. */
void hf_attempt_crashed(hf_core *core, hf_job *job);
void hf_attempt_crashed_late(live_run *run, core_start *start);

/* The start of an activity that waits; NULL: none does. */
core_start *hf_attempt_waiting(const live_run *run, int64_t activity);

/* The job is nobody's any more: what it reports is dropped. */
void hf_attempt_stop(hf_core *core, hf_job *job);

/* The run is over: whatever still works for it is told to stop, and its results are dropped. */
void hf_attempt_stop_all(hf_core *core, int64_t run);

/* An open activity that no job of this process works on, as its row says. `lost`: an attempt was
   under way when the process before ended. */
HF_NODISCARD hf_status hf_attempt_found(live_run *run, hf_db_cursor *row, hf_err *err);

#endif
