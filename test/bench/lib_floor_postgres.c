/* lib_floor_postgres.c: the bare libpq program. */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "lib_floor.h"
#include "lib_report.h"

enum { COLUMNS_MAX = 12, INT_OID = 20, TEXT_OID = 25, BLOB_OID = 17, INT_BYTES = 8 };

/* Arrays of one statement under construction. */
typedef struct columns {
    hf_buf bytes[COLUMNS_MAX];
    int count;
} columns;

typedef struct floor_postgres {
    hf_floor base;
    PGconn *conn;
    columns columns;
    size_t rows[HF_FLOOR_UNITS_MAX]; /* that each statement in flight should touch; 0: not asked */
    size_t sent;
} floor_postgres;

static void big_add(hf_buf *buf, uint64_t number, int bytes)
{
    uint8_t big[INT_BYTES];

    for (int i = 0; i < bytes; i++)
        big[i] = (uint8_t)(number >> (8 * (bytes - 1 - i)));
    hf_buf_add(buf, big, (size_t)bytes);
}

static hf_buf *column_begin(columns *all, uint32_t type, size_t count, bool nulls)
{
    hf_buf *buf = &all->bytes[all->count++];

    hf_buf_clear(buf);
    big_add(buf, 1, 4); /* dimensions */
    big_add(buf, nulls ? 1 : 0, 4);
    big_add(buf, type, 4);
    big_add(buf, count, 4);
    big_add(buf, 1, 4); /* first subscript */
    return buf;
}

static void element_int(hf_buf *buf, int64_t number)
{
    big_add(buf, INT_BYTES, 4);
    big_add(buf, (uint64_t)number, INT_BYTES);
}

static void element_bytes(hf_buf *buf, const void *bytes, size_t len)
{
    big_add(buf, len, 4);
    hf_buf_add(buf, bytes, len);
}

static void column_same(columns *all, size_t count, int64_t number)
{
    hf_buf *buf = column_begin(all, INT_OID, count, false);

    for (size_t i = 0; i < count; i++)
        element_int(buf, number);
}

static void column_null(columns *all, size_t count)
{
    hf_buf *buf = column_begin(all, INT_OID, count, true);

    for (size_t i = 0; i < count; i++)
        big_add(buf, UINT32_MAX, 4);
}

static void column_bytes(columns *all, uint32_t type, size_t count, const void *bytes, size_t len)
{
    hf_buf *buf = column_begin(all, type, count, false);

    for (size_t i = 0; i < count; i++)
        element_bytes(buf, bytes, len);
}

/* A column of numbers of the units' runs; `of` is the offset of the number in hf_load_run. */
static void column_of(columns *all, const hf_floor_unit *units, size_t count, size_t of,
                      int64_t add)
{
    hf_buf *buf = column_begin(all, INT_OID, count, false);

    for (size_t i = 0; i < count; i++) {
        int64_t number;

        memcpy(&number, (const char *)units[i].run + of, sizeof(number));
        element_int(buf, number + add);
    }
}

static void column_heads(columns *all, const hf_floor_unit *units, size_t count)
{
    hf_buf *buf = column_begin(all, BLOB_OID, count, false);

    for (size_t i = 0; i < count; i++)
        element_bytes(buf, units[i].run->base.head, sizeof(units[i].run->base.head));
}

static void column_positions(columns *all, const hf_floor_unit *units, size_t count)
{
    hf_buf *buf = column_begin(all, INT_OID, count, false);

    for (size_t i = 0; i < count; i++)
        element_int(buf, units[i].position);
}

static void stmt_send(floor_postgres *mine, const char *name, size_t rows)
{
    const char *values[COLUMNS_MAX];
    int lengths[COLUMNS_MAX];
    int formats[COLUMNS_MAX];

    for (int i = 0; i < mine->columns.count; i++) {
        hf_bench_need(hf_buf_ok(&mine->columns.bytes[i]), "no memory");
        values[i] = mine->columns.bytes[i].ptr;
        lengths[i] = (int)mine->columns.bytes[i].len;
        formats[i] = 1;
    }
    hf_bench_need(PQsendQueryPrepared(mine->conn, name, mine->columns.count, values, lengths,
                                      formats, 1) == 1,
                  "libpq does not send a statement of the floor");
    mine->rows[mine->sent++] = rows;
    mine->columns.count = 0;
}

static void run_send(floor_postgres *mine, const hf_floor_unit *units, size_t count)
{
    columns *all = &mine->columns;

    column_of(all, units, count, offsetof(hf_load_run, base.run), 0);
    column_of(all, units, count, offsetof(hf_load_run, base.last_seq), 0);
    column_of(all, units, count, offsetof(hf_load_run, base.last_seq), 3);
    column_heads(all, units, count);
    column_same(all, count, units[0].time_us);
    column_of(all, units, count, offsetof(hf_load_run, base.history_bytes),
              (int64_t)mine->base.body_bytes);
    column_of(all, units, count, offsetof(hf_load_run, base.command_seq), 0);
    column_of(all, units, count, offsetof(hf_load_run, base.message_seq), 0);
    column_of(all, units, count, offsetof(hf_load_run, base.message_cursor), 0);
    column_of(all, units, count, offsetof(hf_load_run, base.status), 0);
    column_null(all, count);
    column_null(all, count);
    stmt_send(mine, "run", count);
}

