/* What a typing mistake in a machine can be, one row each: it has a type of its own and a text that
   names what is wrong, the machine ends with it when it has no on_error, and nothing parks for
   ever; through holdfast.h on both databases. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/holdfast.h"
#include "lib/kit.h"

enum { HALF_BYTES = 3 << 19, NAMES_TOO_MANY = 257, CHILDREN_TOO_MANY = 10001 };

/* A value beyond what may be stored. */
static hf_value too_big(hf_step *s)
{
    char *text = malloc(HALF_BYTES + 1);
    hf_value half;

    ck_assert_ptr_nonnull(text);
    memset(text, 'x', HALF_BYTES);
    text[HALF_BYTES] = '\0';
    half = hf_json(s, "%s", text);
    free(text);
    return hf_json(s, "[%p, %p]", (const void *)half, (const void *)half);
}

static const char *const none[] = {NULL};

static hf_outcome empty_names(hf_step *s)
{
    return hf_park_any(s, none, hf_seconds(1), "go", hf_step_state(s));
}

static hf_outcome zero_timeout(hf_step *s)
{
    return hf_park(s, "a", 0, "go", hf_step_state(s));
}

static hf_outcome negative_timeout(hf_step *s)
{
    return hf_park(s, "a", -7, "go", hf_step_state(s));
}

static hf_outcome undeclared_name(hf_step *s)
{
    return hf_park(s, "b", HF_NO_TIMEOUT, "go", hf_step_state(s));
}

static hf_outcome endless_timeout(hf_step *s)
{
    return hf_park(s, "a", hf_years(101), "go", hf_step_state(s));
}

static hf_outcome too_many_names(hf_step *s)
{
    const char *names[NAMES_TOO_MANY + 1] = {NULL};

    for (int i = 0; i < NAMES_TOO_MANY; i++)
        names[i] = "a";
    return hf_park_any(s, names, hf_seconds(1), "go", hf_step_state(s));
}

static hf_outcome no_name(hf_step *s)
{
    return hf_park(s, NULL, hf_seconds(1), "go", hf_step_state(s));
}

static hf_outcome negative_delay(hf_step *s)
{
    return hf_again(s, hf_step_state(s), -1);
}

static hf_outcome unknown_step(hf_step *s)
{
    return hf_next(s, "gone", hf_step_state(s));
}

static hf_outcome unknown_park_step(hf_step *s)
{
    return hf_park(s, "a", HF_NO_TIMEOUT, "gone", hf_step_state(s));
}

static hf_outcome unknown_join_step(hf_step *s)
{
    return hf_fan_out(s, (const hf_leaf[]){HF_CHILD("m", NULL), {0}}, "gone", hf_step_state(s));
}

static hf_outcome too_many_children(hf_step *s)
{
    static hf_leaf leaves[CHILDREN_TOO_MANY + 1];

    for (int i = 0; i < CHILDREN_TOO_MANY; i++)
        leaves[i] = (hf_leaf)HF_CHILD("m", NULL);
    return hf_fan_out(s, leaves, "go", hf_step_state(s));
}

/* A size that leaves the leaf. */
static hf_outcome long_leaf(hf_step *s)
{
    hf_leaf leaves[] = {HF_CHILD("m", NULL), {0}};

    leaves[0].opts.child.size_ = sizeof(leaves[0].opts) + sizeof(size_t);
    return hf_fan_out(s, leaves, "go", hf_step_state(s));
}

static hf_outcome map_of_no_array(hf_step *s)
{
    return hf_fan_out_map(s, "m", hf_json(s, "{'a': 1}"), "go", NULL);
}

static hf_outcome map_of_nothing(hf_step *s)
{
    return hf_fan_out_map(s, "m", NULL, "go", NULL);
}

static hf_outcome map_without_a_type(hf_step *s)
{
    return hf_fan_out_map(s, NULL, hf_json(s, "[1]"), "go", NULL);
}

static hf_outcome map_with_an_input(hf_step *s)
{
    return hf_fan_out_map(s, "m", hf_json(s, "[1]"), "go", NULL, .in = hf_json(s, "2"));
}

static hf_outcome map_with_a_long_id(hf_step *s)
{
    static char id[300];

    memset(id, 'x', sizeof(id) - 1);
    return hf_fan_out_map(s, "m", hf_json(s, "[1]"), "go", NULL, .id = id);
}

static hf_outcome map_without_a_size(hf_step *s)
{
    return hf_fan_out_map_with(s, "m", hf_json(s, "[1]"), "go", NULL, &(hf_child_opts){0});
}

static hf_outcome big_child(hf_step *s)
{
    return hf_fan_out(s, (const hf_leaf[]){HF_CHILD("m", too_big(s)), {0}}, "go", hf_step_state(s));
}

static hf_outcome state_of_no_number(hf_step *s)
{
    return hf_next(s, "go", hf_json(s, "{'rate': %g}", (double)NAN));
}

static hf_outcome state_of_no_text(hf_step *s)
{
    return hf_next(s, "go", hf_json(s, "{'name': %s}", "\xff\xfe"));
}

