/* conn.c: the life of a connection, from accept to close, as a state machine that runs until it has
   to wait for the network or for a handler. One request at a time; bytes ahead of their turn are
   kept up to a bound. The rule: whatever a client does, its connection ends in bounded time and
   memory, and an exchange that a handler holds outlives the client. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "http/http_impl.h"

enum { READS_AT_ONCE = 4, READS_BETWEEN = 16 };

#define NEVER INT64_MAX

/* ---- events and deadlines */

static int64_t now_us(const hf_http_exchange *conn)
{
    return hf_clock_mono_us(conn->http->clock);
}

static void deadline_set(hf_http_exchange *conn, int64_t due_us)
{
    hf_deadlines_move(conn->http->deadlines, &conn->deadline, due_us);
    hf_http_timer_update(conn->http);
}

void hf_conn_deadline_in(hf_http_exchange *conn, int64_t ms)
{
    deadline_set(conn, now_us(conn) + ms * 1000);
}

/* What moves bytes may take its grace and a second for each so many bytes. */
static void deadline_by_rate(hf_http_exchange *conn)
{
    const hf_http_limits *limits = &conn->http->limits;

    deadline_set(conn, conn->since_us + limits->body_grace_ms * 1000 +
                           (int64_t)conn->moved / limits->rate_bytes * 1000000);
}

static void reading_set(hf_http_exchange *conn, bool wanted)
{
    if (wanted == conn->reading)
        return;
    conn->reading = wanted;
    if (wanted)
        (void)event_add(&conn->read_event, NULL);
    else
        (void)event_del(&conn->read_event);
}

static void body_release(hf_http_exchange *conn)
{
    atomic_fetch_sub(&conn->http->bodies_bytes, conn->promised);
    conn->promised = 0;
}

/* ---- the end */

static void sent_tell(hf_http_exchange *conn, bool delivered)
{
    hf_http_sent_fn *sent = conn->sent;

    conn->sent = NULL;
    if (sent)
        sent(conn->sent_ctx, delivered);
}

static void parked_clear(hf_http_exchange *conn)
{
    if (conn->parked)
        atomic_fetch_sub(&conn->http->parked, 1);
    conn->parked = false;
}

static void conn_free(hf_http_exchange *conn)
{
    hf_http *http = conn->http;
    const hf_http_handlers *handlers = &http->options.handlers;

    if (handlers->ended)
        handlers->ended(handlers->ctx, conn, conn->left);
    hf_mutex_lock(&http->mutex);
    hf_list_remove(&conn->post);
    hf_mutex_unlock(&http->mutex);
    hf_conn_uncount(conn);
    hf_list_remove(&conn->link);
    hf_deadlines_remove(http->deadlines, &conn->deadline);
    hf_tls_session_free(conn->tls);
    (void)close(conn->fd);
    hf_http_parser_fini(&conn->parser);
    hf_buf_fini(&conn->ahead);
    hf_buf_fini(&conn->out_head);
    hf_buf_fini(&conn->out_body);
    hf_buf_fini(&conn->stream);
    hf_alloc_free(conn);
    atomic_fetch_sub(&http->open, 1);
}

/* Nothing goes in or out any more. The memory stays while a handler holds the exchange. */
static void conn_end(hf_http_exchange *conn)
{
    bool waited = conn->parked || conn->state == CONN_STREAMING;

    if (conn->state == CONN_CLOSED)
        return;
    conn->state = CONN_CLOSED;
    atomic_store(&conn->gone, true);
    reading_set(conn, false);
    (void)event_del(&conn->write_event);
    (void)shutdown(conn->fd, SHUT_RDWR);
    hf_sched_stir();
    deadline_set(conn, NEVER);
    body_release(conn);
    parked_clear(conn);
    if (!conn->held) /* a handler may be writing its answer at this moment */
        sent_tell(conn, false);
    if (waited && conn->held && conn->wake)
        conn->wake(conn->wake_ctx, conn, HF_HTTP_GONE);
}

