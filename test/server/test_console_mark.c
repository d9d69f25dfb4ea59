/* test_console_mark.c: what people decide about groups, over real HTTP: attention that is put aside
   comes last and does not count; failures are resolved, ignored and open again, by themselves when
   they come back; a reader decides nothing. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "lib/nap.h"
#include "lib/site.h"

static hf_value charge(hf_act *a, hf_value in)
{
    return hf_reject(a, "card_declined", "no money on card %lld", (long long)hf_int(in, "card", 0));
}

static hf_value pay(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "charge", in);
}

static const hf_app app = {.name = "pay",
                           .workflows = (const hf_workflow_def[]){{.type = "pay", .run = pay}, {0}},
                           .activities = (const hf_activity_def[]){{hf_fn(charge)}, {0}}};

/* Waits until the path of an answer has this many items. */
static hf_value list_await(hf_site *site, const char *path, const char *member, size_t count)
{
    hf_value body = NULL;

    for (int i = 0; i < 6000; i++) {
        body = hf_site_expect(site, "GET", path, NULL, 200).body;
        if (hf_len(hf_get(body, member)) == count)
            return body;
        hf_nap_ms(10);
    }
    ck_abort_msg("%s of %s never had %zu items", member, path, count);
}

HF_BOTH_ENGINES(attention_is_put_aside)
{
    char path[128];
    char signature[64];
    hf_site site;
    hf_value body;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    (void)hf_site_expect(&site, "POST", "/api/workflows",
                         "{\"workflow_type\":\"unheard-of\",\"workflow_id\":\"u\"}", 201);
    body = list_await(&site, "/console/api/attention", "groups", 1);
    ck_assert_int_eq(hf_value_kind_of(hf_get(body, "groups.0.snoozed")), HF_VALUE_NULL);
    (void)snprintf(signature, sizeof(signature), "%s", hf_str(body, "groups.0.signature", ""));
    (void)snprintf(path, sizeof(path), "/console/api/attention/%s/snooze", signature);
    body =
        hf_site_expect(&site, "POST", path, "{\"seconds\":3600,\"reason\":\"<b>known</b>\"}", 200)
            .body;
    ck_assert_str_eq(hf_str(body, "snoozed.reason", ""), "<b>known</b>");
    ck_assert_str_eq(hf_str(body, "snoozed.by.id", ""), "anonymous");
    body = hf_site_expect(&site, "GET", "/console/api/attention", NULL, 200).body;
    ck_assert_str_eq(hf_str(body, "groups.0.snoozed.reason", ""), "<b>known</b>");
    body = hf_site_expect(&site, "GET", "/console/api/overview", NULL, 200).body;
    ck_assert_int_eq(hf_int(body, "attention.groups", -1), 0);
    ck_assert_int_eq(hf_int(body, "attention.runs", -1), 0);
    ck_assert_int_eq(hf_int(body, "counts.attention", -1), 0);
    (void)hf_site_expect(&site, "DELETE", path, NULL, 200);
    body = hf_site_expect(&site, "GET", "/console/api/overview", NULL, 200).body;
    ck_assert_int_eq(hf_int(body, "attention.groups", -1), 1);
    (void)hf_site_expect(&site, "POST", path, "{\"seconds\":1,\"reason\":\"soon\"}", 200);
    for (int i = 0; i < 6000; i++) { /* it is over by itself */
        body = hf_site_expect(&site, "GET", "/console/api/attention", NULL, 200).body;
        if (hf_value_kind_of(hf_get(body, "groups.0.snoozed")) == HF_VALUE_NULL)
            break;
        hf_nap_ms(10);
    }
    ck_assert_int_eq(hf_value_kind_of(hf_get(body, "groups.0.snoozed")), HF_VALUE_NULL);
    (void)hf_site_expect(&site, "POST", path, "{\"seconds\":2592001,\"reason\":\"x\"}", 422);
    (void)hf_site_expect(&site, "POST", path, "{\"seconds\":60}", 422);
    hf_site_close(&site);
}

static void pay_start(hf_site *site, int n)
{
    char body[256];

    (void)snprintf(body, sizeof(body),
                   "{\"workflow_type\":\"pay\",\"workflow_id\":\"p-%d\",\"input\":{\"card\":%d}}",
                   n, n);
    (void)hf_site_expect(site, "POST", "/api/workflows", body, 201);
}

/* Waits until as many runs are in the group of what the activity said. */
static hf_value group_await(hf_site *site, const char *path, int runs)
{
    hf_value body = NULL;

    for (int i = 0; i < 6000; i++) {
        body = hf_site_expect(site, "GET", path, NULL, 200).body;
        if (hf_int(body, "group.runs", 0) == runs)
            return body;
        hf_nap_ms(10);
    }
    ck_abort_msg("%s never had %d runs", path, runs);
}

