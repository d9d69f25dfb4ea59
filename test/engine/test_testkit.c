/* The kit that users test their workflows with, and the observer: what they promise, and that they
   notice what they are there to notice. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fault.h"
#include "base/thread.h"
#include "holdfast/holdfast.h"
#include "lib/handlers.h"
#include "lib/kit.h"

enum { WHY_BYTES = 512, TOLD_MAX = 64 };

/* ---- an application */

static int outside; /* what a workflow must not look at */

static hf_value refuse(hf_act *a, hf_value in)
{
    (void)in;
    return hf_reject(a, "card_declined", "limit is %d", 5);
}

static hf_value flaky(hf_act *a, hf_value in)
{
    (void)in;
    if (hf_attempt(a) < 3)
        return hf_retry(a, "gateway_timeout", "attempt %d", hf_attempt(a));
    return hf_json(a, "'third time lucky'");
}

static hf_value slow(hf_act *a, hf_value in)
{
    const struct timespec moment = {.tv_nsec = 100000000};

    (void)in;
    (void)nanosleep(&moment, NULL);
    return hf_json(a, "'done'");
}

typedef struct basket {
    bool full;
} basket;

static bool is_full(const void *state)
{
    return ((const basket *)state)->full;
}

static hf_value fill(hf_ctx *w, void *state, hf_value args)
{
    (void)args;
    ((basket *)state)->full = true;
    return hf_json(w, "true");
}

/* A bit of everything that can be lost: activities with retries, a wait, a signal, a timer, a
 * child. */
static hf_value everything(hf_ctx *w, hf_value in)
{
    hf_value lucky = hf_activity(w, "flaky", in, .max_attempts = 5);
    hf_future f[3];
    hf_value three;
    hf_value note;

    for (int i = 0; i < 3; i++)
        f[i] = hf_spawn_activity(w, "echo", hf_json(w, "%d", i));
    three = hf_join_all(w, f, 3);
    if (!hf_wait(w, "full", is_full, .timeout = hf_hours(1)))
        hf_fail(w, "empty", "nobody filled the basket");
    note = hf_receive(w, "note", .timeout = hf_hours(1));
    hf_sleep(w, hf_minutes(20));
    return hf_json(w, "{'lucky': %p, 'three': %p, 'note': %p, 'child': %p}", (void *)lucky,
                   (void *)three, (void *)note, (void *)hf_child(w, "single", in));
}

static hf_value careful(hf_ctx *w, hf_value in)
{
    const hf_error *e = NULL;

    hf_activity(w, "refuse", in, .err = &e);
    return hf_json(w, "%s", e->type);
}

static hf_value careless(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "refuse", in);
}

/* Wrong: how often it ran is not recorded. */
static hf_value cheat(hf_ctx *w, hf_value in)
{
    int ran = ++outside;

    hf_activity(w, "echo", in);
    hf_activity(w, "echo", in);
    return hf_json(w, "{'ran': %d}", ran);
}

static hf_value naps(hf_ctx *w, hf_value in)
{
    hf_sleep(w, hf_seconds(hf_int(in, "sleep", 1)));
    return NULL;
}

static hf_value tries(hf_ctx *w, hf_value in)
{
    hf_activity(w, "flaky", in, .max_attempts = 5);
    return naps(w, in);
}

static hf_value stubborn(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "flaky", in, .max_attempts = -1);
}

static hf_value waiting(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_receive(w, "note");
}

static hf_value slowly(hf_ctx *w, hf_value in)
{
    hf_activity(w, "slow", in);
    return hf_activity(w, "echo", in);
}

static const hf_workflow_def workflows[] = {
    {"everything", everything, sizeof(basket),
     .signals = (const hf_signal_def[]){{"note", NULL}, {0}},
     .updates = (const hf_update_def[]){{"fill", "", fill, NULL}, {0}}},
    {.type = "single", .run = hf_call_echo},
    {.type = "countdown", .run = hf_count_down},
    {.type = "careful", .run = careful},
    {.type = "careless", .run = careless},
    {.type = "cheat", .run = cheat},
    {.type = "waiting", .run = waiting, .signals = (const hf_signal_def[]){{"note", NULL}, {0}}},
    {.type = "slowly", .run = slowly},
    {.type = "naps", .run = naps},
    {.type = "tries", .run = tries},
    {.type = "stubborn", .run = stubborn},
    {0}};
