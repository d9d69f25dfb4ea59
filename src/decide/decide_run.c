/* decide_run.c: what concerns whole runs: how one begins, how one follows another, how one ends.
   The rule: whatever closes a run does it through hf_decide_closed, so that nothing open is left
   behind and everybody who must know of it is told in the same transaction. */
#include <stdio.h>

#include "base/assert.h"
#include "decide/decide_impl.h"

/* ---- the beginning */

void hf_decide_wake(hf_decide *decide)
{
    int64_t task = 0;

    if (hf_decide_keys(decide, 1, &task))
        hf_decide_row(decide,
                      hf_row_task_tell(hf_unit_mem(decide->unit), task, decide->run->base->run,
                                       HF_NONE, HF_NONE, HF_NONE, decide->now_us));
}

/* Who started a child: its parent, at which step, by which call. */
static void start_command(hf_decide *decide, size_t part, const hf_decide_plan *plan)
{
    hf_mem *mem = hf_unit_mem(decide->unit);
    hf_ulid call = hf_ulid_form(plan->call->call_us, plan->call->call, 0);
    hf_ulid parent = hf_ulid_form(plan->call->parent_us, plan->parent_run, 0);
    char call_text[HF_ULID_TEXT_SIZE];
    char parent_text[HF_ULID_TEXT_SIZE];
    char *body;
    hf_command_row row = {.key = plan->command,
                          .instance = plan->base.instance,
                          .run = plan->base.run,
                          .type = HF_COMMAND_TYPE_START,
                          .status = HF_COMMAND_STATUS_ACCEPTED,
                          .outcome = HF_CMD_OUTCOME_STARTED_NEW,
                          .rejection = HF_NONE,
                          .scope = HF_TARGET_SCOPE_INSTANCE,
                          .source = HF_COMMAND_SOURCE_WORKFLOW,
                          .command_ahead = 1,
                          .message_ahead = HF_NONE,
                          .state = HF_NONE,
                          .recorded_us = decide->now_us,
                          .applied_us = decide->now_us,
                          .closed_us = decide->now_us};

    hf_ulid_print(&call, call_text);
    hf_ulid_print(&parent, parent_text);
    body = hf_mem_format(mem,
                         "{\"context\":{\"workflow\":{\"child_call_id\":\"%s\","
                         "\"parent_instance_id\":\"%.*s\",\"parent_run_id\":\"%s\","
                         "\"sequence\":%lld}}}",
                         call_text, (int)plan->call->parent_id.len, plan->call->parent_id.ptr,
                         parent_text, (long long)plan->call->step);
    row.body = hf_slice_of(body);
    hf_unit_row(decide->unit, part, body ? hf_row_command_new(mem, &row) : NULL);
}

static void started_call(hf_event_builder *events, const hf_decide_plan *plan)
{
    const hf_child_call_info *call = plan->call;

    hf_event_put_text(events, HF_KEY_PARENT_WORKFLOW_INSTANCE_ID, call->parent_id);
    hf_event_put_id(events, HF_KEY_PARENT_WORKFLOW_RUN_ID,
                    hf_ulid_form(call->parent_us, plan->parent_run, 0));
    hf_event_put_int(events, HF_KEY_PARENT_SEQUENCE, call->step);
    hf_event_put_id(events, HF_KEY_CHILD_CALL_ID, hf_ulid_form(call->call_us, call->call, 0));
    if (call->attempt > 1)
        hf_event_put_int(events, HF_KEY_RETRY_ATTEMPT, call->attempt);
}

static hf_slice either(hf_slice first, hf_slice second)
{
    return first.ptr ? first : second;
}

/* Memo, search attributes and labels of the run before. */
static void started_inherited(hf_decide *decide, size_t part)
{
    hf_event_builder *events = hf_unit_events(decide->unit, part);
    const hf_decision_payload memo = {.codec = HF_PAYLOAD_CODEC_JSON,
                                      .bytes = either(decide->memo, decide->run->memo)};
    const hf_decision_payload attributes = {
        .codec = HF_PAYLOAD_CODEC_JSON,
        .bytes = either(decide->attributes, decide->run->attributes)};

    if (decide->run->labels.ptr)
        hf_event_put_json(events, HF_KEY_VISIBILITY_LABELS, decide->run->labels);
    hf_decide_payload_in(decide, part, HF_KEY_MEMO, &memo);
    hf_decide_payload_in(decide, part, HF_KEY_SEARCH_ATTRIBUTES, &attributes);
}

