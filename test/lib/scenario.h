/* scenario.h: the representative stretches of work that crash and fault campaigns go through, each
   from an empty store on, and one that makes the store. A scenario notes every acknowledged unit in
   a ledger and ends at the first action that fails. The writer is stepped by hand, so the same
   calls happen in the same order each time. */
#ifndef HF_TEST_LIB_SCENARIO_H
#define HF_TEST_LIB_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "lib/recovery.h"
#include "lib/simvfs.h"
#include "lib/world.h"

enum { HF_STAGE_CLOSINGS_MAX = 4 };

/* Tells the time in the caller's own count, such as operations of a disk. */
typedef int64_t hf_stage_now(void *ctx);

typedef struct hf_stage {
    /* the caller's */
    const char *address;
    const char *vfs; /* NULL: the default */
    hf_ledger *ledger;
    hf_stage_now *now;
    void *ctx;
    /* the scenario's; zero-initialise */
    hf_world world;
    int64_t commits;  /* of the writers before the one that is open */
    hf_status failed; /* the first staged unit's that failed since the writer was last drained */
    int64_t closing_from[HF_STAGE_CLOSINGS_MAX]; /* when stores were closed: nobody is told of
                                                    failures then */
    int64_t closing_to[HF_STAGE_CLOSINGS_MAX];
    int closings;
} hf_stage;

typedef struct hf_scenario {
    const char *name;
    hf_status (*play)(hf_stage *stage, hf_err *err);
    bool makes_store; /* and does not find one */
    int stride; /* big ones are sampled: campaigns try every so many points of it in one round */
} hf_scenario;

extern const hf_scenario hf_scenarios[];
extern const int hf_scenario_count;

/* Puts an empty store in place when the scenario begins with one, so that what it takes to make a
   store is not tried again with each of them. Before faults are armed and anything is recorded. */
bool hf_scenario_prepare(const hf_scenario *scenario, hf_simvfs *vfs, const char *address);

/* Plays it and closes the store. */
HF_NODISCARD hf_status hf_scenario_play(const hf_scenario *scenario, hf_stage *stage, hf_err *err);

#endif
