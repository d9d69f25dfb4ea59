/* Signals: what the code receives, in which order, under which wait; and what is refused. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "lib/kit.h"

static hf_value one(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_receive(w, "any");
}

static hf_value three(hf_ctx *w, hf_value in)
{
    hf_value a = hf_receive(w, "any");
    hf_value b = hf_receive(w, "any");
    hf_value c = hf_receive(w, "any");

    (void)in;
    return hf_json(w, "[%p, %p, %p]", (const void *)a, (const void *)b, (const void *)c);
}

static hf_value backwards(hf_ctx *w, hf_value in)
{
    hf_value b = hf_receive(w, "named");
    hf_value a = hf_receive(w, "any");

    (void)in;
    return hf_json(w, "[%p, %p]", (const void *)a, (const void *)b);
}

static hf_value timed(hf_ctx *w, hf_value in)
{
    hf_value value = hf_receive(w, "any", .timeout = hf_int(in, "ms", 1000));

    return hf_json(w, "{'got': %p}", (const void *)value);
}

static hf_value again(hf_ctx *w, hf_value in)
{
    hf_value value = hf_receive(w, "any");

    if (hf_int(in, "left", 0) > 0)
        hf_continue_as_new(w, hf_json(w, "{'left': %lld}", (long long)hf_int(in, "left", 0) - 1));
    return value;
}

static const hf_signal_def signals[] = {
    {.name = "any"}, {.name = "named", .params = "who:string, times:int=1"}, {0}};
static const hf_workflow_def workflows[] = {
    {.type = "one", .run = one, .signals = signals},
    {.type = "three", .run = three, .signals = signals},
    {.type = "backwards", .run = backwards, .signals = signals},
    {.type = "timed", .run = timed, .params = "ms:int", .signals = signals},
    {.type = "again", .run = again, .params = "left:int", .signals = signals},
    {0}};
static const hf_app app = {.name = "signals", .workflows = workflows};
static const hf_workflow_def no_workflows[] = {{.type = "else", .run = one}, {0}};
static const hf_app other = {.name = "signals", .workflows = no_workflows};

/* What the nth event of a type shows under a key once it is composed for the wire. */
static const char *shown(hf_engine *d, const char *id, const char *type, int nth, const char *key)
{
    const hf_json_limits limits = {.bytes_max = 16 * 1024 * 1024};
    const char *json = NULL;
    hf_value bundle = NULL;
    hf_value events;
    hf_err err;

    hf_kit_ok(d, hf_export(d, hf_mem_of_engine(d), &json, id));
    hf_test_ok(hf_json_read(hf_mem_of_engine(d), hf_slice_of(json), &limits, &bundle, &err), &err,
               "read a bundle");
    events = hf_get(bundle, "history_events");
    for (size_t i = 0; i < hf_len(events); i++) {
        hf_value event = hf_at(events, i);

        if (strcmp(hf_str(event, "type", ""), type) == 0 && nth-- == 0)
            return hf_str(hf_get(event, "payload"), key, "");
    }
    return "no such event";
}

/* No argument is received as true, one as itself, several as a list. */
HF_EVERY_WAY(b022_payload_rules)
{
    hf_engine *d = hf_kit_open(kind, &app);

    for (int i = 0; i < 3; i++) {
        static const char *const ids[] = {"n-0", "n-1", "n-2"};
        static const char *const results[] = {"true", "7", "[7,8]"};
        const hf_value args[] = {NULL, hf_json(d, "[7]"), hf_json(d, "[7, 8]")};

        hf_kit_ok(d, hf_start(d, "one", NULL, .id = ids[i]));
        hf_kit_ok(d, hf_test_drain(d));
        hf_kit_ok(d, hf_signal(d, ids[i], "any", args[i]));
        hf_kit_ok(d, hf_test_drain(d));
        ck_assert_str_eq(hf_kit_result(d, ids[i]), results[i]);
    }
    hf_kit_close(d);
}

/* Signals of one name that came before they were waited for are applied as they were numbered, also
   when the process ends in between. */
