/* test_question.c: queries and update validators through workers, over real HTTP on both databases:
   the caller waits on one connection, the worker answers on another. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/site.h"

static const hf_app app = {.name = "nothing-here"};

/* A request that is sent and not waited for. */
static int request_send(hf_site *site, const char *path, const char *body)
{
    int fd = hf_wire_connect(hf_server_port(site->server));
    char text[2048];

    (void)snprintf(text, sizeof(text),
                   "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                   "X-Durable-Workflow-Control-Plane-Version: 2\r\nContent-Length: %zu\r\n\r\n%s",
                   path, strlen(body), body);
    ck_assert(hf_wire_send(fd, hf_slice_of(text)));
    return fd;
}

/* Its answer; every text in `parts` (ended by NULL) is in it. */
static void request_answer(int fd, int status, const char *const *parts)
{
    hf_wire_reply reply = {0};

    ck_assert(hf_wire_read_reply(fd, &reply));
    ck_assert_msg(reply.status == status, "%d instead of %d: %s", reply.status, status,
                  hf_buf_text(&reply.body));
    for (; *parts; parts++)
        ck_assert_msg(strstr(hf_buf_text(&reply.body), *parts), "%s in %s", *parts,
                      hf_buf_text(&reply.body));
    hf_wire_reply_fini(&reply);
    (void)close(fd);
}

static void site_begin(hf_site *site, hf_engine_kind kind)
{
    hf_site_open(site, kind, &app, (hf_server_options){0});
    ck_assert_int_eq(
        hf_site_ask(site, "POST", "/api/worker/register", NULL,
                    "{\"worker_id\":\"w1\",\"task_queue\":\"far\",\"supported_workflow_types\":"
                    "[\"remote\"],\"workflow_command_contracts\":{\"remote\":{\"queries\":["
                    "\"total\"],\"updates\":[\"set\"],\"update_validators\":[\"set\"]}}}")
            .status,
        200);
    ck_assert_int_eq(hf_site_ask(site, "POST", "/api/workflows", NULL,
                                 "{\"workflow_type\":\"remote\",\"workflow_id\":\"r-1\","
                                 "\"task_queue\":\"far\",\"input\":[5]}")
                         .status,
                     201);
}

/* A probe: from now on a worker counts as there. */
static void worker_shows(hf_site *site, const char *path)
{
    ck_assert_int_eq(
        hf_site_ask(site, "POST", path, NULL,
                    "{\"worker_id\":\"w1\",\"task_queue\":\"far\",\"timeout_seconds\":0}")
            .status,
        200);
}

typedef struct question {
    char id[64];
    int64_t attempt;
} question;

static question question_poll(hf_site *site, const char *path, const char *more, const char *kind)
{
    hf_site_answer answer;
    question q = {{0}, 0};
    char body[256];
    char key[64];

    (void)snprintf(body, sizeof(body),
                   "{\"worker_id\":\"w1\",\"task_queue\":\"far\",\"timeout_seconds\":20%s}", more);
    answer = hf_site_ask(site, "POST", path, NULL, body);
    ck_assert_msg(strcmp(hf_str(answer.body, "task.task_kind", ""), kind) == 0, "%s", answer.text);
    ck_assert_str_eq(hf_str(answer.body, "task.workflow_id", ""), "r-1");
    ck_assert_str_eq(hf_str(answer.body, "task.workflow_type", ""), "remote");
    ck_assert_str_eq(hf_str(answer.body, "task.payload_codec", ""), "avro");
    ck_assert_int_eq(hf_int(answer.body, "task.history_events.0.sequence", 0), 1);
    ck_assert_ptr_nonnull(hf_get(answer.body, "task.workflow_arguments"));
    ck_assert_ptr_nonnull(hf_get(answer.body, "lease.lease_expires_at"));
    (void)snprintf(key, sizeof(key), "task.%s",
                   strcmp(kind, "query") ? "update_validation_task_id" : "query_task_id");
    (void)snprintf(q.id, sizeof(q.id), "%s", hf_str(answer.body, key, ""));
    (void)snprintf(key, sizeof(key), "task.%s",
                   strcmp(kind, "query") ? "update_validation_attempt" : "query_task_attempt");
    q.attempt = hf_int(answer.body, key, 0);
    return q;
}

static hf_site_answer question_report(hf_site *site, const question *q, const char *kind,
                                      const char *verb, const char *owner, const char *more)
{
    char path[160];
    char body[1024];

    (void)snprintf(path, sizeof(path), "/api/worker/%s-tasks/%s/%s", kind, q->id, verb);
    (void)snprintf(body, sizeof(body), "{\"lease_owner\":\"%s\",\"%s\":%lld%s}", owner,
                   strcmp(kind, "query") ? "update_validation_attempt" : "query_task_attempt",
                   (long long)q->attempt, more);
    return hf_site_ask(site, "POST", path, NULL, body);
}

/* A query of a remote run is answered by the worker that polls; a foreign answer is fenced, and one
   that comes too late finds nobody. Also of a chosen run, and of a closed one. */
