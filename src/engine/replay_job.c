/* replay_job.c: see replay_job.h. */
#include "engine/replay_job.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"

enum { LINES_MAX = 32, LINE_SIZE = 160 };

struct hf_replay_job {
    hf_mem *mem; /* in which it is itself */
    hf_mutex mutex;
    hf_cond over;
    bool done; /* under the mutex, as is the next */
    bool left; /* nobody waits any more: the thread frees it */
    hf_thread thread;
    /* the thread's until it is done */
    hf_replay_info info;
    char fingerprint[HF_DEFINITION_FINGERPRINT_SIZE];
    const hf_event *events;
    size_t count;
    hf_status status;
    hf_err err;
    hf_replay_verdict verdict;
    int64_t elapsed_us;
    int64_t entered;
    char lines[LINES_MAX][LINE_SIZE]; /* of the last steps, by their number */
};

hf_status hf_replay_job_new(hf_replay_job **out_job, hf_err *err)
{
    hf_mem *mem = hf_mem_new();
    hf_replay_job *job = mem ? hf_mem_alloc(mem, sizeof(*job)) : NULL;
    hf_status st = job ? hf_mutex_init(&job->mutex, err) : hf_err_nomem(err, "a replay");

    if (!st) {
        st = hf_cond_init(&job->over, err);
        if (st)
            hf_mutex_fini(&job->mutex);
    }
    if (st) {
        hf_mem_free(mem);
        return st;
    }
    job->mem = mem;
    *out_job = job;
    return HF_OK;
}

hf_mem *hf_replay_job_mem(const hf_replay_job *job)
{
    return job->mem;
}

void hf_replay_job_free(hf_replay_job *job)
{
    if (!job)
        return;
    hf_cond_fini(&job->over);
    hf_mutex_fini(&job->mutex);
    hf_mem_free(job->mem);
}

/* hf_replay_entered_fn */
static void entered(void *ctx, int64_t step, const char *at)
{
    hf_replay_job *job = ctx;

    job->entered = step;
    (void)snprintf(job->lines[step % LINES_MAX], LINE_SIZE, "%s", at ? at : "");
}

/* hf_thread_fn */
static void job_work(void *ctx)
{
    hf_replay_job *job = ctx;
    int64_t began_us = hf_clock_mono_us(hf_clock_system());
    bool left;

    job->status =
        hf_replay_check(&job->info, job->events, job->count, job->mem, &job->verdict, &job->err);
    job->elapsed_us = hf_clock_mono_us(hf_clock_system()) - began_us;
    hf_mutex_lock(&job->mutex);
    job->done = true;
    left = job->left;
    hf_cond_signal(&job->over);
    hf_mutex_unlock(&job->mutex);
    if (left)
        hf_replay_job_free(job);
}

/* Whether it came back in time; else it is left. */
static bool job_await(hf_replay_job *job, int64_t until_us)
{
    bool done;

    hf_mutex_lock(&job->mutex);
    while (!job->done && hf_clock_mono_us(hf_clock_system()) < until_us)
        (void)!hf_cond_wait_until(&job->over, &job->mutex, until_us);
    done = job->done;
    job->left = !done;
    if (!done)
        hf_thread_detach(&job->thread);
    hf_mutex_unlock(&job->mutex);
    if (done)
        hf_thread_join(&job->thread);
    return done;
}

hf_status hf_replay_job_run(hf_replay_job *job, const hf_replay_info *info, const hf_event *events,
                            size_t count, int64_t timeout_ms, bool *out_left, hf_err *err)
{
    hf_status st;

    *out_left = false;
    job->info = *info;
    (void)snprintf(job->fingerprint, sizeof(job->fingerprint), "%.*s", (int)info->fingerprint.len,
                   info->fingerprint.ptr ? info->fingerprint.ptr : "");
    job->info.fingerprint = hf_slice_of(job->fingerprint); /* it outlives the registry */
    job->info.entered = entered;
    job->info.entered_ctx = job;
    job->events = events;
    job->count = count;
    st = hf_thread_start(&job->thread, "hf-replay", job_work, job, err);
    if (st)
        return st;
    if (!job_await(job, hf_clock_mono_us(hf_clock_system()) + timeout_ms * 1000)) {
        *out_left = true;
        return hf_err_set(err, HF_TIMEOUT, "the code did not come back within %lld ms",
                          (long long)timeout_ms);
    }
    return job->status ? hf_err_set(err, job->status, "%s", job->err.text) : HF_OK;
}

const hf_replay_verdict *hf_replay_job_verdict(const hf_replay_job *job)
{
    return &job->verdict;
}

int64_t hf_replay_job_elapsed_us(const hf_replay_job *job)
{
    return job->elapsed_us;
}

int64_t hf_replay_job_entered(const hf_replay_job *job)
{
    return job->info.machine ? INT64_MAX : job->entered;
}

hf_slice hf_replay_job_line(const void *ctx, int64_t step)
{
    const hf_replay_job *job = ctx;

    return step <= job->entered && step > job->entered - LINES_MAX
               ? hf_slice_of(job->lines[step % LINES_MAX])
               : (hf_slice){0};
}
