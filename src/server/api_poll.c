/* api_poll.c: workers that wait for work. A poll is parked on the loop and costs a connection and a
   few hundred bytes: the request is forgotten but for what its answer depends on. The engine calls
   back when it has a task, and a handler thread then reads the
   history that goes with it. Whoever comes first, task, end of the time or end of the client, takes
   the poll; a client that is gone is never handed a task. A task that is being brought when the
   time is over, or the server about to stop, is waited for; one that does not get as far as the
   client's system is given back (handed.h). */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/map.h"
#include "base/thread.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "holdfast/worker.h"
#include "server/api_worker.h"
#include "server/fleet.h"
#include "server/handed.h"
#include "server/handlers.h"
#include "server/offer.h"
#include "server/presence.h"
#include "server/recall.h"
#include "server/server_impl.h"

enum {
    WAIT_SECONDS = 30,
    WAIT_SECONDS_MAX = 60,
    DRAINED_SECONDS = 5 /* a worker of a drained build asks again after so long */
};

/* A poll that waits. It is found by its exchange, in a list of the server: whoever takes it out of
   there owns it and answers; everybody else comes too late. */
typedef struct parked {
    hf_server *server;
    hf_http_exchange *exchange;
    hf_poll *poll;
    hf_value task; /* lives until the poll is ended */
    /* of the request */
    const hf_route *route;
    int64_t admitted_us;
    int64_t page; /* history_page_size; PAGE_UNSAID: it does not say */
    int64_t most; /* tasks of one answer; 0: the published answer, with one */
    hf_task_kind kind;
    hf_class class;
    bool shared; /* it counts as its namespace's */
    bool native; /* history_format */
    bool sticky;
    bool json;    /* payload_codec */
    bool drained; /* it waits for nothing: its build gets no tasks */
    bool late;    /* its time is over: what is on its way to it or nothing; under the lock */
    bool ended;   /* its token is; under the lock */
    char token[HF_AUTH_ID_SIZE]; /* that it came with; "": none */
    const char *build;           /* of the worker; NULL: it says none */
    hf_slice key;                /* under which the answer is remembered; ptr NULL: it is not */
    hf_slice worker;             /* these two when there may be several tasks */
    hf_slice queue;
    char namespace[]; /* with the texts above behind it */
} parked;

#define PAGE_UNSAID INT64_MIN

/* In the place of a poll status: the credential does not hold any more. */
static const char ended[] = "ended";

static hf_status parked_put(hf_server *server, parked *p, hf_err *err)
{
    hf_status st;

    hf_mutex_lock(&server->polls_lock);
    st = hf_map_int_put(server->polls, (uintptr_t)p->exchange, p, NULL, err);
    hf_mutex_unlock(&server->polls_lock);
    return st;
}

/* NULL: somebody else was first. */
static parked *parked_take(hf_server *server, const hf_http_exchange *exchange)
{
    parked *p;

    hf_mutex_lock(&server->polls_lock);
    p = hf_map_int_remove(server->polls, (uintptr_t)exchange);
    hf_mutex_unlock(&server->polls_lock);
    return p;
}

/* The same when nothing is on its way to it. */
static parked *parked_leave(hf_server *server, const hf_http_exchange *exchange)
{
    parked *p;

    hf_mutex_lock(&server->polls_lock);
    p = hf_map_int_get(server->polls, (uintptr_t)exchange);
    if (p && !hf_poll_leave(p->poll)) {
        p->late = true;
        p = NULL;
    }
    if (p)
        (void)hf_map_int_remove(server->polls, (uintptr_t)exchange);
    hf_mutex_unlock(&server->polls_lock);
    return p;
}

static void poll_empty(hf_api *api, const char *status)
{
    hf_worker_json(api, 200, hf_json_(api->mem, "{'task': null, 'poll_status': %s}", status));
}

/* Tasks with all that belongs to them; `many`: in a list. */
static void poll_answer(hf_api *api, const hf_value *tasks, size_t count, hf_slice key, bool many)
{
    hf_value list = hf_offer_tasks(api, tasks, count, key);

    if (many)
        hf_worker_json(api, 200, hf_json_(api->mem, "{'tasks': %p}", (const void *)list));
    else if (hf_len(list))
        hf_worker_json(api, 200, hf_offer_lease(api, hf_at(list, 0)));
}

