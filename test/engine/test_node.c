/* Several engines on one PostgreSQL store: each works on its shards, any of them takes commands for
   all, what one leaves another takes up. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/value.h"
#include "engine/engine_impl.h"
#include "holdfast/host.h"
#include "holdfast/worker.h"
#include "lib/check_store.h"
#include "lib/handlers.h"
#include "lib/hold.h"
#include "lib/kit.h"
#include "lib/nap.h"

enum { RUNS = 60, NODES_MAX = 3, PATIENCE_S = 60 };

static hf_value waits(hf_ctx *w, hf_value in)
{
    hf_value got = hf_receive(w, "go");

    (void)in;
    return hf_activity(w, "echo", got);
}

static hf_value adds(hf_ctx *w, void *state, hf_value args)
{
    int64_t *sum = state;

    *sum += hf_int(hf_at(args, 0), "", 0);
    return hf_json(w, "%lld", (long long)*sum);
}

static bool is_full(const void *state)
{
    return *(const int64_t *)state >= 3;
}

static hf_value counts(hf_ctx *w, hf_value in)
{
    (void)in;
    (void)hf_wait(w, "full", is_full);
    return hf_json(w, "%lld", (long long)*(int64_t *)hf_state(w));
}

static hf_value naps(hf_ctx *w, hf_value in)
{
    hf_sleep(w, hf_int(in, "ms", 0));
    return hf_activity(w, "echo", in);
}

/* Children are in other shards than their parent, most of them. */
static hf_value family(hf_ctx *w, hf_value in)
{
    hf_future f[4];

    for (int i = 0; i < 4; i++)
        f[i] = hf_spawn_child(w, "naps", in);
    return hf_join_all(w, f, 4);
}

/* Goes on as a new run after each signal, until it has had them all. */
static hf_value relay(hf_ctx *w, hf_value in)
{
    int64_t left = hf_int(in, "left", 0);

    (void)hf_receive(w, "go");
    if (left > 1)
        hf_continue_as_new(w, hf_json(w, "{'left': %lld}", (long long)left - 1));
    return hf_json(w, "'all'");
}

static hf_value sender(hf_ctx *w, hf_value in)
{
    const char *call = NULL;
    hf_future child = hf_spawn_child(w, "relay", in);

    hf_sleep(w, 1);
    (void)hf_children(w, &call, 1);
    for (int64_t i = 0; i < hf_int(in, "left", 0); i++) {
        hf_signal_child(w, call, "go", hf_json(w, "[%lld]", (long long)i));
        hf_sleep(w, i % 3);
    }
    return hf_join(w, child);
}

static const hf_workflow_def workflows[] = {
    {.type = "relay", .run = relay, .signals = (const hf_signal_def[]){{"go", "what:any"}, {0}}},
    {.type = "sender", .run = sender},
    {.type = "waits", .run = waits, .signals = (const hf_signal_def[]){{"go", "what:any"}, {0}}},
    {.type = "counts",
     .run = counts,
     .state_size = sizeof(int64_t),
     .updates = (const hf_update_def[]){{"add", "by:int", adds, NULL}, {0}}},
    {.type = "naps", .run = naps},
    {.type = "family", .run = family},
    {0}};
static const hf_activity_def activities[] = {{.name = "echo", .run = hf_echo}, {0}};
static const hf_app app = {.name = "test", .workflows = workflows, .activities = activities};

static hf_engine *node_open(hf_test_place *place)
{
    hf_engine *d = NULL;

    hf_kit_ok(d, hf_open(hf_test_place_address(place), &app, &d));
    hf_kit_ok(d, hf_start(d, "naps", NULL)); /* work begins with the first call */
    return d;
}

static int64_t shards_of(hf_engine *d)
{
    return hf_shards_count(hf_node_shards(d->node));
}

/* Until each node has its share, at most a minute. */
static void balance(hf_engine *const *nodes, int count)
{
    bool fair = false;

    for (int i = 0; i < 6000 && !fair; i++) {
        int64_t sum = 0;

        fair = true;
        for (int k = 0; k < count; k++) {
            sum += shards_of(nodes[k]);
            fair &= shards_of(nodes[k]) <= (HF_SHARDS + count - 1) / count;
        }
        fair &= sum == HF_SHARDS;
        if (!fair)
            hf_nap_ms(10);
    }
    ck_assert(fair);
}

static void completes(hf_engine *d, const char *id)
{
    hf_value out = NULL;
    const hf_error *e = NULL;

    hf_kit_ok(d, hf_result(d, id, hf_seconds(PATIENCE_S), &out, &e));
    hf_mem_reset(hf_mem_of_engine(d));
}

