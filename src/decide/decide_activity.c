/* decide_activity.c: activities are scheduled, started, retried and ended. An attempt is on the
   record before user code runs; what its end means is decided by the policy that was frozen when
   the activity was scheduled. */
#include "base/assert.h"
#include "decide/decide_impl.h"
#include "model/policy.h"

hf_status hf_decide_policy(hf_decide *decide, const hf_decision_retry *call,
                           hf_retry_policy *policy, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(decide->unit);

    if (call->max_attempts > 0)
        policy->max_attempts = call->max_attempts;
    else if (call->max_attempts < 0)
        policy->max_attempts = 0;
    if (call->backoff_count) {
        int64_t *ms = hf_mem_array(mem, call->backoff_count, sizeof(*ms));

        if (!ms)
            return hf_err_nomem(err, "a backoff list");
        for (size_t i = 0; i < call->backoff_count; i++)
            ms[i] = call->backoff_us[i] / 1000;
        policy->backoff_ms = ms;
        policy->backoff_count = call->backoff_count;
    }
    if (call->no_retry_on.len) {
        hf_status st = hf_retry_types(mem, call->no_retry_on, &policy->final_types,
                                      &policy->final_type_count, err);

        if (st)
            return st;
    }
    return hf_retry_check(policy, err);
}

/* What the call says wins over what the definition says. */
static hf_status policy_merge(hf_decide *decide, const hf_decision_activity *call,
                              hf_retry_policy *policy, hf_err *err)
{
    if (call->start_to_close_us)
        policy->start_to_close_ms = call->start_to_close_us / 1000;
    if (call->schedule_to_start_us)
        policy->schedule_to_start_ms = call->schedule_to_start_us / 1000;
    if (call->schedule_to_close_us)
        policy->schedule_to_close_ms = call->schedule_to_close_us / 1000;
    if (call->heartbeat_us)
        policy->heartbeat_ms = call->heartbeat_us / 1000;
    return hf_decide_policy(decide, &call->retry, policy, err);
}

/* The default policy is not written down: it is what an absent snapshot means. */
static bool policy_is_default(const hf_retry_policy *policy)
{
    const hf_retry_policy none = hf_retry_default();

    return policy->max_attempts == none.max_attempts && policy->backoff_count == 0 &&
           !policy->start_to_close_ms && !policy->schedule_to_start_ms &&
           !policy->schedule_to_close_ms && !policy->heartbeat_ms && policy->final_type_count == 0;
}

static int64_t sooner(int64_t a, int64_t b)
{
    if (a == HF_NONE || b == HF_NONE)
        return a == HF_NONE ? b : a;
    return a < b ? a : b;
}

static int64_t after_ms(int64_t from_us, int64_t ms)
{
    return ms ? from_us + ms * 1000 : HF_NONE;
}

int64_t hf_decide_due(const hf_retry_policy *policy, const hf_attempt_clock *clock)
{
    int64_t next = clock->close_deadline_us;

    if (!clock->running)
        return sooner(next, after_ms(clock->since_us, policy->schedule_to_start_ms));
    next = sooner(next, after_ms(clock->since_us, policy->start_to_close_ms));
    return sooner(next, after_ms(clock->beat_us, policy->heartbeat_ms));
}

static bool passed(int64_t deadline_us, int64_t now_us)
{
    return deadline_us != HF_NONE && deadline_us <= now_us;
}

hf_timeout_kind hf_decide_late(const hf_retry_policy *policy, const hf_attempt_clock *clock,
                               int64_t now_us)
{
    if (passed(clock->close_deadline_us, now_us))
        return HF_TIMEOUT_KIND_SCHEDULE_TO_CLOSE;
    if (!clock->running)
        return passed(after_ms(clock->since_us, policy->schedule_to_start_ms), now_us)
                   ? HF_TIMEOUT_KIND_SCHEDULE_TO_START
                   : 0;
    if (passed(after_ms(clock->beat_us, policy->heartbeat_ms), now_us))
        return HF_TIMEOUT_KIND_HEARTBEAT;
    if (passed(after_ms(clock->since_us, policy->start_to_close_ms), now_us))
        return HF_TIMEOUT_KIND_START_TO_CLOSE;
    return 0;
}

