/* metadata.c: see metadata.h. */
#include "model/metadata.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/utf8.h"
#include "base/value.h"
#include "model/name.h"

/* One kind of metadata and its bounds. */
typedef struct meta_kind {
    hf_limit size; /* of all as JSON */
    hf_limit total;
    hf_limit keys;
} meta_kind;

static const meta_kind memo_kind = {HF_LIMIT_MEMO_SIZE_BYTES, HF_LIMIT_MEMO_TOTAL_BYTES,
                                    HF_LIMIT_MEMO_KEYS};
static const meta_kind attribute_kind = {HF_LIMIT_SEARCH_ATTRIBUTE_SIZE_BYTES,
                                         HF_LIMIT_SEARCH_ATTRIBUTE_TOTAL_BYTES,
                                         HF_LIMIT_SEARCH_ATTRIBUTE_KEYS};

static bool limit_breaks(hf_limit limit, int64_t value, hf_limit *out_limit, int64_t *out_value)
{
    if (*out_limit || !hf_limit_trips(limit, hf_limit_get(limit)->standard, value))
        return false;
    *out_limit = limit;
    *out_value = value;
    return true;
}

/* A search attribute is one value, or a list of texts. */
static bool attribute_fits(hf_value value)
{
    hf_value_kind kind = hf_value_kind_of(value);

    if (kind == HF_VALUE_OBJECT || kind == HF_VALUE_BYTES)
        return false;
    for (size_t i = 0; kind == HF_VALUE_ARRAY && i < hf_len(value); i++)
        if (hf_value_kind_of(hf_at(value, i)) != HF_VALUE_STRING)
            return false;
    return true;
}

/* Keys of a memo, at every level. */
static hf_status keys_check(hf_value value, hf_err *err)
{
    hf_status st = HF_OK;
    hf_slice key;
    hf_value item;

    for (size_t i = 0; !st && i < hf_len(value) && hf_value_kind_of(value) == HF_VALUE_ARRAY; i++)
        st = keys_check(hf_at(value, i), err);
    for (size_t i = 0; !st && hf_value_member(value, i, &key, &item); i++) {
        st = hf_name_check(HF_NAME_MEMO_KEY, key, err);
        if (!st)
            st = keys_check(item, err);
    }
    return st;
}

/* A text is what lists are filtered by, so that it can be stored, shown and asked for. */
static hf_status attribute_texts_check(hf_value item, hf_err *err)
{
    hf_status st = HF_OK;

    if (hf_value_kind_of(item) == HF_VALUE_STRING)
        return hf_name_check_text("value", hf_value_slice(item), err);
    for (size_t i = 0; !st && i < hf_len(item); i++)
        st = hf_name_check_text("value", hf_value_slice(hf_at(item, i)), err);
    return st;
}

static hf_status entry_check(bool attributes, hf_slice key, hf_value item, hf_err *err)
{
    hf_status st =
        hf_name_check(attributes ? HF_NAME_SEARCH_ATTRIBUTE_KEY : HF_NAME_MEMO_KEY, key, err);

    if (!st && !attributes)
        st = keys_check(item, err);
    if (!st && attributes && !attribute_fits(item))
        st = hf_err_set(err, HF_INVALID,
                        "the search attribute %.*s is neither one value nor a list of texts",
                        (int)key.len, key.ptr);
    if (!st && attributes)
        st = hf_err_because(err, attribute_texts_check(item, err), "the search attribute %.*s",
                            (int)key.len, key.ptr);
    return st;
}

static void keyword_measure(hf_value text, hf_limit *out_limit, int64_t *out_value)
{
    (void)limit_breaks(HF_LIMIT_SEARCH_ATTRIBUTE_KEYWORD,
                       (int64_t)hf_utf8_count(hf_value_slice(text)), out_limit, out_value);
}

