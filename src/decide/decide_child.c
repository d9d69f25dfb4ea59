/* decide_child.c: children: started, retried, told of their parent's end, and their own end as the
   parent records it. Whatever another run must know goes into its inbox, in the same transaction;
   its own next unit folds it into its own history. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/value.h"
#include "commit/shard.h"
#include "decide/decide_impl.h"
#include "model/policy.h"

/* An instance id that this unit takes. */
typedef struct decide_made_id {
    struct decide_made_id *next;
    hf_slice id;
} decide_made_id;

void hf_decide_tell(hf_decide *decide, int64_t run, int64_t instance, int64_t hint,
                    hf_inbox_kind kind, int64_t source_run, hf_slice body)
{
    hf_mem *mem = hf_unit_mem(decide->unit);
    int64_t first = 0; /* inbox, task */

    if (!hf_decide_keys(decide, 2, &first))
        return;
    if (run == HF_NONE) /* it must not go on as another run with the fact left behind */
        hf_decide_row(decide, hf_row_instance_hold(mem, instance));
    hf_decide_row(decide, hf_row_inbox_tell(mem, first, run, instance, kind, source_run,
                                            decide->now_us, body));
    hf_decide_row(decide, hf_row_task_tell(mem, first + 1, run, instance, (int64_t)kind, source_run,
                                           decide->now_us));
    (void)hf_decide_effect(decide, HF_EFFECT_RUN, hint);
}

/* ---- the parent's record */

/* What every event about a child's run says. */
static hf_event_builder *child_event(hf_decide *decide, hf_event_type type,
                                     const hf_child_end *child)
{
    hf_event_builder *events = hf_decide_event(decide, type, child->call.step);

    hf_event_put_id(events, HF_KEY_CHILD_CALL_ID,
                    hf_ulid_form(child->call.call_us, child->call.call, 0));
    hf_event_put_text(events, HF_KEY_CHILD_WORKFLOW_INSTANCE_ID, child->id);
    hf_event_put_id(events, HF_KEY_CHILD_WORKFLOW_RUN_ID,
                    hf_ulid_form(child->run_us, child->run, 0));
    hf_event_put_text(events, HF_KEY_CHILD_WORKFLOW_TYPE, child->type);
    hf_event_put_int(events, HF_KEY_CHILD_RUN_NUMBER, child->number);
    return events;
}

/* The policy of retries as it is frozen; ptr NULL for a child that is tried once. Without a list of
   pauses it is tried again at once. */
static hf_status retry_policy(hf_decide *decide, const hf_decision_retry *call, hf_slice *out_json,
                              hf_err *err)
{
    static const int64_t at_once[] = {0};
    hf_retry_policy policy = {.max_attempts = 1, .backoff_ms = at_once, .backoff_count = 1};
    hf_status st;

    *out_json = (hf_slice){0};
    if (call->max_attempts == 0 || call->max_attempts == 1)
        return HF_OK;
    st = hf_decide_policy(decide, call, &policy, err);
    return st ? st : hf_policy_write(hf_unit_mem(decide->unit), &policy, out_json, err);
}

void hf_decide_child_started(hf_decide *decide, const hf_child_end *child)
{
    hf_event_builder *events = child_event(decide, HF_EVENT_CHILD_RUN_STARTED, child);

    if (child->link)
        hf_event_put_id(events, HF_KEY_WORKFLOW_LINK_ID,
                        hf_ulid_form(child->run_us, child->link, 0));
    hf_event_put_text(events, HF_KEY_PARENT_CLOSE_POLICY,
                      hf_slice_of(hf_parent_close_policy_text(child->call.policy)));
    if (child->call.attempt > 1)
        hf_event_put_int(events, HF_KEY_RETRY_ATTEMPT, child->call.attempt);
    if (child->pause_ms)
        hf_event_put_int(events, HF_KEY_RETRY_BACKOFF_SECONDS, (child->pause_ms + 999) / 1000);
}

