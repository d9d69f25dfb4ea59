/* Batches: one command for many instances, through holdfast.h on both databases. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "engine/engine_impl.h"
#include "holdfast/holdfast.h"
#include "lib/kit.h"

/* ---- the application */

static hf_value rest(hf_ctx *w, hf_value in)
{
    (void)hf_receive(w, "go");
    return in;
}

static const hf_signal_def signals[] = {{"go", NULL}, {0}};
static const hf_workflow_def workflows[] = {{.type = "rest", .run = rest, .signals = signals}, {0}};
static const hf_app app = {.name = "batch", .workflows = workflows};

enum { RUNS = 40 };

static void runs_start(hf_engine *d)
{
    for (int i = 0; i < RUNS; i++) {
        char id[16];

        (void)snprintf(id, sizeof(id), "r%d", i);
        hf_kit_ok(d, hf_start(d, "rest", NULL, .id = id));
    }
    hf_kit_ok(d, hf_test_drain(d));
}

/* JSON with simple quotes. */
static hf_value parse(hf_engine *d, const char *text)
{
    char *copy = hf_mem_text(hf_mem_of_engine(d), hf_slice_of(text));
    hf_value value = NULL;

    for (char *at = copy; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    ck_assert_int_eq(hf_json_read(hf_mem_of_engine(d), hf_slice_of(copy), NULL, &value, NULL),
                     HF_OK);
    return value;
}

/* A request for all of them and two that are not there. */
static hf_value request(hf_engine *d, const char *rest_of_it)
{
    char text[2048] = "{'workflow_ids': ['gone'";

    for (int i = 0; i < RUNS; i++)
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), ", 'r%d'", i);
    (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), ", 'lost'], %s}", rest_of_it);
    return parse(d, text);
}

static hf_value show(hf_engine *d, const char *id)
{
    hf_value out = NULL;

    hf_kit_ok(d, hf_batch_show(d, id, hf_mem_of_engine(d), &out));
    return out;
}

static int64_t closed(hf_engine *d)
{
    return hf_kit_number(d, "SELECT count(*) FROM run WHERE closed_us IS NOT NULL");
}

/* Every item has its outcome: those that are gone, those that were closed before, the rest. */
HF_BOTH_ENGINES(a_batch_tells_what_became_of_each)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;
    const char *id;

    runs_start(d);
    hf_kit_ok(d, hf_cancel(d, "r7", NULL));
    hf_kit_ok(d,
              hf_batch_start(d, request(d, "'command': 'cancel', 'request': {'reason': 'recall'}"),
                             hf_mem_of_engine(d), &out));
    id = hf_str(out, "batch_id", "");
    ck_assert_str_eq(hf_str(out, "status", ""), "running");
    hf_kit_ok(d, hf_test_drain(d));
    out = show(d, id);
    ck_assert_str_eq(hf_str(out, "status", ""), "completed");
    ck_assert_int_eq(hf_int(out, "total", 0), RUNS + 2);
    ck_assert_int_eq(hf_int(out, "done", 0), RUNS + 2);
    ck_assert_int_eq(hf_int(out, "accepted", 0), RUNS - 1);
    ck_assert_int_eq(hf_int(out, "rejected", 0), 1);
    ck_assert_int_eq(hf_int(out, "not_found", 0), 2);
    ck_assert_str_eq(hf_str(out, "items.0.status", ""), "not_found");
    ck_assert_str_eq(hf_str(out, "items.1.outcome", ""), "cancelled");
    ck_assert_str_eq(hf_str(out, "items.8.rejection_reason", ""), "run_not_active");
    hf_kit_ok(d, hf_batch_list(d, 0, hf_mem_of_engine(d), &out));
    ck_assert_uint_eq(hf_len(out), 1);
    ck_assert_str_eq(hf_str(out, "0.batch_id", ""), id);
    ck_assert_str_eq(hf_str(out, "0.command", ""), "cancel");
    ck_assert_int_eq(hf_int(out, "0.done", 0), RUNS + 2);
    ck_assert_int_eq(hf_batch_list(d, -1, hf_mem_of_engine(d), &out), HF_INVALID);
    ck_assert_str_eq(hf_kit_said(d, "r3", "WorkflowCancelled", 0, HF_KEY_REASON), "recall");
    ck_assert_int_eq(closed(d), RUNS);
    hf_kit_close(d);
}