/* A text in a list is a keyword; one by itself is a string unless it is registered as a keyword. */
static hf_status attribute_measure(const hf_metadata_types *types, hf_slice key, hf_value item,
                                   hf_limit *out_limit, int64_t *out_value, hf_err *err)
{
    hf_limit over = (hf_limit)0;
    int64_t length = 0;
    bool keyword = false;
    hf_status st = HF_OK;

    for (size_t i = 0; hf_value_kind_of(item) == HF_VALUE_ARRAY && i < hf_len(item); i++)
        keyword_measure(hf_at(item, i), out_limit, out_value);
    if (hf_value_kind_of(item) != HF_VALUE_STRING)
        return HF_OK;
    (void)limit_breaks(HF_LIMIT_SEARCH_ATTRIBUTE_STRING,
                       (int64_t)hf_utf8_count(hf_value_slice(item)), out_limit, out_value);
    keyword_measure(item, &over, &length);
    if (over && types)
        st = types->keyword(types->ctx, key, &keyword, err);
    if (keyword)
        keyword_measure(item, out_limit, out_value);
    return st;
}

static hf_status memo_measure(hf_value item, hf_limit *out_limit, int64_t *out_value, hf_err *err)
{
    hf_buf text = {0};
    hf_status st = HF_OK;

    hf_json_write_canonical(&text, item);
    if (hf_buf_ok(&text))
        (void)limit_breaks(HF_LIMIT_MEMO_ENTRY_BYTES, (int64_t)text.len, out_limit, out_value);
    else
        st = hf_err_nomem(err, "metadata");
    hf_buf_fini(&text);
    return st;
}

static hf_status object_read(hf_mem *mem, hf_slice text, hf_value *out_value, hf_err *err)
{
    hf_status st = HF_OK;

    *out_value = NULL;
    if (text.ptr)
        st = hf_json_read(mem, text, NULL, out_value, err);
    if (!st && *out_value && hf_value_kind_of(*out_value) != HF_VALUE_OBJECT)
        st = hf_err_set(err, HF_INVALID, "metadata is an object");
    return st;
}

hf_status hf_metadata_merge(hf_mem *mem, bool attributes, const hf_metadata_types *types,
                            hf_slice current, hf_slice entries, hf_slice *out_merged,
                            hf_limit *out_limit, int64_t *out_value, hf_err *err)
{
    const meta_kind *kind = attributes ? &attribute_kind : &memo_kind;
    hf_value_list *list = hf_value_object(mem);
    hf_value before = NULL;
    hf_value change = NULL;
    hf_value merged;
    hf_buf text = {0};
    hf_slice key;
    hf_value item;
    int64_t count = 0;
    hf_status st = object_read(mem, current, &before, err);

    *out_limit = (hf_limit)0;
    if (!st)
        st = object_read(mem, entries, &change, err);
    for (size_t i = 0; !st && hf_value_member(before, i, &key, &item); i++) {
        if (!hf_value_find(change, key)) {
            hf_value_set(list, key, item);
            count++;
        }
    }
    for (size_t i = 0; !st && hf_value_member(change, i, &key, &item); i++) {
        st = entry_check(attributes, key, item, err);
        if (st || hf_value_kind_of(item) == HF_VALUE_NULL)
            continue;
        st = attributes ? attribute_measure(types, key, item, out_limit, out_value, err)
                        : memo_measure(item, out_limit, out_value, err);
        hf_value_set(list, key, item);
        count++;
    }
    if (st)
        return st;
    merged = hf_value_finish(list);
    hf_json_write_canonical(&text, merged);
    *out_merged = hf_slice_from(
        merged && hf_buf_ok(&text) ? hf_mem_text(mem, hf_buf_slice(&text)) : NULL, text.len);
    hf_buf_fini(&text);
    if (!out_merged->ptr)
        return hf_err_nomem(err, "metadata");
    (void)limit_breaks(kind->keys, count, out_limit, out_value);
    (void)limit_breaks(kind->size, (int64_t)out_merged->len, out_limit, out_value);
    (void)limit_breaks(kind->total, (int64_t)out_merged->len, out_limit, out_value);
    return HF_OK;
}
