/* reply.h: an answer in the making. Nothing is sent before it is handed over (http.h). Texts given
   to it are copied. Failures of memory stay inside and become a 503 when it is rendered. */
#ifndef HF_HTTP_REPLY_H
#define HF_HTTP_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/slice.h"
#include "http/request.h"

/* Told on the loop's thread when the last byte was given to the system, or that it never will be:
   the client is gone, or memory ran out and it was told of that instead. A client that has closed
   its side of the connection by then counts as gone. */
typedef void hf_http_sent_fn(void *ctx, bool delivered);

/* The caller's memory; hf_http_reply_init, then change what differs. */
typedef struct hf_http_reply {
    int status;
    const char *type; /* of the body; must live until it is handed over */
    hf_buf fields;    /* further header lines, each with its CRLF; use hf_http_reply_field */
    hf_buf body;
    bool secret;    /* never compressed: the body holds a secret beside what a caller chose */
    bool final;     /* the connection ends with it */
    int gzip_level; /* 1 to 9; 0 for the default, which is fast */
    hf_http_sent_fn *sent; /* may be NULL */
    void *sent_ctx;
} hf_http_reply;

/* An empty answer of type application/json. */
void hf_http_reply_init(hf_http_reply *reply, int status);
void hf_http_reply_fini(hf_http_reply *reply);

/* One more header line. Control characters and bytes outside ASCII in the value become question
   marks, so that no value can begin a line of its own. */
void hf_http_reply_field(hf_http_reply *reply, const char *name, hf_slice value);

/* How an answer is to be put on the wire. */
typedef struct hf_http_render {
    int minor;         /* of the request's version */
    bool head_only;    /* the request was HEAD */
    bool accepts_gzip; /* and may be given it */
    bool keep_alive;   /* the connection goes on */
    bool stream;       /* the body follows in pieces, without an end that is known */
    size_t gzip_bytes_min;
    int64_t wall_us; /* for Date */
} hf_http_render;

/* Puts head and body on the end of `out_head` and `out_body`; the reply's buffers are moved or
   emptied. Compresses where that pays. */
void hf_http_reply_render(hf_http_reply *reply, const hf_http_render *how, hf_buf *out_head,
                          hf_buf *out_body);

#endif
