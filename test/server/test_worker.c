/* test_worker.c: the worker protocol over real HTTP, on both databases: a workflow and its activity
   in the hands of workers that are nothing but requests. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/site.h"

static const hf_app app = {.name = "nothing-here"};

static void answered(hf_site_answer answer, int status)
{
    ck_assert_msg(answer.status == status, "%d instead of %d: %s", answer.status, status,
                  answer.text);
    ck_assert_msg(strcmp(hf_str(answer.body, "protocol_version", ""), "1.20") == 0, "%s",
                  answer.text);
    ck_assert_msg(hf_get(answer.body, "server_capabilities") != NULL, "%s", answer.text);
}

static void refused(hf_site_answer answer, int status, const char *reason)
{
    answered(answer, status);
    ck_assert_msg(strcmp(hf_str(answer.body, "reason", ""), reason) == 0, "%s", answer.text);
}

static void remote_start(hf_site *site, const char *id)
{
    char body[256];

    (void)snprintf(body, sizeof(body),
                   "{\"workflow_type\":\"remote\",\"workflow_id\":\"%s\",\"task_queue\":\"far\","
                   "\"input\":[5]}",
                   id);
    ck_assert_int_eq(hf_site_ask(site, "POST", "/api/workflows", NULL, body).status, 201);
}

/* A task in the hands of a worker. */
typedef struct task {
    char id[64];
    char attempt_id[64];
    int64_t attempt;
} task;

static task workflow_poll(hf_site *site, hf_site_answer *out_answer)
{
    hf_site_answer answer =
        hf_site_ask(site, "POST", "/api/worker/workflow-tasks/poll", NULL,
                    "{\"worker_id\":\"w1\",\"task_queue\":\"far\",\"timeout_seconds\":20}");
    task got = {.attempt = hf_int(answer.body, "task.workflow_task_attempt", 0)};

    answered(answer, 200);
    (void)snprintf(got.id, sizeof(got.id), "%s", hf_str(answer.body, "task.task_id", ""));
    ck_assert_msg(got.id[0] != '\0', "%s", answer.text);
    *out_answer = answer;
    return got;
}

static hf_site_answer workflow_report(hf_site *site, const task *t, const char *owner,
                                      const char *verb, const char *more)
{
    char path[128];
    char body[1024];

    (void)snprintf(path, sizeof(path), "/api/worker/workflow-tasks/%s/%s", t->id, verb);
    (void)snprintf(body, sizeof(body), "{\"lease_owner\":\"%s\",\"workflow_task_attempt\":%lld%s}",
                   owner, (long long)t->attempt, more);
    return hf_site_ask(site, "POST", path, NULL, body);
}

static hf_site_answer activity_report(hf_site *site, const task *t, const char *verb,
                                      const char *more)
{
    char path[128];
    char body[1024];

    (void)snprintf(path, sizeof(path), "/api/worker/activity-tasks/%s/%s", t->id, verb);
    (void)snprintf(body, sizeof(body), "{\"lease_owner\":\"a1\",\"activity_attempt_id\":\"%s\"%s}",
                   t->attempt_id, more);
    return hf_site_ask(site, "POST", path, NULL, body);
}

static task activity_poll(hf_site *site)
{
    hf_site_answer answer =
        hf_site_ask(site, "POST", "/api/worker/activity-tasks/poll", NULL,
                    "{\"worker_id\":\"a1\",\"task_queue\":\"far\",\"timeout_seconds\":20}");
    task got = {.attempt = hf_int(answer.body, "task.attempt_number", 0)};

    answered(answer, 200);
    ck_assert_str_eq(hf_str(answer.body, "task.activity_type", ""), "double");
    ck_assert_str_eq(hf_str(answer.body, "task.arguments.codec", ""), "avro");
    (void)snprintf(got.id, sizeof(got.id), "%s", hf_str(answer.body, "task.task_id", ""));
    (void)snprintf(got.attempt_id, sizeof(got.attempt_id), "%s",
                   hf_str(answer.body, "task.activity_attempt_id", ""));
    return got;
}

/* A workflow of another language from its start to its end: tasks with history, an activity with a
   heartbeat and a retry, and a result. */
