/* Parking, waking, using up, re-awaiting and timing out, through holdfast.h on both databases. */
#include <stdio.h>
#include <string.h>

#include "holdfast/holdfast.h"
#include "lib/kit.h"
#include "lib/script.h"

static const hf_app app = {.name = "await", .machines = hf_script_machines};

static hf_engine *open_kit(hf_engine_kind kind)
{
    hf_script_engine = hf_kit_open(kind, &app);
    return hf_script_engine;
}

/* Starts an instance; nothing of it runs before the engine is moved. */
static void begin(hf_engine *d, const char *id, const char *plan)
{
    hf_mem *mem = hf_mem_of_engine(d);
    hf_value value = hf_parse_(mem, plan, strlen(plan));

    ck_assert_msg(value != NULL, "%s", plan);
    hf_kit_ok(d,
              hf_start(d, "script", hf_json(mem, "{'plan': %p}", (const void *)value), .id = id));
}

static void play(hf_engine *d, const char *id, const char *plan)
{
    begin(d, id, plan);
    hf_kit_ok(d, hf_test_drain(d));
}

static void send(hf_engine *d, const char *id, const char *name, int n)
{
    hf_mem *mem = hf_mem_of_engine(d);

    hf_kit_ok(d, hf_signal(d, id, name, n < 0 ? NULL : hf_json(mem, "%d", n)));
}

static void deliver(hf_engine *d, const char *id, const char *name, int n)
{
    send(d, id, name, n);
    hf_kit_ok(d, hf_test_drain(d));
}

#define PARK(names)       "{\"do\":\"park\",\"names\":[" names "]}"
#define PARK_MS(names, n) "{\"do\":\"park\",\"names\":[" names "],\"ms\":" #n "}"
#define NEXT              "{\"do\":\"next\"}"
#define DONE              "{\"do\":\"done\"}"
#define AGAIN(n)          "{\"do\":\"again\",\"ms\":" #n "}"
#define RAISE             "{\"do\":\"raise\"}"

/* ---- park and wake */

/* A signal that came before the instance first ran wakes the park at once. */
HF_EVERY_WAY(sm01_a_signal_before_the_first_run)
{
    hf_engine *d = open_kit(kind);

    begin(d, "i", "[" PARK("\"a\"") "," DONE "]");
    send(d, "i", "a", -1);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "i"), "[\"aw= all=a t=1\",\"aw=a all=a t=1\"]");
    hf_kit_close(d);
}

/* A signal that comes while the step runs that is about to park wakes that park. */
HF_EVERY_WAY(sm02_a_signal_while_the_step_runs)
{
    hf_engine *d = open_kit(kind);

    play(d, "i", "[{\"do\":\"park\",\"names\":[\"a\"],\"send\":\"a\"}," DONE "]");
    ck_assert_str_eq(hf_kit_result(d, "i"), "[\"aw= all= t=1\",\"aw=a all=a t=1\"]");
    hf_kit_close(d);
}

/* Delivery first, park first, both between two commits: the end is the same. */
HF_EVERY_WAY(sm03_whoever_comes_second_sees_the_other)
{
    static const char *const sends[] = {"\"send\":\"a\",", ""};

    for (int order = 0; order < 3; order++) {
        hf_engine *d = open_kit(kind);
        char plan[256];

        (void)snprintf(plan, sizeof(plan), "[{%s\"do\":\"park\",\"names\":[\"a\"]}," DONE "]",
                       sends[order != 2]);
        begin(d, "i", plan);
        if (order == 0)
            send(d, "i", "a", -1);
        hf_kit_ok(d, hf_test_drain(d));
        if (order == 1) {
            ck_assert_str_eq(hf_test_status(d, "i"), "waiting signal:a");
            hf_test_crash(d);
            deliver(d, "i", "a", -1);
        }
        ck_assert_str_eq(hf_test_status(d, "i"), "completed");
        hf_kit_close(d);
    }
}

/* A signal that is not awaited does not wake; it waits for the park that names it. */
HF_EVERY_WAY(sm05_sm06_other_names_wait)
{
    hf_engine *d = open_kit(kind);

    play(d, "i", "[" PARK("\"a\"") "," PARK("\"b\"") "," DONE "]");
    deliver(d, "i", "b", -1);
    ck_assert_str_eq(hf_test_status(d, "i"), "waiting signal:a");
    ck_assert_int_eq(hf_test_count(d, "i", "StepCompleted"), 1);
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_test_count(d, "i", "StepCompleted"), 1);
    deliver(d, "i", "a", -1);
    ck_assert_str_eq(hf_kit_result(d, "i"),
                     "[\"aw= all= t=1\",\"aw=a all=b,a t=1\",\"aw=b all=b,a t=1\"]");
    hf_kit_close(d);
}

