/* test_sticky.c: programs that keep the coroutines of their runs between tasks. What passes between
   program and server is counted on a relay between the two. */
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/thread.h"
#include "engine/engine_impl.h"
#include "engine/remote.h"
#include "holdfast/host.h"
#include "lib/site.h"

enum { STEPS = 20, INPUT_BYTES = 30000, PAIRS = 128, SIGNALS = 12 };

#define OK(d, call) ck_assert_msg((call) == HF_OK, "%s", hf_errmsg(d))

/* ---- a relay: copies both ways and counts */

typedef struct relay {
    int port; /* of the server */
    int listens;
    int own;                           /* its own port */
    struct pollfd ends[2 * PAIRS + 1]; /* the listening one, then pairs: program, server */
    size_t pairs;
    hf_thread thread;
    _Atomic bool stop;
    _Atomic size_t to_program; /* bytes */
    _Atomic int histories;     /* requests for more of a history */
} relay;

static int count_of(const char *bytes, size_t len, const char *word)
{
    size_t size = strlen(word);
    int count = 0;

    for (size_t i = 0; i + size <= len; i++)
        count += memcmp(bytes + i, word, size) == 0;
    return count;
}

static void pair_close(relay *r, size_t pair)
{
    for (size_t i = 1 + 2 * pair; i < 3 + 2 * pair; i++) {
        if (r->ends[i].fd >= 0)
            (void)close(r->ends[i].fd);
        r->ends[i].fd = -1;
    }
}

static void end_copy(relay *r, size_t at)
{
    static char bytes[1 << 16];
    size_t pair = (at - 1) / 2;
    bool from_program = at % 2 == 1;
    ssize_t got = recv(r->ends[at].fd, bytes, sizeof(bytes), 0);

    if (got <= 0 || !hf_wire_send(r->ends[from_program ? at + 1 : at - 1].fd,
                                  hf_slice_from(bytes, (size_t)got))) {
        pair_close(r, pair);
        return;
    }
    if (from_program)
        atomic_fetch_add(&r->histories, count_of(bytes, (size_t)got, "/history HTTP/1.1"));
    else
        atomic_fetch_add(&r->to_program, (size_t)got);
}

static void relay_run(void *ctx)
{
    relay *r = ctx;

    while (!atomic_load(&r->stop)) {
        (void)poll(r->ends, (nfds_t)(1 + 2 * r->pairs), 20);
        if (r->ends[0].revents & POLLIN && r->pairs < PAIRS) {
            int fd = accept(r->listens, NULL, NULL);

            r->ends[1 + 2 * r->pairs] = (struct pollfd){.fd = fd, .events = POLLIN};
            r->ends[2 + 2 * r->pairs] =
                (struct pollfd){.fd = hf_wire_connect(r->port), .events = POLLIN};
            r->pairs++;
        }
        for (size_t i = 1; i < 1 + 2 * r->pairs; i++)
            if (r->ends[i].fd >= 0 && r->ends[i].revents)
                end_copy(r, i);
    }
}

static void relay_open(relay *r, const hf_site *site)
{
    hf_err err;

    *r = (relay){.port = hf_server_port(site->server)};
    r->listens = hf_wire_listen(&r->own);
    r->ends[0] = (struct pollfd){.fd = r->listens, .events = POLLIN};
    ck_assert_int_eq(hf_thread_start(&r->thread, "relay", relay_run, r, &err), HF_OK);
}

static void relay_close(relay *r)
{
    atomic_store(&r->stop, true);
    hf_thread_join(&r->thread);
    for (size_t i = 0; i < r->pairs; i++)
        pair_close(r, i);
    (void)close(r->listens);
}

/* ---- a program */

static _Atomic int bodies; /* how often a body was begun */

static hf_value add(hf_act *a, hf_value in)
{
    return hf_json(a, "%lld", (long long)(hf_int(in, "a", 0) + hf_int(in, "b", 0)));
}

/* Uses its big input in every step, so that it must be there in every one. */
static hf_value sums(hf_ctx *w, hf_value in)
{
    int64_t sum = 0;

    atomic_fetch_add(&bodies, 1);
    for (int i = 0; i < STEPS; i++)
        sum = hf_int(hf_activity(w, "add",
                                 hf_json(w, "{'a': %lld, 'b': %zu}", (long long)sum,
                                         strlen(hf_str(in, "text", "")))),
                     "", 0);
    return hf_json(w, "%lld", (long long)sum);
}

/* Facts come in while it works: signals, and the ends of several activities at once. */
static hf_value busy(hf_ctx *w, hf_value in)
{
    int64_t sum = 0;

    for (int i = 0; i < SIGNALS; i++) {
        hf_value both = hf_all(w, HF_ACTIVITY("add", hf_json(w, "{'a': %d, 'b': 1}", i)),
                               HF_ACTIVITY("add", hf_json(w, "{'a': %d, 'b': 2}", i)));
        hf_value told = hf_receive(w, "told");

        sum += hf_int(both, "0", 0) + hf_int(both, "1", 0) + hf_int(told, "n", 0);
    }
    (void)in;
    return hf_json(w, "%lld", (long long)sum);
}

