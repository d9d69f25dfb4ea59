/* Starts that take the first turn of their run along: what is in the store afterwards is the same,
   in one commit less, and whatever does not fit is started the plain way. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/fault.h"
#include "engine/engine_impl.h"
#include "lib/check_store.h"
#include "lib/handlers.h"
#include "lib/kit.h"
#include "lib/nap.h"

enum { NODES = 2, RUNS = 20 };

static _Atomic bool released; /* lets looping workflows go */
static _Atomic int looping;

static hf_value parent(hf_ctx *w, hf_value in)
{
    return hf_child(w, "calls", in);
}

static hf_value again(hf_ctx *w, hf_value in)
{
    int64_t left = hf_int(in, "left", 0);

    if (left > 0)
        hf_continue_as_new(w, hf_json(w, "{'left': %lld}", (long long)left - 1));
    return in;
}

static hf_value loops(hf_ctx *w, hf_value in)
{
    (void)atomic_fetch_add(&looping, 1);
    while (!atomic_load(&released))
        ;
    return hf_activity(w, "echo", in);
}

static const hf_signal_def signals[] = {{.name = "go"}, {0}};
static const hf_workflow_def workflows[] = {
    {.type = "calls", .run = hf_call_echo},
    {.type = "at_once", .run = hf_end_now},
    {.type = "parent", .run = parent},
    {.type = "again", .run = again},
    {.type = "waits", .run = hf_wait_go, .signals = signals},
    {.type = "loops", .run = loops},
    {0}};
static const hf_activity_def activities[] = {{.name = "echo", .run = hf_echo}, {0}};
static const hf_app app = {.name = "test",
                           .build_id = "one",
                           .supports = "two",
                           .workflows = workflows,
                           .activities = activities};

static hf_engine *kit_open(hf_engine_kind kind)
{
    hf_engine *d = hf_kit_open(kind, &app);

    d->births = true;
    return d;
}

static int64_t units(hf_engine *d)
{
    return (int64_t)hf_writer_stats_get(d->writer).units;
}

/* The attempt is on the record with the start, no task is needed, and the second commit is the end.
 */
HF_BOTH_ENGINES(a_workflow_of_one_activity_takes_two_commits)
{
    hf_engine *d = kit_open(kind);
    const char *plain;
    int64_t before;

    d->births = false;
    hf_kit_ok(d, hf_start(d, "calls", hf_json(d, "[1]"), .id = "plain"));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), 1);
    hf_kit_ok(d, hf_test_drain(d));
    plain = hf_kit_history(d, "plain");
    d->births = true;
    before = units(d);
    hf_kit_ok(d, hf_start(d, "calls", hf_json(d, "[1]"), .id = "a"));
    ck_assert_int_eq(units(d), before + 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), 0);
    ck_assert_int_eq(hf_kit_number(d, "SELECT attempt FROM activity"), 1);
    ck_assert_str_eq(hf_test_status(d, "a"), "waiting activity:echo");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM history h JOIN run r ON r.key = h.run"
                                      " JOIN instance i ON i.key = r.instance WHERE i.id = 'a'"),
                     1);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "a"), "[1]");
    ck_assert_str_eq(hf_kit_history(d, "a"), plain);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM history h JOIN run r ON r.key = h.run"
                                      " JOIN instance i ON i.key = r.instance WHERE i.id = 'a'"),
                     2);
    hf_kit_close(d);
}

/* The process dies between the commit and the attempt: the next one begins by itself. */
HF_BOTH_ENGINES(a_crash_after_the_commit_loses_nothing)
{
    hf_engine *d = kit_open(kind);

    hf_kit_crash_after(d, 1);
    hf_kit_ok(d, hf_start(d, "calls", hf_json(d, "[1]"), .id = "a"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "a"), "[1]");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityStarted"), 2);
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityScheduled"), 1);
    hf_kit_close(d);
}

/* Code that is through with its first turn leaves a closed run behind, with all that goes with it.
 */
HF_BOTH_ENGINES(a_run_may_end_with_its_start)
{
    hf_engine *d = kit_open(kind);
    int64_t before;

    hf_kit_ok(d, hf_start(d, "at_once", hf_json(d, "{'n': 0}"), .id = "first"));
    before = units(d);
    hf_kit_ok(d, hf_start(d, "at_once", hf_json(d, "{'n': 1}"), .id = "a"));
    ck_assert_int_eq(units(d), before + 1);
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    ck_assert_str_eq(hf_kit_result(d, "a"), "{\"n\":1}");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run WHERE closed_us IS NULL"), 0);
    hf_kit_close(d);
}

