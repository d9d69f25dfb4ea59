/* test_db.c: what every driver promises, checked on SQLite and PostgreSQL from one source, and
   SQLite's own part. */
#include <math.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fault.h"
#include "lib/engine.h"
#include "store/sqlite_status.h"

/* The cases bring statements of their own; the numbers are theirs, not the program's. */
enum { T_ADD, T_MOVE, T_GET, T_ALL, T_TAKE, T_BROKEN, T_TOTAL, T_COUNT };

static const hf_stmt_text own_statements[T_COUNT] = {
    [T_ADD] = {"add",
               "INSERT INTO item (key, number, amount, words, bytes) VALUES (?1, ?2, ?3, ?4, ?5)",
               "INSERT INTO item (key, number, amount, words, bytes) SELECT * FROM "
               "unnest(?1::bigint[], ?2::bigint[], "
               "?3::double precision[], ?4::text[], ?5::bytea[])",
               NULL, NULL},
    [T_MOVE] = {"move", "UPDATE item SET number = ?3 WHERE key = ?1 AND number = ?2",
                "UPDATE item SET number = u.fresh FROM unnest(?1::bigint[], ?2::bigint[], "
                "?3::bigint[]) WITH ORDINALITY "
                "AS u(key, old, fresh, row) WHERE item.key = u.key AND item.number = u.old "
                "RETURNING u.row",
                NULL, NULL},
    [T_GET] = {"get", "SELECT number, amount, words, bytes FROM item WHERE key = ?1",
               "SELECT number, amount, words, bytes FROM item WHERE key = ?1", NULL, NULL},
    [T_ALL] = {"all", "SELECT key, words FROM item WHERE key >= ?1 ORDER BY key",
               "SELECT key, words FROM item WHERE key >= ?1 ORDER BY key", NULL, NULL},
    [T_TAKE] = {"take", "UPDATE item SET number = number + ?2 WHERE key <= ?1 RETURNING number",
                "UPDATE item SET number = number + ?2 WHERE key <= ?1 RETURNING number", NULL,
                NULL},
    [T_BROKEN] = {"broken", "SELECT absent FROM nowhere", "SELECT absent FROM nowhere", NULL, NULL},
    [T_TOTAL] = {"total", "SELECT count(*) FROM item", "SELECT count(*) FROM item", NULL, NULL},
};

static const char item_sqlite[] =
    "CREATE TABLE item (key INTEGER NOT NULL PRIMARY KEY, number INTEGER, amount REAL, "
    "words TEXT, bytes BLOB) STRICT";
static const char item_postgres[] =
    "CREATE TABLE item (key BIGINT NOT NULL PRIMARY KEY, number BIGINT, "
    "amount DOUBLE PRECISION, words TEXT, bytes BYTEA)";

static hf_db *dial(const hf_test_place *place, hf_db_mode mode)
{
    hf_db *db = NULL;
    hf_err err = {0};

    hf_test_ok(hf_test_place_dial(place, mode, own_statements, T_COUNT, &db, &err), &err,
               "connect");
    return db;
}

/* The writer's connection to a new place with the table `item`. */
static hf_db *dial_fresh(const hf_test_place *place)
{
    hf_db *db = dial(place, HF_DB_WRITE);
    hf_err err = {0};

    hf_test_ok(
        hf_db_script(
            db, hf_test_place_kind(place) == HF_ENGINE_SQLITE ? item_sqlite : item_postgres, &err),
        &err, "make the table");
    return db;
}

static void begin(hf_db *db, hf_db_mode mode)
{
    hf_err err = {0};

    hf_test_ok(hf_db_begin(db, mode, &err), &err, "begin");
}

static void commit(hf_db *db)
{
    hf_err err = {0};

    hf_test_ok(hf_db_commit(db, &err), &err, "commit");
}

static void item_cells(hf_db_value cells[5], int64_t key, int64_t number)
{
    cells[0] = hf_db_int(key);
    cells[1] = hf_db_int(number);
    cells[2] = hf_db_null(HF_DB_REAL);
    cells[3] = hf_db_text(HF_SLICE("words"));
    cells[4] = hf_db_null(HF_DB_BLOB);
}

/* Adds one row and waits for the answer. */
static hf_status item_add(hf_db *db, int64_t key, int64_t number, hf_err *err)
{
    hf_db_value cells[5];
    const hf_db_rows rows = {.columns = 5, .count = 1, .cells = cells};
    hf_status st;

    item_cells(cells, key, number);
    st = hf_db_batch(db, (hf_stmt)T_ADD, &rows, err);
    return st ? st : hf_db_flush(db, err);
}

static void item_put(hf_db *db, int64_t key, int64_t number)
{
    hf_err err = {0};

    hf_test_ok(item_add(db, key, number, &err), &err, "add an item");
}

static int64_t total(hf_db *db)
{
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = false;
    int64_t count;

    hf_test_ok(hf_db_query(db, (hf_stmt)T_TOTAL, NULL, 0, &cursor, &err), &err, "count");
    hf_test_ok(hf_db_step(cursor, &row, &err), &err, "count");
    ck_assert(row);
    count = hf_db_column_int(cursor, 0);
    hf_db_end(cursor);
    return count;
}

