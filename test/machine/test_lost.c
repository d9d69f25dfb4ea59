/* Steps that are lost, late, killed, poisoned or left behind, through holdfast.h on both databases.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "holdfast/holdfast.h"
#include "holdfast/view.h"
#include "lib/kit.h"

static hf_engine *world;
static atomic_int ran;

/* Ends its own run from outside, then returns the outcome that its state names. */
static hf_outcome late(hf_step *s)
{
    hf_value st = hf_step_state(s);
    const char *what = hf_str(st, "what", "");

    atomic_fetch_add(&ran, 1);
    if (hf_step_timed_out(s) || hf_len(hf_step_inbox(s)) == 0)
        return hf_park(s, "go", HF_NO_TIMEOUT, "late", st);
    ck_assert_int_eq(hf_terminate(world, hf_step_id(s), "too late"), HF_OK);
    if (strcmp(what, "next") == 0)
        return hf_next(s, "late", st);
    if (strcmp(what, "again") == 0)
        return hf_again(s, st, 0);
    if (strcmp(what, "park") == 0)
        return hf_park(s, "go", HF_NO_TIMEOUT, "late", st);
    if (strcmp(what, "fan_out") == 0)
        return hf_fan_out(s, (const hf_leaf[]){HF_CHILD("plain", st), {0}}, "late", st);
    if (strcmp(what, "stop") == 0)
        return hf_stop(s, "late", "too late");
    return hf_done(s, st);
}

/* Kills its process the first `times` times. */
static hf_outcome deadly(hf_step *s)
{
    if (hf_step_attempt(s) <= (int)hf_int(hf_step_state(s), "times", 0))
        (void)kill(getpid(), SIGKILL);
    return hf_done(s, hf_json(s, "%d", hf_step_attempt(s)));
}

static hf_outcome handled(hf_step *s, const hf_error *e)
{
    (void)e;
    return hf_done(s, hf_json(s, "'handled'"));
}

static hf_outcome plain(hf_step *s)
{
    atomic_fetch_add(&ran, 1);
    if (hf_bool(hf_step_state(s), "poison", false))
        return hf_next(s, "nowhere", hf_step_state(s));
    return hf_done(s, hf_json(s, "{'nul': '\\u0000'}"));
}

/* Takes longer than any lease. */
static hf_outcome lengthy(hf_step *s)
{
    atomic_fetch_add(&ran, 1);
    hf_kit_pass(world, hf_minutes(10));
    return hf_done(s, hf_step_state(s));
}

static hf_outcome slow(hf_step *s)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + 20000;

    while (hf_clock_mono_us(hf_clock_system()) < until_us)
        ;
    return hf_done(s, hf_step_state(s));
}

static const hf_signal_def signals[] = {{"go", NULL}, {0}};
static const hf_step_def late_steps[] = {{"late", late}, {0}};
static const hf_step_def deadly_steps[] = {{"deadly", deadly}, {0}};
static const hf_machine_def machines[] = {
    {"late", .initial = "late", .steps = late_steps, .signals = signals},
    {"deadly", .initial = "deadly", .steps = deadly_steps, .on_error = handled},
    {"plain", .job = plain, .max_attempts = 1},
    {"lengthy", .job = lengthy},
    {"slow", .job = slow},
    {0},
};
static const hf_app app = {.name = "lost", .machines = machines};

static int64_t stale_steps(hf_engine *d)
{
    hf_value metrics = NULL;

    hf_kit_ok(d, hf_metrics(d, hf_mem_of_engine(d), &metrics));
    return hf_int(metrics, "machines.stale_steps", -1);
}

/* What a step decides after its run was ended changes nothing, whatever it decides, and is counted.
 */
HF_BOTH_ENGINES(sm20_sm49_a_late_outcome_is_dropped)
{
    static const char *const kinds[] = {"next", "again", "park", "fan_out", "done", "stop"};
    hf_engine *d = hf_kit_open(kind, &app);

    world = d;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        int before = atomic_load(&ran);

        hf_kit_ok(d, hf_start(d, "late", hf_json(d, "{'what': %s}", kinds[i]), .id = kinds[i]));
        hf_kit_ok(d, hf_test_drain(d));
        hf_kit_ok(d, hf_signal(d, kinds[i], "go", NULL));
        hf_kit_ok(d, hf_test_drain(d));
        hf_kit_ok(d, hf_test_advance(d, 1000));
        ck_assert_str_eq(hf_test_status(d, kinds[i]), "terminated");
        ck_assert_int_eq(hf_test_count(d, kinds[i], "StepCompleted"), 1);
        ck_assert_int_eq(atomic_load(&ran), before + 2);
        ck_assert_int_eq(stale_steps(d), (int64_t)i + 1);
    }
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM command WHERE type = 2 AND state = 2"),
                     0);
    hf_kit_close(d);
}

