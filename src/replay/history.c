/* history.c: the fold over events. The rule: nothing here depends on how many events came at once;
   the same events in the same order leave the same facts. Must never look at what code wants. */
#include "replay/history.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/value.h"

enum {
    EVENT_BYTES = 16,      /* the head of an event, about */
    FIELD_BYTES = 4,       /* key and length of a field, about */
    STEP_GAP_MAX = 100000, /* a step further ahead than this is nonsense */
    GROUPS_MAX = 64        /* nesting of barriers */
};

/* The key that names a step of the shape, and the one that identifies it; 0: none does. */
static const uint8_t shape_names[] = {
    [HF_HISTORY_SHAPE_ACTIVITY] = HF_KEY_ACTIVITY_TYPE,
    [HF_HISTORY_SHAPE_LOCAL_ACTIVITY] = HF_KEY_ACTIVITY_TYPE,
    [HF_HISTORY_SHAPE_CHILD_WORKFLOW] = HF_KEY_CHILD_WORKFLOW_TYPE,
    [HF_HISTORY_SHAPE_CONDITION_WAIT] = HF_KEY_CONDITION_KEY,
    [HF_HISTORY_SHAPE_SIGNAL_WAIT] = HF_KEY_SIGNAL_NAME,
    [HF_HISTORY_SHAPE_VERSION_MARKER] = HF_KEY_CHANGE_ID,
    [HF_HISTORY_SHAPE_MACHINE_STEP] = 0,
};
static const uint8_t shape_ids[] = {
    [HF_HISTORY_SHAPE_CHILD_WORKFLOW] = HF_KEY_CHILD_CALL_ID,
    [HF_HISTORY_SHAPE_CONDITION_WAIT] = HF_KEY_CONDITION_WAIT_ID,
    [HF_HISTORY_SHAPE_MACHINE_STEP] = 0,
};

/* ---- copies */

static char *text_copy(hf_slice text)
{
    return hf_alloc_text(text.ptr ? text.ptr : "", text.len);
}

/* Absent keys leave *out_text NULL. */
static bool text_take(const hf_event *event, hf_event_key key, char **out_text)
{
    hf_slice text;

    if ((int)key == HF_KEY_NONE || !hf_event_key_allowed(event->type, key) ||
        !hf_event_text(event, key, &text))
        return true;
    hf_alloc_free(*out_text);
    *out_text = text_copy(text);
    return *out_text != NULL;
}

bool hf_stored_take(const hf_event *event, hf_event_key key, hf_stored *out_stored)
{
    hf_payload_value payload;
    hf_slice bytes;

    if (!hf_event_key_allowed(event->type, key) || !hf_event_payload(event, key, &payload))
        return true;
    hf_stored_fini(out_stored);
    bytes = payload.form == HF_PAYLOAD_FORM_INLINE
                ? payload.bytes
                : hf_slice_from(payload.digest, payload.digest ? HF_SHA256_BYTES : 0);
    out_stored->bytes = text_copy(bytes);
    if (!out_stored->bytes)
        return false;
    out_stored->form = payload.form;
    out_stored->codec = payload.codec;
    out_stored->size = payload.size;
    out_stored->len = bytes.len;
    return true;
}

/* ---- groups */

static bool group_read(hf_value item, hf_decision_group *out_group)
{
    const char *kind = hf_str(item, "parallel_group_kind", NULL);

    out_group->base_step = hf_int(item, "parallel_group_base_sequence", -1);
    out_group->size = hf_int(item, "parallel_group_size", -1);
    out_group->index = hf_int(item, "parallel_group_index", -1);
    return kind && hf_parallel_group_kind_parse(hf_slice_of(kind), &out_group->kind);
}

/* A path that cannot be read leaves the step without groups: the guard says so to operators. */
static hf_status groups_take(hf_step_look *look, hf_slice path, hf_err *err)
{
    hf_mem *mem = hf_mem_new();
    hf_value value = NULL;
    hf_status st = mem ? hf_json_read(mem, path, NULL, &value, err) : HF_NOMEM;
    size_t count = hf_len(value);

    if (st == HF_NOMEM)
        goto done;
    st = HF_OK;
    if (hf_value_kind_of(value) != HF_VALUE_ARRAY || count == 0 || count > GROUPS_MAX)
        goto done;
    look->groups = hf_alloc_array(count, sizeof(*look->groups));
    if (!look->groups) {
        st = HF_NOMEM;
        goto done;
    }
    look->group_count = count;
    for (size_t i = 0; i < count; i++)
        if (!group_read(hf_at(value, i), &look->groups[i]))
            look->groups[i] = (hf_decision_group){0};
done:
    hf_mem_free(mem);
    return st == HF_NOMEM ? hf_err_nomem(err, "the groups of a step") : HF_OK;
}

