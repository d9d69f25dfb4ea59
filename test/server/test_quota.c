/* test_quota.c: what one namespace may have: open runs, bytes in the store, polls that wait. Over
   real HTTP; another namespace is never in the way, and what closes runs makes room. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "holdfast/host.h"
#include "lib/site.h"
#include "server/registry.h"

#define LIMIT_US INT64_C(60000000)

static hf_value order(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_receive(w, "paid");
}

static const hf_app app = {
    .name = "quota",
    .workflows = (const hf_workflow_def[]){
        {.type = "order",
         .run = order,
         .signals = (const hf_signal_def[]){{"paid", NULL}, {"note", "text:string"}, {0}}},
        {0}}};

static void site_open(hf_site *site, hf_engine_kind kind, hf_server_options options)
{
    hf_err err = {0};

    options.webhook.mode = HF_WEBHOOK_NONE;
    hf_site_open(site, kind, &app, options);
    ck_assert_int_eq(hf_site_ask(site, "POST", "/api/namespaces", NULL, "{\"name\":\"b\"}").status,
                     201);
    hf_test_ok(hf_server_refresh(site->server, &err), &err, "read namespaces");
}

static hf_site_answer start(hf_site *site, const char *id, const char *more)
{
    char body[160];

    (void)snprintf(body, sizeof(body), "{\"workflow_type\":\"order\",\"workflow_id\":\"%s\"}", id);
    return hf_site_ask(site, "POST", "/api/workflows", more, body);
}

static void refused(hf_site_answer answer, const char *reason)
{
    ck_assert_msg(answer.status == 429, "%d: %s", answer.status, answer.text);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), reason);
    ck_assert_uint_gt(hf_wire_field(&answer.raw, "Retry-After").len, 0);
}

/* A namespace starts as many runs as it may have open, by every way in; a run that closes makes
   room, other commands pass, and another namespace has its own. */
HF_BOTH_ENGINES(t23_open_runs)
{
    static const char reason[] = "namespace_run_limit_reached";
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + LIMIT_US;
    hf_site site;
    int64_t count = 0;

    site_open(&site, kind, (hf_server_options){.runs_max = 2});
    ck_assert_int_eq(start(&site, "o-1", NULL).status, 201);
    refused(
        hf_site_ask(&site, "POST", "/api/workflows/start-all", NULL,
                    "{\"starts\":[{\"workflow_type\":\"order\"},{\"workflow_type\":\"order\"}]}"),
        reason);
    ck_assert_int_eq(start(&site, "o-2", NULL).status, 201);
    refused(start(&site, "o-3", NULL), reason);
    refused(hf_site_ask(&site, "POST", "/webhooks/start/order", NULL, "{\"workflow_id\":\"o-3\"}"),
            reason);
    refused(hf_site_ask(&site, "POST", "/api/bridge-adapters/webhook/x", NULL,
                        "{\"action\":\"start_workflow\",\"idempotency_key\":\"k\",\"target\":{"
                        "\"workflow_type\":\"order\",\"workflow_id\":\"o-3\"}}"),
            reason);
    ck_assert_int_eq(start(&site, "o-3", "X-Namespace: b\r\n").status, 201);
    ck_assert_int_eq(hf_namespace_open_runs(site.engine, 10, &count), HF_OK);
    ck_assert_int_eq(count, 2);
    ck_assert_int_eq(hf_namespace_open_runs(site.engine, 1, &count), HF_OK);
    ck_assert_int_eq(count, 1);
    ck_assert_int_eq(
        hf_site_ask(&site, "POST", "/api/workflows/o-1/signal/note", NULL, "{\"input\":[\"a\"]}")
            .status,
        202);
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/workflows/o-1/cancel", NULL, "{}").status,
                     202);
    while (start(&site, "o-3", NULL).status == 429) /* it is counted again in a moment */
        ck_assert_int_lt(hf_clock_mono_us(hf_clock_system()), until_us);
    refused(start(&site, "o-4", NULL), reason);
    hf_site_close(&site);
}

/* Bytes of histories and of payloads beside them: who has too many starts and signals nothing more,
   and may still close what is open. */
