/* bench_workflows_rest.c: runs that wait for a worker who is not there cost little, and do not hold
   up the end of the process. SQLite.

   rss_100k_mb   memory of an engine with 100,000 ready runs and no worker, over the empty engine
   stop_s        closing it right after the last start
   metrics_100k  operator metrics with them: ms, the second time they are asked for */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "holdfast/holdfast.h"
#include "holdfast/view.h"
#include "holdfast/worker.h"
#include "lib_report.h"

enum { RUNS = 100000, AT_ONCE = 1000, ID_SIZE = 16 };

static const hf_app app = {.name = "bench"};

static void starts_make(hf_engine *d, size_t first)
{
    static char ids[AT_ONCE][ID_SIZE];
    static hf_start_opts items[AT_ONCE];
    static hf_status answers[AT_ONCE];

    for (size_t i = 0; i < AT_ONCE; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "r%zu", first + i);
        items[i] = (hf_start_opts){.size_ = sizeof(items[i]), .id = ids[i]};
    }
    hf_bench_need(!hf_start_all(d, "far", items, AT_ONCE, answers), hf_errmsg(d));
}

static double metrics_ms(hf_engine *d)
{
    hf_mem *mem = hf_mem_new();
    double start = hf_bench_now_s();
    hf_value out = NULL;

    hf_bench_need(!hf_metrics(d, mem, &out), hf_errmsg(d));
    hf_mem_free(mem);
    return (hf_bench_now_s() - start) * 1e3;
}

static void report(const char *name, double value, const char *unit, double goal)
{
    hf_bench_report(&(hf_bench_result){.group = "workflows",
                                       .name = name,
                                       .store = "sqlite",
                                       .value = value,
                                       .unit = unit,
                                       .ratio = value,
                                       .goal = goal,
                                       .more = ""});
}

int main(int argc, char **argv)
{
    char path[] = "/tmp/hf-rest-XXXXXX";
    char store[64];
    hf_engine *d = NULL;
    double empty_mb;
    double full_mb;
    double start;
    double metrics;

    (void)argc;
    hf_bench_modules(argv[0]);
    hf_bench_title("runs that wait for a worker who is not there");
    hf_bench_need(mkdtemp(path) != NULL, "no folder for the store");
    (void)snprintf(store, sizeof(store), "%s/s.db", path);
    hf_bench_need(!hf_open(store, &app, &d), hf_errmsg(d));
    hf_bench_need(!hf_workers_allow(d), hf_errmsg(d));
    starts_make(d, RUNS); /* a warm engine */
    empty_mb = (double)hf_bench_memory_kb() / 1024;
    for (size_t i = 0; i < RUNS; i += AT_ONCE)
        starts_make(d, i);
    full_mb = (double)hf_bench_memory_kb() / 1024 - empty_mb;
    start = hf_bench_now_s();
    hf_close(d);
    report("stop_s", hf_bench_now_s() - start, "s", -3);
    report("rss_100k_mb", full_mb, "MB", -64);
    hf_bench_need(!hf_open(store, &app, &d), hf_errmsg(d));
    hf_bench_need(!hf_workers_allow(d), hf_errmsg(d));
    (void)metrics_ms(d);
    metrics = metrics_ms(d);
    hf_close(d);
    report("metrics_100k", metrics, "ms", 0);
    (void)unlink(store);
    (void)rmdir(path);
    return 0;
}
