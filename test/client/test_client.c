/* test_client.c: the client against a real server, and against sockets that behave badly. */
#include "client/client.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/thread.h"
#include "base/value.h"
#include "lib/site.h"

static hf_site site;

static hf_client *client_new(int port, const char *token, int64_t timeout_ms, size_t reply_max)
{
    char url[64];
    hf_client_options options = {
        .url = url, .token = token, .timeout_ms = timeout_ms, .reply_max = reply_max};
    hf_client *client = NULL;
    hf_err err = {0};

    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d/", port);
    hf_test_ok(hf_client_open(&options, &client, &err), &err, "open a client");
    return client;
}

static hf_status ask(hf_client *client, hf_mem *mem, const char *method, const char *path,
                     hf_value body, hf_client_reply *out, hf_err *err)
{
    const hf_client_request request = {.method = method, .path = path, .body = body};

    return hf_client_ask(client, &request, mem, out, err);
}

/* Answers come as values, and what a refusal means is told with the server's own words. */
START_TEST(asks_and_understands_the_answers)
{
    hf_mem *mem = hf_mem_new();
    hf_client_reply reply;
    hf_client *admin;
    hf_client *nobody;
    hf_err err = {0};

    hf_site_open(&site, HF_ENGINE_SQLITE, &(hf_app){.name = "t"},
                 (hf_server_options){.auth = {.driver = HF_AUTH_TOKEN}});
    hf_site_tokens(&site);
    admin = client_new(hf_server_port(site.server), "tok-admin", 0, 0);
    nobody = client_new(hf_server_port(site.server), "wrong", 0, 0);
    hf_test_ok(ask(admin, mem, "GET", "/api/cluster/info", NULL, &reply, &err), &err, "ask");
    ck_assert_int_eq(reply.status, 200);
    ck_assert_ptr_nonnull(hf_get(reply.body, "capabilities"));
    ck_assert_int_eq(hf_client_outcome(&reply, &err), HF_OK);
    hf_test_ok(ask(nobody, mem, "GET", "/api/cluster/info", NULL, &reply, &err), &err, "ask");
    ck_assert_int_eq(hf_client_outcome(&reply, &err), HF_DENIED);
    hf_test_ok(ask(admin, mem, "GET", hf_client_path(mem, "/api/workflows/%s", "no such one"), NULL,
                   &reply, &err),
               &err, "ask");
    ck_assert_int_eq(hf_client_outcome(&reply, &err), HF_NOTFOUND);
    hf_test_ok(
        ask(admin, mem, "POST", "/api/tokens", hf_json_(mem, "{'label': 'x'}"), &reply, &err), &err,
        "ask");
    ck_assert_int_eq(hf_client_outcome(&reply, &err), HF_INVALID);
    ck_assert_str_eq(err.text, "role: The field is required.");
    hf_test_ok(
        ask(admin, mem, "POST", "/api/tokens", hf_json_(mem, "{'role': 'admin'}"), &reply, &err),
        &err, "ask");
    ck_assert_int_eq(reply.status, 201);
    hf_client_close(admin); /* from now on the server knows the tokens of its store alone */
    admin = client_new(hf_server_port(site.server), hf_str(reply.body, "token", ""), 0, 0);
    hf_test_ok(ask(admin, mem, "DELETE",
                   hf_client_path(mem, "/api/tokens/%s", hf_str(reply.body, "id", "")), NULL,
                   &reply, &err),
               &err, "ask");
    ck_assert_int_eq(hf_client_outcome(&reply, &err), HF_OK);
    hf_client_close(admin);
    hf_client_close(nobody);
    hf_site_close(&site);
    hf_mem_free(mem);
}
END_TEST

/* Every kind of refusal has its status. */
START_TEST(every_code_has_a_status)
{
    static const struct {
        int code;
        hf_status status;
    } rows[] = {{200, HF_OK},      {202, HF_OK},       {400, HF_INVALID},  {401, HF_DENIED},
                {403, HF_DENIED},  {404, HF_NOTFOUND}, {409, HF_REJECTED}, {413, HF_TOOBIG},
                {422, HF_INVALID}, {429, HF_BUSY},     {500, HF_IO},       {503, HF_BUSY},
                {504, HF_TIMEOUT}, {507, HF_FULL}};
    hf_mem *mem = hf_mem_new();
    hf_client_reply reply = {.status = 400};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        reply.status = rows[i].code;
        ck_assert_int_eq(hf_client_outcome(&reply, NULL), rows[i].status);
    }
    reply.status = 400;
    reply.body = hf_json_(mem, "{'reason': 'unsupported_control_plane_version'}");
    ck_assert_int_eq(hf_client_outcome(&reply, NULL), HF_OLDER);
    hf_mem_free(mem);
}
END_TEST

/* Accepts once and answers each request on that connection, until the other side closes. */
static void one_connection(void *ctx)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"n\": true}";
    int fd = accept(*(int *)ctx, NULL, NULL);
    char bytes[4096];

    while (read(fd, bytes, sizeof(bytes)) > 0)
        if (write(fd, answer, sizeof(answer) - 1) < 0)
            break;
    (void)close(fd);
}

/* The second question goes over the connection of the first: nobody accepts another. */
START_TEST(keeps_its_connection)
{
    hf_mem *mem = hf_mem_new();
    hf_thread thread = {0};
    hf_client_reply reply;
    hf_client *client;
    hf_err err = {0};
    int port;
    int fd = hf_wire_listen(&port);

    hf_test_ok(hf_thread_start(&thread, "answers", one_connection, &fd, &err), &err, "thread");
    client = client_new(port, NULL, 5000, 0);
    for (int i = 0; i < 3; i++) {
        hf_test_ok(ask(client, mem, "GET", "/", NULL, &reply, &err), &err, "ask");
        ck_assert(hf_bool(reply.body, "n", false));
    }
    hf_client_close(client);
    hf_thread_join(&thread);
    (void)close(fd);
    hf_mem_free(mem);
}
END_TEST

