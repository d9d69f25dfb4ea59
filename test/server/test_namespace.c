/* test_namespace.c: namespaces over real HTTP: made, changed, kept apart, and not guessed. */
#include <stdio.h>
#include <string.h>

#include "holdfast/host.h"
#include "lib/handlers.h"
#include "lib/site.h"
#include "server/registry.h"

static const hf_app app = {
    .name = "spaces",
    .workflows = (const hf_workflow_def[]){{.type = "wait",
                                            .run = hf_wait_go,
                                            .signals = (const hf_signal_def[]){{"go", NULL}, {0}}},
                                           {0}},
};

static void answered(hf_site_answer answer, int status)
{
    ck_assert_msg(answer.status == status, "%d instead of %d: %.800s", answer.status, status,
                  answer.text);
}

static void refused(hf_site_answer answer, int status, const char *reason)
{
    answered(answer, status);
    ck_assert_msg(strcmp(hf_str(answer.body, "reason", ""), reason) == 0, "%s", answer.text);
}

#define ADMIN     "Authorization: Bearer tok-admin\r\n"
#define ELSEWHERE "Authorization: Bearer tok-elsewhere\r\nX-Namespace: elsewhere\r\n"

static void site_open(hf_site *site, hf_engine_kind kind)
{
    hf_site_open(site, kind, &app, (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}});
    hf_site_tokens(site);
}

/* A namespace with the tokens of the site still in place: making one reads the store's tokens. */
static void namespace_make(hf_site *site, const char *name)
{
    char body[160];

    (void)snprintf(body, sizeof(body), "{\"name\":\"%s\"}", name);
    answered(hf_site_ask(site, "POST", "/api/namespaces", ADMIN, body), 201);
    hf_site_tokens(site);
}

/* Made, listed, shown and changed by admins; bad names and days are told apart by field. */
HF_BOTH_ENGINES(namespaces_over_http)
{
    hf_site site;
    hf_site_answer answer;

    site_open(&site, kind);
    answer = hf_site_ask(&site, "POST", "/api/namespaces", ADMIN,
                         "{\"name\":\"orders\",\"description\":\"shop\",\"retention_days\":7}");
    answered(answer, 201);
    ck_assert_str_eq(hf_str(answer.body, "namespace", ""), "orders");
    hf_site_tokens(&site);
    answer = hf_site_ask(&site, "POST", "/api/namespaces", ADMIN, "{\"name\":\"orders\"}");
    refused(answer, 422, "validation_failed");
    ck_assert_ptr_nonnull(hf_get(answer.body, "errors.name"));
    refused(hf_site_ask(&site, "POST", "/api/namespaces", ADMIN, "{\"name\":\"Bad Name\"}"), 422,
            "validation_failed");
    answer = hf_site_ask(&site, "PUT", "/api/namespaces/orders", ADMIN, "{\"retention_days\":0}");
    refused(answer, 422, "validation_failed");
    ck_assert_ptr_nonnull(hf_get(answer.body, "errors.retention_days"));
    answered(hf_site_ask(&site, "PUT", "/api/namespaces/orders", ADMIN, "{\"retention_days\":9}"),
             200);
    refused(hf_site_ask(&site, "PUT", "/api/namespaces/none", ADMIN, "{}"), 404,
            "namespace_not_found");
    answer = hf_site_ask(&site, "GET", "/api/namespaces/orders", ADMIN, NULL);
    answered(answer, 200);
    ck_assert_int_eq(hf_int(answer.body, "retention_days", 0), 9);
    ck_assert_str_eq(hf_str(answer.body, "description", ""), "shop");
    answered(hf_site_ask(&site, "PUT", "/api/namespaces/orders", ADMIN, "{\"retention_days\":-1}"),
             200);
    answer =
        hf_site_ask(&site, "GET", "/api/system/retention", ADMIN "X-Namespace: orders\r\n", NULL);
    answered(answer, 200); /* for ever: nothing is over since the beginning of time */
    ck_assert_str_eq(hf_str(answer.body, "cutoff", ""), "1970-01-01T00:00:00.000000Z");
    answer = hf_site_ask(&site, "GET", "/api/namespaces", ADMIN, NULL);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "namespaces")), 2);
    hf_site_close(&site);
}

