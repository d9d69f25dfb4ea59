/* compose_key.c: the values of an event's published keys that are not stored with it. One function
   per key that has to be made up, found through a table; a key without one is looked for in the
   earlier events of the same step or message. */
#include "project/compose_impl.h"
#include "project/edge.h"

typedef hf_compose_view view;

/* NULL: see view.st, or no memory. */
typedef hf_value compose_fn(view *v, hf_event_key key);

static hf_value keep(view *v, hf_status st, hf_value value)
{
    if (!st)
        return value;
    v->st = st;
    return NULL;
}

/* What an event says under a key, in the words of this view. */
static hf_value said(view *v, const hf_event *event, hf_event_key key)
{
    hf_value value = NULL;
    hf_status st = hf_compose_field(v->c, event, key, &value, v->err);

    return keep(v, st, value);
}

/* ---- the run */

static hf_value of_instance(view *v, hf_event_key key)
{
    (void)key;
    return v->c->kept->instance_id;
}

static hf_value of_run(view *v, hf_event_key key)
{
    (void)key;
    return v->c->kept->run_id;
}

static hf_value of_type(view *v, hf_event_key key)
{
    (void)key;
    return v->c->kept->type;
}

static hf_value of_business_key(view *v, hf_event_key key)
{
    (void)key;
    return hf_edge_text(v->c->mem, v->c->run->business_key);
}

static hf_value of_parent(view *v, hf_event_key key)
{
    const hf_compose_run *run = v->c->run;

    if (!run->parent_instance_id.ptr)
        return hf_value_null();
    if (key == HF_KEY_PARENT_WORKFLOW_INSTANCE_ID)
        return hf_edge_text(v->c->mem, run->parent_instance_id);
    if (key == HF_KEY_PARENT_WORKFLOW_RUN_ID)
        return hf_edge_id(v->c->mem, &run->parent_run_id);
    return hf_value_int(v->c->mem, run->parent_step);
}

static hf_value of_task(view *v, hf_event_key key)
{
    (void)key;
    return v->task ? hf_edge_id(v->c->mem, v->task) : hf_value_null();
}

static hf_value of_command(view *v, hf_event_key key)
{
    return v->message ? said(v, v->message->came, key) : hf_value_null();
}

static hf_value of_archive_command(view *v, hf_event_key key)
{
    (void)key;
    return said(v, v->event, HF_KEY_WORKFLOW_COMMAND_ID);
}

static hf_value of_empty(view *v, hf_event_key key)
{
    (void)key;
    return hf_value_finish(hf_value_object(v->c->mem));
}

static hf_value of_started(view *v, hf_event_key key)
{
    return said(v, v->c->started, key);
}

/* Timeouts are stored as the deadlines they lead to. */
static hf_value of_timeout(view *v, hf_event_key key)
{
    int64_t deadline_us = 0;

    if (v->event->type != HF_EVENT_WORKFLOW_STARTED ||
        !hf_event_time(v->event,
                       key == HF_KEY_RUN_TIMEOUT_SECONDS ? HF_KEY_RUN_DEADLINE_AT
                                                         : HF_KEY_EXECUTION_DEADLINE_AT,
                       &deadline_us))
        return hf_value_null();
    return hf_value_int(v->c->mem, (deadline_us - v->event->time_us + 999999) / 1000000);
}

static hf_value of_declared(view *v, hf_event_key key)
{
    const hf_definition_snapshot *definition = v->c->run->definition;
    hf_slice json = {0};
    hf_value value = NULL;
    hf_status st;

    if (!definition)
        return hf_value_null();
    if (key == HF_KEY_DECLARED_QUERIES)
        json = definition->queries.names;
    else if (key == HF_KEY_DECLARED_QUERY_CONTRACTS)
        json = definition->queries.contracts;
    else if (key == HF_KEY_DECLARED_SIGNALS)
        json = definition->signals.names;
    else if (key == HF_KEY_DECLARED_SIGNAL_CONTRACTS)
        json = definition->signals.contracts;
    else if (key == HF_KEY_DECLARED_UPDATES)
        json = definition->updates.names;
    else if (key == HF_KEY_DECLARED_UPDATE_CONTRACTS)
        json = definition->updates.contracts;
    st = hf_edge_json(v->c->mem, json, &value, v->err);
    return keep(v, st, value);
}

