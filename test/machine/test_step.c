/* Steps of a machine: next, again, done, stop, on_error and state, through holdfast.h on both
   databases. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine_impl.h"
#include "base/value.h"
#include "holdfast/holdfast.h"
#include "lib/kit.h"

/* ---- the application */

static hf_outcome count(hf_step *s)
{
    hf_value st = hf_step_state(s);
    int64_t n = hf_int(st, "n", 0);

    if (n == 0)
        return hf_done(s, hf_json(s, "{'left': 0, 'key': %s}", hf_step_key(s)));
    return hf_next(s, "count", hf_json(s, "{'n': %lld}", (long long)n - 1));
}

/* Fails as often as it is told, then is done. */
static hf_outcome stubborn(hf_step *s)
{
    hf_value st = hf_step_state(s);

    if (hf_step_attempt(s) <= (int)hf_int(st, "fail", 0))
        return hf_again(s, st, hf_seconds(5) * hf_step_attempt(s));
    return hf_done(s, hf_json(s, "{'attempt': %d, 'key': %s}", hf_step_attempt(s), hf_step_key(s)));
}

static hf_outcome quit(hf_step *s)
{
    return hf_stop(s, "no_stock", "there is nothing left");
}

/* Returns what its state asks for, good or bad. */
static hf_outcome odd(hf_step *s)
{
    hf_value st = hf_step_state(s);
    const char *what = hf_str(st, "what", "");
    static const char *const none[] = {NULL};
    char *big;
    hf_outcome outcome;

    if (strcmp(what, "unknown_step") == 0)
        return hf_next(s, "nowhere", st);
    if (strcmp(what, "no_state") == 0)
        return hf_next(s, "odd", hf_json(s, "{'nan': %g}", 0.0 / hf_num(st, "zero", 0.0)));
    if (strcmp(what, "no_result") == 0)
        return hf_done(s, hf_json(s, "{'nan': %g}", 0.0 / hf_num(st, "zero", 0.0)));
    if (strcmp(what, "too_big") == 0) {
        hf_value half;

        big = malloc(3 << 19);
        ck_assert_ptr_nonnull(big);
        memset(big, 'x', (3 << 19) - 1);
        big[(3 << 19) - 1] = '\0';
        half = hf_json(s, "%s", big);
        outcome = hf_next(s, "odd", hf_json(s, "[%p, %p]", (const void *)half, (const void *)half));
        free(big);
        return outcome;
    }
    if (strcmp(what, "bad_delay") == 0)
        return hf_again(s, st, -1);
    if (strcmp(what, "no_names") == 0)
        return hf_park_any(s, none, hf_seconds(1), "odd", st);
    if (strcmp(what, "bad_timeout") == 0)
        return hf_park(s, "go", 0, "odd", st);
    if (strcmp(what, "unknown_signal") == 0)
        return hf_park(s, "goo", hf_seconds(1), "odd", st);
    if (strcmp(what, "bad_child") == 0)
        return hf_fan_out(s, (const hf_leaf[]){HF_ACTIVITY("a", st), {0}}, "odd", st);
    if (strcmp(what, "raised") == 0)
        return hf_raise(s, "card_declined", "limit is %d", 5);
    return (hf_outcome){.kind = 77};
}

static hf_outcome told(hf_step *s, const hf_error *e)
{
    return hf_done(
        s, hf_json(s, "{'type': %s, 'signals': %d}", e->type, (int)hf_len(hf_step_inbox(s))));
}

static hf_outcome retry(hf_step *s, const hf_error *e)
{
    return hf_step_attempt(s) < 3 ? hf_again(s, hf_step_state(s), hf_seconds(1))
                                  : hf_stop(s, e->type, e->message);
}

static hf_outcome worse(hf_step *s, const hf_error *e)
{
    (void)e;
    return hf_next(s, "nowhere", hf_step_state(s));
}

#define STEPS(...)                                                                                 \
    (const hf_step_def[])                                                                          \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
