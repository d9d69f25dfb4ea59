/* Why a run is not moving: every code of the catalogue is brought about for real and asked for. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fault.h"
#include "engine/command.h"
#include "engine/core_impl.h"
#include "engine/engine_impl.h"
#include "engine/fleet.h"
#include "lib/agree.h"
#include "lib/handlers.h"
#include "lib/kit.h"
#include "project/why.h"

static _Atomic bool released; /* lets the looping workflow go */

static hf_value faulty(hf_act *a, hf_value in)
{
    (void)in;
    return hf_retry(a, "boom", "the card reader is offline");
}

static hf_value receiver(hf_ctx *w, hf_value in)
{
    return hf_receive(w, "approved-by", .timeout = hf_int(in, "timeout", 0));
}

static bool never(const void *state)
{
    return *(const int *)state > 0;
}

static hf_value conditional(hf_ctx *w, hf_value in)
{
    return hf_json(w, "%d", hf_wait(w, "stock", never, .timeout = hf_int(in, "timeout", 0)));
}

static hf_value raise_stock(hf_ctx *w, void *state, hf_value in)
{
    (void)w;
    *(int *)state += 1;
    return in;
}

static hf_value sleeper(hf_ctx *w, hf_value in)
{
    hf_sleep(w, hf_hours(8));
    return in;
}

static hf_value parent(hf_ctx *w, hf_value in)
{
    return hf_child(w, "receiver", in, .id = "kid");
}

static hf_value caller(hf_ctx *w, hf_value in)
{
    return hf_activity(w, hf_str(in, "activity", "echo"), in, .max_attempts = 3,
                       .heartbeat = hf_int(in, "heartbeat", 0));
}

static hf_value pair(hf_ctx *w, hf_value in)
{
    return hf_all(w, HF_ACTIVITY("nobody", in), HF_ACTIVITY("nobody", in));
}

/* An activity and a child are open at the same time, and then a timer. */
static hf_value busy(hf_ctx *w, hf_value in)
{
    (void)hf_all(w, HF_CHILD("receiver", in, .id = "busy-kid"), HF_ACTIVITY("echo", in));
    hf_sleep(w, hf_hours(1));
    return in;
}

static hf_value renamed(hf_ctx *w, hf_value in)
{
    return hf_json(w, "%d", hf_wait(w, "storage", never, .timeout = hf_int(in, "timeout", 0)));
}

static hf_value triple(hf_ctx *w, hf_value in)
{
    return hf_all(w, HF_ACTIVITY("nobody", in), HF_ACTIVITY("nobody", in),
                  HF_ACTIVITY("nobody", in));
}

static hf_value failing(hf_ctx *w, hf_value in)
{
    (void)in;
    hf_fail(w, "out_of_tea", "there is no tea");
}

static hf_value again(hf_ctx *w, hf_value in)
{
    if (hf_int(in, "n", 0) == 1)
        return in;
    hf_continue_as_new(w, hf_json(w, "{'n': 1}"));
}

static hf_value one(hf_mem *mem, void *arg)
{
    (void)arg;
    return hf_json_(mem, "1");
}

/* Enough events that the run should continue as new, some hundred a turn. */
static hf_value long_life(hf_ctx *w, hf_value in)
{
    for (int turn = 0; turn < 26; turn++) {
        for (int i = 0; i < 400; i++)
            (void)hf_side_effect(w, "number", one, NULL);
        hf_sleep(w, 1);
    }
    return hf_receive(w, "approved-by", .timeout = hf_int(in, "timeout", 0));
}

static hf_value versioned(hf_ctx *w, hf_value in)
{
    (void)hf_version(w, "change", HF_VERSION_DEFAULT, 1);
    return hf_receive(w, "approved-by", .timeout = hf_int(in, "timeout", 0));
}

static hf_value loop(hf_ctx *w, hf_value in)
{
    (void)in;
    while (!atomic_load(&released))
        ;
    return hf_json(w, "'at last'");
}

