/* test_approval.c: approvals and the pages of their links over real HTTP on both databases: who may
   make and end links, what people without an account see, that an answer is given once, from whom
   it is recorded to be, and that nothing somebody chose becomes a part of a page. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/value.h"
#include "holdfast/host.h"
#include "lib/nap.h"
#include "lib/site.h"

#define FORM "Content-Type: application/x-www-form-urlencoded\r\n-Content-Type\r\n"

static hf_value ask_run(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_receive(w, "approve", .timeout = hf_days(1));
}

static hf_value open_run(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_receive(w, "anything");
}

static const hf_app app = {
    .name = "approvals",
    .workflows = (const hf_workflow_def[]){
        {.type = "ask",
         .run = ask_run,
         .signals =
             (const hf_signal_def[]){{"approve", "by:string, verdict:enum(yes|no), amount:int?=1, "
                                                 "sure:bool=false, note:any?=null"},
                                     {0}}},
        {.type = "open",
         .run = open_run,
         .signals = (const hf_signal_def[]){{"anything", NULL}, {0}}},
        {0}}};

static void run_start(hf_site *site, const char *type, const char *id)
{
    char body[256];

    (void)snprintf(body, sizeof(body),
                   "{\"workflow_type\":\"%s\",\"workflow_id\":\"%s\","
                   "\"business_key\":\"<b>\\\"key\\\"</b>\"}",
                   type, id);
    (void)hf_site_expect(site, "POST", "/api/workflows", body, 201);
}

/* The id of the one approval, once it is there. */
static const char *approval_id(hf_site *site)
{
    for (int tries = 0; tries < 400; tries++) {
        hf_value page = hf_site_expect(site, "GET", "/console/api/approvals", NULL, 200).body;
        static char id[64];

        if (hf_len(hf_get(page, "approvals"))) {
            (void)snprintf(id, sizeof(id), "%s", hf_str(page, "approvals.0.id", ""));
            return id;
        }
        hf_nap_ms(10);
    }
    ck_abort_msg("nothing waits for an answer");
    return NULL;
}

/* A link of the approval: its path. */
static void link_make(hf_site *site, const char *approval, const char *label, char out_path[128])
{
    char path[128];
    char body[256];
    hf_value link;

    (void)snprintf(path, sizeof(path), "/console/api/approvals/%s/link", approval);
    (void)snprintf(body, sizeof(body), "{\"label\":\"%s\"}", label);
    link = hf_site_expect(site, "POST", path, body, 201).body;
    (void)snprintf(out_path, 128, "/%s", hf_str(link, "path", ""));
    ck_assert_ptr_nonnull(strstr(hf_str(link, "url", ""), out_path));
}

static hf_site_answer send_form(hf_site *site, const char *path, const char *form)
{
    return hf_site_ask(site, "POST", path, FORM, form);
}

static void shows(hf_site_answer answer, int status, const char *text)
{
    ck_assert_msg(answer.status == status && strstr(answer.text, text), "%d: %s", answer.status,
                  answer.text);
}

/* How often the run was signalled; and who did, from where. */
static int64_t signals_of(hf_site *site, const char *id, hf_value *out_context)
{
    char path[64];
    hf_value commands;
    int64_t count = 0;

    (void)snprintf(path, sizeof(path), "/api/workflows/%s", id);
    commands = hf_get(hf_site_expect(site, "GET", path, NULL, 200).body, "commands");
    for (size_t i = 0; i < hf_len(commands); i++)
        if (strcmp(hf_str(hf_at(commands, i), "type", ""), "signal") == 0 &&
            strcmp(hf_str(hf_at(commands, i), "status", ""), "accepted") == 0) {
            *out_context = hf_get(hf_at(commands, i), "context");
            count++;
        }
    return count;
}

/* A person answers by a form; what they typed is what the workflow gets, and the second answer is
   refused with a sentence. The history says who it was, and has no token in it. */
