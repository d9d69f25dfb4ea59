/* What callers get wrong, one case each: the answer has a type and says what is wrong, and nothing
   was changed. */
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "engine/engine_impl.h"
#include "holdfast/host.h"
#include "holdfast/view.h"
#include "lib/handlers.h"
#include "lib/kit.h"

enum { ID_MAX = 191 };

static hf_value two(hf_ctx *w, hf_value in)
{
    (void)hf_receive(w, "go");
    return hf_json(w, "[%p, %p]", (const void *)in, (const void *)hf_receive(w, "go"));
}

static bool never(const void *state)
{
    (void)state;
    return false;
}

/* A duration that long, for each thing that has one. */
static hf_value lasting(hf_ctx *w, hf_value in)
{
    const char *what = hf_str(in, "what", "");
    hf_ms ms = hf_int(in, "ms", 0);

    if (strcmp(what, "timer") == 0)
        hf_sleep(w, ms);
    else if (strcmp(what, "signal") == 0)
        (void)hf_receive(w, "go", .timeout = ms);
    else if (strcmp(what, "condition") == 0)
        (void)hf_wait(w, NULL, never, .timeout = ms);
    return hf_json(w, "'over'");
}

static hf_value nothing(hf_ctx *w, void *state, hf_value args)
{
    (void)w;
    (void)state;
    return args;
}

/* One signal and update for each type of parameter. */
static const char *const types[] = {"string", "int",       "number", "bool",    "array",
                                    "object", "enum(a|b)", "time",   "duration"};
enum { TYPES = sizeof(types) / sizeof(types[0]) };
static char type_params[TYPES][32];
static hf_signal_def signals[TYPES + 2];
static hf_update_def updates[TYPES + 1];
static hf_workflow_def workflows[4];
static const hf_app app = {.name = "bad", .workflows = workflows};

static hf_engine *open_app(hf_engine_kind kind)
{
    static char names[TYPES][16];

    for (size_t i = 0; i < TYPES; i++) {
        (void)snprintf(type_params[i], sizeof(type_params[i]), "value:%s", types[i]);
        (void)snprintf(names[i], sizeof(names[i]), "take%zu", i);
        signals[i] = (hf_signal_def){.name = names[i], .params = type_params[i]};
        updates[i] = (hf_update_def){.name = names[i], .params = type_params[i], .apply = nothing};
    }
    signals[TYPES] = (hf_signal_def){.name = "go"};
    workflows[0] = (hf_workflow_def){
        .type = "waits", .run = hf_wait_go, .signals = signals, .updates = updates};
    workflows[1] = (hf_workflow_def){.type = "two", .run = two, .signals = signals};
    workflows[2] = (hf_workflow_def){.type = "lasting", .run = lasting, .signals = signals};
    return hf_kit_open(kind, &app);
}

/* Everything that a refused request could have left behind. */
static int64_t rows(hf_engine *d)
{
    return hf_kit_number(d, "SELECT (SELECT count(*) FROM instance) + (SELECT count(*) FROM run) + "
                            "(SELECT count(*) FROM history) + (SELECT count(*) FROM task) + "
                            "(SELECT count(*) FROM timer) + (SELECT count(*) FROM schedule) + "
                            "(SELECT count(*) FROM batch)");
}

/* ---- ids */

static bool got_nothing(void *arg, hf_value task)
{
    (void)arg;
    (void)task;
    return false;
}

