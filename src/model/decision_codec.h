/* decision_codec.h: decisions as values, for code that runs in another process and sends what it
   decided. One object for each: kind, step, at, name, value, groups, and what its kind has beside
   that, under the names of decision.h; what is not set is left out. Payloads travel as the JSON
   they are. What comes in is not trusted: whether it has the right form is said here, whether it
   fits the history of its run is for whoever knows that. Pure functions. */
#ifndef HF_MODEL_DECISION_CODEC_H
#define HF_MODEL_DECISION_CODEC_H

#include <stddef.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/decision.h"
#include "holdfast/value.h"

enum { HF_DECISIONS_MAX = 10000 };

/* The rows as an array in the arena. HF_INVALID for a payload that is no JSON, HF_NOMEM. */
HF_NODISCARD hf_status hf_decisions_write(hf_mem *mem, const hf_decision_row *rows, size_t count,
                                          hf_value *out_list, hf_err *err);

/* The rows of such an array, in the arena. HF_INVALID says which and why; decisions of step
   machines are none that code elsewhere can make. HF_TOOBIG, HF_NOMEM. */
HF_NODISCARD hf_status hf_decisions_read(hf_mem *mem, hf_value list, hf_decision_row **out_rows,
                                         size_t *out_count, hf_err *err);

/* Whether what the row names can be called so. HF_INVALID. */
HF_NODISCARD hf_status hf_decision_names_check(const hf_decision_row *row, hf_err *err);

#endif
