/* pg_pipe.c: sending, and matching answers to what was sent. Never waits for one direction only. */
#include "store/pg_pipe.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "store/pg_error.h"
#include "store/pg_sql.h"

/* Beyond this the server gets to work on what is queued while the rest is still being encoded. */
enum { UNSENT_BYTES_MAX = 8 * 1024, NAME_SIZE = 128 };

/* Division by zero: how an assured statement ends the transaction. */
#define GUARD_FAILED "22012"

/* ---- the ring */

static hf_pg_entry *ring_at(hf_pg *pg, size_t index)
{
    return &pg->ring[(pg->ring_first + index) % HF_PG_RING];
}

/* libpq wants to know that rows come one by one when the query's turn begins, before it reads any
 * of them. */
static void ring_head_changed(hf_pg *pg)
{
    if (pg->ring_count && ring_at(pg, 0)->kind == HF_PG_QUERY)
        (void)PQsetSingleRowMode(pg->conn); /* refused only when the query is going to be skipped */
}

static void ring_push(hf_pg *pg, hf_pg_entry entry)
{
    HF_ASSERT(pg->ring_count < HF_PG_RING);
    *ring_at(pg, pg->ring_count) = entry;
    pg->ring_count++;
    pg->behind += pg->ending;
    if (pg->ring_count == 1)
        ring_head_changed(pg);
}

static void ring_pop(hf_pg *pg)
{
    HF_ASSERT(pg->ring_count > 0);
    pg->ring_first = (pg->ring_first + 1) % HF_PG_RING;
    pg->ring_count--;
    ring_head_changed(pg);
}

/* How many entries stand from the query on: its rows belong to the cursor and must not be taken
 * here. */
static size_t ring_from_query(hf_pg *pg)
{
    for (size_t i = 0; i < pg->ring_count; i++)
        if (ring_at(pg, i)->kind == HF_PG_QUERY)
            return pg->ring_count - i;
    return 0;
}

/* ---- answers */

static void failure_keep(hf_pg *pg, const hf_err *failure, const char *name)
{
    if (pg->failure.status)
        return; /* the first one explains the others */
    pg->failure = *failure;
    if (name)
        hf_err_because(&pg->failure, failure->status, "%s", name);
}

/* The entry did not happen: an error of its own, or skipped after one. */
static void entry_failed(hf_pg *pg, hf_pg_entry *entry)
{
    if (entry->kind == HF_PG_PREPARE)
        pg->prepared[entry->stmt] = false;
    if (entry->flags)
        memset(entry->flags, HF_DB_SKIPPED, entry->rows);
    pg->commit_open = false; /* nothing behind an error runs before the next sync */
}

/* Rows hold the numbers of what was applied; a statement without rows applied everything or is
 * wrongly used. */
static void entry_flag(hf_pg *pg, const hf_pg_entry *entry, PGresult *result)
{
    int count = PQntuples(result);
    hf_err err = {0};

    if (PQresultStatus(result) == PGRES_COMMAND_OK) {
        hf_slice tuples = hf_slice_of(PQcmdTuples(result));
        int64_t applied = -1;

        if (hf_slice_int(tuples, &applied) && applied == (int64_t)entry->rows) {
            memset(entry->flags, HF_DB_APPLIED, entry->rows);
            return;
        }
        hf_err_set(&err, HF_ERROR, "%lld of %zu rows applied and the statement does not say which",
                   (long long)applied, entry->rows);
        failure_keep(pg, &err, entry->name);
        return;
    }
    memset(entry->flags, HF_DB_SKIPPED, entry->rows);
    for (int i = 0; i < count; i++) {
        int64_t row =
            PQgetlength(result, i, 0) == 8 ? hf_pg_int_read(PQgetvalue(result, i, 0), 8) : 0;

        if (row < 1 || (uint64_t)row > entry->rows) {
            hf_err_set(&err, HF_ERROR,
                       "the statement does not return row numbers in its first column");
            failure_keep(pg, &err, entry->name);
            return;
        }
        entry->flags[row - 1] = HF_DB_APPLIED;
    }
}

static void entry_done(hf_pg *pg, const hf_pg_entry *entry, PGresult *result)
{
    hf_err err = {0};

    switch (entry->kind) {
    case HF_PG_COMMIT:
        /* COMMIT of a transaction that had failed is answered with ROLLBACK, not with an error. */
        pg->commit_open = false;
        pg->committed = strcmp(PQcmdStatus(result), "COMMIT") == 0;
        /* Flags that cannot be told are found too late here: the caller would act on a guess. */
        HF_ASSERT(!pg->committed || !pg->failure.status);
        if (!pg->committed) {
            hf_err_set(&err, HF_ERROR, "the server rolled the transaction back");
            failure_keep(pg, &err, entry->name);
        }
        break;
    case HF_PG_BATCH:
        if (entry->flags)
            entry_flag(pg, entry, result);
        break;
    case HF_PG_CONTROL:
    case HF_PG_PREPARE:
    case HF_PG_QUERY:
    case HF_PG_SYNC:
        break;
    }
}

