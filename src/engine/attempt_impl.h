/* attempt_impl.h: what attempt.c and attempt_fold.c share. */
#ifndef HF_ENGINE_ATTEMPT_IMPL_H
#define HF_ENGINE_ATTEMPT_IMPL_H

#include "engine/attempt.h"

/* What decide's clockwork needs to know of an attempt that runs, or of one that waits. */
hf_attempt_clock hf_attempt_clock_job(const hf_job *job);
hf_attempt_clock hf_attempt_clock_start(const core_start *start);

/* When the newest sign of life may be recorded: seldom enough to cost nothing, often enough to be
   of use to the next attempt. */
int64_t hf_attempt_record_due(const hf_job *job, int64_t now_us);

/* One alarm stands for all that can happen to a start: it may begin, or it is too late. */
void hf_attempt_arm_start(hf_core *core, const core_start *start);

/* The attempt after this one; NULL: no memory, or what it says cannot be read. */
core_start *hf_attempt_after(live_run *run, hf_job *job, int64_t available_us, hf_err *err);

#endif
