/* redact.h: what leaves the house is passed through somebody's hands: each payload, context, reason
   and diagnostic of a bundle is shown to a redactor, which returns it, or something else in its
   place. A redactor that fails fails the export. Pure but for the redactor. */
#ifndef HF_PROJECT_REDACT_H
#define HF_PROJECT_REDACT_H

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"

/* The value to be exported: `value` itself, or another one; NULL: it failed. */
typedef hf_value hf_redact_fn(void *arg, hf_mem *mem, hf_value context, hf_value value);

/* The bundle with what the redactor returned in place; *out_paths are those that were passed
   through it, *out_changed those that came back different. HF_ERROR when the redactor failed. */
HF_NODISCARD hf_status hf_redact_bundle(hf_mem *mem, hf_value bundle, hf_redact_fn *redact,
                                        void *arg, hf_value *out_bundle, hf_value *out_paths,
                                        hf_value *out_changed, hf_err *err);

#endif