/* No characters, one too many, and as many as are allowed. */
HF_BOTH_ENGINES(ids_of_0_191_and_192_characters)
{
    hf_engine *d = open_app(kind);
    char id[ID_MAX + 2];

    memset(id, 'x', sizeof(id));
    id[ID_MAX + 1] = '\0';
    ck_assert_int_eq(hf_start(d, "waits", NULL, .id = id), HF_INVALID);
    ck_assert_int_eq(hf_start(d, "waits", NULL, .id = ""), HF_INVALID);
    ck_assert_int_eq(hf_reserve(d, "waits", id, NULL), HF_INVALID);
    ck_assert_int_eq(rows(d), 0);
    id[ID_MAX] = '\0';
    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = id));
    hf_kit_ok(d, hf_signal(d, id, "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, id), "completed");
    hf_kit_close(d);
}

/* Each byte that is not a letter, a digit or one of . _ : - at the start, within and at the end. */
HF_BOTH_ENGINES(ids_with_each_forbidden_character)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789._:-";
    hf_engine *d = open_app(kind);

    for (int byte = 1; byte < 256; byte++) {
        const char texts[][4] = {
            {(char)byte, 'a', 'b'}, {'a', (char)byte, 'b'}, {'a', 'b', (char)byte}};
        bool good = strchr(allowed, byte) != NULL;

        if (good)
            continue;
        for (size_t i = 0; i < 3; i++)
            ck_assert_msg(hf_start(d, "waits", NULL, .id = texts[i]) == HF_INVALID, "byte %d: %s",
                          byte, hf_errmsg(d));
    }
    ck_assert_int_eq(rows(d), 0);
    hf_kit_close(d);
}

/* Every text that a caller of the C API can call something by, with a control character in it. */
HF_BOTH_ENGINES(n07_no_name_has_control_characters)
{
    hf_engine *d = open_app(kind);
    hf_mem *mem = hf_mem_of_engine(d);
    hf_value out = NULL;
    const hf_namespace_opts space = {.size_ = sizeof(space)};
    hf_token token;
    hf_poll *poll = NULL;

    hf_kit_ok(d, hf_workers_allow(d));
#define TOKEN(...)                                                                                 \
    hf_token_create_with(                                                                          \
        d, &(hf_token_opts){.size_ = sizeof(hf_token_opts), .role = "read", __VA_ARGS__}, &token)
#define BAD(call) ck_assert_msg((call) == HF_INVALID, #call ": %s", hf_errmsg(d))
    BAD(hf_start(d, "wai\tts", NULL));
    BAD(hf_start(d, "waits", NULL, .id = "a\nb"));
    BAD(hf_start(d, "waits", NULL, .id = ".."));
    BAD(hf_start(d, "waits", NULL, .queue = "q\x7F"));
    BAD(hf_start(d, "waits", NULL, .business_key = "b\x01k"));
    BAD(hf_start(d, "waits", NULL, .request_id = "r\x1Fq"));
    BAD(hf_start(d, "waits", NULL, .labels = "{\"a\\u0000b\":\"x\"}"));
    BAD(hf_start(d, "waits", NULL, .labels = "{\"a\":\"x\\u0000y\"}"));
    BAD(hf_start(d, "waits", NULL, .memo = "{\"a\\u0000b\":1}"));
    BAD(hf_start(d, "waits", NULL, .memo = "{\"a\":[{\"b\\n\":1}]}"));
    BAD(hf_start(d, "waits", NULL, .search_attributes = "{\"a\\u0000b\":\"x\"}"));
    BAD(hf_start(d, "waits", NULL, .search_attributes = "{\"a\":\"x\\u0000y\"}"));
    BAD(hf_start(d, "waits", NULL, .search_attributes = "{\"a\":\"x\\u0085y\"}"));
    BAD(hf_start(d, "waits", NULL, .search_attributes = "{\"a\":[\"x\",\"\\u0007\"]}"));
    BAD(hf_start(d, "waits", NULL, .concurrency_key = "c\x02"));
    BAD(hf_schedule_create(d, "n\x01", "waits", NULL, .cron = "0 9 * * *"));
    BAD(hf_schedule_create(d, "..", "waits", NULL, .cron = "0 9 * * *"));
    BAD(hf_schedule_create(d, "nightly", "wa\x01its", NULL, .cron = "0 9 * * *"));
    BAD(hf_namespace_create(d, ".", &space));
    BAD(hf_namespace_create(d, "..", &space));
    BAD(hf_namespace_create(d, "a\nb", &space));
    BAD(hf_attribute_create(d, "a\x01", "keyword"));
    BAD(TOKEN(.label = "a\x1B[2Jb"));
    BAD(TOKEN(.namespaces = "a,b\n"));
    BAD(TOKEN(.namespaces = ".."));
    BAD(hf_builds_drain(d, "default", "b\x01", true));
    BAD(hf_builds_drain(d, "q\n", "b", true));
    BAD(hf_builds_promote(d, "default", "b\x01"));
    BAD(hf_workers_beat(d, "w\x01", "default", NULL));
    BAD(hf_workers_beat(d, "..", "default", NULL));
    BAD(hf_workers_beat(d, "w", "default", "b\n"));
    BAD(hf_poll_begin(
        d,
        &(hf_poll_opts){
            .size_ = sizeof(hf_poll_opts), .worker = "w\n", .queue = "default", .got = got_nothing},
        &poll));
    BAD(hf_poll_begin(
        d,
        &(hf_poll_opts){
            .size_ = sizeof(hf_poll_opts), .worker = "w", .queue = "q\n", .got = got_nothing},
        &poll));
    BAD(hf_poll_begin(d,
                      &(hf_poll_opts){.size_ = sizeof(hf_poll_opts),
                                      .worker = "w",
                                      .queue = "q",
                                      .build = "b\n",
                                      .got = got_nothing},
                      &poll));
    BAD(hf_view_save(
        d, hf_json(d, "{'name': 'a\\nb', 'bucket': 'running', 'owner': 'me', 'filters': {}}"), mem,
        &out));
    BAD(hf_view_save(
        d, hf_json(d, "{'name': 'a', 'bucket': 'running', 'owner': 'm\\u0000e', 'filters': {}}"),
        mem, &out));
#undef BAD
#undef TOKEN
    ck_assert_int_eq(rows(d), 0);
    ck_assert_int_eq(hf_kit_rows(d, "saved_view") + hf_kit_rows(d, "token"), 0);
    hf_kit_ok(d, hf_start(d, "waits", hf_json(d, "'a\\u0000b'"), .id = "a")); /* a payload may */
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_close(d);
}