void hf_decide_child_closed(hf_decide *decide, const hf_child_end *end)
{
    static const hf_event_type types[] = {
        [HF_CLOSED_REASON_COMPLETED] = HF_EVENT_CHILD_RUN_COMPLETED,
        [HF_CLOSED_REASON_FAILED] = HF_EVENT_CHILD_RUN_FAILED,
        [HF_CLOSED_REASON_TIMED_OUT] = HF_EVENT_CHILD_RUN_FAILED,
        [HF_CLOSED_REASON_CANCELLED] = HF_EVENT_CHILD_RUN_CANCELLED,
        [HF_CLOSED_REASON_TERMINATED] = HF_EVENT_CHILD_RUN_TERMINATED,
    };
    hf_event_type type = types[end->reason];
    hf_failure_category category = HF_FAILURE_CATEGORY_CHILD_WORKFLOW;
    hf_event_builder *events = child_event(decide, type, end);

    hf_event_put_text(events, HF_KEY_CHILD_STATUS, hf_slice_of(hf_run_status_text(end->status)));
    hf_event_put_text(events, HF_KEY_CLOSED_REASON,
                      hf_slice_of(hf_closed_reason_text(end->reason)));
    hf_event_put_time(events, HF_KEY_CLOSED_AT, end->closed_us);
    if (type == HF_EVENT_CHILD_RUN_COMPLETED) {
        hf_decide_payload(decide, HF_KEY_OUTPUT, &end->output);
        return;
    }
    if (end->reason == HF_CLOSED_REASON_TIMED_OUT)
        category = HF_FAILURE_CATEGORY_TIMEOUT;
    hf_event_put_text(events, HF_KEY_FAILURE_CATEGORY,
                      hf_slice_of(hf_failure_category_text(category)));
    if (type == HF_EVENT_CHILD_RUN_FAILED) {
        if (end->failure_type.ptr)
            hf_event_put_text(events, HF_KEY_EXCEPTION_TYPE, end->failure_type);
        hf_decide_payload(decide, HF_KEY_EXCEPTION, &end->details);
    }
    if (end->message.ptr)
        hf_event_put_text(events, HF_KEY_MESSAGE, end->message);
}

/* ---- starting */

static int64_t deadline_make(int64_t now_us, int64_t given_us, int64_t otherwise_us)
{
    int64_t timeout_us = given_us ? given_us : otherwise_us;

    return timeout_us ? now_us + timeout_us : HF_NONE;
}

/* The id that a child has when its caller gave none. */
static hf_status child_id(hf_decide *decide, const hf_decision_row *row, hf_slice *out_id,
                          hf_err *err)
{
    char *made;

    *out_id = row->child.id;
    if (out_id->ptr)
        return HF_OK;
    made = hf_mem_format(hf_unit_mem(decide->unit), "%.*s:%lld:%lld",
                         (int)decide->run->instance_id.len, decide->run->instance_id.ptr,
                         (long long)decide->run->number, (long long)row->step);
    *out_id = hf_slice_of(made);
    return made ? HF_OK : hf_err_nomem(err, "the id of a child");
}

static hf_status id_take(hf_decide *decide, hf_slice id, bool *out_taken, hf_err *err)
{
    decide_made_id *made;
    hf_status st = decide->host->taken(decide->host->ctx, id, out_taken, err);

    for (made = decide->made_ids; !st && !*out_taken && made; made = made->next)
        *out_taken = hf_slice_equal(made->id, id);
    if (st || *out_taken)
        return st;
    made = hf_mem_alloc(hf_unit_mem(decide->unit), sizeof(*made));
    if (!made)
        return hf_err_nomem(err, "the id of a child");
    *made = (decide_made_id){.next = decide->made_ids, .id = id};
    decide->made_ids = made;
    return HF_OK;
}

/* A registered function is a definition like any other; its child runs under the one type that all
   of them share, and the definition of the run says which function it is. */
