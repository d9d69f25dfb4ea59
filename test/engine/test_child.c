/* Children, barriers, parent close and the runs that follow each other, through holdfast.h on both
   databases, with everything but the store forgotten between any two moves. */
#include <stdio.h>
#include <string.h>

#include "holdfast/holdfast.h"
#include "lib/handlers.h"
#include "lib/kit.h"

/* ---- the application */

static hf_value refuse(hf_act *a, hf_value in)
{
    return hf_reject(a, "card_declined", "limit is %d", (int)hf_int(in, "limit", 0));
}

static hf_value broken(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "refuse", in);
}

static hf_value waiter(hf_ctx *w, hf_value in)
{
    hf_value got = hf_receive(w, "go");

    if (hf_bool(got, "fail", false))
        hf_fail(w, "told_to", "the signal said so");
    return hf_json(w, "{'in': %p, 'got': %p}", (const void *)in, (const void *)got);
}

static hf_value single(hf_ctx *w, hf_value in)
{
    return hf_child(w, "leaf", in, .id = "the-leaf", .on_parent_close = HF_CLOSE_CANCEL);
}

static hf_value careful(hf_ctx *w, hf_value in)
{
    const hf_error *e = NULL;

    hf_child(w, hf_str(in, "type", "broken"), in, .id = hf_str(in, "id", NULL),
             .run_timeout = hf_int(in, "timeout", 0), .err = &e);
    return hf_json(w, "{'type': %s, 'message': %s}", e ? e->type : "none", e ? e->message : "");
}

static hf_value pair(hf_ctx *w, hf_value in)
{
    return hf_all(w, HF_CHILD("waiter", in, .id = "left"), HF_CHILD("waiter", in, .id = "right"));
}

/* Looks at its two children only when it is told to. */
static hf_value late_pair(hf_ctx *w, hf_value in)
{
    hf_future both[2];

    both[0] = hf_spawn_child(w, "waiter", in, .id = "left");
    both[1] = hf_spawn_child(w, "waiter", in, .id = "right");
    hf_receive(w, "go");
    return hf_join_all(w, both, 2);
}

static hf_value nested(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_all(
        w, HF_ACTIVITY("echo", hf_json(w, "1")),
        HF_ALL(HF_CHILD("leaf", hf_json(w, "2")),
               HF_ALL(HF_ACTIVITY("echo", hf_json(w, "3")), HF_CHILD("leaf", hf_json(w, "4")))),
        HF_CHILD("leaf", hf_json(w, "5")));
}

static hf_value mixed(hf_ctx *w, hf_value in)
{
    if (hf_bool(in, "child_first", false))
        return hf_all(w, HF_CHILD("leaf", hf_json(w, "'c'")),
                      HF_ACTIVITY("echo", hf_json(w, "'a'")));
    return hf_all(w, HF_ACTIVITY("echo", hf_json(w, "'a'")), HF_CHILD("leaf", hf_json(w, "'c'")));
}

static hf_value crowd(hf_ctx *w, hf_value in)
{
    static hf_future futures[1200];
    size_t n = (size_t)hf_int(in, "n", 0);

    for (size_t i = 0; i < n; i++)
        futures[i] = hf_spawn_activity(w, "echo", hf_json(w, "%d", (int)i));
    return hf_json(w, "%d", (int)hf_len(hf_join_all(w, futures, n)));
}

/* `first` children that wait, then `second` more. */
static hf_value brood(hf_ctx *w, hf_value in)
{
    int64_t first = hf_int(in, "first", 0);

    for (int64_t i = 0; i < first + hf_int(in, "second", 0); i++) {
        if (i == first)
            hf_sleep(w, hf_seconds(1));
        (void)hf_spawn_child(w, "waiter", hf_json(w, "%lld", (long long)i));
    }
    hf_receive(w, "go");
    return NULL;
}

static hf_value function(hf_ctx *w, hf_value in)
{
    hf_sleep(w, hf_seconds(1));
    return hf_json(w, "{'doubled': %lld}", (long long)hf_int(in, "n", 0) * 2);
}

static hf_value caller(hf_ctx *w, hf_value in)
{
    return hf_async(w, hf_str(in, "function", "function"), hf_json(w, "{'n': 21}"));
}

static hf_value countdown(hf_ctx *w, hf_value in)
{
    int64_t n = hf_int(in, "n", 0);

    hf_activity(w, "echo", in);
    if (n > 0)
        hf_continue_as_new(w, hf_json(w, "{'n': %lld}", (long long)n - 1));
    if (hf_bool(in, "wait", false))
        hf_receive(w, "go");
    return hf_json(w, "'liftoff'");
}

static hf_value watcher(hf_ctx *w, hf_value in)
{
    return hf_child(w, "countdown", in, .id = "rocket");
}

