/* sqlite_db.c: what every file of the SQLite driver does with a connection. */
#include "store/sqlite_db.h"

#include "base/assert.h"
#include "store/sqlite_status.h"

hf_sqlite *hf_sqlite_of(hf_db *db)
{
    return (hf_sqlite *)db;
}

bool hf_sqlite_busy(const hf_sqlite *db)
{
    return sqlite3_get_autocommit(db->handle) == 0;
}

hf_status hf_sqlite_spoil(hf_sqlite *db, int code, hf_err *err)
{
    db->failed = hf_sqlite_busy(db);
    return hf_sqlite_fail(db->handle, code, err);
}

hf_status hf_sqlite_fixed_run(hf_sqlite *db, hf_sqlite_fixed which, hf_err *err)
{
    sqlite3_stmt *stmt = db->prepared[which];
    int code = sqlite3_step(stmt);
    hf_status st = code == SQLITE_DONE ? HF_OK : hf_sqlite_spoil(db, code, err);

    (void)sqlite3_reset(stmt);
    return st;
}

void hf_sqlite_undo(hf_sqlite *db)
{
    if (hf_sqlite_busy(db))
        (void)hf_sqlite_fixed_run(db, HF_SQLITE_ROLLBACK, NULL);
    db->stuck = db->failed = hf_sqlite_busy(db);
}

hf_status hf_sqlite_ready(hf_sqlite *db, hf_err *err)
{
    if (db->cursor.stmt)
        return hf_err_set(err, HF_MISUSE, "a cursor is still open on this connection");
    if (db->stuck)
        hf_sqlite_undo(db);
    if (db->stuck)
        return hf_err_set(err, HF_NOMEM, "there is no memory to end a transaction with");
    if (db->failed)
        return hf_err_set(err, HF_MISUSE,
                          "the transaction has failed and must be rolled back first");
    return HF_OK;
}

hf_status hf_sqlite_data_version(hf_sqlite *db, int64_t *out_version, hf_err *err)
{
    sqlite3_stmt *stmt = db->prepared[HF_SQLITE_DATA_VERSION];
    int code = sqlite3_step(stmt);
    hf_status st = HF_OK;

    if (code == SQLITE_ROW)
        *out_version = sqlite3_column_int64(stmt, 0);
    else
        st = hf_sqlite_spoil(db, code, err);
    (void)sqlite3_reset(stmt);
    return st;
}

hf_status hf_sqlite_stmt(hf_sqlite *db, hf_stmt which, sqlite3_stmt **out_stmt, hf_err *err)
{
    sqlite3_stmt *stmt;
    int code;

    HF_ASSERT(which < db->text_count);
    stmt = db->cached[which];
    if (!stmt && !db->texts[which].sqlite)
        return hf_err_set(err, HF_MISUSE, "the statement is for PostgreSQL only");
    if (!stmt) {
        code = sqlite3_prepare_v3(db->handle, db->texts[which].sqlite, -1,
                                  SQLITE_PREPARE_PERSISTENT, &stmt, NULL);
        if (code != SQLITE_OK)
            return hf_sqlite_spoil(db, code, err);
        HF_ASSERT(stmt);
        db->cached[which] = stmt;
    }
    if (db->reading && !sqlite3_stmt_readonly(stmt))
        return hf_err_set(err, HF_READONLY, "the transaction was begun for reading");
    *out_stmt = stmt;
    return HF_OK;
}

hf_status hf_sqlite_stmt_takes(sqlite3_stmt *stmt, size_t count, hf_err *err)
{
    int wanted = sqlite3_bind_parameter_count(stmt);

    if ((size_t)wanted == count)
        return HF_OK;
    return hf_err_set(err, HF_MISUSE, "the statement takes %d parameters, not %zu", wanted, count);
}

int hf_sqlite_bind(sqlite3_stmt *stmt, int at, const hf_db_value *value,
                   sqlite3_destructor_type life)
{
    const char *bytes = value->bytes.ptr ? value->bytes.ptr : ""; /* no pointer would mean null */

    if (value->null)
        return sqlite3_bind_null(stmt, at);
    switch (value->type) {
    case HF_DB_INT:
        return sqlite3_bind_int64(stmt, at, value->number);
    case HF_DB_REAL:
        return sqlite3_bind_double(stmt, at, value->real);
    case HF_DB_TEXT:
        return sqlite3_bind_text64(stmt, at, bytes, value->bytes.len, life, SQLITE_UTF8);
    case HF_DB_BLOB:
        return sqlite3_bind_blob64(stmt, at, bytes, value->bytes.len, life);
    }
    return SQLITE_MISUSE;
}
