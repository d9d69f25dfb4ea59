/* intake_impl.h: what the files of intake/ share. */
#ifndef HF_INTAKE_INTAKE_IMPL_H
#define HF_INTAKE_INTAKE_IMPL_H

#include "base/id.h"
#include "intake/intake.h"
#include "model/contract.h"

/* Puts JSON text into the newest event of part 0, as a payload. */
void hf_intake_payload_put(const hf_intake *in, hf_unit *unit, hf_event_key key, hf_slice json);

/* A value as canonical JSON in the arena. */
HF_NODISCARD hf_status hf_intake_json(hf_mem *mem, hf_value value, hf_slice *out_json, hf_err *err);

/* What is recorded of a definition: by the program itself, else by the store. */
HF_NODISCARD hf_status hf_intake_snapshot(const hf_intake *in, hf_mem *mem, int64_t definition,
                                          hf_definition_snapshot *out_snapshot, hf_err *err);

/* Fills a refusal; HF_NOMEM when the sentence could not be made. */
HF_NODISCARD hf_status hf_intake_refuse(hf_intake_refusal *refusal, hf_cmd_outcome outcome,
                                        hf_rejection_reason reason, const char *why, hf_err *err);

/* The same for arguments that do not fit the contract. */
HF_NODISCARD hf_status hf_intake_refuse_arguments(hf_intake_refusal *refusal,
                                                  hf_rejection_reason reason,
                                                  const hf_contract *contract, hf_value errors,
                                                  hf_mem *mem, hf_err *err);

/* A value as the JSON text that is recorded; one that is too big for a payload is refused. */
HF_NODISCARD hf_status hf_intake_payload_fit(const hf_intake *in, hf_mem *mem, hf_value value,
                                             hf_slice *out_json, hf_intake_refusal *refusal,
                                             hf_err *err);

#endif
