/* Deliveries against parks, timeouts, repetitions and ends: in every order, and many at once. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/thread.h"
#include "engine/engine_impl.h"
#include "holdfast/holdfast.h"
#include "lib/campaign.h"
#include "lib/kit.h"
#include "lib/script.h"

enum {
    ROUNDS = 100,
    MACHINES = 100,
    SENDERS = 8,
    STARTS = 500,
    WIDE = 256,
    STEPS = 8,
    DEADLINES = 10000,
    DEADLINES_LONG = 100000
};

/* Waits for one signal after the other, using each up. */
static hf_outcome wait_one(hf_step *s)
{
    int64_t left = hf_int(hf_step_state(s), "left", 0);
    int64_t got = hf_int(hf_step_state(s), "got", 0) + (int64_t)hf_len(hf_step_awaited(s));

    if (got >= left)
        return hf_done(s, hf_json(s, "%lld", (long long)got));
    if (hf_len(hf_step_awaited(s))) /* use up, then wait again */
        return hf_next(s, "wait",
                       hf_json(s, "{'left': %lld, 'got': %lld}", (long long)left, (long long)got));
    return hf_park(s, "go", HF_NO_TIMEOUT, "wait", hf_step_state(s));
}

static hf_outcome nap(hf_step *s)
{
    return hf_park(s, "go", hf_int(hf_step_state(s), "ms", 1000), "up", hf_step_state(s));
}

static hf_outcome up(hf_step *s)
{
    return hf_done(s, hf_json(s, "%d", hf_step_timed_out(s)));
}

static const hf_signal_def signals[] = {{"go", NULL}, {0}};
static const hf_step_def wait_steps[] = {{"wait", wait_one}, {0}};
static const hf_step_def nap_steps[] = {{"nap", nap}, {"up", up}, {0}};
static hf_machine_def machines[] = {
    {"wait", .initial = "wait", .steps = wait_steps, .signals = signals},
    {"nap", .initial = "nap", .steps = nap_steps, .signals = signals},
    {0},
    {0},
};
static hf_app app = {.name = "race", .machines = machines};

/* ---- many at once */

typedef struct sender {
    hf_engine *engine;
    int number;
    hf_thread thread;
} sender;

/* Goes from machine to machine and stays a while with each: the signal that follows another one at
   once, or after a moment of chance, comes while the machine uses that one up and parks again. */
static void sender_run(void *arg)
{
    sender *self = arg;
    hf_rng rng;

    hf_rng_init_seeded(&rng, (uint64_t)self->number + 7);
    for (int at = 0; at < MACHINES; at++) {
        char id[16];

        (void)snprintf(id, sizeof(id), "m%d", (at + self->number * MACHINES / SENDERS) % MACHINES);
        for (int round = self->number; round < ROUNDS; round += SENDERS) {
            for (uint64_t spin = hf_rng_below(&rng, 2000); spin > 0; spin--)
                (void)hf_clock_mono_us(hf_clock_system());
            ck_assert_int_eq(hf_signal(self->engine, id, "go", NULL), HF_OK);
        }
    }
}

/* Ten thousand deliveries race the parks of a hundred machines; none is lost, none used twice. */
HF_BOTH_ENGINES(sm04_ten_thousand_races)
{
    static sender senders[SENDERS];
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = NULL;
    hf_err err;

    ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &d), HF_OK);
    for (int i = 0; i < MACHINES; i++) {
        char id[16];

        (void)snprintf(id, sizeof(id), "m%d", i);
        hf_kit_ok(d, hf_start(d, "wait", hf_json(d, "{'left': %d}", ROUNDS), .id = id));
    }
    for (int i = 0; i < SENDERS; i++) {
        senders[i] = (sender){.engine = d, .number = i};
        ck_assert_int_eq(
            hf_thread_start(&senders[i].thread, "sender", sender_run, &senders[i], &err), HF_OK);
    }
    for (int i = 0; i < SENDERS; i++)
        hf_thread_join(&senders[i].thread);
    for (int i = 0; i < MACHINES; i++) {
        char id[16];
        hf_value out = NULL;

        (void)snprintf(id, sizeof(id), "m%d", i);
        hf_kit_ok(d, hf_result(d, id, hf_minutes(2), &out, NULL));
        ck_assert_int_eq(hf_int(out, "", 0), ROUNDS);
    }
    hf_close(d);
    hf_test_place_free(place);
}

