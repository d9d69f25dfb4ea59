/* test_protocol.c: the worker protocol route by route, over real HTTP: what every route answers
   when the version, the role, the namespace, the credential, the media type or the body is not as
   it must be, and which members its answers have. */
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "lib/site.h"
#include "server/route.h"

static const hf_app app = {.name = "nothing-here"};

/* A path of the route; ids that name nothing. */
static void path_make(const hf_route *route, char *out, size_t size)
{
    size_t len = 0;

    for (const char *at = route->path; *at && len + 32 < size;) {
        if (*at == '{') {
            len += (size_t)snprintf(out + len, size - len, "01ARZ3NDEKTSV4RRFFQ69G5FAV");
            at += strcspn(at, "}") + 1;
        } else {
            out[len++] = *at++;
        }
    }
    out[len] = '\0';
}

static hf_site_answer route_ask(hf_site *site, const hf_route *route, const char *more,
                                const char *body)
{
    char path[256];

    path_make(route, path, sizeof(path));
    return hf_site_ask(site, hf_http_method_text(route->method), path, more,
                       route->fields ? body : NULL);
}

/* The envelope that every answer of the plane has, and the published error. */
static void refused(const hf_route *route, hf_site_answer answer, int status, const char *reason)
{
    ck_assert_msg(answer.status == status, "%s: %d instead of %d: %s", route->path, answer.status,
                  status, answer.text);
    ck_assert_msg(strcmp(hf_str(answer.body, "protocol_version", ""), "1.20") == 0, "%s: %s",
                  route->path, answer.text);
    ck_assert_msg(hf_value_kind_of(hf_get(answer.body, "server_capabilities")) == HF_VALUE_OBJECT,
                  "%s: %s", route->path, answer.text);
    ck_assert_msg(strcmp(hf_str(answer.body, "reason", ""), reason) == 0, "%s: %s", route->path,
                  answer.text);
    ck_assert_ptr_nonnull(hf_get(answer.body, "message"));
    ck_assert_ptr_nonnull(hf_get(answer.body, "error"));
    ck_assert_msg(hf_slice_equal(hf_wire_field(&answer.raw, "X-Durable-Workflow-Protocol-Version"),
                                 HF_SLICE("1.20")),
                  "%s", route->path);
}

static bool is_worker_route(const hf_route *route)
{
    return route->plane == HF_PLANE_WORKER;
}

#define FOR_WORKER_ROUTES(route)                                                                   \
    for (size_t i_ = 0; hf_route_at(i_); i_++)                                                     \
        for (const hf_route *route = hf_route_at(i_); route && is_worker_route(route); route = NULL)

/* Versions: those of the same major up to ours, and nothing else, on every route. */
HF_BOTH_ENGINES(versions_fail_closed)
{
    static const char *const bad[] = {"1.21",
                                      "2.0",
                                      "0.9",
                                      "1",
                                      "1.",
                                      ".1",
                                      "1.1.1",
                                      "1.x",
                                      "x",
                                      "1.-1",
                                      "1.99999999999999999999",
                                      "+1.1"};
    static const char *const good[] = {"1.0", "1.7", "1.20"};
    hf_site site;
    char more[160];

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    FOR_WORKER_ROUTES(route)
    {
        refused(route, route_ask(&site, route, "-X-Durable-Workflow-Protocol-Version\r\n", "{}"),
                400, "missing_protocol_version");
        (void)snprintf(more, sizeof(more),
                       "-X-Durable-Workflow-Protocol-Version\r\n"
                       "X-Durable-Workflow-Protocol-Version: 1.21\r\n");
        refused(route, route_ask(&site, route, more, "{}"), 400, "unsupported_protocol_version");
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        (void)snprintf(more, sizeof(more),
                       "-X-Durable-Workflow-Protocol-Version\r\n"
                       "X-Durable-Workflow-Protocol-Version: %s\r\n",
                       bad[i]);
        ck_assert_msg(hf_site_ask(&site, "POST", "/api/worker/heartbeat", more, "{}").status == 400,
                      "%s", bad[i]);
    }
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        (void)snprintf(more, sizeof(more),
                       "-X-Durable-Workflow-Protocol-Version\r\n"
                       "X-Durable-Workflow-Protocol-Version: %s\r\n",
                       good[i]);
        ck_assert_msg(
            hf_site_ask(&site, "POST", "/api/worker/heartbeat", more, "{\"worker_id\":\"w\"}")
                    .status == 404,
            "%s", good[i]);
    }
    hf_site_close(&site);
}

/* Role before version before namespace; worker and admin may, others may not; a namespace that is
   not there, or not for this token, is not found. */
