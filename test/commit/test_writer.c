/* The writer and its batches, on both engines: order, fences, re-basing, poison, lost answers,
 * back-pressure. */
#include <poll.h>
#include <stdatomic.h>
#include <string.h>

#include "base/fault.h"
#include "base/thread.h"
#include "lib/engine.h"
#include "lib/nap.h"
#include "lib/simvfs.h"
#include "lib/world.h"

static hf_err err;

static void ok(hf_status st, const char *doing)
{
    hf_test_ok(st, &err, doing);
}

static void world_begin(hf_world *world, hf_test_place *place, bool manual)
{
    const hf_world_options options = {.manual = manual};

    ok(hf_world_open(world, hf_test_place_address(place), &options, &err), "open the world");
}

/* Units that tests hand over themselves, in the order in which they ended. */
typedef struct ledger {
    hf_unit *units[64];
    size_t count;
} ledger;

static void ledger_add(hf_unit *unit, void *ctx)
{
    ledger *book = ctx;

    ck_assert_uint_lt(book->count, 64);
    book->units[book->count++] = unit;
}

static void ledger_free(ledger *book)
{
    for (size_t i = 0; i < book->count; i++)
        hf_unit_free(book->units[i]);
    book->count = 0;
}

static void writer_drain(hf_writer *writer)
{
    while (hf_writer_step(writer) > 0)
        ;
}

/* A whole life with every kind of action commits, and the run's row says so. */
HF_BOTH_ENGINES(a_life_commits)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_world world;
    hf_world_run parent;
    hf_world_run child;
    hf_world_run next;

    world_begin(&world, place, false);
    ok(hf_world_life(&world, "order-1", &err), "live");
    ok(hf_world_start(&world, "order-2", &parent, &err), "start");
    ok(hf_world_child(&world, &parent, "order-2-child", &child, &err), "start a child");
    ok(hf_world_finish(&world, &child, &err), "finish the child");
    ok(hf_world_child_done(&world, &parent, &child, &err), "tell the parent");
    ok(hf_world_continue(&world, &parent, &next, &err), "continue as new");
    ok(hf_world_activity(&world, &next, &err), "schedule");
    ok(hf_world_claim(&world, &next, &err), "claim");
    for (int i = 0; i < 5; i++)
        ok(hf_world_step(&world, &next, &err), "step");
    ck_assert_int_eq(next.number, 2);
    ck_assert_int_eq(parent.base.closed_reason, HF_CLOSED_REASON_CONTINUED);
    ck_assert_int_eq(next.base.last_seq, 2 + 2 + 5 * 3);
    hf_world_close(&world);
    hf_test_place_free(place);
}

/* The second start of an id is refused as such and leaves nothing behind. */
HF_BOTH_ENGINES(second_start_is_told_it_exists)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_world world;
    hf_world_run run;
    hf_world_run again;
    hf_db *db = NULL;
    hf_run_base base;

    world_begin(&world, place, false);
    ok(hf_world_start(&world, "order-1", &run, &err), "start");
    ck_assert_int_eq(hf_world_start(&world, "order-1", &again, &err), HF_EXISTS);
    ok(hf_store_connect(world.store, HF_DB_READ, &db, &err), "connect");
    for (int64_t key = run.base.run + 1; key < run.base.run + 8; key++)
        ck_assert_int_eq(hf_run_base_get(db, key, &base, &err), HF_NOTFOUND);
    hf_db_close(db);
    hf_world_close(&world);
    hf_test_place_free(place);
}

/* A decision drafted on an old view of the run is refused, and none of its rows appears. */
HF_BOTH_ENGINES(stale_decision_conflicts)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_world world;
    hf_world_run run;
    hf_world_run stale;

    world_begin(&world, place, false);
    ok(hf_world_start(&world, "order-1", &run, &err), "start");
    stale = run;
    ok(hf_world_activity(&world, &run, &err), "schedule");
    ck_assert_int_eq(hf_world_timer(&world, &stale, 1000000, &err), HF_CONFLICT);
    ck_assert_ptr_nonnull(strstr(err.text, "event"));
    ok(hf_world_reload(&world, &stale, &err), "reload");
    ck_assert_int_eq(stale.base.last_seq, run.base.last_seq);
    ck_assert_mem_eq(stale.base.head, run.base.head, sizeof(run.base.head));
    hf_world_close(&world);
    hf_test_place_free(place);
}

