/* db.c: the calls of db.h: count, inject faults, hand over to the driver. No engine-specific code
 * here. */
#include "store/db.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/utf8.h"

/* Every call passes here, so that a test can fail each one once before it had any effect. */
static hf_status call_enter(hf_db *db, const char *what, hf_err *err)
{
    db->calls++;
    if (hf_fault_hit(HF_FAULT_DB))
        return hf_err_set(err, HF_IO, "%s: injected fault", what);
    return HF_OK;
}

/* What one engine would store differently, or not at all, is refused on both: PostgreSQL has no NUL
   in text and insists on UTF-8, SQLite turns NaN into null. */
static hf_status values_check(const hf_db_value *values, size_t count, hf_err *err)
{
    for (size_t i = 0; i < count; i++) {
        const hf_db_value *value = &values[i];

        if (value->null)
            continue;
        if (value->type == HF_DB_TEXT && value->bytes.len > 0) {
            if (memchr(value->bytes.ptr, '\0', value->bytes.len))
                return hf_err_set(err, HF_INVALID, "value %zu is a text with a NUL byte", i + 1);
            if (!hf_utf8_valid(value->bytes))
                return hf_err_set(err, HF_INVALID, "value %zu is a text that is not UTF-8", i + 1);
        }
        if (value->type == HF_DB_REAL && isnan(value->real))
            return hf_err_set(err, HF_INVALID, "value %zu is not a number", i + 1);
    }
    return HF_OK;
}

hf_status hf_db_open(const hf_db_driver *driver, const hf_db_options *options, hf_db **out_db,
                     hf_err *err)
{
    if (hf_fault_hit(HF_FAULT_DB))
        return hf_err_set(err, HF_IO, "open: injected fault");
    return driver->open(options, out_db, err);
}

void hf_db_close(hf_db *db)
{
    if (db)
        db->driver->close(db);
}

hf_status hf_db_reconnect(hf_db *db, hf_err *err)
{
    hf_status st = call_enter(db, "reconnect", err);

    return st ? st : db->driver->reconnect(db, err);
}

hf_status hf_db_begin(hf_db *db, hf_db_mode mode, hf_err *err)
{
    hf_status st = call_enter(db, "begin", err);

    return st ? st : db->driver->begin(db, mode, err);
}

hf_status hf_db_commit(hf_db *db, hf_err *err)
{
    hf_status st = call_enter(db, "commit", err);

    if (st) {
        db->driver->rollback(db);
        return st;
    }
    st = db->driver->commit(db, err);
    if (st == HF_OK && hf_fault_hit(HF_FAULT_DB_LOST))
        return hf_err_set(err, HF_UNKNOWN, "commit: injected loss of the answer");
    return st;
}

hf_status hf_db_commit_send(hf_db *db, hf_err *err)
{
    hf_status st = call_enter(db, "commit", err);

    if (!st)
        return db->driver->commit_send(db, err);
    db->driver->rollback(db);
    return st;
}

bool hf_db_commit_await(hf_db *db, int fd)
{
    return db->driver->commit_await(db, fd);
}

hf_status hf_db_commit_end(hf_db *db, hf_err *err)
{
    hf_status st = db->driver->commit_end(db, err);

    if (st || !hf_fault_hit(HF_FAULT_DB_LOST))
        return st;
    db->driver->rollback(db);
    return hf_err_set(err, HF_UNKNOWN, "commit: injected loss of the answer");
}

void hf_db_rollback(hf_db *db)
{
    db->calls++;
    db->driver->rollback(db);
}

hf_status hf_db_savepoint(hf_db *db, hf_err *err)
{
    hf_status st = call_enter(db, "savepoint", err);

    return st ? st : db->driver->savepoint(db, err);
}

hf_status hf_db_release(hf_db *db, hf_err *err)
{
    hf_status st = call_enter(db, "release", err);

    return st ? st : db->driver->release(db, err);
}

hf_status hf_db_rollback_to(hf_db *db, hf_err *err)
{
    hf_status st = call_enter(db, "rollback to savepoint", err);

    return st ? st : db->driver->rollback_to(db, err);
}

bool hf_db_in_transaction(hf_db *db)
{
    return db->driver->in_transaction(db);
}

hf_status hf_db_batch(hf_db *db, hf_stmt stmt, const hf_db_rows *rows, hf_err *err)
{
    hf_status st;

    HF_ASSERT(stmt < HF_STMT_COUNT);
    st = call_enter(db, hf_stmt_texts[stmt].name, err);
    if (st || rows->count == 0)
        return st;
    st = values_check(rows->cells, rows->count * rows->columns, err);
    if (!st)
        st = db->driver->batch(db, stmt, rows, err);
    return hf_err_because(err, st, "%s", hf_stmt_texts[stmt].name);
}

hf_status hf_db_flush(hf_db *db, hf_err *err)
{
    hf_status st = call_enter(db, "flush", err);

    return st ? st : db->driver->flush(db, err);
}

hf_status hf_db_query(hf_db *db, hf_stmt stmt, const hf_db_value *params, size_t count,
                      hf_db_cursor **out_cursor, hf_err *err)
{
    hf_status st;

    HF_ASSERT(stmt < HF_STMT_COUNT);
    *out_cursor = NULL;
    st = call_enter(db, hf_stmt_texts[stmt].name, err);
    if (st)
        return st;
    st = values_check(params, count, err);
    if (!st)
        st = db->driver->query(db, stmt, params, count, out_cursor, err);
    return hf_err_because(err, st, "%s", hf_stmt_texts[stmt].name);
}

