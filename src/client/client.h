/* client.h: asking a Holdfast server. Blocking, JSON both ways, one connection that is kept for the
   next question. The rule: a client belongs to one thread at a time, and only hf_client_stop may
   come from another; an answer that says no is an answer, not a failure of the call. It never
   repeats a request by itself: who asks knows whether that is safe. */
#ifndef HF_CLIENT_CLIENT_H
#define HF_CLIENT_CLIENT_H

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"
#include "holdfast/value.h"

typedef struct hf_client hf_client;

/* Over https the environment says whom to trust, HF_CA_FILE instead of the system's authorities,
   and what to show to a server that asks who is there, HF_CERT_FILE and HF_KEY_FILE; all of them
   PEM. */
typedef struct hf_client_options {
    const char *url;       /* http://HOST:PORT, https://HOST:PORT, with a path in front of /api when
                              a proxy wants one; or unix:PATH */
    const char *token;     /* NULL: none */
    const char *namespace; /* NULL: the server's default */
    const char *agent;     /* NULL: holdfast and its version */
    int64_t connect_ms;    /* 0: 5 s */
    int64_t timeout_ms;    /* of a whole request; 0: 30 s */
    size_t reply_max;      /* bytes; 0: 64 MiB */
} hf_client_options;

typedef struct hf_client_request {
    const char *method;
    const char *path;   /* see hf_client_path */
    hf_value body;      /* NULL: none */
    int64_t timeout_ms; /* 0: the client's */
} hf_client_request;

typedef struct hf_client_reply {
    int status;
    hf_value body;          /* NULL when it is no JSON */
    hf_slice text;          /* the bytes of it, followed by a NUL */
    int64_t retry_after_ms; /* what the server asked for; 0: nothing */
} hf_client_reply;

/* Nothing is sent yet. HF_INVALID (not an address of a server), HF_NOTFOUND (no libcurl), HF_NOMEM.
 */
HF_NODISCARD hf_status hf_client_open(const hf_client_options *options, hf_client **out_client,
                                      hf_err *err);
void hf_client_close(hf_client *client); /* NULL is allowed */

/* Sends a request and waits for its answer, which lives in `mem`. HF_UNREACHABLE: there was no
   answer, and a command may or may not have been carried out. HF_TIMEOUT, HF_CANCELLED (stopped),
   HF_TOOBIG, HF_NOMEM. */
HF_NODISCARD hf_status hf_client_ask(hf_client *client, const hf_client_request *request,
                                     hf_mem *mem, hf_client_reply *out_reply, hf_err *err);

/* Waits so long, for a server that is away; HF_CANCELLED when it is stopped. */
HF_NODISCARD hf_status hf_client_pause(hf_client *client, int64_t ms, hf_err *err);

/* Any thread: ends the request under way, and every later one at once. */
void hf_client_stop(hf_client *client);

/* What an answer means: HF_OK for 2xx, else the status that fits, with the server's own words. */
HF_NODISCARD hf_status hf_client_outcome(const hf_client_reply *reply, hf_err *err);

/* A path in the arena; each %s is put in as one segment, or one value of a query string, escaped.
   Nothing else may follow a %. NULL when memory ran out. */
HF_NODISCARD const char *hf_client_path(hf_mem *mem, const char *format, ...) HF_FORMAT(2, 3);

#endif
