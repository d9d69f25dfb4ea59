/* Timers and the deadlines of whole runs, on a virtual clock. */
#include <stdio.h>
#include <string.h>

#include "engine/core_impl.h"
#include "engine/engine_impl.h"
#include "holdfast/view.h"
#include "holdfast/host.h"
#include "lib/handlers.h"
#include "lib/kit.h"

static hf_value nap(hf_ctx *w, hf_value in)
{
    int64_t count = hf_int(in, "count", 1);
    int64_t began = hf_now(w);

    for (int64_t i = 0; i < count; i++)
        hf_sleep(w, hf_int(in, "ms", 0) * (i + 1));
    return hf_json(w, "%lld", (long long)((hf_now(w) - began)));
}

/* Waits for an activity that nobody runs, beside a timer. */
static hf_value busy(hf_ctx *w, hf_value in)
{
    hf_future f[2];

    f[0] = hf_spawn_activity(w, "nobody", in);
    f[1] = hf_spawn_activity(w, "nobody", in);
    (void)hf_receive(w, "never", .timeout = hf_days(900));
    return hf_join_all(w, f, 2);
}

static hf_value parent(hf_ctx *w, hf_value in)
{
    const hf_error *e = NULL;

    hf_child(w, "nap", in, .run_timeout = hf_seconds(10), .err = &e);
    return hf_json(w, "{'child': %s}", e ? e->message : "fine");
}

static hf_value guardian(hf_ctx *w, hf_value in)
{
    return hf_child(w, "nap", in, .id = "ward", .on_parent_close = HF_CLOSE_TERMINATE);
}

static hf_value again(hf_ctx *w, hf_value in)
{
    hf_sleep(w, hf_seconds(6));
    hf_continue_as_new(w, in);
}

static const hf_workflow_def workflows[] = {
    {.type = "nap", .run = nap},
    {.type = "busy", .run = busy, .signals = (const hf_signal_def[]){{"never", NULL}, {0}}},
    {.type = "parent", .run = parent},
    {.type = "guardian", .run = guardian},
    {.type = "again", .run = again},
    {0}};
static const hf_activity_def activities[] = {{.name = "echo", .run = hf_echo}, {0}};
static const hf_app app = {.name = "test", .workflows = workflows, .activities = activities};
static const hf_workflow_def none[] = {{0}};
static const hf_app empty = {.name = "test", .workflows = none, .activities = activities};

/* ---- timers */

/* A timer of no length fires in the turn that asked for it. */
HF_EVERY_WAY(b123_timer_of_zero_fires_inline)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "nap", hf_json(d, "{'count': 2, 'ms': 0}"), .id = "a"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    ck_assert_int_eq(hf_test_count(d, "a", "TimerFired"), 2);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM timer"), 0);
    hf_kit_close(d);
}

/* Timers one after another fire in order, never early, also over crashes. */
HF_EVERY_WAY(b124_sequential_timers)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "nap", hf_json(d, "{'count': 3, 'ms': 1000}"), .id = "a"));
    hf_kit_ok(d, hf_test_advance(d, 999));
    ck_assert_int_eq(hf_test_count(d, "a", "TimerFired"), 0);
    hf_kit_ok(d, hf_test_advance(d, 1));
    ck_assert_int_eq(hf_test_count(d, "a", "TimerFired"), 1);
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_advance(d, 1999));
    ck_assert_int_eq(hf_test_count(d, "a", "TimerFired"), 1);
    hf_kit_ok(d, hf_test_advance(d, 1));
    d = hf_kit_reopen(d, NULL);
    hf_kit_ok(d, hf_test_advance(d, 3000));
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    ck_assert_str_eq(hf_kit_history(d, "a"),
                     "StartAccepted WorkflowStarted TimerScheduled TimerFired TimerScheduled "
                     "TimerFired TimerScheduled TimerFired WorkflowCompleted");
    hf_kit_close(d);
}

/* Cancel and terminate put TimerCancelled on the record; the timer's own time means nothing then.
 */
