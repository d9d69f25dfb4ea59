/* steps.h: a step machine's history, folded: where the machine stands, its state, its inbox and its
   children. No coroutine and no user code: the engine runs the step that comes next and hands back
   what it decided. Shared by the files of this folder and by nobody else; outside it is reached
   through replay.h. */
#ifndef HF_REPLAY_STEPS_H
#define HF_REPLAY_STEPS_H

#include "replay/replay.h"

typedef struct hf_steps hf_steps;

/* machine NULL: its code is elsewhere, and so is the name of its first step. NULL: no memory. */
HF_NODISCARD hf_steps *hf_steps_new(const hf_machine_def *machine);
void hf_steps_free(hf_steps *steps); /* NULL is allowed */

/* One event of the run, in order. HF_CORRUPT for one that cannot follow. */
HF_NODISCARD hf_status hf_steps_feed(hf_steps *steps, const hf_event *event, int64_t seq,
                                     hf_err *err);

/* The step that may run now; false when the machine waits or is closed. */
bool hf_steps_work(const hf_steps *steps, hf_step_work *out_work);

/* Everything the step sees, in the arena. */
HF_NODISCARD hf_status hf_steps_fill(const hf_steps *steps, const hf_replay_info *info, hf_mem *mem,
                                     hf_step_work *work, hf_err *err);

/* What the end of the step becomes, in the arena. HF_INVALID: it is from elsewhere, and of another
   step. */
HF_NODISCARD hf_status hf_steps_decide(const hf_steps *steps, const hf_step_end *end, hf_mem *mem,
                                       hf_decision_row **out_rows, size_t *out_count, hf_err *err);

/* Whether the timeout of that step is what the machine waits for. */
bool hf_steps_timer_wanted(const hf_steps *steps, int64_t step);

bool hf_steps_closed(const hf_steps *steps);

/* What it waits for, in words. */
void hf_steps_waiting(const hf_steps *steps, char *out_text, size_t size);
size_t hf_steps_held(const hf_steps *steps);

#endif
