/* update.c: updates: functions of the user's that change a run's state between two of its steps.
   The rule: an update runs where history says it ran; one that waits runs where code has no
   recorded fact to go on with, so that every replay runs it at the same place. Must never let a
   failed update's change be seen by the body: the turn ends there. */
#include <string.h>

#include "replay/inside.h"

const hf_update_def *hf_in_update_def(const hf_replay *replay, const char *name, size_t len)
{
    const hf_update_def *update = replay->info.definition->updates;

    for (; update && update->name; update++)
        if (strlen(update->name) == len && memcmp(update->name, name, len) == 0)
            return update;
    return NULL;
}

/* Runs the handler. Returns its failure, or NULL with the result. */
static hf_failure *update_run(hf_replay *replay, const hf_update_fact *update, hf_value *out_value)
{
    const hf_update_def *def = hf_in_update_def(replay, update->name ? update->name : "",
                                                update->name ? strlen(update->name) : 0);
    hf_frame frame = {.outer = replay->frame, .place = replay->place};

    *out_value = NULL;
    hf_in_consume(replay, &update->accepted);
    if (!def || !def->apply)
        return hf_in_failure(replay, HF_NOTFOUND, HF_FAILURE_CATEGORY_TASK_FAILURE,
                             "unknown_update", "the definition has no such update");
    replay->frame = &frame;
    replay->place = HF_PLACE_UPDATE;
    if (setjmp(frame.jump) == 0)
        *out_value =
            def->apply(&replay->ctx, replay->state, hf_in_value(replay, &update->arguments));
    replay->frame = frame.outer;
    replay->place = frame.place;
    return frame.failure;
}

/* The handler changed the state when it ran first; if it fails now, the code is another. */
static void update_repeat(hf_replay *replay, const hf_update_fact *update)
{
    hf_value value;
    hf_failure *failure;
    char *expected;

    replay->quiet = true;
    failure = update_run(replay, update, &value);
    replay->quiet = false;
    if (!failure)
        return;
    expected = hf_mem_format(replay->mem, "update:%s, applied without failure",
                             update->name ? update->name : "");
    hf_in_mismatch(replay, update->step, NULL, expected ? expected : "update", NULL);
    replay->mismatch.recorded_events = hf_event_type_text(HF_EVENT_UPDATE_APPLIED);
    hf_in_leave(replay, HF_LEAVE_BLOCKED);
}

static void update_first(hf_replay *replay, hf_update_fact *update, int64_t step)
{
    size_t mark = replay->decision_count;
    hf_value value;
    hf_failure *failure = update_run(replay, update, &value);
    hf_decision_row *row;

    update->ran = true;
    if (failure)
        replay->decision_count = mark; /* what it asked for goes with it */
    row = failure ? hf_in_decide(replay, HF_DECISION_FAIL_UPDATE, step, 1)
                  : hf_in_decide(replay, HF_DECISION_APPLY_UPDATE, step, 2);
    row->name = hf_in_text(replay, update->name);
    if (!failure) {
        row->value = hf_in_payload(replay, value);
        row->fact.seq = update->accepted.seq;
        return;
    }
    hf_in_decide_failure(replay, row, failure);
    row->failure.seq = update->accepted.seq;
    replay->spoiled = true;
    hf_in_leave(replay, HF_LEAVE_PARKED);
}

void hf_in_updates_recorded(hf_replay *replay, int64_t step, int64_t limit)
{
    hf_list *queue = &replay->history.applied;
    hf_list *link;

    while ((link = hf_list_first(queue))) {
        hf_update_fact *update = HF_LIST_ENTRY(link, hf_update_fact, link);

        if (update->step > step || update->applied_seq > limit)
            return;
        update_repeat(replay, update);
        hf_list_remove(link);
        hf_update_fact_free(update);
    }
}

/* Whether a signal that the update stands behind is not applied yet. */
static bool update_waits(const hf_replay *replay, const hf_update_fact *update)
{
    const hf_list *queue = &replay->history.signals;

    if (!update->queued)
        return false;
    for (hf_list *link = hf_list_first(queue); link; link = hf_list_next(queue, link)) {
        const hf_signal_fact *signal = HF_LIST_ENTRY(link, hf_signal_fact, link);

        if (!signal->taken && signal->fact.seq < update->accepted.seq)
            return true;
    }
    return false;
}

void hf_in_updates_pending(hf_replay *replay, int64_t step)
{
    hf_list *queue = &replay->history.updates;

    if (replay->frozen)
        return;
    for (hf_list *link = hf_list_first(queue); link; link = hf_list_next(queue, link)) {
        hf_update_fact *update = HF_LIST_ENTRY(link, hf_update_fact, link);

        if (!update->ran && !update_waits(replay, update))
            update_first(replay, update, step);
    }
}
