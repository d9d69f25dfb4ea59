/* server.h: the HTTP server in front of an engine. It opens no store and installs no signal
   handler: serve.h does that for the command line. */
#ifndef HF_SERVER_SERVER_H
#define HF_SERVER_SERVER_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/log.h"
#include "holdfast/holdfast.h"
#include "http/http.h"
#include "server/admission.h"
#include "server/auth.h"
#include "server/session.h"
#include "server/webhook.h"

typedef struct hf_server hf_server;

typedef struct hf_server_options {
    hf_engine *engine;  /* stays the caller's, and open until the server is closed */
    const char *listen; /* NULL: 127.0.0.1:7430 */
    hf_auth_options auth;
    hf_webhook_options webhook; /* who may call the webhook routes; nobody, if it is not given */
    const char *hosts; /* names besides localhost under which it may be asked, by commas; or NULL */
    const char *storage; /* directory for payloads outside of messages; NULL: there are none */
    const char *tls_certificate;
    const char *tls_key;
    const char *tls_client_ca;     /* clients must show a certificate that it signed; or NULL */
    const char *tls_client_roles;  /* "NAME=ROLE,...": who needs no other credential; or NULL */
    const char *store;             /* "sqlite" or "postgres", for people; NULL: not said */
    const char *environment;       /* what people call it: "production"; NULL: nothing */
    const char *environment_color; /* of its badge */
    bool insecure;     /* listens beyond loopback without credentials, although that is unwise */
    bool behind_proxy; /* something in front of it speaks TLS */
    int threads;       /* that run handlers which may block; 0: 16 */
    hf_admission_limits admission; /* how many requests may be in work */
    int64_t worker_quiet_ms; /* a worker without connections that is silent for so long is lost; 0:
                                HF_PRESENCE_QUIET_MS */
    int64_t worker_beat_ms;  /* between heartbeats of workers; 0: HF_PRESENCE_BEAT_MS */
    int64_t runs_max;        /* open runs of a namespace; 0: any number */
    int64_t bytes_max;       /* in the store, of a namespace; 0: any number */
    hf_http_limits limits;
    const hf_clock *clock; /* NULL: the system's */
    const hf_log *log;     /* may be NULL */
} hf_server_options;

/* HF_DENIED: the address can be reached by others and nothing protects it. HF_INVALID, HF_BUSY, ...
 */
HF_NODISCARD hf_status hf_server_open(const hf_server_options *options, hf_server **out_server,
                                      hf_err *err);
HF_NODISCARD hf_status hf_server_start(hf_server *server, hf_err *err);
int hf_server_port(const hf_server *server);

/* Any thread: finishes what is under way, for at most so long. */
void hf_server_drain(hf_server *server, int64_t grace_ms);
void hf_server_wait(hf_server *server);
/* Whether requests have been looked at since this was asked last; see hf_http_pulse. Any thread. */
bool hf_server_pulse(hf_server *server);
void hf_server_close(hf_server *server); /* NULL is allowed */

/* Ends what waits or streams for tokens that have gone or come to their end. Called when tokens
   were read anew, and now and then. Any thread. */
void hf_server_review(hf_server *server);

/* The secret of a link that logs a browser in as the token, once and within ten minutes:
   URL/console/login?link=SECRET. HF_NOTFOUND: there is no such token. Any thread. */
HF_NODISCARD hf_status hf_server_login_link(hf_server *server, const char *token_id,
                                            char out_secret[HF_SESSION_SECRET_SIZE], hf_err *err);

/* Replaces the tokens that are accepted; any thread. */
HF_NODISCARD hf_status hf_server_tokens_set(hf_server *server, const hf_auth_token *tokens,
                                            size_t count, hf_err *err);

#endif
