/* server.c: requests from the loop to their handlers and back. What can be answered from memory is
   answered on the loop; everything else goes to a handler thread or is turned away. */
#include "server/server.h"

#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "holdfast/host.h"
#include "holdfast/worker.h"
#include "holdfast/tool.h"
#include "http/listen.h"
#include "server/api_worker.h"
#include "server/claimant.h"
#include "server/fleet.h"
#include "server/follow.h"
#include "server/gate.h"
#include "server/quota.h"
#include "server/recall.h"
#include "server/server_impl.h"
#include "server/session_store.h"
#include "server/shelf.h"
#include "server/storage.h"
#include "server/presence.h"
#include "server/sweep.h"
#include "server/throttle.h"

enum {
    THREADS = 16,
    WAIT_THREADS = 16,
    WAITING_MAX = 4096,    /* more than may be in work */
    AT_DOOR_MS = 100,      /* in a flood, after which one that is turned away is told so */
    AT_DOOR_MAX = 1024,    /* more are told at once */
    ANSWERS_MOST = 30,     /* questions of one address at the pages of links ... */
    ANSWERS_US = 10000000, /* ... in this time */
    BODY_BYTES_MAX = 2 * 1024 * 1024 + 64 * 1024
};

/* ---- one request */

hf_api *hf_api_new(hf_server *server, hf_http_exchange *exchange)
{
    hf_mem *mem = hf_mem_new();
    hf_api *api = mem ? hf_mem_alloc(mem, sizeof(*api)) : NULL;

    if (!api) {
        hf_mem_free(mem);
        return NULL;
    }
    api->server = server;
    api->exchange = exchange;
    api->request = hf_http_exchange_request(exchange);
    api->mem = mem;
    hf_http_reply_init(&api->reply, 200);
    return api;
}

/* Headers that every answer of a plane carries. */
static void reply_dress(hf_api *api)
{
    hf_plane plane = hf_api_plane(api);

    if (!api->cached)
        hf_http_reply_field(&api->reply, "Cache-Control", HF_SLICE("no-store"));
    if (plane == HF_PLANE_CONTROL)
        hf_http_reply_field(&api->reply, HF_CONTROL_PLANE_HEADER,
                            HF_SLICE(HF_CONTROL_PLANE_VERSION));
    if (plane == HF_PLANE_CONSOLE) {
        hf_http_reply_field(&api->reply, "Content-Security-Policy",
                            HF_SLICE("default-src 'none'; frame-ancestors 'none'"));
        hf_http_reply_field(&api->reply, "Referrer-Policy", HF_SLICE("no-referrer"));
        hf_http_reply_field(&api->reply, "Cross-Origin-Resource-Policy", HF_SLICE("same-origin"));
    }
    if (plane == HF_PLANE_WORKER)
        hf_http_reply_field(&api->reply, HF_WORKER_PROTOCOL_HEADER,
                            HF_SLICE(HF_WORKER_PROTOCOL_TEXT));
}

static void answer_count(hf_server *server, int status)
{
    atomic_fetch_add(&server->answers[status / 100 % 6], 1);
}

void hf_api_done(hf_api *api)
{
    if (api->shared)
        hf_admission_unshare(api->server->admission, api->class, hf_slice_of(api->namespace));
    if (api->admitted)
        hf_admission_leave(api->server->admission, api->class);
    hf_mem_free(api->mem); /* the request with it */
}

void hf_api_finish(hf_api *api)
{
    hf_http_exchange *exchange = api->exchange;
    hf_http_reply reply;

    reply_dress(api);
    answer_count(api->server, api->reply.status);
    reply = api->reply;
    hf_api_done(api);
    hf_http_answer(exchange, &reply);
}

/* NULL: there is none; then `out_methods` are those that the resource has. */
static const hf_route *route_of(const hf_server *server, const hf_http_request *request,
                                unsigned *out_methods)
{
    const hf_route *route =
        hf_route_find(request->method, hf_http_request_path(request), out_methods);

    if (!route || route->plane != HF_PLANE_WEBHOOK ||
        server->options.webhook.mode != HF_WEBHOOK_OFF)
        return route;
    *out_methods = 0;
    return NULL;
}