static const hf_activity_def activities[] = {
    {.name = "echo", .run = hf_echo}, {hf_fn(refuse)}, {hf_fn(flaky)}, {hf_fn(slow)}, {0}};
static const hf_app app = {.name = "kit", .workflows = workflows, .activities = activities};

static void ok(hf_engine *d, hf_status st)
{
    ck_assert_msg(st == HF_OK, "%s: %s", hf_strstatus(st), hf_errmsg(d));
}

/* ---- crashes everywhere */

static hf_status everything_lived(hf_engine *d, void *arg)
{
    hf_value out = NULL;
    hf_status st = hf_start(d, "everything", hf_json(d, "{'a': 1}"), .id = "e-1");

    (void)arg;
    if (!st)
        st = hf_test_advance(d, hf_minutes(1));
    if (!st)
        st = hf_update(d, "e-1", "fill", NULL, hf_seconds(1), &out);
    if (!st)
        st = hf_signal(d, "e-1", "note", hf_json(d, "'hello'"));
    if (!st)
        st = hf_test_advance(d, hf_minutes(30));
    if (!st && strcmp(hf_test_status(d, "e-1"), "completed") != 0)
        st = HF_TIMEOUT;
    return st;
}

/* Whatever a workflow waits for, a crash after any commit changes nothing. */
START_TEST(a_crash_after_any_commit_changes_nothing)
{
    char why[WHY_BYTES];

    ck_assert_msg(hf_test_crash_everywhere(&app, everything_lived, NULL, why, sizeof(why)) == HF_OK,
                  "%s", why);
    ck_assert_str_eq(why, "");
}
END_TEST

static hf_status several_lived(hf_engine *d, void *arg)
{
    (void)arg;
    (void)hf_start(d, "countdown", hf_json(d, "{'n': 3}"), .id = "c-1");
    (void)hf_start(d, "careless", NULL, .id = "c-2");
    (void)hf_start(d, "careful", NULL, .id = "c-3");
    (void)hf_start(d, "waiting", NULL, .id = "c-4");
    (void)hf_test_advance(d, hf_minutes(1));
    (void)hf_start(d, "waiting", NULL, .id = "c-5");
    (void)hf_test_drain(d);
    return hf_cancel(d, "c-5", "enough");
}

/* Also with several runs at once: one that goes on as new, one that fails, one that waits, one that
   is cancelled. */
START_TEST(a_crash_does_not_mix_runs_up)
{
    char why[WHY_BYTES];

    ck_assert_msg(hf_test_crash_everywhere(&app, several_lived, NULL, why, sizeof(why)) == HF_OK,
                  "%s", why);
}
END_TEST

static hf_status cheat_lived(hf_engine *d, void *arg)
{
    (void)arg;
    outside = 0;
    (void)hf_start(d, "cheat", NULL, .id = "x-1");
    return hf_test_drain(d);
}

/* A workflow that looks at something that is not recorded is found, and the words say where. */
START_TEST(a_workflow_that_cheats_is_found)
{
    char why[WHY_BYTES];

    ck_assert_int_eq(hf_test_crash_everywhere(&app, cheat_lived, NULL, why, sizeof(why)), HF_ERROR);
    ck_assert_ptr_nonnull(strstr(why, "a crash after commit 2 of "));
    ck_assert_ptr_nonnull(strstr(why, "{\"ran\":2}"));
    ck_assert_ptr_nonnull(strstr(why, "{\"ran\":1}"));
}
END_TEST

static hf_status fickle_lived(hf_engine *d, void *arg)
{
    int *calls = arg;

    (void)hf_start(d, "single", NULL, .id = "s-1");
    (void)hf_test_drain(d);
    return ++*calls == 3 ? HF_REJECTED : HF_OK;
}

/* A scenario that returns something else is a difference too; so is an application that does not
   open. */
