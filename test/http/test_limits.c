/* test_limits.c: what the server bounds: slow clients, uploads, streams that nobody reads,
   connections. Time limits are set low, and what is asserted is the order of things, not how long
   they take. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/app.h"

/* A client that dribbles its head or its body, or says nothing, is cut off. */
START_TEST(slow_senders_are_cut_off)
{
    static const char *const begins[] = {
        "", "GET /ec", "GET /echo HTTP/1.1\r\nHost: a\r\nX",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999\r\n\r\nabc"};
    app self;

    app_open(&self,
             (hf_http_options){.limits = {.head_ms = 200, .idle_ms = 200, .body_grace_ms = 200}});
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        hf_buf answer = {0};
        int fd = hf_wire_connect(app_port(&self));

        ck_assert(hf_wire_send(fd, hf_slice_of(begins[i])));
        for (int n = 0; n < 1000 && i > 0; n++) { /* a byte now and then does not help */
            struct pollfd wait = {.fd = fd, .events = POLLIN};

            if (poll(&wait, 1, 20) > 0 || !hf_wire_send(fd, HF_SLICE("a")))
                break;
        }
        ck_assert(hf_wire_read_all(fd, &answer));
        if (i > 0)
            ck_assert_ptr_nonnull(strstr(hf_buf_text(&answer), " 408 "));
        hf_buf_fini(&answer);
        (void)close(fd);
    }
    app_close(&self);
}
END_TEST

/* A client that reads its answer too slowly is cut off, and the sender hears that it never arrived.
 */
START_TEST(slow_readers_are_cut_off)
{
    app self;
    int fd;

    app_open(&self, (hf_http_options){.limits = {.body_grace_ms = 300, .rate_bytes = 1 << 30}});
    fd = hf_wire_connect(app_port(&self));
    ck_assert(hf_wire_send(fd, HF_SLICE(GET("/big"))));
    while (atomic_load(&self.delivered) < 0) { /* a byte now and then does not help */
        struct pollfd wait = {.fd = -1};
        char byte;

        (void)poll(&wait, 1, 20);
        if (recv(fd, &byte, 1, 0) != 1)
            break;
    }
    sem_take(&self.woken);
    ck_assert_int_eq(atomic_load(&self.delivered), 0);
    (void)close(fd);
    fd = hf_wire_connect(app_port(&self));
    ck_assert(hf_wire_send(fd, HF_SLICE(GET("/echo"))));
    reply_is(fd, 200, "");
    (void)close(fd);
    app_close(&self);
}
END_TEST

/* Uploads over the limit are refused before their body is read; the client sees the answer although
   it goes on sending. So are bodies that a route does not want, unless they are there already: then
   the route answers. */