HF_BOTH_ENGINES(roles_and_namespaces)
{
    static const char *const may_not[] = {"tok-read", "tok-operator"};
    hf_site site;
    char more[160];

    hf_site_open(&site, kind, &app, (hf_server_options){.auth = {.driver = HF_AUTH_TOKEN}});
    hf_site_tokens(&site);
    FOR_WORKER_ROUTES(route)
    {
        hf_site_answer answer;

        refused(route, route_ask(&site, route, NULL, "{}"), 401, "unauthenticated");
        for (size_t i = 0; i < 2; i++) {
            (void)snprintf(more, sizeof(more),
                           "Authorization: Bearer %s\r\n-X-Durable-Workflow-Protocol-Version\r\n",
                           may_not[i]);
            refused(route, route_ask(&site, route, more, "{}"), 403, "forbidden");
        }
        refused(route,
                route_ask(&site, route,
                          "Authorization: Bearer tok-worker\r\nX-Namespace: nowhere\r\n", "{}"),
                404, "namespace_not_found");
        refused(route, route_ask(&site, route, "Authorization: Bearer tok-elsewhere\r\n", "{}"),
                404, "namespace_not_found");
        answer = route_ask(&site, route, "Authorization: Bearer tok-worker\r\n", "{}");
        ck_assert_msg(answer.status == 422 || answer.status == 404 || answer.status == 409,
                      "%s: %s", route->path, answer.text);
    }
    hf_site_close(&site);
}

/* A body is JSON and says so; what is missing in it is named; ids that name nothing are refused
   with a reason. */
HF_BOTH_ENGINES(bodies_are_checked)
{
    static const char other[] = "-Content-Type\r\nContent-Type: text/plain\r\n";
    hf_site site;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    FOR_WORKER_ROUTES(route)
    {
        hf_site_answer answer;

        if (!route->fields) {
            refused(route, route_ask(&site, route, NULL, NULL), 404, "worker_not_found");
            continue;
        }
        refused(route, route_ask(&site, route, other, "{}"), 415, "unsupported_media_type");
        refused(route, route_ask(&site, route, NULL, "{"), 400, "malformed_json");
        refused(route, route_ask(&site, route, NULL, "[1]"), 422, "validation_failed");
        refused(route, route_ask(&site, route, NULL, "{}"), 422, "validation_failed");
        answer = route_ask(&site, route, NULL, "{}");
        ck_assert_ptr_nonnull(hf_get(answer.body, "validation_errors"));
        answer = route_ask(&site, route, NULL,
                           "{\"worker_id\":\"w\",\"lease_owner\":\"w\",\"timeout_seconds\":0,"
                           "\"activity_attempt_id\":\"01ARZ3NDEKTSV4RRFFQ69G5FAV\",\"commands\":"
                           "[{\"type\":\"complete_workflow\"}],\"decisions\":[],\"stream\":\"s\"}");
        if (strstr(route->path, "{task}") &&
            !strstr(route->path, "activity-tasks/{task}/heartbeat"))
            ck_assert_msg(answer.status == 404 || answer.status == 409, "%s: %s", route->path,
                          answer.text);
        ck_assert_msg(hf_get(answer.body, "server_capabilities") != NULL, "%s", answer.text);
    }
    hf_site_close(&site);
}

/* What is not in scope is refused and not advertised: service operations and worker sessions. */
HF_BOTH_ENGINES(what_is_not_served_is_refused)
{
    static const char *const bad[] = {
        "{\"type\":\"start_service_operation\",\"operation_name\":\"x\"}",
        "{\"type\":\"schedule_activity\",\"activity_type\":\"a\",\"worker_session\":{\"id\":\"s\"}"
        "}"};
    hf_site site;
    hf_site_answer answer;
    char path[128];
    char body[512];
    char task[64];
    int64_t attempt;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/worker/sessions", NULL, "{}").status, 404);
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/workflows", NULL,
                                 "{\"workflow_type\":\"remote\",\"task_queue\":\"far\"}")
                         .status,
                     201);
    answer = hf_site_ask(&site, "POST", "/api/worker/workflow-tasks/poll", NULL,
                         "{\"worker_id\":\"w1\",\"task_queues\":[\"near\",\"far\"],"
                         "\"poll_timeout_seconds\":10}");
    ck_assert_ptr_null(hf_get(answer.body, "server_capabilities.worker_sessions"));
    ck_assert_msg(!strstr(answer.text, "start_service_operation"), "%s", answer.text);
    ck_assert_str_eq(hf_str(answer.body, "poll_status", ""), "leased");
    (void)snprintf(task, sizeof(task), "%s", hf_str(answer.body, "task.task_id", ""));
    attempt = hf_int(answer.body, "task.workflow_task_attempt", 0);
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof(path), "/api/worker/workflow-tasks/%s/complete", task);
        (void)snprintf(body, sizeof(body),
                       "{\"lease_owner\":\"w1\",\"workflow_task_attempt\":%lld,\"commands\":[%s]}",
                       (long long)attempt, bad[i]);
        answer = hf_site_ask(&site, "POST", path, NULL, body);
        ck_assert_msg(answer.status == 422, "%s", answer.text);
        ck_assert_str_eq(hf_str(answer.body, "reason", ""), "invalid_commands");
    }
    hf_site_close(&site);
}

