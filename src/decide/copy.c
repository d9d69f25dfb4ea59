/* copy.c: see copy.h. Where the copied run is cut, and what is open there. */
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "decide/copy_impl.h"

/* ---- what is open */

static hf_status open_add(hf_copy *copy, copy_kind kind, size_t at, hf_err *err)
{
    copy_open *item;

    if (copy->open_count == copy->open_room) {
        size_t room = copy->open_room ? copy->open_room * 2 : 16;
        copy_open *grown = hf_mem_array(hf_unit_mem(copy->unit), room, sizeof(*grown));

        if (!grown)
            return hf_err_nomem(err, "the open work of a copy");
        if (copy->open_count)
            memcpy(grown, copy->open, copy->open_count * sizeof(*grown));
        copy->open = grown;
        copy->open_room = room;
    }
    item = &copy->open[copy->open_count++];
    *item = (copy_open){.kind = kind, .at = at};
    if (kind == COPY_SIGNAL || kind == COPY_UPDATE)
        (void)hf_event_id(&copy->events[at],
                          kind == COPY_SIGNAL ? HF_KEY_SIGNAL_ID : HF_KEY_UPDATE_ID, &item->id);
    return HF_OK;
}

static copy_open *open_find(const hf_copy *copy, copy_kind kind, int64_t step)
{
    for (size_t i = 0; i < copy->open_count; i++)
        if (copy->open[i].kind == kind && copy->events[copy->open[i].at].step == step)
            return &copy->open[i];
    return NULL;
}

/* Order is kept: signals are numbered anew as they came. */
static void open_end(hf_copy *copy, const copy_open *item)
{
    size_t at;

    if (!item)
        return;
    at = (size_t)(item - copy->open);
    memmove(&copy->open[at], &copy->open[at + 1],
            (copy->open_count - at - 1) * sizeof(copy->open[0]));
    copy->open_count--;
}

static void message_end(hf_copy *copy, const hf_event *event, hf_event_key key)
{
    hf_ulid id;

    if (!hf_event_id(event, key, &id))
        return;
    for (size_t i = 0; i < copy->open_count; i++)
        if ((copy->open[i].kind == COPY_SIGNAL || copy->open[i].kind == COPY_UPDATE) &&
            hf_ulid_compare(&copy->open[i].id, &id) == 0) {
            open_end(copy, &copy->open[i]);
            return;
        }
}

static void attempt_note(hf_copy *copy, const hf_event *event)
{
    copy_open *item = open_find(copy, COPY_ACTIVITY, event->step);

    if (!item)
        return;
    if (event->type == HF_EVENT_ACTIVITY_STARTED) {
        item->lost += item->running; /* the one before ended with its worker */
        item->started++;
        item->running = true;
    } else if (event->type == HF_EVENT_ACTIVITY_RETRY_SCHEDULED) {
        item->running = false;
    }
}

static hf_status event_note(hf_copy *copy, size_t at, hf_err *err)
{
    const hf_event *event = &copy->events[at];

    switch ((int)event->type) {
    case HF_EVENT_ACTIVITY_SCHEDULED:
        return open_add(copy, COPY_ACTIVITY, at, err);
    case HF_EVENT_ACTIVITY_STARTED:
    case HF_EVENT_ACTIVITY_RETRY_SCHEDULED:
        attempt_note(copy, event);
        break;
    case HF_EVENT_ACTIVITY_COMPLETED:
    case HF_EVENT_ACTIVITY_FAILED:
    case HF_EVENT_ACTIVITY_TIMED_OUT:
    case HF_EVENT_ACTIVITY_CANCELLED:
        open_end(copy, open_find(copy, COPY_ACTIVITY, event->step));
        break;
    case HF_EVENT_TIMER_SCHEDULED:
        return open_add(copy, COPY_TIMER, at, err);
    case HF_EVENT_TIMER_FIRED:
    case HF_EVENT_TIMER_CANCELLED:
        open_end(copy, open_find(copy, COPY_TIMER, event->step));
        break;
    case HF_EVENT_CHILD_WORKFLOW_SCHEDULED:
        return open_add(copy, COPY_CHILD, at, err);
    case HF_EVENT_CHILD_RUN_COMPLETED:
    case HF_EVENT_CHILD_RUN_FAILED:
    case HF_EVENT_CHILD_RUN_CANCELLED:
    case HF_EVENT_CHILD_RUN_TERMINATED:
        open_end(copy, open_find(copy, COPY_CHILD, event->step));
        break;
    case HF_EVENT_SIGNAL_RECEIVED:
        return open_add(copy, COPY_SIGNAL, at, err);
    case HF_EVENT_UPDATE_ACCEPTED:
        return open_add(copy, COPY_UPDATE, at, err);
    case HF_EVENT_SIGNAL_APPLIED:
        message_end(copy, event, HF_KEY_SIGNAL_ID);
        break;
    case HF_EVENT_UPDATE_COMPLETED:
        message_end(copy, event, HF_KEY_UPDATE_ID);
        break;
    }
    return HF_OK;
}

