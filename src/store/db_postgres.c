/* db_postgres.c: PostgreSQL behind db.h, built as a module of its own. Opening and transactions are
   here; the pipeline (pg_pipe), the encoding of rows (pg_array), reading (pg_cursor) and hints
   (pg_listen) have files of their own.

   The rule it keeps: HF_OK from commit means that the server said COMMIT. When the connection is
   lost before that answer, the outcome is HF_UNKNOWN, never a guess. It must not use symbols
   outside src/base: the host program may be stripped or linked differently. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "store/pg_conn.h"
#include "store/pg_cursor.h"
#include "store/pg_error.h"
#include "store/pg_listen.h"
#include "store/pg_pipe.h"
#include "store/pg_sql.h"

#define SCHEMA_DEFAULT "holdfast"
#define CHANNEL_PREFIX "hf_"

/* A transaction that idles for longer than the limit is stuck; the server ends it, so that its
   locks do not stop the other nodes. Readers may think for longer. */
enum {
    NAME_BYTES_MAX = 63,
    SCHEMA_ATTEMPTS = 3,
    BACKEND_SIZE = sizeof(((hf_pg *)NULL)->backend),
    PLAN_ROWS = 20000, /* written before plans are made anew, each time twice as many up to */
    PLAN_ROWS_MAX = 80000
};
#define IDLE_LIMIT_WRITE "60s"
#define IDLE_LIMIT_READ  "600s"
/* Nobody waits long for a row that a session has locked which was cut off in the middle. */
#define LOCK_LIMIT_WRITE "2s"
#define LOCK_LIMIT_READ  "10s"
#define AGAIN_US         INT64_C(1000000)

typedef enum schema_state { SCHEMA_MISSING, SCHEMA_FORBIDDEN, SCHEMA_USABLE } schema_state;

/* ---- session */

/* Sets the session up and asks whether it is a standby and what the schema looks like. */
static hf_status session_ask(const hf_pg *pg, PGconn *conn, bool *out_standby,
                             schema_state *out_schema, char out_backend[BACKEND_SIZE], hf_err *err)
{
    bool write = pg->mode == HF_DB_WRITE;
    const Oid types[] = {25, 25, 25, 25, 25}; /* text */
    const char *values[] = {pg->schema, write ? IDLE_LIMIT_WRITE : IDLE_LIMIT_READ,
                            write ? NULL : "on", write || pg->by_key ? "key" : "any",
                            write ? LOCK_LIMIT_WRITE : LOCK_LIMIT_READ};
    PGresult *result = PQexecParams(conn, HF_PG_SQL_SESSION, 5, types, values, NULL, NULL, 0);
    hf_status st = HF_OK;

    if (PQresultStatus(result) != PGRES_TUPLES_OK) {
        st = hf_pg_error_set(result, err);
        goto done;
    }
    *out_standby = strcmp(PQgetvalue(result, 0, 0), "1") == 0;
    *out_schema = SCHEMA_MISSING;
    if (!PQgetisnull(result, 0, 1))
        *out_schema = strcmp(PQgetvalue(result, 0, 1), "2") == 0 ? SCHEMA_USABLE : SCHEMA_FORBIDDEN;
    (void)snprintf(out_backend, BACKEND_SIZE, "%s", PQgetvalue(result, 0, PQnfields(result) - 1));
done:
    PQclear(result);
    return st;
}

/* Two nodes may do this at the same moment: the one that loses gets a uniqueness error and looks
 * again. */
static hf_status schema_create(hf_pg *pg, PGconn *conn, hf_err *err)
{
    char *name = PQescapeIdentifier(conn, pg->schema, strlen(pg->schema));
    PGresult *result = NULL;
    const char *sqlstate;
    hf_status st = HF_OK;

    hf_buf_clear(&pg->text);
    hf_buf_add_format(&pg->text, "CREATE SCHEMA IF NOT EXISTS %s", name ? name : "");
    if (!name || !hf_buf_ok(&pg->text)) {
        st = hf_err_nomem(err, "the name of the schema");
        goto done;
    }
    result = PQexec(conn, hf_buf_text(&pg->text));
    sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (PQresultStatus(result) != PGRES_COMMAND_OK &&
        !(sqlstate && (strcmp(sqlstate, "23505") == 0 || strcmp(sqlstate, "42P06") == 0)))
        st = hf_pg_error_set(result, err);
done:
    PQclear(result);
    PQfreemem(name);
    return hf_err_because(err, st, "create schema %s", pg->schema);
}

