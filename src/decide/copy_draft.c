/* copy_draft.c: the run that is made: the events that are kept, and rows of its own for what is
   open at the cut. The rule: its code must not be able to tell the copied part from the original.
   So no event is left out that code has seen or could have counted; what is left out are requests
   that nobody has heard yet, whose answers belong to the copied run. */
#include "decide/copy_impl.h"
#include "model/policy.h"

/* ---- events */

/* An event of the copied run that is not in the new one: a request whose answer is not its. */
static bool event_dropped(const hf_copy *copy, size_t at)
{
    if (copy->events[at].type == HF_EVENT_CANCEL_REQUESTED)
        return at >= copy->own; /* no code has heard of it */
    for (size_t i = 0; i < copy->open_count; i++)
        if (copy->open[i].at == at)
            return copy->open[i].kind == COPY_UPDATE;
    return false;
}

static hf_status payload_copy(hf_copy *copy, size_t part, const hf_event_field *field, hf_err *err)
{
    hf_payload_value value = field->payload;
    hf_slice bytes;
    hf_status st;

    if (value.form == HF_PAYLOAD_FORM_REFERENCE) {
        st = copy->payload(copy->payload_ctx, &value, &bytes, err);
        if (st)
            return st;
        value = hf_unit_payload(copy->unit, copy->stager, copy->keys, part, value.codec, bytes);
    }
    hf_event_put_payload(hf_unit_events(copy->unit, part), field->key, value);
    return HF_OK;
}

static hf_status field_copy(hf_copy *copy, size_t part, const hf_event_field *field, hf_err *err)
{
    hf_event_builder *events = hf_unit_events(copy->unit, part);

    switch (hf_event_key_kind(field->key)) {
    case HF_VALUE_KIND_TEXT:
        hf_event_put_text(events, field->key, field->text);
        break;
    case HF_VALUE_KIND_JSON:
        hf_event_put_json(events, field->key, field->text);
        break;
    case HF_VALUE_KIND_INT:
        hf_event_put_int(events, field->key, field->number);
        break;
    case HF_VALUE_KIND_BOOL:
        hf_event_put_bool(events, field->key, field->flag);
        break;
    case HF_VALUE_KIND_TIME:
        hf_event_put_time(events, field->key, field->time_us);
        break;
    case HF_VALUE_KIND_ID:
        hf_event_put_id(events, field->key, field->id);
        break;
    case HF_VALUE_KIND_PAYLOAD:
        return payload_copy(copy, part, field, err);
    }
    return HF_OK;
}

/* The event with all its fields but those that `skips` names. */
static hf_status event_copy(hf_copy *copy, size_t part, const hf_event *event, int64_t time_us,
                            const hf_event_key *skips, size_t skip_count, hf_err *err)
{
    hf_status st = HF_OK;

    hf_event_begin(hf_unit_events(copy->unit, part), event->type, time_us, event->step);
    for (size_t i = 0; !st && i < event->count; i++) {
        bool skipped = false;

        for (size_t j = 0; j < skip_count; j++)
            skipped = skipped || event->fields[i].key == skips[j];
        if (!skipped)
            st = field_copy(copy, part, &event->fields[i], err);
    }
    return st;
}

