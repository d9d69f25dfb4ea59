/* api_command.c: commands to instances and runs. Each route is one command of the engine, asked for
   by its published names; the answer is the command's envelope, and its outcome decides the status.
 */
#include <string.h>

#include "base/json.h"
#include "server/command.h"
#include "server/handlers.h"
#include "server/payload.h"
#include "server/quota.h"
#include "server/server_impl.h"

enum { UPDATE_WAIT_MAX_S = 60 };

/* What the fields of a body are called, wherever the command takes them over as they are. */
static const char *const start_fields[] = {"workflow_type",
                                           "workflow_id",
                                           "task_queue",
                                           "business_key",
                                           "labels",
                                           "memo",
                                           "search_attributes",
                                           "duplicate_policy",
                                           "execution_timeout_seconds",
                                           "request_id",
                                           "run_timeout_seconds",
                                           "delay_seconds",
                                           "correlation_key",
                                           "correlation_scope",
                                           "priority",
                                           "concurrency_key",
                                           "rate_limit",
                                           "weight"};

/* ---- the request */

void hf_command_field(hf_value_list *to, hf_value from, const char *name)
{
    hf_value value = hf_value_find(from, hf_slice_of(name));

    if (value && hf_value_kind_of(value) != HF_VALUE_NULL)
        hf_value_set(to, hf_slice_of(name), value);
}

void hf_command_text(hf_api *api, hf_value_list *to, const char *name, const char *text)
{
    if (text)
        hf_value_set(to, hf_slice_of(name), hf_value_string(api->mem, hf_slice_of(text)));
}

void hf_command_start_fields(hf_value_list *request, hf_value body)
{
    for (size_t i = 0; i < sizeof(start_fields) / sizeof(start_fields[0]); i++)
        hf_command_field(request, body, start_fields[i]);
}

bool hf_api_arguments(hf_api *api, hf_value *out_value)
{
    hf_value sent = hf_value_find(api->body, HF_SLICE("input"));
    hf_err err = {0};
    hf_status st;

    if (!sent || hf_value_kind_of(sent) == HF_VALUE_NULL)
        sent = hf_value_find(api->body, HF_SLICE("arguments"));
    st = hf_payload_open(api->mem, sent, out_value, &err);
    if (!st)
        return true;
    hf_api_invalid(api, hf_json_(api->mem, "{'input': [%s]}", err.text));
    return false;
}

void hf_command_sign(hf_api *api, hf_value_list *request)
{
    hf_value_set(request, HF_SLICE("context"), hf_api_context(api));
    hf_command_text(api, request, "source",
                    api->route->plane == HF_PLANE_WEBHOOK ? "webhook" : "control_plane");
}

/* ---- the answer */

bool hf_command_outcome_is(const hf_command_result *result, const char *outcome)
{
    return result->outcome && strcmp(result->outcome, outcome) == 0;
}

/* By the update's own validator. */
static bool refused_by_validator(const hf_command_result *result)
{
    return strcmp(hf_str(result->detail, "refused_by", ""), "validator") == 0;
}

/* A payload that is longer than one may be; other limits are the run's. */
static bool refused_as_too_big(const hf_command_result *result)
{
    return strcmp(hf_str(result->detail, "structural_limit_kind", ""), "payload_size_bytes") == 0;
}

static int rejected_status(const hf_command_result *result)
{
    if (refused_as_too_big(result))
        return 413;
    if (hf_command_outcome_is(result, "rejected_unknown_signal") ||
        hf_command_outcome_is(result, "rejected_unknown_update"))
        return 404;
    return hf_command_outcome_is(result, "rejected_invalid_arguments") ? 422 : 409;
}

/* The published reason of a refusal; most are called as the engine calls them. */
static const char *rejected_reason(const hf_command_result *result)
{
    if (refused_as_too_big(result))
        return "payload_too_large";
    if (refused_by_validator(result))
        return "update_validator_rejected";
    if (result->reason && strcmp(result->reason, "instance_already_started") == 0)
        return "duplicate_start";
    if (result->reason && strcmp(result->reason, "selected_run_not_current") == 0)
        return "historical_run_command_rejected";
    return result->reason ? result->reason : "validation_failed"; /* arguments that do not fit */
}

