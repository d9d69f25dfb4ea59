/* replay_job.h: a replay in a thread of its own, because code may not come back: whoever waits for
   it goes on after a while, and the thread is left behind with what it works on. */
#ifndef HF_ENGINE_REPLAY_JOB_H
#define HF_ENGINE_REPLAY_JOB_H

#include "engine/replay_check.h"
#include "project/replay_rows.h"

typedef struct hf_replay_job hf_replay_job;

/* A job with an arena, in which whoever starts it puts the events. HF_NOMEM. */
HF_NODISCARD hf_status hf_replay_job_new(hf_replay_job **out_job, hf_err *err);
hf_mem *hf_replay_job_mem(const hf_replay_job *job);
void hf_replay_job_free(hf_replay_job *job); /* NULL is allowed; one that was left frees itself */

/* Replays the events and waits for it. What hf_replay_check says; HF_TIMEOUT: the code did not come
   back, and the job is not the caller's any more (*out_left): it must not be touched. */
HF_NODISCARD hf_status hf_replay_job_run(hf_replay_job *job, const hf_replay_info *info,
                                         const hf_event *events, size_t count, int64_t timeout_ms,
                                         bool *out_left, hf_err *err);

/* What it came to. */
const hf_replay_verdict *hf_replay_job_verdict(const hf_replay_job *job);
int64_t hf_replay_job_elapsed_us(const hf_replay_job *job);

/* For hf_replay_rows: which steps code began, and where. */
int64_t hf_replay_job_entered(const hf_replay_job *job);
hf_slice hf_replay_job_line(const void *job, int64_t step);

#endif