static void done(hf_test_place *place, hf_db *db)
{
    hf_db_close(db);
    hf_test_place_free(place);
}

static void slice_eq(hf_slice got, hf_slice wanted)
{
    ck_assert_uint_eq(got.len, wanted.len);
    ck_assert(hf_slice_equal(got, wanted));
}

/* Every type comes back as it went in: extremes, nulls, empty bytes, a megabyte, characters of
   every length. */
HF_BOTH_ENGINES(values_come_back)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_db *db = dial_fresh(place);
    size_t big_len = 1024 * 1024;
    char *big = hf_alloc(big_len);
    hf_slice utf8 = HF_SLICE("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80'\"\\{},");
    hf_slice blob = HF_SLICE("\0\x01\xFF\\x00");
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = false;

    ck_assert_ptr_nonnull(big);
    for (size_t i = 0; i < big_len; i++)
        big[i] = (char)(i * 7);
    const hf_db_value cells[] = {
        hf_db_int(1),
        hf_db_int(INT64_MAX),
        hf_db_real(0.1),
        hf_db_text(utf8),
        hf_db_blob(blob),
        hf_db_int(2),
        hf_db_int(INT64_MIN),
        hf_db_real(-1.7976931348623157e308),
        hf_db_text((hf_slice){0}),
        hf_db_blob((hf_slice){0}),
        hf_db_int(3),
        hf_db_null(HF_DB_INT),
        hf_db_null(HF_DB_REAL),
        hf_db_null(HF_DB_TEXT),
        hf_db_null(HF_DB_BLOB),
        hf_db_int(4),
        hf_db_int(0),
        hf_db_real(5e-324),
        hf_db_text(HF_SLICE("NULL")),
        hf_db_blob(hf_slice_from(big, big_len)),
    };
    const hf_db_rows rows = {.columns = 5, .count = 4, .cells = cells};

    begin(db, HF_DB_WRITE);
    hf_test_ok(hf_db_batch(db, (hf_stmt)T_ADD, &rows, &err), &err, "add");
    commit(db);
    for (int64_t key = 1; key <= 4; key++) {
        const hf_db_value param = hf_db_int(key);
        const hf_db_value *cell = &cells[(key - 1) * 5];

        hf_test_ok(hf_db_query(db, (hf_stmt)T_GET, &param, 1, &cursor, &err), &err, "get");
        hf_test_ok(hf_db_step(cursor, &row, &err), &err, "get");
        ck_assert(row);
        ck_assert_uint_eq(hf_db_column_count(cursor), 4);
        ck_assert_str_eq(hf_db_column_name(cursor, 2), "words");
        for (size_t i = 0; i < 4; i++)
            ck_assert_int_eq(hf_db_column_null(cursor, i), cell[i + 1].null);
        ck_assert_int_eq(hf_db_column_int(cursor, 0), cell[1].number);
        ck_assert(!(hf_db_column_real(cursor, 1) < cell[2].real) &&
                  !(hf_db_column_real(cursor, 1) > cell[2].real));
        slice_eq(hf_db_column_bytes(cursor, 2), cell[3].bytes);
        slice_eq(hf_db_column_bytes(cursor, 3), cell[4].bytes);
        hf_test_ok(hf_db_step(cursor, &row, &err), &err, "get");
        ck_assert(!row);
        hf_test_ok(hf_db_step(cursor, &row, &err), &err, "step after the end");
        ck_assert(!row);
        hf_db_end(cursor);
    }
    hf_alloc_free(big);
    done(place, db);
}

/* Text that one engine could not keep is refused on both before it reaches them; the transaction
   goes on. */
HF_BOTH_ENGINES(unstorable_values_are_refused)
{
    const hf_db_value bad[] = {hf_db_text(HF_SLICE("a\0b")), hf_db_text(HF_SLICE("\xFF\xFE")),
                               hf_db_text(HF_SLICE("\xED\xA0\x80")), hf_db_real((double)NAN)};
    hf_test_place *place = hf_test_place_new(kind);
    hf_db *db = dial_fresh(place);
    hf_db_cursor *cursor = NULL;

    begin(db, HF_DB_WRITE);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        hf_db_value cells[5];
        const hf_db_rows rows = {.columns = 5, .count = 1, .cells = cells};
        hf_err err = {0};

        item_cells(cells, 1, 1);
        cells[bad[i].type == HF_DB_TEXT ? 3 : 2] = bad[i];
        ck_assert_int_eq(hf_db_batch(db, (hf_stmt)T_ADD, &rows, &err), HF_INVALID);
        ck_assert_str_ne(err.text, "");
        ck_assert_int_eq(hf_db_query(db, (hf_stmt)T_ALL, &bad[i], 1, &cursor, &err), HF_INVALID);
        ck_assert_int_eq(hf_db_query_text(db, "SELECT ?1", &bad[i], 1, &cursor, &err), HF_INVALID);
        ck_assert_ptr_null(cursor);
    }
    item_put(db, 1, 1);
    commit(db);
    ck_assert_int_eq(total(db), 1);
    done(place, db);
}

