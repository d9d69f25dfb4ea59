/* pg_listen.c: NOTIFY, LISTEN and waiting for a notification. */
#include "store/pg_listen.h"

#include <string.h>

#include "store/pg_conn.h"
#include "store/pg_error.h"
#include "store/pg_sql.h"

enum { PAYLOAD_BYTES_MAX = 7999, TYPE_TEXT = 25 };

/* Ends the notifying connection: the next hint makes a new one. */
static void notifier_close(hf_pg *pg)
{
    PQfinish(pg->notifier);
    pg->notifier = NULL;
}

static hf_status notifier_check(hf_pg *pg, PGresult *result, hf_err *err)
{
    hf_status st = HF_OK;

    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK)
        st = hf_pg_error_set(result, err);
    PQclear(result);
    if (PQstatus(pg->notifier) == CONNECTION_BAD)
        notifier_close(pg);
    return st;
}

static hf_status notifier_open(hf_pg *pg, hf_err *err)
{
    hf_status st = hf_pg_conn_open(pg->address, HF_PG_PRIMARY, &pg->notifier, err);

    return st ? st : notifier_check(pg, PQexec(pg->notifier, HF_PG_SQL_NOTIFY_SESSION), err);
}

hf_status hf_pg_notify(hf_db *db, hf_slice payload, hf_err *err)
{
    hf_pg *pg = (hf_pg *)db;
    const Oid types[] = {TYPE_TEXT, TYPE_TEXT};
    const int formats[] = {0, 1};
    const char *values[2];
    int lengths[2] = {0};
    hf_status st = HF_OK;

    if (payload.len > PAYLOAD_BYTES_MAX)
        return hf_err_set(err, HF_TOOBIG, "a notification of %zu bytes, the limit is %d",
                          payload.len, PAYLOAD_BYTES_MAX);
    values[0] = pg->channel;
    values[1] = payload.len ? payload.ptr : "";
    lengths[1] = (int)payload.len;
    if (!pg->notifier)
        st = notifier_open(pg, err);
    if (!st)
        st = notifier_check(
            pg, PQexecParams(pg->notifier, HF_PG_SQL_NOTIFY, 2, types, values, lengths, formats, 1),
            err);
    return hf_err_because(err, st, "notify");
}

hf_status hf_pg_listen(hf_db *db, hf_err *err)
{
    hf_pg *pg = (hf_pg *)db;
    hf_status st = hf_pg_pipe_ready(pg, err);
    char *channel;

    if (st)
        return st;
    if (pg->in_transaction)
        return hf_err_set(err, HF_MISUSE, "LISTEN inside a transaction");
    channel = PQescapeIdentifier(pg->conn, pg->channel, strlen(pg->channel));
    if (!channel)
        return hf_err_nomem(err, "the name of the channel");
    hf_buf_clear(&pg->text);
    hf_buf_add_format(&pg->text, "LISTEN %s", channel);
    PQfreemem(channel);
    if (!hf_buf_ok(&pg->text))
        return hf_err_nomem(err, "the name of the channel");
    st = hf_pg_pipe_control(pg, HF_PG_CONTROL, hf_buf_text(&pg->text), err);
    if (!st)
        st = hf_pg_pipe_flush(pg, err);
    if (pg->failure.status)
        pg->failure = (hf_err){0};
    pg->listening = pg->listening || !st;
    return st;
}

hf_status hf_pg_notified(hf_db *db, int timeout_ms, hf_slice *out_payload, hf_err *err)
{
    hf_pg *pg = (hf_pg *)db;

    *out_payload = (hf_slice){0};
    PQfreemem(pg->note);
    pg->note = NULL;
    if (!pg->conn)
        return hf_err_set(err, HF_UNREACHABLE, "there is no connection to PostgreSQL");
    pg->note = PQnotifies(pg->conn);
    if (!pg->note && hf_pg_conn_wait(pg->conn, false, timeout_ms)) {
        if (!PQconsumeInput(pg->conn))
            return hf_pg_pipe_lost(pg, err);
        pg->note = PQnotifies(pg->conn);
    }
    if (!pg->note)
        return hf_err_set(err, HF_TIMEOUT, "no notification within %d ms", timeout_ms);
    *out_payload = hf_slice_of(pg->note->extra);
    return HF_OK;
}

void hf_pg_listen_fini(hf_pg *pg)
{
    PQfreemem(pg->note);
    pg->note = NULL;
    notifier_close(pg);
}
