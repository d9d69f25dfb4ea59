/* test_db_sqlite.c: SQLite's own part of what drivers do: writes of other programs, the log, full
   disks, damage, status codes. Two of the cases ask PostgreSQL too. */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "store/db_item.h"
#include "store/sqlite_status.h"

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
HF_PG_SUITE_MAIN("store/db_sqlite", HF_BOTH(foreign_writes_are_noticed),
                 {checkpoints_empty_the_log, 0}, {full_disks_pass, 0},
                 {sqlite_says_what_it_has_not, 0}, HF_BOTH(sound_stores_pass_the_check),
                 {damage_is_found, 0}, {codes_have_statuses, 0})