/* A fact from outside is based anew on a run that moved on, and gets the next numbers. */
HF_BOTH_ENGINES(outside_fact_is_based_anew)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_world world;
    hf_world_run run;
    hf_world_run old;

    world_begin(&world, place, false);
    ok(hf_world_start(&world, "order-1", &run, &err), "start");
    old = run;
    ok(hf_world_activity(&world, &run, &err), "schedule");
    ok(hf_world_signal(&world, &old, "approve", 16, &err), "signal");
    ck_assert_int_eq(old.base.last_seq, run.base.last_seq + 1);
    ck_assert_int_eq(old.base.command_seq, 2);
    ck_assert_int_eq(old.base.message_seq, 1);
    ck_assert_uint_ge(hf_writer_stats_get(world.writer).rebased, 1);
    hf_world_close(&world);
    hf_test_place_free(place);
}

/* A closed run takes no more facts. */
HF_BOTH_ENGINES(closed_run_refuses)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_world world;
    hf_world_run run;
    hf_world_run old;

    world_begin(&world, place, false);
    ok(hf_world_start(&world, "order-1", &run, &err), "start");
    old = run;
    ok(hf_world_finish(&world, &run, &err), "finish");
    ck_assert_int_eq(hf_world_signal(&world, &old, "approve", 16, &err), HF_CONFLICT);
    ck_assert_ptr_nonnull(strstr(err.text, "closed"));
    hf_world_close(&world);
    hf_test_place_free(place);
}

/* Forty signals for one run in one batch: one transaction, numbers in the order they were staged.
 */
HF_BOTH_ENGINES(siblings_share_a_transaction)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_world world;
    hf_world_run run;
    ledger book = {0};
    hf_writer_stats before;

    world_begin(&world, place, true);
    ok(hf_world_start(&world, "order-1", &run, &err), "start");
    before = hf_writer_stats_get(world.writer);
    for (int i = 0; i < 40; i++) {
        hf_unit *unit = hf_world_signal_unit(&world, &run, "approve", ledger_add, &book, &err);

        ck_assert_ptr_nonnull(unit);
        ok(hf_writer_offer(world.writer, unit, &err), "offer");
    }
    ck_assert_uint_eq(hf_writer_step(world.writer), 40);
    ck_assert_uint_eq(hf_writer_stats_get(world.writer).batches, before.batches + 1);
    ck_assert_uint_eq(book.count, 40);
    for (int i = 0; i < 40; i++) {
        ck_assert_int_eq(hf_unit_outcome(book.units[i], NULL), HF_OK);
        ck_assert_int_eq(hf_unit_after(book.units[i], 0)->message_seq, i + 1);
        ck_assert_int_eq(hf_unit_after(book.units[i], 0)->last_seq, run.base.last_seq + i + 1);
    }
    ledger_free(&book);
    hf_world_close(&world);
    hf_test_place_free(place);
}

/* A decision staged behind a fact from outside in the same batch is not taken for granted: it waits
   a round and is refused, because the run is not where its drafter knew it. */
HF_BOTH_ENGINES(decision_does_not_follow_blindly)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_world world;
    hf_world_run run;
    ledger book = {0};
    hf_unit *fact;
    hf_unit *decision;
    hf_event_builder *events;

    world_begin(&world, place, true);
    ok(hf_world_start(&world, "order-1", &run, &err), "start");
    fact = hf_world_signal_unit(&world, &run, "approve", ledger_add, &book, &err);
    decision = hf_unit_new(ledger_add, &book);
    hf_unit_append(decision, &run.base, HF_NONE, HF_REBASE_NEVER);
    events = hf_unit_events(decision, 0);
    hf_event_begin(events, HF_EVENT_NOTE_RECORDED, 0, 0);
    ok(hf_unit_seal(decision, &world.stager, &err), "seal");
    ok(hf_writer_offer(world.writer, fact, &err), "offer");
    ok(hf_writer_offer(world.writer, decision, &err), "offer");
    writer_drain(world.writer);
    ck_assert_uint_eq(book.count, 2);
    ck_assert_ptr_eq(book.units[0], fact);
    ck_assert_int_eq(hf_unit_outcome(fact, NULL), HF_OK);
    ck_assert_int_eq(hf_unit_outcome(decision, NULL), HF_CONFLICT);
    ledger_free(&book);
    hf_world_close(&world);
    hf_test_place_free(place);
}

