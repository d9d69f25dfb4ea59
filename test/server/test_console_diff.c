/* test_console_diff.c: two runs side by side over real HTTP: of the store, of bundles, of one of
   each; window by window; and what cannot be compared. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "lib/site.h"
#include "run_app.h"

#define DIFF "/console/api/diff?"

static void open_with(hf_site *site, hf_engine_kind kind)
{
    hf_site_open(site, kind, &run_app, (hf_server_options){0});
}

/* Starts an order and waits until it waits for a signal. */
static void order_start(hf_site *site, const char *id, int limit, char out_run[64])
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + INT64_C(60000000);
    char text[256];
    hf_value head;

    (void)snprintf(text, sizeof(text),
                   "{\"workflow_type\":\"order\",\"workflow_id\":\"%s\",\"input\":{\"limit\":%d}}",
                   id, limit);
    (void)hf_site_expect(site, "POST", "/api/workflows", text, 201);
    (void)snprintf(text, sizeof(text), "/console/api/runs/%s", id);
    do
        head = hf_site_expect(site, "GET", text, NULL, 200).body;
    while (strcmp(hf_str(head, "liveness_state", ""), "waiting_for_signal") != 0 &&
           hf_clock_mono_us(hf_clock_system()) < until_us);
    (void)snprintf(out_run, 64, "%s", hf_str(head, "run_id", ""));
}

static hf_value diff(hf_site *site, const char *query)
{
    char path[512];

    (void)snprintf(path, sizeof(path), DIFF "%s", query);
    return hf_site_expect(site, "GET", path, NULL, 200).body;
}

/* What is the same is called so, whichever of both comes from a file. */
HF_BOTH_ENGINES(runs_and_bundles_are_compared_alike)
{
    char run[64];
    char query[256];
    char bundle[64];
    hf_site site;
    hf_site_answer answer;
    hf_value d;

    open_with(&site, kind);
    order_start(&site, "o-1", 5, run);
    d = diff(&site, "left=o-1&right=o-1");
    ck_assert(hf_bool(d, "equal", false));
    ck_assert_int_eq(hf_int(d, "different", -1), 0);
    ck_assert_int_gt(hf_int(d, "left.steps", 0), 5);
    ck_assert_uint_eq(hf_len(hf_get(d, "steps")), (size_t)hf_int(d, "left.steps", 0));
    ck_assert_str_eq(hf_str(d, "input", ""), "same");
    ck_assert_str_eq(hf_str(d, "left.workflow_type", ""), "order");
    (void)snprintf(query, sizeof(query), "/api/workflows/o-1/runs/%s/history/export", run);
    answer = hf_site_ask(&site, "GET", query, NULL, NULL);
    {
        hf_buf text = {0};

        hf_buf_add_text(&text, answer.text);
        answer = hf_site_ask(&site, "POST", "/console/api/bundles", NULL, hf_buf_text(&text));
        ck_assert_msg(answer.status == 201, "%.300s", answer.text);
        hf_buf_fini(&text);
    }
    (void)snprintf(bundle, sizeof(bundle), "%s", hf_str(answer.body, "bundle.id", ""));
    (void)snprintf(query, sizeof(query), "left=o-1&left_run_id=%s&right_bundle=%s", run, bundle);
    d = diff(&site, query);
    ck_assert_msg(hf_bool(d, "equal", false), "the bundle of a run differs from it at %lld",
                  (long long)hf_int(d, "first_difference", 0));
    ck_assert_str_eq(hf_str(d, "right.bundle", ""), bundle);
    ck_assert_str_eq(hf_str(d, "right.run_id", ""), run);
    (void)snprintf(query, sizeof(query), "left_bundle=%s&right_bundle=%s", bundle, bundle);
    ck_assert(hf_bool(diff(&site, query), "equal", false));
    (void)hf_site_expect(&site, "POST", "/api/workflows/o-1/signal/paid", "{\"input\":[3]}", 202);
    (void)hf_site_expect(&site, "GET", "/api/workflows/o-1/result?wait_timeout_seconds=60", NULL,
                         200);
    (void)snprintf(query, sizeof(query), "left=o-1&right_bundle=%s", bundle);
    d = diff(&site, query);
    ck_assert_str_eq(hf_str(d, "output", ""), "different");
    ck_assert_str_eq(hf_str(d, "left.closed_by", ""), "WorkflowCompleted");
    ck_assert(hf_get(d, "right.closed_by") &&
              hf_value_kind_of(hf_get(d, "right.closed_by")) == HF_VALUE_NULL);
    hf_site_close(&site);
}

