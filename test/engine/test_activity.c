/* Activities as a workflow sees them: attempts, retries, the four timeouts, signs of life, lost
   processes. Time is virtual; an activity that takes time moves the clock itself, so that whatever
   falls due meanwhile happens while it runs. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/kit.h"

static hf_engine *world;  /* the engine of the case, for activities that let time pass */
static _Atomic int calls; /* of activity code, in this process */

/* ---- activities */

static hf_value echo(hf_act *a, hf_value in)
{
    (void)a;
    calls++;
    return in;
}

static hf_value flaky(hf_act *a, hf_value in)
{
    calls++;
    if (hf_attempt(a) < (int)hf_int(in, "good", 3))
        return hf_retry(a, hf_str(in, "type", "gateway_timeout"), "attempt %d", hf_attempt(a));
    return hf_json(a, "{'attempt': %d, 'key': %s}", hf_attempt(a), hf_idempotency_key(a));
}

static hf_value refuse(hf_act *a, hf_value in)
{
    calls++;
    return hf_reject(a, "card_declined", "limit is %d", (int)hf_int(in, "limit", 0));
}

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

/* Kills its process. */
static hf_value murder(hf_act *a, hf_value in)
{
    (void)a;
    (void)in;
    (void)raise(SIGKILL);
    return NULL;
}

/* ---- workflows */

static hf_value call(hf_ctx *w, hf_value in)
{
    const hf_ms backoff[] = {hf_seconds(1), hf_seconds(3)};
    const hf_error *e = NULL;
    hf_value out = hf_activity(w, hf_str(in, "activity", "echo"), in,
                               .max_attempts = (int)hf_int(in, "max", 0),
                               .schedule_to_start = hf_int(in, "schedule_to_start", 0),
                               .start_to_close = hf_int(in, "start_to_close", 0),
                               .schedule_to_close = hf_int(in, "schedule_to_close", 0),
                               .heartbeat = hf_int(in, "heartbeat", 0),
                               .backoff = hf_bool(in, "listed", false) ? backoff : NULL,
                               .backoff_n = hf_bool(in, "listed", false) ? 2 : 0,
                               .no_retry_on = hf_str(in, "final", NULL), .err = &e);

    return e ? hf_json(w, "{'error': %s, 'message': %s}", e->type, e->message) : out;
}

static hf_value two(hf_ctx *w, hf_value in)
{
    hf_future f[2];

    f[0] = hf_spawn_activity(w, "nobody", in, .schedule_to_start = 1500);
    f[1] = hf_spawn_activity(w, "nobody", in, .schedule_to_start = 1501);
    return hf_join_all(w, f, 2);
}

static hf_value huge(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "echo", value_of(hf_mem_of_ctx(w), hf_int(in, "bytes", 0)));
}

static hf_value suicide(hf_ctx *w, hf_value in)
{
    (void)in;
    hf_activity(w, "echo", NULL);
    (void)raise(SIGKILL);
    return NULL;
}

/* Deeper than any stack; the depth comes from outside so that no compiler makes a loop of it. */
static int64_t deeper(volatile int64_t depth)
{
    volatile char frame[256];

    frame[0] = (char)depth;
    return depth == 0 ? frame[0] : deeper(depth - 1) + frame[0];
}

static hf_value deep(hf_ctx *w, hf_value in)
{
    hf_activity(w, "echo", NULL);
    return hf_json(w, "%lld", (long long)deeper(hf_int(in, "depth", INT64_C(1) << 40)));
}

static const hf_workflow_def workflows[] = {
    {.type = "call", .run = call}, {.type = "two", .run = two},
    {.type = "huge", .run = huge}, {.type = "suicide", .run = suicide},
    {.type = "deep", .run = deep}, {0}};
static const hf_activity_def activities[] = {{.name = "echo", .run = echo},
                                             {.name = "flaky", .run = flaky},
                                             {.name = "refuse", .run = refuse},
                                             {.name = "slow", .run = slow},
                                             {.name = "overtaken", .run = overtaken},
                                             {.name = "beating", .run = beating},
                                             {.name = "resuming", .run = resuming},
                                             {.name = "chatty", .run = chatty},
                                             {.name = "doomed", .run = doomed},
                                             {.name = "big", .run = big},
                                             {.name = "murder", .run = murder},
                                             {.name = "stubborn", .run = flaky, .max_attempts = 4},
                                             {0}};