#define APPROVED                                                                                   \
    (const hf_signal_def[])                                                                        \
    {                                                                                              \
        {"approved-by", NULL},                                                                     \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
static const hf_workflow_def workflows[] = {
    {.type = "receiver", .run = receiver, .signals = APPROVED},
    {.type = "conditional",
     .run = conditional,
     .state_size = sizeof(int),
     .updates = (const hf_update_def[]){{.name = "raise", .apply = raise_stock}, {0}}},
    {.type = "sleeper", .run = sleeper},
    {.type = "parent", .run = parent},
    {.type = "caller", .run = caller},
    {.type = "pair", .run = pair},
    {.type = "busy", .run = busy},
    {.type = "failing", .run = failing},
    {.type = "again", .run = again},
    {.type = "versioned", .run = versioned, .signals = APPROVED},
    {.type = "loop", .run = loop},
    {.type = "long_life", .run = long_life, .signals = APPROVED},
    {0}};
static const hf_activity_def activities[] = {
    {.name = "echo", .run = hf_echo}, {.name = "faulty", .run = faulty}, {0}};
static const hf_app app = {.name = "test", .workflows = workflows, .activities = activities};

/* The same types with other bodies: what a wrong build looks like. */
static const hf_workflow_def changed_workflows[] = {
    {.type = "receiver", .run = sleeper, .signals = APPROVED},
    {.type = "conditional", .run = renamed, .state_size = sizeof(int)},
    {.type = "versioned", .run = receiver, .signals = APPROVED},
    {.type = "pair", .run = triple},
    {0}};
static const hf_app changed = {
    .name = "test", .workflows = changed_workflows, .activities = activities};
/* The same code under another name and revision. */
static const hf_workflow_def renamed_workflows[] = {{.type = "collector",
                                                     .aliases = "receiver",
                                                     .run = receiver,
                                                     .signals = APPROVED,
                                                     .revision = "2"},
                                                    {0}};
static const hf_app renamed_app = {
    .name = "test", .workflows = renamed_workflows, .activities = activities};
static const hf_workflow_def no_workflows[] = {{0}};
static const hf_app empty = {.name = "test", .workflows = no_workflows, .activities = activities};

static hf_value why(hf_engine *d, const char *id)
{
    hf_value out = NULL;

    hf_kit_ok(d, hf_why(d, id, hf_mem_of_engine(d), &out));
    ck_assert_ptr_nonnull(out);
    hf_agree_check(d, id, hf_get(out, "liveness"));
    return out;
}

/* What the published run summary may say of a run for which `why` has the code; NULL: several
   things. */
static const char *states_of(const char *code)
{
    static const char *const table[][2] = {
        {"waiting_for_signal", "waiting_for_signal"},
        {"signal_undeclared", "waiting_for_signal"},
        {"waiting_for_condition", "waiting_for_condition"},
        {"waiting_for_timer", "timer_scheduled"},
        {"waiting_for_child", "waiting_for_child"},
        {"waiting_for_update", "workflow_task_ready"},
        {"turn_ready", "workflow_task_ready timer_task_ready"},
        {"running_activity", "activity_task_leased"},
        {"running_unrecorded", "activity_running_without_task"},
        {"retrying_activity", "activity_task_ready"},
        {"heartbeat_late", "activity_task_leased"},
        {"queued_behind", "activity_task_ready"},
        {"queued_no_worker", "activity_task_ready"},
        {"no_compatible_worker", "workflow_task_waiting_for_compatible_worker "
                                 "activity_task_waiting_for_compatible_worker "
                                 "timer_task_waiting_for_compatible_worker"},
        {"replay_blocked_shape", "workflow_replay_blocked"},
        {"replay_blocked_key", "workflow_replay_blocked"},
        {"replay_blocked_topology", "workflow_replay_blocked"},
        {"replay_blocked_version", "workflow_replay_blocked"},
        {"quarantined", "run_quarantined"},
        {"lease_expired", "repair_needed"},
        {"task_missing", "repair_needed"},
        {"paused", "run_paused"},
        {"closed_completed", "closed"},
        {"closed_continued", "closed"},
        {"closed_failed", "closed"},
        {"closed_timed_out", "closed"},
        {"closed_cancelled", "closed"},
        {"closed_terminated", "closed"},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (strcmp(table[i][0], code) == 0)
            return table[i][1];
    return NULL;
}

/* The code, and that the answer is whole: its severity is the table's, it has a sentence without
   holes, it says what it is about, and its state is one that goes with the code. */
static const char *code(hf_engine *d, const char *id)
{
    hf_value answer = why(d, id);
    const char *found = hf_str(answer, "code", "");
    const char *text = hf_str(answer, "text", "");
    const char *state = hf_str(answer, "liveness.liveness_state", "");
    const hf_why_row *row = NULL;

    for (size_t i = 0; i < HF_WHY_COUNT; i++)
        if (strcmp(hf_why_rows[i].code, found) == 0)
            row = &hf_why_rows[i];
    ck_assert_msg(row, "%s is not in the catalogue", found);
    ck_assert_str_eq(hf_str(answer, "severity", ""), hf_why_severity_text(row->severity));
    ck_assert_msg(text[0] && !strpbrk(text, "{}[]|") && !strstr(text, "unknown"), "%s: %s", found,
                  text);
    ck_assert_str_ne(hf_str(answer, "subject.kind", ""), "");
    ck_assert_str_ne(state, "");
    ck_assert_msg(!states_of(found) || strstr(states_of(found), state), "%s is %s", found, state);
    return found;
}

/* Everything but activities: those stay where they are. */
static void pump_without_activities(hf_engine *d)
{
    while (hf_writer_step(d->writer) || hf_core_step(d->core))
        ;
}

/* A run that waits for what it should wait for says so and since when. */
HF_BOTH_ENGINES(why_waits)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "receiver", "a", hf_json(d, "{'timeout': 28800000}"));
    hf_kit_skip(d, hf_minutes(41));
    ck_assert_str_eq(code(d, "a"), "waiting_for_signal");
    ck_assert_str_eq(
        hf_str(why(d, "a"), "text", ""),
        "Waiting for signal approved-by (step 1) since 41 min; timeout in 7 h 19 min.");
    ck_assert_str_eq(hf_str(why(d, "a"), "next.0.action", ""), "signal");
    ck_assert_str_eq(hf_str(why(d, "a"), "next.0.target", ""), "approved-by");
    ck_assert_str_eq(hf_str(why(d, "a"), "since", ""), "2026-01-01T00:00:00.000000Z");
    ck_assert_int_eq(hf_int(why(d, "a"), "evidence.0.event", 0), 3);
    ck_assert_str_eq(hf_str(why(d, "a"), "liveness.wait_kind", ""), "signal");
    ck_assert_str_eq(hf_str(why(d, "a"), "liveness.repair_blocked_reason", ""),
                     "repair_not_needed");
    hf_kit_begin(d, "conditional", "b", hf_json(d, "{}"));
    ck_assert_str_eq(code(d, "b"), "waiting_for_condition");
    ck_assert_str_eq(hf_str(why(d, "b"), "text", ""),
                     "Waiting for a condition (stock) (step 1) since 0 s.");
    hf_kit_begin(d, "sleeper", "c", hf_json(d, "{}"));
    ck_assert_str_eq(code(d, "c"), "waiting_for_timer");
    hf_kit_begin(d, "parent", "d", hf_json(d, "{}"));
    ck_assert_str_eq(code(d, "d"), "waiting_for_child");
    ck_assert_str_eq(hf_str(why(d, "d"), "subject.name", ""), "kid");
    hf_kit_close(d);
}