/* The request again, as far as its answer depends on it; NULL: no memory. */
static hf_api *api_again(const parked *p)
{
    hf_api *api = hf_api_new(p->server, p->exchange);
    hf_value_list *body = api ? hf_value_object(api->mem) : NULL;

    if (!api)
        return NULL;
    if (p->page != PAGE_UNSAID)
        hf_value_set(body, HF_SLICE("history_page_size"), hf_value_int(api->mem, p->page));
    if (p->native)
        hf_value_set(body, HF_SLICE("history_format"),
                     hf_value_string(api->mem, HF_SLICE("native")));
    if (p->sticky)
        hf_value_set(body, HF_SLICE("sticky"), hf_value_bool(true));
    if (p->json)
        hf_value_set(body, HF_SLICE("payload_codec"), hf_value_string(api->mem, HF_SLICE("json")));
    if (p->most) {
        hf_value_set(body, HF_SLICE("worker_id"), hf_value_string(api->mem, p->worker));
        hf_value_set(body, HF_SLICE("task_queue"), hf_value_string(api->mem, p->queue));
    }
    api->body = hf_value_finish(body);
    if (!api->body) {
        hf_api_done(api);
        return NULL;
    }
    api->route = p->route;
    api->class = p->class;
    api->admitted = true;
    api->shared = p->shared;
    api->admitted_us = p->admitted_us;
    (void)snprintf(api->namespace, sizeof(api->namespace), "%s", p->namespace);
    return api;
}

/* `api`: of the poll; NULL: it is still to be made. */
static void poll_end(parked *p, hf_api *api, const char *status)
{
    (void)hf_poll_end(p->poll);
    api = api ? api : api_again(p);
    if (api) {
        if (status == ended)
            hf_api_ended(api);
        else
            poll_empty(api, status);
        hf_api_finish(api);
    } else {
        if (p->shared)
            hf_admission_unshare(p->server->admission, p->class, hf_slice_of(p->namespace));
        hf_admission_leave(p->server->admission, p->class);
        hf_http_abandon(p->exchange);
    }
    hf_alloc_free(p);
}

/* Tokens have gone: is its one among them? What is on its way to it then goes back. */
static void poll_review(hf_server *server, hf_http_exchange *exchange)
{
    parked *p;

    hf_mutex_lock(&server->polls_lock);
    p = hf_map_int_get(server->polls, (uintptr_t)exchange);
    if (p && p->token[0])
        p->ended = !hf_auth_knows(server->auth, p->token, hf_clock_real_us(server->clock));
    if (p && !p->ended)
        p = NULL;
    hf_mutex_unlock(&server->polls_lock);
    p = p ? parked_leave(server, exchange) : NULL;
    if (p)
        poll_end(p, NULL, ended);
}

/* The time is over, the client gone, or the server about to stop. The loop's thread. */
static void on_wake(void *ctx, hf_http_exchange *exchange, hf_http_why why)
{
    parked *p;

    if (why == HF_HTTP_REVIEW) {
        poll_review(ctx, exchange);
        return;
    }
    p = why == HF_HTTP_GONE ? parked_take(ctx, exchange) : parked_leave(ctx, exchange);

    if (p)
        poll_end(p, NULL, why == HF_HTTP_DRAINING || p->drained ? "draining" : "timeout");
}

/* The task that came, and what else is there by now. */
static size_t tasks_of(hf_api *api, const parked *p, hf_value *tasks)
{
    size_t more = 0;
    hf_poll_opts opts;

    tasks[0] = p->task;
    if (p->most > 1 &&
        hf_offer_read(api, hf_str(api->body, "worker_id", ""), p->kind, false, &opts))
        (void)!hf_tasks_take(p->server->engine, &opts, (size_t)p->most - 1, api->mem, tasks + 1,
                             &more);
    return 1 + more;
}

/* A handler thread. */
static void poll_resume(hf_api *api)
{
    parked *p = api->more;
    hf_value tasks[HF_TASKS_TAKE_MAX];
    hf_value list;
    size_t count;

    if (!hf_http_exchange_alive(api->exchange)) {
        hf_handed_back(api, p->task);
    } else {
        count = tasks_of(api, p, tasks);
        poll_answer(api, tasks, count, p->key, p->most > 0);
        list = p->key.ptr ? hf_offer_list(api->mem, tasks, count) : NULL;
        if (list)
            hf_recall_put(api->server->recall, p->key, list,
                          hf_int(p->task, "lease_expires_at", 0));
    }
    (void)hf_poll_end(p->poll);
    hf_alloc_free(p);
}