/* The engine's envelope, with what is added or said differently here. */
static hf_value answer_whole(hf_api *api, const hf_command_result *result, hf_value_list *more)
{
    hf_value added;

    hf_command_text(api, more, "namespace", api->namespace);
    added = hf_value_finish(more);
    return added ? hf_value_merge(api->mem, result->detail, added) : NULL;
}

static void answer_rejected(hf_api *api, const hf_command_result *result, hf_value_list *body)
{
    hf_value errors = hf_get(result->detail, "validation_errors");

    hf_command_text(api, body, "message",
                    hf_str(result->detail, "message", "The command was rejected."));
    hf_command_text(api, body, "error", rejected_reason(result));
    hf_command_text(api, body, "reason", rejected_reason(result));
    hf_value_set(body, HF_SLICE("remediation"), hf_value_null());
    if (hf_value_kind_of(errors) == HF_VALUE_OBJECT)
        hf_value_set(body, HF_SLICE("errors"), errors);
    hf_api_json(api, rejected_status(result), answer_whole(api, result, body));
}

void hf_command_answer(hf_api *api, const hf_command_result *result, int status,
                       hf_value_list *more)
{
    if (result->accepted)
        hf_api_json(api, status, answer_whole(api, result, more));
    else
        answer_rejected(api, result, more);
}

/* It is recorded, and its end can be looked up; but the server stops before it came. */
static void answer_stopped(hf_api *api, const hf_command_result *result)
{
    hf_value_list *body = hf_value_object(api->mem);

    hf_command_text(api, body, "message",
                    "The server is stopping. The command is accepted: look it up, or ask again "
                    "with the same request_id.");
    hf_command_text(api, body, "error", "draining");
    hf_command_text(api, body, "reason", "draining");
    hf_command_text(api, body, "remediation",
                    "Try again: another server, or this one after its restart.");
    hf_api_json(api, 503, answer_whole(api, result, body));
    hf_http_reply_field(&api->reply, "Retry-After", HF_SLICE("1"));
}

bool hf_command_send(hf_api *api, const char *command, hf_value request,
                     hf_command_result *out_result)
{
    hf_status st;

    *out_result = (hf_command_result){0};
    if (!request) {
        hf_api_error(api, 503, "overloaded", "Memory ran out.");
        return false;
    }
    if (!hf_quota_allows(api, command, 1))
        return false;
    st = hf_command(api->server->engine, command, request, api->mem, out_result);
    if (!st || out_result->outcome)
        return true;
    if (st == HF_STOPPED && out_result->accepted)
        answer_stopped(api, out_result);
    else if ((st == HF_REJECTED || st == HF_TIMEOUT || st == HF_BUSY) &&
             strncmp(hf_errmsg(api->server->engine), "update_validat", 14) == 0)
        hf_api_refuse(api, st == HF_REJECTED ? 409 : 504, hf_errmsg(api->server->engine));
    else if (st == HF_NOTFOUND && hf_api_param_named(api, "run_id"))
        hf_api_error(api, 404, "run_not_found", "%s", hf_errmsg(api->server->engine));
    else
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    return false;
}

/* ---- start */

void hf_api_start(hf_api *api)
{
    hf_value_list *request = hf_value_object(api->mem);
    hf_value_list *body;
    hf_command_result result;
    hf_value input;

    if (!hf_api_arguments(api, &input))
        return;
    hf_command_start_fields(request, api->body);
    if (input)
        hf_value_set(request, HF_SLICE("input"), input);
    hf_command_sign(api, request);
    if (!hf_command_send(api, "start", hf_value_finish(request), &result))
        return;
    body = hf_value_object(api->mem);
    hf_command_text(api, body, "workflow_type", hf_str(api->body, "workflow_type", ""));
    hf_command_answer(api, &result, hf_command_outcome_is(&result, "started_new") ? 201 : 200,
                      body);
}

/* ---- signal, cancel, terminate, repair, archive */

hf_value_list *hf_command_target(hf_api *api)
{
    hf_value_list *request = hf_value_object(api->mem);

    hf_command_text(api, request, "workflow_id", hf_api_param_named(api, "workflow_id"));
    hf_command_text(api, request, "run_id", hf_api_param_named(api, "run_id"));
    hf_command_text(api, request, "name", hf_api_param_named(api, "name"));
    hf_command_field(request, api->body, "reason");
    hf_command_field(request, api->body, "request_id");
    if (!hf_str(api->body, "request_id", NULL))
        hf_command_text(api, request, "request_id", hf_str(api->body, "idempotency_key", NULL));
    hf_command_sign(api, request);
    return request;
}

