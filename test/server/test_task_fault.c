/* test_task_fault.c: what workers behind a server report of workflow tasks that they could not do,
   over real HTTP on both databases, with a restart of the server in between: it is kept, shown in
   describe, debug and groups of failures, and blocks the run when code and history disagree. */
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "holdfast/worker.h"
#include "lib/nap.h"
#include "lib/site.h"

static const hf_app nothing = {.name = "nothing-here"};

/* ---- programs: the second has another step where the first waits */

static hf_value waits(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_receive(w, "go");
}

static hf_value sleeps(hf_ctx *w, hf_value in)
{
    (void)in;
    hf_sleep(w, 10);
    return hf_receive(w, "go");
}

static const hf_signal_def signals[] = {{"go", NULL}, {0}};
static const hf_workflow_def first_workflows[] = {
    {.type = "t", .run = waits, .revision = "1", .signals = signals}, {0}};
static const hf_workflow_def other_workflows[] = {
    {.type = "t", .run = sleeps, .revision = "2", .signals = signals}, {0}};
static const hf_app first_app = {.name = "test", .workflows = first_workflows};
static const hf_app other_app = {.name = "test", .workflows = other_workflows};

static hf_engine *remote_open(const hf_site *site, const hf_app *what)
{
    char address[64];
    hf_engine *d = NULL;

    (void)snprintf(address, sizeof(address), "http://127.0.0.1:%d", hf_server_port(site->server));
    ck_assert_msg(!hf_open(address, what, &d), "%s", hf_errmsg(d));
    return d;
}

/* The server ends and begins anew on its store. */
static void site_restart(hf_site *site)
{
    hf_server_options options = {.listen = "127.0.0.1:0"};
    hf_err err = {0};

    hf_server_close(site->server);
    hf_close(site->engine);
    ck_assert_int_eq(hf_open(hf_test_place_address(site->place), &nothing, &site->engine), HF_OK);
    ck_assert_int_eq(hf_workers_allow(site->engine), HF_OK);
    options.engine = site->engine;
    hf_test_ok(hf_server_open(&options, &site->server, &err), &err, "open a server");
    hf_test_ok(hf_server_start(site->server, &err), &err, "start a server");
}

static hf_value debug_of(hf_site *site)
{
    return hf_site_expect(site, "GET", "/api/workflows/a/debug", NULL, 200).body;
}

/* Until `why` gives the code. */
static void code_await(hf_site *site, const char *code)
{
    const char *now = "";

    for (int i = 0; i < 1000 && strcmp(now, code) != 0; i++) {
        now = hf_str(debug_of(site), "why.code", "");
        hf_nap_ms(10);
    }
    ck_assert_str_eq(now, code);
}

static void blocked_check(hf_site *site)
{
    hf_value shown = debug_of(site);
    hf_value task = hf_get(shown, "pending_workflow_tasks.0.payload");

    ck_assert_str_eq(hf_str(shown, "why.code", ""), "replay_blocked_shape");
    ck_assert_str_eq(hf_str(shown, "why.liveness.liveness_state", ""), "workflow_replay_blocked");
    ck_assert_int_eq(hf_int(shown, "why.subject.step", 0), 1);
    ck_assert_ptr_nonnull(strstr(hf_str(shown, "why.subject.source_line", ""), "test_task_fault"));
    ck_assert_str_eq(hf_str(shown, "findings.0.severity", ""), "attention");
    ck_assert(hf_bool(task, "replay_blocked", false));
    ck_assert_str_eq(hf_str(task, "replay_blocked_reason", ""), "history_shape_mismatch");
    ck_assert_str_eq(hf_str(task, "replay_blocked_expected_history_shape", ""), "timer");
    ck_assert_str_eq(hf_str(task, "replay_blocked_recorded_event_types", ""), "SignalWaitOpened");
}

/* A program of ours whose code does not fit the history of a run finds that behind a server as it
   does on its own store; after a restart and a repair the program that fits goes on. */
