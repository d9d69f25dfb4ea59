/* presence.h: which workers are there: when each was heard, over which connections, and how often
   it promised to show itself. A worker is lost when it missed three of its heartbeats, or when it
   has closed all its connections and was silent for a while after that. Clients that close a
   connection behind each answer, as plain HTTP libraries do, say nothing by it: of them only a
   connection counts that breaks while an answer is owed. In memory; who was known before this
   server began, or holds a task here without having been heard, is expected to show itself within
   its heartbeats. Other nodes are asked before anybody is held for lost (hf_workers_lost).

   One thread, which sleeps until somebody may be lost. Any thread may call; `lost` is called from
   that thread, without the lock, and may block. */
#ifndef HF_SERVER_PRESENCE_H
#define HF_SERVER_PRESENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"
#include "http/http.h"

typedef struct hf_presence hf_presence;

enum {
    HF_PRESENCE_QUIET_MS = 10000, /* behind the last connection */
    HF_PRESENCE_BEAT_MS = 20000,  /* between heartbeats, where the worker does not say */
    HF_PRESENCE_MISSED = 3,       /* heartbeats */
    HF_PRESENCE_MAX = 65536       /* workers; those beyond are lost when their leases end */
};

typedef struct hf_presence_options {
    int64_t quiet_ms; /* 0: HF_PRESENCE_QUIET_MS */
    int64_t beat_ms;  /* 0: HF_PRESENCE_BEAT_MS */
    /* The worker (NAMESPACE/ID) has been silent for so long. */
    void (*lost)(void *ctx, hf_slice worker, int64_t silent_us);
    void *ctx;
} hf_presence_options;

HF_NODISCARD hf_status hf_presence_open(const hf_presence_options *options,
                                        hf_presence **out_presence, hf_err *err);
void hf_presence_close(hf_presence *presence); /* NULL is allowed */

/* The worker was heard, over this connection (NULL: not over one of ours). */
void hf_presence_heard(hf_presence *presence, hf_slice worker, const hf_http_exchange *conn);

/* It promised to show itself every so often; 0: as often as this server asks for. */
void hf_presence_promised(hf_presence *presence, hf_slice worker, int64_t beat_ms);

/* It has gone by itself. */
void hf_presence_left(hf_presence *presence, hf_slice worker);

/* It holds something here and may never have been heard: now it has to show itself within the
   heartbeats that this server asks for. Nothing changes for one that is known. */
void hf_presence_expected(hf_presence *presence, hf_slice worker);

/* Whether it was heard within so long (microseconds), or has a connection and promised nothing. */
bool hf_presence_hears(hf_presence *presence, const char *space, const char *worker,
                       int64_t within_us);

/* Whether it was heard and not lost since, as far as is known. */
bool hf_presence_there(hf_presence *presence, const char *space, const char *worker);

/* The connection is over. */
void hf_presence_ended(hf_presence *presence, const hf_http_exchange *conn, hf_http_left left);

#endif
