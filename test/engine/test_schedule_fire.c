/* Schedules that fire, on a virtual clock: what fires when, what overlap does, and that no time
   fires twice, whatever crashes, goes back or races. How they are made and changed is in
   test_schedule.c. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/engine_impl.h"
#include "engine/fleet.h"
#include "engine/schedule_app.h"
#include "holdfast/host.h"
#include "lib/campaign.h"

/* Why its first trigger failed. */
static const char *failure(hf_engine *d, const char *id)
{
    hf_value out = NULL;

    hf_kit_ok(d, hf_schedule_history(d, id, 0, 1000, &out));
    return hf_str(out, "events.1.payload.error", "none");
}

/* ---- 141 and 142 */

/* Workers are there and none of them supports the build: by hand and by time the start is skipped
   with that reason, nobody else is stopped for it, and what waited in the buffer is not kept. A
   start that overlaps is judged by its policy first. As soon as one worker supports it, it runs. */
HF_BOTH_ENGINES(b141_no_worker_supports_the_start)
{
    static const hf_app producer = {.name = "test", .build_id = "a", .workflows = workflows};
    hf_worker_row worker = {.name = HF_SLICE("w1"),
                            .queue = HF_SLICE("default"),
                            .scope = HF_SLICE(""),
                            .host = HF_SLICE("somewhere"),
                            .process = 7,
                            .supported = HF_SLICE("a")};
    hf_engine *d = hf_kit_open(kind, &producer);
    hf_value out = NULL;
    hf_err err = {0};

    hf_kit_ok(d, hf_set(d, "fleet_validation_mode", "fail"));
    hf_kit_ok(d, hf_schedule_create(d, "s", "elsewhere", NULL, .every = hf_seconds(10),
                                    .overlap = "buffer_all"));
    hf_test_ok(hf_engine_worker_beat(d, &worker, &err), &err, "a heartbeat");
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(10)));
    ck_assert_str_eq(audit(d, "s"), "Created triggered");
    worker.supported = HF_SLICE("b");
    hf_test_ok(hf_engine_worker_beat(d, &worker, &err), &err, "a heartbeat");
    ck_assert_str_eq(triggered(d, "s", NULL), "buffered");
    hf_kit_ok(d, hf_schedule_trigger(d, "s", "terminate_other", &out));
    ck_assert_str_eq(hf_str(out, "outcome", ""), "skipped");
    ck_assert_str_eq(hf_str(out, "reason", ""), "compatibility_blocked");
    ck_assert_int_eq(open_runs(d), 1);
    hf_kit_ok(d, hf_terminate(d, hf_str(shown(d, "s"), "latest_workflow_instance_id", ""), NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(field(d, "s", "last_skip_reason"), "compatibility_blocked");
    ck_assert_int_eq((int64_t)hf_len(hf_get(shown(d, "s"), "buffered_actions")), 0);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(10)));
    ck_assert_str_eq(audit(d, "s"), "Created triggered buffered compatibility_blocked "
                                    "compatibility_blocked compatibility_blocked");
    ck_assert_int_eq(hf_int(shown(d, "s"), "skipped_trigger_count", 0), 3);
    ck_assert_int_eq(runs(d), 1);
    worker.supported = HF_SLICE("b, a");
    hf_test_ok(hf_engine_worker_beat(d, &worker, &err), &err, "a heartbeat");
    ck_assert_str_eq(triggered(d, "s", NULL), "triggered");
    hf_kit_close(d);
}