/* Of several things that are open the first of the published order counts: an activity before a
   child, whichever was asked for first; and what is due is no longer scheduled. */
HF_BOTH_ENGINES(why_precedence)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "busy", hf_json(d, "{}"), .id = "a"));
    pump_without_activities(d);
    ck_assert_str_eq(code(d, "a"), "running_activity");
    ck_assert_str_eq(hf_str(why(d, "a"), "liveness.wait_kind", ""), "activity");
    ck_assert_int_eq(hf_int(why(d, "a"), "liveness.open_wait_count", 0), 2);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "waiting_for_child");
    ck_assert_str_eq(hf_str(why(d, "a"), "liveness.wait_kind", ""), "child");
    hf_kit_ok(d, hf_signal(d, "busy-kid", "approved-by", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "waiting_for_timer");
    hf_kit_skip(d, hf_hours(2));
    ck_assert_str_eq(hf_str(why(d, "a"), "liveness.liveness_state", ""), "timer_task_ready");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "closed_completed");
    hf_kit_close(d);
}

/* A message that came and was not applied yet is what the run is about to do. */
HF_BOTH_ENGINES(why_messages)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;

    hf_kit_begin(d, "conditional", "a", hf_json(d, "{}"));
    (void)!hf_update(d, "a", "raise", hf_json(d, "{}"), 0, &out);
    if (strcmp(hf_test_status(d, "a"), "completed") != 0)
        ck_assert_str_eq(code(d, "a"), "waiting_for_update");
    hf_kit_ok(d, hf_start(d, "receiver", NULL, .id = "b"));
    ck_assert_str_eq(code(d, "b"), "turn_ready");
    hf_kit_close(d);
}

/* The life of an activity, from waiting to running to failing. */
HF_BOTH_ENGINES(why_activities)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "caller", hf_json(d, "{'heartbeat': 60000}"), .id = "a"));
    pump_without_activities(d);
    ck_assert_str_eq(code(d, "a"), "running_activity");
    hf_kit_skip(d, hf_seconds(61));
    ck_assert_str_eq(code(d, "a"), "heartbeat_late");
    hf_kit_begin(d, "caller", "b", hf_json(d, "{'activity': 'faulty'}"));
    ck_assert_str_eq(code(d, "b"), "retrying_activity");
    ck_assert_ptr_nonnull(strstr(hf_str(why(d, "b"), "text", ""), "the card reader is offline"));
    hf_kit_begin(d, "caller", "c", hf_json(d, "{'activity': 'nobody'}"));
    ck_assert_str_eq(code(d, "c"), "queued_no_worker");
    hf_kit_close(d);
}

/* Every place is taken: the next activity waits behind the others. */
HF_BOTH_ENGINES(why_queued_behind)
{
    hf_engine *d = hf_kit_open(kind, &app);

    while (hf_pool_reserve(d->core->pool))
        ;
    hf_kit_ok(d, hf_start(d, "caller", NULL, .id = "a"));
    pump_without_activities(d);
    ck_assert_str_eq(code(d, "a"), "queued_behind");
    hf_kit_close(d);
}

/* Code that does not fit history is named by what differs. */
HF_BOTH_ENGINES(why_replay_blocked)
{
    static const char *const ids[] = {"shape", "version", "topology", "key"};
    static const char *const types[] = {"receiver", "versioned", "pair", "conditional"};
    static const char *const codes[] = {"replay_blocked_shape", "replay_blocked_version",
                                        "replay_blocked_topology", "replay_blocked_key"};
    hf_engine *d = hf_kit_open(kind, &app);

    for (size_t i = 0; i < 4; i++)
        hf_kit_begin(d, types[i], ids[i], hf_json(d, "{}"));
    d = hf_kit_reopen(d, &changed);
    for (int64_t i = 0; i < 4; i++) {
        char sql[64];

        (void)snprintf(sql, sizeof(sql), "SELECT key FROM run ORDER BY key LIMIT 1 OFFSET %d",
                       (int)i);
        hf_core_notify(d->core, hf_kit_number(d, sql));
    }
    hf_kit_ok(d, hf_test_drain(d));
    for (size_t i = 0; i < 4; i++) {
        ck_assert_str_eq(code(d, ids[i]), codes[i]);
        ck_assert_str_eq(hf_str(why(d, ids[i]), "liveness.liveness_state", ""),
                         "workflow_replay_blocked");
        ck_assert(hf_bool(why(d, ids[i]), "liveness.task_problem", false));
        ck_assert(hf_bool(why(d, ids[i]), "liveness.can_repair", false));
    }
    hf_kit_close(d);
}

