/* fault.h: fail the Nth allocation or the Nth database call, and bugs that are planted for the
   simulation to find (docs/internals/simulation.md), in test builds only (HF_FAULT). A release
   build compiles hf_fault_hit() to the constant false, so that no code path depends on it. The
   counters live in one struct that a loaded driver module shares with its host. */
#ifndef HF_BASE_FAULT_H
#define HF_BASE_FAULT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum hf_fault_kind {
    HF_FAULT_ALLOC,   /* an allocation */
    HF_FAULT_DB,      /* a call into a database driver fails before it had any effect */
    HF_FAULT_DB_LOST, /* a commit succeeds, but its answer is lost with the connection */
    HF_FAULT_KINDS
} hf_fault_kind;

/* Bugs of kinds that were seen. Each stands at one place, behind hf_fault_planted. */
typedef enum hf_plant {
    HF_PLANT_NONE,
    HF_PLANT_STALE_CLAIM,  /* a report is taken whatever attempt its worker has claimed */
    HF_PLANT_FREED_OFFER,  /* a task that is withdrawn is freed while it is offered (n01) */
    HF_PLANT_BARE_UNIT,    /* a unit of rows without an event is dropped (n03) */
    HF_PLANT_EARLY_ANSWER, /* an answer ends with whatever unit is under way */
    HF_PLANT_ONE_SIGNAL,   /* two threads wait for one condition, which is signalled once (n23) */
    HF_PLANTS
} hf_plant;

#ifdef HF_FAULT

#include <stdatomic.h>

typedef struct hf_fault_state {
    _Atomic int64_t seen[HF_FAULT_KINDS];    /* calls so far since it was armed */
    _Atomic int64_t fail_at[HF_FAULT_KINDS]; /* 1 fails the first call; 0 is off */
    _Atomic bool persistent[HF_FAULT_KINDS]; /* also fail every later call */
} hf_fault_state;

/* Arms `kind` to fail its `nth` call from now (0 disarms) and zeroes its count. */
void hf_fault_arm(hf_fault_kind kind, int64_t nth, bool persistent);

/* Calls seen since the last arm. A loop over nth ends when nth is beyond this. */
int64_t hf_fault_seen(hf_fault_kind kind);

/* True when this call must fail. */
bool hf_fault_hit(hf_fault_kind kind);

/* Plants one bug in this process; HF_PLANT_NONE takes it away. */
void hf_fault_plant(hf_plant plant);
bool hf_fault_planted(hf_plant plant);

/* The state in use, and the way for a module to use its host's. */
hf_fault_state *hf_fault_shared(void);
void hf_fault_share(hf_fault_state *state);

#else

static inline bool hf_fault_hit(hf_fault_kind kind)
{
    (void)kind;
    return false;
}

static inline bool hf_fault_planted(hf_plant plant)
{
    (void)plant;
    return false;
}

/* For tests built without the hook: their loops over the Nth failure end after one good pass. */
static inline void hf_fault_arm(hf_fault_kind kind, int64_t nth, bool persistent)
{
    (void)kind;
    (void)nth;
    (void)persistent;
}

static inline int64_t hf_fault_seen(hf_fault_kind kind)
{
    (void)kind;
    return 0;
}

#endif
#endif