/* An error answer. The server's last words before it closes the connection prove that a COMMIT
   further back in the queue was not reached; they prove nothing about a COMMIT that they answer. An
   error without a SQLSTATE is none of the server's: libpq could not write or read, and says so in
   place of answers that may still be on their way. */
static hf_status entry_error(hf_pg *pg, hf_pg_entry *entry, PGresult *result, hf_err *err)
{
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    bool fatal = hf_pg_error_fatal(result);
    hf_err text = {0};

    if (fatal && entry->kind != HF_PG_COMMIT)
        pg->commit_open = false;
    if (fatal || !sqlstate || PQstatus(pg->conn) == CONNECTION_BAD) {
        hf_status st = hf_pg_pipe_lost(pg, err);

        if (fatal) {
            (void)hf_pg_error_set(result, &text);
            (void)hf_err_set(err, st, "the server closed the connection: %s", text.text);
        }
        return st;
    }
    (void)hf_pg_error_set(result, &text);
    if (entry->assured && strcmp(sqlstate, GUARD_FAILED) == 0)
        (void)hf_err_set(&text, HF_CONFLICT, "a guard did not hold");
    failure_keep(pg, &text, entry->name);
    entry_failed(pg, entry);
    return HF_OK;
}

/* Applies one answer to the entry in front. `result` is NULL at the end of the entry's answers. */
static hf_status entry_answer(hf_pg *pg, PGresult *result, hf_err *err)
{
    hf_pg_entry *entry = ring_at(pg, 0);
    ExecStatusType status = result ? PQresultStatus(result) : PGRES_EMPTY_QUERY;

    if (!result && !entry->answered) /* so libpq puts it when nothing can come any more */
        return hf_pg_pipe_lost(pg, err);
    entry->answered = true;
    if (!result) {
        ring_pop(pg);
        return HF_OK;
    }
    if (status == PGRES_PIPELINE_SYNC) {
        HF_ASSERT(entry->kind == HF_PG_SYNC);
        ring_pop(pg);
        return HF_OK;
    }
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) {
        entry_done(pg, entry, result);
        return HF_OK;
    }
    if (status == PGRES_SINGLE_TUPLE || status == PGRES_EMPTY_QUERY)
        return HF_OK;
    if (status == PGRES_PIPELINE_ABORTED) {
        entry_failed(pg, entry);
        return HF_OK;
    }
    if (status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE)
        return entry_error(pg, entry, result, err);
    /* What remains are the COPY protocols, which a pipeline cannot leave again. */
    (void)hf_pg_pipe_lost(pg, err);
    return hf_err_set(err, HF_INVALID, "COPY is not possible here");
}

/* ---- the socket */

/* Waits until the socket can be read, or written when something is to be sent, and reads; or until
   `fd` can be read, unless it is -1: then true. The end of the connection shows as an answer, after
   all answers that arrived before it. */
static bool socket_or(hf_pg *pg, bool sending, int fd)
{
    struct pollfd ready[] = {{.fd = PQsocket(pg->conn), .events = POLLIN},
                             {.fd = fd, .events = POLLIN}};

    if (sending)
        ready[0].events = POLLIN | POLLOUT;
    while (poll(ready, 2, -1) < 0 && errno == EINTR)
        continue;
    if (ready[0].revents & ~POLLOUT)
        (void)PQconsumeInput(pg->conn);
    return ready[1].revents != 0;
}

static void socket_work(hf_pg *pg, bool sending)
{
    (void)socket_or(pg, sending, -1);
}

/* Takes every answer that is there without waiting. */
static hf_status answers_take(hf_pg *pg, size_t leave, hf_err *err)
{
    hf_status st = HF_OK;

    while (!st && pg->ring_count > leave && !PQisBusy(pg->conn)) {
        PGresult *result = PQgetResult(pg->conn);

        st = entry_answer(pg, result, err);
        PQclear(result);
    }
    return st;
}

