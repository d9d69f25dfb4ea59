/* test_node_crash.c: a node that dies of code that it runs for another node. That one has the run
   all the time: it brings no types, and the shard of the run is among those that it keeps however
   many nodes there are. */
#include <stdio.h>
#include <string.h>

#include "commit/shard.h"
#include "engine/engine_impl.h"
#include "lib/kit.h"
#include "lib/mortal.h"
#include "lib/nap.h"

enum { KEPT = 16, ID_BYTES = 16 };

typedef struct world {
    hf_test_place *place;
    hf_engine *front;
    hf_mortal mortal;
    char id[ID_BYTES]; /* of the run */
} world;

static void world_open(world *w, const char *type)
{
    static const hf_app nothing = {.name = "front"};
    int64_t namespace_key;

    w->place = hf_test_place_new(HF_ENGINE_POSTGRES);
    w->mortal = hf_mortal_new(type);
    ck_assert_int_eq(hf_open(hf_test_place_address(w->place), &nothing, &w->front), HF_OK);
    hf_kit_ok(w->front, hf_start(w->front, "lives", NULL, .id = "bystander"));
    namespace_key = hf_engine_slot_get(w->front)->namespace_key;
    for (int i = 0; i == 0 || hf_shard_of(namespace_key, hf_slice_of(w->id)) >= KEPT; i++)
        (void)snprintf(w->id, sizeof(w->id), "run-%d", i);
    hf_mortal_begin(&w->mortal, hf_test_place_folder(w->place), hf_test_place_address(w->place),
                    w->id);
}

static void world_close(world *w)
{
    hf_close(w->front);
    hf_test_place_free(w->place);
}

static void why_await(world *w, const char *code)
{
    hf_value why = NULL;

    for (int i = 0; i < 900; i++) {
        if (!hf_why(w->front, w->id, hf_mem_of_engine(w->front), &why) &&
            strcmp(hf_str(why, "code", ""), code) == 0)
            return;
        hf_nap_ms(100);
        hf_mem_reset(hf_mem_of_engine(w->front));
    }
    ck_abort_msg("it was never %s: %s", code, hf_text(hf_mem_of_engine(w->front), why));
}

/* An activity fails after five crashes, which are no attempts. */
START_TEST(n04_an_activity_that_kills_another_node_is_quarantined)
{
    const hf_error *e = NULL;
    hf_value out = NULL;
    world w;

    world_open(&w, "calls");
    why_await(&w, "closed_failed");
    ck_assert_int_ne(hf_result(w.front, w.id, hf_seconds(60), &out, &e), HF_OK);
    ck_assert_ptr_nonnull(e);
    ck_assert_str_eq(e->type, "quarantined");
    ck_assert_int_eq(hf_mortal_end(&w.mortal), HF_MORTAL_LIMIT);
    ck_assert_int_eq(hf_test_count(w.front, w.id, "ActivityStarted"), HF_MORTAL_LIMIT);
    ck_assert_int_eq(hf_test_count(w.front, w.id, "ActivityRetryScheduled"), 0);
    world_close(&w);
}
END_TEST

static void quarantine_and_repair(const char *type, const char *result)
{
    const hf_error *e = NULL;
    hf_command_result repaired;
    hf_value out = NULL;
    hf_mem *mem;
    world w;

    world_open(&w, type);
    mem = hf_mem_of_engine(w.front);
    why_await(&w, "quarantined");
    hf_kit_ok(w.front, hf_result(w.front, "bystander", hf_seconds(60), &out, &e));
    why_await(&w, "quarantined");
    hf_mortal_mend(hf_test_place_folder(w.place));
    hf_kit_ok(w.front, hf_command(w.front, "repair", hf_json(mem, "{'workflow_id': %s}", w.id), mem,
                                  &repaired));
    ck_assert_str_eq(repaired.outcome, "repair_dispatched");
    hf_kit_ok(w.front, hf_result(w.front, w.id, hf_seconds(60), &out, &e));
    ck_assert_str_eq(hf_text(mem, out), result);
    ck_assert_int_eq(hf_mortal_end(&w.mortal), HF_MORTAL_LIMIT);
    ck_assert_int_eq(hf_test_count(w.front, w.id, "RunQuarantined"), 1);
    world_close(&w);
}

/* Code that kills the node that runs it is put aside after five crashes. */
START_TEST(n04_a_workflow_that_kills_another_node_is_quarantined)
{
    quarantine_and_repair("dies", "\"mended\"");
}
END_TEST

START_TEST(n04_a_step_that_kills_another_node_is_quarantined)
{
    quarantine_and_repair("machine", "1");
}
END_TEST

/* A node that is killed while it waits for its run proves nothing against it. */
START_TEST(n04_a_node_that_is_killed_while_it_waits_blames_nobody)
{
    world w;

    world_open(&w, "waits");
    ck_assert_int_eq(hf_mortal_end(&w.mortal), HF_MORTAL_GIVEN_UP);
    why_await(&w, "waiting_for_signal");
    ck_assert_int_eq(hf_test_count(w.front, w.id, "RunQuarantined"), 0);
    world_close(&w);
}
END_TEST

HF_PG_SUITE_MAIN("engine/node_crash", {n04_an_activity_that_kills_another_node_is_quarantined, 180},
                 {n04_a_workflow_that_kills_another_node_is_quarantined, 180},
                 {n04_a_step_that_kills_another_node_is_quarantined, 180},
                 {n04_a_node_that_is_killed_while_it_waits_blames_nobody, 180})
