/* simclient.c: see simclient.h. The sockets are real ones of this process, which nobody waits for:
   who finds nothing dozes until something was stirred. */
#include "lib/simclient.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/sched.h"

enum { HEAD_ROOM = 512, READ_ROOM = 4096, PIECE = 40 };

typedef struct wire {
    hf_simsched *sim;
    const hf_simnode *node;
    int life;
    int fd;
    int64_t until_us;
} wire;

static bool wire_open(wire *w)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    char path[HF_SIMNODE_SOCKET];

    w->life = hf_simnode_life(w->node);
    if (!w->life)
        return false;
    hf_simnode_socket(w->node, w->life, path);
    (void)snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
    w->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    HF_ASSERT(w->fd >= 0);
    if (connect(w->fd, (struct sockaddr *)&to, sizeof(to)) == 0) {
        hf_sched_stir();
        return true;
    }
    (void)close(w->fd);
    return false;
}

static void wire_close(wire *w)
{
    (void)close(w->fd);
    hf_sched_stir();
}

/* Waits until something may have come. False: the node is gone, or the time is over. */
static bool wire_wait(const wire *w)
{
    if (hf_simnode_life(w->node) != w->life || hf_simsched_now_us(w->sim) >= w->until_us)
        return false;
    hf_sched_here()->doze(hf_sched_here(), w->until_us);
    return true;
}

static bool wire_send(wire *w, const char *bytes, size_t len, size_t piece)
{
    while (len) {
        ssize_t put = send(w->fd, bytes, len < piece ? len : piece, MSG_NOSIGNAL);

        if (put < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        if (put > 0) {
            bytes += put;
            len -= (size_t)put;
            hf_sched_stir();
        } else if (!wire_wait(w)) {
            return false;
        }
    }
    return true;
}

/* Whether the answer is whole; *out_body is where its body begins. */
static bool reply_whole(const hf_buf *got, size_t *out_body)
{
    const char *end = got->len ? strstr(got->ptr, "\r\n\r\n") : NULL;
    const char *length = end ? strstr(got->ptr, "\r\nContent-Length: ") : NULL;

    if (!end)
        return false;
    *out_body = (size_t)(end - got->ptr) + 4;
    HF_ASSERT(length && length < end);
    return got->len - *out_body >= strtoul(length + strlen("\r\nContent-Length: "), NULL, 10);
}

static void reply_read(wire *w, hf_simreply *reply)
{
    hf_buf got = {0};
    size_t body = 0;
    bool whole = false;

    while (!whole) {
        char room[READ_ROOM];
        ssize_t len = recv(w->fd, room, sizeof(room), 0);

        if (len == 0 || (len < 0 && errno != EAGAIN && errno != EINTR))
            break;
        if (len < 0) {
            if (!wire_wait(w))
                break;
            continue;
        }
        hf_sched_stir();
        hf_buf_add(&got, room, (size_t)len);
        HF_ASSERT(hf_buf_text(&got));
        whole = reply_whole(&got, &body);
    }
    if (whole) {
        reply->status = atoi(got.ptr + strlen("HTTP/1.1 "));
        hf_buf_add(&reply->body, got.ptr + body, got.len - body);
    }
    hf_buf_fini(&got);
}

void hf_simclient_ask(hf_simsched *sim, const hf_simnode *node, const hf_simask *ask,
                      hf_simreply *out_reply)
{
    wire w = {.sim = sim, .node = node, .until_us = ask->until_us};
    bool cut = hf_simsched_one_in(sim, ask->cut_one_in);
    bool leaves = hf_simsched_one_in(sim, ask->leave_one_in);
    size_t piece = hf_simsched_one_in(sim, ask->dribble_one_in) ? PIECE : SIZE_MAX;
    hf_buf bytes = {0};
    size_t len;

    *out_reply = (hf_simreply){0};
    if (!wire_open(&w))
        return;
    hf_buf_add_format(&bytes,
                      "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                      "X-Durable-Workflow-Control-Plane-Version: 2\r\n"
                      "X-Durable-Workflow-Protocol-Version: 1.20\r\n"
                      "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                      ask->method, ask->target, ask->body ? strlen(ask->body) : 0,
                      ask->body ? ask->body : "");
    HF_ASSERT(hf_buf_ok(&bytes));
    len = cut ? hf_simsched_below(sim, bytes.len) : bytes.len;
    out_reply->cut = cut || leaves;
    if (wire_send(&w, bytes.ptr, len, piece) && !out_reply->cut)
        reply_read(&w, out_reply);
    hf_buf_fini(&bytes);
    wire_close(&w);
}

void hf_simreply_fini(hf_simreply *reply)
{
    hf_buf_fini(&reply->body);
}
