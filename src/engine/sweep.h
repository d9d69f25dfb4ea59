/* sweep.h: work that lies in the store and nobody here knows of: all of it when the engine begins,
   and that of shards that change hands. What is found is made ready; nothing is decided, but for
   runs in whose code the process before died: they are counted, and quarantined at the limit.

   The core's thread. hf_core_recover and hf_core_sweep of core.h are here too. */
#ifndef HF_ENGINE_SWEEP_H
#define HF_ENGINE_SWEEP_H

#include "engine/core_impl.h"

/* Makes the sweep that the message asks for, and frees the message. One that could not be made is
   made again, until it could or another one was asked for that covers it. */
void hf_sweep_take(hf_core *core, core_message *message);

/* A process died in this run's code: counted, and at the limit the run is quarantined. Both are
   committed when this returns. `epoch`: of its shard here; HF_NONE: nobody else can have it. */
HF_NODISCARD hf_status hf_sweep_blame(hf_core *core, int64_t run, int64_t epoch, hf_err *err);

/* What is known of a run's crashes; not found: the run is not there. */
HF_NODISCARD hf_status hf_sweep_crashes(hf_core *core, int64_t run, bool *out_found,
                                        int64_t *out_crashes, int64_t *out_blocked, hf_err *err);

#endif
