/* bench_commands_node.c: two nodes on one store; updates of the same runs are asked for and waited
   for at both in turn.

   node_update_ratio    an update at the node that does not own the run, p99, against one at the
                        owner

   bench_commands_node [postgres] */
#include <stdio.h>

#include "lib/nap.h"
#include "lib_flow.h"
#include "lib_report.h"

enum { RUNS = 20, UPDATES = 50, SETTLE_S = 60 };

/* Both nodes have a share, and together all there is. */
static void nodes_settle(hf_engine *const nodes[2])
{
    int64_t shares[2] = {0};

    for (int i = 0; i < SETTLE_S * 10; i++) {
        for (int k = 0; k < 2; k++)
            shares[k] = hf_shards_count(hf_node_shards(nodes[k]->node));
        if (shares[0] > 0 && shares[1] > 0 && shares[0] + shares[1] == HF_SHARDS)
            return;
        hf_nap_ms(100);
    }
    hf_bench_need(false, "the nodes do not share the store");
}

static double update_us(hf_engine *engine, const char *id)
{
    double start = hf_bench_now_s();
    hf_value out = NULL;

    hf_flow_ok(engine, hf_update(engine, id, "add", hf_json(engine, "[1]"), hf_seconds(60), &out),
               "update a run");
    start = (hf_bench_now_s() - start) * 1e6;
    hf_mem_reset(hf_mem_of_engine(engine));
    return start;
}

static void node_update(hf_flow_place *place)
{
    static double owner_us[RUNS * UPDATES];
    static double other_us[RUNS * UPDATES];
    hf_engine *nodes[2];
    double owner;
    double other;
    size_t count = 0;
    char id[32];
    char more[96];

    if (!place->server)
        return; /* one node has the file to itself */
    for (int i = 0; i < 2; i++) {
        nodes[i] = hf_flow_open(place, "node");
        (void)snprintf(id, sizeof(id), "first-%d", i);
        hf_flow_start(nodes[i], "park", id, NULL);
    }
    nodes_settle(nodes);
    for (int i = 0; i < RUNS; i++) {
        (void)snprintf(id, sizeof(id), "tally-%d", i);
        hf_flow_start(nodes[i % 2], "tally", id, NULL);
        (void)update_us(nodes[0], id);
    }
    for (int i = 0; i < RUNS * UPDATES; i++) {
        int64_t shard;
        int at;

        (void)snprintf(id, sizeof(id), "tally-%d", i % RUNS);
        shard = hf_shard_of(nodes[0]->namespace_key, hf_slice_of(id));
        at = hf_node_owns(nodes[0]->node, shard) ? 0 : 1;
        owner_us[count] = update_us(nodes[at], id);
        other_us[count++] = update_us(nodes[!at], id);
    }
    owner = hf_flow_percentile(owner_us, count, 99);
    other = hf_flow_percentile(other_us, count, 99);
    (void)snprintf(more, sizeof(more), ",\"p50\":%.1f,\"owner_p50\":%.1f",
                   hf_flow_percentile(other_us, count, 50),
                   hf_flow_percentile(owner_us, count, 50));
    hf_bench_report(&(hf_bench_result){.group = "commands",
                                       .name = "node_update_ratio",
                                       .store = place->store,
                                       .value = other,
                                       .unit = "us p99",
                                       .floor = owner,
                                       .ratio = other / owner,
                                       .goal = -3,
                                       .more = more});
    hf_close(nodes[0]);
    hf_close(nodes[1]);
}

int main(int argc, char **argv)
{
    return hf_flow_main(argc, argv, "updates at two nodes", node_update);
}
