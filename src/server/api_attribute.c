/* api_attribute.c: search attributes that a namespace knows. */
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "server/handlers.h"
#include "server/server_impl.h"

void hf_api_attributes(hf_api *api)
{
    hf_value all = NULL;
    hf_status st = hf_attributes(api->server->engine, api->mem, &all);

    if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    else
        hf_api_json(
            api, 200,
            hf_value_merge(api->mem, all, hf_json_(api->mem, "{'namespace': %s}", api->namespace)));
}

/* A reason of ours, or the published one for what is wrong with the name. */
static void attribute_failed(hf_api *api, hf_status st)
{
    const char *text = hf_errmsg(api->server->engine);

    switch ((int)st) {
    case HF_EXISTS:
        hf_api_error(api, 409, "search_attribute_already_exists", "%s", text);
        break;
    case HF_NOTFOUND:
        hf_api_error(api, 404, "search_attribute_not_found", "%s", text);
        break;
    case HF_DENIED:
    case HF_TOOBIG:
        hf_api_refuse(api, st == HF_DENIED && strncmp(text, "name", 4) != 0 ? 403 : 422, text);
        break;
    default:
        hf_api_status(api, st, text);
    }
}

void hf_api_attribute_create(hf_api *api)
{
    const char *name = hf_str(api->body, "name", "");
    const char *type = hf_str(api->body, "type", "");
    hf_status st = hf_attribute_create(api->server->engine, name, type);

    if (st)
        attribute_failed(api, st);
    else
        hf_api_json(api, 201,
                    hf_json_(api->mem,
                             "{'namespace': %s, 'name': %s, 'type': %s, 'outcome': 'created'}",
                             api->namespace, name, type));
}

/* The published document says 204; the SDKs insist on an object. */
void hf_api_attribute_delete(hf_api *api)
{
    const char *name = hf_api_param_named(api, "name");
    hf_status st = hf_attribute_delete(api->server->engine, name);

    if (st)
        attribute_failed(api, st);
    else
        hf_api_json(api, 200,
                    hf_json_(api->mem, "{'namespace': %s, 'name': %s, 'outcome': 'deleted'}",
                             api->namespace, name));
}
