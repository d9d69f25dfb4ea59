/* test_event.c: what event types may carry, how events are built, read and checked. */
#include <string.h>

#include "base/fault.h"
#include "lib/suite.h"
#include "model/event.h"

enum { PUBLISHED_PAIRS = 623 }; /* (type, key) pairs in the published registry */

static const uint8_t some_digest[HF_SHA256_BYTES] = {1, 2, 3};

/* Builds one event with a value of every kind. */
static hf_status build_sample(hf_mem *mem, hf_event **out_events, size_t *out_count, hf_err *err)
{
    hf_event_builder builder;
    hf_ulid id = {.bytes = {7}};

    hf_event_builder_init(&builder, mem);
    for (int i = 0; i < 6; i++) {
        hf_event_begin(&builder, HF_EVENT_ACTIVITY_RETRY_SCHEDULED, 1000 + i, 3);
        hf_event_put_payload(&builder, HF_KEY_EXCEPTION,
                             hf_payload_inline(HF_PAYLOAD_CODEC_JSON, HF_SLICE("{\"a\":1}")));
        hf_event_put_text(&builder, HF_KEY_MESSAGE, HF_SLICE("no answer"));
        hf_event_put_time(&builder, HF_KEY_RETRY_AVAILABLE_AT, 5000);
        hf_event_put_id(&builder, HF_KEY_ACTIVITY_EXECUTION_ID, id);
        hf_event_put_json(&builder, HF_KEY_RETRY_POLICY, HF_SLICE("{}"));
        hf_event_put_int(&builder, HF_KEY_CODE, -17);
        hf_event_put_bool(&builder, HF_KEY_LOCAL_ACTIVITY, true);
        hf_event_put_text(&builder, HF_KEY_ACTIVITY_TYPE, HF_SLICE("charge"));
        hf_event_put_text(&builder, HF_KEY_RETRY_REASON, (hf_slice){0});
    }
    return hf_event_builder_done(&builder, out_events, out_count, err);
}

/* The registry is complete: as many pairs as published, and keys where they belong. */
START_TEST(registry_is_the_contracts)
{
    size_t pairs = 0;
    size_t own = 0;

    for (size_t t = 0; t < hf_event_type_list.count; t++) {
        hf_event_type type = (hf_event_type)hf_event_type_list.items[t].number;
        size_t allowed = 0;

        for (size_t k = 0; k < hf_event_key_list.count; k++) {
            hf_event_key key = (hf_event_key)hf_event_key_list.items[k].number;
            bool extension = hf_event_type_list.items[t].origin == HF_EXTENSION;

            allowed += hf_event_key_allowed(type, key);
            pairs += !extension && hf_event_key_published(type, key);
            own +=
                !extension && hf_event_key_allowed(type, key) && !hf_event_key_published(type, key);
        }
        ck_assert_uint_eq(allowed, hf_event_key_count(type));
    }
    ck_assert_uint_eq(pairs, PUBLISHED_PAIRS);
    ck_assert_uint_eq(own, 28);
    ck_assert(hf_event_key_allowed(HF_EVENT_TIMER_FIRED, HF_KEY_PARALLEL_GROUP_PATH));
    ck_assert(!hf_event_key_allowed(HF_EVENT_ACTIVITY_CANCELLED, HF_KEY_PARALLEL_GROUP_PATH));
    ck_assert(hf_event_key_allowed(HF_EVENT_WORKFLOW_COMPLETED, HF_KEY_OUTPUT));
    ck_assert(!hf_event_key_allowed(HF_EVENT_WORKFLOW_COMPLETED, HF_KEY_RESULT));
    ck_assert(hf_event_key_allowed(HF_EVENT_ACTIVITY_SCHEDULED, HF_KEY_ARGUMENTS));
    ck_assert(!hf_event_key_published(HF_EVENT_ACTIVITY_SCHEDULED, HF_KEY_ARGUMENTS));
}
END_TEST

