/* test_lease.c: attempts that workers of other processes have: until when, and what becomes of that
   in a restart. The worker here is the test itself, through the calls that a server makes. */
#include <stdio.h>

#include "base/value.h"
#include "engine/engine_impl.h"
#include "holdfast/view.h"
#include "lib/kit.h"

static hf_value calls_far(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "far", in, .max_attempts = 2);
}

static const hf_workflow_def workflows[] = {{"calls_far", .run = calls_far}, {0}};
static const hf_app app = {.name = "test", .workflows = workflows};

static hf_engine *workers_allow(hf_engine *d)
{
    hf_kit_ok(d, hf_workers_allow(d));
    return d;
}

static bool take(void *arg, hf_value task)
{
    hf_value *out = arg;

    *out = task;
    return true;
}

/* The task of that kind that is there now; NULL: none is. */
static hf_value poll_now(hf_engine *d, hf_task_kind kind, const char *worker)
{
    hf_value task = NULL;
    hf_poll *poll = hf_kit_poll(d, kind, worker, take, &task);

    hf_kit_ok(d, hf_test_advance(d, 0));
    task = task ? hf_value_copy(hf_mem_of_engine(d), task) : NULL;
    (void)hf_poll_end(poll);
    return task;
}

static hf_engine *run_begin_leased(hf_engine_kind kind, const char *lease_ms)
{
    hf_engine *d = workers_allow(hf_kit_open(kind, &app));

    hf_kit_ok(d, hf_set(d, "activity_lease_ms", lease_ms));
    hf_kit_begin(d, "calls_far", "r", hf_json(d, "1"));
    return d;
}

static hf_engine *run_begin(hf_engine_kind kind)
{
    return run_begin_leased(kind, "60000");
}

static hf_engine *restart(hf_engine *d)
{
    d = workers_allow(hf_kit_reopen(d, &app));
    hf_kit_ok(d, hf_test_drain(d));
    return d;
}

/* The newest attempt of the only activity. */
static hf_value attempt_seen(hf_engine *d)
{
    hf_value detail = NULL;
    hf_value attempts;

    hf_kit_ok(d, hf_describe(d, hf_json(d, "{'id': 'r'}"), hf_mem_of_engine(d), &detail));
    attempts = hf_get(detail, "activities.0.attempts");
    return hf_at(attempts, hf_len(attempts) - 1);
}

static int64_t now_us(const hf_engine *d)
{
    return hf_clock_wall_us(d->clock);
}

static int64_t lease_stored(hf_engine *d)
{
    return hf_kit_number(d, "SELECT coalesce(lease_until_us, 0) FROM activity");
}

/* Holder and end of a lease are in the commit that hands the attempt out, and everybody is shown
   them: with the task, in history, in the list of what is held. */
HF_BOTH_ENGINES(n14_a_lease_is_on_the_record)
{
    hf_engine *d = run_begin(kind);
    hf_value task = poll_now(d, HF_TASK_ACTIVITY, "w1");
    hf_value held = NULL;
    char digits[32];
    int64_t until_us;

    ck_assert_ptr_nonnull(task);
    until_us = hf_int(task, "lease_expires_at", 0);
    ck_assert_int_eq(until_us, now_us(d) + INT64_C(60000000));
    ck_assert_int_eq(lease_stored(d), until_us);
    (void)snprintf(digits, sizeof(digits), "%lld", (long long)until_us);
    ck_assert_str_eq(hf_kit_said(d, "r", "ActivityStarted", 0, HF_KEY_LEASE_EXPIRES_AT), digits);
    ck_assert_str_eq(hf_str(attempt_seen(d), "lease_owner", ""), "w1");
    ck_assert_str_eq(hf_str(attempt_seen(d), "task_id", ""), hf_str(task, "task_id", "?"));
    ck_assert_str_ne(hf_str(attempt_seen(d), "lease_expires_at", ""), "");
    hf_kit_ok(d, hf_tasks_held(d, NULL, hf_mem_of_engine(d), &held));
    ck_assert_str_eq(hf_str(held, "0.lease_owner", ""), "w1");
    ck_assert_int_eq(hf_int(held, "0.lease_expires_at", 0), until_us);
    hf_kit_close(d);
}

