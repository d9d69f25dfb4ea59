/* test_http.c: the server on real sockets: keep-alive and pipelining, hostile clients, slow
   clients, clients that vanish, answers from other threads, streams, draining, TLS. Time limits are
   set low, and what is asserted is the order of things, not how long they take. */
#include <errno.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/thread.h"
#include "http/http.h"
#include "http/listen.h"
#include "lib/hostile.h"
#include "lib/suite.h"
#include "lib/wire.h"

/* ---- a small application */

typedef struct app {
    hf_http *http;
    sem_t parked; /* one for each exchange that waits */
    sem_t woken;  /* one for each call of wake */
    _Atomic(hf_http_exchange *) exchange;
    _Atomic int why;
    _Atomic int delivered; /* -1 until it is known */
    hf_thread thread;
} app;

static void answer_text(hf_http_exchange *exchange, int status, hf_slice body)
{
    hf_http_reply reply;

    hf_http_reply_init(&reply, status);
    reply.type = "text/plain";
    hf_buf_add_slice(&reply.body, body);
    hf_http_answer(exchange, &reply);
}

/* Waits end here: the test looks at `why`. */
static void app_wake(void *ctx, hf_http_exchange *exchange, hf_http_why why)
{
    app *self = ctx;

    atomic_store(&self->why, (int)why);
    (void)sem_post(&self->woken);
    if (why == HF_HTTP_GONE)
        hf_http_abandon(exchange);
    else
        answer_text(exchange, 200, HF_SLICE("woken"));
}

static void stream_wake(void *ctx, hf_http_exchange *exchange, hf_http_why why)
{
    app *self = ctx;

    atomic_store(&self->why, (int)why);
    (void)sem_post(&self->woken);
    hf_http_stream_end(exchange);
}

static void later_run(void *ctx)
{
    app *self = ctx;

    answer_text(atomic_load(&self->exchange), 200, HF_SLICE("later"));
}

static void sent_note(void *ctx, bool delivered)
{
    app *self = ctx;

    atomic_store(&self->delivered, delivered);
    (void)sem_post(&self->woken);
}

static void big_answer(app *self, hf_http_exchange *exchange)
{
    hf_http_reply reply;

    hf_http_reply_init(&reply, 200);
    reply.type = "text/plain";
    for (int i = 0; i < 1 << 20; i++)
        hf_buf_add_text(&reply.body, "0123456789abcdef");
    reply.sent = sent_note;
    reply.sent_ctx = self;
    hf_http_answer(exchange, &reply);
}

#define TEN_WORDS "one two three four five six seven eight nine ten "
#define LONG_TEXT TEN_WORDS TEN_WORDS TEN_WORDS TEN_WORDS TEN_WORDS TEN_WORDS

static void app_handle(void *ctx, hf_http_exchange *exchange)
{
    app *self = ctx;
    const hf_http_request *request = hf_http_exchange_request(exchange);
    hf_slice path = hf_http_request_path(request);

    atomic_store(&self->exchange, exchange);
    if (hf_slice_equal(path, HF_SLICE("/park"))) {
        hf_http_park(exchange, 60000, app_wake, self);
        (void)sem_post(&self->parked);
    } else if (hf_slice_equal(path, HF_SLICE("/later-than-gone"))) {
        (void)sem_post(&self->parked);
    } else if (hf_slice_equal(path, HF_SLICE("/short"))) {
        hf_http_park(exchange, 50, app_wake, self);
    } else if (hf_slice_equal(path, HF_SLICE("/later"))) {
        hf_thread_join(&self->thread);
        ck_assert_int_eq(hf_thread_start(&self->thread, "later", later_run, self, NULL), HF_OK);
    } else if (hf_slice_equal(path, HF_SLICE("/stream"))) {
        hf_http_reply reply;

        hf_http_reply_init(&reply, 200);
        reply.type = "text/event-stream";
        hf_http_stream(exchange, &reply, stream_wake, self);
        (void)sem_post(&self->parked);
    } else if (hf_slice_equal(path, HF_SLICE("/forget"))) {
        hf_http_forget(exchange);
        answer_text(exchange, 200, HF_SLICE(LONG_TEXT));
    } else if (hf_slice_equal(path, HF_SLICE("/big"))) {
        big_answer(self, exchange);
    } else if (hf_slice_equal(path, HF_SLICE("/echo"))) {
        answer_text(exchange, 200, hf_buf_slice(&request->body));
    } else {
        answer_text(exchange, 404, hf_http_request_path(request));
    }
}

static bool app_admit(void *ctx, const hf_http_exchange *exchange, size_t *body_bytes_max,
                      hf_http_reply *out_reply)
{
    hf_slice path = hf_http_request_path(hf_http_exchange_request(exchange));

    (void)ctx;
    if (hf_slice_equal(path, HF_SLICE("/small")))
        *body_bytes_max = 10;
    if (!hf_slice_equal(path, HF_SLICE("/forbidden")))
        return true;
    out_reply->status = 403;
    hf_buf_add_text(&out_reply->body, "no");
    return false;
}

static void app_open(app *self, hf_http_options options)
{
    hf_err err = {0};

    *self = (app){0};
    atomic_store(&self->delivered, -1);
    (void)sem_init(&self->parked, 0, 0);
    (void)sem_init(&self->woken, 0, 0);
    if (!options.listen)
        options.listen = "127.0.0.1:0";
    options.handlers = (hf_http_handlers){.admit = app_admit, .handle = app_handle, .ctx = self};
    ck_assert_msg(hf_http_open(&options, &self->http, &err) == HF_OK, "%s", err.text);
    ck_assert_int_eq(hf_http_start(self->http, &err), HF_OK);
}