/* Numbers that are no type or key are allowed nothing and have no kind. */
START_TEST(unknown_numbers_have_no_rules)
{
    static const int types[] = {0, -1, 57, 100, 108, 10000};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        ck_assert(!hf_event_key_allowed((hf_event_type)types[i], HF_KEY_SEQUENCE));
        ck_assert_uint_eq(hf_event_key_count((hf_event_type)types[i]), 0);
        ck_assert(!hf_event_outside_fact((hf_event_type)types[i]));
    }
    ck_assert(!hf_event_key_allowed(HF_EVENT_START_ACCEPTED, (hf_event_key)0));
    ck_assert(!hf_event_key_allowed(HF_EVENT_START_ACCEPTED, (hf_event_key)1000));
    ck_assert(!hf_event_key_allowed(HF_EVENT_START_ACCEPTED, (hf_event_key)(256 + 2)));
    ck_assert_int_eq(hf_event_key_kind((hf_event_key)0), 0);
    ck_assert_int_eq(hf_event_key_kind((hf_event_key)1000), 0);
    for (size_t k = 0; k < hf_event_key_list.count; k++)
        ck_assert_int_ne(hf_event_key_kind((hf_event_key)hf_event_key_list.items[k].number), 0);
}
END_TEST

/* Exactly these types close a run, may follow the close, and are outside facts. */
START_TEST(flags_are_as_designed)
{
    static const hf_event_type closes[] = {
        HF_EVENT_WORKFLOW_CONTINUED_AS_NEW, HF_EVENT_WORKFLOW_CANCELLED,
        HF_EVENT_WORKFLOW_TERMINATED,       HF_EVENT_WORKFLOW_TIMED_OUT,
        HF_EVENT_WORKFLOW_COMPLETED,        HF_EVENT_WORKFLOW_FAILED};
    static const hf_event_type after[] = {
        HF_EVENT_UPDATE_COMPLETED, HF_EVENT_ARCHIVE_REQUESTED, HF_EVENT_WORKFLOW_ARCHIVED,
        HF_EVENT_PARENT_CLOSE_POLICY_APPLIED, HF_EVENT_PARENT_CLOSE_POLICY_FAILED};
    static const hf_event_type outside[] = {
        HF_EVENT_SIGNAL_RECEIVED,      HF_EVENT_UPDATE_ACCEPTED,
        HF_EVENT_UPDATE_REJECTED,      HF_EVENT_ACTIVITY_STARTED,
        HF_EVENT_ACTIVITY_COMPLETED,   HF_EVENT_ACTIVITY_HEARTBEAT_RECORDED,
        HF_EVENT_ACTIVITY_FAILED,      HF_EVENT_ACTIVITY_RETRY_SCHEDULED,
        HF_EVENT_ACTIVITY_CANCELLED,   HF_EVENT_ACTIVITY_TIMED_OUT,
        HF_EVENT_TIMER_FIRED,          HF_EVENT_CHILD_RUN_COMPLETED,
        HF_EVENT_CHILD_RUN_FAILED,     HF_EVENT_CHILD_RUN_CANCELLED,
        HF_EVENT_CHILD_RUN_TERMINATED, HF_EVENT_REPAIR_REQUESTED};
    static const hf_event_type commands[] = {HF_EVENT_SIGNAL_RECEIVED, HF_EVENT_UPDATE_ACCEPTED,
                                             HF_EVENT_UPDATE_REJECTED, HF_EVENT_REPAIR_REQUESTED};
    size_t counts[4] = {0};

    for (size_t t = 0; t < hf_event_type_list.count; t++) {
        hf_event_type type = (hf_event_type)hf_event_type_list.items[t].number;

        counts[0] += hf_event_has_flag(type, HF_EVENT_CLOSES);
        counts[1] += hf_event_has_flag(type, HF_EVENT_AFTER_CLOSE);
        counts[2] += hf_event_outside_fact(type);
        counts[3] += hf_event_command_fact(type);
        if (hf_event_has_flag(type, HF_EVENT_OPENS) || hf_event_has_flag(type, HF_EVENT_RESOLVES))
            ck_assert_msg(hf_event_key_allowed(type, HF_KEY_SEQUENCE), "%s",
                          hf_event_type_text(type));
        if (hf_event_has_flag(type, HF_EVENT_CLOSES))
            ck_assert(!hf_event_has_flag(type, HF_EVENT_AFTER_CLOSE) &&
                      !hf_event_outside_fact(type));
    }
    for (size_t i = 0; i < sizeof(closes) / sizeof(closes[0]); i++)
        ck_assert(hf_event_has_flag(closes[i], HF_EVENT_CLOSES));
    for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++)
        ck_assert(hf_event_has_flag(after[i], HF_EVENT_AFTER_CLOSE));
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
        ck_assert(hf_event_outside_fact(outside[i]));
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        ck_assert(hf_event_command_fact(commands[i]) && hf_event_outside_fact(commands[i]));
    ck_assert_uint_eq(counts[3], sizeof(commands) / sizeof(commands[0]));
    ck_assert_uint_eq(counts[0], sizeof(closes) / sizeof(closes[0]));
    ck_assert_uint_eq(counts[1], sizeof(after) / sizeof(after[0]));
    ck_assert_uint_eq(counts[2], sizeof(outside) / sizeof(outside[0]));
}
END_TEST

