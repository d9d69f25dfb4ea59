/* test_today.c: what clients of worker protocol 1.14 to 1.20 demand beside what older ones did, as
   requests over real HTTP; the clients themselves are in test_sdk.py and test_rust.py. */
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "lib/site.h"

static const hf_app app = {.name = "nothing-here"};

static void registered(hf_site *site, const char *more)
{
    char body[512];

    (void)snprintf(
        body, sizeof(body),
        "{\"worker_id\":\"w1\",\"task_queue\":\"far\",\"supported_workflow_types\":["
        "\"remote\"],\"workflow_command_contracts\":{\"remote\":{\"signals\":[\"go\"]}}%s}",
        more);
    (void)hf_site_expect(site, "POST", "/api/worker/register", body, 200);
}

static void started(hf_site *site)
{
    (void)hf_site_expect(site, "POST", "/api/workflows",
                         "{\"workflow_type\":\"remote\",\"workflow_id\":\"r-1\",\"task_queue\":"
                         "\"far\",\"input\":[]}",
                         201);
}

/* A task in a worker's hands; the answer it came with lives for a few requests. */
typedef struct handed {
    hf_value task;
    char id[64];
    int64_t attempt;
} handed;

static handed task_poll(hf_site *site, const char *more)
{
    char body[256];
    handed got;

    (void)snprintf(body, sizeof(body),
                   "{\"worker_id\":\"w1\",\"task_queue\":\"far\",\"timeout_seconds\":20%s}", more);
    got.task = hf_get(
        hf_site_expect(site, "POST", "/api/worker/workflow-tasks/poll", body, 200).body, "task");
    ck_assert_int_eq(hf_value_kind_of(got.task), HF_VALUE_OBJECT);
    got.attempt = hf_int(got.task, "workflow_task_attempt", 0);
    (void)snprintf(got.id, sizeof(got.id), "%s", hf_str(got.task, "task_id", ""));
    return got;
}

static hf_site_answer report(hf_site *site, handed task, const char *verb, const char *more,
                             int status)
{
    char path[128];
    char body[512];

    (void)snprintf(path, sizeof(path), "/api/worker/workflow-tasks/%s/%s", task.id, verb);
    (void)snprintf(body, sizeof(body), "{\"lease_owner\":\"w1\",\"workflow_task_attempt\":%lld%s}",
                   (long long)task.attempt, more);
    return hf_site_expect(site, "POST", path, body, status);
}

static hf_value event_of(hf_site *site, const char *type)
{
    hf_site_answer run = hf_site_expect(site, "GET", "/api/workflows/r-1", NULL, 200);
    char path[128];
    hf_value events;

    (void)snprintf(path, sizeof(path), "/api/workflows/r-1/runs/%s/history",
                   hf_str(run.body, "run_id", ""));
    events = hf_get(hf_site_expect(site, "GET", path, NULL, 200).body, "events");
    for (size_t i = hf_len(events); i-- > 0;)
        if (strcmp(hf_str(hf_at(events, i), "type", ""), type) == 0)
            return hf_get(hf_at(events, i), "payload");
    return NULL;
}

#define WAITS                                                                                      \
    ",\"failure\":{\"type\":\"WorkflowTaskWaitingForHistory\",\"message\":\"nothing to do\"}"

/* A worker that has nothing to decide says so as if it were a failure. It is none: what the task
   told it of is applied, with a value, and the next task comes when there is more. */
HF_BOTH_ENGINES(waiting_for_history_is_no_failure)
{
    hf_site site;
    handed task;
    hf_value said;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    registered(&site, "");
    started(&site);
    (void)report(&site, task_poll(&site, ""), "complete",
                 ",\"commands\":[{\"type\":\"schedule_activity\",\"activity_type\":\"a\"}]", 200);
    (void)hf_site_expect(&site, "POST", "/api/workflows/r-1/signal/go", "{\"input\":[7]}", 202);
    task = task_poll(&site, "");
    said = report(&site, task, "fail", WAITS, 200).body;
    ck_assert_str_eq(hf_str(said, "outcome", ""), "waiting_for_history");
    ck_assert(hf_bool(said, "recorded", false));
    ck_assert_ptr_nonnull(event_of(&site, "SignalApplied"));
    ck_assert_str_eq(hf_str(event_of(&site, "SignalApplied"), "value.codec", ""), "avro");
    said = hf_site_expect(&site, "GET", "/console/api/runs/r-1", NULL, 200).body;
    ck_assert_str_ne(hf_str(said, "why.code", ""), "workflow_task_failing");
    (void)hf_site_expect(&site, "POST", "/api/workflows/r-1/signal/go", "{\"input\":[]}", 202);
    task = task_poll(&site, "");
    ck_assert_int_eq(task.attempt, 3);
    ck_assert_str_eq(hf_str(report(&site, task, "fail", WAITS, 200).body, "outcome", ""),
                     "waiting_for_history");
    ck_assert_ptr_nonnull(hf_get(event_of(&site, "SignalApplied"), "value"));
    ck_assert(hf_bool(report(&site, task, "fail", WAITS, 200).body, "repeated", false));
    hf_site_close(&site);
}

