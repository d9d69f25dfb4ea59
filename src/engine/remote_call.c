/* remote_call.c: the functions of holdfast.h that become requests to a server. Values travel in
   envelopes of JSON, so that the server records what an engine in this process would have. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "base/value.h"
#include "engine/call.h"
#include "engine/remote_impl.h"
#include "model/envelope.h"

enum { LOOK_MS = 20000, WAIT_MOST_S = 60 };

static int64_t now_us(void)
{
    return hf_clock_mono_us(hf_clock_system());
}

hf_value hf_remote_envelope(hf_mem *mem, hf_slice json)
{
    hf_value_list *envelope = hf_value_object(mem);

    hf_value_set(envelope, HF_SLICE("codec"), hf_value_string(mem, HF_SLICE("json")));
    hf_value_set(envelope, HF_SLICE("blob"), hf_value_string(mem, json));
    return hf_value_finish(envelope);
}

static hf_value sealed(hf_mem *mem, hf_value value)
{
    hf_buf text = {0};
    hf_value envelope = NULL;

    if (!value)
        return hf_value_null();
    hf_json_write(&text, value);
    if (hf_buf_ok(&text))
        envelope = hf_remote_envelope(mem, hf_buf_slice(&text));
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
    {"query", "/api/workflows/%s/query/%s", "/api/workflows/%s/runs/%s/query/%s"},
    {"update_status", "/api/workflows/%s/updates/%s", "/api/workflows/%s/runs/%s/updates/%s"},
    {"pause", "/api/workflows/%s/pause", NULL},
    {"resume", "/api/workflows/%s/resume", NULL},
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
    const char *name = hf_str(request, "name", hf_str(request, "update_id", ""));
    const char *of_instance[] = {id, name};
    const char *of_run[] = {id, run, name};
    hf_buf path = {0};

    *out_path = NULL;
    if (strcmp(command, "start") == 0) {
        *out_path = "/api/workflows";
        return HF_OK;
    }
    if (strcmp(command, "signal_with_start") == 0) {
        *out_path = "/api/workflows/signal-with-start";
        return HF_OK;
    }
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
        if (strcmp(routes[i].command, command) != 0)
            continue;
        if (run && !routes[i].run)
            break;
        *out_path = path_add(mem, &path, run ? routes[i].run : routes[i].instance,
                             run ? of_run : of_instance);
        hf_buf_fini(&path);
        return *out_path ? HF_OK : hf_err_nomem(err, "a command");
    }
    return hf_err_set(err, HF_UNSUPPORTED, "the command %s%s cannot be sent to a server", command,
                      run ? " for a run_id" : "");
}

static bool is_one_of(hf_slice key, const char *const *names)
{
    for (; *names; names++)
        if (hf_slice_equal(key, hf_slice_of(*names)))
            return true;
    return false;
}

/* A member as the routes of a server call it, and a start under the type that this program has it
   as. */
static void member_put(const hf_remote *remote, hf_mem *mem, hf_value_list *body,
                       const char *command, hf_slice key, hf_value item)
{
    static const char *const values[] = {"input", "arguments", NULL};
    bool both = strcmp(command, "signal_with_start") == 0;
    hf_slice text = hf_value_slice(item);
    const hf_registry_workflow *here = hf_slice_equal(key, HF_SLICE("workflow_type"))
                                           ? hf_registry_find_workflow(remote->registry, text)
                                           : NULL;

    if (is_one_of(key, values))
        item = sealed(mem, item);
    else if (here)
        item = hf_value_string(mem, hf_slice_of(here->definition->type));
    else if (hf_slice_equal(key, HF_SLICE("duplicate_policy")) &&
             hf_slice_equal(text, HF_SLICE("reject_duplicate")))
        item = hf_value_string(mem, HF_SLICE("fail"));
    else if (hf_slice_equal(key, HF_SLICE("duplicate_policy")) &&
             hf_slice_equal(text, HF_SLICE("return_existing_active")))
        item = hf_value_string(mem, HF_SLICE("use-existing"));
    if (both && hf_slice_equal(key, HF_SLICE("name")))
        key = HF_SLICE("signal_name");
    else if (both && hf_slice_equal(key, HF_SLICE("arguments")))
        key = HF_SLICE("signal_input");
    hf_value_set(body, key, item);
}

