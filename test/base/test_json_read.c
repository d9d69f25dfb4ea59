/* test_json_read.c: what the reader takes, what it refuses and where, its limits, and what it makes
   of numbers and strings. */
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/json.h"
#include "lib/suite.h"

typedef struct read_case {
    char verdict; /* 'y': RFC 8259 accepts it, 'n': it does not, 'i': left to us */
    bool accepted;
    hf_slice text;
} read_case;

/* clang-format off */
#define CASE(verdict, accepted, text) {verdict, accepted, {("" text), sizeof(text) - 1}}
#define Y(text)                       CASE('y', true, text)
#define N(text)                       CASE('n', false, text)
#define FREE_Y(text)                  CASE('i', true, text)
#define FREE_N(text)                  CASE('i', false, text)

static const read_case read_cases[] = {
    /* structures */
    Y("[]"), Y("{}"), Y("[ ]"), Y("{ }"), Y("[[]]"), Y("[[],[]]"), Y("[{}]"), Y("{\"a\":[]}"),
    Y("{\"a\":{}}"), Y("{\"\":0}"), Y("{\"a\":1,\"b\":2}"), Y(" \t\r\n[ \t\r\n] \t\r\n"),
    Y("{ \"a\" : 1 , \"b\" : 2 }"), Y("[1\n]"), Y("[\n1,\n2]"), Y("[null,1,\"1\",{}]"),
    Y("{\"a\":{\"a\":{\"a\":1}}}"), Y("{\"A\":1,\"a\":2}"), Y("[1,[2,[3,[4]]]]"),
    Y("{\"min\":-1e28,\"max\":1e28}"), Y("{\"x\":[{\"id\":\"x\"}],\"id\":\"x\"}"), N(""), N(" "),
    N("["), N("]"), N("{"), N("}"), N("[1"), N("[1,"), N("[1,]"), N("[,1]"), N("[1,,2]"), N("[,]"),
    N("[1 2]"), N("[1]x"), N("[1]]"), N("[][]"), N("[}"), N("{]"), N("{\"a\"}"), N("{\"a\":}"),
    N("{\"a\":1"), N("{\"a\":1,}"), N("{,\"a\":1}"), N("{\"a\" 1}"), N("{\"a\"::1}"), N("{a:1}"),
    N("{'a':1}"), N("{1:1}"), N("{null:1}"), N("{[]:1}"), N("{\"a\":1 \"b\":2}"),
    N("{\"a\":1,,\"b\":2}"), N("{\"a\":1,\"a\""), N("{\"a\":\"b\"}#"), N("{\"a\":1}/**/"),
    N("[/*c*/1]"), N("//x\n[]"), N("[1;2]"), N("[(1)]"), N("[\"a\"\"b\"]"), N("[\"a\":1]"),
    N("{\"a\",1}"), N("[1]\f"), N("\v[1]"), N("[1]\xC2\xA0"), N("\xE2\x81\xA0[]"),
    N("\xEF\xBB\xBF[]"), N("[]\0"), N("\0"), N("[\0]"), N("[" "[["), N("[[]"), N("{\"a\":[}"),
    N("*"), N("<null>"), N("[\"\",\n4\n,1,"), N("{\"a\":true} \"x\""), N("1 2"), N("\x01"),
    N("[\x01]"),
    /* words */
    Y("true"), Y("false"), Y("null"), Y("[true,false,null]"), Y(" true "), N("tru"), N("truE"),
    N("True"), N("TRUE"), N("nul"), N("nulll"), N("nil"), N("fals"), N("falsey"), N("truefalse"),
    N("undefined"), N("[nul]"), N("n"), N("t"), N("f"),
    /* strings */
    Y("\"\""), Y("\"a\""), Y("\"a/b\""), Y("\"\\/\""), Y("\"\\\\\""), Y("\"\\\"\""),
    Y("\"\\b\\f\\n\\r\\t\""), Y("\"\\u0041\""), Y("\"\\u0000\""), Y("\"\\u00e9\""),
    Y("\"\\uABCD\\uabcd\""), Y("\"\\uD834\\uDD1E\""), Y("\"\\ud83d\\ude39\""), Y("\"\\uFFFF\""),
    Y("\"\\uDBFF\\uDFFF\""), Y("\"\\u2028\\u2029\""), Y("\"\xE2\x80\xA8\""), Y("\"\x7F\""),
    Y("\"\xC3\xA9\""), Y("\"\xE4\xBD\xA0\""), Y("\"\xF0\x9F\x8D\xB5\""), Y("\"\xF4\x8F\xBF\xBF\""),
    Y("\"\xEF\xBF\xBF\""), Y("\"\\u0061\\u30af\\u30EA\""), Y("\"new\\u00A0line\""),
    Y("\"\\\\u0000\""), Y("\"12345678\""), Y("\"1234567\\\"\""), Y("\"\xC2\x80\""), N("\""),
    N("\"a"), N("a\""), N("'a'"), N("\"\\\""), N("\"\\"), N("\"\\x00\""), N("\"\\a\""),
    N("\"\\'\""), N("\"\\0\""), N("\"\\U0041\""), N("\"\\u\""), N("\"\\u0\""), N("\"\\u00\""),
    N("\"\\u004\""), N("\"\\u00G0\""), N("\"\\u 041\""), N("\"\\u+041\""), N("\"\\u-041\""),
    N("\"\n\""), N("\"\t\""), N("\"\r\""), N("\"\x1F\""), N("\"a\0b\""), N("\"\\\n\""),
    N("\"12345678\x01\""), N("\"\\uD800\\"), N("\"\\uD800\\u"), N("\"\\uD834\\uDd\""),
    N("[\"\\u00e9"), N("\"\\\xF0\x9F\x8C\x80\""), FREE_N("\"\\uD800\""), FREE_N("\"\\uDC00\""),
    FREE_N("\"\\uD800\\n\""), FREE_N("\"\\uD800x\""), FREE_N("\"\\uD800\\uD800\""),
    FREE_N("\"\\uDC00\\uD800\""), FREE_N("\"\\uD800\\u0041\""), FREE_N("\"\\uDBFF\\uE000\""),
    FREE_N("\"\x80\""), FREE_N("\"\xBF\""), FREE_N("\"\xC0\x80\""), FREE_N("\"\xC1\xBF\""),
    FREE_N("\"\xC3\""), FREE_N("\"\xC3(\""), FREE_N("\"\xE0\x80\x80\""), FREE_N("\"\xE0\x9F\xBF\""),
    FREE_N("\"\xE4\xBD\""), FREE_N("\"\xED\xA0\x80\""), FREE_N("\"\xED\xBF\xBF\""),
    FREE_N("\"\xF0\x80\x80\x80\""), FREE_N("\"\xF0\x8F\xBF\xBF\""), FREE_N("\"\xF4\x90\x80\x80\""),
    FREE_N("\"\xF5\x80\x80\x80\""), FREE_N("\"\xF8\x88\x80\x80\""), FREE_N("\"\xFF\""),
    FREE_N("\"\xFE\""), FREE_N("\"\xF0\x9F\x8D\""), FREE_N("\"\xC3"), FREE_N("\xFF\xFE[\0]\0"),
    FREE_N("{\"\xFF\":1}"),
    /* keys that come twice */
    FREE_N("{\"a\":1,\"a\":1}"), FREE_N("{\"a\":1,\"b\":2,\"a\":3}"),
    FREE_N("{\"a\":1,\"\\u0061\":2}"), FREE_N("{\"\":1,\"\":2}"),
    FREE_N("{\"\\u0000\":1,\"\\u0000\":2}"),
    FREE_N("{\"1\":1,\"2\":1,\"3\":1,\"4\":1,\"5\":1,\"6\":1,\"7\":1,\"8\":1,\"9\":1,\"3\":1}"),
    FREE_Y("{\"a\":1,\"a\\u0000\":2}"), FREE_Y("[{\"a\":1},{\"a\":1}]"),
    FREE_Y("{\"\xC3\xA9\":1,\"e\xCC\x81\":2}"),
    /* numbers */
    Y("0"), Y("-0"), Y("1"), Y("-1"), Y("10"), Y("123"), Y("0.0"), Y("-0.0"), Y("0.1"), Y("1.5"),
    Y("1e1"), Y("1E1"), Y("1e+1"), Y("1e-1"), Y("1E+01"), Y("0e0"), Y("0e+1"), Y("0E-5"),
    Y("123.456e78"), Y("-123.456E-78"), Y("1e00"), Y("1.0e000005"), Y("9223372036854775807"),
    Y("-9223372036854775808"), Y("9223372036854775808"), Y("123456789012345678901234567890"),
    Y("0.000000000000000000000000000000000000000000000000000000000000000000000000000000000001"),
    Y("[4 ]"), Y("[-0]"), N("-"), N("+1"), N("01"), N("-01"), N("00"), N("1."), N("-1."), N(".1"),
    N("-.1"), N("1e"), N("1e+"), N("1e-"), N("1E"), N("1.e1"), N("1.5e"), N("1.5.5"), N("1e1.5"),
    N("1e1e1"), N("0x10"), N("1_000"), N("1,5"), N("--1"), N("- 1"), N("1 e1"), N("Infinity"),
    N("-Infinity"), N("NaN"), N("-NaN"), N("inf"), N("1a"), N("0b1"), N("2.e+3"), N("-1x"),
    N("1+2"), N("[-]"), N("[1e]"), N("[0.]"), N("\xEF\xBC\x91"), N("1\0"), N("0e"), N("0.3e"),
    N("[1.8011670033376514H]"), FREE_Y("1e-400"), FREE_Y("-1e-99999"), FREE_Y("0e99999"),
    FREE_Y("2.2250738585072011e-308"), FREE_Y("1e0000000000000000000000000000000000001"),
    FREE_N("1e309"), FREE_N("-1e309"), FREE_N("1e99999999999999999999"), FREE_N("[123123e100000]"),
    FREE_N("1.8e308"), FREE_Y("1.7976931348623157e308"),
};
/* clang-format on */

