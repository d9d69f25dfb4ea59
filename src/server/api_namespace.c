/* api_namespace.c: namespaces: made, shown, changed. A credential that is scoped to some of them
   never learns whether others exist. */
#include <string.h>

#include "base/json.h"
#include "holdfast/host.h"
#include "server/handlers.h"
#include "server/registry.h"
#include "server/server_impl.h"

/* A namespace as the wire has it. */
static hf_value namespace_shown(hf_mem *mem, hf_value row)
{
    return hf_value_merge(
        mem, row,
        hf_json_(mem, "{'namespace': %p, 'status': 'active'}", (const void *)hf_get(row, "name")));
}

static bool rows_read(hf_api *api, hf_value *out_rows)
{
    hf_status st = hf_namespaces(api->server->engine, api->mem, out_rows);

    if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    return !st;
}

static void missing(hf_api *api)
{
    hf_api_error(api, 404, "namespace_not_found", "There is no such namespace.");
}

void hf_api_namespaces(hf_api *api)
{
    hf_value_list *list = hf_value_array(api->mem);
    hf_value rows = NULL;

    if (!rows_read(api, &rows))
        return;
    for (size_t i = 0; i < hf_len(rows); i++)
        if (hf_principal_sees(&api->principal, hf_slice_of(hf_str(hf_at(rows, i), "name", ""))))
            hf_value_append(list, namespace_shown(api->mem, hf_at(rows, i)));
    hf_api_json(api, 200,
                hf_json_(api->mem, "{'namespaces': %p}", (const void *)hf_value_finish(list)));
}

static void namespace_answer(hf_api *api, int status, const char *name)
{
    hf_value rows = NULL;

    if (!rows_read(api, &rows))
        return;
    for (size_t i = 0; i < hf_len(rows); i++)
        if (strcmp(hf_str(hf_at(rows, i), "name", ""), name) == 0) {
            hf_api_json(api, status, namespace_shown(api->mem, hf_at(rows, i)));
            return;
        }
    missing(api);
}

void hf_api_namespace(hf_api *api)
{
    const char *name = hf_api_param(api, 0);

    if (hf_principal_sees(&api->principal, hf_slice_of(name)))
        namespace_answer(api, 200, name);
    else
        missing(api);
}

/* What both writing routes take; false: answered already. */
static bool options_read(hf_api *api, hf_namespace_opts *out_options)
{
    int64_t days = hf_int(api->body, "retention_days", HF_NAMESPACE_DAYS);

    *out_options = (hf_namespace_opts){.size_ = sizeof(*out_options),
                                       .description = hf_str(api->body, "description", NULL),
                                       .retention_days = hf_int(api->body, "retention_days", 0)};
    if (days == HF_NAMESPACE_FOR_EVER || (days >= 1 && days <= HF_NAMESPACE_DAYS_MAX))
        return true;
    hf_api_invalid(api, hf_json_(api->mem,
                                 "{'retention_days': ['The field must be a number from 1 to "
                                 "%d.']}",
                                 HF_NAMESPACE_DAYS_MAX));
    return false;
}

void hf_api_namespace_create(hf_api *api)
{
    const char *name = hf_str(api->body, "name", "");
    hf_engine *engine = api->server->engine;
    hf_namespace_opts options;
    hf_err err = {0};
    hf_status st;

    if (!options_read(api, &options))
        return;
    if (!hf_principal_sees(&api->principal, hf_slice_of(name))) {
        hf_api_error(api, 403, "forbidden", "The credential is good for other namespaces.");
        return;
    }
    st = hf_namespace_create(engine, name, &options);
    if (st == HF_EXISTS || st == HF_INVALID) {
        hf_api_invalid(api, hf_json_(api->mem, "{'name': [%s]}", hf_errmsg(engine)));
        return;
    }
    if (!st)
        st = hf_server_refresh(api->server, &err);
    if (st)
        hf_api_status(api, st, err.status ? err.text : hf_errmsg(engine));
    else
        namespace_answer(api, 201, name);
}

void hf_api_namespace_set(hf_api *api)
{
    const char *name = hf_api_param(api, 0);
    hf_namespace_opts options;
    hf_status st;

    if (!options_read(api, &options))
        return;
    if (!hf_principal_sees(&api->principal, hf_slice_of(name))) {
        missing(api);
        return;
    }
    st = hf_namespace_set(api->server->engine, name, &options);
    if (st == HF_NOTFOUND)
        missing(api);
    else if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    else
        namespace_answer(api, 200, name);
}
