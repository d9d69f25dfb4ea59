/* The engine from outside, through holdfast.h: workflows in C on a virtual clock, with crashes in
   between, and with real threads on both databases. */
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "engine/core_impl.h"
#include "engine/engine_impl.h"
#include "holdfast/holdfast.h"
#include "lib/engine.h"
#include "lib/handlers.h"
#include "lib/kit.h"

/* ---- an application with one workflow for each thing that is tested */

static hf_value flaky(hf_act *a, hf_value in)
{
    (void)in;
    if (hf_attempt(a) < 3)
        return hf_retry(a, "gateway_timeout", "attempt %d", hf_attempt(a));
    return hf_json(a, "{'attempt': %d, 'key': %s}", hf_attempt(a), hf_idempotency_key(a));
}

static hf_value refuse(hf_act *a, hf_value in)
{
    return hf_reject(a, "card_declined", "limit is %d", (int)hf_int(in, "limit", 0));
}

static hf_value many(hf_ctx *w, hf_value in)
{
    int64_t n = hf_int(in, "steps", 1);
    int64_t sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += hf_int(hf_activity(w, "echo", hf_json(w, "%lld", (long long)i)), "", 0);
    return hf_json(w, "%lld", (long long)sum);
}

static hf_value patient(hf_ctx *w, hf_value in)
{
    (void)in;
    hf_sleep(w, hf_days(2));
    return hf_json(w, "'rested'");
}

static hf_value retrying(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "flaky", in, .max_attempts = 5);
}

static hf_value careful(hf_ctx *w, hf_value in)
{
    const hf_error *e = NULL;

    hf_activity(w, "refuse", in, .err = &e);
    return hf_json(w, "{'type': %s}", e ? e->type : "none");
}

static hf_value careless(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "refuse", in);
}

typedef struct approval {
    bool ready;
    int64_t limit;
} approval;

static bool is_ready(const void *state)
{
    return ((const approval *)state)->ready;
}

static hf_value set_ready(hf_ctx *w, void *state, hf_value args)
{
    approval *a = state;

    a->ready = hf_bool(args, "ready", true);
    return hf_json(w, "{'ready': %d}", a->ready);
}

static hf_value status(hf_mem *m, const void *state, hf_value args)
{
    const approval *a = state;

    (void)args;
    return hf_json(m, "{'ready': %d, 'limit': %lld}", a->ready, (long long)a->limit);
}

static hf_value approve(hf_ctx *w, hf_value in)
{
    approval *a = hf_state(w);
    hf_value who;

    a->limit = hf_int(in, "limit", 100);
    if (!hf_wait(w, "documents.complete", is_ready, .timeout = hf_days(2)))
        hf_fail(w, "documents_missing", "nothing was uploaded within two days");
    who = hf_receive(w, "approved-by", .timeout = hf_hours(8));
    return hf_json(w, "{'by': %s}", who ? hf_str(who, "approver", "?") : "nobody");
}

static hf_value parent(hf_ctx *w, hf_value in)
{
    hf_value a = hf_child(w, "one", hf_json(w, "'left'"));
    hf_value b = hf_child(w, "many", in);

    return hf_json(w, "[%p, %p]", (void *)a, (void *)b);
}

static hf_value fan(hf_ctx *w, hf_value in)
{
    hf_future f[64];
    size_t n = (size_t)hf_int(in, "n", 8);

    for (size_t i = 0; i < n; i++)
        f[i] = hf_spawn_activity(w, "echo", hf_json(w, "%d", (int)i));
    return hf_join_all(w, f, n);
}

static const hf_workflow_def workflows[] = {
    {.type = "one", .run = hf_call_echo},
    {.type = "many", .run = many},
    {.type = "patient", .run = patient},
    {.type = "retrying", .run = retrying},
    {.type = "careful", .run = careful},
    {.type = "careless", .run = careless},
    {"approve", approve, sizeof(approval), .params = "limit:int=100",
     .signals = (const hf_signal_def[]){{"approved-by", "approver:string, note:string?"}, {0}},
     .updates = (const hf_update_def[]){{"documents", "ready:bool=true", set_ready, NULL}, {0}},
     .queries = (const hf_query_def[]){{"status", "", status}, {0}}},
    {.type = "parent", .run = parent},
    {.type = "fan", .run = fan},
    {.type = "countdown", .run = hf_count_down},
    {0}};
