/* test_fault.c: a program behind a server when memory runs out. The server is the real one in a
   process of its own, so that only the program's allocations fail: one of them, at each place. The
   call that needed it says so, or the work is done again; no run is lost. */
#include <poll.h>
#include <signal.h>

#include "base/fault.h"
#include "client/client.h"
#include "holdfast/holdfast.h"
#include "lib/campaign.h"
#include "lib/check_store.h"

#include "cli/program.h" /* last: its names are short */

enum { STRIDE_SHORT = 23, STRIDE_USUAL = 11, FIRST_MS = 5000, WAIT_MS = 90000 };

static hf_value twice(hf_act *a, hf_value in)
{
    return hf_json(a, "%lld", (long long)(2 * hf_int(in, "", 0)));
}

static hf_value four(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "twice", hf_activity(w, "twice", in));
}

static const hf_app app = {
    .name = "fault",
    .workflows = (const hf_workflow_def[]){{.type = "four", .run = four}, {0}},
    .activities = (const hf_activity_def[]){{hf_fn(twice)}, {0}},
};

typedef struct serving {
    pid_t pid;
    char url[64];
} serving;

static serving serve_begin(void)
{
    int fd = open("talk", O_CREAT | O_RDWR | O_CLOEXEC | O_APPEND, 0600);
    hf_buf said = {0};
    serving self = {0};
    const char *at = NULL;

    self.pid = start(NULL,
                     (const char *const[]){PROGRAM, "serve", "s.db", "--auth", "none", "--listen",
                                           "127.0.0.1:0", NULL},
                     fd, fd);
    for (int i = 0; i < 3000 && !at; i++) {
        (void)poll(&(struct pollfd){.fd = -1}, 1, 10);
        file_read("talk", &said);
        at = strstr(hf_buf_text(&said), "127.0.0.1:");
        if (at && !strchr(at, '\n'))
            at = NULL;
    }
    ck_assert_msg(at, "it does not serve: %s", hf_buf_text(&said));
    (void)snprintf(self.url, sizeof(self.url), "http://127.0.0.1:%d", atoi(at + 10));
    hf_buf_fini(&said);
    (void)close(fd);
    return self;
}

static void serve_end(const serving *self)
{
    ck_assert_int_eq(kill(self->pid, SIGTERM), 0);
    ck_assert_int_eq(finish(self->pid), 0);
    ck_assert_int_eq(RUN("verify", "s.db"), 0);
}

/* One program from its beginning to its end; the allocation may fail anywhere in it. False: no
   allocation was left to fail. */
static bool program_run(const serving *self, int64_t nth)
{
    hf_value in = hf_json_(mem, "5");
    const hf_error *failure = NULL;
    hf_engine *d = NULL;
    hf_value out = NULL;
    char id[32];
    hf_status st;
    bool hit;

    (void)snprintf(id, sizeof(id), "r-%lld", (long long)nth);
    hf_fault_arm(HF_FAULT_ALLOC, nth, false);
    st = hf_open(self->url, &app, &d);
    if (!st)
        st = hf_start(d, "four", in, .id = id);
    ck_assert_msg(st == HF_OK || st == HF_NOMEM || st == HF_MISUSE, "%s", hf_errmsg(d));
    if (!st)
        st = hf_result(d, id, FIRST_MS, &out, &failure);
    hit = hf_fault_seen(HF_FAULT_ALLOC) >= nth;
    hf_fault_arm(HF_FAULT_ALLOC, 0, false);
    if (st && !failure) { /* whoever was told asks again, with a new handle */
        hf_close(d);
        ck_assert_int_eq(hf_open(self->url, &app, &d), HF_OK);
        st = hf_start(d, "four", in, .id = id);
        ck_assert_msg(st == HF_OK || st == HF_EXISTS, "%s", hf_errmsg(d));
        st = hf_result(d, id, WAIT_MS, &out, &failure);
    }
    if (st) /* the code itself was given no memory for a value, and is told so */
        ck_assert_msg(failure && (strcmp(failure->type, "invalid_value") == 0 ||
                                  strcmp(failure->type, "no_memory") == 0),
                      "%s", hf_errmsg(d));
    else
        ck_assert_int_eq(hf_int(out, "", 0), 20);
    hf_close(d);
    return hit;
}

/* The whole worker: opening, registering, polling, replaying, reporting, closing. */
START_TEST(a_worker_survives)
{
    int stride = hf_campaign_stride(STRIDE_SHORT, STRIDE_USUAL);
    serving self;
    int64_t nth = 1;

    begin();
    self = serve_begin();
    while (program_run(&self, nth))
        nth += stride;
    serve_end(&self);
    end();
}
END_TEST

/* A client: opening, paths, requests and answers. */
START_TEST(a_client_survives)
{
    serving self;
    bool hit = true;

    begin();
    self = serve_begin();
    for (int64_t nth = 1; hit; nth++) {
        const hf_client_options options = {.url = self.url, .token = "t", .namespace = "default"};
        hf_client *client = NULL;
        hf_client_reply reply = {0};
        hf_mem *own;
        hf_err err = {0};
        hf_status st;

        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        own = hf_mem_new();
        st = own ? hf_client_open(&options, &client, &err) : HF_NOMEM;
        if (!st) {
            const hf_client_request request = {
                .method = "POST",
                .path = hf_client_path(own, "/api/workflows/%s/signal/%s?x=%s", "a b", "c", "d&"),
                .body = hf_json_(own, "{'arguments': [1, 2]}")};

            st = request.path && request.body ? hf_client_ask(client, &request, own, &reply, &err)
                                              : HF_NOMEM;
        }
        hit = hf_fault_seen(HF_FAULT_ALLOC) >= nth;
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_msg(st == HF_NOMEM || (!st && reply.status >= 400), "%d %s", (int)st, err.text);
        ck_assert(hit || !st);
        hf_client_close(client);
        hf_mem_free(own);
    }
    serve_end(&self);
    end();
}
END_TEST

HF_SUITE_MAIN("cli/fault", {a_worker_survives, 600}, {a_client_survives, 60})
