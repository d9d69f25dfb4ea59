/* pool.c: see pool.h; and the functions that activities call (hf_attempt, hf_heartbeat_with, ...).
 */
#include "engine/pool.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/thread.h"
#include "base/utf8.h"
#include "base/value.h"
#include "model/limit.h"

enum { POOL_THREADS_MAX = 256 };

struct hf_pool {
    hf_mutex lock;
    hf_cond work;
    hf_job *first; /* submitted, not yet running */
    hf_job **tail;
    hf_job *running; /* linked by next while a thread works on it */
    size_t places;
    size_t reserved;
    bool closing;
    hf_job_done *done;
    void *ctx;
    size_t thread_count;
    hf_thread threads[POOL_THREADS_MAX];
};

/* What an activity function gets. */
struct hf_act {
    hf_job *job;
    bool failed;
    hf_decision_failure failure;
};

hf_job *hf_job_new(void)
{
    hf_mem *mem = hf_mem_new();
    hf_job *job = mem ? hf_mem_alloc(mem, sizeof(*job)) : NULL;

    if (!job) {
        hf_mem_free(mem);
        return NULL;
    }
    job->mem = mem;
    return job;
}

void hf_job_free(hf_job *job)
{
    if (job)
        hf_mem_free(job->mem);
}

static void job_fail(hf_job *job, const char *type, const char *message, bool retryable)
{
    job->failed = true;
    job->failure = (hf_decision_failure){.category = HF_FAILURE_CATEGORY_ACTIVITY,
                                         .type = hf_slice_of(type),
                                         .message = hf_slice_of(message),
                                         .retryable = retryable};
}

/* Writes what the function returned; a value that cannot be recorded fails the attempt. */
static void job_result(hf_job *job, hf_value value)
{
    hf_buf text = {0};

    hf_json_write(&text, value ? value : hf_value_null());
    if (!hf_buf_ok(&text))
        job_fail(job, "no_memory", "there was no memory for the result", true);
    else if (text.len > (size_t)hf_limit_get(HF_LIMIT_PAYLOAD_SIZE_BYTES)->standard)
        job_fail(job, "payload_too_large", "the result exceeds the limit payload_size_bytes",
                 false);
    else
        job->result = hf_slice_from(hf_mem_text(job->mem, hf_buf_slice(&text)), text.len);
    if (!job->failed && !job->result.ptr)
        job_fail(job, "no_memory", "there was no memory for the result", true);
    hf_buf_fini(&text);
}

static void job_run(hf_job *job)
{
    hf_act act = {.job = job};
    hf_value input = NULL;
    hf_value result;
    hf_err err = {0};

    if (job->input.len && hf_json_read(job->mem, job->input, NULL, &input, &err)) {
        job_fail(job, "bad_input", hf_mem_text(job->mem, hf_slice_of(err.text)), false);
        return;
    }
    result = job->definition->definition->run(&act, input);
    if (act.failed) {
        job->failed = true;
        job->failure = act.failure;
        return;
    }
    job_result(job, result);
}

static hf_job *job_take(hf_pool *pool)
{
    hf_job *job = pool->first;

    if (!job)
        return NULL;
    pool->first = job->next;
    if (!pool->first)
        pool->tail = &pool->first;
    job->next = pool->running;
    pool->running = job;
    return job;
}

static void job_leave(hf_pool *pool, hf_job *job)
{
    hf_job **at = &pool->running;

    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    job->next = NULL;
    HF_ASSERT(pool->reserved > 0);
    pool->reserved--;
}

/* With the lock held; runs one job without it. */
static bool pool_work(hf_pool *pool)
{
    hf_job *job = job_take(pool);

    if (!job)
        return false;
    hf_mutex_unlock(&pool->lock);
    job_run(job);
    hf_mutex_lock(&pool->lock);
    job_leave(pool, job);
    hf_mutex_unlock(&pool->lock);
    pool->done(pool->ctx, job);
    hf_mutex_lock(&pool->lock);
    return true;
}

static void pool_thread(void *ctx)
{
    hf_pool *pool = ctx;

    hf_mutex_lock(&pool->lock);
    while (!pool->closing)
        if (!pool_work(pool))
            hf_cond_wait(&pool->work, &pool->lock);
    hf_mutex_unlock(&pool->lock);
}

