/* test_worker.c: workers in other processes, as the engine sees them: tasks asked for, answered,
   returned, lost and reported too late. The worker here is the test itself, through the calls that
   a server makes. */
#include <stdio.h>
#include <string.h>

#include "engine/backlog.h"
#include "engine/core_impl.h"
#include "engine/engine_impl.h"
#include "holdfast/view.h"
#include "holdfast/worker.h"
#include "lib/kit.h"

/* The program knows one activity; every workflow and every other activity is somebody else's. */
static hf_value local_double(hf_act *a, hf_value in)
{
    return hf_json(a, "%lld", 2 * (long long)hf_int(in, "", 0));
}

static hf_value calls_far(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "far", in, .max_attempts = 2);
}

static hf_value calls_two(hf_ctx *w, hf_value in)
{
    return hf_all(w, HF_ACTIVITY("far", in), HF_ACTIVITY("far", in));
}

static const hf_activity_def activities[] = {{"double", .run = local_double}, {0}};
static const hf_workflow_def workflows[] = {
    {"calls_far", .run = calls_far}, {"calls_two", .run = calls_two}, {0}};
static const hf_app app = {.name = "test", .activities = activities, .workflows = workflows};

/* JSON, with apostrophes for quotation marks. */
static hf_value json_of(hf_engine *d, const char *text)
{
    char copy[4096];
    hf_value value;

    (void)snprintf(copy, sizeof(copy), "%s", text);
    for (char *at = copy; *at; at++)
        if (*at == '\'')
            *at = '"';
    value = hf_parse_(hf_mem_of_engine(d), copy, strlen(copy));
    ck_assert_ptr_nonnull(value);
    return value;
}

/* What a poll brought. */
typedef struct got {
    bool called;
    bool gone; /* nobody is there any more */
    char json[4096];
    hf_poll *poll;
} got;

static bool take(void *arg, hf_value task)
{
    got *g = arg;
    hf_mem *mem = hf_mem_new();

    g->called = true;
    (void)snprintf(g->json, sizeof(g->json), "%s", task ? hf_text(mem, task) : "");
    hf_mem_free(mem);
    return !g->gone;
}

static hf_engine *open_with_workers(hf_engine_kind kind)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_workers_allow(d));
    return d;
}

static void poll_ask(hf_engine *d, hf_task_kind kind, const char *worker, got *g)
{
    *g = (got){.gone = g->gone};
    g->poll = hf_kit_poll(d, kind, worker, take, g);
}

static void poll_begin(hf_engine *d, hf_task_kind kind, const char *worker, got *g)
{
    poll_ask(d, kind, worker, g);
    hf_kit_ok(d, hf_test_advance(d, 0));
}

/* The task that is there now. */
static hf_value task_get(hf_engine *d, hf_task_kind kind, const char *worker)
{
    got g = {0};
    hf_value task;

    poll_begin(d, kind, worker, &g);
    ck_assert_msg(g.called, "there is no task");
    ck_assert(!hf_poll_end(g.poll));
    task = json_of(d, g.json);
    return task;
}

static void no_task(hf_engine *d, hf_task_kind kind)
{
    got g = {0};

    poll_begin(d, kind, "idle", &g);
    ck_assert_msg(!g.called, "%s", g.json);
    ck_assert(hf_poll_end(g.poll));
}

static hf_task_claim claim_of(hf_value task)
{
    const char *attempt =
        strcmp(hf_str(task, "kind", ""), "workflow") ? "attempt_number" : "workflow_task_attempt";

    return (hf_task_claim){.size_ = sizeof(hf_task_claim),
                           .task_id = hf_str(task, "task_id", ""),
                           .worker = hf_str(task, "lease_owner", ""),
                           .attempt = hf_int(task, attempt, 0)};
}

static void answer(hf_engine *d, hf_value task, const char *commands)
{
    hf_task_claim claim = claim_of(task);
    hf_value errors = NULL;
    hf_status st = hf_task_answer(d, &claim, json_of(d, commands), hf_mem_of_engine(d), &errors);

    ck_assert_msg(st == HF_OK, "%s %s", hf_errmsg(d), errors ? hf_show(d, errors) : "");
    hf_kit_ok(d, hf_test_drain(d));
}

/* A workflow whose code is elsewhere: activity here, activity there, timer, signal, result. */
HF_BOTH_ENGINES(a_far_workflow_runs_to_its_end)
{
    hf_engine *d = open_with_workers(kind);
    hf_task_claim claim;
    hf_value task;
    hf_value out = NULL;

    hf_kit_ok(d, hf_start(d, "python.order", hf_json(d, "[7]"), .id = "o"));
    task = task_get(d, HF_TASK_WORKFLOW, "w1");
    ck_assert_str_eq(hf_str(task, "workflow_id", ""), "o");
    ck_assert_str_eq(hf_str(task, "workflow_type", ""), "python.order");
    no_task(d, HF_TASK_WORKFLOW);
    answer(d, task,
           "[{'type': 'schedule_activity', 'activity_type': 'double', 'arguments': 21},"
           "{'type': 'schedule_activity', 'activity_type': 'far', 'arguments': [1]}]");
    ck_assert_int_eq(hf_test_count(d, "o", "ActivityCompleted"), 1);
    task = task_get(d, HF_TASK_ACTIVITY, "w2");
    ck_assert_str_eq(hf_str(task, "activity_type", ""), "far");
    ck_assert_str_eq(hf_str(task, "arguments.codec", ""), "avro");
    claim = claim_of(task);
    hf_kit_ok(d, hf_task_result(d, &claim, hf_json(d, "{'ok': true}")));
    ck_assert_int_eq(hf_test_count(d, "o", "ActivityCompleted"), 2);
    task = task_get(d, HF_TASK_WORKFLOW, "w1");
    answer(d, task, "[{'type': 'start_timer', 'delay_seconds': 60}]");
    no_task(d, HF_TASK_WORKFLOW);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    task = task_get(d, HF_TASK_WORKFLOW, "w1");
    answer(d, task, "[{'type': 'complete_workflow', 'result': 'done'}]");
    hf_kit_ok(d, hf_result(d, "o", 0, &out, NULL));
    ck_assert_str_eq(hf_str(out, "", ""), "done");
    hf_kit_close(d);
}