/* A process that says that it is there, for every queue. */
static void process_beat(hf_engine *d, const char *name)
{
    const hf_worker_row row = {.name = hf_slice_of(name),
                               .queue = HF_SLICE("*"),
                               .scope = HF_SLICE(""),
                               .host = HF_SLICE("somewhere"),
                               .supported = HF_SLICE("*")};
    hf_err err = {0};

    ck_assert_msg(hf_engine_worker_beat(d, &row, &err) == HF_OK, "%s", err.text);
}

/* A program without the definition: that it is there itself, as nodes of a shared store say, is no
   help; another one may have it. */
HF_BOTH_ENGINES(why_unknown_type)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_fleet_self self;

    hf_fleet_self_fill(&self);
    hf_kit_ok(d, hf_start(d, "receiver", NULL, .id = "a"));
    d = hf_kit_reopen(d, &empty);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "unknown_type");
    process_beat(d, self.name);
    ck_assert_str_eq(code(d, "a"), "unknown_type");
    process_beat(d, "engine-1@elsewhere");
    ck_assert_str_eq(code(d, "a"), "turn_ready");
    hf_kit_close(d);
}

/* A parent whose child nobody here can run names it, and not the one beside it that is well. */
HF_BOTH_ENGINES(why_child_unknown_type)
{
    static const hf_workflow_def fewer[] = {{.type = "parent", .run = parent}, {0}};
    static const hf_app without = {.name = "why", .workflows = fewer};
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "parent", "d", hf_json(d, "{}"));
    ck_assert_str_eq(code(d, "d"), "waiting_for_child");
    d = hf_kit_reopen(d, &without);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "d"), "child_unknown_type");
    ck_assert_str_eq(hf_str(why(d, "d"), "text", ""),
                     "Waiting for the child kid (step 1) since 0 s, and this program has no "
                     "workflow of type receiver.");
    ck_assert_str_eq(hf_str(why(d, "d"), "subject.name", ""), "kid");
    ck_assert_str_eq(hf_str(why(d, "d"), "next.0.action", ""), "deploy");
    process_beat(d, "engine-1@elsewhere");
    ck_assert_str_eq(code(d, "d"), "waiting_for_child");
    hf_kit_close(d);
}

static hf_outcome machine_wait(hf_step *s)
{
    return hf_park(s, "go", HF_NO_TIMEOUT, "later", hf_step_state(s));
}

static hf_outcome machine_end(hf_step *s)
{
    return hf_done(s, hf_step_state(s));
}

/* A build without the step that comes next says which it is; the step that is there again goes on.
 */
HF_BOTH_ENGINES(sm55_why_unknown_step)
{
    static const hf_signal_def signals[] = {{"go", NULL}, {0}};
    static const hf_step_def whole[] = {{"wait", machine_wait}, {"later", machine_end}, {0}};
    static const hf_step_def less[] = {{"wait", machine_wait}, {0}};
    static const hf_machine_def machines[2][2] = {
        {{"m", .initial = "wait", .steps = whole, .signals = signals}, {0}},
        {{"m", .initial = "wait", .steps = less, .signals = signals}, {0}}};
    static const hf_app builds[] = {{.name = "why", .machines = machines[0]},
                                    {.name = "why", .machines = machines[1]}};
    hf_engine *d = hf_kit_open(kind, &builds[0]);

    hf_kit_begin(d, "m", "a", hf_json(d, "{}"));
    d = hf_kit_reopen(d, &builds[1]);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "waiting_for_signal");
    hf_kit_ok(d, hf_signal(d, "a", "go", NULL));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_str_eq(code(d, "a"), "unknown_step");
    ck_assert_str_eq(hf_str(why(d, "a"), "text", ""),
                     "The machine m of this program has no step later.");
    d = hf_kit_reopen(d, &builds[0]);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "closed_completed");
    hf_kit_close(d);
}

/* The same with the limit that a step must pass. */
HF_BOTH_ENGINES(why_unknown_limit)
{
    static const hf_machine_def machines[] = {{"m", .job = machine_end}, {0}};
    static const hf_limit_def limits[] = {{"mail", .allowed = 2, .per = 1000}, {0}};
    static const hf_app builds[] = {{.name = "why", .machines = machines, .limits = limits},
                                    {.name = "why", .machines = machines}};
    hf_engine *d = hf_kit_open(kind, &builds[0]);

    hf_kit_ok(
        d, hf_start(d, "m", hf_json(d, "{}"), .id = "a", .rate_limit = "mail:eu", .delay = 1000));
    d = hf_kit_reopen(d, &builds[1]);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_str_eq(code(d, "a"), "unknown_limit");
    ck_assert_str_eq(hf_str(why(d, "a"), "subject.name", ""), "mail:eu");
    d = hf_kit_reopen(d, &builds[0]);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "closed_completed");
    hf_kit_close(d);
}

