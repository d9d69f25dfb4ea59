/* json_scan.c: see json_scan.h. A window over the text moves on; what a token needs is in it whole,
   but for strings, which are unescaped piece by piece. */
#include "base/json_scan.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/json_number.h"
#include "base/utf8.h"
#include "base/value.h"

enum {
    WINDOW_BYTES = 32 * 1024,
    PIECE_BYTES = 4096,
    ESCAPE_BYTES = 12, /* of a pair of surrogates */
};

/* What may come next. */
typedef enum scan_state {
    STATE_VALUE,
    STATE_ITEM,   /* a value, or the end of the array that was just opened */
    STATE_MEMBER, /* a key, or the end of the object that was just opened */
    STATE_KEY,
    STATE_BEHIND, /* a comma or an end */
    STATE_STRING, /* the rest of one */
    STATE_DONE
} scan_state;

struct hf_json_scan {
    hf_json_scan_fn *read;
    void *ctx;
    int64_t offset; /* of the window's first byte */
    size_t at;      /* in the window */
    size_t end;     /* what was read into it */
    bool ended;     /* nothing is behind the window */
    bool whole;
    bool more;
    scan_state state;
    size_t depth;
    bool objects[HF_VALUE_DEPTH_MAX];
    hf_buf *copy; /* what is passed goes here; NULL: nowhere */
    size_t copy_max;
    size_t piece_len;
    char piece[PIECE_BYTES + 8];
    char window[WINDOW_BYTES];
};

static hf_status scan_fail(const hf_json_scan *s, hf_err *err, const char *what)
{
    return hf_err_set(err, HF_INVALID, "byte %lld: %s", (long long)s->offset + (long long)s->at,
                      s->ended && s->at == s->end ? "the text ends early" : what);
}

/* Makes `count` bytes visible, or all that are left. */
static hf_status scan_need(hf_json_scan *s, size_t count, hf_err *err)
{
    while (s->end - s->at < count && !s->ended) {
        size_t got = 0;
        hf_status st;

        if (s->at) {
            memmove(s->window, s->window + s->at, s->end - s->at);
            s->offset += (int64_t)s->at;
            s->end -= s->at;
            s->at = 0;
        }
        st = s->read(s->ctx, s->offset + (int64_t)s->end, s->window + s->end, WINDOW_BYTES - s->end,
                     &got, err);
        if (st)
            return st;
        s->end += got;
        s->ended = got == 0;
    }
    return HF_OK;
}

static hf_status scan_pass(hf_json_scan *s, size_t count, hf_err *err)
{
    if (s->copy) {
        if (s->copy->len + count > s->copy_max)
            return hf_err_set(err, HF_TOOBIG, "byte %lld: a value of more than %zu bytes",
                              (long long)s->offset + (long long)s->at, s->copy_max);
        hf_buf_add(s->copy, s->window + s->at, count);
    }
    s->at += count;
    return HF_OK;
}

static char scan_byte(const hf_json_scan *s)
{
    return s->at < s->end ? s->window[s->at] : '\0';
}

static bool byte_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* White space between tokens is never copied. */
static hf_status scan_space(hf_json_scan *s, hf_err *err)
{
    hf_status st = scan_need(s, 1, err);

    while (!st && s->at < s->end && byte_is_space(s->window[s->at])) {
        s->at++;
        if (s->at == s->end)
            st = scan_need(s, 1, err);
    }
    return st;
}

/* ---- strings */

/* Four digits at `at`; false when there are none. */
static bool hex_unit(const hf_json_scan *s, size_t at, uint32_t *out_unit)
{
    *out_unit = 0;
    if (s->end - s->at < at + 4)
        return false;
    for (size_t i = 0; i < 4; i++) {
        int digit = hf_hex_digit(s->window[s->at + at + i]);

        if (digit < 0)
            return false;
        *out_unit = *out_unit << 4 | (uint32_t)digit;
    }
    return true;
}

