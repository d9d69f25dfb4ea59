/* What a query sees through replay: committed history and nothing else, whatever rows say; and what
   it refuses when the code of today does not fit. */
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "lib/handlers.h"
#include "lib/kit.h"

typedef struct seen {
    int64_t slept;
    int64_t joined;
    int64_t before, within, after; /* children that the code saw */
    char call[32];                 /* id of the first of them */
    char shape[128];               /* what a barrier gave */
    char failure[32];              /* what it failed with */
} seen;

static hf_value sleeper(hf_ctx *w, hf_value in)
{
    hf_sleep(w, hf_minutes(5));
    ((seen *)hf_state(w))->slept = 1;
    (void)hf_receive(w, "tick");
    return in;
}

static hf_value waits(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_receive(w, "tick");
}

static hf_value parent(hf_ctx *w, hf_value in)
{
    (void)hf_child(w, "waits", in, .id = "kid");
    ((seen *)hf_state(w))->joined = 1;
    (void)hf_receive(w, "tick");
    return NULL;
}

static void shape_keep(seen *s, const char *text)
{
    (void)snprintf(s->shape, sizeof(s->shape), "%s", text);
}

static hf_value nested(hf_ctx *w, hf_value in)
{
    hf_value all = hf_all(
        w, HF_ACTIVITY("half", hf_json(w, "1")),
        HF_ALL(HF_ACTIVITY("half", hf_json(w, "2")),
               HF_ALL(HF_CHILD("waits", NULL, .id = "leaf"), HF_ACTIVITY("half", hf_json(w, "3")))),
        HF_ACTIVITY("half", hf_json(w, "4")));

    (void)in;
    shape_keep(hf_state(w), hf_show(w, all));
    (void)hf_receive(w, "tick");
    return all;
}

/* The same leaves in one group; and the first of them in no group at all. */
static hf_value flat(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_all(w, HF_ACTIVITY("half", hf_json(w, "1")), HF_ACTIVITY("half", hf_json(w, "2")),
                  HF_CHILD("waits", NULL, .id = "leaf"), HF_ACTIVITY("half", hf_json(w, "3")),
                  HF_ACTIVITY("half", hf_json(w, "4")));
}

static hf_value single(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_activity(w, "half", hf_json(w, "1"));
}

static hf_value pair(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_all(w, HF_CHILD("waits", NULL, .id = "left"), HF_CHILD("waits", NULL, .id = "right"));
}

static hf_value careful(hf_ctx *w, hf_value in)
{
    const hf_error *e = NULL;
    seen *s = hf_state(w);

    (void)in;
    if (hf_protect(w, pair, NULL, NULL, &e))
        (void)snprintf(s->failure, sizeof(s->failure), "%s", e->type);
    (void)hf_receive(w, "tick");
    return NULL;
}

static hf_value rounds(hf_ctx *w, hf_value in)
{
    (void)hf_receive(w, "tick");
    if (hf_int(in, "left", 0) > 0)
        hf_continue_as_new(w, hf_json(w, "{'left': %lld}", (long long)hf_int(in, "left", 0) - 1));
    return NULL;
}

static hf_value family(hf_ctx *w, hf_value in)
{
    seen *s = hf_state(w);
    const char *call = "";
    hf_future child;

    s->before = (int64_t)hf_children(w, NULL, 0);
    child = hf_spawn_child(w, "rounds", in, .id = "kid");
    s->within = (int64_t)hf_children(w, NULL, 0);
    for (;;) {
        (void)hf_receive(w, "tick");
        s->after = (int64_t)hf_children(w, &call, 1);
        (void)snprintf(s->call, sizeof(s->call), "%s", call);
        s->joined++;
        if (s->joined == 2)
            return hf_join(w, child);
    }
}

static hf_value look_read(hf_mem *mem, const void *state, hf_value args)
{
    const seen *s = state;

    (void)args;
    return hf_json(mem,
                   "{'slept': %lld, 'joined': %lld, 'before': %lld, 'within': %lld, 'after': %lld,"
                   " 'call': %s, 'shape': %s, 'failure': %s}",
                   (long long)s->slept, (long long)s->joined, (long long)s->before,
                   (long long)s->within, (long long)s->after, s->call, s->shape, s->failure);
}

