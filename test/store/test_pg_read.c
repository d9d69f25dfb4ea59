/* test_pg_read.c: reading through the PostgreSQL driver: parameters, numbers, the streaming cursor,
 * read-only. */
#define _GNU_SOURCE
#include <math.h>

#include "store/pg_scratch.h"

#if defined(__SANITIZE_ADDRESS__)
#define MEMORY_IS_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MEMORY_IS_WATCHED 1
#endif
#endif

/* Scalars as parameters: the same types, null included, and a number read from every numeric type.
 */
START_TEST(reads_numbers_of_every_type)
{
    char schema[40];
    hf_db *db = open_scratch(schema);
    hf_err err = {0};
    hf_db_cursor *cursor = NULL;
    const hf_db_value params[] = {hf_db_int(-7), hf_db_real(2.5), hf_db_text(HF_SLICE("x")),
                                  hf_db_blob(HF_SLICE("\0")), hf_db_null(HF_DB_TEXT)};
    bool row = false;

    ok(hf_db_query_text(
           db,
           "SELECT (-3)::int2, (-4)::int4, ?1 * 2, true, 1234567890123456789::numeric, "
           "-12345.75::numeric, ?2, ?3 || 'y', ?4, ?5, 10000000::numeric, -0.5::numeric",
           params, 5, &cursor, &err),
       &err);
    ok(hf_db_step(cursor, &row, &err), &err);
    ck_assert(row);
    ck_assert_int_eq(hf_db_column_int(cursor, 0), -3);
    ck_assert_int_eq(hf_db_column_int(cursor, 1), -4);
    ck_assert_int_eq(hf_db_column_int(cursor, 2), -14);
    ck_assert_int_eq(hf_db_column_int(cursor, 3), 1);
    ck_assert_int_eq(hf_db_column_int(cursor, 4), 1234567890123456789);
    ck_assert_int_eq(hf_db_column_int(cursor, 5), -12345);
    ck_assert(fabs(hf_db_column_real(cursor, 5) + 12345.75) < 1e-9);
    ck_assert(hf_db_column_real(cursor, 6) == 2.5);
    ck_assert(hf_slice_equal(hf_db_column_bytes(cursor, 7), HF_SLICE("xy")));
    ck_assert(hf_slice_equal(hf_db_column_bytes(cursor, 8), HF_SLICE("\0")));
    ck_assert(hf_db_column_null(cursor, 9));
    ck_assert_int_eq(hf_db_column_int(cursor, 10), 10000000);
    ck_assert_int_eq(hf_db_column_int(cursor, 11), 0);
    ck_assert(hf_db_column_real(cursor, 11) == -0.5);
    ck_assert(hf_db_column_real(cursor, 0) == -3);
    hf_db_end(cursor);
    drop(db, schema);
}
END_TEST

/* ?1 becomes a parameter only where SQL has one: not in quotes, not in comments. */
START_TEST(rewrites_parameters_outside_quotes)
{
    char schema[40];
    hf_db *db = open_scratch(schema);
    hf_err err = {0};
    hf_db_cursor *cursor = NULL;
    const hf_db_value seven = hf_db_int(7);
    bool row = false;

    ok(hf_db_query_text(db,
                        "SELECT '?1''?1', ?1 AS \"?1\", E'\\'?1', $q$?1$q$ -- ?2 it's\n"
                        " /* ?3 ' /* nested */ ?4 */, ?1 + 1",
                        &seven, 1, &cursor, &err),
       &err);
    ok(hf_db_step(cursor, &row, &err), &err);
    ck_assert(hf_slice_equal(hf_db_column_bytes(cursor, 0), HF_SLICE("?1'?1")));
    ck_assert_str_eq(hf_db_column_name(cursor, 1), "?1");
    ck_assert_int_eq(hf_db_column_int(cursor, 1), 7);
    ck_assert(hf_slice_equal(hf_db_column_bytes(cursor, 2), HF_SLICE("'?1")));
    ck_assert(hf_slice_equal(hf_db_column_bytes(cursor, 3), HF_SLICE("?1")));
    ck_assert_int_eq(hf_db_column_int(cursor, 4), 8);
    hf_db_end(cursor);
    drop(db, schema);
}
END_TEST

