/* Why a run is not moving: what it waits for, who has its work, what is wrong with its tasks and
   how it ended. Every code of the catalogue is brought about for real and asked for; those that
   come from the program at hand are test_why_build.c's. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fault.h"
#include "engine/command.h"
#include "engine/core_impl.h"
#include "engine/engine_impl.h"
#include "engine/why_code.h"
#include "lib/handlers.h"

static _Atomic bool released; /* lets the looping workflow go */

static hf_value faulty(hf_act *a, hf_value in)
{
    (void)in;
    return hf_retry(a, "boom", "the card reader is offline");
}

static hf_value caller(hf_ctx *w, hf_value in)
{
    return hf_activity(w, hf_str(in, "activity", "echo"), in, .max_attempts = 3,
                       .heartbeat = hf_int(in, "heartbeat", 0));
}

/* An activity and a child are open at the same time, and then a timer. */
static hf_value busy(hf_ctx *w, hf_value in)
{
    (void)hf_all(w, HF_CHILD("receiver", in, .id = "busy-kid"), HF_ACTIVITY("echo", in));
    hf_sleep(w, hf_hours(1));
    return in;
}

static hf_value failing(hf_ctx *w, hf_value in)
{
    (void)in;
    hf_fail(w, "out_of_tea", "there is no tea");
}

static hf_value again(hf_ctx *w, hf_value in)
{
    if (hf_int(in, "n", 0) == 1)
        return in;
    hf_continue_as_new(w, hf_json(w, "{'n': 1}"));
}

static hf_value one(hf_mem *mem, void *arg)
{
    (void)arg;
    return hf_json_(mem, "1");
}

/* Enough events that the run should continue as new, some hundred a turn. */
static hf_value long_life(hf_ctx *w, hf_value in)
{
    for (int turn = 0; turn < 26; turn++) {
        for (int i = 0; i < 400; i++)
            (void)hf_side_effect(w, "number", one, NULL);
        hf_sleep(w, 1);
    }
    return hf_receive(w, "approved-by", .timeout = hf_int(in, "timeout", 0));
}

static hf_value loop(hf_ctx *w, hf_value in)
{
    (void)in;
    while (!atomic_load(&released))
        ;
    return hf_json(w, "'at last'");
}

static const hf_workflow_def workflows[] = {
    {.type = "receiver", .run = receiver, .signals = APPROVED},
    {.type = "conditional",
     .run = conditional,
     .state_size = sizeof(int),
     .updates = (const hf_update_def[]){{.name = "raise", .apply = raise_stock}, {0}}},
    {.type = "sleeper", .run = sleeper},
    {.type = "parent", .run = parent},
    {.type = "caller", .run = caller},
    {.type = "busy", .run = busy},
    {.type = "failing", .run = failing},
    {.type = "again", .run = again},
    {.type = "loop", .run = loop},
    {.type = "long_life", .run = long_life, .signals = APPROVED},
    {0}};
static const hf_activity_def activities[] = {
    {.name = "echo", .run = hf_echo}, {.name = "faulty", .run = faulty}, {0}};
static const hf_app app = {.name = "test", .workflows = workflows, .activities = activities};

/* Everything but activities: those stay where they are. */
static void pump_without_activities(hf_engine *d)
{
    while (hf_writer_step(d->writer) || hf_core_step(d->core))
        ;
}

