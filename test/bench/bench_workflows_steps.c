/* bench_workflows_steps.c: what a step of a workflow costs beside a bare closed loop that writes
   the same rows, hashes them, and hops to a pool thread and back (lib_flow_floor.h). Rounds of the
   two alternate and medians are compared, so that a busy machine slows both.

   w2_1, w2_16, w2_64   steps a second of 1, 16, 64 runs of sequential no-op activities
   w1                   workflows of one activity a second, 64 callers that start and wait; the
   floor makes the rows of runs and ends them, which two steps of a run that is there would not

   bench_workflows_steps [sqlite | postgres] */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "lib_flow.h"
#include "lib_flow_floor.h"
#include "lib_report.h"

enum { ROUNDS = 5, STEPS_A_RUN = 100, MORE_SIZE = 240 };

static const double round_s = 1.0;

static _Atomic uint64_t rows_seen; /* changed by the engine's connections */

static void row_count(void *ctx, int operation, const char *database, const char *table,
                      sqlite3_int64 key)
{
    (void)ctx;
    (void)operation;
    (void)database;
    (void)table;
    (void)key;
    (void)atomic_fetch_add(&rows_seen, 1);
}

/* Called by SQLite for each connection that is opened. */
static int rows_watch(sqlite3 *handle, char **error, const struct sqlite3_api_routines *api)
{
    (void)error;
    (void)api;
    (void)sqlite3_update_hook(handle, row_count, NULL);
    return SQLITE_OK;
}

/* Rows changed in the store so far. */
static double rows_changed(const hf_flow_place *place, const char *name)
{
    if (!place->server)
        return (double)atomic_load(&rows_seen);
    return hf_flow_number(place, name,
                          "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM"
                          " pg_stat_user_tables WHERE schemaname = current_schema()");
}

static void report_w2(const hf_flow_place *place, hf_engine *engine, hf_flow_floor *floor,
                      size_t runs, double bytes, double rows)
{
    double ours[ROUNDS];
    double floors[ROUNDS];
    double ratios[ROUNDS];
    double units[ROUNDS];
    char name[32];
    char more[MORE_SIZE];

    for (int i = 0; i < ROUNDS; i++) {
        hf_flow_rates got;

        floors[i] = hf_flow_floor_loop(floor, runs, round_s);
        got = hf_flow_crowd(engine, runs, STEPS_A_RUN, round_s);
        ours[i] = got.steps;
        ratios[i] = ours[i] / floors[i];
        units[i] = got.units;
    }
    (void)snprintf(name, sizeof(name), "w2_%zu", runs);
    (void)snprintf(more, sizeof(more),
                   ",\"units_per_step\":%.3f,\"rows_per_step\":%.2f,\"bytes_per_step\":%.0f,"
                   "\"steps_per_run\":%d,\"in_flight\":%zu",
                   hf_bench_median(units, ROUNDS), rows, bytes, STEPS_A_RUN, runs);
    hf_bench_report(&(hf_bench_result){.group = "workflows",
                                       .name = name,
                                       .store = place->store,
                                       .value = hf_bench_median(ours, ROUNDS),
                                       .unit = "steps/s",
                                       .floor = hf_bench_median(floors, ROUNDS),
                                       .ratio = hf_bench_median(ratios, ROUNDS),
                                       .goal = runs == HF_FLOW_CROWD_MAX ? 0.6 : 0,
                                       .more = more});
    (void)printf("  %s\n", more + 1);
}

static void report_w1(const hf_flow_place *place, hf_engine *engine, hf_flow_floor *floor)
{
    double ours[ROUNDS];
    double floors[ROUNDS];
    double ratios[ROUNDS];
    double units[ROUNDS];
    char more[MORE_SIZE];

    for (int i = 0; i < ROUNDS; i++) {
        hf_flow_rates got;

        floors[i] = hf_flow_floor_jobs(floor, HF_FLOW_CROWD_MAX, round_s);
        got = hf_flow_crowd(engine, HF_FLOW_CROWD_MAX, 1, round_s);
        ours[i] = got.runs;
        ratios[i] = ours[i] / floors[i];
        units[i] = got.units;
    }
    (void)snprintf(more, sizeof(more), ",\"units_per_workflow\":%.2f,\"in_flight\":%d",
                   hf_bench_median(units, ROUNDS), HF_FLOW_CROWD_MAX);
    hf_bench_report(&(hf_bench_result){.group = "workflows",
                                       .name = "w1",
                                       .store = place->store,
                                       .value = hf_bench_median(ours, ROUNDS),
                                       .unit = "runs/s",
                                       .floor = hf_bench_median(floors, ROUNDS),
                                       .ratio = hf_bench_median(ratios, ROUNDS),
                                       .goal = 0.6,
                                       .more = more});
}

/* One run alone tells what a step writes. */
static void step_weigh(const hf_flow_place *place, double *out_bytes, double *out_rows)
{
    enum { STEPS = 1000 };
    hf_engine *engine;
    double rows;

    hf_bench_need(place->server || sqlite3_auto_extension((void (*)(void))rows_watch) == SQLITE_OK,
                  "SQLite does not take the hook");
    engine = hf_flow_open(place, "weigh");
    sqlite3_reset_auto_extension(); /* the others are not slowed */
    rows = place->server ? 0 : rows_changed(place, "weigh");
    hf_flow_start(engine, "steps", "weigh", hf_json(engine, "{'steps': %d}", STEPS));
    hf_flow_result(engine, "weigh");
    *out_rows = place->server ? 0 : (rows_changed(place, "weigh") - rows) / STEPS;
    hf_close(engine);
    if (place->server)
        *out_rows = rows_changed(place, "weigh") / STEPS;
    *out_bytes = hf_flow_number(place, "weigh", "SELECT sum(length(body)) FROM history") / STEPS;
    hf_flow_drop(place, "weigh");
}

static void bench_steps(hf_flow_place *place)
{
    static const size_t runs[] = {1, 16, 64};
    hf_flow_floor *floor;
    hf_engine *engine;
    double bytes = 0;
    double rows = 0;

    step_weigh(place, &bytes, &rows);
    floor = hf_flow_floor_open(place, "steps_floor", (size_t)bytes);
    engine = hf_flow_open(place, "steps");
    (void)hf_flow_floor_loop(floor, HF_FLOW_CROWD_MAX, round_s / 2);
    (void)hf_flow_crowd(engine, HF_FLOW_CROWD_MAX, STEPS_A_RUN, round_s / 2);
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
        report_w2(place, engine, floor, runs[i], bytes, rows);
    report_w1(place, engine, floor);
    hf_close(engine);
    hf_flow_floor_close(floor);
    hf_flow_drop(place, "steps");
    hf_flow_drop(place, "steps_floor");
}

int main(int argc, char **argv)
{
    return hf_flow_main(argc, argv, "steps of workflows", bench_steps);
}
