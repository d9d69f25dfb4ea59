/* bench_commands_takeover.c: a node is killed while runs of its shards sleep; how long it takes
   until the last of them has gone on at another node, counted from the kill. Their timers are due
   long before that. Lease 10 s, and a sweep.

   takeover     seconds from the kill to the last result

   bench_commands_takeover [postgres] */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib_flow.h"
#include "lib_report.h"

enum { RUNS = 100, NAP_MS = 2000, SETTLE_S = 3 };

/* The node that dies: starts the runs when there are two nodes, and says so. */
static void victim_run(const hf_flow_place *place, int told)
{
    hf_engine *engine = hf_flow_open(place, "takeover");
    char id[32];

    hf_flow_start(engine, "park", "first", NULL); /* work begins with the first call */
    (void)sleep(SETTLE_S);
    for (int i = 0; i < RUNS; i++) {
        (void)snprintf(id, sizeof(id), "nap-%d", i);
        hf_flow_start(engine, "nap", id, hf_json(engine, "{'nth': %d, 'ms': %d}", i, NAP_MS));
    }
    (void)!write(told, "", 1);
    for (;;)
        (void)pause();
}

static void takeover(hf_flow_place *place)
{
    hf_engine *engine;
    int ends[2];
    char byte;
    char id[32];
    double killed;
    pid_t victim;

    if (!place->server)
        return; /* one node has the file to itself */
    hf_bench_need(pipe(ends) == 0, "no pipe");
    (void)fflush(NULL);
    victim = fork();
    hf_bench_need(victim >= 0, "no process");
    if (victim == 0)
        victim_run(place, ends[1]);
    engine = hf_flow_open(place, "takeover");
    hf_flow_start(engine, "park", "second", NULL);
    hf_bench_need(read(ends[0], &byte, 1) == 1, "the other node came to nothing");
    killed = hf_bench_now_s();
    (void)kill(victim, SIGKILL);
    for (int i = 0; i < RUNS; i++) {
        (void)snprintf(id, sizeof(id), "nap-%d", i);
        hf_flow_result(engine, id);
    }
    killed = hf_bench_now_s() - killed;
    (void)waitpid(victim, NULL, 0);
    hf_bench_report(&(hf_bench_result){.group = "commands",
                                       .name = "takeover",
                                       .store = place->store,
                                       .value = killed,
                                       .unit = "s",
                                       .ratio = killed,
                                       .goal = -15,
                                       .more = ""});
    hf_close(engine);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

int main(int argc, char **argv)
{
    return hf_flow_main(argc, argv, "a node dies", takeover);
}