/* The same id twice; each is started, listed, signalled and described where it is. */
HF_BOTH_ENGINES(ids_do_not_meet)
{
    static const char start[] = "{\"workflow_type\":\"wait\",\"workflow_id\":\"a\"}";
    hf_site site;
    hf_site_answer answer;
    char run[64];
    char path[128];

    site_open(&site, kind);
    namespace_make(&site, "elsewhere");
    answer = hf_site_ask(&site, "POST", "/api/workflows", ADMIN, start);
    answered(answer, 201);
    (void)snprintf(run, sizeof(run), "%s", hf_str(answer.body, "run_id", ""));
    refused(hf_site_ask(&site, "GET", "/api/workflows/a", ELSEWHERE, NULL), 404,
            "instance_not_found");
    answer = hf_site_ask(&site, "POST", "/api/workflows", ELSEWHERE, start);
    answered(answer, 201);
    ck_assert_str_eq(hf_str(answer.body, "namespace", ""), "elsewhere");
    ck_assert_str_ne(hf_str(answer.body, "run_id", ""), run);
    (void)snprintf(path, sizeof(path), "/api/workflows/a/runs/%s", run);
    refused(hf_site_ask(&site, "GET", path, ELSEWHERE, NULL), 404, "run_not_found");
    (void)snprintf(path, sizeof(path), "/api/workflows/a/runs/%s/history", run);
    refused(hf_site_ask(&site, "GET", path, ELSEWHERE, NULL), 404, "run_not_found");
    (void)snprintf(path, sizeof(path), "/api/workflows/a/runs/%s/history/export", run);
    refused(hf_site_ask(&site, "GET", path, ELSEWHERE, NULL), 404, "run_not_found");
    (void)snprintf(path, sizeof(path), "/api/workflows/a/runs/%s/terminate", run);
    ck_assert_int_ge(hf_site_ask(&site, "POST", path, ELSEWHERE, "{}").status, 400);
    answered(hf_site_ask(&site, "POST", "/api/workflows/a/terminate", ELSEWHERE, "{}"), 202);
    answer = hf_site_ask(&site, "GET", "/api/workflows?status=terminated", ELSEWHERE, NULL);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "workflows")), 1);
    answer = hf_site_ask(&site, "GET", "/api/workflows", ADMIN, NULL);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "workflows")), 1);
    ck_assert_str_ne(hf_str(answer.body, "workflows.0.status", "terminated"), "terminated");
    hf_site_close(&site);
}

/* Whoever is scoped to a namespace learns nothing of others, and makes no way into them. */
HF_BOTH_ENGINES(scoped_admins_stay_inside)
{
    hf_site site;
    hf_site_answer answer;
    hf_token token;
    char path[64];

    site_open(&site, kind);
    namespace_make(&site, "elsewhere");
    answer = hf_site_ask(&site, "GET", "/api/namespaces", ELSEWHERE, NULL);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "namespaces")), 1);
    refused(hf_site_ask(&site, "GET", "/api/namespaces/default", ELSEWHERE, NULL), 404,
            "namespace_not_found");
    refused(hf_site_ask(&site, "PUT", "/api/namespaces/default", ELSEWHERE, "{}"), 404,
            "namespace_not_found");
    refused(hf_site_ask(&site, "POST", "/api/namespaces", ELSEWHERE, "{\"name\":\"mine\"}"), 403,
            "forbidden");
    refused(hf_site_ask(&site, "POST", "/api/tokens", ELSEWHERE, "{\"role\":\"admin\"}"), 403,
            "forbidden");
    refused(hf_site_ask(&site, "POST", "/api/tokens", ELSEWHERE,
                        "{\"role\":\"read\",\"namespaces\":\"elsewhere,default\"}"),
            403, "forbidden");
    ck_assert_int_eq(
        hf_token_create_with(
            site.engine, &(hf_token_opts){.size_ = sizeof(hf_token_opts), .role = "admin"}, &token),
        HF_OK);
    answer = hf_site_ask(&site, "GET", "/api/tokens", ELSEWHERE, NULL);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "tokens")), 0);
    (void)snprintf(path, sizeof(path), "/api/tokens/%s", token.id);
    refused(hf_site_ask(&site, "DELETE", path, ELSEWHERE, NULL), 404, "token_not_found");
    answered(hf_site_ask(&site, "POST", "/api/tokens", ELSEWHERE,
                         "{\"role\":\"read\",\"namespaces\":\"elsewhere\"}"),
             201);
    hf_site_close(&site);
}

/* Workers of the same name in two namespaces are two workers. */
START_TEST(workers_are_of_their_namespace)
{
    static const char body[] = "{\"worker_id\":\"w\",\"task_queue\":\"q\"}";
    hf_site site;
    hf_site_answer answer;

    site_open(&site, HF_ENGINE_SQLITE);
    namespace_make(&site, "elsewhere");
    answered(hf_site_ask(&site, "POST", "/api/worker/register", ADMIN, body), 200);
    refused(hf_site_ask(&site, "POST", "/api/worker/heartbeat", ELSEWHERE, body), 404,
            "worker_not_found");
    answer = hf_site_ask(&site, "GET", "/api/workers", ELSEWHERE, NULL);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "workers")), 0);
    answer = hf_site_ask(&site, "GET", "/api/workers", ADMIN, NULL);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "workers")), 1);
    hf_site_close(&site);
}
END_TEST

HF_PG_SUITE_MAIN("server/namespace", HF_BOTH(namespaces_over_http), HF_BOTH(ids_do_not_meet),
                 HF_BOTH(scoped_admins_stay_inside), {workers_are_of_their_namespace, 0})
