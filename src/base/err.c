/* err.c: error texts. Must never allocate: it reports failed allocations. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"

/* A text that was cut, because it fills `size` bytes, must still end in a whole UTF-8 character. */
static void text_trim_utf8(char *text, size_t size)
{
    size_t len = strlen(text);
    size_t back = 0;

    if (len + 1 < size)
        return;
    while (back < len && back < 4 && ((unsigned char)text[len - 1 - back] & 0xC0) == 0x80)
        back++;
    if (back < len && ((unsigned char)text[len - 1 - back] & 0x80))
        text[len - 1 - back] = '\0';
}

hf_status hf_err_set(hf_err *err, hf_status status, const char *format, ...)
{
    va_list args;

    HF_ASSERT(status != HF_OK);
    if (!err)
        return status;
    err->status = status;
    va_start(args, format);
    (void)vsnprintf(err->text, sizeof(err->text), format, args);
    va_end(args);
    text_trim_utf8(err->text, sizeof(err->text));
    return status;
}

hf_status hf_err_because(hf_err *err, hf_status status, const char *format, ...)
{
    char doing[HF_ERR_TEXT_MAX];
    va_list args;
    size_t len;
    size_t room;

    if (status == HF_OK || !err)
        return status;
    err->status = status;
    va_start(args, format);
    (void)vsnprintf(doing, sizeof(doing) - 2, format, args);
    va_end(args);
    text_trim_utf8(doing, sizeof(doing) - 2);
    len = strlen(doing);
    if (err->text[0]) {
        memcpy(doing + len, ": ", 3);
        len += 2;
    }
    room = sizeof(err->text) - len; /* what is left for the old text and its NUL */
    memmove(err->text + len, err->text, room);
    memcpy(err->text, doing, len);
    err->text[sizeof(err->text) - 1] = '\0';
    text_trim_utf8(err->text, sizeof(err->text));
    return status;
}

hf_status hf_err_nomem(hf_err *err, const char *what)
{
    return hf_err_set(err, HF_NOMEM, "no memory for %s", what);
}
