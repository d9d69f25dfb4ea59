/* bounds.h: what user code may hand over: the progress of an activity and the size of a value. A
   breach becomes a typed failure of the code that caused it, before anything of it reaches a
   unit. */
#ifndef HF_ENGINE_BOUNDS_H
#define HF_ENGINE_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "holdfast/holdfast.h"
#include "model/decision.h"

/* Appends the progress as JSON; nothing when it says nothing. HF_INVALID: a message over 280
   characters or a unit over 64, a number below 0, more than 20 details, a detail that is not flat,
   its key not [A-Za-z0-9_.:-]{1,64}, its text over 191 characters. HF_NOMEM. */
HF_NODISCARD hf_status hf_bounds_progress(const hf_progress *progress, hf_buf *out_json,
                                          hf_err *err);

/* Whether a value of that size may not be recorded where `most` (0: any) is the limit; the failure
   is then filled, in the arena. */
bool hf_bounds_payload(hf_mem *mem, int64_t most, int64_t bytes, hf_decision_failure *out_failure);

/* The same for a value that could not be made (value_node.h); false: it is a value like any other.
 */
bool hf_bounds_broken(hf_mem *mem, int64_t most, hf_value value, hf_decision_failure *out_failure);

#endif
