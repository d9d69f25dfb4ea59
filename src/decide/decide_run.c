/* decide_run.c: what concerns whole runs: children, the next run, the end, and updates. Whatever
   another run must know goes into its inbox, in the same transaction; its own next unit folds it
   into its own history. */
#include <stdio.h>

#include "base/assert.h"
#include "base/json.h"
#include "base/value.h"
#include "commit/shard.h"
#include "decide/decide_impl.h"

void hf_decide_wake(hf_decide *decide, size_t part, int64_t task, int64_t run, hf_slice queue)
{
    const hf_task_row row = {.key = task,
                             .run = run,
                             .kind = HF_TASK_TYPE_WORKFLOW,
                             .status = HF_TASK_STATUS_READY,
                             .queue = queue,
                             .priority = 5,
                             .available_us = decide->now_us,
                             .lease_until_us = HF_NONE,
                             .source_kind = HF_NONE,
                             .source_key = HF_NONE,
                             .created_us = decide->now_us};

    hf_unit_row(decide->unit, part, hf_row_task_wake(hf_unit_mem(decide->unit), &row));
}

static int64_t deadline_make(int64_t now_us, int64_t timeout_us)
{
    return timeout_us ? now_us + timeout_us : HF_NONE;
}

/* The first events and rows of a run that this unit creates. */
static void run_begin(hf_decide *decide, size_t part, const hf_instance_row *instance,
                      const hf_run_base *base, const hf_run_row *run, const hf_decide_type *type,
                      const hf_decision_payload *input, int64_t task)
{
    hf_event_builder *events = hf_unit_events(decide->unit, part);

    hf_event_begin(events, HF_EVENT_START_ACCEPTED, decide->now_us, 0);
    hf_event_put_text(events, HF_KEY_OUTCOME, HF_SLICE("started_new"));
    hf_event_begin(events, HF_EVENT_WORKFLOW_STARTED, decide->now_us, 0);
    hf_event_put_text(events, HF_KEY_WORKFLOW_TYPE, instance->type);
    if (type->fingerprint.ptr)
        hf_event_put_text(events, HF_KEY_WORKFLOW_DEFINITION_FINGERPRINT, type->fingerprint);
    if (run->execution_deadline_us != HF_NONE)
        hf_event_put_time(events, HF_KEY_EXECUTION_DEADLINE_AT, run->execution_deadline_us);
    if (run->run_deadline_us != HF_NONE)
        hf_event_put_time(events, HF_KEY_RUN_DEADLINE_AT, run->run_deadline_us);
    if (input->bytes.ptr)
        hf_event_put_payload(events, HF_KEY_ARGUMENTS,
                             hf_unit_payload(decide->unit, decide->stager, decide->keys, part,
                                             input->codec, input->bytes));
    hf_decide_wake(decide, part, task, base->run, run->queue);
    hf_unit_row(decide->unit, part,
                hf_row_summary_new(hf_unit_mem(decide->unit), base->run, instance->namespace_key,
                                   instance->key, HF_RUN_STATUS_PENDING, decide->now_us));
    (void)hf_decide_effect(decide, HF_EFFECT_RUN, base->run);
}