/* A restart neither ends the lease nor begins it anew. */
HF_BOTH_ENGINES(n14_a_lease_keeps_its_end_in_a_restart)
{
    hf_engine *d = run_begin(kind);
    int64_t until_us = hf_int(poll_now(d, HF_TASK_ACTIVITY, "w1"), "lease_expires_at", 0);
    hf_value held = NULL;

    hf_kit_skip(d, hf_seconds(40));
    d = restart(d);
    hf_kit_ok(d, hf_tasks_held(d, NULL, hf_mem_of_engine(d), &held));
    ck_assert_str_eq(hf_str(held, "0.lease_owner", ""), "w1");
    ck_assert_int_eq(hf_int(held, "0.lease_expires_at", 0), until_us);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(19)));
    ck_assert_ptr_null(poll_now(d, HF_TASK_ACTIVITY, "w2"));
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(1)));
    ck_assert_int_eq(hf_int(poll_now(d, HF_TASK_ACTIVITY, "w2"), "attempt_number", 0), 2);
    hf_kit_close(d);
}

/* One that was over when the server came back is over: nobody waits for it again. */
HF_BOTH_ENGINES(n14_a_lease_ends_while_nobody_serves)
{
    hf_engine *d = run_begin(kind);

    ck_assert_ptr_nonnull(poll_now(d, HF_TASK_ACTIVITY, "w1"));
    hf_kit_skip(d, hf_seconds(61));
    d = restart(d);
    ck_assert_int_eq(hf_int(poll_now(d, HF_TASK_ACTIVITY, "w2"), "attempt_number", 0), 2);
    hf_kit_close(d);
}

/* Signs of life extend it, at most every ten seconds on the record: that is how much of an
   extension a crash may cost. */
HF_BOTH_ENGINES(n14_extensions_are_recorded_together)
{
    hf_engine *d = run_begin(kind);
    char task_id[64];
    const hf_task_claim claim = {
        .size_ = sizeof(claim), .task_id = task_id, .worker = "w1", .attempt = 1};
    int64_t behind_us;

    (void)snprintf(task_id, sizeof(task_id), "%s",
                   hf_str(poll_now(d, HF_TASK_ACTIVITY, "w1"), "task_id", ""));
    for (int i = 0; i < 35; i++) {
        hf_kit_ok(d, hf_task_beat(d, &claim, NULL));
        hf_kit_ok(d, hf_test_advance(d, hf_seconds(1)));
    }
    ck_assert_int_le(hf_test_count(d, "r", "ActivityHeartbeatRecorded"), 4);
    hf_kit_ok(d, hf_task_beat(d, &claim, NULL));
    behind_us = now_us(d) + INT64_C(60000000) - lease_stored(d);
    ck_assert_int_ge(behind_us, 0);
    ck_assert_int_le(behind_us, INT64_C(10000000));
    d = restart(d);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(49)));
    ck_assert_ptr_null(poll_now(d, HF_TASK_ACTIVITY, "w2"));
    hf_kit_ok(d, hf_task_result(d, &claim, hf_json(d, "7")));
    ck_assert_str_eq(hf_kit_result(d, "r"), "7");
    hf_kit_close(d);
}

