/* test_avro.c: the Avro Value codec against its published golden bytes, hand-made frames, random
   values and failed allocations. */
#include <stdio.h>
#include <string.h>

#include "base/avro.h"
#include "base/base64.h"
#include "base/fault.h"
#include "base/json.h"
#include "base/random_value.h"
#include "lib/suite.h"

#define HEADER "\xC3\x01\xE2\xA3\x3D\xFF\x55\x80\x22\x37"

static hf_value data_read(hf_mem *mem, const char *name)
{
    char path[1024];
    char text[8192];
    hf_value value = NULL;
    hf_err err = {0};
    FILE *file;
    size_t len;

    (void)snprintf(path, sizeof(path), "%s/base/data/%s", HF_TEST_DIR, name);
    file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s", path);
    len = fread(text, 1, sizeof(text), file);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_msg(hf_json_read(mem, hf_slice_from(text, len), NULL, &value, &err) == HF_OK, "%s",
                  err.text);
    return value;
}

static hf_slice wire(hf_mem *mem, const char *base64)
{
    hf_buf buf = {0};
    char *copy;
    size_t len;

    ck_assert_int_eq(hf_base64_decode(&buf, hf_slice_of(base64), NULL), HF_OK);
    len = buf.len;
    copy = hf_mem_text(mem, hf_buf_slice(&buf));
    ck_assert_ptr_nonnull(copy);
    hf_buf_fini(&buf);
    return hf_slice_from(copy, len);
}

/* What the golden file means by a case: its scalars are there, its containers are described here.
 */
static hf_value expected_value(hf_mem *mem, hf_value golden)
{
    const char *name = hf_str(golden, "name", "");
    const char *kind = hf_str(golden, "kind", "");
    hf_value bytes = hf_value_bytes(mem, hf_slice_from("\0\xFF", 2));
    hf_value_list *list;
    int64_t number;

    if (!strcmp(kind, "null"))
        return hf_value_null();
    if (!strcmp(kind, "boolean"))
        return hf_value_bool(hf_bool(golden, "value", !strcmp(name, "boolean_false")));
    if (!strcmp(kind, "long")) {
        ck_assert(hf_slice_int(hf_slice_of(hf_str(golden, "value", "")), &number));
        return hf_value_int(mem, number);
    }
    if (!strcmp(name, "negative_zero"))
        return hf_value_double(mem, -0.0);
    if (!strcmp(kind, "double"))
        return hf_value_double(mem, hf_num(golden, "value", 0));
    if (!strcmp(kind, "bytes"))
        return hf_value_bytes(mem, wire(mem, hf_str(golden, "value_base64", "")));
    if (!strcmp(kind, "string"))
        return hf_get(golden, "value");
    if (!strcmp(name, "array"))
        return hf_json_(mem, "[null, true, 7, 7.0, %p, 'text']", (const void *)bytes);
    if (!strcmp(name, "map"))
        return hf_json_(mem, "{'a': 1, 'b': [false]}");
    if (!strcmp(name, "map_empty"))
        return hf_json_(mem, "{}");
    if (!strcmp(name, "map_key_0"))
        return hf_json_(mem, "{'0': 'zero'}");
    if (!strcmp(name, "map_keys_0_1"))
        return hf_json_(mem, "{'0': 'zero', '1': 'one'}");
    ck_assert_str_eq(name, "nested");
    list = hf_value_array(mem);
    hf_value_append(list, hf_json_(mem, "{'enabled': true}"));
    hf_value_append(list, hf_value_bytes(mem, HF_SLICE("bytes")));
    hf_value_append(list, hf_value_double(mem, -2.5));
    return hf_json_(mem, "{'items': %p}", (const void *)hf_value_finish(list));
}

static void encodes_to(hf_value value, hf_slice frame, const char *name)
{
    hf_buf buf = {0};

    hf_avro_encode(&buf, value);
    ck_assert(hf_buf_ok(&buf));
    ck_assert_msg(hf_slice_equal(hf_buf_slice(&buf), frame), "%s", name);
    hf_buf_fini(&buf);
}

/* Every golden case is decoded to what it says and encoded to the same bytes. */
START_TEST(golden_cases)
{
    hf_mem *mem = hf_mem_new();
    hf_value cases = hf_get(data_read(mem, "avro-value-v1-golden.json"), "cases");

    ck_assert_uint_eq(hf_len(cases), 16);
    for (size_t i = 0; i < hf_len(cases); i++) {
        const char *name = hf_str(hf_at(cases, i), "name", "");
        hf_slice frame = wire(mem, hf_str(hf_at(cases, i), "wire_base64", ""));
        hf_value expected = expected_value(mem, hf_at(cases, i));
        hf_value decoded = NULL;
        hf_err err = {0};

        ck_assert_msg(hf_avro_decode(mem, frame, NULL, &decoded, &err) == HF_OK, "%s: %s", name,
                      err.text);
        ck_assert_msg(expected && hf_value_equal(decoded, expected), "%s: %s", name,
                      hf_text(mem, decoded));
        encodes_to(expected, frame, name);
        encodes_to(decoded, frame, name);
    }
    hf_mem_free(mem);
}
END_TEST