/* Everything the loop calls enters and leaves; the outermost to leave frees what is closed. */
static void conn_enter(hf_http_exchange *conn)
{
    conn->depth++;
}

static void conn_leave(hf_http_exchange *conn)
{
    HF_ASSERT(conn->depth > 0);
    if (--conn->depth == 0 && conn->state == CONN_CLOSED && !conn->held)
        conn_free(conn);
}

/* ---- requests in */

static void parser_next(hf_http_exchange *conn)
{
    hf_http_parser_reset(&conn->parser, &conn->http->limits);
    conn->begun = false;
    conn->state = CONN_READING;
    reading_set(conn, !conn->eof);
    hf_conn_deadline_in(conn, conn->http->limits.idle_ms);
}

/* Everything was said; the client may have bytes under way that would make the system throw away
   our answer if the socket were closed now. */
static void conn_linger(hf_http_exchange *conn)
{
    if (conn->eof) {
        conn_end(conn);
        return;
    }
    if (conn->tls)
        hf_tls_session_bye(conn->tls);
    (void)shutdown(conn->fd, SHUT_WR);
    hf_sched_stir();
    conn->state = CONN_LINGER;
    hf_buf_fini(&conn->ahead);
    reading_set(conn, true);
    hf_conn_deadline_in(conn, conn->http->limits.linger_ms);
}

void hf_conn_render(hf_http_exchange *conn, hf_http_reply *reply, bool stream)
{
    const hf_http_request *request = &conn->parser.request;
    hf_http_render how = {
        .minor = request->minor,
        .head_only = request->method == HF_HTTP_HEAD,
        .accepts_gzip = conn->gzip || hf_http_request_lists(request, "accept-encoding", "gzip"),
        .keep_alive = request->keep_alive && !reply->final &&
                      !atomic_load(&conn->http->drain_wanted) && (!stream || request->minor == 1),
        .stream = stream,
        .gzip_bytes_min = conn->http->limits.gzip_bytes_min,
        .wall_us = hf_clock_wall_us(conn->http->clock)};

    conn->final = !how.keep_alive;
    conn->sent = reply->sent;
    conn->sent_ctx = reply->sent_ctx;
    conn->spoiled = !hf_buf_ok(&reply->body) || !hf_buf_ok(&reply->fields);
    hf_http_reply_render(reply, &how, &conn->out_head, &conn->out_body);
    if (hf_buf_ok(&conn->out_head))
        return;
    hf_buf_fini(&conn->out_head); /* half a head, or a body without one, is no answer: none is */
    hf_buf_fini(&conn->out_body);
    conn->final = true;
    conn->spoiled = true;
}

static void writing_begin(hf_http_exchange *conn)
{
    conn->state = CONN_WRITING;
    conn->since_us = now_us(conn);
    conn->moved = 0;
    deadline_by_rate(conn);
}

/* Answers by itself and ends the connection: what follows a bad request cannot be trusted. */
static void conn_refuse(hf_http_exchange *conn, int status, const char *reason)
{
    const hf_http_handlers *handlers = &conn->http->options.handlers;
    hf_http_reply reply;

    hf_http_reply_init(&reply, status);
    reply.final = true;
    if (handlers->refuse) {
        handlers->refuse(handlers->ctx, reason, &reply);
    } else {
        reply.type = "text/plain; charset=utf-8";
        hf_buf_add_text(&reply.body, reason);
    }
    if (status == 503)
        hf_http_reply_field(&reply, "Retry-After", HF_SLICE("1"));
    atomic_fetch_add(&conn->http->refused, 1);
    body_release(conn);
    hf_conn_render(conn, &reply, false);
    reading_set(conn, false);
    writing_begin(conn);
}

