/* turn_host.h: who answers decide's questions during a turn: the core, on behalf of one run. The
   core's thread only. */
#ifndef HF_ENGINE_TURN_HOST_H
#define HF_ENGINE_TURN_HOST_H

#include "engine/core_impl.h"

typedef struct hf_turn_host {
    hf_core *core;
    live_run *run;
    hf_unit *unit; /* the draft; what is read for an answer lives in its arena */
    bool lost;     /* the core was taken over while a local activity ran */
} hf_turn_host;

/* The functions, over a host that lives as long as they are called. */
hf_decide_host hf_turn_host_of(hf_turn_host *host);

#endif
