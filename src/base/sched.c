/* sched.c: the one word behind sched.h, for each thread. Empty in release builds. */
#include "base/sched.h"

#ifdef HF_FAULT

static _Thread_local hf_sched *sched_here;

hf_sched *hf_sched_here(void)
{
    return sched_here;
}

void hf_sched_set(hf_sched *sched)
{
    sched_here = sched;
}

#else

typedef int sched_is_compiled_out; /* ISO C wants a declaration in every file */

#endif