static hf_value of_entry(view *v, hf_event_key key)
{
    if (!v->c->run->definition)
        return hf_value_null();
    if (key == HF_KEY_DECLARED_ENTRY_DECLARING_CLASS)
        return of_type(v, key);
    return hf_value_string(v->c->mem, key == HF_KEY_DECLARED_ENTRY_MODE
                                          ? hf_slice_of(hf_entry_mode_text(HF_ENTRY_MODE_CANONICAL))
                                          : HF_SLICE("run"));
}

static hf_value of_next_number(view *v, hf_event_key key)
{
    (void)key;
    return hf_value_int(v->c->mem, v->c->run->number + 1);
}

static hf_value of_command_type(view *v, hf_event_key key)
{
    (void)key;
    switch ((int)v->event->type) {
    case HF_EVENT_CANCEL_REQUESTED:
        return hf_value_string(v->c->mem, HF_SLICE("cancel"));
    case HF_EVENT_TERMINATE_REQUESTED:
        return hf_value_string(v->c->mem, HF_SLICE("terminate"));
    case HF_EVENT_ARCHIVE_REQUESTED:
        return hf_value_string(v->c->mem, HF_SLICE("archive"));
    case HF_EVENT_REPAIR_REQUESTED:
        return hf_value_string(v->c->mem, HF_SLICE("repair"));
    default:
        return hf_value_null();
    }
}

static hf_value of_stream(view *v, hf_event_key key)
{
    const char *text = hf_mem_format(v->c->mem, "instance:%.*s", (int)v->c->run->instance_id.len,
                                     v->c->run->instance_id.ptr);

    (void)key;
    return text ? hf_value_string(v->c->mem, hf_slice_of(text)) : NULL;
}

/* Only the run's own messages are counted here; other streams say where they were. */
static hf_value of_position(view *v, hf_event_key key)
{
    (void)key;
    return hf_compose_find(v->event, HF_KEY_STREAM_KEY) ? hf_value_null()
                                                        : hf_value_int(v->c->mem, v->c->cursor);
}

static hf_value of_merged(view *v, hf_event_key key)
{
    (void)key;
    return v->event->type == HF_EVENT_MEMO_UPSERTED ? v->c->memo : v->c->attributes;
}

/* ---- steps */

static hf_value of_execution(view *v, hf_event_key key)
{
    (void)key;
    return v->step && v->step->opened ? hf_edge_id(v->c->mem, &v->step->id) : hf_value_null();
}

static hf_value of_activity_class(view *v, hf_event_key key)
{
    (void)key;
    return v->step ? said(v, v->step->opened, HF_KEY_ACTIVITY_TYPE) : hf_value_null();
}

static hf_value of_attempt_id(view *v, hf_event_key key)
{
    hf_ulid id;

    (void)key;
    if (!v->step || !v->step->attempt)
        return hf_value_null();
    id = hf_track_attempt_id(v->step, v->step->attempt->number);
    return hf_edge_id(v->c->mem, &id);
}

static hf_value of_attempt_number(view *v, hf_event_key key)
{
    (void)key;
    return v->step && v->step->attempt ? hf_value_int(v->c->mem, v->step->attempt->number)
                                       : hf_value_null();
}

static hf_value of_lease(view *v, hf_event_key key)
{
    (void)key;
    return v->step && v->step->attempt ? hf_edge_time(v->c->mem, v->step->attempt->lease_us)
                                       : hf_value_null();
}

static hf_value of_activity(view *v, hf_event_key key)
{
    hf_value value = NULL;
    hf_status st;

    (void)key;
    if (!v->step)
        return hf_value_null();
    st = hf_compose_activity(v->c, v->step, &value, v->err);
    return keep(v, st, value);
}

static hf_value of_attempt(view *v, hf_event_key key)
{
    (void)key;
    return v->step && v->step->attempt ? hf_compose_attempt(v->c, v->step, v->step->attempt)
                                       : hf_value_null();
}

static hf_value of_local(view *v, hf_event_key key)
{
    bool local = false;

    if (v->step && v->step->opened)
        (void)hf_event_bool(v->step->opened, key, &local);
    return hf_value_bool(local);
}

static hf_value of_backoff(view *v, hf_event_key key)
{
    int64_t until_us = 0;

    if (v->event->type == HF_EVENT_CHILD_RUN_STARTED)
        return said(v, v->event, key);
    if (v->event->type != HF_EVENT_ACTIVITY_RETRY_SCHEDULED ||
        !hf_event_time(v->event, HF_KEY_RETRY_AVAILABLE_AT, &until_us))
        return hf_value_null();
    return hf_value_int(v->c->mem, (until_us - v->event->time_us + 999999) / 1000000);
}