hf_status hf_decide_child(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(decide->unit);
    hf_decide_type type = {.definition = HF_NONE};
    hf_slice id = row->child.id;
    int64_t keys[4] = {0}; /* instance, run, task, link */
    int64_t first = 0;
    hf_instance_row instance;
    hf_run_base base;
    hf_run_row run;
    hf_link_row link;
    hf_event_builder *events;
    size_t part;
    hf_status st = hf_keys_take(decide->keys, 4, &first, err);

    if (st)
        return st;
    for (int i = 0; i < 4; i++)
        keys[i] = first + i;
    (void)decide->host->workflow(decide->host->ctx, row->name, &type);
    if (!id.ptr) {
        char *made = hf_mem_format(mem, "%.*s:%lld:%lld", (int)decide->run->instance_id.len,
                                   decide->run->instance_id.ptr, (long long)decide->run->number,
                                   (long long)row->step);

        if (!made)
            return hf_err_nomem(err, "the id of a child");
        id = hf_slice_of(made);
    }
    instance = (hf_instance_row){.key = keys[0],
                                 .namespace_key = decide->run->namespace_key,
                                 .id = id,
                                 .shard = hf_shard_of(decide->run->namespace_key, id),
                                 .type = row->name,
                                 .current_run = keys[1],
                                 .run_count = 1,
                                 .created_us = decide->now_us};
    base = (hf_run_base){.run = keys[1],
                         .instance = keys[0],
                         .shard = instance.shard,
                         .status = HF_RUN_STATUS_PENDING,
                         .closed_reason = HF_NONE,
                         .closed_us = HF_NONE};
    run = (hf_run_row){
        .number = 1,
        .created_us = decide->now_us,
        .execution_deadline_us = deadline_make(decide->now_us, row->child.execution_timeout_us
                                                                   ? row->child.execution_timeout_us
                                                                   : type.execution_timeout_us),
        .run_deadline_us =
            deadline_make(decide->now_us, row->child.run_timeout_us ? row->child.run_timeout_us
                                                                    : type.run_timeout_us),
        .queue = row->child.queue.ptr ? row->child.queue : decide->run->queue,
        .definition = type.definition};
    link = (hf_link_row){.key = keys[3],
                         .kind = HF_LINK_TYPE_CHILD_WORKFLOW,
                         .parent_run = decide->run->base->run,
                         .step = row->step,
                         .child_instance = keys[0],
                         .child_run = keys[1],
                         .policy = row->child.on_parent_close,
                         .created_us = decide->now_us};
    for (int i = 0; i < 2; i++) {
        events = hf_decide_event(
            decide, i ? HF_EVENT_CHILD_RUN_STARTED : HF_EVENT_CHILD_WORKFLOW_SCHEDULED, row->step);
        hf_event_put_id(events, HF_KEY_CHILD_CALL_ID, hf_decide_id(decide->now_us, link.key, 0));
        hf_event_put_text(events, HF_KEY_CHILD_WORKFLOW_INSTANCE_ID, id);
        hf_event_put_id(events, HF_KEY_CHILD_WORKFLOW_RUN_ID,
                        hf_decide_id(decide->now_us, keys[1], 0));
        hf_event_put_text(events, HF_KEY_CHILD_WORKFLOW_TYPE, row->name);
        hf_decide_groups(decide, row);
    }
    hf_decide_row(decide, hf_row_link_new(mem, &link));
    part = hf_unit_create(decide->unit, HF_UNIT_INSTANCE_CHILD, &instance, &base, &run);
    run_begin(decide, part, &instance, &base, &run, &type, &row->value, keys[2]);
    return HF_OK;
}

hf_status hf_decide_signal_child(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    (void)decide;
    return hf_err_set(err, HF_INVALID, "the child %.*s takes no signals",
                      (int)row->outgoing.child_call.len, row->outgoing.child_call.ptr);
}

hf_status hf_decide_continue(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    const hf_decide_run *old = decide->run;
    hf_mem *mem = hf_unit_mem(decide->unit);
    hf_decide_type type = {.definition = old->definition};
    hf_slice type_name = row->next.type.ptr ? row->next.type : old->type;
    int64_t first = 0; /* run, task, link */
    hf_instance_row instance;
    hf_run_base base;
    hf_run_row run;
    hf_link_row link;
    hf_event_builder *events;
    size_t part;
    hf_status st = hf_keys_take(decide->keys, 3, &first, err);

    if (st)
        return st;
    (void)decide->host->workflow(decide->host->ctx, type_name, &type);
    instance = (hf_instance_row){.key = old->base->instance,
                                 .namespace_key = old->namespace_key,
                                 .id = old->instance_id,
                                 .shard = old->base->shard,
                                 .type = type_name,
                                 .current_run = first,
                                 .run_count = old->number + 1};
    base = (hf_run_base){.run = first,
                         .instance = old->base->instance,
                         .shard = old->base->shard,
                         .message_seq = old->base->message_seq,
                         .message_cursor = old->base->message_cursor,
                         .status = HF_RUN_STATUS_PENDING,
                         .closed_reason = HF_NONE,
                         .closed_us = HF_NONE};
    run = (hf_run_row){.number = old->number + 1,
                       .created_us = decide->now_us,
                       .execution_deadline_us = old->execution_deadline_us,
                       .run_deadline_us =
                           old->run_deadline_us == HF_NONE
                               ? HF_NONE
                               : decide->now_us + (old->run_deadline_us - old->created_us),
                       .queue = old->queue,
                       .definition = type.definition};
    link = (hf_link_row){.key = first + 2,
                         .kind = HF_LINK_TYPE_CONTINUE_AS_NEW,
                         .parent_run = old->base->run,
                         .step = HF_NONE,
                         .child_instance = old->base->instance,
                         .child_run = first,
                         .policy = HF_PARENT_CLOSE_ABANDON,
                         .created_us = decide->now_us};
    hf_decide_cancel_open(decide);
    events = hf_decide_event(decide, HF_EVENT_WORKFLOW_CONTINUED_AS_NEW, row->step);
    hf_event_put_id(events, HF_KEY_CONTINUED_TO_RUN_ID, hf_decide_id(decide->now_us, first, 0));
    hf_event_put_text(events, HF_KEY_CLOSED_REASON, HF_SLICE("continued"));
    hf_decide_row(decide, hf_row_link_new(mem, &link));
    if (old->parent_run != HF_NONE) { /* the parent goes on waiting, for the next run */
        link.key = HF_NONE;
        st = hf_decide_key(decide, &link.key, err);
        link.kind = HF_LINK_TYPE_CHILD_WORKFLOW;
        link.parent_run = old->parent_run;
        hf_decide_row(decide, hf_row_link_new(mem, &link));
    }
    hf_decide_closed(decide, HF_RUN_STATUS_COMPLETED, HF_CLOSED_REASON_CONTINUED);
    part = hf_unit_create(decide->unit, HF_UNIT_INSTANCE_CONTINUE, &instance, &base, &run);
    run_begin(decide, part, &instance, &base, &run, &type, &row->value, first + 1);
    hf_event_put_id(hf_unit_events(decide->unit, part), HF_KEY_CONTINUED_FROM_RUN_ID,
                    hf_decide_id(old->created_us, old->base->run, 0));
    return st;
}