/* A process that opens the store and works on it until it is killed or has nothing to do. */
static int child_work(const hf_test_place *place, bool starts, int times)
{
    pid_t pid = fork();
    int status = 0;

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        hf_engine *d = NULL;

        if (hf_open(hf_test_place_address(place), &app, &d))
            _exit(3);
        if (starts && hf_start(d, "deadly", hf_json(d, "{'times': %d}", times), .id = "k"))
            _exit(4);
        (void)!hf_result(d, "k", 20000, NULL, NULL);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    hf_test_place_leases_end(place);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

/* A step whose process is killed runs again, counted, and on_error is not asked. */
HF_BOTH_ENGINES(sm48_a_killed_step_runs_again)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = NULL;
    hf_value out = NULL;

    ck_assert_int_eq(child_work(place, true, 1), SIGKILL);
    ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &d), HF_OK);
    hf_kit_ok(d, hf_result(d, "k", hf_minutes(1), &out, NULL));
    ck_assert_int_eq(hf_int(out, "", 0), 2);
    hf_close(d);
    hf_test_place_free(place);
}

/* A step that kills every process is quarantined: this one survives it. */
HF_BOTH_ENGINES(crash_loops_are_capped)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = NULL;
    hf_settled now;
    hf_value why = NULL;

    ck_assert_int_eq(child_work(place, true, 1000), SIGKILL);
    for (int i = 1; i < 5; i++)
        ck_assert_int_eq(child_work(place, false, 0), SIGKILL);
    ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &d), HF_OK);
    hf_kit_ok(d, hf_await(d, "k", 1000, true, &now));
    ck_assert_int_eq(now.state, HF_SETTLED_BUSY);
    hf_kit_ok(d, hf_why(d, "k", hf_mem_of_engine(d), &why));
    ck_assert_str_eq(hf_str(why, "code", ""), "quarantined");
    hf_close(d);
    hf_test_place_free(place);
}

/* One poisoned outcome among many fails alone; a NUL in a state harms nobody. */
HF_EVERY_WAY(sm52_a_poisoned_outcome_fails_alone)
{
    hf_engine *d = hf_kit_open(kind, &app);
    char id[8];

    for (int i = 0; i < 20; i++) {
        (void)snprintf(id, sizeof(id), "p%d", i);
        hf_kit_ok(d,
                  hf_start(d, "plain", hf_json(d, i == 7 ? "{'poison': true}" : "null"), .id = id));
    }
    hf_kit_ok(d, hf_test_drain(d));
    for (int i = 0; i < 20; i++) {
        (void)snprintf(id, sizeof(id), "p%d", i);
        ck_assert_str_eq(hf_test_status(d, id), i == 7 ? "failed" : "completed");
    }
    hf_kit_close(d);
}

/* A step that takes longer than every lease runs once. */
HF_EVERY_WAY(sm53_a_long_step_runs_once)
{
    hf_engine *d = hf_kit_open(kind, &app);

    world = d;
    atomic_store(&ran, 0);
    hf_kit_ok(d, hf_start(d, "lengthy", NULL, .id = "l", .concurrency_key = "one"));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_str_eq(hf_test_status(d, "l"), "completed");
    ck_assert_int_eq(atomic_load(&ran), 1);
    hf_kit_close(d);
}

/* An engine that is closed leaves what it had not begun to the next one. */
HF_BOTH_ENGINES(sm54_closing_leaves_nothing_behind)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = NULL;
    char id[8];

    ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &d), HF_OK);
    for (int i = 0; i < 40; i++) {
        (void)snprintf(id, sizeof(id), "s%d", i);
        hf_kit_ok(d, hf_start(d, "slow", NULL, .id = id));
    }
    hf_close(d);
    d = NULL;
    ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &d), HF_OK);
    for (int i = 0; i < 40; i++) {
        hf_value out = NULL;

        (void)snprintf(id, sizeof(id), "s%d", i);
        hf_kit_ok(d, hf_result(d, id, hf_minutes(1), &out, NULL));
    }
    hf_close(d);
    hf_test_place_free(place);
}

HF_PG_SUITE_MAIN("machine/lost", HF_BOTH(sm20_sm49_a_late_outcome_is_dropped),
                 HF_BOTH_SLOW(sm48_a_killed_step_runs_again, 120),
                 HF_BOTH_SLOW(crash_loops_are_capped, 200),
                 HF_WAYS(sm52_a_poisoned_outcome_fails_alone), HF_WAYS(sm53_a_long_step_runs_once),
                 HF_BOTH_SLOW(sm54_closing_leaves_nothing_behind, 120))
