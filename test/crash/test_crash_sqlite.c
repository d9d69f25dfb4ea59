/* A store on a simulated disk, stopped after every operation of every scenario: killed once, and
   left without power in many ways. The scenario is played once and recorded; each point then begins
   with the disk as the record says it would be, so that a point costs about a millisecond. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "lib/campaign.h"
#include "lib/recovery.h"
#include "lib/scenario.h"
#include "lib/simvfs.h"
#include "lib/suite.h"

#define STORE "/sim/store.db"

enum {
    SCENARIOS_MAX = 16,
    SEEDS_MIN = 4, /* power losses for each operation in one round, beside the kill */
    POINTS_SHORT = 2000,
    POINTS_USUAL = 20000,
    POINTS_LONG = 40000,
    CASE_SECONDS = 100000000, /* campaigns end by themselves */
    TWICE_EVERY = 8           /* comparing two openings costs as much as the rest */
};

typedef struct recorded {
    const hf_scenario *scenario;
    hf_simvfs *vfs;
    hf_ledger ledger;
    int64_t begins; /* the operation that put the last of what it finds in place */
    int64_t operations;
} recorded;

static int64_t operation_now(void *ctx)
{
    return hf_simvfs_operation(ctx);
}

static void scenario_record(recorded *record, const hf_scenario *scenario)
{
    char name[HF_SIM_NAME_BYTES_MAX];
    hf_stage stage = {.address = STORE, .ledger = &record->ledger, .now = operation_now};
    hf_err err = {0};
    hf_status st;

    (void)snprintf(name, sizeof(name), "sim-%s", scenario->name);
    *record = (recorded){.scenario = scenario, .vfs = hf_simvfs_new(name)};
    ck_assert_ptr_nonnull(record->vfs);
    ck_assert(hf_scenario_prepare(scenario, record->vfs, STORE));
    ck_assert(hf_simvfs_record(record->vfs));
    record->begins = hf_simvfs_operation(record->vfs);
    stage.vfs = name;
    stage.ctx = record->vfs;
    (void)sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, 1,
                               NULL); /* salts of the log are the same each time */
    st = hf_scenario_play(scenario, &stage, &err);
    ck_assert_msg(st == HF_OK, "%s: %s", scenario->name, err.text);
    record->operations = hf_simvfs_operation(record->vfs);
    ck_assert_uint_gt(record->ledger.count, 0);
}

static void record_forget(recorded *record)
{
    hf_simvfs_free(record->vfs);
    hf_ledger_fini(&record->ledger);
}

/* Puts the disk of the crash in place: seed 0 is the kill. */
static void disk_restore(const hf_simdisk *disk, int64_t seed, hf_simvfs *target)
{
    hf_simvfs_reset(target);
    if (seed == 0)
        ck_assert(hf_simdisk_kill(disk, hf_simvfs_take, target));
    else
        ck_assert(hf_simdisk_lose_power(disk, (uint64_t)seed, hf_simvfs_take, target));
}

static void point_check(hf_campaign *campaign, const recorded *record, const hf_simdisk *disk,
                        int64_t op, int64_t seed, hf_simvfs *target)
{
    const hf_recovery recovery = {.address = STORE,
                                  .vfs = hf_simvfs_name(target),
                                  .ledger = &record->ledger,
                                  .commit = hf_ledger_commit_at(&record->ledger, op),
                                  .exact = true,
                                  .known = true,
                                  .twice = campaign->points % TWICE_EVERY == 0};
    hf_complaint complaint;

    disk_restore(disk, seed, target);
    if (!hf_recovery_check(&recovery, &complaint))
        hf_campaign_fail(campaign, complaint.text);
}

/* One pass over a scenario: every stride-th operation from `first`, each with the seeds from..to.
 */
