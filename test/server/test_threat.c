/* test_threat.c: what an attacker of the server tries, by the numbers of docs/operate/security.md:
   pages of other sites, paths that lead elsewhere, text that becomes a header or a line of the log,
   secrets that come back. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/value.h"
#include "lib/site.h"
#include "server/route.h"

static const hf_app app = {.name = "nothing-here"};

#define ADMIN  "Authorization: Bearer tok-admin\r\n"
#define CANARY "hf_canary8f14e45fceea167a5a36dedd4bea2543"

/* T02: a page of another site gets no leave to read anything, nor to ask for it beforehand. */
START_TEST(t02_no_other_site_is_let_in)
{
    static const char origin[] = "Origin: http://evil.example\r\n"
                                 "Access-Control-Request-Method: POST\r\n";
    static const char *const methods[] = {"OPTIONS", "GET", "POST"};
    hf_site_answer answer;
    hf_site site;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){0});
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        answer = hf_site_ask(&site, methods[i], "/api/workflows", origin,
                             i == 2 ? "{\"workflow_type\":\"remote\"}" : NULL);
        ck_assert_ptr_null(strstr(hf_buf_text(&answer.raw.head), "Access-Control"));
        if (i != 1)
            ck_assert_msg(answer.status >= 400, "%s: %d", methods[i], answer.status);
    }
    answer = hf_site_ask(&site, "GET", "/api/workflows", NULL, NULL);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_ptr_nonnull(hf_get(answer.body, "workflows"));
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "workflows")), 0);
    hf_site_close(&site);
}
END_TEST

/* A body with everything that a route of workers insists on. */
static void body_fill(const hf_route *route, const char *worker, hf_buf *out)
{
    hf_slice rest = hf_slice_of(route->fields ? route->fields : "");
    hf_route_field field;

    hf_buf_clear(out);
    hf_buf_add_format(out, "{\"worker_id\":\"%s\"", worker);
    while (rest.len && hf_route_field_next(&rest, &field))
        if (field.required && !hf_slice_equal(field.name, HF_SLICE("worker_id")))
            hf_buf_add_format(out, ",\"%.*s\":%s", (int)field.name.len, field.name.ptr,
                              hf_slice_equal(hf_route_field_plain(field.type), HF_SLICE("array"))
                                  ? "[]"
                                  : "\"x\"");
    hf_buf_add_byte(out, '}');
}

/* T04: whatever a worker with another credential knows of a claim, it does not work, report or go
   under a name that is not its own. Another namespace has names of its own, and a name is free
   again when the credential that used it has ended. */
START_TEST(t04_names_of_workers_are_their_credentials)
{
    static const char own[] = "Authorization: Bearer tok-worker\r\n";
    static const char body[] = "{\"worker_id\":\"w1\",\"task_queue\":\"q\"}";
    const hf_route *route;
    hf_buf sent = {0};
    hf_err err = {0};
    size_t tried = 0;
    hf_site site;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}});
    hf_site_tokens(&site);
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/worker/register", own, body).status, 200);
    for (size_t i = 0; (route = hf_route_at(i)); i++) {
        hf_site_answer answer;
        char path[128];
        size_t len = 0;

        if (route->plane != HF_PLANE_WORKER)
            continue;
        for (const char *at = route->path; *at; at++) {
            bool place = *at == '{';

            len += (size_t)snprintf(path + len, sizeof(path) - len, "%.*s", place ? 2 : 1,
                                    place ? "w1" : at);
            if (place)
                at = strchr(at, '}');
        }
        body_fill(route, "w1", &sent);
        answer = hf_site_ask(&site, hf_http_method_text(route->method), path, ADMIN,
                             route->fields ? hf_buf_text(&sent) : NULL);
        ck_assert_msg(answer.status == 409 &&
                          strcmp(hf_str(answer.body, "reason", ""), "lease_owner_mismatch") == 0,
                      "%s: %d %s", path, answer.status, answer.text);
        tried++;
    }
    ck_assert_uint_gt(tried, 15);
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/worker/register", own, body).status, 200);
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/worker/heartbeat", own, body).status, 200);
    hf_test_ok(hf_server_tokens_set(site.server, NULL, 0, &err), &err, "end all tokens");
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/worker/heartbeat", own, body).status, 401);
    hf_site_tokens(&site);
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/worker/heartbeat", ADMIN, body).status, 409);
    hf_buf_fini(&sent);
    hf_site_close(&site);
}
END_TEST

