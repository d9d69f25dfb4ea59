/* conn_io.c: bytes between a connection and its socket, plain or through TLS. It moves what can be
   moved now and says what it waits for; what the bytes mean is conn.c's. */
#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "http/http_impl.h"

/* ---- bytes out */

size_t hf_conn_left(const hf_http_exchange *conn)
{
    return conn->out_head.len + conn->out_body.len - conn->out_at;
}

/* Sends some bytes from the front of what is left. */
static ssize_t out_send(hf_http_exchange *conn, conn_flushed *out_result)
{
    struct iovec parts[2];
    struct msghdr message = {.msg_iov = parts};
    ssize_t put;

    if (conn->out_at < conn->out_head.len)
        parts[message.msg_iovlen++] = (struct iovec){.iov_base = conn->out_head.ptr + conn->out_at,
                                                     .iov_len = conn->out_head.len - conn->out_at};
    if (conn->out_body.len) {
        size_t at = conn->out_at > conn->out_head.len ? conn->out_at - conn->out_head.len : 0;

        parts[message.msg_iovlen++] =
            (struct iovec){.iov_base = conn->out_body.ptr + at, .iov_len = conn->out_body.len - at};
    }
    *out_result = CONN_FLUSH_ALL;
    if (conn->tls) {
        hf_tls_need need;

        put = (ssize_t)hf_tls_write(conn->tls, parts[0].iov_base, parts[0].iov_len, &need);
        if (need == HF_TLS_END)
            *out_result = CONN_FLUSH_BROKEN;
        else if (need != HF_TLS_DONE)
            *out_result = CONN_FLUSH_WAIT;
        return put;
    }
    do
        put = sendmsg(conn->fd, &message, MSG_NOSIGNAL);
    while (put < 0 && errno == EINTR);
    if (put < 0) {
        *out_result = errno == EAGAIN || errno == EWOULDBLOCK ? CONN_FLUSH_WAIT : CONN_FLUSH_BROKEN;
        return 0;
    }
    return put;
}

conn_flushed hf_conn_flush(hf_http_exchange *conn)
{
    while (hf_conn_left(conn) > 0) {
        conn_flushed result;
        size_t put = (size_t)out_send(conn, &result);

        conn->out_at += put;
        conn->moved += put;
        if (put)
            hf_sched_stir();
        if (result == CONN_FLUSH_WAIT) {
            (void)event_add(&conn->write_event, NULL);
            return CONN_FLUSH_WAIT;
        }
        if (result == CONN_FLUSH_BROKEN)
            return CONN_FLUSH_BROKEN;
    }
    hf_buf_fini(&conn->out_head);
    hf_buf_fini(&conn->out_body);
    conn->out_at = 0;
    return CONN_FLUSH_ALL;
}

/* ---- bytes in */

conn_received hf_conn_receive(hf_http_exchange *conn, hf_slice *out_bytes)
{
    char *room = conn->http->room;
    ssize_t got;

    if (conn->tls) {
        hf_tls_need need;
        size_t len = hf_tls_read(conn->tls, room, HF_HTTP_READ_BYTES, &need);

        *out_bytes = hf_slice_from(room, len);
        conn->tls_read_wants_write = need == HF_TLS_WRITABLE;
        if (conn->tls_read_wants_write)
            (void)event_add(&conn->write_event, NULL);
        if (need == HF_TLS_DONE)
            return CONN_READ_SOME;
        if (need == HF_TLS_PLAIN)
            return CONN_READ_PLAIN;
        return need == HF_TLS_END ? CONN_READ_END : CONN_READ_WAIT;
    }
    do
        got = recv(conn->fd, room, HF_HTTP_READ_BYTES, 0);
    while (got < 0 && errno == EINTR);
    *out_bytes = hf_slice_from(room, got > 0 ? (size_t)got : 0);
    if (got > 0)
        return CONN_READ_SOME;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return CONN_READ_WAIT;
    return got < 0 ? CONN_READ_BROKEN : CONN_READ_END;
}
