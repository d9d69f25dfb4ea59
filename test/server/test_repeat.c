/* test_repeat.c: answers that were lost and are asked for again, tasks that come with an answer,
   workers that know a run already, and histories in pages; over real HTTP on both databases. */
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "holdfast/worker.h"
#include "lib/site.h"
#include "server/registry.h"

static const hf_app app = {.name = "nothing-here"};

static void site_begin(hf_site *site, hf_engine_kind kind)
{
    hf_site_open(site, kind, &app, (hf_server_options){0});
    ck_assert_int_eq(hf_site_ask(site, "POST", "/api/workflows", NULL,
                                 "{\"workflow_type\":\"remote\",\"workflow_id\":\"r-1\","
                                 "\"task_queue\":\"far\",\"input\":[5]}")
                         .status,
                     201);
}

typedef struct task {
    char id[64];
    char attempt_id[64];
    int64_t attempt;
    char sticky[32];
    int64_t known;
} task;

static task task_of(hf_value body, const char *under)
{
    hf_value found = hf_get(body, under);
    task t = {.attempt = hf_int(found, "workflow_task_attempt", 0),
              .known = hf_int(found, "known_history_sequence", -1)};

    (void)snprintf(t.id, sizeof(t.id), "%s", hf_str(found, "task_id", ""));
    (void)snprintf(t.attempt_id, sizeof(t.attempt_id), "%s",
                   hf_str(found, "activity_attempt_id", ""));
    (void)snprintf(t.sticky, sizeof(t.sticky), "%s", hf_str(found, "sticky_replay_mode", ""));
    return t;
}

static task poll(hf_site *site, const char *path, const char *worker, const char *more)
{
    hf_site_answer answer;
    char body[256];

    (void)snprintf(body, sizeof(body),
                   "{\"worker_id\":\"%s\",\"task_queue\":\"far\",\"timeout_seconds\":10%s}", worker,
                   more);
    answer = hf_site_ask(site, "POST", path, NULL, body);
    ck_assert_msg(answer.status == 200, "%s", answer.text);
    return task_of(answer.body, "task");
}

static hf_site_answer complete(hf_site *site, const task *t, const char *more)
{
    char path[128];
    char body[1024];

    (void)snprintf(path, sizeof(path), "/api/worker/workflow-tasks/%s/complete", t->id);
    (void)snprintf(body, sizeof(body), "{\"lease_owner\":\"w1\",\"workflow_task_attempt\":%lld%s}",
                   (long long)t->attempt, more);
    return hf_site_ask(site, "POST", path, NULL, body);
}

/* The same poll gets the same task, as long as the worker has it; another poll does not. A report
   that comes twice is answered twice the same, and recorded once. */
HF_BOTH_ENGINES(b200_lost_answers_come_again)
{
    static const char polls[] = "/api/worker/workflow-tasks/poll";
    static const char id[] = ",\"poll_request_id\":\"p-1\"";
    static const char timer[] = ",\"commands\":[{\"type\":\"open_signal_wait\",\"signal_name\":"
                                "\"go\"}]";
    hf_site site;
    hf_site_answer answer;
    task first;
    task again;

    site_begin(&site, kind);
    first = poll(&site, polls, "w1", id);
    ck_assert_str_ne(first.id, "");
    again = poll(&site, polls, "w1", id);
    ck_assert_str_eq(again.id, first.id);
    ck_assert_int_eq(again.attempt, first.attempt);
    answer = hf_site_ask(&site, "POST", polls, NULL,
                         "{\"worker_id\":\"w2\",\"task_queue\":\"far\",\"timeout_seconds\":0,"
                         "\"poll_request_id\":\"p-1\"}");
    ck_assert_str_eq(hf_str(answer.body, "poll_status", ""), "timeout");
    ck_assert_int_eq(complete(&site, &first, timer).status, 200);
    answer = complete(&site, &first, timer);
    ck_assert_msg(answer.status == 200, "%s", answer.text);
    ck_assert(hf_bool(answer.body, "repeated", false));
    ck_assert_str_eq(hf_str(answer.body, "outcome", ""), "completed");
    answer = complete(&site, &first, ",\"commands\":[{\"type\":\"complete_workflow\"}]");
    ck_assert_int_eq(answer.status, 409); /* another answer to what is answered */
    answer = hf_site_ask(&site, "POST", polls, NULL,
                         "{\"worker_id\":\"w1\",\"task_queue\":\"far\",\"timeout_seconds\":0,"
                         "\"poll_request_id\":\"p-1\"}");
    ck_assert_str_eq(hf_str(answer.body, "poll_status", ""), "empty"); /* it has it no more */
    hf_site_close(&site);
}

