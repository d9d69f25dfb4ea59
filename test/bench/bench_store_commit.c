/* bench_store_commit.c: what the commit path costs beside bare loops that write the same rows with
   the same durability. Both engines, each with a store for the floor and one for us. Rounds of the
   two alternate and medians are compared, so that a busy machine slows both.

   floor_batch_N      bare loop, N units in a transaction, over 64 and over 2,000 runs
   commit_batch_64    64 callers in a closed loop against the bare loop with full batches of 64
   commit_lone        one caller that waits for each commit against one-unit transactions
   commit_callers_N   N callers in a closed loop; ratio is to the line before

   bench_store_commit [sqlite | postgres] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/pg.h"
#include "lib_floor.h"
#include "lib_load.h"
#include "lib_report.h"

enum {
    RUNS = 2000,
    RUNS_FEW = 64,
    CALLERS = 64,
    ROUNDS = 9,
    FLOOR_ROUNDS = 3,
    LONE_ROUNDS = 15,
    LONE_COMMITS = 40,
    MORE_SIZE = 160
};

static const double round_s = 0.35;
static const double floor_round_s = 0.25;

/* One engine's two stores. */
typedef struct bench {
    const char *store;
    hf_load ours;
    hf_load theirs; /* the runs of the floor's store */
    hf_floor *floor;
} bench;

static void report_floor(const bench *it, size_t batch, size_t runs)
{
    double rates[FLOOR_ROUNDS];
    char name[64];
    char more[MORE_SIZE];

    for (int i = 0; i < FLOOR_ROUNDS; i++)
        rates[i] = hf_floor_loop(it->floor, batch, runs, floor_round_s);
    (void)snprintf(name, sizeof(name), "floor_batch_%zu_runs_%zu", batch, runs);
    (void)snprintf(more, sizeof(more), ",\"runs\":%zu,\"rows_per_unit\":%d,\"body_bytes\":%zu",
                   runs, HF_LOAD_ROWS_PER_UNIT, it->ours.body_bytes);
    hf_bench_report(&(hf_bench_result){.group = "store",
                                       .name = name,
                                       .store = it->store,
                                       .value = hf_bench_median(rates, FLOOR_ROUNDS),
                                       .unit = "units/s",
                                       .more = more});
}

static void report_floors(const bench *it)
{
    static const size_t batches[] = {1, 10, 100, 1000};
    static const size_t runs[] = {RUNS_FEW, RUNS};

    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
        for (size_t j = 0; j < sizeof(batches) / sizeof(batches[0]); j++)
            report_floor(it, batches[j], runs[i]);
}

static void report_batch(bench *it, const char *name, size_t runs)
{
    hf_writer_stats before = hf_writer_stats_get(it->ours.writer);
    hf_writer_stats after;
    double ours[ROUNDS];
    double floors[ROUNDS];
    double ratios[ROUNDS];
    char more[MORE_SIZE];

    for (int i = 0; i < ROUNDS; i++) {
        floors[i] = hf_floor_loop(it->floor, CALLERS, runs, round_s);
        ours[i] = hf_load_loop(&it->ours, CALLERS, runs, round_s);
        ratios[i] = ours[i] / floors[i];
    }
    after = hf_writer_stats_get(it->ours.writer);
    (void)snprintf(more, sizeof(more),
                   ",\"runs\":%zu,\"rows_per_unit\":%d,\"body_bytes\":%zu,\"batch_mean\":%.1f",
                   runs, HF_LOAD_ROWS_PER_UNIT, it->ours.body_bytes,
                   (double)(after.units - before.units) / (double)(after.batches - before.batches));
    hf_bench_report(&(hf_bench_result){.group = "store",
                                       .name = name,
                                       .store = it->store,
                                       .value = hf_bench_median(ours, ROUNDS),
                                       .unit = "units/s",
                                       .floor = hf_bench_median(floors, ROUNDS),
                                       .ratio = hf_bench_median(ratios, ROUNDS),
                                       .goal = 0.7,
                                       .more = more});
}

/* Microseconds from the wish for a step to the knowledge that it is durable. */
static double lone_ours(hf_load *load, size_t nth)
{
    hf_load_run *run = &load->runs[nth % RUNS_FEW];
    double start = hf_bench_now_s();
    hf_unit *unit = hf_load_step(load, &load->stager, run, NULL, NULL);
    hf_err err = {0};

    hf_bench_ok(hf_writer_commit(load->writer, unit, &err), &err, "commit a step");
    hf_load_stepped(run, unit);
    return (hf_bench_now_s() - start) * 1e6;
}

static double lone_floor(hf_floor *floor)
{
    double start = hf_bench_now_s();

    hf_floor_batch(floor, 1, RUNS_FEW);
    return (hf_bench_now_s() - start) * 1e6;
}

