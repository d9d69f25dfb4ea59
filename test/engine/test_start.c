/* Starting: ids, duplicate policies, what is visible from the first event on, reservations, and a
   start that brings its first signal. */
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "engine/fleet.h"
#include "lib/handlers.h"
#include "lib/kit.h"

static const hf_signal_def wait_signals[] = {{.name = "go", .params = "who:string"}, {0}};
static const hf_workflow_def workflows[] = {
    {.type = "waits", .run = hf_wait_go, .aliases = "waits.old", .signals = wait_signals},
    {.type = "greets", .run = hf_end_now, .params = "name:string, loud:bool=false"},
    {0}};
static const hf_app app = {.name = "starts", .workflows = workflows};

/* An alias leads to its definition; one that a webhook names and nobody declared leads nowhere, and
   nothing is made. */
HF_EVERY_WAY(b010_unknown_alias_is_not_found)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result out;

    out = hf_kit_ask(d, "start",
                     hf_json(d, "{'workflow_id': 'w', 'workflow_type': 'waits.old', 'source': "
                                "'webhook'}"));
    ck_assert(out.accepted);
    ck_assert_str_eq(hf_kit_said(d, "w", "WorkflowStarted", 0, HF_KEY_WORKFLOW_TYPE), "waits");
    ck_assert_int_eq(hf_command(d, "start",
                                hf_json(d, "{'workflow_id': 'x', 'workflow_type': 'nobody', "
                                           "'source': 'webhook'}"),
                                hf_mem_of_engine(d), &out),
                     HF_NOTFOUND);
    ck_assert_int_eq(hf_command(d, "signal_with_start",
                                hf_json(d, "{'workflow_id': 'x', 'workflow_type': 'nobody', "
                                           "'name': 'go', 'source': 'webhook'}"),
                                hf_mem_of_engine(d), &out),
                     HF_NOTFOUND);
    ck_assert_int_eq(hf_kit_rows(d, "instance"), 1);
    ck_assert_int_eq(hf_kit_rows(d, "command"), 1);
    hf_kit_close(d);
}

/* A program whose definitions claim one type twice, or disagree with themselves, does not begin. */
HF_EVERY_WAY(b021_disagreeing_definitions_fail_at_the_start)
{
    static const hf_workflow_def twice[] = {
        {.type = "waits", .run = hf_wait_go}, {.type = "waits", .run = hf_end_now}, {0}};
    static const hf_workflow_def under_alias[] = {
        {.type = "waits", .run = hf_wait_go, .aliases = "greets"},
        {.type = "greets", .run = hf_end_now},
        {0}};
    static const hf_signal_def signals[] = {{.name = "go"}, {.name = "go"}, {0}};
    static const hf_workflow_def itself[] = {
        {.type = "waits", .run = hf_wait_go, .signals = signals}, {0}};
    static const hf_workflow_def *const bad[] = {twice, under_alias, itself};
    static const char *const words[] = {"waits", "greets", "go"};
    hf_test_place *place = hf_test_place_new(kind);

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const hf_app program = {.name = "starts", .workflows = bad[i]};
        hf_engine *d = NULL;

        ck_assert_int_eq(hf_open(hf_test_place_address(place), &program, &d), HF_INVALID);
        ck_assert_ptr_nonnull(strstr(hf_errmsg(d), words[i]));
        ck_assert_int_eq(hf_start(d, "waits", NULL, .id = "w"), HF_INVALID);
        hf_close(d);
    }
    hf_test_place_free(place);
}

/* Ids that are blank, too long or have a character that is not allowed leave nothing behind. */
HF_EVERY_WAY(b001_bad_ids_are_refused)
{
    hf_engine *d = hf_kit_open(kind, &app);
    char text[193];

    ck_assert_int_eq(hf_start(d, "waits", NULL, .id = ""), HF_INVALID);
    memset(text, 'x', 192);
    text[192] = '\0';
    ck_assert_int_eq(hf_start(d, "waits", NULL, .id = text), HF_INVALID);
    for (int byte = 1; byte < 256; byte++) {
        bool allowed = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                       (byte >= 'A' && byte <= 'Z') || strchr("._:-", byte);
        char bad[4] = {'a', (char)byte, 'b', '\0'};

        if (!allowed) {
            ck_assert_int_eq(hf_start(d, "waits", NULL, .id = bad), HF_INVALID);
            ck_assert_int_eq(hf_reserve(d, "waits", bad, NULL), HF_INVALID);
        }
    }
    ck_assert_int_eq(hf_kit_rows(d, "instance"), 0);
    ck_assert_int_eq(hf_kit_rows(d, "command"), 0);
    hf_kit_close(d);
}

