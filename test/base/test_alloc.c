/* test_alloc.c: the way to the heap, and the hook that makes it fail. */
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "lib/suite.h"

static bool bytes_are_zero(const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i])
            return false;
    }
    return true;
}

/* Fresh memory is zeroed, and no bytes are still a pointer. */
START_TEST(memory_is_zeroed)
{
    char *memory = hf_alloc(1000);
    char *array = hf_alloc_array(10, 100);
    void *none = hf_alloc(0);
    void *no_array = hf_alloc_array(0, 8);

    ck_assert(memory && array && none && no_array);
    ck_assert(bytes_are_zero(memory, 1000));
    ck_assert(bytes_are_zero(array, 1000));
    hf_alloc_free(memory);
    hf_alloc_free(array);
    hf_alloc_free(none);
    hf_alloc_free(no_array);
    hf_alloc_free(NULL);
}
END_TEST

/* A product that does not fit a size_t is refused, not wrapped. */
START_TEST(array_overflow_is_refused)
{
    ck_assert_ptr_null(hf_alloc_array(SIZE_MAX / 2, 3));
    ck_assert_ptr_null(hf_alloc_array(SIZE_MAX, SIZE_MAX));
}
END_TEST

/* Resizing keeps the content, grows from NULL and survives a size of zero. */
START_TEST(resize_keeps_content)
{
    char *memory = hf_alloc_resize(NULL, 4);
    char *grown;

    ck_assert_ptr_nonnull(memory);
    memcpy(memory, "abc", 4);
    grown = hf_alloc_resize(memory, 4096);
    ck_assert_ptr_nonnull(grown);
    ck_assert_str_eq(grown, "abc");
    memory = hf_alloc_resize(grown, 0);
    ck_assert_ptr_nonnull(memory);
    hf_alloc_free(memory);
}
END_TEST

/* A text copy ends in NUL and takes exactly the bytes it was given. */
START_TEST(text_is_copied)
{
    char *copy = hf_alloc_text("holdfast", 4);
    char *empty = hf_alloc_text(NULL, 0);

    ck_assert(copy && empty);
    ck_assert_str_eq(copy, "hold");
    ck_assert_str_eq(empty, "");
    hf_alloc_free(copy);
    hf_alloc_free(empty);
}
END_TEST

#ifdef HF_FAULT

/* The armed call fails, once; the others succeed and are counted. */
START_TEST(nth_call_fails)
{
    hf_fault_arm(HF_FAULT_ALLOC, 3, false);
    for (int i = 1; i <= 6; i++) {
        void *memory = hf_alloc(8);

        ck_assert_int_eq(memory == NULL, i == 3);
        hf_alloc_free(memory);
    }
    ck_assert_int_eq(hf_fault_seen(HF_FAULT_ALLOC), 6);
    hf_fault_arm(HF_FAULT_ALLOC, 0, false);
    ck_assert_int_eq(hf_fault_seen(HF_FAULT_ALLOC), 0);
}
END_TEST

/* A persistent fault starts at the armed call and lasts until it is disarmed; a failed resize
   leaves the old memory alone. */
START_TEST(persistent_fault_lasts)
{
    char *memory = hf_alloc_text("kept", 4);

    ck_assert_ptr_nonnull(memory);
    hf_fault_arm(HF_FAULT_ALLOC, 1, true);
    for (int i = 0; i < 3; i++) {
        ck_assert_ptr_null(hf_alloc(1));
        ck_assert_ptr_null(hf_alloc_array(1, 1));
        ck_assert_ptr_null(hf_alloc_text("x", 1));
        ck_assert_ptr_null(hf_alloc_resize(memory, 100));
    }
    ck_assert_str_eq(memory, "kept");
    hf_fault_arm(HF_FAULT_ALLOC, 0, false);
    hf_alloc_free(memory);
    memory = hf_alloc(1);
    ck_assert_ptr_nonnull(memory);
    hf_alloc_free(memory);
}
END_TEST

/* Kinds do not disturb each other, and a shared state takes the place of the own one. */
START_TEST(kinds_and_shared_state)
{
    hf_fault_state other = {0};

    hf_fault_arm(HF_FAULT_DB, 1, false);
    ck_assert(!hf_fault_hit(HF_FAULT_ALLOC));
    ck_assert(hf_fault_hit(HF_FAULT_DB));
    hf_fault_share(&other);
    ck_assert_ptr_eq(hf_fault_shared(), &other);
    hf_fault_arm(HF_FAULT_ALLOC, 1, false);
    ck_assert(hf_fault_hit(HF_FAULT_ALLOC));
    hf_fault_share(NULL);
    ck_assert_ptr_ne(hf_fault_shared(), &other);
    ck_assert_int_eq(hf_fault_seen(HF_FAULT_DB), 1);
}
END_TEST

HF_SUITE_MAIN("base/alloc", {memory_is_zeroed, 0}, {array_overflow_is_refused, 0},
              {resize_keeps_content, 0}, {text_is_copied, 0}, {nth_call_fails, 0},
              {persistent_fault_lasts, 0}, {kinds_and_shared_state, 0})

#else

HF_SUITE_MAIN("base/alloc", {memory_is_zeroed, 0}, {array_overflow_is_refused, 0},
              {resize_keeps_content, 0}, {text_is_copied, 0})

#endif