/* ---- contracts */

/* A program whose contracts do not parse does not begin, and its store stays empty. */
HF_BOTH_ENGINES(contracts_that_do_not_parse)
{
    static const char *const bad[] = {"who",         "who:",         "who:strin",  ":string",
                                      "who:string,", "a:int, a:int", "a:enum()",   "a:enum(x",
                                      "a:int=x",     "a:bool=maybe", "a:int?=?",   "a b:int",
                                      "a:int b:int", "a:enum(x|x)",  "a:string=?", "a::int"};
    hf_test_place *place = hf_test_place_new(kind);
    int refused = 0;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const hf_signal_def one[] = {{.name = "go", .params = bad[i]}, {0}};
        const hf_workflow_def def[] = {{.type = "w", .run = hf_wait_go, .signals = one}, {0}};
        const hf_app program = {.name = "bad", .workflows = def};
        hf_engine *d = NULL;
        hf_status st = hf_open(hf_test_place_address(place), &program, &d);

        if (st == HF_OK)
            (void)fprintf(stderr, "%s was taken\n", bad[i]);
        refused += st == HF_INVALID;
        hf_close(d);
    }
    ck_assert_int_eq(refused, (int)(sizeof(bad) / sizeof(bad[0])));
    hf_test_place_free(place);
}

/* ---- arguments */

/* One value of each kind; which of them each type takes. */
static const struct {
    const char *json;
    const char *fits; /* the types that take it */
} values[] = {
    {"\"text\"", "string"},
    {"7", "int number"},
    {"7.5", "number"},
    {"true", "bool"},
    {"[1]", "array"},
    {"{\"k\": 1}", "object"},
    {"\"a\"", "string enum(a|b)"},
    {"\"c\"", "string"},
    {"null", ""},
};

/* Every value for every type of parameter, as signal and as update: refused with the name of the
   parameter, or taken. */