/* A decision that allows facts from outside goes through behind them. */
HF_BOTH_ENGINES(decision_follows_commands)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_world world;
    hf_world_run run;
    ledger book = {0};
    hf_unit *decision;
    hf_unit *fact;

    world_begin(&world, place, true);
    ok(hf_world_start(&world, "order-1", &run, &err), "start");
    for (int round = 0; round < 2;
         round++) { /* in the same batch, then after the fact was committed */
        fact = hf_world_signal_unit(&world, &run, "approve", ledger_add, &book, &err);
        decision = hf_unit_new(ledger_add, &book);
        hf_unit_append(decision, &run.base, HF_NONE, HF_REBASE_COMMANDS);
        hf_event_begin(hf_unit_events(decision, 0), HF_EVENT_NOTE_RECORDED, 0, 0);
        ok(hf_unit_seal(decision, &world.stager, &err), "seal");
        ok(hf_writer_offer(world.writer, fact, &err), "offer");
        if (round == 1)
            writer_drain(world.writer);
        ok(hf_writer_offer(world.writer, decision, &err), "offer");
        writer_drain(world.writer);
        ck_assert_int_eq(hf_unit_outcome(fact, NULL), HF_OK);
        ck_assert_int_eq(hf_unit_outcome(decision, NULL), HF_OK);
        run.base = *hf_unit_after(decision, 0);
        ck_assert_int_eq(run.base.last_seq, 2 + 2 * (round + 1));
    }
    ledger_free(&book);
    hf_world_close(&world);
    hf_test_place_free(place);
}

/* n02: a decision does not follow what happened to a step meanwhile, in the same batch or before
   it: only another owner of the run can have recorded that. */
HF_BOTH_ENGINES(n02_decision_does_not_follow_a_step)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_world world;
    hf_world_run run;
    ledger book = {0};
    hf_unit *decision;

    world_begin(&world, place, true);
    for (int round = 0; round < 2; round++) {
        hf_run_base known;

        ok(hf_world_start(&world, round ? "order-2" : "order-1", &run, &err), "start");
        ok(hf_world_activity(&world, &run, &err), "schedule an activity");
        ok(hf_world_claim(&world, &run, &err), "start it");
        known = run.base;
        if (round == 1)
            ok(hf_world_complete(&world, &run, 16, &err), "complete it");
        decision = hf_unit_new(ledger_add, &book);
        hf_unit_append(decision, &known, HF_NONE, HF_REBASE_COMMANDS);
        hf_event_begin(hf_unit_events(decision, 0), HF_EVENT_NOTE_RECORDED, 0, 0);
        ok(hf_unit_seal(decision, &world.stager, &err), "seal");
        ok(hf_writer_offer(world.writer, decision, &err), "offer");
        writer_drain(world.writer);
        ck_assert_int_eq(hf_unit_outcome(decision, NULL), round ? HF_CONFLICT : HF_OK);
    }
    ledger_free(&book);
    hf_world_close(&world);
    hf_test_place_free(place);
}

/* A unit that the database refuses dies alone: the others of its batch are committed. */
HF_BOTH_ENGINES(poison_dies_alone)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_world world;
    hf_world_run runs[3];
    ledger book = {0};
    const hf_timer_row twice = {
        .key = 1, .run = 1, .step = 1, .status = HF_TIMER_STATUS_PENDING, .closed_us = HF_NONE};
    static const char *const ids[] = {"a", "b", "c"};

    world_begin(&world, place, true);
    for (int i = 0; i < 3; i++)
        ok(hf_world_start(&world, ids[i], &runs[i], &err), "start");
    for (int i = 0; i < 3; i++) {
        hf_unit *unit = hf_unit_new(ledger_add, &book);

        hf_unit_append(unit, &runs[i].base, HF_NONE, HF_REBASE_NEVER);
        hf_event_begin(hf_unit_events(unit, 0), HF_EVENT_NOTE_RECORDED, 0, 0);
        if (i == 1) { /* the same primary key twice */
            hf_unit_row(unit, 0, hf_row_timer_new(hf_unit_mem(unit), &twice));
            hf_unit_row(unit, 0, hf_row_timer_new(hf_unit_mem(unit), &twice));
        }
        ok(hf_unit_seal(unit, &world.stager, &err), "seal");
        ok(hf_writer_offer(world.writer, unit, &err), "offer");
    }
    writer_drain(world.writer);
    ck_assert_uint_eq(book.count, 3);
    ck_assert_int_eq(hf_unit_outcome(book.units[0], NULL), HF_OK);
    ck_assert_int_eq(hf_unit_outcome(book.units[1], NULL), HF_CONSTRAINT);
    ck_assert_int_eq(hf_unit_outcome(book.units[2], NULL), HF_OK);
    ck_assert_int_eq(hf_writer_failure(world.writer, NULL), HF_OK);
    for (int i = 0; i < 3; i++) {
        int64_t before = runs[i].base.last_seq;

        ok(hf_world_reload(&world, &runs[i], &err), "reload");
        ck_assert_int_eq(runs[i].base.last_seq, before + (i != 1));
    }
    ledger_free(&book);
    hf_world_close(&world);
    hf_test_place_free(place);
}