static void started_event(hf_decide *decide, int64_t step, int64_t attempt,
                          const hf_attempt_lease *lease)
{
    hf_event_builder *events = hf_decide_event(decide, HF_EVENT_ACTIVITY_STARTED, step);

    hf_event_put_int(events, HF_KEY_ATTEMPT_NUMBER, attempt);
    if (!lease->owner.len)
        return;
    hf_event_put_time(events, HF_KEY_LEASE_EXPIRES_AT, lease->until_us);
    hf_event_put_text(events, HF_KEY_WORKER, lease->owner);
}

/* What is to be done with the activity once the unit is committed. */
static hf_effect *activity_effect(hf_decide *decide, const hf_decision_row *row,
                                  const hf_activity_row *activity)
{
    hf_effect *effect = hf_decide_effect(decide, HF_EFFECT_ACTIVITY, activity->run);

    if (!effect)
        return NULL;
    effect->key = activity->key;
    effect->step = row->step;
    effect->name = row->name;
    effect->queue = row->activity.queue;
    effect->input = row->value.bytes;
    effect->codec = row->value.codec;
    effect->policy = activity->policy;
    effect->due_us = activity->deadline_us;
    effect->scheduled_us = activity->scheduled_us;
    effect->close_deadline_us = activity->close_deadline_us;
    return effect;
}

/* The first attempt of a local activity begins and ends in the unit that schedules it. One that is
   to be tried again is an activity like any other from then on. */
static hf_status local_run(hf_decide *decide, const hf_decision_row *row,
                           const hf_activity_row *activity, hf_err *err)
{
    const hf_decide_host *host = decide->host;
    hf_attempt_end end = {.activity = activity->key,
                          .step = row->step,
                          .count = {.attempt = 1},
                          .close_deadline_us = activity->close_deadline_us,
                          .name = row->name,
                          .policy = activity->policy};
    hf_ulid id = hf_ulid_form(decide->now_us, activity->key, 0);
    int64_t retry_us = HF_NONE;
    hf_effect *effect;
    hf_status st = host->local(host->ctx, row, id, &end, &decide->now_us, err);

    if (!st)
        st = hf_decide_attempt(decide, &end, &retry_us, err);
    decide->resolved |= !st && retry_us == HF_NONE;
    if (st || retry_us == HF_NONE)
        return st;
    effect = activity_effect(decide, row, activity);
    if (!effect)
        return hf_err_nomem(err, "an activity");
    effect->attempts = 1;
    effect->available_us = retry_us;
    return HF_OK;
}

hf_status hf_decide_start_attempt(hf_decide *decide, int64_t activity, int64_t step,
                                  const hf_attempt_count *count, hf_slice policy,
                                  int64_t close_deadline_us, const hf_attempt_lease *lease,
                                  hf_err *err)
{
    const hf_attempt_clock clock = {.running = true,
                                    .since_us = decide->now_us,
                                    .beat_us = decide->now_us,
                                    .close_deadline_us = close_deadline_us};
    hf_retry_policy read;
    hf_activity_row row = {.key = activity,
                           .status = HF_ACTIVITY_STATUS_RUNNING,
                           .attempt = count->attempt,
                           .lost_attempts = count->lost,
                           .crash_count = count->crashes,
                           .missed_starts = count->missed,
                           .available_us = HF_NONE,
                           .started_us = decide->now_us,
                           .closed_us = HF_NONE,
                           .owner = lease->owner,
                           .lease_until_us = lease->until_us};
    hf_status st = hf_policy_read(hf_unit_mem(decide->unit), policy, &read, err);

    if (st)
        return st;
    row.deadline_us = hf_decide_due(&read, &clock);
    started_event(decide, step, count->attempt, lease);
    hf_decide_row(decide, hf_row_activity_set(hf_unit_mem(decide->unit), &row));
    return HF_OK;
}

