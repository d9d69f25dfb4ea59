/* test_rng.c: seeded numbers are the same everywhere, system numbers never are, and bounds are hit
   evenly. */
#include <string.h>

#include "base/rng.h"
#include "lib/suite.h"

enum { DRAWS = 120000 };

/* The first numbers of three seeds, from an independent implementation of SplitMix64 and
   xoshiro256** that was checked against published outputs of both. */
START_TEST(seeded_numbers_are_known)
{
    static const struct {
        uint64_t seed;
        uint64_t numbers[4];
    } known[] = {
        {0, {0x99ec5f36cb75f2b4U, 0xbf6e1f784956452aU, 0x1a5f849d4933e6e0U, 0x6aa594f1262d2d2cU}},
        {1, {0xb3f2af6d0fc710c5U, 0x853b559647364ceaU, 0x92f89756082a4514U, 0x642e1c7bc266a3a7U}},
        {1234567,
         {0x30a3a1c363600467U, 0x19405f0f579929caU, 0x115beaac046ddbd9U, 0xeb17caf48f27d7f6U}},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        hf_rng rng;

        hf_rng_init_seeded(&rng, known[i].seed);
        for (int j = 0; j < 4; j++)
            ck_assert_uint_eq(hf_rng_next(&rng), known[i].numbers[j]);
    }
}
END_TEST

/* Filling writes exactly the bytes asked for, low byte first, whatever the length. */
START_TEST(fill_is_exact_and_portable)
{
    static const unsigned char expected[12] = {0xb4, 0xf2, 0x75, 0xcb, 0x36, 0x5f,
                                               0xec, 0x99, 0x2a, 0x45, 0x56, 0x49};

    for (size_t len = 0; len <= sizeof(expected); len++) {
        unsigned char bytes[16];
        hf_rng rng;

        memset(bytes, 0x5A, sizeof(bytes));
        hf_rng_init_seeded(&rng, 0);
        hf_rng_fill(&rng, bytes, len);
        ck_assert_int_eq(memcmp(bytes, expected, len), 0);
        for (size_t i = len; i < sizeof(bytes); i++)
            ck_assert_uint_eq(bytes[i], 0x5A);
    }
}
END_TEST

/* Every number below a small bound is drawn about equally often; none at or above it. The limits
   are six standard deviations wide and the seed is fixed. */
START_TEST(below_is_even)
{
    const uint64_t bounds[] = {1, 2, 3, 7, 10, 100};
    hf_rng rng;

    hf_rng_init_seeded(&rng, 9);
    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
        uint64_t seen[100] = {0};
        double expected = (double)DRAWS / (double)bounds[i];

        for (int j = 0; j < DRAWS; j++) {
            uint64_t drawn = hf_rng_below(&rng, bounds[i]);

            ck_assert_uint_lt(drawn, bounds[i]);
            seen[drawn]++;
        }
        for (uint64_t j = 0; j < bounds[i]; j++) {
            double off = (double)seen[j] - expected;

            ck_assert_double_le(off * off, 36 * expected);
        }
    }
}
END_TEST

/* With a bound of three quarters of the range, taking the remainder alone would draw the lower
   third twice as often as the rest. */
START_TEST(below_has_no_bias_for_large_bounds)
{
    uint64_t bound = UINT64_C(3) << 62;
    uint64_t third = bound / 3;
    uint64_t seen[3] = {0};
    hf_rng rng;

    hf_rng_init_seeded(&rng, 10);
    for (int i = 0; i < DRAWS; i++)
        seen[hf_rng_below(&rng, bound) / third]++;
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_gt(seen[i], DRAWS / 3 - 1000);
        ck_assert_uint_lt(seen[i], DRAWS / 3 + 1000);
    }
    ck_assert_uint_lt(hf_rng_below(&rng, UINT64_MAX), UINT64_MAX);
}
END_TEST

/* System numbers: large requests are filled to the last byte, two sources differ, bounds hold. */
START_TEST(system_numbers)
{
    static unsigned char a[100000];
    static unsigned char b[100000];
    hf_rng rng;
    hf_rng other;
    hf_err err = {0};
    size_t zeros = 0;

    ck_assert_int_eq(hf_rng_init_system(&rng, &err), HF_OK);
    ck_assert_int_eq(hf_rng_init_system(&other, &err), HF_OK);
    hf_rng_fill(&rng, a, sizeof(a));
    hf_rng_fill(&other, b, sizeof(b));
    hf_rng_fill(&rng, a, 0);
    ck_assert_int_ne(memcmp(a, b, sizeof(a)), 0);
    ck_assert_int_ne(memcmp(a + sizeof(a) - 16, b + sizeof(b) - 16, 16), 0);
    for (size_t i = 0; i < sizeof(a); i++)
        zeros += a[i] == 0;
    ck_assert_uint_gt(zeros, 200); /* about 391; a failure by chance is beyond 9 deviations */
    ck_assert_uint_lt(zeros, 600);
    ck_assert_uint_ne(hf_rng_next(&rng), hf_rng_next(&rng));
    for (int i = 0; i < 1000; i++)
        ck_assert_uint_lt(hf_rng_below(&rng, 7), 7);
}
END_TEST

HF_SUITE_MAIN("base/rng", {seeded_numbers_are_known, 0}, {fill_is_exact_and_portable, 0},
              {below_is_even, 0}, {below_has_no_bias_for_large_bounds, 0}, {system_numbers, 0})
