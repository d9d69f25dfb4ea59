/* utf8.c: checking, reading and writing UTF-8. Must never read past the bytes it is given: a
   character that is cut short is not well-formed. */
#include "base/utf8.h"

#include <string.h>

#include "base/assert.h"

static bool byte_continues(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

size_t hf_utf8_size(const char *at, size_t left)
{
    const unsigned char *byte = (const unsigned char *)at;

    if (left < 1)
        return 0;
    if (byte[0] < 0x80)
        return 1;
    if (byte[0] < 0xC2 || left < 2 || !byte_continues(byte[1]))
        return 0; /* a stray continuation, an over-long form, or cut short */
    if (byte[0] < 0xE0)
        return 2;
    if (left < 3 || !byte_continues(byte[2]))
        return 0;
    if (byte[0] < 0xF0) {
        if ((byte[0] == 0xE0 && byte[1] < 0xA0) || (byte[0] == 0xED && byte[1] > 0x9F))
            return 0; /* over-long, or a surrogate */
        return 3;
    }
    if (left < 4 || !byte_continues(byte[3]) || byte[0] > 0xF4)
        return 0;
    if ((byte[0] == 0xF0 && byte[1] < 0x90) || (byte[0] == 0xF4 && byte[1] > 0x8F))
        return 0; /* over-long, or above U+10FFFF */
    return 4;
}

bool hf_utf8_valid(hf_slice text)
{
    const uint64_t high_bits = UINT64_C(0x8080808080808080);
    size_t at = 0;

    while (at < text.len) {
        uint64_t word;
        size_t size;

        if (text.len - at >= sizeof(word)) { /* most text is ASCII: take eight bytes at once */
            memcpy(&word, text.ptr + at, sizeof(word));
            if (!(word & high_bits)) {
                at += sizeof(word);
                continue;
            }
        }
        size = hf_utf8_size(text.ptr + at, text.len - at);
        if (!size)
            return false;
        at += size;
    }
    return true;
}

size_t hf_utf8_count(hf_slice text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.len; i++)
        count += ((unsigned char)text.ptr[i] & 0xC0) != 0x80; /* the first byte of a character */
    return count;
}

uint32_t hf_utf8_point(const char *at, size_t size)
{
    const unsigned char *byte = (const unsigned char *)at;
    uint32_t point;

    HF_ASSERT(size >= 1 && size <= HF_UTF8_MAX);
    if (size == 1)
        return byte[0];
    point = byte[0] & (0xFFu >> (size + 1));
    for (size_t i = 1; i < size; i++)
        point = (point << 6) | (byte[i] & 0x3Fu);
    return point;
}

bool hf_utf8_is_control(uint32_t point)
{
    return point < 0x20 || (point >= 0x7F && point <= 0x9F);
}

bool hf_utf8_has_control(hf_slice text)
{
    for (size_t at = 0; at < text.len;) {
        size_t size = hf_utf8_size(text.ptr + at, text.len - at);

        if (size == 0 || hf_utf8_is_control(hf_utf8_point(text.ptr + at, size)))
            return true;
        at += size;
    }
    return false;
}

size_t hf_utf8_put(uint32_t point, char *out_bytes)
{
    static const unsigned char lead[HF_UTF8_MAX + 1] = {0, 0, 0xC0, 0xE0, 0xF0};
    size_t size;

    HF_ASSERT(point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF));
    if (point < 0x80) {
        out_bytes[0] = (char)point;
        return 1;
    }
    size = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--) {
        out_bytes[i] = (char)(0x80 | (point & 0x3F));
        point >>= 6;
    }
    out_bytes[0] = (char)(lead[size] | point);
    return size;
}
