/* inbox.h: what other runs have to do with a run: facts that they left in its inbox, and what is to
   be known of its children and messages before it may close. Reads the store; what becomes of it is
   decided in decide/. For the core's files alone. */
#ifndef HF_ENGINE_INBOX_H
#define HF_ENGINE_INBOX_H

#include "decide/decide.h"
#include "engine/core_impl.h"

/* Folds the inbox into the unit. *out_stopped: the parent closed and this run closed with it; its
   code has no say any more. */
HF_NODISCARD hf_status hf_inbox_fold(hf_core *core, live_run *run, hf_decide *decide,
                                     bool *out_stopped, hf_err *err);

/* Fills in the parts of run->info that `what` (hf_decide_known) names, in the unit's arena. */
HF_NODISCARD hf_status hf_inbox_know(hf_core *core, live_run *run, hf_unit *unit, unsigned what,
                                     hf_err *err);

#endif