/* The shortest and the longest id work like any other, and every character that is allowed does. */
HF_EVERY_WAY(b002_longest_id_is_routable)
{
    hf_engine *d = hf_kit_open(kind, &app);
    char text[192];

    memset(text, 'x', 191);
    memcpy(text, "AZaz09._:-", 10);
    text[191] = '\0';
    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = text));
    hf_kit_ok(d, hf_signal(d, text, "go", hf_json(d, "['Ada']")));
    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "a"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, text), "{\"who\":\"Ada\"}");
    ck_assert_str_eq(hf_test_status(d, "a"), "waiting signal:go");
    hf_kit_close(d);
}

/* Reserving is repeatable, a reserved instance takes no messages, and it is started like any other.
 */
HF_EVERY_WAY(b003_reserve_returns_the_same_instance)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result out;
    const char *made = NULL;

    hf_kit_ok(d, hf_reserve(d, "waits", "r-1", NULL));
    hf_kit_ok(d, hf_reserve(d, "waits", "r-1", &made));
    ck_assert_str_eq(made, "r-1");
    ck_assert_int_eq(hf_reserve(d, "greets", "r-1", NULL), HF_EXISTS);
    ck_assert_int_eq(hf_kit_rows(d, "instance"), 1);
    out = hf_kit_ask(d, "signal",
                     hf_json(d, "{'workflow_id': 'r-1', 'name': 'go', 'request_id': 'q', "
                                "'arguments': ['Ada']}"));
    ck_assert_str_eq(out.outcome, "rejected_not_started");
    ck_assert_str_eq(out.reason, "instance_not_started");
    ck_assert_int_eq(hf_kit_rows(d, "command"), 1);
    out = hf_kit_ask(d, "signal",
                     hf_json(d, "{'workflow_id': 'r-1', 'name': 'go', 'request_id': 'q', "
                                "'arguments': ['Ada']}"));
    ck_assert(hf_bool(out.detail, "repeated", false));
    ck_assert_int_eq(hf_kit_rows(d, "command"), 1);
    ck_assert_int_eq(hf_cancel(d, "r-1", NULL), HF_REJECTED);
    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "r-1", .business_key = "order 7"));
    ck_assert_int_eq(hf_kit_rows(d, "instance"), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM instance WHERE business_key = 'order 7'"
                                      " AND run_count = 1"),
                     1);
    hf_kit_ok(d, hf_signal(d, "r-1", "go", hf_json(d, "['Ada']")));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "r-1"), "completed");
    hf_kit_ok(d, hf_reserve(d, "waits", NULL, &made));
    ck_assert_uint_eq(strlen(made), 26);
    hf_kit_close(d);
}

/* Run, command, history and first task are there together, and the run's id is its own. */
HF_EVERY_WAY(b004_start_makes_everything_at_once)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result out;

    out = hf_kit_ask(d, "start", hf_json(d, "{'workflow_id': 'w-1', 'workflow_type': 'waits'}"));
    ck_assert_str_eq(out.outcome, "started_new");
    ck_assert_uint_eq(strlen(out.run_id), 26);
    ck_assert_str_ne(out.run_id, out.command_id);
    ck_assert_str_ne(out.run_id, out.instance_id);
    ck_assert_int_eq(hf_kit_rows(d, "run"), 1);
    ck_assert_int_eq(hf_kit_rows(d, "command"), 1);
    ck_assert_int_eq(hf_kit_rows(d, "task"), 1);
    ck_assert_str_eq(hf_kit_history(d, "w-1"), "StartAccepted WorkflowStarted");
    hf_kit_close(d);
}