/* The body: what is not in the path; values sealed; a request id, so that it may be asked again. */
static hf_value command_body(hf_remote *remote, hf_mem *mem, const char *command, hf_value request)
{
    static const char *const in_path[] = {"run_id", "name", "update_id", NULL};
    bool whole = strcmp(command, "signal_with_start") == 0;
    bool asks = strcmp(command, "query") == 0;
    hf_value_list *body = hf_value_object(mem);
    char made[64];
    hf_slice key;
    hf_value item;

    for (size_t i = 0; hf_value_member(request, i, &key, &item); i++)
        if (hf_value_kind_of(item) != HF_VALUE_NULL && (whole || !is_one_of(key, in_path)))
            member_put(remote, mem, body, command, key, item);
    if (!asks && !hf_str(request, "request_id", NULL)) {
        hf_mutex_lock(&remote->lock);
        (void)snprintf(made, sizeof(made), "c-%016llx%016llx",
                       (unsigned long long)hf_rng_next(&remote->rng),
                       (unsigned long long)hf_rng_next(&remote->rng));
        hf_mutex_unlock(&remote->lock);
        hf_value_set(body, HF_SLICE("request_id"), hf_value_string(mem, hf_slice_of(made)));
    }
    return hf_value_finish(body);
}

/* By the run or its worker; anything else says that the question did not come so far. */
static bool query_refused(const char *reason)
{
    static const char *const others[] = {"instance_not_found",
                                         "run_not_found",
                                         "unauthorized",
                                         "forbidden",
                                         "overloaded",
                                         "validation_failed",
                                         NULL};

    return !is_one_of(hf_slice_of(reason), others);
}

/* A refused start leaves nothing that could say so: the status does. */
static hf_status start_answer(const char *command, const hf_command_result *out, hf_err *err)
{
    bool both = strcmp(command, "signal_with_start") == 0;
    bool start = both || strcmp(command, "start") == 0;
    bool arguments = strcmp(out->outcome, "rejected_invalid_arguments") == 0;
    bool signal = both && ((out->reason && strcmp(out->reason, "invalid_signal_arguments") == 0) ||
                           strcmp(out->outcome, "rejected_unknown_signal") == 0);

    if (!start || (!arguments && !signal))
        return HF_OK;
    return hf_err_set(err, signal ? HF_REJECTED : HF_INVALID, "%s",
                      hf_str(out->detail, "message", "the arguments do not fit"));
}

/* An answer as hf_command gives it. */
static hf_status command_answer(const char *command, const hf_client_reply *reply, hf_mem *mem,
                                hf_command_result *out, hf_err *err)
{
    bool asks = strcmp(command, "query") == 0;
    const char *status = hf_str(reply->body, "command_status", NULL);
    bool fine = reply->status >= 200 && reply->status < 300;
    hf_value answer = NULL;
    hf_status st;

    *out = (hf_command_result){.accepted = status ? strcmp(status, "accepted") == 0 : fine,
                               .outcome = hf_str(reply->body, "outcome", NULL),
                               .reason = hf_str(reply->body, "rejection_reason", NULL),
                               .command_id = hf_str(reply->body, "command_id", NULL),
                               .instance_id = hf_str(reply->body, "workflow_id", NULL),
                               .run_id = hf_str(reply->body, "run_id", NULL),
                               .detail = reply->body};
    if (asks && fine) {
        st = opened(mem, hf_get(reply->body, "result_envelope"), &answer, err);
        if (!st)
            out->detail = hf_value_merge(mem, reply->body,
                                         hf_json_(mem, "{'result': %p}", (const void *)answer));
        return st || out->detail ? st : hf_err_nomem(err, "an answer");
    }
    out->reason = asks ? hf_str(reply->body, "reason", NULL) : out->reason;
    if (asks && out->reason && query_refused(out->reason))
        return HF_OK;
    if (!out->accepted && !out->outcome)
        return hf_client_outcome(reply, err);
    return out->accepted ? HF_OK : start_answer(command, out, err);
}

