/* api_diff.c: two runs side by side, each of the store or of a bundle that was opened. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "holdfast/view.h"
#include "server/handlers.h"
#include "server/server_impl.h"
#include "server/shelf_api.h"

enum { STEPS_USUAL = 200, STEPS_MAX = 1000 };

/* One of the two as the query names it. */
typedef struct side {
    const char *name;
    const char *id;
    const char *run_id;
    const char *bundle;
    hf_shelf_item *item; /* of the bundle */
} side;

static const char *parameter(hf_api *api, const char *which, const char *what)
{
    char name[32];

    (void)snprintf(name, sizeof(name), "%s%s", which, what);
    return hf_api_query_text(api, name);
}

/* Answers and returns false when it is not there, or not named once. */
static bool side_read(hf_api *api, const char *name, side *out)
{
    *out = (side){.name = name,
                  .id = parameter(api, name, ""),
                  .run_id = parameter(api, name, "_run_id"),
                  .bundle = parameter(api, name, "_bundle")};
    if (!out->id == !out->bundle || (out->run_id && !out->id)) {
        hf_api_invalid(api,
                       hf_json_(api->mem,
                                "{'%s': ['Name a run with %s (and %s_run_id), or a bundle with "
                                "%s_bundle.']}",
                                name, name, name, name));
        return false;
    }
    return !out->bundle || hf_api_bundle_find(api, out->bundle, &out->item);
}

static hf_value side_value(hf_api *api, const side *s)
{
    return hf_json_(api->mem, "{'id': %s, 'run_id': %s, 'bundle': %s}", s->id, s->run_id,
                    s->bundle);
}

/* The side that is not there is said. */
static void diff_failed(hf_api *api, hf_status st, const side *left, const side *right)
{
    const char *text = hf_errmsg(api->server->engine);
    const side *missing = strncmp(text, "left", 4) == 0 ? left : right;

    if (st == HF_NOTFOUND)
        hf_api_error(api, 404, missing->run_id ? "run_not_found" : "instance_not_found", "%s",
                     text);
    else if (st == HF_CORRUPT)
        hf_api_error(api, 500, "history_unreadable", "The history of a run cannot be read: %s",
                     text);
    else
        hf_api_status(api, st, text);
}

static void diff_answer(hf_api *api, const side *left, const side *right)
{
    const char *only = hf_api_query_text(api, "only");
    int64_t after = 0;
    int64_t limit = 0;
    hf_value out = NULL;
    hf_status st;

    if (!hf_api_query_int(api, "after", 0, 0, INT64_MAX, &after) ||
        !hf_api_query_int(api, "limit", STEPS_USUAL, 1, STEPS_MAX, &limit))
        return;
    st = hf_run_diff(
        api->server->engine,
        hf_json_(api->mem,
                 "{'left': %p, 'right': %p, 'after': %lld, 'limit': %lld, 'different_only': %p}",
                 (const void *)side_value(api, left), (const void *)side_value(api, right),
                 (long long)after, (long long)limit,
                 (const void *)hf_value_bool(only && strcmp(only, "different") == 0)),
        left->item ? hf_shelf_view(left->item) : NULL,
        right->item ? hf_shelf_view(right->item) : NULL, api->mem, &out);
    if (st)
        diff_failed(api, st, left, right);
    else
        hf_api_json(
            api, 200,
            hf_value_merge(api->mem, hf_json_(api->mem, "{'namespace': %s}", api->namespace), out));
}

void hf_api_diff(hf_api *api)
{
    side left = {0};
    side right = {0};

    if (side_read(api, "left", &left) && side_read(api, "right", &right))
        diff_answer(api, &left, &right);
    hf_shelf_return(api->server->shelf, left.item);
    hf_shelf_return(api->server->shelf, right.item);
}
