/* json_write.c: four dialects of JSON text from one walk over a value. Rule: equal values give
   equal bytes in the two sorted dialects. Must never recurse over the value nor write anything
   that is not JSON; running out of memory marks the buffer failed. */
#include "base/json.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/base64.h"
#include "base/json_number.h"
#include "base/utf8.h"
#include "base/value_node.h"

enum {
    WRITE_FIRST = 64,        /* bytes to start with */
    PIECE_BYTES = 32 * 1024, /* after which a piece is handed on */
    OUTER_LEVELS = 2         /* of objects that DIALECT_OUTER orders */
};

typedef enum write_dialect {
    DIALECT_COMPACT,
    DIALECT_OUTER,
    DIALECT_CANONICAL,
    DIALECT_KSORT
} write_dialect;

/* A container that is being written. */
typedef struct write_frame {
    const hf_json_node *node;
    size_t at;                       /* the next item or member */
    const uint32_t *order;           /* of members; NULL: as they are */
    uint32_t *owned;                 /* an order of our own, to be freed */
    uint32_t few[HF_NODE_INDEX_MIN]; /* the order of an object without an index */
} write_frame;

/* `at` runs ahead of buf->len between writer_sync calls. */
typedef struct writer {
    hf_buf *buf;
    char *at;
    char *end; /* room ends here, one byte before the buffer does */
    write_dialect dialect;
    char none[1]; /* where `at` and `end` point once memory ran out: no room, for anything */
    size_t depth;
    write_frame frames[HF_VALUE_DEPTH_MAX];
} writer;

/* Hands what was written to the buffer. */
static void writer_sync(writer *w)
{
    if (hf_buf_ok(w->buf))
        hf_buf_advance(w->buf, (size_t)(w->at - w->buf->ptr) - w->buf->len);
}

static void writer_fail(writer *w)
{
    w->buf->failed = true;
    w->at = w->none;
    w->end = w->none;
}

static bool writer_reserve(writer *w, size_t bytes)
{
    w->at = hf_buf_reserve(w->buf, bytes);
    if (!w->at) {
        writer_fail(w);
        return false;
    }
    w->end = w->buf->ptr + w->buf->capacity - 1;
    return true;
}

static bool writer_grow(writer *w, size_t bytes)
{
    writer_sync(w);
    return writer_reserve(w, bytes);
}

static void writer_init(writer *w, hf_buf *buf, write_dialect dialect)
{
    w->buf = buf;
    w->dialect = dialect;
    w->depth = 0;
    (void)writer_reserve(w, WRITE_FIRST);
}

/* Room for `bytes` at w->at; false when memory ran out. */
static inline bool writer_room(writer *w, size_t bytes)
{
    return (size_t)(w->end - w->at) >= bytes || writer_grow(w, bytes);
}

/* ---- strings */

/* Eight bytes that need no escape? May say no where the answer is yes, never the reverse. With
   `ascii` bytes above 0x7F do need one. */
static inline bool word_is_plain(uint64_t word, bool ascii)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t high = ones * 0x80;
    uint64_t quote = word ^ (ones * '"');
    uint64_t slash = word ^ (ones * '\\');
    uint64_t hit =
        ((quote - ones) & ~quote) | ((slash - ones) & ~slash) | ((word - ones * 0x20) & ~word);

    return ((hit | (ascii ? word : 0)) & high) == 0;
}

static inline bool byte_is_plain(unsigned char byte, bool ascii)
{
    return byte >= 0x20 && byte != '"' && byte != '\\' && !(ascii && byte >= 0x80);
}

static char *hex_put(uint32_t unit, char *at)
{
    static const char digits[] = "0123456789abcdef";

    *at++ = '\\';
    *at++ = 'u';
    for (int shift = 12; shift >= 0; shift -= 4)
        *at++ = digits[(unit >> shift) & 15];
    return at;
}

/* The character at `from` as one or two \u escapes; returns its size in the text. */
static size_t unicode_put(const char *from, size_t left, char **at)
{
    size_t size = hf_utf8_size(from, left);
    uint32_t point;

    HF_ASSERT(size > 0);
    point = hf_utf8_point(from, size);
    if (point >= 0x10000) {
        *at = hex_put(0xD800 + ((point - 0x10000) >> 10), *at);
        point = 0xDC00 + ((point - 0x10000) & 0x3FF);
    }
    *at = hex_put(point, *at);
    return size;
}

