/* bench_http_read.c: what it costs to describe and to list runs over HTTP while many closed runs
   exist, and to ask for the head that the console's page of a run begins with: p99 with 10,000 of
   them, and with a million (HF_BENCH_RUNS says another number), on SQLite. The ratio is many over
   few and should stay flat; a head is to take at most 10 ms. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/thread.h"
#include "client/client.h"
#include "holdfast/holdfast.h"
#include "lib_report.h"
#include "server/server.h"

enum { CALLERS = 16, FEW = 10000, DESCRIBES = 1000, LISTS = 200, ID_BYTES = 32, HEAD_MS = 10 };
enum { DESCRIBE, LIST, HEAD, QUESTIONS };

static hf_value nothing(hf_ctx *w, hf_value in)
{
    (void)w;
    return in;
}

static const hf_app app = {.name = "bench",
                           .workflows =
                               (const hf_workflow_def[]){{.type = "nothing", .run = nothing}, {0}}};

typedef struct filler {
    hf_engine *engine;
    _Atomic int next;
    int end;
} filler;

static void filler_run(void *ctx)
{
    filler *f = ctx;
    int i;

    while ((i = atomic_fetch_add(&f->next, 1)) < f->end) {
        char id[ID_BYTES];

        (void)snprintf(id, sizeof(id), "run-%d", i);
        hf_bench_need(!hf_start(f->engine, "nothing", NULL, .id = id), hf_errmsg(f->engine));
        hf_mem_reset(hf_mem_of_engine(f->engine));
    }
}

/* Runs from..to exist, and are closed. */
static void fill(hf_engine *engine, int from, int to)
{
    filler f = {.engine = engine, .next = from, .end = to};
    hf_thread threads[CALLERS] = {0};
    hf_err err = {0};

    for (int i = 0; i < CALLERS; i++)
        hf_bench_ok(hf_thread_start(&threads[i], "filler", filler_run, &f, &err), &err, "fill");
    for (int i = 0; i < CALLERS; i++)
        hf_thread_join(&threads[i]);
    for (int i = to > from + 1000 ? to - 1000 : from; i < to; i++) {
        char id[ID_BYTES];

        (void)snprintf(id, sizeof(id), "run-%d", i);
        hf_bench_need(!hf_result(engine, id, 60000, NULL, NULL), hf_errmsg(engine));
    }
    hf_mem_reset(hf_mem_of_engine(engine));
}

/* The 99th percentile in milliseconds of `count` times the question. */
static double p99(hf_client *client, int question, int count, int runs)
{
    double *took = calloc((size_t)count, sizeof(*took));
    hf_mem *mem = hf_mem_new();
    hf_err err = {0};
    hf_rng rng;
    double value;

    hf_bench_need(took && mem, "no memory");
    hf_rng_init_seeded(&rng, 1);
    for (int i = 0; i < count; i++) {
        hf_client_request ask = {.method = "GET", .path = "/api/workflows?page_size=50"};
        hf_client_reply reply;
        char id[ID_BYTES];
        double began;

        (void)snprintf(id, sizeof(id), "run-%d", (int)hf_rng_below(&rng, (uint64_t)runs));
        if (question == DESCRIBE)
            ask.path = hf_client_path(mem, "/api/workflows/%s", id);
        else if (question == HEAD)
            ask.path = hf_client_path(mem, "/console/api/runs/%s", id);
        began = hf_bench_now_s();
        hf_bench_ok(hf_client_ask(client, &ask, mem, &reply, &err), &err, "ask");
        took[i] = (hf_bench_now_s() - began) * 1000;
        hf_bench_need(reply.status == 200, "a question was refused");
        hf_mem_reset(mem);
    }
    qsort(took, (size_t)count, sizeof(*took), hf_bench_order);
    value = took[count * 99 / 100];
    hf_mem_free(mem);
    free(took);
    return value;
}

static void report(const char *name, int runs, double few, double many)
{
    char more[64];

    (void)snprintf(more, sizeof(more), ",\"runs\":%d", runs);
    hf_bench_report(&(hf_bench_result){.group = "http",
                                       .name = name,
                                       .store = "sqlite",
                                       .value = many,
                                       .unit = "ms",
                                       .floor = few,
                                       .ratio = many / few,
                                       .goal = -2,
                                       .more = more});
}

/* All questions, on a store that nobody works on any more. */
static void measure(const char *path, int runs, double out_took[QUESTIONS])
{
    char url[64];
    hf_client_options options = {.url = url};
    hf_engine *engine = NULL;
    hf_server *server = NULL;
    hf_client *client = NULL;
    hf_err err = {0};

    hf_bench_need(!hf_open(path, &app, &engine), hf_errmsg(engine));
    hf_bench_ok(hf_server_open(&(hf_server_options){.engine = engine, .listen = "127.0.0.1:0"},
                               &server, &err),
                &err, "open a server");
    hf_bench_ok(hf_server_start(server, &err), &err, "start a server");
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d", hf_server_port(server));
    hf_bench_ok(hf_client_open(&options, &client, &err), &err, "open a client");
    (void)p99(client, DESCRIBE, DESCRIBES / 10, runs); /* it is begun with */
    for (int question = 0; question < QUESTIONS; question++)
        out_took[question] = p99(client, question, question == LIST ? LISTS : DESCRIBES, runs);
    hf_client_close(client);
    hf_server_drain(server, 5000);
    hf_server_wait(server);
    hf_server_close(server);
    hf_close(engine);
}

int main(int argc, char **argv)
{
    const char *wanted = getenv("HF_BENCH_RUNS");
    int many = wanted ? atoi(wanted) : 1000000;
    char folder[] = "/tmp/hf_bench_read_XXXXXX";
    char path[96];
    double took[2][QUESTIONS];

    hf_bench_modules(argc > 0 ? argv[0] : "");
    hf_bench_need(many > FEW, "HF_BENCH_RUNS is more than 10000");
    hf_bench_need(mkdtemp(folder) != NULL, "no folder");
    (void)snprintf(path, sizeof(path), "%s/read.db", folder);
    for (int i = 0; i < 2; i++) {
        hf_engine *engine = NULL;

        hf_bench_need(!hf_open(path, &app, &engine), hf_errmsg(engine));
        fill(engine, i ? FEW : 0, i ? many : FEW);
        hf_close(engine); /* projections are up to date after that */
        measure(path, i ? many : FEW, took[i]);
    }
    hf_bench_title("http: p99 of describe, list and head, many closed runs against 10,000");
    report("describe_p99", many, took[0][DESCRIBE], took[1][DESCRIBE]);
    report("list_p99", many, took[0][LIST], took[1][LIST]);
    report("head_p99", many, took[0][HEAD], took[1][HEAD]);
    (void)snprintf(path, sizeof(path), "rm -r %s", folder);
    hf_bench_need(system(path) == 0, "the folder cannot be removed");
    hf_bench_need(took[1][HEAD] <= HEAD_MS, "a head took more than 10 ms");
    return 0;
}
