/* test_clock_jump.c: wall time is set while the engine runs. Durations go on as if it had not been,
   schedules follow it, and after a restart it counts. */
#include <stdatomic.h>
#include <stdio.h>

#include "engine/engine_impl.h"
#include "lib/kit.h"
#include "lib/nap.h"
#include "lib/pgclock.h"

static hf_value sleeps(hf_ctx *w, hf_value in)
{
    hf_sleep(w, hf_seconds(hf_int(in, "", 1)));
    return NULL;
}

static hf_value once(hf_act *a, hf_value in)
{
    (void)in;
    return hf_attempt(a) < 2 ? hf_retry(a, "not_yet", "again") : NULL;
}

static hf_value retries(hf_ctx *w, hf_value in)
{
    const hf_ms backoff[] = {10000};

    return hf_activity(w, "once", in, .max_attempts = 2, .backoff = backoff, .backoff_n = 1);
}

static hf_value waits(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_receive(w, "go", .timeout = hf_seconds(20));
}

static const hf_workflow_def workflows[] = {
    {.type = "sleeps", .run = sleeps},
    {.type = "retries", .run = retries},
    {.type = "waits", .run = waits, .signals = (const hf_signal_def[]){{"go", NULL}, {0}}},
    {0}};
static const hf_activity_def activities[] = {{hf_fn(once)}, {0}};
static const hf_app app = {.name = "test", .workflows = workflows, .activities = activities};

static void wall_set(hf_engine *d, hf_ms by)
{
    hf_clock_set_wall(d->virtual_clock, hf_clock_wall_us(d->virtual_clock) + by * 1000);
    hf_kit_ok(d, hf_test_drain(d));
}

static void all_wait(hf_engine *d)
{
    ck_assert_str_eq(hf_test_status(d, "timer"), "waiting timer");
    ck_assert_str_eq(hf_test_status(d, "timeout"), "waiting signal:go");
    ck_assert_str_eq(hf_test_status(d, "deadline"), "waiting timer");
}

static void all_ended(hf_engine *d)
{
    ck_assert_str_eq(hf_test_status(d, "timer"), "completed");
    ck_assert_str_eq(hf_test_status(d, "timeout"), "completed");
    ck_assert_str_eq(hf_test_status(d, "deadline"), "failed");
}

static void all_begin(hf_engine *d)
{
    hf_kit_begin(d, "sleeps", "timer", hf_json(d, "20"));
    hf_kit_begin(d, "waits", "timeout", NULL);
    hf_kit_ok(d, hf_start(d, "sleeps", hf_json(d, "600"), .id = "deadline",
                          .run_timeout = hf_seconds(20)));
    hf_kit_ok(d, hf_test_drain(d));
}

/* Neither an hour forward nor two hours back move what was to be in 20 s. */
HF_BOTH_ENGINES(n46_durations_do_not_jump)
{
    static const hf_ms jumps[] = {3600000, -7200000};

    for (size_t i = 0; i < 2; i++) {
        hf_engine *d = hf_kit_open(kind, &app);

        all_begin(d);
        hf_kit_ok(d, hf_test_advance(d, hf_seconds(4)));
        wall_set(d, jumps[i]);
        all_wait(d);
        hf_kit_ok(d, hf_test_advance(d, hf_seconds(15)));
        all_wait(d);
        hf_kit_ok(d, hf_test_advance(d, hf_seconds(1)));
        all_ended(d);
        hf_kit_close(d);
    }
}

/* The pause before another attempt is a duration, too. */
HF_BOTH_ENGINES(n46_backoff_does_not_jump)
{
    hf_engine *d = hf_kit_open(kind, &app);
    int64_t began_us;

    hf_kit_ok(d, hf_start(d, "retries", NULL, .id = "a"));
    hf_clock_set_wall(d->virtual_clock, hf_clock_wall_us(d->virtual_clock) - INT64_C(7200000000));
    began_us = hf_clock_mono_us(d->virtual_clock);
    hf_kit_ok(d, hf_test_drain(d)); /* passes pauses, and no more than they are long */
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    ck_assert_int_eq(hf_clock_mono_us(d->virtual_clock) - began_us, 10000000);
    hf_kit_close(d);
}

/* After a restart wall time counts: what was due by it is late. */
HF_BOTH_ENGINES(n46_wall_time_counts_after_a_restart)
{
    hf_engine *d = hf_kit_open(kind, &app);

    all_begin(d);
    wall_set(d, hf_hours(1));
    all_wait(d);
    d = hf_kit_reopen(d, NULL);
    hf_kit_ok(d, hf_test_drain(d));
    all_ended(d);
    hf_kit_close(d);
}

/* Schedules follow wall time: a slot that it jumped over fires at once, one that it went back
   before does not fire again, and the next one fires when it is there. */
