/* simsched.h: a scheduler and a clock of our own behind base/sched.h. Of the threads of a
   simulation one runs at a time; at every lock, unlock, wait, wake, start, end and yield a seed
   decides which one goes on. Time is virtual: each step takes a microsecond, and when nobody can
   run it jumps to the next moment that somebody waits for. The same seed gives the same steps, and
   the trace, a hash over all of them, says so.

   What happens between two steps is one piece: races on memory are for TSan to find, the order of
   messages is for us. */
#ifndef HF_TEST_LIB_SIMSCHED_H
#define HF_TEST_LIB_SIMSCHED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/rng.h"

typedef struct hf_simsched hf_simsched;

typedef struct hf_simsched_options {
    uint64_t seed;
    uint32_t switch_one_in;   /* steps at which another thread may go on; 0: each */
    uint32_t spurious_one_in; /* steps at which a sleeper wakes for no reason; 0: none */
    uint32_t slow_one_in;     /* threads that get their turn late; 0: none */
    int64_t steps_max;        /* more than that is no end; 0: 20 million */
    int64_t wall_us;          /* what time it is in the beginning; 0: 2 April 2026 */
    /* It can not go on: everybody waits for ever, or it does not come to an end. NULL: prints and
       aborts. Must not return. */
    void (*stuck)(void *ctx, hf_simsched *sim, const char *why);
    void *ctx;
} hf_simsched_options;

/* The calling thread becomes the first one of a simulation; the others are those it starts. */
hf_simsched *hf_simsched_begin(const hf_simsched_options *options);

/* All others have ended or were killed. Memory of those that were killed stays. */
void hf_simsched_end(hf_simsched *sim);

/* What the seed decides beside the order of threads: a simulation draws from here alone. */
uint64_t hf_simsched_below(hf_simsched *sim, uint64_t bound);
bool hf_simsched_one_in(hf_simsched *sim, uint32_t count); /* 0: never */

int64_t hf_simsched_now_us(const hf_simsched *sim); /* virtual, since the beginning */
int64_t hf_simsched_steps(const hf_simsched *sim);
uint64_t hf_simsched_trace(const hf_simsched *sim);
void hf_simsched_note(hf_simsched *sim, uint64_t what); /* into the trace */

/* The calling thread sleeps, or lets others run, if the seed wants so. */
void hf_simsched_sleep(hf_simsched *sim, int64_t us);
void hf_simsched_step(hf_simsched *sim);

/* For what has no lock of base/: the calling thread sleeps until somebody wakes those that await
   the same address, or the virtual time comes (INT64_MAX: for ever). True: it was woken. What a
   thread looks at right before is still so when it sleeps. */
bool hf_simsched_await(hf_simsched *sim, const void *on, int64_t until_us);
void hf_simsched_wake(hf_simsched *sim, const void *on);

/* Threads that the caller starts from now on belong to the group, and so do those that they start.
   A group that is killed does not run any more: its locks stay taken, its threads can not be
   joined, as if its process had been killed. The caller is not of it. */
void hf_simsched_group(hf_simsched *sim, int group);
void hf_simsched_kill(hf_simsched *sim, int group);
int hf_simsched_group_here(const hf_simsched *sim); /* of the calling thread */

/* From here on nobody wakes for no reason, and nobody is slow. */
void hf_simsched_calm(hf_simsched *sim);

/* The threads, what each waits for, and the last steps. */
void hf_simsched_print(const hf_simsched *sim, FILE *out);

#endif
