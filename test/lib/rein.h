/* rein.h: the core of an engine with threads of its own, held between two moves of a case, so that
   there, too, nothing moves unless it is told to; and looked at. */
#ifndef HF_TEST_LIB_REIN_H
#define HF_TEST_LIB_REIN_H

#include "engine/core_impl.h"
#include "engine/engine_impl.h"

typedef struct hf_rein {
    hf_core_call hold;
    hf_mutex lock;
    hf_cond changed;
    bool held; /* the core waits, or is about to */
    bool here; /* it does */
    bool go;
    bool end; /* with it */
} hf_rein;

/* What the core says of itself, on its own thread. */
typedef struct hf_core_state {
    bool busy;        /* it has something to do */
    bool works;       /* attempts of it run */
    bool leases;      /* a worker has a step of a machine, for as long as it says that it lives */
    int64_t next_us;  /* what it will do by itself, sweeps apart */
    int64_t pause_us; /* the end of the next pause before another attempt at a step */
} hf_core_state;

/* What matching says of tasks and polls. */
typedef struct hf_task_look {
    size_t held; /* tasks of this node that are claimed or leased */
    int64_t orders;
    int64_t fronts;
} hf_task_look;

void hf_rein_open(hf_rein *rein);
void hf_rein_close(hf_rein *rein);

void hf_rein_hold(hf_rein *rein, hf_engine *engine); /* it is not held */
void hf_rein_let_go(hf_rein *rein);
/* It is held: the core does nothing more, and is to be closed. */
void hf_rein_end(hf_rein *rein);

/* The core is not held. */
hf_core_state hf_rein_look(hf_rein *rein, const hf_engine *engine);

hf_task_look hf_rein_tasks(const hf_engine *engine);

/* The end of the next pause before another attempt at an activity; INT64_MAX: there is none. */
int64_t hf_rein_pause_end(hf_engine *engine);

/* hf_test_status, in the memory of `engine`, which has the store. What the code waits for is found
   by a replay at the program that has it, which is a worker. */
const char *hf_rein_status(hf_engine *engine, hf_engine *const *programs, size_t count,
                           const char *id);

#endif
