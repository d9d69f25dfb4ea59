/* whereabouts.h: tasks of nodes that share a store. A claim is in the memory of the node that
   handed the task out, which is the one that has the run's shard: a report that comes to another
   one is not refused, which would end it, but sent on its way. */
#ifndef HF_ENGINE_WHEREABOUTS_H
#define HF_ENGINE_WHEREABOUTS_H

#include "engine/core_impl.h"
#include "engine/errand.h"

/* Whether the task may be held, and another node would know: the owner of ticket->shard, which is
   looked up when it is HF_NONE. The core's thread. */
bool hf_whereabouts_elsewhere(hf_core *core, hf_ticket *ticket);

#endif
