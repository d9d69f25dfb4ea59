/* Hints between nodes on one PostgreSQL: heard by the others, not by the sender, coalesced, and
 * after a restart. */
#include <stdlib.h>

#include "base/thread.h"
#include "commit/wake.h"
#include "lib/engine.h"
#include "lib/nap.h"
#include "lib/pg.h"

static hf_err err;

typedef struct ear {
    hf_mutex lock;
    hf_cond heard;
    hf_hint hints[1000];
    size_t count;
    bool all;
} ear;

static void ear_hear(void *ctx, hf_hint hint)
{
    ear *who = ctx;

    hf_mutex_lock(&who->lock);
    if (hint.kind == HF_HINT_LOOK)
        who->all = true;
    else if (who->count < 1000)
        who->hints[who->count++] = hint;
    hf_cond_broadcast(&who->heard);
    hf_mutex_unlock(&who->lock);
}

static void ear_open(ear *who)
{
    *who = (ear){0};
    hf_test_ok(hf_mutex_init(&who->lock, &err), &err, "mutex");
    hf_test_ok(hf_cond_init(&who->heard, &err), &err, "condition");
}

static bool ear_has_kind(const ear *who, hf_hint_kind kind, int64_t run)
{
    for (size_t i = 0; i < who->count; i++)
        if (who->hints[i].kind == kind && who->hints[i].run == run)
            return true;
    return who->all;
}

static bool ear_has(const ear *who, int64_t run)
{
    return ear_has_kind(who, HF_HINT_FACTS, run);
}

static void ear_clear(ear *who)
{
    hf_mutex_lock(&who->lock);
    who->count = 0;
    who->all = false;
    hf_mutex_unlock(&who->lock);
}

static void facts_tell(hf_wake *wake, int64_t run)
{
    hf_wake_tell(wake, (hf_hint){HF_HINT_FACTS, run});
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

/* By name, and not because it is told to look at everything. */
static bool ear_wait_named(ear *who, int64_t run)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + 10000000;
    hf_status st = HF_OK;
    bool has = false;

    hf_mutex_lock(&who->lock);
    while (!has && !st) {
        for (size_t i = 0; i < who->count && !has; i++)
            has = who->hints[i].kind == HF_HINT_FACTS && who->hints[i].run == run;
        if (!has)
            st = hf_cond_wait_until(&who->heard, &who->lock, until_us);
    }
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
        facts_tell(nodes[0], run);
    facts_tell(nodes[1], 77);
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

/* A node comes or goes while others have something to say: what they say arrives. Who looks at
   everything finds what has waited for seconds. */
START_TEST(hints_arrive_beside_a_look)
{
    enum { RUNS = 300 };
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_store *store = hf_test_place_store(place, HF_STORE_OWNER);
    hf_wake *teller = NULL;
    hf_wake *listener = NULL;
    ear who;

    ear_open(&who);
    hf_test_ok(hf_wake_open(store, 1, ear_hear, &who, &listener, &err), &err, "open");
    hf_test_ok(hf_wake_open(store, 2, ear_hear, &who, &teller, &err), &err, "open");
    for (int64_t run = 1; run <= RUNS; run++) {
        facts_tell(teller, run);
        hf_wake_tell(teller, (hf_hint){.kind = HF_HINT_LOOK});
    }
    for (int64_t run = 1; run <= RUNS; run++)
        ck_assert(ear_wait_named(&who, run));
    ck_assert(who.all);
    hf_wake_close(teller);
    hf_wake_close(listener);
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
        facts_tell(teller, run);
    ck_assert(ear_wait(&who, 100000)); /* by name, or as part of everything */
    hf_wake_close(teller);
    hf_wake_close(listener);
    hf_store_close(store);
    hf_test_place_free(place);
}
END_TEST

/* Every kind of hint arrives as what it was. */
START_TEST(kinds_arrive_as_they_were)
{
    static const hf_hint said[] = {{HF_HINT_CHANGED, 7},
                                   {HF_HINT_CHANGED, 0},
                                   {HF_HINT_AWAITED, INT64_MAX},
                                   {HF_HINT_AWAITED, 0},
                                   {HF_HINT_FACTS, 8}};
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_store *store = hf_test_place_store(place, HF_STORE_OWNER);
    hf_wake *teller = NULL;
    hf_wake *listener = NULL;
    ear who;

    ear_open(&who);
    hf_test_ok(hf_wake_open(store, 1, ear_hear, &who, &listener, &err), &err, "open");
    hf_test_ok(hf_wake_open(store, 2, ear_hear, &who, &teller, &err), &err, "open");
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
        hf_wake_tell(teller, said[i]);
    ck_assert(ear_wait(&who, 8));
    ck_assert(!who.all);
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
        ck_assert(ear_has_kind(&who, said[i].kind, said[i].run));
    hf_wake_close(teller);
    hf_wake_close(listener);
    hf_store_close(store);
    hf_test_place_free(place);
}
END_TEST

/* While the database is away a node's listener waits beside its sender: what is said then is heard
   as "everything" once it is back, and what is said later by name. */
START_TEST(n23_hints_go_on_after_cut_connections)
{
    const hf_store_options options = {
        .size = sizeof(options), .role = HF_STORE_OWNER, .create = true};
    hf_pg_server *server = NULL;
    hf_store *store = NULL;
    hf_wake *teller = NULL;
    hf_wake *listener = NULL;
    ear who;
    ear deaf;

    ear_open(&who);
    ear_open(&deaf);
    ck_assert_int_eq(setenv("HF_MODULE_DIR", HF_BUILD_DIR, 0), 0);
    hf_test_ok(hf_pg_start(&server, &err), &err, "a server");
    hf_test_ok(hf_store_open(hf_pg_uri(server), &options, &store, &err), &err, "open");
    hf_test_ok(hf_wake_open(store, 1, ear_hear, &who, &listener, &err), &err, "open");
    hf_test_ok(hf_wake_open(store, 2, ear_hear, &deaf, &teller, &err), &err, "open");
    hf_test_ok(hf_pg_crash(server, &err), &err, "crash");
    for (int64_t run = 1; run <= 10; run++) {
        facts_tell(teller, run);
        hf_nap_ms(150);
    }
    hf_test_ok(hf_pg_restart(server, &err), &err, "restart");
    ck_assert_msg(ear_wait(&who, 0), "the listener is not back");
    for (int64_t run = 100; run < 103; run++) {
        ear_clear(&who);
        facts_tell(teller, run);
        ck_assert_msg(ear_wait(&who, run), "run %lld is not heard of", (long long)run);
        hf_nap_ms(600); /* the next one is said at rest */
    }
    ck_assert_msg(!who.all, "hints do not become exact again");
    hf_wake_close(teller);
    hf_wake_close(listener);
    hf_store_close(store);
    hf_pg_stop(server);
}
END_TEST

HF_PG_SUITE_MAIN("commit/wake", {nodes_hear_each_other, 0}, {hints_arrive_beside_a_look, 0},
                 {too_many_become_everything, 0}, {kinds_arrive_as_they_were, 0},
                 {n23_hints_go_on_after_cut_connections, 120})
