/* birth.h: a start that takes the first turn of its run along: instance, run, what the code asks
   for and the claim of its first activity in one unit instead of two, and without reading back what
   was just written. Only worth it while the writer is busy: a lone start is acknowledged sooner
   when its caller commits it by itself, and its code runs afterwards.

   Nothing is owed to a birth. Whoever cannot go on with one declines it, nothing of it is in the
   store, and the caller starts the run the plain way. See docs/decisions/0005-first-turn.md. */
#ifndef HF_ENGINE_BIRTH_H
#define HF_ENGINE_BIRTH_H

#include "engine/core_impl.h"
#include "engine/engine_impl.h"

typedef struct hf_birth hf_birth;

/* Any thread: whether this start should be drafted without a task for its first turn. */
bool hf_birth_wanted(hf_engine *engine, const hf_intake_start *start);

/* Has the core take the first turn and commits both; waits for the outcome. The unit, which is not
   sealed, is taken over in every case. HF_OK without *out_born: declined. HF_EXISTS: the id is
   taken. */
HF_NODISCARD hf_status hf_birth_commit(hf_engine *engine, hf_unit *unit,
                                       const hf_intake_target *target, int64_t *out_command_seq,
                                       bool *out_born, hf_err *err);

/* The core's thread, a message: takes the turn, or declines. The core may be lost afterwards. */
void hf_birth_take(hf_core *core, hf_birth *birth);

/* The writer's thread: the unit has its outcome. */
void hf_birth_answer(hf_birth *birth, const hf_unit *unit);

/* The run is in the store or will never be; declined when it was not answered. A run that has no
   birth is left as it is. */
void hf_birth_end(live_run *run);

/* A message that nobody takes. */
void hf_birth_decline(hf_birth *birth);

/* The core's thread, as its last act: those who wait are declined, nobody else may come. */
void hf_births_shut(hf_core *core);

#endif
