/* api_poll.c: workers that wait for work. A poll is parked on the loop and costs a connection and a
   few hundred bytes; the engine calls back when it has a task, and a handler thread then reads the
   history that goes with it. Whoever comes first, task, end of the time or end of the client, takes
   the poll; a client that is gone is never handed a task. */
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
#include "server/handlers.h"
#include "server/payload.h"
#include "server/server_impl.h"

enum {
    WAIT_SECONDS = 30,
    WAIT_SECONDS_MAX = 60,
    PAGE_EVENTS = 500,
    PAGE_EVENTS_MAX = 1000,
    QUEUES_MAX = 16,
    WORK_KINDS = 1U << HF_TASK_WORKFLOW | 1U << HF_TASK_QUERY | 1U << HF_TASK_VALIDATION
};

/* The published names of kinds; an activity has a poll of its own. */
static const char *const kind_names[] = {[HF_TASK_WORKFLOW] = "workflow",
                                         [HF_TASK_ACTIVITY] = NULL,
                                         [HF_TASK_QUERY] = "query",
                                         [HF_TASK_VALIDATION] = "update_validation"};

/* A poll that waits. It is found by its exchange, in a list of the server: whoever takes it out of
   there owns it and answers; everybody else comes too late. */
typedef struct parked {
    hf_api *api;
    const hf_http_exchange *exchange;
    hf_poll *poll;
    hf_value task; /* lives until the poll is ended */
    int64_t page;
} parked;

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

static void poll_empty(hf_api *api, const char *status)
{
    hf_worker_json(api, 200, hf_json_(api->mem, "{'task': null, 'poll_status': %s}", status));
}

static void poll_end(parked *p, const char *status)
{
    hf_api *api = p->api;

    (void)hf_poll_end(p->poll);
    poll_empty(api, status);
    hf_alloc_free(p);
    hf_api_finish(api);
}

/* The time is over, the client gone, or the server about to stop. The loop's thread. */
static void on_wake(void *ctx, hf_http_exchange *exchange, hf_http_why why)
{
    parked *p = parked_take(ctx, exchange);

    if (p)
        poll_end(p, why == HF_HTTP_DRAINING ? "draining" : "timeout");
}

static const char *time_text(hf_mem *mem, int64_t us)
{
    char text[HF_CLOCK_TEXT_SIZE];

    (void)hf_clock_print(us, text);
    return hf_mem_text(mem, hf_slice_of(text));
}

/* A page of the run's history, up to what the task is about. */
static hf_value history_page(hf_api *api, const char *id, const char *run_id, int64_t after,
                             int64_t page, hf_value *out_whole)
{
    const hf_history_opts opts = {
        .size_ = sizeof(opts), .id = id, .run_id = run_id, .after = after, .limit = page};
    hf_value whole = NULL;
    int64_t last;
    hf_status st = hf_history_with(api->server->engine, api->mem, &whole, &opts);

    if (st) {
        hf_worker_refuse(api, st, hf_errmsg(api->server->engine));
        return NULL;
    }
    *out_whole = whole;
    last = hf_int(whole, "last_sequence", 0);
    return hf_json_(api->mem,
                    "{'history_events': %p, 'total_history_events': %lld, "
                    "'next_history_page_token': %p}",
                    (const void *)hf_get(whole, "events"), (long long)last,
                    page && after + page < last
                        ? (const void *)hf_json_(api->mem, "'%lld'", (long long)(after + page))
                        : (const void *)hf_value_null());
}

static hf_value workflow_task(parked *p)
{
    hf_api *api = p->api;
    hf_mem *mem = api->mem;
    hf_value whole = NULL;
    hf_value page = history_page(api, hf_str(p->task, "workflow_id", ""),
                                 hf_str(p->task, "run_id", NULL), 0, p->page, &whole);

    if (!page)
        return NULL;
    return hf_value_merge(mem, hf_value_merge(mem, p->task, page),
                          hf_json_(mem, "{'history': %p, 'arguments': %p}",
                                   (const void *)hf_get(page, "history_events"),
                                   (const void *)hf_get(whole, "arguments")));
}

/* A query or a validation: all of the history, since nothing of the run may be known there. */
static hf_value question_task(parked *p)
{
    hf_api *api = p->api;
    hf_value whole = NULL;
    hf_value page = history_page(api, hf_str(p->task, "workflow_id", ""),
                                 hf_str(p->task, "run_id", NULL), 0, 0, &whole);

    if (!page)
        return NULL;
    return hf_value_merge(
        api->mem, hf_value_merge(api->mem, p->task, page),
        hf_json_(api->mem, "{'workflow_arguments': %p}", (const void *)hf_get(whole, "arguments")));
}

