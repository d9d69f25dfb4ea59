/* bench_machines_steps.c: what step machines cost.

     m1        drain of no-op jobs, from their starts to the end of the last: jobs per second,
               beside the floor: a bare loop that writes the same rows and indexes
     m2_N      10-step chains at N machines at once: steps per second, and commits per step
     m3        await round trip: from the signal to the result, microseconds p50
     m4_N      N deadlines due in one second, all of them armed before: microseconds a deadline
               from the first to the end of the last machine, and how late they fired, milliseconds;
               none is early
     m4_flat   of the most deadlines to that of 25000: it must not grow with their number
     m5_N      claim cost: N jobs wait in the store; microseconds per job that is claimed, run and
               ended meanwhile, the median of rounds of 1000; and the memory of the process
     m5_flat   of the most rows to that of 1000: it must not grow with what waits

   HF_BENCH_JOBS sets the number of jobs and deadlines (default 100000), HF_BENCH_ROWS that of rows
   that wait in the bigger m5 (default 300000), HF_BENCH_PART names the one part that is run (m1).

   bench_machines_steps [sqlite | postgres] */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/thread.h"
#include "holdfast/holdfast.h"
#include "lib_flow.h"
#include "lib_flow_floor.h"
#include "lib_report.h"

enum { FLOOR_RUNS = 512, JOB_BYTES = 250 };

#define FLOOR_S 2.0 /* seconds */

enum { CHAIN = 10, STARTERS = 16, TRIPS = 200, BATCH = 500, CLAIMS = 1000, BLOCKERS = 600 };
enum { ROUNDS = 5, PROBE = 2000, MARGIN_S = 5, FEW_DEADLINES = 25000 };

static atomic_int ended;

static hf_outcome noop(hf_step *s)
{
    atomic_fetch_add(&ended, 1);
    return hf_done(s, hf_step_state(s));
}

static atomic_bool opened;

/* Keeps a place in the pool until it may go on. */
static hf_outcome block(hf_step *s)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    while (!atomic_load(&opened))
        (void)nanosleep(&pause, NULL);
    return hf_done(s, hf_step_state(s));
}

static hf_outcome chain(hf_step *s)
{
    int64_t n = hf_int(hf_step_state(s), "", 0);

    if (n <= 1) {
        atomic_fetch_add(&ended, 1);
        return hf_done(s, hf_step_state(s));
    }
    return hf_next(s, "chain", hf_json(s, "%lld", (long long)n - 1));
}

static atomic_int early;
static atomic_int armed;
static atomic_int fired;
static double *late_ms; /* of the deadlines that fired, in their order */
static int late_room;
static _Atomic int64_t due_ms; /* by the wall clock; 0: never */

/* The deadlines of a second, one after the other; each is asked for against a clock that is read
   before the engine reads it, so that it is rather too soon. */
static hf_outcome parked(hf_step *s)
{
    int64_t now_us = hf_clock_wall_us(hf_clock_system());
    int64_t left_us = (atomic_load(&due_ms) + atomic_fetch_add(&armed, 1) % 1000) * 1000 - now_us;
    hf_ms wait = left_us > 0 ? left_us / 1000 + 1 : 1;

    if (!atomic_load(&due_ms))
        wait = HF_NO_TIMEOUT;
    return hf_park(s, "go", wait, "end",
                   hf_json(s, "{'ms': %lld, 'at': %lld}", (long long)wait, (long long)now_us));
}

static hf_outcome woken(hf_step *s)
{
    int64_t slept_us = hf_clock_wall_us(hf_clock_system()) - hf_int(hf_step_state(s), "at", 0);
    int64_t late_us = slept_us - hf_int(hf_step_state(s), "ms", 0) * 1000;
    int at;

    if (!hf_step_timed_out(s))
        return noop(s);
    if (late_us < 0)
        atomic_fetch_add(&early, 1);
    at = atomic_fetch_add(&fired, 1);
    if (at < late_room)
        late_ms[at] = (double)late_us / 1e3;
    return noop(s);
}

