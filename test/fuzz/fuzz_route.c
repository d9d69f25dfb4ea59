/* fuzz_route.c: any target to the router: whatever fits a route decodes into parts that hold no
   slash, no NUL and no dot segment, or is refused; queries likewise. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "base/utf8.h"
#include "http/target.h"
#include "server/route.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void part_check(hf_slice part)
{
    HF_ASSERT(strlen(part.ptr) == part.len);
    HF_ASSERT(hf_utf8_valid(part));
    HF_ASSERT(!strpbrk(part.ptr, "/\\\r\n"));
    HF_ASSERT(strcmp(part.ptr, ".") != 0 && strcmp(part.ptr, "..") != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hf_mem *mem = hf_mem_new();
    hf_slice rest;
    hf_slice path;
    hf_http_params params;
    hf_http_query query;
    const hf_route *route;
    unsigned methods;

    HF_ASSERT(mem != NULL);
    if (size > 0) {
        rest = hf_slice_from(data + 1, size - 1);
        (void)hf_slice_split(&rest, '?', &path);
        route = hf_route_find((hf_http_method)(data[0] % HF_HTTP_METHODS), path, &methods);
        if (route && hf_http_path_params(mem, route->path, path, &params, NULL) == HF_OK)
            for (size_t i = 0; i < params.count; i++)
                part_check(params.values[i]);
        if (hf_http_query_read(mem, rest, &query, NULL) == HF_OK)
            for (size_t i = 0; i < query.count; i++)
                HF_ASSERT(strlen(query.pairs[i].name.ptr) == query.pairs[i].name.len &&
                          hf_utf8_valid(query.pairs[i].value));
    }
    hf_mem_free(mem);
    return 0;
}