/* What was committed stays, what was rolled back is gone, and either ends the transaction. */
HF_BOTH_ENGINES(commit_keeps_and_rollback_forgets)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_db *db = dial_fresh(place);

    ck_assert(!hf_db_in_transaction(db));
    begin(db, HF_DB_WRITE);
    ck_assert(hf_db_in_transaction(db));
    item_put(db, 1, 1);
    commit(db);
    ck_assert(!hf_db_in_transaction(db));
    begin(db, HF_DB_WRITE);
    item_put(db, 2, 2);
    hf_db_rollback(db);
    ck_assert(!hf_db_in_transaction(db));
    hf_db_rollback(db); /* safe without a transaction */
    ck_assert_int_eq(total(db), 1);
    hf_db_close(db);
    db = dial(place, HF_DB_READ);
    ck_assert_int_eq(total(db), 1);
    done(place, db);
}

/* A savepoint keeps what was before it, whichever way it ends, and can be set again. */
HF_BOTH_ENGINES(savepoints_end_either_way)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_db *db = dial_fresh(place);
    hf_err err = {0};

    begin(db, HF_DB_WRITE);
    item_put(db, 1, 1);
    hf_test_ok(hf_db_savepoint(db, &err), &err, "savepoint");
    item_put(db, 2, 2);
    hf_test_ok(hf_db_rollback_to(db, &err), &err, "rollback to");
    hf_test_ok(hf_db_savepoint(db, &err), &err, "savepoint again");
    item_put(db, 3, 3);
    hf_test_ok(hf_db_release(db, &err), &err, "release");
    ck_assert_int_eq(total(db), 2);
    commit(db);
    ck_assert_int_eq(total(db), 2);
    done(place, db);
}

/* Each row of a batch says whether its guard held. */
HF_BOTH_ENGINES(batches_report_each_row)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_db *db = dial_fresh(place);
    const hf_db_value cells[] = {hf_db_int(1), hf_db_int(10), hf_db_int(11),  /* holds */
                                 hf_db_int(2), hf_db_int(99), hf_db_int(21),  /* another number */
                                 hf_db_int(7), hf_db_int(70), hf_db_int(71),  /* no such row */
                                 hf_db_int(3), hf_db_int(30), hf_db_int(31)}; /* holds */
    const uint8_t wanted[] = {HF_DB_APPLIED, HF_DB_SKIPPED, HF_DB_SKIPPED, HF_DB_APPLIED};
    uint8_t flags[] = {9, 9, 9, 9};
    const hf_db_rows rows = {.columns = 3, .count = 4, .cells = cells, .flags = flags};
    hf_err err = {0};

    begin(db, HF_DB_WRITE);
    for (int64_t key = 1; key <= 3; key++)
        item_put(db, key, key * 10);
    hf_test_ok(hf_db_batch(db, (hf_stmt)T_MOVE, &rows, &err), &err, "move");
    for (size_t i = 0; i < 4; i++)
        ck_assert(flags[i] == wanted[i] || flags[i] == HF_DB_PENDING);
    hf_test_ok(hf_db_flush(db, &err), &err, "flush");
    ck_assert_mem_eq(flags, wanted, sizeof(wanted));
    commit(db);
    done(place, db);
}

/* The flags of a batch that nobody flushed are known when commit returns. */
HF_BOTH_ENGINES(commit_settles_flags)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_db *db = dial_fresh(place);
    const hf_db_value cells[] = {hf_db_int(1), hf_db_int(1), hf_db_int(2),
                                 hf_db_int(2), hf_db_int(1), hf_db_int(2)};
    uint8_t flags[] = {9, 9};
    const hf_db_rows rows = {.columns = 3, .count = 2, .cells = cells, .flags = flags};
    hf_err err = {0};

    begin(db, HF_DB_WRITE);
    item_put(db, 1, 1);
    hf_test_ok(hf_db_batch(db, (hf_stmt)T_MOVE, &rows, &err), &err, "move");
    commit(db);
    ck_assert_uint_eq(flags[0], HF_DB_APPLIED);
    ck_assert_uint_eq(flags[1], HF_DB_SKIPPED);
    done(place, db);
}

/* A constraint spoils the transaction: nothing but rolling back helps, and the savepoint rescues
   what was before. */
HF_BOTH_ENGINES(constraint_needs_a_rollback)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_db *db = dial_fresh(place);
    hf_err err = {0};

    begin(db, HF_DB_WRITE);
    item_put(db, 1, 1);
    hf_test_ok(hf_db_savepoint(db, &err), &err, "savepoint");
    ck_assert_int_eq(item_add(db, 1, 2, &err), HF_CONSTRAINT);
    ck_assert_str_ne(err.text, "");
    ck_assert(hf_db_in_transaction(db));
    ck_assert_int_ne(item_add(db, 2, 2, &err), HF_OK);
    ck_assert_int_ne(hf_db_savepoint(db, &err), HF_OK);
    hf_test_ok(hf_db_rollback_to(db, &err), &err, "rollback to");
    item_put(db, 3, 3);
    commit(db);
    ck_assert_int_eq(total(db), 2);

    begin(db, HF_DB_WRITE);
    item_put(db, 4, 4);
    ck_assert_int_eq(item_add(db, 1, 2, &err), HF_CONSTRAINT);
    ck_assert_int_ne(hf_db_commit(db, &err), HF_OK);
    ck_assert(!hf_db_in_transaction(db));
    ck_assert_int_eq(total(db), 2);

    begin(db, HF_DB_WRITE);
    ck_assert_int_eq(item_add(db, 1, 2, &err), HF_CONSTRAINT);
    hf_db_rollback(db);
    begin(db, HF_DB_WRITE);
    item_put(db, 5, 5);
    commit(db);
    ck_assert_int_eq(total(db), 3);
    done(place, db);
}

