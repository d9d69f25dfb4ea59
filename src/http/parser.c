/* parser.c: see parser.h. One function per part of a request and one byte at a time: every byte is
   looked at once, where it comes in; what a state does not name is refused. It must never guess. */
#include "http/parser.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

enum {
    METHOD_BYTES_MAX = 16,
    CHUNK_DIGITS_MAX = 8,
    LENGTH_DIGITS_MAX = 18,
    KEEP_BYTES_MAX = 4096, /* buffers above this are not kept between requests */
    FIELDS_FIRST = 16
};

typedef enum parse_state {
    AT_METHOD,
    AT_TARGET,
    AT_VERSION,
    AT_LINE_LF,
    AT_FIELD,
    AT_NAME,
    AT_VALUE,
    AT_VALUE_LF,
    AT_HEAD_LF,
    AT_BODY,
    AT_CHUNK_SIZE,
    AT_CHUNK_EXTENSION,
    AT_CHUNK_SIZE_LF,
    AT_CHUNK_DATA,
    AT_CHUNK_CR,
    AT_CHUNK_LF,
    AT_LAST_CR,
    AT_LAST_LF,
    AT_END,
    AT_REFUSED
} parse_state;

static hf_http_progress refuse(hf_http_parser *parser, int status, const char *reason)
{
    parser->state = AT_REFUSED;
    parser->status = status;
    parser->reason = reason;
    return HF_HTTP_REFUSED;
}

/* ---- characters */