/* A run that waits for what it should wait for says so and since when. */
HF_BOTH_ENGINES(why_waits)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "receiver", "a", hf_json(d, "{'timeout': 28800000}"));
    hf_kit_skip(d, hf_minutes(41));
    ck_assert_str_eq(code(d, "a"), "waiting_for_signal");
    ck_assert_str_eq(
        hf_str(why(d, "a"), "text", ""),
        "Waiting for signal approved-by (step 1) since 41 min; timeout in 7 h 19 min.");
    ck_assert_str_eq(hf_str(why(d, "a"), "next.0.action", ""), "signal");
    ck_assert_str_eq(hf_str(why(d, "a"), "next.0.target", ""), "approved-by");
    ck_assert_str_eq(hf_str(why(d, "a"), "since", ""), "2026-01-01T00:00:00.000000Z");
    ck_assert_int_eq(hf_int(why(d, "a"), "evidence.0.event", 0), 3);
    ck_assert_str_eq(hf_str(why(d, "a"), "liveness.wait_kind", ""), "signal");
    ck_assert_str_eq(hf_str(why(d, "a"), "liveness.repair_blocked_reason", ""),
                     "repair_not_needed");
    hf_kit_begin(d, "conditional", "b", hf_json(d, "{}"));
    ck_assert_str_eq(code(d, "b"), "waiting_for_condition");
    ck_assert_str_eq(hf_str(why(d, "b"), "text", ""),
                     "Waiting for a condition (stock) (step 1) since 0 s.");
    hf_kit_begin(d, "sleeper", "c", hf_json(d, "{}"));
    ck_assert_str_eq(code(d, "c"), "waiting_for_timer");
    hf_kit_begin(d, "parent", "d", hf_json(d, "{}"));
    ck_assert_str_eq(code(d, "d"), "waiting_for_child");
    ck_assert_str_eq(hf_str(why(d, "d"), "subject.name", ""), "kid");
    hf_kit_close(d);
}

/* Of several things that are open the first of the published order counts: an activity before a
   child, whichever was asked for first; and what is due is no longer scheduled. */
HF_BOTH_ENGINES(why_precedence)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "busy", hf_json(d, "{}"), .id = "a"));
    pump_without_activities(d);
    ck_assert_str_eq(code(d, "a"), "running_activity");
    ck_assert_str_eq(hf_str(why(d, "a"), "liveness.wait_kind", ""), "activity");
    ck_assert_int_eq(hf_int(why(d, "a"), "liveness.open_wait_count", 0), 2);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "waiting_for_child");
    ck_assert_str_eq(hf_str(why(d, "a"), "liveness.wait_kind", ""), "child");
    hf_kit_ok(d, hf_signal(d, "busy-kid", "approved-by", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "waiting_for_timer");
    hf_kit_skip(d, hf_hours(2));
    ck_assert_str_eq(hf_str(why(d, "a"), "liveness.liveness_state", ""), "timer_task_ready");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "closed_completed");
    hf_kit_close(d);
}

/* A message that came and was not applied yet is what the run is about to do. */
HF_BOTH_ENGINES(why_messages)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;

    hf_kit_begin(d, "conditional", "a", hf_json(d, "{}"));
    (void)!hf_update(d, "a", "raise", hf_json(d, "{}"), 0, &out);
    if (strcmp(hf_test_status(d, "a"), "completed") != 0)
        ck_assert_str_eq(code(d, "a"), "waiting_for_update");
    hf_kit_ok(d, hf_start(d, "receiver", NULL, .id = "b"));
    ck_assert_str_eq(code(d, "b"), "turn_ready");
    hf_kit_close(d);
}

/* The life of an activity, from waiting to running to failing. */
HF_BOTH_ENGINES(why_activities)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "caller", hf_json(d, "{'heartbeat': 60000}"), .id = "a"));
    pump_without_activities(d);
    ck_assert_str_eq(code(d, "a"), "running_activity");
    hf_kit_skip(d, hf_seconds(61));
    ck_assert_str_eq(code(d, "a"), "heartbeat_late");
    hf_kit_begin(d, "caller", "b", hf_json(d, "{'activity': 'faulty'}"));
    ck_assert_str_eq(code(d, "b"), "retrying_activity");
    ck_assert_ptr_nonnull(strstr(hf_str(why(d, "b"), "text", ""), "the card reader is offline"));
    hf_kit_begin(d, "caller", "c", hf_json(d, "{'activity': 'nobody'}"));
    ck_assert_str_eq(code(d, "c"), "queued_no_worker");
    hf_kit_close(d);
}

