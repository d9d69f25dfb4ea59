/* schedule_show.h: what schedules look like to callers. For schedule_api.c. */
#ifndef HF_ENGINE_SCHEDULE_SHOW_H
#define HF_ENGINE_SCHEDULE_SHOW_H

#include "engine/call.h"
#include "intake/schedule.h"

/* What came of a firing, in the slot's arena; `before` is the schedule as it was read. */
HF_NODISCARD hf_status hf_schedule_answer(hf_call *call, const hf_schedule *before,
                                          const hf_fire *fire, const hf_fired *fired,
                                          hf_value *out);

/* Tells the core which runs have work. */
void hf_schedule_wake(hf_call *call, const hf_fired *fired);

#endif
