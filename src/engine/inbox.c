/* inbox.c: see inbox.h. The rule: a row is deleted by the unit that folds it in, so that a fact is
   neither lost nor recorded twice, whenever the process ends. */
#include "engine/inbox.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "engine/open_work.h"
#include "model/event_codec.h"
#include "store/payload.h"

enum { HASH_BYTES = 16 };

/* ---- reading events */

/* The event at a sequence of a run, in the arena; those of the unit under way included. */
static hf_status event_at(hf_core *core, const live_run *run, hf_unit *unit, int64_t seq,
                          const hf_event **out_event, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(run->key), hf_db_int(seq), hf_db_int(1)};
    const hf_event_builder *drafted = hf_unit_events(unit, 0);
    hf_mem *mem = hf_unit_mem(unit);
    hf_db_cursor *cursor = NULL;
    hf_event *events = NULL;
    size_t count = 0;
    int64_t first = 0;
    bool found = false;
    hf_slice body = {0};
    hf_status st;

    if (seq > run->base.last_seq) {
        size_t at = (size_t)(seq - run->base.last_seq - 1);

        *out_event = at < drafted->count ? &drafted->events[at] : NULL;
        return *out_event ? HF_OK
                          : hf_err_set(err, HF_CORRUPT, "there is no event %lld", (long long)seq);
    }
    st = hf_db_query(core->db, HF_STMT_HISTORY_READ, params, 3, &cursor, err);
    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && found) {
        first = hf_db_column_int(cursor, 0);
        body = hf_db_column_bytes(cursor, 3);
        body = hf_slice_from(hf_mem_text(mem, body), body.len);
    }
    hf_db_end(cursor);
    if (!st && !body.ptr)
        st = hf_err_set(err, HF_CORRUPT, "there is no event %lld", (long long)seq);
    if (!st)
        st = hf_event_chunk_decode(mem, body, &events, &count, err);
    if (!st && (seq < first || seq - first >= (int64_t)count))
        st = hf_err_set(err, HF_CORRUPT, "there is no event %lld", (long long)seq);
    if (!st)
        *out_event = &events[seq - first];
    return st;
}

/* A payload of another run's or an earlier event: read whole, because it is stored anew. */
static hf_status payload_read(hf_core *core, hf_mem *mem, int64_t run, const hf_event *event,
                              hf_event_key key, hf_decision_payload *out_payload, hf_err *err)
{
    hf_payload_value value;

    *out_payload = (hf_decision_payload){0};
    if (!hf_event_key_allowed(event->type, key) || !hf_event_payload(event, key, &value))
        return HF_OK;
    out_payload->codec = value.codec;
    out_payload->bytes = value.bytes;
    if (value.form == HF_PAYLOAD_FORM_INLINE)
        return HF_OK;
    return hf_payload_get(core->db, mem, core->stager.sha, run, &value, &out_payload->bytes, err);
}

/* The event that closed a run, in the arena. Facts may follow it, in the same chunk or in others.
 */
static hf_status closing_event(hf_core *core, hf_mem *mem, int64_t run, const hf_event **out_event,
                               hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(run), hf_db_int(1), hf_db_int(INT64_MAX)};
    hf_db_cursor *cursor = NULL;
    bool row = true;
    bool newest = true;
    hf_status st = hf_db_query(core->db, HF_STMT_HISTORY_LAST, params, 1, &cursor, err);

    *out_event = NULL;
    for (;;) {
        hf_event *events = NULL;
        size_t count = 0;
        hf_slice body;

        if (!st)
            st = hf_db_step(cursor, &row, err);
        if (!st && !row && newest && !*out_event) { /* not in the newest chunk: look at all */
            newest = false;
            hf_db_end(cursor);
            cursor = NULL;
            st = hf_db_query(core->db, HF_STMT_HISTORY_READ, params, 3, &cursor, err);
            if (!st)
                st = hf_db_step(cursor, &row, err);
        }
        if (st || !row)
            break;
        body = hf_db_column_bytes(cursor, newest ? 2 : 3);
        body = hf_slice_from(hf_mem_text(mem, body), body.len);
        st = body.ptr ? hf_event_chunk_decode(mem, body, &events, &count, err)
                      : hf_err_nomem(err, "events");
        for (size_t i = 0; !st && i < count; i++)
            if (hf_event_has_flag(events[i].type, HF_EVENT_CLOSES))
                *out_event = &events[i];
    }
    hf_db_end(cursor);
    if (!st && !*out_event)
        st = hf_err_set(err, HF_CORRUPT, "run %lld is closed without a closing event",
                        (long long)run);
    return st;
}