static const hf_app app = {.name = "test", .workflows = workflows, .activities = activities};

/* A later build: the same activity, not to be retried; and one that was missing. */
static const hf_activity_def later_activities[] = {
    {.name = "stubborn", .run = flaky}, {.name = "nobody", .run = echo}, {0}};
static const hf_app later = {
    .name = "test", .workflows = workflows, .activities = later_activities};

static hf_engine *begin(hf_engine_kind kind, const char *id, const char *type, const char *input)
{
    world = hf_kit_open(kind, &app);
    hf_kit_ok(world,
              hf_start(world, type,
                       hf_json(world, "%p",
                               (void *)hf_parse_(hf_mem_of_engine(world), input, strlen(input))),
                       .id = id));
    hf_kit_ok(world, hf_test_advance(world, 0));
    return world;
}

#define QUOTE(...) #__VA_ARGS__

/* ---- attempts and retries */

/* An activity's result is the workflow's result, recorded in the contract's order. */
HF_BOTH_ENGINES(b098_success_path_in_order)
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
HF_BOTH_ENGINES(b099_retry_follows_the_backoff_list)
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
HF_BOTH_ENGINES(b100_snapshot_wins_over_a_later_definition)
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
HF_BOTH_ENGINES(b101_non_retryable_stops_at_once)
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
HF_BOTH_ENGINES(b102_listed_types_are_final)
{
    hf_engine *d =
        begin(kind, "a", "call",
              QUOTE({"activity" : "flaky", "max" : 9, "final" : "bad_input, gateway_timeout"}));

    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityFailed"), 1);
    hf_kit_close(d);
}

/* Every attempt gets the input and the same key, also one that was begun by another process. */
HF_BOTH_ENGINES(b103_every_attempt_gets_input_and_key)
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
HF_BOTH_ENGINES(b104_what_cannot_be_claimed_waits)
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

/* ---- signs of life */

/* The newest report is recorded, at most once in a third of the timeout. */
HF_BOTH_ENGINES(b105_heartbeat_records_bounded_progress)
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
HF_BOTH_ENGINES(b106_malformed_progress_is_refused)
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

/* After a cancel the next sign of life says stop; ActivityCancelled is on the record. */
HF_BOTH_ENGINES(b107_heartbeat_after_cancel_says_stop)
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
HF_BOTH_ENGINES(b108_late_completion_after_cancel_is_ignored)
{
    hf_engine *d =
        begin(kind, "a", "call", QUOTE({"activity" : "doomed", "id" : "a", "obey" : false}));

    ck_assert_str_eq(hf_test_status(d, "a"), "cancelled");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityCompleted"), 0);
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityCancelled"), 1);
    hf_kit_close(d);
}

/* An attempt that timed out is over: its late result is dropped and the next attempt's counts. */
HF_BOTH_ENGINES(b109_late_outcome_loses_to_the_newer_attempt)
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
HF_BOTH_ENGINES(b109_late_outcome_counts_for_nothing)
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
HF_BOTH_ENGINES(b110_schedule_to_start_has_a_fresh_window)
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
HF_BOTH_ENGINES(b110_no_window_clears_the_deadline)
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
HF_BOTH_ENGINES(b111_start_to_close_is_per_attempt)
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
HF_BOTH_ENGINES(b112_schedule_to_close_is_terminal)
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
HF_BOTH_ENGINES(b112_schedule_to_close_comes_first)
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
HF_BOTH_ENGINES(b113_heartbeat_timeout_and_extension)
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
HF_BOTH_ENGINES(b114_no_enforcement_before_or_after)
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
HF_BOTH_ENGINES(b115_deadlines_within_a_second)
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
HF_BOTH_ENGINES(b116_accepted_heartbeat_fences_the_alarm)
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
HF_BOTH_ENGINES(b117_timed_out_is_a_failure_of_its_kind)
{
    hf_engine *d = begin(kind, "a", "call",
                         QUOTE({"activity" : "slow", "pause" : 9000, "start_to_close" : 5000}));

    ck_assert_str_eq(hf_kit_said(d, "a", "ActivityTimedOut", 0, HF_KEY_FAILURE_CATEGORY),
                     "timeout");
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    ck_assert_ptr_nonnull(strstr(hf_kit_result(d, "a"), "took too long"));
    hf_kit_close(d);
}

