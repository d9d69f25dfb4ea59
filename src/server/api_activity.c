/* api_activity.c: activities that are asked for by themselves. Each is a workflow of a type of the
   engine's own; these routes show it as the activity that it is. */
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "holdfast/view.h"
#include "server/command.h"
#include "server/handlers.h"
#include "server/payload.h"
#include "server/server_impl.h"

/* What of the body the workflow takes over as it is. */
static const char *const taken[] = {"activity_type",
                                    "task_queue",
                                    "retry_policy",
                                    "start_to_close_timeout_seconds",
                                    "schedule_to_start_timeout_seconds",
                                    "schedule_to_close_timeout_seconds",
                                    "heartbeat_timeout_seconds"};

/* The activity of a run in all its parts; null before it is scheduled. */
static hf_value activity_of(hf_value detail)
{
    hf_value first = hf_at(hf_get(detail, "activities"), 0);

    return first ? first : hf_value_null();
}

/* What a label says: labels are shown as "name=text". */
static hf_value label_of(hf_api *api, hf_value run, const char *name)
{
    hf_value labels = hf_get(run, "visibility_labels");
    size_t len = strlen(name);

    for (size_t i = 0; i < hf_len(labels); i++) {
        const char *text = hf_str(hf_at(labels, i), "", "");

        if (strncmp(text, name, len) == 0 && text[len] == '=')
            return hf_value_string(api->mem, hf_slice_of(text + len + 1));
    }
    return hf_value_null();
}

/* A run of the engine's type, from its detail or from its row in a list. */
static hf_value activity_shown(hf_api *api, hf_value run)
{
    hf_value activity = activity_of(run);
    hf_value attempts = hf_get(activity, "attempts");

    return hf_json_(
        api->mem,
        "{'namespace': %s, 'activity_id': %p, 'workflow_id': %p, 'workflow_run_id': %p, "
        "'workflow_type': %p, 'activity_execution_id': %p, 'activity_type': %p, "
        "'activity_class': %p, 'activity_status': %p, 'attempt_count': %p, 'attempts': %p, "
        "'task_queue': %p, 'status': %p, 'status_bucket': %p, 'closed_reason': %p, "
        "'business_key': %p, 'payload_codec': 'avro', 'started_at': %p, 'closed_at': %p, "
        "'last_heartbeat_at': %p, 'result': %p}",
        api->namespace, (const void *)hf_get(run, "instance_id"),
        (const void *)hf_get(run, "instance_id"), (const void *)hf_get(run, "run_id"),
        (const void *)hf_get(run, "workflow_type"), (const void *)hf_get(activity, "id"),
        (const void *)label_of(api, run, "activity_type"),
        (const void *)label_of(api, run, "activity_class"),
        (const void *)hf_get(activity, "status"), (const void *)hf_get(activity, "attempt_count"),
        (const void *)(hf_value_kind_of(attempts) == HF_VALUE_ARRAY ? attempts
                                                                    : hf_json_(api->mem, "[]")),
        (const void *)hf_get(run, "queue"), (const void *)hf_get(run, "status"),
        (const void *)hf_get(run, "status_bucket"), (const void *)hf_get(run, "closed_reason"),
        (const void *)hf_get(run, "business_key"), (const void *)hf_get(run, "started_at"),
        (const void *)hf_get(run, "closed_at"), (const void *)hf_get(activity, "last_heartbeat_at"),
        (const void *)hf_get(run, "output"));
}

/* A workflow of another type is no activity. False: answered already. */
static bool activity_read(hf_api *api, const char *id, hf_value *out_detail)
{
    hf_status st = hf_describe(api->server->engine, hf_json_(api->mem, "{'id': %s}", id), api->mem,
                               out_detail);

    if (!st && strcmp(hf_str(*out_detail, "workflow_type", ""), HF_STANDALONE_TYPE) != 0)
        st = HF_NOTFOUND;
    if (st == HF_NOTFOUND)
        hf_api_error(api, 404, "activity_not_found", "There is no such activity.");
    else if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    return !st;
}

void hf_api_activity(hf_api *api)
{
    hf_value detail = NULL;

    if (activity_read(api, hf_api_param_named(api, "activity_id"), &detail))
        hf_api_json(api, 200, activity_shown(api, detail));
}

/* What the workflow is started with. */
static hf_value input_make(hf_api *api, hf_value arguments)
{
    hf_value_list *input = hf_value_object(api->mem);

    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        hf_command_field(input, api->body, taken[i]);
    if (arguments)
        hf_value_set(input, HF_SLICE("input"), arguments);
    return hf_value_finish(input);
}

void hf_api_activity_start(hf_api *api)
{
    hf_value_list *request = hf_value_object(api->mem);
    hf_value_list *labels = hf_value_object(api->mem);
    hf_command_result result;
    hf_value arguments = NULL;
    hf_value detail = NULL;

    if (!hf_api_members_check(
            api, "retry_policy",
            "max_attempts:int, backoff_seconds:list, non_retryable_error_types:list") ||
        !hf_api_arguments(api, &arguments))
        return;
    hf_command_field(labels, api->body, "activity_type");
    hf_command_field(labels, api->body, "activity_class");
    hf_command_sign(api, request);
    hf_command_text(api, request, "workflow_type", HF_STANDALONE_TYPE);
    hf_command_text(api, request, "workflow_id", hf_str(api->body, "activity_id", NULL));
    hf_command_field(request, api->body, "task_queue");
    hf_command_field(request, api->body, "business_key");
    hf_command_field(request, api->body, "request_id");
    hf_value_set(request, HF_SLICE("labels"), hf_value_finish(labels));
    hf_value_set(request, HF_SLICE("input"), input_make(api, arguments));
    if (!hf_command_send(api, "start", hf_value_finish(request), &result))
        return;
    if (!result.accepted)
        hf_command_answer(api, &result, 201, hf_value_object(api->mem));
    else if (activity_read(api, result.instance_id, &detail))
        hf_api_json(api, 201, activity_shown(api, detail));
}

void hf_api_activities(hf_api *api)
{
    hf_value_list *rows = hf_value_array(api->mem);
    hf_value page = NULL;
    hf_value items;

    if (!hf_api_runs_page(api, hf_json_(api->mem, "{'workflow_type': '" HF_STANDALONE_TYPE "'}"),
                          NULL, &page))
        return;
    items = hf_get(page, "items");
    for (size_t i = 0; i < hf_len(items); i++)
        hf_value_append(rows, activity_shown(api, hf_at(items, i)));
    hf_api_json(api, 200,
                hf_json_(api->mem,
                         "{'namespace': %s, 'activities': %p, 'activity_count': %zu, "
                         "'next_page_token': %p}",
                         api->namespace, (const void *)hf_value_finish(rows), hf_len(items),
                         (const void *)hf_get(page, "cursor")));
}
