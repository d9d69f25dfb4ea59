/* Shard leases on PostgreSQL: fair shares, takeover, and epochs that keep a former owner from
 * writing. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/thread.h"
#include "commit/shard.h"
#include "lib/engine.h"
#include "lib/nap.h"
#include "lib/pgclock.h"
#include "lib/world.h"

static hf_err err;
static hf_err unsettled;

static void ok(hf_status st, const char *doing)
{
    hf_test_ok(st, &err, doing);
}

static int64_t newest_key; /* of a node */

/* Each node has a clock; they go with the case's process. */
static hf_clock *clock_new(void)
{
    static hf_clock *all[16];
    static size_t count;

    ck_assert_uint_lt(count, sizeof(all) / sizeof(all[0]));
    all[count] = hf_clock_new_steady(hf_clock_system());
    ck_assert_ptr_nonnull(all[count]);
    return all[count++];
}

static hf_shards *join_for(hf_world *world, const char *name, int64_t lease_us)
{
    hf_shards *shards = NULL;
    int64_t key = 0;

    ok(hf_keys_take(hf_writer_keys(world->writer), 1, &key, &err), "take a key");
    ok(hf_shards_join(&(hf_shards_options){.store = world->store,
                                           .node = key,
                                           .name = name,
                                           .lease_us = lease_us,
                                           .clock = clock_new(),
                                           .writer = world->writer},
                      &shards, &err),
       "join");
    newest_key = key;
    return shards;
}

static hf_shards *join(hf_world *world, const char *name)
{
    return join_for(world, name, 0);
}

/* Makes every node's lease run out, as ten silent seconds would. */
static void leases_end(hf_test_place *place)
{
    hf_db *db = NULL;

    ok(hf_test_place_dial(place, HF_DB_WRITE, NULL, 0, &db, &err), "dial");
    ok(hf_db_script(db, "UPDATE node SET lease_until_us = 0", &err), "end the leases");
    hf_db_close(db);
}

/* No shard has two owners, and together the nodes own all. */
static void owned_once(hf_shards *const *nodes, size_t count)
{
    for (int64_t shard = 0; shard < HF_SHARDS; shard++) {
        int owners = 0;

        for (size_t i = 0; i < count; i++)
            owners += hf_shards_epoch(nodes[i], shard) != HF_NONE;
        ck_assert_int_eq(owners, 1);
    }
}

/* A lone node owns everything; each that joins gets its share within a renewal or two. */
START_TEST(shares_are_fair)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_world world;
    hf_shards *nodes[3];

    ok(hf_world_open(&world, hf_test_place_address(place), NULL, &err), "open");
    for (size_t i = 0; i < 3; i++) {
        nodes[i] = join(&world, "node");
        for (int round = 0; round < 2; round++)
            for (size_t j = 0; j <= i; j++)
                ok(hf_shards_renew(nodes[j], true, &unsettled, &err), "renew");
        owned_once(nodes, i + 1);
        for (size_t j = 0; j <= i; j++) {
            ck_assert_int_ge(hf_shards_count(nodes[j]), (int64_t)(HF_SHARDS / (i + 1)) - 2);
            ck_assert_int_le(hf_shards_count(nodes[j]), (int64_t)(HF_SHARDS / (i + 1)) + 1);
        }
    }
    hf_shards_leave(nodes[1]); /* what it had is free at once */
    for (int round = 0; round < 2; round++) {
        ok(hf_shards_renew(nodes[0], true, &unsettled, &err), "renew");
        ok(hf_shards_renew(nodes[2], true, &unsettled, &err), "renew");
    }
    nodes[1] = nodes[2];
    owned_once(nodes, 2);
    hf_shards_leave(nodes[0]);
    hf_shards_leave(nodes[1]);
    hf_world_close(&world);
    hf_test_place_free(place);
}
END_TEST

