/* Children of machines, workflows and machines as each other's children, unknown steps, and callers
   that wait, through holdfast.h on both databases. */
#include <stdio.h>
#include <string.h>

#include "base/thread.h"
#include "engine/engine_impl.h"
#include "holdfast/holdfast.h"
#include "holdfast/view.h"
#include "lib/kit.h"
#include "lib/script.h"

#define PARK(names) "{\"do\":\"park\",\"names\":[" names "]}"
#define NEXT        "{\"do\":\"next\"}"
#define DONE        "{\"do\":\"done\"}"
#define STOP        "{\"do\":\"stop\"}"

static hf_value twice(hf_ctx *w, hf_value in)
{
    return hf_json(w, "%lld", (long long)hf_int(in, "n", 0) * 2);
}

/* A workflow whose child is a machine. */
static hf_value parent(hf_ctx *w, hf_value in)
{
    return hf_child(w, "script", in);
}

static hf_outcome ask(hf_step *s)
{
    return hf_fan_out(s, (const hf_leaf[]){HF_CHILD("twice", hf_step_state(s)), {0}}, "told",
                      hf_step_state(s));
}

static hf_outcome told(hf_step *s)
{
    return hf_done(s, hf_step_children(s));
}

/* Fills the leaves in a loop, as many as the state says. */
static hf_outcome ask_many(hf_step *s)
{
    size_t count = (size_t)hf_int(hf_step_state(s), "count", 0);
    hf_leaf leaves[9] = {{0}};

    for (size_t i = 0; i < count && i < 8; i++) {
        hf_value in = hf_json(s, "{'n': %zu}", i + 1);

        leaves[i] = (hf_leaf)HF_CHILD("twice", in);
    }
    return hf_fan_out(s, leaves, "told", NULL);
}

static hf_outcome ask_each(hf_step *s)
{
    return hf_fan_out_map(s, "twice", hf_get(hf_step_state(s), "items"), "told", NULL, .id = "map",
                          .on_parent_close = HF_CLOSE_CANCEL);
}

static const hf_workflow_def workflows[] = {
    {.type = "twice", .run = twice}, {.type = "parent", .run = parent}, {0}};
static const hf_step_def steps[] = {
    {"ask", ask}, {"many", ask_many}, {"each", ask_each}, {"told", told}, {0}};
static hf_machine_def machines[6];
static hf_app app = {.name = "children", .machines = machines, .workflows = workflows};

static hf_engine *open_kit(hf_engine_kind kind)
{
    machines[0] = hf_script_machines[0];
    machines[1] = hf_script_machines[1];
    machines[2] = (hf_machine_def){"asker", .initial = "ask", .steps = steps};
    machines[3] = (hf_machine_def){"loop", .initial = "many", .steps = steps};
    machines[4] = (hf_machine_def){"map", .initial = "each", .steps = steps};
    hf_script_engine = hf_kit_open(kind, &app);
    return hf_script_engine;
}

/* Children are there once the parent is parked, in one commit; none at all lets it go on. */
HF_EVERY_WAY(sm56_spawn_and_park_are_one)
{
    hf_engine *d = open_kit(kind);

    hf_kit_ok(d, hf_start(d, "script",
                          hf_script_plan(d, "[{\"do\":\"fan\",\"ids\":[\"k\"],\"plans\":[[" PARK(
                                                "\"a\"") "," DONE "]]}," DONE "]"),
                          .id = "p"));
    ck_assert_str_eq(hf_test_status(d, "k"), "not found");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "p"), "waiting children");
    ck_assert_str_eq(hf_test_status(d, "k"), "waiting signal:a");
    hf_test_crash(d);
    hf_kit_ok(d, hf_signal(d, "k", "a", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "p"), "[\"aw= all= t=1\",\"aw= all= t=1 kids=completed\"]");
    hf_script_play(d, "none", "[{\"do\":\"fan\",\"plans\":[]}," DONE "]");
    ck_assert_str_eq(hf_kit_result(d, "none"), "[\"aw= all= t=1\",\"aw= all= t=1\"]");
    hf_kit_close(d);
}

