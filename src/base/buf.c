/* buf.c: growing bytes. Appends never report: the failed flag does, once. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

enum { BUF_FIRST_BYTES = 128 };

void hf_buf_init(hf_buf *buf)
{
    *buf = (hf_buf){0};
}

void hf_buf_fini(hf_buf *buf)
{
    hf_alloc_free(buf->ptr);
    *buf = (hf_buf){0};
}

void hf_buf_clear(hf_buf *buf)
{
    buf->len = 0;
    buf->failed = false;
    if (buf->ptr)
        buf->ptr[0] = '\0';
}

bool hf_buf_ok(const hf_buf *buf)
{
    return !buf->failed;
}

hf_slice hf_buf_slice(const hf_buf *buf)
{
    return hf_slice_from(buf->ptr, buf->len);
}

const char *hf_buf_text(const hf_buf *buf)
{
    return buf->ptr ? buf->ptr : "";
}

char *hf_buf_reserve(hf_buf *buf, size_t bytes)
{
    size_t needed;
    size_t capacity;
    char *grown;

    if (buf->failed)
        return NULL;
    if (bytes > SIZE_MAX / 4 - buf->len) {
        buf->failed = true;
        return NULL;
    }
    needed = buf->len + bytes + 1;
    if (needed > buf->capacity) {
        capacity = buf->capacity ? buf->capacity * 2 : BUF_FIRST_BYTES;
        if (capacity < needed)
            capacity = needed;
        grown = hf_alloc_resize(buf->ptr, capacity);
        if (!grown) {
            buf->failed = true;
            return NULL;
        }
        buf->ptr = grown;
        buf->capacity = capacity;
        buf->ptr[buf->len] = '\0'; /* fresh memory, and the caller may never advance */
    }
    return buf->ptr + buf->len;
}

void hf_buf_advance(hf_buf *buf, size_t bytes)
{
    HF_ASSERT(buf->len + bytes < buf->capacity);
    buf->len += bytes;
    buf->ptr[buf->len] = '\0';
}

void hf_buf_add(hf_buf *buf, const void *bytes, size_t len)
{
    char *at = hf_buf_reserve(buf, len);

    if (!at)
        return;
    if (len)
        memcpy(at, bytes, len);
    hf_buf_advance(buf, len);
}

void hf_buf_add_slice(hf_buf *buf, hf_slice bytes)
{
    hf_buf_add(buf, bytes.ptr, bytes.len);
}

void hf_buf_add_text(hf_buf *buf, const char *text)
{
    hf_buf_add(buf, text, strlen(text));
}

void hf_buf_add_byte(hf_buf *buf, uint8_t byte)
{
    hf_buf_add(buf, &byte, 1);
}

void hf_buf_add_format(hf_buf *buf, const char *format, ...)
{
    size_t room = buf->failed ? 0 : buf->capacity - buf->len;
    char *at = room ? buf->ptr + buf->len : NULL;
    va_list args;
    va_list again;
    int len;

    va_start(args, format);
    va_copy(again, args);
    len = vsnprintf(at, room, format, args); /* what fits is formatted once */
    va_end(args);
    if (len < 0 || (size_t)len >= room) {
        if (at)
            *at = '\0';
        if (len < 0)
            buf->failed = true;
        at = len < 0 ? NULL : hf_buf_reserve(buf, (size_t)len);
        if (at)
            (void)vsnprintf(at, (size_t)len + 1, format, again);
    }
    if (at)
        hf_buf_advance(buf, (size_t)len);
    va_end(again);
}

void hf_buf_add_varint(hf_buf *buf, uint64_t number)
{
    uint8_t bytes[10];
    size_t len = 0;

    do {
        bytes[len] = (uint8_t)(number & 0x7F);
        number >>= 7;
        if (number)
            bytes[len] |= 0x80;
        len++;
    } while (number);
    hf_buf_add(buf, bytes, len);
}

bool hf_slice_take_varint(hf_slice *rest, uint64_t *out_number)
{
    uint64_t number = 0;

    for (size_t i = 0; i < rest->len && i < 10; i++) {
        uint8_t byte = (uint8_t)rest->ptr[i];

        if (i == 9 && byte > 1)
            return false;
        number |= (uint64_t)(byte & 0x7F) << (7 * i);
        if (!(byte & 0x80)) {
            if (i > 0 && byte == 0)
                return false; /* over-long: one number has one encoding, hashes depend on it */
            *out_number = number;
            rest->ptr += i + 1;
            rest->len -= i + 1;
            return true;
        }
    }
    return false;
}

bool hf_slice_take(hf_slice *rest, size_t len, hf_slice *out_bytes)
{
    if (len > rest->len)
        return false;
    *out_bytes = hf_slice_from(rest->ptr, len);
    if (len) { /* an empty slice may have no pointer to move */
        rest->ptr += len;
        rest->len -= len;
    }
    return true;
}
