/* test_event_codec.c: chunks of history as bytes: round trips, refusals, hashes, sizes. */
#include <string.h>

#include "base/fault.h"
#include "lib/suite.h"
#include "model/event_codec.h"

static const uint8_t digest_a[HF_SHA256_BYTES] = {0xAA, 1};

/* A value of the right kind, different for each salt. */
static void put_any(hf_event_builder *builder, hf_event_key key, int salt)
{
    static const int64_t numbers[] = {0, -1, 1, INT64_MAX, INT64_MIN, 64};
    static const int64_t times[] = {0, 1, 1700000000000000, HF_EVENT_TIME_MAX_US};
    hf_payload_value payload = hf_payload_inline(HF_PAYLOAD_CODEC_AVRO, HF_SLICE("\xC3\x01\0x"));
    hf_ulid id = {.bytes = {(uint8_t)salt, 0xFF}};

    switch (hf_event_key_kind(key)) {
    case HF_VALUE_KIND_TEXT:
        hf_event_put_text(builder, key, salt % 2 ? HF_SLICE("Z\xC3\xBCrich\0!") : (hf_slice){0});
        return;
    case HF_VALUE_KIND_JSON:
        hf_event_put_json(builder, key, HF_SLICE("[1,{\"a\":null}]"));
        return;
    case HF_VALUE_KIND_INT:
        hf_event_put_int(builder, key, numbers[salt % 6]);
        return;
    case HF_VALUE_KIND_BOOL:
        hf_event_put_bool(builder, key, salt % 2 == 0);
        return;
    case HF_VALUE_KIND_TIME:
        hf_event_put_time(builder, key, times[salt % 4]);
        return;
    case HF_VALUE_KIND_ID:
        hf_event_put_id(builder, key, id);
        return;
    case HF_VALUE_KIND_PAYLOAD:
        if (salt % 3 != 0)
            payload = (hf_payload_value){.form = salt % 3 == 1 ? HF_PAYLOAD_FORM_REFERENCE
                                                               : HF_PAYLOAD_FORM_ERASED,
                                         .codec = HF_PAYLOAD_CODEC_JSON,
                                         .size = 70000,
                                         .digest = digest_a};
        hf_event_put_payload(builder, key, payload);
        return;
    }
    ck_abort_msg("key %d has no kind", (int)key);
}

/* An event of the type with every key it may carry. */
static void build_full(hf_event_builder *builder, hf_event_type type, int64_t time_us, int salt)
{
    bool step = hf_event_key_allowed(type, HF_KEY_SEQUENCE);

    hf_event_begin(builder, type, time_us, step ? 1 + salt : 0);
    for (size_t k = 0; k < hf_event_key_list.count; k++) {
        hf_event_key key = (hf_event_key)hf_event_key_list.items[k].number;

        if (key != HF_KEY_SEQUENCE && hf_event_key_allowed(type, key))
            put_any(builder, key, salt + (int)k);
    }
}

static void expect_same_payload(const hf_payload_value *a, const hf_payload_value *b)
{
    ck_assert_int_eq(a->form, b->form);
    ck_assert_int_eq(a->codec, b->codec);
    ck_assert_uint_eq(a->size, b->size);
    ck_assert(hf_slice_equal(a->bytes, b->bytes));
    ck_assert_int_eq(a->digest != NULL, b->digest != NULL);
    if (a->digest)
        ck_assert_mem_eq(a->digest, b->digest, HF_SHA256_BYTES);
}

static void expect_same_field(const hf_event_field *a, const hf_event_field *b)
{
    ck_assert_int_eq(a->key, b->key);
    switch (hf_event_key_kind(a->key)) {
    case HF_VALUE_KIND_TEXT:
    case HF_VALUE_KIND_JSON:
        ck_assert(hf_slice_equal(a->text, b->text));
        return;
    case HF_VALUE_KIND_INT:
        ck_assert_int_eq(a->number, b->number);
        return;
    case HF_VALUE_KIND_BOOL:
        ck_assert_int_eq(a->flag, b->flag);
        return;
    case HF_VALUE_KIND_TIME:
        ck_assert_int_eq(a->time_us, b->time_us);
        return;
    case HF_VALUE_KIND_ID:
        ck_assert_mem_eq(a->id.bytes, b->id.bytes, HF_ULID_BYTES);
        return;
    case HF_VALUE_KIND_PAYLOAD:
        expect_same_payload(&a->payload, &b->payload);
        return;
    }
    ck_abort_msg("key %d has no kind", (int)a->key);
}