HF_BOTH_ENGINES(a_remote_life)
{
    hf_site site;
    hf_site_answer answer;
    task t;
    hf_value out = NULL;
    const hf_error *failure = NULL;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    answered(
        hf_site_ask(&site, "POST", "/api/worker/register", NULL,
                    "{\"worker_id\":\"w1\",\"task_queue\":\"far\",\"supported_workflow_types\":"
                    "[\"remote\"]}"),
        200);
    answered(hf_site_ask(&site, "POST", "/api/worker/heartbeat", NULL, "{\"worker_id\":\"w1\"}"),
             200);
    remote_start(&site, "r-1");
    t = workflow_poll(&site, &answer);
    ck_assert_str_eq(hf_str(answer.body, "task.workflow_id", ""), "r-1");
    ck_assert_str_eq(hf_str(answer.body, "task.workflow_type", ""), "remote");
    ck_assert_int_eq(hf_int(answer.body, "task.history_events.0.sequence", 0), 1);
    ck_assert_ptr_nonnull(hf_get(answer.body, "task.arguments"));
    answered(workflow_report(&site, &t, "w1", "heartbeat", ""), 200);
    answered(workflow_report(&site, &t, "w1", "complete",
                             ",\"commands\":[{\"type\":\"schedule_activity\",\"activity_type\":"
                             "\"double\",\"queue\":\"far\",\"arguments\":{\"codec\":\"json\","
                             "\"blob\":\"[5]\"},\"retry_policy\":{\"max_attempts\":3,"
                             "\"backoff_seconds\":[0]}}]"),
             200);
    t = activity_poll(&site);
    ck_assert_int_eq(t.attempt, 1);
    answered(activity_report(&site, &t, "heartbeat", ",\"details\":{\"done\":1}"), 200);
    answered(activity_report(&site, &t, "fail", ",\"failure\":{\"message\":\"not yet\"}"), 200);
    t = activity_poll(&site);
    ck_assert_int_eq(t.attempt, 2);
    answered(activity_report(&site, &t, "complete", ",\"result\":10"), 200);
    t = workflow_poll(&site, &answer);
    answered(workflow_report(&site, &t, "w1", "complete",
                             ",\"commands\":[{\"type\":\"complete_workflow\",\"result\":10}]"),
             200);
    ck_assert_int_eq(hf_result(site.engine, "r-1", 20000, &out, &failure), HF_OK);
    ck_assert_int_eq(hf_int(out, "", 0), 10);
    answered(hf_site_ask(&site, "DELETE", "/api/worker/registrations/w1", NULL, NULL), 200);
    hf_site_close(&site);
}

/* A worker is seen when all that it declares is known, and not before: whoever sees it may start
   its types. One whose declaration is refused is not there. */
HF_BOTH_ENGINES(a_worker_is_seen_with_its_contracts)
{
    hf_site site;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/worker/register", NULL,
                                 "{\"worker_id\":\"w1\",\"workflow_command_contracts\":{\"\":{}}}")
                         .status,
                     422);
    ck_assert_int_eq(
        hf_site_ask(&site, "POST", "/api/worker/heartbeat", NULL, "{\"worker_id\":\"w1\"}").status,
        404);
    hf_site_close(&site);
}

/* What a worker holds when it goes, a task or an attempt, another has at once; the attempt counts
   as lost, and a report on it is refused. */
HF_BOTH_ENGINES(what_a_worker_leaves_goes_to_others)
{
    hf_site site;
    hf_site_answer answer;
    task t;
    task again;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    answered(hf_site_ask(&site, "POST", "/api/worker/register", NULL,
                         "{\"worker_id\":\"w1\",\"task_queue\":\"far\","
                         "\"supported_workflow_types\":[\"remote\"]}"),
             200);
    answered(hf_site_ask(&site, "POST", "/api/worker/register", NULL,
                         "{\"worker_id\":\"a1\",\"task_queue\":\"far\","
                         "\"supported_activity_types\":[\"double\"]}"),
             200);
    remote_start(&site, "r-1");
    (void)workflow_poll(&site, &answer);
    answered(hf_site_ask(&site, "DELETE", "/api/worker/registrations/w1", NULL, NULL), 200);
    t = workflow_poll(&site, &answer);
    answered(workflow_report(&site, &t, "w1", "complete",
                             ",\"commands\":[{\"type\":\"schedule_activity\",\"activity_type\":"
                             "\"double\",\"queue\":\"far\",\"arguments\":{\"codec\":\"json\","
                             "\"blob\":\"[5]\"},\"retry_policy\":{\"max_attempts\":1}}]"),
             200);
    t = activity_poll(&site);
    answered(hf_site_ask(&site, "DELETE", "/api/worker/registrations/a1", NULL, NULL), 200);
    again = activity_poll(&site);
    ck_assert_str_eq(again.id, t.id);
    ck_assert_str_ne(again.attempt_id, t.attempt_id);
    ck_assert_int_eq(activity_report(&site, &t, "complete", ",\"result\":1").status, 409);
    answered(activity_report(&site, &again, "complete", ",\"result\":2"), 200);
    t = workflow_poll(&site, &answer);
    answered(workflow_report(&site, &t, "w1", "complete",
                             ",\"commands\":[{\"type\":\"complete_workflow\",\"result\":2}]"),
             200);
    hf_site_close(&site);
}

