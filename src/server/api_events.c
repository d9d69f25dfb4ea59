/* api_events.c: the events of a run as server-sent events, as they are committed. A feed belongs to
   one thread at a time: the one that set `busy`. The engine says when the run changed; a handler
   thread then reads what is new and sends it. Nothing is polled. */
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/thread.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "server/handlers.h"
#include "server/server_impl.h"

enum { PAGE = 200 };

typedef struct feed {
    hf_api *api;
    hf_watch *watch;
    int64_t after;
    hf_mutex lock;
    bool busy;  /* somebody has it */
    bool dirty; /* there may be something new */
    bool over;  /* the client is gone, or the server stops */
    bool ended; /* the token is */
} feed;

/* By whoever has it. */
static void feed_end(feed *f)
{
    hf_api *api = f->api;
    hf_server *server = api->server;
    hf_http_exchange *exchange = api->exchange;

    hf_mutex_lock(&server->polls_lock);
    (void)hf_map_int_remove(server->polls, (uintptr_t)exchange);
    hf_mutex_unlock(&server->polls_lock);
    hf_watch_end(f->watch); /* nobody comes any more */
    hf_mutex_fini(&f->lock);
    hf_alloc_free(f);
    hf_http_reply_fini(&api->reply);
    hf_api_done(api);
    hf_http_stream_end(exchange);
}

/* Whether the caller has it now. */
static bool feed_take(feed *f, bool dirty, bool over)
{
    bool taken;

    hf_mutex_lock(&f->lock);
    f->dirty |= dirty;
    f->over |= over;
    taken = !f->busy;
    f->busy = true;
    hf_mutex_unlock(&f->lock);
    return taken;
}

/* True: there is more to do for whoever has it. */
static bool feed_leave(feed *f, bool *out_over)
{
    bool again;

    hf_mutex_lock(&f->lock);
    again = f->dirty || f->over;
    *out_over = f->over;
    f->dirty = false;
    f->busy = again;
    hf_mutex_unlock(&f->lock);
    return again;
}

/* A thread of the engine, which must not be held up. */
static void on_changed(void *arg)
{
    feed *f = arg;

    if (feed_take(f, true, false) && hf_work_offer(f->api->server->work, f->api)) {
        bool over;

        (void)feed_leave(f, &over); /* too much waits: the next change tries again */
    }
}

/* Tokens have gone: is that of this feed among them? Then whoever has it says so and ends it. */
static void feed_review(hf_server *server, const hf_http_exchange *exchange)
{
    bool taken = false;
    feed *f;

    hf_mutex_lock(&server->polls_lock);
    f = hf_map_int_get(server->polls, (uintptr_t)exchange);
    if (f && hf_auth_ended(server->auth, &f->api->principal, hf_clock_real_us(server->clock))) {
        hf_mutex_lock(&f->lock);
        f->ended = true;
        hf_mutex_unlock(&f->lock);
        taken = feed_take(f, true, false);
    }
    hf_mutex_unlock(&server->polls_lock);
    if (taken && hf_work_offer(server->work, f->api))
        feed_end(f);
}

/* The loop's thread. One that is not in the list has ended meanwhile. */
static void on_wake(void *ctx, hf_http_exchange *exchange, hf_http_why why)
{
    hf_server *server = ctx;
    bool taken;
    feed *f;

    if (why == HF_HTTP_REVIEW) {
        feed_review(server, exchange);
        return;
    }
    hf_mutex_lock(&server->polls_lock);
    f = hf_map_int_get(server->polls, (uintptr_t)exchange);
    taken = f && feed_take(f, false, true);
    hf_mutex_unlock(&server->polls_lock);
    if (taken)
        feed_end(f);
}

static bool failure_send(feed *f, hf_mem *mem, hf_status st)
{
    (void)hf_api_event(
        f->api, 0, "error",
        hf_json_(mem, "{'reason': %s, 'message': %s}",
                 st == HF_NOTFOUND ? "run_not_found" : "server_error",
                 st == HF_NOTFOUND ? hf_errmsg(f->api->server->engine) : hf_status_sentence(st)));
    return false;
}

static bool feed_ended(feed *f)
{
    bool ended;

    hf_mutex_lock(&f->lock);
    ended = f->ended;
    hf_mutex_unlock(&f->lock);
    return ended;
}

