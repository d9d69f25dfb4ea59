/* exchange.c: what handlers may do with an exchange, from their own threads. On the loop's thread a
   thing is done at once, from any other it is posted. Nothing here may block. */
#include <errno.h>
#include <sys/socket.h>

#include "base/assert.h"
#include "http/http_impl.h"

const hf_http_request *hf_http_exchange_request(const hf_http_exchange *exchange)
{
    return &exchange->parser.request;
}

const char *hf_http_exchange_peer(const hf_http_exchange *exchange)
{
    return exchange->peer;
}

bool hf_http_exchange_subject(const hf_http_exchange *exchange, char *out_name, size_t room)
{
    return exchange->tls && hf_tls_session_name(exchange->tls, out_name, room);
}

bool hf_http_exchange_alive(const hf_http_exchange *exchange)
{
    char byte;
    ssize_t got;

    if (atomic_load(&exchange->gone))
        return false;
    got = recv(exchange->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
}

static void exchange_back(hf_http_exchange *exchange, unsigned what)
{
    if (hf_http_on_loop(exchange->http))
        hf_conn_posted(exchange, what);
    else
        hf_http_post(exchange, what);
}

void hf_http_answer(hf_http_exchange *exchange, hf_http_reply *reply)
{
    hf_conn_render(exchange, reply, false);
    exchange_back(exchange, POST_ANSWER);
}

void hf_http_abandon(hf_http_exchange *exchange)
{
    exchange_back(exchange, POST_ABANDON);
}

void hf_http_park(hf_http_exchange *exchange, int64_t wait_ms, hf_http_wake_fn *wake, void *ctx)
{
    HF_ASSERT(exchange->held && hf_http_on_loop(exchange->http));
    exchange->wake = wake;
    exchange->wake_ctx = ctx;
    exchange->parked = true;
    atomic_fetch_add(&exchange->http->parked, 1);
    hf_conn_deadline_in(exchange, wait_ms);
}

void hf_http_forget(hf_http_exchange *exchange)
{
    const hf_http_request *request = &exchange->parser.request;

    HF_ASSERT(exchange->held && hf_http_on_loop(exchange->http));
    exchange->gzip = hf_http_request_lists(request, "accept-encoding", "gzip");
    hf_http_parser_forget(&exchange->parser);
}

void hf_http_stream(hf_http_exchange *exchange, hf_http_reply *reply, hf_http_wake_fn *wake,
                    void *ctx)
{
    HF_ASSERT(exchange->held && hf_http_on_loop(exchange->http));
    exchange->wake = wake;
    exchange->wake_ctx = ctx;
    hf_conn_render(exchange, reply, true);
    exchange->stream_cut = exchange->spoiled;
    exchange->stream_sent = 0;
    exchange->state = CONN_STREAMING;
    hf_conn_deadline_in(exchange, exchange->http->limits.beat_ms);
}

hf_status hf_http_stream_send(hf_http_exchange *exchange, hf_slice bytes, hf_err *err)
{
    hf_http *http = exchange->http;
    hf_buf *stream = &exchange->stream;
    bool chunked = exchange->parser.request.minor == 1;
    hf_status st = HF_OK;

    hf_mutex_lock(&http->mutex);
    if (atomic_load(&exchange->gone) || exchange->stream_cut ||
        stream->len + exchange->stream_sent + bytes.len > http->limits.stream_bytes_max) {
        exchange->stream_cut = true;
        st = hf_err_set(err, HF_STOPPED, "the reader of the stream is gone or lags behind");
    } else if (bytes.len) {
        if (chunked)
            hf_buf_add_format(stream, "%zx\r\n", bytes.len);
        hf_buf_add_slice(stream, bytes);
        if (chunked)
            hf_buf_add_text(stream, "\r\n");
        if (!hf_buf_ok(stream)) {
            exchange->stream_cut = true;
            st = hf_err_nomem(err, "a piece of a stream");
        }
    }
    hf_mutex_unlock(&http->mutex);
    exchange_back(exchange, POST_STREAM);
    return st;
}

void hf_http_stream_end(hf_http_exchange *exchange)
{
    hf_mutex_lock(&exchange->http->mutex);
    if (exchange->parser.request.minor == 1)
        hf_buf_add_text(&exchange->stream, "0\r\n\r\n");
    hf_mutex_unlock(&exchange->http->mutex);
    exchange_back(exchange, POST_END);
}
