/* sdk_host.c: a program with C workflows and activities that lets workers of other languages in,
   for test_sdk.py: its server hands out what it does not know itself.

     sdk_host STORE      prints "sdk_host at http://127.0.0.1:PORT" and serves until SIGTERM */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "holdfast/holdfast.h"
#include "holdfast/worker.h"
#include "server/server.h"

static hf_value twice(hf_act *a, hf_value in)
{
    return hf_json(a, "%lld", 2 * (long long)hf_int(in, "", 0));
}

static hf_value greets(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "greet", in);
}

static const hf_activity_def activities[] = {{"c_twice", .run = twice}, {0}};
static const hf_workflow_def workflows[] = {{"c_greets", .run = greets}, {0}};
static const hf_app app = {.name = "host", .activities = activities, .workflows = workflows};

int main(int argc, char **argv)
{
    hf_server_options options = {.listen = "127.0.0.1:0"};
    hf_engine *engine = NULL;
    hf_server *server = NULL;
    hf_err err = {0};
    sigset_t stop;
    int got;

    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &stop, NULL); /* before there are threads */
    if (argc != 2 || hf_open(argv[1], &app, &engine) || hf_workers_allow(engine)) {
        (void)fprintf(stderr, "%s\n", engine ? hf_errmsg(engine) : "usage: sdk_host STORE");
        return 1;
    }
    options.engine = engine;
    if (hf_server_open(&options, &server, &err) || hf_server_start(server, &err)) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    (void)printf("sdk_host at http://127.0.0.1:%d\n", hf_server_port(server));
    (void)fflush(stdout);
    (void)sigwait(&stop, &got);
    hf_server_drain(server, 5000);
    hf_server_wait(server);
    hf_server_close(server);
    hf_close(engine);
    return 0;
}
