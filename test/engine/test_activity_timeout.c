/* How long an activity may take: signs of life and what they report, outcomes that come too late,
   the four timeouts. Time is virtual; an activity that takes time moves the clock itself, so that
   whatever falls due meanwhile happens while it runs. */
#include <stdio.h>
#include <string.h>

#include "engine/activity_call.h"

/* ---- activities */

/* Takes `pause` ms in its first `slow` attempts and says which attempt it was. */
static hf_value slow(hf_act *a, hf_value in)
{
    int number = hf_attempt(a);

    calls++;
    if (number <= (int)hf_int(in, "slow", 1))
        hf_kit_ok(world, hf_test_advance(world, hf_int(in, "pause", 0)));
    return hf_json(a, "{'attempt': %d}", number);
}

/* In its first attempt returns only when that has timed out and the next one is begun. */
static hf_value overtaken(hf_act *a, hf_value in)
{
    static const hf_ms passing[] = {5000, 1000}; /* its time, the pause behind it */

    for (size_t i = 0; hf_attempt(a) == 1 && i < sizeof(passing) / sizeof(passing[0]); i++) {
        hf_kit_skip(world, passing[i]);
        for (int turns = 0; turns < 8; turns++)
            hf_kit_turn(world);
    }
    (void)in;
    return hf_json(a, "{'attempt': %d}", hf_attempt(a));
}

/* Reports `beats` times, `pause` ms apart, then takes `rest` ms. */
static hf_value beating(hf_act *a, hf_value in)
{
    int64_t beats = hf_int(in, "beats", 1);
    bool alive = true;

    calls++;
    for (int64_t i = 1; alive && i <= beats; i++) {
        alive = hf_heartbeat(a, .current = i, .total = beats, .unit = "rows", .message = "copying");
        if (alive)
            hf_kit_ok(world, hf_test_advance(world, hf_int(in, "pause", 0)));
    }
    hf_kit_ok(world, hf_test_advance(world, hf_int(in, "rest", 0)));
    return alive && hf_heartbeat_with(a, NULL) ? hf_json(a, "'done'") : hf_stopped(a);
}

/* Goes on where the attempt before it stopped. */
static hf_value resuming(hf_act *a, hf_value in)
{
    int64_t at = hf_int(hf_last_progress(a), "current", 0);

    (void)in;
    calls++;
    if (at < 2 && hf_heartbeat(a, .current = at + 1))
        return hf_retry(a, "not_yet", "at %d", (int)at);
    return hf_json(a, "%lld", (long long)at);
}

static hf_value chatty(hf_act *a, hf_value in)
{
    hf_progress p = {.size_ = sizeof(p),
                     .current = hf_int(in, "current", 0),
                     .message = hf_str(in, "message", NULL),
                     .unit = hf_str(in, "unit", NULL),
                     .details = hf_get(in, "details")};

    if (!hf_heartbeat_with(a, &p))
        return hf_stopped(a);
    return hf_json(a, "'fine'");
}

/* Is cancelled by an operator while it works. */
static hf_value doomed(hf_act *a, hf_value in)
{
    bool before = hf_heartbeat(a, .current = 1);
    bool after;

    calls++;
    hf_kit_ok(world, hf_cancel(world, hf_str(in, "id", ""), "enough"));
    hf_kit_ok(world, hf_test_drain(world));
    after = hf_heartbeat(a, .current = 2);
    ck_assert(before && !after);
    return hf_bool(in, "obey", true) ? hf_stopped(a) : hf_json(a, "'too late'");
}

/* ---- workflows */

static hf_value two(hf_ctx *w, hf_value in)
{
    hf_future f[2];

    f[0] = hf_spawn_activity(w, "nobody", in, .schedule_to_start = 1500);
    f[1] = hf_spawn_activity(w, "nobody", in, .schedule_to_start = 1501);
    return hf_join_all(w, f, 2);
}

static const hf_workflow_def workflows[] = {
    {.type = "call", .run = call}, {.type = "two", .run = two}, {0}};