/* Items are told apart by their place in the list: an instance that is named twice hears twice. */
HF_BOTH_ENGINES(a_batch_tells_an_instance_twice)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;

    hf_kit_ok(d, hf_start(d, "rest", NULL, .id = "r"));
    hf_kit_ok(d, hf_pause(d, "r", .reason = NULL));
    hf_kit_ok(d, hf_batch_start(d,
                                parse(d, "{'command': 'signal', 'request': {'name': 'go'}, "
                                         "'workflow_ids': ['r', 'r']}"),
                                hf_mem_of_engine(d), &out));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_int(show(d, hf_str(out, "batch_id", "")), "accepted", 0), 2);
    ck_assert_int_eq(hf_test_count(d, "r", "SignalReceived"), 2);
    hf_kit_close(d);
}

/* A dry run says what would happen and changes nothing. */
HF_BOTH_ENGINES(a_dry_run_changes_nothing)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;
    int64_t commands;

    runs_start(d);
    hf_kit_ok(d, hf_cancel(d, "r7", NULL));
    commands = hf_kit_number(d, "SELECT count(*) FROM command");
    hf_kit_ok(d, hf_batch_start(d, request(d, "'command': 'terminate', 'dry_run': true"),
                                hf_mem_of_engine(d), &out));
    hf_kit_ok(d, hf_test_drain(d));
    out = show(d, hf_str(out, "batch_id", ""));
    ck_assert_int_eq(hf_int(out, "would_apply", 0), RUNS - 1);
    ck_assert_int_eq(hf_int(out, "rejected", 0), 1);
    ck_assert_int_eq(hf_int(out, "not_found", 0), 2);
    ck_assert_int_eq(closed(d), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM command"), commands);
    hf_kit_close(d);
}

/* A dry run judges each item as the command itself would: an unknown name, arguments that do not
   fit, a step that does not exist. */
HF_BOTH_ENGINES(a_dry_run_refuses_what_the_command_would)
{
    static const struct {
        const char *request;
        const char *reason;
    } rows[] = {
        {"'command': 'signal', 'request': {'name': 'gone'}", "unknown_signal"},
        {"'command': 'update', 'request': {'name': 'any'}", "unknown_update"},
        {"'command': 'reset', 'request': {'step': 9}", "no_step_boundary"},
        {"'command': 'archive'", "run_not_closed"},
        {"'command': 'start', 'request': {'workflow_type': 'rest'}", "instance_already_started"},
    };
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;
    char text[256];
    int64_t commands;

    hf_kit_ok(d, hf_start(d, "rest", NULL, .id = "r"));
    hf_kit_ok(d, hf_test_drain(d));
    commands = hf_kit_number(d, "SELECT count(*) FROM command");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        (void)snprintf(text, sizeof(text), "{'workflow_ids': ['r'], 'dry_run': true, %s}",
                       rows[i].request);
        hf_kit_ok(d, hf_batch_start(d, parse(d, text), hf_mem_of_engine(d), &out));
        hf_kit_ok(d, hf_test_drain(d));
        out = show(d, hf_str(out, "batch_id", ""));
        ck_assert_str_eq(hf_str(out, "items.0.status", ""), "rejected");
        ck_assert_str_eq(hf_str(out, "items.0.rejection_reason", ""), rows[i].reason);
    }
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM command"), commands);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run"), 1);
    hf_kit_close(d);
}

/* The rate bounds it, pausing holds it, aborting leaves the rest; asking twice changes nothing. */
HF_BOTH_ENGINES(a_batch_is_paced_paused_and_aborted)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_of_engine(d);
    hf_value out = NULL;
    const char *id;
    char kept[32];

    runs_start(d);
    hf_kit_ok(d, hf_batch_start(d, request(d, "'command': 'terminate', 'rate': 5"), mem, &out));
    id = hf_str(out, "batch_id", "");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_int(show(d, id), "done", 0), 5);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(1)));
    ck_assert_int_eq(hf_int(show(d, id), "done", 0), 10);
    hf_kit_ok(d, hf_batch_pause(d, id, mem, &out));
    ck_assert_str_eq(hf_str(out, "status", ""), "paused");
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(5)));
    ck_assert_int_eq(closed(d), 9); /* one of the ten is not there */
    (void)snprintf(kept, sizeof(kept), "%s", id);
    d = hf_kit_reopen(d, NULL);
    mem = hf_mem_of_engine(d);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(closed(d), 9);
    hf_kit_ok(d, hf_batch_resume(d, kept, mem, &out));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(closed(d), 14);
    hf_kit_ok(d, hf_batch_abort(d, kept, mem, &out));
    ck_assert_str_eq(hf_str(out, "status", ""), "aborted");
    hf_kit_ok(d, hf_batch_resume(d, kept, mem, &out));
    ck_assert_str_eq(hf_str(out, "status", ""), "aborted");
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_int_eq(closed(d), 14);
    hf_kit_close(d);
}

