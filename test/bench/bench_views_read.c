/* bench_views_read.c: what operators read, and what it costs the engine to keep it readable.

   list_page_*          p99 of a page of 50 in a store of 1,000,000 runs against one of 10,000: the
                        newest, one type, the open ones, and a page in the middle
   detail_10000         the page of a run with 10,000 events, ms
   fold                 events a second folded into projections
   export_10000         the bundle of that run, MB/s
   folding              steps a second while runs are folded against without
   fold_lag             after a second of half that load: ms until everything is folded

   Pages, detail, export and fold are the work of one thread, and steps that of one process: they
   are measured in its processor time, so that a busy machine does not count, except on PostgreSQL,
   which works elsewhere. Rows of the big stores are written directly: they have no histories.

   bench_views_read [sqlite | postgres] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "holdfast/view.h"
#include "lib_flow.h"
#include "lib_report.h"
#include "project/list.h"
#include "project/projection.h"
#include "store/row.h"
#include "store/store.h"

enum {
    SMALL = 10000,
    BIG = 1000000,
    PAGES = 300,
    EVENTS = 10000,
    ROUNDS = 5,
    LOAD_STEPS = 60,
    COST_RUNS = 64,
    COST_STEPS = 400,
    LAG_RUNS = 16
};

static bool by_wall; /* PostgreSQL works in processes of its own */