static const hf_activity_def activities[] = {
    {.name = "flaky", .run = flaky},         {.name = "slow", .run = slow},
    {.name = "overtaken", .run = overtaken}, {.name = "beating", .run = beating},
    {.name = "resuming", .run = resuming},   {.name = "chatty", .run = chatty},
    {.name = "doomed", .run = doomed},       {0}};
static const hf_app app = {.name = "test", .workflows = workflows, .activities = activities};

/* ---- signs of life */

/* The newest report is recorded, at most once in a third of the timeout. */
HF_EVERY_WAY(b105_heartbeat_records_bounded_progress)
{
    hf_engine *d =
        begin(kind, "a", "call",
              QUOTE({"activity" : "beating", "beats" : 9, "pause" : 1000, "heartbeat" : 9000}));

    ck_assert_str_eq(hf_kit_result(d, "a"), "\"done\"");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityHeartbeatRecorded"), 4); /* 0, 3, 6, 9 s */
    ck_assert_str_eq(hf_kit_said(d, "a", "ActivityHeartbeatRecorded", 0, HF_KEY_PROGRESS),
                     "{\"current\":1,\"total\":9,\"unit\":\"rows\",\"message\":\"copying\"}");
    ck_assert_ptr_nonnull(strstr(
        hf_kit_said(d, "a", "ActivityHeartbeatRecorded", 1, HF_KEY_PROGRESS), "\"current\":3"));
    hf_kit_close(d);
}

/* A report that breaks a rule fails the attempt for good and is not recorded. */
HF_EVERY_WAY(b106_malformed_progress_is_refused)
{
    static const char *const inputs[] = {
        QUOTE({"activity" : "chatty", "max" : 3, "current" : -1}),
        QUOTE({"activity" : "chatty", "details" : {"a" : [1]}}),
        QUOTE({"activity" : "chatty", "details" : {"a b" : 1}}),
        QUOTE({"activity" : "chatty", "details" : 7}), QUOTE({
            "activity" : "chatty",
            "unit" : "0123456789012345678901234567890123456789012345678901234567890123x"
        })};
    hf_engine *d =
        begin(kind, "ok", "call", QUOTE({"activity" : "chatty", "details" : {"a.b:c-d_9" : "x"}}));
    hf_value input;
    char long_text[400];
    char id[8];

    ck_assert_str_eq(hf_kit_result(d, "ok"), "\"fine\"");
    for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
        (void)snprintf(id, sizeof(id), "b-%zu", i);
        input = hf_parse_(hf_mem_of_engine(d), inputs[i], strlen(inputs[i]));
        ck_assert_ptr_nonnull(input);
        hf_kit_ok(d, hf_start(d, "call", input, .id = id));
        hf_kit_ok(d, hf_test_drain(d));
        ck_assert_str_eq(hf_str(hf_parse_(hf_mem_of_engine(d), hf_kit_result(d, id),
                                          strlen(hf_kit_result(d, id))),
                                "error", ""),
                         "invalid_progress");
        ck_assert_int_eq(hf_test_count(d, id, "ActivityHeartbeatRecorded"), 0);
        ck_assert_int_eq(hf_test_count(d, id, "ActivityRetryScheduled"), 0);
    }
    memset(long_text, 'm', 281);
    long_text[281] = '\0';
    hf_kit_ok(d, hf_start(d, "call", hf_json(d, "{'activity': 'chatty', 'message': %s}", long_text),
                          .id = "long"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_ptr_nonnull(strstr(hf_kit_result(d, "long"), "281 characters"));
    long_text[280] = '\0';
    hf_kit_ok(d, hf_start(d, "call", hf_json(d, "{'activity': 'chatty', 'message': %s}", long_text),
                          .id = "fits"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "fits"), "\"fine\"");
    hf_kit_close(d);
}

/* The next attempt is told how far the one before it got, also by another process. */
HF_EVERY_WAY(last_progress_is_handed_on)
{
    hf_engine *d = begin(kind, "a", "call", QUOTE({"activity" : "resuming", "max" : 9}));

    hf_kit_ok(d, hf_test_advance(d, hf_seconds(30)));
    ck_assert_str_eq(hf_kit_result(d, "a"), "2");
    hf_kit_ok(d, hf_start(d, "call", hf_json(d, "{'activity': 'resuming', 'max': 9}"), .id = "b"));
    hf_kit_ok(d, hf_test_advance(d, 0));
    ck_assert_int_eq(hf_test_count(d, "b", "ActivityStarted"), 1);
    world = d = hf_kit_reopen(d, NULL);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(1)));
    world = d = hf_kit_reopen(d, NULL);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(30)));
    ck_assert_str_eq(hf_kit_result(d, "b"), "2");
    ck_assert_int_eq(hf_test_count(d, "b", "ActivityHeartbeatRecorded"), 2);
    hf_kit_close(d);
}

