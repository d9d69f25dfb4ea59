/* err.c: error texts. Must never allocate: it reports failed allocations. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"

/* A text that was cut must still end in a whole UTF-8 character. */
static void text_trim_utf8(char *text)
{
    size_t len = strlen(text);
    size_t back = 0;

    if (len + 1 < HF_ERR_TEXT_MAX)
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
    text_trim_utf8(err->text);
    return status;
}

hf_status hf_err_because(hf_err *err, hf_status status, const char *format, ...)
{
    char inner[HF_ERR_TEXT_MAX];
    va_list args;
    int len;

    if (status == HF_OK || !err)
        return status;
    memcpy(inner, err->text, sizeof(inner));
    err->status = status;
    va_start(args, format);
    len = vsnprintf(err->text, sizeof(err->text), format, args);
    va_end(args);
    if (len >= 0 && (size_t)len + 2 < sizeof(err->text) && inner[0])
        (void)snprintf(err->text + len, sizeof(err->text) - (size_t)len, ": %s", inner);
    text_trim_utf8(err->text);
    return status;
}

hf_status hf_err_nomem(hf_err *err, const char *what)
{
    return hf_err_set(err, HF_NOMEM, "no memory for %s", what);
}