/* A start that holds a turn is in-process work as well: nothing of it is left behind. */
static void former_owner_starts(hf_world *world, const hf_world_run *like, int64_t epoch)
{
    const hf_instance_row instance = {.key = like->base.run + 1000,
                                      .namespace_key = 1,
                                      .id = HF_SLICE("order-2"),
                                      .shard = like->base.shard,
                                      .type = HF_SLICE("order"),
                                      .current_run = like->base.run + 1001,
                                      .run_count = 1};
    const hf_run_base base = {.run = instance.current_run,
                              .instance = instance.key,
                              .shard = instance.shard,
                              .status = HF_RUN_STATUS_WAITING,
                              .closed_reason = HF_NONE,
                              .closed_us = HF_NONE};
    const hf_run_row row = {.number = 1,
                            .execution_deadline_us = HF_NONE,
                            .run_deadline_us = HF_NONE,
                            .queue = HF_SLICE("default"),
                            .definition = HF_NONE};
    hf_unit *unit = hf_unit_new(NULL, NULL);
    hf_mem *mem = hf_mem_new();
    hf_instance_row found;

    hf_unit_owned(unit, epoch);
    (void)hf_unit_create(unit, HF_UNIT_INSTANCE_NEW, &instance, &base, &row);
    hf_event_begin(hf_unit_events(unit, 0), HF_EVENT_NOTE_RECORDED, 0, 0);
    ok(hf_unit_seal(unit, &world->stager, &err), "seal");
    ck_assert_int_eq(hf_writer_commit(world->writer, unit, &err), HF_EXISTS);
    ck_assert_int_eq(
        hf_instance_get(hf_store_writer(world->store), mem, 1, instance.id, &found, &err),
        HF_NOTFOUND);
    hf_mem_free(mem);
    hf_unit_free(unit);
}

/* A unit of in-process work is refused once another node owns its shard; a fact from outside is
 * not. */
START_TEST(former_owner_cannot_write)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_world world;
    hf_world_run run;
    hf_shards *first;
    hf_shards *second = NULL;
    int64_t epoch;

    ok(hf_world_open(&world, hf_test_place_address(place), NULL, &err), "open");
    ok(hf_world_start(&world, "order-1", &run, &err), "start");
    first = join(&world, "first");
    epoch = hf_shards_epoch(first, run.base.shard);
    ck_assert_int_ne(epoch, HF_NONE);
    for (int round = 0; round < 2; round++) {
        hf_unit *unit = hf_unit_new(NULL, NULL);

        hf_unit_append(unit, &run.base, epoch, HF_REBASE_NEVER);
        hf_event_begin(hf_unit_events(unit, 0), HF_EVENT_NOTE_RECORDED, 0, 0);
        ok(hf_unit_seal(unit, &world.stager, &err), "seal");
        if (round == 0) {
            ok(hf_writer_commit(world.writer, unit, &err), "write as the owner");
            run.base = *hf_unit_after(unit, 0);
            leases_end(place);
            second = join(&world, "second");
            ck_assert_int_eq(hf_shards_count(second), HF_SHARDS);
            ck_assert_int_gt(hf_shards_epoch(second, run.base.shard), epoch);
        } else {
            ck_assert_int_eq(hf_writer_commit(world.writer, unit, &err), HF_CONFLICT);
            ck_assert_ptr_nonnull(strstr(err.text, "shard"));
        }
        hf_unit_free(unit);
    }
    former_owner_starts(&world, &run, epoch);
    ok(hf_world_signal(&world, &run, "approve", 16, &err), "a fact from outside");
    ok(hf_shards_renew(first, true, &unsettled, &err), "the first node comes back");
    ck_assert_int_eq(hf_shards_count(first), 0); /* the other gives back when it renews */
    ok(hf_shards_renew(second, true, &unsettled, &err), "renew");
    ok(hf_shards_renew(first, true, &unsettled, &err), "renew");
    ck_assert_int_eq(hf_shards_count(first), HF_SHARDS / 2);
    hf_shards_leave(first);
    hf_shards_leave(second);
    hf_world_close(&world);
    hf_test_place_free(place);
}
END_TEST

/* ---- takeovers */