/* ---- steps */

static void type_note(hf_record *record, hf_event_type type)
{
    for (size_t i = 0; i < record->type_count; i++)
        if (record->types[i] == (uint8_t)type)
            return;
    if (record->type_count < HF_RECORD_TYPES_MAX)
        record->types[record->type_count++] = (uint8_t)type;
}

static hf_fact fact_now(const hf_history *history, const hf_event *event)
{
    return (hf_fact){.seq = history->seq, .time_us = event->time_us, .bytes = history->bytes};
}

static void record_end(hf_history *history, hf_record *record, const hf_event *event,
                       hf_record_end end)
{
    record->end = end;
    record->ended = fact_now(history, event);
}

static hf_status step_open(hf_history *history, const hf_event *event, hf_history_shape shape,
                           hf_err *err)
{
    hf_record *record = hf_history_get(history, event->step);
    hf_slice path;
    bool local = false;
    int64_t number = 0;

    if (record ? record->recorded.shape != 0 : event->step <= history->entered)
        return hf_err_set(err, HF_CORRUPT, "event %" PRId64 " (%s) opens step %" PRId64 " again",
                          history->seq, hf_event_type_text(event->type), event->step);
    if (event->step - history->top > STEP_GAP_MAX && event->step - history->entered > STEP_GAP_MAX)
        return hf_err_set(err, HF_CORRUPT,
                          "event %" PRId64 " is of step %" PRId64 ", far beyond the last",
                          history->seq, event->step);
    record = hf_history_make(history, event->step);
    if (!record)
        return hf_err_nomem(err, "a step");
    if (shape == HF_HISTORY_SHAPE_ACTIVITY && hf_event_bool(event, HF_KEY_LOCAL_ACTIVITY, &local) &&
        local)
        shape = HF_HISTORY_SHAPE_LOCAL_ACTIVITY;
    if (!text_take(event, (hf_event_key)shape_names[shape], &record->recorded.name) ||
        !text_take(event, HF_KEY_CONDITION_DEFINITION_FINGERPRINT, &record->recorded.fingerprint))
        return hf_err_nomem(err, "the name of a step");
    if (hf_event_key_allowed(event->type, HF_KEY_PARALLEL_GROUP_PATH) &&
        hf_event_json(event, HF_KEY_PARALLEL_GROUP_PATH, &path) &&
        groups_take(&record->recorded, path, err))
        return HF_NOMEM;
    if (shape < (int)sizeof(shape_ids) && shape_ids[shape])
        record->has_id = hf_event_id(event, (hf_event_key)shape_ids[shape], &record->id);
    if (event->type == HF_EVENT_VERSION_MARKER_RECORDED &&
        hf_event_int(event, HF_KEY_VERSION, &number))
        record->version = number;
    if (event->type == HF_EVENT_TIMER_SCHEDULED)
        record->timer_inline = hf_event_int(event, HF_KEY_DELAY_SECONDS, &number) && number == 0;
    record->recorded.shape = shape;
    record->open_seq = history->seq;
    record->open_us = event->time_us;
    if (event->step > history->top)
        history->top = event->step;
    type_note(record, event->type);
    if (hf_event_resolves_step(event)) {
        if (!hf_stored_take(event, HF_KEY_RESULT, &record->value))
            return hf_err_nomem(err, "a recorded value");
        record_end(history, record, event, HF_RECORD_VALUE); /* kept for the guard to compare */
    }
    return HF_OK;
}

static hf_status failure_take(const hf_event *event, hf_failure_category category,
                              hf_record *record, hf_err *err)
{
    hf_record_failure *failure = hf_alloc(sizeof(*failure));
    hf_slice text;

    record->failure = failure;
    if (!failure)
        return hf_err_nomem(err, "a failure");
    failure->event = event->type;
    failure->category = category;
    if (hf_event_text(event, HF_KEY_FAILURE_CATEGORY, &text))
        (void)hf_failure_category_parse(text, &failure->category);
    if (hf_event_key_allowed(event->type, HF_KEY_NON_RETRYABLE))
        (void)hf_event_bool(event, HF_KEY_NON_RETRYABLE, &failure->final);
    if (!text_take(event, HF_KEY_EXCEPTION_TYPE, &failure->type) ||
        (!failure->type && !text_take(event, HF_KEY_EXCEPTION_CLASS, &failure->type)) ||
        !text_take(event, HF_KEY_MESSAGE, &failure->message) ||
        !hf_stored_take(event, HF_KEY_EXCEPTION, &failure->details))
        return hf_err_nomem(err, "a failure");
    return HF_OK;
}

