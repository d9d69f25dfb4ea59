/* A disk that fails while the store works on it: every sync, write and read of every scenario fails
   once, and from then on; the disk fills up; it goes away altogether; its cache forgets what it
   promised to keep. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/campaign.h"
#include "lib/recovery.h"
#include "lib/scenario.h"
#include "lib/simvfs.h"
#include "lib/suite.h"

#define STORE "/sim/store.db"

enum {
    SCENARIOS_MAX = 16,
    POWER_LOSSES = 3, /* after each failed sync */
    POINTS_SHORT = 150,
    POINTS_USUAL = 700,
    POINTS_LONG = 4000,
    SCENARIO_SECONDS = 100000000, /* campaigns end by themselves */
    ROOM_BYTES = 3000
};

static int64_t operation_now(void *ctx)
{
    return hf_simvfs_operation(ctx);
}

/* ---- one play with a fault */

typedef struct trial {
    hf_simvfs *vfs;   /* where the scenario is played */
    hf_simvfs *after; /* and what a power loss makes of it */
    hf_ledger ledger;
    hf_stage stage;
    hf_status st; /* how the play ended */
    hf_err err;
} trial;

static void trial_init(trial *try)
{
    *try = (trial){.vfs = hf_simvfs_new("sim-faulty"), .after = hf_simvfs_new("sim-after")};
    ck_assert(try->vfs && try->after);
}

static void trial_fini(trial *try)
{
    hf_ledger_fini(&try->ledger);
    hf_simvfs_free(try->vfs);
    hf_simvfs_free(try->after);
}

static void trial_play(trial *try, const hf_scenario *scenario)
{
    try->stage = (hf_stage){.address = STORE,
                            .vfs = hf_simvfs_name(try->vfs),
                            .ledger = &try->ledger,
                            .now = operation_now,
                            .ctx = try->vfs};
    try->err = (hf_err){0};
    try->st = hf_scenario_play(scenario, &try->stage, &try->err);
}

static void trial_begin(trial *try, const hf_scenario *scenario)
{
    hf_simvfs_reset(try->vfs);
    ck_assert(hf_scenario_prepare(scenario, try->vfs, STORE));
    hf_ledger_clear(&try->ledger);
}

/* The process begins again on the files as it left them. */
static void trial_recover(const trial *try, const hf_simvfs *vfs, const hf_campaign *campaign)
{
    const hf_recovery recovery = {
        .address = STORE, .vfs = hf_simvfs_name(vfs), .ledger = &try->ledger, .commit = INT64_MAX};
    hf_complaint complaint;

    if (!hf_recovery_check(&recovery, &complaint))
        hf_campaign_fail(campaign, complaint.text);
}

/* And so does a machine that lost power after that. */
static void trial_lose_power(const trial *try, const hf_campaign *campaign)
{
    hf_simdisk *disk = hf_simdisk_new(hf_simvfs_log(try->vfs), 0);

    ck_assert_ptr_nonnull(disk);
    ck_assert(hf_simdisk_forward(disk, hf_simvfs_operation(try->vfs)));
    for (uint64_t seed = 1; seed <= POWER_LOSSES; seed++) {
        hf_simvfs_reset(try->after);
        ck_assert(hf_simdisk_lose_power(disk, seed, hf_simvfs_take, try->after));
        trial_recover(try, try->after, campaign);
    }
    hf_simdisk_free(disk);
}

/* ---- sweeps: the nth call of a kind, in all scenarios */

typedef void trial_judge(const trial *try, const hf_campaign *campaign);

typedef struct sweep {
    const char *name;
    hf_simvfs_fault fault;
    bool persistent;
    bool recorded;
    trial_judge *judge;
} sweep;

/* A sweep over one scenario under way. */
typedef struct sweeping {
    trial *try;
    const sweep *how;
    const hf_scenario *scenario;
    const hf_campaign *campaign;
} sweeping;

