/* test_contract.c: every answer of the control plane that the published command line prints, held
   against its published schema, over real HTTP. */
#include <stdio.h>
#include <string.h>

#include "lib/schema.h"
#include "lib/site.h"
#include "server/order_app.h"

static void refused(hf_site *site, const char *method, const char *path, const char *body,
                    int status, const char *reason)
{
    hf_site_answer answer = hf_site_fits(site, method, path, body, status, NULL);

    ck_assert_msg(strcmp(hf_str(answer.body, "reason", ""), reason) == 0, "%s", answer.text);
    ck_assert_str_ne(hf_str(answer.body, "message", ""), "");
}

/* Starts the order o-1 and waits until its code has run. */
static void order_start(hf_site *site, char run_id[64])
{
    hf_site_answer answer =
        hf_site_fits(site, "POST", "/api/workflows",
                     "{\"workflow_type\":\"order\",\"workflow_id\":\"o-1\",\"business_key\":\"b\"}",
                     201, "workflow-start");

    (void)snprintf(run_id, 64, "%s", hf_str(answer.body, "run_id", ""));
    (void)hf_site_fits(site, "POST", "/api/workflows/o-1/query/state", "{}", 200, "workflow-query");
}

/* Runs: started, listed, described, debugged, told, asked and ended. */
HF_BOTH_ENGINES(workflows)
{
    hf_site site;
    char run[64];
    char path[160];

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    order_start(&site, run);
    (void)hf_site_fits(&site, "GET", "/api/workflows", NULL, 200, "workflow-list");
    (void)hf_site_fits(&site, "GET", "/api/workflows/o-1", NULL, 200, "workflow-run");
    (void)hf_site_fits(&site, "GET", "/api/workflows/o-1/runs", NULL, 200, "workflow-runs");
    (void)hf_site_fits(&site, "GET", "/api/workflows/o-1/debug", NULL, 200, "workflow-debug");
    (void)snprintf(path, sizeof(path), "/api/workflows/o-1/runs/%s/debug", run);
    (void)hf_site_fits(&site, "GET", path, NULL, 200, "workflow-debug");
    (void)snprintf(path, sizeof(path), "/api/workflows/o-1/runs/%s/history", run);
    (void)hf_site_fits(&site, "GET", path, NULL, 200, "workflow-history");
    (void)snprintf(path, sizeof(path), "/api/workflows/o-1/runs/%s/history/export", run);
    (void)hf_site_fits(&site, "GET", path, NULL, 200,
                       NULL); /* a bundle: its own schema is checked in project */
    (void)hf_site_fits(&site, "POST", "/api/workflows/o-1/repair", "{}", 200, "workflow-operation");
    (void)hf_site_fits(&site, "POST", "/api/workflows/o-1/signal/paid", "{}", 202,
                       "workflow-signal");
    (void)hf_site_fits(&site, "GET", "/api/workflows/o-1/result?wait_timeout_seconds=20", NULL, 200,
                       NULL);
    (void)hf_site_fits(&site, "POST", "/api/workflows/o-1/archive", "{}", 202,
                       "workflow-operation");
    refused(&site, "GET", "/api/workflows/none/debug", NULL, 404, "instance_not_found");
    refused(&site, "GET", "/api/workflows/none/result", NULL, 404, "instance_not_found");
    refused(&site, "GET", "/api/workflows/o-1/result?wait_timeout_seconds=61", NULL, 422,
            "validation_failed");
    hf_site_close(&site);
}

/* Updates are answered, and found again by their id. */
HF_BOTH_ENGINES(updates_are_looked_up)
{
    hf_site site;
    hf_site_answer answer;
    char run[64];
    char update[64];
    char path[200];

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    order_start(&site, run);
    answer =
        hf_site_fits(&site, "POST", "/api/workflows/o-1/update/add", "{\"input\":[1]}", 200, NULL);
    (void)snprintf(update, sizeof(update), "%s", hf_str(answer.body, "update_id", ""));
    (void)snprintf(path, sizeof(path), "/api/workflows/o-1/updates/%s", update);
    answer = hf_site_fits(&site, "GET", path, NULL, 200, NULL);
    ck_assert_str_eq(hf_str(answer.body, "update_status", ""), "completed");
    ck_assert_str_eq(hf_str(answer.body, "update_name", ""), "add");
    (void)snprintf(path, sizeof(path), "/api/workflows/o-1/runs/%s/updates/%s", run, update);
    (void)hf_site_fits(&site, "GET", path, NULL, 200, NULL);
    refused(&site, "GET", "/api/workflows/o-1/updates/nothing", NULL, 404, "update_not_found");
    hf_site_close(&site);
}

