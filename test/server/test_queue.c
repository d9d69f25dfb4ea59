/* test_queue.c: task queues, builds and workers as operators see and steer them, over real HTTP on
   both databases. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "holdfast/view.h"
#include "lib/nap.h"
#include "lib/site.h"

static const hf_app app = {.name = "nothing-here"};

static void worker_register(hf_site *site, const char *worker, const char *build)
{
    char body[256];

    (void)snprintf(body, sizeof(body),
                   "{\"worker_id\":\"%s\",\"task_queue\":\"far\",\"runtime\":\"test\","
                   "\"max_concurrent_workflow_tasks\":3,\"supported_workflow_types\":[\"remote\"]%s"
                   "%s%s}",
                   worker, build ? ",\"build_id\":\"" : "", build ? build : "", build ? "\"" : "");
    ck_assert_int_eq(hf_site_ask(site, "POST", "/api/worker/register", NULL, body).status, 200);
}

static void run_start(hf_site *site, const char *id)
{
    char body[160];

    (void)snprintf(body, sizeof(body),
                   "{\"workflow_type\":\"remote\",\"workflow_id\":\"%s\",\"task_queue\":\"far\"}",
                   id);
    ck_assert_int_eq(hf_site_ask(site, "POST", "/api/workflows", NULL, body).status, 201);
}

/* The status of a probe; "leased" when there was a task. */
static const char *probe(hf_site *site, const char *worker)
{
    char body[160];

    (void)snprintf(body, sizeof(body),
                   "{\"worker_id\":\"%s\",\"task_queue\":\"far\",\"timeout_seconds\":1}", worker);
    return hf_str(hf_site_ask(site, "POST", "/api/worker/workflow-tasks/poll", NULL, body).body,
                  "poll_status", "");
}

/* The worker gets a task, as soon as it is offered. */
static void leases(hf_site *site, const char *worker)
{
    int tries = 0;

    while (strcmp(probe(site, worker), "leased") != 0)
        ck_assert_int_lt(++tries, 60);
}

/* What waits at a queue and who serves it; workers one by one, and their end. */
HF_BOTH_ENGINES(queues_and_workers_are_shown)
{
    hf_site site;
    hf_site_answer answer;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    run_start(&site, "r-1");
    answer = hf_site_ask(&site, "GET", "/api/workflows/r-1", NULL, NULL);
    ck_assert_int_eq(answer.status, 200);
    worker_register(&site, "w1", "b1");
    answer = hf_site_ask(&site, "GET", "/api/task-queues", NULL, NULL);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_str_eq(hf_str(answer.body, "namespace", ""), "default");
    ck_assert_str_eq(hf_str(answer.body, "task_queues.0.name", ""), "far");
    answer = hf_site_ask(&site, "GET", "/api/task-queues/far", NULL, NULL);
    ck_assert_str_eq(hf_str(answer.body, "pollers.0.worker_id", ""), "w1");
    ck_assert_str_eq(hf_str(answer.body, "admission.workflow_tasks.status", ""), "accepting");
    ck_assert_int_eq(hf_int(answer.body, "admission.workflow_tasks.configured_slot_count", 0), 3);
    ck_assert_int_eq(hf_int(answer.body, "admission.query_tasks.max_pending_per_queue", 0), 1024);
    answer = hf_site_ask(&site, "GET", "/api/workers?task_queue=far&status=active", NULL, NULL);
    ck_assert_str_eq(hf_str(answer.body, "workers.0.build_id", ""), "b1");
    ck_assert_int_gt(hf_int(answer.body, "stale_after_seconds", 0), 0);
    answer = hf_site_ask(&site, "GET", "/api/cluster/info", NULL, NULL);
    ck_assert_int_eq(hf_int(answer.body, "worker_fleet.active_workers", 0), 1);
    ck_assert_str_eq(hf_str(answer.body, "worker_fleet.queues.0", ""), "far");
    ck_assert_str_eq(hf_str(answer.body, "worker_fleet.build_ids.0", ""), "b1");
    answer = hf_site_ask(&site, "GET", "/api/workers?task_queue=near", NULL, NULL);
    ck_assert_int_eq((long)hf_len(hf_get(answer.body, "workers")), 0);
    answer = hf_site_ask(&site, "GET", "/api/workers/w1", NULL, NULL);
    ck_assert_str_eq(hf_str(answer.body, "worker_id", ""), "w1");
    ck_assert_str_eq(probe(&site, "w1"), "leased");
    answer = hf_site_ask(&site, "DELETE", "/api/workers/w1", NULL, NULL);
    ck_assert_int_eq(hf_int(answer.body, "recovered_workflow_task_count", 0), 1);
    ck_assert_int_eq(hf_site_ask(&site, "GET", "/api/workers/w1", NULL, NULL).status, 404);
    ck_assert_int_eq(hf_site_ask(&site, "DELETE", "/api/workers/w1", NULL, NULL).status, 404);
    ck_assert_str_eq(probe(&site, "w2"), "leased");
    hf_site_close(&site);
}

