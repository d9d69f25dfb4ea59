/* window.h: how much of the future a core keeps in memory. Timers and the deadlines of runs are
   armed up to a horizon; what is due behind it stays in the store and is read when the horizon is
   reached. So a million sleeping runs cost no memory, and none of them wakes early or is forgotten.

   Whatever is due up to the horizon is armed: a scan arms it, or the commit that made it. For the
   core's files alone. */
#ifndef HF_ENGINE_WINDOW_H
#define HF_ENGINE_WINDOW_H

#include "engine/core_impl.h"

enum { HF_WINDOW_ALARMS = 20000 };

/* Nothing is known yet: the horizon is nowhere. */
void hf_window_open(hf_core *core);

/* Arms timers and deadlines of the shards that are new here (NULL: of all). */
HF_NODISCARD hf_status hf_window_scan(hf_core *core, const core_sweep *sweep, hf_err *err);

/* Whether the alarm belongs into memory: it is due before the horizon, or of another kind. When
   memory holds as much as it may, the horizon comes closer first. */
bool hf_window_takes(hf_core *core, const core_alarm *alarm, int64_t due_us);

/* A horizon may be reached. */
void hf_window_reached(hf_core *core);

#endif
