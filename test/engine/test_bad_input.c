/* What user code can get wrong, each with its answer: the run fails with a type, or waits and says
   for what, or the program is told when it opens the store. What is too big or no JSON is in
   test_limit.c, code that crashes or overflows its stack in test_quarantine.c, code that loops in
   test_runner.c. */
#include <string.h>

#include "lib/handlers.h"
#include "lib/kit.h"

static hf_ctx *seen; /* of the workflow that waits for its activity */
static int refused;

/* Everything that a workflow may call, called from an activity. */
static hf_value meddle(hf_act *a, hf_value in)
{
    hf_value out = in;

    refused = 0;
    refused += hf_activity(seen, "echo", in) == NULL;
    refused += hf_child(seen, "nothing", in) == NULL;
    refused += hf_receive(seen, "go") == NULL;
    refused += hf_messages_receive(seen, "mail", 1) == NULL;
    refused += hf_version(seen, "change", 1, 2) == HF_VERSION_DEFAULT;
    refused += hf_protect(seen, NULL, in, &out, NULL) == HF_MISUSE;
    hf_sleep(seen, 1000);
    hf_memo(seen, hf_json(a, "{'a': 1}"));
    hf_note(seen, "from an activity");
    hf_messages_send(seen, "other", "mail", "ref");
    return hf_json(a, "'meddled'");
}

static hf_value nothing(hf_ctx *w, hf_value in)
{
    (void)w;
    (void)in;
    return NULL;
}

static hf_value meddled(hf_ctx *w, hf_value in)
{
    seen = w;
    return hf_activity(w, "meddle", in);
}

static hf_value unknown(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "nobody's", in);
}

/* Names that are no text. */
static hf_value misnamed(hf_ctx *w, hf_value in)
{
    switch (hf_int(in, "", 0)) {
    case 0:
        return hf_activity(w, "caf\xe9", NULL);
    case 1:
        return hf_activity(w, "", NULL);
    case 2:
        return hf_activity(w, NULL, NULL);
    case 3:
        return hf_child(w, "\xc3", NULL);
    case 4:
        return hf_receive(w, "a\x80z");
    case 5:
        return hf_activity(w, "echo", NULL, .summary = "\xff");
    default:
        hf_fail(w, "\xff", "\xfe");
    }
}

/* Waits for a signal that it does not declare, with and without a timeout, and goes on after it. */
static hf_value undeclared(hf_ctx *w, hf_value in)
{
    if (hf_int(in, "", 0) == 0)
        return hf_receive(w, "stop");
    return hf_receive(w, "stop", .timeout = hf_days(1));
}

/* Catches it, and goes on with another step, also of the kind that it did not get. */
static hf_value survivor(hf_ctx *w, hf_value in)
{
    const hf_error *e = NULL;

    (void)hf_protect(w, undeclared, in, NULL, &e);
    (void)hf_receive(w, "go", .timeout = hf_hours(1));
    return hf_json(w, "%s", e->type);
}

/* A text that no event can hold. */
static const char *endless(void)
{
    static char text[100000];

    memset(text, 'x', sizeof(text) - 1);
    return text;
}

static hf_value fail_badly(hf_act *a, hf_value in)
{
    switch (hf_int(in, "", 0)) {
    case 0:
        return hf_reject(a, "caf\xe9", "the type is no text");
    case 1:
        return hf_reject(a, endless(), "the type is endless");
    case 2:
        return hf_reject(a, "", "no type");
    case 3:
        return hf_reject(a, NULL, "%s", endless());
    case 4:
        return hf_reject(a, "latin", "na\xefve");
    default:
        return hf_reject(a, "wide", "%.*s\xc3\xa9", 1022, endless());
    }
}

static hf_value fails_badly(hf_ctx *w, hf_value in)
{
    static char listed[100 * 8];

    switch (hf_int(in, "", 0)) {
    case 10:
        hf_fail(w, endless(), endless());
    case 11:
        hf_fail(w, NULL, NULL);
    case 12:
        for (int i = 0; i < 100; i++)
            memcpy(listed + 8 * i, "declined,", 8);
        listed[sizeof(listed) - 1] = '\0';
        return hf_activity(w, "echo", in, .no_retry_on = listed);
    case 13:
        return hf_activity(w, "echo", in, .no_retry_on = endless());
    case 14:
        return hf_join_all(w, NULL, 3);
    default:
        return hf_activity(w, "fail_badly", in);
    }
}

static hf_value refuse_badly(hf_ctx *w, void *state, hf_value args)
{
    (void)state;
    (void)args;
    hf_fail(w, "too_much", endless());
}

static const hf_signal_def signals[] = {{.name = "go"}, {0}};
static const hf_update_def updates[] = {{.name = "refuse", .apply = refuse_badly}, {0}};
static const hf_activity_def activities[] = {
    {"echo", .run = hf_echo}, {"meddle", .run = meddle}, {hf_fn(fail_badly)}, {0}};