static void report_lone(bench *it)
{
    static double ours[LONE_ROUNDS * LONE_COMMITS];
    static double floors[LONE_ROUNDS * LONE_COMMITS];
    double ours_p50;
    double floor_p50;

    for (size_t round = 0; round < LONE_ROUNDS; round++) {
        for (size_t i = round * LONE_COMMITS; i < (round + 1) * LONE_COMMITS; i++)
            floors[i] = lone_floor(it->floor);
        for (size_t i = round * LONE_COMMITS; i < (round + 1) * LONE_COMMITS; i++)
            ours[i] = lone_ours(&it->ours, i);
    }
    ours_p50 = hf_bench_median(ours, LONE_ROUNDS * LONE_COMMITS);
    floor_p50 = hf_bench_median(floors, LONE_ROUNDS * LONE_COMMITS);
    hf_bench_report(&(hf_bench_result){.group = "store",
                                       .name = "commit_lone",
                                       .store = it->store,
                                       .value = ours_p50,
                                       .unit = "us p50",
                                       .floor = floor_p50,
                                       .ratio = ours_p50 / floor_p50,
                                       .goal = -1.3,
                                       .more = ""});
}

static void report_callers(bench *it)
{
    static const size_t callers[] = {1, 8, 64, 512};
    enum { STEPS = sizeof(callers) / sizeof(callers[0]), CALLER_ROUNDS = 5 };
    double rates[STEPS][CALLER_ROUNDS];
    double before = 0;

    for (int round = 0; round < CALLER_ROUNDS; round++)
        for (size_t i = 0; i < STEPS; i++)
            rates[i][round] = hf_load_loop(&it->ours, callers[i], RUNS, round_s);
    for (size_t i = 0; i < STEPS; i++) {
        double rate = hf_bench_median(rates[i], CALLER_ROUNDS);
        char name[64];

        (void)snprintf(name, sizeof(name), "commit_callers_%zu", callers[i]);
        hf_bench_report(&(hf_bench_result){.group = "store",
                                           .name = name,
                                           .store = it->store,
                                           .value = rate,
                                           .unit = "units/s",
                                           .ratio = before > 0 ? rate / before : 0,
                                           .goal = before > 0 ? 1 : 0,
                                           .more = ",\"runs\":2000"});
        before = rate;
    }
}

static void bench_run(bench *it)
{
    char title[64];

    (void)snprintf(title, sizeof(title), "%s, %zu bytes of history in a unit", it->store,
                   it->ours.body_bytes);
    hf_bench_title(title);
    (void)hf_floor_loop(it->floor, CALLERS, RUNS, floor_round_s); /* caches, WAL files, plans */
    (void)hf_load_loop(&it->ours, CALLERS, RUNS, floor_round_s);
    report_floors(it);
    report_batch(it, "commit_batch_64", RUNS_FEW);
    report_batch(it, "commit_batch_64_runs_2000", RUNS);
    report_lone(it);
    report_callers(it);
}

static void bench_open(bench *it, const char *store, const char *ours, const char *theirs)
{
    *it = (bench){.store = store};
    hf_load_open(&it->ours, ours, RUNS);
    hf_load_open(&it->theirs, theirs, RUNS);
    hf_load_stop(&it->theirs);
}

static void bench_close(bench *it)
{
    hf_floor_close(it->floor);
    hf_load_free(&it->theirs);
    hf_load_free(&it->ours);
}

static void bench_sqlite(const char *folder)
{
    char ours[512];
    char theirs[512];
    bench it;

    (void)snprintf(ours, sizeof(ours), "%s/ours.db", folder);
    (void)snprintf(theirs, sizeof(theirs), "%s/floor.db", folder);
    bench_open(&it, "sqlite", ours, theirs);
    it.floor = hf_floor_open_sqlite(theirs, &it.theirs);
    bench_run(&it);
    bench_close(&it);
    hf_bench_need(remove(ours) == 0 && remove(theirs) == 0, "the stores cannot be removed");
}

static void bench_postgres(void)
{
    hf_pg_server *server = NULL;
    char ours[512];
    char theirs[512];
    hf_err err = {0};
    bench it;

    hf_bench_ok(hf_pg_start(&server, &err), &err, "start PostgreSQL");
    (void)snprintf(ours, sizeof(ours), "%s?hf_schema=bench_ours", hf_pg_uri(server));
    (void)snprintf(theirs, sizeof(theirs), "%s?hf_schema=bench_floor", hf_pg_uri(server));
    bench_open(&it, "postgres", ours, theirs);
    it.floor = hf_floor_open_postgres(hf_pg_uri(server), "bench_floor", &it.theirs);
    bench_run(&it);
    bench_close(&it);
    hf_pg_stop(server);
}

int main(int argc, char **argv)
{
    const char *base = getenv("TMPDIR");
    char folder[256];

    hf_bench_modules(argv[0]);
    (void)snprintf(folder, sizeof(folder), "%s/holdfast-bench-XXXXXX",
                   base && *base ? base : "/tmp");
    hf_bench_need(mkdtemp(folder) != NULL, "no folder for the stores");
    if (argc < 2 || strcmp(argv[1], "sqlite") == 0)
        bench_sqlite(folder);
    if (argc < 2 || strcmp(argv[1], "postgres") == 0)
        bench_postgres();
    hf_bench_need(rmdir(folder) == 0, "the folder of the stores cannot be removed");
    return EXIT_SUCCESS;
}