/* Fields come out sorted by key whatever the order they were put in, and read back by kind. */
START_TEST(built_events_read_back)
{
    hf_mem *mem = hf_mem_new();
    hf_event *events = NULL;
    size_t count = 0;
    hf_payload_value payload;
    hf_slice text;
    hf_ulid id;
    int64_t number = 0;
    bool flag = false;
    hf_err err = {0};

    ck_assert_int_eq(build_sample(mem, &events, &count, &err), HF_OK);
    ck_assert_uint_eq(count, 6);
    for (size_t e = 0; e < count; e++) {
        ck_assert_uint_eq(events[e].count, 9);
        for (size_t i = 1; i < events[e].count; i++)
            ck_assert_int_lt(events[e].fields[i - 1].key, events[e].fields[i].key);
        ck_assert_int_eq(hf_event_check(&events[e], &err), HF_OK);
        ck_assert_int_eq(events[e].time_us, 1000 + (int64_t)e);
        ck_assert_int_eq(events[e].step, 3);
    }
    ck_assert(hf_event_text(&events[5], HF_KEY_MESSAGE, &text));
    ck_assert(hf_slice_equal(text, HF_SLICE("no answer")));
    ck_assert(hf_event_text(&events[5], HF_KEY_RETRY_REASON, &text));
    ck_assert_uint_eq(text.len, 0);
    ck_assert(hf_event_int(&events[5], HF_KEY_CODE, &number));
    ck_assert_int_eq(number, -17);
    ck_assert(hf_event_bool(&events[5], HF_KEY_LOCAL_ACTIVITY, &flag));
    ck_assert(flag);
    ck_assert(hf_event_time(&events[5], HF_KEY_RETRY_AVAILABLE_AT, &number));
    ck_assert_int_eq(number, 5000);
    ck_assert(hf_event_id(&events[5], HF_KEY_ACTIVITY_EXECUTION_ID, &id));
    ck_assert_int_eq(id.bytes[0], 7);
    ck_assert(hf_event_json(&events[5], HF_KEY_RETRY_POLICY, &text));
    ck_assert(hf_slice_equal(text, HF_SLICE("{}")));
    ck_assert(hf_event_payload(&events[5], HF_KEY_EXCEPTION, &payload));
    ck_assert(hf_slice_equal(payload.bytes, HF_SLICE("{\"a\":1}")));
    ck_assert_uint_eq(payload.size, 7);
    /* Absent keys, before, between and after the ones that are there. */
    ck_assert(!hf_event_id(&events[5], HF_KEY_WORKFLOW_COMMAND_ID, &id));
    ck_assert(!hf_event_id(&events[5], HF_KEY_RETRY_TASK_ID, &id));
    ck_assert(!hf_event_int(&events[5], HF_KEY_MAX_ATTEMPTS, &number));
    ck_assert(!hf_event_text(&events[5], HF_KEY_QUEUE, &text));
    ck_assert(!hf_event_json(&events[5], HF_KEY_ACTIVITY, &text));
    ck_assert(!hf_event_bool(&events[5], HF_KEY_NON_RETRYABLE, &flag));
    ck_assert(!hf_event_time(&events[5], HF_KEY_FIRE_AT, &number));
    ck_assert(!hf_event_payload(&events[5], HF_KEY_RESULT, &payload));
    hf_mem_free(mem);
}
END_TEST

