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
    {"fork", "/api/workflows/%s/fork", "/api/workflows/%s/runs/%s/fork"},
    {"reset", "/api/workflows/%s/reset", NULL},
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

hf_value hf_remote_command_body(hf_remote *remote, hf_mem *mem, const char *command,
                                hf_value request)
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
        ask.body = hf_remote_command_body(remote, mem, command, request);
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

hf_status hf_remote_texts_check(const char *const *texts, size_t count, hf_err *err)
{
    for (size_t i = 0; i < count; i++)
        if (texts[i] && !hf_utf8_valid(hf_slice_of(texts[i])))
            return hf_err_set(err, HF_INVALID, "a name, key or text is not well-formed UTF-8");
    return HF_OK;
}

hf_status hf_remote_reserve(hf_remote *remote, const char *type, const char *id, hf_mem *mem,
                            const char **out_id, hf_err *err)
{
    const hf_registry_workflow *here =
        hf_registry_find_workflow(remote->registry, hf_slice_of(type));
    hf_client_request ask = {.method = "POST", .path = "/api/workflows/reserve"};
    hf_client_reply reply;
    const char *const texts[] = {type, id};
    hf_status st = hf_remote_begin(remote, err);

    if (!st)
        st = hf_remote_texts_check(texts, 2, err);
    if (st)
        return st;
    /* Without an id, one that is asked for again may be made twice: nobody has the first. */
    ask.body = hf_json_(mem, "{'workflow_type': %s, 'workflow_id': %s}",
                        here ? here->definition->type : type, id);
    if (!ask.body)
        return hf_err_nomem(err, "an id");
    st = hf_remote_ask(remote, &ask, REMOTE_PATIENCE_MS, mem, &reply, err);
    if (!st && strcmp(hf_str(reply.body, "reason", ""), "duplicate_start") == 0)
        return hf_err_set(err, HF_EXISTS, "%s", hf_str(reply.body, "message", ""));
    if (!st)
        st = hf_client_outcome(&reply, err);
    if (!st && out_id)
        *out_id = hf_str(reply.body, "workflow_id", "");
    return st;
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

/* How long the server is to wait. */
static int look_ms(int64_t left_ms)
{
    return left_ms < 0 ? 0 : left_ms < LOOK_MS ? (int)left_ms : LOOK_MS;
}

hf_status hf_remote_result(hf_remote *remote, const char *id, hf_ms wait, hf_mem *mem,
                           hf_value *out, const hf_error **out_failure, hf_err *err)
{
    int64_t until_us = hf_clock_after(now_us(), wait);
    hf_status st = hf_remote_begin(remote, err);

    while (!st) {
        int64_t left_ms = (until_us - now_us()) / 1000;
        hf_client_request ask = {.method = "GET"};
        hf_client_reply reply;
        char text[16];
        const char *status;

        (void)snprintf(text, sizeof(text), "%d", look_ms(left_ms));
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

/* ---- how an instance stands */

static const char *const settled_words[] = {[HF_SETTLED_DONE] = "done",
                                            [HF_SETTLED_FAILED] = "failed",
                                            [HF_SETTLED_AWAITING] = "awaiting",
                                            [HF_SETTLED_BUSY] = "busy",
                                            [HF_SETTLED_NOT_FOUND] = "not_found"};

static hf_status settled_read(hf_mem *mem, hf_value said, hf_settled *out, hf_err *err)
{
    const char *word = hf_str(said, "state", "");
    hf_err failure = {0};
    hf_status st;

    for (int i = HF_SETTLED_DONE; i <= HF_SETTLED_NOT_FOUND; i++)
        if (strcmp(settled_words[i], word) == 0)
            out->state = (hf_settled_state)i;
    if (out->state == HF_SETTLED_DONE)
        return opened(mem, hf_get(said, "result_envelope"), &out->result, err);
    if (out->state != HF_SETTLED_FAILED)
        return HF_OK;
    st = failure_of(mem, said, &out->error, &failure);
    if (!out->error)
        *err = failure;
    return out->error ? HF_OK : st;
}

static bool is_stopping(hf_remote *remote)
{
    bool stopping;

    hf_mutex_lock(&remote->lock);
    stopping = remote->stopping;
    hf_mutex_unlock(&remote->lock);
    return stopping;
}

hf_status hf_remote_settled(hf_remote *remote, const char *id, hf_ms wait, bool terminal,
                            hf_mem *mem, hf_settled *out, hf_err *err)
{
    int64_t until_us = hf_clock_after(now_us(), wait);
    hf_status st = hf_remote_begin(remote, err);

    for (bool first = true; !st && (first || !is_stopping(remote)); first = false) {
        int64_t left_ms = (until_us - now_us()) / 1000;
        hf_client_request ask = {.method = "GET"};
        hf_client_reply reply;
        char text[16];

        (void)snprintf(text, sizeof(text), "%d", look_ms(left_ms));
        ask.path = hf_client_path(mem, "/api/workflows/%s/settled?wait_ms=%s&terminal=%s", id, text,
                                  terminal ? "true" : "false");
        if (!ask.path)
            return hf_err_nomem(err, "a question");
        st = hf_remote_ask(remote, &ask, left_ms > 0 ? left_ms : 0, mem, &reply, err);
        if (!st)
            st = hf_client_outcome(&reply, err);
        if (!st)
            st = settled_read(mem, reply.body, out, err);
        if (st || out->state != HF_SETTLED_BUSY || left_ms <= 0)
            return st;
    }
    return st;
}