/* A worker ends a run with as many signals as are allowed that nobody applied: all of them are on
   the record, once and in order. */
HF_BOTH_ENGINES(n45_a_run_ends_with_5000_signals)
{
    enum { SIGNALS = 5000 };
    hf_engine *d = open_with_workers(kind);
    hf_value out = NULL;
    hf_value task;

    hf_kit_ok(d, hf_workers_type(d, "t", hf_json(d, "{'signals': ['s']}"), NULL));
    hf_kit_ok(d, hf_start(d, "t", NULL, .id = "o"));
    answer(d, task_get(d, HF_TASK_WORKFLOW, "w1"),
           "[{'type': 'start_timer', 'delay_seconds': 60}]");
    for (int i = 0; i < SIGNALS; i++) {
        hf_kit_ok(d, hf_signal(d, "o", "s", hf_json(d, "[%d]", i)));
        hf_mem_reset(hf_mem_of_engine(d));
    }
    ck_assert_int_eq(hf_signal(d, "o", "s", NULL), HF_REJECTED);
    hf_kit_ok(d, hf_test_drain(d));
    task = task_get(d, HF_TASK_WORKFLOW, "w1");
    answer(d, task, "[{'type': 'complete_workflow', 'result': 'done'}]");
    hf_kit_ok(d, hf_result(d, "o", 0, &out, NULL));
    ck_assert_str_eq(hf_str(out, "", ""), "done");
    ck_assert_int_eq(hf_test_count(d, "o", "SignalApplied"), SIGNALS);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM command WHERE type = 2 AND "
                                      "applied_us IS NOT NULL"),
                     SIGNALS);
    hf_kit_close(d);
}

/* A signal that comes while a worker holds the task: there is another task when it has answered,
   for the signal. */
HF_BOTH_ENGINES(b035_signal_while_the_task_is_held)
{
    hf_engine *d = open_with_workers(kind);
    hf_value task;

    hf_kit_ok(d, hf_workers_type(d, "t", hf_json(d, "{'signals': ['go', 'other']}"), NULL));
    hf_kit_ok(d, hf_start(d, "t", NULL, .id = "a"));
    task = task_get(d, HF_TASK_WORKFLOW, "w1");
    hf_kit_ok(d, hf_signal(d, "a", "go", hf_json(d, "[7]")));
    hf_kit_ok(d, hf_test_drain(d));
    no_task(d, HF_TASK_WORKFLOW);
    answer(d, task, "[{'type': 'open_signal_wait', 'signal_name': 'other'}]");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task WHERE kind = 1 AND status = 1"),
                     1);
    task = task_get(d, HF_TASK_WORKFLOW, "w1");
    ck_assert_int_eq(hf_test_count(d, "a", "SignalReceived"), 1);
    answer(d, task, "[{'type': 'complete_workflow'}]");
    no_task(d, HF_TASK_WORKFLOW);
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    hf_kit_close(d);
}

/* A worker waits on behind a signal, and does not know yet of a second one: the wait is not ended
   between the two, where its code would look for the second one behind the end when it replays. The
   next task tells. */
HF_BOTH_ENGINES(a_condition_goes_on_behind_a_signal_that_came_meanwhile)
{
    const char *waits = "[{'type': 'open_condition_wait', 'condition_key': 'all'}]";
    hf_engine *d = open_with_workers(kind);
    hf_value task;

    hf_kit_ok(d, hf_workers_type(d, "t", hf_json(d, "{'signals': ['go']}"), NULL));
    hf_kit_ok(d, hf_start(d, "t", NULL, .id = "a"));
    answer(d, task_get(d, HF_TASK_WORKFLOW, "w"), waits);
    hf_kit_ok(d, hf_signal(d, "a", "go", hf_json(d, "[1]")));
    task = task_get(d, HF_TASK_WORKFLOW, "w");
    hf_kit_ok(d, hf_signal(d, "a", "go", hf_json(d, "[2]")));
    hf_kit_ok(d, hf_test_drain(d));
    answer(d, task, waits);
    ck_assert_int_eq(hf_test_count(d, "a", "ConditionWaitOpened"), 1);
    ck_assert_int_eq(hf_test_count(d, "a", "ConditionWaitSatisfied"), 0);
    ck_assert_int_eq(hf_test_count(d, "a", "SignalApplied"), 1);
    answer(d, task_get(d, HF_TASK_WORKFLOW, "w"), waits);
    ck_assert_int_eq(hf_test_count(d, "a", "ConditionWaitOpened"), 2);
    ck_assert_int_eq(hf_test_count(d, "a", "SignalApplied"), 2);
    no_task(d, HF_TASK_WORKFLOW);
    hf_kit_ok(d, hf_signal(d, "a", "go", hf_json(d, "[3]")));
    answer(d, task_get(d, HF_TASK_WORKFLOW, "w"), "[{'type': 'complete_workflow'}]");
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    hf_kit_close(d);
}

static void signal_between(void *ctx)
{
    hf_engine *other = ctx;

    hf_kit_ok(other, hf_signal(other, "a", "go", hf_json(other, "[2]")));
}