/* What was put is copied: the caller's bytes may change at once. */
START_TEST(values_are_copied)
{
    hf_mem *mem = hf_mem_new();
    char text[] = "timer";
    uint8_t digest[HF_SHA256_BYTES] = {9};
    hf_payload_value payload = {.form = HF_PAYLOAD_FORM_REFERENCE,
                                .codec = HF_PAYLOAD_CODEC_AVRO,
                                .size = 4000,
                                .digest = digest};
    hf_event_builder builder;
    hf_event *events = NULL;
    size_t count = 0;
    hf_slice read;

    hf_event_builder_init(&builder, mem);
    hf_event_begin(&builder, HF_EVENT_ACTIVITY_COMPLETED, 1, 1);
    hf_event_put_text(&builder, HF_KEY_ACTIVITY_TYPE, hf_slice_of(text));
    hf_event_put_payload(&builder, HF_KEY_RESULT, payload);
    text[0] = 'X';
    digest[0] = 0;
    ck_assert_int_eq(hf_event_builder_done(&builder, &events, &count, NULL), HF_OK);
    ck_assert(hf_event_text(&events[0], HF_KEY_ACTIVITY_TYPE, &read));
    ck_assert(hf_slice_equal(read, HF_SLICE("timer")));
    ck_assert(hf_event_payload(&events[0], HF_KEY_RESULT, &payload));
    ck_assert_int_eq(payload.digest[0], 9);
    hf_mem_free(mem);
}
END_TEST

typedef void put_fn(hf_event_builder *builder);

static void put_foreign_key(hf_event_builder *builder)
{
    hf_event_put_id(builder, HF_KEY_ACTIVITY_EXECUTION_ID, (hf_ulid){{0}});
}

static void put_twice(hf_event_builder *builder)
{
    hf_event_put_text(builder, HF_KEY_TIMER_KIND, HF_SLICE("signal_timeout"));
    hf_event_put_int(builder, HF_KEY_DELAY_SECONDS, 1);
    hf_event_put_text(builder, HF_KEY_TIMER_KIND, HF_SLICE("signal_timeout"));
}

static void put_other_kind(hf_event_builder *builder)
{
    hf_event_put_text(builder, HF_KEY_DELAY_SECONDS, HF_SLICE("1"));
}

static void put_step_as_field(hf_event_builder *builder)
{
    hf_event_put_int(builder, HF_KEY_SEQUENCE, 1);
}

static void put_bad_text(hf_event_builder *builder)
{
    hf_event_put_text(builder, HF_KEY_TIMER_KIND, HF_SLICE("\xC0\x80"));
}

static void put_negative_time(hf_event_builder *builder)
{
    hf_event_put_time(builder, HF_KEY_FIRE_AT, -1);
}

static void put_late_time(hf_event_builder *builder)
{
    hf_event_put_time(builder, HF_KEY_FIRE_AT, HF_EVENT_TIME_MAX_US + 1);
}

