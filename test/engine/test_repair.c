/* Repair and watchdog: whatever row of open work is lost at whatever stage comes back from history,
   once, and the run ends as if nothing had happened. Every store is verified when its case is over.
 */
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "engine/command.h"
#include "engine/core_impl.h"
#include "engine/engine_impl.h"
#include "engine/fleet.h"
#include "lib/agree.h"
#include "lib/campaign.h"
#include "lib/handlers.h"
#include "lib/kit.h"

static int charges; /* how often the activity ran */

static hf_value charge(hf_act *a, hf_value in)
{
    (void)a;
    charges++;
    return in;
}

static hf_value faulty(hf_act *a, hf_value in)
{
    return hf_attempt(a) < 3 ? hf_retry(a, "boom", "not yet") : in;
}

static hf_value order(hf_ctx *w, hf_value in)
{
    hf_value first = hf_activity(w, "charge", in);

    return hf_json(w, "{'charge': %p, 'ok': %p}", (const void *)first,
                   (const void *)hf_receive(w, "go", .timeout = hf_int(in, "timeout", 0)));
}

static hf_value retrying(hf_ctx *w, hf_value in)
{
    static const hf_ms backoff[] = {60000};

    return hf_activity(w, "faulty", in, .max_attempts = 5, .backoff = backoff, .backoff_n = 1);
}

static hf_value sleeper(hf_ctx *w, hf_value in)
{
    hf_sleep(w, hf_minutes(10));
    return in;
}

static bool positive(const void *state)
{
    return *(const int *)state > 0;
}

static hf_value conditional(hf_ctx *w, hf_value in)
{
    bool held = hf_wait(w, "stock", positive, .timeout = hf_int(in, "timeout", 0));

    return hf_json(w, "{'held': %s}", held ? "yes" : "no");
}

static hf_value add(hf_ctx *w, void *state, hf_value args)
{
    (void)w;
    *(int *)state += 1;
    return args;
}

static hf_value parent(hf_ctx *w, hf_value in)
{
    return hf_child(w, "order", in, .id = "kid");
}

static hf_value crowd(hf_ctx *w, hf_value in)
{
    return hf_all(w, HF_ACTIVITY("faulty", in, .max_attempts = 5), HF_ACTIVITY("charge", in),
                  HF_ACTIVITY("faulty", in, .max_attempts = 5));
}

static const hf_signal_def go[] = {{"go", NULL}, {0}};
static const hf_update_def updates[] = {{.name = "add", .apply = add}, {0}};
static const hf_workflow_def workflows[] = {
    {.type = "order", .run = order, .signals = go},
    {.type = "retrying", .run = retrying},
    {.type = "sleeper", .run = sleeper},
    {.type = "conditional", .run = conditional, .state_size = sizeof(int), .updates = updates},
    {.type = "parent", .run = parent},
    {.type = "patient", .run = hf_wait_go, .signals = go},
    {.type = "crowd", .run = crowd},
    {0}};
static const hf_activity_def activities[] = {
    {.name = "charge", .run = charge}, {.name = "faulty", .run = faulty}, {0}};
static const hf_app app = {.name = "test", .workflows = workflows, .activities = activities};

static const hf_workflow_def other_workflows[] = {
    {.type = "patient", .run = sleeper, .signals = go}, {0}};
static const hf_app other = {
    .name = "test", .workflows = other_workflows, .activities = activities};

static hf_reply repair(hf_engine *d, const char *id)
{
    const hf_request request = {
        .type = HF_COMMAND_TYPE_REPAIR, .id = hf_slice_of(id), .reason = HF_SLICE("a test")};
    hf_reply reply;
    hf_err err = {0};

    hf_test_ok(hf_engine_command(d, &request, hf_mem_of_engine(d), &reply, &err), &err, "repair");
    return reply;
}

static const char *outcome(hf_engine *d, const char *id)
{
    hf_reply reply = repair(d, id);

    return hf_cmd_outcome_text((hf_cmd_outcome)reply.outcome);
}

static hf_value state(hf_engine *d, const char *id)
{
    hf_value out = NULL;

    hf_kit_ok(d, hf_why(d, id, hf_mem_of_engine(d), &out));
    hf_agree_check(d, id, hf_get(out, "liveness"));
    return hf_get(out, "liveness");
}

static const char *liveness(hf_engine *d, const char *id)
{
    return hf_str(state(d, id), "liveness_state", "");
}

static void pump_without_activities(hf_engine *d)
{
    while (hf_writer_step(d->writer) || hf_core_step(d->core))
        ;
}

/* Nothing is in memory any more: only rows and history can bring the run back. */
static void forget(hf_engine *d)
{
    hf_test_crash(d);
    pump_without_activities(d);
}

