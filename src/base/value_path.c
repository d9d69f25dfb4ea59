/* value_path.c: the public way to read values: by path, with an answer for what is missing. Must
   never fail: a wrong path, a wrong kind and no value all give the caller's `otherwise`. */
#include "holdfast/value.h"

#include "base/slice.h"
#include "base/value_node.h"

static hf_value value_step(hf_value value, hf_slice part)
{
    int64_t position;

    if (value->kind == HF_VALUE_OBJECT)
        return hf_value_find(value, part);
    if (value->kind != HF_VALUE_ARRAY || !hf_slice_int(part, &position) || position < 0)
        return NULL;
    return hf_at(value, (size_t)position);
}

hf_value hf_get(hf_value value, const char *path)
{
    hf_slice rest = hf_slice_of(path);
    hf_slice part;

    if (rest.len == 0)
        return value;
    while (value && hf_slice_split(&rest, '.', &part))
        value = value_step(value, part);
    return value;
}

const char *hf_str(hf_value value, const char *path, const char *otherwise)
{
    hf_value found = hf_get(value, path);

    return found && found->kind == HF_VALUE_STRING ? found->as.text : otherwise;
}

int64_t hf_int(hf_value value, const char *path, int64_t otherwise)
{
    hf_value found = hf_get(value, path);

    if (found && found->kind == HF_VALUE_INT)
        return found->as.integer;
    /* -2^63 and 2^63 are exact doubles, so this test keeps the conversion in range. */
    if (found && found->kind == HF_VALUE_DOUBLE && found->as.number >= -0x1p63 &&
        found->as.number < 0x1p63 && (double)(int64_t)found->as.number == found->as.number)
        return (int64_t)found->as.number;
    return otherwise;
}

int64_t hf_value_seconds_ms(hf_value value, const char *path, int64_t otherwise)
{
    const int64_t most = INT64_MAX / 1000;
    int64_t seconds = hf_int(value, path, otherwise);

    return 1000 * (seconds > most ? most : seconds < -most ? -most : seconds);
}

double hf_num(hf_value value, const char *path, double otherwise)
{
    hf_value found = hf_get(value, path);

    if (found && found->kind == HF_VALUE_DOUBLE)
        return found->as.number;
    return found && found->kind == HF_VALUE_INT ? (double)found->as.integer : otherwise;
}

bool hf_bool(hf_value value, const char *path, bool otherwise)
{
    hf_value found = hf_get(value, path);

    if (found && found->kind == HF_VALUE_BOOL)
        return found->as.boolean;
    if (found && found->kind == HF_VALUE_INT && (found->as.integer == 0 || found->as.integer == 1))
        return found->as.integer == 1;
    return otherwise;
}

size_t hf_len(hf_value value)
{
    hf_value_kind kind = hf_value_kind_of(value);

    if (kind == HF_VALUE_STRING || kind == HF_VALUE_ARRAY || kind == HF_VALUE_OBJECT)
        return value->len;
    return 0;
}

hf_value hf_at(hf_value value, size_t i)
{
    hf_value_kind kind = hf_value_kind_of(value);

    if ((kind != HF_VALUE_ARRAY && kind != HF_VALUE_OBJECT) || i >= value->len)
        return NULL;
    return kind == HF_VALUE_ARRAY ? &value->as.items[i] : &value->as.items[2 * i + 1];
}
