/* The writer's log is written in few pieces, and nobody can tell but by counting them. */
#include <sqlite3.h>
#include <stdio.h>

#include "base/fault.h"
#include "lib/simvfs.h"
#include "lib/suite.h"
#include "store/db.h"

#define STORE "log.db"

static void ok(hf_status st, const hf_err *err)
{
    ck_assert_msg(st == HF_OK, "%s", err->text);
}

static hf_db *dial(const hf_simvfs *vfs, hf_db_mode mode)
{
    const hf_db_options options = {.address = STORE,
                                   .mode = mode,
                                   .create = mode == HF_DB_WRITE,
                                   .vfs = hf_simvfs_name(vfs),
                                   .statements = hf_stmt_texts,
                                   .statement_count = hf_stmt_texts_count};
    hf_db *db = NULL;
    hf_err err = {0};

    ok(hf_db_open(&hf_db_sqlite, &options, &db, &err), &err);
    return db;
}

/* Rows of a page each. */
static void rows_put(hf_db *db, int count)
{
    char sql[256];
    hf_err err = {0};

    (void)snprintf(sql, sizeof(sql),
                   "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < %d)"
                   " INSERT INTO item (body) SELECT zeroblob(4000) FROM n",
                   count);
    ok(hf_db_script(db, sql, &err), &err);
}

static int64_t rows(hf_db *db)
{
    hf_db_cursor *cursor = NULL;
    bool row = false;
    int64_t count = -1;
    hf_err err = {0};

    ok(hf_db_query_text(db, "SELECT count(body) FROM item", NULL, 0, &cursor, &err), &err);
    ok(hf_db_step(cursor, &row, &err), &err);
    count = hf_db_column_int(cursor, 0);
    hf_db_end(cursor);
    return count;
}

static hf_db *dial_fresh(const hf_simvfs *vfs)
{
    hf_db *db = dial(vfs, HF_DB_WRITE);
    hf_err err = {0};

    ok(hf_db_script(db, "CREATE TABLE item (key INTEGER PRIMARY KEY, body BLOB)", &err), &err);
    return db;
}

/* Fifty pages: SQLite alone would make two calls for each. A reader sees them at once. */
START_TEST(a_transaction_is_written_in_few_pieces)
{
    hf_simvfs *vfs = hf_simvfs_new("sim-log");
    hf_db *db = dial_fresh(vfs);
    hf_db *reader = dial(vfs, HF_DB_READ);
    hf_err err = {0};

    hf_simvfs_fail(vfs, HF_SIMVFS_WRITE, 0, false); /* counts from here */
    ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
    rows_put(db, 50);
    ok(hf_db_commit(db, &err), &err);
    ck_assert_int_le(hf_simvfs_seen(vfs, HF_SIMVFS_WRITE), 6);
    ck_assert_int_eq(rows(reader), 50);
    hf_db_close(reader);
    hf_db_close(db);
    hf_simvfs_free(vfs);
}
END_TEST

/* Pages that leave the cache before the commit are read back from the log; what is rolled back is
   not there, and what comes after it is. */
START_TEST(what_left_the_cache_is_read_back)
{
    hf_simvfs *vfs = hf_simvfs_new("sim-log");
    hf_db *db = dial_fresh(vfs);
    hf_db *reader = dial(vfs, HF_DB_READ);
    hf_err err = {0};

    ok(hf_db_script(db, "PRAGMA cache_size = 10", &err), &err);
    for (int i = 0; i < 3; i++) {
        ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
        rows_put(db, 300);
        ck_assert_int_eq(rows(db), 300 * (i + 1));
        ck_assert_int_eq(rows(reader), 300 * i);
        hf_db_rollback(db);
        ck_assert_int_eq(rows(db), 300 * i);
        ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
        rows_put(db, 300);
        ok(hf_db_commit(db, &err), &err);
        ck_assert_int_eq(rows(reader), 300 * (i + 1));
    }
    hf_db_close(reader);
    ok(hf_db_checkpoint(db, &err), &err);
    hf_db_close(db);
    db = dial(vfs, HF_DB_WRITE);
    ck_assert_int_eq(rows(db), 900);
    hf_db_close(db);
    hf_simvfs_free(vfs);
}
END_TEST

/* A piece that cannot be written undoes its transaction, whichever it is. */
START_TEST(a_piece_that_fails_undoes_all)
{
    hf_simvfs *vfs = hf_simvfs_new("sim-log");
    hf_db *db = dial_fresh(vfs);
    int64_t there = 0;
    hf_err err = {0};

    for (int64_t nth = 1;; nth++) {
        hf_status st;

        hf_simvfs_fail(vfs, HF_SIMVFS_FULL, nth, false);
        ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
        rows_put(db, 20);
        st = hf_db_commit(db, &err);
        if (hf_simvfs_seen(vfs, HF_SIMVFS_FULL) < nth) {
            ok(st, &err);
            there += 20;
            break;
        }
        ck_assert_int_eq(st, HF_FULL);
        ck_assert_int_eq(rows(db), there);
    }
    hf_simvfs_fail(vfs, HF_SIMVFS_FULL, 0, false);
    ck_assert_int_eq(rows(db), there);
    hf_db_close(db);
    hf_simvfs_free(vfs);
}
END_TEST

HF_SUITE_MAIN("store/log", {a_transaction_is_written_in_few_pieces, 0},
              {what_left_the_cache_is_read_back, 0}, {a_piece_that_fails_undoes_all, 0})
