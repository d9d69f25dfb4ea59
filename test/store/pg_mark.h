/* pg_mark.h: what the test programs about connections of the PostgreSQL driver share: a table
   `mark` of keys in a schema of the case's own, so that one can ask which transactions happened.
   Included once per program. */
#ifndef HF_TEST_STORE_PG_MARK_H
#define HF_TEST_STORE_PG_MARK_H

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "store/pg_case.h"

enum { ADDRESS_SIZE = 300, SCHEMA_SIZE = 40 };

enum { MARK_ADD, MARK_TOUCH, MARK_DIE, MARK_COUNT };

static const hf_stmt_text statements[] = {
    [MARK_ADD] = {"mark_add", "", "INSERT INTO mark SELECT * FROM unnest(?1::bigint[])", NULL,
                  NULL},
    [MARK_TOUCH] = {"mark_touch", "",
                    "UPDATE mark SET key = key FROM unnest(?1::bigint[]) AS u(k) WHERE key = u.k "
                    "RETURNING 1::bigint",
                    NULL, NULL},
    [MARK_DIE] = {"mark_die", "",
                  "SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(u.s) "
                  "FROM unnest(?1::bigint[]) AS u(s)",
                  NULL, NULL},
};

static HF_UNUSED hf_status open_as(hf_db_mode mode, const char *address, const char *schema,
                                   hf_db **out_db, hf_err *err)
{
    const hf_db_options options = {.address = address,
                                   .schema = schema,
                                   .mode = mode,
                                   .create = mode == HF_DB_WRITE,
                                   .statements = statements,
                                   .statement_count = MARK_COUNT};

    return hf_db_open(driver_get(), &options, out_db, err);
}

static HF_UNUSED hf_status open_at(const char *address, const char *schema, hf_db **out_db,
                                   hf_err *err)
{
    return open_as(HF_DB_WRITE, address, schema, out_db, err);
}

/* A connection to a schema of this case with the table mark in it. */
static HF_UNUSED hf_db *open_marks(const char *address, char *schema)
{
    hf_err err = {0};
    hf_db *db = NULL;

    (void)snprintf(schema, SCHEMA_SIZE, "t_loss_%d", (int)getpid());
    ok(open_at(address, schema, &db, &err), &err);
    ok(hf_db_script(db, "CREATE TABLE IF NOT EXISTS mark (key bigint PRIMARY KEY)", &err), &err);
    return db;
}

static HF_UNUSED int64_t number_of(hf_db *db, const char *sql, int64_t param)
{
    const hf_db_value value = hf_db_int(param);
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = false;
    int64_t number;

    ok(hf_db_query_text(db, sql, &value, 1, &cursor, &err), &err);
    ok(hf_db_step(cursor, &row, &err), &err);
    ck_assert(row);
    number = hf_db_column_int(cursor, 0);
    hf_db_end(cursor);
    return number;
}

static HF_UNUSED bool mark_there(hf_db *db, int64_t key)
{
    return number_of(db, "SELECT count(*) FROM mark WHERE key = ?1", key) == 1;
}

static HF_UNUSED hf_status batch(hf_db *db, int stmt, int64_t key, hf_err *err)
{
    const hf_db_value cell = hf_db_int(key);
    const hf_db_rows rows = {.columns = 1, .count = 1, .cells = &cell};

    return db->driver->batch(db, (hf_stmt)stmt, &rows, err);
}

/* One transaction that writes one mark. */
static HF_UNUSED hf_status mark_write(hf_db *db, int64_t key, hf_err *err)
{
    hf_status st = hf_db_begin(db, HF_DB_WRITE, err);

    if (!st)
        st = batch(db, MARK_ADD, key, err);
    if (!st)
        return hf_db_commit(db, err);
    hf_db_rollback(db);
    return st;
}

#endif