/* After something was queued: hands it to the socket once it is much, reading answers meanwhile. */
static hf_status queued(hf_pg *pg, int sent, hf_pg_entry entry, hf_err *err)
{
    hf_status st = HF_OK;

    if (!sent) {
        if (PQstatus(pg->conn) == CONNECTION_BAD)
            return hf_pg_pipe_lost(pg, err);
        return hf_err_set(err, HF_NOMEM, "cannot queue a statement: %s", PQerrorMessage(pg->conn));
    }
    ring_push(pg, entry);
    pg->unsynced = entry.kind != HF_PG_SYNC;
    if (entry.kind == HF_PG_COMMIT)
        pg->commit_open = !pg->failure.status;
    if (pg->unsent_bytes <= UNSENT_BYTES_MAX)
        return HF_OK;
    while (!st && PQflush(pg->conn) == 1) {
        socket_work(pg, true);
        st = answers_take(pg, ring_from_query(pg), err);
    }
    pg->unsent_bytes = 0;
    return st;
}

/* Room in the ring for one more statement with its preparation. */
static hf_status room_make(hf_pg *pg, hf_err *err)
{
    if (pg->ring_count < HF_PG_IN_FLIGHT_MAX)
        return HF_OK;
    if (!PQsendFlushRequest(pg->conn))
        return hf_pg_pipe_lost(pg, err);
    return hf_pg_pipe_wait(pg, HF_PG_IN_FLIGHT_MAX / 2, err);
}

/* The name that the session knows the statement by. */
static const char *stmt_name(const hf_pg *pg, size_t stmt, char name[NAME_SIZE])
{
    static const char marks[HF_PG_FORMS] = {[HF_PG_ASSURED] = '+', [HF_PG_LONE] = '1'};
    const char *plain = pg->statements[stmt % pg->statement_count].name;
    size_t form = stmt / pg->statement_count;

    if (form == HF_PG_GUARDED)
        return plain;
    (void)snprintf(name, NAME_SIZE, "%s%c", plain, marks[form]);
    return name;
}

static hf_status stmt_prepare(hf_pg *pg, size_t stmt, const char *name, hf_err *err)
{
    const hf_stmt_text *text = &pg->statements[stmt % pg->statement_count];
    const char *const forms[HF_PG_FORMS] = {text->postgres, text->assured, text->lone};
    char known[NAME_SIZE];
    hf_status st;

    if (pg->prepared[stmt])
        return HF_OK;
    hf_buf_clear(&pg->text);
    hf_pg_sql_rewrite(forms[stmt / pg->statement_count], &pg->text);
    if (!hf_buf_ok(&pg->text))
        return hf_err_nomem(err, "the text of a statement");
    pg->unsent_bytes += pg->text.len;
    st = queued(pg,
                PQsendPrepare(pg->conn, stmt_name(pg, stmt, known), hf_buf_text(&pg->text),
                              pg->params.count, pg->params.types),
                (hf_pg_entry){.kind = HF_PG_PREPARE, .name = name, .stmt = stmt}, err);
    if (!st && !pg->failure.status)
        pg->prepared[stmt] = true; /* taken back when the answer is an error */
    return st;
}

/* ---- what the driver calls */

hf_status hf_pg_pipe_lost(hf_pg *pg, hf_err *err)
{
    hf_status st = pg->commit_open ? HF_UNKNOWN : HF_UNREACHABLE;
    hf_err lost = {0};

    (void)hf_pg_error_lost(pg->conn, st, &lost);
    if (err)
        *err = lost;
    while (pg->ring_count > 0) {
        entry_failed(pg, ring_at(pg, 0));
        pg->ring_first = (pg->ring_first + 1) % HF_PG_RING;
        pg->ring_count--;
    }
    PQfinish(pg->conn);
    pg->conn = NULL;
    pg->unsynced = false;
    pg->unsent_bytes = 0;
    pg->in_transaction = false;
    pg->cursor.over = true;
    pg->failure = pg->ending ? lost : (hf_err){0};
    return st;
}

hf_status hf_pg_pipe_usable(hf_pg *pg, hf_err *err)
{
    if (!pg->conn)
        return hf_err_set(err, HF_UNREACHABLE, "there is no connection to PostgreSQL");
    if (pg->cursor.open)
        return hf_err_set(err, HF_MISUSE, "a cursor is still open on this connection");
    return HF_OK;
}

hf_status hf_pg_pipe_ready(hf_pg *pg, hf_err *err)
{
    struct pollfd ready = {.events = POLLIN};
    hf_status unusable = hf_pg_pipe_usable(pg, err);

    if (unusable)
        return unusable;
    /* A closed socket takes data and loses it; reading is the only way to notice. */
    ready.fd = PQsocket(pg->conn);
    while (poll(&ready, 1, 0) > 0) {
        bool alive = PQconsumeInput(pg->conn);
        hf_status st = answers_take(pg, 0, err);

        if (st)
            return st;
        if (!alive)
            return hf_pg_pipe_lost(pg, err);
    }
    return HF_OK;
}

