/* test_json_write.c: three dialects of JSON text, the digits of doubles, and that what is written
   reads back. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/json.h"
#include "base/random_value.h"
#include "lib/suite.h"

typedef void write_fn(hf_buf *buf, hf_value value);

/* Doubles by their bits and as the three dialects print them. The second text is what ECMAScript
   prints (taken from V8, and from RFC 8785 appendix B), the third what PHP's rules make of it. */
static const struct {
    uint64_t bits;
    const char *plain;
    const char *canonical;
    const char *ksort;
} doubles[] = {
    {UINT64_C(0x0000000000000000), "0.0", "0", "0.0"},
    {UINT64_C(0x8000000000000000), "-0.0", "0", "-0.0"},
    {UINT64_C(0x3ff0000000000000), "1.0", "1", "1.0"},
    {UINT64_C(0xbff0000000000000), "-1.0", "-1", "-1.0"},
    {UINT64_C(0x401c000000000000), "7.0", "7", "7.0"},
    {UINT64_C(0x4024000000000000), "10.0", "10", "10.0"},
    {UINT64_C(0x4059000000000000), "100.0", "100", "100.0"},
    {UINT64_C(0x419d6f3454000000), "123456789.0", "123456789", "123456789.0"},
    {UINT64_C(0x3fb999999999999a), "0.1", "0.1", "0.1"},
    {UINT64_C(0x3fc999999999999a), "0.2", "0.2", "0.2"},
    {UINT64_C(0x3fd3333333333333), "0.3", "0.3", "0.3"},
    {UINT64_C(0x3fd3333333333334), "0.30000000000000004", "0.30000000000000004",
     "0.30000000000000004"},
    {UINT64_C(0x3fe0000000000000), "0.5", "0.5", "0.5"},
    {UINT64_C(0x3ff8000000000000), "1.5", "1.5", "1.5"},
    {UINT64_C(0xc004000000000000), "-2.5", "-2.5", "-2.5"},
    {UINT64_C(0x400921f9f01b866e), "3.14159", "3.14159", "3.14159"},
    {UINT64_C(0x400921fb54442d18), "3.141592653589793", "3.141592653589793", "3.141592653589793"},
    {UINT64_C(0x4005bf0a8b145769), "2.718281828459045", "2.718281828459045", "2.718281828459045"},
    {UINT64_C(0x4056a00000000000), "90.5", "90.5", "90.5"},
    {UINT64_C(0x4028800000000000), "12.25", "12.25", "12.25"},
    {UINT64_C(0x4043f33333333333), "39.9", "39.9", "39.9"},
    {UINT64_C(0x401a19999999999a), "6.525", "6.525", "6.525"},
    {UINT64_C(0x3fb999999999999a), "0.1", "0.1", "0.1"},
    {UINT64_C(0x3f847ae147ae147b), "0.01", "0.01", "0.01"},
    {UINT64_C(0x3f50624dd2f1a9fc), "0.001", "0.001", "0.001"},
    {UINT64_C(0x3f1a36e2eb1c432d), "0.0001", "0.0001", "0.0001"},
    {UINT64_C(0x3ee4f8b588e368f1), "0.00001", "0.00001", "1.0e-5"},
    {UINT64_C(0x3eb0c6f7a0b5ed8d), "0.000001", "0.000001", "1.0e-6"},
    {UINT64_C(0x3e7ad7f29abcaf48), "1e-7", "1e-7", "1.0e-7"},
    {UINT64_C(0x3f201f31f46ed246), "0.000123", "0.000123", "0.000123"},
    {UINT64_C(0x3ee9cb8320b15070), "0.0000123", "0.0000123", "1.23e-5"},
    {UINT64_C(0x3e8421f5f40d8376), "1.5e-7", "1.5e-7", "1.5e-7"},
    {UINT64_C(0x430c6bf526340000), "1000000000000000.0", "1000000000000000", "1000000000000000.0"},
    {UINT64_C(0x4341c37937e08000), "10000000000000000.0", "10000000000000000",
     "10000000000000000.0"},
    {UINT64_C(0x4376345785d8a000), "100000000000000000.0", "100000000000000000", "1.0e+17"},
    {UINT64_C(0x43abc16d674ec800), "1000000000000000000.0", "1000000000000000000", "1.0e+18"},
    {UINT64_C(0x4415af1d78b58c40), "100000000000000000000.0", "100000000000000000000", "1.0e+20"},
    {UINT64_C(0x444b1ae4d6e2ef50), "1e+21", "1e+21", "1.0e+21"},
    {UINT64_C(0x4480f0cf064dd592), "1e+22", "1e+22", "1.0e+22"},
    {UINT64_C(0x44b52d02c7e14af6), "1e+23", "1e+23", "1.0e+23"},
    {UINT64_C(0x45208b2a2c280291), "1e+25", "1e+25", "1.0e+25"},
    {UINT64_C(0x54b249ad2594c37d), "1e+100", "1e+100", "1.0e+100"},
    {UINT64_C(0x7e41eb2d66005835), "1.5e+300", "1.5e+300", "1.5e+300"},
    {UINT64_C(0x7fefffffffffffff), "1.7976931348623157e+308", "1.7976931348623157e+308",
     "1.7976931348623157e+308"},
    {UINT64_C(0x0010000000000000), "2.2250738585072014e-308", "2.2250738585072014e-308",
     "2.2250738585072014e-308"},
    {UINT64_C(0x000fffffffffffff), "2.225073858507201e-308", "2.225073858507201e-308",
     "2.225073858507201e-308"},
    {UINT64_C(0x0000000000000001), "5e-324", "5e-324", "5.0e-324"},
    {UINT64_C(0x0000000000000002), "1e-323", "1e-323", "1.0e-323"},
    {UINT64_C(0x433fffffffffffff), "9007199254740991.0", "9007199254740991", "9007199254740991.0"},
    {UINT64_C(0x4340000000000000), "9007199254740992.0", "9007199254740992", "9007199254740992.0"},
    {UINT64_C(0x4340000000000001), "9007199254740994.0", "9007199254740994", "9007199254740994.0"},
    {UINT64_C(0x43e0000000000000), "9223372036854776000.0", "9223372036854776000",
     "9.223372036854776e+18"},
    {UINT64_C(0x43e0000000000000), "9223372036854776000.0", "9223372036854776000",
     "9.223372036854776e+18"},
    {UINT64_C(0xc3e0000000000000), "-9223372036854776000.0", "-9223372036854776000",
     "-9.223372036854776e+18"},
    {UINT64_C(0x43f0000000000000), "18446744073709552000.0", "18446744073709552000",
     "1.8446744073709552e+19"},
    {UINT64_C(0x4011666666666666), "4.35", "4.35", "4.35"},
    {UINT64_C(0x3fe764d4f5d5a2bd), "0.7310585786300049", "0.7310585786300049",
     "0.7310585786300049"},
    {UINT64_C(0x4430000000000000), "295147905179352830000.0", "295147905179352830000",
     "2.9514790517935283e+20"},
    {UINT64_C(0x444b1ae4d6e2ef4f), "999999999999999900000.0", "999999999999999900000",
     "9.999999999999999e+20"},
    {UINT64_C(0x437b69b4ba630f35), "123456789012345680.0", "123456789012345680",
     "1.2345678901234568e+17"},
    {UINT64_C(0x4345ee2a2eb5a5c4), "12345678901234568.0", "12345678901234568",
     "12345678901234568.0"},
    {UINT64_C(0x43118b54f22aeb03), "1234567890123456.8", "1234567890123456.8",
     "1234567890123456.8"},
    {UINT64_C(0x41b3de4355555555), "333333333.3333333", "333333333.3333333", "333333333.3333333"},
    {UINT64_C(0x46293e5939a08cea), "1e+30", "1e+30", "1.0e+30"},
    {UINT64_C(0x4012000000000000), "4.5", "4.5", "4.5"},
    {UINT64_C(0x3f60624dd2f1a9fc), "0.002", "0.002", "0.002"},
    {UINT64_C(0x3a53ce9a36f23c10), "1e-27", "1e-27", "1.0e-27"},
    {UINT64_C(0x4119e4c9b26c7eae), "424242.424242", "424242.424242", "424242.424242"},
    {UINT64_C(0x40f86a0000000001), "100000.00000000001", "100000.00000000001",
     "100000.00000000001"},
    {UINT64_C(0x7fe0000000000000), "8.98846567431158e+307", "8.98846567431158e+307",
     "8.98846567431158e+307"},
    {UINT64_C(0x3eb0000000000000), "9.5367431640625e-7", "9.5367431640625e-7",
     "9.5367431640625e-7"},
    {UINT64_C(0x001fffffffffffff), "4.4501477170144023e-308", "4.4501477170144023e-308",
     "4.4501477170144023e-308"},
    {UINT64_C(0x3f50624dd2f1a9fc), "0.001", "0.001", "0.001"},
    {UINT64_C(0x3f50624dd2f1a9fd), "0.0010000000000000002", "0.0010000000000000002",
     "0.0010000000000000002"},
    {UINT64_C(0x3ff0000000000001), "1.0000000000000002", "1.0000000000000002",
     "1.0000000000000002"},
    {UINT64_C(0x3fefffffffffffff), "0.9999999999999999", "0.9999999999999999",
     "0.9999999999999999"},
    {UINT64_C(0x40f0000000100000), "65536.00001525879", "65536.00001525879", "65536.00001525879"},
    {UINT64_C(0x3da5fd7fe1796495), "1e-11", "1e-11", "1.0e-11"},
    {UINT64_C(0x3db0000000000000), "1.4551915228366852e-11", "1.4551915228366852e-11",
     "1.4551915228366852e-11"},
    {UINT64_C(0x4370000000000000), "72057594037927940.0", "72057594037927940",
     "72057594037927940.0"},
    {UINT64_C(0x44b52d02c7e14af5), "9.999999999999997e+22", "9.999999999999997e+22",
     "9.999999999999997e+22"},
    {UINT64_C(0x44b52d02c7e14af7), "1.0000000000000001e+23", "1.0000000000000001e+23",
     "1.0000000000000001e+23"},
    {UINT64_C(0x444b1ae4d6e2ef4e), "999999999999999700000.0", "999999999999999700000",
     "9.999999999999997e+20"},
    {UINT64_C(0x444b1ae4d6e2ef4f), "999999999999999900000.0", "999999999999999900000",
     "9.999999999999999e+20"},
    {UINT64_C(0x3eb0c6f7a0b5ed8c), "9.999999999999997e-7", "9.999999999999997e-7",
     "9.999999999999997e-7"},
    {UINT64_C(0x41b3de4355555553), "333333333.3333332", "333333333.3333332", "333333333.3333332"},
    {UINT64_C(0x41b3de4355555554), "333333333.33333325", "333333333.33333325",
     "333333333.33333325"},
    {UINT64_C(0x41b3de4355555555), "333333333.3333333", "333333333.3333333", "333333333.3333333"},
    {UINT64_C(0x41b3de4355555556), "333333333.3333334", "333333333.3333334", "333333333.3333334"},
    {UINT64_C(0x41b3de4355555557), "333333333.33333343", "333333333.33333343",
     "333333333.33333343"},
    {UINT64_C(0xbecbf647612f3696), "-0.0000033333333333333333", "-0.0000033333333333333333",
     "-3.3333333333333333e-6"},
    {UINT64_C(0x43143ff3c1cb0959), "1424953923781206.2", "1424953923781206.2",
     "1424953923781206.2"},
};

