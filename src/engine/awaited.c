/* awaited.c: see awaited.h. Two maps take turns: what was said in the last two periods counts, and
   what is older goes with its map. */
#include "engine/awaited.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/thread.h"

enum {
    LATE_US = 1000000, /* a sweep may be */
    RUNS_MAX = 65536   /* in a period */
};

struct hf_awaited {
    int64_t period_us;
    _Atomic int64_t until_us; /* after this nothing is awaited: who commits need not look */
    /* under the lock */
    hf_mutex lock;
    hf_map_int *young;
    hf_map_int *old;
    int64_t turned_us; /* when the young one was empty */
    int64_t crowd_us;  /* until then everything counts as awaited */
};

void hf_awaited_close(hf_awaited *awaited)
{
    if (!awaited)
        return;
    hf_map_int_free(awaited->young);
    hf_map_int_free(awaited->old);
    hf_mutex_fini(&awaited->lock);
    hf_alloc_free(awaited);
}

hf_status hf_awaited_open(int64_t sweep_us, hf_awaited **out_awaited, hf_err *err)
{
    hf_awaited *awaited = hf_alloc(sizeof(*awaited));
    hf_map_seed seed;
    hf_status st;

    if (!awaited)
        return hf_err_nomem(err, "runs that are awaited");
    awaited->period_us = sweep_us + LATE_US;
    st = hf_mutex_init(&awaited->lock, err);
    if (st) {
        hf_alloc_free(awaited);
        return st;
    }
    st = hf_map_seed_system(&seed, err);
    if (!st) {
        awaited->young = hf_map_int_new(seed);
        awaited->old = hf_map_int_new(seed);
        if (!awaited->young || !awaited->old)
            st = hf_err_nomem(err, "runs that are awaited");
    }
    if (st)
        hf_awaited_close(awaited);
    else
        *out_awaited = awaited;
    return st;
}

/* With the lock held. */
static void periods_turn(hf_awaited *awaited, int64_t now_us)
{
    hf_map_int *old = awaited->old;

    if (now_us - awaited->turned_us < awaited->period_us)
        return;
    if (now_us - awaited->turned_us >= 2 * awaited->period_us)
        hf_map_int_clear(awaited->young); /* nobody looked for so long */
    hf_map_int_clear(old);
    awaited->old = awaited->young;
    awaited->young = old;
    awaited->turned_us = now_us;
}

void hf_awaited_add(hf_awaited *awaited, int64_t run, int64_t now_us)
{
    hf_mutex_lock(&awaited->lock);
    periods_turn(awaited, now_us);
    if (hf_map_int_count(awaited->young) >= RUNS_MAX ||
        hf_map_int_put(awaited->young, (uint64_t)run, awaited, NULL, NULL))
        awaited->crowd_us = now_us + awaited->period_us;
    atomic_store(&awaited->until_us, now_us + 2 * awaited->period_us);
    hf_mutex_unlock(&awaited->lock);
}

bool hf_awaited_has(hf_awaited *awaited, int64_t run, int64_t now_us)
{
    bool has;

    if (now_us >= atomic_load(&awaited->until_us))
        return false;
    hf_mutex_lock(&awaited->lock);
    periods_turn(awaited, now_us);
    has = now_us < awaited->crowd_us || hf_map_int_get(awaited->young, (uint64_t)run) ||
          hf_map_int_get(awaited->old, (uint64_t)run);
    hf_mutex_unlock(&awaited->lock);
    return has;
}