static hf_value of_retry_reason(view *v, hf_event_key key)
{
    (void)key;
    return hf_value_string(v->c->mem, hf_compose_find(v->event, HF_KEY_TIMEOUT_KIND)
                                          ? HF_SLICE("timeout")
                                          : HF_SLICE("failure"));
}

/* Children have policies of their own, which are shown as they are stored. */
static hf_value of_policy(view *v, hf_event_key key)
{
    hf_value policy = NULL;
    hf_status st;

    if (v->event->type == HF_EVENT_WORKFLOW_STARTED)
        return said(v, v->event, key);
    if (!v->step || !v->step->opened || v->step->opened->type != HF_EVENT_ACTIVITY_SCHEDULED)
        return v->step ? said(v, v->step->opened, key) : hf_value_null();
    st = hf_compose_policy(v->c, v->step, &policy, v->err);
    return keep(v, st, policy);
}

static hf_value of_max_attempts(view *v, hf_event_key key)
{
    hf_value policy = of_policy(v, key);

    hf_value found = hf_value_find(policy, HF_SLICE("max_attempts"));

    if (!policy)
        return NULL;
    return found ? found : hf_value_null();
}

static hf_value of_timer(view *v, hf_event_key key)
{
    (void)key;
    return v->step && v->step->timer_set ? hf_edge_id(v->c->mem, &v->step->timer_id)
                                         : hf_value_null();
}

static hf_value of_now(view *v, hf_event_key key)
{
    (void)key;
    return hf_edge_time(v->c->mem, v->event->time_us);
}

static hf_value of_condition_wait(view *v, hf_event_key key)
{
    (void)key;
    return v->step && v->step->opened && v->step->opened->type == HF_EVENT_CONDITION_WAIT_OPENED
               ? hf_edge_id(v->c->mem, &v->step->id)
               : hf_value_null();
}

static hf_value of_signal_wait(view *v, hf_event_key key)
{
    (void)key;
    if (v->event->type != HF_EVENT_SIGNAL_RECEIVED && v->step && v->step->wait_id.ptr)
        return hf_edge_text(v->c->mem, v->step->wait_id);
    return v->message ? hf_edge_text(v->c->mem, v->message->wait_id) : hf_value_null();
}

static hf_value of_child_class(view *v, hf_event_key key)
{
    (void)key;
    return v->step ? said(v, v->step->opened, HF_KEY_CHILD_WORKFLOW_TYPE) : hf_value_null();
}

static hf_value of_child_status(view *v, hf_event_key key)
{
    const char *text = NULL;

    (void)key;
    switch ((int)v->event->type) {
    case HF_EVENT_CHILD_RUN_STARTED:
        text = "pending";
        break;
    case HF_EVENT_CHILD_RUN_COMPLETED:
        text = "completed";
        break;
    case HF_EVENT_CHILD_RUN_FAILED:
        text = "failed";
        break;
    case HF_EVENT_CHILD_RUN_CANCELLED:
        text = "cancelled";
        break;
    case HF_EVENT_CHILD_RUN_TERMINATED:
        text = "terminated";
        break;
    default:
        break;
    }
    return hf_edge_text(v->c->mem, text ? hf_slice_of(text) : (hf_slice){0});
}

static hf_value of_closed_reason(view *v, hf_event_key key)
{
    if (v->event->type == HF_EVENT_WORKFLOW_CANCELLED)
        return hf_value_string(v->c->mem, HF_SLICE("cancelled"));
    if (v->event->type == HF_EVENT_WORKFLOW_TERMINATED)
        return hf_value_string(v->c->mem, HF_SLICE("terminated"));
    return of_child_status(v, key);
}

static hf_value of_close_policy(view *v, hf_event_key key)
{
    hf_value value = v->step ? said(v, v->step->opened, key) : hf_value_null();

    if (value && hf_value_kind_of(value) == HF_VALUE_NULL)
        return hf_value_string(v->c->mem,
                               hf_slice_of(hf_parent_close_policy_text(HF_PARENT_CLOSE_ABANDON)));
    return value;
}

static hf_value of_link(view *v, hf_event_key key)
{
    return v->step && v->step->opened && v->step->opened->type == HF_EVENT_CHILD_WORKFLOW_SCHEDULED
               ? of_execution(v, key)
               : hf_value_null();
}

/* ---- values and failures */

