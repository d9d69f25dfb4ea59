/* What user code may hand over: each bound at its last allowed value and one beyond it. */
#include "engine/bounds.h"

#include <string.h>

#include "base/fault.h"
#include "base/value.h"
#include "lib/suite.h"

static const char *bounded(const hf_progress *progress, hf_buf *text)
{
    hf_progress sized = progress ? *progress : (hf_progress){0};
    hf_err err = {0};
    hf_status st;

    sized.size_ = sizeof(sized);
    st = hf_bounds_progress(progress ? &sized : NULL, text, &err);

    return st == HF_OK ? hf_buf_text(text) : "refused";
}

/* Progress becomes JSON with what it says and nothing else. */
START_TEST(progress_says_what_is_there)
{
    hf_mem *mem = hf_mem_new();
    hf_buf text = {0};

    ck_assert_str_eq(bounded(NULL, &text), "");
    ck_assert_str_eq(bounded(&(hf_progress){.size_ = sizeof(hf_progress)}, &text), "");
    ck_assert_str_eq(bounded(&(hf_progress){.current = 1}, &text), "{\"current\":1}");
    hf_buf_clear(&text);
    ck_assert_str_eq(bounded(&(hf_progress){.message = "a\"b"}, &text), "{\"message\":\"a\\\"b\"}");
    hf_buf_clear(&text);
    ck_assert_str_eq(
        bounded(&(hf_progress){.total = 2, .details = hf_json_(mem, "{'k': 1.5}")}, &text),
        "{\"current\":0,\"total\":2,\"details\":{\"k\":1.5}}");
    hf_buf_fini(&text);
    hf_mem_free(mem);
}
END_TEST

/* Characters count, not bytes; broken UTF-8 is refused. */
START_TEST(progress_texts_are_bounded)
{
    char text[1200];
    hf_buf out = {0};

    for (size_t i = 0; i < 280; i++)
        memcpy(text + 2 * i, "\xc3\xa9", 3);
    ck_assert_str_ne(bounded(&(hf_progress){.message = text}, &out), "refused");
    hf_buf_clear(&out);
    strcpy(text + 560, "x");
    ck_assert_str_eq(bounded(&(hf_progress){.message = text}, &out), "refused");
    ck_assert_str_eq(bounded(&(hf_progress){.message = "\xff"}, &out), "refused");
    memset(text, 'u', 65);
    text[65] = '\0';
    ck_assert_str_eq(bounded(&(hf_progress){.unit = text}, &out), "refused");
    ck_assert_str_ne(bounded(&(hf_progress){.unit = text + 1}, &out), "refused");
    hf_buf_fini(&out);
}
END_TEST

/* Twenty flat details are taken, one more is not. */
START_TEST(progress_details_are_bounded)
{
    hf_mem *mem = hf_mem_new();
    hf_value_list *list = hf_value_object(mem);
    hf_buf out = {0};
    hf_value details;
    char key[8] = "k00";

    for (int i = 0; i < 20; i++) {
        key[1] = (char)('a' + i);
        hf_value_set(list, hf_slice_of(key), hf_value_bool(true));
    }
    details = hf_value_finish(list);
    ck_assert_str_ne(bounded(&(hf_progress){.details = details}, &out), "refused");
    list = hf_value_object(mem);
    for (int i = 0; i < 21; i++) {
        key[1] = (char)('a' + i);
        hf_value_set(list, hf_slice_of(key), hf_value_bool(true));
    }
    details = hf_value_finish(list);
    ck_assert_str_eq(bounded(&(hf_progress){.details = details}, &out), "refused");
    hf_buf_fini(&out);
    hf_mem_free(mem);
}
END_TEST

/* Memory that runs out at any point is reported, and nothing is left behind. */
START_TEST(progress_survives_no_memory)
{
    const hf_progress progress = {
        .size_ = sizeof(progress), .current = 1, .message = "copying", .unit = "rows"};
    hf_status st = HF_NOMEM;

    for (int64_t at = 1; st; at++) {
        hf_buf out = {0};
        hf_err err = {0};

        hf_fault_arm(HF_FAULT_ALLOC, at, false);
        st = hf_bounds_progress(&progress, &out, &err);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert(st == HF_OK || st == HF_NOMEM);
        hf_buf_fini(&out);
    }
}
END_TEST

/* A value of the limit passes; one byte more is a failure with its numbers. */
START_TEST(payloads_are_bounded)
{
    hf_mem *mem = hf_mem_new();
    hf_decision_failure failure = {0};

    ck_assert(!hf_bounds_payload(mem, 2097152, 2097152, &failure));
    ck_assert(hf_bounds_payload(mem, 2097152, 2097153, &failure));
    ck_assert_int_eq(failure.category, HF_FAILURE_CATEGORY_STRUCTURAL_LIMIT);
    ck_assert(!failure.retryable);
    ck_assert_ptr_nonnull(strstr(failure.details.bytes.ptr, "\"structural_limit_value\":2097153"));
    hf_mem_free(mem);
}
END_TEST

HF_SUITE_MAIN("engine/bounds", {progress_says_what_is_there, 0}, {progress_texts_are_bounded, 0},
              {progress_details_are_bounded, 0}, {progress_survives_no_memory, 0},
              {payloads_are_bounded, 0})