HF_EVERY_WAY(b125_stop_cancels_timers)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "nap", hf_json(d, "{'ms': 5000}"), .id = "c"));
    hf_kit_ok(d, hf_start(d, "nap", hf_json(d, "{'ms': 5000}"), .id = "t"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_cancel(d, "c", NULL));
    hf_kit_ok(d, hf_terminate(d, "t", NULL));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_str_eq(hf_test_status(d, "c"), "cancelled");
    ck_assert_str_eq(hf_test_status(d, "t"), "terminated");
    ck_assert_int_eq(hf_test_count(d, "c", "TimerCancelled"), 1);
    ck_assert_int_eq(hf_test_count(d, "t", "TimerCancelled"), 1);
    ck_assert_int_eq(hf_test_count(d, "c", "TimerFired"), 0);
    ck_assert_int_eq(hf_test_count(d, "t", "TimerFired"), 0);
    hf_kit_close(d);
}

/* A timer is over when history says TimerFired, not when its row is gone. */
HF_EVERY_WAY(b126_timer_needs_its_event)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "nap", hf_json(d, "{'ms': 5000}"), .id = "a"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_sql(d, "DELETE FROM timer");
    d = hf_kit_reopen(d, NULL);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "a"), "waiting timer");
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1))); /* the watchdog puts the row back */
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    ck_assert_int_eq(hf_test_count(d, "a", "TimerFired"), 1);
    hf_kit_close(d);
}

/* A row that says fired without an event does not wake the code. */
HF_EVERY_WAY(b127_fired_row_without_history)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "nap", hf_json(d, "{'ms': 5000}"), .id = "a"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_sql(d, "UPDATE timer SET status = 2, closed_us = 1");
    d = hf_kit_reopen(d, NULL);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_str_eq(hf_test_status(d, "a"), "waiting timer");
    ck_assert_int_eq(hf_test_count(d, "a", "TimerFired"), 0);
    hf_kit_sql(d, "UPDATE timer SET status = 1, closed_us = NULL");
    hf_kit_close(d);
}

/* Timers that are due together fire in rounds, so that other work has its turn in between; in the
   end all have fired. */
HF_BOTH_ENGINES(burst_of_timers_leaves_room)
{
    enum { NAPS = 200 };
    hf_engine *d = hf_kit_open(kind, &app);
    int64_t left;

    for (int i = 0; i < NAPS; i++)
        hf_kit_ok(d, hf_start(d, "nap", hf_json(d, "{'ms': 60000}"), .id = NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM timer"), NAPS);
    hf_kit_skip(d, hf_minutes(2));
    hf_kit_turn(d);
    left = hf_kit_number(d, "SELECT count(*) FROM timer");
    ck_assert_int_gt(left, 0);
    ck_assert_int_lt(left, NAPS);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM timer"), 0);
    hf_kit_close(d);
}

/* ---- deadlines of runs */

/* Both deadlines are computed at the start, in the row and in WorkflowStarted. */
HF_EVERY_WAY(b128_deadlines_are_recorded_at_start)
{
    hf_engine *d = hf_kit_open(kind, &app);
    char sql[128];

    hf_kit_ok(d, hf_start(d, "nap", hf_json(d, "{'ms': 5000}"), .id = "a",
                          .execution_timeout = hf_hours(2), .run_timeout = hf_hours(1)));
    (void)snprintf(sql, sizeof(sql),
                   "SELECT count(*) FROM run WHERE execution_deadline_us = %s AND "
                   "run_deadline_us = %s",
                   hf_kit_said(d, "a", "WorkflowStarted", 0, HF_KEY_EXECUTION_DEADLINE_AT),
                   hf_kit_said(d, "a", "WorkflowStarted", 0, HF_KEY_RUN_DEADLINE_AT));
    ck_assert_int_eq(hf_kit_number(d, sql), 1);
    hf_kit_close(d);
}

/* Timeouts and the deadlines they lead to are shown with the run. */
HF_EVERY_WAY(b134_describe_shows_timeouts)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;

    hf_kit_ok(d, hf_start(d, "nap", hf_json(d, "{'ms': 5000}"), .id = "a",
                          .execution_timeout = hf_hours(2), .run_timeout = hf_hours(1)));
    hf_kit_ok(d, hf_describe(d, hf_json(d, "{'id': 'a'}"), hf_mem_of_engine(d), &out));
    ck_assert_int_eq(hf_int(out, "execution_timeout_seconds", 0), 7200);
    ck_assert_int_eq(hf_int(out, "run_timeout_seconds", 0), 3600);
    ck_assert_str_eq(hf_str(out, "execution_deadline_at", ""), "2026-01-01T02:00:00.000000Z");
    ck_assert_str_eq(hf_str(out, "run_deadline_at", ""), "2026-01-01T01:00:00.000000Z");
    hf_kit_close(d);
}

/* A deadline that passed while nobody looked closes the run before its code gets a turn. */
HF_EVERY_WAY(b129_deadline_is_enforced_at_the_turn)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(
        d, hf_start(d, "nap", hf_json(d, "{'ms': 4000}"), .id = "a", .run_timeout = hf_seconds(5)));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_skip(d, hf_seconds(10)); /* the timer was due first, but now it is too late for both */
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "a"), "failed");
    ck_assert_int_eq(hf_test_count(d, "a", "TimerFired"), 0);
    ck_assert_str_eq(hf_kit_said(d, "a", "WorkflowTimedOut", 0, HF_KEY_TIMEOUT_KIND),
                     "run_timeout");
    hf_kit_close(d);
}

