/* bench_workflows_park.c: runs that wait cost rows, not memory, and an engine with nothing to do
   does nothing.

   w4_10000, w4_100000   runs parked on a signal with a timeout: MB of memory over the engine
                         without them, a moment after the last one has parked; bytes of database a
                         run; ms from opening to the first acknowledgement
   idle                  SQLite: driver calls and wake-ups of the engine's threads in 5 s

   bench_workflows_park [sqlite | postgres] */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/thread.h"
#include "engine/core_impl.h"
#include "lib_flow.h"
#include "lib_report.h"

enum { STARTERS = 64, IDLE_S = 5, SETTLE_S = 6, REST_S = 3 };

typedef struct starter {
    hf_engine *engine;
    size_t nth;
    size_t runs;
    hf_thread thread;
} starter;

static void starter_run(void *ctx)
{
    const starter *me = ctx;
    char id[32];

    for (size_t i = me->nth; i < me->runs; i += STARTERS) {
        (void)snprintf(id, sizeof(id), "p%zu", i);
        hf_flow_start(me->engine, "park", id, NULL);
    }
}

static void runs_park(hf_engine *engine, size_t runs)
{
    static starter them[STARTERS];
    uint64_t parked = hf_flow_parked();
    hf_err err = {0};

    for (size_t i = 0; i < STARTERS; i++) {
        them[i] = (starter){.engine = engine, .nth = i, .runs = runs};
        hf_bench_ok(hf_thread_start(&them[i].thread, "starter", starter_run, &them[i], &err), &err,
                    "start a thread");
    }
    for (size_t i = 0; i < STARTERS; i++)
        hf_thread_join(&them[i].thread);
    hf_flow_parked_await(engine, parked + runs);
}

static double store_bytes(const hf_flow_place *place, const char *name)
{
    if (place->server)
        return hf_flow_number(place, name,
                              "SELECT sum(pg_total_relation_size(relid)) FROM pg_stat_user_tables"
                              " WHERE schemaname = current_schema()");
    return hf_flow_number(place, name,
                          "SELECT page_count * page_size FROM pragma_page_count,"
                          " pragma_page_size");
}

static void report_w4(const hf_flow_place *place, size_t runs)
{
    hf_engine *engine;
    char name[32];
    char more[128];
    double empty_mb;
    double parked_mb;
    double opened_mb;
    double empty_bytes;
    double start;
    double first_ms;

    (void)snprintf(name, sizeof(name), "w4_%zu", runs);
    engine = hf_flow_open(place, name);
    hf_flow_start(engine, "steps", "warm", NULL);
    hf_flow_result(engine, "warm");
    empty_mb = hf_flow_resident_mb();
    empty_bytes = store_bytes(place, name);
    runs_park(engine, runs);
    (void)nanosleep(&(const struct timespec){.tv_sec = REST_S}, NULL);
    parked_mb = hf_flow_resident_mb() - empty_mb;
    hf_close(engine);
    start = hf_bench_now_s();
    engine = hf_flow_open(place, name);
    hf_flow_start(engine, "steps", "first", NULL);
    first_ms = (hf_bench_now_s() - start) * 1e3;
    hf_flow_result(engine, "first");
    opened_mb = hf_flow_resident_mb() - empty_mb;
    hf_close(engine);
    (void)snprintf(more, sizeof(more),
                   ",\"bytes_per_run\":%.0f,\"open_ms\":%.1f,\"reopened_mb\":%.1f",
                   (store_bytes(place, name) - empty_bytes) / (double)runs, first_ms, opened_mb);
    hf_bench_report(&(hf_bench_result){.group = "workflows",
                                       .name = name,
                                       .store = place->store,
                                       .value = parked_mb,
                                       .unit = "MB",
                                       .ratio = parked_mb,
                                       .goal = -64,
                                       .more = more});
    (void)printf("  %s\n", more + 1);
    hf_flow_drop(place, name);
}

/* Voluntary switches of all threads of this process but the one that asks. */
static uint64_t wakeups(void)
{
    DIR *tasks = opendir("/proc/self/task");
    char self[32];
    uint64_t total = 0;

    hf_bench_need(tasks != NULL, "the threads of the process cannot be listed");
    (void)snprintf(self, sizeof(self), "%ld", (long)getpid());
    for (struct dirent *task = readdir(tasks); task; task = readdir(tasks)) {
        char path[320];
        char line[128];
        FILE *status;

        if (task->d_name[0] == '.' || strcmp(task->d_name, self) == 0)
            continue;
        (void)snprintf(path, sizeof(path), "/proc/self/task/%s/status", task->d_name);
        status = fopen(path, "r");
        while (status && fgets(line, sizeof(line), status))
            if (strncmp(line, "voluntary_ctxt_switches:", 24) == 0)
                total += strtoull(line + 24, NULL, 10);
        if (status)
            (void)fclose(status);
    }
    (void)closedir(tasks);
    return total;
}

static uint64_t driver_calls(const hf_engine *engine)
{
    return hf_store_writer(engine->store)->calls + engine->reader->calls + engine->core->db->calls;
}

static void report_idle(const hf_flow_place *place)
{
    const struct timespec settle = {.tv_sec = SETTLE_S};
    const struct timespec idle = {.tv_sec = IDLE_S};
    hf_engine *engine = hf_flow_open(place, "idle");
    uint64_t calls;
    uint64_t woken;
    char more[96];

    hf_flow_start(engine, "park", "parked", NULL);
    hf_flow_start(engine, "steps", "done", hf_json(engine, "{'steps': 10}"));
    hf_flow_result(engine, "done");
    (void)nanosleep(&settle, NULL); /* the log is written back, the stall watcher goes to sleep */
    calls = driver_calls(engine);
    woken = wakeups();
    hf_bench_need(calls > 0 && woken > 0, "the counters of an engine that has worked stand at 0");
    (void)nanosleep(&idle, NULL);
    woken = wakeups() - woken;
    calls = driver_calls(engine) - calls;
    hf_close(engine);
    hf_flow_drop(place, "idle");
    (void)snprintf(more, sizeof(more), ",\"driver_calls\":%llu,\"seconds\":%d",
                   (unsigned long long)calls, IDLE_S);
    hf_bench_report(&(hf_bench_result){.group = "workflows",
                                       .name = "idle",
                                       .store = place->store,
                                       .value = (double)(woken + calls),
                                       .unit = "events",
                                       .more = more});
    hf_bench_need(place->server || woken + calls == 0, "an idle engine on SQLite is not at rest");
}

static void bench_park(hf_flow_place *place)
{
    report_w4(place, 10000);
    report_w4(place, 100000);
    report_idle(place); /* last: it ends the program when the engine is not at rest */
}

int main(int argc, char **argv)
{
    return hf_flow_main(argc, argv, "parked workflows", bench_park);
}
