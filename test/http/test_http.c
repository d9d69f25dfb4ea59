/* test_http.c: the server on real sockets: keep-alive and pipelining, hostile clients, clients that
   vanish, answers from other threads, streams, draining, compression, addresses. What it bounds is
   in test_limits.c, TLS in test_tls.c. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "http/app.h"
#include "http/listen.h"
#include "lib/hostile.h"

/* Requests that follow each other, and requests sent all at once, are answered in order. */
START_TEST(keeps_alive_and_takes_pipelines)
{
    app self;
    hf_buf many = {0};
    int fd;

    app_open(&self, (hf_http_options){0});
    fd = hf_wire_connect(app_port(&self));
    for (int i = 0; i < 3; i++) {
        ck_assert(hf_wire_send(
            fd, HF_SLICE("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")));
        reply_is(fd, 200, "hi");
    }
    for (int i = 0; i < 2000; i++) {
        hf_buf_add_format(&many, "GET /x%d HTTP/1.1\r\nHost: a\r\n\r\n", i);
        if (i % 100 == 0)
            hf_buf_add_text(&many, GET("/later"));
    }
    ck_assert(hf_wire_send(fd, hf_buf_slice(&many)));
    for (int i = 0; i < 2000; i++) {
        char path[16];

        (void)snprintf(path, sizeof(path), "/x%d", i);
        reply_is(fd, 404, path);
        if (i % 100 == 0)
            reply_is(fd, 200, "later");
    }
    ck_assert(
        hf_wire_send(fd, HF_SLICE("GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")));
    reply_is(fd, 404, "/x");
    ck_assert(hf_wire_read_all(fd, &many));
    (void)close(fd);
    hf_buf_fini(&many);
    app_close(&self);
}
END_TEST

/* A request that its handler forgot is answered as it asked, and those behind it are taken. */
START_TEST(forgotten_requests_are_answered)
{
    app self;
    hf_wire_reply reply = {0};
    int fd;

    app_open(&self, (hf_http_options){.limits = {.gzip_bytes_min = 200}});
    fd = hf_wire_connect(app_port(&self));
    ck_assert(hf_wire_send(fd, HF_SLICE(GET("/forget") GET("/x"))));
    reply_is(fd, 200, LONG_TEXT);
    reply_is(fd, 404, "/x");
    ck_assert(hf_wire_send(
        fd, HF_SLICE("GET /forget HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n")));
    ck_assert(hf_wire_read_reply(fd, &reply));
    ck_assert(hf_slice_equal(hf_wire_field(&reply, "Content-Encoding"), HF_SLICE("gzip")));
    hf_wire_reply_fini(&reply);
    ck_assert(hf_wire_send(fd, HF_SLICE(GET("/forget"))));
    reply_is(fd, 200, LONG_TEXT);
    (void)close(fd);
    app_close(&self);
}
END_TEST

/* HEAD has the length and no body; 1.0 ends the connection; 100-continue is given. */
START_TEST(small_rules_of_http)
{
    app self;
    hf_wire_reply reply;
    hf_buf rest = {0};
    int fd;

    app_open(&self, (hf_http_options){0});
    fd = hf_wire_connect(app_port(&self));
    ck_assert(hf_wire_send(fd, HF_SLICE("HEAD /abc HTTP/1.0\r\n\r\n")));
    ck_assert(hf_wire_read_all(fd, &rest));
    ck_assert_ptr_nonnull(strstr(hf_buf_text(&rest), "Content-Length: 4\r\n"));
    ck_assert_ptr_nonnull(strstr(hf_buf_text(&rest), "Connection: close\r\n"));
    ck_assert_str_eq(hf_buf_text(&rest) + rest.len - 4, "\r\n\r\n");
    (void)close(fd);
    hf_buf_fini(&rest);
    fd = hf_wire_connect(app_port(&self));
    ck_assert(hf_wire_send(fd, HF_SLICE("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n"
                                        "Expect: 100-continue\r\n\r\n")));
    ck_assert(hf_wire_read_reply(fd, &reply));
    ck_assert_int_eq(reply.status, 100);
    hf_wire_reply_fini(&reply);
    ck_assert(hf_wire_send(fd, HF_SLICE("ok")));
    reply_is(fd, 200, "ok");
    (void)close(fd);
    app_close(&self);
}
END_TEST