/* A hundred thousand rows stream in order; a cursor given up leaves the connection usable. */
HF_BOTH_ENGINES(cursors_stream)
{
    enum { ROWS = 100000, BATCH = 1000 };
    hf_test_place *place = hf_test_place_new(kind);
    hf_db *db = dial_fresh(place);
    hf_db_value *cells = hf_alloc_array(5 * BATCH, sizeof(*cells));
    const hf_db_rows rows = {.columns = 5, .count = BATCH, .cells = cells};
    const hf_db_value from = hf_db_int(0);
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = true;
    int64_t seen = 0;

    ck_assert_ptr_nonnull(cells);
    begin(db, HF_DB_WRITE);
    for (int64_t key = 0; key < ROWS; key += BATCH) {
        for (int64_t i = 0; i < BATCH; i++)
            item_cells(&cells[i * 5], key + i, key);
        hf_test_ok(hf_db_batch(db, (hf_stmt)T_ADD, &rows, &err), &err, "add");
        hf_test_ok(hf_db_flush(db, &err), &err, "add");
    }
    commit(db);
    hf_test_ok(hf_db_query(db, (hf_stmt)T_ALL, &from, 1, &cursor, &err), &err, "all");
    for (;;) {
        hf_test_ok(hf_db_step(cursor, &row, &err), &err, "step");
        if (!row)
            break;
        ck_assert_int_eq(hf_db_column_int(cursor, 0), seen);
        slice_eq(hf_db_column_bytes(cursor, 1), HF_SLICE("words"));
        seen++;
    }
    hf_db_end(cursor);
    ck_assert_int_eq(seen, ROWS);

    hf_test_ok(hf_db_query(db, (hf_stmt)T_ALL, &from, 1, &cursor, &err), &err, "all again");
    for (int i = 0; i < 10; i++)
        hf_test_ok(hf_db_step(cursor, &row, &err), &err, "step");
    hf_db_end(cursor);
    ck_assert_int_eq(total(db), ROWS);
    begin(db, HF_DB_WRITE);
    item_put(db, ROWS, 1);
    commit(db);
    hf_alloc_free(cells);
    done(place, db);
}

/* Reading connections, and transactions that were begun for reading, cannot write. */
HF_BOTH_ENGINES(readers_cannot_write)
{
    const hf_db_value take[] = {hf_db_int(10), hf_db_int(1)};
    hf_test_place *place = hf_test_place_new(kind);
    hf_db *writer = dial_fresh(place);
    hf_db *reader = dial(place, HF_DB_READ);
    hf_err err = {0};

    begin(writer, HF_DB_WRITE);
    item_put(writer, 1, 1);
    commit(writer);
    ck_assert_int_eq(hf_db_exec(reader, (hf_stmt)T_TAKE, take, 2, NULL, &err), HF_READONLY);
    ck_assert_int_eq(hf_db_script(reader, "DROP TABLE item", &err), HF_READONLY);
    begin(reader, HF_DB_READ);
    ck_assert_int_eq(item_add(reader, 2, 2, &err), HF_READONLY);
    hf_db_rollback(reader);
    begin(writer, HF_DB_READ);
    ck_assert_int_eq(item_add(writer, 2, 2, &err), HF_READONLY);
    hf_db_rollback(writer);
    begin(writer, HF_DB_WRITE);
    item_put(writer, 2, 2);
    commit(writer);
    ck_assert_int_eq(total(reader), 2);
    hf_db_close(reader);
    done(place, writer);
}

/* Inside a reading transaction the store stands still. */
HF_BOTH_ENGINES(readers_see_one_moment)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_db *writer = dial_fresh(place);
    hf_db *reader = dial(place, HF_DB_READ);

    begin(reader, HF_DB_READ);
    ck_assert_int_eq(total(reader), 0);
    begin(writer, HF_DB_WRITE);
    item_put(writer, 1, 1);
    ck_assert_int_eq(total(reader), 0);
    commit(writer);
    ck_assert_int_eq(total(reader), 0);
    commit(reader);
    ck_assert_int_eq(total(reader), 1);
    hf_db_close(reader);
    done(place, writer);
}

