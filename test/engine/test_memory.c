/* Memory that runs out anywhere on the path of a command: it is carried out whole or not at all,
   and asking again with the same request id gives the one answer. */
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/value.h"
#include "lib/handlers.h"
#include "lib/kit.h"

enum { ALLOCATIONS_MAX = 20000 };

static hf_value waits(hf_ctx *w, hf_value in)
{
    (void)hf_activity(w, "work", in);
    (void)hf_receive(w, "go");
    (void)hf_receive(w, "go");
    return hf_receive(w, "go");
}

static hf_value note(hf_ctx *w, void *state, hf_value args)
{
    (void)w;
    (void)state;
    return args;
}

static const hf_signal_def signals[] = {{"go", "what:any"}, {0}};
static const hf_update_def updates[] = {{.name = "note", .params = "text:string", .apply = note},
                                        {0}};
static const hf_workflow_def workflows[] = {
    {.type = "waits", .run = waits, .signals = signals, .updates = updates}, {0}};
static const hf_activity_def activities[] = {{.name = "work", .run = hf_echo}, {0}};
static const hf_app app = {.name = "memory", .workflows = workflows, .activities = activities};

/* Commands to one instance, one after the other, and how each must end. */
static const struct {
    const char *command, *request, *outcome;
} orders[] = {
    {"start",
     "{'workflow_id': 'a', 'workflow_type': 'waits', 'request_id': 'r', 'labels': {'k': 'v'},"
     " 'memo': {'m': 1}, 'input': {'n': 1}, 'run_timeout_seconds': 900}",
     "started_new"},
    {"start", "{'workflow_id': 'a', 'workflow_type': 'waits', 'request_id': 'r2'}",
     "rejected_duplicate"},
    {"signal", "{'workflow_id': 'a', 'name': 'go', 'arguments': [1], 'request_id': 'r'}",
     "signal_received"},
    {"signal", "{'workflow_id': 'a', 'name': 'stop', 'request_id': 'r2'}",
     "rejected_unknown_signal"},
    {"signal", "{'workflow_id': 'a', 'name': 'go', 'arguments': {'who': 1}, 'request_id': 'r3'}",
     "rejected_invalid_arguments"},
    {"update",
     "{'workflow_id': 'a', 'name': 'note', 'arguments': ['x'], 'request_id': 'r',"
     " 'wait_for': 'accepted'}",
     NULL},
    {"pause", "{'workflow_id': 'a', 'request_id': 'r', 'reason': 'audit'}", "paused"},
    {"resume", "{'workflow_id': 'a', 'request_id': 'r'}", "resumed"},
    {"repair", "{'workflow_id': 'a', 'request_id': 'r'}", "repair_not_needed"},
    {"fork", "{'workflow_id': 'a', 'request_id': 'r', 'step': 1, 'new_workflow_id': 'f'}",
     "forked"},
    {"reset", "{'workflow_id': 'a', 'request_id': 'r', 'step': 1, 'signals': '*'}", "reset"},
    {"signal_with_start",
     "{'workflow_id': 'b', 'workflow_type': 'waits', 'name': 'go', 'arguments': [2],"
     " 'request_id': 'r'}",
     "signal_received"},
    {"cancel", "{'workflow_id': 'b', 'request_id': 'r', 'reason': 'no more', 'cleanup': true}",
     "cancel_requested"},
    {"terminate", "{'workflow_id': 'a', 'request_id': 'r', 'reason': 'no more'}", "terminated"},
    {"archive", "{'workflow_id': 'a', 'request_id': 'r'}", "archived"},
};

static hf_value parse(hf_engine *d, const char *text)
{
    char copy[512];

    (void)snprintf(copy, sizeof(copy), "%s", text);
    for (char *at = copy; *at; at++)
        if (*at == '\'')
            *at = '"';
    return hf_parse_(hf_mem_of_engine(d), copy, strlen(copy));
}