/* The answers that clients read member by member. */
HF_BOTH_ENGINES(answers_are_whole)
{
    hf_site site;
    hf_value said;
    handed task;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    said = hf_site_expect(&site, "POST", "/api/worker/register",
                          "{\"worker_id\":\"w1\",\"task_queue\":\"far\",\"build_id\":\"b1\","
                          "\"supported_workflow_types\":[\"remote\"],\"capabilities\":["
                          "\"sticky_execution\",\"worker_sessions\"],\"capability_manifest\":{"
                          "\"sticky_execution\":{\"supported\":true},\"worker_sessions\":{"
                          "\"supported\":true}}}",
                          200)
               .body;
    ck_assert_str_eq(hf_str(said, "namespace", ""), "default");
    ck_assert_str_eq(hf_str(said, "task_queue", ""), "far");
    ck_assert_str_eq(hf_str(said, "build_id", ""), "b1");
    ck_assert_uint_eq(hf_len(hf_get(said, "capabilities")), 2);
    ck_assert(hf_bool(said, "capability_manifest.sticky_execution.supported", false));
    ck_assert(!hf_bool(said, "capability_manifest.worker_sessions.supported", true));
    started(&site);
    task = task_poll(&site, ",\"history_page_size\":1");
    ck_assert_str_eq(hf_str(task.task, "sticky_replay_mode", ""), "cold_replay");
    ck_assert_str_eq(hf_str(task.task, "next_history_page_token", ""), "MQ==");
    said = report(&site, task, "heartbeat", "", 200).body;
    ck_assert_str_eq(hf_str(said, "task_status", ""), "leased");
    ck_assert_str_eq(hf_str(said, "run_status", ""), "running");
    ck_assert_uint_eq(strlen(hf_str(said, "lease_expires_at", "")), 27);
    ck_assert_int_eq(hf_value_kind_of(hf_get(said, "reason")), HF_VALUE_NULL);
    said = report(&site, task, "history", ",\"next_history_page_token\":\"MQ==\"", 200).body;
    ck_assert_int_eq(hf_int(said, "history_events.0.sequence", 0), 2);
    said = report(&site, task, "history", ",\"next_history_page_token\":\"1\"", 200).body;
    ck_assert_int_eq(hf_int(said, "history_events.0.sequence", 0), 2);
    for (int i = 0; i < 4; i++) {
        static const char *const bad[] = {"x", "LTE=", "MQ=", ""};
        char more[64];

        (void)snprintf(more, sizeof(more), ",\"next_history_page_token\":\"%s\"", bad[i]);
        said = report(&site, task, "history", more, 400).body;
        ck_assert_str_eq(hf_str(said, "reason", ""), "invalid_page_token");
    }
    hf_site_close(&site);
}

/* Only a worker that keeps runs is told that it should know one. */
HF_BOTH_ENGINES(stickiness_is_for_those_who_keep_runs)
{
    hf_site site;
    handed task;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    registered(&site, "");
    started(&site);
    task = task_poll(&site, "");
    ck_assert_ptr_null(hf_get(task.task, "sticky_replay_mode"));
    (void)report(&site, task, "complete",
                 ",\"commands\":[{\"type\":\"start_timer\",\"delay_seconds\":0}]", 200);
    ck_assert_ptr_null(hf_get(task_poll(&site, "").task, "sticky_replay_mode"));
    hf_site_close(&site);
}

/* Code that names each of its waits is told the name with all that becomes of it. */
HF_BOTH_ENGINES(conditions_keep_their_names)
{
    static const char wait[] = ",\"commands\":[{\"type\":\"open_condition_wait\",\"condition_key\":"
                               "\"k\",\"condition_wait_occurrence_id\":\"wait-%d\","
                               "\"timeout_seconds\":300}]";
    hf_site site;
    char more[256];

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    registered(&site, "");
    started(&site);
    for (int turn = 0; turn < 3; turn++) { /* the same again, then the next one with the same key */
        (void)snprintf(more, sizeof(more), wait, turn / 2);
        (void)report(&site, task_poll(&site, ""), "complete", more, 200);
        (void)hf_site_expect(&site, "POST", "/api/workflows/r-1/signal/go", "{}", 202);
    }
    ck_assert_int_eq(hf_test_count(site.engine, "r-1", "ConditionWaitOpened"), 2);
    ck_assert_str_eq(
        hf_str(event_of(&site, "ConditionWaitSatisfied"), "condition_wait_occurrence_id", ""),
        "wait-0");
    ck_assert_str_eq(hf_str(event_of(&site, "TimerCancelled"), "condition_wait_occurrence_id", ""),
                     "wait-0");
    ck_assert_str_eq(hf_str(event_of(&site, "TimerScheduled"), "condition_wait_occurrence_id", ""),
                     "wait-1");
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/today", HF_BOTH(waiting_for_history_is_no_failure),
                 HF_BOTH(answers_are_whole), HF_BOTH(stickiness_is_for_those_who_keep_runs),
                 HF_BOTH(conditions_keep_their_names))