/* T20: no target leads out of where it points. What is refused says so, and nothing is served. */
START_TEST(t20_paths_lead_nowhere_else)
{
    static const char *const targets[] = {"/../etc/passwd",
                                          "/api/../../etc/passwd",
                                          "/api/workflows/..",
                                          "/api/workflows/.",
                                          "/api/workflows/%2e%2e",
                                          "/api/workflows/%2E%2e/runs",
                                          "/api/workflows/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
                                          "/api/workflows/a%2fb",
                                          "/api/workflows/a%5cb",
                                          "/api/workflows/a%00b",
                                          "/api/workflows/a%0d%0aSet-Cookie:%20x=y",
                                          "/api/workflows/%c0%ae%c0%ae",
                                          "/api//workflows",
                                          "//etc/passwd",
                                          "/console/../api/health/../../x",
                                          "/metrics/..%2f..%2fetc/passwd",
                                          "/api/namespaces/..",
                                          "/api/namespaces/%2e%2e/external-storage",
                                          "/api/workflows/....//....//etc/passwd"};
    hf_site site;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){0});
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        hf_site_answer answer = hf_site_ask(&site, "GET", targets[i], NULL, NULL);

        ck_assert_msg(answer.status >= 400 && answer.status < 500, "%s: %d", targets[i],
                      answer.status);
        ck_assert_ptr_null(strstr(answer.text, "root:"));
        ck_assert_ptr_null(strstr(hf_buf_text(&answer.raw.head), "Set-Cookie"));
        ck_assert_str_ne(hf_str(answer.body, "reason", ""), "");
    }
    hf_site_close(&site);
}
END_TEST

/* T03, T21: a credential is in no answer and in no line of the log, whatever is done with it, and
   what clients send stays inside its line. */
START_TEST(t03_secrets_do_not_come_back)
{
    static const char *const headers[] = {
        "Authorization: Bearer " CANARY "\r\n", "Authorization: Basic " CANARY "\r\n",
        "Authorization: " CANARY "\r\n", "Cookie: session=" CANARY "\r\n" ADMIN,
        "X-Signature: " CANARY "\r\n"};
    static const char *const paths[] = {"/api/cluster/info", "/api/workflows", "/api/tokens",
                                        "/metrics", "/api/health"};
    hf_site site;
    hf_log log;
    int ends[2];
    char text[65536] = "";
    ssize_t got;

    ck_assert_int_eq(pipe(ends), 0);
    hf_log_init_fd(&log, HF_LOG_DEBUG, hf_clock_system(), ends[1]);
    hf_site_open(&site, HF_ENGINE_SQLITE, &app,
                 (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}, .log = &log});
    hf_site_tokens(&site);
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        for (size_t j = 0; j < sizeof(paths) / sizeof(paths[0]); j++) {
            hf_site_answer answer = hf_site_ask(&site, "GET", paths[j], headers[i], NULL);

            ck_assert_msg(!strstr(answer.text, CANARY), "%s: %s", paths[j], answer.text);
            ck_assert_ptr_null(strstr(hf_buf_text(&answer.raw.head), CANARY));
        }
    }
    hf_site_close(&site);
    ck_assert_int_eq(close(ends[1]), 0);
    got = read(ends[0], text, sizeof(text) - 1);
    ck_assert_int_ge(got, 0);
    ck_assert_ptr_null(strstr(text, CANARY));
    ck_assert_ptr_null(strstr(text, "tok-admin"));
    (void)close(ends[0]);
}
END_TEST

/* T32: probes are open and tell nothing; numbers need a credential. */
START_TEST(t32_probes_tell_nothing)
{
    hf_site site;
    hf_site_answer answer;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}});
    hf_site_tokens(&site);
    answer = hf_site_ask(&site, "GET", "/api/health", NULL, NULL);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_uint_eq(hf_len(answer.body), 2); /* that it lives, and what time it is */
    ck_assert_ptr_nonnull(hf_get(answer.body, "timestamp"));
    answer = hf_site_ask(&site, "GET", "/api/ready", NULL, NULL);
    ck_assert_uint_eq(hf_len(answer.body), 2);
    ck_assert_int_eq(hf_site_ask(&site, "GET", "/metrics", NULL, NULL).status, 401);
    ck_assert_int_eq(hf_site_ask(&site, "GET", "/metrics", ADMIN, NULL).status, 200);
    answer = hf_site_ask(&site, "GET", "/api/health", NULL, NULL);
    ck_assert_ptr_null(strstr(hf_buf_text(&answer.raw.head), "Server:"));
    hf_site_close(&site);
}
END_TEST

HF_SUITE_MAIN("server/threat", {t02_no_other_site_is_let_in, 0},
              {t04_names_of_workers_are_their_credentials, 0}, {t20_paths_lead_nowhere_else, 0},
              {t03_secrets_do_not_come_back, 0}, {t32_probes_tell_nothing, 0})