static hf_status crash_scenario(hf_engine *d, void *arg)
{
    hf_value out = NULL;
    hf_status st = HF_OK;

    (void)arg;
    for (int i = 0; !st && i < 3; i++) {
        char id[16];

        (void)snprintf(id, sizeof(id), "r%d", i);
        st = hf_start(d, "rest", NULL, .id = id);
    }
    if (!st)
        st = hf_test_drain(d);
    if (!st)
        st = hf_batch_start(d,
                            hf_json(d, "{'command': 'signal', 'workflow_ids': ['r0', 'x', 'r1', "
                                       "'r2'], 'request': {'name': 'go'}}"),
                            hf_mem_of_engine(d), &out);
    if (!st)
        st = hf_test_drain(d);
    return st;
}

/* A crash after any commit: every item is done once. */
START_TEST(a_batch_survives_every_crash)
{
    char why[512] = "";

    ck_assert_msg(hf_test_crash_everywhere(&app, crash_scenario, NULL, why, sizeof(why)) == HF_OK,
                  "%s", why);
}
END_TEST

/* What is no batch is refused as a whole. */
HF_BOTH_ENGINES(a_bad_batch_is_refused)
{
    static const char *const bad[] = {
        "{'command': 'cancel', 'workflow_ids': []}",
        "{'command': 'cancel'}",
        "{'command': 'cancel', 'workflow_ids': [7]}",
        "{'command': 'explode', 'workflow_ids': ['a']}",
        "{'workflow_ids': ['a']}",
        "{'command': 'cancel', 'workflow_ids': ['a'], 'rate': -1}",
        "{'command': 'cancel', 'workflow_ids': ['a'], 'rate': 'fast'}",
        "{'command': 'cancel', 'workflow_ids': ['a'], 'rate': 0.5}",
        "{'command': 'cancel', 'workflow_ids': ['a'], 'rate': [5]}",
        "{'command': 'cancel', 'workflow_ids': ['a'], 'rate': 1000001}",
        "{'command': 'cancel', 'workflow_ids': ['a'], 'dry_run': 'yes'}",
    };
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_of_engine(d);
    hf_value out = NULL;

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        ck_assert_int_eq(hf_batch_start(d, parse(d, bad[i]), mem, &out), HF_INVALID);
    ck_assert_int_eq(hf_batch_show(d, "no such thing", mem, &out), HF_NOTFOUND);
    ck_assert_int_eq(hf_batch_abort(d, "01KDVDNA00000000002C000000", mem, &out), HF_NOTFOUND);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM batch"), 0);
    hf_kit_close(d);
}

/* With threads of its own the engine works on it by itself, and finishes after a restart. */
HF_BOTH_ENGINES(a_batch_needs_nobody_to_move_it)
{
    hf_test_place *place = hf_test_place_new(kind);
    const struct timespec moment = {.tv_nsec = 10000000};
    hf_engine *d = NULL;
    hf_value out = NULL;
    char id[32];

    hf_kit_ok(d, hf_open(hf_test_place_address(place), &app, &d));
    hf_kit_ok(d, hf_start(d, "rest", NULL, .id = "a"));
    hf_kit_ok(d, hf_start(d, "rest", NULL, .id = "b"));
    hf_kit_ok(
        d, hf_batch_start(d, parse(d, "{'command': 'terminate', 'workflow_ids': ['a', 'x', 'b']}"),
                          hf_mem_of_engine(d), &out));
    (void)snprintf(id, sizeof(id), "%s", hf_str(out, "batch_id", ""));
    hf_close(d); /* wherever it was */
    d = NULL;
    hf_kit_ok(d, hf_open(hf_test_place_address(place), &app, &d));
    for (int i = 0; i < 6000; i++) {
        hf_kit_ok(d, hf_batch_show(d, id, hf_mem_of_engine(d), &out));
        if (strcmp(hf_str(out, "status", ""), "completed") == 0)
            break;
        (void)nanosleep(&moment, NULL);
    }
    ck_assert_str_eq(hf_str(out, "status", ""), "completed");
    ck_assert_int_eq(hf_int(out, "accepted", 0), 2);
    ck_assert_int_eq(hf_result(d, "b", 0, NULL, NULL), HF_CANCELLED);
    hf_close(d);
    hf_test_place_free(place);
}

