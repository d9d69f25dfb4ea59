/* test_pg.c: the PostgreSQL driver against a real server: encoding, pipeline, session, hints,
   checks. Reading is in test_pg_read.c, connecting in test_pg_connect.c; what happens when the
   server or the connection goes away is in test_pg_loss.c. */
#define _GNU_SOURCE
#include <math.h>
#include <time.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "store/pg_scratch.h"

/* The same with the store's tables, made by the migrations themselves. */
static hf_db *open_store(char *schema)
{
    hf_db_options options;
    hf_err err = {0};
    hf_db *db;

    (void)snprintf(schema, 40, "t_store_%d", (int)getpid());
    options = options_of(schema);
    db = open_with(&options);
    ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
    for (size_t i = 0; i < hf_migration_texts_count; i++)
        ok(hf_db_script(db, hf_migration_texts[i].postgres, &err), &err);
    ok(hf_db_commit(db, &err), &err);
    return db;
}

static hf_db_value history_cell(size_t column, int64_t position, int64_t run, int64_t seq)
{
    const hf_db_value row[] = {hf_db_int(position),
                               hf_db_int(run),
                               hf_db_int(seq),
                               hf_db_int(1),
                               hf_db_int(1),
                               hf_db_blob(HF_SLICE("body")),
                               hf_db_blob(HF_SLICE("hash"))};

    return row[column];
}

/* Every type comes back as it went: extremes, nulls, empty texts, bytes with zeros, and 1 MiB in
 * one value. */
START_TEST(encodes_every_type)
{
    char schema[40];
    hf_db *db = open_scratch(schema);
    hf_err err = {0};
    char *big = hf_alloc(1024 * 1024);
    const hf_db_value cells[] = {
        hf_db_int(INT64_MIN),
        hf_db_text(HF_SLICE("")),
        hf_db_blob(HF_SLICE("")),
        hf_db_real(-0.5),
        hf_db_int(INT64_MAX),
        hf_db_text(HF_SLICE("h\xc3\xa9, ?1 {\"'}")),
        hf_db_blob(HF_SLICE("\0a\0\xff")),
        hf_db_real(1e308),
        hf_db_null(HF_DB_INT),
        hf_db_null(HF_DB_TEXT),
        hf_db_null(HF_DB_BLOB),
        hf_db_null(HF_DB_REAL),
        hf_db_int(-1),
        hf_db_text(HF_SLICE("last")),
        hf_db_blob(hf_slice_from(big, 1024 * 1024)),
        hf_db_real((double)INFINITY),
    };
    hf_db_cursor *cursor = NULL;
    bool row = true;

    memset(big, 0xA5, 1024 * 1024);
    ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
    ok(insert_rows(db, cells, 4, NULL, &err), &err);
    ok(hf_db_query_text(db, "SELECT i, t, b, r FROM scratch", NULL, 0, &cursor, &err), &err);
    ck_assert_uint_eq(hf_db_column_count(cursor), 4);
    ck_assert_str_eq(hf_db_column_name(cursor, 2), "b");
    for (size_t i = 0; i < 4; i++) {
        const hf_db_value *cell = &cells[i * 4];

        ok(hf_db_step(cursor, &row, &err), &err);
        ck_assert(row);
        ck_assert_int_eq(hf_db_column_null(cursor, 0), cell[0].null);
        ck_assert_int_eq(hf_db_column_int(cursor, 0), cell[0].number);
        ck_assert_int_eq(hf_db_column_null(cursor, 1), cell[1].null);
        ck_assert(hf_slice_equal(hf_db_column_bytes(cursor, 1), cell[1].bytes));
        ck_assert(hf_slice_equal(hf_db_column_bytes(cursor, 2), cell[2].bytes));
        ck_assert(hf_db_column_real(cursor, 3) == cell[3].real);
        ck_assert_int_eq(hf_db_column_null(cursor, 3), cell[3].null);
    }
    ok(hf_db_step(cursor, &row, &err), &err);
    ck_assert(!row);
    hf_db_end(cursor);
    ok(hf_db_commit(db, &err), &err);
    hf_alloc_free(big);
    drop(db, schema);
}
END_TEST