static hf_status function_find(hf_decide *decide, const hf_decision_row *row, hf_slice *out_name,
                               hf_decision_payload *out_input, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(decide->unit);
    hf_value value = NULL;
    hf_buf text = {0};
    hf_status st = hf_json_read(mem, row->value.bytes, NULL, &value, err);

    if (st)
        return st;
    *out_name = hf_slice_of(hf_str(value, "function", ""));
    hf_json_write(&text, hf_get(value, "arguments"));
    out_input->codec = HF_PAYLOAD_CODEC_JSON;
    out_input->bytes =
        hf_slice_from(hf_buf_ok(&text) ? hf_mem_text(mem, hf_buf_slice(&text)) : NULL, text.len);
    hf_buf_fini(&text);
    return out_input->bytes.ptr ? HF_OK : hf_err_nomem(err, "the arguments of a function");
}

/* A child that cannot be: the step fails on the record, and the code goes on with that. */
static void child_refuse(hf_decide *decide, const hf_decision_row *row, const hf_child_end *child,
                         const char *type, const char *message)
{
    hf_event_builder *events =
        hf_decide_event(decide, HF_EVENT_CHILD_WORKFLOW_SCHEDULED, row->step);

    hf_event_put_id(events, HF_KEY_CHILD_CALL_ID,
                    hf_ulid_form(child->call.call_us, child->call.call, 0));
    hf_event_put_text(events, HF_KEY_CHILD_WORKFLOW_INSTANCE_ID, child->id);
    hf_event_put_text(events, HF_KEY_CHILD_WORKFLOW_TYPE, child->type);
    hf_decide_groups(decide, row);
    events = hf_decide_event(decide, HF_EVENT_CHILD_RUN_FAILED, row->step);
    hf_event_put_id(events, HF_KEY_CHILD_CALL_ID,
                    hf_ulid_form(child->call.call_us, child->call.call, 0));
    hf_event_put_text(events, HF_KEY_FAILURE_CATEGORY,
                      hf_slice_of(hf_failure_category_text(HF_FAILURE_CATEGORY_CHILD_WORKFLOW)));
    hf_event_put_text(events, HF_KEY_EXCEPTION_TYPE, hf_slice_of(type));
    hf_event_put_text(events, HF_KEY_MESSAGE, hf_slice_of(message));
    decide->again = true;
}

static hf_decide_plan child_plan(const hf_decide *decide, const hf_decision_row *row,
                                 const hf_decide_type *type, const hf_child_end *child,
                                 int64_t first)
{
    const hf_decision_child *options = &row->child;
    hf_decide_plan plan = {.how = HF_UNIT_INSTANCE_CHILD,
                           .type = *type,
                           .input = &row->value,
                           .task = first + 2,
                           .command = first + 4,
                           .link = child->link,
                           .call = &child->call,
                           .parent_run = decide->run->base->run,
                           .continued_from = HF_NONE};

    plan.instance = (hf_instance_row){.key = first,
                                      .namespace_key = decide->run->namespace_key,
                                      .id = child->id,
                                      .shard = hf_shard_of(decide->run->namespace_key, child->id),
                                      .type = row->name,
                                      .current_run = child->run,
                                      .run_count = 1,
                                      .created_us = decide->now_us};
    plan.base = (hf_run_base){.run = child->run,
                              .instance = first,
                              .shard = plan.instance.shard,
                              .status = HF_RUN_STATUS_PENDING,
                              .closed_reason = HF_NONE,
                              .closed_us = HF_NONE};
    plan.run =
        (hf_run_row){.number = 1,
                     .created_us = decide->now_us,
                     .execution_deadline_us = deadline_make(
                         decide->now_us, options->execution_timeout_us, type->execution_timeout_us),
                     .run_deadline_us = deadline_make(decide->now_us, options->run_timeout_us,
                                                      type->run_timeout_us),
                     .queue = options->queue.ptr ? options->queue : decide->run->queue,
                     .definition = type->definition};
    return plan;
}

