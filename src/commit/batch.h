/* batch.h: takes units to their end: one transaction for all when all is well, one by one when
   something is at fault. Private to commit/; used by the writer's thread alone. */
#ifndef HF_COMMIT_BATCH_H
#define HF_COMMIT_BATCH_H

#include "base/map.h"
#include "commit/unit_impl.h"
#include "commit/writer.h"

/* The units of one transaction. */
typedef struct hf_round {
    hf_mem *mem;          /* reset for each transaction */
    hf_map_int *runs;     /* run key to the newest unit for it in this round */
    hf_unit **units;      /* those of the transaction */
    hf_apply_item *items; /* the same, as the row layer wants them */
    hf_apply_pending *pending;
    size_t count;
    size_t written; /* of them, by the open transaction, before the last ones joined */
    bool begun;     /* its transaction is open */
} hf_round;

typedef struct hf_batch {
    /* Set by other threads: whose units these are, 0: nobody's, and whether each of its
       transactions holds the lock of that node; from which shard on units with an epoch are
       refused. */
    _Atomic int64_t node;
    _Atomic bool locks;
    _Atomic int64_t shut_from;
    hf_db *db;
    int64_t known;           /* the node that the session wrote itself in for */
    bool holds;              /* and that its transactions hold the lock */
    int64_t locked_until_us; /* a lock was waited for in vain: others are not waited for so long */
    hf_keys *keys;
    hf_keys *positions;
    hf_stager stager;
    hf_round rounds[2];
    hf_round *now;  /* the round that is being committed */
    hf_round *next; /* begun: its rows were sent behind the COMMIT of the one before */
    size_t room;
    size_t taken;   /* units that were placed, or found no place */
    hf_unit *rest;  /* units that it did not get to */
    hf_unit *ended; /* finished before they could be placed */
    hf_unit *again; /* units for the next round, in order */
    hf_unit *again_last;
    int64_t sync_us; /* what a sync takes, as far as is known */
    int64_t ask_us;  /* what the quickest question took, and the last block of keys */
    int64_t reserve_us;
    int wary;             /* batches to come in which guards are joined: one did not hold lately */
    int64_t checkpointed; /* pages of the log when it was last written back */
    hf_err barred;        /* HF_FULL or HF_READONLY of the newest batch, and why; HF_OK: it is in */
    hf_writer_stats stats;
    /* Where a sync takes long, and as long as fewer units were taken than are expected in all,
       `more` is asked, whenever the database has done what it was told, for those that came
       meanwhile: they join the open transaction. NULL: none. */
    size_t expected;
    hf_unit *(*more)(void *ctx);
    /* Where a sync is short, and the database can: asked while it works on a COMMIT for the units
       of the next transaction; waits until there are as many as wanted, or the database has
       answered. NULL: none. */
    hf_unit *(*ahead)(void *ctx, size_t wanted);
    /* Asked between attempts to reach a lost database: true gives up. */
    bool (*stopped)(void *ctx);
    void (*pause)(void *ctx, int64_t us);
    void *ctx;
} hf_batch;

HF_NODISCARD hf_status hf_batch_init(hf_batch *batch, hf_store *store, size_t room, hf_err *err);
void hf_batch_fini(hf_batch *batch);

/* Works on up to `room` units of the list, those kept for another round first. Returns those that
   are finished (status set), linked by next; *out_rest are those it did not get to. A failure that
   ends the writer is returned through err with its status; the units it hit are finished with
   HF_STOPPED. */
hf_unit *hf_batch_run(hf_batch *batch, hf_unit *units, hf_unit **out_rest, hf_status *out_fatal,
                      hf_err *err);

/* Whether units wait for another round, or to be committed. */
bool hf_batch_waiting(const hf_batch *batch);

/* How many of them were sent ahead. */
size_t hf_batch_ahead(const hf_batch *batch);

/* Gives up the units that wait for another round: finished with HF_STOPPED. */
hf_unit *hf_batch_abandon(hf_batch *batch, const hf_err *why);

/* Connects to a lost database again, however long it takes. HF_STOPPED: nobody wants it any more.
   HF_READONLY: only a server that takes no changes answers; `patient` waits for another. */
HF_NODISCARD hf_status hf_batch_reach(hf_batch *batch, bool patient, hf_err *err);

/* Whether the status says that the store is fine, but not now. */
bool hf_batch_passes(hf_status st);

/* Nothing has come for a while: writes the log back. */
HF_NODISCARD hf_status hf_batch_rest(hf_batch *batch, hf_err *err);

/* Whether the store takes changes again: reserves keys, which writes little and does no harm. One
   that still is full or read-only, or cannot be reached, is no failure. */
HF_NODISCARD hf_status hf_batch_try(hf_batch *batch, hf_err *err);

#endif
