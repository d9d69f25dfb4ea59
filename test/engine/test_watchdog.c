/* The watchdog: what was lost or could not be handed over is tried again without anybody asking,
   sweeps are fair, and a run that waits for another build or fleet is named and left alone. Repairs
   that a person asks for are in test_repair.c. Every store is verified when its case ends. */
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "engine/core_impl.h"
#include "engine/engine_impl.h"
#include "engine/fleet.h"
#include "engine/repair_app.h"
#include "lib/campaign.h"

/* The lease of a task is over: it is given out again, and not before. */
HF_BOTH_ENGINES(watchdog_reclaims_expired_leases)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "patient", NULL, .id = "a"));
    hf_kit_sql(d, "UPDATE task SET status = 2, epoch = 1, owner = 'gone', attempt = 1, "
                  "lease_until_us = available_us + 60000000");
    forget(d);
    ck_assert_str_eq(liveness(d, "a"), "workflow_task_leased");
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(30)));
    ck_assert_str_eq(liveness(d, "a"), "workflow_task_leased");
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(40)));
    ck_assert_str_eq(liveness(d, "a"), "waiting_for_signal");
    hf_kit_close(d);
}

/* The process that ran the attempt is gone, and its row as well: the owner of the run does not know
   of it, so the row comes back and the attempt counts as lost. */
HF_BOTH_ENGINES(lost_attempt_is_restored_when_its_process_is_gone)
{
    hf_engine *d = hf_kit_open(kind, &app);

    charges = 0;
    hf_kit_ok(d, hf_start(d, "order", NULL, .id = "a"));
    pump_without_activities(d);
    hf_kit_sql(d, "DELETE FROM activity");
    forget(d);
    ck_assert_int_eq(charges, 0);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(10)));
    ck_assert_int_eq(charges, 1);
    ck_assert_str_eq(liveness(d, "a"), "waiting_for_signal");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityStarted"), 2);
    hf_kit_close(d);
}

/* A deadline that passed while no engine was there, and no task open. */
HF_BOTH_ENGINES(b130_passed_deadline_needs_no_task)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "patient", NULL, .id = "a", .run_timeout = hf_seconds(30)));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), 0);
    hf_kit_skip(d, hf_minutes(2));
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(10)));
    ck_assert_str_eq(hf_test_status(d, "a"), "failed");
    ck_assert_str_eq(hf_kit_said(d, "a", "WorkflowTimedOut", 0, HF_KEY_TIMEOUT_KIND),
                     "run_timeout");
    hf_kit_close(d);
}

/* Handing a task over fails: the first time it may be tried at once, then later and later, and the
   task says so. */
HF_BOTH_ENGINES(b180_dispatch_failure_backs_off)
{
    static const int64_t waits_s[] = {0, 3, 6, 12, 24, 48, 60, 60};
    hf_engine *d = hf_kit_open(kind, &app);
    live_run *run;
    int64_t now_us;

    hf_kit_ok(d, hf_start(d, "patient", NULL, .id = "a"));
    now_us = hf_clock_wall_us(d->clock);
    run = hf_core_live(d->core, hf_kit_number(d, "SELECT run FROM task"));
    for (int i = 0; i < 8; i++) {
        hf_fault_arm(HF_FAULT_ALLOC, 1, false);
        hf_turn_run(d->core, run);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_int_eq(hf_kit_number(d, "SELECT trouble FROM task"), HF_TASK_TROUBLE_DISPATCH);
        ck_assert_int_eq(hf_kit_number(d, "SELECT repair_count FROM task"), i + 1);
        ck_assert_int_eq(hf_kit_number(d, "SELECT repair_us FROM task"),
                         now_us + waits_s[i] * 1000000);
        ck_assert_str_eq(hf_str(state(d, "a"), "next_task_transport_state", ""),
                         i ? "repair_backoff" : "dispatch_failed");
        ck_assert_str_eq(liveness(d, "a"), "repair_needed");
    }
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(2)));
    ck_assert_str_eq(liveness(d, "a"), "waiting_for_signal");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), 0);
    hf_kit_close(d);
}

/* The claim fails: its state has a name of its own. */
HF_BOTH_ENGINES(b181_claim_failure_has_a_state)
{
    hf_engine *d = hf_kit_open(kind, &app);
    live_run *run;
    int64_t trouble = 0;

    hf_kit_ok(d, hf_start(d, "patient", NULL, .id = "a"));
    run = hf_core_live(d->core, hf_kit_number(d, "SELECT run FROM task"));
    for (int nth = 1; nth < 500 && trouble != HF_TASK_TROUBLE_CLAIM; nth++) {
        run->look = true;
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        hf_turn_run(d->core, run);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_msg(!run->dirty, "no allocation of the turn itself failed");
        trouble = hf_kit_number(d, "SELECT trouble FROM task");
    }
    ck_assert_str_eq(liveness(d, "a"), "workflow_task_claim_failed");
    ck_assert(hf_bool(state(d, "a"), "task_problem", false));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(2)));
    ck_assert_str_eq(liveness(d, "a"), "waiting_for_signal");
    hf_kit_close(d);
}