/* The answer to COMMIT is lost each time: every unit is found by reading back and applied exactly
 * once. */
HF_BOTH_ENGINES(lost_answers_are_read_back)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_world world;
    hf_world_run run;

    world_begin(&world, place, false);
    ok(hf_world_start(&world, "order-1", &run, &err), "start");
    for (int i = 0; i < 5; i++) {
        hf_fault_arm(HF_FAULT_DB_LOST, 1, false);
        ok(hf_world_signal(&world, &run, "approve", 16, &err), "signal");
        hf_fault_arm(HF_FAULT_DB_LOST, 0, false);
        ck_assert_int_eq(run.base.message_seq, i + 1);
    }
    ck_assert_uint_eq(hf_writer_stats_get(world.writer).unknown, 5);
    hf_fault_arm(HF_FAULT_DB_LOST, 1, false);
    ok(hf_world_life(&world, "order-2", &err), "live");
    hf_fault_arm(HF_FAULT_DB_LOST, 0, false);
    hf_world_close(&world);
    hf_test_place_free(place);
}

/* A unit that another run gets a signal from, and no event of its own. */
static hf_unit *telling_unit(hf_world *world, const hf_world_run *run, int64_t *out_key,
                             ledger *book)
{
    hf_unit *unit = hf_unit_new(ledger_add, book);
    hf_mem *mem = hf_unit_mem(unit);

    ok(hf_keys_take(hf_writer_keys(world->writer), 1, out_key, &err), "take a key");
    hf_unit_append(unit, &run->base, HF_NONE, HF_REBASE_COMMANDS);
    ck_assert(hf_unit_empty(unit));
    hf_unit_row(unit, 0,
                hf_row_inbox_tell(mem, *out_key, run->base.run, HF_NONE, HF_INBOX_SIGNAL,
                                  run->base.run, 1, HF_SLICE("{}")));
    ck_assert(!hf_unit_empty(unit));
    ok(hf_unit_seal(unit, &world->stager, &err), "seal");
    return unit;
}

static int64_t inbox_count(hf_world *world, int64_t run)
{
    const hf_db_value key = hf_db_int(run);
    hf_db_cursor *cursor = NULL;
    hf_db *db = NULL;
    int64_t count = 0;
    bool found = true;

    ok(hf_store_connect(world->store, HF_DB_READ, &db, &err), "connect");
    ok(hf_db_query(db, HF_STMT_INBOX_READ, &key, 1, &cursor, &err), "ask");
    for (;; count++) {
        ok(hf_db_step(cursor, &found, &err), "read");
        if (!found)
            break;
    }
    hf_db_end(cursor);
    hf_db_close(db);
    return count;
}

/* A unit of rows without an event is written once. When the answer to its COMMIT is lost nothing
   that stays would tell, so its drafter is asked to draft it again and nothing is written twice. */
HF_BOTH_ENGINES(n03_rows_without_events_are_written)
{
    hf_test_place *place = hf_test_place_new(kind);
    ledger book = {0};
    hf_world world;
    hf_world_run run;
    int64_t key = 0;

    world_begin(&world, place, true);
    ok(hf_world_start(&world, "order-1", &run, &err), "start");
    ok(hf_writer_offer(world.writer, telling_unit(&world, &run, &key, &book), &err), "offer");
    writer_drain(world.writer);
    ck_assert_uint_eq(book.count, 1);
    ck_assert_int_eq(hf_unit_outcome(book.units[0], NULL), HF_OK);
    ck_assert_int_eq(hf_unit_after(book.units[0], 0)->last_seq, run.base.last_seq);
    ck_assert_int_eq(inbox_count(&world, run.base.run), 1);
    ok(hf_writer_offer(world.writer, telling_unit(&world, &run, &key, &book), &err), "offer");
    hf_fault_arm(HF_FAULT_DB_LOST, 1, false);
    writer_drain(world.writer);
    hf_fault_arm(HF_FAULT_DB_LOST, 0, false);
    ck_assert_uint_eq(book.count, 2);
    ck_assert_int_eq(hf_unit_outcome(book.units[1], NULL), HF_CONFLICT);
    ck_assert_int_eq(inbox_count(&world, run.base.run), 2);
    ledger_free(&book);
    hf_world_close(&world);
    hf_test_place_free(place);
}