/* The same when the second signal comes at another node, right before the commit. */
START_TEST(a_condition_goes_on_behind_a_signal_of_another_node)
{
    const char *waits = "[{'type': 'open_condition_wait', 'condition_key': 'all'}]";
    hf_engine *d = open_with_workers(HF_ENGINE_POSTGRES);
    hf_engine *other;
    hf_value task;

    hf_kit_ok(d, hf_workers_type(d, "t", hf_json(d, "{'signals': ['go']}"), NULL));
    hf_kit_ok(d, hf_start(d, "t", NULL, .id = "a"));
    answer(d, task_get(d, HF_TASK_WORKFLOW, "w"), waits);
    other = hf_kit_join(d, &app);
    hf_kit_ok(d, hf_signal(d, "a", "go", hf_json(d, "[1]")));
    task = task_get(d, HF_TASK_WORKFLOW, "w");
    hf_kit_meddle(d, 1, signal_between, other);
    answer(d, task, waits);
    ck_assert_int_eq(hf_test_count(d, "a", "SignalReceived"), 2);
    ck_assert_int_eq(hf_test_count(d, "a", "ConditionWaitOpened"), 1);
    answer(d, task_get(d, HF_TASK_WORKFLOW, "w"), waits);
    ck_assert_int_eq(hf_test_count(d, "a", "ConditionWaitOpened"), 2);
    hf_kit_leave(other);
    hf_kit_close(d);
}
END_TEST

/* Updates that come while a worker decides to continue as new: one for the instance goes on to the
   next run, one for the run that ends fails with it. */
HF_BOTH_ENGINES(b080_updates_at_a_continue_as_new)
{
    hf_engine *d = open_with_workers(kind);
    char request[256];
    hf_value task;

    hf_kit_ok(d, hf_workers_type(d, "far", hf_json(d, "{'updates': ['set']}"), NULL));
    hf_kit_ok(d, hf_start(d, "far", NULL, .id = "a"));
    task = task_get(d, HF_TASK_WORKFLOW, "w1");
    for (int i = 0; i < 2; i++) {
        (void)snprintf(request, sizeof(request),
                       "{'workflow_id': 'a', 'name': 'set', 'wait_for': 'accepted'%s%s%s}",
                       i ? ", 'run_id': '" : "", i ? hf_str(task, "run_id", "") : "", i ? "'" : "");
        ck_assert(hf_kit_ask(d, "update", json_of(d, request)).accepted);
    }
    answer(d, task, "[{'type': 'continue_as_new', 'arguments': [2]}]");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_kit_number(d, "SELECT run_count FROM instance"), 2);
    ck_assert_int_eq(hf_kit_number(d, "SELECT number FROM run r JOIN command c ON c.run = r.key "
                                      "WHERE c.type = 3 AND c.scope = 1 AND c.state = 1"),
                     2);
    ck_assert_int_eq(hf_kit_number(d, "SELECT number FROM run r JOIN command c ON c.run = r.key "
                                      "WHERE c.type = 3 AND c.scope = 2 AND c.state = 4"),
                     1);
    ck_assert_int_eq(hf_test_count(d, "a", "UpdateAccepted"), 1);
    hf_kit_close(d);
}