/* Every outcome in turn with NULL for its state, and at last for its result. */
static hf_outcome null_next(hf_step *s)
{
    return hf_next(s, "next_with", NULL);
}

static hf_outcome null_next_with(hf_step *s)
{
    return hf_next_with(s, "again", NULL);
}

static hf_outcome null_again(hf_step *s)
{
    return hf_step_attempt(s) < 2 ? hf_again(s, NULL, 0) : hf_next(s, "fan", hf_step_state(s));
}

static hf_outcome null_fan(hf_step *s)
{
    return hf_fan_out(s, (const hf_leaf[]){HF_CHILD("null_job", NULL), {0}}, "park", NULL);
}

static hf_outcome null_park(hf_step *s)
{
    return hf_park(s, "go", HF_NO_TIMEOUT, "done", NULL);
}

static hf_outcome null_done(hf_step *s)
{
    return hf_value_kind_of(hf_step_state(s)) == HF_VALUE_NULL ? hf_done(s, NULL)
                                                               : hf_stop(s, "state", "not null");
}

static hf_outcome null_job(hf_step *s)
{
    return hf_done(s, NULL);
}

static const hf_signal_def signals[] = {{"go", NULL}, {0}};
static const hf_machine_def machines[] = {
    {"null", .initial = "next",
     .steps = STEPS({"next", null_next}, {"next_with", null_next_with}, {"again", null_again},
                    {"fan", null_fan}, {"park", null_park}, {"done", null_done}),
     .signals = signals},
    {"null_job", .job = null_job},
    {"counter", .initial = "count", .params = "n:int", .steps = STEPS({"count", count})},
    {"stubborn", .initial = "try", .steps = STEPS({"try", stubborn})},
    {"quitter", .initial = "quit", .steps = STEPS({"quit", quit})},
    {"odd", .initial = "odd", .steps = STEPS({"odd", odd}), .signals = signals, .on_error = told},
    {"bare", .initial = "odd", .steps = STEPS({"odd", odd}), .signals = signals},
    {"retrier", .initial = "odd", .steps = STEPS({"odd", odd}), .signals = signals,
     .on_error = retry},
    {"worse", .initial = "odd", .steps = STEPS({"odd", odd}), .signals = signals,
     .on_error = worse},
    {0},
};
static const hf_app app = {.name = "steps", .machines = machines};

static void start(hf_engine *d, const char *type, const char *id, const char *json)
{
    hf_kit_ok(d, hf_start(d, type, hf_parse_(hf_mem_of_engine(d), json, strlen(json)), .id = id));
    hf_kit_ok(d, hf_test_drain(d));
}

/* ---- the cases */

/* A chain of steps ends with its result; every step left one event, in one unit of its own. */
HF_EVERY_WAY(a_chain_of_steps)
{
    hf_engine *d = hf_kit_open(kind, &app);
    int64_t chunks;

    start(d, "counter", "c", "{\"n\": 9}");
    ck_assert_str_eq(hf_test_status(d, "c"), "completed");
    ck_assert_ptr_nonnull(strstr(hf_kit_result(d, "c"), "\"left\":0"));
    ck_assert_int_eq(hf_test_count(d, "c", "StepCompleted"), 10);
    chunks = hf_kit_number(d, "SELECT count(*) FROM history");
    ck_assert_int_eq(chunks, 11); /* the start, and ten durable commits */
    ck_assert_str_eq(hf_kit_said(d, "c", "StepCompleted", 0, HF_KEY_OUTCOME), "next");
    ck_assert_str_eq(hf_kit_said(d, "c", "StepCompleted", 0, HF_KEY_STATE), "{\"n\":8}");
    ck_assert_str_eq(hf_kit_said(d, "c", "StepCompleted", 9, HF_KEY_OUTCOME), "done");
    hf_kit_close(d);
}

