/* writer.h: the one pair of hands that changes a store: a thread, or a caller that found it idle
   and waits for its own unit anyway (docs/decisions/0002). It takes whatever units are staged,
   writes them in one transaction, commits, and only then tells anybody. A lone unit commits at
   once; under load the next batch grows while this one syncs; there is no timer in between. It
   never calls user code except `done` functions, which must not block.

   After a failed sync, detected corruption or a foreign write it stops for good: everything staged
   and submitted from then on is answered with HF_STOPPED. A full disk, or a database that is busy
   or takes no changes, fails the batch and it goes on. A lost PostgreSQL connection is made again,
   and what was under way is found out by reading back. */
#ifndef HF_COMMIT_WRITER_H
#define HF_COMMIT_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "commit/unit.h"
#include "store/keys.h"
#include "store/store.h"

typedef struct hf_writer hf_writer;

typedef struct hf_writer_options {
    size_t size;
    size_t queue_max; /* units staged and not yet taken; 0: 8192 */
    size_t batch_max; /* units in one transaction; 0: 1024 */
    int64_t sync_us;  /* what a sync takes, until it is measured again; 0: as measured now */
    bool manual;      /* no thread: the owner calls hf_writer_step */
    /* Called after the `done` functions of a batch, on the same thread: the place to wake whoever
       waits for results, once and not once per unit. Must not block. May be NULL. */
    void (*answered)(void *ctx);
    void *answered_ctx;
    /* Told of each run that a committed unit appended to or created, before its `done`. Must not
       block. May be NULL. */
    void (*committed)(void *ctx, int64_t run);
    void *committed_ctx;
} hf_writer_options;

typedef struct hf_writer_stats {
    uint64_t batches;   /* transactions committed */
    uint64_t ahead;     /* of them, begun behind the COMMIT of the one before */
    uint64_t units;     /* units committed */
    uint64_t refused;   /* units whose guard did not hold */
    uint64_t rebased;   /* times a unit was based anew */
    uint64_t condemned; /* units that the database refused */
    uint64_t locked;    /* units that waited for a lock in vain */
    uint64_t
        retries; /* transactions run again after a serialisation failure or a lost connection */
    uint64_t unknown; /* commits whose answer was lost */
    uint64_t queued;  /* units waiting now */
} hf_writer_stats;

/* `store` is open as its owner and outlives the writer, which uses hf_store_writer(store) alone
 * from now on. */
HF_NODISCARD hf_status hf_writer_open(hf_store *store, const hf_writer_options *options,
                                      hf_writer **out_writer, hf_err *err);

/* Finishes what was submitted, then ends the thread: nothing comes in any more. NULL is allowed. */
void hf_writer_finish(hf_writer *writer);

/* The same, and frees it. NULL is allowed. */
void hf_writer_close(hf_writer *writer);

/* Hands a sealed unit over; its `done` will be called. Blocks while the queue is full. On failure
   (HF_STOPPED) the caller still owns the unit, whose outcome says why, and `done` is not called.
   Any thread; not from a `done` function. */
HF_NODISCARD hf_status hf_writer_submit(hf_writer *writer, hf_unit *unit, hf_err *err);

/* The same without blocking: HF_BUSY when the queue is full. This one may be called from a `done`
 * function. */
HF_NODISCARD hf_status hf_writer_offer(hf_writer *writer, hf_unit *unit, hf_err *err);

/* Submits and waits. The unit must have been made with hf_unit_new(NULL, NULL) and stays the
   caller's. Returns its outcome. A caller that finds the writer idle does the writer's work itself,
   on its own thread. Not with a manual writer. */
HF_NODISCARD hf_status hf_writer_commit(hf_writer *writer, hf_unit *unit, hf_err *err);

/* A manual writer: everything staged ends with HF_STOPPED, as if the process had died before it. */
void hf_writer_discard(hf_writer *writer);

/* A manual writer: takes one batch, if there is any, and finishes it. Returns how many units were
 * taken. */
size_t hf_writer_step(hf_writer *writer);

/* Whether a unit that is submitted now waits for others. Any thread; a moment later it may be
   otherwise. */
bool hf_writer_busy(hf_writer *writer);

/* ---- on a store that nodes share

   The units are a node's: before the next one the writer's session writes itself in, so that it is
   found and ended by who takes shards from the node. `locks`: not everybody can end it; its
   transactions hold the node's lock. */
void hf_writer_serve(hf_writer *writer, int64_t node, bool locks);

/* Units that carry an epoch of a shard from this number on are refused with HF_CONFLICT, until it
   is called again; INT64_MAX: none. */
void hf_writer_shut(hf_writer *writer, int64_t from);

/* Waits until no unit that is refused now is under way. HF_TIMEOUT at a time of the monotonic
   clock; HF_STOPPED: the fate of those that were may never be known here. */
HF_NODISCARD hf_status hf_writer_quiet(hf_writer *writer, int64_t until_us, hf_err *err);

/* Keys for rows; see keys.h. */
hf_keys *hf_writer_keys(hf_writer *writer);

/* Stops it for good, for a reason that somebody else found. Any thread. */
void hf_writer_stop(hf_writer *writer, const hf_err *why);

/* Why the writer stopped: HF_OK while it works. */
hf_status hf_writer_failure(hf_writer *writer, hf_err *out_failure);

/* HF_FULL or HF_READONLY, and why, from a batch that found the disk or the database full or
   read-only until something can be written again; the thread tries so by itself. HF_OK otherwise.
 */
hf_status hf_writer_barred(hf_writer *writer, hf_err *out_why);

/* Whether the outcome of a unit says that the store is fine, but not now: HF_FULL, HF_READONLY,
   HF_BUSY, HF_NOMEM, HF_RETRY, HF_TIMEOUT. */
bool hf_writer_passes(hf_status st);

hf_writer_stats hf_writer_stats_get(hf_writer *writer);

#endif
