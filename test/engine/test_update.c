/* Updates: accepted, applied in the run's own order, answered; and every way in which they are not.
 */
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "lib/kit.h"

typedef struct ledger {
    int64_t total;
} ledger;

static hf_value add_apply(hf_ctx *w, void *state, hf_value args)
{
    ledger *l = state;
    int64_t amount = hf_int(args, "amount", 0);

    l->total += amount;
    if (amount == 13)
        hf_fail(w, "unlucky", "not thirteen");
    return hf_json(w, "{'total': %lld}", (long long)l->total);
}

static const char *add_check(const void *state, hf_value args)
{
    const ledger *l = state;

    return l->total + hf_int(args, "amount", 0) < 0 ? "the total would be below zero" : NULL;
}

static hf_value long_apply(hf_ctx *w, void *state, hf_value args)
{
    char text[4001];

    (void)state;
    (void)args;
    memset(text, 'y', 4000);
    text[4000] = '\0';
    return hf_json(w, "%s", text);
}

static hf_value total_read(hf_mem *mem, const void *state, hf_value args)
{
    const ledger *l = state;

    return hf_json(mem, "%lld", (long long)(l->total * hf_int(args, "factor", 1)));
}

static hf_value keeps(hf_ctx *w, hf_value in)
{
    (void)in;
    (void)hf_receive(w, "go");
    (void)hf_receive(w, "end");
    return hf_json(w, "%lld", (long long)((ledger *)hf_state(w))->total);
}

static const hf_signal_def signals[] = {{.name = "go"}, {.name = "end"}, {0}};
static const hf_update_def updates[] = {{.name = "add",
                                         .params = "amount:int, note:string=none",
                                         .apply = add_apply,
                                         .check = add_check},
                                        {.name = "put", .params = "amount:int", .apply = add_apply},
                                        {.name = "long", .apply = long_apply},
                                        {0}};
static const hf_query_def queries[] = {
    {.name = "total", .params = "factor:int=1", .read = total_read}, {0}};
static const hf_workflow_def workflows[] = {{.type = "ledger",
                                             .run = keeps,
                                             .state_size = sizeof(ledger),
                                             .signals = signals,
                                             .updates = updates,
                                             .queries = queries},
                                            {0}};
static const hf_app app = {.name = "updates", .workflows = workflows};
static const hf_workflow_def no_workflows[] = {{.type = "else", .run = keeps}, {0}};
static const hf_app other = {.name = "updates", .workflows = no_workflows};

static hf_engine *opened(hf_engine_kind kind)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "ledger", NULL, .id = "l-1"));
    hf_kit_ok(d, hf_test_drain(d));
    return d;
}

static hf_value add(hf_engine *d, int amount)
{
    return hf_json(d, "{'workflow_id': 'l-1', 'name': 'add', 'arguments': {'amount': %d}}", amount);
}

static const char *total(hf_engine *d)
{
    hf_value out = NULL;

    hf_kit_ok(d, hf_query(d, "l-1", "total", NULL, &out));
    return hf_show(d, out);
}

/* Accepted, applied and answered with the result; defaults are filled in before it is recorded. */
HF_EVERY_WAY(b063_b069_update_completes)
{
    hf_engine *d = opened(kind);
    hf_command_result out = hf_kit_ask(d, "update", add(d, 5));

    ck_assert(out.accepted);
    ck_assert_str_eq(out.outcome, "update_completed");
    ck_assert_str_eq(hf_str(out.detail, "update_status", ""), "completed");
    ck_assert_str_eq(hf_str(out.detail, "update_name", ""), "add");
    ck_assert_str_eq(hf_str(out.detail, "wait_for", ""), "completed");
    ck_assert_int_eq(hf_int(out.detail, "result.total", 0), 5);
    ck_assert_str_eq(hf_str(out.detail, "update_id", ""), out.command_id);
    ck_assert_str_eq(hf_kit_said(d, "l-1", "UpdateAccepted", 0, HF_KEY_ARGUMENTS),
                     "{\"amount\":5,\"note\":\"none\"}");
    ck_assert_int_eq(hf_test_count(d, "l-1", "UpdateApplied"), 1);
    ck_assert_int_eq(hf_test_count(d, "l-1", "UpdateCompleted"), 1);
    hf_test_crash(d);
    ck_assert_str_eq(total(d), "5");
    hf_kit_close(d);
}

