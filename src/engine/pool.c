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
#include "base/value.h"
#include "engine/bounds.h"
#include "engine/step.h"
#include "model/envelope.h"
#include "model/limit.h"
#include "model/words.h"

enum { POOL_THREADS_MAX = 256 };

struct hf_pool {
    hf_mutex lock;
    hf_cond work;
    hf_job *first; /* submitted, not yet running */
    hf_job **tail;
    hf_job *running; /* linked by next while a thread works on it */
    size_t places;
    size_t reserved;
    size_t idle;  /* threads that wait for work */
    bool calling; /* one of them was woken and has not come yet */
    bool closing;
    bool draining; /* no new reservations */
    hf_pool_host host;
    size_t thread_count;
    _Atomic size_t slots_taken; /* of the breadcrumb */
    hf_thread threads[POOL_THREADS_MAX];
};

/* What an activity function gets. */
struct hf_act {
    hf_pool *pool;
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
    job->close_deadline_us = HF_NONE;
    job->recorded_us = HF_NONE;
    return job;
}

void hf_job_free(hf_job *job)
{
    if (!job)
        return;
    if (job->dropped)
        job->dropped(job);
    hf_buf_fini(&job->progress);
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

    if (hf_bounds_broken(job->mem, job->payload_max, value, &job->failure)) {
        job->failed = true;
        return;
    }
    hf_json_write(&text, value ? value : hf_value_null());
    if (!hf_buf_ok(&text))
        job_fail(job, "no_memory", "there was no memory for the result", true);
    else if (hf_bounds_payload(job->mem, job->payload_max, (int64_t)text.len, &job->failure))
        job->failed = true;
    else
        job->result = hf_slice_from(hf_mem_text(job->mem, hf_buf_slice(&text)), text.len);
    if (!job->failed && !job->result.ptr)
        job_fail(job, "no_memory", "there was no memory for the result", true);
    hf_buf_fini(&text);
}

/* A worker elsewhere calls with a list of arguments: one of them is what the function takes. */
static hf_status input_read(hf_job *job, hf_value *out_input, hf_err *err)
{
    const hf_decision_payload payload = {.codec = job->input_codec, .bytes = job->input};
    hf_status st;

    if (job->input_codec != HF_PAYLOAD_CODEC_AVRO)
        return hf_json_read(job->mem, job->input, NULL, out_input, err);
    st = hf_envelope_value(job->mem, &payload, out_input, err);
    if (!st && hf_value_kind_of(*out_input) == HF_VALUE_ARRAY && hf_len(*out_input) == 1)
        *out_input = hf_at(*out_input, 0);
    return st;
}