static hf_status text_read(hf_mem *mem, hf_slice text, hf_value *out_value, hf_err *err)
{
    /* A copy of exact size, so that a sanitizer sees every read past the end. */
    char *exact = hf_mem_bytes(mem, text.len);
    hf_status st;

    ck_assert_ptr_nonnull(exact);
    memcpy(exact, text.ptr, text.len);
    st = hf_json_read(mem, hf_slice_from(exact, text.len), NULL, out_value, err);
    memset(exact, 'x', text.len); /* the value must not look at the text any more */
    return st;
}

/* Each text of the table is accepted or refused as it says, and what is accepted reads back. */
START_TEST(table_of_texts)
{
    const size_t count = sizeof(read_cases) / sizeof(read_cases[0]);

    ck_assert_uint_ge(count, 250);
    for (size_t i = 0; i < count; i++) {
        hf_mem *mem = hf_mem_new();
        hf_value value = NULL;
        hf_value again = NULL;
        hf_err err = {0};
        hf_buf buf = {0};
        hf_status st = text_read(mem, read_cases[i].text, &value, &err);

        ck_assert_msg(st == (read_cases[i].accepted ? HF_OK : HF_INVALID), "case %zu: %s: %d %s", i,
                      read_cases[i].text.ptr, st, err.text);
        ck_assert(read_cases[i].verdict == 'i' ||
                  (read_cases[i].verdict == 'y') == read_cases[i].accepted);
        ck_assert_int_eq(value != NULL, st == HF_OK);
        if (value) {
            hf_json_write(&buf, value);
            ck_assert_int_eq(hf_json_read(mem, hf_buf_slice(&buf), NULL, &again, &err), HF_OK);
            ck_assert(hf_value_equal(value, again));
        } else {
            ck_assert_msg(!strncmp(err.text, "byte ", 5), "%s", err.text);
        }
        hf_buf_fini(&buf);
        hf_mem_free(mem);
    }
}
END_TEST

