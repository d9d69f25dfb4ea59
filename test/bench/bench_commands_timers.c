/* bench_commands_timers.c: 100,000 timers, each of a run of its own, fall due within one second.
   All must fire, none early, and other work must go on meanwhile.

   timer_burst    latency of other work (a run of one activity, from its start to its result) from
                  the first timer to the last, 99th percentile; goal at most 1 s. Beside it the same
                  before the burst (calm_p50_s), and how many timers fire while one piece of other
                  work is done (beside_p50, beside_p99), which does not depend on the machine

   bench_commands_timers [sqlite | postgres] [timers] */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "lib_flow.h"
#include "lib_report.h"

enum {
    TIMERS = 100000,
    THREADS = 8,
    GROUP = 100,
    TRIAL = 5000,
    LATER_MS = 3600000, /* when the burst is long over */
    SPREAD_MS = 1000,
    PROBES_MAX = 100000,
    CALM = 50
};

static int timers = TIMERS;

static int64_t wall_ms(void)
{
    return hf_clock_wall_us(hf_clock_system()) / 1000;
}

static void until(int64_t ms)
{
    struct timespec left = {.tv_sec = (ms - wall_ms()) / 1000,
                            .tv_nsec = (ms - wall_ms()) % 1000 * 1000000};

    if (ms > wall_ms())
        (void)nanosleep(&left, NULL);
}

typedef struct starter {
    hf_engine *engine;
    const char *prefix;
    int from, to;
    int64_t due_ms;
} starter;

static void *starter_run(void *arg)
{
    const starter *s = arg;
    hf_start_opts items[GROUP];
    hf_status answers[GROUP];
    hf_mem *mem = hf_mem_new();

    hf_bench_need(mem != NULL, "no memory");
    for (int i = s->from, count; i < s->to; i += count) {
        hf_mem_reset(mem);
        for (count = 0; count < GROUP && i + count < s->to; count++)
            items[count] = (hf_start_opts){
                .size_ = sizeof(hf_start_opts),
                .id = hf_str(hf_json(mem, "'%s-%d'", s->prefix, i + count), "", ""),
                .in = hf_json(mem, "{'until': %lld}",
                              (long long)(s->due_ms + (int64_t)(i + count) * SPREAD_MS / timers))};
        hf_flow_ok(s->engine, hf_start_all(s->engine, "doze", items, (size_t)count, answers),
                   "start runs");
        for (int j = 0; j < count; j++)
            hf_flow_ok(s->engine, answers[j], "start a run");
    }
    hf_mem_free(mem);
    return NULL;
}

/* Seconds until all the timers are set; `all` with those that were set before. */
static double set_many(const hf_flow_place *place, hf_engine *engine, const char *prefix, int count,
                       int64_t due_ms, int all)
{
    pthread_t threads[THREADS];
    starter starters[THREADS];
    double start = hf_bench_now_s();

    for (int i = 0; i < THREADS; i++) {
        starters[i] = (starter){.engine = engine,
                                .prefix = prefix,
                                .from = (int)((int64_t)count * i / THREADS),
                                .to = (int)((int64_t)count * (i + 1) / THREADS),
                                .due_ms = due_ms};
        hf_bench_need(pthread_create(&threads[i], NULL, starter_run, &starters[i]) == 0,
                      "no thread");
    }
    for (int i = 0; i < THREADS; i++)
        hf_bench_need(pthread_join(threads[i], NULL) == 0, "no thread");
    while (hf_flow_number(place, "timers", "SELECT count(*) FROM timer WHERE closed_us IS NULL") <
           all) {
        hf_bench_need(wall_ms() < due_ms, "the timers were due before all were set");
        until(wall_ms() + 100);
    }
    return hf_bench_now_s() - start;
}

/* One piece of other work; milliseconds. */
static double probe_once(hf_engine *engine, const char *prefix, size_t nth)
{
    double start = hf_bench_now_s();
    char id[32];

    (void)snprintf(id, sizeof(id), "%s-%zu", prefix, nth);
    hf_flow_start(engine, "steps", id, hf_json(engine, "{'steps': 1}"));
    hf_flow_result(engine, id);
    hf_mem_reset(hf_mem_of_engine(engine));
    return (hf_bench_now_s() - start) * 1000;
}

/* Other work while they fire, one run after the other, and how many fired beside each. */
static size_t probe(hf_engine *engine, uint64_t all, double *out_ms, double *out_beside)
{
    uint64_t before = hf_flow_dozed();
    size_t count = 0;

    while (before < all && count < PROBES_MAX) {
        out_ms[count] = probe_once(engine, "probe", count);
        out_beside[count++] = (double)(hf_flow_dozed() - before);
        before = hf_flow_dozed();
    }
    return count;
}

static void bench_timers(hf_flow_place *place)
{
    static double ms[PROBES_MAX];
    static double beside[PROBES_MAX];
    double calm[CALM];
    hf_engine *engine = hf_flow_open(place, "timers");
    double trial;
    double burst;
    double p99;
    int64_t due_ms;
    size_t probes;
    char more[320];

    hf_flow_dozed_reset();
    trial = set_many(place, engine, "trial", TRIAL, wall_ms() + LATER_MS, TRIAL);
    for (size_t i = 0; i < CALM; i++)
        calm[i] = probe_once(engine, "calm", i);
    due_ms = wall_ms() + (int64_t)(trial * 1.5 * timers / TRIAL * 1000) + 5000;
    (void)set_many(place, engine, "doze", timers, due_ms, TRIAL + timers);
    until(due_ms);
    burst = hf_bench_now_s();
    probes = probe(engine, (uint64_t)timers, ms, beside);
    burst = hf_bench_now_s() - burst;
    hf_bench_need(hf_flow_dozed() == (uint64_t)timers, "not all timers fired");
    hf_bench_need(hf_flow_dozed_early() == 0, "a timer fired early");
    p99 = hf_flow_percentile(ms, probes, 99) / 1000;
    (void)snprintf(more, sizeof(more),
                   ",\"timers\":%d,\"spread_ms\":%d,\"burst_s\":%.2f,\"probes\":%zu,\"p50_s\":%.3f"
                   ",\"calm_p50_s\":%.3f,\"beside_p50\":%.0f,\"beside_p99\":%.0f",
                   timers, SPREAD_MS, burst, probes, hf_flow_percentile(ms, probes, 50) / 1000,
                   hf_flow_percentile(calm, CALM, 50) / 1000,
                   hf_flow_percentile(beside, probes, 50), hf_flow_percentile(beside, probes, 99));
    hf_bench_report(&(hf_bench_result){.group = "commands",
                                       .name = "timer_burst",
                                       .store = place->store,
                                       .value = p99,
                                       .unit = "s p99",
                                       .ratio = p99,
                                       .goal = -1,
                                       .more = more});
    hf_close(engine);
    hf_flow_drop(place, "timers");
}

int main(int argc, char **argv)
{
    if (argc > 2)
        timers = atoi(argv[2]);
    return hf_flow_main(argc > 2 ? 2 : argc, argv, "many timers at once", bench_timers);
}