/* A handler thread: the same poll again, because its answer was lost. */
static void poll_again(hf_api *api)
{
    hf_value before = api->more;
    hf_value held[HF_TASKS_TAKE_MAX];
    size_t count = 0;

    for (size_t i = 0; i < hf_len(before) && i < HF_TASKS_TAKE_MAX; i++)
        if (hf_handed_held(api, hf_at(before, i)))
            held[count++] = hf_at(before, i);
    if (count)
        poll_answer(api, held, count, (hf_slice){0}, hf_int(api->body, "max_tasks", 0) > 0);
    else
        poll_empty(api, "empty");
}

/* What the answer to this poll is remembered under; ptr NULL: it has no id. */
static hf_slice poll_key(hf_api *api, const char *worker)
{
    const char *id = hf_str(api->body, "poll_request_id", NULL);
    const char *key = id && *id ? hf_mem_format(api->mem, "poll\n%s\n%s\n%s\n%s", api->namespace,
                                                api->route->path, worker, id)
                                : NULL;

    return hf_slice_of(key);
}

/* True: the poll was answered before, and gets its answer again. */
static bool poll_repeated(hf_api *api, hf_slice key)
{
    hf_server *server = api->server;
    hf_value task =
        key.ptr ? hf_recall_get(server->recall, key, api->mem, hf_clock_wall_us(server->clock))
                : NULL;

    if (!task)
        return false;
    hf_handed_again(api, key);
    api->resume = poll_again;
    api->more = (void *)(uintptr_t)task;
    *api->later = true;
    if (!hf_work_offer(server->work, api))
        return true;
    api->resume = NULL;
    *api->later = false;
    hf_api_error(api, 503, "overloaded", "Too many requests wait already.");
    return true;
}

/* Why a task is not for this poll after all; NULL: it is. */
static const char *task_unfit(const parked *p, hf_value task)
{
    if (!hf_http_exchange_alive(p->exchange) ||
        !hf_presence_there(p->server->presence, p->namespace, hf_str(task, "lease_owner", "")))
        return "timeout"; /* it hangs, and its poll with it: another is to have the task */
    if (p->ended)
        return ended;
    return hf_fleet_drained(p->server->fleet, hf_slice_of(p->namespace),
                            hf_slice_of(hf_str(task, "task_queue", "")), p->build, NULL)
               ? "draining"
               : NULL;
}

/* A thread of the engine. */
static bool on_got(void *arg, hf_value task)
{
    parked *p = arg; /* lives until its poll was ended, and that waits for us */
    hf_server *server = p->server;
    const char *unfit;
    hf_api *api;

    if (parked_take(server, p->exchange) != p)
        return false;
    unfit = task ? task_unfit(p, task) : NULL;
    if (unfit) {
        poll_end(p, NULL, unfit);
        return false;
    }
    p->task = task;
    api = task ? api_again(p) : NULL;
    if (api) {
        api->resume = poll_resume;
        api->more = p;
        if (!hf_work_offer(server->work, api))
            return true;
        api->resume = NULL; /* too much waits already */
    }
    poll_end(p, api, atomic_load(&server->draining) ? "draining" : p->late ? "timeout" : "empty");
    return false;
}

static hf_slice text_put(char **at, hf_slice text)
{
    hf_slice copy = hf_slice_from(*at, text.len);

    memcpy(*at, text.ptr, text.len);
    (*at)[text.len] = '\0';
    *at += text.len + 1;
    return copy;
}

