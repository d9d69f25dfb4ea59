/* node.h: this process as one of several that share a PostgreSQL store: which shards it owns, and
   hints to and from the others. A thread of its own renews the lease, which is
   all that an idle node does, and tells the core where to look: in shards that are new here, and
   where work waits that no hint told of.

   Joined before the core is opened, because the core asks for epochs; started when it is there. */
#ifndef HF_ENGINE_NODE_H
#define HF_ENGINE_NODE_H

#include "base/log.h"
#include "commit/shard.h"
#include "commit/wake.h"
#include "commit/writer.h"
#include "engine/core.h"

typedef struct hf_node hf_node;

typedef struct hf_node_options {
    hf_store *store;
    hf_writer *writer; /* finished before the node leaves */
    const hf_log *log;
    int64_t lease_us; /* as hf_shards_options, this and the next two */
    hf_clock *clock;
    bool clock_is_own;
    /* Another node said so; the core has been told. From a thread of the node's; must not block. */
    void (*heard)(void *ctx, hf_hint hint);
    /* The lease was renewed: what hints may have missed is looked for, and what callers here wait
       for is said again. From a thread of the node's; must not block. */
    void (*renewed)(void *ctx);
    void *ctx;
} hf_node_options;

HF_NODISCARD hf_status hf_node_join(const hf_node_options *options, hf_node **out_node,
                                    hf_err *err);
HF_NODISCARD hf_status hf_node_start(hf_node *node, hf_core *core, hf_err *err);

/* Gives the shards free and tells the others to take them. After the last commit. NULL is allowed.
 */
void hf_node_leave(hf_node *node);

hf_shards *hf_node_shards(hf_node *node);

/* Whether the core was told of all shards that the node has by now. */
bool hf_node_swept(hf_node *node);

/* What this node is called among the others. */
int64_t hf_node_key(const hf_node *node);

/* Whether this node owns the shard; HF_NONE: all of them. */
bool hf_node_owns(hf_node *node, int64_t shard);

/* The run, which is another node's, has facts that its owner may not know of. Any thread; never
   blocks. This is hf_core_options.tell. */
void hf_node_tell(hf_node *node, int64_t run);

/* A unit of the run was committed here: nodes that wait for it are told. Any thread; never blocks.
 */
void hf_node_changed(hf_node *node, int64_t run);

/* A caller here waits for a run of that shard (HF_NONE: unknown) to change, and goes on waiting for
   at most HF_SHARD_RENEW_US before it looks for itself and says so again. Run 0: any run. */
void hf_node_await(hf_node *node, int64_t shard, int64_t run);

/* There is a letter for that node (commit/mail.h). Any thread; never blocks. */
void hf_node_mail(hf_node *node, int64_t to);

/* hf_core_options.unswept. Any thread; never blocks. */
void hf_node_unswept(hf_node *node);

#endif