/* Answers that there is no such route. */
static void route_miss(hf_api *api, unsigned methods)
{
    hf_buf allow = {0};

    if (!methods) {
        hf_api_error(api, 404, "not_found", "There is no such resource.");
        return;
    }
    for (int method = 0; method < HF_HTTP_METHODS; method++)
        if (methods & 1U << method)
            hf_buf_add_format(&allow, "%s%s", allow.len ? ", " : "",
                              hf_http_method_text((hf_http_method)method));
    hf_api_error(api, 405, "method_not_allowed", "The resource has other methods: %s.",
                 hf_buf_text(&allow));
    hf_http_reply_field(&api->reply, "Allow", hf_buf_slice(&allow));
    hf_buf_fini(&allow);
}

/* Who the client's certificate names, when that matters. */
static void subject_read(const hf_server *server, const hf_http_exchange *exchange,
                         char out[HF_CERTIFICATE_NAME_SIZE])
{
    if (!server->options.tls_client_roles ||
        !hf_http_exchange_subject(exchange, out, HF_CERTIFICATE_NAME_SIZE))
        out[0] = '\0';
}

/* A body must be JSON, or a form where people answer, and say so. */
static bool type_check(hf_api *api)
{
    hf_slice wanted = api->route->plane == HF_PLANE_ANSWER
                          ? HF_SLICE("application/x-www-form-urlencoded")
                          : HF_SLICE("application/json");
    hf_slice type;
    hf_slice bare;

    if (!api->request->has_body)
        return true;
    if (api->route->fields && hf_http_request_field(api->request, "content-type", &type) &&
        hf_slice_split(&type, ';', &bare) && hf_slice_equal(hf_slice_trim(bare), wanted))
        return true;
    if (!api->route->fields)
        hf_api_error(api, 400, "unexpected_body", "This request has no body.");
    else
        hf_api_error(api, 415, "unsupported_media_type", "The body must be %.*s.", (int)wanted.len,
                     wanted.ptr);
    return false;
}

/* Payloads that were sent by reference; answers when one of them cannot be had. */
static bool references_open(hf_api *api)
{
    const hf_storage storage = hf_api_storage(api);
    hf_err err = {0};
    hf_status st;

    if (!strstr(hf_buf_text(&api->request->body), "\"external_storage\""))
        return true;
    st = hf_storage_inline(&storage, api->body, &api->body, &err);
    if (st == HF_INVALID)
        hf_api_refuse(api, 422, err.text);
    else if (st)
        hf_api_status(api, st, err.text);
    return !st;
}

static bool body_read(hf_api *api)
{
    hf_json_limits limits = {.bytes_max = BODY_BYTES_MAX};
    hf_err err = {0};
    hf_status st;

    if (!api->route->fields)
        return true;
    if (api->request->body.len == 0 || api->route->plane == HF_PLANE_ANSWER ||
        hf_route_takes_document(api->route)) {
        api->body = hf_json_(api->mem, "{}");
        return api->body != NULL;
    }
    st = hf_json_read(api->mem, hf_buf_slice(&api->request->body), &limits, &api->body, &err);
    if (st == HF_NOMEM) {
        hf_api_error(api, 503, "overloaded", "Memory ran out.");
        return false;
    }
    if (st) {
        hf_api_error(api, 400, "malformed_json", "The body is not JSON: %s", err.text);
        return false;
    }
    if (hf_value_kind_of(api->body) == HF_VALUE_OBJECT)
        return references_open(api);
    if (hf_value_kind_of(api->body) == HF_VALUE_ARRAY && hf_len(api->body) == 0) {
        api->body = hf_json_(api->mem, "{}"); /* how PHP writes an empty map */
        return api->body != NULL;
    }
    hf_api_error(api, 422, "validation_failed", "The body must be a JSON object.");
    return false;
}

