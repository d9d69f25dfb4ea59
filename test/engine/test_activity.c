/* Activities as a workflow sees them: attempts and retries, rows against history, attempts that
   were lost, values that are too big. Time is virtual. How long an activity may take is in
   test_activity_timeout.c, code that kills its process in test_quarantine.c. */
#include <string.h>

#include "engine/activity_call.h"

/* ---- activities */

static hf_value echo(hf_act *a, hf_value in)
{
    (void)a;
    calls++;
    return in;
}

static hf_value refuse(hf_act *a, hf_value in)
{
    calls++;
    return hf_reject(a, "card_declined", "limit is %d", (int)hf_int(in, "limit", 0));
}

/* A value of so many bytes as JSON: two strings in an array. */
static hf_value value_of(hf_mem *mem, int64_t bytes)
{
    size_t len = (size_t)(bytes - 7);
    char *text = hf_mem_alloc(mem, len + 1);
    hf_value first;

    memset(text, 'x', len);
    first = hf_json_(mem, "%s", text + len / 2);
    text[len / 2] = '\0';
    return hf_json_(mem, "[%p,%p]", (void *)first, (void *)hf_json_(mem, "%s", text));
}

static hf_value big(hf_act *a, hf_value in)
{
    return value_of(hf_mem_of_act(a), hf_int(in, "bytes", 0));
}

/* ---- workflows */

static hf_value huge(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "echo", value_of(hf_mem_of_ctx(w), hf_int(in, "bytes", 0)));
}

static const hf_workflow_def workflows[] = {
    {.type = "call", .run = call}, {.type = "huge", .run = huge}, {0}};
static const hf_activity_def activities[] = {{.name = "echo", .run = echo},
                                             {.name = "flaky", .run = flaky},
                                             {.name = "refuse", .run = refuse},
                                             {.name = "big", .run = big},
                                             {.name = "stubborn", .run = flaky, .max_attempts = 4},
                                             {0}};
static const hf_app app = {.name = "test", .workflows = workflows, .activities = activities};

/* A later build: the same activity, not to be retried; and one that was missing. */
static const hf_activity_def later_activities[] = {
    {.name = "stubborn", .run = flaky}, {.name = "nobody", .run = echo}, {0}};
static const hf_app later = {
    .name = "test", .workflows = workflows, .activities = later_activities};

/* ---- attempts and retries */

/* An activity's result is the workflow's result, recorded in the contract's order. */
HF_EVERY_WAY(b098_success_path_in_order)
{
    hf_engine *d = begin(kind, "a", "call", QUOTE({"activity" : "echo"}));

    ck_assert_str_eq(hf_kit_history(d, "a"),
                     "StartAccepted WorkflowStarted ActivityScheduled ActivityStarted "
                     "ActivityCompleted WorkflowCompleted");
    ck_assert_str_eq(hf_kit_result(d, "a"), "{\"activity\":\"echo\"}");
    hf_kit_close(d);
}

/* Each retry waits for the next entry of the list; execution id and idempotency key stay, the
   attempt number grows. */
HF_EVERY_WAY(b099_retry_follows_the_backoff_list)
{
    hf_engine *d = begin(kind, "a", "call",
                         QUOTE({"activity" : "flaky", "good" : 4, "max" : 5, "listed" : true}));

    ck_assert_int_eq(calls, 1);
    ck_assert_str_eq(hf_kit_said(d, "a", "ActivityRetryScheduled", 0, HF_KEY_EXCEPTION_TYPE),
                     "gateway_timeout");
    hf_kit_ok(d, hf_test_advance(d, 999));
    ck_assert_int_eq(calls, 1);
    hf_kit_ok(d, hf_test_advance(d, 1));
    ck_assert_int_eq(calls, 2);
    hf_kit_ok(d, hf_test_advance(d, 2999));
    ck_assert_int_eq(calls, 2);
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_advance(d, 1));
    ck_assert_int_eq(calls, 3);
    hf_kit_ok(d, hf_test_advance(d, 3000)); /* the last entry repeats */
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityRetryScheduled"), 3);
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityStarted"), 4);
    ck_assert_ptr_nonnull(strstr(hf_kit_result(d, "a"), hf_kit_said(d, "a", "ActivityScheduled", 0,
                                                                    HF_KEY_ACTIVITY_EXECUTION_ID)));
    hf_kit_close(d);
}

/* What the definition said when the activity was scheduled counts, not what a later build says. */
HF_EVERY_WAY(b100_snapshot_wins_over_a_later_definition)
{
    hf_engine *d = begin(kind, "a", "call", QUOTE({"activity" : "stubborn"}));

    ck_assert_int_eq(hf_test_count(d, "a", "ActivityRetryScheduled"), 1);
    world = d = hf_kit_reopen(d, &later);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(10)));
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityStarted"), 3);
    hf_kit_close(d);
}