/* RETURNING counts its rows, inside and outside a transaction. */
HF_BOTH_ENGINES(exec_counts_rows)
{
    const hf_db_value take[] = {hf_db_int(2), hf_db_int(5)};
    hf_test_place *place = hf_test_place_new(kind);
    hf_db *db = dial_fresh(place);
    hf_err err = {0};
    int64_t rows = -1;

    begin(db, HF_DB_WRITE);
    for (int64_t key = 1; key <= 3; key++)
        item_put(db, key, key);
    hf_test_ok(hf_db_exec(db, (hf_stmt)T_TAKE, take, 2, &rows, &err), &err, "take");
    ck_assert_int_eq(rows, 2);
    commit(db);
    hf_test_ok(hf_db_exec(db, (hf_stmt)T_TAKE, take, 2, &rows, &err), &err, "take");
    ck_assert_int_eq(rows, 2);
    done(place, db);
}

/* A statement that does not fit the schema fails with a text and harms nothing. */
HF_BOTH_ENGINES(broken_statements_fail)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_db *db = dial_fresh(place);
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};

    ck_assert_int_ne(hf_db_exec(db, (hf_stmt)T_BROKEN, NULL, 0, NULL, &err), HF_OK);
    ck_assert_msg(strstr(err.text, "nowhere") != NULL, "%s", err.text);
    ck_assert_int_ne(hf_db_script(db, "CREATE TABEL x (y)", &err), HF_OK);
    ck_assert_int_ne(hf_db_query_text(db, "SELEC 1", NULL, 0, &cursor, &err), HF_OK);
    ck_assert_ptr_null(cursor);
    ck_assert_int_eq(total(db), 0);
    done(place, db);
}

/* A text of an operator's own answers with names, values and nulls. */
HF_BOTH_ENGINES(texts_can_be_asked)
{
    const hf_db_value params[] = {hf_db_int(41)};
    hf_test_place *place = hf_test_place_new(kind);
    hf_db *db = dial_fresh(place);
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = false;

    begin(db, HF_DB_WRITE);
    item_put(db, 41, 42);
    commit(db);
    hf_test_ok(hf_db_query_text(
                   db,
                   "SELECT number AS answer, bytes, words FROM item WHERE key = ?1 -- all of it",
                   params, 1, &cursor, &err),
               &err, "ask");
    hf_test_ok(hf_db_step(cursor, &row, &err), &err, "ask");
    ck_assert(row);
    ck_assert_str_eq(hf_db_column_name(cursor, 0), "answer");
    ck_assert_int_eq(hf_db_column_int(cursor, 0), 42);
    ck_assert(hf_db_column_null(cursor, 1));
    slice_eq(hf_db_column_bytes(cursor, 2), HF_SLICE("words"));
    hf_db_end(cursor);
    done(place, db);
}

/* Breaking the contract is answered, not obeyed. */
HF_BOTH_ENGINES(misuse_is_refused)
{
    const hf_db_value from = hf_db_int(0);
    hf_test_place *place = hf_test_place_new(kind);
    hf_db *db = dial_fresh(place);
    hf_db_cursor *cursor = NULL;
    hf_db_cursor *second = NULL;
    hf_err err = {0};

    ck_assert_int_eq(item_add(db, 1, 1, &err), HF_MISUSE);
    ck_assert_int_eq(hf_db_commit(db, &err), HF_MISUSE);
    begin(db, HF_DB_WRITE);
    ck_assert_int_eq(hf_db_begin(db, HF_DB_WRITE, &err), HF_MISUSE);
    hf_db_rollback(db);
    hf_test_ok(hf_db_query(db, (hf_stmt)T_ALL, &from, 1, &cursor, &err), &err, "all");
    ck_assert_int_eq(hf_db_query(db, (hf_stmt)T_TOTAL, NULL, 0, &second, &err), HF_MISUSE);
    ck_assert_ptr_null(second);
    hf_db_end(cursor);
    ck_assert_int_eq(total(db), 0);
    done(place, db);
}

/* A connection that is closed in the middle of everything leaves nothing behind. */
HF_BOTH_ENGINES(close_gives_up)
{
    const hf_db_value from = hf_db_int(0);
    hf_test_place *place = hf_test_place_new(kind);
    hf_db *db = dial_fresh(place);
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = false;

    begin(db, HF_DB_WRITE);
    item_put(db, 1, 1);
    hf_test_ok(hf_db_query(db, (hf_stmt)T_ALL, &from, 1, &cursor, &err), &err, "all");
    hf_test_ok(hf_db_step(cursor, &row, &err), &err, "all");
    ck_assert(row);
    hf_db_close(db);
    db = dial(place, HF_DB_WRITE);
    ck_assert_int_eq(total(db), 0);
    done(place, db);
}

/* The answer to a commit can be lost: the rows are there, and the status says that nobody knows. */
HF_BOTH_ENGINES(lost_answers_are_unknown)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_db *db = dial_fresh(place);
    hf_err err = {0};

    begin(db, HF_DB_WRITE);
    item_put(db, 1, 1);
    hf_fault_arm(HF_FAULT_DB_LOST, 1, false);
    ck_assert_int_eq(hf_db_commit(db, &err), HF_UNKNOWN);
    hf_fault_arm(HF_FAULT_DB_LOST, 0, false);
    hf_test_ok(hf_db_reconnect(db, &err), &err, "reconnect");
    ck_assert(!hf_db_in_transaction(db));
    ck_assert_int_eq(total(db), 1);
    done(place, db);
}

