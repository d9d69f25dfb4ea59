/* http.c: the server as a whole: its loop, its listener, its deadlines, and the inbox through which
   other threads reach it. The loop never blocks and never waits for a lock that is held for long.
 */
#include "http/http.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "http/http_impl.h"
#include "http/listen.h"

enum { ACCEPTS_AT_ONCE = 64, PAUSE_MS = 100, DRAIN_LOOK_MS = 20, DRAIN_ACCEPTS = 64 };

/* ---- time */

static int64_t now_us(const hf_http *http)
{
    return hf_clock_mono_us(http->clock);
}

void hf_http_timer_update(hf_http *http)
{
    const hf_deadline *next = hf_deadlines_peek(http->deadlines);
    int64_t wait_us;
    struct timeval wait;

    if (!next || next->due_us >= http->armed_us)
        return;
    http->armed_us = next->due_us;
    if (hf_sched_here())
        return; /* the loop looks at it */
    wait_us = next->due_us - now_us(http);
    if (wait_us < 0)
        wait_us = 0;
    wait = (struct timeval){.tv_sec = (time_t)(wait_us / 1000000),
                            .tv_usec = (suseconds_t)(wait_us % 1000000)};
    (void)event_add(&http->timer_event, &wait);
}

static void listener_set(hf_http *http, bool wanted)
{
    if (http->listen_fd < 0)
        return;
    if (wanted)
        (void)event_add(&http->listen_event, NULL);
    else
        (void)event_del(&http->listen_event);
}

/* ---- accepting */

/* One that has to go at once, with a word of why. */
static void accept_refuse(hf_http *http, int fd)
{
    static const char busy[] = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"
                               "Content-Length: 0\r\nConnection: close\r\n\r\n";

    atomic_fetch_add(&http->refused, 1);
    if (!http->tls)
        (void)send(fd, busy, sizeof(busy) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)shutdown(fd, SHUT_WR);
    (void)close(fd);
    hf_sched_stir();
}

static void accept_pause(hf_http *http)
{
    hf_log_field fields[] = {hf_log_text("error", hf_slice_of(strerror(errno)))};

    hf_log_write(http->options.log, HF_LOG_WARN, "http.accept_paused", fields, 1);
    listener_set(http, false);
    hf_deadlines_move(http->deadlines, &http->resume, now_us(http) + PAUSE_MS * 1000);
    hf_http_timer_update(http);
}

/* Takes newcomers in; true when there may be more of them. */
static bool accept_some(hf_http *http)
{
    for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
        char peer[HF_HTTP_PEER_SIZE];
        hf_err err;
        int fd = hf_listen_accept(http->listen_fd, peer, sizeof(peer));

        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
                accept_pause(http);
            return false;
        }
        atomic_fetch_add(&http->accepted, 1);
        if (atomic_load(&http->open) >= http->limits.connections_max ||
            hf_conn_new(http, fd, peer, &err))
            accept_refuse(http, fd);
    }
    return true;
}

static void on_accept(evutil_socket_t listen_fd, short what, void *ctx)
{
    (void)listen_fd;
    (void)what;
    (void)accept_some(ctx);
}

/* ---- draining */

/* Ends the loop when nothing is left, or looks again in a moment. */
static void drain_end(hf_http *http)
{
    if (now_us(http) >= http->drain_until_us) {
        hf_list *link = hf_list_first(&http->conns);

        while (link) {
            hf_list *next = hf_list_next(&http->conns, link);

            hf_conn_kill(HF_LIST_ENTRY(link, hf_http_exchange, link));
            link = next;
        }
    }
    if (hf_list_empty(&http->conns)) {
        (void)event_base_loopbreak(http->base);
        return;
    }
    hf_deadlines_move(http->deadlines, &http->resume, now_us(http) + DRAIN_LOOK_MS * 1000);
    hf_http_timer_update(http);
}

static void drain_begin(hf_http *http)
{
    hf_list *link;

    for (int i = 0; i < DRAIN_ACCEPTS && accept_some(http); i++)
        ; /* whoever is at the door already gets an answer */
    http->draining = true;
    http->drain_until_us = now_us(http) + atomic_load(&http->drain_grace_ms) * 1000;
    listener_set(http, false);
    (void)close(http->listen_fd);
    http->listen_fd = -1;
    link = hf_list_first(&http->conns);
    while (link) {
        hf_list *next = hf_list_next(&http->conns, link);

        hf_conn_drain(HF_LIST_ENTRY(link, hf_http_exchange, link));
        link = next;
    }
    drain_end(http);
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
    hf_http *http = ctx;
    hf_deadline *due;
    int64_t now = now_us(http);

    (void)fd;
    (void)what;
    http->armed_us = INT64_MAX;
    while ((due = hf_deadlines_peek(http->deadlines)) && due->due_us <= now) {
        if (due == &http->resume) {
            hf_deadlines_move(http->deadlines, due, INT64_MAX);
            listener_set(http, !http->draining);
            if (http->draining)
                drain_end(http);
        } else {
            hf_conn_due(due->ref);
        }
    }
    hf_http_timer_update(http);
}

