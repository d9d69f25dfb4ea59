/* compose_activity.c: the whole of an activity, and of an attempt, as activity events carry them
   and as the section of activities lists them. */
#include "model/policy.h"
#include "project/compose_impl.h"
#include "project/edge.h"

enum {
    DEFAULT_BACKOFFS = 8, /* of the published default list */
    ATTEMPT_MEMBERS = 9,
    ACTIVITY_MEMBERS = 22
};

static hf_value text_value(const hf_compose *c, const char *text)
{
    return hf_value_string(c->mem, hf_slice_of(text));
}

static hf_value attempt_id(const hf_compose *c, const hf_track_step *step,
                           const hf_track_attempt *attempt)
{
    hf_ulid id = hf_track_attempt_id(step, attempt->number);

    return hf_edge_id(c->mem, &id);
}

hf_value hf_compose_attempt(const hf_compose *compose, const hf_track_step *step,
                            const hf_track_attempt *attempt)
{
    hf_mem *mem = compose->mem;
    hf_value_list *object = hf_value_object_of(mem, ATTEMPT_MEMBERS);

    hf_value_put(object, "id", attempt_id(compose, step, attempt));
    hf_value_put(object, "activity_execution_id", hf_edge_id(mem, &step->id));
    hf_value_put(object, "workflow_run_id", compose->kept->run_id);
    hf_value_put(object, "attempt_number", hf_value_int(mem, attempt->number));
    hf_value_put(object, "status", text_value(compose, hf_attempt_status_text(attempt->status)));
    hf_value_put(object, "started_at", hf_edge_time(mem, attempt->started_us));
    hf_value_put(object, "last_heartbeat_at", hf_edge_time(mem, attempt->heartbeat_us));
    hf_value_put(object, "lease_expires_at", hf_edge_time(mem, attempt->lease_us));
    hf_value_put(object, "closed_at", hf_edge_time(mem, attempt->closed_us));
    return hf_value_finish(object);
}

static hf_status set_field(const hf_compose *c, hf_value_list *object, const char *name,
                           const hf_event *event, hf_event_key key, hf_err *err)
{
    hf_value value = NULL;
    hf_status st = hf_compose_field(c, event, key, &value, err);

    if (!st)
        hf_value_put(object, name, value);
    return st;
}

static hf_value seconds_value(const hf_compose *c, int64_t ms)
{
    return ms ? hf_value_int(c->mem, (ms + 999) / 1000) : hf_value_null();
}

/* Stored is only what differs from the default; shown is the whole. */
hf_status hf_compose_policy(const hf_compose *compose, const hf_track_step *step,
                            hf_value *out_policy, hf_err *err)
{
    hf_mem *mem = compose->mem;
    hf_value_list *object = hf_value_object(mem);
    hf_value_list *pauses = hf_value_array(mem);
    hf_value_list *types = hf_value_array(mem);
    hf_compose_kept *kept = compose->kept;
    hf_retry_policy policy;
    hf_slice json = {0};
    size_t count;
    hf_status st;

    if (step->opened)
        (void)hf_event_json(step->opened, HF_KEY_RETRY_POLICY, &json);
    *out_policy = kept->policy;
    if (kept->policy && hf_slice_equal(json, kept->policy_json))
        return HF_OK;
    st = hf_policy_read(mem, json, &policy, err);
    if (st)
        return st;
    count = policy.backoff_count ? policy.backoff_count : DEFAULT_BACKOFFS;
    for (size_t i = 1; i <= count; i++)
        hf_value_append(pauses,
                        hf_value_int(mem, (hf_retry_backoff_ms(&policy, (int64_t)i) + 999) / 1000));
    for (size_t i = 0; i < policy.final_type_count; i++)
        hf_value_append(types, hf_value_string(mem, policy.final_types[i]));
    hf_value_put(object, "snapshot_version", hf_value_int(mem, HF_RETRY_SNAPSHOT_VERSION));
    hf_value_put(object, "max_attempts",
                 policy.max_attempts ? hf_value_int(mem, policy.max_attempts) : hf_value_null());
    hf_value_put(object, "backoff_seconds", hf_value_finish(pauses));
    hf_value_put(object, "start_to_close_timeout",
                 seconds_value(compose, policy.start_to_close_ms));
    hf_value_put(object, "schedule_to_start_timeout",
                 seconds_value(compose, policy.schedule_to_start_ms));
    hf_value_put(object, "schedule_to_close_timeout",
                 seconds_value(compose, policy.schedule_to_close_ms));
    hf_value_put(object, "heartbeat_timeout", seconds_value(compose, policy.heartbeat_ms));
    hf_value_put(object, "non_retryable_error_types", hf_value_finish(types));
    *out_policy = hf_value_finish(object);
    kept->policy = *out_policy;
    kept->policy_json = json;
    return *out_policy ? HF_OK : hf_err_nomem(err, "a retry policy");
}

