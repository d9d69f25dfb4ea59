/* test_console_fleet.c: types, queues, workers and builds as the console asks for them, over real
   HTTP on both databases: what is counted, whether something can be shut down and why not, and that
   neither roles nor namespaces see more than they may. */
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "lib/handlers.h"
#include "lib/nap.h"
#include "lib/site.h"

static const hf_signal_def signals[] = {{.name = "go"}, {0}};
static const hf_app app = {
    .name = "fleet",
    .workflows =
        (const hf_workflow_def[]){
            {.type = "order", .run = hf_wait_go, .params = "limit:int", .signals = signals},
            {.type = "quick", .run = hf_end_now},
            {0}},
    .activities = (const hf_activity_def[]){{.name = "echo", .run = hf_echo}, {0}}};

static void limits_register(hf_site *site, const char *worker)
{
    char body[320];

    (void)snprintf(body, sizeof(body),
                   "{\"worker_id\":\"%s\",\"task_queue\":\"far\",\"runtime\":\"test\","
                   "\"limits\":[{\"name\":\"door\",\"at_once\":2},"
                   "{\"name\":\"mail\",\"allowed\":5,\"per_ms\":1000}]}",
                   worker);
    (void)hf_site_expect(site, "POST", "/api/worker/register", body, 200);
}

static void worker_register(hf_site *site, const char *worker, const char *queue, const char *build)
{
    char body[320];

    (void)snprintf(body, sizeof(body),
                   "{\"worker_id\":\"%s\",\"task_queue\":\"%s\",\"runtime\":\"test\","
                   "\"build_id\":\"%s\",\"supported_workflow_types\":[\"remote\"],"
                   "\"supported_activity_types\":[\"mail\"]}",
                   worker, queue, build);
    (void)hf_site_expect(site, "POST", "/api/worker/register", body, 200);
}

static void run_start(hf_site *site, const char *type, const char *id)
{
    char body[200];

    (void)snprintf(body, sizeof(body), "{\"workflow_type\":\"%s\",\"workflow_id\":\"%s\"%s}", type,
                   id,
                   strcmp(type, "remote") == 0  ? ",\"task_queue\":\"far\""
                   : strcmp(type, "order") == 0 ? ",\"input\":[7]"
                                                : "");
    (void)hf_site_expect(site, "POST", "/api/workflows", body, 201);
}

/* The item of a list whose member is the text; NULL: there is none. */
static hf_value item_of(hf_value list, const char *key, const char *text)
{
    for (size_t i = 0; i < hf_len(list); i++)
        if (strcmp(hf_str(hf_at(list, i), key, ""), text) == 0)
            return hf_at(list, i);
    return NULL;
}

static hf_value one_of(hf_site *site, const char *what, const char *key, const char *text)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/console/api/%s", what);
    return item_of(hf_get(hf_site_expect(site, "GET", path, NULL, 200).body, what), key, text);
}

static void says(hf_value item, bool safe, const char *reason)
{
    ck_assert_ptr_nonnull(item);
    ck_assert_str_eq(hf_str(item, "safe_to_stop.reason", ""), reason);
    ck_assert_int_eq(hf_bool(item, "safe_to_stop.safe", !safe), safe);
}