static hf_status session_check(hf_pg *pg, PGconn *conn, bool create, char out_backend[BACKEND_SIZE],
                               hf_err *err)
{
    schema_state schema = SCHEMA_MISSING;
    bool standby = false;
    hf_status st = HF_OK;

    for (int attempt = 0; attempt < SCHEMA_ATTEMPTS && schema == SCHEMA_MISSING; attempt++) {
        st = session_ask(pg, conn, &standby, &schema, out_backend, err);
        if (st)
            return st;
        if (standby && (pg->mode == HF_DB_WRITE || pg->primary)) /* a pooler did not tell */
            return hf_err_set(err, HF_READONLY, HF_PG_STANDBY);
        if (schema == SCHEMA_FORBIDDEN)
            return hf_err_set(err, HF_DENIED, "no privilege to use schema %s", pg->schema);
        if (schema == SCHEMA_MISSING && !create)
            return hf_err_set(err, HF_NOTFOUND, "schema %s does not exist", pg->schema);
        if (schema == SCHEMA_MISSING)
            st = schema_create(pg, conn, err);
        if (st)
            return st;
    }
    if (schema == SCHEMA_MISSING)
        return hf_err_set(err, HF_BUSY, "schema %s disappears as soon as it is created",
                          pg->schema);
    return HF_OK;
}

/* What every unit says is parsed once, not once per unit. The text is the name. */
static hf_status session_prepare(PGconn *conn, hf_err *err)
{
    static const char *const texts[] = {HF_PG_SQL_BEGIN_WRITE, HF_PG_SQL_COMMIT};
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < sizeof(texts) / sizeof(texts[0]); i++) {
        PGresult *result = PQprepare(conn, texts[i], texts[i], 0, NULL);

        if (PQresultStatus(result) != PGRES_COMMAND_OK)
            st = hf_pg_error_set(result, err);
        PQclear(result);
    }
    return st;
}

/* The session before may have lost us on its way to COMMIT: it must have ended before anything is
   read back. On another server, after a failover, there is nobody of that description. */
static hf_status session_succeed(const hf_pg *pg, PGconn *conn, hf_err *err)
{
    const Oid types[] = {25}; /* text */
    const char *values[] = {pg->backend};
    PGresult *result = PQexecParams(conn, HF_PG_SQL_SUCCEED, 1, types, values, NULL, NULL, 0);
    hf_status st = HF_OK;

    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        st = hf_pg_error_set(result, err);
    else if (PQntuples(result) > 0 && strcmp(PQgetvalue(result, 0, 0), "1") != 0)
        st = hf_err_set(err, HF_UNREACHABLE,
                        "the server still works on what was sent before the connection was lost");
    PQclear(result);
    return st;
}

static hf_status session_open(hf_pg *pg, bool create, hf_err *err)
{
    char backend[BACKEND_SIZE] = "";
    PGconn *conn = NULL;
    const hf_pg_want want = pg->mode == HF_DB_WRITE ? HF_PG_WRITABLE
                            : pg->primary           ? HF_PG_PRIMARY
                                                    : HF_PG_ANY;
    hf_status st = hf_pg_conn_open(pg->address, want, &conn, err);

    if (st)
        return st;
    st = session_check(pg, conn, create, backend, err);
    if (!st && pg->mode == HF_DB_WRITE && pg->backend[0])
        st = session_succeed(pg, conn, err);
    if (!st)
        st = session_prepare(conn, err);
    if (!st && (PQsetnonblocking(conn, 1) || !PQenterPipelineMode(conn)))
        st = hf_err_set(err, HF_ERROR, "libpq refuses pipeline mode");
    if (st) {
        PQfinish(conn);
        return st;
    }
    pg->conn = conn;
    memcpy(pg->backend, backend, sizeof(pg->backend));
    return HF_OK;
}