/* Who asks for it gets the next task with the answer: its activity, then the run again. Who does
   not gets none. */
HF_BOTH_ENGINES(completions_carry_the_next_task)
{
    hf_site site;
    hf_site_answer answer;
    task t;
    char path[128];
    char body[256];

    site_begin(&site, kind);
    t = poll(&site, "/api/worker/workflow-tasks/poll", "w1", "");
    answer = complete(&site, &t,
                      ",\"return_next_task\":true,\"task_queue\":\"far\",\"commands\":[{\"type\":"
                      "\"schedule_activity\",\"activity_type\":\"a\",\"queue\":\"far\"}]");
    ck_assert_msg(answer.status == 200, "%s", answer.text);
    ck_assert_msg(strcmp(hf_str(answer.body, "next_task.task_kind", ""), "activity") == 0, "%s",
                  answer.text);
    ck_assert_str_eq(hf_str(answer.body, "next_task_id", ""),
                     hf_str(answer.body, "next_task.task_id", "-"));
    t = task_of(answer.body, "next_task");
    (void)snprintf(path, sizeof(path), "/api/worker/activity-tasks/%s/complete", t.id);
    (void)snprintf(body, sizeof(body),
                   "{\"lease_owner\":\"w1\",\"activity_attempt_id\":\"%s\",\"result\":1,"
                   "\"return_next_task\":true,\"task_queue\":\"far\"}",
                   t.attempt_id);
    answer = hf_site_ask(&site, "POST", path, NULL, body);
    ck_assert_msg(strcmp(hf_str(answer.body, "next_task.task_kind", ""), "workflow") == 0, "%s",
                  answer.text);
    ck_assert_int_gt((long)hf_len(hf_get(answer.body, "next_task.history_events")), 3);
    t = task_of(answer.body, "next_task");
    answer = complete(&site, &t, ",\"commands\":[{\"type\":\"complete_workflow\"}]");
    ck_assert_int_eq(answer.status, 200);
    ck_assert_int_eq(hf_value_kind_of(hf_get(answer.body, "next_task")), HF_VALUE_NULL);
    hf_site_close(&site);
}

/* Who does not ask for it gets none, although one is ready: that is for a poll. */
HF_BOTH_ENGINES(completions_carry_nothing_unasked)
{
    hf_site site;
    hf_site_answer answer;
    task t;

    site_begin(&site, kind);
    t = poll(&site, "/api/worker/workflow-tasks/poll", "w1", "");
    answer = complete(&site, &t,
                      ",\"task_queue\":\"far\",\"commands\":[{\"type\":\"schedule_activity\","
                      "\"activity_type\":\"a\",\"queue\":\"far\"}]");
    ck_assert_msg(answer.status == 200, "%s", answer.text);
    ck_assert_int_eq(hf_value_kind_of(hf_get(answer.body, "next_task")), HF_VALUE_NULL);
    t = poll(&site, "/api/worker/activity-tasks/poll", "w1", "");
    ck_assert_str_ne(t.id, "");
    hf_site_close(&site);
}

static void keeper_register(hf_site *site, const char *worker)
{
    char body[256];

    (void)snprintf(body, sizeof(body),
                   "{\"worker_id\":\"%s\",\"task_queue\":\"far\",\"supported_workflow_types\":"
                   "[\"remote\"],\"capabilities\":[\"sticky_execution\"],"
                   "\"workflow_command_contracts\":{\"remote\":{\"signals\":[\"go\"]}}}",
                   worker);
    ck_assert_int_eq(hf_site_ask(site, "POST", "/api/worker/register", NULL, body).status, 200);
}

/* A worker that says that it keeps runs is told whether it had this one last, and up to where it
   saw it. */
