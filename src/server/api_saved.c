/* api_saved.c: the lists of runs that operators keep, for programs (/api/views) and for the pages
   of the console, whose views belong to whoever is logged in. */
#include <string.h>

#include "base/clock.h"
#include "base/value.h"
#include "holdfast/view.h"
#include "server/handlers.h"
#include "server/server_impl.h"

/* Views that are kept without a name are everybody's who operates here. */
#define OWNER_SHARED "operators"

enum { COUNT_BUDGET_US = 100 * 1000 };

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

/* ---- of the console */

/* Whether who asks may change and forget the view: it is theirs or everybody's, or they administer
   and can see it. */
static bool is_theirs(const hf_api *api, hf_value view)
{
    const char *owner = hf_str(view, "owner", NULL);

    return owner && (strcmp(owner, api->principal.id) == 0 || strcmp(owner, OWNER_SHARED) == 0 ||
                     api->principal.role == HF_ROLE_ADMIN);
}

/* The view with how many runs it shows, null when there was no time to count them. */
static hf_status view_dress(hf_api *api, hf_value view, int64_t until_us, hf_value *out_view)
{
    hf_value page = NULL;
    hf_value total;
    hf_status st = HF_OK;

    if (hf_clock_mono_us(api->server->clock) < until_us &&
        hf_bool(view, "filter_version_supported", false))
        st = hf_list_runs(api->server->engine,
                          hf_json_(api->mem, "{'view': %s, 'owner': %s, 'limit': 1, 'total': true}",
                                   hf_str(view, "id", ""), api->principal.id),
                          api->mem, &page);
    total = hf_get(page, "total");
    *out_view = hf_value_merge(api->mem, view,
                               hf_json_(api->mem, "{'count': %p, 'yours': %p}",
                                        (const void *)(total ? total : hf_value_null()),
                                        (const void *)hf_value_bool(is_theirs(api, view))));
    return st == HF_NOTFOUND ? HF_OK : st; /* it was forgotten meanwhile */
}

void hf_api_console_views(hf_api *api)
{
    int64_t until_us = hf_clock_mono_us(api->server->clock) + COUNT_BUDGET_US;
    hf_value_list *list = hf_value_array(api->mem);
    hf_value views = NULL;
    hf_status st =
        hf_view_list(api->server->engine, hf_json_(api->mem, "{'owner': %s}", api->principal.id),
                     api->mem, &views);

    for (size_t i = 0; !st && i < hf_len(views); i++) {
        hf_value view = NULL;

        st = view_dress(api, hf_at(views, i), until_us, &view);
        hf_value_append(list, view);
    }
    if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    else
        hf_api_json(api, 200,
                    hf_json_(api->mem, "{'namespace': %s, 'views': %p}", api->namespace,
                             (const void *)hf_value_finish(list)));
}

/* The owner in whose name a view that is there is changed; NULL: answered already. */
static const char *owner_find(hf_api *api, const char *id)
{
    hf_value view = NULL;
    hf_status st = hf_view_get(api->server->engine,
                               hf_json_(api->mem, "{'id': %s, 'owner': %s}", id, api->principal.id),
                               api->mem, &view);

    if (st)
        view_failed(api, st);
    else if (!is_theirs(api, view))
        hf_api_error(api, 403, "forbidden",
                     hf_bool(view, "system", false)
                         ? "The view \"%s\" is the program's own."
                         : "The view \"%s\" belongs to somebody else, who alone changes it; and an "
                           "admin does.",
                     hf_str(view, "name", ""));
    else
        return hf_str(view, "owner", "");
    return NULL;
}

void hf_api_console_view_put(hf_api *api)
{
    const char *id = hf_str(api->body, "id", NULL);
    const char *owner = id ? owner_find(api, id) : api->principal.id;
    hf_value view = NULL;
    hf_status st;

    if (!owner)
        return;
    st = hf_view_save(
        api->server->engine,
        hf_value_merge(api->mem, api->body, hf_json_(api->mem, "{'owner': %s}", owner)), api->mem,
        &view);
    if (!st)
        st = view_dress(api, view, INT64_MAX, &view);
    if (st)
        view_failed(api, st);
    else
        hf_api_json(api, id ? 200 : 201, view);
}

void hf_api_console_view_drop(hf_api *api)
{
    const char *id = hf_api_param_named(api, "view_id");
    const char *owner = owner_find(api, id);
    hf_status st;

    if (!owner)
        return;
    st = hf_view_delete(api->server->engine,
                        hf_json_(api->mem, "{'id': %s, 'owner': %s}", id, owner));
    if (st)
        view_failed(api, st);
    else
        api->reply.status = 204;
}
