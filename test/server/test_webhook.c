/* test_webhook.c: webhooks over real HTTP: who may call them in each mode, and what every route
   answers. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "lib/handlers.h"
#include "lib/site.h"
#include "server/sign.h"
#include "server/route.h"

static hf_value order(hf_ctx *w, hf_value in)
{
    (void)hf_receive(w, "paid");
    return in;
}

static const hf_app app = {
    .name = "hooks",
    .workflows = (const hf_workflow_def[]){
        {.type = "order",
         .run = order,
         .params = "total:int=0",
         .signals = (const hf_signal_def[]){{"paid", "by:string"}, {0}},
         .updates = (const hf_update_def[]){{"add", "amount:int", hf_update_echo, NULL}, {0}},
         .queries = (const hf_query_def[]){{"state", NULL, hf_query_open}, {0}}},
        {0}}};

#define SECRET "a secret of some length"

static void site_open(hf_site *site, hf_engine_kind kind, hf_webhook_options hooks)
{
    hf_site_open(site, kind, &app,
                 (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}, .webhook = hooks});
}

/* Nobody asked for webhooks: there are none, whatever is sent, and nothing begins. */
START_TEST(off_unless_asked_for)
{
    static const char start[] = "{\"workflow_id\":\"o-1\"}";
    hf_site site;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){0});
    (void)hf_site_expect(&site, "POST", "/webhooks/start/order", start, 404);
    ck_assert_int_eq(
        hf_site_ask(&site, "POST", "/webhooks/start/order", "Authorization: " SECRET "\r\n", start)
            .status,
        404);
    (void)hf_site_expect(&site, "GET", "/api/workflows/o-1", NULL, 404);
    hf_site_close(&site);
}
END_TEST

/* Starts by alias: parameters by their names, duplicates, unknown aliases, options. */
HF_BOTH_ENGINES(starts)
{
    hf_site site;
    hf_site_answer answer;

    site_open(&site, kind, (hf_webhook_options){.mode = HF_WEBHOOK_NONE});
    answer = hf_site_expect(
        &site, "POST", "/webhooks/start/order",
        "{\"workflow_id\":\"o-1\",\"total\":7,\"visibility\":{\"business_key\":\"b\"}}", 202);
    ck_assert_str_eq(hf_str(answer.body, "outcome", ""), "started_new");
    ck_assert_str_eq(hf_str(answer.body, "command_source", ""), "webhook");
    (void)hf_site_expect(&site, "POST", "/webhooks/start/order", "{\"workflow_id\":\"o-1\"}", 409);
    answer = hf_site_expect(&site, "POST", "/webhooks/start/order",
                            "{\"workflow_id\":\"o-1\",\"on_duplicate\":\"return_existing_active\"}",
                            200);
    ck_assert_str_eq(hf_str(answer.body, "outcome", ""), "returned_existing_active");
    (void)hf_site_expect(&site, "POST", "/webhooks/start/order", "{\"on_duplicate\":\"maybe\"}",
                         422);
    (void)hf_site_expect(&site, "POST", "/webhooks/start/order", "{\"total\":\"much\"}", 422);
    (void)hf_site_expect(&site, "POST", "/webhooks/start/nothing", "{}", 404);
    answer = hf_site_expect(&site, "POST", "/webhooks/start/order/signals/paid",
                            "{\"workflow_id\":\"o-2\",\"signal_arguments\":[\"bob\"]}", 202);
    ck_assert_str_eq(hf_str(answer.body, "outcome", ""), "signal_received");
    (void)hf_site_expect(&site, "POST", "/webhooks/start/order/signals/none",
                         "{\"workflow_id\":\"o-3\"}", 404);
    (void)hf_site_expect(&site, "POST", "/webhooks/start/order/signals/paid",
                         "{\"on_duplicate\":\"reject_duplicate\"}", 422);
    answer = hf_site_expect(&site, "POST", "/webhooks/control-plane/start",
                            "{\"workflow_type\":\"elsewhere\",\"instance_id\":\"e-1\"}", 202);
    ck_assert(hf_bool(answer.body, "started", false));
    (void)hf_site_expect(&site, "POST", "/webhooks/control-plane/start",
                         "{\"workflow_type\":\"elsewhere\",\"instance_id\":\"e-1\"}", 409);
    hf_site_close(&site);
}

