/* simclient.h: requests over HTTP to the server of a node in a simulation (simnode.h). Who asks is
   a thread of the world: it can vanish at any byte of what it sends, and the node can be gone at
   any byte of what it answers. */
#ifndef HF_TEST_LIB_SIMCLIENT_H
#define HF_TEST_LIB_SIMCLIENT_H

#include <stdbool.h>

#include "base/buf.h"
#include "lib/simnode.h"

typedef struct hf_simask {
    const char *method;
    const char *target;
    const char *body;        /* NULL: none */
    int64_t until_us;        /* virtual; nobody waits longer. INT64_MAX: for ever */
    uint32_t cut_one_in;     /* requests that break off after some byte; 0: none */
    uint32_t leave_one_in;   /* those that are sent whole, and nobody waits for the answer */
    uint32_t dribble_one_in; /* those that come in pieces */
} hf_simask;

typedef struct hf_simreply {
    int status; /* 0: there was no answer, and what came of it is not known */
    bool cut;   /* because who asked left */
    hf_buf body;
} hf_simreply;

void hf_simclient_ask(hf_simsched *sim, const hf_simnode *node, const hf_simask *ask,
                      hf_simreply *out_reply);
void hf_simreply_fini(hf_simreply *reply);

#endif
