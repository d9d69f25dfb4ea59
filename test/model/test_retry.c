/* test_retry.c: pauses, limits and refusals of retry policies. */
#include <string.h>

#include "lib/suite.h"
#include "model/retry.h"

/* Without a list the default one is used, and its last pause repeats for ever. */
START_TEST(default_pauses_repeat_the_last)
{
    static const int64_t seconds[] = {1, 2, 5, 10, 15, 30, 60, 120, 120, 120};
    hf_retry_policy policy = hf_retry_default();

    ck_assert_int_eq(policy.max_attempts, 1);
    for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++)
        ck_assert_int_eq(hf_retry_backoff_ms(&policy, (int64_t)i + 1), seconds[i] * 1000);
    ck_assert_int_eq(hf_retry_backoff_ms(&policy, INT64_MAX), 120000);
}
END_TEST

/* A list of one is used for every attempt; zero is a pause too. */
START_TEST(own_pauses_are_used)
{
    static const int64_t one[] = {250};
    static const int64_t three[] = {0, 7, 9};
    hf_retry_policy policy = {.backoff_ms = one, .backoff_count = 1};

    ck_assert_int_eq(hf_retry_backoff_ms(&policy, 1), 250);
    ck_assert_int_eq(hf_retry_backoff_ms(&policy, 1000), 250);
    policy.backoff_ms = three;
    policy.backoff_count = 3;
    ck_assert_int_eq(hf_retry_backoff_ms(&policy, 1), 0);
    ck_assert_int_eq(hf_retry_backoff_ms(&policy, 2), 7);
    ck_assert_int_eq(hf_retry_backoff_ms(&policy, 3), 9);
    ck_assert_int_eq(hf_retry_backoff_ms(&policy, 4), 9);
}
END_TEST

/* The last allowed attempt is not retried; without a limit every one is. */
START_TEST(attempts_are_counted)
{
    hf_retry_policy policy = {.max_attempts = 3};

    ck_assert(hf_retry_allowed(&policy, &(hf_retry_end){.reported = 1}));
    ck_assert(hf_retry_allowed(&policy, &(hf_retry_end){.reported = 2}));
    ck_assert(!hf_retry_allowed(&policy, &(hf_retry_end){.reported = 3}));
    ck_assert(!hf_retry_allowed(&policy, &(hf_retry_end){.reported = 4}));
    policy.max_attempts = 0;
    ck_assert(hf_retry_allowed(&policy, &(hf_retry_end){.reported = INT64_MAX}));
}
END_TEST

/* A failure that says so, a type on the list and the end of the whole time are final. */
START_TEST(some_ends_are_final)
{
    const hf_slice types[] = {HF_SLICE("bad_input"), HF_SLICE("card_declined")};
    hf_retry_policy policy = {.final_types = types, .final_type_count = 2};

    ck_assert(!hf_retry_allowed(&policy, &(hf_retry_end){.reported = 1, .non_retryable = true}));
    ck_assert(!hf_retry_allowed(
        &policy, &(hf_retry_end){.reported = 1, .failure_type = HF_SLICE("card_declined")}));
    ck_assert(hf_retry_allowed(
        &policy, &(hf_retry_end){.reported = 1, .failure_type = HF_SLICE("card_declined2")}));
    ck_assert(!hf_retry_allowed(
        &policy, &(hf_retry_end){.reported = 1, .timed_out = HF_TIMEOUT_KIND_SCHEDULE_TO_CLOSE}));
    ck_assert(hf_retry_allowed(
        &policy, &(hf_retry_end){.reported = 1, .timed_out = HF_TIMEOUT_KIND_HEARTBEAT}));
}
END_TEST