/* What is due fires, what is not does not; each slot is one run, over crashes and restarts. */
HF_BOTH_ENGINES(b142_due_and_future)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_schedule_create(d, "m", "quick", hf_json(d, "1"), .cron = "* * * * *"));
    hf_kit_ok(d, hf_schedule_create(d, "h", "quick", hf_json(d, "1"), .cron = "@hourly"));
    hf_kit_ok(d, hf_schedule_create(d, "d", "quick", hf_json(d, "1"), .cron = "@daily"));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(30)));
    ck_assert_int_eq(runs(d), 30);
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(30)));
    ck_assert_int_eq(runs(d), 61);
    d = hf_kit_reopen(d, NULL);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(60)));
    ck_assert_int_eq(runs(d), 122);
    ck_assert_int_eq(open_runs(d), 0);
    ck_assert_int_eq(hf_int(shown(d, "d"), "fires_count", -1), 0);
    hf_kit_close(d);
}

/* ---- 143 to 146 */

/* One body for the six policies: the last run is open when the second time comes. */
HF_BOTH_ENGINES(b143_overlap_policies)
{
    static const struct {
        const char *policy;
        int64_t runs;
        int64_t open;
        const char *audit;
    } cases[] = {{"skip", 1, 1, "Created triggered overlap_policy_skip overlap_policy_skip"},
                 {"buffer_one", 1, 1, "Created triggered buffered buffer_full"},
                 {"buffer_all", 1, 1, "Created triggered buffered buffered"},
                 {"allow_all", 3, 3, "Created triggered triggered triggered"},
                 {"cancel_other", 3, 1, "Created triggered triggered triggered"},
                 {"terminate_other", 3, 1, "Created triggered triggered triggered"}};
    hf_engine *d = hf_kit_open(kind, &app);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t before = runs(d);
        int64_t before_open = open_runs(d);

        hf_kit_ok(d, hf_schedule_create(d, cases[i].policy, "slow", hf_json(d, "1"),
                                        .every = hf_minutes(1), .overlap = cases[i].policy));
        hf_kit_ok(d, hf_test_advance(d, hf_minutes(3)));
        hf_kit_ok(d, hf_schedule_pause(d, cases[i].policy, "enough"));
        ck_assert_int_eq(runs(d) - before, cases[i].runs);
        ck_assert_int_eq(open_runs(d) - before_open, cases[i].open);
        ck_assert_msg(strncmp(audit(d, cases[i].policy), cases[i].audit, strlen(cases[i].audit)) ==
                          0,
                      "%s: %s", cases[i].policy, audit(d, cases[i].policy));
    }
    ck_assert_str_eq(hf_test_status(d, "schedule:cancel_other:20260101T001300Z"), "cancelled");
    ck_assert_str_eq(hf_test_status(d, "schedule:terminate_other:20260101T001600Z"), "terminated");
    ck_assert_int_eq(hf_test_count(d, "schedule:cancel_other:20260101T001300Z", "CancelRequested"),
                     1);
    hf_kit_close(d);
}

/* What waits starts when the run before it closes, first come first served, one at a time, without
   waiting for the next time; over a crash as well. */