static const char *id_of(const char *what, int i)
{
    static char id[64];

    (void)snprintf(id, sizeof(id), "%s-%d", what, i);
    return id;
}

/* Commands and waiting callers do not care which node owns a run. */
START_TEST(any_node_takes_commands)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_engine *nodes[2];
    hf_value out = NULL;

    for (int i = 0; i < 2; i++)
        nodes[i] = node_open(place);
    balance(nodes, 2);
    for (int i = 0; i < RUNS; i++) {
        hf_kit_ok(nodes[i % 2], hf_start(nodes[i % 2], "waits", NULL, .id = id_of("w", i)));
        hf_kit_ok(nodes[i % 2], hf_start(nodes[i % 2], "counts", NULL, .id = id_of("c", i)));
        hf_kit_ok(nodes[i % 2], hf_start(nodes[i % 2], "family", hf_json(nodes[i % 2], "{'ms': 5}"),
                                         .id = id_of("f", i)));
    }
    for (int i = 0; i < RUNS; i++) {
        hf_engine *d = nodes[(i / 2) % 2];

        hf_kit_ok(d, hf_signal(d, id_of("w", i), "go", hf_json(d, "[%d]", i)));
        for (int k = 1; k <= 3; k++) {
            hf_kit_ok(d,
                      hf_update(d, id_of("c", i), "add", hf_json(d, "[1]"), hf_seconds(60), &out));
            ck_assert_int_eq(hf_int(out, "", 0), k);
        }
    }
    for (int i = 0; i < RUNS; i++) {
        completes(nodes[(i / 3) % 2], id_of("w", i));
        completes(nodes[(i / 3) % 2], id_of("c", i));
        completes(nodes[(i / 3) % 2], id_of("f", i));
    }
    hf_close(nodes[0]);
    hf_close(nodes[1]);
    hf_test_place_free(place);
}
END_TEST

/* Signals to a child that goes on as a new run all the time, on another node: none is lost. */
START_TEST(signals_follow_a_run_that_goes_on)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_engine *nodes[2];

    for (int i = 0; i < 2; i++)
        nodes[i] = node_open(place);
    balance(nodes, 2);
    for (int i = 0; i < 12; i++)
        hf_kit_ok(nodes[0], hf_start(nodes[0], "sender", hf_json(nodes[0], "{'left': 10}"),
                                     .id = id_of("s", i)));
    for (int i = 0; i < 12; i++)
        completes(nodes[1], id_of("s", i));
    hf_close(nodes[0]);
    hf_close(nodes[1]);
    hf_test_place_free(place);
}
END_TEST

/* A node that leaves in good order hands its shards over at once; one that joins gets a share; what
   is parked is woken wherever it is. */
START_TEST(nodes_come_and_go)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_engine *nodes[NODES_MAX];
    int64_t began_us;

    nodes[0] = node_open(place);
    for (int i = 0; i < RUNS; i++) {
        hf_kit_ok(nodes[0], hf_start(nodes[0], "waits", NULL, .id = id_of("w", i)));
        hf_kit_ok(nodes[0], hf_start(nodes[0], "naps", hf_json(nodes[0], "{'ms': %d}", i * 50),
                                     .id = id_of("n", i)));
    }
    for (int i = 1; i < NODES_MAX; i++) {
        nodes[i] = node_open(place);
        balance(nodes, i + 1);
    }
    hf_close(nodes[0]);
    began_us = hf_clock_mono_us(hf_clock_system());
    balance(nodes + 1, 2);
    printf("handed over in %lld ms\n",
           (long long)(hf_clock_mono_us(hf_clock_system()) - began_us) / 1000);
    for (int i = 0; i < RUNS; i++)
        hf_kit_ok(nodes[1], hf_signal(nodes[1], id_of("w", i), "go", hf_json(nodes[1], "[%d]", i)));
    hf_close(nodes[1]);
    for (int i = 0; i < RUNS; i++) {
        completes(nodes[2], id_of("w", i));
        completes(nodes[2], id_of("n", i));
    }
    hf_close(nodes[2]);
    hf_test_place_free(place);
}
END_TEST