/* A child that goes on for ever, as one run after the other. */
static hf_value phoenix(hf_ctx *w, hf_value in)
{
    hf_receive(w, "rise");
    hf_continue_as_new(w, in);
}

/* Starts a child with a policy and waits; "end" closes it in the way it says, "next" continues. */
static hf_value guardian(hf_ctx *w, hf_value in)
{
    static const hf_close_policy policies[] = {HF_CLOSE_ABANDON, HF_CLOSE_CANCEL,
                                               HF_CLOSE_TERMINATE};
    hf_value how;

    if (!hf_bool(in, "again", false))
        (void)hf_spawn_child(w, hf_str(in, "type", "waiter"), in, .id = "ward",
                             .on_parent_close = policies[hf_int(in, "policy", 0)]);
    how = hf_receive(w, "end");
    if (strcmp(hf_str(how, "", ""), "next") == 0)
        hf_continue_as_new(w, hf_json(w, "{'again': true}"));
    if (strcmp(hf_str(how, "", ""), "fail") == 0)
        hf_fail(w, "told_to", "the signal said so");
    return hf_json(w, "'done'");
}

static int tries;

static hf_value count_try(hf_mem *m, void *arg)
{
    (void)arg;
    return hf_json_(m, "%d", ++tries);
}

static hf_value stubborn(hf_ctx *w, hf_value in)
{
    int64_t n = hf_int(hf_side_effect(w, NULL, count_try, NULL), "", 0);

    hf_activity(w, "echo", in);
    if (n < hf_int(in, "until", 3))
        hf_fail(w, "not_yet", "try again");
    return hf_json(w, "{'tries': %lld, 'in': %p}", (long long)n, (const void *)in);
}

static hf_value patron(hf_ctx *w, hf_value in)
{
    return hf_all(w, HF_CHILD("stubborn", in, .id = "stubborn", .max_attempts = 3),
                  HF_CHILD("waiter", in, .id = "other"));
}

/* Its child is tried again after pauses, but never when it is told to. */
static hf_value patient(hf_ctx *w, hf_value in)
{
    static const hf_ms pauses[] = {1000, 3000};

    return hf_child(w, "stubborn", in, .id = "stubborn", .max_attempts = 5, .backoff = pauses,
                    .backoff_n = 2, .run_timeout = 2500, .no_retry_on = hf_str(in, "never", NULL));
}

/* Signals its child, once right away and once from an update. */
static hf_value nudge(hf_ctx *w, void *state, hf_value args)
{
    const char *calls[1];

    (void)state;
    if (hf_children(w, calls, 1) == 1)
        hf_signal_child(w, calls[0], "go", args);
    return NULL;
}

static hf_value handler(hf_ctx *w, hf_value in)
{
    const char *calls[2];
    hf_future a = hf_spawn_child(w, "waiter", in, .id = "deaf");
    hf_future b = hf_spawn_activity(w, "echo", in);

    hf_join(w, b);
    if (hf_bool(in, "signal", false) && hf_children(w, calls, 2) == 1)
        hf_signal_child(w, calls[0], "go", hf_json(w, "{'from': 'parent'}"));
    return hf_join(w, a);
}

static const hf_signal_def go[] = {{"go", NULL}, {0}};
static const hf_signal_def end[] = {{"end", NULL}, {0}};
static const hf_signal_def rise[] = {{"rise", NULL}, {0}};
static const hf_update_def nudges[] = {{"nudge", NULL, nudge, NULL}, {0}};
static const hf_workflow_def workflows[] = {{.type = "leaf", .run = hf_call_echo},
                                            {.type = "broken", .run = broken},
                                            {.type = "waiter", .run = waiter, .signals = go},
                                            {.type = "single", .run = single},
                                            {.type = "careful", .run = careful},
                                            {.type = "pair", .run = pair},
                                            {.type = "late_pair", .run = late_pair, .signals = go},
                                            {.type = "nested", .run = nested},
                                            {.type = "mixed", .run = mixed},
                                            {.type = "crowd", .run = crowd},
                                            {.type = "brood", .run = brood, .signals = go},
                                            {.type = "function", .run = function},
                                            {.type = "caller", .run = caller},
                                            {.type = "countdown", .run = countdown, .signals = go},
                                            {.type = "watcher", .run = watcher},
                                            {.type = "phoenix", .run = phoenix, .signals = rise},
                                            {.type = "guardian", .run = guardian, .signals = end},
                                            {.type = "stubborn", .run = stubborn},
                                            {.type = "patron", .run = patron},
                                            {.type = "patient", .run = patient},
                                            {.type = "handler", .run = handler, .updates = nudges},
                                            {0}};
static const hf_activity_def activities[] = {
    {.name = "echo", .run = hf_echo}, {.name = "refuse", .run = refuse}, {0}};