/* Tasks of all three kinds have the states of a claim that failed and of a lease, each under the
   name of its kind, whoever made the row; a list and the one who asks why agree on it. */
HF_BOTH_ENGINES(b181_every_kind_of_task_has_its_claim_states)
{
    static const struct {
        const char *kind;
        const char *failed;
    } kinds[] = {{"1", "workflow_task_claim_failed"},
                 {"2", "activity_task_claim_failed"},
                 {"3", "timer_task_claim_failed"}};
    hf_engine *d = hf_kit_open(kind, &app);
    char sql[512];

    hf_kit_begin(d, "patient", "a", NULL);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        (void)snprintf(
            sql, sizeof(sql),
            "INSERT INTO task (key, run, kind, status, queue, priority, available_us, "
            "epoch, attempt, repair_count, created_us, trouble) SELECT 9000000, key, %s, "
            "1, 'default', 0, 1, 0, 0, 1, 1, 2 FROM run",
            kinds[i].kind);
        hf_kit_sql(d, sql);
        ck_assert_str_eq(liveness(d, "a"), kinds[i].failed);
        ck_assert_str_eq(hf_str(state(d, "a"), "next_task_transport_state", ""), "claim_failed");
        hf_kit_sql(d, "UPDATE task SET trouble = 0");
        ck_assert_str_eq(liveness(d, "a"), "repair_needed");
        ck_assert_str_eq(hf_str(state(d, "a"), "next_task_transport_state", ""),
                         "dispatch_overdue");
        hf_kit_sql(d, "DELETE FROM task");
    }
    ck_assert_str_eq(liveness(d, "a"), "waiting_for_signal");
    hf_kit_close(d);
}

/* A task that a worker holds for a timer has a state of its own, whoever made the row. */
HF_BOTH_ENGINES(b181_timer_that_is_being_fired_has_a_state)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "sleeper", "a", NULL);
    ck_assert_str_eq(liveness(d, "a"), "timer_scheduled");
    hf_kit_sql(d, "INSERT INTO task (key, run, kind, status, queue, priority, available_us, epoch, "
                  "attempt, repair_count, created_us, owner, lease_until_us) SELECT 9000000, key, "
                  "3, 2, 'default', 0, 1, 1, 1, 0, 1, 'w', 9000000000000000 FROM run");
    ck_assert_str_eq(liveness(d, "a"), "timer_task_leased");
    ck_assert_str_eq(hf_str(state(d, "a"), "wait_kind", ""), "timer");
    hf_kit_sql(d, "DELETE FROM task");
    ck_assert_str_eq(liveness(d, "a"), "timer_scheduled");
    hf_kit_close(d);
}

/* Starts runs from..to-1. */
static void start_many(hf_engine *d, int from, int to, const char *queue)
{
    char id[16];

    for (int i = from; i < to; i++) {
        (void)snprintf(id, sizeof(id), "r%d", i);
        hf_kit_ok(d, hf_start(d, "patient", NULL, .id = id, .queue = queue));
    }
    while (hf_folder_step(d->folder)) /* summaries know the marker of a run */
        ;
}

/* All tasks are another's that is gone: the first sweep helps as many as one may, those of the
   small scope among them, the next sweeps the rest. `small` counts the tasks of the small scope. */
static void sweep_fairly(hf_engine *d, int64_t all, const char *small)
{
    hf_kit_sql(d, "UPDATE task SET status = 2, epoch = 1, owner = 'gone', attempt = 1, "
                  "lease_until_us = available_us + 1000000");
    forget(d);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), all);
    ck_assert_int_eq(hf_kit_number(d, small), 3);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(4)));
    ck_assert_int_eq(hf_kit_number(d, small), 0);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), all - 25);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(10)));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), 0);
}

/* One crowded queue does not take all places of a sweep. */
HF_BOTH_ENGINES(b182_sweeps_are_fair_between_queues)
{
    hf_engine *d = hf_kit_open(kind, &app);

    start_many(d, 0, 40, "cold");
    start_many(d, 40, 43, "hot");
    sweep_fairly(d, 43, "SELECT count(*) FROM task WHERE queue = 'hot'");
    hf_kit_close(d);
}

/* Tasks that wait for another program do not stand before one that can be helped, however many
   there are; and when nothing can be helped the watchdog rests. */
