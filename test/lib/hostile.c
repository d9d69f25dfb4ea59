/* hostile.c: the list, and the corpus: one forbidden byte at every place of several good heads, and
   one bad line in every place between two lines. */
#include "lib/hostile.h"

#include <string.h>

typedef struct hostile_row {
    const char *name;
    const char *bytes;
    size_t len; /* 0: strlen */
} hostile_row;

#define GET  "GET /echo HTTP/1.1\r\nHost: a\r\n"
#define POST "POST /echo HTTP/1.1\r\nHost: a\r\n"
#define ROW(name, bytes)                                                                           \
    {                                                                                              \
        name, bytes, sizeof(bytes) - 1                                                             \
    }

static const hostile_row rows[] = {
    ROW("length with coding",
        POST "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ROW("two lengths", POST "Content-Length: 1\r\nContent-Length: 1\r\n\r\na"),
    ROW("list of lengths", POST "Content-Length: 1, 1\r\n\r\na"),
    ROW("signed length", POST "Content-Length: +1\r\n\r\na"),
    ROW("hexadecimal length", POST "Content-Length: 0x1\r\n\r\na"),
    ROW("overflowing length", POST "Content-Length: 18446744073709551617\r\n\r\na"),
    ROW("length without digits", POST "Content-Length: abc\r\n\r\na"),
    ROW("gzip, chunked", POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    ROW("chunked, identity", POST "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"),
    ROW("two codings",
        POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ROW("space before the colon", POST "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"),
    ROW("coding in 1.0",
        "POST /echo HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ROW("bare line feed", "GET /echo HTTP/1.1\nHost: a\n\n"),
    ROW("bare carriage return", GET "X: a\rY: b\r\n\r\n"),
    ROW("NUL in a field", GET "X: a\0b\r\n\r\n"),
    ROW("chunk size overflow", POST "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n"),
    ROW("chunk without terminator", POST "Transfer-Encoding: chunked\r\n\r\n1\r\naXX0\r\n\r\n"),
    ROW("folded line", GET "X: a\r\n b\r\n\r\n"),
    ROW("no host", "GET /echo HTTP/1.1\r\n\r\n"),
    ROW("two hosts", GET "Host: b\r\n\r\n"),
    ROW("empty name", GET ": a\r\n\r\n"),
    ROW("TLS on the plain port", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
    ROW("absolute form", "GET http://a/echo HTTP/1.1\r\nHost: a\r\n\r\n"),
    ROW("trailer", POST "Transfer-Encoding: chunked\r\n\r\n0\r\nX: a\r\n\r\n"),
    ROW("compressed body", POST "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\na"),
    ROW("version 2.0", "GET /echo HTTP/2.0\r\nHost: a\r\n\r\n"),
    ROW("no version", "GET /echo\r\n\r\n"),
    ROW("empty line first", "\r\n" GET "\r\n"),
    ROW("bad escape", "GET /echo?a=%G1 HTTP/1.1\r\nHost: a\r\n\r\n"),
    ROW("fragment", "GET /echo#a HTTP/1.1\r\nHost: a\r\n\r\n"),
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]), MADE = 4 };

static void repeat(hf_buf *out, const char *text, size_t times)
{
    for (size_t i = 0; i < times; i++)
        hf_buf_add_text(out, text);
}

/* The ones that are too long to write down. */
static const char *made_at(size_t i, hf_buf *out)
{
    switch (i) {
    case 0:
        hf_buf_add_text(out, GET "X: ");
        repeat(out, "aaaaaaaaaa", 10 * 1024);
        hf_buf_add_text(out, "\r\n\r\n");
        return "a 100 KB field";
    case 1:
        hf_buf_add_text(out, GET);
        repeat(out, "X: a\r\n", 10000);
        hf_buf_add_text(out, "\r\n");
        return "10,000 fields";
    case 2:
        hf_buf_add_text(out, "GET /");
        repeat(out, "aaaaaaaaaa", 10 * 1024);
        hf_buf_add_text(out, " HTTP/1.1\r\nHost: a\r\n\r\n");
        return "a 100 KB target";
    case 3:
        hf_buf_add_text(out, POST "Transfer-Encoding: chunked\r\n\r\n1;");
        repeat(out, "x=y;", 1000);
        hf_buf_add_text(out, "\r\na\r\n0\r\n\r\n");
        return "chunk extensions beyond the limit";
    }
    return NULL;
}

const char *hf_hostile_at(size_t i, hf_buf *out_bytes)
{
    if (i >= ROWS)
        return i < ROWS + MADE ? made_at(i - ROWS, out_bytes) : NULL;
    hf_buf_add(out_bytes, rows[i].bytes, rows[i].len);
    return rows[i].name;
}

static const char *const heads[] = {
    GET "\r\n",
    "POST /api/workflows?page=2&x=%20 HTTP/1.1\r\nHost: [::1]:7430\r\nContent-Length: 0\r\n"
    "Authorization: Bearer abc\r\nX-Namespace: default\r\n\r\n",
    "DELETE /a/b/c HTTP/1.1\r\nUser-Agent: x\r\nHost: localhost:80\r\nAccept: */*\r\n"
    "Accept-Encoding: gzip;q=1.0, *;q=0\r\nConnection: keep-alive\r\n\r\n",
};
static const char bad_bytes[] = {'\0', '\r', '\n', '\x01', '\x7f', '\x80', '\xff', '\x0b'};
static const char *const bad_lines[] = {
    " folded: a\r\n",
    "\tfolded: a\r\n",
    "no colon\r\n",
    ": no name\r\n",
    "Name : a\r\n",
    "Na me: a\r\n",
    "Na(me: a\r\n",
    "Transfer-Encoding: identity\r\n",
    "Transfer-Encoding: x\r\n",
    "Transfer-Encoding:\r\n",
    "Content-Length: 1x\r\n",
    "Content-Length: -1\r\n",
    "Content-Length:\r\n",
    "Content-Length: 1 1\r\n",
    "Host: b\r\n",
    "Host: a b\r\n",
    "Expect: 200-ok\r\n",
    "Content-Encoding: br\r\n",
    "Host: a/b\r\n",
    "Host: a:123456\r\n",
    "X: a\n",
    "X: a\r",
    "@: a\r\n",
    "[x]: a\r\n",
    "\xc3\xa4: a\r\n",
    "X: \xc3\xa4\r\n",
};
enum {
    HEADS = sizeof(heads) / sizeof(heads[0]),
    BYTES = sizeof(bad_bytes),
    LINES = sizeof(bad_lines) / sizeof(bad_lines[0])
};

static void splice(hf_buf *out, const char *text, size_t at, hf_slice piece)
{
    hf_buf_add(out, text, at);
    hf_buf_add_slice(out, piece);
    hf_buf_add_text(out, text + at);
}

/* Where line `n` of a head begins; 0 is the request line. False for the empty line and beyond. */
static bool line_start(const char *head, size_t n, size_t *out_at)
{
    const char *at = head;

    for (size_t i = 0; i < n; i++) {
        at = strstr(at, "\r\n");
        if (!at || !at[2])
            return false;
        at += 2;
    }
    *out_at = (size_t)(at - head);
    return true;
}

bool hf_hostile_malformed(size_t i, hf_buf *out_bytes)
{
    for (size_t head = 0; head < HEADS; head++) {
        size_t places = strlen(heads[head]) - 1; /* before its last byte it is still open */
        size_t at;

        if (i < places * BYTES) {
            splice(out_bytes, heads[head], i / BYTES, hf_slice_from(&bad_bytes[i % BYTES], 1));
            return true;
        }
        i -= places * BYTES;
        for (size_t line = 1; line_start(heads[head], line, &at); line++) {
            if (i < LINES) {
                splice(out_bytes, heads[head], at, hf_slice_of(bad_lines[i]));
                return true;
            }
            i -= LINES;
        }
    }
    return false;
}
