/* forge.c: see forge.h. */
#include "lib/forge.h"

#include <string.h>

#include "base/buf.h"
#include "lib/engine.h"
#include "model/event_codec.h"

enum { CHUNKS_MAX = 64, EVENTS_MAX = 256 };

typedef struct forge_chunk {
    int64_t first_seq;
    size_t count;
} forge_chunk;

void hf_forge_exec(hf_db *db, const char *sql, const hf_db_value *params, size_t count)
{
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = false;

    hf_test_ok(hf_db_query_text(db, sql, params, count, &cursor, &err), &err, sql);
    do
        hf_test_ok(hf_db_step(cursor, &row, &err), &err, sql);
    while (row);
    hf_db_end(cursor);
}

hf_slice hf_forge_bytes(hf_db *db, hf_mem *mem, const char *sql, int64_t run)
{
    const hf_db_value param = hf_db_int(run);
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = false;
    hf_slice bytes;
    char *copy;

    hf_test_ok(hf_db_query_text(db, sql, &param, 1, &cursor, &err), &err, sql);
    hf_test_ok(hf_db_step(cursor, &row, &err), &err, sql);
    ck_assert_msg(row, "%s found nothing for run %lld", sql, (long long)run);
    bytes = hf_db_column_bytes(cursor, 0);
    copy = hf_mem_bytes(mem, bytes.len + 1);
    ck_assert_ptr_nonnull(copy);
    if (bytes.len)
        memcpy(copy, bytes.ptr, bytes.len);
    hf_db_end(cursor);
    return hf_slice_from(copy, bytes.len);
}

hf_event *hf_forge_find(hf_forge *forge, hf_event_type type, size_t nth)
{
    for (size_t i = 0; i < forge->count; i++)
        if (forge->events[i].type == type && nth-- == 0)
            return &forge->events[i];
    ck_abort_msg("the history has too few events of type %s", hf_event_type_text(type));
    return NULL;
}

void hf_forge_blank(hf_event *event, hf_event_type type)
{
    event->type = type;
    event->fields = NULL;
    event->count = 0;
    if (!hf_event_key_allowed(type, HF_KEY_SEQUENCE))
        event->step = 0;
}

void hf_forge_set(hf_forge *forge, hf_event *event, hf_event_field field)
{
    hf_event_field *fields = hf_mem_array(forge->mem, event->count + 1, sizeof(*fields));
    size_t at = 0;

    ck_assert_ptr_nonnull(fields);
    while (at < event->count && (int)event->fields[at].key < (int)field.key) {
        fields[at] = event->fields[at];
        at++;
    }
    fields[at] = field;
    if (at < event->count && event->fields[at].key == field.key) {
        event->fields[at] = field;
        return;
    }
    for (size_t i = at; i < event->count; i++)
        fields[i + 1] = event->fields[i];
    event->fields = fields;
    event->count++;
}

static size_t history_read(hf_db *db, int64_t run, hf_forge *forge, forge_chunk *chunks)
{
    const hf_db_value param = hf_db_int(run);
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = false;
    size_t count = 0;

    hf_test_ok(hf_db_query_text(
                   db, "SELECT first_seq, body FROM history WHERE run = ?1 ORDER BY first_seq",
                   &param, 1, &cursor, &err),
               &err, "history");
    hf_test_ok(hf_db_step(cursor, &row, &err), &err, "history");
    while (row) {
        hf_slice body = hf_db_column_bytes(cursor, 1);
        char *copy = hf_mem_bytes(forge->mem, body.len);
        hf_event *events = NULL;
        size_t taken = 0;

        ck_assert_ptr_nonnull(copy);
        memcpy(copy, body.ptr, body.len);
        hf_test_ok(
            hf_event_chunk_decode(forge->mem, hf_slice_from(copy, body.len), &events, &taken, &err),
            &err, "decode");
        ck_assert(count < CHUNKS_MAX && forge->count + taken <= EVENTS_MAX);
        chunks[count++] = (forge_chunk){hf_db_column_int(cursor, 0), taken};
        memcpy(&forge->events[forge->count], events, taken * sizeof(*events));
        forge->count += taken;
        hf_test_ok(hf_db_step(cursor, &row, &err), &err, "history");
    }
    hf_db_end(cursor);
    return count;
}

static void history_write(hf_db *db, int64_t run, const hf_forge *forge, const forge_chunk *chunks,
                          size_t count)
{
    hf_event_chunk_place place = {.run_key = (uint64_t)run};
    uint8_t hash[HF_SHA256_BYTES];
    hf_sha256 *sha = NULL;
    hf_buf body = {0};
    hf_err err = {0};
    int64_t bytes = 0;
    const hf_event *events = forge->events;

    hf_test_ok(hf_sha256_new(&sha, &err), &err, "SHA-256");
    for (size_t i = 0; i < count; i++) {
        hf_db_value params[4];

        place.first_seq = (uint64_t)chunks[i].first_seq;
        hf_test_ok(hf_event_chunk_encode(events, chunks[i].count, &body, &err), &err, "encode");
        hf_test_ok(hf_event_chunk_hash(sha, events, chunks[i].count, &place, hash, &err), &err,
                   "hash");
        params[0] = hf_db_blob(hf_buf_slice(&body));
        params[1] = hf_db_blob(hf_slice_from(hash, sizeof(hash)));
        params[2] = hf_db_int(run);
        params[3] = hf_db_int(chunks[i].first_seq);
        hf_forge_exec(db,
                      "UPDATE history SET body = ?1, hash = ?2 WHERE run = ?3 AND first_seq = ?4",
                      params, 4);
        memcpy(place.previous, hash, sizeof(hash));
        bytes += (int64_t)body.len;
        events += chunks[i].count;
    }
    hf_forge_exec(db, "UPDATE run SET head = ?1, history_bytes = ?2, last_us = ?3 WHERE key = ?4",
                  (const hf_db_value[]){hf_db_blob(hf_slice_from(hash, sizeof(hash))),
                                        hf_db_int(bytes), hf_db_int(events[-1].time_us),
                                        hf_db_int(run)},
                  4);
    hf_buf_fini(&body);
    hf_sha256_free(sha);
}

void hf_forge_run(hf_db *db, int64_t run, hf_forge_edit *edit)
{
    hf_event events[EVENTS_MAX];
    forge_chunk chunks[CHUNKS_MAX];
    hf_forge forge = {.mem = hf_mem_new(), .events = events};
    size_t count;

    ck_assert_ptr_nonnull(forge.mem);
    count = history_read(db, run, &forge, chunks);
    edit(&forge);
    history_write(db, run, &forge, chunks, count);
    hf_mem_free(forge.mem);
}
