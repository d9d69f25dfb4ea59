/* step_codec.h: a machine's step as a value, for programs of ours that run it in another process:
   what it is to see, and how it ended. What such a program sends is not trusted: whether it has the
   right form is said here, whether it fits the history of its run is for whoever knows that. Pure
   functions; what they make lives in the arena and borrows the texts of the value. */
#ifndef HF_MODEL_STEP_CODEC_H
#define HF_MODEL_STEP_CODEC_H

#include "base/err.h"
#include "base/mem.h"
#include "holdfast/value.h"
#include "model/step.h"

/* {"number", "entry", "attempt", "name", "timed_out", "state", "signals": [{"seq", "id", "name",
   "arguments", "awaited"}], "children": [{"id", "type", "status", "result", "failure_type",
   "message"}]}. Payloads are envelopes, as they are stored. */
HF_NODISCARD hf_status hf_step_work_write(hf_mem *mem, const hf_step_work *work,
                                          hf_value *out_value, hf_err *err);
HF_NODISCARD hf_status hf_step_work_read(hf_mem *mem, hf_value value, hf_step_work *out_work,
                                         hf_err *err);

/* {"number", "name", "outcome", "handled", "at", and of "next", "state", "result", "after_us",
   "names", "children" (decisions of decision_codec.h), "failure_type", "message",
   "concurrency_key", "rate_limit", "weight" what the outcome has}. Payloads are the JSON they are.
   Which attempt it was, and which signals it was handed, is not asked. */
HF_NODISCARD hf_status hf_step_end_write(hf_mem *mem, const hf_step_end *end, hf_value *out_value,
                                         hf_err *err);

/* HF_INVALID says what is wrong, also a member that there is not; HF_TOOBIG, HF_NOMEM. */
HF_NODISCARD hf_status hf_step_end_read(hf_mem *mem, hf_value value, hf_step_end *out_end,
                                        hf_err *err);

#endif
