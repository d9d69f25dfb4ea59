/* Why a run is not moving when the program at hand is not the one it needs: code that does not fit
   its history, definitions that are missing, renamed or newer than the run, a build that is
   another. The other codes are test_why.c's. */
#include <stdio.h>
#include <string.h>

#include "engine/core.h"
#include "engine/engine_impl.h"
#include "engine/fleet.h"
#include "engine/why_code.h"
#include "lib/handlers.h"
#include "model/vocab.h"

static hf_value pair(hf_ctx *w, hf_value in)
{
    return hf_all(w, HF_ACTIVITY("nobody", in), HF_ACTIVITY("nobody", in));
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

static hf_value versioned(hf_ctx *w, hf_value in)
{
    (void)hf_version(w, "change", HF_VERSION_DEFAULT, 1);
    return hf_receive(w, "approved-by", .timeout = hf_int(in, "timeout", 0));
}

static const hf_workflow_def workflows[] = {
    {.type = "receiver", .run = receiver, .signals = APPROVED},
    {.type = "conditional",
     .run = conditional,
     .state_size = sizeof(int),
     .updates = (const hf_update_def[]){{.name = "raise", .apply = raise_stock}, {0}}},
    {.type = "parent", .run = parent},
    {.type = "pair", .run = pair},
    {.type = "versioned", .run = versioned, .signals = APPROVED},
    {0}};
static const hf_activity_def activities[] = {{.name = "echo", .run = hf_echo}, {0}};
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
        ck_assert_ptr_null(strstr(hf_str(why(d, ids[i]), "text", ": step "), ": step "));
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

/* A machine whose program is not there is no unknown type; and a paused run is paused, whoever has
   its code. */
HF_BOTH_ENGINES(n28_why_a_machine_whose_steps_run_elsewhere)
{
    static const hf_signal_def signals[] = {{"go", NULL}, {0}};
    static const hf_step_def steps[] = {{"wait", machine_wait}, {"later", machine_end}, {0}};
    static const hf_machine_def machines[] = {
        {"m", .initial = "wait", .steps = steps, .signals = signals}, {0}};
    static const hf_app whole = {.name = "why", .machines = machines};
    hf_engine *d = hf_kit_open(kind, &whole);

    hf_kit_begin(d, "m", "a", hf_json(d, "{}"));
    d = hf_kit_reopen(d, &empty);
    hf_kit_ok(d, hf_signal(d, "a", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "machine_elsewhere");
    ck_assert_str_eq(hf_str(why(d, "a"), "text", ""),
                     "No program that is there runs the steps of the machine m.");
    process_beat(d, "engine-1@elsewhere");
    ck_assert_str_ne(code(d, "a"), "machine_elsewhere");
    hf_kit_ok(d, hf_pause(d, "a", .reason = "audit"));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(5)));
    ck_assert_str_eq(code(d, "a"), "paused");
    d = hf_kit_reopen(d, &whole);
    hf_kit_ok(d, hf_resume(d, "a"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "closed_completed");
    hf_kit_close(d);
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

HF_PG_SUITE_MAIN("engine/why_build", HF_BOTH(why_replay_blocked), HF_BOTH(why_unknown_type),
                 HF_BOTH(n28_why_a_machine_whose_steps_run_elsewhere),
                 HF_BOTH(why_child_unknown_type), HF_BOTH(sm55_why_unknown_step),
                 HF_BOTH(why_unknown_limit), HF_BOTH(why_definition_drift),
                 HF_BOTH(why_signal_undeclared), HF_BOTH(why_signal_undeclared_with_a_timeout),
                 HF_BOTH(older_runs_go_around_new_signals), HF_BOTH(why_no_compatible_worker))
