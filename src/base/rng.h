/* rng.h: random numbers, either seeded, so that a run can be repeated, or from the system, fit for
   secrets. A seeded source (xoshiro256**) is predictable and belongs to one thread at a time; the
   system's has no state and may be shared. Nothing else may ask the system for randomness. */
#ifndef HF_BASE_RNG_H
#define HF_BASE_RNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* The caller's memory; nothing to release. Do not copy a seeded one: both would draw the same. */
typedef struct hf_rng {
    bool is_system;
    uint64_t state[4]; /* seeded only; never all zero */
} hf_rng;

void hf_rng_init_seeded(hf_rng *rng, uint64_t seed);

/* HF_IO when the system has no randomness to give. After a success later draws cannot fail; should
   the system take its randomness away, they panic rather than hand out something guessable. */
HF_NODISCARD hf_status hf_rng_init_system(hf_rng *rng, hf_err *err);

uint64_t hf_rng_next(hf_rng *rng);                      /* any 64 bits */
uint64_t hf_rng_below(hf_rng *rng, uint64_t bound);     /* 0 to bound - 1, evenly; bound is not 0 */
void hf_rng_fill(hf_rng *rng, void *out, size_t bytes); /* the same on every machine when seeded */

#endif
