/* More timers and deadlines than memory is to hold: each passes at its own moment, neither early
   nor late nor never, on both databases, whether the process has lived all along or found them when
   it began. */
#include <stdio.h>
#include <string.h>

#include "engine/engine_impl.h"
#include "engine/window.h"
#include "lib/kit.h"

enum { RUNS = 20, WINDOW = 4, OTHERS = 4 }; /* horizons, watchdog, retention */

/* Sleeps as many seconds as it is told. */
static hf_value sleeper(hf_ctx *w, hf_value in)
{
    hf_sleep(w, hf_seconds(hf_int(in, "", 0)));
    return in;
}

static hf_value waiter(hf_ctx *w, hf_value in)
{
    hf_receive(w, "go");
    return in;
}

static const hf_signal_def signals[] = {{.name = "go"}, {0}};
static const hf_workflow_def workflows[] = {{.type = "sleeper", .run = sleeper},
                                            {.type = "waiter", .run = waiter, .signals = signals},
                                            {0}};
static const hf_app app = {.name = "window", .workflows = workflows};

static const char *id_of(hf_engine *d, int i)
{
    return hf_str(hf_json(d, "'run-%d'", i), "", "");
}

/* From soon to two hours, several at the same moment, in no order. */
static int64_t seconds_of(int i)
{
    return 30 + (i * 13 % RUNS) / 2 * 300;
}

static int64_t armed(const hf_engine *d)
{
    return (int64_t)hf_deadlines_count(d->core->alarms);
}

/* All sleep; the clock goes on in steps that fall on no timer, and everybody wakes in time. */
static void sleep_all(hf_engine_kind kind, bool crash)
{
    hf_engine *d = hf_kit_open(kind, &app);

    d->alarms_max = WINDOW;
    hf_test_crash(d);
    for (int i = 0; i < RUNS; i++)
        hf_kit_ok(d, hf_start(d, "sleeper", hf_json(d, "%lld", (long long)seconds_of(i)),
                              .id = id_of(d, i)));
    hf_kit_ok(d, hf_test_drain(d));
    if (crash)
        hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_le(armed(d), WINDOW + OTHERS);
    for (int64_t at = 0; at < 30 + RUNS * 150; at += 307) {
        for (int i = 0; i < RUNS; i++)
            ck_assert_str_eq(hf_test_status(d, id_of(d, i)),
                             seconds_of(i) <= at ? "completed" : "waiting timer");
        hf_kit_ok(d, hf_test_advance(d, hf_seconds(307)));
    }
    for (int i = 0; i < RUNS; i++) {
        const hf_event *set = hf_kit_event(d, id_of(d, i), "TimerScheduled", 0);
        const hf_event *fired = hf_kit_event(d, id_of(d, i), "TimerFired", 0);

        ck_assert_ptr_nonnull(fired);
        ck_assert_int_eq(fired->time_us, set->time_us + seconds_of(i) * 1000000);
    }
    hf_kit_close(d);
}

/* A process that has set all of them. */
HF_BOTH_ENGINES(b124_timers_beyond_memory_fire_in_time)
{
    sleep_all(kind, false);
}

/* A process that finds them. */
HF_BOTH_ENGINES(b124_timers_beyond_memory_are_found_again)
{
    sleep_all(kind, true);
}

/* The deadlines of runs are read in the same way. */
HF_BOTH_ENGINES(b130_deadlines_beyond_memory_pass_in_time)
{
    hf_engine *d = hf_kit_open(kind, &app);

    d->alarms_max = WINDOW;
    for (int i = 0; i < RUNS; i++)
        hf_kit_ok(d, hf_start(d, "waiter", NULL, .id = id_of(d, i),
                              .run_timeout = hf_seconds(seconds_of(i))));
    hf_kit_ok(d, hf_test_drain(d));
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_le(armed(d), WINDOW + OTHERS);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(30 + RUNS * 150)));
    for (int i = 0; i < RUNS; i++) {
        const hf_event *begun = hf_kit_event(d, id_of(d, i), "WorkflowStarted", 0);
        const hf_event *late = hf_kit_event(d, id_of(d, i), "WorkflowTimedOut", 0);

        ck_assert_ptr_nonnull(late);
        ck_assert_int_eq(late->time_us, begun->time_us + seconds_of(i) * 1000000);
    }
    hf_kit_close(d);
}

/* A timer that is set while the horizon is near, and due before it, is not left to the next scan;
   one that is cancelled behind it never fires. */
HF_BOTH_ENGINES(timers_set_before_the_horizon)
{
    hf_engine *d = hf_kit_open(kind, &app);

    d->alarms_max = WINDOW;
    hf_test_crash(d);
    for (int i = 0; i < RUNS; i++)
        hf_kit_ok(d, hf_start(d, "sleeper", hf_json(d, "%d", 3600 + i), .id = id_of(d, i)));
    hf_kit_ok(d, hf_test_drain(d));
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_start(d, "sleeper", hf_json(d, "5"), .id = "soon"));
    hf_kit_ok(d, hf_start(d, "sleeper", hf_json(d, "7200"), .id = "late"));
    hf_kit_ok(d, hf_cancel(d, id_of(d, RUNS - 1), "not needed"));
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(5)));
    ck_assert_str_eq(hf_test_status(d, "soon"), "completed");
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(7194)));
    for (int i = 0; i < RUNS - 1; i++)
        ck_assert_str_eq(hf_test_status(d, id_of(d, i)), "completed");
    ck_assert_str_eq(hf_test_status(d, id_of(d, RUNS - 1)), "cancelled");
    ck_assert_str_eq(hf_test_status(d, "late"), "waiting timer");
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(1)));
    ck_assert_str_eq(hf_test_status(d, "late"), "completed");
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/window", HF_BOTH(b124_timers_beyond_memory_fire_in_time),
                 HF_BOTH(b124_timers_beyond_memory_are_found_again),
                 HF_BOTH(b130_deadlines_beyond_memory_pass_in_time),
                 HF_BOTH(timers_set_before_the_horizon))
