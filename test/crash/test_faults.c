/* Every allocation and every database call of the scenarios fails once, and from then on; every
   answer to a COMMIT is lost once. Nothing leaks (the sanitizer build looks), no
   transaction is left half done, and a unit whose answer was lost is applied exactly once. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "lib/campaign.h"
#include "lib/engine.h"
#include "lib/recovery.h"
#include "lib/scenario.h"
#include "lib/simvfs.h"

#define STORE "/sim/store.db"

enum {
    POINTS_SHORT = 150,
    POINTS_USUAL = 900,
    POINTS_LONG = 4000,
    POSTGRES_SHARE = 25,     /* a point costs that much more there */
    CASE_SECONDS = 100000000 /* campaigns end by themselves */
};

/* Memory of SQLite's own that runs out. Counted here, because the engine's fault state does not see
 * it. */
typedef struct memory_trap {
    sqlite3_mem_methods real;
    int64_t seen;
    int64_t fail_at; /* 0: never */
    bool persistent;
} memory_trap;

static memory_trap memory;

typedef enum fault_kind { FAULT_ALLOC, FAULT_DB, FAULT_LOST, FAULT_SQLITE_MEMORY } fault_kind;

typedef struct sweep {
    const char *name;
    fault_kind kind;
    bool persistent;
    hf_engine_kind engine;
} sweep;

/* One play of a scenario. */
typedef struct trial {
    hf_simvfs *vfs;       /* SQLite */
    hf_test_place *place; /* PostgreSQL: a new one for each play */
    hf_ledger ledger;
    hf_status st;
    hf_err err;
} trial;

/* A sweep over one scenario under way. */
typedef struct sweeping {
    trial *try;
    const sweep *how;
    const hf_scenario *scenario;
    const hf_campaign *campaign;
} sweeping;

/* ---- arming */

static bool memory_short(void)
{
    memory.seen++;
    return memory.fail_at &&
           (memory.seen == memory.fail_at || (memory.persistent && memory.seen > memory.fail_at));
}

static void *memory_new(int bytes)
{
    return memory_short() ? NULL : memory.real.xMalloc(bytes);
}

static void *memory_resize(void *old, int bytes)
{
    return memory_short() ? NULL : memory.real.xRealloc(old, bytes);
}

/* Before SQLite is used for the first time in this process. */
static void memory_hook(void)
{
    sqlite3_mem_methods hooked;

    ck_assert_int_eq(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory.real), SQLITE_OK);
    hooked = memory.real;
    hooked.xMalloc = memory_new;
    hooked.xRealloc = memory_resize;
    ck_assert_int_eq(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), SQLITE_OK);
    ck_assert_int_eq(sqlite3_config(SQLITE_CONFIG_MALLOC, &hooked), SQLITE_OK);
}

static void fault_arm(const sweep *how, int64_t nth)
{
    switch (how->kind) {
    case FAULT_ALLOC:
        hf_fault_arm(HF_FAULT_ALLOC, nth, how->persistent);
        break;
    case FAULT_DB:
        hf_fault_arm(HF_FAULT_DB, nth, how->persistent);
        break;
    case FAULT_LOST:
        hf_fault_arm(HF_FAULT_DB_LOST, nth, how->persistent);
        break;
    case FAULT_SQLITE_MEMORY:
        memory.seen = 0;
        memory.fail_at = nth;
        memory.persistent = how->persistent;
        break;
    }
}

static int64_t fault_seen(const sweep *how)
{
    switch (how->kind) {
    case FAULT_ALLOC:
        return hf_fault_seen(HF_FAULT_ALLOC);
    case FAULT_DB:
        return hf_fault_seen(HF_FAULT_DB);
    case FAULT_LOST:
        return hf_fault_seen(HF_FAULT_DB_LOST);
    case FAULT_SQLITE_MEMORY:
        return memory.seen;
    }
    return 0;
}

/* ---- one play */

static int64_t nothing_passes(void *ctx)
{
    (void)ctx;
    return 0;
}

static void trial_begin(trial *try, const sweep *how, const hf_scenario *scenario)
{
    hf_ledger_clear(&try->ledger);
    if (how->engine == HF_ENGINE_POSTGRES)
        try->place = hf_test_place_new(HF_ENGINE_POSTGRES);
    else {
        hf_simvfs_reset(try->vfs);
        ck_assert(hf_scenario_prepare(scenario, try->vfs, STORE));
    }
}

