/* test_decision_codec.c: decisions of every kind come back as they went, and what is none is
   refused with its place. */
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "lib/suite.h"
#include "model/decision_codec.h"

static const int64_t waits[] = {1, 2000000};
static const hf_decision_group barrier[] = {{HF_PARALLEL_GROUP_KIND_MIXED, 2, 3, 1},
                                            {HF_PARALLEL_GROUP_KIND_CHILD, 3, 2, 0}};

#define PAYLOAD(text)                                                                              \
    {                                                                                              \
        HF_PAYLOAD_CODEC_JSON, HF_SLICE(text)                                                      \
    }

/* One of each form. */
static void rows_make(hf_decision_row *out)
{
    const hf_decision_row rows[] = {
        {.kind = HF_DECISION_SCHEDULE_ACTIVITY,
         .step = 3,
         .at = "a.c:1",
         .name = HF_SLICE("charge"),
         .value = PAYLOAD("{\"n\":9007199254740993}"),
         .groups = barrier,
         .group_count = 2,
         .activity = {.queue = HF_SLICE("q"),
                      .start_to_close_us = 5,
                      .retry = {.max_attempts = -1,
                                .backoff_us = waits,
                                .backoff_count = 2,
                                .no_retry_on = HF_SLICE("a,b")},
                      .local = true}},
        {.kind = HF_DECISION_START_TIMER, .step = 4, .timer = {.delay_us = 7}},
        {.kind = HF_DECISION_START_CHILD_WORKFLOW,
         .step = 5,
         .name = HF_SLICE("leaf"),
         .child = {.id = HF_SLICE("x"),
                   .retry = {.max_attempts = 3, .backoff_us = waits, .backoff_count = 2},
                   .on_parent_close = HF_PARENT_CLOSE_REQUEST_CANCEL}},
        {.kind = HF_DECISION_OPEN_SIGNAL_WAIT, .step = 6, .wait = {.timeout_us = -1}},
        {.kind = HF_DECISION_APPLY_SIGNAL, .name = HF_SLICE("s"), .fact = {.seq = 9}},
        {.kind = HF_DECISION_RECORD_VERSION_MARKER,
         .step = 7,
         .version = {.version = 2, .min_supported = -1, .max_supported = 2}},
        {.kind = HF_DECISION_FAIL_UPDATE,
         .failure = {.category = HF_FAILURE_CATEGORY_ACTIVITY,
                     .type = HF_SLICE("t"),
                     .message = HF_SLICE("m"),
                     .details = PAYLOAD("[1]"),
                     .retryable = true,
                     .seq = 4}},
        {.kind = HF_DECISION_SIGNAL_CHILD, .outgoing = {.child_call = HF_SLICE("c"), .ordinal = 3}},
        {.kind = HF_DECISION_COMPLETE_WORKFLOW, .value = PAYLOAD("null")},
    };
    memcpy(out, rows, sizeof(rows));
}
enum { ROWS = 9 };

/* What is written is read back and written the same; single fields survive. */
START_TEST(every_kind_comes_back)
{
    hf_mem *mem = hf_mem_new();
    hf_decision_row rows[ROWS];
    hf_decision_row *read = NULL;
    hf_value list = NULL;
    hf_value again = NULL;
    size_t count = 0;
    hf_err err = {0};

    rows_make(rows);
    ck_assert_msg(!hf_decisions_write(mem, rows, ROWS, &list, &err), "%s", err.text);
    ck_assert_msg(!hf_decisions_read(mem, list, &read, &count, &err), "%s", err.text);
    ck_assert_uint_eq(count, ROWS);
    ck_assert_msg(!hf_decisions_write(mem, read, count, &again, &err), "%s", err.text);
    ck_assert(hf_value_equal(list, again));
    ck_assert(hf_slice_equal(read[0].value.bytes, rows[0].value.bytes));
    ck_assert_int_eq(read[0].groups[1].base_step, 3);
    ck_assert_int_eq(read[0].activity.retry.backoff_us[1], 2000000);
    ck_assert(read[0].activity.local);
    ck_assert_uint_eq(read[2].child.retry.backoff_count, 2);
    ck_assert_int_eq(read[2].child.on_parent_close, HF_PARENT_CLOSE_REQUEST_CANCEL);
    ck_assert_int_eq(read[3].wait.timeout_us, HF_DECISION_NO_TIMEOUT);
    ck_assert_int_eq(read[6].failure.seq, 4);
    ck_assert(hf_slice_equal(read[8].value.bytes, HF_SLICE("null")));
    hf_mem_free(mem);
}
END_TEST

/* Nothing that is wrong gets through, and memory that runs out is said. */
START_TEST(what_is_none_is_refused)
{
    static const char *const bad[] = {
        "{}",
        "[{}]",
        "[{\"kind\":\"dance\"}]",
        "[{\"kind\":\"complete_step\"}]",
        "[{\"kind\":\"start_timer\",\"step\":-1}]",
        "[{\"kind\":\"start_timer\",\"step\":\"1\"}]",
        "[{\"kind\":\"start_timer\",\"delay_us\":-2}]",
        "[{\"kind\":\"start_timer\",\"delay_us\":1.5}]",
        "[{\"kind\":\"schedule_activity\",\"name\":7}]",
        "[{\"kind\":\"schedule_activity\",\"name\":\"a\\u0000b\"}]",
        "[{\"kind\":\"schedule_activity\",\"backoff_us\":[-1]}]",
        "[{\"kind\":\"schedule_activity\",\"local\":1}]",
        "[{\"kind\":\"schedule_activity\",\"groups\":[]}]",
        "[{\"kind\":\"schedule_activity\",\"groups\":[[\"mixed\",1,2,2]]}]",
        "[{\"kind\":\"start_child_workflow\",\"on_parent_close\":\"wave\"}]",
        "[{\"kind\":\"fail_workflow\",\"category\":\"bad luck\"}]"};
    hf_mem *mem = hf_mem_new();
    hf_decision_row *read = NULL;
    hf_value list = NULL;
    size_t count = 0;
    hf_err err = {0};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert(!hf_json_read(mem, hf_slice_of(bad[i]), NULL, &list, &err));
        ck_assert_msg(hf_decisions_read(mem, list, &read, &count, &err) == HF_INVALID, "%s",
                      bad[i]);
        ck_assert_str_ne(err.text, "");
    }
    ck_assert_int_eq(hf_decisions_read(mem, NULL, &read, &count, &err), HF_INVALID);
    hf_mem_free(mem);
}
END_TEST

HF_SUITE_MAIN("model/decision_codec", {every_kind_comes_back, 0}, {what_is_none_is_refused, 0})