HF_BOTH_ENGINES(b144_buffer_drains_in_order)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value s;

    hf_kit_ok(d, hf_schedule_create(d, "s", "slow", hf_json(d, "1"), .every = hf_minutes(10),
                                    .overlap = "buffer_all"));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(35))); /* 10 runs, 20 and 30 wait */
    ck_assert_int_eq(runs(d), 1);
    s = shown(d, "s");
    ck_assert_int_eq((int64_t)hf_len(hf_get(s, "buffered_actions")), 2);
    hf_kit_ok(d, hf_signal(d, "schedule:s:20260101T001000Z", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "schedule:s:20260101T001000Z"), "completed");
    ck_assert_str_eq(hf_test_status(d, "schedule:s:20260101T002000Z"), "waiting signal:go");
    ck_assert_str_eq(hf_test_status(d, "schedule:s:20260101T003000Z"), "not found");
    hf_test_crash(d);
    hf_kit_ok(d, hf_cancel(d, "schedule:s:20260101T002000Z", "enough")); /* any way of closing */
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "schedule:s:20260101T003000Z"), "waiting signal:go");
    ck_assert_int_eq(open_runs(d), 1);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(10))); /* 40 waits */
    hf_kit_ok(d, hf_schedule_pause(d, "s", "hold"));  /* nothing is started while it is paused */
    hf_kit_ok(d, hf_signal(d, "schedule:s:20260101T003000Z", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(open_runs(d), 0);
    hf_kit_ok(d, hf_schedule_resume(d, "s"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "schedule:s:20260101T004000Z"), "waiting signal:go");
    ck_assert_str_eq(audit(d, "s"), "Created triggered buffered buffered drained drained buffered "
                                    "hold Resumed drained");
    hf_kit_close(d);
}

/* A run that goes on as another is still the same: what waits waits for the last of them. */
HF_BOTH_ENGINES(b144_buffer_waits_for_the_successor)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_schedule_create(d, "s", "relay", hf_json(d, "1"), .every = hf_seconds(20),
                                    .overlap = "buffer_one"));
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(45)));
    ck_assert_str_eq(hf_test_status(d, "schedule:s:20260101T000040Z"), "not found");
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(5)));
    ck_assert_str_eq(hf_test_status(d, "schedule:s:20260101T000020Z"), "completed");
    ck_assert_str_eq(hf_test_status(d, "schedule:s:20260101T000040Z"), "waiting timer");
    hf_kit_close(d);
}

/* After its last run it deletes itself, in the same transaction. */
HF_BOTH_ENGINES(b145_max_runs)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_schedule_create(d, "s", "quick", hf_json(d, "1"), .cron = "* * * * *",
                                    .max_runs = 3));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(2)));
    ck_assert_int_eq(hf_int(shown(d, "s"), "remaining_actions", -1), 1);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(10)));
    ck_assert_int_eq(runs(d), 3);
    ck_assert_str_eq(field(d, "s", "status"), "deleted");
    ck_assert_str_eq(audit(d, "s"), "Created triggered triggered triggered max_runs_exhausted");
    hf_kit_close(d);
}

/* A range in the past fires for each of its times, ends included, by its own ids; buffers count as
   allow_all; a policy may be given; too much, and nonsense, is refused. */
HF_BOTH_ENGINES(b146_backfill)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;

    hf_kit_ok(d,
              hf_schedule_create(d, "s", "slow", hf_json(d, "1"), .cron = "0 * * * *",
                                 .overlap = "buffer_one", .jitter = hf_minutes(1), .paused = true));
    hf_kit_ok(d, hf_test_advance(d, hf_hours(10)));
    hf_kit_ok(d,
              hf_schedule_backfill(d, "s", EPOCH_MS + 3600000, EPOCH_MS + 3 * 3600000, NULL, &out));
    ck_assert_int_eq((int64_t)hf_len(out), 3);
    ck_assert_str_eq(hf_str(out, "0.workflow_id", ""), "schedule:s:backfill:20260101T010000Z");
    ck_assert_str_eq(hf_str(out, "2.occurrence_time", ""), "2026-01-01T03:00:00.000000Z");
    ck_assert_int_eq(open_runs(d), 3);
    hf_kit_ok(d, hf_schedule_backfill(d, "s", EPOCH_MS + 4 * 3600000, EPOCH_MS + 5 * 3600000,
                                      "skip", &out));
    ck_assert_str_eq(hf_str(out, "0.outcome", ""), "skipped");
    ck_assert_str_eq(hf_str(out, "1.outcome", ""), "skipped");
    ck_assert_int_eq(open_runs(d), 3);
    hf_kit_ok(d, hf_schedule_backfill(d, "s", EPOCH_MS + 3600000, EPOCH_MS + 3600000, NULL, &out));
    ck_assert_str_eq(hf_str(out, "0.outcome", ""), "failed"); /* that run exists */
    ck_assert_int_eq(hf_int(shown(d, "s"), "failures_count", 0), 1);
    hf_kit_ok(d, hf_schedule_backfill(d, "s", EPOCH_MS + 1, EPOCH_MS + 2, NULL, &out));
    ck_assert_int_eq((int64_t)hf_len(out), 0);
    ck_assert_int_eq(hf_schedule_backfill(d, "s", EPOCH_MS + 2, EPOCH_MS + 1, NULL, &out),
                     HF_INVALID);
    ck_assert_int_eq(hf_schedule_backfill(d, "s", EPOCH_MS, EPOCH_MS + 11 * 3600000, NULL, &out),
                     HF_INVALID);
    ck_assert_int_eq(
        hf_schedule_backfill(d, "s", EPOCH_MS - INT64_C(5000) * 3600000, EPOCH_MS, NULL, &out),
        HF_TOOBIG);
    hf_kit_close(d);
}