/* Types of the program, of workers and of runs, with their numbers and contracts. */
HF_BOTH_ENGINES(types_are_counted)
{
    hf_site site;
    hf_value type;
    hf_value page;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    worker_register(&site, "w1", "far", "b1");
    run_start(&site, "order", "o-1");
    run_start(&site, "order", "o-2");
    run_start(&site, "quick", "q-1");
    (void)hf_site_expect(&site, "POST", "/api/workflows/o-2/terminate", "{}", 202);
    while (hf_int(one_of(&site, "types", "type", "quick"), "completed", 0) != 1)
        (void)hf_site_expect(&site, "GET", "/api/workflows/q-1/result?wait_ms=100", NULL, 200);
    type = one_of(&site, "types", "type", "order");
    ck_assert_str_eq(hf_str(type, "kind", ""), "workflow");
    ck_assert(hf_bool(type, "here", false));
    ck_assert_int_eq(hf_int(type, "open", -1), 1);
    ck_assert_int_eq(hf_int(type, "closed", -1), 1);
    ck_assert_str_eq(hf_str(type, "signals.0", ""), "go");
    type = one_of(&site, "types", "type", "remote");
    ck_assert(!hf_bool(type, "here", true));
    ck_assert_int_eq(hf_int(type, "workers", -1), 1);
    ck_assert_str_eq(hf_str(type, "builds.0", ""), "b1");
    ck_assert_str_eq(hf_str(type, "queues.0", ""), "far");
    type = one_of(&site, "types", "type", "echo");
    ck_assert_str_eq(hf_str(type, "kind", ""), "activity");
    ck_assert_int_eq(hf_value_kind_of(hf_get(type, "open")), HF_VALUE_NULL);
    ck_assert_str_eq(hf_str(one_of(&site, "types", "type", "mail"), "kind", ""), "activity");
    page = hf_site_expect(&site, "GET", "/console/api/types/order", NULL, 200).body;
    ck_assert_str_eq(hf_str(page, "contract.parameters.0.name", ""), "limit");
    ck_assert_str_eq(hf_str(page, "contract_source", ""), "program");
    ck_assert_int_eq(hf_int(page, "statistics.terminated", -1), 1);
    ck_assert_uint_eq(hf_len(hf_get(page, "recent")), 2);
    page = hf_site_expect(&site, "GET", "/console/api/types/remote", NULL, 200).body;
    ck_assert_str_eq(hf_str(page, "contract_source", ""), "worker");
    ck_assert_str_eq(hf_str(page, "workers.0.worker_id", ""), "w1");
    page = hf_site_expect(&site, "GET", "/console/api/types/nothing%2e", NULL, 404).body;
    ck_assert_str_eq(hf_str(page, "reason", ""), "type_not_found");
    hf_site_close(&site);
}

/* The build, once that many open runs are known to carry it: lists are a moment behind. */
static hf_value build_counted(hf_site *site, const char *build, int64_t runs)
{
    for (int tries = 0; tries < 400; tries++) {
        hf_value found = one_of(site, "builds", "build_id", build);

        if (hf_int(found, "open_runs.n", -1) == runs)
            return found;
        hf_nap_ms(20);
    }
    ck_abort_msg("the build %s is not carried by %lld runs", build, (long long)runs);
    return NULL;
}

/* A build can be shut down when no open run carries it, no new run begins with it, nothing is held
   and others serve its queues; before, the sentence says which of these it is. */
HF_BOTH_ENGINES(a_build_says_why_it_has_to_stay)
{
    static const char promote[] = "/api/task-queues/far/build-ids/promote";
    hf_site site;
    hf_value build;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    worker_register(&site, "w1", "far", "b1");
    says(one_of(&site, "builds", "build_id", "b1"), true, "No open run needs it.");
    run_start(&site, "remote", "r-0");
    says(one_of(&site, "builds", "build_id", "b1"), false,
         "Only its workers serve queue far, where 1 run is open.");
    says(one_of(&site, "workers", "worker_id", "w1"), false,
         "It is the only worker of queue far, where 1 run is open.");
    worker_register(&site, "w2", "far", "b2");
    (void)hf_site_expect(&site, "POST", promote, "{\"build_id\":\"b1\"}", 200);
    says(one_of(&site, "builds", "build_id", "b1"), false, "New runs of queue far begin with b1.");
    run_start(&site, "remote", "r-1");
    build = build_counted(&site, "b1", 1);
    says(build, false, "1 open run still needs b1.");
    ck_assert(hf_bool(build, "open_runs.exact", false));
    ck_assert_str_ne(hf_str(build, "oldest_open_at", ""), "");
    ck_assert_str_eq(hf_str(build, "queues.0", ""), "far");
    says(one_of(&site, "workers", "worker_id", "w1"), false,
         "It is the only worker of build b1, which 1 open run needs.");
    says(one_of(&site, "builds", "build_id", "b2"), true, "No open run needs it.");
    (void)hf_site_expect(&site, "POST", promote, "{\"build_id\":\"b2\"}", 200);
    run_start(&site, "remote", "r-2");
    (void)hf_site_expect(&site, "POST", "/api/workflows/r-1/terminate", "{}", 202);
    says(build_counted(&site, "b1", 0), true, "No open run needs it.");
    says(one_of(&site, "workers", "worker_id", "w1"), true,
         "It holds no task, and nothing waits for it alone.");
    (void)hf_site_expect(&site, "DELETE", "/api/workers/w1", NULL, 200);
    says(one_of(&site, "builds", "build_id", "b1"), true,
         "No open run needs it, and no worker has it.");
    hf_site_close(&site);
}

