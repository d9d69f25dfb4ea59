/* test_name.c: names at and beyond their bounds, and messages that say where to look. */
#include <string.h>

#include "lib/suite.h"
#include "model/name.h"

/* A name of the given length in bytes, all 'a'. */
static hf_slice name_of(char *room, size_t len)
{
    memset(room, 'a', len);
    return hf_slice_from(room, len);
}

/* Every kind takes one character and its longest name, and refuses none and one more. */
START_TEST(lengths_are_bounded)
{
    char room[300];

    for (size_t i = 0; i < hf_name_kind_list.count; i++) {
        hf_name_kind kind = (hf_name_kind)hf_name_kind_list.items[i].number;
        size_t longest = (size_t)hf_name_longest(kind);
        hf_err err = {0};

        ck_assert_int_eq(hf_name_check(kind, name_of(room, 1), &err), HF_OK);
        ck_assert_int_eq(hf_name_check(kind, name_of(room, longest), &err), HF_OK);
        ck_assert_int_eq(hf_name_check(kind, name_of(room, longest + 1), &err), HF_INVALID);
        ck_assert_ptr_nonnull(strstr(err.text, "longer than"));
        ck_assert_ptr_nonnull(strstr(err.text, hf_name_kind_text(kind)));
        ck_assert_int_eq(hf_name_check(kind, (hf_slice){0}, &err), HF_INVALID);
        ck_assert_ptr_nonnull(strstr(err.text, "empty"));
        ck_assert_int_eq(hf_name_check(kind, (hf_slice){0}, NULL), HF_INVALID);
    }
}
END_TEST

/* The bounds of the contract. */
START_TEST(bounds_are_the_contracts)
{
    ck_assert_int_eq(hf_name_longest(HF_NAME_INSTANCE), 191);
    ck_assert_int_eq(hf_name_longest(HF_NAME_NAMESPACE), 128);
    ck_assert_int_eq(hf_name_longest(HF_NAME_LABEL_KEY), 64);
    ck_assert_int_eq(hf_name_longest(HF_NAME_CONDITION_KEY), 128);
    ck_assert_int_eq(hf_name_longest(HF_NAME_LEASE_OWNER), 255);
    ck_assert_int_eq(hf_name_longest(HF_NAME_SAVED_VIEW), 120);
}
END_TEST

/* Each alphabet decides byte by byte exactly as it is written down. */
START_TEST(alphabets_are_exact)
{
    static const struct {
        hf_name_kind kind;
        const char *marks;
        int upper;
    } rows[] = {{HF_NAME_INSTANCE, "._:-", 1},
                {HF_NAME_NAMESPACE, "._-", 0},
                {HF_NAME_WEBHOOK_ALIAS, "._-", 1}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (int c = 0; c < 256; c++) {
            char text[3] = {'a', (char)c, 'a'};
            int allowed = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                          (rows[i].upper && c >= 'A' && c <= 'Z') ||
                          (c && strchr(rows[i].marks, c) != NULL);

            ck_assert_msg((hf_name_check(rows[i].kind, hf_slice_from(text, 3), NULL) == HF_OK) ==
                              allowed,
                          "%s, byte %d", hf_name_kind_text(rows[i].kind), c);
        }
    }
}
END_TEST

