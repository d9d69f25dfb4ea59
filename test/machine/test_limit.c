/* Jobs, priorities, concurrency keys and rate limits, through holdfast.h on both databases. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "engine/backlog.h"
#include "engine/engine_impl.h"
#include "holdfast/holdfast.h"
#include "holdfast/host.h"
#include "holdfast/view.h"
#include "lib/kit.h"

/* ---- the application */

static char order[256]; /* ids of steps in the order in which they ran */
static atomic_int inside[4];
static atomic_int worst[4];
static atomic_int finished;
static atomic_int met;

static void note(hf_step *s)
{
    size_t len = strlen(order);

    (void)snprintf(order + len, sizeof(order) - len, "%s%s", len ? " " : "", hf_step_id(s));
}

static hf_outcome write_down(hf_step *s)
{
    note(s);
    return hf_done(s, hf_step_state(s));
}

/* Fails as often as its state says. */
static hf_outcome flaky(hf_step *s)
{
    if (hf_step_attempt(s) <= (int)hf_int(hf_step_state(s), "fail", 0))
        return hf_raise(s, "flaky", "attempt %d", hf_step_attempt(s));
    if (hf_bool(hf_step_state(s), "cancel", false))
        return hf_stop(s, "cancelled", "not wanted any more");
    return hf_done(s, hf_json(s, "%d", hf_step_attempt(s)));
}

/* Asks for an hour before it goes on. */
static hf_outcome patient(hf_step *s)
{
    return hf_step_attempt(s) == 1 ? hf_again(s, hf_step_state(s), hf_hours(1))
                                   : hf_done(s, hf_step_state(s));
}

/* Under a key, looks whether somebody else is. */
static hf_outcome guarded(hf_step *s)
{
    int at = (int)hf_int(hf_step_state(s), "at", 0);
    int now = atomic_fetch_add(&inside[at], 1) + 1;
    int seen = atomic_load(&worst[at]);

    while (now > seen && !atomic_compare_exchange_weak(&worst[at], &seen, now))
        ;
    for (int i = 0; i < 50; i++)
        (void)hf_clock_mono_us(hf_clock_system());
    atomic_fetch_sub(&inside[at], 1);
    atomic_fetch_add(&finished, 1);
    return hf_done(s, hf_step_state(s));
}

/* Takes a key, waits for a signal, and takes it again. */
static hf_outcome enter(hf_step *s)
{
    return hf_next_with(s, "hold",
                        &(hf_next_opts){.size_ = sizeof(hf_next_opts),
                                        .state = hf_step_state(s),
                                        .concurrency_key = "door"});
}

static hf_outcome hold(hf_step *s)
{
    note(s);
    return hf_park(s, "go", HF_NO_TIMEOUT, "leave", hf_step_state(s));
}

static hf_outcome leave(hf_step *s)
{
    note(s);
    return hf_done(s, hf_step_state(s));
}

static hf_outcome lost(hf_step *s)
{
    return hf_next_with(s, "lost",
                        &(hf_next_opts){.size_ = sizeof(hf_next_opts),
                                        .state = hf_step_state(s),
                                        .rate_limit = hf_str(hf_step_state(s), "rate", NULL),
                                        .concurrency_key = hf_str(hf_step_state(s), "key", NULL),
                                        .weight = (int)hf_int(hf_step_state(s), "weight", 0)});
}

static hf_engine *world;
static int64_t held[4]; /* slots at each step of a keeper */

/* Takes a key, keeps it over a step, gives it up. */
static hf_outcome keeper(hf_step *s)
{
    int at = (int)hf_int(hf_step_state(s), "at", 0);
    hf_value next = hf_json(s, "{'at': %d}", at + 1);

    held[at] = hf_kit_number(world, "SELECT count(*) FROM slot WHERE key = 'kept'");
    if (at == 3)
        return hf_done(s, next);
    return hf_next_with(s, "keeper",
                        &(hf_next_opts){.size_ = sizeof(hf_next_opts),
                                        .state = next,
                                        .concurrency_key = at == 0   ? "kept"
                                                           : at == 1 ? NULL
                                                                     : ""});
}

/* Waits until another one is inside as well. */
static hf_outcome meet(hf_step *s)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + 30000000;

    atomic_fetch_add(&met, 1);
    while (atomic_load(&met) < 2 && hf_clock_mono_us(hf_clock_system()) < until_us)
        ;
    return hf_done(s, hf_json(s, "%d", atomic_load(&met)));
}