/* ---- children */

/* What the store says of a child run; *out_found false when it is nothing of this parent's. */
static hf_status child_read(hf_core *core, hf_mem *mem, int64_t parent, int64_t child,
                            hf_child_end *out_child, bool *out_found, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(parent), hf_db_int(child)};
    hf_db_cursor *cursor = NULL;
    hf_status st = hf_db_query(core->db, HF_STMT_LINK_CHILD, params, 2, &cursor, err);

    *out_found = false;
    if (!st)
        st = hf_db_step(cursor, out_found, err);
    if (!st && *out_found) {
        hf_slice id = hf_db_column_bytes(cursor, 7);
        hf_slice type = hf_db_column_bytes(cursor, 8);

        *out_child =
            (hf_child_end){.run = child,
                           .call = {.step = hf_column_or_none(cursor, 0),
                                    .policy = (hf_parent_close_policy)hf_db_column_int(cursor, 1),
                                    .call = hf_db_column_int(cursor, 2),
                                    .call_us = hf_db_column_int(cursor, 3),
                                    .attempt = hf_db_column_int(cursor, 4),
                                    .max_attempts = hf_db_column_int(cursor, 5)},
                           .link = hf_db_column_int(cursor, 6),
                           .id = hf_slice_from(hf_mem_text(mem, id), id.len),
                           .type = hf_slice_from(hf_mem_text(mem, type), type.len),
                           .number = hf_db_column_int(cursor, 9),
                           .run_us = hf_db_column_int(cursor, 10),
                           .status = (hf_run_status)hf_db_column_int(cursor, 11),
                           .reason = (hf_closed_reason)hf_db_column_int(cursor, 12),
                           .closed_us = hf_db_column_int(cursor, 13)};
        if (!out_child->id.ptr || !out_child->type.ptr)
            st = hf_err_nomem(err, "a child");
        *out_found = out_child->call.step != HF_NONE;
    }
    hf_db_end(cursor);
    return st;
}

static hf_status end_read(hf_core *core, hf_mem *mem, hf_child_end *end, hf_err *err)
{
    const hf_event *closing = NULL;
    hf_status st = closing_event(core, mem, end->run, &closing, err);

    if (!st)
        st = payload_read(core, mem, end->run, closing, HF_KEY_OUTPUT, &end->output, err);
    if (!st)
        st = payload_read(core, mem, end->run, closing, HF_KEY_EXCEPTION, &end->details, err);
    if (st)
        return st;
    if (closing->type == HF_EVENT_WORKFLOW_TIMED_OUT)
        end->failure_type = HF_SLICE("timeout");
    else if (hf_event_key_allowed(closing->type, HF_KEY_EXCEPTION_TYPE))
        (void)hf_event_text(closing, HF_KEY_EXCEPTION_TYPE, &end->failure_type);
    if (hf_event_key_allowed(closing->type, HF_KEY_MESSAGE))
        (void)hf_event_text(closing, HF_KEY_MESSAGE, &end->message);
    if (!end->message.ptr && hf_event_key_allowed(closing->type, HF_KEY_REASON))
        (void)hf_event_text(closing, HF_KEY_REASON, &end->message);
    return HF_OK;
}

/* ---- signals */

/* What makes a signal the same signal: who sent it, and as the how-manieth of its own. */
static hf_status signal_hash(hf_core *core, int64_t sender, hf_value body,
                             uint8_t out_hash[HF_SHA256_BYTES], hf_err *err)
{
    char text[64];

    (void)snprintf(text, sizeof(text), "child-signal:%lld:%lld", (long long)sender,
                   (long long)hf_int(body, "ordinal", 0));
    return hf_sha256_digest(core->stager.sha, hf_slice_of(text), out_hash, err);
}

static hf_status signal_seen(hf_core *core, const live_run *run, hf_slice hash, bool *out_seen,
                             hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(run->base.instance), hf_db_blob(hash)};
    int64_t command = 0;

    return hf_db_number(core->db, HF_STMT_DEDUP_GET, params, 2, out_seen, &command, err);
}

/* ---- the rows */

typedef struct inbox_row {
    struct inbox_row *next;
    int64_t key;
    int64_t kind;
    int64_t source;
    hf_slice body;
    uint8_t hash[HF_SHA256_BYTES]; /* HF_INBOX_SIGNAL */
} inbox_row;