/* Any member of a set wakes; awaited has the members alone, the inbox everything, in order. */
HF_EVERY_WAY(sm07_sm08_sets_and_order)
{
    hf_engine *d = open_kit(kind);

    play(d, "i", "[" PARK("\"a\",\"b\"") "," AGAIN(1000) "," DONE "]");
    send(d, "i", "c", 1);
    send(d, "i", "b", 2);
    send(d, "i", "a", 3);
    send(d, "i", "b", 4);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_test_count(d, "i", "StepCompleted"), 2);
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_advance(d, 1000));
    ck_assert_str_eq(hf_kit_result(d, "i"), "[\"aw= all= t=1\",\"aw=b2,a3,b4 all=c1,b2,a3,b4 t=1\","
                                            "\"aw=b2,a3,b4 all=c1,b2,a3,b4 t=2\"]");
    hf_kit_close(d);
}

/* Signals that come before the wake is picked up are presented in one execution of the next step,
   never of the parking one. */
HF_EVERY_WAY(sm09_sm10_sm11_one_wake_for_several)
{
    hf_engine *d = open_kit(kind);
    int before;

    play(d, "i9", "[" PARK("\"a\"") "," DONE "]");
    before = hf_script_runs("i9");
    send(d, "i9", "a", 1);
    send(d, "i9", "a", 2);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_script_runs("i9"), before + 1);
    ck_assert_str_eq(hf_kit_result(d, "i9"), "[\"aw= all= t=1\",\"aw=a1,a2 all=a1,a2 t=1\"]");
    hf_kit_close(d);
}

/* ---- using up */

/* Next uses up what the step was handed; one of the same name that came later stays. */
HF_EVERY_WAY(sm13_next_uses_up_what_it_was_handed)
{
    hf_engine *d = open_kit(kind);

    play(d, "i", "[" PARK("\"a\"") ",{\"do\":\"next\",\"send\":\"a\"}," DONE "]");
    deliver(d, "i", "a", 1);
    ck_assert_str_eq(hf_kit_result(d, "i"),
                     "[\"aw= all= t=1\",\"aw=a1 all=a1 t=1\",\"aw= all=a t=1\"]");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM command WHERE type = 2 AND state = 2"),
                     1);
    hf_kit_close(d);
}

/* Starting children uses up as next does. */
HF_EVERY_WAY(sm14_children_use_up_as_next)
{
    hf_engine *d = open_kit(kind);

    play(d, "i", "[" PARK("\"a\"") ",{\"do\":\"fan\",\"plans\":[[" DONE "]]}," DONE "]");
    deliver(d, "i", "a", 1);
    ck_assert_str_eq(hf_kit_result(d, "i"), "[\"aw= all= t=1\",\"aw=a1 all=a1 t=1\","
                                            "\"aw= all= t=1 kids=completed\"]");
    hf_kit_close(d);
}

/* Park and again use nothing up; the redo sees the same signals and what came of those names. */
HF_EVERY_WAY(sm15_sm16_park_and_again_use_nothing_up)
{
    hf_engine *d = open_kit(kind);

    play(d, "i", "[" PARK("\"a\"") "," AGAIN(100) "," PARK("\"a\"") "," DONE "]");
    deliver(d, "i", "a", 1);
    deliver(d, "i", "a", 2);
    hf_kit_ok(d, hf_test_advance(d, 100));
    ck_assert_str_eq(hf_test_status(d, "i"), "waiting signal:a");
    deliver(d, "i", "a", 3);
    ck_assert_str_eq(hf_kit_result(d, "i"),
                     "[\"aw= all= t=1\",\"aw=a1 all=a1 t=1\",\"aw=a1,a2 all=a1,a2 t=2\","
                     "\"aw=a1,a2,a3 all=a1,a2,a3 t=1\"]");
    hf_kit_close(d);
}

/* The end clears the whole inbox: what the last step was handed is used up, the rest goes with it.
 */
