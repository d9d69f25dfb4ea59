/* api_webhook.c: webhooks: the commands of the engine for those who can send a body and little
   else. What the routes have in common with the control plane is served by its handlers; here are
   the starts, whose parameters lie in the body by their names, and the statuses that differ. */
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "holdfast/view.h"
#include "server/command.h"
#include "server/handlers.h"
#include "server/quota.h"
#include "server/server_impl.h"

/* ---- starts */

/* Keys of the body that are not parameters of the workflow. */
static bool is_option(hf_slice key)
{
    static const char *const options[] = {"workflow_id", "on_duplicate", "visibility",
                                          "signal_arguments", "request_id"};

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (hf_slice_equal(key, hf_slice_of(options[i])))
            return true;
    return false;
}

/* Everything else of the body, by name; NULL when that is nothing. */
static hf_value parameters_of(hf_api *api)
{
    hf_value_list *list = hf_value_object(api->mem);
    size_t count = 0;
    hf_slice key;
    hf_value item;

    for (size_t i = 0; hf_value_member(api->body, i, &key, &item); i++)
        if (!is_option(key)) {
            hf_value_set(list, key, item);
            count++;
        }
    return count ? hf_value_finish(list) : NULL;
}

/* What both starts take from the body; false: answered already. */
static bool start_read(hf_api *api, hf_value_list *request)
{
    const char *policy = hf_str(api->body, "on_duplicate", NULL);
    hf_value visibility = hf_get(api->body, "visibility");
    hf_value input = parameters_of(api);

    if (policy && strcmp(policy, "reject_duplicate") != 0 &&
        strcmp(policy, "return_existing_active") != 0) {
        hf_api_invalid(api, hf_json_(api->mem, "{'on_duplicate': ['The field must be one of "
                                               "reject_duplicate, return_existing_active.']}"));
        return false;
    }
    hf_command_sign(api, request);
    hf_command_text(api, request, "workflow_type", hf_api_param_named(api, "alias"));
    hf_command_field(request, api->body, "workflow_id");
    hf_command_field(request, api->body, "request_id");
    hf_command_field(request, visibility, "business_key");
    hf_command_field(request, visibility, "labels");
    hf_command_field(request, visibility, "memo");
    if (policy)
        hf_command_text(api, request, "duplicate_policy",
                        strcmp(policy, "reject_duplicate") == 0 ? "fail" : "use-existing");
    if (input)
        hf_value_set(request, HF_SLICE("input"), input);
    return true;
}

/* 404 for a type that nobody here knows. */
static bool start_send(hf_api *api, const char *command, hf_value request,
                       hf_command_result *out_result)
{
    hf_status st;

    if (!hf_quota_allows(api, command, 1))
        return false;
    st = hf_command(api->server->engine, command, request, api->mem, out_result);
    if (!st || out_result->outcome)
        return true;
    if (st == HF_NOTFOUND)
        hf_api_error(api, 404, "unknown_alias", "%s", hf_errmsg(api->server->engine));
    else
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    return false;
}

void hf_api_hook_start(hf_api *api)
{
    hf_value_list *request = hf_value_object(api->mem);
    hf_command_result result = {0};

    if (start_read(api, request) && start_send(api, "start", hf_value_finish(request), &result))
        hf_command_answer(api, &result, hf_command_outcome_is(&result, "started_new") ? 202 : 200,
                          hf_value_object(api->mem));
}

void hf_api_hook_start_signal(hf_api *api)
{
    const char *policy = hf_str(api->body, "on_duplicate", "return_existing_active");
    hf_value_list *request = hf_value_object(api->mem);
    hf_command_result result = {0};

    if (strcmp(policy, "return_existing_active") != 0) {
        hf_api_invalid(api, hf_json_(api->mem, "{'on_duplicate': ['The field must be "
                                               "return_existing_active.']}"));
        return;
    }
    if (!start_read(api, request))
        return;
    hf_command_text(api, request, "name", hf_api_param_named(api, "name"));
    hf_command_field(request,
                     hf_json_(api->mem, "{'arguments': %p}",
                              (const void *)hf_get(api->body, "signal_arguments")),
                     "arguments");
    if (start_send(api, "signal_with_start", hf_value_finish(request), &result))
        hf_command_answer(api, &result, 202, hf_value_object(api->mem));
}

/* What the published bridge says of a start that was refused, beside the envelope. */
static hf_value_list *plain_refusal(hf_api *api, const hf_command_result *result)
{
    hf_value_list *body = hf_value_object(api->mem);

    hf_value_set(body, HF_SLICE("started"), hf_value_bool(false));
    hf_command_text(api, body, "workflow_instance_id", result->instance_id);
    hf_command_text(api, body, "workflow_run_id", result->run_id);
    hf_value_set(body, HF_SLICE("task_id"), hf_value_null());
    return body;
}