HF_BOTH_ENGINES(a_person_answers_by_a_link)
{
    char path[128];
    const char *bundle = NULL;
    hf_site site;
    hf_site_answer answer;
    hf_value context = NULL;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    run_start(&site, "ask", "a-1");
    link_make(&site, approval_id(&site), "Ada", path);
    answer = hf_site_expect(&site, "GET", "/console/api/approvals?q=A-1", NULL, 200);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "approvals")), 1);
    answer = hf_site_expect(&site, "GET", "/console/api/approvals?q=a-2", NULL, 200);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "approvals")), 0);
    answer = hf_site_ask(&site, "GET", path, NULL, NULL);
    shows(answer, 200, "<form method=\"post\">");
    shows(answer, 200, "name=\"p.by\"");
    shows(answer, 200, "<option value=\"yes\">");
    ck_assert(hf_slice_starts(hf_wire_field(&answer.raw, "Content-Security-Policy"),
                              HF_SLICE("default-src 'none'; style-src 'sha256-")));
    ck_assert_ptr_null(strstr(answer.text, "<script"));
    shows(send_form(&site, path,
                    "p.by=Ada+L.&p.verdict=yes&p.amount=12&p.sure=true&p.note=%7B%22a%22%3A1%7D"),
          200, "Your answer is recorded");
    shows(send_form(&site, path, "p.by=Eve&p.verdict=no"), 410, "It answers once");
    shows(hf_site_ask(&site, "GET", path, NULL, NULL), 410, "It answers once");
    answer = hf_site_expect(&site, "GET", "/api/workflows/a-1/result?wait_ms=10000", NULL, 200);
    ck_assert_str_eq(hf_str(answer.body, "output.by", hf_str(answer.body, "result.by", "")),
                     "Ada L.");
    ck_assert_int_eq(signals_of(&site, "a-1", &context), 1);
    ck_assert_str_eq(hf_str(context, "principal.type", ""), "link");
    ck_assert_str_eq(hf_str(context, "principal.label", ""), "Ada");
    ck_assert_str_eq(hf_str(context, "request.ip", ""), "127.0.0.1");
    ck_assert_str_eq(hf_str(context, "request.path", ""), "/answer/{token}");
    ck_assert_int_eq(hf_export(site.engine, site.mem, &bundle, "a-1"), HF_OK);
    ck_assert_ptr_nonnull(strstr(bundle, "127.0.0.1"));
    ck_assert_ptr_null(strstr(bundle, path + strlen("/answer/")));
    hf_site_close(&site);
}

/* What does not fit is said beside its field, what was typed is still there, and the link is as
   good as before. */
HF_BOTH_ENGINES(what_does_not_fit_is_asked_again)
{
    char path[128];
    hf_site site;
    hf_site_answer answer;
    hf_value context = NULL;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    run_start(&site, "ask", "a-1");
    link_make(&site, approval_id(&site), "Ada", path);
    answer = send_form(&site, path, "p.by=%3Ci%3EAda&p.verdict=yes&p.amount=many");
    shows(answer, 422, "A whole number is needed.");
    shows(answer, 422, "value=\"&lt;i&gt;Ada\"");
    shows(send_form(&site, path, "p.verdict=yes"), 422, "An answer is needed here.");
    shows(send_form(&site, path, ""), 422, "An answer is needed here.");
    shows(send_form(&site, path, "p.by=Ada&p.verdict=perhaps"), 422, "class=\"fault\"");
    shows(send_form(&site, path, "p.by=%zz"), 422, "could not be read");
    shows(send_form(&site, path, "p.by=A%00da"), 422, "could not be read");
    ck_assert_int_eq(signals_of(&site, "a-1", &context), 0);
    ck_assert_int_eq(hf_site_ask(&site, "POST", path, NULL, "{\"by\":\"x\"}").status, 415);
    ck_assert_int_eq(hf_site_ask(&site, "POST", path, FORM "Origin: http://evil.example\r\n",
                                 "p.by=Eve&p.verdict=no")
                         .status,
                     403);
    shows(send_form(&site, path, "p.by=Ada&p.verdict=no&p.note=two%0D%0Alines"), 200, "recorded");
    answer = hf_site_expect(&site, "GET", "/api/workflows/a-1/result?wait_ms=10000", NULL, 200);
    ck_assert_ptr_nonnull(strstr(answer.text, "two\\nlines"));
    hf_site_close(&site);
}

/* Who is logged in answers with the signal; the step says that it is for this wait or none. */
HF_BOTH_ENGINES(an_account_answers_by_the_signal)
{
    char path[128];
    char body[160];
    const char *id;
    hf_site site;
    hf_site_answer answer;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    run_start(&site, "ask", "a-1");
    id = approval_id(&site);
    (void)snprintf(path, sizeof(path), "/api/workflows/a-1/runs/%.26s/signal/approve", id);
    (void)snprintf(body, sizeof(body),
                   "{\"input\":{\"by\":\"mia\",\"verdict\":\"yes\"},\"step\":%s}", id + 27);
    answer = hf_site_expect(&site, "POST", path,
                            "{\"input\":{\"by\":\"mia\",\"verdict\":\"yes\"},\"step\":7}", 409);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), "wait_not_open");
    (void)hf_site_expect(&site, "POST", path, body, 202);
    answer = hf_site_expect(&site, "POST", path, body, 409);
    (void)hf_site_expect(&site, "POST", "/api/workflows/a-1/signal/approve", body, 422);
    hf_site_close(&site);
}