/* A policy with a number out of range is refused, and the message names it. */
START_TEST(bad_policies_are_refused)
{
    static const int64_t pauses[] = {1, -1};
    const hf_slice empty[] = {{0}};
    const struct {
        hf_retry_policy policy;
        const char *says;
    } rows[] = {
        {{.max_attempts = -1}, "max_attempts is -1"},
        {{.max_attempts = INT64_MAX}, "max_attempts"},
        {{.start_to_close_ms = -5}, "start_to_close_timeout is -5"},
        {{.schedule_to_start_ms = HF_RETRY_MS_MAX + 1}, "schedule_to_start_timeout"},
        {{.schedule_to_close_ms = INT64_MIN}, "schedule_to_close_timeout"},
        {{.heartbeat_ms = -1}, "heartbeat_timeout"},
        {{.backoff_ms = pauses, .backoff_count = 2}, "a pause is -1"},
        {{.backoff_ms = pauses, .backoff_count = HF_RETRY_BACKOFFS_MAX + 1}, "65 pauses"},
        {{.backoff_count = 1}, "none given"},
        {{.final_types = empty, .final_type_count = 1}, "failure type 1"},
    };
    hf_retry_policy good = {.max_attempts = 3, .backoff_ms = pauses, .backoff_count = 1};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        hf_err err = {0};

        ck_assert_int_eq(hf_retry_check(&rows[i].policy, &err), HF_INVALID);
        ck_assert_msg(strstr(err.text, rows[i].says) != NULL, "%s", err.text);
    }
    ck_assert_int_eq(hf_retry_check(&good, NULL), HF_OK);
}
END_TEST

/* Types that are never retried: without spaces around them, as many as are allowed and no more. */
START_TEST(types_are_split)
{
    char list[2 * HF_RETRY_TYPES_MAX + 1];
    hf_mem *mem = hf_mem_new();
    const hf_slice *types = NULL;
    size_t count = 0;
    hf_err err = {0};

    ck_assert_int_eq(hf_retry_types(mem, HF_SLICE(" a b, c ,,d"), &types, &count, &err), HF_OK);
    ck_assert_uint_eq(count, 3);
    ck_assert(hf_slice_equal(types[0], HF_SLICE("a b")));
    ck_assert(hf_slice_equal(types[1], HF_SLICE("c")));
    for (size_t i = 0; i < sizeof(list); i++)
        list[i] = i % 2 ? ',' : 'x';
    ck_assert_int_eq(
        hf_retry_types(mem, hf_slice_from(list, sizeof(list) - 2), &types, &count, &err), HF_OK);
    ck_assert_uint_eq(count, HF_RETRY_TYPES_MAX);
    ck_assert_int_eq(hf_retry_types(mem, hf_slice_from(list, sizeof(list)), &types, &count, &err),
                     HF_INVALID);
    ck_assert_int_eq(hf_retry_types(mem, HF_SLICE("ok,caf\xe9"), &types, &count, &err), HF_INVALID);
    hf_mem_free(mem);
}
END_TEST

/* Repair pauses double from the redispatch period up to the cap and never overflow. */
START_TEST(repair_pauses_double)
{
    static const int64_t expected[] = {0, 3, 6, 12, 24, 48, 60, 60};

    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        ck_assert_int_eq(hf_retry_repair_backoff_s(3, (int64_t)i, 60), expected[i]);
    ck_assert_int_eq(hf_retry_repair_backoff_s(3, INT64_MAX, 60), 60);
    ck_assert_int_eq(hf_retry_repair_backoff_s(3, INT64_MAX, INT64_MAX), INT64_MAX);
    ck_assert_int_eq(hf_retry_repair_backoff_s(0, INT64_MAX, 60), 0);
    ck_assert_int_eq(hf_retry_repair_backoff_s(90, 1, 60), 60);
    ck_assert_int_eq(hf_retry_repair_backoff_s(3, 1, 0), 0);
}
END_TEST

HF_SUITE_MAIN("model/retry", {default_pauses_repeat_the_last, 0}, {own_pauses_are_used, 0},
              {attempts_are_counted, 0}, {some_ends_are_final, 0}, {bad_policies_are_refused, 0},
              {types_are_split, 0}, {repair_pauses_double, 0})
