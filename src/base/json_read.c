/* json_read.c: the strict JSON reader. The text is copied into the arena once and strings are
   unescaped in place, so that a string costs no allocation of its own; containers wait on a
   hf_value_stack. Rules: it never recurses over its input, it never reads past the copy (which ends
   in NUL bytes), and it either gives a whole value or an error with the byte that is wrong. */
#include "base/json.h"

#include <string.h>

#include "base/assert.h"
#include "base/json_number.h"
#include "base/utf8.h"
#include "base/value_node.h"
#include "base/value_stack.h"

enum {
    TEXT_PADDING = 8, /* NUL bytes behind the text: words are read whole */
    SPLICE_BYTE = 0x01
};

typedef struct reader {
    char *start; /* the copy of the text */
    char *at;    /* what comes next */
    char *end;   /* the first NUL of the padding */
    size_t depth_max;
    const hf_value *splices; /* what is left to splice in */
    size_t splice_count;
    hf_err *err;
    hf_value_stack stack;
} reader;

static hf_status reader_fail(reader *r, const char *at, const char *what)
{
    if (at >= r->end)
        return hf_err_set(r->err, HF_INVALID, "byte %zu: the text ends early",
                          (size_t)(r->end - r->start));
    return hf_err_set(r->err, HF_INVALID, "byte %zu: %s", (size_t)(at - r->start), what);
}

static hf_status reader_too_big(reader *r, const char *at, const char *what)
{
    return hf_err_set(r->err, HF_TOOBIG, "byte %zu: %s", (size_t)(at - r->start), what);
}

