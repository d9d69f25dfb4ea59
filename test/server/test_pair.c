/* test_pair.c: two servers on one PostgreSQL store, and a worker that asks only one of them: no run
   waits for a worker that never comes, whichever server it was started at; and a client that goes
   from one server to the other with every request. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/worker.h"
#include "lib/handlers.h"
#include "lib/site.h"
#include "server/registry.h"

enum { RUNS = 8, POLLS_MAX = 60 };

static const hf_app app = {.name = "nothing-here"};

/* A second server on the store of the first. */
static void site_join(hf_site *site, const hf_site *first, const hf_app *program)
{
    hf_server_options options = {.listen = "127.0.0.1:0"};
    hf_err err = {0};

    *site = (hf_site){.mem = hf_mem_new()};
    ck_assert_int_eq(hf_open(hf_test_place_address(first->place), program, &site->engine), HF_OK);
    ck_assert_int_eq(hf_workers_allow(site->engine), HF_OK);
    options.engine = site->engine;
    hf_test_ok(hf_server_open(&options, &site->server, &err), &err, "open a server");
    hf_test_ok(hf_server_start(site->server, &err), &err, "start a server");
}

static void run_start(hf_site *site, int number)
{
    char body[160];

    (void)snprintf(body, sizeof(body),
                   "{\"workflow_type\":\"remote\",\"workflow_id\":\"r-%d\",\"task_queue\":\"far\"}",
                   number);
    ck_assert_int_eq(hf_site_ask(site, "POST", "/api/workflows", NULL, body).status, 201);
}

/* One poll of a second; true: a run was completed. */
static bool run_serve(hf_site *site)
{
    hf_site_answer answer =
        hf_site_ask(site, "POST", "/api/worker/workflow-tasks/poll", NULL,
                    "{\"worker_id\":\"w1\",\"task_queue\":\"far\",\"timeout_seconds\":1}");
    char path[128];
    char body[256];

    ck_assert_int_eq(answer.status, 200);
    if (!hf_str(answer.body, "task.task_id", NULL))
        return false;
    (void)snprintf(path, sizeof(path), "/api/worker/workflow-tasks/%s/complete",
                   hf_str(answer.body, "task.task_id", ""));
    (void)snprintf(body, sizeof(body),
                   "{\"lease_owner\":\"w1\",\"workflow_task_attempt\":%lld,\"commands\":[{\"type\":"
                   "\"complete_workflow\"}]}",
                   (long long)hf_int(answer.body, "task.workflow_task_attempt", 0));
    return hf_site_ask(site, "POST", path, NULL, body).status == 200;
}

/* Runs of both servers come to the worker of one; when it goes to the other, so do they (which
   takes as long as the first one waits for it: in long runs alone). */
START_TEST(work_follows_the_workers)
{
    const char *how = getenv("HF_CAMPAIGN");
    const int halves = how && strcmp(how, "long") == 0 ? 2 : 1;
    hf_site sites[2];
    hf_value out = NULL;
    char id[16];

    hf_site_open(&sites[0], HF_ENGINE_POSTGRES, &app, (hf_server_options){0});
    site_join(&sites[1], &sites[0], &app);
    for (int half = 0; half < halves; half++) {
        int done = 0;

        for (int i = 0; i < RUNS; i++)
            run_start(&sites[i % 2], half * RUNS + i);
        for (int i = 0; i < POLLS_MAX && done < RUNS; i++)
            done += run_serve(&sites[half]);
        ck_assert_int_eq(done, RUNS);
    }
    for (int i = 0; i < halves * RUNS; i++) {
        (void)snprintf(id, sizeof(id), "r-%d", i);
        ck_assert_int_eq(hf_result(sites[0].engine, id, 20000, &out, NULL), HF_OK);
    }
    hf_site_close(&sites[1]);
    hf_site_close(&sites[0]);
}
END_TEST

/* ---- a client that goes from one to the other */

static hf_value order(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_receive(w, "paid");
}

static const hf_app orders = {
    .name = "orders",
    .workflows = (const hf_workflow_def[]){
        {.type = "order",
         .run = order,
         .signals = (const hf_signal_def[]){{"paid", NULL}, {0}},
         .updates = (const hf_update_def[]){{"add", NULL, hf_update_echo, NULL}, {0}},
         .queries = (const hf_query_def[]){{"state", NULL, hf_query_open}, {0}}},
        {0}}};

