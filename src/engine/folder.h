/* folder.h: folds what was committed into projections, after the commit and off the hot path. It is
   told which runs changed, waits a moment so that a run which moves fast is folded once and not per
   step, reads what is new of each and hands rows to the writer like everybody else. While nothing
   changes it does nothing at all.

   What it has not folded when the process ends is found by a sweep at the next start: a summary
   says up to which event it was folded. Positions of history would not do as a cursor, because
   nodes that share a store take them in blocks and commit them out of order.

   A fold that fails is no failure of the engine. When the store is at fault, everything is tried
   again; when a run is (its history cannot be read, its rows cannot be written), that run is set
   aside, counted and logged, and the others go on. It is tried again when it moves on, when
   somebody who read it wants it, at the next start, and by hf_rebuild. */
#ifndef HF_ENGINE_FOLDER_H
#define HF_ENGINE_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "commit/unit.h"
#include "store/store.h"

typedef struct hf_folder hf_folder;

typedef struct hf_folder_options {
    hf_store *store;
    hf_db *db; /* stepped: what it reads with; NULL: threads, with a connection of its own */
    const hf_log *log; /* NULL: none */
    /* Commits a unit of bare rows and waits for its outcome. */
    hf_status (*commit)(void *ctx, hf_unit *unit, hf_err *err);
    void *ctx;
} hf_folder_options;

typedef struct hf_folder_stats {
    uint64_t runs;    /* folded, a run once each time */
    uint64_t events;  /* that were new */
    uint64_t missing; /* summaries or logs that were not there though they should have been */
    uint64_t stale;   /* that were of another version or history, or damaged */
    uint64_t failed;  /* times that the store did not let it fold */
    uint64_t aside;   /* runs that cannot be folded now */
    uint64_t waiting; /* runs that are known to have changed and are not folded yet */
} hf_folder_stats;

/* A folder without `db` starts its thread with hf_folder_start. */
HF_NODISCARD hf_status hf_folder_open(const hf_folder_options *options, hf_folder **out_folder,
                                      hf_err *err);
HF_NODISCARD hf_status hf_folder_start(hf_folder *folder, hf_err *err);

/* Folds no more; with `finish` after everything it was told of is folded. The writer must still
   work. */
void hf_folder_stop(hf_folder *folder, bool finish);
void hf_folder_close(hf_folder *folder); /* NULL is allowed */

/* Any thread: the run has new events. Never blocks for long. */
void hf_folder_tell(hf_folder *folder, int64_t run);

/* The same for a run whose projection was found wanting by somebody who read it: it is brought up
   to the newest event however long it is. */
void hf_folder_want(hf_folder *folder, int64_t run);

/* Stepped: folds some runs. False when there was nothing to do, or it failed. */
bool hf_folder_step(hf_folder *folder);

hf_folder_stats hf_folder_stats_get(hf_folder *folder);

#endif
