/* api_run.c: what the console's pages ask about one run, part by part, as it is or as it was after
   an event. All of it is hf_run_part's; here are the names and bounds of the query, and what only
   the server knows: what the reader's role allows, and the shell lines that would do the same. */
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "holdfast/view.h"
#include "server/handlers.h"
#include "server/server_impl.h"
#include "server/shelf_api.h"

enum {
    LIST_USUAL = 1000,
    LIST_MAX = 10000,
    EVENTS_USUAL = 200,
    EVENTS_MAX = 1000,
    DEPTH_MAX = 5,
    PIECE_USUAL = 64 * 1024,
    PIECE_MAX = 1024 * 1024
};

/* ---- asking */

/* {"id", "run_id", "at", "part"} of the request; NULL: answered already. */
static hf_value run_asked(hf_api *api, const char *part)
{
    int64_t at = 0;

    if (!hf_api_query_int(api, "at", INT64_MAX, 1, INT64_MAX, &at))
        return NULL;
    return hf_json_(api->mem, "{'id': %s, 'run_id': %s, 'at': %lld, 'part': %s}",
                    hf_api_param_named(api, "workflow_id"), hf_api_query_text(api, "run_id"),
                    (long long)at, part);
}

/* Why there is no answer. */
static void run_missed(hf_api *api, hf_status st, const char *text)
{
    if (st == HF_NOTFOUND)
        hf_api_error(api, 404,
                     strstr(text, "has no step") ? "step_not_found"
                     : strstr(text, "has no payload") || strstr(text, "has no event")
                         ? "payload_not_found"
                     : hf_api_query_text(api, "run_id") ? "run_not_found"
                                                        : "instance_not_found",
                     "%s", text);
    else if (st == HF_CORRUPT)
        hf_api_error(api, 500, "history_unreadable", "The history of this run cannot be read: %s",
                     text);
    else
        hf_api_status(api, st, text);
}

/* The same of the run in a bundle that was opened. */
static bool bundle_part_read(hf_api *api, const char *part, hf_value more, hf_value *out_part)
{
    hf_shelf_item *item = NULL;
    hf_err err = {0};
    int64_t at = 0;
    hf_status st;

    if (!hf_api_query_int(api, "at", INT64_MAX, 1, INT64_MAX, &at) ||
        !hf_api_bundle_take(api, &item))
        return false;
    st = hf_bundle_view_part(
        hf_shelf_view(item),
        hf_value_merge(api->mem,
                       hf_json_(api->mem, "{'at': %lld, 'part': %s}", (long long)at, part), more),
        api->mem, out_part, &err);
    hf_shelf_return(api->server->shelf, item);
    if (st)
        run_missed(api, st, err.text);
    return !st;
}

/* The part that is asked for; false: answered already. `more` (NULL: nothing) are further members
   of the request. */
static bool part_read(hf_api *api, const char *part, hf_value more, hf_value *out_part)
{
    hf_value request;
    hf_status st;

    if (hf_api_param_named(api, "bundle"))
        return bundle_part_read(api, part, more, out_part);
    request = run_asked(api, part);
    if (!request)
        return false;
    st = hf_run_part(api->server->engine, hf_value_merge(api->mem, request, more), api->mem,
                     out_part);
    if (st)
        run_missed(api, st, hf_errmsg(api->server->engine));
    return !st;
}

/* A bundle is of no namespace. */
static void part_answer(hf_api *api, hf_value part)
{
    const char *space = api->namespace[0] ? api->namespace : NULL;

    hf_api_json(api, 200,
                hf_value_merge(api->mem, hf_json_(api->mem, "{'namespace': %s}", space), part));
}

static void list_answer(hf_api *api, const char *part)
{
    int64_t limit = 0;
    hf_value out = NULL;

    if (hf_api_query_int(api, "limit", LIST_USUAL, 1, LIST_MAX, &limit) &&
        part_read(api, part, hf_json_(api->mem, "{'limit': %lld}", (long long)limit), &out))
        part_answer(api, out);
}

void hf_api_spans(hf_api *api)
{
    list_answer(api, "spans");
}

void hf_api_run_waits(hf_api *api)
{
    list_answer(api, "waits");
}

void hf_api_run_commands(hf_api *api)
{
    list_answer(api, "commands");
}

void hf_api_run_activities(hf_api *api)
{
    list_answer(api, "activities");
}

void hf_api_run_timers(hf_api *api)
{
    list_answer(api, "timers");
}

void hf_api_run_failures(hf_api *api)
{
    list_answer(api, "failures");
}

void hf_api_run_tasks(hf_api *api)
{
    list_answer(api, "tasks");
}

void hf_api_run_step(hf_api *api)
{
    const char *text = hf_api_param_named(api, "step");
    int64_t step = 0;
    hf_value out = NULL;

    if (!hf_slice_int(hf_slice_of(text), &step) || step < 1)
        hf_api_error(api, 404, "step_not_found", "A step is a number from 1 on.");
    else if (part_read(api, "step", hf_json_(api->mem, "{'step': %lld}", (long long)step), &out))
        part_answer(api, out);
}

void hf_api_run_state(hf_api *api)
{
    hf_value out = NULL;

    if (part_read(api, "state", NULL, &out))
        part_answer(api, out);
}

void hf_api_run_lineage(hf_api *api)
{
    int64_t depth = 0;
    hf_value out = NULL;

    if (hf_api_query_int(api, "depth", 2, 1, DEPTH_MAX, &depth) &&
        part_read(api, "lineage", hf_json_(api->mem, "{'depth': %lld}", (long long)depth), &out))
        part_answer(api, out);
}

/* ---- events */

