/* step.c: see step.h; and the functions that steps call (hf_next, hf_park, ...). An outcome that
   cannot be is a failure of the step, answered by on_error, never by the store. */
#include "engine/step.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/avro.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/options.h"
#include "base/utf8.h"
#include "base/value.h"
#include "engine/bounds.h"

/* Here they are made. */
#undef hf_next
#undef hf_next_with
#undef hf_again
#undef hf_park
#undef hf_park_any
#undef hf_fan_out
#undef hf_done
#undef hf_stop
#undef hf_raise

enum {
    OUTCOME_RAISED = HF_STEP_OUTCOME_STOP + 1,
    NAMES_MAX = 256,
    LEAVES_MAX = 10000,
    CHILD_ID_BYTES = 256
};

#define BAD_OPTIONS  "the options of a child do not say a size that they can have"
#define AFTER_MAX_MS hf_years(100) /* beyond, it is a typing mistake */

/* What a step function gets. */
struct hf_step {
    hf_job *job;
    hf_step_job *in;
    bool handling; /* on_error is asked: no signals, no children */
    hf_value state;
    hf_error failure; /* of hf_stop and hf_raise */
    const hf_step_start *starts;
    size_t start_count;
    const char *bad_start; /* why the children cannot be; NULL: they can */
    bool names_lost;       /* there was no memory for the names of a park */
    const char *at;        /* source line of the newest decision; NULL: unknown */
};

hf_step_fn *hf_step_code(const hf_machine_def *machine, hf_slice name)
{
    if (machine->job)
        return hf_slice_equal(name, HF_SLICE("job")) ? machine->job : NULL;
    for (const hf_step_def *step = machine->steps; step && step->name; step++)
        if (hf_slice_equal(hf_slice_of(step->name), name))
            return step->run;
    return NULL;
}

/* ---- what a step knows */

hf_mem *hf_mem_of_step(hf_step *s)
{
    return s ? s->job->mem : NULL;
}

/* A value that could not be made is one that reads as null and that no outcome takes: NULL would
   mean null, and a state would be lost for want of memory. */
static hf_value made(hf_mem *mem, hf_value value)
{
    return value ? value : hf_value_make_broken(mem, 0);
}

static hf_value payload_value(hf_mem *mem, const hf_decision_payload *payload)
{
    hf_value value = NULL;
    hf_status st;

    if (!payload->bytes.ptr)
        return hf_value_null();
    st = payload->codec == HF_PAYLOAD_CODEC_AVRO
             ? hf_avro_decode(mem, payload->bytes, NULL, &value, NULL)
             : hf_json_read(mem, payload->bytes, NULL, &value, NULL);
    return made(mem, st ? NULL : value);
}

hf_value hf_step_state(hf_step *s)
{
    if (s && !s->state)
        s->state = payload_value(s->job->mem, &s->in->work.state);
    return s ? s->state : NULL;
}

/* As workflows receive it. */
static hf_value signal_payload(hf_mem *mem, const hf_step_message *signal)
{
    return signal->arguments.bytes.ptr
               ? hf_contract_received(payload_value(mem, &signal->arguments))
               : hf_value_bool(true);
}

static hf_value signals_list(hf_step *s, bool awaited)
{
    hf_mem *mem = s->job->mem;
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; !s->handling && i < s->in->work.signal_count; i++) {
        const hf_step_message *signal = &s->in->work.signals[i];
        hf_value_list *item;

        if (awaited && !signal->awaited)
            continue;
        item = hf_value_object(mem);
        hf_value_set(item, HF_SLICE("id"), hf_value_string(mem, hf_slice_of(signal->id)));
        hf_value_set(item, HF_SLICE("name"), hf_value_string(mem, signal->name));
        hf_value_set(item, HF_SLICE("payload"), signal_payload(mem, signal));
        hf_value_append(list, hf_value_finish(item));
    }
    return made(mem, hf_value_finish(list));
}

hf_value hf_step_awaited(hf_step *s)
{
    return s ? signals_list(s, true) : NULL;
}

hf_value hf_step_inbox(hf_step *s)
{
    return s ? signals_list(s, false) : NULL;
}

hf_value hf_step_signal(hf_step *s)
{
    for (size_t i = 0; s && !s->handling && i < s->in->work.signal_count; i++)
        if (s->in->work.signals[i].awaited)
            return signal_payload(s->job->mem, &s->in->work.signals[i]);
    return NULL;
}

