/* mark.c: steps that are over as soon as they are decided: recorded values, versions, metadata and
   messages, and the step that ends a run to begin the next. The rule: what history has is handed
   back and nothing is computed again. */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/assert.h"
#include "base/json.h"
#include "model/name.h"
#include "replay/inside.h"

/* Begins a step of a shape that has no more to compare than a name. */
static hf_record *mark_enter(hf_replay *replay, hf_history_shape shape, const char *name,
                             bool *out_fresh)
{
    const hf_want want = {.look = {.shape = shape, .name = (char *)(uintptr_t)name}};
    hf_record *record = NULL;
    hf_failure *failure = hf_in_enter(replay, &want, &record, out_fresh);

    if (failure)
        hf_in_raise(replay, failure);
    return record;
}

/* The value as a later replay will read it. */
static hf_value value_again(hf_replay *replay, const hf_decision_payload *payload)
{
    hf_value value = NULL;

    if (hf_json_read(replay->mem, payload->bytes, NULL, &value, &replay->failure))
        hf_in_leave(replay, HF_LEAVE_BROKEN);
    return value;
}

hf_value hf_side_effect(hf_ctx *w, const char *key, hf_value (*fn)(hf_mem *, void *), void *arg)
{
    hf_replay *replay = hf_in_ready(w);
    hf_record *record;
    hf_decision_payload payload;
    hf_decision_row *row;
    hf_value value;
    bool fresh = false;

    if (!replay)
        return NULL;
    if (key)
        hf_in_name(replay, HF_NAME_CHANGE, key);
    if (!fn)
        hf_in_misuse(replay, "invalid_call", "a side effect needs a function");
    record = mark_enter(replay, HF_HISTORY_SHAPE_SIDE_EFFECT, NULL, &fresh);
    if (!fresh) {
        value = hf_in_value(replay, &record->value);
        hf_in_pass(replay, record);
        return value;
    }
    replay->place = HF_PLACE_EFFECT;
    value = fn(replay->mem, arg);
    replay->place = HF_PLACE_BODY;
    payload = hf_in_payload(replay, value);
    row = hf_in_decide(replay, HF_DECISION_RECORD_SIDE_EFFECT, record->step, 1);
    row->name = hf_in_text(replay, key);
    row->value = payload;
    hf_in_pass(replay, record);
    return value_again(replay, &payload);
}

/* ---- versions */

/* Whether a change point that no marker speaks of was reached by code that did not know it. */
static bool version_legacy(const hf_replay *replay)
{
    const hf_history *history = &replay->history;
    hf_slice now = replay->info.compatibility;

    if (history->top > history->entered)
        return true; /* history went on without a marker */
    if (history->compatibility && now.ptr &&
        !hf_slice_equal(hf_slice_of(history->compatibility), now))
        return true;
    return !history->fingerprint ||
           !hf_slice_equal(hf_slice_of(history->fingerprint), replay->info.fingerprint);
}

static int64_t version_mark(hf_replay *replay, const char *change, int64_t min, int64_t max)
{
    bool fresh = false;
    hf_record *record = mark_enter(replay, HF_HISTORY_SHAPE_VERSION_MARKER, change, &fresh);
    int64_t version = fresh ? max : record->version;

    if (fresh) {
        hf_decision_row *row =
            hf_in_decide(replay, HF_DECISION_RECORD_VERSION_MARKER, record->step, 1);

        row->name = hf_in_text(replay, change);
        row->version.version = version;
        row->version.min_supported = min;
        row->version.max_supported = max;
    }
    hf_in_pass(replay, record);
    return version;
}

int hf_version(hf_ctx *w, const char *change, int min, int max)
{
    hf_replay *replay = hf_in_ready(w);
    const hf_record *record;
    hf_failure *cancelled;
    int64_t version = HF_VERSION_DEFAULT;

    if (!replay)
        return HF_VERSION_DEFAULT;
    hf_in_name(replay, HF_NAME_CHANGE, change);
    if (min > max || min < HF_VERSION_DEFAULT)
        hf_in_misuse(replay, "invalid_call", "change \"%s\": the versions %d to %d are no range",
                     change, min, max);
    cancelled = hf_in_cancel_due(replay); /* here, whether or not it becomes a step */
    if (cancelled)
        hf_in_raise(replay, cancelled);
    record = hf_history_get(&replay->history, replay->history.entered + 1);
    if ((record && record->recorded.shape == HF_HISTORY_SHAPE_VERSION_MARKER) ||
        !version_legacy(replay))
        version = version_mark(replay, change, min, max);
    replay->here = NULL; /* it may not have become a step */
    if (version < min || version > max)
        hf_in_misuse(replay, "version_not_supported",
                     "change \"%s\": the run follows version %" PRId64 ", the code knows %d to %d",
                     change, version, min, max);
    return (int)version;
}