static void writes(write_fn *write, hf_value value, const char *expected)
{
    hf_buf buf = {0};

    write(&buf, value);
    ck_assert(hf_buf_ok(&buf));
    ck_assert_str_eq(hf_buf_text(&buf), expected);
    hf_buf_fini(&buf);
}

static hf_value text_value(hf_mem *mem, const char *text)
{
    hf_value value = NULL;
    hf_err err = {0};

    ck_assert_msg(hf_json_read(mem, hf_slice_of(text), NULL, &value, &err) == HF_OK, "%s",
                  err.text);
    return value;
}

static void doubles_check(void)
{
    for (size_t i = 0; i < sizeof(doubles) / sizeof(doubles[0]); i++) {
        hf_mem *mem = hf_mem_new();
        double number;
        hf_value value;

        memcpy(&number, &doubles[i].bits, sizeof(number));
        value = hf_value_double(mem, number);
        writes(hf_json_write, value, doubles[i].plain);
        writes(hf_json_write_canonical, value, doubles[i].canonical);
        writes(hf_json_write_ksort, value, doubles[i].ksort);
        ck_assert(hf_value_equal(text_value(mem, doubles[i].plain), value));
        ck_assert(hf_value_equal(text_value(mem, doubles[i].ksort), value));
        hf_mem_free(mem);
    }
}

