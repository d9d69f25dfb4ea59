/* parser.h: makes a request of bytes.

   It is strict, because two programs that read the same bytes differently are a hole: what
   RFC 9112 lets a server accept for the sake of old clients is refused here. Refused are bare CR
   and LF, folded lines, white space around a field's name, control characters, more than one Host
   or Content-Length, Content-Length that is not plain digits or stands beside Transfer-Encoding,
   any Transfer-Encoding but the single word chunked, targets that do not begin with a slash,
   trailers, and bytes outside ASCII. It is incremental and bounded: it can be fed byte by byte,
   refuses at the first bad byte, and never holds more than the limits say. */
#ifndef HF_HTTP_PARSER_H
#define HF_HTTP_PARSER_H

#include "http/limits.h"
#include "http/request.h"

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