static const hf_workflow_def workflows[] = {
    {.type = "fails", .run = fails_badly},
    {.type = "waits", .run = hf_wait_go, .signals = signals, .updates = updates},
    {.type = "nothing", .run = nothing},
    {.type = "meddled", .run = meddled, .signals = signals},
    {.type = "unknown", .run = unknown},
    {.type = "misnamed", .run = misnamed},
    {.type = "undeclared", .run = undeclared, .signals = signals},
    {.type = "signalless", .run = undeclared},
    {.type = "survivor", .run = survivor, .signals = signals},
    {0}};
static const hf_app app = {.name = "bad", .activities = activities, .workflows = workflows};

/* A workflow that returns nothing completes with null. */
HF_EVERY_WAY(workflow_returns_nothing)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "nothing", NULL, .id = "a"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "a"), "null");
    hf_kit_close(d);
}

/* Steps that an activity takes in its workflow's name are refused: nothing of them is written. */
HF_EVERY_WAY(step_from_an_activity)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "meddled", NULL, .id = "a"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(refused, 6);
    ck_assert_str_eq(hf_kit_result(d, "a"), "\"meddled\"");
    ck_assert_str_eq(hf_kit_history(d, "a"),
                     "StartAccepted WorkflowStarted ActivityScheduled ActivityStarted "
                     "ActivityCompleted WorkflowCompleted");
    hf_kit_close(d);
}

/* An activity that nobody knows waits for somebody who does, and says so; it runs once it is there.
 */
HF_EVERY_WAY(unknown_activity_waits_for_somebody)
{
    static const hf_activity_def later[] = {{"nobody's", .run = hf_echo}, {0}};
    static const hf_app known = {.name = "bad", .activities = later, .workflows = workflows};
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value why = NULL;

    hf_kit_ok(d, hf_start(d, "unknown", hf_json(d, "7"), .id = "a"));
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(60)));
    ck_assert_str_eq(hf_test_status(d, "a"), "waiting activity:nobody's");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityStarted"), 0);
    hf_kit_ok(d, hf_why(d, "a", hf_mem_of_engine(d), &why));
    ck_assert_str_eq(hf_str(why, "code", ""),
                     hf_kit_home(d) == d ? "queued_no_worker" : "unknown_activity");
    d = hf_kit_reopen(d, &known);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "a"), "7");
    hf_kit_close(d);
}

/* Names that are empty, missing or no UTF-8 fail the run with a type; nothing is scheduled. */
HF_EVERY_WAY(broken_names_are_typed_failures)
{
    static const char *const types[] = {"invalid_name",   "invalid_name", "invalid_name",
                                        "invalid_name",   "invalid_name", "invalid_options",
                                        "invalid_failure"};
    hf_engine *d = hf_kit_open(kind, &app);

    for (int i = 0; i < (int)(sizeof(types) / sizeof(types[0])); i++) {
        char id[] = {'m', (char)('0' + i), '\0'};

        hf_kit_ok(d, hf_start(d, "misnamed", hf_json(d, "%d", i), .id = id));
        hf_kit_ok(d, hf_test_drain(d));
        ck_assert_str_eq(hf_test_status(d, id), "failed");
        ck_assert_str_eq(hf_kit_said(d, id, "WorkflowFailed", 0, HF_KEY_EXCEPTION_TYPE), types[i]);
        ck_assert_int_eq(hf_test_count(d, id, "ActivityScheduled"), 0);
    }
    ck_assert_int_eq(hf_start(d, "\xff", NULL, .id = "x"), HF_INVALID);
    ck_assert_int_eq(hf_start(d, "nothing", NULL, .id = "\xff"), HF_INVALID);
    hf_kit_close(d);
}

/* No signal can come that is not declared, so waiting for one is a mistake that fails the run by
   name, with or without a timeout; nothing waits for ever. */
HF_EVERY_WAY(an_undeclared_signal_is_not_waited_for)
{
    static const char *const types[] = {"undeclared", "signalless"};
    hf_engine *d = hf_kit_open(kind, &app);
    char id[] = "u00";

    for (int type = 0; type < 2; type++)
        for (int timeout = 0; timeout < 2; timeout++) {
            id[1] = (char)('0' + type);
            id[2] = (char)('0' + timeout);
            hf_kit_begin(d, types[type], id, hf_json(d, "%d", timeout));
            ck_assert_str_eq(hf_test_status(d, id), "failed");
            ck_assert_str_eq(hf_kit_said(d, id, "WorkflowFailed", 0, HF_KEY_EXCEPTION_TYPE),
                             "undeclared_signal");
            ck_assert_str_eq(hf_kit_said(d, id, "WorkflowFailed", 0, HF_KEY_FAILURE_CATEGORY),
                             "task_failure");
            ck_assert_int_eq(hf_test_count(d, id, "SignalWaitOpened"), 0);
        }
    hf_kit_begin(d, "survivor", "s", NULL);
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_advance(d, hf_hours(1)));
    ck_assert_str_eq(hf_kit_result(d, "s"), "\"undeclared_signal\"");
    hf_kit_close(d);
}

/* A run that waits for a signal which its program no longer declares goes on waiting, as history
   says: another build has it, and the run's own contract still takes the signal. */
