/* steps.c: see steps.h. The rules of waking and using up stand here and nowhere else: a park wakes
   for a signal of an awaited name that the parking step was not handed; what goes on uses up
   exactly what the step was handed; everything follows from the events alone, so that whoever
   commits second, delivery or park, sees the other. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/value.h"
#include "replay/steps_impl.h"

static char *text_keep(hf_slice text)
{
    char *copy = hf_alloc(text.len + 1);

    if (copy && text.len)
        memcpy(copy, text.ptr, text.len);
    return copy;
}

static void names_free(hf_steps *steps)
{
    for (size_t i = 0; i < steps->name_count; i++)
        hf_alloc_free(steps->names[i]);
    hf_alloc_free(steps->names);
    steps->names = NULL;
    steps->name_count = 0;
}

static void signal_free(steps_signal *signal)
{
    hf_alloc_free(signal->name);
    hf_stored_fini(&signal->arguments);
    hf_alloc_free(signal);
}

static void child_free(steps_child *child)
{
    hf_alloc_free(child->id);
    hf_alloc_free(child->type);
    hf_alloc_free(child->failure_type);
    hf_alloc_free(child->message);
    hf_stored_fini(&child->result);
    hf_alloc_free(child);
}

hf_steps *hf_steps_new(const hf_machine_def *machine)
{
    hf_steps *steps = hf_alloc(sizeof(*steps));

    if (!steps)
        return NULL;
    steps->machine = machine;
    steps->inbox_end = &steps->inbox;
    steps->children_end = &steps->children;
    return steps;
}

static void inbox_clear(hf_steps *steps)
{
    while (steps->inbox) {
        steps_signal *signal = steps->inbox;

        steps->inbox = signal->next;
        signal_free(signal);
    }
    steps->inbox_end = &steps->inbox;
}

void hf_steps_free(hf_steps *steps)
{
    if (!steps)
        return;
    inbox_clear(steps);
    while (steps->children) {
        steps_child *child = steps->children;

        steps->children = child->next;
        child_free(child);
    }
    names_free(steps);
    hf_alloc_free(steps->name);
    hf_alloc_free(steps->concurrency_key);
    hf_alloc_free(steps->rate_limit);
    hf_stored_fini(&steps->state);
    hf_alloc_free(steps);
}

/* ---- the inbox */

bool hf_steps_awaited(const hf_steps *steps, const char *name)
{
    for (size_t i = 0; i < steps->name_count; i++)
        if (strcmp(steps->names[i], name) == 0)
            return true;
    return false;
}

static void signal_wake(hf_steps *steps, const steps_signal *signal)
{
    if (steps->mode == STEPS_PARKED && !signal->presented && hf_steps_awaited(steps, signal->name))
        steps->mode = STEPS_READY;
}

static hf_status signal_add(hf_steps *steps, const hf_event *event, int64_t seq, hf_err *err)
{
    steps_signal *signal = hf_alloc(sizeof(*signal));
    hf_slice name = {0};
    hf_ulid id = {0};

    (void)hf_event_text(event, HF_KEY_SIGNAL_NAME, &name);
    if (signal)
        signal->name = text_keep(name);
    if (!signal || !signal->name || !hf_stored_take(event, HF_KEY_ARGUMENTS, &signal->arguments)) {
        if (signal)
            signal_free(signal);
        return hf_err_nomem(err, "a signal");
    }
    if (!hf_event_id(event, HF_KEY_SIGNAL_ID, &id))
        (void)hf_event_id(event, HF_KEY_WORKFLOW_COMMAND_ID, &id);
    hf_ulid_print(&id, signal->id);
    signal->seq = seq;
    steps->held += sizeof(*signal) + name.len + signal->arguments.len;
    *steps->inbox_end = signal;
    steps->inbox_end = &signal->next;
    signal_wake(steps, signal);
    return HF_OK;
}

static bool ids_have(hf_value ids, const char *id)
{
    for (size_t i = 0; i < hf_len(ids); i++)
        if (strcmp(hf_str(hf_at(ids, i), "", ""), id) == 0)
            return true;
    return false;
}