/* The signal is on the record and its task is gone. */
HF_BOTH_ENGINES(b038_lost_signal_task_is_restored)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "patient", "a", NULL);
    hf_kit_ok(d, hf_signal(d, "a", "go", NULL));
    hf_kit_sql(d, "DELETE FROM task");
    forget(d);
    ck_assert_str_eq(liveness(d, "a"), "repair_needed");
    ck_assert_str_eq(hf_str(state(d, "a"), "wait_kind", ""), "signal");
    ck_assert(strncmp(hf_str(state(d, "a"), "open_wait_id", ""), "signal-application:", 19) == 0);
    ck_assert_str_eq(hf_str(state(d, "a"), "resume_source_kind", ""), "workflow_signal");
    ck_assert(hf_bool(state(d, "a"), "task_problem", false));
    ck_assert_str_eq(outcome(d, "a"), "repair_dispatched");
    ck_assert_int_eq(hf_kit_number(d, "SELECT source_kind FROM task"),
                     HF_RESUME_SOURCE_KIND_WORKFLOW_SIGNAL);
    ck_assert_str_eq(hf_kit_said(d, "a", "RepairRequested", 0, HF_KEY_LIVENESS_STATE),
                     "repair_needed");
    ck_assert_str_eq(hf_kit_said(d, "a", "RepairRequested", 0, HF_KEY_TASK_TYPE), "workflow");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    ck_assert_int_eq(hf_test_count(d, "a", "SignalApplied"), 1);
    hf_kit_close(d);
}

/* A wait that nothing is wrong with is left alone, and the command says so. */
HF_BOTH_ENGINES(b039_healthy_wait_needs_no_repair)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "patient", "a", NULL);
    ck_assert_str_eq(liveness(d, "a"), "waiting_for_signal");
    ck_assert_str_eq(hf_str(state(d, "a"), "repair_blocked.label", ""), "Repair Not Needed");
    ck_assert_str_eq(outcome(d, "a"), "repair_not_needed");
    ck_assert_int_eq(hf_test_count(d, "a", "RepairRequested"), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), 0);
    hf_kit_ok(d, hf_signal(d, "a", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(outcome(d, "a"), "rejected_not_active");
    hf_kit_close(d);
}

/* The timeout of a condition is lost with its timer row: repair puts it back with its old deadline.
 */
HF_BOTH_ENGINES(b055_lost_timeout_is_restored)
{
    hf_engine *d = hf_kit_open(kind, &app);
    int64_t due_us;

    hf_kit_begin(d, "conditional", "a", hf_json(d, "{'timeout': 600000}"));
    due_us = hf_kit_number(d, "SELECT due_us FROM timer");
    hf_kit_sql(d, "DELETE FROM timer");
    forget(d);
    ck_assert_str_eq(liveness(d, "a"), "repair_needed");
    ck_assert_str_eq(hf_str(state(d, "a"), "wait_kind", ""), "condition");
    ck_assert_str_eq(outcome(d, "a"), "repair_dispatched");
    ck_assert_int_eq(hf_kit_number(d, "SELECT due_us FROM timer"), due_us);
    ck_assert_str_eq(liveness(d, "a"), "waiting_for_condition");
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(11)));
    ck_assert_str_eq(hf_kit_result(d, "a"), "{\"held\":\"no\"}");
    hf_kit_close(d);
}

/* Code that does not fit, then code that does: the repair tries the blocked task again. */
HF_BOTH_ENGINES(b058_blocked_run_resumes_after_repair)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "patient", "a", NULL);
    d = hf_kit_reopen(d, &other);
    hf_kit_ok(d, hf_signal(d, "a", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(liveness(d, "a"), "workflow_replay_blocked");
    ck_assert_str_eq(outcome(d, "a"), "repair_dispatched");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(liveness(d, "a"), "workflow_replay_blocked"); /* still the wrong build */
    d = hf_kit_reopen(d, &app);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(liveness(d, "a"), "workflow_replay_blocked"); /* nobody has said so yet */
    ck_assert_str_eq(outcome(d, "a"), "repair_dispatched");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    ck_assert_int_eq(hf_kit_number(d, "SELECT blocked FROM run"), 0);
    hf_kit_close(d);
}

/* An accepted update whose task is gone: named, and restored by repair or by the watchdog. */
HF_BOTH_ENGINES(b075_lost_update_task_is_restored)
{
    hf_engine *d = hf_kit_open(kind, &app);

    for (int i = 0; i < 2; i++) {
        const char *id = i ? "b" : "a";
        const hf_request request = {.type = HF_COMMAND_TYPE_UPDATE,
                                    .id = hf_slice_of(id),
                                    .name = HF_SLICE("add"),
                                    .args = hf_json(d, "{}")};
        hf_reply reply;
        hf_err err = {0};

        hf_kit_begin(d, "conditional", id, NULL);
        hf_test_ok(hf_engine_command(d, &request, hf_mem_of_engine(d), &reply, &err), &err,
                   "update");
        hf_kit_sql(d, "DELETE FROM task");
        forget(d);
        ck_assert_str_eq(liveness(d, id), "repair_needed");
        ck_assert_str_eq(hf_str(state(d, id), "wait_kind", ""), "update");
        ck_assert(strncmp(hf_str(state(d, id), "open_wait_id", ""), "update:", 7) == 0);
        if (i == 0)
            ck_assert_str_eq(outcome(d, id), "repair_dispatched");
        hf_kit_ok(d, i ? hf_test_advance(d, hf_seconds(10)) : hf_test_drain(d));
        ck_assert_str_eq(hf_kit_result(d, id), "{\"held\":\"yes\"}");
        ck_assert_int_eq(hf_test_count(d, id, "UpdateCompleted"), 1);
    }
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM command WHERE type = 4 AND source = 7"),
                     1);
    hf_kit_close(d);
}

