/* api_replay.c: whether the code of today still replays a run, of the store or of an opened bundle,
   and what is stored of one that is blocked; with who has the code, and the line that asks in a
   shell. */
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "holdfast/view.h"
#include "server/api_queue.h"
#include "server/handlers.h"
#include "server/server_impl.h"
#include "server/shelf_api.h"

/* Whether this process has the code of the type. */
static bool is_here(hf_value types, const char *type)
{
    for (size_t i = 0; i < hf_len(types); i++)
        if (strcmp(hf_str(hf_at(types, i), "type", ""), type) == 0 &&
            strcmp(hf_str(hf_at(types, i), "kind", ""), "activity") != 0)
            return hf_bool(hf_at(types, i), "here", false);
    return false;
}

static hf_value workers_short(hf_mem *mem, hf_value workers)
{
    static const char *const names[] = {"worker_id", "build_id", "runtime", "sdk_version",
                                        "status"};
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < hf_len(workers); i++) {
        hf_value_list *one = hf_value_object(mem);

        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
            hf_value said = hf_get(hf_at(workers, i), names[k]);

            hf_value_put(one, names[k], said ? said : hf_value_null());
        }
        hf_value_append(list, hf_value_finish(one));
    }
    return hf_value_finish(list);
}

/* Who has the code of the type; NULL: answered already. */
static hf_value who_of(hf_api *api, const char *type)
{
    hf_value workers = hf_queue_workers_of(api->mem, hf_queue_workers(api), type, false);
    size_t count = hf_len(workers);
    hf_value types = NULL;
    const char *text;
    bool here;
    hf_status st = hf_types(api->server->engine, api->mem, &types);

    if (st) {
        hf_api_status(api, st, hf_errmsg(api->server->engine));
        return NULL;
    }
    here = is_here(types, type);
    text = here    ? hf_mem_format(api->mem, "This server has the code of %s.", type)
           : count ? hf_mem_format(api->mem, "%zu worker%s the code of %s.", count,
                                   count == 1 ? " has" : "s have", type)
                   : hf_mem_format(api->mem,
                                   "No worker that is here has the code of %s; run the line below "
                                   "beside the program that has it.",
                                   type);
    return hf_json_(api->mem, "{'here': %p, 'workers': %p, 'text': %s}",
                    (const void *)hf_value_bool(here),
                    (const void *)workers_short(api->mem, workers), text);
}

static void asked_failed(hf_api *api, hf_status st)
{
    const char *text = hf_errmsg(api->server->engine);

    if (st == HF_NOTFOUND)
        hf_api_error(api, 404,
                     hf_api_query_text(api, "run_id") ? "run_not_found" : "instance_not_found",
                     "%s", text);
    else if (st == HF_BUSY)
        hf_api_error(api, 429, "overloaded", "%s", text);
    else if (st == HF_CORRUPT)
        hf_api_error(api, 500, "history_unreadable", "The history of this run cannot be read: %s",
                     text);
    else
        hf_api_status(api, st, text);
}

/* Answers with what was found, who has the code, and how a shell asks. */
static void found_answer(hf_api *api, hf_value found, const char *shell)
{
    hf_value who = who_of(api, hf_str(found, "workflow_type", ""));

    if (who)
        hf_api_json(api, 200,
                    hf_value_merge(api->mem,
                                   hf_json_(api->mem, "{'namespace': %s, 'who': %p, 'shell': %s}",
                                            api->namespace, (const void *)who, shell),
                                   found));
}

void hf_api_run_replay(hf_api *api)
{
    const char *id = hf_api_param_named(api, "workflow_id");
    hf_value found = NULL;
    hf_status st = hf_run_replay(
        api->server->engine,
        hf_json_(api->mem, "{'id': %s, 'run_id': %s}", id, hf_api_query_text(api, "run_id")), NULL,
        api->mem, &found);

    if (st)
        asked_failed(api, st);
    else
        found_answer(
            api, found,
            hf_mem_format(
                api->mem,
                "holdfast bundle export %s%s --store STORE --out run.json && holdfast bundle "
                "replay run.json --app PROGRAM",
                *id == '-' ? "-- " : "", id));
}

void hf_api_bundle_replay(hf_api *api)
{
    hf_shelf_item *item = NULL;
    hf_value found = NULL;
    hf_status st;

    if (!hf_api_bundle_take(api, &item))
        return;
    st = hf_run_replay(api->server->engine, NULL, hf_shelf_view(item), api->mem, &found);
    hf_shelf_return(api->server->shelf, item);
    if (st)
        asked_failed(api, st);
    else
        found_answer(api, found, "holdfast bundle replay FILE --app PROGRAM");
}

/* How many others of the type are blocked. */
static hf_value others_of(hf_api *api, const char *type)
{
    hf_value page = NULL;
    hf_status st = hf_list_runs(
        api->server->engine,
        hf_json_(api->mem,
                 "{'filters': {'workflow_type': %s, 'liveness_state': 'workflow_replay_blocked'}, "
                 "'limit': 1, 'total': true}",
                 type),
        api->mem, &page);
    int64_t count = hf_int(page, "total.n", 1);

    return hf_json_(api->mem, "{'n': %lld, 'exact': %p}", (long long)(count > 0 ? count - 1 : 0),
                    (const void *)hf_value_bool(!st && hf_bool(page, "total.exact", false)));
}

void hf_api_run_blocked(hf_api *api)
{
    hf_value found = NULL;
    hf_value blocked;
    hf_status st = hf_run_part(api->server->engine,
                               hf_json_(api->mem, "{'id': %s, 'run_id': %s, 'part': 'blocked'}",
                                        hf_api_param_named(api, "workflow_id"),
                                        hf_api_query_text(api, "run_id")),
                               api->mem, &found);

    if (st) {
        asked_failed(api, st);
        return;
    }
    blocked = hf_get(found, "blocked");
    if (hf_value_kind_of(blocked) == HF_VALUE_OBJECT)
        found = hf_value_merge(
            api->mem, found,
            hf_json_(
                api->mem, "{'blocked': %p}",
                (const void *)hf_value_merge(
                    api->mem, blocked,
                    hf_json_(api->mem, "{'others': %p}",
                             (const void *)others_of(api, hf_str(found, "workflow_type", ""))))));
    found_answer(api, found, "holdfast replay check --app PROGRAM --blocked");
}
