/* test_pair.c: two servers on one PostgreSQL store, and a worker that asks only one of them: no run
   waits for a worker that never comes, whichever server it was started at. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/worker.h"
#include "lib/site.h"

enum { RUNS = 8, POLLS_MAX = 60 };

static const hf_app app = {.name = "nothing-here"};

/* A second server on the store of the first. */
static void site_join(hf_site *site, const hf_site *first)
{
    hf_server_options options = {.listen = "127.0.0.1:0"};
    hf_err err = {0};

    *site = (hf_site){.mem = hf_mem_new()};
    ck_assert_int_eq(hf_open(hf_test_place_address(first->place), &app, &site->engine), HF_OK);
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
    site_join(&sites[1], &sites[0]);
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

HF_PG_SUITE_MAIN("server/pair", {work_follows_the_workers, 0})
