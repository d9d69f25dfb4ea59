/* steps.c: see steps.h. The rules of waking and using up stand here and nowhere else: a park wakes
   for a signal of an awaited name that the parking step was not handed; what goes on uses up
   exactly what the step was handed; everything follows from the events alone, so that whoever
   commits second, delivery or park, sees the other. */
#include "replay/steps.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/value.h"
#include "replay/history.h"

typedef enum steps_mode {
    STEPS_NEW, /* before WorkflowStarted */
    STEPS_READY,
    STEPS_PARKED,
    STEPS_JOINING, /* waits for its children */
    STEPS_CLOSED
} steps_mode;

typedef struct steps_signal {
    struct steps_signal *next;
    int64_t seq;
    char id[HF_ULID_TEXT_SIZE];
    char *name;
    hf_stored arguments;
    bool presented; /* the park at hand knows it already */
} steps_signal;

typedef struct steps_child {
    struct steps_child *next;
    int64_t step;
    char *id;
    char *type;
    const char *status;
    hf_stored result;
    char *failure_type;
    char *message;
    bool open;
} steps_child;

struct hf_steps {
    const hf_machine_def *machine;
    steps_mode mode;
    int64_t last; /* newest step number in use */
    int64_t entry;
    int64_t attempt;
    int64_t available_us;
    char *name;
    int64_t priority;
    char *concurrency_key; /* NULL: none, both */
    char *rate_limit;
    int64_t weight;
    hf_stored state;
    char **names; /* awaited: of the park, then of the step it led to */
    size_t name_count;
    int64_t park; /* step number of the park, 0: none */
    bool timer;   /* its timeout is armed */
    bool timed_out;
    steps_signal *inbox; /* oldest first */
    steps_signal **inbox_end;
    steps_child *children;
    steps_child **children_end;
    size_t children_open;
    size_t held;
};

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

static bool name_awaited(const hf_steps *steps, const char *name)
{
    for (size_t i = 0; i < steps->name_count; i++)
        if (strcmp(steps->names[i], name) == 0)
            return true;
    return false;
}