static void child_begin(hf_decide *decide, const hf_decision_row *row, const hf_decide_type *type,
                        const hf_child_end *child, int64_t first, const hf_decision_payload *input,
                        hf_slice policy)
{
    hf_decide_plan plan = child_plan(decide, row, type, child, first);
    const hf_link_row link = {.key = child->link,
                              .kind = HF_LINK_TYPE_CHILD_WORKFLOW,
                              .parent_run = decide->run->base->run,
                              .step = row->step,
                              .child_instance = first,
                              .child_run = child->run,
                              .policy = child->call.policy,
                              .created_us = decide->now_us,
                              .call = child->call.call,
                              .call_us = child->call.call_us,
                              .attempt = 1,
                              .max_attempts = child->call.max_attempts};
    hf_event_builder *events = child_event(decide, HF_EVENT_CHILD_WORKFLOW_SCHEDULED, child);

    hf_event_put_text(events, HF_KEY_PARENT_CLOSE_POLICY,
                      hf_slice_of(hf_parent_close_policy_text(child->call.policy)));
    if (policy.ptr)
        hf_event_put_json(events, HF_KEY_RETRY_POLICY, policy);
    hf_decide_groups(decide, row);
    hf_decide_child_started(decide, child);
    hf_decide_groups(decide, row);
    hf_decide_row(decide, hf_row_link_new(hf_unit_mem(decide->unit), &link));
    plan.input = input;
    plan.retry_policy = policy;
    (void)hf_decide_begin(decide, &plan);
}

static bool type_is_nobodys(const hf_decide_host *host, hf_slice type)
{
    return host->nobody && host->nobody(host->ctx, type);
}

hf_status hf_decide_child(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(decide->unit);
    hf_decide_type type = {.definition = HF_NONE};
    hf_decision_payload input = row->value;
    hf_slice code = row->name;
    hf_slice policy = {0};
    hf_child_end child = {.number = 1, .run_us = decide->now_us, .type = row->name};
    bool async = hf_slice_equal(row->name, HF_SLICE(HF_ASYNC_TYPE));
    bool taken = false;
    int64_t first = 0; /* instance, run, task, link, command */
    const char *refusal;
    bool known;
    hf_status st = hf_keys_take(decide->keys, 5, &first, err);

    if (!st)
        st = child_id(decide, row, &child.id, err);
    if (!st && async)
        st = function_find(decide, row, &code, &input, err);
    if (!st)
        st = retry_policy(decide, &row->child.retry, &policy, err);
    if (!st)
        st = id_take(decide, child.id, &taken, err);
    if (st)
        return st;
    child.run = first + 1;
    child.link = first + 3;
    child.call = (hf_child_call_info){.step = row->step,
                                      .policy = row->child.on_parent_close,
                                      .call = first + 3,
                                      .call_us = decide->now_us,
                                      .attempt = 1,
                                      .max_attempts = row->child.retry.max_attempts,
                                      .parent_us = decide->run->created_us,
                                      .parent_id = decide->run->instance_id};
    known = decide->host->workflow(decide->host->ctx, code, &type);
    refusal = taken                                 ? "child_id_taken"
              : known                               ? NULL
              : async                               ? "unknown_function"
              : type_is_nobodys(decide->host, code) ? "unknown_type"
                                                    : NULL;
    if (refusal) {
        char *message = taken ? hf_mem_format(mem, "an instance called %.*s exists already",
                                              (int)child.id.len, child.id.ptr)
                              : hf_mem_format(mem, "no %s called %.*s is registered",
                                              async ? "function" : "workflow or machine",
                                              (int)code.len, code.ptr);

        if (!message)
            return hf_err_nomem(err, "a refused child");
        child_refuse(decide, row, &child, refusal, message);
        return HF_OK;
    }
    child_begin(decide, row, &type, &child, first, &input, policy);
    return HF_OK;
}

/* ---- retrying */