/* A parked run is closed by its deadline alone, after a restart too, and not a moment early. */
HF_EVERY_WAY(b130_deadline_closes_a_parked_run)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "nap", hf_json(d, "{'ms': 900000000}"), .id = "a",
                          .execution_timeout = hf_seconds(10)));
    hf_kit_ok(d, hf_start(d, "nap", hf_json(d, "{'ms': 900000000}"), .id = "b",
                          .execution_timeout = hf_seconds(20), .run_timeout = hf_seconds(20)));
    hf_kit_ok(d, hf_test_advance(d, 9999));
    ck_assert_str_eq(hf_test_status(d, "a"), "waiting timer");
    hf_kit_ok(d, hf_test_advance(d, 1));
    ck_assert_str_eq(hf_test_status(d, "a"), "failed");
    d = hf_kit_reopen(d, NULL);
    hf_kit_ok(d, hf_test_advance(d, 9999));
    ck_assert_str_eq(hf_test_status(d, "b"), "waiting timer");
    hf_kit_ok(d, hf_test_advance(d, 1));
    ck_assert_str_eq(hf_kit_said(d, "b", "WorkflowTimedOut", 0, HF_KEY_TIMEOUT_KIND),
                     "execution_timeout"); /* both passed: the execution's is named */
    hf_kit_close(d);
}

/* The deadline needs none of the run's code. */
HF_EVERY_WAY(b130_deadline_without_the_code)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "busy", NULL, .id = "a", .run_timeout = hf_seconds(10)));
    hf_kit_ok(d, hf_test_drain(d));
    d = hf_kit_reopen(d, &empty);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(10)));
    ck_assert_str_eq(hf_test_status(d, "a"), "failed");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityCancelled"), 2);
    hf_kit_close(d);
}

/* A deadline that nobody waits for any more is found by the watchdog's sweep, and by nothing else:
   not early, and without anybody touching the run. */
HF_BOTH_ENGINES(b130_sweep_finds_a_deadline_that_nobody_waits_for)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "nap", hf_json(d, "{'ms': 900000000}"), .id = "a",
                          .run_timeout = hf_seconds(10)));
    hf_kit_ok(d, hf_test_drain(d));
    d = hf_kit_reopen(d, NULL); /* a round over all runs is due then */
    hf_core_disarm(d->core, hf_kit_number(d, "SELECT key FROM run"));
    hf_kit_skip(d, 9999);
    hf_kit_ok(d, hf_test_advance(d, 0));
    ck_assert_str_eq(hf_test_status(d, "a"), "waiting timer");
    d = hf_kit_reopen(d, NULL);
    hf_core_disarm(d->core, hf_kit_number(d, "SELECT key FROM run"));
    hf_kit_skip(d, hf_seconds(5));
    hf_kit_ok(d, hf_test_advance(d, 0));
    ck_assert_str_eq(hf_test_status(d, "a"), "failed");
    ck_assert_str_eq(hf_kit_history(d, "a"), "StartAccepted WorkflowStarted TimerScheduled "
                                             "TimerCancelled WorkflowTimedOut");
    hf_kit_close(d);
}

