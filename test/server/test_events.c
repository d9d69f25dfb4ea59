/* test_events.c: the events of a run as they are committed, over real HTTP. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "lib/handlers.h"
#include "lib/site.h"

static const hf_app app = {
    .name = "events",
    .workflows = (const hf_workflow_def[]){
        {.type = "wait", .run = hf_wait_go, .signals = (const hf_signal_def[]){{"go", NULL}, {0}}},
        {0}}};

/* Begins to read the stream of w-1. */
static int stream_open(hf_site *site, const char *query, const char *header)
{
    int fd = hf_wire_connect(hf_server_port(site->server));
    hf_buf request = {0};

    hf_buf_add_format(&request,
                      "GET /api/workflows/w-1/events%s HTTP/1.1\r\nHost: localhost\r\nConnection: "
                      "close\r\nX-Durable-Workflow-Control-Plane-Version: 2\r\n%s\r\n",
                      query, header);
    ck_assert(hf_wire_send(fd, hf_buf_slice(&request)));
    hf_buf_fini(&request);
    return fd;
}

/* All of it, to the end that the server makes. */
static const char *stream_read(hf_site *site, int fd)
{
    hf_buf bytes = {0};
    const char *text;

    ck_assert(hf_wire_read_all(fd, &bytes));
    text = hf_mem_text(site->mem, hf_buf_slice(&bytes));
    hf_buf_fini(&bytes);
    (void)close(fd);
    return text;
}

static void start(hf_site *site)
{
    ck_assert_int_eq(hf_site_ask(site, "POST", "/api/workflows", NULL,
                                 "{\"workflow_type\":\"wait\",\"workflow_id\":\"w-1\"}")
                         .status,
                     201);
}

static void finish(hf_site *site)
{
    ck_assert_int_eq(hf_site_ask(site, "POST", "/api/workflows/w-1/signal/go", NULL, "{}").status,
                     202);
}

/* How often a text occurs. */
static int count(const char *text, const char *part)
{
    int found = 0;

    while ((text = strstr(text, part))) {
        found++;
        text += strlen(part);
    }
    return found;
}

/* Readers that came before and after something happened see all of it once, and then the end. */
HF_BOTH_ENGINES(events_come_once_and_end)
{
    hf_site site;
    const char *text;
    int early[3];

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    start(&site);
    for (int i = 0; i < 3; i++)
        early[i] = stream_open(&site, "", "");
    finish(&site);
    for (int i = 0; i < 3; i++) {
        text = stream_read(&site, early[i]);
        ck_assert_ptr_nonnull(strstr(text, "200 OK"));
        ck_assert_ptr_nonnull(strstr(text, "text/event-stream"));
        ck_assert_int_eq(count(text, "event: WorkflowStarted\n"), 1);
        ck_assert_int_eq(count(text, "event: SignalReceived\n"), 1);
        ck_assert_int_eq(count(text, "event: WorkflowCompleted\n"), 1);
        ck_assert_int_eq(count(text, "event: end\n"), 1);
        ck_assert_int_eq(count(text, "id: 1\n"), 1);
    }
    text = stream_read(&site, stream_open(&site, "?after=2", ""));
    ck_assert_int_eq(count(text, "id: 1\n") + count(text, "id: 2\n"), 0);
    ck_assert_int_eq(count(text, "id: 3\n"), 1);
    text = stream_read(&site, stream_open(&site, "", "Last-Event-ID: 3\r\n"));
    ck_assert_int_eq(count(text, "id: 3\n"), 0);
    ck_assert_int_eq(count(text, "event: end\n"), 1);
    hf_site_close(&site);
}

/* A run that is not there, a reader that goes away, and a server that stops end the stream. */
START_TEST(streams_end)
{
    hf_site site;
    const char *text;
    int fd;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){0});
    text = stream_read(&site, stream_open(&site, "", ""));
    ck_assert_ptr_nonnull(strstr(text, "event: error\n"));
    ck_assert_ptr_nonnull(strstr(text, "run_not_found"));
    start(&site);
    for (int i = 0; i < 20; i++)
        (void)close(stream_open(&site, "", ""));
    fd = stream_open(&site, "", "");
    hf_site_close(&site);
    (void)close(fd);
}
END_TEST

HF_PG_SUITE_MAIN("server/events", HF_BOTH(events_come_once_and_end), {streams_end, 0})
