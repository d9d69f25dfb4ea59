/* test_task_fault.c: workflow tasks that workers could not do. What they report is on the record
   when they are told so, is counted and backed off across restarts, and is shown; what says that
   code and history disagree blocks the run as code of this process does. */
#include <stdio.h>
#include <string.h>

#include "engine/task_fault.h"
#include "holdfast/view.h"
#include "holdfast/worker.h"
#include "lib/kit.h"

static const hf_activity_def activities[] = {{0}};
static const hf_app app = {.name = "test", .activities = activities};

static void workers_begin(hf_engine *d)
{
    hf_kit_ok(d, hf_workers_allow(d));
    hf_kit_ok(d, hf_workers_beat(d, "w1", "default", NULL));
    hf_kit_ok(d, hf_workers_keep(d, "w1", hf_json(d, "{'supported_workflow_types': ['t', 'u']}")));
}

static hf_engine *restarted(hf_engine *d)
{
    d = hf_kit_reopen(d, NULL);
    workers_begin(d);
    hf_kit_ok(d, hf_test_drain(d));
    return d;
}

static hf_task_claim claim_of(hf_value task)
{
    return (hf_task_claim){.size_ = sizeof(hf_task_claim),
                           .task_id = hf_str(task, "task_id", ""),
                           .worker = hf_str(task, "lease_owner", ""),
                           .attempt = hf_int(task, "workflow_task_attempt", 0)};
}

typedef struct got {
    bool called;
    char json[4096];
} got;

static bool take(void *arg, hf_value task)
{
    got *g = arg;
    hf_mem *mem = hf_mem_new();

    g->called = task != NULL;
    (void)snprintf(g->json, sizeof(g->json), "%s", task ? hf_text(mem, task) : "");
    hf_mem_free(mem);
    return true;
}

/* The task that is there now; NULL: none is. */
static hf_value task_take(hf_engine *d)
{
    got g = {0};
    hf_poll *poll;

    hf_kit_ok(d, hf_test_drain(d));
    poll = hf_kit_poll(d, HF_TASK_WORKFLOW, "w1", take, &g);
    hf_kit_ok(d, hf_test_advance(d, 0));
    (void)hf_poll_end(poll);
    return g.called ? hf_parse_(hf_mem_of_engine(d), g.json, strlen(g.json)) : NULL;
}

/* A task is there, and the worker cannot do it. */
static void task_fail(hf_engine *d, const char *type, const char *message)
{
    hf_value task = task_take(d);
    hf_task_claim claim;

    ck_assert_ptr_nonnull(task);
    claim = claim_of(task);
    hf_kit_ok(d, hf_task_fail(d, &claim, hf_json(d, "{'type': %s, 'message': %s}", type, message)));
}

static void task_answer(hf_engine *d, hf_value commands)
{
    hf_value task = task_take(d);
    hf_value errors = NULL;
    hf_task_claim claim;

    ck_assert_ptr_nonnull(task);
    claim = claim_of(task);
    hf_kit_ok(d, hf_task_answer(d, &claim, commands, hf_mem_of_engine(d), &errors));
    hf_kit_ok(d, hf_test_drain(d));
}

static hf_value why_of(hf_engine *d, const char *id)
{
    hf_value why = NULL;

    hf_kit_ok(d, hf_why(d, id, hf_mem_of_engine(d), &why));
    return why;
}

static hf_value described(hf_engine *d, const char *id)
{
    hf_value page = NULL;

    hf_kit_ok(d, hf_describe(d, hf_json(d, "{'id': %s}", id), hf_mem_of_engine(d), &page));
    return page;
}

/* A list says of the run what `why` does. */
static void list_agrees(hf_engine *d)
{
    hf_value why = why_of(d, "a");
    hf_value page = NULL;

    hf_kit_ok(d, hf_list_runs(d, hf_json(d, "{'filters': {'task_problem': true}}"),
                              hf_mem_of_engine(d), &page));
    ck_assert_uint_eq(hf_len(hf_get(page, "items")), 1);
    ck_assert_str_eq(hf_str(page, "items.0.liveness_state", ""),
                     hf_str(why, "liveness.liveness_state", ""));
}

static void says(hf_engine *d, int total, int count, const char *message)
{
    hf_value why = why_of(d, "a");
    hf_value page = described(d, "a");
    char text[64];

    ck_assert_str_eq(hf_str(why, "code", ""), "workflow_task_failing");
    ck_assert_str_eq(hf_str(why, "severity", ""), "attention");
    ck_assert_str_eq(hf_str(why, "subject.name", ""), "ValueError");
    (void)snprintf(text, sizeof(text), "next task %d times", total);
    ck_assert_msg(strstr(hf_str(why, "text", ""), text), "%s", hf_show(d, why));
    ck_assert_ptr_nonnull(strstr(hf_str(why, "text", ""), message));
    ck_assert(hf_bool(why, "liveness.task_problem", false));
    ck_assert_str_eq(hf_str(page, "tasks.0.last_error", ""), message);
    ck_assert_str_eq(hf_str(page, "tasks.0.payload.failure.worker", ""), "w1");
    ck_assert_int_eq(hf_int(page, "tasks.0.payload.failure.total", 0), total);
    ck_assert_int_eq(hf_int(page, "tasks.0.payload.failure.count", 0), count);
    ck_assert_int_eq(hf_kit_rows(d, "task"), 1);
    list_agrees(d);
}

