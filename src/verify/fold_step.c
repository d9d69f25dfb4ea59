/* fold_step.c: steps. A step is opened once, resolved at most once, by the same shape and id. */
#include <inttypes.h>
#include <string.h>

#include "store/row.h"
#include "verify/fold_impl.h"

/* The key that names the same thing in every event of the shape; 0: none does. */
static const uint8_t shape_ids[] = {
    [HF_HISTORY_SHAPE_ACTIVITY] = HF_KEY_ACTIVITY_EXECUTION_ID,
    [HF_HISTORY_SHAPE_CHILD_WORKFLOW] = HF_KEY_CHILD_CALL_ID,
    [HF_HISTORY_SHAPE_CONDITION_WAIT] = HF_KEY_CONDITION_WAIT_ID,
    [HF_HISTORY_SHAPE_TIMER] = HF_KEY_TIMER_ID,
    [HF_HISTORY_SHAPE_MACHINE_STEP] = 0,
};

static bool id_of(const hf_event *event, hf_history_shape shape, hf_ulid *out_id)
{
    uint8_t key = shape_ids[shape];

    return key && hf_event_id(event, (hf_event_key)key, out_id);
}

/* Index of the first open step at or behind the number. */
static size_t open_find(const hf_fold *fold, int64_t step)
{
    size_t low = 0;
    size_t high = fold->open_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (fold->open[middle].step < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

hf_open_step *hf_fold_step_get(const hf_fold *fold, int64_t step)
{
    size_t at = open_find(fold, step);

    return at < fold->open_count && fold->open[at].step == step ? &fold->open[at] : NULL;
}

static hf_status open_add(hf_fold *fold, const hf_open_step *step, hf_err *err)
{
    size_t at = open_find(fold, step->step);
    hf_open_step *grown =
        hf_span_grow(fold->mem, fold->open, fold->open_count, &fold->open_room, sizeof(*grown));

    if (!grown)
        return hf_err_nomem(err, "the open steps of a run");
    fold->open = grown;
    memmove(&grown[at + 1], &grown[at], (fold->open_count - at) * sizeof(*grown));
    grown[at] = *step;
    fold->open_count++;
    return HF_OK;
}

static hf_status open_remove(hf_fold *fold, const hf_open_step *step, hf_err *err)
{
    size_t at = (size_t)(step - fold->open);
    int64_t number = step->step;

    memmove(&fold->open[at], &fold->open[at + 1],
            (fold->open_count - at - 1) * sizeof(fold->open[0]));
    fold->open_count--;
    return hf_span_add(&fold->resolved, fold->mem, number) ? HF_OK
                                                           : hf_err_nomem(err, "resolved steps");
}

/* ---- opening and resolving */

static hf_status step_open(hf_fold *fold, const hf_event *event, hf_history_shape shape,
                           int64_t seq, hf_err *err)
{
    hf_open_step step = {.step = event->step, .shape = shape};
    bool whole = hf_event_resolves_step(event);
    bool fresh = !hf_span_has(&fold->used, event->step);
    hf_status st;

    if (!fresh)
        hf_fold_find(fold, 9, "seq", seq,
                     "event %" PRId64 " (%s) opens step %" PRId64 " a second time", seq,
                     hf_event_type_text(event->type), event->step);
    step.has_id = id_of(event, shape, &step.id);
    st = hf_fold_group_open(fold, event, &step, seq, err);
    if (st || !fresh)
        return st;
    if (!hf_span_add(&fold->used, fold->mem, event->step) ||
        (whole && !hf_span_add(&fold->resolved, fold->mem, event->step)))
        return hf_err_nomem(err, "the steps of a run");
    return whole ? HF_OK : open_add(fold, &step, err);
}

/* The open step that the event speaks of; reports and returns NULL when there is none. */
static hf_open_step *step_match(hf_fold *fold, const hf_event *event, hf_history_shape shape,
                                int64_t seq)
{
    hf_open_step *step = hf_fold_step_get(fold, event->step);
    const char *type = hf_event_type_text(event->type);
    hf_ulid id;

    if (!step && hf_span_has(&fold->resolved, event->step)) {
        bool resolves = hf_event_resolves_step(event);

        hf_fold_find(fold, resolves ? 7 : 26, "seq", seq,
                     "event %" PRId64 " (%s) %s step %" PRId64 ", which was resolved before", seq,
                     type, resolves ? "resolves" : "speaks of", event->step);
        return NULL;
    }
    if (!step) {
        hf_fold_find(fold, 8, "seq", seq,
                     "event %" PRId64 " (%s) speaks of step %" PRId64 ", which was never opened",
                     seq, type, event->step);
        return NULL;
    }
    if (step->shape != shape) {
        hf_fold_find(fold, 8, "seq", seq,
                     "event %" PRId64 " (%s) is about a %s, but step %" PRId64 " is a %s", seq,
                     type, hf_history_shape_text(shape), event->step,
                     hf_history_shape_text(step->shape));
        return NULL;
    }
    if (step->has_id && id_of(event, shape, &id) && hf_ulid_compare(&step->id, &id) != 0)
        hf_fold_find(fold, 8, "seq", seq,
                     "event %" PRId64 " (%s) names another id than the event "
                     "that opened step %" PRId64,
                     seq, type, event->step);
    return step;
}

/* ---- attempts */

static void attempt_event(hf_fold *fold, const hf_event *event, hf_open_step *step, int64_t seq)
{
    hf_event_key key = event->type == HF_EVENT_ACTIVITY_RETRY_SCHEDULED ? HF_KEY_RETRY_AFTER_ATTEMPT
                                                                        : HF_KEY_ATTEMPT_NUMBER;
    int64_t number = 0;

    if (!hf_event_key_allowed(event->type, key) || !hf_event_int(event, key, &number))
        return;
    if (event->type == HF_EVENT_ACTIVITY_STARTED) {
        if (number != step->attempt + 1)
            hf_fold_find(fold, 25, "seq", seq,
                         "event %" PRId64 " starts attempt %" PRId64 " of step %" PRId64
                         ", the next is %" PRId64,
                         seq, number, event->step, step->attempt + 1);
        step->attempt = number < 0 ? 0 : number == INT64_MAX ? number - 1 : number;
        return;
    }
    if (number != step->attempt)
        hf_fold_find(fold, 26, "seq", seq,
                     "event %" PRId64 " (%s) is of attempt %" PRId64 " of step %" PRId64
                     ", the newest is %" PRId64,
                     seq, hf_event_type_text(event->type), number, event->step, step->attempt);
}

/* ---- timers */

static size_t pending_find(const hf_fold *fold, int64_t step)
{
    size_t low = 0;
    size_t high = fold->pending_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (fold->pending[middle].step < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool timer_pending(const hf_fold *fold, int64_t step, size_t *out_at)
{
    *out_at = pending_find(fold, step);
    return *out_at < fold->pending_count && fold->pending[*out_at].step == step;
}

/* Whether the event is about the timeout of a wait. The events that end such a timer need not say
   so again. */
static bool timer_of_wait(const hf_fold *fold, const hf_event *event)
{
    hf_slice kind;
    size_t at;

    return hf_event_text(event, HF_KEY_TIMER_KIND, &kind) ||
           (timer_pending(fold, event->step, &at) && fold->pending[at].of_wait);
}

static hf_status timer_add(hf_fold *fold, const hf_event *event, int64_t seq, hf_err *err)
{
    hf_open_timer timer = {.step = event->step, .due_us = HF_NONE};
    hf_open_timer *grown;
    size_t at;

    if (timer_pending(fold, event->step, &at)) {
        hf_fold_find(fold, 9, "seq", seq, "event %" PRId64 " sets a second timer for step %" PRId64,
                     seq, event->step);
        return HF_OK;
    }
    timer.of_wait = timer_of_wait(fold, event);
    (void)hf_event_time(event, HF_KEY_FIRE_AT, &timer.due_us);
    grown = hf_span_grow(fold->mem, fold->pending, fold->pending_count, &fold->pending_room,
                         sizeof(*grown));
    if (!grown)
        return hf_err_nomem(err, "the timers of a run");
    fold->pending = grown;
    memmove(&grown[at + 1], &grown[at], (fold->pending_count - at) * sizeof(*grown));
    grown[at] = timer;
    fold->pending_count++;
    return HF_OK;
}

static void early_check(hf_fold *fold, const hf_event *event, int64_t due_us, int64_t seq)
{
    int64_t fired_us = event->time_us;
    int64_t said_us = 0;

    if (hf_event_time(event, HF_KEY_FIRED_AT, &said_us) && said_us < fired_us)
        fired_us = said_us;
    if (due_us != HF_NONE && fired_us < due_us)
        hf_fold_find(fold, 29, "seq", seq,
                     "the timer of step %" PRId64 " fired %" PRId64 " us before it was due",
                     event->step, due_us - fired_us);
}

/* Takes the timer from the pending ones. `waits`: it is the timeout of a wait, so that no step
   complains when there is none. */
static void timer_end(hf_fold *fold, const hf_event *event, bool waits, int64_t seq)
{
    size_t at;

    if (!timer_pending(fold, event->step, &at)) {
        if (waits)
            hf_fold_find(fold, 8, "seq", seq,
                         "event %" PRId64 " (%s) is about a timer of step %" PRId64
                         " that is not pending",
                         seq, hf_event_type_text(event->type), event->step);
        return;
    }
    if (event->type == HF_EVENT_TIMER_FIRED)
        early_check(fold, event, fold->pending[at].due_us, seq);
    memmove(&fold->pending[at], &fold->pending[at + 1],
            (fold->pending_count - at - 1) * sizeof(fold->pending[0]));
    fold->pending_count--;
}

/* The timeout of a wait opens and resolves no step; only a signal wait is over when it fires, as it
   has no event of its own for that. */
static hf_status wait_timer_event(hf_fold *fold, const hf_event *event, int64_t seq, hf_err *err)
{
    hf_open_step *step = hf_fold_step_get(fold, event->step);

    if (event->type == HF_EVENT_TIMER_SCHEDULED)
        return timer_add(fold, event, seq, err);
    timer_end(fold, event, true, seq);
    if (event->type == HF_EVENT_TIMER_FIRED && step &&
        step->shape == HF_HISTORY_SHAPE_SIGNAL_WAIT) {
        fold->timed_out_wait = event->step;
        return open_remove(fold, step, err);
    }
    return HF_OK;
}

/* ---- an event */

hf_status hf_fold_step_event(hf_fold *fold, const hf_event *event, int64_t seq, hf_err *err)
{
    hf_history_shape shape = hf_event_shape(event->type);
    hf_open_step *step;
    hf_status st = HF_OK;

    if (event->step == 0 || shape == 0) /* an update only says at which step it was applied */
        return HF_OK;
    if (shape == HF_HISTORY_SHAPE_TIMER && timer_of_wait(fold, event))
        return wait_timer_event(fold, event, seq, err);
    if (hf_event_opens_step(event)) {
        st = step_open(fold, event, shape, seq, err);
        return !st && shape == HF_HISTORY_SHAPE_TIMER ? timer_add(fold, event, seq, err) : st;
    }
    if (shape == HF_HISTORY_SHAPE_TIMER)
        timer_end(fold, event, false, seq);
    if (event->type == HF_EVENT_SIGNAL_APPLIED && event->step == fold->timed_out_wait) {
        fold->timed_out_wait = 0; /* a signal that came before the timeout wins */
        return HF_OK;
    }
    step = step_match(fold, event, shape, seq);
    if (step && shape == HF_HISTORY_SHAPE_ACTIVITY)
        attempt_event(fold, event, step, seq);
    if (step && hf_event_resolves_step(event)) {
        hf_fold_group_resolve(fold, event, step, seq);
        st = open_remove(fold, step, err);
    }
    return st;
}

void hf_fold_step_end(hf_fold *fold)
{
    const hf_span_set *used = &fold->used;

    if (used->count > 1)
        hf_fold_find(fold, 9, "step", used->spans[0].last + 1,
                     "step %" PRId64 " was never opened, though step %" PRId64 " was",
                     used->spans[0].last + 1, used->spans[1].first);
    else if (used->count == 1 && used->spans[0].first != 1)
        hf_fold_find(fold, 9, "step", 1, "the first step is number %" PRId64 ", not 1",
                     used->spans[0].first);
}