/* True while the fault was reached, so that the next one is worth trying. */
static bool sweep_point(void *ctx, int64_t nth)
{
    const sweeping *s = ctx;
    trial *try = s->try;
    const sweep *how = s->how;
    const hf_scenario *scenario = s->scenario;
    const hf_campaign *campaign = s->campaign;
    bool reached;

    trial_begin(try, scenario);
    if (how->recorded)
        ck_assert(hf_simvfs_record(try->vfs));
    hf_simvfs_fail(try->vfs, how->fault, nth, how->persistent);
    trial_play(try, scenario);
    reached = hf_simvfs_seen(try->vfs, how->fault) >= nth;
    hf_simvfs_fail(try->vfs, how->fault, 0, false);
    if (!reached) {
        if (try->st)
            hf_campaign_fail(campaign, try->err.text); /* nothing failed, so nothing may fail */
        return false;
    }
    how->judge(try, campaign);
    if (how->recorded)
        trial_lose_power(try, campaign);
    trial_recover(try, try->vfs, campaign);
    return true;
}

static int64_t calls_count(trial *try, const sweep *how, const hf_scenario *scenario)
{
    trial_begin(try, scenario);
    hf_simvfs_fail(try->vfs, how->fault, 0, false);
    trial_play(try, scenario);
    ck_assert_msg(try->st == HF_OK, "%s: %s", scenario->name, try->err.text);
    return hf_simvfs_seen(try->vfs, how->fault);
}

/* Tries as many of the calls as the campaign's share allows, evenly spread. */
static void sweep_run(const sweep *how)
{
    hf_campaign campaign;
    int64_t calls = 0;
    int64_t stride;
    int64_t reached = 0;
    int scenarios = 0;
    trial try;

    trial_init(&try);
    hf_campaign_init(&campaign, POINTS_SHORT, POINTS_USUAL, POINTS_LONG);
    for (int i = 0; i < hf_scenario_count; i++) {
        if (hf_scenarios[i].stride > 1)
            continue;
        calls += calls_count(&try, how, &hf_scenarios[i]);
        scenarios++;
    }
    stride = calls / campaign.points_max + 1;
    for (int i = 0; i < hf_scenario_count; i++) {
        sweeping one = {&try, how, &hf_scenarios[i], &campaign};

        if (hf_scenarios[i].stride == 1)
            reached += hf_campaign_sweep(&campaign, hf_scenarios[i].name, 1 + i % stride, stride,
                                         sweep_point, &one);
    }
    printf("io_faults %s: %" PRId64 " points of %" PRId64 ", %d scenarios\n", how->name, reached,
           calls, scenarios);
    trial_fini(&try);
}

static bool opening_failed(const trial *try)
{
    return try->ledger.count == 0;
}

/* The operation that was the first sync to fail. */
static int64_t failed_sync(const hf_sim_log *log)
{
    size_t at = 0;

    while (at < log->count && log->ops[at].kind != HF_SIM_SYNC_FAILED)
        at++;
    ck_assert_uint_lt(at, log->count);
    return (int64_t)at + 1;
}

/* Nobody was told of a unit after the failure, and the writer said that it stopped. A sync that
   fails while the store is being closed has nobody to be told any more. */
static void judge_stopped(const trial *try, const hf_campaign *campaign)
{
    int64_t failed = failed_sync(hf_simvfs_log(try->vfs));

    for (int i = 0; i < try->stage.closings; i++)
        if (failed > try->stage.closing_from[i] && failed <= try->stage.closing_to[i])
            return;
    for (size_t i = 0; i < try->ledger.count; i++)
        if (try->ledger.entries[i].at >= failed)
            hf_campaign_fail(campaign, "a unit was acknowledged after a sync had failed");
    if (try->st != HF_STOPPED && try->st != HF_IO)
        hf_campaign_fail(campaign, try->st ? try->err.text : "a failed sync was not noticed");
}

