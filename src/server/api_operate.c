/* api_operate.c: what operators ask beyond the published commands: pause, resume, fork, reset, one
   command for many; and what callers look up: the state of an update. */
#include <string.h>

#include "base/json.h"
#include "server/command.h"
#include "server/handlers.h"
#include "server/payload.h"
#include "server/server_impl.h"

/* ---- one run */

void hf_api_pause(hf_api *api)
{
    hf_command_order(api, "pause", NULL, 202);
}

void hf_api_resume(hf_api *api)
{
    hf_command_order(api, "resume", NULL, 202);
}

static const char *const copy_fields[] = {"step", "new_workflow_id", "signals", NULL};

void hf_api_fork(hf_api *api)
{
    hf_command_order(api, "fork", copy_fields, 202);
}

void hf_api_reset(hf_api *api)
{
    hf_command_order(api, "reset", copy_fields, 202);
}

void hf_api_signal_with_start(hf_api *api)
{
    hf_value_list *request = hf_value_object(api->mem);
    hf_value_list *body;
    hf_command_result result;
    hf_value arguments = NULL;
    hf_value input = NULL;
    hf_err err = {0};

    if (hf_payload_open(api->mem, hf_value_find(api->body, HF_SLICE("signal_input")), &arguments,
                        &err) ||
        hf_payload_open(api->mem, hf_value_find(api->body, HF_SLICE("input")), &input, &err)) {
        hf_api_invalid(api, hf_json_(api->mem, "{'input': [%s]}", err.text));
        return;
    }
    hf_command_sign(api, request);
    hf_command_start_fields(request, api->body);
    hf_command_text(api, request, "name", hf_str(api->body, "signal_name", ""));
    if (input)
        hf_value_set(request, HF_SLICE("input"), input);
    if (arguments)
        hf_value_set(request, HF_SLICE("arguments"), arguments);
    if (!hf_command_send(api, "signal_with_start", hf_value_finish(request), &result))
        return;
    body = hf_value_object(api->mem);
    hf_command_text(api, body, "signal_name", hf_str(api->body, "signal_name", ""));
    hf_command_answer(api, &result, 202, body);
}

/* ---- what is looked up */

void hf_api_update_show(hf_api *api)
{
    hf_value_list *request = hf_value_object(api->mem);
    hf_value_list *more = hf_value_object(api->mem);
    hf_command_result result = {0};
    hf_value added;
    hf_status st;

    hf_command_text(api, request, "workflow_id", hf_api_param_named(api, "workflow_id"));
    hf_command_text(api, request, "run_id", hf_api_param_named(api, "run_id"));
    hf_command_text(api, request, "update_id", hf_api_param_named(api, "update_id"));
    st = hf_command(api->server->engine, "update_status", hf_value_finish(request), api->mem,
                    &result);
    if (st == HF_NOTFOUND)
        hf_api_error(api, 404, "update_not_found", "%s", hf_errmsg(api->server->engine));
    else if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    if (st)
        return;
    hf_command_text(api, more, "namespace", api->namespace);
    hf_command_seal(api, &result, more);
    added = hf_value_finish(more);
    hf_api_json(api, result.accepted && !result.outcome ? 202 : 200,
                added ? hf_value_merge(api->mem, result.detail, added) : NULL);
}

/* ---- many instances */

static void batch_answer(hf_api *api, hf_status st, int status, hf_value batch)
{
    if (st == HF_NOTFOUND)
        hf_api_error(api, 404, "batch_not_found", "%s", hf_errmsg(api->server->engine));
    else if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    else
        hf_api_json(api, status,
                    hf_value_merge(api->mem, batch,
                                   hf_json_(api->mem, "{'namespace': %s}", api->namespace)));
}

/* Who asked is recorded with every command of the batch. */
void hf_api_batch_start(hf_api *api)
{
    hf_value_list *signature = hf_value_object(api->mem);
    hf_value batch = NULL;
    hf_value request;
    hf_status st;

    hf_command_sign(api, signature);
    request = hf_value_merge(api->mem, hf_get(api->body, "request"), hf_value_finish(signature));
    request = hf_value_merge(api->mem, api->body,
                             hf_json_(api->mem, "{'request': %p}", (const void *)request));
    st = hf_batch_start(api->server->engine, request, api->mem, &batch);
    if (st == HF_NOTFOUND) /* the list that it was to work through */
        hf_api_error(api, 404, "view_not_found", "%s", hf_errmsg(api->server->engine));
    else
        batch_answer(api, st, 202, batch);
}

void hf_api_batches(hf_api *api)
{
    const char *text = hf_api_query_text(api, "limit");
    hf_value batches = NULL;
    int64_t limit = 0;
    hf_status st;

    if (text && (!hf_slice_int(hf_slice_of(text), &limit) || limit < 1)) {
        hf_api_invalid(api, hf_json_(api->mem, "{'limit': ['It must be a number from 1 on.']}"));
        return;
    }
    st = hf_batch_list(api->server->engine, limit, api->mem, &batches);
    if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    else
        hf_api_json(api, 200,
                    hf_json_(api->mem, "{'namespace': %s, 'batches': %p}", api->namespace,
                             (const void *)batches));
}

void hf_api_batch_show(hf_api *api)
{
    hf_value batch = NULL;
    hf_status st =
        hf_batch_show(api->server->engine, hf_api_param_named(api, "batch_id"), api->mem, &batch);

    batch_answer(api, st, 200, batch);
}

void hf_api_batch_turn(hf_api *api)
{
    static const struct {
        const char *action;
        hf_status (*turn)(hf_engine *engine, const char *id, hf_mem *mem, hf_value *out);
    } turns[] = {{"pause", hf_batch_pause}, {"resume", hf_batch_resume}, {"abort", hf_batch_abort}};
    const char *action = hf_api_param_named(api, "action");
    hf_value batch = NULL;

    for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++)
        if (strcmp(turns[i].action, action) == 0) {
            hf_status st = turns[i].turn(api->server->engine, hf_api_param_named(api, "batch_id"),
                                         api->mem, &batch);

            batch_answer(api, st, 200, batch);
            return;
        }
    hf_api_error(api, 404, "not_found", "A batch can be told to pause, resume or abort.");
}
