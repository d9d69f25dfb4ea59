/* gate.h: what every request must pass before a handler sees it, in this order: host and origin,
   credential, role, version, namespace. Each refusal is the published one, and nothing is said
   about a namespace to whoever lacks the role. */
#ifndef HF_SERVER_GATE_H
#define HF_SERVER_GATE_H

#include "server/api.h"

/* True when the request may go on; otherwise api->reply says why not. The loop's thread. */
bool hf_gate_pass(hf_api *api);

/* The part that needs no body, for requests whose body has yet to come. */
bool hf_gate_head(hf_api *api);

#endif
