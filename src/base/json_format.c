/* json_format.c: the public text side of values: JSON with holes, parsing and printing. A format
   is turned into JSON text and read by the one reader there is, so that it cannot build anything
   the reader would refuse; whole values (%p) are spliced in while reading. */
#include "holdfast/value.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/json.h"
#include "base/json_number.h"
#include "base/value.h"

enum { SPLICE_BYTE = 0x01 };

typedef struct format {
    const char *at; /* what comes next in the format */
    va_list args;
    hf_mem *mem;
    hf_buf text;       /* the JSON so far */
    char quote;        /* the quote that is open, or NUL */
    hf_value *splices; /* room for every %p */
    size_t splice_count;
    bool unmade;    /* memory ran out */
    int64_t broken; /* bytes of a part that was too long to be made; 0: there is none */
} format;

static bool format_string(format *f)
{
    const char *text = va_arg(f->args, const char *);

    if (!text) {
        if (!f->quote)
            hf_buf_add_text(&f->text, "null");
        return true;
    }
    if (!f->quote)
        hf_buf_add_byte(&f->text, '"');
    hf_json_add_escaped(&f->text, hf_slice_of(text));
    if (!f->quote)
        hf_buf_add_byte(&f->text, '"');
    return true;
}

static bool format_double(format *f)
{
    double number = va_arg(f->args, double);
    char text[HF_JSON_NUMBER_BYTES];
    size_t len;

    if (!isfinite(number))
        return false;
    len = hf_json_double_put(number, f->quote ? HF_JSON_NUMBER_ES6 : HF_JSON_NUMBER_PLAIN, text);
    hf_buf_add(&f->text, text, len);
    return true;
}

static bool format_value(format *f)
{
    hf_value value = va_arg(f->args, void *);

    f->unmade = hf_value_unmade(value);
    if (f->quote || hf_value_broken(value, &f->broken))
        return false;
    value = value ? hf_value_copy(f->mem, value) : hf_value_null();
    f->unmade = !value;
    if (!value)
        return false;
    f->splices[f->splice_count++] = value;
    hf_buf_add_byte(&f->text, SPLICE_BYTE);
    return true;
}

/* `length` is NUL, 'l', 'L' for ll, 'z' or 'j'. */
static bool format_signed(format *f, char length)
{
    long long number = length == 'l'   ? va_arg(f->args, long)
                       : length == 'L' ? va_arg(f->args, long long)
                       : length == 'z' ? (long long)va_arg(f->args, size_t)
                       : length == 'j' ? (long long)va_arg(f->args, intmax_t)
                                       : va_arg(f->args, int);

    hf_buf_add_format(&f->text, "%lld", number);
    return true;
}

static bool format_unsigned(format *f, char length)
{
    unsigned long long number = length == 'l'   ? va_arg(f->args, unsigned long)
                                : length == 'L' ? va_arg(f->args, unsigned long long)
                                : length == 'z' ? va_arg(f->args, size_t)
                                : length == 'j' ? (unsigned long long)va_arg(f->args, uintmax_t)
                                                : va_arg(f->args, unsigned);

    hf_buf_add_format(&f->text, "%llu", number);
    return true;
}

/* What follows a percent sign. */
static bool format_hole(format *f)
{
    char length = '\0';
    char kind;

    if (*f->at == 'l' || *f->at == 'z' || *f->at == 'j')
        length = *f->at++;
    if (length == 'l' && *f->at == 'l') {
        length = 'L';
        f->at++;
    }
    kind = *f->at;
    if (kind)
        f->at++;
    if (kind == 'd' || kind == 'i')
        return format_signed(f, length);
    if (kind == 'u')
        return format_unsigned(f, length);
    if ((kind == 'f' || kind == 'g') && (length == '\0' || length == 'l'))
        return format_double(f);
    if (length)
        return false;
    if (kind == 's')
        return format_string(f);
    if (kind == 'p')
        return format_value(f);
    if (kind != '%')
        return false;
    hf_buf_add_byte(&f->text, '%'); /* outside a string the reader refuses it */
    return true;
}

