/* remote_call.c: the functions of holdfast.h that become requests to a server. Values travel in
   envelopes of JSON, so that the server records what an engine in this process would have. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/value.h"
#include "engine/call.h"
#include "engine/remote_impl.h"
#include "model/envelope.h"

enum { LOOK_MS = 20000, WAIT_MOST_S = 60 };

static int64_t now_us(void)
{
    return hf_clock_mono_us(hf_clock_system());
}

static hf_value sealed(hf_mem *mem, hf_value value)
{
    hf_buf text = {0};
    hf_value envelope = NULL;

    if (!value)
        return hf_value_null();
    hf_json_write(&text, value);
    if (hf_buf_ok(&text))
        envelope = hf_json_(mem, "{'codec': 'json', 'blob': %s}", hf_buf_text(&text));
    hf_buf_fini(&text);
    return envelope;
}

static hf_status opened(hf_mem *mem, hf_value envelope, hf_value *out_value, hf_err *err)
{
    hf_decision_payload payload = {0};
    hf_status st = HF_OK;

    *out_value = hf_value_null();
    if (envelope && hf_value_kind_of(envelope) != HF_VALUE_NULL)
        st = hf_envelope_read(mem, envelope, (hf_slice){0}, &payload, err);
    if (!st && payload.bytes.ptr)
        st = hf_envelope_value(mem, &payload, out_value, err);
    return st;
}

/* ---- commands */

typedef struct command_route {
    const char *command;
    const char *instance; /* paths with a place for id, run and name */
    const char *run;      /* NULL: there is none */
} command_route;

static const command_route routes[] = {
    {"signal", "/api/workflows/%s/signal/%s", "/api/workflows/%s/runs/%s/signal/%s"},
    {"update", "/api/workflows/%s/update/%s", "/api/workflows/%s/runs/%s/update/%s"},
    {"cancel", "/api/workflows/%s/cancel", "/api/workflows/%s/runs/%s/cancel"},
    {"terminate", "/api/workflows/%s/terminate", "/api/workflows/%s/runs/%s/terminate"},
    {"repair", "/api/workflows/%s/repair", "/api/workflows/%s/runs/%s/repair"},
    {"archive", "/api/workflows/%s/archive", "/api/workflows/%s/runs/%s/archive"},
};

static const char *path_add(hf_mem *mem, hf_buf *path, const char *format, const char *const *parts)
{
    size_t part = 0;

    for (const char *at = format; *at; at++) {
        if (at[0] == '%' && at[1] == 's') {
            const char *piece = hf_client_path(mem, "%s", parts[part++]);

            hf_buf_add_text(path, piece ? piece : "");
            at++;
        } else {
            hf_buf_add_byte(path, (uint8_t)*at);
        }
    }
    return hf_buf_ok(path) ? hf_mem_text(mem, hf_buf_slice(path)) : NULL;
}

/* Where a command goes; HF_UNSUPPORTED: nowhere. */
static hf_status command_path(hf_mem *mem, const char *command, hf_value request,
                              const char **out_path, hf_err *err)
{
    const char *id = hf_str(request, "workflow_id", "");
    const char *run = hf_str(request, "run_id", NULL);
    const char *name = hf_str(request, "name", "");
    const char *of_instance[] = {id, name};
    const char *of_run[] = {id, run, name};
    hf_buf path = {0};

    *out_path = NULL;
    if (strcmp(command, "start") == 0) {
        *out_path = "/api/workflows";
        return HF_OK;
    }
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
        if (strcmp(routes[i].command, command) != 0)
            continue;
        *out_path = path_add(mem, &path, run ? routes[i].run : routes[i].instance,
                             run ? of_run : of_instance);
        hf_buf_fini(&path);
        return *out_path ? HF_OK : hf_err_nomem(err, "a command");
    }
    return hf_err_set(err, HF_UNSUPPORTED, "the command %s cannot be sent to a server", command);
}

/* The body: what is not in the path; values sealed; a request id, so that it may be asked again. */
static hf_value command_body(hf_remote *remote, hf_mem *mem, hf_value request)
{
    hf_value_list *body = hf_value_object(mem);
    bool named = hf_str(request, "request_id", NULL) != NULL;
    char made[64];
    hf_slice key;
    hf_value item;

    for (size_t i = 0; hf_value_member(request, i, &key, &item); i++) {
        bool value =
            hf_slice_equal(key, HF_SLICE("input")) || hf_slice_equal(key, HF_SLICE("arguments"));

        if (hf_value_kind_of(item) != HF_VALUE_NULL && !hf_slice_equal(key, HF_SLICE("run_id")) &&
            !hf_slice_equal(key, HF_SLICE("name")) && !hf_slice_equal(key, HF_SLICE("context")))
            hf_value_set(body, key, value ? sealed(mem, item) : item);
    }
    if (!named) {
        hf_mutex_lock(&remote->lock);
        (void)snprintf(made, sizeof(made), "c-%016llx%016llx",
                       (unsigned long long)hf_rng_next(&remote->rng),
                       (unsigned long long)hf_rng_next(&remote->rng));
        hf_mutex_unlock(&remote->lock);
        hf_value_set(body, HF_SLICE("request_id"), hf_value_string(mem, hf_slice_of(made)));
    }
    return hf_value_finish(body);
}

