/* test_utf8.c: what is well-formed UTF-8 and what is not, at every border. */
#include <string.h>

#include "base/utf8.h"
#include "lib/suite.h"

/* Every code point is written, measured and read back; surrogates have no form. */
START_TEST(every_code_point_survives)
{
    for (uint32_t point = 0; point <= 0x10FFFF; point++) {
        char bytes[HF_UTF8_MAX];
        size_t size;
        bool good;

        if (point == 0xD800)
            point = 0xE000;
        size = hf_utf8_put(point, bytes);
        good = hf_utf8_size(bytes, size) == size && hf_utf8_point(bytes, size) == point;
        for (size_t cut = 0; cut < size; cut++)
            good &= hf_utf8_size(bytes, cut) == 0;
        if (!good) /* an assertion that holds is slow, too */
            ck_abort_msg("code point %x", (unsigned)point);
    }
}
END_TEST

/* Of all four-byte combinations of border bytes, exactly those the Unicode table lists are taken.
 */
START_TEST(table_of_well_formed_bytes)
{
    static const unsigned char borders[] = {0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF,
                                            0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED,
                                            0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};
    const size_t n = sizeof(borders);

    for (size_t i = 0; i < n * n * n * n; i++) {
        unsigned char b[4] = {borders[i % n], borders[i / n % n], borders[i / n / n % n],
                              borders[i / n / n / n]};
        bool second = b[1] >= 0x80 && b[1] <= 0xBF;
        bool third = b[2] >= 0x80 && b[2] <= 0xBF;
        bool fourth = b[3] >= 0x80 && b[3] <= 0xBF;
        size_t expected = 0;

        if (b[0] <= 0x7F)
            expected = 1;
        else if (b[0] >= 0xC2 && b[0] <= 0xDF && second)
            expected = 2;
        else if (b[0] >= 0xE0 && b[0] <= 0xEF && second && third &&
                 !(b[0] == 0xE0 && b[1] <= 0x9F) && !(b[0] == 0xED && b[1] >= 0xA0))
            expected = 3;
        else if (b[0] >= 0xF0 && b[0] <= 0xF4 && second && third && fourth &&
                 !(b[0] == 0xF0 && b[1] <= 0x8F) && !(b[0] == 0xF4 && b[1] >= 0x90))
            expected = 4;
        ck_assert_uint_eq(hf_utf8_size((const char *)b, 4), expected);
    }
}
END_TEST

/* A whole text is valid when each character is, wherever a bad byte stands in a word of eight. */
START_TEST(texts_are_checked_to_the_end)
{
    char text[40];

    ck_assert(hf_utf8_valid((hf_slice){0}));
    ck_assert(hf_utf8_valid(HF_SLICE("plain ASCII, longer than a word")));
    ck_assert(hf_utf8_valid(HF_SLICE("h\xC3\xA9llo \xE4\xBD\xA0\xE5\xA5\xBD \xF0\x9F\x8D\xB5")));
    for (size_t bad = 0; bad < sizeof(text); bad++) {
        memset(text, 'a', sizeof(text));
        text[bad] = '\xFF';
        ck_assert(!hf_utf8_valid(hf_slice_from(text, sizeof(text))));
        text[bad] = '\xC3'; /* cut short, or followed by a letter */
        ck_assert(!hf_utf8_valid(hf_slice_from(text, sizeof(text))));
    }
}
END_TEST

HF_SUITE_MAIN("base/utf8", {every_code_point_survives, 0}, {table_of_well_formed_bytes, 0},
              {texts_are_checked_to_the_end, 0})