/* Commands to instances and runs, with the statuses of the contract. */
HF_BOTH_ENGINES(commands)
{
    hf_site site;
    hf_site_answer answer;
    char run[64];
    char path[160];

    site_open(&site, kind, (hf_webhook_options){.mode = HF_WEBHOOK_NONE});
    answer =
        hf_site_expect(&site, "POST", "/webhooks/start/order", "{\"workflow_id\":\"o-1\"}", 202);
    (void)snprintf(run, sizeof(run), "%s", hf_str(answer.body, "run_id", ""));
    answer = hf_site_expect(&site, "POST", "/webhooks/instances/o-1/queries/state", "{}", 200);
    ck_assert_str_eq(hf_str(answer.body, "result", ""), "open");
    answer = hf_site_expect(&site, "POST", "/webhooks/instances/o-1/updates/add",
                            "{\"arguments\":[1]}", 200);
    (void)snprintf(path, sizeof(path), "/webhooks/instances/o-1/updates/%s",
                   hf_str(answer.body, "update_id", ""));
    (void)hf_site_expect(&site, "GET", path, NULL, 200);
    (void)hf_site_expect(&site, "POST", "/webhooks/instances/o-1/updates/none", "{}", 404);
    (void)hf_site_expect(&site, "POST", "/webhooks/instances/o-1/updates/add",
                         "{\"arguments\":[\"x\"]}", 422);
    answer = hf_site_expect(&site, "GET", "/webhooks/instances/o-1/describe", NULL, 200);
    ck_assert_str_eq(hf_str(answer.body, "run.workflow_run_id", ""), run);
    ck_assert(hf_bool(answer.body, "actions.can_signal", false));
    answer = hf_site_expect(&site, "GET",
                            "/webhooks/instances/o-1/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV/describe",
                            NULL, 200);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), "run_not_found");
    (void)hf_site_expect(&site, "GET", "/webhooks/instances/none/describe", NULL, 404);
    (void)hf_site_expect(&site, "POST", "/webhooks/instances/o-1/repair", "{}", 200);
    (void)hf_site_expect(&site, "POST", "/webhooks/instances/o-1/archive", "{}", 409);
    (void)hf_site_expect(&site, "POST", "/webhooks/instances/none/signals/paid", "{}", 404);
    (void)hf_site_expect(&site, "POST", "/webhooks/instances/o-1/signals/none", "{}", 404);
    (void)snprintf(path, sizeof(path), "/webhooks/instances/o-1/runs/%s/signals/paid", run);
    (void)hf_site_expect(&site, "POST", path, "{\"arguments\":{\"by\":\"bob\"}}", 202);
    (void)hf_site_expect(&site, "POST", "/webhooks/start/order", "{\"workflow_id\":\"o-2\"}", 202);
    (void)hf_site_expect(&site, "POST", "/webhooks/instances/o-2/cancel", "{\"reason\":\"no\"}",
                         200);
    (void)hf_site_expect(&site, "POST", "/webhooks/instances/o-2/terminate", "{}", 409);
    (void)hf_site_expect(&site, "POST", "/webhooks/instances/o-2/archive", "{}", 200);
    hf_site_close(&site);
}

/* The id of the one task that is ready, waited for; the engine offers it in a moment. */
static void ready_task(hf_site *site, const char *path, char out_id[64])
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + INT64_C(60000000);
    hf_site_answer answer;

    do {
        answer = hf_site_expect(site, "GET", path, NULL, 200);
    } while (hf_len(hf_get(answer.body, "tasks")) == 0 &&
             hf_clock_mono_us(hf_clock_system()) < until_us);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "tasks")), 1);
    (void)snprintf(out_id, 64, "%s", hf_str(answer.body, "tasks.0.task_id", ""));
    ck_assert_str_eq(hf_str(answer.body, "tasks.0.workflow_id", ""), "far-1");
    ck_assert_str_eq(hf_str(answer.body, "tasks.0.task_queue", ""), "there");
}

