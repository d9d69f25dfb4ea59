/* lib_flow_floor_postgres.c: the bare libpq program: one pipelined transaction per batch, prepared
   statements with one array per column. */
#include <libpq-fe.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "lib_flow_floor.h"
#include "lib_report.h"

enum { COLUMNS_MAX = 6, INT_OID = 20, BLOB_OID = 17, INT_BYTES = 8 };

typedef struct floor_postgres {
    hf_flow_floor base;
    PGconn *conn;
    hf_buf columns[COLUMNS_MAX]; /* arrays of the statement under construction */
    int column_count;
    size_t sent;
} floor_postgres;

static void big_add(hf_buf *buf, uint64_t number, int bytes)
{
    uint8_t big[INT_BYTES];

    for (int i = 0; i < bytes; i++)
        big[i] = (uint8_t)(number >> (8 * (bytes - 1 - i)));
    hf_buf_add(buf, big, (size_t)bytes);
}

static hf_buf *column_begin(floor_postgres *mine, uint32_t type, size_t count)
{
    hf_buf *buf = &mine->columns[mine->column_count++];

    hf_buf_clear(buf);
    big_add(buf, 1, 4); /* dimensions */
    big_add(buf, 0, 4); /* no nulls */
    big_add(buf, type, 4);
    big_add(buf, count, 4);
    big_add(buf, 1, 4); /* first subscript */
    return buf;
}

/* A column of numbers; `of` is the offset of the number in hf_flow_floor_run. */
static void column_int(floor_postgres *mine, const hf_flow_floor_run *runs, size_t count, size_t of,
                       int64_t add)
{
    hf_buf *buf = column_begin(mine, INT_OID, count);

    for (; runs; runs = runs->next) {
        int64_t number;

        memcpy(&number, (const char *)runs + of, sizeof(number));
        big_add(buf, INT_BYTES, 4);
        big_add(buf, (uint64_t)(number + add), INT_BYTES);
    }
}

static void column_heads(floor_postgres *mine, const hf_flow_floor_run *runs, size_t count)
{
    hf_buf *buf = column_begin(mine, BLOB_OID, count);

    for (; runs; runs = runs->next) {
        big_add(buf, sizeof(runs->head), 4);
        hf_buf_add(buf, runs->head, sizeof(runs->head));
    }
}

static void column_bodies(floor_postgres *mine, size_t count)
{
    hf_buf *buf = column_begin(mine, BLOB_OID, count);

    for (size_t i = 0; i < count; i++) {
        big_add(buf, mine->base.body_bytes, 4);
        hf_buf_add(buf, mine->base.body, mine->base.body_bytes);
    }
}

static void column_same(floor_postgres *mine, size_t count, int64_t number)
{
    hf_buf *buf = column_begin(mine, INT_OID, count);

    for (size_t i = 0; i < count; i++) {
        big_add(buf, INT_BYTES, 4);
        big_add(buf, (uint64_t)number, INT_BYTES);
    }
}

static void stmt_send(floor_postgres *mine, const char *name)
{
    const char *values[COLUMNS_MAX];
    int lengths[COLUMNS_MAX];
    int formats[COLUMNS_MAX];

    for (int i = 0; i < mine->column_count; i++) {
        hf_bench_need(hf_buf_ok(&mine->columns[i]), "no memory");
        values[i] = mine->columns[i].ptr;
        lengths[i] = (int)mine->columns[i].len;
        formats[i] = 1;
    }
    hf_bench_need(
        PQsendQueryPrepared(mine->conn, name, mine->column_count, values, lengths, formats, 1) == 1,
        "libpq does not send a statement of the floor");
    mine->column_count = 0;
    mine->sent++;
}

static void answers_take(floor_postgres *mine)
{
    PGresult *result;

    hf_bench_need(PQpipelineSync(mine->conn) == 1, "libpq does not send the floor's commit");
    for (; mine->sent; mine->sent--) {
        result = PQgetResult(mine->conn);
        hf_bench_need(PQresultStatus(result) == PGRES_COMMAND_OK,
                      "PostgreSQL refuses rows of the floor");
        PQclear(result);
        hf_bench_need(PQgetResult(mine->conn) == NULL, "PostgreSQL answers too much");
    }
    result = PQgetResult(mine->conn);
    hf_bench_need(PQresultStatus(result) == PGRES_PIPELINE_SYNC, "the floor's pipeline is broken");
    PQclear(result);
}