static double clock_s(clockid_t clock)
{
    struct timespec now = {0};

    if (by_wall)
        return hf_bench_now_s();
    hf_bench_need(clock_gettime(clock, &now) == 0, "no clock of processor time");
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Seconds that this thread has worked. */
static double worked_s(void)
{
    return clock_s(CLOCK_THREAD_CPUTIME_ID);
}

/* ---- lists */

/* One run out of a hundred is open; they are a second apart; four types. */
static void rows_write(hf_db *db, const char *bytes, int count)
{
    char sql[4096];
    hf_err err = {0};
    int len = snprintf(
        sql, sizeof(sql),
        "INSERT INTO instance (key, namespace, id, shard, type, current_run, run_count, "
        "created_us) "
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
        "SELECT i, 1, 'run-' || (1000000 + i), 0, 'type-' || (i %% 4), i, 1, 1700000000000000 + "
        "CAST(i AS BIGINT) * 1000000 FROM n;"
        "INSERT INTO run (key, instance, number, status, closed_reason, last_seq, head, last_us, "
        "history_bytes, command_seq, message_seq, message_cursor, created_us, closed_us, queue) "
        "SELECT key, key, 1, CASE WHEN key %% 100 = 0 THEN 2 ELSE 6 END, CASE WHEN key %% 100 = 0 "
        "THEN "
        "NULL ELSE 1 END, 2, CAST('h' AS %s), created_us, 10, 1, 0, 0, created_us, CASE WHEN "
        "key %% 100 = 0 THEN NULL ELSE created_us + 1 END, 'default' FROM instance;"
        "INSERT INTO run_summary (run, namespace, instance, status, sort_us, type, queue, ended, "
        "folded_seq, settled) SELECT key, 1, key, CASE WHEN key %% 100 = 0 THEN 2 ELSE 6 END, "
        "created_us, type, 'default', CASE WHEN key %% 100 = 0 THEN 0 ELSE 6 END, 2, 1 "
        "FROM instance;ANALYZE;",
        count, bytes);

    hf_bench_need(len > 0 && (size_t)len < sizeof(sql), "a statement is too long");
    hf_bench_ok(hf_db_script(db, sql, &err), &err, "write rows");
}

typedef struct list_case {
    const char *name;
    const char *filters;
    bool middle; /* pages from the middle of the list on */
} list_case;

static const list_case list_cases[] = {{"list_page_newest", "{}", false},
                                       {"list_page_type", "{\"workflow_type\":\"type-1\"}", false},
                                       {"list_page_open", "{\"status_bucket\":\"running\"}", false},
                                       {"list_page_waiting", "{\"status\":\"running\"}", false},
                                       {"list_page_middle", "{}", true}};
enum { LIST_CASES = sizeof(list_cases) / sizeof(list_cases[0]) };

/* Milliseconds in which 99 of 100 pages are there. */
static double pages_measure(hf_db *db, const list_case *what, int count)
{
    static double ms[PAGES];
    hf_mem *mem = hf_mem_new();
    hf_err err = {0};

    for (int i = -20; i < PAGES; i++) {
        hf_list_query query = {.namespace_key = 1};
        hf_value given;
        hf_value page = NULL;
        char cursor[96];
        double start;

        hf_mem_reset(mem);
        given = hf_parse_(mem, what->filters, strlen(what->filters));
        hf_bench_ok(hf_filter_read(mem, given, &query.filters, &err), &err, "read a filter");
        if (what->middle) {
            int64_t run = count / 2 + i;
            hf_ulid id;
            char text[HF_ULID_TEXT_SIZE];
            char at[HF_CLOCK_TEXT_SIZE];
            int64_t us = INT64_C(1700000000000000) + run * 1000000;

            id = hf_ulid_form(us, run, 0);
            hf_ulid_print(&id, text);
            (void)hf_clock_print(us, at);
            (void)snprintf(cursor, sizeof(cursor), "%s#%s", at, text);
            query.cursor = hf_slice_of(cursor);
        }
        start = worked_s();
        hf_bench_ok(hf_list_read(db, mem, &query, &page, &err), &err, "list runs");
        if (i >= 0) /* the first ones warm up */
            ms[i] = (worked_s() - start) * 1e3;
        hf_bench_need(hf_len(hf_get(page, "items")) == HF_LIST_LIMIT, "a page is not full");
    }
    hf_mem_free(mem);
    return hf_flow_percentile(ms, PAGES, 99);
}

static void lists_measure(const hf_flow_place *place, const char *name, int count,
                          double out_ms[LIST_CASES])
{
    const hf_store_options options = {
        .size = sizeof(options), .role = HF_STORE_OWNER, .create = true};
    char address[HF_FLOW_ADDRESS_MAX];
    hf_store *store = NULL;
    hf_db *db = NULL;
    int64_t key = 0;
    hf_err err = {0};

    hf_bench_ok(hf_store_open(hf_flow_address(place, name, address), &options, &store, &err), &err,
                "make a store");
    hf_bench_ok(hf_namespace_make(hf_store_writer(store), HF_SLICE("default"), 1, &key, &err), &err,
                "make a namespace");
    hf_bench_need(key == 1, "the namespace has another key");
    rows_write(hf_store_writer(store), place->server ? "BYTEA" : "BLOB", count);
    hf_bench_ok(hf_store_connect(store, HF_DB_READ, &db, &err), &err, "connect");
    for (size_t i = 0; i < LIST_CASES; i++)
        out_ms[i] = pages_measure(db, &list_cases[i], count);
    hf_db_close(db);
    hf_store_close(store);
    hf_flow_drop(place, name);
}

static void report_lists(const hf_flow_place *place)
{
    double small[LIST_CASES];
    double big[LIST_CASES];

    lists_measure(place, "lists_small", SMALL, small);
    lists_measure(place, "lists_big", BIG, big);
    for (size_t i = 0; i < LIST_CASES; i++)
        hf_bench_report(&(hf_bench_result){.group = "views",
                                           .name = list_cases[i].name,
                                           .store = place->store,
                                           .value = big[i],
                                           .unit = "ms p99",
                                           .floor = small[i],
                                           .ratio = big[i] / small[i],
                                           .goal = -2,
                                           .more = ""});
}

/* ---- one long run */

static void report_one(const hf_flow_place *place, const char *name, double value, const char *unit,
                       double floor, double goal)
{
    hf_bench_report(&(hf_bench_result){.group = "views",
                                       .name = name,
                                       .store = place->store,
                                       .value = value,
                                       .unit = unit,
                                       .floor = floor,
                                       .ratio = value / floor,
                                       .goal = goal,
                                       .more = ""});
}

static void folded_await(hf_engine *engine)
{
    const struct timespec moment = {.tv_nsec = 2000000};

    while (hf_folder_stats_get(engine->folder).waiting)
        (void)nanosleep(&moment, NULL);
}

static void detail_measure(const hf_flow_place *place, hf_engine *engine, const char *id)
{
    double ms[ROUNDS];
    double rate[ROUNDS];
    hf_mem *mem = hf_mem_new();

    for (int i = 0; i < ROUNDS; i++) {
        hf_value out = NULL;
        const char *json = NULL;
        double start = worked_s();

        hf_mem_reset(mem);
        hf_flow_ok(engine, hf_describe(engine, hf_json_(mem, "{'id': %s}", id), mem, &out),
                   "show a run");
        ms[i] = (worked_s() - start) * 1e3;
        start = worked_s();
        hf_flow_ok(engine, hf_export(engine, mem, &json, id), "export a run");
        rate[i] = (double)strlen(json) / 1e6 / (worked_s() - start);
    }
    report_one(place, "detail_10000", hf_bench_median(ms, ROUNDS), "ms", 50, -1);
    report_one(place, "export_10000", hf_bench_median(rate, ROUNDS), "MB/s", 50, 1);
    hf_mem_free(mem);
}

static void fold_measure(const hf_flow_place *place, const char *name, hf_engine *engine)
{
    int64_t run = (int64_t)hf_flow_number(place, name, "SELECT max(key) FROM run");
    double rate[ROUNDS];
    hf_mem *mem = hf_mem_new();
    hf_db *db = NULL;
    hf_err err = {0};

    hf_bench_ok(hf_store_connect(engine->store, HF_DB_READ, &db, &err), &err, "connect");
    for (int i = 0; i < ROUNDS; i++) {
        hf_projection_change change;
        double start = worked_s();

        hf_mem_reset(mem);
        hf_bench_ok(hf_projection_catch_up(db, mem, run, true, true, &change, &err), &err,
                    "fold a run");
        rate[i] = (double)change.events / (worked_s() - start);
        hf_bench_need(change.events >= EVENTS, "the run is too short");
    }
    report_one(place, "fold", hf_bench_median(rate, ROUNDS), "events/s", 200000, 1);
    hf_db_close(db);
    hf_mem_free(mem);
}

static void report_long(const hf_flow_place *place)
{
    hf_engine *engine = hf_flow_open(place, "long");

    hf_flow_start(engine, "steps", "long", hf_json(engine, "{'steps': %d}", EVENTS / 3 + 1));
    hf_flow_result(engine, "long");
    folded_await(engine);
    detail_measure(place, engine, "long");
    fold_measure(place, "long", engine);
    hf_close(engine);
    hf_flow_drop(place, "long");
}

/* ---- what folding costs */

/* Steps a second of runs that go on side by side for about a second. */
static double steps_measure(hf_engine *engine, int round)
{
    uint64_t before = hf_flow_steps();
    double start = hf_bench_now_s();
    char id[32];

    for (int i = 0; i < COST_RUNS; i++) {
        (void)snprintf(id, sizeof(id), "load-%d-%d", round, i);
        hf_flow_start(engine, "steps", id, hf_json(engine, "{'steps': %d}", COST_STEPS));
    }
    for (int i = 0; i < COST_RUNS; i++) {
        (void)snprintf(id, sizeof(id), "load-%d-%d", round, i);
        hf_flow_result(engine, id);
    }
    return (double)(hf_flow_steps() - before) / (hf_bench_now_s() - start);
}

/* Rounds of the two alternate, each in an engine of its own. */
static void report_cost(const hf_flow_place *place)
{
    double with[ROUNDS];
    double without[ROUNDS];

    for (int i = 0; i < ROUNDS * 2; i++) {
        hf_engine *engine = hf_flow_open(place, "cost");
        bool folds = i % 2 == 0;
        char id[32];

        (void)snprintf(id, sizeof(id), "warm-%d", i);
        hf_flow_start(engine, "steps", id, NULL);
        hf_flow_result(engine, id);
        if (!folds)
            hf_folder_stop(engine->folder, false);
        *(folds ? &with[i / 2] : &without[i / 2]) = steps_measure(engine, i);
        hf_close(engine);
        hf_flow_drop(place, "cost");
    }
    report_one(place, "folding", hf_bench_median(with, ROUNDS), "steps/s",
               hf_bench_median(without, ROUNDS), 0.9);
}

static void report_lag(const hf_flow_place *place)
{
    const struct timespec half = {.tv_nsec = 30000000};
    hf_engine *engine = hf_flow_open(place, "lag");
    double start;
    char id[32];

    for (int i = 0; i < LAG_RUNS;
         i++) { /* one after the other, with as long a pause: half the load */
        (void)snprintf(id, sizeof(id), "lag-%d", i);
        hf_flow_start(engine, "steps", id, hf_json(engine, "{'steps': %d}", LOAD_STEPS));
        hf_flow_result(engine, id);
        (void)nanosleep(&half, NULL);
    }
    start = hf_bench_now_s();
    folded_await(engine);
    report_one(place, "fold_lag", (hf_bench_now_s() - start) * 1e3, "ms", 1000, -1);
    hf_close(engine);
    hf_flow_drop(place, "lag");
}

static void bench(hf_flow_place *place)
{
    by_wall = place->server != NULL;
    report_lists(place);
    report_long(place);
    report_cost(place);
    report_lag(place);
}

int main(int argc, char **argv)
{
    return hf_flow_main(argc, argv, "views", bench);
}