/* Each dialect prints the known doubles as listed, and they read back bit by bit. */
START_TEST(known_doubles)
{
    ck_assert_uint_ge(sizeof(doubles) / sizeof(doubles[0]), 60);
    doubles_check();
}
END_TEST

/* A locale with another decimal point changes nothing, where the system has one. */
START_TEST(the_locale_does_not_matter)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8", "C.UTF-8"};
    const char *chosen = NULL;

    for (size_t i = 0; !chosen && i < sizeof(names) / sizeof(names[0]); i++)
        chosen = setlocale(LC_ALL, names[i]);
    ck_assert_ptr_nonnull(chosen);
    doubles_check();
}
END_TEST

/* Every power of two, with its neighbours, is the border between two widths of rounding interval.
 */
START_TEST(powers_of_two_read_back)
{
    hf_mem *mem = hf_mem_new();

    for (uint64_t exponent = 0; exponent < 2047; exponent++) {
        for (uint64_t step = 0; step < 5; step++) {
            uint64_t bits = (exponent << 52) + step - 2;
            double number;
            hf_value value;
            hf_buf buf = {0};

            if (exponent == 0 && step < 2)
                continue;
            memcpy(&number, &bits, sizeof(number));
            value = hf_value_double(mem, number);
            hf_json_write(&buf, value);
            ck_assert_uint_le(buf.len, 26);
            ck_assert_msg(hf_value_equal(text_value(mem, hf_buf_text(&buf)), value), "%s",
                          hf_buf_text(&buf));
            hf_buf_fini(&buf);
        }
        hf_mem_reset(mem);
    }
    hf_mem_free(mem);
}
END_TEST

