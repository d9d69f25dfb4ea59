/* reply.c: answers as bytes. Every answer carries its length, or is chunked, or ends the
   connection; it never leaves the end to be guessed. */
#include "http/reply.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/assert.h"

enum { GZIP_LEVEL = 1, GZIP_WINDOW = 15 + 16, GZIP_MEMORY = 8, DATE_BYTES = 64 };

typedef struct status_row {
    int status;
    const char *text;
} status_row;

static const status_row status_rows[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {302, "Found"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {426, "Upgrade Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "No Such Method"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
};

/* The usual reason of a status: "Not Found"; "Status" for one that has none. */
static const char *status_text(int status)
{
    for (size_t i = 0; i < sizeof(status_rows) / sizeof(status_rows[0]); i++)
        if (status_rows[i].status == status)
            return status_rows[i].text;
    return "Status";
}

void hf_http_reply_init(hf_http_reply *reply, int status)
{
    *reply = (hf_http_reply){.status = status, .type = "application/json"};
}

void hf_http_reply_fini(hf_http_reply *reply)
{
    hf_buf_fini(&reply->fields);
    hf_buf_fini(&reply->body);
}

void hf_http_reply_field(hf_http_reply *reply, const char *name, hf_slice value)
{
    hf_buf_add_text(&reply->fields, name);
    hf_buf_add_text(&reply->fields, ": ");
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];

        hf_buf_add_byte(&reply->fields, c < 0x20 || c >= 0x7f ? '?' : c);
    }
    hf_buf_add_text(&reply->fields, "\r\n");
}

static void *zlib_alloc(void *opaque, unsigned count, unsigned bytes)
{
    (void)opaque;
    return hf_alloc_array(count, bytes);
}

static void zlib_free(void *opaque, void *memory)
{
    (void)opaque;
    hf_alloc_free(memory);
}

/* Compresses into `out`; false when that failed or did not make it smaller. */
static bool body_gzip(hf_slice body, int level, hf_buf *out)
{
    z_stream stream = {.zalloc = zlib_alloc, .zfree = zlib_free};
    char *place = hf_buf_reserve(out, body.len);
    bool good = false;

    if (!place || body.len > UINT32_MAX)
        return false;
    if (deflateInit2(&stream, level ? level : GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    stream.next_in = (Bytef *)(uintptr_t)body.ptr; /* zlib only reads it */
    stream.avail_in = (uInt)body.len;
    stream.next_out = (Bytef *)place;
    stream.avail_out = (uInt)body.len;
    if (deflate(&stream, Z_FINISH) == Z_STREAM_END) {
        hf_buf_advance(out, body.len - stream.avail_out);
        good = true;
    }
    (void)deflateEnd(&stream);
    return good;
}

static void date_add(hf_buf *out, int64_t wall_us)
{
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t seconds = (time_t)(wall_us / 1000000);
    struct tm at;

    if (!gmtime_r(&seconds, &at))
        return;
    hf_buf_add_format(out, "Date: %s, %02d %s %04d %02d:%02d:%02d GMT\r\n", days[at.tm_wday],
                      at.tm_mday, months[at.tm_mon], at.tm_year + 1900, at.tm_hour, at.tm_min,
                      at.tm_sec);
}

static bool status_has_body(int status)
{
    return status >= 200 && status != 204 && status != 304;
}

static void head_add(const hf_http_reply *reply, const hf_http_render *how, size_t body_len,
                     bool gzip, hf_buf *out)
{
    hf_buf_add_format(out, "HTTP/1.1 %d %s\r\n", reply->status, status_text(reply->status));
    date_add(out, how->wall_us);
    if (reply->type && status_has_body(reply->status) && (body_len || how->stream))
        hf_buf_add_format(out, "Content-Type: %s\r\n", reply->type);
    if (how->stream) {
        if (how->minor == 1)
            hf_buf_add_text(out, "Transfer-Encoding: chunked\r\n");
    } else if (status_has_body(reply->status)) {
        hf_buf_add_format(out, "Content-Length: %zu\r\n", body_len);
    }
    if (gzip)
        hf_buf_add_text(out, "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n");
    hf_buf_add_text(out, "X-Content-Type-Options: nosniff\r\n");
    if (!how->keep_alive)
        hf_buf_add_text(out, "Connection: close\r\n");
    hf_buf_add_slice(out, hf_buf_slice(&reply->fields));
    hf_buf_add_text(out, "\r\n");
}

void hf_http_reply_render(hf_http_reply *reply, const hf_http_render *how, hf_buf *out_head,
                          hf_buf *out_body)
{
    hf_buf packed = {0};
    bool gzip = false;

    if (!hf_buf_ok(&reply->body) || !hf_buf_ok(&reply->fields)) {
        hf_http_reply_fini(reply);
        reply->status = 503;
    }
    if (how->accepts_gzip && !how->stream && !reply->secret &&
        reply->body.len >= how->gzip_bytes_min)
        gzip = body_gzip(hf_buf_slice(&reply->body), reply->gzip_level, &packed);
    head_add(reply, how, gzip ? packed.len : reply->body.len, gzip, out_head);
    hf_buf_fini(out_body);
    if (!how->head_only) {
        hf_buf *from = gzip ? &packed : &reply->body;

        *out_body = *from;
        hf_buf_init(from);
    }
    hf_buf_fini(&packed);
    hf_http_reply_fini(reply);
}