/* The first difference is marked; windows of what differs join up to all of it. */
HF_BOTH_ENGINES(differences_come_in_windows)
{
    char query[256];
    char run[64];
    hf_site site;
    hf_value d;
    int64_t first;
    int64_t different;
    int64_t after = 0;
    int64_t seen = 0;

    open_with(&site, kind);
    order_start(&site, "o-1", 5, run);
    order_start(&site, "o-2", 6, run);
    d = diff(&site, "left=o-1&right=o-2&only=different");
    first = hf_int(d, "first_difference", 0);
    different = hf_int(d, "different", 0);
    ck_assert_int_gt(first, 0);
    ck_assert_int_gt(different, 1);
    ck_assert_str_eq(hf_str(d, "input", ""), "different");
    ck_assert(!hf_bool(d, "equal", true));
    ck_assert_uint_eq(hf_len(hf_get(d, "steps")), (size_t)different);
    ck_assert(hf_bool(d, "steps.0.first", false));
    ck_assert(!hf_bool(d, "steps.1.first", true));
    ck_assert_int_eq(hf_int(d, "steps.0.step", 0), first);
    ck_assert_str_eq(hf_str(d, "steps.0.state", ""), "different_input");
    ck_assert_str_eq(hf_str(d, "steps.0.left.input.text", ""), "{\"limit\":5}");
    ck_assert_str_eq(hf_str(d, "steps.0.right.input.text", ""), "{\"limit\":6}");
    do {
        (void)snprintf(query, sizeof(query), "left=o-1&right=o-2&only=different&limit=1&after=%lld",
                       (long long)after);
        d = diff(&site, query);
        ck_assert_int_eq(hf_int(d, "different", 0), different);
        ck_assert_int_eq(hf_int(d, "first_difference", 0), first);
        seen += (int64_t)hf_len(hf_get(d, "steps"));
        after = hf_int(d, "next_after", 0);
    } while (after);
    ck_assert_int_eq(seen, different);
    hf_site_close(&site);
}

/* What cannot be compared says which side and why; nobody compares what they may not see. */
HF_BOTH_ENGINES(what_cannot_be_compared)
{
    static const struct {
        const char *query;
        int status;
        const char *reason;
        const char *field;
    } rows[] = {
        {"", 422, "validation_failed", "left"},
        {"left=o-1", 422, "validation_failed", "right"},
        {"left=o-1&left_bundle=x&right=o-1", 422, "validation_failed", "left"},
        {"left=o-1&right_bundle=x&right_run_id=y", 422, "validation_failed", "right"},
        {"left=o-1&right=o-1&limit=0", 422, "validation_failed", "limit"},
        {"left=o-1&right=o-1&only=same", 422, "validation_failed", "only"},
        {"left=none&right=o-1", 404, "instance_not_found", NULL},
        {"left=o-1&right=none", 404, "instance_not_found", NULL},
        {"left=o-1&right=o-1&right_run_id=01ARZ3NDEKTSV4RRFFQ69G5FAV", 404, "run_not_found", NULL},
        {"left=o-1&right_bundle=none", 404, "bundle_not_found", NULL},
        {"left=%3Cscript%3E&right=o-1", 404, "instance_not_found", NULL}};
    char path[512];
    char run[64];
    hf_site site;

    open_with(&site, kind);
    order_start(&site, "o-1", 5, run);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        hf_site_answer answer;

        (void)snprintf(path, sizeof(path), DIFF "%s", rows[i].query);
        answer = hf_site_expect(&site, "GET", path, NULL, rows[i].status);
        ck_assert_msg(strcmp(hf_str(answer.body, "reason", ""), rows[i].reason) == 0, "%s: %s",
                      rows[i].query, answer.text);
        if (rows[i].field) {
            (void)snprintf(path, sizeof(path), "validation_errors.%s", rows[i].field);
            ck_assert_msg(hf_len(hf_get(answer.body, path)) == 1, "%s: %s", rows[i].query,
                          answer.text);
        }
    }
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/console_diff", HF_BOTH_SLOW(runs_and_bundles_are_compared_alike, 60),
                 HF_BOTH_SLOW(differences_come_in_windows, 60),
                 HF_BOTH_SLOW(what_cannot_be_compared, 60))
