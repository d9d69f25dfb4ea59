/* limits.c: the defaults. They are those of docs/operate/server.md, which says why each is so. */
#include "http/limits.h"

static void size_fill(size_t *bound, size_t otherwise)
{
    if (*bound == 0)
        *bound = otherwise;
}

static void time_fill(int64_t *bound, int64_t otherwise)
{
    if (*bound == 0)
        *bound = otherwise;
}

void hf_http_limits_fill(hf_http_limits *limits)
{
    size_fill(&limits->target_bytes_max, 8 * 1024);
    size_fill(&limits->head_bytes_max, 16 * 1024);
    size_fill(&limits->fields_max, 64);
    size_fill(&limits->body_bytes_max, 2 * 1024 * 1024);
    size_fill(&limits->extension_bytes_max, 256);
    size_fill(&limits->bodies_bytes_max, 256 * 1024 * 1024);
    size_fill(&limits->connections_max, 16384);
    size_fill(&limits->address_max, 1024);
    size_fill(&limits->stream_bytes_max, 256 * 1024);
    size_fill(&limits->gzip_bytes_min, 1024);
    time_fill(&limits->head_ms, 10000);
    time_fill(&limits->idle_ms, 75000);
    time_fill(&limits->body_grace_ms, 10000);
    time_fill(&limits->rate_bytes, 1024);
    time_fill(&limits->linger_ms, 1000);
    time_fill(&limits->beat_ms, 15000);
}