static void app_close(app *self)
{
    hf_http_drain(self->http, 5000);
    hf_http_wait(self->http);
    hf_thread_join(&self->thread);
    hf_http_close(self->http);
    (void)sem_destroy(&self->parked);
    (void)sem_destroy(&self->woken);
}

static int app_port(const app *self)
{
    return hf_http_port(self->http);
}

static void sem_take(sem_t *sem)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    while (sem_timedwait(sem, &until))
        ck_assert_int_eq(errno, EINTR);
}

static void reply_is(int fd, int status, const char *body)
{
    hf_wire_reply reply;

    ck_assert(hf_wire_read_reply(fd, &reply));
    ck_assert_int_eq(reply.status, status);
    ck_assert_str_eq(hf_buf_text(&reply.body), body);
    hf_wire_reply_fini(&reply);
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"

/* ---- cases */

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

static void certificate_make(const char *folder)
{
    char command[600];

    (void)snprintf(command, sizeof(command),
                   "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
                   "-subj /CN=localhost -keyout %s/key.pem -out %s/cert.pem >/dev/null 2>&1",
                   folder, folder);
    ck_assert_int_eq(system(command), 0);
}

static void folder_remove(const char *folder)
{
    char command[100];

    (void)snprintf(command, sizeof(command), "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* The same over TLS. Who speaks plain HTTP there is told so in the clear, and who speaks neither is
   cut off. */
START_TEST(speaks_tls)
{
    char folder[] = "/tmp/hf_tls_XXXXXX";
    char certificate[64];
    char key[64];
    app self;
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());

    ck_assert_ptr_nonnull(mkdtemp(folder));
    certificate_make(folder);
    (void)snprintf(certificate, sizeof(certificate), "%s/cert.pem", folder);
    (void)snprintf(key, sizeof(key), "%s/key.pem", folder);
    app_open(&self, (hf_http_options){.tls_certificate = certificate, .tls_key = key});
    for (int i = 0; i < 3; i++) {
        int fd = hf_wire_connect(app_port(&self));
        SSL *ssl = SSL_new(context);
        char answer[4096] = "";
        int got = 0;

        ck_assert_int_eq(SSL_set_fd(ssl, fd), 1);
        ck_assert_int_eq(SSL_connect(ssl), 1);
        ck_assert_int_gt(SSL_write(ssl, GET("/later"), (int)strlen(GET("/later"))), 0);
        while (got >= 0 && !strstr(answer, "later")) {
            int more = SSL_read(ssl, answer + got, (int)sizeof(answer) - 1 - got);

            ck_assert_int_gt(more, 0);
            got += more;
        }
        ck_assert_ptr_nonnull(strstr(answer, "HTTP/1.1 200 OK"));
        SSL_free(ssl);
        (void)close(fd);
    }
    ck_assert_int_eq(hf_wire_ask(app_port(&self), HF_SLICE(GET("/echo")), false), 400);
    ck_assert_int_eq(hf_wire_ask(app_port(&self), HF_SLICE("\x16\x03\x01\x00\x05hello"), false), 0);
    app_close(&self);
    SSL_CTX_free(context);
    folder_remove(folder);
}
END_TEST

/* Files that are no certificate, no key, or those of somebody else are named, and what is wrong
   with them; a key with a pass phrase asks nobody for it. */
START_TEST(refuses_bad_certificates)
{
    static const struct {
        const char *certificate;
        const char *key;
        const char *says;
    } rows[] = {
        {"cert.pem", "other.pem", "other.pem does not belong to the certificate"},
        {"cert.pem", "none.pem", "none.pem: No such file"},
        {"cert.pem", "junk.pem", "junk.pem holds no private key"},
        {"cert.pem", "cert.pem", "cert.pem holds no private key"},
        {"cert.pem", ".", "holds no private key"},
        {"cert.pem", "locked.pem", "locked.pem wants a pass phrase"},
        {"none.pem", "key.pem", "none.pem: No such file"},
        {"junk.pem", "key.pem", "junk.pem holds no certificate"},
        {"key.pem", "key.pem", "key.pem holds no certificate"},
    };
    char folder[] = "/tmp/hf_tls_XXXXXX";
    char command[600];

    ck_assert_ptr_nonnull(mkdtemp(folder));
    certificate_make(folder);
    (void)snprintf(command, sizeof(command),
                   "cd %s && echo hello >junk.pem && "
                   "openssl ecparam -name prime256v1 -genkey -noout -out other.pem 2>/dev/null && "
                   "openssl ec -aes256 -passout pass:x -in key.pem -out locked.pem 2>/dev/null",
                   folder);
    ck_assert_int_eq(system(command), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char certificate[64];
        char key[64];
        hf_http *none = NULL;
        hf_err err = {0};

        (void)snprintf(certificate, sizeof(certificate), "%s/%s", folder, rows[i].certificate);
        (void)snprintf(key, sizeof(key), "%s/%s", folder, rows[i].key);
        ck_assert_int_eq(hf_http_open(&(hf_http_options){.listen = "127.0.0.1:0",
                                                         .tls_certificate = certificate,
                                                         .tls_key = key},
                                      &none, &err),
                         HF_INVALID);
        ck_assert_msg(strstr(err.text, rows[i].says), "%zu: %s", i, err.text);
    }
    folder_remove(folder);
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
              {slow_senders_are_cut_off, 0}, {slow_readers_are_cut_off, 0},
              {uploads_over_the_limit, 0}, {a_thousand_uploads_at_once, 0}, {parked_requests, 0},
              {answers_to_the_dead_are_reported, 0}, {streams, 0}, {lagging_readers_are_cut_off, 0},
              {drains, 0}, {compresses, 0}, {compresses_from_the_threshold_on, 0}, {speaks_tls, 0},
              {refuses_bad_certificates, 0}, {connections_are_bounded, 0}, {addresses, 0})
