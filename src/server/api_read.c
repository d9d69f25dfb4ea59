/* api_read.c: what is asked about runs: lists, one run, the runs of an instance, and numbers for
   operators. Everything comes from the functions of view.h; here is only the published shape. */
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "holdfast/view.h"
#include "server/handlers.h"
#include "server/server_impl.h"
#include "server/shape.h"

enum { PAGE = 50, PAGE_MAX = 200 };

static hf_value execution(hf_api *api, hf_value detail)
{
    return hf_shape_run(api->mem, detail, api->namespace);
}

void hf_api_describe(hf_api *api)
{
    const char *run = hf_api_param_named(api, "run_id");
    hf_value detail = NULL;
    hf_status st = hf_describe(
        api->server->engine,
        hf_json_(api->mem, "{'id': %s, 'run_id': %s}", hf_api_param_named(api, "workflow_id"), run),
        api->mem, &detail);

    if (st == HF_NOTFOUND)
        hf_api_error(api, 404, run ? "run_not_found" : "instance_not_found", "%s",
                     hf_errmsg(api->server->engine));
    else if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    else
        hf_api_json(api, 200, execution(api, detail));
}

/* Text of the query string, NULL when it is not there. */
static const char *query_text(hf_api *api, const char *name)
{
    hf_slice text;

    return hf_http_query_find(&api->query, name, &text) && text.len ? hf_mem_text(api->mem, text)
                                                                    : NULL;
}

/* Runs that match, as the published list has them; answers by itself when that fails. */
static void runs_answer(hf_api *api, hf_value filters, const char *list_name)
{
    const char *bucket = query_text(api, "status");
    const char *cursor = query_text(api, "next_page_token");
    hf_value_list *rows = hf_value_array(api->mem);
    hf_value page = NULL;
    hf_value items;
    int64_t limit = PAGE;
    hf_status st;

    if (!hf_api_query_int(api, "page_size", PAGE, 1, PAGE_MAX, &limit))
        return;
    st = hf_list_runs(api->server->engine,
                      hf_json_(api->mem,
                               "{'filters': %p, 'bucket': %s, 'limit': %lld, 'cursor': %s}",
                               (const void *)filters, bucket, (long long)limit, cursor),
                      api->mem, &page);
    if (st == HF_INVALID && cursor)
        hf_api_error(api, 400, "invalid_page_token", "%s", hf_errmsg(api->server->engine));
    else if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    if (st)
        return;
    items = hf_get(page, "items");
    for (size_t i = 0; i < hf_len(items); i++)
        hf_value_append(rows, execution(api, hf_at(items, i)));
    hf_api_json(api, 200,
                hf_json_(api->mem, "{'%s': %p, 'next_page_token': %p, 'workflow_count': %zu}",
                         list_name, (const void *)hf_value_finish(rows),
                         (const void *)hf_get(page, "cursor"), hf_len(items)));
}

void hf_api_list(hf_api *api)
{
    runs_answer(api,
                hf_json_(api->mem, "{'workflow_type': %s, 'instance_id_contains': %s}",
                         query_text(api, "workflow_type"), query_text(api, "query")),
                "workflows");
}

void hf_api_runs(hf_api *api)
{
    runs_answer(api,
                hf_json_(api->mem, "{'instance_id': %s}", hf_api_param_named(api, "workflow_id")),
                "runs");
}

void hf_api_operator_metrics(hf_api *api)
{
    hf_value metrics = NULL;
    hf_status st = hf_metrics(api->server->engine, api->mem, &metrics);

    if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    else
        hf_api_json(api, 200,
                    hf_json_(api->mem, "{'operator_metrics': %p}", (const void *)metrics));
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