/* A missing argument refuses the start with the words of the contract, and nothing is made. */
HF_EVERY_WAY(b008_missing_argument_makes_no_instance)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result out = {0};

    ck_assert_int_eq(hf_command(d, "start",
                                hf_json(d, "{'workflow_id': 'g', 'workflow_type': 'greets'}"),
                                hf_mem_of_engine(d), &out),
                     HF_INVALID);
    ck_assert(!out.accepted);
    ck_assert_str_eq(out.outcome, "rejected_invalid_arguments");
    ck_assert_str_eq(hf_str(out.detail, "validation_errors.name.0", ""),
                     "The name argument is required.");
    ck_assert_int_eq(hf_kit_rows(d, "instance"), 0);
    hf_kit_close(d);
}

/* Defaults are filled in before the run begins, and recorded. */
HF_EVERY_WAY(b009_default_arguments_are_filled)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "greets", hf_json(d, "{'name': 'Ada'}"), .id = "g-1"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "g-1"), "{\"name\":\"Ada\",\"loud\":false}");
    ck_assert_str_eq(hf_kit_said(d, "g-1", "WorkflowStarted", 0, HF_KEY_ARGUMENTS),
                     "{\"name\":\"Ada\",\"loud\":false}");
    hf_kit_close(d);
}

/* Labels are sorted and trimmed, null is dropped, plain values become text; a bad key refuses. */
HF_EVERY_WAY(b011_labels_are_made_fit)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "l-1",
                          .labels = "{\"z\": \" last \", \"a\": 7, \"gone\": null, \"b\": true}"));
    ck_assert_str_eq(hf_kit_said(d, "l-1", "WorkflowStarted", 0, HF_KEY_VISIBILITY_LABELS),
                     "{\"a\":\"7\",\"b\":\"true\",\"z\":\"last\"}");
    ck_assert_int_eq(hf_start(d, "waits", NULL, .id = "l-2", .labels = "{\"a b\": \"x\"}"),
                     HF_INVALID);
    ck_assert_int_eq(hf_start(d, "waits", NULL, .id = "l-2", .labels = "{\"a\": \"  \"}"),
                     HF_INVALID);
    ck_assert_int_eq(hf_start(d, "waits", NULL, .id = "l-2", .labels = "{\"a\": [1]}"), HF_INVALID);
    ck_assert_int_eq(hf_start(d, "waits", NULL, .id = "l-2", .labels = "[]"), HF_INVALID);
    ck_assert_int_eq(hf_start(d, "waits", NULL, .id = "l-2", .labels = "{"), HF_INVALID);
    ck_assert_str_eq(hf_test_status(d, "l-2"), "not found");
    hf_kit_close(d);
}

/* The business key is trimmed; an empty one and one of 192 characters are refused. */
HF_EVERY_WAY(b012_business_key_has_bounds)
{
    hf_engine *d = hf_kit_open(kind, &app);
    char text[193];

    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "k-1", .business_key = "  order 7 "));
    ck_assert_str_eq(hf_kit_said(d, "k-1", "WorkflowStarted", 0, HF_KEY_BUSINESS_KEY), "order 7");
    ck_assert_int_eq(hf_start(d, "waits", NULL, .id = "k-2", .business_key = " "), HF_INVALID);
    memset(text, 'k', 192);
    text[192] = '\0';
    ck_assert_int_eq(hf_start(d, "waits", NULL, .id = "k-2", .business_key = text), HF_INVALID);
    text[191] = '\0';
    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "k-2", .business_key = text));
    hf_kit_close(d);
}

/* Memo keys are short at every level. */
HF_EVERY_WAY(b013_memo_keys_are_short_at_every_level)
{
    hf_engine *d = hf_kit_open(kind, &app);
    char memo[160];
    char key[66];

    memset(key, 'm', 65);
    key[64] = '\0';
    (void)snprintf(memo, sizeof(memo), "{\"b\": {\"deep\": [{\"%s\": 1}]}, \"a\": null}", key);
    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "m-1", .memo = memo));
    key[64] = 'm';
    key[65] = '\0';
    (void)snprintf(memo, sizeof(memo), "{\"deep\": [{\"%s\": 1}]}", key);
    ck_assert_int_eq(hf_start(d, "waits", NULL, .id = "m-2", .memo = memo), HF_INVALID);
    ck_assert_int_eq(hf_start(d, "waits", NULL, .id = "m-2", .memo = "{\"\": 1}"), HF_INVALID);
    ck_assert_int_eq(hf_start(d, "waits", NULL, .id = "m-2", .memo = "7"), HF_INVALID);
    hf_kit_close(d);
}