bool hf_step_timed_out(hf_step *s)
{
    return s && s->in->work.timed_out;
}

static hf_value child_value(hf_mem *mem, const hf_step_child *child)
{
    hf_value_list *item = hf_value_object(mem);
    hf_value_list *error;

    hf_value_set(item, HF_SLICE("id"), hf_value_string(mem, child->id));
    hf_value_set(item, HF_SLICE("type"), hf_value_string(mem, child->type));
    hf_value_set(item, HF_SLICE("status"), hf_value_string(mem, child->status));
    hf_value_set(item, HF_SLICE("result"), payload_value(mem, &child->result));
    if (!child->failure_type.ptr && !child->message.ptr) {
        hf_value_set(item, HF_SLICE("error"), hf_value_null());
        return hf_value_finish(item);
    }
    error = hf_value_object(mem);
    hf_value_set(error, HF_SLICE("type"),
                 child->failure_type.ptr ? hf_value_string(mem, child->failure_type)
                                         : hf_value_null());
    hf_value_set(error, HF_SLICE("message"),
                 child->message.ptr ? hf_value_string(mem, child->message) : hf_value_null());
    hf_value_set(item, HF_SLICE("error"), hf_value_finish(error));
    return hf_value_finish(item);
}

hf_value hf_step_children(hf_step *s)
{
    hf_value_list *list;

    if (!s)
        return NULL;
    list = hf_value_array(s->job->mem);
    for (size_t i = 0; !s->handling && i < s->in->work.child_count; i++)
        hf_value_append(list, child_value(s->job->mem, &s->in->work.children[i]));
    return made(s->job->mem, hf_value_finish(list));
}

int hf_step_attempt(hf_step *s)
{
    return s ? (int)s->in->work.attempt : 0;
}

const char *hf_step_key(hf_step *s)
{
    return s ? s->in->key : "";
}

const char *hf_step_id(hf_step *s)
{
    return s ? s->in->instance_id.ptr : "";
}

/* ---- what it decides */

hf_step *hf_step_here_(hf_step *s, const char *at)
{
    if (s)
        s->at = at;
    return s;
}

hf_outcome hf_next(hf_step *s, const char *step, hf_value state)
{
    (void)s;
    return (hf_outcome){.kind = HF_STEP_OUTCOME_NEXT, .step = step, .state = state};
}

hf_outcome hf_again(hf_step *s, hf_value state, hf_ms after)
{
    (void)s;
    return (hf_outcome){.kind = HF_STEP_OUTCOME_AGAIN, .state = state, .after = after};
}

hf_outcome hf_park_any(hf_step *s, const char *const *names, hf_ms timeout, const char *then,
                       hf_value state)
{
    size_t count = 0;
    const char **copy;

    while (names && names[count] && count <= NAMES_MAX) /* one too many is seen as such */
        count++;
    if (!s)
        return (hf_outcome){0};
    copy = hf_mem_array(s->job->mem, count + 1, sizeof(*copy));
    s->names_lost = !copy;
    for (size_t i = 0; !s->names_lost && i < count; i++) {
        copy[i] = hf_mem_text(s->job->mem, hf_slice_of(names[i]));
        s->names_lost = !copy[i];
    }
    return (hf_outcome){.kind = HF_STEP_OUTCOME_PARK,
                        .step = then,
                        .names = copy,
                        .state = state,
                        .after = timeout};
}

hf_outcome hf_park(hf_step *s, const char *signal, hf_ms timeout, const char *then, hf_value state)
{
    const char *const names[] = {signal, NULL};

    return hf_park_any(s, names, timeout, then, state);
}

/* Children of a step while they are listed: what the caller gave may be gone when the step has
   returned, so it is copied. */
static hf_step_start *starts_begin(hf_step *s, size_t count)
{
    hf_step_start *starts = hf_mem_array(s->job->mem, count + 1, sizeof(*starts));

    s->bad_start = !starts              ? "there was no memory for the children"
                   : count > LEAVES_MAX ? "a step starts at most 10000 children"
                                        : NULL;
    s->starts = starts;
    s->start_count = count;
    return starts;
}