/* Every hostile request gets a refusal and a closed connection, and so does the whole corpus. */
START_TEST(hostile_requests_are_refused)
{
    app self;
    hf_buf bytes = {0};
    size_t count = 0;
    const char *name;

    app_open(&self, (hf_http_options){0});
    for (; (name = hf_hostile_at(count, &bytes)); count++) {
        int status = hf_wire_ask(app_port(&self), hf_buf_slice(&bytes), false);

        ck_assert_msg(status >= 400, "%s: %d", name, status);
        hf_buf_clear(&bytes);
    }
    for (count = 0; hf_hostile_malformed(count, &bytes); count++) {
        int status = hf_wire_ask(app_port(&self), hf_buf_slice(&bytes), count % 2 == 0);

        ck_assert_msg(status >= 400, "%zu: %d: %s", count, status, hf_buf_text(&bytes));
        hf_buf_clear(&bytes);
    }
    ck_assert_uint_ge(count, 2000);
    hf_buf_fini(&bytes);
    app_close(&self);
}
END_TEST

/* A client that closes its side after any byte gets an answer or a closed connection, and all of
   them leave nothing behind. */
START_TEST(half_close_at_every_byte)
{
    static const char text[] =
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        "2\r\nhi\r\n0\r\n\r\n";
    app self;
    hf_http_stats stats;

    app_open(&self, (hf_http_options){0});
    for (size_t len = 0; len < sizeof(text); len++) {
        int status = hf_wire_ask(app_port(&self), hf_slice_from(text, len), true);

        ck_assert_int_eq(status, len == 0 ? 0 : len == sizeof(text) - 1 ? 200 : 400);
    }
    hf_http_drain(self.http, 5000);
    hf_http_wait(self.http);
    hf_http_stats_get(self.http, &stats);
    ck_assert_uint_eq(stats.connections, 0);
    ck_assert_uint_eq(stats.bodies_bytes, 0);
    app_close(&self);
}
END_TEST

/* A parked request ends when its time is over, when it is answered by another thread, and when its
   client goes away, by closing or by half-closing; then nothing is handed over. */
START_TEST(parked_requests)
{
    app self;
    hf_http_stats stats;
    int fd;

    app_open(&self, (hf_http_options){0});
    fd = hf_wire_connect(app_port(&self));
    ck_assert(hf_wire_send(fd, HF_SLICE(GET("/short"))));
    reply_is(fd, 200, "woken");
    sem_take(&self.woken);
    ck_assert_int_eq(atomic_load(&self.why), HF_HTTP_TIMEOUT);
    ck_assert(hf_wire_send(fd, HF_SLICE(GET("/park"))));
    sem_take(&self.parked);
    ck_assert(hf_http_exchange_alive(atomic_load(&self.exchange)));
    answer_text(atomic_load(&self.exchange), 200, HF_SLICE("handed"));
    reply_is(fd, 200, "handed");
    for (int half = 0; half < 2; half++) {
        ck_assert(hf_wire_send(fd, HF_SLICE(GET("/park"))));
        sem_take(&self.parked);
        if (half)
            hf_wire_finish(fd);
        else
            (void)close(fd);
        sem_take(&self.woken);
        ck_assert_int_eq(atomic_load(&self.why), HF_HTTP_GONE);
        if (half)
            (void)close(fd);
        fd = hf_wire_connect(app_port(&self));
    }
    (void)close(fd);
    hf_http_stats_get(self.http, &stats);
    ck_assert_uint_eq(stats.parked, 0);
    app_close(&self);
}
END_TEST

/* An answer to a client that left meanwhile is dropped, and the sender is told. */
START_TEST(answers_to_the_dead_are_reported)
{
    app self;
    hf_http_reply reply;
    int fd;

    app_open(&self, (hf_http_options){0});
    fd = hf_wire_connect(app_port(&self));
    ck_assert(hf_wire_send(fd, HF_SLICE(GET("/stream"))));
    sem_take(&self.parked);
    (void)close(fd);
    sem_take(&self.woken);
    ck_assert_int_eq(atomic_load(&self.why), HF_HTTP_GONE);
    fd = hf_wire_connect(app_port(&self));
    ck_assert(hf_wire_send(fd, HF_SLICE(GET("/park"))));
    sem_take(&self.parked);
    hf_http_reply_init(&reply, 200);
    reply.sent = sent_note;
    reply.sent_ctx = &self;
    hf_http_answer(atomic_load(&self.exchange), &reply);
    sem_take(&self.woken);
    ck_assert_int_eq(atomic_load(&self.delivered), 1);
    (void)close(fd);
    fd = hf_wire_connect(app_port(&self));
    ck_assert(hf_wire_send(fd, HF_SLICE(GET("/later-than-gone"))));
    sem_take(&self.parked);
    (void)close(fd);
    hf_http_reply_init(&reply, 200); /* whether or not the loop has heard of it */
    reply.sent = sent_note;
    reply.sent_ctx = &self;
    hf_http_answer(atomic_load(&self.exchange), &reply);
    sem_take(&self.woken);
    ck_assert_int_eq(atomic_load(&self.delivered), 0);
    app_close(&self);
}
END_TEST