/* What is visible is stored where it is looked for; the memo is not among what can be searched. */
HF_EVERY_WAY(b014_b015_visibility_from_the_first_event)
{
    hf_engine *d = hf_kit_open(kind, &app);
    const char *json = NULL;

    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "v-1", .business_key = "order 7",
                          .labels = "{\"team\": \"ops\"}", .memo = "{\"note\": \"secret-note\"}",
                          .search_attributes = "{\"amount\": 12, \"none\": null}"));
    hf_kit_ok(d, hf_export(d, hf_mem_of_engine(d), &json, "v-1"));
    ck_assert_ptr_nonnull(strstr(json, "\"business_key\":\"order 7\""));
    ck_assert_ptr_nonnull(strstr(json, "\"visibility_labels\":{\"team\":\"ops\"}"));
    ck_assert_ptr_nonnull(strstr(json, "secret-note"));
    ck_assert_str_eq(hf_kit_said(d, "v-1", "WorkflowStarted", 0, HF_KEY_SEARCH_ATTRIBUTES),
                     "{\"amount\":12}");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM instance WHERE business_key = "
                                      "'order 7'"),
                     1);
    ck_assert_int_eq(
        hf_start(d, "waits", NULL, .id = "v-2", .search_attributes = "{\"a\": {\"b\": 1}}"),
        HF_INVALID);
    hf_kit_close(d);
}

/* A timeout below one second is refused with its sentence; one second is fine. */
HF_EVERY_WAY(b016_timeouts_are_at_least_a_second)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result out;

    ck_assert_int_eq(hf_start(d, "waits", NULL, .id = "t", .run_timeout = 999), HF_INVALID);
    ck_assert_str_eq(hf_errmsg(d), "a workflow timeout must be at least 1 second");
    ck_assert_int_eq(hf_start(d, "waits", NULL, .id = "t", .execution_timeout = -1), HF_INVALID);
    ck_assert_int_eq(hf_command(d, "start",
                                hf_json(d, "{'workflow_id': 't', 'workflow_type': 'waits', "
                                           "'run_timeout_seconds': 0}"),
                                hf_mem_of_engine(d), &out),
                     HF_INVALID);
    ck_assert_int_eq(hf_kit_rows(d, "instance"), 0);
    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "t", .run_timeout = 1000));
    hf_kit_close(d);
}

/* A type that this program does not know can be started; somebody else may have its code. */
HF_EVERY_WAY(b017_start_by_type_without_its_code)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result out;

    hf_kit_ok(d, hf_start(d, "elsewhere", hf_json(d, "[1, 2]"), .id = "e-1"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_history(d, "e-1"), "StartAccepted WorkflowStarted");
    out = hf_kit_ask(d, "signal", hf_json(d, "{'workflow_id': 'e-1', 'name': 'go'}"));
    ck_assert_str_eq(out.outcome, "rejected_workflow_definition_unavailable");
    ck_assert_str_eq(out.reason, "workflow_definition_unavailable");
    hf_kit_close(d);
}

/* Without an id one is made, of 26 characters. */
HF_EVERY_WAY(b018_an_id_is_made)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result first = hf_kit_ask(d, "start", hf_json(d, "{'workflow_type': 'waits'}"));
    hf_command_result second = hf_kit_ask(d, "start", hf_json(d, "{'workflow_type': 'waits'}"));

    ck_assert_uint_eq(strlen(first.instance_id), 26);
    ck_assert_str_ne(first.instance_id, second.instance_id);
    hf_kit_ok(d, hf_signal(d, first.instance_id, "go", hf_json(d, "['Ada']")));
    hf_kit_close(d);
}