/* A drained build gets no tasks, another one does; resumed, it gets them again. It is recorded:
   repeating it changes nothing. */
HF_BOTH_ENGINES(drained_builds_get_nothing)
{
    hf_site site;
    hf_site_answer answer;
    char since[64];

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    worker_register(&site, "w1", "b1");
    worker_register(&site, "w2", "b2");
    worker_register(&site, "w3", NULL);
    run_start(&site, "r-1");
    answer = hf_site_ask(&site, "POST", "/api/task-queues/far/build-ids/drain", NULL,
                         "{\"build_id\":\"b1\"}");
    ck_assert_msg(answer.status == 200, "%s", answer.text);
    ck_assert_str_eq(hf_str(answer.body, "drain_intent", ""), "draining");
    (void)snprintf(since, sizeof(since), "%s", hf_str(answer.body, "drained_at", ""));
    ck_assert_str_ne(since, "");
    answer = hf_site_ask(&site, "POST", "/api/task-queues/far/build-ids/drain", NULL,
                         "{\"build_id\":\"b1\"}");
    ck_assert_str_eq(hf_str(answer.body, "drained_at", ""), since);
    answer = hf_site_ask(&site, "GET", "/api/task-queues/far/build-ids", NULL, NULL);
    ck_assert_msg(hf_len(hf_get(answer.body, "build_ids")) == 3, "%s", answer.text);
    for (size_t i = 0; i < 3; i++) {
        hf_value build = hf_at(hf_get(answer.body, "build_ids"), i);
        bool first = strcmp(hf_str(build, "build_id", ""), "b1") == 0;

        ck_assert_str_eq(hf_str(build, "rollout_status", ""), first ? "draining" : "active");
        ck_assert_int_eq(hf_int(build, "total_worker_count", 0), 1);
        ck_assert_str_eq(hf_str(build, "runtimes.0", ""), "test");
    }
    ck_assert_str_eq(probe(&site, "w1"), "draining");
    answer = hf_site_ask(&site, "GET", "/api/workers/w1", NULL, NULL);
    ck_assert_str_eq(hf_str(answer.body, "status", ""), "draining");
    ck_assert_str_eq(probe(&site, "w2"), "leased");
    answer = hf_site_ask(&site, "POST", "/api/task-queues/far/build-ids/drain", NULL,
                         "{\"build_id\":null}");
    ck_assert_int_eq(hf_value_kind_of(hf_get(answer.body, "build_id")), HF_VALUE_NULL);
    ck_assert_str_eq(probe(&site, "w3"), "draining");
    run_start(&site, "r-2");
    answer = hf_site_ask(&site, "POST", "/api/task-queues/far/build-ids/resume", NULL,
                         "{\"build_id\":\"b1\"}");
    ck_assert_str_eq(hf_str(answer.body, "drain_intent", ""), "active");
    ck_assert_str_eq(probe(&site, "w1"), "leased");
    hf_site_close(&site);
}