/* One transaction as a caller writes it: whatever fails, it rolls back. */
static hf_status transaction(hf_db *db, int64_t key, hf_err *err)
{
    const hf_db_value from = hf_db_int(0);
    hf_status st = hf_db_begin(db, HF_DB_WRITE, err);

    if (!st)
        st = hf_db_savepoint(db, err);
    if (!st)
        st = item_add(db, key, key, err);
    if (!st)
        st = hf_db_release(db, err);
    if (!st)
        st = hf_db_exec(db, (hf_stmt)T_ALL, &from, 1, NULL, err);
    if (!st)
        st = hf_db_commit(db, err);
    if (st)
        hf_db_rollback(db);
    return st;
}

/* Each allocation and each database call of a transaction fails once: nothing is half done, the
   next one works. */
HF_BOTH_ENGINES(faults_leave_nothing_half_done)
{
    static const hf_fault_kind kinds[] = {HF_FAULT_ALLOC, HF_FAULT_DB};
    hf_test_place *place = hf_test_place_new(kind);
    hf_db *db = dial_fresh(place);
    int64_t key = 1;

    for (size_t i = 0; i < 2; i++) {
        hf_status st = HF_ERROR;

        for (int64_t nth = 1; st; nth++) {
            hf_err err = {0};
            int64_t before = total(db);

            hf_fault_arm(kinds[i], nth, false);
            st = transaction(db, key, &err);
            hf_fault_arm(kinds[i], 0, false);
            ck_assert(!hf_db_in_transaction(db));
            if (st) {
                ck_assert_int_eq(st, kinds[i] == HF_FAULT_ALLOC ? HF_NOMEM : HF_IO);
                ck_assert_str_ne(err.text, "");
            }
            ck_assert_int_eq(total(db), st ? before : before + 1);
            ck_assert_int_lt(nth, 200);
        }
        key++;
    }
    done(place, db);
}

/* Opening a connection survives the failure of each of its allocations and calls. */
HF_BOTH_ENGINES(opening_survives_faults)
{
    static const hf_fault_kind kinds[] = {HF_FAULT_ALLOC, HF_FAULT_DB};
    hf_test_place *place = hf_test_place_new(kind);
    hf_db *first = dial_fresh(place);

    for (size_t i = 0; i < 2; i++) {
        hf_status st = HF_ERROR;

        for (int64_t nth = 1; st; nth++) {
            hf_db *db = NULL;
            hf_err err = {0};

            hf_fault_arm(kinds[i], nth, false);
            st = hf_test_place_dial(place, HF_DB_READ, own_statements, T_COUNT, &db, &err);
            hf_fault_arm(kinds[i], 0, false);
            ck_assert(st ? db == NULL : db != NULL);
            hf_db_close(db);
            ck_assert_int_lt(nth, 200);
        }
    }
    done(place, first);
}

/* ---- every statement of the program */

/* ?1 becomes $1 outside quotes; returns the highest number. */
static int dollars_write(hf_buf *out, const char *sql)
{
    bool quoted = false;
    int highest = 0;

    for (; *sql; sql++) {
        bool mark = *sql == '?' && !quoted;

        if (*sql == '\'')
            quoted = !quoted;
        if (mark && atoi(sql + 1) > highest)
            highest = atoi(sql + 1);
        hf_buf_add_byte(out, (uint8_t)(mark ? '$' : *sql));
    }
    return highest;
}

/* The driver names the types of all parameters. Here the server is left to infer them; where it
   cannot, because parameters are only compared with each other, they are integers. */
static hf_status postgres_prepare(hf_db *db, const hf_stmt_text *stmt, hf_err *err)
{
    hf_buf text = {0};
    hf_buf sql = {0};
    int count = dollars_write(&text, stmt->postgres);
    hf_status st;

    hf_buf_add_format(&sql, "PREPARE test_%s AS %s", stmt->name, hf_buf_text(&text));
    st = hf_db_script(db, hf_buf_text(&sql), err);
    if (st && count > 0) {
        hf_buf_clear(&sql);
        hf_buf_add_format(&sql, "PREPARE test_%s (bigint", stmt->name);
        for (int i = 1; i < count; i++)
            hf_buf_add_text(&sql, ", bigint");
        hf_buf_add_format(&sql, ") AS %s", hf_buf_text(&text));
        st = hf_db_script(db, hf_buf_text(&sql), err);
    }
    hf_buf_fini(&sql);
    hf_buf_fini(&text);
    return st;
}

/* Each statement is understood by its engine, on the newest schema. */
HF_BOTH_ENGINES(every_statement_prepares)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_store *store = hf_test_place_store(place, HF_STORE_OWNER);
    sqlite3 *handle = NULL;

    ck_assert_uint_eq(hf_stmt_texts_count, HF_STMT_COUNT);
    if (kind == HF_ENGINE_SQLITE)
        ck_assert_int_eq(sqlite3_open(hf_test_place_address(place), &handle), SQLITE_OK);
    for (size_t i = 0; i < hf_stmt_texts_count; i++) {
        if (!(kind == HF_ENGINE_SQLITE ? hf_stmt_texts[i].sqlite : hf_stmt_texts[i].postgres))
            continue; /* a statement for the other engine only */
        if (kind == HF_ENGINE_SQLITE) {
            sqlite3_stmt *stmt = NULL;
            int code = sqlite3_prepare_v2(handle, hf_stmt_texts[i].sqlite, -1, &stmt, NULL);

            ck_assert_msg(code == SQLITE_OK, "%s: %s", hf_stmt_texts[i].name,
                          sqlite3_errmsg(handle));
            (void)sqlite3_finalize(stmt);
        } else {
            hf_err err = {0};

            hf_test_ok(postgres_prepare(hf_store_writer(store), &hf_stmt_texts[i], &err), &err,
                       hf_stmt_texts[i].name);
        }
    }
    (void)sqlite3_close(handle);
    hf_store_close(store);
    hf_test_place_free(place);
}