static int64_t done_of(hf_engine *d, const char *id)
{
    hf_value out = NULL;

    hf_kit_ok(d, hf_batch_show(d, id, hf_mem_of_engine(d), &out));
    return hf_int(out, "done", -1);
}

/* Two engines share a store: one works on a batch at a time. The other takes it when the first has
   been silent for the length of its lease, and then the first has no say in it any more. */
START_TEST(a_batch_has_one_owner_at_a_time)
{
    hf_engine *d = hf_kit_open(HF_ENGINE_POSTGRES, &app);
    hf_engine *other = hf_kit_join(d, &app);
    int64_t key;
    hf_value out = NULL;
    hf_unit *stale;
    engine_slot *slot;
    char id[32];
    hf_err err;

    for (int i = 0; i < 4; i++)
        hf_kit_ok(d, hf_start(d, "rest", NULL, .id = (const char *[]){"a", "b", "c", "d"}[i]));
    hf_kit_ok(d, hf_batch_start(d,
                                parse(d, "{'command': 'terminate', 'rate': 1, "
                                         "'workflow_ids': ['a', 'b', 'c', 'd']}"),
                                hf_mem_of_engine(d), &out));
    (void)snprintf(id, sizeof(id), "%s", hf_str(out, "batch_id", ""));
    key = hf_kit_number(d, "SELECT key FROM batch");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(done_of(d, id), 1);
    hf_kit_ok(other, hf_test_advance(other, 10500)); /* the lease runs from when it may go on */
    ck_assert_int_eq(done_of(d, id), 1);
    hf_kit_ok(d, hf_test_advance(d, 1000));
    ck_assert_int_eq(done_of(d, id), 2);
    hf_kit_ok(other, hf_test_advance(other, 2000));
    ck_assert_int_eq(done_of(d, id), 3);
    ck_assert_int_eq(hf_kit_number(d, "SELECT epoch FROM batch"), 2);
    hf_kit_ok(d, hf_test_advance(d, 2000));
    ck_assert_int_eq(done_of(d, id), 3);

    slot = hf_engine_slot_get(d);
    stale = hf_unit_new(NULL, NULL);
    hf_unit_row(stale, 0,
                hf_row_batch_move(hf_unit_mem(stale),
                                  &(hf_batch_move){.key = key, .epoch = 1, .from = 3, .to = 4}));
    hf_unit_row(stale, 0,
                hf_row_batch_item_new(hf_unit_mem(stale),
                                      &(hf_batch_item_row){.batch = key,
                                                           .epoch = 1,
                                                           .number = 3,
                                                           .status = HF_BATCH_ITEM_FAILED,
                                                           .id = HF_SLICE("d")}));
    hf_test_ok(hf_unit_seal(stale, &slot->stager, &err), &err, "seal");
    hf_test_ok(hf_engine_commit(d, stale, &err), &err, "commit");
    ck_assert(!hf_unit_row_applied(stale, 0));
    ck_assert(!hf_unit_row_applied(stale, 1));
    hf_unit_free(stale);

    hf_kit_ok(other, hf_test_advance(other, 2000));
    hf_kit_ok(d, hf_batch_show(d, id, hf_mem_of_engine(d), &out));
    ck_assert_str_eq(hf_str(out, "status", ""), "completed");
    ck_assert_int_eq(hf_int(out, "accepted", 0), 4);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM command WHERE type = 6"), 4);
    hf_kit_leave(other);
    hf_kit_close(d);
}
END_TEST

/* ---- in the middle of a step */

typedef struct meddler {
    hf_engine *engine;
    const char *batch;
    bool pauses; /* else it aborts */
    bool came;
} meddler;