static void history_send(floor_postgres *mine, const hf_floor_unit *units, size_t count)
{
    columns *all = &mine->columns;

    column_positions(all, units, count);
    column_of(all, units, count, offsetof(hf_load_run, base.run), 0);
    column_of(all, units, count, offsetof(hf_load_run, base.last_seq), 1);
    column_same(all, count, 3);
    column_same(all, count, 1);
    column_bytes(all, BLOB_OID, count, mine->base.body, mine->base.body_bytes);
    column_heads(all, units, count);
    stmt_send(mine, "history", count);
}

static void task_send(floor_postgres *mine, const hf_floor_unit *units, size_t count)
{
    columns *all = &mine->columns;

    column_of(all, units, count, offsetof(hf_load_run, task), 0);
    column_same(all, count, units[0].time_us);
    stmt_send(mine, "task", count);
}

static void postgres_begin(hf_floor *floor, const hf_floor_unit *units, size_t count)
{
    (void)units;
    (void)count;
    stmt_send((floor_postgres *)floor, "start", 0);
}

static void postgres_write(hf_floor *floor, const hf_floor_unit *units, size_t count)
{
    floor_postgres *mine = (floor_postgres *)floor;

    run_send(mine, units, count);
    history_send(mine, units, count);
    task_send(mine, units, count);
}

static void postgres_commit(hf_floor *floor, const hf_floor_unit *units, size_t count)
{
    floor_postgres *mine = (floor_postgres *)floor;
    PGresult *result;

    (void)units;
    (void)count;
    stmt_send(mine, "finish", 0);
    hf_bench_need(PQpipelineSync(mine->conn) == 1, "libpq does not send the floor's commit");
    for (size_t i = 0; i < mine->sent; i++) {
        result = PQgetResult(mine->conn);
        hf_bench_need(
            PQresultStatus(result) == PGRES_COMMAND_OK &&
                (!mine->rows[i] || strtoul(PQcmdTuples(result), NULL, 10) == mine->rows[i]),
            "PostgreSQL refuses rows of the floor");
        PQclear(result);
        hf_bench_need(PQgetResult(mine->conn) == NULL, "PostgreSQL answers too much");
    }
    result = PQgetResult(mine->conn);
    hf_bench_need(PQresultStatus(result) == PGRES_PIPELINE_SYNC, "the floor's pipeline is broken");
    PQclear(result);
    mine->sent = 0;
}

static void postgres_finish(hf_floor *floor)
{
    floor_postgres *mine = (floor_postgres *)floor;

    PQfinish(mine->conn);
    for (size_t i = 0; i < COLUMNS_MAX; i++)
        hf_buf_fini(&mine->columns.bytes[i]);
    hf_alloc_free(mine);
}

static void stmt_make(PGconn *conn, const char *name, const char *sql)
{
    PGresult *result = PQprepare(conn, name, sql, 0, NULL);

    hf_bench_need(PQresultStatus(result) == PGRES_COMMAND_OK,
                  "PostgreSQL refuses a statement of the floor");
    PQclear(result);
}

static void session_begin(PGconn *conn, const char *schema)
{
    char sql[128];
    PGresult *result;

    (void)snprintf(sql, sizeof(sql), "SET search_path = %s; SET synchronous_commit = on", schema);
    result = PQexec(conn, sql);
    hf_bench_need(PQresultStatus(result) == PGRES_COMMAND_OK, "the floor's session does not begin");
    PQclear(result);
}

hf_floor *hf_floor_open_postgres(const char *uri, const char *schema, hf_load *load)
{
    floor_postgres *mine = hf_alloc(sizeof(*mine));

    hf_bench_need(mine != NULL, "no memory");
    hf_floor_init(&mine->base, load);
    mine->base.begin = postgres_begin;
    mine->base.write = postgres_write;
    mine->base.commit = postgres_commit;
    mine->base.close = postgres_finish;
    mine->conn = PQconnectdb(uri);
    hf_bench_need(PQstatus(mine->conn) == CONNECTION_OK, "the floor cannot reach PostgreSQL");
    session_begin(mine->conn, schema);
    stmt_make(mine->conn, "start", "BEGIN");
    stmt_make(mine->conn, "run",
              "UPDATE run r SET last_seq = u.last_seq, head = u.head, last_us = u.last_us,"
              " history_bytes = u.history_bytes, command_seq = u.command_seq,"
              " message_seq = u.message_seq, message_cursor = u.message_cursor,"
              " status = u.status, closed_reason = u.closed_reason, closed_us = u.closed_us"
              " FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[],"
              " $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[],"
              " $11::bigint[], $12::bigint[]) AS u(key, expected, last_seq, head, last_us,"
              " history_bytes, command_seq, message_seq, message_cursor, status, closed_reason,"
              " closed_us) WHERE r.key = u.key AND r.last_seq = u.expected");
    stmt_make(mine->conn, "history",
              "INSERT INTO history (position, run, first_seq, count, format, body, hash)"
              " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[],"
              " $5::bigint[], $6::bytea[], $7::bytea[])");
    stmt_make(mine->conn, "task",
              "UPDATE task t SET status = 1, available_us = u.available_us, epoch = t.epoch + 1,"
              " token = NULL, owner = NULL, lease_until_us = NULL, body = NULL,"
              " repair_count = t.repair_count + 1, trouble = 0, repair_us = NULL"
              " FROM unnest($1::bigint[], $2::bigint[]) AS u(key, available_us)"
              " WHERE t.key = u.key");
    stmt_make(mine->conn, "finish", "COMMIT");
    hf_bench_need(PQenterPipelineMode(mine->conn) == 1, "libpq refuses pipeline mode");
    return &mine->base;
}
