/* Hints between nodes on one PostgreSQL: heard by the others, not by the sender, coalesced, and
 * after a restart. */
#include "base/thread.h"
#include "commit/wake.h"
#include "lib/engine.h"

static hf_err err;

typedef struct ear {
    hf_mutex lock;
    hf_cond heard;
    int64_t runs[1000];
    size_t count;
    bool all;
} ear;

static void ear_hear(void *ctx, int64_t run)
{
    ear *who = ctx;

    hf_mutex_lock(&who->lock);
    if (run == 0)
        who->all = true;
    else if (who->count < 1000)
        who->runs[who->count++] = run;
    hf_cond_broadcast(&who->heard);
    hf_mutex_unlock(&who->lock);
}

static void ear_open(ear *who)
{
    *who = (ear){0};
    hf_test_ok(hf_mutex_init(&who->lock, &err), &err, "mutex");
    hf_test_ok(hf_cond_init(&who->heard, &err), &err, "condition");
}

static bool ear_has(const ear *who, int64_t run)
{
    for (size_t i = 0; i < who->count; i++)
        if (who->runs[i] == run)
            return true;
    return who->all;
}

/* Waits at most ten seconds for a run to be heard of. */
static bool ear_wait(ear *who, int64_t run)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + 10000000;
    bool has;

    hf_mutex_lock(&who->lock);
    while (!(has = ear_has(who, run)) && !hf_cond_wait_until(&who->heard, &who->lock, until_us))
        ;
    hf_mutex_unlock(&who->lock);
    return has;
}

/* What one node tells, the other hears; the teller does not hear itself. */
START_TEST(nodes_hear_each_other)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_store *store = hf_test_place_store(place, HF_STORE_OWNER);
    hf_wake *nodes[2] = {NULL, NULL};
    ear ears[2];

    for (int i = 0; i < 2; i++) {
        ear_open(&ears[i]);
        hf_test_ok(hf_wake_open(store, i + 1, ear_hear, &ears[i], &nodes[i], &err), &err, "open");
    }
    for (int64_t run = 1; run <= 50; run++)
        hf_wake_tell(nodes[0], run);
    hf_wake_tell(nodes[1], 77);
    ck_assert(ear_wait(&ears[1], 50));
    ck_assert(ear_wait(&ears[0], 77));
    ck_assert(!ear_has(&ears[0], 50));
    ck_assert(!ear_has(&ears[1], 77));
    hf_wake_close(nodes[0]);
    hf_wake_close(nodes[1]);
    hf_store_close(store);
    hf_test_place_free(place);
}
END_TEST

/* More runs than fit become one hint to look at everything. */
START_TEST(too_many_become_everything)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_store *store = hf_test_place_store(place, HF_STORE_OWNER);
    hf_wake *teller = NULL;
    hf_wake *listener = NULL;
    ear who;

    ear_open(&who);
    hf_test_ok(hf_wake_open(store, 1, ear_hear, &who, &listener, &err), &err, "open");
    hf_test_ok(hf_wake_open(store, 2, ear_hear, &who, &teller, &err), &err, "open");
    for (int64_t run = 1; run <= 100000; run++)
        hf_wake_tell(teller, run);
    ck_assert(ear_wait(&who, 100000)); /* by name, or as part of everything */
    hf_wake_close(teller);
    hf_wake_close(listener);
    hf_store_close(store);
    hf_test_place_free(place);
}
END_TEST

HF_PG_SUITE_MAIN("commit/wake", {nodes_hear_each_other, 0}, {too_many_become_everything, 0})
