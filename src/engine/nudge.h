/* nudge.h: a signal that takes the turn it causes along: what it brings and what the code makes of
   it are one unit instead of two, and no task stands for a turn that is taken. Only for a run that
   is at rest in the memory of an idle core: a core that is busy comes to its turn when it can, and
   the acknowledgement does not wait for it. The drafted unit is lent to the core, see lent.h. */
#ifndef HF_ENGINE_NUDGE_H
#define HF_ENGINE_NUDGE_H

#include "engine/engine_impl.h"

/* Any thread: whether a signal to this run should be drafted without a task for its turn. */
bool hf_nudge_wanted(hf_engine *engine, const hf_intake_target *target);

/* Has the core take the turn and commits both; waits for the outcome. HF_OK without *out_taken: it
   was declined. Then *unit is the drafted unit still, which lacks its task, or NULL when it was
   used up. */
HF_NODISCARD hf_status hf_nudge_commit(hf_engine *engine, hf_unit **unit,
                                       const hf_intake_target *target, int64_t *out_command_seq,
                                       bool *out_taken, hf_err *err);

#endif