static void set_times(const hf_compose *c, hf_value_list *object, const hf_track_step *step)
{
    const hf_track_attempt *first = step->attempts;
    const hf_track_attempt *newest = step->attempt;
    int64_t closed_us = step->ended ? step->ended->time_us : HF_EDGE_NO_TIME;

    hf_value_put(object, "scheduled_at",
                 hf_edge_time(c->mem, step->opened ? step->opened->time_us : HF_EDGE_NO_TIME));
    hf_value_put(object, "started_at",
                 hf_edge_time(c->mem, first ? first->started_us : HF_EDGE_NO_TIME));
    hf_value_put(object, "last_heartbeat_at",
                 hf_edge_time(c->mem, newest ? newest->heartbeat_us : HF_EDGE_NO_TIME));
    hf_value_put(object, "closed_at", hf_edge_time(c->mem, closed_us));
}

hf_status hf_compose_activity(const hf_compose *compose, const hf_track_step *step,
                              hf_value *out_activity, hf_err *err)
{
    hf_mem *mem = compose->mem;
    hf_value_list *object = hf_value_object_of(mem, ACTIVITY_MEMBERS);
    hf_slice queue = compose->run->queue;
    hf_value policy = NULL;
    bool local = false;
    hf_status st = set_field(compose, object, "arguments", step->opened, HF_KEY_ARGUMENTS, err);

    if (step->opened) {
        (void)hf_event_text(step->opened, HF_KEY_QUEUE, &queue);
        (void)hf_event_bool(step->opened, HF_KEY_LOCAL_ACTIVITY, &local);
    }
    if (!st)
        st = set_field(compose, object, "class", step->opened, HF_KEY_ACTIVITY_TYPE, err);
    if (!st)
        st = set_field(compose, object, "type", step->opened, HF_KEY_ACTIVITY_TYPE, err);
    if (!st)
        st = hf_compose_policy(compose, step, &policy, err);
    if (!st)
        st = set_field(compose, object, "execution_mode", step->opened, HF_KEY_EXECUTION_MODE, err);
    if (st)
        return st;
    hf_value_put(object, "id", hf_edge_id(mem, &step->id));
    hf_value_put(object, "workflow_run_id", compose->kept->run_id);
    hf_value_put(object, "sequence", hf_value_int(mem, step->step));
    hf_value_put(object, "status",
                 text_value(compose, step->status
                                         ? hf_activity_status_text(step->status)
                                         : hf_activity_status_text(HF_ACTIVITY_STATUS_PENDING)));
    hf_value_put(object, "retry_policy", policy);
    hf_value_put(object, "idempotency_key", hf_edge_id(mem, &step->id));
    hf_value_put(object, "local_activity", hf_value_bool(local));
    hf_value_put(object, "connection", hf_value_null());
    hf_value_put(object, "queue", hf_edge_text(mem, queue));
    hf_value_put(object, "payload_codec", text_value(compose, "avro"));
    hf_value_put(object, "attempt_count",
                 hf_value_int(mem, step->attempt ? step->attempt->number : 0));
    hf_value_put(object, "current_attempt_id",
                 step->attempt ? attempt_id(compose, step, step->attempt) : hf_value_null());
    set_times(compose, object, step);
    *out_activity = hf_value_finish(object);
    return *out_activity ? HF_OK : hf_err_nomem(err, "an activity");
}