/* A queue's numbers, and a worker that holds a task. */
HF_BOTH_ENGINES(queues_and_leases_are_counted)
{
    static const char poll[] =
        "{\"worker_id\":\"w1\",\"task_queue\":\"far\",\"timeout_seconds\":10}";
    hf_site site;
    hf_value queue;
    hf_value worker;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    worker_register(&site, "w1", "far", "b1");
    run_start(&site, "remote", "r-1");
    while (hf_int(one_of(&site, "queues", "name", "far"), "backlog", 0) == 0)
        (void)hf_site_expect(&site, "GET", "/api/health", NULL, 200);
    run_start(&site, "remote", "r-2");
    ck_assert_str_eq(
        hf_str(hf_site_expect(&site, "POST", "/api/worker/workflow-tasks/poll", poll, 200).body,
               "poll_status", ""),
        "leased");
    while (hf_int(one_of(&site, "queues", "name", "far"), "demand", 0) != 2)
        (void)hf_site_expect(&site, "GET", "/api/health", NULL, 200);
    queue = one_of(&site, "queues", "name", "far");
    ck_assert_int_eq(hf_int(queue, "in_flight", -1), 1);
    ck_assert_int_eq(hf_int(queue, "ready.workflow", -1), 1);
    ck_assert_int_eq(hf_int(queue, "workers", -1), 1);
    ck_assert_int_ge(hf_int(queue, "oldest_age_ms", -1), 0);
    worker = one_of(&site, "workers", "worker_id", "w1");
    ck_assert_int_eq(hf_int(worker, "leases", -1), 1);
    says(worker, false,
         "It holds 1 task. Tell its process to stop, and wait until they are done: what it leaves "
         "behind is done again.");
    hf_site_close(&site);
}

/* The deploys of the last hour. */
static hf_value deploys(hf_site *site, const char *headers)
{
    hf_site_answer answer = hf_site_ask(site, "GET", "/console/api/metrics/deploys", headers, NULL);

    ck_assert_int_eq(answer.status, 200);
    return hf_get(answer.body, "deploys");
}

/* A build is told of when its first worker comes and when it is promoted: once, however often its
   workers register, and in its namespace alone. */
HF_BOTH_ENGINES(deploys_are_told_once)
{
    static const char promote[] = "/api/task-queues/far/build-ids/promote";
    char first[40];
    hf_site site;
    hf_value list;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    (void)hf_site_expect(&site, "POST", "/api/namespaces", "{\"name\":\"other\"}", 201);
    ck_assert_uint_eq(hf_len(deploys(&site, NULL)), 0);
    limits_register(&site, "w0"); /* it says no build */
    worker_register(&site, "w1", "far", "b1");
    list = deploys(&site, NULL);
    ck_assert_uint_eq(hf_len(list), 1);
    ck_assert_str_eq(hf_str(list, "0.kind", ""), "seen");
    ck_assert_str_eq(hf_str(list, "0.build_id", ""), "b1");
    ck_assert_str_eq(hf_str(list, "0.task_queue", ""), "far");
    (void)snprintf(first, sizeof(first), "%s", hf_str(list, "0.at", ""));
    worker_register(&site, "w2", "far", "b1");
    (void)hf_site_expect(&site, "DELETE", "/api/workers/w1", NULL, 200);
    worker_register(&site, "w1", "far", "b1");
    list = deploys(&site, NULL);
    ck_assert_uint_eq(hf_len(list), 1);
    ck_assert_str_eq(hf_str(list, "0.at", ""), first);
    worker_register(&site, "w3", "far", "b2");
    (void)hf_site_expect(&site, "POST", promote, "{\"build_id\":\"b2\"}", 200);
    (void)hf_site_expect(&site, "POST", promote, "{\"build_id\":null}", 200);
    list = deploys(&site, NULL);
    ck_assert_uint_eq(hf_len(list), 4);
    ck_assert_str_eq(hf_str(list, "0.kind", ""), "promoted");
    ck_assert_ptr_null(hf_str(list, "0.build_id", NULL));
    ck_assert_str_eq(hf_str(list, "1.kind", ""), "promoted");
    ck_assert_str_eq(hf_str(list, "1.build_id", ""), "b2");
    ck_assert_str_eq(hf_str(list, "2.kind", ""), "seen");
    ck_assert_uint_eq(hf_len(deploys(&site, "X-Namespace: other\r\n")), 0);
    hf_site_close(&site);
}