/* ---- rows against history */

/* History is what code is answered from: a row that claims more moves nothing. */
HF_BOTH_ENGINES(b118_open_history_beats_a_completed_row)
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
HF_BOTH_ENGINES(b119_completed_row_without_history_has_no_result)
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
HF_BOTH_ENGINES(b120_cancelled_wins_over_open_events)
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
HF_BOTH_ENGINES(b121_lost_row_comes_back)
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
HF_BOTH_ENGINES(b122_lost_attempts_begin_again)
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
HF_BOTH_ENGINES(lost_attempts_leave_the_limit_alone)
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

/* ---- progress and lost work */

/* The next attempt is told how far the one before it got, also by another process. */
HF_BOTH_ENGINES(last_progress_is_handed_on)
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

/* A result that exceeds the limit fails the activity with a typed failure; one byte less fits. */
HF_BOTH_ENGINES(oversized_results_are_typed_failures)
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
HF_BOTH_ENGINES(oversized_inputs_fail_the_run)
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

/* ---- processes that die. A child process opens the store, works until its code kills it, and is
   gone; after crash_limit times the code is not run again. */

static int worker_run(const hf_test_place *place, const char *type, const char *id)
{
    const char *address = hf_test_place_address(place);
    pid_t child = fork();
    int status = 0;
    hf_engine *d = NULL;
    hf_value out = NULL;
    const hf_error *e = NULL;

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        if (hf_open(address, &app, &d))
            _exit(3);
        (void)!hf_start(d, "call", hf_json(d, "{'activity': 'echo'}"), .id = "bystander");
        (void)!hf_start(d, type, hf_json(d, "{'activity': 'murder', 'max': 1}"), .id = id);
        _exit(hf_result(d, id, hf_seconds(20), &out, &e) == HF_TIMEOUT ? 4 : 0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    hf_test_place_leases_end(place);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* An activity that kills its process five times fails as quarantined; the limit of attempts was
   not what ended it. */
HF_BOTH_ENGINES(crashing_activity_is_quarantined)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = NULL;
    hf_value out = NULL;
    const hf_error *e = NULL;

    ck_assert_int_eq(setenv("XDG_STATE_HOME", hf_test_place_folder(place), 1), 0);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(worker_run(place, "call", "a"), -SIGKILL);
    hf_kit_ok(d, hf_open(hf_test_place_address(place), &app, &d));
    hf_kit_ok(d, hf_result(d, "a", hf_seconds(20), &out, &e));
    ck_assert_str_eq(hf_str(out, "error", ""), "quarantined");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityStarted"), 5);
    hf_kit_ok(d, hf_result(d, "bystander", hf_seconds(20), &out, &e));
    hf_close(d);
    hf_test_place_free(place);
}

/* Workflow code that kills its process five times is put aside with an event; the rest works on. */
HF_BOTH_ENGINES(crashing_workflow_is_quarantined)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = NULL;
    hf_value out = NULL;
    const hf_error *e = NULL;

    ck_assert_int_eq(setenv("XDG_STATE_HOME", hf_test_place_folder(place), 1), 0);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(worker_run(place, "suicide", "a"), -SIGKILL);
    hf_kit_ok(d, hf_open(hf_test_place_address(place), &app, &d));
    hf_kit_ok(d, hf_start(d, "call", hf_json(d, "{'activity': 'echo'}"), .id = "other"));
    hf_kit_ok(d, hf_result(d, "other", hf_seconds(20), &out, &e));
    ck_assert_int_eq(hf_result(d, "a", 200, &out, &e), HF_TIMEOUT);
    ck_assert_int_eq(hf_test_count(d, "a", "RunQuarantined"), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run WHERE blocked = 2"), 1);
    hf_kit_ok(d, hf_terminate(d, "a", "broken"));
    ck_assert_int_eq(hf_result(d, "a", hf_seconds(20), &out, &e), HF_CANCELLED);
    hf_close(d);
    hf_test_place_free(place);
}

/* Code that overflows its stack runs into the guard page behind it: the process dies before it
   writes over anything, and after five times the run is put aside. A sanitizer reports the overflow
   and ends the process itself. */
HF_BOTH_ENGINES(stack_overflow_is_quarantined)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = NULL;
    hf_value out = NULL;
    const hf_error *e = NULL;

    ck_assert_int_eq(setenv("XDG_STATE_HOME", hf_test_place_folder(place), 1), 0);
    for (int i = 0; i < 5; i++) {
        int end = worker_run(place, "deep", "a");

        ck_assert_msg(end < 0 || end == 1, "the process ended with %d", end);
    }
    hf_kit_ok(d, hf_open(hf_test_place_address(place), &app, &d));
    hf_kit_ok(d, hf_start(d, "call", hf_json(d, "{'activity': 'echo'}"), .id = "other"));
    hf_kit_ok(d, hf_result(d, "other", hf_seconds(20), &out, &e));
    ck_assert_int_eq(hf_result(d, "a", 200, &out, &e), HF_TIMEOUT);
    ck_assert_int_eq(hf_test_count(d, "a", "RunQuarantined"), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run WHERE blocked = 2"), 1);
    hf_kit_ok(d, hf_result(d, "bystander", hf_seconds(20), &out, &e));
    hf_close(d);
    hf_test_place_free(place);
}

HF_PG_SUITE_MAIN(
    "engine/activity", HF_BOTH(b098_success_path_in_order),
    HF_BOTH(b099_retry_follows_the_backoff_list),
    HF_BOTH(b100_snapshot_wins_over_a_later_definition), HF_BOTH(b101_non_retryable_stops_at_once),
    HF_BOTH(b102_listed_types_are_final), HF_BOTH(b103_every_attempt_gets_input_and_key),
    HF_BOTH(b104_what_cannot_be_claimed_waits), HF_BOTH(b105_heartbeat_records_bounded_progress),
    HF_BOTH(b106_malformed_progress_is_refused), HF_BOTH(b107_heartbeat_after_cancel_says_stop),
    HF_BOTH(b108_late_completion_after_cancel_is_ignored),
    HF_BOTH(b109_late_outcome_loses_to_the_newer_attempt),
    HF_BOTH(b109_late_outcome_counts_for_nothing),
    HF_BOTH(b109_late_outcome_is_not_the_newer_attempts),
    HF_BOTH(b110_schedule_to_start_has_a_fresh_window), HF_BOTH(b110_no_window_clears_the_deadline),
    HF_BOTH(b111_start_to_close_is_per_attempt), HF_BOTH(b112_schedule_to_close_is_terminal),
    HF_BOTH(b112_schedule_to_close_comes_first), HF_BOTH(b113_heartbeat_timeout_and_extension),
    HF_BOTH(b114_no_enforcement_before_or_after), HF_BOTH(b115_deadlines_within_a_second),
    HF_BOTH(b116_accepted_heartbeat_fences_the_alarm),
    HF_BOTH(b117_timed_out_is_a_failure_of_its_kind),
    HF_BOTH(b118_open_history_beats_a_completed_row),
    HF_BOTH(b119_completed_row_without_history_has_no_result),
    HF_BOTH(b120_cancelled_wins_over_open_events), HF_BOTH(b121_lost_row_comes_back),
    HF_BOTH(b122_lost_attempts_begin_again), HF_BOTH(lost_attempts_leave_the_limit_alone),
    HF_BOTH(last_progress_is_handed_on), HF_BOTH(oversized_results_are_typed_failures),
    HF_BOTH(oversized_inputs_fail_the_run), HF_BOTH_SLOW(crashing_activity_is_quarantined, 120),
    HF_BOTH_SLOW(crashing_workflow_is_quarantined, 120),
    HF_BOTH_SLOW(stack_overflow_is_quarantined, 120))
