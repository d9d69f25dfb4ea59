/* api_page.c: the console's page and its files. Every address below /console/ that is no file is
   the page, which finds out itself where it is; names of files have their hash in them and may be
   kept for ever. Works behind any path that a proxy puts in front: nothing here is absolute. Below
   /console/api/ there are no pages. */
#include <string.h>
#include <zlib.h>

#include "server/console.h"
#include "server/handlers.h"

enum { DEPTH_MAX = 16, GZIP_WINDOW = 15 + 16 };

#define CONSOLE "/console/"
#define POLICY                                                                                     \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "                    \
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

static void headers_add(hf_api *api, const char *cache)
{
    const struct {
        const char *name;
        const char *value;
    } fields[] = {{"Content-Security-Policy", POLICY},
                  {"Referrer-Policy", "no-referrer"},
                  {"Cross-Origin-Opener-Policy", "same-origin"},
                  {"Cross-Origin-Resource-Policy", "same-origin"},
                  {"Cache-Control", cache}};

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        hf_http_reply_field(&api->reply, fields[i].name, hf_slice_of(fields[i].value));
    api->cached = true;
}

void hf_api_page_root(hf_api *api)
{
    headers_add(api, "no-cache");
    api->reply.status = 302;
    hf_http_reply_field(&api->reply, "Location", HF_SLICE("console/"));
}

static const hf_console_file *file_find(hf_slice name)
{
    for (size_t i = 0; i < hf_console_file_count; i++)
        if (hf_slice_equal(name, hf_slice_of(hf_console_files[i].name)))
            return &hf_console_files[i];
    return NULL;
}

/* For those who do not take gzip; false: memory ran out. */
static bool unpacked_add(hf_buf *out, const hf_console_file *file)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)file->packed.ptr, /* zlib only reads it */
                       .avail_in = (uInt)file->packed.len};
    char *place = hf_buf_reserve(out, file->bytes);

    bool good = false;

    if (!place || inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
        return false;
    stream.next_out = (Bytef *)place;
    stream.avail_out = (uInt)file->bytes;
    good = inflate(&stream, Z_FINISH) == Z_STREAM_END;
    if (good)
        hf_buf_advance(out, file->bytes);
    (void)inflateEnd(&stream);
    return good;
}

static void file_answer(hf_api *api, const hf_console_file *file)
{
    const char *tag = hf_mem_format(api->mem, "\"%s\"", file->name);
    hf_slice known;

    headers_add(api, "public, max-age=31536000, immutable");
    hf_http_reply_field(&api->reply, "ETag", hf_slice_of(tag ? tag : ""));
    hf_http_reply_field(&api->reply, "Vary", HF_SLICE("Accept-Encoding"));
    api->reply.type = file->type;
    api->reply.secret = true; /* compressed already, or not wanted so */
    if (tag && hf_http_request_field(api->request, "if-none-match", &known) &&
        hf_slice_equal(known, hf_slice_of(tag))) {
        api->reply.status = 304;
    } else if (hf_http_request_lists(api->request, "accept-encoding", "gzip")) {
        hf_http_reply_field(&api->reply, "Content-Encoding", HF_SLICE("gzip"));
        hf_buf_add_slice(&api->reply.body, file->packed);
    } else if (!unpacked_add(&api->reply.body, file)) {
        hf_api_error(api, 503, "overloaded", "Memory ran out.");
    }
}

/* The page, for an address that is `depth` folders below /console/. */
static void page_answer(hf_api *api, size_t depth)
{
    hf_slice rest = hf_console_page;
    const char *up;

    headers_add(api, "no-cache");
    api->reply.type = "text/html; charset=utf-8";
    while (
        (up = memchr(rest.ptr, '{', rest.len)) &&
        hf_slice_starts(hf_slice_from(up, rest.len - (size_t)(up - rest.ptr)), HF_SLICE("{up}"))) {
        size_t before = (size_t)(up - rest.ptr);

        hf_buf_add(&api->reply.body, rest.ptr, before);
        for (size_t i = 0; i < depth; i++)
            hf_buf_add_text(&api->reply.body, "../");
        rest = hf_slice_from(up + 4, rest.len - before - 4);
    }
    hf_buf_add_slice(&api->reply.body, rest);
}

void hf_api_page(hf_api *api)
{
    hf_slice path = hf_http_request_path(api->request);
    hf_slice name = hf_slice_from(path.ptr + strlen(CONSOLE), path.len - strlen(CONSOLE));
    const hf_console_file *file = file_find(name);
    size_t depth = 0;

    for (size_t i = 0; i < name.len; i++)
        depth += name.ptr[i] == '/';
    if (file)
        file_answer(api, file);
    else if (depth > DEPTH_MAX)
        hf_api_error(api, 404, "not_found", "There is no such resource.");
    else
        page_answer(api, depth);
}