static hf_outcome big_state(hf_step *s)
{
    return hf_next(s, "go", too_big(s));
}

static hf_outcome big_result(hf_step *s)
{
    return hf_done(s, too_big(s));
}

static hf_outcome unknown_rate(hf_step *s)
{
    return hf_next_with(s, "go",
                        &(hf_next_opts){.size_ = sizeof(hf_next_opts),
                                        .state = hf_step_state(s),
                                        .rate_limit = "male"});
}

static hf_outcome unknown_concurrency(hf_step *s)
{
    return hf_next_with(s, "go",
                        &(hf_next_opts){.size_ = sizeof(hf_next_opts),
                                        .state = hf_step_state(s),
                                        .concurrency_key = "pear:1"});
}

static hf_outcome rate_as_concurrency(hf_step *s)
{
    return hf_next_with(s, "go",
                        &(hf_next_opts){.size_ = sizeof(hf_next_opts),
                                        .state = hf_step_state(s),
                                        .concurrency_key = "mail"});
}

static hf_outcome too_heavy(hf_step *s)
{
    return hf_next_with(s, "go",
                        &(hf_next_opts){.size_ = sizeof(hf_next_opts),
                                        .state = hf_step_state(s),
                                        .rate_limit = "mail:eu",
                                        .weight = 3});
}

static hf_outcome weight_of_nothing(hf_step *s)
{
    return hf_next_with(
        s, "go",
        &(hf_next_opts){.size_ = sizeof(hf_next_opts), .state = hf_step_state(s), .weight = 2});
}

static hf_outcome no_outcome(hf_step *s)
{
    (void)s;
    return (hf_outcome){.kind = 77};
}

static hf_outcome waits(hf_step *s)
{
    return hf_park(s, "a", HF_NO_TIMEOUT, "go", hf_step_state(s));
}

static const hf_signal_def signals[] = {{"a", NULL}, {0}};
static const hf_limit_def limits[] = {{"mail", .allowed = 2, .per = 1000}, {0}};

/* Each is the one step of a machine. */
static const struct {
    hf_step_fn *step;
    const char *type;
    const char *text; /* part of the message */
} mistakes[] = {
    /* a park on an empty set, on names that nobody can send, or for a time that cannot be */
    {empty_names, "no_names", "the name of a signal"},
    {no_name, "no_names", "the name of a signal"},
    {too_many_names, "too_many_names", "at most 256"},
    {undeclared_name, "unknown_signal", "declares no signal b"},
    {zero_timeout, "bad_timeout", "after 0 ms"},
    {negative_timeout, "bad_timeout", "after -7 ms"},
    {endless_timeout, "bad_timeout", "cannot time out after"},
    /* a repetition before now */
    {negative_delay, "bad_delay", "after -1 ms"},
    /* steps that the machine does not have */
    {unknown_step, "unknown_step", "has no step gone"},
    {unknown_park_step, "unknown_step", "has no step gone"},
    {unknown_join_step, "unknown_step", "has no step gone"},
    /* children that cannot be */
    {too_many_children, "bad_child", "at most 10000"},
    {big_child, "bad_child", "too big"},
    {long_leaf, "bad_child", "a size"},
    {map_of_no_array, "bad_child", "an array"},
    {map_of_nothing, "bad_child", "an array"},
    {map_without_a_type, "bad_child", "a type"},
    {map_with_an_input, "bad_child", ".in must not be set"},
    {map_with_a_long_id, "bad_child", "too long"},
    {map_without_a_size, "bad_child", "a size"},
    /* state and result that are no values or too big for one */
    {state_of_no_number, "unencodable", "the state"},
    {state_of_no_text, "unencodable", "the state"},
    {big_state, "too_big", "the state"},
    {big_result, "too_big", "the result"},
    /* limits that nobody declared, or declared as something else */
    {unknown_rate, "unknown_limit", "male"},
    {unknown_concurrency, "unknown_limit", "pear:1"},
    {rate_as_concurrency, "unknown_limit", "mail"},
    {too_heavy, "unknown_limit", "a weight of 3"},
    {weight_of_nothing, "unknown_limit", "a weight of 2 needs a rate limit"},
    /* something that is no outcome */
    {no_outcome, "bad_outcome", "77"},
};

enum { MISTAKES = sizeof(mistakes) / sizeof(mistakes[0]) };

/* Every mistake ends its machine with its own type, and says what it was. */
HF_EVERY_WAY(bad_outcomes_end_their_machine)
{
    static hf_step_def steps[MISTAKES][2];
    static hf_machine_def machines[MISTAKES + 2];
    const hf_app app = {.name = "bad", .machines = machines, .limits = limits};
    char types[MISTAKES][8];
    hf_engine *d;

    for (int i = 0; i < MISTAKES; i++) {
        (void)snprintf(types[i], sizeof(types[i]), "m%d", i);
        steps[i][0] = (hf_step_def){"go", mistakes[i].step};
        machines[i] =
            (hf_machine_def){types[i], .initial = "go", .steps = steps[i], .signals = signals};
    }
    machines[MISTAKES] = (hf_machine_def){"m", .job = waits};
    d = hf_kit_open(kind, &app);
    for (int i = 0; i < MISTAKES; i++) {
        const hf_error *e = NULL;

        hf_kit_begin(d, types[i], types[i], hf_json(d, "{}"));
        ck_assert_int_eq(hf_result(d, types[i], 0, NULL, &e), HF_ERROR);
        ck_assert_str_eq(e->type, mistakes[i].type);
        ck_assert_msg(strstr(e->message, mistakes[i].text) != NULL, "%s: %s", e->type, e->message);
        ck_assert_int_eq(hf_test_count(d, types[i], "StepCompleted"), 1);
    }
    hf_kit_close(d);
}