/* Behind a fan-out the step waits until the last child is over, and the step behind it begins
   then: its code has not run all the while. */
HF_BOTH_ENGINES(a_fan_out_is_drawn_as_waiting)
{
    hf_engine *d = open_kit(kind);
    hf_mem *mem = hf_mem_of_engine(d);
    hf_value out = NULL;

    hf_script_play(d, "p",
                   "[{\"do\":\"fan\",\"ids\":[\"k\",\"l\"],\"plans\":[[" PARK(
                       "\"a\"") "," DONE "],[" DONE "]]}," PARK("\"b\"") "," DONE "]");
    hf_kit_ok(d, hf_spans(d, hf_json_(mem, "{'id': 'p'}"), mem, &out));
    ck_assert_uint_eq(hf_len(hf_get(out, "bars")), 3);
    ck_assert(hf_bool(out, "bars.0.open", false));
    ck_assert_str_eq(hf_str(out, "bars.0.segments.0.kind", ""), "running");
    ck_assert_str_eq(hf_str(out, "bars.0.segments.1.kind", ""), "waiting");
    ck_assert_ptr_null(hf_str(out, "bars.0.segments.1.to", NULL));
    hf_kit_ok(d, hf_test_advance(d, 60000));
    hf_kit_ok(d, hf_signal(d, "k", "a", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_spans(d, hf_json_(mem, "{'id': 'p'}"), mem, &out));
    ck_assert_uint_eq(hf_len(hf_get(out, "bars")), 4);
    ck_assert(!hf_bool(out, "bars.0.open", true));
    ck_assert_str_eq(hf_str(out, "bars.1.child_instance_id", ""), "k");
    ck_assert_str_eq(hf_str(out, "bars.0.segments.1.to", ""), hf_str(out, "bars.1.to", "?"));
    ck_assert_str_eq(hf_str(out, "bars.3.from", ""), hf_str(out, "bars.1.to", "?"));
    ck_assert_str_eq(hf_str(out, "bars.3.segments.0.kind", ""), "running");
    ck_assert_str_eq(hf_str(out, "bars.3.segments.1.kind", ""), "waiting");
    hf_kit_ok(d, hf_terminate(d, "p", "enough"));
    hf_kit_ok(d, hf_spans(d, hf_json_(mem, "{'id': 'p'}"), mem, &out));
    ck_assert(!hf_bool(out, "bars.3.open", true));
    hf_kit_close(d);
}

static void results_are(hf_engine *d, const char *id, const int64_t *wanted, size_t count)
{
    hf_value children = NULL;

    hf_kit_ok(d, hf_result(d, id, 0, &children, NULL));
    ck_assert_uint_eq(hf_len(children), count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_str_eq(hf_str(hf_at(children, i), "status", ""), "completed");
        ck_assert_int_eq(hf_int(hf_at(children, i), "result", -1), wanted[i]);
    }
}

/* Leaves that were made in a loop keep their inputs, and a map starts a child for each item, in
   order, under ids that were asked for. */
HF_EVERY_WAY(n06_children_made_in_a_loop_and_by_a_map)
{
    static const int64_t twos[] = {2, 4, 6, 8, 10, 12, 14, 16};
    hf_engine *d = open_kit(kind);

    hf_kit_begin(d, "loop", "l", hf_json(d, "{'count': 8}"));
    results_are(d, "l", twos, 8);
    hf_kit_begin(d, "map", "m", hf_json(d, "{'items': [{'n': 1}, {'n': 2}, {'n': 3}]}"));
    results_are(d, "m", twos, 3);
    ck_assert_str_eq(hf_test_status(d, "map-0"), "completed");
    ck_assert_str_eq(hf_test_status(d, "map-2"), "completed");
    ck_assert_str_eq(hf_test_status(d, "map-3"), "not found");
    hf_kit_begin(d, "map", "none", hf_json(d, "{'items': []}"));
    results_are(d, "none", twos, 0);
    hf_kit_close(d);
}

/* A child that failed counts like one that is done, once, also when it ran again before. */
HF_EVERY_WAY(sm57_a_failed_child_releases_its_parent)
{
    hf_engine *d = open_kit(kind);

    hf_script_play(d, "p",
                   "[{\"do\":\"fan\",\"plans\":[[" STOP "],[{\"do\":\"again\",\"ms\":10}," DONE
                   "]]}," DONE "]");
    ck_assert_str_eq(hf_test_status(d, "p"), "waiting children");
    hf_kit_ok(d, hf_test_advance(d, 10));
    ck_assert_str_eq(hf_kit_result(d, "p"),
                     "[\"aw= all= t=1\",\"aw= all= t=1 kids=failed,completed\"]");
    hf_kit_close(d);
}

/* Many children that end at once wake the parent once. */
HF_EVERY_WAY(sm58_many_ends_one_wake)
{
    hf_engine *d = open_kit(kind);
    int runs;

    hf_kit_ok(d, hf_start(d, "script",
                          hf_script_plan(d, "[{\"do\":\"fan\",\"plans\":[[" NEXT "," DONE "],[" NEXT
                                            "," DONE "],[" NEXT "," DONE "],[" NEXT "," DONE
                                            "],[" NEXT "," DONE "]]}," DONE "]"),
                          .id = "p58"));
    runs = hf_script_runs("p58");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_script_runs("p58"), runs + 2);
    ck_assert_str_eq(hf_test_status(d, "p58"), "completed");
    hf_kit_close(d);
}