hf_status hf_remote_command(hf_remote *remote, const char *command, hf_value request, hf_mem *mem,
                            hf_command_result *out, hf_err *err)
{
    hf_client_request ask = {.method = "POST", .timeout_ms = (WAIT_MOST_S + 15) * 1000};
    hf_client_reply reply;
    hf_status st = hf_remote_begin(remote, err);

    *out = (hf_command_result){0};
    if (!st)
        st = command_path(mem, command, request, &ask.path, err);
    if (st)
        return st;
    hf_remote_known(remote);
    ask.body = command_body(remote, mem, request);
    if (!ask.body)
        return hf_err_nomem(err, "a command");
    st = hf_remote_ask(remote, &ask, REMOTE_PATIENCE_MS, mem, &reply, err);
    if (st)
        return st;
    *out = (hf_command_result){.accepted = reply.status >= 200 && reply.status < 300,
                               .outcome = hf_str(reply.body, "outcome", NULL),
                               .reason = hf_str(reply.body, "reason", NULL),
                               .command_id = hf_str(reply.body, "command_id", NULL),
                               .instance_id = hf_str(reply.body, "workflow_id", NULL),
                               .run_id = hf_str(reply.body, "run_id", NULL),
                               .detail = reply.body};
    if (out->accepted || out->outcome)
        return HF_OK;
    return hf_client_outcome(&reply, err);
}

hf_status hf_remote_order(hf_remote *remote, const char *command, hf_value request, hf_mem *mem,
                          hf_command_result *out, hf_err *err)
{
    hf_status st = request ? hf_remote_command(remote, command, request, mem, out, err)
                           : hf_err_nomem(err, "a command");

    if (st || out->accepted)
        return st;
    st = out->reason && (strcmp(out->reason, "duplicate_start") == 0 ||
                         strcmp(out->reason, "instance_already_started") == 0)
             ? HF_EXISTS
             : HF_REJECTED;
    return hf_err_set(err, st, "%s: %s", out->reason ? out->reason : out->outcome,
                      hf_str(out->detail, "message", "the command was rejected"));
}

/* ---- start */

/* The option that a server does not take; NULL: none is set. */
static const char *option_beyond(const hf_start_opts *o)
{
    return o->delay             ? "delay"
           : o->correlation_key ? "correlation_key"
           : o->priority        ? "priority"
           : o->concurrency_key ? "concurrency_key"
           : o->rate_limit      ? "rate_limit"
                                : NULL;
}

static hf_value object_of(hf_mem *mem, const char *json)
{
    return json ? hf_parse_(mem, json, strlen(json)) : hf_value_null();
}

static hf_value seconds_of(hf_mem *mem, hf_ms ms)
{
    return ms > 0 ? hf_value_int(mem, (ms + 999) / 1000) : hf_value_null();
}

hf_status hf_remote_start(hf_remote *remote, const char *type, const hf_start_opts *given,
                          const char *signal, hf_value args, hf_mem *mem, hf_err *err)
{
    const hf_registry_workflow *here =
        hf_registry_find_workflow(remote->registry, hf_slice_of(type));
    const hf_workflow_def *def = here ? here->definition : NULL;
    hf_command_result result;
    hf_start_opts o = {0};
    hf_value request;
    hf_status st;

    (void)args;
    if (!given)
        return hf_err_set(err, HF_MISUSE, "a type and options are needed");
    st = hf_options_take(&o, sizeof(o), given, err);
    if (st)
        return st;
    if (signal || option_beyond(&o))
        return hf_err_set(err, HF_UNSUPPORTED, "hf_start: %s cannot be sent to a server",
                          signal ? "a first signal" : option_beyond(&o));
    request = hf_json_(
        mem,
        "{'workflow_type': %s, 'workflow_id': %s, 'task_queue': %s, 'input': %p, 'business_key': "
        "%s, 'labels': %p, 'memo': %p, 'search_attributes': %p, 'duplicate_policy': %s, "
        "'execution_timeout_seconds': %p, 'run_timeout_seconds': %p, 'request_id': %s}",
        def ? def->type : type, o.id,
        o.queue                                    ? o.queue
        : remote->app && remote->app->queue && def ? remote->app->queue
                                                   : "default",
        o.in ? (const void *)o.in : (const void *)hf_value_null(), o.business_key,
        (const void *)object_of(mem, o.labels), (const void *)object_of(mem, o.memo),
        (const void *)object_of(mem, o.search_attributes),
        o.duplicate == HF_DUP_RETURN_EXISTING ? "use-existing" : NULL,
        (const void *)seconds_of(mem, o.execution_timeout ? o.execution_timeout
                                      : def               ? def->execution_timeout
                                                          : 0),
        (const void *)seconds_of(mem, o.run_timeout ? o.run_timeout
                                      : def         ? def->run_timeout
                                                    : 0),
        o.request_id);
    return hf_remote_order(remote, "start", request, mem, &result, err);
}