/* What was open is cancelled in order: activities, timers, then the end, with its kind. */
HF_EVERY_WAY(b131_deadline_cancels_what_is_open)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;
    const hf_error *e = NULL;
    const char *history;

    hf_kit_ok(d, hf_start(d, "busy", NULL, .id = "a", .run_timeout = hf_seconds(10)));
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(10)));
    history = hf_kit_history(d, "a");
    ck_assert_ptr_nonnull(
        strstr(history, " ActivityCancelled ActivityCancelled TimerCancelled WorkflowTimedOut"));
    ck_assert_str_eq(hf_kit_said(d, "a", "WorkflowTimedOut", 0, HF_KEY_FAILURE_CATEGORY),
                     "timeout");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run WHERE closed_reason = 6"), 1);
    ck_assert_int_eq(hf_result(d, "a", 0, &out, &e), HF_ERROR);
    ck_assert_str_eq(e->type, "run_timeout");
    ck_assert_str_eq(e->message, "the run deadline passed");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM activity"), 0);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM timer"), 0);
    hf_kit_ok(d, hf_namespace_set(d, "default",
                                  &(hf_namespace_opts){.size_ = sizeof(hf_namespace_opts),
                                                       .retention_days = HF_NAMESPACE_FOR_EVER}));
    hf_kit_ok(d, hf_test_advance(d, hf_days(1000)));
    ck_assert_str_eq(hf_kit_history(d, "a"), history);
    hf_kit_close(d);
}

/* The parent of a run that timed out is told. */
HF_EVERY_WAY(b132_parent_hears_of_the_deadline)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "parent", hf_json(d, "{'ms': 60000}"), .id = "p"));
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(10)));
    ck_assert_str_eq(hf_kit_result(d, "p"), "{\"child\":\"the run deadline passed\"}");
    ck_assert_int_eq(hf_test_count(d, "p", "ChildRunFailed"), 1);
    hf_kit_close(d);
}

/* The parent-close policy applies when it is a deadline that closes the parent. */
HF_EVERY_WAY(b132_deadline_applies_the_parent_close_policy)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "guardian", hf_json(d, "{'ms': 60000}"), .id = "p",
                          .run_timeout = hf_seconds(10)));
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(10)));
    ck_assert_str_eq(hf_test_status(d, "p"), "failed");
    ck_assert_str_eq(hf_test_status(d, "ward"), "terminated");
    hf_kit_close(d);
}

/* The next run keeps the execution's deadline and gets the whole of the run's. */
HF_EVERY_WAY(b133_continue_as_new_and_deadlines)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "again", NULL, .id = "a", .execution_timeout = hf_seconds(20),
                          .run_timeout = hf_seconds(8)));
    hf_kit_ok(d, hf_test_advance(d, 19999));
    ck_assert_str_eq(hf_test_status(d, "a"), "waiting timer");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run"), 4);
    ck_assert_int_eq(
        hf_kit_number(d, "SELECT count(*) FROM run WHERE run_deadline_us <> created_us + 8000000"),
        0);
    hf_kit_ok(d, hf_test_advance(d, 1));
    ck_assert_str_eq(hf_kit_said(d, "a", "WorkflowTimedOut", 0, HF_KEY_TIMEOUT_KIND),
                     "execution_timeout");
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/deadline", HF_WAYS(b123_timer_of_zero_fires_inline),
                 HF_WAYS(b124_sequential_timers), HF_WAYS(b125_stop_cancels_timers),
                 HF_WAYS(b126_timer_needs_its_event), HF_WAYS(b127_fired_row_without_history),
                 HF_WAYS(b128_deadlines_are_recorded_at_start),
                 HF_WAYS(b129_deadline_is_enforced_at_the_turn),
                 HF_WAYS(b130_deadline_closes_a_parked_run),
                 HF_WAYS(b130_deadline_without_the_code),
                 HF_BOTH(b130_sweep_finds_a_deadline_that_nobody_waits_for),
                 HF_WAYS(b131_deadline_cancels_what_is_open),
                 HF_WAYS(b132_parent_hears_of_the_deadline),
                 HF_WAYS(b132_deadline_applies_the_parent_close_policy),
                 HF_WAYS(b133_continue_as_new_and_deadlines), HF_WAYS(b134_describe_shows_timeouts),
                 HF_BOTH(burst_of_timers_leaves_room))
