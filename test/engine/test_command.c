/* Commands as rows: every command that was answered is kept, accepted or not, numbered and
   explained; a refused one changes nothing else; a command that names itself is answered once. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/thread.h"
#include "base/value.h"
#include "engine/engine_impl.h"
#include "lib/handlers.h"
#include "lib/kit.h"

static hf_value note_apply(hf_ctx *w, void *state, hf_value args)
{
    (void)w;
    (void)state;
    return args;
}

static const hf_signal_def wait_signals[] = {
    {.name = "go", .params = "who:string, times:int=1"}, {.name = "plain"}, {0}};
static const hf_update_def wait_updates[] = {
    {.name = "note", .params = "text:string", .apply = note_apply}, {0}};
static const hf_workflow_def workflows[] = {
    {.type = "waits", .run = hf_wait_go, .signals = wait_signals, .updates = wait_updates},
    {.type = "ends", .run = hf_end_now},
    {0}};
static const hf_app app = {.name = "commands", .workflows = workflows};

static hf_value json_of(hf_engine *d, const char *text)
{
    hf_value value = NULL;
    hf_err err;

    hf_test_ok(hf_json_read(hf_mem_of_engine(d), hf_slice_of(text), NULL, &value, &err), &err,
               "read JSON");
    return value;
}

static int64_t rows(hf_engine *d, const char *where)
{
    char sql[512];

    (void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM command WHERE %s", where);
    return hf_kit_number(d, sql);
}

/* A refused signal is a row with a number of its own and changes nothing: no event, no message, no
   task; the number that follows is the next. */
HF_EVERY_WAY(b026_unknown_signal_is_a_durable_row)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result out;
    int64_t events;

    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "w-1"));
    hf_kit_ok(d, hf_test_drain(d));
    events = hf_kit_number(d, "SELECT last_seq FROM run");
    out = hf_kit_ask(d, "signal",
                     hf_json(d, "{'workflow_id': 'w-1', 'name': 'stop', 'arguments': [7]}"));
    ck_assert(!out.accepted);
    ck_assert_str_eq(out.outcome, "rejected_unknown_signal");
    ck_assert_str_eq(out.reason, "unknown_signal");
    ck_assert_int_eq(hf_int(out.detail, "command_sequence", 0), 2);
    ck_assert_int_eq(hf_kit_number(d, "SELECT last_seq FROM run"), events);
    ck_assert_int_eq(hf_kit_number(d, "SELECT message_seq FROM run"), 0);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM task"), 0);
    ck_assert_int_eq(rows(d, "type = 2 AND status = 2 AND outcome = 106 AND rejection = 6 AND "
                             "state = 3 AND command_seq = 2 AND message_seq IS NULL AND name = "
                             "'stop' AND closed_us IS NOT NULL"),
                     1);
    out =
        hf_kit_ask(d, "signal",
                   hf_json(d, "{'workflow_id': 'w-1', 'name': 'go', 'arguments': {'who': 'Ada'}}"));
    ck_assert(out.accepted);
    ck_assert_int_eq(hf_int(out.detail, "command_sequence", 0), 3);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "w-1"), "{\"who\":\"Ada\",\"times\":1}");
    hf_kit_close(d);
}

/* Each way in which arguments do not fit has its own words under the argument's name. */
HF_EVERY_WAY(b029_validation_errors_say_what_is_wrong)
{
    static const struct {
        const char *args;
        const char *path;
        const char *message;
    } cases[] = {{"{}", "validation_errors.who.0", "The who argument is required."},
                 {"{\"who\": \"Ada\", \"x\": 1}", "validation_errors.x.0", "Unknown argument [x]."},
                 {"{\"who\": \"Ada\", \"times\": \"two\"}", "validation_errors.times.0",
                  "The times argument must be of type int."},
                 {"{\"who\": null}", "validation_errors.who.0", "The who argument cannot be null."},
                 {"[\"Ada\", 1, 2]", "validation_errors.arguments.0",
                  "Too many arguments: 3 given, at most 2 taken."}};
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "w-1"));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hf_command_result out =
            hf_kit_ask(d, "signal",
                       hf_json(d, "{'workflow_id': 'w-1', 'name': 'go', 'arguments': %p}",
                               (const void *)json_of(d, cases[i].args)));

        ck_assert_str_eq(out.outcome, "rejected_invalid_arguments");
        ck_assert_str_eq(out.reason, "invalid_signal_arguments");
        ck_assert_str_eq(hf_str(out.detail, cases[i].path, ""), cases[i].message);
        ck_assert_str_eq(hf_str(out.detail, "parameters.0.name", ""), "who"); /* what would fit */
        ck_assert_uint_eq(hf_len(hf_get(out.detail, "parameters")), 2);
    }
    ck_assert_int_eq(rows(d, "status = 2"), 5);
    ck_assert_int_eq(hf_test_count(d, "w-1", "SignalReceived"), 0);
    hf_kit_close(d);
}

