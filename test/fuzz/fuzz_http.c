/* fuzz_http.c: any bytes to the request parser. However they are cut the outcome is the same, what
   is accepted keeps every promise of request.h, and nothing exceeds its limit. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "http/parser.h"
#include "http/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Feeds at most `piece` bytes at once; returns how it ended and how much it took. */
static hf_http_progress parse(hf_http_parser *parser, const hf_http_limits *limits, hf_slice bytes,
                              size_t piece, size_t *out_at)
{
    hf_http_progress progress = HF_HTTP_MORE;
    size_t at = 0;

    hf_http_parser_reset(parser, limits);
    while (progress == HF_HTTP_HEAD_IN || (progress == HF_HTTP_MORE && at < bytes.len)) {
        size_t left = bytes.len - at;
        size_t taken = 0;

        progress = hf_http_parser_feed(
            parser, hf_slice_from(bytes.ptr + at, left < piece ? left : piece), &taken);
        HF_ASSERT(taken <= left);
        at += taken;
    }
    *out_at = at;
    return progress;
}

static void request_check(const hf_http_request *request, const hf_http_limits *limits)
{
    hf_slice path = hf_http_request_path(request);
    hf_http_query query;
    hf_http_params params;
    hf_mem *mem = hf_mem_new();
    hf_slice value;

    HF_ASSERT(mem != NULL);
    HF_ASSERT(request->head.len <= limits->head_bytes_max);
    HF_ASSERT(request->body.len <= limits->body_bytes_max);
    HF_ASSERT(request->field_count <= limits->fields_max);
    HF_ASSERT(path.len >= 1 && path.ptr[0] == '/');
    HF_ASSERT(!memchr(request->head.ptr, '\0', request->head.len));
    HF_ASSERT(request->minor == 0 || hf_http_request_field(request, "host", &value));
    (void)hf_http_request_lists(request, "accept-encoding", "gzip");
    if (hf_http_query_read(mem, hf_http_request_query(request), &query, NULL) == HF_OK)
        for (size_t i = 0; i < query.count; i++)
            HF_ASSERT(strlen(query.pairs[i].value.ptr) == query.pairs[i].value.len);
    if (hf_http_path_fits("/api/{a}/{b}", path) &&
        hf_http_path_params(mem, "/api/{a}/{b}", path, &params, NULL) == HF_OK)
        HF_ASSERT(params.count == 2 && !strchr(params.values[0].ptr, '/'));
    hf_mem_free(mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hf_http_limits limits = {
        .target_bytes_max = 512, .head_bytes_max = 2048, .body_bytes_max = 4096};
    hf_http_parser whole = {0};
    hf_http_parser pieces = {0};
    hf_http_progress progress;
    size_t taken;
    size_t again;

    if (size < 1)
        return 0;
    hf_http_limits_fill(&limits);
    progress = parse(&whole, &limits, hf_slice_from(data + 1, size - 1), size, &taken);
    HF_ASSERT(parse(&pieces, &limits, hf_slice_from(data + 1, size - 1), 1 + data[0] % 16U,
                    &again) == progress);
    HF_ASSERT(whole.status == pieces.status);
    HF_ASSERT(progress == HF_HTTP_REFUSED || taken == again);
    HF_ASSERT(progress != HF_HTTP_REFUSED || (whole.status >= 400 && whole.reason));
    HF_ASSERT(
        hf_slice_equal(hf_buf_slice(&whole.request.body), hf_buf_slice(&pieces.request.body)));
    if (progress == HF_HTTP_WHOLE)
        request_check(&whole.request, &limits);
    hf_http_parser_fini(&whole);
    hf_http_parser_fini(&pieces);
    return 0;
}
