/* step.c: what all steps share: who may begin one, how it is compared with history, and how code
   waits for it. The rule of every step: updates that history applied before it, then the guard,
   then the recorded end; an open step parks; nothing recorded is decided. */
#include <inttypes.h>
#include <string.h>

#include "base/options.h"
#include "model/name.h"
#include "replay/inside.h"

static const char *place_text(hf_place place)
{
    switch (place) {
    case HF_PLACE_UPDATE:
        return "an update";
    case HF_PLACE_EFFECT:
        return "a side effect";
    case HF_PLACE_PREDICATE:
        return "a predicate";
    case HF_PLACE_QUERY:
        return "a query";
    case HF_PLACE_OUTSIDE:
    case HF_PLACE_BODY:
        break;
    }
    return "this place";
}

hf_replay *hf_in_ready(hf_ctx *w)
{
    hf_replay *replay = w && w->tag == HF_CTX_TAG ? w->replay : NULL;

    if (!replay || !replay->coro || !hf_coro_inside(replay->coro) || replay->leaving)
        return NULL;
    if (replay->place != HF_PLACE_BODY)
        hf_in_misuse(replay, "step_not_allowed", "%s cannot take a step",
                     place_text(replay->place));
    return replay;
}

hf_ctx *hf_here_(hf_ctx *w, const char *at)
{
    if (w && w->tag == HF_CTX_TAG)
        w->replay->here = at;
    return w;
}

void hf_in_name(hf_replay *replay, hf_name_kind kind, const char *name)
{
    hf_err err = {0};

    if (!name)
        hf_in_misuse(replay, "invalid_name", "a step was given no %s", hf_name_kind_text(kind));
    if (hf_name_check(kind, hf_slice_of(name), &err))
        hf_in_misuse(replay, "invalid_name", "%s", err.text);
}

void hf_in_options(hf_replay *replay, void *out, size_t size, const void *given)
{
    hf_err err = {0};

    if (hf_options_take(out, size, given, &err))
        hf_in_misuse(replay, "invalid_options", "%s", err.text);
}

void hf_in_consume(hf_replay *replay, const hf_fact *fact)
{
    hf_fact *newest = &replay->consumed;

    if (fact->seq > newest->seq) {
        newest->seq = fact->seq;
        newest->bytes = fact->bytes;
    }
    if (fact->time_us > newest->time_us)
        newest->time_us = fact->time_us;
}

bool hf_in_cancel_waits(const hf_replay *replay)
{
    return replay->history.cancel.seq != 0 && !replay->cancel_heard && !replay->shielded;
}

static hf_failure *cancel_hear(hf_replay *replay)
{
    const char *reason = replay->history.cancel_reason;
    hf_failure *failure = hf_in_failure(replay, HF_CANCELLED, HF_FAILURE_CATEGORY_CANCELLED,
                                        "cancelled", reason ? reason : "the run was cancelled");

    failure->cancelled = true;
    replay->cancel_heard = true;
    hf_in_consume(replay, &replay->history.cancel);
    return failure;
}

bool hf_in_visible(const hf_replay *replay, const hf_fact *fact)
{
    return !hf_in_cancel_waits(replay) || fact->seq < replay->history.cancel.seq;
}

bool hf_in_ended(const hf_replay *replay, const hf_record *record)
{
    return record->end != HF_RECORD_OPEN && record->end != HF_RECORD_WITHDRAWN &&
           hf_in_visible(replay, &record->ended);
}

void hf_in_pass(hf_replay *replay, hf_record *record)
{
    record->passed = true;
    record->spawned = false;
    hf_history_settle(&replay->history, record);
}

hf_failure *hf_in_cancel_due(hf_replay *replay)
{
    hf_history *history = &replay->history;
    const hf_record *next = hf_history_get(history, history->entered + 1);

    if (!hf_in_cancel_waits(replay) || (next && next->open_seq < history->cancel.seq))
        return NULL;
    hf_in_updates_recorded(replay, history->entered + 1, history->cancel.seq);
    return cancel_hear(replay);
}

hf_failure *hf_in_enter(hf_replay *replay, const hf_want *want, hf_record **out_record,
                        bool *out_fresh)
{
    hf_history *history = &replay->history;
    int64_t step = history->entered + 1;
    hf_record *record = hf_history_get(history, step);
    const hf_want known = {.look = want->look, .at = want->at ? want->at : replay->here};
    bool fresh = !record;
    hf_failure *cancelled;

    replay->here = NULL;
    hf_in_tell_survived(replay);
    hf_in_room(replay, 0);
    cancelled = hf_in_cancel_due(replay);
    if (cancelled)
        return cancelled;
    hf_in_updates_recorded(replay, step, fresh ? INT64_MAX : record->open_seq);
    if (fresh && history->top < step)
        hf_in_updates_pending(replay, step);
    if (fresh && history->top >= step) {
        hf_in_mismatch(replay, step, known.at, hf_history_shape_text(known.look.shape), NULL);
        hf_in_leave(replay, HF_LEAVE_BLOCKED);
    }
    if (!fresh && !hf_in_same(replay, record, &known))
        hf_in_leave(replay, HF_LEAVE_BLOCKED);
    while (fresh && replay->frozen) /* it says what it would begin, and stays here */
        hf_in_park(replay, hf_history_shape_text(known.look.shape), known.look.name);
    record = hf_history_make(history, step);
    if (!record)
        hf_in_break(replay, HF_NOMEM, "a step");
    record->at = known.at;
    if (fresh && !hf_look_copy(&record->wanted, &known.look))
        hf_in_break(replay, HF_NOMEM, "a step");
    history->entered = step;
    if (replay->info.entered)
        replay->info.entered(replay->info.entered_ctx, step, known.at);
    *out_record = record;
    *out_fresh = fresh;
    return NULL;
}

hf_failure *hf_in_round(hf_replay *replay)
{
    int64_t step = replay->history.entered;

    if (hf_in_cancel_waits(replay)) {
        hf_in_updates_recorded(replay, step, replay->history.cancel.seq);
        return cancel_hear(replay);
    }
    hf_in_updates_recorded(replay, step, INT64_MAX);
    hf_in_updates_pending(replay, step);
    return NULL;
}

hf_failure *hf_in_await(hf_replay *replay, hf_record *record, const char *kind, const char *name)
{
    while (!hf_in_ended(replay, record)) {
        hf_failure *failure = hf_in_round(replay);

        if (failure)
            return failure;
        hf_in_park(replay, kind, name);
    }
    hf_in_updates_recorded(replay, replay->history.entered, record->ended.seq);
    if (!record->timer_inline)
        hf_in_consume(replay, &record->ended);
    return NULL;
}