static hf_status signal_fold(hf_core *core, live_run *run, hf_decide *decide, inbox_row *first,
                             inbox_row *row, hf_err *err)
{
    hf_value body = NULL;
    bool seen = false;
    hf_status st = hf_json_read(hf_unit_mem(decide->unit), row->body, NULL, &body, err);

    if (!st)
        st = signal_hash(core, row->source, body, row->hash, err);
    for (const inbox_row *older = first; !st && !seen && older != row; older = older->next)
        seen = older->kind == HF_INBOX_SIGNAL && memcmp(older->hash, row->hash, HASH_BYTES) == 0;
    if (!st && !seen)
        st = signal_seen(core, run, hf_slice_from(row->hash, HASH_BYTES), &seen, err);
    if (st || seen)
        return st;
    st = hf_decide_child_signal(decide, row->source, hf_slice_from(row->hash, HASH_BYTES),
                                row->body, err);
    run->unit_messages = decide->messages;
    return st;
}

static hf_status rows_read(hf_core *core, const live_run *run, hf_mem *mem, inbox_row **out_first,
                           hf_err *err)
{
    const hf_db_value key = hf_db_int(run->key);
    inbox_row **tail = out_first;
    hf_db_cursor *cursor = NULL;
    bool found = true;
    hf_status st = hf_db_query(core->db, HF_STMT_INBOX_READ, &key, 1, &cursor, err);

    while (!st && found) {
        inbox_row *row;
        hf_slice body;

        st = hf_db_step(cursor, &found, err);
        if (st || !found)
            break;
        body = hf_db_column_bytes(cursor, 3);
        row = hf_mem_alloc(mem, sizeof(*row));
        if (row)
            *row = (inbox_row){.key = hf_db_column_int(cursor, 0),
                               .kind = hf_db_column_int(cursor, 1),
                               .source = hf_db_column_int(cursor, 2),
                               .body = hf_slice_from(hf_mem_text(mem, body), body.len)};
        if (!row || !row->body.ptr) {
            st = hf_err_nomem(err, "an inbox");
            break;
        }
        *tail = row;
        tail = &row->next;
    }
    hf_db_end(cursor);
    return st;
}

static hf_status child_fold(hf_core *core, live_run *run, hf_decide *decide, const inbox_row *row,
                            hf_err *err)
{
    bool closed = row->kind == HF_INBOX_CHILD_CLOSED;
    hf_value told = NULL;
    hf_mem *mem = hf_unit_mem(decide->unit);
    hf_child_end end;
    bool found = false;
    hf_status st = child_read(core, mem, run->key, row->source, &end, &found, err);

    if (st || !found)
        return st;
    if (closed)
        st = end_read(core, mem, &end, err);
    else if (row->body.len)
        st = hf_json_read(mem, row->body, NULL, &told, err);
    end.pause_ms = hf_int(told, "pause_ms", 0);
    if (!st && closed)
        hf_decide_child_closed(decide, &end);
    else if (!st)
        hf_decide_child_started(decide, &end);
    return st;
}

hf_status hf_inbox_fold(hf_core *core, live_run *run, hf_decide *decide, bool *out_stopped,
                        hf_err *err)
{
    hf_mem *mem = hf_unit_mem(decide->unit);
    inbox_row *first = NULL;
    hf_status st = rows_read(core, run, mem, &first, err);

    *out_stopped = false;
    for (inbox_row *row = first; !st && row; row = row->next) {
        switch (row->kind) {
        case HF_INBOX_CHILD_CLOSED:
        case HF_INBOX_CHILD_STARTED:
            st = child_fold(core, run, decide, row, err);
            break;
        case HF_INBOX_SIGNAL:
            st = signal_fold(core, run, decide, first, row, err);
            break;
        case HF_INBOX_PARENT_CLOSED:
        case HF_INBOX_STOP:
            *out_stopped = true; /* after what else there is: the record comes first */
            break;
        }
        hf_unit_row(decide->unit, 0, hf_row_delete(mem, HF_OP_INBOX_DELETE, row->key));
    }
    for (inbox_row *row = first; !st && *out_stopped && row; row = row->next) {
        if (row->kind == HF_INBOX_PARENT_CLOSED || row->kind == HF_INBOX_STOP) {
            st = hf_decide_parent_closed(decide, row->source, row->body, err);
            break;
        }
    }
    return hf_err_because(err, st, "fold the inbox of run %lld", (long long)run->key);
}

/* ---- what must be known before a run closes */

