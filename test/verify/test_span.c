/* test_span.c: sets of numbers as spans, against a plain array of flags. */
#include "verify/span.h"

#include "base/fault.h"
#include "base/rng.h"
#include "lib/suite.h"

enum { NUMBERS = 300, SEEDS = 200 };

/* Numbers in order are one span, however many there are. */
START_TEST(order_is_one_span)
{
    hf_mem *mem = hf_mem_new();
    hf_span_set set = {0};

    for (int64_t i = 1; i <= 100000; i++)
        ck_assert(hf_span_add(&set, mem, i));
    ck_assert_uint_eq(set.count, 1);
    ck_assert(hf_span_has(&set, 1) && hf_span_has(&set, 100000));
    ck_assert(!hf_span_has(&set, 0) && !hf_span_has(&set, 100001));
    hf_mem_free(mem);
}
END_TEST

/* In any order, with repetitions, the set holds what was added, in as few spans as possible. */
START_TEST(agrees_with_flags)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        bool flags[NUMBERS + 2] = {false};
        hf_mem *mem = hf_mem_new();
        hf_span_set set = {0};
        size_t spans = 0;
        hf_rng rng;

        hf_rng_init_seeded(&rng, seed);
        for (int i = 0; i < NUMBERS; i++) {
            size_t number = 1 + (size_t)hf_rng_below(&rng, NUMBERS);

            flags[number] = true;
            ck_assert(hf_span_add(&set, mem, (int64_t)number));
        }
        for (size_t i = 0; i < NUMBERS + 1; i++) {
            ck_assert_int_eq(hf_span_has(&set, (int64_t)i), flags[i]);
            spans += flags[i] && !flags[i + 1];
        }
        ck_assert_uint_eq(set.count, spans);
        hf_mem_free(mem);
    }
}
END_TEST

/* The ends of the range of numbers are members like any other. */
START_TEST(holds_extremes)
{
    hf_mem *mem = hf_mem_new();
    hf_span_set set = {0};

    ck_assert(hf_span_add(&set, mem, INT64_MAX));
    ck_assert(hf_span_add(&set, mem, INT64_MIN));
    ck_assert(hf_span_add(&set, mem, INT64_MAX - 1));
    ck_assert_uint_eq(set.count, 2);
    ck_assert(hf_span_has(&set, INT64_MAX) && hf_span_has(&set, INT64_MIN));
    hf_mem_free(mem);
}
END_TEST

/* Without memory an addition fails and the set stays as it was. */
START_TEST(survives_no_memory)
{
    hf_mem *mem = hf_mem_new();
    hf_span_set set = {0};
    int64_t added = 0;

    hf_fault_arm(HF_FAULT_ALLOC, 1, true);
    while (added < 1000000 && hf_span_add(&set, mem, added * 2))
        added++;
    hf_fault_arm(HF_FAULT_ALLOC, 0, false);
    ck_assert_uint_eq(set.count, (size_t)added);
    for (int64_t i = 0; i < added; i++)
        ck_assert(hf_span_has(&set, i * 2) && !hf_span_has(&set, i * 2 + 1));
    hf_mem_free(mem);
}
END_TEST

HF_SUITE_MAIN("verify/span", {order_is_one_span, 0}, {agrees_with_flags, 0}, {holds_extremes, 0},
              {survives_no_memory, 0})
