/* remote_attempt.c: activity tasks of a server. Each thread runs one attempt at a time, in a pool
   that it moves itself, so that activities are the same functions as in an engine. Signs of life go
   to the server at most as often as it makes sense; the keeper sends those that were held back, and
   some for attempts that never show one, so that their lease does not run out. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/value.h"
#include "engine/attempt.h"
#include "engine/engine_impl.h"
#include "engine/remote_impl.h"
#include "model/envelope.h"
#include "model/limit.h"

enum { BEAT_LEAST_US = 200000, SILENT_MOST_US = 60 * 1000000 };

/* How long an attempt that shows no signs of life may be silent. */
static int64_t silent_most_us(const remote_hand *hand)
{
    if (hand->kind == REMOTE_STEPS)
        return hand->lease_us / 3;
    return hand->remote->local ? 2 * hf_shards_lease_us(hf_node_shards(hand->remote->engine->node))
                               : SILENT_MOST_US;
}

static int64_t now_us(void)
{
    return hf_clock_mono_us(hf_clock_system());
}

/* ---- signs of life */

/* With the hand's lock held: tells the server, and the attempt when the server says that it is
   over. A server that is away may come back: the attempt goes on. */
static void beat_send(remote_hand *hand, hf_job *job)
{
    hf_mem *mem = hf_mem_new();
    hf_client_request request = {.method = "POST", .timeout_ms = 5000};
    hf_client_reply reply = {0};
    hf_value progress = NULL;
    hf_slice text = {0};
    hf_err err = {0};

    if (!mem)
        return;
    (void)hf_pool_take_beat(hand->pool, job, mem, &text);
    if (text.ptr && hf_json_read(mem, text, NULL, &progress, &err))
        progress = NULL;
    hand->beat_us = now_us();
    if (hand->kind == REMOTE_STEPS) {
        request.path =
            hf_client_path(mem, "/api/worker/workflow-tasks/%s/heartbeat", hand->task_id);
        request.body = hf_json_(mem, "{'lease_owner': %s, 'workflow_task_attempt': %lld}",
                                hand->remote->worker, (long long)hand->attempt);
    } else {
        request.path =
            hf_client_path(mem, "/api/worker/activity-tasks/%s/heartbeat", hand->task_id);
        request.body =
            hf_json_(mem, "{'lease_owner': %s, 'activity_attempt_id': %s, 'details': %p}",
                     hand->remote->worker, hand->attempt_id,
                     progress ? (const void *)progress : (const void *)hf_value_null());
    }
    if (request.path && request.body && !hf_remote_sign(hand, &request, mem, &reply, &err) &&
        (reply.status == 404 || reply.status == 409 ||
         (reply.status == 200 && !hf_bool(reply.body, "can_continue", true))))
        atomic_store(&job->stop, true);
    hf_mem_free(mem);
}

/* The attempt's own thread. */
static void beat_note(void *ctx, const hf_job *job)
{
    remote_hand *hand = ctx;

    (void)job;
    hf_mutex_lock(&hand->lock);
    if (hand->job && now_us() - hand->beat_us >= BEAT_LEAST_US)
        beat_send(hand, hand->job);
    hf_mutex_unlock(&hand->lock);
}

void hf_remote_beats(remote_hand *hand, int64_t now)
{
    hf_job *job;
    int64_t silent_us;

    if (!hand->pool)
        return;
    hf_mutex_lock(&hand->lock);
    job = hand->job;
    silent_us = job ? now - hand->beat_us : 0;
    if (job && (atomic_load(&job->beat_new) ||
                (!job->rules.heartbeat_ms && silent_us > silent_most_us(hand))))
        beat_send(hand, job);
    hf_mutex_unlock(&hand->lock);
}

/* ---- one attempt */

static hf_status arguments_take(hf_job *job, hf_value task, hf_err *err)
{
    hf_decision_payload payload = {0};
    hf_value value = NULL;
    hf_buf text = {0};
    hf_status st =
        hf_envelope_read(job->mem, hf_get(task, "arguments"), (hf_slice){0}, &payload, err);

    if (st || !payload.bytes.ptr)
        return st;
    job->input_codec = payload.codec;
    job->input = payload.bytes;
    if (strcmp(hf_str(task, "stored_codec", "avro"), "json") != 0)
        return HF_OK;
    st = hf_envelope_value(job->mem, &payload, &value,
                           err); /* as the code of a C workflow gave it */
    if (st)
        return st;
    hf_json_write(&text, value);
    job->input_codec = HF_PAYLOAD_CODEC_JSON;
    job->input = hf_slice_from(hf_buf_ok(&text) ? hf_mem_text(job->mem, hf_buf_slice(&text)) : NULL,
                               text.len);
    hf_buf_fini(&text);
    return job->input.ptr ? HF_OK : hf_err_nomem(err, "an activity");
}