START_TEST(what_the_scenario_returns_counts)
{
    const hf_workflow_def twice[] = {
        {.type = "single", .run = hf_call_echo}, {.type = "single", .run = hf_call_echo}, {0}};
    const hf_app broken = {.name = "broken", .workflows = twice};
    char why[WHY_BYTES];
    int calls = 0;

    ck_assert_int_eq(hf_test_crash_everywhere(&app, fickle_lived, &calls, why, sizeof(why)),
                     HF_ERROR);
    ck_assert_ptr_nonnull(strstr(why, "returned rejected instead of ok"));
    ck_assert_int_ne(hf_test_crash_everywhere(&broken, fickle_lived, &calls, why, sizeof(why)),
                     HF_OK);
    ck_assert_ptr_nonnull(strstr(why, "undisturbed: "));
}
END_TEST

/* ---- the rest of the kit */

/* Injected failures count attempts, not processes: a crash does not take them away. */
HF_BOTH_ENGINES(injected_failures_survive_a_crash)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_test_fail(d, "flaky", 2, "no_power");
    hf_test_crash(d);
    ok(d, hf_start(d, "everything", NULL, .id = "e-1"));
    ok(d, hf_test_advance(d, 0));
    ck_assert_int_eq(hf_test_count(d, "e-1", "ActivityRetryScheduled"), 1);
    hf_test_crash(d);
    ok(d, hf_test_advance(d, hf_seconds(1)));
    ck_assert_int_eq(hf_test_count(d, "e-1", "ActivityRetryScheduled"), 2);
    hf_kit_close(d);
}

/* A drain does not stop at the pauses before further attempts, whatever crashes in them; it stops
   at a timer. What falls due on the way happens in its order. */
HF_BOTH_ENGINES(a_drain_runs_through_pauses)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_test_fail(d, "flaky", 3, "no_power"); /* pauses of 1, 2 and 5 s */
    ok(d, hf_start(d, "tries", hf_json(d, "{'sleep': 3600}"), .id = "a"));
    ok(d, hf_start(d, "naps", hf_json(d, "{'sleep': 2}"), .id = "b"));
    ok(d, hf_start(d, "naps", hf_json(d, "{'sleep': 9}"), .id = "c"));
    ok(d, hf_test_advance(d, 0));
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityRetryScheduled"), 1);
    hf_test_crash(d);
    ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityRetryScheduled"), 3);
    ck_assert_str_eq(hf_test_status(d, "a"), "waiting timer");
    ck_assert_str_eq(hf_test_status(d, "b"), "completed");
    ck_assert_str_eq(hf_test_status(d, "c"), "waiting timer");
    ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "c"), "waiting timer");
    ok(d, hf_test_advance(d, hf_hours(1)));
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    hf_kit_close(d);
}

/* An activity that never succeeds and is tried for ever does not hold the test. */
START_TEST(a_drain_comes_to_an_end)
{
    hf_engine *d = hf_test_open(&app);

    hf_test_fail(d, "flaky", INT_MAX, "no_power");
    ok(d, hf_start(d, "stubborn", NULL, .id = "a"));
    ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "a"), "waiting activity:flaky");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityRetryScheduled"), 1001);
    hf_close(d);
}
END_TEST

/* A run that is not in memory still says what it waits for. */
HF_BOTH_ENGINES(a_status_survives_a_crash)
{
    hf_engine *d = hf_kit_open(kind, &app);

    ok(d, hf_start(d, "waiting", NULL, .id = "w-1"));
    ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "w-1"), "waiting signal:note");
    hf_test_crash(d);
    ck_assert_str_eq(hf_test_status(d, "w-1"), "waiting signal:note");
    ck_assert_str_eq(hf_test_status(d, "nobody"), "not found");
    ck_assert_int_eq(hf_test_count(d, "nobody", "SignalReceived"), -1);
    ck_assert_int_eq(hf_test_count(d, "w-1", "NoSuchEvent"), -1);
    hf_kit_close(d);
}

/* ---- the observer */

typedef struct told {
    char events[TOLD_MAX][48];
    char detail[TOLD_MAX][512];
    int count;
    hf_mem *mem;
} told;

static void told_note(void *arg, const char *event, hf_value detail)
{
    told *t = arg;

    if (t->count >= TOLD_MAX)
        return;
    (void)snprintf(t->events[t->count], sizeof(t->events[0]), "%s", event);
    if (t->mem && detail)
        (void)snprintf(t->detail[t->count], sizeof(t->detail[0]), "%s", hf_text(t->mem, detail));
    t->count++;
}

