/* avro.c: values to Avro frames and back. Rules: decoding never recurses over its input and never
   allocates for a count that the remaining bytes cannot hold; a frame is read whole or refused. */
#include "base/avro.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/utf8.h"
#include "base/value_node.h"
#include "base/value_stack.h"

/* The branches of the schema's union, in its order. */
typedef enum avro_branch {
    BRANCH_NULL,
    BRANCH_BOOLEAN,
    BRANCH_LONG,
    BRANCH_DOUBLE,
    BRANCH_BYTES,
    BRANCH_STRING,
    BRANCH_ARRAY,
    BRANCH_MAP,
    BRANCH_COUNT
} avro_branch;

enum { HEADER_BYTES = 10, MAGIC_BYTES = 2 };

/* Single-object magic and the CRC-64-AVRO fingerprint of the schema, little end first. */
static const char avro_header[HEADER_BYTES] = {'\xC3', '\x01', '\xE2', '\xA3', '\x3D',
                                               '\xFF', '\x55', '\x80', '\x22', '\x37'};

/* ---- encoding */

static void long_add(hf_buf *buf, int64_t number)
{
    uint64_t bits = (uint64_t)number;

    hf_buf_add_varint(buf, bits << 1 ^ (number < 0 ? UINT64_MAX : 0)); /* zigzag */
}

static void double_add(hf_buf *buf, double number)
{
    uint64_t bits;
    uint8_t bytes[8];

    memcpy(&bits, &number, sizeof(bits));
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(bits >> (8 * i));
    hf_buf_add(buf, bytes, sizeof(bytes));
}

static void text_add(hf_buf *buf, hf_slice text)
{
    long_add(buf, (int64_t)text.len);
    hf_buf_add_slice(buf, text);
}

static avro_branch branch_of(hf_value_kind kind)
{
    switch (kind) {
    case HF_VALUE_NULL:
        return BRANCH_NULL;
    case HF_VALUE_BOOL:
        return BRANCH_BOOLEAN;
    case HF_VALUE_INT:
        return BRANCH_LONG;
    case HF_VALUE_DOUBLE:
        return BRANCH_DOUBLE;
    case HF_VALUE_BYTES:
        return BRANCH_BYTES;
    case HF_VALUE_STRING:
        return BRANCH_STRING;
    case HF_VALUE_ARRAY:
        return BRANCH_ARRAY;
    case HF_VALUE_OBJECT:
        return BRANCH_MAP;
    }
    hf_panic("a node of unknown kind", __FILE__, __LINE__);
}

/* Recursion is bounded: no value is deeper than HF_VALUE_DEPTH_MAX. */
static void node_add(hf_buf *buf, const hf_json_node *node)
{
    bool is_map = node->kind == HF_VALUE_OBJECT;

    long_add(buf, branch_of((hf_value_kind)node->kind));
    switch ((hf_value_kind)node->kind) {
    case HF_VALUE_NULL:
        return;
    case HF_VALUE_BOOL:
        hf_buf_add_byte(buf, node->as.boolean);
        return;
    case HF_VALUE_INT:
        long_add(buf, node->as.integer);
        return;
    case HF_VALUE_DOUBLE:
        double_add(buf, node->as.number);
        return;
    case HF_VALUE_BYTES:
    case HF_VALUE_STRING:
        text_add(buf, hf_node_text(node));
        return;
    case HF_VALUE_ARRAY:
    case HF_VALUE_OBJECT:
        if (node->len)
            long_add(buf, node->len);
        for (size_t i = 0; i < node->len; i++) {
            if (is_map)
                text_add(buf, hf_node_text(&node->as.items[2 * i]));
            node_add(buf, &node->as.items[is_map ? 2 * i + 1 : i]);
        }
        long_add(buf, 0);
        return;
    }
}

void hf_avro_encode(hf_buf *buf, hf_value value)
{
    hf_buf_add(buf, avro_header, HEADER_BYTES);
    node_add(buf, value ? value : hf_value_null());
}

/* ---- decoding */

/* A block of an array or map that is being read; one per open container. */
typedef struct avro_block {
    uint64_t left;   /* items still to come */
    const char *end; /* where the block says it ends; NULL when it does not say */
} avro_block;

typedef struct decoder {
    const char *start;
    hf_slice rest;
    size_t depth_max;
    hf_mem *mem;
    hf_err *err;
    hf_value_stack stack;
    avro_block blocks[HF_VALUE_DEPTH_MAX];
} decoder;