/* What code raised by itself may be tried again; what the engine refused would be refused again. */
static bool failure_retryable(const hf_decision_failure *failure)
{
    return !failure->final &&
           (failure->retryable || failure->category == HF_FAILURE_CATEGORY_APPLICATION);
}

/* Whether another attempt follows, and after which pause. */
static hf_status retry_ask(hf_decide *decide, const hf_decision_failure *failure, bool *out_retry,
                           int64_t *out_pause_ms, hf_err *err)
{
    const hf_child_call_info *call = &decide->run->call;
    hf_retry_policy policy;
    hf_retry_end end = {.reported = call->attempt,
                        .failure_type = failure->type,
                        .non_retryable = !failure_retryable(failure)};
    hf_status st;

    *out_retry = false;
    *out_pause_ms = 0;
    if (decide->run->parent_run == HF_NONE || call->max_attempts == 0)
        return HF_OK;
    st = hf_policy_read(hf_unit_mem(decide->unit), decide->run->retry_policy, &policy, err);
    if (st)
        return st;
    policy.max_attempts = call->max_attempts < 0 ? 0 : call->max_attempts;
    *out_retry = hf_retry_allowed(&policy, &end);
    if (*out_retry && policy.backoff_count)
        *out_pause_ms = hf_retry_backoff_ms(&policy, call->attempt);
    return HF_OK;
}

hf_status hf_decide_retry(hf_decide *decide, const hf_decision_row *row, bool *out_retried,
                          hf_err *err)
{
    const hf_decide_run *old = decide->run;
    hf_child_call_info call = old->call;
    hf_decide_plan plan;
    int64_t first = 0; /* run, task */
    int64_t pause_ms;
    bool retry;
    hf_status st = retry_ask(decide, &row->failure, &retry, &pause_ms, err);

    *out_retried = false;
    if (st || !retry)
        return st;
    hf_decide_know(decide, HF_KNOW_INPUT);
    if (decide->failure.status)
        return hf_err_set(err, decide->failure.status, "%s", decide->failure.text);
    st = hf_keys_take(decide->keys, 2, &first, err);
    if (st)
        return st;
    call.attempt++;
    decide->retries = true;
    hf_decide_cancel_open(decide);
    (void)hf_decide_event(decide, HF_EVENT_WORKFLOW_FAILED, 0);
    hf_decide_failure(decide, &row->failure, row->failure.category);
    hf_decide_closed(decide, HF_RUN_STATUS_FAILED, HF_CLOSED_REASON_FAILED);
    hf_decide_relink(decide, first, call.attempt, pause_ms);
    plan = hf_decide_follow(decide, first, first + 1);
    plan.input = &old->input;
    plan.call = &call;
    plan.retries = true;
    if (pause_ms) {
        plan.available_us = decide->now_us + pause_ms * 1000;
        if (plan.run.run_deadline_us != HF_NONE) /* it counts from when the run may begin */
            plan.run.run_deadline_us += pause_ms * 1000;
    }
    (void)hf_decide_begin(decide, &plan);
    *out_retried = true;
    return HF_OK;
}

/* ---- the parent's end */

/* A child that closed in this very unit needs nothing any more. */
static bool child_is_over(hf_decide *decide, const hf_open_child *child)
{
    const hf_event_builder *events = hf_unit_events(decide->unit, 0);

    for (size_t i = 0; child->step != HF_NONE && i < events->count; i++)
        if (events->events[i].step == child->step &&
            (events->events[i].type == HF_EVENT_CHILD_RUN_COMPLETED ||
             events->events[i].type == HF_EVENT_CHILD_RUN_FAILED ||
             events->events[i].type == HF_EVENT_CHILD_RUN_CANCELLED ||
             events->events[i].type == HF_EVENT_CHILD_RUN_TERMINATED))
            return true;
    return false;
}

