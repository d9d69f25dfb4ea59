/* lineage.h: the runs around a run: who started it, whom it started, and the other runs of its
   instance, as a graph. Made from rows alone; no history is read. Reads only. */
#ifndef HF_PROJECT_LINEAGE_H
#define HF_PROJECT_LINEAGE_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"
#include "store/db.h"

enum { HF_LINEAGE_DEPTH_MAX = 5, HF_LINEAGE_NODES_MAX = 200, HF_LINEAGE_CHILDREN_MAX = 50 };

/* {"root": run id, "nodes": [{run_id, workflow_id, workflow_type, run_number, status,
   status_bucket, glyph, closed_reason, started_at, closed_at, relation, depth, failing}],
   "edges": [{from, to, kind, step}], "cut": how many are left out at least}. `depth`: how many
   generations up and down. HF_INVALID for one that cannot be, HF_NOTFOUND. */
HF_NODISCARD hf_status hf_lineage_read(hf_db *db, hf_mem *mem, int64_t run, int64_t depth,
                                       hf_value *out_lineage, hf_err *err);

#endif