/* A retry that waits, its row gone: it comes back with its attempts and its moment. */
HF_BOTH_ENGINES(b121_lost_activity_row_is_restored)
{
    hf_engine *d = hf_kit_open(kind, &app);
    int64_t available_us;

    hf_kit_begin(d, "retrying", "a", NULL);
    available_us = hf_kit_number(d, "SELECT available_us FROM activity");
    hf_kit_sql(d, "DELETE FROM activity");
    forget(d);
    ck_assert_str_eq(liveness(d, "a"), "repair_needed");
    ck_assert_str_eq(hf_str(state(d, "a"), "wait_kind", ""), "activity");
    ck_assert_str_eq(outcome(d, "a"), "repair_dispatched");
    ck_assert_int_eq(hf_kit_number(d, "SELECT available_us FROM activity"), available_us);
    ck_assert_int_eq(hf_kit_number(d, "SELECT attempt FROM activity"), 1);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(3)));
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityStarted"), 3);
    hf_kit_close(d);
}

/* An attempt that may be running is never started a second time. */
HF_BOTH_ENGINES(b122_running_activity_is_not_repeated)
{
    hf_engine *d = hf_kit_open(kind, &app);

    charges = 0;
    hf_kit_ok(d, hf_start(d, "order", NULL, .id = "a"));
    pump_without_activities(d);
    hf_kit_sql(d, "DELETE FROM activity");
    ck_assert_str_eq(liveness(d, "a"), "activity_running_without_task");
    ck_assert(!hf_bool(state(d, "a"), "can_repair", true));
    ck_assert_str_eq(outcome(d, "a"), "repair_not_needed");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM activity"), 0);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(charges, 1);
    ck_assert_str_eq(liveness(d, "a"), "waiting_for_signal");
    hf_kit_close(d);
}

/* The process that ran it is gone: on SQLite nobody else can have it, so the row comes back and
   the attempt counts as lost. */
START_TEST(lost_attempt_is_restored_when_its_process_is_gone)
{
    hf_engine *d = hf_kit_open(HF_ENGINE_SQLITE, &app);

    charges = 0;
    hf_kit_ok(d, hf_start(d, "order", NULL, .id = "a"));
    pump_without_activities(d);
    hf_kit_sql(d, "DELETE FROM activity");
    forget(d);
    ck_assert_int_eq(charges, 0);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(10)));
    ck_assert_int_eq(charges, 1);
    ck_assert_str_eq(liveness(d, "a"), "waiting_for_signal");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityStarted"), 2);
    hf_kit_close(d);
}
END_TEST

/* A child ended; the fact and the task that tell its parent are gone, one or both. */
HF_BOTH_ENGINES(b153_lost_child_resolution_is_restored)
{
    static const char *const losses[] = {"DELETE FROM task", "DELETE FROM inbox",
                                         "DELETE FROM task; DELETE FROM inbox"};

    for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
        hf_engine *d = hf_kit_open(kind, &app);

        hf_kit_begin(d, "parent", "a", NULL);
        hf_kit_ok(d, hf_terminate(d, "kid", "a test"));
        ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM inbox"), 1);
        hf_kit_sql(d, losses[i]);
        if (i) /* else a start finds the fact by itself */
            forget(d);
        ck_assert_str_eq(liveness(d, "a"), "repair_needed");
        ck_assert_str_eq(hf_str(state(d, "a"), "wait_kind", ""), "child");
        ck_assert_str_eq(hf_str(state(d, "a"), "resume_source_kind", ""), "child_workflow_run");
        ck_assert_str_eq(outcome(d, "a"), "repair_dispatched");
        hf_kit_ok(d, hf_test_drain(d));
        ck_assert_str_eq(hf_test_status(d, "a"), "failed");
        ck_assert_int_eq(hf_test_count(d, "a", "ChildRunTerminated"), 1);
        hf_kit_close(d);
    }
}

/* The lease of a task is over: repair takes the same task and gives it out again. */
HF_BOTH_ENGINES(b179_expired_lease_is_given_out_again)
{
    hf_engine *d = hf_kit_open(kind, &app);
    int64_t task;

    hf_kit_ok(d, hf_start(d, "patient", NULL, .id = "a"));
    task = hf_kit_number(d, "SELECT key FROM task");
    hf_kit_sql(d, "UPDATE task SET status = 2, epoch = 1, owner = 'gone', attempt = 1, "
                  "lease_until_us = available_us + 1000000");
    hf_kit_skip(d, hf_seconds(2));
    hf_test_crash(d);
    pump_without_activities(d);
    ck_assert_str_eq(liveness(d, "a"), "repair_needed");
    ck_assert_str_eq(hf_str(state(d, "a"), "next_task_transport_state", ""), "lease_expired");
    ck_assert_str_eq(outcome(d, "a"), "repair_dispatched");
    ck_assert_int_eq(hf_kit_number(d, "SELECT key FROM task"), task);
    ck_assert_int_eq(hf_kit_number(d, "SELECT repair_count FROM task"), 1);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(liveness(d, "a"), "waiting_for_signal");
    hf_kit_close(d);
}