/* A signal of which nothing is declared takes a text, a JSON value or nothing. */
HF_BOTH_ENGINES(anything_may_be_answered)
{
    static const char *const forms[] = {"value=so+be+it", "value=%5B1%2C2%5D", ""};
    static const char *const results[] = {"\"result\":\"so be it\"", "\"result\":[1,2]",
                                          "\"result\":true"};
    hf_site site;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    for (size_t i = 0; i < 3; i++) {
        char path[128];
        char id[8];
        char ask[64];

        (void)snprintf(id, sizeof(id), "o-%zu", i);
        run_start(&site, "open", id);
        link_make(&site, approval_id(&site), "Ada", path);
        shows(send_form(&site, path, forms[i]), 200, "recorded");
        (void)snprintf(ask, sizeof(ask), "/api/workflows/%s/result?wait_ms=10000", id);
        ck_assert_msg(strstr(hf_site_expect(&site, "GET", ask, NULL, 200).text, results[i]),
                      "%s: %s", results[i], hf_site_expect(&site, "GET", ask, NULL, 200).text);
    }
    hf_site_close(&site);
}

/* Two people press the button at the same moment: one is thanked, the other is told. */
HF_BOTH_ENGINES(two_at_once_answer_once)
{
    static const char form[] = "p.by=Ada&p.verdict=yes";
    hf_wire_reply replies[6] = {{0}};
    char path[128];
    char text[512];
    int fds[6];
    int thanked = 0;
    hf_site site;
    hf_value context = NULL;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    run_start(&site, "ask", "a-1");
    link_make(&site, approval_id(&site), "Ada", path);
    (void)snprintf(
        text, sizeof(text),
        "POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %zu\r\n\r\n%s",
        path, strlen(form), form);
    for (size_t i = 0; i < 6; i++) {
        fds[i] = hf_wire_connect(hf_server_port(site.server));
        ck_assert(hf_wire_send(fds[i], hf_slice_of(text)));
    }
    for (size_t i = 0; i < 6; i++) {
        ck_assert(hf_wire_read_reply(fds[i], &replies[i]));
        ck_assert_msg(replies[i].status == 200 || replies[i].status == 410, "%d: %s",
                      replies[i].status, hf_buf_text(&replies[i].body));
        thanked += replies[i].status == 200;
        hf_wire_reply_fini(&replies[i]);
        (void)close(fds[i]);
    }
    ck_assert_int_eq(thanked, 1);
    ck_assert_int_eq(signals_of(&site, "a-1", &context), 1);
    hf_site_close(&site);
}

/* Links that were revoked, whose wait is over or that nobody made say so in a sentence. */
HF_BOTH_ENGINES(links_that_answer_no_more_say_why)
{
    char first[128];
    char second[128];
    char end[128];
    const char *id;
    hf_site site;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    run_start(&site, "ask", "a-1");
    id = approval_id(&site);
    link_make(&site, id, "Ada", first);
    (void)snprintf(end, sizeof(end), "/console/api/approvals/%s/link", id);
    ck_assert_int_eq(hf_int(hf_site_expect(&site, "DELETE", end, NULL, 200).body, "revoked", -1),
                     1);
    ck_assert_int_eq(hf_int(hf_site_expect(&site, "DELETE", end, NULL, 200).body, "revoked", -1),
                     0);
    shows(hf_site_ask(&site, "GET", first, NULL, NULL), 410, "withdrawn");
    shows(send_form(&site, first, "p.by=Eve&p.verdict=no"), 410, "withdrawn");
    link_make(&site, id, "Bob", second);
    (void)hf_site_expect(&site, "POST", "/api/workflows/a-1/signal/approve",
                         "{\"input\":{\"by\":\"mia\",\"verdict\":\"yes\"}}", 202);
    shows(hf_site_ask(&site, "GET", second, NULL, NULL), 410, "answered already");
    shows(send_form(&site, second, "p.by=Eve&p.verdict=no"), 410, "answered already");
    shows(hf_site_ask(&site, "GET", "/answer/hfa-nothing", NULL, NULL), 404, "leads nowhere");
    ck_assert_int_eq(hf_site_ask(&site, "DELETE", end, NULL, NULL).status, 404);
    ck_assert_int_eq(
        hf_site_ask(&site, "DELETE", "/console/api/approvals/x-1/link", NULL, NULL).status, 404);
    hf_site_close(&site);
}

/* Texts that people chose stay texts. */
HF_BOTH_ENGINES(hostile_texts_stay_texts)
{
    char path[128];
    hf_site site;
    hf_site_answer answer;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    run_start(&site, "ask", "a-1");
    link_make(&site, approval_id(&site), "\\\"><img src=x onerror='alert(1)'>&amp;", path);
    answer = hf_site_ask(&site, "GET", path, NULL, NULL);
    shows(answer, 200, "&lt;b&gt;&quot;key&quot;&lt;/b&gt;");
    shows(answer, 200, "&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;amp;");
    ck_assert_ptr_null(strstr(answer.text, "<script"));
    ck_assert_ptr_null(strstr(answer.text, "<img"));
    ck_assert_ptr_null(strstr(answer.text, "<b>"));
    hf_site_close(&site);
}

