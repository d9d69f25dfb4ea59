/* test_surface.c: what the control plane serves beside workflows, over real HTTP: search
   attributes, activities by themselves, the webhook bridge, repair and numbers; and what it does
   not serve. */
#include <stdio.h>
#include <string.h>

#include "lib/handlers.h"
#include "lib/schema.h"
#include "lib/site.h"

static hf_value sum(hf_act *a, hf_value in)
{
    return hf_json(a, "%lld", (long long)(hf_int(in, "0", 0) + hf_int(in, "1", 0)));
}

static hf_value never(hf_act *a, hf_value in)
{
    (void)in;
    return hf_error_(a, true, "no", "it never works");
}

static const hf_app app = {
    .name = "surface",
    .workflows =
        (const hf_workflow_def[]){
            {.type = "wait",
             .run = hf_wait_go,
             .signals = (const hf_signal_def[]){{"go", NULL}, {0}},
             .updates = (const hf_update_def[]){{"add", NULL, hf_update_echo, NULL}, {0}}},
            {0}},
    .activities = (const hf_activity_def[]){
        {.name = "sum", .run = sum}, {.name = "never", .run = never}, {0}}};

static void refused(hf_site *site, const char *method, const char *path, const char *body,
                    int status, const char *reason)
{
    hf_site_answer answer = hf_site_fits(site, method, path, body, status, NULL);

    ck_assert_msg(strcmp(hf_str(answer.body, "reason", ""), reason) == 0, "%.600s", answer.text);
}

/* Made known, listed by namespace, forgotten; those of every run cannot be either. */
HF_BOTH_ENGINES(search_attributes)
{
    static const char path[] = "/api/search-attributes";
    hf_site site;
    hf_site_answer answer;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    (void)hf_site_fits(&site, "POST", path, "{\"name\":\"team\",\"type\":\"keyword\"}", 201,
                       "search-attribute");
    refused(&site, "POST", path, "{\"name\":\"team\",\"type\":\"int\"}", 409,
            "search_attribute_already_exists");
    refused(&site, "POST", path, "{\"name\":\"x\",\"type\":\"blob\"}", 422, "validation_failed");
    refused(&site, "POST", path, "{\"name\":\"a b\",\"type\":\"int\"}", 422, "validation_failed");
    refused(&site, "POST", path, "{\"name\":\"RunId\",\"type\":\"int\"}", 422, "name_reserved");
    answer = hf_site_fits(&site, "GET", path, NULL, 200, "search-attribute-list");
    ck_assert_str_eq(hf_str(answer.body, "custom_attributes.team", ""), "keyword");
    (void)hf_site_fits(&site, "POST", "/api/namespaces", "{\"name\":\"other\"}", 201, NULL);
    answer = hf_site_fits(&site, "GET", "/api/search-attributes?namespace=other", NULL, 200, NULL);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "custom_attributes")), 0);
    refused(&site, "DELETE", "/api/search-attributes/RunId", NULL, 403, "system_attribute");
    (void)hf_site_fits(&site, "DELETE", "/api/search-attributes/team", NULL, 200,
                       "search-attribute");
    refused(&site, "DELETE", "/api/search-attributes/team", NULL, 404,
            "search_attribute_not_found");
    hf_site_close(&site);
}