HF_BOTH_ENGINES(workers_answer_queries)
{
    hf_site site;
    hf_site_answer answer;
    question q;
    char path[160];
    int fd;

    site_begin(&site, kind);
    answer = hf_site_ask(&site, "POST", "/api/workflows/r-1/query/total", NULL, "{}");
    ck_assert_int_eq(answer.status, 409);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), "query_worker_unavailable");
    worker_shows(&site, "/api/worker/query-tasks/poll");
    fd = request_send(&site, "/api/workflows/r-1/query/total", "{\"input\":[1]}");
    q = question_poll(&site, "/api/worker/query-tasks/poll", "", "query");
    answer = question_report(&site, &q, "query", "complete", "w2", ",\"result\":1");
    ck_assert_int_eq(answer.status, 409);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), "lease_owner_mismatch");
    answer = question_report(&site, &q, "query", "complete", "w1",
                             ",\"result\":{\"n\":41},\"result_envelope\":{\"codec\":\"json\","
                             "\"blob\":\"{\\\"n\\\":42}\"}");
    ck_assert_msg(answer.status == 200, "%s", answer.text);
    ck_assert_str_eq(hf_str(answer.body, "query_task_id", ""), q.id);
    ck_assert_str_eq(hf_str(answer.body, "outcome", ""), "completed");
    request_answer(fd, 200,
                   (const char *const[]){"\"n\":42", "\"query_name\":\"total\"",
                                         "\"target_scope\":\"instance\"", NULL});
    answer = question_report(&site, &q, "query", "complete", "w1", ",\"result\":1");
    ck_assert_int_eq(answer.status, 404);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), "query_task_not_found");

    answer = hf_site_ask(&site, "GET", "/api/workflows/r-1", NULL, NULL);
    (void)snprintf(path, sizeof(path), "/api/workflows/r-1/runs/%s/query/total",
                   hf_str(answer.body, "run_id", ""));
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/workflows/r-1/terminate", NULL, NULL).status,
                     202);
    fd = request_send(&site, path, "{}");
    q = question_poll(&site, "/api/worker/workflow-tasks/poll", ",\"task_kinds\":[\"query\"]",
                      "query");
    answer = question_report(&site, &q, "query", "fail", "w1",
                             ",\"failure\":{\"message\":\"no such query\",\"reason\":"
                             "\"rejected_unknown_query\"}");
    ck_assert_int_eq(answer.status, 200);
    request_answer(fd, 404, (const char *const[]){"rejected_unknown_query", "no such query", NULL});
    answer = hf_site_ask(&site, "POST", "/api/workflows/r-1/query/other", NULL, "{}");
    ck_assert_int_eq(answer.status, 404);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), "query_not_found");
    hf_site_close(&site);
}

/* The validator's verdict comes before the update is accepted. */
HF_BOTH_ENGINES(workers_validate_updates)
{
    static const char both[] = ",\"task_kinds\":[\"update_validation\"]";
    hf_site site;
    hf_site_answer answer;
    question q;
    int fd;

    site_begin(&site, kind);
    answer = hf_site_ask(&site, "POST", "/api/workflows/r-1/update/set", NULL, "{}");
    ck_assert_int_eq(answer.status, 409);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), "update_validator_worker_unavailable");
    worker_shows(&site, "/api/worker/update-validation-tasks/poll");
    fd = request_send(&site, "/api/workflows/r-1/update/set",
                      "{\"input\":[1],\"wait_for\":\"accepted\"}");
    q = question_poll(&site, "/api/worker/workflow-tasks/poll", both, "update_validation");
    answer = question_report(&site, &q, "update-validation", "approve", "w2", "");
    ck_assert_int_eq(answer.status, 409);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), "stale_update_validation_completion");
    answer = question_report(&site, &q, "update-validation", "approve", "w1", "");
    ck_assert_msg(answer.status == 200, "%s", answer.text);
    ck_assert_str_eq(hf_str(answer.body, "outcome", ""), "approved");
    request_answer(fd, 202, (const char *const[]){"\"update_status\":\"accepted\"", NULL});

    fd = request_send(&site, "/api/workflows/r-1/update/set", "{\"input\":[1]}");
    q = question_poll(&site, "/api/worker/update-validation-tasks/poll", "", "update_validation");
    answer = question_report(&site, &q, "update-validation", "reject", "w1",
                             ",\"failure\":{\"message\":\"too big\",\"reason\":"
                             "\"update_validator_rejected\",\"validation_errors\":{\"by\":[\"at "
                             "most 3\"]}}");
    ck_assert_int_eq(answer.status, 200);
    request_answer(fd, 422,
                   (const char *const[]){"\"reason\":\"update_validator_rejected\"", "too big",
                                         "at most 3", NULL});
    hf_site_close(&site);
}

/* As many callers wait as there are threads for it and more, and workers are served all the same.
 */
HF_BOTH_ENGINES(waiting_callers_leave_room_for_workers)
{
    enum { CALLERS = 24 };
    hf_site site;
    int fds[CALLERS];

    site_begin(&site, kind);
    worker_shows(&site, "/api/worker/query-tasks/poll");
    for (int i = 0; i < CALLERS; i++)
        fds[i] = request_send(&site, "/api/workflows/r-1/query/total", "{}");
    for (int i = 0; i < CALLERS; i++) {
        question q = question_poll(&site, "/api/worker/query-tasks/poll", "", "query");

        ck_assert_int_eq(
            question_report(&site, &q, "query", "complete", "w1", ",\"result\":7").status, 200);
    }
    for (int i = 0; i < CALLERS; i++)
        request_answer(fds[i], 200, (const char *const[]){"\"result\":7", NULL});
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/question", HF_BOTH(workers_answer_queries),
                 HF_BOTH(workers_validate_updates), HF_BOTH(waiting_callers_leave_room_for_workers))
