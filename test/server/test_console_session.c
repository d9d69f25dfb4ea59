/* test_console_session.c: how a browser logs in and what its session may do, over real HTTP: the
   cookie, roles, the header that writes need, links that work once, what ends a session, and that
   the end of the server does not. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "lib/handlers.h"
#include "lib/kit.h"
#include "lib/site.h"
#include "server/registry.h"

#define CONSOLE "X-Holdfast-Console: 1\r\n"

static const hf_app app = {.name = "orders",
                           .workflows = (const hf_workflow_def[]){
                               {.type = "order", .run = hf_wait_go, .signals = NULL}, {0}}};

static void site_open(hf_site *site, hf_engine_kind kind)
{
    hf_site_open(site, kind, &app, (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}});
    hf_site_tokens(site);
}

/* "Cookie: ...\r\n" of what an answer sets. */
static void cookie_take(const hf_site_answer *answer, char *out, size_t room)
{
    hf_slice set = hf_wire_field(&answer->raw, "Set-Cookie");
    const char *end = memchr(set.ptr, ';', set.len);

    ck_assert_ptr_nonnull(end);
    (void)snprintf(out, room, "Cookie: other=1; %.*s\r\n", (int)(end - (const char *)set.ptr),
                   (const char *)set.ptr);
}

static void login(hf_site *site, const char *token, char *out_cookie, size_t room)
{
    char body[128];
    hf_site_answer answer;

    (void)snprintf(body, sizeof(body), "{\"token\":\"%s\"}", token);
    answer = hf_site_ask(site, "POST", "/console/api/login", NULL, body);
    ck_assert_msg(answer.status == 200, "%d %s", answer.status, answer.text);
    cookie_take(&answer, out_cookie, room);
}

static int ask(hf_site *site, const char *method, const char *path, const char *cookie,
               const char *more, const char *body)
{
    char head[512];

    (void)snprintf(head, sizeof(head), "%s%s", cookie, more);
    return hf_site_ask(site, method, path, head, body).status;
}

static void refused(hf_site_answer answer, int status, const char *reason)
{
    ck_assert_msg(answer.status == status, "%d: %s", answer.status, answer.text);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), reason);
}

/* A token becomes a cookie that scripts cannot read, and the cookie is good for the console's
   routes and the published ones; what is stored nowhere does not log in. */
START_TEST(a_token_becomes_a_session)
{
    hf_site site;
    char cookie[256];
    hf_site_answer answer;
    hf_slice set;

    site_open(&site, HF_ENGINE_SQLITE);
    refused(hf_site_ask(&site, "GET", "/console/api/me", NULL, NULL), 401, "unauthenticated");
    answer = hf_site_ask(&site, "POST", "/console/api/login", NULL, "{\"token\":\"tok-nobody\"}");
    refused(answer, 401, "unauthenticated");
    ck_assert_uint_eq(hf_wire_field(&answer.raw, "Set-Cookie").len, 0);
    refused(hf_site_ask(&site, "POST", "/console/api/login", NULL, "{\"token\":\"tok-worker\"}"),
            403, "forbidden");
    refused(hf_site_ask(&site, "POST", "/console/api/login", "Origin: http://evil.example\r\n",
                        "{\"token\":\"tok-read\"}"),
            403, "origin_not_allowed");
    answer = hf_site_ask(&site, "POST", "/console/api/login", NULL, "{\"token\":\" tok-read \"}");
    ck_assert_int_eq(answer.status, 200);
    set = hf_wire_field(&answer.raw, "Set-Cookie");
    ck_assert_ptr_nonnull(
        strstr(hf_mem_text(site.mem, set), "; Path=/; HttpOnly; SameSite=Strict"));
    ck_assert_ptr_null(strstr(hf_mem_text(site.mem, set), "tok-read"));
    ck_assert_str_eq(hf_str(answer.body, "principal.role", ""), "read");
    ck_assert_str_eq(hf_str(answer.body, "principal.method", ""), "session");
    cookie_take(&answer, cookie, sizeof(cookie));
    answer = hf_site_ask(&site, "GET", "/console/api/me", cookie, NULL);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_str_eq(hf_str(answer.body, "principal.id", ""), "tok-read");
    ck_assert_str_eq(hf_str(answer.body, "namespaces.0", ""), "default");
    ck_assert(!hf_bool(answer.body, "can.operate", true));
    ck_assert(hf_slice_starts(hf_wire_field(&answer.raw, "Content-Security-Policy"),
                              HF_SLICE("default-src 'none'")));
    ck_assert_int_eq(ask(&site, "GET", "/console/api/attention", cookie,
                         "-X-Durable-Workflow-Control-Plane-Version\r\n", NULL),
                     200);
    ck_assert_int_eq(ask(&site, "GET", "/api/workflows", cookie, "", NULL), 200);
    ck_assert_int_eq(
        ask(&site, "GET", "/console/api/attention", cookie, "X-Namespace: nowhere\r\n", NULL), 404);
    hf_site_close(&site);
}
END_TEST