HF_EVERY_WAY(b023_buffered_signals_keep_their_order)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "three", NULL, .id = "t-1"));
    for (int i = 1; i <= 3; i++)
        hf_kit_ok(d, hf_signal(d, "t-1", "any", hf_json(d, "[%d]", i)));
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "t-1"), "[1,2,3]");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM command WHERE type = 2 AND state = 2 "
                                      "AND message_seq BETWEEN 1 AND 3"),
                     3);
    hf_kit_close(d);
}

/* The wait that a signal was received for is named the same when it opens and when it ends. */
HF_EVERY_WAY(b024_wait_id_is_kept)
{
    hf_engine *d = hf_kit_open(kind, &app);
    char early[64];

    hf_kit_ok(d, hf_start(d, "one", NULL, .id = "early"));
    hf_kit_ok(d, hf_signal(d, "early", "any", NULL));
    (void)snprintf(early, sizeof(early), "%s",
                   shown(d, "early", "SignalReceived", 0, "signal_wait_id"));
    ck_assert_ptr_nonnull(strstr(early, "signal-command:"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(shown(d, "early", "SignalReceived", 0, "signal_wait_id"), early);
    ck_assert_str_eq(shown(d, "early", "SignalWaitOpened", 0, "signal_wait_id"), early);
    ck_assert_str_eq(shown(d, "early", "SignalApplied", 0, "signal_wait_id"), early);
    hf_kit_ok(d, hf_start(d, "one", NULL, .id = "late"));
    hf_kit_ok(d, hf_test_drain(d));
    (void)snprintf(early, sizeof(early), "%s",
                   shown(d, "late", "SignalWaitOpened", 0, "signal_wait_id"));
    ck_assert_uint_eq(strlen(early), 26);
    hf_kit_ok(d, hf_signal(d, "late", "any", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(shown(d, "late", "SignalReceived", 0, "signal_wait_id"), early);
    ck_assert_str_eq(shown(d, "late", "SignalApplied", 0, "signal_wait_id"), early);
    hf_kit_close(d);
}

/* Waits for the same name, one after the other, are different waits. */
HF_EVERY_WAY(b025_repeated_waits_differ)
{
    hf_engine *d = hf_kit_open(kind, &app);
    char first[64];

    hf_kit_ok(d, hf_start(d, "three", NULL, .id = "t-1"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_signal(d, "t-1", "any", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    (void)snprintf(first, sizeof(first), "%s",
                   shown(d, "t-1", "SignalWaitOpened", 0, "signal_wait_id"));
    ck_assert_str_ne(shown(d, "t-1", "SignalWaitOpened", 1, "signal_wait_id"), first);
    hf_kit_close(d);
}

/* A run that was continued refuses what is aimed at it and says which run would take it. */
HF_EVERY_WAY(b028_b073_historical_run_refuses)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result first = hf_kit_ask(
        d, "start",
        hf_json(d, "{'workflow_id': 'a-1', 'workflow_type': 'again', 'input': {'left': 1}}"));
    hf_command_result out;

    hf_kit_ok(d, hf_signal(d, "a-1", "any", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    for (int i = 0; i < 2; i++) {
        out = hf_kit_ask(
            d, i ? "update" : "signal",
            hf_json(d, "{'workflow_id': 'a-1', 'run_id': %s, 'name': 'any'}", first.run_id));
        ck_assert_str_eq(out.outcome, "rejected_not_current");
        ck_assert_str_eq(out.reason, "selected_run_not_current");
        ck_assert_str_eq(hf_str(out.detail, "requested_run_id", ""), first.run_id);
        ck_assert_str_ne(hf_str(out.detail, "resolved_run_id", ""), first.run_id);
        ck_assert_str_eq(hf_str(out.detail, "target_scope", ""), "run");
    }
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM command c JOIN run r ON r.key = c.run "
                                      "WHERE c.status = 2 AND c.scope = 2 AND r.number = 1"),
                     2);
    out = hf_kit_ask(d, "signal",
                     hf_json(d, "{'workflow_id': 'a-1', 'run_id': %s, 'name': 'any'}",
                             hf_str(out.detail, "resolved_run_id", "")));
    ck_assert(out.accepted);
    hf_kit_close(d);
}

/* A map names the arguments where they are declared; where they are not it is one value. */
HF_EVERY_WAY(b030_maps_are_named_arguments_where_declared)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "backwards", NULL, .id = "b-1"));
    hf_kit_ok(d, hf_signal(d, "b-1", "any", hf_json(d, "{'x': 1}")));
    hf_kit_ok(d, hf_signal(d, "b-1", "named", hf_json(d, "{'times': 2, 'who': 'Ada'}")));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "b-1"), "[{\"x\":1},{\"who\":\"Ada\",\"times\":2}]");
    hf_kit_close(d);
}

/* The contract is the one that the run was started with, also when its code is gone. */
HF_EVERY_WAY(b031_contract_comes_from_history)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result out;

    hf_kit_ok(d, hf_start(d, "backwards", NULL, .id = "b-1"));
    hf_kit_ok(d, hf_test_drain(d));
    d = hf_kit_reopen(d, &other);
    out =
        hf_kit_ask(d, "signal",
                   hf_json(d, "{'workflow_id': 'b-1', 'name': 'named', 'arguments': {'who': 7}}"));
    ck_assert_str_eq(out.outcome, "rejected_invalid_arguments");
    out = hf_kit_ask(d, "signal",
                     hf_json(d, "{'workflow_id': 'b-1', 'name': 'named', 'arguments': ['Ada']}"));
    ck_assert_str_eq(out.outcome, "signal_received");
    d = hf_kit_reopen(d, &app);
    hf_kit_ok(d, hf_signal(d, "b-1", "any", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "b-1"), "[true,{\"who\":\"Ada\",\"times\":1}]");
    hf_kit_close(d);
}