static hf_status scenario(hf_engine *d, void *arg)
{
    hf_status st =
        hf_start(d, "script",
                 hf_script_plan(d, "[{\"do\":\"fan\",\"plans\":[[" NEXT "," DONE "],[" STOP
                                   "]]},{\"do\":\"fan\",\"plans\":[[" DONE "]]}," DONE "]"),
                 .id = "p");

    (void)arg;
    hf_script_engine = d;
    return st ? st : hf_test_drain(d);
}

/* A crash at any commit leaves neither a child without parent nor a second one. */
START_TEST(sm59_crashes_around_a_spawn)
{
    char why[512] = "";

    machines[0] = hf_script_machines[0];
    machines[1] = (hf_machine_def){0};
    ck_assert_msg(hf_test_crash_everywhere(&app, scenario, NULL, why, sizeof(why)) == HF_OK, "%s",
                  why);
}
END_TEST

/* The same on a store of either kind, at the commits around the first spawn. */
HF_BOTH_ENGINES(sm59_a_spawn_survives_a_crash)
{
    for (int at = 1; at <= 4; at++) {
        hf_engine *d = open_kit(kind);

        hf_kit_crash_after(d, at);
        hf_kit_ok(d, scenario(d, NULL));
        hf_kit_ok(d, hf_test_drain(d));
        ck_assert_str_eq(hf_test_status(d, "p"), "completed");
        ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run"), 4);
        ck_assert_int_eq(hf_test_count(d, "p", "ChildRunStarted"), 3);
        hf_kit_close(d);
    }
}

/* A workflow is the child of a machine, and a machine the child of a workflow. */
HF_EVERY_WAY(both_kinds_in_one_program)
{
    hf_engine *d = open_kit(kind);

    hf_kit_ok(d, hf_start(d, "asker", hf_json(d, "{'n': 21}"), .id = "a"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_ptr_nonnull(strstr(hf_kit_result(d, "a"), "\"status\":\"completed\",\"result\":42"));
    hf_kit_ok(d, hf_start(d, "parent", hf_script_plan(d, "[" NEXT "," DONE "]"), .id = "w"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "w"), "[\"aw= all= t=1\",\"aw= all= t=1\"]");
    hf_kit_close(d);
}

/* A step or definition that this program does not know waits for one that does. */
HF_EVERY_WAY(sm55_unknown_steps_wait)
{
    static const hf_app empty = {.name = "empty"};
    hf_engine *d = open_kit(kind);

    hf_kit_ok(d, hf_start(d, "asker", hf_json(d, "{'n': 1}"), .id = "a"));
    d = hf_kit_reopen(d, &empty);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "a"), "pending");
    d = hf_kit_reopen(d, &app);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    hf_kit_close(d);
}