static const hf_db_driver *driver_under;
static int standbys; /* how often one answers instead of the primary */

static hf_status reconnect_late(hf_db *db, hf_err *out_err)
{
    if (standbys-- > 0)
        return hf_err_set(out_err, HF_READONLY, "a standby");
    return driver_under->reconnect(db, out_err);
}

/* The answer to COMMIT is lost, and for a while only a server that takes no changes answers: nobody
   is told that nothing happened, which nobody knows. The unit is found by reading back. */
HF_BOTH_ENGINES(lost_answers_wait_for_the_primary)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_db_driver driver;
    hf_world world;
    hf_world_run run;
    hf_db *db;

    world_begin(&world, place, false);
    ok(hf_world_start(&world, "order-1", &run, &err), "start");
    db = hf_store_writer(world.store);
    driver_under = db->driver;
    driver = *db->driver;
    driver.reconnect = reconnect_late;
    db->driver = &driver;
    standbys = 2;
    hf_fault_arm(HF_FAULT_DB_LOST, 1, false);
    ok(hf_world_signal(&world, &run, "approve", 16, &err), "signal");
    hf_fault_arm(HF_FAULT_DB_LOST, 0, false);
    ck_assert_int_eq(run.base.message_seq, 1);
    ck_assert_int_eq(standbys, -1);
    ok(hf_world_signal(&world, &run, "approve", 16, &err), "signal");
    ck_assert_int_eq(hf_writer_barred(world.writer, NULL), HF_OK);
    db->driver = driver_under;
    hf_world_close(&world);
    hf_test_place_free(place);
}

/* A write error ends the writer: whoever waits is told, and nobody is acknowledged. */
HF_BOTH_ENGINES(io_error_stops_the_writer)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_world world;
    hf_world_run run;
    hf_err failure;

    world_begin(&world, place, false);
    ok(hf_world_start(&world, "order-1", &run, &err), "start");
    hf_fault_arm(HF_FAULT_DB, 3, false);
    ck_assert_int_eq(hf_world_activity(&world, &run, &err), HF_STOPPED);
    hf_fault_arm(HF_FAULT_DB, 0, false);
    ck_assert_int_eq(hf_writer_failure(world.writer, &failure), HF_IO);
    ck_assert_int_eq(hf_world_activity(&world, &run, &err), HF_STOPPED);
    ck_assert_ptr_nonnull(strstr(err.text, "stopped writing"));
    hf_world_close(&world);
    hf_test_place_free(place);
}

/* The queue is bounded: an offer is refused when it is full, and taken again when there is room. */
HF_BOTH_ENGINES(queue_pushes_back)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_store *store = hf_test_place_store(place, HF_STORE_OWNER);
    const hf_writer_options options = {.size = sizeof(options), .queue_max = 2, .manual = true};
    hf_writer *writer = NULL;
    ledger book = {0};
    hf_unit *units[3];

    ok(hf_writer_open(store, &options, &writer, &err), "open the writer");
    for (int i = 0; i < 3; i++) {
        hf_stager stager;

        units[i] = hf_unit_new(ledger_add, &book);
        hf_unit_row(units[i], 0, hf_row_task_drop(hf_unit_mem(units[i]), 7, 1));
        ok(hf_stager_init(&stager, &err), "stager");
        ok(hf_unit_seal(units[i], &stager, &err), "seal");
        hf_stager_fini(&stager);
        ck_assert_int_eq(hf_writer_offer(writer, units[i], &err), i < 2 ? HF_OK : HF_BUSY);
    }
    ck_assert_uint_eq(hf_writer_step(writer), 2);
    ck_assert_uint_eq(hf_writer_stats_get(writer).batches, 1); /* what waits shares a batch */
    ck_assert_int_eq(hf_unit_outcome(book.units[0], NULL), HF_OK);
    ck_assert(!hf_unit_row_applied(book.units[0], 0)); /* there is no such task */
    ok(hf_writer_offer(writer, units[2], &err), "offer again");
    hf_writer_close(writer);
    ck_assert_uint_eq(book.count, 3); /* closing finishes what was taken */
    ledger_free(&book);
    hf_store_close(store);
    hf_test_place_free(place);
}