/* The declared name is the name: what the function is called is none. */
HF_EVERY_WAY(b064_only_the_declared_name)
{
    hf_engine *d = opened(kind);
    hf_command_result out =
        hf_kit_ask(d, "update", hf_json(d, "{'workflow_id': 'l-1', 'name': 'add_apply'}"));

    ck_assert_str_eq(out.outcome, "rejected_unknown_update");
    hf_kit_close(d);
}

/* Who waits for acceptance only is answered before the update is applied, and can look it up. */
HF_EVERY_WAY(b065_b067_accepted_then_looked_up)
{
    hf_engine *d = opened(kind);
    hf_command_result out =
        hf_kit_ask(d, "update",
                   hf_json(d, "{'workflow_id': 'l-1', 'name': 'put', 'arguments': [2], 'wait_for': "
                              "'accepted'}"));
    hf_value look = hf_json(d, "{'workflow_id': 'l-1', 'update_id': %s}", out.command_id);
    hf_command_result none;

    ck_assert(out.accepted);
    ck_assert_ptr_null(out.outcome);
    ck_assert_str_eq(hf_str(out.detail, "update_status", ""), "accepted");
    out = hf_kit_ask(d, "update_status", look);
    ck_assert_str_eq(hf_str(out.detail, "wait_for", ""), "status");
    ck_assert_str_eq(hf_str(out.detail, "update_status", ""), "accepted");
    hf_kit_ok(d, hf_test_drain(d));
    out = hf_kit_ask(d, "update_status", look);
    ck_assert_str_eq(out.outcome, "update_completed");
    ck_assert_int_eq(hf_int(out.detail, "result.total", 0), 2);
    ck_assert_int_eq(hf_command(d, "update_status",
                                hf_json(d, "{'workflow_id': 'l-1', 'update_id': 'x'}"),
                                hf_mem_of_engine(d), &none),
                     HF_NOTFOUND);
    hf_kit_close(d);
}

/* A wait that is over leaves the update open, and says so. */
HF_EVERY_WAY(b066_wait_timed_out)
{
    hf_engine *d = opened(kind);
    hf_command_result out;

    hf_kit_ok(d, hf_set(d, "update_behind_signal", "queue"));
    hf_kit_ok(d, hf_signal(d, "l-1", "end", NULL)); /* nobody waits for it yet */
    out = hf_kit_ask(d, "update",
                     hf_json(d, "{'workflow_id': 'l-1', 'name': 'add', 'arguments': [2], "
                                "'wait_timeout_seconds': 1}"));
    ck_assert(out.accepted);
    ck_assert_ptr_null(out.outcome);
    ck_assert(hf_bool(out.detail, "wait_timed_out", false));
    ck_assert_str_eq(hf_str(out.detail, "update_status", ""), "accepted");
    ck_assert_int_eq(hf_int(out.detail, "wait_timeout_seconds", 0), 1);
    for (int i = 0; i < 2; i++) { /* who does not say waits for 10 s, or as long as it is set to */
        out = hf_kit_ask(d, "update",
                         hf_json(d, "{'workflow_id': 'l-1', 'name': 'add', 'arguments': [2]}"));
        ck_assert(hf_bool(out.detail, "wait_timed_out", false));
        ck_assert_int_eq(hf_int(out.detail, "wait_timeout_seconds", 0), i ? 3 : 10);
        hf_kit_ok(d, hf_set(d, "update_wait_seconds", "3"));
    }
    hf_kit_close(d);
}

/* Waiting for a status is a lookup, not a way to send; a wait is at least a second. */
HF_EVERY_WAY(b068_bad_waits_are_refused)
{
    hf_engine *d = opened(kind);
    hf_command_result out;
    hf_value bad[] = {hf_json(d,
                              "{'workflow_id': 'l-1', 'name': 'add', 'arguments': [2], 'wait_for': "
                              "'status'}"),
                      hf_json(d, "{'workflow_id': 'l-1', 'name': 'add', 'arguments': [2], "
                                 "'wait_timeout_seconds': 0}")};

    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(hf_command(d, "update", bad[i], hf_mem_of_engine(d), &out), HF_INVALID);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM command WHERE type = 3"), 0);
    hf_kit_close(d);
}

