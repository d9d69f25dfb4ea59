/* hold.c: see hold.h. One thread moves everything; what it shares with the test
   is under a lock, and a byte in a pipe tells it to look there. */
#define _GNU_SOURCE /* memmem */
#include "lib/hold.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "lib/wire.h"

enum { LINKS_MAX = 32, READ_BYTES = 65536, LOOK_MS = 200, START_PLAIN = 196608 };

/* One connection. What the client sent is kept until it is whole messages. */
typedef struct hold_link {
    int client;
    int server;
    bool started; /* past the messages without a type */
    bool lease;   /* it renews */
    char *bytes;
    size_t len;
    size_t room;
} hold_link;

struct hf_hold {
    pthread_t thread;
    pthread_mutex_t lock;
    int listener;
    int port; /* of the server */
    int tell[2];
    /* under the lock */
    bool closing;
    bool armed;
    bool stands;
    hf_hold_on on;
    int64_t left; /* points until it stands still */
    int64_t most_us;
    int64_t until_us; /* it stands still, of the monotonic clock */
    /* the thread's */
    hold_link links[LINKS_MAX];
    size_t count;
    const hold_link *units; /* the first connection of a node */
};

/* Counts a point on the link; true: here it is. */
static bool point_here(hf_hold *hold, const hold_link *at)
{
    bool here = false;

    (void)pthread_mutex_lock(&hold->lock);
    if (hold->armed && (hold->on == HF_HOLD_LEASE ? at->lease : at == hold->units) &&
        --hold->left == 0) {
        hold->armed = false;
        hold->stands = true;
        hold->until_us = hf_clock_mono_us(hf_clock_system()) + hold->most_us;
        here = true;
    }
    (void)pthread_mutex_unlock(&hold->lock);
    return here;
}

static bool bytes_send(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t put = send(fd, bytes, len, MSG_NOSIGNAL);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        bytes += put;
        len -= (size_t)put;
    }
    return true;
}

static uint32_t number_at(const char *bytes)
{
    uint32_t number;

    memcpy(&number, bytes, sizeof(number));
    return ntohl(number);
}

/* The length of the first message; 0: it is not whole. */
static size_t message_whole(const hold_link *at)
{
    size_t head = at->started ? 5 : 4;
    size_t len;

    if (at->len < head)
        return 0;
    len = number_at(at->bytes + head - 4) + head - 4;
    return len <= at->len ? len : 0;
}

/* Passes on the whole messages that came, up to the point. False: the
 * connection is at its end. */
static bool messages_pass(hf_hold *hold, hold_link *at)
{
    size_t len;
    bool go_on = true;

    while (go_on && (len = message_whole(at)) > 0) {
        char type = at->started ? at->bytes[0] : 0;

        if (!at->started)
            at->started = number_at(at->bytes + 4) == START_PLAIN;
        if (type == 'B' && len > 12 && memmem(at->bytes + 5, len - 5, "shard_renew", 11))
            at->lease = true;
        if ((type == 'E' || type == 'S') && point_here(hold, at))
            return true;
        if (!bytes_send(at->server, at->bytes, len))
            return false;
        at->len -= len;
        memmove(at->bytes, at->bytes + len, at->len);
        go_on = type != 'S' || !point_here(hold, at);
    }
    return true;
}

static bool client_read(hf_hold *hold, hold_link *at)
{
    ssize_t got;

    if (at->room - at->len < READ_BYTES) {
        at->room = at->len + READ_BYTES;
        at->bytes = realloc(at->bytes, at->room);
        if (!at->bytes)
            abort();
    }
    got = read(at->client, at->bytes + at->len, at->room - at->len);
    if (got <= 0)
        return false;
    at->len += (size_t)got;
    return messages_pass(hold, at);
}

static bool server_read(const hold_link *at)
{
    char bytes[READ_BYTES];
    ssize_t got = read(at->server, bytes, sizeof(bytes));

    return got > 0 && bytes_send(at->client, bytes, (size_t)got);
}