/* That new runs of the queue begin with the build (""; none was promoted) and with no other. */
static void promoted_is(hf_site *site, const char *build)
{
    hf_site_answer answer = hf_site_ask(site, "GET", "/api/task-queues/far/build-ids", NULL, NULL);

    ck_assert_uint_ge(hf_len(hf_get(answer.body, "build_ids")), 3);
    for (size_t i = 0; i < hf_len(hf_get(answer.body, "build_ids")); i++) {
        hf_value one = hf_at(hf_get(answer.body, "build_ids"), i);
        bool promoted = strcmp(hf_str(one, "build_id", ""), build) == 0;

        ck_assert_int_eq(hf_bool(one, "new_start_selected", !promoted), promoted);
        ck_assert_int_eq(hf_str(one, "promoted_at", NULL) != NULL, promoted);
        ck_assert_str_eq(hf_str(one, "drain_intent", ""), "active");
    }
    answer = hf_site_ask(site, "GET", "/console/api/builds", NULL, NULL);
    ck_assert_uint_ge(hf_len(hf_get(answer.body, "builds")), 2);
    for (size_t i = 0; i < hf_len(hf_get(answer.body, "builds")); i++) {
        hf_value one = hf_at(hf_get(answer.body, "builds"), i);

        ck_assert_int_eq(hf_str(one, "promoted_at", NULL) != NULL,
                         strcmp(hf_str(one, "build_id", ""), build) == 0);
    }
}

/* Runs that begin while a build is promoted are for its workers alone; those before and after
   are for all. */
HF_BOTH_ENGINES(promoted_builds_get_the_new_runs)
{
    static const char promote[] = "/api/task-queues/far/build-ids/promote";
    hf_site site;
    hf_site_answer answer;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    worker_register(&site, "w1", "b1");
    worker_register(&site, "w2", "b2");
    worker_register(&site, "w3", NULL);
    run_start(&site, "r-1");
    leases(&site, "w1");
    answer = hf_site_ask(&site, "POST", promote, NULL, "{\"build_id\":\"b2\"}");
    ck_assert_msg(answer.status == 200, "%s", answer.text);
    ck_assert(hf_bool(answer.body, "new_start_selected", false));
    ck_assert_str_ne(hf_str(answer.body, "promoted_at", ""), "");
    run_start(&site, "r-2");
    ck_assert_str_eq(probe(&site, "w1"), "timeout");
    ck_assert_str_eq(probe(&site, "w3"), "timeout");
    leases(&site, "w2");
    answer = hf_site_ask(&site, "POST", promote, NULL, "{\"build_id\":\"b1\"}");
    ck_assert(hf_bool(answer.body, "new_start_selected", false));
    promoted_is(&site, "b1");
    answer = hf_site_ask(&site, "POST", promote, NULL, "{\"build_id\":null}");
    ck_assert_int_eq(answer.status, 200);
    promoted_is(&site, "");
    run_start(&site, "r-3");
    leases(&site, "w3");
    hf_site_close(&site);
}

/* What moves a run on, or keeps it, to who asks why and in a list, once the list has it. */
static const char *state_agreed(hf_site *site, const char *id)
{
    hf_value page = NULL;
    hf_value why = NULL;
    const char *told = "";
    const char *shown = "-";

    for (int i = 0; i < 1000 && strcmp(shown, told) != 0; i++) {
        if (i)
            hf_nap_ms(5); /* its summary is about to be written */
        ck_assert_int_eq(hf_list_runs(site->engine,
                                      hf_json_(site->mem, "{'filters': {'instance_id': %s}}", id),
                                      site->mem, &page),
                         HF_OK);
        ck_assert_int_eq(hf_why(site->engine, id, site->mem, &why), HF_OK);
        shown = hf_str(page, "items.0.liveness_state", "-");
        told = hf_str(why, "liveness.liveness_state", "");
    }
    ck_assert_msg(strcmp(shown, told) == 0, "%s is %s in the list and %s to who asks why", id,
                  shown, told);
    return told;
}