/* A worker that waits gets work the moment there is some; one that is gone does not keep it. */
HF_BOTH_ENGINES(work_finds_the_worker_that_waits)
{
    hf_engine *d = open_with_workers(kind);
    got gone = {.gone = true};
    got first = {0};

    poll_begin(d, HF_TASK_WORKFLOW, "gone", &gone);
    poll_begin(d, HF_TASK_WORKFLOW, "w", &first);
    hf_kit_ok(d, hf_start(d, "t", NULL, .id = "a"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert(gone.called && first.called);
    ck_assert(!hf_poll_end(gone.poll) && !hf_poll_end(first.poll));
    ck_assert_ptr_nonnull(strstr(first.json, "\"workflow_id\":\"a\""));
    hf_kit_close(d);
}

/* A worker waits for an activity that another one schedules: its attempt is on the record with the
   activity, in one unit, and it gets the task. */
HF_BOTH_ENGINES(an_attempt_that_is_waited_for_begins_with_its_activity)
{
    static const hf_poll_opts opts = {
        .size_ = sizeof(opts), .kind = HF_TASK_ACTIVITY, .queue = "default", .worker = "w2"};
    hf_engine *d = open_with_workers(kind);
    hf_mem *mem = hf_mem_new();
    hf_tasks *awaited = NULL;
    hf_value came[2] = {NULL};
    size_t count = 0;
    hf_task_claim claim;
    int64_t units;
    hf_value task;

    hf_kit_ok(d, hf_start(d, "t", NULL, .id = "a"));
    task = task_get(d, HF_TASK_WORKFLOW, "w1");
    hf_kit_ok(d, hf_tasks_begin(d, &opts, 2, mem, &awaited));
    units = hf_kit_number(d, "SELECT count(*) FROM history");
    answer(d, task, "[{'type': 'schedule_activity', 'activity_type': 'far', 'arguments': [1]}]");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM history"), units + 1);
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityStarted"), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM activity WHERE owner = 'w2' AND "
                                      "status = 2 AND attempt = 1 AND lease_until_us > started_us"),
                     1);
    hf_tasks_end(awaited, came, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_str_eq(hf_str(came[0], "activity_type", ""), "far");
    claim = claim_of(came[0]);
    hf_kit_ok(d, hf_task_result(d, &claim, hf_json(d, "{}")));
    answer(d, task_get(d, HF_TASK_WORKFLOW, "w1"), "[{'type': 'complete_workflow'}]");
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    hf_mem_free(mem);
    hf_kit_close(d);
}

static void terminated_between(void *ctx)
{
    hf_engine *other = ctx;

    hf_kit_ok(other, hf_terminate(other, "a", NULL));
}

/* The unit that hands it out does not get into the store, because the run is closed from elsewhere
   right before the commit: the worker gets nothing and waits on, for what comes next. */
START_TEST(a_worker_that_was_handed_nothing_waits_on)
{
    const char *schedule =
        "[{'type': 'schedule_activity', 'activity_type': 'far', 'arguments': [1]}]";
    hf_engine *d = open_with_workers(HF_ENGINE_POSTGRES);
    got waits = {0};
    hf_task_claim claim;
    hf_engine *other;
    hf_value errors;
    hf_value task;

    hf_kit_ok(d, hf_start(d, "t", NULL, .id = "a"));
    hf_kit_ok(d, hf_start(d, "t", NULL, .id = "b"));
    task = task_get(d, HF_TASK_WORKFLOW, "w1");
    ck_assert_str_eq(hf_str(task, "workflow_id", ""), "a");
    poll_begin(d, HF_TASK_ACTIVITY, "w2", &waits);
    other = hf_kit_join(d, &app);
    hf_kit_meddle(d, 1, terminated_between, other);
    claim = claim_of(task);
    ck_assert_int_eq(hf_task_answer(d, &claim, json_of(d, schedule), hf_mem_of_engine(d), &errors),
                     HF_REJECTED);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert(!waits.called);
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityScheduled"), 0);
    answer(d, task_get(d, HF_TASK_WORKFLOW, "w1"), schedule);
    ck_assert(waits.called);
    ck_assert_ptr_nonnull(strstr(waits.json, "\"workflow_id\":\"b\""));
    ck_assert(!hf_poll_end(waits.poll));
    hf_kit_leave(other);
    hf_kit_close(d);
}
END_TEST

/* Only the worker that holds a task may report on it, once, and in time. */
HF_BOTH_ENGINES(b198_late_and_foreign_reports_are_refused)
{
    hf_engine *d = open_with_workers(kind);
    hf_value commands = hf_json(d, "[{'type': 'complete_workflow'}]");
    hf_value errors = NULL;
    hf_task_claim mine;
    hf_task_claim other;
    hf_value task;

    hf_kit_ok(d, hf_start(d, "t", NULL, .id = "a"));
    task = task_get(d, HF_TASK_WORKFLOW, "w1");
    mine = claim_of(task);
    other = mine;
    other.worker = "w2";
    ck_assert_int_eq(hf_task_answer(d, &other, commands, hf_mem_of_engine(d), &errors),
                     HF_REJECTED);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "lease_owner_mismatch"));
    other = mine;
    other.attempt = 9;
    ck_assert_int_eq(hf_task_answer(d, &other, commands, hf_mem_of_engine(d), &errors),
                     HF_REJECTED);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "workflow_task_attempt_mismatch"));
    ck_assert_int_eq(
        hf_task_answer(d, &mine, hf_json(d, "[{'type': 'dance'}]"), hf_mem_of_engine(d), &errors),
        HF_INVALID);
    ck_assert_ptr_nonnull(errors);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(50)));
    hf_kit_ok(d, hf_task_extend(d, &mine, NULL, NULL));
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(50)));
    hf_kit_ok(d, hf_task_extend(d, &mine, NULL, NULL));
    hf_kit_skip(d, hf_seconds(60)); /* the lease is over, whether or not anybody has looked */
    ck_assert_int_eq(hf_task_answer(d, &mine, commands, hf_mem_of_engine(d), &errors), HF_REJECTED);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "lease_expired"));
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(10))); /* another gets it */
    task = task_get(d, HF_TASK_WORKFLOW, "w2");
    ck_assert_int_eq(hf_task_answer(d, &mine, commands, hf_mem_of_engine(d), &errors), HF_REJECTED);
    answer(d, task, "[{'type': 'complete_workflow', 'result': 1}]");
    mine = claim_of(task);
    ck_assert_int_eq(hf_task_answer(d, &mine, commands, hf_mem_of_engine(d), &errors), HF_REJECTED);
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    hf_kit_close(d);
}

/* A task that its worker could not do comes back after a pause. */
HF_BOTH_ENGINES(returned_tasks_come_back_later)
{
    hf_engine *d = open_with_workers(kind);
    hf_task_claim claim;

    hf_kit_ok(d, hf_start(d, "t", NULL, .id = "a"));
    claim = claim_of(task_get(d, HF_TASK_WORKFLOW, "w1"));
    hf_kit_ok(d, hf_task_return(d, &claim, "no such workflow"));
    no_task(d, HF_TASK_WORKFLOW);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(2)));
    (void)task_get(d, HF_TASK_WORKFLOW, "w1");
    hf_kit_close(d);
}

/* History knows who was handed which attempt. */
static void workers_named(hf_engine *d)
{
    hf_mem *mem = hf_mem_new();
    hf_value page = NULL;
    hf_value bars = NULL;

    hf_kit_ok(d, hf_describe(d, hf_json_(mem, "{'id': 'a'}"), mem, &page));
    hf_kit_ok(d, hf_spans(d, hf_json_(mem, "{'id': 'a'}"), mem, &bars));
    for (int i = 0; i < 3; i++) {
        const char *worker = i < 2 ? "w1" : "w2";
        char path[64];

        (void)snprintf(path, sizeof(path), "activities.0.attempts.%d.worker", i);
        ck_assert_str_eq(hf_str(page, path, "nobody"), worker);
        (void)snprintf(path, sizeof(path), "bars.0.attempts.%d.worker", i);
        ck_assert_str_eq(hf_str(bars, path, "nobody"), worker);
    }
    hf_mem_free(mem);
}

/* A workflow of this program calls an activity of another: failure, retry, sign of life, and a
   worker that is lost. */