/* Reported failures survive a restart, are counted, come back later each time, and leave no trace
   in history; a worker that can do the task clears them. */
HF_BOTH_ENGINES(n13_failures_are_kept_and_counted)
{
    hf_engine *d = hf_kit_open(kind, &app);
    int64_t events;
    hf_value out = NULL;

    workers_begin(d);
    hf_kit_ok(d, hf_start(d, "t", NULL, .id = "a"));
    task_fail(d, "ValueError", "cannot decode 1");
    events = hf_kit_number(d, "SELECT last_seq FROM run");
    says(d, 1, 1, "cannot decode 1");
    ck_assert_str_eq(hf_str(described(d, "a"), "tasks.0.transport_state", ""), "repair_backoff");
    ck_assert_ptr_null(task_take(d));
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(2)));
    task_fail(d, "ValueError", "cannot decode 1");
    d = restarted(d);
    says(d, 2, 2, "cannot decode 1");
    ck_assert_ptr_null(task_take(d)); /* the pause goes on behind the restart */
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(2)));
    says(d, 2, 2, "cannot decode 1");
    task_fail(d, "ValueError", "cannot decode 22");
    says(d, 3, 1, "cannot decode 22");
    ck_assert_ptr_null(task_take(d));
    hf_kit_ok(d, hf_attention(d, NULL, hf_mem_of_engine(d), &out));
    ck_assert_str_eq(hf_str(out, "groups.0.code", ""), "workflow_task_failing");
    hf_kit_ok(d, hf_failure_groups(d, NULL, hf_mem_of_engine(d), &out));
    ck_assert_str_eq(hf_str(out, "0.failure_type", ""), "ValueError");
    ck_assert_int_eq(hf_int(out, "0.count", 0), 3);
    ck_assert_int_eq(hf_int(out, "0.runs", 0), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT last_seq FROM run"), events);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(30))); /* nobody asks for it */
    hf_kit_ok(d, hf_workers_beat(d, "w1", "default", NULL));
    says(d, 3, 1, "cannot decode 22");
    task_answer(d, hf_json(d, "[{'type': 'start_timer', 'delay_seconds': 60}]"));
    ck_assert_str_eq(hf_str(why_of(d, "a"), "code", ""), "waiting_for_timer");
    hf_kit_ok(d, hf_failure_groups(d, NULL, hf_mem_of_engine(d), &out));
    ck_assert_uint_eq(hf_len(out), 0);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(60)));
    hf_kit_ok(d, hf_workers_beat(d, "w1", "default", NULL));
    task_fail(d, "ValueError", "again");
    says(d, 1, 1, "again");
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(2)));
    task_answer(d, hf_json(d, "[{'type': 'complete_workflow'}]"));
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    ck_assert_int_eq(hf_kit_rows(d, "task"), 0);
    hf_kit_close(d);
}

/* News that come while the task waits to be offered again do not hide what is wrong, and a task
   that follows at once does not carry the failures of the one before. */
HF_BOTH_ENGINES(n13_failures_and_news)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value task;
    hf_value errors = NULL;
    hf_task_claim claim;

    workers_begin(d);
    hf_kit_ok(d, hf_workers_type(d, "t", hf_json(d, "{'signals': ['go']}"), NULL));
    hf_kit_ok(d, hf_start(d, "t", NULL, .id = "a"));
    task_fail(d, "ValueError", "broken");
    hf_kit_ok(d, hf_signal(d, "a", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    says(d, 1, 1, "broken");
    ck_assert_ptr_null(task_take(d));
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(2)));
    task = task_take(d);
    ck_assert_ptr_nonnull(task);
    hf_kit_ok(d, hf_signal(d, "a", "go", NULL)); /* the worker has not seen it */
    claim = claim_of(task);
    hf_kit_ok(d, hf_task_answer(d, &claim,
                                hf_json(d, "[{'type': 'open_signal_wait', 'signal_name': 'x'}]"),
                                hf_mem_of_engine(d), &errors));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_kit_rows(d, "task"), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT trouble FROM task"), 0);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task WHERE body IS NOT NULL"), 0);
    hf_kit_close(d);
}

/* A run whose worker says that code and history disagree: blocked, with step and shapes; nobody is
   offered it until it is repaired; a worker that fits then goes on. */
