/* dossier.c: see dossier.h. */
#include "project/dossier.h"

#include <string.h>

#include "base/crypto.h"
#include "model/event_codec.h"
#include "project/dossier_impl.h"
#include "project/edge.h"
#include "store/payload.h"
#include "store/snapshot.h"

static hf_status text_take(hf_mem *mem, hf_db_cursor *cursor, size_t column, hf_slice *out_text,
                           hf_err *err)
{
    hf_slice text = hf_db_column_bytes(cursor, column);

    *out_text = (hf_slice){0};
    if (hf_db_column_null(cursor, column))
        return HF_OK;
    *out_text = hf_slice_from(hf_mem_text(mem, text), text.len);
    return out_text->ptr ? HF_OK : hf_err_nomem(err, "a run");
}

bool hf_dossier_is_machine(const hf_dossier *dossier)
{
    const hf_event *first = hf_event_first_step(dossier->events, dossier->event_count);

    return (dossier->definition && dossier->definition->machine) ||
           (first && first->type == HF_EVENT_STEP_COMPLETED);
}

hf_ulid hf_dossier_run_id(const hf_dossier_run *run)
{
    return hf_ulid_form(run->created_us, run->key, 0);
}

/* What run_load returns of a run; *out_dossier may be NULL. */
static hf_status run_load(hf_db *db, hf_mem *mem, int64_t key, hf_dossier_run *out_run,
                          hf_dossier *out_dossier, int64_t *out_definition, hf_err *err)
{
    const hf_db_value param = hf_db_int(key);
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st = hf_db_query(db, HF_STMT_RUN_LOAD, &param, 1, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && !found)
        st = hf_err_set(err, HF_NOTFOUND, "there is no run with key %lld", (long long)key);
    if (st)
        goto done;
    *out_run = (hf_dossier_run){.key = key,
                                .created_us = hf_db_column_int(cursor, 6),
                                .number = hf_db_column_int(cursor, 3)};
    st = text_take(mem, cursor, 0, &out_run->instance_id, err);
    if (!st)
        st = text_take(mem, cursor, 1, &out_run->type, err);
    if (!st && out_dossier) {
        *out_definition = hf_column_or_none(cursor, 5);
        out_dossier->execution_deadline_us = hf_column_or_none(cursor, 9);
        out_dossier->run_deadline_us = hf_column_or_none(cursor, 10);
        st = text_take(mem, cursor, 4, &out_dossier->queue, err);
    }
done:
    hf_db_end(cursor);
    return st;
}

hf_status hf_dossier_find(hf_db *db, hf_mem *mem, int64_t key, hf_dossier_run *out_run, hf_err *err)
{
    return run_load(db, mem, key, out_run, NULL, NULL, err);
}

/* ---- history */

typedef struct chunk {
    struct chunk *next;
    int64_t first;
    hf_slice body;
} chunk;

/* Copies the chunks from the one of the event on, so that no cursor is open when payloads are read.
 */
static hf_status chunks_read(hf_db *db, hf_mem *mem, int64_t run, int64_t seq, int64_t most,
                             chunk **out_first, size_t *out_events, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(run), hf_db_int(seq), hf_db_int(most)};
    hf_db_cursor *cursor = NULL;
    chunk **tail = out_first;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_HISTORY_READ, params, 3, &cursor, err);

    *out_first = NULL;
    *out_events = 0;
    while (!st && row) {
        chunk *read;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        read = hf_mem_alloc(mem, sizeof(*read));
        if (!read) {
            st = hf_err_nomem(err, "a history");
            break;
        }
        read->first = hf_db_column_int(cursor, 0);
        *out_events += (size_t)hf_db_column_int(cursor, 1);
        st = text_take(mem, cursor, 3, &read->body, err);
        *tail = read;
        tail = &read->next;
    }
    hf_db_end(cursor);
    return st;
}

