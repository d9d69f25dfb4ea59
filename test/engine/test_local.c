/* Local activities: the first attempt runs within the turn that asks for it and is recorded with
   it; later ones are like any other's. */
#include <string.h>

#include "base/value.h"
#include "lib/handlers.h"
#include "lib/kit.h"

enum { MANY = 200 };

static int ran;        /* how often an activity was called */
static int fails_left; /* attempts of `shaky` that fail */

static hf_value count(hf_act *a, hf_value in)
{
    (void)in;
    ran++;
    return hf_json(a, "{'attempt': %d, 'key': %zu}", hf_attempt(a), strlen(hf_idempotency_key(a)));
}

static hf_value shaky(hf_act *a, hf_value in)
{
    ran++;
    if (!hf_heartbeat(a, .current = 1))
        return hf_stopped(a);
    if (fails_left-- > 0)
        return hf_retry(a, "gateway_timeout", "attempt %d", hf_attempt(a));
    return hf_json(a, "[%d, %p]", hf_attempt(a), (const void *)in);
}

static hf_value refuse(hf_act *a, hf_value in)
{
    (void)in;
    return hf_reject(a, "card_declined", "never");
}

static hf_value huge(hf_act *a, hf_value in)
{
    static char text[2 * 1024 * 1024 + 1];

    (void)in;
    memset(text, 'x', sizeof(text) - 1);
    return hf_json(a, "%s", text);
}

static hf_value three(hf_ctx *w, hf_value in)
{
    hf_activity(w, "count", in, .local = true);
    hf_activity(w, "count", in, .local = true);
    return hf_activity(w, "count", in, .local = true);
}

static hf_value pauses(hf_ctx *w, hf_value in)
{
    hf_activity(w, "count", in, .local = true);
    (void)hf_receive(w, "go");
    return hf_activity(w, "count", in, .local = true);
}

static hf_value tries(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "shaky", in, .local = true, .max_attempts = 3);
}

static hf_value handles(hf_ctx *w, hf_value in)
{
    const hf_error *e = NULL;

    hf_activity(w, hf_str(in, "", "refuse"), in, .local = true, .err = &e);
    return hf_activity(w, "echo", hf_json(w, "%s", e ? e->type : "none"), .local = true);
}

static hf_value together(hf_ctx *w, hf_value in)
{
    return hf_all(w, HF_ACTIVITY("echo", hf_json(w, "1"), .local = true),
                  HF_ALL(HF_ACTIVITY("echo", hf_json(w, "2")),
                         HF_ACTIVITY("echo", hf_json(w, "3"), .local = true)),
                  HF_CHILD("single", in));
}

static hf_value many(hf_ctx *w, hf_value in)
{
    for (int i = 0; i < MANY; i++)
        hf_activity(w, "count", in, .local = true);
    return hf_json(w, "%d", MANY);
}

static hf_value unknown(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "nobody's", in, .local = true);
}

static hf_value ordinary(hf_ctx *w, hf_value in)
{
    hf_activity(w, "count", in);
    (void)hf_receive(w, "go");
    return NULL;
}

static const hf_signal_def signals[] = {{.name = "go"}, {0}};
static const hf_activity_def activities[] = {{.name = "echo", .run = hf_echo},
                                             {hf_fn(count)},
                                             {hf_fn(shaky)},
                                             {hf_fn(refuse)},
                                             {hf_fn(huge)},
                                             {0}};
#define WORKFLOWS(code)                                                                            \
    {                                                                                              \
        {.type = "three", .run = three}, {.type = "pauses", .run = code, .signals = signals},      \
            {.type = "tries", .run = tries}, {.type = "handles", .run = handles},                  \
            {.type = "together", .run = together}, {.type = "many", .run = many},                  \
            {.type = "unknown", .run = unknown}, {.type = "single", .run = hf_call_echo},          \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
static const hf_workflow_def workflows[] = WORKFLOWS(pauses);
static const hf_workflow_def drifted[] = WORKFLOWS(ordinary);
static const hf_app app = {.name = "local", .workflows = workflows, .activities = activities};
static const hf_app later = {.name = "local", .workflows = drifted, .activities = activities};

static hf_engine *begin(hf_engine_kind kind, const char *type, const char *input)
{
    hf_engine *d = hf_kit_open(kind, &app);

    ran = 0;
    hf_kit_begin(d, type, "a", hf_parse_(hf_mem_of_engine(d), input, strlen(input)));
    return d;
}

static int64_t units(hf_engine *d)
{
    return hf_kit_rows(d, "history");
}

/* Three of them and the end of the run cost one transaction beside the start, and nothing is left
   of them but history, which says where they ran. */
HF_EVERY_WAY(local_activities_share_a_commit)
{
    hf_engine *d = begin(kind, "three", "null");

    ck_assert_str_eq(hf_kit_result(d, "a"), "{\"attempt\":1,\"key\":26}");
    ck_assert_str_eq(hf_kit_history(d, "a"),
                     "StartAccepted WorkflowStarted "
                     "ActivityScheduled ActivityStarted ActivityCompleted "
                     "ActivityScheduled ActivityStarted ActivityCompleted "
                     "ActivityScheduled ActivityStarted ActivityCompleted WorkflowCompleted");
    ck_assert_int_eq(ran, 3);
    ck_assert_int_le(units(d), 2);
    ck_assert_int_eq(hf_kit_rows(d, "activity"), 0);
    ck_assert_str_eq(hf_kit_said(d, "a", "ActivityScheduled", 0, HF_KEY_EXECUTION_MODE), "local");
    hf_kit_close(d);
}

/* What is recorded is not run again: a crash between two of them repeats neither. */
HF_EVERY_WAY(local_activities_are_replayed)
{
    hf_engine *d = begin(kind, "pauses", "null");

    hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(ran, 1);
    hf_kit_ok(d, hf_signal(d, "a", "go", NULL));
    hf_kit_settle(d);
    ck_assert_int_eq(ran, 2);
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    hf_kit_close(d);
}

/* An attempt that fails and may be tried again is followed by ordinary ones, on time, also over a
   crash; injected failures count. */
HF_EVERY_WAY(local_activities_are_tried_again)
{
    hf_engine *d = hf_kit_open(kind, &app);

    ran = 0;
    fails_left = 1;
    hf_test_fail(d, "shaky", 1, "no_power");
    hf_kit_begin(d, "tries", "a", hf_json(d, "7"));
    ck_assert_int_eq(ran, 0);
    ck_assert_str_eq(hf_kit_said(d, "a", "ActivityRetryScheduled", 0, HF_KEY_EXCEPTION_TYPE),
                     "no_power");
    ck_assert_str_eq(hf_test_status(d, "a"), "waiting activity:shaky");
    hf_kit_ok(d, hf_test_advance(d, 999));
    ck_assert_int_eq(ran, 0);
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_advance(d, 1));
    ck_assert_int_eq(ran, 1);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(2)));
    ck_assert_str_eq(hf_kit_result(d, "a"), "[3,7]");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityStarted"), 3);
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityScheduled"), 1);
    hf_kit_close(d);
}