/* Children and a next run need rows of other runs: the start goes alone then, every time. */
HF_BOTH_ENGINES(what_does_not_fit_is_started_alone)
{
    hf_engine *d = kit_open(kind);

    for (int i = 0; i < 2; i++) {
        char id[16];

        (void)snprintf(id, sizeof(id), "p%d", i);
        hf_kit_ok(d, hf_start(d, "parent", hf_json(d, "[1]"), .id = id));
        ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), 1);
        hf_kit_ok(d, hf_test_drain(d));
        ck_assert_str_eq(hf_kit_result(d, id), "[1]");
    }
    hf_kit_ok(d, hf_start(d, "again", hf_json(d, "{'left': 2}"), .id = "c"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "c"), "{\"left\":0}");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run"), 2 * 2 + 3);
    hf_kit_close(d);
}

/* An id that is taken, a request that is repeated, a correlation key: as without the turn. */
HF_BOTH_ENGINES(taken_names_are_answered_as_ever)
{
    hf_engine *d = kit_open(kind);
    hf_status st;

    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "a", .request_id = "r1"));
    st = hf_start(d, "waits", NULL, .id = "a");
    ck_assert_int_eq(st, HF_EXISTS);
    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "a", .request_id = "r1"));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run"), 1);
    hf_kit_ok(d, hf_signal(d, "a", "go", hf_json(d, "[7]")));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "a"), "7");
    hf_kit_close(d);
}

/* What must not begin yet, or in an order of its own, keeps its task. A big input and a deadline
   are no hindrance. */
HF_BOTH_ENGINES(only_what_may_begin_at_once_does)
{
    hf_engine *d = kit_open(kind);
    static char big[5000];

    memset(big, 'x', sizeof(big) - 1);
    hf_kit_ok(d, hf_start(d, "calls", hf_json(d, "[1]"), .id = "later", .delay = hf_seconds(60)));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), 1);
    hf_kit_ok(d, hf_start(d, "calls", hf_json(d, "[1]"), .id = "sorted", .priority = 5));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), 2);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "later"), "pending");
    hf_kit_ok(d, hf_start(d, "calls", hf_json(d, "%s", big), .id = "big"));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM payload"), 1); /* of both events */
    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "w", .run_timeout = hf_seconds(5)));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_uint_eq(strlen(hf_kit_result(d, "big")), sizeof(big) - 1 + 2);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(5)));
    ck_assert_str_eq(hf_test_status(d, "w"), "failed");
    hf_kit_close(d);
}

static hf_status births_lived(hf_engine *d, void *arg)
{
    static const char *const types[] = {"calls", "at_once", "parent", "again", "waits"};
    hf_status st = HF_OK;
    char id[16];

    (void)arg;
    d->births = true;
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        (void)snprintf(id, sizeof(id), "%s-1", types[i]);
        (void)hf_start(d, types[i], hf_json(d, "{'left': 1}"), .id = id);
        st = hf_test_drain(d);
    }
    (void)hf_signal(d, "waits-1", "go", hf_json(d, "[1]"));
    return st ? st : hf_test_drain(d);
}

/* Whatever commit is the last before a crash, the runs end alike. */
START_TEST(a_crash_anywhere_changes_nothing)
{
    char why[512];

    ck_assert_msg(hf_test_crash_everywhere(&app, births_lived, NULL, why, sizeof(why)) == HF_OK,
                  "%s", why);
}
END_TEST

/* Memory that runs out anywhere on the way refuses the start or lets it pass, whole. */
HF_BOTH_ENGINES(memory_that_runs_out_leaves_no_half)
{
    hf_engine *d = kit_open(kind);
    int64_t seen = 0;

    for (int64_t nth = 1; seen >= nth - 1; nth++) {
        hf_value in;
        char id[32];
        hf_status st;

        (void)snprintf(id, sizeof(id), "a-%lld", (long long)nth);
        in = hf_json(d, "[1]");
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_start(d, "calls", in, .id = id);
        seen = hf_fault_seen(HF_FAULT_ALLOC);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        if (hf_core_failure(d->core, NULL))
            hf_test_crash(d);
        hf_kit_ok(d, hf_test_drain(d));
        if (st) /* the answer may be what was lost */
            st = hf_start(d, "calls", in, .id = id);
        ck_assert_msg(st == HF_OK || st == HF_EXISTS, "%s", hf_errmsg(d));
        hf_kit_ok(d, hf_test_drain(d));
        ck_assert_str_eq(hf_kit_result(d, id), "[1]");
        ck_assert_int_eq(hf_test_count(d, id, "StartAccepted"), 1);
    }
    hf_kit_close(d);
}

