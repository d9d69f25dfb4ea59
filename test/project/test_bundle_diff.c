/* test_bundle_diff.c: two runs side by side, aligned by step: every way in which a step can differ
   has its own word, and what is the same is called so. */
#include <string.h>

#include "holdfast/tool.h"
#include "holdfast/view.h"
#include "lib/handlers.h"
#include "lib/kit.h"

static int64_t counted;

/* Another number each time. */
static hf_value count(hf_act *a, hf_value in)
{
    (void)in;
    return hf_json(a, "{'n': %lld}", (long long)++counted);
}

/* Fails once, then does it. */
static hf_value slow(hf_act *a, hf_value in)
{
    return hf_attempt(a) == 1 && hf_bool(in, "late", false) ? hf_retry(a, "busy", "not yet") : in;
}

static hf_value plan(hf_ctx *w, hf_value in)
{
    hf_activity(w, "echo", hf_get(in, "first"));
    hf_activity(w, "count", NULL);
    hf_activity(w, hf_bool(in, "other", false) ? "echo" : "slow", NULL);
    hf_activity(w, "slow", hf_json(w, "{'late': true}"), .max_attempts = 3);
    if (hf_bool(in, "more", false))
        hf_sleep(w, 1000);
    return hf_json(w, "{}");
}

static const hf_activity_def activities[] = {
    {.name = "echo", .run = hf_echo}, {hf_fn(count)}, {hf_fn(slow)}, {0}};
static const hf_workflow_def workflows[] = {{.type = "plan", .run = plan}, {0}};
static const hf_app app = {.name = "diff", .workflows = workflows, .activities = activities};

static const char *life(hf_engine *d, hf_mem *mem, const char *id, hf_value in)
{
    const char *text = NULL;

    hf_kit_ok(d, hf_start(d, "plan", in, .id = id));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_test_advance(d, 60000));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, id), "completed");
    hf_kit_ok(d, hf_export(d, mem, &text, id));
    return text;
}

static hf_value compared(hf_mem *mem, const char *a, const char *b)
{
    hf_value diff = NULL;
    hf_err err = {0};

    hf_test_ok(hf_bundle_diff(a, strlen(a), b, strlen(b), mem, &diff, &err), &err, "compare");
    return diff;
}

static void states_are(hf_value diff, const char *const *states, size_t count_of)
{
    hf_value steps = hf_get(diff, "steps");
    int64_t different = 0;

    ck_assert_uint_eq(hf_len(steps), count_of);
    for (size_t i = 0; i < count_of; i++) {
        ck_assert_int_eq(hf_int(hf_at(steps, i), "step", 0), (int64_t)i + 1);
        ck_assert_str_eq(hf_str(hf_at(steps, i), "state", ""), states[i]);
        different += strcmp(states[i], "same") != 0;
    }
    ck_assert_int_eq(hf_int(diff, "different", -1), different);
    ck_assert_int_eq(hf_bool(diff, "equal", false), different == 0);
}

HF_BOTH_ENGINES(every_difference_has_a_word)
{
    static const char *const there[] = {"different_input", "different_output", "different_step",
                                        "same", "only_in_b"};
    static const char *const back[] = {"different_input", "different_output", "different_step",
                                       "same", "only_in_a"};
    static const char *const same[] = {"same", "same", "same", "same"};
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    const char *a = life(d, mem, "a", hf_json_(mem, "{'first': 1}"));
    const char *b = life(d, mem, "b", hf_json_(mem, "{'first': 2, 'other': true, 'more': true}"));
    hf_value diff = compared(mem, a, b);

    states_are(diff, there, 5);
    ck_assert_str_eq(hf_str(diff, "a.instance_id", ""), "a");
    ck_assert_str_eq(hf_str(diff, "b.workflow_type", ""), "plan");
    ck_assert_str_eq(hf_str(diff, "steps.2.a.name", ""), "slow");
    ck_assert_str_eq(hf_str(diff, "steps.2.b.name", ""), "echo");
    ck_assert_int_eq(hf_int(diff, "steps.3.a.attempts", 0), 2);
    ck_assert_str_eq(hf_str(diff, "steps.3.a.outcome", ""), "ActivityCompleted");
    ck_assert_int_gt(hf_int(diff, "steps.3.a.duration_ms", 0), 0);
    ck_assert_str_eq(hf_str(diff, "steps.4.b.type", ""), "TimerScheduled");
    ck_assert_int_eq(hf_int(diff, "steps.4.b.duration_ms", 0), 1000);
    states_are(compared(mem, b, a), back, 5);
    states_are(compared(mem, a, a), same, 4);
    hf_mem_free(mem);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("project/bundle_diff", HF_BOTH(every_difference_has_a_word))