static void begin_unknown_type(hf_event_builder *builder)
{
    hf_event_begin(builder, (hf_event_type)99, 1, 0);
}

static void begin_before_1970(hf_event_builder *builder)
{
    hf_event_begin(builder, HF_EVENT_TIMER_FIRED, -1, 0);
}

static void begin_negative_step(hf_event_builder *builder)
{
    hf_event_begin(builder, HF_EVENT_TIMER_FIRED, 1, -1);
}

static void begin_step_where_none_is(hf_event_builder *builder)
{
    hf_event_begin(builder, HF_EVENT_SIGNAL_RECEIVED, 1, 1);
}

/* The builder keeps the first failure, whatever comes after it, and names event and key. */
START_TEST(builder_refuses)
{
    static const struct {
        put_fn *put;
        const char *says;
    } rows[] = {
        {put_foreign_key, "TimerScheduled: activity_execution_id is not a key"},
        {put_twice, "TimerScheduled: timer_kind was put already"},
        {put_other_kind, "TimerScheduled: delay_seconds is of another kind"},
        {put_step_as_field, "TimerScheduled: sequence travels as the event's step"},
        {put_bad_text, "TimerScheduled: timer_kind is not well-formed UTF-8"},
        {put_negative_time, "TimerScheduled: fire_at is a time out of range"},
        {put_late_time, "TimerScheduled: fire_at is a time out of range"},
        {begin_unknown_type, "event type number 99 is unknown"},
        {begin_before_1970, "TimerFired: its time, -1 us, is out of range"},
        {begin_negative_step, "TimerFired: its step, -1, is negative"},
        {begin_step_where_none_is, "SignalReceived: events of this type belong to no step"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        hf_mem *mem = hf_mem_new();
        hf_event_builder builder;
        hf_event *events = NULL;
        size_t count = 77;
        hf_err err = {0};

        hf_event_builder_init(&builder, mem);
        hf_event_begin(&builder, HF_EVENT_TIMER_SCHEDULED, 10, 1);
        rows[i].put(&builder);
        put_foreign_key(&builder);
        hf_event_begin(&builder, (hf_event_type)98, 10, 1);
        ck_assert_int_eq(hf_event_builder_done(&builder, &events, &count, &err), HF_INVALID);
        ck_assert_int_eq(hf_event_builder_done(&builder, &events, &count, NULL), HF_INVALID);
        ck_assert_msg(strstr(err.text, rows[i].says) != NULL, "%s", err.text);
        ck_assert_uint_eq(count, 77);
        hf_mem_free(mem);
    }
}
END_TEST

/* A payload is one of three forms, each complete in itself. */
START_TEST(payloads_are_checked)
{
    const hf_payload_value bad[] = {
        {.form = HF_PAYLOAD_FORM_INLINE, .bytes = HF_SLICE("x"), .size = 1},
        {.form = (hf_payload_form)0, .codec = HF_PAYLOAD_CODEC_JSON},
        {.form = HF_PAYLOAD_FORM_INLINE,
         .codec = HF_PAYLOAD_CODEC_JSON,
         .bytes = HF_SLICE("x"),
         .size = 2},
        {.form = HF_PAYLOAD_FORM_INLINE, .codec = HF_PAYLOAD_CODEC_JSON, .digest = some_digest},
        {.form = HF_PAYLOAD_FORM_REFERENCE, .codec = HF_PAYLOAD_CODEC_JSON, .size = 1},
        {.form = HF_PAYLOAD_FORM_ERASED,
         .codec = HF_PAYLOAD_CODEC_JSON,
         .bytes = HF_SLICE("x"),
         .size = 1,
         .digest = some_digest},
        {.form = HF_PAYLOAD_FORM_REFERENCE,
         .codec = HF_PAYLOAD_CODEC_JSON,
         .size = UINT64_MAX,
         .digest = some_digest},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        hf_event_field field = {.key = HF_KEY_OUTPUT, .payload = bad[i]};
        hf_event event = {.type = HF_EVENT_WORKFLOW_COMPLETED, .fields = &field, .count = 1};
        hf_err err = {0};

        ck_assert_msg(hf_event_check(&event, &err) == HF_INVALID, "row %zu", i);
        ck_assert_ptr_nonnull(strstr(err.text, "output"));
    }
}
END_TEST

/* Fields that are out of order or there twice are refused by the check. */
START_TEST(field_order_is_checked)
{
    hf_event_field fields[2] = {{.key = HF_KEY_FIRE_AT, .time_us = 1},
                                {.key = HF_KEY_DELAY_SECONDS, .number = 1}};
    hf_event event = {.type = HF_EVENT_TIMER_FIRED, .fields = fields, .count = 2};
    hf_err err = {0};

    ck_assert_int_eq(hf_event_check(&event, &err), HF_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "delay_seconds (key 18) is out of order"));
    fields[1] = fields[0];
    ck_assert_int_eq(hf_event_check(&event, &err), HF_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "fire_at (key 19) is there twice"));
}
END_TEST

