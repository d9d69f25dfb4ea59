/* test_folder.c: folds of many runs at once: they give what folding each alone gives, whatever
   state the runs are in, a few runs at a time when there is much to fold, and without memory
   nothing but a failure. That what is stored equals a fold of all history is checked for every
   store that a test leaves (lib/check_store.h). */
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "engine/engine_impl.h"
#include "holdfast/view.h"
#include "lib/forge.h"
#include "lib/kit.h"
#include "project/projection.h"

enum { RUNS = 24 };

static hf_err err;

static hf_value act_refuse(hf_act *a, hf_value in)
{
    (void)in;
    return hf_reject(a, "declined", "the limit of 7 is reached");
}

static hf_value act_pass(hf_act *a, hf_value in)
{
    (void)a;
    return in;
}

/* Every third run stays open, every third one fails. */
static hf_value order(hf_ctx *w, hf_value in)
{
    int64_t nth = hf_int(in, "nth", 0);

    for (int64_t i = 0; i <= nth; i++)
        (void)hf_activity(w, "pass", in);
    if (nth % 3 == 1)
        return hf_receive(w, "go");
    return hf_activity(w, nth % 3 ? "refuse" : "pass", in);
}

static const hf_signal_def go[] = {{"go", NULL}, {0}};
static const hf_activity_def activities[] = {
    {.name = "refuse", .run = act_refuse}, {.name = "pass", .run = act_pass}, {0}};
static const hf_workflow_def workflows[] = {{.type = "order", .run = order, .signals = go}, {0}};
static const hf_app app = {.name = "test", .workflows = workflows, .activities = activities};

/* Runs of all kinds; those with an even number have no summary, or one that knows less. */
static void runs_make(hf_engine *d)
{
    char id[16];

    for (int i = 0; i < RUNS; i++) {
        (void)snprintf(id, sizeof(id), "o%d", i);
        hf_kit_ok(d, hf_start(d, "order", hf_json(d, "{'nth': %d}", i), .id = id,
                              .labels = "{\"a\":\"b\"}"));
    }
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_sql(d,
               "DELETE FROM run_projection WHERE run IN (SELECT key FROM run WHERE key % 4 = 0)");
    hf_kit_sql(d, "UPDATE run_summary SET folded_seq = 0, settled = 0 WHERE run % 6 = 0");
}

/* All runs, and one that does not exist. */
static size_t tasks_make(hf_engine *d, hf_projection_task *tasks)
{
    hf_db_value params[] = {hf_db_int(0), hf_db_int(RUNS)};
    hf_db_cursor *cursor = NULL;
    bool row = true;
    size_t count = 0;

    hf_test_ok(hf_db_query(hf_store_writer(d->store), HF_STMT_FOLD_RUNS, params, 2, &cursor, &err),
               &err, "list runs");
    for (;;) {
        hf_test_ok(hf_db_step(cursor, &row, &err), &err, "list runs");
        if (!row)
            break;
        tasks[count] = (hf_projection_task){.run = hf_db_column_int(cursor, 0), .whole = count % 2};
        count++;
    }
    hf_db_end(cursor);
    ck_assert_uint_eq(count, RUNS);
    tasks[count++] = (hf_projection_task){.run = INT64_C(1) << 40};
    return count;
}

static void rows_same(const hf_row *a, const hf_row *b)
{
    for (; a && b; a = a->next, b = b->next) {
        ck_assert_int_eq(a->op, b->op);
        for (size_t i = 0; i < hf_op_infos[a->op].cells; i++) {
            ck_assert_int_eq(a->cells[i].null, b->cells[i].null);
            ck_assert_int_eq(a->cells[i].number, b->cells[i].number);
            ck_assert(hf_slice_equal(a->cells[i].bytes, b->cells[i].bytes));
        }
    }
    ck_assert(!a && !b);
}

