/* throttle.c: see throttle.h. */
#include "server/throttle.h"

#include "base/alloc.h"
#include "base/thread.h"

enum { PLACES = 4096 };

/* The span that is under way at a place. */
typedef struct place {
    int64_t began_us;
    int64_t count;
} place;

struct hf_throttle {
    hf_mutex lock;
    int64_t most;
    int64_t span_us;
    place places[PLACES]; /* under the lock */
};

hf_status hf_throttle_open(int64_t most, int64_t span_us, hf_throttle **out_throttle, hf_err *err)
{
    hf_throttle *throttle = hf_alloc(sizeof(*throttle));
    hf_status st = throttle ? hf_mutex_init(&throttle->lock, err) : hf_err_nomem(err, "a throttle");

    if (st) {
        hf_alloc_free(throttle);
        return st;
    }
    throttle->most = most;
    throttle->span_us = span_us;
    *out_throttle = throttle;
    return HF_OK;
}

void hf_throttle_close(hf_throttle *throttle)
{
    if (!throttle)
        return;
    hf_mutex_fini(&throttle->lock);
    hf_alloc_free(throttle);
}

/* FNV-1a. */
static size_t place_of(hf_slice address)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < address.len; i++)
        hash = (hash ^ (unsigned char)address.ptr[i]) * UINT64_C(1099511628211);
    return (size_t)(hash % PLACES);
}

bool hf_throttle_allows(hf_throttle *throttle, hf_slice address, int64_t now_us)
{
    place *at = &throttle->places[place_of(address)];
    bool allowed;

    hf_mutex_lock(&throttle->lock);
    if (at->count == 0 || now_us - at->began_us >= throttle->span_us)
        *at = (place){.began_us = now_us};
    allowed = at->count < throttle->most;
    if (allowed)
        at->count++;
    hf_mutex_unlock(&throttle->lock);
    return allowed;
}