static void trial_end(trial *try)
{
    if (try->place)
        hf_test_place_free(try->place);
    try->place = NULL;
}

static const char *trial_address(const trial *try)
{
    return try->place ? hf_test_place_address(try->place) : STORE;
}

static void trial_play(trial *try, const sweep *how, const hf_scenario *scenario, int64_t nth)
{
    hf_stage stage = {.address = trial_address(try),
                      .vfs = try->place ? NULL : hf_simvfs_name(try->vfs),
                      .ledger = &try->ledger,
                      .now = nothing_passes};

    try->err = (hf_err){0};
    fault_arm(how, nth);
    try->st = hf_scenario_play(scenario, &stage, &try->err);
}

/* How a play may end when the fault was met. Memory that is missing once is no reason to stop; a
   lost answer is no reason to fail at all. */
static bool ending_allowed(const sweep *how, hf_status st)
{
    switch (how->kind) {
    case FAULT_ALLOC:
    case FAULT_SQLITE_MEMORY:
        return st == HF_OK || st == HF_NOMEM;
    case FAULT_DB:
        return st == HF_OK || st == HF_IO || st == HF_STOPPED;
    case FAULT_LOST:
        return st == HF_OK;
    }
    return false;
}

/* True while the fault was reached. */
static bool sweep_point(void *ctx, int64_t nth)
{
    const sweeping *s = ctx;
    trial *try = s->try;
    const sweep *how = s->how;
    const hf_scenario *scenario = s->scenario;
    const hf_campaign *campaign = s->campaign;
    hf_complaint complaint;
    hf_recovery recovery = {.ledger = &try->ledger,
                            .commit = INT64_MAX,
                            .exact = how->kind == FAULT_LOST,
                            .known = how->kind == FAULT_LOST};
    bool reached;

    trial_begin(try, how, scenario);
    trial_play(try, how, scenario, nth);
    reached = fault_seen(how) >= nth;
    fault_arm(how, 0);
    if (reached ? !ending_allowed(how, try->st) : try->st != HF_OK) {
        (void)snprintf(complaint.text, sizeof(complaint.text), "%s: the play ended with %s: %s",
                       how->name, hf_strstatus(try->st), try->err.text);
        hf_campaign_fail(campaign, complaint.text);
    }
    recovery.address = trial_address(try);
    recovery.vfs = try->place ? NULL : hf_simvfs_name(try->vfs);
    if (!hf_recovery_check(&recovery, &complaint))
        hf_campaign_fail(campaign, complaint.text);
    trial_end(try);
    return reached;
}

static int64_t calls_count(trial *try, const sweep *how, const hf_scenario *scenario)
{
    int64_t calls;

    trial_begin(try, how, scenario);
    trial_play(try, how, scenario, 0);
    calls = fault_seen(how);
    ck_assert_msg(try->st == HF_OK, "%s: %s", scenario->name, try->err.text);
    trial_end(try);
    return calls;
}

/* PostgreSQL gets the scenarios in which the engines differ: batches and what becomes of refused
 * units. */
static bool scenario_used(const sweep *how, const hf_scenario *scenario)
{
    if (how->engine == HF_ENGINE_SQLITE)
        return scenario->stride == 1;
    return strcmp(scenario->name, "batches") == 0 || strcmp(scenario->name, "conflicts") == 0;
}

