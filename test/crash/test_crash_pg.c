/* A PostgreSQL server that stops as if it had lost power while several engines write to it: no
   acknowledged unit is lost, none is there twice, and everybody goes on by themselves once the
   server is back. */
#include <inttypes.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/thread.h"
#include "lib/campaign.h"
#include "lib/pg.h"
#include "lib/recovery.h"
#include "lib/world.h"

enum {
    LOADS = 4,
    CYCLES_SHORT = 3,
    CYCLES_LONG = 30,
    IN_FLIGHT = 8, /* units that a load has under way at once */
    DELAY_MS_MAX = 400,
    PATIENCE_US = 60000000,
    CASE_SECONDS = 100000000 /* the campaign ends by itself */
};

/* One engine with a store of its own in the server. */
typedef struct load {
    hf_thread thread;
    char address[512];
    hf_world world;
    hf_world_run run;
    hf_mutex lock;
    hf_ledger ledger;      /* under the lock */
    atomic_int under_way;  /* units that nobody has answered yet */
    atomic_llong answered; /* acknowledged units in all */
    _Atomic(int) bad;      /* the first outcome that is no HF_OK */
    atomic_bool stop;
} load;

static void pause_ms(int64_t ms)
{
    (void)poll(NULL, 0, (int)ms);
}

static void unit_answered(hf_unit *unit, void *ctx)
{
    load *self = ctx;
    hf_status st = hf_unit_outcome(unit, NULL);

    if (st == HF_OK) {
        hf_mutex_lock(&self->lock);
        hf_ledger_note(&self->ledger, hf_unit_after(unit, 0), 1, 0);
        hf_mutex_unlock(&self->lock);
        atomic_fetch_add(&self->answered, 1);
    } else {
        atomic_store(&self->bad, (int)st);
    }
    hf_unit_free(unit);
    atomic_fetch_sub(&self->under_way, 1);
}

/* Keeps several units under way until it is told to stop. All of them are facts from outside for
   one run, so that each must be found again or written once more, on top of whatever is there. */
static void load_run(void *ctx)
{
    load *self = ctx;
    hf_err err = {0};

    while (!atomic_load(&self->stop) && !atomic_load(&self->bad)) {
        hf_unit *unit;

        if (atomic_load(&self->under_way) >= IN_FLIGHT) {
            pause_ms(1);
            continue;
        }
        unit = hf_world_signal_unit(&self->world, &self->run, "beat", unit_answered, self, &err);
        if (!unit) {
            atomic_store(&self->bad, (int)HF_ERROR);
            break;
        }
        atomic_fetch_add(&self->under_way, 1);
        if (hf_writer_submit(self->world.writer, unit, &err)) {
            atomic_store(&self->bad, (int)err.status);
            hf_unit_free(unit);
            break;
        }
    }
}

static void load_open(load *self, const hf_pg_server *server, int number)
{
    hf_err err = {0};
    const char *uri = hf_pg_uri(server);

    (void)snprintf(self->address, sizeof(self->address), "%s%chf_schema=load_%d", uri,
                   strchr(uri, '?') ? '&' : '?', number);
    ck_assert_int_eq(hf_mutex_init(&self->lock, &err), HF_OK);
    ck_assert_msg(hf_world_open(&self->world, self->address, NULL, &err) == HF_OK, "%s", err.text);
    ck_assert_msg(hf_world_start(&self->world, "beaten", &self->run, &err) == HF_OK, "%s",
                  err.text);
    hf_ledger_note(&self->ledger, &self->run.base, 1, 0);
    ck_assert_int_eq(hf_thread_start(&self->thread, "load", load_run, self, &err), HF_OK);
}

static void load_close(load *self)
{
    atomic_store(&self->stop, true);
    hf_thread_join(&self->thread);
    hf_world_close(&self->world);
    hf_ledger_fini(&self->ledger);
    hf_mutex_fini(&self->lock);
}

/* Waits until the load has had that many more units acknowledged. */
static void load_proceeds(const load *self, int64_t more)
{
    int64_t wanted = atomic_load(&self->answered) + more;
    int64_t until = hf_clock_mono_us(hf_clock_system()) + PATIENCE_US;

    while (atomic_load(&self->answered) < wanted) {
        ck_assert_msg(!atomic_load(&self->bad), "a unit ended with %s",
                      hf_strstatus((hf_status)atomic_load(&self->bad)));
        ck_assert_msg(hf_clock_mono_us(hf_clock_system()) < until, "the load did not go on");
        pause_ms(1);
    }
}