/* After a cancel the next sign of life says stop; ActivityCancelled is on the record. */
HF_EVERY_WAY(b107_heartbeat_after_cancel_says_stop)
{
    hf_engine *d = begin(kind, "a", "call", QUOTE({"activity" : "doomed", "id" : "a", "max" : 5}));

    ck_assert_int_eq(calls, 1);
    ck_assert_str_eq(hf_test_status(d, "a"), "cancelled");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityCancelled"), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM activity"), 0);
    hf_kit_ok(d, hf_test_advance(d, hf_days(1)));
    ck_assert_int_eq(calls, 1);
    hf_kit_close(d);
}

/* A result that comes after the cancel changes nothing. */
HF_EVERY_WAY(b108_late_completion_after_cancel_is_ignored)
{
    hf_engine *d =
        begin(kind, "a", "call", QUOTE({"activity" : "doomed", "id" : "a", "obey" : false}));

    ck_assert_str_eq(hf_test_status(d, "a"), "cancelled");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityCompleted"), 0);
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityCancelled"), 1);
    hf_kit_close(d);
}

/* ---- outcomes that come too late */

/* An attempt that timed out is over: its late result is dropped and the next attempt's counts. */
HF_EVERY_WAY(b109_late_outcome_loses_to_the_newer_attempt)
{
    hf_engine *d =
        begin(kind, "a", "call",
              QUOTE({"activity" : "slow", "pause" : 60000, "start_to_close" : 5000, "max" : 2}));

    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "a"), "{\"attempt\":2}");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityCompleted"), 1);
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityStarted"), 2);
    ck_assert_str_eq(hf_kit_said(d, "a", "ActivityRetryScheduled", 0, HF_KEY_TIMEOUT_KIND),
                     "start_to_close");
    hf_kit_close(d);
}

/* Nor does it count when the next attempt is under way: it is not that one's. */
HF_BOTH_ENGINES(b109_late_outcome_is_not_the_newer_attempts)
{
    hf_engine *d = begin(kind, "a", "call",
                         QUOTE({"activity" : "overtaken", "start_to_close" : 5000, "max" : 2}));

    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "a"), "{\"attempt\":2}");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityStarted"), 2);
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityCompleted"), 1);
    hf_kit_close(d);
}

/* Nor does it count when it comes between the attempts. */
HF_EVERY_WAY(b109_late_outcome_counts_for_nothing)
{
    hf_engine *d =
        begin(kind, "a", "call",
              QUOTE({"activity" : "slow", "pause" : 5500, "start_to_close" : 5000, "max" : 2}));

    ck_assert_str_eq(hf_test_status(d, "a"), "waiting activity:slow");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "a"), "{\"attempt\":2}");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityStarted"), 2);
    hf_kit_close(d);
}

/* ---- the four timeouts */

/* A pending activity times out; the retry has a window of its own, counted from when it may
   begin. */