static long resident_kb(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;

    ck_assert(file && fscanf(file, "%*s %ld", &pages) == 1);
    (void)fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* 200,000 rows of 500 bytes pass through without staying: memory does not grow with the result. */
START_TEST(cursor_streams_in_constant_memory)
{
    char schema[40];
    hf_db *db = open_scratch(schema);
    hf_err err = {0};
    hf_db_cursor *cursor = NULL;
    bool row = true;
    int64_t rows = 0;
    long before = 0;

    ok(hf_db_query_text(db, "SELECT n, repeat('z', 500) FROM generate_series(1, 200000) AS n", NULL,
                        0, &cursor, &err),
       &err);
    while (row) {
        ok(hf_db_step(cursor, &row, &err), &err);
        rows += row;
        if (row)
            ck_assert_int_eq(hf_db_column_int(cursor, 0), rows);
        if (rows == 1000)
            before = resident_kb();
    }
    ck_assert_int_eq(rows, 200000);
#ifdef MEMORY_IS_WATCHED
    (void)before; /* the sanitizer keeps freed memory for a while */
#else
    ck_assert_int_lt(resident_kb() - before, 32768); /* of 100 MB; valgrind keeps 20 */
#endif
    hf_db_end(cursor);
    drop(db, schema);
}
END_TEST

/* A cursor may be ended at any row, inside and outside a transaction, and a failure halfway has its
   statement's name; each time the connection goes on. */
START_TEST(cursor_ends_anywhere)
{
    static const char many[] = "SELECT n FROM generate_series(1, 50000) AS n";
    char schema[40];
    hf_db *db = open_scratch(schema);
    hf_err err = {0};
    hf_db_cursor *cursor = NULL;
    hf_db_cursor *second = NULL;
    bool row = false;
    hf_status st = HF_OK;

    for (int inside = 0; inside < 2; inside++) {
        if (inside)
            ok(hf_db_begin(db, HF_DB_READ, &err), &err);
        ok(hf_db_query_text(db, many, NULL, 0, &cursor, &err), &err);
        fails(hf_db_query_text(db, many, NULL, 0, &second, &err), HF_MISUSE, &err, "cursor");
        hf_db_end(cursor);
        ok(hf_db_query_text(db, many, NULL, 0, &cursor, &err), &err);
        ok(hf_db_step(cursor, &row, &err), &err);
        hf_db_end(cursor);
        ck_assert_int_eq(number_of(db, "SELECT 42"), 42);
        ok(hf_db_query_text(db, "SELECT 100 / (n - 30000) FROM generate_series(1, 50000) AS n",
                            NULL, 0, &cursor, &err),
           &err);
        for (row = true, st = HF_OK; !st && row;)
            st = hf_db_step(cursor, &row, &err);
        fails(st, HF_INVALID, &err, "query: division by zero");
        hf_db_end(cursor);
        if (inside) {
            fails(hf_db_query_text(db, many, NULL, 0, &cursor, &err), HF_INVALID, &err,
                  "division by zero");
            hf_db_rollback(db);
        }
        fails(hf_db_query_text(db, "SELECT nothing", NULL, 0, &cursor, &err), HF_ERROR, &err,
              "nothing");
        ck_assert_int_eq(number_of(db, "SELECT 43"), 43);
    }
    /* Rolling back with an open cursor closes it. */
    ok(hf_db_begin(db, HF_DB_READ, &err), &err);
    ok(hf_db_query_text(db, many, NULL, 0, &cursor, &err), &err);
    hf_db_rollback(db);
    ok(hf_db_step(cursor, &row, &err), &err);
    ck_assert(!row);
    hf_db_end(cursor);
    drop(db, schema);
}
END_TEST

/* COPY needs another protocol than queries have: it is refused, at the price of the connection. */
START_TEST(copy_is_refused)
{
    char schema[40];
    hf_db *db = open_scratch(schema);
    hf_err err = {0};
    hf_db_cursor *cursor = NULL;

    fails(hf_db_query_text(db, "COPY scratch FROM STDIN", NULL, 0, &cursor, &err), HF_INVALID, &err,
          "COPY");
    ok(hf_db_reconnect(db, &err), &err);
    fails(hf_db_query_text(db, "COPY (SELECT 1) TO STDOUT", NULL, 0, &cursor, &err), HF_INVALID,
          &err, "COPY");
    ok(hf_db_reconnect(db, &err), &err);
    ck_assert_int_eq(number_of(db, "SELECT 1"), 1);
    drop(db, schema);
}
END_TEST

/* A read transaction sees one snapshot and cannot write; neither can a read connection outside
 * transactions. */
START_TEST(reading_never_writes)
{
    char schema[40];
    hf_db *db = open_scratch(schema);
    hf_db_options options = options_of(schema);
    hf_err err = {0};
    const hf_db_value cells[] = {hf_db_int(1), hf_db_null(HF_DB_TEXT), hf_db_null(HF_DB_BLOB),
                                 hf_db_null(HF_DB_REAL)};
    hf_db_cursor *cursor = NULL;
    hf_db *reader;

    options.mode = HF_DB_READ;
    options.create = false;
    reader = open_with(&options);
    ok(hf_db_begin(reader, HF_DB_READ, &err), &err);
    ck_assert_int_eq(number_of(reader, "SELECT count(*) FROM scratch"), 0);
    ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
    ok(insert_rows(db, cells, 1, NULL, &err), &err);
    ok(hf_db_commit(db, &err), &err);
    ck_assert_int_eq(number_of(reader, "SELECT count(*) FROM scratch"), 0);
    fails(hf_db_query_text(reader, "DELETE FROM scratch", NULL, 0, &cursor, &err), HF_READONLY,
          &err, "read-only");
    hf_db_rollback(reader);
    ck_assert_int_eq(number_of(reader, "SELECT count(*) FROM scratch"), 1);
    fails(hf_db_query_text(reader, "DELETE FROM scratch", NULL, 0, &cursor, &err), HF_READONLY,
          &err, "read-only");
    hf_db_close(reader);
    drop(db, schema);
}
END_TEST

HF_PG_SUITE_MAIN("store/pg_read", {reads_numbers_of_every_type, 0},
                 {rewrites_parameters_outside_quotes, 0}, {cursor_streams_in_constant_memory, 0},
                 {cursor_ends_anywhere, 0}, {copy_is_refused, 0}, {reading_never_writes, 0})
