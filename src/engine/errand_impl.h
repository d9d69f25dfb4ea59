/* errand_impl.h: what the files of errands share. Errands are runs (errand_run.c) or attempts
   (errand_attempt.c); errand.c is where workers' messages come in. For these three alone. */
#ifndef HF_ENGINE_ERRAND_IMPL_H
#define HF_ENGINE_ERRAND_IMPL_H

#include "base/value.h"
#include "engine/errand.h"

/* ---- errand.c */

/* Tells the reporter; the ticket is its own again. */
void hf_ticket_end(hf_ticket *ticket, hf_status st, const char *reason, const char *sentence);

/* Not a refusal: whoever has the run hears it, or says what became of it. */
void hf_ticket_elsewhere(hf_ticket *ticket);

/* A task in the making, with what all kinds say. */
hf_value_list *hf_errand_task(hf_mem *mem, const live_run *run, hf_task_kind kind, hf_slice worker,
                              hf_slice queue, int64_t until_us);
hf_value hf_errand_id(hf_mem *mem, int64_t time_us, int64_t key, uint32_t counter);

/* ---- errand_run.c and errand_attempt.c, the same for both */

/* A worker claims what was offered. False: the claim is stale; else it is answered in this turn of
   the run or the next. */
bool hf_errand_run_claimed(hf_core *core, live_run *run, const hf_task_key *key);
/* The run of a claim that rested; NULL: it did not, or there is no memory. */
live_run *hf_errand_run_wake(hf_core *core, const hf_task_key *key);
bool hf_errand_attempt_claimed(live_run *run, const hf_task_key *key);

void hf_errand_run_report(hf_core *core, hf_ticket *ticket);
void hf_errand_attempt_report(hf_core *core, hf_ticket *ticket);

/* After a restart a worker may report before the run of its attempt is back in memory: then the run
   is to have its turn, and the report comes again. */
bool hf_errand_attempt_early(hf_core *core, hf_ticket *ticket);

/* False: it is not here. */
bool hf_errand_run_back(hf_core *core, const hf_ticket *ticket);
bool hf_errand_attempt_back(hf_core *core, const hf_ticket *ticket);

/* What the worker holds is offered again. False: it has reported, or does not hold it any more. */
bool hf_errand_run_give_up(hf_core *core, const hf_task_lease *lease);
bool hf_errand_attempt_give_up(hf_core *core, const hf_task_lease *lease);

/* ---- errand_step.c: what is otherwise with steps of machines */

enum { HF_ERRAND_TYPE_SIZE = 1024 };

/* What they are offered as: the type of the machine and the name of the step, "order/charge"; a
   worker has the first as "order/". The text is the caller's. */
hf_slice hf_errand_step_type(const live_run *run, char text[HF_ERRAND_TYPE_SIZE]);

/* What the step is to see, in `mem`; NULL: it cannot be had now. */
hf_value hf_errand_step_value(live_run *run, hf_mem *mem, int64_t lease_us);

/* The turn at hand decides what the worker's step did. False: it is none of the step that it has;
   its worker is told so. */
bool hf_errand_step_ended(live_run *run, hf_ticket *ticket);

#endif
