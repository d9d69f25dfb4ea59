/* test_memory.c: the server while memory runs out, at one allocation after the other: what it keeps
   of workers, payloads, and whole requests over real HTTP. Whoever asks gets an answer or a closed
   connection, and the next one is answered as ever. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/value.h"
#include "lib/site.h"
#include "server/fleet.h"
#include "server/payload.h"
#include "server/schedule_query.h"

enum { NTH_MAX = 4000, ANSWER_MS = 30000 };

/* ---- parts */

/* Everything that is asked of the fleet, once. */
static hf_status fleet_use(hf_mem *mem, hf_value said, hf_value drained)
{
    hf_fleet *fleet = NULL;
    hf_err err = {0};
    hf_status st = hf_fleet_open(&fleet, &err);

    if (!st)
        st = hf_fleet_fits(fleet, HF_SLICE("d/w"), said, 1, &err);
    if (!st)
        st = hf_fleet_register(fleet, HF_SLICE("d/w"), said, 1, &err);
    if (!st)
        st = hf_fleet_fits(fleet, HF_SLICE("d/w"), said, 2, &err);
    if (!st)
        st = hf_fleet_learn(
            fleet,
            hf_json_(mem, "[{'namespace': 'd', 'worker_id': 'v', 'said': %p}]", (const void *)said),
            &err);
    if (!st)
        st = hf_fleet_builds(fleet, HF_SLICE("d"), drained, &err);
    if (!st && (!hf_fleet_get(fleet, HF_SLICE("d/w"), mem) ||
                !hf_fleet_list(fleet, HF_SLICE("d"), mem, 2) ||
                !hf_fleet_drained(fleet, HF_SLICE("d"), HF_SLICE("q"), "b1", NULL)))
        st = HF_NOMEM;
    hf_fleet_close(fleet);
    return st;
}

static hf_status payload_use(hf_mem *mem, hf_value value)
{
    hf_value sealed = hf_payload_seal(mem, value);
    hf_value plain = NULL;
    hf_err err = {0};
    hf_status st = sealed ? hf_payload_open(mem, sealed, &plain, &err) : HF_NOMEM;

    ck_assert(st || hf_value_equal(plain, value));
    return st;
}

/* Fails with HF_NOMEM at each allocation, and works when none fails. */
START_TEST(parts_say_that_memory_ran_out)
{
    hf_mem *kept = hf_mem_new();
    hf_value said = hf_json_(kept, "{'worker_id': 'w', 'task_queue': 'q', 'build_id': 'b1', "
                                   "'workflow_definition_fingerprints': {'t': 'one'}}");
    hf_value drained = hf_json_(kept, "[{'task_queue': 'q', 'build_id': 'b1', 'drained_at': 1}]");

    for (int part = 0; part < 2; part++) {
        hf_status st = HF_NOMEM;

        for (int nth = 1; st; nth++) {
            hf_mem *mem = hf_mem_new();

            ck_assert_int_lt(nth, NTH_MAX);
            hf_fault_arm(HF_FAULT_ALLOC, nth, false);
            st = part ? payload_use(mem, said) : fleet_use(mem, said, drained);
            hf_fault_arm(HF_FAULT_ALLOC, 0, false);
            ck_assert_msg(!st || st == HF_NOMEM, "part %d, allocation %d: %d", part, nth, (int)st);
            hf_mem_free(mem);
        }
    }
    hf_mem_free(kept);
}
END_TEST

/* The query language of schedules needs no memory at all. */
START_TEST(schedule_queries_need_no_memory)
{
    hf_mem *mem = hf_mem_new();
    hf_value schedule = hf_json_(mem, "{'status': 'paused', 'action': {'workflow_type': 'order'}}");
    hf_schedule_query query;
    int64_t seen;

    hf_fault_arm(HF_FAULT_ALLOC, 1, true);
    ck_assert_ptr_null(hf_schedule_query_read("Status = \"paused\"", &query));
    (void)hf_schedule_query_fits(&query, schedule);
    seen = hf_fault_seen(HF_FAULT_ALLOC);
    hf_fault_arm(HF_FAULT_ALLOC, 0, false);
    ck_assert_int_eq(seen, 0);
    hf_mem_free(mem);
}
END_TEST

/* ---- requests */

static const hf_app app = {.name = "nothing-here"};

/* The status of the answer, without memory of ours; 0: the connection was closed. */
static int ask_raw(int port, const char *request, size_t len)
{
    int fd = hf_wire_connect(port);
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    char text[64] = "";
    size_t got = 0;
    ssize_t more = write(fd, request, len);
    int status = 0;

    while (more > 0 && got < 12) {
        ck_assert_msg(poll(&ready, 1, ANSWER_MS) == 1, "no answer and no end");
        more = read(fd, text + got, 12 - got);
        if (more > 0)
            got += (size_t)more;
    }
    if (got == 12)
        ck_assert_msg(sscanf(text, "HTTP/1.1 %d", &status) == 1, "%.40s: %s", request, text);
    (void)close(fd);
    return status;
}

#define HEAD                                                                                       \
    "Host: localhost\r\nX-Durable-Workflow-Control-Plane-Version: 2\r\n"                           \
    "X-Durable-Workflow-Protocol-Version: 1.13\r\nConnection: close\r\n"
#define GET(path) "GET " path " HTTP/1.1\r\n" HEAD "\r\n"
#define POST(path, bytes, body)                                                                    \
    "POST " path " HTTP/1.1\r\n" HEAD "Content-Type: application/json\r\nContent-Length: " bytes   \
    "\r\n\r\n" body

/* Gate, lists and their filters, schedules, workers, payloads: each request is asked while one
   allocation of the process fails, and works afterwards. 422 is said of a question that could not
   be written down, 429 to whoever could not be counted. */
START_TEST(requests_survive)
{
    static const struct {
        const char *text;
        int status;
    } requests[] = {
        {GET("/api/workflows?workflow_type=order&label[a]=b&search_attribute[n][gte]=1&total=1"),
         200},
        {GET("/api/workflows/none"), 404},
        {GET("/api/schedules?query=Status%20%3D%20%22paused%22"), 200},
        {GET("/api/task-queues"), 200},
        {GET("/api/cluster/info"), 200},
        {POST("/api/worker/register", "37", "{\"worker_id\":\"w\",\"task_queue\":\"q-1\" }"), 200},
        {POST("/api/workflows/none/signal/x", "14", "{\"input\":[1]} "), 404},
    };
    hf_site site;
    int port;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){0});
    port = hf_server_port(site.server);
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        size_t len = strlen(requests[i].text);
        bool reached = true;

        for (int nth = 1; reached && nth < NTH_MAX; nth++) {
            int status;

            hf_fault_arm(HF_FAULT_ALLOC, nth, false);
            status = ask_raw(port, requests[i].text, len);
            reached = hf_fault_seen(HF_FAULT_ALLOC) >= nth;
            hf_fault_arm(HF_FAULT_ALLOC, 0, false);
            ck_assert_msg(status == 0 || status == requests[i].status || status == 422 ||
                              status == 429 || status >= 500,
                          "%.40s at allocation %d: %d", requests[i].text, nth, status);
        }
        ck_assert_int_eq(ask_raw(port, requests[i].text, len), requests[i].status);
    }
    hf_site_close(&site);
}
END_TEST

HF_SUITE_MAIN("server/memory", {parts_say_that_memory_ran_out, 0},
              {schedule_queries_need_no_memory, 0}, {requests_survive, 120})