static void started_event(hf_decide *decide, size_t part, const hf_decide_plan *plan)
{
    hf_event_builder *events = hf_unit_events(decide->unit, part);

    hf_event_begin(events, HF_EVENT_WORKFLOW_STARTED, decide->now_us, 0);
    if (plan->command != HF_NONE)
        hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID,
                        hf_ulid_form(decide->now_us, plan->command, 0));
    hf_event_put_text(events, HF_KEY_WORKFLOW_TYPE, plan->instance.type);
    if (plan->type.fingerprint.ptr)
        hf_event_put_text(events, HF_KEY_WORKFLOW_DEFINITION_FINGERPRINT, plan->type.fingerprint);
    if (plan->run.execution_deadline_us != HF_NONE)
        hf_event_put_time(events, HF_KEY_EXECUTION_DEADLINE_AT, plan->run.execution_deadline_us);
    if (plan->run.run_deadline_us != HF_NONE)
        hf_event_put_time(events, HF_KEY_RUN_DEADLINE_AT, plan->run.run_deadline_us);
    if (plan->run.number > 1)
        hf_event_put_int(events, HF_KEY_RUN_NUMBER, plan->run.number);
    if (plan->instance.business_key.ptr)
        hf_event_put_text(events, HF_KEY_BUSINESS_KEY, plan->instance.business_key);
    if (decide->run->compatibility.ptr)
        hf_event_put_text(events, HF_KEY_COMPATIBILITY, decide->run->compatibility);
    if (plan->call)
        started_call(events, plan);
    if (plan->call && plan->retry_policy.ptr)
        hf_event_put_json(events, HF_KEY_RETRY_POLICY, plan->retry_policy);
    if (plan->available_us)
        hf_event_put_time(events, HF_KEY_AVAILABLE_AT, plan->available_us);
    if (plan->link != HF_NONE)
        hf_event_put_id(events, HF_KEY_WORKFLOW_LINK_ID,
                        hf_ulid_form(decide->now_us, plan->link, 0));
    if (plan->continued_from != HF_NONE)
        hf_event_put_id(events,
                        plan->retries ? HF_KEY_RETRY_OF_CHILD_WORKFLOW_RUN_ID
                                      : HF_KEY_CONTINUED_FROM_RUN_ID,
                        hf_ulid_form(plan->continued_from_us, plan->continued_from, 0));
    if (plan->inherits)
        started_inherited(decide, part);
    hf_decide_payload_in(decide, part, HF_KEY_ARGUMENTS, plan->input);
}

size_t hf_decide_begin(hf_decide *decide, const hf_decide_plan *plan)
{
    size_t part = hf_unit_create(decide->unit, plan->how, &plan->instance, &plan->base, &plan->run);
    hf_event_builder *events = hf_unit_events(decide->unit, part);

    hf_event_begin(events, HF_EVENT_START_ACCEPTED, decide->now_us, 0);
    if (plan->command != HF_NONE)
        hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID,
                        hf_ulid_form(decide->now_us, plan->command, 0));
    hf_event_put_text(events, HF_KEY_OUTCOME, HF_SLICE("started_new"));
    started_event(decide, part, plan);
    if (plan->command != HF_NONE)
        start_command(decide, part, plan);
    hf_unit_row(
        decide->unit, part,
        hf_row_task_wake(hf_unit_mem(decide->unit), plan->task, plan->base.run, plan->run.queue,
                         plan->available_us ? plan->available_us : decide->now_us, decide->now_us));
    hf_unit_row(decide->unit, part,
                hf_row_summary_new(hf_unit_mem(decide->unit), plan->base.run,
                                   plan->instance.namespace_key, plan->instance.key,
                                   HF_RUN_STATUS_PENDING, decide->now_us));
    (void)hf_decide_effect(decide, HF_EFFECT_RUN, plan->base.run);
    return part;
}

/* ---- the next run */

/* The definition that the next run begins with: what this program has, or what workers of other
   processes declared last. */
