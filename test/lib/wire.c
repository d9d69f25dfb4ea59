/* wire.c: plain blocking sockets with a time limit on each call. */
#include "lib/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/suite.h"

enum { WAIT_S = 15, PIECE = 4096 };

int hf_wire_connect(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval wait = {.tv_sec = WAIT_S};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    ck_assert_int_ge(fd, 0);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

int hf_wire_listen(int *out_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, len), 0);
    ck_assert_int_eq(listen(fd, 4), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    *out_port = ntohs(address.sin_port);
    return fd;
}

bool hf_wire_send(int fd, hf_slice bytes)
{
    size_t at = 0;

    while (at < bytes.len) {
        ssize_t put = send(fd, bytes.ptr + at, bytes.len - at, MSG_NOSIGNAL);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        at += (size_t)put;
    }
    return true;
}

void hf_wire_finish(int fd)
{
    (void)shutdown(fd, SHUT_WR);
}

bool hf_wire_read_all(int fd, hf_buf *out_bytes)
{
    char piece[PIECE];

    for (;;) {
        ssize_t got = recv(fd, piece, sizeof(piece), 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno == ECONNRESET;
        if (got == 0)
            return true;
        hf_buf_add(out_bytes, piece, (size_t)got);
    }
}

hf_slice hf_wire_field(const hf_wire_reply *reply, const char *name)
{
    hf_slice rest = hf_buf_slice(&reply->head);
    hf_slice line;

    while (hf_slice_split(&rest, '\n', &line))
        if (line.len > strlen(name) && line.ptr[strlen(name)] == ':' &&
            strncasecmp(line.ptr, name, strlen(name)) == 0)
            return hf_slice_trim(
                hf_slice_from(line.ptr + strlen(name) + 1, line.len - strlen(name) - 1));
    return (hf_slice){0};
}

bool hf_wire_read_reply(int fd, hf_wire_reply *out_reply)
{
    int64_t length = 0;

    *out_reply = (hf_wire_reply){0};
    while (!out_reply->head.len || !strstr(hf_buf_text(&out_reply->head), "\r\n\r\n")) {
        char byte;

        if (recv(fd, &byte, 1, 0) != 1)
            return false;
        hf_buf_add(&out_reply->head, &byte, 1);
    }
    out_reply->status = atoi(hf_buf_text(&out_reply->head) + strlen("HTTP/1.1 "));
    if (!hf_slice_int(hf_wire_field(out_reply, "Content-Length"), &length))
        return true;
    while ((int64_t)out_reply->body.len < length) {
        char piece[PIECE];
        size_t left = (size_t)length - out_reply->body.len;
        ssize_t got = recv(fd, piece, left < sizeof(piece) ? left : sizeof(piece), 0);

        if (got <= 0)
            return false;
        hf_buf_add(&out_reply->body, piece, (size_t)got);
    }
    return true;
}

void hf_wire_reply_fini(hf_wire_reply *reply)
{
    hf_buf_fini(&reply->head);
    hf_buf_fini(&reply->body);
}

int hf_wire_ask(int port, hf_slice bytes, bool finish)
{
    hf_buf answer = {0};
    int fd = hf_wire_connect(port);
    int status = 0;

    (void)hf_wire_send(fd, bytes);
    if (finish)
        hf_wire_finish(fd);
    ck_assert(hf_wire_read_all(fd, &answer));
    if (answer.len > strlen("HTTP/1.1 200"))
        status = atoi(answer.ptr + strlen("HTTP/1.1 "));
    hf_buf_fini(&answer);
    (void)close(fd);
    return status;
}
