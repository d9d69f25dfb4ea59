/* test_presence.c: workers that die without a word. Their connections break, or their heartbeats
   stay away; then others get what they had, and until somebody does they may still report. Real
   HTTP on both databases; lease times stay as they are, so that nothing here waits for a lease. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "holdfast/view.h"
#include "lib/nap.h"
#include "lib/site.h"

enum { QUIET_MS = 300, PATIENCE = 20 };

static hf_value calls_far(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "far", in, .max_attempts = 1);
}

static const hf_workflow_def workflows[] = {{"calls_far", .run = calls_far}, {0}};
static const hf_app app = {.name = "presence", .workflows = workflows};

static void site_open(hf_site *site, hf_engine_kind kind)
{
    hf_site_open(site, kind, &app,
                 (hf_server_options){.worker_quiet_ms = QUIET_MS, .worker_beat_ms = 100});
    (void)hf_site_expect(site, "POST", "/api/workflows",
                         "{\"workflow_type\":\"calls_far\",\"workflow_id\":\"r\",\"input\":[1]}",
                         201);
}

static const char *body_of(char text[256], const char *worker, int seconds)
{
    (void)snprintf(text, 256,
                   "{\"worker_id\":\"%s\",\"task_queue\":\"default\",\"timeout_seconds\":%d}",
                   worker, seconds);
    return text;
}

/* What the worker is handed: the id of the attempt; "": nothing came. */
static void attempt_poll(hf_site *site, const char *worker, int seconds, char task[64],
                         char attempt[64])
{
    char body[256];
    hf_site_answer answer = hf_site_expect(site, "POST", "/api/worker/activity-tasks/poll",
                                           body_of(body, worker, seconds), 200);

    (void)snprintf(task, 64, "%s", hf_str(answer.body, "task.task_id", ""));
    (void)snprintf(attempt, 64, "%s", hf_str(answer.body, "task.activity_attempt_id", ""));
}

static int result_send(hf_site *site, const char *worker, const char *task, const char *attempt)
{
    char path[128];
    char body[256];

    (void)snprintf(path, sizeof(path), "/api/worker/activity-tasks/%s/complete", task);
    (void)snprintf(body, sizeof(body),
                   "{\"lease_owner\":\"%s\",\"activity_attempt_id\":\"%s\",\"result\":7}", worker,
                   attempt);
    return hf_site_ask(site, "POST", path, NULL, body).status;
}

static void number_is(hf_site *site, const char *what, int64_t number)
{
    hf_value detail = NULL;

    ck_assert_int_eq(
        hf_describe(site->engine, hf_json_(site->mem, "{'id': 'r'}"), site->mem, &detail), HF_OK);
    ck_assert_int_eq(hf_int(detail, what, -1), number);
}

/* The worker's lease of a workflow task is in memory, and shown with the run all the same: holder,
   end, and what the run waits for. */
HF_BOTH_ENGINES(n14_a_held_workflow_task_is_shown)
{
    hf_site site;
    char body[256];
    char path[128];
    char until[64];
    hf_site_answer shown;
    hf_value row;

    site_open(&site, kind);
    (void)hf_site_expect(&site, "POST", "/api/workflows",
                         "{\"workflow_type\":\"elsewhere\",\"workflow_id\":\"h\"}", 201);
    shown = hf_site_expect(&site, "POST", "/api/worker/workflow-tasks/poll",
                           body_of(body, "w1", 10), 200);
    ck_assert_str_eq(hf_str(shown.body, "task.workflow_id", ""), "h");
    (void)snprintf(path, sizeof(path), "/api/worker/workflow-tasks/%s/fail",
                   hf_str(shown.body, "task.task_id", ""));
    (void)snprintf(until, sizeof(until), "%s", hf_str(shown.body, "task.lease_expires_at", "-"));
    shown = hf_site_expect(&site, "GET", "/api/workflows/h", NULL, 200);
    row = hf_get(shown.body, "tasks.0");
    ck_assert_str_eq(hf_str(row, "status", ""), "leased");
    ck_assert_str_eq(hf_str(row, "transport_state", ""), "leased");
    ck_assert_str_eq(hf_str(row, "lease_owner", ""), "w1");
    ck_assert_str_eq(hf_str(row, "lease_expires_at", ""), until);
    ck_assert_str_eq(hf_str(shown.body, "liveness_state", ""), "workflow_task_leased");
    shown = hf_site_expect(&site, "GET", "/api/workflows/h/debug", NULL, 200);
    ck_assert_str_eq(hf_str(shown.body, "why.code", ""), "turn_held");
    ck_assert_ptr_nonnull(strstr(hf_str(shown.body, "why.text", ""), "Worker w1 has"));

    (void)hf_site_expect(&site, "POST", path,
                         "{\"lease_owner\":\"w1\",\"workflow_task_attempt\":1,\"failure\":"
                         "{\"message\":\"no\"}}",
                         200);
    shown = hf_site_expect(&site, "GET", "/api/workflows/h", NULL, 200);
    row = hf_get(shown.body, "tasks.0");
    ck_assert_str_eq(hf_str(row, "status", ""), "ready");
    ck_assert_str_eq(hf_str(row, "lease_owner", "none"), "none");
    hf_site_close(&site);
}

/* The worker has an attempt and waits for more when it is killed: its connection breaks, and
   another has the attempt long before the lease ends. It used up none of those that the activity
   may have. */
