/* db_sqlite.c: SQLite behind db.h. Everything is answered at once, so no flag is ever pending.
   A failure inside a transaction leaves it unusable until it is rolled back, as it does on
   PostgreSQL: a caller that works on one engine then works on the other. Must never start a
   transaction or a retry by itself. */
#include <sqlite3.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "store/db.h"
#include "store/sqlite_db.h"
#include "store/sqlite_open.h"
#include "store/sqlite_status.h"

static const char *const fixed_texts[HF_SQLITE_FIXED_COUNT] = {
    [HF_SQLITE_BEGIN] = "BEGIN",
    [HF_SQLITE_BEGIN_WRITE] = "BEGIN IMMEDIATE",
    [HF_SQLITE_COMMIT] = "COMMIT",
    [HF_SQLITE_ROLLBACK] = "ROLLBACK",
    [HF_SQLITE_SAVEPOINT] = "SAVEPOINT unit",
    [HF_SQLITE_RELEASE] = "RELEASE unit",
    [HF_SQLITE_ROLLBACK_TO] = "ROLLBACK TO unit",
    [HF_SQLITE_DATA_VERSION] = "PRAGMA data_version",
};

/* ---- transactions */

static hf_status sqlite_begin(hf_db *base, hf_db_mode mode, hf_err *err)
{
    hf_sqlite *db = hf_sqlite_of(base);
    hf_status st = hf_sqlite_ready(db, err);

    if (!st && hf_sqlite_busy(db))
        st = hf_err_set(err, HF_MISUSE, "a transaction is open already");
    if (!st && mode == HF_DB_WRITE && db->read_only)
        st = hf_err_set(err, HF_READONLY, "the connection was opened for reading");
    if (!st)
        st = hf_sqlite_fixed_run(db, mode == HF_DB_WRITE ? HF_SQLITE_BEGIN_WRITE : HF_SQLITE_BEGIN,
                                 err);
    if (!st)
        db->reading = mode == HF_DB_READ;
    return st;
}

static void sqlite_rollback(hf_db *base)
{
    hf_sqlite *db = hf_sqlite_of(base);

    hf_sqlite_undo(db);
    db->reading = false;
}

/* A failed sync may leave the commit in the WAL, where a restart can find it: the answer is HF_IO,
   and the engine stops. Nothing was acknowledged, and the reader of the restart sees all of it or
   nothing. */
static hf_status sqlite_commit(hf_db *base, hf_err *err)
{
    hf_sqlite *db = hf_sqlite_of(base);
    hf_status st = hf_sqlite_ready(db, err);

    if (!st && !hf_sqlite_busy(db))
        st = hf_err_set(err, HF_MISUSE, "there is no transaction to commit");
    if (!st)
        st = hf_sqlite_fixed_run(db, HF_SQLITE_COMMIT, err);
    if (st)
        sqlite_rollback(base);
    db->reading = false;
    return st;
}

static hf_status sqlite_savepoint(hf_db *base, hf_err *err)
{
    hf_sqlite *db = hf_sqlite_of(base);
    hf_status st = hf_sqlite_ready(db, err);

    if (!st && !hf_sqlite_busy(db))
        st = hf_err_set(err, HF_MISUSE, "a savepoint needs a transaction");
    return st ? st : hf_sqlite_fixed_run(db, HF_SQLITE_SAVEPOINT, err);
}

static hf_status sqlite_release(hf_db *base, hf_err *err)
{
    hf_sqlite *db = hf_sqlite_of(base);
    hf_status st = hf_sqlite_ready(db, err);

    return st ? st : hf_sqlite_fixed_run(db, HF_SQLITE_RELEASE, err);
}

static hf_status sqlite_rollback_to(hf_db *base, hf_err *err)
{
    hf_sqlite *db = hf_sqlite_of(base);
    hf_status st;

    if (!hf_sqlite_busy(db))
        return hf_err_set(err, HF_MISUSE,
                          "the transaction is over, there is nothing to roll back to");
    st = hf_sqlite_fixed_run(db, HF_SQLITE_ROLLBACK_TO, err);
    if (!st) {
        db->failed = false;
        st = hf_sqlite_fixed_run(db, HF_SQLITE_RELEASE, err);
    }
    return st;
}