HF_BOTH_ENGINES(far_activities_of_local_workflows)
{
    hf_engine *d = open_with_workers(kind);
    hf_task_claim claim;
    hf_value task;
    hf_value out = NULL;

    hf_kit_ok(d, hf_start(d, "calls_far", hf_json(d, "{'n': 1}"), .id = "a"));
    hf_kit_ok(d, hf_test_drain(d));
    claim = claim_of(task_get(d, HF_TASK_ACTIVITY, "w1"));
    hf_kit_ok(d, hf_task_failure(d, &claim, true, "busy", "try later", NULL));
    ck_assert_int_eq(hf_task_result(d, &claim, NULL), HF_REJECTED); /* reported already */
    no_task(d, HF_TASK_ACTIVITY);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(1)));
    task = task_get(d, HF_TASK_ACTIVITY, "w1");
    ck_assert_int_eq(hf_int(task, "attempt_number", 0), 2);
    claim = claim_of(task);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(4)));
    hf_kit_ok(d, hf_task_beat(d, &claim, hf_json(d, "{'current': 3}")));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(4))); /* alive: the lease was extended */
    no_task(d, HF_TASK_ACTIVITY);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(2))); /* lost: it does not use up an attempt */
    task = task_get(d, HF_TASK_ACTIVITY, "w2");
    ck_assert_int_eq(hf_int(task, "attempt_number", 0), 3);
    ck_assert_int_eq(hf_int(task, "last_progress.current", 0), 3);
    ck_assert_int_eq(hf_task_result(d, &claim, NULL), HF_REJECTED);
    claim = claim_of(task);
    hf_kit_ok(d, hf_task_result(d, &claim, hf_json(d, "42")));
    hf_kit_ok(d, hf_result(d, "a", 0, &out, NULL));
    ck_assert_int_eq(hf_int(out, "", 0), 42);
    workers_named(d);
    hf_kit_close(d);
}

/* After a crash the task is offered again, and a worker that had an attempt may still report. */
HF_BOTH_ENGINES(a_crash_loses_no_task)
{
    hf_engine *d = open_with_workers(kind);
    hf_task_claim old;
    hf_value task;
    hf_value errors = NULL;

    hf_kit_ok(d, hf_start(d, "t", NULL, .id = "a"));
    task = task_get(d, HF_TASK_WORKFLOW, "w1");
    old = claim_of(task);
    hf_test_crash(d);
    ck_assert_int_eq(hf_task_answer(d, &old, hf_json(d, "[{'type': 'complete_workflow'}]"),
                                    hf_mem_of_engine(d), &errors),
                     HF_REJECTED);
    task = task_get(d, HF_TASK_WORKFLOW, "w1");
    answer(d, task, "[{'type': 'schedule_activity', 'activity_type': 'far', 'arguments': [5]}]");
    task = task_get(d, HF_TASK_ACTIVITY, "w2");
    old = claim_of(task);
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    no_task(d, HF_TASK_ACTIVITY);
    hf_kit_ok(d, hf_task_result(d, &old, hf_json(d, "'still here'")));
    task = task_get(d, HF_TASK_WORKFLOW, "w1");
    answer(d, task, "[{'type': 'complete_workflow'}]");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityStarted"), 1);
    hf_kit_close(d);
}

/* A worker that reports before anything else has happened after the crash is heard. */
HF_BOTH_ENGINES(a_report_may_come_before_its_run_is_back)
{
    hf_engine *d = open_with_workers(kind);
    hf_task_claim old;
    hf_value out = NULL;

    hf_kit_ok(d, hf_start(d, "calls_far", hf_json(d, "1"), .id = "c"));
    old = claim_of(task_get(d, HF_TASK_ACTIVITY, "w1"));
    hf_test_crash(d);
    hf_kit_ok(d, hf_task_result(d, &old, hf_json(d, "'still here'")));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_result(d, "c", 0, &out, NULL));
    ck_assert_str_eq(hf_str(out, "", ""), "still here");
    ck_assert_int_eq(hf_test_count(d, "c", "ActivityStarted"), 1);
    hf_kit_close(d);
}

/* Cancelling closes the run under the worker's hands; children and continue-as-new work. */
HF_BOTH_ENGINES(far_runs_close_continue_and_have_children)
{
    hf_engine *d = open_with_workers(kind);
    hf_value errors = NULL;
    hf_task_claim claim;
    hf_value task;

    hf_kit_ok(d, hf_start(d, "t", NULL, .id = "a"));
    task = task_get(d, HF_TASK_WORKFLOW, "w1");
    claim = claim_of(task);
    hf_kit_ok(d, hf_cancel(d, "a", "enough"));
    ck_assert_int_eq(hf_task_answer(d, &claim, hf_json(d, "[{'type': 'complete_workflow'}]"),
                                    hf_mem_of_engine(d), &errors),
                     HF_REJECTED);
    hf_kit_ok(d, hf_start(d, "t", NULL, .id = "b"));
    answer(d, task_get(d, HF_TASK_WORKFLOW, "w1"),
           "[{'type': 'start_child_workflow', 'workflow_type': 'c', 'arguments': [1]}]");
    task = task_get(d, HF_TASK_WORKFLOW, "w1");
    ck_assert_str_eq(hf_str(task, "workflow_type", ""), "c");
    answer(d, task, "[{'type': 'continue_as_new', 'arguments': [2]}]");
    task = task_get(d, HF_TASK_WORKFLOW, "w1");
    ck_assert_str_eq(hf_str(task, "workflow_type", ""), "c");
    answer(d, task, "[{'type': 'fail_workflow', 'message': 'no', 'exception_type': 'E'}]");
    task = task_get(d, HF_TASK_WORKFLOW, "w1");
    ck_assert_str_eq(hf_str(task, "workflow_id", ""), "b");
    ck_assert_int_eq(hf_test_count(d, "b", "ChildRunFailed"), 1);
    answer(d, task, "[{'type': 'complete_workflow'}]");
    hf_kit_close(d);
}

/* A worker reads history as it is published, page by page, with values in its own codec. */
HF_BOTH_ENGINES(history_is_read_in_pages)
{
    hf_engine *d = open_with_workers(kind);
    hf_value page = NULL;

    hf_kit_ok(d, hf_start(d, "t", hf_json(d, "[1, 'x']"), .id = "a"));
    answer(d, task_get(d, HF_TASK_WORKFLOW, "w1"),
           "[{'type': 'record_side_effect', 'result': 5}, {'type': 'start_timer', "
           "'delay_seconds': 9}]");
    hf_kit_ok(d, hf_history(d, hf_mem_of_engine(d), &page, "a"));
    ck_assert_int_eq(hf_int(page, "last_sequence", 0), 4);
    ck_assert_uint_eq(hf_len(hf_get(page, "events")), 4);
    ck_assert_str_eq(hf_str(page, "events.1.type", ""), "WorkflowStarted");
    ck_assert_str_eq(hf_str(page, "events.2.type", ""), "SideEffectRecorded");
    ck_assert_int_eq(hf_int(page, "events.2.payload.sequence", 0), 1);
    ck_assert_ptr_nonnull(hf_str(page, "arguments", NULL));
    hf_kit_ok(d, hf_history(d, hf_mem_of_engine(d), &page, "a", .after = 2, .limit = 1));
    ck_assert_uint_eq(hf_len(hf_get(page, "events")), 1);
    ck_assert_int_eq(hf_int(page, "events.0.sequence", 0), 3);
    ck_assert_int_eq(hf_history(d, hf_mem_of_engine(d), &page, "nobody"), HF_NOTFOUND);
    hf_kit_close(d);
}

