/* bench_http_loss.c: a worker is killed that has activities in its hands; how long it takes until
   another one, which waits for work all the time, has done them. SQLite. Nobody says that the
   worker is gone; the lease of an activity is 300 s.

   worker_loss_s        programs in C
   worker_loss_s_sdk    workers of the official Python SDK, when its environment is there, which
                        the tests make (build/venv)

   The program starts itself for the former: bench_http_loss worker URL NAME MARKS */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/client.h"
#include "holdfast/holdfast.h"
#include "lib/nap.h"
#include "lib_report.h"
#include "lib_served.h"

enum { RUNS = 8, PATH_SIZE = 512, PATIENCE_MS = 60000, LOOK_MS = 20, SETTLE_MS = 2000 };

static const char *marks; /* folder in which those who are at work leave a file for each run */

static bool marked(const char *folder, const char *name, bool leave)
{
    char path[PATH_SIZE];
    bool there;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    there = access(path, F_OK) == 0;
    if (leave && !there) {
        FILE *file = fopen(path, "w");

        hf_bench_need(file && fclose(file) == 0, "a mark cannot be left");
    }
    return there;
}

/* Whoever comes first never ends. */
static hf_value hold(hf_act *a, hf_value in)
{
    if (!marked(marks, hf_str(in, "0", ""), true))
        for (;;)
            (void)pause();
    return hf_json(a, "1");
}

static hf_value held(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "hold", in);
}

static const hf_app app = {.name = "loss",
                           .workflows =
                               (const hf_workflow_def[]){{.type = "held", .run = held}, {0}},
                           .activities = (const hf_activity_def[]){{hf_fn(hold)}, {0}}};

static int worker_main(const char *url, const char *name, const char *folder)
{
    hf_engine *engine = NULL;

    marks = folder;
    hf_bench_need(setenv("HF_WORKER_ID", name, 1) == 0, "no memory");
    hf_bench_need(!hf_open(url, &app, &engine), hf_errmsg(engine));
    hf_bench_need(!hf_run(engine), hf_errmsg(engine));
    hf_close(engine);
    return 0;
}

/* ---- the one who looks */

typedef struct field {
    char folder[PATH_SIZE / 2];
    hf_bench_served at;
} field;

/* The command, of which the last three words are URL, NAME and MARKS. */
static pid_t worker_start(const field *f, const char *program, const char *word, const char *name)
{
    pid_t pid = fork();

    hf_bench_need(pid >= 0, "no process");
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)execl(program, program, word, f->at.url, name, f->folder, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static void worker_end(pid_t worker)
{
    (void)kill(worker, SIGKILL);
    (void)waitpid(worker, NULL, 0);
}

static void name_of(char out[32], const char *type, int i)
{
    (void)snprintf(out, 32, "%s-%d", type, i);
}

/* Until all runs are in somebody's hands. */
static void marks_await(const field *f, const char *type)
{
    double until_s = hf_bench_now_s() + PATIENCE_MS / 1000.0;
    char name[32];

    for (int i = 0; i < RUNS; i++)
        for (name_of(name, type, i); !marked(f->folder, name, false); hf_nap_ms(LOOK_MS))
            hf_bench_need(hf_bench_now_s() < until_s, "the worker takes nothing");
}

/* Until the other worker is known and waits for work. */
static void second_await(const field *f)
{
    const hf_client_request request = {.method = "GET", .path = "/api/workers/second"};
    double until_s = hf_bench_now_s() + PATIENCE_MS / 1000.0;
    hf_client_reply reply = {0};
    hf_client *client = NULL;
    hf_mem *mem = hf_mem_new();
    hf_err err = {0};

    hf_bench_ok(hf_client_open(&(hf_client_options){.url = f->at.url}, &client, &err), &err,
                "open a client");
    while (reply.status != 200) {
        hf_bench_need(hf_bench_now_s() < until_s, "the other worker does not come");
        hf_nap_ms(LOOK_MS);
        hf_bench_ok(hf_client_ask(client, &request, mem, &reply, &err), &err, "ask the server");
    }
    hf_nap_ms(SETTLE_MS);
    hf_client_close(client);
    hf_mem_free(mem);
}

static void loss(const field *f, const char *name, const char *program, const char *word,
                 const char *type)
{
    pid_t first = worker_start(f, program, word, "first");
    char id[32];
    pid_t second;
    double began;

    for (int i = 0; i < RUNS; i++) {
        name_of(id, type, i);
        hf_bench_need(!hf_start(f->at.engine, type, hf_json(f->at.engine, "[%s]", id), .id = id),
                      hf_errmsg(f->at.engine));
    }
    marks_await(f, type);
    second = worker_start(f, program, word, "second");
    second_await(f);
    began = hf_bench_now_s();
    worker_end(first);
    for (int i = 0; i < RUNS; i++) {
        name_of(id, type, i);
        hf_bench_need(!hf_result(f->at.engine, id, PATIENCE_MS, NULL, NULL),
                      hf_errmsg(f->at.engine));
    }
    began = hf_bench_now_s() - began;
    worker_end(second);
    hf_bench_report(&(hf_bench_result){.group = "http",
                                       .name = name,
                                       .store = "sqlite",
                                       .value = began,
                                       .unit = "s",
                                       .ratio = began,
                                       .goal = -15,
                                       .more = ""});
}

static void field_open(field *f)
{
    char path[PATH_SIZE];

    *f = (field){.folder = "/tmp/hf_bench_loss_XXXXXX"};
    hf_bench_need(mkdtemp(f->folder) != NULL, "no folder");
    (void)snprintf(path, sizeof(path), "%s/loss.db", f->folder);
    hf_bench_served_open(&f->at, path);
}

static int field_close(field *f)
{
    char command[PATH_SIZE];

    hf_bench_served_close(&f->at);
    (void)snprintf(command, sizeof(command), "rm -r %s", f->folder);
    return system(command) == 0 ? 0 : 1;
}

/* The tree that the program was built in: it is at TREE/build/bench. */
static void tree_path(char out[PATH_SIZE], const char *program, const char *name)
{
    const char *slash = strrchr(program, '/');

    (void)snprintf(out, PATH_SIZE, "%.*s/../../%s", slash ? (int)(slash - program) : 1,
                   slash ? program : ".", name);
}

int main(int argc, char **argv)
{
    char python[PATH_SIZE];
    char script[PATH_SIZE];
    field f;
    int rc;

    if (argc == 5 && strcmp(argv[1], "worker") == 0)
        return worker_main(argv[2], argv[3], argv[4]);
    hf_bench_modules(argv[0]);
    tree_path(python, argv[0], "build/venv/bin/python");
    tree_path(script, argv[0], "test/bench/sdk_hold.py");
    hf_bench_title("a worker dies with work in its hands");
    field_open(&f);
    loss(&f, "worker_loss_s", "/proc/self/exe", "worker", "held");
    rc = field_close(&f);
    if (access(python, X_OK) != 0) {
        (void)printf(
            "  without the Python SDK: %s is not there, test/server/test_sdk.py makes it\n",
            python);
        return rc;
    }
    field_open(&f);
    loss(&f, "worker_loss_s_sdk", python, script, "py_held");
    return field_close(&f) || rc;
}