START_TEST(uploads_over_the_limit)
{
    app self;
    hf_buf body = {0};
    hf_http_stats stats;
    int fd;

    app_open(&self, (hf_http_options){.limits = {.body_bytes_max = 100000}});
    hf_buf_add_text(&body, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n");
    for (int i = 0; i < 300000; i++)
        hf_buf_add_text(&body, "0123456789");
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(hf_wire_ask(app_port(&self), hf_buf_slice(&body), false), 413);
    hf_buf_clear(&body);
    hf_buf_add_text(&body, "POST /small HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                           "8\r\n01234567\r\n3\r\n");
    ck_assert_int_eq(hf_wire_ask(app_port(&self), hf_buf_slice(&body), false), 413);
    ck_assert_int_eq(
        hf_wire_ask(app_port(&self),
                    HF_SLICE("POST /forbidden HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"),
                    false),
        403);
    ck_assert_int_eq(
        hf_wire_ask(
            app_port(&self),
            HF_SLICE("POST /forbidden HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n1234"),
            false),
        403);
    fd = hf_wire_connect(app_port(&self));
    ck_assert(hf_wire_send(
        fd, HF_SLICE("POST /forbidden HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12345")));
    reply_is(fd, 404, "/forbidden");
    (void)close(fd);
    hf_buf_fini(&body);
    hf_http_stats_get(self.http, &stats);
    ck_assert_uint_eq(stats.bodies_bytes, 0);
    app_close(&self);
}
END_TEST

/* A thousand clients that upload more than all bodies together may hold: each is answered. */
START_TEST(a_thousand_uploads_at_once)
{
    enum { CLIENTS = 1000 };
    static const char head[] = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 65536\r\n\r\n";
    app self;
    int *fds = calloc(CLIENTS, sizeof(*fds));
    int refused = 0;
    hf_http_stats stats;

    ck_assert_ptr_nonnull(fds);
    app_open(&self, (hf_http_options){.limits = {.bodies_bytes_max = 16 * 65536}});
    for (int i = 0; i < CLIENTS; i++) {
        fds[i] = hf_wire_connect(app_port(&self));
        ck_assert(hf_wire_send(fds[i], hf_slice_from(head, sizeof(head) - 1)));
    }
    for (int i = 0; i < CLIENTS; i++) {
        char body[65536];
        hf_wire_reply reply;

        memset(body, 'b', sizeof(body));
        (void)hf_wire_send(fds[i], hf_slice_from(body, sizeof(body)));
        ck_assert(hf_wire_read_reply(fds[i], &reply));
        ck_assert(reply.status == 200 || reply.status == 503);
        refused += reply.status == 503;
        hf_wire_reply_fini(&reply);
        (void)close(fds[i]);
    }
    ck_assert_int_ge(refused, CLIENTS / 2);
    ck_assert_int_lt(refused, CLIENTS);
    hf_http_stats_get(self.http, &stats);
    ck_assert_uint_eq(stats.bodies_bytes, 0);
    free(fds);
    app_close(&self);
}
END_TEST

/* A reader of a stream that lags too far behind is cut off. */
START_TEST(lagging_readers_are_cut_off)
{
    app self;
    char block[8192];
    hf_status st = HF_OK;
    int fd;

    memset(block, 'x', sizeof(block));
    app_open(&self, (hf_http_options){.limits = {.stream_bytes_max = 65536}});
    fd = hf_wire_connect(app_port(&self));
    ck_assert(hf_wire_send(fd, HF_SLICE(GET("/stream"))));
    sem_take(&self.parked);
    for (int i = 0; i < 100000 && !st; i++)
        st = hf_http_stream_send(atomic_load(&self.exchange), hf_slice_from(block, sizeof(block)),
                                 NULL);
    ck_assert_int_eq(st, HF_STOPPED);
    sem_take(&self.woken);
    ck_assert_int_eq(atomic_load(&self.why), HF_HTTP_GONE);
    (void)close(fd);
    app_close(&self);
}
END_TEST

/* Connections beyond the bound are told so; closed ones make room. */
START_TEST(connections_are_bounded)
{
    app self;
    hf_buf answer = {0};
    int first;
    int second;
    int third;

    app_open(&self, (hf_http_options){.limits = {.connections_max = 2}});
    first = hf_wire_connect(app_port(&self));
    ck_assert(hf_wire_send(first, HF_SLICE(GET("/echo"))));
    reply_is(first, 200, "");
    second = hf_wire_connect(app_port(&self));
    ck_assert(hf_wire_send(second, HF_SLICE(GET("/echo"))));
    reply_is(second, 200, "");
    third = hf_wire_connect(app_port(&self));
    ck_assert(hf_wire_read_all(third, &answer));
    ck_assert_ptr_nonnull(strstr(hf_buf_text(&answer), " 503 "));
    (void)close(third);
    (void)close(second);
    ck_assert(hf_wire_send(first, HF_SLICE(GET("/echo"))));
    reply_is(first, 200, "");
    (void)close(first);
    hf_buf_fini(&answer);
    app_close(&self);
}
END_TEST

HF_SUITE_MAIN("http/limits", {slow_senders_are_cut_off, 0}, {slow_readers_are_cut_off, 0},
              {uploads_over_the_limit, 0}, {a_thousand_uploads_at_once, 0},
              {lagging_readers_are_cut_off, 0}, {connections_are_bounded, 0})
