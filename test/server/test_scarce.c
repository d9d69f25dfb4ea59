/* test_scarce.c: a program that works for a server and runs out of memory for a moment, at one
   allocation after the other. It goes on by itself: no run waits for the end of a lease. The server
   is a process of its own, and has memory. */
#include <stdio.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "lib/campaign.h"
#include "lib/site.h"

static hf_value twice(hf_act *a, hf_value in)
{
    return hf_json(a, "%lld", (long long)(2 * hf_int(in, "n", 0)));
}

static hf_value leaf(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "twice", in);
}

static const hf_app app = {.name = "scarce",
                           .workflows =
                               (const hf_workflow_def[]){{.type = "leaf", .run = leaf}, {0}},
                           .activities = (const hf_activity_def[]){{hf_fn(twice)}, {0}}};
static const hf_app nothing = {.name = "nothing-here"};

typedef struct host {
    pid_t pid;
    int port;
    int hold; /* closed: it ends */
} host;

/* Before this process has threads. */
static void host_begin(host *self)
{
    int say[2];
    int hold[2];

    ck_assert_int_eq(pipe(say), 0);
    ck_assert_int_eq(pipe(hold), 0);
    self->pid = fork();
    ck_assert_int_ge(self->pid, 0);
    if (self->pid == 0) {
        hf_site site;
        char byte;

        (void)close(hold[1]);
        hf_site_open(&site, HF_ENGINE_SQLITE, &nothing, (hf_server_options){0});
        self->port = hf_server_port(site.server);
        (void)!write(say[1], &self->port, sizeof(self->port));
        (void)!read(hold[0], &byte, 1);
        hf_site_close(&site);
        _exit(0);
    }
    (void)close(hold[0]);
    (void)close(say[1]);
    ck_assert_int_eq(read(say[0], &self->port, sizeof(self->port)), sizeof(self->port));
    (void)close(say[0]);
    self->hold = hold[1];
}

static void host_end(host *self)
{
    int status = -1;

    (void)close(self->hold);
    ck_assert_int_eq(waitpid(self->pid, &status, 0), self->pid);
    ck_assert_int_eq(status, 0);
}

/* One run to its end while the nth allocation fails; how many there were. That may be one of the
   activity's own, and then it fails. The caller of commands is this program, too, and may be told
   that there was no memory. */
static int64_t run_take(hf_engine *d, int64_t nth)
{
    char id[32];
    hf_value out = NULL;
    int64_t seen;
    hf_status st;

    (void)snprintf(id, sizeof(id), "r-%lld", (long long)nth);
    hf_fault_arm(HF_FAULT_ALLOC, nth, false);
    st = hf_start(d, "leaf", hf_json(d, "{'n': 4}"), .id = id);
    if (st == HF_NOMEM || st == HF_INVALID || st == HF_MISUSE)
        st = hf_start(d, "leaf", hf_json(d, "{'n': 4}"), .id = id);
    ck_assert_msg(!st || st == HF_EXISTS, "%lld: %d %s", (long long)nth, (int)st, hf_errmsg(d));
    st = hf_result(d, id, 45000, &out, NULL);
    if (st == HF_NOMEM)
        st = hf_result(d, id, 45000, &out, NULL);
    seen = hf_fault_seen(HF_FAULT_ALLOC);
    hf_fault_arm(HF_FAULT_ALLOC, 0, false);
    ck_assert_msg(st == HF_ERROR || (!st && hf_int(out, "", 0) == 8), "%lld: %d %s", (long long)nth,
                  (int)st, hf_errmsg(d));
    return seen;
}

/* Every so manieth allocation in turn. */
START_TEST(one_failure_stalls_nobody)
{
    int64_t stride = hf_campaign_stride(16, 4);
    char address[64];
    host far;
    hf_engine *d = NULL;
    int64_t nth = 1;

    host_begin(&far);
    (void)snprintf(address, sizeof(address), "http://127.0.0.1:%d", far.port);
    ck_assert_int_eq(hf_open(address, &app, &d), HF_OK);
    (void)run_take(d, INT64_MAX);
    while (nth < run_take(d, nth))
        nth += stride;
    hf_close(d);
    host_end(&far);
}
END_TEST

HF_SUITE_MAIN("server/scarce", {one_failure_stalls_nobody, 300})
