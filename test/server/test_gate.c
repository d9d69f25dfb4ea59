/* test_gate.c: what every request must pass, in its order, over real HTTP: host and origin,
   credential, role, version, namespace, media type, size. */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/value.h"
#include "lib/site.h"
#include "server/sign.h"
#include "server/route.h"

static const hf_app app = {.name = "gate"};

static const char *reason_of(hf_site_answer answer)
{
    return hf_str(answer.body, "reason", "");
}

static void refused(hf_site_answer answer, int status, const char *reason)
{
    ck_assert_msg(answer.status == status, "%d: %s", answer.status, answer.text);
    ck_assert_str_eq(reason_of(answer), reason);
    ck_assert_str_ne(hf_str(answer.body, "message", ""), "");
    ck_assert_str_eq(hf_str(answer.body, "error", ""), reason);
}

/* Probes need nothing and learn nothing; what does not exist is 404, and 405 names what does. */
START_TEST(open_routes)
{
    hf_site site;
    hf_site_answer answer;

    hf_site_open(&site, HF_ENGINE_SQLITE, NULL, (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}});
    answer = hf_site_ask(&site, "GET", "/api/health", NULL, NULL);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_str_eq(hf_str(answer.body, "status", ""), "serving");
    ck_assert_int_eq(hf_site_ask(&site, "GET", "/api/ready", NULL, NULL).status, 200);
    refused(hf_site_ask(&site, "GET", "/api/nothing", NULL, NULL), 404, "not_found");
    answer = hf_site_ask(&site, "DELETE", "/api/health", NULL, NULL);
    refused(answer, 405, "method_not_allowed");
    ck_assert(hf_slice_equal(hf_wire_field(&answer.raw, "Allow"), HF_SLICE("GET")));
    ck_assert(hf_slice_equal(hf_wire_field(&answer.raw, "Cache-Control"), HF_SLICE("no-store")));
    hf_site_close(&site);
}
END_TEST

/* The document lists every route, and is JSON. */
START_TEST(openapi_lists_every_route)
{
    hf_site site;
    hf_site_answer answer;
    const hf_route *route;

    hf_site_open(&site, HF_ENGINE_SQLITE, NULL, (hf_server_options){0});
    answer = hf_site_ask(&site, "GET", "/api/openapi.json", NULL, NULL);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_str_eq(hf_str(answer.body, "openapi", ""), "3.1.0");
    for (size_t i = 0; (route = hf_route_at(i)); i++) {
        hf_value path = hf_value_find(hf_get(answer.body, "paths"), hf_slice_of(route->path));
        char method[16] = "";

        for (size_t j = 0; hf_http_method_text(route->method)[j]; j++)
            method[j] = (char)(hf_http_method_text(route->method)[j] - 'A' + 'a');
        ck_assert_msg(hf_get(path, method) != NULL, "%s %s", method, route->path);
    }
    hf_site_close(&site);
}
END_TEST

/* A token must be sent, known, and sent in the right way; it is never repeated in an answer. */
START_TEST(tokens)
{
    static const char *const bad[] = {"",
                                      "Authorization: tok-admin\r\n",
                                      "Authorization: Bearer tok-nobody\r\n",
                                      "Authorization: Bearer \r\n",
                                      "Authorization: bearer tok-admin\r\n",
                                      ("Authorization: Bearer tok-admin\r\n"
                                       "Authorization: Bearer tok-admin\r\n")};
    hf_site site;

    hf_site_open(&site, HF_ENGINE_SQLITE, NULL, (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}});
    hf_site_tokens(&site);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        hf_site_answer answer = hf_site_ask(&site, "GET", "/api/cluster/info", bad[i], NULL);

        refused(answer, 401, "unauthenticated");
        ck_assert(
            hf_slice_equal(hf_wire_field(&answer.raw, "WWW-Authenticate"), HF_SLICE("Bearer")));
        ck_assert_ptr_null(strstr(answer.text, "tok-"));
    }
    ck_assert_int_eq(
        hf_site_ask(&site, "GET", "/api/cluster/info", "Authorization: Bearer tok-worker\r\n", NULL)
            .status,
        200);
    hf_test_ok(hf_server_tokens_set(site.server, NULL, 0, NULL), NULL, "revoke all");
    refused(hf_site_ask(&site, "GET", "/api/cluster/info", "Authorization: Bearer tok-worker\r\n",
                        NULL),
            401, "unauthenticated");
    hf_site_close(&site);
}
END_TEST

#define KEY       "0123456789abcdef01234567"
#define OTHER_KEY "76543210fedcba9876543210"