hf_status hf_remote_command(hf_remote *remote, const char *command, hf_value request, hf_mem *mem,
                            hf_command_result *out, hf_err *err)
{
    bool looks = strcmp(command, "update_status") == 0;
    hf_client_request ask = {.method = looks ? "GET" : "POST",
                             .timeout_ms = (WAIT_MOST_S + 15) * 1000};
    hf_client_reply reply;
    hf_status st = hf_remote_begin(remote, err);

    *out = (hf_command_result){0};
    if (!st)
        st = command_path(mem, command, request, &ask.path, err);
    if (!st &&
        (hf_value_find(request, HF_SLICE("context")) || hf_value_find(request, HF_SLICE("source"))))
        st = hf_err_set(err, HF_UNSUPPORTED,
                        "hf_command: who sends a command is for the server to say, not for its "
                        "context and source");
    if (st)
        return st;
    hf_remote_known(remote);
    if (!looks)
        ask.body = command_body(remote, mem, command, request);
    if (!looks && !ask.body)
        return hf_err_nomem(err, "a command");
    st = hf_remote_ask(remote, &ask, REMOTE_PATIENCE_MS, mem, &reply, err);
    return st ? st : command_answer(command, &reply, mem, out, err);
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

/* What cannot be said in JSON. */
static hf_status texts_check(const char *const *texts, size_t count, hf_err *err)
{
    for (size_t i = 0; i < count; i++)
        if (texts[i] && !hf_utf8_valid(hf_slice_of(texts[i])))
            return hf_err_set(err, HF_INVALID, "a name or key is not well-formed UTF-8");
    return HF_OK;
}

/* The option that a server does not take; NULL: none is set. */
static const char *option_beyond(const hf_start_opts *o)
{
    return o->correlation_key     ? "correlation_key"
           : o->correlation_scope ? "correlation_scope"
           : o->priority          ? "priority"
           : o->concurrency_key   ? "concurrency_key"
           : o->rate_limit        ? "rate_limit"
                                  : NULL;
}

/* Times travel in seconds. */
static hf_status times_check(const hf_start_opts *o, hf_err *err)
{
    const struct {
        const char *name;
        hf_ms ms;
        hf_ms least;
    } times[] = {{"delay", o->delay, 0},
                 {"execution_timeout", o->execution_timeout, 1000},
                 {"run_timeout", o->run_timeout, 1000}};

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        if (times[i].ms > 0 && times[i].ms < times[i].least)
            return hf_err_set(err, HF_INVALID, "a workflow timeout must be at least 1 second");
        if (times[i].ms < 0 || times[i].ms > hf_years(100))
            return hf_err_set(err, HF_INVALID, "hf_start: %s cannot be %lld ms", times[i].name,
                              (long long)times[i].ms);
        if (times[i].ms % 1000)
            return hf_err_set(err, HF_UNSUPPORTED,
                              "hf_start: %s of %lld ms cannot be sent to a server: whole seconds "
                              "can",
                              times[i].name, (long long)times[i].ms);
    }
    return HF_OK;
}

static hf_status object_of(hf_mem *mem, const char *name, const char *json, hf_value *out_object,
                           hf_err *err)
{
    hf_status st = HF_OK;

    *out_object = hf_value_null();
    if (json)
        st = hf_json_read(mem, hf_slice_of(json), NULL, out_object, err);
    if (st == HF_NOMEM)
        return st;
    if (st || (json && hf_value_kind_of(*out_object) != HF_VALUE_OBJECT))
        return hf_err_set(err, HF_INVALID, "hf_start: %s must be a JSON object", name);
    return HF_OK;
}