/* hf_http_handlers.ended */
static void on_ended(void *ctx, const hf_http_exchange *exchange, hf_http_left left)
{
    const hf_server *server = ctx;

    if (server->presence)
        hf_presence_ended(server->presence, exchange, left);
}

/* hf_presence_options.lost */
static void worker_lost(void *ctx, hf_slice key, int64_t silent_us)
{
    hf_server *server = ctx;
    hf_mem *mem = hf_mem_new_small();
    const char *slash = memchr(key.ptr, '/', key.len);
    size_t at = slash ? (size_t)(slash - (const char *)key.ptr) : 0;
    const char *space = mem && slash ? hf_mem_text(mem, hf_slice_from(key.ptr, at)) : NULL;
    const char *worker =
        space ? hf_mem_text(mem, hf_slice_from(slash + 1, key.len - at - 1)) : NULL;
    int64_t count = 0;
    hf_status st = worker ? hf_namespace_use(server->engine, space) : HF_NOMEM;

    if (!st)
        st = hf_workers_lost(server->engine, worker, silent_us, &count);
    if (!st)
        hf_fleet_lost(server->fleet, key);
    else if (st != HF_CONFLICT) /* else it was heard elsewhere, and is looked after there */
        hf_presence_promised(server->presence, key, 0);
    if (!st && count && server->options.log) {
        const hf_log_field fields[] = {hf_log_text("worker", key),
                                       hf_log_int("silent_ms", silent_us / 1000),
                                       hf_log_int("tasks", count)};

        hf_log_write(server->options.log, HF_LOG_WARN, "worker.lost", fields, 3);
    }
    hf_mem_free(mem);
}

/* hf_workers_heard_fn */
static bool worker_heard(void *ctx, const char *space, const char *worker, int64_t within_us)
{
    const hf_server *server = ctx;

    return hf_presence_hears(server->presence, space, worker, within_us);
}

static hf_status presence_open(hf_server *server, hf_err *err)
{
    const hf_presence_options options = {.quiet_ms = server->options.worker_quiet_ms,
                                         .beat_ms = server->options.worker_beat_ms,
                                         .lost = worker_lost,
                                         .ctx = server};

    hf_status st = hf_presence_open(&options, &server->presence, err);

    if (!st && server->engine)
        hf_workers_watch(server->engine, worker_heard, server);
    return st;
}

/* Everything this thread asks of the engine is about the request's namespace. */
static bool namespace_enter(hf_api *api)
{
    hf_engine *engine = api->server->engine;
    hf_status st = hf_namespace_use(engine, api->namespace[0] ? api->namespace : NULL);

    if (st)
        hf_api_status(api, st, hf_errmsg(engine));
    return !st;
}

/* What would wait for somebody else is not begun any more; nothing of it is recorded. */
static bool stopping_tell(hf_api *api)
{
    if (api->route->where != HF_WHERE_WAIT || !atomic_load(&api->server->draining))
        return false;
    hf_api_error(api, 503, "draining", "The server is stopping; ask again.");
    return true;
}

void hf_api_ended(hf_api *api)
{
    hf_api_error(api, 401, "unauthenticated", "The token was revoked or has expired.");
}

/* Got a thread: how long did that take? False: longer than anybody waits for an answer. */
static bool thread_had(hf_api *api)
{
    int64_t now_us = hf_clock_mono_us(api->server->clock);

    if (api->resume)
        return true;
    hf_admission_waited(api->server->admission, api->class, now_us - api->admitted_us, now_us);
    return (api->class != HF_CLASS_READ && api->class != HF_CLASS_COMMAND) ||
           now_us - api->admitted_us <= HF_ADMISSION_WAIT_US;
}