HF_BOTH_ENGINES(workers_hear_that_they_know_a_run)
{
    static const char wait[] =
        ",\"commands\":[{\"type\":\"open_condition_wait\",\"condition_key\":\"c\"}]";
    hf_site site;
    task t;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    keeper_register(&site, "w1");
    keeper_register(&site, "w2");
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/workflows", NULL,
                                 "{\"workflow_type\":\"remote\",\"workflow_id\":\"r-1\","
                                 "\"task_queue\":\"far\"}")
                         .status,
                     201);
    t = poll(&site, "/api/worker/workflow-tasks/poll", "w1", "");
    ck_assert_str_eq(t.sticky, "cold_replay");
    ck_assert_int_eq(t.known, 0);
    ck_assert_int_eq(complete(&site, &t, wait).status, 200);
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/workflows/r-1/signal/go", NULL, NULL).status,
                     202);
    t = poll(&site, "/api/worker/workflow-tasks/poll", "w1", "");
    ck_assert_str_eq(t.sticky, "sticky_hit_expected");
    ck_assert_int_ge(t.known, 2);
    ck_assert_int_eq(complete(&site, &t, wait).status, 200);
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/workflows/r-1/signal/go", NULL, NULL).status,
                     202);
    t = poll(&site, "/api/worker/workflow-tasks/poll", "w2", "");
    ck_assert_str_eq(t.sticky, "cold_replay");
    ck_assert_int_eq(complete(&site, &t, wait).status, 409); /* it is w2's */
    hf_site_close(&site);
}

/* Who does not say so keeps none, and is not told of it: a client that is asks for what it lacks.
 */
HF_BOTH_ENGINES(others_do_not_hear_of_runs_that_are_kept)
{
    hf_site site;
    task t;

    site_begin(&site, kind);
    t = poll(&site, "/api/worker/workflow-tasks/poll", "w1", "");
    ck_assert_str_ne(t.id, "");
    ck_assert_str_eq(t.sticky, "");
    hf_site_close(&site);
}

/* A history that is longer than a page comes in pages, to whoever holds the task. */
HF_BOTH_ENGINES(histories_come_in_pages)
{
    hf_site site;
    hf_site_answer answer;
    task t;
    char path[128];
    char body[256];
    char token[32];
    int64_t total;
    int64_t seen;

    site_begin(&site, kind);
    answer = hf_site_ask(&site, "POST", "/api/worker/workflow-tasks/poll", NULL,
                         "{\"worker_id\":\"w1\",\"task_queue\":\"far\",\"timeout_seconds\":10,"
                         "\"history_page_size\":1}");
    t = task_of(answer.body, "task");
    total = hf_int(answer.body, "task.total_history_events", 0);
    ck_assert_int_ge(total, 2);
    ck_assert_int_eq((long)hf_len(hf_get(answer.body, "task.history_events")), 1);
    (void)snprintf(token, sizeof(token), "%s",
                   hf_str(answer.body, "task.next_history_page_token", ""));
    (void)snprintf(path, sizeof(path), "/api/worker/workflow-tasks/%s/history", t.id);
    for (seen = 1; token[0]; seen++) {
        (void)snprintf(body, sizeof(body),
                       "{\"lease_owner\":\"w1\",\"workflow_task_attempt\":%lld,"
                       "\"next_history_page_token\":\"%s\",\"page_size\":1}",
                       (long long)t.attempt, token);
        answer = hf_site_ask(&site, "POST", path, NULL, body);
        ck_assert_msg(answer.status == 200, "%s", answer.text);
        ck_assert_int_eq(hf_int(answer.body, "history_events.0.sequence", 0), seen + 1);
        (void)snprintf(token, sizeof(token), "%s",
                       hf_str(answer.body, "next_history_page_token", ""));
    }
    ck_assert_int_eq(seen, total);
    (void)snprintf(body, sizeof(body),
                   "{\"lease_owner\":\"w2\",\"workflow_task_attempt\":%lld,\"page_token\":\"1\"}",
                   (long long)t.attempt);
    ck_assert_int_eq(hf_site_ask(&site, "POST", path, NULL, body).status, 409);
    hf_site_close(&site);
}

/* The server ends and begins anew on its store. */
static void site_restart(hf_site *site)
{
    hf_server_options options = {.listen = "127.0.0.1:0"};
    hf_err err = {0};

    hf_server_close(site->server);
    hf_close(site->engine);
    ck_assert_int_eq(hf_open(hf_test_place_address(site->place), &app, &site->engine), HF_OK);
    ck_assert_int_eq(hf_workers_allow(site->engine), HF_OK);
    options.engine = site->engine;
    hf_test_ok(hf_server_open(&options, &site->server, &err), &err, "open a server");
    hf_test_ok(hf_server_start(site->server, &err), &err, "start a server");
}

/* An attempt of the server before stays its worker's, and is another's as soon as that worker says
   that it has nothing in hand. */