static hf_site_answer task_call(hf_site *site, const char *method, const char *what, const char *id,
                                const char *verb, const char *body, int status)
{
    char path[192];

    (void)snprintf(path, sizeof(path), "/webhooks/%s/%s%s%s", what, id, *verb ? "/" : "", verb);
    return hf_site_expect(site, method, path, body, status);
}

/* A workflow whose code is nowhere here is worked through by webhooks alone: listed, claimed once,
   held, its activity claimed, failed, tried again and completed; late reports change nothing. */
HF_BOTH_ENGINES(tasks_are_claimed)
{
    static const char runs[] = "workflow-tasks";
    static const char acts[] = "activity-tasks";
    static const char tries[] = "activity-attempts";
    hf_site site;
    hf_site_answer answer;
    char id[64];
    char claim[64];
    char attempt[64];

    site_open(&site, kind, (hf_webhook_options){.mode = HF_WEBHOOK_NONE});
    (void)hf_site_expect(
        &site, "POST", "/webhooks/control-plane/start",
        "{\"workflow_type\":\"far\",\"instance_id\":\"far-1\",\"queue\":\"there\"}", 202);
    ready_task(&site, "/webhooks/workflow-tasks/poll?queue=there&limit=5", id);
    (void)hf_site_expect(&site, "GET", "/webhooks/workflow-tasks/poll?limit=101", NULL, 422);
    answer =
        hf_site_expect(&site, "GET", "/webhooks/workflow-tasks/poll?queue=elsewhere", NULL, 200);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "tasks")), 0);
    answer = task_call(&site, "POST", runs, id, "claim", "{\"lease_owner\":\"me\"}", 200);
    ck_assert(hf_bool(answer.body, "claimed", false));
    ck_assert_str_eq(hf_str(answer.body, "workflow_type", ""), "far");
    ck_assert_uint_ge(hf_len(hf_get(answer.body, "history_events")), 2);
    (void)snprintf(claim, sizeof(claim), "%s", hf_str(answer.body, "task_id", ""));
    answer = task_call(&site, "POST", runs, id, "claim", "{}", 409);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), "task_not_claimable");
    ck_assert_uint_gt(hf_wire_field(&answer.raw, "Retry-After").len, 0);
    (void)task_call(&site, "POST", runs, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "claim", "{}", 404);
    (void)task_call(&site, "POST", runs, "nonsense", "claim", "{}", 404);
    (void)task_call(&site, "POST", runs, claim, "heartbeat", "{}", 200);
    (void)task_call(&site, "POST", runs, id, "heartbeat", "{}", 409); /* it names no claim */
    answer = task_call(&site, "GET", runs, claim, "history", NULL, 200);
    ck_assert_uint_ge(hf_len(hf_get(answer.body, "history_events")), 2);
    (void)task_call(&site, "POST", runs, claim, "complete", "{\"commands\":[]}", 422);
    answer = task_call(&site, "POST", runs, claim, "complete",
                       "{\"commands\":[{\"type\":\"schedule_activity\",\"activity_type\":\"work\","
                       "\"arguments\":null,\"retry_policy\":{\"max_attempts\":3,"
                       "\"backoff_seconds\":[0]}}]}",
                       200);
    ck_assert(hf_bool(answer.body, "recorded", false));
    (void)task_call(&site, "POST", runs, claim, "fail", "{\"failure\":\"late\"}", 409);

    ready_task(&site, "/webhooks/activity-tasks/poll", id);
    answer = task_call(&site, "POST", acts, id, "claim", "{}", 200);
    ck_assert_str_eq(hf_str(answer.body, "lease_owner", ""), "webhook");
    ck_assert_str_eq(hf_str(answer.body, "activity_type", ""), "work");
    (void)snprintf(attempt, sizeof(attempt), "%s", hf_str(answer.body, "activity_attempt_id", ""));
    (void)task_call(&site, "POST", acts, id, "claim", "{}", 409);
    answer = task_call(&site, "POST", tries, attempt, "heartbeat", "{\"progress\":{\"n\":1}}", 200);
    ck_assert(hf_bool(answer.body, "can_continue", false));
    ck_assert(hf_bool(answer.body, "heartbeat_recorded", false));
    (void)task_call(&site, "POST", tries, attempt, "fail", "{}", 422);
    (void)task_call(&site, "POST", tries, attempt, "fail", "{\"failure\":\"not yet\"}", 200);
    (void)task_call(&site, "POST", tries, attempt, "complete", "{\"result\":1}", 409);
    ready_task(&site, "/webhooks/activity-tasks/poll", id);
    answer = task_call(&site, "POST", acts, id, "claim", "{\"lease_owner\":\"me\"}", 200);
    ck_assert_int_eq(hf_int(answer.body, "attempt_number", 0), 2);
    (void)snprintf(attempt, sizeof(attempt), "%s", hf_str(answer.body, "activity_attempt_id", ""));
    (void)task_call(&site, "POST", tries, attempt, "complete",
                    "{\"result\":1,\"lease_owner\":\"another\"}", 409);
    (void)task_call(&site, "POST", tries, attempt, "complete", "{\"result\":7}", 200);
    answer = task_call(&site, "GET", tries, attempt, "", NULL, 200);
    ck_assert(!hf_bool(answer.body, "can_continue", true));
    ck_assert_str_eq(hf_str(answer.body, "attempt_status", ""), "completed");
    ck_assert_str_eq(hf_str(answer.body, "lease_owner", ""), "me");
    (void)task_call(&site, "GET", tries, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "", NULL, 404);

    ready_task(&site, "/webhooks/workflow-tasks/poll", id);
    answer = task_call(&site, "POST", runs, id, "claim", "{}", 200);
    (void)snprintf(claim, sizeof(claim), "%s", hf_str(answer.body, "task_id", ""));
    (void)task_call(&site, "POST", runs, claim, "complete",
                    "{\"commands\":[{\"type\":\"complete_workflow\",\"result\":null}]}", 200);
    answer = hf_site_expect(&site, "GET", "/webhooks/instances/far-1/describe", NULL, 200);
    ck_assert_str_eq(hf_str(answer.body, "run.status", ""), "completed");
    hf_site_close(&site);
}

