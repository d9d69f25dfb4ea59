/* db_sqlite.c: SQLite behind db.h. Everything is answered at once, so no flag is ever pending.
   A failure inside a transaction leaves it unusable until it is rolled back, as it does on PostgreSQL: a caller
   that works on one engine then works on the other. Must never start a transaction or a retry by itself. */
#include <sqlite3.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "store/db.h"
#include "store/sqlite_backup.h"
#include "store/sqlite_open.h"
#include "store/sqlite_status.h"

typedef enum fixed {
    FIXED_BEGIN,
    FIXED_BEGIN_WRITE,
    FIXED_COMMIT,
    FIXED_ROLLBACK,
    FIXED_SAVEPOINT,
    FIXED_RELEASE,
    FIXED_ROLLBACK_TO,
    FIXED_DATA_VERSION,
    FIXED_COUNT
} fixed;

static const char *const fixed_texts[FIXED_COUNT] = {
    [FIXED_BEGIN] = "BEGIN",
    [FIXED_BEGIN_WRITE] = "BEGIN IMMEDIATE",
    [FIXED_COMMIT] = "COMMIT",
    [FIXED_ROLLBACK] = "ROLLBACK",
    [FIXED_SAVEPOINT] = "SAVEPOINT unit",
    [FIXED_RELEASE] = "RELEASE unit",
    [FIXED_ROLLBACK_TO] = "ROLLBACK TO unit",
    [FIXED_DATA_VERSION] = "PRAGMA data_version",
};

enum { IDLE_LOG_PAGES_MAX = 1000 }; /* a checkpoint asked for below this is one of an idle writer */

typedef struct sqlite_cursor {
    hf_db_cursor base;
    sqlite3_stmt *stmt; /* NULL while no cursor is open */
    bool owned;         /* not from the cache: finalised at the end */
    bool on_row;
    bool done;
} sqlite_cursor;

typedef struct sqlite_db {
    hf_db base;
    sqlite3 *handle;
    const hf_stmt_text *texts;
    size_t text_count;
    sqlite3_stmt **cached;              /* by hf_stmt, prepared when first used */
    sqlite3_stmt *prepared[FIXED_COUNT]; /* prepared at the start: rolling back must not need memory */
    sqlite_cursor cursor;
    int64_t data_version;
    bool read_only; /* the connection */
    bool reading;   /* the transaction was begun for reading */
    bool failed;    /* something failed in the transaction, which now can only be rolled back */
} sqlite_db;

static sqlite_db *db_of(hf_db *db)
{
    return (sqlite_db *)db;
}

static bool db_busy(const sqlite_db *db)
{
    return sqlite3_get_autocommit(db->handle) == 0;
}

/* Records what SQLite says and remembers that the transaction, if it survived, is spoilt. */
static hf_status db_fail(sqlite_db *db, int code, hf_err *err)
{
    db->failed = db_busy(db);
    return hf_sqlite_fail(db->handle, code, err);
}

static hf_status db_ready(const sqlite_db *db, hf_err *err)
{
    if (db->cursor.stmt)
        return hf_err_set(err, HF_MISUSE, "a cursor is still open on this connection");
    if (db->failed)
        return hf_err_set(err, HF_MISUSE, "the transaction has failed and must be rolled back first");
    return HF_OK;
}

static hf_status fixed_run(sqlite_db *db, fixed which, hf_err *err)
{
    sqlite3_stmt *stmt = db->prepared[which];
    int code = sqlite3_step(stmt);
    hf_status st = code == SQLITE_DONE ? HF_OK : db_fail(db, code, err);

    (void)sqlite3_reset(stmt);
    return st;
}

static hf_status data_version_read(sqlite_db *db, int64_t *out_version, hf_err *err)
{
    sqlite3_stmt *stmt = db->prepared[FIXED_DATA_VERSION];
    int code = sqlite3_step(stmt);
    hf_status st = HF_OK;

    if (code == SQLITE_ROW)
        *out_version = sqlite3_column_int64(stmt, 0);
    else
        st = db_fail(db, code, err);
    (void)sqlite3_reset(stmt);
    return st;
}

