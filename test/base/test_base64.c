/* test_base64.c: base64 both ways, and that one byte string has one text only. */
#include <string.h>

#include "base/base64.h"
#include "base/fault.h"
#include "base/rng.h"
#include "lib/suite.h"

/* The examples of RFC 4648, both ways. */
START_TEST(examples_of_the_rfc)
{
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        hf_buf buf = {0};

        hf_base64_encode(&buf, hf_slice_of(pairs[i][0]));
        ck_assert_str_eq(hf_buf_text(&buf), pairs[i][1]);
        hf_buf_clear(&buf);
        ck_assert_int_eq(hf_base64_decode(&buf, hf_slice_of(pairs[i][1]), NULL), HF_OK);
        ck_assert_str_eq(hf_buf_text(&buf), pairs[i][0]);
        hf_buf_fini(&buf);
    }
}
END_TEST

/* Any bytes of any length come back, appended to what was there. */
START_TEST(random_bytes_survive)
{
    hf_rng rng;

    hf_rng_init_seeded(&rng, 4648);
    for (size_t len = 0; len < 300; len++) {
        char bytes[300];
        hf_buf text = {0};
        hf_buf back = {0};

        hf_rng_fill(&rng, bytes, len);
        hf_base64_encode(&text, hf_slice_from(bytes, len));
        ck_assert_uint_eq(text.len, hf_base64_size(len));
        hf_buf_add_text(&back, "before");
        ck_assert_int_eq(hf_base64_decode(&back, hf_buf_slice(&text), NULL), HF_OK);
        ck_assert_uint_eq(back.len, len + 6);
        ck_assert_int_eq(memcmp(back.ptr, "before", 6), 0);
        ck_assert_int_eq(memcmp(back.ptr + 6, bytes, len), 0);
        hf_buf_fini(&text);
        hf_buf_fini(&back);
    }
}
END_TEST

/* Whatever is not the one text for some bytes is refused, and the buffer keeps what it had. */
START_TEST(everything_else_is_refused)
{
    static const char *const wrong[] = {"Z",     "Zg",         "Zg=",  "Zg===", "====", "=",
                                        "==",    "A===",       "Zh==", "Zm9=",  "Zm 9", "Zm9v\n",
                                        "Zm9\n", "Zg==Zg==",   "Z=g=", "=Zg=",  "-_-_", "Zm9v====",
                                        "Zm9vY", "\xC3\xA9==", "Zm9*", "Zg=a",  "//9="};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        hf_buf buf = {0};
        hf_err err = {0};

        hf_buf_add_text(&buf, "kept");
        ck_assert_msg(hf_base64_decode(&buf, hf_slice_of(wrong[i]), &err) == HF_INVALID, "%s",
                      wrong[i]);
        ck_assert(err.text[0] != '\0');
        ck_assert(hf_buf_ok(&buf));
        ck_assert_str_eq(hf_buf_text(&buf), "kept");
        hf_buf_fini(&buf);
    }
}
END_TEST

/* Every single byte that is no digit of the alphabet is refused in every position. */
START_TEST(bytes_outside_the_alphabet)
{
    for (int byte = 0; byte < 256; byte++) {
        bool digit = byte && strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                    "0123456789+/",
                                    byte);

        for (size_t at = 0; at < 4; at++) {
            char text[8] = {'A', 'A', 'A', 'A', 'A', 'A', 'A', 'A'};
            hf_buf buf = {0};

            text[at] = (char)byte;
            ck_assert_int_eq(hf_base64_decode(&buf, hf_slice_from(text, 8), NULL),
                             digit ? HF_OK : HF_INVALID);
            hf_buf_fini(&buf);
        }
    }
}
END_TEST

/* A failed allocation is reported, and nothing is lost. */
START_TEST(failed_allocations_are_reported)
{
    hf_buf buf = {0};
    hf_err err = {0};

    hf_fault_arm(HF_FAULT_ALLOC, 1, false);
    ck_assert_int_eq(hf_base64_decode(&buf, HF_SLICE("Zm9v"), &err), HF_NOMEM);
    hf_fault_arm(HF_FAULT_ALLOC, 0, false);
    hf_buf_fini(&buf);
    hf_fault_arm(HF_FAULT_ALLOC, 1, false);
    hf_base64_encode(&buf, HF_SLICE("foo"));
    hf_fault_arm(HF_FAULT_ALLOC, 0, false);
    ck_assert(!hf_buf_ok(&buf));
    hf_buf_fini(&buf);
}
END_TEST

HF_SUITE_MAIN("base/base64", {examples_of_the_rfc, 0}, {random_bytes_survive, 0},
              {everything_else_is_refused, 0}, {bytes_outside_the_alphabet, 0},
              {failed_allocations_are_reported, 0})