/* A batch of 1,000 rows is one statement; its flags are pending until flush and then say which rows
 * were applied. */
START_TEST(flags_tell_which_rows_applied)
{
    enum { COUNT = 1000 };
    char schema[40];
    hf_db *db = open_scratch(schema);
    hf_err err = {0};
    hf_db_value *cells = hf_alloc_array(COUNT * 4, sizeof(*cells));
    hf_db_value *keys = hf_alloc_array(COUNT, sizeof(*keys));
    uint8_t flags[COUNT];
    const hf_db_rows touch = {.columns = 1, .count = COUNT, .cells = keys, .flags = flags};

    for (size_t i = 0; i < COUNT; i++) {
        cells[i * 4] = hf_db_int((int64_t)i);
        cells[i * 4 + 1] = hf_db_text(HF_SLICE("row"));
        cells[i * 4 + 2] = hf_db_null(HF_DB_BLOB);
        cells[i * 4 + 3] = hf_db_real(0);
        keys[i] = hf_db_int(i % 3 == 0 ? (int64_t)i : -1);
    }
    ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
    ok(insert_rows(db, cells, COUNT, flags, &err), &err);
    ck_assert_uint_eq(flags[0], HF_DB_PENDING);
    ck_assert_uint_eq(flags[COUNT - 1], HF_DB_PENDING);
    ok(hf_db_flush(db, &err), &err);
    for (size_t i = 0; i < COUNT; i++)
        ck_assert_uint_eq(flags[i], HF_DB_APPLIED);
    ok(db->driver->batch(db, (hf_stmt)SCRATCH_TOUCH, &touch, &err), &err);
    ok(hf_db_commit(db, &err), &err);
    for (size_t i = 0; i < COUNT; i++)
        ck_assert_uint_eq(flags[i], i % 3 == 0 ? HF_DB_APPLIED : HF_DB_SKIPPED);
    ck_assert_int_eq(number_of(db, "SELECT count(*) FROM scratch WHERE t = 'touched'"), 334);
    hf_alloc_free(keys);
    hf_alloc_free(cells);
    drop(db, schema);
}
END_TEST

/* Whether the plan that the session keeps for touching finds its rows by the index. */
static bool touches_by_index(hf_db *db)
{
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = true;
    bool found = false;
    hf_slice line;

    ok(hf_db_query_text(db, "EXPLAIN EXECUTE scratch_touch('{1}')", NULL, 0, &cursor, &err), &err);
    for (;;) {
        ok(hf_db_step(cursor, &row, &err), &err);
        if (!row)
            break;
        line = hf_db_column_bytes(cursor, 0);
        found |= memmem(line.ptr, line.len, "Index Cond", 10) != NULL;
    }
    hf_db_end(cursor);
    return found;
}

/* A plan that was made while the table was known to be empty reads it as a whole. It does not
   outlive the growth of the table. */
START_TEST(plans_follow_the_growth_of_a_table)
{
    enum { COUNT = 1000, BATCHES = 30 };
    char schema[40];
    hf_db *db = open_scratch(schema);
    hf_err err = {0};
    hf_db_value *cells = hf_alloc_array(COUNT * 4, sizeof(*cells));
    const hf_db_value key = hf_db_int(1);
    const hf_db_rows touch = {.columns = 1, .count = 1, .cells = &key};

    ok(hf_db_script(db, "CREATE INDEX scratch_i ON scratch (i); ANALYZE scratch", &err), &err);
    ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
    ok(db->driver->batch(db, (hf_stmt)SCRATCH_TOUCH, &touch, &err), &err);
    ok(hf_db_commit(db, &err), &err);
    ck_assert(!touches_by_index(db));
    for (int64_t at = 0; at < (int64_t)BATCHES * COUNT;) {
        for (size_t i = 0; i < COUNT; i++, at++) {
            cells[i * 4] = hf_db_int(at);
            cells[i * 4 + 1] = hf_db_text(HF_SLICE("row"));
            cells[i * 4 + 2] = hf_db_null(HF_DB_BLOB);
            cells[i * 4 + 3] = hf_db_real(0);
        }
        ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
        ok(insert_rows(db, cells, COUNT, NULL, &err), &err);
        ok(hf_db_commit(db, &err), &err);
    }
    ck_assert(touches_by_index(db));
    hf_alloc_free(cells);
    drop(db, schema);
}
END_TEST