/* ---- the inbox */

bool hf_http_on_loop(const hf_http *http)
{
    return pthread_equal(pthread_self(), http->loop_thread) != 0;
}

static void loop_wake(hf_http *http)
{
    char byte = 0;

    /* A full pipe wakes as well as one more byte would. */
    if (write(http->wake_fds[1], &byte, 1) < 0)
        HF_ASSERT(errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    hf_sched_stir();
}

void hf_http_post(hf_http_exchange *conn, unsigned what)
{
    hf_http *http = conn->http;
    bool first;

    hf_mutex_lock(&http->mutex);
    first = hf_list_empty(&http->posts);
    conn->posted |= what;
    if (!hf_list_linked(&conn->post))
        hf_list_add_last(&http->posts, &conn->post);
    hf_mutex_unlock(&http->mutex);
    if (first)
        loop_wake(http);
}

/* The next connection somebody wants something of; NULL when there is none. */
static hf_http_exchange *post_take(hf_http *http, unsigned *out_posted)
{
    hf_http_exchange *conn = NULL;
    hf_list *link;

    hf_mutex_lock(&http->mutex);
    link = hf_list_take_first(&http->posts);
    if (link) {
        conn = HF_LIST_ENTRY(link, hf_http_exchange, post);
        *out_posted = conn->posted;
        conn->posted = 0;
    }
    hf_mutex_unlock(&http->mutex);
    return conn;
}

void hf_http_posts_run(hf_http *http)
{
    hf_http_exchange *conn;
    unsigned posted;

    while ((conn = post_take(http, &posted)))
        hf_conn_posted(conn, posted);
}

static void review_run(hf_http *http)
{
    hf_list *link = hf_list_first(&http->conns);

    while (link) {
        hf_list *next = hf_list_next(&http->conns, link);

        hf_conn_review(HF_LIST_ENTRY(link, hf_http_exchange, link));
        link = next;
    }
}

static void on_wake(evutil_socket_t fd, short what, void *ctx)
{
    hf_http *http = ctx;
    char bytes[64];

    (void)what;
    while (read((int)fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes))
        ;
    atomic_store(&http->pulse_wanted, false);
    hf_http_posts_run(http);
    if (atomic_exchange(&http->review_wanted, false))
        review_run(http);
    if (atomic_load(&http->drain_wanted) && !http->draining)
        drain_begin(http);
    if (http->draining && hf_list_empty(&http->conns))
        (void)event_base_loopbreak(http->base);
}

/* ---- the loop */

void hf_http_drain(hf_http *http, int64_t grace_ms)
{
    atomic_store(&http->drain_grace_ms, grace_ms);
    atomic_store(&http->drain_wanted, true);
    loop_wake(http);
}

/* In a simulation the time is not the system's, and nobody may wait for anything but the scheduler.
 */
static void loop_simulate(hf_http *http, hf_sched *sched)
{
    while (event_base_loop(http->base, EVLOOP_NONBLOCK) >= 0 && !event_base_got_break(http->base)) {
        if (http->armed_us <= now_us(http))
            event_active(&http->timer_event, EV_TIMEOUT, 0);
        else
            sched->doze(sched, http->armed_us);
    }
}

static void loop_run(void *ctx)
{
    hf_http *http = ctx;
    hf_sched *sched = hf_sched_here();

    http->loop_thread = pthread_self();
    if (sched)
        loop_simulate(http, sched);
    else
        (void)event_base_dispatch(http->base);
}

hf_status hf_http_start(hf_http *http, hf_err *err)
{
    return hf_thread_start(&http->thread, "hf-http", loop_run, http, err);
}

void hf_http_wait(hf_http *http)
{
    hf_thread_join(&http->thread);
}

int hf_http_port(const hf_http *http)
{
    return http->port;
}

void hf_http_stats_get(const hf_http *http, hf_http_stats *out_stats)
{
    *out_stats = (hf_http_stats){.accepted = atomic_load(&http->accepted),
                                 .requests = atomic_load(&http->requests),
                                 .refused = atomic_load(&http->refused),
                                 .connections = atomic_load(&http->open),
                                 .parked = atomic_load(&http->parked),
                                 .bodies_bytes = atomic_load(&http->bodies_bytes)};
}

void hf_http_review(hf_http *http)
{
    if (!atomic_exchange(&http->review_wanted, true))
        loop_wake(http);
}

bool hf_http_pulse(hf_http *http)
{
    bool late = atomic_exchange(&http->pulse_wanted, true);

    if (!late)
        loop_wake(http);
    return !late;
}

/* ---- opening and closing */

static hf_status pipe_open(int fds[2], hf_err *err)
{
    if (pipe(fds) < 0) {
        fds[0] = fds[1] = -1;
        return hf_err_set(err, HF_IO, "no pipe: %s", strerror(errno));
    }
    for (int i = 0; i < 2; i++)
        if (fcntl(fds[i], F_SETFL, O_NONBLOCK) < 0 || fcntl(fds[i], F_SETFD, FD_CLOEXEC) < 0)
            return hf_err_set(err, HF_IO, "cannot set up a pipe: %s", strerror(errno));
    return HF_OK;
}

static hf_status addresses_open(hf_http *http, hf_err *err)
{
    hf_map_seed seed;
    hf_status st = hf_map_seed_system(&seed, err);

    if (st)
        return st;
    http->addresses = hf_map_new(seed);
    return http->addresses ? HF_OK : hf_err_nomem(err, "the addresses of clients");
}

static hf_status parts_open(hf_http *http, hf_err *err)
{
    hf_status st = pipe_open(http->wake_fds, err);

    if (!st)
        st = addresses_open(http, err);
    if (st)
        return st;
    http->room = hf_alloc(HF_HTTP_READ_BYTES);
    http->deadlines = hf_deadlines_new();
    http->base = event_base_new();
    if (!http->room || !http->deadlines || !http->base)
        return hf_err_nomem(err, "an event loop");
    http->resume = (hf_deadline){.due_us = INT64_MAX};
    return hf_deadlines_push(http->deadlines, &http->resume, err);
}

static void events_open(hf_http *http)
{
    (void)event_assign(&http->listen_event, http->base, http->listen_fd, EV_READ | EV_PERSIST,
                       on_accept, http);
    (void)event_assign(&http->wake_event, http->base, http->wake_fds[0], EV_READ | EV_PERSIST,
                       on_wake, http);
    (void)event_assign(&http->timer_event, http->base, -1, 0, on_timer, http);
    (void)event_add(&http->wake_event, NULL);
    listener_set(http, true);
}

hf_status hf_http_open(const hf_http_options *options, hf_http **out_http, hf_err *err)
{
    hf_http *http = hf_alloc(sizeof(*http));
    hf_status st;

    if (!http)
        return hf_err_nomem(err, "a server");
    http->options = *options;
    http->limits = options->limits;
    hf_http_limits_fill(&http->limits);
    http->clock = options->clock ? options->clock : hf_clock_system();
    http->listen_fd = -1;
    http->wake_fds[0] = http->wake_fds[1] = -1;
    http->armed_us = INT64_MAX;
    hf_list_init(&http->conns);
    hf_list_init(&http->posts);
    st = hf_mutex_init(&http->mutex, err);
    if (st) {
        hf_alloc_free(http);
        return st;
    }
    st = parts_open(http, err);
    if (!st && options->tls_certificate)
        st = hf_tls_open(options->tls_certificate, options->tls_key, options->tls_client_ca,
                         &http->tls, err);
    if (!st)
        st = hf_listen_open(options->listen, &http->listen_fd, &http->port, err);
    if (st) {
        hf_http_close(http);
        return st;
    }
    if (hf_slice_starts(hf_slice_of(options->listen), HF_SLICE("unix:")))
        http->unix_path = hf_alloc_text(options->listen + 5, strlen(options->listen + 5));
    events_open(http);
    *out_http = http;
    return HF_OK;
}

void hf_http_close(hf_http *http)
{
    if (!http)
        return;
    if (http->thread.started) {
        hf_http_drain(http, 0);
        hf_http_wait(http);
    }
    HF_ASSERT(hf_list_empty(&http->conns));
    if (http->listen_fd >= 0)
        (void)close(http->listen_fd);
    if (http->unix_path)
        (void)unlink(http->unix_path);
    hf_alloc_free(http->unix_path);
    if (http->base)
        event_base_free(http->base);
    if (http->tls)
        hf_tls_close(http->tls);
    for (int i = 0; i < 2; i++)
        if (http->wake_fds[i] >= 0)
            (void)close(http->wake_fds[i]);
    if (http->deadlines)
        hf_deadlines_free(http->deadlines);
    hf_map_free(http->addresses);
    hf_alloc_free(http->room);
    hf_mutex_fini(&http->mutex);
    hf_alloc_free(http);
}