/* ---- SQLite alone */

/* Another program's write is noticed once; our own are not foreign. PostgreSQL is made for many
   writers. */
HF_BOTH_ENGINES(foreign_writes_are_noticed)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_db *db = dial_fresh(place);
    hf_db *other = dial(place, HF_DB_WRITE);
    hf_err err = {0};
    bool seen = true;

    begin(db, HF_DB_WRITE);
    item_put(db, 1, 1);
    commit(db);
    hf_test_ok(hf_db_foreign_write(db, &seen, &err), &err, "foreign");
    ck_assert(!seen);
    begin(other, HF_DB_WRITE);
    item_put(other, 2, 2);
    commit(other);
    hf_test_ok(hf_db_foreign_write(db, &seen, &err), &err, "foreign");
    ck_assert_int_eq(seen, kind == HF_ENGINE_SQLITE);
    hf_test_ok(hf_db_foreign_write(db, &seen, &err), &err, "foreign");
    ck_assert(!seen);
    hf_db_close(other);
    done(place, db);
}

/* The WAL grows with commits and is given back by a checkpoint of an idle writer; readers may not
   checkpoint. */
START_TEST(checkpoints_empty_the_log)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_db *db = dial_fresh(place);
    hf_db *reader = dial(place, HF_DB_READ);
    hf_err err = {0};

    begin(db, HF_DB_WRITE);
    item_put(db, 1, 1);
    commit(db);
    ck_assert_int_gt(db->log_pages, 0);
    ck_assert_int_eq(hf_db_checkpoint(reader, &err), HF_READONLY);
    begin(reader, HF_DB_READ);
    ck_assert_int_eq(total(reader), 1);
    hf_test_ok(hf_db_checkpoint(db, &err), &err, "checkpoint beside a reader");
    hf_db_rollback(reader);
    hf_test_ok(hf_db_checkpoint(db, &err), &err, "checkpoint");
    ck_assert_int_eq(db->log_pages, 0);
    ck_assert_int_eq(total(reader), 1);
    hf_db_close(reader);
    done(place, db);
}
END_TEST

/* A full disk is a status; the transaction is undone, reading goes on, and so does writing when
   there is room. */
START_TEST(full_disks_pass)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_db *db = dial_fresh(place);
    hf_status st = HF_OK;
    hf_err err = {0};

    hf_test_ok(hf_db_script(db, "PRAGMA max_page_count = 40", &err), &err, "limit");
    begin(db, HF_DB_WRITE);
    for (int64_t key = 1; !st && key < 100000; key++)
        st = item_add(db, key, key, &err);
    ck_assert_int_eq(st, HF_FULL);
    ck_assert_int_ne(hf_db_commit(db, &err), HF_OK);
    ck_assert(!hf_db_in_transaction(db));
    ck_assert_int_eq(total(db), 0);
    hf_test_ok(hf_db_script(db, "PRAGMA max_page_count = 100000", &err), &err, "room");
    begin(db, HF_DB_WRITE);
    item_put(db, 1, 1);
    commit(db);
    ck_assert_int_eq(total(db), 1);
    done(place, db);
}
END_TEST

/* SQLite has neither a clock nor notifications, and says so; a batch needs as many cells as
   parameters. */
START_TEST(sqlite_says_what_it_has_not)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_db *db = dial_fresh(place);
    const hf_db_value cells[] = {hf_db_int(1), hf_db_int(1)};
    const hf_db_rows rows = {.columns = 2, .count = 1, .cells = cells};
    hf_db_cursor *cursor = NULL;
    hf_slice payload;
    int64_t now_us = 0;
    hf_err err = {0};

    ck_assert_int_eq(hf_db_now(db, &now_us, &err), HF_MISUSE);
    ck_assert_int_eq(hf_db_notify(db, HF_SLICE("x"), &err), HF_MISUSE);
    ck_assert_int_eq(hf_db_listen(db, &err), HF_MISUSE);
    ck_assert_int_eq(hf_db_notified(db, 0, &payload, &err), HF_MISUSE);
    ck_assert_int_eq(hf_db_query(db, (hf_stmt)T_GET, NULL, 0, &cursor, &err), HF_MISUSE);
    begin(db, HF_DB_WRITE);
    ck_assert_int_eq(hf_db_batch(db, (hf_stmt)T_ADD, &rows, &err), HF_MISUSE);
    hf_db_rollback(db);
    ck_assert_int_eq(hf_db_query_text(db, "SELECT 1; SELECT 2", NULL, 0, &cursor, &err),
                     HF_INVALID);
    ck_assert_int_eq(hf_db_query_text(db, " -- nothing", NULL, 0, &cursor, &err), HF_INVALID);
    ck_assert_int_eq(hf_db_query_text(db, "ATTACH 'x' AS y", NULL, 0, &cursor, &err), HF_OK);
    hf_db_end(cursor);
    done(place, db);
}
END_TEST