static const hf_activity_def activities[] = {{.name = "echo", .run = hf_echo},
                                             {.name = "flaky", .run = flaky},
                                             {.name = "refuse", .run = refuse},
                                             {0}};
static const hf_app app = {.name = "test", .workflows = workflows, .activities = activities};

static void ok(hf_engine *d, hf_status st)
{
    ck_assert_msg(st == HF_OK, "%s: %s", hf_strstatus(st), hf_errmsg(d));
}

static const char *result(hf_engine *d, const char *id)
{
    hf_value out = NULL;
    const hf_error *e = NULL;

    ok(d, hf_result(d, id, 0, &out, &e));
    return hf_show(d, out);
}

/* How many coroutines are kept, and that what they are said to hold is what they hold. */
static size_t kept(const hf_engine *d)
{
    const hf_core *core = d->core;
    size_t count = 0;
    size_t bytes = 0;

    for (const hf_list *at = core->lru.next; at != &core->lru; at = at->next) {
        const live_run *run = HF_LIST_ENTRY(at, live_run, place);

        ck_assert_ptr_nonnull(run->replay);
        bytes += hf_replay_held(run->replay);
        count++;
    }
    ck_assert_uint_eq(core->held, bytes);
    return count;
}

/* Runs that wait keep their coroutines as far as the cache has room, the youngest of them, and no
   others: those are rows, and wake up none the worse. */
HF_BOTH_ENGINES(parked_coroutines_are_bounded)
{
    enum { ROOM = 8, MANY = 5 * ROOM };
    hf_engine *d = hf_kit_open(kind, &app);
    char id[16];

    ck_assert_uint_gt(d->core->o.cache_bytes, 0);
    ck_assert_uint_le(d->core->o.cache_bytes, (size_t)64 << 20); /* by default */
    ok(d, hf_start(d, "patient", NULL, .id = "p-0"));
    ok(d, hf_test_drain(d));
    ck_assert_uint_eq(kept(d), 1);
    d->core->o.cache_bytes = ROOM * d->core->held;
    for (int i = 1; i < MANY; i++) {
        (void)snprintf(id, sizeof(id), "p-%d", i);
        ok(d, hf_start(d, "patient", NULL, .id = id));
        ok(d, hf_test_drain(d));
        ck_assert_uint_le(d->core->held, d->core->o.cache_bytes);
    }
    ck_assert_uint_ge(kept(d), ROOM / 2);
    ck_assert_uint_le(kept(d), 2 * ROOM);
    ck_assert_uint_le(hf_map_int_count(d->core->runs), 2 * ROOM);
    ok(d, hf_test_advance(d, hf_days(2)));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run WHERE closed_us IS NULL"), 0);
    ck_assert_str_eq(result(d, "p-0"), "\"rested\"");
    hf_kit_close(d);
}

/* An activity's result is the workflow's result, recorded in the contract's order. */
START_TEST(b098_activity_success_path)
{
    hf_engine *d = hf_test_open(&app);

    ok(d, hf_start(d, "one", hf_json(d, "{'a': 1}"), .id = "o-1"));
    ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "o-1"), "completed");
    ck_assert_str_eq(result(d, "o-1"), "{\"a\":1}");
    ck_assert_int_eq(hf_test_count(d, "o-1", "ActivityScheduled"), 1);
    ck_assert_int_eq(hf_test_count(d, "o-1", "ActivityStarted"), 1);
    ck_assert_int_eq(hf_test_count(d, "o-1", "ActivityCompleted"), 1);
    hf_close(d);
}
END_TEST

/* Retries follow the policy on the virtual clock and keep the idempotency key. */
START_TEST(b099_retry_schedules_the_next_attempt)
{
    hf_engine *d = hf_test_open(&app);

    ok(d, hf_start(d, "retrying", NULL, .id = "r-1"));
    ok(d, hf_test_advance(d, 0));
    ck_assert_int_eq(hf_test_count(d, "r-1", "ActivityRetryScheduled"), 1);
    ok(d, hf_test_advance(d, hf_seconds(1)));
    ck_assert_int_eq(hf_test_count(d, "r-1", "ActivityRetryScheduled"), 2);
    ok(d, hf_test_advance(d, hf_seconds(2)));
    ck_assert_str_eq(hf_test_status(d, "r-1"), "completed");
    ck_assert_ptr_nonnull(strstr(result(d, "r-1"), "\"attempt\":3"));
    hf_close(d);
}
END_TEST