static hf_signal_fact *signal_find(const hf_history *history, const hf_ulid *id)
{
    for (hf_list *at = hf_list_first(&history->signals); at;
         at = hf_list_next(&history->signals, at)) {
        hf_signal_fact *signal = HF_LIST_ENTRY(at, hf_signal_fact, link);

        if (hf_ulid_compare(&signal->id, id) == 0)
            return signal;
    }
    return NULL;
}

static bool stored_same(const hf_stored *a, const hf_stored *b)
{
    return a->form == b->form && a->codec == b->codec &&
           hf_slice_equal(hf_slice_from(a->bytes, a->len), hf_slice_from(b->bytes, b->len));
}

/* The signal leaves the queue; what the code gets is the recorded value, else what its arguments
   mean. Where the end of the wait was recorded for the worker, the arguments stand there as they
   were sent. */
static hf_status signal_apply(hf_history *history, const hf_event *event, hf_record *record,
                              hf_err *err)
{
    hf_signal_fact *signal = NULL;
    hf_ulid id;

    if (hf_event_id(event, HF_KEY_SIGNAL_ID, &id))
        signal = signal_find(history, &id);
    if (!signal)
        return hf_err_set(err, HF_CORRUPT,
                          "event %" PRId64 " applies a signal that was not "
                          "received, or was applied before",
                          history->seq);
    hf_list_remove(&signal->link);
    record->signal = signal;
    if (!hf_stored_take(event, HF_KEY_VALUE, &record->value))
        return hf_err_nomem(err, "a signal's value");
    if (stored_same(&record->value, &signal->arguments))
        hf_stored_fini(&record->value);
    return HF_OK;
}

static hf_status step_end(hf_history *history, const hf_event *event, hf_record *record,
                          hf_err *err)
{
    hf_failure_category category = HF_FAILURE_CATEGORY_ACTIVITY;
    hf_record_end end = HF_RECORD_VALUE;
    hf_status st = HF_OK;

    switch ((int)event->type) {
    case HF_EVENT_ACTIVITY_TIMED_OUT:
        category = HF_FAILURE_CATEGORY_TIMEOUT;
        end = HF_RECORD_FAILED;
        break;
    case HF_EVENT_ACTIVITY_FAILED:
        end = HF_RECORD_FAILED;
        break;
    case HF_EVENT_CHILD_RUN_FAILED:
    case HF_EVENT_CHILD_RUN_CANCELLED:
    case HF_EVENT_CHILD_RUN_TERMINATED:
        category = HF_FAILURE_CATEGORY_CHILD_WORKFLOW;
        end = HF_RECORD_FAILED;
        break;
    case HF_EVENT_ACTIVITY_CANCELLED:
    case HF_EVENT_TIMER_CANCELLED:
        end = HF_RECORD_WITHDRAWN;
        break;
    case HF_EVENT_CONDITION_WAIT_TIMED_OUT:
        end = HF_RECORD_TIMED_OUT;
        break;
    case HF_EVENT_SIGNAL_APPLIED:
        st = signal_apply(history, event, record, err);
        break;
    case HF_EVENT_CHILD_RUN_COMPLETED:
        if (!hf_stored_take(event, HF_KEY_OUTPUT, &record->value))
            st = hf_err_nomem(err, "a child's result");
        break;
    }
    if (!st && end == HF_RECORD_FAILED)
        st = failure_take(event, category, record, err);
    if (!st && !hf_stored_take(event, HF_KEY_RESULT, &record->value))
        st = hf_err_nomem(err, "a step's result");
    if (st)
        return st;
    record_end(history, record, event, end);
    hf_history_settle(history, record);
    return HF_OK;
}

/* The timeout of a wait: belongs to the step of the wait and never ends it by itself. */
static hf_status timeout_event(hf_history *history, const hf_event *event, hf_err *err)
{
    hf_record *record = hf_history_get(history, event->step);
    int64_t number = 0;

    if (!record || record->recorded.shape == 0)
        return event->step <= history->entered
                   ? HF_OK /* the wait is over and forgotten */
                   : hf_err_set(err, HF_CORRUPT,
                                "event %" PRId64 " is of the timeout of step %" PRId64
                                ", which was not opened",
                                history->seq, event->step);
    type_note(record, event->type);
    if (event->type == HF_EVENT_TIMER_SCHEDULED) {
        record->timer = HF_RECORD_TIMER_SET;
        record->timer_inline = hf_event_int(event, HF_KEY_DELAY_SECONDS, &number) && number == 0;
    } else if (event->type == HF_EVENT_TIMER_CANCELLED) {
        record->timer = HF_RECORD_TIMER_CANCELLED;
    } else {
        record->timer = HF_RECORD_TIMER_FIRED;
        record->fired = fact_now(history, event);
        hf_history_settle(history, record);
    }
    return HF_OK;
}