static const hf_app app = {.name = "test", .workflows = workflows, .activities = activities};

static void failed_with(hf_engine *d, const char *id, const char *type)
{
    hf_value out = NULL;
    const hf_error *e = NULL;

    ck_assert_int_eq(hf_result(d, id, 0, &out, &e), HF_ERROR);
    ck_assert_ptr_nonnull(e);
    ck_assert_str_eq(e->type, type);
}

/* A child's result is its parent's, and its start command names parent, step and call. */
HF_EVERY_WAY(b151_child_result_and_start_command)
{
    hf_engine *d = hf_kit_open(kind, &app);
    char call[32];

    hf_kit_ok(d, hf_start(d, "single", hf_json(d, "{'a': 1}"), .id = "p"));
    hf_kit_settle(d);
    ck_assert_str_eq(hf_kit_result(d, "p"), "{\"a\":1}");
    ck_assert_str_eq(hf_kit_history(d, "p"), "StartAccepted WorkflowStarted ChildWorkflowScheduled "
                                             "ChildRunStarted ChildRunCompleted WorkflowCompleted");
    (void)snprintf(call, sizeof(call), "%s",
                   hf_kit_said(d, "p", "ChildWorkflowScheduled", 0, HF_KEY_CHILD_CALL_ID));
    ck_assert_uint_eq(strlen(call), 26);
    ck_assert_str_eq(hf_kit_said(d, "p", "ChildRunStarted", 0, HF_KEY_CHILD_CALL_ID), call);
    ck_assert_str_eq(hf_kit_said(d, "p", "ChildRunCompleted", 0, HF_KEY_CHILD_CALL_ID), call);
    ck_assert_str_eq(hf_kit_said(d, "p", "ChildRunStarted", 0, HF_KEY_PARENT_CLOSE_POLICY),
                     "request_cancel");
    ck_assert_str_eq(hf_kit_said(d, "p", "ChildRunCompleted", 0, HF_KEY_CHILD_STATUS), "completed");
    ck_assert_str_eq(hf_kit_said(d, "the-leaf", "WorkflowStarted", 0, HF_KEY_CHILD_CALL_ID), call);
    ck_assert_str_eq(
        hf_kit_said(d, "the-leaf", "WorkflowStarted", 0, HF_KEY_PARENT_WORKFLOW_INSTANCE_ID), "p");
    ck_assert_str_eq(hf_kit_said(d, "the-leaf", "WorkflowStarted", 0, HF_KEY_PARENT_SEQUENCE), "1");
    ck_assert_int_eq(hf_kit_number(d, "SELECT source FROM command WHERE run = (SELECT current_run "
                                      "FROM instance WHERE id = 'the-leaf')"),
                     HF_COMMAND_SOURCE_WORKFLOW);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM command WHERE type = 1"), 2);
    hf_kit_close(d);
}

/* A child's failure reaches the parent's code with type and message. */
HF_EVERY_WAY(b152_child_failure_is_thrown_from_history)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "careful", hf_json(d, "{'limit': 5}"), .id = "p"));
    hf_kit_settle(d);
    ck_assert_str_eq(hf_kit_result(d, "p"),
                     "{\"type\":\"card_declined\",\"message\":\"limit is 5\"}");
    ck_assert_str_eq(hf_kit_said(d, "p", "ChildRunFailed", 0, HF_KEY_FAILURE_CATEGORY),
                     "child_workflow");
    ck_assert_int_eq(hf_test_count(d, "p", "FailureHandled"), 1);
    hf_kit_close(d);
}

/* A child that runs into its deadline has failed, with a type of its own. */
HF_EVERY_WAY(b152_child_timeout_fails_the_step)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d,
              hf_start(d, "careful",
                       hf_json(d, "{'type': 'waiter', 'timeout': 2000, 'id': 'slow'}"), .id = "p"));
    hf_kit_settle(d);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(3)));
    hf_kit_settle(d);
    ck_assert_ptr_nonnull(strstr(hf_kit_result(d, "p"), "\"type\":\"timeout\""));
    ck_assert_str_eq(hf_kit_said(d, "p", "ChildRunFailed", 0, HF_KEY_CLOSED_REASON), "timed_out");
    hf_kit_close(d);
}

