/* watchdog.h: finds what fell by the wayside: workflow tasks that nobody takes, leases that are
   over, deadlines that passed, runs whose rows of open work are gone. Any node may sweep; two that
   sweep at once do no harm, because whatever they change is fenced.

   A sweep is armed only while there is something that could be lost: after the store was opened or
   shards were gained (every run that was open then is looked at once), while a task waits for
   another try, and when a lease ends. On an idle SQLite store nothing is armed and nothing is
   asked. Belongs to the core's thread. */
#ifndef HF_ENGINE_WATCHDOG_H
#define HF_ENGINE_WATCHDOG_H

#include "engine/core_impl.h"

/* The core has found its work, or that of shards that it gained: is there anything to look at? */
HF_NODISCARD hf_status hf_watchdog_begin(hf_core *core, hf_err *err);

/* One pass, and the next one armed if there is need. */
void hf_watchdog_pass(hf_core *core);

/* Somebody could not tell of a task: a sweep finds it as soon as it counts as overlooked. */
void hf_watchdog_lost(hf_core *core);

/* The turn of a run could not be taken or its unit not be committed: the task says so, and when it
   is tried again. Returns that time. */
int64_t hf_watchdog_trouble(hf_core *core, live_run *run, hf_task_trouble trouble);

#endif