/* Integers are exact in every dialect, also beyond 2^53. */
START_TEST(integers_are_exact)
{
    static const int64_t numbers[] = {
        0,         1,        -1, 9, 10, -10, 99, 100, 12345, 1000000, INT64_C(9007199254740993),
        INT64_MAX, INT64_MIN};
    char expected[32];

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        hf_mem *mem = hf_mem_new();
        hf_value value = hf_value_int(mem, numbers[i]);

        (void)snprintf(expected, sizeof(expected), "%lld", (long long)numbers[i]);
        writes(hf_json_write, value, expected);
        writes(hf_json_write_canonical, value, expected);
        writes(hf_json_write_ksort, value, expected);
        hf_mem_free(mem);
    }
}
END_TEST

/* Compact text keeps the order of members and UTF-8, and escapes only what it must. */
START_TEST(compact_text)
{
    hf_mem *mem = hf_mem_new();

    writes(hf_json_write, NULL, "null");
    writes(hf_json_write, text_value(mem, " { \"b\" : [ 1 , 2.50 ] , \"a\" : { } , \"c\" : [ ] } "),
           "{\"b\":[1,2.5],\"a\":{},\"c\":[]}");
    writes(hf_json_write, text_value(mem, "[true,false,null,\"\"]"), "[true,false,null,\"\"]");
    writes(
        hf_json_write,
        text_value(mem, "\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f\\\"\\\\\\/\\u007f\\u00e9\""),
        "\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f\\\"\\\\/\x7F\xC3\xA9\"");
    writes(hf_json_write, hf_value_bytes(mem, hf_slice_from("\0\xFF", 2)), "\"AP8=\"");
    writes(hf_json_write, hf_value_bytes(mem, HF_SLICE("")), "\"\"");
    hf_mem_free(mem);
}
END_TEST