/* Closing may meet the fault too, which nobody has to be told about. */
static void judge_io(const trial *try, const hf_campaign *campaign)
{
    bool expected = try->st == HF_OK || try->st == HF_STOPPED || try->st == HF_IO ||
                    try->st == HF_CORRUPT || opening_failed(try);

    if (!expected)
        hf_campaign_fail(campaign, try->err.text);
}

static void judge_full(const trial *try, const hf_campaign *campaign)
{
    if (try->st != HF_OK && try->st != HF_FULL && try->st != HF_BUSY)
        hf_campaign_fail(campaign, try->err.text);
}

/* No unit is acknowledged after a sync failed; the writer stops; the restart finds the acknowledged
   ones, even when the machine loses power before it. */
START_TEST(stops_when_a_sync_fails)
{
    sweep_run(&(sweep){"sync once", HF_SIMVFS_SYNC, false, true, judge_stopped});
}
END_TEST

START_TEST(stops_when_syncs_fail)
{
    sweep_run(&(sweep){"sync from then on", HF_SIMVFS_SYNC, true, true, judge_stopped});
}
END_TEST

START_TEST(survives_a_write_error)
{
    sweep_run(&(sweep){"write once", HF_SIMVFS_WRITE, false, false, judge_io});
}
END_TEST

START_TEST(survives_write_errors)
{
    sweep_run(&(sweep){"write from then on", HF_SIMVFS_WRITE, true, false, judge_io});
}
END_TEST

START_TEST(survives_a_read_error)
{
    sweep_run(&(sweep){"read once", HF_SIMVFS_READ, false, false, judge_io});
}
END_TEST

START_TEST(survives_read_errors)
{
    sweep_run(&(sweep){"read from then on", HF_SIMVFS_READ, true, false, judge_io});
}
END_TEST

START_TEST(survives_one_moment_of_full_disk)
{
    sweep_run(&(sweep){"full once", HF_SIMVFS_FULL, false, false, judge_full});
}
END_TEST

START_TEST(survives_a_full_disk)
{
    sweep_run(&(sweep){"full from then on", HF_SIMVFS_FULL, true, false, judge_full});
}
END_TEST

/* ---- a disk that takes nothing for a while, under a running engine */

/* What the disk does, and what becomes of units meanwhile. */
typedef struct bar {
    hf_simvfs_fault fault;
    hf_status status;
} bar;

/* One unit that the disk may refuse. The writer lives, reads work, and once the disk takes
   something again the very same writer takes it. */
static void signal_despite(const bar *is, hf_world *world, hf_simvfs *vfs, hf_world_run *run,
                           int64_t nth, bool persistent, int64_t *out_seen)
{
    hf_err err = {0};
    hf_status st;

    hf_simvfs_fail(vfs, is->fault, nth, persistent);
    st = hf_world_signal(world, run, "more", ROOM_BYTES, &err);
    for (int i = 0; st && i < 3; i++) {
        hf_world_run copy = *run;

        ck_assert_msg(st == is->status, "%s", err.text);
        ck_assert_int_eq(hf_writer_failure(world->writer, NULL), HF_OK);
        ck_assert_int_eq(hf_world_reload(world, &copy, &err), HF_OK);
        ck_assert_int_eq(copy.base.last_seq, run->base.last_seq);
        if (!persistent)
            break;
        st = hf_world_signal(world, run, "more", ROOM_BYTES, &err);
        ck_assert_int_ne(st, HF_OK);
    }
    *out_seen = hf_simvfs_seen(vfs, is->fault);
    hf_simvfs_fail(vfs, is->fault, 0, false);
    if (st) {
        st = hf_world_signal(world, run, "more", ROOM_BYTES, &err);
        ck_assert_msg(st == HF_OK, "it may be written again: %s", err.text);
    }
}

