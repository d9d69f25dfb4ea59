/* call.c: calls of activities and children, one by one or as futures. The rule: options are read
   when the call is made and never again, so that nothing of the caller's is held. */
#include <string.h>

#include "base/utf8.h"
#include "model/name.h"
#include "model/retry.h"
#include "replay/inside.h"

/* ---- options */

static void duration_check(hf_replay *replay, hf_ms duration, const char *what)
{
    if (duration < 0 || duration > HF_RETRY_MS_MAX)
        hf_in_misuse(replay, "invalid_options", "%s must be between 0 and ten years", what);
}

static void text_check(hf_replay *replay, const char *text, const char *what)
{
    if (text && !hf_utf8_valid(hf_slice_of(text)))
        hf_in_misuse(replay, "invalid_options", "%s is not UTF-8", what);
}

static void types_check(hf_replay *replay, const char *list)
{
    const hf_slice *types;
    size_t count;
    hf_err err = {0};
    hf_status st =
        list ? hf_retry_types(replay->turn, hf_slice_of(list), &types, &count, &err) : HF_OK;

    if (st == HF_NOMEM)
        hf_in_break(replay, st, "a list of failure types");
    if (st)
        hf_in_misuse(replay, "invalid_options", "no_retry_on: %s", err.text);
}

static void retry_check(hf_replay *replay, int max_attempts, const hf_ms *backoff, size_t count,
                        const char *no_retry_on)
{
    if (max_attempts < -1)
        hf_in_misuse(replay, "invalid_options", "max_attempts must be -1 or more");
    types_check(replay, no_retry_on);
    if (backoff && (count == 0 || count > HF_RETRY_BACKOFFS_MAX))
        hf_in_misuse(replay, "invalid_options", "a backoff list has 1 to %d entries",
                     HF_RETRY_BACKOFFS_MAX);
    for (size_t i = 0; backoff && i < count; i++)
        duration_check(replay, backoff[i], "a backoff");
}

hf_call hf_in_activity_call(hf_replay *replay, const char *name, const hf_activity_opts *o)
{
    hf_call call = {.name = name};
    hf_activity_opts *options = &call.activity;

    hf_in_name(replay, HF_NAME_TYPE, name);
    hf_in_options(replay, options, sizeof(*options), o);
    call.at = options->at_;
    duration_check(replay, options->schedule_to_start, "schedule_to_start");
    duration_check(replay, options->start_to_close, "start_to_close");
    duration_check(replay, options->schedule_to_close, "schedule_to_close");
    duration_check(replay, options->heartbeat, "heartbeat");
    retry_check(replay, options->max_attempts, options->backoff, options->backoff_n,
                options->no_retry_on);
    if (options->queue)
        hf_in_name(replay, HF_NAME_QUEUE, options->queue);
    text_check(replay, options->summary, "the summary");
    if (options->err)
        *options->err = NULL;
    return call;
}

hf_call hf_in_child_call(hf_replay *replay, const char *type, const hf_child_opts *o)
{
    hf_call call = {.child = true, .name = type};
    hf_child_opts *options = &call.options;

    hf_in_name(replay, HF_NAME_TYPE, type);
    hf_in_options(replay, options, sizeof(*options), o);
    call.at = options->at_;
    duration_check(replay, options->execution_timeout, "execution_timeout");
    duration_check(replay, options->run_timeout, "run_timeout");
    retry_check(replay, options->max_attempts, options->backoff, options->backoff_n,
                options->no_retry_on);
    if (options->id)
        hf_in_name(replay, HF_NAME_INSTANCE, options->id);
    if (options->queue)
        hf_in_name(replay, HF_NAME_QUEUE, options->queue);
    text_check(replay, options->summary, "the summary");
    if ((int)options->on_parent_close < 0 || options->on_parent_close > HF_CLOSE_TERMINATE)
        hf_in_misuse(replay, "invalid_options", "on_parent_close is none of the policies");
    if (options->err)
        *options->err = NULL;
    return call;
}

const hf_error **hf_in_call_err(const hf_call *call)
{
    return call->child ? call->options.err : call->activity.err;
}

hf_value hf_in_call_input(const hf_call *call)
{
    return call->child ? call->options.in : call->activity.in;
}

