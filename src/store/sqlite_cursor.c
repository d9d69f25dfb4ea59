/* sqlite_cursor.c: reading from SQLite, row by row. A connection has one cursor, inside itself. */
#include "base/assert.h"
#include "store/sqlite_db.h"

/* The parameters are copied: the caller's need not outlive the call, as on PostgreSQL. */
static hf_status cursor_start(hf_sqlite *db, sqlite3_stmt *stmt, const hf_db_value *params,
                              size_t count, hf_db_cursor **out_cursor, hf_err *err)
{
    int code = SQLITE_OK;

    for (size_t i = 0; i < count && code == SQLITE_OK; i++)
        code = hf_sqlite_bind(stmt, (int)i + 1, &params[i], SQLITE_TRANSIENT);
    if (code != SQLITE_OK)
        return hf_sqlite_spoil(db, code, err);
    db->limit_us = 0;
    db->cursor = (hf_sqlite_cursor){.base = {.db = &db->base}, .stmt = stmt};
    *out_cursor = &db->cursor.base;
    return HF_OK;
}

hf_status hf_sqlite_query(hf_db *base, hf_stmt which, const hf_db_value *params, size_t count,
                          hf_db_cursor **out_cursor, hf_err *err)
{
    hf_sqlite *db = hf_sqlite_of(base);
    sqlite3_stmt *stmt = NULL;
    hf_status st = hf_sqlite_ready(db, err);

    if (!st)
        st = hf_sqlite_stmt(db, which, &stmt, err);
    if (!st)
        st = hf_sqlite_stmt_takes(stmt, count, err);
    return st ? st : cursor_start(db, stmt, params, count, out_cursor, err);
}

static hf_status text_prepare(hf_sqlite *db, const char *sql, sqlite3_stmt **out_stmt, hf_err *err)
{
    sqlite3_stmt *stmt = NULL;
    sqlite3_stmt *next = NULL;
    const char *rest = NULL;
    hf_status st = HF_OK;
    int code = sqlite3_prepare_v3(db->handle, sql, -1, 0, &stmt, &rest);

    if (code == SQLITE_OK && stmt) /* white space and comments give NULL */
        code = sqlite3_prepare_v3(db->handle, rest, -1, 0, &next, NULL);
    if (code != SQLITE_OK) {
        st = hf_sqlite_spoil(db, code, err);
        if (st == HF_ERROR)
            st = hf_err_because(err, HF_INVALID, "the query was refused");
    } else if (!stmt) {
        st = hf_err_set(err, HF_INVALID, "the query is empty");
    } else if (next) {
        st = hf_err_set(err, HF_INVALID, "one statement at a time");
    } else if (db->reading && !sqlite3_stmt_readonly(stmt)) {
        st = hf_err_set(err, HF_READONLY, "the transaction was begun for reading");
    }
    (void)sqlite3_finalize(next);
    if (st) {
        (void)sqlite3_finalize(stmt);
        stmt = NULL;
    }
    *out_stmt = stmt;
    return st;
}

hf_status hf_sqlite_query_text(hf_db *base, const char *sql, const hf_db_value *params,
                               size_t count, hf_db_cursor **out_cursor, hf_err *err)
{
    hf_sqlite *db = hf_sqlite_of(base);
    sqlite3_stmt *stmt = NULL;
    hf_status st = hf_sqlite_ready(db, err);

    if (!st)
        st = text_prepare(db, sql, &stmt, err);
    if (!st)
        st = hf_sqlite_stmt_takes(stmt, count, err);
    if (!st)
        st = cursor_start(db, stmt, params, count, out_cursor, err);
    if (st)
        (void)sqlite3_finalize(stmt);
    else
        db->cursor.owned = true;
    return st;
}

hf_status hf_sqlite_step(hf_db_cursor *base, bool *out_row, hf_err *err)
{
    hf_sqlite_cursor *cursor = (hf_sqlite_cursor *)base;
    int code;

    cursor->on_row = false;
    if (cursor->done)
        return HF_OK; /* SQLite would begin again */
    code = sqlite3_step(cursor->stmt);
    cursor->on_row = *out_row = code == SQLITE_ROW;
    if (code == SQLITE_ROW)
        return HF_OK;
    cursor->done = true;
    return code == SQLITE_DONE ? HF_OK : hf_sqlite_spoil(hf_sqlite_of(base->db), code, err);
}

static sqlite3_stmt *row_stmt(hf_db_cursor *base)
{
    hf_sqlite_cursor *cursor = (hf_sqlite_cursor *)base;

    HF_ASSERT(cursor->on_row);
    return cursor->stmt;
}

bool hf_sqlite_column_null(hf_db_cursor *cursor, size_t column)
{
    return sqlite3_column_type(row_stmt(cursor), (int)column) == SQLITE_NULL;
}

int64_t hf_sqlite_column_int(hf_db_cursor *cursor, size_t column)
{
    return sqlite3_column_int64(row_stmt(cursor), (int)column);
}

double hf_sqlite_column_real(hf_db_cursor *cursor, size_t column)
{
    return sqlite3_column_double(row_stmt(cursor), (int)column);
}

/* Text is read as a blob too: that asks for no terminator and so for no memory that might be
   missing. */
hf_slice hf_sqlite_column_bytes(hf_db_cursor *cursor, size_t column)
{
    sqlite3_stmt *stmt = row_stmt(cursor);
    const void *bytes = sqlite3_column_blob(stmt, (int)column);

    return hf_slice_from(bytes, bytes ? (size_t)sqlite3_column_bytes(stmt, (int)column) : 0);
}

size_t hf_sqlite_column_count(hf_db_cursor *cursor)
{
    return (size_t)sqlite3_column_count(((hf_sqlite_cursor *)cursor)->stmt);
}

const char *hf_sqlite_column_name(hf_db_cursor *cursor, size_t column)
{
    const char *name = sqlite3_column_name(((hf_sqlite_cursor *)cursor)->stmt, (int)column);

    return name ? name : "";
}

void hf_sqlite_end(hf_db_cursor *base)
{
    hf_sqlite_cursor *cursor = (hf_sqlite_cursor *)base;

    if (cursor->owned) {
        (void)sqlite3_finalize(cursor->stmt);
    } else {
        (void)sqlite3_reset(cursor->stmt);
        (void)sqlite3_clear_bindings(cursor->stmt); /* gives copied parameters back */
    }
    cursor->stmt = NULL;
}