/* Reports on what is not held, or no longer, are refused with a reason and change nothing. */
HF_BOTH_ENGINES(b198_reports_are_fenced)
{
    hf_site site;
    hf_site_answer answer;
    task t;
    task none = {.id = "01ARZ3NDEKTSV4RRFFQ69G5FAV",
                 .attempt_id = "01ARZ3NDEKTSV4RRFFQ69G5FAV",
                 .attempt = 1};

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    remote_start(&site, "r-1");
    t = workflow_poll(&site, &answer);
    answer = workflow_report(&site, &t, "somebody", "complete",
                             ",\"commands\":[{\"type\":\"complete_workflow\"}]");
    refused(answer, 409, "lease_owner_mismatch");
    refused(workflow_report(&site, &t, "somebody", "heartbeat", ""), 409, "lease_owner_mismatch");
    refused(workflow_report(&site, &none, "w1", "complete",
                            ",\"commands\":[{\"type\":\"complete_workflow\"}]"),
            409, "task_not_leased");
    refused(activity_report(&site, &none, "complete", ",\"result\":1"), 409, "attempt_closed");
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/workflows/r-1/terminate", NULL, NULL).status,
                     202);
    answer = workflow_report(&site, &t, "w1", "complete",
                             ",\"commands\":[{\"type\":\"complete_workflow\"}]");
    refused(answer, 409, "run_closed");
    ck_assert_str_eq(hf_str(answer.body, "stop_reason", ""), "run_terminated");
    ck_assert(hf_bool(answer.body, "cancel_requested", false));
    ck_assert(!hf_bool(answer.body, "can_continue", true));
    hf_site_close(&site);
}

/* A batch with a mistake is refused as a whole, and the task stays the worker's. */
HF_BOTH_ENGINES(b199_batches_are_checked)
{
    static const char *const bad[] = {
        ",\"commands\":[]",
        ",\"commands\":[{\"type\":\"complete_workflow\"},{\"type\":\"complete_workflow\"}]",
        ",\"commands\":[{\"type\":\"start_timer\",\"delay_seconds\":-1}]",
        ",\"commands\":[{\"type\":\"start_timer\",\"delay_seconds\":1,\"retry_policy\":{}}]",
        ",\"commands\":[{\"type\":\"start_service_operation\"}]"};
    hf_site site;
    hf_site_answer answer;
    task t;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    remote_start(&site, "r-1");
    t = workflow_poll(&site, &answer);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        answer = workflow_report(&site, &t, "w1", "complete", bad[i]);
        refused(answer, 422, "invalid_commands");
        ck_assert_ptr_nonnull(hf_get(answer.body, "validation_errors"));
    }
    answered(workflow_report(&site, &t, "w1", "complete",
                             ",\"commands\":[{\"type\":\"complete_workflow\"}]"),
             200);
    hf_site_close(&site);
}

/* A member of a group of mixed calls. */
static const char *member(char *out, size_t size, const char *type, const char *rest, int base,
                          int count, int index)
{
    (void)snprintf(out, size,
                   "{\"type\":\"%s\",%s,\"parallel_group_path\":[{\"parallel_group_id\":"
                   "\"parallel-calls:%d:%d\",\"parallel_group_kind\":\"mixed\","
                   "\"parallel_group_base_sequence\":%d,\"parallel_group_size\":%d,"
                   "\"parallel_group_index\":%d}]}",
                   type, rest, base, count, base, count, index);
    return out;
}

/* Opens [activity, ..., timer] at step `base`, lets the timer fire first, and completes the
   activities in the reverse order: the worker has the run back with the last of them, and what
   ends a member says which it is. */