static bool input_copy(hf_step *s, hf_value in, hf_decision_payload *out_payload)
{
    hf_mem *mem = s->job->mem;
    hf_decision_failure failure;
    hf_buf text = {0};

    if (hf_value_broken(in, NULL)) {
        s->bad_start = "the input of a child is no value";
        return false;
    }
    hf_json_write(&text, in ? in : hf_value_null());
    if (hf_buf_ok(&text) &&
        hf_bounds_payload(mem, s->job->payload_max, (int64_t)text.len, &failure)) {
        s->bad_start = "the input of a child is too big";
    } else {
        *out_payload = (hf_decision_payload){
            .codec = HF_PAYLOAD_CODEC_JSON,
            .bytes = hf_slice_from(hf_buf_ok(&text) ? hf_mem_text(mem, hf_buf_slice(&text)) : NULL,
                                   text.len)};
        if (!out_payload->bytes.ptr)
            s->bad_start = "there was no memory for a child";
    }
    hf_buf_fini(&text);
    return !s->bad_start;
}

/* When a child that failed is tried again, as it was given: checked and copied. */
static bool retry_copy(hf_step *s, const hf_child_opts *o, hf_decision_retry *out_retry)
{
    hf_mem *mem = s->job->mem;
    const hf_retry_policy given = {.backoff_ms = o->backoff,
                                   .backoff_count = o->backoff ? o->backoff_n : 0};
    const hf_slice *types;
    size_t count;
    int64_t *waits = NULL;
    hf_status st = hf_retry_check(&given, NULL);

    *out_retry = (hf_decision_retry){.max_attempts = o->max_attempts};
    if (!st && o->no_retry_on)
        st = hf_retry_types(mem, hf_slice_of(o->no_retry_on), &types, &count, NULL);
    if (o->max_attempts < -1 || (o->backoff && !o->backoff_n))
        st = HF_INVALID;
    if (!st && o->no_retry_on) {
        out_retry->no_retry_on = hf_slice_of(hf_mem_text(mem, hf_slice_of(o->no_retry_on)));
        st = out_retry->no_retry_on.ptr ? HF_OK : HF_NOMEM;
    }
    if (!st && o->backoff) {
        waits = hf_mem_array(mem, o->backoff_n, sizeof(*waits));
        st = waits ? HF_OK : HF_NOMEM;
    }
    for (size_t i = 0; !st && i < given.backoff_count; i++)
        waits[i] = o->backoff[i] * 1000;
    out_retry->backoff_us = waits;
    out_retry->backoff_count = given.backoff_count;
    if (st)
        s->bad_start = st == HF_NOMEM ? "there was no memory for a child"
                                      : "max_attempts, backoff or no_retry_on of a child is wrong";
    return !st;
}

/* The options were taken (hf_options_take) and may lack the input, which comes beside them. */
static void start_copy(hf_step *s, const char *type, const hf_child_opts *o, hf_value in,
                       hf_step_start *out_start)
{
    hf_mem *mem = s->job->mem;

    *out_start = (hf_step_start){
        .type = hf_slice_of(hf_mem_text(mem, hf_slice_of(type))),
        .at = o->at_,
        .options = {.execution_timeout_us = o->execution_timeout * 1000,
                    .run_timeout_us = o->run_timeout * 1000,
                    .on_parent_close =
                        o->on_parent_close == HF_CLOSE_CANCEL      ? HF_PARENT_CLOSE_REQUEST_CANCEL
                        : o->on_parent_close == HF_CLOSE_TERMINATE ? HF_PARENT_CLOSE_TERMINATE
                                                                   : HF_PARENT_CLOSE_ABANDON}};
    if (!retry_copy(s, o, &out_start->options.retry) || !input_copy(s, in, &out_start->input))
        return;
    if (o->id)
        out_start->options.id = hf_slice_of(hf_mem_text(mem, hf_slice_of(o->id)));
    if (o->queue)
        out_start->options.queue = hf_slice_of(hf_mem_text(mem, hf_slice_of(o->queue)));
    if (!out_start->type.ptr || (o->id && !out_start->options.id.ptr) ||
        (o->queue && !out_start->options.queue.ptr))
        s->bad_start = "there was no memory for a child";
}

static hf_outcome fan_out(const char *then, hf_value state)
{
    return (hf_outcome){.kind = HF_STEP_OUTCOME_FAN_OUT, .step = then, .state = state};
}