static const hf_signal_def signals[] = {{.name = "tick"}, {0}};
static const hf_query_def queries[] = {{.name = "look", .read = look_read}, {0}};
static const hf_activity_def activities[] = {{.name = "half", .run = hf_echo}, {0}};

#define LOOKED_AT(name, code)                                                                      \
    {                                                                                              \
        .type = name, .run = code, .state_size = sizeof(seen), .signals = signals,                 \
        .queries = queries                                                                         \
    }
static const hf_workflow_def workflows[] = {
    LOOKED_AT("sleeper", sleeper), LOOKED_AT("waits", waits),   LOOKED_AT("parent", parent),
    LOOKED_AT("nested", nested),   LOOKED_AT("single", single), LOOKED_AT("careful", careful),
    LOOKED_AT("rounds", rounds),   LOOKED_AT("family", family), {0}};
static const hf_app app = {.name = "looks", .workflows = workflows, .activities = activities};
static const hf_workflow_def drifted_workflows[] = {
    LOOKED_AT("nested", flat), LOOKED_AT("single", flat), LOOKED_AT("waits", waits), {0}};
static const hf_app drifted = {
    .name = "looks", .workflows = drifted_workflows, .activities = activities};

static void begin(hf_engine *d, const char *type, hf_value in)
{
    hf_kit_ok(d, hf_start(d, type, in, .id = "r"));
    hf_kit_ok(d, hf_test_drain(d));
}

/* By code that knows nothing but history. */
static hf_value look(hf_engine *d)
{
    hf_value out = NULL;

    hf_test_crash(d);
    hf_kit_ok(d, hf_query(d, "r", "look", NULL, &out));
    return out;
}

static void tick(hf_engine *d, const char *id)
{
    hf_kit_ok(d, hf_signal(d, id, "tick", NULL));
    hf_kit_ok(d, hf_test_drain(d));
}

/* A timer row that says fired without history: the code still sleeps. */
HF_EVERY_WAY(b090_fired_row_is_not_believed)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;

    begin(d, "sleeper", NULL);
    hf_kit_sql(d, "UPDATE timer SET status = 2, closed_us = 1");
    hf_kit_ok(d, hf_query(d, "r", "look", NULL, &out));
    ck_assert_int_eq(hf_int(out, "slept", -1), 0);
    hf_test_crash(d);
    hf_kit_ok(d, hf_query(d, "r", "look", NULL, &out));
    ck_assert_int_eq(hf_int(out, "slept", -1), 0);
    ck_assert_int_eq(hf_test_count(d, "r", "TimerFired"), 0);
    hf_kit_sql(d, "UPDATE timer SET status = 1, closed_us = NULL");
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(5)));
    ck_assert_int_eq(hf_int(look(d), "slept", -1), 1);
    hf_kit_close(d);
}

/* A child's row that says it has ended, which the parent's history does not: the code waits on. */
HF_EVERY_WAY(b091_ended_child_row_is_not_believed)
{
    hf_engine *d = hf_kit_open(kind, &app);
    char sql[128];
    int64_t child;
    int64_t status;

    begin(d, "parent", NULL);
    child = hf_kit_number(d, "SELECT max(key) FROM run");
    (void)snprintf(sql, sizeof(sql), "SELECT status FROM run WHERE key = %lld", (long long)child);
    status = hf_kit_number(d, sql);
    (void)snprintf(sql, sizeof(sql), "UPDATE run SET status = %d, closed_us = 1 WHERE key = %lld",
                   HF_RUN_STATUS_COMPLETED, (long long)child);
    hf_kit_sql(d, sql);
    ck_assert_int_eq(hf_int(look(d), "joined", -1), 0);
    (void)snprintf(sql, sizeof(sql),
                   "UPDATE run SET status = %lld, closed_us = NULL WHERE key = %lld",
                   (long long)status, (long long)child);
    hf_kit_sql(d, sql);
    hf_test_crash(d);
    tick(d, "kid");
    ck_assert_int_eq(hf_int(look(d), "joined", -1), 1);
    hf_kit_close(d);
}

