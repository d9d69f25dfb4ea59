/* db_item.h: what the test programs of the database drivers share: a table `item` with a column of
   each type, and statements for it on both engines. Included once per program. */
#ifndef HF_TEST_STORE_DB_ITEM_H
#define HF_TEST_STORE_DB_ITEM_H

#include "base/attr.h"
#include "lib/engine.h"

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

static HF_UNUSED hf_db *dial(const hf_test_place *place, hf_db_mode mode)
{
    hf_db *db = NULL;
    hf_err err = {0};

    hf_test_ok(hf_test_place_dial(place, mode, own_statements, T_COUNT, &db, &err), &err,
               "connect");
    return db;
}

/* The writer's connection to a new place with the table `item`. */
static HF_UNUSED hf_db *dial_fresh(const hf_test_place *place)
{
    hf_db *db = dial(place, HF_DB_WRITE);
    hf_err err = {0};

    hf_test_ok(
        hf_db_script(
            db, hf_test_place_kind(place) == HF_ENGINE_SQLITE ? item_sqlite : item_postgres, &err),
        &err, "make the table");
    return db;
}

static HF_UNUSED void begin(hf_db *db, hf_db_mode mode)
{
    hf_err err = {0};

    hf_test_ok(hf_db_begin(db, mode, &err), &err, "begin");
}

static HF_UNUSED void commit(hf_db *db)
{
    hf_err err = {0};

    hf_test_ok(hf_db_commit(db, &err), &err, "commit");
}

static HF_UNUSED void item_cells(hf_db_value cells[5], int64_t key, int64_t number)
{
    cells[0] = hf_db_int(key);
    cells[1] = hf_db_int(number);
    cells[2] = hf_db_null(HF_DB_REAL);
    cells[3] = hf_db_text(HF_SLICE("words"));
    cells[4] = hf_db_null(HF_DB_BLOB);
}

/* Adds one row and waits for the answer. */
static HF_UNUSED hf_status item_add(hf_db *db, int64_t key, int64_t number, hf_err *err)
{
    hf_db_value cells[5];
    const hf_db_rows rows = {.columns = 5, .count = 1, .cells = cells};
    hf_status st;

    item_cells(cells, key, number);
    st = hf_db_batch(db, (hf_stmt)T_ADD, &rows, err);
    return st ? st : hf_db_flush(db, err);
}

static HF_UNUSED void item_put(hf_db *db, int64_t key, int64_t number)
{
    hf_err err = {0};

    hf_test_ok(item_add(db, key, number, &err), &err, "add an item");
}

static HF_UNUSED int64_t total(hf_db *db)
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

static HF_UNUSED void done(hf_test_place *place, hf_db *db)
{
    hf_db_close(db);
    hf_test_place_free(place);
}

#endif