/* A signal that nobody waits for leaves the wait for another name as it is. */
HF_EVERY_WAY(b036_unrelated_signal_wakes_nobody)
{
    hf_engine *d = hf_kit_open(kind, &app);
    int64_t events;

    hf_kit_ok(d, hf_start(d, "backwards", NULL, .id = "b-1"));
    hf_kit_ok(d, hf_test_drain(d));
    events = hf_kit_number(d, "SELECT last_seq FROM run");
    hf_kit_ok(d, hf_signal(d, "b-1", "any", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_kit_number(d, "SELECT last_seq FROM run"), events + 1);
    ck_assert_str_eq(hf_test_status(d, "b-1"), "waiting signal:named");
    hf_kit_close(d);
}

/* What came first in history decides, whatever is looked at first. */
HF_EVERY_WAY(b040_signal_or_timeout_by_history)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "timed", hf_json(d, "{'ms': 1000}"), .id = "signal"));
    hf_kit_ok(d, hf_start(d, "timed", hf_json(d, "{'ms': 1000}"), .id = "timeout"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_skip(d, hf_seconds(2));
    hf_kit_ok(d, hf_signal(d, "signal", "any", hf_json(d, "[1]")));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "signal"), "{\"got\":1}");
    hf_kit_ok(d, hf_test_advance(d, 1));
    ck_assert_str_eq(hf_kit_result(d, "timeout"), "{\"got\":null}");
    ck_assert_int_eq(hf_signal(d, "timeout", "any", NULL), HF_REJECTED);
    hf_kit_close(d);
}

/* A timeout of zero is over at once, unless the signal is there. */
HF_EVERY_WAY(b042_zero_timeout)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "timed", hf_json(d, "{'ms': -1}"), .id = "empty"));
    hf_kit_ok(d, hf_start(d, "timed", hf_json(d, "{'ms': -1}"), .id = "full"));
    hf_kit_ok(d, hf_signal(d, "full", "any", hf_json(d, "[1]")));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "empty"), "{\"got\":null}");
    ck_assert_str_eq(hf_kit_result(d, "full"), "{\"got\":1}");
    hf_kit_close(d);
}

