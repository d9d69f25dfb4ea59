/* answer.h: waiting for the answer to an accepted update. */
#ifndef HF_ENGINE_ANSWER_H
#define HF_ENGINE_ANSWER_H

#include "engine/call.h"

/* Waits at most `wait` for the update that is the command of this key, accepted by `run` or moved
   on from it. HF_OK and *out; HF_ERROR: it failed; HF_TIMEOUT: it is open. The failure is in the
   slot. */
HF_NODISCARD hf_status hf_answer_await(hf_call *call, int64_t run, int64_t command, hf_ms wait,
                                       hf_value *out);

#endif
