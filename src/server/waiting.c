/* waiting.c: see waiting.h. A request that waits belongs to one thread at a time: the one that set
   `busy`. It is found by its exchange, in the server's list; one that is not there has been
   answered. */
#include "server/waiting.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/thread.h"
#include "holdfast/host.h"
#include "server/server_impl.h"

typedef struct waiting {
    hf_api *api;
    const char *id;
    hf_waiting_look *look;
    bool ends; /* only the end of the run counts */
    hf_watch *watch;
    hf_mutex lock;
    bool busy;  /* a thread has it; under the lock, as the next two */
    bool dirty; /* the run may have ended */
    bool over;  /* the time is, the client is gone, or the server stops */
} waiting;

/* By whoever has it; the request is answered. */
static void waiting_end(waiting *w)
{
    hf_api *api = w->api;
    hf_server *server = api->server;

    hf_mutex_lock(&server->polls_lock);
    (void)hf_map_int_remove(server->polls, (uintptr_t)api->exchange);
    hf_mutex_unlock(&server->polls_lock);
    hf_watch_end(w->watch);
    hf_mutex_fini(&w->lock);
    hf_alloc_free(w);
    if (hf_auth_ended(server->auth, &api->principal, hf_clock_real_us(server->clock)))
        hf_api_ended(api);
    hf_api_finish(api);
}

/* Whether the caller has it now. */
static bool waiting_take(waiting *w, bool dirty, bool over)
{
    bool taken;

    hf_mutex_lock(&w->lock);
    w->dirty |= dirty;
    w->over |= over;
    taken = !w->busy;
    w->busy = true;
    hf_mutex_unlock(&w->lock);
    return taken;
}

/* True: there is something new for whoever has it. */
static bool waiting_leave(waiting *w, bool *out_over)
{
    bool again;

    hf_mutex_lock(&w->lock);
    again = w->dirty || w->over;
    *out_over = w->over;
    w->dirty = false;
    w->busy = again;
    hf_mutex_unlock(&w->lock);
    return again;
}

/* A thread of the engine, which must not be held up. */
static void on_changed(void *arg)
{
    waiting *w = arg;

    if (waiting_take(w, true, false) && hf_work_offer(w->api->server->work, w->api)) {
        bool over; /* too much waits: it looks when its time is over */

        (void)waiting_leave(w, &over);
    }
}

/* The loop's thread. */
static void on_wake(void *ctx, hf_http_exchange *exchange, hf_http_why why)
{
    hf_server *server = ctx;
    bool taken;
    waiting *w;

    hf_mutex_lock(&server->polls_lock);
    w = hf_map_int_get(server->polls, (uintptr_t)exchange);
    if (w && why == HF_HTTP_REVIEW &&
        !hf_auth_ended(server->auth, &w->api->principal, hf_clock_real_us(server->clock)))
        w = NULL; /* its token holds */
    taken = w && waiting_take(w, false, true);
    hf_mutex_unlock(&server->polls_lock);
    if (taken && hf_work_offer(server->work, w->api)) {
        hf_api_error(w->api, 503, "overloaded", "Too many requests wait already.");
        waiting_end(w);
    }
}

/* Begins to watch the run that is the newest now: before it is looked at, so that no end is missed.
   Without a watch (there is no such run, memory ran out) the look says what there is. */
static void run_watch(waiting *w)
{
    const hf_watch_opts options = {
        .size_ = sizeof(options), .id = w->id, .changed = on_changed, .arg = w, .ends = w->ends};

    hf_watch_end(w->watch);
    w->watch = NULL;
    if (hf_watch_begin(w->api->server->engine, &options, &w->watch))
        w->watch = NULL;
}

/* A handler thread, which has it. */
static void waiting_run(hf_api *api)
{
    waiting *w = api->more;
    bool answered = false;
    bool over = false;

    *api->later = true;
    do {
        run_watch(w);
        answered = w->look(api, w->id, over || !w->watch);
    } while (!answered && waiting_leave(w, &over));
    if (answered)
        waiting_end(w);
}

void hf_waiting_begin(hf_api *api, const char *id, int64_t wait_ms, bool ends,
                      hf_waiting_look *look)
{
    hf_server *server = api->server;
    waiting *w = hf_alloc(sizeof(*w));
    hf_status st = w ? hf_mutex_init(&w->lock, NULL) : HF_NOMEM;

    if (st) {
        hf_alloc_free(w);
        hf_api_error(api, 503, "overloaded", "Memory ran out.");
        return;
    }
    w->api = api;
    w->id = id;
    w->look = look;
    w->ends = ends;
    w->busy = true;
    w->over = wait_ms == 0 || atomic_load(&server->draining);
    hf_mutex_lock(&server->polls_lock);
    st = hf_map_int_put(server->polls, (uintptr_t)api->exchange, w, NULL, NULL);
    hf_mutex_unlock(&server->polls_lock);
    if (st) {
        hf_mutex_fini(&w->lock);
        hf_alloc_free(w);
        hf_api_error(api, 503, "overloaded", "Memory ran out.");
        return;
    }
    api->more = w;
    api->resume = waiting_run;
    *api->later = true;
    hf_http_park(api->exchange, wait_ms ? wait_ms : 60000, on_wake, server);
    if (hf_work_offer(server->work, api)) {
        hf_api_error(api, 503, "overloaded", "Too many requests wait already.");
        waiting_end(w);
    }
}