static bool sqlite_in_transaction(hf_db *base)
{
    return hf_sqlite_busy(hf_sqlite_of(base));
}

/* ---- writing */

static hf_status row_run(hf_sqlite *db, sqlite3_stmt *stmt, const hf_db_value *cells,
                         size_t columns, hf_err *err)
{
    hf_status st = HF_OK;
    int code = SQLITE_OK;

    for (size_t i = 0; i < columns && code == SQLITE_OK; i++)
        code = hf_sqlite_bind(stmt, (int)i + 1, &cells[i], SQLITE_STATIC);
    if (code == SQLITE_OK)
        do
            code = sqlite3_step(stmt);
        while (code == SQLITE_ROW); /* RETURNING: the rows answer nobody's question here */
    if (code != SQLITE_DONE)
        st = hf_sqlite_spoil(db, code, err);
    (void)sqlite3_reset(stmt);
    return st;
}

static hf_status sqlite_batch(hf_db *base, hf_stmt which, const hf_db_rows *rows, hf_err *err)
{
    hf_sqlite *db = hf_sqlite_of(base);
    sqlite3_stmt *stmt = NULL;
    hf_status st = hf_sqlite_ready(db, err);

    if (!st && !hf_sqlite_busy(db))
        st = hf_err_set(err, HF_MISUSE, "rows are written inside a transaction only");
    if (!st)
        st = hf_sqlite_stmt(db, which, &stmt, err);
    if (!st)
        st = hf_sqlite_stmt_takes(stmt, rows->columns, err);
    for (size_t i = 0; !st && i < rows->count; i++) {
        st = row_run(db, stmt, rows->cells + i * rows->columns, rows->columns, err);
        if (!st && rows->flags)
            rows->flags[i] = sqlite3_changes(db->handle) > 0 ? HF_DB_APPLIED : HF_DB_SKIPPED;
        if (st && rows->count > 1)
            st = hf_err_because(err, st, "row %zu", i + 1);
    }
    return st;
}

static hf_status sqlite_flush(hf_db *base, hf_err *err)
{
    (void)base;
    (void)err;
    return HF_OK;
}

static hf_status sqlite_script(hf_db *base, const char *sql, hf_err *err)
{
    hf_sqlite *db = hf_sqlite_of(base);
    hf_status st = hf_sqlite_ready(db, err);
    int code;

    if (!st && db->reading)
        st = hf_err_set(err, HF_READONLY, "the transaction was begun for reading");
    if (st)
        return st;
    code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? HF_OK : hf_sqlite_spoil(db, code, err);
}

static hf_status sqlite_reconnect(hf_db *base, hf_err *err)
{
    (void)base;
    (void)err;
    return HF_OK; /* a file does not go away; what failed once is tried by the next call */
}

static hf_status sqlite_now(hf_db *base, int64_t *out_us, hf_err *err)
{
    (void)base;
    (void)out_us;
    return hf_err_set(err, HF_MISUSE, "SQLite has no clock of its own: ask the engine's");
}

static hf_status sqlite_notify(hf_db *base, hf_slice payload, hf_err *err)
{
    (void)base;
    (void)payload;
    return hf_err_set(err, HF_MISUSE, "SQLite does not notify: wake-ups stay in the process");
}

static hf_status sqlite_listen(hf_db *base, hf_err *err)
{
    return sqlite_notify(base, (hf_slice){0}, err);
}

static hf_status sqlite_notified(hf_db *base, int timeout_ms, hf_slice *out_payload, hf_err *err)
{
    (void)timeout_ms;
    *out_payload = (hf_slice){0};
    return sqlite_notify(base, (hf_slice){0}, err);
}

/* ---- open and close */

