/* test_signature.c: signatures that are used once, in bounded memory. */
#include <string.h>

#include "lib/suite.h"
#include "server/signature.h"

#define NOW_US INT64_C(1700000000000000)

static hf_signatures *used;
static hf_err err;

/* A signature that no other number has. */
static hf_status use(int number, int64_t time_us, int64_t wall_us)
{
    uint8_t digest[HF_SHA256_BYTES] = {0};

    memcpy(digest, &number, sizeof(number));
    return hf_signatures_use(used, digest, time_us, wall_us, &err);
}

static void begin(size_t most)
{
    ck_assert_int_eq(hf_signatures_open(NOW_US, most, &used, &err), HF_OK);
}

/* Good once, for five minutes to both sides, and not from before the process began. */
START_TEST(n43_signatures_are_used_once)
{
    const int64_t later_us = NOW_US + 2 * HF_SIGNATURE_WINDOW_US;

    begin(0);
    ck_assert_int_eq(use(1, NOW_US, NOW_US + 1), HF_DENIED);
    ck_assert_ptr_nonnull(strstr(err.text, "remembers"));
    ck_assert_int_eq(use(1, NOW_US + 1, NOW_US + 1), HF_OK);
    ck_assert_int_eq(use(1, NOW_US + 1, NOW_US + 2), HF_DENIED);
    ck_assert_ptr_nonnull(strstr(err.text, "used before"));
    ck_assert_int_eq(use(2, NOW_US + 1, NOW_US + 2), HF_OK);
    ck_assert_int_eq(use(3, later_us - HF_SIGNATURE_WINDOW_US, later_us), HF_OK);
    ck_assert_int_eq(use(4, later_us + HF_SIGNATURE_WINDOW_US, later_us), HF_OK);
    ck_assert_int_eq(use(5, later_us - HF_SIGNATURE_WINDOW_US - 1, later_us), HF_DENIED);
    ck_assert_int_eq(use(5, later_us + HF_SIGNATURE_WINDOW_US + 1, later_us), HF_DENIED);
    ck_assert_int_eq(use(5, INT64_MAX, later_us), HF_DENIED);
    ck_assert_int_eq(
        use(4, later_us + HF_SIGNATURE_WINDOW_US, later_us + 2 * HF_SIGNATURE_WINDOW_US),
        HF_DENIED); /* as long as it is good */
    hf_signatures_close(used);
}
END_TEST

/* When memory is full the oldest is forgotten, and whatever is as old as it was is refused. */
START_TEST(n43_what_is_remembered_is_bounded)
{
    begin(3);
    for (int i = 1; i <= 3; i++)
        ck_assert_int_eq(use(i, NOW_US + i, NOW_US + 10), HF_OK);
    ck_assert_int_eq(use(9, NOW_US + 1, NOW_US + 10), HF_DENIED); /* it would be forgotten first */
    ck_assert_int_eq(use(4, NOW_US + 4, NOW_US + 10), HF_OK);
    ck_assert_int_eq(use(1, NOW_US + 1, NOW_US + 10), HF_DENIED);
    for (int i = 2; i <= 4; i++)
        ck_assert_int_eq(use(i, NOW_US + i, NOW_US + 10), HF_DENIED);
    ck_assert_int_eq(use(5, NOW_US + 5, NOW_US + 10), HF_OK);
    ck_assert_int_eq(use(2, NOW_US + 2, NOW_US + 10), HF_DENIED);
    hf_signatures_close(used);
}
END_TEST

HF_SUITE_MAIN("server/signature", {n43_signatures_are_used_once, 0},
              {n43_what_is_remembered_is_bounded, 0})