static const hf_app app = {
    .name = "sticky",
    .workflows =
        (const hf_workflow_def[]){{.type = "sums", .run = sums},
                                  {.type = "busy",
                                   .run = busy,
                                   .signals = (const hf_signal_def[]){{"told", "n:int"}, {0}}},
                                  {0}},
    .activities = (const hf_activity_def[]){{hf_fn(add)}, {0}},
};
static const hf_app nothing = {.name = "nothing-here"};

static hf_engine *program_open(int port)
{
    char address[64];
    hf_engine *d = NULL;

    (void)snprintf(address, sizeof(address), "http://127.0.0.1:%d", port);
    OK(d, hf_open(address, &app, &d));
    return d;
}

static void sums_begin(hf_engine *d, const char *id)
{
    static char text[INPUT_BYTES + 1];

    memset(text, 'x', INPUT_BYTES);
    OK(d, hf_start(d, "sums", hf_json(d, "{'text': %s}", text), .id = id));
}

static void sums_end(hf_engine *d, const char *id)
{
    hf_value out = NULL;

    OK(d, hf_result(d, id, 60000, &out, NULL));
    ck_assert_int_eq(hf_int(out, "", 0), (int64_t)STEPS * INPUT_BYTES);
}

/* What was recorded is what the code does when it is replayed from the beginning. */
static void bundle_check(hf_site *site, const char *id)
{
    const char *bundle = NULL;
    hf_value report = NULL;
    hf_err err = {0};

    OK(site->engine, hf_export(site->engine, site->mem, &bundle, id));
    ck_assert_int_eq(hf_replay_bundle(&app, bundle, strlen(bundle), site->mem, &report, &err),
                     HF_OK);
    ck_assert_msg(strcmp(hf_str(report, "verdict", ""), "ok") == 0, "%s",
                  hf_str(report, "sentence", "?"));
}

/* The first task brings the history, the others what is new: the big input travels once, nobody
   asks for a history, and the body is begun once. With every task it would be STEPS times. */
HF_BOTH_ENGINES(a_task_brings_what_is_new)
{
    hf_site site;
    relay r;
    hf_engine *d;

    atomic_store(&bodies, 0);
    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    relay_open(&r, &site);
    d = program_open(r.own);
    sums_begin(d, "s-1");
    sums_end(d, "s-1");
    hf_close(d);
    relay_close(&r);
    ck_assert_int_eq(atomic_load(&bodies), 1);
    ck_assert_int_eq(atomic_load(&r.histories), 0);
    ck_assert_uint_lt(atomic_load(&r.to_program), (size_t)STEPS / 2 * INPUT_BYTES);
    bundle_check(&site, "s-1");
    hf_site_close(&site);
}

/* A program that has no room for runs asks for the history with every task, and decides the same.
 */
HF_BOTH_ENGINES(a_run_that_was_let_go_is_replayed)
{
    hf_site site;
    relay r;
    hf_engine *d;

    atomic_store(&bodies, 0);
    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    relay_open(&r, &site);
    d = program_open(r.own);
    hf_remote_cache_limit(d->remote, 0);
    sums_begin(d, "s-1");
    sums_end(d, "s-1");
    hf_close(d);
    relay_close(&r);
    ck_assert_int_ge(atomic_load(&r.histories), STEPS - 1);
    ck_assert_int_ge(atomic_load(&bodies), STEPS);
    bundle_check(&site, "s-1");
    hf_site_close(&site);
}

/* A program that was started again under the name that it had, and even two at once: the server
   believes that they know runs which they never saw, or not so far. */
HF_BOTH_ENGINES(a_name_is_no_memory)
{
    hf_site site;
    hf_engine *d[2];

    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    ck_assert_int_eq(setenv("HF_WORKER_ID", "the-same", 1), 0);
    for (int i = 0; i < 2; i++)
        d[i] = program_open(hf_server_port(site.server));
    (void)unsetenv("HF_WORKER_ID");
    for (int i = 0; i < 4; i++) {
        char id[16];

        (void)snprintf(id, sizeof(id), "s-%d", i);
        sums_begin(d[i % 2], id);
    }
    for (int i = 0; i < 4; i++) {
        char id[16];

        (void)snprintf(id, sizeof(id), "s-%d", i);
        sums_end(d[0], id);
        bundle_check(&site, id);
    }
    hf_close(d[0]);
    hf_close(d[1]);
    hf_site_close(&site);
}

/* Facts that are recorded in front of what the code decided without them. */
HF_BOTH_ENGINES(facts_that_come_in_between)
{
    hf_site site;
    hf_engine *d;
    hf_value out = NULL;
    int64_t sum = 0;

    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    d = program_open(hf_server_port(site.server));
    OK(d, hf_start(d, "busy", NULL, .id = "b-1"));
    for (int i = 0; i < SIGNALS; i++) {
        OK(d, hf_signal(d, "b-1", "told", hf_json(d, "{'n': %d}", i)));
        sum += 3 * i + 3;
    }
    OK(d, hf_result(d, "b-1", 60000, &out, NULL));
    ck_assert_int_eq(hf_int(out, "", 0), sum);
    hf_close(d);
    bundle_check(&site, "b-1");
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/sticky", HF_BOTH(a_task_brings_what_is_new),
                 HF_BOTH(a_run_that_was_let_go_is_replayed), HF_BOTH(a_name_is_no_memory),
                 HF_BOTH(facts_that_come_in_between))
