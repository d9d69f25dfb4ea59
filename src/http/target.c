/* target.c: cutting first, decoding afterwards, each exactly once. */
#include "http/target.h"

#include <string.h>

#include "base/assert.h"
#include "base/utf8.h"

/* Takes the next segment of *rest, which begins with a slash; false at the end. */
static bool segment_take(hf_slice *rest, hf_slice *out_segment)
{
    const char *end;
    size_t len;

    if (rest->len == 0)
        return false;
    HF_ASSERT(rest->ptr[0] == '/');
    end = memchr(rest->ptr + 1, '/', rest->len - 1);
    len = end ? (size_t)(end - rest->ptr) : rest->len;
    *out_segment = hf_slice_from(rest->ptr + 1, len - 1);
    *rest = hf_slice_from(rest->ptr + len, rest->len - len);
    return true;
}

static bool segment_is_param(hf_slice segment)
{
    return segment.len > 2 && segment.ptr[0] == '{';
}

static bool segment_is_rest(hf_slice segment)
{
    return hf_slice_equal(segment, HF_SLICE("*"));
}

bool hf_http_path_fits(const char *pattern, hf_slice path)
{
    hf_slice wanted = hf_slice_of(pattern);
    hf_slice want;
    hf_slice have;

    if (path.len == 0 || path.ptr[0] != '/')
        return false;
    while (segment_take(&wanted, &want)) {
        if (!segment_take(&path, &have))
            return false;
        if (segment_is_rest(want))
            return true;
        if (segment_is_param(want) ? have.len == 0 : !hf_slice_equal(want, have))
            return false;
    }
    return path.len == 0;
}

/* Where a text stands, which says what plus signs and the ends of lines mean there. */
typedef enum text_place { PLACE_PATH, PLACE_QUERY, PLACE_FORM } text_place;

/* A decoded copy with a NUL behind it. */
static hf_status text_decode(hf_mem *mem, hf_slice text, text_place place, hf_slice *out_text,
                             hf_err *err)
{
    char *out = hf_mem_bytes(mem, text.len + 1);
    size_t len = 0;

    if (!out)
        return hf_err_nomem(err, "a decoded text");
    for (size_t i = 0; i < text.len; i++) {
        int c = (unsigned char)text.ptr[i];

        if (c == '%') {
            int high = i + 2 < text.len ? hf_hex_digit(text.ptr[i + 1]) : -1;
            int low = i + 2 < text.len ? hf_hex_digit(text.ptr[i + 2]) : -1;

            if (high < 0 || low < 0)
                return hf_err_set(err, HF_INVALID, "a percent sign is not followed by two digits");
            c = high * 16 + low;
            i += 2;
        } else if (c == '+' && place != PLACE_PATH) {
            c = ' ';
        }
        if (c == '\r' && place == PLACE_FORM)
            continue; /* browsers end lines with both */
        if ((c < 0x20 || c == 0x7f) && (place != PLACE_FORM || (c != '\n' && c != '\t')))
            return hf_err_set(err, HF_INVALID, "a control character is hidden in the target");
        out[len++] = (char)c;
    }
    out[len] = '\0';
    *out_text = hf_slice_from(out, len);
    if (!hf_utf8_valid(*out_text))
        return hf_err_set(err, HF_INVALID, "the target is not UTF-8");
    return HF_OK;
}

/* Segments that stay as they are: no page has two names, so none may lead up. */
static hf_status rest_check(hf_mem *mem, hf_slice path, hf_err *err)
{
    hf_slice have;
    hf_slice text;

    while (segment_take(&path, &have)) {
        hf_status st = text_decode(mem, have, PLACE_PATH, &text, err);

        if (st)
            return st;
        if (hf_slice_equal(text, HF_SLICE(".")) || hf_slice_equal(text, HF_SLICE("..")))
            return hf_err_set(err, HF_INVALID, "a part of the path is a path itself");
    }
    return HF_OK;
}

hf_status hf_http_path_params(hf_mem *mem, const char *pattern, hf_slice path,
                              hf_http_params *out_params, hf_err *err)
{
    hf_slice wanted = hf_slice_of(pattern);
    hf_slice want;
    hf_slice have;

    *out_params = (hf_http_params){0};
    while (segment_take(&wanted, &want)) {
        hf_slice *value = &out_params->values[out_params->count];
        hf_status st;

        if (segment_is_rest(want))
            return rest_check(mem, path, err);
        if (!segment_take(&path, &have))
            return HF_OK;
        if (!segment_is_param(want))
            continue;
        HF_ASSERT(out_params->count < HF_HTTP_PARAMS_MAX);
        st = text_decode(mem, have, PLACE_PATH, value, err);
        if (st)
            return st;
        if (memchr(value->ptr, '/', value->len) || memchr(value->ptr, '\\', value->len) ||
            hf_slice_equal(*value, HF_SLICE(".")) || hf_slice_equal(*value, HF_SLICE("..")))
            return hf_err_set(err, HF_INVALID, "a part of the path is a path itself");
        out_params->count++;
    }
    return HF_OK;
}

/* How many there may be. */
static size_t pairs_most(hf_slice text)
{
    size_t most = 1;

    for (size_t i = 0; i < text.len && most < HF_HTTP_PAIRS_MAX; i++)
        most += text.ptr[i] == '&';
    return most;
}

static hf_status pairs_read(hf_mem *mem, hf_slice text, text_place place, hf_http_query *out_query,
                            hf_err *err)
{
    hf_slice pair;

    *out_query = (hf_http_query){0};
    if (text.len == 0)
        return HF_OK;
    out_query->pairs = hf_mem_array(mem, pairs_most(text), sizeof(*out_query->pairs));
    if (!out_query->pairs)
        return hf_err_nomem(err, "a query");
    while (hf_slice_split(&text, '&', &pair)) {
        hf_slice value = pair;
        hf_slice name;
        hf_status st;

        if (pair.len == 0)
            continue;
        if (out_query->count == HF_HTTP_PAIRS_MAX)
            return hf_err_set(err, HF_INVALID, "the query has over %d pairs", HF_HTTP_PAIRS_MAX);
        (void)hf_slice_split(&value, '=', &name);
        st = text_decode(mem, name, place, &out_query->pairs[out_query->count].name, err);
        if (!st)
            st = text_decode(mem, value, place, &out_query->pairs[out_query->count].value, err);
        if (st)
            return st;
        out_query->count++;
    }
    return HF_OK;
}

hf_status hf_http_query_read(hf_mem *mem, hf_slice text, hf_http_query *out_query, hf_err *err)
{
    return pairs_read(mem, text, PLACE_QUERY, out_query, err);
}

hf_status hf_http_form_read(hf_mem *mem, hf_slice text, hf_http_query *out_form, hf_err *err)
{
    return pairs_read(mem, text, PLACE_FORM, out_form, err);
}

bool hf_http_query_find(const hf_http_query *query, const char *name, hf_slice *out_value)
{
    hf_slice wanted = hf_slice_of(name);
    size_t found = 0;

    *out_value = (hf_slice){0};
    for (size_t i = 0; i < query->count; i++)
        if (hf_slice_equal(query->pairs[i].name, wanted)) {
            *out_value = query->pairs[i].value;
            found++;
        }
    if (found != 1)
        *out_value = (hf_slice){0};
    return found == 1;
}
