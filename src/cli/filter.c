/* filter.c: see filter.h. Which names are filters is for whoever reads the list to say. */
#include "cli/filter.h"

#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "cli/command.h"

/* Filters in the making. */
typedef struct reading {
    hf_mem *mem;
    hf_value_list *filters;
    hf_value labels;
    hf_value attributes;
    const char *bucket;
    bool status; /* some word says it */
} reading;

static hf_status twice(const char *word, hf_err *err)
{
    return hf_err_set(err, HF_INVALID, "\"%s\" is given twice, or contradicts another filter",
                      word);
}

static hf_value object_of(hf_mem *mem, hf_slice name, hf_value item)
{
    hf_value_list *list = hf_value_object(mem);

    hf_value_set(list, name, item);
    return hf_value_finish(list);
}

/* A number or a boolean when it reads as one, else the text, as servers read it. */
static hf_value typed(hf_mem *mem, hf_slice text)
{
    hf_value value = NULL;

    if (!hf_json_read(mem, text, NULL, &value, NULL) &&
        (hf_value_kind_of(value) == HF_VALUE_INT || hf_value_kind_of(value) == HF_VALUE_DOUBLE ||
         hf_value_kind_of(value) == HF_VALUE_BOOL))
        return value;
    return hf_value_string(mem, text);
}

/* "NAME=VALUE" or "NAME>=VALUE". */
static bool pair_read(hf_slice text, hf_slice *out_name, hf_slice *out_sign, hf_slice *out_value)
{
    static const char *const signs[][2] = {
        {">=", "gte"}, {"<=", "lte"}, {">", "gt"}, {"<", "lt"}, {"=", ""}};

    for (size_t at = 0; at < text.len; at++)
        for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
            size_t len = strlen(signs[i][0]);

            if (text.len - at < len || memcmp(text.ptr + at, signs[i][0], len) != 0)
                continue;
            *out_name = hf_slice_from(text.ptr, at);
            *out_sign = hf_slice_of(signs[i][1]);
            *out_value = hf_slice_from(text.ptr + at + len, text.len - at - len);
            return at > 0;
        }
    return false;
}

/* "[NAME]" or "[NAME][gte]". */
static bool brackets_read(hf_slice text, hf_slice *out_name, hf_slice *out_sign)
{
    const char *end = memchr(text.ptr, ']', text.len);
    size_t len = end ? (size_t)(end - text.ptr) : 0;

    *out_sign = (hf_slice){0};
    if (text.len < 3 || text.ptr[0] != '[' || len < 2)
        return false;
    *out_name = hf_slice_from(text.ptr + 1, len - 1);
    if (len + 1 == text.len)
        return true;
    if (text.len < len + 4 || text.ptr[len + 1] != '[' || text.ptr[text.len - 1] != ']')
        return false;
    *out_sign = hf_slice_from(text.ptr + len + 2, text.len - len - 3);
    return true;
}

/* Adds a label or search attribute; `name` is what stands in front of the first '='. */
static hf_status member_add(reading *r, const char *word, hf_slice name, size_t stem, bool label,
                            hf_slice value, hf_err *err)
{
    hf_value *members = label ? &r->labels : &r->attributes;
    hf_slice rest = hf_slice_from(name.ptr + stem, name.len - stem);
    hf_slice key;
    hf_slice sign;
    hf_value before;
    hf_value item;

    if (!(rest.len ? brackets_read(rest, &key, &sign) : pair_read(value, &key, &sign, &value)) ||
        (label && sign.len))
        return hf_err_set(err, HF_INVALID, "\"%s\" is written %.*s=NAME=VALUE", word, (int)stem,
                          name.ptr);
    before = hf_value_find(*members, key);
    if (before &&
        (!sign.len || hf_value_kind_of(before) != HF_VALUE_OBJECT || hf_value_find(before, sign)))
        return twice(word, err);
    item = label ? hf_value_string(r->mem, value) : typed(r->mem, value);
    if (!item)
        return hf_err_set(err, HF_INVALID, "\"%s\" is not UTF-8 text", word);
    if (sign.len)
        item = hf_value_merge(r->mem, before, object_of(r->mem, sign, item));
    *members = hf_value_merge(r->mem, *members, object_of(r->mem, key, item));
    return *members ? HF_OK : hf_err_nomem(err, "a filter");
}

static bool stem_is(hf_slice name, hf_slice stem)
{
    return hf_slice_starts(name, stem) && (name.len == stem.len || name.ptr[stem.len] == '[');
}

static hf_status word_read(reading *r, const char *word, hf_err *err)
{
    static const char *const shorts[][2] = {{"type", "workflow_type"}, {"id", "instance_id"}};
    static const char buckets[] = "running completed failed cancelled terminated";
    const hf_slice label = HF_SLICE("label");
    const hf_slice attribute = HF_SLICE("search_attribute");
    hf_slice value = hf_slice_of(word);
    hf_slice name;
    hf_value text;

    (void)hf_slice_split(&value, '=', &name);
    if (!value.ptr) {
        value = name;
        name = HF_SLICE("instance_id_contains");
    }
    if (stem_is(name, label))
        return member_add(r, word, name, label.len, true, value, err);
    if (stem_is(name, attribute))
        return member_add(r, word, name, attribute.len, false, value, err);
    for (size_t k = 0; k < sizeof(shorts) / sizeof(shorts[0]); k++)
        if (hf_slice_equal(name, hf_slice_of(shorts[k][0])))
            name = hf_slice_of(shorts[k][1]);
    text = hf_value_string(r->mem, value);
    if (!text)
        return hf_err_set(err, HF_INVALID, "\"%s\" is not UTF-8 text", word);
    if (!hf_slice_equal(name, HF_SLICE("status"))) {
        hf_value_set(r->filters, name, text);
        return HF_OK;
    }
    if (r->status)
        return twice(word, err);
    r->status = true;
    if (hf_cli_choice(buckets, value))
        r->bucket = hf_mem_text(r->mem, value);
    else
        hf_value_set(r->filters, name, text);
    return HF_OK;
}

hf_status hf_cli_filters_read(hf_mem *mem, const char *const *words, size_t count,
                              hf_value *out_filters, const char **out_bucket, hf_err *err)
{
    reading r = {.mem = mem,
                 .filters = hf_value_object(mem),
                 .labels = hf_json_(mem, "{}"),
                 .attributes = hf_json_(mem, "{}")};
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < count; i++)
        st = word_read(&r, words[i], err);
    if (st)
        return st;
    if (hf_len(r.labels))
        hf_value_set(r.filters, HF_SLICE("labels"), r.labels);
    if (hf_len(r.attributes))
        hf_value_set(r.filters, HF_SLICE("search_attributes"), r.attributes);
    *out_bucket = r.bucket;
    *out_filters = hf_value_finish(r.filters);
    return *out_filters ? HF_OK
                        : hf_err_set(err, HF_INVALID, "a filter is given twice, or has no name");
}