static hf_value seconds_of(hf_mem *mem, hf_ms given, hf_ms declared)
{
    hf_ms ms = given ? given : declared;

    return ms > 0 ? hf_value_int(mem, (ms + 999) / 1000) : hf_value_null();
}

static hf_status start_check(const hf_start_opts *given, hf_start_opts *o, bool signal, hf_err *err)
{
    hf_status st = given ? hf_options_take(o, sizeof(*o), given, err)
                         : hf_err_set(err, HF_MISUSE, "a type and options are needed");

    if (st)
        return st;
    if (option_beyond(o))
        return hf_err_set(err, HF_UNSUPPORTED, "hf_start: %s cannot be sent to a server",
                          option_beyond(o));
    if (signal && (o->delay || o->execution_timeout || o->run_timeout))
        return hf_err_set(err, HF_UNSUPPORTED,
                          "hf_signal_with_start: delay and timeouts cannot be sent to a server");
    if (o->duplicate != HF_DUP_REJECT && o->duplicate != HF_DUP_RETURN_EXISTING)
        return hf_err_set(err, HF_INVALID, "there is no way %d to take a duplicate",
                          (int)o->duplicate);
    return times_check(o, err);
}

hf_status hf_remote_start(hf_remote *remote, const char *type, const hf_start_opts *given,
                          const char *signal, hf_value args, hf_mem *mem, hf_err *err)
{
    const hf_registry_workflow *here =
        hf_registry_find_workflow(remote->registry, hf_slice_of(type));
    const hf_workflow_def *def = here ? here->definition : NULL;
    hf_command_result result;
    hf_start_opts o = {0};
    hf_value objects[3];
    hf_value request;
    hf_value more;
    hf_status st = start_check(given, &o, signal != NULL, err);
    const char *const texts[] = {type, o.id, o.queue, o.business_key, o.request_id, signal};

    if (!st)
        st = texts_check(texts, sizeof(texts) / sizeof(texts[0]), err);

    if (!st)
        st = object_of(mem, "labels", o.labels, &objects[0], err);
    if (!st)
        st = object_of(mem, "memo", o.memo, &objects[1], err);
    if (!st)
        st = object_of(mem, "search_attributes", o.search_attributes, &objects[2], err);
    if (st)
        return st;
    request = hf_json_(mem,
                       "{'workflow_type': %s, 'workflow_id': %s, 'task_queue': %s, 'input': %p, "
                       "'business_key': %s, 'labels': %p, 'memo': %p, 'search_attributes': %p, "
                       "'request_id': %s}",
                       def ? def->type : type, o.id,
                       o.queue                                    ? o.queue
                       : remote->app && remote->app->queue && def ? remote->app->queue
                                                                  : "default",
                       o.in ? (const void *)o.in : (const void *)hf_value_null(), o.business_key,
                       (const void *)objects[0], (const void *)objects[1], (const void *)objects[2],
                       o.request_id);
    more = signal
               ? hf_json_(mem, "{'name': %s, 'arguments': %p}", signal,
                          args ? (const void *)args : (const void *)hf_value_null())
               : hf_json_(mem,
                          "{'duplicate_policy': %s, 'execution_timeout_seconds': %p, "
                          "'run_timeout_seconds': %p, 'delay_seconds': %p}",
                          o.duplicate == HF_DUP_RETURN_EXISTING ? "use-existing" : NULL,
                          (const void *)seconds_of(mem, o.execution_timeout,
                                                   def ? def->execution_timeout : 0),
                          (const void *)seconds_of(mem, o.run_timeout, def ? def->run_timeout : 0),
                          (const void *)seconds_of(mem, o.delay, 0));
    if (request && more)
        request = hf_value_merge(mem, request, more);
    else
        request = NULL;
    return hf_remote_order(remote, signal ? "signal_with_start" : "start", request, mem, &result,
                           err);
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