static hf_engine *open_at(hf_test_place *place)
{
    hf_engine *d = NULL;

    hf_kit_ok(d, hf_open(hf_test_place_address(place), &app, &d));
    d->births = true;
    return d;
}

/* Code that does not come back keeps its start waiting no longer than it keeps the core: the run is
   made without its turn, and goes on when the code does. */
HF_BOTH_ENGINES(code_that_loops_does_not_hold_its_start)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = open_at(place);
    hf_value out = NULL;

    atomic_store(&released, false);
    hf_kit_ok(d, hf_start(d, "loops", hf_json(d, "[1]"), .id = "a"));
    hf_kit_ok(d, hf_start(d, "calls", hf_json(d, "[2]"), .id = "b"));
    hf_kit_ok(d, hf_result(d, "b", hf_seconds(60), &out, NULL));
    ck_assert_int_ge(atomic_load(&looping), 1);
    atomic_store(&released, true);
    hf_kit_ok(d, hf_result(d, "a", hf_seconds(60), &out, NULL));
    for (int i = 0; i < 6000 && hf_core_lost(d->core, NULL); i++)
        hf_nap_ms(10);
    hf_close(d);
    hf_nap_ms(50); /* the last words of the thread that was left */
    hf_test_place_free(place);
}

/* Each node takes the first turns of its own shards along, and leaves the others' to them. */
START_TEST(nodes_leave_turns_to_their_owners)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_engine *nodes[NODES];
    char id[32];

    for (int i = 0; i < NODES; i++)
        nodes[i] = open_at(place);
    for (int i = 0; i < RUNS * NODES; i++) {
        (void)snprintf(id, sizeof(id), "n-%d", i);
        hf_kit_ok(nodes[i % NODES], hf_start(nodes[i % NODES], "calls", NULL, .id = id));
    }
    for (int i = 0; i < RUNS * NODES; i++) {
        (void)snprintf(id, sizeof(id), "n-%d", i);
        hf_kit_ok(nodes[(i + 1) % NODES],
                  hf_result(nodes[(i + 1) % NODES], id, hf_seconds(60), NULL, NULL));
    }
    for (int i = 0; i < NODES; i++)
        hf_close(nodes[i]);
    hf_test_place_free(place);
}
END_TEST

/* Starts that come while the core's thread has left are made without it. */
START_TEST(nobody_waits_for_a_core_that_has_left)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_engine *d = open_at(place);

    hf_kit_ok(d, hf_start(d, "calls", hf_json(d, "[1]"), .id = "a"));
    hf_kit_ok(d, hf_result(d, "a", hf_seconds(60), NULL, NULL));
    hf_shutdown(d);
    for (int i = 0; i < 20; i++)
        hf_kit_ok(d, hf_start(d, "calls", hf_json(d, "[1]")));
    hf_close(d);
    d = open_at(place);
    hf_kit_ok(d, hf_start(d, "calls", hf_json(d, "[1]"), .id = "b"));
    hf_kit_ok(d, hf_result(d, "b", hf_seconds(60), NULL, NULL));
    hf_close(d);
    hf_test_place_free(place);
}
END_TEST

HF_PG_SUITE_MAIN("engine/birth", HF_BOTH(a_workflow_of_one_activity_takes_two_commits),
                 HF_BOTH(a_crash_after_the_commit_loses_nothing),
                 HF_BOTH(a_run_may_end_with_its_start), HF_BOTH(what_does_not_fit_is_started_alone),
                 HF_BOTH(taken_names_are_answered_as_ever),
                 HF_BOTH(only_what_may_begin_at_once_does), {a_crash_anywhere_changes_nothing, 60},
                 HF_BOTH_SLOW(memory_that_runs_out_leaves_no_half, 120),
                 HF_BOTH_SLOW(code_that_loops_does_not_hold_its_start, 120),
                 {nodes_leave_turns_to_their_owners, 120},
                 {nobody_waits_for_a_core_that_has_left, 120})
