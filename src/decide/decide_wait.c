/* decide_wait.c: timers, and waits for signals and conditions with the timers that end them. */
#include "base/assert.h"
#include "decide/decide_impl.h"

static int64_t seconds_up(int64_t us)
{
    return (us + 999999) / 1000000;
}

/* The fields that all three timer events share. */
static void timer_fields(hf_event_builder *events, hf_timer_kind kind, hf_slice name)
{
    if (kind)
        hf_event_put_text(events, HF_KEY_TIMER_KIND, hf_slice_of(hf_timer_kind_text(kind)));
    if (kind == HF_TIMER_KIND_SIGNAL_TIMEOUT && name.ptr)
        hf_event_put_text(events, HF_KEY_SIGNAL_NAME, name);
    if (kind == HF_TIMER_KIND_CONDITION_TIMEOUT && name.ptr)
        hf_event_put_text(events, HF_KEY_CONDITION_KEY, name);
}

static void fired_event(hf_decide *decide, int64_t step, hf_timer_kind kind, hf_slice name)
{
    hf_event_builder *events = hf_decide_event(decide, HF_EVENT_TIMER_FIRED, step);

    hf_event_put_time(events, HF_KEY_FIRED_AT, decide->now_us);
    timer_fields(events, kind, name);
    if (kind == HF_TIMER_KIND_SIGNAL_TIMEOUT)
        decide->signal_timed_out = true;
}

/* A timer of its own or of a wait. One that is due at once needs neither row nor task. */
hf_status hf_decide_timer_start(hf_decide *decide, const hf_decision_row *row, int64_t delay_us,
                                hf_timer_kind kind, hf_err *err)
{
    hf_timer_row timer = {.run = decide->run->base->run,
                          .step = row->step,
                          .kind = kind,
                          .status = HF_TIMER_STATUS_PENDING,
                          .due_us = decide->now_us + delay_us,
                          .created_us = decide->now_us,
                          .closed_us = HF_NONE};
    hf_event_builder *events;
    hf_effect *effect;
    hf_status st = hf_decide_key(decide, &timer.key, err);

    if (st)
        return st;
    events = hf_decide_event(decide, HF_EVENT_TIMER_SCHEDULED, row->step);
    hf_event_put_id(events, HF_KEY_TIMER_ID, hf_ulid_form(decide->now_us, timer.key, 0));
    hf_event_put_int(events, HF_KEY_DELAY_SECONDS, seconds_up(delay_us));
    hf_event_put_time(events, HF_KEY_FIRE_AT, timer.due_us);
    timer_fields(events, kind, row->name);
    hf_decide_groups(decide, row);
    if (delay_us == 0) {
        fired_event(decide, row->step, kind, row->name);
        return HF_OK;
    }
    hf_decide_row(decide, hf_row_timer_new(hf_unit_mem(decide->unit), &timer));
    effect = hf_decide_effect(decide, HF_EFFECT_TIMER, timer.run);
    if (!effect)
        return hf_err_nomem(err, "a timer");
    effect->key = timer.key;
    effect->step = row->step;
    effect->due_us = timer.due_us;
    effect->timer_kind = kind;
    return HF_OK;
}

hf_status hf_decide_start_timer(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    return hf_decide_timer_start(decide, row, row->timer.delay_us, 0, err);
}

void hf_decide_timer(hf_decide *decide, int64_t timer, int64_t step, hf_timer_kind kind,
                     int64_t due_us)
{
    HF_ASSERT(decide->now_us >= due_us); /* never early */
    fired_event(decide, step, kind, (hf_slice){0});
    hf_decide_row(decide, hf_row_delete(hf_unit_mem(decide->unit), HF_OP_TIMER_DELETE, timer));
}

hf_status hf_decide_cancel_timer(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    hf_event_builder *events = hf_decide_event(decide, HF_EVENT_TIMER_CANCELLED, row->step);

    (void)err;
    hf_event_put_time(events, HF_KEY_CANCELLED_AT, decide->now_us);
    for (size_t i = 0; i < decide->run->open_count; i++)
        if (decide->run->open[i].is_timer && decide->run->open[i].step == row->step)
            timer_fields(events, decide->run->open[i].timer_kind, (hf_slice){0});
    hf_decide_row(
        decide, hf_row_timer_cancel(hf_unit_mem(decide->unit), decide->run->base->run, row->step));
    return HF_OK;
}

hf_status hf_decide_signal_wait(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    hf_event_builder *events = hf_decide_event(decide, HF_EVENT_SIGNAL_WAIT_OPENED, row->step);

    hf_event_put_text(events, HF_KEY_SIGNAL_NAME, row->name);
    if (row->wait.timeout_us == HF_DECISION_NO_TIMEOUT)
        return HF_OK;
    hf_event_put_int(events, HF_KEY_TIMEOUT_SECONDS, seconds_up(row->wait.timeout_us));
    return hf_decide_timer_start(decide, row, row->wait.timeout_us, HF_TIMER_KIND_SIGNAL_TIMEOUT,
                                 err);
}

/* Key and fingerprint stand in every event of a condition wait. */
static void condition_fields(hf_event_builder *events, const hf_decision_row *row)
{
    if (row->name.ptr)
        hf_event_put_text(events, HF_KEY_CONDITION_KEY, row->name);
    if (row->wait.fingerprint.ptr)
        hf_event_put_text(events, HF_KEY_CONDITION_DEFINITION_FINGERPRINT, row->wait.fingerprint);
}

hf_status hf_decide_condition_wait(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    hf_event_builder *events = hf_decide_event(decide, HF_EVENT_CONDITION_WAIT_OPENED, row->step);

    condition_fields(events, row);
    if (row->wait.occurrence.ptr)
        hf_event_put_text(events, HF_KEY_CONDITION_WAIT_OCCURRENCE_ID, row->wait.occurrence);
    if (row->wait.timeout_us == HF_DECISION_NO_TIMEOUT)
        return HF_OK;
    hf_event_put_int(events, HF_KEY_TIMEOUT_SECONDS, seconds_up(row->wait.timeout_us));
    return hf_decide_timer_start(decide, row, row->wait.timeout_us, HF_TIMER_KIND_CONDITION_TIMEOUT,
                                 err);
}

hf_status hf_decide_satisfy(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    (void)err;
    condition_fields(hf_decide_event(decide, HF_EVENT_CONDITION_WAIT_SATISFIED, row->step), row);
    return HF_OK;
}

hf_status hf_decide_time_out(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    (void)err;
    condition_fields(hf_decide_event(decide, HF_EVENT_CONDITION_WAIT_TIMED_OUT, row->step), row);
    return HF_OK;
}
