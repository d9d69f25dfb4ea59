/* test_buf.c: growing bytes, their one failure flag, and the varints written into them. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/fault.h"
#include "base/rng.h"
#include "lib/suite.h"

/* An unused buffer is empty text and owns nothing. */
START_TEST(empty_buffer_is_empty_text)
{
    hf_buf buf;

    hf_buf_init(&buf);
    ck_assert(hf_buf_ok(&buf));
    ck_assert_str_eq(hf_buf_text(&buf), "");
    ck_assert_uint_eq(hf_buf_slice(&buf).len, 0);
    hf_buf_clear(&buf);
    hf_buf_fini(&buf);
    hf_buf_fini(&buf);
}
END_TEST

/* Every kind of append adds exactly its bytes, and the text stays NUL-terminated. */
START_TEST(appends_add_their_bytes)
{
    hf_buf buf = {0};

    hf_buf_add_text(&buf, "run ");
    hf_buf_add_format(&buf, "%d/%s", 7, "x");
    hf_buf_add_byte(&buf, 0xFF);
    hf_buf_add_slice(&buf, HF_SLICE("a\0b"));
    hf_buf_add_slice(&buf, (hf_slice){0});
    hf_buf_add(&buf, "cd", 2);
    hf_buf_add_text(&buf, "");
    hf_buf_add_format(&buf, "%s", "");
    ck_assert(hf_buf_ok(&buf));
    ck_assert(hf_slice_equal(hf_buf_slice(&buf), HF_SLICE("run 7/x\xff"
                                                          "a\0bcd")));
    ck_assert_int_eq(buf.ptr[buf.len], '\0');
    hf_buf_clear(&buf);
    ck_assert_str_eq(hf_buf_text(&buf), "");
    hf_buf_add_text(&buf, "again");
    ck_assert_str_eq(hf_buf_text(&buf), "again");
    hf_buf_fini(&buf);
}
END_TEST

/* Content survives growth from one byte to megabytes. */
START_TEST(growth_keeps_content)
{
    hf_buf buf = {0};

    for (int i = 0; i < 300000; i++)
        hf_buf_add_format(&buf, "%07d", i);
    ck_assert(hf_buf_ok(&buf));
    ck_assert_uint_eq(buf.len, 2100000);
    for (int i = 0; i < 300000; i += 999) {
        char expected[8];

        (void)snprintf(expected, sizeof(expected), "%07d", i);
        ck_assert_int_eq(memcmp(buf.ptr + (size_t)i * 7, expected, 7), 0);
    }
    hf_buf_fini(&buf);
}
END_TEST

/* Reserved room is written in place; room never advanced over leaves the text as it was. */
START_TEST(reserve_and_advance)
{
    hf_buf buf = {0};
    char *at = hf_buf_reserve(&buf, 1000);

    ck_assert_ptr_nonnull(at);
    ck_assert_str_eq(hf_buf_text(&buf), "");
    memset(at, 'x', 1000);
    hf_buf_advance(&buf, 10);
    ck_assert_str_eq(hf_buf_text(&buf), "xxxxxxxxxx");
    ck_assert_ptr_nonnull(hf_buf_reserve(&buf, 100000));
    ck_assert_str_eq(hf_buf_text(&buf), "xxxxxxxxxx");
    hf_buf_fini(&buf);
}
END_TEST

/* A size beyond all memory fails the buffer instead of wrapping around. */
START_TEST(impossible_size_fails)
{
    hf_buf buf = {0};

    hf_buf_add_text(&buf, "x");
    ck_assert_ptr_null(hf_buf_reserve(&buf, SIZE_MAX - 1));
    ck_assert(!hf_buf_ok(&buf));
    hf_buf_clear(&buf);
    ck_assert(hf_buf_ok(&buf));
    hf_buf_fini(&buf);
}
END_TEST

static void content_write(hf_buf *buf)
{
    for (int i = 0; i < 100; i++)
        hf_buf_add_format(buf, "line %d\n", i);
    hf_buf_add_varint(buf, UINT64_MAX);
    hf_buf_add_byte(buf, 1);
    hf_buf_add_slice(buf, HF_SLICE("end"));
}

/* Whichever allocation fails, the flag tells, later appends are ignored, and a clear makes the
   buffer good again. */
