/* test_sched.c: the scheduler of the simulation, on threads, locks and conditions of base/. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/thread.h"
#include "lib/simsched.h"
#include "lib/suite.h"

enum { HANDS = 4, ROUNDS = 20, STUCK = 7 };

typedef struct counter {
    hf_simsched *sim;
    hf_mutex lock;
    hf_cond moved;
    int inside;
    int most_inside;
    int count;
    int order[HANDS * ROUNDS];
    int waiting;
    int told; /* what those that wait look for */
    int passed[HANDS];
    int64_t when_us[HANDS];
    bool careless;
} counter;

typedef struct hand {
    counter *in;
    int number;
    hf_thread thread;
} hand;

static void counter_begin(counter *in, hf_simsched_options options)
{
    hf_err err;

    *in = (counter){.sim = hf_simsched_begin(&options)};
    ck_assert_int_eq(hf_mutex_init(&in->lock, &err), HF_OK);
    ck_assert_int_eq(hf_cond_init(&in->moved, &err), HF_OK);
}

static void counter_end(counter *in)
{
    hf_cond_fini(&in->moved);
    hf_mutex_fini(&in->lock);
    hf_simsched_end(in->sim);
}

static void hands_start(hand hands[HANDS], counter *in, hf_thread_fn *run)
{
    hf_err err;

    for (int i = 0; i < HANDS; i++) {
        hands[i] = (hand){.in = in, .number = i};
        ck_assert_int_eq(hf_thread_start(&hands[i].thread, "hand", run, &hands[i], &err), HF_OK);
    }
}

static void hands_join(hand hands[HANDS])
{
    for (int i = 0; i < HANDS; i++)
        hf_thread_join(&hands[i].thread);
}

static void count_run(void *ctx)
{
    const hand *self = ctx;
    counter *in = self->in;

    for (int i = 0; i < ROUNDS; i++) {
        hf_mutex_lock(&in->lock);
        if (++in->inside > in->most_inside)
            in->most_inside = in->inside;
        hf_thread_yield(); /* others try to come in */
        in->order[in->count++] = self->number;
        in->inside--;
        hf_mutex_unlock(&in->lock);
    }
}

static uint64_t count_with(uint64_t seed, int order[HANDS * ROUNDS])
{
    hand hands[HANDS];
    counter in;
    uint64_t trace;

    counter_begin(&in, (hf_simsched_options){.seed = seed, .slow_one_in = 3});
    hands_start(hands, &in, count_run);
    hands_join(hands);
    ck_assert_int_eq(in.count, HANDS * ROUNDS);
    ck_assert_int_eq(in.most_inside, 1);
    memcpy(order, in.order, sizeof(in.order));
    trace = hf_simsched_trace(in.sim);
    counter_end(&in);
    return trace;
}

/* A lock keeps others out whoever is scheduled; one seed gives one order, seeds give many. */
START_TEST(a_seed_is_an_order)
{
    int orders[2][HANDS * ROUNDS];
    int others[HANDS * ROUNDS];
    int different = 0;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        ck_assert(count_with(seed, orders[0]) == count_with(seed, orders[1]));
        ck_assert_mem_eq(orders[0], orders[1], sizeof(orders[0]));
        ck_assert(count_with(seed, orders[0]) != count_with(seed + 100, others));
        different += memcmp(orders[0], others, sizeof(others)) != 0;
    }
    ck_assert_int_eq(different, 20);
}
END_TEST

static void timer_run(void *ctx)
{
    hand *self = ctx;
    counter *in = self->in;
    int64_t until_us = (int64_t)(self->number + 1) * 3600 * 1000000;

    hf_mutex_lock(&in->lock);
    while (hf_cond_wait_until(&in->moved, &in->lock, until_us) == HF_OK)
        ;
    in->when_us[self->number] = hf_clock_mono_us(hf_clock_system());
    hf_mutex_unlock(&in->lock);
}