/* ---- 147 to 150 */

/* Jitter makes a time late, never early, never by more than was said, and differently each time. */
HF_BOTH_ENGINES(b147_jitter_is_bounded)
{
    hf_engine *d = hf_kit_open(kind, &app);
    int64_t least = INT64_MAX;
    int64_t most = 0;

    hf_kit_ok(d, hf_schedule_create(d, "s", "quick", hf_json(d, "1"), .every = hf_hours(1),
                                    .jitter = hf_minutes(10)));
    for (int i = 1; i <= 24; i++) {
        int64_t slot_us = (EPOCH_MS + i * INT64_C(3600000)) * 1000;
        int64_t next_us = hf_kit_number(d, "SELECT next_us FROM schedule");
        char id[64];

        ck_assert_int_ge(next_us, slot_us);
        ck_assert_int_le(next_us, slot_us + INT64_C(600000000));
        least = next_us - slot_us < least ? next_us - slot_us : least;
        most = next_us - slot_us > most ? next_us - slot_us : most;
        hf_kit_ok(d, hf_test_advance(d, (next_us - hf_clock_wall_us(d->clock)) / 1000));
        (void)snprintf(id, sizeof(id), "schedule:s:202601%02dT%02d0000Z", i / 24 + 1, i % 24);
        ck_assert_str_eq(hf_test_status(d, id), "completed"); /* named by the time it stands for */
    }
    ck_assert_int_gt(most - least, INT64_C(60000000));
    ck_assert_int_eq(runs(d), 24);
    hf_kit_close(d);
}

/* Intervals are counted from 1970 and shifted by their offset. */
HF_BOTH_ENGINES(b148_interval_and_offset)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value times = NULL;

    hf_kit_ok(d, hf_schedule_create(d, "s", "quick", hf_json(d, "1"), .every = hf_minutes(30),
                                    .offset = hf_minutes(5)));
    ck_assert_str_eq(field(d, "s", "next_fire_at"), "2026-01-01T00:05:00.000000Z");
    hf_kit_ok(d, hf_schedule_times(d, "s", EPOCH_MS, EPOCH_MS + 3600000, 10, &times));
    ck_assert_int_eq((int64_t)hf_len(times), 2);
    ck_assert_int_eq(hf_int(times, "1", 0), EPOCH_MS + 35 * 60000);
    hf_kit_ok(d, hf_test_advance(d, hf_hours(1)));
    ck_assert_int_eq(runs(d), 2);
    hf_kit_ok(d,
              hf_schedule_create(d, "iso", "quick", hf_json(d, "1"),
                                 .spec = parsed(d, "{\"intervals\":[{\"every\":\"P1DT12H\"}]}")));
    hf_kit_ok(d, hf_schedule_times(d, "iso", EPOCH_MS, EPOCH_MS + 4 * 86400000, 10, &times));
    ck_assert_int_eq(hf_int(times, "1", 0) - hf_int(times, "0", 0), 36 * 3600000);
    hf_kit_close(d);
}