/* A request of the wrong shape leaves no rows. */
HF_EVERY_WAY(b020_bad_requests_leave_no_rows)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result out;
    hf_value bad[] = {hf_json(d, "{'workflow_id': 's'}"),
                      hf_json(d, "{'workflow_type': 7}"),
                      hf_json(d, "{'workflow_type': 'waits', 'workflow_id': 7}"),
                      hf_json(d, "{'workflow_type': 'waits', 'memo': 7}"),
                      hf_json(d, "{'workflow_type': 'waits', 'duplicate_policy': 'maybe'}"),
                      hf_json(d, "{'workflow_type': 'waits', 'run_timeout_seconds': 'soon'}"),
                      hf_json(d, "{'workflow_type': 'waits', 'context': []}"),
                      hf_json(d, "{'workflow_type': 'waits', 'source': 'nowhere'}"),
                      hf_json(d, "{'workflow_type': 'waits', 'request_id': ''}"),
                      hf_json(d, "{'workflow_type': 'waits', 'task_queue': ''}")};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_int_eq(hf_command(d, "start", bad[i], hf_mem_of_engine(d), &out), HF_INVALID);
    ck_assert_int_eq(hf_command(d, "stroke", bad[0], hf_mem_of_engine(d), &out), HF_INVALID);
    ck_assert_int_eq(hf_kit_rows(d, "instance"), 0);
    ck_assert_int_eq(hf_kit_rows(d, "command"), 0);
    hf_kit_close(d);
}

/* Both commands are numbered 1 and 2, share a group, and the signal is there before the code is. */
HF_EVERY_WAY(b032_signal_with_start_makes_a_run)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result out =
        hf_kit_ask(d, "signal_with_start",
                   hf_json(d, "{'workflow_id': 'w-1', 'workflow_type': 'waits', 'name': 'go', "
                              "'arguments': ['Ada'], 'context': {'caller': {'type': 'test'}}}"));

    ck_assert_str_eq(out.outcome, "signal_received");
    ck_assert_int_eq(hf_int(out.detail, "command_sequence", 0), 2);
    ck_assert_int_eq(hf_int(out.detail, "start_command_sequence", 0), 1);
    ck_assert_str_eq(hf_str(out.detail, "start_outcome", ""), "started_new");
    ck_assert_uint_eq(strlen(hf_str(out.detail, "intake_group_id", "")), 26);
    ck_assert_str_eq(hf_kit_history(d, "w-1"), "StartAccepted WorkflowStarted SignalReceived");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(DISTINCT body) FROM command"), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT message_seq FROM run"), 1);
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "w-1"), "{\"who\":\"Ada\"}");
    hf_kit_close(d);
}

/* The open run is taken; a closed one is not, and nothing is sent to it. */
HF_EVERY_WAY(b033_signal_with_start_takes_the_open_run)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value request = hf_json(d, "{'workflow_id': 'w-1', 'workflow_type': 'waits', 'name': 'go', "
                                  "'arguments': ['Ada']}");
    hf_command_result out;

    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "w-1"));
    hf_kit_ok(d, hf_test_drain(d));
    out = hf_kit_ask(d, "signal_with_start", request);
    ck_assert_str_eq(hf_str(out.detail, "start_outcome", ""), "returned_existing_active");
    ck_assert_int_eq(hf_int(out.detail, "command_sequence", 0), 3);
    ck_assert_int_eq(hf_kit_rows(d, "run"), 1);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "w-1"), "completed");
    out = hf_kit_ask(d, "signal_with_start", request);
    ck_assert_str_eq(out.outcome, "rejected_duplicate");
    ck_assert_int_eq(hf_kit_rows(d, "run"), 1);
    ck_assert_int_eq(hf_test_count(d, "w-1", "SignalReceived"), 1);
    hf_kit_ok(d, hf_reserve(d, "waits", "w-2", NULL));
    hf_kit_ok(d, hf_signal_with_start(d, "waits",
                                      &(hf_start_opts){.size_ = sizeof(hf_start_opts), .id = "w-2"},
                                      "go", hf_json(d, "['Bob']")));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "w-2"), "{\"who\":\"Bob\"}");
    hf_kit_close(d);
}

/* A signal that the type does not take, or not with these arguments, starts nothing. */
HF_EVERY_WAY(b034_signal_with_start_of_an_unknown_signal)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result out = {0};

    ck_assert_int_eq(hf_command(d, "signal_with_start",
                                hf_json(d, "{'workflow_id': 'w', 'workflow_type': 'waits', "
                                           "'name': 'stop'}"),
                                hf_mem_of_engine(d), &out),
                     HF_REJECTED);
    ck_assert_str_eq(out.outcome, "rejected_unknown_signal");
    ck_assert_int_eq(hf_command(d, "signal_with_start",
                                hf_json(d, "{'workflow_id': 'w', 'workflow_type': 'waits', "
                                           "'name': 'go', 'arguments': [7]}"),
                                hf_mem_of_engine(d), &out),
                     HF_REJECTED);
    ck_assert_str_eq(out.outcome, "rejected_invalid_arguments");
    ck_assert_str_eq(hf_str(out.detail, "validation_errors.who.0", ""),
                     "The who argument must be of type string.");
    ck_assert_int_eq(hf_kit_rows(d, "instance"), 0);
    ck_assert_int_eq(hf_kit_rows(d, "command"), 0);
    hf_kit_close(d);
}