/* A deadline that passed while nobody looked. */
HF_BOTH_ENGINES(why_deadline_passed)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start_with(d, "receiver",
                               &(hf_start_opts){.size_ = sizeof(hf_start_opts),
                                                .id = "a",
                                                .run_timeout = hf_seconds(5)}));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_skip(d, hf_seconds(6));
    ck_assert_str_eq(code(d, "a"), "deadline_passed");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "closed_timed_out");
    hf_kit_close(d);
}

/* A row that is gone is named, with what it stood for. */
HF_BOTH_ENGINES(why_task_missing)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "sleeper", "a", hf_json(d, "{}"));
    hf_kit_sql(d, "DELETE FROM timer");
    ck_assert_str_eq(code(d, "a"), "task_missing");
    ck_assert_str_eq(hf_str(why(d, "a"), "liveness.liveness_state", ""), "repair_needed");
    ck_assert_str_eq(hf_str(why(d, "a"), "liveness.wait_kind", ""), "timer");
    hf_kit_ok(d, hf_terminate(d, "a", "test"));
    hf_kit_ok(d, hf_start(d, "caller", NULL, .id = "b"));
    pump_without_activities(d);
    hf_kit_sql(d, "DELETE FROM activity");
    ck_assert_str_eq(code(d, "b"), "running_unrecorded");
    ck_assert_str_eq(hf_str(why(d, "b"), "liveness.repair_blocked_reason", ""),
                     "repair_not_needed");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "b"), "closed_completed");
    hf_kit_close(d);
}

/* Each way to be over has its own word. */
HF_BOTH_ENGINES(why_closed)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "failing", "a", hf_json(d, "{}"));
    ck_assert_str_eq(code(d, "a"), "closed_failed");
    ck_assert_str_eq(hf_str(why(d, "a"), "text", ""), "Failed 0 s ago: there is no tea.");
    hf_kit_begin(d, "receiver", "b", hf_json(d, "{}"));
    hf_kit_ok(d, hf_cancel(d, "b", "not wanted"));
    ck_assert_str_eq(code(d, "b"), "closed_cancelled");
    hf_kit_begin(d, "receiver", "c", hf_json(d, "{}"));
    hf_kit_ok(d, hf_terminate(d, "c", "not wanted"));
    ck_assert_str_eq(code(d, "c"), "closed_terminated");
    hf_kit_close(d);
}

/* Each run of an instance can be asked about by its number. */
HF_BOTH_ENGINES(why_closed_continued)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;

    hf_kit_begin(d, "again", "a", hf_json(d, "{}"));
    ck_assert_str_eq(code(d, "a"), "closed_completed");
    ck_assert_str_eq(code(d, "a#1"), "closed_continued");
    ck_assert_str_eq(hf_str(why(d, "a#1"), "liveness.repair_blocked.label", ""), "Historical Run");
    ck_assert_int_eq(hf_why(d, "a#3", hf_mem_of_engine(d), &out), HF_NOTFOUND);
    ck_assert_int_eq(hf_why(d, "a#x", hf_mem_of_engine(d), &out), HF_INVALID);
    hf_kit_close(d);
}

static void command(hf_engine *d, hf_command_type type, const char *id)
{
    const hf_request request = {.type = type, .id = hf_slice_of(id), .reason = HF_SLICE("a test")};
    hf_reply reply;
    hf_err err = {0};

    hf_test_ok(hf_engine_command(d, &request, hf_mem_of_engine(d), &reply, &err), &err, "command");
    ck_assert_int_eq(reply.status, HF_COMMAND_STATUS_ACCEPTED);
}

/* An operator holds the run. */
HF_BOTH_ENGINES(why_paused)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "receiver", "a", hf_json(d, "{}"));
    command(d, HF_COMMAND_TYPE_PAUSE, "a");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "paused");
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_str_eq(code(d, "a"), "paused");
    command(d, HF_COMMAND_TYPE_RESUME, "a");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "waiting_for_signal");
    hf_kit_close(d);
}

/* A run whose code is not run any more, until a repair says that it may be. */
HF_BOTH_ENGINES(why_quarantined)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "receiver", "a", hf_json(d, "{}"));
    hf_kit_sql(d, "UPDATE run SET blocked = 2, crash_count = 5");
    hf_test_crash(d);
    hf_kit_ok(d, hf_signal(d, "a", "approved-by", NULL));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_str_eq(code(d, "a"), "quarantined");
    command(d, HF_COMMAND_TYPE_REPAIR, "a");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "closed_completed");
    hf_kit_close(d);
}

