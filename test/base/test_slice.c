/* test_slice.c: comparing, cutting and reading borrowed bytes. */
#include <inttypes.h>
#include <stdio.h>

#include "base/slice.h"
#include "lib/suite.h"

/* Slices come from literals, texts and bytes, zero bytes included. */
START_TEST(slices_are_made)
{
    ck_assert_uint_eq(HF_SLICE("a\0b").len, 3);
    ck_assert_uint_eq(HF_SLICE("").len, 0);
    ck_assert_uint_eq(hf_slice_of("abc").len, 3);
    ck_assert_uint_eq(hf_slice_of(NULL).len, 0);
    ck_assert_ptr_null(hf_slice_of(NULL).ptr);
    ck_assert_uint_eq(hf_slice_from("abc", 2).len, 2);
}
END_TEST

/* Order is by bytes as unsigned numbers, then by length; it agrees with equality. */
START_TEST(order_is_bytes_then_length)
{
    const hf_slice rising[] = {
        {0},           HF_SLICE("\0"),   HF_SLICE("\0\0"),
        HF_SLICE("a"), HF_SLICE("a\0"),  HF_SLICE("aa"),
        HF_SLICE("b"), HF_SLICE("\x80"), HF_SLICE("\xff"),
    };
    const size_t count = sizeof(rising) / sizeof(rising[0]);

    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            int order = hf_slice_compare(rising[i], rising[j]);

            ck_assert_int_eq((order > 0) - (order < 0), (i > j) - (i < j));
            ck_assert_int_eq(hf_slice_equal(rising[i], rising[j]), i == j);
        }
    }
    ck_assert(hf_slice_equal((hf_slice){0}, HF_SLICE("")));
}
END_TEST

/* A prefix may be empty or the whole, never longer. */
START_TEST(prefixes_are_found)
{
    ck_assert(hf_slice_starts(HF_SLICE("holdfast"), HF_SLICE("hold")));
    ck_assert(hf_slice_starts(HF_SLICE("hold"), HF_SLICE("hold")));
    ck_assert(hf_slice_starts(HF_SLICE("hold"), (hf_slice){0}));
    ck_assert(hf_slice_starts((hf_slice){0}, HF_SLICE("")));
    ck_assert(!hf_slice_starts(HF_SLICE("hold"), HF_SLICE("holdfast")));
    ck_assert(!hf_slice_starts(HF_SLICE("hold"), HF_SLICE("old")));
}
END_TEST

/* Only ASCII white space goes, and only at the ends. */
START_TEST(white_space_is_trimmed)
{
    ck_assert(hf_slice_equal(hf_slice_trim(HF_SLICE(" \t\r\n\v\fa b \n")), HF_SLICE("a b")));
    ck_assert(hf_slice_equal(hf_slice_trim(HF_SLICE("a")), HF_SLICE("a")));
    ck_assert_uint_eq(hf_slice_trim(HF_SLICE(" \n ")).len, 0);
    ck_assert_uint_eq(hf_slice_trim((hf_slice){0}).len, 0);
    ck_assert(hf_slice_equal(hf_slice_trim(HF_SLICE("\xc2\xa0x")), HF_SLICE("\xc2\xa0x")));
    ck_assert_uint_eq(hf_slice_trim(HF_SLICE("\0 \0")).len, 3);
}
END_TEST

static size_t parts_count(hf_slice rest, const hf_slice *expected)
{
    hf_slice part;
    size_t count = 0;

    while (hf_slice_split(&rest, ',', &part)) {
        ck_assert(hf_slice_equal(part, expected[count]));
        count++;
    }
    ck_assert_ptr_null(rest.ptr);
    return count;
}

/* There is one part more than separators, empty ones included; nothing at all has no part. */
START_TEST(splits_at_separators)
{
    const hf_slice abc[] = {HF_SLICE("a"), HF_SLICE(""), HF_SLICE("bc"), HF_SLICE("")};
    const hf_slice empty[] = {HF_SLICE(""), HF_SLICE("")};

    ck_assert_uint_eq(parts_count(HF_SLICE("a,,bc,"), abc), 4);
    ck_assert_uint_eq(parts_count(HF_SLICE("a"), abc), 1);
    ck_assert_uint_eq(parts_count(HF_SLICE(","), empty), 2);
    ck_assert_uint_eq(parts_count(HF_SLICE(""), empty), 1);
    ck_assert_uint_eq(parts_count((hf_slice){0}, empty), 0);
}
END_TEST

/* Every 64-bit number is read back; texts beyond the limits by one are refused. */
START_TEST(numbers_are_read)
{
    const int64_t good[] = {0,
                            1,
                            -1,
                            9,
                            10,
                            -10,
                            INT64_MAX,
                            INT64_MIN,
                            INT64_MAX - 1,
                            INT64_MIN + 1,
                            1234567890123456789};
    const char *bad[] = {"",
                         "-",
                         "+1",
                         " 1",
                         "1 ",
                         "1.0",
                         "0x1",
                         "--1",
                         "1-",
                         "a",
                         "9223372036854775808",
                         "-9223372036854775809",
                         "18446744073709551616",
                         "99999999999999999999999",
                         "\xb1"};
    char text[32];
    int64_t number = 0;

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        (void)snprintf(text, sizeof(text), "%" PRId64, good[i]);
        ck_assert(hf_slice_int(hf_slice_of(text), &number));
        ck_assert_int_eq(number, good[i]);
    }
    number = 77;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(!hf_slice_int(hf_slice_of(bad[i]), &number), "%s", bad[i]);
    ck_assert(!hf_slice_int(HF_SLICE("1\0"), &number));
    ck_assert(!hf_slice_int((hf_slice){0}, &number));
    ck_assert_int_eq(number, 77);
}
END_TEST

HF_SUITE_MAIN("base/slice", {slices_are_made, 0}, {order_is_bytes_then_length, 0},
              {prefixes_are_found, 0}, {white_space_is_trimmed, 0}, {splits_at_separators, 0},
              {numbers_are_read, 0})