static void transaction_over(hf_pg *pg)
{
    pg->in_transaction = false;
    pg->ending = false;
    pg->ahead = false;
    pg->behind = 0;
    pg->failure = (hf_err){0};
}

/* Leaves a state from which session_open can start again. */
static void session_close(hf_pg *pg)
{
    pg->cursor.over = true;
    hf_pg_end(&pg->cursor.base);
    PQfinish(pg->conn);
    pg->conn = NULL;
    pg->ring_count = 0;
    pg->unsynced = false;
    pg->unsent_bytes = 0;
    pg->commit_open = false;
    transaction_over(pg);
    memset(pg->prepared, 0, HF_PG_FORMS * pg->statement_count * sizeof(*pg->prepared));
    hf_pg_listen_fini(pg);
}

static void pg_free(hf_pg *pg)
{
    hf_pg_params_fini(&pg->params);
    hf_buf_fini(&pg->text);
    hf_alloc_free(pg->prepared);
    hf_alloc_free(pg->channel);
    hf_alloc_free(pg->schema);
    hf_alloc_free(pg->address);
    hf_alloc_free(pg);
}

/* The prefix and the schema, cut to a name's length at a whole character: two schemas that then
   share a channel only wake each other in vain. */
static char *channel_new(const char *schema)
{
    const size_t prefix = strlen(CHANNEL_PREFIX);
    size_t len = strlen(schema);
    char *channel = hf_alloc(prefix + len + 1);

    if (!channel)
        return NULL;
    memcpy(channel, CHANNEL_PREFIX, prefix);
    memcpy(channel + prefix, schema, len);
    while (prefix + len > NAME_BYTES_MAX || (schema[len] & 0xC0) == 0x80)
        len--;
    channel[prefix + len] = '\0';
    return channel;
}

static hf_status pg_new(const hf_db_options *options, hf_pg **out_pg, hf_err *err)
{
    const char *schema = options->schema ? options->schema : SCHEMA_DEFAULT;
    hf_pg *pg;

    if (!*schema || strlen(schema) > NAME_BYTES_MAX)
        return hf_err_set(err, HF_INVALID, "the name of a schema has 1 to %d bytes",
                          NAME_BYTES_MAX);
    pg = hf_alloc(sizeof(*pg));
    if (!pg)
        return hf_err_nomem(err, "a connection");
    pg->mode = options->mode;
    pg->by_key = options->by_key;
    pg->primary = options->primary;
    pg->statements = options->statements;
    pg->statement_count = options->statement_count;
    pg->plan_rows = PLAN_ROWS;
    pg->cursor.base.db = &pg->db;
    pg->address = hf_alloc_text(options->address, strlen(options->address));
    pg->schema = hf_alloc_text(schema, strlen(schema));
    pg->channel = channel_new(schema);
    pg->prepared = hf_alloc_array(HF_PG_FORMS * options->statement_count, sizeof(*pg->prepared));
    if (!pg->address || !pg->schema || !pg->channel || !pg->prepared) {
        pg_free(pg);
        return hf_err_nomem(err, "a connection");
    }
    *out_pg = pg;
    return HF_OK;
}

static void pg_close(hf_db *db)
{
    hf_pg *pg = (hf_pg *)db;

    session_close(pg);
    pg_free(pg);
}

/* A schema is never created here: a server that lost it is not the one the store was opened on. */
static hf_status pg_reconnect(hf_db *db, hf_err *err)
{
    hf_pg *pg = (hf_pg *)db;
    bool listening = pg->listening;
    hf_status st;

    session_close(pg);
    st = session_open(pg, false, err);
    if (!st && listening)
        st = hf_pg_listen(db, err);
    return st;
}

