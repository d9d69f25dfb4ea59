/* list_query.c: see list_query.h. Which names are filters is the engine's to say; what a value must
   be, too. */
#include "server/list_query.h"

#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "holdfast/view.h"
#include "server/server_impl.h"

/* Names of the query that mean something else than the filter of that name. `status` is the
   published bucket; the filter is reached as run_status. */
static bool is_taken(hf_slice name)
{
    return hf_slice_equal(name, HF_SLICE("status")) || hf_slice_equal(name, HF_SLICE("namespace"));
}

/* A number or a boolean when it reads as one, else the text. */
static hf_value value_read(hf_mem *mem, hf_slice text)
{
    hf_value value = NULL;

    if (!hf_json_read(mem, text, NULL, &value, NULL) &&
        (hf_value_kind_of(value) == HF_VALUE_INT || hf_value_kind_of(value) == HF_VALUE_DOUBLE ||
         hf_value_kind_of(value) == HF_VALUE_BOOL))
        return value;
    return hf_value_string(mem, text);
}

/* "NAME]" or "NAME][gte]" behind the first bracket. */
static bool brackets_read(hf_slice rest, hf_slice *out_name, hf_slice *out_sign)
{
    const char *end = memchr(rest.ptr, ']', rest.len);

    if (!end)
        return false;
    *out_name = hf_slice_from(rest.ptr, (size_t)(end - rest.ptr));
    *out_sign = (hf_slice){0};
    rest = hf_slice_from(end + 1, rest.len - out_name->len - 1);
    if (rest.len == 0)
        return true;
    if (rest.len < 3 || rest.ptr[0] != '[' || rest.ptr[rest.len - 1] != ']')
        return false;
    *out_sign = hf_slice_from(rest.ptr + 1, rest.len - 2);
    return true;
}

static hf_value object_of(hf_mem *mem, hf_slice name, hf_value item)
{
    hf_value_list *list = hf_value_object(mem);

    hf_value_set(list, name, item);
    return hf_value_finish(list);
}

static void parameter_refuse(hf_api *api, hf_slice name, const char *sentence)
{
    hf_api_invalid(api, object_of(api->mem, name, hf_json_(api->mem, "[%s]", sentence)));
}

/* The members whose names are PREFIX[NAME], by those names; false: answered already. */
static bool members_read(hf_api *api, const char *prefix, bool typed, hf_value *out_members)
{
    size_t len = strlen(prefix);
    hf_value all = hf_json_(api->mem, "{}");

    for (size_t i = 0; i < api->query.count; i++) {
        hf_slice name = api->query.pairs[i].name;
        hf_slice text = api->query.pairs[i].value;
        hf_slice key;
        hf_slice sign;
        hf_value item;

        hf_value before;

        if (name.len <= len + 1 || memcmp(name.ptr, prefix, len) != 0 || name.ptr[len] != '[')
            continue;
        if (!brackets_read(hf_slice_from(name.ptr + len + 1, name.len - len - 1), &key, &sign)) {
            parameter_refuse(api, name, "The parameter is written NAME[KEY] or NAME[KEY][gte].");
            return false;
        }
        item = typed ? value_read(api->mem, text) : hf_value_string(api->mem, text);
        before = hf_value_find(all, key);
        if (before && (!sign.len || hf_value_kind_of(before) != HF_VALUE_OBJECT)) {
            parameter_refuse(api, name, "The parameter is a value or bounds, and not both.");
            return false;
        }
        if (sign.len)
            item = hf_value_merge(api->mem, before, object_of(api->mem, sign, item));
        all = hf_value_merge(api->mem, all, object_of(api->mem, key, item));
    }
    *out_members = all;
    return true;
}

bool hf_list_query(hf_api *api, hf_value given, hf_value *out_filters)
{
    hf_engine *engine = api->server->engine;
    hf_value known = NULL;
    hf_value labels = NULL;
    hf_value attributes = NULL;
    hf_value_list *list = hf_value_object(api->mem);
    hf_status st = hf_list_filters(engine, api->mem, &known);
    const char *status = hf_api_query_text(api, "run_status");

    if (st) {
        hf_api_status(api, st, hf_errmsg(engine));
        return false;
    }
    for (size_t i = 0; i < api->query.count; i++) {
        hf_slice name = api->query.pairs[i].name;

        if (is_taken(name) ||
            (!hf_value_find(hf_get(known, "fields"), name) && !hf_slice_equal(name, HF_SLICE("q"))))
            continue;
        if (hf_value_find(given, name)) { /* as ?query */
            parameter_refuse(api, name, "The parameter is given already, as query.");
            return false;
        }
        hf_value_set(list, name, hf_value_string(api->mem, api->query.pairs[i].value));
    }
    if (status)
        hf_value_set(list, HF_SLICE("status"), hf_value_string(api->mem, hf_slice_of(status)));
    if (!members_read(api, "label", false, &labels) ||
        !members_read(api, "search_attribute", true, &attributes))
        return false;
    hf_value_set(list, HF_SLICE("labels"), labels);
    hf_value_set(list, HF_SLICE("search_attributes"), attributes);
    *out_filters = hf_value_merge(api->mem, hf_value_finish(list), given);
    return true;
}

hf_value hf_list_extras(hf_api *api)
{
    const char *facets = hf_api_query_text(api, "facets");
    hf_value_list *names = hf_value_array(api->mem);
    hf_slice rest = hf_slice_of(facets ? facets : "");
    hf_slice name;

    while (rest.len && hf_slice_split(&rest, ',', &name))
        hf_value_append(names, hf_value_string(api->mem, hf_slice_trim(name)));
    return hf_json_(api->mem, "{'view': %s, 'order': %s, 'facets': %p, 'total': %p}",
                    hf_api_query_text(api, "view"), hf_api_query_text(api, "order"),
                    (const void *)hf_value_finish(names),
                    (const void *)hf_value_bool(hf_api_query_bool(api, "total")));
}
