/* simseed.h: campaigns of simulations: each seed is played by a process of its own, which tells its
   parent how it ended and which marks it met. A campaign holds when every seed does and, if it is
   not a short one, each mark was met by some seed. */
#ifndef HF_TEST_LIB_SIMSEED_H
#define HF_TEST_LIB_SIMSEED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "lib/simsched.h"

enum {
    HF_SIMSEED_MARKS = 64,
    HF_SIMSEED_USUAL = 200 /* seeds in `make test` */
};

/* What a seed's process tells its parent. */
typedef struct hf_simseed_verdict {
    bool good;
    bool marks[HF_SIMSEED_MARKS];
    uint64_t trace;
    int64_t steps;
    int64_t now_us;
    char why[2048];
} hf_simseed_verdict;

typedef struct hf_simseed_plan {
    void (*play)(uint64_t seed); /* in the seed's process; it calls hf_simseed_end */
    const char *const *marks;    /* their names */
    int mark_count;
    const char *again; /* how to play a seed that failed: "make sim SEED=" */
} hf_simseed_plan;

/* ---- in the seed's process */

void hf_simseed_mark(int mark);
/* Notes how far the simulation came, and ends it; everything of it has ended. */
void hf_simseed_close(hf_simsched *sim);
void hf_simseed_fail(hf_simsched *sim, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));

/* ---- in the test's */

/* Plays the seeds, a few at a time, and shows each verdict in their order until `look` has seen
   enough. */
void hf_simseed_run(const hf_simseed_plan *plan, uint64_t first, uint64_t last, hf_plant plant,
                    bool (*look)(void *ctx, uint64_t seed, const hf_simseed_verdict *found),
                    void *ctx);

/* As many seeds as HF_SIM_SEEDS or HF_CAMPAIGN want, or that of HF_SIM_SEED alone with everything
   it says. Every seed holds, and every mark is met by some seed. */
void hf_simseed_campaign(const hf_simseed_plan *plan);

/* The same seed is the same, to the last step. */
void hf_simseed_twice(const hf_simseed_plan *plan);

/* The first of the seeds of `make test` that finds the bug; fails when none does. */
void hf_simseed_hunt(const hf_simseed_plan *plan, hf_plant plant);

#endif