/* A task whose worker went away, and one that cannot be handed over. */
HF_BOTH_ENGINES(why_task_trouble)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "receiver", NULL, .id = "a"));
    hf_kit_sql(d, "UPDATE task SET status = 2, epoch = 1, owner = 'gone', attempt = 1, "
                  "lease_until_us = available_us + 1000000");
    hf_kit_skip(d, hf_seconds(2));
    ck_assert_str_eq(code(d, "a"), "lease_expired");
    hf_kit_sql(d, "UPDATE task SET status = 1, owner = NULL, lease_until_us = NULL, trouble = 1, "
                  "repair_count = 2, repair_us = available_us + 60000000");
    ck_assert_str_eq(code(d, "a"), "repair_backoff");
    ck_assert_str_eq(hf_str(why(d, "a"), "liveness.next_task_transport_state", ""),
                     "repair_backoff");
    ck_assert_str_eq(hf_str(why(d, "a"), "liveness.liveness_state", ""), "repair_needed");
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_close(d);
}

/* A history that has become long. */
HF_BOTH_ENGINES(why_history_budget)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "long_life", "a", hf_json(d, "{}"));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_str_eq(code(d, "a"), "history_budget");
    hf_kit_close(d);
}

/* A reader that never ends lets the write-ahead log grow. */
START_TEST(why_store_wal_bound)
{
    enum { VALUE_BYTES = 1 << 20, VALUES = 120 };
    hf_engine *d = hf_kit_open(HF_ENGINE_SQLITE, &app);
    char *text = malloc(VALUE_BYTES + 1);
    hf_db *reader = NULL;
    hf_db_cursor *cursor = NULL;
    uint64_t chance = 1;
    bool row = false;
    hf_err err = {0};
    char id[16];

    ck_assert_ptr_nonnull(text);
    for (size_t i = 0; i < VALUE_BYTES; i++) /* that no compression makes small */
        text[i] = (char)('!' + ((chance = chance * 6364136223846793005U + 1) >> 33) % 60U);
    text[VALUE_BYTES] = 0;
    hf_kit_begin(d, "receiver", "a", hf_json(d, "{}"));
    hf_test_ok(hf_test_place_dial(hf_kit_place(d), HF_DB_READ, NULL, 0, &reader, &err), &err,
               "a reader");
    hf_test_ok(hf_db_begin(reader, HF_DB_READ, &err), &err, "a snapshot");
    hf_test_ok(hf_db_query(reader, HF_STMT_SWEEP_LAST, NULL, 0, &cursor, &err), &err, "a query");
    hf_test_ok(hf_db_step(cursor, &row, &err), &err, "a row");
    hf_db_end(cursor);
    for (int i = 0; i < VALUES; i++) {
        (void)snprintf(id, sizeof(id), "big%d", i);
        hf_kit_ok(d, hf_start(d, "receiver", hf_json(d, "{'text': %s}", text), .id = id));
    }
    ck_assert_str_eq(code(d, "a"), "store_wal_bound");
    hf_db_rollback(reader);
    hf_db_close(reader);
    free(text);
    hf_kit_close(d);
}
END_TEST

/* Workflow code that loops, in an engine with threads of its own. */
START_TEST(why_task_timeout)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_engine *d = NULL;
    const hf_error *e = NULL;
    hf_value out = NULL;
    bool seen = false;

    atomic_store(&released, false);
    ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &d), HF_OK);
    hf_kit_ok(d, hf_start(d, "loop", NULL, .id = "a"));
    for (int i = 0; i < 200 && !seen;
         i++) { /* it moves: what others say may be of another moment */
        (void)nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        hf_kit_ok(d, hf_why(d, "a", hf_mem_of_engine(d), &out));
        seen = strcmp(hf_str(out, "code", ""), "task_timeout") == 0;
    }
    atomic_store(&released, true);
    ck_assert(seen);
    hf_kit_ok(d, hf_result(d, "a", 20000, &out, &e));
    hf_close(d);
    hf_test_place_free(place);
}
END_TEST

/* The page lists every code with its severity and meaning, and nothing else. */
START_TEST(page_lists_every_code)
{
    FILE *file = fopen(HF_TEST_DIR "/../docs/reference/why.md", "r");
    static char page[32768];
    char line[2048];
    size_t rows = 0;
    size_t len;

    ck_assert_ptr_nonnull(file);
    len = fread(page, 1, sizeof(page) - 1, file);
    ck_assert_int_eq(fclose(file), 0);
    page[len] = 0;
    for (size_t i = 0; i < HF_WHY_COUNT; i++) {
        const hf_why_row *row = &hf_why_rows[i];

        (void)snprintf(line, sizeof(line), "| `%s` | %s | %s | %s |\n", row->code,
                       hf_why_severity_text(row->severity), row->action[0] ? row->action : "-",
                       row->docs);
        ck_assert_msg(strstr(page, line), "the page does not have: %s", line);
    }
    for (const char *at = page; (at = strstr(at, "\n| `")); at++)
        rows++;
    ck_assert_uint_eq(rows, HF_WHY_COUNT);
}
END_TEST

/* A renamed type stays loadable under its old name, and a definition that is not the recorded one
   is called so. */
