/* Queries: what committed history makes of the state, of any run, by its declared contract; never a
   change. */
#include <string.h>

#include "base/value.h"
#include "lib/handlers.h"
#include "lib/kit.h"

typedef struct seen {
    int64_t signals;
    int64_t effects;
    int64_t joined;
} seen;

static int effects_run;

static hf_value effect(hf_mem *mem, void *arg)
{
    (void)arg;
    return hf_json(mem, "%d", ++effects_run);
}

static hf_value counts(hf_ctx *w, hf_value in)
{
    seen *s = hf_state(w);

    s->effects = hf_int(hf_side_effect(w, "count", effect, NULL), "", 0);
    for (int i = 0; i < 2; i++) {
        (void)hf_receive(w, "tick");
        s->signals++;
    }
    if (hf_int(in, "left", 0) > 0)
        hf_continue_as_new(w, hf_json(w, "{'left': %lld}", (long long)hf_int(in, "left", 0) - 1));
    return NULL;
}

static hf_value joins(hf_ctx *w, hf_value in)
{
    seen *s = hf_state(w);

    (void)in;
    (void)hf_all(w, HF_ACTIVITY("half", hf_json(w, "1")),
                 HF_ALL(HF_ACTIVITY("half", hf_json(w, "2")), HF_CHILD("waits", NULL)));
    s->joined = 1;
    return NULL;
}

static hf_value waits(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_receive(w, "tick");
}

static bool shut(const void *state)
{
    return ((const seen *)state)->signals > 0;
}

static bool open_wide(const void *state)
{
    (void)state;
    return true;
}

static hf_value gate_pass(hf_ctx *w, hf_predicate *predicate)
{
    (void)hf_wait(w, "gate", predicate);
    ((seen *)hf_state(w))->joined = 1;
    return hf_receive(w, "tick");
}

static hf_value shut_gate(hf_ctx *w, hf_value in)
{
    (void)in;
    return gate_pass(w, shut);
}

static hf_value open_gate(hf_ctx *w, hf_value in)
{
    (void)in;
    return gate_pass(w, open_wide);
}

static hf_value look_read(hf_mem *mem, const void *state, hf_value args)
{
    const seen *s = state;

    return hf_json(mem, "{'signals': %lld, 'joined': %lld, 'as': %s}", (long long)s->signals,
                   (long long)s->joined, hf_str(args, "as", ""));
}

static const hf_signal_def signals[] = {{.name = "tick"}, {0}};
static const hf_query_def queries[] = {
    {.name = "look", .params = "as:string=plain, times:int=1", .read = look_read}, {0}};
static const hf_workflow_def workflows[] = {
    {.type = "counts",
     .run = counts,
     .state_size = sizeof(seen),
     .params = "left:int=0",
     .signals = signals,
     .queries = queries},
    {.type = "joins", .run = joins, .state_size = sizeof(seen), .queries = queries},
    {.type = "waits", .run = waits, .signals = signals},
    {.type = "gate",
     .run = shut_gate,
     .state_size = sizeof(seen),
     .signals = signals,
     .queries = queries},
    {0}};
static const hf_workflow_def opened_workflows[] = {{.type = "gate",
                                                    .run = open_gate,
                                                    .state_size = sizeof(seen),
                                                    .signals = signals,
                                                    .queries = queries},
                                                   {0}};
static const hf_activity_def activities[] = {{.name = "half", .run = hf_echo}, {0}};
static const hf_app app = {.name = "queries", .workflows = workflows, .activities = activities};
static const hf_app opened = {.name = "queries", .workflows = opened_workflows};
static const hf_workflow_def no_workflows[] = {{.type = "else", .run = waits}, {0}};
static const hf_app other = {.name = "queries", .workflows = no_workflows};

static int64_t look(hf_engine *d, const char *id, const char *what)
{
    hf_value out = NULL;

    hf_kit_ok(d, hf_query(d, id, "look", NULL, &out));
    return hf_int(out, what, -1);
}

