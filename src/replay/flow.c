/* flow.c: how code ends and how failures travel. A failed step flies to the nearest frame with
   longjmp: a frame lives deeper on the same coroutine's stack than whoever raises, so a jump never
   crosses a coroutine and never lands in a frame that is gone. A switch of stacks for each
   protected call would do the same with a stack each; workflow code owns only arena memory, so
   there is nothing on the way that a jump could leak. The rule: deferred functions run once,
   whichever way the code ends. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/utf8.h"
#include "base/value.h"
#include "replay/inside.h"

enum { MESSAGE_BYTES = 512, REFUSED_MAX = 1000 };

hf_failure *hf_in_failure(hf_replay *replay, hf_status status, hf_failure_category category,
                          const char *type, const char *message)
{
    hf_failure *failure = hf_in_alloc(replay, sizeof(*failure));

    failure->seen = (hf_error){.status = status,
                               .type = hf_in_keep(replay, type),
                               .message = hf_in_keep(replay, message ? message : "")};
    failure->category = category;
    failure->older = replay->failures;
    replay->failures = failure;
    return failure;
}

void hf_in_raise(hf_replay *replay, hf_failure *failure)
{
    hf_frame *frame = replay->frame;

    HF_ASSERT(frame != NULL);
    replay->survived = NULL; /* code did not go on after all */
    frame->failure = failure;
    longjmp(frame->jump, 1);
}

void hf_in_unwind(hf_replay *replay)
{
    hf_in_raise(replay, hf_in_failure(replay, HF_ABANDONED, HF_FAILURE_CATEGORY_INTERNAL,
                                      "abandoned", "the run leaves memory"));
}