/* Expressions and intervals together: the earliest counts, and one that two of them name is one. */
HF_BOTH_ENGINES(b149_earliest_of_all)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value times = NULL;

    hf_kit_ok(d, hf_schedule_create(
                     d, "s", "quick", hf_json(d, "1"),
                     .spec = parsed(d, "{\"cron_expressions\":[\"0 * * * *\",\"20 * * * *\"],"
                                       "\"intervals\":[{\"every\":\"PT15M\"},{\"every\":1800,"
                                       "\"offset\":300}]}")));
    hf_kit_ok(d, hf_schedule_times(d, "s", EPOCH_MS, EPOCH_MS + 3600000, 100, &times));
    ck_assert_str_eq(hf_text(hf_mem_of_engine(d), times),
                     "[1767225600000,1767225900000,1767226500000,1767226800000,1767227400000,"
                     "1767227700000,1767228300000,1767229200000]");
    hf_kit_ok(d, hf_test_advance(d, hf_hours(1)));
    ck_assert_int_eq(runs(d), 7);
    ck_assert_str_eq(hf_kit_said(d, "schedule:s:20260101T002000Z", "ScheduleTriggered", 0,
                                 HF_KEY_CRON_EXPRESSION),
                     "20 * * * *");
    ck_assert_str_eq(hf_kit_said(d, "schedule:s:20260101T001500Z", "ScheduleTriggered", 0,
                                 HF_KEY_CRON_EXPRESSION),
                     "");
    hf_kit_close(d);
}

/* However many times were missed, one fires, the first of them, and the next is after now. */
HF_BOTH_ENGINES(b150_missed_times_fire_once)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_schedule_create(d, "s", "quick", hf_json(d, "1"), .cron = "*/10 * * * *"));
    hf_kit_skip(d, hf_hours(5) + hf_minutes(3));
    d = hf_kit_reopen(d, NULL);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(runs(d), 1);
    ck_assert_str_eq(hf_test_status(d, "schedule:s:20260101T001000Z"), "completed");
    ck_assert_str_eq(field(d, "s", "next_fire_at"), "2026-01-01T05:10:00.000000Z");
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(7)));
    ck_assert_int_eq(runs(d), 2);
    hf_kit_close(d);
}

/* ---- beyond the contract's numbers */

/* A clock that goes back fires no slot again; it goes on when the time is past the last one. */
HF_BOTH_ENGINES(clock_that_goes_back_fires_nothing_twice)
{
    hf_engine *d = hf_kit_open(kind, &app);
    int64_t now_us;

    hf_kit_ok(d, hf_schedule_create(d, "s", "quick", hf_json(d, "1"), .cron = "*/10 * * * *"));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(30)));
    ck_assert_int_eq(runs(d), 3);
    now_us = hf_clock_wall_us(d->clock);
    hf_clock_set_wall(d->virtual_clock, now_us - INT64_C(3600000000));
    d = hf_kit_reopen(d, NULL);
    hf_kit_ok(d, hf_schedule_pause(d, "s", NULL));
    hf_kit_ok(d, hf_schedule_resume(d, "s"));
    ck_assert_str_eq(field(d, "s", "next_fire_at"), "2026-01-01T00:40:00.000000Z");
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(60)));
    ck_assert_int_eq(runs(d), 3);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(10)));
    ck_assert_int_eq(runs(d), 4);
    hf_kit_close(d);
}

/* What was right when it was planned is looked at again when it fires. */
HF_BOTH_ENGINES(actions_are_checked_when_they_fire)
{
    hf_engine *d = hf_kit_open(kind, &app);
    char attributes[320];
    char longer[257];

    memset(longer, 'x', sizeof(longer));
    longer[256] = '\0';
    (void)snprintf(attributes, sizeof(attributes), "{\"code\":\"%s\"}", longer);
    hf_kit_ok(d, hf_schedule_create(d, "s", "quick", hf_json(d, "1"), .cron = "* * * * *",
                                    .attributes = attributes));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    hf_kit_ok(d, hf_attribute_create(d, "code", "keyword"));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    hf_kit_ok(d, hf_schedule_update(d, "s", .attributes = "{\"code\":\"x\"}"));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_str_eq(audit(d, "s"), "Created triggered failed Updated triggered");
    hf_kit_close(d);
}