/* What a node has lost of its runs' rows comes back at the one that has its shards next. */
START_TEST(lost_rows_come_back_with_gained_shards)
{
    enum { LOST = 8, NAP_MS = 2000 };
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_engine *nodes[] = {node_open(place), node_open(place)};

    balance(nodes, 2);
    for (int i = 0; i < LOST; i++)
        hf_kit_ok(nodes[0], hf_start(nodes[0], "naps", hf_json(nodes[0], "{'ms': %d}", NAP_MS),
                                     .id = id_of("n", i)));
    for (int i = 0; i < 1000 && hf_kit_number(nodes[0], "SELECT count(*) FROM timer") < LOST; i++)
        hf_nap_ms(2);
    hf_kit_sql(nodes[0], "DELETE FROM timer");
    hf_close(nodes[0]);
    for (int i = 0; i < LOST; i++)
        completes(nodes[1], id_of("n", i));
    hf_close(nodes[1]);
    hf_test_place_free(place);
}
END_TEST

/* ---- waiting at a node that does not own the run */

enum { QUICK_MS = 1500, ROUNDS = 24 }; /* a hint that does not come costs 3 s */

static int64_t now_ms(void)
{
    return hf_clock_mono_us(hf_clock_system()) / 1000;
}

static void quick(int64_t since_ms, const char *what, int i)
{
    int64_t took_ms = now_ms() - since_ms;

    ck_assert_msg(took_ms < QUICK_MS, "%s of %d took %lld ms", what, i, (long long)took_ms);
}

/* A node without types of its own, which has its share of shards like any other. */
static hf_engine *front_open(hf_test_place *place, hf_engine *owner)
{
    static const hf_app front = {.name = "front"};
    hf_engine *d = NULL;
    hf_value out = NULL;

    hf_kit_ok(d, hf_open(hf_test_place_address(place), &front, &d));
    ck_assert_int_eq(hf_result(d, "nothing", 0, &out, NULL), HF_NOTFOUND); /* it begins */
    balance((hf_engine *const[]){owner, d}, 2);
    return d;
}

/* Updates and results are waited for at a node in front of the one that brings the code, and at two
   that share: each as quickly as at the owner. */
static void waits_are_quick(hf_engine *at, hf_engine *other)
{
    hf_value out = NULL;

    for (int i = 0; i < ROUNDS; i++) {
        int64_t began_ms;

        hf_kit_ok(other, hf_start(other, "counts", NULL, .id = id_of("c", i)));
        hf_kit_ok(other,
                  hf_start(other, "naps", hf_json(other, "{'ms': 300}"), .id = id_of("n", i)));
        for (int k = 1; k <= 3; k++) {
            began_ms = now_ms();
            hf_kit_ok(
                at, hf_update(at, id_of("c", i), "add", hf_json(at, "[1]"), hf_seconds(60), &out));
            quick(began_ms, "an update", i);
        }
        began_ms = now_ms();
        completes(at, id_of("c", i));
        quick(began_ms, "the result", i);
        began_ms = now_ms();
        completes(at, id_of("n", i));
        quick(began_ms, "the result after a timer", i);
        hf_kit_ok(other, hf_start(other, "waits", NULL, .id = id_of("t", i)));
        began_ms = now_ms();
        hf_kit_ok(at, hf_terminate(at, id_of("t", i), "enough"));
        ck_assert_int_eq(hf_result(other, id_of("t", i), hf_seconds(60), &out, NULL), HF_CANCELLED);
        quick(began_ms, "the end by another node", i);
    }
}

START_TEST(n23_a_front_end_hears_at_once)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_engine *owner = node_open(place);
    hf_engine *front = front_open(place, owner);

    waits_are_quick(front, owner);
    hf_close(front);
    hf_close(owner);
    hf_test_place_free(place);
}
END_TEST

START_TEST(n23_two_nodes_hear_at_once)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_engine *nodes[2];

    for (int i = 0; i < 2; i++)
        nodes[i] = node_open(place);
    balance(nodes, 2);
    waits_are_quick(nodes[0], nodes[1]);
    hf_close(nodes[0]);
    hf_close(nodes[1]);
    hf_test_place_free(place);
}
END_TEST

static void watch_changed(void *arg)
{
    atomic_fetch_add((_Atomic int *)arg, 1);
}

/* Who follows a run, or all of them, at another node hears of every change, and not only of its
   end. */
