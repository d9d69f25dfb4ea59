/* open_work.h: what a run has open, read from the store. */
#ifndef HF_ENGINE_OPEN_WORK_H
#define HF_ENGINE_OPEN_WORK_H

#include "base/err.h"
#include "base/mem.h"
#include "decide/decide.h"
#include "store/db.h"

/* Open activities by step, then pending timers by step, in the arena; and the run that waits for
 * this one, or HF_NONE. */
HF_NODISCARD hf_status hf_open_work_read(hf_db *db, hf_mem *mem, int64_t run,
                                         hf_open_work **out_work, size_t *out_count,
                                         int64_t *out_parent, hf_err *err);

/* The children of a run that are open, in the arena. */
HF_NODISCARD hf_status hf_open_children_read(hf_db *db, hf_mem *mem, int64_t run,
                                             hf_open_child **out_children, size_t *out_count,
                                             hf_err *err);

/* The updates that a run accepted and did not answer, in the arena. */
HF_NODISCARD hf_status hf_open_updates_read(hf_db *db, hf_mem *mem, int64_t run,
                                            hf_open_message **out_updates, size_t *out_count,
                                            hf_err *err);

/* How a run hangs on its parent, texts in the arena; parent_run HF_NONE: it has none. */
HF_NODISCARD hf_status hf_open_parent_read(hf_db *db, hf_mem *mem, int64_t run,
                                           hf_decide_run *out_info, hf_err *err);

#endif
