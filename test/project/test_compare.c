/* Two runs aligned by step, from events alone: steps of any number cost as much as there are of
   them, values are compared whatever codec they were stored in, and big ones by their bytes. */
#include "base/avro.h"
#include "base/buf.h"
#include "lib/engine.h"
#include "lib/suite.h"
#include "project/compare.h"

enum { BEGIN_US = 1000000 };

static void activity(hf_event_builder *b, int64_t step, const char *type, const char *json)
{
    hf_event_begin(b, HF_EVENT_ACTIVITY_SCHEDULED, BEGIN_US, step);
    hf_event_put_text(b, HF_KEY_ACTIVITY_TYPE, hf_slice_of(type));
    if (json)
        hf_event_put_payload(b, HF_KEY_ARGUMENTS,
                             hf_payload_inline(HF_PAYLOAD_CODEC_JSON, hf_slice_of(json)));
}

static hf_compare_run run_of(hf_event_builder *b)
{
    hf_compare_run run = {.run_key = 7};
    hf_event *events = NULL;
    hf_err err = {0};

    hf_test_ok(hf_event_builder_done(b, &events, &run.count, &err), &err, "events");
    run.events = events;
    return run;
}

static void steps_are(hf_mem *mem, const hf_compare_run *a, const hf_compare_run *b,
                      const int64_t *steps, const hf_compare_state *states, size_t count)
{
    hf_compare *compare = NULL;
    hf_compare_step step;
    bool there = true;
    size_t at = 0;
    hf_err err = {0};

    hf_test_ok(hf_compare_new(mem, a, b, &compare, &err), &err, "compare");
    for (;;) {
        hf_test_ok(hf_compare_next(compare, &step, &there, &err), &err, "a step");
        if (!there)
            break;
        ck_assert_uint_lt(at, count);
        ck_assert_int_eq(step.step, steps[at]);
        ck_assert_int_eq(step.state, states[at]);
        at++;
    }
    ck_assert_uint_eq(at, count);
    hf_compare_free(compare);
}

/* A file may claim any number for a step. */
START_TEST(far_apart_steps_are_walked_at_once)
{
    static const int64_t steps[] = {1, 5, INT64_MAX - 1, INT64_MAX};
    static const hf_compare_state states[] = {HF_COMPARE_SAME, HF_COMPARE_ONLY_B, HF_COMPARE_ONLY_A,
                                              HF_COMPARE_DIFFERENT_STEP};
    hf_mem *mem = hf_mem_new();
    hf_event_builder left;
    hf_event_builder right;
    hf_compare_run a;
    hf_compare_run b;

    hf_event_builder_init(&left, mem);
    activity(&left, INT64_MAX, "ship", NULL);
    activity(&left, 1, "charge", NULL);
    activity(&left, INT64_MAX - 1, "mail", NULL);
    hf_event_builder_init(&right, mem);
    activity(&right, 1, "charge", NULL);
    activity(&right, 5, "mail", NULL);
    activity(&right, INT64_MAX, "refund", NULL);
    a = run_of(&left);
    b = run_of(&right);
    steps_are(mem, &a, &b, steps, states, 4);
    hf_mem_free(mem);
}
END_TEST

/* One is stored as JSON, the other as Avro. */
START_TEST(values_are_the_same_in_any_codec)
{
    static const int64_t steps[] = {1, 2};
    static const hf_compare_state states[] = {HF_COMPARE_SAME, HF_COMPARE_DIFFERENT_INPUT};
    hf_mem *mem = hf_mem_new();
    hf_value value = hf_json_(mem, "{'limit': 5}");
    hf_event_builder left;
    hf_event_builder right;
    hf_buf avro = {0};
    hf_compare_run a;
    hf_compare_run b;

    hf_avro_encode(&avro, value);
    hf_event_builder_init(&left, mem);
    activity(&left, 1, "charge", "{\"limit\":5}");
    activity(&left, 2, "charge", "{\"limit\":6}");
    hf_event_builder_init(&right, mem);
    for (int64_t step = 1; step <= 2; step++) {
        activity(&right, step, "charge", NULL);
        hf_event_put_payload(&right, HF_KEY_ARGUMENTS,
                             hf_payload_inline(HF_PAYLOAD_CODEC_AVRO, hf_buf_slice(&avro)));
    }
    a = run_of(&left);
    b = run_of(&right);
    steps_are(mem, &a, &b, steps, states, 2);
    hf_buf_fini(&avro);
    hf_mem_free(mem);
}
END_TEST

static int64_t asked;

/* The bytes that a fold left out. */
static hf_status whole_read(void *ctx, hf_mem *mem, int64_t seq, hf_event *out_event, hf_err *err)
{
    (void)mem;
    (void)err;
    asked++;
    *out_event = ((const hf_event *)ctx)[seq - 1];
    return HF_OK;
}

/* The same events without those bytes. */
static void thin(hf_mem *mem, hf_compare_run *run)
{
    hf_event *events = hf_mem_array(mem, run->count, sizeof(*events));

    run->ctx = (void *)(uintptr_t)run->events;
    run->whole = whole_read;
    for (size_t i = 0; i < run->count; i++) {
        hf_event_field *fields = hf_mem_array(mem, run->events[i].count, sizeof(*fields));

        for (size_t j = 0; j < run->events[i].count; j++) {
            fields[j] = run->events[i].fields[j];
            if (hf_event_key_kind(fields[j].key) == HF_VALUE_KIND_PAYLOAD) {
                fields[j].payload.form = HF_PAYLOAD_FORM_ERASED;
                fields[j].payload.bytes = (hf_slice){0};
            }
        }
        events[i] = run->events[i];
        events[i].fields = fields;
    }
    run->events = events;
}

/* Bytes are read only where sizes leave it open. */
START_TEST(big_values_are_read_when_they_could_differ)
{
    static const int64_t steps[] = {1, 2, 3};
    static const hf_compare_state states[] = {HF_COMPARE_SAME, HF_COMPARE_DIFFERENT_INPUT,
                                              HF_COMPARE_DIFFERENT_INPUT};
    hf_mem *mem = hf_mem_new();
    hf_event_builder left;
    hf_event_builder right;
    hf_compare_run a;
    hf_compare_run b;

    hf_event_builder_init(&left, mem);
    activity(&left, 1, "charge", "\"aaaa\"");
    activity(&left, 2, "charge", "\"aaaa\"");
    activity(&left, 3, "charge", "\"aaaa\"");
    hf_event_builder_init(&right, mem);
    activity(&right, 1, "charge", "\"aaaa\"");
    activity(&right, 2, "charge", "\"aaab\"");
    activity(&right, 3, "charge", "\"aaaaa\"");
    a = run_of(&left);
    b = run_of(&right);
    thin(mem, &a);
    thin(mem, &b);
    asked = 0;
    steps_are(mem, &a, &b, steps, states, 3);
    ck_assert_int_eq(asked, 4);
    hf_mem_free(mem);
}
END_TEST

HF_SUITE_MAIN("project/compare", {far_apart_steps_are_walked_at_once, 0},
              {values_are_the_same_in_any_codec, 0},
              {big_values_are_read_when_they_could_differ, 0})
