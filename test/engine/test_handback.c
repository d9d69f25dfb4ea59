/* test_handback.c: tasks that are on their way to a worker when the worker goes, or whoever speaks
   for it: nothing of them waits for the end of a lease, not even across a restart. The worker here
   is the test itself, through the calls that a server makes. */
#include <stdio.h>

#include "base/fault.h"
#include "engine/core_impl.h"
#include "engine/engine_impl.h"
#include "holdfast/worker.h"
#include "lib/kit.h"

static hf_value calls_far(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "far", in, .max_attempts = 1);
}

static const hf_workflow_def workflows[] = {{"calls_far", .run = calls_far}, {0}};
static const hf_app app = {.name = "test", .workflows = workflows};

/* What a poll brought. */
typedef struct got {
    bool gone; /* nobody is there any more */
    int calls;
    bool task;
    char kind[16];
    char id[64];
    int64_t attempt;
    hf_poll *poll;
} got;

static bool take(void *arg, hf_value task)
{
    got *g = arg;
    const char *workflow = "workflow_task_attempt";

    g->calls++;
    g->task = task != NULL;
    (void)snprintf(g->kind, sizeof(g->kind), "%s", hf_str(task, "kind", ""));
    (void)snprintf(g->id, sizeof(g->id), "%s", hf_str(task, "task_id", ""));
    g->attempt = hf_int(task, workflow, hf_int(task, "attempt_number", 0));
    return !g->gone;
}

static hf_engine *workers_allow(hf_engine *d)
{
    hf_kit_ok(d, hf_workers_allow(d));
    return d;
}

static void poll_ask(hf_engine *d, hf_task_kind kind, const char *worker, got *g)
{
    *g = (got){.gone = g->gone};
    g->poll = hf_kit_poll(d, kind, worker, take, g);
}

/* The number of the attempt that is to be had now; 0: none is. */
static int64_t attempt_had(hf_engine *d, hf_task_kind kind, const char *worker, got *out)
{
    got g = {0};

    poll_ask(d, kind, worker, &g);
    hf_kit_ok(d, hf_test_drain(d));
    (void)hf_poll_end(g.poll);
    if (out)
        *out = g;
    return g.attempt;
}

static hf_task_claim claim_of(const got *g, const char *worker)
{
    return (hf_task_claim){
        .size_ = sizeof(hf_task_claim), .task_id = g->id, .worker = worker, .attempt = g->attempt};
}

static void run_begin(hf_engine *d)
{
    hf_kit_ok(d, hf_start(d, "calls_far", hf_json(d, "1"), .id = "r"));
    hf_kit_ok(d, hf_test_drain(d));
}

/* An attempt was recorded for a worker that is gone: the next one gets the next attempt, now or
   after a restart, though the activity may have one only. */
HF_BOTH_ENGINES(an_attempt_for_nobody_is_over_at_once)
{
    hf_engine *d = workers_allow(hf_kit_open(kind, &app));
    got g = {.gone = true};
    hf_task_claim claim;
    hf_value out = NULL;

    run_begin(d);
    poll_ask(d, HF_TASK_ACTIVITY, "gone", &g);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(g.calls, 1);
    (void)hf_poll_end(g.poll);
    ck_assert_int_eq(hf_kit_number(d, "SELECT status FROM activity"), HF_ACTIVITY_STATUS_PENDING);
    ck_assert_int_eq(hf_kit_number(d, "SELECT lost_attempts FROM activity"), 1);
    d = workers_allow(hf_kit_reopen(d, &app));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(attempt_had(d, HF_TASK_ACTIVITY, "w", &g), 2);
    claim = claim_of(&g, "w");
    hf_kit_ok(d, hf_task_result(d, &claim, hf_json(d, "42")));
    hf_kit_ok(d, hf_result(d, "r", 0, &out, NULL));
    ck_assert_int_eq(hf_int(out, "", 0), 42);
    hf_kit_close(d);
}

/* An attempt whose answer was not delivered: a poll that waits gets it, or one after a restart. Who
   gives back what is not, or no longer, its own changes nothing. */