HF_BOTH_ENGINES(n14_a_killed_worker_is_noticed)
{
    hf_site site;
    char task[64];
    char first[64];
    char second[64];
    char body[256];
    int poll;

    site_open(&site, kind);
    attempt_poll(&site, "w1", PATIENCE, task, first);
    ck_assert_str_ne(first, "");
    poll = hf_site_send(&site, "POST", "/api/worker/activity-tasks/poll",
                        body_of(body, "w1", PATIENCE));
    hf_site_await(&site, "holdfast_http_parked 1");
    (void)close(poll);
    attempt_poll(&site, "w2", PATIENCE, task, second);
    ck_assert_str_ne(second, "");
    ck_assert_str_ne(second, first);
    ck_assert_int_eq(result_send(&site, "w1", task, first), 409);
    ck_assert_int_eq(result_send(&site, "w2", task, second), 200);
    ck_assert_int_eq(hf_result(site.engine, "r", hf_seconds(PATIENCE), NULL, NULL), HF_OK);
    number_is(&site, "activities.0.attempt_count", 2);
    hf_site_close(&site);
}

/* The same for a workflow task. */
HF_BOTH_ENGINES(n14_a_killed_worker_gives_up_workflow_tasks)
{
    hf_site site;
    hf_site_answer answer;
    char body[256];
    int poll;

    site_open(&site, kind);
    (void)hf_site_expect(&site, "POST", "/api/workflows",
                         "{\"workflow_type\":\"elsewhere\",\"workflow_id\":\"e\"}", 201);
    answer = hf_site_expect(&site, "POST", "/api/worker/workflow-tasks/poll",
                            body_of(body, "w1", PATIENCE), 200);
    ck_assert_int_eq(hf_int(answer.body, "task.workflow_task_attempt", 0), 1);
    poll = hf_site_send(&site, "POST", "/api/worker/workflow-tasks/poll",
                        body_of(body, "w1", PATIENCE));
    hf_site_await(&site, "holdfast_http_parked 1");
    (void)close(poll);
    answer = hf_site_expect(&site, "POST", "/api/worker/workflow-tasks/poll",
                            body_of(body, "w2", PATIENCE), 200);
    ck_assert_int_eq(hf_int(answer.body, "task.workflow_task_attempt", 0), 2);
    hf_site_close(&site);
}

/* A connection that breaks is no loss while the worker has another, or comes back at once; and one
   that is closed between requests is the habit of a client. */
HF_BOTH_ENGINES(n14_a_living_worker_is_not_lost)
{
    hf_site site;
    char task[64];
    char first[64];
    char none[64];
    char body[256];
    int polls[2];

    site_open(&site, kind);
    attempt_poll(&site, "w1", PATIENCE, task, first);
    for (int i = 0; i < 2; i++) {
        polls[i] = hf_site_send(&site, "POST", "/api/worker/activity-tasks/poll",
                                body_of(body, "w1", PATIENCE));
        hf_site_await(&site, "holdfast_http_parked %d", i + 1);
    }
    (void)close(polls[0]);
    hf_nap_ms(3 * QUIET_MS);
    attempt_poll(&site, "w2", 0, none, none);
    ck_assert_str_eq(none, "");
    (void)close(polls[1]);
    attempt_poll(&site, "w1", 0, none, none);
    hf_nap_ms(3 * QUIET_MS);
    attempt_poll(&site, "w2", 0, none, none);
    ck_assert_str_eq(none, "");
    ck_assert_int_eq(result_send(&site, "w1", task, first), 200);
    hf_site_close(&site);
}

/* A worker that hangs keeps its connections and misses its heartbeats. */
HF_BOTH_ENGINES(n14_missed_heartbeats_are_a_loss)
{
    hf_site site;
    char task[64];
    char first[64];
    char second[64];
    char body[256];
    hf_site_answer answer;
    int poll;

    site_open(&site, kind);
    (void)hf_site_expect(&site, "POST", "/api/worker/register",
                         "{\"worker_id\":\"w1\",\"task_queue\":\"default\","
                         "\"supported_workflow_types\":[],\"supported_activity_types\":[\"far\"]}",
                         200);
    attempt_poll(&site, "w1", PATIENCE, task, first);
    ck_assert_str_ne(first, "");
    poll = hf_site_send(&site, "POST", "/api/worker/activity-tasks/poll",
                        body_of(body, "w1", PATIENCE));
    hf_site_await(&site, "holdfast_http_parked 1");
    (void)hf_site_expect(&site, "POST", "/api/worker/heartbeat", "{\"worker_id\":\"w1\"}", 200);
    attempt_poll(&site, "w2", PATIENCE, task, second);
    ck_assert_str_ne(second, "");
    ck_assert_str_ne(second, first);
    answer = hf_site_expect(&site, "GET", "/api/workers/w1", NULL, 200);
    ck_assert_str_eq(hf_str(answer.body, "status", ""), "stale");
    (void)close(poll);
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/presence", HF_BOTH(n14_a_held_workflow_task_is_shown),
                 HF_BOTH_SLOW(n14_a_killed_worker_is_noticed, 60),
                 HF_BOTH_SLOW(n14_a_killed_worker_gives_up_workflow_tasks, 60),
                 HF_BOTH_SLOW(n14_a_living_worker_is_not_lost, 60),
                 HF_BOTH_SLOW(n14_missed_heartbeats_are_a_loss, 60))