static void run_insert(hf_db *db, int key, const char *head)
{
    char sql[300];
    hf_err err = {0};

    (void)snprintf(
        sql, sizeof(sql),
        "INSERT INTO run (key, instance, number, status, last_seq, head, last_us, "
        "history_bytes, command_seq,"
        " message_seq, message_cursor, created_us, queue) VALUES (%d, %d, 1, 0, 0, '%s', 0, 0, "
        "0, 0, 0, 0, 'default')",
        key, key, head);
    ok(hf_db_script(db, sql, &err), &err);
}

/* Rows whose guard does not hold are not inserted. A statement that cannot say which rows it
   applied is an error as soon as somebody asks and the count is off. */
START_TEST(guards_decide_what_is_inserted)
{
    char schema[40];
    hf_db *db = open_store(schema);
    hf_err err = {0};
    const int64_t runs[] = {1, 2, 3};
    const hf_slice heads[] = {HF_SLICE("aa"), HF_SLICE("stale"), HF_SLICE("cc")};
    hf_db_value cells[3 * 7];
    uint8_t flags[3];
    hf_db_rows rows = {
        .columns = 7, .count = 3, .cells = cells, .guard_runs = runs, .guard_heads = heads};

    run_insert(db, 1, "aa");
    run_insert(db, 2, "bb");
    run_insert(db, 3, "cc");
    for (size_t i = 0; i < 21; i++)
        cells[i] = history_cell(i % 7, (int64_t)(i / 7) + 1, (int64_t)(i / 7) + 1, 1);
    ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
    ok(hf_db_batch(db, HF_STMT_HISTORY_APPEND, &rows, &err), &err);
    ok(hf_db_commit(db, &err), &err);
    ck_assert_int_eq(number_of(db, "SELECT sum(run) FROM history"), 4);

    rows.flags = flags;
    for (size_t i = 0; i < 21; i++)
        cells[i] = history_cell(i % 7, (int64_t)(i / 7) + 11, (int64_t)(i / 7) + 1, 2);
    ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
    ok(hf_db_batch(db, HF_STMT_HISTORY_APPEND, &rows, &err), &err);
    fails(hf_db_flush(db, &err), HF_ERROR, &err, "history_append: 2 of 3 rows");
    fails(hf_db_commit(db, &err), HF_ERROR, &err, "history_append: 2 of 3 rows");
    ck_assert_int_eq(number_of(db, "SELECT count(*) FROM history"), 2);
    drop(db, schema);
}
END_TEST

/* The first error of a pipeline is reported with the statement it belongs to; what came before is
   undone, what came after did not run and was not taken for prepared, and the connection works on.
 */