static hf_status stmt_get(sqlite_db *db, hf_stmt which, sqlite3_stmt **out_stmt, hf_err *err)
{
    sqlite3_stmt *stmt;
    int code;

    HF_ASSERT(which < db->text_count);
    stmt = db->cached[which];
    if (!stmt && !db->texts[which].sqlite)
        return hf_err_set(err, HF_MISUSE, "the statement is for PostgreSQL only");
    if (!stmt) {
        code = sqlite3_prepare_v3(db->handle, db->texts[which].sqlite, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL);
        if (code != SQLITE_OK)
            return db_fail(db, code, err);
        HF_ASSERT(stmt);
        db->cached[which] = stmt;
    }
    if (db->reading && !sqlite3_stmt_readonly(stmt))
        return hf_err_set(err, HF_READONLY, "the transaction was begun for reading");
    *out_stmt = stmt;
    return HF_OK;
}

static hf_status stmt_takes(sqlite3_stmt *stmt, size_t count, hf_err *err)
{
    int wanted = sqlite3_bind_parameter_count(stmt);

    if ((size_t)wanted == count)
        return HF_OK;
    return hf_err_set(err, HF_MISUSE, "the statement takes %d parameters, not %zu", wanted, count);
}

/* `life` says who keeps the bytes: SQLITE_STATIC the caller, SQLITE_TRANSIENT SQLite. */
static int value_bind(sqlite3_stmt *stmt, int at, const hf_db_value *value, sqlite3_destructor_type life)
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

/* ---- transactions */

static hf_status sqlite_begin(hf_db *base, hf_db_mode mode, hf_err *err)
{
    sqlite_db *db = db_of(base);
    hf_status st = db_ready(db, err);

    if (!st && db_busy(db))
        st = hf_err_set(err, HF_MISUSE, "a transaction is open already");
    if (!st && mode == HF_DB_WRITE && db->read_only)
        st = hf_err_set(err, HF_READONLY, "the connection was opened for reading");
    if (!st)
        st = fixed_run(db, mode == HF_DB_WRITE ? FIXED_BEGIN_WRITE : FIXED_BEGIN, err);
    if (!st)
        db->reading = mode == HF_DB_READ;
    return st;
}

static void sqlite_rollback(hf_db *base)
{
    sqlite_db *db = db_of(base);

    if (db_busy(db))
        (void)fixed_run(db, FIXED_ROLLBACK, NULL);
    HF_ASSERT(!db_busy(db)); /* SQLite ends the transaction even when undoing meets an I/O error */
    db->failed = false;
    db->reading = false;
}

/* A failed sync may leave the commit in the WAL, where a restart can find it: the answer is HF_IO, and the engine
   stops. Nothing was acknowledged, and the reader of the restart sees all of it or nothing. */
static hf_status sqlite_commit(hf_db *base, hf_err *err)
{
    sqlite_db *db = db_of(base);
    hf_status st = db_ready(db, err);

    if (!st && !db_busy(db))
        st = hf_err_set(err, HF_MISUSE, "there is no transaction to commit");
    if (!st)
        st = fixed_run(db, FIXED_COMMIT, err);
    if (st)
        sqlite_rollback(base);
    db->reading = false;
    return st;
}

static hf_status sqlite_savepoint(hf_db *base, hf_err *err)
{
    sqlite_db *db = db_of(base);
    hf_status st = db_ready(db, err);

    if (!st && !db_busy(db))
        st = hf_err_set(err, HF_MISUSE, "a savepoint needs a transaction");
    return st ? st : fixed_run(db, FIXED_SAVEPOINT, err);
}

static hf_status sqlite_release(hf_db *base, hf_err *err)
{
    sqlite_db *db = db_of(base);
    hf_status st = db_ready(db, err);

    return st ? st : fixed_run(db, FIXED_RELEASE, err);
}

static hf_status sqlite_rollback_to(hf_db *base, hf_err *err)
{
    sqlite_db *db = db_of(base);
    hf_status st;

    if (!db_busy(db))
        return hf_err_set(err, HF_MISUSE, "the transaction is over, there is nothing to roll back to");
    st = fixed_run(db, FIXED_ROLLBACK_TO, err);
    if (!st) {
        db->failed = false;
        st = fixed_run(db, FIXED_RELEASE, err);
    }
    return st;
}