static hf_value of_codec(view *v, hf_event_key key)
{
    (void)key;
    for (size_t i = 0; i < v->event->count; i++)
        if (hf_event_key_kind(v->event->fields[i].key) == HF_VALUE_KIND_PAYLOAD)
            return hf_value_string(v->c->mem, HF_SLICE("avro"));
    return hf_value_null();
}

/* A child's result has two names. */
static hf_value of_child_value(view *v, hf_event_key key)
{
    if (v->event->type != HF_EVENT_CHILD_RUN_COMPLETED)
        return hf_value_null();
    return said(v, v->event, key == HF_KEY_RESULT ? HF_KEY_OUTPUT : HF_KEY_RESULT);
}

static hf_value of_failure(view *v, hf_event_key key)
{
    hf_ulid id = hf_track_event_id(v->c->track, v->event, v->seq);
    hf_slice message;

    (void)key;
    if (v->event->type == HF_EVENT_FAILURE_HANDLED)
        return v->step && v->step->failure ? hf_edge_id(v->c->mem, &v->step->failure->id)
                                           : hf_value_null();
    if (v->event->type == HF_EVENT_UPDATE_COMPLETED &&
        !hf_event_text(v->event, HF_KEY_MESSAGE, &message))
        return hf_value_null();
    return hf_edge_id(v->c->mem, &id);
}

static hf_value of_exception_class(view *v, hf_event_key key)
{
    const hf_event *event = v->event;

    (void)key;
    if (event->type == HF_EVENT_FAILURE_HANDLED && !hf_compose_find(event, HF_KEY_EXCEPTION_TYPE) &&
        v->step && v->step->failure)
        event = v->step->failure->event;
    return said(v, event, HF_KEY_EXCEPTION_TYPE);
}

static hf_value of_source_kind(view *v, hf_event_key key)
{
    hf_failure_source_kind kind = HF_FAILURE_SOURCE_KIND_WORKFLOW_RUN;

    (void)key;
    if (v->event->type == HF_EVENT_FAILURE_HANDLED) {
        if (!v->step || !v->step->failure)
            return hf_value_null();
        kind = v->step->failure->source;
    }
    return hf_value_string(v->c->mem, hf_slice_of(hf_failure_source_kind_text(kind)));
}

static hf_value of_source(view *v, hf_event_key key)
{
    if (v->event->type != HF_EVENT_FAILURE_HANDLED)
        return of_run(v, key);
    if (!v->step || !v->step->failure)
        return hf_value_null();
    if (v->step->failure->source == HF_FAILURE_SOURCE_KIND_CHILD_WORKFLOW_RUN)
        return said(v, v->step->opened, HF_KEY_CHILD_WORKFLOW_RUN_ID);
    return of_execution(v, key);
}

static hf_value of_propagation(view *v, hf_event_key key)
{
    (void)key;
    if (!v->step || !v->step->failure)
        return hf_value_null();
    return hf_value_string(v->c->mem,
                           hf_slice_of(hf_propagation_kind_text(v->step->failure->propagation)));
}