/* Every place is taken: the next activity waits behind the others. */
HF_BOTH_ENGINES(why_queued_behind)
{
    hf_engine *d = hf_kit_open(kind, &app);

    while (hf_pool_reserve(d->core->pool))
        ;
    hf_kit_ok(d, hf_start(d, "caller", NULL, .id = "a"));
    pump_without_activities(d);
    ck_assert_str_eq(code(d, "a"), "queued_behind");
    hf_kit_close(d);
}

/* A deadline that passed while nobody looked. */
HF_BOTH_ENGINES(why_deadline_passed)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start_with(d, "receiver",
                               &(hf_start_opts){.size_ = sizeof(hf_start_opts),
                                                .id = "a",
                                                .run_timeout = hf_seconds(5)}));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_skip(d, hf_seconds(6));
    ck_assert_str_eq(code(d, "a"), "deadline_passed");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "closed_timed_out");
    hf_kit_close(d);
}

/* A row that is gone is named, with what it stood for. */
HF_BOTH_ENGINES(why_task_missing)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "sleeper", "a", hf_json(d, "{}"));
    hf_kit_sql(d, "DELETE FROM timer");
    ck_assert_str_eq(code(d, "a"), "task_missing");
    ck_assert_str_eq(hf_str(why(d, "a"), "liveness.liveness_state", ""), "repair_needed");
    ck_assert_str_eq(hf_str(why(d, "a"), "liveness.wait_kind", ""), "timer");
    hf_kit_ok(d, hf_terminate(d, "a", "test"));
    hf_kit_ok(d, hf_start(d, "caller", NULL, .id = "b"));
    pump_without_activities(d);
    hf_kit_sql(d, "DELETE FROM activity");
    ck_assert_str_eq(code(d, "b"), "running_unrecorded");
    ck_assert_str_eq(hf_str(why(d, "b"), "liveness.repair_blocked_reason", ""),
                     "repair_not_needed");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "b"), "closed_completed");
    hf_kit_close(d);
}

/* Each way to be over has its own word. */
HF_BOTH_ENGINES(why_closed)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "failing", "a", hf_json(d, "{}"));
    ck_assert_str_eq(code(d, "a"), "closed_failed");
    ck_assert_str_eq(hf_str(why(d, "a"), "text", ""), "Failed 0 s ago: there is no tea.");
    hf_kit_begin(d, "receiver", "b", hf_json(d, "{}"));
    hf_kit_ok(d, hf_cancel(d, "b", "not wanted"));
    ck_assert_str_eq(code(d, "b"), "closed_cancelled");
    hf_kit_begin(d, "receiver", "c", hf_json(d, "{}"));
    hf_kit_ok(d, hf_terminate(d, "c", "not wanted"));
    ck_assert_str_eq(code(d, "c"), "closed_terminated");
    hf_kit_close(d);
}

/* Each run of an instance can be asked about by its number. */
HF_BOTH_ENGINES(why_closed_continued)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;

    hf_kit_begin(d, "again", "a", hf_json(d, "{}"));
    ck_assert_str_eq(code(d, "a"), "closed_completed");
    ck_assert_str_eq(code(d, "a#1"), "closed_continued");
    ck_assert_str_eq(hf_str(why(d, "a#1"), "liveness.repair_blocked.label", ""), "Historical Run");
    ck_assert_int_eq(hf_why(d, "a#3", hf_mem_of_engine(d), &out), HF_NOTFOUND);
    ck_assert_int_eq(hf_why(d, "a#x", hf_mem_of_engine(d), &out), HF_INVALID);
    hf_kit_close(d);
}