/* Again runs the same step after its delay, with the attempt counted and the same key. */
HF_EVERY_WAY(sm50_again_counts_and_waits)
{
    hf_engine *d = hf_kit_open(kind, &app);
    const char *key;

    start(d, "stubborn", "s", "{\"fail\": 2}");
    ck_assert_int_eq(hf_test_count(d, "s", "StepCompleted"), 1);
    hf_kit_ok(d, hf_test_advance(d, 4999));
    ck_assert_int_eq(hf_test_count(d, "s", "StepCompleted"), 1);
    hf_kit_ok(d, hf_test_advance(d, 1));
    ck_assert_int_eq(hf_test_count(d, "s", "StepCompleted"), 2);
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_advance(d, 9999));
    ck_assert_int_eq(hf_test_count(d, "s", "StepCompleted"), 2);
    hf_kit_ok(d, hf_test_advance(d, 1));
    ck_assert_str_eq(hf_test_status(d, "s"), "completed");
    ck_assert_ptr_nonnull(strstr(hf_kit_result(d, "s"), "\"attempt\":3"));
    key = strstr(hf_kit_result(d, "s"), "-1\"}");
    ck_assert_ptr_nonnull(key);
    hf_kit_close(d);
}

/* NULL is null in every outcome, as it is in workflows: nothing fails and nothing is repeated. */
HF_EVERY_WAY(n05_null_is_a_state_and_a_result)
{
    hf_engine *d = hf_kit_open(kind, &app);

    start(d, "null_job", "j", "{}");
    ck_assert_str_eq(hf_kit_result(d, "j"), "null");
    ck_assert_int_eq(hf_test_count(d, "j", "StepCompleted"), 1);
    start(d, "null", "n", "{\"a\": 1}");
    ck_assert_str_eq(hf_test_status(d, "n"), "waiting signal:go");
    hf_test_crash(d);
    hf_kit_ok(d, hf_signal(d, "n", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "n"), "null");
    ck_assert_int_eq(hf_test_count(d, "n", "StepCompleted"), 7);
    hf_kit_close(d);
}

/* Stop closes the run as failed, with type and message. */
HF_EVERY_WAY(stop_fails_the_run)
{
    hf_engine *d = hf_kit_open(kind, &app);
    const hf_error *e = NULL;

    start(d, "quitter", "q", "null");
    ck_assert_str_eq(hf_test_status(d, "q"), "failed");
    ck_assert_int_eq(hf_result(d, "q", 0, NULL, &e), HF_ERROR);
    ck_assert_str_eq(e->type, "no_stock");
    ck_assert_str_eq(e->message, "there is nothing left");
    hf_kit_close(d);
}

static const char *const faults[][2] = {
    {"unknown_step", "unknown_step"},
    {"no_state", "unencodable"},
    {"no_result", "unencodable"},
    {"too_big", "too_big"},
    {"bad_delay", "bad_delay"},
    {"no_names", "no_names"},
    {"bad_timeout", "bad_timeout"},
    {"unknown_signal", "unknown_signal"},
    {"bad_child", "bad_child"},
    {"raised", "card_declined"},
    {"", "bad_outcome"},
};

/* Every outcome that cannot be goes to on_error, with its type and without signals. */
HF_EVERY_WAY(sm12_bad_outcomes_go_to_on_error)
{
    hf_engine *d = hf_kit_open(kind, &app);

    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        char id[16];
        char in[64];
        char want[64];

        (void)snprintf(id, sizeof(id), "o%zu", i);
        (void)snprintf(in, sizeof(in), "{\"what\": \"%s\"}", faults[i][0]);
        (void)snprintf(want, sizeof(want), "{\"type\":\"%s\",\"signals\":0}", faults[i][1]);
        start(d, "odd", id, in);
        ck_assert_str_eq(hf_test_status(d, id), "completed");
        ck_assert_str_eq(hf_kit_result(d, id), want);
    }
    hf_kit_close(d);
}

