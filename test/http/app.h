/* app.h: what the test programs of the server share: a small application that answers at once, from
   another thread, late or in a stream, as the path says, and the server before it. Included once
   per program. */
#ifndef HF_TEST_HTTP_APP_H
#define HF_TEST_HTTP_APP_H

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "base/attr.h"
#include "base/thread.h"
#include "http/http.h"
#include "lib/suite.h"
#include "lib/wire.h"

typedef struct app {
    hf_http *http;
    sem_t parked; /* one for each exchange that waits */
    sem_t woken;  /* one for each call of wake */
    _Atomic(hf_http_exchange *) exchange;
    _Atomic int why;
    _Atomic int delivered; /* -1 until it is known */
    hf_thread thread;
} app;

static HF_UNUSED void answer_text(hf_http_exchange *exchange, int status, hf_slice body)
{
    hf_http_reply reply;

    hf_http_reply_init(&reply, status);
    reply.type = "text/plain";
    hf_buf_add_slice(&reply.body, body);
    hf_http_answer(exchange, &reply);
}

/* Waits end here: the test looks at `why`. */
static HF_UNUSED void app_wake(void *ctx, hf_http_exchange *exchange, hf_http_why why)
{
    app *self = ctx;

    atomic_store(&self->why, (int)why);
    (void)sem_post(&self->woken);
    if (why == HF_HTTP_GONE)
        hf_http_abandon(exchange);
    else
        answer_text(exchange, 200, HF_SLICE("woken"));
}

static HF_UNUSED void stream_wake(void *ctx, hf_http_exchange *exchange, hf_http_why why)
{
    app *self = ctx;

    atomic_store(&self->why, (int)why);
    (void)sem_post(&self->woken);
    hf_http_stream_end(exchange);
}

static HF_UNUSED void later_run(void *ctx)
{
    app *self = ctx;

    answer_text(atomic_load(&self->exchange), 200, HF_SLICE("later"));
}

static HF_UNUSED void sent_note(void *ctx, bool delivered)
{
    app *self = ctx;

    atomic_store(&self->delivered, delivered);
    (void)sem_post(&self->woken);
}

static HF_UNUSED void big_answer(app *self, hf_http_exchange *exchange)
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

static HF_UNUSED void app_handle(void *ctx, hf_http_exchange *exchange)
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

static HF_UNUSED bool app_admit(void *ctx, const hf_http_exchange *exchange, size_t *body_bytes_max,
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

static HF_UNUSED void app_open(app *self, hf_http_options options)
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

static HF_UNUSED void app_close(app *self)
{
    hf_http_drain(self->http, 5000);
    hf_http_wait(self->http);
    hf_thread_join(&self->thread);
    hf_http_close(self->http);
    (void)sem_destroy(&self->parked);
    (void)sem_destroy(&self->woken);
}

static HF_UNUSED int app_port(const app *self)
{
    return hf_http_port(self->http);
}

static HF_UNUSED void sem_take(sem_t *sem)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    while (sem_timedwait(sem, &until))
        ck_assert_int_eq(errno, EINTR);
}

static HF_UNUSED void reply_is(int fd, int status, const char *body)
{
    hf_wire_reply reply;

    ck_assert(hf_wire_read_reply(fd, &reply));
    ck_assert_int_eq(reply.status, status);
    ck_assert_str_eq(hf_buf_text(&reply.body), body);
    hf_wire_reply_fini(&reply);
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"

#endif
