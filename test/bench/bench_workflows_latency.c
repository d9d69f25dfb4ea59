/* bench_workflows_latency.c: how long a caller, a signal and a timer wait. Latencies are compared
   with one durable commit of one step's rows by a bare program, taken before each call and after
   the same rest: caches, processors and the disk are as cold for the one as for the other.

   w3          a parked run gets a signal and completes: from the call to its result
   w3_resume   the same, from the call to the moment its code goes on
   w6          start of a run, acknowledged
   w7          1,000 timers due within 10 s: lateness of the activity behind each; none may be early

   bench_workflows_latency [sqlite | postgres] */
#include <stdio.h>

#include "base/clock.h"
#include "lib_flow.h"
#include "lib_flow_floor.h"
#include "lib_report.h"

enum { SAMPLES = 300, NAP_SPREAD_MS = 10000, NAP_LEAD_MS = 3000 };

static void report_times(const hf_flow_place *place, const char *name, double *us, double *floors,
                         double goal)
{
    double p50 = hf_flow_percentile(us, SAMPLES, 50);
    double floor = hf_bench_median(floors, SAMPLES);
    char more[64];

    (void)snprintf(more, sizeof(more), ",\"p99\":%.1f", hf_flow_percentile(us, SAMPLES, 99));
    hf_bench_report(&(hf_bench_result){.group = "workflows",
                                       .name = name,
                                       .store = place->store,
                                       .value = p50,
                                       .unit = "us p50",
                                       .floor = floor,
                                       .ratio = p50 / floor,
                                       .goal = goal,
                                       .more = more});
}

static void report_w6(const hf_flow_place *place, hf_engine *engine, hf_flow_floor *floor)
{
    static double us[SAMPLES];
    static double floors[SAMPLES];
    uint64_t parked = hf_flow_parked();
    char id[32];

    for (int i = 0; i < SAMPLES; i++) {
        double start;

        floors[i] = hf_flow_floor_lone(floor);
        hf_flow_parked_await(engine, parked + (uint64_t)i);
        (void)snprintf(id, sizeof(id), "park-%d", i);
        start = hf_bench_now_s();
        hf_flow_start(engine, "park", id, NULL);
        us[i] = (hf_bench_now_s() - start) * 1e6;
        hf_flow_parked_await(engine, parked + (uint64_t)i + 1); /* the next one finds it at rest */
    }
    report_times(place, "w6", us, floors, -1.3);
}

/* On the runs that report_w6 left parked. */
static void report_w3(const hf_flow_place *place, hf_engine *engine, hf_flow_floor *floor)
{
    static double us[SAMPLES];
    static double resumed[SAMPLES];
    static double floors[SAMPLES];
    static double floors_again[SAMPLES];
    char id[32];

    for (int i = 0; i < SAMPLES; i++) {
        int64_t wall_us;
        double start;

        floors[i] = hf_flow_floor_lone(floor);
        (void)snprintf(id, sizeof(id), "park-%d", i);
        wall_us = hf_clock_wall_us(hf_clock_system());
        start = hf_bench_now_s();
        hf_flow_ok(engine, hf_signal(engine, id, "go", NULL), "signal a run");
        hf_flow_result(engine, id);
        us[i] = (hf_bench_now_s() - start) * 1e6;
        resumed[i] = (double)(hf_flow_resumed_us() - wall_us);
    }
    for (int i = 0; i < SAMPLES; i++)
        floors_again[i] = floors[i];
    report_times(place, "w3", us, floors, -2);
    report_times(place, "w3_resume", resumed, floors_again, -2);
}

static void report_w7(const hf_flow_place *place, hf_engine *engine)
{
    static double late_ms[HF_FLOW_NAPS_MAX];
    int early = 0;
    char id[32];
    char more[96];

    for (int i = 0; i < HF_FLOW_NAPS_MAX; i++) {
        double lead_ms = NAP_LEAD_MS + (double)NAP_SPREAD_MS * i / HF_FLOW_NAPS_MAX;

        (void)snprintf(id, sizeof(id), "nap-%s-%d", place->store, i);
        hf_flow_start(engine, "nap", id, hf_json(engine, "{'nth': %d, 'ms': %d}", i, (int)lead_ms));
    }
    for (int i = 0; i < HF_FLOW_NAPS_MAX; i++) {
        (void)snprintf(id, sizeof(id), "nap-%s-%d", place->store, i);
        hf_flow_result(engine, id);
        late_ms[i] = (double)hf_flow_nap_late_us((size_t)i) / 1000;
        early += late_ms[i] < 0;
    }
    hf_bench_need(early == 0, "a timer fired early");
    (void)snprintf(more, sizeof(more), ",\"p50\":%.2f,\"early\":%d,\"timers\":%d,\"spread_ms\":%d",
                   hf_flow_percentile(late_ms, HF_FLOW_NAPS_MAX, 50), early, HF_FLOW_NAPS_MAX,
                   NAP_SPREAD_MS);
    hf_bench_report(&(hf_bench_result){.group = "workflows",
                                       .name = "w7",
                                       .store = place->store,
                                       .value = hf_flow_percentile(late_ms, HF_FLOW_NAPS_MAX, 99),
                                       .unit = "ms p99",
                                       .ratio = hf_flow_percentile(late_ms, HF_FLOW_NAPS_MAX, 99),
                                       .goal = -20,
                                       .more = more});
}

static void bench_latency(hf_flow_place *place)
{
    enum { BODY = 65 }; /* bytes of history in a step of bench_workflows_steps */
    hf_flow_floor *floor = hf_flow_floor_open(place, "latency_floor", BODY);
    hf_engine *engine = hf_flow_open(place, "latency");

    hf_flow_naps_reset();
    hf_flow_start(engine, "steps", "warm", hf_json(engine, "{'steps': 200}"));
    hf_flow_result(engine, "warm");
    report_w6(place, engine, floor);
    report_w3(place, engine, floor);
    report_w7(place, engine);
    hf_close(engine);
    hf_flow_floor_close(floor);
    hf_flow_drop(place, "latency");
    hf_flow_drop(place, "latency_floor");
}

int main(int argc, char **argv)
{
    return hf_flow_main(argc, argv, "latencies of workflows", bench_latency);
}