static void postgres_write(hf_flow_floor *floor, const hf_flow_floor_run *runs, int64_t time_us)
{
    floor_postgres *mine = (floor_postgres *)floor;
    size_t count = 0;

    for (const hf_flow_floor_run *run = runs; run; run = run->next)
        count++;
    stmt_send(mine, "start");
    column_int(mine, runs, count, offsetof(hf_flow_floor_run, run), 0);
    column_int(mine, runs, count, offsetof(hf_flow_floor_run, last_seq), 0);
    column_heads(mine, runs, count);
    column_same(mine, count, time_us);
    column_int(mine, runs, count, offsetof(hf_flow_floor_run, history_bytes),
               (int64_t)floor->body_bytes);
    stmt_send(mine, "run");
    column_int(mine, runs, count, offsetof(hf_flow_floor_run, position), 0);
    column_int(mine, runs, count, offsetof(hf_flow_floor_run, run), 0);
    column_int(mine, runs, count, offsetof(hf_flow_floor_run, last_seq), 1);
    column_bodies(mine, count);
    column_heads(mine, runs, count);
    stmt_send(mine, "history");
    column_int(mine, runs, count, offsetof(hf_flow_floor_run, activity), 0);
    stmt_send(mine, "ends");
    column_int(mine, runs, count, offsetof(hf_flow_floor_run, begins), 0);
    column_int(mine, runs, count, offsetof(hf_flow_floor_run, run), 0);
    column_int(mine, runs, count, offsetof(hf_flow_floor_run, step), 1);
    column_same(mine, count, time_us);
    stmt_send(mine, "begins");
    stmt_send(mine, "finish");
    answers_take(mine);
}

/* Sends a statement of the jobs: their keys, a time, and what `hash` and `body` ask for. */
static void job_send(floor_postgres *mine, const char *name, const hf_flow_floor_run *runs,
                     size_t count, size_t key, int64_t time_us, bool hash, bool body)
{
    column_int(mine, runs, count, key, 0);
    column_same(mine, count, time_us);
    if (hash)
        column_heads(mine, runs, count);
    if (body)
        column_bodies(mine, count);
    stmt_send(mine, name);
}

static void chunks_send(floor_postgres *mine, const hf_flow_floor_run *runs, size_t count,
                        size_t key, int64_t nth, int64_t seq)
{
    column_int(mine, runs, count, offsetof(hf_flow_floor_run, position), nth);
    column_int(mine, runs, count, key, 1);
    column_same(mine, count, seq);
    column_bodies(mine, count);
    column_heads(mine, runs, count);
    stmt_send(mine, "history");
}

static void postgres_jobs_write(hf_flow_floor *floor, const hf_flow_floor_run *runs,
                                int64_t time_us)
{
    const size_t ends = offsetof(hf_flow_floor_run, activity);
    const size_t begins = offsetof(hf_flow_floor_run, begins);
    floor_postgres *mine = (floor_postgres *)floor;
    size_t count = 0;

    for (const hf_flow_floor_run *run = runs; run; run = run->next)
        count++;
    stmt_send(mine, "start");
    if (runs->activity) {
        job_send(mine, "job_close", runs, count, ends, time_us, true, false);
        chunks_send(mine, runs, count, ends, 0, 3);
        job_send(mine, "job_task_end", runs, count, ends, time_us, false, false);
        job_send(mine, "job_ended", runs, count, ends, time_us, false, false);
    }
    job_send(mine, "job_instance", runs, count, begins, time_us, false, false);
    job_send(mine, "job_run", runs, count, begins, time_us, true, false);
    chunks_send(mine, runs, count, begins, 1, 1);
    job_send(mine, "job_command", runs, count, begins, time_us, false, true);
    job_send(mine, "job_task", runs, count, begins, time_us, false, false);
    job_send(mine, "job_summary", runs, count, begins, time_us, false, false);
    stmt_send(mine, "finish");
    answers_take(mine);
}

static void postgres_finish(hf_flow_floor *floor)
{
    floor_postgres *mine = (floor_postgres *)floor;

    PQfinish(mine->conn);
    for (size_t i = 0; i < COLUMNS_MAX; i++)
        hf_buf_fini(&mine->columns[i]);
}

static void sql_run(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);

    hf_bench_need(PQresultStatus(result) == PGRES_COMMAND_OK, "the floor's session does not begin");
    PQclear(result);
}

static void stmt_make(PGconn *conn, const char *name, const char *sql)
{
    PGresult *result = PQprepare(conn, name, sql, 0, NULL);

    hf_bench_need(PQresultStatus(result) == PGRES_COMMAND_OK,
                  "PostgreSQL refuses a statement of the floor");
    PQclear(result);
}

#define JOBS        " FROM unnest($1::bigint[], $2::bigint[]) AS u(k, t)"
#define HASHED_JOBS " FROM unnest($1::bigint[], $2::bigint[], $3::bytea[]) AS u(k, t, b)"

