/* test_envelope.c: values as they travel between servers and workers. */
#include <string.h>

#include "base/fault.h"
#include "base/json.h"
#include "base/value.h"
#include "lib/suite.h"
#include "model/envelope.h"

static hf_mem *mem;

static void begin(void)
{
    mem = hf_mem_new();
    ck_assert_ptr_nonnull(mem);
}

static hf_value parse(const char *json)
{
    hf_value value = NULL;
    hf_err err = {0};

    ck_assert_msg(!hf_json_read(mem, hf_slice_of(json), NULL, &value, &err), "%s", err.text);
    return value;
}

static void same(hf_value value, const char *json)
{
    ck_assert_msg(hf_value_equal(value, parse(json)), "%s", hf_text(mem, value));
}

/* A plain value becomes JSON, null becomes nothing, and a text is only a text without a codec. */
START_TEST(plain_values_are_json)
{
    hf_decision_payload payload;
    hf_err err = {0};

    begin();
    ck_assert_int_eq(hf_envelope_read(mem, parse("{\"a\":[1,2.5]}"), (hf_slice){0}, &payload, &err),
                     HF_OK);
    ck_assert_int_eq(payload.codec, HF_PAYLOAD_CODEC_JSON);
    ck_assert_str_eq(payload.bytes.ptr, "{\"a\":[1,2.5]}");
    ck_assert_int_eq(hf_envelope_read(mem, parse("null"), (hf_slice){0}, &payload, &err), HF_OK);
    ck_assert_ptr_null(payload.bytes.ptr);
    ck_assert_int_eq(hf_envelope_read(mem, parse("\"wwE=\""), (hf_slice){0}, &payload, &err),
                     HF_OK);
    ck_assert_str_eq(payload.bytes.ptr, "\"wwE=\"");
    hf_mem_free(mem);
}
END_TEST

/* What is written in either codec is read back as the same value. */
START_TEST(envelopes_round_trip)
{
    static const char *const values[] = {"[]", "{}", "[1,-7,2.5,\"x\",true,null]",
                                         "{\"deep\":{\"list\":[[1]]}}", "9007199254740993"};

    begin();
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        hf_decision_payload plain;
        hf_decision_payload back;
        hf_value envelope = NULL;
        hf_value value = NULL;
        hf_err err = {0};

        ck_assert(!hf_envelope_read(mem, parse(values[i]), (hf_slice){0}, &plain, &err));
        ck_assert(!hf_envelope_write(mem, &plain, HF_PAYLOAD_CODEC_AVRO, &envelope, &err));
        ck_assert_str_eq(hf_str(envelope, "codec", ""), "avro");
        ck_assert(!hf_envelope_read(mem, envelope, (hf_slice){0}, &back, &err));
        ck_assert_int_eq(back.codec, HF_PAYLOAD_CODEC_AVRO);
        ck_assert(!hf_envelope_value(mem, &back, &value, &err));
        same(value, values[i]);
        ck_assert(!hf_envelope_write(mem, &back, HF_PAYLOAD_CODEC_JSON, &envelope, &err));
        ck_assert_str_eq(hf_str(envelope, "blob", ""), values[i]);
        ck_assert(!hf_envelope_read(mem, hf_get(envelope, "blob"), HF_SLICE("json"), &back, &err));
        ck_assert(!hf_envelope_value(mem, &back, &value, &err));
        same(value, values[i]);
    }
    hf_mem_free(mem);
}
END_TEST

/* An unknown codec, a blob that is no base64 and a malformed frame are refused by name. */
START_TEST(bad_envelopes_are_refused)
{
    static const struct {
        const char *json, *says;
    } cases[] = {
        {"{\"codec\":\"pickle\",\"blob\":\"x\"}", "unsupported_payload_codec: pickle"},
        {"{\"codec\":\"avro\",\"blob\":\"***\"}", "base64"},
        {"{\"codec\":\"avro\",\"blob\":\"wwE=\"}", "invalid_payload_framing"},
        {"{\"codec\":\"json\",\"blob\":\"{\"}", "payload"},
        {"{\"codec\":\"avro\",\"external_storage\":{}}", "external payloads"},
    };

    begin();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hf_decision_payload payload;
        hf_err err = {0};

        ck_assert_int_eq(hf_envelope_read(mem, parse(cases[i].json), (hf_slice){0}, &payload, &err),
                         HF_INVALID);
        ck_assert_msg(strstr(err.text, cases[i].says), "%s", err.text);
    }
    hf_mem_free(mem);
}
END_TEST

/* Every allocation fails once: no leak, no half payload. */
START_TEST(memory_may_run_out)
{
    hf_value value;
    hf_status st = HF_NOMEM;

    begin();
    value = parse("{\"a\":[1,2,3]}");
    for (int64_t nth = 1; st == HF_NOMEM; nth++) {
        hf_mem *own = hf_mem_new();
        hf_decision_payload payload;
        hf_value envelope = NULL;
        hf_err err = {0};

        ck_assert_ptr_nonnull(own);
        hf_fault_arm(HF_FAULT_ALLOC, nth, true);
        st = hf_envelope_read(own, value, (hf_slice){0}, &payload, &err);
        if (!st)
            st = hf_envelope_write(own, &payload, HF_PAYLOAD_CODEC_AVRO, &envelope, &err);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        hf_mem_free(own);
        ck_assert_int_lt(nth, 1000);
    }
    ck_assert_int_eq(st, HF_OK);
    hf_mem_free(mem);
}
END_TEST

HF_SUITE_MAIN("model/envelope", {plain_values_are_json, 0}, {envelopes_round_trip, 0},
              {bad_envelopes_are_refused, 0}, {memory_may_run_out, 0})
