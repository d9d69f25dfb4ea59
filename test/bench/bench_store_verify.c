/* bench_store_verify.c: how many events a minute holdfast verify checks, all invariants included,
   on a store of a quarter of a million events in chunks of three. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "holdfast/tool.h"
#include "lib/busy.h"
#include "lib_report.h"

enum { RUNS = 1000, STEPS = 84, ROUNDS = 3 };

static const double floor_per_minute = 1000000;

static void store_make(const char *address, int64_t *out_events)
{
    hf_world world;
    hf_err err = {0};

    hf_bench_ok(hf_world_open(&world, address, NULL, &err), &err, "open the store");
    hf_bench_ok(hf_busy_make(&world, "busy", RUNS, STEPS, out_events, &err), &err,
                "fill the store");
    hf_world_close(&world);
}

static void store_measure(const char *store, const char *address)
{
    const hf_verify_options options = {.size = sizeof(options)};
    double rates[ROUNDS];
    int64_t events = 0;
    hf_bench_result result = {.group = "store",
                              .name = "verify_events_per_minute",
                              .store = store,
                              .unit = "events/min",
                              .floor = floor_per_minute,
                              .goal = 1,
                              .more = ""};

    store_make(address, &events);
    hf_bench_need(events >= 200000, "the store is too small to measure");
    for (int i = 0; i < ROUNDS; i++) {
        hf_verify_report report = {.size = sizeof(report)};
        hf_err err = {0};

        hf_bench_ok(hf_verify(address, &options, NULL, NULL, NULL, &report, &err), &err, "verify");
        hf_bench_need(report.findings == 0 && report.events == events, "the store is not clean");
        rates[i] = (double)report.events * 60e6 / (double)report.elapsed_us;
    }
    result.value = hf_bench_median(rates, ROUNDS);
    result.ratio = result.value / result.floor;
    hf_bench_report(&result);
}

static void sqlite_measure(void)
{
    const char *base = getenv("TMPDIR");
    char folder[256];
    char path[300];
    static const char *const files[] = {"", "-wal", "-shm", "-owner"};

    (void)snprintf(folder, sizeof(folder), "%s/holdfast-bench-XXXXXX",
                   base && *base ? base : "/tmp");
    hf_bench_need(mkdtemp(folder) != NULL, "no folder for the store");
    (void)snprintf(path, sizeof(path), "%s/store.db", folder);
    store_measure("sqlite", path);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/store.db%s", folder, files[i]);
        (void)unlink(path);
    }
    (void)rmdir(folder);
}

/* A schema of its own, which the server of the run takes with it when it goes. */
static void postgres_measure(const char *server)
{
    char address[1024];
    int len = snprintf(address, sizeof(address), "%s%chf_schema=bench_verify_%ld", server,
                       strchr(server, '?') ? '&' : '?', (long)getpid());

    hf_bench_need(len > 0 && (size_t)len < sizeof(address), "HF_TEST_PG is too long");
    store_measure("postgres", address);
}

int main(int argc, char **argv)
{
    const char *server = getenv("HF_TEST_PG");

    (void)argc;
    hf_bench_modules(argv[0]);
    hf_bench_title("verify");
    sqlite_measure();
    if (server && *server)
        postgres_measure(server);
    return EXIT_SUCCESS;
}