HF_BOTH_ENGINES(b182_strangers_do_not_hold_up_a_sweep)
{
    hf_engine *d = hf_kit_open(kind, &app);
    char id[16];

    for (int i = 0; i < 2100 / hf_campaign_stride(70, 70); i++) { /* a long run fills two pages */
        (void)snprintf(id, sizeof(id), "s%d", i);
        hf_kit_ok(d, hf_start(d, "stranger", NULL, .id = id));
    }
    hf_kit_ok(d, hf_test_advance(d, 1));
    hf_kit_ok(d, hf_start(d, "patient", NULL, .id = "a"));
    hf_kit_sql(d,
               "UPDATE task SET status = 2, epoch = 1, owner = 'gone', attempt = 1, "
               "lease_until_us = available_us + 1000000 WHERE key = (SELECT max(key) FROM task)");
    forget(d);
    ck_assert_str_eq(liveness(d, "a"), "workflow_task_leased");
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(30)));
    ck_assert_str_eq(liveness(d, "a"), "waiting_for_signal");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task WHERE repair_count > 0"), 0);
    hf_kit_close(d);
}

static const hf_app build_a = {
    .name = "test", .build_id = "a", .workflows = workflows, .activities = activities};
static const hf_app build_b = {.name = "test",
                               .build_id = "b",
                               .supports = "b",
                               .workflows = workflows,
                               .activities = activities};
static const hf_app build_c = {.name = "test",
                               .build_id = "c",
                               .supports = "a, b",
                               .workflows = workflows,
                               .activities = activities};

/* Nor does one crowded marker of the queue. */
HF_BOTH_ENGINES(b182_sweeps_are_fair_between_markers)
{
    hf_engine *d = hf_kit_open(kind, &build_a);

    start_many(d, 0, 40, "default");
    d = hf_kit_reopen(d, &build_c);
    start_many(d, 40, 43, "default");
    sweep_fairly(d, 43,
                 "SELECT count(*) FROM task t JOIN run_summary s ON s.run = t.run "
                 "WHERE s.compatibility = 'c'");
    hf_kit_close(d);
}

/* A build that does not support the run's marker leaves it alone; the run waits visibly and is not
   called broken. */
HF_BOTH_ENGINES(b183_incompatible_build_does_not_take_the_run)
{
    hf_engine *d = hf_kit_open(kind, &build_a);

    hf_kit_ok(d, hf_start(d, "patient", NULL, .id = "a"));
    d = hf_kit_reopen(d, &build_b);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(2)));
    ck_assert_int_eq(hf_test_count(d, "a", "SignalWaitOpened"), 0);
    ck_assert_str_eq(liveness(d, "a"), "workflow_task_waiting_for_compatible_worker");
    ck_assert_str_eq(hf_str(state(d, "a"), "repair_blocked_reason", ""),
                     "waiting_for_compatible_worker");
    ck_assert_str_eq(hf_str(state(d, "a"), "repair_blocked.label", ""), "Compat Blocked");
    ck_assert(hf_bool(state(d, "a"), "repair_attention", false));
    ck_assert_str_eq(hf_str(state(d, "a"), "compatibility", ""), "a");
    ck_assert_str_eq(outcome(d, "a"), "repair_not_needed");
    d = hf_kit_reopen(d, &build_c);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(liveness(d, "a"), "waiting_for_signal");
    hf_kit_close(d);
}

/* What is due and is no turn waits visibly for a build that supports the run as well: an attempt
   whose backoff is over, and a timer. Before it is due nobody is missed. */
HF_BOTH_ENGINES(b183_attempts_and_timers_wait_for_a_compatible_worker)
{
    hf_engine *d = hf_kit_open(kind, &build_a);

    hf_kit_begin(d, "retrying", "r", NULL);
    hf_kit_begin(d, "sleeper", "s", NULL);
    ck_assert_str_eq(liveness(d, "r"), "activity_task_ready");
    ck_assert_str_eq(liveness(d, "s"), "timer_scheduled");
    d = hf_kit_reopen(d, &build_b);
    hf_kit_ok(d, hf_test_advance(d, 0));
    ck_assert_str_eq(liveness(d, "r"), "activity_task_ready");
    ck_assert_str_eq(liveness(d, "s"), "timer_scheduled");
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(12)));
    ck_assert_str_eq(liveness(d, "r"), "activity_task_waiting_for_compatible_worker");
    ck_assert_str_eq(liveness(d, "s"), "timer_task_waiting_for_compatible_worker");
    ck_assert_str_eq(hf_str(state(d, "s"), "repair_blocked_reason", ""),
                     "waiting_for_compatible_worker");
    ck_assert_str_eq(outcome(d, "r"), "repair_not_needed");
    ck_assert_str_eq(outcome(d, "s"), "repair_not_needed");
    ck_assert_int_eq(hf_test_count(d, "r", "ActivityStarted"), 1);
    ck_assert_int_eq(hf_test_count(d, "s", "TimerFired"), 0);
    d = hf_kit_reopen(d, &build_c);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(5)));
    ck_assert_str_eq(liveness(d, "r"), "closed");
    ck_assert_str_eq(liveness(d, "s"), "closed");
    hf_kit_close(d);
}

