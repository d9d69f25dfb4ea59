/* api_native.c: workers that are programs of ours. They run the code of their workflows as the
   engine does: their tasks bring history as it is stored, and they send back what the code decided,
   not commands that it has to be guessed from. Everything else is the published protocol, but for
   the result of a workflow without all that a description has. */
#include <string.h>

#include "base/value.h"
#include "holdfast/worker.h"
#include "server/api_worker.h"
#include "server/handlers.h"
#include "server/payload.h"
#include "server/server_impl.h"

/* Programs of ours wait shortly and ask again, because few threads wait and others want them too;
   people may wait longer. */
enum { RESULT_WAIT_MS = 250, RESULT_WAIT_MAX_S = 60 };

bool hf_native_wanted(hf_api *api)
{
    return strcmp(hf_str(api->body, "history_format", ""), "native") == 0;
}

hf_value hf_native_history(hf_api *api, hf_value task, int64_t after, int64_t size)
{
    int64_t upto = hf_int(task, "last_history_sequence", INT64_MAX);
    hf_value events = NULL;
    hf_status st;

    if (size > 0 && upto - after > size)
        upto = after + size;
    st = hf_task_events(api->server->engine, hf_str(task, "workflow_id", ""),
                        hf_str(task, "run_id", NULL), after, upto, api->mem, &events);
    if (st)
        hf_worker_refuse(api, st, hf_errmsg(api->server->engine));
    return st ? NULL : events;
}

/* A worker that keeps runs is sent what it has not seen. It may have lost the run meanwhile: then
   it asks for the rest (hf_api_task_history). */
hf_value hf_native_task(hf_api *api, hf_value task)
{
    bool whole = strcmp(hf_str(task, "kind", ""), "workflow") != 0;
    bool kept = !whole && hf_bool(api->body, "sticky", false);
    hf_value events =
        hf_native_history(api, task, kept ? hf_int(task, "known_history_sequence", 0) : 0,
                          whole ? 0 : hf_int(api->body, "history_page_size", 0));

    return events ? hf_value_merge(api->mem, task,
                                   hf_json_(api->mem, "{'history': %p}", (const void *)events))
                  : NULL;
}

bool hf_native_declare(hf_api *api)
{
    hf_value definitions = hf_get(api->body, "definitions");
    hf_slice type;
    hf_value definition;

    for (size_t i = 0; hf_value_member(definitions, i, &type, &definition); i++) {
        const char *name = hf_mem_text(api->mem, type);
        hf_status st =
            hf_workers_definition(api->server->engine, name ? name : "", hf_get(definition, "body"),
                                  hf_str(definition, "fingerprint", NULL));

        if (st) {
            hf_api_status(api, st, hf_errmsg(api->server->engine));
            return false;
        }
    }
    return true;
}

void hf_api_task_decide(hf_api *api)
{
    const char *worker = hf_worker_name(api);
    const hf_task_claim claim = {.size_ = sizeof(claim),
                                 .task_id = hf_api_param(api, 0),
                                 .worker = worker,
                                 .attempt = hf_int(api->body, "workflow_task_attempt", 0)};
    hf_status st;

    if (!worker)
        return;
    st =
        hf_task_decide(api->server->engine, &claim, hf_value_find(api->body, HF_SLICE("decisions")),
                       hf_bool(api->body, "measured", false), api->mem);
    if (st)
        hf_worker_refuse(api, st, hf_errmsg(api->server->engine));
    else
        hf_worker_json(
            api, 200,
            hf_json_(api->mem, "{'recorded': true, 'task_id': %s, 'reason': null}", claim.task_id));
}

/* Only who holds the task may read what the run's code would. */
void hf_api_task_messages(hf_api *api)
{
    hf_engine *engine = api->server->engine;
    const char *worker = hf_worker_name(api);
    const hf_task_claim claim = {.size_ = sizeof(claim),
                                 .task_id = hf_api_param(api, 0),
                                 .worker = worker,
                                 .attempt = hf_int(api->body, "workflow_task_attempt", 0)};
    hf_value messages = NULL;
    hf_value task = NULL;
    hf_status st;

    if (!worker)
        return;
    st = hf_task_extend(engine, &claim, api->mem, &task);
    if (!st)
        st = hf_task_messages(engine, hf_str(task, "workflow_id", ""),
                              hf_str(api->body, "stream", ""), hf_int(api->body, "after", 0),
                              hf_int(api->body, "max", 0), api->mem, &messages);
    if (st)
        hf_worker_refuse(api, st, hf_errmsg(engine));
    else
        hf_worker_json(api, 200, hf_json_(api->mem, "{'messages': %p}", (const void *)messages));
}

/* ---- results */

void hf_api_result(hf_api *api)
{
    hf_engine *engine = api->server->engine;
    const char *id = hf_api_param_named(api, "workflow_id");
    const hf_error *failure = NULL;
    hf_value result = NULL;
    int64_t wait_ms = 0;
    int64_t wait_s = 0;
    hf_status st;

    if (!hf_api_query_int(api, "wait_ms", 0, 0, RESULT_WAIT_MS, &wait_ms) ||
        !hf_api_query_int(api, "wait_timeout_seconds", 0, 0, RESULT_WAIT_MAX_S, &wait_s))
        return;
    st = hf_result(engine, id, wait_ms + hf_seconds(wait_s), &result, &failure);
    if (st == HF_TIMEOUT)
        hf_api_json(api, 200,
                    hf_json_(api->mem, "{'namespace': %s, 'workflow_id': %s, 'status': 'open'}",
                             api->namespace, id));
    else if (failure)
        hf_api_json(
            api, 200,
            hf_json_(api->mem,
                     "{'namespace': %s, 'workflow_id': %s, 'status': %s, 'error': {'type': %s, "
                     "'message': "
                     "%s, 'retryable': %p, 'details': %p}}",
                     api->namespace, id, failure->status == HF_CANCELLED ? "cancelled" : "failed",
                     failure->type, failure->message,
                     (const void *)hf_value_bool(failure->retryable),
                     failure->details ? (const void *)hf_payload_seal(api->mem, failure->details)
                                      : (const void *)hf_value_null()));
    else if (st == HF_NOTFOUND)
        hf_api_error(api, 404, "instance_not_found", "%s", hf_errmsg(engine));
    else if (st)
        hf_api_status(api, st, hf_errmsg(engine));
    else
        hf_api_json(
            api, 200,
            hf_json_(api->mem,
                     "{'namespace': %s, 'workflow_id': %s, 'status': 'completed', 'result': %p, "
                     "'result_envelope': %p}",
                     api->namespace, id, (const void *)result,
                     (const void *)hf_payload_seal(api->mem, result)));
}
