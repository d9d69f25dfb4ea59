/* retention.h: closed runs whose time is over leave the store, with every row that belongs to them.

   A run goes when it has been closed for longer than its namespace keeps runs (retention_days; 0:
   for ever), and nothing needs it:
     the run before it is gone: an instance loses its oldest runs first, so that what is left of a
       chain has no gap; dedup keys, and the answers they lead to, stay as long as the instance;
     every run that started it is gone: who waits for a child reads the child's end;
     no child of it is open: the child's parent is a run that can be looked at;
     it has no row of open work, and its projections are folded to the end.
   The instance goes with its last run, and with it dedup keys, correlation key and commands. A
   family goes parents first, so it may take as many walks as it has generations.

   What is removed together is one unit: a crash leaves a run whole or gone, and the next walk finds
   the rest. A unit holds few runs, a walk reads few rows at a time. */
#ifndef HF_ENGINE_RETENTION_H
#define HF_ENGINE_RETENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "commit/shard.h"
#include "commit/unit.h"
#include "engine/core.h"
#include "store/db.h"

enum { HF_RETENTION_RUNS = 32 }; /* in one unit */

/* A walk over the closed runs whose time is over, oldest first. Begin with zeroes and the first
   three. */
typedef struct hf_retention_walk {
    int64_t now_us;
    int64_t namespace_key; /* 0: all */
    hf_shards *shards;     /* only runs of those that this node owns; NULL: all */
    size_t most;           /* runs in the next unit; 0: HF_RETENTION_RUNS */
    int64_t after_us;      /* how far it is, this and the next */
    int64_t after_key;
    size_t drafted; /* runs in the unit at hand */
    int64_t held;   /* runs that something still needs */
    bool ended;
} hf_retention_walk;

/* Reads on and adds the rows that remove what may go; nothing when walk->drafted is 0. */
HF_NODISCARD hf_status hf_retention_draft(hf_db *db, hf_retention_walk *walk, hf_unit *unit,
                                          hf_err *err);

/* What a committed unit of a walk removed. */
void hf_retention_count(const hf_unit *unit, size_t drafted, int64_t *out_runs,
                        int64_t *out_instances);

/* ---- by itself, on the core's thread */

struct core_retiring;

/* After the core has recovered: when is there something to look at? */
HF_NODISCARD hf_status hf_retention_begin(hf_core *core, hf_err *err);

/* Its time has come: begins a walk. */
void hf_retention_look(hf_core *core);

/* There is something from now on that belongs to no run: looks at it within a day. */
void hf_retention_wanted(hf_core *core);

/* A unit of the walk is done. */
void hf_retention_retired(hf_core *core, struct core_retiring *retiring);

/* Any thread: what is kept, or for how long, was changed. */
void hf_retention_changed(hf_core *core);

#endif