static bool byte_is_token(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool byte_is_target(unsigned char c)
{
    return c > 0x20 && c < 0x7f && !strchr("\"<>\\^`{|}#", c);
}

static bool byte_is_value(unsigned char c)
{
    return (c >= 0x20 && c < 0x7f) || c == '\t';
}

/* ---- the request line */

static hf_http_progress method_end(hf_http_parser *parser)
{
    hf_slice text = hf_buf_slice(&parser->request.head);

    for (int method = 0; method < HF_HTTP_METHODS; method++)
        if (hf_slice_equal(text, hf_slice_of(hf_http_method_text((hf_http_method)method)))) {
            parser->request.method = (hf_http_method)method;
            parser->state = AT_TARGET;
            return HF_HTTP_MORE;
        }
    return refuse(parser, 501, "the method is not known here");
}

static hf_http_progress method_byte(hf_http_parser *parser, unsigned char c)
{
    if (c == ' ' && parser->request.head.len > 0)
        return method_end(parser);
    if (c < 'A' || c > 'Z' || parser->request.head.len >= METHOD_BYTES_MAX)
        return refuse(parser, 400, "the request does not begin with a method");
    return HF_HTTP_MORE;
}

/* The target's percent signs are followed by two digits; what they stand for is the router's. */
static bool target_escapes_hold(hf_slice target)
{
    for (size_t i = 0; i < target.len; i++)
        if (target.ptr[i] == '%') {
            if (i + 2 >= target.len || hf_hex_digit(target.ptr[i + 1]) < 0 ||
                hf_hex_digit(target.ptr[i + 2]) < 0)
                return false;
            i += 2;
        }
    return true;
}

static hf_http_progress target_end(hf_http_parser *parser)
{
    hf_http_request *request = &parser->request;
    hf_slice target;
    const char *query;

    request->target_at = parser->mark;
    request->target_len = (uint32_t)request->head.len - parser->mark;
    target = hf_http_request_part(request, request->target_at, request->target_len);
    if (target.len == 0 || target.ptr[0] != '/')
        return refuse(parser, 400, "the target does not begin with a slash");
    if (!target_escapes_hold(target))
        return refuse(parser, 400, "a percent sign in the target is not followed by two digits");
    query = memchr(target.ptr, '?', target.len);
    request->path_len = query ? (uint32_t)(query - target.ptr) : request->target_len;
    parser->state = AT_VERSION;
    return HF_HTTP_MORE;
}

static hf_http_progress target_byte(hf_http_parser *parser, unsigned char c)
{
    if (c == ' ')
        return target_end(parser);
    if (!byte_is_target(c))
        return refuse(parser, 400, "the target holds a character that no target may hold");
    if (parser->request.head.len - parser->mark >= parser->limits->target_bytes_max)
        return refuse(parser, 414, "the target is too long");
    return HF_HTTP_MORE;
}

static hf_http_progress version_end(hf_http_parser *parser)
{
    hf_http_request *request = &parser->request;
    hf_slice text =
        hf_http_request_part(request, parser->mark, (uint32_t)request->head.len - parser->mark);

    if (text.len != 8 || memcmp(text.ptr, "HTTP/", 5) != 0 || text.ptr[6] != '.' ||
        text.ptr[5] < '0' || text.ptr[5] > '9' || text.ptr[7] < '0' || text.ptr[7] > '9')
        return refuse(parser, 400, "the request line does not end with a version");
    if (text.ptr[5] != '1' || text.ptr[7] > '1')
        return refuse(parser, 505, "the version is not HTTP/1.1");
    request->minor = text.ptr[7] - '0';
    request->keep_alive = request->minor == 1;
    parser->state = AT_LINE_LF;
    return HF_HTTP_MORE;
}

static hf_http_progress version_byte(hf_http_parser *parser, unsigned char c)
{
    if (c == '\r')
        return version_end(parser);
    if (!byte_is_target(c) || parser->request.head.len - parser->mark >= 8)
        return refuse(parser, 400, "the request line does not end with a version");
    return HF_HTTP_MORE;
}

/* ---- fields */

static hf_http_progress field_add(hf_http_parser *parser)
{
    hf_http_request *request = &parser->request;

    if (request->field_count >= parser->limits->fields_max)
        return refuse(parser, 431, "there are too many header fields");
    if (request->field_count == request->field_room) {
        uint32_t room = request->field_room ? request->field_room * 2 : FIELDS_FIRST;
        hf_http_field *fields = hf_alloc_resize(request->fields, room * sizeof(*fields));

        if (!fields)
            return refuse(parser, 503, "memory ran out");
        request->fields = fields;
        request->field_room = room;
    }
    request->fields[request->field_count++] = (hf_http_field){
        .name_at = parser->mark, .name_len = (uint32_t)request->head.len - parser->mark};
    parser->state = AT_VALUE;
    return HF_HTTP_MORE;
}

static hf_http_progress length_read(hf_http_parser *parser, hf_slice value)
{
    uint64_t length = 0;

    if (parser->has_length)
        return refuse(parser, 400, "Content-Length is sent twice");
    if (value.len == 0)
        return refuse(parser, 400, "Content-Length is not a number");
    for (size_t i = 0; i < value.len; i++)
        if (value.ptr[i] < '0' || value.ptr[i] > '9')
            return refuse(parser, 400, "Content-Length is not a number");
    if (value.len > LENGTH_DIGITS_MAX)
        return refuse(parser, 400, "Content-Length is beyond all bounds");
    for (size_t i = 0; i < value.len; i++)
        length = length * 10 + (uint64_t)(value.ptr[i] - '0');
    parser->has_length = true;
    parser->left = length;
    return HF_HTTP_MORE;
}

/* A host, or an address in brackets, and perhaps a port. */
static bool host_holds(hf_slice value)
{
    size_t at = 0;

    if (value.len == 0 || value.len > 255)
        return false;
    if (value.ptr[0] == '[') {
        at = 1;
        while (at < value.len && value.ptr[at] != ']') {
            if (hf_hex_digit(value.ptr[at]) < 0 && value.ptr[at] != ':' && value.ptr[at] != '.')
                return false;
            at++;
        }
        if (at == value.len)
            return false;
        at++;
    } else {
        while (at < value.len && value.ptr[at] != ':') {
            unsigned char c = hf_http_lower((unsigned char)value.ptr[at]);

            if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && !strchr("-._", c))
                return false;
            at++;
        }
    }
    if (at == value.len)
        return true;
    if (value.ptr[at++] != ':' || value.len - at > 5)
        return false;
    for (; at < value.len; at++)
        if (value.ptr[at] < '0' || value.ptr[at] > '9')
            return false;
    return true;
}

static hf_http_progress coding_read(hf_http_parser *parser, hf_slice value)
{
    if (parser->has_coding || !hf_http_text_is(value, "chunked"))
        return refuse(parser, 400, "Transfer-Encoding is not the single word chunked");
    if (parser->request.minor == 0)
        return refuse(parser, 400, "Transfer-Encoding does not exist in HTTP/1.0");
    parser->has_coding = true;
    parser->chunked = true;
    return HF_HTTP_MORE;
}

