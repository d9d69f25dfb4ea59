/* api_console_runs.c: the list of runs as the console asks for it: one line that says which,
   facets, counts, and why each run stands where it stands. */
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "holdfast/view.h"
#include "server/handlers.h"
#include "server/list_query.h"
#include "server/server_impl.h"
#include "server/shape.h"

enum { RUNS_USUAL = 50, RUNS_MAX = 200 };

/* What became of a question about lists; true: it was answered. */
static bool list_failed(hf_api *api, hf_status st)
{
    const char *text = hf_errmsg(api->server->engine);

    if (st == HF_NOTFOUND)
        hf_api_error(api, 404, "view_not_found", "%s", text);
    else if (st)
        hf_api_status(api, st, text);
    return st != HF_OK;
}

void hf_api_console_runs(hf_api *api)
{
    const char *line = hf_api_query_text(api, "q");
    hf_value_list *rows = hf_value_array(api->mem);
    int64_t limit = 0;
    hf_value page = NULL;
    hf_value items;

    if (!hf_api_query_int(api, "limit", RUNS_USUAL, 1, RUNS_MAX, &limit))
        return;
    if (list_failed(
            api,
            hf_list_runs(
                api->server->engine,
                hf_value_merge(api->mem, hf_list_extras(api),
                               hf_json_(api->mem,
                                        "{'q': %s, 'cursor': %s, 'limit': %lld, 'why': true, "
                                        "'hist': %p, 'owner': %s}",
                                        line ? line : "", hf_api_query_text(api, "cursor"),
                                        (long long)limit,
                                        (const void *)hf_value_bool(hf_api_query_bool(api, "hist")),
                                        api->principal.id)),
                api->mem, &page)))
        return;
    items = hf_get(page, "items");
    for (size_t i = 0; i < hf_len(items); i++)
        hf_value_append(rows, hf_shape_run(api->mem, hf_at(items, i), api->namespace));
    hf_api_json(api, 200,
                hf_json_(api->mem,
                         "{'namespace': %s, 'items': %p, 'cursor': %p, 'total': %p, 'facets': %p, "
                         "'hist': %p, 'query': %p}",
                         api->namespace, (const void *)hf_value_finish(rows),
                         (const void *)hf_get(page, "cursor"), (const void *)hf_get(page, "total"),
                         (const void *)hf_get(page, "facets"), (const void *)hf_get(page, "hist"),
                         (const void *)hf_get(page, "query")));
}

void hf_api_suggest(hf_api *api)
{
    const char *line = hf_api_query_text(api, "q");
    int64_t at = 0;
    hf_value said = NULL;

    if (!hf_api_query_int(api, "at", INT64_MAX, 0, INT64_MAX, &at))
        return;
    if (!list_failed(api, hf_list_suggest(api->server->engine,
                                          hf_json_(api->mem, "{'q': %s, 'at': %lld}",
                                                   line ? line : "", (long long)at),
                                          api->mem, &said)))
        hf_api_json(api, 200,
                    hf_value_merge(api->mem,
                                   hf_json_(api->mem, "{'namespace': %s}", api->namespace), said));
}
