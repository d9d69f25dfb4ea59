/* test_workflow.c: the control plane over real HTTP, on both databases: the shape of each success,
   each error, versions, roles, namespaces, media types. */
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "lib/site.h"
#include "server/route.h"

/* ---- an application: an order that waits to be paid */

typedef struct order {
    int64_t total;
} order;

static hf_value order_run(hf_ctx *w, hf_value in)
{
    order *self = hf_state(w);
    hf_value paid;

    self->total = hf_int(in, "0.total", 0);
    paid = hf_receive(w, "paid");
    return hf_json(w, "{'total': %lld, 'paid': %p}", (long long)self->total, (const void *)paid);
}

static hf_value order_add(hf_ctx *w, void *state, hf_value args)
{
    order *self = state;

    if (hf_int(args, "amount", 0) == 13)
        hf_fail(w, "unlucky", "thirteen is not a number we like");
    self->total += hf_int(args, "amount", 0);
    return hf_json(w, "%lld", (long long)self->total);
}

static hf_value order_total(hf_mem *mem, const void *state, hf_value args)
{
    (void)args;
    return hf_json_(mem, "%lld", (long long)((const order *)state)->total);
}

static const hf_app app = {
    .name = "orders",
    .workflows =
        (const hf_workflow_def[]){
            {.type = "order",
             .run = order_run,
             .state_size = sizeof(order),
             .signals = (const hf_signal_def[]){{"paid", "by:string"}, {0}},
             .updates = (const hf_update_def[]){{"add", "amount:int", order_add, NULL}, {0}},
             .queries = (const hf_query_def[]){{"total", NULL, order_total}, {0}}},
            {0}},
};

static void answered(hf_site_answer answer, int status)
{
    ck_assert_msg(answer.status == status, "%d instead of %d: %s", answer.status, status,
                  answer.text);
}

static void refused(hf_site_answer answer, int status, const char *reason)
{
    answered(answer, status);
    ck_assert_msg(strcmp(hf_str(answer.body, "reason", ""), reason) == 0, "%s", answer.text);
    ck_assert_str_ne(hf_str(answer.body, "message", ""), "");
}

static void has(hf_site_answer answer, const char *path, const char *text)
{
    ck_assert_msg(strcmp(hf_str(answer.body, path, "(none)"), text) == 0, "%s is not %s in %s",
                  path, text, answer.text);
}

static void order_start(hf_site *site, const char *id)
{
    char body[256];

    (void)snprintf(body, sizeof(body),
                   "{\"workflow_type\":\"order\",\"workflow_id\":\"%s\",\"input\":[{\"total\":5}]}",
                   id);
    answered(hf_site_ask(site, "POST", "/api/workflows", NULL, body), 201);
}

/* Every envelope of a command has these. */
static void envelope_is_whole(hf_site_answer answer)
{
    static const char *const fields[] = {
        "outcome",          "workflow_id",       "run_id",
        "resolved_run_id",  "command_id",        "command_sequence",
        "target_scope",     "command_status",    "command_source",
        "rejection_reason", "validation_errors", "namespace"};

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        ck_assert_msg(hf_get(answer.body, fields[i]) != NULL, "%s is missing in %s", fields[i],
                      answer.text);
    has(answer, "command_source", "control_plane");
}

/* The published wait of an update is its wait_for. */
HF_BOTH_ENGINES(n48_an_update_waits_as_it_is_told)
{
    static const char *const rows[][2] = {
        {"{\"arguments\":{\"amount\":1},\"wait\":true}", "completed"},
        {"{\"arguments\":{\"amount\":1},\"wait\":false}", "accepted"},
        {"{\"arguments\":{\"amount\":1},\"wait\":false,\"wait_for\":\"completed\"}", "completed"},
        {"{\"arguments\":{\"amount\":1},\"wait\":null}", "completed"}};
    hf_site site;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    order_start(&site, "o-1");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        has(hf_site_ask(&site, "POST", "/api/workflows/o-1/update/add", NULL, rows[i][0]),
            "wait_for", rows[i][1]);
    refused(hf_site_ask(&site, "POST", "/api/workflows/o-1/signal/paid", NULL,
                        "{\"arguments\":{\"by\":\"x\"},\"wait\":true}"),
            422, "validation_failed");
    hf_site_close(&site);
}