HF_BOTH_ENGINES(an_undelivered_attempt_is_given_back)
{
    hf_engine *d = workers_allow(hf_kit_open(kind, &app));
    got waits = {0};
    got g;
    hf_task_claim claim;
    hf_task_claim old;

    run_begin(d);
    ck_assert_int_eq(attempt_had(d, HF_TASK_ACTIVITY, "w1", &g), 1);
    claim = claim_of(&g, "somebody");
    hf_kit_ok(d, hf_task_release(d, HF_TASK_ACTIVITY, &claim));
    ck_assert_int_eq(attempt_had(d, HF_TASK_ACTIVITY, "w2", NULL), 0);
    poll_ask(d, HF_TASK_ACTIVITY, "w2", &waits);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(waits.calls, 0);
    old = claim_of(&g, "w1");
    hf_kit_ok(d, hf_task_release(d, HF_TASK_ACTIVITY, &old));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(waits.attempt, 2);
    (void)hf_poll_end(waits.poll);
    hf_kit_ok(d, hf_task_release(d, HF_TASK_ACTIVITY, &old)); /* the second time, and too late */
    ck_assert_int_eq(attempt_had(d, HF_TASK_ACTIVITY, "w3", NULL), 0);
    claim = claim_of(&waits, "w2");
    hf_kit_ok(d, hf_task_release(d, HF_TASK_ACTIVITY, &claim));
    hf_kit_ok(d, hf_test_drain(d));
    d = workers_allow(hf_kit_reopen(d, &app));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(attempt_had(d, HF_TASK_ACTIVITY, "w3", &g), 3);
    claim = claim_of(&g, "w3");
    hf_kit_ok(d, hf_task_result(d, &claim, hf_json(d, "1")));
    hf_kit_close(d);
}

/* The process dies behind the commit of an attempt: the worker that was to have it says that it has
   none in hand, and others get it at once. It speaks for itself alone, and neither for attempts of
   this process nor for those that were heard of since. */
HF_BOTH_ENGINES(an_attempt_that_was_lost_with_the_process_ends)
{
    hf_engine *d = workers_allow(hf_kit_open(kind, &app));
    hf_task_claim claim;
    got g;

    run_begin(d);
    ck_assert_int_eq(attempt_had(d, HF_TASK_ACTIVITY, "w1", &g), 1);
    ck_assert_int_eq(hf_workers_idle(d, "w1"), 0);
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    claim = claim_of(&g, "w2");
    ck_assert_int_eq(hf_task_result(d, &claim, hf_json(d, "1")), HF_REJECTED);
    ck_assert_int_eq(hf_workers_idle(d, "w2"), 0);
    ck_assert_int_eq(hf_workers_idle(d, ""), 0);
    ck_assert_int_eq(attempt_had(d, HF_TASK_ACTIVITY, "w2", NULL), 0);
    ck_assert_int_eq(hf_workers_idle(d, "w1"), 1);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(attempt_had(d, HF_TASK_ACTIVITY, "w2", &g), 2);
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    claim = claim_of(&g, "w2");
    hf_kit_ok(d, hf_task_beat(d, &claim, NULL));
    ck_assert_int_eq(hf_workers_idle(d, "w2"), 0);
    hf_kit_ok(d, hf_task_result(d, &claim, hf_json(d, "1")));
    hf_kit_close(d);
}

/* A worker that is gone for good is known by its name also after a restart. */
HF_BOTH_ENGINES(a_worker_is_known_after_a_restart)
{
    hf_engine *d = workers_allow(hf_kit_open(kind, &app));
    got g;

    run_begin(d);
    ck_assert_int_eq(attempt_had(d, HF_TASK_ACTIVITY, "w1", &g), 1);
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_workers_release(d, "w2"), 0);
    ck_assert_int_eq(hf_workers_release(d, "w1"), 1);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(attempt_had(d, HF_TASK_ACTIVITY, "w2", &g), 2);
    hf_kit_close(d);
}