/* The error names the byte where the text goes wrong. */
START_TEST(errors_name_the_byte)
{
    static const struct {
        const char *text;
        const char *error;
    } cases[] = {
        {"", "byte 0: the text ends early"},
        {"[1, 2", "byte 5: the text ends early"},
        {"[1, x]", "byte 4: expected a value"},
        {"[1 2]", "byte 3: expected ',' or ']'"},
        {"{\"a\":1 2}", "byte 7: expected ',' or '}'"},
        {"{\"a\" 1}", "byte 5: expected ':' after a key"},
        {"{1:2}", "byte 1: expected a key in quotes"},
        {"[] []", "byte 3: more text after the value"},
        {"[\"\\x\"]", "byte 3: unknown escape"},
        {"[\"\\u12x4\"]", "byte 6: expected four hexadecimal digits after \\u"},
        {"[\"ab\\ud800 \"]", "byte 4: a surrogate without its other half"},
        {"[\"a\nb\"]", "byte 3: a control character in a string"},
        {"[\"abc\xFF\"]", "byte 5: not UTF-8"},
        {"[01]", "byte 2: not a number"},
        {"[1.]", "byte 3: not a number"},
        {"[1e999]", "byte 1: a number too large for a double"},
        {"{\"a\":1, \"b\":2, \"\\u0061\":3}", "byte 15: a key that this object has already"},
        {"{\"1\":1,\"2\":1,\"3\":1,\"4\":1,\"5\":1,\"6\":1,\"7\":1,\"2\":1}",
         "byte 43: a key that this object has already"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hf_mem *mem = hf_mem_new();
        hf_value value;
        hf_err err = {0};

        ck_assert_int_eq(text_read(mem, hf_slice_of(cases[i].text), &value, &err), HF_INVALID);
        ck_assert_str_eq(err.text, cases[i].error);
        hf_mem_free(mem);
    }
}
END_TEST

/* Every cut of a document is refused as ending early or as not JSON, never accepted. */
START_TEST(every_cut_is_refused)
{
    static const char text[] = "{\"a\":[1,-2.5e3,\"x\\n\\ud83d\\ude39\",true,null,{\"b\":{}}],"
                               "\"\xC3\xA9\":false}";
    hf_mem *mem = hf_mem_new();
    hf_value value;

    ck_assert_int_eq(text_read(mem, hf_slice_from(text, sizeof(text) - 1), &value, NULL), HF_OK);
    for (size_t cut = 0; cut < sizeof(text) - 1; cut++)
        ck_assert_int_eq(text_read(mem, hf_slice_from(text, cut), &value, NULL), HF_INVALID);
    hf_mem_free(mem);
}
END_TEST

/* Integers are exact to the last bit; what is no int64_t becomes the nearest double. */
START_TEST(numbers_keep_their_kind)
{
    static const struct {
        const char *text;
        hf_value_kind kind;
        int64_t integer;
        double number;
    } cases[] = {
        {"0", HF_VALUE_INT, 0, 0},
        {"9007199254740993", HF_VALUE_INT, INT64_C(9007199254740993), 0},
        {"9223372036854775807", HF_VALUE_INT, INT64_MAX, 0},
        {"-9223372036854775808", HF_VALUE_INT, INT64_MIN, 0},
        {"999999999999999999", HF_VALUE_INT, INT64_C(999999999999999999), 0},
        {"9223372036854775808", HF_VALUE_DOUBLE, 0, 0x1p63},
        {"-9223372036854775809", HF_VALUE_DOUBLE, 0, -0x1p63},
        {"18446744073709551616", HF_VALUE_DOUBLE, 0, 0x1p64},
        {"-0", HF_VALUE_DOUBLE, 0, -0.0},
        {"7.0", HF_VALUE_DOUBLE, 0, 7.0},
        {"7e0", HF_VALUE_DOUBLE, 0, 7.0},
        {"0.1", HF_VALUE_DOUBLE, 0, 0.1},
        {"1e23", HF_VALUE_DOUBLE, 0, 1e23},
        {"1e22", HF_VALUE_DOUBLE, 0, 1e22},
        {"123456789012345678", HF_VALUE_INT, INT64_C(123456789012345678), 0},
        {"1234567890123456789012e-21", HF_VALUE_DOUBLE, 0, 1.234567890123456789012},
        {"9007199254740993.0", HF_VALUE_DOUBLE, 0, 9007199254740992.0},
        {"9007199254740993.000000000000001", HF_VALUE_DOUBLE, 0, 9007199254740994.0},
        {"2.2250738585072011e-308", HF_VALUE_DOUBLE, 0, 2.2250738585072011e-308},
        {"2.4703282292062327e-324", HF_VALUE_DOUBLE, 0, 0.0},
        {"2.4703282292062328e-324", HF_VALUE_DOUBLE, 0, 5e-324},
        {"1.7976931348623158e308", HF_VALUE_DOUBLE, 0, 0x1.fffffffffffffp1023},
        {"1e-400", HF_VALUE_DOUBLE, 0, 0.0},
        {"0.000001234567890123456789", HF_VALUE_DOUBLE, 0, 1.234567890123456789e-6},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hf_mem *mem = hf_mem_new();
        hf_value value = NULL;
        hf_value expected;

        ck_assert_int_eq(text_read(mem, hf_slice_of(cases[i].text), &value, NULL), HF_OK);
        expected = cases[i].kind == HF_VALUE_INT ? hf_value_int(mem, cases[i].integer)
                                                 : hf_value_double(mem, cases[i].number);
        ck_assert_msg(hf_value_equal(value, expected), "%s", cases[i].text);
        hf_mem_free(mem);
    }
}
END_TEST

/* Escapes become the text they stand for, with NUL bytes counted. */
START_TEST(strings_are_unescaped)
{
    static const struct {
        const char *text;
        hf_slice expected;
    } cases[] = {
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", {"\"\\/\b\f\n\r\t", 8}},
        {"\"\\u0041\\u00e9\\u4f60\\ud83c\\udf75\"", {"A\xC3\xA9\xE4\xBD\xA0\xF0\x9F\x8D\xB5", 10}},
        {"\"a\\u0000b\"", {"a\0b", 3}},
        {"\"plain text that is longer than one word\\n\"",
         {"plain text that is longer than one word\n", 40}},
        {"\"\\n plain text after an escape, moved to the left \xC3\xA9\xC3\xA9\"",
         {"\n plain text after an escape, moved to the left \xC3\xA9\xC3\xA9", 52}},
        {"\"\"", {"", 0}},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hf_mem *mem = hf_mem_new();
        hf_value value = NULL;
        hf_slice text;

        ck_assert_int_eq(text_read(mem, hf_slice_of(cases[i].text), &value, NULL), HF_OK);
        text = hf_value_slice(value);
        ck_assert(hf_slice_equal(text, cases[i].expected));
        ck_assert_int_eq(text.ptr[text.len], '\0');
        hf_mem_free(mem);
    }
}
END_TEST