/* A worker counts while its heartbeat does, and only in its own fleet. */
HF_BOTH_ENGINES(b184_heartbeats_expire_and_fleets_are_apart)
{
    static const hf_app fleet_b = {.name = "test",
                                   .build_id = "b",
                                   .supports = "b",
                                   .fleet = "blue",
                                   .workflows = workflows,
                                   .activities = activities};
    hf_worker_row worker = {.name = HF_SLICE("w1"),
                            .queue = HF_SLICE("default"),
                            .scope = HF_SLICE("green"),
                            .host = HF_SLICE("somewhere"),
                            .process = 7,
                            .supported = HF_SLICE("a")};
    hf_engine *d = hf_kit_open(kind, &build_a);
    hf_err err = {0};

    hf_kit_ok(d, hf_start(d, "patient", NULL, .id = "a"));
    d = hf_kit_reopen(d, &fleet_b);
    hf_kit_ok(d, hf_test_drain(d));
    hf_test_ok(hf_engine_worker_beat(d, &worker, &err), &err, "a heartbeat");
    ck_assert_str_eq(liveness(d, "a"), "workflow_task_waiting_for_compatible_worker");
    worker.scope = HF_SLICE("blue");
    hf_test_ok(hf_engine_worker_beat(d, &worker, &err), &err, "a heartbeat");
    ck_assert_str_eq(liveness(d, "a"), "workflow_task_ready");
    hf_kit_skip(d, hf_seconds(29));
    hf_test_ok(hf_engine_worker_beat(d, &worker, &err), &err, "a heartbeat");
    hf_kit_skip(d, hf_seconds(29));
    ck_assert_str_eq(liveness(d, "a"), "repair_needed"); /* there is one, and it does not take it */
    hf_kit_skip(d, hf_seconds(2));
    ck_assert_str_eq(liveness(d, "a"), "workflow_task_waiting_for_compatible_worker");
    hf_kit_close(d);
}

/* Each kind of row, lost at each stage of each life, with the watchdog alone to help. */
HF_BOTH_ENGINES(watchdog_restores_every_lost_row)
{
    static const char *const losses[] = {
        "DELETE FROM task", "DELETE FROM timer", "DELETE FROM activity", "DELETE FROM inbox",
        "DELETE FROM task; DELETE FROM timer; DELETE FROM activity; DELETE FROM inbox"};
    static const char *const types[] = {"order", "retrying", "sleeper", "parent", "crowd"};

    for (size_t loss = 0; loss < sizeof(losses) / sizeof(losses[0]); loss++) {
        hf_engine *d = hf_kit_open(kind, &app);

        for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
            hf_kit_ok(d, hf_start(d, types[i], hf_json(d, "{'timeout': 900000}"), .id = types[i]));
        for (int stage = 0; stage < 6; stage++) {
            /* activities end only where an engine is there to hear of it */
            hf_kit_sql(d, losses[loss]);
            hf_test_crash(d);
            hf_kit_ok(d, hf_test_advance(d, hf_seconds(20)));
        }
        hf_kit_ok(d, hf_test_advance(d, hf_minutes(40)));
        for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
            ck_assert_msg(strcmp(hf_test_status(d, types[i]), "completed") == 0,
                          "%s after %s: %s (%s)", types[i], losses[loss],
                          hf_test_status(d, types[i]), liveness(d, types[i]));
        hf_kit_close(d);
    }
}

HF_PG_SUITE_MAIN("engine/watchdog", HF_BOTH(watchdog_reclaims_expired_leases),
                 HF_BOTH(lost_attempt_is_restored_when_its_process_is_gone),
                 HF_BOTH(b130_passed_deadline_needs_no_task),
                 HF_BOTH(b180_dispatch_failure_backs_off), HF_BOTH(b181_claim_failure_has_a_state),
                 HF_BOTH(b181_every_kind_of_task_has_its_claim_states),
                 HF_BOTH(b181_timer_that_is_being_fired_has_a_state),
                 HF_BOTH(b182_sweeps_are_fair_between_queues),
                 HF_BOTH(b182_strangers_do_not_hold_up_a_sweep),
                 HF_BOTH(b182_sweeps_are_fair_between_markers),
                 HF_BOTH(b183_incompatible_build_does_not_take_the_run),
                 HF_BOTH(b183_attempts_and_timers_wait_for_a_compatible_worker),
                 HF_BOTH(b184_heartbeats_expire_and_fleets_are_apart),
                 HF_BOTH_SLOW(watchdog_restores_every_lost_row, 300))