/* The arguments in the codec that the worker asked for: Avro, or JSON as a text. */
static hf_value activity_arguments(parked *p)
{
    hf_mem *mem = p->api->mem;
    hf_value arguments = hf_get(p->task, "arguments");
    hf_value plain = NULL;

    if (strcmp(hf_str(p->api->body, "payload_codec", "avro"), "json") != 0 ||
        hf_payload_open(mem, arguments, &plain, NULL))
        return arguments;
    return hf_json_(mem, "{'codec': 'json', 'blob': %s}", hf_text(mem, plain));
}

static hf_value activity_task(parked *p)
{
    return hf_value_merge(p->api->mem, p->task,
                          hf_json_(p->api->mem, "{'attempt': %lld, 'arguments': %p}",
                                   (long long)hf_int(p->task, "attempt_number", 1),
                                   (const void *)activity_arguments(p)));
}

/* What every task says in the published words, and its lease. */
static void task_answer(hf_api *api, hf_value task)
{
    hf_mem *mem = api->mem;
    const char *kind = hf_str(task, "kind", "");
    const char *until = time_text(mem, hf_int(task, "lease_expires_at", 0));
    const char *now = time_text(mem, hf_clock_wall_us(api->server->clock));

    task = hf_value_merge(
        mem, task,
        hf_json_(mem,
                 "{'task_kind': %s, 'task_type': %s, 'payload_codec': 'avro', 'lease_expires_at': "
                 "%s}",
                 kind, kind, until));
    hf_worker_json(api, 200,
                   hf_json_(mem,
                            "{'task': %p, 'poll_status': 'leased', 'lease': {'leased_at': %s, "
                            "'lease_expires_at': %s}}",
                            (const void *)task, now, until));
}

/* The client went away with the task: somebody else may have it at once. */
static void task_give_back(parked *p)
{
    const hf_task_claim claim = {.size_ = sizeof(claim),
                                 .task_id = hf_str(p->task, "task_id", ""),
                                 .worker = hf_str(p->task, "lease_owner", ""),
                                 .attempt = hf_int(p->task, "workflow_task_attempt", 0)};

    if (claim.attempt)
        (void)!hf_task_return(p->api->server->engine, &claim, "the worker went away");
}

/* A handler thread: the task with all that belongs to it. */
static void poll_resume(hf_api *api)
{
    parked *p = api->more;
    const char *kind = hf_str(p->task, "kind", "");
    hf_value task = NULL;

    if (!hf_http_exchange_alive(api->exchange))
        task_give_back(p);
    else if (strcmp(kind, "workflow") == 0)
        task = workflow_task(p);
    else if (strcmp(kind, "activity") == 0)
        task = activity_task(p);
    else
        task = question_task(p);
    if (task)
        task_answer(api, task);
    (void)hf_poll_end(p->poll);
    hf_alloc_free(p);
}

/* A thread of the engine. */
static bool on_got(void *arg, hf_value task)
{
    parked *p = arg; /* lives until its poll was ended, and that waits for us */
    hf_server *server = p->api->server;

    if (parked_take(server, p->exchange) != p)
        return false;
    if (task && !hf_http_exchange_alive(p->exchange)) {
        poll_end(p, "timeout");
        return false;
    }
    p->task = task;
    p->api->resume = poll_resume;
    p->api->more = p;
    if (task && !hf_work_offer(server->work, p->api))
        return true;
    p->api->resume = NULL; /* the engine stops, or too much waits already */
    poll_end(p, task ? "empty" : "draining");
    return false;
}

/* Types that the worker registered, ended by NULL; NULL: it did not say. */
static const char *const *types_of(hf_api *api, const char *worker, const char *field)
{
    hf_value said = hf_fleet_get(api->server->fleet, hf_worker_key(api, worker), api->mem);
    hf_value types = hf_get(said, field);
    const char **list;

    if (!said)
        return NULL;
    list = hf_mem_array(api->mem, hf_len(types) + 2, sizeof(*list));
    for (size_t i = 0; list && i < hf_len(types); i++)
        list[i] = hf_str(hf_at(types, i), "", "");
    if (list && hf_len(types) == 0)
        list[0] = ""; /* it registered without any: nothing fits */
    return list;
}