/* The beginning is the new run's own: its command, its deadlines, its place in the world. */
static hf_status start_copy(hf_copy *copy, size_t part, size_t at, int64_t copied, hf_err *err)
{
    static const hf_event_key skips[] = {
        HF_KEY_WORKFLOW_COMMAND_ID, HF_KEY_OUTCOME, HF_KEY_EXECUTION_DEADLINE_AT,
        HF_KEY_RUN_DEADLINE_AT, HF_KEY_RUN_NUMBER, HF_KEY_COPIED_EVENTS,
        HF_KEY_CONTINUED_FROM_RUN_ID, HF_KEY_RETRY_OF_CHILD_WORKFLOW_RUN_ID,
        HF_KEY_WORKFLOW_LINK_ID, HF_KEY_AVAILABLE_AT,
        /* a fork is nobody's child */
        HF_KEY_PARENT_WORKFLOW_INSTANCE_ID, HF_KEY_PARENT_WORKFLOW_RUN_ID, HF_KEY_PARENT_SEQUENCE,
        HF_KEY_CHILD_CALL_ID, HF_KEY_RETRY_ATTEMPT, HF_KEY_RETRY_POLICY, HF_KEY_CORRELATION_KEY};
    enum { OWN_SKIPS = 10 };
    hf_event_builder *events = hf_unit_events(copy->unit, part);
    hf_status st = event_copy(copy, part, &copy->events[at], copy->events[at].time_us, skips,
                              copy->reset ? OWN_SKIPS : sizeof(skips) / sizeof(*skips), err);

    if (copy->events[at].type == HF_EVENT_START_ACCEPTED) {
        hf_event_put_text(events, HF_KEY_OUTCOME,
                          hf_slice_of(hf_cmd_outcome_text((hf_cmd_outcome)copy->command.outcome)));
        return st;
    }
    hf_event_put_int(events, HF_KEY_COPIED_EVENTS, copied);
    if (copy->run.execution_deadline_us != HF_NONE)
        hf_event_put_time(events, HF_KEY_EXECUTION_DEADLINE_AT, copy->run.execution_deadline_us);
    if (copy->run.run_deadline_us != HF_NONE)
        hf_event_put_time(events, HF_KEY_RUN_DEADLINE_AT, copy->run.run_deadline_us);
    if (copy->run.number > 1)
        hf_event_put_int(events, HF_KEY_RUN_NUMBER, copy->run.number);
    return st;
}

static hf_ulid signal_id(const hf_copy *copy, int64_t key)
{
    return hf_ulid_form(copy->now_us, key, 0);
}

/* An open signal is the new run's: its id leads to a row of its own. So does the id of an activity
   that a fork runs as well: to the outside world the two are different things. */
static hf_status open_copy(hf_copy *copy, size_t part, const copy_open *item, hf_err *err)
{
    static const hf_event_key message[] = {HF_KEY_WORKFLOW_COMMAND_ID, HF_KEY_SIGNAL_ID,
                                           HF_KEY_WORKFLOW_INSTANCE_ID, HF_KEY_WORKFLOW_RUN_ID};
    static const hf_event_key activity[] = {HF_KEY_ACTIVITY_EXECUTION_ID};
    hf_event_builder *events = hf_unit_events(copy->unit, part);
    const hf_event *event = &copy->events[item->at];
    hf_status st;

    if (item->kind == COPY_SIGNAL) {
        st = event_copy(copy, part, event, event->time_us, message, 4, err);
        hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, signal_id(copy, item->key));
        hf_event_put_id(events, HF_KEY_SIGNAL_ID, signal_id(copy, item->key));
        return st;
    }
    if (item->kind == COPY_ACTIVITY && !copy->reset) {
        st = event_copy(copy, part, event, event->time_us, activity, 1, err);
        hf_event_put_id(events, HF_KEY_ACTIVITY_EXECUTION_ID,
                        hf_ulid_form(event->time_us, item->key, 0));
        return st;
    }
    return event_copy(copy, part, event, event->time_us, NULL, 0, err);
}

static hf_status events_copy(hf_copy *copy, size_t part, hf_err *err)
{
    int64_t copied = 0;
    hf_status st = HF_OK;

    for (size_t i = 0; i < copy->kept; i++)
        copied += !event_dropped(copy, i);
    for (size_t i = 0; !st && i < copy->kept; i++) {
        const copy_open *item = NULL;

        for (size_t j = 0; !item && j < copy->open_count; j++)
            item = copy->open[j].at == i ? &copy->open[j] : NULL;
        if (event_dropped(copy, i))
            continue;
        if (i < 2)
            st = start_copy(copy, part, i, copied, err);
        else if (item)
            st = open_copy(copy, part, item, err);
        else
            st = event_copy(copy, part, &copy->events[i], copy->events[i].time_us, NULL, 0, err);
    }
    return st;
}

