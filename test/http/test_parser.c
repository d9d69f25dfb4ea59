/* test_parser.c: what the parser accepts, what it refuses, and that it does not matter how the
   bytes are cut. */
#include <string.h>

#include "base/fault.h"
#include "base/rng.h"
#include "http/parser.h"
#include "lib/hostile.h"
#include "lib/suite.h"

static hf_http_limits limits_default(void)
{
    hf_http_limits limits = {0};

    hf_http_limits_fill(&limits);
    return limits;
}

/* Feeds everything, at most `piece` bytes at once, until the request is whole or refused. */
static hf_http_progress feed_all(hf_http_parser *parser, hf_slice bytes, size_t piece)
{
    hf_http_progress progress = HF_HTTP_MORE;
    size_t at = 0;

    while (progress == HF_HTTP_MORE || progress == HF_HTTP_HEAD_IN) {
        size_t left = bytes.len - at;
        size_t taken = 0;

        if (left == 0 && progress == HF_HTTP_MORE)
            break;
        progress = hf_http_parser_feed(
            parser, hf_slice_from(bytes.ptr + at, left < piece ? left : piece), &taken);
        ck_assert_uint_le(taken, left);
        at += taken;
    }
    return progress;
}

static hf_http_progress parse(hf_http_parser *parser, const hf_http_limits *limits, hf_slice bytes,
                              size_t piece)
{
    hf_http_parser_reset(parser, limits);
    return feed_all(parser, bytes, piece);
}

static void slice_is(hf_slice have, const char *want)
{
    ck_assert_msg(hf_slice_equal(have, hf_slice_of(want)), "\"%.*s\" is not \"%s\"", (int)have.len,
                  have.ptr, want);
}

/* A request with everything comes out the same however it is cut. */
START_TEST(reads_a_request)
{
    static const char text[] = "POST /api/x%20y?a=1&b HTTP/1.1\r\nHost: Example.org:80\r\n"
                               "X-Two: \t a b \t\r\nContent-Length: 5\r\nEmpty:\r\n\r\nhello";
    hf_http_limits limits = limits_default();
    hf_http_parser parser = {0};
    hf_slice value;

    for (size_t piece = 1; piece <= sizeof(text); piece++) {
        const hf_http_request *request = &parser.request;

        ck_assert_int_eq(parse(&parser, &limits, hf_slice_from(text, sizeof(text) - 1), piece),
                         HF_HTTP_WHOLE);
        ck_assert_int_eq(request->method, HF_HTTP_POST);
        slice_is(hf_http_request_path(request), "/api/x%20y");
        slice_is(hf_http_request_query(request), "a=1&b");
        ck_assert(hf_http_request_field(request, "host", &value));
        slice_is(value, "Example.org:80");
        ck_assert(hf_http_request_field(request, "x-two", &value));
        slice_is(value, "a b");
        ck_assert(hf_http_request_field(request, "empty", &value));
        ck_assert_uint_eq(value.len, 0);
        ck_assert(!hf_http_request_field(request, "absent", &value));
        slice_is(hf_buf_slice(&request->body), "hello");
        ck_assert(request->keep_alive);
    }
    hf_http_parser_fini(&parser);
}
END_TEST

/* Chunks become one body; extensions within the limit are ignored. */
START_TEST(reads_chunks)
{
    static const char text[] = "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
                               "5\r\nhello\r\n1;a=b\r\n \r\n00000005;x\r\nworld\r\n0\r\n\r\n";
    hf_http_limits limits = limits_default();
    hf_http_parser parser = {0};

    for (size_t piece = 1; piece <= sizeof(text); piece++) {
        ck_assert_int_eq(parse(&parser, &limits, hf_slice_from(text, sizeof(text) - 1), piece),
                         HF_HTTP_WHOLE);
        slice_is(hf_buf_slice(&parser.request.body), "hello world");
    }
    hf_http_parser_fini(&parser);
}
END_TEST

/* Bytes behind a request are not taken. */
START_TEST(stops_at_the_end_of_a_request)
{
    static const char text[] =
        "GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n";
    hf_http_limits limits = limits_default();
    hf_http_parser parser = {0};
    size_t taken = 0;
    size_t none = 0;

    hf_http_parser_reset(&parser, &limits);
    ck_assert(hf_http_parser_fresh(&parser));
    ck_assert_int_eq(hf_http_parser_feed(&parser, hf_slice_from(text, sizeof(text) - 1), &taken),
                     HF_HTTP_HEAD_IN);
    ck_assert_uint_eq(taken, sizeof(text) / 2);
    ck_assert_int_eq(hf_http_parser_feed(&parser, HF_SLICE("GET"), &none), HF_HTTP_WHOLE);
    ck_assert_uint_eq(none, 0);
    ck_assert_int_eq(
        parse(&parser, &limits, hf_slice_from(text + taken, sizeof(text) - 1 - taken), 7),
        HF_HTTP_WHOLE);
    slice_is(hf_http_request_path(&parser.request), "/b");
    hf_http_parser_fini(&parser);
}
END_TEST