static const hf_step_def chain_steps[] = {{"chain", chain}, {0}};
static const hf_step_def park_steps[] = {{"park", parked}, {"end", woken}, {0}};
static const hf_signal_def signals[] = {{"go", NULL}, {0}};
static const hf_machine_def machines[] = {
    {"noop", .job = noop},
    {"block", .job = block},
    {"chain", .initial = "chain", .steps = chain_steps},
    {"park", .initial = "park", .steps = park_steps, .signals = signals},
    {0}};
static const hf_app app = {.name = "bench", .machines = machines};

typedef struct starter {
    hf_engine *engine;
    const char *type;
    const char *in;
    int count;
    hf_thread thread;
} starter;

static void starter_run(void *arg)
{
    starter *self = arg;
    hf_mem *mem = hf_mem_new();
    hf_start_opts items[BATCH];
    hf_status answers[BATCH];

    for (int left = self->count; left > 0; left -= BATCH) {
        int count = left < BATCH ? left : BATCH;

        hf_mem_reset(mem);
        for (int i = 0; i < count; i++)
            items[i] = (hf_start_opts){.size_ = sizeof(hf_start_opts),
                                       .in = hf_parse_(mem, self->in, strlen(self->in))};
        hf_bench_need(hf_start_all(self->engine, self->type, items, (size_t)count, answers) ==
                          HF_OK,
                      "a start failed");
        for (int i = 0; i < count; i++)
            hf_bench_need(answers[i] == HF_OK, "a start failed");
    }
    hf_mem_free(mem);
}

/* Many callers at once, so that their commits are shared. */
static void start_many(hf_engine *engine, const char *type, const char *in, int count)
{
    static starter starters[STARTERS];
    int threads = count < STARTERS ? count : STARTERS;
    hf_err err;

    for (int i = 0; i < threads; i++) {
        starters[i] = (starter){.engine = engine,
                                .type = type,
                                .in = in,
                                .count = count / threads + (i < count % threads)};
        hf_bench_ok(
            hf_thread_start(&starters[i].thread, "starter", starter_run, &starters[i], &err), &err,
            "start a thread");
    }
    for (int i = 0; i < threads; i++)
        hf_thread_join(&starters[i].thread);
}

static void pause_briefly(void)
{
    const struct timespec pause = {.tv_nsec = 200000};

    (void)nanosleep(&pause, NULL);
}

static void count_await(atomic_int *counter, int count)
{
    while (atomic_load(counter) < count)
        pause_briefly();
}

static void ended_await(int count)
{
    count_await(&ended, count);
}

static void report(const char *store, const char *name, double value, const char *unit)
{
    hf_bench_report(&(hf_bench_result){.group = "machines",
                                       .name = name,
                                       .store = store,
                                       .value = value,
                                       .unit = unit,
                                       .more = ""});
}

/* What the database alone does in the same seconds with the rows of such jobs. */
static double jobs_floor(const hf_flow_place *place, const char *name)
{
    hf_flow_floor *floor = hf_flow_floor_open(place, name, JOB_BYTES);
    double jobs;

    (void)hf_flow_floor_jobs(floor, FLOOR_RUNS, FLOOR_S / 2); /* warm */
    jobs = hf_flow_floor_jobs(floor, FLOOR_RUNS, FLOOR_S);
    hf_flow_floor_close(floor);
    hf_flow_drop(place, name);
    return jobs;
}

static void drain_jobs(const hf_flow_place *place, hf_engine *engine, int count)
{
    double before = jobs_floor(place, "machines_before");
    double start = hf_bench_now_s();
    double floor;
    double jobs;

    atomic_store(&ended, 0);
    start_many(engine, "noop", "null", count);
    ended_await(count);
    jobs = count / (hf_bench_now_s() - start);
    floor = (before + jobs_floor(place, "machines_after")) /
            2; /* the machine may be busier than it was */
    hf_bench_report(&(hf_bench_result){.group = "machines",
                                       .name = "m1",
                                       .store = place->store,
                                       .value = jobs,
                                       .unit = "jobs/s",
                                       .floor = floor,
                                       .ratio = jobs / floor,
                                       .goal = 0.6,
                                       .more = ""});
}