/* The same by the watchdog, without anybody asking. */
HF_BOTH_ENGINES(watchdog_reclaims_expired_leases)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "patient", NULL, .id = "a"));
    hf_kit_sql(d, "UPDATE task SET status = 2, epoch = 1, owner = 'gone', attempt = 1, "
                  "lease_until_us = available_us + 60000000");
    forget(d);
    ck_assert_str_eq(liveness(d, "a"), "workflow_task_leased");
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(30)));
    ck_assert_str_eq(liveness(d, "a"), "workflow_task_leased");
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(40)));
    ck_assert_str_eq(liveness(d, "a"), "waiting_for_signal");
    hf_kit_close(d);
}

/* A deadline that passed while no engine was there, and no task open. */
HF_BOTH_ENGINES(b130_passed_deadline_needs_no_task)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "patient", NULL, .id = "a", .run_timeout = hf_seconds(30)));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), 0);
    hf_kit_skip(d, hf_minutes(2));
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(10)));
    ck_assert_str_eq(hf_test_status(d, "a"), "failed");
    ck_assert_str_eq(hf_kit_said(d, "a", "WorkflowTimedOut", 0, HF_KEY_TIMEOUT_KIND),
                     "run_timeout");
    hf_kit_close(d);
}

/* A row that claims an end which history lacks is left alone by the watchdog; a person's repair
   puts it back to what history says. */
HF_BOTH_ENGINES(b053_drifted_rows_end_nothing)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "conditional", "a", hf_json(d, "{'timeout': 60000}"));
    hf_kit_begin(d, "retrying", "b", NULL);
    hf_kit_sql(d, "UPDATE timer SET status = 2, closed_us = 1; "
                  "UPDATE activity SET status = 4, closed_us = 1");
    forget(d);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(10)));
    ck_assert_str_eq(liveness(d, "a"), "repair_needed");
    ck_assert_str_eq(liveness(d, "b"), "repair_needed");
    ck_assert_int_eq(hf_test_count(d, "a", "ConditionWaitTimedOut"), 0);
    ck_assert_str_eq(outcome(d, "a"), "repair_dispatched");
    ck_assert_str_eq(outcome(d, "b"), "repair_dispatched");
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(10)));
    ck_assert_str_eq(hf_kit_result(d, "a"), "{\"held\":\"no\"}");
    ck_assert_str_eq(hf_test_status(d, "b"), "completed");
    hf_kit_close(d);
}

/* Handing a task over fails: the first time it may be tried at once, then later and later, and the
   task says so. */
HF_BOTH_ENGINES(b180_dispatch_failure_backs_off)
{
    static const int64_t waits_s[] = {0, 3, 6, 12, 24, 48, 60, 60};
    hf_engine *d = hf_kit_open(kind, &app);
    live_run *run;
    int64_t now_us;

    hf_kit_ok(d, hf_start(d, "patient", NULL, .id = "a"));
    now_us = hf_clock_wall_us(d->clock);
    run = hf_core_live(d->core, hf_kit_number(d, "SELECT run FROM task"));
    for (int i = 0; i < 8; i++) {
        hf_fault_arm(HF_FAULT_ALLOC, 1, false);
        hf_turn_run(d->core, run);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_int_eq(hf_kit_number(d, "SELECT trouble FROM task"), HF_TASK_TROUBLE_DISPATCH);
        ck_assert_int_eq(hf_kit_number(d, "SELECT repair_count FROM task"), i + 1);
        ck_assert_int_eq(hf_kit_number(d, "SELECT repair_us FROM task"),
                         now_us + waits_s[i] * 1000000);
        ck_assert_str_eq(hf_str(state(d, "a"), "next_task_transport_state", ""),
                         i ? "repair_backoff" : "dispatch_failed");
        ck_assert_str_eq(liveness(d, "a"), "repair_needed");
    }
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(2)));
    ck_assert_str_eq(liveness(d, "a"), "waiting_for_signal");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), 0);
    hf_kit_close(d);
}

/* The claim fails: its state has a name of its own. */
HF_BOTH_ENGINES(b181_claim_failure_has_a_state)
{
    hf_engine *d = hf_kit_open(kind, &app);
    live_run *run;
    int64_t trouble = 0;

    hf_kit_ok(d, hf_start(d, "patient", NULL, .id = "a"));
    run = hf_core_live(d->core, hf_kit_number(d, "SELECT run FROM task"));
    for (int nth = 1; nth < 500 && trouble != HF_TASK_TROUBLE_CLAIM; nth++) {
        run->look = true;
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        hf_turn_run(d->core, run);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_msg(!run->dirty, "no allocation of the turn itself failed");
        trouble = hf_kit_number(d, "SELECT trouble FROM task");
    }
    ck_assert_str_eq(liveness(d, "a"), "workflow_task_claim_failed");
    ck_assert(hf_bool(state(d, "a"), "task_problem", false));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(2)));
    ck_assert_str_eq(liveness(d, "a"), "waiting_for_signal");
    hf_kit_close(d);
}