void hf_in_misuse(hf_replay *replay, const char *type, const char *format, ...)
{
    char message[MESSAGE_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    hf_in_raise(replay,
                hf_in_failure(replay, HF_MISUSE, HF_FAILURE_CATEGORY_TASK_FAILURE, type, message));
}

/* Code goes on though it was handed this failure. */
static void failure_survive(hf_replay *replay, hf_failure *failure)
{
    hf_failure **end = &replay->survived;

    if (failure->step == 0)
        return;
    while (*end && *end != failure)
        end = &(*end)->survivor;
    if (!*end) {
        failure->survivor = NULL;
        *end = failure;
    }
}

void hf_in_tell_survived(hf_replay *replay)
{
    while (replay->survived) {
        hf_failure *failure = replay->survived;

        replay->survived = failure->survivor;
        if (failure->recorded)
            continue;
        failure->recorded = true;
        hf_in_decide_failure(
            replay, hf_in_decide(replay, HF_DECISION_HANDLE_FAILURE, failure->step, 1), failure);
    }
}

hf_value hf_in_fail_step(hf_replay *replay, hf_failure *failure, const hf_error **err)
{
    if (!err)
        hf_in_raise(replay, failure);
    failure_survive(replay, failure);
    *err = &failure->seen;
    return NULL;
}

static const char *failure_type(const hf_record_failure *failure)
{
    switch ((int)failure->event) {
    case HF_EVENT_ACTIVITY_TIMED_OUT:
        return "timeout";
    case HF_EVENT_CHILD_RUN_CANCELLED:
        return "child_cancelled";
    case HF_EVENT_CHILD_RUN_TERMINATED:
        return "child_terminated";
    }
    return failure->type ? failure->type : "failure";
}

static bool failure_is(const hf_failure_def *def, const char *type)
{
    hf_slice rest = hf_slice_of(def->aliases);
    hf_slice alias;

    if (strcmp(def->type, type) == 0)
        return true;
    while (hf_slice_split(&rest, ',', &alias))
        if (hf_slice_equal(hf_slice_trim(alias), hf_slice_of(type)))
            return true;
    return false;
}

/* What the definition declares of the type; NULL: nothing. */
static const hf_failure_def *failure_def(const hf_replay *replay, const char *type)
{
    const hf_failure_def *def = replay->info.definition->failures;

    while (def && def->type && !failure_is(def, type))
        def++;
    return def && def->type ? def : NULL;
}

/* Type and details as the code of today knows them. Without them it cannot go on as it did. */
static void failure_decode(hf_replay *replay, const hf_record *record, hf_error *seen)
{
    const hf_failure_def *def = failure_def(replay, seen->type);
    hf_place place = replay->place;
    hf_value details = NULL;

    if (!def)
        return;
    replay->place = HF_PLACE_EFFECT;
    if (def->decode)
        details = def->decode(replay->mem, seen);
    replay->place = place;
    if (!details || hf_value_broken(details, NULL)) {
        hf_in_unresolved(replay, record, seen->type, def->decode != NULL);
        hf_in_leave(replay, HF_LEAVE_BLOCKED);
    }
    seen->type = def->type;
    seen->details = details;
}

hf_failure *hf_in_record_failure(hf_replay *replay, const hf_record *record)
{
    const hf_record_failure *from = record->failure;
    hf_status status = from->event == HF_EVENT_ACTIVITY_TIMED_OUT ? HF_TIMEOUT : HF_ERROR;
    hf_failure *failure =
        hf_in_failure(replay, status, from->category, failure_type(from), from->message);

    failure->seen.retryable = !from->final;
    if (from->details.form)
        failure->seen.details = hf_in_value(replay, &from->details);
    failure_decode(replay, record, &failure->seen);
    failure->step = record->step;
    failure->recorded = record->handled_seq != 0;
    return failure;
}

void hf_in_run_deferred(hf_replay *replay)
{
    while (replay->deferred) {
        hf_deferred *deferred = replay->deferred;

        replay->deferred = deferred->older;
        deferred->fn(deferred->arg);
    }
}

/* ---- the end of the code */

/* Undoes what was done, newest first. The first that fails ends it: what it would have undone is
   still there, and whoever reads the failure must know where it stopped. */
static void compensate_all(hf_replay *replay)
{
    replay->shielded = true;
    while (replay->compensations) {
        hf_compensation *undo = replay->compensations;
        const hf_activity_opts options = {.size_ = sizeof(options), .in = undo->in};
        hf_call call;
        hf_failure *failed = NULL;

        replay->compensations = undo->older;
        call = hf_in_activity_call(replay, undo->activity, &options);
        (void)hf_in_activity(replay, &call, undo->in, &failed);
        if (failed)
            return;
    }
}

/* History that goes on where the code has ended was written by other code. */
static void end_guard(hf_replay *replay, const char *expected)
{
    hf_history *history = &replay->history;

    if (history->top <= history->entered)
        return;
    hf_in_mismatch(replay, history->entered + 1, NULL, expected,
                   hf_history_get(history, history->entered + 1));
    hf_in_leave(replay, HF_LEAVE_BLOCKED);
}

HF_NORETURN_FN static void body_complete(hf_replay *replay, hf_value value)
{
    hf_decision_row *row;

    hf_in_tell_survived(replay);
    end_guard(replay, "the end of the workflow");
    row = hf_in_decide(replay, HF_DECISION_COMPLETE_WORKFLOW, 0, 1);
    row->value = hf_in_payload(replay, value);
    hf_in_run_deferred(replay);
    hf_in_leave(replay, HF_LEAVE_CLOSED);
}

HF_NORETURN_FN static void body_fail(hf_replay *replay, hf_failure *failure)
{
    hf_frame last = {.place = HF_PLACE_BODY};

    hf_in_run_deferred(replay);
    replay->frame = &last;
    if (setjmp(last.jump) == 0) /* a misuse among the compensations ends them like a failure */
        compensate_all(replay);
    if (failure->category != HF_FAILURE_CATEGORY_TASK_FAILURE) /* code that no run can follow */
        end_guard(replay, "the failure of the workflow");
    hf_in_decide_failure(replay,
                         hf_in_decide(replay,
                                      failure->cancelled ? HF_DECISION_COMPLETE_CANCELLED
                                                         : HF_DECISION_FAIL_WORKFLOW,
                                      0, 1),
                         failure);
    hf_in_leave(replay, HF_LEAVE_CLOSED);
}

void hf_in_body(void *arg)
{
    hf_replay *replay = arg;
    hf_frame bottom = {.place = HF_PLACE_BODY};

    replay->frame = &bottom;
    replay->place = HF_PLACE_BODY;
    if (setjmp(bottom.jump) == 0) {
        hf_value in = hf_in_value(replay, &replay->history.arguments);
        hf_value out = replay->info.definition->run(&replay->ctx, in);

        replay->place = HF_PLACE_BODY;
        if (!replay->leaving)
            body_complete(replay, out);
    }
    if (replay->leaving)
        hf_in_leave(replay, HF_LEAVE_ABANDONED);
    replay->place = HF_PLACE_BODY;
    body_fail(replay, bottom.failure);
}

/* ---- public */

static hf_replay *flow_replay(hf_ctx *w)
{
    HF_ASSERT(w && w->tag == HF_CTX_TAG); /* these calls cannot come back to say so */
    HF_ASSERT(w->replay->frame != NULL);
    return w->replay;
}

static const char *text_or(const char *text, const char *otherwise)
{
    return text && hf_utf8_valid(hf_slice_of(text)) ? text : otherwise;
}

void hf_fail(hf_ctx *w, const char *type, const char *message)
{
    hf_replay *replay = flow_replay(w);

    hf_in_raise(replay, hf_in_failure(replay, HF_ERROR, HF_FAILURE_CATEGORY_APPLICATION,
                                      text_or(type && *type ? type : "error", "invalid_failure"),
                                      text_or(message ? message : "", "the message is not UTF-8")));
}

void hf_refail(hf_ctx *w, const hf_error *e)
{
    hf_replay *replay = flow_replay(w);
    hf_failure *failure = replay->failures;

    while (failure && &failure->seen != e)
        failure = failure->older;
    if (!failure && !e)
        hf_in_misuse(replay, "invalid_failure", "hf_refail was given no failure");
    if (!failure) {
        failure = hf_in_failure(replay, e->status, HF_FAILURE_CATEGORY_APPLICATION,
                                text_or(e->type && *e->type ? e->type : "error", "invalid_failure"),
                                text_or(e->message, ""));
        failure->seen.details = e->details;
        failure->seen.retryable = e->retryable;
        failure->seen.cause = e->cause;
    }
    hf_in_raise(replay, failure);
}

/* Code that goes on taking steps after it was told is left where it is. */
static bool leaving(hf_ctx *w)
{
    hf_replay *replay = w && w->tag == HF_CTX_TAG ? w->replay : NULL;

    if (!replay || !replay->leaving)
        return false;
    if (++replay->refused > REFUSED_MAX)
        hf_in_leave(replay, HF_LEAVE_ABANDONED);
    return true;
}

hf_status hf_protect(hf_ctx *w, hf_workflow_fn *fn, hf_value in, hf_value *out,
                     const hf_error **err)
{
    hf_replay *replay = leaving(w) ? NULL : hf_in_ready(w);
    hf_frame frame = {.place = HF_PLACE_BODY};

    if (out)
        *out = NULL;
    if (err)
        *err = NULL;
    if (!replay)
        return leaving(w) ? HF_ABANDONED : HF_MISUSE;
    if (!fn)
        hf_in_misuse(replay, "invalid_call", "hf_protect was given no function");
    frame.outer = replay->frame;
    frame.place = replay->place;
    replay->frame = &frame;
    if (setjmp(frame.jump) == 0) {
        hf_value value = fn(w, in);

        replay->frame = frame.outer;
        if (out)
            *out = value ? value : hf_value_null();
        return HF_OK;
    }
    replay->frame = frame.outer;
    replay->place = frame.place;
    failure_survive(replay, frame.failure);
    if (err)
        *err = &frame.failure->seen;
    return frame.failure->seen.status;
}

void hf_abandon(hf_ctx *w)
{
    hf_in_leave(flow_replay(w), HF_LEAVE_ABANDONED);
}

void hf_defer(hf_ctx *w, void (*fn)(void *), void *arg)
{
    hf_replay *replay = hf_in_ready(w);
    hf_deferred *deferred;

    if (!replay || !fn)
        return;
    deferred = hf_in_alloc(replay, sizeof(*deferred));
    *deferred = (hf_deferred){.older = replay->deferred, .fn = fn, .arg = arg};
    replay->deferred = deferred;
}

void hf_compensate(hf_ctx *w, const char *activity, hf_value in)
{
    hf_replay *replay = hf_in_ready(w);
    hf_compensation *undo;

    if (!replay)
        return;
    hf_in_name(replay, HF_NAME_TYPE, activity);
    undo = hf_in_alloc(replay, sizeof(*undo));
    *undo = (hf_compensation){
        .older = replay->compensations, .activity = hf_in_keep(replay, activity), .in = in};
    replay->compensations = undo;
}

void hf_compensated(hf_ctx *w)
{
    hf_replay *replay = hf_in_ready(w);

    if (replay)
        replay->compensations = NULL;
}