/* A stream delivers what is sent, beats while it is silent, and ends properly. */
START_TEST(streams)
{
    app self;
    hf_wire_reply head;
    hf_buf rest = {0};
    int fd;

    app_open(&self, (hf_http_options){.limits = {.beat_ms = 50}});
    fd = hf_wire_connect(app_port(&self));
    ck_assert(
        hf_wire_send(fd, HF_SLICE("GET /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")));
    sem_take(&self.parked);
    ck_assert(hf_wire_read_reply(fd, &head));
    ck_assert(hf_slice_equal(hf_wire_field(&head, "Content-Type"), HF_SLICE("text/event-stream")));
    ck_assert_int_eq(
        hf_http_stream_send(atomic_load(&self.exchange), HF_SLICE("data: one\n\n"), NULL), HF_OK);
    while (!strstr(hf_buf_text(&rest), ": beat\n\n")) {
        char piece[64];
        ssize_t got = recv(fd, piece, sizeof(piece), 0);

        ck_assert_int_gt(got, 0);
        hf_buf_add(&rest, piece, (size_t)got);
    }
    hf_http_stream_end(atomic_load(&self.exchange));
    ck_assert(hf_wire_read_all(fd, &rest));
    ck_assert_ptr_nonnull(strstr(hf_buf_text(&rest), "b\r\ndata: one\n\n\r\n"));
    ck_assert_str_eq(hf_buf_text(&rest) + rest.len - 5, "0\r\n\r\n");
    hf_wire_reply_fini(&head);
    hf_buf_fini(&rest);
    (void)close(fd);
    app_close(&self);
}
END_TEST

/* Draining answers what is parked, closes what is idle, refuses newcomers, and ends. */
START_TEST(drains)
{
    app self;
    hf_buf rest = {0};
    int idle;
    int parked;

    app_open(&self, (hf_http_options){0});
    idle = hf_wire_connect(app_port(&self));
    ck_assert(hf_wire_send(idle, HF_SLICE(GET("/echo"))));
    reply_is(idle, 200, "");
    parked = hf_wire_connect(app_port(&self));
    ck_assert(hf_wire_send(parked, HF_SLICE(GET("/park"))));
    sem_take(&self.parked);
    hf_http_drain(self.http, 60000);
    reply_is(parked, 200, "woken");
    ck_assert_int_eq(atomic_load(&self.why), HF_HTTP_DRAINING);
    ck_assert(hf_wire_read_all(idle, &rest));
    ck_assert_uint_eq(rest.len, 0);
    ck_assert(hf_wire_read_all(parked, &rest));
    (void)close(idle);
    (void)close(parked);
    hf_http_wait(self.http);
    hf_buf_fini(&rest);
    app_close(&self);
}
END_TEST

/* Bodies over the threshold come compressed to who accepts that, and unpack to the same. */
START_TEST(compresses)
{
    app self;
    hf_buf request = {0};
    hf_wire_reply reply;
    z_stream stream = {0};
    char body[4000];
    char back[5000];
    int fd;

    memset(body, 'z', sizeof(body));
    app_open(&self, (hf_http_options){0});
    hf_buf_add_format(&request,
                      "POST /echo HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n"
                      "Content-Length: %zu\r\n\r\n",
                      sizeof(body));
    hf_buf_add(&request, body, sizeof(body));
    fd = hf_wire_connect(app_port(&self));
    ck_assert(hf_wire_send(fd, hf_buf_slice(&request)));
    ck_assert(hf_wire_read_reply(fd, &reply));
    ck_assert(hf_slice_equal(hf_wire_field(&reply, "Content-Encoding"), HF_SLICE("gzip")));
    ck_assert_uint_lt(reply.body.len, 200);
    ck_assert_int_eq(inflateInit2(&stream, 15 + 16), Z_OK);
    stream.next_in = (Bytef *)reply.body.ptr;
    stream.avail_in = (uInt)reply.body.len;
    stream.next_out = (Bytef *)back;
    stream.avail_out = sizeof(back);
    ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
    ck_assert_uint_eq(stream.total_out, sizeof(body));
    ck_assert_int_eq(memcmp(back, body, sizeof(body)), 0);
    (void)inflateEnd(&stream);
    hf_wire_reply_fini(&reply);
    hf_buf_fini(&request);
    (void)close(fd);
    app_close(&self);
}
END_TEST