void hf_api_run(hf_api *api)
{
    bool pool = api->route->where != HF_WHERE_LOOP || api->resume;
    hf_engine *engine = pool ? api->server->engine : NULL;
    bool later = false;

    if (!thread_had(api)) {
        hf_api_error(api, 429, "overloaded", "The request has waited too long for a thread.");
        hf_api_finish(api);
        return;
    }
    if (!api->resume && stopping_tell(api)) {
        hf_api_finish(api);
        return;
    }
    if (engine && !namespace_enter(api) && !api->resume) {
        hf_api_finish(api);
        return;
    }
    if (engine && !api->resume)
        hf_session_touch(api);
    api->later = &later;
    if (api->resume) /* it holds something that must be given back in any case */
        api->resume(api);
    else if (body_read(api) && (!api->route->fields || hf_route_takes_document(api->route) ||
                                hf_api_fields_check(api)))
        api->route->handle(api);
    if (!later && (api->resume || api->route->where == HF_WHERE_WAIT) &&
        hf_auth_ended(api->server->auth, &api->principal, hf_clock_real_us(api->server->clock)))
        hf_api_ended(api); /* while it waited */
    if (engine)
        hf_mem_reset(hf_mem_of_engine(engine)); /* this thread's */
    if (!later)                                 /* else it may be answered and gone by now */
        hf_api_finish(api);
}

/* ---- what the loop calls */

/* There is too much of it already. This costs as little as can be: in a flood there are many of
   them for each one that is accepted, and they take its time. */
static void turn_away_now(hf_server *server, hf_http_exchange *exchange, hf_plane plane)
{
    const hf_http_reply *refusal = &server->refusals[plane];
    hf_http_reply reply;

    hf_http_reply_init(&reply, refusal->status);
    hf_buf_add_slice(&reply.fields, hf_buf_slice(&refusal->fields));
    hf_buf_add_slice(&reply.body, hf_buf_slice(&refusal->body));
    answer_count(server, reply.status);
    hf_http_answer(exchange, &reply);
}

/* It has stood at the door for long enough, or the server stops; nobody else knows of it. */
static void on_turn_away(void *ctx, hf_http_exchange *exchange, hf_http_why why)
{
    const hf_server_door *door = ctx;

    if (why == HF_HTTP_REVIEW)
        return;
    door->server->at_door--;
    turn_away_now(door->server, exchange, door->plane);
}

/* In a flood who is refused and asks again at once takes the time of those that are accepted. So it
   is told a little later, which takes no thread: its connection is busy meanwhile. */
static void turn_away(hf_server *server, hf_http_exchange *exchange, const hf_route *route,
                      bool flood)
{
    if (!flood || server->at_door >= AT_DOOR_MAX) {
        turn_away_now(server, exchange, route->plane);
        return;
    }
    server->at_door++;
    hf_http_forget(exchange);
    hf_http_park(exchange, AT_DOOR_MS, on_turn_away, &server->doors[route->plane]);
}

/* Counts it as its namespace's; answers when that has its share. */
static bool share_take(hf_api *api)
{
    hf_server *server = api->server;

    if (!api->namespace[0])
        return true;
    api->shared = hf_admission_share(server->admission, api->class, hf_slice_of(api->namespace),
                                     hf_server_namespace_alone(server), api->admitted_us);
    if (!api->shared)
        hf_api_error(api, 429, "overloaded", "The namespace has its share of this server.");
    return api->shared;
}

static void on_request(void *ctx, hf_http_exchange *exchange)
{
    hf_server *server = ctx;
    unsigned methods;
    const hf_route *route = route_of(server, hf_http_exchange_request(exchange), &methods);
    hf_class class = route ? hf_class_of(route) : HF_CLASS_OPEN;
    bool flood = false;
    hf_api *api;

    if (!hf_admission_enter(server->admission, class, hf_clock_mono_us(server->clock), &flood)) {
        turn_away(server, exchange, route, flood);
        return;
    }
    api = hf_api_new(server, exchange);
    if (!api) {
        hf_admission_leave(server->admission, class);
        hf_http_abandon(exchange);
        return;
    }
    api->route = route;
    api->class = class;
    api->admitted = true;
    api->admitted_us = hf_clock_mono_us(server->clock);
    subject_read(server, exchange, api->subject);
    if (!route)
        route_miss(api, methods);
    if (!route || !hf_gate_pass(api) || !share_take(api) || !type_check(api)) {
        hf_api_finish(api);
        return;
    }
    if (api->route->where == HF_WHERE_LOOP) {
        hf_api_run(api);
    } else if (hf_work_offer(api->route->where == HF_WHERE_WAIT ? server->waits : server->work,
                             api)) {
        hf_api_error(api, 503, "overloaded", "Too many requests wait already.");
        hf_api_finish(api);
    }
}

