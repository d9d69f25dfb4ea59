/* test_mem.c: arenas hand out aligned, separate pieces and give everything back at once. */
#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include "base/fault.h"
#include "base/mem.h"
#include "base/rng.h"
#include "lib/suite.h"

enum { PIECES = 3000 };

static bool bytes_are(const unsigned char *bytes, size_t len, size_t value)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != value)
            return false;
    }
    return true;
}

/* Pieces are zeroed, aligned for any type and do not overlap, whatever the mixture of sizes. */
START_TEST(pieces_are_aligned_and_apart)
{
    static unsigned char *pieces[PIECES];
    static size_t sizes[PIECES];
    hf_mem *mem = hf_mem_new();
    hf_rng rng;

    ck_assert_ptr_nonnull(mem);
    hf_rng_init_seeded(&rng, 1);
    for (size_t i = 0; i < PIECES; i++) {
        sizes[i] = (size_t)hf_rng_below(&rng, i % 50 == 0 ? 300000 : 200);
        if (i % 3 == 0) {
            pieces[i] = (unsigned char *)hf_mem_bytes(mem, sizes[i]);
        } else {
            pieces[i] = hf_mem_alloc(mem, sizes[i]);
            ck_assert_uint_eq((uintptr_t)pieces[i] % alignof(max_align_t), 0);
            ck_assert(bytes_are(pieces[i], sizes[i], 0));
        }
        ck_assert_ptr_nonnull(pieces[i]);
        memset(pieces[i], (int)(i % 251), sizes[i]);
    }
    for (size_t i = 0; i < PIECES; i++)
        ck_assert(bytes_are(pieces[i], sizes[i], i % 251));
    hf_mem_free(mem);
}
END_TEST

/* Sizes that cannot exist are refused and leave the arena usable. */
START_TEST(impossible_sizes_are_refused)
{
    hf_mem *mem = hf_mem_new();

    ck_assert_ptr_nonnull(mem);
    ck_assert_ptr_null(hf_mem_array(mem, SIZE_MAX / 2, 4));
    ck_assert_ptr_null(hf_mem_alloc(mem, SIZE_MAX));
    ck_assert_ptr_null(hf_mem_bytes(mem, SIZE_MAX - 8));
    ck_assert_uint_eq(hf_mem_held(mem), 0);
    ck_assert_ptr_nonnull(hf_mem_array(mem, 3, 8));
    ck_assert_ptr_nonnull(hf_mem_array(mem, 0, 8));
    hf_mem_free(mem);
}
END_TEST

/* Copies of text end in NUL; formats are as long as they need to be. */
START_TEST(texts_are_copied_and_formatted)
{
    hf_mem *mem = hf_mem_new();
    char *text;

    ck_assert_ptr_nonnull(mem);
    text = hf_mem_text(mem, hf_slice_from("holdfast", 4));
    ck_assert_ptr_nonnull(text);
    ck_assert_str_eq(text, "hold");
    text = hf_mem_text(mem, (hf_slice){0});
    ck_assert_ptr_nonnull(text);
    ck_assert_str_eq(text, "");
    text = hf_mem_format(mem, "%05d:%s", 42, "x");
    ck_assert_ptr_nonnull(text);
    ck_assert_str_eq(text, "00042:x");
    text = hf_mem_format(mem, "%20000d", 1);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(strlen(text), 20000);
    hf_mem_free(mem);
}
END_TEST

/* A reset arena keeps one block of ordinary size, so that a repeated workload stops growing. */
START_TEST(reset_keeps_a_bounded_rest)
{
    hf_mem *mem = hf_mem_new();
    size_t steady = 0;

    ck_assert_ptr_nonnull(mem);
    hf_mem_reset(mem);
    ck_assert_uint_eq(hf_mem_held(mem), 0);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 500; i++)
            ck_assert_ptr_nonnull(hf_mem_alloc(mem, 100));
        ck_assert_ptr_nonnull(hf_mem_bytes(mem, 4000000));
        ck_assert_uint_gt(hf_mem_held(mem), 4000000);
        hf_mem_reset(mem);
        ck_assert_uint_gt(hf_mem_held(mem), 0);
        ck_assert_uint_lt(hf_mem_held(mem), 300000);
        if (round >= 10 && steady == 0)
            steady = hf_mem_held(mem);
        if (steady)
            ck_assert_uint_eq(hf_mem_held(mem), steady);
    }
    hf_mem_free(mem);
    hf_mem_free(NULL);
}
END_TEST

/* An arena whose only block is a huge one gives that back too. */
START_TEST(reset_drops_a_huge_first_block)
{
    hf_mem *mem = hf_mem_new();
    char *piece;

    ck_assert_ptr_nonnull(mem);
    ck_assert_ptr_nonnull(hf_mem_bytes(mem, 1000000));
    hf_mem_reset(mem);
    ck_assert_uint_eq(hf_mem_held(mem), 0);
    piece = hf_mem_alloc(mem, 10);
    ck_assert_ptr_nonnull(piece);
    hf_mem_free(mem);
}
END_TEST

static bool pieces_take(hf_mem *mem)
{
    bool all = true;

    all &= hf_mem_alloc(mem, 100) != NULL;
    all &= hf_mem_bytes(mem, 10000) != NULL;
    all &= hf_mem_array(mem, 100, 40) != NULL;
    all &= hf_mem_text(mem, HF_SLICE("text")) != NULL;
    all &= hf_mem_format(mem, "%3000d", 7) != NULL;
    return all;
}

/* Whichever allocation fails, the arena stays usable and what it gave stays whole. */
START_TEST(failed_allocations_leave_it_usable)
{
    for (int64_t nth = 1;; nth++) {
        hf_mem *mem;
        bool all;
        bool done;

        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        mem = hf_mem_new();
        all = mem && pieces_take(mem);
        done = nth > hf_fault_seen(HF_FAULT_ALLOC);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_int_eq(all, done);
        if (mem)
            ck_assert(pieces_take(mem));
        hf_mem_free(mem);
        if (done)
            break;
    }
}
END_TEST

/* A small arena takes less for a little, and holds as much as any other. */
START_TEST(small_arenas_begin_small)
{
    hf_mem *plain = hf_mem_new();
    hf_mem *small = hf_mem_new_small();

    ck_assert(plain && small);
    ck_assert_ptr_nonnull(hf_mem_alloc(plain, 16));
    ck_assert_ptr_nonnull(hf_mem_alloc(small, 16));
    ck_assert_uint_lt(hf_mem_held(small), hf_mem_held(plain) / 4);
    for (size_t i = 1; i < 20000; i += 37) {
        char *piece = hf_mem_alloc(small, i);

        ck_assert_ptr_nonnull(piece);
        ck_assert_int_eq(piece[0] | piece[i - 1], 0);
        piece[0] = piece[i - 1] = 1;
    }
    hf_mem_reset(small);
    ck_assert_ptr_nonnull(hf_mem_alloc(small, 16));
    hf_mem_free(small);
    hf_mem_free(plain);
}
END_TEST

HF_SUITE_MAIN("base/mem", {small_arenas_begin_small, 0}, {pieces_are_aligned_and_apart, 0},
              {impossible_sizes_are_refused, 0}, {texts_are_copied_and_formatted, 0},
              {reset_keeps_a_bounded_rest, 0}, {reset_drops_a_huge_first_block, 0},
              {failed_allocations_leave_it_usable, 0})