/* Members that the documents require of what a worker is handed and told. */
HF_BOTH_ENGINES(answers_have_what_is_required)
{
    static const char *const workflow[] = {
        "task.task_id",     "task.workflow_id",       "task.run_id",
        "task.history",     "task.workflow_type",     "task.workflow_task_attempt",
        "task.lease_owner", "task.history_events",    "task.task_kind",
        "task.task_type",   "task.payload_codec",     "task.task_queue",
        "lease.leased_at",  "lease.lease_expires_at", "task.total_history_events"};
    static const char *const activity[] = {"task.task_id",        "task.activity_type",
                                           "task.attempt",        "task.activity_attempt_id",
                                           "task.attempt_number", "task.idempotency_key",
                                           "task.workflow_id",    "task.run_id",
                                           "task.lease_owner",    "task.lease_expires_at",
                                           "task.task_kind",      "lease.lease_expires_at"};
    hf_site site;
    hf_site_answer answer;
    char path[128];
    char body[512];

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    answer = hf_site_ask(&site, "POST", "/api/worker/register", NULL,
                         "{\"worker_id\":\"w1\",\"task_queues\":[\"far\"],\"workflow_types\":["
                         "\"remote\"],\"activity_types\":[\"a\"]}");
    ck_assert(hf_bool(answer.body, "registered", false));
    ck_assert_str_eq(hf_str(answer.body, "worker_id", ""), "w1");
    ck_assert_int_gt(hf_int(answer.body, "heartbeat_interval_seconds", 0), 0);
    answer = hf_site_ask(&site, "POST", "/api/worker/heartbeat", NULL, "{\"worker_id\":\"w1\"}");
    ck_assert(hf_bool(answer.body, "acknowledged", false));
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/workflows", NULL,
                                 "{\"workflow_type\":\"remote\",\"task_queue\":\"far\"}")
                         .status,
                     201);
    answer = hf_site_ask(&site, "POST", "/api/worker/workflow-tasks/poll", NULL,
                         "{\"worker_id\":\"w1\",\"task_queues\":[\"far\"]}");
    for (size_t i = 0; i < sizeof(workflow) / sizeof(workflow[0]); i++)
        ck_assert_msg(hf_get(answer.body, workflow[i]) != NULL, "%s: %s", workflow[i], answer.text);
    (void)snprintf(path, sizeof(path), "/api/worker/workflow-tasks/%s/complete",
                   hf_str(answer.body, "task.task_id", ""));
    (void)snprintf(body, sizeof(body),
                   "{\"worker_id\":\"w1\",\"workflow_task_attempt\":%lld,\"commands\":[{\"type\":"
                   "\"schedule_activity\",\"activity_type\":\"a\",\"queue\":\"far\"}]}",
                   (long long)hf_int(answer.body, "task.workflow_task_attempt", 0));
    answer = hf_site_ask(&site, "POST", path, NULL, body);
    ck_assert_msg(hf_bool(answer.body, "recorded", false), "%s", answer.text);
    ck_assert_ptr_nonnull(hf_get(answer.body, "task_id"));
    ck_assert_int_eq(hf_int(answer.body, "workflow_task_attempt", 0), 1);
    answer = hf_site_ask(&site, "POST", "/api/worker/activity-tasks/poll", NULL,
                         "{\"worker_id\":\"w1\",\"task_queues\":[\"far\"]}");
    for (size_t i = 0; i < sizeof(activity) / sizeof(activity[0]); i++)
        ck_assert_msg(hf_get(answer.body, activity[i]) != NULL, "%s: %s", activity[i], answer.text);
    answer = hf_site_ask(&site, "DELETE", "/api/worker/registrations/w1", NULL, NULL);
    ck_assert_str_eq(hf_str(answer.body, "outcome", ""), "deregistered");
    ck_assert_ptr_nonnull(hf_get(answer.body, "recovered_workflow_task_count"));
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/protocol", HF_BOTH(versions_fail_closed), HF_BOTH(roles_and_namespaces),
                 HF_BOTH(bodies_are_checked), HF_BOTH(what_is_not_served_is_refused),
                 HF_BOTH(answers_have_what_is_required))
