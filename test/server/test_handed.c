/* test_handed.c: tasks whose answer did not get as far as the worker, over real HTTP on both
   databases. The worker reads nothing of an answer that no buffer holds whole, and goes: whoever
   asks next has the task, long before a lease ends; unless the worker asked again meanwhile. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "lib/nap.h"
#include "lib/site.h"

enum {
    INPUT_BYTES = 400000, /* more than the system takes on both sides of a narrow connection */
    NARROW_BYTES = 4096,
    FDS_MAX = 256
};

static const hf_app app = {.name = "nothing-here"};

static const char workflow_polls[] = "/api/worker/workflow-tasks/poll";
static const char activity_polls[] = "/api/worker/activity-tasks/poll";

/* A run whose input is big. */
static void run_start(hf_site *site, const char *id)
{
    hf_buf body = {0};

    hf_buf_add_format(&body,
                      "{\"workflow_type\":\"remote\",\"workflow_id\":\"%s\",\"task_queue\":\"far\","
                      "\"input\":[\"%0*d\"]}",
                      id, INPUT_BYTES, 0);
    (void)hf_site_expect(site, "POST", "/api/workflows", hf_buf_text(&body), 201);
    hf_buf_fini(&body);
}

/* What the server's connections hold of an answer that is not read: little. They have it from the
   socket that listens. */
static void server_narrow(void)
{
    const int room = NARROW_BYTES;
    int narrowed = 0;

    for (int fd = 0; fd < FDS_MAX; fd++) {
        int listens = 0;
        socklen_t size = sizeof(listens);

        if (!getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) && listens &&
            !setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)))
            narrowed++;
    }
    ck_assert_int_gt(narrowed, 0);
}

static void site_begin(hf_site *site, hf_engine_kind kind)
{
    hf_site_open(site, kind, &app, (hf_server_options){.webhook = {.mode = HF_WEBHOOK_NONE}});
    server_narrow();
    run_start(site, "r-1");
}

/* Asks, and does not read the answer, which has begun to come. */
static int deaf_ask(hf_site *site, const char *path, const char *body)
{
    int fd = hf_site_send(site, "POST", path, body);
    struct pollfd begun = {.fd = fd, .events = POLLIN};

    ck_assert_int_eq(poll(&begun, 1, 10000), 1);
    return fd;
}

/* Goes, and the server has noticed: nobody is connected but who asks. */
static void deaf_go(hf_site *site, int fd)
{
    (void)close(fd);
    hf_site_await(site, "holdfast_http_connections 1");
}

/* The task that the worker is handed at once; fails the case when there is none. */
static hf_value task_got(hf_site *site, const char *path, const char *worker, const char *more)
{
    hf_site_answer answer;
    char body[256];

    (void)snprintf(body, sizeof(body),
                   "{\"worker_id\":\"%s\",\"task_queue\":\"far\",\"timeout_seconds\":5%s}", worker,
                   more);
    answer = hf_site_expect(site, "POST", path, body, 200);
    ck_assert_msg(hf_get(answer.body, "task.task_id"), "%s", answer.text);
    return hf_get(answer.body, "task");
}

/* What the worker w1 sends and where, to complete a workflow task. */
typedef struct report {
    char path[160];
    char body[512];
} report;

static report report_of(hf_value task, const char *more)
{
    report r;

    (void)snprintf(r.path, sizeof(r.path), "/api/worker/workflow-tasks/%s/complete",
                   hf_str(task, "task_id", ""));
    (void)snprintf(r.body, sizeof(r.body),
                   "{\"lease_owner\":\"w1\",\"workflow_task_attempt\":%d%s}",
                   (int)hf_int(task, "workflow_task_attempt", 0), more);
    return r;
}

#define WAITS ",\"commands\":[{\"type\":\"open_signal_wait\",\"signal_name\":\"go\"}]"

static void report_taken(hf_site *site, const report *r)
{
    (void)hf_site_expect(site, "POST", r->path, r->body, 200);
}

/* A poll that was cut off half way: its task is the next worker's, which may report on it. */
HF_BOTH_ENGINES(a_poll_cut_off_leaves_its_task)
{
    hf_site site;
    report r;

    site_begin(&site, kind);
    deaf_go(&site,
            deaf_ask(&site, workflow_polls, "{\"worker_id\":\"w0\",\"task_queue\":\"far\"}"));
    r = report_of(task_got(&site, workflow_polls, "w1", ""), WAITS);
    report_taken(&site, &r);
    hf_site_close(&site);
}

