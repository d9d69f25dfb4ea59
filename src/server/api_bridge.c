/* api_bridge.c: the webhook bridge: one event of another system becomes one command, however often
   it is delivered. The idempotency key is the command's request id within its adapter, so that what
   was answered once is answered again. */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/value.h"
#include "server/command.h"
#include "server/handlers.h"
#include "server/payload.h"
#include "server/quota.h"
#include "server/server_impl.h"

typedef struct bridge_action {
    const char *name;
    const char *command;
    const char *target_name; /* of a signal or update; NULL: it starts */
} bridge_action;

static const bridge_action actions[] = {{"start_workflow", "start", NULL},
                                        {"signal_workflow", "signal", "signal_name"},
                                        {"update_workflow", "update", "update_name"}};

static const bridge_action *action_of(const hf_api *api)
{
    const char *name = hf_str(api->body, "action", "");

    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        if (strcmp(actions[i].name, name) == 0)
            return &actions[i];
    return NULL;
}

/* The published outcome: the envelope, and what the command said. */
static void outcome_answer(hf_api *api, int status, const char *outcome, const char *reason,
                           hf_value more)
{
    hf_value_list *body = hf_value_object(api->mem);
    hf_value target = hf_get(api->body, "target");

    hf_command_text(api, body, "schema", "durable-workflow.v2.bridge-adapter-outcome.contract");
    hf_value_set(body, HF_SLICE("version"), hf_value_int(api->mem, 1));
    hf_command_text(api, body, "adapter", hf_api_param_named(api, "adapter"));
    hf_command_text(api, body, "action", hf_str(api->body, "action", ""));
    hf_value_set(body, HF_SLICE("accepted"), hf_value_bool(strcmp(outcome, "rejected") != 0));
    hf_command_text(api, body, "outcome", outcome);
    hf_command_text(api, body, "reason", reason);
    hf_command_text(api, body, "idempotency_key", hf_str(api->body, "idempotency_key", ""));
    hf_command_text(api, body, "namespace", api->namespace);
    if (hf_value_kind_of(target) == HF_VALUE_OBJECT)
        hf_value_set(body, HF_SLICE("target"), target);
    hf_command_field(body, api->body, "correlation");
    hf_api_json(api, status, hf_value_merge(api->mem, hf_value_finish(body), more));
}

/* 32 hexadecimal digits of adapter and key: what events without an id of their own are called. */
static bool key_digest(const hf_api *api, char out[33])
{
    uint8_t digest[HF_SHA256_BYTES];
    char hex[HF_SHA256_TEXT_SIZE];
    hf_sha256 *sha = NULL;
    const char *text = hf_mem_format(api->mem, "%s\n%s", hf_api_param_named(api, "adapter"),
                                     hf_str(api->body, "idempotency_key", ""));
    bool good = text && !hf_sha256_new(&sha, NULL) &&
                !hf_sha256_digest(sha, hf_slice_of(text), digest, NULL);

    hf_sha256_free(sha);
    if (!good)
        return false;
    hf_hex_print(hf_slice_from(digest, sizeof(digest)), hex);
    (void)snprintf(out, 33, "%.32s", hex);
    return true;
}

/* The command's request; NULL: no memory. `arguments` are those of the event. */
static hf_value request_make(hf_api *api, const bridge_action *action, hf_value arguments)
{
    static const char *const start_fields[] = {"workflow_type", "task_queue", "business_key",
                                               "labels",        "memo",       "search_attributes"};
    hf_value target = hf_get(api->body, "target");
    hf_value_list *request = hf_value_object(api->mem);
    const char *id = hf_str(target, "workflow_id", NULL);
    char digest[33];

    if (!key_digest(api, digest))
        return NULL;
    hf_command_sign(api, request);
    hf_command_text(api, request, "request_id", hf_mem_format(api->mem, "bridge-%s", digest));
    if (!action->target_name) {
        for (size_t i = 0; i < sizeof(start_fields) / sizeof(start_fields[0]); i++)
            hf_command_field(request, target, start_fields[i]);
        if (!id)
            id = hf_mem_format(api->mem, "bridge-%s", digest);
    } else {
        hf_command_text(api, request, "name", hf_str(target, action->target_name, ""));
        hf_command_text(api, request, "run_id", hf_str(target, "run_id", NULL));
    }
    hf_command_text(api, request, "workflow_id", id);
    if (strcmp(action->command, "update") == 0)
        hf_command_text(api, request, "wait_for", "accepted");
    if (arguments)
        hf_value_set(request, action->target_name ? HF_SLICE("arguments") : HF_SLICE("input"),
                     arguments);
    return hf_value_finish(request);
}

/* What is missing in the target; NULL: nothing. */
static const char *target_fault(hf_value target, const bridge_action *action)
{
    if (!action->target_name)
        return hf_str(target, "workflow_type", NULL) ? NULL : "target.workflow_type is required";
    if (!hf_str(target, "workflow_id", NULL))
        return "target.workflow_id is required";
    return hf_str(target, action->target_name, NULL) ? NULL : "target names no signal or update";
}

static void command_answer(hf_api *api, const hf_command_result *result)
{
    bool repeated = hf_bool(result->detail, "repeated", false);
    const char *outcome = !result->accepted ? "rejected" : repeated ? "duplicate" : "accepted";
    hf_value_list *more = hf_value_object(api->mem);

    hf_command_text(api, more, "workflow_id", result->instance_id);
    hf_command_text(api, more, "run_id", result->run_id);
    hf_command_text(api, more, "command_id", result->command_id);
    hf_command_text(api, more, "command_status", hf_str(result->detail, "command_status", NULL));
    hf_command_text(api, more, "control_plane_outcome", result->outcome);
    outcome_answer(api,
                   !result->accepted ? 422
                   : repeated        ? 200
                                     : 202,
                   outcome, result->reason, hf_value_finish(more));
}

/* What a target may have; the engine says more of each. */
static const char target_fields[] =
    "workflow_id:string, run_id:string, signal_name:string, update_name:string, "
    "workflow_type:string, task_queue:string, business_key:string, labels:object, memo:map, "
    "search_attributes:object";

void hf_api_bridge(hf_api *api)
{
    const bridge_action *action = action_of(api);
    hf_value target = hf_get(api->body, "target");
    hf_command_result result = {0};
    hf_value arguments = NULL;
    const char *fault;
    hf_status st;

    if (!action) {
        outcome_answer(api, 422, "rejected", "unsupported_action", NULL);
        return;
    }
    if (!hf_api_members_check(api, "target", target_fields))
        return;
    fault = target_fault(target, action);
    if (fault) {
        outcome_answer(api, 422, "rejected", "invalid_target",
                       hf_json_(api->mem, "{'message': %s}", fault));
        return;
    }
    if (!hf_api_arguments(api, &arguments) || !hf_quota_allows(api, action->command, 1))
        return;
    st = hf_command(api->server->engine, action->command, request_make(api, action, arguments),
                    api->mem, &result);
    if (st == HF_NOTFOUND)
        outcome_answer(api, 422, "rejected", "instance_not_found", NULL);
    else if (st == HF_INVALID)
        outcome_answer(api, 422, "rejected", "validation_failed",
                       hf_json_(api->mem, "{'message': %s}", hf_errmsg(api->server->engine)));
    else if (st && !result.command_id)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    else
        command_answer(api, &result);
}
