/* batch_filter.c: see batch_filter.h. The list is read once, when the batch is asked for: what
   starts to match later is not meant, and what ceases to is refused by its own state. */
#include "engine/batch_filter.h"

#include "base/value.h"
#include "engine/look.h"

enum { PAGE_ROWS = 1000 };

bool hf_batch_filtered(hf_value request)
{
    return hf_value_find(request, HF_SLICE("filters")) || hf_value_find(request, HF_SLICE("view"));
}

/* The request of the next page of the list. */
static hf_value page_request(hf_mem *mem, hf_value request, hf_value filters, hf_value cursor)
{
    static const char *const kept[] = {"view", "bucket", "owner", "scope"};
    hf_value_list *object = hf_value_object(mem);

    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        hf_value value = hf_value_find(request, hf_slice_of(kept[i]));

        if (value)
            hf_value_set(object, hf_slice_of(kept[i]), value);
    }
    hf_value_set(object, HF_SLICE("filters"), filters);
    hf_value_set(object, HF_SLICE("limit"), hf_value_int(mem, PAGE_ROWS));
    if (cursor)
        hf_value_set(object, HF_SLICE("cursor"), cursor);
    return hf_value_finish(object);
}

/* Commands are for the current run of an instance. */
static hf_value current_only(hf_mem *mem, hf_value filters)
{
    hf_value_list *object = hf_value_object(mem);
    hf_slice name;
    hf_value item;

    for (size_t i = 0; hf_value_member(filters, i, &name, &item); i++)
        if (!hf_slice_equal(name, HF_SLICE("is_current_run")))
            hf_value_set(object, name, item);
    hf_value_set(object, HF_SLICE("is_current_run"), hf_value_bool(true));
    return hf_value_finish(object);
}

static hf_value with_ids(hf_mem *mem, hf_value request, hf_value ids)
{
    hf_value_list *object = hf_value_object(mem);
    hf_slice name;
    hf_value item;

    for (size_t i = 0; hf_value_member(request, i, &name, &item); i++)
        hf_value_set(object, name, item);
    hf_value_set(object, HF_SLICE("workflow_ids"), ids);
    return hf_value_finish(object);
}

hf_status hf_batch_expand(hf_call *call, hf_value request, int64_t max, hf_mem *mem,
                          hf_value *out_request, hf_err *err)
{
    hf_value given = hf_value_find(request, HF_SLICE("filters"));
    hf_value_list *ids = hf_value_array(mem);
    hf_value filters;
    hf_value cursor = NULL;
    int64_t count = 0;
    bool more = true;
    hf_status st = HF_OK;

    if (hf_value_find(request, HF_SLICE("workflow_ids")))
        return hf_err_set(err, HF_INVALID, "a batch is over workflow_ids or over filters");
    if (given && hf_value_kind_of(given) != HF_VALUE_OBJECT)
        return hf_err_set(err, HF_INVALID, "filters must be an object");
    filters = current_only(mem, given);
    while (!st && more && count <= max) {
        hf_value page = NULL;
        hf_value items;

        hf_call_read_begin(call);
        st = hf_look_list(call->in.db, call->engine, call->in.namespace_key,
                          page_request(mem, request, filters, cursor), mem, &page, err);
        hf_call_read_end(call);
        items = hf_get(page, "items");
        for (size_t i = 0; !st && i < hf_len(items); i++, count++)
            hf_value_append(ids, hf_value_find(hf_at(items, i), HF_SLICE("instance_id")));
        cursor = hf_value_find(page, HF_SLICE("cursor"));
        more = hf_value_kind_of(cursor) == HF_VALUE_STRING;
    }
    if (st)
        return st;
    if (count > max)
        return hf_err_set(err, HF_INVALID, "the filter finds more than %lld runs: narrow it",
                          (long long)max);
    if (!count)
        return hf_err_set(err, HF_NOTFOUND, "the filter finds no run");
    *out_request = with_ids(mem, request, hf_value_finish(ids));
    return *out_request ? HF_OK : hf_err_nomem(err, "a batch");
}
