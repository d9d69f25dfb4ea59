/* NULL for a value is null, wherever holdfast.h takes or is handed one; test/machine/test_step.c
   has the outcomes of steps. */
#include <string.h>

#include "base/value.h"
#include "holdfast/holdfast.h"
#include "lib/kit.h"

static hf_value nothing(hf_act *a, hf_value in)
{
    (void)a;
    (void)in;
    return NULL;
}

static hf_value drawn(hf_mem *mem, void *arg)
{
    (void)mem;
    (void)arg;
    return NULL;
}

static hf_value leaf(hf_ctx *w, hf_value in)
{
    (void)w;
    return in; /* null */
}

static hf_value answer(hf_ctx *w, void *state, hf_value args)
{
    (void)w;
    (void)args;
    *(bool *)state = true;
    return NULL;
}

static hf_value look(hf_mem *mem, const void *state, hf_value args)
{
    (void)mem;
    (void)state;
    (void)args;
    return NULL;
}

static bool answered(const void *state)
{
    return *(const bool *)state;
}

static bool is_null(hf_value value)
{
    return hf_value_kind_of(value) == HF_VALUE_NULL;
}

static hf_value tour(hf_ctx *w, hf_value in)
{
    const hf_leaf leaves[] = {HF_ACTIVITY("nothing", NULL), HF_CHILD("leaf", NULL), {0}};
    hf_value both;
    bool all = is_null(in);

    all &= is_null(hf_activity(w, "nothing", NULL));
    all &= is_null(hf_activity(w, "nothing", NULL, .local = true));
    all &= is_null(hf_child(w, "leaf", NULL));
    all &= is_null(hf_async(w, "leaf", NULL));
    all &= is_null(hf_side_effect(w, "draw", drawn, NULL));
    both = hf_all_of(w, leaves);
    all &= hf_len(both) == 2 && is_null(hf_at(both, 0)) && is_null(hf_at(both, 1));
    all &= hf_wait(w, "answered", answered);
    hf_receive(w, "go");
    if (!all)
        hf_fail(w, "not_null", "a value was not null");
    hf_continue_as_new(w, NULL);
}

static const hf_workflow_def workflows[] = {
    {.type = "tour",
     .run = tour,
     .state_size = sizeof(bool),
     .signals = (const hf_signal_def[]){{"go", NULL}, {0}},
     .updates = (const hf_update_def[]){{"answer", NULL, answer, NULL}, {0}},
     .queries = (const hf_query_def[]){{"look", NULL, look}, {0}}},
    {.type = "leaf", .run = leaf},
    {0}};
static const hf_activity_def activities[] = {{hf_fn(nothing)}, {0}};
static const hf_app app = {.name = "null", .workflows = workflows, .activities = activities};

/* Inputs, results, side effects, answers of updates and queries, and what a run is continued with:
   a second run that is continued has seen each of them as null. */
HF_EVERY_WAY(n05_null_is_null_everywhere)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = hf_json(d, "1");

    hf_kit_begin(d, "tour", "t", NULL);
    for (int i = 0; i < 2; i++) {
        hf_kit_ok(d, hf_update(d, "t", "answer", NULL, hf_seconds(10), &out));
        ck_assert(is_null(out));
        hf_kit_settle(d);
        hf_kit_ok(d, hf_query(d, "t", "look", NULL, &out));
        ck_assert(is_null(out));
        hf_kit_ok(d, hf_signal(d, "t", "go", NULL));
        hf_kit_settle(d);
    }
    ck_assert_int_eq(hf_kit_number(d, "SELECT max(number) FROM run"), 3);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/null", HF_WAYS(n05_null_is_null_everywhere))