/* Scopes stand in the command rows, which come in the order of the messages. */
static hf_status scopes_read(hf_core *core, const live_run *run, hf_open_message *messages,
                             size_t count, hf_err *err)
{
    const hf_db_value key = hf_db_int(run->key);
    hf_db_cursor *cursor = NULL;
    size_t at = 0;
    bool found = true;
    hf_status st = hf_db_query(core->db, HF_STMT_COMMAND_OPEN, &key, 1, &cursor, err);

    while (!st && found) {
        size_t look;

        st = hf_db_step(cursor, &found, err);
        if (st || !found)
            break;
        for (look = at; look < count && messages[look].command != hf_db_column_int(cursor, 0);)
            look++;
        if (look == count)
            continue;
        messages[look].scope = (hf_target_scope)hf_db_column_int(cursor, 2);
        at = look + 1;
    }
    hf_db_end(cursor);
    return st;
}

static hf_status messages_know(hf_core *core, live_run *run, hf_unit *unit, bool whole, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(unit);
    hf_open_message *messages = hf_mem_array(mem, run->messages_open + 1, sizeof(*messages));
    hf_status st = messages ? HF_OK : hf_err_nomem(err, "messages");
    bool stored = false;

    for (size_t i = 0; !st && i < run->messages_open; i++) {
        const hf_event *event = NULL;
        hf_decision_payload arguments = {0};

        messages[i] = *hf_live_message(run, run->messages[i].seq);
        messages[i].scope = HF_TARGET_SCOPE_INSTANCE;
        stored |= messages[i].seq <= run->base.last_seq; /* else the unit brings it */
        if (!whole && !messages[i].update)
            continue;
        st = event_at(core, run, unit, messages[i].seq, &event, err);
        if (st)
            break;
        (void)hf_event_text(event, messages[i].update ? HF_KEY_UPDATE_NAME : HF_KEY_SIGNAL_NAME,
                            &messages[i].name);
        if (whole)
            st = payload_read(core, mem, run->key, event, HF_KEY_ARGUMENTS, &arguments, err);
        messages[i].codec = arguments.codec;
        messages[i].arguments = arguments.bytes;
    }
    if (!st && stored)
        st = scopes_read(core, run, messages, run->messages_open, err);
    run->info.messages = messages;
    run->info.message_count = st ? 0 : run->messages_open;
    return st;
}

static hf_status meta_know(hf_core *core, live_run *run, hf_unit *unit, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(unit);
    const hf_event *event = NULL;
    hf_decision_payload payload = {0};
    hf_status st = event_at(core, run, unit, run->started_seq, &event, err);

    if (!st)
        (void)hf_event_json(event, HF_KEY_VISIBILITY_LABELS, &run->info.labels);
    if (!st && run->memo_seq)
        st = event_at(core, run, unit, run->memo_seq, &event, err);
    if (!st && run->memo_seq)
        st = payload_read(core, mem, run->key, event,
                          event->type == HF_EVENT_MEMO_UPSERTED ? HF_KEY_MERGED : HF_KEY_MEMO,
                          &payload, err);
    run->info.memo = payload.bytes;
    payload = (hf_decision_payload){0};
    if (!st && run->attributes_seq)
        st = event_at(core, run, unit, run->attributes_seq, &event, err);
    if (!st && run->attributes_seq)
        st = payload_read(core, mem, run->key, event,
                          event->type == HF_EVENT_SEARCH_ATTRIBUTES_UPSERTED
                              ? HF_KEY_MERGED
                              : HF_KEY_SEARCH_ATTRIBUTES,
                          &payload, err);
    run->info.attributes = payload.bytes;
    return st;
}

static hf_status input_know(hf_core *core, live_run *run, hf_unit *unit, hf_err *err)
{
    const hf_event *event = NULL;
    hf_status st = event_at(core, run, unit, run->started_seq, &event, err);

    return st ? st
              : payload_read(core, hf_unit_mem(unit), run->key, event, HF_KEY_ARGUMENTS,
                             &run->info.input, err);
}

hf_status hf_inbox_know(hf_core *core, live_run *run, hf_unit *unit, unsigned what, hf_err *err)
{
    hf_open_child *children = NULL;
    hf_status st = HF_OK;

    if ((what & HF_KNOW_CHILDREN) && run->has_children) {
        st = hf_open_children_read(core->db, hf_unit_mem(unit), run->key, &children,
                                   &run->info.child_count, err);
        run->info.children = children;
    }
    if (!st && (what & HF_KNOW_MESSAGES))
        st = messages_know(core, run, unit, (what & HF_KNOW_WHOLE) != 0, err);
    if (!st && (what & HF_KNOW_META))
        st = meta_know(core, run, unit, err);
    if (!st && (what & HF_KNOW_INPUT))
        st = input_know(core, run, unit, err);
    return st;
}
