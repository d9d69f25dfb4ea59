/* http_impl.h: what http.c and conn.c share. A connection is at the same time the one exchange that
   it can have open. Everything below belongs to the loop's thread, except what says otherwise. */
#ifndef HF_HTTP_HTTP_IMPL_H
#define HF_HTTP_HTTP_IMPL_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdatomic.h>

#include "base/deadline.h"
#include "base/list.h"
#include "base/map.h"
#include "base/sched.h"
#include "base/thread.h"
#include "http/http.h"
#include "http/parser.h"
#include "http/tls.h"

enum {
    HF_HTTP_PEER_SIZE = 46,
    HF_HTTP_READ_BYTES = 16 * 1024,  /* taken from a socket at once */
    HF_HTTP_AHEAD_BYTES = 64 * 1024, /* requests that came ahead of their turn */
};

typedef enum conn_state {
    CONN_READING,   /* between requests, or in the middle of one */
    CONN_HANDLING,  /* the exchange is a handler's */
    CONN_WRITING,   /* the answer is on its way */
    CONN_STREAMING, /* the exchange is a handler's, which sends piece by piece */
    CONN_LINGER,    /* everything is said; the client's last bytes are thrown away */
    CONN_CLOSED     /* to be freed when nobody has the exchange */
} conn_state;

/* What other threads ask for; under the mutex of the server. */
enum { POST_ANSWER = 1, POST_ABANDON = 2, POST_STREAM = 4, POST_END = 8 };

struct hf_http_exchange {
    hf_http *http;
    hf_list link; /* in http->conns */
    hf_deadline deadline;
    conn_state state;
    int fd;
    int depth;         /* of functions on the stack that still need it */
    bool running;      /* conn_run is one of them */
    bool reading;      /* read_event is armed */
    bool eof;          /* the client closed its side */
    hf_http_left left; /* what that means */
    bool begun;        /* the first byte of the request is in */
    bool held;         /* the exchange is a handler's */
    bool answered;     /* and came back with an answer */
    bool abandoned;    /* or without one */
    bool parked;       /* it waits, and wake wants to hear */
    bool told_drain;   /* wake heard of DRAINING */
    bool final;        /* the connection ends with this answer */
    bool gzip;         /* the request, which is forgotten, said that it takes it */
    bool spoiled;      /* memory ran out: it says that instead of what it should */
    bool tls_read_wants_write;
    bool counted;      /* in http->addresses */
    _Atomic bool gone; /* read by handlers: nothing can be sent any more */
    size_t promised;   /* bytes of http->bodies_bytes */
    int64_t since_us;  /* when the body, or the answer, began */
    size_t moved;      /* bytes of it so far */
    struct event read_event;
    struct event write_event;
    hf_tls_session *tls;
    hf_http_parser parser;
    hf_buf ahead; /* bytes behind the current request */
    hf_buf out_head;
    hf_buf out_body;
    size_t out_at; /* bytes of both that are sent */
    hf_http_sent_fn *sent;
    void *sent_ctx;
    hf_http_wake_fn *wake;
    void *wake_ctx;
    char peer[HF_HTTP_PEER_SIZE];
    /* Under http->mutex. */
    hf_list post; /* in http->posts */
    unsigned posted;
    hf_buf stream;      /* pieces that wait for the loop */
    size_t stream_sent; /* bytes the loop took and the system has not */
    bool stream_cut;    /* the reader lags too far behind */
};

struct hf_http {
    hf_http_options options;
    hf_http_limits limits;
    const hf_clock *clock;
    struct event_base *base;
    struct event listen_event;
    struct event wake_event;
    struct event timer_event;
    hf_tls *tls;
    int listen_fd;
    int wake_fds[2];
    int port;
    char *unix_path;
    hf_thread thread;
    pthread_t loop_thread;
    hf_list conns;
    hf_deadlines *deadlines;
    hf_deadline resume; /* accepting goes on */
    int64_t armed_us;   /* when the timer fires; INT64_MAX: never */
    hf_map *addresses;  /* how many connections each has, as a pointer */
    char *room;         /* HF_HTTP_READ_BYTES that every read goes through */
    unsigned reads;     /* that connections were told of, ever */
    bool draining;
    int64_t drain_until_us;
    _Atomic bool drain_wanted;
    _Atomic int64_t drain_grace_ms;
    _Atomic bool review_wanted;
    _Atomic bool pulse_wanted; /* somebody asked whether the loop still comes round */
    /* Counters, read from any thread. */
    _Atomic uint64_t accepted;
    _Atomic uint64_t requests;
    _Atomic uint64_t refused;
    _Atomic uint64_t open;
    _Atomic uint64_t parked;
    _Atomic uint64_t bodies_bytes;
    hf_mutex mutex;
    hf_list posts; /* connections other threads want something of; under the mutex */
};

/* conn.c */
HF_NODISCARD hf_status hf_conn_new(hf_http *http, int fd, const char *peer, hf_err *err);
void hf_conn_posted(hf_http_exchange *conn, unsigned posted);
void hf_conn_due(hf_http_exchange *conn);   /* its deadline came */
void hf_conn_drain(hf_http_exchange *conn); /* the server wants to stop */
void hf_conn_review(hf_http_exchange *conn);
void hf_conn_kill(hf_http_exchange *conn); /* and cannot wait any longer */

/* Makes the bytes of an answer; on whichever thread has the exchange. */
void hf_conn_render(hf_http_exchange *conn, hf_http_reply *reply, bool stream);
void hf_conn_deadline_in(hf_http_exchange *conn, int64_t ms);

/* conn_io.c */
typedef enum conn_flushed { CONN_FLUSH_ALL, CONN_FLUSH_WAIT, CONN_FLUSH_BROKEN } conn_flushed;
typedef enum conn_received {
    CONN_READ_SOME,
    CONN_READ_WAIT,
    CONN_READ_END,    /* the client closed its side */
    CONN_READ_BROKEN, /* the connection is gone */
    CONN_READ_PLAIN   /* HTTP where TLS was to come */
} conn_received;

size_t hf_conn_left(const hf_http_exchange *conn); /* bytes of the answer that are not sent */
conn_flushed hf_conn_flush(hf_http_exchange *conn);
/* The bytes live until the next call for any connection. */
conn_received hf_conn_receive(hf_http_exchange *conn, hf_slice *out_bytes);

/* conn_count.c */
HF_NODISCARD hf_status hf_conn_count(hf_http *http, hf_http_exchange *conn, hf_err *err);
void hf_conn_uncount(hf_http_exchange *conn);

/* http.c */
void hf_http_timer_update(hf_http *http);
/* Asks the loop to look at `conn`; any thread. */
void hf_http_post(hf_http_exchange *conn, unsigned what);
/* Does what was asked for. */
void hf_http_posts_run(hf_http *http);
bool hf_http_on_loop(const hf_http *http);

#endif