static void expect_same_events(const hf_event *a, const hf_event *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq(a[i].type, b[i].type);
        ck_assert_int_eq(a[i].time_us, b[i].time_us);
        ck_assert_int_eq(a[i].step, b[i].step);
        ck_assert_uint_eq(a[i].count, b[i].count);
        for (size_t j = 0; j < a[i].count; j++)
            expect_same_field(&a[i].fields[j], &b[i].fields[j]);
    }
}

/* Encode, decode, compare, encode again, compare bytes. */
static void expect_round_trip(hf_mem *mem, const hf_event *events, size_t count)
{
    hf_buf body = {0};
    hf_buf again = {0};
    hf_event *read = NULL;
    size_t read_count = 0;
    hf_err err = {0};

    ck_assert_msg(hf_event_chunk_encode(events, count, &body, &err) == HF_OK, "%s", err.text);
    ck_assert_msg(hf_event_chunk_decode(mem, hf_buf_slice(&body), &read, &read_count, &err) ==
                      HF_OK,
                  "%s", err.text);
    ck_assert_uint_eq(read_count, count);
    expect_same_events(events, read, count);
    ck_assert_int_eq(hf_event_chunk_encode(read, read_count, &again, &err), HF_OK);
    ck_assert(hf_slice_equal(hf_buf_slice(&body), hf_buf_slice(&again)));
    hf_buf_fini(&body);
    hf_buf_fini(&again);
}

/* Every type with every key it may carry, and with none, comes back as it was. */
START_TEST(every_type_round_trips)
{
    for (size_t t = 0; t < hf_event_type_list.count; t++) {
        for (int salt = 0; salt < 12; salt++) {
            hf_mem *mem = hf_mem_new();
            hf_event_type type = (hf_event_type)hf_event_type_list.items[t].number;
            hf_event_builder builder;
            hf_event *events = NULL;
            size_t count = 0;

            hf_event_builder_init(&builder, mem);
            build_full(&builder, type, 0, salt);
            hf_event_begin(&builder, type, 5, 0);
            build_full(&builder, type, 1700000000000000, salt + 1);
            build_full(&builder, type, HF_EVENT_TIME_MAX_US, salt + 2);
            ck_assert_int_eq(hf_event_builder_done(&builder, &events, &count, NULL), HF_OK);
            expect_round_trip(mem, events, count);
            hf_mem_free(mem);
        }
    }
}
END_TEST

/* A chunk takes 256 events and not one more, and not none. */
START_TEST(chunks_hold_1_to_256_events)
{
    hf_event events[HF_EVENT_CHUNK_EVENTS_MAX + 1] = {{0}};
    hf_mem *mem = hf_mem_new();
    hf_buf body = {0};
    hf_err err = {0};

    for (size_t i = 0; i <= HF_EVENT_CHUNK_EVENTS_MAX; i++)
        events[i] = (hf_event){.type = HF_EVENT_ACTIVITY_SCHEDULED, .step = (int64_t)i + 1};
    expect_round_trip(mem, events, HF_EVENT_CHUNK_EVENTS_MAX);
    ck_assert_int_eq(hf_event_chunk_encode(events, HF_EVENT_CHUNK_EVENTS_MAX + 1, &body, &err),
                     HF_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "not 257"));
    ck_assert_int_eq(hf_event_chunk_encode(events, 0, &body, &err), HF_INVALID);
    ck_assert_uint_eq(body.len, 0);
    hf_buf_fini(&body);
    hf_mem_free(mem);
}
END_TEST

