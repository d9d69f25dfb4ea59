/* step.h: one execution of a machine's step, as a job of the pool. The core fills in what the step
   sees; the pool's thread runs it and leaves what it decided, checked and encoded, so that nothing
   of it can be refused later. */
#ifndef HF_ENGINE_STEP_H
#define HF_ENGINE_STEP_H

#include "engine/pool.h"
#include "model/step.h"

typedef struct hf_step_job {
    const hf_machine_def *definition;
    hf_step_work work;
    hf_slice instance_id;
    char key[64];
    int64_t *presented; /* sequences of the signals that the step is handed as awaited */
    size_t presented_count;
    struct hf_turnstile *slot; /* that the step has, for the core; NULL: none */
    const hf_registry *registry;
    hf_step_end end; /* out; in the job's arena */
} hf_step_job;

/* The code of that step; NULL: this program does not know it. A job has one step, "job". */
hf_step_fn *hf_step_code(const hf_machine_def *machine, hf_slice name);

/* The pool's thread. */
void hf_step_run(hf_job *job);

#endif