static hf_status step_event(hf_history *history, const hf_event *event, hf_history_shape shape,
                            hf_err *err)
{
    hf_record *record;
    bool resolves = hf_event_resolves_step(event);

    if (hf_event_opens_step(event))
        return step_open(history, event, shape, err);
    if (shape == HF_HISTORY_SHAPE_TIMER && !resolves)
        return timeout_event(history, event, err);
    record = hf_history_get(history, event->step);
    if (!resolves) {
        if (record && record->recorded.shape)
            type_note(record, event->type);
        return HF_OK;
    }
    if (!record || record->recorded.shape == 0)
        return hf_err_set(
            err, HF_CORRUPT, "event %" PRId64 " (%s) resolves step %" PRId64 ", which %s",
            history->seq, hf_event_type_text(event->type), event->step,
            event->step <= history->entered && !record ? "is resolved already" : "was not opened");
    if (record->end != HF_RECORD_OPEN)
        return hf_err_set(err, HF_CORRUPT,
                          "event %" PRId64 " (%s) resolves step %" PRId64
                          ", which is resolved already",
                          history->seq, hf_event_type_text(event->type), event->step);
    type_note(record, event->type);
    return step_end(history, event, record, err);
}

/* ---- signals, updates and the run */

static hf_status signal_receive(hf_history *history, const hf_event *event, hf_err *err)
{
    hf_signal_fact *signal = hf_alloc(sizeof(*signal));

    if (!signal)
        return hf_err_nomem(err, "a signal");
    signal->fact = fact_now(history, event);
    (void)hf_event_id(event, HF_KEY_SIGNAL_ID, &signal->id);
    hf_list_add_last(&history->signals, &signal->link);
    return text_take(event, HF_KEY_SIGNAL_NAME, &signal->name) &&
                   hf_stored_take(event, HF_KEY_ARGUMENTS, &signal->arguments)
               ? HF_OK
               : hf_err_nomem(err, "a signal");
}

static hf_status update_accept(hf_history *history, const hf_event *event, hf_err *err)
{
    hf_update_fact *update = hf_alloc(sizeof(*update));
    hf_slice state;

    if (!update)
        return hf_err_nomem(err, "an update");
    update->accepted = fact_now(history, event);
    (void)hf_event_id(event, HF_KEY_UPDATE_ID, &update->id);
    update->queued = hf_event_text(event, HF_KEY_ORDERING_STATE, &state);
    hf_list_add_last(&history->updates, &update->link);
    return text_take(event, HF_KEY_UPDATE_NAME, &update->name) &&
                   hf_stored_take(event, HF_KEY_ARGUMENTS, &update->arguments)
               ? HF_OK
               : hf_err_nomem(err, "an update");
}

/* UpdateApplied, and UpdateCompleted of one that was not applied, end its waiting. */
static hf_status update_event(hf_history *history, const hf_event *event, hf_err *err)
{
    hf_update_fact *found = NULL;
    hf_ulid id;

    if (!hf_event_id(event, HF_KEY_UPDATE_ID, &id))
        return HF_OK;
    for (hf_list *at = hf_list_first(&history->updates); at && !found;
         at = hf_list_next(&history->updates, at)) {
        hf_update_fact *update = HF_LIST_ENTRY(at, hf_update_fact, link);

        if (hf_ulid_compare(&update->id, &id) == 0)
            found = update;
    }
    if (!found)
        return event->type == HF_EVENT_UPDATE_APPLIED
                   ? hf_err_set(err, HF_CORRUPT,
                                "event %" PRId64 " applies an update that was "
                                "not accepted, or was applied before",
                                history->seq)
                   : HF_OK;
    hf_list_remove(&found->link);
    if (event->type == HF_EVENT_UPDATE_APPLIED && !found->ran) {
        found->step = event->step;
        found->applied_seq = history->seq;
        hf_list_add_last(&history->applied, &found->link);
    } else {
        hf_update_fact_free(found);
    }
    return HF_OK;
}