/* A body of exactly 64 KiB is written and read; one byte more is neither. */
START_TEST(bodies_are_bounded)
{
    hf_mem *mem = hf_mem_new();
    char *room = hf_mem_bytes(mem, HF_EVENT_CHUNK_BYTES_MAX);
    hf_event_field field = {.key = HF_KEY_OUTPUT};
    hf_event event = {.type = HF_EVENT_WORKFLOW_COMPLETED, .fields = &field, .count = 1};
    size_t overhead = 11; /* format, count, type, time, step, fields, key, tag, 3 of length */
    hf_event *read = NULL;
    size_t count = 0;
    hf_buf body = {0};
    hf_err err = {0};

    memset(room, 'x', HF_EVENT_CHUNK_BYTES_MAX);
    field.payload = hf_payload_inline(HF_PAYLOAD_CODEC_JSON,
                                      hf_slice_from(room, HF_EVENT_CHUNK_BYTES_MAX - overhead));
    ck_assert_int_eq(hf_event_chunk_encode(&event, 1, &body, &err), HF_OK);
    ck_assert_uint_eq(body.len, HF_EVENT_CHUNK_BYTES_MAX);
    ck_assert_int_eq(hf_event_chunk_decode(mem, hf_buf_slice(&body), &read, &count, &err), HF_OK);
    hf_buf_add_byte(&body, 0);
    ck_assert_int_eq(hf_event_chunk_decode(mem, hf_buf_slice(&body), &read, &count, &err),
                     HF_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.text, "longer than any"));
    field.payload = hf_payload_inline(HF_PAYLOAD_CODEC_JSON,
                                      hf_slice_from(room, HF_EVENT_CHUNK_BYTES_MAX - overhead + 1));
    ck_assert_int_eq(hf_event_chunk_encode(&event, 1, &body, &err), HF_TOOBIG);
    ck_assert_ptr_nonnull(strstr(err.text, "WorkflowCompleted"));
    ck_assert_uint_eq(body.len, 0);
    hf_buf_fini(&body);
    hf_mem_free(mem);
}
END_TEST

/* The encoder refuses what the decoder would: bad events, and times that go back. */
START_TEST(encoder_refuses)
{
    hf_event_field wrong = {.key = HF_KEY_RESULT};
    hf_event events[2] = {{.type = HF_EVENT_ACTIVITY_SCHEDULED, .time_us = 10},
                          {.type = HF_EVENT_ACTIVITY_SCHEDULED, .time_us = 9}};
    hf_buf body = {0};
    hf_err err = {0};

    ck_assert_int_eq(hf_event_chunk_encode(events, 2, &body, &err), HF_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "event 2 of 2: its time, 9 us, is before"));
    events[1] = (hf_event){
        .type = HF_EVENT_WORKFLOW_COMPLETED, .time_us = 10, .fields = &wrong, .count = 1};
    ck_assert_int_eq(hf_event_chunk_encode(events, 2, &body, &err), HF_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "event 2 of 2: WorkflowCompleted: result (key 12)"));
    ck_assert_uint_eq(body.len, 0);
    hf_buf_fini(&body);
}
END_TEST