static void job_run(hf_pool *pool, hf_job *job)
{
    hf_act act = {.pool = pool, .job = job};
    hf_value input = NULL;
    hf_value result;
    hf_err err = {0};
    hf_status st;

    if (job->machine) {
        hf_step_run(job);
        return;
    }
    st = job->input.len ? input_read(job, &input, &err) : HF_OK;
    if (st == HF_NOMEM) {
        job_fail(job, "no_memory", "there was no memory for the input", true);
        return;
    }
    if (st) {
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

/* With the lock held, when there is work. One thread comes, and whoever takes a job that leaves
   others behind calls the next: a thread that runs short jobs one after the other is not joined by
   one for each, and those behind a long one do not wait for it. */
static void thread_call(hf_pool *pool)
{
    if (!pool->idle || pool->calling)
        return;
    pool->calling = true;
    hf_cond_signal(&pool->work);
}

static hf_job *job_take(hf_pool *pool)
{
    hf_job *job = pool->first;

    if (!job)
        return NULL;
    pool->first = job->next;
    if (!pool->first)
        pool->tail = &pool->first;
    else
        thread_call(pool);
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

/* With the lock held; runs one job without it. A job may move a stepped pool itself: then another
   runs meanwhile, and the slot is given back as it was. */
static bool pool_work(hf_pool *pool, size_t slot)
{
    hf_job *job = job_take(pool);
    int64_t before;

    if (!job)
        return false;
    hf_mutex_unlock(&pool->lock);
    if (!atomic_load(&job->stop) && !pool->host.crumb) {
        job_run(pool, job);
    } else if (!atomic_load(&job->stop)) {
        before = hf_breadcrumb_put(pool->host.crumb, slot,
                                   job->machine ? -job->activity : job->activity);
        job_run(pool, job);
        (void)hf_breadcrumb_put(pool->host.crumb, slot, before);
    }
    hf_mutex_lock(&pool->lock);
    job_leave(pool, job);
    hf_mutex_unlock(&pool->lock);
    pool->host.done(pool->host.ctx, job);
    hf_mutex_lock(&pool->lock);
    return true;
}

static void pool_thread(void *ctx)
{
    hf_pool *pool = ctx;
    size_t slot = HF_BREADCRUMB_RUNS + atomic_fetch_add(&pool->slots_taken, 1);

    hf_mutex_lock(&pool->lock);
    while (!pool->closing) {
        if (pool_work(pool, slot))
            continue;
        pool->idle++;
        hf_cond_wait(&pool->work, &pool->lock);
        pool->idle--;
        pool->calling = false;
    }
    hf_mutex_unlock(&pool->lock);
}

hf_status hf_pool_open(size_t threads, size_t places, const hf_pool_host *host, hf_pool **out_pool,
                       hf_err *err)
{
    hf_pool *pool = hf_alloc(sizeof(*pool));
    hf_status st;

    if (!pool)
        return hf_err_nomem(err, "the activity pool");
    pool->tail = &pool->first;
    pool->places = places;
    pool->host = *host;
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

void hf_pool_drain(hf_pool *pool)
{
    hf_mutex_lock(&pool->lock);
    pool->draining = true;
    hf_mutex_unlock(&pool->lock);
}

bool hf_pool_reserve(hf_pool *pool)
{
    bool reserved;

    hf_mutex_lock(&pool->lock);
    reserved = pool->reserved < pool->places && !pool->closing && !pool->draining;
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
    job->payload_max = pool->host.payload_max;
    hf_mutex_lock(&pool->lock);
    job->next = NULL;
    *pool->tail = job;
    pool->tail = &job->next;
    hf_mutex_unlock(&pool->lock);
}

void hf_pool_call(hf_pool *pool)
{
    hf_mutex_lock(&pool->lock);
    if (pool->first)
        thread_call(pool);
    hf_mutex_unlock(&pool->lock);
}

bool hf_pool_step(hf_pool *pool)
{
    bool worked;

    hf_mutex_lock(&pool->lock);
    worked = pool_work(pool, HF_BREADCRUMB_RUNS);
    hf_mutex_unlock(&pool->lock);
    return worked;
}

bool hf_pool_take_beat(hf_pool *pool, hf_job *job, hf_mem *mem, hf_slice *out_progress)
{
    bool fresh;

    hf_mutex_lock(&pool->lock);
    fresh = job->beat_new;
    job->beat_new = false;
    *out_progress = (hf_slice){0};
    if (fresh && job->progress.len)
        *out_progress =
            hf_slice_from(hf_mem_text(mem, hf_buf_slice(&job->progress)), job->progress.len);
    hf_mutex_unlock(&pool->lock);
    return fresh;
}

hf_slice hf_pool_progress(hf_pool *pool, hf_job *job, hf_mem *mem)
{
    hf_slice progress = job->last_progress;

    hf_mutex_lock(&pool->lock);
    if (job->progress.len)
        progress = hf_buf_slice(&job->progress);
    if (progress.ptr)
        progress = hf_slice_from(hf_mem_text(mem, progress), progress.len);
    hf_mutex_unlock(&pool->lock);
    return progress;
}

void hf_job_run(hf_job *job)
{
    job_run(NULL, job);
}

/* ---- inside an activity */

hf_mem *hf_mem_of_act(hf_act *act)
{
    return act ? act->job->mem : NULL;
}

int hf_attempt(hf_act *act)
{
    return act ? (int)act->job->count.attempt : 0;
}

const char *hf_idempotency_key(hf_act *act)
{
    return act ? act->job->idempotency_key : "";
}

static hf_slice text_keep(hf_act *act, hf_slice text)
{
    return hf_slice_of(hf_mem_text(act->job->mem, text));
}

hf_value hf_error_(hf_act *act, bool retryable, const char *type, const char *format, ...)
{
    char message[1024] = "";
    va_list args;

    if (!act)
        return NULL;
    va_start(args, format);
    if (format)
        (void)vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    act->failed = true;
    act->failure = (hf_decision_failure){
        .category = HF_FAILURE_CATEGORY_ACTIVITY,
        .type = text_keep(act, hf_words_type(hf_slice_of(type && *type ? type : "error"))),
        .message = text_keep(act, hf_words_message(hf_slice_of(message))),
        .retryable = retryable};
    return NULL;
}

/* The newest report takes the place of one that nobody took yet. */
static void beat_keep(hf_pool *pool, hf_job *job, hf_buf *progress)
{
    bool first;

    atomic_store(&job->beat_us, hf_clock_wall_us(pool->host.clock));
    hf_mutex_lock(&pool->lock);
    first = !job->beat_new;
    job->beat_new = true;
    if (progress->len) {
        hf_buf old = job->progress;

        job->progress = *progress;
        *progress = old;
    }
    hf_mutex_unlock(&pool->lock);
    if (first)
        pool->host.beat(pool->host.ctx, job);
}

void hf_pool_beat_far(hf_pool *pool, hf_job *job, hf_slice progress)
{
    hf_buf text = {0};

    hf_buf_add_slice(&text, progress);
    if (hf_buf_ok(&text))
        beat_keep(pool, job, &text);
    hf_buf_fini(&text);
}

/* False: the attempt is over, so stop. A report that breaks the rules is a mistake in the program:
   it fails the attempt for good, with the rule in its message. */
bool hf_heartbeat_with(hf_act *act, const hf_progress *progress)
{
    hf_buf text = {0};
    hf_err err = {0};

    if (!act || act->failed || atomic_load(&act->job->stop))
        return false;
    if (hf_bounds_progress(progress, &text, &err)) {
        (void)hf_error_(act, err.status == HF_NOMEM,
                        err.status == HF_NOMEM ? "no_memory" : "invalid_progress", "%s", err.text);
        hf_buf_fini(&text);
        return false;
    }
    if (act->pool)
        beat_keep(act->pool, act->job, &text);
    hf_buf_fini(&text);
    return !atomic_load(&act->job->stop);
}

hf_value hf_last_progress(hf_act *act)
{
    hf_value progress = NULL;

    if (act && act->job->last_progress.ptr &&
        hf_json_read(act->job->mem, act->job->last_progress, NULL, &progress, NULL))
        return NULL;
    return progress;
}

/* Says nothing new about an attempt that failed already. */
hf_value hf_stopped(hf_act *act)
{
    if (!act || act->failed)
        return NULL;
    return hf_error_(act, true, "stopped", "the attempt was told to stop");
}