/* The start of the published bridge: the type need not be known here. */
void hf_api_hook_plain_start(hf_api *api)
{
    hf_value_list *request = hf_value_object(api->mem);
    const char *policy = hf_str(api->body, "duplicate_start_policy", NULL);
    hf_command_result result = {0};
    hf_value arguments = NULL;

    if (!hf_api_arguments(api, &arguments))
        return;
    hf_value_set(request, HF_SLICE("context"), hf_api_context(api));
    hf_command_text(api, request, "source", "control_plane");
    hf_command_field(request, api->body, "workflow_type");
    hf_command_text(api, request, "workflow_id", hf_str(api->body, "instance_id", NULL));
    hf_command_text(api, request, "task_queue", hf_str(api->body, "queue", NULL));
    hf_command_field(request, api->body, "business_key");
    hf_command_field(request, api->body, "labels");
    hf_command_field(request, api->body, "memo");
    hf_command_field(request, api->body, "search_attributes");
    hf_command_field(request, api->body, "execution_timeout_seconds");
    hf_command_field(request, api->body, "run_timeout_seconds");
    if (policy)
        hf_command_text(api, request, "duplicate_policy",
                        strcmp(policy, "return_existing_active") == 0 ? "use-existing" : "fail");
    if (arguments)
        hf_value_set(request, HF_SLICE("input"), arguments);
    if (!start_send(api, "start", hf_value_finish(request), &result))
        return;
    if (!result.accepted) {
        hf_command_answer(api, &result, 202, plain_refusal(api, &result));
        return;
    }
    hf_api_json(api, hf_command_outcome_is(&result, "started_new") ? 202 : 200,
                hf_json_(api->mem,
                         "{'started': true, 'workflow_instance_id': %s, 'workflow_run_id': %s, "
                         "'workflow_type': %s, 'outcome': %s, 'task_id': null, 'reason': null}",
                         result.instance_id, result.run_id, hf_str(api->body, "workflow_type", ""),
                         result.outcome));
}

/* ---- commands without arguments: 200 here, 202 on the control plane */

static void order(hf_api *api, const char *command)
{
    hf_command_result result;

    if (hf_command_send(api, command, hf_value_finish(hf_command_target(api)), &result))
        hf_command_answer(api, &result, 200, hf_value_object(api->mem));
}

void hf_api_hook_repair(hf_api *api)
{
    order(api, "repair");
}

void hf_api_hook_cancel(hf_api *api)
{
    order(api, "cancel");
}

void hf_api_hook_terminate(hf_api *api)
{
    order(api, "terminate");
}

void hf_api_hook_archive(hf_api *api)
{
    order(api, "archive");
}

/* ---- describe */

static hf_value run_shown(hf_api *api, hf_value d)
{
    return hf_json_(
        api->mem,
        "{'workflow_run_id': %p, 'run_number': %p, 'is_current_run': %p, 'status': %p, "
        "'status_bucket': %p, 'closed_reason': %p, 'compatibility': %p, 'connection': null, "
        "'queue': %p, 'started_at': %p, 'closed_at': %p, 'last_progress_at': %p, 'wait_kind': %p, "
        "'wait_reason': %p}",
        (const void *)hf_get(d, "run_id"), (const void *)hf_get(d, "run_number"),
        (const void *)hf_get(d, "is_current_run"), (const void *)hf_get(d, "status"),
        (const void *)hf_get(d, "status_bucket"), (const void *)hf_get(d, "closed_reason"),
        (const void *)hf_get(d, "compatibility"), (const void *)hf_get(d, "queue"),
        (const void *)hf_get(d, "started_at"), (const void *)hf_get(d, "closed_at"),
        (const void *)hf_get(d, "last_progress_at"), (const void *)hf_get(d, "wait_kind"),
        (const void *)hf_get(d, "wait_reason"));
}

static hf_value actions_shown(hf_api *api, hf_value d)
{
    static const char *const names[] = {"can_signal",    "can_query",  "can_update", "can_cancel",
                                        "can_terminate", "can_repair", "can_archive"};
    hf_value_list *list = hf_value_object(api->mem);

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        hf_value_set(list, hf_slice_of(names[i]), hf_value_bool(hf_bool(d, names[i], false)));
    return hf_value_finish(list);
}

/* A run that is not there is an answer, an instance that is not there is none. */
void hf_api_hook_describe(hf_api *api)
{
    hf_engine *engine = api->server->engine;
    const char *id = hf_api_param_named(api, "workflow_id");
    const char *run = hf_api_param_named(api, "run_id");
    hf_value detail = NULL;
    hf_status st = hf_describe(engine, hf_json_(api->mem, "{'id': %s, 'run_id': %s}", id, run),
                               api->mem, &detail);
    bool missing = st == HF_NOTFOUND && run;

    if (missing)
        st = hf_describe(engine, hf_json_(api->mem, "{'id': %s}", id), api->mem, &detail);
    if (st) {
        hf_api_status(api, st, hf_errmsg(engine));
        return;
    }
    hf_api_json(
        api, 200,
        hf_json_(api->mem,
                 "{'found': true, 'workflow_instance_id': %p, 'workflow_type': %p, "
                 "'workflow_class': %p, 'business_key': %p, 'memo': %p, 'run': %p, 'run_count': "
                 "%p, 'actions': %p, 'reason': %s}",
                 (const void *)hf_get(detail, "instance_id"),
                 (const void *)hf_get(detail, "workflow_type"),
                 (const void *)hf_get(detail, "workflow_type"),
                 (const void *)hf_get(detail, "business_key"), (const void *)hf_get(detail, "memo"),
                 (const void *)(missing ? hf_value_null() : run_shown(api, detail)),
                 (const void *)hf_get(detail, "run_count"),
                 (const void *)(missing ? hf_json_(api->mem, "{}") : actions_shown(api, detail)),
                 missing ? "run_not_found" : NULL));
}