/* A start answers 201, once; again it is a duplicate or, when asked for, the open run. */
HF_BOTH_ENGINES(starts)
{
    hf_site site;
    hf_site_answer answer;
    char run[64];

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    answer = hf_site_ask(&site, "POST", "/api/workflows", "X-Request-Id: r1\r\n",
                         "{\"workflow_type\":\"order\",\"workflow_id\":\"o-1\"}");
    answered(answer, 201);
    envelope_is_whole(answer);
    has(answer, "outcome", "started_new");
    has(answer, "workflow_type", "order");
    (void)snprintf(run, sizeof(run), "%s", hf_str(answer.body, "run_id", ""));
    answer = hf_site_ask(&site, "POST", "/api/workflows", NULL,
                         "{\"workflow_type\":\"order\",\"workflow_id\":\"o-1\"}");
    refused(answer, 409, "duplicate_start");
    answer = hf_site_ask(&site, "POST", "/api/workflows", NULL,
                         "{\"workflow_type\":\"order\",\"workflow_id\":\"o-1\","
                         "\"duplicate_policy\":\"use-existing\"}");
    answered(answer, 200);
    has(answer, "outcome", "returned_existing_active");
    has(answer, "run_id", run);
    answer = hf_site_ask(&site, "POST", "/api/workflows", NULL, "{\"workflow_id\":7}");
    refused(answer, 422, "validation_failed");
    ck_assert_ptr_nonnull(hf_get(answer.body, "validation_errors.workflow_type"));
    ck_assert_ptr_nonnull(hf_get(answer.body, "validation_errors.workflow_id"));
    refused(hf_site_ask(&site, "POST", "/api/workflows", NULL, "{\"workflow_type\":"), 400,
            "malformed_json");
    refused(hf_site_ask(&site, "POST", "/api/workflows", NULL, "[1]"), 422, "validation_failed");
    refused(hf_site_ask(&site, "POST", "/api/workflows",
                        "-Content-Type\r\nContent-Type: text/xml\r\n", "{}"),
            415, "unsupported_media_type");
    answer =
        hf_site_ask(&site, "POST", "/api/workflows", NULL,
                    "{\"workflow_type\":\"order\",\"input\":{\"codec\":\"php\",\"blob\":\"x\"}}");
    refused(answer, 422, "validation_failed");
    ck_assert_ptr_nonnull(strstr(answer.text, "unsupported_payload_codec"));
    hf_site_close(&site);
}

/* Input may come in an envelope, and queries answer with one, which can be sent back. */
HF_BOTH_ENGINES(payloads_may_be_avro)
{
    hf_site site;
    hf_site_answer answer;
    char body[512];

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    answer = hf_site_ask(&site, "POST", "/api/workflows", NULL,
                         "{\"workflow_type\":\"order\",\"workflow_id\":\"o-7\",\"input\":"
                         "{\"codec\":\"json\",\"blob\":\"[{\\\"total\\\":7}]\"}}");
    answered(answer, 201);
    answer = hf_site_ask(&site, "POST", "/api/workflows/o-7/query/total", NULL, "{}");
    answered(answer, 200);
    ck_assert_int_eq(hf_int(answer.body, "result", 0), 7);
    has(answer, "result_envelope.codec", "avro");
    (void)snprintf(body, sizeof(body),
                   "{\"workflow_type\":\"order\",\"workflow_id\":\"o-8\",\"input\":{\"codec\":"
                   "\"avro\",\"blob\":\"%s\"}}",
                   hf_str(answer.body, "result_envelope.blob", ""));
    answered(hf_site_ask(&site, "POST", "/api/workflows", NULL, body), 201);
    hf_site_close(&site);
}

/* A signal is accepted once for a request id; unknown instances, signals and arguments are refused.
 */