static void job_stmts_make(PGconn *conn)
{
    stmt_make(conn, "job_close",
              "UPDATE run r SET last_seq = 4, head = u.b, last_us = u.t, history_bytes = 500,"
              " status = 6, closed_reason = 1, closed_us = u.t" HASHED_JOBS
              " WHERE r.key = u.k + 1 AND r.last_seq = 2");
    stmt_make(conn, "job_task_end",
              "DELETE FROM task t USING unnest($1::bigint[], $2::bigint[]) AS u(k, t)"
              " WHERE t.run = u.k + 1");
    stmt_make(conn, "job_ended",
              "UPDATE run_summary s SET status = 6, ended = 6, settled = 0" JOBS
              " WHERE s.run = u.k + 1");
    stmt_make(conn, "job_instance",
              "INSERT INTO instance (key, namespace, id, shard, type, current_run, run_count,"
              " created_us) SELECT k, 1, lpad(k::text, 26, '0'), 0, 'noop', k + 1, 1, t" JOBS);
    stmt_make(conn, "job_run",
              "INSERT INTO run (key, instance, number, status, last_seq, head, last_us,"
              " history_bytes, command_seq, message_seq, message_cursor, created_us, queue)"
              " SELECT k + 1, k, 1, 1, 2, b, t, 250, 1, 0, 0, t, 'default'" HASHED_JOBS);
    stmt_make(conn, "job_command",
              "INSERT INTO command (key, instance, run, type, status, outcome, scope, source,"
              " command_seq, recorded_us, applied_us, closed_us, body)"
              " SELECT k + 2, k, k + 1, 1, 1, 1, 1, 1, 1, t, t, t, b" HASHED_JOBS);
    stmt_make(conn, "job_task",
              "INSERT INTO task (key, run, kind, status, queue, priority, available_us, epoch,"
              " attempt, repair_count, created_us)"
              " SELECT k + 3, k + 1, 1, 1, 'default', 5, t, 0, 0, 0, t" JOBS);
    stmt_make(conn, "job_summary",
              "INSERT INTO run_summary (run, namespace, instance, status, sort_us, type, queue)"
              " SELECT k + 1, 1, k, 1, t, 'noop', 'default'" JOBS);
}

hf_flow_floor *hf_flow_floor_postgres(const char *uri, const char *schema)
{
    floor_postgres *mine = hf_alloc(sizeof(*mine));
    char path[128];

    hf_bench_need(mine != NULL, "no memory");
    mine->base.write = postgres_write;
    mine->base.jobs_write = postgres_jobs_write;
    mine->base.close = postgres_finish;
    mine->conn = PQconnectdb(uri);
    hf_bench_need(PQstatus(mine->conn) == CONNECTION_OK, "the floor cannot reach PostgreSQL");
    (void)snprintf(path, sizeof(path), "SET search_path = %s; SET synchronous_commit = on", schema);
    sql_run(mine->conn, path);
    /* Tables that grow from nothing have no statistics yet: without this the server scans them. */
    sql_run(mine->conn, "SET plan_cache_mode = force_generic_plan; SET jit = off;"
                        " SET enable_seqscan = off; SET enable_bitmapscan = off;"
                        " SET enable_hashjoin = off; SET enable_mergejoin = off");
    sql_run(mine->conn, "INSERT INTO run (key, instance, number, status, last_seq, head, last_us,"
                        " history_bytes, command_seq, message_seq, message_cursor, created_us,"
                        " queue) SELECT k, k, 1, 2, 0, '\\x00', 0, 0, 1, 0, 0, 0, 'default'"
                        " FROM generate_series(1, 512) k");
    stmt_make(mine->conn, "start", "BEGIN");
    stmt_make(mine->conn, "run",
              "UPDATE run r SET last_seq = u.expected + 3, head = u.head, last_us = u.last_us,"
              " history_bytes = u.history_bytes, command_seq = 1, message_seq = 0,"
              " message_cursor = 0, status = 2, closed_reason = NULL, closed_us = NULL"
              " FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bigint[], $5::bigint[])"
              " AS u(key, expected, head, last_us, history_bytes)"
              " WHERE r.key = u.key AND r.last_seq = u.expected");
    stmt_make(mine->conn, "history",
              "INSERT INTO history (position, run, first_seq, count, format, body, hash)"
              " SELECT p, r, s, 3, 1, b, h FROM unnest($1::bigint[], $2::bigint[], $3::bigint[],"
              " $4::bytea[], $5::bytea[]) AS u(p, r, s, b, h)");
    stmt_make(mine->conn, "ends",
              "DELETE FROM activity t USING unnest($1::bigint[]) AS u(key) WHERE t.key = u.key");
    stmt_make(mine->conn, "begins",
              "INSERT INTO activity (key, run, step, type, status, attempt, max_attempts,"
              " lost_attempts, scheduled_us, started_us) SELECT k, r, s, 'noop', 2, 1, 1, 0, t, t"
              " FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])"
              " AS u(k, r, s, t)");
    job_stmts_make(mine->conn);
    stmt_make(mine->conn, "finish", "COMMIT");
    hf_bench_need(PQenterPipelineMode(mine->conn) == 1, "libpq refuses pipeline mode");
    return &mine->base;
}