/* ?kinds=activity,timer as an array; null when it is not asked for. */
static hf_value kinds_asked(hf_api *api)
{
    hf_slice rest = hf_slice_of(hf_api_query_text(api, "kinds"));
    hf_value_list *list = hf_value_array(api->mem);
    hf_slice kind;

    if (!rest.len)
        return hf_value_null();
    while (rest.len && hf_slice_split(&rest, ',', &kind))
        hf_value_append(list, hf_value_string(api->mem, kind));
    return hf_value_finish(list);
}

void hf_api_run_events(hf_api *api)
{
    int64_t after = 0;
    int64_t before = 0;
    int64_t limit = 0;
    hf_value out = NULL;
    hf_value window;

    if (!hf_api_query_int(api, "after", 0, 0, INT64_MAX, &after) ||
        !hf_api_query_int(api, "before", INT64_MAX, 1, INT64_MAX, &before) ||
        !hf_api_query_int(api, "limit", EVENTS_USUAL, 1, EVENTS_MAX, &limit))
        return;
    window = hf_json_(api->mem,
                      "{'after': %lld, 'before': %lld, 'limit': %lld, 'kinds': %p, 'q': %s, "
                      "'order': %s}",
                      (long long)after, (long long)before, (long long)limit,
                      (const void *)kinds_asked(api), hf_api_query_text(api, "q"),
                      hf_api_query_text(api, "order"));
    if (part_read(api, "events", window, &out))
        part_answer(api, out);
}

/* ---- payloads */

void hf_api_run_payload(hf_api *api)
{
    const char *key = hf_api_query_text(api, "key");
    int64_t event = 0;
    int64_t from = 0;
    int64_t size = 0;
    hf_value out = NULL;

    if (!key) {
        hf_api_invalid(api, hf_json_(api->mem, "{'key': ['The parameter is required.']}"));
        return;
    }
    if (!hf_api_query_int(api, "event", 0, 1, INT64_MAX, &event) ||
        !hf_api_query_int(api, "from", 0, 0, INT64_MAX, &from) ||
        !hf_api_query_int(api, "limit", PIECE_USUAL, 1, PIECE_MAX, &size) ||
        !part_read(api, "payload",
                   hf_json_(api->mem, "{'event': %lld, 'key': %s, 'from': %lld, 'size': %lld}",
                            (long long)event, key, (long long)from, (long long)size),
                   &out))
        return;
    if (hf_value_kind_of(hf_get(out, "text")) == HF_VALUE_NULL)
        hf_api_error(api, 410, "payload_erased", "This value was erased from the store.");
    else
        part_answer(api, out);
}

/* ---- why */

void hf_api_why(hf_api *api)
{
    static const char *const names[] = {"workflow_id", "run_id", "status", "liveness_state", "why"};
    hf_value_list *why = hf_value_object(api->mem);
    hf_value head = NULL;

    if (!part_read(api, "head", NULL, &head))
        return;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        hf_value_put(why, names[i], hf_get(head, names[i]));
    part_answer(api, hf_value_finish(why));
}

/* ---- the head */

/* What the shell needs before and behind the id. */
static const struct {
    const char *action;
    const char *flags;
    const char *words;
} lines[] = {{"signal", "", " NAME"},
             {"update", "", " NAME"},
             {"query", "", " NAME"},
             {"cancel", "", ""},
             {"terminate", " --reason WHY", ""},
             {"pause", "", ""},
             {"resume", "", ""},
             {"repair", "", ""},
             {"archive", "", ""},
             {"fork", " --step N --id NEW_ID", ""},
             {"reset", " --step N", ""}};

/* What the role of the reader does not allow is not allowed, whatever the run says. */
static hf_value actions_for(hf_api *api, hf_value actions)
{
    bool operates = hf_role_allows(HF_ROLE_OPERATOR) >> api->principal.role & 1U;
    hf_value denied =
        hf_json_(api->mem, "{'allowed': false, 'reason': 'role_forbids', 'text': %s}",
                 hf_mem_format(api->mem, "The role %s may look and ask, nothing more.",
                               hf_role_text(api->principal.role)));
    hf_value_list *list = hf_value_object(api->mem);
    hf_slice name;
    hf_value action;

    for (size_t i = 0; hf_value_member(actions, i, &name, &action); i++)
        hf_value_set(list, name,
                     operates || hf_slice_equal(name, HF_SLICE("query")) ? action : denied);
    return hf_value_finish(list);
}

static hf_value shell_for(hf_api *api, const char *id)
{
    bool elsewhere = strcmp(api->namespace, HF_NAMESPACE_DEFAULT) != 0;
    hf_value_list *list = hf_value_object(api->mem);

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        const char *line =
            hf_mem_format(api->mem, "holdfast %s%s%s%s %s%s%s", lines[i].action, lines[i].flags,
                          elsewhere ? " --namespace " : "", elsewhere ? api->namespace : "",
                          *id == '-' ? "-- " : "", id, lines[i].words);

        hf_value_put(list, lines[i].action,
                     line ? hf_value_string(api->mem, hf_slice_of(line)) : NULL);
    }
    return hf_value_finish(list);
}

void hf_api_run_head(hf_api *api)
{
    const char *bundle;
    hf_value head = NULL;

    if (!part_read(api, "head", NULL, &head))
        return;
    bundle = hf_api_param_named(api, "bundle");
    head = hf_value_merge(
        api->mem, head,
        hf_json_(api->mem, "{'task_queue': %p, 'actions': %p, 'shell': %p, 'bundle': %s}",
                 (const void *)hf_get(head, "queue"),
                 (const void *)(bundle ? hf_get(head, "actions")
                                       : actions_for(api, hf_get(head, "actions"))),
                 (const void *)(bundle ? hf_json_(api->mem, "{}")
                                       : shell_for(api, hf_str(head, "workflow_id", ""))),
                 bundle));
    part_answer(api, head);
}