/* Malformed bodies, each refused with what and where. */
START_TEST(decoder_refuses)
{
    static const struct {
        const char *bytes;
        size_t len;
        hf_status status;
        const char *says;
    } rows[] = {
#define BODY(literal) literal, sizeof(literal) - 1
        {BODY(""), HF_CORRUPT, "cut short"},
        {BODY("\x00\x01\x1C\x00\x00\x00"), HF_CORRUPT, "format 0 is not known"},
        {BODY("\x02\x01\x1C\x00\x00\x00"), HF_NEWER, "format 2 is not known; this program knows 1"},
        {BODY("\x01"), HF_CORRUPT, "count of events"},
        {BODY("\x01\x00"), HF_CORRUPT, "count of events is out of range"},
        {BODY("\x01\x81\x02"), HF_CORRUPT, "count of events is out of range"},
        {BODY("\x01\x81\x00\x1C\x00\x00\x00"), HF_CORRUPT, "shortest form"},
        {BODY("\x01\x01"), HF_CORRUPT, "type: event 1, at byte 2 of 2"},
        {BODY("\x01\x01\x00\x00\x00\x00"), HF_CORRUPT, "type 0: event 1"},
        {BODY("\x01\x01\x39\x00\x00\x00"), HF_CORRUPT, "unknown event type"},
        {BODY("\x01\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), HF_CORRUPT, "shortest form"},
        {BODY("\x01\x01\x1C"), HF_CORRUPT, "time: event 1, at byte 3 of 3"},
        {BODY("\x01\x01\x1C\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F\x00\x00"), HF_CORRUPT,
         "a time out of range"},
        {BODY("\x01\x01\x1C\x00"), HF_CORRUPT, "step: event 1"},
        {BODY("\x01\x01\x0F\x00\x01\x00"), HF_CORRUPT, "belong to no step"},
        {BODY("\x01\x01\x1C\x00\x00"), HF_CORRUPT, "count of fields"},
        {BODY("\x01\x01\x1C\x00\x00\x7F"), HF_CORRUPT, "more fields than the event type has keys"},
        {BODY("\x01\x01\x1C\x00\x00\x01"), HF_CORRUPT, "key: event 1"},
        {BODY("\x01\x01\x1C\x00\x00\x01\x00"), HF_CORRUPT, "unknown key"},
        {BODY("\x01\x01\x1C\x00\x00\x01\xFF\x07"), HF_CORRUPT, "key 1023"},
        {BODY("\x01\x01\x1C\x00\x00\x01\x01\x02"), HF_CORRUPT, "travels as the event's step"},
        {BODY("\x01\x01\x1C\x00\x00\x01\x25\x00"), HF_CORRUPT, "message (key 37) is not a key"},
        {BODY("\x01\x01\x1C\x00\x00\x02\x09\x00\x09\x00"), HF_CORRUPT,
         "activity_type (key 9) is there twice"},
        {BODY("\x01\x01\x1C\x00\x00\x02\xA0\x01\x00\x09\x00"), HF_CORRUPT, "out of order"},
        {BODY("\x01\x01\x1C\x00\x00\x01\x09\x05"
              "abcd"),
         HF_CORRUPT, "activity_type: event 1, at byte 8 of 12: its bytes are cut short"},
        {BODY("\x01\x01\x1C\x00\x00\x01\x09\x01\xFF"), HF_CORRUPT, "not well-formed UTF-8"},
        {BODY("\x01\x01\x1C\x00\x00\x01\x07"
              "0123456789abcde"),
         HF_CORRUPT, "activity_execution_id"},
        {BODY("\x01\x01\x1C\x00\x00\x01\x73\x02"), HF_CORRUPT, "neither 0 nor 1"},
        {BODY("\x01\x01\x1C\x00\x00\x01\x73"), HF_CORRUPT, "local_activity"},
        {BODY("\x01\x01\x27\x00\x00\x01\x13\x01"), HF_CORRUPT,
         "fire_at: event 1, at byte 8 of 8: a time out of range"},
        {BODY("\x01\x01\x27\x00\x00\x01\x12"), HF_CORRUPT, "delay_seconds"},
        {BODY("\x01\x01\x27\x00\x00\x01\x12\x80\x00"), HF_CORRUPT, "shortest form"},
        {BODY("\x01\x01\x2D\x00\x00\x01\x0D"), HF_CORRUPT, "output"},
        {BODY("\x01\x01\x2D\x00\x00\x01\x0D\x01\x00"), HF_CORRUPT, "unknown payload form"},
        {BODY("\x01\x01\x2D\x00\x00\x01\x0D\x13\x00"), HF_CORRUPT, "form or codec"},
        {BODY("\x01\x01\x2D\x00\x00\x01\x0D\x41\x00"), HF_CORRUPT, "form or codec"},
        {BODY("\x01\x01\x2D\x00\x00\x01\x0D\x11\x02x"), HF_CORRUPT, "cut short"},
        {BODY("\x01\x01\x2D\x00\x00\x01\x0D\x21\x02"
              "0123456789abcdef0123456789abcde"),
         HF_CORRUPT, "cut short"},
        {BODY("\x01\x01\x1C\x00\x00\x00\x00"), HF_CORRUPT, "event 1, at byte 6 of 7: bytes follow"},
        {BODY("\x01\x02\x1C\x00\x00\x00"), HF_CORRUPT, "event 2, at byte 6 of 6"},
#undef BODY
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        hf_mem *mem = hf_mem_new();
        hf_slice body = hf_slice_from(rows[i].bytes, rows[i].len);
        hf_event *events = NULL;
        size_t count = 77;
        hf_err err = {0};
        hf_status st = hf_event_chunk_decode(mem, body, &events, &count, &err);

        ck_assert_msg(st == rows[i].status && err.status == st, "row %zu: %s: %s", i,
                      hf_strstatus(st), err.text);
        ck_assert_msg(strstr(err.text, rows[i].says) != NULL, "row %zu: %s", i, err.text);
        ck_assert_int_eq(strncmp(err.text, "decode a chunk of history: ", 27), 0);
        ck_assert_ptr_null(events);
        ck_assert_uint_eq(count, 77);
        ck_assert_int_eq(hf_event_chunk_decode(mem, body, &events, &count, NULL), rows[i].status);
        hf_mem_free(mem);
    }
}
END_TEST

/* The bytes of format 1, written down: they may never change. */
START_TEST(format_1_is_frozen)
{
    static const char golden[] = "\x01\x02"             /* format, 2 events */
                                 "\x1C\xE8\x07\x05\x03" /* ActivityScheduled at 1000 us, step 5 */
                                 "\x07"
                                 "0123456789abcdef"
                                 "\x09\x04"
                                 "mail"
                                 "\x0B\x11\x02"
                                 "[]"
                                 "\x1E\x01\x05\x01" /* ActivityHeartbeatRecorded, 1 us later */
                                 "\x0F\x04";        /* lease_expires_at 2 us after that */
    hf_mem *mem = hf_mem_new();
    hf_event_builder builder;
    hf_event *events = NULL;
    size_t count = 0;
    hf_buf body = {0};
    hf_ulid id;

    memcpy(id.bytes, "0123456789abcdef", sizeof(id.bytes));
    hf_event_builder_init(&builder, mem);
    hf_event_begin(&builder, HF_EVENT_ACTIVITY_SCHEDULED, 1000, 5);
    hf_event_put_id(&builder, HF_KEY_ACTIVITY_EXECUTION_ID, id);
    hf_event_put_text(&builder, HF_KEY_ACTIVITY_TYPE, HF_SLICE("mail"));
    hf_event_put_payload(&builder, HF_KEY_ARGUMENTS,
                         hf_payload_inline(HF_PAYLOAD_CODEC_JSON, HF_SLICE("[]")));
    hf_event_begin(&builder, HF_EVENT_ACTIVITY_HEARTBEAT_RECORDED, 1001, 5);
    hf_event_put_time(&builder, HF_KEY_LEASE_EXPIRES_AT, 1003);
    ck_assert_int_eq(hf_event_builder_done(&builder, &events, &count, NULL), HF_OK);
    ck_assert_int_eq(hf_event_chunk_encode(events, count, &body, NULL), HF_OK);
    ck_assert_uint_eq(body.len, sizeof(golden) - 1);
    ck_assert_mem_eq(body.ptr, golden, sizeof(golden) - 1);
    hf_buf_fini(&body);
    hf_mem_free(mem);
}
END_TEST

static hf_ulid id_of(uint8_t salt)
{
    hf_ulid id;

    memset(id.bytes, salt, sizeof(id.bytes));
    return id;
}

/* Scheduling, starting and completing a no-op activity takes well under 250 bytes. */
START_TEST(an_activity_is_small)
{
    hf_mem *mem = hf_mem_new();
    hf_event_builder builder;
    hf_event *events = NULL;
    size_t count = 0;
    hf_buf body = {0};

    hf_event_builder_init(&builder, mem);
    hf_event_begin(&builder, HF_EVENT_ACTIVITY_SCHEDULED, 1700000000000000, 12);
    hf_event_put_id(&builder, HF_KEY_ACTIVITY_EXECUTION_ID, id_of(1));
    hf_event_put_text(&builder, HF_KEY_ACTIVITY_TYPE, HF_SLICE("charge-card"));
    hf_event_put_payload(&builder, HF_KEY_ARGUMENTS,
                         hf_payload_inline(HF_PAYLOAD_CODEC_JSON, HF_SLICE("{}")));
    hf_event_put_text(&builder, HF_KEY_QUEUE, HF_SLICE("default"));
    hf_event_begin(&builder, HF_EVENT_ACTIVITY_STARTED, 1700000000001200, 12);
    hf_event_put_id(&builder, HF_KEY_ACTIVITY_EXECUTION_ID, id_of(1));
    hf_event_put_id(&builder, HF_KEY_ACTIVITY_ATTEMPT_ID, id_of(2));
    hf_event_put_int(&builder, HF_KEY_ATTEMPT_NUMBER, 1);
    hf_event_put_time(&builder, HF_KEY_LEASE_EXPIRES_AT, 1700000300001200);
    hf_event_begin(&builder, HF_EVENT_ACTIVITY_COMPLETED, 1700000000002400, 12);
    hf_event_put_id(&builder, HF_KEY_ACTIVITY_EXECUTION_ID, id_of(1));
    hf_event_put_id(&builder, HF_KEY_ACTIVITY_ATTEMPT_ID, id_of(2));
    hf_event_put_int(&builder, HF_KEY_ATTEMPT_NUMBER, 1);
    hf_event_put_payload(&builder, HF_KEY_RESULT,
                         hf_payload_inline(HF_PAYLOAD_CODEC_JSON, HF_SLICE("null")));
    ck_assert_int_eq(hf_event_builder_done(&builder, &events, &count, NULL), HF_OK);
    ck_assert_int_eq(hf_event_chunk_encode(events, count, &body, NULL), HF_OK);
    ck_assert_uint_le(body.len, 170);
    hf_buf_fini(&body);
    hf_mem_free(mem);
}
END_TEST

/* One completed activity with a result, for the cases about hashes. */
static hf_event *build_result(hf_mem *mem, hf_slice result)
{
    hf_event_builder builder;
    hf_event *events = NULL;
    size_t count = 0;

    hf_event_builder_init(&builder, mem);
    hf_event_begin(&builder, HF_EVENT_ACTIVITY_COMPLETED, 77, 2);
    hf_event_put_text(&builder, HF_KEY_ACTIVITY_TYPE, HF_SLICE("charge"));
    hf_event_put_payload(&builder, HF_KEY_RESULT, hf_payload_inline(HF_PAYLOAD_CODEC_JSON, result));
    ck_assert_int_eq(hf_event_builder_done(&builder, &events, &count, NULL), HF_OK);
    return events;
}

typedef struct hash_bench {
    hf_mem *mem;
    hf_sha256 *sha;
    hf_event_chunk_place place;
    uint8_t first[HF_SHA256_BYTES];
} hash_bench;

static void bench_hash(hash_bench *bench, const hf_event *events, uint8_t *out_hash)
{
    ck_assert_int_eq(hf_event_chunk_hash(bench->sha, events, 1, &bench->place, out_hash, NULL),
                     HF_OK);
}

static hash_bench bench_open(void)
{
    hash_bench bench = {.mem = hf_mem_new(), .place = {.run_key = 9, .first_seq = 3}};

    ck_assert_int_eq(hf_sha256_new(&bench.sha, NULL), HF_OK);
    bench_hash(&bench, build_result(bench.mem, HF_SLICE("{\"paid\":true}")), bench.first);
    return bench;
}

static void bench_close(hash_bench *bench)
{
    hf_sha256_free(bench->sha);
    hf_mem_free(bench->mem);
}

/* Moving a payload out of line and erasing it keep the hash; its value is part of it. */
START_TEST(hash_survives_erasure)
{
    hash_bench bench = bench_open();
    hf_event *event = build_result(bench.mem, HF_SLICE("{\"paid\":true}"));
    hf_payload_value *result = &event->fields[1].payload;
    uint8_t hash[HF_SHA256_BYTES];
    hf_err err = {0};

    bench_hash(&bench, event, hash);
    ck_assert_mem_eq(hash, bench.first, sizeof(hash));
    ck_assert_int_eq(
        hf_payload_detach(bench.sha, bench.mem, HF_PAYLOAD_FORM_REFERENCE, result, &err), HF_OK);
    ck_assert_int_eq(result->form, HF_PAYLOAD_FORM_REFERENCE);
    ck_assert_uint_eq(result->bytes.len, 0);
    bench_hash(&bench, event, hash);
    ck_assert_mem_eq(hash, bench.first, sizeof(hash));
    ck_assert_int_eq(hf_payload_detach(bench.sha, bench.mem, HF_PAYLOAD_FORM_ERASED, result, &err),
                     HF_OK);
    bench_hash(&bench, event, hash);
    ck_assert_mem_eq(hash, bench.first, sizeof(hash));
    ck_assert_int_eq(hf_payload_detach(bench.sha, bench.mem, HF_PAYLOAD_FORM_ERASED, result, &err),
                     HF_OK);
    ck_assert_int_eq(
        hf_payload_detach(bench.sha, bench.mem, HF_PAYLOAD_FORM_REFERENCE, result, &err),
        HF_INVALID);
    ck_assert_int_eq(hf_payload_detach(bench.sha, bench.mem, HF_PAYLOAD_FORM_INLINE, result, &err),
                     HF_INVALID);
    ck_assert_str_eq(err.text, "a payload that is erased cannot become inline again");
    expect_round_trip(bench.mem, event, 1);
    bench_close(&bench);
}
END_TEST

/* Everything else is covered: values, head, place and the hash before. */
START_TEST(hash_covers_everything)
{
    hash_bench bench = bench_open();
    uint8_t hash[HF_SHA256_BYTES];
    hf_event *event;

    for (int i = 0; i < 9; i++) {
        hf_slice value = i == 0 ? HF_SLICE("{\"paid\":fals}") : HF_SLICE("{\"paid\":true}");

        event = build_result(bench.mem, value);
        bench.place = (hf_event_chunk_place){.run_key = 9, .first_seq = 3};
        if (i == 1)
            event->time_us++;
        if (i == 2)
            event->step++;
        if (i == 3)
            event->fields[0].text = HF_SLICE("chargf");
        if (i == 4)
            event->fields[1].payload.codec = HF_PAYLOAD_CODEC_AVRO;
        if (i == 5)
            bench.place.run_key++;
        if (i == 6)
            bench.place.first_seq++;
        if (i == 7)
            bench.place.previous[31] = 1;
        if (i == 8) {
            event->type = HF_EVENT_ACTIVITY_SCHEDULED;
            event->count = 1;
        }
        bench_hash(&bench, event, hash);
        ck_assert_msg(memcmp(hash, bench.first, sizeof(hash)) != 0, "change %d", i);
    }
    bench_close(&bench);
}
END_TEST

/* The hash of a known chunk, computed apart from this code: it may never change. */
START_TEST(hash_is_frozen)
{
    hash_bench bench = bench_open();
    char text[HF_SHA256_TEXT_SIZE];

    hf_hex_print(hf_slice_from(bench.first, sizeof(bench.first)), text);
    ck_assert_str_eq(text, "00ab981fdb1ae01d2455a9b17762fec8a05d39eee04a211be9774b106cf1aad3");
    bench_close(&bench);
}
END_TEST

/* A bad chunk has no hash, and the message says why. */
START_TEST(bad_chunks_have_no_hash)
{
    hash_bench bench = bench_open();
    hf_event event = {.type = (hf_event_type)99};
    uint8_t hash[HF_SHA256_BYTES];
    hf_err err = {0};

    ck_assert_int_eq(hf_event_chunk_hash(bench.sha, &event, 1, &bench.place, hash, &err),
                     HF_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "hash a chunk of history: event 1 of 1"));
    bench_close(&bench);
}
END_TEST

/* Whichever allocation fails, encoding, decoding, hashing and detaching report it and leave
 * nothing. */
START_TEST(codec_survives_lost_memory)
{
    hash_bench bench = bench_open();
    hf_event *event = build_result(bench.mem, HF_SLICE("{\"paid\":true}"));
    hf_event events[64];
    int done = 0;

    for (size_t i = 0; i < 64; i++)
        events[i] = *event;
    for (int64_t nth = 1; !done; nth++) {
        hf_mem *mem = hf_mem_new();
        hf_payload_value payload = event->fields[1].payload;
        hf_event *read = NULL;
        size_t count = 0;
        hf_buf body = {0};
        uint8_t hash[HF_SHA256_BYTES];
        hf_err err = {0};
        hf_status st;

        hf_fault_arm(HF_FAULT_ALLOC, nth, true);
        st = hf_event_chunk_encode(events, 64, &body, &err);
        if (!st)
            st = hf_event_chunk_hash(bench.sha, events, 64, &bench.place, hash, &err);
        if (!st)
            st = hf_event_chunk_decode(mem, hf_buf_slice(&body), &read, &count, &err);
        if (!st)
            st = hf_payload_detach(bench.sha, mem, HF_PAYLOAD_FORM_ERASED, &payload, &err);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        if (st) {
            ck_assert_int_eq(st, HF_NOMEM);
            ck_assert_int_eq(err.status, HF_NOMEM);
            ck_assert_int_eq(payload.form, HF_PAYLOAD_FORM_INLINE);
        } else {
            ck_assert_uint_eq(count, 64);
            ck_assert_int_gt(nth, 3);
            done = 1;
        }
        hf_buf_fini(&body);
        hf_mem_free(mem);
    }
    bench_close(&bench);
}
END_TEST

/* Every cut of a good body is refused, and no changed byte makes two bodies mean the same. */
START_TEST(cuts_and_flips_are_noticed)
{
    hf_mem *mem = hf_mem_new();
    hf_event_builder builder;
    hf_event *events = NULL;
    size_t count = 0;
    hf_buf body = {0};
    hf_buf again = {0};

    hf_event_builder_init(&builder, mem);
    build_full(&builder, HF_EVENT_ACTIVITY_FAILED, 1000, 0);
    build_full(&builder, HF_EVENT_TIMER_FIRED, 1001, 1);
    ck_assert_int_eq(hf_event_builder_done(&builder, &events, &count, NULL), HF_OK);
    ck_assert_int_eq(hf_event_chunk_encode(events, count, &body, NULL), HF_OK);
    for (size_t len = 0; len < body.len; len++)
        ck_assert_int_eq(
            hf_event_chunk_decode(mem, hf_slice_from(body.ptr, len), &events, &count, NULL),
            HF_CORRUPT);
    for (size_t bit = 0; bit < body.len * 8; bit++) {
        hf_mem *room = hf_mem_new();

        body.ptr[bit / 8] = (char)(body.ptr[bit / 8] ^ (1 << bit % 8));
        if (hf_event_chunk_decode(room, hf_buf_slice(&body), &events, &count, NULL) == HF_OK) {
            ck_assert_int_eq(hf_event_chunk_encode(events, count, &again, NULL), HF_OK);
            ck_assert(hf_slice_equal(hf_buf_slice(&body), hf_buf_slice(&again)));
        }
        body.ptr[bit / 8] = (char)(body.ptr[bit / 8] ^ (1 << bit % 8));
        hf_mem_free(room);
    }
    hf_buf_fini(&body);
    hf_buf_fini(&again);
    hf_mem_free(mem);
}
END_TEST

HF_SUITE_MAIN("model/event_codec", {every_type_round_trips, 0}, {chunks_hold_1_to_256_events, 0},
              {bodies_are_bounded, 0}, {encoder_refuses, 0}, {decoder_refuses, 0},
              {format_1_is_frozen, 0}, {an_activity_is_small, 0}, {hash_survives_erasure, 0},
              {hash_covers_everything, 0}, {hash_is_frozen, 0}, {bad_chunks_have_no_hash, 0},
              {codec_survives_lost_memory, 0}, {cuts_and_flips_are_noticed, 0})