/* What operators ask beyond the published commands. */
HF_BOTH_ENGINES(operators)
{
    hf_site site;
    hf_site_answer answer;
    char run[64];
    char path[128];

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    order_start(&site, run);
    (void)hf_site_fits(&site, "POST", "/api/workflows/o-1/pause", "{}", 202, "workflow-operation");
    (void)hf_site_fits(&site, "POST", "/api/workflows/o-1/resume", "{}", 202, "workflow-operation");
    answer = hf_site_fits(&site, "POST", "/api/workflows/o-1/fork",
                          "{\"step\":0,\"new_workflow_id\":\"o-2\"}", 202, "workflow-operation");
    ck_assert_str_eq(hf_str(answer.body, "outcome", ""), "forked");
    (void)hf_site_fits(&site, "POST", "/api/workflows/o-2/reset", "{\"step\":0}", 202,
                       "workflow-operation");
    refused(&site, "POST", "/api/workflows/o-1/fork", "{\"step\":\"x\"}", 422, "validation_failed");
    (void)hf_site_fits(
        &site, "POST", "/api/workflows/signal-with-start",
        "{\"workflow_type\":\"order\",\"workflow_id\":\"o-3\",\"signal_name\":\"paid\"}", 202,
        "workflow-signal");
    answer =
        hf_site_fits(&site, "POST", "/api/batches",
                     "{\"command\":\"terminate\",\"workflow_ids\":[\"o-1\",\"none\"]}", 202, NULL);
    (void)snprintf(path, sizeof(path), "/api/batches/%s", hf_str(answer.body, "batch_id", ""));
    for (int i = 0; i < 5000; i++) { /* bounded by the engine, which works on it meanwhile */
        answer = hf_site_fits(&site, "GET", path, NULL, 200, NULL);
        if (strcmp(hf_str(answer.body, "status", ""), "completed") == 0)
            break;
    }
    ck_assert_str_eq(hf_str(answer.body, "status", ""), "completed");
    (void)snprintf(path + strlen(path), sizeof(path) - strlen(path), "/abort");
    (void)hf_site_fits(&site, "POST", path, "{}", 200, NULL);
    refused(&site, "GET", "/api/batches/none", NULL, 404, "batch_not_found");
    refused(&site, "POST", "/api/batches/none/dance", "{}", 404, "not_found");
    refused(&site, "POST", "/api/batches", "{\"command\":\"cancel\",\"workflow_ids\":[]}", 422,
            "validation_failed");
    hf_site_close(&site);
}

/* A reader that waits hears of the next event, and of none when there is none. */
HF_BOTH_ENGINES(histories_are_waited_for)
{
    hf_site site;
    hf_site_answer answer;
    char run[64];
    char path[200];
    long long last;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    order_start(&site, run);
    (void)snprintf(path, sizeof(path), "/api/workflows/o-1/runs/%s/history", run);
    answer = hf_site_fits(&site, "GET", path, NULL, 200, NULL);
    last = (long long)hf_int(answer.body, "last_sequence", 0);
    (void)snprintf(path, sizeof(path),
                   "/api/workflows/o-1/runs/%s/history?wait_new_event=1&wait_timeout_seconds=1&"
                   "next_page_token=s%lld",
                   run, last + 100);
    answer = hf_site_fits(&site, "GET", path, NULL, 200, NULL);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "events")), 0);
    (void)hf_site_fits(&site, "POST", "/api/workflows/o-1/signal/paid", "{}", 202, NULL);
    (void)snprintf(path, sizeof(path),
                   "/api/workflows/o-1/runs/%s/history?wait_new_event=1&wait_timeout_seconds=20&"
                   "next_page_token=s%lld",
                   run, last);
    answer = hf_site_fits(&site, "GET", path, NULL, 200, NULL);
    ck_assert_uint_ge(hf_len(hf_get(answer.body, "events")), 1);
    hf_site_close(&site);
}

#define NIGHTLY                                                                                    \
    "{\"schedule_id\":\"nightly\",\"spec\":{\"cron_expressions\":[\"0 3 * * *\"]},"                \
    "\"action\":{\"workflow_type\":\"order\",\"task_queue\":\"q\",\"input\":[1]},"                 \
    "\"note\":\"at night\",\"search_attributes\":{\"team\":\"blue\"}}"