void hf_command_order(hf_api *api, const char *command, const char *const *fields, int status)
{
    hf_value_list *request = hf_command_target(api);
    hf_command_result result;

    for (; fields && *fields; fields++)
        hf_command_field(request, api->body, *fields);
    if (hf_command_send(api, command, hf_value_finish(request), &result))
        hf_command_answer(api, &result, status, hf_value_object(api->mem));
}

void hf_api_cancel(hf_api *api)
{
    static const char *const fields[] = {"cleanup", NULL};

    hf_command_order(api, "cancel", fields, 202);
}

void hf_api_terminate(hf_api *api)
{
    hf_command_order(api, "terminate", NULL, 202);
}

void hf_api_repair(hf_api *api)
{
    hf_command_order(api, "repair", NULL, 200);
}

void hf_api_archive(hf_api *api)
{
    hf_command_order(api, "archive", NULL, 202);
}

/* How long an update is waited for; `wait` is another way to say wait_for. */
static void wait_set(hf_api *api, hf_value_list *request)
{
    hf_command_field(request, api->body, "wait_for");
    if (!hf_str(api->body, "wait_for", NULL) &&
        hf_value_kind_of(hf_get(api->body, "wait")) == HF_VALUE_BOOL)
        hf_command_text(api, request, "wait_for",
                        hf_bool(api->body, "wait", true) ? "completed" : "accepted");
    hf_command_field(request, api->body, "wait_timeout_seconds");
}

/* Name and arguments of a message, sent; false when it is answered already. */
static bool message_send(hf_api *api, const char *command, hf_command_result *out_result)
{
    hf_value_list *request;
    hf_value arguments;

    if (!hf_api_arguments(api, &arguments))
        return false;
    request = hf_command_target(api);
    if (strcmp(command, "update") == 0)
        wait_set(api, request);
    else
        hf_command_field(request, api->body, "step");
    if (arguments)
        hf_value_set(request, HF_SLICE("arguments"), arguments);
    return hf_command_send(api, command, hf_value_finish(request), out_result);
}

void hf_api_signal(hf_api *api)
{
    hf_value_list *body;
    hf_command_result result;

    if (!message_send(api, "signal", &result))
        return;
    body = hf_value_object(api->mem);
    hf_command_text(api, body, "signal_name", hf_api_param_named(api, "name"));
    hf_command_answer(api, &result, 202, body);
}

/* ---- update */

/* Whether the time to wait can be waited; answers when not. */
static bool update_wait_check(hf_api *api)
{
    int64_t seconds = hf_int(api->body, "wait_timeout_seconds", 1);

    if (seconds >= 1 && seconds <= UPDATE_WAIT_MAX_S)
        return true;
    hf_api_invalid(api, hf_json_(api->mem, "{'wait_timeout_seconds': ['The field must be a number "
                                           "from 1 to 60.']}"));
    return false;
}

/* 202 while it is open, 422 when it failed, else 200. */
static int update_status(const hf_command_result *result)
{
    if (!result->outcome)
        return 202;
    return hf_command_outcome_is(result, "update_failed") ? 422 : 200;
}

void hf_command_seal(hf_api *api, const hf_command_result *result, hf_value_list *to)
{
    hf_value sealed = hf_value_null();

    if (strcmp(hf_str(result->detail, "update_status", ""), "completed") == 0)
        sealed = hf_payload_seal(api->mem, hf_get(result->detail, "result"));
    hf_value_set(to, HF_SLICE("result_envelope"), sealed); /* NULL fails the answer */
}

void hf_api_update(hf_api *api)
{
    hf_command_result result;
    hf_value_list *body;

    if (!update_wait_check(api) || !message_send(api, "update", &result))
        return;
    body = hf_value_object(api->mem);
    hf_command_text(api, body, "update_name", hf_api_param_named(api, "name"));
    hf_command_seal(api, &result, body);
    hf_command_answer(api, &result, update_status(&result), body);
}