static hf_value misspelt(hf_ctx *w, hf_value in)
{
    return hf_child(w, "twyce", in);
}

/* A child of a type that nobody has ever had fails at once, where no other process can bring it:
   neither a machine nor a workflow waits for ever because of a typing mistake. */
HF_EVERY_WAY(a_misspelt_child_fails)
{
    static const hf_workflow_def defs[] = {{.type = "misspelt", .run = misspelt}, {0}};
    static const hf_app own = {
        .name = "misspelt", .machines = hf_script_machines, .workflows = defs};
    hf_engine *d = hf_kit_open(kind, &own);
    const hf_error *e = NULL;

    hf_script_engine = d;
    hf_script_play(d, "p",
                   "[{\"do\":\"fan\",\"type\":\"scirpt\",\"plans\":[[" DONE "]]}," DONE "]");
    ck_assert_str_eq(hf_kit_result(d, "p"), "[\"aw= all= t=1\",\"aw= all= t=1 kids=failed\"]");
    ck_assert_str_eq(hf_kit_said(d, "p", "ChildRunFailed", 0, HF_KEY_EXCEPTION_TYPE),
                     "unknown_type");
    ck_assert_str_eq(hf_kit_said(d, "p", "ChildRunFailed", 0, HF_KEY_MESSAGE),
                     "no workflow or machine called scirpt is registered");
    hf_kit_begin(d, "misspelt", "w", hf_json(d, "{'n': 1}"));
    ck_assert_int_eq(hf_result(d, "w", 0, NULL, &e), HF_ERROR);
    ck_assert_ptr_nonnull(strstr(e->message, "twyce"));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run"), 2);
    hf_kit_close(d);
}

/* Where another process is there, it may have the type: the child waits for it, and the parent says
   what for when that process is gone. */
HF_BOTH_ENGINES(a_child_of_another_process_waits)
{
    hf_engine *d = open_kit(kind);
    hf_value why = NULL;

    hf_kit_ok(d, hf_workers_beat(d, "w1", "default", NULL));
    hf_script_play(d, "p",
                   "[{\"do\":\"fan\",\"type\":\"theirs\",\"plans\":[[" DONE "]]}," DONE "]");
    ck_assert_str_eq(hf_test_status(d, "p"), "waiting children");
    hf_kit_ok(d, hf_why(d, "p", hf_mem_of_engine(d), &why));
    ck_assert_str_eq(hf_str(why, "code", ""), "waiting_for_child");
    hf_kit_ok(d, hf_test_advance(d, hf_hours(1)));
    hf_kit_ok(d, hf_why(d, "p", hf_mem_of_engine(d), &why));
    ck_assert_str_eq(hf_str(why, "code", ""), "child_unknown_type");
    ck_assert_ptr_nonnull(strstr(hf_str(why, "text", ""), "theirs"));
    hf_kit_close(d);
}