static void finding_count(void *ctx, const char *sentence)
{
    ck_assert_str_ne(sentence, "");
    (*(int *)ctx)++;
}

/* A sound store gives no finding on either engine. */
HF_BOTH_ENGINES(sound_stores_pass_the_check)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_store *store = hf_test_place_store(place, HF_STORE_OWNER);
    hf_err err = {0};
    int findings = 0;

    hf_test_ok(hf_db_check(hf_store_writer(store), finding_count, &findings, &err), &err, "check");
    ck_assert_int_eq(findings, 0);
    hf_store_close(store);
    hf_test_place_free(place);
}

/* A damaged page is found. */
START_TEST(damage_is_found)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_db *db = dial_fresh(place);
    char garbage[512];
    hf_err err = {0};
    int findings = 0;
    hf_status st;
    FILE *file;

    begin(db, HF_DB_WRITE);
    for (int64_t key = 1; key < 2000; key++)
        item_put(db, key, key);
    commit(db);
    hf_db_close(db);
    file = fopen(hf_test_place_address(place), "r+b");
    ck_assert_ptr_nonnull(file);
    memset(garbage, 0x5A, sizeof(garbage));
    ck_assert_int_eq(fseek(file, 5 * 4096, SEEK_SET), 0);
    ck_assert_uint_eq(fwrite(garbage, 1, sizeof(garbage), file), sizeof(garbage));
    ck_assert_int_eq(fclose(file), 0);
    db = dial(place, HF_DB_READ);
    st = hf_db_check(db, finding_count, &findings, &err);
    ck_assert(findings > 0 || st == HF_CORRUPT);
    done(place, db);
}
END_TEST

/* Each of SQLite's codes has its status. */
START_TEST(codes_have_statuses)
{
    static const struct {
        int code;
        hf_status status;
    } rows[] = {
        {SQLITE_FULL, HF_FULL},
        {SQLITE_IOERR, HF_IO},
        {SQLITE_IOERR_FSYNC, HF_IO},
        {SQLITE_IOERR_DIR_FSYNC, HF_IO},
        {SQLITE_IOERR_NOMEM, HF_NOMEM},
        {SQLITE_CORRUPT, HF_CORRUPT},
        {SQLITE_CORRUPT_INDEX, HF_CORRUPT},
        {SQLITE_NOTADB, HF_NOTASTORE},
        {SQLITE_READONLY, HF_READONLY},
        {SQLITE_READONLY_DBMOVED, HF_IO},
        {SQLITE_PERM, HF_READONLY},
        {SQLITE_BUSY, HF_BUSY},
        {SQLITE_BUSY_SNAPSHOT, HF_RETRY},
        {SQLITE_LOCKED, HF_RETRY},
        {SQLITE_LOCKED_SHAREDCACHE, HF_RETRY},
        {SQLITE_CONSTRAINT_UNIQUE, HF_CONSTRAINT},
        {SQLITE_CONSTRAINT_DATATYPE, HF_CONSTRAINT},
        {SQLITE_TOOBIG, HF_TOOBIG},
        {SQLITE_NOMEM, HF_NOMEM},
        {SQLITE_INTERRUPT, HF_TIMEOUT},
        {SQLITE_ERROR, HF_ERROR},
        {SQLITE_MISUSE, HF_MISUSE},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        ck_assert_msg(hf_sqlite_status(NULL, rows[i].code) == rows[i].status, "code %d",
                      rows[i].code);
}
END_TEST

HF_PG_SUITE_MAIN("store/db", HF_BOTH(values_come_back), HF_BOTH(unstorable_values_are_refused),
                 HF_BOTH(commit_keeps_and_rollback_forgets), HF_BOTH(savepoints_end_either_way),
                 HF_BOTH(batches_report_each_row), HF_BOTH(commit_settles_flags),
                 HF_BOTH(constraint_needs_a_rollback), HF_BOTH(cursors_stream),
                 HF_BOTH(readers_cannot_write), HF_BOTH(readers_see_one_moment),
                 HF_BOTH(exec_counts_rows), HF_BOTH(broken_statements_fail),
                 HF_BOTH(texts_can_be_asked), HF_BOTH(misuse_is_refused), HF_BOTH(close_gives_up),
                 HF_BOTH(lost_answers_are_unknown), HF_BOTH(faults_leave_nothing_half_done),
                 HF_BOTH(opening_survives_faults), HF_BOTH(every_statement_prepares),
                 HF_BOTH(foreign_writes_are_noticed), {checkpoints_empty_the_log, 0},
                 {full_disks_pass, 0}, {sqlite_says_what_it_has_not, 0},
                 HF_BOTH(sound_stores_pass_the_check), {damage_is_found, 0},
                 {codes_have_statuses, 0})