HF_BOTH_ENGINES(arguments_of_every_wrong_type)
{
    hf_engine *d = open_app(kind);
    hf_mem *mem = hf_mem_of_engine(d);
    int64_t before;

    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "w"));
    hf_kit_ok(d, hf_test_drain(d));
    before = rows(d);
    for (size_t t = 0; t < TYPES; t++) {
        for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
            hf_command_result out = {0};
            hf_value value = hf_parse_(mem, values[v].json, strlen(values[v].json));

            if (strstr(values[v].fits, types[t]) ||
                (strcmp(types[t], "time") == 0 || strcmp(types[t], "duration") == 0
                     ? hf_value_kind_of(value) == HF_VALUE_STRING ||
                           hf_value_kind_of(value) == HF_VALUE_INT
                     : false))
                continue;
            for (int update = 0; update < 2; update++) {
                hf_kit_ok(d, hf_command(d, update ? "update" : "signal",
                                        hf_json(d,
                                                "{'workflow_id': 'w', 'name': %s, "
                                                "'arguments': {'value': %p}}",
                                                signals[t].name, (const void *)value),
                                        mem, &out));
                ck_assert_msg(!out.accepted &&
                                  strcmp(out.outcome, "rejected_invalid_arguments") == 0,
                              "%s takes %s", types[t], values[v].json);
                ck_assert_uint_gt(hf_len(hf_get(out.detail, "validation_errors.value")), 0);
            }
        }
    }
    ck_assert_str_eq(hf_test_status(d, "w"), "waiting signal:go");
    ck_assert_int_eq(hf_test_count(d, "w", "SignalReceived"), 0);
    ck_assert_int_eq(hf_test_count(d, "w", "UpdateAccepted"), 0);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), 0);
    ck_assert_int_ge(rows(d), before); /* a refused update is on the record of its run */
    hf_kit_close(d);
}

/* Missing, unknown and too many. */
HF_BOTH_ENGINES(arguments_missing_unknown_and_too_many)
{
    static const char *const bad[] = {"{}", "{\"value\": \"x\", \"more\": 1}", "[]",
                                      "[\"x\", \"y\"]"};
    hf_engine *d = open_app(kind);
    hf_mem *mem = hf_mem_of_engine(d);

    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "w"));
    hf_kit_ok(d, hf_test_drain(d));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        hf_command_result out = {0};
        hf_value args = hf_parse_(mem, bad[i], strlen(bad[i]));

        hf_kit_ok(d, hf_command(d, "signal",
                                hf_json(d,
                                        "{'workflow_id': 'w', 'name': 'take0', "
                                        "'arguments': %p}",
                                        (const void *)args),
                                mem, &out));
        ck_assert_msg(!out.accepted, "%s", bad[i]);
        ck_assert_str_eq(out.reason, "invalid_signal_arguments");
    }
    ck_assert_int_eq(hf_test_count(d, "w", "SignalReceived"), 0);
    hf_kit_close(d);
}

/* ---- times */

/* Timeouts of nothing and less, in milliseconds of the C API and in seconds of the wire. */
HF_BOTH_ENGINES(timeouts_of_0_and_below)
{
    static const char *const bad[] = {"0", "-1", "0.5", "\"1\"", "1e30", "true"};
    hf_engine *d = open_app(kind);
    hf_mem *mem = hf_mem_of_engine(d);
    hf_command_result out;

    ck_assert_int_eq(hf_start(d, "waits", NULL, .id = "w", .run_timeout = -1), HF_INVALID);
    ck_assert_int_eq(hf_start(d, "waits", NULL, .id = "w", .run_timeout = 999), HF_INVALID);
    ck_assert_int_eq(hf_start(d, "waits", NULL, .id = "w", .execution_timeout = -1), HF_INVALID);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        hf_value value = hf_parse_(mem, bad[i], strlen(bad[i]));

        ck_assert_msg(hf_command(d, "start",
                                 hf_json(d,
                                         "{'workflow_type': 'waits', 'workflow_id': 'w', "
                                         "'run_timeout_seconds': %p}",
                                         (const void *)value),
                                 mem, &out) == HF_INVALID,
                      "%s", bad[i]);
        ck_assert_msg(hf_command(d, "start",
                                 hf_json(d,
                                         "{'workflow_type': 'waits', 'workflow_id': 'w', "
                                         "'execution_timeout_seconds': %p}",
                                         (const void *)value),
                                 mem, &out) == HF_INVALID,
                      "%s", bad[i]);
    }
    ck_assert_int_eq(rows(d), 0);
    hf_kit_close(d);
}

