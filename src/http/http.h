/* http.h: a server for HTTP/1.1 on one event loop, and what its handlers may do.

   A handler is called on the loop's thread with an exchange, one request that waits for its answer,
   and must not block there. The exchange is the handler's from then on, until it is answered or
   abandoned, once, from any thread; the connection behind it may die meanwhile, and then the answer
   goes nowhere. Requests that came ahead of their turn wait. */
#ifndef HF_HTTP_HTTP_H
#define HF_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "http/limits.h"
#include "http/reply.h"
#include "http/request.h"

typedef struct hf_http hf_http;
typedef struct hf_http_exchange hf_http_exchange;

/* How a connection came to its end. */
typedef enum hf_http_left {
    HF_HTTP_LEFT_AGREED, /* the server closed it, or both had said that it ends */
    HF_HTTP_LEFT_IDLE,   /* the client closed it between requests */
    HF_HTTP_LEFT_CUT     /* it broke, or the client closed it while an answer was owed */
} hf_http_left;

typedef struct hf_http_handlers {
    /* The head of a request is in and its body is not: whether to receive that, of at most
     *body_bytes_max bytes (it holds the default). False refuses it with `out_reply`. May be NULL.
     */
    bool (*admit)(void *ctx, const hf_http_exchange *exchange, size_t *body_bytes_max,
                  hf_http_reply *out_reply);
    void (*handle)(void *ctx, hf_http_exchange *exchange);
    /* Makes the body of an answer that the server gives by itself (a refused request, an overload),
       which has status and sentence. May be NULL: the sentence as plain text. */
    void (*refuse)(void *ctx, const char *reason, hf_http_reply *reply);
    /* The connection of exchanges that were handed to `handle` is over; the exchange is a name and
       must not be used. The loop's thread. May be NULL. */
    void (*ended)(void *ctx, const hf_http_exchange *exchange, hf_http_left left);
    void *ctx;
} hf_http_handlers;

typedef struct hf_http_options {
    const char
        *listen; /* "127.0.0.1:7430", "[::1]:0", "localhost:80", "unix:/run/x"; port 0: any */
    const char *tls_certificate; /* PEM files; both or neither */
    const char *tls_key;
    const char *tls_client_ca; /* clients must show a certificate that this one signed; or NULL */
    hf_http_limits limits;
    hf_http_handlers handlers;
    const hf_clock *clock; /* NULL: the system's */
    const hf_log *log;     /* may be NULL */
} hf_http_options;

/* Binds and listens; nothing is accepted before hf_http_start. HF_INVALID (an address that cannot
   be read, a certificate that does not fit its key), HF_DENIED, HF_BUSY (the port is taken), HF_IO.
 */
HF_NODISCARD hf_status hf_http_open(const hf_http_options *options, hf_http **out_http,
                                    hf_err *err);
HF_NODISCARD hf_status hf_http_start(hf_http *http, hf_err *err); /* the loop's own thread */

/* Any thread: accepts no more, closes what is idle, wakes what is parked, lets the rest end until
   `grace_ms` are over. hf_http_wait returns when all is closed. */
void hf_http_drain(hf_http *http, int64_t grace_ms);
void hf_http_wait(hf_http *http);
/* Every exchange must have been answered or abandoned. NULL is allowed. */
void hf_http_close(hf_http *http);

int hf_http_port(const hf_http *http); /* 0 for a socket in the file system */

typedef struct hf_http_stats {
    uint64_t accepted;     /* connections, ever */
    uint64_t requests;     /* handed to a handler, ever */
    uint64_t refused;      /* requests and connections, ever */
    uint64_t connections;  /* open */
    uint64_t parked;       /* exchanges that wait */
    uint64_t bodies_bytes; /* promised to bodies that are being received */
} hf_http_stats;

void hf_http_stats_get(const hf_http *http, hf_http_stats *out_stats);

/* Whether the loop has come round since this was called last, or there was no last time; asks it to
   come round again. Does not wait. */
bool hf_http_pulse(hf_http *http);

/* Any thread: whatever is parked or streams is woken with REVIEW, soon. Does not wait. */
void hf_http_review(hf_http *http);

/* ---- exchanges */

const hf_http_request *hf_http_exchange_request(const hf_http_exchange *exchange);
/* The client's address as text, "unix" for one; borrowed until the exchange ends. */
const char *hf_http_exchange_peer(const hf_http_exchange *exchange);
/* The name in the certificate that the client showed; false: there is none. The loop's thread. */
bool hf_http_exchange_subject(const hf_http_exchange *exchange, char *out_name, size_t room);

/* Whether the client was still there at this moment; any thread while the exchange is the caller's.
 */
bool hf_http_exchange_alive(const hf_http_exchange *exchange);

/* Answers, from any thread; `reply` is emptied. */
void hf_http_answer(hf_http_exchange *exchange, hf_http_reply *reply);
/* Gives no answer: the connection is closed. */
void hf_http_abandon(hf_http_exchange *exchange);

typedef enum hf_http_why {
    HF_HTTP_TIMEOUT,  /* the time to wait is over */
    HF_HTTP_GONE,     /* the client is: whatever is answered goes nowhere */
    HF_HTTP_DRAINING, /* the server is about to stop */
    HF_HTTP_REVIEW,   /* hf_http_review: does it still have a right to wait? */
} hf_http_why;

/* Called on the loop's thread, for GONE and DRAINING at most once each, and not after TIMEOUT. The
   exchange stays the handler's. Another thread may have answered at the same moment: whoever owns
   the list that the exchange waits in decides who was first. */
typedef void hf_http_wake_fn(void *ctx, hf_http_exchange *exchange, hf_http_why why);

/* Lets an exchange wait; only from its handler, on the loop's thread. A client that closes its side
   of the connection meanwhile counts as gone. */
void hf_http_park(hf_http_exchange *exchange, int64_t wait_ms, hf_http_wake_fn *wake, void *ctx);

/* The handler needs the request no more: its bytes are freed, which counts where thousands wait.
   Only from its handler, on the loop's thread, and before another thread may answer. */
void hf_http_forget(hf_http_exchange *exchange);

/* Begins an answer without an end: the head is sent, the body follows from any thread until
   hf_http_stream_end, which gives the exchange back. `wake` hears of GONE and DRAINING. From its
   handler, on the loop's thread. A silent stream gets a comment line every beat_ms. */
void hf_http_stream(hf_http_exchange *exchange, hf_http_reply *reply, hf_http_wake_fn *wake,
                    void *ctx);
/* HF_STOPPED when the client is gone, or was cut off because it lags behind; HF_NOMEM. */
HF_NODISCARD hf_status hf_http_stream_send(hf_http_exchange *exchange, hf_slice bytes, hf_err *err);
void hf_http_stream_end(hf_http_exchange *exchange);

#endif