/* An id that another instance has fails the step, not the unit for ever. */
HF_EVERY_WAY(child_id_taken_fails_the_step)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "waiter", NULL, .id = "taken"));
    hf_kit_ok(d, hf_start(d, "careful", hf_json(d, "{'type': 'leaf', 'id': 'taken'}"), .id = "p"));
    hf_kit_settle(d);
    ck_assert_ptr_nonnull(strstr(hf_kit_result(d, "p"), "\"type\":\"child_id_taken\""));
    hf_kit_ok(d, hf_start(d, "waiter", NULL, .id = "q:1:1")); /* the id the engine would make */
    hf_kit_ok(d, hf_start(d, "careful", hf_json(d, "{'type': 'leaf'}"), .id = "q"));
    hf_kit_settle(d);
    ck_assert_ptr_nonnull(strstr(hf_kit_result(d, "q"), "\"type\":\"child_id_taken\""));
    hf_kit_close(d);
}

/* The parent's task says which child it is for. */
HF_EVERY_WAY(b153_parent_task_carries_child)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "careful", hf_json(d, "{'type': 'waiter', 'id': 'w'}"), .id = "p"));
    hf_kit_settle(d);
    hf_kit_ok(d, hf_cancel(d, "w", "enough")); /* commits without a turn of the parent */
    ck_assert_int_eq(
        hf_kit_number(d,
                      "SELECT t.source_key - i.current_run FROM task t, instance i WHERE "
                      "i.id = 'w' AND t.run = (SELECT current_run FROM instance WHERE id = 'p')"),
        0);
    hf_test_crash(d);
    hf_kit_settle(d);
    ck_assert_str_eq(hf_kit_result(d, "p"),
                     "{\"type\":\"child_cancelled\",\"message\":\"enough\"}");
    hf_kit_close(d);
}

/* A barrier waits for the last success. */
HF_EVERY_WAY(b154_all_waits_for_the_last)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "pair", hf_json(d, "7"), .id = "p"));
    hf_kit_settle(d);
    hf_kit_ok(d, hf_signal(d, "right", "go", hf_json(d, "'r'")));
    hf_kit_settle(d);
    ck_assert_str_eq(hf_test_status(d, "p"), "waiting child:waiter");
    ck_assert_int_eq(hf_test_count(d, "p", "ChildRunCompleted"), 1);
    hf_kit_ok(d, hf_signal(d, "left", "go", hf_json(d, "'l'")));
    hf_kit_settle(d);
    ck_assert_str_eq(hf_kit_result(d, "p"), "[{\"in\":7,\"got\":\"l\"},{\"in\":7,\"got\":\"r\"}]");
    hf_kit_close(d);
}

/* The first failed, cancelled or terminated child ends the wait. */
HF_EVERY_WAY(b155_all_wakes_on_the_first_failure)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "pair", NULL, .id = "p"));
    hf_kit_settle(d);
    hf_kit_ok(d, hf_signal(d, "right", "go", hf_json(d, "{'fail': true}")));
    hf_kit_settle(d);
    failed_with(d, "p", "told_to");
    ck_assert_str_eq(hf_test_status(d, "left"), "waiting signal:go");
    hf_kit_ok(d, hf_terminate(d, "left", NULL));
    hf_kit_close(d);
    for (int terminate = 0; terminate < 2; terminate++) {
        d = hf_kit_open(kind, &app);
        hf_kit_ok(d, hf_start(d, "pair", NULL, .id = "p"));
        hf_kit_settle(d);
        hf_kit_ok(d, terminate ? hf_terminate(d, "left", "x") : hf_cancel(d, "left", "x"));
        hf_kit_settle(d);
        failed_with(d, "p", terminate ? "child_terminated" : "child_cancelled");
        hf_kit_close(d);
    }
}

/* Of several failures the one recorded first is thrown; of those, the one with the lowest place. */
HF_EVERY_WAY(b156_earliest_failure_wins)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "late_pair", NULL, .id = "p"));
    hf_kit_settle(d);
    hf_kit_ok(d, hf_cancel(d, "right", "first"));
    hf_kit_settle(d);
    hf_kit_skip(d, 5);
    hf_kit_ok(d, hf_terminate(d, "left", "second"));
    hf_kit_settle(d);
    hf_kit_ok(d, hf_signal(d, "p", "go", NULL));
    hf_kit_settle(d);
    failed_with(d, "p", "child_cancelled");
    hf_kit_close(d);
    d = hf_kit_open(kind, &app);
    hf_kit_ok(d, hf_start(d, "late_pair", NULL, .id = "p"));
    hf_kit_settle(d);
    hf_kit_ok(d, hf_cancel(d, "right", "first"));
    hf_kit_ok(d, hf_terminate(d, "left", "second"));
    hf_kit_settle(d); /* recorded at the same moment */
    hf_kit_ok(d, hf_signal(d, "p", "go", NULL));
    hf_kit_settle(d);
    failed_with(d, "p", "child_terminated");
    hf_kit_close(d);
}

