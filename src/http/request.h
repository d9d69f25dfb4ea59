/* request.h: one HTTP/1.1 request as it was received, and the parser that makes it of bytes.

   The parser is strict, because two programs that read the same bytes differently are a hole: what
   RFC 9112 lets a server accept for the sake of old clients is refused here. Refused are bare CR
   and LF, folded lines, white space around a field's name, control characters, more than one Host
   or Content-Length, Content-Length that is not plain digits or stands beside Transfer-Encoding,
   any Transfer-Encoding but the single word chunked, targets that do not begin with a slash,
   trailers, and bytes outside ASCII. It is incremental and bounded: it can be fed byte by byte,
   refuses at the first bad byte, and never holds more than the limits say. */
#ifndef HF_HTTP_REQUEST_H
#define HF_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/slice.h"
#include "http/limits.h"

typedef enum hf_http_method {
    HF_HTTP_GET,
    HF_HTTP_HEAD,
    HF_HTTP_POST,
    HF_HTTP_PUT,
    HF_HTTP_PATCH,
    HF_HTTP_DELETE,
    HF_HTTP_OPTIONS,
    HF_HTTP_METHODS
} hf_http_method;

const char *hf_http_method_text(hf_http_method method);

/* Where a field stands in the head; names are in lower case there. */
typedef struct hf_http_field {
    uint32_t name_at;
    uint32_t name_len;
    uint32_t value_at;
    uint32_t value_len; /* without white space at both ends */
} hf_http_field;

typedef struct hf_http_request {
    hf_http_method method;
    uint32_t target_at; /* in the head */
    uint32_t target_len;
    uint32_t path_len;   /* of the target, up to the question mark */
    int minor;           /* HTTP/1.minor */
    bool keep_alive;     /* the client wants the connection again */
    bool wants_continue; /* Expect: 100-continue */
    bool has_body;       /* Content-Length above 0, or chunked */
    hf_buf head;         /* the bytes of request line and fields */
    hf_http_field *fields;
    uint32_t field_count;
    uint32_t field_room;
    hf_buf body; /* decoded */
} hf_http_request;

/* The path as it came, percent signs and all; the query without its question mark, empty when there
   is none. Borrowed until the request is cleared. */
hf_slice hf_http_request_path(const hf_http_request *request);
hf_slice hf_http_request_query(const hf_http_request *request);

/* The value of the only field called `name` (lower case). False, and the empty slice, when there is
   none or more than one: a field that was sent twice counts as not sent. */
bool hf_http_request_field(const hf_http_request *request, const char *name, hf_slice *out_value);

/* Whether a comma separated field holds `word` (lower case), in any case, anywhere, with any weight
   but q=0. */
bool hf_http_request_lists(const hf_http_request *request, const char *name, const char *word);

typedef enum hf_http_progress {
    HF_HTTP_MORE,    /* all bytes taken; it needs more */
    HF_HTTP_HEAD_IN, /* the head is complete; the body, if there is one, comes with the next feed */
    HF_HTTP_WHOLE,   /* the request is complete */
    HF_HTTP_REFUSED  /* it never will be; see status and reason */
} hf_http_progress;

/* The caller's memory; zero-initialise, then hf_http_parser_reset. */
typedef struct hf_http_parser {
    const hf_http_limits *limits;
    hf_http_request request;
    size_t body_bytes_max; /* for this request; a route may lower or raise it when the head is in */
    int status;            /* of the refusal */
    const char *reason;    /* a sentence; lives for ever */
    /* What follows is the parser's own. */
    unsigned state;
    uint32_t mark;    /* where the current part of the head begins */
    uint64_t left;    /* bytes of the body or of the chunk still to come */
    uint32_t digits;  /* of the chunk size so far */
    size_t extension; /* bytes of chunk extensions so far */
    bool chunked;
    bool has_length;
    bool has_coding;
    bool has_host;
} hf_http_parser;

/* Ready for the first byte of a request; memory of the one before is given back when it was large.
 */
void hf_http_parser_reset(hf_http_parser *parser, const hf_http_limits *limits);
/* A whole request whose head and body nobody needs any more: what they take is freed; how it is to
   be answered is still known. */
void hf_http_parser_forget(hf_http_parser *parser);
void hf_http_parser_fini(hf_http_parser *parser);

/* Whether no byte of a request was seen yet. */
bool hf_http_parser_fresh(const hf_http_parser *parser);

/* Takes bytes from the front of `bytes`, at most up to the end of this request, and says how many.
 */
hf_http_progress hf_http_parser_feed(hf_http_parser *parser, hf_slice bytes, size_t *out_taken);

#endif