/* A reader's session changes nothing; an operator's does with the header that pages of other sites
   cannot add, and what it did is recorded as the operator's. */
HF_BOTH_ENGINES(a_session_has_the_role_of_its_token)
{
    static const char start[] = "{\"workflow_type\":\"order\",\"workflow_id\":\"o-1\"}";
    hf_site site;
    char reader[256];
    char person[256];
    char head[320];
    hf_site_answer answer;

    site_open(&site, kind);
    login(&site, "tok-read", reader, sizeof(reader));
    login(&site, "tok-operator", person, sizeof(person));
    ck_assert_int_eq(ask(&site, "POST", "/api/workflows", reader, CONSOLE, start), 403);
    (void)snprintf(head, sizeof(head), "%s", person);
    refused(hf_site_ask(&site, "POST", "/api/workflows", head, start), 403,
            "console_header_missing");
    ck_assert_int_eq(ask(&site, "POST", "/api/workflows", person,
                         CONSOLE "Sec-Fetch-Site: cross-site\r\n", start),
                     403);
    ck_assert_int_eq(ask(&site, "POST", "/api/workflows", person, CONSOLE, start), 201);
    ck_assert_int_eq(ask(&site, "POST", "/api/namespaces", person, CONSOLE, "{\"name\":\"n\"}"),
                     403);
    ck_assert_int_eq(ask(&site, "POST", "/api/worker/register", person, CONSOLE,
                         "{\"worker_id\":\"w\",\"task_queue\":\"q\"}"),
                     401);
    answer = hf_site_ask(&site, "GET", "/api/workflows/o-1", person, NULL);
    ck_assert_str_eq(hf_str(answer.body, "commands.0.context.principal.id", ""), "tok-operator");
    ck_assert_str_eq(hf_str(answer.body, "commands.0.context.auth.method", ""), "session");
    hf_site_close(&site);
}

/* It ends with logging out and with its token; a made up one is none, and a token
   in the header is asked instead of a cookie. */
START_TEST(what_ends_a_session)
{
    hf_site site;
    char cookie[256];
    char made_up[128];
    hf_site_answer answer;

    site_open(&site, HF_ENGINE_SQLITE);
    login(&site, "tok-operator", cookie, sizeof(cookie));
    refused(hf_site_ask(&site, "POST", "/console/api/logout", cookie, "{}"), 403,
            "console_header_missing");
    ck_assert_int_eq(ask(&site, "POST", "/console/api/logout", cookie, CONSOLE, "{}"), 200);
    answer = hf_site_ask(&site, "GET", "/console/api/me", cookie, NULL);
    refused(answer, 401, "unauthenticated");
    ck_assert_ptr_nonnull(strstr(hf_str(answer.body, "message", ""), "Log in again"));
    (void)snprintf(made_up, sizeof(made_up), "Cookie: holdfast_session_%d=%064d\r\n",
                   hf_server_port(site.server), 7);
    refused(hf_site_ask(&site, "GET", "/console/api/me", made_up, NULL), 401, "unauthenticated");
    ck_assert_int_eq(
        ask(&site, "GET", "/console/api/me", made_up, "Authorization: Bearer tok-read\r\n", NULL),
        200);
    login(&site, "tok-operator", cookie, sizeof(cookie));
    ck_assert_int_eq(ask(&site, "GET", "/console/api/me", cookie, "", NULL), 200);
    hf_test_ok(hf_server_tokens_set(site.server, NULL, 0, NULL), NULL, "revoke all");
    refused(hf_site_ask(&site, "GET", "/console/api/me", cookie, NULL), 401, "unauthenticated");
    hf_site_close(&site);
}
END_TEST