START_TEST(error_in_a_pipeline_names_its_statement)
{
    char schema[40];
    hf_db *db = open_store(schema);
    hf_err err = {0};
    const int64_t run = 1;
    const hf_slice head = HF_SLICE("aa");
    hf_db_value cells[7];
    const hf_db_value closing[] = {hf_db_int(1), hf_db_int(5), hf_db_int(1)};
    hf_db_rows rows = {
        .columns = 7, .count = 1, .cells = cells, .guard_runs = &run, .guard_heads = &head};
    hf_db_rows marks = {
        .columns = 3, .count = 1, .cells = closing, .guard_runs = &run, .guard_heads = &head};

    run_insert(db, 1, "aa");
    for (size_t i = 0; i < 7; i++)
        cells[i] = history_cell(i, 1, 1, 1);
    for (int round = 0; round < 3; round++) {
        ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
        ok(hf_db_batch(db, HF_STMT_HISTORY_APPEND, &rows, &err), &err);
        ok(hf_db_batch(db, HF_STMT_HISTORY_APPEND, &rows, &err), &err);
        ok(hf_db_batch(db, HF_STMT_RUN_MARK, &marks, &err), &err);
        if (round == 0) {
            fails(hf_db_commit(db, &err), HF_CONSTRAINT, &err, "history_append: duplicate key");
            ck_assert(strstr(err.text, "run_mark") == NULL);
        } else if (round == 1) {
            hf_db_rollback(db); /* nobody has seen the error yet */
        } else {
            fails(hf_db_flush(db, &err), HF_CONSTRAINT, &err, "history_append: duplicate key");
            ck_assert(hf_db_in_transaction(db));
            ok(hf_db_batch(db, HF_STMT_RUN_MARK, &marks, &err), &err);
            fails(hf_db_flush(db, &err), HF_CONSTRAINT, &err, "history_append: duplicate key");
            hf_db_rollback(db);
        }
        ck_assert(!hf_db_in_transaction(db));
        ck_assert_int_eq(number_of(db, "SELECT count(*) FROM history"), 0);
    }
    ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
    ok(hf_db_batch(db, HF_STMT_RUN_MARK, &marks, &err), &err);
    ok(hf_db_batch(db, HF_STMT_HISTORY_APPEND, &rows, &err), &err);
    ok(hf_db_commit(db, &err), &err);
    ck_assert_int_eq(number_of(db, "SELECT count(*) FROM history"), 1);
    ck_assert_int_eq(number_of(db, "SELECT blocked FROM run"), 5);
    drop(db, schema);
}
END_TEST

static hf_status scratch_write(hf_db *db, int64_t key, bool broken)
{
    const hf_db_value cells[] = {hf_db_int(key), hf_db_null(HF_DB_TEXT), hf_db_null(HF_DB_BLOB),
                                 hf_db_null(HF_DB_REAL)};
    const hf_db_rows rows = {.columns = 1, .count = 1, .cells = cells};
    hf_err err = {0};

    ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
    if (broken)
        ok(db->driver->batch(db, (hf_stmt)SCRATCH_BROKEN, &rows, &err), &err);
    return insert_rows(db, cells, 1, NULL, &err);
}

static hf_status touch_first(hf_db *db, hf_err *err)
{
    const hf_db_value key = hf_db_int(1);
    const hf_db_rows rows = {.columns = 1, .count = 1, .cells = &key};

    return db->driver->batch(db, (hf_stmt)SCRATCH_TOUCH, &rows, err);
}

/* A transaction that is begun behind a COMMIT without waiting for its answer: each fails for
   itself, but the second is over with the first. */
START_TEST(the_next_is_begun_behind_a_commit)
{
    char schema[40];
    hf_db *db = open_scratch(schema);
    hf_err err = {0};
    int64_t rows = 0;

    for (int broken = 0; broken < 4; broken++) { /* none, the first, the second, both */
        bool first = broken & 1;
        bool second = broken & 2;

        ok(scratch_write(db, 1, first), &err);
        ok(hf_db_commit_send(db, &err), &err);
        ok(scratch_write(db, 2, second), &err);
        ck_assert_int_eq(hf_db_begin(db, HF_DB_WRITE, &err), HF_MISUSE);
        if (first)
            fails(hf_db_commit_end(db, &err), HF_INVALID, &err, "scratch_broken");
        else
            ok(hf_db_commit_end(db, &err), &err);
        ck_assert_int_eq(hf_db_in_transaction(db), !first);
        if (first)
            ck_assert_int_eq(hf_db_commit(db, &err), HF_MISUSE);
        else if (second)
            fails(hf_db_commit(db, &err), HF_INVALID, &err, "scratch_broken");
        else
            ok(hf_db_commit(db, &err), &err);
        rows += first ? 0 : second ? 1 : 2;
        ck_assert_int_eq(number_of(db, "SELECT count(*) FROM scratch"), rows);
    }
    ok(scratch_write(db, 1, false), &err);
    ok(hf_db_commit_send(db, &err), &err);
    ok(scratch_write(db, 2, false), &err);
    ok(hf_db_commit_end(db, &err), &err);
    hf_db_rollback(db);
    ck_assert_int_eq(number_of(db, "SELECT count(*) FROM scratch"), rows + 1);
    drop(db, schema);
}
END_TEST