static bool sqlite_in_transaction(hf_db *base)
{
    return db_busy(db_of(base));
}

/* ---- writing */

static hf_status row_run(sqlite_db *db, sqlite3_stmt *stmt, const hf_db_value *cells, size_t columns, hf_err *err)
{
    hf_status st = HF_OK;
    int code = SQLITE_OK;

    for (size_t i = 0; i < columns && code == SQLITE_OK; i++)
        code = value_bind(stmt, (int)i + 1, &cells[i], SQLITE_STATIC);
    if (code == SQLITE_OK)
        do
            code = sqlite3_step(stmt);
        while (code == SQLITE_ROW); /* RETURNING: the rows answer nobody's question here */
    if (code != SQLITE_DONE)
        st = db_fail(db, code, err);
    (void)sqlite3_reset(stmt);
    return st;
}

static hf_status sqlite_batch(hf_db *base, hf_stmt which, const hf_db_rows *rows, hf_err *err)
{
    sqlite_db *db = db_of(base);
    sqlite3_stmt *stmt = NULL;
    hf_status st = db_ready(db, err);

    if (!st && !db_busy(db))
        st = hf_err_set(err, HF_MISUSE, "rows are written inside a transaction only");
    if (!st)
        st = stmt_get(db, which, &stmt, err);
    if (!st)
        st = stmt_takes(stmt, rows->columns, err);
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
    sqlite_db *db = db_of(base);
    hf_status st = db_ready(db, err);
    int code;

    if (!st && db->reading)
        st = hf_err_set(err, HF_READONLY, "the transaction was begun for reading");
    if (st)
        return st;
    code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? HF_OK : db_fail(db, code, err);
}

/* ---- reading */

/* The parameters are copied, because the caller's need not outlive the call on PostgreSQL either. */
static hf_status cursor_start(sqlite_db *db, sqlite3_stmt *stmt, const hf_db_value *params, size_t count,
                              hf_db_cursor **out_cursor, hf_err *err)
{
    int code = SQLITE_OK;

    for (size_t i = 0; i < count && code == SQLITE_OK; i++)
        code = value_bind(stmt, (int)i + 1, &params[i], SQLITE_TRANSIENT);
    if (code != SQLITE_OK)
        return db_fail(db, code, err);
    db->cursor = (sqlite_cursor){.base = {.db = &db->base}, .stmt = stmt};
    *out_cursor = &db->cursor.base;
    return HF_OK;
}

static hf_status sqlite_query(hf_db *base, hf_stmt which, const hf_db_value *params, size_t count,
                              hf_db_cursor **out_cursor, hf_err *err)
{
    sqlite_db *db = db_of(base);
    sqlite3_stmt *stmt = NULL;
    hf_status st = db_ready(db, err);

    if (!st)
        st = stmt_get(db, which, &stmt, err);
    if (!st)
        st = stmt_takes(stmt, count, err);
    return st ? st : cursor_start(db, stmt, params, count, out_cursor, err);
}

