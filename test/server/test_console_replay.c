/* test_console_replay.c: whether the code of today replays a run, asked over real HTTP: by the
   server's own code, by a worker's, by nobody who is here; of bundles; of code that does not come
   back; and what is stored of a run that is blocked. Nothing that is asked leaves a trace. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "holdfast/view.h"
#include "holdfast/worker.h"
#include "lib/nap.h"
#include "lib/site.h"

static const hf_app nothing = {.name = "nothing-here"};

/* ---- code that changes while it runs */

static _Atomic int edition; /* which code replays find */
static _Atomic int effects; /* of code that ran for the first time */

static hf_value counted(hf_mem *mem, void *arg)
{
    (void)arg;
    atomic_fetch_add(&effects, 1);
    return hf_value_int(mem, 1);
}

static hf_value charge(hf_act *a, hf_value in)
{
    (void)a;
    atomic_fetch_add(&effects, 1);
    return in;
}

/* Edition 1 waits where edition 0 charges; 2 has one step more at its end; 3 does not come back. */
static hf_value order(hf_ctx *w, hf_value in)
{
    for (int i = 0; i < 12; i++)
        (void)hf_side_effect(w, NULL, counted, NULL);
    while (atomic_load(&edition) == 3)
        hf_nap_ms(1);
    if (atomic_load(&edition) == 1)
        hf_sleep(w, 10);
    else
        (void)hf_activity(w, "charge", in);
    (void)hf_receive(w, "go");
    if (atomic_load(&edition) == 2)
        (void)hf_side_effect(w, NULL, counted, NULL);
    return in;
}

static const hf_app app = {
    .name = "orders",
    .build_id = "2026.11",
    .workflows =
        (const hf_workflow_def[]){
            {.type = "order", .run = order, .signals = (const hf_signal_def[]){{"go", NULL}, {0}}},
            {0}},
    .activities = (const hf_activity_def[]){{hf_fn(charge)}, {0}}};

/* ---- helpers */

static hf_value why_await(hf_site *site, const char *code)
{
    hf_value head = NULL;

    for (int i = 0; i < 6000; i++) {
        head = hf_site_ask(site, "GET", "/console/api/runs/a", NULL, NULL).body;
        if (strcmp(hf_str(head, "why.code", ""), code) == 0)
            return head;
        hf_nap_ms(10);
    }
    ck_abort_msg("%s instead of %s", hf_str(head, "why.code", ""), code);
}

static void order_start(hf_site *site)
{
    atomic_store(&edition, 0);
    (void)hf_site_expect(site, "POST", "/api/workflows",
                         "{\"workflow_type\":\"order\",\"workflow_id\":\"a\",\"input\":{\"n\":1}}",
                         201);
    (void)why_await(site, "waiting_for_signal");
}

static hf_value replay(hf_site *site, const char *verdict)
{
    hf_site_answer answer = hf_site_expect(site, "POST", "/console/api/runs/a/replay", "{}", 200);

    ck_assert_msg(strcmp(hf_str(answer.body, "verdict", ""), verdict) == 0, "%.1500s", answer.text);
    return answer.body;
}

/* Where edition 1 and the history of edition 0 part. */
static void parted_check(hf_value found)
{
    hf_value rows = hf_get(found, "rows");

    ck_assert_str_eq(hf_str(found, "reason", ""), "history_shape_mismatch");
    ck_assert_int_eq(hf_int(found, "step", 0), 13);
    ck_assert_ptr_nonnull(strstr(hf_str(found, "source_line", ""), "test_console_replay.c:"));
    ck_assert_ptr_nonnull(strstr(hf_str(found, "text", ""), "step 13: history has activity"));
    ck_assert_str_eq(hf_str(found, "guard.change_id", ""), "order-step-13");
    ck_assert_ptr_nonnull(
        strstr(hf_str(found, "guard.line", ""), "hf_version(w, \"order-step-13\""));
    ck_assert_int_eq(hf_int(found, "rows_before", -1), 2);
    ck_assert_int_eq(hf_int(found, "rows_after", -1), 0);
    ck_assert_uint_eq(hf_len(rows), 12);
    ck_assert_str_eq(hf_str(rows, "0.state", ""), "same");
    ck_assert_str_eq(hf_str(rows, "0.recorded.kind", ""), hf_str(rows, "0.wanted.kind", "-"));
    ck_assert_str_eq(hf_str(rows, "10.state", ""), "different");
    ck_assert_str_eq(hf_str(rows, "10.recorded.kind", ""), "activity");
    ck_assert_str_eq(hf_str(rows, "10.recorded.name", ""), "charge");
    ck_assert_str_eq(hf_str(rows, "10.recorded.outcome", ""), "ActivityCompleted");
    ck_assert_str_eq(hf_str(rows, "10.wanted.kind", ""), "timer");
    ck_assert_str_eq(hf_str(rows, "11.state", ""), "not_reached");
    ck_assert_int_eq(hf_value_kind_of(hf_get(rows, "11.wanted")), HF_VALUE_NULL);
}