/* A closed run refuses messages and orders alike; each refusal is kept. */
HF_EVERY_WAY(b027_a_closed_run_refuses)
{
    static const char *const kinds[] = {"signal", "update", "cancel", "terminate"};
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "ends", NULL, .id = "e-1"));
    hf_kit_ok(d, hf_test_drain(d));
    for (size_t i = 0; i < 4; i++) {
        hf_command_result out = hf_kit_ask(
            d, kinds[i], hf_json(d, "{'workflow_id': 'e-1', 'name': 'go', 'reason': 'why'}"));

        ck_assert_str_eq(out.outcome, "rejected_not_active");
        ck_assert_str_eq(out.reason, "run_not_active");
        ck_assert_int_eq(hf_int(out.detail, "command_sequence", 0), (int64_t)i + 2);
    }
    ck_assert_int_eq(rows(d, "status = 2 AND command_seq IS NOT NULL"), 4);
    ck_assert_int_eq(hf_signal(d, "e-1", "go", NULL), HF_REJECTED);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "run_not_active"));
    hf_kit_close(d);
}

/* An instance that does not exist keeps nothing: there is nothing to keep it with. */
HF_EVERY_WAY(an_unknown_instance_keeps_nothing)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result out;

    ck_assert_int_eq(hf_command(d, "signal", hf_json(d, "{'workflow_id': 'x', 'name': 'go'}"),
                                hf_mem_of_engine(d), &out),
                     HF_NOTFOUND);
    ck_assert_int_eq(rows(d, "1 = 1"), 0);
    hf_kit_close(d);
}

/* A second start is refused: a row, and on an open run the event that says so. */
HF_EVERY_WAY(b005_second_start_is_rejected)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result out;

    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "w-1"));
    out = hf_kit_ask(d, "start", hf_json(d, "{'workflow_id': 'w-1', 'workflow_type': 'waits'}"));
    ck_assert_str_eq(out.outcome, "rejected_duplicate");
    ck_assert_str_eq(out.reason, "instance_already_started");
    ck_assert_int_eq(hf_test_count(d, "w-1", "StartRejected"), 1);
    ck_assert_str_eq(hf_kit_said(d, "w-1", "StartRejected", 0, HF_KEY_REJECTION_REASON),
                     "instance_already_started");
    ck_assert_int_eq(hf_start(d, "waits", NULL, .id = "w-1"), HF_EXISTS);
    ck_assert_int_eq(rows(d, "type = 1 AND status = 2"), 2);
    hf_kit_ok(d, hf_cancel(d, "w-1", NULL));
    ck_assert_int_eq(hf_start(d, "waits", NULL, .id = "w-1"), HF_EXISTS);
    ck_assert_int_eq(hf_test_count(d, "w-1", "StartRejected"), 2);
    ck_assert_int_eq(rows(d, "type = 1 AND status = 2"), 3);
    hf_kit_close(d);
}

/* The open run answers a start that allows it, and the command is kept as accepted. */
HF_EVERY_WAY(b006_existing_open_run_is_returned)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value request = hf_json(
        d, "{'workflow_id': 'w-1', 'workflow_type': 'waits', 'duplicate_policy': 'use-existing'}");
    hf_command_result first = hf_kit_ask(d, "start", request);
    hf_command_result again = hf_kit_ask(d, "start", request);

    ck_assert_str_eq(first.outcome, "started_new");
    ck_assert_str_eq(again.outcome, "returned_existing_active");
    ck_assert(again.accepted);
    ck_assert_str_eq(again.run_id, first.run_id);
    ck_assert_str_ne(again.command_id, first.command_id);
    ck_assert_int_eq(hf_int(again.detail, "command_sequence", 0), 2);
    ck_assert_int_eq(rows(d, "type = 1 AND status = 1 AND outcome = 2"), 1);
    hf_kit_close(d);
}