/* A start that cannot be made is counted as a failure, and the schedule goes on. */
HF_BOTH_ENGINES(failed_starts_are_counted)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "quick", hf_json(d, "1"), .id = "schedule:taken:20260101T000100Z"));
    hf_kit_ok(d, hf_schedule_create(d, "taken", "quick", hf_json(d, "1"), .cron = "* * * * *"));
    hf_kit_ok(d, hf_schedule_create(d, "wrong", "strict", hf_json(d, "{'n': 'text'}"),
                                    .cron = "* * * * *"));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(3)));
    ck_assert_str_eq(audit(d, "taken"), "Created failed triggered triggered");
    ck_assert_str_eq(audit(d, "wrong"), "Created failed failed failed");
    ck_assert_int_eq(hf_int(shown(d, "taken"), "failures_count", 0), 1);
    ck_assert_int_eq(hf_int(shown(d, "wrong"), "failures_count", 0), 3);
    ck_assert_ptr_nonnull(strstr(failure(d, "wrong"), "The n argument must be of type int"));
    ck_assert_str_eq(failure(d, "taken"), "an instance of that id exists already");
    hf_kit_close(d);
}

/* A crash after any commit of an hour changes neither the runs nor what is recorded. */
HF_BOTH_ENGINES(crashes_after_any_commit_change_nothing)
{
    for (int64_t nth = 1; nth <= 24; nth += hf_campaign_stride(5, 3)) {
        hf_engine *d = hf_kit_open(kind, &app);

        hf_kit_ok(d, hf_schedule_create(d, "s", "slow", hf_json(d, "1"), .cron = "*/20 * * * *",
                                        .overlap = nth % 2 ? "buffer_all" : "terminate_other"));
        hf_kit_crash_after(d, nth);
        hf_kit_ok(d, hf_test_advance(d, hf_minutes(65)));
        hf_kit_ok(d, hf_test_advance(d, hf_hours(3)));
        ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM schedule_history "
                                          "WHERE slot_us IS NOT NULL"),
                         12);
        hf_kit_close(d);
    }
}

/* Two nodes of one store, moved by hand: both want to fire every slot at the same time, one does.
 */
START_TEST(two_nodes_fire_each_slot_once)
{
    hf_engine *a = hf_kit_open(HF_ENGINE_POSTGRES, &app);
    hf_clock *clock = hf_clock_new_virtual(hf_clock_wall_us(a->clock));
    hf_engine *b = NULL;
    int64_t refused = 0;

    hf_kit_ok(a, hf_schedule_create(a, "s", "quick", hf_json(a, "1"), .cron = "* * * * *"));
    hf_kit_ok(a, hf_schedule_create(a, "all", "slow", hf_json(a, "1"), .every = hf_minutes(2),
                                    .overlap = "buffer_all"));
    hf_kit_ok(b, hf_engine_open(hf_test_place_address(hf_kit_place(a)), &app, clock, &b));
    hf_kit_ok(b, hf_engine_begin(b, ENGINE_TEST, &b->open_error));
    for (int i = 0; i < 30; i++) {
        hf_engine *first = i % 2 ? a : b;
        hf_engine *second = i % 2 ? b : a;
        bool worked = true;

        hf_clock_advance(a->virtual_clock, INT64_C(60000000));
        hf_clock_advance(b->virtual_clock, INT64_C(60000000));
        (void)hf_core_step(first->core); /* both have read the schedule before one commits */
        (void)hf_core_step(second->core);
        while (worked) {
            worked = hf_engine_pump(first);
            worked |= hf_engine_pump(second);
        }
    }
    refused =
        (int64_t)(hf_writer_stats_get(a->writer).refused + hf_writer_stats_get(b->writer).refused);
    ck_assert_int_gt(refused, 10); /* they did race */
    ck_assert_int_eq(hf_kit_number(a, "SELECT count(*) FROM instance WHERE id LIKE 'schedule:s:%'"),
                     30);
    ck_assert_int_eq(hf_kit_number(a, "SELECT count(*) FROM schedule_history h JOIN schedule s ON "
                                      "s.key = h.schedule WHERE s.id = 's' AND h.run IS NOT NULL"),
                     30);
    ck_assert_int_eq(hf_kit_number(a, "SELECT count(*) FROM schedule_history h JOIN schedule s ON "
                                      "s.key = h.schedule WHERE s.id = 'all' AND "
                                      "h.slot_us IS NOT NULL"),
                     15);
    hf_close(b);
    hf_kit_close(a);
}
END_TEST