/* A control character, a quote or a backslash. */
static char *escape_put(unsigned char byte, char *at)
{
    static const char letters[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
                                   ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\'};

    if (!letters[byte])
        return hex_put(byte, at);
    *at++ = '\\';
    *at++ = letters[byte];
    return at;
}

/* Copies what is plain in front, and at most the seven bytes behind it one by one. */
static inline size_t plain_put(const char *from, size_t left, bool ascii, char *to)
{
    size_t at = 0;
    uint64_t word;

    for (; left - at >= sizeof(word); at += sizeof(word)) {
        memcpy(&word, from + at, sizeof(word));
        if (!word_is_plain(word, ascii))
            break;
        memcpy(to + at, &word, sizeof(word));
    }
    if (left >= sizeof(word) && left - at < sizeof(word)) { /* the last word once more, whole */
        size_t last = left - sizeof(word);

        memcpy(&word, from + last, sizeof(word));
        if (word_is_plain(word, ascii)) {
            memcpy(to + last, &word, sizeof(word));
            return left;
        }
    }
    while (at < left && byte_is_plain((unsigned char)from[at], ascii)) {
        to[at] = from[at];
        at++;
    }
    return at;
}

/* The inside of a string. There is always room for what is left of the text as it is and for the
   longest escape; only text with many escapes asks again. */
static void writer_escaped(writer *w, hf_slice text)
{
    enum { ESCAPE_MAX = 12 };
    const bool ascii = w->dialect == DIALECT_KSORT;
    const char *from = text.ptr;
    size_t left = text.len;

    if (!writer_room(w, left + ESCAPE_MAX))
        return;
    while (left > 0) {
        size_t size = plain_put(from, left, ascii, w->at);

        from += size;
        w->at += size;
        left -= size;
        if (left > 0) {
            size = 1;
            if ((unsigned char)*from >= 0x80)
                size = unicode_put(from, left, &w->at);
            else
                w->at = escape_put((unsigned char)*from, w->at);
            from += size;
            left -= size;
            if (!writer_room(w, left + ESCAPE_MAX))
                return;
        }
    }
}

static void writer_byte(writer *w, char byte)
{
    if (writer_room(w, 1))
        *w->at++ = byte;
}

static void writer_string(writer *w, hf_slice text)
{
    writer_byte(w, '"');
    writer_escaped(w, text);
    writer_byte(w, '"');
}

static void writer_bytes(writer *w, hf_slice bytes)
{
    size_t size = hf_base64_size(bytes.len);

    if (!writer_room(w, size + 2))
        return;
    *w->at++ = '"';
    hf_base64_put(bytes, w->at);
    w->at += size;
    *w->at++ = '"';
}

/* ---- order of members */

/* By UTF-16 code units. For well-formed UTF-8 that differs from the order of bytes only where a
   character above U+FFFF (lead bytes F0 to F4) meets one of U+E000 to U+FFFF (EE, EF). */
static int key_compare_utf16(hf_slice a, hf_slice b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    size_t i = 0;

    while (i < common && a.ptr[i] == b.ptr[i])
        i++;
    if (i < common) {
        unsigned char x = (unsigned char)a.ptr[i];
        unsigned char y = (unsigned char)b.ptr[i];

        if (x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0))
            return x >= 0xF0 ? -1 : 1;
        return x < y ? -1 : 1;
    }
    return (a.len > b.len) - (a.len < b.len);
}

static int key_compare(write_dialect dialect, hf_slice a, hf_slice b)
{
    return dialect == DIALECT_CANONICAL ? key_compare_utf16(a, b) : hf_slice_compare(a, b);
}

static hf_slice key_at(const hf_json_node *object, uint32_t member)
{
    return hf_node_text(&object->as.items[2 * (size_t)member]);
}

/* By insertion: for the few members of an object without an index. */
static void order_few(write_dialect dialect, const hf_json_node *object, uint32_t *order)
{
    for (uint32_t i = 0; i < object->len; i++) {
        uint32_t hole = i;

        while (hole > 0 &&
               key_compare(dialect, key_at(object, i), key_at(object, order[hole - 1])) < 0) {
            order[hole] = order[hole - 1];
            hole--;
        }
        order[hole] = i;
    }
}