/* Bytes that are stored apart come in; those that are gone leave an erased payload. */
static hf_status payloads_read(hf_db *db, hf_mem *mem, hf_sha256 *sha, int64_t run, hf_event *event,
                               hf_err *err)
{
    for (size_t i = 0; i < event->count; i++) {
        hf_event_field *field = &event->fields[i];
        hf_slice bytes = {0};
        hf_status st;

        if (hf_event_key_kind(field->key) != HF_VALUE_KIND_PAYLOAD ||
            field->payload.form != HF_PAYLOAD_FORM_REFERENCE)
            continue;
        st = hf_payload_get(db, mem, sha, run, &field->payload, &bytes, err);
        if (st == HF_NOTFOUND) {
            field->payload.form = HF_PAYLOAD_FORM_ERASED;
            continue;
        }
        if (st)
            return st;
        field->payload = hf_payload_inline(field->payload.codec, bytes);
    }
    return HF_OK;
}

static hf_status history_read(hf_db *db, hf_mem *mem, bool whole, hf_dossier *dossier, hf_err *err)
{
    hf_sha256 *sha = NULL;
    chunk *first = NULL;
    size_t room = 0;
    size_t count = 0;
    hf_status st = chunks_read(db, mem, dossier->run.key, 1, INT64_MAX, &first, &room, err);

    if (!st)
        st = hf_sha256_new(&sha, err);
    if (st)
        goto done;
    dossier->events = hf_mem_array(mem, room ? room : 1, sizeof(*dossier->events));
    dossier->units = hf_mem_array(mem, room ? room : 1, sizeof(*dossier->units));
    if (!dossier->events || !dossier->units)
        st = hf_err_nomem(err, "a history");
    for (const chunk *read = first; !st && read; read = read->next) {
        hf_event *events = NULL;
        size_t taken = 0;

        st = hf_event_chunk_decode(mem, read->body, &events, &taken, err);
        if (!st && (read->first != (int64_t)count + 1 || taken > room - count))
            st = hf_err_set(err, HF_CORRUPT, "the history has a gap before event %lld",
                            (long long)read->first);
        for (size_t i = 0; !st && i < taken; i++) {
            if (whole)
                st = payloads_read(db, mem, sha, dossier->run.key, &events[i], err);
            dossier->events[count] = events[i];
            dossier->units[count++] = read->first;
        }
    }
    dossier->event_count = count;
    if (!st && (int64_t)count != dossier->base.last_seq)
        st = hf_err_set(err, HF_CORRUPT, "the history has %zu events, its run says %lld", count,
                        (long long)dossier->base.last_seq);
done:
    hf_sha256_free(sha);
    return st;
}

/* ---- rows */

static hf_status commands_read(hf_db *db, hf_mem *mem, hf_dossier *dossier, hf_err *err)
{
    const hf_db_value key = hf_db_int(dossier->run.key);
    hf_dossier_command **tail = &dossier->commands;
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_EXPORT_COMMANDS, &key, 1, &cursor, err);

    while (!st && row) {
        hf_dossier_command *command;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        command = hf_mem_alloc(mem, sizeof(*command));
        if (!command) {
            st = hf_err_nomem(err, "a command");
            break;
        }
        *command = (hf_dossier_command){.key = hf_db_column_int(cursor, 0),
                                        .type = hf_db_column_int(cursor, 1),
                                        .status = hf_db_column_int(cursor, 2),
                                        .outcome = hf_column_or_none(cursor, 3),
                                        .rejection = hf_column_or_none(cursor, 4),
                                        .scope = hf_db_column_int(cursor, 5),
                                        .source = hf_db_column_int(cursor, 6),
                                        .command_seq = hf_column_or_none(cursor, 7),
                                        .message_seq = hf_column_or_none(cursor, 8),
                                        .recorded_us = hf_db_column_int(cursor, 10),
                                        .applied_us = hf_column_or_none(cursor, 11),
                                        .closed_us = hf_column_or_none(cursor, 12)};
        st = text_take(mem, cursor, 9, &command->name, err);
        if (!st)
            st = text_take(mem, cursor, 13, &command->body, err);
        *tail = command;
        tail = &command->next;
    }
    hf_db_end(cursor);
    return st;
}