/* What a field means for framing; all others are the router's. */
static hf_http_progress field_judge(hf_http_parser *parser, hf_slice name, hf_slice value)
{
    if (hf_http_text_is(name, "content-length"))
        return length_read(parser, value);
    if (hf_http_text_is(name, "transfer-encoding"))
        return coding_read(parser, value);
    if (hf_http_text_is(name, "host")) {
        if (parser->has_host)
            return refuse(parser, 400, "Host is sent twice");
        if (!host_holds(value))
            return refuse(parser, 400, "Host is not a host");
        parser->has_host = true;
    } else if (hf_http_text_is(name, "expect")) {
        if (!hf_http_text_is(value, "100-continue"))
            return refuse(parser, 417, "only 100-continue can be expected");
        parser->request.wants_continue = parser->request.minor == 1;
    } else if (hf_http_text_is(name, "content-encoding") && !hf_http_text_is(value, "identity")) {
        return refuse(parser, 415, "compressed request bodies are not accepted");
    }
    return HF_HTTP_MORE;
}

static hf_http_progress value_end(hf_http_parser *parser)
{
    hf_http_request *request = &parser->request;
    hf_http_field *field = &request->fields[request->field_count - 1];
    hf_slice value = hf_slice_trim(
        hf_http_request_part(request, parser->mark, (uint32_t)request->head.len - parser->mark));

    field->value_at = value.len ? (uint32_t)(value.ptr - request->head.ptr) : parser->mark;
    field->value_len = (uint32_t)value.len;
    parser->state = AT_VALUE_LF;
    return field_judge(parser, hf_http_request_part(request, field->name_at, field->name_len),
                       value);
}

static hf_http_progress head_end(hf_http_parser *parser)
{
    hf_http_request *request = &parser->request;

    if (parser->has_length && parser->has_coding)
        return refuse(parser, 400, "Content-Length stands beside Transfer-Encoding");
    if (request->minor == 1 && !parser->has_host)
        return refuse(parser, 400, "Host is missing");
    if (hf_http_request_lists(request, "connection", "close"))
        request->keep_alive = false;
    request->has_body = parser->chunked || parser->left > 0;
    parser->state = parser->chunked ? AT_CHUNK_SIZE : parser->left > 0 ? AT_BODY : AT_END;
    return HF_HTTP_HEAD_IN;
}

static hf_http_progress name_byte(hf_http_parser *parser, unsigned char c)
{
    if (c == ':')
        return parser->request.head.len == parser->mark
                   ? refuse(parser, 400, "a header field has no name")
                   : field_add(parser);
    if (!byte_is_token(c))
        return refuse(parser, 400, "a header field's name holds a character it may not hold");
    return HF_HTTP_MORE;
}

static hf_http_progress line_feed(hf_http_parser *parser, unsigned char c, parse_state next)
{
    if (c != '\n')
        return refuse(parser, 400, "a line ends with a bare carriage return");
    parser->state = next;
    return HF_HTTP_MORE;
}

/* One byte of the head: what the state makes of it, before it is kept. */
static hf_http_progress head_byte(hf_http_parser *parser, unsigned char c)
{
    switch ((parse_state)parser->state) {
    case AT_METHOD:
        return method_byte(parser, c);
    case AT_TARGET:
        return target_byte(parser, c);
    case AT_VERSION:
        return version_byte(parser, c);
    case AT_LINE_LF:
        return line_feed(parser, c, AT_FIELD);
    case AT_FIELD:
        if (c == '\r') {
            parser->state = AT_HEAD_LF;
            return HF_HTTP_MORE;
        }
        if (c == ' ' || c == '\t')
            return refuse(parser, 400, "a header line is folded");
        parser->state = AT_NAME;
        return name_byte(parser, c);
    case AT_NAME:
        return name_byte(parser, c);
    case AT_VALUE:
        if (c == '\r')
            return value_end(parser);
        if (!byte_is_value(c))
            return refuse(parser, 400, "a header field holds a character it may not hold");
        return HF_HTTP_MORE;
    case AT_VALUE_LF:
        return line_feed(parser, c, AT_FIELD);
    case AT_HEAD_LF:
        if (c != '\n')
            return refuse(parser, 400, "a line ends with a bare carriage return");
        return head_end(parser);
    case AT_BODY:
    case AT_CHUNK_SIZE:
    case AT_CHUNK_EXTENSION:
    case AT_CHUNK_SIZE_LF:
    case AT_CHUNK_DATA:
    case AT_CHUNK_CR:
    case AT_CHUNK_LF:
    case AT_LAST_CR:
    case AT_LAST_LF:
    case AT_END:
    case AT_REFUSED:
        break;
    }
    return refuse(parser, 500, "the parser lost its place");
}