hf_status hf_pg_pipe_control(hf_pg *pg, hf_pg_kind kind, const char *sql, hf_err *err)
{
    bool prepared = strcmp(sql, HF_PG_SQL_BEGIN_WRITE) == 0 || strcmp(sql, HF_PG_SQL_COMMIT) == 0;
    hf_status st = room_make(pg, err);
    int sent;

    if (st)
        return st;
    sent = prepared ? PQsendQueryPrepared(pg->conn, sql, 0, NULL, NULL, NULL, 1)
                    : PQsendQueryParams(pg->conn, sql, 0, NULL, NULL, NULL, NULL, 1);
    return queued(pg, sent, (hf_pg_entry){.kind = kind, .name = sql}, err);
}

hf_status hf_pg_pipe_stmt(hf_pg *pg, size_t stmt, const hf_pg_entry *entry, hf_err *err)
{
    hf_pg_params *params = &pg->params;
    char name[NAME_SIZE];
    hf_status st;

    HF_ASSERT(stmt < HF_PG_FORMS * pg->statement_count);
    st = room_make(pg, err);
    if (!st)
        st = stmt_prepare(pg, stmt, entry->name, err);
    if (st)
        return st;
    pg->unsent_bytes += params->bytes.len;
    return queued(pg,
                  PQsendQueryPrepared(pg->conn, stmt_name(pg, stmt, name), params->count,
                                      params->values, params->lengths, params->formats, 1),
                  *entry, err);
}

hf_status hf_pg_pipe_text(hf_pg *pg, const char *sql, const hf_pg_entry *entry, hf_err *err)
{
    hf_pg_params *params = &pg->params;
    hf_status st = room_make(pg, err);

    if (st)
        return st;
    hf_buf_clear(&pg->text);
    hf_pg_sql_rewrite(sql, &pg->text);
    if (!hf_buf_ok(&pg->text))
        return hf_err_nomem(err, "the text of a statement");
    pg->unsent_bytes += pg->text.len + params->bytes.len;
    return queued(pg,
                  PQsendQueryParams(pg->conn, hf_buf_text(&pg->text), params->count, params->types,
                                    params->values, params->lengths, params->formats, 1),
                  *entry, err);
}

hf_status hf_pg_pipe_sync(hf_pg *pg, hf_err *err)
{
    return queued(pg, PQpipelineSync(pg->conn), (hf_pg_entry){.kind = HF_PG_SYNC}, err);
}

static hf_status pipe_wait(hf_pg *pg, size_t leave, int fd, bool *out_called, hf_err *err)
{
    *out_called = false;
    while (pg->ring_count > leave && !*out_called) {
        bool sending = PQflush(pg->conn) == 1;
        hf_status st = answers_take(pg, leave, err);

        if (st)
            return st;
        if (pg->ring_count > leave)
            *out_called = socket_or(pg, sending, fd);
        if (!sending)
            pg->unsent_bytes = 0;
    }
    return HF_OK;
}

hf_status hf_pg_pipe_wait(hf_pg *pg, size_t leave, hf_err *err)
{
    bool called;

    return pipe_wait(pg, leave, -1, &called, err);
}

bool hf_pg_pipe_await(hf_pg *pg, size_t leave, int fd)
{
    bool called;

    (void)pipe_wait(pg, leave, fd, &called, NULL);
    return !called;
}

hf_status hf_pg_pipe_answer(hf_pg *pg, PGresult **out_result, hf_err *err)
{
    PGresult *result;
    hf_status st;

    *out_result = NULL;
    HF_ASSERT(pg->ring_count > 0 && ring_at(pg, 0)->kind == HF_PG_QUERY);
    for (;;) {
        bool sending = PQflush(pg->conn) == 1;

        if (!PQisBusy(pg->conn))
            break;
        socket_work(pg, sending);
    }
    result = PQgetResult(pg->conn);
    st = entry_answer(pg, result, err);
    if (st || pg->failure.status)
        PQclear(result);
    else
        *out_result = result;
    return st;
}

hf_status hf_pg_pipe_flush(hf_pg *pg, hf_err *err)
{
    hf_status st = HF_OK;

    if (pg->unsynced)
        st = hf_pg_pipe_sync(pg, err);
    if (!st)
        st = hf_pg_pipe_wait(pg, 0, err);
    return st ? st : hf_pg_pipe_failure(pg, err);
}

hf_status hf_pg_pipe_failure(const hf_pg *pg, hf_err *err)
{
    if (pg->failure.status == HF_OK)
        return HF_OK;
    return hf_err_set(err, pg->failure.status, "%s", pg->failure.text);
}

void hf_pg_pipe_forget_flags(hf_pg *pg)
{
    for (size_t i = 0; i < pg->ring_count; i++)
        ring_at(pg, i)->flags = NULL;
}