/* Several runs together get the rows that each of them gets alone. */
HF_BOTH_ENGINES(runs_together_are_folded_as_each_alone)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_db *db = hf_store_writer(d->store);
    hf_mem *mem = hf_mem_new();
    hf_projection_task tasks[RUNS + 1];
    size_t changed = 0;
    size_t done = 0;
    size_t count;

    runs_make(d);
    count = tasks_make(d, tasks);
    hf_test_ok(hf_projection_catch_up_all(db, mem, tasks, count, SIZE_MAX, &done, &err), &err,
               "fold runs");
    ck_assert_uint_eq(done, count);
    ck_assert_int_eq(tasks[RUNS].err.status, HF_NOTFOUND);
    for (size_t i = 0; i < RUNS; i++) {
        hf_projection_change alone;

        hf_test_ok(tasks[i].err.status, &tasks[i].err, "fold a run");
        hf_test_ok(
            hf_projection_catch_up(db, mem, tasks[i].run, tasks[i].whole, false, &alone, &err),
            &err, "fold a run");
        ck_assert_int_eq(alone.events, tasks[i].change.events);
        ck_assert_int_eq(alone.summary, tasks[i].change.summary);
        ck_assert_int_eq(alone.log, tasks[i].change.log);
        rows_same(alone.rows, tasks[i].change.rows);
        changed += alone.rows != NULL;
    }
    ck_assert_uint_gt(changed, RUNS / 2);
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* A transaction takes as many runs as fit, and at least one. */
HF_BOTH_ENGINES(much_to_fold_is_folded_in_portions)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_projection_task tasks[RUNS + 1];
    size_t count;
    size_t at = 0;
    size_t portions = 0;

    runs_make(d);
    count = tasks_make(d, tasks);
    for (size_t i = 0; i < count; i++)
        tasks[i].anew = true;
    while (at < count) {
        size_t done = 0;

        hf_test_ok(hf_projection_catch_up_all(hf_store_writer(d->store), mem, tasks + at,
                                              count - at, 1, &done, &err),
                   &err, "fold runs");
        ck_assert_uint_ge(done, 1);
        at += done;
        portions++;
    }
    ck_assert_uint_ge(portions, RUNS);
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* Whichever allocation fails: the failure is said, of all runs or of one, and the next time all of
   them are folded. */
START_TEST(folding_without_memory)
{
    hf_engine *d = hf_kit_open(HF_ENGINE_SQLITE, &app);
    bool more = true;

    runs_make(d);
    for (int64_t nth = 1; more; nth++) {
        hf_mem *mem = hf_mem_new();
        hf_projection_task tasks[RUNS + 1];
        size_t count = tasks_make(d, tasks);
        size_t done = 0;
        bool failed;
        hf_status st;

        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_projection_catch_up_all(hf_store_writer(d->store), mem, tasks, count, SIZE_MAX,
                                        &done, &err);
        more = hf_fault_seen(HF_FAULT_ALLOC) >= nth;
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        failed = st == HF_NOMEM;
        ck_assert(st == HF_OK || failed);
        for (size_t i = 0; i < done; i++)
            failed |= tasks[i].err.status == HF_NOMEM;
        ck_assert_msg(failed == more, "allocation %d", (int)nth);
        hf_mem_free(mem);
    }
    hf_kit_close(d);
}
END_TEST

/* How many runs a list of those with a label has. */
static int64_t listed(hf_engine *d, const char *label)
{
    hf_value page = NULL;

    hf_kit_ok(d, hf_list_runs(d, hf_json(d, "{'filters': {'labels': {'a': %s}}}", label),
                              hf_mem_of_engine(d), &page));
    return (int64_t)hf_len(hf_get(page, "items"));
}

/* Runs of a program, the third of them with a label of its own. */
static void runs_begin(hf_engine *d, char letter)
{
    char id[16];

    for (int i = 0; i < 6; i++) {
        (void)snprintf(id, sizeof(id), "%c%d", letter, i);
        hf_kit_ok(d, hf_start(d, "order", hf_json(d, "{'nth': 1}"), .id = id,
                              .labels = i == 2 ? "{\"a\":\"bad\"}" : "{\"a\":\"b\"}"));
    }
    hf_kit_ok(d, hf_test_drain(d));
}