/* A failure that says so is not retried, and every record of it carries the flag. */
HF_EVERY_WAY(b101_non_retryable_stops_at_once)
{
    hf_engine *d = begin(kind, "a", "call", QUOTE({"activity" : "refuse", "limit" : 5, "max" : 9}));

    ck_assert_int_eq(calls, 1);
    ck_assert_str_eq(hf_kit_result(d, "a"),
                     "{\"error\":\"card_declined\",\"message\":\"limit is 5\"}");
    ck_assert_str_eq(hf_kit_said(d, "a", "ActivityFailed", 0, HF_KEY_NON_RETRYABLE), "true");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityRetryScheduled"), 0);
    ck_assert_int_eq(hf_test_count(d, "a", "FailureHandled"), 1);
    hf_kit_close(d);
}

/* A failure type that the call lists is final although the activity would retry. */
HF_EVERY_WAY(b102_listed_types_are_final)
{
    hf_engine *d =
        begin(kind, "a", "call",
              QUOTE({"activity" : "flaky", "max" : 9, "final" : "bad_input, gateway_timeout"}));

    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityFailed"), 1);
    hf_kit_close(d);
}

/* Every attempt gets the input and the same key, also one that was begun by another process. */
HF_EVERY_WAY(b103_every_attempt_gets_input_and_key)
{
    hf_engine *d = begin(kind, "a", "call",
                         QUOTE({"activity" : "flaky", "good" : 2, "max" : 2, "type" : "first"}));

    ck_assert_str_eq(hf_kit_said(d, "a", "ActivityRetryScheduled", 0, HF_KEY_EXCEPTION_TYPE),
                     "first");
    world = hf_kit_reopen(d, NULL);
    hf_kit_ok(world, hf_test_advance(world, hf_seconds(1)));
    ck_assert_ptr_nonnull(
        strstr(hf_kit_result(world, "a"),
               hf_kit_said(world, "a", "ActivityScheduled", 0, HF_KEY_ACTIVITY_EXECUTION_ID)));
    hf_kit_close(world);
}

/* An attempt that is not due, or whose type nobody knows, is not begun; it stays visible. */
HF_EVERY_WAY(b104_what_cannot_be_claimed_waits)
{
    hf_engine *d = begin(kind, "a", "call", QUOTE({"activity" : "nobody"}));

    hf_kit_ok(d, hf_test_advance(d, hf_days(30)));
    ck_assert_str_eq(hf_test_status(d, "a"), "waiting activity:nobody");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityStarted"), 0);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM activity WHERE status = 1"), 1);
    world = hf_kit_reopen(d, &later); /* a program that knows it takes it up */
    hf_kit_ok(world, hf_test_drain(world));
    ck_assert_str_eq(hf_kit_result(world, "a"), "{\"activity\":\"nobody\"}");
    hf_kit_close(world);
}

/* ---- rows against history */

/* History is what code is answered from: a row that claims more moves nothing. */
HF_EVERY_WAY(b118_open_history_beats_a_completed_row)
{
    hf_engine *d = begin(kind, "a", "call", QUOTE({"activity" : "nobody"}));

    hf_kit_sql(d, "UPDATE activity SET status = 4, closed_us = 1");
    world = d = hf_kit_reopen(d, &later);
    hf_kit_ok(d, hf_test_advance(d, hf_hours(1)));
    ck_assert_str_eq(hf_test_status(d, "a"), "waiting activity:nobody");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityCompleted"), 0);
    hf_kit_sql(d, "UPDATE activity SET status = 1, closed_us = NULL");
    hf_kit_close(d);
}

/* A completed row without an event shows no result. */
HF_EVERY_WAY(b119_completed_row_without_history_has_no_result)
{
    hf_engine *d = begin(kind, "a", "call", QUOTE({"activity" : "nobody"}));
    hf_value out = NULL;
    const hf_error *e = NULL;

    hf_kit_sql(d, "UPDATE activity SET status = 4, closed_us = 1");
    ck_assert_int_eq(hf_result(d, "a", 0, &out, &e), HF_TIMEOUT);
    ck_assert_ptr_null(out);
    hf_kit_sql(d, "UPDATE activity SET status = 1, closed_us = NULL");
    hf_kit_close(d);
}

/* The cancellation is the last word about an activity that was open. */
HF_EVERY_WAY(b120_cancelled_wins_over_open_events)
{
    hf_engine *d = begin(kind, "a", "call", QUOTE({"activity" : "flaky", "good" : 9, "max" : 9}));

    hf_kit_ok(d, hf_cancel(d, "a", "enough"));
    world = d = hf_kit_reopen(d, NULL);
    hf_kit_ok(d, hf_test_advance(d, hf_hours(1)));
    ck_assert_str_eq(hf_kit_history(d, "a"),
                     "StartAccepted WorkflowStarted ActivityScheduled ActivityStarted "
                     "ActivityRetryScheduled CancelRequested ActivityCancelled WorkflowCancelled");
    ck_assert_int_eq(calls, 1);
    hf_kit_close(d);
}

/* A row that is gone ends nothing: the run waits until the watchdog has put it back. */
HF_EVERY_WAY(b121_lost_row_comes_back)
{
    hf_engine *d = begin(kind, "a", "call", QUOTE({"activity" : "nobody"}));

    hf_kit_sql(d, "DELETE FROM activity");
    world = d = hf_kit_reopen(d, &later);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "a"), "waiting activity:nobody");
    ck_assert_int_eq(calls, 0);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    ck_assert_int_eq(calls, 1);
    hf_kit_close(d);
}