static void origin_event(hf_copy *copy, size_t part)
{
    hf_event_builder *events = hf_unit_events(copy->unit, part);
    hf_ulid root = hf_ulid_form(copy->origin_us, copy->origin, 0);

    for (size_t i = 0; i < copy->count; i++)
        if ((copy->events[i].type == HF_EVENT_RUN_FORKED ||
             copy->events[i].type == HF_EVENT_RUN_RESET) &&
            hf_event_id(&copy->events[i], HF_KEY_ROOT_RUN_ID, &root))
            break;
    hf_event_begin(events, copy->reset ? HF_EVENT_RUN_RESET : HF_EVENT_RUN_FORKED, copy->now_us, 0);
    hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID,
                    hf_ulid_form(copy->now_us, copy->command.key, 0));
    hf_event_put_id(events, HF_KEY_ORIGIN_RUN_ID, hf_ulid_form(copy->origin_us, copy->origin, 0));
    hf_event_put_int(events, HF_KEY_ORIGIN_SEQUENCE, (int64_t)copy->kept);
    hf_event_put_id(events, HF_KEY_ROOT_RUN_ID, root);
    if (copy->reason.len)
        hf_event_put_text(events, HF_KEY_REASON, copy->reason);
}

/* ---- rows */

static hf_status activity_row(hf_copy *copy, size_t part, const copy_open *item, hf_err *err)
{
    const hf_event *event = &copy->events[item->at];
    hf_mem *mem = hf_unit_mem(copy->unit);
    hf_activity_row row = {.key = item->key,
                           .run = copy->base.run,
                           .step = event->step,
                           .status = item->running ? HF_ACTIVITY_STATUS_RUNNING
                                                   : HF_ACTIVITY_STATUS_PENDING,
                           .attempt = item->started,
                           .lost_attempts = item->lost,
                           .available_us = item->running ? HF_NONE : copy->now_us,
                           .scheduled_us = event->time_us,
                           .started_us = item->started ? event->time_us : HF_NONE,
                           .closed_us = HF_NONE};
    hf_retry_policy policy = hf_retry_default();
    hf_status st = HF_OK;

    (void)hf_event_text(event, HF_KEY_ACTIVITY_TYPE, &row.type);
    if (hf_event_json(event, HF_KEY_RETRY_POLICY, &row.policy))
        st = hf_policy_read(mem, row.policy, &policy, err);
    if (st)
        return st;
    row.max_attempts = policy.max_attempts ? policy.max_attempts : HF_NONE;
    row.close_deadline_us =
        policy.schedule_to_close_ms ? copy->now_us + policy.schedule_to_close_ms * 1000 : HF_NONE;
    row.deadline_us =
        hf_decide_due(&policy, &(hf_attempt_clock){.running = item->running,
                                                   .since_us = copy->now_us,
                                                   .beat_us = copy->now_us,
                                                   .close_deadline_us = row.close_deadline_us});
    hf_unit_row(copy->unit, part, hf_row_activity_new(mem, &row));
    return HF_OK;
}

static void timer_row(hf_copy *copy, size_t part, const copy_open *item)
{
    const hf_event *event = &copy->events[item->at];
    hf_timer_row row = {.key = item->key,
                        .run = copy->base.run,
                        .step = event->step,
                        .status = HF_TIMER_STATUS_PENDING,
                        .due_us = copy->now_us,
                        .created_us = copy->now_us,
                        .closed_us = HF_NONE};
    hf_timer_kind kind = (hf_timer_kind)0;
    hf_slice text;

    (void)hf_event_time(event, HF_KEY_FIRE_AT, &row.due_us);
    if (hf_event_text(event, HF_KEY_TIMER_KIND, &text) && hf_timer_kind_parse(text, &kind))
        row.kind = kind;
    hf_unit_row(copy->unit, part, hf_row_timer_new(hf_unit_mem(copy->unit), &row));
}