hf_want hf_in_call_want(const hf_call *call)
{
    hf_history_shape shape = HF_HISTORY_SHAPE_ACTIVITY;

    if (call->child)
        shape = HF_HISTORY_SHAPE_CHILD_WORKFLOW;
    else if (call->activity.local)
        shape = HF_HISTORY_SHAPE_LOCAL_ACTIVITY;
    return (hf_want){.look = {.shape = shape, .name = (char *)(uintptr_t)call->name},
                     .at = call->at};
}

/* ---- deciding */

static int64_t us_of(hf_ms duration)
{
    return (int64_t)duration * 1000;
}

static hf_decision_retry retry_of(hf_replay *replay, int max_attempts, const hf_ms *backoff,
                                  size_t count, const char *no_retry_on)
{
    hf_decision_retry retry = {.max_attempts = max_attempts,
                               .no_retry_on = hf_in_text(replay, no_retry_on)};
    int64_t *waits;

    if (!backoff)
        return retry;
    waits = hf_mem_array(replay->turn, count, sizeof(*waits));
    if (!waits)
        hf_in_break(replay, HF_NOMEM, "a decision");
    for (size_t i = 0; i < count; i++)
        waits[i] = us_of(backoff[i]);
    retry.backoff_us = waits;
    retry.backoff_count = count;
    return retry;
}

static void activity_fill(hf_replay *replay, const hf_activity_opts *o, hf_decision_row *row)
{
    row->activity = (hf_decision_activity){
        .queue = hf_in_text(replay, o->queue),
        .summary = hf_in_text(replay, o->summary),
        .local = o->local,
        .schedule_to_start_us = us_of(o->schedule_to_start),
        .start_to_close_us = us_of(o->start_to_close),
        .schedule_to_close_us = us_of(o->schedule_to_close),
        .heartbeat_us = us_of(o->heartbeat),
        .retry = retry_of(replay, o->max_attempts, o->backoff, o->backoff_n, o->no_retry_on)};
}

static void child_fill(hf_replay *replay, const hf_child_opts *o, hf_decision_row *row)
{
    static const hf_parent_close_policy policies[] = {
        [HF_CLOSE_ABANDON] = HF_PARENT_CLOSE_ABANDON,
        [HF_CLOSE_CANCEL] = HF_PARENT_CLOSE_REQUEST_CANCEL,
        [HF_CLOSE_TERMINATE] = HF_PARENT_CLOSE_TERMINATE,
    };

    row->child = (hf_decision_child){
        .id = hf_in_text(replay, o->id),
        .queue = hf_in_text(replay, o->queue),
        .summary = hf_in_text(replay, o->summary),
        .execution_timeout_us = us_of(o->execution_timeout),
        .run_timeout_us = us_of(o->run_timeout),
        .retry = retry_of(replay, o->max_attempts, o->backoff, o->backoff_n, o->no_retry_on),
        .on_parent_close = policies[o->on_parent_close]};
}

void hf_in_call_decide(hf_replay *replay, const hf_call *call, hf_value input, int64_t step,
                       const hf_decision_group *groups, size_t group_count)
{
    hf_decision_row *row = call->child
                               ? hf_in_decide(replay, HF_DECISION_START_CHILD_WORKFLOW, step, 2)
                               : hf_in_decide(replay, HF_DECISION_SCHEDULE_ACTIVITY, step, 1);

    row->name = hf_in_text(replay, call->name);
    row->value = hf_in_payload(replay, input);
    if (group_count) {
        hf_decision_group *copy = hf_mem_array(replay->turn, group_count, sizeof(*copy));

        if (!copy)
            hf_in_break(replay, HF_NOMEM, "a decision");
        memcpy(copy, groups, group_count * sizeof(*copy));
        row->groups = copy;
        row->group_count = group_count;
    }
    if (call->child)
        child_fill(replay, &call->options, row);
    else
        activity_fill(replay, &call->activity, row);
}

void hf_in_child_note(hf_replay *replay, const hf_record *record)
{
    hf_child_call *child = hf_in_alloc(replay, sizeof(*child));

    child->step = record->step;
    if (record->recorded.shape && record->has_id) {
        child->open_seq = record->open_seq;
        hf_ulid_print(&record->id, child->text);
    }
    *replay->children_end = child;
    replay->children_end = &child->next;
}

