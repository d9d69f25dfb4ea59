/* bench_commands_takeover.c: of two or three nodes one is killed while runs of its shards sleep;
   how long it takes until the last of them has gone on at another node, counted from the kill.
   Their timers are due long before that. Lease 10 s, and a sweep.

   takeover_2, takeover_3     seconds from the kill to the last result

   bench_commands_takeover [postgres] */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib_flow.h"
#include "lib_report.h"

enum { RUNS = 100, NAP_MS = 2000, SETTLE_S = 3 };

/* A node in a process of its own, until it is killed; *out_told has a byte to read when it has done
   what it is there for. */
static pid_t node_fork(const hf_flow_place *place, const char *store, void run(hf_engine *engine),
                       int *out_told)
{
    int ends[2];
    pid_t node;

    hf_bench_need(pipe(ends) == 0, "no pipe");
    (void)fflush(NULL);
    node = fork();
    hf_bench_need(node >= 0, "no process");
    if (node == 0) {
        run(hf_flow_open(place, store));
        (void)!write(ends[1], "", 1);
        for (;;)
            (void)pause();
    }
    (void)close(ends[1]);
    *out_told = ends[0];
    return node;
}

static void node_end(pid_t node, int told)
{
    (void)kill(node, SIGKILL);
    (void)waitpid(node, NULL, 0);
    (void)close(told);
}

static void told_await(int told)
{
    char byte;

    hf_bench_need(read(told, &byte, 1) == 1, "the other node came to nothing");
}

/* One that is there; work begins with the first call. */
static void bystander(hf_engine *engine)
{
    hf_flow_start(engine, "park", "third", NULL);
}

/* The node that dies: starts the runs when all nodes are there. */
static void victim(hf_engine *engine)
{
    char id[32];

    hf_flow_start(engine, "park", "first", NULL);
    (void)sleep(SETTLE_S);
    for (int i = 0; i < RUNS; i++) {
        (void)snprintf(id, sizeof(id), "nap-%d", i);
        hf_flow_start(engine, "nap", id, hf_json(engine, "{'nth': %d, 'ms': %d}", i, NAP_MS));
    }
}

static void takeover_of(hf_flow_place *place, int nodes)
{
    int killed_told = -1;
    int third_told = -1;
    pid_t killed;
    pid_t third = -1;
    hf_engine *engine;
    double since;
    char store[32];
    char id[32];

    (void)snprintf(store, sizeof(store), "takeover_%d", nodes);
    if (nodes > 2) {
        third = node_fork(place, store, bystander, &third_told);
        told_await(third_told);
    }
    killed = node_fork(place, store, victim, &killed_told);
    engine = hf_flow_open(place, store);
    hf_flow_start(engine, "park", "second", NULL);
    told_await(killed_told);
    since = hf_bench_now_s();
    node_end(killed, killed_told);
    for (int i = 0; i < RUNS; i++) {
        (void)snprintf(id, sizeof(id), "nap-%d", i);
        hf_flow_result(engine, id);
    }
    since = hf_bench_now_s() - since;
    hf_bench_report(&(hf_bench_result){.group = "commands",
                                       .name = store,
                                       .store = place->store,
                                       .value = since,
                                       .unit = "s",
                                       .ratio = since,
                                       .goal = -15,
                                       .more = ""});
    hf_close(engine);
    if (third > 0)
        node_end(third, third_told);
}

static void takeover(hf_flow_place *place)
{
    if (!place->server)
        return; /* one node has the file to itself */
    takeover_of(place, 2);
    takeover_of(place, 3);
}

int main(int argc, char **argv)
{
    return hf_flow_main(argc, argv, "a node dies", takeover);
}