hf_status hf_db_limit(hf_db *db, int64_t timeout_ms, hf_err *err)
{
    return db->driver->limit(db, timeout_ms, err);
}

hf_status hf_db_query_text(hf_db *db, const char *sql, const hf_db_value *params, size_t count,
                           hf_db_cursor **out_cursor, hf_err *err)
{
    hf_status st = call_enter(db, "query", err);

    *out_cursor = NULL;
    if (!st)
        st = values_check(params, count, err);
    return st ? st : db->driver->query_text(db, sql, params, count, out_cursor, err);
}

hf_status hf_db_step(hf_db_cursor *cursor, bool *out_row, hf_err *err)
{
    *out_row = false;
    if (hf_fault_hit(HF_FAULT_DB))
        return hf_err_set(err, HF_IO, "step: injected fault");
    return cursor->db->driver->step(cursor, out_row, err);
}

bool hf_db_column_null(hf_db_cursor *cursor, size_t column)
{
    return cursor->db->driver->column_null(cursor, column);
}

int64_t hf_db_column_int(hf_db_cursor *cursor, size_t column)
{
    return cursor->db->driver->column_int(cursor, column);
}

double hf_db_column_real(hf_db_cursor *cursor, size_t column)
{
    return cursor->db->driver->column_real(cursor, column);
}

hf_slice hf_db_column_bytes(hf_db_cursor *cursor, size_t column)
{
    return cursor->db->driver->column_bytes(cursor, column);
}

size_t hf_db_column_count(hf_db_cursor *cursor)
{
    return cursor->db->driver->column_count(cursor);
}

const char *hf_db_column_name(hf_db_cursor *cursor, size_t column)
{
    return cursor->db->driver->column_name(cursor, column);
}

void hf_db_end(hf_db_cursor *cursor)
{
    if (cursor)
        cursor->db->driver->end(cursor);
}

hf_status hf_db_exec(hf_db *db, hf_stmt stmt, const hf_db_value *params, size_t count,
                     int64_t *out_rows, hf_err *err)
{
    hf_db_cursor *cursor = NULL;
    bool row = true;
    int64_t rows = 0;
    hf_status st = hf_db_query(db, stmt, params, count, &cursor, err);

    while (!st && row) {
        st = hf_db_step(cursor, &row, err);
        if (row)
            rows++;
    }
    hf_db_end(cursor);
    if (!st && out_rows)
        *out_rows = rows;
    return st;
}

hf_status hf_db_number(hf_db *db, hf_stmt stmt, const hf_db_value *params, size_t count,
                       bool *out_found, int64_t *out_number, hf_err *err)
{
    hf_db_cursor *cursor = NULL;
    bool more = false;
    hf_status st = hf_db_query(db, stmt, params, count, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, out_found, err);
    if (!st && *out_found) {
        *out_number = hf_db_column_int(cursor, 0);
        st = hf_db_step(cursor, &more, err); /* a statement of its own commits at its end */
    }
    hf_db_end(cursor);
    return st;
}

hf_status hf_db_script(hf_db *db, const char *sql, hf_err *err)
{
    hf_status st = call_enter(db, "script", err);

    return st ? st : db->driver->script(db, sql, err);
}

hf_status hf_db_now(hf_db *db, int64_t *out_us, hf_err *err)
{
    hf_status st = call_enter(db, "now", err);

    return st ? st : db->driver->now(db, out_us, err);
}

hf_status hf_db_check(hf_db *db, hf_db_finding *found, void *ctx, hf_err *err)
{
    hf_status st = call_enter(db, "check", err);

    return st ? st : db->driver->check(db, found, ctx, err);
}

hf_status hf_db_backup(hf_db *db, const char *path, hf_db_progress *progress, void *ctx,
                       hf_err *err)
{
    hf_status st = call_enter(db, "backup", err);

    return st ? st : db->driver->backup(db, path, progress, ctx, err);
}

hf_status hf_db_checkpoint(hf_db *db, hf_err *err)
{
    hf_status st = call_enter(db, "checkpoint", err);

    return st ? st : db->driver->checkpoint(db, err);
}

hf_status hf_db_foreign_write(hf_db *db, bool *out_seen, hf_err *err)
{
    hf_status st = call_enter(db, "data_version", err);

    return st ? st : db->driver->foreign_write(db, out_seen, err);
}

hf_status hf_db_notify(hf_db *db, hf_slice payload, hf_err *err)
{
    hf_status st = call_enter(db, "notify", err);

    return st ? st : db->driver->notify(db, payload, err);
}

hf_status hf_db_listen(hf_db *db, hf_err *err)
{
    hf_status st = call_enter(db, "listen", err);

    return st ? st : db->driver->listen(db, err);
}

hf_status hf_db_notified(hf_db *db, int timeout_ms, hf_slice *out_payload, hf_err *err)
{
    hf_status st = call_enter(db, "notified", err);

    return st ? st : db->driver->notified(db, timeout_ms, out_payload, err);
}