static hf_decide_type next_type(const hf_decide *decide)
{
    const hf_decide_host *host = decide->host;
    const hf_decide_run *old = decide->run;
    hf_decide_type newest;

    return !old->self.fingerprint.ptr && host->workflow(host->ctx, old->type, &newest) ? newest
                                                                                       : old->self;
}

hf_decide_plan hf_decide_follow(const hf_decide *decide, int64_t run, int64_t task)
{
    const hf_decide_run *old = decide->run;
    /* a child that was tried again after a pause: its own time began after that */
    int64_t began_us =
        old->parent_run != HF_NONE && old->begins_us ? old->begins_us : old->created_us;
    int64_t cursor =
        decide->cursor > old->base->message_cursor ? decide->cursor : old->base->message_cursor;
    hf_decide_plan plan = {.how = HF_UNIT_INSTANCE_CONTINUE,
                           .type = next_type(decide),
                           .task = task,
                           .command = HF_NONE,
                           .link = HF_NONE,
                           .parent_run = old->parent_run,
                           .retry_policy = old->retry_policy,
                           .continued_from = old->base->run,
                           .continued_from_us = old->created_us};

    plan.instance = (hf_instance_row){.key = old->base->instance,
                                      .namespace_key = old->namespace_key,
                                      .id = old->instance_id,
                                      .shard = old->base->shard,
                                      .type = old->type,
                                      .business_key = old->business_key,
                                      .current_run = run,
                                      .run_count = old->number + 1};
    plan.base = (hf_run_base){.run = run,
                              .instance = old->base->instance,
                              .shard = old->base->shard,
                              .message_seq = old->base->message_seq + decide->messages,
                              .message_cursor = cursor,
                              .status = HF_RUN_STATUS_PENDING,
                              .closed_reason = HF_NONE,
                              .closed_us = HF_NONE};
    plan.run =
        (hf_run_row){.number = old->number + 1,
                     .created_us = decide->now_us,
                     .execution_deadline_us = old->execution_deadline_us,
                     .run_deadline_us = old->run_deadline_us == HF_NONE
                                            ? HF_NONE
                                            : decide->now_us + (old->run_deadline_us - began_us),
                     .queue = old->queue,
                     .definition = plan.type.definition};
    return plan;
}

void hf_decide_relink(hf_decide *decide, int64_t next_run, int64_t attempt, int64_t pause_ms)
{
    char *pause = pause_ms ? hf_mem_format(hf_unit_mem(decide->unit), "{\"pause_ms\":%lld}",
                                           (long long)pause_ms)
                           : NULL;
    const hf_decide_run *old = decide->run;
    hf_link_row link = {.kind = HF_LINK_TYPE_CHILD_WORKFLOW,
                        .parent_run = old->parent_run,
                        .step = old->call.step,
                        .child_instance = old->base->instance,
                        .child_run = next_run,
                        .policy = old->call.policy,
                        .created_us = decide->now_us,
                        .call = old->call.call,
                        .call_us = old->call.call_us,
                        .attempt = attempt,
                        .max_attempts = old->call.max_attempts};

    if (!hf_decide_keys(decide, 1, &link.key))
        return;
    hf_decide_row(decide, hf_row_parent_hold(hf_unit_mem(decide->unit), old->parent_run));
    hf_decide_row(decide, hf_row_link_follow(hf_unit_mem(decide->unit), &link, old->base->run));
    hf_decide_tell(decide, old->parent_run, HF_NONE, old->parent_run, HF_INBOX_CHILD_STARTED,
                   next_run, hf_slice_of(pause));
    if (pause_ms && !pause)
        hf_unit_row(decide->unit, 0, NULL);
}