/* Queues behind the first, ended by NULL; NULL: there are none. *out_first is the first. */
static const char *const *queues_of(hf_api *api, const char **out_first)
{
    hf_value queues = hf_get(api->body, "task_queues");
    size_t count = hf_len(queues) < QUEUES_MAX ? hf_len(queues) : QUEUES_MAX;
    const char **list;

    *out_first = hf_str(api->body, "task_queue", hf_str(api->body, "task_queues.0", "default"));
    if (hf_str(api->body, "task_queue", NULL) || count < 2)
        return NULL;
    list = hf_mem_array(api->mem, count, sizeof(*list));
    for (size_t i = 1; list && i < count; i++)
        list[i - 1] = hf_str(hf_at(queues, i), "", "");
    return list;
}

/* What it waits for; answers and returns 0 when it names what there is not. */
static unsigned kinds_of(hf_api *api, hf_task_kind kind)
{
    hf_value names = hf_get(api->body, "task_kinds");
    unsigned kinds = 0;

    if (hf_len(names) == 0 || kind == HF_TASK_ACTIVITY)
        return 1U << kind;
    for (size_t i = 0; i < hf_len(names); i++) {
        const char *name = hf_str(hf_at(names, i), "", "");
        unsigned before = kinds;

        for (size_t k = 0; k < sizeof(kind_names) / sizeof(kind_names[0]); k++)
            if (kind_names[k] && strcmp(kind_names[k], name) == 0)
                kinds |= 1U << k;
        if (kinds == before) {
            hf_api_invalid(api, hf_json_(api->mem, "{'task_kinds': ['The field must name workflow, "
                                                   "query or update_validation, each once.']}"));
            return 0;
        }
    }
    return kinds & WORK_KINDS;
}

static hf_task_kind kind_first(unsigned kinds)
{
    hf_task_kind kind = HF_TASK_WORKFLOW;

    while (!(kinds & 1U << kind))
        kind++;
    return kind;
}

static parked *parked_new(hf_api *api)
{
    parked *p = hf_alloc(sizeof(*p));

    if (!p) {
        hf_api_error(api, 503, "overloaded", "Memory ran out.");
        return NULL;
    }
    p->api = api;
    p->exchange = api->exchange;
    p->page = hf_int(api->body, "history_page_size", PAGE_EVENTS);
    if (p->page < 1 || p->page > PAGE_EVENTS_MAX)
        p->page = PAGE_EVENTS_MAX;
    return p;
}

static void poll_begin(hf_api *api, hf_task_kind kind, const char *types)
{
    const char *worker = hf_worker_name(api);
    unsigned kinds = worker ? kinds_of(api, kind) : 0;
    int64_t wait = hf_int(api->body, "timeout_seconds",
                          hf_int(api->body, "poll_timeout_seconds", WAIT_SECONDS));
    hf_poll_opts opts = {.size_ = sizeof(opts), .also = kinds, .worker = worker, .got = on_got};
    parked *p;
    hf_err err = {0};
    hf_status st;

    if (!kinds)
        return;
    if (atomic_load(&api->server->draining)) {
        poll_empty(api, "draining");
        return;
    }
    (void)hf_fleet_beat(api->server->fleet, hf_worker_key(api, worker),
                        hf_clock_wall_us(api->server->clock));
    p = parked_new(api);
    if (!p)
        return;
    if (wait < 0 || wait > WAIT_SECONDS_MAX)
        wait = WAIT_SECONDS_MAX;
    opts.kind = kind_first(kinds);
    opts.queues = queues_of(api, &opts.queue);
    opts.types = types_of(api, worker, types);
    opts.arg = p;
    st = parked_put(api->server, p, &err);
    if (st) {
        hf_alloc_free(p);
        hf_api_status(api, st, err.text);
        return;
    }
    *api->later = true;
    hf_http_park(api->exchange, wait ? wait * 1000 : 1, on_wake, api->server);
    st = hf_namespace_use(api->server->engine, api->namespace);
    if (!st)
        st = hf_poll_begin(api->server->engine, &opts, &p->poll);
    if (st && parked_take(api->server, p->exchange)) {
        *api->later = false;
        hf_api_status(api, st, hf_errmsg(api->server->engine));
        hf_alloc_free(p);
    }
}

void hf_api_poll_workflow(hf_api *api)
{
    poll_begin(api, HF_TASK_WORKFLOW, "supported_workflow_types");
}

void hf_api_poll_activity(hf_api *api)
{
    poll_begin(api, HF_TASK_ACTIVITY, "supported_activity_types");
}

void hf_api_poll_query(hf_api *api)
{
    poll_begin(api, HF_TASK_QUERY, "supported_workflow_types");
}

void hf_api_poll_validation(hf_api *api)
{
    poll_begin(api, HF_TASK_VALIDATION, "supported_workflow_types");
}
