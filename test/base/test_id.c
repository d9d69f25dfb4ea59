/* test_id.c: ULIDs: their text, their order and their parts. */
#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "base/rng.h"
#include "lib/suite.h"

enum { PAIRS = 20000 };

static void random_id(hf_rng *rng, hf_ulid *out_id)
{
    hf_rng_fill(rng, out_id->bytes, sizeof(out_id->bytes));
}

/* Bytes and texts that belong together, computed with big integers elsewhere. */
START_TEST(texts_are_known)
{
    static const struct {
        uint8_t bytes[HF_ULID_BYTES];
        const char *text;
    } known[] = {
        {{0}, "00000000000000000000000000"},
        {{[15] = 1}, "00000000000000000000000001"},
        {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
          0xff},
         "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"},
        {{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd,
          0xef},
         "014D2PF2DBSQQG28T5CY4TQKFF"},
        {{0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee,
          0xff},
         "0024H36H2NCSVRH6DAQF6DVVQZ"},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        hf_ulid id;
        char text[HF_ULID_TEXT_SIZE];

        memcpy(id.bytes, known[i].bytes, sizeof(id.bytes));
        hf_ulid_print(&id, text);
        ck_assert_str_eq(text, known[i].text);
        memset(&id, 0x5A, sizeof(id));
        ck_assert(hf_ulid_parse(hf_slice_of(known[i].text), &id));
        ck_assert_int_eq(memcmp(id.bytes, known[i].bytes, sizeof(id.bytes)), 0);
    }
}
END_TEST

/* Any id survives being printed and read in either case, and texts order as ids do. */
START_TEST(texts_round_trip_in_order)
{
    hf_rng rng;
    hf_ulid last = {0};
    char last_text[HF_ULID_TEXT_SIZE];

    hf_rng_init_seeded(&rng, 31);
    hf_ulid_print(&last, last_text);
    for (int i = 0; i < PAIRS; i++) {
        hf_ulid id;
        hf_ulid read;
        char text[HF_ULID_TEXT_SIZE];
        char lower[HF_ULID_TEXT_SIZE];
        int order;
        int text_order;

        random_id(&rng, &id);
        if (i % 2)
            memcpy(id.bytes, last.bytes, 12); /* neighbours as well as strangers */
        hf_ulid_print(&id, text);
        ck_assert_uint_eq(strlen(text), HF_ULID_TEXT_LEN);
        ck_assert(hf_ulid_parse(hf_slice_of(text), &read));
        ck_assert_int_eq(hf_ulid_compare(&id, &read), 0);
        for (size_t j = 0; j < sizeof(text); j++)
            lower[j] = (char)(text[j] >= 'A' ? text[j] + 32 : text[j]);
        ck_assert(hf_ulid_parse(hf_slice_of(lower), &read));
        ck_assert_int_eq(hf_ulid_compare(&id, &read), 0);
        order = hf_ulid_compare(&id, &last);
        text_order = strcmp(text, last_text);
        ck_assert_int_eq((order > 0) - (order < 0), (text_order > 0) - (text_order < 0));
        last = id;
        memcpy(last_text, text, sizeof(text));
    }
}
END_TEST

/* At every place every byte outside the alphabet is refused; so are other lengths and numbers above
   128 bits; a refusal writes nothing. */
