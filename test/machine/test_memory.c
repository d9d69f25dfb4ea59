/* What machines cost while they wait: rows, and no more memory than the cache has. And memory that
   runs out on their paths: what was asked for is done whole or not at all. */
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "engine/backlog.h"
#include "engine/engine_impl.h"
#include "holdfast/holdfast.h"
#include "lib/campaign.h"
#include "lib/kit.h"

enum { CHUNK = 100, ALLOCATIONS_MAX = 20000, BATCH = 6 };

static hf_outcome rest(hf_step *s)
{
    return hf_park(s, "go", hf_int(hf_step_state(s), "ms", HF_NO_TIMEOUT), "end", hf_step_state(s));
}

static hf_outcome end(hf_step *s)
{
    return hf_done(s, hf_json(s, "%d", (int)hf_len(hf_step_awaited(s))));
}

static int jobs_run;

static hf_outcome job(hf_step *s)
{
    jobs_run++;
    return hf_done(s, hf_step_state(s));
}

static const hf_step_def steps[] = {{"rest", rest}, {"end", end}, {0}};
static const hf_signal_def signals[] = {{"go", NULL}, {0}};
static const hf_machine_def machines[] = {
    {"rest", .initial = "rest", .steps = steps, .signals = signals}, {"job", .job = job}, {0}};
static const hf_app app = {.name = "memory", .machines = machines};

static int64_t number(hf_engine *d, const char *sql)
{
    return hf_kit_number(d, sql);
}

/* ---- waiting */

static void park_some(hf_engine *d, int count)
{
    static hf_start_opts items[CHUNK];
    static hf_status answers[CHUNK];

    for (; count > 0; count -= CHUNK) {
        for (int i = 0; i < CHUNK; i++)
            items[i] = (hf_start_opts){.size_ = sizeof(hf_start_opts), .in = hf_json(d, "{}")};
        hf_kit_ok(d, hf_start_all(d, "rest", items, CHUNK, answers));
        hf_kit_ok(d, hf_test_drain(d));
        hf_mem_reset(hf_mem_of_engine(d));
    }
}

/* Twice as many machines that wait are no more runs in memory and no more bytes of the cache: a
   machine beyond it is its rows. */
HF_BOTH_ENGINES(machines_that_wait_are_rows)
{
    enum { MANY = 2 * CHUNK };
    hf_engine *d = hf_kit_open(kind, &app);
    size_t runs;

    d->core->o.cache_bytes = (size_t)1 << 19;
    park_some(d, MANY);
    runs = hf_map_int_count(d->core->runs);
    ck_assert_uint_lt(runs, MANY / 2);
    ck_assert_uint_le(d->core->held, d->core->o.cache_bytes);
    park_some(d, MANY);
    ck_assert_int_eq(number(d, "SELECT count(*) FROM run WHERE closed_us IS NULL"), 2 * MANY);
    ck_assert_uint_le(hf_map_int_count(d->core->runs), runs + runs / 10);
    ck_assert_uint_le(d->core->held, d->core->o.cache_bytes);
    ck_assert_uint_eq(hf_deadlines_count(d->core->backlog), 0);
    ck_assert_uint_eq(hf_map_int_count(d->core->jobs), 0);
    hf_kit_close(d);
}

/* Calls of the database for a job when so many wait at once, in hundredths. Time goes on while they
   do: whoever waits in the store came before those that memory has. */
static uint64_t job_calls(int waiting)
{
    static hf_start_opts items[HF_BACKLOG_WINDOW * 3];
    static hf_status answers[HF_BACKLOG_WINDOW * 3];
    hf_engine *d = hf_test_open(&app);
    const hf_db *db = hf_store_writer(d->store);
    uint64_t before;
    uint64_t calls;

    for (int i = 0; i < waiting; i++)
        items[i] = (hf_start_opts){.size_ = sizeof(hf_start_opts), .in = hf_json(d, "1")};
    hf_kit_ok(d, hf_start_all(d, "job", items, (size_t)waiting, answers));
    before = db->calls;
    jobs_run = 0;
    while (jobs_run < waiting) {
        hf_kit_turn(d); /* without folding, which is off the path of a job */
        hf_clock_advance(d->virtual_clock, 1000);
        ck_assert_uint_le(hf_map_int_count(d->core->runs), HF_BACKLOG_WINDOW + 600);
        ck_assert(hf_core_run_activity(d->core));
    }
    calls = (db->calls - before) * 100 / (uint64_t)waiting;
    hf_close(d);
    return calls;
}

/* What a job costs does not grow with the number of those that wait: none is loaded twice, and none
   is looked at before its turn. */
START_TEST(jobs_cost_the_same_however_many_wait)
{
    uint64_t few = job_calls(HF_BACKLOG_WINDOW / 4);
    uint64_t many = job_calls(HF_BACKLOG_WINDOW * 3);

    ck_assert_msg(many <= few + few / 10,
                  "%llu calls of the database for a hundred jobs, %llu when fewer wait",
                  (unsigned long long)many, (unsigned long long)few);
}
END_TEST

/* Many of a lower number come last: they pass those that are in memory, and no more of them are
   loaded than that takes. */