/* Nested groups keep the shape of their leaves, and every leaf says where it belongs. */
HF_EVERY_WAY(b157_nested_groups)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "nested", NULL, .id = "p"));
    hf_kit_settle(d);
    ck_assert_str_eq(hf_kit_result(d, "p"), "[1,[2,[3,4]],5]");
    ck_assert_str_eq(hf_kit_said(d, "p", "ChildWorkflowScheduled", 0, HF_KEY_PARALLEL_GROUP_ID),
                     "parallel-calls:2:3");
    ck_assert_str_eq(hf_kit_said(d, "p", "ActivityScheduled", 1, HF_KEY_PARALLEL_GROUP_ID),
                     "parallel-calls:3:2");
    ck_assert_ptr_nonnull(
        strstr(hf_kit_said(d, "p", "ActivityScheduled", 1, HF_KEY_PARALLEL_GROUP_PATH),
               "\"parallel-calls:1:5\""));
    hf_kit_close(d);
}

/* Activities and children in one group, in both orders. */
HF_EVERY_WAY(b158_mixed_groups)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "mixed", NULL, .id = "p"));
    hf_kit_ok(d, hf_start(d, "mixed", hf_json(d, "{'child_first': true}"), .id = "q"));
    hf_kit_settle(d);
    ck_assert_str_eq(hf_kit_result(d, "p"), "[\"a\",\"c\"]");
    ck_assert_str_eq(hf_kit_result(d, "q"), "[\"c\",\"a\"]");
    hf_kit_close(d);
}

/* One decision too many in a turn: nothing of the turn is scheduled. */
HF_EVERY_WAY(b159_command_batch_size)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "crowd", hf_json(d, "{'n': 1000}"), .id = "fits"));
    hf_kit_ok(d, hf_start(d, "crowd", hf_json(d, "{'n': 1001}"), .id = "over"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "fits"), "1000");
    failed_with(d, "over", "structural_limit");
    ck_assert_int_eq(hf_test_count(d, "over", "ActivityScheduled"), 0);
    ck_assert_str_eq(hf_kit_said(d, "over", "WorkflowFailed", 0, HF_KEY_STRUCTURAL_LIMIT_KIND),
                     "command_batch_size");
    ck_assert_str_eq(
        hf_kit_said(d, "over", "WorkflowFailed", 0, HF_KEY_STRUCTURAL_LIMIT_CONFIGURED), "1000");
    hf_kit_close(d);
}

/* A thousand open children are allowed, one more fails the run before it is started. */
HF_EVERY_WAY(pending_child_count_trips_at_its_limit)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "brood", hf_json(d, "{'first': 990, 'second': 10}"), .id = "fits"));
    hf_kit_ok(d, hf_start(d, "brood", hf_json(d, "{'first': 990, 'second': 11}"), .id = "over"));
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(2)));
    ck_assert_str_eq(hf_test_status(d, "fits"), "waiting signal:go");
    failed_with(d, "over", "structural_limit");
    ck_assert_int_eq(hf_test_count(d, "over", "ChildWorkflowScheduled"), 990);
    ck_assert_str_eq(hf_kit_said(d, "over", "WorkflowFailed", 0, HF_KEY_STRUCTURAL_LIMIT_KIND),
                     "pending_child_count");
    ck_assert_str_eq(hf_kit_said(d, "over", "WorkflowFailed", 0, HF_KEY_STRUCTURAL_LIMIT_VALUE),
                     "1000");
    hf_kit_close(d);
}

/* A registered function runs as a child of the type that all of them share. */
HF_EVERY_WAY(b160_async_is_a_child)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "caller", NULL, .id = "p"));
    hf_kit_settle(d);
    ck_assert_str_eq(hf_kit_said(d, "p", "ChildRunStarted", 0, HF_KEY_CHILD_WORKFLOW_TYPE),
                     "durable-workflow.async");
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(2)));
    hf_kit_settle(d);
    ck_assert_str_eq(hf_kit_result(d, "p"), "{\"doubled\":42}");
    hf_kit_ok(d, hf_start(d, "caller", hf_json(d, "{'function': 'nobody'}"), .id = "q"));
    hf_kit_settle(d);
    failed_with(d, "q", "unknown_function");
    hf_kit_close(d);
}