HF_BOTH_ENGINES(an_idle_worker_gives_up_what_it_never_got)
{
    static const char beats[] = "/api/worker/heartbeat";
    hf_site_answer answer = {0};
    hf_site site;
    task t;

    site_begin(&site, kind);
    t = poll(&site, "/api/worker/workflow-tasks/poll", "w1", "");
    ck_assert_int_eq(complete(&site, &t,
                              ",\"commands\":[{\"type\":\"schedule_activity\",\"activity_type\":"
                              "\"a\",\"queue\":\"far\"}]")
                         .status,
                     200);
    t = poll(&site, "/api/worker/activity-tasks/poll", "w1", "");
    ck_assert_str_ne(t.attempt_id, "");
    site_restart(&site);
    answer = hf_site_ask(&site, "POST", beats, NULL, "{\"worker_id\":\"w1\",\"active_slots\":1}");
    ck_assert_int_eq(answer.status, 404); /* it has not registered since */
    answer = hf_site_ask(&site, "POST", "/api/worker/activity-tasks/poll", NULL,
                         "{\"worker_id\":\"w2\",\"task_queue\":\"far\",\"timeout_seconds\":0}");
    ck_assert_str_eq(hf_str(answer.body, "poll_status", ""), "timeout");
    for (int i = 0; i < 60 && !hf_str(answer.body, "task.task_id", NULL); i++) {
        (void)hf_site_ask(&site, "POST", beats, NULL, "{\"worker_id\":\"w1\",\"active_slots\":0}");
        answer = hf_site_ask(&site, "POST", "/api/worker/activity-tasks/poll", NULL,
                             "{\"worker_id\":\"w2\",\"task_queue\":\"far\",\"timeout_seconds\":1}");
    }
    ck_assert_str_eq(hf_str(answer.body, "task.task_id", ""), t.id);
    ck_assert_int_eq(hf_int(answer.body, "task.attempt_number", 0), 2);
    hf_site_close(&site);
}

/* Which types a worker knows is known after a restart, although it does not register again: it gets
   no task that it could only fail. */
HF_BOTH_ENGINES(registrations_outlive_the_server)
{
    static const char polls[] = "/api/worker/activity-tasks/poll";
    static const char *const workers[] = {"a", "b"};
    hf_site_answer answer;
    hf_err err = {0};
    char body[256];
    hf_site site;
    task t;

    site_begin(&site, kind);
    t = poll(&site, "/api/worker/workflow-tasks/poll", "w1", "");
    ck_assert_int_eq(complete(&site, &t,
                              ",\"commands\":[{\"type\":\"schedule_activity\",\"activity_type\":"
                              "\"a\",\"queue\":\"far\"}]")
                         .status,
                     200);
    for (int i = 0; i < 2; i++) {
        (void)snprintf(body, sizeof(body),
                       "{\"worker_id\":\"%s\",\"task_queue\":\"far\",\"supported_activity_types\":["
                       "\"%s\"],\"supported_workflow_types\":[]}",
                       workers[i], workers[i]);
        ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/worker/register", NULL, body).status,
                         200);
    }
    site_restart(&site);
    hf_test_ok(hf_server_refresh(site.server, &err), &err, "read what is kept");
    answer = hf_site_ask(&site, "GET", "/api/workers", NULL, NULL);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "workers")), 2);
    answer = hf_site_ask(&site, "POST", polls, NULL,
                         "{\"worker_id\":\"b\",\"task_queue\":\"far\",\"timeout_seconds\":1}");
    ck_assert_str_eq(hf_str(answer.body, "poll_status", ""), "timeout");
    t = poll(&site, polls, "a", "");
    ck_assert_str_ne(t.attempt_id, "");
    ck_assert_int_eq(
        hf_site_ask(&site, "POST", "/api/worker/heartbeat", NULL, "{\"worker_id\":\"b\"}").status,
        200);
    ck_assert_int_eq(hf_site_ask(&site, "DELETE", "/api/worker/registrations/b", NULL, NULL).status,
                     200);
    site_restart(&site);
    hf_test_ok(hf_server_refresh(site.server, &err), &err, "read what is kept");
    answer = hf_site_ask(&site, "GET", "/api/workers", NULL, NULL);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "workers")), 1);
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/repeat", HF_BOTH(b200_lost_answers_come_again),
                 HF_BOTH(completions_carry_the_next_task),
                 HF_BOTH(completions_carry_nothing_unasked),
                 HF_BOTH(an_idle_worker_gives_up_what_it_never_got),
                 HF_BOTH(registrations_outlive_the_server),
                 HF_BOTH(workers_hear_that_they_know_a_run),
                 HF_BOTH(others_do_not_hear_of_runs_that_are_kept),
                 HF_BOTH(histories_come_in_pages))
