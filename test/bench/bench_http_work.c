/* bench_http_work.c: what HTTP costs: the same program with the engine in it and as a worker of a
   server, in rounds that alternate. Server, worker and callers are in one process, so both cores
   are shared; `cpu_us` is the processor time of all three for each of what is counted, which others
   on the machine disturb least, `floor_cpu_us` that of the embedded program.

   starts           starts a second, 64 callers; the ratio is HTTP over embedded, as below
   http_w1_ratio    workflows of one activity a second, 64 callers that start and wait
   http_w2_64       steps a second of 64 runs of 100 steps; the ratio is the number itself
   http_fanout      activities a second of one run with 1,000 at once, for 16 pollers that each ask
                    for one task and report it, as any client would; from start to result

   bench_http_work [sqlite | postgres] */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/thread.h"
#include "client/client.h"
#include "lib_flow.h"
#include "lib_report.h"
#include "lib_served.h"

enum { ROUNDS = 3, STARTS = 2000, STEPS_A_RUN = 100, FAN = 1000, POLLERS = 16, MORE_SIZE = 160 };

static const double round_s = 2.0;

/* A server on a store of this name in the place. */
static void served_open(hf_bench_served *s, const hf_flow_place *place, const char *name)
{
    char address[HF_FLOW_ADDRESS_MAX];

    hf_bench_served_open(s, hf_flow_address(place, name, address));
}

