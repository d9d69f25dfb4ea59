/* request.h: one HTTP/1.1 request as it was received. parser.h makes it of bytes. */
#ifndef HF_HTTP_REQUEST_H
#define HF_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/slice.h"

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

/* Whether `text` is `word` (lower case) in any case. */
bool hf_http_text_is(hf_slice text, const char *word);
unsigned char hf_http_lower(unsigned char c);

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

/* A part of the head. */
hf_slice hf_http_request_part(const hf_http_request *request, uint32_t at, uint32_t len);

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

#endif