/* Readers see what waits, operators hand out links, and nobody sees another namespace's. */
HF_BOTH_ENGINES(roles_and_namespaces_hold)
{
    static const char reader[] = "Authorization: Bearer tok-read\r\n";
    static const char person[] = "Authorization: Bearer tok-operator\r\n";
    static const char stranger[] =
        "Authorization: Bearer tok-elsewhere\r\nX-Namespace: elsewhere\r\n";
    char end[128] = "/console/api/approvals/x-1/link";
    hf_site site;
    hf_site_answer answer;

    hf_site_open(&site, kind, &app, (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}});
    hf_site_tokens(&site);
    ck_assert_int_eq(hf_namespace_create(site.engine, "elsewhere",
                                         &(hf_namespace_opts){.size_ = sizeof(hf_namespace_opts)}),
                     HF_OK);
    hf_site_tokens(&site);
    answer = hf_site_ask(&site, "POST", "/api/workflows", person,
                         "{\"workflow_type\":\"ask\",\"workflow_id\":\"a-1\"}");
    ck_assert_int_eq(answer.status, 201);
    for (int tries = 0; tries < 400; tries++) {
        answer = hf_site_ask(&site, "GET", "/console/api/approvals", reader, NULL);
        if (hf_len(hf_get(answer.body, "approvals")))
            break;
        hf_nap_ms(10);
    }
    (void)snprintf(end, sizeof(end), "/console/api/approvals/%s/link",
                   hf_str(answer.body, "approvals.0.id", ""));
    ck_assert_int_eq(hf_site_ask(&site, "POST", end, reader, "{\"label\":\"Ada\"}").status, 403);
    ck_assert_int_eq(hf_site_ask(&site, "DELETE", end, reader, NULL).status, 403);
    ck_assert_int_eq(hf_site_ask(&site, "POST", end, NULL, "{\"label\":\"Ada\"}").status, 401);
    ck_assert_int_eq(hf_site_ask(&site, "GET", "/console/api/approvals",
                                 "Authorization: Bearer tok-worker\r\n", NULL)
                         .status,
                     403);
    answer = hf_site_ask(&site, "GET", "/console/api/approvals", stranger, NULL);
    ck_assert_msg(answer.status == 404 || !hf_len(hf_get(answer.body, "approvals")), "%s",
                  answer.text);
    ck_assert_int_eq(hf_site_ask(&site, "POST", end, stranger, "{\"label\":\"Ada\"}").status, 404);
    ck_assert_int_eq(hf_site_ask(&site, "POST", end, person, "{}").status, 422);
    ck_assert_int_eq(
        hf_site_ask(&site, "POST", end, person, "{\"label\":\"A\",\"lifespan_seconds\":5}").status,
        422);
    ck_assert_int_eq(
        hf_site_ask(&site, "GET", "/console/api/approvals?limit=201", reader, NULL).status, 422);
    answer = hf_site_ask(&site, "POST", end, person, "{\"label\":\"Ada\"}");
    ck_assert_int_eq(answer.status, 201);
    answer = hf_site_ask(&site, "GET", "/console/api/approvals", reader, NULL);
    ck_assert_str_eq(hf_str(answer.body, "approvals.0.links.0.label", ""), "Ada");
    ck_assert_str_eq(hf_str(answer.body, "approvals.0.links.0.created_by", ""), "tok-operator");
    ck_assert_ptr_null(strstr(answer.text, "hfa"));
    hf_site_close(&site);
}

/* An address that asks too often is told to wait. */
START_TEST(one_address_may_not_ask_for_ever)
{
    hf_site site;
    hf_site_answer answer = {0};

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){0});
    for (int i = 0; i < 30; i++)
        ck_assert_int_eq(hf_site_ask(&site, "GET", "/answer/guess", NULL, NULL).status, 404);
    answer = hf_site_ask(&site, "GET", "/answer/guess", NULL, NULL);
    shows(answer, 429, "Too many requests");
    ck_assert(hf_slice_equal(hf_wire_field(&answer.raw, "Retry-After"), HF_SLICE("10")));
    hf_site_close(&site);
}
END_TEST

HF_PG_SUITE_MAIN("server/approval", HF_BOTH(a_person_answers_by_a_link),
                 HF_BOTH(what_does_not_fit_is_asked_again), HF_BOTH(anything_may_be_answered),
                 HF_BOTH(an_account_answers_by_the_signal), HF_BOTH(two_at_once_answer_once),
                 HF_BOTH(links_that_answer_no_more_say_why), HF_BOTH(hostile_texts_stay_texts),
                 HF_BOTH(roles_and_namespaces_hold), {one_address_may_not_ask_for_ever, 0})