/* Every row of the table that is a webhook, asked with a header: what came back. */
static void all_answer(hf_site *site, const char *header, bool pass, int otherwise)
{
    const hf_route *route;

    for (size_t i = 0; (route = hf_route_at(i)); i++) {
        hf_site_answer answer;
        char path[128] = "";

        if (route->plane != HF_PLANE_WEBHOOK)
            continue;
        for (size_t at = 0, to = 0; route->path[at]; at++) /* {name} becomes n */
            if (route->path[at] == '{') {
                at += strcspn(route->path + at, "}");
                path[to++] = 'n';
            } else {
                path[to++] = route->path[at];
            }
        answer = hf_site_ask(site, hf_http_method_text(route->method), path, header,
                             route->fields ? "{}" : NULL);
        if (pass)
            ck_assert_msg(answer.status != 401 && answer.status != 403, "%s: %s", route->path,
                          answer.text);
        else
            ck_assert_msg(answer.status == otherwise, "%s: %d %s", route->path, answer.status,
                          answer.text);
    }
}

/* By a header, in whatever case it is asked for; shows the whole request. */
static bool custom(void *arg, const hf_webhook *webhook)
{
    const char *value = hf_webhook_header(webhook, "X-CusTom");

    ck_assert_uint_eq(webhook->size_, sizeof(*webhook));
    ck_assert(strncmp(webhook->target, "/webhooks/", 10) == 0);
    ck_assert(!webhook->body_len || strcmp(webhook->method, "POST") == 0);
    ck_assert_uint_eq(strlen(webhook->body), webhook->body_len);
    ck_assert_ptr_null(hf_webhook_header(webhook, "X-Nothing"));
    return value && strcmp(value, arg) == 0;
}