static void bar_run(const bar *is)
{
    hf_simvfs *vfs = hf_simvfs_new("sim-bar");
    const hf_world_options options = {.vfs = "sim-bar", .manual = true};
    hf_ledger ledger = {0};
    const hf_recovery recovery = {
        .address = STORE, .vfs = "sim-bar", .ledger = &ledger, .commit = INT64_MAX};
    hf_complaint complaint;
    hf_world world;
    hf_world_run run;
    hf_err err = {0};
    int points = 0;

    ck_assert_int_eq(hf_world_open(&world, STORE, &options, &err), HF_OK);
    ck_assert_int_eq(hf_world_start(&world, "patient", &run, &err), HF_OK);
    for (int persistent = 0; persistent < 2; persistent++)
        for (int64_t nth = 1, seen = 1; nth <= seen; nth++, points++) {
            signal_despite(is, &world, vfs, &run, nth, persistent, &seen);
            hf_ledger_note(&ledger, &run.base, points + 1, 0);
            if (points % 7 == 0) /* the log written back to such a disk */
                hf_simvfs_fail(vfs, is->fault, 1 + nth % 5, true);
            err = (hf_err){0};
            ck_assert_int_eq(hf_db_checkpoint(hf_store_writer(world.store), &err),
                             points % 7 == 0 ? is->status : HF_OK);
            hf_simvfs_fail(vfs, is->fault, 0, false);
        }
    ck_assert_int_gt(points, 3); /* a transaction is written in one or two pieces */
    hf_world_close(&world);
    ck_assert_msg(hf_recovery_check(&recovery, &complaint), "%s", complaint.text);
    printf("io_faults %s and free again: %d points\n", hf_strstatus(is->status), points);
    hf_ledger_fini(&ledger);
    hf_simvfs_free(vfs);
}

/* Units fail with HF_FULL while there is no room; nothing is restarted when there is. */
START_TEST(goes_on_when_space_returns)
{
    bar_run(&(bar){HF_SIMVFS_FULL, HF_FULL});
}
END_TEST

/* The same with HF_READONLY on a file system that was mounted anew. */
START_TEST(goes_on_when_writable_again)
{
    bar_run(&(bar){HF_SIMVFS_READONLY, HF_READONLY});
}
END_TEST

/* ---- a disk that goes away */

/* From one operation on nothing works any more, as a process sees it whose disk was pulled out. It
   ends without breaking a rule of its own, and the files are as a kill would have left them. */
START_TEST(ends_in_order_when_the_disk_goes_away)
{
    int64_t operations[SCENARIOS_MAX];
    hf_campaign campaign;
    int64_t all = 0;
    int64_t stride;
    trial try;

    trial_init(&try);
    hf_campaign_init(&campaign, POINTS_SHORT, POINTS_USUAL, POINTS_LONG);
    ck_assert_int_le(hf_scenario_count, SCENARIOS_MAX);
    for (int i = 0; i < hf_scenario_count; i++) {
        trial_begin(&try, &hf_scenarios[i]);
        trial_play(&try, &hf_scenarios[i]);
        operations[i] = hf_simvfs_operation(try.vfs);
        all += operations[i];
    }
    stride = campaign.point >= 0 ? 1 : all / campaign.points_max + 1;
    for (int i = 0; i < hf_scenario_count; i++)
        for (int64_t op = 1 + i % stride; op <= operations[i]; op += stride) {
            if (!hf_campaign_takes(&campaign, hf_scenarios[i].name, op, 0))
                continue;
            trial_begin(&try, &hf_scenarios[i]);
            hf_simvfs_crash_at(try.vfs, op);
            trial_play(&try, &hf_scenarios[i]);
            hf_simvfs_crash_at(try.vfs, 0);
            trial_recover(&try, try.vfs, &campaign);
        }
    printf("io_faults disk gone: %" PRId64 " points, %d scenarios\n", campaign.points,
           hf_scenario_count);
    trial_fini(&try);
}
END_TEST

/* ---- a disk whose syncs are lies */

/* What a start finds after a power loss on such a disk: a store that is refused, one that verify
   complains about, or one that may be older than it should be but has no run in a state it never
   was in. */