/* Lease times are settings, down to a fifth of a second. */
HF_BOTH_ENGINES(n14_lease_times_are_settings)
{
    hf_engine *d = workers_allow(hf_kit_open(kind, &app));

    ck_assert_int_eq(hf_set(d, "activity_lease_ms", "199"), HF_INVALID);
    ck_assert_int_eq(hf_set(d, "workflow_task_lease_ms", "86400001"), HF_INVALID);
    ck_assert_int_eq(hf_set(d, "activity_lease_ms", "soon"), HF_INVALID);
    hf_kit_ok(d, hf_set(d, "activity_lease_ms", "500"));
    hf_kit_ok(d, hf_set(d, "workflow_task_lease_ms", "500"));
    hf_kit_begin(d, "calls_far", "r", hf_json(d, "1"));
    hf_kit_begin(d, "elsewhere", "e", NULL);
    ck_assert_ptr_nonnull(poll_now(d, HF_TASK_ACTIVITY, "w1"));
    ck_assert_ptr_nonnull(poll_now(d, HF_TASK_WORKFLOW, "w1"));
    hf_kit_ok(d, hf_test_advance(d, 499));
    ck_assert_ptr_null(poll_now(d, HF_TASK_ACTIVITY, "w2"));
    ck_assert_ptr_null(poll_now(d, HF_TASK_WORKFLOW, "w2"));
    hf_kit_ok(d, hf_test_advance(d, 1));
    ck_assert_ptr_nonnull(poll_now(d, HF_TASK_ACTIVITY, "w2"));
    ck_assert_ptr_nonnull(poll_now(d, HF_TASK_WORKFLOW, "w2"));
    hf_kit_close(d);
}

/* Whoever took the task, and how it is called; the engine's memory does not keep it. */
typedef struct taken {
    char task_id[64];
    const char *worker;
    int64_t attempt;
} taken;

static taken task_take(hf_engine *d, hf_task_kind kind, const char *worker)
{
    hf_value task = poll_now(d, kind, worker);
    taken t = {.worker = worker,
               .attempt = hf_int(
                   task, kind == HF_TASK_WORKFLOW ? "workflow_task_attempt" : "attempt_number", 0)};

    ck_assert_ptr_nonnull(task);
    (void)snprintf(t.task_id, sizeof(t.task_id), "%s", hf_str(task, "task_id", ""));
    return t;
}

static hf_task_claim claim_of(const taken *t)
{
    return (hf_task_claim){.size_ = sizeof(hf_task_claim),
                           .task_id = t->task_id,
                           .worker = t->worker,
                           .attempt = t->attempt};
}

/* The report of a worker that was held for lost counts until its attempt is handed out again, also
   after a restart; nobody else's does. */
HF_BOTH_ENGINES(n14_a_late_result_is_taken)
{
    for (int restarts = 0; restarts < 2; restarts++) {
        hf_engine *d = run_begin(kind);
        taken t = task_take(d, HF_TASK_ACTIVITY, "w1");
        hf_task_claim claim = claim_of(&t);

        hf_kit_ok(d, hf_test_advance(d, hf_seconds(61)));
        ck_assert_int_eq(hf_kit_number(d, "SELECT lost_attempts FROM activity"), 1);
        ck_assert_int_eq(lease_stored(d), 0);
        if (restarts)
            d = restart(d);
        claim.worker = "w2";
        ck_assert_int_eq(hf_task_result(d, &claim, hf_json(d, "1")), HF_REJECTED);
        claim.worker = "w1";
        claim.attempt = 2;
        ck_assert_int_eq(hf_task_result(d, &claim, hf_json(d, "1")), HF_REJECTED);
        claim.attempt = 1;
        hf_kit_ok(d, hf_task_beat(d, &claim, NULL));
        hf_kit_ok(d, hf_task_result(d, &claim, hf_json(d, "7")));
        ck_assert_str_eq(hf_kit_result(d, "r"), "7");
        ck_assert_int_eq(hf_test_count(d, "r", "ActivityStarted"), 1);
        ck_assert_int_eq(hf_task_result(d, &claim, hf_json(d, "8")), HF_REJECTED);
        hf_kit_close(d);
    }
}

/* Once another has it, the report is refused and changes nothing. */
HF_BOTH_ENGINES(n14_a_late_result_is_refused_when_another_began)
{
    hf_engine *d = run_begin(kind);
    taken first = task_take(d, HF_TASK_ACTIVITY, "w1");
    hf_task_claim claim = claim_of(&first);
    taken second;

    hf_kit_ok(d, hf_test_advance(d, hf_seconds(61)));
    second = task_take(d, HF_TASK_ACTIVITY, "w2");
    ck_assert_int_eq(second.attempt, 2);
    ck_assert_int_eq(hf_task_result(d, &claim, hf_json(d, "7")), HF_REJECTED);
    ck_assert_int_eq(hf_task_beat(d, &claim, NULL), HF_REJECTED);
    claim = claim_of(&second);
    hf_kit_ok(d, hf_task_result(d, &claim, hf_json(d, "8")));
    ck_assert_str_eq(hf_kit_result(d, "r"), "8");
    hf_kit_close(d);
}