/* Depth, size and length of a number are bounded; the bound itself is allowed. */
START_TEST(limits_hold)
{
    static char text[HF_JSON_BYTES_MAX + 16];
    const hf_json_limits two_deep = {.depth_max = 2};
    const hf_json_limits ten_bytes = {.bytes_max = 10};
    const hf_json_limits beyond = {.depth_max = 1000};
    hf_mem *mem = hf_mem_new();
    hf_value value = NULL;
    hf_err err = {0};

    for (size_t depth = 1; depth <= 100; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        ck_assert_int_eq(hf_json_read(mem, hf_slice_from(text, 2 * depth), &beyond, &value, &err),
                         depth <= HF_VALUE_DEPTH_MAX ? HF_OK : HF_TOOBIG);
        ck_assert_int_eq(hf_json_read(mem, hf_slice_from(text, 2 * depth), &two_deep, &value, NULL),
                         depth <= 2 ? HF_OK : HF_TOOBIG);
    }
    ck_assert_str_eq(err.text, "byte 64: nested too deeply");
    memset(text, '[', 100000); /* deep and never closed */
    ck_assert_int_eq(hf_json_read(mem, hf_slice_from(text, 100000), NULL, &value, NULL), HF_TOOBIG);
    ck_assert_int_eq(hf_json_read(mem, HF_SLICE("\"12345678\""), &ten_bytes, &value, NULL), HF_OK);
    ck_assert_int_eq(hf_json_read(mem, HF_SLICE("\"123456789\""), &ten_bytes, &value, NULL),
                     HF_TOOBIG);
    memset(text, ' ', sizeof(text));
    text[0] = '1';
    ck_assert_int_eq(hf_json_read(mem, hf_slice_from(text, HF_JSON_BYTES_MAX), NULL, &value, NULL),
                     HF_OK);
    ck_assert_int_eq(
        hf_json_read(mem, hf_slice_from(text, HF_JSON_BYTES_MAX + 1), NULL, &value, NULL),
        HF_TOOBIG);
    memset(text, '1', 2000);
    ck_assert_int_eq(hf_json_read(mem, hf_slice_from(text, 300), NULL, &value, NULL), HF_OK);
    ck_assert_int_eq(hf_json_read(mem, hf_slice_from(text, 1025), NULL, &value, NULL), HF_TOOBIG);
    text[1] = '.';
    ck_assert_int_eq(hf_json_read(mem, hf_slice_from(text, 1024), NULL, &value, NULL), HF_OK);
    ck_assert_int_eq(hf_json_read(mem, hf_slice_from(text, 1025), NULL, &value, NULL), HF_TOOBIG);
    hf_mem_free(mem);
}
END_TEST

