/* test_target.c: paths against patterns, and what percent signs may hide. */
#include <string.h>

#include "base/fault.h"
#include "http/target.h"
#include "lib/suite.h"

static void slice_is(hf_slice have, const char *want)
{
    ck_assert_msg(hf_slice_equal(have, hf_slice_of(want)), "\"%.*s\" is not \"%s\"", (int)have.len,
                  have.ptr, want);
}

/* A path fits a pattern segment by segment, and no other way. */
START_TEST(paths_fit_patterns)
{
    static const char pattern[] = "/api/{id}/signal/{name}";
    static const char *const fits[] = {"/api/a/signal/b", "/api/%2e/signal/b%20c"};
    static const char *const wrong[] = {"/api/a/signal",    "/api/a/signal/",    "/api/a/signal/b/",
                                        "/api//signal/b",   "/api/a/signal/b/c", "api/a/signal/b",
                                        "/Api/a/signal/b",  "/api/a/signa/b",    "",
                                        "/api/a/signal//b", "//api/a/signal/b"};

    for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++)
        ck_assert(hf_http_path_fits(pattern, hf_slice_of(fits[i])));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        ck_assert_msg(!hf_http_path_fits(pattern, hf_slice_of(wrong[i])), "%s", wrong[i]);
    ck_assert(hf_http_path_fits("/", HF_SLICE("/")));
    ck_assert(hf_http_path_fits("/a/*", HF_SLICE("/a/")));
    ck_assert(hf_http_path_fits("/a/*", HF_SLICE("/a/b/c")));
    ck_assert(!hf_http_path_fits("/a/*", HF_SLICE("/a")));
}
END_TEST

/* Parts are decoded once, and what decoding must not bring in is refused. */
START_TEST(parts_of_a_path)
{
    static const char *const bad[] = {"%00", "%2F", "%5c", "%2e", "%2e%2E", "..",
                                      "%0a", "%7f", "%ff", "%c3", "a%1",    "%"};
    hf_mem *mem = hf_mem_new();
    hf_http_params params;

    ck_assert_int_eq(
        hf_http_path_params(mem, "/a/{x}/b/{y}", HF_SLICE("/a/%252e/b/%C3%A4+"), &params, NULL),
        HF_OK);
    ck_assert_uint_eq(params.count, 2);
    slice_is(params.values[0], "%2e");
    slice_is(params.values[1], "\xc3\xa4+");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char path[32] = "/a/";
        hf_err err = {0};

        memcpy(path + 3, bad[i], strlen(bad[i]));
        ck_assert_msg(hf_http_path_params(mem, "/a/{x}", hf_slice_of(path), &params, &err) ==
                          HF_INVALID,
                      "%s", path);
        ck_assert_str_ne(err.text, "");
    }
    hf_mem_free(mem);
}
END_TEST

/* Pairs come out decoded and in order; a name that comes twice has no single value. */
START_TEST(queries)
{
    hf_mem *mem = hf_mem_new();
    hf_http_query query;
    hf_slice value;
    char many[3 * (HF_HTTP_PAIRS_MAX + 1) + 1];

    ck_assert_int_eq(
        hf_http_query_read(mem, HF_SLICE("a=1&b=x+y%2B&c&&label%5Bk%5D=v=w&d=1&d=2"), &query, NULL),
        HF_OK);
    ck_assert_uint_eq(query.count, 6);
    ck_assert(hf_http_query_find(&query, "b", &value));
    slice_is(value, "x y+");
    ck_assert(hf_http_query_find(&query, "c", &value));
    slice_is(value, "");
    ck_assert(hf_http_query_find(&query, "label[k]", &value));
    slice_is(value, "v=w");
    ck_assert(!hf_http_query_find(&query, "d", &value));
    ck_assert(!hf_http_query_find(&query, "z", &value));
    ck_assert_int_eq(hf_http_query_read(mem, HF_SLICE("a=%zz"), &query, NULL), HF_INVALID);
    ck_assert_int_eq(hf_http_query_read(mem, HF_SLICE("a=%00"), &query, NULL), HF_INVALID);
    ck_assert_int_eq(hf_http_query_read(mem, HF_SLICE("%ff=1"), &query, NULL), HF_INVALID);
    for (size_t i = 0; i <= HF_HTTP_PAIRS_MAX; i++)
        memcpy(many + 3 * i, "a=&", 4);
    ck_assert_int_eq(hf_http_query_read(mem, hf_slice_of(many), &query, NULL), HF_INVALID);
    ck_assert_int_eq(hf_http_query_read(mem, hf_slice_from(many, strlen(many) - 3), &query, NULL),
                     HF_OK);
    hf_mem_free(mem);
}
END_TEST

/* No memory is an answer, too. */
START_TEST(memory_may_run_out)
{
    for (int64_t nth = 1;; nth++) {
        hf_mem *mem = hf_mem_new();
        hf_http_query query;
        hf_status st;
        bool reached;

        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_http_query_read(mem, HF_SLICE("a=1&b=2"), &query, NULL);
        reached = hf_fault_seen(HF_FAULT_ALLOC) >= nth;
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_int_eq(st, reached ? HF_NOMEM : HF_OK);
        hf_mem_free(mem);
        if (!reached)
            break;
    }
}
END_TEST

HF_SUITE_MAIN("http/target", {paths_fit_patterns, 0}, {parts_of_a_path, 0}, {queries, 0},
              {memory_may_run_out, 0})