typedef struct ring {
    hf_site sites[2];
    size_t next;
} ring;

/* Every question goes to the other server than the one before. */
static hf_site_answer ring_ask(ring *r, const char *method, const char *path, const char *body,
                               int status)
{
    hf_site_answer answer = hf_site_ask(&r->sites[r->next++ % 2], method, path, NULL, body);

    ck_assert_msg(answer.status == status, "%s %s: %d instead of %d: %.400s", method, path,
                  answer.status, status, answer.text);
    return answer;
}

/* What one server acknowledged, the other knows: runs are started, asked, updated, signalled and
   waited for at servers that take turns; each command is in its history once. */
START_TEST(a_client_goes_round)
{
    hf_site_answer answer;
    char path[128];
    char body[128];
    ring r = {0};

    hf_site_open(&r.sites[0], HF_ENGINE_POSTGRES, &orders, (hf_server_options){0});
    site_join(&r.sites[1], &r.sites[0], &orders);
    for (int i = 0; i < RUNS; i++) {
        (void)snprintf(body, sizeof(body), "{\"workflow_type\":\"order\",\"workflow_id\":\"o-%d\"}",
                       i);
        (void)ring_ask(&r, "POST", "/api/workflows", body, 201);
        (void)ring_ask(&r, "POST", "/api/workflows", body, 409);
        (void)snprintf(path, sizeof(path), "/api/workflows/o-%d/update/add", i);
        answer = ring_ask(&r, "POST", path,
                          "{\"input\":[1],\"request_id\":\"u\",\"wait_timeout_seconds\":60}", 200);
        ck_assert_str_eq(hf_str(answer.body, "update_status", ""), "completed");
        (void)ring_ask(&r, "POST", path,
                       "{\"input\":[1],\"request_id\":\"u\",\"wait_timeout_seconds\":60}", 200);
        (void)snprintf(path, sizeof(path), "/api/workflows/o-%d/query/state", i);
        answer = ring_ask(&r, "POST", path, "{}", 200);
        ck_assert_str_eq(hf_str(answer.body, "result", ""), "open");
        (void)snprintf(path, sizeof(path), "/api/workflows/o-%d/signal/paid", i);
        (void)ring_ask(&r, "POST", path, "{\"request_id\":\"s\"}", 202);
        (void)snprintf(path, sizeof(path), "/api/workflows/o-%d/result?wait_timeout_seconds=60", i);
        answer = ring_ask(&r, "GET", path, NULL, 200);
        ck_assert_str_eq(hf_str(answer.body, "status", ""), "completed");
        (void)snprintf(path, sizeof(path), "/api/workflows/o-%d", i);
        answer = ring_ask(&r, "GET", path, NULL, 200);
        ck_assert_str_eq(hf_str(answer.body, "status", ""), "completed");
        ck_assert_uint_eq(hf_len(hf_get(answer.body, "updates")), 1);
        ck_assert_uint_eq(hf_len(hf_get(answer.body, "signals")), 1);
        r.next++; /* the next run begins at the other one */
    }
    hf_site_close(&r.sites[1]);
    hf_site_close(&r.sites[0]);
}
END_TEST

/* ---- a worker that goes from one to the other */

/* A report to the server whose turn it is, which carries it to the one that has the run. False: the
   claim was lost because the run moved from one to the other, and the task comes again. */
static bool ring_report(ring *r, const char *path, const char *body)
{
    hf_site_answer answer = hf_site_ask(&r->sites[r->next++ % 2], "POST", path, NULL, body);

    ck_assert_msg(answer.status == 200 || answer.status == 409, "%s: %d: %s", path, answer.status,
                  answer.text);
    return answer.status == 200;
}

/* The next task of the queue, from whichever server has it. */
static hf_site_answer ring_poll(ring *r, const char *path)
{
    for (int i = 0; i < POLLS_MAX; i++) {
        hf_site_answer answer =
            hf_site_ask(&r->sites[r->next++ % 2], "POST", path, NULL,
                        "{\"worker_id\":\"w1\",\"task_queue\":\"far\",\"timeout_seconds\":1}");

        if (hf_str(answer.body, "task.task_id", NULL))
            return answer;
    }
    ck_abort_msg("no task at %s", path);
}