/* Each hostile request is refused, however it is cut, and stays refused. */
START_TEST(refuses_hostile_requests)
{
    hf_http_limits limits = limits_default();
    hf_http_parser parser = {0};
    hf_buf bytes = {0};
    const char *name;
    size_t count = 0;

    for (; (name = hf_hostile_at(count, &bytes)); count++) {
        for (size_t piece = 1; piece <= bytes.len; piece = piece * 3 + 1) {
            size_t taken;

            ck_assert_msg(parse(&parser, &limits, hf_buf_slice(&bytes), piece) == HF_HTTP_REFUSED,
                          "%s, %zu bytes at a time", name, piece);
            ck_assert_int_ge(parser.status, 400);
            ck_assert_ptr_nonnull(parser.reason);
            ck_assert_int_eq(hf_http_parser_feed(&parser, HF_SLICE("GET"), &taken),
                             HF_HTTP_REFUSED);
        }
        hf_buf_clear(&bytes);
    }
    ck_assert_uint_ge(count, 24);
    hf_buf_fini(&bytes);
    hf_http_parser_fini(&parser);
}
END_TEST

/* Every request of the corpus is refused. */
START_TEST(refuses_the_corpus)
{
    hf_http_limits limits = limits_default();
    hf_http_parser parser = {0};
    hf_buf bytes = {0};
    size_t count = 0;

    for (; hf_hostile_malformed(count, &bytes); count++) {
        ck_assert_msg(parse(&parser, &limits, hf_buf_slice(&bytes), 1 + count % 17) ==
                          HF_HTTP_REFUSED,
                      "%zu: %s", count, hf_buf_text(&bytes));
        hf_buf_clear(&bytes);
    }
    ck_assert_uint_ge(count, 2000);
    hf_buf_fini(&bytes);
    hf_http_parser_fini(&parser);
}
END_TEST

typedef struct limit_row {
    const char *before;
    const char *after;
    size_t room; /* bytes between them that just fit */
    int status;
} limit_row;

/* One byte up to a limit is accepted, one beyond is refused with its status. */
START_TEST(limits_hold_to_the_byte)
{
    static const limit_row rows[] = {
        {"GET /", " HTTP/1.1\r\nHost: a\r\n\r\n", 63, 414},
        {"GET / HTTP/1.1\r\nHost: a\r\nX:", "\r\n\r\n", 256 - 31, 431},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 16\r\n\r\n", "", 16, 0},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0;", "\r\n\r\n", 8, 400},
    };
    hf_http_limits limits = {.target_bytes_max = 64,
                             .head_bytes_max = 256,
                             .body_bytes_max = 16,
                             .extension_bytes_max = 8};
    hf_http_parser parser = {0};

    hf_http_limits_fill(&limits);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (size_t more = 0; more < 2; more++) {
            hf_buf bytes = {0};
            hf_http_progress progress;

            hf_buf_add_text(&bytes, rows[i].before);
            for (size_t n = 0; n < rows[i].room + more; n++)
                hf_buf_add_byte(&bytes, 'a');
            hf_buf_add_text(&bytes, rows[i].after);
            progress = parse(&parser, &limits, hf_buf_slice(&bytes), 5);
            if (more && rows[i].status) {
                ck_assert_int_eq(progress, HF_HTTP_REFUSED);
                ck_assert_int_eq(parser.status, rows[i].status);
            } else {
                ck_assert_msg(progress == HF_HTTP_WHOLE, "row %zu: %d %s", i, parser.status,
                              parser.reason ? parser.reason : "");
            }
            hf_buf_fini(&bytes);
        }
    ck_assert_int_eq(parse(&parser, &limits,
                           HF_SLICE("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 17\r\n\r\n"),
                           99),
                     HF_HTTP_REFUSED);
    ck_assert_int_eq(parser.status, 413);
    ck_assert_int_eq(
        parse(&parser, &limits,
              HF_SLICE("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                       "9\r\n123456789\r\n8\r\n"),
              99),
        HF_HTTP_REFUSED);
    ck_assert_int_eq(parser.status, 413);
    hf_http_parser_fini(&parser);
}
END_TEST

