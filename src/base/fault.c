/* fault.c: counters behind fault.h. Empty in release builds. */
#include "base/fault.h"

#ifdef HF_FAULT

static hf_fault_state fault_own;
static hf_plant fault_plant;
static hf_fault_state *fault_state = &fault_own;

hf_fault_state *hf_fault_shared(void)
{
    return fault_state;
}

void hf_fault_share(hf_fault_state *state)
{
    fault_state = state ? state : &fault_own;
}

void hf_fault_arm(hf_fault_kind kind, int64_t nth, bool persistent)
{
    atomic_store(&fault_state->seen[kind], 0);
    atomic_store(&fault_state->persistent[kind], persistent);
    atomic_store(&fault_state->fail_at[kind], nth);
}

int64_t hf_fault_seen(hf_fault_kind kind)
{
    return atomic_load(&fault_state->seen[kind]);
}

bool hf_fault_hit(hf_fault_kind kind)
{
    int64_t count = atomic_fetch_add(&fault_state->seen[kind], 1) + 1;
    int64_t fail_at = atomic_load(&fault_state->fail_at[kind]);

    if (fail_at == 0)
        return false;
    return count == fail_at || (count > fail_at && atomic_load(&fault_state->persistent[kind]));
}

void hf_fault_plant(hf_plant plant)
{
    fault_plant = plant;
}

bool hf_fault_planted(hf_plant plant)
{
    return plant == fault_plant;
}

#else

typedef int fault_is_compiled_out; /* ISO C wants a declaration in every file */

#endif