/* A failure that says so is not retried; code may handle it or fail with it. */
START_TEST(b101_non_retryable_stops_at_once)
{
    hf_engine *d = hf_test_open(&app);
    hf_value out;
    const hf_error *e = NULL;

    ok(d, hf_start(d, "careful", hf_json(d, "{'limit': 5}"), .id = "c-1"));
    ok(d, hf_start(d, "careless", hf_json(d, "{'limit': 5}"), .id = "c-2"));
    ok(d, hf_test_drain(d));
    ck_assert_str_eq(result(d, "c-1"), "{\"type\":\"card_declined\"}");
    ck_assert_int_eq(hf_test_count(d, "c-1", "FailureHandled"), 1);
    ck_assert_int_eq(hf_result(d, "c-2", 0, &out, &e), HF_ERROR);
    ck_assert_str_eq(e->type, "card_declined");
    ck_assert_str_eq(e->message, "limit is 5");
    hf_close(d);
}
END_TEST

/* A timer never fires early, and a crash while it is pending does not matter. */
START_TEST(b124_timer_survives_a_crash)
{
    hf_engine *d = hf_test_open(&app);

    ok(d, hf_start(d, "patient", NULL, .id = "p-1"));
    ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "p-1"), "waiting timer");
    ok(d, hf_test_advance(d, hf_days(2) - 1));
    ck_assert_int_eq(hf_test_count(d, "p-1", "TimerFired"), 0);
    hf_test_crash(d);
    ok(d, hf_test_advance(d, 1));
    ck_assert_str_eq(hf_test_status(d, "p-1"), "completed");
    hf_close(d);
}
END_TEST

/* Updates, queries, condition and signal waits work together, across crashes. */
START_TEST(b048_updates_queries_and_waits_together)
{
    hf_engine *d = hf_test_open(&app);
    hf_value out = NULL;

    ok(d, hf_start(d, "approve", NULL, .id = "a-1"));
    ok(d, hf_test_drain(d));
    ok(d, hf_query(d, "a-1", "status", NULL, &out));
    ck_assert_str_eq(hf_show(d, out), "{\"ready\":0,\"limit\":100}");
    hf_test_crash(d);
    ok(d, hf_update(d, "a-1", "documents", NULL, hf_seconds(1), &out));
    ck_assert_str_eq(hf_show(d, out), "{\"ready\":1}");
    ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "a-1"), "waiting signal:approved-by");
    ck_assert_int_eq(hf_test_count(d, "a-1", "TimerCancelled"), 1);
    hf_test_crash(d);
    ok(d, hf_signal(d, "a-1", "approved-by", hf_json(d, "{'approver': 'Ada'}")));
    ok(d, hf_test_drain(d));
    ck_assert_str_eq(result(d, "a-1"), "{\"by\":\"Ada\"}");
    hf_close(d);
}
END_TEST

/* An update that comes before the first turn is applied at the first step, and takes no step of its
 * own. */
HF_EVERY_WAY(b063_update_before_the_first_turn)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;

    ok(d, hf_start(d, "approve", NULL, .id = "a-1"));
    ok(d, hf_update(d, "a-1", "documents", NULL, hf_seconds(1), &out));
    ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "a-1"), "waiting signal:approved-by");
    hf_kit_close(d);
}

/* The timeout of a condition fails this workflow with its own words. */
HF_EVERY_WAY(b052_condition_timeout_is_false)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out;
    const hf_error *e = NULL;

    ok(d, hf_start(d, "approve", NULL, .id = "a-1"));
    ok(d, hf_test_advance(d, hf_days(3)));
    ck_assert_int_eq(hf_result(d, "a-1", 0, &out, &e), HF_ERROR);
    ck_assert_str_eq(e->type, "documents_missing");
    ck_assert_int_eq(hf_test_count(d, "a-1", "ConditionWaitTimedOut"), 1);
    hf_kit_close(d);
}