/* The database takes no row with the label bad from now on; or it does again. */
static void label_refuse(hf_engine *d, bool refuse)
{
    if (refuse) {
        hf_kit_sql(d, "CREATE UNIQUE INDEX n07 ON run_label (value) WHERE value = 'bad'");
        hf_kit_sql(d, "INSERT INTO run_label (run, name, value) VALUES (999999, 'n07', 'bad')");
    } else {
        hf_kit_sql(d, "DELETE FROM run_label WHERE run = 999999");
        hf_kit_sql(d, "DROP INDEX n07");
    }
}

static int64_t aside(hf_engine *d)
{
    hf_value metrics = NULL;

    hf_kit_ok(d, hf_metrics(d, hf_mem_of_engine(d), &metrics));
    return hf_int(metrics, "projections.folder.set_aside_runs", -1);
}

/* A run whose rows cannot be written is set aside and counted; those beside it and those that come
   after it are folded. It is folded when it moves on and nothing is in the way any more. */
HF_BOTH_ENGINES(n07_a_run_that_cannot_be_folded_is_set_aside)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value health = NULL;

    label_refuse(d, true);
    runs_begin(d, 'x');
    ck_assert_int_eq(listed(d, "b"), 5);
    ck_assert_int_eq(listed(d, "bad"), 0);
    ck_assert_int_eq(aside(d), 1);
    runs_begin(d, 'y');
    ck_assert_int_eq(listed(d, "b"), 10);
    ck_assert_int_eq(aside(d), 2);
    hf_kit_ok(d, hf_health(d, hf_mem_of_engine(d), &health));
    ck_assert_msg(strstr(hf_show(d, health), "cannot be folded") != NULL, "%s", hf_show(d, health));
    label_refuse(d, false);
    hf_kit_ok(d, hf_signal(d, "x2", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(listed(d, "bad"), 1);
    ck_assert_int_eq(aside(d), 1);
    d = hf_kit_reopen(d, NULL); /* the next start finds the other one */
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(listed(d, "bad"), 2);
    ck_assert_int_eq(aside(d), 0);
    hf_kit_close(d);
}

static void attribute_forge(hf_forge *forge)
{
    hf_event *event = hf_forge_find(forge, HF_EVENT_WORKFLOW_STARTED, 0);

    for (size_t i = 0; i < event->count; i++)
        if (event->fields[i].key == HF_KEY_SEARCH_ATTRIBUTES)
            event->fields[i].payload = hf_payload_inline(
                event->fields[i].payload.codec, HF_SLICE("{\"city\":\"x\\u0000y\",\"n\":1}"));
}

/* A value that could be recorded once and that no database column takes: the run is folded without
   it, and no other run is held up. */
HF_BOTH_ENGINES(n07_values_that_older_stores_have)
{
    hf_engine *d = hf_kit_open(kind, &app);
    int64_t run;

    hf_kit_ok(d, hf_start(d, "order", hf_json(d, "{'nth': 1}"), .id = "old",
                          .search_attributes = "{\"city\":\"x\",\"n\":1}"));
    hf_kit_ok(d, hf_test_drain(d));
    run = hf_kit_number(d, "SELECT max(key) FROM run");
    hf_forge_run(hf_store_writer(d->store), run, attribute_forge);
    hf_kit_sql(d, "DELETE FROM run_projection");
    hf_kit_sql(d, "DELETE FROM search_attribute");
    hf_kit_sql(d, "UPDATE run_summary SET folded_seq = 0, settled = 0");
    d = hf_kit_reopen(d, NULL);
    runs_begin(d, 'x');
    ck_assert_int_eq(listed(d, "b"), 5);
    ck_assert_int_eq(aside(d), 0);
    ck_assert_int_eq(hf_kit_rows(d, "search_attribute"), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run_summary WHERE folded_seq = 0"), 0);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/folder", HF_BOTH(runs_together_are_folded_as_each_alone),
                 HF_BOTH(much_to_fold_is_folded_in_portions), {folding_without_memory, 120},
                 HF_BOTH(n07_a_run_that_cannot_be_folded_is_set_aside),
                 HF_BOTH(n07_values_that_older_stores_have))