/* ---- cases */

/* The server has the code: clean, then with code that changed; nothing of it is recorded and no
   step begins that was not there. */
HF_BOTH_ENGINES(the_servers_own_code)
{
    int64_t events;
    int seen;
    hf_site site;
    hf_value found;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    order_start(&site);
    seen = atomic_load(&effects);
    found = replay(&site, "ok");
    events = hf_int(found, "events", 0);
    ck_assert_str_eq(hf_str(found, "ran.kind", ""), "program");
    ck_assert_str_eq(hf_str(found, "ran.build", ""), "2026.11");
    ck_assert(hf_get(found, "ran.elapsed_ms") != NULL);
    ck_assert(hf_bool(found, "who.here", false));
    ck_assert_uint_eq(hf_len(hf_get(found, "rows")), 14);
    ck_assert_str_eq(hf_str(found, "rows.13.state", ""), "same");
    ck_assert_ptr_nonnull(
        strstr(hf_str(found, "rows.13.wanted.source_line", ""), "test_console_replay.c:"));
    atomic_store(&edition, 1);
    found = replay(&site, "blocked");
    parted_check(found);
    ck_assert_ptr_nonnull(
        strstr(hf_str(found, "rows.9.wanted.source_line", ""), "test_console_replay.c:"));
    ck_assert_int_eq(hf_int(found, "events", 0), events);
    atomic_store(&edition, 2); /* more at the end, where nothing is recorded yet */
    (void)replay(&site, "ok");
    atomic_store(&edition, 0);
    (void)hf_site_expect(&site, "POST", "/api/workflows/a/signal/go", "{}", 202);
    (void)hf_site_expect(&site, "GET", "/api/workflows/a/result?wait_timeout_seconds=60", NULL,
                         200);
    (void)replay(&site, "ok");
    atomic_store(&edition, 2); /* more where the run was over */
    found = replay(&site, "blocked");
    ck_assert_str_eq(hf_str(found, "reason", ""), "end_differs");
    ck_assert_int_eq(hf_value_kind_of(hf_get(found, "guard")), HF_VALUE_NULL);
    ck_assert_int_eq(atomic_load(&effects), seen);
    hf_site_close(&site);
}

/* A worker has it. */
HF_BOTH_ENGINES(a_workers_code)
{
    char address[64];
    hf_engine *d = NULL;
    hf_site site;
    hf_value found;

    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    (void)snprintf(address, sizeof(address), "http://127.0.0.1:%d", hf_server_port(site.server));
    ck_assert_msg(!hf_open(address, &app, &d), "%s", hf_errmsg(d));
    ck_assert_msg(!hf_start(d, "order", hf_json(d, "{'n': 1}"), .id = "a"), "%s", hf_errmsg(d));
    (void)why_await(&site, "waiting_for_signal");
    found = replay(&site, "ok");
    ck_assert_str_eq(hf_str(found, "ran.kind", ""), "worker");
    ck_assert(!hf_bool(found, "who.here", true));
    ck_assert_uint_eq(hf_len(hf_get(found, "who.workers")), 1);
    ck_assert_str_eq(hf_str(found, "who.workers.0.build_id", ""), "2026.11");
    atomic_store(&edition, 1);
    parted_check(replay(&site, "blocked"));
    atomic_store(&edition, 0);
    hf_close(d);
    found = replay(&site, "elsewhere"); /* nobody has it now */
    ck_assert_int_eq(hf_value_kind_of(hf_get(found, "ran")), HF_VALUE_NULL);
    ck_assert_uint_eq(hf_len(hf_get(found, "rows")), 0);
    ck_assert_uint_gt(strlen(hf_str(found, "who.text", "")), 10);
    ck_assert_ptr_nonnull(strstr(hf_str(found, "shell", ""), "holdfast bundle replay"));
    hf_site_close(&site);
}