static void sweep_run(const sweep *how)
{
    int64_t share = how->engine == HF_ENGINE_POSTGRES ? POSTGRES_SHARE : 1;
    trial try = {0};
    hf_campaign campaign;
    int64_t calls = 0;
    int64_t reached = 0;
    int64_t stride;
    int scenarios = 0;

    hf_campaign_init(&campaign, POINTS_SHORT / share, POINTS_USUAL / share, POINTS_LONG / share);
    if (how->kind == FAULT_SQLITE_MEMORY)
        memory_hook();
    try.vfs = hf_simvfs_new("sim-faulty");
    ck_assert_ptr_nonnull(try.vfs);
    for (int i = 0; i < hf_scenario_count; i++) {
        if (!scenario_used(how, &hf_scenarios[i]))
            continue;
        calls += calls_count(&try, how, &hf_scenarios[i]);
        scenarios++;
    }
    stride = calls / campaign.points_max + 1;
    for (int i = 0; i < hf_scenario_count; i++) {
        sweeping one = {&try, how, &hf_scenarios[i], &campaign};

        if (scenario_used(how, &hf_scenarios[i]))
            reached += hf_campaign_sweep(&campaign, hf_scenarios[i].name, 1 + i % stride, stride,
                                         sweep_point, &one);
    }
    printf("faults %s: %" PRId64 " points of %" PRId64 ", %d scenarios\n", how->name, reached,
           calls, scenarios);
    hf_ledger_fini(&try.ledger);
    hf_simvfs_free(try.vfs);
}

/* One allocation fails: the action says HF_NOMEM, the engine lives. */
START_TEST(an_allocation_fails_sqlite)
{
    sweep_run(&(sweep){"allocation once, sqlite", FAULT_ALLOC, false, HF_ENGINE_SQLITE});
}
END_TEST

/* Memory is gone for good. */
START_TEST(allocations_fail_sqlite)
{
    sweep_run(&(sweep){"allocation from then on, sqlite", FAULT_ALLOC, true, HF_ENGINE_SQLITE});
}
END_TEST

/* The same inside SQLite, whose errors come back through the driver. */
START_TEST(an_allocation_of_sqlite_fails)
{
    sweep_run(
        &(sweep){"allocation of SQLite's once", FAULT_SQLITE_MEMORY, false, HF_ENGINE_SQLITE});
}
END_TEST

START_TEST(allocations_of_sqlite_fail)
{
    sweep_run(&(sweep){"allocation of SQLite's from then on", FAULT_SQLITE_MEMORY, true,
                       HF_ENGINE_SQLITE});
}
END_TEST

/* One database call fails before it did anything. */
START_TEST(a_call_fails_sqlite)
{
    sweep_run(&(sweep){"call once, sqlite", FAULT_DB, false, HF_ENGINE_SQLITE});
}
END_TEST

START_TEST(calls_fail_sqlite)
{
    sweep_run(&(sweep){"call from then on, sqlite", FAULT_DB, true, HF_ENGINE_SQLITE});
}
END_TEST

/* A commit worked, but its answer never came: the read-back finds the units, each exactly once. */
START_TEST(an_answer_is_lost_sqlite)
{
    sweep_run(&(sweep){"answer lost once, sqlite", FAULT_LOST, false, HF_ENGINE_SQLITE});
}
END_TEST

START_TEST(an_allocation_fails_postgres)
{
    sweep_run(&(sweep){"allocation once, postgres", FAULT_ALLOC, false, HF_ENGINE_POSTGRES});
}
END_TEST

START_TEST(a_call_fails_postgres)
{
    sweep_run(&(sweep){"call once, postgres", FAULT_DB, false, HF_ENGINE_POSTGRES});
}
END_TEST

START_TEST(calls_fail_postgres)
{
    sweep_run(&(sweep){"call from then on, postgres", FAULT_DB, true, HF_ENGINE_POSTGRES});
}
END_TEST

START_TEST(an_answer_is_lost_postgres)
{
    sweep_run(&(sweep){"answer lost once, postgres", FAULT_LOST, false, HF_ENGINE_POSTGRES});
}
END_TEST

HF_PG_SUITE_MAIN("crash/faults", {an_allocation_fails_sqlite, CASE_SECONDS},
                 {allocations_fail_sqlite, CASE_SECONDS},
                 {an_allocation_of_sqlite_fails, CASE_SECONDS},
                 {allocations_of_sqlite_fail, CASE_SECONDS}, {a_call_fails_sqlite, CASE_SECONDS},
                 {calls_fail_sqlite, CASE_SECONDS}, {an_answer_is_lost_sqlite, CASE_SECONDS},
                 {an_allocation_fails_postgres, CASE_SECONDS},
                 {a_call_fails_postgres, CASE_SECONDS}, {calls_fail_postgres, CASE_SECONDS},
                 {an_answer_is_lost_postgres, CASE_SECONDS})