/* A second worker comes for a run whose first attempt is being recorded: it gets the second one. */
HF_BOTH_ENGINES(a_worker_that_comes_while_a_unit_is_under_way)
{
    hf_engine *d = open_with_workers(kind);
    got first = {0};
    got second = {0};

    hf_kit_ok(d, hf_start(d, "calls_two", hf_json(d, "1"), .id = "t"));
    hf_kit_ok(d, hf_test_drain(d));
    poll_ask(d, HF_TASK_ACTIVITY, "w1", &first);
    ck_assert(hf_core_step(d->core));
    ck_assert(!first.called);
    poll_ask(d, HF_TASK_ACTIVITY, "w2", &second);
    ck_assert(hf_core_step(d->core));
    ck_assert(!second.called);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert(first.called && second.called);
    ck_assert(!hf_poll_end(first.poll) && !hf_poll_end(second.poll));
    hf_kit_close(d);
}

/* Runs and attempts that wait for a worker when memory for runs is short: all of them are had. */
HF_BOTH_ENGINES(offered_tasks_outlive_the_cache)
{
    enum { RUNS = 5 };
    hf_engine *d = open_with_workers(kind);

    d->core->o.cache_bytes = 0;
    for (int i = 0; i < RUNS; i++) {
        hf_kit_ok(d, hf_start(d, "python.order", hf_json(d, "[7]"),
                              .id = hf_mem_format(hf_mem_of_engine(d), "o-%d", i)));
        hf_kit_ok(d, hf_start(d, "calls_far", hf_json(d, "1"),
                              .id = hf_mem_format(hf_mem_of_engine(d), "c-%d", i)));
    }
    hf_kit_ok(d, hf_test_drain(d));
    for (int i = 0; i < RUNS; i++) {
        hf_value task = task_get(d, HF_TASK_WORKFLOW, "w1");

        ck_assert_str_eq(hf_str(task, "workflow_type", ""), "python.order");
        answer(d, task, "[{'type': 'complete_workflow', 'result': 1}]");
        task = task_get(d, HF_TASK_ACTIVITY, "w1");
        ck_assert_str_eq(hf_str(task, "activity_type", ""), "far");
    }
    no_task(d, HF_TASK_WORKFLOW);
    no_task(d, HF_TASK_ACTIVITY);
    hf_kit_close(d);
}

/* Attempts are in workers' hands while their run is out of memory: a result is taken, a sign of
   life too, and what is lost goes to others. */
HF_BOTH_ENGINES(attempts_outlive_the_cache)
{
    hf_engine *d = open_with_workers(kind);
    hf_task_claim claims[3];

    hf_kit_ok(d, hf_start(d, "python.order", NULL, .id = "o"));
    answer(d, task_get(d, HF_TASK_WORKFLOW, "w1"),
           "[{'type': 'schedule_activity', 'activity_type': 'a'}, {'type': 'schedule_activity', "
           "'activity_type': 'b'}, {'type': 'schedule_activity', 'activity_type': 'c'}]");
    for (int i = 0; i < 3; i++)
        claims[i] = claim_of(task_get(d, HF_TASK_ACTIVITY, i ? "w2" : "w1"));
    d->core->o.cache_bytes = 0;
    hf_kit_ok(d, hf_test_advance(d, 0));
    ck_assert_uint_eq(hf_map_int_count(d->core->runs), 0);
    hf_kit_ok(d, hf_task_beat(d, &claims[1], hf_json(d, "'on my way'")));
    ck_assert_int_eq(hf_workers_release(d, "w1"), 1);
    hf_kit_ok(d, hf_task_result(d, &claims[2], hf_json(d, "3")));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_task_result(d, &claims[1], hf_json(d, "2")));
    claims[0] = claim_of(task_get(d, HF_TASK_ACTIVITY, "w3"));
    hf_kit_ok(d, hf_task_result(d, &claims[0], hf_json(d, "1")));
    ck_assert_int_eq(hf_test_count(d, "o", "ActivityCompleted"), 3);
    hf_kit_close(d);
}

/* Runs that nobody ever took are offered without being in memory; one that is cancelled, signalled
   or paused meanwhile is, and each is had once, with all that came for it. */