/* A body that fails leaves the run open and its state as it was, now and after every replay. */
HF_EVERY_WAY(b070_failed_body_changes_nothing)
{
    const hf_history_opts whole = {.size_ = sizeof(whole), .id = "l-1"};
    hf_engine *d = opened(kind);
    hf_value page = NULL;
    hf_value events;
    hf_command_result out;

    out = hf_kit_ask(d, "update", add(d, 4));
    out = hf_kit_ask(d, "update", add(d, 13));
    ck_assert(out.accepted);
    ck_assert_str_eq(out.outcome, "update_failed");
    ck_assert_str_eq(hf_str(out.detail, "failure_type", ""), "unlucky");
    ck_assert_str_eq(hf_str(out.detail, "failure_message", ""), "not thirteen");
    hf_kit_ok(d, hf_history_with(d, hf_mem_of_engine(d), &page, &whole));
    events = hf_get(page, "events");
    ck_assert_str_eq(hf_str(hf_at(events, hf_len(events) - 1), "payload.failure_id", "none"),
                     hf_str(out.detail, "failure_id", ""));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(total(d), "4");
    hf_test_crash(d);
    ck_assert_str_eq(total(d), "4");
    ck_assert_int_eq(hf_test_count(d, "l-1", "UpdateApplied"), 1);
    hf_kit_ok(d, hf_signal(d, "l-1", "go", NULL));
    hf_kit_ok(d, hf_signal(d, "l-1", "end", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "l-1"), "4");
    hf_kit_close(d);
}

/* The validator sees the state and refuses before anything is accepted. */
HF_EVERY_WAY(b071_validator_refuses)
{
    hf_engine *d = opened(kind);
    hf_command_result out = hf_kit_ask(d, "update", add(d, -1));

    ck_assert_str_eq(out.outcome, "rejected_invalid_arguments");
    ck_assert_str_eq(out.reason, "invalid_update_arguments");
    ck_assert_str_eq(hf_str(out.detail, "validation_errors.arguments.0", ""),
                     "the total would be below zero");
    ck_assert_int_eq(hf_test_count(d, "l-1", "UpdateRejected"), 1);
    ck_assert(hf_kit_ask(d, "update", add(d, 3)).accepted);
    ck_assert(hf_kit_ask(d, "update", add(d, -1)).accepted);
    ck_assert_str_eq(total(d), "2");
    hf_kit_close(d);
}

/* The contract of the run is known, the code is not: the update is refused for that. */
HF_EVERY_WAY(b072_definition_unavailable)
{
    hf_engine *d = opened(kind);
    hf_command_result out;

    d = hf_kit_reopen(d, &other);
    out = hf_kit_ask(d, "update",
                     hf_json(d, "{'workflow_id': 'l-1', 'name': 'add', 'arguments': ['x']}"));
    ck_assert_str_eq(out.outcome, "rejected_invalid_arguments");
    out = hf_kit_ask(d, "update", add(d, 1));
    ck_assert_str_eq(out.outcome, "rejected_workflow_definition_unavailable");
    ck_assert_str_eq(out.reason, "workflow_definition_unavailable");
    hf_kit_close(d);
}

/* While a signal that came before is not applied an update is refused. */
HF_EVERY_WAY(b074_pending_signal_refuses)
{
    hf_engine *d = opened(kind);
    hf_command_result out;

    hf_kit_ok(d, hf_signal(d, "l-1", "go", NULL));
    out = hf_kit_ask(d, "update", add(d, 1));
    ck_assert_str_eq(out.outcome, "rejected_pending_signal");
    ck_assert_str_eq(out.reason, "earlier_signal_pending");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert(hf_kit_ask(d, "update", add(d, 1)).accepted);
    hf_kit_close(d);
}

/* Told to queue, the engine takes it and applies it after that signal, in the order of commands. */
HF_EVERY_WAY(b074_pending_signal_queues)
{
    hf_engine *d = opened(kind);
    hf_command_result signal;
    hf_command_result out;

    hf_kit_ok(d, hf_set(d, "update_behind_signal", "queue"));
    signal = hf_kit_ask(d, "signal", hf_json(d, "{'workflow_id': 'l-1', 'name': 'end'}"));
    out =
        hf_kit_ask(d, "update",
                   hf_json(d, "{'workflow_id': 'l-1', 'name': 'put', 'arguments': [7], 'wait_for': "
                              "'accepted'}"));
    ck_assert_str_eq(hf_kit_said(d, "l-1", "UpdateAccepted", 0, HF_KEY_ORDERING_STATE), "queued");
    ck_assert_str_eq(
        hf_kit_said(d, "l-1", "UpdateAccepted", 0, HF_KEY_QUEUED_BEHIND_COMMAND_SEQUENCE), "2");
    ck_assert_str_eq(hf_kit_said(d, "l-1", "UpdateAccepted", 0, HF_KEY_QUEUED_BEHIND_COMMAND_TYPE),
                     "signal");
    ck_assert(signal.accepted);
    hf_kit_ok(d, hf_test_drain(d));
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_test_count(d, "l-1", "UpdateApplied"), 0);
    hf_kit_ok(d, hf_signal(d, "l-1", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "l-1"), "completed");
    out = hf_kit_ask(d, "update_status",
                     hf_json(d, "{'workflow_id': 'l-1', 'update_id': %s}", out.command_id));
    ck_assert_str_eq(hf_str(out.detail, "update_status", ""), "failed");
    hf_kit_close(d);
}