/* Whether this very unit has closed the work already. */
static bool work_is_over(hf_decide *decide, const hf_open_work *work)
{
    const hf_event_builder *events = hf_unit_events(decide->unit, 0);

    for (size_t i = 0; i < events->count; i++) {
        hf_event_type type = events->events[i].type;
        bool closes = work->is_timer
                          ? type == HF_EVENT_TIMER_FIRED || type == HF_EVENT_TIMER_CANCELLED
                          : type == HF_EVENT_ACTIVITY_COMPLETED ||
                                type == HF_EVENT_ACTIVITY_FAILED ||
                                type == HF_EVENT_ACTIVITY_TIMED_OUT;

        if (closes && events->events[i].step == work->step)
            return true;
    }
    return false;
}

void hf_decide_cancel_open(hf_decide *decide)
{
    for (int timers = 0; timers < 2; timers++) { /* all activities first, then all timers */
        for (size_t i = 0; i < decide->run->open_count; i++) {
            const hf_open_work *work = &decide->run->open[i];
            hf_event_builder *events;

            if (work->is_timer != (timers == 1) || work_is_over(decide, work))
                continue;
            events = hf_decide_event(
                decide, timers ? HF_EVENT_TIMER_CANCELLED : HF_EVENT_ACTIVITY_CANCELLED,
                work->step);
            hf_event_put_time(events, HF_KEY_CANCELLED_AT, decide->now_us);
            if (timers && work->timer_kind)
                hf_event_put_text(events, HF_KEY_TIMER_KIND,
                                  hf_slice_of(hf_timer_kind_text(work->timer_kind)));
        }
    }
}

/* What a parent is told: how it ended and, when it completed, with what. */
static void parent_tell(hf_decide *decide, hf_closed_reason reason)
{
    hf_mem *mem = hf_unit_mem(decide->unit);
    int64_t first = 0; /* inbox, task */
    char *body = hf_mem_format(mem, "{\"closed_reason\":\"%s\"}", hf_closed_reason_text(reason));
    hf_err ignored;

    if (!body || hf_keys_take(decide->keys, 2, &first, &ignored)) {
        hf_unit_row(decide->unit, 0, NULL);
        return;
    }
    hf_decide_row(decide,
                  hf_row_inbox_new(mem, first, decide->run->parent_run, HF_INBOX_CHILD_CLOSED,
                                   decide->run->base->run, decide->now_us, hf_slice_of(body)));
    hf_decide_wake(decide, 0, first + 1, decide->run->parent_run, decide->run->queue);
    (void)hf_decide_effect(decide, HF_EFFECT_RUN, decide->run->parent_run);
}

