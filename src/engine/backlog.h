/* backlog.h: runs that want a turn while as many as are good for have one in memory. A run that is
   loaded takes kilobytes, one that waits here a few dozen bytes: its key and its place in the order
   of priorities. Its task is in the store, so that nothing is lost with the process.

   The order is that of the steps that wait for a place in the pool, and a run of a lower number
   passes all that wait, wherever they do, a few at once. However many wait, no more than the window
   and those few are in memory before their turn: what a run costs does not grow with them. Runs
   that wait at a gate (turnstile.h) take no place in the window: a key without room keeps nobody
   out. The window is twice what the pool has places for, and fits the cache of runs: one that is
   put out of it before its turn is loaded twice. The core's thread only. */
#ifndef HF_ENGINE_BACKLOG_H
#define HF_ENGINE_BACKLOG_H

#include "engine/core_impl.h"

enum { HF_BACKLOG_WINDOW = 1024 }; /* runs that are ready, or wait for a place in the pool */

/* A run has facts that it does not know of: it is made ready, now or when its turn comes. Priority
   0: as its task says. `pass_on`: other nodes do not know of it. */
void hf_backlog_hint(hf_core *core, int64_t run, int64_t priority, bool pass_on);

/* Whether the run is in this process's hands: its turn or its step is under way, or waits for its
   place here or at a gate. Nobody has to be told of it. */
bool hf_backlog_holds(const hf_core *core, int64_t run);

/* Makes those ready for whom there is room, or who come before all that wait in memory. */
void hf_backlog_admit(hf_core *core);

void hf_backlog_free(hf_core *core);

#endif