/* Who waits for the answer to a COMMIT can be called away from it, and come back. */
START_TEST(waiting_for_a_commit_can_be_broken_off)
{
    char schema[40];
    hf_db *db = open_scratch(schema);
    hf_db *other = open_scratch_again(schema);
    int fds[2];
    hf_err err = {0};

    ck_assert_int_eq(pipe(fds), 0);
    ok(scratch_write(db, 1, false), &err);
    ok(hf_db_commit_send(db, &err), &err);
    ck_assert(hf_db_commit_await(db, fds[0])); /* the answer comes first */
    ok(hf_db_commit_end(db, &err), &err);
    ok(hf_db_begin(other, HF_DB_WRITE, &err), &err);
    ok(touch_first(other, &err), &err); /* holds the row */
    ok(hf_db_flush(other, &err), &err);
    ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
    ok(touch_first(db, &err), &err);
    ok(hf_db_commit_send(db, &err), &err);
    ck_assert_int_eq(write(fds[1], "x", 1), 1);
    ck_assert(!hf_db_commit_await(db, fds[0]));
    ok(scratch_write(db, 2, false), &err);
    ok(hf_db_commit(other, &err), &err);
    ok(hf_db_commit_end(db, &err), &err);
    ok(hf_db_commit(db, &err), &err);
    ck_assert_int_eq(number_of(db, "SELECT count(*) FROM scratch"), 2);
    (void)close(fds[0]);
    (void)close(fds[1]);
    hf_db_close(other);
    drop(db, schema);
}
END_TEST

/* A savepoint saves what came before it from an error behind it; the transaction goes on and
 * commits. */
START_TEST(savepoint_isolates_a_failure)
{
    char schema[40];
    hf_db *db = open_scratch(schema);
    hf_err err = {0};
    const hf_db_value cells[] = {hf_db_int(1), hf_db_null(HF_DB_TEXT), hf_db_null(HF_DB_BLOB),
                                 hf_db_null(HF_DB_REAL)};
    const hf_db_rows broken = {.columns = 1, .count = 1, .cells = cells};
    hf_db_cursor *cursor = NULL;

    for (int flushed = 0; flushed < 2; flushed++) {
        ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
        ok(insert_rows(db, cells, 1, NULL, &err), &err);
        ok(hf_db_savepoint(db, &err), &err);
        ok(insert_rows(db, cells, 1, NULL, &err), &err);
        ok(db->driver->batch(db, (hf_stmt)SCRATCH_BROKEN, &broken, &err), &err);
        if (flushed)
            fails(hf_db_flush(db, &err), HF_INVALID, &err, "scratch_broken: division by zero");
        ok(hf_db_rollback_to(db, &err), &err);
        ok(hf_db_savepoint(db, &err), &err);
        ok(insert_rows(db, cells, 1, NULL, &err), &err);
        ok(hf_db_release(db, &err), &err);
        ok(hf_db_commit(db, &err), &err);
        ck_assert_int_eq(number_of(db, "SELECT count(*) FROM scratch"), 2 * (flushed + 1));
    }
    /* Without a savepoint there is nothing to roll back to, and the transaction is lost. */
    ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
    fails(hf_db_rollback_to(db, &err), HF_ERROR, &err, "savepoint");
    fails(hf_db_query_text(db, "SELECT 1", NULL, 0, &cursor, &err), HF_ERROR, &err, "savepoint");
    fails(hf_db_commit(db, &err), HF_ERROR, &err, "savepoint");
    ck_assert(!hf_db_in_transaction(db));
    drop(db, schema);
}
END_TEST