/* One bare row as a unit of its own; whether it took effect. */
static bool bare_applies(hf_world *world, hf_unit *unit, hf_row *row)
{
    bool applied;

    hf_unit_row(unit, 0, row);
    ok(hf_unit_seal(unit, &world->stager, &err), "seal");
    ok(hf_writer_offer(world->writer, unit, &err), "offer");
    writer_drain(world->writer);
    applied = hf_unit_row_applied(unit, 0);
    hf_unit_free(unit);
    return applied;
}

static void unit_kept(hf_unit *unit, void *ctx)
{
    (void)unit;
    (void)ctx;
}

/* A bare row says whether it took effect: a task is handed out again when it is as it was seen. */
HF_BOTH_ENGINES(bare_rows_say_whether_they_took_effect)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_world world;
    hf_world_run run;

    world_begin(&world, place, true);
    ok(hf_world_start(&world, "order-1", &run, &err), "start");
    for (int i = 0; i < 3; i++) {
        const int64_t epoch[] = {1, 0, 0};
        const bool expected[] = {false, true, false};
        hf_unit *unit = hf_unit_new(unit_kept, NULL);
        hf_row *row = hf_row_task_redo(hf_unit_mem(unit), run.workflow_task, epoch[i], 5, HF_NONE);

        ck_assert_int_eq(bare_applies(&world, unit, row), expected[i]);
    }
    hf_world_close(&world);
    hf_test_place_free(place);
}

/* Of equal rows in one batch exactly one takes effect. */
HF_BOTH_ENGINES(one_of_equal_rows_takes_effect)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_world world;
    hf_world_run run;
    hf_unit *unit = hf_unit_new(unit_kept, NULL);
    int held = 0;

    world_begin(&world, place, true);
    ok(hf_world_start(&world, "order-1", &run, &err), "start");
    for (int i = 0; i < 5; i++)
        hf_unit_row(unit, 0, hf_row_task_redo(hf_unit_mem(unit), run.workflow_task, 0, 5, HF_NONE));
    ok(hf_unit_seal(unit, &world.stager, &err), "seal");
    ok(hf_writer_offer(world.writer, unit, &err), "offer");
    writer_drain(world.writer);
    for (size_t i = 0; i < 5; i++)
        held += hf_unit_row_applied(unit, i);
    ck_assert_int_eq(held, 1);
    hf_unit_free(unit);
    hf_world_close(&world);
    hf_test_place_free(place);
}

/* Misuse is answered, not committed. */
HF_BOTH_ENGINES(wrong_units_are_refused)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_world world;
    hf_world_run run;
    hf_unit *unit;

    world_begin(&world, place, true);
    ok(hf_world_start(&world, "order-1", &run, &err), "start");
    unit = hf_unit_new(ledger_add, NULL);
    ck_assert_int_eq(hf_unit_seal(unit, &world.stager, &err), HF_MISUSE);
    hf_unit_append(unit, &run.base, HF_NONE, HF_REBASE_NEVER);
    ck_assert_int_eq(hf_unit_seal(unit, &world.stager, &err), HF_MISUSE); /* no event */
    hf_event_begin(hf_unit_events(unit, 0), HF_EVENT_NOTE_RECORDED, 0, 0);
    hf_unit_row(unit, 0, hf_row_task_drop(hf_unit_mem(unit), 7, 1));
    ck_assert_int_eq(hf_unit_seal(unit, &world.stager, &err),
                     HF_MISUSE); /* bare rows beside a run's */
    hf_unit_free(unit);
    hf_world_close(&world);
    hf_test_place_free(place);
}

/* Many threads commit at once, and every unit gets its own number. */
typedef struct signaller {
    hf_thread thread;
    hf_world *world;
    const hf_world_run *run;
    int sent;
} signaller;