/* A caller is told how an instance stands. */
HF_EVERY_WAY(sm65_callers_wait)
{
    hf_engine *d = open_kit(kind);
    hf_settled now;

    hf_kit_ok(d, hf_await(d, "nobody", 0, false, &now));
    ck_assert_int_eq(now.state, HF_SETTLED_NOT_FOUND);
    hf_kit_ok(d, hf_start(d, "script", hf_script_plan(d, "[" PARK("\"a\"") "," DONE "]"), .id = "i",
                          .correlation_key = "key"));
    hf_kit_ok(d,
              hf_start(d, "script", hf_script_plan(d, "[" DONE "]"), .id = "later", .delay = 1000));
    hf_kit_ok(d, hf_await(d, "later", 0, false, &now)); /* its code has something to do */
    ck_assert_int_eq(now.state, HF_SETTLED_BUSY);
    hf_test_crash(d);
    hf_kit_ok(d, hf_await(d, "later", 0, true, &now));
    ck_assert_int_eq(now.state, HF_SETTLED_BUSY);
    hf_kit_ok(d, hf_await(d, "key", hf_seconds(10), false, &now));
    ck_assert_int_eq(now.state, HF_SETTLED_AWAITING);
    hf_kit_ok(d, hf_await(d, "i", 0, true, &now));
    ck_assert_int_eq(now.state, HF_SETTLED_BUSY);
    hf_kit_ok(d, hf_signal(d, "i", "a", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_await(d, "i", 0, true, &now));
    ck_assert_int_eq(now.state, HF_SETTLED_DONE);
    ck_assert_uint_eq(hf_len(now.result), 2);
    hf_script_play(d, "f", "[" STOP "]");
    hf_kit_ok(d, hf_await(d, "f", 0, false, &now));
    ck_assert_int_eq(now.state, HF_SETTLED_FAILED);
    ck_assert_str_eq(now.error->type, "told_to");
    hf_kit_close(d);
}

typedef struct waiter {
    hf_engine *engine;
    hf_settled now;
    hf_status status;
} waiter;

static void waiter_run(void *arg)
{
    waiter *self = arg;

    self->status = hf_await(self->engine, "i", hf_minutes(10), true, &self->now);
}

/* Whoever waits while the engine ends is told that the instance is busy; the next one knows how it
   stands. */
HF_BOTH_ENGINES(sm65_a_restart_while_a_caller_waits)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_settled now = {.state = HF_SETTLED_BUSY};
    waiter caller = {0};
    hf_thread thread = {0};
    hf_engine *d = NULL;
    hf_err err;

    machines[0] = hf_script_machines[0];
    machines[1] = (hf_machine_def){0};
    ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &d), HF_OK);
    hf_kit_ok(d,
              hf_start(d, "script", hf_script_plan(d, "[" PARK("\"a\"") "," DONE "]"), .id = "i"));
    caller.engine = d;
    ck_assert_int_eq(hf_thread_start(&thread, "waiter", waiter_run, &caller, &err), HF_OK);
    while (now.state != HF_SETTLED_AWAITING)
        hf_kit_ok(d, hf_await(d, "i", hf_minutes(1), false, &now));
    hf_shutdown(d);
    hf_thread_join(&thread);
    ck_assert_int_eq(caller.status, HF_OK);
    ck_assert_int_eq(caller.now.state, HF_SETTLED_BUSY);
    hf_kit_ok(d, hf_await(d, "i", hf_minutes(10), true, &now)); /* whoever comes later, too */
    ck_assert_int_eq(now.state, HF_SETTLED_BUSY);
    hf_close(d);
    ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &d), HF_OK);
    hf_kit_ok(d, hf_await(d, "i", hf_minutes(1), false, &now));
    ck_assert_int_eq(now.state, HF_SETTLED_AWAITING);
    hf_close(d);
    hf_test_place_free(place);
}

/* What a machine waits for is said like what a workflow waits for: the names, the step, how long.
 */
