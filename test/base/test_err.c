/* test_err.c: error texts grow outwards, fit their bounds and stay valid UTF-8. */
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "lib/suite.h"

/* Whether `text` is UTF-8 as far as the two-byte characters of these tests go. */
static bool text_is_whole(const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at < 0x80)
            continue;
        if (*at < 0xC0 || (at[1] & 0xC0) != 0x80)
            return false;
        at++;
    }
    return true;
}

/* A failure is recorded with its status and formatted text, and the status is passed through. */
START_TEST(set_records_status_and_text)
{
    hf_err err = {0};

    ck_assert_int_eq(hf_err_set(&err, HF_NOTFOUND, "run %d is missing", 7), HF_NOTFOUND);
    ck_assert_int_eq(err.status, HF_NOTFOUND);
    ck_assert_str_eq(err.text, "run 7 is missing");
    ck_assert_int_eq(hf_err_set(&err, HF_BUSY, "later"), HF_BUSY);
    ck_assert_str_eq(err.text, "later");
}
END_TEST

/* Every caller puts its own words in front; success adds nothing. */
START_TEST(because_grows_outwards)
{
    hf_err err = {0};

    ck_assert_int_eq(hf_err_because(&err, HF_OK, "nothing happened"), HF_OK);
    ck_assert_str_eq(err.text, "");
    (void)hf_err_set(&err, HF_FULL, "disk full");
    ck_assert_int_eq(hf_err_because(&err, HF_FULL, "append to run %d", 7), HF_FULL);
    ck_assert_int_eq(hf_err_because(&err, HF_IO, "start"), HF_IO);
    ck_assert_str_eq(err.text, "start: append to run 7: disk full");
    ck_assert_int_eq(err.status, HF_IO);
}
END_TEST

/* Context without a text of its own stands alone, without a dangling colon. */
START_TEST(because_without_text_stands_alone)
{
    hf_err err = {0};

    ck_assert_int_eq(hf_err_because(&err, HF_ERROR, "open"), HF_ERROR);
    ck_assert_str_eq(err.text, "open");
}
END_TEST

/* Callers that want no text pass NULL everywhere. */
START_TEST(null_is_accepted)
{
    ck_assert_int_eq(hf_err_set(NULL, HF_BUSY, "x"), HF_BUSY);
    ck_assert_int_eq(hf_err_because(NULL, HF_BUSY, "x"), HF_BUSY);
    ck_assert_int_eq(hf_err_nomem(NULL, "x"), HF_NOMEM);
}
END_TEST

/* Lack of memory has one wording. */
START_TEST(nomem_is_worded_once)
{
    hf_err err = {0};

    ck_assert_int_eq(hf_err_nomem(&err, "a key of a map"), HF_NOMEM);
    ck_assert_int_eq(err.status, HF_NOMEM);
    ck_assert_str_eq(err.text, "no memory for a key of a map");
}
END_TEST

/* Whatever the length of text and context, the result is cut between characters, stays inside the
   struct and begins with the context. */
START_TEST(long_texts_are_cut_between_characters)
{
    char letters[2 * HF_ERR_TEXT_MAX + 2];

    for (int shift = 0; shift < 2; shift++) { /* characters at even and at odd places */
        memset(letters, 'x', sizeof(letters));
        for (size_t i = (size_t)shift; i + 1 < sizeof(letters); i += 2)
            memcpy(letters + i, "\xC3\xA9", 2);
        for (int len = 0; len < 2 * HF_ERR_TEXT_MAX; len++) {
            hf_err err = {0};
            int whole = len - (len - shift) % 2;

            if (len < shift)
                continue;
            (void)hf_err_set(&err, HF_ERROR, "%.*s", whole, letters);
            ck_assert_uint_lt(strlen(err.text), HF_ERR_TEXT_MAX);
            ck_assert_msg(text_is_whole(err.text), "set, %d bytes, shift %d", len, shift);
            if (whole < HF_ERR_TEXT_MAX - 1)
                ck_assert_uint_eq(strlen(err.text), (size_t)whole);
            (void)hf_err_because(&err, HF_ERROR, "ab%.*s", whole, letters);
            ck_assert_uint_lt(strlen(err.text), HF_ERR_TEXT_MAX);
            ck_assert_msg(text_is_whole(err.text), "because, %d bytes, shift %d", len, shift);
            ck_assert_int_eq(strncmp(err.text, "ab", 2), 0);
        }
    }
}
END_TEST

/* Texts that exactly fill the struct are kept whole. */
START_TEST(full_text_is_kept)
{
    char letters[HF_ERR_TEXT_MAX];
    hf_err err = {0};

    memset(letters, 'x', sizeof(letters) - 1);
    letters[sizeof(letters) - 1] = '\0';
    (void)hf_err_set(&err, HF_ERROR, "%s", letters);
    ck_assert_str_eq(err.text, letters);
    (void)hf_err_set(&err, HF_ERROR, "%s", letters + 3);
    (void)hf_err_because(&err, HF_ERROR, "y");
    ck_assert_uint_eq(strlen(err.text), HF_ERR_TEXT_MAX - 1);
    ck_assert_int_eq(strncmp(err.text, "y: xxx", 6), 0);
}
END_TEST

/* Every status has a stable text and a sentence; other numbers are named as unknown. */
START_TEST(statuses_have_texts)
{
    ck_assert_str_eq(hf_strstatus(HF_OK), "ok");
    ck_assert_str_eq(hf_strstatus(HF_NOMEM), "no_memory");
    ck_assert_str_eq(hf_strstatus(HF_OLDER), "older_format");
    ck_assert_str_eq(hf_strstatus((hf_status)77), "unknown");
    for (int value = 0; value >= HF_OLDER; value--) {
        ck_assert_str_ne(hf_strstatus((hf_status)value), "unknown");
        ck_assert_uint_gt(strlen(hf_status_sentence((hf_status)value)), 4);
    }
    ck_assert_ptr_nonnull(hf_status_sentence((hf_status)77));
}
END_TEST

HF_SUITE_MAIN("base/err", {set_records_status_and_text, 0}, {because_grows_outwards, 0},
              {because_without_text_stands_alone, 0}, {null_is_accepted, 0},
              {nomem_is_worded_once, 0}, {long_texts_are_cut_between_characters, 0},
              {full_text_is_kept, 0}, {statuses_have_texts, 0})