static void signaller_run(void *ctx)
{
    signaller *me = ctx;
    hf_stager stager;
    hf_err mine;

    if (hf_stager_init(&stager, &mine))
        return;
    for (int i = 0; i < 50; i++) {
        hf_unit *unit = hf_unit_new(NULL, NULL);
        int64_t key = 0;
        hf_event_builder *events;
        hf_command_row row = {.instance = me->run->base.instance,
                              .run = me->run->base.run,
                              .type = HF_COMMAND_TYPE_SIGNAL,
                              .status = HF_COMMAND_STATUS_ACCEPTED,
                              .outcome = HF_CMD_OUTCOME_SIGNAL_RECEIVED,
                              .rejection = HF_NONE,
                              .scope = HF_TARGET_SCOPE_INSTANCE,
                              .source = HF_COMMAND_SOURCE_EMBEDDED,
                              .command_ahead = 1,
                              .message_ahead = 1,
                              .name = HF_SLICE("go"),
                              .state = HF_SIGNAL_STATUS_RECEIVED,
                              .applied_us = HF_NONE,
                              .closed_us = HF_NONE};
        hf_ulid id;

        if (hf_keys_take(hf_writer_keys(me->world->writer), 1, &key, &mine))
            break;
        row.key = key;
        id = hf_ulid_form(0, key, 0);
        hf_unit_append(unit, &me->run->base, HF_NONE, HF_REBASE_WHILE_OPEN);
        events = hf_unit_events(unit, 0);
        hf_event_begin(events, HF_EVENT_SIGNAL_RECEIVED, 0, 0);
        hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, id);
        hf_event_put_id(events, HF_KEY_SIGNAL_ID, id);
        hf_event_put_text(events, HF_KEY_SIGNAL_NAME, row.name);
        hf_unit_row(unit, 0, hf_row_command_new(hf_unit_mem(unit), &row));
        if (!hf_unit_seal(unit, &stager, &mine) &&
            !hf_writer_commit(me->world->writer, unit, &mine))
            me->sent++;
        hf_unit_free(unit);
    }
    hf_stager_fini(&stager);
}

HF_BOTH_ENGINES(threads_commit_at_once)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_world world;
    hf_world_run run;
    signaller crowd[8] = {0};

    world_begin(&world, place, false);
    ok(hf_world_start(&world, "order-1", &run, &err), "start");
    for (int i = 0; i < 8; i++) {
        crowd[i].world = &world;
        crowd[i].run = &run;
        ok(hf_thread_start(&crowd[i].thread, "crowd", signaller_run, &crowd[i], &err), "thread");
    }
    for (int i = 0; i < 8; i++) {
        hf_thread_join(&crowd[i].thread);
        ck_assert_int_eq(crowd[i].sent, 50);
    }
    ok(hf_world_reload(&world, &run, &err), "reload");
    ck_assert_int_eq(run.base.message_seq, 400);
    ck_assert_int_eq(run.base.last_seq, 402);
    ck_assert_uint_eq(hf_writer_stats_get(world.writer).units, 401);
    hf_world_close(&world);
    hf_test_place_free(place);
}

/* What the writer asks of the database, and what it is let do. */
static atomic_bool let_commit;
static atomic_bool awaiting;

static hf_status commit_late(hf_db *db, hf_err *out_err)
{
    while (!atomic_load(&let_commit))
        hf_nap_ms(1);
    return driver_under->commit(db, out_err);
}

/* The first time deaf to the database: only who comes ends the wait. */
static bool await_units(hf_db *db, int fd)
{
    struct pollfd units = {.fd = fd, .events = POLLIN};

    if (atomic_exchange(&awaiting, true))
        return driver_under->commit_await(db, fd);
    ck_assert_int_eq(poll(&units, 1, 60000), 1);
    return false;
}

static void count_done(hf_unit *unit, void *ctx)
{
    ck_assert_int_eq(hf_unit_outcome(unit, NULL), HF_OK);
    hf_unit_free(unit);
    atomic_fetch_add((atomic_int *)ctx, 1);
}

static void note_offer(hf_world *world, const hf_world_run *run, atomic_int *done)
{
    hf_unit *unit = hf_unit_new(count_done, done);

    hf_unit_append(unit, &run->base, HF_NONE, HF_REBASE_NEVER);
    hf_event_begin(hf_unit_events(unit, 0), HF_EVENT_NOTE_RECORDED, run->base.last_us + 1, 0);
    ok(hf_unit_seal(unit, &world->stager, &err), "seal");
    ok(hf_writer_offer(world->writer, unit, &err), "offer");
}

/* One is written while another waits, so two are expected. When the second is being committed and
   the first comes back, it is sent behind that COMMIT. */