/* `count` statements without a flush, each with `bytes` to send and twenty times that to answer. */
static void pipeline_fill(size_t count, size_t bytes)
{
    char schema[40];
    hf_db *db = open_scratch(schema);
    hf_err err = {0};
    char *text = hf_alloc(bytes);
    const hf_db_value cell = hf_db_text(hf_slice_from(text, bytes));
    uint8_t *flags = hf_alloc(count);
    size_t applied = 0;

    memset(text, 'x', bytes);
    ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
    for (size_t i = 0; i < count; i++) {
        const hf_db_rows rows = {.columns = 1, .count = 1, .cells = &cell, .flags = &flags[i]};

        ok(db->driver->batch(db, (hf_stmt)SCRATCH_ECHO, &rows, &err), &err);
    }
    ok(hf_db_commit(db, &err), &err);
    for (size_t i = 0; i < count; i++)
        applied += flags[i] == HF_DB_APPLIED;
    ck_assert_uint_eq(applied, count);
    hf_alloc_free(flags);
    hf_alloc_free(text);
    drop(db, schema);
}

/* More statements than are ever in flight at once. */
START_TEST(long_pipeline_does_not_deadlock)
{
    pipeline_fill(5000, 1000);
}
END_TEST

/* More bytes in both directions than the sockets hold: who sends without reading would wait for
 * ever. */
START_TEST(wide_pipeline_does_not_deadlock)
{
    pipeline_fill(40, 500000);
}
END_TEST

/* What the server reports becomes the status that the writer acts on. */
START_TEST(server_errors_have_statuses)
{
    static const struct {
        const char *sqlstate;
        hf_status status;
    } rows[] = {{"40001", HF_RETRY},      {"40P01", HF_RETRY},   {"23505", HF_CONSTRAINT},
                {"22021", HF_INVALID},    {"22001", HF_TOOBIG},  {"54000", HF_TOOBIG},
                {"53100", HF_FULL},       {"53200", HF_BUSY},    {"25006", HF_READONLY},
                {"42501", HF_DENIED},     {"XX001", HF_CORRUPT}, {"XX002", HF_CORRUPT},
                {"57014", HF_TIMEOUT},    {"55P03", HF_BUSY},    {"58030", HF_IO},
                {"0A000", HF_ERROR},      {"28P01", HF_DENIED},  {"08P01", HF_ERROR},
                {"08006", HF_UNREACHABLE}};
    char schema[40];
    hf_db *db = open_scratch(schema);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char sql[120];
        hf_err err = {0};

        (void)snprintf(sql, sizeof(sql),
                       "DO $$ BEGIN RAISE EXCEPTION 'made up' USING ERRCODE = '%s'; END $$",
                       rows[i].sqlstate);
        fails(hf_db_script(db, sql, &err), rows[i].status, &err, rows[i].sqlstate);
    }
    drop(db, schema);
}
END_TEST

/* A script that fails inside a transaction takes the transaction with it. */
START_TEST(script_failure_ends_the_transaction)
{
    char schema[40];
    hf_db *db = open_scratch(schema);
    hf_err err = {0};

    ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
    ok(hf_db_script(db, "INSERT INTO scratch (i) VALUES (1); INSERT INTO scratch (i) VALUES (2)",
                    &err),
       &err);
    ok(hf_db_commit(db, &err), &err);
    ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
    fails(hf_db_script(db, "INSERT INTO scratch (i) VALUES (3); SELECT nothing", &err), HF_ERROR,
          &err, "nothing");
    fails(hf_db_commit(db, &err), HF_ERROR, &err, "script");
    ck_assert_int_eq(number_of(db, "SELECT count(*) FROM scratch"), 2);
    drop(db, schema);
}
END_TEST

