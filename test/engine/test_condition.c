/* Waits for conditions: what opens, ends and drifts; and what wakes a run that waits. */
#include <string.h>

#include "base/value.h"
#include "holdfast/view.h"
#include "lib/kit.h"

typedef struct shop {
    int64_t stock;
    int64_t waited; /* 1: held, 2: timed out */
} shop;

static int asked;   /* how often the predicate was */
static bool opened; /* something outside that no predicate may look at; this one does */

static bool in_stock(const void *state)
{
    asked++;
    return ((const shop *)state)->stock > 0 || opened;
}

static hf_value wait_for(hf_ctx *w, hf_value in, const char *key, const char *revision)
{
    shop *s = hf_state(w);
    bool held =
        hf_wait(w, key, in_stock, .timeout = hf_int(in, "timeout", 0), .revision = revision);

    s->waited = held ? 1 : 2;
    return hf_json(w, "{'held': %s}", held ? "yes" : "no");
}

static hf_value keyed(hf_ctx *w, hf_value in)
{
    return wait_for(w, in, "stock", "one");
}

static hf_value rekeyed(hf_ctx *w, hf_value in)
{
    return wait_for(w, in, "sold", "one");
}

static hf_value unkeyed(hf_ctx *w, hf_value in)
{
    return wait_for(w, in, NULL, "one");
}

static hf_value revised(hf_ctx *w, hf_value in)
{
    return wait_for(w, in, "stock", "two");
}

static hf_value sleeps(hf_ctx *w, hf_value in)
{
    hf_sleep(w, hf_hours(1));
    return in;
}

static hf_value timed(hf_ctx *w, hf_value in)
{
    hf_value value = hf_receive(w, "any", .timeout = hf_int(in, "timeout", 0));

    return hf_json(w, "{'got': %p}", (const void *)value);
}

static hf_value add(hf_ctx *w, void *state, hf_value args)
{
    (void)w;
    (void)args;
    ((shop *)state)->stock++;
    return NULL;
}

static hf_value look_read(hf_mem *mem, const void *state, hf_value args)
{
    const shop *s = state;

    (void)args;
    return hf_json(mem, "{'stock': %lld, 'waited': %lld}", (long long)s->stock,
                   (long long)s->waited);
}

static const hf_signal_def signals[] = {{.name = "any"}, {0}};
static const hf_update_def updates[] = {{.name = "add", .apply = add}, {0}};
static const hf_query_def queries[] = {{.name = "look", .read = look_read}, {0}};

