/* worker_command.h: what a worker in another process sends at the end of a workflow task, read into
   decisions. The whole batch is checked before anything of it is used: a batch with one mistake is
   refused with every mistake named. It knows nothing of the run: which step a command is, and
   whether history has it already, is decided by whoever knows the history. */
#ifndef HF_DECIDE_WORKER_COMMAND_H
#define HF_DECIDE_WORKER_COMMAND_H

#include "base/err.h"
#include "base/mem.h"
#include "holdfast/value.h"
#include "model/decision.h"

/* Reads the published list of commands. When something is wrong *out_errors is
   {"commands.0.delay_seconds": ["..."]}, and there are no commands; the status is HF_OK then too.
 */
HF_NODISCARD hf_status hf_worker_commands_read(hf_mem *mem, hf_value commands,
                                               hf_worker_command **out_commands, size_t *out_count,
                                               hf_value *out_errors, hf_err *err);

#endif