/* Limits of programs behind the server, with what is left of them, in their namespace alone. */
HF_BOTH_ENGINES(declared_limits_are_listed)
{
    hf_site site;
    hf_value page;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    (void)hf_site_expect(&site, "POST", "/api/namespaces", "{\"name\":\"other\"}", 201);
    limits_register(&site, "w1");
    page = hf_site_expect(&site, "GET", "/console/api/limits", NULL, 200).body;
    ck_assert_uint_eq(hf_len(hf_get(page, "limits")), 2);
    ck_assert_str_eq(hf_str(page, "limits.0.key", ""), "door");
    ck_assert_int_eq(hf_int(page, "limits.0.slots", 0), 2);
    ck_assert_uint_eq(hf_len(hf_get(page, "limits.0.taken")), 0);
    ck_assert_str_eq(hf_str(page, "limits.1.kind", ""), "rate");
    ck_assert_int_eq(hf_int(page, "limits.1.limit.per_ms", 0), 1000);
    ck_assert_int_eq((int)hf_num(page, "limits.1.tokens", 0), 5);
    ck_assert(hf_bool(page, "exact", false));
    page = hf_site_ask(&site, "GET", "/console/api/limits", "X-Namespace: other\r\n", NULL).body;
    ck_assert_uint_eq(hf_len(hf_get(page, "limits")), 0);
    hf_site_close(&site);
}

/* Who may read reads all of it, in the namespaces that are his; unknown parameters are refused. */
START_TEST(roles_and_namespaces_hold)
{
    static const char *const paths[] = {"/console/api/types",   "/console/api/types/remote",
                                        "/console/api/queues",  "/console/api/limits",
                                        "/console/api/workers", "/console/api/builds"};
    hf_site site;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}});
    hf_site_tokens(&site);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        char unknown[80];

        (void)snprintf(unknown, sizeof(unknown), "%s?nothing=1", paths[i]);
        ck_assert_int_eq(hf_site_ask(&site, "GET", paths[i], NULL, NULL).status, 401);
        ck_assert_int_eq(
            hf_site_ask(&site, "GET", paths[i], "Authorization: Bearer tok-worker\r\n", NULL)
                .status,
            403);
        ck_assert_int_eq(
            hf_site_ask(&site, "GET", paths[i], "Authorization: Bearer tok-elsewhere\r\n", NULL)
                .status,
            404);
        ck_assert_int_eq(
            hf_site_ask(&site, "GET", unknown, "Authorization: Bearer tok-read\r\n", NULL).status,
            422);
    }
    hf_site_close(&site);
}
END_TEST

/* What workers of one namespace declare and hold is not told in another. */
HF_BOTH_ENGINES(namespaces_do_not_see_each_other)
{
    static const char other[] = "X-Namespace: other\r\n";
    hf_site site;
    hf_value page;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    (void)hf_site_expect(&site, "POST", "/api/namespaces", "{\"name\":\"other\"}", 201);
    worker_register(&site, "w1", "far", "b1");
    run_start(&site, "remote", "r-1");
    page = hf_site_ask(&site, "GET", "/console/api/types", other, NULL).body;
    ck_assert_ptr_nonnull(item_of(hf_get(page, "types"), "type", "order"));
    ck_assert_ptr_null(item_of(hf_get(page, "types"), "type", "remote"));
    ck_assert_ptr_null(item_of(hf_get(page, "types"), "type", "mail"));
    ck_assert_int_eq(hf_site_ask(&site, "GET", "/console/api/types/remote", other, NULL).status,
                     404);
    ck_assert_uint_eq(
        hf_len(
            hf_get(hf_site_ask(&site, "GET", "/console/api/workers", other, NULL).body, "workers")),
        0);
    ck_assert_uint_eq(
        hf_len(
            hf_get(hf_site_ask(&site, "GET", "/console/api/builds", other, NULL).body, "builds")),
        0);
    ck_assert_ptr_null(item_of(
        hf_get(hf_site_ask(&site, "GET", "/console/api/queues", other, NULL).body, "queues"),
        "name", "far"));
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/console_fleet", HF_BOTH(types_are_counted),
                 HF_BOTH(a_build_says_why_it_has_to_stay), HF_BOTH(queues_and_leases_are_counted),
                 HF_BOTH(declared_limits_are_listed), HF_BOTH(deploys_are_told_once),
                 {roles_and_namespaces_hold, 0}, HF_BOTH(namespaces_do_not_see_each_other))