HF_BOTH_ENGINES(n13_mismatches_block)
{
    static const char *const words[][3] = {
        {"NonDeterministicReplayError",
         "replay failed: workflow history at workflow sequence 2 recorded ['TimerScheduled', "
         "'TimerFired'], but the current workflow yielded activity:pkg.ship. Keep yielded workflow "
         "steps stable across deployments or run this workflow on a compatible build.",
         "replay_blocked_shape"},
        {"WorkflowException",
         "Workflow history at workflow sequence 2 recorded [TimerScheduled, TimerFired], but the "
         "current workflow yielded activity:pkg.ship. Keep yielded workflow steps stable.",
         "replay_blocked_shape"},
        {"RustWorkflowTaskFailure",
         "non-deterministic workflow replay (command_mismatch) at sequence Some(2): history has a "
         "timer",
         "replay_blocked_shape"},
        {"WorkflowException",
         "Condition wait at workflow sequence 2 was recorded with condition key [a], but the "
         "current "
         "workflow yielded [b]. Keep condition keys stable.",
         "replay_blocked_key"}};

    for (size_t i = 0; i < 4; i++) {
        hf_engine *d = hf_kit_open(kind, &app);
        hf_value task;

        workers_begin(d);
        hf_kit_ok(d, hf_start(d, "t", NULL, .id = "a"));
        task_answer(d, hf_json(d, "[{'type': 'start_timer', 'delay_seconds': 1}]"));
        hf_kit_ok(d, hf_test_advance(d, hf_seconds(1)));
        task_fail(d, words[i][0], words[i][1]);
        d = restarted(d);
        ck_assert_str_eq(hf_str(why_of(d, "a"), "code", ""), words[i][2]);
        ck_assert_str_eq(hf_str(why_of(d, "a"), "liveness.liveness_state", ""),
                         "workflow_replay_blocked");
        ck_assert(hf_bool(why_of(d, "a"), "liveness.can_repair", false));
        ck_assert_int_eq(hf_int(why_of(d, "a"), "subject.step", 0), 2);
        task = hf_get(described(d, "a"), "tasks.0");
        ck_assert(hf_bool(task, "payload.replay_blocked", false));
        ck_assert_int_eq(hf_int(task, "payload.replay_blocked_workflow_sequence", 0), 2);
        if (i < 2) {
            ck_assert_str_eq(hf_str(task, "payload.replay_blocked_recorded_event_types", ""),
                             "TimerScheduled, TimerFired");
            ck_assert_str_eq(hf_str(task, "payload.replay_blocked_expected_history_shape", ""),
                             "activity:pkg.ship");
        }
        if (i == 3) {
            ck_assert_str_eq(hf_str(task, "payload.replay_blocked_recorded_condition_key", ""),
                             "a");
            ck_assert_str_eq(hf_str(task, "payload.replay_blocked_current_condition_key", ""), "b");
        }
        hf_kit_ok(d, hf_test_advance(d, hf_seconds(300)));
        ck_assert_ptr_null(task_take(d));
        ck_assert(hf_kit_ask(d, "repair", hf_json(d, "{'workflow_id': 'a'}")).accepted);
        task_answer(d, hf_json(d, "[{'type': 'complete_workflow'}]"));
        ck_assert_str_eq(hf_test_status(d, "a"), "completed");
        ck_assert_int_eq(hf_kit_number(d, "SELECT blocked FROM run"), 0);
        hf_kit_close(d);
    }
}

/* What is no failure leaves no trace, and what is none of these forms is no mismatch. */
HF_BOTH_ENGINES(n13_other_words)
{
    static const char *const plain[] = {
        "workflow history at workflow sequence x", "but the current workflow yielded",
        "Condition wait at workflow sequence 3", "non-deterministic workflow", ""};
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_task_fault fault;
    hf_task_claim claim;
    hf_err err;

    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        ck_assert(!hf_task_fault_read(mem, hf_json(d, "{'message': %s}", plain[i]), &fault, &err));
        ck_assert(!fault.blocked);
    }
    ck_assert(!hf_task_fault_read(mem, NULL, &fault, &err) && !fault.blocked);
    ck_assert(fault.message.len && fault.type.len);
    ck_assert(!hf_task_fault_read(mem, hf_json(d, "[1]"), &fault, &err) && !fault.blocked);
    hf_mem_free(mem);
    workers_begin(d);
    hf_kit_ok(d, hf_workers_type(d, "t", hf_json(d, "{'signals': ['go']}"), NULL));
    hf_kit_ok(d, hf_start(d, "t", NULL, .id = "a"));
    claim = claim_of(task_take(d));
    ck_assert_int_eq(hf_task_idle(d, &claim), HF_INVALID); /* nothing would ever wake the run */
    hf_kit_ok(d, hf_task_fail(d, &claim, NULL));
    hf_kit_ok(d, hf_test_advance(d, 2000));
    task_answer(d, hf_json(d, "[{'type': 'schedule_activity', 'activity_type': 'a'}]"));
    hf_kit_ok(d, hf_signal(d, "a", "go", NULL));
    claim = claim_of(task_take(d));
    hf_kit_ok(d, hf_task_idle(d, &claim)); /* it has nothing to do, and says so */
    ck_assert_str_ne(hf_str(why_of(d, "a"), "code", ""), "workflow_task_failing");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task WHERE trouble <> 0"), 0);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/task_fault", HF_BOTH(n13_failures_are_kept_and_counted),
                 HF_BOTH(n13_failures_and_news), HF_BOTH(n13_mismatches_block),
                 HF_BOTH(n13_other_words))
