/* test_limit.c: defaults of the contract, and where each rule trips. */
#include "lib/suite.h"
#include "model/limit.h"

/* The defaults are the contract's. */
START_TEST(defaults_are_the_contracts)
{
    static const struct {
        hf_limit limit;
        int64_t standard;
    } rows[] = {
        {HF_LIMIT_PENDING_ACTIVITY_COUNT, 2000},
        {HF_LIMIT_PENDING_CHILD_COUNT, 1000},
        {HF_LIMIT_PENDING_TIMER_COUNT, 2000},
        {HF_LIMIT_PENDING_SIGNAL_COUNT, 5000},
        {HF_LIMIT_PENDING_UPDATE_COUNT, 500},
        {HF_LIMIT_COMMAND_BATCH_SIZE, 1000},
        {HF_LIMIT_PAYLOAD_SIZE_BYTES, 2097152},
        {HF_LIMIT_MEMO_SIZE_BYTES, 262144},
        {HF_LIMIT_SEARCH_ATTRIBUTE_SIZE_BYTES, 40960},
        {HF_LIMIT_HISTORY_TRANSACTION_SIZE, 5000},
        {HF_LIMIT_WARNING_THRESHOLD_PERCENT, 80},
        {HF_LIMIT_BUDGET_EVENT_THRESHOLD, 10000},
        {HF_LIMIT_REPAIR_SCAN_LIMIT, 25},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        ck_assert_int_eq(hf_limit_get(rows[i].limit)->standard, rows[i].standard);
    for (size_t i = 0; i < hf_limit_list.count; i++)
        ck_assert_int_gt(hf_limit_get((hf_limit)hf_limit_list.items[i].number)->standard, 0);
    ck_assert_ptr_null(hf_limit_get((hf_limit)0));
}
END_TEST

/* What is configured counts; a limit that nobody can configure keeps its default. */
START_TEST(configured_limits_are_found)
{
    hf_limits limits = hf_limits_standard();

    ck_assert_int_eq(hf_limits_get(&limits, HF_LIMIT_MAX_EVENTS_PER_RUN), 50000);
    limits.of[HF_LIMIT_MAX_EVENTS_PER_RUN] = 7;
    ck_assert_int_eq(hf_limits_get(&limits, HF_LIMIT_MAX_EVENTS_PER_RUN), 7);
    ck_assert_int_eq(hf_limits_get(NULL, HF_LIMIT_MAX_EVENTS_PER_RUN), 50000);
    ck_assert_int_eq(hf_limits_get(&limits, HF_LIMIT_SEARCH_ATTRIBUTE_KEYWORD), 255);
}
END_TEST

/* Counts trip when the limit is reached, sizes when it is passed, plain ones never; 0 is off. */
START_TEST(rules_trip_where_they_say)
{
    ck_assert(!hf_limit_trips(HF_LIMIT_PENDING_ACTIVITY_COUNT, 10, 9));
    ck_assert(hf_limit_trips(HF_LIMIT_PENDING_ACTIVITY_COUNT, 10, 10));
    ck_assert(!hf_limit_trips(HF_LIMIT_PAYLOAD_SIZE_BYTES, 10, 10));
    ck_assert(hf_limit_trips(HF_LIMIT_PAYLOAD_SIZE_BYTES, 10, 11));
    ck_assert(!hf_limit_trips(HF_LIMIT_ACTIVITY_LEASE_SECONDS, 10, INT64_MAX));
    ck_assert(!hf_limit_trips(HF_LIMIT_PENDING_ACTIVITY_COUNT, 0, INT64_MAX));
    ck_assert(!hf_limit_trips(HF_LIMIT_PAYLOAD_SIZE_BYTES, -1, INT64_MAX));
    ck_assert(!hf_limit_trips((hf_limit)0, 1, 2));
}
END_TEST

/* Warnings start at the rounded-down share, without overflow. */
START_TEST(warnings_start_below)
{
    ck_assert_int_eq(hf_limit_warning(2000, 80), 1600);
    ck_assert_int_eq(hf_limit_warning(3, 80), 2);
    ck_assert_int_eq(hf_limit_warning(199, 50), 99);
    ck_assert_int_eq(hf_limit_warning(0, 80), 0);
    ck_assert_int_eq(hf_limit_warning(100, 0), 0);
    ck_assert_int_eq(hf_limit_warning(100, 1000), 100);
    ck_assert_int_eq(hf_limit_warning(INT64_MAX, 100), INT64_MAX);
}
END_TEST

/* Units and rules have words. */
START_TEST(words_are_there)
{
    ck_assert_str_eq(hf_limit_unit_text(HF_LIMIT_UNIT_BYTES), "bytes");
    ck_assert_str_eq(hf_limit_unit_text(HF_LIMIT_UNIT_SECONDS), "seconds");
    ck_assert_str_eq(hf_limit_rule_text(HF_LIMIT_RULE_COUNT), "count >= limit");
    ck_assert_str_eq(hf_limit_rule_text(HF_LIMIT_RULE_PLAIN), "as it is");
    ck_assert_str_eq(hf_limit_unit_text((hf_limit_unit)99), "unknown");
    ck_assert_str_eq(hf_limit_rule_text((hf_limit_rule)99), "unknown");
}
END_TEST

HF_SUITE_MAIN("model/limit", {defaults_are_the_contracts, 0}, {configured_limits_are_found, 0},
              {rules_trip_where_they_say, 0}, {warnings_start_below, 0}, {words_are_there, 0})