START_TEST(n23_a_watch_hears_at_once)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_engine *owner = node_open(place);
    hf_engine *front = front_open(place, owner);

    for (int i = 0; i < ROUNDS / 4; i++) {
        _Atomic int heard = 0;
        const hf_watch_opts options = {
            .size_ = sizeof(options), .id = id_of("c", i), .changed = watch_changed, .arg = &heard};
        hf_watch *watch = NULL;
        hf_value out = NULL;
        int64_t seen = 0;
        int64_t began_ms;
        int before;

        hf_kit_ok(owner, hf_start(owner, "counts", NULL, .id = id_of("c", i)));
        hf_kit_ok(front, hf_watch_begin(front, &options, &watch));
        hf_nap_ms(200);
        before = heard;
        began_ms = now_ms();
        hf_kit_ok(owner, hf_update(owner, id_of("c", i), "add", hf_json(owner, "[1]"),
                                   hf_seconds(60), &out));
        while (heard == before && now_ms() - began_ms < 4 * QUICK_MS)
            hf_nap_ms(1);
        quick(began_ms, "a watch", i);
        hf_watch_end(watch);
        hf_kit_ok(front, hf_changes(front, 0, 0, &seen));
        began_ms = now_ms();
        hf_kit_ok(owner, hf_update(owner, id_of("c", i), "add", hf_json(owner, "[1]"),
                                   hf_seconds(60), &out));
        hf_kit_ok(front, hf_changes(front, seen, hf_seconds(60), &seen));
        quick(began_ms, "a change", i);
    }
    hf_close(front);
    hf_close(owner);
    hf_test_place_free(place);
}
END_TEST

/* ---- workers of other processes, at any node */

enum { LEASE_MS = 1000, TASKS = 4 };

static const hf_app nothing = {.name = "nothing"};

/* A node for workers, without types of its own. */
static hf_engine *desk_at(const char *address)
{
    hf_engine *d = NULL;
    hf_value out = NULL;

    hf_kit_ok(d, hf_open(address, &nothing, &d));
    hf_kit_ok(d, hf_set(d, "node_lease_ms", "1000"));
    hf_kit_ok(d, hf_workers_allow(d));
    ck_assert_int_eq(hf_result(d, "nothing", 0, &out, NULL), HF_NOTFOUND); /* it begins */
    return d;
}

static hf_engine *desk_open(hf_test_place *place)
{
    return desk_at(hf_test_place_address(place));
}

static hf_value task_now(hf_engine *d, hf_task_kind kind)
{
    const hf_poll_opts options = {
        .size_ = sizeof(options), .kind = kind, .queue = "far", .worker = "w1"};
    hf_value task = NULL;

    hf_kit_ok(d, hf_poll_now(d, &options, hf_mem_of_engine(d), &task));
    return task;
}

/* The next task, from whichever node hands it out; and which that was. */
static hf_value task_next(hf_engine *const *nodes, hf_task_kind kind, int *out_at)
{
    int64_t until_ms = now_ms() + PATIENCE_S * 1000;

    while (now_ms() < until_ms)
        for (int i = 0; i < 2; i++) {
            hf_value task = task_now(nodes[i], kind);

            *out_at = i;
            if (task)
                return task;
        }
    ck_abort_msg("no task came");
}

static hf_task_claim claim_of(hf_value task, hf_task_kind kind)
{
    return (hf_task_claim){
        .size_ = sizeof(hf_task_claim),
        .task_id = hf_str(task, "task_id", NULL),
        .worker = "w1",
        .attempt =
            hf_int(task, kind == HF_TASK_WORKFLOW ? "workflow_task_attempt" : "attempt_number", 0)};
}

static void refused(hf_engine *d, hf_status st)
{
    ck_assert_msg(st == HF_REJECTED, "%d: %s", (int)st, hf_errmsg(d));
}

static hf_value schedules(hf_engine *d)
{
    return hf_json_(hf_mem_of_engine(d),
                    "[{'type': 'schedule_activity', 'activity_type': 'charge', 'retry_policy': "
                    "{'max_attempts': 3, 'backoff_seconds': [0]}}]");
}

/* A run of a worker's type: an activity that fails once, and its end. Every report goes to the node
   that did not hand the task out. */