/* While the load goes on: what was acknowledged before now is there. */
static void load_check(load *self)
{
    hf_ledger seen = {0};
    const hf_recovery recovery = {.ledger = &seen, .commit = INT64_MAX};
    hf_complaint complaint = {{0}};
    hf_db *db = NULL;
    hf_err err = {0};

    hf_mutex_lock(&self->lock);
    for (size_t i = 0; i < self->ledger.count; i++) {
        const hf_ledger_entry *entry = &self->ledger.entries[i];
        hf_run_base after = {.run = entry->run, .last_seq = entry->seq};

        memcpy(after.head, entry->head, sizeof(after.head));
        hf_ledger_note(&seen, &after, 1, 0);
    }
    hf_mutex_unlock(&self->lock);
    ck_assert_msg(hf_store_connect(self->world.store, HF_DB_READ, &db, &err) == HF_OK, "%s",
                  err.text);
    ck_assert_msg(hf_recovery_ledger(&recovery, db, &complaint), "%s", complaint.text);
    hf_db_close(db);
    hf_ledger_fini(&seen);
    ck_assert_msg(hf_recovery_verify(self->address, NULL, &complaint), "%s", complaint.text);
}

/* Every acknowledged event has one number, and no number is missing: nothing was applied twice or
 * got lost. */
static void load_exact(const load *self)
{
    int64_t last = 0;

    for (size_t i = 0; i < self->ledger.count; i++)
        if (self->ledger.entries[i].seq > last)
            last = self->ledger.entries[i].seq;
    ck_assert_int_eq(last, 2 + (int64_t)self->ledger.count -
                               1); /* the start has two events, a signal one */
}

static int64_t cycles_wanted(void)
{
    const char *how = getenv("HF_CAMPAIGN");

    if (how && strcmp(how, "forever") == 0)
        return INT64_MAX;
    return how && strcmp(how, "1") != 0 ? CYCLES_LONG : CYCLES_SHORT;
}

/* The server is stopped at once at a random moment of the load and started again. */
START_TEST(loses_nothing_when_the_server_crashes)
{
    static load loads[LOADS];
    hf_pg_server *server = NULL;
    int64_t cycles = cycles_wanted();
    const char *seed = getenv("HF_CRASH_SEED");
    int64_t units = 0;
    uint64_t unknown = 0;
    hf_rng rng;
    hf_err err = {0};

    hf_rng_init_seeded(&rng, seed ? strtoull(seed, NULL, 10) : 1);
    ck_assert_int_eq(setenv("HF_MODULE_DIR", HF_BUILD_DIR, 0), 0);
    ck_assert_msg(hf_pg_start(&server, &err) == HF_OK, "%s", err.text);
    for (int i = 0; i < LOADS; i++)
        load_open(&loads[i], server, i);
    for (int64_t cycle = 0; cycle < cycles; cycle++) {
        for (int i = 0; i < LOADS; i++)
            load_proceeds(&loads[i], IN_FLIGHT);
        pause_ms((int64_t)hf_rng_below(&rng, DELAY_MS_MAX));
        ck_assert_msg(hf_pg_crash(server, &err) == HF_OK, "%s", err.text);
        ck_assert_msg(hf_pg_restart(server, &err) == HF_OK, "%s", err.text);
        for (int i = 0; i < LOADS; i++) {
            load_proceeds(&loads[i], IN_FLIGHT);
            load_check(&loads[i]);
        }
    }
    for (int i = 0; i < LOADS; i++) {
        unknown += hf_writer_stats_get(loads[i].world.writer).unknown;
        atomic_store(&loads[i].stop, true);
        hf_thread_join(&loads[i].thread);
        while (atomic_load(&loads[i].under_way))
            pause_ms(1);
        load_exact(&loads[i]);
        units += (int64_t)loads[i].ledger.count;
        load_check(&loads[i]);
        load_close(&loads[i]);
    }
    printf("crash_pg: %" PRId64 " crashes, %d loads, %" PRId64 " units acknowledged, %" PRIu64
           " answers lost\n",
           cycles, LOADS, units, unknown);
    hf_pg_stop(server);
}
END_TEST

HF_SUITE_MAIN("crash/crash_pg", {loses_nothing_when_the_server_crashes, CASE_SECONDS})
