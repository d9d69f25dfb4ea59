/* request.c: see request.h. */
#include "http/request.h"

#include <string.h>

#include "base/assert.h"

static const char *const method_texts[] = {
    [HF_HTTP_GET] = "GET",        [HF_HTTP_HEAD] = "HEAD",   [HF_HTTP_POST] = "POST",
    [HF_HTTP_PUT] = "PUT",        [HF_HTTP_PATCH] = "PATCH", [HF_HTTP_DELETE] = "DELETE",
    [HF_HTTP_OPTIONS] = "OPTIONS"};

const char *hf_http_method_text(hf_http_method method)
{
    HF_ASSERT(method < HF_HTTP_METHODS);
    return method_texts[method];
}

unsigned char hf_http_lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c + ('a' - 'A')) : c;
}

bool hf_http_text_is(hf_slice text, const char *word)
{
    size_t len = strlen(word);

    if (text.len != len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (hf_http_lower((unsigned char)text.ptr[i]) != (unsigned char)word[i])
            return false;
    return true;
}

hf_slice hf_http_request_part(const hf_http_request *request, uint32_t at, uint32_t len)
{
    return hf_slice_from(request->head.ptr + at, len);
}

hf_slice hf_http_request_path(const hf_http_request *request)
{
    return hf_http_request_part(request, request->target_at, request->path_len);
}

hf_slice hf_http_request_query(const hf_http_request *request)
{
    if (request->path_len == request->target_len)
        return (hf_slice){0};
    return hf_http_request_part(request, request->target_at + request->path_len + 1,
                                request->target_len - request->path_len - 1);
}

bool hf_http_request_field(const hf_http_request *request, const char *name, hf_slice *out_value)
{
    hf_slice wanted = hf_slice_of(name);
    const hf_http_field *found = NULL;

    *out_value = (hf_slice){0};
    for (uint32_t i = 0; i < request->field_count; i++) {
        const hf_http_field *field = &request->fields[i];

        if (!hf_slice_equal(hf_http_request_part(request, field->name_at, field->name_len), wanted))
            continue;
        if (found)
            return false;
        found = field;
    }
    if (!found)
        return false;
    *out_value = hf_http_request_part(request, found->value_at, found->value_len);
    return true;
}

bool hf_http_request_lists(const hf_http_request *request, const char *name, const char *word)
{
    hf_slice wanted = hf_slice_of(name);

    for (uint32_t i = 0; i < request->field_count; i++) {
        const hf_http_field *field = &request->fields[i];
        hf_slice rest;
        hf_slice part;

        if (!hf_slice_equal(hf_http_request_part(request, field->name_at, field->name_len), wanted))
            continue;
        rest = hf_http_request_part(request, field->value_at, field->value_len);
        while (hf_slice_split(&rest, ',', &part)) {
            hf_slice weight = part;
            hf_slice bare;

            if (!hf_slice_split(&weight, ';', &bare) || !hf_http_text_is(hf_slice_trim(bare), word))
                continue;
            weight = hf_slice_trim(weight);
            if (weight.len < 3 || memcmp(weight.ptr, "q=0", 3) != 0)
                return true;
            for (size_t at = 3; at < weight.len; at++)
                if (weight.ptr[at] != '.' && weight.ptr[at] != '0')
                    return true;
        }
    }
    return false;
}