/* Schedules: every verb, and each refusal. */
HF_BOTH_ENGINES(schedules)
{
    static const char *const actions[] = {
        "\"visibility_labels\":{\"team\":{}}", "\"visibility_labels\":\"team\"",
        "\"search_attributes\":{\"a b\":1}", "\"search_attributes\":7", "\"memo\":[1]",
        "\"task_queue\":5", "\"business_key\":\"\"", "\"run_timeout_seconds\":\"60\"",
        /* 0, once it is milliseconds in 64 bits */
        "\"run_timeout_seconds\":2305843009213693952"};
    hf_site site;
    hf_site_answer answer;
    char body[256];

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    answer = hf_site_fits(&site, "POST", "/api/schedules", NIGHTLY, 201, "schedule");
    ck_assert_str_eq(hf_str(answer.body, "search_attributes.team", ""), "blue");
    refused(&site, "POST", "/api/schedules", NIGHTLY, 409, "schedule_already_exists");
    refused(&site, "POST", "/api/schedules", "{\"spec\":{},\"action\":{}}", 422,
            "validation_failed");
    refused(&site, "POST", "/api/schedules",
            "{\"spec\":{\"cron_expressions\":[\"what\"]},\"action\":{\"workflow_type\":\"order\"}}",
            422, "validation_failed");
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        (void)snprintf(body, sizeof(body),
                       "{\"schedule_id\":\"bad\",\"spec\":{\"cron_expressions\":[\"0 3 * * *\"]},"
                       "\"action\":{\"workflow_type\":\"order\",%s}}",
                       actions[i]);
        refused(&site, "POST", "/api/schedules", body, 422, "validation_failed");
        (void)snprintf(body, sizeof(body), "{\"action\":{%s}}", actions[i]);
        refused(&site, "PUT", "/api/schedules/nightly", body, 422, "validation_failed");
    }
    refused(&site, "GET", "/api/schedules/bad", NULL, 404, "schedule_not_found");
    (void)hf_site_fits(&site, "GET", "/api/schedules/nightly", NULL, 200, "schedule");
    answer = hf_site_fits(&site, "PUT", "/api/schedules/nightly", "{\"note\":\"later\"}", 200,
                          "schedule");
    ck_assert_str_eq(hf_str(answer.body, "note", ""), "later");
    ck_assert_str_eq(hf_str(answer.body, "action.workflow_type", ""), "order");
    answer = hf_site_fits(&site, "POST", "/api/schedules/nightly/pause", "{\"note\":\"holiday\"}",
                          200, "schedule-operation");
    ck_assert_str_eq(hf_str(answer.body, "status", ""), "paused");
    (void)hf_site_fits(&site, "POST", "/api/schedules/nightly/resume", "{}", 200,
                       "schedule-operation");
    (void)hf_site_fits(&site, "POST", "/api/schedules/nightly/trigger", "{}", 200,
                       "schedule-trigger");
    answer = hf_site_fits(
        &site, "POST", "/api/schedules/nightly/backfill",
        "{\"start_time\":\"2026-01-01T00:00:00Z\",\"end_time\":\"2026-01-03T00:00:00Z\","
        "\"overlap_policy\":\"allow_all\"}",
        200, "schedule-operation");
    ck_assert_int_eq(hf_int(answer.body, "fires_attempted", 0), 2);
    refused(&site, "POST", "/api/schedules/nightly/backfill",
            "{\"start_time\":\"2026-01-03T00:00:00Z\",\"end_time\":\"2026-01-01T00:00:00Z\"}", 422,
            "invalid_time_range");
    refused(&site, "POST", "/api/schedules/nightly/backfill",
            "{\"start_time\":\"soon\",\"end_time\":\"later\"}", 422, "validation_failed");
    (void)hf_site_fits(&site, "GET", "/api/schedules/nightly/history?limit=2", NULL, 200,
                       "schedule-history");
    refused(&site, "GET", "/api/schedules/nightly/history?after_sequence=-1", NULL, 422,
            "invalid_after_sequence");
    (void)hf_site_fits(&site, "DELETE", "/api/schedules/nightly", NULL, 204, NULL);
    refused(&site, "GET", "/api/schedules/nightly", NULL, 404, "schedule_not_found");
    refused(&site, "POST", "/api/schedules/nightly/pause", "{}", 404, "schedule_not_found");
    answer =
        hf_site_fits(&site, "GET", "/api/schedules/nightly/history", NULL, 200, "schedule-history");
    for (size_t i = 0; i < hf_len(hf_get(answer.body, "events")); i++)
        ck_assert_str_eq(hf_str(hf_at(hf_get(answer.body, "events"), i),
                                "payload.command_context.caller.type", ""),
                         "server");
    ck_assert_str_eq(hf_str(answer.body, "events.1.payload.command_context.request.route_name", ""),
                     "/api/schedules/{schedule_id}");
    refused(&site, "GET", "/api/schedules/none/history", NULL, 404, "schedule_not_found");
    hf_site_close(&site);
}