/* What a contract forbids is refused, and nothing is recorded. */
START_TEST(contracts_are_enforced)
{
    hf_engine *d = hf_test_open(&app);

    ck_assert_int_eq(hf_start(d, "approve", hf_json(d, "{'limit': 'much'}"), .id = "a-1"),
                     HF_INVALID);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "limit"));
    ck_assert_str_eq(hf_test_status(d, "a-1"), "not found");
    ok(d, hf_start(d, "approve", NULL, .id = "a-1"));
    ck_assert_int_eq(hf_start(d, "approve", NULL, .id = "a-1"), HF_EXISTS);
    ck_assert_int_eq(hf_signal(d, "a-1", "gift-note", NULL), HF_REJECTED);
    ck_assert_int_eq(hf_signal(d, "a-1", "approved-by", hf_json(d, "{'note': 'x'}")), HF_REJECTED);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "approver"));
    ck_assert_int_eq(hf_signal(d, "nobody", "approved-by", NULL), HF_NOTFOUND);
    ck_assert_int_eq(hf_start(d, "approve", NULL, .id = "bad id"), HF_INVALID);
    ck_assert_int_eq(hf_start(d, "approve", NULL, .id = "a-2", .run_timeout = 5), HF_INVALID);
    ck_assert_int_eq(hf_test_count(d, "a-1", "SignalReceived"), 0);
    hf_close(d);
}
END_TEST

/* Children run to their end and the parent records it, also when everything crashes in between. */
START_TEST(b151_child_result_reaches_parent)
{
    hf_engine *d = hf_test_open(&app);

    ok(d, hf_start(d, "parent", hf_json(d, "{'steps': 4}"), .id = "p-1"));
    ok(d, hf_test_drain(d));
    ck_assert_str_eq(result(d, "p-1"), "[\"left\",6]");
    ck_assert_int_eq(hf_test_count(d, "p-1", "ChildRunCompleted"), 2);
    hf_close(d);
}
END_TEST

/* A fan-out known only at run time joins in input order. */
START_TEST(fan_out_joins_in_order)
{
    hf_engine *d = hf_test_open(&app);

    ok(d, hf_start(d, "fan", hf_json(d, "{'n': 5}"), .id = "f-1"));
    ok(d, hf_test_drain(d));
    ck_assert_str_eq(result(d, "f-1"), "[0,1,2,3,4]");
    hf_close(d);
}
END_TEST

/* Continue-as-new keeps the instance and numbers its runs. */
START_TEST(b174_continue_as_new_lineage)
{
    hf_engine *d = hf_test_open(&app);

    ok(d, hf_start(d, "countdown", hf_json(d, "{'n': 3}"), .id = "c-1"));
    ok(d, hf_test_drain(d));
    ck_assert_str_eq(result(d, "c-1"), "\"liftoff\"");
    hf_close(d);
}
END_TEST

/* Cancel closes the run, its timer and its activity on the record; a second cancel is refused. */
START_TEST(b125_cancel_closes_what_is_open)
{
    hf_engine *d = hf_test_open(&app);
    hf_value out;
    const hf_error *e = NULL;

    ok(d, hf_start(d, "patient", NULL, .id = "p-1"));
    ok(d, hf_test_drain(d));
    ok(d, hf_cancel(d, "p-1", "no longer wanted"));
    ok(d, hf_test_advance(d, hf_days(3)));
    ck_assert_str_eq(hf_test_status(d, "p-1"), "cancelled");
    ck_assert_int_eq(hf_test_count(d, "p-1", "TimerCancelled"), 1);
    ck_assert_int_eq(hf_test_count(d, "p-1", "TimerFired"), 0);
    ck_assert_int_eq(hf_cancel(d, "p-1", NULL), HF_REJECTED);
    ck_assert_int_eq(hf_result(d, "p-1", 0, &out, &e), HF_CANCELLED);
    hf_close(d);
}
END_TEST

/* Injected failures and a crash after every drain give the same result. */
START_TEST(injected_failures_are_retried)
{
    hf_engine *d = hf_test_open(&app);

    hf_test_fail(d, "flaky", 2, "gateway_timeout");
    ok(d, hf_start(d, "retrying", NULL, .id = "r-1"));
    for (int i = 0; i < 6; i++) {
        ok(d, hf_test_advance(d, hf_seconds(5)));
        hf_test_crash(d);
    }
    ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "r-1"), "completed");
    hf_close(d);
}
END_TEST