/* A body is about to come: whoever may not send it is told so before. */
static bool on_admit(void *ctx, const hf_http_exchange *exchange, size_t *body_bytes_max,
                     hf_http_reply *out_reply)
{
    hf_server *server = ctx;
    hf_api api = {.server = server, .request = hf_http_exchange_request(exchange)};
    unsigned methods;
    bool good;

    subject_read(server, exchange, api.subject);
    api.mem = hf_mem_new();
    if (!api.mem) {
        out_reply->status = 503;
        return false;
    }
    hf_http_reply_init(&api.reply, 200);
    api.route = route_of(server, api.request, &methods);
    *body_bytes_max =
        api.route && hf_route_takes_document(api.route) ? HF_SHELF_TEXT_MAX : BODY_BYTES_MAX;
    if (!api.route)
        route_miss(&api, methods);
    good = api.route && hf_gate_head(&api) && type_check(&api);
    if (good) {
        hf_http_reply_fini(&api.reply);
    } else {
        reply_dress(&api);
        answer_count(server, api.reply.status);
        *out_reply = api.reply;
    }
    hf_mem_free(api.mem);
    return good;
}

static const char *reason_of(int status)
{
    switch (status) {
    case 408:
        return "request_timeout";
    case 413:
        return "payload_too_large";
    case 414:
        return "target_too_long";
    case 415:
        return "unsupported_media_type";
    case 417:
        return "expectation_failed";
    case 431:
        return "header_fields_too_large";
    case 501:
        return "unknown_method";
    case 503:
        return "overloaded";
    case 505:
        return "unsupported_http_version";
    default:
        return "malformed_request";
    }
}

static void on_refuse(void *ctx, const char *reason, hf_http_reply *reply)
{
    answer_count(ctx, reply->status);
    hf_http_reply_field(reply, "Cache-Control", HF_SLICE("no-store"));
    hf_api_error_body(&reply->body, reason_of(reply->status), reason, NULL);
}

/* ---- opening and closing */

/* An address that others can reach needs a credential, and a credential needs TLS. */
static hf_status exposure_check(const hf_server_options *options, hf_err *err)
{
    if (hf_listen_is_loopback(options->listen) || options->insecure)
        return HF_OK;
    if (options->webhook.mode == HF_WEBHOOK_NONE)
        return hf_err_set(err, HF_DENIED,
                          "%s can be reached from other machines and --webhooks none protects "
                          "nothing; use token, signature or custom",
                          options->listen);
    if (options->auth.driver == HF_AUTH_NONE)
        return hf_err_set(err, HF_DENIED,
                          "%s can be reached from other machines and --auth none protects nothing; "
                          "use --auth token, or listen on 127.0.0.1",
                          options->listen);
    if (!options->tls_certificate && !options->behind_proxy)
        return hf_err_set(
            err, HF_DENIED,
            "%s can be reached from other machines and credentials would travel in the "
            "clear; give --tls-cert and --tls-key, or say --behind-proxy",
            options->listen);
    return HF_OK;
}

static hf_status certificates_check(const hf_server_options *options, hf_err *err)
{
    if (options->tls_client_ca && !options->tls_certificate)
        return hf_err_set(err, HF_INVALID, "certificates of clients need TLS: --tls-cert");
    if (options->tls_client_roles && !options->tls_client_ca)
        return hf_err_set(err, HF_INVALID,
                          "roles of certificates need somebody who signs them: --tls-client-ca");
    if (options->tls_client_roles && !hf_auth_roles_valid(options->tls_client_roles))
        return hf_err_set(err, HF_INVALID,
                          "roles of certificates are written NAME=ROLE,...; a name has at most %d "
                          "bytes",
                          HF_CERTIFICATE_NAME_SIZE - 1);
    return HF_OK;
}