HF_BOTH_ENGINES(signals)
{
    hf_site site;
    hf_site_answer answer;
    hf_value out = NULL;
    const hf_error *failure = NULL;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    order_start(&site, "o-1");
    refused(hf_site_ask(&site, "POST", "/api/workflows/nobody/signal/paid", NULL, "{}"), 404,
            "instance_not_found");
    refused(hf_site_ask(&site, "POST", "/api/workflows/o-1/signal/burn", NULL, "{}"), 404,
            "unknown_signal");
    answer = hf_site_ask(&site, "POST", "/api/workflows/o-1/signal/paid", NULL, "{\"input\":[1]}");
    refused(answer, 422, "invalid_signal_arguments");
    ck_assert_ptr_nonnull(hf_get(answer.body, "validation_errors.by"));
    answer = hf_site_ask(&site, "POST", "/api/workflows/o-1/signal/paid", NULL,
                         "{\"input\":[\"card\"],\"request_id\":\"once\"}");
    answered(answer, 202);
    envelope_is_whole(answer);
    has(answer, "outcome", "signal_received");
    has(answer, "signal_name", "paid");
    ck_assert_int_eq(hf_result(site.engine, "o-1", 20000, &out, &failure), HF_OK);
    ck_assert_str_eq(hf_str(out, "paid", hf_str(out, "paid.by", "")), "card");
    ck_assert_int_eq(hf_int(out, "total", 0), 5);
    answer = hf_site_ask(&site, "POST", "/api/workflows/o-1/signal/paid", NULL,
                         "{\"input\":[\"cash\"]}");
    refused(answer, 409, "run_not_active");
    hf_site_close(&site);
}

/* An update ends with its result, or its failure, or is accepted when nobody waits. */
HF_BOTH_ENGINES(updates)
{
    hf_site site;
    hf_site_answer answer;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    order_start(&site, "o-1");
    answer = hf_site_ask(&site, "POST", "/api/workflows/o-1/update/add", NULL,
                         "{\"arguments\":{\"amount\":3},\"wait_for\":\"completed\"}");
    answered(answer, 200);
    has(answer, "update_status", "completed");
    has(answer, "update_name", "add");
    ck_assert_ptr_nonnull(hf_get(answer.body, "update_id"));
    answer = hf_site_ask(&site, "POST", "/api/workflows/o-1/update/add", NULL,
                         "{\"arguments\":{\"amount\":13}}");
    answered(answer, 422);
    has(answer, "update_status", "failed");
    /* A run that rests applies nothing, however fast it would be. */
    answered(hf_site_ask(&site, "POST", "/api/workflows/o-1/pause", NULL, "{}"), 202);
    answer = hf_site_ask(&site, "POST", "/api/workflows/o-1/update/add", NULL,
                         "{\"arguments\":{\"amount\":1},\"wait_for\":\"accepted\"}");
    answered(answer, 202);
    has(answer, "update_status", "accepted");
    answered(hf_site_ask(&site, "POST", "/api/workflows/o-1/resume", NULL, "{}"), 202);
    refused(hf_site_ask(&site, "POST", "/api/workflows/o-1/update/none", NULL, "{}"), 404,
            "unknown_update");
    refused(hf_site_ask(&site, "POST", "/api/workflows/o-1/update/add", NULL,
                        "{\"wait_timeout_seconds\":0}"),
            422, "validation_failed");
    refused(hf_site_ask(&site, "POST", "/api/workflows/o-1/update/add", NULL,
                        "{\"wait_for\":\"never\"}"),
            422, "validation_failed");
    hf_site_close(&site);
}

/* Queries answer from memory or by replay, and know what they do not know. */
HF_BOTH_ENGINES(queries)
{
    hf_site site;
    hf_site_answer answer;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    order_start(&site, "o-1");
    answer = hf_site_ask(&site, "POST", "/api/workflows/o-1/query/total", NULL, NULL);
    answered(answer, 200);
    ck_assert_int_eq(hf_int(answer.body, "result", 0), 5);
    has(answer, "query_name", "total");
    has(answer, "workflow_id", "o-1");
    refused(hf_site_ask(&site, "POST", "/api/workflows/nobody/query/total", NULL, NULL), 404,
            "instance_not_found");
    ck_assert_int_ge(
        hf_site_ask(&site, "POST", "/api/workflows/o-1/query/nothing", NULL, NULL).status, 400);
    hf_site_close(&site);
}