/* Over TLS, or behind a proxy that speaks it, the cookie never travels in the clear. */
START_TEST(behind_a_proxy_the_cookie_is_secure)
{
    hf_site site;
    char cookie[256];
    hf_site_answer answer;
    const char *set;

    hf_site_open(&site, HF_ENGINE_SQLITE, NULL,
                 (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}, .behind_proxy = true});
    hf_site_tokens(&site);
    answer = hf_site_ask(&site, "POST", "/console/api/login", NULL, "{\"token\":\"tok-read\"}");
    set = hf_mem_text(site.mem, hf_wire_field(&answer.raw, "Set-Cookie"));
    ck_assert_ptr_eq(strstr(set, "__Host-holdfast="), set);
    ck_assert_ptr_nonnull(strstr(set, "; Secure"));
    cookie_take(&answer, cookie, sizeof(cookie));
    ck_assert_int_eq(ask(&site, "GET", "/console/api/me", cookie, "", NULL), 200);
    hf_site_close(&site);
}
END_TEST

/* ---- a server that begins again */

/* Behind a proxy the name of the cookie does not have the port, which changes here. */
static const hf_server_options proxied = {.auth = {HF_AUTH_TOKEN, {0}}, .behind_proxy = true};

static void sql(hf_site *site, const char *text)
{
    hf_db *db = NULL;
    hf_err err = {0};

    hf_test_ok(hf_test_place_dial(site->place, HF_DB_WRITE, NULL, 0, &db, &err), &err, "dial");
    hf_test_ok(hf_db_script(db, text, &err), &err, text);
    hf_db_close(db);
}

static void again(hf_site *site)
{
    hf_err err = {0};

    hf_site_again(site, &app, proxied);
    hf_test_ok(hf_server_refresh(site->server, &err), &err, "read the tokens");
}

static hf_token token_make(hf_site *site)
{
    hf_token_opts options = {.size_ = sizeof(options), .role = "operator", .label = "mia"};
    hf_token token;
    hf_err err = {0};

    hf_kit_ok(site->engine, hf_token_create_with(site->engine, &options, &token));
    hf_test_ok(hf_server_refresh(site->server, &err), &err, "read the tokens");
    return token;
}

/* Whoever was logged in still is when the server begins again, and who was not is not: logged out,
   not heard of for too long, without a token any more. The store never has the secret. */
HF_BOTH_ENGINES(a_session_outlives_its_server)
{
    hf_site site;
    hf_token token;
    char cookie[256];
    char other[256];
    hf_site_answer answer;

    hf_site_open(&site, kind, &app, proxied);
    token = token_make(&site);
    login(&site, token.secret, cookie, sizeof(cookie));
    login(&site, token.secret, other, sizeof(other));
    again(&site);
    answer = hf_site_ask(&site, "GET", "/console/api/me", cookie, NULL);
    ck_assert_msg(answer.status == 200, "%d %s", answer.status, answer.text);
    ck_assert_str_eq(hf_str(answer.body, "principal.id", ""), token.id);
    ck_assert_str_eq(hf_str(answer.body, "principal.label", ""), "mia");
    ck_assert_str_eq(hf_str(answer.body, "principal.role", ""), "operator");
    ck_assert_str_eq(hf_str(answer.body, "principal.method", ""), "session");
    ck_assert_int_eq(ask(&site, "POST", "/console/api/logout", cookie, CONSOLE, "{}"), 200);
    again(&site);
    refused(hf_site_ask(&site, "GET", "/console/api/me", cookie, NULL), 401, "unauthenticated");
    ck_assert_int_eq(ask(&site, "GET", "/console/api/me", other, "", NULL), 200);
    sql(&site, "UPDATE sign_in SET seen_us = seen_us - 32400000000"); /* 9 h */
    again(&site);
    refused(hf_site_ask(&site, "GET", "/console/api/me", other, NULL), 401, "unauthenticated");
    login(&site, token.secret, cookie, sizeof(cookie));
    hf_kit_ok(site.engine, hf_token_revoke(site.engine, token.id));
    again(&site);
    refused(hf_site_ask(&site, "GET", "/console/api/me", cookie, NULL), 401, "unauthenticated");
    hf_site_close(&site);
}