static const char *code_of(hf_site *site)
{
    hf_value why = NULL;

    ck_assert_int_eq(hf_why(site->engine, "r-1", site->mem, &why), HF_OK);
    return hf_str(why, "code", "");
}

/* What describe says of who may take the run, and what `why` does. */
static void detail_says(hf_site *site, bool served, const char *code)
{
    hf_value page = hf_site_expect(site, "GET", "/api/workflows/r-1", NULL, 200).body;

    ck_assert(!hf_bool(page, "compatibility_supported", true));
    ck_assert_int_eq(hf_bool(page, "compatibility_supported_in_fleet", !served), served);
    ck_assert_int_eq(hf_str(page, "compatibility_fleet_reason", NULL) == NULL, served);
    ck_assert_str_eq(code_of(site), code);
}

/* A run of a promoted build waits when none of its workers is there, whatever others support: to
   who asks why and in lists alike. */
HF_BOTH_ENGINES(lists_know_promoted_builds)
{
    static const char waits[] = "workflow_task_waiting_for_compatible_worker";
    hf_site site;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    worker_register(&site, "w1", "b1");
    worker_register(&site, "w2", "b2");
    (void)hf_site_expect(&site, "POST", "/api/task-queues/far/build-ids/promote",
                         "{\"build_id\":\"b2\"}", 200);
    hf_site_expect(&site, "DELETE", "/api/workers/w2", NULL, 200);
    run_start(&site, "r-1");
    ck_assert_str_eq(state_agreed(&site, "r-1"), waits);
    detail_says(&site, false, "no_compatible_worker");
    ck_assert_str_eq(probe(&site, "w1"), "timeout");
    worker_register(&site, "w2", "b2");
    ck_assert_str_ne(state_agreed(&site, "r-1"), waits);
    detail_says(&site, true, "turn_ready");
    hf_site_close(&site);
}

/* A build that no worker ever was of and no run carries is not promoted: what begins would wait for
   ever. */
HF_BOTH_ENGINES(n15_unknown_builds_are_not_promoted)
{
    static const char promote[] = "/api/task-queues/far/build-ids/promote";
    hf_site site;
    hf_site_answer answer;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    worker_register(&site, "w1", "b1");
    answer = hf_site_expect(&site, "POST", promote, "{\"build_id\":\"b-typo\"}", 404);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), "build_not_found");
    answer = hf_site_ask(&site, "GET", "/api/task-queues/far/build-ids", NULL, NULL);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "build_ids")), 1);
    run_start(&site, "r-1");
    leases(&site, "w1");
    (void)hf_site_expect(&site, "POST", promote, "{\"build_id\":\"b1\"}", 200);
    hf_site_close(&site);
}