/* A failure that is late counts as one of the attempts, and its loss does not count besides. */
HF_BOTH_ENGINES(n14_a_late_failure_is_counted_once)
{
    hf_engine *d = run_begin(kind);
    taken t = task_take(d, HF_TASK_ACTIVITY, "w1");
    hf_task_claim claim = claim_of(&t);

    hf_kit_ok(d, hf_test_advance(d, hf_seconds(61)));
    hf_kit_ok(d, hf_task_failure(d, &claim, true, "broken", "it broke", NULL));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_int_eq(hf_kit_number(d, "SELECT lost_attempts FROM activity"), 0);
    t = task_take(d, HF_TASK_ACTIVITY, "w1");
    ck_assert_int_eq(t.attempt, 2);
    claim = claim_of(&t);
    hf_kit_ok(d, hf_task_failure(d, &claim, true, "broken", "it broke", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "r"), "failed");
    hf_kit_close(d);
}

/* The same for workflow tasks: a sign of life gives the lease back, and an answer is taken. */
HF_BOTH_ENGINES(n14_a_late_answer_is_taken_until_another_has_the_task)
{
    hf_engine *d = workers_allow(hf_kit_open(kind, &app));
    hf_value errors = NULL;
    hf_task_claim claim;
    taken t;

    hf_kit_begin(d, "elsewhere", "e", NULL);
    t = task_take(d, HF_TASK_WORKFLOW, "w1");
    claim = claim_of(&t);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(61)));
    hf_kit_ok(d, hf_task_extend(d, &claim, NULL, NULL));
    ck_assert_ptr_null(poll_now(d, HF_TASK_WORKFLOW, "w2"));
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(61)));
    ck_assert_int_eq(hf_task_answer(d, &claim, hf_json(d, "[{'type': 'nonsense'}]"),
                                    hf_mem_of_engine(d), &errors),
                     HF_INVALID);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(61)));
    t = task_take(d, HF_TASK_WORKFLOW, "w2");
    ck_assert_int_eq(hf_task_answer(d, &claim, hf_json(d, "[{'type': 'complete_workflow'}]"),
                                    hf_mem_of_engine(d), &errors),
                     HF_REJECTED);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(61)));
    claim = claim_of(&t);
    hf_kit_ok(d, hf_task_answer(d, &claim, hf_json(d, "[{'type': 'complete_workflow'}]"),
                                hf_mem_of_engine(d), &errors));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "e"), "completed");
    hf_kit_close(d);
}

/* A row that is made again from history has the lease that history knows. */
HF_BOTH_ENGINES(n14_a_repair_restores_the_lease)
{
    hf_engine *d = run_begin_leased(kind, "7200000");
    int64_t until_us = hf_int(poll_now(d, HF_TASK_ACTIVITY, "w1"), "lease_expires_at", 0);

    hf_kit_sql(d, "DELETE FROM activity");
    d = restart(d);
    for (int i = 0; i < 12; i++) /* the watchdog looks around */
        hf_kit_ok(d, hf_test_advance(d, hf_seconds(20)));
    ck_assert_int_eq(lease_stored(d), until_us);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM activity WHERE owner = 'w1'"), 1);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/lease", HF_BOTH(n14_a_lease_is_on_the_record),
                 HF_BOTH(n14_a_lease_keeps_its_end_in_a_restart),
                 HF_BOTH(n14_a_lease_ends_while_nobody_serves),
                 HF_BOTH(n14_extensions_are_recorded_together),
                 HF_BOTH(n14_lease_times_are_settings), HF_BOTH(n14_a_late_result_is_taken),
                 HF_BOTH(n14_a_late_result_is_refused_when_another_began),
                 HF_BOTH(n14_a_late_failure_is_counted_once),
                 HF_BOTH(n14_a_late_answer_is_taken_until_another_has_the_task),
                 HF_BOTH(n14_a_repair_restores_the_lease))