HF_EVERY_WAY(why_a_machine_does_not_move)
{
    hf_engine *d = open_kit(kind);
    hf_value why = NULL;

    hf_script_play(d, "i", "[{\"do\":\"park\",\"names\":[\"a\",\"b\"],\"ms\":60000}," DONE "]");
    hf_kit_ok(d, hf_signal(d, "i", "c", NULL)); /* it is not what the machine waits for */
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_why(d, "i", hf_mem_of_engine(d), &why));
    ck_assert_str_eq(hf_str(why, "code", ""), "waiting_for_signal");
    ck_assert_str_eq(hf_str(why, "subject.name", ""), "a|b");
    ck_assert_int_eq(hf_int(why, "subject.step", 0), 1);
    ck_assert_str_eq(hf_str(why, "until", ""), "2026-01-01T00:01:00.000000Z");
    ck_assert_str_eq(hf_str(why, "next.0.target", ""), "a|b");
    ck_assert_str_eq(hf_str(why, "text", ""),
                     "Waiting for signal a or b (step 1) since 0 s; timeout in 1 min.");
    hf_kit_ok(d, hf_signal(d, "i", "a", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_why(d, "i", hf_mem_of_engine(d), &why));
    ck_assert_str_eq(hf_str(why, "code", ""), "closed_completed");
    hf_script_play(d, "j", "[" PARK("\"a\",\"b\",\"c\"") "]");
    hf_kit_ok(d, hf_why(d, "j", hf_mem_of_engine(d), &why));
    ck_assert_str_eq(hf_str(why, "text", ""), "Waiting for signal a, b or c (step 1) since 0 s.");
    hf_kit_close(d);
}

static hf_value page(hf_engine *d, const char *id)
{
    hf_mem *mem = hf_mem_of_engine(d);
    hf_value out = NULL;

    hf_kit_ok(d, hf_describe(d, hf_json(d, "{'id': %s}", id), mem, &out));
    return out;
}

/* The page of a machine: its park is an open wait with the names, and the signals that a step used
   up are applied, at that step. */