static void signal_wake(hf_steps *steps, const steps_signal *signal)
{
    if (steps->mode == STEPS_PARKED && !signal->presented && name_awaited(steps, signal->name))
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

static hf_status name_move(hf_steps *steps, const hf_event *event, int64_t seq, hf_err *err)
{
    hf_slice next;
    char *name;

    if (!hf_event_text(event, HF_KEY_NEXT_STEP, &next))
        return hf_err_set(err, HF_CORRUPT, "event %lld says no next step", (long long)seq);
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
        (void)hf_event_time(event, HF_KEY_RETRY_AVAILABLE_AT, &steps->available_us);
        return HF_OK;
    case HF_STEP_OUTCOME_DONE:
    case HF_STEP_OUTCOME_STOP:
        return HF_OK;
    case HF_STEP_OUTCOME_PARK:
        step_enter(steps);
        st = name_move(steps, event, seq, err);
        return st ? st : park_take(steps, mem, event, err);
    case HF_STEP_OUTCOME_FAN_OUT:
        steps->mode = STEPS_JOINING;
        break;
    case HF_STEP_OUTCOME_NEXT:
        break;
    }
    step_enter(steps);
    names_free(steps);
    return name_move(steps, event, seq, err);
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
    steps->name = text_keep(hf_slice_of(steps->machine->job ? "job" : steps->machine->initial));
    steps->priority = HF_STEP_PRIORITY;
    (void)hf_event_int(event, HF_KEY_PRIORITY, &steps->priority);
    if (!steps->name || limits_take(steps, event, err) ||
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

bool hf_steps_work(const hf_steps *steps, hf_step_work *out_work)
{
    if (steps->mode != STEPS_READY && !(steps->mode == STEPS_JOINING && !steps->children_open))
        return false;
    *out_work = (hf_step_work){.number = steps->last + 1,
                               .entry = steps->entry,
                               .attempt = steps->attempt,
                               .available_us = steps->available_us,
                               .name = hf_slice_of(steps->name),
                               .priority = steps->priority,
                               .concurrency_key = hf_slice_of(steps->concurrency_key),
                               .rate_limit = hf_slice_of(steps->rate_limit),
                               .weight = steps->weight,
                               .timed_out = steps->timed_out};
    return true;
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

/* ---- what a step sees */

static hf_status stored_read(const hf_stored *stored, const hf_replay_info *info, hf_mem *mem,
                             hf_decision_payload *out_payload, hf_err *err)
{
    const hf_payload_value reference = {.form = stored->form,
                                        .codec = stored->codec,
                                        .size = stored->size,
                                        .digest = (const uint8_t *)stored->bytes};

    *out_payload = (hf_decision_payload){.codec = stored->codec};
    if (!stored->form)
        return HF_OK;
    if (stored->form == HF_PAYLOAD_FORM_ERASED)
        return hf_err_set(err, HF_NOTFOUND, "a value that the machine needs was erased");
    if (stored->form == HF_PAYLOAD_FORM_REFERENCE) {
        if (!info->payload)
            return hf_err_set(err, HF_MISUSE, "nobody reads payloads that are stored apart");
        return info->payload(info->payload_ctx, mem, &reference, &out_payload->bytes, err);
    }
    out_payload->bytes =
        hf_slice_from(hf_mem_text(mem, hf_slice_from(stored->bytes, stored->len)), stored->len);
    return out_payload->bytes.ptr ? HF_OK : hf_err_nomem(err, "a value");
}

static hf_status text_copy(hf_mem *mem, const char *text, hf_slice *out_text, hf_err *err)
{
    *out_text = (hf_slice){0};
    if (!text)
        return HF_OK;
    *out_text = hf_slice_of(hf_mem_text(mem, hf_slice_of(text)));
    return out_text->ptr ? HF_OK : hf_err_nomem(err, "a text");
}

static hf_status signals_fill(const hf_steps *steps, const hf_replay_info *info, hf_mem *mem,
                              hf_step_work *work, hf_err *err)
{
    size_t count = 0;
    hf_status st = HF_OK;

    for (const steps_signal *signal = steps->inbox; signal; signal = signal->next)
        count++;
    work->signals = hf_mem_array(mem, count + 1, sizeof(*work->signals));
    if (!work->signals)
        return hf_err_nomem(err, "an inbox");
    for (const steps_signal *signal = steps->inbox; !st && signal; signal = signal->next) {
        hf_step_message *copy = &work->signals[work->signal_count++];

        copy->seq = signal->seq;
        copy->awaited = name_awaited(steps, signal->name);
        memcpy(copy->id, signal->id, sizeof(copy->id));
        st = text_copy(mem, signal->name, &copy->name, err);
        if (!st)
            st = stored_read(&signal->arguments, info, mem, &copy->arguments, err);
    }
    return st;
}

static hf_status children_fill(const hf_steps *steps, const hf_replay_info *info, hf_mem *mem,
                               hf_step_work *work, hf_err *err)
{
    size_t count = 0;
    hf_status st = HF_OK;

    for (const steps_child *child = steps->children; child; child = child->next)
        count++;
    work->children = hf_mem_array(mem, count + 1, sizeof(*work->children));
    if (!work->children)
        return hf_err_nomem(err, "children");
    for (const steps_child *child = steps->children; !st && child; child = child->next) {
        hf_step_child *copy = &work->children[work->child_count++];

        copy->status = hf_slice_of(child->status);
        st = text_copy(mem, child->id, &copy->id, err);
        if (!st)
            st = text_copy(mem, child->type, &copy->type, err);
        if (!st)
            st = text_copy(mem, child->failure_type, &copy->failure_type, err);
        if (!st)
            st = text_copy(mem, child->message, &copy->message, err);
        if (!st)
            st = stored_read(&child->result, info, mem, &copy->result, err);
    }
    return st;
}

hf_status hf_steps_fill(const hf_steps *steps, const hf_replay_info *info, hf_mem *mem,
                        hf_step_work *work, hf_err *err)
{
    hf_status st = text_copy(mem, steps->name, &work->name, err);

    if (!st)
        st = stored_read(&steps->state, info, mem, &work->state, err);
    if (!st)
        st = signals_fill(steps, info, mem, work, err);
    return st ? st : children_fill(steps, info, mem, work, err);
}

/* ---- what a step decided */

static bool seq_among(const int64_t *seqs, size_t count, int64_t seq)
{
    for (size_t i = 0; i < count; i++)
        if (seqs[i] == seq)
            return true;
    return false;
}

static hf_slice json_keep(hf_mem *mem, hf_buf *text, hf_err *err)
{
    hf_slice kept = {0};

    if (hf_buf_ok(text))
        kept = hf_slice_from(hf_mem_text(mem, hf_buf_slice(text)), text->len);
    hf_buf_fini(text);
    if (!kept.ptr)
        (void)hf_err_nomem(err, "the end of a step");
    return kept;
}

/* Ids of the signals that the step was handed and that are still there, as a JSON list. */
static hf_slice handed_json(const hf_steps *steps, const hf_step_end *end, hf_mem *mem,
                            int64_t *out_seqs, size_t *out_count, hf_err *err)
{
    hf_buf text = {0};

    hf_buf_add_text(&text, "[");
    *out_count = 0;
    for (const steps_signal *signal = steps->inbox; signal; signal = signal->next) {
        if (!seq_among(end->presented, end->presented_count, signal->seq))
            continue;
        hf_buf_add_format(&text, "%s\"%s\"", *out_count ? "," : "", signal->id);
        out_seqs[(*out_count)++] = signal->seq;
    }
    hf_buf_add_text(&text, "]");
    return json_keep(mem, &text, err);
}

static hf_slice names_json(const hf_step_end *end, hf_mem *mem, hf_err *err)
{
    hf_buf text = {0};

    for (size_t i = 0; i < end->name_count; i++) {
        hf_buf_add_text(&text, i ? ",\"" : "[\"");
        hf_json_add_escaped(&text, end->names[i]);
        hf_buf_add_text(&text, "\"");
    }
    hf_buf_add_text(&text, "]");
    return json_keep(mem, &text, err);
}

/* The part that StepCompleted records. */
static hf_status step_row(const hf_steps *steps, const hf_step_end *end, hf_mem *mem,
                          hf_decision_row *row, hf_err *err)
{
    bool goes_on = end->outcome == HF_STEP_OUTCOME_NEXT || end->outcome == HF_STEP_OUTCOME_FAN_OUT;
    int64_t *seqs = hf_mem_array(mem, end->presented_count + 1, sizeof(*seqs));
    hf_slice handed = {0};
    size_t count = 0;

    if (!seqs)
        return hf_err_nomem(err, "the end of a step");
    *row = (hf_decision_row){.kind = HF_DECISION_COMPLETE_STEP,
                             .step = steps->last + 1,
                             .name = hf_slice_of(steps->name),
                             .value = end->state};
    row->machine = (hf_decision_step){.outcome = end->outcome,
                                      .attempt = end->attempt,
                                      .next = end->next,
                                      .delay_us = end->after_us,
                                      .timeout_us = HF_DECISION_NO_TIMEOUT,
                                      .failure_type = end->failure_type,
                                      .message = end->message,
                                      .concurrency_key = end->concurrency_key,
                                      .rate_limit = end->rate_limit,
                                      .weight = end->weight};
    handed = handed_json(steps, end, mem, seqs, &count, err);
    if (!handed.ptr)
        return HF_NOMEM;
    if (goes_on && !end->handled && count) {
        row->machine.consumed = handed;
        row->machine.seqs = seqs;
        row->machine.seq_count = count;
    }
    if (end->outcome != HF_STEP_OUTCOME_PARK)
        return HF_OK;
    row->machine.timeout_us = end->after_us;
    row->machine.awaited = names_json(end, mem, err);
    if (count)
        row->machine.presented = handed;
    return row->machine.awaited.ptr ? HF_OK : HF_NOMEM;
}

hf_status hf_steps_decide(const hf_steps *steps, const hf_step_end *end, hf_mem *mem,
                          hf_decision_row **out_rows, size_t *out_count, hf_err *err)
{
    hf_decision_row *rows = hf_mem_array(mem, end->start_count + 3, sizeof(*rows));
    bool closes = end->outcome == HF_STEP_OUTCOME_DONE || end->outcome == HF_STEP_OUTCOME_STOP;
    int64_t step = steps->last + 1;
    size_t count = 0;
    hf_status st;

    if (!rows)
        return hf_err_nomem(err, "the end of a step");
    if (steps->timer && !closes) /* a run that closes withdraws its timers itself */
        rows[count++] = (hf_decision_row){
            .kind = HF_DECISION_CANCEL_TIMER,
            .step = steps->park,
        };
    st = step_row(steps, end, mem, &rows[count], err);
    if (st)
        return st;
    count++;
    for (size_t i = 0; i < end->start_count; i++)
        rows[count++] = (hf_decision_row){.kind = HF_DECISION_START_CHILD_WORKFLOW,
                                          .step = ++step,
                                          .at = end->starts[i].at,
                                          .name = end->starts[i].type,
                                          .value = end->starts[i].input,
                                          .child = end->starts[i].options};
    if (end->outcome == HF_STEP_OUTCOME_DONE)
        rows[count++] =
            (hf_decision_row){.kind = HF_DECISION_COMPLETE_WORKFLOW, .value = end->result};
    if (end->outcome == HF_STEP_OUTCOME_STOP)
        rows[count++] = (hf_decision_row){.kind = HF_DECISION_FAIL_WORKFLOW,
                                          .failure = {.category = HF_FAILURE_CATEGORY_APPLICATION,
                                                      .type = end->failure_type,
                                                      .message = end->message}};
    *out_rows = rows;
    *out_count = count;
    return HF_OK;
}
