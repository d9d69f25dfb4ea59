/* pg_scratch.h: what the test programs of the PostgreSQL driver share: a schema of the case's own
   with one table, and statements for shapes that the store does not have. They are called on the
   driver itself, because the hf_db_ functions name statements by the store's list. Included once
   per program. */
#ifndef HF_TEST_STORE_PG_SCRATCH_H
#define HF_TEST_STORE_PG_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/pg_case.h"

enum { SCRATCH_INSERT, SCRATCH_TOUCH, SCRATCH_ECHO, SCRATCH_BROKEN, SCRATCH_COUNT };

static const hf_stmt_text scratch[] = {
    [SCRATCH_INSERT] = {"scratch_insert", "",
                        "INSERT INTO scratch SELECT * FROM unnest(?1::bigint[], ?2::text[], "
                        "?3::bytea[], ?4::float8[])",
                        NULL, NULL},
    [SCRATCH_TOUCH] = {"scratch_touch", "",
                       "UPDATE scratch s SET t = 'touched' FROM unnest(?1::bigint[]) WITH "
                       "ORDINALITY AS u(key, row) "
                       "WHERE s.i = u.key RETURNING u.row",
                       NULL, NULL},
    [SCRATCH_ECHO] = {"scratch_echo", "",
                      "SELECT u.row, repeat('y', 20 * length(u.x)) FROM unnest(?1::text[]) WITH "
                      "ORDINALITY AS u(x, row)",
                      NULL, NULL},
    [SCRATCH_BROKEN] = {"scratch_broken", "", "SELECT u.x / 0 FROM unnest(?1::bigint[]) AS u(x)",
                        NULL, NULL},
};
static HF_UNUSED const char scratch_table[] =
    "CREATE TABLE scratch (i bigint, t text, b bytea, r float8)";

static HF_UNUSED void fails(hf_status st, hf_status expected, const hf_err *err, const char *words)
{
    ck_assert_msg(st == expected, "%s instead of %s: %s", hf_strstatus(st), hf_strstatus(expected),
                  err->text);
    ck_assert_msg(strstr(err->text, words) != NULL, "'%s' is not in: %s", words, err->text);
}

static HF_UNUSED hf_db_options options_of(const char *schema)
{
    return (hf_db_options){.address = getenv("HF_TEST_PG"),
                           .schema = schema,
                           .mode = HF_DB_WRITE,
                           .create = true,
                           .statements = hf_stmt_texts,
                           .statement_count = hf_stmt_texts_count};
}

static HF_UNUSED hf_db *open_with(const hf_db_options *options)
{
    hf_err err = {0};
    hf_db *db = NULL;

    ok(hf_db_open(driver_get(), options, &db, &err), &err);
    return db;
}

/* Another connection to the schema of open_scratch. */
static HF_UNUSED hf_db *open_scratch_again(const char *schema)
{
    hf_db_options options = options_of(schema);

    options.statements = scratch;
    options.statement_count = SCRATCH_COUNT;
    return open_with(&options);
}

/* A schema of this case alone, with the test's own statements and table. */
static HF_UNUSED hf_db *open_scratch(char *schema)
{
    hf_err err = {0};
    hf_db *db;

    (void)snprintf(schema, 40, "t_scratch_%d", (int)getpid());
    db = open_scratch_again(schema);
    ok(hf_db_script(db, scratch_table, &err), &err);
    return db;
}

/* The first column of the first row. */
static HF_UNUSED int64_t number_of(hf_db *db, const char *sql)
{
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = false;
    int64_t number;

    ok(hf_db_query_text(db, sql, NULL, 0, &cursor, &err), &err);
    ok(hf_db_step(cursor, &row, &err), &err);
    ck_assert(row);
    number = hf_db_column_int(cursor, 0);
    hf_db_end(cursor);
    return number;
}

static HF_UNUSED hf_status insert_rows(hf_db *db, const hf_db_value *cells, size_t count,
                                       uint8_t *flags, hf_err *err)
{
    const hf_db_rows rows = {.columns = 4, .count = count, .cells = cells, .flags = flags};

    return db->driver->batch(db, (hf_stmt)SCRATCH_INSERT, &rows, err);
}

#endif