static void scenario_pass(hf_campaign *campaign, const recorded *record, int64_t first,
                          int64_t stride, int64_t seed, int64_t seed_end, hf_simvfs *target)
{
    hf_simdisk *disk = hf_simdisk_new(hf_simvfs_log(record->vfs), 0);

    ck_assert_ptr_nonnull(disk);
    for (int64_t op = first; op <= record->operations && !hf_campaign_over(campaign);
         op += stride) {
        ck_assert(hf_simdisk_forward(disk, op));
        for (int64_t at = seed; at < seed_end && !hf_campaign_over(campaign); at++)
            if (hf_campaign_takes(campaign, record->scenario->name, op, at))
                point_check(campaign, record, disk, op, at, target);
    }
    hf_simdisk_free(disk);
}

/* Points of one round over all scenarios, at stride 1. */
static int64_t round_points(const recorded *records)
{
    int64_t points = 0;

    for (int i = 0; i < hf_scenario_count; i++)
        points += (records[i].operations - records[i].begins + 1) / records[i].scenario->stride *
                  (SEEDS_MIN + 1);
    return points;
}

/* The share of the campaign: every operation of every scenario, killed once, then power losses with
   new seeds round after round. Only a campaign too short for one round takes every so many
   operations instead. Returns the seeds. */
static int64_t campaign_run(hf_campaign *campaign, const recorded *records, hf_simvfs *target)
{
    int64_t all = round_points(records);
    int64_t stride = 1;
    int64_t round = 0;

    if (campaign->points_max < POINTS_USUAL)
        stride = (all + campaign->points_max - 1) / campaign->points_max;
    else if (campaign->points_max < all)
        campaign->points_max = all; /* no operation is left out */
    while (!hf_campaign_over(campaign)) {
        int64_t before = campaign->points;

        for (int i = 0; i < hf_scenario_count; i++) {
            int64_t step = stride * records[i].scenario->stride;

            scenario_pass(campaign, &records[i], records[i].begins + round % step, step,
                          round ? round * SEEDS_MIN + 1 : 0, (round + 1) * SEEDS_MIN + 1, target);
        }
        round++;
        ck_assert_msg(campaign->points > before, "there is no such scenario");
    }
    return round * SEEDS_MIN;
}

/* One operation and one seed that were asked for, or all seeds of a round. */
static void point_repeat(hf_campaign *campaign, const recorded *records, hf_simvfs *target)
{
    int64_t seed = campaign->seed >= 0 ? campaign->seed : 0;
    int64_t seed_end = campaign->seed >= 0 ? seed + 1 : SEEDS_MIN + 1;

    for (int i = 0; i < hf_scenario_count; i++)
        scenario_pass(campaign, &records[i], campaign->point, INT32_MAX, seed, seed_end, target);
    ck_assert_msg(campaign->points > 0, "there is no such point");
}

/* Killed or without power after any operation, a store recovers to what it had acknowledged. */
START_TEST(survives_every_crash_point)
{
    recorded records[SCENARIOS_MAX];
    hf_simvfs *target = hf_simvfs_new("sim-after");
    hf_campaign campaign;
    int64_t began_us = hf_clock_mono_us(hf_clock_system());
    int64_t seeds = 1;

    hf_campaign_init(&campaign, POINTS_SHORT, POINTS_USUAL, POINTS_LONG);
    ck_assert_int_le(hf_scenario_count, SCENARIOS_MAX);
    for (int i = 0; i < hf_scenario_count; i++)
        scenario_record(&records[i], &hf_scenarios[i]);
    if (campaign.point >= 0)
        point_repeat(&campaign, records, target);
    else
        seeds = campaign_run(&campaign, records, target);
    printf("crash_sqlite: %" PRId64 " points, %d scenarios, %" PRId64 " seeds, %" PRId64
           " points/s\n",
           campaign.points, hf_scenario_count, seeds,
           campaign.points * 1000000 / (hf_clock_mono_us(hf_clock_system()) - began_us + 1));
    for (int i = 0; i < hf_scenario_count; i++)
        record_forget(&records[i]);
    hf_simvfs_free(target);
}
END_TEST

HF_SUITE_MAIN("crash/crash_sqlite", {survives_every_crash_point, CASE_SECONDS})