static void signal_row(hf_copy *copy, size_t part, const hf_event *event, int64_t key,
                       int64_t number)
{
    hf_command_row row = {.key = key,
                          .instance = copy->base.instance,
                          .run = copy->base.run,
                          .type = HF_COMMAND_TYPE_SIGNAL,
                          .status = HF_COMMAND_STATUS_ACCEPTED,
                          .outcome = HF_CMD_OUTCOME_SIGNAL_RECEIVED,
                          .rejection = HF_NONE,
                          .scope = HF_TARGET_SCOPE_INSTANCE,
                          .source = copy->command.source,
                          .command_ahead = number + !copy->recorded, /* behind the fork or reset */
                          .message_ahead = number,
                          .state = HF_SIGNAL_STATUS_RECEIVED,
                          .recorded_us = copy->now_us,
                          .applied_us = HF_NONE,
                          .closed_us = HF_NONE};

    (void)hf_event_text(event, HF_KEY_SIGNAL_NAME, &row.name);
    hf_unit_row(copy->unit, part, hf_row_command_new(hf_unit_mem(copy->unit), &row));
}

/* The child goes on and belongs to the new run; one that has ended meanwhile tells it. */
static hf_status child_take(hf_copy *copy, size_t part, int64_t step, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(copy->unit);
    const hf_copy_call *call = NULL;
    hf_link_row link;
    int64_t first = 0; /* link, inbox */
    hf_status st = hf_keys_take(copy->keys, 2, &first, err);

    for (size_t i = 0; i < copy->call_count; i++) /* the newest is the one that counts */
        if (copy->calls[i].child.step == step)
            call = &copy->calls[i];
    if (!st && !call)
        st = hf_err_set(err, HF_CORRUPT, "step %lld called a child that has no link",
                        (long long)step);
    if (st)
        return st;
    link = (hf_link_row){.key = first,
                         .kind = HF_LINK_TYPE_CHILD_WORKFLOW,
                         .parent_run = copy->base.run,
                         .step = step,
                         .child_instance = call->child.instance,
                         .child_run = call->child.run,
                         .policy = call->child.policy,
                         .created_us = copy->now_us,
                         .call = call->child.call,
                         .call_us = call->child.call_us,
                         .attempt = call->attempt,
                         .max_attempts = call->max_attempts};
    /* It may go on as another run or close while this is drafted: then the next run awaits that
       one, or hears what the run whose place this one takes was told. */
    hf_unit_row(copy->unit, part, hf_row_link_take(mem, &link, copy->origin));
    hf_unit_row(copy->unit, part, hf_row_run_hold(mem, copy->origin, step));
    hf_unit_row(
        copy->unit, part,
        hf_row_inbox_child(mem, first + 1, copy->base.run, copy->origin, step, copy->now_us));
    return HF_OK;
}

/* What was open at the cut is open again. *io_signals counts those that have rows. */
static hf_status open_rows(hf_copy *copy, size_t part, int64_t *io_signals, hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < copy->open_count; i++) {
        const copy_open *item = &copy->open[i];
        const hf_event *event = &copy->events[item->at];
        size_t ended;

        switch (item->kind) {
        case COPY_ACTIVITY:
            st = activity_row(copy, part, item, err);
            break;
        case COPY_TIMER:
            timer_row(copy, part, item);
            break;
        case COPY_SIGNAL:
            signal_row(copy, part, event, item->key, ++*io_signals);
            break;
        case COPY_UPDATE:
            break;
        case COPY_CHILD:
            ended = hf_copy_child_ended(copy, event->step);
            st = ended ? event_copy(copy, part, &copy->events[ended], copy->now_us, NULL, 0, err)
                       : child_take(copy, part, event->step, err);
            break;
        }
    }
    return st;
}