/* NULL: answered already. */
static parked *parked_new(hf_api *api, const hf_poll_opts *opts, hf_slice key)
{
    hf_slice build = hf_slice_of(opts->build);
    hf_slice space = hf_slice_of(api->namespace);
    hf_slice worker = hf_slice_of(opts->worker);
    hf_slice queue = hf_slice_of(opts->queue);
    parked *p = hf_alloc(sizeof(*p) + space.len + build.len + key.len + worker.len + queue.len + 5);
    char *at;

    if (!p) {
        hf_api_error(api, 503, "overloaded", "Memory ran out.");
        return NULL;
    }
    at = p->namespace;
    (void)text_put(&at, space);
    p->build = build.ptr ? text_put(&at, build).ptr : NULL;
    p->key = key.ptr ? text_put(&at, key) : (hf_slice){0};
    p->worker = text_put(&at, worker);
    p->queue = text_put(&at, queue);
    p->kind = opts->kind;
    p->most = hf_int(api->body, "max_tasks", 0);
    if (p->most > HF_TASKS_TAKE_MAX)
        p->most = HF_TASKS_TAKE_MAX;
    p->server = api->server;
    p->exchange = api->exchange;
    p->route = api->route;
    p->class = api->class;
    if (api->principal.revocable)
        (void)snprintf(p->token, sizeof(p->token), "%s", api->principal.id);
    p->shared = api->shared;
    p->admitted_us = api->admitted_us;
    p->page = hf_int(api->body, "history_page_size", PAGE_UNSAID);
    p->native = hf_native_wanted(api);
    p->sticky = hf_bool(api->body, "sticky", false);
    p->json = strcmp(hf_str(api->body, "payload_codec", ""), "json") == 0;
    return p;
}

/* Waits for a task; a worker of a drained build waits for nothing. */
static hf_status parked_begin(parked *p, const hf_poll_opts *opts)
{
    hf_engine *engine = p->server->engine;
    hf_status st = p->drained ? HF_OK : hf_namespace_use(engine, p->namespace);

    return st || p->drained ? st : hf_poll_begin(engine, opts, &p->poll);
}

static int64_t poll_wait_ms(hf_api *api, bool drained)
{
    int64_t wait = hf_int(api->body, "timeout_seconds",
                          hf_int(api->body, "poll_timeout_seconds", WAIT_SECONDS));

    if (wait < 0 || wait > WAIT_SECONDS_MAX)
        wait = WAIT_SECONDS_MAX;
    if (drained && wait > DRAINED_SECONDS)
        wait = DRAINED_SECONDS;
    return wait ? wait * 1000 : 1;
}

static void poll_begin(hf_api *api, hf_task_kind kind)
{
    hf_server *server = api->server;
    const char *worker = hf_worker_name(api);
    hf_http_exchange *exchange;
    hf_poll_opts opts;
    hf_slice key;
    parked *p;
    hf_err err = {0};
    hf_status st;

    if (!worker || !hf_offer_read(api, worker, kind, false, &opts))
        return;
    if (atomic_load(&server->draining)) {
        poll_empty(api, "draining");
        return;
    }
    (void)hf_fleet_beat(server->fleet, hf_worker_key(api, worker), hf_clock_wall_us(server->clock));
    key = poll_key(api, worker);
    if (poll_repeated(api, key))
        return;
    p = parked_new(api, &opts, key);
    if (!p)
        return;
    opts.got = on_got;
    opts.arg = p;
    p->drained = hf_fleet_drained(server->fleet, hf_slice_of(api->namespace),
                                  hf_slice_of(opts.queue), p->build, NULL);
    st = parked_put(server, p, &err);
    if (st) {
        hf_alloc_free(p);
        hf_api_status(api, st, err.text);
        return;
    }
    *api->later = true;
    exchange = api->exchange;
    hf_http_park(exchange, poll_wait_ms(api, p->drained), on_wake, server);
    hf_http_forget(exchange);
    st = parked_begin(p, &opts); /* it may be answered and gone when this returns */
    if (st && parked_take(server, exchange)) {
        *api->later = false;
        hf_api_status(api, st, hf_errmsg(server->engine));
        hf_alloc_free(p);
        return;
    }
    api->admitted = false; /* that is the poll's now, and so is the next */
    api->shared = false;
    hf_api_done(api);
}

void hf_api_poll_workflow(hf_api *api)
{
    poll_begin(api, HF_TASK_WORKFLOW);
}

void hf_api_poll_activity(hf_api *api)
{
    poll_begin(api, HF_TASK_ACTIVITY);
}

void hf_api_poll_query(hf_api *api)
{
    poll_begin(api, HF_TASK_QUERY);
}

void hf_api_poll_validation(hf_api *api)
{
    poll_begin(api, HF_TASK_VALIDATION);
}