static const char *activity_print(hf_site *site)
{
    static char print[64];
    hf_value groups = NULL;

    for (int i = 0; i < 6000; i++) {
        groups =
            hf_get(hf_site_expect(site, "GET", "/console/api/failures", NULL, 200).body, "groups");
        for (size_t k = 0; k < hf_len(groups); k++)
            if (strcmp(hf_str(hf_at(groups, k), "name", ""), "charge") == 0) {
                (void)snprintf(print, sizeof(print), "%s",
                               hf_str(hf_at(groups, k), "fingerprint", ""));
                return print;
            }
        hf_nap_ms(10);
    }
    ck_abort_msg("no activity failed");
}

static void judged(hf_site *site, const char *print, const char *what, const char *body,
                   const char *status)
{
    char path[160];
    hf_site_answer answer;

    (void)snprintf(path, sizeof(path), "/console/api/failures/%s/%s", print, what);
    answer = hf_site_expect(site, "POST", path, body, 200);
    ck_assert_msg(strcmp(hf_str(answer.body, "state.status", ""), status) == 0, "%s", answer.text);
}

static const char *state_of(hf_site *site, const char *print, int runs)
{
    char path[160];

    (void)snprintf(path, sizeof(path), "/console/api/failures/%s", print);
    return hf_str(group_await(site, path, runs), "group.state.status", "");
}

HF_BOTH_ENGINES(failures_are_resolved_and_come_back)
{
    char print[64];
    char path[160];
    hf_site site;
    hf_value body;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    pay_start(&site, 1);
    (void)snprintf(print, sizeof(print), "%s", activity_print(&site));
    (void)snprintf(path, sizeof(path), "/console/api/failures/%s", print);
    body = group_await(&site, path, 1);
    ck_assert_str_eq(hf_str(body, "group.state.status", ""), "open");
    ck_assert_str_eq(hf_str(body, "samples.0.workflow_id", ""), "p-1");
    ck_assert_str_eq(hf_str(body, "samples.0.workflow_type", ""), "pay");
    ck_assert_str_eq(hf_str(body, "samples.0.failure_type", ""), "card_declined");
    ck_assert_int_eq(hf_int(body, "samples.0.step", 0), 1);
    judged(&site, print, "resolve", "{\"reason\":\"new cards\"}", "resolved");
    ck_assert_str_eq(state_of(&site, print, 1), "resolved");
    body = hf_site_expect(&site, "GET", "/console/api/failures?state=resolved", NULL, 200).body;
    ck_assert_str_eq(hf_str(body, "groups.0.fingerprint", ""), print);
    ck_assert_str_eq(hf_str(body, "groups.0.state.reason", ""), "new cards");
    pay_start(&site, 2); /* it differs in its number only */
    ck_assert_str_eq(state_of(&site, print, 2), "reopened");
    judged(&site, print, "ignore", "{\"reason\":\"the bank is down\"}", "ignored");
    pay_start(&site, 3);
    ck_assert_str_eq(state_of(&site, print, 3), "ignored");
    judged(&site, print, "reopen", "{}", "open");
    /* runs of no build had it before: those do not say that the build did not help */
    judged(&site, print, "resolve", "{\"build\":\"2026.12\"}", "resolved");
    pay_start(&site, 4);
    ck_assert_str_eq(state_of(&site, print, 4), "resolved");
    hf_site_close(&site);
}

HF_BOTH_ENGINES(a_reader_decides_nothing)
{
    static const char *const paths[] = {
        "/console/api/attention/00ff/snooze", "/console/api/failures/00ff/resolve",
        "/console/api/failures/00ff/ignore", "/console/api/failures/00ff/reopen"};
    hf_site site;

    hf_site_open(&site, kind, &app, (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}});
    hf_site_tokens(&site);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        ck_assert_int_eq(hf_site_ask(&site, "POST", paths[i], "Authorization: Bearer tok-read\r\n",
                                     "{\"seconds\":1,\"reason\":\"x\"}")
                             .status,
                         403);
    ck_assert_int_eq(
        hf_site_ask(&site, "DELETE", paths[0], "Authorization: Bearer tok-read\r\n", NULL).status,
        403);
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/console_mark", HF_BOTH_SLOW(attention_is_put_aside, 120),
                 HF_BOTH_SLOW(failures_are_resolved_and_come_back, 120),
                 HF_BOTH(a_reader_decides_nothing))