static void run_from_the_other_node(hf_engine *const *nodes, const char *id)
{
    hf_task_claim claim;
    hf_value task;
    hf_value out = NULL;
    int at = 0;
    hf_engine *other;
    hf_mem *mem = hf_mem_new();

    hf_kit_ok(nodes[0], hf_start(nodes[0], "remote", NULL, .id = id, .queue = "far"));
    task = hf_value_copy(mem, task_next(nodes, HF_TASK_WORKFLOW, &at));
    other = nodes[1 - at];
    claim = claim_of(task, HF_TASK_WORKFLOW);
    hf_kit_ok(other, hf_task_extend(other, &claim, mem, &out));
    ck_assert_str_eq(hf_str(out, "workflow_id", ""), id);
    hf_kit_ok(other, hf_task_answer(other, &claim, schedules(other), mem, NULL));
    refused(other, hf_task_answer(other, &claim, hf_json_(mem, "[{'type': 'complete_workflow'}]"),
                                  mem, NULL));
    for (int i = 0; i < 2; i++) {
        task = hf_value_copy(mem, task_next(nodes, HF_TASK_ACTIVITY, &at));
        other = nodes[1 - at];
        claim = claim_of(task, HF_TASK_ACTIVITY);
        hf_kit_ok(other, hf_task_beat(other, &claim, hf_json_(mem, "{'half': %d}", i)));
        if (i == 0)
            hf_kit_ok(other, hf_task_failure(other, &claim, true, "busy", "not now", NULL));
        else
            hf_kit_ok(other, hf_task_result(other, &claim, hf_json_(mem, "{'paid': 7}")));
        refused(other, hf_task_beat(other, &claim, NULL));
    }
    task = hf_value_copy(mem, task_next(nodes, HF_TASK_WORKFLOW, &at));
    other = nodes[1 - at];
    claim = claim_of(task, HF_TASK_WORKFLOW);
    hf_kit_ok(other, hf_task_answer(other, &claim,
                                    hf_json_(mem, "[{'type': 'complete_workflow', 'result': 7}]"),
                                    mem, NULL));
    completes(nodes[at], id);
    hf_mem_free(mem);
}

START_TEST(n11_any_node_takes_reports)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_engine *nodes[2];

    for (int i = 0; i < 2; i++)
        nodes[i] = desk_open(place);
    balance(nodes, 2);
    for (int i = 0; i < TASKS; i++)
        run_from_the_other_node(nodes, id_of("r", i));
    hf_close(nodes[0]);
    hf_close(nodes[1]);
    hf_test_place_free(place);
}
END_TEST

/* A worker leaves one node, and the others are told, also a program that has all its types and lets
   no workers in: it holds nothing for them, and goes on. */
START_TEST(workers_leave_beside_a_node_that_lets_none_in)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_engine *nodes[2] = {desk_open(place), NULL};

    hf_kit_ok(nodes[1], hf_open(hf_test_place_address(place), &app, &nodes[1]));
    hf_kit_ok(nodes[1], hf_set(nodes[1], "node_lease_ms", "1000"));
    hf_kit_ok(nodes[1], hf_start(nodes[1], "naps", hf_json(nodes[1], "{'ms': 1}"), .id = "a"));
    completes(nodes[1], "a");
    (void)task_now(nodes[0], HF_TASK_WORKFLOW); /* somebody is there to do the work */
    balance(nodes, 2);
    ck_assert_int_eq(hf_workers_release(nodes[0], "w1"), 0);
    ck_assert_int_eq(hf_workers_idle(nodes[0], "w1"), 0);
    hf_close(nodes[0]);
    hf_kit_ok(nodes[1], hf_start(nodes[1], "naps", hf_json(nodes[1], "{'ms': 1}"), .id = "b"));
    completes(nodes[1], "b");
    hf_close(nodes[1]);
    hf_test_place_free(place);
}
END_TEST

static void shards_await(hf_engine *d, int64_t count)
{
    int64_t until_ms = now_ms() + PATIENCE_S * 1000;

    while (shards_of(d) != count && now_ms() < until_ms)
        hf_nap_ms(5);
    ck_assert_int_eq(shards_of(d), count);
}

/* A node is cut off while it offers an attempt and a workflow task. The other takes over, hands
   both out and is told their ends; then the first one has the shards again, and nothing of what it
   offered before counts. */