static const hf_ms backoff[] = {10, 20};
static const hf_step_def keeper_steps[] = {{"keeper", keeper}, {0}};
static const hf_step_def door_steps[] = {{"enter", enter}, {"hold", hold}, {"leave", leave}, {0}};
static const hf_step_def lost_steps[] = {{"lost", lost}, {0}};
static const hf_signal_def door_signals[] = {{"go", NULL}, {0}};
static const hf_machine_def machines[] = {
    {"note", .job = write_down},
    {"flaky", .job = flaky},
    {"brief", .job = flaky, .max_attempts = 3, .backoff = backoff, .backoff_n = 2},
    {"patient", .job = patient},
    {"guarded", .job = guarded},
    {"meet", .job = meet},
    {"keeper", .initial = "keeper", .steps = keeper_steps},
    {"door", .initial = "enter", .steps = door_steps, .signals = door_signals},
    {"lost", .initial = "lost", .steps = lost_steps},
    {0},
};
static const hf_limit_def limits[] = {
    {"pair", .at_once = 2},
    {"mail", .allowed = 2, .per = 1000},
    {"tick", .allowed = 1, .per = 1000, .burst = 3},
    {0},
};
static const hf_app app = {.name = "limits", .machines = machines, .limits = limits};

static hf_engine *open_kit(hf_engine_kind kind)
{
    order[0] = '\0';
    return hf_kit_open(kind, &app);
}

/* ---- jobs */

/* A job that fails is tried again with backoff until it is done, may not be, or gives up. */
HF_EVERY_WAY(a_job_is_tried_again)
{
    hf_engine *d = open_kit(kind);
    const hf_error *e = NULL;

    hf_kit_ok(d, hf_start(d, "flaky", hf_json(d, "{'fail': 3}"), .id = "f"));
    hf_kit_ok(d, hf_test_advance(d, 6999)); /* 1 + 2 + 4 seconds */
    ck_assert_int_eq(hf_test_count(d, "f", "StepCompleted"), 3);
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_advance(d, 1));
    ck_assert_str_eq(hf_kit_result(d, "f"), "4");
    hf_kit_ok(d, hf_start(d, "brief", hf_json(d, "{'fail': 9}"), .id = "b"));
    hf_kit_ok(d, hf_test_advance(d, 30));
    ck_assert_int_eq(hf_result(d, "b", 0, NULL, &e), HF_ERROR);
    ck_assert_str_eq(e->type, "flaky");
    ck_assert_int_eq(hf_test_count(d, "b", "StepCompleted"), 3);
    hf_kit_ok(d, hf_start(d, "flaky", hf_json(d, "{'cancel': true}"), .id = "c"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_result(d, "c", 0, NULL, &e), HF_ERROR);
    ck_assert_str_eq(e->type, "cancelled");
    hf_kit_close(d);
}

/* A drain runs through the pauses behind failed attempts, also over a crash; a delay that the code
   asks for is none. */
HF_BOTH_ENGINES(a_drain_skips_the_pauses_of_jobs)
{
    hf_engine *d = open_kit(kind);
    int64_t began_us = hf_clock_wall_us(d->clock);
    const hf_error *e = NULL;

    hf_kit_ok(d, hf_start(d, "flaky", hf_json(d, "{'fail': 3}"), .id = "f"));
    hf_kit_ok(d, hf_start(d, "patient", NULL, .id = "p"));
    hf_kit_ok(d, hf_test_advance(d, 0));
    ck_assert_int_eq(hf_test_count(d, "f", "StepCompleted"), 1);
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "f"), "4");
    ck_assert_int_eq(hf_test_count(d, "p", "StepCompleted"), 1);
    ck_assert_int_eq(hf_clock_wall_us(d->clock) - began_us, 7000000); /* 1 + 2 + 4 s */
    hf_kit_ok(d, hf_start(d, "flaky", hf_json(d, "{'fail': 99}"), .id = "never"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_result(d, "never", 0, NULL, &e), HF_ERROR);
    ck_assert_int_eq(hf_test_count(d, "never", "StepCompleted"), 20);
    hf_kit_close(d);
}