HF_EVERY_WAY(sm17_the_end_clears_the_inbox)
{
    hf_engine *d = open_kit(kind);

    play(d, "done", "[" PARK("\"a\"") "," DONE "]");
    deliver(d, "done", "b", 1);
    deliver(d, "done", "a", 2);
    ck_assert_str_eq(hf_test_status(d, "done"), "completed");
    play(d, "stop", "[" PARK("\"a\"") ",{\"do\":\"stop\"}]");
    deliver(d, "stop", "b", 1);
    deliver(d, "stop", "a", 2);
    ck_assert_str_eq(hf_test_status(d, "stop"), "failed");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM command WHERE type = 2 AND state = 2"),
                     2);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM command WHERE type = 2 AND state = 1"),
                     2);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM command WHERE closed_us IS NULL"), 0);
    ck_assert_int_eq(hf_kit_number(d, "SELECT sum(open_signals) FROM run"), 0);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM inbox"), 0);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), 0);
    hf_kit_close(d);
}

/* A step that no park led to is handed nothing, sees the inbox, and uses nothing up. */
HF_EVERY_WAY(sm18_a_step_without_a_park_uses_nothing_up)
{
    hf_engine *d = open_kit(kind);

    begin(d, "i", "[" NEXT "," NEXT "," PARK("\"a\"") "," DONE "]");
    send(d, "i", "a", 1);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "i"), "[\"aw= all=a1 t=1\",\"aw= all=a1 t=1\","
                                            "\"aw= all=a1 t=1\",\"aw=a1 all=a1 t=1\"]");
    hf_kit_close(d);
}

/* on_error sees nothing, and what it decides uses nothing up. */
HF_EVERY_WAY(sm19_on_error_sees_and_uses_nothing)
{
    hf_engine *d = open_kit(kind);

    play(d, "i", "[" PARK("\"a\"") "," RAISE "," NEXT "," PARK("\"a\"") "," DONE "]");
    deliver(d, "i", "a", 1);
    ck_assert_str_eq(hf_kit_result(d, "i"), "[\"aw= all= t=1\",\"aw= all= t=1 err\","
                                            "\"aw= all=a1 t=1\",\"aw=a1 all=a1 t=1\"]");
    hf_kit_close(d);
}

/* ---- re-await */

/* A park on nothing but what the step was handed sleeps; a new one wakes it once. */
HF_EVERY_WAY(sm21_sm22_re_awaiting_does_not_spin)
{
    hf_engine *d = open_kit(kind);
    int runs;

    play(d, "i21", "[" PARK("\"a\"") "," PARK("\"a\"") "," PARK("\"a\"") "," DONE "]");
    deliver(d, "i21", "a", 1);
    runs = hf_script_runs("i21");
    hf_kit_ok(d, hf_test_advance(d, 1000));
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_advance(d, 1000));
    ck_assert_int_eq(hf_script_runs("i21"), runs);
    ck_assert_str_eq(hf_test_status(d, "i21"), "waiting signal:a");
    deliver(d, "i21", "a", 2);
    ck_assert_int_eq(hf_script_runs("i21"), runs + 1);
    hf_kit_ok(d, hf_test_advance(d, 1000));
    ck_assert_int_eq(hf_script_runs("i21"), runs + 1);
    hf_kit_close(d);
}

/* What the parking step was handed is a set of ids: one that it was not handed wakes, whatever its
   place in the inbox. */
HF_EVERY_WAY(sm23_presented_is_a_set)
{
    hf_engine *d = open_kit(kind);

    play(d, "i", "[" PARK("\"b\"") "," PARK("\"a\",\"b\"") "," DONE "]");
    send(d, "i", "a", 1); /* older than the b that wakes, and not handed to that step */
    send(d, "i", "b", 2);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "i"), "[\"aw= all= t=1\",\"aw=b2 all=a1,b2 t=1\","
                                            "\"aw=a1,b2 all=a1,b2 t=1\"]");
    hf_kit_close(d);
}

/* A pack of three completes once, whatever the order. */
HF_EVERY_WAY(sm24_a_pack_in_any_order)
{
    static const char *const orders[] = {"abc", "acb", "bac", "bca", "cab", "cba"};
    hf_engine *d = open_kit(kind);

    for (size_t i = 0; i < 6; i++) {
        char id[2] = {(char)('0' + i), 0};
        char want[64];

        play(d, id,
             "[" PARK("\"a\",\"b\",\"c\"") "," PARK("\"a\",\"b\",\"c\"") "," PARK(
                 "\"a\",\"b\",\"c\"") "," DONE "]");
        for (size_t k = 0; k < 3; k++) {
            char name[2] = {orders[i][k], 0};

            ck_assert_str_eq(hf_test_status(d, id), "waiting signal:a|b|c");
            deliver(d, id, name, -1);
        }
        (void)snprintf(want, sizeof(want), "aw=%c,%c,%c all=", orders[i][0], orders[i][1],
                       orders[i][2]);
        ck_assert_ptr_nonnull(strstr(hf_kit_result(d, id), want));
    }
    hf_kit_close(d);
}