/* A bundle is replayed by a server that has the code, and by no other. */
HF_BOTH_ENGINES(a_bundles_run)
{
    char path[256];
    hf_buf bundle = {0};
    hf_site site;
    hf_site_answer answer;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    order_start(&site);
    answer = hf_site_expect(&site, "GET", "/console/api/runs/a", NULL, 200);
    (void)snprintf(path, sizeof(path), "/api/workflows/a/runs/%s/history/export",
                   hf_str(answer.body, "run_id", ""));
    hf_buf_add_text(&bundle, hf_site_expect(&site, "GET", path, NULL, 200).text);
    answer = hf_site_expect(&site, "POST", "/console/api/bundles", hf_buf_text(&bundle), 201);
    (void)snprintf(path, sizeof(path), "/console/api/bundles/%s/replay",
                   hf_str(answer.body, "bundle.id", ""));
    atomic_store(&edition, 1);
    answer = hf_site_expect(&site, "POST", path, "{}", 200);
    ck_assert_str_eq(hf_str(answer.body, "verdict", ""), "blocked");
    parted_check(answer.body);
    atomic_store(&edition, 0);
    answer = hf_site_expect(&site, "POST", path, "{}", 200);
    ck_assert_str_eq(hf_str(answer.body, "verdict", ""), "ok");
    hf_site_close(&site);
    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    answer = hf_site_expect(&site, "POST", "/console/api/bundles", hf_buf_text(&bundle), 201);
    (void)snprintf(path, sizeof(path), "/console/api/bundles/%s/replay",
                   hf_str(answer.body, "bundle.id", ""));
    answer = hf_site_expect(&site, "POST", path, "{}", 200);
    ck_assert_str_eq(hf_str(answer.body, "verdict", ""), "elsewhere");
    ck_assert_ptr_nonnull(strstr(hf_str(answer.body, "who.text", ""), "No worker"));
    hf_buf_fini(&bundle);
    hf_site_close(&site);
}

/* Whoever waits goes on; two at a time may, and all is well when the code comes back. */
HF_BOTH_ENGINES(code_that_does_not_come_back)
{
    hf_mem *mem = hf_mem_new();
    hf_value out = NULL;
    hf_site site;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    order_start(&site);
    atomic_store(&edition, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(hf_run_replay(site.engine, hf_json_(mem, "{'id': 'a', 'timeout_ms': 50}"),
                                       NULL, mem, &out),
                         HF_TIMEOUT);
    atomic_store(&edition, 0);
    (void)replay(&site, "ok");
    ck_assert_int_eq(
        hf_run_replay(site.engine, hf_json_(mem, "{'id': 'a', 'timeout_ms': 0}"), NULL, mem, &out),
        HF_INVALID);
    hf_site_close(&site);
    hf_nap_ms(50); /* for those who were left behind */
    hf_mem_free(mem);
}

/* What is stored of a blocked run, without code; of one that is not, that it is not. */
HF_BOTH_ENGINES(a_blocked_run_says_where)
{
    char address[64];
    hf_engine *d = NULL;
    hf_site site;
    hf_value found;

    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    (void)snprintf(address, sizeof(address), "http://127.0.0.1:%d", hf_server_port(site.server));
    ck_assert_msg(!hf_open(address, &app, &d), "%s", hf_errmsg(d));
    atomic_store(&edition, 0);
    ck_assert_msg(!hf_start(d, "order", hf_json(d, "{'n': 1}"), .id = "a"), "%s", hf_errmsg(d));
    (void)why_await(&site, "waiting_for_signal");
    found = hf_site_expect(&site, "GET", "/console/api/runs/a/blocked", NULL, 200).body;
    ck_assert_int_eq(hf_value_kind_of(hf_get(found, "blocked")), HF_VALUE_NULL);
    hf_close(d);
    atomic_store(&edition, 1);
    ck_assert_msg(!hf_open(address, &app, &d), "%s", hf_errmsg(d));
    ck_assert_msg(!hf_signal(d, "a", "go", hf_json(d, "7")), "%s", hf_errmsg(d));
    (void)why_await(&site, "replay_blocked_shape");
    hf_close(d);
    found = hf_site_expect(&site, "GET", "/console/api/runs/a/blocked", NULL, 200).body;
    ck_assert_str_eq(hf_str(found, "workflow_type", ""), "order");
    parted_check(hf_get(found, "blocked"));
    ck_assert_str_eq(hf_str(found, "blocked.code", ""), "replay_blocked_shape");
    ck_assert_str_eq(hf_str(found, "blocked.expected_shape", ""), "timer");
    ck_assert_str_eq(hf_str(found, "blocked.recorded_events.0", ""), "ActivityScheduled");
    ck_assert_uint_eq(strlen(hf_str(found, "blocked.signature", "")), 16);
    ck_assert_int_eq(hf_int(found, "blocked.others.n", -1), 0);
    ck_assert(hf_str(found, "blocked.since", NULL) != NULL);
    ck_assert_ptr_nonnull(strstr(hf_str(found, "shell", ""), "holdfast replay check"));
    found = hf_site_expect(&site, "GET", "/console/api/runs/none/blocked", NULL, 404).body;
    ck_assert_str_eq(hf_str(found, "reason", ""), "instance_not_found");
    (void)hf_site_expect(&site, "POST", "/console/api/runs/none/replay", "{}", 404);
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/console_replay", HF_BOTH_SLOW(the_servers_own_code, 120),
                 HF_BOTH_SLOW(a_workers_code, 120), HF_BOTH_SLOW(a_bundles_run, 120),
                 HF_BOTH_SLOW(code_that_does_not_come_back, 120),
                 HF_BOTH_SLOW(a_blocked_run_says_where, 120))
