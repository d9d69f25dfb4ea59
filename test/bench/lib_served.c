/* lib_served.c: see lib_served.h. */
#include "lib_served.h"

#include <stdio.h>

#include "holdfast/worker.h"
#include "lib_report.h"

void hf_bench_served_open(hf_bench_served *served, const char *address)
{
    static const hf_app nothing = {.name = "bench-server"};
    hf_server_options options = {.listen = "127.0.0.1:0"};
    hf_err err = {0};

    *served = (hf_bench_served){0};
    hf_bench_need(!hf_open(address, &nothing, &served->engine), hf_errmsg(served->engine));
    hf_bench_need(!hf_workers_allow(served->engine), hf_errmsg(served->engine));
    options.engine = served->engine;
    hf_bench_ok(hf_server_open(&options, &served->server, &err), &err, "open a server");
    hf_bench_ok(hf_server_start(served->server, &err), &err, "start a server");
    (void)snprintf(served->url, sizeof(served->url), "http://127.0.0.1:%d",
                   hf_server_port(served->server));
}

void hf_bench_served_close(hf_bench_served *served)
{
    hf_server_drain(served->server, 5000);
    hf_server_wait(served->server);
    hf_server_close(served->server);
    hf_close(served->engine);
}