/* Workers serve the queue and none of them supports this program's build: the start waits for one,
   or, when that is asked for, is refused, alone and with a first signal, and nothing is made.
   Nobody at the queue is no reason, and neither is a type that the program has itself. */
HF_BOTH_ENGINES(b183_a_start_that_no_worker_supports_is_refused)
{
    static const hf_app producer = {.name = "start", .build_id = "a", .workflows = workflows};
    hf_worker_row worker = {.name = HF_SLICE("w1"),
                            .queue = HF_SLICE("default"),
                            .scope = HF_SLICE(""),
                            .host = HF_SLICE("somewhere"),
                            .process = 7,
                            .supported = HF_SLICE("b")};
    hf_engine *d = hf_kit_open(kind, &producer);
    hf_command_result out = {0};
    hf_err err = {0};

    ck_assert_int_eq(hf_set(d, "fleet_validation_mode", "maybe"), HF_INVALID);
    hf_kit_ok(d, hf_start(d, "elsewhere", NULL, .id = "before"));
    hf_test_ok(hf_engine_worker_beat(d, &worker, &err), &err, "a heartbeat");
    hf_kit_ok(d, hf_start(d, "elsewhere", NULL, .id = "waits"));
    hf_kit_ok(d, hf_set(d, "fleet_validation_mode", "fail"));
    ck_assert_int_eq(hf_command(d, "start",
                                hf_json(d, "{'workflow_id': 'x', 'workflow_type': 'elsewhere'}"),
                                hf_mem_of_engine(d), &out),
                     HF_REJECTED);
    ck_assert(!out.accepted);
    ck_assert_str_eq(out.outcome, "rejected_compatibility_blocked");
    ck_assert_str_eq(out.reason, "compatibility_blocked");
    ck_assert_int_eq(hf_command(d, "signal_with_start",
                                hf_json(d, "{'workflow_id': 'x', 'workflow_type': 'elsewhere', "
                                           "'name': 'go'}"),
                                hf_mem_of_engine(d), &out),
                     HF_REJECTED);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM instance WHERE id = 'x'"), 0);
    hf_kit_ok(d, hf_start(d, "elsewhere", NULL, .id = "apart", .queue = "nobody"));
    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "own"));
    worker.supported = HF_SLICE("b, a");
    hf_test_ok(hf_engine_worker_beat(d, &worker, &err), &err, "a heartbeat");
    hf_kit_ok(d, hf_start(d, "elsewhere", NULL, .id = "x"));
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN(
    "engine/start", HF_WAYS(b001_bad_ids_are_refused), HF_WAYS(b002_longest_id_is_routable),
    HF_WAYS(b003_reserve_returns_the_same_instance), HF_WAYS(b004_start_makes_everything_at_once),
    HF_WAYS(b008_missing_argument_makes_no_instance), HF_WAYS(b009_default_arguments_are_filled),
    HF_WAYS(b010_unknown_alias_is_not_found), HF_WAYS(b011_labels_are_made_fit),
    HF_WAYS(b012_business_key_has_bounds), HF_WAYS(b013_memo_keys_are_short_at_every_level),
    HF_WAYS(b014_b015_visibility_from_the_first_event),
    HF_WAYS(b016_timeouts_are_at_least_a_second), HF_WAYS(b017_start_by_type_without_its_code),
    HF_WAYS(b018_an_id_is_made), HF_WAYS(b020_bad_requests_leave_no_rows),
    HF_WAYS(b021_disagreeing_definitions_fail_at_the_start),
    HF_WAYS(b032_signal_with_start_makes_a_run), HF_WAYS(b033_signal_with_start_takes_the_open_run),
    HF_WAYS(b034_signal_with_start_of_an_unknown_signal),
    HF_BOTH(b183_a_start_that_no_worker_supports_is_refused))