HF_EVERY_WAY(a_recorded_wait_outlives_its_declaration)
{
    static const hf_workflow_def without[] = {{.type = "waits", .run = hf_wait_go}, {0}};
    static const hf_app later = {.name = "bad", .workflows = without};
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "waits", "w", NULL);
    d = hf_kit_reopen(d, &later);
    hf_kit_ok(d, hf_test_advance(d, 0));
    ck_assert_str_eq(hf_test_status(d, "w"), "waiting signal:go");
    hf_kit_ok(d, hf_signal(d, "w", "go", hf_json(d, "7")));
    hf_kit_ok(d, hf_test_advance(d, 0));
    ck_assert_str_eq(hf_kit_result(d, "w"), "7");
    hf_kit_close(d);
}

/* Failures of any length and in any bytes are recorded as far as they are text and fit; the run
   fails with them and the engine goes on. */
HF_EVERY_WAY(failures_are_made_fit)
{
    static const struct {
        int number;
        const char *type;
        const char *event;
        size_t message; /* bytes of it that are recorded; 0: any */
    } cases[] = {{0, "invalid_failure", "ActivityFailed", 0},
                 {1, NULL, "ActivityFailed", 0},
                 {2, "error", "ActivityFailed", 7},
                 {3, "error", "ActivityFailed", 1023},
                 {4, "latin", "ActivityFailed", 2},
                 {5, "wide", "ActivityFailed", 1022},
                 {10, NULL, "WorkflowFailed", 8192},
                 {11, "error", "WorkflowFailed", 0},
                 {12, "invalid_options", "WorkflowFailed", 0},
                 {13, "invalid_options", "WorkflowFailed", 0},
                 {14, "invalid_future", "WorkflowFailed", 0}};
    hf_engine *d = hf_kit_open(kind, &app);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char id[] = {'f', (char)('a' + i), '\0'};
        const char *said;

        hf_kit_begin(d, "fails", id, hf_json(d, "%d", cases[i].number));
        ck_assert_str_eq(hf_test_status(d, id), "failed");
        said = hf_kit_said(d, id, cases[i].event, 0, HF_KEY_EXCEPTION_TYPE);
        if (cases[i].type)
            ck_assert_str_eq(said, cases[i].type);
        else
            ck_assert_uint_eq(strlen(said), 191);
        said = hf_kit_said(d, id, cases[i].event, 0, HF_KEY_MESSAGE);
        if (cases[i].message)
            ck_assert_uint_eq(strlen(said), cases[i].message);
    }
    hf_kit_begin(d, "nothing", "n", NULL);
    ck_assert_str_eq(hf_test_status(d, "n"), "completed");
    hf_kit_close(d);
}

/* The same of an update, which fails alone. */
HF_EVERY_WAY(failures_of_updates_are_made_fit)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "waits", "w", NULL);
    ck_assert_int_eq(hf_update(d, "w", "refuse", NULL, hf_seconds(1), NULL), HF_ERROR);
    ck_assert_uint_eq(strlen(hf_kit_said(d, "w", "UpdateCompleted", 0, HF_KEY_MESSAGE)), 8192);
    hf_kit_ok(d, hf_signal(d, "w", "go", NULL));
    hf_kit_settle(d);
    ck_assert_str_eq(hf_test_status(d, "w"), "completed");
    hf_kit_close(d);
}

/* Two definitions of one type, or of one activity, are refused when the store is opened. */
HF_EVERY_WAY(two_definitions_of_a_type)
{
    static const hf_workflow_def twice[] = {
        {.type = "nothing", .run = nothing}, {.type = "nothing", .run = meddled}, {0}};
    static const hf_activity_def doubled[] = {
        {"echo", .run = hf_echo}, {"echo", .run = meddle}, {0}};
    static const hf_app apps[] = {{.name = "bad", .workflows = twice},
                                  {.name = "bad", .activities = doubled}};
    static const char *const texts[] = {
        "the type nothing is claimed by workflow nothing and by workflow nothing",
        "the activity echo is defined twice"};
    hf_test_place *place = hf_test_place_new(kind);

    for (int i = 0; i < 2; i++) {
        hf_engine *d = NULL;

        ck_assert_int_eq(hf_open(hf_test_place_address(place), &apps[i], &d), HF_INVALID);
        ck_assert_str_eq(hf_errmsg(d), texts[i]);
        hf_close(d);
    }
    hf_test_place_free(place);
}

HF_PG_SUITE_MAIN("engine/bad_input", HF_WAYS(workflow_returns_nothing),
                 HF_WAYS(step_from_an_activity), HF_WAYS(unknown_activity_waits_for_somebody),
                 HF_WAYS(broken_names_are_typed_failures),
                 HF_WAYS(an_undeclared_signal_is_not_waited_for),
                 HF_WAYS(a_recorded_wait_outlives_its_declaration), HF_WAYS(failures_are_made_fit),
                 HF_WAYS(failures_of_updates_are_made_fit), HF_WAYS(two_definitions_of_a_type))