/* A closed run does not answer a start. */
HF_EVERY_WAY(b007_existing_closed_run_rejects)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value request =
        hf_json(d, "{'workflow_id': 'e-1', 'workflow_type': 'ends', 'duplicate_policy': "
                   "'return_existing_active'}");
    hf_command_result out;

    out = hf_kit_ask(d, "start", request);
    hf_kit_ok(d, hf_test_drain(d));
    out = hf_kit_ask(d, "start", request);
    ck_assert_str_eq(out.outcome, "rejected_duplicate");
    ck_assert_int_eq(hf_test_count(d, "e-1", "StartRejected"), 0);
    hf_kit_close(d);
}

/* A refused update says so in the history of an open run, with the arguments and what is wrong. */
HF_EVERY_WAY(b071_refused_updates_are_in_history)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result out;

    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "w-1"));
    hf_kit_ok(d, hf_test_drain(d));
    out = hf_kit_ask(d, "update", hf_json(d, "{'workflow_id': 'w-1', 'name': 'draw'}"));
    ck_assert_str_eq(out.outcome, "rejected_unknown_update");
    ck_assert_str_eq(out.reason, "unknown_update");
    out =
        hf_kit_ask(d, "update",
                   hf_json(d, "{'workflow_id': 'w-1', 'name': 'note', 'arguments': {'text': 5}}"));
    ck_assert_str_eq(out.outcome, "rejected_invalid_arguments");
    ck_assert_str_eq(out.reason, "invalid_update_arguments");
    out = hf_kit_ask(
        d, "update",
        hf_json(d, "{'workflow_id': 'w-1', 'name': 'note', 'arguments': {'text': null}}"));
    ck_assert_str_eq(hf_str(out.detail, "validation_errors.text.0", ""),
                     "The text argument cannot be null.");
    ck_assert_int_eq(hf_test_count(d, "w-1", "UpdateRejected"), 3);
    ck_assert_str_eq(hf_kit_said(d, "w-1", "UpdateRejected", 0, HF_KEY_UPDATE_NAME), "draw");
    ck_assert_str_eq(hf_kit_said(d, "w-1", "UpdateRejected", 1, HF_KEY_ARGUMENTS), "{\"text\":5}");
    ck_assert_str_eq(hf_kit_said(d, "w-1", "UpdateRejected", 1, HF_KEY_VALIDATION_ERRORS),
                     "{\"text\":[\"The text argument must be of type string.\"]}");
    ck_assert_int_eq(rows(d, "type = 3 AND status = 2 AND state = 2"), 3);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "w-1"), "waiting signal:go");
    hf_kit_close(d);
}

/* Who asked, and how, is kept with the command. */
HF_EVERY_WAY(b019_context_is_kept)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result out;

    out = hf_kit_ask(d, "start",
                     hf_json(d,
                             "{'workflow_id': 'w-1', 'workflow_type': 'waits', 'source': 'webhook',"
                             " 'request_id': 'r-1', 'context': {'caller': {'type': 'webhook'},"
                             " 'auth': {'status': 'authorized', 'method': 'token'},"
                             " 'request': {'method': 'POST', 'route_name': 'start',"
                             " 'fingerprint': 'sha256:00'}}}"));
    ck_assert_str_eq(hf_str(out.detail, "command_source", ""), "webhook");
    ck_assert_int_eq(rows(d, "source = 2 AND type = 1"), 1);
    ck_assert_int_eq(
        hf_kit_number(d, kind == HF_ENGINE_SQLITE
                             ? "SELECT instr(CAST(body AS TEXT), '\"fingerprint\":\"sha256:00\"') "
                               "> 0 FROM command"
                             : "SELECT (position('\"fingerprint\":\"sha256:00\"' IN "
                               "convert_from(body, 'UTF8')) > 0)::int FROM command"),
        1);
    hf_kit_close(d);
}