hf_status hf_decide_activity(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    hf_slice queue = row->activity.queue.ptr ? row->activity.queue : decide->run->queue;
    hf_retry_policy policy = hf_retry_default();
    hf_activity_row activity = {.run = decide->run->base->run,
                                .step = row->step,
                                .type = row->name,
                                .status = HF_ACTIVITY_STATUS_PENDING,
                                .available_us = decide->now_us,
                                .scheduled_us = decide->now_us,
                                .started_us = HF_NONE,
                                .closed_us = HF_NONE};
    hf_event_builder *events;
    hf_effect *effect;
    bool known = decide->host->activity(decide->host->ctx, row->name, &policy);
    bool local = row->activity.local && known && decide->host->local;
    bool started = local || (known && decide->host->claim(decide->host->ctx, row->name, queue));
    hf_status st = policy_merge(decide, &row->activity, &policy, err);

    if (!st)
        st = hf_decide_key(decide, &activity.key, err);
    if (!st && !policy_is_default(&policy))
        st = hf_policy_write(hf_unit_mem(decide->unit), &policy, &activity.policy, err);
    if (st)
        return st;
    activity.max_attempts = policy.max_attempts ? policy.max_attempts : HF_NONE;
    activity.close_deadline_us = after_ms(decide->now_us, policy.schedule_to_close_ms);
    if (started) {
        activity.status = HF_ACTIVITY_STATUS_RUNNING;
        activity.attempt = 1;
        activity.started_us = decide->now_us;
        activity.available_us = HF_NONE;
    }
    activity.deadline_us = hf_decide_due(
        &policy, &(hf_attempt_clock){.running = started,
                                     .since_us = decide->now_us,
                                     .beat_us = decide->now_us,
                                     .close_deadline_us = activity.close_deadline_us});
    events = hf_decide_event(decide, HF_EVENT_ACTIVITY_SCHEDULED, row->step);
    hf_event_put_id(events, HF_KEY_ACTIVITY_EXECUTION_ID,
                    hf_ulid_form(decide->now_us, activity.key, 0));
    hf_event_put_text(events, HF_KEY_ACTIVITY_TYPE, row->name);
    hf_decide_payload(decide, HF_KEY_ARGUMENTS, &row->value);
    if (activity.policy.len)
        hf_event_put_json(events, HF_KEY_RETRY_POLICY, activity.policy);
    if (row->activity.queue.ptr)
        hf_event_put_text(events, HF_KEY_QUEUE, queue);
    if (row->activity.local) {
        hf_event_put_text(events, HF_KEY_EXECUTION_MODE, HF_SLICE("local"));
        hf_event_put_bool(events, HF_KEY_LOCAL_ACTIVITY, true);
    }
    hf_decide_groups(decide, row);
    if (started)
        started_event(decide, row->step, 1, &(hf_attempt_lease){.until_us = HF_NONE});
    hf_decide_row(decide, hf_row_activity_new(hf_unit_mem(decide->unit), &activity));
    if (local)
        return local_run(decide, row, &activity, err);
    effect = activity_effect(decide, row, &activity);
    if (!effect)
        return hf_err_nomem(err, "an activity");
    effect->started = started;
    if (known || !decide->host->hand || !decide->host->hand(decide->host->ctx, effect))
        return HF_OK;
    return hf_decide_start_attempt(decide, activity.key, row->step,
                                   &(hf_attempt_count){.attempt = 1}, activity.policy,
                                   activity.close_deadline_us, &effect->lease, err);
}

void hf_decide_heartbeat(hf_decide *decide, const hf_attempt_sign *beat)
{
    const hf_decision_payload value = {.codec = HF_PAYLOAD_CODEC_JSON, .bytes = beat->progress};
    hf_event_builder *events =
        hf_decide_event(decide, HF_EVENT_ACTIVITY_HEARTBEAT_RECORDED, beat->step);

    hf_event_put_int(events, HF_KEY_ATTEMPT_NUMBER, beat->attempt);
    hf_event_put_time(events, HF_KEY_HEARTBEAT_AT, beat->at_us);
    if (beat->lease_until_us != HF_NONE) {
        hf_event_put_time(events, HF_KEY_LEASE_EXPIRES_AT, beat->lease_until_us);
        hf_decide_row(decide, hf_row_activity_lease(hf_unit_mem(decide->unit), beat->activity,
                                                    beat->attempt, beat->lease_until_us));
    }
    hf_decide_payload(decide, HF_KEY_PROGRESS, &value);
}