/* An activity by itself is started, waited for, shown and listed; it fails as any other. */
HF_BOTH_ENGINES(activities)
{
    static const char path[] = "/api/activities";
    hf_site site;
    hf_site_answer answer;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    (void)hf_site_fits(
        &site, "POST", path,
        "{\"activity_type\":\"sum\",\"task_queue\":\"default\",\"activity_id\":\"a-1\","
        "\"input\":[2,3],\"activity_class\":\"Sum\"}",
        201, "activity");
    refused(&site, "POST", path,
            "{\"activity_type\":\"sum\",\"task_queue\":\"default\",\"activity_id\":\"a-1\"}", 409,
            "duplicate_start");
    refused(&site, "POST", path, "{\"activity_type\":\"sum\"}", 422, "validation_failed");
    answer = hf_site_fits(&site, "GET", "/api/workflows/a-1/result?wait_timeout_seconds=20", NULL,
                          200, NULL);
    ck_assert_int_eq(hf_int(answer.body, "result", 0), 5);
    answer = hf_site_fits(&site, "GET", "/api/activities/a-1", NULL, 200, "activity");
    ck_assert_str_eq(hf_str(answer.body, "status", ""), "completed");
    ck_assert_str_eq(hf_str(answer.body, "activity_type", ""), "sum");
    ck_assert_str_eq(hf_str(answer.body, "activity_class", ""), "Sum");
    ck_assert_str_eq(hf_str(answer.body, "activity_status", ""), "completed");
    ck_assert_str_eq(hf_str(answer.body, "result.codec", ""), "avro");
    (void)hf_site_fits(
        &site, "POST", path,
        "{\"activity_type\":\"never\",\"task_queue\":\"default\",\"activity_id\":\"a-2\","
        "\"retry_policy\":{\"max_attempts\":2,\"backoff_seconds\":[1],"
        "\"non_retryable_error_types\":[\"no\"]}}",
        201, "activity");
    answer = hf_site_fits(&site, "GET", "/api/workflows/a-2/result?wait_timeout_seconds=20", NULL,
                          200, NULL);
    ck_assert_str_eq(hf_str(answer.body, "status", ""), "failed");
    answer = hf_site_fits(&site, "GET", path, NULL, 200, "activity-list");
    ck_assert_int_eq(hf_int(answer.body, "activity_count", 0), 2);
    (void)hf_site_fits(&site, "POST", "/api/workflows",
                       "{\"workflow_type\":\"wait\",\"workflow_id\":\"w-1\"}", 201, NULL);
    refused(&site, "GET", "/api/activities/w-1", NULL, 404, "activity_not_found");
    refused(&site, "GET", "/api/activities/none", NULL, 404, "activity_not_found");
    hf_site_close(&site);
}

/* An event is one command, however often it comes, and says what became of it. */
HF_BOTH_ENGINES(bridge)
{
    static const char path[] = "/api/bridge-adapters/webhook/shop";
    static const char schema[] = "bridge-adapter-outcome";
    static const char start[] = "{\"action\":\"start_workflow\",\"idempotency_key\":\"k1\","
                                "\"target\":{\"workflow_type\":\"wait\"}}";
    hf_site site;
    hf_site_answer answer;
    char id[128];
    char body[320];

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    answer = hf_site_fits(&site, "POST", path, start, 202, schema);
    ck_assert_str_eq(hf_str(answer.body, "outcome", ""), "accepted");
    (void)snprintf(id, sizeof(id), "%s", hf_str(answer.body, "workflow_id", ""));
    answer = hf_site_fits(&site, "POST", path, start, 200, schema);
    ck_assert_str_eq(hf_str(answer.body, "outcome", ""), "duplicate");
    ck_assert_str_eq(hf_str(answer.body, "workflow_id", ""), id);
    (void)snprintf(body, sizeof(body),
                   "{\"action\":\"update_workflow\",\"idempotency_key\":\"k2\",\"target\":{"
                   "\"workflow_id\":\"%s\",\"update_name\":\"add\"},\"input\":[1]}",
                   id);
    (void)hf_site_fits(&site, "POST", path, body, 202, schema);
    (void)snprintf(body, sizeof(body),
                   "{\"action\":\"signal_workflow\",\"idempotency_key\":\"k3\",\"target\":{"
                   "\"workflow_id\":\"%s\",\"signal_name\":\"go\"},\"input\":[1]}",
                   id);
    (void)hf_site_fits(&site, "POST", path, body, 202, schema);
    answer = hf_site_fits(&site, "POST", path, body, 200, schema);
    ck_assert_str_eq(hf_str(answer.body, "outcome", ""), "duplicate");
    answer = hf_site_fits(&site, "POST", path,
                          "{\"action\":\"signal_workflow\",\"idempotency_key\":\"k4\",\"target\":{"
                          "\"workflow_id\":\"none\",\"signal_name\":\"go\"}}",
                          422, schema);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), "instance_not_found");
    answer = hf_site_fits(
        &site, "POST", path,
        "{\"action\":\"handoff_external_task\",\"idempotency_key\":\"k5\",\"target\":{}}", 422,
        schema);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), "unsupported_action");
    answer = hf_site_fits(
        &site, "POST", path,
        "{\"action\":\"start_workflow\",\"idempotency_key\":\"k6\",\"target\":{}}", 422, schema);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), "invalid_target");
    refused(&site, "POST", path, "{\"action\":\"start_workflow\"}", 422, "validation_failed");
    hf_site_close(&site);
}

