/* Rows that two operations can write: whichever is chosen, what stands there is what was given. */
#include "store/row.h"

#include "lib/engine.h"
#include "lib/world.h"

static hf_err err;

static void ok(hf_status st, const char *doing)
{
    hf_test_ok(st, &err, doing);
}

static void row_check(hf_db *db, const hf_activity_row *row)
{
    static const char text[] =
        "SELECT run, step, status, attempt, max_attempts, lost_attempts, scheduled_us, started_us,"
        " deadline_us, close_deadline_us, closed_us, available_us, type, policy"
        " FROM activity WHERE key = ?1";
    const int64_t numbers[] = {row->run,          row->step,
                               row->status,       row->attempt,
                               row->max_attempts, row->lost_attempts,
                               row->scheduled_us, row->started_us,
                               row->deadline_us,  row->close_deadline_us,
                               row->closed_us,    row->available_us};
    const size_t count = sizeof(numbers) / sizeof(numbers[0]);
    const hf_db_value key = hf_db_int(row->key);
    hf_db_cursor *cursor = NULL;
    bool found = false;

    ok(hf_db_query_text(db, text, &key, 1, &cursor, &err), "ask");
    ok(hf_db_step(cursor, &found, &err), "read");
    ck_assert(found);
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq(hf_db_column_null(cursor, i), numbers[i] == HF_NONE);
        if (numbers[i] != HF_NONE)
            ck_assert_int_eq(hf_db_column_int(cursor, i), numbers[i]);
    }
    ck_assert(hf_slice_equal(hf_db_column_bytes(cursor, count), row->type));
    ck_assert_int_eq(hf_db_column_null(cursor, count + 1), !row->policy.ptr);
    if (row->policy.ptr)
        ck_assert(hf_slice_equal(hf_db_column_bytes(cursor, count + 1), row->policy));
    hf_db_end(cursor);
}

static hf_unit *note(const hf_world_run *run)
{
    hf_unit *unit = hf_unit_new(NULL, NULL);

    hf_unit_append(unit, &run->base, HF_NONE, HF_REBASE_NEVER);
    hf_event_begin(hf_unit_events(unit, 0), HF_EVENT_NOTE_RECORDED, run->base.last_us, 0);
    return unit;
}

static void unit_commit(hf_world *world, hf_unit *unit)
{
    ok(hf_unit_seal(unit, &world->stager, &err), "seal");
    ok(hf_writer_commit(world->writer, unit, &err), "commit");
    hf_unit_free(unit);
}

/* One that begins is written with few columns; each of the others differs in one of those that are
   left out. */
HF_BOTH_ENGINES(activities_are_what_they_were_given_as)
{
    const hf_activity_row begins = {.type = HF_SLICE("charge"),
                                    .status = HF_ACTIVITY_STATUS_RUNNING,
                                    .attempt = 1,
                                    .max_attempts = 3,
                                    .deadline_us = HF_NONE,
                                    .close_deadline_us = HF_NONE,
                                    .available_us = HF_NONE,
                                    .scheduled_us = 7,
                                    .started_us = 7,
                                    .closed_us = HF_NONE};
    hf_activity_row rows[12];
    const size_t count = sizeof(rows) / sizeof(rows[0]);
    hf_test_place *place = hf_test_place_new(kind);
    hf_world world;
    hf_world_run run;
    hf_unit *unit;
    hf_db *db = NULL;

    ok(hf_world_open(&world, hf_test_place_address(place), NULL, &err), "open the world");
    ok(hf_world_start(&world, "order-1", &run, &err), "start");
    for (size_t i = 0; i < count; i++) {
        rows[i] = begins;
        rows[i].key = 1000 + (int64_t)i;
        rows[i].run = run.base.run;
        rows[i].step = 100 + (int64_t)i;
    }
    rows[1].status = HF_ACTIVITY_STATUS_PENDING;
    rows[2].attempt = 2;
    rows[3].lost_attempts = 1;
    rows[4].started_us = 8;
    rows[5].started_us = HF_NONE;
    rows[6].deadline_us = 9;
    rows[7].close_deadline_us = 9;
    rows[8].available_us = 9;
    rows[9].closed_us = 9;
    rows[10].policy = HF_SLICE("{}");
    rows[11].max_attempts = HF_NONE; /* this column is written */
    unit = note(&run);
    for (size_t i = 0; i < count; i++) {
        hf_row *row = hf_row_activity_new(hf_unit_mem(unit), &rows[i]);

        ck_assert_int_eq(row->op, i == 0 || i == 11 ? HF_OP_ACTIVITY_BEGIN : HF_OP_ACTIVITY_NEW);
        hf_unit_row(unit, 0, row);
    }
    unit_commit(&world, unit);
    ok(hf_store_connect(world.store, HF_DB_READ, &db, &err), "connect");
    for (size_t i = 0; i < count; i++)
        row_check(db, &rows[i]);
    hf_db_close(db);
    ok(hf_world_reload(&world, &run, &err), "reload");
    unit = note(&run); /* history knows nothing of them */
    for (size_t i = 0; i < count; i++)
        hf_unit_row(unit, 0, hf_row_delete(hf_unit_mem(unit), HF_OP_ACTIVITY_DELETE, rows[i].key));
    unit_commit(&world, unit);
    hf_world_close(&world);
    hf_test_place_free(place);
}

HF_PG_SUITE_MAIN("store/row", HF_BOTH(activities_are_what_they_were_given_as))