/* Somebody who has rows locked and keeps them. */
static const hf_stmt_text blocks[] = {
    {.name = "lock", .postgres = "SELECT key FROM run WHERE key = ?1 FOR UPDATE"},
    {.name = "shards", .postgres = "SELECT count(*) FROM shard WHERE node = ?1"},
    {.name = "sessions",
     .postgres = "SELECT count(*) FROM session s JOIN pg_stat_activity a ON a.pid = s.pid "
                 "WHERE s.node = ?1"}};
enum { BLOCK_LOCK, BLOCK_SHARDS, BLOCK_SESSIONS };

static int64_t number(hf_db *db, int stmt, int64_t param)
{
    const hf_db_value value = hf_db_int(param);
    bool found = false;
    int64_t out = -1;

    ok(hf_db_number(db, (hf_stmt)stmt, &value, 1, &found, &out, &err), "ask");
    return out;
}

static hf_db *block_open(const hf_test_place *place)
{
    hf_db *db = NULL;

    ok(hf_test_place_dial(place, HF_DB_WRITE, blocks, 3, &db, &err), "dial");
    return db;
}

static void run_lock(hf_db *db, int64_t run)
{
    ok(hf_db_begin(db, HF_DB_WRITE, &err), "begin");
    ck_assert_int_eq(number(db, BLOCK_LOCK, run), run);
}

/* The outcome of a unit, when there is one. */
typedef struct fate {
    hf_mutex lock;
    hf_cond known;
    bool is_known;
    hf_status status;
    char text[256];
} fate;

static void fate_init(fate *of)
{
    *of = (fate){0};
    ok(hf_mutex_init(&of->lock, &err), "mutex");
    ok(hf_cond_init(&of->known, &err), "condition");
}

static void fate_note(hf_unit *unit, void *ctx)
{
    fate *of = ctx;
    const char *text = NULL;

    hf_mutex_lock(&of->lock);
    of->status = hf_unit_outcome(unit, &text);
    (void)snprintf(of->text, sizeof(of->text), "%s", text ? text : "");
    of->is_known = true;
    hf_cond_signal(&of->known);
    hf_mutex_unlock(&of->lock);
    hf_unit_free(unit);
}

/* How long it took; fails the case after a minute. */
static int64_t fate_wait_ms(fate *of)
{
    int64_t began_us = hf_clock_mono_us(hf_clock_system());

    hf_mutex_lock(&of->lock);
    while (!of->is_known &&
           hf_cond_wait_until(&of->known, &of->lock, began_us + 60000000) != HF_TIMEOUT)
        ;
    ck_assert(of->is_known);
    hf_mutex_unlock(&of->lock);
    return (hf_clock_mono_us(hf_clock_system()) - began_us) / 1000;
}

static hf_unit *note_unit(hf_world *world, const hf_run_base *base, int64_t epoch, fate *of)
{
    hf_unit *unit = hf_unit_new(fate_note, of);

    hf_unit_append(unit, base, epoch, HF_REBASE_NEVER);
    hf_event_begin(hf_unit_events(unit, 0), HF_EVENT_NOTE_RECORDED, 0, 0);
    ok(hf_unit_seal(unit, &world->stager, &err), "seal");
    return unit;
}

static void signal_offer(hf_world *world, const hf_world_run *run, fate *of)
{
    hf_unit *unit = hf_world_signal_unit(world, run, "approve", fate_note, of, &err);

    ck_assert_ptr_nonnull(unit);
    ok(hf_writer_offer(world->writer, unit, &err), "offer");
}

/* Waits until the writer's transaction stands before the locked row. */
static void waits_there(hf_db *db)
{
    static const char sql[] =
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
        "AND query LIKE '%UPDATE run%'";
    int64_t count = 0;

    for (int i = 0; i < 1000 && !count; i++) {
        hf_db_cursor *cursor = NULL;
        bool row = false;

        ok(hf_db_query_text(db, sql, NULL, 0, &cursor, &err), "who waits");
        ok(hf_db_step(cursor, &row, &err), "who waits");
        count = hf_db_column_int(cursor, 0);
        hf_db_end(cursor);
        if (!count)
            hf_nap_ms(10);
    }
    ck_assert_int_gt(count, 0);
}