#define BUILD(build, code)                                                                         \
    static const hf_workflow_def build##_workflows[] = {                                           \
        {.type = "shop",                                                                           \
         .run = code,                                                                              \
         .state_size = sizeof(shop),                                                               \
         .signals = signals,                                                                       \
         .updates = updates,                                                                       \
         .queries = queries},                                                                      \
        {.type = "timed", .run = timed, .signals = signals},                                       \
        {0}};                                                                                      \
    static const hf_app build = {.name = "shop", .workflows = build##_workflows}

BUILD(app, keyed);
BUILD(app_rekeyed, rekeyed);
BUILD(app_unkeyed, unkeyed);
BUILD(app_revised, revised);
BUILD(app_sleeps, sleeps);

/* The four ways in which code can drift from a condition that is on the record. */
static const struct {
    const hf_app *was, *is;
    const char *reason, *recorded_key, *current_key;
} drifts[] = {
    {&app, &app_rekeyed, "condition_wait_definition_mismatch", "stock", "sold"},
    {&app_unkeyed, &app, "condition_wait_definition_mismatch", "none", "stock"},
    {&app, &app_revised, "condition_wait_definition_mismatch", "stock", "stock"},
    {&app, &app_sleeps, "history_shape_mismatch", "", ""},
};

static void begin(hf_engine *d, const char *type, const char *id, int timeout_ms)
{
    asked = 0;
    opened = false;
    hf_kit_ok(d, hf_start(d, type, hf_json(d, "{'timeout': %d}", timeout_ms), .id = id));
    hf_kit_ok(d, hf_test_drain(d));
}

static hf_command_result ask(hf_engine *d, const char *command, const char *id)
{
    hf_command_result out = {0};
    hf_value request = hf_json(d, "{'workflow_id': %s, 'name': 'add'}", id);

    if (strcmp(command, "update") == 0)
        request = hf_json(d, "{'workflow_id': %s, 'name': 'add', 'wait_for': 'accepted'}", id);
    hf_kit_ok(d, hf_command(d, command, request, hf_mem_of_engine(d), &out));
    return out;
}

static hf_value described(hf_engine *d, const char *id)
{
    hf_value out = NULL;

    hf_kit_ok(d, hf_describe(d, hf_json(d, "{'id': %s}", id), hf_mem_of_engine(d), &out));
    return out;
}

static hf_value liveness(hf_engine *d, const char *id)
{
    hf_value out = NULL;

    hf_kit_ok(d, hf_why(d, id, hf_mem_of_engine(d), &out));
    return hf_get(out, "liveness");
}

/* The first published event of a type. */
static hf_value event(hf_value of, const char *type)
{
    hf_value events = hf_get(of, "history_events");

    for (size_t i = 0; i < hf_len(events); i++)
        if (strcmp(hf_str(hf_at(events, i), "type", ""), type) == 0)
            return hf_get(hf_at(events, i), "payload");
    ck_abort_msg("there is no %s", type);
}

/* Any signal has the condition looked at again: here it holds by now. */
HF_EVERY_WAY(b037_any_signal_wakes_a_condition)
{
    hf_engine *d = hf_kit_open(kind, &app);
    int before;

    begin(d, "shop", "s", 0);
    before = asked;
    hf_kit_ok(d, hf_signal(d, "s", "any", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_gt(asked, before);
    ck_assert_int_eq(hf_test_count(d, "s", "SignalApplied"), 0);
    ck_assert_str_eq(hf_test_status(d, "s"), "waiting condition:stock");
    opened = true;
    hf_kit_ok(d, hf_signal(d, "s", "any", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "s"), "{\"held\":\"yes\"}");
    hf_kit_close(d);
}

/* The timeout of a signal wait gives null and is on the record; a signal in time cancels it. */
HF_EVERY_WAY(b041_signal_timeout_returns_null)
{
    hf_engine *d = hf_kit_open(kind, &app);

    begin(d, "timed", "late", 1000);
    begin(d, "timed", "early", 1000);
    hf_kit_ok(d, hf_signal(d, "early", "any", hf_json(d, "[7]")));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_test_advance(d, 1000));
    ck_assert_str_eq(hf_kit_result(d, "late"), "{\"got\":null}");
    ck_assert_int_eq(hf_test_count(d, "late", "TimerFired"), 1);
    ck_assert_int_eq(hf_test_count(d, "late", "TimerCancelled"), 0);
    ck_assert_str_eq(hf_kit_result(d, "early"), "{\"got\":7}");
    ck_assert_int_eq(hf_test_count(d, "early", "TimerCancelled"), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM timer"), 0);
    hf_kit_close(d);
}

/* A condition opens once, is kept over crashes, and holds after the update that makes it so. */
HF_EVERY_WAY(b048_condition_resumes_after_update)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;

    begin(d, "shop", "s", 0);
    hf_test_crash(d);
    ck_assert_str_eq(hf_test_status(d, "s"), "waiting condition:stock");
    hf_kit_ok(d, hf_update(d, "s", "add", NULL, hf_seconds(1), &out));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "s"), "{\"held\":\"yes\"}");
    ck_assert_int_eq(hf_test_count(d, "s", "ConditionWaitOpened"), 1);
    ck_assert_int_eq(hf_test_count(d, "s", "ConditionWaitSatisfied"), 1);
    hf_kit_close(d);
}

/* The key is what operators see of the wait. */
HF_EVERY_WAY(b049_keyed_wait_shows_its_key)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value wait;

    begin(d, "shop", "s", 0);
    wait = hf_at(hf_get(described(d, "s"), "waits"), 0);
    ck_assert_str_eq(hf_str(wait, "kind", ""), "condition");
    ck_assert_str_eq(hf_str(wait, "condition_key", ""), "stock");
    ck_assert_str_eq(hf_str(wait, "target_name", ""), "stock");
    ck_assert_str_eq(hf_str(wait, "status", ""), "open");
    ck_assert_str_eq(hf_str(wait, "source_status", ""), "waiting");
    hf_kit_close(d);
}

/* The timer of a timeout says whose it is: key, fingerprint and wait. */
HF_EVERY_WAY(b050_timeout_carries_key_and_fingerprint)
{
    static const char *const types[] = {"TimerScheduled", "TimerFired", "ConditionWaitTimedOut"};
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value of;
    hf_value first;

    begin(d, "shop", "s", 60000);
    hf_kit_ok(d, hf_test_advance(d, 60000));
    of = hf_kit_bundle(d, "s");
    first = event(of, "ConditionWaitOpened");
    ck_assert_uint_eq(strlen(hf_str(first, "condition_definition_fingerprint", "")), 7 + 64);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        hf_value said = event(of, types[i]);

        ck_assert_str_eq(hf_str(said, "condition_key", ""), "stock");
        ck_assert_str_eq(hf_str(said, "condition_definition_fingerprint", ""),
                         hf_str(first, "condition_definition_fingerprint", ""));
        ck_assert_str_eq(hf_str(said, "condition_wait_id", ""),
                         hf_str(first, "condition_wait_id", ""));
    }
    ck_assert_str_eq(hf_str(event(of, "TimerScheduled"), "timer_kind", ""), "condition_timeout");
    hf_kit_close(d);
}

