/* known.h: where runs stood when their last turn was committed, so that a signal for one of them
   need not ask the store first. Nothing depends on it: what is drafted from it is guarded by the
   unit as what was read is, and who finds it out of date reads. Bounded; the oldest go first. Any
   thread. */
#ifndef HF_ENGINE_KNOWN_H
#define HF_ENGINE_KNOWN_H

#include "intake/intake.h"

typedef struct hf_known hf_known;

HF_NODISCARD hf_status hf_known_new(hf_known **out_known, hf_err *err);
void hf_known_free(hf_known *known); /* NULL is allowed */

/* The newest run of an instance, which is open and at rest. Texts are copied; without memory for
   them nothing is known. */
void hf_known_put(hf_known *known, const hf_intake_target *target);

/* Something is about to move the run. */
void hf_known_drop(hf_known *known, int64_t namespace_key, hf_slice id);

/* False: nothing is known. Texts live in the arena. */
bool hf_known_get(hf_known *known, int64_t namespace_key, hf_slice id, hf_mem *mem,
                  hf_intake_target *out_target);

#endif