/* Numbers and passes have their published shape, also when there is nothing to do. */
HF_BOTH_ENGINES(system_routes)
{
    hf_site site;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    (void)hf_site_fits(&site, "GET", "/api/system/metrics", NULL, 200, NULL);
    (void)hf_site_fits(&site, "POST", "/api/system/metrics", "{}", 200, NULL);
    (void)hf_site_fits(&site, "GET", "/api/system/operator-metrics", NULL, 200, "operator-metrics");
    (void)hf_site_fits(&site, "GET", "/api/system/repair", NULL, 200, "repair-status");
    (void)hf_site_fits(&site, "POST", "/api/system/repair/pass", "{}", 200, "repair-pass");
    (void)hf_site_fits(&site, "GET", "/api/system/activity-timeouts", NULL, 200,
                       "activity-timeout-status");
    (void)hf_site_fits(&site, "POST", "/api/system/activity-timeouts/pass", "{}", 200,
                       "activity-timeout-pass");
    (void)hf_site_fits(&site, "GET", "/api/system/retention", NULL, 200, "retention-status");
    (void)hf_site_fits(&site, "POST", "/api/system/retention/pass", "{\"limit\":5}", 200,
                       "retention-pass");
    refused(&site, "POST", "/api/system/retention/pass", "{\"limit\":0}", 422, "validation_failed");
    refused(&site, "POST", "/api/system/retention/pass", "{\"run_ids\":[\"x\"]}", 422,
            "validation_failed");
    hf_site_close(&site);
}

/* What is published and not built yet is not there, and says so in the published words. */
START_TEST(what_is_out_of_scope)
{
    static const char *const paths[] = {
        "GET /api/service-endpoints", "GET /api/service-endpoints/e/services/s/operations/o",
        "GET /api/deployments",       "POST /api/deployments/d/promote",
        "GET /api/worker-sessions",   "GET /api/worker-sessions/s"};
    hf_site site;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){0});
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        bool get = strncmp(paths[i], "GET ", 4) == 0;

        refused(&site, get ? "GET" : "POST", paths[i] + (get ? 4 : 5), get ? NULL : "{}", 404,
                "not_found");
    }
    hf_site_close(&site);
}
END_TEST

/* Who asked for it, how and from where is on the record of a command, in the words of the contract,
   and nothing of the credential. */
HF_BOTH_ENGINES(commands_name_who_asked)
{
    static const char more[] = "Authorization: Bearer tok-operator\r\nX-Request-Id: req-1\r\n"
                               "X-Correlation-Id: corr-1\r\nUser-Agent: probe/1\r\n";
    hf_site site;
    hf_site_answer answer;
    hf_value who;
    char path[160];

    hf_site_open(&site, kind, &app, (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}});
    hf_site_tokens(&site);
    answer = hf_site_ask(&site, "POST", "/api/workflows", more,
                         "{\"workflow_type\":\"far\",\"workflow_id\":\"who-1\"}");
    ck_assert_msg(answer.status == 201, "%s", answer.text);
    (void)snprintf(path, sizeof(path), "/api/workflows/who-1/runs/%s/history/export",
                   hf_str(answer.body, "run_id", ""));
    answer = hf_site_ask(&site, "GET", path, "Authorization: Bearer tok-admin\r\n", NULL);
    ck_assert_msg(answer.status == 200, "%s", answer.text);
    who = hf_get(answer.body, "commands.0.context");
    ck_assert_str_eq(hf_str(who, "caller.type", ""), "server");
    ck_assert_str_eq(hf_str(who, "auth.status", ""), "authorized");
    ck_assert_str_eq(hf_str(who, "auth.method", ""), "token");
    ck_assert_str_eq(hf_str(who, "principal.type", ""), "operator");
    ck_assert_str_eq(hf_str(who, "principal.label", ""), "tok-operator");
    ck_assert_str_eq(hf_str(who, "request.method", ""), "POST");
    ck_assert_str_eq(hf_str(who, "request.path", ""), "/api/workflows");
    ck_assert_str_eq(hf_str(who, "request.request_id", ""), "req-1");
    ck_assert_str_eq(hf_str(who, "request.correlation_id", ""), "corr-1");
    ck_assert_str_eq(hf_str(who, "request.user_agent", ""), "probe/1");
    ck_assert(strncmp(hf_str(who, "request.fingerprint", ""), "sha256:", 7) == 0);
    ck_assert_ptr_null(strstr(answer.text, "Bearer"));
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/surface", HF_BOTH(commands_name_who_asked), HF_BOTH(search_attributes),
                 HF_BOTH(activities), HF_BOTH(bridge), HF_BOTH(system_routes),
                 {what_is_out_of_scope, 0})