/* A call of the C API is recorded as one, with a print of what was asked: the same for the same
   request, another for any other. The published bundle shows it. */
HF_EVERY_WAY(b019_embedded_callers_leave_a_print)
{
    const hf_json_limits limits = {.bytes_max = 16 * 1024 * 1024};
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_of_engine(d);
    const char *json = NULL;
    const char *prints[4];
    hf_value bundle = NULL;
    hf_value commands;
    hf_err err;

    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "w-1"));
    (void)hf_signal(d, "w-1", "nobody", hf_json(d, "['Ada']"));
    (void)hf_signal(d, "w-1", "nobody", hf_json(d, "['Ada']"));
    (void)hf_signal(d, "w-1", "nobody", hf_json(d, "['Eve']"));
    hf_kit_ok(d, hf_export(d, mem, &json, "w-1"));
    hf_test_ok(hf_json_read(mem, hf_slice_of(json), &limits, &bundle, &err), &err, "a bundle");
    commands = hf_get(bundle, "commands");
    ck_assert_uint_eq(hf_len(commands), 4);
    for (size_t i = 0; i < 4; i++) {
        hf_value context = hf_get(hf_at(commands, i), "context");

        prints[i] = hf_str(context, "request.fingerprint", "");
        ck_assert_uint_eq(strlen(prints[i]), 7 + 64);
        ck_assert_str_eq(hf_str(context, "caller.type", ""), "embedded");
        ck_assert_str_eq(hf_str(context, "auth.status", ""), "not_applicable");
        ck_assert_str_eq(hf_str(hf_at(commands, i), "source", ""), "embedded");
    }
    ck_assert_str_eq(prints[1], prints[2]);
    ck_assert_str_ne(prints[2], prints[3]);
    ck_assert_str_ne(prints[0], prints[1]);
    hf_kit_close(d);
}

/* The same request id answers again with what was answered first, whatever it was and however the
   run went on; another type of command is another command. */
HF_EVERY_WAY(b078_request_id_answers_again)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value good = hf_json(d, "{'workflow_id': 'w-1', 'name': 'go', 'request_id': 'r-1',"
                               " 'arguments': ['Ada']}");
    hf_value bad = hf_json(d, "{'workflow_id': 'w-1', 'name': 'stop', 'request_id': 'r-2'}");
    hf_value start = hf_json(d, "{'workflow_id': 'w-1', 'workflow_type': 'waits',"
                                " 'request_id': 'r-1'}");
    hf_command_result first = hf_kit_ask(d, "start", start);
    hf_command_result again = hf_kit_ask(d, "start", start);

    ck_assert_str_eq(again.outcome, "started_new");
    ck_assert_str_eq(again.command_id, first.command_id);
    ck_assert(hf_bool(again.detail, "repeated", false));
    first = hf_kit_ask(d, "signal", good);
    hf_kit_ok(d, hf_test_drain(d));
    hf_test_crash(d);
    again = hf_kit_ask(d, "signal", good);
    ck_assert_str_eq(again.outcome, "signal_received");
    ck_assert_str_eq(again.command_id, first.command_id);
    ck_assert_str_eq(again.run_id, first.run_id);
    first = hf_kit_ask(d, "signal", bad);
    ck_assert_str_eq(first.outcome, "rejected_not_active");
    again = hf_kit_ask(d, "signal", bad);
    ck_assert_str_eq(again.outcome, "rejected_not_active");
    ck_assert_str_eq(again.command_id, first.command_id);
    ck_assert_ptr_nonnull(hf_get(again.detail, "message"));
    ck_assert_int_eq(rows(d, "1 = 1"), 3);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM dedup"), 3);
    ck_assert_int_eq(hf_test_count(d, "w-1", "SignalReceived"), 1);
    hf_kit_close(d);
}

enum { CALLERS = 8, CALLS = 10 };

/* What one thread sends, and what it was answered. */
typedef struct caller {
    hf_engine *d;
    hf_thread thread;
    int accepted;
    int rejected;
    int failed;
} caller;