/* A hundred years are allowed, and not a millisecond more: a command is refused, code that asks for
   it fails with a type, and nobody else is disturbed. */
HF_BOTH_ENGINES(durations_beyond_a_hundred_years)
{
    static const hf_ms beyond[] = {hf_years(100) + 1, INT64_MAX / 1000, INT64_MAX / 1000 + 1,
                                   INT64_MAX};
    static const char *const whats[] = {"timer", "signal", "condition"};
    hf_engine *d = open_app(kind);
    hf_mem *mem = hf_mem_of_engine(d);
    hf_command_result out;
    hf_value answer = NULL;
    char id[32];

    for (size_t i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++) {
        hf_ms ms = beyond[i];

        ck_assert_int_eq(hf_start(d, "waits", NULL, .id = "w", .run_timeout = ms), HF_INVALID);
        ck_assert_int_eq(hf_start(d, "waits", NULL, .id = "w", .execution_timeout = ms),
                         HF_INVALID);
        ck_assert_int_eq(hf_start(d, "waits", NULL, .id = "w", .delay = ms), HF_INVALID);
        ck_assert_int_eq(
            hf_schedule_create(d, "s", "waits", NULL, .cron = "* * * * *", .run_timeout = ms),
            HF_INVALID);
        ck_assert_int_eq(hf_schedule_backfill(d, "s", 0, ms, NULL, &answer), HF_INVALID);
        ck_assert_int_eq(hf_command(d, "start",
                                    hf_json(d,
                                            "{'workflow_type': 'waits', 'workflow_id': 'w', "
                                            "'delay_seconds': %lld}",
                                            (long long)ms),
                                    mem, &out),
                         HF_INVALID);
        ck_assert_int_eq(rows(d), 0);
    }
    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "w", .run_timeout = hf_years(100)));
    for (size_t i = 0; i < sizeof(whats) / sizeof(whats[0]); i++) {
        for (size_t j = 0; j < sizeof(beyond) / sizeof(beyond[0]); j++) {
            (void)snprintf(id, sizeof(id), "%s-%zu", whats[i], j);
            hf_kit_begin(d, "lasting", id,
                         hf_json(d, "{'what': %s, 'ms': %lld}", whats[i], (long long)beyond[j]));
            ck_assert_str_eq(hf_test_status(d, id), "failed");
            ck_assert_str_eq(hf_kit_said(d, id, "WorkflowFailed", 0, HF_KEY_EXCEPTION_TYPE),
                             "invalid_options");
        }
        hf_kit_begin(d, "lasting", whats[i],
                     hf_json(d, "{'what': %s, 'ms': %lld}", whats[i], (long long)hf_years(100)));
        ck_assert_str_ne(hf_test_status(d, whats[i]), "failed");
    }
    hf_kit_ok(d, hf_signal(d, "w", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_result(d, "w", INT64_MAX, &answer, NULL)); /* for ever is no mistake */
    hf_kit_close(d);
}

/* A time that cannot be written, because the clock is near the end of what can, fails the run that
   needs it and leaves the engine to the others. */
HF_BOTH_ENGINES(times_that_cannot_be_written)
{
    hf_engine *d = open_app(kind);

    hf_kit_begin(d, "waits", "w", NULL);
    hf_clock_set_wall(d->virtual_clock, INT64_C(253370764800000000)); /* 9999-01-01 */
    d = hf_kit_reopen(d, NULL); /* until then time passes as it did */
    hf_kit_begin(d, "lasting", "t",
                 hf_json(d, "{'what': 'timer', 'ms': %lld}", (long long)hf_years(10)));
    ck_assert_str_eq(hf_test_status(d, "t"), "failed");
    ck_assert_str_eq(hf_kit_said(d, "t", "WorkflowFailed", 0, HF_KEY_EXCEPTION_TYPE),
                     "unit_refused");
    ck_assert_int_eq(hf_test_count(d, "t", "TimerScheduled"), 0);
    hf_kit_ok(d, hf_signal(d, "w", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "w"), "completed");
    hf_kit_close(d);
}

