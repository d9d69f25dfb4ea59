/* limits.h: every bound of the HTTP side in one struct. Zero means default; hf_http_limits_fill
   puts the defaults in. A bound that is reached refuses the request or the connection at hand and
   never anything else. */
#ifndef HF_HTTP_LIMITS_H
#define HF_HTTP_LIMITS_H

#include <stddef.h>
#include <stdint.h>

typedef struct hf_http_limits {
    size_t target_bytes_max;    /* of a request's target; more is 414 */
    size_t head_bytes_max;      /* of request line and fields; more is 431 */
    size_t fields_max;          /* header fields; more is 431 */
    size_t body_bytes_max;      /* after decoding, unless a route has its own; more is 413 */
    size_t extension_bytes_max; /* of chunk extensions in one request; more is 400 */
    size_t bodies_bytes_max;    /* of all bodies being received; more is 503 */
    size_t connections_max;     /* open at once; more are answered 503 and closed */
    size_t address_max;         /* of them from one address that is not loopback */
    size_t stream_bytes_max;    /* that a stream's reader may lag behind before it is cut off */
    size_t gzip_bytes_min;      /* smaller bodies are not worth compressing */
    int64_t head_ms;            /* from the first byte of a request, or the TLS hello, to its end */
    int64_t idle_ms;            /* between requests */
    int64_t body_grace_ms;      /* a body and a reply may take this long plus a second for each */
    int64_t rate_bytes;         /* ... of this many bytes */
    int64_t linger_ms;          /* to drain a refused request, so that the client sees the answer */
    int64_t beat_ms;            /* between signs of life on a silent stream */
} hf_http_limits;

void hf_http_limits_fill(hf_http_limits *limits);

#endif