/* Cancel and terminate end a run once; the run that is named must be the newest. */
HF_BOTH_ENGINES(ends)
{
    hf_site site;
    hf_site_answer answer;
    char path[128];

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    order_start(&site, "o-1");
    order_start(&site, "o-2");
    answer = hf_site_ask(&site, "POST", "/api/workflows/o-1/cancel", NULL,
                         "{\"reason\":\"changed my mind\"}");
    answered(answer, 202);
    envelope_is_whole(answer);
    has(answer, "outcome", "cancelled");
    refused(hf_site_ask(&site, "POST", "/api/workflows/o-1/cancel", NULL, "{}"), 409,
            "run_not_active");
    answer = hf_site_ask(&site, "POST", "/api/workflows/o-1/archive", NULL, "{}");
    answered(answer, 202);
    has(answer, "outcome", "archived");
    answer = hf_site_ask(&site, "POST", "/api/workflows/o-2/archive", NULL, "{}");
    refused(answer, 409, "run_not_closed");
    (void)snprintf(path, sizeof(path), "/api/workflows/o-2/runs/%s/terminate",
                   hf_str(answer.body, "run_id", ""));
    answer = hf_site_ask(&site, "POST", path, NULL, NULL);
    answered(answer, 202);
    has(answer, "outcome", "terminated");
    has(answer, "target_scope", "run");
    ck_assert_int_eq(
        hf_site_ask(&site, "POST", "/api/workflows/nobody/terminate", NULL, NULL).status, 404);
    hf_site_close(&site);
}

/* A history comes in pages that fit together, and as a bundle. */
HF_BOTH_ENGINES(histories)
{
    hf_site site;
    hf_site_answer answer;
    char run[64];
    char path[256];
    char token[64] = "";
    int64_t seen = 0;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    order_start(&site, "o-1");
    answer = hf_site_ask(&site, "POST", "/api/workflows/o-1/terminate", NULL, NULL);
    (void)snprintf(run, sizeof(run), "%s", hf_str(answer.body, "run_id", ""));
    do {
        (void)snprintf(path, sizeof(path), "/api/workflows/o-1/runs/%s/history?page_size=1%s%s",
                       run, token[0] ? "&next_page_token=" : "", token);
        answer = hf_site_ask(&site, "GET", path, NULL, NULL);
        answered(answer, 200);
        ck_assert_uint_eq(hf_len(hf_get(answer.body, "events")), 1);
        ck_assert_int_eq(hf_int(answer.body, "events.0.sequence", 0), ++seen);
        (void)snprintf(token, sizeof(token), "%s", hf_str(answer.body, "next_page_token", ""));
    } while (token[0]);
    ck_assert_int_ge(seen, 3);
    ck_assert_int_eq(hf_int(answer.body, "last_sequence", 0), seen);
    (void)snprintf(path, sizeof(path), "/api/workflows/o-1/runs/%s/history?next_page_token=x", run);
    refused(hf_site_ask(&site, "GET", path, NULL, NULL), 400, "invalid_page_token");
    (void)snprintf(path, sizeof(path), "/api/workflows/o-1/runs/%s/history?page_size=0", run);
    refused(hf_site_ask(&site, "GET", path, NULL, NULL), 422, "validation_failed");
    (void)snprintf(path, sizeof(path), "/api/workflows/o-1/runs/%s/history/export", run);
    answer = hf_site_ask(&site, "GET", path, NULL, NULL);
    answered(answer, 200);
    ck_assert_ptr_nonnull(hf_get(answer.body, "integrity"));
    refused(hf_site_ask(&site, "GET", "/api/workflows/o-1/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV/history",
                        NULL, NULL),
            404, "run_not_found");
    hf_site_close(&site);
}

/* ---- every route: versions, roles, namespaces */