static void group_live(hf_site *site, int base, int activities)
{
    static const char one[] = "\"activity_type\":\"double\",\"queue\":\"far\",\"arguments\":["
                              "5]";
    char text[4][400];
    char commands[2048] = ",\"commands\":[";
    hf_site_answer answer;
    task tasks[3];
    task t = workflow_poll(site, &answer);
    int members = 0;
    hf_value events;

    for (int i = 0; i <= activities; i++)
        (void)snprintf(commands + strlen(commands), sizeof(commands) - strlen(commands), "%s%s",
                       i ? "," : "",
                       i < activities ? member(text[i], sizeof(text[i]), "schedule_activity", one,
                                               base, activities + 1, i)
                                      : member(text[i], sizeof(text[i]), "start_timer",
                                               "\"delay_seconds\":0", base, activities + 1, i));
    (void)snprintf(commands + strlen(commands), sizeof(commands) - strlen(commands), "]");
    answered(workflow_report(site, &t, "w1", "complete", commands), 200);
    for (int i = 0; i < activities; i++)
        tasks[i] = activity_poll(site);
    for (int i = activities; i-- > 0;) {
        answer = hf_site_ask(site, "POST", "/api/worker/workflow-tasks/poll", NULL,
                             "{\"worker_id\":\"w1\",\"task_queue\":\"far\",\"timeout_seconds\":0}");
        ck_assert_msg(!hf_str(answer.body, "task.task_id", NULL), "%s", answer.text);
        answered(activity_report(site, &tasks[i], "complete", ",\"result\":10"), 200);
    }
    t = workflow_poll(site, &answer);
    events = hf_get(answer.body, "task.history_events");
    for (size_t i = 0; i < hf_len(events); i++) {
        hf_value payload = hf_get(hf_at(events, i), "payload");
        const char *type = hf_str(hf_at(events, i), "event_type", "");

        if (strncmp(type, "Timer", 5) != 0 && strcmp(type, "ActivityCompleted") != 0)
            continue;
        if (hf_int(payload, "parallel_group_base_sequence", 0) != base)
            continue;
        members++;
        ck_assert_msg(hf_int(payload, "sequence", 0) ==
                          base + hf_int(payload, "parallel_group_path.0.parallel_group_index", -1),
                      "%s", hf_text(site->mem, payload));
    }
    ck_assert_msg(members == activities + 2, "%s", answer.text);
    answered(workflow_report(site, &t, "w1", "complete",
                             ",\"commands\":[{\"type\":\"record_side_effect\",\"result\":1},"
                             "{\"type\":\"start_timer\",\"delay_seconds\":0}]"),
             200);
}

/* A timer is a member of a group like any other: its events say so, and the worker has the run back
   when the last member ended. What is no group is refused, and the task stays the worker's. */
HF_BOTH_ENGINES(n48_timers_in_groups)
{
    hf_site site;
    hf_site_answer answer;
    hf_value out = NULL;
    const hf_error *failure = NULL;
    char text[400];
    char body[500];
    task t;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    remote_start(&site, "r-1");
    group_live(&site, 1, 1); /* steps 1 and 2, then 3 and 4 */
    group_live(&site, 5, 2);
    t = workflow_poll(&site, &answer);
    (void)snprintf(body, sizeof(body), ",\"commands\":[%s]",
                   member(text, sizeof(text), "start_timer", "\"delay_seconds\":1", 10, 2, 0));
    refused(workflow_report(&site, &t, "w1", "complete", body), 422, "invalid_commands");
    answered(workflow_report(&site, &t, "w1", "complete",
                             ",\"unheard_of\":1,\"commands\":[{\"type\":\"continue_as_new\","
                             "\"queue\":\"far\",\"arguments\":[6]}]"),
             200);
    t = workflow_poll(&site, &answer);
    answered(workflow_report(&site, &t, "w1", "complete",
                             ",\"commands\":[{\"type\":\"complete_workflow\",\"result\":1}]"),
             200);
    ck_assert_int_eq(hf_result(site.engine, "r-1", 20000, &out, &failure), HF_OK);
    hf_site_close(&site);
}

