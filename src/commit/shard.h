/* shard.h: which part of a shared PostgreSQL store this node works on. Instances are spread over
   256 shards; a node leases as many as is fair, renews all of them with one statement, and loses
   them when it stops renewing. Units of in-process work carry the epoch of their shard, so that a
   node that lost a shard cannot write for it any more.

   A shard changes hands in one of two ways, and in both nothing that the former owner had under way
   for it can be committed once the new one reads it (docs/internals/nodes.md):
   - given back: units for it are refused, those under way are waited for, then the row is freed;
   - taken from a node that is silent: the epoch moves, the sessions of that node are ended and
     waited for. Until then the shard is this node's in the row alone.

   The node's clock learns from what the database says with each renewal (hf_clock_learn): nobody is
   early who waits for it, and a jump of the database's clock moves neither timers nor shards.

   On SQLite there is one node and it owns everything; this file is not used there. The lease is a
   hint about who should work; the fence of each unit is what keeps two owners apart. */
#ifndef HF_COMMIT_SHARD_H
#define HF_COMMIT_SHARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "commit/writer.h"
#include "store/store.h"

enum {
    HF_SHARDS = 256,
    HF_SHARD_LEASE_US = 10000000 /* a node that is silent for this long has lost its shards */
};

typedef struct hf_shards hf_shards;

typedef struct hf_shards_options {
    hf_store *store;
    int64_t node;      /* its key, from hf_keys */
    const char *name;  /* for people */
    int64_t lease_us;  /* 0: HF_SHARD_LEASE_US; the same for all nodes of a store */
    hf_writer *writer; /* of the node's units; finished before the node leaves */
    hf_clock *clock;   /* steady; tasks and facts carry its time; outlives the shards */
    bool clock_is_own; /* tests: it does not learn from the database */
} hf_shards_options;

/* The shard of an instance id within its namespace. The same on every node, for ever: ids are
 * stored with it. */
int64_t hf_shard_of(int64_t namespace_key, hf_slice id);

/* Joins the cluster over a connection of its own, and takes a first share. */
HF_NODISCARD hf_status hf_shards_join(const hf_shards_options *options, hf_shards **out_shards,
                                      hf_err *err);

/* How long the lease is, and how often to renew it. */
int64_t hf_shards_lease_us(const hf_shards *shards);
int64_t hf_shards_renew_us(const hf_shards *shards);

/* Gives the shards free at once and closes the connection; after the last unit, when nobody uses
   the writer's connection any more. NULL is allowed. */
void hf_shards_leave(hf_shards *shards);

/* Renews the lease, takes what is free up to a fair share, gives back what is over it. A node that
   is not `serving`, because nobody is there to do the work, has no share while another one is. A
   lost connection is made again by the next call. On failure what is owned stays as known until the
   lease has run out. HF_NEWER: the store was migrated by a newer program; nothing may be written to
   it any more. out_unsettled->status, unless HF_OK: sessions of a former owner may still be there,
   so that not all that was taken is owned yet; to be called again soon. */
HF_NODISCARD hf_status hf_shards_renew(hf_shards *shards, bool serving, hf_err *out_unsettled,
                                       hf_err *err);

/* The epoch under which this node owns the shard, or HF_NONE: it does not, or its lease may have
   run out by what has passed. The thread that renews may be another one. */
int64_t hf_shards_epoch(hf_shards *shards, int64_t shard);

/* Whether the lease holds; what is owned is owned only as long as it does. Any thread. */
bool hf_shards_held(const hf_shards *shards);

/* How many shards this node owns. */
int64_t hf_shards_count(hf_shards *shards);

/* Whether the last renewal found work in shards of this node that waits for longer than it should:
   a hint was lost. */
bool hf_shards_waiting(hf_shards *shards);

#endif