/* Nothing can be in doubt about a connection that only reads: one that is lost is made anew when it
   is needed next, so that whoever asks again after a restart of the server is answered. While
   nobody answers that is tried once a second. */
static void session_revive(hf_pg *pg)
{
    int64_t now_us = hf_clock_mono_us(hf_clock_system());

    if (pg->conn || pg->mode != HF_DB_READ || pg->cursor.open || pg->listening ||
        now_us < pg->again_us)
        return;
    session_close(pg);
    pg->again_us = session_open(pg, false, NULL) ? now_us + AGAIN_US : 0;
}

static hf_status pg_query(hf_db *db, hf_stmt stmt, const hf_db_value *params, size_t count,
                          hf_db_cursor **out_cursor, hf_err *err)
{
    session_revive((hf_pg *)db);
    return hf_pg_query(db, stmt, params, count, out_cursor, err);
}

static hf_status pg_query_text(hf_db *db, const char *sql, const hf_db_value *params, size_t count,
                               hf_db_cursor **out_cursor, hf_err *err)
{
    session_revive((hf_pg *)db);
    return hf_pg_query_text(db, sql, params, count, out_cursor, err);
}

/* ---- transactions */

static hf_status pg_begin(hf_db *db, hf_db_mode mode, hf_err *err)
{
    hf_pg *pg = (hf_pg *)db;
    hf_status st;

    session_revive(pg);
    st = hf_pg_pipe_ready(pg, err);
    if (st)
        return st;
    if (pg->in_transaction && (!pg->ending || pg->ahead))
        return hf_err_set(err, HF_MISUSE, "a transaction is already open");
    if (mode == HF_DB_WRITE && pg->mode == HF_DB_READ)
        return hf_err_set(err, HF_READONLY, "this connection was opened for reading");
    if (pg->planned_rows > pg->plan_rows) {
        pg->planned_rows = 0;
        pg->plan_rows = pg->plan_rows < PLAN_ROWS_MAX ? pg->plan_rows * 2 : PLAN_ROWS_MAX;
        st = hf_pg_pipe_control(pg, HF_PG_CONTROL, HF_PG_SQL_REPLAN, err);
    }
    if (!st)
        st = hf_pg_pipe_control(pg, HF_PG_CONTROL,
                                mode == HF_DB_READ ? HF_PG_SQL_BEGIN_READ : HF_PG_SQL_BEGIN_WRITE,
                                err);
    if (pg->ending)
        pg->ahead = !st;
    else
        pg->in_transaction = !st;
    return st;
}

/* Whatever goes wrong here ends the connection, and the transaction with it. */
static void pg_rollback(hf_db *db)
{
    hf_pg *pg = (hf_pg *)db;
    hf_status st = HF_OK;

    hf_pg_pipe_forget_flags(pg);
    if (pg->cursor.open)
        hf_pg_end(&pg->cursor.base);
    if (pg->conn && pg->in_transaction) {
        /* A failed statement makes the server skip all up to the next sync, and a rollback must not
         * be skipped. */
        if (pg->unsynced)
            st = hf_pg_pipe_sync(pg, NULL);
        if (!st)
            st = hf_pg_pipe_control(pg, HF_PG_CONTROL, HF_PG_SQL_ROLLBACK, NULL);
        if (!st)
            st = hf_pg_pipe_sync(pg, NULL);
        if (!st)
            st = hf_pg_pipe_wait(pg, 0, NULL);
        if (pg->conn && (st || PQtransactionStatus(pg->conn) != PQTRANS_IDLE))
            (void)hf_pg_pipe_lost(pg, NULL);
    }
    transaction_over(pg);
}

/* Reports the kept failure and gives the transaction up. */
static hf_status transaction_fail(hf_pg *pg, hf_err *err)
{
    hf_status st = hf_pg_pipe_failure(pg, err);

    pg_rollback(&pg->db);
    return st;
}

