/* intake_impl.h: what the files of intake/ share. */
#ifndef HF_INTAKE_INTAKE_IMPL_H
#define HF_INTAKE_INTAKE_IMPL_H

#include "base/id.h"
#include "intake/intake.h"

/* The public id of something, formed from its key and the moment it came to be. */
hf_ulid hf_intake_id(int64_t time_us, int64_t key);

/* Puts a value into the newest event of part 0, as a JSON payload. */
HF_NODISCARD hf_status hf_intake_value_put(const hf_intake *in, hf_unit *unit, hf_event_key key,
                                           hf_value value, hf_err *err);

/* A value as canonical JSON in the arena. */
HF_NODISCARD hf_status hf_intake_json(hf_mem *mem, hf_value value, hf_slice *out_json, hf_err *err);

/* The first of the errors of a contract as a sentence; NULL when memory ran out. */
const char *hf_intake_errors_sentence(hf_mem *mem, hf_value errors);

#endif