/* The session is durable whatever the address or the role say, and the clock is the server's. */
START_TEST(session_is_set_up)
{
    char schema[40];
    char address[200];
    hf_db *db = open_scratch(schema);
    hf_db_options options = options_of(schema);
    hf_err err = {0};
    hf_db *other;
    int64_t us = 0;

    (void)snprintf(address, sizeof(address), "%s?options=-c%%20synchronous_commit%%3Doff",
                   options.address);
    options.address = address;
    other = open_with(&options);
    ck_assert_int_eq(number_of(other, "SELECT (current_setting('synchronous_commit') = 'on')::int"),
                     1);
    ck_assert_int_eq(number_of(other, "SELECT (current_setting('TimeZone') = 'UTC')::int"), 1);
    ck_assert_int_eq(
        number_of(other, "SELECT (current_setting('application_name') = 'holdfast')::int"), 1);
    ok(hf_db_now(other, &us, &err), &err);
    ck_assert_int_lt(llabs(us / 1000000 - (int64_t)time(NULL)), 5);
    fails(hf_db_backup(other, "x", NULL, NULL, &err), HF_MISUSE, &err, "pg_dump");
    hf_db_close(other);
    drop(db, schema);
}
END_TEST

/* A hint reaches the listener with its payload, and only the schema it was meant for. */
START_TEST(notifications_arrive)
{
    char schema[40];
    hf_db *db = open_scratch(schema);
    hf_db_options options = options_of(schema);
    hf_err err = {0};
    hf_slice payload = {0};
    hf_db *listener = open_with(&options);
    char big[8001];

    ok(hf_db_listen(listener, &err), &err);
    ck_assert_int_eq(hf_db_notified(listener, 0, &payload, &err), HF_TIMEOUT);
    ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
    ok(hf_db_notify(db, HF_SLICE("shard 7"), &err), &err);
    ok(hf_db_notify(db, HF_SLICE(""), &err), &err);
    ok(hf_db_notified(listener, 5000, &payload, &err), &err);
    ck_assert(hf_slice_equal(payload, HF_SLICE("shard 7")));
    ok(hf_db_notified(listener, 5000, &payload, &err), &err);
    ck_assert(hf_slice_equal(payload, HF_SLICE("")));
    hf_db_rollback(db);
    memset(big, 'x', sizeof(big));
    fails(hf_db_notify(db, hf_slice_from(big, sizeof(big)), &err), HF_TOOBIG, &err, "8001");
    ok(hf_db_reconnect(listener, &err), &err); /* it listens again by itself */
    ok(hf_db_notify(db, HF_SLICE("again"), &err), &err);
    ok(hf_db_notified(listener, 5000, &payload, &err), &err);
    ck_assert(hf_slice_equal(payload, HF_SLICE("again")));
    hf_db_close(listener);
    drop(db, schema);
}
END_TEST

static void finding_add(void *ctx, const char *sentence)
{
    hf_buf_add_text(ctx, sentence);
    hf_buf_add_text(ctx, ". ");
}

/* The engine's own check is silent on a fresh store and names what is missing or not validated. */
START_TEST(check_names_what_is_wrong)
{
    char schema[40];
    hf_db *db = open_store(schema);
    hf_err err = {0};
    hf_buf found = {0};

    ok(hf_db_check(db, finding_add, &found, &err), &err);
    ck_assert_str_eq(hf_buf_text(&found), "");
    ok(hf_db_script(db,
                    "DROP INDEX history_run; ALTER TABLE meta ADD CONSTRAINT late CHECK (name <> "
                    "'') NOT VALID;"
                    "DROP INDEX run_open; CREATE INDEX run_open ON run (instance)",
                    &err),
       &err);
    ok(hf_db_check(db, finding_add, &found, &err), &err);
    ck_assert_ptr_nonnull(strstr(hf_buf_text(&found), "unique index history_run is missing"));
    ck_assert_ptr_nonnull(strstr(hf_buf_text(&found), "unique index run_open is missing"));
    ck_assert_ptr_nonnull(
        strstr(hf_buf_text(&found), "constraint late of table meta is not validated"));
    hf_buf_fini(&found);
    drop(db, schema);
}
END_TEST