static bool keys_above_ffff(const hf_json_node *object)
{
    for (uint32_t i = 0; i < object->len; i++) {
        hf_slice key = key_at(object, i);

        for (size_t k = 0; k < key.len; k++) {
            if ((unsigned char)key.ptr[k] >= 0xF0)
                return true;
        }
    }
    return false;
}

/* Bottom-up merge sort from the byte order of the index into `order`, with `count` places of
   scratch behind it. Bounded whatever the keys are; taken only when some key has characters above
   U+FFFF. */
static const uint32_t *order_merge(const hf_json_node *object, uint32_t *order)
{
    const size_t count = object->len;
    uint32_t *from = order;
    uint32_t *to = order + count;

    memcpy(from, hf_node_index(object), count * sizeof(*from));
    for (size_t run = 1; run < count; run *= 2) {
        uint32_t *swap = from;

        for (size_t start = 0; start < count; start += 2 * run) {
            size_t middle = count - start < run ? count : start + run;
            size_t end = count - start < 2 * run ? count : start + 2 * run;
            size_t left = start;
            size_t right = middle;

            for (size_t i = start; i < end; i++) {
                bool take_left =
                    left < middle &&
                    (right >= end || key_compare_utf16(key_at(object, from[left]),
                                                       key_at(object, from[right])) <= 0);

                to[i] = take_left ? from[left++] : from[right++];
            }
        }
        from = to;
        to = swap;
    }
    return from;
}

/* Decides in which order the members of a frame's object are written. */
static bool frame_order(writer *w, write_frame *frame)
{
    const hf_json_node *node = frame->node;

    if (w->dialect == DIALECT_COMPACT || node->kind != HF_VALUE_OBJECT)
        return true;
    if (w->dialect == DIALECT_OUTER && w->depth > OUTER_LEVELS)
        return true;
    if (node->len < HF_NODE_INDEX_MIN) {
        order_few(w->dialect, node, frame->few);
        frame->order = frame->few;
        return true;
    }
    frame->order = hf_node_index(node);
    if (w->dialect != DIALECT_CANONICAL || !keys_above_ffff(node))
        return true;
    frame->owned = hf_alloc_array(2 * (size_t)node->len, sizeof(*frame->owned));
    if (!frame->owned)
        return false;
    frame->order = order_merge(node, frame->owned);
    return true;
}

/* ---- the walk */

static void writer_int(writer *w, int64_t integer)
{
    if (writer_room(w, HF_JSON_NUMBER_BYTES))
        w->at += hf_json_int_put(integer, w->at);
}

static void writer_double(writer *w, double number)
{
    static const hf_json_number_style styles[] = {[DIALECT_COMPACT] = HF_JSON_NUMBER_PLAIN,
                                                  [DIALECT_OUTER] = HF_JSON_NUMBER_PLAIN,
                                                  [DIALECT_CANONICAL] = HF_JSON_NUMBER_ES6,
                                                  [DIALECT_KSORT] = HF_JSON_NUMBER_PHP};

    if (writer_room(w, HF_JSON_NUMBER_BYTES))
        w->at += hf_json_double_put(number, styles[w->dialect], w->at);
}

static void writer_word(writer *w, const char *word, size_t len)
{
    if (!writer_room(w, len))
        return;
    memcpy(w->at, word, len);
    w->at += len;
}

static void writer_open(writer *w, const hf_json_node *node)
{
    write_frame *frame;

    if (node->len == 0) {
        if (node->kind == HF_VALUE_OBJECT && w->dialect != DIALECT_KSORT)
            writer_word(w, "{}", 2);
        else
            writer_word(w, "[]", 2);
        return;
    }
    HF_ASSERT(w->depth < HF_VALUE_DEPTH_MAX);
    frame = &w->frames[w->depth++];
    frame->node = node;
    frame->at = 0;
    frame->order = NULL;
    frame->owned = NULL;
    if (!frame_order(w, frame)) {
        writer_sync(w);
        writer_fail(w);
        return;
    }
    writer_byte(w, node->kind == HF_VALUE_OBJECT ? '{' : '[');
}

