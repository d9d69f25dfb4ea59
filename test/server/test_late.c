/* test_late.c: runs that are started over HTTP before anybody has their type. The program that
   brings it comes later, as a worker behind the server or another one, or as a node of the store;
   then they go on as what they are, machines or workflows, also when a worker failed at them
   meanwhile because nobody knew that. */
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "holdfast/worker.h"
#include "lib/nap.h"
#include "lib/site.h"

enum { RUNS = 6, PATIENCE_MS = 30000, REST_MS = 1500 };

/* ---- the program that comes late */

static hf_outcome begins(hf_step *s)
{
    return hf_next(s, "ends", hf_json(s, "{'n': 7}"));
}

static hf_outcome ends(hf_step *s)
{
    return hf_done(
        s, hf_json(s, "{'as': 'machine', 'n': %lld}", (long long)hf_int(hf_step_state(s), "n", 0)));
}

static hf_outcome rests(hf_step *s)
{
    return hf_park(s, "never", REST_MS, "ends", hf_json(s, "{'n': 7}"));
}

static hf_value flows(hf_ctx *w, hf_value in)
{
    (void)in;
    hf_sleep(w, 5);
    return hf_json(w, "{'as': 'workflow', 'n': 7}");
}

static const hf_machine_def machines[] = {
    {.type = "machine",
     .initial = "begins",
     .steps = (const hf_step_def[]){{"begins", begins}, {"ends", ends}, {0}}},
    {0}};
static const hf_machine_def resting[] = {
    {.type = "machine",
     .initial = "rests",
     .steps = (const hf_step_def[]){{"rests", rests}, {"ends", ends}, {0}},
     .signals = (const hf_signal_def[]){{"never", NULL}, {0}}},
    {0}};
static const hf_workflow_def workflows[] = {{.type = "workflow", .run = flows}, {0}};

static const hf_app nothing = {.name = "nothing-here"};
static const hf_app both = {.name = "both", .machines = machines, .workflows = workflows};
static const hf_app machines_alone = {.name = "machines", .machines = machines};
static const hf_app resting_alone = {.name = "resting", .machines = resting};

/* ---- servers */

static void server_begin(hf_site *site)
{
    hf_server_options options = {.listen = "127.0.0.1:0"};
    hf_err err = {0};

    ck_assert_int_eq(hf_open(hf_test_place_address(site->place), &nothing, &site->engine), HF_OK);
    ck_assert_int_eq(hf_workers_allow(site->engine), HF_OK);
    options.engine = site->engine;
    hf_test_ok(hf_server_open(&options, &site->server, &err), &err, "open a server");
    hf_test_ok(hf_server_start(site->server, &err), &err, "start a server");
}

/* A second server on the store of the first. */
static void site_join(hf_site *site, const hf_site *first)
{
    *site = (hf_site){.mem = hf_mem_new(), .place = first->place};
    server_begin(site);
    site->place = NULL; /* the first one's */
}

static hf_engine *remote_open(const hf_site *site, const hf_app *what)
{
    char address[64];
    hf_engine *d = NULL;

    (void)snprintf(address, sizeof(address), "http://127.0.0.1:%d", hf_server_port(site->server));
    ck_assert_msg(!hf_open(address, what, &d), "%s", hf_errmsg(d));
    return d;
}

static void run_start(hf_site *site, const char *type, int number)
{
    char body[160];

    (void)snprintf(
        body, sizeof(body),
        "{\"workflow_type\":\"%s\",\"workflow_id\":\"%s-%d\",\"task_queue\":\"default\"}", type,
        type, number);
    (void)hf_site_expect(site, "POST", "/api/workflows", body, 201);
}

/* The run ends as what its type is. */
static void run_ends(hf_engine *d, const char *type, int number)
{
    hf_value out = NULL;
    char id[32];

    (void)snprintf(id, sizeof(id), "%s-%d", type, number);
    ck_assert_msg(!hf_result(d, id, PATIENCE_MS, &out, NULL), "%s: %s", id, hf_errmsg(d));
    ck_assert_str_eq(hf_str(out, "as", ""), type);
    ck_assert_int_eq(hf_int(out, "n", 0), 7);
}

/* ---- one server */

/* Nobody has the type when the runs are started; a program that brings machines alone takes the
   machines, and one that brings both takes the rest. */
HF_BOTH_ENGINES(runs_wait_for_their_type)
{
    hf_engine *d;
    hf_site site;

    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    for (int i = 0; i < RUNS; i++) {
        run_start(&site, "machine", i);
        run_start(&site, "workflow", i);
    }
    d = remote_open(&site, &machines_alone);
    for (int i = 0; i < RUNS; i++)
        run_ends(d, "machine", i);
    hf_close(d);
    d = remote_open(&site, &both);
    for (int i = 0; i < RUNS; i++)
        run_ends(d, "workflow", i);
    hf_close(d);
    hf_site_close(&site);
}

/* The same with one program that brings both at once: it polls for workflows, too. */
HF_BOTH_ENGINES(one_program_brings_both)
{
    hf_engine *d;
    hf_site site;

    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    for (int i = 0; i < RUNS; i++) {
        run_start(&site, "machine", i);
        run_start(&site, "workflow", i);
    }
    d = remote_open(&site, &both);
    for (int i = 0; i < RUNS; i++) {
        run_ends(d, "machine", i);
        run_ends(d, "workflow", i);
    }
    hf_close(d);
    hf_site_close(&site);
}