HF_BOTH_ENGINES(n26_offered_runs_rest_outside_memory)
{
    enum { RUNS = 50 };
    hf_engine *d = open_with_workers(kind);
    int had = 0;

    d->core->o.cache_bytes = 0;
    hf_kit_ok(d, hf_workers_type(d, "far", hf_json(d, "{'signals': ['go']}"), NULL));
    for (int i = 0; i < RUNS; i++)
        hf_kit_ok(d, hf_start(d, "far", NULL, .id = hf_mem_format(hf_mem_of_engine(d), "o-%d", i)));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_uint_lt(hf_map_int_count(d->core->runs), 2);
    hf_kit_ok(d, hf_cancel(d, "o-3", "not needed"));
    hf_kit_ok(d, hf_signal(d, "o-4", "go", NULL));
    hf_kit_ok(d, hf_terminate(d, "o-5", "not needed"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_uint_lt(hf_map_int_count(d->core->runs), 2);
    for (int i = 0; i < RUNS - 2; i++) {
        hf_value task = task_get(d, HF_TASK_WORKFLOW, "w1");
        bool signalled = strcmp(hf_str(task, "workflow_id", ""), "o-4") == 0;

        ck_assert_int_eq(hf_int(task, "workflow_task_attempt", 0), 1);
        had += signalled;
        ck_assert_int_eq(hf_int(task, "last_history_sequence", 0), signalled ? 3 : 2);
        answer(d, task, "[{'type': 'complete_workflow'}]");
    }
    no_task(d, HF_TASK_WORKFLOW);
    ck_assert_int_eq(had, 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run WHERE closed_us IS NULL"), 0);
    hf_kit_close(d);
}

/* Facts came between what a worker decided and its commit, so the replay of its run was thrown
   away: before it is back the worker says that it goes on. */
HF_BOTH_ENGINES(a_task_is_held_while_its_run_is_out_of_memory)
{
    hf_engine *d = open_with_workers(kind);
    hf_task_claim claim;
    hf_value held = NULL;
    hf_value task;
    void *run = NULL;
    uint64_t key = 0;
    size_t at = 0;

    hf_kit_begin(d, "far_type", "a", NULL);
    task = task_get(d, HF_TASK_WORKFLOW, "w");
    claim = claim_of(task);
    ck_assert(hf_map_int_next(d->core->runs, &at, &key, &run));
    hf_live_forget(d->core, run);
    hf_kit_ok(d, hf_task_extend(d, &claim, hf_mem_of_engine(d), &held));
    ck_assert_str_eq(hf_str(held, "workflow_id", ""), "a");
    ck_assert_str_eq(hf_str(held, "run_id", ""), hf_str(task, "run_id", "?"));
    answer(d, task, "[{'type': 'complete_workflow', 'result': 1}]");
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    hf_kit_close(d);
}

/* A name that no event can hold is refused; where nobody looked before it cannot be recorded, and
   fails the run whose worker asks for it and nothing else: not the engine, and not the next one on
   the same store. Failures of activities are recorded as far as they fit. */
HF_BOTH_ENGINES(endless_texts_fail_one_run)
{
    static char endless[100000];
    hf_engine *d = open_with_workers(kind);
    hf_task_claim claim;
    hf_value errors = NULL;
    hf_value commands;

    memset(endless, 'x', sizeof(endless) - 1);
    hf_kit_begin(d, "far_type", "a", NULL);
    claim = claim_of(task_get(d, HF_TASK_WORKFLOW, "w"));
    commands = hf_json(d, "[{'type': 'schedule_activity', 'activity_type': %s}]", endless);
    ck_assert_int_eq(hf_task_answer(d, &claim, commands, hf_mem_of_engine(d), &errors), HF_INVALID);
    commands = hf_json(d,
                       "[{'kind': 'open_condition_wait', 'step': 1, 'fingerprint': %s, "
                       "'timeout_us': -1}]",
                       endless);
    hf_kit_ok(d, hf_task_decide(d, &claim, commands, false, hf_mem_of_engine(d)));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "a"), "failed");
    ck_assert_str_eq(hf_kit_said(d, "a", "WorkflowFailed", 0, HF_KEY_EXCEPTION_TYPE),
                     "unit_refused");
    hf_test_crash(d);
    hf_kit_begin(d, "calls_far", "b", hf_json(d, "3"));
    for (int i = 0; i < 2; i++) {
        claim = claim_of(task_get(d, HF_TASK_ACTIVITY, "w"));
        hf_kit_ok(d, hf_task_failure(d, &claim, true, endless, endless, NULL));
        hf_kit_ok(d, hf_test_advance(d, hf_seconds(10)));
    }
    ck_assert_str_eq(hf_test_status(d, "b"), "failed");
    ck_assert_uint_eq(strlen(hf_kit_said(d, "b", "ActivityFailed", 0, HF_KEY_MESSAGE)), 8192);
    hf_kit_close(d);
}

/* A worker's answer, given right before a commit that another fact of the run has drafted. */
typedef struct late_answer {
    hf_engine *d;
    hf_value task;
} late_answer;

static void answer_between(void *ctx)
{
    const late_answer *late = ctx;
    hf_task_claim claim = claim_of(late->task);
    hf_value commands = json_of(late->d, "[{'type': 'record_side_effect', 'result': 7}]");
    hf_value errors = NULL;

    hf_kit_ok(late->d,
              hf_task_answer(late->d, &claim, commands, hf_mem_of_engine(late->d), &errors));
}

/* An answer that comes while a unit of its run is under way goes into the next one: it is not taken
   for a part of that unit, acknowledged and forgotten. */
HF_BOTH_ENGINES(an_answer_while_a_unit_is_under_way_is_decided)
{
    hf_engine *d = open_with_workers(kind);
    late_answer late = {.d = d};
    hf_task_claim claim;
    hf_value first;
    hf_value second;

    hf_kit_begin(d, "far_type", "a", NULL);
    answer(d, task_get(d, HF_TASK_WORKFLOW, "w"),
           "[{'type': 'schedule_activity', 'activity_type': 'far'},"
           " {'type': 'schedule_activity', 'activity_type': 'far'}]");
    first = task_get(d, HF_TASK_ACTIVITY, "w");
    second = task_get(d, HF_TASK_ACTIVITY, "w");
    claim = claim_of(first);
    hf_kit_ok(d, hf_task_result(d, &claim, hf_json(d, "1")));
    late.task = task_get(d, HF_TASK_WORKFLOW, "w");
    claim = claim_of(second);
    hf_kit_meddle(d, 1, answer_between, &late);
    hf_kit_ok(d, hf_task_result(d, &claim, hf_json(d, "2")));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_test_count(d, "a", "SideEffectRecorded"), 1);
    hf_kit_close(d);
}

/* An answer that is sent again after the engine came back, because its acknowledgement was lost, is
   not taken for the answer to the task that the worker was handed since: attempts are counted anew,
   and the id of the task tells them apart. */