static hf_status http_open(hf_server *server, hf_err *err)
{
    const hf_server_options *options = &server->options;
    hf_http_options http = {.listen = options->listen,
                            .tls_certificate = options->tls_certificate,
                            .tls_key = options->tls_key,
                            .tls_client_ca = options->tls_client_ca,
                            .limits = options->limits,
                            .handlers = {.admit = on_admit,
                                         .handle = on_request,
                                         .refuse = on_refuse,
                                         .ended = on_ended,
                                         .ctx = server},
                            .clock = options->clock,
                            .log = options->log};

    if (!http.limits.body_bytes_max)
        http.limits.body_bytes_max = BODY_BYTES_MAX;
    return hf_http_open(&http, &server->http, err);
}

/* What those hear that are turned away, for each plane. */
static hf_status refusals_make(hf_server *server, hf_err *err)
{
    hf_mem *mem = hf_mem_new();
    bool good = mem != NULL;

    for (int plane = 0; good && plane < HF_PLANES; plane++) {
        const hf_route route = {.plane = (hf_plane)plane};
        hf_api api = {.server = server, .route = &route, .mem = mem};

        hf_http_reply_init(&api.reply, 429);
        hf_api_error(&api, 429, "overloaded", "More is asked than can be done now.");
        reply_dress(&api);
        server->refusals[plane] = api.reply;
        server->doors[plane] = (hf_server_door){server, (hf_plane)plane};
        good = hf_buf_ok(&api.reply.fields) && hf_buf_ok(&api.reply.body);
    }
    hf_mem_free(mem);
    return good ? HF_OK : hf_err_nomem(err, "what those hear that are turned away");
}

hf_status hf_server_open(const hf_server_options *options, hf_server **out_server, hf_err *err)
{
    hf_server *server = hf_alloc(sizeof(*server));
    int threads = options->threads ? options->threads : THREADS;
    hf_status st;

    if (!server)
        return hf_err_nomem(err, "a server");
    server->options = *options;
    if (!server->options.listen)
        server->options.listen = "127.0.0.1:7430";
    server->engine = options->engine;
    server->steady = hf_clock_new_steady(options->clock ? options->clock : hf_clock_system());
    if (!server->steady) {
        hf_alloc_free(server);
        return hf_err_nomem(err, "a server");
    }
    server->clock = server->steady;
    server->loopback = hf_listen_is_loopback(server->options.listen);
    server->started_us = hf_clock_real_us(server->clock);
    hf_buf_add_text(&server->namespaces, HF_NAMESPACE_DEFAULT ",");
    st = hf_mutex_init(&server->mutex, err);
    if (st) {
        hf_buf_fini(&server->namespaces);
        hf_clock_free_steady(server->steady);
        hf_alloc_free(server);
        return st;
    }
    hf_worker_plane(&server->worker_plane);
    st = hf_buf_ok(&server->worker_plane) ? exposure_check(&server->options, err)
                                          : hf_err_nomem(err, "a server");
    if (!st)
        st = certificates_check(options, err);
    if (!st)
        st = hf_webhook_check_options(&options->webhook, err);
    if (!st)
        st =
            options->storage ? hf_storage_find(options->storage, server->storage_root, err) : HF_OK;
    if (!st)
        st = hf_auth_new(&options->auth, server->started_us, &server->auth, err);
    if (!st)
        st = hf_sessions_open(&server->sessions, err);
    if (!st)
        st = hf_shelf_open(&server->shelf, err);
    if (!st)
        st = hf_admission_open(&options->admission, &server->admission, err);
    if (!st)
        st = hf_quotas_open(options->runs_max, options->bytes_max, &server->quotas, err);
    if (!st)
        st = hf_work_open(threads, (threads + 3) / 4, WAITING_MAX, &server->work, err);
    if (!st)
        st = hf_work_open(WAIT_THREADS, 0, WAITING_MAX, &server->waits, err);
    if (!st)
        st = hf_fleet_open(&server->fleet, err);
    if (!st && server->engine)
        st = presence_open(server, err);
    if (!st)
        st = hf_throttle_open(ANSWERS_MOST, ANSWERS_US, &server->throttle, err);
    if (!st)
        st = hf_recall_open(&server->recall, err);
    if (!st)
        st = hf_claimants_open(&server->claimants, err);
    if (!st)
        st = hf_mutex_init(&server->polls_lock, err);
    if (!st) {
        server->polls = hf_map_int_new((hf_map_seed){0});
        st = server->polls ? HF_OK : hf_err_nomem(err, "a server");
    }
    if (!st && server->engine)
        st = hf_followers_open(server, &server->followers, err);
    if (!st)
        st = refusals_make(server, err);
    if (!st)
        st = http_open(server, err);
    if (!st) {
        hf_route_openapi(&server->openapi, hf_version_text());
        st = hf_buf_ok(&server->openapi) ? HF_OK : hf_err_nomem(err, "the list of routes");
    }
    if (st) {
        hf_server_close(server);
        return st;
    }
    *out_server = server;
    return HF_OK;
}