HF_BOTH_ENGINES(why_definition_drift)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "receiver", "a", hf_json(d, "{}"));
    ck_assert_str_eq(hf_str(why(d, "a"), "workflow_determinism_source", ""), "live_definition");
    d = hf_kit_reopen(d, &renamed_app);
    ck_assert_str_eq(hf_str(why(d, "a"), "workflow_determinism_source", ""), "definition_drift");
    hf_kit_ok(d, hf_signal(d, "a", "approved-by", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "closed_completed");
    hf_kit_close(d);
}

/* ---- code that is newer than the run */

static hf_value old_order(hf_ctx *w, hf_value in)
{
    hf_sleep(w, hf_hours(1));
    return in;
}

static hf_value new_order(hf_ctx *w, hf_value in)
{
    hf_sleep(w, hf_hours(1));
    return hf_receive(w, "confirm", .timeout = hf_int(in, "timeout", 0));
}

static hf_value stock_of(hf_mem *mem, const void *state, hf_value in)
{
    (void)in;
    return hf_json(mem, "%d", *(const int *)state);
}

static hf_value marked_order(hf_ctx *w, hf_value in)
{
    hf_sleep(w, hf_hours(1));
    return hf_patched(w, "confirmed") ? hf_receive(w, "confirm") : in;
}

static hf_value renewed_order(hf_ctx *w, hf_value in)
{
    if (hf_bool(in, "renewed", false))
        return hf_receive(w, "confirm");
    hf_sleep(w, hf_hours(1));
    hf_continue_as_new(w, hf_json(w, "{'renewed': true}"));
}

#define CONFIRM                                                                                    \
    (const hf_signal_def[])                                                                        \
    {                                                                                              \
        {"confirm", "by:string"},                                                                  \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
#define AMEND                                                                                      \
    (const hf_update_def[])                                                                        \
    {                                                                                              \
        {.name = "amend", .params = "n:int", .apply = raise_stock},                                \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

static const hf_workflow_def old_workflows[] = {{.type = "order", .run = old_order}, {0}};
static const hf_query_def new_queries[] = {{"stock", NULL, stock_of}, {0}};
static const hf_workflow_def new_workflows[] = {{.type = "order",
                                                 .run = new_order,
                                                 .state_size = sizeof(int),
                                                 .signals = CONFIRM,
                                                 .updates = AMEND,
                                                 .queries = new_queries},
                                                {0}};
static const hf_workflow_def marked_workflows[] = {
    {.type = "order", .run = marked_order, .signals = CONFIRM}, {0}};
static const hf_workflow_def renewed_workflows[] = {
    {.type = "order", .run = renewed_order, .signals = CONFIRM}, {0}};
static const hf_app old_orders = {.name = "test", .workflows = old_workflows};
static const hf_app new_orders = {.name = "test", .workflows = new_workflows};
static const hf_app marked_orders = {.name = "test", .workflows = marked_workflows};
static const hf_app renewed_orders = {.name = "test", .workflows = renewed_workflows};

/* The newest command of the store: how it ended. */
static int64_t last_outcome(hf_engine *d)
{
    return hf_kit_number(d, "SELECT outcome FROM command ORDER BY key DESC LIMIT 1");
}

/* A run that is older than the declaration of a signal waits for what cannot come: it says so, the
   refusal of the signal says so, and the way that is documented leads out of it. */
HF_BOTH_ENGINES(why_signal_undeclared)
{
    hf_engine *d = hf_kit_open(kind, &old_orders);
    hf_value out = NULL;

    hf_kit_begin(d, "order", "a", hf_json(d, "{}"));
    d = hf_kit_reopen(d, &new_orders);
    hf_kit_begin(d, "order", "young", hf_json(d, "{}"));
    hf_kit_ok(d, hf_test_advance(d, hf_hours(1)));
    ck_assert_str_eq(code(d, "young"), "waiting_for_signal");
    ck_assert_str_eq(code(d, "a"), "signal_undeclared");
    ck_assert_str_eq(hf_str(why(d, "a"), "workflow_determinism_source", ""), "definition_drift");
    ck_assert_str_eq(hf_str(why(d, "a"), "next.0.action", ""), "reset");
    ck_assert_str_eq(hf_str(why(d, "a"), "subject.name", ""), "confirm");
    ck_assert_int_eq(hf_signal(d, "a", "confirm", hf_json(d, "'me'")), HF_REJECTED);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "definition drift"));
    ck_assert_int_eq(last_outcome(d), HF_CMD_OUTCOME_REJECTED_UNKNOWN_SIGNAL);
    ck_assert_int_eq(hf_update(d, "a", "amend", hf_json(d, "1"), 0, NULL), HF_REJECTED);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "definition drift"));
    ck_assert_int_eq(hf_query(d, "a", "stock", NULL, &out), HF_NOTFOUND);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "definition drift"));
    hf_kit_ok(d, hf_query(d, "young", "stock", NULL, &out));
    ck_assert_int_eq(hf_signal_with_start(
                         d, "order", &(hf_start_opts){.size_ = sizeof(hf_start_opts), .id = "a"},
                         "confirm", hf_json(d, "['me']")),
                     HF_REJECTED);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "definition drift"));
    ck_assert_int_eq(hf_signal(d, "young", "confirm", hf_json(d, "[1]")), HF_REJECTED);
    ck_assert_ptr_null(strstr(hf_errmsg(d), "definition drift"));
    ck_assert_int_eq(hf_signal(d, "a", "confrim", hf_json(d, "'me'")), HF_REJECTED);
    ck_assert_ptr_null(strstr(hf_errmsg(d), "definition drift"));
    d = hf_kit_reopen(d, &marked_orders);
    hf_kit_ok(d, hf_reset_with(d, "a", &(hf_copy_opts){.size_ = sizeof(hf_copy_opts), .step = 1}));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "closed_completed");
    hf_kit_close(d);
}

