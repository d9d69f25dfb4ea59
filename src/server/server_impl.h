/* server_impl.h: the server as its own files see it. */
#ifndef HF_SERVER_SERVER_IMPL_H
#define HF_SERVER_SERVER_IMPL_H

#include <limits.h>
#include <stdatomic.h>

#include "base/map.h"
#include "base/thread.h"
#include "server/api.h"
#include "server/server.h"
#include "server/work.h"

#define HF_CONTROL_PLANE_VERSION  "2"
#define HF_WORKER_PROTOCOL_MAJOR  1
#define HF_WORKER_PROTOCOL_MINOR  20
#define HF_WORKER_PROTOCOL_TEXT   "1.20"
#define HF_NAMESPACE_DEFAULT      "default"
#define HF_CONTROL_PLANE_HEADER   "X-Durable-Workflow-Control-Plane-Version"
#define HF_WORKER_PROTOCOL_HEADER "X-Durable-Workflow-Protocol-Version"

typedef struct hf_server_door {
    hf_server *server;
    hf_plane plane;
} hf_server_door;

struct hf_server {
    hf_server_options options;
    hf_engine *engine;
    hf_http *http;
    hf_auth *auth;
    hf_work *work;
    hf_admission *admission;
    struct hf_quotas *quotas;
    struct hf_sessions *sessions;
    struct hf_shelf *shelf; /* bundles that are looked at */
    hf_work *waits;         /* callers that wait for others: those must find threads free */
    struct hf_fleet *fleet;
    _Atomic int64_t learned_us;     /* what was kept of workers and sessions is known */
    struct hf_presence *presence;   /* NULL: there is no engine */
    struct hf_followers *followers; /* the same */
    struct hf_recall *recall;
    struct hf_claimants *claimants;
    struct hf_throttle *throttle; /* of those who answer by links */
    struct hf_sweeper *sweeper;   /* NULL: there is no storage directory */
    hf_mutex polls_lock;
    hf_map_int *polls;     /* workers that wait, by exchange */
    const hf_clock *clock; /* a steady one */
    hf_clock *steady;
    hf_buf worker_plane; /* what its answers say of the server: members of an object */
    hf_buf openapi;
    hf_http_reply refusals[HF_PLANES]; /* what those hear that are turned away */
    hf_server_door doors[HF_PLANES];   /* where those stand who hear it later */
    size_t at_door;                    /* how many do; the loop's thread */
    bool loopback;                     /* only this machine can ask */
    int64_t started_us;
    _Atomic bool draining;
    _Atomic bool away;           /* the store could not be read when it was last looked at */
    _Atomic uint64_t answers[6]; /* by hundreds of the status */
    hf_mutex mutex;
    hf_buf namespaces;  /* each with a comma behind it; under the mutex, this and the next two */
    hf_mem *spaces_mem; /* of the value below */
    hf_value spaces;    /* namespaces as they were read, with their storage policies */
    char storage_root[PATH_MAX]; /* "": there is no storage directory */
};

/* Whether the store has the namespace; from memory. */
bool hf_server_namespace_exists(hf_server *server, hf_slice name);

/* Whether it is the only one. */
bool hf_server_namespace_alone(hf_server *server);

/* Over how many bytes a payload of the namespace leaves by reference; 0: none does. */
size_t hf_server_storage_threshold(hf_server *server, hf_slice name);

/* A request in the making; NULL: no memory. */
hf_api *hf_api_new(hf_server *server, hf_http_exchange *exchange);

/* The request is no longer in work, and is freed; its exchange is the caller's. */
void hf_api_done(hf_api *api);

/* Sends the answer off and frees the request; any thread. */
void hf_api_finish(hf_api *api);

/* Answers that the credential, which was good when the request came, is not any more. */
void hf_api_ended(hf_api *api);

/* The rest of a request's way on the thread that may block: body, fields, handler, answer. */
void hf_api_run(hf_api *api);

#endif