void hf_decide_closed(hf_decide *decide, hf_run_status status, hf_closed_reason reason)
{
    hf_mem *mem = hf_unit_mem(decide->unit);
    int64_t run = decide->run->base->run;

    decide->closed = true;
    hf_unit_close(decide->unit, 0, status, reason, decide->now_us);
    hf_decide_row(decide, hf_row_delete(mem, HF_OP_ACTIVITY_CLEAR, run));
    hf_decide_row(decide, hf_row_delete(mem, HF_OP_TIMER_CLEAR, run));
    hf_decide_row(decide, hf_row_delete(mem, HF_OP_TASK_CLEAR, run));
    hf_decide_row(decide, hf_row_delete(mem, HF_OP_INBOX_CLEAR, run));
    hf_decide_row(decide, hf_row_summary_set(mem, run, status));
    if (decide->run->parent_run != HF_NONE && reason != HF_CLOSED_REASON_CONTINUED)
        parent_tell(decide, reason);
}

hf_status hf_decide_apply_update(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    const hf_open_message *message = decide->host->message(decide->host->ctx, row->fact.seq);
    hf_event_builder *events;

    if (!message)
        return hf_err_set(err, HF_INVALID, "event %lld brought no update that could be applied",
                          (long long)row->fact.seq);
    hf_unit_cursor(decide->unit, 0, message->number);
    events = hf_decide_event(decide, HF_EVENT_UPDATE_APPLIED, row->step);
    hf_event_put_id(events, HF_KEY_UPDATE_ID, message->command_id);
    hf_event_put_text(events, HF_KEY_UPDATE_NAME, row->name);
    events = hf_decide_event(decide, HF_EVENT_UPDATE_COMPLETED, row->step);
    hf_event_put_id(events, HF_KEY_UPDATE_ID, message->command_id);
    hf_event_put_text(events, HF_KEY_UPDATE_NAME, row->name);
    hf_decide_payload(decide, HF_KEY_RESULT, &row->value);
    hf_decide_row(decide,
                  hf_row_command_close(hf_unit_mem(decide->unit), message->command,
                                       HF_CMD_OUTCOME_UPDATE_COMPLETED, HF_UPDATE_STATUS_COMPLETED,
                                       decide->now_us, decide->now_us));
    return HF_OK;
}

hf_status hf_decide_fail_update(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    const hf_open_message *message = decide->host->message(decide->host->ctx, row->fact.seq);
    hf_event_builder *events;

    if (!message)
        return hf_err_set(err, HF_INVALID, "event %lld brought no update that could fail",
                          (long long)row->fact.seq);
    hf_unit_cursor(decide->unit, 0, message->number);
    events = hf_decide_event(decide, HF_EVENT_UPDATE_COMPLETED, row->step);
    hf_event_put_id(events, HF_KEY_UPDATE_ID, message->command_id);
    hf_event_put_text(events, HF_KEY_UPDATE_NAME, row->name);
    hf_decide_failure(decide, &row->failure, row->failure.category);
    hf_decide_row(decide,
                  hf_row_command_close(hf_unit_mem(decide->unit), message->command,
                                       HF_CMD_OUTCOME_UPDATE_FAILED, HF_UPDATE_STATUS_FAILED,
                                       decide->now_us, decide->now_us));
    return HF_OK;
}

void hf_decide_stop(hf_decide *decide, bool terminate, int64_t command, hf_slice reason)
{
    hf_ulid id = hf_decide_id(decide->now_us, command, 0);
    hf_failure_category category =
        terminate ? HF_FAILURE_CATEGORY_TERMINATED : HF_FAILURE_CATEGORY_CANCELLED;
    hf_event_builder *events = hf_decide_event(
        decide, terminate ? HF_EVENT_TERMINATE_REQUESTED : HF_EVENT_CANCEL_REQUESTED, 0);

    hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, id);
    if (reason.len)
        hf_event_put_text(events, HF_KEY_REASON, reason);
    hf_decide_cancel_open(decide);
    events = hf_decide_event(
        decide, terminate ? HF_EVENT_WORKFLOW_TERMINATED : HF_EVENT_WORKFLOW_CANCELLED, 0);
    hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, id);
    hf_event_put_text(events, HF_KEY_FAILURE_CATEGORY,
                      hf_slice_of(hf_failure_category_text(category)));
    if (reason.len)
        hf_event_put_text(events, HF_KEY_REASON, reason);
    hf_decide_closed(decide, terminate ? HF_RUN_STATUS_TERMINATED : HF_RUN_STATUS_CANCELLED,
                     terminate ? HF_CLOSED_REASON_TERMINATED : HF_CLOSED_REASON_CANCELLED);
}