static hf_status unicode_take(hf_json_scan *s, hf_err *err)
{
    uint32_t unit;
    uint32_t low;
    size_t size = 6;

    if (!hex_unit(s, 2, &unit))
        return scan_fail(s, err, "expected four hexadecimal digits after \\u");
    if (unit >= 0xD800 && unit <= 0xDFFF) {
        if (unit > 0xDBFF || s->end - s->at < ESCAPE_BYTES || s->window[s->at + 6] != '\\' ||
            s->window[s->at + 7] != 'u' || !hex_unit(s, 8, &low) || low < 0xDC00 || low > 0xDFFF)
            return scan_fail(s, err, "a surrogate without its other half");
        unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        size = ESCAPE_BYTES;
    }
    s->piece_len += hf_utf8_put(unit, s->piece + s->piece_len);
    return scan_pass(s, size, err);
}

static hf_status escape_take(hf_json_scan *s, hf_err *err)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    char letter = s->end - s->at > 1 ? s->window[s->at + 1] : '\0';
    const char *found = letter ? strchr(from, letter) : NULL;

    if (letter == 'u')
        return unicode_take(s, err);
    if (!found)
        return scan_fail(s, err, "unknown escape");
    s->piece[s->piece_len++] = to[found - from];
    return scan_pass(s, 2, err);
}

static bool byte_is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

/* Bytes that stand for themselves, as many as there are and fit. */
static hf_status plain_take(hf_json_scan *s, hf_err *err)
{
    const char *from = s->window + s->at;
    size_t most = s->end - s->at;
    size_t count = 0;

    if (most > PIECE_BYTES - s->piece_len)
        most = PIECE_BYTES - s->piece_len;
    while (count < most && byte_is_plain((unsigned char)from[count]))
        count++;
    if (count == 0) {
        count = (unsigned char)from[0] < 0x80 ? 0 : hf_utf8_size(from, s->end - s->at);
        if (!count)
            return scan_fail(s, err,
                             (unsigned char)from[0] < 0x20 ? "a control character in a string"
                                                           : "not UTF-8");
    }
    memcpy(s->piece + s->piece_len, from, count);
    s->piece_len += count;
    return scan_pass(s, count, err);
}

/* The next piece, up to the closing quote or as much as fits. */
static hf_status piece_take(hf_json_scan *s, hf_err *err)
{
    hf_status st = HF_OK;

    s->piece_len = 0;
    while (!st && s->piece_len < PIECE_BYTES) {
        st = scan_need(s, ESCAPE_BYTES, err);
        if (st)
            return st;
        if (s->at == s->end)
            return scan_fail(s, err, "the text ends early");
        if (s->window[s->at] == '"') {
            s->more = false;
            return scan_pass(s, 1, err);
        }
        st = s->window[s->at] == '\\' ? escape_take(s, err) : plain_take(s, err);
    }
    s->more = true;
    return st;
}

/* ---- everything else */

static void value_ended(hf_json_scan *s)
{
    s->state = s->depth ? STATE_BEHIND : STATE_DONE;
}

static hf_status string_take(hf_json_scan *s, hf_err *err)
{
    hf_status st = piece_take(s, err);

    if (s->more)
        s->state = STATE_STRING;
    else
        value_ended(s);
    return st;
}

static hf_status number_take(hf_json_scan *s, hf_err *err)
{
    hf_json_number number;
    size_t count = 0;
    hf_status st = scan_need(s, HF_JSON_NUMBER_MAX + 1, err);

    if (st)
        return st;
    while (s->at + count < s->end && count <= HF_JSON_NUMBER_MAX &&
           strchr("+-.0123456789Ee", s->window[s->at + count]) && s->window[s->at + count])
        count++;
    if (count > HF_JSON_NUMBER_MAX)
        return hf_err_set(err, HF_TOOBIG, "byte %lld: a number of too many digits",
                          (long long)s->offset + (long long)s->at);
    memcpy(s->piece, s->window + s->at, count);
    s->piece[count] = '\0';
    s->piece_len = count;
    switch (hf_json_number_read(s->piece, &number)) {
    case HF_JSON_NUMBER_INT:
    case HF_JSON_NUMBER_DOUBLE:
        if (number.end != s->piece + count)
            return scan_fail(s, err, "not a number");
        value_ended(s);
        return scan_pass(s, count, err);
    case HF_JSON_NUMBER_MALFORMED:
        return scan_fail(s, err, "not a number");
    case HF_JSON_NUMBER_RANGE:
        return scan_fail(s, err, "a number too large for a double");
    case HF_JSON_NUMBER_LONG:
        break;
    }
    return hf_err_set(err, HF_TOOBIG, "byte %lld: a number of too many digits",
                      (long long)s->offset + (long long)s->at);
}

