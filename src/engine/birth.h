/* birth.h: a start that takes the first turn of its run along: instance, run, what the code asks
   for and the claim of its first activity in one unit instead of two, and without reading back what
   was just written. Only worth it while the writer is busy: a lone start is acknowledged sooner
   when its caller commits it by itself, and its code runs afterwards. The drafted unit is lent to
   the core, see lent.h. */
#ifndef HF_ENGINE_BIRTH_H
#define HF_ENGINE_BIRTH_H

#include "engine/engine_impl.h"

/* Any thread: whether this start should be drafted without a task for its first turn. */
bool hf_birth_wanted(hf_engine *engine, const hf_intake_start *start);

/* Has the core take the first turn and commits both; waits for the outcome. The unit, which is not
   sealed, is taken over in every case. HF_OK without *out_born: declined. HF_EXISTS: the id is
   taken. */
HF_NODISCARD hf_status hf_birth_commit(hf_engine *engine, hf_unit *unit,
                                       const hf_intake_target *target, int64_t *out_command_seq,
                                       bool *out_born, hf_err *err);

#endif
