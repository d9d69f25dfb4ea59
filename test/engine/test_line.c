/* Where steps stand in the code: recorded when they are opened, once for a loop, and shown wherever
   the step is; on both databases. */
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "holdfast/view.h"
#include "lib/handlers.h"
#include "lib/kit.h"

enum { ROUNDS = 40 };

/* Lines of the steps below, noted beside them. */
static int at_charge, at_loop, at_effect, at_version, at_sleep, at_child, at_wait, at_next, at_park;

static hf_value charge(hf_act *a, hf_value in)
{
    (void)in;
    return hf_json(a, "{}");
}

static hf_value seven(hf_mem *mem, void *arg)
{
    (void)arg;
    return hf_value_int(mem, 7);
}

static hf_value order_run(hf_ctx *w, hf_value in)
{
    at_charge = __LINE__, (void)hf_activity(w, "charge", in);
    for (int i = 0; i < ROUNDS; i++)
        at_loop = __LINE__, (void)hf_activity(w, "charge", in);
    at_effect = __LINE__, (void)hf_side_effect(w, "seven", seven, NULL);
    at_version = __LINE__, (void)hf_version(w, "change", HF_VERSION_DEFAULT, 1);
    at_sleep = __LINE__, hf_sleep(w, 1000);
    at_child = __LINE__, (void)hf_child(w, "leaf", in);
    at_wait = __LINE__, (void)hf_receive(w, "go", .timeout = hf_days(1));
    return in;
}

static hf_outcome work(hf_step *s)
{
    return at_next = __LINE__, hf_next(s, "rest", hf_step_state(s));
}

static hf_outcome rest(hf_step *s)
{
    return at_park = __LINE__, hf_park(s, "go", HF_NO_TIMEOUT, "rest", hf_step_state(s));
}

static const hf_signal_def signals[] = {{"go", "any"}, {0}};
static const hf_workflow_def workflows[] = {{.type = "order", .run = order_run, .signals = signals},
                                            {.type = "leaf", .run = hf_end_now},
                                            {0}};
static const hf_activity_def activities[] = {{hf_fn(charge)}, {0}};
static const hf_machine_def machines[] = {
    {.type = "machine",
     .initial = "work",
     .steps = (const hf_step_def[]){{"work", work}, {"rest", rest}, {0}},
     .signals = signals},
    {0}};
static const hf_app app = {
    .name = "line", .workflows = workflows, .activities = activities, .machines = machines};

static void line_is(hf_value object, const char *path, int line)
{
    char wanted[64];

    (void)snprintf(wanted, sizeof(wanted), "test_line.c:%d", line);
    ck_assert_msg(strcmp(hf_str(object, path, ""), wanted) == 0, "%s: %s, not %s", path,
                  hf_str(object, path, "nothing"), wanted);
}

/* The first of a list whose member has that text. */
static hf_value item_find(hf_value list, const char *member, const char *text)
{
    for (size_t i = 0; i < hf_len(list); i++)
        if (strcmp(hf_str(hf_at(list, i), member, ""), text) == 0)
            return hf_at(list, i);
    ck_abort_msg("no %s is %s", member, text);
    return NULL;
}

static void order_start(hf_engine *d)
{
    hf_kit_ok(d, hf_start(d, "order", hf_json(d, "{}"), .id = "o"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_test_advance(d, 2000));
    hf_kit_ok(d, hf_test_drain(d));
}

/* Spans, waits, activities, timers, timeline, history and the answer to "why" name the line of
   their step. */
HF_BOTH_ENGINES(steps_name_their_source_line)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value out = NULL;
    hf_value why = NULL;
    hf_value history = NULL;

    order_start(d);
    hf_kit_ok(d, hf_spans(d, hf_json_(mem, "{'id': 'o', 'limit': 1000}"), mem, &out));
    line_is(out, "bars.0.source_line", at_charge);
    for (int i = 1; i <= ROUNDS; i++)
        line_is(hf_at(hf_get(out, "bars"), (size_t)i), "source_line", at_loop);
    line_is(hf_at(hf_get(out, "bars"), ROUNDS + 1), "source_line", at_effect);
    line_is(hf_at(hf_get(out, "bars"), ROUNDS + 2), "source_line", at_version);
    line_is(hf_at(hf_get(out, "bars"), ROUNDS + 3), "source_line", at_sleep);
    line_is(hf_at(hf_get(out, "bars"), ROUNDS + 4), "source_line", at_child);
    line_is(hf_at(hf_get(out, "bars"), ROUNDS + 5), "source_line", at_wait);
    hf_kit_ok(d, hf_describe(d, hf_json_(mem, "{'id': 'o', 'limit': 1000}"), mem, &out));
    line_is(item_find(hf_get(out, "timeline"), "type", "SignalWaitOpened"), "source_line", at_wait);
    line_is(item_find(hf_get(out, "timeline"), "type", "TimerFired"), "source_line", at_sleep);
    ck_assert_ptr_eq(hf_str(hf_get(out, "timeline.0"), "source_line", NULL), NULL);
    line_is(item_find(hf_get(out, "waits"), "kind", "signal"), "source_line", at_wait);
    hf_kit_ok(d, hf_why(d, "o", mem, &why));
    line_is(why, "subject.source_line", at_wait);
    hf_kit_ok(d, hf_history(d, mem, &history, "o"));
    line_is(item_find(hf_get(history, "events"), "type", "ChildWorkflowScheduled"), "source_line",
            at_child);
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* What is stored of it: nothing for a step that stands where the one before it stood. A replay
   from the beginning goes on without writing the line again. */
HF_BOTH_ENGINES(a_loop_stores_its_line_once)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    const char *json = NULL;
    hf_value bundle = NULL;
    hf_value own;
    size_t lines = 0;

    order_start(d);
    hf_test_crash(d);
    hf_kit_ok(d, hf_signal(d, "o", "go", hf_json(d, "{}")));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_export(d, mem, &json, "o"));
    bundle = hf_parse_(mem, json, strlen(json));
    own = hf_get(bundle, "holdfast.own");
    for (size_t i = 0; i < hf_len(own); i++)
        lines += strcmp(hf_str(hf_at(own, i), "1", ""), "source_line") == 0;
    ck_assert_uint_eq(lines, 7);
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* A step of a machine names the line at which it decided what comes next. */
HF_BOTH_ENGINES(machines_name_where_they_decide)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value out = NULL;

    hf_kit_ok(d, hf_start(d, "machine", hf_json(d, "{}"), .id = "m"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_test_crash(d);
    hf_kit_ok(d, hf_signal(d, "m", "go", hf_json(d, "{}")));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_spans(d, hf_json_(mem, "{'id': 'm'}"), mem, &out));
    ck_assert_uint_eq(hf_len(hf_get(out, "bars")), 3);
    line_is(out, "bars.0.source_line", at_next);
    line_is(out, "bars.1.source_line", at_park);
    line_is(out, "bars.2.source_line", at_park);
    hf_kit_ok(d, hf_why(d, "m", mem, &out));
    ck_assert_str_eq(hf_str(out, "code", ""), "waiting_for_signal");
    hf_mem_free(mem);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/line", HF_BOTH(steps_name_their_source_line),
                 HF_BOTH(a_loop_stores_its_line_once), HF_BOTH(machines_name_where_they_decide))