static hf_status text_take(hf_mem *mem, hf_value value, hf_slice *out_text, hf_err *err)
{
    hf_buf text = {0};

    if (!value || hf_value_kind_of(value) == HF_VALUE_NULL)
        return HF_OK;
    hf_json_write(&text, value);
    if (hf_buf_ok(&text))
        *out_text = hf_slice_from(hf_mem_text(mem, hf_buf_slice(&text)), text.len);
    hf_buf_fini(&text);
    return out_text->ptr ? HF_OK : hf_err_nomem(err, "an activity");
}

static hf_status job_make(const remote_hand *hand, hf_value task, hf_job **out_job, hf_err *err)
{
    const char *type = hf_str(task, "activity_type", "");
    const char *key = hf_str(task, "idempotency_key", hf_str(task, "task_id", ""));
    hf_job *job = hf_job_new();
    hf_status st = job ? HF_OK : hf_err_nomem(err, "an activity");

    *out_job = job;
    if (st)
        return st;
    job->name = hf_slice_of(hf_mem_text(job->mem, hf_slice_of(type)));
    job->definition = hf_registry_find_activity(hand->remote->registry, hf_slice_of(type));
    job->count.attempt = hf_int(task, "attempt_number", 1);
    job->rules.heartbeat_ms = hf_int(task, "retry_policy.heartbeat_timeout", 0) * 1000;
    if (strlen(key) < sizeof(job->idempotency_key))
        memcpy(job->idempotency_key, key, strlen(key) + 1);
    if (!job->definition)
        return hf_err_set(err, HF_NOTFOUND, "this program has no activity %s", type);
    st = arguments_take(job, task, err);
    if (!st)
        st = text_take(job->mem, hf_get(task, "last_progress"), &job->last_progress, err);
    return st;
}

static hf_value failure_value(const remote_hand *hand, hf_mem *mem,
                              const hf_decision_failure *failure)
{
    const char *type = hf_mem_text(mem, failure->type);
    const char *message = hf_mem_text(mem, failure->message);
    hf_value details = failure->details.bytes.ptr ? hf_remote_envelope(mem, failure->details.bytes)
                                                  : hf_value_null();

    return type && message && details
               ? hf_json_(mem,
                          "{'task_id': %s, 'attempt': %lld, 'failure': {'type': %s, "
                          "'message': %s, 'non_retryable': %p, 'details': %p}}",
                          hand->task_id, (long long)hand->attempt, type, message,
                          (const void *)hf_value_bool(!failure->retryable), (const void *)details)
               : NULL;
}

static hf_value result_value(const remote_hand *hand, hf_mem *mem, hf_slice result)
{
    hf_value envelope = hf_remote_envelope(mem, result);

    return envelope ? hf_json_(mem, "{'task_id': %s, 'attempt': %lld, 'result': %p}", hand->task_id,
                               (long long)hand->attempt, (const void *)envelope)
                    : NULL;
}

/* A report that was heard, though its answer was not, is refused the second time. */
static void end_answered(remote_report *report)
{
    hf_mem_free(report->mem);
}

/* False: no memory. */
static bool end_post(remote_hand *hand, const hf_decision_failure *failure, hf_slice result)
{
    hf_mem *mem = hf_mem_new_small();
    remote_report *report = mem ? hf_mem_alloc(mem, sizeof(*report)) : NULL;
    hf_client_reply reply;
    hf_err err = {0};

    if (report)
        *report = (remote_report){.kind = REMOTE_ACTIVITIES,
                                  .mem = mem,
                                  .said = failure ? failure_value(hand, mem, failure)
                                                  : result_value(hand, mem, result),
                                  .answered = end_answered};
    if (!report || !report->said) {
        hf_mem_free(mem);
        return false;
    }
    if (!hand->remote->local) {
        hf_remote_post(hand->remote->link, hand, report);
        return true;
    }
    (void)!hf_remote_tell(hand, report->said, &reply, &err);
    hf_mem_free(mem);
    return true;
}