hf_outcome hf_fan_out(hf_step *s, const struct hf_leaf *children, const char *then, hf_value state)
{
    size_t count = 0;
    hf_step_start *starts;

    if (!s)
        return (hf_outcome){0};
    while (children && children[count].kind != HF_LEAF_END && count <= LEAVES_MAX)
        count++;
    starts = starts_begin(s, count);
    for (size_t i = 0; !s->bad_start && i < count; i++) {
        hf_child_opts o = {0};

        if (children[i].kind != HF_LEAF_CHILD || !children[i].name)
            s->bad_start = "a step starts children and nothing else (HF_CHILD)";
        else if (children[i].opts.child.size_ > sizeof(children[i].opts) ||
                 hf_options_take(&o, sizeof(o), &children[i].opts.child, NULL))
            s->bad_start = BAD_OPTIONS;
        else
            start_copy(s, children[i].name, &o, o.in, &starts[i]);
    }
    return fan_out(then, state);
}

hf_outcome hf_fan_out_map_with(hf_step *s, const char *type, hf_value items, const char *then,
                               hf_value state, const hf_child_opts *o)
{
    hf_child_opts opts = {0};
    const char *prefix;
    char id[CHILD_ID_BYTES];
    hf_step_start *starts;

    if (!s)
        return (hf_outcome){0};
    starts = starts_begin(s, hf_len(items));
    if (s->bad_start)
        return fan_out(then, state);
    if (!type || hf_value_kind_of(items) != HF_VALUE_ARRAY)
        s->bad_start = "a map needs a type and an array of items";
    else if (hf_options_take(&opts, sizeof(opts), o, NULL))
        s->bad_start = BAD_OPTIONS;
    else if (opts.in)
        s->bad_start = "the input of each child is its item: .in must not be set";
    prefix = opts.id;
    for (size_t i = 0; !s->bad_start && i < s->start_count; i++) {
        if (prefix && (size_t)snprintf(id, sizeof(id), "%s-%zu", prefix, i) >= sizeof(id))
            s->bad_start = "the ids of the children are too long";
        if (prefix)
            opts.id = id;
        if (!s->bad_start)
            start_copy(s, type, &opts, hf_at(items, i), &starts[i]);
    }
    return fan_out(then, state);
}

hf_outcome hf_done(hf_step *s, hf_value result)
{
    (void)s;
    return (hf_outcome){.kind = HF_STEP_OUTCOME_DONE, .result = result};
}

/* Keeps type and message where the outcome is read. */
static void failure_keep(hf_step *s, const char *type, const char *message)
{
    hf_mem *mem = s->job->mem;
    const char *kept = hf_mem_text(mem, hf_slice_of(type && *type ? type : "error"));

    s->failure = (hf_error){.status = HF_ERROR, .type = kept ? kept : "error", .message = ""};
    if (!hf_utf8_valid(hf_slice_of(s->failure.type)))
        s->failure.type = "error";
    if (message && hf_utf8_valid(hf_slice_of(message)))
        kept = hf_mem_text(mem, hf_slice_of(message));
    else
        kept = message ? "(a message that is not UTF-8)" : "";
    s->failure.message = kept ? kept : "";
}

hf_outcome hf_stop(hf_step *s, const char *type, const char *message)
{
    if (s)
        failure_keep(s, type ? type : "stopped", message);
    return (hf_outcome){.kind = HF_STEP_OUTCOME_STOP};
}

hf_outcome hf_raise(hf_step *s, const char *type, const char *format, ...)
{
    char message[1024] = "";
    va_list args;

    va_start(args, format);
    if (format)
        (void)vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (s)
        failure_keep(s, type, message);
    return (hf_outcome){.kind = OUTCOME_RAISED};
}

hf_outcome hf_next_with(hf_step *s, const char *step, const hf_next_opts *o)
{
    hf_mem *mem = hf_mem_of_step(s);
    hf_outcome outcome = {.kind = HF_STEP_OUTCOME_NEXT, .step = step};
    hf_next_opts opts = {0};
    hf_err err = {0};

    if (!mem)
        return outcome;
    if (hf_options_take(&opts, sizeof(opts), o, &err))
        return hf_raise(s, "bad_outcome", "%s", err.text);
    outcome.state = opts.state;
    outcome.weight = opts.weight;
    if (opts.concurrency_key)
        outcome.concurrency_key = hf_mem_text(mem, hf_slice_of(opts.concurrency_key));
    if (opts.rate_limit)
        outcome.rate_limit = hf_mem_text(mem, hf_slice_of(opts.rate_limit));
    return outcome;
}

/* ---- taking the outcome */