static void chains(const char *store, hf_engine *engine, int at_once)
{
    uint64_t units = hf_flow_units(engine);
    double start = hf_bench_now_s();
    double seconds;
    char name[32];

    atomic_store(&ended, 0);
    start_many(engine, "chain", "10", at_once);
    ended_await(at_once);
    seconds = hf_bench_now_s() - start;
    hf_flow_units_await(engine, units + (uint64_t)at_once * (CHAIN + 1));
    (void)snprintf(name, sizeof(name), "m2_%d", at_once);
    report(store, name, at_once * CHAIN / seconds, "steps/s");
    (void)snprintf(name, sizeof(name), "m2_%d_units", at_once);
    report(store, name, (double)(hf_flow_units(engine) - units) / at_once,
           "commits per chain, start included");
}

static void round_trips(const char *store, hf_engine *engine)
{
    static double us[TRIPS];
    char id[32];

    for (int i = 0; i < TRIPS; i++) {
        hf_settled now = {.state = HF_SETTLED_BUSY};
        hf_value out = NULL;
        double start;

        (void)snprintf(id, sizeof(id), "trip-%d", i);
        hf_bench_need(hf_start(engine, "park", NULL, .id = id) == HF_OK, "a start failed");
        while (now.state != HF_SETTLED_AWAITING)
            hf_bench_need(hf_await(engine, id, 1000, false, &now) == HF_OK, "a wait failed");
        start = hf_bench_now_s();
        hf_bench_need(hf_signal(engine, id, "go", NULL) == HF_OK, "a signal failed");
        hf_bench_need(hf_result(engine, id, 10000, &out, NULL) == HF_OK, "no result");
        us[i] = (hf_bench_now_s() - start) * 1e6;
    }
    report(store, "m3", hf_bench_median(us, TRIPS), "us p50");
}

static void park_many(hf_engine *engine, int count)
{
    atomic_store(&armed, 0);
    start_many(engine, "park", "null", count);
    count_await(&armed, count);
}

static void deadlines_report(const char *store, int count, double us)
{
    char name[32];
    char more[128];

    (void)snprintf(name, sizeof(name), "m4_%d", count);
    (void)snprintf(more, sizeof(more), ",\"late_p50_ms\":%.1f,\"late_p99_ms\":%.1f",
                   hf_flow_percentile(late_ms, (size_t)count, 50),
                   hf_flow_percentile(late_ms, (size_t)count, 99));
    hf_bench_report(&(hf_bench_result){.group = "machines",
                                       .name = name,
                                       .store = store,
                                       .value = us,
                                       .unit = "us per deadline",
                                       .more = more});
    (void)snprintf(name, sizeof(name), "m4_%d_late", count);
    report(store, name, hf_flow_percentile(late_ms, (size_t)count, 50), "ms p50");
}

/* So many, due in one second; `*each` is how long it took to arm one, before and after. */
static double deadlines_round(const char *store, hf_engine *engine, int count, double *each)
{
    double start = hf_bench_now_s();
    double us;

    late_ms = calloc((size_t)count, sizeof(*late_ms));
    hf_bench_need(late_ms != NULL, "no memory");
    late_room = count;
    atomic_store(&fired, 0);
    atomic_store(&ended, 0);
    atomic_store(&due_ms, hf_clock_wall_us(hf_clock_system()) / 1000 +
                              (int64_t)((2 * *each * count + MARGIN_S) * 1000));
    park_many(engine, count);
    *each = (hf_bench_now_s() - start) / count;
    hf_bench_need(atomic_load(&ended) == 0, "the first was due before the last was armed");
    while (atomic_load(&ended) == 0)
        pause_briefly();
    start = hf_bench_now_s();
    ended_await(count);
    us = (hf_bench_now_s() - start) * 1e6 / count;
    hf_bench_need(atomic_load(&early) == 0, "a deadline was early");
    atomic_store(&due_ms, 0);
    deadlines_report(store, count, us);
    late_room = 0;
    free(late_ms);
    return us;
}