static void command(hf_engine *d, hf_command_type type, const char *id)
{
    const hf_request request = {.type = type, .id = hf_slice_of(id), .reason = HF_SLICE("a test")};
    hf_reply reply;
    hf_err err = {0};

    hf_test_ok(hf_engine_command(d, &request, hf_mem_of_engine(d), &reply, &err), &err, "command");
    ck_assert_int_eq(reply.status, HF_COMMAND_STATUS_ACCEPTED);
}

/* An operator holds the run. */
HF_BOTH_ENGINES(why_paused)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "receiver", "a", hf_json(d, "{}"));
    command(d, HF_COMMAND_TYPE_PAUSE, "a");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "paused");
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_str_eq(code(d, "a"), "paused");
    command(d, HF_COMMAND_TYPE_RESUME, "a");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "waiting_for_signal");
    hf_kit_close(d);
}

/* A run whose code is not run any more, until a repair says that it may be. */
HF_BOTH_ENGINES(why_quarantined)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "receiver", "a", hf_json(d, "{}"));
    hf_kit_sql(d, "UPDATE run SET blocked = 2, crash_count = 5");
    hf_test_crash(d);
    hf_kit_ok(d, hf_signal(d, "a", "approved-by", NULL));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_str_eq(code(d, "a"), "quarantined");
    command(d, HF_COMMAND_TYPE_REPAIR, "a");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(code(d, "a"), "closed_completed");
    hf_kit_close(d);
}

/* A task whose worker went away, and one that cannot be handed over. */
HF_BOTH_ENGINES(why_task_trouble)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "receiver", NULL, .id = "a"));
    hf_kit_sql(d, "UPDATE task SET status = 2, epoch = 1, owner = 'gone', attempt = 1, "
                  "lease_until_us = available_us + 1000000");
    hf_kit_skip(d, hf_seconds(2));
    ck_assert_str_eq(code(d, "a"), "lease_expired");
    hf_kit_sql(d, "UPDATE task SET status = 1, owner = NULL, lease_until_us = NULL, trouble = 1, "
                  "repair_count = 2, repair_us = available_us + 60000000");
    ck_assert_str_eq(code(d, "a"), "repair_backoff");
    ck_assert_str_eq(hf_str(why(d, "a"), "liveness.next_task_transport_state", ""),
                     "repair_backoff");
    ck_assert_str_eq(hf_str(why(d, "a"), "liveness.liveness_state", ""), "repair_needed");
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_close(d);
}

/* A history that has become long. */
HF_BOTH_ENGINES(why_history_budget)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_begin(d, "long_life", "a", hf_json(d, "{}"));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_str_eq(code(d, "a"), "history_budget");
    hf_kit_close(d);
}

/* A reader that never ends lets the write-ahead log grow. */
START_TEST(why_store_wal_bound)
{
    enum { VALUE_BYTES = 1 << 20, VALUES = 120 };
    hf_engine *d = hf_kit_open(HF_ENGINE_SQLITE, &app);
    char *text = malloc(VALUE_BYTES + 1);
    hf_db *reader = NULL;
    hf_db_cursor *cursor = NULL;
    uint64_t chance = 1;
    bool row = false;
    hf_err err = {0};
    char id[16];

    ck_assert_ptr_nonnull(text);
    for (size_t i = 0; i < VALUE_BYTES; i++) /* that no compression makes small */
        text[i] = (char)('!' + ((chance = chance * 6364136223846793005U + 1) >> 33) % 60U);
    text[VALUE_BYTES] = 0;
    hf_kit_begin(d, "receiver", "a", hf_json(d, "{}"));
    hf_test_ok(hf_test_place_dial(hf_kit_place(d), HF_DB_READ, NULL, 0, &reader, &err), &err,
               "a reader");
    hf_test_ok(hf_db_begin(reader, HF_DB_READ, &err), &err, "a snapshot");
    hf_test_ok(hf_db_query(reader, HF_STMT_SWEEP_LAST, NULL, 0, &cursor, &err), &err, "a query");
    hf_test_ok(hf_db_step(cursor, &row, &err), &err, "a row");
    hf_db_end(cursor);
    for (int i = 0; i < VALUES; i++) {
        (void)snprintf(id, sizeof(id), "big%d", i);
        hf_kit_ok(d, hf_start(d, "receiver", hf_json(d, "{'text': %s}", text), .id = id));
    }
    ck_assert_str_eq(code(d, "a"), "store_wal_bound");
    hf_db_rollback(reader);
    hf_db_close(reader);
    free(text);
    hf_kit_close(d);
}
END_TEST