HF_BOTH_ENGINES(t23_bytes)
{
    static const char reason[] = "namespace_storage_limit_reached";
    static char body[8192];
    hf_site site;
    int64_t bytes = 0;
    int before = 0;

    site_open(&site, kind, (hf_server_options){.bytes_max = 20000});
    ck_assert_int_eq(start(&site, "o-1", NULL).status, 201);
    for (; before < 10; before++) {
        (void)snprintf(body, sizeof(body), "{\"input\":[\"%05000d\"]}", before);
        if (hf_site_ask(&site, "POST", "/api/workflows/o-1/signal/note", NULL, body).status != 202)
            break;
    }
    ck_assert_int_eq(before, 3); /* and less than a fourth part of what there may be for the rest */
    ck_assert_int_eq(hf_namespace_bytes(site.engine, &bytes), HF_OK);
    ck_assert_int_gt(bytes, 3 * 5000);
    ck_assert_int_lt(bytes, 20000);
    refused(hf_site_ask(&site, "POST", "/api/workflows/o-1/signal/note", NULL, body), reason);
    (void)snprintf(body, sizeof(body), "{\"workflow_type\":\"order\",\"memo\":{\"a\":\"%05000d\"}}",
                   7);
    refused(hf_site_ask(&site, "POST", "/api/workflows", NULL, body), reason);
    ck_assert_int_eq(start(&site, "o-2", "X-Namespace: b\r\n").status, 201);
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/workflows/o-1/cancel", NULL, "{}").status,
                     202);
    ck_assert_int_eq(hf_namespace_bytes(site.engine, NULL), HF_INVALID);
    hf_site_close(&site);
}

/* A connection with a poll that waits. */
static int poll_send(hf_site *site, const char *space)
{
    static const char body[] =
        "{\"worker_id\":\"w1\",\"task_queue\":\"far\",\"timeout_seconds\":60}";
    int fd = hf_wire_connect(hf_server_port(site->server));
    char request[512];

    (void)snprintf(request, sizeof(request),
                   "POST /api/worker/activity-tasks/poll HTTP/1.1\r\nHost: localhost\r\n"
                   "X-Durable-Workflow-Protocol-Version: 1.13\r\nX-Namespace: %s\r\n"
                   "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                   space, strlen(body), body);
    hf_wire_send(fd, hf_slice_of(request));
    return fd;
}

/* Waits until so many polls of the class are counted. */
static void held_await(hf_site *site, int64_t count)
{
    static const char name[] = "holdfast_http_in_work{class=\"held\"} ";
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + LIMIT_US;
    int64_t held = -1;

    while (held != count) {
        hf_site_answer answer = hf_site_ask(site, "GET", "/metrics", NULL, NULL);
        const char *at = strstr(answer.text, name);

        ck_assert_ptr_nonnull(at);
        ck_assert_int_eq(sscanf(at + strlen(name), "%ld", &held), 1);
        ck_assert_int_lt(hf_clock_mono_us(hf_clock_system()), until_us);
    }
}

/* A namespace has so many polls that wait; one that goes away makes room, and so does one that is
   answered. */
HF_BOTH_ENGINES(t23_parked_polls)
{
    static const char look[] =
        "{\"worker_id\":\"w1\",\"task_queue\":\"far\",\"timeout_seconds\":0}";
    hf_site site;
    int fds[3];

    site_open(&site, kind, (hf_server_options){.admission = {.polls = 2}});
    fds[0] = poll_send(&site, "default");
    fds[1] = poll_send(&site, "default");
    held_await(&site, 2);
    refused(hf_site_ask(&site, "POST", "/api/worker/activity-tasks/poll", NULL, look),
            "overloaded");
    fds[2] = poll_send(&site, "b");
    held_await(&site, 3);
    (void)close(fds[0]);
    held_await(&site, 2);
    for (int i = 0; i < 3; i++) /* one after the other: each gives its place back */
        ck_assert_int_eq(
            hf_site_ask(&site, "POST", "/api/worker/activity-tasks/poll", NULL, look).status, 200);
    (void)close(fds[1]);
    (void)close(fds[2]);
    held_await(&site, 0);
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/quota", HF_BOTH(t23_open_runs), HF_BOTH(t23_bytes),
                 HF_BOTH(t23_parked_polls))