/* A session that is used stays however often the server begins again: that it is used is kept, once
   an hour. */
HF_BOTH_ENGINES(a_sign_of_life_is_kept)
{
    static const char earlier[] = "UPDATE sign_in SET seen_us = seen_us - 18000000000"; /* 5 h */
    hf_site site;
    hf_token token;
    char cookie[256];

    hf_site_open(&site, kind, &app, proxied);
    token = token_make(&site);
    login(&site, token.secret, cookie, sizeof(cookie));
    for (int i = 0; i < 2; i++) {
        sql(&site, earlier);
        again(&site);
        ck_assert_int_eq(ask(&site, "GET", "/console/api/attention", cookie, "", NULL), 200);
    }
    again(&site);
    ck_assert_int_eq(ask(&site, "GET", "/console/api/me", cookie, "", NULL), 200);
    for (int i = 0; i < 2; i++) /* and nobody asked meanwhile */
        sql(&site, earlier);
    again(&site);
    ck_assert_int_eq(ask(&site, "GET", "/console/api/me", cookie, "", NULL), 401);
    hf_site_close(&site);
}

/* Servers of one store hear of each other's sessions, and of their ends, without beginning again.
 */
HF_BOTH_ENGINES(what_others_kept_is_learned)
{
    hf_site site;
    hf_token token;
    char cookie[256];
    hf_err err = {0};

    hf_site_open(&site, kind, &app, proxied);
    token = token_make(&site);
    login(&site, token.secret, cookie, sizeof(cookie));
    sql(&site, "UPDATE sign_in SET ended_us = seen_us");
    hf_test_ok(hf_server_refresh(site.server, &err), &err, "look again");
    refused(hf_site_ask(&site, "GET", "/console/api/me", cookie, NULL), 401, "unauthenticated");
    sql(&site, "UPDATE sign_in SET ended_us = NULL");
    hf_test_ok(hf_server_refresh(site.server, &err), &err, "look again");
    ck_assert_int_eq(ask(&site, "GET", "/console/api/me", cookie, "", NULL), 401);
    hf_site_close(&site);
}

/* A link logs in whoever opens it first, as the one who asked for it; the second one is told. */
START_TEST(a_link_works_once)
{
    hf_site site;
    char cookie[256];
    char path[128];
    hf_site_answer answer;

    site_open(&site, HF_ENGINE_SQLITE);
    answer = hf_site_ask(&site, "POST", "/console/api/login-links",
                         "Authorization: Bearer tok-operator\r\n", "{}");
    ck_assert_int_eq(answer.status, 201);
    ck_assert_ptr_nonnull(strstr(hf_str(answer.body, "url", ""), "http://localhost/console/login"));
    (void)snprintf(path, sizeof(path), "/%s", hf_str(answer.body, "link", ""));
    answer = hf_site_ask(&site, "GET", path, NULL, NULL);
    ck_assert_int_eq(answer.status, 302);
    ck_assert(hf_slice_equal(hf_wire_field(&answer.raw, "Location"), HF_SLICE("./")));
    cookie_take(&answer, cookie, sizeof(cookie));
    answer = hf_site_ask(&site, "GET", "/console/api/me", cookie, NULL);
    ck_assert_str_eq(hf_str(answer.body, "principal.id", ""), "tok-operator");
    answer = hf_site_ask(&site, "GET", path, NULL, NULL);
    ck_assert_int_eq(answer.status, 302);
    ck_assert(hf_slice_equal(hf_wire_field(&answer.raw, "Location"), HF_SLICE("./?login=used")));
    ck_assert_uint_eq(hf_wire_field(&answer.raw, "Set-Cookie").len, 0);
    answer = hf_site_ask(&site, "GET", "/console/login?link=none", NULL, NULL);
    ck_assert(hf_slice_equal(hf_wire_field(&answer.raw, "Location"), HF_SLICE("./?login=unknown")));
    hf_site_close(&site);
}
END_TEST

/* After ten minutes a link is late, after eight hours without a request a session is over, and a
   request keeps it; a session of a revoked token's link never begins. */
