/* api_read.c: what is asked about runs: lists, one run, the runs of an instance, and numbers for
   operators. Everything comes from the functions of view.h; here is only the published shape. */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "holdfast/view.h"
#include "server/handlers.h"
#include "server/list_query.h"
#include "server/server_impl.h"
#include "server/shape.h"

enum { WAIT_S = 20, WAIT_S_MAX = 60 };

static hf_value execution(hf_api *api, hf_value detail)
{
    return hf_shape_run(api->mem, detail, api->namespace);
}

/* All of one run; false: answered already. */
static bool detail_read(hf_api *api, const char *run, hf_value *out_detail)
{
    int64_t at = INT64_MAX;
    hf_status st;

    if (!hf_api_query_int(api, "at", INT64_MAX, 1, INT64_MAX, &at))
        return false;
    st = hf_describe(api->server->engine,
                     hf_json_(api->mem, "{'id': %s, 'run_id': %s, 'at': %lld}",
                              hf_api_param_named(api, "workflow_id"), run, (long long)at),
                     api->mem, out_detail);

    if (st == HF_NOTFOUND)
        hf_api_error(api, 404, run ? "run_not_found" : "instance_not_found", "%s",
                     hf_errmsg(api->server->engine));
    else if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    return !st;
}

void hf_api_describe(hf_api *api)
{
    hf_value detail = NULL;

    if (detail_read(api, hf_api_param_named(api, "run_id"), &detail))
        hf_api_json(api, 200, execution(api, detail));
}

/* Those of a list whose member has (not) the text. */
static hf_value items_where(hf_api *api, hf_value items, const char *member, const char *text)
{
    hf_value_list *list = hf_value_array(api->mem);

    for (size_t i = 0; i < hf_len(items); i++)
        if (strcmp(hf_str(hf_at(items, i), member, ""), text) == 0)
            hf_value_append(list, hf_at(items, i));
    return hf_value_finish(list);
}

/* What open activities are called. */
static hf_value activities_open(hf_api *api, hf_value detail)
{
    hf_value all = hf_get(detail, "activities");
    hf_value_list *list = hf_value_array(api->mem);

    for (size_t i = 0; i < hf_len(all); i++) {
        const char *status = hf_str(hf_at(all, i), "status", "");

        if (strcmp(status, "pending") == 0 || strcmp(status, "running") == 0)
            hf_value_append(list, hf_at(all, i));
    }
    return hf_value_finish(list);
}

/* What `why` says, as a finding, unless all is well. */
static hf_value findings(hf_api *api, hf_value why)
{
    if (strcmp(hf_str(why, "severity", "ok"), "ok") == 0)
        return hf_json_(api->mem, "[]");
    return hf_json_(api->mem, "[{'severity': %p, 'code': %p, 'message': %p}]",
                    (const void *)hf_get(why, "severity"), (const void *)hf_get(why, "code"),
                    (const void *)hf_get(why, "text"));
}

void hf_api_debug(hf_api *api)
{
    const char *run = hf_api_param_named(api, "run_id");
    char now[HF_CLOCK_TEXT_SIZE] = "";
    hf_value detail = NULL;
    hf_value why;

    if (!detail_read(api, run, &detail))
        return;
    why = hf_get(detail, "why");
    (void)hf_clock_print(hf_clock_real_us(api->server->clock), now);
    hf_api_json(
        api, 200,
        hf_json_(api->mem,
                 "{'generated_at': %s, 'namespace': %s, 'workflow_id': %p, 'run_id': %p, "
                 "'diagnostic_status': %s, 'execution': %p, 'pending_workflow_tasks': %p, "
                 "'pending_activities': %p, 'task_queue': {'name': %p}, 'recent_failures': %p, "
                 "'compatibility': {'required': %p}, 'findings': %p, 'why': %p}",
                 now, api->namespace, (const void *)hf_get(detail, "instance_id"),
                 (const void *)hf_get(detail, "run_id"), hf_str(why, "severity", "ok"),
                 (const void *)execution(api, detail),
                 (const void *)items_where(api, hf_get(detail, "tasks"), "type", "workflow"),
                 (const void *)activities_open(api, detail), (const void *)hf_get(detail, "queue"),
                 (const void *)hf_get(detail, "exceptions"),
                 (const void *)hf_get(detail, "compatibility"), (const void *)findings(api, why),
                 (const void *)why));
}