/* The next attempt has a schedule-to-start window of its own, counted from when it may begin; the
   schedule-to-close deadline stays where it was. */
static void attempt_retry(hf_decide *decide, const hf_attempt_end *end,
                          const hf_retry_policy *policy, int64_t retry_us)
{
    const hf_attempt_clock clock = {.since_us = retry_us,
                                    .close_deadline_us = end->close_deadline_us};
    hf_event_builder *events =
        hf_decide_event(decide, HF_EVENT_ACTIVITY_RETRY_SCHEDULED, end->step);
    const hf_activity_row row = {.key = end->activity,
                                 .status = HF_ACTIVITY_STATUS_PENDING,
                                 .attempt = end->count.attempt,
                                 .lost_attempts = end->count.lost,
                                 .crash_count = end->count.crashes,
                                 .missed_starts = end->count.missed,
                                 .deadline_us = hf_decide_due(policy, &clock),
                                 .available_us = retry_us,
                                 .started_us = HF_NONE,
                                 .closed_us = HF_NONE};

    hf_event_put_time(events, HF_KEY_RETRY_AVAILABLE_AT, retry_us);
    hf_event_put_int(events, HF_KEY_RETRY_AFTER_ATTEMPT, end->count.attempt);
    if (end->timeout)
        hf_event_put_text(events, HF_KEY_TIMEOUT_KIND,
                          hf_slice_of(hf_timeout_kind_text(end->timeout)));
    hf_decide_words(decide, end->failure.type, end->failure.message);
    hf_decide_row(decide, hf_row_activity_set(hf_unit_mem(decide->unit), &row));
}

/* A failure that no other attempt follows. */
static void attempt_lose(hf_decide *decide, const hf_attempt_end *end)
{
    hf_event_builder *events = hf_decide_event(
        decide, end->timeout ? HF_EVENT_ACTIVITY_TIMED_OUT : HF_EVENT_ACTIVITY_FAILED, end->step);

    hf_event_put_int(events, HF_KEY_ATTEMPT_NUMBER, end->count.attempt);
    if (!end->timeout) {
        hf_decide_failure(decide, &end->failure, end->failure.category);
        return;
    }
    hf_event_put_text(events, HF_KEY_TIMEOUT_KIND, hf_slice_of(hf_timeout_kind_text(end->timeout)));
    hf_event_put_text(events, HF_KEY_FAILURE_CATEGORY,
                      hf_slice_of(hf_failure_category_text(HF_FAILURE_CATEGORY_TIMEOUT)));
    if (end->failure.message.ptr)
        hf_event_put_text(events, HF_KEY_MESSAGE, end->failure.message);
}

hf_status hf_decide_attempt(hf_decide *decide, const hf_attempt_end *end, int64_t *out_retry_us,
                            hf_err *err)
{
    const hf_retry_end judged = {
        .reported = end->count.attempt - end->count.lost + end->count.missed,
        .failure_type = end->failure.type,
        .non_retryable = end->failed && !end->timeout && !end->failure.retryable,
        .timed_out = end->timeout};
    hf_decision_payload result = {.codec = end->codec, .bytes = end->result};
    hf_retry_policy policy;
    hf_status st = hf_policy_read(hf_unit_mem(decide->unit), end->policy, &policy, err);

    *out_retry_us = HF_NONE;
    if (st)
        return st;
    if ((end->failed || end->timeout) && hf_retry_allowed(&policy, &judged)) {
        *out_retry_us = decide->now_us + hf_retry_backoff_ms(&policy, judged.reported) * 1000;
        attempt_retry(decide, end, &policy, *out_retry_us);
        return HF_OK;
    }
    hf_decide_row(decide,
                  hf_row_delete(hf_unit_mem(decide->unit), HF_OP_ACTIVITY_DELETE, end->activity));
    if (end->failed || end->timeout) {
        attempt_lose(decide, end);
        return HF_OK;
    }
    hf_event_put_int(hf_decide_event(decide, HF_EVENT_ACTIVITY_COMPLETED, end->step),
                     HF_KEY_ATTEMPT_NUMBER, end->count.attempt);
    hf_decide_payload(decide, HF_KEY_RESULT, &result);
    return HF_OK;
}