/* Too many signals that are not applied: the next is refused, with the numbers; the run goes on. */
HF_EVERY_WAY(b043_pending_signals_have_a_limit)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value request = hf_json(d, "{'workflow_id': 't-1', 'name': 'any'}");
    hf_command_result out;

    hf_kit_ok(d, hf_set(d, "pending_signal_count", "3"));
    ck_assert_int_eq(hf_set(d, "pending_signal_count", "many"), HF_INVALID);
    ck_assert_int_eq(hf_set(d, "pending_signals", "3"), HF_INVALID);
    hf_kit_ok(d, hf_start(d, "three", NULL, .id = "t-1"));
    for (int i = 0; i < 3; i++)
        ck_assert(hf_kit_ask(d, "signal", request).accepted);
    out = hf_kit_ask(d, "signal", request);
    ck_assert(!out.accepted);
    ck_assert_str_eq(out.reason, "structural_limit_exceeded");
    ck_assert_str_eq(hf_str(out.detail, "structural_limit_kind", ""), "pending_signal_count");
    ck_assert_int_eq(hf_int(out.detail, "structural_limit_value", 0), 3);
    ck_assert_int_eq(hf_int(out.detail, "structural_limit_configured", 0), 3);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "t-1"), "completed");
    hf_kit_close(d);
}

/* A payload that is too big is refused, and nothing of it is kept. */
HF_EVERY_WAY(b044_oversize_payload_is_refused)
{
    hf_engine *d = hf_kit_open(kind, &app);
    char text[2000];
    hf_command_result out;

    hf_kit_ok(d, hf_set(d, "payload_size_bytes", "100"));
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    hf_kit_ok(d, hf_start(d, "one", NULL, .id = "o-1"));
    out = hf_kit_ask(d, "signal",
                     hf_json(d, "{'workflow_id': 'o-1', 'name': 'any', 'arguments': [%s]}", text));
    ck_assert_str_eq(out.reason, "structural_limit_exceeded");
    ck_assert_str_eq(hf_str(out.detail, "structural_limit_kind", ""), "payload_size_bytes");
    ck_assert_int_eq(hf_kit_number(d, "SELECT max(length(body)) FROM command") < 1000, 1);
    ck_assert_int_eq(hf_test_count(d, "o-1", "SignalReceived"), 0);
    ck_assert_int_eq(hf_start(d, "timed", hf_json(d, "{'ms': 1}"), .id = "fits"), HF_OK);
    ck_assert_int_eq(hf_start(d, "one", hf_json(d, "[%s]", text), .id = "big"), HF_INVALID);
    hf_kit_close(d);
}

/* Signals go to the newest run; those that were applied are not applied again, and those that were
   not go along. */
HF_EVERY_WAY(b045_b046_newest_run_receives)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "again", hf_json(d, "{'left': 2}"), .id = "a-1"));
    for (int i = 1; i <= 2; i++)
        hf_kit_ok(d, hf_signal(d, "a-1", "any", hf_json(d, "[%d]", i)));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "a-1"), "waiting signal:any");
    ck_assert_int_eq(hf_kit_number(d, "SELECT max(number) FROM run"), 3);
    ck_assert_int_eq(hf_kit_number(d, "SELECT message_cursor FROM run WHERE number = 3"), 2);
    hf_kit_ok(d, hf_signal(d, "a-1", "any", hf_json(d, "[3]")));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "a-1"), "3");
    ck_assert_int_eq(hf_kit_number(d, "SELECT message_seq FROM run WHERE number = 3"), 3);
    hf_kit_close(d);
}

/* The cursor moves forward only: a message that was overtaken moves nothing. */
HF_EVERY_WAY(b047_cursor_moves_forward_only)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "backwards", NULL, .id = "b-1"));
    hf_kit_ok(d, hf_signal(d, "b-1", "any", NULL));
    hf_kit_ok(d, hf_signal(d, "b-1", "named", hf_json(d, "['Ada']")));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "b-1"), "completed");
    ck_assert_int_eq(hf_test_count(d, "b-1", "MessageCursorAdvanced"), 1);
    ck_assert_str_eq(hf_kit_said(d, "b-1", "MessageCursorAdvanced", 0, HF_KEY_NEW_POSITION), "2");
    ck_assert_int_eq(hf_kit_number(d, "SELECT message_cursor FROM run"), 2);
    hf_kit_close(d);
}