/* Maps that list their entries in other orders are equal values. */
START_TEST(alternate_map_orders)
{
    hf_mem *mem = hf_mem_new();
    hf_value golden = data_read(mem, "avro-value-v1-golden.json");
    hf_value wires = hf_get(golden, "alternate_map_orders.0.wire_base64");
    hf_value first = NULL;
    hf_value second = NULL;

    ck_assert_uint_eq(hf_len(wires), 2);
    ck_assert_int_eq(hf_avro_decode(mem, wire(mem, hf_str(wires, "0", "")), NULL, &first, NULL),
                     HF_OK);
    ck_assert_int_eq(hf_avro_decode(mem, wire(mem, hf_str(wires, "1", "")), NULL, &second, NULL),
                     HF_OK);
    ck_assert(hf_value_equal(first, second));
    ck_assert_uint_eq(hf_len(first), 2);
    hf_mem_free(mem);
}
END_TEST

/* Every malformed golden frame is refused under its published name. */
START_TEST(malformed_golden_frames)
{
    hf_mem *mem = hf_mem_new();
    hf_value frames = hf_get(data_read(mem, "avro-value-v1-golden.json"), "malformed_frames");

    ck_assert_uint_eq(hf_len(frames), 18);
    for (size_t i = 0; i < hf_len(frames); i++) {
        const char *expected = hf_str(hf_at(frames, i), "error", "?");
        hf_slice frame = wire(mem, hf_str(hf_at(frames, i), "wire_base64", ""));
        hf_value decoded = NULL;
        hf_err err = {0};

        ck_assert_int_eq(hf_avro_decode(mem, frame, NULL, &decoded, &err), HF_INVALID);
        ck_assert_ptr_null(decoded);
        ck_assert_msg(!strncmp(err.text, expected, strlen(expected)), "%s: %s",
                      hf_str(hf_at(frames, i), "name", ""), err.text);
    }
    hf_mem_free(mem);
}
END_TEST

/* Cutting any golden frame anywhere gives a framing error, never a value. */
START_TEST(every_cut_is_refused)
{
    hf_mem *mem = hf_mem_new();
    hf_value cases = hf_get(data_read(mem, "avro-value-v1-golden.json"), "cases");

    for (size_t i = 0; i < hf_len(cases); i++) {
        hf_slice frame = wire(mem, hf_str(hf_at(cases, i), "wire_base64", ""));

        for (size_t cut = 0; cut < frame.len; cut++) {
            hf_value decoded;
            hf_err err = {0};
            char *exact = hf_mem_bytes(mem, cut);

            ck_assert_ptr_nonnull(exact);
            memcpy(exact, frame.ptr, cut);
            ck_assert_int_eq(hf_avro_decode(mem, hf_slice_from(exact, cut), NULL, &decoded, &err),
                             HF_INVALID);
            ck_assert_int_eq(strncmp(err.text, "invalid_payload_framing", 23), 0);
        }
    }
    hf_mem_free(mem);
}
END_TEST