/* How it ended. */
static void end_report(remote_hand *hand, const hf_decision_failure *failure, hf_slice result)
{
    for (int i = 0; i < REMOTE_MEMORY_TRIES && !end_post(hand, failure, result); i++)
        hf_remote_pause(hand->remote, REMOTE_MEMORY_MS);
}

void hf_remote_job_over(remote_hand *hand)
{
    hf_remote_crumb_clear(hand->remote->crumb, (size_t)(hand - hand->remote->hands));
    hf_mutex_lock(&hand->lock);
    hand->job = NULL;
    hf_mutex_unlock(&hand->lock);
}

/* The attempt has ended; its thread. */
void hf_remote_attempt_done(void *ctx, hf_job *job)
{
    remote_hand *hand = ctx;

    hf_remote_job_over(hand);
    if (job->failed || job->result.ptr)
        end_report(hand, job->failed ? &job->failure : NULL, job->result);
    hf_job_free(job); /* else it was told to stop before it began: its lease runs out */
}

void hf_remote_job_run(remote_hand *hand, hf_job *job, const char *kind, int64_t attempt)
{
    const hf_remote_crumb_task crumb = {.kind = kind,
                                        .task_id = hand->task_id,
                                        .attempt = attempt,
                                        .namespace_key = hand->namespace_key};

    hf_mutex_lock(&hand->lock);
    hand->job = job;
    hand->beat_us = now_us() - BEAT_LEAST_US;
    hf_mutex_unlock(&hand->lock);
    if (!hf_pool_reserve(hand->pool))
        return;
    hf_remote_crumb_put(hand->remote->crumb, (size_t)(hand - hand->remote->hands), &crumb);
    hf_pool_submit(hand->pool, job);
    (void)hf_pool_step(hand->pool);
}

/* hf_test_fail, for tests that go through a server. */
static bool fault_take(remote_hand *hand, hf_job *job)
{
    hf_remote *remote = hand->remote;
    bool taken;

    hf_mutex_lock(&remote->lock);
    taken = hf_attempt_fault(remote->engine->faults, job);
    hf_mutex_unlock(&remote->lock);
    return taken;
}

static void attempt_run(remote_hand *hand, hf_value task)
{
    hf_job *job = NULL;
    hf_err err = {0};
    hf_status st = HF_NOMEM;

    (void)snprintf(hand->task_id, sizeof(hand->task_id), "%s", hf_str(task, "task_id", ""));
    (void)snprintf(hand->attempt_id, sizeof(hand->attempt_id), "%s",
                   hf_str(task, "activity_attempt_id", ""));
    hand->attempt = hf_int(task, "attempt_number", 1);
    for (int i = 0; st == HF_NOMEM && i < REMOTE_MEMORY_TRIES; i++) {
        if (i)
            hf_remote_pause(hand->remote, REMOTE_MEMORY_MS);
        hf_job_free(job);
        st = job_make(hand, task, &job, &err);
    }
    if (st) {
        const hf_decision_failure failure = {
            .type = HF_SLICE("worker_error"), .message = hf_slice_of(err.text), .retryable = true};

        end_report(hand, &failure, (hf_slice){0});
        hf_job_free(job);
        return;
    }
    if (fault_take(hand, job))
        hf_remote_attempt_done(hand, job);
    else
        hf_remote_job_run(hand, job, "activity", job->count.attempt);
}

void hf_remote_attempts(void *ctx)
{
    remote_hand *hand = ctx;
    hf_remote *remote = hand->remote;

    while (hf_remote_ready(remote)) {
        hf_value task = hf_remote_task(hand);

        if (hf_value_kind_of(task) == HF_VALUE_OBJECT)
            attempt_run(hand, task);
    }
}

hf_status hf_remote_pool_open(remote_hand *hand, void (*done)(void *ctx, hf_job *job), hf_err *err)
{
    const hf_pool_host host = {.done = done,
                               .beat = beat_note,
                               .ctx = hand,
                               .clock = hf_clock_system(),
                               .payload_max = hf_limit_get(HF_LIMIT_PAYLOAD_SIZE_BYTES)->standard};

    return hf_pool_open(0, 1, &host, &hand->pool, err);
}