/* A byte inside quotes that is no hole. */
static bool format_quoted(format *f, char c)
{
    if (c == f->quote) {
        f->quote = '\0';
        hf_buf_add_byte(&f->text, '"');
    } else if (c == '"') {
        hf_buf_add_text(&f->text, "\\\"");
    } else if (c == '\\' && *f->at == '\'') { /* \' is ours alone; JSON has no such escape */
        f->at++;
        hf_buf_add_byte(&f->text, '\'');
    } else {
        hf_buf_add_byte(&f->text, (uint8_t)c);
        if (c == '\\') {
            if (!*f->at)
                return false;
            hf_buf_add_byte(&f->text, (uint8_t)*f->at++);
        }
    }
    return true;
}

static bool format_run(format *f)
{
    while (*f->at) {
        char c = *f->at++;

        if (c == '%') {
            if (!format_hole(f))
                return false;
        } else if (f->quote) {
            if (!format_quoted(f, c))
                return false;
        } else if (c == '\'' || c == '"') {
            f->quote = c;
            hf_buf_add_byte(&f->text, '"');
        } else if (c == SPLICE_BYTE) {
            return false;
        } else {
            hf_buf_add_byte(&f->text, (uint8_t)c);
        }
    }
    return !f->quote && hf_buf_ok(&f->text);
}

static size_t format_splices(const char *text)
{
    size_t count = 0;

    for (; *text; text++)
        count += text[0] == '%' && text[1] == 'p';
    return count;
}

/* A value, or a broken one. */
static hf_value format_make(hf_mem *mem, const char *text, va_list args)
{
    format f = {.at = text, .mem = mem};
    hf_value value = NULL;
    int64_t bytes = 0;
    hf_status st;

    if (!mem || !text)
        return hf_value_make_broken(mem, 0);
    hf_buf_init(&f.text);
    f.splices = hf_mem_array(mem, format_splices(text), sizeof(*f.splices));
    if (!f.splices)
        return hf_value_make_unmade();
    va_copy(f.args, args);
    if (!format_run(&f)) {
        f.unmade |= !hf_buf_ok(&f.text);
        bytes = f.broken;
    } else {
        st = hf_json_read_spliced(mem, hf_buf_slice(&f.text), f.splices, f.splice_count, &value,
                                  NULL);
        f.unmade = st == HF_NOMEM;
        bytes = f.text.len > HF_JSON_BYTES_MAX ? (int64_t)f.text.len : 0;
        value = st ? NULL : value;
    }
    va_end(f.args);
    hf_buf_fini(&f.text);
    if (!value)
        value = f.unmade ? hf_value_make_unmade() : hf_value_make_broken(mem, bytes);
    return value;
}

hf_value hf_json_(hf_mem *mem, const char *text, ...)
{
    hf_value value;
    va_list args;

    va_start(args, text);
    value = format_make(mem, text, args);
    va_end(args);
    return hf_value_broken(value, NULL) ? NULL : value;
}

hf_value hf_json_made_(hf_mem *mem, const char *text, ...)
{
    hf_value value;
    va_list args;

    va_start(args, text);
    value = format_make(mem, text, args);
    va_end(args);
    return value;
}

hf_value hf_parse_(hf_mem *mem, const char *text, size_t len)
{
    hf_value value = NULL;

    if (!mem || (!text && len) || hf_json_read(mem, hf_slice_from(text, len), NULL, &value, NULL))
        return NULL;
    return value;
}

const char *hf_text(hf_mem *mem, hf_value value)
{
    const char *text = NULL;
    hf_buf buf;

    hf_buf_init(&buf);
    hf_json_write(&buf, value);
    if (mem && hf_buf_ok(&buf))
        text = hf_mem_text(mem, hf_buf_slice(&buf));
    hf_buf_fini(&buf);
    return text;
}