/* A child that continues as new keeps its call; the parent hears of each run. */
HF_EVERY_WAY(b161_child_continues_as_new)
{
    hf_engine *d = hf_kit_open(kind, &app);
    char call[32];

    hf_kit_ok(d, hf_start(d, "watcher", hf_json(d, "{'n': 3}"), .id = "p"));
    for (int i = 0; i < 4; i++)
        hf_kit_settle(d);
    ck_assert_str_eq(hf_kit_result(d, "p"), "\"liftoff\"");
    ck_assert_int_eq(hf_test_count(d, "p", "ChildRunStarted"), 4);
    (void)snprintf(call, sizeof(call), "%s",
                   hf_kit_said(d, "p", "ChildRunStarted", 0, HF_KEY_CHILD_CALL_ID));
    for (int i = 0; i < 4; i++) {
        char run[32];

        ck_assert_str_eq(hf_kit_said(d, "p", "ChildRunStarted", i, HF_KEY_CHILD_CALL_ID), call);
        (void)snprintf(run, sizeof(run), "%s",
                       hf_kit_said(d, "p", "ChildRunStarted", i, HF_KEY_CHILD_WORKFLOW_RUN_ID));
        if (i)
            ck_assert_str_ne(
                hf_kit_said(d, "p", "ChildRunStarted", i - 1, HF_KEY_CHILD_WORKFLOW_RUN_ID), run);
    }
    ck_assert_str_eq(hf_kit_said(d, "rocket", "WorkflowStarted", 0, HF_KEY_CHILD_CALL_ID), call);
    ck_assert_str_eq(hf_kit_said(d, "p", "ChildRunCompleted", 0, HF_KEY_CHILD_RUN_NUMBER), "4");
    hf_kit_close(d);
}

/* Closes the guardian `p` in one of its ways. */
static void guardian_end(hf_engine *d, const char *how)
{
    if (strcmp(how, "cancel") == 0)
        hf_kit_ok(d, hf_cancel(d, "p", "because"));
    else if (strcmp(how, "terminate") == 0)
        hf_kit_ok(d, hf_terminate(d, "p", "because"));
    else if (strcmp(how, "time") == 0)
        hf_kit_ok(d, hf_test_advance(d, hf_hours(2)));
    else
        hf_kit_ok(d, hf_signal(d, "p", "end", hf_json(d, "%s", how)));
    hf_test_crash(d);
    hf_kit_settle(d);
}

/* Each policy at each way a parent can close. */
HF_EVERY_WAY(b162_parent_close_policies)
{
    static const char *const ways[] = {"return", "fail", "cancel", "terminate", "time"};
    static const char *const wards[] = {"waiting signal:go", "cancelled", "terminated"};
    static const char *const names[] = {"abandon", "request_cancel", "terminate"};

    for (int way = 0; way < 5; way++) {
        for (int policy = 0; policy < 3; policy++) {
            hf_engine *d = hf_kit_open(kind, &app);

            hf_kit_ok(d, hf_start(d, "guardian", hf_json(d, "{'policy': %d}", policy), .id = "p",
                                  .run_timeout = hf_hours(1)));
            hf_kit_settle(d);
            guardian_end(d, ways[way]);
            ck_assert_str_eq(hf_test_status(d, "ward"), wards[policy]);
            ck_assert_int_eq(hf_test_count(d, "p", "ParentClosePolicyApplied"), policy > 0);
            if (policy) {
                ck_assert_str_eq(hf_kit_said(d, "p", "ParentClosePolicyApplied", 0, HF_KEY_POLICY),
                                 names[policy]);
                ck_assert_str_eq(
                    hf_kit_said(d, "p", "ParentClosePolicyApplied", 0, HF_KEY_CHILD_INSTANCE_ID),
                    "ward");
            }
            hf_kit_close(d);
        }
    }
}

/* A parent that continues closes no child; the run that follows does. So does a child that
   continues stay under its policy. */
HF_EVERY_WAY(b163_policy_survives_continue_as_new)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d,
              hf_start(d, "guardian", hf_json(d, "{'policy': 2, 'type': 'phoenix'}"), .id = "p"));
    hf_kit_settle(d);
    guardian_end(d, "next");
    ck_assert_str_eq(hf_test_status(d, "ward"), "waiting signal:rise");
    ck_assert_int_eq(hf_test_count(d, "p", "ParentClosePolicyApplied"), 0);
    guardian_end(d, "return");
    ck_assert_str_eq(hf_test_status(d, "ward"), "terminated");
    hf_kit_close(d);
    d = hf_kit_open(kind, &app);
    hf_kit_ok(d,
              hf_start(d, "guardian", hf_json(d, "{'policy': 1, 'type': 'phoenix'}"), .id = "p"));
    hf_kit_settle(d);
    hf_kit_ok(d, hf_signal(d, "ward", "rise", NULL));
    hf_kit_settle(d);
    ck_assert_int_eq(hf_test_count(d, "p", "ChildRunStarted"), 2);
    guardian_end(d, "return");
    ck_assert_str_eq(hf_test_status(d, "ward"), "cancelled");
    hf_kit_close(d);
    d = hf_kit_open(kind, &app);
    hf_kit_ok(d,
              hf_start(d, "guardian", hf_json(d, "{'policy': 1, 'type': 'phoenix'}"), .id = "p"));
    hf_kit_settle(d);
    hf_kit_ok(d, hf_cancel(d, "p", NULL)); /* the child continues before it hears of it */
    hf_kit_ok(d, hf_signal(d, "ward", "rise", NULL));
    hf_test_crash(d);
    hf_kit_settle(d);
    ck_assert_str_eq(hf_test_status(d, "ward"), "cancelled");
    hf_kit_close(d);
}