/* n02: what a silent node has sent and not committed never comes true once its shards are another
   one's: its session is ended before they are read. */
START_TEST(n02_a_taker_ends_the_sessions_of_the_former_owner)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_world worlds[2];
    hf_shards *nodes[2];
    hf_run_base after;
    hf_world_run run;
    fate of;
    hf_db *db;

    fate_init(&of);
    for (int i = 0; i < 2; i++)
        ok(hf_world_open(&worlds[i], hf_test_place_address(place), NULL, &err), "open");
    nodes[0] = join(&worlds[0], "silent");
    ok(hf_world_start(&worlds[0], "order-1", &run, &err), "start");
    db = hf_store_writer(worlds[0].store);
    ok(hf_db_begin(db, HF_DB_WRITE, &err), "begin"); /* and COMMIT is held on its way */
    ok(hf_db_exec(db, HF_STMT_META_SET,
                  (const hf_db_value[]){hf_db_text(HF_SLICE("late")), hf_db_text(HF_SLICE("1"))}, 2,
                  NULL, &err),
       "write");
    leases_end(place);
    nodes[1] = join(&worlds[1], "taker");
    ck_assert_int_eq(hf_shards_count(nodes[1]), HF_SHARDS);
    ck_assert_int_ne(hf_db_commit(db, &err), HF_OK);
    ok(hf_run_base_get(hf_store_writer(worlds[1].store), run.base.run, &after, &err), "read");
    ok(hf_writer_offer(worlds[0].writer,
                       note_unit(&worlds[0], &after, hf_shards_epoch(nodes[0], after.shard), &of),
                       &err),
       "offer");
    (void)fate_wait_ms(&of);
    ck_assert_int_eq(of.status, HF_CONFLICT); /* the former owner, whose session is a new one */
    for (int i = 0; i < 2; i++) {
        hf_shards_leave(nodes[i]);
        hf_world_close(&worlds[i]);
    }
    hf_test_place_free(place);
}
END_TEST

/* A role that may not end the other's sessions waits for the batch that is under way. */
START_TEST(n02_a_taker_without_rights_waits_for_the_batch)
{
    static const char grants[] =
        "DO $do$ BEGIN"
        "  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'hf_taker') THEN"
        "    CREATE ROLE hf_taker LOGIN; END IF;"
        "  EXECUTE format('GRANT USAGE ON SCHEMA %I TO hf_taker', current_schema());"
        "  EXECUTE format('GRANT ALL ON ALL TABLES IN SCHEMA %I TO hf_taker', current_schema());"
        "END $do$";
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    char address[512];
    char *user;
    hf_world worlds[2];
    hf_shards *nodes[2];
    hf_world_run run;
    hf_db *block;
    hf_db *look;
    fate of;

    fate_init(&of);
    ok(hf_world_open(&worlds[0], hf_test_place_address(place), NULL, &err), "open");
    block = block_open(place);
    look = block_open(place);
    ok(hf_db_script(block, grants, &err), "grant");
    (void)snprintf(address, sizeof(address), "%s", hf_test_place_address(place));
    user = strstr(address, "holdfast@");
    ck_assert_ptr_nonnull(user);
    memcpy(user, "hf_taker", 8);
    ok(hf_world_open(&worlds[1], address, NULL, &err), "open as another role");
    nodes[0] = join(&worlds[0], "owner");
    ok(hf_world_start(&worlds[0], "order-1", &run, &err), "start");
    run_lock(block, run.base.run);
    signal_offer(&worlds[0], &run, &of);
    waits_there(look);
    leases_end(place);
    nodes[1] = join_for(&worlds[1], "taker", 1000000);
    ck_assert_int_eq(hf_shards_count(nodes[1]), 0); /* taken, and not to be read yet */
    hf_db_rollback(block);
    (void)fate_wait_ms(&of);
    ck_assert_msg(of.status == HF_OK, "%s", of.text);
    ok(hf_shards_renew(nodes[1], true, &unsettled, &err), "renew");
    ck_assert_msg(unsettled.status == HF_OK, "%s", unsettled.text);
    ck_assert_int_eq(hf_shards_count(nodes[1]), HF_SHARDS);
    hf_db_close(look);
    hf_db_close(block);
    for (int i = 0; i < 2; i++) {
        hf_shards_leave(nodes[i]);
        hf_world_close(&worlds[i]);
    }
    hf_test_place_free(place);
}
END_TEST