/* The same for an activity. */
HF_BOTH_ENGINES(an_attempt_cut_off_is_for_the_next)
{
    hf_buf body = {0};
    hf_site site;
    hf_value task;
    report r;

    site_begin(&site, kind);
    r = report_of(task_got(&site, workflow_polls, "w1", ""), "");
    hf_buf_add_format(&body,
                      "%.*s,\"commands\":[{\"type\":\"schedule_activity\",\"activity_type\":\"a\","
                      "\"queue\":\"far\",\"arguments\":[\"%0*d\"]}]}",
                      (int)strlen(r.body) - 1, r.body, INPUT_BYTES, 0);
    (void)hf_site_expect(&site, "POST", r.path, hf_buf_text(&body), 200);
    hf_buf_fini(&body);
    deaf_go(&site,
            deaf_ask(&site, activity_polls, "{\"worker_id\":\"w0\",\"task_queue\":\"far\"}"));
    task = task_got(&site, activity_polls, "w1", "");
    ck_assert_str_eq(hf_str(task, "lease_owner", ""), "w1");
    hf_site_close(&site);
}

/* The worker gave its connection up and asked again with the same id, and was handed the task: the
   end of the old connection takes it from nobody. */
HF_BOTH_ENGINES(a_task_asked_for_again_stays)
{
    static const char id[] = ",\"poll_request_id\":\"p-1\"";
    hf_site site;
    report r;
    int fd;

    site_begin(&site, kind);
    fd = deaf_ask(&site, workflow_polls,
                  "{\"worker_id\":\"w1\",\"task_queue\":\"far\",\"poll_request_id\":\"p-1\"}");
    r = report_of(task_got(&site, workflow_polls, "w1", id), WAITS);
    deaf_go(&site, fd);
    report_taken(&site, &r);
    hf_site_close(&site);
}

/* A task that came with the answer to a report: lost with it, or asked for again by the same
   report. */
HF_BOTH_ENGINES(a_task_that_comes_along_is_not_lost)
{
    static const char more[] = ",\"return_next_task\":true,\"task_queue\":\"far\"" WAITS;
    hf_site_answer answer;
    hf_site site;
    report r;
    int fd;

    site_begin(&site, kind);
    r = report_of(task_got(&site, workflow_polls, "w1", ""), more);
    run_start(&site, "r-2");
    deaf_go(&site, deaf_ask(&site, r.path, r.body));
    r = report_of(task_got(&site, workflow_polls, "w1", ""), more);
    run_start(&site, "r-3");
    fd = deaf_ask(&site, r.path, r.body);
    answer = hf_site_expect(&site, "POST", r.path, r.body, 200);
    r = report_of(hf_get(answer.body, "next_task"), WAITS);
    deaf_go(&site, fd);
    report_taken(&site, &r);
    hf_site_close(&site);
}

/* A claim over a webhook: whoever claims next gets it. */
HF_BOTH_ENGINES(a_claim_cut_off_is_for_the_next)
{
    hf_site_answer answer;
    hf_site site;
    char path[160];
    int tries = 0;

    site_begin(&site, kind);
    do
        answer = hf_site_expect(&site, "GET", "/webhooks/workflow-tasks/poll?queue=far", NULL, 200);
    while (hf_len(hf_get(answer.body, "tasks")) == 0); /* its first turn is about to be */
    (void)snprintf(path, sizeof(path), "/webhooks/workflow-tasks/%s/claim",
                   hf_str(answer.body, "tasks.0.task_id", ""));
    deaf_go(&site, deaf_ask(&site, path, "{\"lease_owner\":\"w0\"}"));
    do { /* it is given back a moment after the connection is gone */
        hf_nap_ms(1);
        answer = hf_site_ask(&site, "POST", path, NULL, "{\"lease_owner\":\"w1\"}");
    } while (answer.status != 200 && ++tries < 2000);
    ck_assert_str_eq(hf_str(answer.body, "lease_owner", ""), "w1");
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/handed", HF_BOTH(a_poll_cut_off_leaves_its_task),
                 HF_BOTH(an_attempt_cut_off_is_for_the_next), HF_BOTH(a_task_asked_for_again_stays),
                 HF_BOTH(a_task_that_comes_along_is_not_lost),
                 HF_BOTH(a_claim_cut_off_is_for_the_next))