static const hf_step_def wait_steps[] = {{"go", waits}, {0}};
static const hf_machine_def wait_machines[] = {
    {"m", .initial = "go", .params = "order:int?", .steps = wait_steps, .signals = signals}, {0}};
static const hf_app wait_app = {.name = "bad", .machines = wait_machines, .limits = limits};

static void refused(hf_engine *d, hf_status st, hf_status want, const char *text)
{
    ck_assert_int_eq(st, want);
    ck_assert_msg(strstr(hf_errmsg(d), text) != NULL, "%s", hf_errmsg(d));
}

/* A start with a key that another instance has, before now, with a priority, scope or input that
   there is not, or with limits that nobody declared, is refused where it is made. */
HF_EVERY_WAY(bad_starts)
{
    hf_engine *d = hf_kit_open(kind, &wait_app);
    hf_value in = hf_json(d, "{}");

    hf_kit_ok(d, hf_start(d, "m", in, .id = "i", .correlation_key = "k"));
    refused(d, hf_start(d, "m", in, .id = "j", .correlation_key = "k"), HF_EXISTS,
            "correlation key k is taken by the instance i");
    refused(d, hf_start(d, "m", in, .id = "j", .delay = -1), HF_INVALID, "delay");
    refused(d, hf_start(d, "m", in, .id = "j", .delay = INT64_MAX), HF_INVALID, "delay");
    refused(d, hf_start(d, "m", in, .id = "j", .priority = 100), HF_INVALID, "priority");
    refused(d, hf_start(d, "m", in, .id = "j", .weight = -3), HF_INVALID, "needs a rate limit");
    refused(d,
            hf_start(d, "m", in, .id = "j", .correlation_key = "l", .correlation_scope = "often"),
            HF_INVALID, "not often");
    refused(d, hf_start(d, "m", in, .id = "j", .rate_limit = "male"), HF_INVALID, "male");
    refused(d, hf_start(d, "m", in, .id = "j", .rate_limit = "mail", .weight = 3), HF_INVALID,
            "weight");
    refused(d, hf_start(d, "m", in, .id = "j", .concurrency_key = "pear:1"), HF_INVALID, "pear:1");
    refused(d, hf_start(d, "m", in, .id = "j", .concurrency_key = "mail"), HF_INVALID, "mail");
    refused(d, hf_start(d, "m", hf_json(d, "{'order': 'x'}"), .id = "j"), HF_INVALID, "order");
    ck_assert_str_eq(hf_test_status(d, "j"), "not found");
    ck_assert_int_eq(hf_kit_rows(d, "run"), 1);
    hf_kit_close(d);
}

/* A signal under a name that the machine does not declare is refused, and nothing enters its inbox:
   the machine would never look for it. */
HF_EVERY_WAY(bad_signals)
{
    hf_engine *d = hf_kit_open(kind, &wait_app);

    hf_kit_begin(d, "m", "i", hf_json(d, "{}"));
    ck_assert_str_eq(hf_test_status(d, "i"), "waiting signal:a");
    refused(d, hf_signal(d, "i", "aa", NULL), HF_REJECTED, "unknown_signal");
    refused(d, hf_signal(d, "k", "a", NULL), HF_NOTFOUND, "k");
    ck_assert_int_eq(hf_test_count(d, "i", "SignalReceived"), 0);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM command WHERE type = 2 AND status = 1"),
                     0);
    hf_kit_close(d);
}

/* A machine without its initial step is refused when the engine opens, and says so. */
START_TEST(bad_machine_without_its_initial_step)
{
    static const char *const initial[] = {NULL, "gone"};

    for (int i = 0; i < 2; i++) {
        const hf_machine_def machines[] = {{"m", .initial = initial[i], .steps = wait_steps}, {0}};
        const hf_app app = {.name = "bad", .machines = machines};
        hf_engine *d = hf_test_open(&app);

        ck_assert_int_eq(hf_test_drain(d), HF_INVALID);
        ck_assert_msg(strstr(hf_errmsg(d), "initial step") != NULL, "%s", hf_errmsg(d));
        hf_close(d);
    }
}
END_TEST

HF_PG_SUITE_MAIN("machine/bad_input", HF_WAYS_SLOW(bad_outcomes_end_their_machine, 300),
                 HF_WAYS(bad_starts), HF_WAYS(bad_signals),
                 {bad_machine_without_its_initial_step, 0})
