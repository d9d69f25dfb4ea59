/* task_fault.h: workflow tasks that workers could not do: what they say of it, and how it is kept.
   What says that code and history disagree blocks the run, as it does for code of this process;
   everything else is counted in the task's row, where the same words again only make the number
   grow. Pure. */
#ifndef HF_ENGINE_TASK_FAULT_H
#define HF_ENGINE_TASK_FAULT_H

#include "base/buf.h"
#include "holdfast/value.h"
#include "replay/replay.h"

typedef struct hf_task_fault {
    hf_slice type; /* fit for the record, as the message is */
    hf_slice message;
    bool blocked; /* code and history disagree: `why` says where */
    hf_replay_mismatch why;
} hf_task_fault;

/* What is reported under `failure`: an object with message, type and, of programs of ours,
   replay_blocked; or a text. SDKs say in words that code and history disagree; their sentences are
   known here. HF_NOMEM. */
HF_NODISCARD hf_status hf_task_fault_read(hf_mem *mem, hf_value failure, hf_task_fault *out_fault,
                                          hf_err *err);

/* Every field that an operator needs to see why a run is blocked. NULL: no memory. */
hf_value hf_task_blocked_value(hf_mem *mem, const hf_replay_mismatch *why);

/* The body of a task's row after one more failure. `before` is what it was, JSON or empty;
 *out_count is how many failures in a row it holds, *out_same how many of them with these words.
 */
HF_NODISCARD hf_status hf_task_fault_write(hf_mem *mem, hf_slice before, const hf_task_fault *fault,
                                           hf_slice worker, int64_t now_us, hf_buf *out_body,
                                           int64_t *out_count, int64_t *out_same, hf_err *err);

/* When a task that failed so often in a row is offered again. */
int64_t hf_task_fault_again(int64_t count, int64_t now_us);

#endif