/* Every field of a cron line just out of its range, and lines that are none. */
HF_BOTH_ENGINES(cron_lines_out_of_range)
{
    static const char *const bad[] = {"60 * * * *",
                                      "-1 * * * *",
                                      "* 24 * * *",
                                      "* * 0 * *",
                                      "* * 32 * *",
                                      "* * * 0 *",
                                      "* * * 13 *",
                                      "* * * * 8",
                                      "60 * * * * *",
                                      "* * * *",
                                      "",
                                      "a * * * *",
                                      "*/0 * * * *",
                                      "5-1 * * * *",
                                      "1, * * * *",
                                      "1--2 * * * *",
                                      "* * * foo *",
                                      "* * * * mondag",
                                      "*/x * * * *",
                                      "1 2 3 4 5 6 7",
                                      "* * 31 2 *",
                                      "99999999999 * * * *"};
    hf_engine *d = open_app(kind);

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(hf_schedule_create(d, "s", "waits", NULL, .cron = bad[i]) == HF_INVALID,
                      "%s was taken", bad[i]);
    ck_assert_int_eq(rows(d), 0);
    hf_kit_close(d);
}

/* What a schedule would start with is a value, and not too big for a start. */
HF_BOTH_ENGINES(schedules_with_bad_input)
{
    static char text[3000];
    hf_engine *d = open_app(kind);

    memset(text, 'x', sizeof(text) - 1);
    hf_kit_ok(d, hf_set(d, "payload_size_bytes", "2000"));
    ck_assert_int_eq(
        hf_schedule_create(d, "s", "waits", hf_json(d, "{'a': }"), .cron = "* * * * *"),
        HF_INVALID);
    ck_assert_int_eq(
        hf_schedule_create(d, "s", "waits", hf_json(d, "%s", text), .cron = "* * * * *"),
        HF_INVALID);
    ck_assert_int_eq(rows(d), 0);
    hf_kit_ok(d, hf_schedule_create(d, "s", "waits", hf_json(d, "1"), .cron = "* * * * *"));
    ck_assert_int_eq(hf_schedule_update(d, "s", .in = hf_json(d, "%s", text)), HF_INVALID);
    ck_assert_int_eq(hf_schedule_update(d, "s", .in = hf_json(d, "\xff")), HF_INVALID);
    hf_kit_close(d);
}

/* Time zones that are not there, or are paths. */
HF_BOTH_ENGINES(unknown_time_zones)
{
    static const char *const bad[] = {
        "Mars/Olympus", "Europe", "../etc/passwd", "/etc/localtime", "Europe/berlin/",
        "UTC+25",       " "};
    hf_engine *d = open_app(kind);

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(hf_schedule_create(d, "s", "waits", NULL, .cron = "0 9 * * *",
                                         .timezone = bad[i]) == HF_INVALID,
                      "%s was taken", bad[i]);
    ck_assert_int_eq(rows(d), 0);
    hf_kit_close(d);
}

/* ---- forks and batches */