static hf_status decoder_fail(decoder *d, const char *what)
{
    return hf_err_set(d->err, HF_INVALID, "invalid_payload_framing: byte %zu: %s",
                      (size_t)(d->rest.ptr - d->start), what);
}

static hf_status decoder_push(decoder *d, hf_json_node node)
{
    hf_json_node *place = hf_value_stack_push(&d->stack);

    if (!place)
        return hf_err_nomem(d->err, "payload values");
    *place = node;
    return HF_OK;
}

static hf_status decoder_long(decoder *d, int64_t *out_number)
{
    uint64_t bits;

    if (!hf_slice_take_varint(&d->rest, &bits))
        return decoder_fail(d, "a number is cut short or too long");
    *out_number = (int64_t)(bits >> 1 ^ (bits & 1 ? UINT64_MAX : 0));
    return HF_OK;
}

static hf_status decoder_boolean(decoder *d)
{
    hf_slice byte;

    if (!d->rest.len || (unsigned char)d->rest.ptr[0] > 1)
        return decoder_fail(d, "expected a boolean");
    (void)hf_slice_take(&d->rest, 1, &byte);
    return decoder_push(d, *hf_value_bool(byte.ptr[0] == 1));
}

static hf_status decoder_double(decoder *d)
{
    uint64_t bits = 0;
    hf_slice bytes;
    double number;

    if (!hf_slice_take(&d->rest, sizeof(bits), &bytes))
        return decoder_fail(d, "a double is cut short");
    for (size_t i = 0; i < sizeof(bits); i++)
        bits |= (uint64_t)(unsigned char)bytes.ptr[i] << (8 * i);
    memcpy(&number, &bits, sizeof(number));
    if (!isfinite(number))
        return decoder_fail(d, "a double that is not finite");
    return decoder_push(d, (hf_json_node){.kind = HF_VALUE_DOUBLE, .as.number = number});
}

/* A string, bytes, or the key of a map entry. */
static hf_status decoder_text(decoder *d, hf_value_kind kind)
{
    hf_slice text;
    int64_t len = 0;
    char *copy;
    hf_status st = decoder_long(d, &len);

    if (st)
        return st;
    if (len < 0 || (uint64_t)len > d->rest.len)
        return decoder_fail(d, "a length beyond the end");
    if (kind == HF_VALUE_STRING && !hf_utf8_valid(hf_slice_from(d->rest.ptr, (size_t)len)))
        return decoder_fail(d, "a string that is not UTF-8");
    (void)hf_slice_take(&d->rest, (size_t)len, &text);
    copy = hf_mem_text(d->mem, text);
    if (!copy)
        return hf_err_nomem(d->err, "payload text");
    return decoder_push(
        d, (hf_json_node){.kind = (uint8_t)kind, .len = (uint32_t)text.len, .as.text = copy});
}

/* The count in front of a block, and its size in bytes when the count is negative. */
static hf_status decoder_block(decoder *d, avro_block *out_block, bool is_map)
{
    uint64_t item_bytes_min = is_map ? 2 : 1;
    int64_t count = 0;
    int64_t size = 0;
    hf_status st = decoder_long(d, &count);

    if (st)
        return st;
    *out_block = (avro_block){.left = count < 0 ? 0 - (uint64_t)count : (uint64_t)count};
    if (count < 0) {
        st = decoder_long(d, &size);
        if (st)
            return st;
        if (size < 0 || (uint64_t)size > d->rest.len)
            return decoder_fail(d, "a block beyond the end");
        out_block->end = d->rest.ptr + size;
    }
    if (out_block->left > d->rest.len / item_bytes_min)
        return decoder_fail(d, "more items than bytes");
    return HF_OK;
}

static hf_status decoder_close(decoder *d)
{
    const hf_json_node *duplicate;
    hf_status st = hf_value_stack_close(&d->stack, &duplicate);

    if (st == HF_EXISTS)
        return decoder_fail(d, "a map ends that has one key twice");
    return st ? hf_err_nomem(d->err, "payload values") : HF_OK;
}