static void continue_send(hf_http_exchange *conn)
{
    hf_buf_add_text(&conn->out_head, "HTTP/1.1 100 Continue\r\n\r\n");
    if (hf_conn_flush(conn) != CONN_FLUSH_ALL) /* a new connection always has room for 25 bytes */
        conn_end(conn);
}

/* The head is in: may the body come? One that has come already is not asked about: whoever handles
   the request does that. */
static void body_admit(hf_http_exchange *conn, size_t come)
{
    hf_http *http = conn->http;
    const hf_http_handlers *handlers = &http->options.handlers;
    hf_http_parser *parser = &conn->parser;
    bool whole = !parser->chunked && come >= parser->left;
    hf_http_reply reply;

    hf_http_reply_init(&reply, 400);
    if (!whole && handlers->admit &&
        !handlers->admit(handlers->ctx, conn, &parser->body_bytes_max, &reply)) {
        reply.final = true;
        atomic_fetch_add(&http->refused, 1);
        hf_conn_render(conn, &reply, false);
        reading_set(conn, false);
        writing_begin(conn);
        return;
    }
    hf_http_reply_fini(&reply);
    if (!parser->chunked && parser->left > parser->body_bytes_max) {
        conn_refuse(conn, 413, "the body is too large");
        return;
    }
    conn->promised = parser->chunked ? parser->body_bytes_max : (size_t)parser->left;
    if (atomic_fetch_add(&http->bodies_bytes, conn->promised) + conn->promised >
        http->limits.bodies_bytes_max) {
        conn_refuse(conn, 503, "too many bodies are being received");
        return;
    }
    conn->since_us = now_us(conn);
    conn->moved = 0;
    deadline_by_rate(conn);
    if (parser->request.wants_continue && come == 0)
        continue_send(conn);
}

/* Whoever let the exchange wait hears that the server is about to stop. */
static void drain_tell(hf_http_exchange *conn)
{
    bool waits = conn->parked || conn->state == CONN_STREAMING;

    if (!waits || !conn->held || !conn->wake || conn->told_drain)
        return;
    conn->told_drain = true;
    conn->wake(conn->wake_ctx, conn, HF_HTTP_DRAINING);
}

static void request_dispatch(hf_http_exchange *conn)
{
    const hf_http_handlers *handlers = &conn->http->options.handlers;

    conn->state = CONN_HANDLING;
    conn->held = true;
    conn->answered = false;
    conn->abandoned = false;
    conn->told_drain = false;
    conn->gzip = false;
    conn->wake = NULL;
    deadline_set(conn, NEVER);
    atomic_fetch_add(&conn->http->requests, 1);
    handlers->handle(handlers->ctx, conn);
    if (conn->http->draining)
        drain_tell(conn);
}

/* Gives the parser what there is. False when it has to wait. */
static bool conn_parse(hf_http_exchange *conn, hf_slice *in)
{
    hf_http_parser *parser = &conn->parser;
    bool in_body = conn->promised > 0;
    size_t taken = 0;

    if (in->len == 0 && hf_http_parser_fresh(parser))
        return false;
    switch (hf_http_parser_feed(parser, *in, &taken)) {
    case HF_HTTP_MORE:
        *in = hf_slice_from(in->ptr + taken, in->len - taken);
        if (!conn->begun)
            hf_conn_deadline_in(conn, conn->http->limits.head_ms);
        conn->begun = true;
        if (in_body && taken) {
            conn->moved += taken;
            deadline_by_rate(conn);
        }
        return false;
    case HF_HTTP_HEAD_IN:
        *in = hf_slice_from(in->ptr + taken, in->len - taken);
        conn->begun = true;
        if (parser->request.has_body)
            body_admit(conn, in->len);
        return true;
    case HF_HTTP_WHOLE:
        *in = hf_slice_from(in->ptr + taken, in->len - taken);
        request_dispatch(conn);
        return true;
    case HF_HTTP_REFUSED:
        *in = (hf_slice){0};
        conn_refuse(conn, parser->status, parser->reason);
        return true;
    }
    return false;
}