/* Runs that match, as the published list has them; answers by itself when that fails. */
static void runs_answer(hf_api *api, hf_value filters, hf_value more, const char *list_name,
                        int64_t changes)
{
    hf_value_list *rows = hf_value_array(api->mem);
    hf_value page = NULL;
    hf_value items;

    if (!hf_api_runs_page(api, filters, more, &page))
        return;
    items = hf_get(page, "items");
    for (size_t i = 0; i < hf_len(items); i++)
        hf_value_append(rows, execution(api, hf_at(items, i)));
    hf_api_json(
        api, 200,
        hf_json_(api->mem,
                 "{'namespace': %s, '%s': %p, 'next_page_token': %p, 'workflow_count': "
                 "%zu, 'facets': %p, 'total': %p, 'visibility_filters': %p, 'changes': %lld}",
                 api->namespace, list_name, (const void *)hf_value_finish(rows),
                 (const void *)hf_get(page, "cursor"), hf_len(items),
                 (const void *)hf_get(page, "facets"), (const void *)hf_get(page, "total"),
                 (const void *)hf_get(page, "visibility_filters"), (long long)changes));
}

/* Whether the list is waited for until something is not as it was, and for how long. */
static bool wait_read(hf_api *api, int64_t *out_seen, int64_t *out_wait_s)
{
    *out_wait_s = 0;
    *out_seen = 0;
    if (!hf_api_query_text(api, "wait_changes"))
        return true;
    return hf_api_query_int(api, "wait_changes", 0, 0, INT64_MAX, out_seen) &&
           hf_api_query_int(api, "wait_timeout_seconds", WAIT_S, 1, WAIT_S_MAX, out_wait_s);
}

/* What changes while the list is read is news to the next one. */
static void list_answer(hf_api *api, int64_t seen, int64_t wait_s)
{
    const char *query = hf_api_query_text(api, "query");
    hf_value filters = NULL;
    int64_t changes = 0;
    hf_status st = hf_changes(api->server->engine, seen, wait_s * 1000, &changes);

    if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    else if (hf_list_query(api,
                           query ? hf_json_(api->mem, "{'instance_id_contains': %s}", query) : NULL,
                           &filters))
        runs_answer(api, filters, hf_list_extras(api), "workflows", changes);
}

/* On a thread of those that wait. */
static void list_waited(hf_api *api)
{
    int64_t wait_s = 0;
    int64_t seen = 0;

    if (wait_read(api, &seen, &wait_s))
        list_answer(api, seen, wait_s);
}

void hf_api_list(hf_api *api)
{
    int64_t wait_s = 0;
    int64_t seen = 0;

    if (!wait_read(api, &seen, &wait_s))
        return;
    if (wait_s)
        hf_api_wait(api, list_waited); /* readers that do not wait need this thread */
    else
        list_answer(api, 0, 0);
}

void hf_api_runs(hf_api *api)
{
    runs_answer(api,
                hf_json_(api->mem, "{'instance_id': %s}", hf_api_param_named(api, "workflow_id")),
                NULL, "runs", 0);
}

void hf_api_operator_metrics(hf_api *api)
{
    hf_value metrics = NULL;
    hf_status st = hf_metrics(api->server->engine, api->mem, &metrics);

    if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    else
        hf_api_json(api, 200,
                    hf_json_(api->mem, "{'namespace': %s, 'operator_metrics': %p}", api->namespace,
                             (const void *)metrics));
}

void hf_api_system_health(hf_api *api)
{
    hf_value health = NULL;
    hf_status st = hf_health(api->server->engine, api->mem, &health);

    if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    else
        hf_api_json(api, strcmp(hf_str(health, "status", ""), "error") ? 200 : 503, health);
}