/* What nested barriers give has the shape of the leaves, in replay as when it happened. */
HF_EVERY_WAY(b093_nested_results_keep_their_shape)
{
    hf_engine *d = hf_kit_open(kind, &app);

    begin(d, "nested", NULL);
    ck_assert_str_eq(hf_str(look(d), "shape", "?"), "");
    tick(d, "leaf");
    ck_assert_str_eq(hf_str(look(d), "shape", "?"), "[1,[2,[true,3]],4]");
    tick(d, "r");
    ck_assert_str_eq(hf_str(look(d), "shape", "?"), "[1,[2,[true,3]],4]");
    ck_assert_str_eq(hf_kit_result(d, "r"), "[1,[2,[true,3]],4]");
    hf_kit_close(d);
}

/* Code with the same leaves in other groups, or with groups where history has none, is refused. */
HF_EVERY_WAY(b094_topology_drift_is_rejected)
{
    static const char *const types[] = {"nested", "single"};

    for (size_t i = 0; i < 2; i++) {
        hf_engine *d = hf_kit_open(kind, &app);
        hf_value out = NULL;

        begin(d, types[i], NULL);
        d = hf_kit_reopen(d, &drifted);
        ck_assert_int_eq(hf_query(d, "r", "look", NULL, &out), HF_REPLAY_BLOCKED);
        ck_assert_ptr_nonnull(
            strstr(hf_errmsg(d), "parallel all barrier matching current topology"));
        d = hf_kit_reopen(d, &app);
        (void)look(d);
        hf_kit_close(d);
    }
}

/* Two failures of one moment: the leaf with the lower place is the one, in every replay. */
HF_EVERY_WAY(b095_tie_goes_to_the_lower_place)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result out;

    begin(d, "careful", NULL);
    hf_kit_ok(
        d, hf_command(d, "pause", hf_json(d, "{'workflow_id': 'r'}"), hf_mem_of_engine(d), &out));
    hf_kit_ok(d, hf_cancel(d, "right", "first"));
    hf_kit_ok(d, hf_terminate(d, "left", "second"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(
        d, hf_command(d, "resume", hf_json(d, "{'workflow_id': 'r'}"), hf_mem_of_engine(d), &out));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_kit_event(d, "r", "ChildRunCancelled", 0)->time_us,
                     hf_kit_event(d, "r", "ChildRunTerminated", 0)->time_us);
    ck_assert_str_eq(hf_str(look(d), "failure", ""), "child_terminated");
    tick(d, "r");
    ck_assert_str_eq(hf_test_status(d, "r"), "completed");
    ck_assert_str_eq(hf_str(look(d), "failure", ""), "child_terminated");
    hf_kit_close(d);
}

/* A child is there for the code once its call is recorded and something later was seen; its call
   stays the same when the child continues as new. */
HF_EVERY_WAY(b097_children_are_seen_when_they_are_recorded)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out;
    char call[32];

    begin(d, "family", hf_json(d, "{'left': 1}"));
    out = look(d);
    ck_assert_int_eq(hf_int(out, "before", -1), 0);
    ck_assert_int_eq(hf_int(out, "within", -1), 0);
    tick(d, "r");
    out = look(d);
    ck_assert_int_eq(hf_int(out, "within", -1), 0); /* what it was stays so */
    ck_assert_int_eq(hf_int(out, "after", -1), 1);
    (void)snprintf(call, sizeof(call), "%s", hf_str(out, "call", ""));
    ck_assert_str_eq(call, hf_kit_said(d, "r", "ChildRunStarted", 0, HF_KEY_CHILD_CALL_ID));
    tick(d, "kid"); /* it continues as new */
    ck_assert_int_eq(hf_test_count(d, "r", "ChildRunStarted"), 2);
    tick(d, "r");
    out = look(d);
    ck_assert_int_eq(hf_int(out, "after", -1), 1);
    ck_assert_str_eq(hf_str(out, "call", ""), call);
    tick(d, "kid");
    ck_assert_str_eq(hf_test_status(d, "r"), "completed");
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/query_replay", HF_WAYS(b090_fired_row_is_not_believed),
                 HF_WAYS(b091_ended_child_row_is_not_believed),
                 HF_WAYS(b093_nested_results_keep_their_shape),
                 HF_WAYS(b094_topology_drift_is_rejected),
                 HF_WAYS(b095_tie_goes_to_the_lower_place),
                 HF_WAYS(b097_children_are_seen_when_they_are_recorded))
