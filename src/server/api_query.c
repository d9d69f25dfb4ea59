/* api_query.c: questions to runs. The run's code answers, here or in a worker elsewhere; nothing is
   recorded, and a refusal has a published reason. */
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "server/handlers.h"
#include "server/payload.h"
#include "server/server_impl.h"

/* Refusals that are not conflicts, and those that the wire calls by another name. */
static const struct {
    const char *reason;
    const char *published;
    int status;
} refusals[] = {
    {"unknown_query", "query_not_found", 404},
    {"rejected_unknown_query", "rejected_unknown_query", 404},
    {"invalid_query_arguments", "invalid_query_arguments", 422},
    {"query_task_not_claimed", "query_task_not_claimed", 504},
    {"query_worker_timeout", "query_worker_timeout", 504},
    {"query_task_queue_full", "query_task_queue_full", 429},
};

static void query_refuse(hf_api *api, const hf_command_result *result)
{
    const char *reason = result->reason;
    const char *message = hf_str(result->detail, "message", "The query was refused.");
    hf_value errors = hf_get(result->detail, "validation_errors");
    int status = 409;

    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        if (strcmp(reason, refusals[i].reason) != 0)
            continue;
        reason = refusals[i].published;
        status = refusals[i].status;
        break;
    }
    if (hf_value_kind_of(errors) != HF_VALUE_OBJECT) {
        hf_api_error(api, status, reason, "%s", message);
        return;
    }
    hf_api_json(
        api, status,
        hf_json_(api->mem,
                 "{'message': %s, 'error': %s, 'reason': %s, 'remediation': null, 'errors': "
                 "%p, 'validation_errors': %p}",
                 message, reason, reason, (const void *)errors, (const void *)errors));
}

void hf_api_query(hf_api *api)
{
    hf_engine *engine = api->server->engine;
    const char *run_id = hf_api_param_named(api, "run_id");
    hf_value_list *request = hf_value_object(api->mem);
    hf_command_result result;
    hf_value arguments;
    hf_value value;
    hf_status st;

    if (!hf_api_arguments(api, &arguments))
        return;
    hf_value_set(request, HF_SLICE("workflow_id"),
                 hf_value_string(api->mem, hf_slice_of(hf_api_param_named(api, "workflow_id"))));
    if (run_id)
        hf_value_set(request, HF_SLICE("run_id"), hf_value_string(api->mem, hf_slice_of(run_id)));
    hf_value_set(request, HF_SLICE("name"),
                 hf_value_string(api->mem, hf_slice_of(hf_api_param_named(api, "name"))));
    if (arguments)
        hf_value_set(request, HF_SLICE("arguments"), arguments);
    st = hf_command(engine, "query", hf_value_finish(request), api->mem, &result);
    if (st == HF_NOTFOUND) {
        hf_api_error(api, 404, run_id ? "run_not_found" : "instance_not_found", "%s",
                     hf_errmsg(engine));
    } else if (st) {
        hf_api_status(api, st, hf_errmsg(engine));
    } else if (!result.accepted) {
        query_refuse(api, &result);
    } else {
        value = hf_get(result.detail, "result");
        hf_api_json(api, 200,
                    hf_json_(api->mem,
                             "{'query_name': %s, 'workflow_id': %s, 'run_id': %s, 'namespace': %s, "
                             "'target_scope': %s, 'result': %p, 'result_envelope': %p}",
                             hf_api_param_named(api, "name"),
                             hf_api_param_named(api, "workflow_id"), result.run_id, api->namespace,
                             run_id ? "run" : "instance", (const void *)value,
                             (const void *)hf_payload_seal(api->mem, value)));
    }
}