static bool name_carried(hf_slice names, hf_slice name)
{
    hf_slice one;

    if (hf_slice_equal(names, HF_SLICE("*")))
        return true;
    while (hf_slice_split(&names, ',', &one))
        if (hf_slice_equal(hf_slice_trim(one), name))
            return true;
    return false;
}

/* Later signals that the caller wants to keep arrive once more. */
static hf_status signals_carry(hf_copy *copy, size_t part, int64_t signals, hf_err *err)
{
    static const hf_event_key skips[] = {HF_KEY_WORKFLOW_COMMAND_ID, HF_KEY_SIGNAL_ID,
                                         HF_KEY_SIGNAL_WAIT_ID, HF_KEY_WORKFLOW_INSTANCE_ID,
                                         HF_KEY_WORKFLOW_RUN_ID};
    hf_event_builder *events = hf_unit_events(copy->unit, part);
    hf_status st = HF_OK;

    for (size_t i = copy->kept; !st && copy->carry.len && i < copy->end; i++) {
        const hf_event *event = &copy->events[i];
        hf_slice name = {0};
        int64_t key = 0;

        if (event->type != HF_EVENT_SIGNAL_RECEIVED ||
            !hf_event_text(event, HF_KEY_SIGNAL_NAME, &name) || !name_carried(copy->carry, name))
            continue;
        st = hf_keys_take(copy->keys, 1, &key, err);
        if (!st)
            st = event_copy(copy, part, event, copy->now_us, skips, sizeof(skips) / sizeof(*skips),
                            err);
        if (st)
            break;
        hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, signal_id(copy, key));
        hf_event_put_id(events, HF_KEY_SIGNAL_ID, signal_id(copy, key));
        signal_row(copy, part, event, key, ++signals);
    }
    return st;
}

static hf_status run_rows(hf_copy *copy, size_t part, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(copy->unit);
    int64_t first = 0; /* task, link */
    hf_status st = hf_keys_take(copy->keys, 2, &first, err);

    if (st)
        return st;
    if (!copy->recorded)
        hf_unit_row(copy->unit, part, hf_row_command_new(mem, &copy->command));
    if (copy->reset)
        hf_unit_row(copy->unit, part,
                    hf_row_message_return(mem, copy->origin, copy->base.run, copy->step));
    hf_unit_row(
        copy->unit, part,
        hf_row_task_wake(mem, first, copy->base.run, copy->run.queue, copy->now_us, copy->now_us));
    hf_unit_row(copy->unit, part,
                hf_row_summary_new(mem, copy->base.run, copy->instance.namespace_key,
                                   copy->instance.key, copy->base.status, copy->now_us));
    hf_unit_row(copy->unit, part,
                hf_row_link_new(mem, &(hf_link_row){.key = first + 1,
                                                    .kind = copy->reset ? HF_LINK_TYPE_RESET
                                                                        : HF_LINK_TYPE_FORK,
                                                    .parent_run = copy->origin,
                                                    .step = HF_NONE,
                                                    .child_instance = copy->instance.key,
                                                    .child_run = copy->base.run,
                                                    .policy = HF_PARENT_CLOSE_ABANDON,
                                                    .created_us = copy->now_us,
                                                    .call = first + 1,
                                                    .call_us = copy->now_us,
                                                    .attempt = 1}));
    return HF_OK;
}

hf_status hf_copy_draft(hf_copy *copy, hf_err *err)
{
    size_t part = hf_unit_create(copy->unit, copy->how, &copy->instance, &copy->base, &copy->run);
    int64_t signals = 0;
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < copy->open_count; i++)
        st = hf_keys_take(copy->keys, 1, &copy->open[i].key, err);
    if (!st)
        st = events_copy(copy, part, err);
    if (st)
        return st;
    origin_event(copy, part);
    st = run_rows(copy, part, err);
    if (!st)
        st = open_rows(copy, part, &signals, err);
    return st ? st : signals_carry(copy, part, signals, err);
}
