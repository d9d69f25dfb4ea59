/* api_saved.c: the lists of runs that operators keep. Each route is one call of the engine. */
#include "base/value.h"
#include "holdfast/view.h"
#include "server/handlers.h"
#include "server/server_impl.h"

/* Views that are kept without a name are everybody's who operates here. */
#define OWNER_SHARED "operators"

static const char *owner_of(hf_api *api)
{
    const char *asked = hf_api_query_text(api, "owner");

    return asked ? asked : hf_str(api->body, "owner", OWNER_SHARED);
}

static void view_failed(hf_api *api, hf_status st)
{
    const char *text = hf_errmsg(api->server->engine);

    if (st == HF_NOTFOUND)
        hf_api_error(api, 404, "view_not_found", "%s", text);
    else if (st == HF_EXISTS)
        hf_api_error(api, 409, "view_already_exists", "%s", text);
    else
        hf_api_status(api, st, text);
}

void hf_api_views(hf_api *api)
{
    hf_value views = NULL;
    hf_status st = hf_view_list(
        api->server->engine, hf_json_(api->mem, "{'owner': %s}", owner_of(api)), api->mem, &views);

    if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    else
        hf_api_json(api, 200,
                    hf_json_(api->mem, "{'namespace': %s, 'views': %p}", api->namespace,
                             (const void *)views));
}

void hf_api_view_save(hf_api *api)
{
    hf_value view = NULL;
    hf_status st = hf_view_save(
        api->server->engine,
        hf_value_merge(api->mem, api->body, hf_json_(api->mem, "{'owner': %s}", owner_of(api))),
        api->mem, &view);

    if (st)
        view_failed(api, st);
    else
        hf_api_json(api, 201, view);
}

void hf_api_view_delete(hf_api *api)
{
    hf_status st = hf_view_delete(api->server->engine,
                                  hf_json_(api->mem, "{'id': %s, 'owner': %s}",
                                           hf_api_param_named(api, "view_id"), owner_of(api)));

    if (st)
        view_failed(api, st);
    else
        api->reply.status = 204;
}