static bool lie_detected(const trial *try, hf_complaint *complaint)
{
    const hf_store_options options = {
        .size = sizeof(options), .role = HF_STORE_OWNER, .vfs = hf_simvfs_name(try->after)};
    const hf_recovery recovery = {.ledger = &try->ledger, .known = true};
    hf_store *store = NULL;
    hf_err err = {0};
    bool detected = true;

    complaint->text[0] = '\0';
    if (hf_store_open(STORE, &options, &store, &err) == HF_OK &&
        hf_recovery_verify(STORE, options.vfs, complaint)) {
        detected = false;
        (void)hf_recovery_ledger(&recovery, hf_store_writer(store), complaint);
    } else {
        complaint->text[0] = '\0'; /* it was found out, which is all that can be asked for */
    }
    hf_store_close(store);
    return detected;
}

/* From the first acknowledged unit on no sync has any effect, then the power fails. Acknowledged
   units are lost, as the documents say; but nothing is wrong without a word. */
START_TEST(is_never_wrong_in_silence_when_syncs_lie)
{
    hf_campaign campaign;
    hf_complaint complaint;
    int64_t detected = 0;
    trial try;

    trial_init(&try);
    hf_campaign_init(&campaign, POINTS_SHORT, POINTS_USUAL, POINTS_LONG);
    if (campaign.points_max > POINTS_LONG)
        campaign.points_max = POINTS_LONG; /* seeds never end; the other cases of this program do */
    for (int64_t seed = campaign.seed > 0 ? campaign.seed : 1; !hf_campaign_over(&campaign);
         seed++) {
        for (int i = 0; i < hf_scenario_count && !hf_campaign_over(&campaign); i++) {
            hf_simdisk *disk;

            if (hf_scenarios[i].stride > 1)
                continue;
            trial_begin(&try, &hf_scenarios[i]);
            ck_assert(hf_simvfs_record(try.vfs));
            trial_play(&try, &hf_scenarios[i]);
            disk = hf_simdisk_new(hf_simvfs_log(try.vfs), try.ledger.entries[0].at + 1);
            ck_assert_ptr_nonnull(disk);
            for (int64_t op = try.ledger.entries[0].at + seed % 7;
                 op <= hf_simvfs_operation(try.vfs); op += 31) {
                ck_assert(hf_simdisk_forward(disk, op));
                if (!hf_campaign_takes(&campaign, hf_scenarios[i].name, op, seed))
                    continue;
                hf_simvfs_reset(try.after);
                ck_assert(hf_simdisk_lose_power(disk, (uint64_t)seed, hf_simvfs_take, try.after));
                detected += lie_detected(&try, &complaint);
                if (complaint.text[0])
                    hf_campaign_fail(&campaign, complaint.text);
            }
            hf_simdisk_free(disk);
        }
        if (campaign.point >= 0 || campaign.scenario)
            break; /* the seed that was asked for is done */
    }
    printf("io_faults lying syncs: %" PRId64 " points, %" PRId64
           " found out, the others only older\n",
           campaign.points, detected);
    trial_fini(&try);
}
END_TEST

HF_SUITE_MAIN("crash/io_faults", {stops_when_a_sync_fails, SCENARIO_SECONDS},
              {stops_when_syncs_fail, SCENARIO_SECONDS}, {survives_a_write_error, SCENARIO_SECONDS},
              {survives_write_errors, SCENARIO_SECONDS}, {survives_a_read_error, SCENARIO_SECONDS},
              {survives_read_errors, SCENARIO_SECONDS},
              {survives_one_moment_of_full_disk, SCENARIO_SECONDS},
              {survives_a_full_disk, SCENARIO_SECONDS}, {goes_on_when_space_returns, 300},
              {goes_on_when_writable_again, 300},
              {ends_in_order_when_the_disk_goes_away, SCENARIO_SECONDS},
              {is_never_wrong_in_silence_when_syncs_lie, SCENARIO_SECONDS})