/* A dedup key makes a signal one signal, to one instance; without a key each is its own. */
HF_EVERY_WAY(dedup_key_sends_once)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "three", NULL, .id = "t-1"));
    hf_kit_ok(d, hf_start(d, "three", NULL, .id = "t-2"));
    for (int i = 0; i < 3; i++) {
        hf_kit_ok(d, hf_signal_dedup(d, "t-1", "any", hf_json(d, "[%d]", i), "key"));
        hf_kit_ok(d, hf_test_drain(d));
        hf_test_crash(d);
    }
    hf_kit_ok(d, hf_signal_dedup(d, "t-2", "any", NULL, "key"));
    ck_assert_int_eq(hf_test_count(d, "t-1", "SignalReceived"), 1);
    ck_assert_int_eq(hf_test_count(d, "t-2", "SignalReceived"), 1);
    for (int i = 0; i < 2; i++)
        hf_kit_ok(d, hf_signal_dedup(d, "t-1", "any", hf_json(d, "[%d]", i), NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "t-1"), "[0,0,1]");
    hf_kit_close(d);
}

/* What was named in an earlier run is known to the run that continues it. */
HF_EVERY_WAY(dedup_key_outlives_the_run)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "again", hf_json(d, "{'left': 1}"), .id = "a-1"));
    for (int i = 0; i < 2; i++) {
        hf_kit_ok(d, hf_signal_dedup(d, "a-1", "any", NULL, "key"));
        hf_kit_ok(d, hf_test_drain(d));
    }
    ck_assert_int_eq(hf_kit_number(d, "SELECT max(number) FROM run"), 2);
    ck_assert_str_eq(hf_test_status(d, "a-1"), "waiting signal:any");
    hf_kit_close(d);
}

/* n12: a row of an instance that does not name its open run, but nothing, an older run or one of
   another instance: the command finds the open run, sets the row right, and reaches no other. */
HF_EVERY_WAY(n12_a_drifted_pointer_is_set_right)
{
    static const char *const drifts[] = {
        "UPDATE instance SET current_run = NULL, run_count = 0 WHERE id = 'i'",
        ("UPDATE instance SET run_count = 1, current_run = (SELECT r.key FROM run r WHERE "
         "r.instance = instance.key AND r.number = 1) WHERE id = 'i'"),
        ("UPDATE instance SET current_run = (SELECT r.current_run FROM instance r WHERE r.id = "
         "'other') WHERE id = 'i'")};
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "one", "other", NULL);
    hf_kit_begin(d, "again", "i", hf_json(d, "{'left': 3}"));
    hf_kit_ok(d, hf_signal(d, "i", "any", hf_json(d, "[0]")));
    hf_kit_settle(d);
    for (int i = 0; i < 3; i++) {
        hf_kit_sql(d, drifts[i]);
        hf_kit_settle(d); /* a start of the engine does not know better */
        hf_kit_ok(d, hf_signal(d, "i", "any", hf_json(d, "[%d]", i + 1)));
        hf_kit_settle(d);
        ck_assert_int_eq(hf_kit_number(d,
                                       "SELECT count(*) FROM instance i JOIN run r ON r.instance "
                                       "= i.key WHERE i.id = 'i' AND r.key = i.current_run AND "
                                       "r.number = i.run_count"),
                         1);
    }
    ck_assert_str_eq(hf_kit_result(d, "i"), "3");
    ck_assert_str_eq(hf_test_status(d, "other"), "waiting signal:any");
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/signal", HF_WAYS(b022_payload_rules),
                 HF_WAYS(b023_buffered_signals_keep_their_order), HF_WAYS(b024_wait_id_is_kept),
                 HF_WAYS(b025_repeated_waits_differ), HF_WAYS(b028_b073_historical_run_refuses),
                 HF_WAYS(b030_maps_are_named_arguments_where_declared),
                 HF_WAYS(b031_contract_comes_from_history),
                 HF_WAYS(b036_unrelated_signal_wakes_nobody),
                 HF_WAYS(b040_signal_or_timeout_by_history), HF_WAYS(b042_zero_timeout),
                 HF_WAYS(b043_pending_signals_have_a_limit),
                 HF_WAYS(b044_oversize_payload_is_refused), HF_WAYS(b045_b046_newest_run_receives),
                 HF_WAYS(b047_cursor_moves_forward_only), HF_WAYS(dedup_key_sends_once),
                 HF_WAYS(dedup_key_outlives_the_run), HF_WAYS(n12_a_drifted_pointer_is_set_right))
