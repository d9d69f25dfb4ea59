/* bench_http_work.c: what HTTP costs: starts, and workflows of one activity from start to result,
   by a program that has the engine in it and by the same program as a worker of a server, on
   SQLite. The ratio is HTTP over embedded. Everything is in one process, so both cores are shared.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib_report.h"
#include "base/thread.h"
#include "holdfast/holdfast.h"
#include "holdfast/worker.h"
#include "server/server.h"

enum { CALLERS = 64, STARTS = 4000, FLOWS = 2000 };

static hf_value echo(hf_act *a, hf_value in)
{
    (void)a;
    return in;
}

static hf_value flow(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "echo", in);
}

static hf_value idle(hf_ctx *w, hf_value in)
{
    (void)in;
    (void)hf_receive(w, "never");
    return NULL;
}

static const hf_app app = {
    .name = "bench",
    .workflows =
        (const hf_workflow_def[]){
            {.type = "flow", .run = flow},
            {.type = "idle", .run = idle, .signals = (const hf_signal_def[]){{"never", NULL}, {0}}},
            {0}},
    .activities = (const hf_activity_def[]){{hf_fn(echo)}, {0}}};
static const hf_app nothing = {.name = "bench-server"};

typedef struct load {
    hf_engine *engine;
    const char *type;
    bool wait; /* for the result */
    int count;
    _Atomic int next;
} load;

static void caller_run(void *ctx)
{
    load *l = ctx;
    int i;

    while ((i = atomic_fetch_add(&l->next, 1)) < l->count) {
        char id[48];

        (void)snprintf(id, sizeof(id), "%s-%d-%d", l->type, l->wait, i);
        hf_bench_need(!hf_start(l->engine, l->type, hf_json(l->engine, "{'n': 1}"), .id = id),
                      hf_errmsg(l->engine));
        if (l->wait)
            hf_bench_need(!hf_result(l->engine, id, 60000, NULL, NULL), hf_errmsg(l->engine));
        hf_mem_reset(hf_mem_of_engine(l->engine));
    }
}

/* Processor time of this process so far. */
static double cpu_us(void)
{
    struct rusage used;

    (void)getrusage(RUSAGE_SELF, &used);
    return 1e6 * (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* A second, and the processor time of one in *out_cpu_us. */
static double rate(hf_engine *engine, const char *type, bool wait, int count, double *out_cpu_us)
{
    load l = {.engine = engine, .type = type, .wait = wait, .count = count};
    hf_thread threads[CALLERS] = {0};
    double began = hf_bench_now_s();
    double cpu = cpu_us();
    hf_err err = {0};

    for (int i = 0; i < CALLERS; i++)
        hf_bench_ok(hf_thread_start(&threads[i], "caller", caller_run, &l, &err), &err, "start");
    for (int i = 0; i < CALLERS; i++)
        hf_thread_join(&threads[i]);
    *out_cpu_us = (cpu_us() - cpu) / count;
    return count / (hf_bench_now_s() - began);
}

static void report(const char *name, double embedded, double http, const double *cpus)
{
    char more[128];

    (void)snprintf(more, sizeof(more),
                   ",\"embedded\":%.0f,\"cpu_us\":%.0f,\"embedded_cpu_us\":%.0f", embedded, cpus[1],
                   cpus[0]);
    hf_bench_report(&(hf_bench_result){.group = "http",
                                       .name = name,
                                       .store = "sqlite",
                                       .value = http,
                                       .unit = "per second",
                                       .floor = embedded,
                                       .ratio = http / embedded,
                                       .more = more});
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/hf_bench_http_XXXXXX";
    char path[96];
    char url[64];
    hf_engine *engine = NULL;
    hf_engine *remote = NULL;
    hf_server *server = NULL;
    hf_err err = {0};
    double embedded[2];
    double http[2];
    double cpus[2][2];

    hf_bench_modules(argc > 0 ? argv[0] : "");
    hf_bench_need(mkdtemp(folder) != NULL, "no folder");
    (void)snprintf(path, sizeof(path), "%s/embedded.db", folder);
    hf_bench_need(!hf_open(path, &app, &engine), hf_errmsg(engine));
    embedded[0] = rate(engine, "idle", false, STARTS, &cpus[0][0]);
    embedded[1] = rate(engine, "flow", true, FLOWS, &cpus[1][0]);
    hf_close(engine);

    (void)snprintf(path, sizeof(path), "%s/server.db", folder);
    hf_bench_need(!hf_open(path, &nothing, &engine) && !hf_workers_allow(engine),
                  hf_errmsg(engine));
    hf_bench_ok(hf_server_open(&(hf_server_options){.engine = engine, .listen = "127.0.0.1:0"},
                               &server, &err),
                &err, "open a server");
    hf_bench_ok(hf_server_start(server, &err), &err, "start a server");
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d", hf_server_port(server));
    hf_bench_need(!hf_open(url, &app, &remote), hf_errmsg(remote));
    http[0] = rate(remote, "idle", false, STARTS, &cpus[0][1]);
    http[1] = rate(remote, "flow", true, FLOWS, &cpus[1][1]);
    hf_close(remote);
    hf_server_drain(server, 5000);
    hf_server_wait(server);
    hf_server_close(server);
    hf_close(engine);

    hf_bench_title("http: starts and workflows of one activity, through a server");
    report("starts", embedded[0], http[0], cpus[0]);
    report("one_activity_workflows", embedded[1], http[1], cpus[1]);
    (void)snprintf(path, sizeof(path), "rm -r %s", folder);
    return system(path) == 0 ? 0 : 1;
}