/* An activity waits at its own queue: without a worker there, or with some of which none has it. */
HF_BOTH_ENGINES(n15_why_knows_the_workers_of_an_activity)
{
    static const char fast[] =
        "{\"worker_id\":\"w2\",\"task_queue\":\"fast\",\"supported_workflow_types\":[],"
        "\"supported_activity_types\":[\"%s\"]}";
    hf_site_answer answer;
    char path[128];
    char body[256];
    hf_site site;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    worker_register(&site, "w1", "b1");
    run_start(&site, "r-1");
    answer = hf_site_ask(&site, "POST", "/api/worker/workflow-tasks/poll", NULL,
                         "{\"worker_id\":\"w1\",\"task_queue\":\"far\",\"timeout_seconds\":10}");
    (void)snprintf(path, sizeof(path), "/api/worker/workflow-tasks/%s/complete",
                   hf_str(answer.body, "task.task_id", ""));
    (void)snprintf(body, sizeof(body),
                   "{\"lease_owner\":\"w1\",\"workflow_task_attempt\":1,\"commands\":[{\"type\":"
                   "\"schedule_activity\",\"activity_type\":\"ship\",\"queue\":\"fast\"}]}");
    answer = hf_site_ask(&site, "POST", path, NULL, body);
    ck_assert_msg(answer.status == 200, "%s", answer.text);
    ck_assert_str_eq(code_of(&site), "queued_no_worker");
    (void)snprintf(body, sizeof(body), fast, "other");
    (void)hf_site_expect(&site, "POST", "/api/worker/register", body, 200);
    ck_assert_str_eq(code_of(&site), "unknown_activity");
    (void)snprintf(body, sizeof(body), fast, "ship");
    (void)hf_site_expect(&site, "POST", "/api/worker/register", body, 200);
    ck_assert_str_eq(code_of(&site), "queued_behind");
    hf_site_close(&site);
}

/* A run of a type that only workers know waits for one, and says so; with a worker at its queue it
   is an ordinary run. */
HF_BOTH_ENGINES(why_knows_the_workers)
{
    hf_site site;
    hf_value why = NULL;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    run_start(&site, "r-1");
    ck_assert_int_eq(hf_why(site.engine, "r-1", site.mem, &why), HF_OK);
    ck_assert_str_eq(hf_str(why, "code", ""), "queued_no_worker");
    ck_assert_ptr_nonnull(strstr(hf_str(why, "text", ""), "turn waits on queue far"));
    worker_register(&site, "w1", "b1");
    ck_assert_int_eq(hf_why(site.engine, "r-1", site.mem, &why), HF_OK);
    ck_assert_str_eq(hf_str(why, "code", ""), "turn_ready");
    hf_site_close(&site);
}

/* A worker at the queue that does not know the type is no help, nor is one of another namespace. */
HF_BOTH_ENGINES(why_knows_what_workers_know)
{
    static const char without[] = "{\"worker_id\":\"w1\",\"task_queue\":\"far\","
                                  "\"supported_workflow_types\":[\"another\"]}";
    static const char with[] = "{\"worker_id\":\"w2\",\"task_queue\":\"far\","
                               "\"supported_workflow_types\":[\"another\",\"remote\"]}";
    hf_site site;
    hf_value why = NULL;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    run_start(&site, "r-1");
    (void)hf_site_expect(&site, "POST", "/api/namespaces", "{\"name\":\"other\"}", 201);
    ck_assert_int_eq(
        hf_site_ask(&site, "POST", "/api/worker/register", "X-Namespace: other\r\n", with).status,
        200);
    (void)hf_site_expect(&site, "POST", "/api/worker/register", without, 200);
    ck_assert_int_eq(hf_why(site.engine, "r-1", site.mem, &why), HF_OK);
    ck_assert_str_eq(hf_str(why, "code", ""), "unknown_type");
    ck_assert_str_eq(hf_str(why, "text", ""), "Nobody on queue far has a workflow of type remote.");
    (void)hf_site_expect(&site, "POST", "/api/worker/register", with, 200);
    ck_assert_int_eq(hf_why(site.engine, "r-1", site.mem, &why), HF_OK);
    ck_assert_str_eq(hf_str(why, "code", ""), "turn_ready");
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/queue", HF_BOTH(queues_and_workers_are_shown),
                 HF_BOTH(drained_builds_get_nothing), HF_BOTH(promoted_builds_get_the_new_runs),
                 HF_BOTH(n15_unknown_builds_are_not_promoted),
                 HF_BOTH(n15_why_knows_the_workers_of_an_activity),
                 HF_BOTH(lists_know_promoted_builds), HF_BOTH(why_knows_the_workers),
                 HF_BOTH(why_knows_what_workers_know))