START_TEST(reading_is_strict)
{
    const char *alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz";
    const char *good = "01ARYZ6S410000000000000000";
    hf_ulid untouched;
    hf_ulid id;

    memset(&untouched, 0x5A, sizeof(untouched));
    for (size_t at = 0; at < HF_ULID_TEXT_LEN; at++) {
        for (int byte = 0; byte < 256; byte++) {
            char text[HF_ULID_TEXT_LEN];
            bool fits = byte != 0 && strchr(alphabet, byte) && byte < 0x80;

            memcpy(text, good, sizeof(text));
            text[at] = (char)byte;
            if (at == 0)
                fits = byte >= '0' && byte <= '7';
            id = untouched;
            ck_assert_msg(hf_ulid_parse(hf_slice_from(text, sizeof(text)), &id) == fits,
                          "byte %d at %zu", byte, at);
            if (!fits)
                ck_assert_int_eq(hf_ulid_compare(&id, &untouched), 0);
        }
    }
    for (size_t len = 0; len < HF_ULID_TEXT_LEN; len++)
        ck_assert(!hf_ulid_parse(hf_slice_from(good, len), &id));
    ck_assert(!hf_ulid_parse(HF_SLICE("01ARYZ6S4100000000000000000"), &id));
    ck_assert(!hf_ulid_parse((hf_slice){0}, &id));
}
END_TEST

/* Formed ids give their parts back and order by time, then key, then counter. */
START_TEST(parts_order_the_id)
{
    hf_rng rng;
    int64_t last_time = 0;
    int64_t last_key = 0;
    uint32_t last_counter = 0;
    hf_ulid last = hf_ulid_form(0, 0, 0);

    hf_rng_init_seeded(&rng, 32);
    for (int i = 0; i < PAIRS; i++) {
        int64_t time_ms = i % 3 ? last_time : (int64_t)(hf_rng_next(&rng) >> (16 + i % 40));
        int64_t key = i % 3 == 2 ? last_key : (int64_t)(hf_rng_next(&rng) >> (16 + i % 40));
        uint32_t counter = (uint32_t)hf_rng_next(&rng);
        hf_ulid id = hf_ulid_form(time_ms * 1000, key, counter);
        int expected;
        int order;

        ck_assert_int_eq(hf_ulid_time_ms(&id), time_ms);
        ck_assert_int_eq(hf_ulid_key(&id), key);
        ck_assert_uint_eq(hf_ulid_counter(&id), counter);
        expected = (counter > last_counter) - (counter < last_counter);
        if (key != last_key)
            expected = key > last_key ? 1 : -1;
        if (time_ms != last_time)
            expected = time_ms > last_time ? 1 : -1;
        order = hf_ulid_compare(&id, &last);
        ck_assert_int_eq((order > 0) - (order < 0), expected);
        last = id;
        last_time = time_ms;
        last_key = key;
        last_counter = counter;
    }
}
END_TEST

/* The limits of the parts: the largest fit, a time outside is moved to the nearest inside. */
START_TEST(parts_at_their_limits)
{
    hf_ulid id = hf_ulid_form(HF_ULID_TIME_MS_MAX * 1000, HF_ULID_KEY_MAX, UINT32_MAX);
    char text[HF_ULID_TEXT_SIZE];

    hf_ulid_print(&id, text);
    ck_assert_str_eq(text, "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
    ck_assert_int_eq(hf_ulid_time_ms(&id), HF_ULID_TIME_MS_MAX);
    ck_assert_int_eq(hf_ulid_key(&id), HF_ULID_KEY_MAX);
    ck_assert_uint_eq(hf_ulid_counter(&id), UINT32_MAX);
    id = hf_ulid_form(-1000, 5, 6);
    ck_assert(hf_ulid_time_ms(&id) == 0 && hf_ulid_key(&id) == 5 && hf_ulid_counter(&id) == 6);
    id = hf_ulid_form(INT64_MAX, 5, 6);
    ck_assert_int_eq(hf_ulid_time_ms(&id), HF_ULID_TIME_MS_MAX);
    id = hf_ulid_form(1469918176385000, 0, 0);
    hf_ulid_print(&id, text);
    ck_assert_str_eq(text, "01ARYZ6S410000000000000000");
}
END_TEST

HF_SUITE_MAIN("base/id", {texts_are_known, 0}, {texts_round_trip_in_order, 0},
              {reading_is_strict, 0}, {parts_order_the_id, 0}, {parts_at_their_limits, 0})