/* Workflow code that loops, in an engine with threads of its own. */
START_TEST(why_task_timeout)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_engine *d = NULL;
    const hf_error *e = NULL;
    hf_value out = NULL;
    bool seen = false;

    atomic_store(&released, false);
    ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &d), HF_OK);
    hf_kit_ok(d, hf_start(d, "loop", NULL, .id = "a"));
    for (int i = 0; i < 200 && !seen;
         i++) { /* it moves: what others say may be of another moment */
        (void)nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        hf_kit_ok(d, hf_why(d, "a", hf_mem_of_engine(d), &out));
        seen = strcmp(hf_str(out, "code", ""), "task_timeout") == 0;
    }
    atomic_store(&released, true);
    ck_assert(seen);
    hf_kit_ok(d, hf_result(d, "a", 20000, &out, &e));
    hf_close(d);
    hf_test_place_free(place);
}
END_TEST

/* The page lists every code with its severity and meaning, and nothing else. */
START_TEST(page_lists_every_code)
{
    FILE *file = fopen(HF_TEST_DIR "/../docs/reference/why.md", "r");
    static char page[32768];
    char line[2048];
    size_t rows = 0;
    size_t len;

    ck_assert_ptr_nonnull(file);
    len = fread(page, 1, sizeof(page) - 1, file);
    ck_assert_int_eq(fclose(file), 0);
    page[len] = 0;
    for (size_t i = 0; i < HF_WHY_COUNT; i++) {
        const hf_why_row *row = &hf_why_rows[i];

        (void)snprintf(line, sizeof(line), "| `%s` | %s | %s | %s |\n", row->code,
                       hf_why_severity_text(row->severity), row->action[0] ? row->action : "-",
                       row->docs);
        ck_assert_msg(strstr(page, line), "the page does not have: %s", line);
    }
    for (const char *at = page; (at = strstr(at, "\n| `")); at++)
        rows++;
    ck_assert_uint_eq(rows, HF_WHY_COUNT);
}
END_TEST

/* Whichever allocation fails, the answer is either whole or not given. */
START_TEST(why_without_memory)
{
    hf_engine *d = hf_kit_open(HF_ENGINE_SQLITE, &app);
    hf_value out = NULL;
    hf_status st = HF_NOMEM;

    hf_kit_begin(d, "receiver", "a", hf_json(d, "{'timeout': 60000}"));
    for (int64_t nth = 1; st == HF_NOMEM; nth++) {
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_why(d, "a", hf_mem_of_engine(d), &out);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_int_lt(nth, 5000);
    }
    hf_kit_ok(d, st);
    ck_assert_str_eq(hf_str(out, "code", ""), "waiting_for_signal");
    hf_kit_close(d);
}
END_TEST

HF_PG_SUITE_MAIN("engine/why", HF_BOTH(why_waits), HF_BOTH(why_precedence), HF_BOTH(why_messages),
                 HF_BOTH(why_activities), HF_BOTH(why_queued_behind), HF_BOTH(why_deadline_passed),
                 HF_BOTH(why_task_missing), HF_BOTH(why_closed), HF_BOTH(why_closed_continued),
                 HF_BOTH(why_paused), HF_BOTH(why_quarantined), HF_BOTH(why_task_trouble),
                 HF_BOTH_SLOW(why_history_budget, 120), {why_without_memory, 0},
                 {why_store_wal_bound, 120}, {why_task_timeout, 120}, {page_lists_every_code, 0})
