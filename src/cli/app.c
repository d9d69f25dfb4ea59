/* app.c: hf_main, the command line of a user's program. It works on a store until it is told to
   stop. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/thread.h"
#include "cli/app_replay.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/settings.h"
#include "cli/stop.h"
#include "holdfast/holdfast.h"

enum { ADDRESS_BYTES = 4096 };

/* What the command line asks for. */
typedef struct app_call {
    const hf_app *app;
    const char *program;
    const char *store;
    bool help;
    char address[ADDRESS_BYTES]; /* the default store */
} app_call;

/* The thread that works. */
typedef struct app_worker {
    hf_engine *engine;
    hf_status status;
    hf_err err;
} app_worker;

static void worker_run(void *ctx)
{
    app_worker *worker = ctx;

    worker->status = hf_run(worker->engine);
    if (worker->status) /* the text is this thread's */
        (void)hf_err_set(&worker->err, worker->status, "%s", hf_errmsg(worker->engine));
    hf_cli_stop_now();
}

static void help_print(const app_call *call)
{
    printf("%s: works on the store of %s until it is stopped (SIGINT or SIGTERM)\n\n"
           "usage: %s [worker] [--store ADDRESS]\n"
           "       %s replay [FILE] [-o json]\n"
           "       %s start | ls | show | why | result | history | signal | cancel ...\n\n"
           "  worker             run workflows and activities; what happens without a command\n"
           "  replay             replay the history bundles in FILE (or - for standard input) with "
           "this code;\n"
           "                     ends with 12 when a run would block\n"
           "  start, ls, show    and the other verbs of holdfast, with this code; each has --help\n"
           "  --store ADDRESS    PATH, sqlite:PATH or postgres://...; if it is not given HF_URL, "
           "else %s\n"
           "  --help             show this\n\n"
           "workflows:",
           call->program, call->app->name, call->program, call->program, call->program,
           call->address);
    for (const hf_workflow_def *def = call->app->workflows; def && def->type; def++)
        printf(" %s", def->type);
    printf("\nactivities:");
    for (const hf_activity_def *def = call->app->activities; def && def->name; def++)
        printf(" %s", def->name);
    printf("\n");
}

static hf_status call_read(app_call *call, int argc, char **argv, hf_err *err)
{
    const char *verb = NULL;

    for (int at = 1; at < argc; at++) {
        const char *word = argv[at];

        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
            call->help = true;
        else if (strncmp(word, "--store=", strlen("--store=")) == 0)
            call->store = word + strlen("--store=");
        else if (strcmp(word, "--store") == 0 && at + 1 < argc)
            call->store = argv[++at];
        else if (strcmp(word, "--store") == 0)
            return hf_err_set(err, HF_INVALID, "--store needs an ADDRESS");
        else if (word[0] == '-')
            return hf_err_set(err, HF_INVALID, "unknown flag %s; there are: --store --help", word);
        else if (strcmp(word, "worker") != 0)
            return hf_err_set(err, HF_INVALID, "unknown command %s; %s --help shows them all", word,
                              call->program);
        else if (verb)
            return hf_err_set(err, HF_INVALID, "one command at a time: %s is too much", word);
        else
            verb = word;
    }
    return HF_OK;
}

static hf_cli_exit call_fail(const app_call *call, hf_status st, const char *text)
{
    (void)fprintf(stderr, "error: %s\nnext: %s --help\n", text, call->program);
    return hf_cli_exit_of(st);
}

/* Works until a signal comes or the engine cannot go on; what runs then is let end. */
static hf_status engine_work(hf_engine *engine, hf_err *err)
{
    app_worker worker = {.engine = engine};
    hf_thread thread = {0};
    hf_status st = hf_thread_start(&thread, "hf-run", worker_run, &worker, err);

    if (st)
        return st;
    (void)hf_cli_stop_wait(-1);
    hf_shutdown(engine);
    hf_thread_join(&thread);
    return worker.status ? hf_err_set(err, worker.status, "%s", worker.err.text) : HF_OK;
}

static hf_status store_work(const app_call *call, hf_err *err)
{
    const char *url = getenv("HF_URL");
    const char *store = call->store ? call->store : url && *url ? url : call->address;
    hf_engine *engine = NULL;
    hf_cli_stop old;
    hf_status st = hf_cli_stop_catch(&old, err);

    if (st)
        return st;
    st = hf_open(store, call->app, &engine);
    if (st) {
        (void)hf_err_set(err, st, "%s", hf_errmsg(engine));
    } else {
        bool secret = false; /* an address may carry a password */
        const char *shown = hf_cli_address_mask(hf_mem_of_engine(engine), store, &secret);

        (void)fprintf(stderr, "%s: working on %s\n", call->app->name, shown ? shown : "its store");
        st = engine_work(engine, err);
    }
    hf_close(engine);
    hf_cli_stop_release(&old);
    return st;
}

int hf_main(int argc, char **argv, const hf_app *app)
{
    app_call call = {.app = app, .program = argc > 0 && argv[0] ? argv[0] : "program"};
    hf_err err = {0};
    hf_status st;

    if (!app || !app->name)
        return (int)call_fail(&call, HF_MISUSE, "hf_main needs an application with a name");
    (void)snprintf(call.address, sizeof(call.address), "./%s.db", app->name);
    if (argc > 1 && strcmp(argv[1], "replay") == 0)
        return (int)hf_cli_app_replay(app, argc - 2, argv + 2);
    if (argc > 1 && strcmp(argv[1], "help") != 0 && strcmp(argv[1], "worker") != 0 &&
        hf_cli_command_find(argv[1]))
        return hf_cli_main_for(argc, argv, app);
    st = call_read(&call, argc, argv, &err);
    if (!st && call.help) {
        help_print(&call);
        return HF_CLI_EXIT_OK;
    }
    if (!st)
        st = store_work(&call, &err);
    return st ? (int)call_fail(&call, st, err.text) : HF_CLI_EXIT_OK;
}