/* A handler that parks again after it failed on a signal is not woken by that signal. */
HF_EVERY_WAY(sm25_a_poisoned_signal_does_not_spin)
{
    hf_engine *d = open_kit(kind);
    int runs;

    play(d, "i25", "[" PARK("\"a\"") "," RAISE "," PARK("\"a\"") "," DONE "]");
    deliver(d, "i25", "a", 1);
    runs = hf_script_runs("i25");
    hf_kit_ok(d, hf_test_advance(d, hf_hours(1)));
    ck_assert_int_eq(hf_script_runs("i25"), runs);
    deliver(d, "i25", "a", 2);
    ck_assert_str_eq(hf_test_status(d, "i25"), "completed");
    hf_kit_close(d);
}

/* ---- timeouts */

/* A timeout wakes the next step with nothing; it is no failure and no attempt. */
HF_EVERY_WAY(sm32_a_timeout_wakes)
{
    hf_engine *d = open_kit(kind);

    play(d, "i", "[" PARK_MS("\"a\"", 250) "," DONE "]");
    hf_kit_ok(d, hf_test_advance(d, 249));
    ck_assert_str_eq(hf_test_status(d, "i"), "waiting signal:a");
    hf_kit_ok(d, hf_test_advance(d, 1));
    ck_assert_str_eq(hf_kit_result(d, "i"), "[\"aw= all= t=1\",\"aw= all= t=1 late\"]");
    hf_kit_close(d);
}

/* A signal in time leaves no timeout behind. */
HF_EVERY_WAY(sm33_a_signal_disarms_the_timeout)
{
    hf_engine *d = open_kit(kind);

    play(d, "i", "[" PARK_MS("\"a\"", 1000) "," PARK("\"b\"") "," DONE "]");
    deliver(d, "i", "a", 1);
    hf_kit_ok(d, hf_test_advance(d, 5000));
    ck_assert_str_eq(hf_test_status(d, "i"), "waiting signal:b");
    ck_assert_int_eq(hf_test_count(d, "i", "TimerFired"), 0);
    ck_assert_int_eq(hf_test_count(d, "i", "TimerCancelled"), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM timer"), 0);
    hf_kit_close(d);
}

/* A signal behind the timeout's wake and before the step began is presented, in one execution. */
HF_BOTH_ENGINES(sm34_a_signal_behind_the_timeout)
{
    hf_engine *d = open_kit(kind);
    int runs;

    play(d, "i34", "[" PARK_MS("\"a\"", 1000) "," DONE "]");
    runs = hf_script_runs("i34");
    hf_kit_skip(d, 1000);
    hf_kit_turn(d); /* the timer is recorded as fired, and the step has not run */
    hf_test_crash(d);
    ck_assert_int_eq(hf_test_count(d, "i34", "TimerFired"), 1);
    ck_assert_int_eq(hf_script_runs("i34"), runs);
    send(d, "i34", "a", 1);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_script_runs("i34"), runs + 1);
    ck_assert_str_eq(hf_kit_result(d, "i34"), "[\"aw= all= t=1\",\"aw=a1 all=a1 t=1 late\"]");
    hf_kit_close(d);
}

/* A timeout delivers a partial pack, which stays when the step parks again. */
HF_EVERY_WAY(sm35_a_timeout_delivers_a_partial_pack)
{
    hf_engine *d = open_kit(kind);

    play(d, "i",
         "[" PARK("\"a\",\"b\"") "," PARK_MS("\"a\",\"b\"", 1000) "," PARK("\"a\",\"b\"") "," DONE
                                                                                          "]");
    deliver(d, "i", "a", 1);
    hf_kit_ok(d, hf_test_advance(d, 1000));
    ck_assert_str_eq(hf_test_status(d, "i"), "waiting signal:a|b");
    deliver(d, "i", "b", 2);
    ck_assert_str_eq(hf_kit_result(d, "i"),
                     "[\"aw= all= t=1\",\"aw=a1 all=a1 t=1\",\"aw=a1 all=a1 t=1 late\","
                     "\"aw=a1,b2 all=a1,b2 t=1\"]");
    hf_kit_close(d);
}