static int server_dial(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

static void link_close(hf_hold *hold, size_t i)
{
    hold_link *at = &hold->links[i];

    (void)close(at->client);
    (void)close(at->server);
    free(at->bytes);
    if (hold->units == at)
        hold->units = NULL;
    *at = (hold_link){.client = -1, .server = -1};
}

static void link_accept(hf_hold *hold)
{
    int client = accept(hold->listener, NULL, NULL);
    int server = client >= 0 ? server_dial(hold->port) : -1;
    size_t i = 0;

    while (i < hold->count && hold->links[i].client >= 0)
        i++;
    if (server < 0 || i == LINKS_MAX) {
        (void)close(client);
        (void)close(server);
        return;
    }
    hold->links[i] = (hold_link){.client = client, .server = server};
    if (i == hold->count) /* links keep their places */
        hold->count++;
    if (hold->count == 1)
        hold->units = &hold->links[0];
}

/* True while there is something to do; `go`: it was let go, or has never stood
 * still. */
static bool hold_look(hf_hold *hold, bool *out_go)
{
    bool closing;

    (void)pthread_mutex_lock(&hold->lock);
    if (hold->stands && hf_clock_mono_us(hf_clock_system()) > hold->until_us)
        hold->stands = false;
    *out_go = !hold->stands;
    closing = hold->closing;
    (void)pthread_mutex_unlock(&hold->lock);
    return !closing;
}

static void *hold_run(void *ctx)
{
    struct pollfd ready[2 + 2 * LINKS_MAX];
    hf_hold *hold = ctx;
    bool go = true;
    bool went = true;

    while (hold_look(hold, &go)) {
        size_t links = hold->count;
        char byte;

        ready[0] = (struct pollfd){.fd = hold->tell[0], .events = POLLIN};
        ready[1] = (struct pollfd){.fd = go ? hold->listener : -1, .events = POLLIN};
        for (size_t i = 0; i < links; i++) {
            if (go && !went && hold->links[i].client >= 0 && !messages_pass(hold, &hold->links[i]))
                link_close(hold, i);
            ready[2 + 2 * i] =
                (struct pollfd){.fd = go ? hold->links[i].client : -1, .events = POLLIN};
            ready[3 + 2 * i] =
                (struct pollfd){.fd = go ? hold->links[i].server : -1, .events = POLLIN};
        }
        went = go;
        if (poll(ready, 2 + 2 * links, go ? -1 : LOOK_MS) < 0)
            continue;
        if (ready[0].revents)
            (void)!read(hold->tell[0], &byte, 1);
        for (size_t i = 0; i < links && hold_look(hold, &go) && go; i++) {
            hold_link *at = &hold->links[i];

            if ((ready[2 + 2 * i].revents && !client_read(hold, at)) ||
                (ready[3 + 2 * i].revents && hold_look(hold, &go) && go && !server_read(at)))
                link_close(hold, i);
        }
        if (go && ready[1].revents)
            link_accept(hold);
    }
    for (size_t i = 0; i < hold->count; i++)
        if (hold->links[i].client >= 0)
            link_close(hold, i);
    return NULL;
}

static void hold_tell(hf_hold *hold)
{
    ck_assert_int_eq(write(hold->tell[1], "", 1), 1);
}

hf_hold *hf_hold_new(const char *address, char out_address[HF_HOLD_ADDRESS])
{
    hf_hold *hold = calloc(1, sizeof(*hold));
    const char *colon = strstr(address, "@127.0.0.1:");
    const char *rest;
    int port = 0;

    ck_assert_ptr_nonnull(hold);
    ck_assert_ptr_nonnull(colon);
    colon += strlen("@127.0.0.1:");
    hold->port = (int)strtol(colon, (char **)(uintptr_t)&rest, 10);
    hold->listener = hf_wire_listen(&port);
    ck_assert_int_eq(pipe(hold->tell), 0);
    (void)snprintf(out_address, HF_HOLD_ADDRESS, "%.*s%d%s%csslmode=disable&gssencmode=disable",
                   (int)(colon - address), address, port, rest, strchr(rest, '?') ? '&' : '?');
    ck_assert_int_eq(pthread_mutex_init(&hold->lock, NULL), 0);
    ck_assert_int_eq(pthread_create(&hold->thread, NULL, hold_run, hold), 0);
    return hold;
}

void hf_hold_free(hf_hold *hold)
{
    (void)pthread_mutex_lock(&hold->lock);
    hold->closing = true;
    (void)pthread_mutex_unlock(&hold->lock);
    hold_tell(hold);
    (void)pthread_join(hold->thread, NULL);
    (void)pthread_mutex_destroy(&hold->lock);
    (void)close(hold->listener);
    (void)close(hold->tell[0]);
    (void)close(hold->tell[1]);
    free(hold);
}

void hf_hold_arm(hf_hold *hold, hf_hold_on on, int64_t nth, int64_t most_ms)
{
    (void)pthread_mutex_lock(&hold->lock);
    hold->on = on;
    hold->left = nth;
    hold->most_us = most_ms * 1000;
    hold->armed = true;
    (void)pthread_mutex_unlock(&hold->lock);
}

bool hf_hold_stands(hf_hold *hold)
{
    bool stands;

    (void)pthread_mutex_lock(&hold->lock);
    stands = hold->stands;
    (void)pthread_mutex_unlock(&hold->lock);
    return stands;
}

void hf_hold_release(hf_hold *hold)
{
    (void)pthread_mutex_lock(&hold->lock);
    hold->armed = false;
    hold->stands = false;
    (void)pthread_mutex_unlock(&hold->lock);
    hold_tell(hold);
}