/* The lower number first, then who came first; what is delayed is not there before its time. */
HF_BOTH_ENGINES(sm61_priorities_and_delays)
{
    hf_engine *d = open_kit(kind);

    hf_kit_ok(d, hf_start(d, "note", NULL, .id = "c", .priority = 7));
    hf_kit_ok(d, hf_start(d, "note", NULL, .id = "b"));
    hf_kit_ok(d, hf_start(d, "note", NULL, .id = "late", .priority = 1, .delay = 1000));
    hf_kit_ok(d, hf_start(d, "note", NULL, .id = "a", .priority = 1));
    hf_kit_ok(d, hf_start(d, "note", NULL, .id = "b2"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(order, "a b b2 c");
    ck_assert_uint_eq(hf_map_int_count(d->core->runs), 0); /* what is delayed takes no place */
    ck_assert_uint_eq(hf_deadlines_count(d->core->backlog), 0);
    hf_kit_ok(d, hf_test_advance(d, 1000));
    ck_assert_str_eq(order, "a b b2 c late");
    ck_assert_int_eq(hf_start(d, "note", NULL, .priority = 100), HF_INVALID);
    hf_kit_close(d);
}

/* A job of another queue is run and is found there. */
HF_BOTH_ENGINES(a_job_of_another_queue)
{
    hf_engine *d = open_kit(kind);

    hf_kit_ok(d, hf_start(d, "note", NULL, .id = "a", .queue = "mail", .delay = 1000));
    hf_kit_ok(d, hf_start(d, "note", NULL, .id = "b"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task WHERE queue = 'mail'"), 1);
    hf_kit_ok(d, hf_test_advance(d, 1000));
    ck_assert_str_eq(order, "b a");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run WHERE queue = 'mail'"), 1);
    hf_kit_close(d);
}

/* ---- slots */

/* Never two under a key with one slot, never three under one with two: of one engine, and of the
   two that share a PostgreSQL store. */
HF_BOTH_ENGINES(sm62_never_more_than_slots)
{
    static const char *const keys[] = {"one", "pair:x", "pair:y"};
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = NULL;
    hf_engine *other = NULL;
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + 60000000;

    atomic_store(&finished, 0);
    for (int i = 0; i < 4; i++)
        atomic_store(&worst[i], 0);
    ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &d), HF_OK);
    if (kind == HF_ENGINE_POSTGRES)
        ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &other), HF_OK);
    for (int i = 0; i < 60; i++) {
        hf_engine *to = other && i % 2 ? other : d;

        hf_kit_ok(to, hf_start(to, "guarded", hf_json(to, "{'at': %d}", i % 3),
                               .concurrency_key = keys[i % 3]));
    }
    while (atomic_load(&finished) < 60 && hf_clock_mono_us(hf_clock_system()) < until_us)
        (void)hf_result(d, "nobody", 0, NULL, NULL);
    if (other)
        hf_close(other);
    hf_close(d);
    /* a step whose shard moves while it runs begins again */
    ck_assert_int_ge(atomic_load(&finished), 60);
    ck_assert_int_eq(atomic_load(&worst[0]), 1);
    ck_assert_int_le(atomic_load(&worst[1]), 2);
    ck_assert_int_le(atomic_load(&worst[2]), 2);
    hf_test_place_free(place);
}

/* Two keys overlap, and so do two slots of one. */
HF_BOTH_ENGINES(sm62_keys_and_slots_overlap)
{
    static const char *const keys[][2] = {{"one", "two"}, {"pair:x", "pair:x"}};
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = NULL;

    ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &d), HF_OK);
    for (int i = 0; i < 4; i++) {
        hf_value out = NULL;
        char id[8];

        (void)snprintf(id, sizeof(id), "m%d", i);
        if (i % 2 == 0)
            atomic_store(&met, 0);
        hf_kit_ok(d, hf_start(d, "meet", NULL, .id = id, .concurrency_key = keys[i / 2][i % 2]));
        for (int k = i - 1; i % 2 && k <= i; k++) {
            (void)snprintf(id, sizeof(id), "m%d", k);
            hf_kit_ok(d, hf_result(d, id, hf_minutes(2), &out, NULL));
            ck_assert_int_eq(hf_int(out, "", 0), 2);
        }
    }
    hf_close(d);
    hf_test_place_free(place);
}