/* Below the first step, behind the last one, and far away. */
HF_BOTH_ENGINES(fork_at_a_step_that_does_not_exist)
{
    static const int64_t steps[] = {-1, 3, 1000000, INT64_MAX};
    hf_engine *d = open_app(kind);
    int64_t before;

    hf_kit_ok(d, hf_start(d, "two", NULL, .id = "w"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_signal(d, "w", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    before = rows(d);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        const hf_copy_opts opts = {.size_ = sizeof(opts), .step = steps[i], .id = "f"};

        ck_assert_int_eq(hf_fork_with(d, "w", &opts, NULL), HF_REJECTED);
        ck_assert_int_eq(hf_reset_with(d, "w", &opts), HF_REJECTED);
    }
    ck_assert_int_eq(rows(d), before);
    ck_assert_str_eq(hf_test_status(d, "w"), "waiting signal:go");
    hf_kit_close(d);
}

/* What people say is text and bounded; else nothing is changed. */
HF_BOTH_ENGINES(reasons_that_are_too_long_or_no_text)
{
    hf_engine *d = open_app(kind);
    char *text = hf_mem_alloc(hf_mem_of_engine(d), 8194);

    memset(text, 'x', 8193);
    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "a"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_schedule_create(d, "s", "waits", NULL, .cron = "@daily"));
    ck_assert_int_eq(hf_cancel(d, "a", text), HF_TOOBIG);
    ck_assert_int_eq(
        hf_reset_with(d, "a", &(hf_copy_opts){.size_ = sizeof(hf_copy_opts), .reason = text}),
        HF_TOOBIG);
    ck_assert_int_eq(hf_terminate(d, "a", "\xff"), HF_INVALID);
    ck_assert_int_eq(hf_schedule_pause(d, "s", text), HF_TOOBIG);
    ck_assert_int_eq(hf_schedule_pause(d, "s", "\xff"), HF_INVALID);
    ck_assert_int_eq(hf_schedule_update(d, "s", .note = text), HF_TOOBIG);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM command"), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM schedule_history"), 1);
    text[8192] = '\0';
    memcpy(text, "\xc3\xa9", 2);
    hf_kit_ok(d, hf_schedule_pause(d, "s", text));
    hf_kit_ok(
        d, hf_reset_with(d, "a", &(hf_copy_opts){.size_ = sizeof(hf_copy_opts), .reason = text}));
    hf_kit_ok(d, hf_cancel(d, "a", text));
    hf_kit_close(d);
}

/* Runs that are there when a batch is asked for and are not when it comes to them. */
HF_BOTH_ENGINES(batch_whose_runs_vanish)
{
    hf_engine *d = open_app(kind);
    hf_mem *mem = hf_mem_of_engine(d);
    hf_value out = NULL;

    for (int i = 0; i < 3; i++)
        hf_kit_ok(d, hf_start(d, "waits", NULL, .id = (const char *[]){"a", "b", "c"}[i]));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_batch_start(d,
                                hf_json(d, "{'command': 'cancel', 'rate': 1, 'workflow_ids': "
                                           "['a', 'b', 'gone', 'c', '']}"),
                                mem, &out));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_signal(d, "b", "go", NULL)); /* it ends before its turn comes */
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(10)));
    hf_kit_ok(d, hf_batch_show(d, hf_str(out, "batch_id", ""), mem, &out));
    ck_assert_msg(strcmp(hf_str(out, "status", ""), "completed") == 0, "%s", hf_show(d, out));
    ck_assert_int_eq(hf_int(out, "accepted", 0), 2);
    ck_assert_int_eq(hf_int(out, "rejected", 0), 1);
    ck_assert_str_eq(hf_str(out, "items.1.rejection_reason", ""), "run_not_active");
    ck_assert_int_eq(hf_int(out, "not_found", 0) + hf_int(out, "failed", 0), 2);
    ck_assert_str_eq(hf_test_status(d, "b"), "completed");
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/bad_request", HF_BOTH(ids_of_0_191_and_192_characters),
                 HF_BOTH(ids_with_each_forbidden_character),
                 HF_BOTH(n07_no_name_has_control_characters), HF_BOTH(contracts_that_do_not_parse),
                 HF_BOTH(arguments_of_every_wrong_type),
                 HF_BOTH(arguments_missing_unknown_and_too_many), HF_BOTH(timeouts_of_0_and_below),
                 HF_BOTH(durations_beyond_a_hundred_years), HF_BOTH(times_that_cannot_be_written),
                 HF_BOTH(cron_lines_out_of_range), HF_BOTH(unknown_time_zones),
                 HF_BOTH(schedules_with_bad_input), HF_BOTH(fork_at_a_step_that_does_not_exist),
                 HF_BOTH(reasons_that_are_too_long_or_no_text), HF_BOTH(batch_whose_runs_vanish))