/* A running row that no process works on is an attempt that was lost: the next one begins by
   itself, and neither the limit of attempts nor, as its code never ran, that of crashes is used
   up. */
HF_EVERY_WAY(b122_lost_attempts_begin_again)
{
    world = hf_kit_open(kind, &app);
    hf_kit_ok(world,
              hf_start(world, "call", hf_json(world, "{'activity': 'echo', 'max': 1}"), .id = "a"));
    for (int i = 1; i <= 7; i++) {
        hf_kit_crash_after(world, 1); /* the attempt is on the record and does not run */
        hf_kit_ok(world, hf_test_drain(world));
        if (hf_kit_number(world, "SELECT count(*) FROM activity") == 0)
            break;
        ck_assert_int_eq(hf_kit_number(world, "SELECT attempt - lost_attempts FROM activity"), 1);
    }
    hf_kit_ok(world, hf_test_drain(world));
    ck_assert_str_eq(hf_test_status(world, "a"), "completed");
    ck_assert_int_gt(hf_test_count(world, "a", "ActivityStarted"), 1);
    ck_assert_int_eq(hf_test_count(world, "a", "ActivityRetryScheduled"), 0);
    hf_kit_close(world);
}

/* Nor do they when later attempts fail: as many may be reported as ever. */
HF_EVERY_WAY(lost_attempts_leave_the_limit_alone)
{
    world = hf_kit_open(kind, &app);
    calls = 0;
    hf_kit_ok(world,
              hf_start(world, "call", hf_json(world, "{'activity': 'flaky', 'good': 9, 'max': 2}"),
                       .id = "a"));
    hf_kit_crash_after(world, 1); /* the first attempt is on the record and does not run */
    hf_kit_ok(world, hf_test_advance(world, 0));
    ck_assert_int_eq(hf_kit_number(world, "SELECT lost_attempts FROM activity"), 1);
    ck_assert_int_eq(calls, 1);
    hf_kit_ok(world, hf_test_drain(world));
    ck_assert_int_eq(calls, 2);
    ck_assert_int_eq(hf_test_count(world, "a", "ActivityStarted"), 3);
    ck_assert_int_eq(hf_test_count(world, "a", "ActivityRetryScheduled"), 1);
    ck_assert_int_eq(hf_test_count(world, "a", "ActivityFailed"), 1);
    hf_kit_close(world);
}

/* ---- values that are too big */

/* A result that exceeds the limit fails the activity with a typed failure; one byte less fits. */
HF_EVERY_WAY(oversized_results_are_typed_failures)
{
    hf_engine *d =
        begin(kind, "a", "call", QUOTE({"activity" : "big", "bytes" : 2097153, "max" : 3}));

    ck_assert_str_eq(hf_kit_said(d, "a", "ActivityFailed", 0, HF_KEY_FAILURE_CATEGORY),
                     "structural_limit");
    ck_assert_ptr_nonnull(strstr(hf_kit_said(d, "a", "ActivityFailed", 0, HF_KEY_EXCEPTION),
                                 "\"structural_limit_kind\":\"payload_size_bytes\""));
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityRetryScheduled"), 0);
    hf_kit_ok(d,
              hf_start(d, "call", hf_json(d, "{'activity': 'big', 'bytes': 2097152}"), .id = "b"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "b"), "completed");
    hf_kit_close(d);
}

/* An input that exceeds the limit fails the run, and nothing of the turn is written. */
HF_EVERY_WAY(oversized_inputs_fail_the_run)
{
    hf_engine *d = begin(kind, "a", "huge", QUOTE({"bytes" : 2097153}));
    hf_value out = NULL;
    const hf_error *e = NULL;

    ck_assert_int_eq(hf_result(d, "a", 0, &out, &e), HF_ERROR);
    ck_assert_str_eq(e->type, "structural_limit");
    ck_assert_str_eq(hf_str(e->details, "structural_limit_kind", ""), "payload_size_bytes");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityScheduled"), 0);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN(
    "engine/activity", HF_WAYS(b098_success_path_in_order),
    HF_WAYS(b099_retry_follows_the_backoff_list),
    HF_WAYS(b100_snapshot_wins_over_a_later_definition), HF_WAYS(b101_non_retryable_stops_at_once),
    HF_WAYS(b102_listed_types_are_final), HF_WAYS(b103_every_attempt_gets_input_and_key),
    HF_WAYS(b104_what_cannot_be_claimed_waits), HF_WAYS(b118_open_history_beats_a_completed_row),
    HF_WAYS(b119_completed_row_without_history_has_no_result),
    HF_WAYS(b120_cancelled_wins_over_open_events), HF_WAYS(b121_lost_row_comes_back),
    HF_WAYS(b122_lost_attempts_begin_again), HF_WAYS(lost_attempts_leave_the_limit_alone),
    HF_WAYS(oversized_results_are_typed_failures), HF_WAYS(oversized_inputs_fail_the_run))
