/* rng.c: the only caller of getrandom. */
#include "base/rng.h"

#include <errno.h>
#include <sys/random.h>

#include "base/assert.h"
#include "base/sched.h"

static uint64_t bits_rotate(uint64_t bits, int left)
{
    return bits << left | bits >> (64 - left);
}

/* SplitMix64: spreads a seed of few bits over the whole state. */
static uint64_t seed_spread(uint64_t *seed)
{
    uint64_t z = (*seed += 0x9E3779B97F4A7C15U);

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return z ^ z >> 31;
}

static bool system_fill(void *out, size_t bytes)
{
    hf_sched *sched = hf_sched_here();
    char *at = out;

    if (sched) {
        sched->random(sched, out, bytes);
        return true;
    }
    while (bytes) {
        ssize_t got = getrandom(at, bytes, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}

void hf_rng_init_seeded(hf_rng *rng, uint64_t seed)
{
    *rng = (hf_rng){.is_system = false};
    for (int i = 0; i < 4; i++)
        rng->state[i] = seed_spread(&seed);
}

hf_status hf_rng_init_system(hf_rng *rng, hf_err *err)
{
    uint64_t probe;

    *rng = (hf_rng){.is_system = true};
    if (!system_fill(&probe, sizeof(probe)))
        return hf_err_set(err, HF_IO, "the system gives no random numbers (error %d)", errno);
    return HF_OK;
}

uint64_t hf_rng_next(hf_rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result;
    uint64_t shifted;

    if (rng->is_system) {
        hf_rng_fill(rng, &result, sizeof(result));
        return result;
    }
    result = bits_rotate(s[1] * 5, 7) * 9;
    shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = bits_rotate(s[3], 45);
    return result;
}

uint64_t hf_rng_below(hf_rng *rng, uint64_t bound)
{
    uint64_t surplus;
    uint64_t drawn;

    HF_ASSERT(bound > 0);
    surplus = (0 - bound) % bound; /* 2^64 mod bound: so many numbers would favour small results */
    do {
        drawn = hf_rng_next(rng);
    } while (drawn < surplus);
    return drawn % bound;
}

void hf_rng_fill(hf_rng *rng, void *out, size_t bytes)
{
    unsigned char *at = out;

    if (rng->is_system) {
        bool filled = system_fill(out, bytes);

        HF_ASSERT(filled);
        return;
    }
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = hf_rng_next(rng);

        for (size_t j = i; j < bytes && j < i + 8; j++) {
            at[j] = (unsigned char)word;
            word >>= 8;
        }
    }
}