hf_status hf_pool_open(size_t threads, size_t places, hf_job_done *done, void *ctx,
                       hf_pool **out_pool, hf_err *err)
{
    hf_pool *pool = hf_alloc(sizeof(*pool));
    hf_status st;

    if (!pool)
        return hf_err_nomem(err, "the activity pool");
    pool->tail = &pool->first;
    pool->places = places;
    pool->done = done;
    pool->ctx = ctx;
    st = hf_mutex_init(&pool->lock, err);
    if (st) {
        hf_alloc_free(pool);
        return st;
    }
    st = hf_cond_init(&pool->work, err);
    if (st) {
        hf_mutex_fini(&pool->lock);
        hf_alloc_free(pool);
        return st;
    }
    if (threads > POOL_THREADS_MAX)
        threads = POOL_THREADS_MAX;
    for (size_t i = 0; !st && i < threads; i++) {
        st = hf_thread_start(&pool->threads[i], "hf-activity", pool_thread, pool, err);
        pool->thread_count += st == HF_OK;
    }
    if (st)
        hf_pool_close(pool);
    else
        *out_pool = pool;
    return st;
}

void hf_pool_close(hf_pool *pool)
{
    if (!pool)
        return;
    hf_mutex_lock(&pool->lock);
    pool->closing = true;
    for (hf_job *job = pool->running; job; job = job->next)
        atomic_store(&job->stop, true);
    hf_cond_broadcast(&pool->work);
    hf_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->thread_count; i++)
        hf_thread_join(&pool->threads[i]);
    while (pool->first) {
        hf_job *job = pool->first;

        pool->first = job->next;
        hf_job_free(job);
    }
    hf_cond_fini(&pool->work);
    hf_mutex_fini(&pool->lock);
    hf_alloc_free(pool);
}

bool hf_pool_reserve(hf_pool *pool)
{
    bool reserved;

    hf_mutex_lock(&pool->lock);
    reserved = pool->reserved < pool->places && !pool->closing;
    pool->reserved += reserved;
    hf_mutex_unlock(&pool->lock);
    return reserved;
}

void hf_pool_release(hf_pool *pool)
{
    hf_mutex_lock(&pool->lock);
    HF_ASSERT(pool->reserved > 0);
    pool->reserved--;
    hf_mutex_unlock(&pool->lock);
}

void hf_pool_submit(hf_pool *pool, hf_job *job)
{
    hf_mutex_lock(&pool->lock);
    job->next = NULL;
    *pool->tail = job;
    pool->tail = &job->next;
    hf_cond_signal(&pool->work);
    hf_mutex_unlock(&pool->lock);
}

bool hf_pool_step(hf_pool *pool)
{
    bool worked;

    hf_mutex_lock(&pool->lock);
    worked = pool_work(pool);
    hf_mutex_unlock(&pool->lock);
    return worked;
}

/* ---- inside an activity */

hf_mem *hf_mem_of_act(hf_act *act)
{
    return act->job->mem;
}

int hf_attempt(hf_act *act)
{
    return (int)act->job->attempt;
}

const char *hf_idempotency_key(hf_act *act)
{
    return act->job->idempotency_key;
}

hf_value hf_error_(hf_act *act, bool retryable, const char *type, const char *format, ...)
{
    hf_mem *mem = act->job->mem;
    hf_buf text = {0};
    va_list args;
    char message[1024];

    va_start(args, format);
    (void)vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    hf_buf_add_text(&text, hf_utf8_valid(hf_slice_of(message)) ? message
                                                               : "(a message that is not UTF-8)");
    act->failed = true;
    act->failure = (hf_decision_failure){
        .category = HF_FAILURE_CATEGORY_ACTIVITY,
        .type = hf_slice_of(hf_mem_text(mem, hf_slice_of(type ? type : "error"))),
        .message = hf_slice_of(hf_mem_text(mem, hf_buf_slice(&text))),
        .retryable = retryable};
    hf_buf_fini(&text);
    return NULL;
}

/* False: the attempt is over, so stop. The sign of life keeps the heartbeat timeout from passing.
 */
bool hf_heartbeat_with(hf_act *act, const hf_progress *progress)
{
    (void)progress;
    atomic_store(&act->job->heartbeats, atomic_load(&act->job->heartbeats) + 1);
    return !atomic_load(&act->job->stop);
}

hf_value hf_stopped(hf_act *act)
{
    return hf_error_(act, true, "stopped", "the attempt was told to stop");
}