static hf_status tasks_read(hf_db *db, hf_mem *mem, hf_dossier *dossier, hf_err *err)
{
    const hf_db_value key = hf_db_int(dossier->run.key);
    hf_dossier_task **tail = &dossier->tasks;
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_EXPORT_TASKS, &key, 1, &cursor, err);

    while (!st && row) {
        hf_dossier_task *task;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        task = hf_mem_alloc(mem, sizeof(*task));
        if (!task) {
            st = hf_err_nomem(err, "a task");
            break;
        }
        *task = (hf_dossier_task){.key = hf_db_column_int(cursor, 0),
                                  .kind = hf_db_column_int(cursor, 1),
                                  .status = hf_db_column_int(cursor, 2),
                                  .priority = hf_db_column_int(cursor, 4),
                                  .available_us = hf_db_column_int(cursor, 5),
                                  .lease_until_us = hf_column_or_none(cursor, 6),
                                  .attempt = hf_db_column_int(cursor, 7),
                                  .repair_count = hf_db_column_int(cursor, 8),
                                  .created_us = hf_db_column_int(cursor, 9),
                                  .source_kind = hf_column_or_none(cursor, 12),
                                  .source_key = hf_column_or_none(cursor, 13),
                                  .trouble = hf_db_column_int(cursor, 14),
                                  .repair_us = hf_column_or_none(cursor, 15)};
        st = text_take(mem, cursor, 3, &task->queue, err);
        if (!st)
            st = text_take(mem, cursor, 10, &task->body, err);
        if (!st)
            st = text_take(mem, cursor, 11, &task->owner, err);
        *tail = task;
        tail = &task->next;
    }
    hf_db_end(cursor);
    return st;
}

static hf_status parent_read(hf_db *db, hf_mem *mem, hf_dossier *dossier, hf_err *err)
{
    const hf_db_value key = hf_db_int(dossier->run.key);
    hf_db_cursor *cursor = NULL;
    int64_t parent = HF_NONE;
    bool found = false;
    hf_status st = hf_db_query(db, HF_STMT_LINK_PARENT, &key, 1, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && found) {
        parent = hf_db_column_int(cursor, 0);
        dossier->parent_step = hf_db_column_int(cursor, 1);
    }
    hf_db_end(cursor);
    dossier->parent.key = HF_NONE;
    return st || parent == HF_NONE ? st : hf_dossier_find(db, mem, parent, &dossier->parent, err);
}

/* The instance's newest run and its business key. */
static hf_status instance_read(hf_db *db, hf_mem *mem, hf_dossier *dossier, hf_err *err)
{
    const hf_db_value key = hf_db_int(dossier->run.key);
    hf_instance_row instance;
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st = hf_db_query(db, HF_STMT_RUN_GET, &key, 1, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && found) {
        dossier->blocked = hf_db_column_int(cursor, 4);
        dossier->crash_count = hf_db_column_int(cursor, 12);
        dossier->archived_us = hf_column_or_none(cursor, 15);
        dossier->namespace_key = hf_db_column_int(cursor, 19);
    }
    hf_db_end(cursor);
    if (!st)
        st = hf_instance_get(db, mem, dossier->namespace_key, dossier->run.instance_id, &instance,
                             err);
    if (st)
        return st;
    dossier->business_key = instance.business_key;
    dossier->current.key = HF_NONE;
    return instance.current_run == HF_NONE
               ? HF_OK
               : hf_dossier_find(db, mem, instance.current_run, &dossier->current, err);
}

/* How much of the history comes along. */
typedef enum dossier_depth {
    DOSSIER_OUTLINE, /* nothing */
    DOSSIER_SKIM,    /* all but the bytes of big values */
    DOSSIER_WHOLE
} dossier_depth;

