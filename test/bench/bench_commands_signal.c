/* bench_commands_signal.c: what a signal costs its sender, and what many of them cost the run.

   signal_accept    a signal to a parked run, acknowledged, against one durable commit of one step's
                    rows by a bare program, taken before each call
   buffered_apply   10,000 signals wait while the run sleeps; from the moment it goes on to the last
                    one applied. The ratio is time per signal against that of 1,000, medians of
   three rounds: linear is 1

   bench_commands_signal [sqlite | postgres] */
#include <stdio.h>

#include "base/clock.h"
#include "lib_flow.h"
#include "lib_flow_floor.h"
#include "lib_report.h"

enum { SAMPLES = 300, FEW = 1000, MANY = 10000, ROUNDS = 3 };

static void report_accept(const hf_flow_place *place, hf_engine *engine, hf_flow_floor *floor)
{
    static double us[SAMPLES];
    static double floors[SAMPLES];
    double p50;
    double lone;
    char id[32];
    char more[64];

    for (int i = 0; i < SAMPLES; i++) {
        uint64_t parked = hf_flow_parked() + 1;

        (void)snprintf(id, sizeof(id), "accept-%d", i);
        hf_flow_start(engine, "park", id, NULL);
        hf_flow_parked_await(engine, parked);
    }
    for (int i = 0; i < SAMPLES; i++) {
        double start;

        floors[i] = hf_flow_floor_lone(floor);
        (void)snprintf(id, sizeof(id), "accept-%d", i);
        start = hf_bench_now_s();
        hf_flow_ok(engine, hf_signal(engine, id, "go", NULL), "signal a run");
        us[i] = (hf_bench_now_s() - start) * 1e6;
        hf_flow_result(engine, id); /* the next one finds the engine at rest */
    }
    p50 = hf_flow_percentile(us, SAMPLES, 50);
    lone = hf_bench_median(floors, SAMPLES);
    (void)snprintf(more, sizeof(more), ",\"p99\":%.1f", hf_flow_percentile(us, SAMPLES, 99));
    hf_bench_report(&(hf_bench_result){.group = "commands",
                                       .name = "signal_accept",
                                       .store = place->store,
                                       .value = p50,
                                       .unit = "us p50",
                                       .floor = lone,
                                       .ratio = p50 / lone,
                                       .goal = -1.5,
                                       .more = more});
}

/* Seconds from going on to the end, with that many signals waiting. */
static double buffered(const hf_flow_place *place, int count, int round)
{
    hf_engine *engine = NULL;
    hf_command_result out;
    char name[32];
    double start;

    (void)snprintf(name, sizeof(name), "buffered_%d_%d", count, round);
    engine = hf_flow_open(place, name);
    hf_flow_ok(engine, hf_set(engine, "pending_signal_count", "0"), "set the limit");
    hf_flow_start(engine, "drain", "d", hf_json(engine, "{'signals': %d}", count));
    hf_flow_ok(engine,
               hf_command(engine, "pause", hf_json(engine, "{'workflow_id': 'd'}"),
                          hf_mem_of_engine(engine), &out),
               "pause the run");
    for (int i = 0; i < count; i++)
        hf_flow_ok(engine, hf_signal(engine, "d", "go", NULL), "signal a run");
    start = hf_bench_now_s();
    hf_flow_ok(engine,
               hf_command(engine, "resume", hf_json(engine, "{'workflow_id': 'd'}"),
                          hf_mem_of_engine(engine), &out),
               "resume the run");
    hf_flow_result(engine, "d");
    start = hf_bench_now_s() - start;
    hf_close(engine);
    hf_flow_drop(place, name);
    return start;
}

static void report_buffered(const hf_flow_place *place)
{
    double few_of[ROUNDS];
    double many_of[ROUNDS];
    double few;
    double many;
    char more[96];

    for (int i = 0; i < ROUNDS; i++) {
        few_of[i] = buffered(place, FEW, i);
        many_of[i] = buffered(place, MANY, i);
    }
    few = hf_bench_median(few_of, ROUNDS);
    many = hf_bench_median(many_of, ROUNDS);
    (void)snprintf(more, sizeof(more), ",\"signals\":%d,\"seconds\":%.3f,\"seconds_of_1000\":%.3f",
                   MANY, many, few);
    hf_bench_report(&(hf_bench_result){.group = "commands",
                                       .name = "buffered_apply",
                                       .store = place->store,
                                       .value = many / MANY * 1e6,
                                       .unit = "us a signal",
                                       .floor = few / FEW * 1e6,
                                       .ratio = (many / MANY) / (few / FEW),
                                       .goal = -2,
                                       .more = more});
}

static void bench_signal(hf_flow_place *place)
{
    enum { BODY = 65 }; /* bytes of history in a step of bench_workflows_steps */
    hf_flow_floor *floor = hf_flow_floor_open(place, "signal_floor", BODY);
    hf_engine *engine = hf_flow_open(place, "signal");

    hf_flow_start(engine, "steps", "warm", hf_json(engine, "{'steps': 200}"));
    hf_flow_result(engine, "warm");
    report_accept(place, engine, floor);
    hf_close(engine);
    hf_flow_floor_close(floor);
    hf_flow_drop(place, "signal");
    hf_flow_drop(place, "signal_floor");
    report_buffered(place);
}

int main(int argc, char **argv)
{
    return hf_flow_main(argc, argv, "what signals cost", bench_signal);
}