/* An object of as many members as the limit allows is read in a time that is far from quadratic,
   which would take minutes and end this case, whatever its keys: counting up, down, with one long
   prefix; and each member is found. */
START_TEST(large_objects_are_not_quadratic)
{
    for (int shape = 0; shape < 3; shape++) {
        const int count = shape == 2 ? 20000 : 100000;
        hf_mem *mem = hf_mem_new();
        hf_buf buf = {0};
        hf_value value = NULL;

        for (int i = 0; i < count; i++)
            hf_buf_add_format(&buf, "%c\"%s%d\":%d", i ? ',' : '{',
                              shape == 2 ? "one long prefix that every key of this object has "
                                         : "",
                              shape == 1 ? count - i : i, i);
        hf_buf_add_byte(&buf, '}');
        ck_assert_int_eq(hf_json_read(mem, hf_buf_slice(&buf), NULL, &value, NULL), HF_OK);
        for (int i = 0; shape == 0 && i < count; i++) {
            char key[16];

            (void)snprintf(key, sizeof(key), "%d", i);
            ck_assert_int_eq(hf_int(value, key, -1), i);
        }
        ck_assert_uint_eq(hf_len(value), (size_t)count);
        hf_buf_fini(&buf);
        hf_mem_free(mem);
    }
}
END_TEST