static hf_status word_take(hf_json_scan *s, const char *word, hf_err *err)
{
    size_t len = strlen(word);
    hf_status st = scan_need(s, len, err);

    if (st)
        return st;
    if (s->end - s->at < len || memcmp(s->window + s->at, word, len) != 0)
        return scan_fail(s, err, "expected a value");
    value_ended(s);
    return scan_pass(s, len, err);
}

static hf_status open_take(hf_json_scan *s, bool object, hf_err *err)
{
    if (s->depth == HF_VALUE_DEPTH_MAX)
        return hf_err_set(err, HF_TOOBIG, "byte %lld: nested too deeply",
                          (long long)s->offset + (long long)s->at);
    s->objects[s->depth++] = object;
    s->state = object ? STATE_MEMBER : STATE_ITEM;
    return scan_pass(s, 1, err);
}

static hf_status close_take(hf_json_scan *s, hf_err *err)
{
    s->depth--;
    value_ended(s);
    return scan_pass(s, 1, err);
}

static hf_status value_take(hf_json_scan *s, hf_json_token *out_token, hf_err *err)
{
    switch (scan_byte(s)) {
    case '{':
        *out_token = HF_JSON_TOKEN_OBJECT;
        return open_take(s, true, err);
    case '[':
        *out_token = HF_JSON_TOKEN_ARRAY;
        return open_take(s, false, err);
    case '"': {
        hf_status st = scan_pass(s, 1, err);

        *out_token = HF_JSON_TOKEN_STRING;
        return st ? st : string_take(s, err);
    }
    case 't':
        *out_token = HF_JSON_TOKEN_TRUE;
        return word_take(s, "true", err);
    case 'f':
        *out_token = HF_JSON_TOKEN_FALSE;
        return word_take(s, "false", err);
    case 'n':
        *out_token = HF_JSON_TOKEN_NULL;
        return word_take(s, "null", err);
    default:
        *out_token = HF_JSON_TOKEN_NUMBER;
        return scan_byte(s) == '-' || (scan_byte(s) >= '0' && scan_byte(s) <= '9')
                   ? number_take(s, err)
                   : scan_fail(s, err, "expected a value");
    }
}

static hf_status key_take(hf_json_scan *s, hf_json_token *out_token, hf_err *err)
{
    hf_status st;

    *out_token = HF_JSON_TOKEN_KEY;
    if (scan_byte(s) != '"')
        return scan_fail(s, err, "expected a key in quotes");
    st = scan_pass(s, 1, err);
    if (!st)
        st = piece_take(s, err);
    if (!st && (s->more || s->piece_len > HF_JSON_SCAN_KEY_MAX))
        st = hf_err_set(err, HF_TOOBIG, "byte %lld: a key of more than %d bytes",
                        (long long)s->offset + (long long)s->at, HF_JSON_SCAN_KEY_MAX);
    if (!st)
        st = scan_space(s, err);
    if (!st && scan_byte(s) != ':')
        st = scan_fail(s, err, "expected ':' after a key");
    s->state = STATE_VALUE;
    return st ? st : scan_pass(s, 1, err);
}

/* Passes a comma, or says that the container ends here. */
static hf_status behind_take(hf_json_scan *s, bool *out_end, hf_err *err)
{
    bool object = s->objects[s->depth - 1];
    hf_status st;

    *out_end = scan_byte(s) == (object ? '}' : ']');
    if (*out_end)
        return HF_OK;
    if (scan_byte(s) != ',')
        return scan_fail(s, err, object ? "expected ',' or '}'" : "expected ',' or ']'");
    st = scan_pass(s, 1, err);
    s->state = object ? STATE_KEY : STATE_VALUE;
    return st ? st : scan_space(s, err);
}