/* Blocks may be many, may carry their size, and must then be that long. */
START_TEST(blocks_as_avro_allows_them)
{
    static const struct {
        hf_slice frame;
        const char *json; /* NULL: refused */
    } cases[] = {
        {{HEADER "\x0C\x02\x04\x02\x02\x04\x04\x00", 18}, "[1,2]"},     /* two blocks of one */
        {{HEADER "\x0C\x03\x08\x04\x02\x04\x04\x00", 18}, "[1,2]"},     /* minus two, 4 bytes */
        {{HEADER "\x0C\x01\x04\x04\x02\x02\x04\x04\x00", 19}, "[1,2]"}, /* with a size, without */
        {{HEADER "\x0E\x01\x08\x02\x61\x04\x02\x02\x02\x62\x00\x00", 22}, "{\"a\":1,\"b\":null}"},
        {{HEADER "\x0C\x00", 12}, "[]"},
        {{HEADER "\x0C\x03\x06\x04\x02\x04\x04\x00", 18}, NULL}, /* size too small */
        {{HEADER "\x0C\x03\x0A\x04\x02\x04\x04\x00", 18}, NULL}, /* size too large */
        {{HEADER "\x0C\x03\x7E\x04\x02\x04\x04\x00", 18}, NULL}, /* beyond the end */
        {{HEADER "\x0C\x03\x07\x04\x02\x04\x04\x00", 18}, NULL}, /* a negative size */
        {{HEADER "\x0C\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x00", 22},
         NULL}, /* 2^63 - 1 items */
        {{HEADER "\x0C\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x00\x00", 23}, NULL}, /* -2^63 */
        {{HEADER "\x0E\x04\x02\x61\x00\x02\x61\x00\x00", 19}, NULL}, /* one key twice */
        {{HEADER "\x02\x02", 12}, NULL},                             /* a boolean of 2 */
        {{HEADER "\x04\x80\x00", 13}, NULL},                         /* an over-long zero */
        {{HEADER "\x0A\x01", 12}, NULL},                             /* a length of -1 */
        {{HEADER "\x01", 11}, NULL},                                 /* branch -1 */
        {{HEADER "\x0E\x02\x02\xFF\x00\x00", 16}, NULL},             /* a key not UTF-8 */
        {{HEADER "\x0A\x06\xED\xA0\x80", 15}, NULL},                 /* a surrogate */
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hf_mem *mem = hf_mem_new();
        hf_value decoded = NULL;
        hf_err err = {0};
        hf_status st = hf_avro_decode(mem, cases[i].frame, NULL, &decoded, &err);

        if (cases[i].json) {
            ck_assert_msg(st == HF_OK, "case %zu: %s", i, err.text);
            ck_assert_str_eq(hf_text(mem, decoded), cases[i].json);
        } else {
            ck_assert_msg(st == HF_INVALID, "case %zu", i);
            ck_assert_msg(!strncmp(err.text, "invalid_payload_framing", 23), "%s", err.text);
            ck_assert_ptr_null(decoded);
        }
        hf_mem_free(mem);
    }
}
END_TEST

/* Depth and size have limits, and the limit itself is allowed. */
START_TEST(limits_hold)
{
    for (size_t depth = 1; depth < 70; depth++) {
        hf_mem *mem = hf_mem_new();
        hf_buf buf = {0};
        hf_value decoded = NULL;
        const hf_json_limits three = {.depth_max = 3};
        const hf_json_limits small = {.bytes_max = 20};

        hf_buf_add(&buf, HEADER, 10);
        for (size_t i = 1; i < depth; i++)
            hf_buf_add(&buf, "\x0C\x02", 2);
        hf_buf_add(&buf, "\x0C", 1);
        for (size_t i = 0; i < depth; i++)
            hf_buf_add(&buf, "\x00", 1);
        ck_assert_int_eq(hf_avro_decode(mem, hf_buf_slice(&buf), NULL, &decoded, NULL),
                         depth <= HF_VALUE_DEPTH_MAX ? HF_OK : HF_TOOBIG);
        ck_assert_int_eq(hf_avro_decode(mem, hf_buf_slice(&buf), &three, &decoded, NULL),
                         depth <= 3 ? HF_OK : HF_TOOBIG);
        ck_assert_int_eq(hf_avro_decode(mem, hf_buf_slice(&buf), &small, &decoded, NULL),
                         buf.len <= 20 ? HF_OK : HF_TOOBIG);
        hf_buf_fini(&buf);
        hf_mem_free(mem);
    }
}
END_TEST

/* Random values come back equal, and encode to the same bytes again. */
START_TEST(random_values_survive)
{
    hf_mem *mem = hf_mem_new();
    hf_rng rng;

    hf_rng_init_seeded(&rng, 301);
    for (int i = 0; i < 10000; i++) {
        hf_value value = random_value(&rng, mem, RANDOM_DEPTH);
        hf_value decoded = NULL;
        hf_buf buf = {0};
        hf_err err = {0};

        ck_assert_ptr_nonnull(value);
        hf_avro_encode(&buf, value);
        ck_assert_msg(hf_avro_decode(mem, hf_buf_slice(&buf), NULL, &decoded, &err) == HF_OK, "%s",
                      err.text);
        ck_assert(hf_value_equal(value, decoded));
        encodes_to(decoded, hf_buf_slice(&buf), "random");
        hf_buf_fini(&buf);
        hf_mem_reset(mem);
    }
    hf_mem_free(mem);
}
END_TEST

/* No value is encoded as null. */
START_TEST(no_value_is_null)
{
    encodes_to(NULL, hf_slice_from(HEADER "\x00", 11), "no value");
}
END_TEST

/* A value that needs the heap, many arena blocks and an index. */
static hf_value large_value(hf_mem *mem)
{
    hf_value_list *list = hf_value_object(mem);

    for (int i = 0; i < 400; i++) {
        char key[16];
        int len = snprintf(key, sizeof(key), "key-%d", i);

        hf_value_set(list, hf_slice_from(key, (size_t)len),
                     hf_json_(mem, "{'n': %d, 'list': [%g, %s]}", i, i / 3.0, key));
    }
    return hf_value_finish(list);
}