/* How long it takes to arm them is found with a few that stay parked. */
static void deadlines(const char *store, hf_engine *engine, int count)
{
    double start = hf_bench_now_s();
    double each;
    double few;
    double many;

    park_many(engine, PROBE);
    each = (hf_bench_now_s() - start) / PROBE;
    few = deadlines_round(store, engine, FEW_DEADLINES, &each);
    many = deadlines_round(store, engine, count, &each);
    hf_bench_report(&(hf_bench_result){.group = "machines",
                                       .name = "m4_flat",
                                       .store = store,
                                       .value = many,
                                       .unit = "us per deadline",
                                       .floor = few,
                                       .ratio = many / few,
                                       .goal = -1.5,
                                       .more = ""});
}

/* So many rows wait behind some that hold every thread; nothing ends before they may go on. */
static void claims_fill(hf_engine *engine, int rows)
{
    atomic_store(&opened, false);
    atomic_store(&ended, 0);
    start_many(engine, "block", "null", BLOCKERS);
    start_many(engine, "noop", "null", rows);
}

/* What the thousand jobs behind so many cost, each of them claimed, run and ended. */
static double claims_round(int behind)
{
    double start;

    atomic_store(&opened, true);
    ended_await(behind);
    start = hf_bench_now_s();
    ended_await(behind + CLAIMS);
    return (hf_bench_now_s() - start) * 1e6 / CLAIMS;
}

static double claims_report(const char *store, int count, double *us)
{
    char name[32];
    double median = hf_bench_median(us, ROUNDS);

    (void)snprintf(name, sizeof(name), "m5_%d_memory", count);
    report(store, name, hf_flow_resident_mb(), "MB while they wait");
    (void)snprintf(name, sizeof(name), "m5_%d", count);
    report(store, name, median, "us per claimed job");
    return median;
}

/* The rest of the many is left to itself: they have shown what they cost. */
static void claims(const char *store, hf_engine *engine, int rows)
{
    double us[ROUNDS];
    double few;
    double many;

    for (int i = 0; i < ROUNDS; i++) {
        claims_fill(engine, 3 * CLAIMS); /* one to begin with, one that counts, one that waits */
        us[i] = claims_round(CLAIMS);
        ended_await(3 * CLAIMS);
    }
    few = claims_report(store, CLAIMS, us);
    claims_fill(engine, rows);
    for (int i = 0; i < ROUNDS; i++)
        us[i] = claims_round((i + 1) * CLAIMS);
    many = claims_report(store, rows, us);

    hf_bench_report(&(hf_bench_result){.group = "machines",
                                       .name = "m5_flat",
                                       .store = store,
                                       .value = many,
                                       .unit = "us per claimed job",
                                       .floor = few,
                                       .ratio = many / few,
                                       .goal = -1.5,
                                       .more = ""});
}

static bool part_wanted(const char *name)
{
    const char *only = getenv("HF_BENCH_PART");

    return !only || strcmp(only, name) == 0;
}

static void bench_machines(hf_flow_place *place)
{
    const char *jobs = getenv("HF_BENCH_JOBS");
    const char *rows = getenv("HF_BENCH_ROWS");
    int count = jobs ? atoi(jobs) : 100000;
    char address[HF_FLOW_ADDRESS_MAX];
    hf_engine *engine = NULL;

    hf_bench_need(hf_open(hf_flow_address(place, "machines", address), &app, &engine) == HF_OK,
                  "the engine does not open");
    for (int at_once = 1; part_wanted("m2") && at_once <= 512; at_once *= at_once == 1 ? 64 : 8)
        chains(place->store, engine, at_once);
    if (part_wanted("m3"))
        round_trips(place->store, engine);
    if (part_wanted("m1"))
        drain_jobs(place, engine, count);
    if (part_wanted("m4"))
        deadlines(place->store, engine, count);
    if (part_wanted("m5"))
        claims(place->store, engine, rows ? atoi(rows) : 300000);
    hf_close(engine);
    hf_flow_drop(place, "machines");
}

int main(int argc, char **argv)
{
    return hf_flow_main(argc, argv, "step machines", bench_machines);
}
