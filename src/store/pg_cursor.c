/* pg_cursor.c: one query at a time, in single-row mode: memory stays that of one row. */
#include "store/pg_cursor.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"

/* Types a number can be read from; fixed in PostgreSQL's catalogue. */
enum {
    TYPE_BOOL = 16,
    TYPE_INT8 = 20,
    TYPE_INT2 = 21,
    TYPE_INT4 = 23,
    TYPE_OID = 26,
    TYPE_FLOAT8 = 701,
    TYPE_NUMERIC = 1700
};

static hf_pg *cursor_pg(hf_pg_cursor *cursor)
{
    return (hf_pg *)cursor->base.db;
}

static void cursor_clear(hf_pg_cursor *cursor)
{
    if (cursor->row != cursor->first)
        PQclear(cursor->row);
    PQclear(cursor->first);
    cursor->row = NULL;
    cursor->first = NULL;
    cursor->ahead = false;
}

/* Reads to the sync behind the query and says how it ended. Outside a transaction a failure is over
 * with that. */
static hf_status cursor_finish(hf_pg_cursor *cursor, hf_err *err)
{
    hf_pg *pg = cursor_pg(cursor);
    hf_status st = HF_OK;

    if (!cursor->over)
        st = hf_pg_pipe_wait(pg, 0, err);
    cursor->over = true;
    if (!st)
        st = hf_pg_pipe_failure(pg, err);
    if (!pg->in_transaction)
        pg->failure = (hf_err){0};
    return st;
}

/* The next answer into *out_result; NULL when there is no row any more. */
static hf_status cursor_next(hf_pg_cursor *cursor, PGresult **out_result, hf_err *err)
{
    hf_pg *pg = cursor_pg(cursor);
    hf_status st = hf_pg_pipe_answer(pg, out_result, err);

    if (st)
        return st;
    if (!*out_result || PQresultStatus(*out_result) != PGRES_SINGLE_TUPLE) {
        HF_ASSERT(PQntuples(*out_result) ==
                  0); /* else single-row mode was lost, and rows with it */
        return cursor_finish(cursor, err);
    }
    return HF_OK;
}

/* Queued: [what was before], the query, a sync. Waits for the first answer, so that an error of the
   statement shows in the call that names it. */
static hf_status cursor_start(hf_pg *pg, hf_db_cursor **out_cursor, hf_err *err)
{
    hf_pg_cursor *cursor = &pg->cursor;
    hf_status st = hf_pg_pipe_sync(pg, err);

    if (!st)
        st = hf_pg_pipe_wait(pg, 2, err);
    if (st)
        return st;
    cursor->base.db = &pg->db;
    cursor->open = true;
    cursor->over = false;
    st = cursor_next(cursor, &cursor->first, err);
    if (st) {
        cursor_clear(cursor);
        cursor->open = false;
        return st;
    }
    cursor->ahead = !cursor->over;
    *out_cursor = &cursor->base;
    return HF_OK;
}

/* Common to both kinds of query: is it possible now, and the parameters. */
static hf_status query_enter(hf_pg *pg, const hf_db_value *params, size_t count, hf_err *err)
{
    hf_status st = hf_pg_pipe_ready(pg, err);

    if (!st && pg->failure.status)
        st = hf_pg_pipe_flush(pg, err);
    if (!st)
        st = hf_pg_params_scalars(&pg->params, params, count, err);
    return st;
}

/* The value of the current row, or NULL when it is null or there is no row. */
static const char *column_value(hf_pg_cursor *cursor, size_t column, size_t *out_len)
{
    *out_len = 0;
    if (!cursor->row)
        return NULL;
    HF_ASSERT(column < (size_t)PQnfields(cursor->row));
    if (PQgetisnull(cursor->row, 0, (int)column))
        return NULL;
    *out_len = (size_t)PQgetlength(cursor->row, 0, (int)column);
    return PQgetvalue(cursor->row, 0, (int)column);
}

/* numeric: count, weight, sign and scale in two bytes each, then digits to the base 10,000. Sums
 * are of this type. */
static double numeric_read(const char *bytes, size_t len)
{
    int64_t count = hf_pg_int_read(bytes, 2);
    int64_t weight = hf_pg_int_read(bytes + 2, 2);
    int64_t sign = hf_pg_int_read(bytes + 4, 2);
    double number = 0;

    HF_ASSERT(len >= 8 && len >= 8 + 2 * (size_t)count);
    for (int64_t i = 0; i < count; i++)
        number += (double)hf_pg_int_read(bytes + 8 + 2 * i, 2) * pow(10000, (double)(weight - i));
    return sign == 0x4000 ? -number : number;
}

/* The integer part, exact as far as it fits. */
static int64_t numeric_read_int(const char *bytes, size_t len)
{
    int64_t count = hf_pg_int_read(bytes, 2);
    int64_t weight = hf_pg_int_read(bytes + 2, 2);
    int64_t sign = hf_pg_int_read(bytes + 4, 2);
    uint64_t number = 0;

    HF_ASSERT(len >= 8 && len >= 8 + 2 * (size_t)count);
    for (int64_t i = 0; i <= weight; i++)
        number = number * 10000 + (i < count ? (uint64_t)hf_pg_int_read(bytes + 8 + 2 * i, 2) : 0);
    return (int64_t)(sign == 0x4000 ? 0 - number : number);
}