/* An update in time: first the timeout is cancelled, then the condition holds. */
HF_EVERY_WAY(b051_update_before_the_deadline)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;

    begin(d, "shop", "s", 60000);
    hf_kit_ok(d, hf_test_advance(d, 59999));
    hf_kit_ok(d, hf_update(d, "s", "add", NULL, hf_seconds(1), &out));
    hf_kit_ok(d, hf_test_advance(d, 60000));
    ck_assert_str_eq(hf_kit_result(d, "s"), "{\"held\":\"yes\"}");
    ck_assert_ptr_nonnull(
        strstr(hf_kit_history(d, "s"), "TimerCancelled ConditionWaitSatisfied WorkflowCompleted"));
    ck_assert_int_eq(hf_test_count(d, "s", "TimerFired"), 0);
    hf_kit_close(d);
}

/* The timeout is on the record and every row of it is gone: the wait times out all the same, even
   though the condition holds by then. */
HF_EVERY_WAY(b054_recorded_timeout_needs_no_row)
{
    hf_engine *d = hf_kit_open(kind, &app);

    begin(d, "shop", "s", 60000);
    (void)ask(d, "pause", "s");
    hf_kit_ok(d, hf_test_advance(d, 60000));
    ck_assert_int_eq(hf_test_count(d, "s", "TimerFired"), 1);
    ck_assert_int_eq(hf_test_count(d, "s", "ConditionWaitTimedOut"), 0);
    hf_kit_sql(d, "DELETE FROM timer; DELETE FROM task");
    opened = true;
    hf_test_crash(d);
    (void)ask(d, "resume", "s");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "s"), "{\"held\":\"no\"}");
    ck_assert_int_eq(hf_test_count(d, "s", "ConditionWaitTimedOut"), 1);
    hf_kit_close(d);
}

/* A query by code that has drifted is refused, in each of the four ways; nothing is recorded. */
HF_EVERY_WAY(b056_query_rejects_drift)
{
    for (size_t i = 0; i < sizeof(drifts) / sizeof(drifts[0]); i++) {
        hf_engine *d = hf_kit_open(kind, drifts[i].was);
        hf_value out = NULL;
        int64_t events;

        begin(d, "shop", "s", 0);
        events = hf_kit_number(d, "SELECT last_seq FROM run");
        d = hf_kit_reopen(d, drifts[i].is);
        ck_assert_int_eq(hf_query(d, "s", "look", NULL, &out), HF_REPLAY_BLOCKED);
        ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "step 1"));
        ck_assert_int_eq(hf_kit_number(d, "SELECT last_seq FROM run"), events);
        ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), 0);
        d = hf_kit_reopen(d, drifts[i].was);
        hf_kit_ok(d, hf_query(d, "s", "look", NULL, &out));
        ck_assert_int_eq(hf_int(out, "waited", -1), 0);
        hf_kit_close(d);
    }
}

/* A turn by such code blocks: the run stays open, and its task says what was found and wanted. */
HF_EVERY_WAY(b057_worker_blocks_on_drift)
{
    for (size_t i = 0; i < sizeof(drifts) / sizeof(drifts[0]); i++) {
        hf_engine *d = hf_kit_open(kind, drifts[i].was);
        bool condition = drifts[i].recorded_key[0] != '\0';
        hf_value task;
        hf_value of;

        begin(d, "shop", "s", 0);
        d = hf_kit_reopen(d, drifts[i].is);
        (void)ask(d, "update", "s");
        hf_kit_ok(d, hf_test_drain(d));
        ck_assert_str_eq(hf_str(liveness(d, "s"), "liveness_state", ""), "workflow_replay_blocked");
        ck_assert_int_eq(hf_test_count(d, "s", "WorkflowFailed"), 0);
        of = hf_kit_bundle(d, "s");
        ck_assert_uint_eq(hf_len(hf_get(of, "tasks")), 1);
        ck_assert_str_eq(hf_str(hf_at(hf_get(of, "tasks"), 0), "status", ""), "failed");
        task = hf_get(hf_at(hf_get(of, "tasks"), 0), "payload");
        ck_assert(hf_bool(task, "replay_blocked", false));
        ck_assert_str_eq(hf_str(task, "replay_blocked_reason", ""), drifts[i].reason);
        ck_assert_int_eq(hf_int(task, "replay_blocked_workflow_sequence", 0), 1);
        ck_assert_str_eq(hf_str(task, "replay_blocked_expected_history_shape", ""),
                         condition ? "condition wait" : "timer");
        ck_assert_str_eq(hf_str(task, "replay_blocked_recorded_event_types", ""),
                         "ConditionWaitOpened");
        ck_assert_str_eq(hf_str(task, "replay_blocked_recorded_condition_key", ""),
                         drifts[i].recorded_key);
        ck_assert_str_eq(hf_str(task, "replay_blocked_current_condition_key", ""),
                         drifts[i].current_key);
        ck_assert_ptr_nonnull(strstr(hf_str(task, "source_line", ""), "test_condition.c:"));
        if (condition) {
            ck_assert_str_eq(hf_str(task, "replay_blocked_condition_wait_id", ""),
                             hf_str(event(of, "ConditionWaitOpened"), "condition_wait_id", "none"));
            ck_assert_int_eq(
                strcmp(hf_str(task, "replay_blocked_recorded_condition_definition_fingerprint", ""),
                       hf_str(task, "replay_blocked_current_condition_definition_fingerprint",
                              "")) != 0,
                drifts[i].is == &app_revised);
        }
        hf_kit_close(d);
    }
}