static void signals_use_up(hf_steps *steps, hf_value ids)
{
    steps_signal **at = &steps->inbox;

    while (*at) {
        steps_signal *signal = *at;

        if (ids_have(ids, signal->id)) {
            *at = signal->next;
            steps->held -= sizeof(*signal) + strlen(signal->name) + signal->arguments.len;
            signal_free(signal);
        } else {
            at = &signal->next;
        }
    }
    steps->inbox_end = at;
}

/* ---- steps */

static hf_status list_read(hf_mem *mem, const hf_event *event, hf_event_key key, hf_value *out_list,
                           hf_err *err)
{
    hf_slice json;

    *out_list = NULL;
    return hf_event_json(event, key, &json) ? hf_json_read(mem, json, NULL, out_list, err) : HF_OK;
}

static hf_status name_move(hf_steps *steps, const hf_event *event, hf_event_key key, int64_t seq,
                           hf_err *err)
{
    hf_slice next;
    char *name;

    if (!hf_event_text(event, key, &next))
        return hf_err_set(err, HF_CORRUPT, "event %lld says no step", (long long)seq);
    name = text_keep(next);
    if (!name)
        return hf_err_nomem(err, "a step");
    hf_alloc_free(steps->name);
    steps->name = name;
    return HF_OK;
}

static hf_status names_take(hf_steps *steps, hf_value names, hf_err *err)
{
    size_t count = hf_len(names);

    names_free(steps);
    steps->names = hf_alloc((count + 1) * sizeof(*steps->names));
    if (!steps->names)
        return hf_err_nomem(err, "awaited names");
    for (size_t i = 0; i < count; i++) {
        steps->names[i] = text_keep(hf_value_slice(hf_at(names, i)));
        if (!steps->names[i])
            return hf_err_nomem(err, "awaited names");
        steps->name_count++;
    }
    return HF_OK;
}

/* What the next step must have before it begins. The key stays until another is named, the rate
   limit is for one step and its repetitions. */
static hf_status limits_take(hf_steps *steps, const hf_event *event, hf_err *err)
{
    hf_slice text;

    hf_alloc_free(steps->rate_limit);
    steps->rate_limit = NULL;
    steps->weight = 1;
    (void)hf_event_int(event, HF_KEY_WEIGHT, &steps->weight);
    if (hf_event_text(event, HF_KEY_RATE_LIMIT, &text) && !(steps->rate_limit = text_keep(text)))
        return hf_err_nomem(err, "a limit");
    if (!hf_event_text(event, HF_KEY_CONCURRENCY_KEY, &text))
        return HF_OK;
    hf_alloc_free(steps->concurrency_key);
    steps->concurrency_key = text_keep(text);
    return steps->concurrency_key ? HF_OK : hf_err_nomem(err, "a limit");
}

/* The machine moved to another step: attempts count anew. */
static void step_enter(hf_steps *steps)
{
    steps->attempt = 1;
    steps->entry = steps->last + 1;
    steps->available_us = 0;
    steps->failed = false;
    steps->timed_out = false;
}

static hf_status park_take(hf_steps *steps, hf_mem *mem, const hf_event *event, hf_err *err)
{
    hf_value names = NULL;
    hf_value presented = NULL;
    hf_status st = list_read(mem, event, HF_KEY_AWAITED_NAMES, &names, err);

    if (!st)
        st = list_read(mem, event, HF_KEY_PRESENTED_SIGNALS, &presented, err);
    if (!st)
        st = names_take(steps, names, err);
    if (st)
        return st;
    steps->mode = STEPS_PARKED;
    steps->park = event->step;
    for (steps_signal *signal = steps->inbox; signal; signal = signal->next) {
        signal->presented = ids_have(presented, signal->id);
        signal_wake(steps, signal);
    }
    return HF_OK;
}