/* A path of the route with something in each of its places. */
static void path_of(const hf_route *route, char *out, size_t room)
{
    size_t len = 0;

    for (const char *at = route->path; *at && len + 2 < room; at++) {
        if (*at == '{') {
            out[len++] = 'x';
            at = strchr(at, '}');
        } else {
            out[len++] = *at;
        }
    }
    out[len] = '\0';
}

static hf_site_answer route_ask(hf_site *site, const hf_route *route, const char *token,
                                const char *more)
{
    char path[256];
    char headers[512];

    path_of(route, path, sizeof(path));
    (void)snprintf(headers, sizeof(headers), "%s%s%s%s", token ? "Authorization: Bearer " : "",
                   token ? token : "", token ? "\r\n" : "", more);
    return hf_site_ask(site, hf_http_method_text(route->method), path, headers,
                       route->fields && route->method != HF_HTTP_GET ? "{}" : NULL);
}

/* The matrix of endpoint, role and namespace, made from the table: nobody without a credential,
   only the roles that the table allows, and then only in namespaces that the credential sees. */
HF_BOTH_ENGINES(every_route_is_guarded)
{
    static const char *const tokens[] = {"tok-read", "tok-operator", "tok-worker", "tok-admin"};
    hf_site site;
    const hf_route *route;

    hf_site_open(&site, kind, &app, (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}});
    hf_site_tokens(&site);
    for (size_t i = 0; (route = hf_route_at(i)); i++) {
        if (route->plane == HF_PLANE_OPEN || route->plane == HF_PLANE_WEBHOOK ||
            route->plane == HF_PLANE_ANSWER)
            continue; /* credentials of their own: test_webhook.c, test_approval.c */
        refused(route_ask(&site, route, NULL, ""), 401, "unauthenticated");
        for (int role = 0; role < HF_ROLES; role++) {
            bool allowed =
                route->plane == HF_PLANE_DISCOVERY || hf_role_allows(route->role) & 1U << role;
            hf_site_answer answer =
                route_ask(&site, route, tokens[role], "X-Namespace: nowhere\r\n");

            if (!allowed)
                refused(answer, 403, "forbidden");
            else if (route->scope == HF_SCOPE_NAMESPACE)
                refused(answer, 404, "namespace_not_found");
            else
                ck_assert_msg(answer.status != 401 && answer.status != 403, "%s: %s", route->path,
                              answer.text);
        }
        if (route->scope == HF_SCOPE_NAMESPACE)
            refused(route_ask(&site, route, "tok-elsewhere", ""), 404, "namespace_not_found");
    }
    hf_site_close(&site);
}

/* Versions are asked for after the role and before anything else; old and new ones are refused. */
START_TEST(every_route_checks_its_version)
{
    static const char control[] = "-X-Durable-Workflow-Control-Plane-Version\r\n";
    static const char worker[] = "-X-Durable-Workflow-Protocol-Version\r\n";
    static const char *const wrong[] = {"1", "3", "2.0", "x"};
    static const char *const strange[] = {"2.0", "1.21", "1", "1.x", "x"};
    hf_site site;
    const hf_route *route;
    char more[256];

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){0});
    for (size_t i = 0; (route = hf_route_at(i)); i++) {
        if (route->plane == HF_PLANE_CONTROL) {
            refused(route_ask(&site, route, NULL, control), 400, "missing_control_plane_version");
            for (size_t j = 0; j < sizeof(wrong) / sizeof(wrong[0]); j++) {
                hf_site_answer answer;

                (void)snprintf(more, sizeof(more),
                               "%sX-Durable-Workflow-Control-Plane-Version: %s\r\n", control,
                               wrong[j]);
                answer = route_ask(&site, route, NULL, more);
                refused(answer, 400, "unsupported_control_plane_version");
                ck_assert(hf_slice_equal(
                    hf_wire_field(&answer.raw, "X-Durable-Workflow-Control-Plane-Version"),
                    HF_SLICE("2")));
            }
        }
        if (route->plane == HF_PLANE_WORKER) {
            refused(route_ask(&site, route, NULL, worker), 400, "missing_protocol_version");
            for (size_t j = 0; j < sizeof(strange) / sizeof(strange[0]); j++) {
                (void)snprintf(more, sizeof(more), "%sX-Durable-Workflow-Protocol-Version: %s\r\n",
                               worker, strange[j]);
                refused(route_ask(&site, route, NULL, more), 400, "unsupported_protocol_version");
            }
        }
    }
    hf_site_close(&site);
}
END_TEST