/* A signal that is received and not applied changes nothing that a query sees. */
HF_EVERY_WAY(b083_pending_signals_are_not_seen)
{
    hf_engine *d = hf_kit_open(kind, &app);
    int64_t rows;

    hf_kit_ok(d, hf_start(d, "counts", NULL, .id = "c-1"));
    hf_kit_ok(d, hf_test_drain(d));
    (void)hf_kit_ask(d, "pause", hf_json(d, "{'workflow_id': 'c-1'}"));
    hf_kit_ok(d, hf_signal(d, "c-1", "tick", NULL));
    rows = hf_kit_number(d, "SELECT count(*) FROM command");
    ck_assert_int_eq(look(d, "c-1", "signals"), 0);
    (void)hf_kit_ask(d, "resume", hf_json(d, "{'workflow_id': 'c-1'}"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(look(d, "c-1", "signals"), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM command"), rows + 1);
    hf_kit_close(d);
}

/* A run that is closed, or was continued, answers as it was when it ended. */
HF_EVERY_WAY(b084_historical_and_closed_runs_answer)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result first = hf_kit_ask(
        d, "start",
        hf_json(d, "{'workflow_id': 'c-1', 'workflow_type': 'counts', 'input': {'left': 1}}"));
    hf_command_result out;

    for (int i = 0; i < 3; i++)
        hf_kit_ok(d, hf_signal(d, "c-1", "tick", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(look(d, "c-1", "signals"), 1);
    out = hf_kit_ask(
        d, "query",
        hf_json(d, "{'workflow_id': 'c-1', 'run_id': %s, 'name': 'look'}", first.run_id));
    ck_assert(out.accepted);
    ck_assert_int_eq(hf_int(out.detail, "result.signals", 0), 2);
    ck_assert_str_eq(hf_str(out.detail, "target_scope", ""), "run");
    ck_assert_str_eq(out.run_id, first.run_id);
    hf_kit_ok(d, hf_signal(d, "c-1", "tick", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "c-1"), "completed");
    hf_test_crash(d);
    ck_assert_int_eq(look(d, "c-1", "signals"), 2);
    hf_kit_close(d);
}

/* Arguments by name or place; the answer names the query as it is declared. */
HF_EVERY_WAY(b085_named_arguments)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result out;

    hf_kit_ok(d, hf_start(d, "counts", NULL, .id = "c-1"));
    hf_kit_ok(d, hf_test_drain(d));
    out = hf_kit_ask(
        d, "query",
        hf_json(d, "{'workflow_id': 'c-1', 'name': 'look', 'arguments': {'as': 'map'}}"));
    ck_assert_str_eq(hf_str(out.detail, "result.as", ""), "map");
    ck_assert_str_eq(hf_str(out.detail, "query_name", ""), "look");
    out = hf_kit_ask(d, "query",
                     hf_json(d, "{'workflow_id': 'c-1', 'name': 'look', 'arguments': ['list']}"));
    ck_assert_str_eq(hf_str(out.detail, "result.as", ""), "list");
    out = hf_kit_ask(d, "query", hf_json(d, "{'workflow_id': 'c-1', 'name': 'look'}"));
    ck_assert_str_eq(hf_str(out.detail, "result.as", ""), "plain");
    out = hf_kit_ask(d, "query", hf_json(d, "{'workflow_id': 'c-1', 'name': 'look_read'}"));
    ck_assert_str_eq(out.reason, "unknown_query");
    hf_kit_close(d);
}

/* Arguments that do not fit are refused with the words of the contract. */
HF_EVERY_WAY(b086_invalid_arguments)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result out;
    hf_value value = NULL;

    hf_kit_ok(d, hf_start(d, "counts", NULL, .id = "c-1"));
    hf_kit_ok(d, hf_test_drain(d));
    out = hf_kit_ask(
        d, "query",
        hf_json(d, "{'workflow_id': 'c-1', 'name': 'look', 'arguments': {'times': 'x'}}"));
    ck_assert(!out.accepted);
    ck_assert_str_eq(out.reason, "invalid_query_arguments");
    ck_assert_str_eq(hf_str(out.detail, "validation_errors.times.0", ""),
                     "The times argument must be of type int.");
    ck_assert_int_eq(hf_query(d, "c-1", "look", hf_json(d, "{'x': 1}"), &value), HF_INVALID);
    ck_assert_int_eq(hf_query(d, "c-1", "listen", NULL, &value), HF_NOTFOUND);
    ck_assert_int_eq(hf_query(d, "c-9", "look", NULL, &value), HF_NOTFOUND);
    hf_kit_ok(d, hf_reserve(d, "counts", "c-2", NULL));
    ck_assert_int_eq(hf_query(d, "c-2", "look", NULL, &value), HF_REJECTED);
    hf_kit_close(d);
}

/* Without the run's code nothing can be asked, and the refusal says so. */
HF_EVERY_WAY(b087_definition_unavailable)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result out;
    hf_value value = NULL;

    hf_kit_ok(d, hf_start(d, "counts", NULL, .id = "c-1"));
    hf_kit_ok(d, hf_test_drain(d));
    d = hf_kit_reopen(d, &other);
    out = hf_kit_ask(d, "query", hf_json(d, "{'workflow_id': 'c-1', 'name': 'look'}"));
    ck_assert_str_eq(out.reason, "workflow_definition_unavailable");
    ck_assert_int_eq(hf_query(d, "c-1", "look", NULL, &value), HF_REJECTED);
    hf_kit_close(d);
}

/* A replay for a query does not run side effects again. */
HF_EVERY_WAY(b088_side_effects_are_not_repeated)
{
    hf_engine *d = hf_kit_open(kind, &app);

    effects_run = 0;
    hf_kit_ok(d, hf_start(d, "counts", NULL, .id = "c-1"));
    hf_kit_ok(d, hf_test_drain(d));
    for (int i = 0; i < 3; i++) {
        hf_test_crash(d);
        ck_assert_int_eq(look(d, "c-1", "signals"), 0);
    }
    ck_assert_int_eq(effects_run, 1);
    hf_kit_close(d);
}

/* What is not recorded is not done for a query: neither a step that the code would begin, nor a
   wait that its predicate would end by now. */
HF_EVERY_WAY(a_query_goes_no_further_than_history)
{
    hf_engine *d = hf_kit_open(kind, &app);

    effects_run = 0;
    hf_kit_ok(d, hf_start(d, "counts", NULL, .id = "c", .delay = hf_hours(1)));
    hf_kit_ok(d, hf_start(d, "gate", NULL, .id = "g"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(look(d, "c", "signals"), 0);
    ck_assert_int_eq(effects_run, 0);
    ck_assert_str_eq(hf_kit_history(d, "c"), "StartAccepted WorkflowStarted");
    d = hf_kit_reopen(d, &opened);
    ck_assert_int_eq(look(d, "g", "joined"), 0);
    hf_kit_ok(d, hf_signal(d, "g", "tick", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(look(d, "g", "joined"), 1);
    hf_kit_close(d);
}

/* A barrier of activities and a child is passed when history has the last of them, in a query too.
 */
HF_EVERY_WAY(b092_b096_barrier_waits_for_all)
{
    hf_engine *d = hf_kit_open(kind, &app);
    const char *child;

    hf_kit_ok(d, hf_start(d, "joins", NULL, .id = "j-1"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(look(d, "j-1", "joined"), 0);
    child = hf_kit_said(d, "j-1", "ChildWorkflowScheduled", 0, HF_KEY_CHILD_WORKFLOW_INSTANCE_ID);
    hf_kit_ok(d, hf_signal(d, child, "tick", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    hf_test_crash(d);
    ck_assert_int_eq(look(d, "j-1", "joined"), 1);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/query", HF_WAYS(b083_pending_signals_are_not_seen),
                 HF_WAYS(b084_historical_and_closed_runs_answer), HF_WAYS(b085_named_arguments),
                 HF_WAYS(b086_invalid_arguments), HF_WAYS(b087_definition_unavailable),
                 HF_WAYS(b088_side_effects_are_not_repeated),
                 HF_WAYS(a_query_goes_no_further_than_history),
                 HF_WAYS(b092_b096_barrier_waits_for_all))