/* Commands of that kind so far. */
static int64_t rows_of(hf_engine *d, const char *command)
{
    hf_command_type type = HF_COMMAND_TYPE_SIGNAL; /* also of signal_with_start */
    char sql[64];

    (void)hf_command_type_parse(hf_slice_of(command), &type);
    (void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM command WHERE type = %d", (int)type);
    return hf_kit_number(d, sql);
}

/* Every kind of command; each has one row when all is over. */
START_TEST(commands_without_memory)
{
    hf_engine *d = hf_kit_open(HF_ENGINE_SQLITE, &app);

    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        int64_t rows = rows_of(d, orders[i].command);
        hf_value request = parse(d, orders[i].request);
        hf_command_result out = {0};
        hf_status st = HF_NOMEM;

        ck_assert_ptr_nonnull(request);
        for (int64_t nth = 1; st == HF_NOMEM; nth++) {
            hf_fault_arm(HF_FAULT_ALLOC, nth, false);
            st = hf_command(d, orders[i].command, request, hf_mem_of_engine(d), &out);
            hf_fault_arm(HF_FAULT_ALLOC, 0, false);
            ck_assert_msg(st == HF_OK || st == HF_NOMEM, "%s: %s", orders[i].request, hf_errmsg(d));
            ck_assert_msg(nth < ALLOCATIONS_MAX, "%s: %s", orders[i].request, hf_errmsg(d));
        }
        if (orders[i].outcome)
            ck_assert_msg(out.outcome && strcmp(out.outcome, orders[i].outcome) == 0, "%s: %s",
                          orders[i].command, out.outcome ? out.outcome : "none");
        ck_assert_int_eq(rows_of(d, orders[i].command), rows + 1);
        hf_kit_ok(d, hf_test_drain(d));
    }
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1))); /* a lost hint is made up for by a sweep */
    ck_assert_str_eq(hf_test_status(d, "a"), "terminated");
    ck_assert_str_eq(hf_test_status(d, "b"), "cancelled");
    hf_kit_close(d);
}
END_TEST

/* A batch: asked for, shown and worked on. Every item is done once. */
START_TEST(batch_without_memory)
{
    hf_engine *d = hf_kit_open(HF_ENGINE_SQLITE, &app);
    hf_value request = parse(d, "{'command': 'signal', 'workflow_ids': ['a', 'x', 'b'], "
                                "'request': {'name': 'go', 'arguments': [1]}}");
    hf_value out = NULL;
    hf_status st = HF_NOMEM;
    int64_t batches;

    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "a"));
    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "b"));
    hf_kit_ok(d, hf_test_drain(d));
    for (int64_t nth = 1; st == HF_NOMEM; nth++) {
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_batch_start(d, request, hf_mem_of_engine(d), &out);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_msg(st == HF_OK || st == HF_NOMEM, "%s", hf_errmsg(d));
    }
    batches = hf_kit_number(d, "SELECT count(*) FROM batch"); /* answers may have been lost */
    for (int64_t nth = 1; nth < 400; nth += 3) {
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        (void)!hf_test_drain(d);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        hf_kit_skip(d, 1000);
    }
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(5)));
    st = HF_NOMEM;
    for (int64_t nth = 1; st == HF_NOMEM; nth++) {
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_batch_show(d, hf_str(out, "batch_id", ""), hf_mem_of_engine(d), &out);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
    }
    hf_kit_ok(d, st);
    ck_assert_str_eq(hf_str(out, "status", ""), "completed");
    ck_assert_int_eq(hf_int(out, "accepted", 0), 2);
    ck_assert_int_eq(hf_int(out, "not_found", 0), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM command WHERE type = 2"), 2 * batches);
    hf_kit_close(d);
}
END_TEST

/* The deadline, the watchdog and whatever the core does by itself. */
START_TEST(sweeps_without_memory)
{
    hf_engine *d = hf_kit_open(HF_ENGINE_SQLITE, &app);

    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "a"));
    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "b", .run_timeout = hf_minutes(2)));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_signal(d, "a", "go", hf_json(d, "[1]")));
    hf_kit_sql(d, "DELETE FROM task");
    hf_test_crash(d);
    for (int64_t nth = 1; nth < 600; nth += 5) {
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        (void)!hf_test_advance(d, 2000);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
    }
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(5)));
    ck_assert_int_eq(hf_test_count(d, "a", "SignalApplied"), 1);
    ck_assert_int_eq(hf_test_count(d, "b", "WorkflowTimedOut"), 1);
    hf_kit_close(d);
}
END_TEST

HF_PG_SUITE_MAIN("engine/memory", {commands_without_memory, 120}, {batch_without_memory, 60},
                 {sweeps_without_memory, 60})