/* Tasks of all three kinds have the states of a claim that failed and of a lease, each under the
   name of its kind, whoever made the row; a list and the one who asks why agree on it. */
HF_BOTH_ENGINES(b181_every_kind_of_task_has_its_claim_states)
{
    static const struct {
        const char *kind;
        const char *failed;
    } kinds[] = {{"1", "workflow_task_claim_failed"},
                 {"2", "activity_task_claim_failed"},
                 {"3", "timer_task_claim_failed"}};
    hf_engine *d = hf_kit_open(kind, &app);
    char sql[512];

    hf_kit_begin(d, "patient", "a", NULL);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        (void)snprintf(
            sql, sizeof(sql),
            "INSERT INTO task (key, run, kind, status, queue, priority, available_us, "
            "epoch, attempt, repair_count, created_us, trouble) SELECT 9000000, key, %s, "
            "1, 'default', 0, 1, 0, 0, 1, 1, 2 FROM run",
            kinds[i].kind);
        hf_kit_sql(d, sql);
        ck_assert_str_eq(liveness(d, "a"), kinds[i].failed);
        ck_assert_str_eq(hf_str(state(d, "a"), "next_task_transport_state", ""), "claim_failed");
        hf_kit_sql(d, "UPDATE task SET trouble = 0");
        ck_assert_str_eq(liveness(d, "a"), "repair_needed");
        ck_assert_str_eq(hf_str(state(d, "a"), "next_task_transport_state", ""),
                         "dispatch_overdue");
        hf_kit_sql(d, "DELETE FROM task");
    }
    ck_assert_str_eq(liveness(d, "a"), "waiting_for_signal");
    hf_kit_close(d);
}

/* A task that a worker holds for a timer has a state of its own, whoever made the row. */
HF_BOTH_ENGINES(b181_timer_that_is_being_fired_has_a_state)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "sleeper", "a", NULL);
    ck_assert_str_eq(liveness(d, "a"), "timer_scheduled");
    hf_kit_sql(d, "INSERT INTO task (key, run, kind, status, queue, priority, available_us, epoch, "
                  "attempt, repair_count, created_us, owner, lease_until_us) SELECT 9000000, key, "
                  "3, 2, 'default', 0, 1, 1, 1, 0, 1, 'w', 9000000000000000 FROM run");
    ck_assert_str_eq(liveness(d, "a"), "timer_task_leased");
    ck_assert_str_eq(hf_str(state(d, "a"), "wait_kind", ""), "timer");
    hf_kit_sql(d, "DELETE FROM task");
    ck_assert_str_eq(liveness(d, "a"), "timer_scheduled");
    hf_kit_close(d);
}

/* A row of open work that no event speaks of may be somebody's work, and nothing says what comes of
   it: the run is shown as blocked and no repair touches it. It goes on as before when the row is
   gone. */
HF_BOTH_ENGINES(b119_rows_without_history_block_repair)
{
    static const char *const rows[] = {
        "INSERT INTO activity (key, run, step, type, status, attempt, scheduled_us) SELECT "
        "9000000, "
        "key, 9, 'ghost', 1, 0, 1 FROM run",
        "INSERT INTO timer (key, run, step, kind, status, due_us, created_us) SELECT 9000000, key, "
        "9, 0, 1, 9000000000000000, 1 FROM run",
        "INSERT INTO activity (key, run, step, type, status, attempt, scheduled_us, closed_us) "
        "SELECT 9000000, key, 9, 'ghost', 4, 1, 1, 2 FROM run"};
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;

    hf_kit_begin(d, "patient", "a", NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        hf_kit_sql(d, rows[i]);
        ck_assert_str_eq(liveness(d, "a"), "workflow_replay_blocked");
        ck_assert_str_eq(hf_str(state(d, "a"), "repair_blocked_reason", ""), "unsupported_history");
        ck_assert_str_eq(hf_str(state(d, "a"), "repair_blocked.label", ""), "Replay Blocked");
        ck_assert(hf_bool(state(d, "a"), "repair_attention", false));
        ck_assert_str_eq(hf_str(state(d, "a"), "wait_kind", "none"), "none");
        hf_kit_ok(d, hf_why(d, "a", hf_mem_of_engine(d), &out));
        ck_assert_str_eq(hf_str(out, "text", ""), "Blocked at step 9: a row is there that no event "
                                                  "of the history speaks of.");
        ck_assert_str_eq(hf_str(out, "next.0.action", ""), "cancel");
        ck_assert_str_eq(outcome(d, "a"), "repair_not_needed");
        ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), 0);
        hf_kit_sql(d, "DELETE FROM activity");
        hf_kit_sql(d, "DELETE FROM timer");
        ck_assert_str_eq(liveness(d, "a"), "waiting_for_signal");
    }
    hf_kit_ok(d, hf_signal(d, "a", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    hf_kit_close(d);
}

/* Starts runs from..to-1. */
static void start_many(hf_engine *d, int from, int to, const char *queue)
{
    char id[16];

    for (int i = from; i < to; i++) {
        (void)snprintf(id, sizeof(id), "r%d", i);
        hf_kit_ok(d, hf_start(d, "patient", NULL, .id = id, .queue = queue));
    }
    while (hf_folder_step(d->folder)) /* summaries know the marker of a run */
        ;
}

/* All tasks are another's that is gone: the first sweep helps as many as one may, those of the
   small scope among them, the next sweeps the rest. `small` counts the tasks of the small scope. */
static void sweep_fairly(hf_engine *d, int64_t all, const char *small)
{
    hf_kit_sql(d, "UPDATE task SET status = 2, epoch = 1, owner = 'gone', attempt = 1, "
                  "lease_until_us = available_us + 1000000");
    forget(d);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), all);
    ck_assert_int_eq(hf_kit_number(d, small), 3);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(4)));
    ck_assert_int_eq(hf_kit_number(d, small), 0);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), all - 25);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(10)));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), 0);
}