START_TEST(many_that_pass_wait_as_well)
{
    enum { MANY = HF_BACKLOG_WINDOW * 2 };
    static hf_start_opts items[MANY];
    static hf_status answers[MANY];
    hf_engine *d = hf_test_open(&app);

    for (int priority = 5; priority >= 1; priority -= 4) {
        for (int i = 0; i < MANY; i++)
            items[i] = (hf_start_opts){
                .size_ = sizeof(hf_start_opts), .in = hf_json(d, "1"), .priority = priority};
        hf_kit_ok(d, hf_start_all(d, "job", items, MANY, answers));
        hf_kit_turn(d);
        hf_clock_advance(d->virtual_clock, 1000);
        ck_assert_uint_le(hf_map_int_count(d->core->runs), HF_BACKLOG_WINDOW + 600);
    }
    ck_assert_int_eq(number(d, "SELECT count(*) FROM task WHERE priority = 1"), MANY);
    jobs_run = 0;
    while (jobs_run < MANY + 512 + 64) { /* those that had a place in the pool already */
        hf_kit_turn(d);
        ck_assert_uint_le(hf_map_int_count(d->core->runs), HF_BACKLOG_WINDOW + 600);
        ck_assert(hf_core_run_activity(d->core));
    }
    hf_kit_turn(d);
    ck_assert_int_eq(number(d, "SELECT count(*) FROM task WHERE priority = 1"), 0);
    hf_kit_ok(d, hf_test_drain(d));
    hf_close(d);
}
END_TEST

/* ---- without memory */

/* Many starts: what was answered is so, and asking again makes the rest, each once. */
START_TEST(starts_without_memory)
{
    hf_engine *d = hf_kit_open(HF_ENGINE_SQLITE, &app);
    int stride = hf_campaign_stride(7, 3);
    int64_t rounds = 0;
    int64_t seen = ALLOCATIONS_MAX;

    for (int64_t nth = 1; nth <= seen; nth += stride, rounds++) {
        char ids[BATCH][32];
        hf_start_opts items[BATCH];
        hf_status answers[BATCH];
        hf_status st;

        for (int i = 0; i < BATCH; i++) {
            (void)snprintf(ids[i], sizeof(ids[i]), "j%lld-%d", (long long)nth, i);
            items[i] = (hf_start_opts){.size_ = sizeof(hf_start_opts),
                                       .in = hf_json(d, "{}"),
                                       .id = ids[i],
                                       .correlation_key = ids[i],
                                       .correlation_scope = "done"};
        }
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_start_all(d, "job", items, BATCH, answers);
        seen = hf_fault_seen(HF_FAULT_ALLOC);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_msg(st == HF_OK || st == HF_NOMEM, "%s", hf_errmsg(d));
        hf_kit_ok(d, hf_start_all(d, "job", items, BATCH, answers));
        for (int i = 0; i < BATCH; i++)
            ck_assert(answers[i] == HF_OK || answers[i] == HF_EXISTS);
        ck_assert_int_eq(number(d, "SELECT count(*) FROM run"), (rounds + 1) * BATCH);
        hf_kit_ok(d, hf_test_drain(d));
    }
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1))); /* a lost hint is made up for by a sweep */
    ck_assert_int_eq(number(d, "SELECT count(*) FROM run WHERE closed_us IS NULL"), 0);
    hf_kit_close(d);
}
END_TEST

/* A signal to whoever has a key: one, and it wakes. */
START_TEST(a_delivery_by_key_without_memory)
{
    hf_engine *d = hf_kit_open(HF_ENGINE_SQLITE, &app);
    hf_status st = HF_NOMEM;

    hf_kit_ok(d, hf_start(d, "rest", hf_json(d, "{}"), .id = "r", .correlation_key = "order-7"));
    hf_kit_ok(d, hf_test_drain(d));
    for (int64_t nth = 1; st == HF_NOMEM; nth++) {
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_signal_dedup(d, "order-7", "go", NULL, "k");
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_msg(st == HF_OK || st == HF_NOMEM, "%s", hf_errmsg(d));
        ck_assert_int_lt(nth, ALLOCATIONS_MAX);
    }
    ck_assert_int_eq(hf_test_count(d, "r", "SignalReceived"), 1);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_str_eq(hf_kit_result(d, "r"), "1");
    hf_kit_close(d);
}
END_TEST

/* A hint that cannot be put aside, because there is no memory for it, is not lost. */
START_TEST(a_full_window_without_memory)
{
    enum { FULL = HF_BACKLOG_WINDOW + 500 };
    static hf_start_opts items[FULL];
    static hf_status answers[FULL];
    hf_engine *d = hf_test_open(&app);
    int more = 0;

    for (int i = 0; i < FULL; i++)
        items[i] = (hf_start_opts){.size_ = sizeof(hf_start_opts), .in = hf_json(d, "1")};
    hf_kit_ok(d, hf_start_all(d, "job", items, FULL, answers));
    hf_kit_turn(d);
    ck_assert_uint_gt(hf_deadlines_count(d->core->backlog), 0);
    for (int64_t nth = 1; nth <= 12; nth++, more++) {
        hf_kit_ok(d, hf_start(d, "job", hf_json(d, "1")));
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        (void)hf_core_step(d->core);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        if (hf_core_failure(d->core, NULL))
            hf_test_crash(d); /* what a host does: it begins again */
        hf_kit_turn(d);
    }
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(number(d, "SELECT count(*) FROM run WHERE closed_us IS NOT NULL"),
                     FULL + more);
    hf_close(d);
}
END_TEST

HF_PG_SUITE_MAIN("machine/memory", HF_BOTH_SLOW(machines_that_wait_are_rows, 120),
                 {jobs_cost_the_same_however_many_wait, 120}, {many_that_pass_wait_as_well, 120},
                 {starts_without_memory, 120}, {a_delivery_by_key_without_memory, 60},
                 {a_full_window_without_memory, 120})
