/* command_repeat.h: a command that was sent before. A request id (any kind) or a dedup key (of a
   signal) names it for the life of the instance, by a hash of 16 bytes. */
#ifndef HF_ENGINE_COMMAND_REPEAT_H
#define HF_ENGINE_COMMAND_REPEAT_H

#include "engine/command_impl.h"

/* Whether the request names itself. */
bool hf_command_named(const hf_request *request);

/* *out_repeated: the instance knows the command, and the reply is what it was answered first. */
HF_NODISCARD hf_status hf_command_repeat(hf_handling *h, bool *out_repeated, hf_err *err);

/* The names of the command `key` go into the unit. `leave`: the instance has no run. */
HF_NODISCARD hf_status hf_command_name(hf_handling *h, int64_t key, bool leave, hf_err *err);

#endif