static hf_status start_event(hf_history *history, const hf_event *event, hf_err *err)
{
    if (history->has_started)
        return hf_err_set(err, HF_CORRUPT, "event %" PRId64 " starts the run again", history->seq);
    history->has_started = true;
    history->started = fact_now(history, event);
    return hf_stored_take(event, HF_KEY_ARGUMENTS, &history->arguments) &&
                   text_take(event, HF_KEY_WORKFLOW_DEFINITION_FINGERPRINT,
                             &history->fingerprint) &&
                   text_take(event, HF_KEY_COMPATIBILITY, &history->compatibility)
               ? HF_OK
               : hf_err_nomem(err, "the start of a run");
}

static hf_status cursor_event(hf_history *history, const hf_event *event, hf_err *err)
{
    hf_slice stream;
    int64_t position = 0;

    if (!hf_event_text(event, HF_KEY_STREAM_KEY, &stream) ||
        !hf_event_int(event, HF_KEY_NEW_POSITION, &position))
        return HF_OK;
    return hf_history_cursor_set(history, stream, position) ? HF_OK : hf_err_nomem(err, "a stream");
}

/* A cancel that closes the run in the same unit is not for the code to hear: nothing of its own
   was written in between. */
static void close_event(hf_history *history, const hf_event *event)
{
    history->closed = true;
    if (event->type == HF_EVENT_WORKFLOW_CANCELLED && history->own_seq < history->cancel.seq)
        history->cancel = (hf_fact){0};
}

/* A copy of a copy names the same root. */
static void origin_take(hf_history *history, const hf_event *event)
{
    hf_ulid id;

    if (history->origin || !hf_event_id(event, HF_KEY_ROOT_RUN_ID, &id))
        return;
    history->origin = hf_ulid_key(&id);
}

static hf_status run_event(hf_history *history, const hf_event *event, hf_err *err)
{
    hf_record *record;

    switch ((int)event->type) {
    case HF_EVENT_WORKFLOW_STARTED:
        return start_event(history, event, err);
    case HF_EVENT_SIGNAL_RECEIVED:
        return signal_receive(history, event, err);
    case HF_EVENT_UPDATE_ACCEPTED:
        return update_accept(history, event, err);
    case HF_EVENT_UPDATE_APPLIED:
    case HF_EVENT_UPDATE_COMPLETED:
        return update_event(history, event, err);
    case HF_EVENT_CANCEL_REQUESTED:
        if (history->cancel.seq != 0)
            return HF_OK; /* it is heard once, with the reason of the first */
        history->cancel = fact_now(history, event);
        return text_take(event, HF_KEY_REASON, &history->cancel_reason)
                   ? HF_OK
                   : hf_err_nomem(err, "the reason of a cancellation");
    case HF_EVENT_NOTE_RECORDED:
        history->notes++;
        return HF_OK;
    case HF_EVENT_RUN_FORKED:
    case HF_EVENT_RUN_RESET:
        origin_take(history, event);
        return HF_OK;
    case HF_EVENT_FAILURE_HANDLED:
        record = hf_history_get(history, event->step);
        if (record)
            record->handled_seq = history->seq;
        return HF_OK;
    case HF_EVENT_MESSAGE_CURSOR_ADVANCED:
        return cursor_event(history, event, err);
    }
    return HF_OK;
}

static int64_t event_bytes(const hf_event *event)
{
    size_t bytes = EVENT_BYTES;

    for (size_t i = 0; i < event->count; i++) {
        const hf_event_field *field = &event->fields[i];

        bytes += FIELD_BYTES;
        switch (hf_event_key_kind(field->key)) {
        case HF_VALUE_KIND_TEXT:
        case HF_VALUE_KIND_JSON:
            bytes += field->text.len;
            break;
        case HF_VALUE_KIND_PAYLOAD:
            bytes += (size_t)field->payload.size;
            break;
        case HF_VALUE_KIND_ID:
            bytes += HF_ULID_BYTES;
            break;
        case HF_VALUE_KIND_INT:
        case HF_VALUE_KIND_BOOL:
        case HF_VALUE_KIND_TIME:
            bytes += FIELD_BYTES;
            break;
        }
    }
    return (int64_t)bytes;
}

/* ---- public */

hf_status hf_history_add(hf_history *history, const hf_event *event, hf_err *err)
{
    hf_history_shape shape = hf_event_shape(event->type);
    hf_status st;

    history->seq++;
    history->bytes += event_bytes(event);
    if (hf_event_by_code(event))
        history->own_seq = history->seq;
    st = shape && event->step > 0 ? step_event(history, event, shape, err)
                                  : run_event(history, event, err);
    if (!st && hf_event_has_flag(event->type, HF_EVENT_CLOSES))
        close_event(history, event);
    return st;
}