hf_status hf_decide_continue(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    const hf_decide_run *old = decide->run;
    hf_mem *mem = hf_unit_mem(decide->unit);
    int64_t first = 0; /* run, task, link */
    hf_link_row link;
    hf_event_builder *events;
    hf_decide_plan plan;
    size_t part;
    hf_status st = hf_keys_take(decide->keys, 3, &first, err);

    if (st)
        return st;
    hf_decide_know(decide, HF_KNOW_META | HF_KNOW_MESSAGES | HF_KNOW_WHOLE);
    link = (hf_link_row){.key = first + 2,
                         .kind = HF_LINK_TYPE_CONTINUE_AS_NEW,
                         .parent_run = old->base->run,
                         .step = HF_NONE,
                         .child_instance = old->base->instance,
                         .child_run = first,
                         .policy = HF_PARENT_CLOSE_ABANDON,
                         .created_us = decide->now_us,
                         .call = first + 2,
                         .call_us = decide->now_us,
                         .attempt = 1};
    hf_decide_cancel_open(decide);
    events = hf_decide_event(decide, HF_EVENT_WORKFLOW_CONTINUED_AS_NEW, row->step);
    hf_event_put_id(events, HF_KEY_CONTINUED_TO_RUN_ID, hf_ulid_form(decide->now_us, first, 0));
    hf_event_put_int(events, HF_KEY_CONTINUED_TO_RUN_NUMBER, old->number + 1);
    hf_event_put_id(events, HF_KEY_WORKFLOW_LINK_ID, hf_ulid_form(decide->now_us, link.key, 0));
    hf_event_put_text(events, HF_KEY_CLOSED_REASON, HF_SLICE("continued"));
    hf_decide_row(decide, hf_row_link_new(mem, &link));
    hf_decide_row(decide, hf_row_inbox_move(mem, old->base->run, first));
    hf_decide_closed(decide, HF_RUN_STATUS_COMPLETED, HF_CLOSED_REASON_CONTINUED);
    if (old->parent_run != HF_NONE) /* the parent goes on waiting, for the next run */
        hf_decide_relink(decide, first, old->call.attempt, 0);
    hf_decide_keep_children(decide, first);
    plan = hf_decide_follow(decide, first, first + 1);
    plan.input = &row->value;
    plan.link = link.key;
    plan.call = old->parent_run == HF_NONE ? NULL : &old->call;
    plan.inherits = true;
    if (row->next.queue.ptr)
        plan.run.queue = row->next.queue;
    if (row->next.type.ptr) {
        plan.instance.type = row->next.type;
        plan.type = (hf_decide_type){.definition = HF_NONE};
        (void)decide->host->workflow(decide->host->ctx, row->next.type, &plan.type);
        plan.run.definition = plan.type.definition;
    }
    part = hf_decide_begin(decide, &plan);
    hf_decide_move_messages(decide, part, first);
    return HF_OK;
}

/* ---- the end */

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

void hf_decide_closed(hf_decide *decide, hf_run_status status, hf_closed_reason reason)
{
    hf_mem *mem = hf_unit_mem(decide->unit);
    int64_t run = decide->run->base->run;
    bool continued = reason == HF_CLOSED_REASON_CONTINUED;

    hf_decide_know(decide, HF_KNOW_CHILDREN | HF_KNOW_MESSAGES);
    decide->closed = true;
    hf_unit_fix(decide->unit); /* a message that came meanwhile would be left unanswered */
    hf_unit_close(decide->unit, 0, status, reason, decide->now_us);
    if (!decide->last_step) /* a machine has none */
        hf_decide_row(decide, hf_row_delete(mem, HF_OP_ACTIVITY_CLEAR, run));
    hf_unit_rows_drop(decide->unit, HF_OP_TIMER_CANCEL); /* all timers go */
    hf_decide_row(decide, hf_row_delete(mem, HF_OP_TIMER_CLEAR, run));
    hf_decide_row(decide, hf_row_delete(mem, HF_OP_WORK_CLEAR, run));
    hf_decide_row(decide, hf_row_delete(mem, HF_OP_INBOX_CLEAR, run));
    hf_decide_row(decide, hf_row_summary_set(mem, run, status));
    if (!continued && !decide->retries)
        hf_decide_row(decide, hf_row_correlation_close(mem, decide->run->base->instance,
                                                       status == HF_RUN_STATUS_COMPLETED ? 1 : 2));
    hf_decide_close_messages(decide, reason, continued);
    if (!continued)
        hf_decide_close_children(decide, reason);
    if (decide->run->parent_run != HF_NONE && !continued && !decide->retries)
        hf_decide_tell(decide, decide->run->parent_run, HF_NONE, decide->run->parent_run,
                       HF_INBOX_CHILD_CLOSED, run, (hf_slice){0});
}