START_TEST(who_comes_back_is_sent_behind_the_commit)
{
    static const char *const ids[] = {"a", "b", "c"};
    const hf_world_options options = {.sync_us = 1};
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_db_driver driver;
    hf_world world;
    hf_world_run runs[3];
    atomic_int done = 0;
    hf_db *db;

    ok(hf_world_open(&world, hf_test_place_address(place), &options, &err), "open the world");
    for (size_t i = 0; i < 3; i++)
        ok(hf_world_start(&world, ids[i], &runs[i], &err), "start");
    db = hf_store_writer(world.store);
    driver_under = db->driver;
    driver = *db->driver;
    driver.commit = commit_late;
    driver.commit_await = await_units;
    db->driver = &driver;
    note_offer(&world, &runs[0], &done);
    while (hf_writer_stats_get(world.writer).queued)
        hf_nap_ms(1);
    note_offer(&world, &runs[1], &done);
    atomic_store(&let_commit, true);
    while (!atomic_load(&awaiting))
        hf_nap_ms(1);
    ck_assert_int_eq(atomic_load(&done), 1);
    note_offer(&world, &runs[2], &done);
    while (atomic_load(&done) < 3)
        hf_nap_ms(1);
    ck_assert_uint_eq(hf_writer_stats_get(world.writer).ahead, 1);
    for (size_t i = 0; i < 3; i++) {
        int64_t before = runs[i].base.last_seq;

        ok(hf_world_reload(&world, &runs[i], &err), "reload");
        ck_assert_int_eq(runs[i].base.last_seq, before + 1);
    }
    db->driver = driver_under;
    hf_world_close(&world);
    hf_test_place_free(place);
}
END_TEST

/* A full disk fails the batch and nothing else: the writer says that it is full, sees by itself
   when it is not any more, and goes on. */
START_TEST(full_disk_passes)
{
    hf_simvfs *disk = hf_simvfs_new("sim-full");
    hf_world_options options = {.vfs = "sim-full"};
    hf_world world;
    hf_world_run run;
    hf_world_run other;
    uint64_t batches;

    ck_assert_ptr_nonnull(disk);
    ok(hf_world_open(&world, "full.db", &options, &err), "open the world");
    ok(hf_world_start(&world, "order-1", &run, &err), "start");
    ck_assert_int_eq(hf_writer_barred(world.writer, &err), HF_OK);
    hf_simvfs_fail(disk, HF_SIMVFS_FULL, 1, true);
    ck_assert_int_eq(hf_world_start(&world, "order-2", &other, &err), HF_FULL);
    ck_assert_int_eq(hf_writer_barred(world.writer, &err), HF_FULL);
    ck_assert_str_ne(err.text, "");
    ck_assert_int_eq(hf_writer_failure(world.writer, NULL), HF_OK);
    batches = hf_writer_stats_get(world.writer).batches;
    for (int i = 0; i < 3000 && hf_simvfs_seen(disk, HF_SIMVFS_FULL) < 3; i++)
        hf_nap_ms(10); /* it tries */
    ck_assert_int_eq(hf_writer_barred(world.writer, NULL), HF_FULL);
    hf_simvfs_fail(disk, HF_SIMVFS_FULL, 0, false);
    for (int i = 0; i < 3000 && hf_writer_barred(world.writer, NULL); i++)
        hf_nap_ms(10);
    ck_assert_int_eq(hf_writer_barred(world.writer, NULL), HF_OK);
    ck_assert_uint_eq(hf_writer_stats_get(world.writer).batches, batches);
    ok(hf_world_start(&world, "order-2", &other, &err), "start when there is room");
    hf_simvfs_fail(disk, HF_SIMVFS_FULL, 1, true);
    ck_assert_int_eq(hf_world_start(&world, "order-3", &other, &err), HF_FULL);
    hf_simvfs_fail(disk, HF_SIMVFS_FULL, 0, false);
    ok(hf_world_start(&world, "order-3", &other, &err), "start at once when there is room");
    ck_assert_int_eq(hf_writer_barred(world.writer, NULL), HF_OK);
    hf_world_close(&world);
    hf_simvfs_free(disk);
}
END_TEST

HF_PG_SUITE_MAIN("commit/writer", HF_BOTH(a_life_commits), HF_BOTH(second_start_is_told_it_exists),
                 HF_BOTH(stale_decision_conflicts), HF_BOTH(outside_fact_is_based_anew),
                 HF_BOTH(closed_run_refuses), HF_BOTH(siblings_share_a_transaction),
                 HF_BOTH(decision_does_not_follow_blindly), HF_BOTH(decision_follows_commands),
                 HF_BOTH(n02_decision_does_not_follow_a_step),
                 HF_BOTH(n03_rows_without_events_are_written), HF_BOTH(poison_dies_alone),
                 HF_BOTH(lost_answers_are_read_back), HF_BOTH(lost_answers_wait_for_the_primary),
                 HF_BOTH(io_error_stops_the_writer), HF_BOTH(queue_pushes_back),
                 HF_BOTH(bare_rows_say_whether_they_took_effect),
                 HF_BOTH(one_of_equal_rows_takes_effect), HF_BOTH(wrong_units_are_refused),
                 HF_BOTH(threads_commit_at_once), {who_comes_back_is_sent_behind_the_commit, 0},
                 {full_disk_passes, 0})
