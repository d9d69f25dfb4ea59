/* test_console_overview.c: the first page of the console over real HTTP: its numbers are those of
   the namespace alone and follow what happens; who may see it. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/value.h"
#include "lib/handlers.h"
#include "lib/site.h"

#define CONSOLE "-X-Durable-Workflow-Control-Plane-Version\r\n"
#define ADMIN   "Authorization: Bearer tok-admin\r\n"

static const hf_signal_def go[] = {{"go", NULL}, {0}};

static hf_value give_up(hf_ctx *w, hf_value in)
{
    (void)in;
    hf_fail(w, "no_money", "nothing was left");
}

static hf_value nap(hf_ctx *w, hf_value in)
{
    (void)in;
    hf_sleep(w, 90000);
    return NULL;
}

static const hf_app app = {
    .name = "overview",
    .workflows = (const hf_workflow_def[]){{.type = "order", .run = hf_wait_go, .signals = go},
                                           {.type = "brief", .run = hf_end_now},
                                           {.type = "nap", .run = nap},
                                           {.type = "give-up", .run = give_up},
                                           {0}}};

static hf_site_answer overview(hf_site *site, const char *more, int status)
{
    char head[200];
    hf_site_answer answer;

    (void)snprintf(head, sizeof(head), CONSOLE "%s", more);
    answer = hf_site_ask(site, "GET", "/console/api/overview", head, NULL);
    ck_assert_msg(answer.status == status, "%d instead of %d: %.600s", answer.status, status,
                  answer.text);
    return answer;
}

static void start(hf_site *site, const char *type, const char *id, const char *more)
{
    char body[200];
    hf_site_answer answer;

    (void)snprintf(body, sizeof(body), "{\"workflow_type\":\"%s\",\"workflow_id\":\"%s\"}", type,
                   id);
    answer = hf_site_ask(site, "POST", "/api/workflows", more, body);
    ck_assert_msg(answer.status == 201, "%s: %s", id, answer.text);
}

/* The overview when it says so many runs at a path: lists are a moment behind. */
static hf_value overview_with(hf_site *site, const char *path, int64_t n)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + INT64_C(60000000);
    hf_value body;

    do {
        body = overview(site, "", 200).body;
    } while (hf_int(body, path, -1) != n && hf_clock_mono_us(hf_clock_system()) < until_us);
    ck_assert_msg(hf_int(body, path, -1) == n, "%s is %lld", path,
                  (long long)hf_int(body, path, -1));
    return body;
}

/* An empty place has zeros and no records, and is well. */
HF_BOTH_ENGINES(an_empty_place)
{
    hf_site site;
    hf_value body;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    body = overview(&site, "", 200).body;
    ck_assert_str_eq(hf_str(body, "namespace", ""), "default");
    ck_assert_int_eq(hf_int(body, "runs.open", -1), 0);
    ck_assert(hf_bool(body, "runs.exact", false));
    ck_assert_int_eq(hf_int(body, "counts.runs.n", -1), 0);
    ck_assert_int_eq(hf_int(body, "backlog.ready", -1), 0);
    ck_assert_int_eq(hf_value_kind_of(hf_get(body, "backlog.oldest_ready_at")), HF_VALUE_NULL);
    ck_assert_int_eq(hf_value_kind_of(hf_get(body, "records.longest_open")), HF_VALUE_NULL);
    ck_assert_uint_eq(hf_len(hf_get(body, "timers_next_hour")), 60);
    ck_assert_str_eq(hf_str(body, "storage.backend", ""),
                     kind == HF_ENGINE_SQLITE ? "sqlite" : "postgres");
    ck_assert_int_gt(hf_int(body, "storage.bytes", 0), 4096);
    ck_assert_int_eq(hf_value_kind_of(hf_get(body, "storage.path")),
                     kind == HF_ENGINE_SQLITE ? HF_VALUE_STRING : HF_VALUE_NULL);
    ck_assert_str_eq(hf_str(body, "health.status", ""), "ok");
    ck_assert(!hf_bool(body, "projections.needs_rebuild", true));
    hf_site_close(&site);
}