/* The examples of RFC 8785. */
START_TEST(canonical_examples)
{
    hf_mem *mem = hf_mem_new();

    writes(hf_json_write_canonical,
           text_value(mem,
                      "{\"numbers\": [333333333.33333329, 1E30, 4.50, 2e-3, "
                      "0.000000000000000000000000001],\n"
                      "\"string\": \"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\\"\\/\","
                      "\"literals\": [null, true, false]}"),
           "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
           "\"string\":\"\xE2\x82\xAC$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
    writes(hf_json_write_canonical,
           text_value(mem,
                      "{\"\\u20ac\":\"Euro\",\"\\r\":\"CR\",\"\\ufb33\":\"Dalet\",\"1\":\"One\","
                      "\"\\ud83d\\ude00\":\"Smiley\",\"\\u0080\":\"Control\","
                      "\"\\u00f6\":\"Diaeresis\"}"),
           "{\"\\r\":\"CR\",\"1\":\"One\",\"\xC2\x80\":\"Control\",\"\xC3\xB6\":\"Diaeresis\","
           "\"\xE2\x82\xAC\":\"Euro\",\"\xF0\x9F\x98\x80\":\"Smiley\",\"\xEF\xAC\xB3\":\"Dalet\"}");
    hf_mem_free(mem);
}
END_TEST

/* The order by UTF-16 code units also holds in objects that carry an index, at every level, and
   shorter keys come before longer ones that start alike. */
START_TEST(canonical_order_of_many_members)
{
    hf_mem *mem = hf_mem_new();

    writes(hf_json_write_canonical,
           text_value(mem, "{\"z\":{\"b\":1,\"a\":2},\"\\ufb33\":1,\"a\":1,\"aa\":1,\"B\":1,"
                           "\"\\ud83d\\ude00\":1,\"\\ue000\":1,\"\":1,\"a\\ud83d\\ude00\":1,"
                           "\"a\\uffff\":1,\"\\ud7ff\":1}"),
           "{\"\":1,\"B\":1,\"a\":1,\"aa\":1,\"a\xF0\x9F\x98\x80\":1,\"a\xEF\xBF\xBF\":1,"
           "\"z\":{\"a\":2,\"b\":1},\"\xED\x9F\xBF\":1,\"\xF0\x9F\x98\x80\":1,\"\xEE\x80\x80\":1,"
           "\"\xEF\xAC\xB3\":1}");
    writes(hf_json_write_canonical,
           text_value(mem, "{\"9\":1,\"8\":1,\"7\":1,\"6\":1,\"5\":1,\"4\":1,\"3\":1,\"10\":1,"
                           "\"2\":1,\"1\":1}"),
           "{\"1\":1,\"10\":1,\"2\":1,\"3\":1,\"4\":1,\"5\":1,\"6\":1,\"7\":1,\"8\":1,\"9\":1}");
    hf_mem_free(mem);
}
END_TEST

/* json-recursive-ksort-v1: byte order, \u escapes in lower case, plain slashes, [] for {}. */
START_TEST(ksort_text)
{
    hf_mem *mem = hf_mem_new();

    writes(hf_json_write_ksort, text_value(mem, "{}"), "[]");
    writes(hf_json_write_ksort, text_value(mem, "[]"), "[]");
    writes(hf_json_write_ksort, text_value(mem, "{\"b\":{},\"a\":[{\"d\":[],\"c\":{}},1]}"),
           "{\"a\":[{\"c\":[],\"d\":[]},1],\"b\":[]}");
    writes(hf_json_write_ksort, text_value(mem, "{\"10\":1,\"9\":2,\"1\":3,\"Z\":4,\"a\":5}"),
           "{\"1\":3,\"10\":1,\"9\":2,\"Z\":4,\"a\":5}");
    writes(hf_json_write_ksort,
           text_value(mem,
                      "\"a/b \\u00e9 \\u4f60 \\ud83d\\ude00 \\u2028 \\\" \\\\ \\n \\u0001 \x7F\""),
           "\"a/b \\u00e9 \\u4f60 \\ud83d\\ude00 \\u2028 \\\" \\\\ \\n \\u0001 \x7F\"");
    writes(hf_json_write_ksort,
           text_value(mem, "{\"\\ue000\":1,\"\\ud83d\\ude00\":2,\"\\u00e9\":3}"),
           "{\"\\u00e9\":3,\"\\ue000\":1,\"\\ud83d\\ude00\":2}");
    writes(hf_json_write_ksort, text_value(mem, "[1,1.0,-0.0,1e25,0.00001,100000000000000000.0]"),
           "[1,1.0,-0.0,1.0e+25,1.0e-5,1.0e+17]");
    hf_mem_free(mem);
}
END_TEST

/* Text that is all escapes grows to six times its size, in one string and in many. */
START_TEST(escapes_grow_the_buffer)
{
    static char controls[5000];
    hf_mem *mem = hf_mem_new();
    hf_value value = hf_value_string(mem, hf_slice_from(controls, sizeof(controls)));
    hf_buf buf = {0};

    hf_json_write(&buf, value);
    ck_assert_uint_eq(buf.len, 6 * sizeof(controls) + 2);
    ck_assert(hf_value_equal(text_value(mem, hf_buf_text(&buf)), value));
    hf_buf_clear(&buf);
    hf_json_add_escaped(&buf, HF_SLICE("say \"hi\"\n"));
    ck_assert_str_eq(hf_buf_text(&buf), "say \\\"hi\\\"\\n");
    hf_buf_fini(&buf);
    hf_mem_free(mem);
}
END_TEST

/* Writing appends, so that text can be put around values. */
START_TEST(writing_appends)
{
    hf_buf buf = {0};

    hf_buf_add_text(&buf, "data: ");
    hf_json_write(&buf, hf_value_bool(true));
    hf_buf_add_byte(&buf, ',');
    hf_json_write_canonical(&buf, NULL);
    ck_assert_str_eq(hf_buf_text(&buf), "data: true,null");
    hf_buf_fini(&buf);
}
END_TEST

/* Values as deep as allowed are written; deeper ones cannot be made. */
START_TEST(deepest_value)
{
    hf_mem *mem = hf_mem_new();
    hf_value value = hf_value_null();
    char expected[2 * HF_VALUE_DEPTH_MAX + 5];

    for (int i = 0; i < HF_VALUE_DEPTH_MAX; i++) {
        hf_value_list *list = hf_value_array(mem);

        hf_value_append(list, value);
        value = hf_value_finish(list);
        ck_assert_ptr_nonnull(value);
    }
    memset(expected, '[', HF_VALUE_DEPTH_MAX);
    memcpy(expected + HF_VALUE_DEPTH_MAX, "null", 4);
    memset(expected + HF_VALUE_DEPTH_MAX + 4, ']', HF_VALUE_DEPTH_MAX);
    expected[sizeof(expected) - 1] = '\0';
    writes(hf_json_write, value, expected);
    writes(hf_json_write_canonical, value, expected);
    hf_mem_free(mem);
}
END_TEST

/* Ten thousand random values: compact text reads back equal, and canonical text is a fixed point.
 */
START_TEST(random_values_survive)
{
    hf_mem *mem = hf_mem_new();
    hf_rng rng;

    hf_rng_init_seeded(&rng, 8259);
    for (int i = 0; i < 10000; i++) {
        hf_value value = random_value(&rng, mem, RANDOM_DEPTH);
        hf_value again = NULL;
        hf_buf text = {0};
        hf_buf canonical = {0};
        hf_buf twice = {0};
        hf_err err = {0};

        ck_assert_ptr_nonnull(value);
        hf_json_write(&text, value);
        ck_assert_msg(hf_json_read(mem, hf_buf_slice(&text), NULL, &again, &err) == HF_OK,
                      "value %d: %s: %s", i, err.text, hf_buf_text(&text));
        ck_assert_msg(hf_value_equal(value, again), "value %d: %s", i, hf_buf_text(&text));
        hf_json_write_canonical(&canonical, value);
        ck_assert_int_eq(hf_json_read(mem, hf_buf_slice(&canonical), NULL, &again, &err), HF_OK);
        hf_json_write_canonical(&twice, again);
        ck_assert(hf_slice_equal(hf_buf_slice(&canonical), hf_buf_slice(&twice)));
        hf_buf_clear(&twice);
        hf_json_write_ksort(&twice, value);
        ck_assert_int_eq(hf_json_read(mem, hf_buf_slice(&twice), NULL, &again, &err), HF_OK);
        hf_buf_fini(&text);
        hf_buf_fini(&canonical);
        hf_buf_fini(&twice);
        hf_mem_reset(mem);
    }
    hf_mem_free(mem);
}
END_TEST

/* Nested objects whose keys need an order of their own, and long text. */
static hf_value costly_value(hf_mem *mem)
{
    hf_value value = hf_value_null();

    for (int level = 0; level < 4; level++) {
        hf_value_list *list = hf_value_object(mem);

        for (int i = 0; i < 20; i++) {
            char key[32];
            int len =
                snprintf(key, sizeof(key), "%s-%d", i % 2 ? "\xF0\x9F\x98\x80" : "\xEE\x80\x80", i);

            hf_value_set(list, hf_slice_from(key, (size_t)len),
                         i == 10 ? value : hf_json_(mem, "['text \\n %d', %g]", i, i / 7.0));
        }
        value = hf_value_finish(list);
    }
    return value;
}

/* Whichever allocation fails, the buffer says so and nothing leaks. */
START_TEST(failed_allocations_are_reported)
{
    static write_fn *const dialects[] = {hf_json_write, hf_json_write_canonical,
                                         hf_json_write_ksort};
    hf_mem *mem = hf_mem_new();
    hf_value value = costly_value(mem);

    ck_assert_ptr_nonnull(value);
    for (size_t i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++) {
        bool done = false;
        int64_t nth;

        for (nth = 1; !done; nth++) {
            hf_buf buf = {0};

            hf_fault_arm(HF_FAULT_ALLOC, nth, false);
            dialects[i](&buf, value);
            done = nth > hf_fault_seen(HF_FAULT_ALLOC);
            hf_fault_arm(HF_FAULT_ALLOC, 0, false);
            ck_assert_int_eq(hf_buf_ok(&buf), done);
            hf_buf_fini(&buf);
        }
        ck_assert_int_gt(nth, 3);
    }
    hf_mem_free(mem);
}
END_TEST

/* hf_json_take */
static void piece_add(void *ctx, hf_slice piece)
{
    hf_buf_add_slice(ctx, piece);
}

/* Texts from nothing to several pieces, of plain words and of escapes, come in pieces as they come
   whole; without memory it is said. */
START_TEST(pieces_make_the_whole)
{
    static const char *const words[] = {
        "",          "a",       "seven77",          "eight888",
        "nine99999", "q\"uote", "tail of a word\n", "\xC3\xA4\xF0\x9F\x98\x80 beyond"};

    for (size_t count = 0; count < 9000; count = count * 3 + 1) {
        hf_mem *mem = hf_mem_new();
        hf_value_list *list = hf_value_array(mem);
        hf_buf whole = {0};
        hf_buf pieces = {0};
        hf_value value;

        for (size_t i = 0; i < count; i++)
            hf_value_append(list, hf_value_string(mem, hf_slice_of(words[i % 8])));
        value = hf_value_finish(list);
        hf_json_write_ksort(&whole, value);
        ck_assert(hf_json_ksort_pieces(value, piece_add, &pieces));
        ck_assert(hf_slice_equal(hf_buf_slice(&whole), hf_buf_slice(&pieces)));
        hf_buf_clear(&pieces);
        hf_fault_arm(HF_FAULT_ALLOC, 1, false);
        ck_assert(!hf_json_ksort_pieces(value, piece_add, &pieces));
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        hf_buf_fini(&pieces);
        hf_buf_fini(&whole);
        hf_mem_free(mem);
    }
}
END_TEST

HF_SUITE_MAIN("base/json_write", {pieces_make_the_whole, 0}, {known_doubles, 0},
              {the_locale_does_not_matter, 0}, {powers_of_two_read_back, 0},
              {integers_are_exact, 0}, {compact_text, 0}, {canonical_examples, 0},
              {canonical_order_of_many_members, 0}, {ksort_text, 0}, {escapes_grow_the_buffer, 0},
              {writing_appends, 0}, {deepest_value, 0}, {random_values_survive, 0},
              {failed_allocations_are_reported, 0})