/* Hours pass at once when nobody has anything to do; wall time and monotonic time go together. */
START_TEST(time_jumps_to_what_is_awaited)
{
    hand hands[HANDS];
    counter in;
    int64_t wall_us;

    counter_begin(&in, (hf_simsched_options){.seed = 5, .spurious_one_in = 20});
    wall_us = hf_clock_wall_us(hf_clock_system());
    hands_start(hands, &in, timer_run);
    hands_join(hands);
    for (int i = 0; i < HANDS; i++) {
        int64_t due_us = (int64_t)(i + 1) * 3600 * 1000000;

        ck_assert_int_ge(in.when_us[i], due_us);
        ck_assert_int_lt(in.when_us[i], due_us + 1000);
    }
    ck_assert_int_ge(hf_clock_wall_us(hf_clock_system()) - wall_us, INT64_C(4) * 3600 * 1000000);
    counter_end(&in);
}
END_TEST

static void waiter_run(void *ctx)
{
    hand *self = ctx;
    counter *in = self->in;

    hf_mutex_lock(&in->lock);
    in->waiting++;
    while (!in->told)
        hf_cond_wait(&in->moved, &in->lock);
    in->told--;
    in->passed[self->number] = 1;
    hf_mutex_unlock(&in->lock);
}

/* A signal wakes one of those that wait, and over the seeds each of them. */
START_TEST(a_signal_wakes_whom_the_seed_wants)
{
    int first[HANDS] = {0};

    for (uint64_t seed = 1; seed <= 40; seed++) {
        hand hands[HANDS];
        counter in;
        int passed = 0;

        counter_begin(&in, (hf_simsched_options){.seed = seed});
        hands_start(hands, &in, waiter_run);
        hf_simsched_sleep(in.sim, 1000000);
        ck_assert_int_eq(in.waiting, HANDS);
        hf_mutex_lock(&in.lock);
        in.told = 1;
        hf_cond_signal(&in.moved);
        hf_mutex_unlock(&in.lock);
        hf_simsched_sleep(in.sim, 1000000);
        for (int i = 0; i < HANDS; i++) {
            passed += in.passed[i];
            first[i] += in.passed[i];
        }
        ck_assert_int_eq(passed, 1);
        hf_mutex_lock(&in.lock);
        in.told = HANDS - 1;
        hf_cond_broadcast(&in.moved);
        hf_mutex_unlock(&in.lock);
        hands_join(hands);
        counter_end(&in);
    }
    for (int i = 0; i < HANDS; i++)
        ck_assert_int_gt(first[i], 0);
}
END_TEST

/* Looks without the lock, then waits: what is said in between is lost. */
static void careless_run(void *ctx)
{
    const hand *self = ctx;
    counter *in = self->in;
    bool told;

    hf_mutex_lock(&in->lock);
    told = in->told;
    if (in->careless) {
        hf_mutex_unlock(&in->lock);
        hf_mutex_lock(&in->lock);
    }
    while (!told) {
        hf_cond_wait(&in->moved, &in->lock);
        told = in->told;
    }
    hf_mutex_unlock(&in->lock);
}

static void stuck_leave(void *ctx, hf_simsched *sim, const char *why)
{
    (void)ctx;
    (void)sim;
    (void)why;
    _exit(STUCK);
}

/* How many of the seeds hang. */
static int hanging(bool careless, uint64_t seeds)
{
    int hang = 0;

    for (uint64_t seed = 1; seed <= seeds; seed++) {
        pid_t child = fork();
        int status = 0;

        ck_assert_int_ge(child, 0);
        if (child == 0) {
            hand one = {0};
            counter in;
            hf_err err;

            counter_begin(&in, (hf_simsched_options){.seed = seed, .stuck = stuck_leave});
            in.careless = careless;
            one.in = &in;
            if (hf_thread_start(&one.thread, "hand", careless_run, &one, &err))
                _exit(1);
            hf_mutex_lock(&in.lock);
            in.told = 1;
            hf_cond_signal(&in.moved);
            hf_mutex_unlock(&in.lock);
            hf_thread_join(&one.thread);
            _exit(0);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFEXITED(status));
        ck_assert(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == STUCK);
        hang += WEXITSTATUS(status) == STUCK;
    }
    return hang;
}

/* A wake-up that can get lost gets lost with some seed, and that is noticed at once; one that can
   not never is. */
START_TEST(a_lost_wake_up_is_found)
{
    ck_assert_int_gt(hanging(true, 100), 0);
    ck_assert_int_eq(hanging(false, 100), 0);
}
END_TEST