static int wal_written(void *ctx, sqlite3 *handle, const char *name, int pages)
{
    hf_sqlite *db = ctx;

    (void)handle;
    (void)name;
    db->base.log_pages = pages;
    return SQLITE_OK;
}

static void sqlite_close(hf_db *base)
{
    hf_sqlite *db = hf_sqlite_of(base);
    int code;

    if (db->cursor.stmt)
        hf_sqlite_end(&db->cursor.base);
    if (db->handle)
        sqlite_rollback(base);
    for (size_t i = 0; db->cached && i < db->text_count; i++)
        (void)sqlite3_finalize(db->cached[i]);
    for (size_t i = 0; i < HF_SQLITE_FIXED_COUNT; i++)
        (void)sqlite3_finalize(db->prepared[i]);
    hf_sqlite_log_end(db->log);
    code = sqlite3_close(db->handle);
    HF_ASSERT(code == SQLITE_OK); /* anything else is a statement that was not finalised */
    hf_alloc_free(db->cached);
    hf_alloc_free(db);
}

static hf_status fixed_prepare(hf_sqlite *db, hf_err *err)
{
    for (size_t i = 0; i < HF_SQLITE_FIXED_COUNT; i++) {
        int code = sqlite3_prepare_v3(db->handle, fixed_texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                                      &db->prepared[i], NULL);

        if (code != SQLITE_OK)
            return hf_sqlite_fail(db->handle, code, err);
    }
    return HF_OK;
}

static hf_status sqlite_open(const hf_db_options *options, hf_db **out_db, hf_err *err)
{
    hf_sqlite *db = hf_alloc(sizeof(*db));
    hf_status st = HF_OK;

    *out_db = NULL;
    if (!db)
        return hf_err_nomem(err, "a connection");
    db->base.driver = &hf_db_sqlite;
    db->read_only = options->mode == HF_DB_READ;
    db->texts = options->statements;
    db->text_count = options->statement_count;
    db->cached = hf_alloc_array(options->statement_count, sizeof(db->cached[0]));
    if (!db->cached)
        st = hf_err_nomem(err, "a connection");
    if (!st)
        st = hf_sqlite_open(options, &db->handle, err);
    if (!st)
        st = fixed_prepare(db, err);
    if (!st)
        st = hf_sqlite_data_version(db, &db->data_version, err);
    if (!st && !db->read_only)
        st = hf_sqlite_log_begin(db->handle, &db->log, err);
    if (st) {
        sqlite_close(&db->base);
        return st;
    }
    (void)sqlite3_wal_hook(db->handle, wal_written, db);
    *out_db = &db->base;
    return HF_OK;
}

const hf_db_driver hf_db_sqlite = {
    .size = sizeof(hf_db_driver),
    .name = "sqlite",
    .open = sqlite_open,
    .close = sqlite_close,
    .reconnect = sqlite_reconnect,
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .savepoint = sqlite_savepoint,
    .release = sqlite_release,
    .rollback_to = sqlite_rollback_to,
    .in_transaction = sqlite_in_transaction,
    .batch = sqlite_batch,
    .flush = sqlite_flush,
    .query = hf_sqlite_query,
    .query_text = hf_sqlite_query_text,
    .limit = hf_sqlite_limit,
    .step = hf_sqlite_step,
    .column_null = hf_sqlite_column_null,
    .column_int = hf_sqlite_column_int,
    .column_real = hf_sqlite_column_real,
    .column_bytes = hf_sqlite_column_bytes,
    .column_count = hf_sqlite_column_count,
    .column_name = hf_sqlite_column_name,
    .end = hf_sqlite_end,
    .script = sqlite_script,
    .now = sqlite_now,
    .check = hf_sqlite_check,
    .backup = hf_sqlite_copy,
    .checkpoint = hf_sqlite_checkpoint,
    .foreign_write = hf_sqlite_foreign_write,
    .notify = sqlite_notify,
    .listen = sqlite_listen,
    .notified = sqlite_notified,
};