static void *meddler_run(void *arg)
{
    meddler *m = arg;
    hf_mem *mem = hf_mem_of_engine(m->engine);
    hf_value out = NULL;

    hf_kit_ok(m->engine, hf_batch_show(m->engine, m->batch, mem, &out));
    m->came = strcmp(hf_str(out, "status", ""), "running") == 0; /* else the step is over */
    hf_kit_ok(m->engine, m->pauses ? hf_batch_pause(m->engine, m->batch, mem, &out)
                                   : hf_batch_abort(m->engine, m->batch, mem, &out));
    return NULL;
}

/* As another caller's thread would, while the one that works on the batch is about to commit. */
static void meddle(void *ctx)
{
    meddler *m = ctx;
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, meddler_run, m), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/* Stops a batch of three right before the nth commit of its only step: the claim, the command of
   each item, the place in the list. False: it has not so many. */
static bool stop_check(hf_engine *d, hf_engine *other, int nth, bool pauses)
{
    meddler m = {.engine = other, .pauses = pauses};
    hf_value out = NULL;
    char text[128];
    char id[32];

    for (int i = 0; i < 3; i++) {
        (void)snprintf(id, sizeof(id), "s%d-%d-%d", pauses, nth, i);
        hf_kit_ok(d, hf_start(d, "rest", NULL, .id = id));
    }
    hf_kit_ok(d, hf_test_drain(d));
    (void)snprintf(text, sizeof(text),
                   "{'command': 'terminate', 'workflow_ids': ['s%d-%d-0', 's%d-%d-1', 's%d-%d-2']}",
                   pauses, nth, pauses, nth, pauses, nth);
    hf_kit_ok(d, hf_batch_start(d, parse(d, text), hf_mem_of_engine(d), &out));
    (void)snprintf(id, sizeof(id), "%s", hf_str(out, "batch_id", ""));
    m.batch = id;
    hf_kit_meddle(d, nth, meddle, &m);
    hf_kit_ok(d, hf_test_drain(d));
    out = show(d, id);
    ck_assert_int_eq((int64_t)hf_len(hf_get(out, "items")), hf_int(out, "done", -1));
    ck_assert_int_eq(hf_int(out, "accepted", -1), hf_int(out, "done", -1));
    if (strcmp(hf_str(out, "status", ""), "completed") == 0 && hf_int(out, "done", 0) == 3)
        m.came = false; /* the last commit took both, and the step was first in it */
    if (m.came)
        ck_assert_str_eq(hf_str(out, "status", ""), pauses ? "paused" : "aborted");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM batch WHERE owner IS NULL AND "
                                      "lease_until_us IS NOT NULL"),
                     0);
    if (pauses) {
        hf_kit_ok(d, hf_batch_resume(d, id, hf_mem_of_engine(d), &out));
        hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
        out = show(d, id);
        ck_assert_str_eq(hf_str(out, "status", ""), "completed");
        ck_assert_int_eq(hf_int(out, "accepted", -1), 3);
    }
    hf_kit_meddle(d, INT32_MAX, NULL, NULL);
    return m.came;
}

/* Somebody pauses or aborts it at every moment of a step: what the step did is recorded, the batch
   is nobody's, and one that goes on finishes. On PostgreSQL the somebody is at another engine. */
HF_BOTH_ENGINES(a_batch_is_stopped_in_the_middle_of_a_step)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_engine *other = kind == HF_ENGINE_POSTGRES ? hf_kit_join(d, &app) : d;

    for (int pauses = 0; pauses < 2; pauses++) {
        int nth = 1;

        while (nth <= 20 && stop_check(d, other, nth, pauses))
            nth++;
        ck_assert_int_ge(nth, 5); /* claim, three commands, place */
    }
    if (other != d)
        hf_kit_leave(other);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/batch", HF_BOTH(a_batch_tells_what_became_of_each),
                 HF_BOTH(a_batch_tells_an_instance_twice), HF_BOTH(a_dry_run_changes_nothing),
                 HF_BOTH(a_dry_run_refuses_what_the_command_would),
                 HF_BOTH(a_batch_is_paced_paused_and_aborted), {a_batch_survives_every_crash, 0},
                 HF_BOTH_SLOW(a_batch_needs_nobody_to_move_it, 120),
                 HF_BOTH(a_bad_batch_is_refused), {a_batch_has_one_owner_at_a_time, 0},
                 HF_BOTH(a_batch_is_stopped_in_the_middle_of_a_step))