/* What a call reads on its way does not pile up in a program that lives for months. */
START_TEST(calls_leave_no_memory_behind)
{
    hf_engine *d = hf_test_open(&app);
    engine_slot *slot = hf_engine_slot_get(d);
    hf_value out = NULL;
    const hf_error *e = NULL;
    size_t held;

    ok(d, hf_start(d, "patient", NULL, .id = "p-1"));
    ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_result(d, "p-1", 0, &out, &e), HF_TIMEOUT);
    held = hf_mem_held(slot->mem) + hf_mem_held(slot->scratch);
    for (int i = 0; i < 5000; i++)
        ck_assert_int_eq(hf_result(d, "p-1", 0, &out, &e), HF_TIMEOUT);
    ck_assert_uint_eq(hf_mem_held(slot->mem) + hf_mem_held(slot->scratch), held);
    hf_close(d);
}
END_TEST

/* With threads, on a file and on a server: many runs at once, then a second engine on the same
 * store. */
HF_BOTH_ENGINES(threads_run_workflows)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = NULL;
    hf_value out = NULL;
    const hf_error *e = NULL;
    char id[32];

    ok(d, hf_open(hf_test_place_address(place), &app, &d));
    for (int i = 0; i < 40; i++) {
        (void)snprintf(id, sizeof(id), "m-%d", i);
        ok(d, hf_start(d, "many", hf_json(d, "{'steps': 10}"), .id = id));
    }
    ok(d, hf_start(d, "approve", NULL, .id = "a-1"));
    ok(d, hf_update(d, "a-1", "documents", NULL, hf_seconds(20), &out));
    ok(d, hf_signal(d, "a-1", "approved-by", hf_json(d, "{'approver': 'Ada'}")));
    for (int i = 0; i < 40; i++) {
        (void)snprintf(id, sizeof(id), "m-%d", i);
        ok(d, hf_result(d, id, hf_seconds(30), &out, &e));
        ck_assert_int_eq(hf_int(out, "", 0), 45);
    }
    ok(d, hf_result(d, "a-1", hf_seconds(30), &out, &e));
    ck_assert_str_eq(hf_str(out, "by", "?"), "Ada");
    ok(d, hf_start(d, "patient", NULL, .id = "p-1"));
    hf_close(d);
    d = NULL;
    ok(d, hf_open(hf_test_place_address(place), &app, &d)); /* what was left is found again */
    ok(d, hf_cancel(d, "p-1", "done"));
    ck_assert_int_eq(hf_result(d, "p-1", hf_seconds(10), &out, &e), HF_CANCELLED);
    hf_close(d);
    hf_test_place_free(place);
}

/* Whoever asks while a run continues as new sees the old one or the new one, never an instance
   whose newest run has ended. */
HF_BOTH_ENGINES(asking_while_a_run_continues)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = NULL;
    hf_value out = NULL;
    const hf_error *e = NULL;
    hf_status st = HF_TIMEOUT;

    ok(d, hf_open(hf_test_place_address(place), &app, &d));
    ok(d, hf_start(d, "countdown", hf_json(d, "{'n': 60}"), .id = "c-1"));
    while (st == HF_TIMEOUT)
        st = hf_result(d, "c-1", 0, &out, &e);
    ok(d, st);
    ck_assert_str_eq(hf_str(out, "", "?"), "liftoff");
    hf_close(d);
    hf_test_place_free(place);
}

HF_PG_SUITE_MAIN("engine/engine", {b098_activity_success_path, 0},
                 {b099_retry_schedules_the_next_attempt, 0}, {b101_non_retryable_stops_at_once, 0},
                 {b124_timer_survives_a_crash, 0}, {b048_updates_queries_and_waits_together, 0},
                 HF_WAYS(b063_update_before_the_first_turn),
                 HF_WAYS_SLOW(b052_condition_timeout_is_false, 60), {contracts_are_enforced, 0},
                 {b151_child_result_reaches_parent, 0}, {fan_out_joins_in_order, 0},
                 {b174_continue_as_new_lineage, 0}, {b125_cancel_closes_what_is_open, 0},
                 {injected_failures_are_retried, 0}, {calls_leave_no_memory_behind, 0},
                 HF_BOTH(parked_coroutines_are_bounded), HF_BOTH(threads_run_workflows),
                 HF_BOTH_SLOW(asking_while_a_run_continues, 60))