hf_status hf_server_start(hf_server *server, hf_err *err)
{
    hf_status st = HF_OK;

    if (server->storage_root[0] && server->engine)
        st = hf_sweeper_open(server, &server->sweeper, err);
    return st ? st : hf_http_start(server->http, err);
}

int hf_server_port(const hf_server *server)
{
    return hf_http_port(server->http);
}

void hf_server_drain(hf_server *server, int64_t grace_ms)
{
    atomic_store(&server->draining, true);
    if (server->engine)
        hf_waits_stop(server->engine, true); /* who waits for others is told to ask again */
    hf_http_drain(server->http, grace_ms);
}

bool hf_server_pulse(hf_server *server)
{
    return hf_http_pulse(server->http);
}

void hf_server_wait(hf_server *server)
{
    hf_http_wait(server->http);
}

void hf_server_close(hf_server *server)
{
    if (!server)
        return;
    if (server->http) { /* every request is answered first */
        hf_server_drain(server, 0);
        hf_server_wait(server);
    }
    hf_followers_close(server->followers);
    if (server->engine)
        hf_workers_watch(server->engine, NULL, NULL);
    hf_presence_close(server->presence);
    server->presence = NULL;
    hf_sweeper_close(server->sweeper);
    hf_work_close(server->waits);
    hf_work_close(server->work);
    if (server->engine)
        hf_waits_stop(server->engine, false);
    hf_http_close(server->http);
    hf_sessions_close(server->sessions);
    hf_shelf_close(server->shelf);
    hf_quotas_close(server->quotas);
    hf_admission_close(server->admission);
    hf_map_int_free(server->polls);
    hf_mutex_fini(&server->polls_lock);
    hf_fleet_close(server->fleet);
    hf_claimants_close(server->claimants);
    hf_throttle_close(server->throttle);
    hf_recall_close(server->recall);
    hf_auth_free(server->auth);
    hf_buf_fini(&server->openapi);
    hf_buf_fini(&server->worker_plane);
    for (int plane = 0; plane < HF_PLANES; plane++)
        hf_http_reply_fini(&server->refusals[plane]);
    hf_buf_fini(&server->namespaces);
    hf_mem_free(server->spaces_mem);
    hf_mutex_fini(&server->mutex);
    hf_clock_free_steady(server->steady);
    hf_alloc_free(server);
}

hf_status hf_server_tokens_set(hf_server *server, const hf_auth_token *tokens, size_t count,
                               hf_err *err)
{
    hf_status st = hf_auth_tokens_set(server->auth, tokens, count, err);

    hf_server_review(server);
    return st;
}

void hf_server_review(hf_server *server)
{
    if (hf_auth_lost(server->auth, hf_clock_real_us(server->clock)))
        hf_http_review(server->http);
}