/* The matrix of route and mode: nothing without one, and only with what the mode asks for. */
START_TEST(modes)
{
    static char magic[] = "open sesame";
    hf_site site;
    hf_server *none = NULL;
    hf_err err = {0};

    site_open(&site, HF_ENGINE_SQLITE, (hf_webhook_options){0});
    all_answer(&site, NULL, false, 404);
    hf_site_close(&site);
    site_open(&site, HF_ENGINE_SQLITE, (hf_webhook_options){.mode = HF_WEBHOOK_NONE});
    all_answer(&site, NULL, true, 0);
    ck_assert_int_eq(
        hf_site_ask(&site, "POST", "/webhooks/start/order", "X-Namespace: elsewhere\r\n", "{}")
            .status,
        404);
    hf_site_close(&site);
    site_open(&site, HF_ENGINE_SQLITE,
              (hf_webhook_options){.mode = HF_WEBHOOK_TOKEN, .secret = SECRET});
    all_answer(&site, NULL, false, 401);
    all_answer(&site, "Authorization: Bearer " SECRET "\r\n", false, 401);
    all_answer(&site, "Authorization: " SECRET "\r\n", true, 0);
    hf_site_close(&site);
    site_open(&site, HF_ENGINE_SQLITE,
              (hf_webhook_options){.mode = HF_WEBHOOK_CUSTOM, .check = custom, .arg = magic});
    all_answer(&site, "X-Custom: open\r\n", false, 401);
    all_answer(&site, "X-Custom: open sesame\r\n", true, 0);
    hf_site_close(&site);
    ck_assert_int_eq(
        hf_server_open(&(hf_server_options){.listen = "127.0.0.1:0",
                                            .webhook = {.mode = HF_WEBHOOK_TOKEN, .secret = "x"}},
                       &none, &err),
        HF_INVALID);
    ck_assert_int_eq(hf_server_open(&(hf_server_options){.listen = "127.0.0.1:0",
                                                         .webhook = {.mode = HF_WEBHOOK_CUSTOM}},
                                    &none, &err),
                     HF_INVALID);
}
END_TEST

/* A signature is the HMAC of the body as it was sent. */
START_TEST(signatures)
{
    static const char body[] = "{\"workflow_id\":\"o-1\"}";
    uint8_t digest[HF_SHA256_BYTES];
    char header[128] = "X-Signature: ";
    hf_hmac *hmac = NULL;
    hf_err err = {0};
    hf_site site;

    hf_test_ok(hf_hmac_new(hf_slice_of(SECRET), &hmac, &err), &err, "key");
    hf_test_ok(hf_hmac_digest(hmac, hf_slice_of(body), digest, &err), &err, "sign");
    hf_hmac_free(hmac);
    hf_hex_print(hf_slice_from(digest, sizeof(digest)), header + strlen(header));
    memcpy(header + strlen(header), "\r\n", 3);
    site_open(&site, HF_ENGINE_SQLITE,
              (hf_webhook_options){.mode = HF_WEBHOOK_SIGNATURE, .secret = SECRET});
    all_answer(&site, NULL, false, 401);
    all_answer(&site, header, false, 401); /* another body */
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/webhooks/start/order", header, body).status, 202);
    hf_site_close(&site);
}
END_TEST

/* The form that covers the whole request is taken beside the plain one, and can be the only one. */
START_TEST(n43_bound_webhooks)
{
    const signed_request made = {
        "POST", "/webhooks/start/order", "", "{\"workflow_id\":\"o-1\"}", 0, NULL};
    const signed_request cancel = {"POST", "/webhooks/instances/o-1/cancel", "", "{}", 0, NULL};
    const hf_webhook_mode taken[] = {HF_WEBHOOK_SIGNATURE, HF_WEBHOOK_BOUND};
    uint8_t digest[HF_SHA256_BYTES];
    char plain[128] = "X-Signature: ";
    char header[256];
    hf_hmac *hmac = NULL;
    hf_err err = {0};
    hf_site site;

    hf_test_ok(hf_hmac_new(hf_slice_of(SECRET), &hmac, &err), &err, "key");
    hf_test_ok(hf_hmac_digest(hmac, HF_SLICE("{}"), digest, &err), &err, "sign");
    hf_hmac_free(hmac);
    hf_hex_print(hf_slice_from(digest, sizeof(digest)), plain + strlen(plain));
    memcpy(plain + strlen(plain), "\r\n", 3);
    for (size_t i = 0; i < 2; i++) {
        hf_site_answer answer;

        site_open(&site, HF_ENGINE_SQLITE,
                  (hf_webhook_options){.mode = taken[i], .secret = SECRET});
        sign(SECRET, &made, header, sizeof(header));
        ck_assert_int_eq(hf_site_ask(&site, "POST", cancel.target, header, made.body).status, 401);
        ck_assert_int_eq(hf_site_ask(&site, "POST", made.target, header, made.body).status, 202);
        answer = hf_site_ask(&site, "POST", made.target, header, made.body);
        ck_assert_int_eq(answer.status, 401);
        ck_assert_ptr_nonnull(strstr(answer.text, "used before"));
        ck_assert_int_eq(hf_site_ask(&site, "POST", cancel.target, plain, "{}").status,
                         taken[i] == HF_WEBHOOK_BOUND ? 401 : 200);
        hf_site_close(&site);
    }
}
END_TEST