/* What is known of a failed update is in history: without its row the export tells the same. */
HF_EVERY_WAY(b076_failure_survives_lost_rows)
{
    hf_engine *d = opened(kind);
    const char *json = NULL;

    ck_assert_str_eq(hf_kit_ask(d, "update", add(d, 13)).outcome, "update_failed");
    hf_kit_sql(d, "CREATE TABLE kept AS SELECT * FROM command WHERE type = 3");
    hf_kit_sql(d, "DELETE FROM command WHERE type = 3");
    hf_kit_ok(d, hf_export(d, hf_mem_of_engine(d), &json, "l-1"));
    ck_assert_ptr_nonnull(strstr(json, "not thirteen"));
    hf_kit_sql(d, "INSERT INTO command SELECT * FROM kept");
    hf_kit_sql(d, "DROP TABLE kept");
    hf_kit_close(d);
}

/* Too many updates that are not answered: the next is refused. */
HF_EVERY_WAY(b081_pending_updates_have_a_limit)
{
    hf_engine *d = opened(kind);
    hf_value request = hf_json(d, "{'workflow_id': 'l-1', 'name': 'long', "
                                  "'wait_for': 'accepted'}");
    hf_command_result out;

    hf_kit_ok(d, hf_set(d, "pending_update_count", "2"));
    for (int i = 0; i < 2; i++)
        ck_assert(hf_kit_ask(d, "update", request).accepted);
    out = hf_kit_ask(d, "update", request);
    ck_assert_str_eq(out.reason, "structural_limit_exceeded");
    ck_assert_str_eq(hf_str(out.detail, "structural_limit_kind", ""), "pending_update_count");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert(hf_kit_ask(d, "update", request).accepted);
    hf_kit_close(d);
}

/* A long result has a row of its own and comes back whole. */
HF_EVERY_WAY(b082_long_result_is_apart)
{
    hf_engine *d = opened(kind);
    hf_command_result out =
        hf_kit_ask(d, "update", hf_json(d, "{'workflow_id': 'l-1', 'name': 'long'}"));

    ck_assert_uint_eq(hf_len(hf_get(out.detail, "result")), 4000);
    ck_assert_int_ge(hf_kit_number(d, "SELECT count(*) FROM payload"), 1);
    hf_kit_close(d);
}

/* The same request id is the same update, with its answer as it stands. */
HF_EVERY_WAY(b078_update_is_sent_once)
{
    hf_engine *d = opened(kind);
    hf_value request = hf_json(d, "{'workflow_id': 'l-1', 'name': 'add', 'arguments': [1], "
                                  "'request_id': 'r'}");
    hf_command_result first = hf_kit_ask(d, "update", request);
    hf_command_result second = hf_kit_ask(d, "update", request);

    ck_assert_str_eq(second.command_id, first.command_id);
    ck_assert_str_eq(second.outcome, "update_completed");
    ck_assert_int_eq(hf_int(second.detail, "result.total", 0), 1);
    ck_assert_str_eq(total(d), "1");
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/update", HF_WAYS(b063_b069_update_completes),
                 HF_WAYS(b064_only_the_declared_name), HF_WAYS(b065_b067_accepted_then_looked_up),
                 HF_WAYS(b066_wait_timed_out), HF_WAYS(b068_bad_waits_are_refused),
                 HF_WAYS(b070_failed_body_changes_nothing), HF_WAYS(b071_validator_refuses),
                 HF_WAYS(b072_definition_unavailable), HF_WAYS(b074_pending_signal_refuses),
                 HF_WAYS(b074_pending_signal_queues), HF_WAYS(b076_failure_survives_lost_rows),
                 HF_WAYS(b078_update_is_sent_once), HF_WAYS(b081_pending_updates_have_a_limit),
                 HF_WAYS(b082_long_result_is_apart))