START_TEST(failed_allocation_sets_the_flag)
{
    hf_buf whole = {0};

    content_write(&whole);
    for (int64_t nth = 1;; nth++) {
        hf_buf buf = {0};
        bool done;
        size_t len;

        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        content_write(&buf);
        done = nth > hf_fault_seen(HF_FAULT_ALLOC);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_int_eq(hf_buf_ok(&buf), done);
        ck_assert(hf_slice_starts(hf_buf_slice(&whole), hf_buf_slice(&buf)));
        ck_assert_uint_eq(strlen(hf_buf_text(&buf)), strnlen(whole.ptr, buf.len)); /* no rest */
        len = buf.len;
        hf_buf_add_text(&buf, "more");
        ck_assert_uint_eq(buf.len, done ? len + 4 : len);
        hf_buf_clear(&buf);
        content_write(&buf);
        ck_assert(hf_buf_ok(&buf));
        ck_assert(hf_slice_equal(hf_buf_slice(&whole), hf_buf_slice(&buf)));
        hf_buf_fini(&buf);
        if (done)
            break;
    }
    hf_buf_fini(&whole);
}
END_TEST

/* Numbers of every length are read back one after the other. */
START_TEST(varints_round_trip)
{
    hf_buf buf = {0};
    hf_slice rest;
    uint64_t number;
    hf_rng rng;
    hf_rng again;

    hf_rng_init_seeded(&rng, 5);
    hf_rng_init_seeded(&again, 5);
    for (int i = 0; i < 6400; i++)
        hf_buf_add_varint(&buf, hf_rng_next(&rng) >> (i % 64));
    for (int shift = 0; shift < 64; shift++) {
        hf_buf_add_varint(&buf, UINT64_C(1) << shift);
        hf_buf_add_varint(&buf, (UINT64_C(1) << shift) - 1);
    }
    hf_buf_add_varint(&buf, UINT64_MAX);
    ck_assert(hf_buf_ok(&buf));
    rest = hf_buf_slice(&buf);
    for (int i = 0; i < 6400; i++) {
        ck_assert(hf_slice_take_varint(&rest, &number));
        ck_assert_uint_eq(number, hf_rng_next(&again) >> (i % 64));
    }
    for (int shift = 0; shift < 64; shift++) {
        ck_assert(hf_slice_take_varint(&rest, &number) && number == UINT64_C(1) << shift);
        ck_assert(hf_slice_take_varint(&rest, &number) && number == (UINT64_C(1) << shift) - 1);
    }
    ck_assert(hf_slice_take_varint(&rest, &number) && number == UINT64_MAX);
    ck_assert_uint_eq(rest.len, 0);
    hf_buf_fini(&buf);
}
END_TEST

/* One number has one encoding: cut, over-long and too large ones are refused and nothing moves. */
START_TEST(bad_varints_are_refused)
{
    const hf_slice bad[] = {
        {0},
        HF_SLICE("\x80"),
        HF_SLICE("\xff\xff\xff"),
        HF_SLICE("\x80\x00"),
        HF_SLICE("\xff\x80\x00"),
        HF_SLICE("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
        HF_SLICE("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x01"),
        HF_SLICE("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"),
    };
    uint64_t number = 77;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        hf_slice rest = bad[i];

        ck_assert_msg(!hf_slice_take_varint(&rest, &number), "bad varint %zu", i);
        ck_assert_ptr_eq(rest.ptr, bad[i].ptr);
        ck_assert_uint_eq(rest.len, bad[i].len);
    }
    ck_assert_uint_eq(number, 77);
}
END_TEST

/* Bytes are taken from the front as long as there are enough; nothing can be taken from nothing. */
START_TEST(bytes_are_taken)
{
    hf_slice rest = HF_SLICE("abcde");
    hf_slice part;
    hf_slice none = {0};

    ck_assert(hf_slice_take(&rest, 2, &part) && hf_slice_equal(part, HF_SLICE("ab")));
    ck_assert(hf_slice_take(&rest, 0, &part) && part.len == 0);
    ck_assert(!hf_slice_take(&rest, 4, &part));
    ck_assert(hf_slice_take(&rest, 3, &part) && hf_slice_equal(part, HF_SLICE("cde")));
    ck_assert(!hf_slice_take(&rest, 1, &part));
    ck_assert(hf_slice_take(&none, 0, &part) && part.len == 0);
    ck_assert(!hf_slice_take(&none, SIZE_MAX, &part));
}
END_TEST

HF_SUITE_MAIN("base/buf", {empty_buffer_is_empty_text, 0}, {appends_add_their_bytes, 0},
              {growth_keeps_content, 0}, {reserve_and_advance, 0}, {impossible_size_fails, 0},
              {failed_allocation_sets_the_flag, 0}, {varints_round_trip, 0},
              {bad_varints_are_refused, 0}, {bytes_are_taken, 0})