/* What runs do shows up in the numbers. */
HF_BOTH_ENGINES(numbers_follow_runs)
{
    hf_site site;
    hf_value body;
    int64_t failures;
    int64_t due = 0;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    start(&site, "order", "o-1", NULL);
    start(&site, "order", "o-2", NULL);
    start(&site, "brief", "b-1", NULL);
    start(&site, "nap", "n-1", NULL);
    start(&site, "give-up", "g-1", NULL);
    hf_site_expect(&site, "POST", "/api/workflows/o-2/cancel", "{}", 202);
    hf_site_expect(
        &site, "POST", "/api/schedules",
        "{\"schedule_id\":\"s-1\",\"spec\":{\"intervals\":[{\"every\":\"PT1H\"}]},\"action\":{"
        "\"workflow_type\":\"brief\"}}",
        201);
    (void)overview_with(&site, "runs.cancelled", 1);
    (void)overview_with(&site, "records.most_retries.failures", 1);
    body = overview_with(&site, "runs.waiting", 2);
    ck_assert_int_eq(hf_int(body, "runs.open", -1), 2);
    ck_assert_int_eq(hf_int(body, "runs.completed", -1), 1);
    ck_assert_int_eq(hf_int(body, "runs.failed", -1), 1);
    ck_assert_int_eq(hf_int(body, "counts.runs.n", -1), 5);
    ck_assert_int_eq(hf_int(body, "counts.types", -1), 4);
    ck_assert_int_eq(hf_int(body, "counts.schedules", -1), 1);
    ck_assert_int_eq(hf_int(body, "schedules.active", -1), 1);
    ck_assert_int_eq(hf_int(body, "schedules.missed", -1), 0);
    ck_assert_str_eq(hf_str(body, "types.0.workflow_type", ""), "order");
    ck_assert_int_eq(hf_int(body, "types.0.open", -1), 1);
    ck_assert_str_eq(hf_str(body, "records.longest_open.workflow_id", ""), "o-1");
    ck_assert_ptr_nonnull(hf_get(body, "records.biggest_history.run_id"));
    for (size_t i = 0; i < 60; i++)
        due += hf_int(hf_at(hf_get(body, "timers_next_hour"), i), "", 0);
    ck_assert_int_eq(due, 1);
    ck_assert_int_eq(hf_int(body, "rates.minutes", 0), 15);
    ck_assert_int_eq(hf_int(body, "attention.groups", -1), 0);
    failures = hf_int(body, "counts.failures", -1);
    ck_assert_int_eq(
        (int64_t)hf_len(hf_get(
            hf_site_expect(&site, "GET", "/console/api/failures", NULL, 200).body, "groups")),
        failures);
    hf_site_close(&site);
}

/* A run that nobody can run needs a person, and the first page says so. */
START_TEST(trouble_is_on_the_first_page)
{
    hf_site site;
    hf_value body;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){0});
    start(&site, "unheard-of", "u-1", NULL);
    body = overview_with(&site, "attention.runs", 1);
    ck_assert_int_eq(hf_int(body, "attention.groups", -1), 1);
    ck_assert_str_eq(hf_str(body, "attention.top.0.workflow_type", ""), "unheard-of");
    ck_assert_str_eq(hf_str(body, "health.status", ""), "warning");
    ck_assert_int_eq(hf_int(body, "counts.attention", -1), 1);
    hf_site_close(&site);
}
END_TEST

/* Readers see it, workers do not, and a namespace shows nothing of another. */
START_TEST(who_sees_it)
{
    hf_site site;
    hf_value body;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}});
    hf_site_tokens(&site);
    ck_assert_int_eq(
        hf_site_ask(&site, "POST", "/api/namespaces", ADMIN, "{\"name\":\"elsewhere\"}").status,
        201);
    hf_site_tokens(&site); /* the store has none of them */
    start(&site, "order", "o-1", ADMIN);
    start(&site, "nap", "n-1", ADMIN);
    (void)overview(&site, "", 401);
    (void)overview(&site, "Authorization: Bearer tok-worker\r\n", 403);
    body = overview(&site, "Authorization: Bearer tok-read\r\n", 200).body;
    ck_assert_int_eq(hf_int(body, "runs.open", -1), 2);
    (void)overview(&site, "Authorization: Bearer tok-elsewhere\r\n", 404);
    body = overview(&site, "Authorization: Bearer tok-elsewhere\r\nX-Namespace: elsewhere\r\n", 200)
               .body;
    ck_assert_int_eq(hf_int(body, "runs.open", -1), 0);
    ck_assert_uint_eq(hf_len(hf_get(body, "types")), 0);
    ck_assert_int_eq(hf_value_kind_of(hf_get(body, "records.longest_open")), HF_VALUE_NULL);
    for (size_t i = 0; i < 60; i++)
        ck_assert_int_eq(hf_int(hf_at(hf_get(body, "timers_next_hour"), i), "", -1), 0);
    ck_assert_int_eq(hf_site_ask(&site, "GET", "/console/api/overview?x=1",
                                 "Authorization: Bearer tok-read\r\n", NULL)
                         .status,
                     422);
    hf_site_close(&site);
}
END_TEST

HF_PG_SUITE_MAIN("server/console_overview", HF_BOTH(an_empty_place), HF_BOTH(numbers_follow_runs),
                 {trouble_is_on_the_first_page, 0}, {who_sees_it, 0})