/* One byte below the threshold a body is worth no packing. */
START_TEST(compresses_from_the_threshold_on)
{
    enum { THRESHOLD = 1024 };
    app self;
    int fd;

    app_open(&self, (hf_http_options){0});
    fd = hf_wire_connect(app_port(&self));
    for (size_t len = THRESHOLD - 1; len <= THRESHOLD; len++) {
        hf_buf request = {0};
        hf_wire_reply reply = {0};

        hf_buf_add_format(&request,
                          "POST /echo HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n"
                          "Content-Length: %zu\r\n\r\n",
                          len);
        for (size_t i = 0; i < len; i++)
            hf_buf_add_byte(&request, 'z');
        ck_assert(hf_wire_send(fd, hf_buf_slice(&request)));
        ck_assert(hf_wire_read_reply(fd, &reply));
        ck_assert_int_eq(
            hf_slice_equal(hf_wire_field(&reply, "Content-Encoding"), HF_SLICE("gzip")),
            len == THRESHOLD);
        ck_assert_int_eq(reply.body.len == len, len < THRESHOLD);
        hf_wire_reply_fini(&reply);
        hf_buf_fini(&request);
    }
    (void)close(fd);
    app_close(&self);
}
END_TEST

/* Addresses that cannot be listened on say why; a socket in the file system can. */
START_TEST(addresses)
{
    static const char *const bad[] = {"", "1.2.3.4", ":80", "[::1]", "a:b:c", "127.0.0.1:99999x"};
    static const char *const open[] = {"0.0.0.0:1",          "example.org:1",  "127.example.org:1",
                                       "unixbox:1",          "localhost.me:1", "[::12]:1",
                                       "[::ffff:1.2.3.4]:1", "[::]:1",         "1270.0.0.1:1"};
    hf_http *http = NULL;
    hf_http *again = NULL;
    char address[64];
    hf_err err = {0};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_int_eq(hf_http_open(&(hf_http_options){.listen = bad[i]}, &http, &err),
                         HF_INVALID);
    ck_assert_int_eq(hf_http_open(&(hf_http_options){.listen = "127.0.0.1:0"}, &http, &err), HF_OK);
    (void)snprintf(address, sizeof(address), "127.0.0.1:%d", hf_http_port(http));
    ck_assert_int_eq(hf_http_open(&(hf_http_options){.listen = address}, &again, &err), HF_BUSY);
    hf_http_close(http);
    (void)snprintf(address, sizeof(address), "unix:/tmp/hf_test_%d.sock", (int)getpid());
    ck_assert_int_eq(hf_http_open(&(hf_http_options){.listen = address}, &http, &err), HF_OK);
    ck_assert_int_eq(hf_http_open(&(hf_http_options){.listen = address}, &again, &err), HF_BUSY);
    hf_http_close(http);
    ck_assert_int_ne(access(address + 5, F_OK), 0);
    ck_assert(hf_listen_is_loopback("127.0.0.1:1") && hf_listen_is_loopback("[::1]:1") &&
              hf_listen_is_loopback("localhost:1") && hf_listen_is_loopback("unix:/run/h") &&
              hf_listen_is_loopback("127.1.2.3") && hf_listen_is_loopback("::1") &&
              hf_listen_is_loopback("::ffff:127.0.0.1") && hf_listen_is_loopback("unix"));
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
        ck_assert_msg(!hf_listen_is_loopback(open[i]), "%s", open[i]);
}
END_TEST

HF_SUITE_MAIN("http/http", {keeps_alive_and_takes_pipelines, 0},
              {forgotten_requests_are_answered, 0}, {small_rules_of_http, 0},
              {hostile_requests_are_refused, 120}, {half_close_at_every_byte, 0},
              {parked_requests, 0}, {answers_to_the_dead_are_reported, 0}, {streams, 0},
              {drains, 0}, {compresses, 0}, {compresses_from_the_threshold_on, 0}, {addresses, 0})