/* The number of fields is bounded. */
START_TEST(fields_are_counted)
{
    hf_http_limits limits = {.fields_max = 3};
    hf_http_parser parser = {0};

    hf_http_limits_fill(&limits);
    ck_assert_int_eq(
        parse(&parser, &limits, HF_SLICE("GET / HTTP/1.1\r\nHost: a\r\nB: 1\r\nC: 1\r\n\r\n"), 99),
        HF_HTTP_WHOLE);
    ck_assert_int_eq(parse(&parser, &limits,
                           HF_SLICE("GET / HTTP/1.1\r\nHost: a\r\nB: 1\r\nC: 1\r\nD: 1\r\n\r\n"),
                           99),
                     HF_HTTP_REFUSED);
    ck_assert_int_eq(parser.status, 431);
    hf_http_parser_fini(&parser);
}
END_TEST

/* Lists of words, with and without weights. */
START_TEST(reads_lists)
{
    static const char text[] = "GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: br, GZip;q=0.5\r\n"
                               "Accept-Encoding: deflate;q=0.0, x;q=0\r\nConnection: Close\r\n\r\n";
    hf_http_limits limits = limits_default();
    hf_http_parser parser = {0};
    hf_slice value;

    ck_assert_int_eq(parse(&parser, &limits, hf_slice_from(text, sizeof(text) - 1), 99),
                     HF_HTTP_WHOLE);
    ck_assert(hf_http_request_lists(&parser.request, "accept-encoding", "gzip"));
    ck_assert(hf_http_request_lists(&parser.request, "accept-encoding", "br"));
    ck_assert(!hf_http_request_lists(&parser.request, "accept-encoding", "deflate"));
    ck_assert(!hf_http_request_lists(&parser.request, "accept-encoding", "x"));
    ck_assert(!hf_http_request_field(&parser.request, "accept-encoding", &value)); /* sent twice */
    ck_assert(!parser.request.keep_alive);
    hf_http_parser_fini(&parser);
}
END_TEST

/* Good requests whose bytes were changed at random are whole or refused, never anything else, and
   cutting them differently changes nothing. */
START_TEST(cutting_changes_nothing)
{
    static const char text[] =
        "POST /a?b=c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        "5\r\nhello\r\n0\r\n\r\n";
    hf_http_limits limits = limits_default();
    hf_http_parser whole = {0};
    hf_http_parser pieces = {0};
    hf_rng rng;

    hf_rng_init_seeded(&rng, 9112);
    for (int round = 0; round < 20000; round++) {
        char bytes[sizeof(text)];
        hf_http_progress progress;

        memcpy(bytes, text, sizeof(text));
        for (uint64_t n = 1 + hf_rng_below(&rng, 3); n > 0; n--)
            bytes[hf_rng_below(&rng, sizeof(text) - 1)] = (char)hf_rng_below(&rng, 256);
        progress = parse(&whole, &limits, hf_slice_from(bytes, sizeof(text) - 1), sizeof(text));
        ck_assert_int_eq(progress, parse(&pieces, &limits, hf_slice_from(bytes, sizeof(text) - 1),
                                         1 + hf_rng_below(&rng, 9)));
        ck_assert_int_eq(whole.status, pieces.status);
        ck_assert(
            hf_slice_equal(hf_buf_slice(&whole.request.body), hf_buf_slice(&pieces.request.body)));
    }
    hf_http_parser_fini(&whole);
    hf_http_parser_fini(&pieces);
}
END_TEST

/* When memory runs out anywhere, the request is refused with 503 and nothing leaks. */
START_TEST(memory_may_run_out)
{
    static const char text[] = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
    hf_http_limits limits = limits_default();

    for (int64_t nth = 1;; nth++) {
        hf_http_parser parser = {0};
        hf_http_progress progress;
        bool reached;

        hf_fault_arm(HF_FAULT_ALLOC, nth, true);
        progress = parse(&parser, &limits, hf_slice_from(text, sizeof(text) - 1), 99);
        reached = hf_fault_seen(HF_FAULT_ALLOC) >= nth;
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        if (reached) {
            ck_assert_int_eq(progress, HF_HTTP_REFUSED);
            ck_assert_int_eq(parser.status, 503);
        } else {
            ck_assert_int_eq(progress, HF_HTTP_WHOLE);
        }
        hf_http_parser_fini(&parser);
        if (!reached)
            break;
    }
}
END_TEST

HF_SUITE_MAIN("http/parser", {reads_a_request, 0}, {reads_chunks, 0},
              {stops_at_the_end_of_a_request, 0}, {refuses_hostile_requests, 0},
              {refuses_the_corpus, 0}, {limits_hold_to_the_byte, 0}, {fields_are_counted, 0},
              {reads_lists, 0}, {cutting_changes_nothing, 0}, {memory_may_run_out, 0})