static int told_of(const told *t, const char *event)
{
    int found = 0;

    for (int i = 0; i < t->count; i++)
        found += strcmp(t->events[i], event) == 0;
    return found;
}

/* The events of one run come in their order, with who and when. */
HF_BOTH_ENGINES(an_observer_is_told_in_order)
{
    hf_engine *d = hf_kit_open(kind, &app);
    told t = {.mem = hf_mem_new()};
    hf_value detail;

    hf_observe(d, &(hf_observer){.size_ = sizeof(hf_observer), .on = told_note, .arg = &t});
    ok(d, hf_start(d, "single", hf_json(d, "7"), .id = "s-1"));
    ck_assert_int_eq(t.count, 0);
    ok(d, hf_test_drain(d));
    ck_assert_int_eq(t.count, 4);
    ck_assert_str_eq(t.events[0], "WorkflowStarted");
    ck_assert_str_eq(t.events[1], "ActivityStarted");
    ck_assert_str_eq(t.events[2], "ActivityCompleted");
    ck_assert_str_eq(t.events[3], "WorkflowCompleted");
    detail = hf_parse_(t.mem, t.detail[2], strlen(t.detail[2]));
    ck_assert_str_eq(hf_str(detail, "instance_id", "?"), "s-1");
    ck_assert_str_eq(hf_str(detail, "workflow_type", "?"), "single");
    ck_assert_str_eq(hf_str(detail, "activity_type", "?"), "echo");
    ck_assert_int_eq((int)strlen(hf_str(detail, "run_id", "")), 26);
    ck_assert_int_eq(hf_int(detail, "committed_at", 0), 1767225600000);
    ck_assert_int_gt(hf_int(detail, "sequence", 0), 2);
    ck_assert_int_eq(hf_int(detail, "attempt", 0), 1);
    hf_observe(d, NULL);
    ok(d, hf_start(d, "single", NULL, .id = "s-2"));
    ok(d, hf_test_drain(d));
    ck_assert_int_eq(t.count, 4);
    hf_mem_free(t.mem);
    hf_kit_close(d);
}

/* A failure that is retried is no failed activity; one for good is, and is recorded. */
HF_BOTH_ENGINES(an_observer_hears_of_final_failures_alone)
{
    hf_engine *d = hf_kit_open(kind, &app);
    told t = {0};

    hf_observe(d, &(hf_observer){.size_ = sizeof(hf_observer), .on = told_note, .arg = &t});
    ok(d, hf_start(d, "everything", NULL, .id = "e-1"));
    ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_int_eq(told_of(&t, "ActivityStarted"), 6); /* three attempts, then three at once */
    ck_assert_int_eq(told_of(&t, "ActivityFailed"), 0);
    ck_assert_int_eq(told_of(&t, "FailureRecorded"), 0);
    ok(d, hf_start(d, "careful", NULL, .id = "c-1"));
    ok(d, hf_test_drain(d));
    ck_assert_int_eq(told_of(&t, "ActivityFailed"), 1);
    ck_assert_int_eq(told_of(&t, "FailureRecorded"), 1);
    ck_assert_int_eq(told_of(&t, "WorkflowFailed"), 0);
    ok(d, hf_start(d, "careless", NULL, .id = "c-2"));
    ok(d, hf_test_drain(d));
    ck_assert_int_eq(told_of(&t, "ActivityFailed"), 2);
    ck_assert_int_eq(told_of(&t, "WorkflowFailed"), 1);
    ck_assert_int_eq(told_of(&t, "FailureRecorded"), 3);
    hf_kit_close(d);
}

