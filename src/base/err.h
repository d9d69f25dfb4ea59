/* err.h: a failure and its text. The status says what kind, the text says what happened, in one
   sentence that grows outwards: the innermost function sets it, each caller may add what it was
   doing. Owned by the caller, never allocated, usable without memory. Every function accepts err ==
   NULL. */
#ifndef HF_BASE_ERR_H
#define HF_BASE_ERR_H

#include "base/attr.h"
#include "holdfast/status.h"

/* Records a failure where it happened and returns `status`, so that `return hf_err_set(...)` reads
 * well. */
hf_status hf_err_set(hf_err *err, hf_status status, const char *format, ...) HF_FORMAT(3, 4);

/* On failure puts what the caller was doing in front of the text ("append to run 7: disk full").
   Passes `status` through; does nothing for HF_OK. */
hf_status hf_err_because(hf_err *err, hf_status status, const char *format, ...) HF_FORMAT(3, 4);

/* The common failure, worded once. */
hf_status hf_err_nomem(hf_err *err, const char *what);

#endif