static void spin_run(void *ctx)
{
    const hand *self = ctx;

    for (;;) {
        hf_mutex_lock(&self->in->lock);
        self->in->count++;
        hf_simsched_sleep(self->in->sim, 10);
        hf_mutex_unlock(&self->in->lock);
    }
}

/* Threads of a group that is killed stop where they are, with what they hold; the others go on. */
START_TEST(a_killed_group_stops_where_it_is)
{
    hand hands[HANDS];
    hand waiter = {0};
    hf_err err;
    counter in;
    counter own;
    int before;

    counter_begin(&in, (hf_simsched_options){.seed = 9});
    own = (counter){.sim = in.sim};
    ck_assert_int_eq(hf_mutex_init(&own.lock, &err), HF_OK);
    ck_assert_int_eq(hf_cond_init(&own.moved, &err), HF_OK);
    hf_simsched_group(in.sim, 1);
    hands_start(hands, &in, spin_run);
    hf_simsched_group(in.sim, 0);
    waiter.in = &own;
    ck_assert_int_eq(hf_thread_start(&waiter.thread, "hand", waiter_run, &waiter, &err), HF_OK);
    hf_simsched_sleep(in.sim, 1000);
    hf_simsched_kill(in.sim, 1);
    before = in.count;
    ck_assert_int_gt(before, 10);
    ck_assert_int_ne(pthread_mutex_trylock(&in.lock.handle), 0);
    hf_simsched_sleep(in.sim, 1000);
    ck_assert_int_eq(in.count, before);
    hf_mutex_lock(&own.lock);
    own.told = 1;
    hf_cond_signal(&own.moved);
    hf_mutex_unlock(&own.lock);
    hf_thread_join(&waiter.thread);
    hf_simsched_end(in.sim);
}
END_TEST

static void wakes_run(void *ctx)
{
    hand *self = ctx;
    counter *in = self->in;

    hf_mutex_lock(&in->lock);
    while (!in->told) {
        hf_cond_wait(&in->moved, &in->lock);
        in->count++;
    }
    hf_mutex_unlock(&in->lock);
}

/* Sleepers wake for no reason as long as the world is not calm. */
START_TEST(sleepers_wake_for_no_reason)
{
    hand hands[HANDS];
    counter in;
    int before;

    counter_begin(&in, (hf_simsched_options){.seed = 3, .spurious_one_in = 4});
    hands_start(hands, &in, wakes_run);
    for (int i = 0; i < 200; i++)
        hf_simsched_step(in.sim);
    ck_assert_int_gt(in.count, 0);
    hf_simsched_calm(in.sim);
    hf_simsched_sleep(in.sim, 1000000);
    before = in.count;
    for (int i = 0; i < 200; i++)
        hf_simsched_step(in.sim);
    ck_assert_int_eq(in.count, before);
    hf_mutex_lock(&in.lock);
    in.told = 1;
    hf_cond_broadcast(&in.moved);
    hf_mutex_unlock(&in.lock);
    hands_join(hands);
    counter_end(&in);
}
END_TEST

/* What the system gives of randomness comes from the seed as well. */
START_TEST(randomness_is_the_seeds)
{
    uint64_t drawn[3];

    for (int i = 0; i < 3; i++) {
        hf_simsched_options options = {.seed = i < 2 ? 11 : 12};
        hf_simsched *sim = hf_simsched_begin(&options);
        hf_rng rng;
        hf_err err;

        ck_assert_int_eq(hf_rng_init_system(&rng, &err), HF_OK);
        drawn[i] = hf_rng_next(&rng);
        hf_simsched_end(sim);
    }
    ck_assert(drawn[0] == drawn[1]);
    ck_assert(drawn[0] != drawn[2]);
}
END_TEST

HF_SUITE_MAIN("sim/sched", {a_seed_is_an_order, 0}, {time_jumps_to_what_is_awaited, 0},
              {a_signal_wakes_whom_the_seed_wants, 0}, {a_lost_wake_up_is_found, 0},
              {a_killed_group_stops_where_it_is, 0}, {sleepers_wake_for_no_reason, 0},
              {randomness_is_the_seeds, 0})
