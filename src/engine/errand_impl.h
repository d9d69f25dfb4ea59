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

/* A task in the making, with what both kinds say. */
hf_value_list *hf_errand_task(const live_run *run, hf_task_kind kind, const hf_waiter *waiter,
                              hf_slice queue, int64_t until_us);
hf_value hf_errand_id(hf_mem *mem, int64_t time_us, int64_t key, uint32_t counter);

/* Nothing for a worker after all: it goes on waiting. NULL is allowed. */
void hf_errand_send_back(hf_core *core, hf_waiter *waiter);

/* ---- errand_run.c and errand_attempt.c, the same for both */

/* A worker asked for what lay on the desk. False: there is nothing any more, and the waiter is
   still the caller's. */
bool hf_errand_run_take(hf_core *core, live_run *run, hf_waiter *waiter);
bool hf_errand_attempt_take(live_run *run, int64_t activity, hf_waiter *waiter);

void hf_errand_run_report(hf_core *core, hf_ticket *ticket);
void hf_errand_attempt_report(hf_core *core, hf_ticket *ticket);

/* After a restart a worker may report before the run of its attempt is back in memory: then the run
   is to have its turn, and the report comes again. */
bool hf_errand_attempt_early(hf_core *core, hf_ticket *ticket);

/* All that the worker holds is offered again; how many they were. */
int64_t hf_errand_runs_give_up(hf_core *core, int64_t namespace_key, hf_slice worker);
int64_t hf_errand_attempts_give_up(hf_core *core, int64_t namespace_key, hf_slice worker,
                                   bool unheard);

#endif