void hf_decide_close_children(hf_decide *decide, hf_closed_reason reason)
{
    hf_mem *mem = hf_unit_mem(decide->unit);

    for (size_t i = 0; i < decide->run->child_count; i++) {
        const hf_open_child *child = &decide->run->children[i];
        const char *policy = hf_parent_close_policy_text(child->policy);
        hf_event_builder *events;
        char *why;
        char *body;

        if (child->policy == HF_PARENT_CLOSE_ABANDON || child_is_over(decide, child))
            continue;
        why = hf_mem_format(mem, "parent %s: %s", hf_closed_reason_text(reason), policy);
        body =
            why ? hf_mem_format(mem, "{\"policy\":\"%s\",\"reason\":\"%s\"}", policy, why) : NULL;
        if (!body) {
            hf_unit_row(decide->unit, 0, NULL);
            return;
        }
        events = hf_decide_event(decide, HF_EVENT_PARENT_CLOSE_POLICY_APPLIED, 0);
        hf_event_put_text(events, HF_KEY_CHILD_INSTANCE_ID, child->id);
        hf_event_put_id(events, HF_KEY_CHILD_RUN_ID, hf_ulid_form(child->run_us, child->run, 0));
        hf_event_put_text(events, HF_KEY_POLICY, hf_slice_of(policy));
        hf_event_put_text(events, HF_KEY_REASON, hf_slice_of(why));
        hf_decide_tell(decide, HF_NONE, child->instance, child->run, HF_INBOX_PARENT_CLOSED,
                       decide->run->base->run, hf_slice_of(body));
    }
}

void hf_decide_keep_children(hf_decide *decide, int64_t next_run)
{
    for (size_t i = 0; i < decide->run->child_count; i++) {
        const hf_open_child *child = &decide->run->children[i];
        hf_link_row link = {.kind = HF_LINK_TYPE_CHILD_WORKFLOW,
                            .parent_run = next_run,
                            .step = HF_NONE,
                            .child_instance = child->instance,
                            .child_run = child->run,
                            .policy = child->policy,
                            .created_us = decide->now_us,
                            .call = child->call,
                            .call_us = child->call_us,
                            .attempt = 1};

        if (child->policy == HF_PARENT_CLOSE_ABANDON || child_is_over(decide, child))
            continue;
        if (!hf_decide_keys(decide, 1, &link.key))
            return;
        hf_decide_row(decide, hf_row_link_new(hf_unit_mem(decide->unit), &link));
    }
}

hf_status hf_decide_parent_closed(hf_decide *decide, int64_t parent, hf_slice body, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(decide->unit);
    hf_value value = NULL;
    hf_command_row row = {.instance = decide->run->base->instance,
                          .run = decide->run->base->run,
                          .status = HF_COMMAND_STATUS_ACCEPTED,
                          .rejection = HF_NONE,
                          .scope = HF_TARGET_SCOPE_INSTANCE,
                          .source = HF_COMMAND_SOURCE_WORKFLOW,
                          .message_ahead = HF_NONE,
                          .state = HF_NONE,
                          .recorded_us = decide->now_us,
                          .applied_us = decide->now_us,
                          .closed_us = decide->now_us,
                          .body = body};
    bool terminate;
    hf_status st = hf_json_read(mem, body, NULL, &value, err);

    (void)parent;
    if (!st)
        st = hf_decide_key(decide, &row.key, err);
    if (st)
        return st;
    terminate = strcmp(hf_str(value, "policy", ""),
                       hf_parent_close_policy_text(HF_PARENT_CLOSE_TERMINATE)) == 0;
    row.type = terminate ? HF_COMMAND_TYPE_TERMINATE : HF_COMMAND_TYPE_CANCEL;
    row.outcome = terminate ? HF_CMD_OUTCOME_TERMINATED : HF_CMD_OUTCOME_CANCELLED;
    row.command_ahead = ++decide->commands;
    hf_decide_row(decide, hf_row_command_new(mem, &row));
    hf_decide_stop(decide, terminate, row.key, hf_slice_of(hf_str(value, "reason", "")));
    return HF_OK;
}