static void ring_complete(ring *r, const char *commands)
{
    char path[128];
    char body[256];

    do {
        hf_site_answer answer = ring_poll(r, "/api/worker/workflow-tasks/poll");

        (void)snprintf(path, sizeof(path), "/api/worker/workflow-tasks/%s/complete",
                       hf_str(answer.body, "task.task_id", ""));
        (void)snprintf(body, sizeof(body),
                       "{\"lease_owner\":\"w1\",\"workflow_task_attempt\":%lld,\"commands\":[%s]}",
                       (long long)hf_int(answer.body, "task.workflow_task_attempt", 0), commands);
    } while (!ring_report(r, path, body));
}

/* Polls and reports of a worker behind a balancer go to servers that take turns: a report that
   comes to the server that did not hand the task out is carried to the other one. */
START_TEST(a_worker_goes_round)
{
    const char *how = getenv("HF_CAMPAIGN");
    const int runs = how && strcmp(how, "long") == 0 ? RUNS : 2; /* runs move every few seconds */
    ring r = {0};
    hf_value out = NULL;
    char id[16];

    hf_site_open(&r.sites[0], HF_ENGINE_POSTGRES, &app, (hf_server_options){0});
    site_join(&r.sites[1], &r.sites[0], &app);
    for (int i = 0; i < runs; i++) {
        hf_site_answer answer;
        char path[128];
        char body[256];

        run_start(&r.sites[i % 2], i);
        ring_complete(&r, "{\"type\":\"schedule_activity\",\"activity_type\":\"double\"}");
        answer = ring_poll(&r, "/api/worker/activity-tasks/poll");
        (void)snprintf(path, sizeof(path), "/api/worker/activity-tasks/%s/complete",
                       hf_str(answer.body, "task.task_id", ""));
        (void)snprintf(body, sizeof(body),
                       "{\"lease_owner\":\"w1\",\"activity_attempt_id\":\"%s\",\"result\":4}",
                       hf_str(answer.body, "task.activity_attempt_id", ""));
        ck_assert(ring_report(&r, path, body)); /* that one is on the record */
        ring_complete(&r, "{\"type\":\"complete_workflow\"}");
        (void)snprintf(id, sizeof(id), "r-%d", i);
        ck_assert_int_eq(hf_result(r.sites[0].engine, id, 20000, &out, NULL), HF_OK);
        r.next++;
    }
    hf_site_close(&r.sites[1]);
    hf_site_close(&r.sites[0]);
}
END_TEST

/* A task of another namespace is nobody's at any server: it is refused, and not carried. */
START_TEST(a_task_is_of_its_namespace)
{
    static const char other[] = "X-Namespace: other\r\n";
    hf_site_answer answer;
    hf_err err = {0};
    ring r = {0};
    char path[128];
    char body[256];

    hf_site_open(&r.sites[0], HF_ENGINE_POSTGRES, &app, (hf_server_options){0});
    site_join(&r.sites[1], &r.sites[0], &app);
    (void)ring_ask(&r, "POST", "/api/namespaces", "{\"name\":\"other\"}", 201);
    for (int i = 0; i < 2; i++)
        hf_test_ok(hf_server_refresh(r.sites[i].server, &err), &err, "read namespaces");
    run_start(&r.sites[0], 0);
    answer = ring_poll(&r, "/api/worker/workflow-tasks/poll");
    (void)snprintf(path, sizeof(path), "/api/worker/workflow-tasks/%s/complete",
                   hf_str(answer.body, "task.task_id", ""));
    (void)snprintf(body, sizeof(body),
                   "{\"lease_owner\":\"w1\",\"workflow_task_attempt\":%lld,\"commands\":[{\"type\":"
                   "\"complete_workflow\"}]}",
                   (long long)hf_int(answer.body, "task.workflow_task_attempt", 0));
    for (int i = 0; i < 2; i++) {
        answer = hf_site_ask(&r.sites[i], "POST", path, other, body);
        ck_assert_msg(answer.status == 409, "server %d: %d: %s", i, answer.status, answer.text);
        ck_assert_str_eq(hf_str(answer.body, "reason", ""), "task_not_leased");
    }
    hf_site_close(&r.sites[1]);
    hf_site_close(&r.sites[0]);
}
END_TEST

HF_PG_SUITE_MAIN("server/pair", {work_follows_the_workers, 0}, {a_client_goes_round, 120},
                 {a_worker_goes_round, 120}, {a_task_is_of_its_namespace, 120})
