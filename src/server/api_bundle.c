/* api_bundle.c: bundles that are opened to be looked at: nothing of them enters the store unless it
   is asked for. Their runs are shown by api_run.c. */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/value.h"
#include "holdfast/view.h"
#include "server/handlers.h"
#include "server/server_impl.h"
#include "server/shelf_api.h"

enum { NAME_BYTES_MAX = 200 };

static int64_t now_of(const hf_api *api)
{
    return hf_clock_wall_us(api->server->clock);
}

bool hf_api_bundle_find(hf_api *api, const char *id, hf_shelf_item **out_item)
{
    *out_item = hf_shelf_take(api->server->shelf, api->principal.id, id, now_of(api));
    if (!*out_item)
        hf_api_error(api, 404, "bundle_not_found",
                     "There is no such opened bundle; open its file again.");
    return *out_item != NULL;
}

bool hf_api_bundle_take(hf_api *api, hf_shelf_item **out_item)
{
    return hf_api_bundle_find(api, hf_api_param_named(api, "bundle"), out_item);
}

/* Answers with what is said of one that is held, and lets go of it. */
static void about_answer(hf_api *api, int status, hf_shelf_item *item)
{
    hf_value about = hf_shelf_about(api->server->shelf, item, api->mem);

    hf_shelf_return(api->server->shelf, item);
    hf_api_json(api, status,
                about ? hf_json_(api->mem, "{'bundle': %p}", (const void *)about) : NULL);
}

/* ---- opening */

/* A text that is no bundle, or not a whole one. */
static void bundle_refuse(hf_api *api, const char *reason, const char *text)
{
    hf_api_invalid_as(api, reason, text, hf_json_(api->mem, "{'bundle': [%s]}", text));
}

static void open_failed(hf_api *api, hf_status st, const char *text)
{
    switch ((int)st) {
    case HF_INVALID:
        bundle_refuse(api, "bundle_unreadable", text);
        return;
    case HF_CORRUPT:
        bundle_refuse(api, "bundle_damaged", text);
        return;
    case HF_NEWER:
        bundle_refuse(api, "bundle_newer", text);
        return;
    case HF_EXISTS:
        hf_api_error(api, 409, "too_many_bundles", "%s", text);
        return;
    case HF_BUSY:
        hf_api_error(api, 429, "overloaded", "%s", text);
        return;
    default:
        hf_api_status(api, st, text);
    }
}

void hf_api_bundle_open(hf_api *api)
{
    const char *name = hf_api_query_text(api, "name");
    hf_slice text = hf_buf_slice(&api->request->body);
    hf_shelf_item *item = NULL;
    char id[HF_SHELF_ID_SIZE];
    hf_err err = {0};
    hf_status st;

    if (name && strlen(name) > NAME_BYTES_MAX) {
        hf_api_invalid(api, hf_json_(api->mem, "{'name': ['A name has at most %d bytes.']}",
                                     (int)NAME_BYTES_MAX));
        return;
    }
    if (!text.len) {
        bundle_refuse(api, "bundle_unreadable", "The body is empty; it must be the bundle's file.");
        return;
    }
    st = hf_shelf_put(api->server->shelf, api->principal.id, name, text, now_of(api), id, &err);
    if (st)
        open_failed(api, st, err.text);
    else if (hf_api_bundle_find(api, id, &item))
        about_answer(api, 201, item);
}

/* ---- looking */

void hf_api_bundles(hf_api *api)
{
    hf_value list = hf_shelf_list(api->server->shelf, api->principal.id, now_of(api), api->mem);

    hf_api_json(api, 200,
                list ? hf_json_(api->mem,
                                "{'bundles': %p, 'limits': {'bundles': %d, 'bytes': %d, "
                                "'memory_bytes': %d, 'idle_seconds': %d}}",
                                (const void *)list, (int)HF_SHELF_EACH_MAX, (int)HF_SHELF_TEXT_MAX,
                                (int)HF_SHELF_EACH_BYTES_MAX, (int)HF_SHELF_IDLE_S)
                     : NULL);
}

void hf_api_bundle(hf_api *api)
{
    hf_shelf_item *item = NULL;

    if (hf_api_bundle_take(api, &item))
        about_answer(api, 200, item);
}

void hf_api_bundle_drop(hf_api *api)
{
    if (hf_shelf_drop(api->server->shelf, api->principal.id, hf_api_param_named(api, "bundle"),
                      now_of(api)))
        api->reply.status = 204;
    else
        hf_api_error(api, 404, "bundle_not_found", "There is no such opened bundle.");
}

/* ---- keeping */

void hf_api_bundle_import(hf_api *api)
{
    hf_import_opts options = {.size_ = sizeof(options), .space = api->namespace};
    hf_shelf_item *item = NULL;
    hf_value out = NULL;
    hf_status st;

    if (!hf_api_bundle_take(api, &item))
        return;
    options.text = hf_bundle_view_text(hf_shelf_view(item), &options.len);
    st = hf_import_with(api->server->engine, api->mem, &out, &options);
    hf_shelf_return(api->server->shelf, item);
    if (st == HF_EXISTS)
        hf_api_error(api, 409, "run_exists", "%s", hf_errmsg(api->server->engine));
    else if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    else
        hf_api_json(
            api, hf_bool(out, "imported", false) ? 201 : 200,
            hf_value_merge(api->mem,
                           hf_json_(api->mem, "{'namespace': %s, 'workflow_id': %p}",
                                    api->namespace, (const void *)hf_get(out, "instance_id")),
                           out));
}
