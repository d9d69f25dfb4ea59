/* What a failure says of itself, at the last length that is recorded and one beyond it. */
#include "model/words.h"

#include <string.h>

#include "lib/suite.h"

static char text[HF_WORDS_MESSAGE_MAX + 8];

static hf_slice letters(size_t count)
{
    memset(text, 'x', sizeof(text));
    return hf_slice_from(text, count);
}

/* Characters of a type count, not bytes; what is no text is named so. */
START_TEST(types_fit)
{
    char wide[2 * HF_WORDS_TYPE_MAX + 2];

    ck_assert(hf_slice_equal(hf_words_type(HF_SLICE("card_declined")), HF_SLICE("card_declined")));
    ck_assert_uint_eq(hf_words_type(letters(HF_WORDS_TYPE_MAX)).len, HF_WORDS_TYPE_MAX);
    ck_assert_uint_eq(hf_words_type(letters(HF_WORDS_TYPE_MAX + 1)).len, HF_WORDS_TYPE_MAX);
    for (size_t i = 0; i < sizeof(wide); i += 2)
        memcpy(wide + i, "\xc3\xa9", 2);
    ck_assert_uint_eq(hf_words_type(hf_slice_from(wide, sizeof(wide))).len, 2 * HF_WORDS_TYPE_MAX);
    ck_assert(hf_slice_equal(hf_words_type(HF_SLICE("caf\xe9")), HF_SLICE("invalid_failure")));
    ck_assert_uint_eq(hf_words_type(HF_SLICE("")).len, 0);
}
END_TEST

/* A message is cut at the end of a character, and ends where it is no text. */
START_TEST(messages_fit)
{
    ck_assert_uint_eq(hf_words_message(letters(HF_WORDS_MESSAGE_MAX)).len, HF_WORDS_MESSAGE_MAX);
    ck_assert_uint_eq(hf_words_message(letters(HF_WORDS_MESSAGE_MAX + 1)).len,
                      HF_WORDS_MESSAGE_MAX);
    (void)letters(0);
    memcpy(text + HF_WORDS_MESSAGE_MAX - 1, "\xc3\xa9", 2);
    ck_assert_uint_eq(hf_words_message(hf_slice_from(text, HF_WORDS_MESSAGE_MAX + 1)).len,
                      HF_WORDS_MESSAGE_MAX - 1);
    ck_assert(hf_slice_equal(hf_words_message(HF_SLICE("na\xefve")), HF_SLICE("na")));
    ck_assert(hf_slice_equal(hf_words_message(HF_SLICE("\xff")),
                             HF_SLICE("(a message that is not UTF-8)")));
    ck_assert_uint_eq(hf_words_message(HF_SLICE("")).len, 0);
}
END_TEST

HF_SUITE_MAIN("model/words", {types_fit, 0}, {messages_fit, 0})
