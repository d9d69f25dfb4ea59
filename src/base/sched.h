/* sched.h: who decides which thread runs, what time it is and what is random: the system, or, in
   test builds (HF_FAULT), a scheduler that a test sets for its thread and that every thread started
   from there inherits. thread.c, clock.c, rng.c and the event loop of src/http ask for it; nothing
   else does. A release build compiles hf_sched_here() to the constant NULL, so that no code path
   depends on it. */
#ifndef HF_BASE_SCHED_H
#define HF_BASE_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hf_cond;
struct hf_mutex;

/* Each function is called on the thread that it is about. A mutex that is held is really held:
   lock and wait end with pthread_mutex_trylock, unlock and wait begin with pthread_mutex_unlock. */
typedef struct hf_sched {
    /* A thread is to begin: what the following three know it by; NULL refuses it. */
    void *(*start)(struct hf_sched *sched, const char *name);
    void (*enter)(struct hf_sched *sched, void *slot); /* the new thread's first act, */
    void (*leave)(struct hf_sched *sched, void *slot); /* and its last */
    void (*join)(struct hf_sched *sched, void *slot);  /* returns after `leave` */
    void (*lock)(struct hf_sched *sched, struct hf_mutex *mutex);
    void (*unlock)(struct hf_sched *sched, struct hf_mutex *mutex);
    /* False: nobody woke it until the monotonic time (INT64_MAX: for ever). */
    bool (*wait)(struct hf_sched *sched, struct hf_cond *cond, struct hf_mutex *mutex,
                 int64_t mono_us);
    void (*wake)(struct hf_sched *sched, struct hf_cond *cond, bool all);
    void (*yield)(struct hf_sched *sched);
    int64_t (*time_us)(struct hf_sched *sched, bool wall);
    void (*random)(struct hf_sched *sched, void *out, size_t bytes);
    /* Something was done to a socket or pipe: whoever dozes looks at its own. */
    void (*stir)(struct hf_sched *sched);
    /* Nothing that the calling thread waits for is ready: returns when something was stirred since
       this returned to it last, or at the monotonic time, or for no reason. */
    void (*doze)(struct hf_sched *sched, int64_t mono_us);
} hf_sched;

#ifdef HF_FAULT

/* Of this thread; NULL: the system. */
hf_sched *hf_sched_here(void);
void hf_sched_set(hf_sched *sched);

#else

static inline hf_sched *hf_sched_here(void)
{
    return NULL;
}

#endif

/* After each act on a socket or pipe that another thread may wait for. */
static inline void hf_sched_stir(void)
{
    hf_sched *sched = hf_sched_here();

    if (sched)
        sched->stir(sched);
}

#endif