HF_EVERY_WAY(a_machine_is_shown)
{
    hf_engine *d = open_kit(kind);
    hf_value out;

    hf_script_play(d, "i", "[" PARK("\"a\"") "," NEXT "," PARK("\"b\"") "," DONE "]");
    out = page(d, "i");
    ck_assert_uint_eq(hf_len(hf_get(out, "waits")), 1);
    ck_assert_str_eq(hf_str(out, "waits.0.kind", ""), "signal");
    ck_assert_str_eq(hf_str(out, "waits.0.summary", ""), "Waiting for signal a");
    ck_assert_str_eq(hf_str(out, "waits.0.status", ""), "open");
    ck_assert_str_eq(hf_str(out, "waits.0.target_name", ""), "a");
    hf_kit_ok(d, hf_signal(d, "i", "c", NULL));
    hf_kit_ok(d, hf_signal(d, "i", "a", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    out = page(d, "i");
    ck_assert_uint_eq(hf_len(hf_get(out, "waits")), 2); /* what nobody waits for is no wait */
    ck_assert_str_eq(hf_str(out, "waits.0.status", ""), "resolved");
    ck_assert_str_eq(hf_str(out, "waits.1.target_name", ""), "b");
    ck_assert_str_eq(hf_str(out, "waits.1.status", ""), "open");
    ck_assert_str_eq(hf_str(out, "signals.0.status", ""), "received");
    ck_assert_str_eq(hf_str(out, "signals.1.status", ""), "applied");
    ck_assert_int_eq(hf_int(out, "signals.1.workflow_sequence", 0), 2);
    hf_kit_ok(d, hf_signal(d, "i", "b", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    out = page(d, "i");
    ck_assert_str_eq(hf_str(out, "waits.1.status", ""), "resolved");
    ck_assert_str_eq(hf_str(out, "signals.0.status", ""), "received"); /* cleared with the inbox */
    ck_assert_str_eq(hf_str(out, "signals.2.status", ""), "applied");
    hf_kit_close(d);
}

/* The timeout of a park that was lost is missed, and a repair brings it back. */
HF_EVERY_WAY(a_lost_timeout_comes_back)
{
    hf_engine *d = open_kit(kind);
    hf_value why = NULL;

    hf_script_play(d, "i", "[{\"do\":\"park\",\"names\":[\"a\"],\"ms\":60000}," DONE "]");
    hf_kit_sql(d, "DELETE FROM timer");
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_why(d, "i", hf_mem_of_engine(d), &why));
    ck_assert_str_ne(hf_str(why, "code", ""), "waiting_for_signal");
    (void)hf_kit_ask(d, "repair", hf_json(d, "{'workflow_id': 'i'}"));
    hf_kit_ok(d, hf_test_advance(d, 60000));
    ck_assert_str_eq(hf_kit_result(d, "i"), "[\"aw= all= t=1\",\"aw= all= t=1 late\"]");
    hf_kit_close(d);
}

/* Several starts in one call, each with an answer in its place. */
HF_EVERY_WAY(sm45_starts_with_answers_by_position)
{
    hf_engine *d = open_kit(kind);
    hf_value in = hf_script_plan(d, "[" PARK("\"a\"") "," DONE "]");
    hf_status answers[5];
    const hf_start_opts items[5] = {
        {.size_ = sizeof(hf_start_opts), .in = in, .id = "a", .correlation_key = "k1"},
        {.size_ = sizeof(hf_start_opts), .in = in, .id = "b", .correlation_key = "k1"},
        {.size_ = sizeof(hf_start_opts), .in = in, .id = "a"},
        {.size_ = sizeof(hf_start_opts), .in = in, .id = "c", .correlation_key = "k2"},
        {.size_ = sizeof(hf_start_opts), .in = in, .id = "d", .priority = 1000},
    };

    hf_kit_ok(d, hf_start_all(d, "script", items, 5, answers));
    ck_assert_int_eq(answers[0], HF_OK);
    ck_assert_int_eq(answers[1], HF_EXISTS);
    ck_assert_int_eq(answers[2], HF_EXISTS);
    ck_assert_int_eq(answers[3], HF_OK);
    ck_assert_int_eq(answers[4], HF_INVALID);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "a"), "waiting signal:a");
    ck_assert_str_eq(hf_test_status(d, "b"), "not found");
    hf_kit_close(d);
}

/* Of the program and of whoever has its store. */
static int64_t commits_of(hf_engine *d)
{
    hf_engine *home = hf_kit_home(d);

    return d->commits + (home == d ? 0 : home->commits);
}

/* Hundreds of starts are a few transactions, not hundreds. */
HF_EVERY_WAY(sm45_a_batch_is_few_transactions)
{
    enum { MANY = 600 };
    static char ids[MANY][16];
    static hf_start_opts items[MANY];
    static hf_status answers[MANY];
    hf_engine *d = open_kit(kind);
    hf_value in = hf_script_plan(d, "[" DONE "]");
    int64_t before = commits_of(d);

    for (int i = 0; i < MANY; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "i%d", i == 400 ? 7 : i);
        items[i] = (hf_start_opts){.size_ = sizeof(hf_start_opts), .in = in, .id = ids[i]};
    }
    hf_kit_ok(d, hf_start_all(d, "script", items, MANY, answers));
    ck_assert_int_le(commits_of(d) - before, 4);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(answers[i], i == 400 ? HF_EXISTS : HF_OK);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run"), MANY - 1);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "i599"), "completed");
    hf_kit_close(d);
}

typedef struct batch_sender {
    hf_engine *engine;
    bool backwards;
    int won;
} batch_sender;

static void batch_send(void *arg)
{
    enum { KEYS = 100 };
    batch_sender *self = arg;
    char keys[KEYS][16];
    char ids[KEYS][16];
    hf_start_opts items[KEYS];
    hf_status answers[KEYS];
    hf_value in = hf_script_plan(self->engine, "[" PARK("\"a\"") "," DONE "]");

    for (int i = 0; i < KEYS; i++) {
        int at = self->backwards ? KEYS - 1 - i : i;

        (void)snprintf(keys[i], sizeof(keys[i]), "k%d", at);
        (void)snprintf(ids[i], sizeof(ids[i]), "%c%d", self->backwards ? 'b' : 'f', at);
        items[i] = (hf_start_opts){
            .size_ = sizeof(hf_start_opts), .in = in, .id = ids[i], .correlation_key = keys[i]};
    }
    ck_assert_int_eq(hf_start_all(self->engine, "script", items, KEYS, answers), HF_OK);
    for (int i = 0; i < KEYS; i++) {
        ck_assert(answers[i] == HF_OK || answers[i] == HF_EXISTS);
        self->won += answers[i] == HF_OK;
    }
}