/* One crowded queue does not take all places of a sweep. */
HF_BOTH_ENGINES(b182_sweeps_are_fair_between_queues)
{
    hf_engine *d = hf_kit_open(kind, &app);

    start_many(d, 0, 40, "cold");
    start_many(d, 40, 43, "hot");
    sweep_fairly(d, 43, "SELECT count(*) FROM task WHERE queue = 'hot'");
    hf_kit_close(d);
}

/* Tasks that wait for another program do not stand before one that can be helped, however many
   there are; and when nothing can be helped the watchdog rests. */
HF_BOTH_ENGINES(b182_strangers_do_not_hold_up_a_sweep)
{
    hf_engine *d = hf_kit_open(kind, &app);
    char id[16];

    for (int i = 0; i < 2100 / hf_campaign_stride(70, 70); i++) { /* a long run fills two pages */
        (void)snprintf(id, sizeof(id), "s%d", i);
        hf_kit_ok(d, hf_start(d, "stranger", NULL, .id = id));
    }
    hf_kit_ok(d, hf_test_advance(d, 1));
    hf_kit_ok(d, hf_start(d, "patient", NULL, .id = "a"));
    hf_kit_sql(d,
               "UPDATE task SET status = 2, epoch = 1, owner = 'gone', attempt = 1, "
               "lease_until_us = available_us + 1000000 WHERE key = (SELECT max(key) FROM task)");
    forget(d);
    ck_assert_str_eq(liveness(d, "a"), "workflow_task_leased");
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(30)));
    ck_assert_str_eq(liveness(d, "a"), "waiting_for_signal");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task WHERE repair_count > 0"), 0);
    hf_kit_close(d);
}

static const hf_app build_a = {
    .name = "test", .build_id = "a", .workflows = workflows, .activities = activities};
static const hf_app build_b = {.name = "test",
                               .build_id = "b",
                               .supports = "b",
                               .workflows = workflows,
                               .activities = activities};
static const hf_app build_c = {.name = "test",
                               .build_id = "c",
                               .supports = "a, b",
                               .workflows = workflows,
                               .activities = activities};

/* Nor does one crowded marker of the queue. */
HF_BOTH_ENGINES(b182_sweeps_are_fair_between_markers)
{
    hf_engine *d = hf_kit_open(kind, &build_a);

    start_many(d, 0, 40, "default");
    d = hf_kit_reopen(d, &build_c);
    start_many(d, 40, 43, "default");
    sweep_fairly(d, 43,
                 "SELECT count(*) FROM task t JOIN run_summary s ON s.run = t.run "
                 "WHERE s.compatibility = 'c'");
    hf_kit_close(d);
}

/* A build that does not support the run's marker leaves it alone; the run waits visibly and is not
   called broken. */
HF_BOTH_ENGINES(b183_incompatible_build_does_not_take_the_run)
{
    hf_engine *d = hf_kit_open(kind, &build_a);

    hf_kit_ok(d, hf_start(d, "patient", NULL, .id = "a"));
    d = hf_kit_reopen(d, &build_b);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(2)));
    ck_assert_int_eq(hf_test_count(d, "a", "SignalWaitOpened"), 0);
    ck_assert_str_eq(liveness(d, "a"), "workflow_task_waiting_for_compatible_worker");
    ck_assert_str_eq(hf_str(state(d, "a"), "repair_blocked_reason", ""),
                     "waiting_for_compatible_worker");
    ck_assert_str_eq(hf_str(state(d, "a"), "repair_blocked.label", ""), "Compat Blocked");
    ck_assert(hf_bool(state(d, "a"), "repair_attention", false));
    ck_assert_str_eq(hf_str(state(d, "a"), "compatibility", ""), "a");
    ck_assert_str_eq(outcome(d, "a"), "repair_not_needed");
    d = hf_kit_reopen(d, &build_c);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(liveness(d, "a"), "waiting_for_signal");
    hf_kit_close(d);
}

