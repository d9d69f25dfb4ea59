/* The scanner against the reader: the same texts are JSON to both, whatever pieces they come in. */
#include "base/json_scan.h"

#include <string.h>

#include "base/fault.h"
#include "base/json.h"
#include "base/mem.h"
#include "lib/suite.h"

/* A text that is handed out in pieces of at most `most` bytes. */
typedef struct source {
    hf_slice text;
    size_t most;
} source;

static hf_status source_read(void *ctx, int64_t at, char *room, size_t size, size_t *out_got,
                             hf_err *err)
{
    const source *s = ctx;
    size_t left = (size_t)at < s->text.len ? s->text.len - (size_t)at : 0;

    (void)err;
    *out_got = left < size ? left : size;
    if (*out_got > s->most)
        *out_got = s->most;
    if (*out_got)
        memcpy(room, s->text.ptr + at, *out_got);
    return HF_OK;
}

/* Passes over the whole text. */
static hf_status scanned(hf_slice text, size_t most, hf_err *err)
{
    source s = {text, most};
    hf_json_scan *scan = NULL;
    hf_json_token token = HF_JSON_TOKEN_NULL;
    hf_status st = hf_json_scan_new(source_read, &s, 0, true, &scan, err);

    while (!st && token != HF_JSON_TOKEN_END)
        st = hf_json_scan_next(scan, &token, err);
    hf_json_scan_free(scan);
    return st;
}

static const char *const texts[] = {"{}",
                                    "[]",
                                    " [ 1 , -2.5e3 , true , false , null ] ",
                                    "\"\"",
                                    "\"a\\u0041\\n\\ud83d\\ude00\"",
                                    "{\"a\":{\"b\":[{},[],\"\xc3\xa9\"]}}",
                                    "-0",
                                    "12345678901234567890",
                                    "1e400",
                                    "01",
                                    "1.",
                                    "-",
                                    "",
                                    " ",
                                    "{",
                                    "[",
                                    "[1",
                                    "[1,",
                                    "[1,]",
                                    "[,1]",
                                    "{\"a\"",
                                    "{\"a\":",
                                    "{\"a\":1",
                                    "{\"a\":1,}",
                                    "{a:1}",
                                    "{\"a\" 1}",
                                    "tru",
                                    "nul",
                                    "truex",
                                    "[1 2]",
                                    "{} {}",
                                    "\"",
                                    "\"\\",
                                    "\"\\x\"",
                                    "\"\\u12\"",
                                    "\"\\ud800\"",
                                    "\"\\ud800\\u0041\"",
                                    "\"\\udc00\"",
                                    "\"\t\"",
                                    "\"\xff\"",
                                    "\"\xc3\"",
                                    "[\"a\"}",
                                    "{\"a\":1]",
                                    "]",
                                    "}",
                                    ":",
                                    "\"\x7f\""};

/* Every text is judged alike, in one piece and byte by byte; so is every beginning of it. */
START_TEST(texts_are_judged_as_the_reader_does)
{
    hf_mem *mem = hf_mem_new();

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        for (size_t len = 0; len <= strlen(texts[i]); len++) {
            hf_slice text = hf_slice_from(texts[i], len);
            hf_value value = NULL;
            hf_err err = {0};
            hf_status wanted = hf_json_read(mem, text, NULL, &value, &err);

            ck_assert_msg(scanned(text, 1, &err) == wanted, "%s, %zu bytes", texts[i], len);
            ck_assert_msg(scanned(text, 1 << 20, &err) == wanted, "%s, %zu bytes", texts[i], len);
        }
    }
    hf_mem_free(mem);
}
END_TEST

/* Values come out as they went in, strings longer than any window among them. */
START_TEST(values_come_out_whole)
{
    enum { LONG = 100000 };
    hf_mem *mem = hf_mem_new();
    char *big = hf_mem_bytes(mem, LONG + 16);
    source s = {.most = 777};
    hf_json_scan *scan = NULL;
    hf_json_token token;
    hf_buf text = {0};
    hf_err err = {0};
    int64_t at = 0;
    char byte = '\0';
    bool there = false;

    memcpy(big, "{ \"k\" : [ \"", 11);
    memset(big + 11, 'x', LONG);
    memcpy(big + 11 + LONG, "\",7]}", 5);
    s.text = hf_slice_from(big, LONG + 16);
    ck_assert_int_eq(hf_json_scan_new(source_read, &s, 0, true, &scan, &err), HF_OK);
    ck_assert_int_eq(hf_json_scan_next(scan, &token, &err), HF_OK);
    ck_assert_int_eq(hf_json_scan_item(scan, &there, &err), HF_OK);
    ck_assert_int_eq(hf_json_scan_next(scan, &token, &err), HF_OK);
    ck_assert(there && token == HF_JSON_TOKEN_KEY);
    ck_assert_int_eq(hf_json_scan_place(scan, &at, &err), HF_OK);
    ck_assert_int_eq(hf_json_scan_peek(scan, &byte, &err), HF_OK);
    ck_assert(at == 8 && byte == '[');
    ck_assert_int_eq(hf_json_scan_value(scan, LONG + 16, &text, &err), HF_OK);
    ck_assert_uint_eq(text.len, LONG + 6);
    ck_assert_int_eq(hf_json_scan_next(scan, &token, &err), HF_OK);
    ck_assert(token == HF_JSON_TOKEN_OBJECT_END);
    hf_json_scan_free(scan);
    ck_assert_int_eq(hf_json_scan_new(source_read, &s, at, false, &scan, &err), HF_OK);
    ck_assert_int_eq(hf_json_scan_value(scan, LONG, &text, &err), HF_TOOBIG);
    hf_json_scan_free(scan);
    hf_buf_fini(&text);
    hf_mem_free(mem);
}
END_TEST

/* Without memory there is no scanner, and nothing is lost. */
START_TEST(memory_may_run_out)
{
    hf_err err = {0};

    hf_fault_arm(HF_FAULT_ALLOC, 1, false);
    if (scanned(HF_SLICE("[1]"), 1, &err))
        ck_assert_int_eq(err.status, HF_NOMEM);
    hf_fault_arm(HF_FAULT_ALLOC, 0, false);
}
END_TEST

HF_SUITE_MAIN("base/json_scan", {texts_are_judged_as_the_reader_does, 0},
              {values_come_out_whole, 0}, {memory_may_run_out, 0})