/* ---- every order */

typedef enum move { DELIVER, PARK, TIMEOUT, RETRY, TERMINATE, MOVES } move;

static void move_make(hf_engine *d, const char *id, move what, bool *closed, int *accepted)
{
    hf_status st;

    switch (what) {
    case DELIVER:
        st = hf_signal(d, id, "a", NULL);
        ck_assert_int_eq(st, *closed ? HF_REJECTED : HF_OK);
        *accepted += st == HF_OK;
        break;
    case PARK: /* one turn and one commit, then everything that can be done */
        hf_kit_turn(d);
        hf_kit_ok(d, hf_test_drain(d));
        break;
    case TIMEOUT:
        hf_kit_ok(d, hf_test_advance(d, 1000));
        break;
    case RETRY:
        hf_test_crash(d);
        hf_kit_ok(d, hf_test_advance(d, 100));
        break;
    case TERMINATE:
        st = hf_terminate(d, id, "enough");
        ck_assert(st == HF_OK || st == HF_REJECTED);
        *closed = true;
        break;
    case MOVES:
        break;
    }
    if (strcmp(hf_test_status(d, id), "completed") == 0)
        *closed = true;
}

/* Deliver, park, timeout, repeat and terminate in all 120 orders: what was accepted is in history,
   what came behind the end is refused, and an open machine knows what wakes it (verify looks at
   the store). */
HF_BOTH_ENGINES(every_order_of_five_moves)
{
    static const char *const plan =
        "{\"plan\": [{\"do\":\"park\",\"names\":[\"a\"],\"ms\":500},"
        "{\"do\":\"again\",\"ms\":50},{\"do\":\"park\",\"names\":[\"a\"]},"
        "{\"do\":\"done\"}]}";

    hf_engine *d;

    machines[2] = hf_script_machines[0];
    d = hf_kit_open(kind, &app);
    hf_script_engine = d;
    for (int code = 0; code < 3125; code++) {
        int digits[MOVES] = {code % 5, code / 5 % 5, code / 25 % 5, code / 125 % 5, code / 625};
        int seen = 0;
        int accepted = 0;
        bool closed = false;
        char id[16];

        for (int i = 0; i < MOVES; i++)
            seen |= 1 << digits[i];
        if (seen != 31)
            continue;
        (void)snprintf(id, sizeof(id), "i%d", code);
        hf_kit_ok(
            d, hf_start(d, "script", hf_parse_(hf_mem_of_engine(d), plan, strlen(plan)), .id = id));
        for (int i = 0; i < MOVES; i++)
            move_make(d, id, (move)digits[i], &closed, &accepted);
        ck_assert_int_eq(hf_test_count(d, id, "SignalReceived"), accepted);
    }
    hf_kit_close(d);
}

/* ---- every moment */

static bool campaign_is_long(void)
{
    return hf_campaign_stride(0, 0) == 1;
}

enum { MOMENTS = 10, ALL_MOMENTS = MOMENTS * MOMENTS * MOMENTS * MOMENTS };

/* The next of the things that an engine does by turns: a turn of the core, a batch of commits, a
   step of a machine. */
static void thing_do(hf_engine *d, int nth)
{
    if (nth % 3 == 0)
        (void)hf_core_step(d->core);
    else if (nth % 3 == 1)
        (void)hf_writer_step(d->writer);
    else
        (void)hf_core_run_activity(d->core);
}