static inline void reader_skip_space(reader *r)
{
    while (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t')
        r->at++;
}

static inline hf_status reader_push(reader *r, hf_json_node node)
{
    hf_json_node *place = hf_value_stack_push(&r->stack);

    if (!place)
        return hf_err_nomem(r->err, "JSON values");
    *place = node;
    return HF_OK;
}

/* ---- strings */

/* A byte that stands for itself: ASCII, no control, no quote, no backslash. */
static inline bool byte_is_plain(char c)
{
    return c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

/* Eight plain bytes? May say no where the answer is yes, never the reverse. */
static inline bool word_is_plain(const char *at)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t high = ones * 0x80;
    uint64_t word;
    uint64_t quote;
    uint64_t slash;

    memcpy(&word, at, sizeof(word));
    quote = word ^ (ones * '"');
    slash = word ^ (ones * '\\');
    return (((quote - ones) | (slash - ones) | (word - ones * 0x20) | word) & high) == 0;
}

static inline char *plain_skip(char *at)
{
    while (word_is_plain(at))
        at += 8;
    while (byte_is_plain(*at))
        at++;
    return at;
}

/* Four hexadecimal digits. On failure r->at is the one that is none. */
static hf_status reader_hex(reader *r, uint32_t *out_unit)
{
    uint32_t unit = 0;

    for (int i = 0; i < 4; i++, r->at++) {
        int digit = hf_hex_digit(*r->at);

        if (digit < 0)
            return reader_fail(r, r->at, "expected four hexadecimal digits after \\u");
        unit = unit << 4 | (uint32_t)digit;
    }
    *out_unit = unit;
    return HF_OK;
}

/* \uXXXX or a surrogate pair of them; r->at is behind the first u. The text it stands for is never
   longer than the escape, so it can be written over it. */
static hf_status reader_unicode(reader *r, char **to)
{
    const char *escape = r->at - 2;
    uint32_t unit;
    uint32_t low;
    hf_status st = reader_hex(r, &unit);

    if (st)
        return st;
    if (unit >= 0xD800 && unit <= 0xDFFF) {
        if (unit > 0xDBFF || r->at[0] != '\\' || r->at[1] != 'u')
            return reader_fail(r, escape, "a surrogate without its other half");
        r->at += 2;
        st = reader_hex(r, &low);
        if (st)
            return st;
        if (low < 0xDC00 || low > 0xDFFF)
            return reader_fail(r, escape, "a surrogate without its other half");
        unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    }
    *to += hf_utf8_put(unit, *to);
    return HF_OK;
}

static char escape_byte(char c)
{
    switch (c) {
    case '"':
    case '\\':
    case '/':
        return c;
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return '\0';
    }
}

/* An escape at r->at, written to *to. */
static hf_status reader_escape(reader *r, char **to)
{
    char byte = escape_byte(r->at[1]);

    if (r->at[1] == 'u') {
        r->at += 2;
        return reader_unicode(r, to);
    }
    if (!byte)
        return reader_fail(r, r->at + 1, "unknown escape");
    *(*to)++ = byte;
    r->at += 2;
    return HF_OK;
}

/* The rest of a string from its first byte that is not plain. *to is where the text ends. */
static hf_status reader_string_rest(reader *r, char **to)
{
    while (*r->at != '"') {
        unsigned char byte = (unsigned char)*r->at;
        char *run = r->at;
        size_t size;
        hf_status st;

        if (byte == '\\') {
            st = reader_escape(r, to);
            if (st)
                return st;
            continue;
        }
        if (byte < 0x20)
            return reader_fail(r, r->at, "a control character in a string");
        if (byte >= 0x80) {
            size = hf_utf8_size(r->at, (size_t)(r->end - r->at));
            if (!size)
                return reader_fail(r, r->at, "not UTF-8");
            r->at += size;
        } else {
            r->at = plain_skip(r->at);
        }
        size = (size_t)(r->at - run);
        if (*to != run)
            memmove(*to, run, size);
        *to += size;
    }
    return HF_OK;
}

/* A string at its opening quote. The closing quote becomes the NUL behind the text. */
static hf_status reader_string(reader *r)
{
    char *text = r->at + 1;
    char *to;

    r->at = plain_skip(text);
    to = r->at;
    if (*r->at != '"') {
        hf_status st = reader_string_rest(r, &to);

        if (st)
            return st;
    }
    r->at++;
    *to = '\0';
    return reader_push(
        r, (hf_json_node){.kind = HF_VALUE_STRING, .len = (uint32_t)(to - text), .as.text = text});
}

/* ---- everything else */

static hf_status reader_number(reader *r)
{
    hf_json_number number;

    switch (hf_json_number_read(r->at, &number)) {
    case HF_JSON_NUMBER_INT:
        r->at += number.end - r->at;
        return reader_push(r, (hf_json_node){.kind = HF_VALUE_INT, .as.integer = number.integer});
    case HF_JSON_NUMBER_DOUBLE:
        r->at += number.end - r->at;
        return reader_push(r, (hf_json_node){.kind = HF_VALUE_DOUBLE, .as.number = number.number});
    case HF_JSON_NUMBER_MALFORMED:
        return reader_fail(r, number.end, "not a number");
    case HF_JSON_NUMBER_RANGE:
        return reader_fail(r, r->at, "a number too large for a double");
    case HF_JSON_NUMBER_LONG:
        return reader_too_big(r, r->at, "a number of too many digits");
    }
    hf_panic("a number that ends in no known way", __FILE__, __LINE__);
}

static hf_status reader_word(reader *r, const char *word, hf_json_node node)
{
    size_t len = strlen(word);

    if (strncmp(r->at, word, len) != 0)
        return reader_fail(r, r->at, "expected a value");
    r->at += len;
    return reader_push(r, node);
}

static hf_status reader_splice(reader *r)
{
    hf_json_node node;

    if (r->splice_count == 0)
        return reader_fail(r, r->at, "expected a value");
    node = **r->splices;
    if (node.depth + r->stack.depth > r->depth_max)
        return reader_too_big(r, r->at, "nested too deeply");
    r->splices++;
    r->splice_count--;
    r->at++;
    return reader_push(r, node);
}

/* A key and its colon. */
static hf_status reader_key(reader *r)
{
    hf_status st;

    reader_skip_space(r);
    if (*r->at != '"')
        return reader_fail(r, r->at, "expected a key in quotes");
    st = reader_string(r);
    if (st)
        return st;
    reader_skip_space(r);
    if (*r->at != ':')
        return reader_fail(r, r->at, "expected ':' after a key");
    r->at++;
    return HF_OK;
}

static hf_status reader_close(reader *r)
{
    const hf_json_node *duplicate = NULL;
    hf_status st = hf_value_stack_close(&r->stack, &duplicate);

    r->at++;
    if (st == HF_EXISTS)
        return reader_fail(r, duplicate->as.text - 1, "a key that this object has already");
    return st ? hf_err_nomem(r->err, "JSON values") : HF_OK;
}

/* An opening bracket. *out_open tells whether a first value must follow. */
static hf_status reader_open(reader *r, bool is_object, bool *out_open)
{
    if (r->stack.depth >= r->depth_max || !hf_value_stack_open(&r->stack, is_object))
        return reader_too_big(r, r->at, "nested too deeply");
    r->at++;
    reader_skip_space(r);
    if (*r->at == (is_object ? '}' : ']'))
        return reader_close(r);
    *out_open = true;
    return is_object ? reader_key(r) : HF_OK;
}

/* A scalar, an empty container, or the opening of one with content. */
static hf_status reader_value(reader *r, bool *out_open)
{
    *out_open = false;
    reader_skip_space(r);
    switch (*r->at) {
    case '{':
        return reader_open(r, true, out_open);
    case '[':
        return reader_open(r, false, out_open);
    case '"':
        return reader_string(r);
    case 't':
        return reader_word(r, "true", *hf_value_bool(true));
    case 'f':
        return reader_word(r, "false", *hf_value_bool(false));
    case 'n':
        return reader_word(r, "null", *hf_value_null());
    case SPLICE_BYTE:
        return reader_splice(r);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        return reader_number(r);
    default:
        return reader_fail(r, r->at, "expected a value");
    }
}

/* After a whole value: closes what ends here and moves to where the next value starts, if any. */
static hf_status reader_next(reader *r)
{
    while (r->stack.depth > 0) {
        bool is_object = r->stack.frames[r->stack.depth - 1].is_object;
        hf_status st;

        reader_skip_space(r);
        if (*r->at == ',') {
            r->at++;
            return is_object ? reader_key(r) : HF_OK;
        }
        if (*r->at != (is_object ? '}' : ']'))
            return reader_fail(r, r->at, is_object ? "expected ',' or '}'" : "expected ',' or ']'");
        st = reader_close(r);
        if (st)
            return st;
    }
    return HF_OK;
}

static hf_status reader_run(reader *r)
{
    bool open;
    hf_status st;

    do {
        st = reader_value(r, &open);
        if (!st && !open)
            st = reader_next(r);
    } while (!st && r->stack.depth > 0);
    if (st)
        return st;
    reader_skip_space(r);
    if (r->at != r->end)
        return reader_fail(r, r->at, "more text after the value");
    return HF_OK;
}

static hf_status reader_read(reader *r, hf_mem *mem, hf_slice text, hf_value *out_value)
{
    hf_value value;
    hf_status st;

    r->start = hf_mem_bytes(mem, text.len + TEXT_PADDING);
    if (!r->start)
        return hf_err_nomem(r->err, "JSON text");
    if (text.len)
        memcpy(r->start, text.ptr, text.len);
    memset(r->start + text.len, 0, TEXT_PADDING);
    r->at = r->start;
    r->end = r->start + text.len;
    hf_value_stack_init(&r->stack, mem);
    st = reader_run(r);
    if (st)
        goto done;
    value = hf_value_stack_take(&r->stack);
    if (!value) {
        st = hf_err_nomem(r->err, "JSON values");
        goto done;
    }
    *out_value = value;
done:
    hf_value_stack_fini(&r->stack);
    return st;
}

hf_status hf_json_read(hf_mem *mem, hf_slice text, const hf_json_limits *limits,
                       hf_value *out_value, hf_err *err)
{
    size_t bytes_max = limits && limits->bytes_max ? limits->bytes_max : HF_JSON_BYTES_MAX;
    reader r;

    r.err = err;
    r.splices = NULL;
    r.splice_count = 0;
    r.depth_max = HF_VALUE_DEPTH_MAX;
    if (limits && limits->depth_max && limits->depth_max < HF_VALUE_DEPTH_MAX)
        r.depth_max = limits->depth_max;
    if (text.len > bytes_max || text.len > UINT32_MAX)
        return hf_err_set(err, HF_TOOBIG, "JSON text of %zu bytes, at most %zu are allowed",
                          text.len, bytes_max);
    return reader_read(&r, mem, text, out_value);
}

hf_status hf_json_read_spliced(hf_mem *mem, hf_slice text, const hf_value *splices,
                               size_t splice_count, hf_value *out_value, hf_err *err)
{
    reader r;

    r.err = err;
    r.splices = splices;
    r.splice_count = splice_count;
    r.depth_max = HF_VALUE_DEPTH_MAX;
    if (text.len > HF_JSON_BYTES_MAX)
        return hf_err_set(err, HF_TOOBIG, "JSON text of %zu bytes, at most %d are allowed",
                          text.len, HF_JSON_BYTES_MAX);
    return reader_read(&r, mem, text, out_value);
}
