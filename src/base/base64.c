/* base64.c: base64 both ways. Must never accept two texts for the same bytes. */
#include "base/base64.h"

#include <stdint.h>

enum { DIGIT_NONE = 0xFF };

static const char base64_alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static uint32_t digit_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (uint32_t)(c - 'A');
    if (c >= 'a' && c <= 'z')
        return (uint32_t)(c - 'a') + 26;
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0') + 52;
    if (c == '+')
        return 62;
    return c == '/' ? 63 : DIGIT_NONE;
}

size_t hf_base64_size(size_t bytes)
{
    return (bytes + 2) / 3 * 4;
}

void hf_base64_put(hf_slice bytes, char *out_text)
{
    const unsigned char *from = (const unsigned char *)bytes.ptr;
    size_t left = bytes.len;

    for (; left >= 3; left -= 3, from += 3, out_text += 4) {
        uint32_t group = (uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 | from[2];

        out_text[0] = base64_alphabet[group >> 18];
        out_text[1] = base64_alphabet[(group >> 12) & 63];
        out_text[2] = base64_alphabet[(group >> 6) & 63];
        out_text[3] = base64_alphabet[group & 63];
    }
    if (left) {
        uint32_t group = (uint32_t)from[0] << 16 | (left == 2 ? (uint32_t)from[1] << 8 : 0);

        out_text[0] = base64_alphabet[group >> 18];
        out_text[1] = base64_alphabet[(group >> 12) & 63];
        out_text[2] = left == 2 ? base64_alphabet[(group >> 6) & 63] : '=';
        out_text[3] = '=';
    }
}

void hf_base64_encode(hf_buf *buf, hf_slice bytes)
{
    size_t size;
    char *at;

    if (bytes.len > SIZE_MAX / 4) {
        buf->failed = true;
        return;
    }
    size = hf_base64_size(bytes.len);
    at = hf_buf_reserve(buf, size);
    if (!at)
        return;
    hf_base64_put(bytes, at);
    hf_buf_advance(buf, size);
}

hf_status hf_base64_decode(hf_buf *buf, hf_slice text, hf_err *err)
{
    size_t padding = 0;
    size_t digits;
    size_t done = 0;
    uint32_t group = 0;
    char *at;

    if (text.len % 4 != 0)
        return hf_err_set(err, HF_INVALID, "base64 of %zu bytes is not a multiple of 4", text.len);
    while (padding < 2 && padding < text.len && text.ptr[text.len - 1 - padding] == '=')
        padding++;
    digits = text.len - padding;
    at = hf_buf_reserve(buf, text.len / 4 * 3);
    if (!at)
        return hf_err_nomem(err, "decoded base64");
    for (size_t i = 0; i < digits; i++) {
        uint32_t digit = digit_value(text.ptr[i]);

        if (digit == DIGIT_NONE) {
            at[0] = '\0'; /* the buffer's NUL, which the first byte has replaced */
            return hf_err_set(err, HF_INVALID, "byte %zu: not a base64 character", i);
        }
        group = (group << 6 | digit) & 0xFFFFFF;
        if (i % 4 != 0) /* each digit after the first of four completes a byte */
            at[done++] = (char)(group >> (i % 4 == 1 ? 4 : i % 4 == 2 ? 2 : 0));
    }
    if ((padding == 1 && (group & 3)) || (padding == 2 && (group & 15))) {
        at[0] = '\0';
        return hf_err_set(err, HF_INVALID, "byte %zu: base64 ends in unused bits", digits - 1);
    }
    hf_buf_advance(buf, done);
    return HF_OK;
}