/* A failure for good, and a result that is too big, are handed to the code that asked. */
HF_EVERY_WAY(local_activities_fail)
{
    hf_engine *d = begin(kind, "handles", "\"refuse\"");

    ck_assert_str_eq(hf_kit_result(d, "a"), "\"card_declined\"");
    ck_assert_str_eq(hf_kit_history(d, "a"),
                     "StartAccepted WorkflowStarted ActivityScheduled ActivityStarted "
                     "ActivityFailed FailureHandled ActivityScheduled ActivityStarted "
                     "ActivityCompleted WorkflowCompleted");
    hf_kit_begin(d, "handles", "b", hf_json(d, "'huge'"));
    ck_assert_str_eq(hf_kit_result(d, "b"), "\"structural_limit\"");
    hf_kit_close(d);
}

/* Within a barrier they stand beside ordinary activities and children. */
HF_EVERY_WAY(local_activities_in_a_barrier)
{
    hf_engine *d = begin(kind, "together", "9");

    ck_assert_str_eq(hf_kit_result(d, "a"), "[1,[2,3],9]");
    hf_kit_close(d);
}

/* A run that calls them without end does not make units without end. */
HF_EVERY_WAY(local_activities_are_bounded)
{
    hf_engine *d = begin(kind, "many", "null");

    ck_assert_str_eq(hf_kit_result(d, "a"), "200");
    ck_assert_int_eq(ran, MANY);
    ck_assert_int_ge(units(d), 3);
    ck_assert_int_le(units(d), 8);
    hf_kit_close(d);
}

/* One that nobody here knows waits for somebody who does. */
HF_EVERY_WAY(unknown_local_activity_waits)
{
    static const hf_activity_def known[] = {{"nobody's", .run = hf_echo}, {0}};
    static const hf_app there = {.name = "local", .workflows = workflows, .activities = known};
    hf_engine *d = begin(kind, "unknown", "5");

    ck_assert_str_eq(hf_test_status(d, "a"), "waiting activity:nobody's");
    d = hf_kit_reopen(d, &there);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "a"), "5");
    hf_kit_close(d);
}

/* Code that calls it the ordinary way now is other code. */
HF_EVERY_WAY(local_is_part_of_the_shape)
{
    hf_engine *d = begin(kind, "pauses", "null");
    hf_value why = NULL;

    d = hf_kit_reopen(d, &later);
    hf_kit_ok(d, hf_signal(d, "a", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_why(d, "a", hf_mem_of_engine(d), &why));
    ck_assert_str_eq(hf_str(why, "code", ""), "replay_blocked_shape");
    ck_assert_ptr_nonnull(strstr(hf_str(why, "text", ""), "history has local activity:count"));
    d = hf_kit_reopen(d, &app);
    (void)hf_kit_ask(d, "repair", hf_json(d, "{'workflow_id': 'a'}"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    hf_kit_close(d);
}

static hf_status lived(hf_engine *d, void *arg)
{
    (void)arg;
    fails_left = 2;
    (void)hf_start(d, "three", NULL, .id = "a");
    (void)hf_start(d, "together", NULL, .id = "b");
    (void)hf_start(d, "pauses", NULL, .id = "c");
    (void)hf_test_drain(d);
    (void)hf_signal(d, "c", "go", NULL);
    return hf_test_advance(d, hf_minutes(1));
}

/* A crash after any commit changes nothing. */
START_TEST(local_activities_survive_crashes)
{
    char why[512];

    ck_assert_msg(hf_test_crash_everywhere(&app, lived, NULL, why, sizeof(why)) == HF_OK, "%s",
                  why);
}
END_TEST

HF_PG_SUITE_MAIN("engine/local", HF_WAYS(local_activities_share_a_commit),
                 HF_WAYS(local_activities_are_replayed), HF_WAYS(local_activities_are_tried_again),
                 HF_WAYS(local_activities_fail), HF_WAYS(local_activities_in_a_barrier),
                 HF_WAYS(local_activities_are_bounded), HF_WAYS(unknown_local_activity_waits),
                 HF_WAYS(local_is_part_of_the_shape), {local_activities_survive_crashes, 0})