/* Children that close at the same time wake their parent once. */
HF_EVERY_WAY(b164_concurrent_completions_wake_once)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "pair", NULL, .id = "p"));
    hf_kit_settle(d);
    hf_kit_ok(d, hf_signal(d, "left", "go", NULL));
    hf_kit_ok(d, hf_signal(d, "right", "go", NULL));
    hf_test_crash(d); /* both are found again at once */
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_history(d, "p"),
                     "StartAccepted WorkflowStarted ChildWorkflowScheduled ChildRunStarted "
                     "ChildWorkflowScheduled ChildRunStarted ChildRunCompleted ChildRunCompleted "
                     "WorkflowCompleted");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM history WHERE run = (SELECT "
                                      "current_run FROM instance WHERE id = 'p')"),
                     3); /* start, children, and both ends in one unit */
    hf_kit_close(d);
}

/* A child that may be retried starts again before its parent hears of a failure. */
HF_EVERY_WAY(b165_retryable_child_failure)
{
    hf_engine *d = hf_kit_open(kind, &app);

    tries = 0;
    hf_kit_ok(d, hf_start(d, "patron", hf_json(d, "{'until': 3}"), .id = "p"));
    for (int i = 0; i < 4; i++)
        hf_kit_settle(d);
    ck_assert_str_eq(hf_test_status(d, "p"), "waiting child:waiter");
    ck_assert_int_eq(hf_test_count(d, "p", "ChildRunFailed"), 0);
    ck_assert_int_eq(hf_test_count(d, "p", "ChildRunCompleted"), 1);
    ck_assert_int_eq(hf_test_count(d, "p", "ChildRunStarted"), 4);
    ck_assert_str_eq(hf_kit_said(d, "p", "ChildRunStarted", 3, HF_KEY_RETRY_ATTEMPT), "3");
    hf_kit_ok(d, hf_signal(d, "other", "go", NULL));
    hf_kit_settle(d);
    ck_assert_str_eq(hf_kit_result(d, "p"),
                     "[{\"tries\":3,\"in\":{\"until\":3}},{\"in\":{\"until\":3},\"got\":true}]");
    tries = 0;
    hf_kit_ok(d, hf_start(d, "patron", hf_json(d, "{'until': 9}"), .id = "q"));
    hf_kit_close(d);
    d = hf_kit_open(kind, &app);
    hf_kit_ok(d, hf_start(d, "patron", hf_json(d, "{'until': 9}"), .id = "q"));
    for (int i = 0; i < 4; i++)
        hf_kit_settle(d);
    failed_with(d, "q", "not_yet");
    ck_assert_int_eq(hf_test_count(d, "q", "ChildRunFailed"), 1);
    hf_kit_close(d);
}

/* The whole policy of a child is carried out: each run that follows a failure waits for the next
   entry of the list, also over a crash, and then has its time from its own beginning. */
HF_EVERY_WAY(n48_child_waits_between_its_tries)
{
    hf_engine *d = hf_kit_open(kind, &app);

    tries = 0;
    hf_kit_ok(d, hf_start(d, "patient", hf_json(d, "{'until': 4}"), .id = "p"));
    for (int i = 0; i < 3; i++)
        hf_kit_settle(d);
    ck_assert_int_eq(tries, 1);
    ck_assert_str_eq(hf_test_status(d, "stubborn"), "pending");
    hf_kit_ok(d, hf_test_advance(d, 999));
    hf_kit_settle(d);
    ck_assert_int_eq(tries, 1);
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_advance(d, 1));
    hf_kit_settle(d);
    ck_assert_int_eq(tries, 2);
    hf_kit_ok(d, hf_test_advance(d, 2999)); /* longer than a run may take */
    hf_kit_settle(d);
    ck_assert_int_eq(tries, 2);
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_advance(d, 1));
    hf_kit_settle(d);
    ck_assert_int_eq(tries, 3);
    hf_kit_ok(d, hf_test_advance(d, 3000)); /* the last entry repeats */
    for (int i = 0; i < 2; i++)
        hf_kit_settle(d);
    ck_assert_str_eq(hf_kit_result(d, "p"), "{\"tries\":4,\"in\":{\"until\":4}}");
    ck_assert_int_eq(hf_test_count(d, "p", "ChildRunFailed"), 0);
    ck_assert_int_eq(hf_test_count(d, "p", "ChildRunStarted"), 4);
    ck_assert_str_eq(hf_kit_said(d, "p", "ChildRunStarted", 2, HF_KEY_RETRY_BACKOFF_SECONDS), "3");
    ck_assert_str_eq(hf_kit_said(d, "p", "ChildWorkflowScheduled", 0, HF_KEY_RETRY_POLICY),
                     "{\"backoff_seconds\":[1,3],\"max_attempts\":5,\"snapshot_version\":1}");
    ck_assert_str_eq(hf_kit_said(d, "stubborn", "WorkflowStarted", 0, HF_KEY_RETRY_POLICY),
                     "{\"backoff_seconds\":[1,3],\"max_attempts\":5,\"snapshot_version\":1}");
    hf_kit_close(d);
}