/* From outside, between two of them. */
static void outside_do(hf_engine *d, const char *id, move what, bool *ended, int *accepted)
{
    hf_status st;

    switch (what) {
    case DELIVER:
        st = hf_signal(d, id, "a", NULL);
        ck_assert(st == HF_OK || (st == HF_REJECTED && *ended));
        *accepted += st == HF_OK;
        break;
    case TIMEOUT: /* it is over, and nobody has looked yet */
        hf_kit_skip(d, 600);
        break;
    case RETRY: /* what was only in memory is gone, a step that ran begins again */
        hf_test_crash(d);
        break;
    case TERMINATE:
        st = hf_terminate(d, id, "enough");
        ck_assert(st == HF_OK || st == HF_REJECTED);
        *ended = true;
        break;
    case PARK:
    case MOVES:
        break;
    }
}

/* How many signals the last step saw, by what it wrote down: "aw=" those it was handed, "all=" the
   whole inbox. */
static int last_seen(const char *log, const char *which)
{
    const char *at = log;
    int count = 0;

    for (const char *next = log; (next = strstr(next, which)) != NULL; next++)
        at = next;
    for (at += strlen(which); *at && *at != ' '; at++)
        count += *at == 'a';
    return count;
}

/* A machine that sleeps does so over nothing that the parking step was not handed. */
static void park_check(hf_engine *d, const char *id, int accepted)
{
    int steps = hf_test_count(d, id, "StepCompleted");

    if (strcmp(hf_test_status(d, id), "waiting signal:a") == 0)
        ck_assert_int_eq(
            last_seen(hf_kit_said(d, id, "StepCompleted", steps - 1, HF_KEY_STATE), "aw="),
            accepted);
}

static void moment_play(hf_engine *d, const char *id, const int when[4])
{
    static const move moves[] = {DELIVER, TIMEOUT, RETRY, TERMINATE};
    int accepted = 0;
    bool ended = false;

    for (int at = 0; at < MOMENTS; at++) {
        for (int i = 0; i < 4; i++)
            if (when[i] == at)
                outside_do(d, id, moves[i], &ended, &accepted);
        if (at < MOMENTS - 1)
            thing_do(d, at);
    }
    hf_kit_ok(d, hf_test_drain(d));
    park_check(d, id, accepted);
    hf_kit_ok(d, hf_test_advance(d, 1000));
    park_check(d, id, accepted);
    ck_assert_int_eq(hf_test_count(d, id, "SignalReceived"), accepted);
    if (ended) {
        ck_assert_str_eq(hf_test_status(d, id), "terminated");
        ck_assert_int_eq(hf_signal(d, id, "a", NULL), HF_REJECTED);
        return;
    }
    if (strcmp(hf_test_status(d, id), "completed") != 0) {
        hf_kit_ok(d, hf_signal(d, id, "a", NULL)); /* one that nobody was handed: it wakes */
        accepted++;
        hf_kit_ok(d, hf_test_drain(d));
    }
    ck_assert_int_eq(last_seen(hf_kit_result(d, id), "all="), accepted);
}

/* A machine that parks, is woken, repeats itself and parks again, while a signal, the timeout, a
   crash and its termination come at every moment of it, before and after each turn, each commit and
   each step, in all 10,000 ways: whatever was accepted is on the record and is seen, no park sleeps
   over a signal, and what comes behind the end is refused. A termination at the last moment is left
   out, so that others come to their own end. On PostgreSQL the long campaign takes a fifth. */