/* Whichever allocation fails, reading says so, gives no value and leaks nothing. */
START_TEST(failed_allocations_are_reported)
{
    hf_buf text = {0};
    bool done = false;

    for (int i = 0; i < 300; i++) /* enough for the heap stack, the heap sort and several blocks */
        hf_buf_add_format(&text, "%c\"key-%d\":[%d,{\"name\":\"n\\n%d\"}]", i ? ',' : '{', i, i, i);
    hf_buf_add_byte(&text, '}');
    ck_assert(hf_buf_ok(&text));
    for (int64_t nth = 1; !done; nth++) {
        hf_mem *mem = hf_mem_new();
        hf_value value = NULL;
        hf_err err = {0};
        hf_status st;

        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_json_read(mem, hf_buf_slice(&text), NULL, &value, &err);
        done = nth > hf_fault_seen(HF_FAULT_ALLOC);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_int_eq(st, done ? HF_OK : HF_NOMEM);
        ck_assert_int_eq(err.status, st);
        ck_assert_int_eq(value != NULL, done);
        ck_assert_int_eq(hf_json_read(mem, HF_SLICE("[1]"), NULL, &value, NULL), HF_OK);
        hf_mem_free(mem);
    }
    hf_buf_fini(&text);
}
END_TEST

HF_SUITE_MAIN("base/json_read", {table_of_texts, 0}, {errors_name_the_byte, 0},
              {every_cut_is_refused, 0}, {numbers_keep_their_kind, 0}, {strings_are_unescaped, 0},
              {limits_hold, 0}, {large_objects_are_not_quadratic, 0},
              {failed_allocations_are_reported, 0})