/* Shards are given back when what was under way for them is done, and not before; what comes too
   late is refused. */
START_TEST(shards_are_given_back_when_the_writer_is_through)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_world worlds[2];
    hf_shards *nodes[2];
    hf_world_run run;
    hf_db *block;
    hf_db *look;
    int64_t epoch;
    int64_t owner;
    fate of[2];

    for (int i = 0; i < 2; i++) {
        fate_init(&of[i]);
        ok(hf_world_open(&worlds[i], hf_test_place_address(place), NULL, &err), "open");
    }
    block = block_open(place);
    look = block_open(place);
    nodes[0] = join_for(&worlds[0], "giver", 2000000);
    owner = newest_key;
    ok(hf_world_start(&worlds[0], "order-42", &run, &err), "start");
    epoch = hf_shards_epoch(nodes[0], run.base.shard);
    run_lock(block, run.base.run);
    ok(hf_writer_offer(worlds[0].writer, note_unit(&worlds[0], &run.base, epoch, &of[0]), &err),
       "offer");
    waits_there(look);
    nodes[1] = join_for(&worlds[1], "newcomer", 2000000);
    ok(hf_shards_renew(nodes[0], false, &unsettled, &err), "renew, with nobody here any more");
    ck_assert_int_eq(hf_shards_count(nodes[0]), 0);
    ck_assert_int_eq(number(look, BLOCK_SHARDS, owner), HF_SHARDS);
    ok(hf_writer_offer(worlds[0].writer, note_unit(&worlds[0], &run.base, epoch, &of[1]), &err),
       "offer");
    hf_db_rollback(block);
    for (int i = 0; i < 2; i++)
        (void)fate_wait_ms(&of[i]);
    ck_assert_msg(of[0].status == HF_OK, "%s", of[0].text);
    ck_assert_int_eq(of[1].status, HF_CONFLICT);
    ok(hf_shards_renew(nodes[0], false, &unsettled, &err), "renew");
    ck_assert_int_eq(number(look, BLOCK_SHARDS, owner), 0);
    ok(hf_shards_renew(nodes[1], true, &unsettled, &err), "renew");
    owned_once(nodes, 2);
    ck_assert_int_gt(number(look, BLOCK_SESSIONS, owner), 1); /* nobody was sent away */
    hf_db_close(look);
    hf_db_close(block);
    for (int i = 0; i < 2; i++) {
        hf_shards_leave(nodes[i]);
        hf_world_close(&worlds[i]);
    }
    hf_test_place_free(place);
}
END_TEST

/* n49: a row that somebody has locked and keeps holds up who wants that row, and for a few seconds;
   he is told to try again, and all others go on. */
START_TEST(n49_a_locked_row_does_not_hold_up_others)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    int64_t began_us;
    hf_world world;
    hf_world_run run;
    hf_world_run other;
    hf_db *block;
    fate of[2];

    ok(hf_world_open(&world, hf_test_place_address(place), NULL, &err), "open");
    block = block_open(place);
    ok(hf_world_start(&world, "order-1", &run, &err), "start");
    run_lock(block, run.base.run);
    for (int i = 0; i < 2; i++) {
        char id[16];

        fate_init(&of[i]);
        began_us = hf_clock_mono_us(hf_clock_system());
        signal_offer(&world, &run, &of[i]);
        (void)snprintf(id, sizeof(id), "order-%d", i + 2);
        ok(hf_world_start(&world, id, &other, &err), "start another");
        ck_assert_int_lt(hf_clock_mono_us(hf_clock_system()) - began_us, i ? 4000000 : 12000000);
        (void)fate_wait_ms(&of[i]);
        ck_assert_int_eq(of[i].status, HF_BUSY);
    }
    hf_db_rollback(block);
    ok(hf_world_signal(&world, &run, "approve", 16, &err), "signal");
    hf_db_close(block);
    hf_world_close(&world);
    hf_test_place_free(place);
}
END_TEST