/* Two nodes with threads and the real clock, for a few seconds: a slot each second, one run each,
   also after one of the two is gone. */
START_TEST(two_living_nodes_fire_each_slot_once)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_engine *a = NULL;
    hf_engine *b = NULL;
    hf_value list = NULL;
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + INT64_C(60000000);
    int64_t fires = 0;

    hf_kit_ok(a, hf_open(hf_test_place_address(place), &app, &a));
    hf_kit_ok(a, hf_schedule_create(a, "s", "quick", hf_json(a, "1"), .cron = "* * * * * *",
                                    .overlap = "allow_all")); /* one may stay open with its node */
    hf_kit_ok(b, hf_open(hf_test_place_address(place), &app, &b));
    hf_kit_ok(b, hf_schedule_show(b, "s", &list)); /* it begins to work */
    while (fires < 4 && hf_clock_mono_us(hf_clock_system()) < until_us)
        fires = hf_int(shown(b, "s"), "fires_count", 0);
    ck_assert_int_ge(fires, 4);
    hf_close(a);
    while (fires < 7 && hf_clock_mono_us(hf_clock_system()) < until_us)
        fires = hf_int(shown(b, "s"), "fires_count", 0);
    ck_assert_int_ge(fires, 7);
    hf_kit_ok(b, hf_schedule_delete(b, "s"));
    fires = hf_int(shown(b, "s"), "fires_count", 0);
    hf_close(b);
    hf_kit_ok(b, hf_engine_open(hf_test_place_address(place), &app, hf_clock_new_virtual(1), &b));
    ck_assert_int_eq(hf_kit_number(b, "SELECT count(DISTINCT slot_us) FROM schedule_history "
                                      "WHERE run IS NOT NULL"),
                     fires);
    ck_assert_int_eq(hf_kit_number(b, "SELECT count(*) FROM instance"), fires);
    hf_close(b);
    hf_test_place_free(place);
}
END_TEST

HF_PG_SUITE_MAIN("engine/schedule_fire", HF_BOTH(b141_no_worker_supports_the_start),
                 HF_BOTH(b142_due_and_future), HF_BOTH(b143_overlap_policies),
                 HF_BOTH(b144_buffer_drains_in_order), HF_BOTH(b144_buffer_waits_for_the_successor),
                 HF_BOTH(b145_max_runs), HF_BOTH(b146_backfill), HF_BOTH(b147_jitter_is_bounded),
                 HF_BOTH(b148_interval_and_offset), HF_BOTH(b149_earliest_of_all),
                 HF_BOTH(b150_missed_times_fire_once),
                 HF_BOTH(clock_that_goes_back_fires_nothing_twice),
                 HF_BOTH(actions_are_checked_when_they_fire), HF_BOTH(failed_starts_are_counted),
                 HF_BOTH_SLOW(crashes_after_any_commit_change_nothing, 300),
                 {two_nodes_fire_each_slot_once, 0}, {two_living_nodes_fire_each_slot_once, 180})