static hf_status dossier_fill(hf_db *db, hf_mem *mem, int64_t run, dossier_depth depth,
                              hf_dossier *dossier, hf_err *err)
{
    int64_t definition = HF_NONE;
    hf_definition_snapshot *snapshot;
    hf_status st = hf_run_base_get(db, run, &dossier->base, err);

    if (!st)
        st = run_load(db, mem, run, &dossier->run, dossier, &definition, err);
    if (!st)
        st = instance_read(db, mem, dossier, err);
    if (!st && definition != HF_NONE) {
        snapshot = hf_mem_alloc(mem, sizeof(*snapshot));
        st = snapshot ? hf_snapshot_read(db, mem, definition, snapshot, err)
                      : hf_err_nomem(err, "a definition");
        dossier->definition = snapshot;
    }
    if (!st)
        st = parent_read(db, mem, dossier, err);
    if (!st)
        st = commands_read(db, mem, dossier, err);
    if (!st)
        st = tasks_read(db, mem, dossier, err);
    if (!st)
        st = hf_dossier_rows(db, mem, dossier, err);
    if (!st && depth != DOSSIER_OUTLINE)
        st = history_read(db, mem, depth == DOSSIER_WHOLE, dossier, err);
    return st;
}

static hf_status dossier_read(hf_db *db, hf_mem *mem, int64_t run, dossier_depth depth,
                              hf_dossier *out_dossier, hf_err *err)
{
    bool joins = hf_db_in_transaction(db);
    hf_status st = joins ? HF_OK : hf_db_begin(db, HF_DB_READ, err);

    *out_dossier = (hf_dossier){0};
    if (!st) {
        st = dossier_fill(db, mem, run, depth, out_dossier, err);
        if (!joins)
            hf_db_rollback(db); /* it only read */
    }
    return hf_err_because(err, st, "read run %lld", (long long)run);
}

hf_status hf_dossier_read(hf_db *db, hf_mem *mem, int64_t run, hf_dossier *out_dossier, hf_err *err)
{
    return dossier_read(db, mem, run, DOSSIER_WHOLE, out_dossier, err);
}

hf_status hf_dossier_skim(hf_db *db, hf_mem *mem, int64_t run, hf_dossier *out_dossier, hf_err *err)
{
    return dossier_read(db, mem, run, DOSSIER_SKIM, out_dossier, err);
}

hf_status hf_dossier_events(hf_db *db, hf_mem *mem, int64_t run, int64_t after, int64_t upto,
                            hf_event **out_events, size_t *out_count, hf_err *err)
{
    chunk *held = NULL;
    hf_sha256 *sha = NULL;
    size_t room = 0;
    hf_status st = chunks_read(db, mem, run, after + 1, upto - after, &held, &room, err);

    *out_count = 0;
    if (!st)
        st = hf_sha256_new(&sha, err);
    *out_events = hf_mem_array(mem, room + 1, sizeof(**out_events));
    if (!st && !*out_events)
        st = hf_err_nomem(err, "a history");
    for (; !st && held; held = held->next) {
        hf_event *events = NULL;
        size_t taken = 0;

        st = hf_event_chunk_decode(mem, held->body, &events, &taken, err);
        for (size_t i = 0; !st && i < taken; i++) {
            int64_t seq = held->first + (int64_t)i;

            if (seq <= after || seq > upto)
                continue;
            st = payloads_read(db, mem, sha, run, &events[i], err);
            (*out_events)[(*out_count)++] = events[i];
        }
    }
    hf_sha256_free(sha);
    return st;
}

hf_status hf_dossier_event(hf_db *db, hf_mem *mem, int64_t run, int64_t seq, hf_event *out_event,
                           hf_err *err)
{
    hf_event *events = NULL;
    size_t count = 0;
    hf_status st = hf_dossier_events(db, mem, run, seq - 1, seq, &events, &count, err);

    if (!st && !count)
        st = hf_err_set(err, HF_NOTFOUND, "the history has no event %lld", (long long)seq);
    if (!st)
        *out_event = events[0];
    return st;
}

hf_status hf_dossier_outline(hf_db *db, hf_mem *mem, int64_t run, hf_dossier *out_dossier,
                             hf_err *err)
{
    return dossier_read(db, mem, run, DOSSIER_OUTLINE, out_dossier, err);
}