HF_EVERY_WAY(b110_schedule_to_start_has_a_fresh_window)
{
    hf_engine *d = begin(
        kind, "a", "call",
        QUOTE({"activity" : "nobody", "schedule_to_start" : 10000, "max" : 2, "listed" : true}));

    hf_kit_ok(d, hf_test_advance(d, 9999));
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityRetryScheduled"), 0);
    hf_kit_ok(d, hf_test_advance(d, 1));
    ck_assert_str_eq(hf_kit_said(d, "a", "ActivityRetryScheduled", 0, HF_KEY_TIMEOUT_KIND),
                     "schedule_to_start");
    ck_assert_int_eq(hf_kit_number(d, "SELECT deadline_us - available_us FROM activity"), 10000000);
    world = d = hf_kit_reopen(d, NULL);      /* armed again without the run being touched */
    hf_kit_ok(d, hf_test_advance(d, 10999)); /* 1 s of backoff, then 10 s */
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityTimedOut"), 0);
    hf_kit_ok(d, hf_test_advance(d, 1));
    ck_assert_str_eq(hf_kit_said(d, "a", "ActivityTimedOut", 0, HF_KEY_TIMEOUT_KIND),
                     "schedule_to_start");
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    hf_kit_close(d);
}

/* Without such a timeout the deadline of a retry is cleared. */
HF_EVERY_WAY(b110_no_window_clears_the_deadline)
{
    hf_engine *d =
        begin(kind, "a", "call",
              QUOTE({"activity" : "flaky", "start_to_close" : 5000, "max" : 2, "listed" : true}));

    ck_assert_int_eq(
        hf_kit_number(d, "SELECT count(*) FROM activity WHERE deadline_us IS NOT NULL"), 0);
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityRetryScheduled"), 1);
    hf_kit_close(d);
}

/* Each attempt has the whole of it; the last one that overruns ends the activity. */
HF_EVERY_WAY(b111_start_to_close_is_per_attempt)
{
    hf_engine *d = begin(kind, "a", "call", QUOTE({
                             "activity" : "slow",
                             "pause" : 5000,
                             "slow" : 9,
                             "start_to_close" : 5000,
                             "max" : 2,
                             "listed" : true
                         }));

    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_int_eq(calls, 2);
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityRetryScheduled"), 1);
    ck_assert_str_eq(hf_kit_said(d, "a", "ActivityTimedOut", 0, HF_KEY_TIMEOUT_KIND),
                     "start_to_close");
    ck_assert_str_eq(hf_kit_said(d, "a", "ActivityTimedOut", 0, HF_KEY_ATTEMPT_NUMBER), "2");
    hf_kit_close(d);
}

/* The whole takes too long: no attempt follows, however many are left. */
HF_EVERY_WAY(b112_schedule_to_close_is_terminal)
{
    hf_engine *d =
        begin(kind, "a", "call",
              QUOTE({"activity" : "flaky", "good" : 99, "max" : 50, "schedule_to_close" : 10000}));

    hf_kit_ok(d, hf_test_advance(d, 9999));
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityTimedOut"), 0);
    hf_test_crash(d); /* the deadline outlives the process */
    hf_kit_ok(d, hf_test_advance(d, 1));
    ck_assert_str_eq(hf_kit_said(d, "a", "ActivityTimedOut", 0, HF_KEY_TIMEOUT_KIND),
                     "schedule_to_close");
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    hf_kit_close(d);
}

/* Of two timeouts that have passed, schedule_to_close is the one on the record. */
HF_EVERY_WAY(b112_schedule_to_close_comes_first)
{
    hf_engine *d = begin(kind, "a", "call", QUOTE({
                             "activity" : "slow",
                             "pause" : 9000,
                             "start_to_close" : 5000,
                             "schedule_to_close" : 5000,
                             "heartbeat" : 5000,
                             "max" : 3
                         }));

    ck_assert_str_eq(hf_kit_said(d, "a", "ActivityTimedOut", 0, HF_KEY_TIMEOUT_KIND),
                     "schedule_to_close");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityRetryScheduled"), 0);
    hf_kit_close(d);
}

