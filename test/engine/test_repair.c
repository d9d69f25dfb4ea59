/* Repair: a row of open work that is lost or damaged comes back from history, once, and the run
   ends as if nothing had happened; what is healthy, or may be running, is left alone. What comes
   back without anybody asking is in test_watchdog.c. Every store is verified when its case ends. */
#include <string.h>

#include "base/fault.h"
#include "engine/command.h"
#include "engine/repair_app.h"

static const hf_workflow_def other_workflows[] = {
    {.type = "patient", .run = sleeper, .signals = go}, {0}};
static const hf_app other = {
    .name = "test", .workflows = other_workflows, .activities = activities};

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
    HF_BOTH(b153_lost_child_resolution_is_restored), HF_BOTH(b179_expired_lease_is_given_out_again),
    HF_BOTH(b053_drifted_rows_end_nothing), HF_BOTH(b119_rows_without_history_block_repair),
    HF_BOTH_SLOW(repair_puts_damaged_rows_right, 300), {repair_without_memory, 0})