HF_BOTH_ENGINES(n13_a_mismatch_behind_a_server_blocks)
{
    hf_value out = NULL;
    hf_engine *d;
    hf_site site;

    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    d = remote_open(&site, &first_app);
    ck_assert_msg(!hf_start(d, "t", NULL, .id = "a"), "%s", hf_errmsg(d));
    code_await(&site, "waiting_for_signal");
    hf_close(d);
    d = remote_open(&site, &other_app);
    ck_assert_msg(!hf_signal(d, "a", "go", hf_json(d, "7")), "%s", hf_errmsg(d));
    code_await(&site, "replay_blocked_shape");
    blocked_check(&site);
    hf_close(d);
    site_restart(&site);
    blocked_check(&site);
    d = remote_open(&site, &first_app);
    hf_nap_ms(300);
    blocked_check(&site); /* a repair says that the code is right now, and nothing else does */
    hf_site_expect(&site, "POST", "/api/workflows/a/repair", "{}", 200);
    ck_assert_msg(!hf_result(d, "a", 20000, &out, NULL), "%s", hf_errmsg(d));
    ck_assert_int_eq(hf_int(out, "", 0), 7);
    hf_close(d);
    hf_site_close(&site);
}

/* ---- a worker that speaks the protocol */

static void task_report(hf_site *site, const char *end, const char *more)
{
    hf_site_answer answer =
        hf_site_ask(site, "POST", "/api/worker/workflow-tasks/poll", NULL,
                    "{\"worker_id\":\"w1\",\"task_queue\":\"default\",\"timeout_seconds\":10}");
    char path[128];
    char body[512];

    ck_assert_msg(answer.status == 200 && hf_str(answer.body, "task.task_id", NULL), "%s",
                  answer.text);
    (void)snprintf(path, sizeof(path), "/api/worker/workflow-tasks/%s/%s",
                   hf_str(answer.body, "task.task_id", ""), end);
    (void)snprintf(body, sizeof(body), "{\"lease_owner\":\"w1\",\"workflow_task_attempt\":%lld,%s}",
                   (long long)hf_int(answer.body, "task.workflow_task_attempt", 0), more);
    answer = hf_site_ask(site, "POST", path, NULL, body);
    ck_assert_msg(answer.status == 200, "%s", answer.text);
    ck_assert(hf_bool(answer.body, "recorded", false));
}

static void failing_check(hf_site *site, int total)
{
    hf_value shown = debug_of(site);

    ck_assert_str_eq(hf_str(shown, "why.code", ""), "workflow_task_failing");
    ck_assert_str_eq(hf_str(shown, "pending_workflow_tasks.0.last_error", ""), "cannot decode");
    ck_assert_int_eq(hf_int(shown, "pending_workflow_tasks.0.payload.failure.total", 0), total);
    shown = hf_site_expect(site, "GET", "/api/workflows/a", NULL, 200).body;
    ck_assert_str_eq(hf_str(shown, "tasks.0.last_error", ""), "cannot decode");
    ck_assert(hf_bool(shown, "task_problem", false));
}

static void worker_register(hf_site *site)
{
    hf_site_expect(site, "POST", "/api/worker/register",
                   "{\"worker_id\":\"w1\",\"task_queue\":\"default\",\"runtime\":\"python\","
                   "\"supported_workflow_types\":[\"t\"],\"supported_activity_types\":[]}",
                   200);
}

HF_BOTH_ENGINES(n13_failures_behind_a_server_are_kept)
{
    static const char failure[] =
        "\"failure\":{\"type\":\"ValueError\",\"message\":\"cannot decode\",\"stack_trace\":\"x\"}";
    hf_site site;

    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    worker_register(&site);
    hf_site_expect(&site, "POST", "/api/workflows",
                   "{\"workflow_type\":\"t\",\"workflow_id\":\"a\",\"task_queue\":\"default\"}",
                   201);
    task_report(&site, "fail", failure);
    failing_check(&site, 1);
    site_restart(&site);
    failing_check(&site, 1);
    task_report(&site, "fail", failure);
    failing_check(&site, 2);
    task_report(&site, "complete", "\"commands\":[{\"type\":\"complete_workflow\"}]");
    ck_assert_str_eq(hf_str(debug_of(&site), "why.code", ""), "closed_completed");
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/task_fault", HF_BOTH(n13_a_mismatch_behind_a_server_blocks),
                 HF_BOTH(n13_failures_behind_a_server_are_kept))