/* A new park brings its own timeout, or none. */
HF_EVERY_WAY(sm36_a_new_park_replaces_the_timeout)
{
    hf_engine *d = open_kit(kind);

    play(d, "i",
         "[" PARK_MS("\"a\"", 1000) "," PARK_MS("\"a\"", 5000) "," PARK("\"a\"") "," DONE "]");
    deliver(d, "i", "a", 1);
    hf_kit_ok(d, hf_test_advance(d, 4000));
    ck_assert_int_eq(hf_test_count(d, "i", "StepCompleted"), 2);
    hf_kit_ok(d, hf_test_advance(d, 1000));
    ck_assert_int_eq(hf_test_count(d, "i", "StepCompleted"), 3);
    hf_kit_ok(d, hf_test_advance(d, hf_days(1)));
    ck_assert_str_eq(hf_test_status(d, "i"), "waiting signal:a");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM timer"), 0);
    hf_kit_close(d);
}

/* A timeout that passed while nobody was there fires when somebody is. */
HF_EVERY_WAY(sm37_a_timeout_that_passed_meanwhile)
{
    hf_engine *d = open_kit(kind);

    play(d, "i", "[" PARK_MS("\"a\"", 1000) "," DONE "]");
    hf_kit_skip(d, 60000);
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "i"), "[\"aw= all= t=1\",\"aw= all= t=1 late\"]");
    hf_kit_close(d);
}

/* ---- crashes */

static hf_status scenario(hf_engine *d, void *arg)
{
    hf_mem *mem = hf_mem_of_engine(d);
    const char *plan = arg;
    hf_value value = hf_parse_(mem, plan, strlen(plan));
    hf_status st =
        hf_start(d, "script", hf_json(mem, "{'plan': %p}", (const void *)value), .id = "i");

    hf_script_engine = d;
    if (!st)
        st = hf_test_drain(d);
    if (!st)
        st = hf_signal(d, "i", "a", hf_json(mem, "1"));
    if (!st)
        st = hf_test_drain(d);
    if (!st)
        st = hf_signal(d, "i", "b", hf_json(mem, "2"));
    return st ? st : hf_test_advance(d, hf_minutes(1));
}

/* A crash right after any commit changes nothing about how a plan with everything in it ends. */
START_TEST(a_crash_at_every_commit_of_a_park)
{
    char why[512] = "";

    ck_assert_msg(hf_test_crash_everywhere(
                      &app, scenario,
                      "[" PARK_MS("\"a\"", 1000) "," AGAIN(100) "," NEXT "," PARK(
                          "\"b\"") "," PARK_MS("\"a\"", 500) ",{\"do\":\"fan\",\"plans\":[[" NEXT
                                                             "," DONE
                                                             "],[{\"do\":\"stop\"}]]}," DONE "]",
                      why, sizeof(why)) == HF_OK,
                  "%s", why);
}
END_TEST

HF_PG_SUITE_MAIN(
    "machine/await", HF_WAYS(sm01_a_signal_before_the_first_run),
    HF_WAYS(sm02_a_signal_while_the_step_runs), HF_WAYS(sm03_whoever_comes_second_sees_the_other),
    HF_WAYS(sm05_sm06_other_names_wait), HF_WAYS(sm07_sm08_sets_and_order),
    HF_WAYS(sm09_sm10_sm11_one_wake_for_several), HF_WAYS(sm13_next_uses_up_what_it_was_handed),
    HF_WAYS(sm14_children_use_up_as_next), HF_WAYS(sm15_sm16_park_and_again_use_nothing_up),
    HF_WAYS(sm17_the_end_clears_the_inbox), HF_WAYS(sm18_a_step_without_a_park_uses_nothing_up),
    HF_WAYS(sm19_on_error_sees_and_uses_nothing), HF_WAYS(sm21_sm22_re_awaiting_does_not_spin),
    HF_WAYS(sm23_presented_is_a_set), HF_WAYS(sm24_a_pack_in_any_order),
    HF_WAYS(sm25_a_poisoned_signal_does_not_spin), HF_WAYS(sm32_a_timeout_wakes),
    HF_WAYS(sm33_a_signal_disarms_the_timeout), HF_BOTH(sm34_a_signal_behind_the_timeout),
    HF_WAYS(sm35_a_timeout_delivers_a_partial_pack), HF_WAYS(sm36_a_new_park_replaces_the_timeout),
    HF_WAYS(sm37_a_timeout_that_passed_meanwhile), {a_crash_at_every_commit_of_a_park, 0})