START_TEST(n02_what_a_node_gets_back_is_read_anew)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    char address[HF_HOLD_ADDRESS];
    hf_hold *hold = hf_hold_new(hf_test_place_address(place), address);
    hf_engine *nodes[2] = {desk_at(address), NULL};
    hf_mem *mem = hf_mem_new();
    const char *const ids[] = {"work", "turn"};
    hf_task_claim claim;
    hf_value task;
    int at = 0;

    hf_kit_ok(nodes[0], hf_start(nodes[0], "remote", NULL, .id = ids[0], .queue = "far"));
    task = task_next((hf_engine *const[]){nodes[0], nodes[0]}, HF_TASK_WORKFLOW, &at);
    claim = claim_of(task, HF_TASK_WORKFLOW);
    hf_kit_ok(nodes[0], hf_task_answer(nodes[0], &claim, schedules(nodes[0]), mem, NULL));
    hf_kit_ok(nodes[0], hf_start(nodes[0], "remote", NULL, .id = ids[1], .queue = "far"));
    (void)task_next((hf_engine *const[]){nodes[0], nodes[0]}, HF_TASK_WORKFLOW, &at);

    hf_hold_arm(hold, HF_HOLD_LEASE, 1, PATIENCE_S * 1000);
    nodes[1] = desk_at(hf_test_place_address(place));
    shards_await(nodes[1], HF_SHARDS);
    for (int i = 0; i < 2; i++) {
        hf_task_kind kind = i ? HF_TASK_WORKFLOW : HF_TASK_ACTIVITY;

        task = task_next((hf_engine *const[]){nodes[1], nodes[1]}, kind, &at);
        claim = claim_of(task, kind);
        if (i)
            hf_kit_ok(nodes[1], hf_task_answer(nodes[1], &claim, schedules(nodes[1]), mem, NULL));
        else
            hf_kit_ok(nodes[1], hf_task_result(nodes[1], &claim, hf_json_(mem, "7")));
    }
    hf_close(nodes[1]);
    hf_hold_release(hold);
    shards_await(nodes[0], HF_SHARDS);

    task = task_next((hf_engine *const[]){nodes[0], nodes[0]}, HF_TASK_ACTIVITY, &at);
    ck_assert_str_eq(hf_str(task, "workflow_id", ""), ids[1]);
    claim = claim_of(task, HF_TASK_ACTIVITY);
    hf_kit_ok(nodes[0], hf_task_result(nodes[0], &claim, hf_json_(mem, "7")));
    for (int i = 0; i < 2; i++) {
        task = task_next((hf_engine *const[]){nodes[0], nodes[0]}, HF_TASK_WORKFLOW, &at);
        claim = claim_of(task, HF_TASK_WORKFLOW);
        hf_kit_ok(nodes[0],
                  hf_task_answer(nodes[0], &claim, hf_json_(mem, "[{'type': 'complete_workflow'}]"),
                                 mem, NULL));
    }
    for (int i = 0; i < 2; i++) {
        completes(nodes[0], ids[i]);
        ck_assert_int_eq(hf_test_count(nodes[0], ids[i], "ActivityStarted"), 1);
        ck_assert_int_eq(hf_test_count(nodes[0], ids[i], "ActivityCompleted"), 1);
    }
    ck_assert_ptr_null(task_now(nodes[0], HF_TASK_ACTIVITY));
    hf_close(nodes[0]);
    hf_hold_free(hold);
    hf_mem_free(mem);
    hf_test_place_free(place);
}
END_TEST

/* A process of its own that is a node, hands out attempts and says which, until it is killed. */
static _Noreturn void victim_run(hf_test_place *place, int out)
{
    hf_engine *d = desk_open(place);

    for (int i = 0; i < TASKS; i++) {
        hf_task_claim claim;
        hf_value task;
        const char *text;
        int at;

        hf_kit_ok(d, hf_start(d, "remote", NULL, .id = id_of("v", i), .queue = "far"));
        task = task_next((hf_engine *const[]){d, d}, HF_TASK_WORKFLOW, &at);
        claim = claim_of(task, HF_TASK_WORKFLOW);
        hf_kit_ok(d, hf_task_answer(d, &claim, schedules(d), hf_mem_of_engine(d), NULL));
        text = hf_text(hf_mem_of_engine(d),
                       task_next((hf_engine *const[]){d, d}, HF_TASK_ACTIVITY, &at));
        ck_assert_int_eq(write(out, text, strlen(text)), (ssize_t)strlen(text));
        ck_assert_int_eq(write(out, "\n", 1), 1);
    }
    for (;;)
        (void)pause();
}

static pid_t victim_begin(hf_test_place *place, FILE **out_said)
{
    int ends[2];
    pid_t pid;

    ck_assert_int_eq(pipe(ends), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        (void)close(ends[0]);
        victim_run(place, ends[1]);
    }
    (void)close(ends[1]);
    *out_said = fdopen(ends[0], "r");
    ck_assert_ptr_nonnull(*out_said);
    return pid;
}

/* Attempts outlive the node that handed them out: their results are taken by any other, also right
   after that one was killed, and none of them runs again. */
START_TEST(n11_reports_outlive_their_node)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_mem *mem = hf_mem_new();
    hf_task_claim claims[TASKS];
    char line[4096];
    FILE *said = NULL;
    pid_t victim = victim_begin(place, &said);
    hf_engine *d;

    for (int i = 0; i < TASKS; i++) {
        ck_assert_ptr_nonnull(fgets(line, sizeof(line), said));
        claims[i] = claim_of(hf_parse_(mem, line, strlen(line) - 1), HF_TASK_ACTIVITY);
    }
    (void)fclose(said);
    d = desk_open(place);
    hf_kit_ok(d, hf_task_beat(d, &claims[0], NULL)); /* wherever it is */
    ck_assert_int_eq(kill(victim, SIGKILL), 0);
    ck_assert_int_eq(waitpid(victim, NULL, 0), victim);
    for (int i = 0; i < TASKS; i++) {
        hf_kit_ok(d, hf_task_result(d, &claims[i], hf_json_(mem, "%d", i)));
        refused(d, hf_task_result(d, &claims[i], hf_json_(mem, "%d", i)));
    }
    ck_assert_ptr_null(task_now(d, HF_TASK_ACTIVITY));
    hf_close(d);
    hf_mem_free(mem);
    hf_test_place_free(place);
}
END_TEST