static double float_read(const char *bytes, size_t len)
{
    uint64_t bits = (uint64_t)hf_pg_int_read(bytes, len);
    double number;

    HF_ASSERT(len == sizeof(bits));
    memcpy(&number, &bits, sizeof(number));
    return number;
}

hf_status hf_pg_query(hf_db *db, hf_stmt stmt, const hf_db_value *params, size_t count,
                      hf_db_cursor **out_cursor, hf_err *err)
{
    hf_pg *pg = (hf_pg *)db;
    hf_status st = query_enter(pg, params, count, err);

    if (!st)
        st = hf_pg_pipe_stmt(pg, (size_t)stmt, &(hf_pg_entry){.kind = HF_PG_QUERY}, err);
    if (st)
        return st;
    pg->cursor.name = pg->statements[stmt].name;
    return cursor_start(pg, out_cursor, err);
}

hf_status hf_pg_query_text(hf_db *db, const char *sql, const hf_db_value *params, size_t count,
                           hf_db_cursor **out_cursor, hf_err *err)
{
    hf_pg *pg = (hf_pg *)db;
    hf_status st = query_enter(pg, params, count, err);

    if (!st)
        st = hf_pg_pipe_text(pg, sql, &(hf_pg_entry){.kind = HF_PG_QUERY}, err);
    if (st)
        return st;
    pg->cursor.name = "query";
    return cursor_start(pg, out_cursor, err);
}

hf_status hf_pg_step(hf_db_cursor *base, bool *out_row, hf_err *err)
{
    hf_pg_cursor *cursor = (hf_pg_cursor *)base;
    PGresult *next = NULL;
    hf_status st;

    *out_row = false;
    if (cursor->ahead) {
        cursor->ahead = false;
        cursor->row = cursor->first;
        *out_row = true;
        return HF_OK;
    }
    if (cursor->row != cursor->first)
        PQclear(cursor->row);
    cursor->row = NULL;
    if (!cursor_pg(cursor)->conn)
        return hf_err_set(err, HF_UNREACHABLE, "%s: the connection was lost", cursor->name);
    if (cursor->over)
        return HF_OK;
    st = cursor_next(cursor, &next, err);
    if (st || cursor->over) {
        PQclear(next);
        return hf_err_because(err, st, "%s", cursor->name);
    }
    cursor->row = next;
    *out_row = true;
    return HF_OK;
}

bool hf_pg_column_null(hf_db_cursor *base, size_t column)
{
    size_t len;

    return column_value((hf_pg_cursor *)base, column, &len) == NULL;
}

int64_t hf_pg_column_int(hf_db_cursor *base, size_t column)
{
    hf_pg_cursor *cursor = (hf_pg_cursor *)base;
    size_t len;
    const char *bytes = column_value(cursor, column, &len);
    Oid type = bytes ? PQftype(cursor->row, (int)column) : 0;

    if (!bytes)
        return 0;
    if (type == TYPE_NUMERIC)
        return numeric_read_int(bytes, len);
    if (type == TYPE_FLOAT8)
        return (int64_t)float_read(bytes, len);
    HF_ASSERT(type == TYPE_INT8 || type == TYPE_INT4 || type == TYPE_INT2 || type == TYPE_BOOL ||
              type == TYPE_OID);
    return hf_pg_int_read(bytes, len);
}

double hf_pg_column_real(hf_db_cursor *base, size_t column)
{
    hf_pg_cursor *cursor = (hf_pg_cursor *)base;
    size_t len;
    const char *bytes = column_value(cursor, column, &len);
    Oid type = bytes ? PQftype(cursor->row, (int)column) : 0;

    if (!bytes)
        return 0;
    if (type == TYPE_NUMERIC)
        return numeric_read(bytes, len);
    return type == TYPE_FLOAT8 ? float_read(bytes, len) : (double)hf_pg_column_int(base, column);
}

hf_slice hf_pg_column_bytes(hf_db_cursor *base, size_t column)
{
    size_t len;
    const char *bytes = column_value((hf_pg_cursor *)base, column, &len);

    return hf_slice_from(bytes, len);
}

size_t hf_pg_column_count(hf_db_cursor *base)
{
    const hf_pg_cursor *cursor = (const hf_pg_cursor *)base;

    return cursor->first ? (size_t)PQnfields(cursor->first) : 0;
}

const char *hf_pg_column_name(hf_db_cursor *base, size_t column)
{
    const hf_pg_cursor *cursor = (const hf_pg_cursor *)base;

    HF_ASSERT(column < hf_pg_column_count(base));
    return PQfname(cursor->first, (int)column);
}

void hf_pg_end(hf_db_cursor *base)
{
    hf_pg_cursor *cursor = (hf_pg_cursor *)base;

    if (cursor->open)
        (void)cursor_finish(cursor, NULL);
    cursor_clear(cursor);
    cursor->open = false;
}