/* ---- the machine */

/* The handler gave the exchange back. */
static void conn_return(hf_http_exchange *conn)
{
    conn->held = false;
    parked_clear(conn);
    body_release(conn);
    if (conn->abandoned) {
        conn_end(conn);
        return;
    }
    if (conn->state == CONN_CLOSED) { /* the client did not wait */
        sent_tell(conn, false);
        return;
    }
    if (conn->sent && !hf_http_exchange_alive(conn)) {
        conn_end(conn); /* somebody wants to know, and the system would take the bytes */
        return;
    }
    writing_begin(conn);
}

static void conn_written(hf_http_exchange *conn)
{
    sent_tell(conn, !conn->spoiled);
    if (conn->final || conn->eof || conn->http->draining)
        conn_linger(conn);
    else
        parser_next(conn);
}

/* Takes what other threads sent and puts it out. */
static void stream_flush(hf_http_exchange *conn)
{
    conn_flushed result = hf_conn_flush(conn);
    bool cut;

    hf_mutex_lock(&conn->http->mutex);
    if (result == CONN_FLUSH_ALL && conn->stream.len) {
        conn->out_body = conn->stream;
        hf_buf_init(&conn->stream);
    }
    conn->stream_sent = hf_conn_left(conn);
    cut = conn->stream_cut;
    hf_mutex_unlock(&conn->http->mutex);
    if (result == CONN_FLUSH_ALL && hf_conn_left(conn))
        result = hf_conn_flush(conn);
    if (result == CONN_FLUSH_BROKEN || cut) {
        conn_end(conn);
    } else if (result == CONN_FLUSH_ALL && conn->answered) {
        conn->held = false;
        conn_written(conn);
    }
}

/* One step; false when it has to wait. */
static bool conn_step(hf_http_exchange *conn, hf_slice *in)
{
    switch (conn->state) {
    case CONN_READING:
        return conn_parse(conn, in);
    case CONN_HANDLING:
        if (!conn->answered && !conn->abandoned)
            return false;
        conn_return(conn);
        return true;
    case CONN_WRITING:
        switch (hf_conn_flush(conn)) {
        case CONN_FLUSH_ALL:
            conn_written(conn);
            return true;
        case CONN_FLUSH_WAIT:
            deadline_by_rate(conn);
            return false;
        case CONN_FLUSH_BROKEN:
            conn->left = HF_HTTP_LEFT_CUT;
            conn_end(conn);
            return false;
        }
        return false;
    case CONN_STREAMING:
        stream_flush(conn);
        return conn->state != CONN_STREAMING;
    case CONN_LINGER:
        *in = (hf_slice){0};
        return false;
    case CONN_CLOSED:
        *in = (hf_slice){0};
        if (conn->held && (conn->answered || conn->abandoned))
            conn_return(conn);
        return false;
    }
    return false;
}

/* Bytes that are left wait for their turn, at the front of `ahead`. */
static void ahead_keep(hf_http_exchange *conn, hf_slice rest)
{
    hf_buf *ahead = &conn->ahead;

    if (rest.len == 0) {
        hf_buf_fini(ahead);
        return;
    }
    if (ahead->len) {
        memmove(ahead->ptr, rest.ptr, rest.len);
        ahead->len = rest.len;
        return;
    }
    hf_buf_add_slice(ahead, rest);
    if (!hf_buf_ok(ahead))
        conn_end(conn);
}

/* Runs until it has to wait. `fresh` are bytes that just came in. */
static void conn_run(hf_http_exchange *conn, hf_slice fresh)
{
    hf_slice in = fresh;

    if (conn->running)
        return;
    conn->running = true;
    if (conn->ahead.len) {
        hf_buf_add_slice(&conn->ahead, fresh);
        if (!hf_buf_ok(&conn->ahead))
            conn_end(conn);
        in = hf_buf_slice(&conn->ahead);
    }
    while (conn_step(conn, &in))
        ;
    ahead_keep(conn, in);
    if (conn->ahead.len >= HF_HTTP_AHEAD_BYTES) {
        if (conn->parked) /* nobody sends so much behind a request that is known to wait */
            conn_end(conn);
        else
            reading_set(conn, false);
    }
    conn->running = false;
}

