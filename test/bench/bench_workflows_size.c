/* bench_workflows_size.c: what grows with a run, and what must not.

   w5              one run fans out 1,000 no-op activities and joins them
   linear_10000    10,000 sequential steps in one run: the last 1,000 against the first 1,000
   replay_100000   a run with 100,000 events is read and replayed: ms, and memory over before

   bench_workflows_size [sqlite | postgres] */
#include <stdio.h>
#include <time.h>

#include "lib_flow.h"
#include "lib_report.h"

enum {
    FAN = 1000,
    FAN_ROUNDS = 5,
    LINEAR = 10000,
    PART = 1000,
    REPLAY_EVENTS = 100000,
    STEPS = REPLAY_EVENTS / 3 + 1 /* three events each */
};

static void report_w5(const hf_flow_place *place, hf_engine *engine)
{
    double ms[FAN_ROUNDS];
    double p50;
    char id[32];
    char more[64];

    for (int i = 0; i < FAN_ROUNDS; i++) {
        uint64_t before = hf_flow_steps();
        double start = hf_bench_now_s();

        (void)snprintf(id, sizeof(id), "fan-%d", i);
        hf_flow_start(engine, "fan", id, hf_json(engine, "{'steps': %d}", FAN));
        hf_flow_result(engine, id);
        ms[i] = (hf_bench_now_s() - start) * 1e3;
        hf_bench_need(hf_flow_steps() - before == FAN, "the fan did not run every activity once");
    }
    p50 = hf_bench_median(ms, FAN_ROUNDS);
    (void)snprintf(more, sizeof(more), ",\"total_ms\":%.1f,\"activities\":%d", p50, FAN);
    hf_bench_report(&(hf_bench_result){.group = "workflows",
                                       .name = "w5",
                                       .store = place->store,
                                       .value = FAN * 1e3 / p50,
                                       .unit = "acts/s",
                                       .more = more});
}

static double steps_await(uint64_t steps)
{
    const struct timespec moment = {.tv_nsec = 200000};

    while (hf_flow_steps() < steps)
        (void)nanosleep(&moment, NULL);
    return hf_bench_now_s();
}

static void report_linear(const hf_flow_place *place, hf_engine *engine)
{
    uint64_t before = hf_flow_steps();
    double marks[4];

    hf_flow_start(engine, "steps", "linear", hf_json(engine, "{'steps': %d}", LINEAR));
    marks[0] = steps_await(before + 1);
    marks[1] = steps_await(before + PART);
    marks[2] = steps_await(before + LINEAR - PART);
    marks[3] = steps_await(before + LINEAR);
    hf_flow_result(engine, "linear");
    hf_bench_report(&(hf_bench_result){.group = "workflows",
                                       .name = "linear_10000",
                                       .store = place->store,
                                       .value = (marks[3] - marks[2]) * 1e3,
                                       .unit = "ms",
                                       .floor = (marks[1] - marks[0]) * 1e3,
                                       .ratio = (marks[3] - marks[2]) / (marks[1] - marks[0]),
                                       .goal = -1.2,
                                       .more = ""});
}

/* Three events a step, two at the start; then it waits for a signal, and a new process asks it. */
static void report_replay(const hf_flow_place *place)
{
    const struct timespec moment = {.tv_nsec = 10000000};
    hf_engine *engine = hf_flow_open(place, "replay");
    double megabytes;
    double events;
    double start;
    double ms;
    hf_value answer = NULL;
    char more[96];

    (void)hf_flow_is_long_parked(); /* a replay in the store before has said so as well */
    hf_flow_start(engine, "long", "long", hf_json(engine, "{'steps': %d}", STEPS));
    while (!hf_flow_is_long_parked())
        (void)nanosleep(&moment, NULL);
    hf_close(engine);
    engine = hf_flow_open(place, "replay");
    hf_flow_start(engine, "steps", "warm", NULL);
    hf_flow_result(engine, "warm");
    megabytes = hf_flow_resident_mb();
    start = hf_bench_now_s();
    hf_flow_ok(engine, hf_query(engine, "long", "seen", NULL, &answer), "ask the long run");
    ms = (hf_bench_now_s() - start) * 1e3;
    megabytes = hf_flow_resident_mb() - megabytes;
    hf_bench_need(hf_int(answer, "", 0) == STEPS, "the replay did not reach the end of history");
    hf_close(engine);
    events = hf_flow_number(place, "replay", "SELECT max(last_seq) FROM run");
    hf_bench_need(events >= REPLAY_EVENTS, "the history is shorter than it should be");
    (void)snprintf(more, sizeof(more), ",\"megabytes\":%.1f,\"events\":%.0f", megabytes, events);
    hf_bench_report(&(hf_bench_result){.group = "workflows",
                                       .name = "replay_100000",
                                       .store = place->store,
                                       .value = ms,
                                       .unit = "ms",
                                       .ratio = ms,
                                       .goal = -500,
                                       .more = more});
    (void)printf("  %.1f MB (at most 64)\n", megabytes);
    hf_flow_drop(place, "replay");
}

static void bench_size(hf_flow_place *place)
{
    hf_engine *engine = hf_flow_open(place, "size");

    hf_flow_start(engine, "steps", "warm", hf_json(engine, "{'steps': 200}"));
    hf_flow_result(engine, "warm");
    report_w5(place, engine);
    report_linear(place, engine);
    hf_close(engine);
    hf_flow_drop(place, "size");
    report_replay(place);
}

int main(int argc, char **argv)
{
    return hf_flow_main(argc, argv, "size of workflows", bench_size);
}