/* Whether the container that is open ends here; else what comes next may begin. */
static hf_status end_look(hf_json_scan *s, bool *out_end, hf_err *err)
{
    *out_end = false;
    if (s->state == STATE_BEHIND)
        return behind_take(s, out_end, err);
    if (s->state == STATE_ITEM || s->state == STATE_MEMBER)
        *out_end = scan_byte(s) == (s->state == STATE_ITEM ? ']' : '}');
    return HF_OK;
}

hf_status hf_json_scan_next(hf_json_scan *scan, hf_json_token *out_token, hf_err *err)
{
    bool ends = false;
    hf_status st;

    if (scan->state == STATE_STRING) {
        *out_token = HF_JSON_TOKEN_STRING;
        return string_take(scan, err);
    }
    *out_token = HF_JSON_TOKEN_END;
    if (scan->state == STATE_DONE && !scan->whole)
        return HF_OK;
    st = scan_space(scan, err);
    if (st)
        return st;
    if (scan->state == STATE_DONE)
        return scan->at == scan->end ? HF_OK : scan_fail(scan, err, "more text after the value");
    st = end_look(scan, &ends, err);
    if (st)
        return st;
    if (ends) {
        *out_token =
            scan->objects[scan->depth - 1] ? HF_JSON_TOKEN_OBJECT_END : HF_JSON_TOKEN_ARRAY_END;
        return close_take(scan, err);
    }
    return scan->state == STATE_KEY || scan->state == STATE_MEMBER
               ? key_take(scan, out_token, err)
               : value_take(scan, out_token, err);
}

hf_slice hf_json_scan_text(const hf_json_scan *scan)
{
    return hf_slice_from(scan->piece, scan->piece_len);
}

hf_status hf_json_scan_place(hf_json_scan *scan, int64_t *out_at, hf_err *err)
{
    hf_status st = scan_space(scan, err);

    *out_at = scan->offset + (int64_t)scan->at;
    return st;
}

hf_status hf_json_scan_peek(hf_json_scan *scan, char *out_byte, hf_err *err)
{
    hf_status st = scan_space(scan, err);

    *out_byte = scan_byte(scan);
    return st;
}

hf_status hf_json_scan_item(hf_json_scan *scan, bool *out_there, hf_err *err)
{
    bool ends = false;
    hf_status st = scan_space(scan, err);

    HF_ASSERT(scan->depth > 0);
    if (!st)
        st = end_look(scan, &ends, err);
    *out_there = !st && !ends;
    return st || !ends ? st : close_take(scan, err);
}

hf_status hf_json_scan_value(hf_json_scan *scan, size_t most, hf_buf *text, hf_err *err)
{
    size_t depth = scan->depth;
    hf_json_token token;
    hf_status st = scan_space(scan, err);

    scan->copy = text;
    scan->copy_max = text ? text->len + most : 0;
    do {
        if (!st)
            st = hf_json_scan_next(scan, &token, err);
    } while (!st && (scan->depth > depth || scan->state == STATE_STRING));
    scan->copy = NULL;
    if (!st && text && !hf_buf_ok(text))
        st = hf_err_nomem(err, "JSON text");
    return st;
}

hf_status hf_json_scan_new(hf_json_scan_fn *read, void *ctx, int64_t from, bool whole,
                           hf_json_scan **out_scan, hf_err *err)
{
    hf_json_scan *scan = hf_alloc(sizeof(*scan));

    if (!scan)
        return hf_err_nomem(err, "JSON text");
    scan->read = read;
    scan->ctx = ctx;
    scan->offset = from;
    scan->whole = whole;
    *out_scan = scan;
    return HF_OK;
}

void hf_json_scan_free(hf_json_scan *scan)
{
    hf_alloc_free(scan);
}
