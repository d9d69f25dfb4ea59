/* Shard leases on PostgreSQL: fair shares, takeover, and epochs that keep a former owner from
 * writing. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "commit/shard.h"
#include "lib/engine.h"
#include "lib/world.h"

static hf_err err;

static void ok(hf_status st, const char *doing)
{
    hf_test_ok(st, &err, doing);
}

static hf_shards *join(hf_world *world, const char *name)
{
    hf_shards *shards = NULL;
    int64_t key = 0;

    ok(hf_keys_take(hf_writer_keys(world->writer), 1, &key, &err), "take a key");
    ok(hf_shards_join(&(hf_shards_options){.store = world->store, .node = key, .name = name},
                      &shards, &err),
       "join");
    return shards;
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
                ok(hf_shards_renew(nodes[j], true, &err), "renew");
        owned_once(nodes, i + 1);
        for (size_t j = 0; j <= i; j++) {
            ck_assert_int_ge(hf_shards_count(nodes[j]), (int64_t)(HF_SHARDS / (i + 1)) - 2);
            ck_assert_int_le(hf_shards_count(nodes[j]), (int64_t)(HF_SHARDS / (i + 1)) + 1);
        }
    }
    hf_shards_leave(nodes[1]); /* what it had is free at once */
    for (int round = 0; round < 2; round++) {
        ok(hf_shards_renew(nodes[0], true, &err), "renew");
        ok(hf_shards_renew(nodes[2], true, &err), "renew");
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
    ok(hf_shards_renew(first, true, &err), "the first node comes back");
    ck_assert_int_eq(hf_shards_count(first), 0); /* the other gives back when it renews */
    ok(hf_shards_renew(second, true, &err), "renew");
    ok(hf_shards_renew(first, true, &err), "renew");
    ck_assert_int_eq(hf_shards_count(first), HF_SHARDS / 2);
    hf_shards_leave(first);
    hf_shards_leave(second);
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
        ok(hf_shards_renew(nodes[1], false, &err), "renew");
        ok(hf_shards_renew(nodes[0], true, &err), "renew");
    }
    ck_assert_int_eq(hf_shards_count(nodes[0]), HF_SHARDS);
    ck_assert_int_eq(hf_shards_count(nodes[1]), 0);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < 2; i++)
            ok(hf_shards_renew(nodes[i], false, &err), "renew");
    owned_once(nodes, 2);
    ck_assert_int_eq(hf_shards_count(nodes[1]), HF_SHARDS / 2);
    hf_shards_leave(nodes[0]);
    ok(hf_shards_renew(nodes[1], false, &err), "renew");
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
    static const char *const values[] = {"1", "1", "1", "'node'", "1"};
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
                 {shard_of_an_id_is_fixed, 0})