static void caller_ask(caller *me, hf_mem *mem, const char *command, const char *request)
{
    hf_command_result out = {0};
    hf_value value = NULL;

    if (hf_json_read(mem, hf_slice_of(request), NULL, &value, NULL) ||
        hf_command(me->d, command, value, mem, &out))
        me->failed++;
    else if (out.accepted)
        me->accepted++;
    else
        me->rejected++;
}

static void caller_run(void *arg)
{
    caller *me = arg;
    hf_mem *mem = hf_mem_new();
    char text[160];

    caller_ask(me, mem, "start",
               "{\"workflow_id\": \"w-1\", \"workflow_type\": \"waits\", "
               "\"request_id\": \"s\"}");
    for (int i = 0; i < CALLS; i++) {
        (void)snprintf(text, sizeof(text),
                       "{\"workflow_id\": \"w-1\", \"name\": \"plain\", \"request_id\": "
                       "\"r-%d\"}",
                       i);
        caller_ask(me, mem, "signal", text);
        caller_ask(me, mem, "signal", "{\"workflow_id\": \"w-1\", \"name\": \"stop\"}");
    }
    hf_mem_free(mem);
}

/* How many commands of the run an export shows. */
static int exported(hf_engine *d, const char *id, const char *type, const char *status)
{
    const hf_json_limits limits = {.bytes_max = 16 * 1024 * 1024};
    const char *json = NULL;
    hf_value bundle = NULL;
    hf_value commands;
    hf_err err;
    int count = 0;

    hf_kit_ok(d, hf_export(d, hf_mem_of_engine(d), &json, id));
    hf_test_ok(hf_json_read(hf_mem_of_engine(d), hf_slice_of(json), &limits, &bundle, &err), &err,
               "read a bundle");
    commands = hf_get(bundle, "commands");
    for (size_t i = 0; i < hf_len(commands); i++)
        count += strcmp(hf_str(hf_at(commands, i), "type", ""), type) == 0 &&
                 strcmp(hf_str(hf_at(commands, i), "status", ""), status) == 0;
    return count;
}

/* Many callers at once: what names itself has one effect and one answer, what is refused is
   numbered without a gap (which the store's check sees). */
HF_EVERY_WAY(concurrent_duplicates_have_one_effect)
{
    hf_test_place *place = hf_test_place_new(kind);
    caller callers[CALLERS];
    hf_engine *d = NULL;
    hf_err err;

    hf_kit_ok(d, hf_open(hf_test_place_address(place), &app, &d));
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (caller){.d = d};
        hf_test_ok(hf_thread_start(&callers[i].thread, "caller", caller_run, &callers[i], &err),
                   &err, "start a thread");
    }
    for (int i = 0; i < CALLERS; i++)
        hf_thread_join(&callers[i].thread);
    for (int i = 0; i < CALLERS; i++) {
        ck_assert_int_eq(callers[i].failed, 0);
        ck_assert_int_eq(callers[i].accepted, 1 + CALLS);
        ck_assert_int_eq(callers[i].rejected, CALLS);
    }
    ck_assert_int_eq(exported(d, "w-1", "start", "accepted"), 1);
    ck_assert_int_eq(exported(d, "w-1", "start", "rejected"), 0);
    ck_assert_int_eq(exported(d, "w-1", "signal", "accepted"), CALLS);
    ck_assert_int_eq(exported(d, "w-1", "signal", "rejected"), CALLERS * CALLS);
    hf_close(d);
    hf_test_place_free(place);
}

HF_PG_SUITE_MAIN("engine/command", HF_WAYS(b026_unknown_signal_is_a_durable_row),
                 HF_WAYS(b029_validation_errors_say_what_is_wrong),
                 HF_WAYS(b027_a_closed_run_refuses), HF_WAYS(an_unknown_instance_keeps_nothing),
                 HF_WAYS(b005_second_start_is_rejected),
                 HF_WAYS(b006_existing_open_run_is_returned),
                 HF_WAYS(b007_existing_closed_run_rejects),
                 HF_WAYS(b071_refused_updates_are_in_history), HF_WAYS(b019_context_is_kept),
                 HF_WAYS(b019_embedded_callers_leave_a_print),
                 HF_WAYS(b078_request_id_answers_again),
                 HF_WAYS_SLOW(concurrent_duplicates_have_one_effect, 300))