/* The wait is a condition, though a timer is what will end it. */
HF_EVERY_WAY(b059_wait_stays_a_condition)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value live;
    hf_value waits;

    begin(d, "shop", "s", 60000);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM timer"), 1);
    live = liveness(d, "s");
    ck_assert_str_eq(hf_str(live, "liveness_state", ""), "waiting_for_condition");
    ck_assert_str_eq(hf_str(live, "wait_kind", ""), "condition");
    waits = hf_get(described(d, "s"), "waits");
    ck_assert_uint_eq(hf_len(waits), 1);
    ck_assert_str_eq(hf_str(hf_at(waits, 0), "kind", ""), "condition");
    ck_assert_str_ne(hf_str(hf_at(waits, 0), "deadline_at", ""), "");
    hf_kit_close(d);
}

/* A workflow task that has nothing to do with the wait does not take its place. */
HF_EVERY_WAY(b060_open_task_does_not_displace_the_wait)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value live;

    begin(d, "shop", "s", 0);
    hf_kit_sql(d, "INSERT INTO task (key, run, kind, status, queue, priority, available_us, epoch, "
                  "attempt, repair_count, created_us) "
                  "SELECT 900000001, key, 1, 1, 'default', 5, created_us, 0, 0, 0, created_us "
                  "FROM run");
    live = liveness(d, "s");
    ck_assert_str_eq(hf_str(live, "liveness_state", ""), "waiting_for_condition");
    ck_assert_str_eq(hf_str(live, "wait_kind", ""), "condition");
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), 0);
    ck_assert_str_eq(hf_test_status(d, "s"), "waiting condition:stock");
    hf_kit_close(d);
}

/* An update that finds a ready task takes that one: there are never two. */
HF_EVERY_WAY(b061_ready_task_is_used_again)
{
    hf_engine *d = hf_kit_open(kind, &app);
    int64_t task;

    begin(d, "shop", "s", 0);
    ck_assert(ask(d, "update", "s").accepted);
    task = hf_kit_number(d, "SELECT key FROM task");
    ck_assert(ask(d, "update", "s").accepted);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT key FROM task"), task);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "s"), "completed");
    hf_kit_close(d);
}

/* Without a timeout to wait for, the answer is there at once: no timer, no task. */
HF_EVERY_WAY(b062_zero_timeout_needs_no_timer)
{
    hf_engine *d = hf_kit_open(kind, &app);

    begin(d, "shop", "s", -1);
    ck_assert_str_eq(hf_kit_result(d, "s"), "{\"held\":\"no\"}");
    ck_assert_ptr_nonnull(
        strstr(hf_kit_history(d, "s"),
               "ConditionWaitOpened TimerScheduled TimerFired ConditionWaitTimedOut"));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM timer"), 0);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), 0);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/condition", HF_WAYS(b037_any_signal_wakes_a_condition),
                 HF_WAYS(b041_signal_timeout_returns_null),
                 HF_WAYS(b048_condition_resumes_after_update),
                 HF_WAYS(b049_keyed_wait_shows_its_key),
                 HF_WAYS(b050_timeout_carries_key_and_fingerprint),
                 HF_WAYS(b051_update_before_the_deadline),
                 HF_WAYS(b054_recorded_timeout_needs_no_row), HF_WAYS(b056_query_rejects_drift),
                 HF_WAYS(b057_worker_blocks_on_drift), HF_WAYS(b059_wait_stays_a_condition),
                 HF_WAYS(b060_open_task_does_not_displace_the_wait),
                 HF_WAYS(b061_ready_task_is_used_again), HF_WAYS(b062_zero_timeout_needs_no_timer))