/* Whichever allocation fails, decoding and encoding say so and leave nothing behind. */
START_TEST(failed_allocations_are_reported)
{
    hf_mem *keep = hf_mem_new();
    hf_value value = large_value(keep);
    bool done = false;
    hf_buf frame = {0};

    ck_assert_ptr_nonnull(value);
    for (int64_t nth = 1; !done; nth++) {
        hf_buf_fini(&frame);
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        hf_avro_encode(&frame, value);
        done = nth > hf_fault_seen(HF_FAULT_ALLOC);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_int_eq(hf_buf_ok(&frame), done);
    }
    done = false;
    for (int64_t nth = 1; !done; nth++) {
        hf_mem *mem = hf_mem_new();
        hf_value decoded = NULL;
        hf_err err = {0};
        hf_status st;

        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_avro_decode(mem, hf_buf_slice(&frame), NULL, &decoded, &err);
        done = nth > hf_fault_seen(HF_FAULT_ALLOC);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_int_eq(st, done ? HF_OK : HF_NOMEM);
        ck_assert_int_eq(err.status, st);
        ck_assert_int_eq(decoded != NULL, done);
        if (done)
            ck_assert(hf_value_equal(decoded, value));
        hf_mem_free(mem);
    }
    hf_buf_fini(&frame);
    hf_mem_free(keep);
}
END_TEST

/* ---- the fingerprint belongs to the schema */

/* Avro's parsing canonical form: full names, the members that matter, in a fixed order. */
static void schema_canonical(hf_buf *buf, hf_value schema, const char *space)
{
    const char *type = hf_str(schema, "type", "");
    const char *name = hf_str(schema, "", NULL);

    if (name) {
        bool known = strchr(name, '.') || !(name[0] >= 'A' && name[0] <= 'Z');

        hf_buf_add_format(buf, "\"%s%s%s\"", known ? "" : space, known ? "" : ".", name);
    } else if (!strcmp(type, "record")) {
        hf_buf_add_format(buf, "{\"name\":\"%s.%s\",\"type\":\"record\",\"fields\":[", space,
                          hf_str(schema, "name", ""));
        for (size_t i = 0; i < hf_len(hf_get(schema, "fields")); i++) {
            hf_value field = hf_at(hf_get(schema, "fields"), i);

            hf_buf_add_format(buf, "%s{\"name\":\"%s\",\"type\":", i ? "," : "",
                              hf_str(field, "name", ""));
            schema_canonical(buf, hf_get(field, "type"), space);
            hf_buf_add_byte(buf, '}');
        }
        hf_buf_add_text(buf, "]}");
    } else if (!strcmp(type, "array") || !strcmp(type, "map")) {
        const char *inner = type[0] == 'a' ? "items" : "values";

        hf_buf_add_format(buf, "{\"type\":\"%s\",\"%s\":", type, inner);
        schema_canonical(buf, hf_get(schema, inner), space);
        hf_buf_add_byte(buf, '}');
    } else { /* a union */
        hf_buf_add_byte(buf, '[');
        for (size_t i = 0; i < hf_len(schema); i++) {
            if (i)
                hf_buf_add_byte(buf, ',');
            schema_canonical(buf, hf_at(schema, i), space);
        }
        hf_buf_add_byte(buf, ']');
    }
}

/* CRC-64-AVRO of the schema's canonical form is what every frame starts with. */
START_TEST(fingerprint_is_that_of_the_schema)
{
    const uint64_t empty = UINT64_C(0xC15D213AA4D7A795);
    hf_mem *mem = hf_mem_new();
    hf_value schema = data_read(mem, "durable_workflow.protocol.Value.v1.avsc");
    uint64_t crc = empty;
    hf_buf form = {0};
    hf_buf frame = {0};

    schema_canonical(&form, schema, hf_str(schema, "namespace", ""));
    for (size_t i = 0; i < form.len; i++) {
        crc ^= (unsigned char)form.ptr[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? empty : 0);
    }
    hf_avro_encode(&frame, hf_value_null());
    for (size_t i = 0; i < 8; i++)
        ck_assert_uint_eq((unsigned char)frame.ptr[2 + i], crc >> (8 * i) & 0xFF);
    hf_buf_fini(&form);
    hf_buf_fini(&frame);
    hf_mem_free(mem);
}
END_TEST

HF_SUITE_MAIN("base/avro", {golden_cases, 0}, {alternate_map_orders, 0},
              {malformed_golden_frames, 0}, {every_cut_is_refused, 0},
              {blocks_as_avro_allows_them, 0}, {limits_hold, 0}, {random_values_survive, 0},
              {no_value_is_null, 0}, {failed_allocations_are_reported, 0},
              {fingerprint_is_that_of_the_schema, 0})