static hf_status pg_commit_send(hf_db *db, hf_err *err)
{
    hf_pg *pg = (hf_pg *)db;
    hf_status st = hf_pg_pipe_ready(pg, err);

    if (!st && !pg->in_transaction)
        st = hf_err_set(err, HF_MISUSE, "there is no transaction to commit");
    if (!st && pg->failure.status)
        return transaction_fail(pg, err);
    pg->committed = false;
    if (!st)
        st = hf_pg_pipe_control(pg, HF_PG_COMMIT, HF_PG_SQL_COMMIT, err);
    if (st) {
        pg_rollback(db);
        return st;
    }
    st = hf_pg_pipe_sync(pg, err);
    if (st && pg->conn)
        st = hf_pg_pipe_lost(pg, err); /* COMMIT is queued and cannot be taken back */
    pg->ending = !st;
    return st;
}

static bool pg_commit_await(hf_db *db, int fd)
{
    hf_pg *pg = (hf_pg *)db;

    HF_ASSERT(pg->ending);
    return hf_pg_pipe_await(pg, pg->behind, fd);
}

/* What was begun behind it may have failed already, or lost the connection: that is told when its
   own turn comes. */
static hf_status pg_commit_end(hf_db *db, hf_err *err)
{
    hf_pg *pg = (hf_pg *)db;
    bool ahead = pg->ahead;
    hf_status st;

    HF_ASSERT(pg->ending);
    st = hf_pg_pipe_wait(pg, pg->behind, err);
    if (st && pg->conn)
        st = hf_pg_pipe_lost(pg, err);
    if (!pg->committed && !st)
        return transaction_fail(pg, err);
    if (pg->committed && pg->conn) {
        pg->in_transaction = ahead;
        pg->ending = pg->ahead = false;
        pg->behind = 0;
    } else {
        transaction_over(pg);
    }
    return pg->committed ? HF_OK : st;
}

static hf_status pg_commit(hf_db *db, hf_err *err)
{
    hf_status st = pg_commit_send(db, err);

    return st ? st : pg_commit_end(db, err);
}

/* Queues a control statement of the open transaction and waits for everything. */
static hf_status transaction_control(hf_pg *pg, const char *sql, hf_err *err)
{
    hf_status st = hf_pg_pipe_ready(pg, err);

    if (!st && !pg->in_transaction)
        st = hf_err_set(err, HF_MISUSE, "%s outside a transaction", sql);
    if (!st && pg->failure.status)
        st = hf_pg_pipe_flush(pg, err);
    if (!st)
        st = hf_pg_pipe_control(pg, HF_PG_CONTROL, sql, err);
    return st ? st : hf_pg_pipe_flush(pg, err);
}

static hf_status pg_savepoint(hf_db *db, hf_err *err)
{
    return transaction_control((hf_pg *)db, HF_PG_SQL_SAVEPOINT, err);
}

static hf_status pg_release(hf_db *db, hf_err *err)
{
    return transaction_control((hf_pg *)db, HF_PG_SQL_RELEASE, err);
}

static hf_status pg_rollback_to(hf_db *db, hf_err *err)
{
    hf_pg *pg = (hf_pg *)db;
    hf_status st = hf_pg_pipe_ready(pg, err);

    if (st)
        return st;
    hf_pg_pipe_forget_flags(pg);
    st = hf_pg_pipe_flush(pg, err);
    if (!pg->conn)
        return st;
    pg->failure = (hf_err){0}; /* what failed is what is being rolled back */
    st = transaction_control(pg, HF_PG_SQL_ROLLBACK_TO, err);
    return st ? st : transaction_control(pg, HF_PG_SQL_RELEASE, err);
}

static bool pg_in_transaction(hf_db *db)
{
    return ((hf_pg *)db)->in_transaction;
}

/* ---- statements */

/* After a failure nothing more is sent: flush and commit report it with the name of the statement
 * that failed. */
