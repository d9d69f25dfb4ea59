/* why_run.h: why one run is not moving, for whoever asks about many. */
#ifndef HF_ENGINE_WHY_RUN_H
#define HF_ENGINE_WHY_RUN_H

#include <stdint.h>

#include "engine/engine_impl.h"
#include "engine/fleet.h"
#include "project/why.h"

/* Who is asked whether anybody can do the work; `who` was begun and stays. */
void hf_why_world_fill(hf_asker *who, hf_why_world *world);

/* What hf_why answers, of the run with this key, in `mem`. `engine` NULL: nobody knows what code
   there is. `world` has the time and is filled in. */
HF_NODISCARD hf_status hf_why_run(hf_db *db, const hf_engine *engine, int64_t run,
                                  hf_why_world *world, hf_mem *mem, hf_value *out, hf_err *err);

#endif