bool hf_patched(hf_ctx *w, const char *change)
{
    return hf_version(w, change, HF_VERSION_DEFAULT, 1) == 1;
}

void hf_deprecate_patch(hf_ctx *w, const char *change)
{
    (void)hf_version(w, change, HF_VERSION_DEFAULT, 1);
}

/* ---- metadata */

static void upsert(hf_ctx *w, hf_history_shape shape, hf_decision kind, hf_value entries)
{
    hf_replay *replay = hf_in_ready(w);
    hf_record *record;
    bool fresh = false;

    if (!replay)
        return;
    if (hf_value_kind_of(entries) != HF_VALUE_OBJECT)
        hf_in_misuse(replay, "invalid_call", "a %s needs an object", hf_history_shape_text(shape));
    record = mark_enter(replay, shape, NULL, &fresh);
    if (fresh)
        hf_in_decide(replay, kind, record->step, 1)->value = hf_in_payload(replay, entries);
    hf_in_pass(replay, record);
}

void hf_memo(hf_ctx *w, hf_value entries)
{
    upsert(w, HF_HISTORY_SHAPE_MEMO_UPSERT, HF_DECISION_UPSERT_MEMO, entries);
}

void hf_search_attributes(hf_ctx *w, hf_value entries)
{
    upsert(w, HF_HISTORY_SHAPE_SEARCH_ATTRIBUTES_UPSERT, HF_DECISION_UPSERT_SEARCH_ATTRIBUTES,
           entries);
}

void hf_label(hf_ctx *w, const char *key, const char *value)
{
    hf_replay *replay = hf_in_ready(w);
    hf_value_list *list;
    hf_value entries;

    if (!replay)
        return;
    hf_in_name(replay, HF_NAME_LABEL_KEY, key);
    if (value)
        hf_in_name(replay, HF_NAME_LABEL_VALUE, value);
    list = hf_value_object(replay->mem);
    hf_value_set(list, hf_slice_of(key),
                 value ? hf_value_string(replay->mem, hf_slice_of(value)) : hf_value_null());
    entries = hf_value_finish(list);
    if (!entries)
        hf_in_break(replay, HF_NOMEM, "a label");
    hf_search_attributes(w, entries);
}

/* ---- messages */

static hf_value messages_ask(hf_replay *replay, const char *stream, size_t max)
{
    hf_slice key = hf_slice_of(stream);
    hf_value messages = NULL;

    if (replay->info.messages && replay->info.messages(replay->info.messages_ctx, replay->mem, key,
                                                       hf_history_cursor(&replay->history, key),
                                                       max, &messages, &replay->failure))
        hf_in_leave(replay, HF_LEAVE_BROKEN);
    if (!messages)
        messages = hf_value_finish(hf_value_array(replay->mem));
    if (!messages)
        hf_in_break(replay, HF_NOMEM, "messages");
    return messages;
}

/* The answer is recorded like a side effect, so that a replay sees the messages of then. */
static hf_value messages_take(hf_ctx *w, const char *stream, size_t max, hf_decision kind)
{
    hf_replay *replay = hf_in_ready(w);
    hf_record *record;
    hf_decision_row *row;
    hf_value value;
    bool fresh = false;

    if (!replay)
        return NULL;
    hf_in_name(replay, HF_NAME_STREAM_KEY, stream);
    record = mark_enter(replay, HF_HISTORY_SHAPE_SIDE_EFFECT, NULL, &fresh);
    if (!fresh) {
        value = hf_in_value(replay, &record->value);
        hf_in_pass(replay, record);
        return value;
    }
    value = messages_ask(replay, stream, max);
    row = hf_in_decide(replay, kind, record->step, kind == HF_DECISION_RECEIVE_MESSAGES ? 2 : 1);
    row->name = hf_in_text(replay, stream);
    row->value = hf_in_payload(replay, value);
    if (kind == HF_DECISION_RECEIVE_MESSAGES && hf_len(value)) {
        row->fact.seq = hf_int(hf_at(value, hf_len(value) - 1), "position", 0);
        row->fact.before = hf_history_cursor(&replay->history, hf_slice_of(stream));
        if (!hf_history_cursor_set(&replay->history, hf_slice_of(stream), row->fact.seq))
            hf_in_break(replay, HF_NOMEM, "a stream");
    }
    hf_in_pass(replay, record);
    return value_again(replay, &row->value);
}

