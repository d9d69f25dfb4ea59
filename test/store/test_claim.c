/* Claims of ready tasks, on both engines; on PostgreSQL by two nodes at once. */
#include <stdio.h>
#include <string.h>

#include "lib/engine.h"
#include "lib/world.h"
#include "store/claim.h"

static hf_err err;

static void ok(hf_status st, const char *doing)
{
    hf_test_ok(st, &err, doing);
}

static hf_claim_wanted wanted_make(const hf_world *world, size_t count)
{
    return (hf_claim_wanted){.queue = HF_SLICE("default"),
                             .kind = HF_TASK_TYPE_WORKFLOW,
                             .owner = HF_SLICE("worker"),
                             .now_us = hf_clock_wall_us(world->clock),
                             .lease_us = 1000000,
                             .count = count};
}

static void runs_start(hf_world *world, int count)
{
    hf_world_run run;
    char id[32];

    for (int i = 0; i < count; i++) {
        (void)snprintf(id, sizeof(id), "order-%d", i);
        ok(hf_world_start(world, id, &run, &err), "start");
    }
}

/* A task is claimed once; what is claimed is not offered again, other queues and kinds are not
 * touched. */
HF_BOTH_ENGINES(ready_tasks_are_claimed_once)
{
    hf_test_place *place = hf_test_place_new(kind);
    const hf_world_options options = {.manual = true};
    hf_claim claims[HF_CLAIM_MAX];
    hf_claim_wanted wanted;
    hf_world world;
    size_t count = 0;
    hf_rng rng;

    hf_rng_init_seeded(&rng, 7);
    ok(hf_world_open(&world, hf_test_place_address(place), &options, &err), "open");
    runs_start(&world, 5);
    wanted = wanted_make(&world, 3);
    ok(hf_claim_ready(hf_store_writer(world.store), &rng, &wanted, claims, &count, &err), "claim");
    ck_assert_uint_eq(count, 3);
    ck_assert_int_eq(claims[0].epoch, 1);
    ck_assert(memcmp(claims[0].token, claims[1].token, sizeof(claims[0].token)) != 0);
    ok(hf_claim_ready(hf_store_writer(world.store), &rng, &wanted, claims, &count, &err), "claim");
    ck_assert_uint_eq(count, 2);
    ok(hf_claim_ready(hf_store_writer(world.store), &rng, &wanted, claims, &count, &err), "claim");
    ck_assert_uint_eq(count, 0);
    wanted.kind = HF_TASK_TYPE_ACTIVITY;
    ok(hf_claim_ready(hf_store_writer(world.store), &rng, &wanted, claims, &count, &err), "claim");
    ck_assert_uint_eq(count, 0);
    hf_world_close(&world);
    hf_test_place_free(place);
}

/* Tasks of a run that is paused rest until it is resumed, also for a claim that was on its way. */
HF_BOTH_ENGINES(paused_runs_are_not_claimed)
{
    hf_test_place *place = hf_test_place_new(kind);
    const hf_world_options options = {.manual = true};
    hf_claim claims[HF_CLAIM_MAX];
    hf_claim_wanted wanted;
    hf_world world;
    size_t count = 0;
    hf_db *db;
    hf_rng rng;

    hf_rng_init_seeded(&rng, 7);
    ok(hf_world_open(&world, hf_test_place_address(place), &options, &err), "open");
    runs_start(&world, 3);
    db = hf_store_writer(world.store);
    wanted = wanted_make(&world, 3);
    ok(hf_db_script(db, "UPDATE run SET paused_us = 1", &err), "pause");
    ok(hf_claim_ready(db, &rng, &wanted, claims, &count, &err), "claim");
    ck_assert_uint_eq(count, 0);
    ok(hf_db_script(db, "UPDATE run SET paused_us = NULL", &err), "resume");
    ok(hf_claim_ready(db, &rng, &wanted, claims, &count, &err), "claim");
    ck_assert_uint_eq(count, 3);
    hf_world_close(&world);
    hf_test_place_free(place);
}

/* Tasks that another session holds locked are passed over, not waited for. */
START_TEST(locked_tasks_are_passed_over)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    const hf_world_options options = {.manual = true};
    hf_claim claims[HF_CLAIM_MAX];
    hf_claim_wanted wanted;
    hf_world world;
    size_t count = 0;
    hf_db *other = NULL;
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_rng rng;

    hf_rng_init_seeded(&rng, 7);
    ok(hf_world_open(&world, hf_test_place_address(place), &options, &err), "open");
    runs_start(&world, 4);
    wanted = wanted_make(&world, 10);
    ok(hf_store_connect(world.store, HF_DB_WRITE, &other, &err), "connect");
    ok(hf_db_begin(other, HF_DB_WRITE, &err), "begin");
    ok(hf_db_query_text(other, "SELECT key FROM task ORDER BY key LIMIT 2 FOR UPDATE", NULL, 0,
                        &cursor, &err),
       "lock");
    while (row)
        ok(hf_db_step(cursor, &row, &err), "step");
    hf_db_end(cursor);
    ok(hf_claim_ready(hf_store_writer(world.store), &rng, &wanted, claims, &count, &err), "claim");
    ck_assert_uint_eq(count, 2);
    hf_db_rollback(other);
    ok(hf_claim_ready(other, &rng, &wanted, claims, &count, &err),
       "claim the rest on another connection");
    ck_assert_uint_eq(count, 2);
    hf_db_close(other);
    hf_world_close(&world);
    hf_test_place_free(place);
}
END_TEST

HF_PG_SUITE_MAIN("store/claim", HF_BOTH(ready_tasks_are_claimed_once),
                 HF_BOTH(paused_runs_are_not_claimed), {locked_tasks_are_passed_over, 0})