static hf_status pg_batch(hf_db *db, hf_stmt stmt, const hf_db_rows *rows, hf_err *err)
{
    hf_pg *pg = (hf_pg *)db;
    hf_pg_entry entry = {.kind = HF_PG_BATCH, .rows = rows->count, .flags = rows->flags};
    hf_db_rows sent = *rows;
    size_t form = (size_t)stmt;
    hf_status st = hf_pg_pipe_usable(pg, err);

    if (st)
        return st;
    if (!pg->in_transaction)
        return hf_err_set(err, HF_MISUSE, "rows are written only inside a transaction");
    if (rows->flags)
        memset(rows->flags, pg->failure.status ? HF_DB_SKIPPED : HF_DB_PENDING, rows->count);
    if (pg->failure.status)
        return HF_OK;
    HF_ASSERT(form < pg->statement_count);
    if (!pg->statements[form].postgres) {
        HF_ASSERT(!rows->flags);
        return HF_OK; /* for SQLite only: another statement of the unit does it along here */
    }
    entry.name = pg->statements[form].name;
    entry.assured = rows->assured && pg->statements[form].assured;
    if (entry.assured && rows->count == 1 && pg->statements[form].lone) {
        form += HF_PG_LONE * pg->statement_count;
        st = hf_pg_params_scalars(&pg->params, rows->cells, rows->columns, err);
    } else if (entry.assured) {
        form += HF_PG_ASSURED * pg->statement_count;
        sent.guard_runs = NULL;
        st = hf_pg_params_rows(&pg->params, &sent, err);
    } else {
        st = hf_pg_params_rows(&pg->params, rows, err);
    }
    if (st)
        return st;
    pg->planned_rows += rows->count;
    return hf_pg_pipe_stmt(pg, form, &entry, err);
}

/* In a transaction the answers are asked for, and no more: a sync would have the server get ready
   for another one. */
static hf_status pg_flush(hf_db *db, hf_err *err)
{
    hf_pg *pg = (hf_pg *)db;
    hf_status st = hf_pg_pipe_ready(pg, err);

    if (st || !pg->in_transaction)
        return st ? st : hf_pg_pipe_flush(pg, err);
    if (pg->ring_count && !PQsendFlushRequest(pg->conn))
        return hf_pg_pipe_lost(pg, err);
    st = hf_pg_pipe_wait(pg, 0, err);
    return st ? st : hf_pg_pipe_failure(pg, err);
}

/* Several statements at once exist only in the simple protocol, which a pipeline cannot carry. */
static hf_status pg_script(hf_db *db, const char *sql, hf_err *err)
{
    hf_pg *pg = (hf_pg *)db;
    PGresult *result;
    ExecStatusType status;
    hf_status st = hf_pg_pipe_ready(pg, err);

    if (!st)
        st = hf_pg_pipe_flush(pg, err);
    if (st)
        return st;
    if (!PQexitPipelineMode(pg->conn))
        return hf_pg_pipe_lost(pg, err);
    result = PQexec(pg->conn, sql);
    status = PQresultStatus(result);
    if (PQstatus(pg->conn) == CONNECTION_BAD) {
        st = hf_pg_pipe_lost(pg, err);
    } else if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK &&
               status != PGRES_EMPTY_QUERY) {
        st = result ? hf_pg_error_set(result, err) : hf_err_nomem(err, "a script");
        if (pg->in_transaction)
            (void)hf_err_set(&pg->failure, st, "an earlier script failed");
    }
    PQclear(result);
    if (pg->conn && !PQenterPipelineMode(pg->conn))
        return hf_pg_pipe_lost(pg, err);
    return st;
}

static hf_status pg_now(hf_db *db, int64_t *out_us, hf_err *err)
{
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st = hf_pg_query_text(db, HF_PG_SQL_NOW, NULL, 0, &cursor, err);

    if (st)
        return st;
    st = hf_pg_step(cursor, &row, err);
    if (row)
        *out_us = hf_pg_column_int(cursor, 0);
    hf_pg_end(cursor);
    return st;
}

/* ---- the rest */