static hf_status step_apply(hf_steps *steps, hf_mem *mem, const hf_event *event, int64_t seq,
                            hf_err *err)
{
    hf_step_outcome outcome = HF_STEP_OUTCOME_NEXT;
    hf_value consumed = NULL;
    hf_slice text;
    hf_status st;

    if (!hf_event_text(event, HF_KEY_OUTCOME, &text) || !hf_step_outcome_parse(text, &outcome))
        return hf_err_set(err, HF_CORRUPT, "event %lld says no outcome of a step", (long long)seq);
    steps->last = event->step;
    steps->park = outcome == HF_STEP_OUTCOME_AGAIN ? steps->park : 0;
    st = list_read(mem, event, HF_KEY_CONSUMED_SIGNALS, &consumed, err);
    if (!st && !hf_stored_take(event, HF_KEY_STATE, &steps->state))
        st = hf_err_nomem(err, "a state");
    if (st)
        return st;
    signals_use_up(steps, consumed);
    if (outcome != HF_STEP_OUTCOME_AGAIN)
        st = limits_take(steps, event, err);
    if (st)
        return st;
    steps->mode = STEPS_READY;
    switch (outcome) {
    case HF_STEP_OUTCOME_AGAIN:
        (void)hf_event_int(event, HF_KEY_ATTEMPT_NUMBER, &steps->attempt);
        steps->attempt++;
        steps->available_us = event->time_us;
        steps->failed = hf_event_text(event, HF_KEY_EXCEPTION_TYPE, &text);
        (void)hf_event_time(event, HF_KEY_RETRY_AVAILABLE_AT, &steps->available_us);
        return steps->name ? HF_OK : name_move(steps, event, HF_KEY_STEP_NAME, seq, err);
    case HF_STEP_OUTCOME_DONE:
    case HF_STEP_OUTCOME_STOP:
        return HF_OK;
    case HF_STEP_OUTCOME_PARK:
        step_enter(steps);
        st = name_move(steps, event, HF_KEY_NEXT_STEP, seq, err);
        return st ? st : park_take(steps, mem, event, err);
    case HF_STEP_OUTCOME_FAN_OUT:
        steps->mode = STEPS_JOINING;
        break;
    case HF_STEP_OUTCOME_NEXT:
        break;
    }
    step_enter(steps);
    names_free(steps);
    return name_move(steps, event, HF_KEY_NEXT_STEP, seq, err);
}

static hf_status step_take(hf_steps *steps, const hf_event *event, int64_t seq, hf_err *err)
{
    hf_mem *mem = hf_mem_new();
    hf_status st = mem ? step_apply(steps, mem, event, seq, err) : hf_err_nomem(err, "a step");

    hf_mem_free(mem);
    return st;
}

static hf_status start_take(hf_steps *steps, const hf_event *event, hf_err *err)
{
    const hf_machine_def *machine = steps->machine;

    if (machine)
        steps->name = text_keep(hf_slice_of(machine->job ? "job" : machine->initial));
    steps->priority = HF_STEP_PRIORITY;
    (void)hf_event_int(event, HF_KEY_PRIORITY, &steps->priority);
    if ((machine && !steps->name) || limits_take(steps, event, err) ||
        !hf_stored_take(event, HF_KEY_ARGUMENTS, &steps->state))
        return hf_err_nomem(err, "a machine");
    steps->mode = STEPS_READY;
    step_enter(steps);
    (void)hf_event_time(event, HF_KEY_AVAILABLE_AT, &steps->available_us);
    return HF_OK;
}

/* ---- children */

static hf_status child_add(hf_steps *steps, const hf_event *event, hf_err *err)
{
    steps_child *child = hf_alloc(sizeof(*child));
    hf_slice id = {0};
    hf_slice type = {0};

    (void)hf_event_text(event, HF_KEY_CHILD_WORKFLOW_INSTANCE_ID, &id);
    (void)hf_event_text(event, HF_KEY_CHILD_WORKFLOW_TYPE, &type);
    if (child) {
        child->id = text_keep(id);
        child->type = text_keep(type);
    }
    if (!child || !child->id || !child->type) {
        if (child)
            child_free(child);
        return hf_err_nomem(err, "a child");
    }
    child->step = event->step;
    child->status = "running";
    child->open = true;
    steps->last = event->step > steps->last ? event->step : steps->last;
    steps->children_open++;
    steps->held += sizeof(*child) + id.len + type.len;
    *steps->children_end = child;
    steps->children_end = &child->next;
    return HF_OK;
}