/* A wait with a timeout ends by itself; the answer says when. */
HF_BOTH_ENGINES(why_signal_undeclared_with_a_timeout)
{
    hf_engine *d = hf_kit_open(kind, &old_orders);

    hf_kit_begin(d, "order", "a", hf_json(d, "{'timeout': 60000}"));
    d = hf_kit_reopen(d, &new_orders);
    hf_kit_ok(d, hf_test_advance(d, hf_hours(1)));
    ck_assert_str_eq(code(d, "a"), "signal_undeclared");
    ck_assert_ptr_nonnull(strstr(hf_str(why(d, "a"), "text", ""), "timeout in 1 m"));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_str_eq(code(d, "a"), "closed_completed");
    hf_kit_close(d);
}

/* Code that is marked leads older runs around the wait, and one that goes on as new has today's
   contract. */
HF_BOTH_ENGINES(older_runs_go_around_new_signals)
{
    hf_engine *d = hf_kit_open(kind, &old_orders);

    hf_kit_begin(d, "order", "a", NULL);
    d = hf_kit_reopen(d, &marked_orders);
    hf_kit_begin(d, "order", "young", NULL);
    hf_kit_ok(d, hf_test_advance(d, hf_hours(1)));
    ck_assert_str_eq(code(d, "a"), "closed_completed");
    ck_assert_str_eq(code(d, "young"), "waiting_for_signal");
    d = hf_kit_reopen(d, &old_orders);
    hf_kit_begin(d, "order", "c", NULL);
    d = hf_kit_reopen(d, &renewed_orders);
    hf_kit_ok(d, hf_test_advance(d, hf_hours(1)));
    ck_assert_str_eq(code(d, "c"), "waiting_for_signal");
    hf_kit_ok(d, hf_signal(d, "c", "confirm", hf_json(d, "['me']")));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "c"), "closed_completed");
    hf_kit_close(d);
}

/* The run carries the marker of a build, and the program that is there supports another one. */
HF_BOTH_ENGINES(why_no_compatible_worker)
{
    static const hf_app old = {.name = "test", .build_id = "old", .workflows = workflows};
    static const hf_app fresh = {
        .name = "test", .build_id = "new", .supports = "new", .workflows = workflows};
    hf_engine *d = hf_kit_open(kind, &old);

    hf_kit_ok(d, hf_start(d, "receiver", hf_json(d, "{'timeout': 60000}"), .id = "a"));
    d = hf_kit_reopen(d, &fresh);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "no_compatible_worker");
    ck_assert_ptr_nonnull(strstr(hf_str(why(d, "a"), "text", ""), "old"));
    hf_kit_close(d);
}

/* Whichever allocation fails, the answer is either whole or not given. */
START_TEST(why_without_memory)
{
    hf_engine *d = hf_kit_open(HF_ENGINE_SQLITE, &app);
    hf_value out = NULL;
    hf_status st = HF_NOMEM;

    hf_kit_begin(d, "receiver", "a", hf_json(d, "{'timeout': 60000}"));
    for (int64_t nth = 1; st == HF_NOMEM; nth++) {
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_why(d, "a", hf_mem_of_engine(d), &out);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_int_lt(nth, 5000);
    }
    hf_kit_ok(d, st);
    ck_assert_str_eq(hf_str(out, "code", ""), "waiting_for_signal");
    hf_kit_close(d);
}
END_TEST

HF_PG_SUITE_MAIN("engine/why", HF_BOTH(why_waits), HF_BOTH(why_precedence), HF_BOTH(why_messages),
                 HF_BOTH(why_activities), HF_BOTH(why_queued_behind), HF_BOTH(why_replay_blocked),
                 HF_BOTH(why_unknown_type), HF_BOTH(why_child_unknown_type),
                 HF_BOTH(sm55_why_unknown_step), HF_BOTH(why_unknown_limit),
                 HF_BOTH(why_deadline_passed), HF_BOTH(why_task_missing), HF_BOTH(why_closed),
                 HF_BOTH(why_closed_continued), HF_BOTH(why_paused), HF_BOTH(why_quarantined),
                 HF_BOTH(why_task_trouble), HF_BOTH_SLOW(why_history_budget, 120),
                 HF_BOTH(why_definition_drift), HF_BOTH(why_signal_undeclared),
                 HF_BOTH(why_signal_undeclared_with_a_timeout),
                 HF_BOTH(older_runs_go_around_new_signals), HF_BOTH(why_no_compatible_worker),
                 {why_without_memory, 0}, {why_store_wal_bound, 120}, {why_task_timeout, 120},
                 {page_lists_every_code, 0})