START_TEST(time_ends_them)
{
    const int64_t hour_us = INT64_C(3600000000);
    char secret[HF_SESSION_SECRET_SIZE];
    hf_principal who = {.id = "a", .role = HF_ROLE_READ};
    hf_sessions *sessions = NULL;
    hf_session_row row;
    hf_principal got;
    hf_err err = {0};

    hf_test_ok(hf_sessions_open(&sessions, &err), &err, "sessions");
    hf_test_ok(hf_session_link(sessions, &who, 0, secret, &err), &err, "a link");
    ck_assert_int_eq(hf_session_link_use(sessions, hf_slice_of(secret), INT64_C(600000001), &got),
                     HF_SESSION_LINK_EXPIRED);
    ck_assert_int_eq(hf_session_link_use(sessions, hf_slice_of(secret), INT64_C(600000000), &got),
                     HF_SESSION_LINK_GOOD);
    hf_test_ok(hf_session_begin(sessions, &who, 0, secret, &row, &err), &err, "a session");
    ck_assert(hf_session_find(sessions, hf_slice_of(secret), 8 * hour_us, &got));
    ck_assert(hf_session_find(sessions, hf_slice_of(secret), 16 * hour_us, &got));
    ck_assert_str_eq(got.id, "a");
    ck_assert(!hf_session_find(sessions, hf_slice_of(secret), 25 * hour_us, &got));
    for (int64_t at = 0; at < 7 * 24; at += 7)
        (void)hf_session_find(sessions, hf_slice_of(secret), at * hour_us, &got);
    ck_assert(!hf_session_find(sessions, hf_slice_of(secret), 169 * hour_us, &got));
    hf_sessions_close(sessions);
}
END_TEST

/* However many log in, a bounded number is remembered, and the newest always is. */
START_TEST(the_oldest_gives_way)
{
    char first[HF_SESSION_SECRET_SIZE];
    char secret[HF_SESSION_SECRET_SIZE];
    hf_principal who = {.id = "a", .role = HF_ROLE_READ};
    hf_sessions *sessions = NULL;
    hf_session_row row;
    hf_principal got;
    hf_err err = {0};

    hf_test_ok(hf_sessions_open(&sessions, &err), &err, "sessions");
    hf_test_ok(hf_session_begin(sessions, &who, 0, first, &row, &err), &err, "a session");
    for (int i = 0; i < HF_SESSION_MAX; i++)
        hf_test_ok(hf_session_begin(sessions, &who, 1, secret, &row, &err), &err, "a session");
    ck_assert(!hf_session_find(sessions, hf_slice_of(first), 2, &got));
    ck_assert(hf_session_find(sessions, hf_slice_of(secret), 2, &got));
    hf_sessions_close(sessions);
}
END_TEST

/* Without credentials there is nobody to log in, and the pages work; an environment is told. */
START_TEST(a_server_without_credentials)
{
    hf_site site;
    hf_site_answer answer;

    hf_site_open(&site, HF_ENGINE_SQLITE, NULL,
                 (hf_server_options){
                     .environment = "production", .environment_color = "red", .store = "sqlite"});
    answer = hf_site_ask(&site, "GET", "/console/api/me", NULL, NULL);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_str_eq(hf_str(answer.body, "principal.method", ""), "none");
    ck_assert_str_eq(hf_str(answer.body, "environment.name", ""), "production");
    ck_assert_str_eq(hf_str(answer.body, "server.store", ""), "sqlite");
    refused(hf_site_ask(&site, "POST", "/console/api/login", NULL, "{\"token\":\"x\"}"), 409,
            "login_not_needed");
    hf_site_close(&site);
}
END_TEST

HF_PG_SUITE_MAIN("server/console_session", {a_token_becomes_a_session, 0},
                 HF_BOTH(a_session_has_the_role_of_its_token), {what_ends_a_session, 0},
                 HF_BOTH(a_session_outlives_its_server), HF_BOTH(a_sign_of_life_is_kept),
                 HF_BOTH(what_others_kept_is_learned), {behind_a_proxy_the_cookie_is_secure, 0},
                 {a_link_works_once, 0}, {time_ends_them, 0}, {the_oldest_gives_way, 0},
                 {a_server_without_credentials, 0})