/* An answer that is larger than allowed is not kept. */
START_TEST(refuses_an_answer_that_is_too_big)
{
    hf_mem *mem = hf_mem_new();
    hf_thread thread = {0};
    hf_client_reply reply;
    hf_client *client;
    hf_err err = {0};
    int port;
    int fd = hf_wire_listen(&port);

    hf_test_ok(hf_thread_start(&thread, "answers", one_connection, &fd, &err), &err, "thread");
    client = client_new(port, NULL, 5000, 10);
    ck_assert_int_eq(ask(client, mem, "GET", "/", NULL, &reply, &err), HF_TOOBIG);
    hf_client_close(client);
    hf_thread_join(&thread);
    (void)close(fd);
    hf_mem_free(mem);
}
END_TEST

/* A port where nobody listens, and one where nobody answers. */
START_TEST(tells_nobody_there_from_no_answer)
{
    hf_mem *mem = hf_mem_new();
    hf_client_reply reply;
    hf_client *client;
    hf_err err = {0};
    int port;
    int fd = hf_wire_listen(&port);

    client = client_new(port, NULL, 100, 0);
    ck_assert_int_eq(ask(client, mem, "GET", "/", NULL, &reply, &err), HF_TIMEOUT);
    (void)close(fd);
    ck_assert_int_eq(ask(client, mem, "GET", "/", NULL, &reply, &err), HF_UNREACHABLE);
    ck_assert_msg(strstr(err.text, "cannot be reached") != NULL, "%s", err.text);
    hf_client_close(client);
    hf_mem_free(mem);
}
END_TEST

/* A client, stopped as soon as its request has come in. */
typedef struct stop_job {
    int fd;
    hf_client *client;
} stop_job;

static void stop_when_asked(void *ctx)
{
    stop_job *job = ctx;
    struct pollfd wait = {.fd = job->fd, .events = POLLIN};

    (void)poll(&wait, 1, 10000);
    hf_client_stop(job->client);
}

/* Another thread ends a long wait, and what comes later ends at once. */
START_TEST(stops_from_another_thread)
{
    hf_mem *mem = hf_mem_new();
    hf_thread thread = {0};
    hf_client_reply reply;
    hf_err err = {0};
    int port;
    stop_job job = {.fd = hf_wire_listen(&port)};

    job.client = client_new(port, NULL, 60000, 0);
    hf_test_ok(hf_thread_start(&thread, "stops", stop_when_asked, &job, &err), &err, "thread");
    ck_assert_int_eq(ask(job.client, mem, "GET", "/", NULL, &reply, &err), HF_CANCELLED);
    ck_assert_int_eq(ask(job.client, mem, "GET", "/", NULL, &reply, &err), HF_CANCELLED);
    hf_thread_join(&thread);
    hf_client_close(job.client);
    (void)close(job.fd);
    hf_mem_free(mem);
}
END_TEST

/* Ids with anything in them stay one segment. */
START_TEST(escapes_what_goes_into_a_path)
{
    hf_mem *mem = hf_mem_new();

    ck_assert_str_eq(hf_client_path(mem, "/api/%s/signal/%s", "a/b c?#%", "ö-._~9"),
                     "/api/a%2Fb%20c%3F%23%25/signal/%C3%B6-._~9");
    hf_mem_free(mem);
}
END_TEST

/* Addresses that are none, and a token that would add a header. */
START_TEST(refuses_what_is_no_address)
{
    static const hf_client_options wrong[] = {{.url = "orders.db"},
                                              {.url = "ftp://host"},
                                              {.url = "http://h", .token = "a\r\nX-Other: b"},
                                              {.url = "http://h", .namespace = "a\n"}};
    hf_client *client;
    hf_err err;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        ck_assert_int_eq(hf_client_open(&wrong[i], &client, &err), HF_INVALID);
}
END_TEST

/* Whatever allocation fails, the call says so and leaves nothing behind. */
START_TEST(runs_out_of_memory_cleanly)
{
    const hf_client_options options = {
        .url = "unix:/nowhere/at/all", .token = "t", .namespace = "default"};
    bool more = true;

    for (int64_t nth = 1; more; nth++) {
        hf_mem *mem = hf_mem_new();
        hf_client *client = NULL;
        hf_client_reply reply;
        hf_status st;

        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_client_open(&options, &client, NULL);
        if (!st)
            st = ask(client, mem, "POST", "/api/health", hf_value_null(), &reply, NULL);
        more = hf_fault_seen(HF_FAULT_ALLOC) >= nth;
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_int_eq(st, more ? HF_NOMEM : HF_UNREACHABLE);
        hf_client_close(client);
        hf_mem_free(mem);
    }
}
END_TEST

HF_PG_SUITE_MAIN("client/client", {asks_and_understands_the_answers, 0},
                 {every_code_has_a_status, 0}, {keeps_its_connection, 0},
                 {refuses_an_answer_that_is_too_big, 0}, {tells_nobody_there_from_no_answer, 0},
                 {stops_from_another_thread, 0}, {escapes_what_goes_into_a_path, 0},
                 {refuses_what_is_no_address, 0}, {runs_out_of_memory_cleanly, 0})