/* What is due and is no turn waits visibly for a build that supports the run as well: an attempt
   whose backoff is over, and a timer. Before it is due nobody is missed. */
HF_BOTH_ENGINES(b183_attempts_and_timers_wait_for_a_compatible_worker)
{
    hf_engine *d = hf_kit_open(kind, &build_a);

    hf_kit_begin(d, "retrying", "r", NULL);
    hf_kit_begin(d, "sleeper", "s", NULL);
    ck_assert_str_eq(liveness(d, "r"), "activity_task_ready");
    ck_assert_str_eq(liveness(d, "s"), "timer_scheduled");
    d = hf_kit_reopen(d, &build_b);
    hf_kit_ok(d, hf_test_advance(d, 0));
    ck_assert_str_eq(liveness(d, "r"), "activity_task_ready");
    ck_assert_str_eq(liveness(d, "s"), "timer_scheduled");
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(12)));
    ck_assert_str_eq(liveness(d, "r"), "activity_task_waiting_for_compatible_worker");
    ck_assert_str_eq(liveness(d, "s"), "timer_task_waiting_for_compatible_worker");
    ck_assert_str_eq(hf_str(state(d, "s"), "repair_blocked_reason", ""),
                     "waiting_for_compatible_worker");
    ck_assert_str_eq(outcome(d, "r"), "repair_not_needed");
    ck_assert_str_eq(outcome(d, "s"), "repair_not_needed");
    ck_assert_int_eq(hf_test_count(d, "r", "ActivityStarted"), 1);
    ck_assert_int_eq(hf_test_count(d, "s", "TimerFired"), 0);
    d = hf_kit_reopen(d, &build_c);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(5)));
    ck_assert_str_eq(liveness(d, "r"), "closed");
    ck_assert_str_eq(liveness(d, "s"), "closed");
    hf_kit_close(d);
}

/* A worker counts while its heartbeat does, and only in its own fleet. */
HF_BOTH_ENGINES(b184_heartbeats_expire_and_fleets_are_apart)
{
    static const hf_app fleet_b = {.name = "test",
                                   .build_id = "b",
                                   .supports = "b",
                                   .fleet = "blue",
                                   .workflows = workflows,
                                   .activities = activities};
    hf_worker_row worker = {.name = HF_SLICE("w1"),
                            .queue = HF_SLICE("default"),
                            .scope = HF_SLICE("green"),
                            .host = HF_SLICE("somewhere"),
                            .process = 7,
                            .supported = HF_SLICE("a")};
    hf_engine *d = hf_kit_open(kind, &build_a);
    hf_err err = {0};

    hf_kit_ok(d, hf_start(d, "patient", NULL, .id = "a"));
    d = hf_kit_reopen(d, &fleet_b);
    hf_kit_ok(d, hf_test_drain(d));
    hf_test_ok(hf_engine_worker_beat(d, &worker, &err), &err, "a heartbeat");
    ck_assert_str_eq(liveness(d, "a"), "workflow_task_waiting_for_compatible_worker");
    worker.scope = HF_SLICE("blue");
    hf_test_ok(hf_engine_worker_beat(d, &worker, &err), &err, "a heartbeat");
    ck_assert_str_eq(liveness(d, "a"), "workflow_task_ready");
    hf_kit_skip(d, hf_seconds(29));
    hf_test_ok(hf_engine_worker_beat(d, &worker, &err), &err, "a heartbeat");
    hf_kit_skip(d, hf_seconds(29));
    ck_assert_str_eq(liveness(d, "a"), "repair_needed"); /* there is one, and it does not take it */
    hf_kit_skip(d, hf_seconds(2));
    ck_assert_str_eq(liveness(d, "a"), "workflow_task_waiting_for_compatible_worker");
    hf_kit_close(d);
}

/* Each kind of row, lost at each stage of each life, with the watchdog alone to help. */
HF_BOTH_ENGINES(watchdog_restores_every_lost_row)
{
    static const char *const losses[] = {
        "DELETE FROM task", "DELETE FROM timer", "DELETE FROM activity", "DELETE FROM inbox",
        "DELETE FROM task; DELETE FROM timer; DELETE FROM activity; DELETE FROM inbox"};
    static const char *const types[] = {"order", "retrying", "sleeper", "parent", "crowd"};

    for (size_t loss = 0; loss < sizeof(losses) / sizeof(losses[0]); loss++) {
        hf_engine *d = hf_kit_open(kind, &app);

        for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
            hf_kit_ok(d, hf_start(d, types[i], hf_json(d, "{'timeout': 900000}"), .id = types[i]));
        for (int stage = 0; stage < 6; stage++) {
            /* activities end only where an engine is there to hear of it */
            hf_kit_sql(d, losses[loss]);
            hf_test_crash(d);
            hf_kit_ok(d, hf_test_advance(d, hf_seconds(20)));
        }
        hf_kit_ok(d, hf_test_advance(d, hf_minutes(40)));
        for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
            ck_assert_msg(strcmp(hf_test_status(d, types[i]), "completed") == 0,
                          "%s after %s: %s (%s)", types[i], losses[loss],
                          hf_test_status(d, types[i]), liveness(d, types[i]));
        hf_kit_close(d);
    }
}