/* Free text takes any script, counts characters and not bytes, and refuses controls and edges. */
START_TEST(text_names_take_any_script)
{
    char room[2 * 192];
    hf_err err = {0};

    for (size_t i = 0; i < sizeof(room); i += 2)
        memcpy(room + i, "\xC3\xA9", 2);
    ck_assert_int_eq(hf_name_check(HF_NAME_BUSINESS_KEY, hf_slice_from(room, 2 * 191), &err),
                     HF_OK);
    ck_assert_int_eq(hf_name_check(HF_NAME_BUSINESS_KEY, hf_slice_from(room, 2 * 192), &err),
                     HF_INVALID);
    ck_assert_int_eq(hf_name_check(HF_NAME_BUSINESS_KEY, HF_SLICE("order 42, Z\xC3\xBCrich"), &err),
                     HF_OK);
    ck_assert_int_eq(hf_name_check(HF_NAME_BUSINESS_KEY, HF_SLICE(" x"), &err), HF_INVALID);
    ck_assert_int_eq(hf_name_check(HF_NAME_BUSINESS_KEY, HF_SLICE("x "), &err), HF_INVALID);
    ck_assert_int_eq(hf_name_check(HF_NAME_BUSINESS_KEY, HF_SLICE(" "), &err), HF_INVALID);
    ck_assert_int_eq(hf_name_check(HF_NAME_BUSINESS_KEY, HF_SLICE("a\tb"), &err), HF_INVALID);
    ck_assert_int_eq(hf_name_check(HF_NAME_BUSINESS_KEY, HF_SLICE("a\x7F"), &err), HF_INVALID);
    ck_assert_int_eq(hf_name_check(HF_NAME_BUSINESS_KEY, HF_SLICE("a\xC2\x85"), &err), HF_INVALID);
    ck_assert_int_eq(hf_name_check(HF_NAME_BUSINESS_KEY, hf_slice_from("a\0b", 3), &err),
                     HF_INVALID);
    ck_assert_int_eq(hf_name_check(HF_NAME_BUSINESS_KEY, HF_SLICE("a\xFF"), &err), HF_INVALID);
    ck_assert_str_eq(err.text,
                     "the business key is not well-formed UTF-8: byte 0xFF at position 2");
}
END_TEST

/* No kind takes a control character, wherever it stands; what can be a part of an address is no
   folder of one. */
START_TEST(n07_no_control_characters_and_no_folders)
{
    static const struct {
        const char *text;
        size_t len;
    } bad[] = {{"a\0b", 3},  {"\0", 1},    {"a\n", 2},       {"\ta", 2},
               {"a\x1F", 2}, {"a\x7F", 2}, {"a\xC2\x80", 3}, {"a\xC2\x9F", 3}};

    for (size_t i = 0; i < hf_name_kind_list.count; i++) {
        hf_name_kind kind = (hf_name_kind)hf_name_kind_list.items[i].number;
        bool part = hf_name_alphabet_of(kind) != HF_NAME_ALPHABET_TEXT;

        for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
            ck_assert_int_eq(hf_name_check(kind, hf_slice_from(bad[k].text, bad[k].len), NULL),
                             HF_INVALID);
        ck_assert_int_eq(hf_name_check(kind, HF_SLICE("."), NULL), part ? HF_INVALID : HF_OK);
        ck_assert_int_eq(hf_name_check(kind, HF_SLICE(".."), NULL), part ? HF_INVALID : HF_OK);
        ck_assert_int_eq(hf_name_check(kind, HF_SLICE("..."), NULL), HF_OK);
    }
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
        ck_assert_int_eq(hf_name_check_text("value", hf_slice_from(bad[k].text, bad[k].len), NULL),
                         HF_INVALID);
    ck_assert_int_eq(hf_name_check_text("value", HF_SLICE(" x "), NULL), HF_OK);
    ck_assert_int_eq(hf_name_check_text("value", (hf_slice){0}, NULL), HF_OK);
}
END_TEST

/* A message names the character and its position, counted in characters from 1. */
START_TEST(messages_point_at_the_character)
{
    hf_err err = {0};

    ck_assert_int_eq(hf_name_check(HF_NAME_INSTANCE, HF_SLICE("order/42"), &err), HF_INVALID);
    ck_assert_str_eq(err.text,
                     "the instance id has '/' at position 6; allowed are A-Z a-z 0-9 . _ : -");
    ck_assert_int_eq(hf_name_check(HF_NAME_NAMESPACE, HF_SLICE("Prod"), &err), HF_INVALID);
    ck_assert_str_eq(err.text, "the namespace has 'P' at position 1; allowed are a-z 0-9 . _ -");
    ck_assert_int_eq(hf_name_check(HF_NAME_INSTANCE, HF_SLICE("a\xC3\xA9"), &err), HF_INVALID);
    ck_assert_str_eq(
        err.text,
        "the instance id has the character U+00E9 at position 2; allowed are A-Z a-z 0-9 . _ : -");
    ck_assert_int_eq(hf_name_check(HF_NAME_QUEUE, HF_SLICE("\xC3\xA9\n"), &err), HF_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "U+000A at position 2"));
}
END_TEST

HF_SUITE_MAIN("model/name", {lengths_are_bounded, 0}, {bounds_are_the_contracts, 0},
              {alphabets_are_exact, 0}, {text_names_take_any_script, 0},
              {n07_no_control_characters_and_no_folders, 0}, {messages_point_at_the_character, 0})