/* Begins the step of a call and decides it when it is new. */
static hf_failure *call_begin(hf_replay *replay, const hf_call *call, hf_value input,
                              hf_record **out_record)
{
    hf_want want = hf_in_call_want(call);
    bool fresh = false;
    hf_failure *failure = hf_in_enter(replay, &want, out_record, &fresh);

    if (failure)
        return failure;
    if (call->child)
        hf_in_child_note(replay, *out_record);
    if (fresh)
        hf_in_call_decide(replay, call, input, (*out_record)->step, NULL, 0);
    return NULL;
}

static const char *call_kind(const hf_call *call)
{
    return call->child ? "child" : "activity";
}

/* The end of a record, and the record passed. */
static hf_value call_end(hf_replay *replay, hf_record *record, hf_failure **out_failure)
{
    hf_value value = NULL;

    if (record->end == HF_RECORD_FAILED)
        *out_failure = hf_in_record_failure(replay, record);
    else
        value = hf_in_value(replay, &record->value);
    hf_in_pass(replay, record);
    return value;
}

static hf_value call_run(hf_replay *replay, const hf_call *call, hf_value input,
                         hf_failure **out_failure)
{
    hf_record *record = NULL;

    *out_failure = call_begin(replay, call, input, &record);
    if (*out_failure)
        return NULL;
    *out_failure = hf_in_await(replay, record, call_kind(call), call->name);
    if (*out_failure) {
        hf_in_pass(replay, record);
        return NULL;
    }
    return call_end(replay, record, out_failure);
}

hf_value hf_in_activity(hf_replay *replay, const hf_call *call, hf_value input,
                        hf_failure **out_failure)
{
    return call_run(replay, call, input, out_failure);
}

static hf_value call_blocking(hf_replay *replay, const hf_call *call)
{
    hf_failure *failure = NULL;
    hf_value value = call_run(replay, call, hf_in_call_input(call), &failure);

    return failure ? hf_in_fail_step(replay, failure, hf_in_call_err(call)) : value;
}

static hf_future call_spawn(hf_replay *replay, const hf_call *call)
{
    hf_record *record = NULL;
    hf_failure *failure = call_begin(replay, call, hf_in_call_input(call), &record);

    if (failure)
        hf_in_raise(replay, failure); /* there is no future to hand it to */
    record->spawned = true;
    record->err = hf_in_call_err(call);
    return (hf_future){.id = (uint32_t)record->step};
}

/* ---- public */

hf_value hf_activity_with(hf_ctx *w, const char *name, const hf_activity_opts *o)
{
    hf_replay *replay = hf_in_ready(w);
    hf_call call;

    if (!replay)
        return NULL;
    call = hf_in_activity_call(replay, name, o);
    return call_blocking(replay, &call);
}

hf_value hf_child_with(hf_ctx *w, const char *type, const hf_child_opts *o)
{
    hf_replay *replay = hf_in_ready(w);
    hf_call call;

    if (!replay)
        return NULL;
    call = hf_in_child_call(replay, type, o);
    return call_blocking(replay, &call);
}

hf_future hf_spawn_activity_with(hf_ctx *w, const char *name, const hf_activity_opts *o)
{
    hf_replay *replay = hf_in_ready(w);
    hf_call call;

    if (!replay)
        return (hf_future){0};
    call = hf_in_activity_call(replay, name, o);
    return call_spawn(replay, &call);
}

hf_future hf_spawn_child_with(hf_ctx *w, const char *type, const hf_child_opts *o)
{
    hf_replay *replay = hf_in_ready(w);
    hf_call call;

    if (!replay)
        return (hf_future){0};
    call = hf_in_child_call(replay, type, o);
    return call_spawn(replay, &call);
}

hf_value hf_async(hf_ctx *w, const char *function, hf_value in)
{
    hf_replay *replay = hf_in_ready(w);
    hf_child_opts options = {.size_ = sizeof(options)};
    hf_call call;

    if (!replay)
        return NULL;
    hf_in_name(replay, HF_NAME_TYPE, function);
    options.in =
        hf_json_(replay->mem, "{'function': %s, 'arguments': %p}", function, (const void *)in);
    if (!options.in)
        hf_in_break(replay, HF_NOMEM, "the arguments of an async function");
    call = hf_in_child_call(replay, HF_ASYNC_TYPE, &options);
    return call_blocking(replay, &call);
}
