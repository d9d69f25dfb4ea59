/* Code that asks for another step than the recorded one, in each way that it can differ: the run is
   blocked with everything that tells why, nothing is written, and the right code goes on after a
   repair. Keys and predicates of conditions are in test_condition.c, failures in test_version.c. */
#include <string.h>

#include "lib/handlers.h"
#include "lib/kit.h"

static bool changed; /* the program is another one now */

static hf_value value_of(hf_mem *mem, void *arg)
{
    (void)arg;
    return hf_json(mem, "1");
}

static hf_value calls(hf_ctx *w, hf_value in, int which)
{
    switch (which) {
    case 0: /* what the activity is called */
        return hf_activity(w, changed ? "other" : "echo", in);
    case 1: /* another kind of step */
        if (changed)
            hf_sleep(w, 0);
        else
            hf_activity(w, "echo", in);
        return NULL;
    case 2:
        if (!changed)
            hf_sleep(w, 0);
        else
            hf_activity(w, "echo", in);
        return NULL;
    case 3: /* what the child is */
        return hf_child(w, changed ? "else" : "single", in);
    case 4: /* where the activity runs */
        return hf_activity(w, "echo", in, .local = changed);
    case 5: /* how deep the barrier is */
        return changed ? hf_all(w, HF_ACTIVITY("echo", in), HF_ALL(HF_ACTIVITY("echo", in)))
                       : hf_all(w, HF_ACTIVITY("echo", in), HF_ACTIVITY("echo", in));
    case 6: /* and how wide */
        return changed ? hf_all(w, HF_ACTIVITY("echo", in), HF_ACTIVITY("echo", in),
                                HF_ACTIVITY("echo", in))
                       : hf_all(w, HF_ACTIVITY("echo", in), HF_ACTIVITY("echo", in));
    default: /* whether there is one */
        return changed ? hf_activity(w, "echo", in) : hf_all(w, HF_ACTIVITY("echo", in));
    }
}

static void marks(hf_ctx *w, int which)
{
    switch (which) {
    case 8: /* of which change it is a version */
        (void)hf_version(w, changed ? "later" : "first", HF_VERSION_DEFAULT, 1);
        break;
    case 9:
        if (changed)
            hf_memo(w, hf_json(w, "{'a': 1}"));
        else
            (void)hf_side_effect(w, "k", value_of, NULL);
        break;
    case 10:
        if (changed)
            hf_search_attributes(w, hf_json(w, "{'a': 'b'}"));
        else
            hf_memo(w, hf_json(w, "{'a': 1}"));
        break;
    case 11:
        if (changed)
            (void)hf_side_effect(w, "k", value_of, NULL);
        else
            hf_label(w, "a", "b");
        break;
    default: /* which signal it waits for */
        (void)hf_receive(w, changed ? "go" : "stop");
    }
}

static hf_value drifts(hf_ctx *w, hf_value in)
{
    int which = (int)hf_int(in, "", 0);

    if (which < 8)
        (void)calls(w, in, which);
    else
        marks(w, which);
    return hf_receive(w, "go");
}

static const hf_signal_def signals[] = {{.name = "go"}, {.name = "stop"}, {0}};
static const hf_activity_def activities[] = {
    {.name = "echo", .run = hf_echo}, {.name = "other", .run = hf_echo}, {0}};
static const hf_workflow_def workflows[] = {{.type = "drifts", .run = drifts, .signals = signals},
                                            {.type = "single", .run = hf_end_now},
                                            {.type = "else", .run = hf_end_now},
                                            {0}};
static const hf_app app = {.name = "guard", .workflows = workflows, .activities = activities};

#define RAN     "ActivityScheduled, ActivityStarted, ActivityCompleted"
#define BARRIER "parallel all barrier matching current topology"

static const struct {
    const char *expected;
    const char *recorded;
    int64_t step;
} drifted[] = {
    {"activity:other", RAN, 1},
    {"timer", RAN, 1},
    {"activity:echo", "TimerScheduled, TimerFired", 1},
    {"child workflow:else", "ChildWorkflowScheduled, ChildRunStarted, ChildRunCompleted", 1},
    {"local activity:echo", RAN, 1},
    {BARRIER, RAN, 2},
    {BARRIER, RAN, 1},
    {"activity:echo", RAN, 1},
    {"version marker:later", "VersionMarkerRecorded", 1},
    {"memo upsert", "SideEffectRecorded", 1},
    {"search attributes upsert", "MemoUpserted", 1},
    {"side effect", "SearchAttributesUpserted", 1},
    {"signal wait:go", "SignalWaitOpened", 1},
};
enum { CASES = sizeof(drifted) / sizeof(drifted[0]) };

static void blocked(hf_engine *d, const char *id, size_t i)
{
    hf_value task = hf_get(hf_at(hf_get(hf_kit_bundle(d, id), "tasks"), 0), "payload");
    const char *expected = hf_str(task, "replay_blocked_expected_history_shape", "");
    const char *recorded = hf_str(task, "replay_blocked_recorded_event_types", "");

    ck_assert_msg(hf_bool(task, "replay_blocked", false), "case %zu is not blocked", i);
    ck_assert_str_eq(hf_str(task, "replay_blocked_reason", ""), "history_shape_mismatch");
    ck_assert_msg(strcmp(expected, drifted[i].expected) == 0, "case %zu: %s", i, expected);
    ck_assert_msg(strcmp(recorded, drifted[i].recorded) == 0, "case %zu: %s", i, recorded);
    ck_assert_int_eq(hf_int(task, "replay_blocked_workflow_sequence", 0), drifted[i].step);
    ck_assert_ptr_nonnull(strstr(hf_str(task, "source_line", ""), "test_guard.c:"));
    ck_assert_ptr_nonnull(strstr(hf_str(task, "message", ""), "test_guard.c:"));
    ck_assert_str_eq(hf_str(task, "replay_blocked_condition_wait_id", "none"), "none");
    ck_assert_str_eq(hf_str(task, "replay_blocked_exception_type", "none"), "none");
}

/* Each of them alone, all in one store. */
HF_BOTH_ENGINES(each_difference_blocks)
{
    hf_engine *d = hf_kit_open(kind, &app);
    char ids[CASES][2];
    int64_t events;

    changed = false;
    for (size_t i = 0; i < CASES; i++) {
        ids[i][0] = (char)('a' + i);
        ids[i][1] = '\0';
        hf_kit_begin(d, "drifts", ids[i], hf_json(d, "%zu", i));
    }
    changed = true;
    hf_test_crash(d);
    for (size_t i = 0; i < CASES; i++)
        hf_kit_ok(d, hf_signal(d, ids[i], "go", NULL));
    events = hf_kit_number(d, "SELECT sum(last_seq) FROM run");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_kit_number(d, "SELECT sum(last_seq) FROM run"), events);
    for (size_t i = 0; i < CASES; i++) {
        ck_assert_ptr_nonnull(strstr(hf_test_status(d, ids[i]), "waiting"));
        blocked(d, ids[i], i);
    }
    changed = false;
    for (size_t i = 0; i < CASES; i++) {
        if (i + 1 == CASES)
            hf_kit_ok(d, hf_signal(d, ids[i], "stop", NULL));
        (void)hf_kit_ask(d, "repair", hf_json(d, "{'workflow_id': %s}", ids[i]));
    }
    hf_kit_ok(d, hf_test_drain(d));
    for (size_t i = 0; i < CASES; i++)
        ck_assert_str_eq(hf_test_status(d, ids[i]), "completed");
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/guard", HF_BOTH(each_difference_blocks))