static hf_status text_prepare(sqlite_db *db, const char *sql, sqlite3_stmt **out_stmt, hf_err *err)
{
    sqlite3_stmt *stmt = NULL;
    sqlite3_stmt *next = NULL;
    const char *rest = NULL;
    hf_status st = HF_OK;
    int code = sqlite3_prepare_v3(db->handle, sql, -1, 0, &stmt, &rest);

    if (code == SQLITE_OK && stmt)
        code = sqlite3_prepare_v3(db->handle, rest, -1, 0, &next, NULL); /* white space and comments give NULL */
    if (code != SQLITE_OK) {
        st = db_fail(db, code, err);
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

static hf_status sqlite_query_text(hf_db *base, const char *sql, const hf_db_value *params, size_t count,
                                   hf_db_cursor **out_cursor, hf_err *err)
{
    sqlite_db *db = db_of(base);
    sqlite3_stmt *stmt = NULL;
    hf_status st = db_ready(db, err);

    if (!st)
        st = text_prepare(db, sql, &stmt, err);
    if (!st)
        st = stmt_takes(stmt, count, err);
    if (!st)
        st = cursor_start(db, stmt, params, count, out_cursor, err);
    if (st)
        (void)sqlite3_finalize(stmt);
    else
        db->cursor.owned = true;
    return st;
}

static hf_status sqlite_step(hf_db_cursor *base, bool *out_row, hf_err *err)
{
    sqlite_cursor *cursor = (sqlite_cursor *)base;
    int code;

    cursor->on_row = false;
    if (cursor->done)
        return HF_OK; /* SQLite would begin again */
    code = sqlite3_step(cursor->stmt);
    cursor->on_row = *out_row = code == SQLITE_ROW;
    if (code == SQLITE_ROW)
        return HF_OK;
    cursor->done = true;
    return code == SQLITE_DONE ? HF_OK : db_fail(db_of(base->db), code, err);
}

static sqlite3_stmt *row_stmt(hf_db_cursor *base)
{
    sqlite_cursor *cursor = (sqlite_cursor *)base;

    HF_ASSERT(cursor->on_row);
    return cursor->stmt;
}

static bool sqlite_column_null(hf_db_cursor *cursor, size_t column)
{
    return sqlite3_column_type(row_stmt(cursor), (int)column) == SQLITE_NULL;
}

static int64_t sqlite_column_int(hf_db_cursor *cursor, size_t column)
{
    return sqlite3_column_int64(row_stmt(cursor), (int)column);
}

static double sqlite_column_real(hf_db_cursor *cursor, size_t column)
{
    return sqlite3_column_double(row_stmt(cursor), (int)column);
}

/* Text is read as a blob too: that asks for no terminator and so for no memory that might be missing. */
static hf_slice sqlite_column_bytes(hf_db_cursor *cursor, size_t column)
{
    sqlite3_stmt *stmt = row_stmt(cursor);
    const void *bytes = sqlite3_column_blob(stmt, (int)column);

    return hf_slice_from(bytes, bytes ? (size_t)sqlite3_column_bytes(stmt, (int)column) : 0);
}

static size_t sqlite_column_count(hf_db_cursor *cursor)
{
    return (size_t)sqlite3_column_count(((sqlite_cursor *)cursor)->stmt);
}

static const char *sqlite_column_name(hf_db_cursor *cursor, size_t column)
{
    const char *name = sqlite3_column_name(((sqlite_cursor *)cursor)->stmt, (int)column);

    return name ? name : "";
}

static void sqlite_end(hf_db_cursor *base)
{
    sqlite_cursor *cursor = (sqlite_cursor *)base;

    if (cursor->owned) {
        (void)sqlite3_finalize(cursor->stmt);
    } else {
        (void)sqlite3_reset(cursor->stmt);
        (void)sqlite3_clear_bindings(cursor->stmt); /* gives copied parameters back */
    }
    cursor->stmt = NULL;
}

/* ---- care */

static hf_status sqlite_check(hf_db *base, hf_db_finding *found, void *ctx, hf_err *err)
{
    sqlite_db *db = db_of(base);
    sqlite3_stmt *stmt = NULL;
    hf_status st = db_ready(db, err);
    int code;

    if (st)
        return st;
    code = sqlite3_prepare_v2(db->handle, "PRAGMA integrity_check", -1, &stmt, NULL);
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(stmt);
        if (code == SQLITE_ROW) {
            const char *sentence = (const char *)sqlite3_column_text(stmt, 0);

            if (!sentence)
                code = SQLITE_NOMEM;
            else if (strcmp(sentence, "ok") != 0)
                found(ctx, sentence);
        }
    }
    if (code != SQLITE_DONE)
        st = db_fail(db, code, err);
    (void)sqlite3_finalize(stmt);
    return hf_err_because(err, st, "integrity check");
}

static hf_status sqlite_backup(hf_db *base, const char *path, hf_db_progress *progress, void *ctx, hf_err *err)
{
    sqlite_db *db = db_of(base);
    hf_status st;

    if (db_busy(db))
        return hf_err_set(err, HF_MISUSE, "a backup is its own transaction");
    st = sqlite_begin(base, HF_DB_READ, err);
    if (!st) { /* the first read fixes the snapshot; the copy would begin again after every foreign commit */
        st = data_version_read(db, &(int64_t){0}, err);
        if (!st)
            st = hf_sqlite_backup(db->handle, path, progress, ctx, err);
        sqlite_rollback(base);
    }
    return st;
}

/* Not worth waiting for a reader: the next idle moment will do. */
static hf_status log_truncate(sqlite_db *db, hf_err *err)
{
    int code;

    (void)sqlite3_busy_timeout(db->handle, 0);
    code = sqlite3_wal_checkpoint_v2(db->handle, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    (void)sqlite3_busy_timeout(db->handle, HF_SQLITE_BUSY_MS);
    if (code == SQLITE_OK)
        db->base.log_pages = 0;
    return code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY ? HF_OK : db_fail(db, code, err);
}

/* Under load the WAL is only copied back, and the next write reuses it from the start; that never waits for a
   reader. An idle writer, whose log is short, also gives the space back. */
static hf_status sqlite_checkpoint(hf_db *base, hf_err *err)
{
    sqlite_db *db = db_of(base);
    bool idle = base->log_pages < IDLE_LOG_PAGES_MAX;
    int pages = 0;
    int copied = 0;
    hf_status st = db_ready(db, err);
    int code;

    if (!st && db->read_only)
        st = hf_err_set(err, HF_READONLY, "the writer's connection is the only one that checkpoints");
    if (!st && db_busy(db))
        st = hf_err_set(err, HF_MISUSE, "a checkpoint waits for the end of the transaction");
    if (st)
        return st;
    code = sqlite3_wal_checkpoint_v2(db->handle, "main", SQLITE_CHECKPOINT_PASSIVE, &pages, &copied);
    if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY)
        return db_fail(db, code, err);
    return idle && pages == copied ? log_truncate(db, err) : HF_OK;
}

static hf_status sqlite_foreign_write(hf_db *base, bool *out_seen, hf_err *err)
{
    sqlite_db *db = db_of(base);
    int64_t version = 0;
    hf_status st = db_ready(db, err);

    if (!st)
        st = data_version_read(db, &version, err);
    if (!st) {
        *out_seen = version != db->data_version;
        db->data_version = version;
    }
    return st;
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
    sqlite_db *db = ctx;

    (void)handle;
    (void)name;
    db->base.log_pages = pages;
    return SQLITE_OK;
}

static void sqlite_close(hf_db *base)
{
    sqlite_db *db = db_of(base);
    int code;

    if (db->cursor.stmt)
        sqlite_end(&db->cursor.base);
    if (db->handle)
        sqlite_rollback(base);
    for (size_t i = 0; db->cached && i < db->text_count; i++)
        (void)sqlite3_finalize(db->cached[i]);
    for (size_t i = 0; i < FIXED_COUNT; i++)
        (void)sqlite3_finalize(db->prepared[i]);
    code = sqlite3_close(db->handle);
    HF_ASSERT(code == SQLITE_OK); /* anything else is a statement that was not finalised */
    hf_alloc_free(db->cached);
    hf_alloc_free(db);
}

static hf_status fixed_prepare(sqlite_db *db, hf_err *err)
{
    for (size_t i = 0; i < FIXED_COUNT; i++) {
        int code = sqlite3_prepare_v3(db->handle, fixed_texts[i], -1, SQLITE_PREPARE_PERSISTENT, &db->prepared[i],
                                      NULL);

        if (code != SQLITE_OK)
            return hf_sqlite_fail(db->handle, code, err);
    }
    return HF_OK;
}

static hf_status sqlite_open(const hf_db_options *options, hf_db **out_db, hf_err *err)
{
    sqlite_db *db = hf_alloc(sizeof(*db));
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
        st = data_version_read(db, &db->data_version, err);
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
    .query = sqlite_query,
    .query_text = sqlite_query_text,
    .step = sqlite_step,
    .column_null = sqlite_column_null,
    .column_int = sqlite_column_int,
    .column_real = sqlite_column_real,
    .column_bytes = sqlite_column_bytes,
    .column_count = sqlite_column_count,
    .column_name = sqlite_column_name,
    .end = sqlite_end,
    .script = sqlite_script,
    .now = sqlite_now,
    .check = sqlite_check,
    .backup = sqlite_backup,
    .checkpoint = sqlite_checkpoint,
    .foreign_write = sqlite_foreign_write,
    .notify = sqlite_notify,
    .listen = sqlite_listen,
    .notified = sqlite_notified,
};