static compose_fn *const compose_table[] = {
    [HF_KEY_WORKFLOW_COMMAND_ID] = of_command,
    [HF_KEY_WORKFLOW_INSTANCE_ID] = of_instance,
    [HF_KEY_WORKFLOW_RUN_ID] = of_run,
    [HF_KEY_WORKFLOW_TASK_ID] = of_task,
    [HF_KEY_WORKFLOW_TYPE] = of_type,
    [HF_KEY_WORKFLOW_CLASS] = of_type,
    [HF_KEY_ACTIVITY_EXECUTION_ID] = of_execution,
    [HF_KEY_ACTIVITY_ATTEMPT_ID] = of_attempt_id,
    [HF_KEY_RETRY_AFTER_ATTEMPT_ID] = of_attempt_id,
    [HF_KEY_ACTIVITY_CLASS] = of_activity_class,
    [HF_KEY_ATTEMPT_NUMBER] = of_attempt_number,
    [HF_KEY_RESULT] = of_child_value,
    [HF_KEY_OUTPUT] = of_child_value,
    [HF_KEY_PAYLOAD_CODEC] = of_codec,
    [HF_KEY_LEASE_EXPIRES_AT] = of_lease,
    [HF_KEY_TIMER_ID] = of_timer,
    [HF_KEY_FIRED_AT] = of_now,
    [HF_KEY_CANCELLED_AT] = of_now,
    [HF_KEY_HEARTBEAT_AT] = of_now,
    [HF_KEY_SIGNAL_WAIT_ID] = of_signal_wait,
    [HF_KEY_CONDITION_WAIT_ID] = of_condition_wait,
    [HF_KEY_FAILURE_ID] = of_failure,
    [HF_KEY_EXCEPTION_CLASS] = of_exception_class,
    [HF_KEY_RETRY_BACKOFF_SECONDS] = of_backoff,
    [HF_KEY_RETRY_REASON] = of_retry_reason,
    [HF_KEY_MAX_ATTEMPTS] = of_max_attempts,
    [HF_KEY_RETRY_POLICY] = of_policy,
    [HF_KEY_WORKFLOW_LINK_ID] = of_link,
    [HF_KEY_CHILD_CALL_ID] = of_link,
    [HF_KEY_CHILD_WORKFLOW_CLASS] = of_child_class,
    [HF_KEY_CHILD_STATUS] = of_child_status,
    [HF_KEY_CLOSED_REASON] = of_closed_reason,
    [HF_KEY_PARENT_CLOSE_POLICY] = of_close_policy,
    [HF_KEY_STREAM_KEY] = of_stream,
    [HF_KEY_PREVIOUS_POSITION] = of_position,
    [HF_KEY_COMMAND_TYPE] = of_command_type,
    [HF_KEY_BUSINESS_KEY] = of_business_key,
    [HF_KEY_PARENT_WORKFLOW_INSTANCE_ID] = of_parent,
    [HF_KEY_PARENT_WORKFLOW_RUN_ID] = of_parent,
    [HF_KEY_PARENT_SEQUENCE] = of_parent,
    [HF_KEY_VISIBILITY_LABELS] = of_empty,
    [HF_KEY_MEMO] = of_empty,
    [HF_KEY_SEARCH_ATTRIBUTES] = of_empty,
    [HF_KEY_MERGED] = of_merged,
    [HF_KEY_EXECUTION_TIMEOUT_SECONDS] = of_timeout,
    [HF_KEY_RUN_TIMEOUT_SECONDS] = of_timeout,
    [HF_KEY_EXECUTION_DEADLINE_AT] = of_started,
    [HF_KEY_RUN_DEADLINE_AT] = of_started,
    [HF_KEY_CONTINUED_TO_RUN_NUMBER] = of_next_number,
    [HF_KEY_SOURCE_KIND] = of_source_kind,
    [HF_KEY_SOURCE_ID] = of_source,
    [HF_KEY_PROPAGATION_KIND] = of_propagation,
    [HF_KEY_ARCHIVE_COMMAND_ID] = of_archive_command,
    [HF_KEY_LOCAL_ACTIVITY] = of_local,
    [HF_KEY_ACTIVITY] = of_activity,
    [HF_KEY_ACTIVITY_ATTEMPT] = of_attempt,
    [HF_KEY_DECLARED_QUERIES] = of_declared,
    [HF_KEY_DECLARED_QUERY_CONTRACTS] = of_declared,
    [HF_KEY_DECLARED_SIGNALS] = of_declared,
    [HF_KEY_DECLARED_SIGNAL_CONTRACTS] = of_declared,
    [HF_KEY_DECLARED_UPDATES] = of_declared,
    [HF_KEY_DECLARED_UPDATE_CONTRACTS] = of_declared,
    [HF_KEY_DECLARED_ENTRY_METHOD] = of_entry,
    [HF_KEY_DECLARED_ENTRY_MODE] = of_entry,
    [HF_KEY_DECLARED_ENTRY_DECLARING_CLASS] = of_entry,
};

/* What an earlier event of the same step or message says. */
static hf_value inherited(view *v, hf_event_key key)
{
    const hf_event *sources[5] = {NULL};

    if (v->step) {
        sources[0] = v->step->timer_set;
        sources[1] = v->step->opened;
        sources[2] = v->step->child_started;
        if (v->event->type == HF_EVENT_FAILURE_HANDLED && v->step->failure)
            sources[3] = v->step->failure->event;
    }
    if (v->message)
        sources[4] = v->message->came;
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
        if (sources[i] && sources[i] != v->event && hf_compose_find(sources[i], key))
            return said(v, sources[i], key);
    return hf_value_null();
}

hf_value hf_compose_key(hf_compose_view *v, hf_event_key key)
{
    if (key == HF_KEY_SEQUENCE)
        return v->event->step ? hf_value_int(v->c->mem, v->event->step) : hf_value_null();
    if (hf_compose_find(v->event, key))
        return said(v, v->event, key);
    if ((size_t)key < sizeof(compose_table) / sizeof(compose_table[0]) && compose_table[key])
        return compose_table[key](v, key);
    return inherited(v, key);
}