/* A key without room does not delay another in the same queue, nor does an empty bucket. */
HF_EVERY_WAY(sm63_a_full_key_delays_no_other)
{
    hf_engine *d = open_kit(kind);

    for (int i = 0; i < 5; i++) {
        char id[8];

        (void)snprintf(id, sizeof(id), "m%d", i);
        hf_kit_ok(d, hf_start(d, "note", NULL, .id = id, .rate_limit = "mail:a", .priority = 1));
    }
    hf_kit_ok(d, hf_start(d, "note", NULL, .id = "other", .rate_limit = "mail:b"));
    hf_kit_ok(d, hf_start(d, "note", NULL, .id = "free"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_ptr_nonnull(strstr(order, "other"));
    ck_assert_ptr_nonnull(strstr(order, "free"));
    ck_assert_ptr_null(strstr(order, "m2"));
    hf_kit_ok(d, hf_test_advance(d, 499));
    ck_assert_ptr_null(strstr(order, "m2"));
    hf_kit_ok(d, hf_test_advance(d, 2));
    ck_assert_ptr_nonnull(strstr(order, "m2"));
    ck_assert_ptr_null(strstr(order, "m3"));
    hf_test_crash(d); /* the tokens that are gone stay gone */
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_ptr_null(strstr(order, "m3"));
    hf_kit_ok(d, hf_test_advance(d, 5000));
    ck_assert_ptr_nonnull(strstr(order, "m4"));
    hf_kit_close(d);
}

/* Whoever holds the slots of a key keeps back those behind it alone: a hundred that wait in front,
   more urgent all of them, delay neither another key of the same limit nor who has none. */
HF_BOTH_ENGINES(sm63_a_held_key_delays_no_other)
{
    hf_engine *d = open_kit(kind);

    hf_kit_sql(d, "INSERT INTO slot (namespace, key, number, run, owner, lease_until_us) "
                  "SELECT key, 'pair:x', 0, 77, 'somebody', 4000000000000000 FROM namespace");
    hf_kit_sql(d, "INSERT INTO slot (namespace, key, number, run, owner, lease_until_us) "
                  "SELECT key, 'pair:x', 1, 78, 'somebody', 4000000000000000 FROM namespace");
    for (int i = 0; i < 100; i++)
        hf_kit_ok(d, hf_start(d, "note", NULL, .concurrency_key = "pair:x", .priority = 1));
    hf_kit_ok(d, hf_start(d, "note", NULL, .id = "other", .concurrency_key = "pair:y"));
    hf_kit_ok(d, hf_start(d, "note", NULL, .id = "own", .concurrency_key = "mine"));
    hf_kit_ok(d, hf_start(d, "note", NULL, .id = "free"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_ptr_nonnull(strstr(order, "other"));
    ck_assert_ptr_nonnull(strstr(order, "own"));
    ck_assert_ptr_nonnull(strstr(order, "free"));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run WHERE closed_us IS NULL"), 100);
    hf_kit_sql(d, "UPDATE slot SET lease_until_us = 1 WHERE run IN (77, 78)");
    hf_kit_ok(d, hf_test_advance(d, 1000));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run WHERE closed_us IS NULL"), 0);
    hf_kit_close(d);
}

static hf_value limit_of(hf_value state, const char *key)
{
    hf_value list = hf_get(state, "limits");

    for (size_t i = 0; i < hf_len(list); i++)
        if (strcmp(hf_str(hf_at(list, i), "key", ""), key) == 0)
            return hf_at(list, i);
    ck_abort_msg("%s is not among the limits", key);
    return NULL;
}

/* What steps stand before is told: what was declared, who has it until when, what is left, and how
   many wait at which queue. */
HF_BOTH_ENGINES(limits_are_shown)
{
    hf_engine *d = open_kit(kind);
    hf_mem *mem = hf_mem_of_engine(d);
    hf_value out = NULL;
    hf_value one;

    hf_kit_ok(d, hf_limits_state(d, mem, &out));
    ck_assert_uint_eq(hf_len(hf_get(out, "limits")), 3); /* those that are declared */
    one = limit_of(out, "tick");
    ck_assert_str_eq(hf_str(one, "kind", ""), "rate");
    ck_assert_int_eq(hf_int(one, "limit.burst", 0), 3);
    ck_assert_int_eq((int)hf_num(one, "tokens", 0), 3);
    hf_kit_ok(d, hf_start(d, "door", NULL, .id = "in"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_sql(d, "INSERT INTO slot (namespace, key, number, run, owner, lease_until_us) "
                  "SELECT i.namespace, 'pair:x', 0, i.current_run, 'somebody', 4000000000000000 "
                  "FROM instance i WHERE i.id = 'in'");
    hf_kit_sql(d, "INSERT INTO slot (namespace, key, number, run, owner, lease_until_us) "
                  "SELECT key, 'pair:x', 1, 78, 'somebody', 4000000000000000 FROM namespace");
    for (int i = 0; i < 3; i++)
        hf_kit_ok(
            d, hf_start(d, "note", NULL, .queue = i ? "near" : NULL, .concurrency_key = "pair:x"));
    for (int i = 0; i < 4; i++)
        hf_kit_ok(d, hf_start(d, "note", NULL, .rate_limit = "tick"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_test_advance(d, 500));
    hf_kit_ok(d, hf_limits_state(d, mem, &out));
    ck_assert(hf_bool(out, "exact", false));
    one = limit_of(out, "pair:x");
    ck_assert_str_eq(hf_str(one, "kind", ""), "concurrency");
    ck_assert_str_eq(hf_str(one, "limit.name", ""), "pair");
    ck_assert_int_eq(hf_int(one, "slots", 0), 2);
    ck_assert_uint_eq(hf_len(hf_get(one, "taken")), 2);
    ck_assert_str_eq(hf_str(one, "taken.0.workflow_id", ""), "in");
    ck_assert_str_eq(hf_str(one, "taken.0.owner", ""), "somebody");
    ck_assert_str_eq(hf_str(one, "taken.0.until", ""), "2096-10-02T07:06:40.000000Z");
    ck_assert_ptr_null(hf_str(one, "taken.1.run_id", NULL));
    ck_assert_int_eq(hf_int(one, "waiting", 0), 3);
    ck_assert_uint_eq(hf_len(hf_get(one, "queues")), 2);
    for (size_t i = 0; i < 2; i++) {
        bool near = strcmp(hf_str(hf_at(hf_get(one, "queues"), i), "name", ""), "near") == 0;

        ck_assert_int_eq(hf_int(hf_at(hf_get(one, "queues"), i), "waiting", 0), near ? 2 : 1);
        ck_assert_int_eq(hf_int(hf_at(hf_get(one, "queues"), i), "taken", -1), near ? 0 : 1);
    }
    one = limit_of(out, "tick");
    ck_assert_int_eq(hf_int(one, "waiting", 0), 1);
    ck_assert_int_eq((int)(hf_num(one, "tokens", 0) * 10 + 0.5), 5);
    ck_assert_str_ne(hf_str(one, "full_at", ""), "");
    hf_kit_sql(d, "UPDATE slot SET lease_until_us = 1");
    hf_kit_ok(d, hf_test_advance(d, 10000));
    hf_kit_ok(d, hf_limits_state(d, mem, &out));
    ck_assert_uint_eq(hf_len(hf_get(out, "limits")), 3);
    ck_assert_int_eq(hf_int(limit_of(out, "tick"), "waiting", -1), 0);
    hf_kit_close(d);
}

/* A burst is how much a bucket holds: so many begin at once, and then as many as are allowed. */
HF_EVERY_WAY(a_burst_is_what_a_bucket_holds)
{
    hf_engine *d = open_kit(kind);

    for (int i = 0; i < 6; i++) {
        char id[8];

        (void)snprintf(id, sizeof(id), "t%d", i);
        hf_kit_ok(d, hf_start(d, "note", NULL, .id = id, .rate_limit = "tick"));
    }
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(order, "t0 t1 t2");
    hf_kit_ok(d, hf_test_advance(d, 999));
    ck_assert_str_eq(order, "t0 t1 t2");
    hf_kit_ok(d, hf_test_advance(d, 2));
    ck_assert_str_eq(order, "t0 t1 t2 t3");
    hf_kit_ok(d, hf_test_advance(d, 2000));
    ck_assert_str_eq(order, "t0 t1 t2 t3 t4 t5");
    hf_kit_close(d);
}

/* A repetition is a beginning like any other: it takes tokens again. */
HF_EVERY_WAY(a_repetition_takes_tokens_again)
{
    hf_engine *d = open_kit(kind);

    hf_kit_ok(d, hf_start(d, "brief", hf_json(d, "{'fail': 2}"), .id = "r",
                          .rate_limit = "mail:r")); /* after 0, 10 and 30 ms, but for the limit */
    hf_kit_ok(d, hf_test_advance(d, 499));
    ck_assert_int_eq(hf_test_count(d, "r", "StepCompleted"), 2);
    hf_kit_ok(d, hf_test_advance(d, 2));
    ck_assert_str_eq(hf_test_status(d, "r"), "completed");
    hf_kit_close(d);
}

/* A step takes as many tokens as it weighs; one that weighs less does not pass it. */
HF_EVERY_WAY(weights_take_so_many_tokens)
{
    hf_engine *d = open_kit(kind);

    hf_kit_ok(d, hf_start(d, "note", NULL, .id = "a", .rate_limit = "mail:w"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_start(d, "note", NULL, .id = "b", .rate_limit = "mail:w", .weight = 2));
    hf_kit_ok(d, hf_start(d, "note", NULL, .id = "c", .rate_limit = "mail:w"));
    hf_kit_ok(d, hf_test_advance(d, 499)); /* there is one token, and almost another */
    ck_assert_str_eq(order, "a");
    hf_kit_ok(d, hf_test_advance(d, 2));
    ck_assert_str_eq(order, "a b");
    hf_kit_ok(d, hf_test_advance(d, 501));
    ck_assert_str_eq(order, "a b c");
    hf_kit_close(d);
}

/* A park gives the slot back; who is woken takes it again. */
HF_EVERY_WAY(sm64_a_park_gives_the_slot_back)
{
    hf_engine *d = open_kit(kind);

    hf_kit_ok(d, hf_start(d, "door", NULL, .id = "x"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "x"), "waiting signal:go");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM slot"), 0);
    hf_kit_ok(d, hf_start(d, "door", NULL, .id = "y"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "y"), "waiting signal:go");
    hf_kit_ok(d, hf_signal(d, "x", "go", NULL));
    hf_kit_ok(d, hf_signal(d, "y", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "x"), "completed");
    ck_assert_str_eq(hf_test_status(d, "y"), "completed");
    ck_assert_str_eq(order, "x y x y");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM slot"), 0);
    hf_kit_close(d);
}

/* Who is woken waits like anybody else while the slot is somebody's. */
HF_BOTH_ENGINES(sm64_who_is_woken_waits_for_the_slot)
{
    hf_engine *d = open_kit(kind);

    hf_kit_ok(d, hf_start(d, "door", NULL, .id = "x"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_sql(d, "INSERT INTO slot (namespace, key, number, run, owner, lease_until_us) "
                  "SELECT key, 'door', 0, 77, 'somebody', 4000000000000000 FROM namespace");
    hf_kit_ok(d, hf_signal(d, "x", "go", NULL));
    hf_kit_ok(d, hf_test_advance(d, 1000));
    ck_assert_str_eq(order, "x");
    hf_kit_sql(d, "UPDATE slot SET lease_until_us = 1");
    hf_kit_ok(d, hf_test_advance(d, 1000));
    ck_assert_str_eq(order, "x x");
    ck_assert_str_eq(hf_test_status(d, "x"), "completed");
    hf_kit_close(d);
}

/* A key is kept from step to step without being named again, until it is given up. */
HF_BOTH_ENGINES(a_key_is_kept_until_it_is_given_up)
{
    hf_engine *d = open_kit(kind);

    world = d;
    hf_kit_ok(d, hf_start(d, "keeper", NULL, .id = "k"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "k"), "completed");
    ck_assert_int_eq(held[0], 0);
    ck_assert_int_eq(held[1], 1);
    ck_assert_int_eq(held[2], 1);
    ck_assert_int_eq(held[3], 0);
    hf_kit_close(d);
}

/* Everything but steps: those stay in front of the pool. */
static void pump_without_steps(hf_engine *d)
{
    while (hf_writer_step(d->writer) || hf_core_step(d->core))
        ;
}

/* A slot is held for ten seconds at a time, and renewed for as long as its step takes. */
HF_BOTH_ENGINES(slots_are_renewed)
{
    hf_engine *d = open_kit(kind);

    hf_kit_ok(d, hf_start(d, "note", NULL, .id = "a", .concurrency_key = "one"));
    pump_without_steps(d);
    ck_assert_int_eq(hf_kit_number(d, "SELECT lease_until_us FROM slot"),
                     hf_clock_wall_us(d->clock) + 10000000);
    for (int i = 0; i < 10; i++) {
        hf_kit_skip(d, 3000);
        pump_without_steps(d);
        ck_assert_int_eq(hf_kit_number(d, "SELECT lease_until_us FROM slot"),
                         hf_clock_wall_us(d->clock) + 10000000);
    }
    ck_assert_str_eq(order, "");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(order, "a");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM slot"), 0);
    hf_kit_close(d);
}

/* Processes that share a PostgreSQL store share the slot of a key: who comes second waits for it
   and asks again by itself, and when the first one is gone its lease is waited for. */
HF_BOTH_ENGINES(sm62_a_slot_is_one_for_all_processes)
{
    hf_engine *d = open_kit(kind);
    hf_engine *other = kind == HF_ENGINE_POSTGRES ? hf_kit_join(d, &app) : d;

    for (int dies = 0; dies < 2; dies++) {
        order[0] = '\0';
        hf_kit_ok(d, hf_start(d, "note", NULL, .id = dies ? "c" : "a", .concurrency_key = "one"));
        pump_without_steps(d);
        hf_kit_ok(other,
                  hf_start(other, "note", NULL, .id = dies ? "d" : "b", .concurrency_key = "one"));
        pump_without_steps(other);
        if (dies)
            hf_test_crash(d);
        for (int i = 0; i < 5; i++) {
            hf_kit_skip(other, 1000);
            pump_without_steps(other);
            ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM slot"), 1);
            if (other != d) /* on SQLite what a dead process held is free at once */
                ck_assert(!hf_core_run_activity(other->core));
        }
        ck_assert_str_eq(order, "");
        if (!dies) {
            hf_kit_ok(d, hf_test_drain(d));
            ck_assert_str_eq(order, other == d ? "a b" : "a");
        }
        hf_kit_ok(other, hf_test_advance(other, dies ? 11000 : 1000));
        ck_assert_ptr_nonnull(strstr(order, dies ? "d" : "b"));
        hf_kit_skip(d, dies ? 16000 : 6000); /* the clocks of two agree again */
        hf_kit_ok(d, hf_test_drain(d));
        ck_assert_uint_eq(strlen(order), 3);
    }
    if (other != d)
        hf_kit_leave(other);
    hf_kit_close(d);
}

/* A slot of a process that is gone ends with its lease, and the key goes on. */
HF_BOTH_ENGINES(slots_have_leases)
{
    hf_engine *d = open_kit(kind);

    hf_kit_sql(d, "INSERT INTO slot (namespace, key, number, run, owner, lease_until_us) "
                  "SELECT key, 'one', 0, 77, 'somebody', 4000000000000000 FROM namespace");
    hf_kit_ok(d, hf_start(d, "note", NULL, .id = "a", .concurrency_key = "one"));
    hf_kit_ok(d, hf_test_advance(d, 1000));
    ck_assert_str_eq(order, "");
    hf_kit_sql(d, "UPDATE slot SET lease_until_us = 1");
    hf_kit_ok(d, hf_test_advance(d, 1000));
    ck_assert_str_eq(order, "a");
    hf_kit_close(d);
}

/* The same key and the same bucket of another namespace are others: who waits in one delays nobody
   in the other. */
HF_BOTH_ENGINES(namespaces_have_keys_of_their_own)
{
    static const char *const spaces[] = {"default", "shop"};
    hf_engine *d = open_kit(kind);

    hf_kit_sql(d, "INSERT INTO slot (namespace, key, number, run, owner, lease_until_us) "
                  "SELECT key, 'one', 0, 77, 'somebody', 4000000000000000 FROM namespace");
    hf_kit_ok(d, hf_namespace_create(d, "shop",
                                     &(hf_namespace_opts){.size_ = sizeof(hf_namespace_opts)}));
    for (size_t i = 0; i < 2; i++) {
        char id[16];

        hf_kit_ok(d, hf_namespace_use(d, spaces[i]));
        (void)snprintf(id, sizeof(id), "%c-slot", spaces[i][0]);
        hf_kit_ok(d, hf_start(d, "note", NULL, .id = id, .concurrency_key = "one"));
        hf_kit_ok(d, hf_test_drain(d));
        for (int n = 0; n < 3; n++) {
            (void)snprintf(id, sizeof(id), "%c-%d", spaces[i][0], n);
            hf_kit_ok(d, hf_start(d, "note", NULL, .id = id, .rate_limit = "mail:a"));
            hf_kit_ok(d, hf_test_drain(d));
        }
    }
    ck_assert_str_eq(order, "d-0 d-1 s-slot s-0 s-1");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM bucket"), 2);
    hf_kit_sql(d, "UPDATE slot SET lease_until_us = 1");
    hf_kit_ok(d, hf_test_advance(d, 5000));
    ck_assert_ptr_nonnull(strstr(order, "d-slot"));
    ck_assert_ptr_nonnull(strstr(order, "d-2"));
    ck_assert_ptr_nonnull(strstr(order, "s-2"));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM slot"), 0);
    hf_kit_close(d);
}

static int began;
static int urgent_began;

static hf_outcome counted(hf_step *s)
{
    began++;
    if (hf_int(hf_step_state(s), "urgent", 0))
        urgent_began = began;
    return hf_done(s, hf_step_state(s));
}

/* More runs than memory holds want a turn: the rest waits as keys, an urgent one that comes last
   still goes before all of them, and a crash loses nobody. */
HF_BOTH_ENGINES(sm61_more_runs_than_the_window)
{
    enum { MANY = HF_BACKLOG_WINDOW + 904 };
    static hf_start_opts items[MANY];
    static hf_status answers[MANY];
    static const hf_machine_def many[] = {{"counted", .job = counted}, {0}};
    static const hf_app many_app = {.name = "many", .machines = many};
    hf_engine *d = hf_kit_open(kind, &many_app);
    hf_value in = hf_json(d, "{}");

    began = urgent_began = 0;
    for (int i = 0; i < MANY; i++)
        items[i] = (hf_start_opts){.size_ = sizeof(hf_start_opts), .in = in};
    ck_assert_int_eq(hf_start_all(d, "counted", items, MANY, answers), HF_OK);
    hf_kit_turn(d);
    ck_assert_uint_ge(hf_deadlines_count(d->core->backlog), 300);
    ck_assert_uint_le(hf_map_int_count(d->core->runs), HF_BACKLOG_WINDOW + 600);
    ck_assert_int_eq(hf_start(d, "counted", hf_json(d, "{'urgent': 1}"), .priority = 1), HF_OK);
    while (!urgent_began) {
        hf_kit_turn(d);
        ck_assert(hf_core_run_activity(d->core));
    }
    ck_assert_int_le(urgent_began, 600); /* those that had their place in the pool already */
    hf_test_crash(d);
    hf_kit_turn(d);
    ck_assert_uint_le(hf_map_int_count(d->core->runs), HF_BACKLOG_WINDOW + 600);
    ck_assert_int_eq(hf_test_drain(d), HF_OK);
    ck_assert_uint_eq(hf_deadlines_count(d->core->backlog), 0);
    ck_assert_int_ge(began, MANY + 1);
    hf_kit_close(d);
}

/* Names that nobody declared are refused, where they are given: nothing waits for ever. */
HF_EVERY_WAY(unknown_limits_are_refused)
{
    hf_engine *d = open_kit(kind);
    const hf_error *e = NULL;

    ck_assert_int_eq(hf_start(d, "note", NULL, .rate_limit = "male"), HF_INVALID);
    ck_assert_int_eq(hf_start(d, "note", NULL, .rate_limit = "pair"), HF_INVALID);
    ck_assert_int_eq(hf_start(d, "note", NULL, .rate_limit = "mail", .weight = 3), HF_INVALID);
    ck_assert_int_eq(hf_start(d, "note", NULL, .concurrency_key = "pear:x"), HF_INVALID);
    hf_kit_ok(d, hf_start(d, "lost", hf_json(d, "{'rate': 'male'}"), .id = "r"));
    hf_kit_ok(d, hf_start(d, "lost", hf_json(d, "{'key': 'pear:x'}"), .id = "k"));
    hf_kit_ok(d, hf_start(d, "lost", hf_json(d, "{'rate': 'mail', 'weight': 3}"), .id = "w"));
    hf_kit_ok(d, hf_test_drain(d));
    for (const char *const *id = (const char *const[]){"r", "k", "w", NULL}; *id; id++) {
        ck_assert_int_eq(hf_result(d, *id, 0, NULL, &e), HF_ERROR);
        ck_assert_str_eq(e->type, "unknown_limit");
    }
    hf_kit_close(d);
}

/* How many steps have run. */
static int ran(void)
{
    int count = order[0] != '\0';

    for (const char *at = order; *at; at++)
        count += *at == ' ';
    return count;
}

/* What was declared counts after a crash, for what waited before it and for what comes then. */
HF_EVERY_WAY(declared_limits_outlive_a_crash)
{
    hf_engine *d = open_kit(kind);

    for (int i = 0; i < 3; i++)
        hf_kit_ok(d, hf_start(d, "note", NULL, .rate_limit = "mail:a"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(ran(), 2);
    hf_test_crash(d);
    ck_assert_int_eq(hf_start(d, "note", NULL, .rate_limit = "male"), HF_INVALID);
    ck_assert_int_eq(hf_start(d, "note", NULL, .rate_limit = "mail", .weight = 3), HF_INVALID);
    hf_kit_ok(d, hf_test_advance(d, 400));
    ck_assert_int_eq(ran(), 2);
    hf_kit_ok(d, hf_test_advance(d, 200));
    ck_assert_int_eq(ran(), 3);
    hf_kit_close(d);
}

/* Definitions that cannot be are refused when the engine opens. */
START_TEST(bad_definitions_are_refused)
{
    static const struct {
        hf_machine_def machine;
        hf_limit_def limit;
        const char *text;
    } rows[] = {
        {{"m", .initial = "a", .job = flaky}, {0}, "it is a job and has steps"},
        {{"m", .job = flaky, .max_attempts = -2}, {0}, "max_attempts"},
        {{"m", .job = flaky}, {.name = "l"}, "either at_once or allowed"},
        {{"m", .job = flaky}, {"l", .at_once = 1, .allowed = 1}, "either at_once or allowed"},
        {{"m", .job = flaky}, {"l", .allowed = 1}, "a positive time"},
        {{"m", .steps = lost_steps}, {0}, "the initial step"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const hf_machine_def defs[] = {rows[i].machine, {0}};
        const hf_limit_def bounds[] = {rows[i].limit, {0}};
        const hf_app bad = {.name = "bad", .machines = defs, .limits = bounds};
        hf_engine *d = hf_test_open(&bad);

        ck_assert_int_eq(hf_test_drain(d), HF_INVALID);
        ck_assert_msg(strstr(hf_errmsg(d), rows[i].text) != NULL, "%s", hf_errmsg(d));
        hf_close(d);
    }
}
END_TEST

HF_PG_SUITE_MAIN(
    "machine/limit", HF_WAYS(a_job_is_tried_again), HF_BOTH(a_drain_skips_the_pauses_of_jobs),
    HF_BOTH(sm61_priorities_and_delays), HF_BOTH_SLOW(sm62_never_more_than_slots, 120),
    HF_BOTH_SLOW(sm62_keys_and_slots_overlap, 200), HF_BOTH(sm62_a_slot_is_one_for_all_processes),
    HF_WAYS(a_repetition_takes_tokens_again), HF_BOTH(slots_are_renewed),
    HF_BOTH(sm64_who_is_woken_waits_for_the_slot), HF_BOTH(a_key_is_kept_until_it_is_given_up),
    HF_WAYS(sm63_a_full_key_delays_no_other), HF_BOTH_SLOW(sm63_a_held_key_delays_no_other, 300),
    HF_BOTH(limits_are_shown), HF_WAYS(a_burst_is_what_a_bucket_holds),
    HF_WAYS(weights_take_so_many_tokens), HF_BOTH(a_job_of_another_queue),
    HF_WAYS(sm64_a_park_gives_the_slot_back), HF_BOTH(slots_have_leases),
    HF_BOTH(namespaces_have_keys_of_their_own), HF_BOTH_SLOW(sm61_more_runs_than_the_window, 600),
    HF_WAYS(unknown_limits_are_refused), HF_WAYS(declared_limits_outlive_a_crash),
    {bad_definitions_are_refused, 0})