/* The same in one life of the engine: what waits to begin is remembered. */
HF_EVERY_WAY(n48_child_begins_again_without_a_restart)
{
    hf_engine *d = hf_kit_open(kind, &app);

    tries = 0;
    hf_kit_ok(d, hf_start(d, "patient", hf_json(d, "{'until': 3}"), .id = "p"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(tries, 1);
    hf_kit_ok(d, hf_test_advance(d, 1000));
    ck_assert_int_eq(tries, 2);
    hf_kit_ok(d, hf_test_advance(d, 3000));
    ck_assert_str_eq(hf_kit_result(d, "p"), "{\"tries\":3,\"in\":{\"until\":3}}");
    hf_kit_close(d);
}

/* A failure type that the policy names ends the child at once. */
HF_EVERY_WAY(n48_child_is_not_tried_again_after_a_final_type)
{
    hf_engine *d = hf_kit_open(kind, &app);

    tries = 0;
    hf_kit_ok(d, hf_start(d, "patient", hf_json(d, "{'until': 4, 'never': 'bad_input, not_yet'}"),
                          .id = "p"));
    for (int i = 0; i < 3; i++)
        hf_kit_settle(d);
    failed_with(d, "p", "not_yet");
    ck_assert_int_eq(tries, 1);
    ck_assert_int_eq(hf_test_count(d, "p", "ChildRunStarted"), 1);
    hf_kit_close(d);
}

/* A signal to a child arrives once, whatever crashes, also out of an update. */
HF_EVERY_WAY(b079_signals_to_children_arrive_once)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;

    hf_kit_ok(d, hf_start(d, "handler", hf_json(d, "{'signal': true}"), .id = "p"));
    for (int i = 0; i < 4; i++)
        hf_kit_settle(d);
    ck_assert_str_eq(hf_kit_result(d, "p"),
                     "{\"in\":{\"signal\":true},\"got\":{\"from\":\"parent\"}}");
    ck_assert_int_eq(hf_test_count(d, "deaf", "SignalReceived"), 1);
    hf_kit_close(d);
    d = hf_kit_open(kind, &app);
    hf_kit_ok(d, hf_start(d, "handler", NULL, .id = "p"));
    hf_kit_settle(d);
    hf_kit_ok(d, hf_update(d, "p", "nudge", hf_json(d, "{'from': 'update'}"), hf_seconds(1), &out));
    hf_test_crash(d);
    for (int i = 0; i < 3; i++)
        hf_kit_settle(d);
    ck_assert_ptr_nonnull(strstr(hf_kit_result(d, "p"), "\"from\":\"update\""));
    ck_assert_int_eq(hf_test_count(d, "deaf", "SignalReceived"), 1);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/child", HF_WAYS(b151_child_result_and_start_command),
                 HF_WAYS(b152_child_failure_is_thrown_from_history),
                 HF_WAYS(b152_child_timeout_fails_the_step), HF_WAYS(child_id_taken_fails_the_step),
                 HF_WAYS(b153_parent_task_carries_child), HF_WAYS(b154_all_waits_for_the_last),
                 HF_WAYS(b155_all_wakes_on_the_first_failure), HF_WAYS(b156_earliest_failure_wins),
                 HF_WAYS(b157_nested_groups), HF_WAYS(b158_mixed_groups),
                 HF_WAYS_SLOW(b159_command_batch_size, 120),
                 HF_WAYS_SLOW(pending_child_count_trips_at_its_limit, 300),
                 HF_WAYS(b160_async_is_a_child), HF_WAYS(b161_child_continues_as_new),
                 HF_WAYS_SLOW(b162_parent_close_policies, 120),
                 HF_WAYS(b163_policy_survives_continue_as_new),
                 HF_WAYS(b164_concurrent_completions_wake_once),
                 HF_WAYS(b165_retryable_child_failure), HF_WAYS(n48_child_waits_between_its_tries),
                 HF_WAYS(n48_child_begins_again_without_a_restart),
                 HF_WAYS(n48_child_is_not_tried_again_after_a_final_type),
                 HF_WAYS(b079_signals_to_children_arrive_once))