/* The outcome cannot be. */
static bool bad(hf_step *s, const char *type, const char *format, ...) HF_FORMAT(3, 4);
static bool bad(hf_step *s, const char *type, const char *format, ...)
{
    char message[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    failure_keep(s, type, message);
    return false;
}

static bool value_take(hf_step *s, hf_value value, const char *what, hf_decision_payload *out)
{
    hf_decision_failure failure;
    hf_buf text = {0};
    int64_t bytes = 0;
    bool ok;

    if (hf_value_broken(value, &bytes) && !bytes)
        return bad(s, "unencodable", "the %s is no value", what);
    if (bytes)
        return bad(s, "too_big", "the %s has %lld bytes, which is more than is allowed", what,
                   (long long)bytes);
    hf_json_write(&text, value ? value : hf_value_null());
    ok = hf_buf_ok(&text);
    if (ok && hf_bounds_payload(s->job->mem, s->job->payload_max, (int64_t)text.len, &failure)) {
        hf_buf_fini(&text);
        return bad(s, "too_big", "the %s has %zu bytes, which is more than is allowed", what,
                   text.len);
    }
    if (ok)
        *out = (hf_decision_payload){
            .codec = HF_PAYLOAD_CODEC_JSON,
            .bytes = hf_slice_from(hf_mem_text(s->job->mem, hf_buf_slice(&text)), text.len)};
    hf_buf_fini(&text);
    return (ok && out->bytes.ptr) || bad(s, "no_memory", "there was no memory for the %s", what);
}

static bool next_take(hf_step *s, const char *step, hf_step_end *end)
{
    const char *kept = step ? hf_mem_text(s->job->mem, hf_slice_of(step)) : NULL;

    if (!step || !hf_step_code(s->in->definition, hf_slice_of(step)))
        return bad(s, "unknown_step", "the machine %s has no step %s", s->in->definition->type,
                   step ? step : "(no name)");
    end->next = hf_slice_of(kept);
    return kept || bad(s, "no_memory", "there was no memory for the step");
}

static bool signal_declared(const hf_machine_def *machine, const char *name)
{
    for (const hf_signal_def *signal = machine->signals; signal && signal->name; signal++)
        if (strcmp(signal->name, name) == 0)
            return true;
    return false;
}

static bool park_take(hf_step *s, const hf_outcome *outcome, hf_step_end *end)
{
    size_t count = 0;
    hf_slice *names;

    if (s->names_lost)
        return bad(s, "no_memory", "there was no memory for the names");
    while (outcome->names && outcome->names[count])
        count++;
    if (count == 0)
        return bad(s, "no_names", "a park needs the name of a signal");
    if (count > NAMES_MAX)
        return bad(s, "too_many_names", "a park takes at most %d names", NAMES_MAX);
    names = hf_mem_array(s->job->mem, count, sizeof(*names));
    if (!names)
        return bad(s, "no_memory", "there was no memory for the names");
    for (size_t i = 0; i < count; i++) {
        if (!signal_declared(s->in->definition, outcome->names[i]))
            return bad(s, "unknown_signal", "the machine %s declares no signal %s",
                       s->in->definition->type, outcome->names[i]);
        names[i] = hf_slice_of(outcome->names[i]);
    }
    end->names = names;
    end->name_count = count;
    if (outcome->after == HF_NO_TIMEOUT) {
        end->after_us = HF_DECISION_NO_TIMEOUT;
        return true;
    }
    if (outcome->after <= 0 || outcome->after > AFTER_MAX_MS)
        return bad(s, "bad_timeout", "a park cannot time out after %lld ms",
                   (long long)outcome->after);
    end->after_us = outcome->after * 1000;
    return true;
}

static bool limits_take(hf_step *s, const hf_outcome *outcome, hf_step_end *end)
{
    hf_err err = {0};

    if (outcome->weight && !outcome->rate_limit)
        return bad(s, "unknown_limit", "a weight of %d needs a rate limit", outcome->weight);
    end->concurrency_key = hf_slice_of(outcome->concurrency_key);
    end->rate_limit = hf_slice_of(outcome->rate_limit);
    end->weight = outcome->weight ? outcome->weight : 1;
    if (hf_registry_check_limits(s->in->registry, HF_NONE, end->concurrency_key, end->rate_limit,
                                 end->weight, &err)) /* its own program's */
        return bad(s, "unknown_limit", "%s", err.text);
    return true;
}

static bool outcome_take(hf_step *s, const hf_outcome *outcome, hf_step_end *end)
{
    *end = (hf_step_end){.outcome = (hf_step_outcome)outcome->kind};
    switch (outcome->kind) {
    case HF_STEP_OUTCOME_NEXT:
        return next_take(s, outcome->step, end) && limits_take(s, outcome, end) &&
               value_take(s, outcome->state, "state", &end->state);
    case HF_STEP_OUTCOME_AGAIN:
        if (outcome->after < 0 || outcome->after > AFTER_MAX_MS)
            return bad(s, "bad_delay", "a step cannot be repeated after %lld ms",
                       (long long)outcome->after);
        end->after_us = outcome->after * 1000;
        return value_take(s, outcome->state, "state", &end->state);
    case HF_STEP_OUTCOME_PARK:
        return next_take(s, outcome->step, end) && park_take(s, outcome, end) &&
               value_take(s, outcome->state, "state", &end->state);
    case HF_STEP_OUTCOME_FAN_OUT:
        if (s->bad_start)
            return bad(s, "bad_child", "%s", s->bad_start);
        end->starts = s->starts;
        end->start_count = s->start_count;
        return next_take(s, outcome->step, end) &&
               value_take(s, outcome->state, "state", &end->state);
    case HF_STEP_OUTCOME_DONE:
        return value_take(s, outcome->result, "result", &end->result);
    case HF_STEP_OUTCOME_STOP:
        end->failure_type = hf_slice_of(s->failure.type);
        end->message = hf_slice_of(s->failure.message);
        return true;
    case OUTCOME_RAISED:
        return false;
    }
    return bad(s, "bad_outcome", "the step returned no outcome that there is (%d)", outcome->kind);
}

static void failure_end(hf_step *s, const hf_error *failure, hf_step_end *end)
{
    *end = (hf_step_end){.outcome = HF_STEP_OUTCOME_STOP, .handled = true};
    end->failure_type = hf_slice_of(failure->type);
    end->message = hf_slice_of(failure->message);
    (void)s;
}

enum { JOB_ATTEMPTS = 20, BACKOFF_FIRST_MS = 1000, BACKOFF_MOST_MS = 300000 };

static int64_t backoff_ms(const hf_machine_def *machine, int64_t attempt)
{
    int64_t last = (int64_t)machine->backoff_n;
    int64_t ms = BACKOFF_FIRST_MS;

    if (last)
        return machine->backoff[attempt < last ? attempt - 1 : last - 1];
    for (int64_t i = 1; i < attempt && ms < BACKOFF_MOST_MS; i++)
        ms *= 2;
    return ms < BACKOFF_MOST_MS ? ms : BACKOFF_MOST_MS;
}

/* Nobody answers for it: jobs, and machines that say how often, try again. */
static void failure_repeat(hf_step *s, hf_step_end *end)
{
    const hf_machine_def *machine = s->in->definition;
    int64_t most = machine->max_attempts ? machine->max_attempts : machine->job ? JOB_ATTEMPTS : 1;

    failure_end(s, &s->failure, end);
    if (most > 0 && s->in->work.attempt >= most)
        return;
    end->outcome = HF_STEP_OUTCOME_AGAIN;
    end->after_us = backoff_ms(machine, s->in->work.attempt) * 1000;
}

/* The step failed: somebody else decides. */
static void failure_handle(hf_step *s, hf_step_end *end)
{
    hf_error *failure = hf_mem_alloc(s->job->mem, sizeof(*failure));
    hf_outcome outcome;

    if (!failure || !s->in->definition->on_error) {
        failure_repeat(s, end);
        return;
    }
    *failure = s->failure;
    s->handling = true;
    outcome = s->in->definition->on_error(s, failure);
    if (!outcome_take(s, &outcome, end)) {
        failure_end(s, &s->failure, end);
        return;
    }
    end->handled = true;
    if (end->outcome != HF_STEP_OUTCOME_STOP) {
        end->failure_type = hf_slice_of(failure->type);
        end->message = hf_slice_of(failure->message);
    }
}

void hf_step_run(hf_job *job)
{
    hf_step s = {.job = job, .in = job->machine};
    hf_step_end *end = &job->machine->end;
    hf_outcome outcome = hf_step_code(s.in->definition, s.in->work.name)(&s);

    if (!outcome_take(&s, &outcome, end))
        failure_handle(&s, end);
    end->at = s.at;
    end->number = s.in->work.number;
    end->attempt = s.in->work.attempt;
    end->presented = s.in->presented;
    end->presented_count = s.in->presented_count;
}