/* Sends what is new; false: nothing more will come. */
static bool feed_send(feed *f, hf_mem *mem)
{
    const hf_history_opts options = {.size_ = sizeof(options),
                                     .id = hf_api_param_named(f->api, "workflow_id"),
                                     .run_id = hf_api_param_named(f->api, "run_id"),
                                     .after = f->after,
                                     .limit = PAGE};
    hf_value page = NULL;
    hf_value events;
    hf_status st;

    if (feed_ended(f)) {
        (void)hf_api_event(f->api, 0, "error",
                           hf_json_(mem, "{'reason': 'unauthenticated', 'message': 'The token was "
                                         "revoked or has expired.'}"));
        return false;
    }
    st = hf_history_with(f->api->server->engine, mem, &page, &options);
    if (st)
        return failure_send(f, mem, st);
    events = hf_get(page, "events");
    for (size_t i = 0; i < hf_len(events); i++) {
        hf_value event = hf_at(events, i);

        f->after = hf_int(event, "sequence", f->after + 1);
        if (!hf_api_event(f->api, f->after, hf_str(event, "event_type", "event"), event))
            return false;
    }
    if (f->after < hf_int(page, "last_sequence", 0)) {
        (void)feed_take(f, true, false); /* the next page */
        return true;
    }
    if (!hf_bool(page, "closed", false))
        return true;
    (void)hf_api_event(f->api, 0, "end",
                       hf_json_(mem, "{'last_sequence': %lld}", (long long)f->after));
    return false;
}

static hf_status feed_watch(feed *f)
{
    const hf_watch_opts options = {.size_ = sizeof(options),
                                   .id = hf_api_param_named(f->api, "workflow_id"),
                                   .run_id = hf_api_param_named(f->api, "run_id"),
                                   .changed = on_changed,
                                   .arg = f};

    return f->watch ? HF_OK : hf_watch_begin(f->api->server->engine, &options, &f->watch);
}

/* A handler thread, which has it. */
static void feed_run(hf_api *api)
{
    feed *f = api->more;
    bool over = false;
    bool open = true;

    *api->later = true;
    do {
        hf_mem *mem = hf_mem_new();
        hf_status st = mem ? feed_watch(f) : HF_NOMEM; /* before reading: nothing is missed */

        open = st ? mem && failure_send(f, mem, st) : feed_send(f, mem);
        hf_mem_free(mem);
    } while (open && feed_leave(f, &over) && !over);
    if (!open || over)
        feed_end(f);
}

/* Behind which event it begins: Last-Event-ID of a client that comes back, or ?after. */
static bool after_read(hf_api *api, int64_t *out_after)
{
    hf_slice sent;

    if (hf_http_request_field(api->request, "last-event-id", &sent) &&
        hf_slice_int(sent, out_after) && *out_after >= 0)
        return true;
    return hf_api_query_int(api, "after", 0, 0, INT64_MAX, out_after);
}

/* A feed in the server's list, which the caller has; NULL: no memory. */
static feed *feed_new(hf_api *api, int64_t after)
{
    hf_server *server = api->server;
    feed *f = hf_alloc(sizeof(*f));
    hf_status st;

    if (!f || hf_mutex_init(&f->lock, NULL)) {
        hf_alloc_free(f);
        return NULL;
    }
    f->api = api;
    f->after = after;
    f->busy = true;
    hf_mutex_lock(&server->polls_lock);
    st = hf_map_int_put(server->polls, (uintptr_t)api->exchange, f, NULL, NULL);
    hf_mutex_unlock(&server->polls_lock);
    if (!st)
        return f;
    hf_mutex_fini(&f->lock);
    hf_alloc_free(f);
    return NULL;
}

void hf_api_events(hf_api *api)
{
    int64_t after = 0;
    feed *f;

    if (!after_read(api, &after))
        return;
    f = feed_new(api, after);
    if (!f) {
        hf_api_error(api, 503, "overloaded", "Memory ran out.");
        return;
    }
    api->more = f;
    api->resume = feed_run;
    api->reply.type = "text/event-stream";
    hf_http_reply_field(&api->reply, "Cache-Control", HF_SLICE("no-store"));
    *api->later = true;
    hf_http_stream(api->exchange, &api->reply, on_wake, api->server);
    if (hf_work_offer(api->server->work, api))
        feed_end(f);
}