/* A node where nobody does the work leaves it to the others, and has its share when all are so. */
START_TEST(idle_nodes_leave_their_share)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_world world;
    hf_shards *nodes[2];

    ok(hf_world_open(&world, hf_test_place_address(place), NULL, &err), "open");
    nodes[0] = join(&world, "busy");
    nodes[1] = join(&world, "idle");
    for (int round = 0; round < 2; round++) {
        ok(hf_shards_renew(nodes[1], false, &unsettled, &err), "renew");
        ok(hf_shards_renew(nodes[0], true, &unsettled, &err), "renew");
    }
    ck_assert_int_eq(hf_shards_count(nodes[0]), HF_SHARDS);
    ck_assert_int_eq(hf_shards_count(nodes[1]), 0);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < 2; i++)
            ok(hf_shards_renew(nodes[i], false, &unsettled, &err), "renew");
    owned_once(nodes, 2);
    ck_assert_int_eq(hf_shards_count(nodes[1]), HF_SHARDS / 2);
    hf_shards_leave(nodes[0]);
    ok(hf_shards_renew(nodes[1], false, &unsettled, &err), "renew");
    ck_assert_int_eq(hf_shards_count(nodes[1]), HF_SHARDS);
    hf_shards_leave(nodes[1]);
    hf_world_close(&world);
    hf_test_place_free(place);
}
END_TEST

/* However much work waits, a renewal of an engine's session looks for it once and not once for each
   shard, and finds the shard of each by its key: else a backlog would make it take longer than the
   lease, and the node would lose what it cannot keep up with. */
START_TEST(a_backlog_does_not_slow_the_renewal)
{
    static const char *const values[] = {"1", "1", "1", "'node'", "1", "1", "1"};
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    const char *at = hf_stmt_texts[HF_STMT_SHARD_RENEW].postgres;
    hf_buf text = {0};
    hf_stmt_text explain = {.name = "explain"};
    hf_db_cursor *cursor = NULL;
    hf_db *db = NULL;
    bool row = true;
    bool once = false;
    int by_key = 0;
    hf_world world;

    ok(hf_world_open(&world, hf_test_place_address(place), NULL, &err), "open");
    hf_buf_add_text(&text, "EXPLAIN ");
    for (; *at; at++)
        if (*at == '?')
            hf_buf_add_text(&text, values[*++at - '1']);
        else
            hf_buf_add(&text, at, 1);
    hf_buf_add(&text, "", 1);
    ck_assert(hf_buf_ok(&text));
    explain.postgres = hf_buf_slice(&text).ptr;
    ok(hf_test_place_dial(place, HF_DB_WRITE, &explain, 1, &db, &err), "dial");
    ok(hf_db_query(db, (hf_stmt)0, NULL, 0, &cursor, &err), "explain");
    while (row) {
        char line[512];
        hf_slice plan;

        ok(hf_db_step(cursor, &row, &err), "a line");
        plan = row ? hf_db_column_bytes(cursor, 0) : (hf_slice){0};
        (void)snprintf(line, sizeof(line), "%.*s", (int)plan.len, plan.len ? plan.ptr : "");
        once |= strstr(line, "CTE overdue") != NULL;
        by_key += strstr(line, "using run_pkey on run r") != NULL;
        by_key += strstr(line, "using instance_pkey on instance i") != NULL;
    }
    hf_db_end(cursor);
    hf_db_close(db);
    hf_buf_fini(&text);
    ck_assert(once);
    ck_assert_int_eq(by_key, 2);
    hf_world_close(&world);
    hf_test_place_free(place);
}
END_TEST