/* ---- updates and queries */

hf_status hf_remote_update(hf_remote *remote, const char *id, const char *name, hf_value args,
                           hf_ms wait, hf_mem *mem, hf_value *out, hf_err *err)
{
    int64_t seconds = wait < 1000 ? 1 : wait / 1000 < WAIT_MOST_S ? wait / 1000 : WAIT_MOST_S;
    hf_command_result result;
    hf_status st = hf_remote_order(
        remote, "update",
        hf_json_(mem,
                 "{'workflow_id': %s, 'name': %s, 'arguments': %p, 'wait_for': 'completed', "
                 "'wait_timeout_seconds': %lld}",
                 id, name, args ? (const void *)args : (const void *)hf_value_null(),
                 (long long)seconds),
        mem, &result, err);

    *out = NULL;
    if (result.outcome && strcmp(result.outcome, "update_failed") == 0)
        return hf_err_set(err, HF_ERROR, "%s: %s", hf_str(result.detail, "failure_type", "error"),
                          hf_str(result.detail, "failure_message", ""));
    if (st)
        return st;
    if (!result.outcome)
        return hf_err_set(err, HF_TIMEOUT, "the update is accepted and not answered yet");
    *out = hf_get(result.detail, "result");
    return HF_OK;
}

hf_status hf_remote_query(hf_remote *remote, const char *id, const char *name, hf_value args,
                          hf_mem *mem, hf_value *out, hf_err *err)
{
    hf_client_request ask = {
        .method = "POST",
        .path = hf_client_path(mem, "/api/workflows/%s/query/%s", id, name),
        .body = hf_json_(mem, "{'arguments': %p}", (const void *)sealed(mem, args))};
    hf_client_reply reply;
    hf_status st = hf_remote_begin(remote, err);

    *out = NULL;
    if (!st && (!ask.path || !ask.body))
        st = hf_err_nomem(err, "a query");
    if (!st)
        st = hf_remote_ask(remote, &ask, REMOTE_PATIENCE_MS, mem, &reply, err);
    if (!st)
        st = hf_client_outcome(&reply, err);
    return st ? st : opened(mem, hf_get(reply.body, "result_envelope"), out, err);
}

/* ---- results */

static hf_status failure_of(hf_mem *mem, hf_value said, const hf_error **out_failure, hf_err *err)
{
    bool cancelled = strcmp(hf_str(said, "status", ""), "cancelled") == 0;
    hf_error *failure = hf_mem_alloc(mem, sizeof(*failure));
    hf_status st;

    if (!failure)
        return hf_err_nomem(err, "a failure");
    *failure = (hf_error){.status = cancelled ? HF_CANCELLED : HF_ERROR,
                          .type = hf_str(said, "error.type", "failed"),
                          .message = hf_str(said, "error.message", ""),
                          .retryable = hf_bool(said, "error.retryable", false)};
    st = opened(mem, hf_get(said, "error.details"), &failure->details, err);
    if (st)
        return st;
    if (out_failure)
        *out_failure = failure;
    return hf_err_set(err, failure->status, "%s: %s", failure->type, failure->message);
}

hf_status hf_remote_result(hf_remote *remote, const char *id, hf_ms wait, hf_mem *mem,
                           hf_value *out, const hf_error **out_failure, hf_err *err)
{
    int64_t until_us = hf_clock_after(now_us(), wait);
    hf_status st = hf_remote_begin(remote, err);

    while (!st) {
        int64_t left_ms = (until_us - now_us()) / 1000;
        int64_t look_ms = left_ms < 0 ? 0 : left_ms < LOOK_MS ? left_ms : LOOK_MS;
        hf_client_request ask = {.method = "GET"};
        hf_client_reply reply;
        char text[16];
        const char *status;

        (void)snprintf(text, sizeof(text), "%d", (int)look_ms);
        ask.path = hf_client_path(mem, "/api/workflows/%s/result?wait_ms=%s", id, text);
        if (!ask.path)
            return hf_err_nomem(err, "a question");
        st = hf_remote_ask(remote, &ask, left_ms > 0 ? left_ms : 0, mem, &reply, err);
        if (!st)
            st = hf_client_outcome(&reply, err);
        status = hf_str(reply.body, "status", "");
        if (!st && strcmp(status, "completed") == 0)
            return opened(mem, hf_get(reply.body, "result_envelope"), out, err);
        if (!st && strcmp(status, "open") != 0)
            return failure_of(mem, reply.body, out_failure, err);
        if (!st && left_ms <= 0)
            return hf_err_set(err, HF_TIMEOUT, "it is not done yet");
    }
    return st;
}
