/* What a typing mistake in a machine can be, one case each: it has a type of its own, the machine
   ends with it when it has no on_error, and nothing parks for ever. */
#include <stdlib.h>
#include <string.h>

#include "holdfast/holdfast.h"
#include "lib/suite.h"

enum { HALF_BYTES = 3 << 19 };

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

static hf_outcome no_state(hf_step *s)
{
    return hf_next(s, "go", NULL);
}

static hf_outcome no_result(hf_step *s)
{
    return hf_done(s, NULL);
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

/* Runs a machine whose one step makes the mistake. */
static void ends_with(hf_step_fn *step, const char *type)
{
    const hf_step_def steps[] = {{"go", step}, {0}};
    const hf_machine_def machines[] = {{"m", .initial = "go", .steps = steps, .signals = signals},
                                       {0}};
    const hf_app app = {.name = "bad", .machines = machines};
    hf_engine *d = hf_test_open(&app);
    const hf_error *e = NULL;

    ck_assert_int_eq(hf_start(d, "m", hf_json(d, "{}"), .id = "i"), HF_OK);
    ck_assert_int_eq(hf_test_drain(d), HF_OK);
    ck_assert_str_eq(hf_test_status(d, "i"), "failed");
    ck_assert_int_eq(hf_result(d, "i", 0, NULL, &e), HF_ERROR);
    ck_assert_str_eq(e->type, type);
    hf_close(d);
}

#define ENDS(name, step, type)                                                                     \
    START_TEST(name)                                                                               \
    {                                                                                              \
        ends_with(step, type);                                                                     \
    }                                                                                              \
    END_TEST

/* A park on an empty set, for no time at all, or on a name that nobody can send. */
ENDS(bad_empty_name_set, empty_names, "no_names")
ENDS(bad_timeout_of_zero, zero_timeout, "bad_timeout")
ENDS(bad_negative_timeout, negative_timeout, "bad_timeout")
ENDS(bad_undeclared_name, undeclared_name, "unknown_signal")
/* A repetition before now. */
ENDS(bad_negative_delay, negative_delay, "bad_delay")
/* Steps that the machine does not have. */
ENDS(bad_unknown_step, unknown_step, "unknown_step")
ENDS(bad_unknown_step_behind_a_park, unknown_park_step, "unknown_step")
/* State and result that are no values or too big for one. */
ENDS(bad_unencodable_state, no_state, "unencodable")
ENDS(bad_unencodable_result, no_result, "unencodable")
ENDS(bad_state_over_the_limit, big_state, "too_big")
ENDS(bad_result_over_the_limit, big_result, "too_big")
/* Limits that nobody declared. */
ENDS(bad_unknown_rate_name, unknown_rate, "unknown_limit")
ENDS(bad_unknown_concurrency_name, unknown_concurrency, "unknown_limit")
/* Something that is no outcome. */
ENDS(bad_outcome_kind, no_outcome, "bad_outcome")

/* A start with a key that another instance has, before now, with a priority or scope that there is
   not, or with limits that nobody declared, is refused where it is made. */
START_TEST(bad_starts)
{
    static const hf_step_def steps[] = {{"go", waits}, {0}};
    const hf_machine_def machines[] = {{"m", .initial = "go", .steps = steps, .signals = signals},
                                       {0}};
    const hf_app app = {.name = "bad", .machines = machines};
    hf_engine *d = hf_test_open(&app);
    hf_value in = hf_json(d, "{}");

    ck_assert_int_eq(hf_start(d, "m", in, .id = "i", .correlation_key = "k"), HF_OK);
    ck_assert_int_eq(hf_start(d, "m", in, .id = "j", .correlation_key = "k"), HF_EXISTS);
    ck_assert_int_eq(hf_start(d, "m", in, .id = "j", .delay = -1), HF_INVALID);
    ck_assert_int_eq(hf_start(d, "m", in, .id = "j", .priority = 100), HF_INVALID);
    ck_assert_int_eq(
        hf_start(d, "m", in, .id = "j", .correlation_key = "l", .correlation_scope = "often"),
        HF_INVALID);
    ck_assert_int_eq(hf_start(d, "m", in, .id = "j", .rate_limit = "male"), HF_INVALID);
    ck_assert_int_eq(hf_start(d, "m", in, .id = "j", .concurrency_key = "pear:1"), HF_INVALID);
    ck_assert_str_eq(hf_test_status(d, "j"), "not found");
    hf_close(d);
}
END_TEST

/* A machine without its initial step is refused when the engine opens, and says so. */
START_TEST(bad_machine_without_its_initial_step)
{
    static const hf_step_def steps[] = {{"go", waits}, {0}};
    static const char *const initial[] = {NULL, "gone"};

    for (int i = 0; i < 2; i++) {
        const hf_machine_def machines[] = {{"m", .initial = initial[i], .steps = steps}, {0}};
        const hf_app app = {.name = "bad", .machines = machines};
        hf_engine *d = hf_test_open(&app);

        ck_assert_int_eq(hf_test_drain(d), HF_INVALID);
        ck_assert_msg(strstr(hf_errmsg(d), "initial step") != NULL, "%s", hf_errmsg(d));
        hf_close(d);
    }
}
END_TEST

HF_SUITE_MAIN("machine/bad_input", {bad_empty_name_set, 0}, {bad_timeout_of_zero, 0},
              {bad_negative_timeout, 0}, {bad_undeclared_name, 0}, {bad_negative_delay, 0},
              {bad_unknown_step, 0}, {bad_unknown_step_behind_a_park, 0},
              {bad_unencodable_state, 0}, {bad_unencodable_result, 0},
              {bad_state_over_the_limit, 0}, {bad_result_over_the_limit, 0},
              {bad_unknown_rate_name, 0}, {bad_unknown_concurrency_name, 0}, {bad_outcome_kind, 0},
              {bad_starts, 0}, {bad_machine_without_its_initial_step, 0})