HF_BOTH_ENGINES(every_moment_of_a_park)
{
    static const char *const plan =
        "{\"plan\": [{\"do\":\"park\",\"names\":[\"a\"],\"ms\":500},"
        "{\"do\":\"again\",\"ms\":0},{\"do\":\"park\",\"names\":[\"a\"]},"
        "{\"do\":\"done\"}]}";
    int stride = campaign_is_long() && kind == HF_ENGINE_POSTGRES ? 5 : hf_campaign_stride(139, 53);
    hf_engine *d;

    machines[2] = hf_script_machines[0];
    d = hf_kit_open(kind, &app);
    hf_script_engine = d;
    for (int code = 0; code < ALL_MOMENTS; code += stride) {
        int end = code % MOMENTS;
        const int when[4] = {code / MOMENTS % MOMENTS, code / MOMENTS / MOMENTS % MOMENTS,
                             code / MOMENTS / MOMENTS / MOMENTS, end == MOMENTS - 1 ? -1 : end};
        char id[16];

        hf_mem_reset(hf_mem_of_engine(d));
        (void)snprintf(id, sizeof(id), "e%d", code);
        hf_kit_ok(
            d, hf_start(d, "script", hf_parse_(hf_mem_of_engine(d), plan, strlen(plan)), .id = id));
        moment_play(d, id, when);
    }
    hf_kit_close(d);
}

/* ---- deadlines */

/* A timeout of 250 ms is not early, and far from the 30 s of a sweep. */
HF_BOTH_ENGINES(sm38_a_short_timeout)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = NULL;
    hf_value out = NULL;
    int64_t start_us;
    int64_t took_us;

    ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &d), HF_OK);
    start_us = hf_clock_mono_us(hf_clock_system());
    hf_kit_ok(d, hf_start(d, "nap", hf_json(d, "{'ms': 250}"), .id = "n"));
    hf_kit_ok(d, hf_result(d, "n", hf_minutes(1), &out, NULL));
    took_us = hf_clock_mono_us(hf_clock_system()) - start_us;
    ck_assert_int_ge(took_us, 250000);
    ck_assert_int_lt(took_us, 20000000);
    ck_assert_int_eq(hf_int(out, "", 0), 1);
    hf_close(d);
    hf_test_place_free(place);
}

static void naps_start(hf_engine *d, int count)
{
    static hf_start_opts items[STARTS];
    static hf_status answers[STARTS];
    static char ids[STARTS][16];

    for (int at = 0; at < count; at += STARTS) {
        int some = count - at < STARTS ? count - at : STARTS;

        hf_mem_reset(hf_mem_of_engine(d));
        for (int i = 0; i < some; i++) {
            (void)snprintf(ids[i], sizeof(ids[i]), "n%d", at + i);
            items[i] = (hf_start_opts){
                .size_ = sizeof(hf_start_opts), .in = hf_json(d, "{'ms': 1000}"), .id = ids[i]};
        }
        hf_kit_ok(d, hf_start_all(d, "nap", items, (size_t)some, answers));
        for (int i = 0; i < some; i++)
            hf_kit_ok(d, answers[i]);
    }
}

/* Steps of many machines end between two commits, as they do where threads run them: a commit for
   each of them would be most of the time. */
static void drain_wide(hf_engine *d)
{
    bool worked = true;

    while (worked) {
        worked = false;
        for (int i = 0; i < STEPS && hf_core_step(d->core); i++)
            worked = true;
        worked |= hf_writer_step(d->writer) > 0;
        for (int i = 0; i < WIDE && hf_core_run_activity(d->core); i++)
            worked = true;
    }
    hf_kit_ok(d, hf_test_drain(d));
}

/* Twenty machines start a child each in the same commit, two of them under the same id: that one is
   refused alone, on the record of its machine, and its neighbours have theirs. */