static hf_status child_end(hf_steps *steps, const hf_event *event, hf_err *err)
{
    steps_child *child = steps->children;
    hf_slice text;

    while (child && child->step != event->step)
        child = child->next;
    if (!child || !child->open)
        return hf_err_set(err, HF_CORRUPT, "step %lld is no open child", (long long)event->step);
    child->open = false;
    steps->children_open--;
    child->status = event->type == HF_EVENT_CHILD_RUN_COMPLETED   ? "completed"
                    : event->type == HF_EVENT_CHILD_RUN_FAILED    ? "failed"
                    : event->type == HF_EVENT_CHILD_RUN_CANCELLED ? "cancelled"
                                                                  : "terminated";
    if (!hf_stored_take(event, HF_KEY_OUTPUT, &child->result))
        return hf_err_nomem(err, "a child");
    if (hf_event_key_allowed(event->type, HF_KEY_EXCEPTION_TYPE) &&
        hf_event_text(event, HF_KEY_EXCEPTION_TYPE, &text) &&
        !(child->failure_type = text_keep(text)))
        return hf_err_nomem(err, "a child");
    if (hf_event_key_allowed(event->type, HF_KEY_MESSAGE) &&
        hf_event_text(event, HF_KEY_MESSAGE, &text) && !(child->message = text_keep(text)))
        return hf_err_nomem(err, "a child");
    return HF_OK;
}

/* ---- events */

hf_status hf_steps_feed(hf_steps *steps, const hf_event *event, int64_t seq, hf_err *err)
{
    if (hf_event_has_flag(event->type, HF_EVENT_CLOSES)) {
        steps->mode = STEPS_CLOSED;
        inbox_clear(steps);
        return HF_OK;
    }
    switch ((int)event->type) {
    case HF_EVENT_WORKFLOW_STARTED:
        return start_take(steps, event, err);
    case HF_EVENT_SIGNAL_RECEIVED:
        return signal_add(steps, event, seq, err);
    case HF_EVENT_STEP_COMPLETED:
        return step_take(steps, event, seq, err);
    case HF_EVENT_TIMER_SCHEDULED:
        steps->timer = true;
        break;
    case HF_EVENT_TIMER_FIRED:
        steps->timer = false;
        if (steps->mode == STEPS_PARKED && event->step == steps->park) {
            steps->mode = STEPS_READY;
            steps->timed_out = true;
        }
        break;
    case HF_EVENT_TIMER_CANCELLED:
        steps->timer = false;
        break;
    case HF_EVENT_CHILD_WORKFLOW_SCHEDULED:
        return child_add(steps, event, err);
    case HF_EVENT_CHILD_RUN_COMPLETED:
    case HF_EVENT_CHILD_RUN_FAILED:
    case HF_EVENT_CHILD_RUN_CANCELLED:
    case HF_EVENT_CHILD_RUN_TERMINATED:
        return child_end(steps, event, err);
    }
    return HF_OK;
}

bool hf_steps_timer_wanted(const hf_steps *steps, int64_t step)
{
    return steps->mode == STEPS_PARKED && steps->timer && steps->park == step;
}

bool hf_steps_closed(const hf_steps *steps)
{
    return steps->mode == STEPS_CLOSED;
}

size_t hf_steps_held(const hf_steps *steps)
{
    return sizeof(*steps) + steps->state.len + steps->held;
}

void hf_steps_waiting(const hf_steps *steps, char *out_text, size_t size)
{
    size_t len;

    if (steps->mode == STEPS_JOINING && steps->children_open) {
        (void)snprintf(out_text, size, "children");
        return;
    }
    if (steps->mode != STEPS_PARKED) {
        (void)snprintf(out_text, size, "%s%s", steps->name ? "step:" : "",
                       steps->name ? steps->name : "");
        return;
    }
    (void)snprintf(out_text, size, "signal:");
    for (size_t i = 0; i < steps->name_count; i++) {
        len = strlen(out_text);
        (void)snprintf(out_text + len, size - len, "%s%s", i ? "|" : "", steps->names[i]);
    }
}
