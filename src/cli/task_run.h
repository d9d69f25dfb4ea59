/* task_run.h: a program as an activity: JSON on its standard input, JSON on its standard output. */
#ifndef HF_CLI_TASK_RUN_H
#define HF_CLI_TASK_RUN_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/mem.h"
#include "holdfast/value.h"

/* What became of it. */
typedef struct hf_task_outcome {
    bool done; /* it ended well, and `result` is what it wrote */
    hf_value result;
    bool final;       /* it failed, and trying again is no use */
    const char *type; /* of the failure */
    const char *message;
} hf_task_outcome;

/* Called every few seconds while the program runs; false: it is to stop. */
typedef bool hf_task_beat_fn(void *ctx);

/* Runs `argv` (ends with NULL) with `environment` added to this process's (NAME=value, ends with
   NULL) and `input` on its standard input. What it says on standard error is passed on, and the
   last line of it is the message of a failure. Exit code 0: done; 100: failed for good; any other,
   a signal, or that it cannot be run: failed. HF_NOMEM. */
HF_NODISCARD hf_status hf_task_run(char *const *argv, const char *const *environment,
                                   hf_value input, hf_task_beat_fn *beat, void *ctx, hf_mem *mem,
                                   hf_task_outcome *out, hf_err *err);

#endif