/* A scalar or an empty container whole, another container's opening bracket. */
static void writer_value(writer *w, const hf_json_node *node)
{
    switch ((hf_value_kind)node->kind) {
    case HF_VALUE_NULL:
        writer_word(w, "null", 4);
        return;
    case HF_VALUE_BOOL:
        if (node->as.boolean)
            writer_word(w, "true", 4);
        else
            writer_word(w, "false", 5);
        return;
    case HF_VALUE_INT:
        writer_int(w, node->as.integer);
        return;
    case HF_VALUE_DOUBLE:
        writer_double(w, node->as.number);
        return;
    case HF_VALUE_STRING:
        writer_string(w, hf_node_text(node));
        return;
    case HF_VALUE_BYTES:
        writer_bytes(w, hf_node_text(node));
        return;
    case HF_VALUE_ARRAY:
    case HF_VALUE_OBJECT:
        writer_open(w, node);
        return;
    }
    hf_panic("a node of unknown kind", __FILE__, __LINE__);
}

static void writer_close(writer *w)
{
    write_frame *frame = &w->frames[--w->depth];

    hf_alloc_free(frame->owned);
    writer_byte(w, frame->node->kind == HF_VALUE_OBJECT ? '}' : ']');
}

/* The next child of the innermost container, or its closing bracket. */
static void writer_step(writer *w)
{
    write_frame *frame = &w->frames[w->depth - 1];
    const hf_json_node *item = frame->node->as.items;
    size_t position = frame->at++;

    if (position == frame->node->len) {
        writer_close(w);
        return;
    }
    if (position > 0)
        writer_byte(w, ',');
    if (frame->node->kind == HF_VALUE_ARRAY) {
        writer_value(w, item + position);
        return;
    }
    item += 2 * (frame->order ? frame->order[position] : position);
    writer_string(w, hf_node_text(item));
    writer_byte(w, ':');
    writer_value(w, item + 1);
}

/* Hands on what was written, and begins again with an empty buffer. */
static void writer_hand(writer *w, hf_json_take *take, void *ctx)
{
    writer_sync(w);
    if (!hf_buf_ok(w->buf))
        return;
    take(ctx, hf_buf_slice(w->buf));
    hf_buf_clear(w->buf);
    (void)writer_reserve(w, WRITE_FIRST);
}

/* Without `take` the buffer gets all of it. */
static void value_write(hf_buf *buf, hf_value value, write_dialect dialect, hf_json_take *take,
                        void *ctx)
{
    writer w;

    writer_init(&w, buf, dialect);
    writer_value(&w, value ? value : hf_value_null());
    while (w.depth > 0 && hf_buf_ok(buf)) {
        writer_step(&w);
        if (take && (size_t)(w.at - buf->ptr) >= PIECE_BYTES)
            writer_hand(&w, take, ctx);
    }
    while (w.depth > 0) /* memory ran out: give back what the open containers hold */
        hf_alloc_free(w.frames[--w.depth].owned);
    writer_sync(&w);
}

void hf_json_write(hf_buf *buf, hf_value value)
{
    value_write(buf, value, DIALECT_COMPACT, NULL, NULL);
}

void hf_json_write_canonical(hf_buf *buf, hf_value value)
{
    value_write(buf, value, DIALECT_CANONICAL, NULL, NULL);
}

void hf_json_write_outer(hf_buf *buf, hf_value value)
{
    value_write(buf, value, DIALECT_OUTER, NULL, NULL);
}

void hf_json_write_ksort(hf_buf *buf, hf_value value)
{
    value_write(buf, value, DIALECT_KSORT, NULL, NULL);
}

bool hf_json_ksort_pieces(hf_value value, hf_json_take *take, void *ctx)
{
    hf_buf piece = {0};
    bool ok;

    value_write(&piece, value, DIALECT_KSORT, take, ctx);
    ok = hf_buf_ok(&piece);
    if (ok)
        take(ctx, hf_buf_slice(&piece));
    hf_buf_fini(&piece);
    return ok;
}

static void escaped_add(hf_buf *buf, hf_slice text, write_dialect dialect)
{
    writer w;

    writer_init(&w, buf, dialect);
    writer_escaped(&w, text);
    writer_sync(&w);
}

void hf_json_add_escaped(hf_buf *buf, hf_slice text)
{
    escaped_add(buf, text, DIALECT_COMPACT);
}

void hf_json_add_escaped_ascii(hf_buf *buf, hf_slice text)
{
    escaped_add(buf, text, DIALECT_KSORT);
}