/* A worker gets the run as a workflow task, while nobody knows better, and fails at it. */
static void task_fail(hf_site *site)
{
    const char *poll = "{\"worker_id\":\"w1\",\"task_queue\":\"default\",\"timeout_seconds\":20}";
    hf_value task = hf_get(
        hf_site_expect(site, "POST", "/api/worker/workflow-tasks/poll", poll, 200).body, "task");
    char path[128];
    char body[256];

    ck_assert_str_eq(hf_str(task, "workflow_type", ""), "machine");
    (void)snprintf(path, sizeof(path), "/api/worker/workflow-tasks/%s/fail",
                   hf_str(task, "task_id", ""));
    (void)snprintf(body, sizeof(body),
                   "{\"lease_owner\":\"w1\",\"workflow_task_attempt\":%lld,\"failure\":{\"type\":"
                   "\"worker_error\",\"message\":\"a replay needs a definition\"}}",
                   (long long)hf_int(task, "workflow_task_attempt", 0));
    (void)hf_site_expect(site, "POST", path, body, 200);
}

/* A machine that was handed out as a workflow task, which failed, goes on when a program with the
   machine comes, and nothing of the failures is left. */
HF_BOTH_ENGINES(failed_tasks_are_forgotten)
{
    hf_engine *d;
    hf_site site;

    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    run_start(&site, "machine", 0);
    task_fail(&site);
    task_fail(&site);
    d = remote_open(&site, &machines_alone);
    run_ends(d, "machine", 0);
    hf_close(d);
    hf_site_close(&site);
}

/* The same when the server began anew between the failure and the program, as with a new version.
 */
HF_BOTH_ENGINES(a_new_server_knows_better)
{
    hf_engine *d;
    hf_site site;

    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    run_start(&site, "machine", 0);
    task_fail(&site);
    hf_server_close(site.server);
    hf_close(site.engine);
    server_begin(&site);
    d = remote_open(&site, &machines_alone);
    run_ends(d, "machine", 0);
    hf_close(d);
    hf_site_close(&site);
}

static void step_await(hf_site *site, const char *id)
{
    const char *last = "";

    for (int i = 0; i < PATIENCE_MS && strcmp(last, "TimerScheduled") != 0; i += 10) {
        hf_value page = NULL;
        hf_value events;

        ck_assert_int_eq(hf_history(site->engine, site->mem, &page, id), HF_OK);
        events = hf_get(page, "events");
        last = hf_str(hf_at(events, hf_len(events) - 1), "type", "");
        hf_nap_ms(10);
    }
    ck_assert_str_eq(last, "TimerScheduled");
}

/* What a machine has done makes it one for good: neither a server that begins anew nor a worker
   that declares its type as a workflow's makes it another thing. */
HF_BOTH_ENGINES(what_it_did_says_what_it_is)
{
    hf_value out = NULL;
    hf_engine *d;
    hf_site site;

    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    run_start(&site, "machine", 0);
    d = remote_open(&site, &resting_alone);
    ck_assert_int_eq(hf_result(d, "machine-0", 0, &out, NULL), HF_TIMEOUT); /* it begins */
    step_await(&site, "machine-0");
    hf_close(d);
    (void)hf_site_expect(&site, "POST", "/api/worker/register",
                         "{\"worker_id\":\"w1\",\"task_queue\":\"default\",\"runtime\":"
                         "\"python\",\"supported_workflow_types\":[\"machine\"],"
                         "\"supported_activity_types\":[],\"workflow_command_contracts\":"
                         "{\"machine\":{\"signals\":[\"never\"]}}}",
                         200);
    hf_server_close(site.server);
    hf_close(site.engine);
    server_begin(&site);
    d = remote_open(&site, &resting_alone);
    run_ends(d, "machine", 0);
    hf_close(d);
    hf_site_close(&site);
}

/* ---- several nodes */

/* Runs of both servers come to the program that asks only the second. */
START_TEST(the_type_comes_to_another_server)
{
    hf_site sites[2];
    hf_engine *d;

    hf_site_open(&sites[0], HF_ENGINE_POSTGRES, &nothing, (hf_server_options){0});
    site_join(&sites[1], &sites[0]);
    for (int i = 0; i < RUNS; i++) {
        run_start(&sites[i % 2], "machine", i);
        run_start(&sites[i % 2], "workflow", i);
    }
    d = remote_open(&sites[1], &both);
    for (int i = 0; i < RUNS; i++) {
        run_ends(d, "machine", i);
        run_ends(d, "workflow", i);
    }
    hf_close(d);
    hf_site_close(&sites[1]);
    hf_site_close(&sites[0]);
}
END_TEST

/* The program is a node of the store itself, and the server goes on having runs. */
START_TEST(the_type_comes_with_a_node)
{
    hf_engine *d = NULL;
    hf_site site;

    hf_site_open(&site, HF_ENGINE_POSTGRES, &nothing, (hf_server_options){0});
    for (int i = 0; i < RUNS; i++) {
        run_start(&site, "machine", i);
        run_start(&site, "workflow", i);
    }
    ck_assert_int_eq(hf_open(hf_test_place_address(site.place), &both, &d), HF_OK);
    for (int i = 0; i < RUNS; i++) {
        run_ends(d, "machine", i);
        run_ends(d, "workflow", i);
    }
    hf_close(d);
    hf_site_close(&site);
}
END_TEST

HF_PG_SUITE_MAIN("server/late", HF_BOTH(runs_wait_for_their_type), HF_BOTH(one_program_brings_both),
                 HF_BOTH(failed_tasks_are_forgotten), HF_BOTH(a_new_server_knows_better),
                 HF_BOTH(what_it_did_says_what_it_is), {the_type_comes_to_another_server, 120},
                 {the_type_comes_with_a_node, 120})