/* Without on_error the machine stops with the failure; one that answers badly stops it too. */
HF_EVERY_WAY(sm51_without_a_handler_it_stops)
{
    hf_engine *d = hf_kit_open(kind, &app);
    const hf_error *e = NULL;

    start(d, "bare", "b", "{\"what\": \"no_state\"}");
    ck_assert_int_eq(hf_result(d, "b", 0, NULL, &e), HF_ERROR);
    ck_assert_str_eq(e->type, "unencodable");
    start(d, "worse", "w", "{\"what\": \"raised\"}");
    ck_assert_int_eq(hf_result(d, "w", 0, NULL, &e), HF_ERROR);
    ck_assert_str_eq(e->type, "unknown_step");
    start(d, "retrier", "r", "{\"what\": \"raised\"}");
    hf_kit_ok(d, hf_test_advance(d, 5000));
    ck_assert_int_eq(hf_result(d, "r", 0, NULL, &e), HF_ERROR);
    ck_assert_str_eq(e->type, "card_declined");
    ck_assert_int_eq(hf_test_count(d, "r", "StepCompleted"), 3);
    hf_kit_close(d);
}

static hf_status scenario(hf_engine *d, void *arg)
{
    hf_mem *mem = hf_mem_of_engine(d);
    hf_status st = hf_start(d, "counter", hf_json(mem, "{'n': 4}"), .id = "c");

    (void)arg;
    if (!st)
        st = hf_start(d, "stubborn", hf_json(mem, "{'fail': 2}"), .id = "s");
    if (!st)
        st = hf_test_drain(d);
    return st ? st : hf_test_advance(d, hf_minutes(1));
}

/* A crash right after any commit changes nothing about how it ends. */
START_TEST(sm47_a_crash_at_every_commit)
{
    char why[512] = "";

    ck_assert_msg(hf_test_crash_everywhere(&app, scenario, NULL, why, sizeof(why)) == HF_OK, "%s",
                  why);
}
END_TEST

/* The same on a store of either kind: after the commit the next step runs, before it the same. */
HF_EVERY_WAY(sm47_a_step_survives_a_crash)
{
    for (int at = 1; at <= 6; at++) {
        hf_engine *d = hf_kit_open(kind, &app);

        hf_kit_crash_after(d, at);
        hf_kit_ok(d, scenario(d, NULL));
        hf_kit_ok(d, hf_test_drain(d));
        ck_assert_str_eq(hf_test_status(d, "c"), "completed");
        ck_assert_int_eq(hf_test_count(d, "c", "StepCompleted"), 5);
        ck_assert_str_eq(hf_test_status(d, "s"), "completed");
        ck_assert_int_eq(hf_test_count(d, "s", "StepCompleted"), 3);
        hf_kit_close(d);
    }
}

/* A lone chain of ten steps costs ten durable commits beside its start, and no more. */
HF_BOTH_ENGINES(ten_steps_cost_ten_commits)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_of_engine(d);
    uint64_t before;

    hf_kit_ok(d, hf_start(d, "counter", hf_json(mem, "{'n': 9}"), .id = "c"));
    before = hf_writer_stats_get(d->writer).batches;
    for (int i = 0; i < 1000 && strcmp(hf_test_status(d, "c"), "completed") != 0; i++) {
        hf_kit_turn(d); /* without folding, which is off the path of a step */
        (void)hf_core_run_activity(d->core);
    }
    ck_assert_int_eq(hf_test_count(d, "c", "StepCompleted"), 10);
    ck_assert_uint_eq(hf_writer_stats_get(d->writer).batches - before, 10);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("machine/step", HF_WAYS(a_chain_of_steps), HF_WAYS(sm50_again_counts_and_waits),
                 HF_WAYS(n05_null_is_a_state_and_a_result), HF_WAYS(stop_fails_the_run),
                 HF_WAYS(sm12_bad_outcomes_go_to_on_error),
                 HF_WAYS(sm51_without_a_handler_it_stops), {sm47_a_crash_at_every_commit, 0},
                 HF_WAYS_SLOW(sm47_a_step_survives_a_crash, 120),
                 HF_BOTH(ten_steps_cost_ten_commits))