/* A signature is made with the key of a role; nothing else will do, and a driver without keys does
   not open. */
START_TEST(signatures)
{
    const signed_request info = {"GET", "/api/cluster/info", "", "", 0, NULL};
    hf_site site;
    hf_server *none = NULL;
    char header[256];
    hf_err err = {0};

    ck_assert_int_eq(hf_server_open(&(hf_server_options){.listen = "127.0.0.1:0",
                                                         .auth = {HF_AUTH_SIGNATURE, {0}}},
                                    &none, &err),
                     HF_INVALID);
    ck_assert_int_eq(hf_server_open(&(hf_server_options){.listen = "127.0.0.1:0",
                                                         .auth = {HF_AUTH_SIGNATURE, {"short"}}},
                                    &none, &err),
                     HF_INVALID);
    hf_site_open(&site, HF_ENGINE_SQLITE, NULL,
                 (hf_server_options){.auth = {HF_AUTH_SIGNATURE, {[HF_ROLE_READ] = KEY}}});
    sign(KEY, &info, header, sizeof(header));
    ck_assert_int_eq(hf_site_ask(&site, "GET", "/api/cluster/info", header, NULL).status, 200);
    sign(OTHER_KEY, &info, header, sizeof(header));
    refused(hf_site_ask(&site, "GET", "/api/cluster/info", header, NULL), 401, "unauthenticated");
    refused(hf_site_ask(&site, "GET", "/api/cluster/info", "X-Signature: 00\r\n", NULL), 401,
            "unauthenticated");
    refused(hf_site_ask(&site, "GET", "/api/cluster/info", NULL, NULL), 401, "unauthenticated");
    hf_site_close(&site);
}
END_TEST

static int ask_signed(hf_site *site, const signed_request *sent, const char *header)
{
    hf_site_answer answer =
        hf_site_ask(site, sent->method, sent->target, header, sent->body[0] ? sent->body : NULL);

    if (answer.status == 401) {
        ck_assert_str_eq(hf_str(answer.body, "reason", ""), "unauthenticated");
        ck_assert_ptr_nonnull(strstr(hf_str(answer.body, "remediation", ""), "X-Signature-Time"));
    }
    return answer.status;
}

/* One that was overheard is good for nothing else, and not for the same again: neither at this
   server nor at the one that is started after it. */
START_TEST(n43_signatures_are_for_one_request)
{
    static const char body[] = "{\"name\":\"orders\"}";
    const signed_request made = {"POST", "/api/namespaces", "", body, 0, NULL};
    const signed_request others[] = {
        {"POST", "/api/namespaces?a=b", "", body, 0, NULL},
        {"POST", "/api/tokens", "", body, 0, NULL},
        {"PUT", "/api/namespaces/orders", "", body, 0, NULL},
        {"POST", "/api/namespaces", "", "{\"name\":\"returns\"}", 0, NULL},
        {"POST", "/api/namespaces", "", "", 0, NULL},
    };
    const hf_server_options options = {.auth = {HF_AUTH_SIGNATURE, {[HF_ROLE_ADMIN] = KEY}}};
    int64_t now_us = hf_clock_wall_us(hf_clock_system());
    signed_request again = made;
    char header[512];
    hf_site site;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, options);
    sign(KEY, &made, header, sizeof(header));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        ck_assert_int_eq(ask_signed(&site, &others[i], header), 401);
    (void)strcat(header, "X-Namespace: default\r\n");
    ck_assert_int_eq(ask_signed(&site, &made, header), 401);
    sign(KEY, &made, header, sizeof(header));
    ck_assert_int_eq(ask_signed(&site, &made, header), 201);
    ck_assert_int_eq(ask_signed(&site, &made, header), 401); /* used */
    sign(KEY, &made, header, sizeof(header));
    strstr(header, "Time: ")[7]++;
    ck_assert_int_eq(ask_signed(&site, &made, header), 401); /* another time */
    again.time_us = now_us - INT64_C(301000000);
    sign(KEY, &again, header, sizeof(header));
    ck_assert_int_eq(ask_signed(&site, &again, header), 401);
    again.time_us = now_us + INT64_C(400000000);
    sign(KEY, &again, header, sizeof(header));
    ck_assert_int_eq(ask_signed(&site, &again, header), 401);
    for (int i = 0; i < 2; i++) { /* the same twice in a microsecond */
        again.time_us = now_us + 60000000;
        again.nonce = i ? "n-1" : "n-0";
        sign(KEY, &again, header, sizeof(header));
        ck_assert_int_eq(ask_signed(&site, &again, header), 422); /* the name is taken */
    }
    again.time_us = 0;
    sign(KEY, &again, header, sizeof(header));
    hf_site_close(&site);
    hf_site_open(&site, HF_ENGINE_SQLITE, &app, options);
    ck_assert_int_eq(ask_signed(&site, &again, header), 401); /* from before it began */
    sign(KEY, &again, header, sizeof(header));
    ck_assert_int_eq(ask_signed(&site, &again, header), 201);
    hf_site_close(&site);
}
END_TEST