/* Moves to the next item of the innermost container; *out_more is false when it has none. */
static hf_status decoder_item(decoder *d, bool *out_more)
{
    bool is_map = d->stack.frames[d->stack.depth - 1].is_object;
    avro_block *block = &d->blocks[d->stack.depth - 1];
    hf_status st;

    if (block->left == 0) {
        if (block->end && block->end != d->rest.ptr)
            return decoder_fail(d, "a block that is not as long as it says");
        st = decoder_block(d, block, is_map);
        if (st)
            return st;
        *out_more = block->left > 0;
        if (!*out_more)
            return block->end ? decoder_fail(d, "an empty block with a size") : HF_OK;
    }
    *out_more = true;
    block->left--;
    return is_map ? decoder_text(d, HF_VALUE_STRING) : HF_OK;
}

static hf_status decoder_open(decoder *d, bool is_map)
{
    if (d->stack.depth >= d->depth_max || !hf_value_stack_open(&d->stack, is_map))
        return hf_err_set(d->err, HF_TOOBIG, "byte %zu: a payload nested too deeply",
                          (size_t)(d->rest.ptr - d->start));
    d->blocks[d->stack.depth - 1] = (avro_block){0};
    return HF_OK;
}

static hf_status decoder_value(decoder *d)
{
    int64_t number = 0;
    hf_status st = decoder_long(d, &number);

    if (st)
        return st;
    if (number < 0 || number >= BRANCH_COUNT)
        return decoder_fail(d, "a union branch that does not exist");
    switch ((avro_branch)number) {
    case BRANCH_NULL:
        return decoder_push(d, *hf_value_null());
    case BRANCH_BOOLEAN:
        return decoder_boolean(d);
    case BRANCH_LONG:
        st = decoder_long(d, &number);
        if (st)
            return st;
        return decoder_push(d, (hf_json_node){.kind = HF_VALUE_INT, .as.integer = number});
    case BRANCH_DOUBLE:
        return decoder_double(d);
    case BRANCH_BYTES:
        return decoder_text(d, HF_VALUE_BYTES);
    case BRANCH_STRING:
        return decoder_text(d, HF_VALUE_STRING);
    case BRANCH_ARRAY:
        return decoder_open(d, false);
    case BRANCH_MAP:
        return decoder_open(d, true);
    case BRANCH_COUNT:
        break;
    }
    hf_panic("a branch that was checked", __FILE__, __LINE__);
}

static hf_status decoder_run(decoder *d)
{
    hf_status st;

    do {
        bool more = false;

        st = decoder_value(d);
        while (!st && !more && d->stack.depth > 0) {
            st = decoder_item(d, &more);
            if (!st && !more)
                st = decoder_close(d);
        }
    } while (!st && d->stack.depth > 0);
    if (!st && d->rest.len)
        return decoder_fail(d, "more bytes after the value");
    return st;
}

static hf_status decoder_header(decoder *d)
{
    hf_slice header;

    if (!hf_slice_take(&d->rest, HEADER_BYTES, &header) ||
        memcmp(header.ptr, avro_header, MAGIC_BYTES) != 0)
        return hf_err_set(d->err, HF_INVALID,
                          "invalid_payload_framing: not an Avro single-object frame");
    if (memcmp(header.ptr, avro_header, HEADER_BYTES) != 0)
        return hf_err_set(d->err, HF_INVALID,
                          "unsupported_payload_schema: the fingerprint names another schema");
    return HF_OK;
}

hf_status hf_avro_decode(hf_mem *mem, hf_slice frame, const hf_json_limits *limits,
                         hf_value *out_value, hf_err *err)
{
    size_t bytes_max = limits && limits->bytes_max ? limits->bytes_max : HF_JSON_BYTES_MAX;
    hf_value value;
    hf_status st;
    decoder d;

    d.start = frame.ptr;
    d.rest = frame;
    d.mem = mem;
    d.err = err;
    d.depth_max = HF_VALUE_DEPTH_MAX;
    if (limits && limits->depth_max && limits->depth_max < HF_VALUE_DEPTH_MAX)
        d.depth_max = limits->depth_max;
    if (frame.len > bytes_max || frame.len >= UINT32_MAX)
        return hf_err_set(err, HF_TOOBIG, "a payload of %zu bytes, at most %zu are allowed",
                          frame.len, bytes_max);
    hf_value_stack_init(&d.stack, mem);
    st = decoder_header(&d);
    if (!st)
        st = decoder_run(&d);
    if (st)
        goto done;
    value = hf_value_stack_take(&d.stack);
    if (!value) {
        st = hf_err_nomem(err, "payload values");
        goto done;
    }
    *out_value = value;
done:
    hf_value_stack_fini(&d.stack);
    return st;
}
