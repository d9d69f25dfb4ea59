/* policy.h: a retry policy as it is recorded: the snapshot of contract 2.7 as canonical JSON. Times
   in it are seconds, as published; our milliseconds survive in keys of their own when they are not
   whole seconds. */
#ifndef HF_MODEL_POLICY_H
#define HF_MODEL_POLICY_H

#include "base/err.h"
#include "base/mem.h"
#include "model/retry.h"

/* The snapshot, in the arena. */
HF_NODISCARD hf_status hf_policy_write(hf_mem *mem, const hf_retry_policy *policy,
                                       hf_slice *out_json, hf_err *err);

/* Reads a snapshot back; an empty text is the default policy. HF_CORRUPT when it is not one. */
HF_NODISCARD hf_status hf_policy_read(hf_mem *mem, hf_slice json, hf_retry_policy *out_policy,
                                      hf_err *err);

#endif