static bool state_in_head(unsigned state)
{
    return state <= AT_HEAD_LF;
}

static hf_http_progress head_feed(hf_http_parser *parser, hf_slice bytes, size_t *out_taken)
{
    hf_buf *head = &parser->request.head;
    size_t at = 0;

    while (at < bytes.len) {
        unsigned char c = (unsigned char)bytes.ptr[at++];
        unsigned before = parser->state;
        hf_http_progress progress;

        if (head->len >= parser->limits->head_bytes_max) {
            progress = refuse(parser, 431, "the header fields are too long");
        } else {
            progress = head_byte(parser, c);
            hf_buf_add_byte(head, parser->state == AT_NAME ? hf_http_lower(c) : c);
            if (parser->state != before)
                parser->mark = (uint32_t)head->len - (parser->state == AT_NAME ? 1U : 0U);
            if (progress != HF_HTTP_REFUSED && !hf_buf_ok(head))
                progress = refuse(parser, 503, "memory ran out");
        }
        if (progress != HF_HTTP_MORE) {
            *out_taken = at;
            return progress;
        }
    }
    *out_taken = at;
    return HF_HTTP_MORE;
}

/* ---- the body */

static hf_http_progress body_add(hf_http_parser *parser, hf_slice bytes)
{
    hf_buf_add_slice(&parser->request.body, bytes);
    parser->left -= bytes.len;
    return hf_buf_ok(&parser->request.body) ? HF_HTTP_MORE : refuse(parser, 503, "memory ran out");
}

static hf_http_progress chunk_size_end(hf_http_parser *parser)
{
    if (parser->digits == 0)
        return refuse(parser, 400, "a chunk has no size");
    if (parser->left > parser->body_bytes_max - parser->request.body.len)
        return refuse(parser, 413, "the body is too large");
    parser->digits = 0;
    parser->state = AT_CHUNK_SIZE_LF;
    return HF_HTTP_MORE;
}

static hf_http_progress chunk_size_byte(hf_http_parser *parser, unsigned char c)
{
    int digit = hf_hex_digit((char)c);

    if (digit >= 0) {
        if (++parser->digits > CHUNK_DIGITS_MAX)
            return refuse(parser, 400, "a chunk's size is beyond all bounds");
        parser->left = parser->left * 16 + (uint64_t)digit;
        return HF_HTTP_MORE;
    }
    if (c == ';' && parser->digits > 0) {
        parser->state = AT_CHUNK_EXTENSION;
        return HF_HTTP_MORE;
    }
    if (c == '\r')
        return chunk_size_end(parser);
    return refuse(parser, 400, "a chunk's size is not a number");
}

static hf_http_progress chunk_extension_byte(hf_http_parser *parser, unsigned char c)
{
    if (c == '\r')
        return chunk_size_end(parser);
    if (!byte_is_value(c))
        return refuse(parser, 400, "a chunk extension holds a character it may not hold");
    if (++parser->extension > parser->limits->extension_bytes_max)
        return refuse(parser, 400, "chunk extensions are too long");
    return HF_HTTP_MORE;
}

static hf_http_progress expect_byte(hf_http_parser *parser, unsigned char c, char wanted,
                                    parse_state next)
{
    if (c != (unsigned char)wanted)
        return refuse(parser, 400, "a chunk does not end where it should");
    parser->state = next;
    return HF_HTTP_MORE;
}

