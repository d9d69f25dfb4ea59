/* slice.c: comparing and cutting borrowed bytes. Must never allocate. */
#include "base/slice.h"

#include <string.h>

hf_slice hf_slice_of(const char *text)
{
    return (hf_slice){.ptr = text, .len = text ? strlen(text) : 0};
}

hf_slice hf_slice_from(const void *bytes, size_t len)
{
    return (hf_slice){.ptr = bytes, .len = len};
}

bool hf_slice_equal(hf_slice a, hf_slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

int hf_slice_compare(hf_slice a, hf_slice b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common ? memcmp(a.ptr, b.ptr, common) : 0;

    if (order != 0)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

bool hf_slice_starts(hf_slice text, hf_slice prefix)
{
    return text.len >= prefix.len && hf_slice_equal(hf_slice_from(text.ptr, prefix.len), prefix);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool hf_slice_has(hf_slice text, hf_slice words)
{
    for (size_t at = 0; at + words.len <= text.len; at++) {
        size_t i = 0;

        while (i < words.len && lower(text.ptr[at + i]) == lower(words.ptr[i]))
            i++;
        if (i == words.len)
            return true;
    }
    return false;
}

static bool byte_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

hf_slice hf_slice_trim(hf_slice text)
{
    while (text.len && byte_is_space(text.ptr[0])) {
        text.ptr++;
        text.len--;
    }
    while (text.len && byte_is_space(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

bool hf_slice_split(hf_slice *rest, char separator, hf_slice *out_part)
{
    const char *found;

    if (!rest->ptr)
        return false;
    found = rest->len ? memchr(rest->ptr, separator, rest->len) : NULL;
    if (!found) {
        *out_part = *rest;
        *rest = (hf_slice){0};
        return true;
    }
    *out_part = hf_slice_from(rest->ptr, (size_t)(found - rest->ptr));
    rest->len -= out_part->len + 1;
    rest->ptr = found + 1;
    return true;
}

int hf_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool hf_slice_int(hf_slice text, int64_t *out_number)
{
    bool negative = text.len && text.ptr[0] == '-';
    uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    uint64_t number = 0;
    size_t i = negative ? 1 : 0;

    if (i == text.len)
        return false;
    for (; i < text.len; i++) {
        uint64_t digit = (uint64_t)(unsigned char)text.ptr[i] - '0';

        if (digit > 9 || number > (limit - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    *out_number = negative ? (int64_t)(0 - number) : (int64_t)number;
    return true;
}