/* n47: a node whose store was migrated by a newer program stops with a sentence that says so. */
START_TEST(n47_a_migrated_store_is_left_alone)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_engine *d = NULL;
    hf_status st = HF_OK;
    hf_value out = NULL;
    hf_db *db = NULL;
    hf_err err = {0};

    hf_kit_ok(d, hf_open(hf_test_place_address(place), &app, &d));
    hf_kit_ok(d, hf_set(d, "node_lease_ms", "1000"));
    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "w"));
    ck_assert_int_eq(hf_test_place_dial(place, HF_DB_WRITE, NULL, 0, &db, &err), HF_OK);
    ck_assert_int_eq(
        hf_db_script(db, "UPDATE meta SET value = '99' WHERE name = 'ground_version'", &err),
        HF_OK);
    hf_db_close(db);
    for (int i = 0; i < 3000 && st == HF_OK; i++) {
        hf_nap_ms(20);
        st = hf_start(d, "naps", NULL, .id = id_of("n", i));
    }
    ck_assert_int_eq(st, HF_STOPPED);
    ck_assert_msg(strstr(hf_errmsg(d), "migrated to ground version 99"), "%s", hf_errmsg(d));
    ck_assert_int_ne(hf_result(d, "w", hf_seconds(60), &out, NULL), HF_TIMEOUT);
    ck_assert_int_eq(hf_run(d), HF_NEWER);
    hf_close(d);
    hf_test_place_free(place);
}
END_TEST

/* One task of that kind, if there is one, done by a worker that asks this node alone. */
static bool work_once(hf_engine *d, hf_task_kind kind)
{
    hf_value task = task_now(d, kind);
    hf_mem *mem = hf_mem_new();
    hf_task_claim claim;

    if (task) {
        task = hf_value_copy(mem, task);
        claim = claim_of(task, kind);
        if (kind == HF_TASK_ACTIVITY)
            hf_kit_ok(d, hf_task_result(d, &claim, hf_json_(mem, "7")));
        else if (hf_int(task, "last_history_sequence", 0) <= 3)
            hf_kit_ok(d, hf_task_answer(d, &claim, schedules(d), mem, NULL));
        else
            hf_kit_ok(d, hf_task_answer(d, &claim, hf_json_(mem, "[{'type': 'complete_workflow'}]"),
                                        mem, NULL));
    }
    hf_mem_free(mem);
    return task != NULL;
}

/* A worker that asks one node gets the tasks of runs that another one owns, at once, and none of
   them twice. */
START_TEST(n24_a_worker_at_one_node_serves_both)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_engine *nodes[2];
    int done[2] = {0};
    int64_t began_ms;

    for (int i = 0; i < 2; i++)
        nodes[i] = desk_open(place);
    balance(nodes, 2);
    for (int i = 0; i < ROUNDS; i++)
        hf_kit_ok(nodes[i % 2],
                  hf_start(nodes[i % 2], "remote", NULL, .id = id_of("r", i), .queue = "far"));
    began_ms = now_ms();
    while ((done[0] < 2 * ROUNDS || done[1] < ROUNDS) && now_ms() - began_ms < 15000) {
        done[0] += work_once(nodes[0], HF_TASK_WORKFLOW);
        done[1] += work_once(nodes[0], HF_TASK_ACTIVITY);
        hf_mem_reset(hf_mem_of_engine(nodes[0]));
    }
    ck_assert_int_eq(done[0], 2 * ROUNDS);
    ck_assert_int_eq(done[1], ROUNDS);
    for (int i = 0; i < ROUNDS; i++)
        completes(nodes[1], id_of("r", i));
    hf_close(nodes[0]);
    hf_close(nodes[1]);
    hf_test_place_free(place);
}
END_TEST

/* ---- programs that bring a part of the types */

enum { PARTS = 20, SECONDS_MAX = 20 };

static const hf_workflow_def waits_alone[] = {
    {.type = "waits", .run = waits, .signals = (const hf_signal_def[]){{"go", "what:any"}, {0}}},
    {0}};
static const hf_workflow_def naps_alone[] = {{.type = "naps", .run = naps}, {0}};