static hf_status pg_check(hf_db *db, hf_db_finding *found, void *ctx, hf_err *err)
{
    const hf_db_value schema = hf_db_text(hf_slice_of(((hf_pg *)db)->schema));
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_pg_query_text(db, HF_PG_SQL_CHECK, &schema, 1, &cursor, err);

    if (st)
        return st;
    while (!st && row) {
        st = hf_pg_step(cursor, &row, err);
        if (row)
            found(ctx, hf_pg_column_bytes(cursor, 0).ptr); /* libpq ends every value with NUL */
    }
    hf_pg_end(cursor);
    return st;
}

static hf_status pg_backup(hf_db *db, const char *path, hf_db_progress *progress, void *ctx,
                           hf_err *err)
{
    (void)db;
    (void)path;
    (void)progress;
    (void)ctx;
    return hf_err_set(err, HF_MISUSE,
                      "a PostgreSQL store is backed up with pg_dump or pg_basebackup");
}

static hf_status pg_checkpoint(hf_db *db, hf_err *err)
{
    (void)db;
    (void)err;
    return HF_OK;
}

static hf_status pg_foreign_write(hf_db *db, bool *out_seen, hf_err *err)
{
    (void)db;
    (void)err;
    *out_seen = false;
    return HF_OK;
}

static hf_status pg_open(const hf_db_options *options, hf_db **out_db, hf_err *err);

static hf_status pg_limit(hf_db *db, int64_t timeout_ms, hf_err *err)
{
    char text[32];
    hf_db_value param;
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st;

    (void)snprintf(text, sizeof(text), "%lld", (long long)timeout_ms);
    param = hf_db_text(hf_slice_of(text));
    st = hf_pg_query_text(db, HF_PG_SQL_LIMIT, &param, 1, &cursor, err);
    while (!st && row)
        st = hf_pg_step(cursor, &row, err);
    hf_pg_end(cursor);
    return st;
}

static const hf_db_driver postgres_driver = {
    .size = sizeof(hf_db_driver),
    .name = "postgres",
    .open = pg_open,
    .close = pg_close,
    .reconnect = pg_reconnect,
    .begin = pg_begin,
    .commit = pg_commit,
    .commit_send = pg_commit_send,
    .commit_await = pg_commit_await,
    .commit_end = pg_commit_end,
    .rollback = pg_rollback,
    .savepoint = pg_savepoint,
    .release = pg_release,
    .rollback_to = pg_rollback_to,
    .in_transaction = pg_in_transaction,
    .assures = true,
    .batch = pg_batch,
    .flush = pg_flush,
    .query = pg_query,
    .query_text = pg_query_text,
    .limit = pg_limit,
    .step = hf_pg_step,
    .column_null = hf_pg_column_null,
    .column_int = hf_pg_column_int,
    .column_real = hf_pg_column_real,
    .column_bytes = hf_pg_column_bytes,
    .column_count = hf_pg_column_count,
    .column_name = hf_pg_column_name,
    .end = hf_pg_end,
    .script = pg_script,
    .now = pg_now,
    .check = pg_check,
    .backup = pg_backup,
    .checkpoint = pg_checkpoint,
    .foreign_write = pg_foreign_write,
    .notify = hf_pg_notify,
    .listen = hf_pg_listen,
    .notified = hf_pg_notified,
};

/* The table names it and it names the table, so one of them had to be declared first. */
static hf_status pg_open(const hf_db_options *options, hf_db **out_db, hf_err *err)
{
    hf_pg *pg = NULL;
    hf_status st = pg_new(options, &pg, err);

    *out_db = NULL;
    if (st)
        return st;
    pg->db.driver = &postgres_driver;
    st = session_open(pg, options->create && options->mode == HF_DB_WRITE, err);
    if (st) {
        pg_free(pg);
        return hf_err_because(err, st, "connect to PostgreSQL");
    }
    *out_db = &pg->db;
    return HF_OK;
}

HF_API hf_db_module_fn hf_db_module;

const hf_db_driver *hf_db_module(void *fault)
{
#ifdef HF_FAULT
    if (fault)
        hf_fault_share(fault);
#else
    (void)fault;
#endif
    return &postgres_driver;
}