/* ---- bytes in */

/* The client closed its side. It may still want the answer to what it sent. */
static void conn_eof(hf_http_exchange *conn)
{
    conn->eof = true;
    reading_set(conn, false);
    switch (conn->state) {
    case CONN_READING:
        if (hf_http_parser_fresh(&conn->parser) && conn->ahead.len == 0)
            conn_end(conn);
        else
            conn_refuse(conn, 400, "the request was cut short");
        break;
    case CONN_HANDLING:
        if (conn->parked)
            conn_end(conn);
        break;
    case CONN_STREAMING:
    case CONN_LINGER:
        conn_end(conn);
        break;
    case CONN_WRITING:
    case CONN_CLOSED:
        break;
    }
}

/* Somebody left the s of https out: said in the clear, because that is what they understand. */
static void conn_plain(hf_http_exchange *conn)
{
    hf_tls_session_free(conn->tls);
    conn->tls = NULL;
    conn_refuse(conn, 400, "this port speaks TLS: use https://");
}

/* The client ends the connection at this moment. */
static hf_http_left left_how(const hf_http_exchange *conn)
{
    switch (conn->state) {
    case CONN_READING:
        return HF_HTTP_LEFT_IDLE;
    case CONN_HANDLING:
    case CONN_WRITING:
    case CONN_STREAMING:
        return HF_HTTP_LEFT_CUT;
    case CONN_LINGER:
    case CONN_CLOSED:
        break;
    }
    return conn->left;
}

static void on_readable(evutil_socket_t fd, short what, void *ctx)
{
    hf_http_exchange *conn = ctx;

    (void)fd;
    (void)what;
    conn_enter(conn);
    for (int i = 0; i < READS_AT_ONCE && conn->reading; i++) {
        hf_slice bytes;
        conn_received result = hf_conn_receive(conn, &bytes);

        if (result == CONN_READ_WAIT)
            break;
        if (result == CONN_READ_BROKEN || result == CONN_READ_END)
            conn->left = left_how(conn);
        if (result == CONN_READ_BROKEN)
            conn_end(conn);
        if (result == CONN_READ_BROKEN || result == CONN_READ_END) {
            conn_eof(conn);
            conn_run(conn, (hf_slice){0});
            break;
        }
        if (result == CONN_READ_PLAIN)
            conn_plain(conn);
        conn_run(conn, bytes);
        if (bytes.len < HF_HTTP_READ_BYTES && !conn->tls)
            break; /* that was all */
    }
    conn_leave(conn);
}

/* Answers do not wait until a flood of requests is read. */
static void on_read_event(evutil_socket_t fd, short what, void *ctx)
{
    hf_http *http = ((hf_http_exchange *)ctx)->http;

    on_readable(fd, what, ctx);
    if (++http->reads % READS_BETWEEN == 0)
        hf_http_posts_run(http);
}

static void on_writable(evutil_socket_t fd, short what, void *ctx)
{
    hf_http_exchange *conn = ctx;

    if (conn->tls_read_wants_write) {
        conn->tls_read_wants_write = false;
        on_readable(fd, what, ctx);
        return;
    }
    conn_enter(conn);
    conn_run(conn, (hf_slice){0});
    conn_leave(conn);
}

/* ---- what http.c asks for */

