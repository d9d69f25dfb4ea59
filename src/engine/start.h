/* start.h: the options of a start as intake/ takes them. */
#ifndef HF_ENGINE_START_H
#define HF_ENGINE_START_H

#include "engine/call.h"

/* HF_INVALID: a delay, timeout, priority or scope that cannot be. HF_MISUSE: no size. Slices borrow
   from the options. */
HF_NODISCARD hf_status hf_start_read(const hf_call *call, const char *type,
                                     const hf_start_opts *opts, hf_intake_start *out_start,
                                     hf_slice *out_request_id, hf_err *err);

#endif