HF_BOTH_ENGINES(an_answer_that_is_repeated_is_not_the_next_one)
{
    static const char *const commands = "[{'type': 'schedule_activity', 'activity_type': 'far'},"
                                        " {'type': 'schedule_activity', 'activity_type': 'far'}]";
    hf_engine *d = open_with_workers(kind);
    hf_value errors = NULL;
    char id[40];
    hf_task_claim first;
    hf_task_claim second;

    hf_kit_begin(d, "far_type", "a", NULL);
    first = claim_of(task_get(d, HF_TASK_WORKFLOW, "w"));
    (void)snprintf(id, sizeof(id), "%s", first.task_id);
    first.task_id = id;
    first.worker = "w";
    hf_kit_ok(d, hf_task_answer(d, &first, json_of(d, commands), hf_mem_of_engine(d), &errors));
    hf_test_crash(d);
    for (int i = 0; i < 2; i++) {
        second = claim_of(task_get(d, HF_TASK_ACTIVITY, "w"));
        hf_kit_ok(d, hf_task_result(d, &second, hf_json(d, "1")));
    }
    second = claim_of(task_get(d, HF_TASK_WORKFLOW, "w"));
    ck_assert_int_eq(second.attempt, first.attempt);
    ck_assert_int_eq(hf_task_answer(d, &first, json_of(d, commands), hf_mem_of_engine(d), &errors),
                     HF_REJECTED);
    hf_kit_ok(d, hf_task_answer(d, &second, json_of(d, "[{'type': 'complete_workflow'}]"),
                                hf_mem_of_engine(d), &errors));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    hf_kit_close(d);
}

/* Tasks are taken together, and reports on them come together: those that are refused say so and
   change nothing, the others are recorded. */
HF_BOTH_ENGINES(tasks_are_taken_and_reported_together)
{
    hf_engine *d = open_with_workers(kind);
    hf_mem *mem = hf_mem_of_engine(d);
    const hf_poll_opts opts = {
        .size_ = sizeof(opts), .kind = HF_TASK_ACTIVITY, .queue = "default", .worker = "w"};
    hf_report_end ends[5];
    hf_value tasks[HF_TASKS_TAKE_MAX];
    size_t count = 0;
    hf_value reports;

    for (int i = 0; i < 3; i++)
        hf_kit_begin(d, "calls_far", hf_mem_format(mem, "r%d", i), hf_json(d, "3"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_tasks_take(d, &opts, 2, mem, tasks, &count));
    ck_assert_uint_eq(count, 2);
    reports = hf_json(d,
                      "[{'task_id': %s, 'attempt': 1, 'result': 4}, {'task_id': %s, 'attempt': 7, "
                      "'result': 4}, {'task_id': 'none', 'result': 4}, {'task_id': %s, 'attempt': "
                      "1}, {'task_id': %s, 'attempt': 1, 'result': 4}]",
                      hf_str(tasks[0], "task_id", ""), hf_str(tasks[1], "task_id", ""),
                      hf_str(tasks[1], "task_id", ""), hf_str(tasks[1], "task_id", ""));
    hf_kit_ok(d, hf_tasks_report(d, "w", reports, mem, ends));
    ck_assert_int_eq(ends[0].status, HF_OK);
    ck_assert_int_eq(ends[1].status, HF_REJECTED);
    ck_assert_str_eq(
        hf_mem_text(mem, hf_slice_from(ends[1].message, strcspn(ends[1].message, ":"))),
        "stale_attempt");
    ck_assert_int_eq(ends[2].status, HF_REJECTED);
    ck_assert_str_eq(
        hf_mem_text(mem, hf_slice_from(ends[2].message, strcspn(ends[2].message, ":"))),
        "task_not_found");
    ck_assert_int_eq(ends[3].status, HF_INVALID);
    ck_assert_int_eq(ends[4].status, HF_OK);
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_tasks_take(d, &opts, HF_TASKS_TAKE_MAX, mem, tasks, &count));
    ck_assert_uint_eq(count, 1);
    hf_kit_ok(d, hf_tasks_take(d, &opts, 1, mem, tasks, &count));
    ck_assert_uint_eq(count, 0);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN(
    "engine/worker", HF_BOTH(an_answer_while_a_unit_is_under_way_is_decided),
    HF_BOTH(tasks_are_taken_and_reported_together),
    HF_BOTH(an_answer_that_is_repeated_is_not_the_next_one),
    HF_BOTH(a_far_workflow_runs_to_its_end), HF_BOTH_SLOW(n45_a_run_ends_with_5000_signals, 300),
    HF_BOTH(b035_signal_while_the_task_is_held),
    HF_BOTH(a_condition_goes_on_behind_a_signal_that_came_meanwhile),
    {a_condition_goes_on_behind_a_signal_of_another_node, 60},
    HF_BOTH(b080_updates_at_a_continue_as_new), HF_BOTH(work_finds_the_worker_that_waits),
    HF_BOTH(an_attempt_that_is_waited_for_begins_with_its_activity),
    {a_worker_that_was_handed_nothing_waits_on, 60},
    HF_BOTH(b198_late_and_foreign_reports_are_refused), HF_BOTH(returned_tasks_come_back_later),
    HF_BOTH(far_activities_of_local_workflows), HF_BOTH(a_crash_loses_no_task),
    HF_BOTH(a_report_may_come_before_its_run_is_back),
    HF_BOTH(far_runs_close_continue_and_have_children), HF_BOTH(history_is_read_in_pages),
    HF_BOTH(a_worker_that_comes_while_a_unit_is_under_way),
    HF_BOTH(offered_tasks_outlive_the_cache), HF_BOTH(attempts_outlive_the_cache),
    HF_BOTH(n26_offered_runs_rest_outside_memory),
    HF_BOTH(a_task_is_held_while_its_run_is_out_of_memory), HF_BOTH(endless_texts_fail_one_run))