/* Replay tells nothing: after a crash only what is new is told. */
HF_BOTH_ENGINES(an_observer_hears_nothing_of_a_replay)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;
    told t = {0};
    int before;

    hf_observe(d, &(hf_observer){.size_ = sizeof(hf_observer), .on = told_note, .arg = &t});
    ok(d, hf_start(d, "everything", NULL, .id = "e-1"));
    ok(d, hf_test_advance(d, hf_minutes(1)));
    before = t.count;
    hf_test_crash(d);
    ok(d, hf_test_drain(d));
    ck_assert_int_eq(t.count, before);
    ok(d, hf_update(d, "e-1", "fill", NULL, hf_seconds(1), &out));
    ok(d, hf_signal(d, "e-1", "note", NULL));
    ok(d, hf_test_advance(d, hf_minutes(30)));
    ck_assert_int_eq(told_of(&t, "WorkflowStarted"), 2); /* it and its child */
    ck_assert_int_eq(told_of(&t, "WorkflowCompleted"), 2);
    ck_assert_int_eq(told_of(&t, "ActivityCompleted"), 5);
    hf_kit_close(d);
}

/* ---- shutting down */

typedef struct runner {
    hf_engine *engine;
    hf_thread thread;
    hf_status status;
} runner;

static void runner_run(void *ctx)
{
    runner *r = ctx;

    r->status = hf_run(r->engine);
}

/* A shutdown waits for the attempt that runs and records what it did; the next attempt is for the
   next engine. */
START_TEST(a_shutdown_lets_attempts_end)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    const struct timespec moment = {.tv_nsec = 30000000};
    runner r = {0};
    hf_value out = NULL;
    told t = {0};
    hf_err err;

    ok(r.engine, hf_open(hf_test_place_address(place), &app, &r.engine));
    hf_observe(r.engine, &(hf_observer){.size_ = sizeof(hf_observer), .on = told_note, .arg = &t});
    ok(r.engine, hf_start(r.engine, "slowly", NULL, .id = "s-1"));
    hf_test_ok(hf_thread_start(&r.thread, "runner", runner_run, &r, &err), &err, "run");
    (void)nanosleep(&moment, NULL); /* likely inside the activity; right also when it is not */
    hf_shutdown(r.engine);
    hf_thread_join(&r.thread);
    ck_assert_int_eq(r.status, HF_OK);
    ck_assert_int_eq(told_of(&t, "ActivityStarted"), told_of(&t, "ActivityCompleted"));
    ck_assert_int_eq(told_of(&t, "WorkflowCompleted"), 0);
    ck_assert_int_eq(hf_result(r.engine, "s-1", hf_seconds(5), &out, NULL), HF_STOPPED);
    hf_close(r.engine);
    r.engine = NULL;
    ok(r.engine, hf_open(hf_test_place_address(place), &app, &r.engine));
    ok(r.engine, hf_result(r.engine, "s-1", hf_seconds(20), &out, NULL));
    hf_close(r.engine);
    hf_test_place_free(place);
}
END_TEST

static hf_status one_lived(hf_engine *d, void *arg)
{
    (void)arg;
    (void)hf_start(d, "single", NULL, .id = "s-1");
    return hf_test_drain(d);
}

/* Without memory the kit says so, or the result is the same: a hint was lost and nothing else. */
START_TEST(no_memory_is_told)
{
    char why[WHY_BYTES];
    int64_t seen = 1;

    for (int64_t n = 1; n <= seen; n++) {
        hf_status st;

        hf_fault_arm(HF_FAULT_ALLOC, n, false);
        st = hf_test_crash_everywhere(&app, one_lived, NULL, why, sizeof(why));
        seen = hf_fault_seen(HF_FAULT_ALLOC);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_msg(st == HF_OK || why[0], "allocation %lld: no reason given", (long long)n);
    }
}
END_TEST

HF_PG_SUITE_MAIN("engine/testkit", {a_crash_after_any_commit_changes_nothing, 0},
                 {a_crash_does_not_mix_runs_up, 0}, {a_workflow_that_cheats_is_found, 0},
                 {what_the_scenario_returns_counts, 0}, HF_BOTH(injected_failures_survive_a_crash),
                 HF_BOTH(a_drain_runs_through_pauses), {a_drain_comes_to_an_end, 0},
                 HF_BOTH(a_status_survives_a_crash), HF_BOTH(an_observer_is_told_in_order),
                 HF_BOTH(an_observer_hears_of_final_failures_alone),
                 HF_BOTH(an_observer_hears_nothing_of_a_replay), {a_shutdown_lets_attempts_end, 0},
                 {no_memory_is_told, 120})
