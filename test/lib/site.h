/* site.h: a server over an engine on a place, and a client that asks it things over real HTTP. */
#ifndef HF_TEST_LIB_SITE_H
#define HF_TEST_LIB_SITE_H

#include "holdfast/holdfast.h"
#include "lib/engine.h"
#include "lib/wire.h"
#include "server/server.h"

typedef struct hf_site {
    hf_test_place *place;
    hf_engine *engine;
    hf_server *server;
    hf_mem *mem; /* of the answers' values */
    int port;    /* of a server that is another process's; 0: of this one */
} hf_site;

/* `app` NULL: no engine. options.engine and .listen are filled in. Fails the case. */
void hf_site_open(hf_site *site, hf_engine_kind kind, const hf_app *app, hf_server_options options);
void hf_site_close(hf_site *site);

/* Ends the server and its engine, and begins them again on the same store. */
void hf_site_again(hf_site *site, const hf_app *app, hf_server_options options);

/* Tokens "tok-read", "tok-operator", "tok-worker" and "tok-admin" for all namespaces, and
   "tok-elsewhere", an admin of the namespace elsewhere. */
void hf_site_tokens(hf_site *site);

/* An answer with its body as a value (NULL when it is not JSON). */
typedef struct hf_site_answer {
    int status;
    hf_value body;
    const char *text;
    hf_wire_reply raw;
} hf_site_answer;

/* Asks with the control plane's headers, and a JSON body unless it is NULL. `more` are further
   header lines, each with CRLF; a line that begins with '-' takes that header of ours away. The
   answer lives until the next. */
hf_site_answer hf_site_ask(hf_site *site, const char *method, const char *path, const char *more,
                           const char *body);

/* The same; it must be answered with this status. */
hf_site_answer hf_site_expect(hf_site *site, const char *method, const char *path, const char *body,
                              int status);

/* And its body must fit a published schema (NULL: none). */
hf_site_answer hf_site_fits(hf_site *site, const char *method, const char *path, const char *body,
                            int status, const char *schema);

/* Waits until the metrics have this line; fails the case when they do not within ten seconds. */
void hf_site_await(hf_site *site, const char *format, ...) HF_FORMAT(2, 3);

/* A request on a connection of its own that is not waited for: the connection. */
int hf_site_send(hf_site *site, const char *method, const char *path, const char *body);

#endif