/* Names other than loopback's are refused on loopback, which is what rebinding needs; other origins
   may not change anything. */
START_TEST(hosts_and_origins)
{
    hf_site site;

    hf_site_open(&site, HF_ENGINE_SQLITE, NULL, (hf_server_options){.hosts = "holdfast.example"});
    refused(hf_site_ask(&site, "GET", "/api/health", "-Host\r\nHost: evil.example\r\n", NULL), 421,
            "host_not_allowed");
    ck_assert_int_eq(
        hf_site_ask(&site, "GET", "/api/health", "-Host\r\nHost: holdfast.example:80\r\n", NULL)
            .status,
        200);
    ck_assert_int_eq(
        hf_site_ask(&site, "GET", "/api/health", "-Host\r\nHost: [::1]:7430\r\n", NULL).status,
        200);
    hf_site_close(&site);
}
END_TEST

/* An address that others can reach needs a credential, and TLS or a proxy. */
START_TEST(exposed_addresses_need_protection)
{
    hf_server *server = NULL;
    hf_err err = {0};

    ck_assert_int_eq(hf_server_open(&(hf_server_options){.listen = "0.0.0.0:0"}, &server, &err),
                     HF_DENIED);
    ck_assert_int_eq(
        hf_server_open(&(hf_server_options){.listen = "0.0.0.0:0", .auth = {HF_AUTH_TOKEN, {0}}},
                       &server, &err),
        HF_DENIED);
    hf_test_ok(hf_server_open(&(hf_server_options){.listen = "0.0.0.0:0",
                                                   .auth = {HF_AUTH_TOKEN, {0}},
                                                   .behind_proxy = true},
                              &server, &err),
               &err, "open behind a proxy");
    hf_server_close(server);
    hf_test_ok(hf_server_open(&(hf_server_options){.listen = "0.0.0.0:0", .insecure = true},
                              &server, &err),
               &err, "open without anything");
    hf_server_close(server);
}
END_TEST

/* Every request that is refused before it is a request gets the published body as well. */
START_TEST(refusals_have_a_body)
{
    hf_site site;

    hf_site_open(&site, HF_ENGINE_SQLITE, NULL, (hf_server_options){0});
    refused(hf_site_ask(&site, "BREW", "/api/health", NULL, NULL), 501, "unknown_method");
    refused(hf_site_ask(&site, "GET", "/api/health", "Content-Length: x\r\n", NULL), 400,
            "malformed_request");
    refused(hf_site_ask(&site, "GET", "/api/health", NULL, "{}"), 400, "unexpected_body");
    refused(hf_site_ask(&site, "GET", "/api/cluster/info?x=%00", NULL, NULL), 400,
            "malformed_target");
    refused(hf_site_ask(&site, "GET", "/api/cluster/info?namespace=nowhere", NULL, NULL), 404,
            "namespace_not_found");
    refused(hf_site_ask(&site, "GET", "/api/cluster/info", "X-Namespace: nowhere\r\n", NULL), 404,
            "namespace_not_found");
    hf_site_close(&site);
}
END_TEST

/* Scrapers get text that counts what happened. */
START_TEST(metrics)
{
    hf_site site;
    hf_site_answer answer;

    hf_site_open(&site, HF_ENGINE_SQLITE, NULL, (hf_server_options){0});
    (void)hf_site_ask(&site, "GET", "/api/nothing", NULL, NULL);
    answer = hf_site_ask(&site, "GET", "/metrics", NULL, NULL);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_ptr_nonnull(strstr(answer.text, "holdfast_http_answers_total{class=\"4xx\"} 1\n"));
    ck_assert_ptr_nonnull(strstr(answer.text, "holdfast_http_requests_total 2\n"));
    hf_site_close(&site);
}
END_TEST

HF_SUITE_MAIN("server/gate", {open_routes, 0}, {openapi_lists_every_route, 0}, {tokens, 0},
              {signatures, 0}, {n43_signatures_are_for_one_request, 0}, {hosts_and_origins, 0},
              {exposed_addresses_need_protection, 0}, {refusals_have_a_body, 0}, {metrics, 0})