/* Lists of schedules: pages, filters, the query language, and tokens that are good for one list. */
HF_BOTH_ENGINES(schedule_lists)
{
    static const struct {
        const char *query;
        int status;
        size_t count;
        const char *reason;
    } lists[] = {
        {"?status=paused", 200, 1, NULL},
        {"?workflow_type=order", 200, 5, NULL},
        {"?workflow_type=none", 200, 0, NULL},
        {"?query=ScheduleId%20%3D%20%22s-3%22", 200, 1, NULL},
        {"?query=WorkflowType%3D'order'%20and%20n%3D3", 200, 1, NULL},
        {"?query=Note%3D'x'%20OR%20Note%3D'y'", 422, 0,
         "unsupported_schedule_visibility_predicate"},
        {"?query=n%20%3E%203", 422, 0, "unsupported_schedule_visibility_predicate"},
        {"?query=%3D", 422, 0, "invalid_schedule_visibility_query"},
        {"?query=Note%3D'x", 422, 0, "invalid_schedule_visibility_query"},
        {"?status=strange", 422, 0, "validation_failed"},
        {"?page_size=201", 422, 0, "validation_failed"},
        {"?next_page_token=x", 400, 0, "malformed_schedule_page_token"},
    };
    hf_site site;
    hf_site_answer answer;
    char path[256];
    char token[160];

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    for (int i = 0; i < 5; i++) {
        char body[320];

        (void)snprintf(body, sizeof(body),
                       "{\"schedule_id\":\"s-%d\",\"spec\":{\"intervals\":[{\"every\":\"PT1H\"}]},"
                       "\"action\":{\"workflow_type\":\"order\"},\"paused\":%s,"
                       "\"search_attributes\":{\"n\":%d}}",
                       i, i == 2 ? "true" : "false", i);
        (void)hf_site_fits(&site, "POST", "/api/schedules", body, 201, "schedule");
    }
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        (void)snprintf(path, sizeof(path), "/api/schedules%s", lists[i].query);
        answer = hf_site_fits(&site, "GET", path, NULL, lists[i].status,
                              lists[i].reason ? NULL : "schedule-list");
        if (lists[i].reason) {
            ck_assert_str_eq(hf_str(answer.body, "reason", ""), lists[i].reason);
            ck_assert_str_ne(hf_str(answer.body, "field", ""), "");
        } else {
            ck_assert_uint_eq(hf_len(hf_get(answer.body, "schedules")), lists[i].count);
        }
    }
    answer = hf_site_fits(&site, "GET", "/api/schedules?page_size=2", NULL, 200, "schedule-list");
    ck_assert_int_eq(hf_int(answer.body, "schedule_count", 0), 2);
    (void)snprintf(token, sizeof(token), "%s", hf_str(answer.body, "next_page_token", ""));
    (void)snprintf(path, sizeof(path), "/api/schedules?page_size=3&next_page_token=%s", token);
    answer = hf_site_fits(&site, "GET", path, NULL, 200, "schedule-list");
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "schedules")), 3);
    ck_assert_str_eq(hf_str(answer.body, "next_page_token", "(none)"), "(none)");
    (void)snprintf(path, sizeof(path), "/api/schedules?status=active&next_page_token=%s", token);
    refused(&site, "GET", path, NULL, 409, "schedule_page_token_filter_mismatch");
    (void)hf_site_fits(&site, "DELETE", "/api/schedules/s-3", NULL, 204, NULL);
    (void)snprintf(path, sizeof(path), "/api/schedules?next_page_token=%s", token);
    refused(&site, "GET", path, NULL, 409, "stale_schedule_page_token");
    (void)hf_site_fits(&site, "POST", "/api/namespaces", "{\"name\":\"other\"}", 201, "namespace");
    (void)hf_site_fits(&site, "GET", "/api/namespaces", NULL, 200, "namespace-list");
    (void)snprintf(path, sizeof(path), "/api/schedules?namespace=other&next_page_token=%s", token);
    refused(&site, "GET", path, NULL, 403, "schedule_page_token_namespace_mismatch");
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/contract", HF_BOTH(workflows), HF_BOTH(updates_are_looked_up),
                 HF_BOTH(operators), HF_BOTH(histories_are_waited_for), HF_BOTH(schedules),
                 HF_BOTH(schedule_lists))