static hf_http_progress chunk_byte(hf_http_parser *parser, unsigned char c)
{
    switch ((parse_state)parser->state) {
    case AT_CHUNK_SIZE:
        return chunk_size_byte(parser, c);
    case AT_CHUNK_EXTENSION:
        return chunk_extension_byte(parser, c);
    case AT_CHUNK_SIZE_LF:
        return expect_byte(parser, c, '\n', parser->left ? AT_CHUNK_DATA : AT_LAST_CR);
    case AT_CHUNK_CR:
        return expect_byte(parser, c, '\r', AT_CHUNK_LF);
    case AT_CHUNK_LF:
        return expect_byte(parser, c, '\n', AT_CHUNK_SIZE);
    case AT_LAST_CR: /* anything else would be a trailer */
        return expect_byte(parser, c, '\r', AT_LAST_LF);
    case AT_LAST_LF:
        return expect_byte(parser, c, '\n', AT_END);
    case AT_METHOD:
    case AT_TARGET:
    case AT_VERSION:
    case AT_LINE_LF:
    case AT_FIELD:
    case AT_NAME:
    case AT_VALUE:
    case AT_VALUE_LF:
    case AT_HEAD_LF:
    case AT_BODY:
    case AT_CHUNK_DATA:
    case AT_END:
    case AT_REFUSED:
        break;
    }
    return refuse(parser, 500, "the parser lost its place");
}

static hf_http_progress body_feed(hf_http_parser *parser, hf_slice bytes, size_t *out_taken)
{
    size_t at = 0;

    while (at < bytes.len && parser->state != AT_END) {
        hf_http_progress progress;

        if (parser->state == AT_BODY || parser->state == AT_CHUNK_DATA) {
            size_t room = bytes.len - at;
            size_t len = parser->left < room ? (size_t)parser->left : room;

            progress = body_add(parser, hf_slice_from(bytes.ptr + at, len));
            at += len;
            if (progress == HF_HTTP_MORE && parser->left == 0)
                parser->state = parser->chunked ? AT_CHUNK_CR : AT_END;
        } else {
            progress = chunk_byte(parser, (unsigned char)bytes.ptr[at++]);
        }
        if (progress != HF_HTTP_MORE) {
            *out_taken = at;
            return progress;
        }
    }
    *out_taken = at;
    return parser->state == AT_END ? HF_HTTP_WHOLE : HF_HTTP_MORE;
}

/* ---- the parser */

static void buf_reuse(hf_buf *buf)
{
    if (buf->failed || buf->capacity > KEEP_BYTES_MAX)
        hf_buf_fini(buf);
    hf_buf_clear(buf);
}

void hf_http_parser_reset(hf_http_parser *parser, const hf_http_limits *limits)
{
    hf_http_request request = {.head = parser->request.head,
                               .body = parser->request.body,
                               .fields = parser->request.fields,
                               .field_room = parser->request.field_room};

    buf_reuse(&request.head);
    buf_reuse(&request.body);
    *parser = (hf_http_parser){
        .limits = limits, .request = request, .body_bytes_max = limits->body_bytes_max};
}

void hf_http_parser_forget(hf_http_parser *parser)
{
    hf_http_request *request = &parser->request;

    hf_buf_fini(&request->head);
    hf_buf_fini(&request->body);
    hf_alloc_free(request->fields);
    request->fields = NULL;
    request->field_count = 0;
    request->field_room = 0;
    request->target_at = 0;
    request->target_len = 0;
    request->path_len = 0;
}

void hf_http_parser_fini(hf_http_parser *parser)
{
    hf_buf_fini(&parser->request.head);
    hf_buf_fini(&parser->request.body);
    hf_alloc_free(parser->request.fields);
    *parser = (hf_http_parser){0};
}

bool hf_http_parser_fresh(const hf_http_parser *parser)
{
    return parser->state == AT_METHOD && parser->request.head.len == 0;
}

hf_http_progress hf_http_parser_feed(hf_http_parser *parser, hf_slice bytes, size_t *out_taken)
{
    HF_ASSERT(parser->limits != NULL);
    *out_taken = 0;
    if (parser->state == AT_REFUSED)
        return HF_HTTP_REFUSED;
    if (parser->state == AT_END)
        return HF_HTTP_WHOLE;
    if (state_in_head(parser->state))
        return head_feed(parser, bytes, out_taken);
    if (parser->state == AT_BODY && parser->request.body.len == 0 &&
        parser->left > parser->body_bytes_max)
        return refuse(parser, 413, "the body is too large");
    return body_feed(parser, bytes, out_taken);
}