/* Silence ends the attempt; signs of life put the deadline off, without being recorded each. */
HF_EVERY_WAY(b113_heartbeat_timeout_and_extension)
{
    hf_engine *d =
        begin(kind, "a", "call",
              QUOTE({"activity" : "beating", "beats" : 5, "pause" : 2900, "heartbeat" : 3000}));

    ck_assert_str_eq(hf_kit_result(d, "a"), "\"done\"");
    hf_kit_ok(d, hf_start(d, "call",
                          hf_json(d, "{'activity': 'beating', 'beats': 2, 'pause': 1000, 'rest': "
                                     "3000, 'heartbeat': 3000}"),
                          .id = "b"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_said(d, "b", "ActivityTimedOut", 0, HF_KEY_TIMEOUT_KIND), "heartbeat");
    ck_assert_int_eq(hf_test_count(d, "b", "ActivityCompleted"), 0);
    hf_kit_close(d);
}

/* Nothing happens a moment too early, and nothing at all after the end. */
HF_EVERY_WAY(b114_no_enforcement_before_or_after)
{
    hf_engine *d = begin(kind, "a", "call",
                         QUOTE({"activity" : "slow", "pause" : 4999, "start_to_close" : 5000}));

    ck_assert_str_eq(hf_kit_result(d, "a"), "{\"attempt\":1}");
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityTimedOut"), 0);
    hf_kit_ok(d,
              hf_start(d, "call", hf_json(d, "{'activity': 'nobody', 'schedule_to_start': 5000}"),
                       .id = "b"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_cancel(d, "b", NULL));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_int_eq(hf_test_count(d, "b", "ActivityTimedOut"), 0);
    hf_kit_close(d);
}

/* Deadlines within one second are told apart. */
HF_EVERY_WAY(b115_deadlines_within_a_second)
{
    hf_engine *d = begin(kind, "a", "two", "{}");

    hf_kit_ok(d, hf_test_advance(d, 1499));
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityTimedOut"), 0);
    hf_kit_ok(d, hf_test_advance(d, 1));
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityTimedOut"), 1);
    hf_kit_ok(d, hf_test_advance(d, 1));
    ck_assert_str_eq(hf_test_status(d, "a"), "failed");
    hf_kit_close(d);
}

/* A sign of life that was accepted before the alarm counts, whatever the row in the store says. */
HF_EVERY_WAY(b116_accepted_heartbeat_fences_the_alarm)
{
    hf_engine *d = begin(kind, "a", "call", QUOTE({
                             "activity" : "beating",
                             "beats" : 1,
                             "pause" : 1900,
                             "rest" : 1000,
                             "heartbeat" : 3000
                         }));

    ck_assert_str_eq(hf_kit_result(d, "a"), "\"done\"");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityTimedOut"), 0);
    hf_kit_close(d);
}

/* The code sees a timeout as a failure of the category timeout, and goes on. */
HF_EVERY_WAY(b117_timed_out_is_a_failure_of_its_kind)
{
    hf_engine *d = begin(kind, "a", "call",
                         QUOTE({"activity" : "slow", "pause" : 9000, "start_to_close" : 5000}));

    ck_assert_str_eq(hf_kit_said(d, "a", "ActivityTimedOut", 0, HF_KEY_FAILURE_CATEGORY),
                     "timeout");
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    ck_assert_ptr_nonnull(strstr(hf_kit_result(d, "a"), "took too long"));
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN(
    "engine/activity_timeout", HF_WAYS(b105_heartbeat_records_bounded_progress),
    HF_WAYS(b106_malformed_progress_is_refused), HF_WAYS(last_progress_is_handed_on),
    HF_WAYS(b107_heartbeat_after_cancel_says_stop),
    HF_WAYS(b108_late_completion_after_cancel_is_ignored),
    HF_WAYS(b109_late_outcome_loses_to_the_newer_attempt),
    HF_BOTH(b109_late_outcome_is_not_the_newer_attempts),
    HF_WAYS(b109_late_outcome_counts_for_nothing),
    HF_WAYS(b110_schedule_to_start_has_a_fresh_window), HF_WAYS(b110_no_window_clears_the_deadline),
    HF_WAYS(b111_start_to_close_is_per_attempt), HF_WAYS(b112_schedule_to_close_is_terminal),
    HF_WAYS(b112_schedule_to_close_comes_first), HF_WAYS(b113_heartbeat_timeout_and_extension),
    HF_WAYS(b114_no_enforcement_before_or_after), HF_WAYS(b115_deadlines_within_a_second),
    HF_WAYS(b116_accepted_heartbeat_fences_the_alarm),
    HF_WAYS(b117_timed_out_is_a_failure_of_its_kind))