/* Processor time of this process so far. */
static double cpu_us(void)
{
    struct rusage used;

    (void)getrusage(RUSAGE_SELF, &used);
    return 1e6 * (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* ---- starts */

typedef struct starting {
    hf_engine *engine;
    int round;
    _Atomic int next;
} starting;

static void starter_run(void *ctx)
{
    starting *all = ctx;
    char id[32];
    int i;

    while ((i = atomic_fetch_add(&all->next, 1)) < STARTS) {
        (void)snprintf(id, sizeof(id), "p%d-%d", all->round, i);
        hf_flow_start(all->engine, "park", id, NULL);
        hf_mem_reset(hf_mem_of_engine(all->engine));
    }
}

static double starts_rate(hf_engine *engine, int round)
{
    starting all = {.engine = engine, .round = round};
    hf_thread threads[HF_FLOW_CROWD_MAX] = {0};
    double began = hf_bench_now_s();
    hf_err err = {0};

    for (int i = 0; i < HF_FLOW_CROWD_MAX; i++)
        hf_bench_ok(hf_thread_start(&threads[i], "starter", starter_run, &all, &err), &err,
                    "start a caller");
    for (int i = 0; i < HF_FLOW_CROWD_MAX; i++)
        hf_thread_join(&threads[i]);
    return STARTS / (hf_bench_now_s() - began);
}

/* A rate, and the processor time that each of what it counts took. */
typedef struct paid_rate {
    double rate;
    double cpu;
    double cores;
} paid_rate;

static paid_rate pay(hf_engine *engine, int round, double rate(hf_engine *engine, int round))
{
    double cpu = cpu_us();
    double began = hf_bench_now_s();
    paid_rate paid = {.rate = rate(engine, round)};
    double took_s = hf_bench_now_s() - began;

    cpu = cpu_us() - cpu;
    paid.cores = cpu / 1e6 / took_s;
    paid.cpu = cpu / took_s / paid.rate;
    return paid;
}

static double w1_rate(hf_engine *engine, int round)
{
    (void)round;
    return hf_flow_crowd(engine, HF_FLOW_CROWD_MAX, 1, round_s).runs;
}

/* Rounds of both in turn. */
static void compare(const hf_flow_place *place, const char *name, double goal, hf_engine *embedded,
                    hf_engine *remote, double rate(hf_engine *engine, int round))
{
    double floors[ROUNDS];
    double ours[ROUNDS];
    double ratios[ROUNDS];
    double cpu[ROUNDS];
    double floor_cpu[ROUNDS];
    double cores = 0;
    char more[MORE_SIZE];

    for (int i = 0; i < ROUNDS; i++) {
        paid_rate floor = pay(embedded, i, rate);
        paid_rate paid = pay(remote, i, rate);

        floors[i] = floor.rate;
        floor_cpu[i] = floor.cpu;
        ours[i] = paid.rate;
        cpu[i] = paid.cpu;
        ratios[i] = ours[i] / floors[i];
        cores += paid.cores / ROUNDS;
    }
    (void)snprintf(more, sizeof(more),
                   ",\"in_flight\":%d,\"cores\":%.2f,\"cpu_us\":%.0f,\"floor_cpu_us\":%.0f",
                   HF_FLOW_CROWD_MAX, cores, hf_bench_median(cpu, ROUNDS),
                   hf_bench_median(floor_cpu, ROUNDS));
    hf_bench_report(&(hf_bench_result){.group = "http",
                                       .name = name,
                                       .store = place->store,
                                       .value = hf_bench_median(ours, ROUNDS),
                                       .unit = "per second",
                                       .floor = hf_bench_median(floors, ROUNDS),
                                       .ratio = hf_bench_median(ratios, ROUNDS),
                                       .goal = goal,
                                       .more = more});
}

static double w2_rate(hf_engine *engine, int round)
{
    (void)round;
    return hf_flow_crowd(engine, HF_FLOW_CROWD_MAX, STEPS_A_RUN, 2 * round_s).steps;
}

static void w2(const hf_flow_place *place, hf_engine *remote)
{
    double rates[ROUNDS];
    double cpu[ROUNDS];
    double steps;
    char more[MORE_SIZE];

    for (int i = 0; i < ROUNDS; i++) {
        paid_rate paid = pay(remote, i, w2_rate);

        rates[i] = paid.rate;
        cpu[i] = paid.cpu;
    }
    steps = hf_bench_median(rates, ROUNDS);
    (void)snprintf(more, sizeof(more), ",\"in_flight\":%d,\"steps_per_run\":%d,\"cpu_us\":%.0f",
                   HF_FLOW_CROWD_MAX, STEPS_A_RUN, hf_bench_median(cpu, ROUNDS));
    hf_bench_report(&(hf_bench_result){.group = "http",
                                       .name = "http_w2_64",
                                       .store = place->store,
                                       .value = steps,
                                       .unit = "steps/s",
                                       .ratio = steps,
                                       .goal = place->server ? 6000 : 10000,
                                       .more = more});
}

/* ---- fan-out */

typedef struct poller {
    const char *url;
    int nth;
    _Atomic bool *over;
    uint64_t done;
    hf_thread thread;
} poller;

static hf_value ask(hf_client *client, const char *path, hf_value body, hf_mem *mem)
{
    const hf_client_request request = {.method = "POST", .path = path, .body = body};
    hf_client_reply reply;
    hf_err err = {0};

    hf_bench_ok(hf_client_ask(client, &request, mem, &reply, &err), &err, "ask the server");
    hf_bench_need(reply.status == 200, hf_mem_text(mem, reply.text));
    return reply.body;
}

static void poller_run(void *ctx)
{
    poller *me = ctx;
    hf_client *client = NULL;
    hf_mem *mem = hf_mem_new();
    hf_err err = {0};

    hf_bench_ok(hf_client_open(&(hf_client_options){.url = me->url}, &client, &err), &err,
                "open a client");
    (void)ask(client, "/api/worker/register",
              hf_json_(mem,
                       "{'worker_id': 'p%d', 'task_queue': 'default', 'supported_workflow_types': "
                       "['none'], 'supported_activity_types': ['noop']}",
                       me->nth),
              mem);
    while (!atomic_load(me->over)) {
        hf_value task = hf_get(ask(client, "/api/worker/activity-tasks/poll",
                                   hf_json_(mem,
                                            "{'worker_id': 'p%d', 'task_queue': 'default', "
                                            "'timeout_seconds': 1}",
                                            me->nth),
                                   mem),
                               "task");

        while (hf_str(task, "task_id", NULL)) {
            const char *path = hf_client_path(mem, "/api/worker/activity-tasks/%s/complete",
                                              hf_str(task, "task_id", ""));

            task = hf_get(ask(client, path,
                              hf_json_(mem,
                                       "{'lease_owner': 'p%d', 'activity_attempt_id': %s, "
                                       "'return_next_task': true, 'task_queue': 'default'}",
                                       me->nth, hf_str(task, "activity_attempt_id", "")),
                              mem),
                          "next_task");
            me->done++;
        }
        hf_mem_reset(mem);
    }
    hf_client_close(client);
    hf_mem_free(mem);
}

static double fan_time(hf_engine *coder, int round)
{
    double began = hf_bench_now_s();
    char id[32];

    (void)snprintf(id, sizeof(id), "fan-%d", round);
    hf_flow_start(coder, "fan", id, hf_json(coder, "{'steps': %d}", FAN));
    hf_flow_result(coder, id);
    return hf_bench_now_s() - began;
}

static void fan_out(const hf_flow_place *place)
{
    static poller pollers[POLLERS];
    _Atomic bool over = false;
    double rates[ROUNDS];
    uint64_t done = 0;
    hf_engine *coder;
    char more[MORE_SIZE];
    hf_err err = {0};
    hf_bench_served s;

    served_open(&s, place, "work_fan");
    coder = hf_flow_at(s.url, false);
    for (int i = 0; i < POLLERS; i++) {
        pollers[i] = (poller){.url = s.url, .nth = i, .over = &over};
        hf_bench_ok(hf_thread_start(&pollers[i].thread, "poller", poller_run, &pollers[i], &err),
                    &err, "start a poller");
    }
    (void)fan_time(coder, ROUNDS); /* all of them are there */
    for (int i = 0; i < ROUNDS; i++)
        rates[i] = FAN / fan_time(coder, i);
    atomic_store(&over, true);
    for (int i = 0; i < POLLERS; i++) {
        hf_thread_join(&pollers[i].thread);
        done += pollers[i].done;
    }
    hf_bench_need(done == (uint64_t)(ROUNDS + 1) * FAN, "an activity was not done once");
    hf_close(coder);
    hf_bench_served_close(&s);
    hf_flow_drop(place, "work_fan");
    (void)snprintf(more, sizeof(more), ",\"activities\":%d,\"pollers\":%d", FAN, POLLERS);
    hf_bench_report(&(hf_bench_result){.group = "http",
                                       .name = "http_fanout",
                                       .store = place->store,
                                       .value = hf_bench_median(rates, ROUNDS),
                                       .unit = "activities/s",
                                       .more = more});
}

static void work(hf_flow_place *place)
{
    hf_engine *embedded = hf_flow_open(place, "work_embedded");
    hf_engine *remote;
    hf_bench_served s;

    served_open(&s, place, "work_served");
    remote = hf_flow_at(s.url, true);
    (void)w1_rate(embedded, 0); /* warm */
    (void)w1_rate(remote, 0);
    compare(place, "http_w1_ratio", 0.3, embedded, remote, w1_rate);
    w2(place, remote);
    compare(place, "starts", 0, embedded, remote, starts_rate);
    hf_close(remote);
    hf_bench_served_close(&s);
    hf_close(embedded);
    hf_flow_drop(place, "work_served");
    hf_flow_drop(place, "work_embedded");
    fan_out(place);
}

int main(int argc, char **argv)
{
    return hf_flow_main(argc, argv, "http: work through a server", work);
}
