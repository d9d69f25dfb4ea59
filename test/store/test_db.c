/* test_db.c: what every driver promises, checked on SQLite and PostgreSQL from one source. SQLite's
   own part is in test_db_sqlite.c, PostgreSQL's in test_pg.c. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "store/db_item.h"

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

HF_PG_SUITE_MAIN("store/db", HF_BOTH(values_come_back), HF_BOTH(unstorable_values_are_refused),
                 HF_BOTH(commit_keeps_and_rollback_forgets), HF_BOTH(savepoints_end_either_way),
                 HF_BOTH(batches_report_each_row), HF_BOTH(commit_settles_flags),
                 HF_BOTH(constraint_needs_a_rollback), HF_BOTH(cursors_stream),
                 HF_BOTH(readers_cannot_write), HF_BOTH(readers_see_one_moment),
                 HF_BOTH(exec_counts_rows), HF_BOTH(broken_statements_fail),
                 HF_BOTH(texts_can_be_asked), HF_BOTH(misuse_is_refused), HF_BOTH(close_gives_up),
                 HF_BOTH(lost_answers_are_unknown), HF_BOTH(faults_leave_nothing_half_done),
                 HF_BOTH(opening_survives_faults))