HF_BOTH_ENGINES(n46_schedules_follow_wall_time)
{
    hf_engine *d = hf_kit_open(kind, &app); /* at midnight */

    hf_kit_ok(d, hf_schedule_create(d, "s", "sleeps", hf_json(d, "1"), .cron = "0 * * * *"));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(30)));
    ck_assert_int_eq(hf_kit_rows(d, "run"), 0);
    wall_set(d, hf_minutes(45)); /* 1:15 */
    ck_assert_int_eq(hf_kit_rows(d, "run"), 1);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(44)));
    ck_assert_int_eq(hf_kit_rows(d, "run"), 1);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_int_eq(hf_kit_rows(d, "run"), 2);
    wall_set(d, -hf_minutes(30)); /* 1:30 again */
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(89)));
    ck_assert_int_eq(hf_kit_rows(d, "run"), 2);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1))); /* 3:00 */
    ck_assert_int_eq(hf_kit_rows(d, "run"), 3);
    hf_kit_close(d);
}

/* ---- the clock of a database that nodes share */

enum { NAPS = 8, NAP_S = 5, PATIENCE_S = 60 };

static void jump_count(const hf_log_entry *entry, void *ctx)
{
    _Atomic int *jumps = ctx;

    for (size_t i = 0; i < entry->field_count; i++)
        if (hf_slice_equal(entry->fields[i].text, HF_SLICE("clock_jump")))
            atomic_fetch_add(jumps, 1);
}

static void naps_begin(hf_engine *d, const char *set)
{
    char id[32];

    for (int i = 0; i < NAPS; i++) {
        (void)snprintf(id, sizeof(id), "%s-%d", set, i);
        hf_kit_ok(d, hf_start(d, "sleeps", hf_json(d, "%d", NAP_S), .id = id));
    }
}

static int naps_ended(hf_engine *d)
{
    return (int)hf_kit_number(d, "SELECT count(*) FROM run WHERE closed_us IS NOT NULL");
}

/* None before its time, all of them soon after it. `began_us`: when they were started. */
static void naps_end(hf_engine *d, int before, int64_t began_us)
{
    int64_t passed_us = 0;

    while (naps_ended(d) < before + NAPS && passed_us < PATIENCE_S * INT64_C(1000000)) {
        int ended;

        hf_nap_ms(20);
        ended = naps_ended(d);
        passed_us = hf_clock_passing_us(hf_clock_system()) - began_us;
        ck_assert(ended == before || passed_us >= NAP_S * INT64_C(1000000));
    }
    ck_assert_int_eq(naps_ended(d), before + NAPS);
}

/* An hour forward and two hours back of the database's clock move nothing that two nodes wait for,
   and each of them says so. */
START_TEST(n46_durations_of_nodes_do_not_jump)
{
    static const int jumps_s[] = {3600, -3600};
    hf_pgclock *clock = hf_pgclock_open();
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_engine *nodes[2] = {NULL};
    _Atomic int jumps[2] = {0};

    for (int i = 0; i < 2; i++) {
        hf_kit_ok(nodes[i], hf_open(hf_test_place_address(place), &app, &nodes[i]));
        hf_kit_ok(nodes[i], hf_set(nodes[i], "node_lease_ms", "2000"));
        hf_log_init_sink(&nodes[i]->log, HF_LOG_WARN, hf_clock_system(), jump_count, &jumps[i]);
        hf_kit_ok(nodes[i], hf_start(nodes[i], "sleeps", hf_json(nodes[i], "0")));
    }
    for (int i = 0; i < 2; i++) {
        int64_t began_us;
        int before;

        for (int k = 0; k < 3000 && naps_ended(nodes[1]) < 2 + i * NAPS; k++)
            hf_nap_ms(10);
        before = naps_ended(nodes[1]);
        began_us = hf_clock_passing_us(hf_clock_system());
        naps_begin(nodes[i], i ? "back" : "forward");
        hf_pgclock_set(clock, jumps_s[i]);
        naps_end(nodes[1 - i], before, began_us);
        ck_assert_int_eq(atomic_load(&jumps[0]), i + 1);
        ck_assert_int_eq(atomic_load(&jumps[1]), i + 1);
    }
    hf_close(nodes[0]);
    hf_close(nodes[1]);
    hf_test_place_free(place);
    hf_pgclock_close(clock);
}
END_TEST

HF_PG_SUITE_MAIN("engine/clock_jump", {n46_durations_of_nodes_do_not_jump, 240},
                 HF_BOTH(n46_durations_do_not_jump), HF_BOTH(n46_backoff_does_not_jump),
                 HF_BOTH(n46_wall_time_counts_after_a_restart),
                 HF_BOTH(n46_schedules_follow_wall_time))