/* ---- the cut */

/* Events up to those that closed the run: the closing one, what it withdrew, and who asked. */
static size_t end_find(const hf_event *events, size_t count)
{
    size_t end = 0;

    while (end < count && !hf_event_has_flag(events[end].type, HF_EVENT_CLOSES))
        end++;
    if (end == count)
        return count;
    while (end > 0 && (events[end - 1].type == HF_EVENT_ACTIVITY_CANCELLED ||
                       events[end - 1].type == HF_EVENT_TIMER_CANCELLED))
        end--;
    if (end > 0 && (events[end - 1].type == HF_EVENT_CANCEL_REQUESTED ||
                    events[end - 1].type == HF_EVENT_TERMINATE_REQUESTED))
        end--;
    return end;
}

/* The first step of the outermost barrier that the event's step belongs to; its own without one. */
static hf_status barrier_find(hf_copy *copy, const hf_event *event, int64_t *out_first, hf_err *err)
{
    hf_value value = NULL;
    hf_slice path;
    hf_status st;

    *out_first = event->step;
    if (!hf_event_key_allowed(event->type, HF_KEY_PARALLEL_GROUP_PATH) ||
        !hf_event_json(event, HF_KEY_PARALLEL_GROUP_PATH, &path))
        return HF_OK;
    st = hf_json_read(hf_unit_mem(copy->unit), path, NULL, &value, err);
    if (!st)
        *out_first = hf_int(hf_at(value, 0), "parallel_group_base_sequence", event->step);
    return st;
}

static hf_status cut_find(hf_copy *copy, bool *out_found, hf_err *err)
{
    int64_t top = 0;
    int64_t first = 0;
    hf_status st;

    *out_found = false;
    copy->end = end_find(copy->events, copy->count);
    for (copy->kept = 0; copy->kept < copy->end; copy->kept++) {
        const hf_event *event = &copy->events[copy->kept];

        if (!hf_event_opens_step(event))
            continue;
        if (event->step > copy->step) {
            st = barrier_find(copy, event, &first, err);
            *out_found = !st && first > copy->step;
            return st;
        }
        top = event->step;
    }
    *out_found = top == copy->step;
    return HF_OK;
}

size_t hf_copy_child_ended(const hf_copy *copy, int64_t step)
{
    for (size_t i = copy->kept; i < copy->end; i++)
        if (copy->events[i].step == step && hf_event_resolves_step(&copy->events[i]))
            return i;
    return 0;
}

hf_status hf_copy_fold(hf_copy *copy, hf_rejection_reason *out_refused, hf_err *err)
{
    bool found = false;
    hf_status st = copy->step < 0 ? HF_OK : cut_find(copy, &found, err);

    *out_refused = (hf_rejection_reason)0;
    if (!st && (!found || copy->kept < 2)) {
        *out_refused = HF_REJECTION_NO_STEP_BOUNDARY;
        return HF_OK;
    }
    for (size_t i = 0; !st && i < copy->kept; i++) {
        st = event_note(copy, i, err);
        if (hf_event_by_code(&copy->events[i]))
            copy->own = i + 1;
    }
    for (size_t i = 0; !st && !copy->reset && i < copy->open_count; i++)
        if (copy->open[i].kind == COPY_CHILD &&
            !hf_copy_child_ended(copy, copy->events[copy->open[i].at].step))
            *out_refused = HF_REJECTION_CHILD_OPEN;
    return st;
}

bool hf_copy_takes(const hf_copy *copy, const hf_copy_call *call)
{
    return call->child.step != HF_NONE && open_find(copy, COPY_CHILD, call->child.step) &&
           !hf_copy_child_ended(copy, call->child.step);
}