hf_value hf_messages_peek(hf_ctx *w, const char *stream, size_t max)
{
    return messages_take(w, stream, max, HF_DECISION_RECORD_SIDE_EFFECT);
}

hf_value hf_messages_receive(hf_ctx *w, const char *stream, size_t max)
{
    return messages_take(w, stream, max, HF_DECISION_RECEIVE_MESSAGES);
}

/* ---- what goes out. No event of this run says that it did, so each carries a number by which the
   engine knows it again, and is held back where history shows that the turn was written. */

static hf_replay *outgoing_ready(hf_ctx *w)
{
    hf_replay *replay = w && w->tag == HF_CTX_TAG ? w->replay : NULL;

    if (replay && replay->coro && hf_coro_inside(replay->coro) && replay->place == HF_PLACE_UPDATE)
        return replay;
    return hf_in_ready(w);
}

static hf_decision_row *outgoing_decide(hf_replay *replay, hf_decision kind)
{
    const hf_history *history = &replay->history;
    hf_decision_row *row;

    replay->outgoing++;
    if (replay->quiet || history->closed || history->top > history->entered)
        return NULL;
    row = hf_in_decide(replay, kind, 0, 0);
    row->outgoing.ordinal = replay->outgoing;
    return row;
}

void hf_signal_child(hf_ctx *w, const char *child_call_id, const char *signal, hf_value args)
{
    hf_replay *replay = outgoing_ready(w);
    hf_decision_row *row;
    hf_ulid id;

    if (!replay)
        return;
    hf_in_name(replay, HF_NAME_SIGNAL, signal);
    if (!child_call_id || !hf_ulid_parse(hf_slice_of(child_call_id), &id))
        hf_in_misuse(replay, "invalid_call", "a signal needs the id of a child call");
    row = outgoing_decide(replay, HF_DECISION_SIGNAL_CHILD);
    if (!row)
        return;
    row->name = hf_in_text(replay, signal);
    row->value = hf_in_payload(replay, args);
    row->outgoing.child_call = hf_in_text(replay, child_call_id);
}

void hf_messages_send(hf_ctx *w, const char *to_instance, const char *stream,
                      const char *payload_ref)
{
    hf_replay *replay = outgoing_ready(w);
    hf_decision_row *row;
    hf_value reference;

    if (!replay)
        return;
    hf_in_name(replay, HF_NAME_INSTANCE, to_instance);
    hf_in_name(replay, HF_NAME_STREAM_KEY, stream);
    hf_in_name(replay, HF_NAME_PAYLOAD_REFERENCE, payload_ref);
    row = outgoing_decide(replay, HF_DECISION_SEND_MESSAGE);
    if (!row)
        return;
    reference = hf_value_string(replay->mem, hf_slice_of(payload_ref));
    if (!reference)
        hf_in_break(replay, HF_NOMEM, "a message");
    row->name = hf_in_text(replay, stream);
    row->value = hf_in_payload(replay, reference);
    row->outgoing.instance = hf_in_text(replay, to_instance);
}

/* ---- the end of the run */

void hf_continue_as_new(hf_ctx *w, hf_value in)
{
    hf_replay *replay = hf_in_ready(w);
    hf_record *record;
    bool fresh = false;

    HF_ASSERT(replay != NULL); /* it cannot come back to say so */
    record = mark_enter(replay, HF_HISTORY_SHAPE_CONTINUE_AS_NEW, NULL, &fresh);
    if (fresh)
        hf_in_decide(replay, HF_DECISION_CONTINUE_AS_NEW, record->step, 1)->value =
            hf_in_payload(replay, in);
    hf_in_run_deferred(replay);
    hf_in_leave(replay, HF_LEAVE_CLOSED);
}