/* Every route that takes a body takes JSON, and those without one take none. */
START_TEST(every_route_checks_its_media_type)
{
    hf_site site;
    const hf_route *route;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app,
                 (hf_server_options){.webhook = {.mode = HF_WEBHOOK_NONE}});
    for (size_t i = 0; (route = hf_route_at(i)); i++) {
        char path[192];
        hf_site_answer answer;

        path_of(route, path, sizeof(path));
        answer = hf_site_ask(&site, hf_http_method_text(route->method), path,
                             "-Content-Type\r\nContent-Type: text/xml\r\n", "<a/>");
        if (route->fields)
            refused(answer, 415, "unsupported_media_type");
        else
            refused(answer, 400, "unexpected_body");
    }
    hf_site_close(&site);
}
END_TEST

/* Another page may not make the operator's browser change anything. */
START_TEST(other_origins_change_nothing)
{
    hf_site site;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){0});
    refused(hf_site_ask(&site, "POST", "/api/workflows", "Origin: http://evil.example\r\n",
                        "{\"workflow_type\":\"order\"}"),
            403, "origin_not_allowed");
    refused(hf_site_ask(&site, "POST", "/api/workflows", "Sec-Fetch-Site: cross-site\r\n",
                        "{\"workflow_type\":\"order\"}"),
            403, "origin_not_allowed");
    answered(hf_site_ask(&site, "POST", "/api/workflows", "Origin: http://localhost\r\n",
                         "{\"workflow_type\":\"order\"}"),
             201);
    hf_site_close(&site);
}
END_TEST

/* Tokens made over HTTP hold at once and end at once; secrets are in one answer only. */
HF_BOTH_ENGINES(tokens_over_http)
{
    hf_site site;
    hf_site_answer answer;
    char bearer[128];
    char path[64];

    hf_site_open(&site, kind, &app, (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}});
    hf_site_tokens(&site);
    answer = hf_site_ask(&site, "POST", "/api/tokens", "Authorization: Bearer tok-admin\r\n",
                         "{\"role\":\"admin\",\"label\":\"made here\"}");
    answered(answer, 201);
    (void)snprintf(bearer, sizeof(bearer), "Authorization: Bearer %s\r\n",
                   hf_str(answer.body, "token", ""));
    (void)snprintf(path, sizeof(path), "/api/tokens/%s", hf_str(answer.body, "id", ""));
    answer = hf_site_ask(&site, "GET", "/api/tokens", bearer, NULL);
    answered(answer, 200);
    has(answer, "tokens.0.label", "made here");
    ck_assert_ptr_null(strstr(answer.text, "digest"));
    answered(hf_site_ask(&site, "GET", "/api/namespaces/default", bearer, NULL), 200);
    refused(hf_site_ask(&site, "GET", "/api/namespaces/nowhere", bearer, NULL), 404,
            "namespace_not_found");
    refused(hf_site_ask(&site, "DELETE", "/api/tokens/none", bearer, NULL), 404, "token_not_found");
    answered(hf_site_ask(&site, "DELETE", path, bearer, NULL), 200);
    refused(hf_site_ask(&site, "GET", "/api/tokens", bearer, NULL), 401, "unauthenticated");
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/workflow", HF_BOTH(starts), HF_BOTH(n48_an_update_waits_as_it_is_told),
                 HF_BOTH(payloads_may_be_avro), HF_BOTH(signals), HF_BOTH(updates),
                 HF_BOTH(queries), HF_BOTH(ends), HF_BOTH(histories),
                 HF_BOTH(every_route_is_guarded), {every_route_checks_its_version, 0},
                 {every_route_checks_its_media_type, 0}, {other_origins_change_nothing, 0},
                 HF_BOTH(tokens_over_http))