/* A workflow task the same; whoever had it has not seen what it was handed. */
HF_BOTH_ENGINES(an_undelivered_workflow_task_is_given_back)
{
    hf_engine *d = workers_allow(hf_kit_open(kind, &app));
    got g;
    hf_task_claim claim;
    hf_value errors = NULL;

    hf_kit_ok(d, hf_start(d, "elsewhere", NULL, .id = "r"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(attempt_had(d, HF_TASK_WORKFLOW, "w1", &g), 1);
    ck_assert_int_eq(attempt_had(d, HF_TASK_WORKFLOW, "w2", NULL), 0);
    claim = claim_of(&g, "w1");
    hf_kit_ok(d, hf_task_release(d, HF_TASK_WORKFLOW, &claim));
    ck_assert_int_eq(attempt_had(d, HF_TASK_WORKFLOW, "w2", &g), 2);
    hf_kit_ok(d, hf_task_release(d, HF_TASK_WORKFLOW, &claim)); /* it is another's now */
    claim = claim_of(&g, "w2");
    hf_kit_ok(d, hf_task_answer(d, &claim, hf_json(d, "[{'type': 'complete_workflow'}]"),
                                hf_mem_of_engine(d), &errors));
    hf_kit_close(d);
}

/* A poll that leaves while an attempt is being recorded for it gets that attempt. */
HF_BOTH_ENGINES(who_leaves_gets_what_is_on_its_way)
{
    hf_engine *d = workers_allow(hf_kit_open(kind, &app));
    got g = {0};

    run_begin(d);
    poll_ask(d, HF_TASK_ACTIVITY, "w", &g);
    ck_assert(hf_core_step(d->core));
    ck_assert_int_eq(g.calls, 0);
    ck_assert(!hf_poll_leave(g.poll));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(g.calls, 1);
    ck_assert_int_eq(g.attempt, 1);
    ck_assert(!hf_poll_end(g.poll));
    hf_kit_close(d);
}

/* When what was on its way comes to nothing, who left does not wait again; who waits for nothing
   hears nothing. */
HF_BOTH_ENGINES(who_leaves_does_not_wait_again)
{
    hf_engine *d = workers_allow(hf_kit_open(kind, &app));
    got g = {0};

    hf_kit_ok(d, hf_start(d, "elsewhere", NULL, .id = "r"));
    hf_kit_ok(d, hf_test_drain(d));
    poll_ask(d, HF_TASK_WORKFLOW, "w", &g);
    ck_assert(!hf_poll_leave(g.poll));
    hf_core_live(d->core, hf_kit_number(d, "SELECT key FROM run"))->far->lease.held = true;
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(g.calls, 1);
    ck_assert(!g.task);
    (void)hf_poll_end(g.poll);
    poll_ask(d, HF_TASK_ACTIVITY, "w", &g);
    ck_assert(hf_poll_leave(g.poll) && hf_poll_leave(g.poll));
    ck_assert(hf_poll_end(g.poll));
    ck_assert_int_eq(g.calls, 0);
    hf_kit_close(d);
}

/* One allocation fails while a worker that waits is handed a task: it gets it, or is told that
   there is none and asks again; it is not left waiting with nobody who knows of it. An engine that
   cannot go on says so. */
HF_BOTH_ENGINES(who_waits_is_told_when_memory_runs_out)
{
    hf_engine *d = workers_allow(hf_kit_open(kind, &app));
    int64_t seen = 1;

    run_begin(d);
    hf_kit_ok(d, hf_start(d, "elsewhere", NULL, .id = "e"));
    hf_kit_ok(d, hf_test_drain(d));
    for (int64_t nth = 1; nth <= seen; nth++) {
        hf_task_kind task = nth % 2 ? HF_TASK_WORKFLOW : HF_TASK_ACTIVITY;
        got g = {0};
        hf_status st;

        poll_ask(d, task, "w", &g);
        hf_fault_arm(HF_FAULT_ALLOC, (nth + 1) / 2, false);
        st = hf_test_drain(d);
        seen = 2 * hf_fault_seen(HF_FAULT_ALLOC);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        if (st || hf_core_failure(d->core, NULL)) {
            (void)hf_poll_end(g.poll);
            d = workers_allow(hf_kit_reopen(d, &app));
            hf_kit_ok(d, hf_test_drain(d));
        } else {
            hf_kit_ok(d, hf_test_advance(d, hf_seconds(1))); /* what failed is tried again */
            ck_assert_msg(g.calls == 1, "allocation %lld", (long long)(nth + 1) / 2);
            (void)hf_poll_end(g.poll);
        }
        if (g.task) {
            const hf_task_claim claim = claim_of(&g, "w");

            hf_kit_ok(d, hf_task_release(d, task, &claim));
            hf_kit_ok(d, hf_test_drain(d));
        }
    }
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/handback", HF_BOTH(an_attempt_for_nobody_is_over_at_once),
                 HF_BOTH(an_undelivered_attempt_is_given_back),
                 HF_BOTH(an_attempt_that_was_lost_with_the_process_ends),
                 HF_BOTH(a_worker_is_known_after_a_restart),
                 HF_BOTH(an_undelivered_workflow_task_is_given_back),
                 HF_BOTH(who_leaves_gets_what_is_on_its_way),
                 HF_BOTH(who_leaves_does_not_wait_again),
                 HF_BOTH(who_waits_is_told_when_memory_runs_out))