/* Two batches with the same new keys, the other way round, at the same time: each key has one
   occupant, and nobody waits for ever. */
HF_BOTH_ENGINES(sm45_batches_in_opposite_order)
{
    hf_test_place *place = hf_test_place_new(kind);
    batch_sender senders[2] = {{0}, {.backwards = true}};
    hf_engine *engines[2] = {NULL, NULL};
    hf_thread threads[2] = {{0}};
    hf_err err;

    machines[0] = hf_script_machines[0];
    machines[1] = (hf_machine_def){0};
    for (int i = 0; i < 2; i++) { /* on PostgreSQL two engines, else two threads of one */
        if (i == 0 || kind == HF_ENGINE_POSTGRES)
            ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &engines[i]), HF_OK);
        senders[i].engine = engines[i] ? engines[i] : engines[0];
        ck_assert_int_eq(hf_thread_start(&threads[i], "sender", batch_send, &senders[i], &err),
                         HF_OK);
    }
    for (int i = 0; i < 2; i++)
        hf_thread_join(&threads[i]);
    ck_assert_int_eq(senders[0].won + senders[1].won, 100);
    for (int i = 0; i < 2; i++)
        if (engines[i])
            hf_close(engines[i]);
    hf_test_place_free(place);
}

/* The bundle of a machine is replayed against the steps of today. */
HF_EVERY_WAY(a_bundle_of_a_machine_replays)
{
    static const hf_step_def fewer[] = {{"ask", ask}, {0}};
    const hf_machine_def changed[] = {{"asker", .initial = "ask", .steps = fewer}, {0}};
    const hf_app today = {.name = "today", .machines = changed, .workflows = workflows};
    hf_engine *d = open_kit(kind);
    const char *json = NULL;
    char path[512];
    char why[512] = "";
    FILE *file;

    hf_kit_ok(d, hf_start(d, "asker", hf_json(d, "{'n': 21}"), .id = "a"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_export(d, hf_mem_of_engine(d), &json, "a"));
    (void)snprintf(path, sizeof(path), "%s/bundle.json", hf_test_place_folder(hf_kit_place(d)));
    file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(json, 1, strlen(json), file), strlen(json));
    (void)fclose(file);
    ck_assert_msg(hf_test_replay(&app, path, why, sizeof(why)) == HF_OK, "%s", why);
    ck_assert_int_eq(hf_test_replay(&today, path, why, sizeof(why)), HF_REPLAY_BLOCKED);
    ck_assert_msg(strstr(why, "told") != NULL, "%s", why);
    (void)remove(path);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("machine/children", HF_WAYS(sm56_spawn_and_park_are_one),
                 HF_WAYS(sm57_a_failed_child_releases_its_parent),
                 HF_WAYS(n06_children_made_in_a_loop_and_by_a_map),
                 HF_WAYS(sm58_many_ends_one_wake), {sm59_crashes_around_a_spawn, 0},
                 HF_BOTH_SLOW(sm59_a_spawn_survives_a_crash, 120),
                 HF_WAYS(both_kinds_in_one_program), HF_BOTH(a_fan_out_is_drawn_as_waiting),
                 HF_WAYS(a_bundle_of_a_machine_replays), HF_WAYS(sm55_unknown_steps_wait),
                 HF_WAYS(a_misspelt_child_fails), HF_BOTH(a_child_of_another_process_waits),
                 HF_WAYS(sm65_callers_wait), HF_BOTH_SLOW(sm65_a_restart_while_a_caller_waits, 120),
                 HF_WAYS(why_a_machine_does_not_move), HF_WAYS(a_machine_is_shown),
                 HF_WAYS(a_lost_timeout_comes_back), HF_WAYS(sm45_starts_with_answers_by_position),
                 HF_WAYS_SLOW(sm45_a_batch_is_few_transactions, 300),
                 HF_BOTH_SLOW(sm45_batches_in_opposite_order, 120))