hf_status hf_conn_new(hf_http *http, int fd, const char *peer, hf_err *err)
{
    hf_http_exchange *conn = hf_alloc(sizeof(*conn));
    hf_status st;

    if (!conn)
        return hf_err_nomem(err, "a connection");
    conn->http = http;
    conn->fd = fd;
    conn->deadline = (hf_deadline){.due_us = NEVER, .ref = conn};
    hf_list_init(&conn->link);
    hf_list_init(&conn->post);
    (void)snprintf(conn->peer, sizeof(conn->peer), "%s", peer);
    (void)event_assign(&conn->read_event, http->base, fd, EV_READ | EV_PERSIST, on_read_event,
                       conn);
    (void)event_assign(&conn->write_event, http->base, fd, EV_WRITE, on_writable, conn);
    st = hf_conn_count(http, conn, err);
    if (!st)
        st = hf_deadlines_push(http->deadlines, &conn->deadline, err);
    if (!st && http->tls)
        st = hf_tls_session_new(http->tls, fd, &conn->tls, err);
    if (st) {
        hf_deadlines_remove(http->deadlines, &conn->deadline);
        hf_conn_uncount(conn);
        hf_alloc_free(conn);
        return st;
    }
    hf_list_add_last(&http->conns, &conn->link);
    atomic_fetch_add(&http->open, 1);
    parser_next(conn);
    hf_conn_deadline_in(conn, http->limits.head_ms);
    return HF_OK;
}

void hf_conn_posted(hf_http_exchange *conn, unsigned posted)
{
    conn_enter(conn);
    if (posted & (POST_ANSWER | POST_END))
        conn->answered = true;
    if (posted & POST_ABANDON)
        conn->abandoned = true;
    conn_run(conn, (hf_slice){0});
    conn_leave(conn);
}

static void stream_beat(hf_http_exchange *conn)
{
    hf_err ignored;

    if (hf_conn_left(conn) > 0) { /* nothing of the last beat was taken */
        conn_end(conn);
        return;
    }
    hf_conn_deadline_in(conn, conn->http->limits.beat_ms);
    if (hf_http_stream_send(conn, HF_SLICE(": beat\n\n"), &ignored))
        conn_end(conn);
}

void hf_conn_due(hf_http_exchange *conn)
{
    conn_enter(conn);
    deadline_set(conn, NEVER);
    switch (conn->state) {
    case CONN_READING:
        if (hf_http_parser_fresh(&conn->parser))
            conn_end(conn);
        else
            conn_refuse(conn, 408, "the request took too long to arrive");
        break;
    case CONN_HANDLING:
        if (conn->parked) {
            parked_clear(conn);
            conn->wake(conn->wake_ctx, conn, HF_HTTP_TIMEOUT);
        }
        break;
    case CONN_STREAMING:
        stream_beat(conn);
        break;
    case CONN_WRITING:
    case CONN_LINGER:
        conn_end(conn);
        break;
    case CONN_CLOSED:
        break;
    }
    conn_run(conn, (hf_slice){0});
    conn_leave(conn);
}

void hf_conn_drain(hf_http_exchange *conn)
{
    conn_enter(conn);
    if (conn->state == CONN_READING && hf_http_parser_fresh(&conn->parser))
        on_readable(conn->fd, EV_READ, conn); /* a request that has arrived is answered */
    if (conn->state == CONN_READING && hf_http_parser_fresh(&conn->parser))
        conn_end(conn);
    else
        drain_tell(conn);
    conn_run(conn, (hf_slice){0});
    conn_leave(conn);
}

void hf_conn_review(hf_http_exchange *conn)
{
    bool waits = conn->parked || conn->state == CONN_STREAMING;

    conn_enter(conn);
    if (waits && conn->held && conn->wake)
        conn->wake(conn->wake_ctx, conn, HF_HTTP_REVIEW);
    conn_run(conn, (hf_slice){0});
    conn_leave(conn);
}

void hf_conn_kill(hf_http_exchange *conn)
{
    conn_enter(conn);
    conn_end(conn);
    conn_run(conn, (hf_slice){0});
    conn_leave(conn);
}