/* A timer of its own opens and resolves its step; the timeout of a wait does neither. */
START_TEST(timeouts_of_waits_are_no_steps)
{
    hf_event_field kind = {.key = HF_KEY_TIMER_KIND, .text = HF_SLICE("condition_timeout")};
    hf_event timer = {.type = HF_EVENT_TIMER_SCHEDULED, .step = 4};

    ck_assert(hf_event_opens_step(&timer));
    ck_assert(!hf_event_resolves_step(&timer));
    timer.type = HF_EVENT_TIMER_FIRED;
    ck_assert(hf_event_resolves_step(&timer));
    timer.type = HF_EVENT_TIMER_CANCELLED;
    ck_assert(hf_event_resolves_step(&timer));
    timer.fields = &kind;
    timer.count = 1;
    ck_assert(!hf_event_resolves_step(&timer));
    timer.type = HF_EVENT_TIMER_FIRED;
    ck_assert(!hf_event_resolves_step(&timer));
    timer.type = HF_EVENT_TIMER_SCHEDULED;
    ck_assert(!hf_event_opens_step(&timer));
    ck_assert(!hf_event_opens_step(&(hf_event){.type = HF_EVENT_ACTIVITY_SCHEDULED}));
    ck_assert(hf_event_opens_step(&(hf_event){.type = HF_EVENT_SIDE_EFFECT_RECORDED, .step = 1}));
    ck_assert(
        hf_event_resolves_step(&(hf_event){.type = HF_EVENT_SIDE_EFFECT_RECORDED, .step = 1}));
}
END_TEST

/* Whichever allocation fails, the builder says so once and hands out nothing. */
START_TEST(builder_survives_lost_memory)
{
    int64_t nth = 1;

    for (;; nth++) {
        hf_mem *mem = hf_mem_new();
        hf_event *events = NULL;
        size_t count = 0;
        hf_err err = {0};
        hf_status st;

        hf_fault_arm(HF_FAULT_ALLOC, nth, true);
        st = build_sample(mem, &events, &count, &err);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        if (st)
            ck_assert_int_eq(err.status, HF_NOMEM);
        ck_assert_int_eq(st ? HF_NOMEM : HF_OK, st);
        ck_assert_int_eq(events == NULL, st != HF_OK);
        hf_mem_free(mem);
        if (!st)
            break;
    }
    ck_assert_int_gt(nth, 1);
}
END_TEST

HF_SUITE_MAIN("model/event", {registry_is_the_contracts, 0}, {unknown_numbers_have_no_rules, 0},
              {flags_are_as_designed, 0}, {built_events_read_back, 0}, {values_are_copied, 0},
              {builder_refuses, 0}, {payloads_are_checked, 0}, {field_order_is_checked, 0},
              {timeouts_of_waits_are_no_steps, 0}, {builder_survives_lost_memory, 0})