/* Rows that say something else than history, at each stage: a person's repair, or what reads them,
   puts them right, and every life ends as it should. */
HF_BOTH_ENGINES(repair_puts_damaged_rows_right)
{
    static const char *const harms[] = {
        "UPDATE task SET status = 4", /* completed */
        "UPDATE task SET available_us = available_us + 1000000000000",
        "UPDATE timer SET status = 3, closed_us = 1",
        "UPDATE activity SET status = 4, closed_us = 1",
        "DELETE FROM run_summary",
        "UPDATE run_summary SET status = 1",
        "DELETE FROM run_projection",
        "UPDATE run_projection SET version = 99"};
    static const char *const types[] = {"order", "retrying", "sleeper", "parent"};

    for (size_t harm = 0; harm < sizeof(harms) / sizeof(harms[0]); harm++) {
        hf_engine *d = hf_kit_open(kind, &app);

        for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
            hf_kit_ok(d, hf_start(d, types[i], hf_json(d, "{'timeout': 900000}"), .id = types[i]));
        for (int stage = 0; stage < 4; stage++) {
            hf_kit_sql(d, harms[harm]);
            hf_test_crash(d);
            for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
                (void)repair(d, types[i]);
            if (stage) /* the child is there by now */
                (void)repair(d, "kid");
            hf_kit_ok(d, hf_test_advance(d, hf_seconds(20)));
        }
        hf_kit_ok(d, hf_test_advance(d, hf_minutes(40)));
        for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
            ck_assert_msg(strcmp(hf_test_status(d, types[i]), "completed") == 0,
                          "%s after %s: %s (%s)", types[i], harms[harm],
                          hf_test_status(d, types[i]), liveness(d, types[i]));
        hf_kit_close(d);
    }
}

/* Whichever allocation fails, a repair is made whole or not at all. */
START_TEST(repair_without_memory)
{
    const hf_request request = {.type = HF_COMMAND_TYPE_REPAIR, .id = HF_SLICE("a")};
    hf_engine *d = hf_kit_open(HF_ENGINE_SQLITE, &app);
    hf_reply reply = {0};
    hf_err err = {0};
    hf_status st = HF_NOMEM;

    hf_kit_begin(d, "conditional", "a", hf_json(d, "{'timeout': 600000}"));
    hf_kit_sql(d, "DELETE FROM timer");
    for (int64_t nth = 1; st == HF_NOMEM; nth++) {
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_engine_command(d, &request, hf_mem_of_engine(d), &reply, &err);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_int_lt(nth, 5000);
    }
    hf_test_ok(st, &err, "repair");
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(11)));
    ck_assert_str_eq(hf_kit_result(d, "a"), "{\"held\":\"no\"}");
    ck_assert_int_eq(hf_test_count(d, "a", "RepairRequested"), 1);
    hf_kit_close(d);
}
END_TEST

HF_PG_SUITE_MAIN(
    "engine/repair", HF_BOTH(b038_lost_signal_task_is_restored),
    HF_BOTH(b039_healthy_wait_needs_no_repair), HF_BOTH(b055_lost_timeout_is_restored),
    HF_BOTH(b058_blocked_run_resumes_after_repair), HF_BOTH(b075_lost_update_task_is_restored),
    HF_BOTH(b121_lost_activity_row_is_restored), HF_BOTH(b122_running_activity_is_not_repeated),
    {lost_attempt_is_restored_when_its_process_is_gone, 0},
    HF_BOTH(b153_lost_child_resolution_is_restored), HF_BOTH(b179_expired_lease_is_given_out_again),
    HF_BOTH(watchdog_reclaims_expired_leases), HF_BOTH(b130_passed_deadline_needs_no_task),
    HF_BOTH(b053_drifted_rows_end_nothing), {repair_without_memory, 0},
    HF_BOTH(b180_dispatch_failure_backs_off), HF_BOTH(b181_claim_failure_has_a_state),
    HF_BOTH(b182_sweeps_are_fair_between_queues), HF_BOTH(b182_sweeps_are_fair_between_markers),
    HF_BOTH(b182_strangers_do_not_hold_up_a_sweep),
    HF_BOTH(b183_incompatible_build_does_not_take_the_run),
    HF_BOTH(b183_attempts_and_timers_wait_for_a_compatible_worker),
    HF_BOTH(b181_every_kind_of_task_has_its_claim_states),
    HF_BOTH(b181_timer_that_is_being_fired_has_a_state),
    HF_BOTH(b119_rows_without_history_block_repair),
    HF_BOTH(b184_heartbeats_expire_and_fleets_are_apart),
    HF_BOTH_SLOW(watchdog_restores_every_lost_row, 300),
    HF_BOTH_SLOW(repair_puts_damaged_rows_right, 300))
