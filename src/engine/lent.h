/* lent.h: a drafted unit that its caller lends to the core, so that a turn of its run goes into the
   same commit. The caller waits meanwhile: it is told after the commit and not before, and when the
   writer is idle it commits the sealed unit itself (decision 2).

   Nothing is owed to what is lent. Whoever cannot go on with it declines it, nothing of it is in
   the store, and the caller commits the plain way. See docs/decisions/0005-first-turn.md and
   0007-turn-of-a-signal.md. */
#ifndef HF_ENGINE_LENT_H
#define HF_ENGINE_LENT_H

#include "engine/core_impl.h"
#include "engine/engine_impl.h"

typedef struct hf_lent hf_lent;

/* The core's thread, a message: takes the turn, or declines. The core may be lost afterwards. */
typedef void hf_lent_take(hf_core *core, hf_lent *lent);

typedef struct hf_lent_outcome {
    bool answered;    /* the unit had its turn and an outcome; else it was declined */
    hf_status status; /* of the unit then */
    int64_t command_seq;
} hf_lent_outcome;

/* ---- the caller's side */

/* Lends the unit, which is not sealed, and waits. *unit is NULL afterwards when it was used up;
   what was declined before that is still the caller's. The target's texts are borrowed meanwhile.
   HF_NOMEM: nothing happened. Another status: the unit may be in the store or not, and must not be
   sent again. */
HF_NODISCARD hf_status hf_lent_commit(hf_engine *engine, hf_lent_take *take, hf_unit **unit,
                                      const hf_intake_target *target, hf_lent_outcome *out_outcome,
                                      hf_err *err);

/* ---- the core's side */

/* Takes it up by the function that it was lent for. */
void hf_lent_begin(hf_core *core, hf_lent *lent);

/* Whether the core has nothing to do that would have to come first. */
bool hf_lent_fits(const hf_core *core);

const hf_intake_target *hf_lent_target(const hf_lent *lent);
hf_unit *hf_lent_use(hf_lent *lent); /* the unit, which its caller does not get back */

/* The unit is sealed and the writer idle: the caller commits it, and then calls `done`. */
void hf_lent_return(hf_lent *lent, hf_unit *unit, hf_unit_done *done, void *ctx);

/* The writer's thread or the caller's: the unit has its outcome. */
void hf_lent_answer(hf_lent *lent, const hf_unit *unit);

void hf_lent_decline(hf_lent *lent);

/* The run's turn is over; declined when it was not answered. A run that took nothing that was lent
   is left as it is. */
void hf_lent_end(live_run *run);

/* As the thread's last act: those who wait are declined, nobody else may come. */
void hf_lent_shut(hf_core *core);

#endif