/* Who is refused is told what would help there, and nothing that does not. */
START_TEST(n43_refusals_say_what_helps)
{
    static const struct {
        hf_webhook_mode mode;
        const char *says;
    } rows[] = {{HF_WEBHOOK_TOKEN, "Authorization"},
                {HF_WEBHOOK_SIGNATURE, "X-Signature"},
                {HF_WEBHOOK_BOUND, "X-Signature-Time"},
                {HF_WEBHOOK_CUSTOM, "function"}};
    hf_site site;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        hf_site_answer answer;

        site_open(
            &site, HF_ENGINE_SQLITE,
            (hf_webhook_options){
                .mode = rows[i].mode, .secret = SECRET, .check = custom, .arg = (char[]){"x"}});
        answer = hf_site_ask(&site, "POST", "/webhooks/start/order", NULL, "{}");
        ck_assert_int_eq(answer.status, 401);
        ck_assert_msg(strstr(hf_str(answer.body, "remediation", ""), rows[i].says) != NULL, "%s",
                      answer.text);
        ck_assert_msg(!strstr(answer.text, "token create"), "%s", answer.text);
        hf_site_close(&site);
    }
}
END_TEST

/* Signed as some do it: the HMAC of a text of the header and the body. */
static bool dated(void *arg, const hf_webhook *webhook)
{
    const char *sent = hf_webhook_header(webhook, "x-dated");

    ck_assert(!hf_webhook_signed(webhook, "", "1.", sent));
    ck_assert(!hf_webhook_signed(webhook, SECRET, "1.", NULL));
    ck_assert_ptr_null(arg);
    return hf_webhook_signed(webhook, SECRET, "1.", sent);
}

/* A function sees the body, and so can hold a signature of its own against it. */
START_TEST(custom_signatures)
{
    static const char body[] = "{\"workflow_id\":\"o-1\"}";
    static const char signed_text[] = "1.{\"workflow_id\":\"o-1\"}";
    uint8_t digest[HF_SHA256_BYTES];
    char header[128] = "X-Dated: ";
    hf_hmac *hmac = NULL;
    hf_err err = {0};
    hf_site site;

    hf_test_ok(hf_hmac_new(hf_slice_of(SECRET), &hmac, &err), &err, "key");
    hf_test_ok(hf_hmac_digest(hmac, hf_slice_of(signed_text), digest, &err), &err, "sign");
    hf_hmac_free(hmac);
    hf_hex_print(hf_slice_from(digest, sizeof(digest)), header + strlen(header));
    memcpy(header + strlen(header), "\r\n", 3);
    site_open(&site, HF_ENGINE_SQLITE,
              (hf_webhook_options){.mode = HF_WEBHOOK_CUSTOM, .check = dated});
    all_answer(&site, NULL, false, 401);
    all_answer(&site, header, false, 401); /* another body */
    all_answer(&site, "X-Dated: 00\r\nX-Dated: 11\r\n", false, 401);
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/webhooks/start/order", header, body).status, 202);
    hf_site_close(&site);
    ck_assert_ptr_null(hf_webhook_header(NULL, "a"));
    ck_assert(!hf_webhook_signed(NULL, SECRET, NULL, "00"));
}
END_TEST

HF_PG_SUITE_MAIN("server/webhook", {off_unless_asked_for, 0}, HF_BOTH(starts), HF_BOTH(commands),
                 HF_BOTH(tasks_are_claimed), {modes, 0}, {signatures, 0}, {n43_bound_webhooks, 0},
                 {n43_refusals_say_what_helps, 0}, {custom_signatures, 0})