#ifdef HF_FAULT
/* Open, write, read and close, with each allocation failing once: always HF_NOMEM, never a half
 * state. */
START_TEST(every_allocation_may_fail)
{
    char schema[40];
    hf_db *keeper = open_scratch(schema);
    hf_db_options options = options_of(schema);
    const hf_db_value cells[] = {hf_db_int(1), hf_db_text(HF_SLICE("t")), hf_db_null(HF_DB_BLOB),
                                 hf_db_real(1)};
    int64_t nth = 0;
    bool failed = true;
    int committed = 0;

    options.statements = scratch;
    options.statement_count = SCRATCH_COUNT;
    while (failed) {
        hf_err err = {0};
        hf_db *db = NULL;
        hf_db_cursor *cursor = NULL;
        bool row = false;
        hf_status st;

        hf_fault_arm(HF_FAULT_ALLOC, ++nth, false);
        st = hf_db_open(keeper->driver, &options, &db, &err);
        if (!st)
            st = hf_db_begin(db, HF_DB_WRITE, &err);
        if (!st)
            st = insert_rows(db, cells, 1, NULL, &err);
        if (!st)
            st = db->driver->query(db, (hf_stmt)SCRATCH_BROKEN, NULL, 0, &cursor, &err) == HF_NOMEM
                     ? HF_NOMEM
                     : HF_OK;
        if (!st && db) {
            hf_db_rollback(db);
            st = hf_db_begin(db, HF_DB_WRITE, &err);
        }
        if (!st)
            st = insert_rows(db, cells, 1, NULL, &err);
        if (!st)
            st =
                hf_db_query_text(db, "SELECT i FROM scratch WHERE i = ?1", cells, 1, &cursor, &err);
        if (!st)
            st = hf_db_step(cursor, &row, &err);
        hf_db_end(cursor);
        if (!st)
            st = hf_db_commit(db, &err);
        committed += st == HF_OK;
        failed = hf_fault_seen(HF_FAULT_ALLOC) >= nth;
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_msg(st == (failed ? HF_NOMEM : HF_OK), "allocation %d: %s: %s", (int)nth,
                      hf_strstatus(st), err.text);
        if (db && st) {
            hf_db_rollback(db);
            ck_assert_int_eq(number_of(db, "SELECT 1"), 1);
        }
        hf_db_close(db);
        ck_assert_int_eq(number_of(keeper, "SELECT count(*) FROM scratch"), committed);
    }
    ck_assert_int_gt(nth, 5);
    ck_assert_int_eq(committed, 1);
    drop(keeper, schema);
}
END_TEST

#define FAULT_CASES {every_allocation_may_fail, 0},
#else
#define FAULT_CASES
#endif

HF_PG_SUITE_MAIN("store/pg", {encodes_every_type, 0}, {flags_tell_which_rows_applied, 0},
                 {plans_follow_the_growth_of_a_table, 60}, {guards_decide_what_is_inserted, 0},
                 {error_in_a_pipeline_names_its_statement, 0},
                 {the_next_is_begun_behind_a_commit, 0},
                 {waiting_for_a_commit_can_be_broken_off, 0}, {savepoint_isolates_a_failure, 0},
                 {long_pipeline_does_not_deadlock, 120}, {wide_pipeline_does_not_deadlock, 60},
                 {server_errors_have_statuses, 0}, {script_failure_ends_the_transaction, 0},
                 {session_is_set_up, 0}, {notifications_arrive, 0},
                 FAULT_CASES{check_names_what_is_wrong, 0})