static hf_engine *part_open(hf_test_place *place, const hf_app *part)
{
    hf_engine *d = NULL;
    hf_value out = NULL;

    hf_kit_ok(d, hf_open(hf_test_place_address(place), part, &d));
    hf_kit_ok(d, hf_set(d, "node_lease_ms", "1000"));
    ck_assert_int_eq(hf_result(d, "nothing", 0, &out, NULL), HF_NOTFOUND); /* it begins */
    return d;
}

/* Runs of a type, started at both nodes in turn, all end in seconds. */
static void all_end(hf_engine *const *nodes, const char *type)
{
    int64_t began_ms = now_ms();

    for (int i = 0; i < PARTS; i++)
        hf_kit_ok(nodes[i % 2], hf_start(nodes[i % 2], type, hf_json(nodes[i % 2], "{'ms': 5}"),
                                         .id = id_of(type, i)));
    for (int i = 0; i < PARTS && strcmp(type, "waits") == 0; i++)
        hf_kit_ok(nodes[i % 2],
                  hf_signal(nodes[i % 2], id_of(type, i), "go", hf_json(nodes[i % 2], "[%d]", i)));
    for (int i = 0; i < PARTS; i++)
        completes(nodes[i % 2], id_of(type, i));
    ck_assert_int_lt(now_ms() - began_ms, SECONDS_MAX * 1000);
    printf("%d runs of %s in %lld ms\n", PARTS, type, (long long)(now_ms() - began_ms));
}

static void parts_end(const hf_app *first, const hf_app *second, const char *const *types)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_engine *nodes[2] = {part_open(place, first), part_open(place, second)};

    balance(nodes, 2);
    for (; *types; types++)
        all_end(nodes, *types);
    hf_close(nodes[0]);
    hf_close(nodes[1]);
    hf_test_place_free(place);
}

/* One program brings the workflows, the other one the activities. */
START_TEST(n24_workflows_here_activities_there)
{
    static const hf_app code = {.name = "code", .workflows = workflows};
    static const hf_app hands = {.name = "hands", .activities = activities};

    parts_end(&code, &hands, (const char *const[]){"waits", "naps", NULL});
}
END_TEST

/* Each brings one type of workflow, and one of them the activity of both. */
START_TEST(n24_some_types_here_some_there)
{
    static const hf_app one = {.name = "one", .workflows = waits_alone, .activities = activities};
    static const hf_app other = {.name = "other", .workflows = naps_alone};

    parts_end(&one, &other, (const char *const[]){"waits", "naps", NULL});
}
END_TEST

/* A front end brings nothing, and owns half of the runs all the same. */
START_TEST(n24_a_front_end_brings_nothing)
{
    parts_end(&nothing, &app, (const char *const[]){"waits", "family", NULL});
}
END_TEST

/* A front end does not know what else a type is called: the program that does takes the run. */
START_TEST(n24_a_front_end_starts_by_alias)
{
    static const hf_workflow_def renamed[] = {{.type = "naps", .aliases = "doze", .run = naps},
                                              {0}};
    static const hf_app other = {.name = "other", .workflows = renamed, .activities = activities};

    parts_end(&nothing, &other, (const char *const[]){"doze", "naps", NULL});
}
END_TEST

/* A new build brings a type that the old one, which is still there, does not know. */
START_TEST(n24_a_deploy_does_not_wait_for_the_old_one)
{
    static const hf_app old = {.name = "shop", .workflows = waits_alone, .activities = activities};

    parts_end(&old, &app, (const char *const[]){"naps", "waits", NULL});
}
END_TEST

HF_PG_SUITE_MAIN(
    "engine/node", {any_node_takes_commands, 180}, {n23_a_front_end_hears_at_once, 180},
    {n23_two_nodes_hear_at_once, 180}, {n23_a_watch_hears_at_once, 180},
    {n11_any_node_takes_reports, 180}, {workers_leave_beside_a_node_that_lets_none_in, 180},
    {n11_reports_outlive_their_node, 180}, {n02_what_a_node_gets_back_is_read_anew, 180},
    {n24_a_worker_at_one_node_serves_both, 180}, {n24_workflows_here_activities_there, 180},
    {n24_some_types_here_some_there, 180}, {n24_a_front_end_brings_nothing, 180},
    {n24_a_front_end_starts_by_alias, 180}, {n24_a_deploy_does_not_wait_for_the_old_one, 180},
    {signals_follow_a_run_that_goes_on, 180}, {nodes_come_and_go, 180},
    {lost_rows_come_back_with_gained_shards, 180}, {n47_a_migrated_store_is_left_alone, 120})