HF_BOTH_ENGINES(sm52_one_poisoned_outcome_in_a_batch)
{
    enum { MANY = 20, POISONED = 8 };
    hf_engine *d;
    uint64_t batches;
    char id[16];

    machines[2] = hf_script_machines[0];
    d = hf_kit_open(kind, &app);
    hf_script_engine = d;
    for (int i = 0; i < MANY; i++) {
        char plan[256];

        (void)snprintf(id, sizeof(id), "p%d", i);
        (void)snprintf(plan, sizeof(plan),
                       "[{\"do\":\"fan\",\"ids\":[\"kid-%d\"],\"plans\":[[{\"do\":\"done\"}]]},"
                       "{\"do\":\"done\"}]",
                       i == POISONED ? POISONED - 1 : i);
        hf_kit_ok(d, hf_start(d, "script", hf_script_plan(d, plan), .id = id));
    }
    batches = hf_writer_stats_get(d->writer).batches;
    drain_wide(d);
    ck_assert_uint_lt(hf_writer_stats_get(d->writer).batches - batches, MANY);
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(id, sizeof(id), "p%d", i);
        ck_assert_str_eq(hf_kit_result(d, id),
                         i == POISONED ? "[\"aw= all= t=1\",\"aw= all= t=1 kids=failed\"]"
                                       : "[\"aw= all= t=1\",\"aw= all= t=1 kids=completed\"]");
    }
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run"), 2 * MANY - 1);
    hf_kit_close(d);
}

/* All park in the same moment; a second later all have been woken, none of them early. */
static void naps_end(hf_engine *d, int count)
{
    naps_start(d, count);
    drain_wide(d);
    ck_assert_str_eq(hf_test_status(d, "n0"), "waiting signal:go");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM timer"), count);
    hf_kit_skip(d, 999);
    drain_wide(d);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run WHERE closed_us IS NOT NULL"), 0);
    hf_kit_skip(d, 1);
    drain_wide(d);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run WHERE closed_us IS NOT NULL"),
                     count);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM timer"), 0);
    for (int i = 0; i < count; i += 97) {
        char id[16];
        hf_value out = NULL;

        (void)snprintf(id, sizeof(id), "n%d", i);
        hf_kit_ok(d, hf_result(d, id, 0, &out, NULL));
        ck_assert_int_eq(hf_int(out, "", 0), 1);
    }
}

/* Those that are late fire in the order of their runs, a group at a time, so that what lies
   together in the store is written together: here the last one to begin was the first to be due. */
HF_BOTH_ENGINES(sm39_late_deadlines_in_the_order_of_runs)
{
    enum { LATE = 400, PAIRS = LATE * (LATE - 1) / 2 };
    hf_engine *d = hf_kit_open(kind, &app);

    for (int i = 0; i < LATE; i++)
        hf_kit_ok(d, hf_start(d, "nap", hf_json(d, "{'ms': %d}", 2 * LATE - i)));
    drain_wide(d);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM timer"), LATE);
    hf_kit_skip(d, hf_minutes(1));
    drain_wide(d);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run WHERE closed_us IS NOT NULL"),
                     LATE);
    ck_assert_int_lt(
        hf_kit_number(d, "SELECT count(*) FROM (SELECT run, max(position) AS at FROM history "
                         "GROUP BY run) a JOIN (SELECT run, max(position) AS at FROM history "
                         "GROUP BY run) b ON b.run > a.run AND b.at < a.at"),
        PAIRS / 4);
    hf_kit_close(d);
}

/* Ten thousand timeouts of the same moment all fire: a fifth of them in a short run, a hundred
   thousand in the long campaign. */
HF_BOTH_ENGINES(sm39_many_deadlines_at_once)
{
    hf_engine *d = hf_kit_open(kind, &app);

    naps_end(d, campaign_is_long() ? DEADLINES_LONG : DEADLINES / hf_campaign_stride(5, 1));
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("machine/race", HF_BOTH_SLOW(sm04_ten_thousand_races, 300),
                 HF_BOTH_SLOW(every_order_of_five_moves, 300),
                 HF_BOTH_SLOW(every_moment_of_a_park, 3600),
                 HF_BOTH(sm52_one_poisoned_outcome_in_a_batch),
                 HF_BOTH_SLOW(sm38_a_short_timeout, 60),
                 HF_BOTH_SLOW(sm39_late_deadlines_in_the_order_of_runs, 300),
                 HF_BOTH_SLOW(sm39_many_deadlines_at_once, 1800))