/* The epochs of all shards of all nodes. */
static int64_t epochs_sum(hf_shards *const *nodes, size_t count)
{
    int64_t sum = 0;

    for (int64_t shard = 0; shard < HF_SHARDS; shard++)
        for (size_t i = 0; i < count; i++) {
            int64_t epoch = hf_shards_epoch(nodes[i], shard);

            sum += epoch == HF_NONE ? 0 : epoch * (shard * 2 + (int64_t)i + 1);
        }
    return sum;
}

/* When the database's clock jumps the leases of all are over, or last for hours: nobody takes
   shards of a node that lives, and those of one that died are taken when it was silent for long
   enough. */
START_TEST(n46_a_jump_moves_no_shard)
{
    static const int jumps_s[] = {3600, -7200, 0};
    hf_pgclock *clock = hf_pgclock_open();
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_world world;
    hf_shards *nodes[2];
    int64_t before;
    int64_t until_us;

    ok(hf_world_open(&world, hf_test_place_address(place), NULL, &err), "open");
    for (int i = 0; i < 2; i++)
        nodes[i] = join_for(&world, "node", 3000000);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 2; i++)
            ok(hf_shards_renew(nodes[i], true, &unsettled, &err), "renew");
    owned_once(nodes, 2);
    before = epochs_sum(nodes, 2);
    for (size_t jump = 0; jump < sizeof(jumps_s) / sizeof(jumps_s[0]); jump++) {
        hf_pgclock_set(clock, jumps_s[jump]);
        for (int i = 0; i < 6; i++)
            ok(hf_shards_renew(nodes[i % 2], true, &unsettled, &err), "renew");
        owned_once(nodes, 2);
        ck_assert_int_eq(epochs_sum(nodes, 2), before);
    }
    hf_pgclock_set(clock, -3600); /* and one of them dies */
    until_us = hf_clock_mono_us(hf_clock_system()) + 60000000;
    while (hf_shards_count(nodes[0]) < HF_SHARDS &&
           hf_clock_mono_us(hf_clock_system()) < until_us) {
        ok(hf_shards_renew(nodes[0], true, &unsettled, &err), "renew");
        hf_nap_ms(50);
    }
    ck_assert_int_eq(hf_shards_count(nodes[0]), HF_SHARDS);
    hf_shards_leave(nodes[0]);
    hf_shards_leave(nodes[1]);
    hf_world_close(&world);
    hf_test_place_free(place);
    hf_pgclock_close(clock);
}
END_TEST

/* The shard of an id never changes: it is stored. */
START_TEST(shard_of_an_id_is_fixed)
{
    int64_t seen[HF_SHARDS] = {0};
    char id[32];

    ck_assert_int_eq(hf_shard_of(1, HF_SLICE("order-42")), hf_shard_of(1, HF_SLICE("order-42")));
    ck_assert_int_eq(hf_shard_of(1, HF_SLICE("order-42")), 224);
    for (int i = 0; i < 25600; i++) {
        (void)snprintf(id, sizeof(id), "order-%d", i);
        seen[hf_shard_of(7, hf_slice_of(id))]++;
    }
    for (int i = 0; i < HF_SHARDS; i++) {
        ck_assert_int_gt(seen[i], 50);
        ck_assert_int_lt(seen[i], 160);
    }
}
END_TEST

HF_PG_SUITE_MAIN("commit/shard", {shares_are_fair, 0}, {former_owner_cannot_write, 0},
                 {idle_nodes_leave_their_share, 0}, {a_backlog_does_not_slow_the_renewal, 0},
                 {shard_of_an_id_is_fixed, 0},
                 {n02_a_taker_ends_the_sessions_of_the_former_owner, 0},
                 {n02_a_taker_without_rights_waits_for_the_batch, 120},
                 {shards_are_given_back_when_the_writer_is_through, 120},
                 {n49_a_locked_row_does_not_hold_up_others, 120}, {n46_a_jump_moves_no_shard, 120})