/* A run goes on in the queue that it names. */
HF_BOTH_ENGINES(n48_the_next_run_has_its_queue)
{
    hf_site site;
    hf_site_answer answer;
    task t;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    remote_start(&site, "r-1");
    t = workflow_poll(&site, &answer);
    answered(
        workflow_report(&site, &t, "w1", "complete",
                        ",\"commands\":[{\"type\":\"continue_as_new\",\"queue\":\"farther\"}]"),
        200);
    answer =
        hf_site_ask(&site, "POST", "/api/worker/workflow-tasks/poll", NULL,
                    "{\"worker_id\":\"w1\",\"task_queue\":\"farther\",\"timeout_seconds\":20}");
    answered(answer, 200);
    ck_assert_msg(hf_str(answer.body, "task.task_id", NULL) != NULL, "%s", answer.text);
    answer = hf_site_ask(&site, "GET", "/api/workflows/r-1", NULL, NULL);
    ck_assert_msg(strcmp(hf_str(answer.body, "task_queue", ""), "farther") == 0, "%s", answer.text);
    hf_site_close(&site);
}

/* A poll for another queue or type finds nothing, a probe does not wait, and a poll says who asks.
 */
HF_BOTH_ENGINES(b200_polls_are_filtered)
{
    hf_site site;
    hf_site_answer answer;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    remote_start(&site, "r-1");
    answer = hf_site_ask(&site, "POST", "/api/worker/workflow-tasks/poll", NULL,
                         "{\"worker_id\":\"w1\",\"task_queue\":\"near\",\"timeout_seconds\":0}");
    answered(answer, 200);
    ck_assert_str_eq(hf_str(answer.body, "poll_status", ""), "timeout");
    answer = hf_site_ask(&site, "POST", "/api/worker/activity-tasks/poll", NULL,
                         "{\"worker_id\":\"w1\",\"task_queue\":\"far\",\"timeout_seconds\":0}");
    answered(answer, 200);
    refused(hf_site_ask(&site, "POST", "/api/worker/workflow-tasks/poll", NULL, "{}"), 422,
            "validation_failed");
    answered(
        hf_site_ask(&site, "POST", "/api/worker/register", NULL,
                    "{\"worker_id\":\"w2\",\"task_queue\":\"far\",\"supported_workflow_types\":"
                    "[\"other\"]}"),
        200);
    answer = hf_site_ask(&site, "POST", "/api/worker/workflow-tasks/poll", NULL,
                         "{\"worker_id\":\"w2\",\"task_queue\":\"far\",\"timeout_seconds\":0}");
    answered(answer, 200);
    ck_assert_str_eq(hf_str(answer.body, "poll_status", ""), "timeout");
    (void)workflow_poll(&site, &answer);
    hf_site_close(&site);
}

/* A worker that hung up while it waited is handed nothing: the next one gets the first attempt. */
HF_BOTH_ENGINES(the_dead_get_nothing)
{
    static const char poll[] =
        "POST /api/worker/workflow-tasks/poll HTTP/1.1\r\nHost: localhost\r\n"
        "X-Durable-Workflow-Protocol-Version: 1.20\r\nContent-Type: application/json\r\n"
        "Content-Length: 37\r\n\r\n{\"worker_id\":\"w0\",\"task_queue\":\"far\"}";
    hf_site site;
    hf_site_answer answer;
    task t;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    for (int i = 0; i < 8; i++) {
        int fd = hf_wire_connect(hf_server_port(site.server));

        ck_assert(hf_wire_send(fd, hf_slice_from(poll, sizeof(poll) - 1)));
        hf_site_await(&site, "holdfast_http_parked 1");
        (void)close(fd);
        hf_site_await(&site, "holdfast_http_connections 1"); /* of who asks */
    }
    remote_start(&site, "r-1");
    t = workflow_poll(&site, &answer);
    ck_assert_int_eq(t.attempt, 1);
    ck_assert_str_eq(hf_str(answer.body, "task.lease_owner", ""), "w1");
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/worker", HF_BOTH(a_remote_life),
                 HF_BOTH(a_worker_is_seen_with_its_contracts),
                 HF_BOTH(what_a_worker_leaves_goes_to_others), HF_BOTH(b198_reports_are_fenced),
                 HF_BOTH(b199_batches_are_checked), HF_BOTH(n48_timers_in_groups),
                 HF_BOTH(n48_the_next_run_has_its_queue), HF_BOTH(b200_polls_are_filtered),
                 HF_BOTH(the_dead_get_nothing))
