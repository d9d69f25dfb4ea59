/* schedule.h: schedules in the core: the next time of each is a deadline among the others, what
   waits for a run to close is looked at when it closes. Firing is a unit like any other, and its
   outcome comes back as a message; of several nodes that fire the same slot one commits, the others
   look again. For the engine's own files. */
#ifndef HF_ENGINE_SCHEDULE_H
#define HF_ENGINE_SCHEDULE_H

#include "engine/core_impl.h"
#include "intake/schedule.h"

/* In the place of a schedule's key: look at all of them. */
#define HF_SCHEDULE_SWEEP INT64_MAX

struct core_firing;

/* The core's thread, all of them. */
HF_NODISCARD hf_status hf_schedule_scan(hf_core *core, hf_err *err);
void hf_schedule_look(hf_core *core, int64_t key);        /* it may have changed */
void hf_schedule_due(hf_core *core, int64_t key);         /* its deadline has passed */
void hf_schedule_closed(hf_core *core, int64_t instance); /* a run of the instance closed */
void hf_schedule_fired(hf_core *core, struct core_firing *firing);
void hf_schedule_forget_all(hf_core *core); /* the core closes */

/* What firing needs to know of the program. */
typedef struct hf_schedule_program {
    const hf_registry *registry;
    hf_slice compatibility;
    const hf_app *app;
    bool far;         /* workers elsewhere may have types that the registry lacks */
    bool fleet_fails; /* what no worker of the fleet supports is not started */
} hf_schedule_program;

/* Drafts a firing into a new unit, which is the caller's also after a failure (NULL allowed). What
   the schedule starts is made complete by the program's definition. `failed`: the start is known to
   fail. A start whose arguments do not fit is recorded as failed, too. */
HF_NODISCARD hf_status hf_schedule_fire(const hf_intake *in, const hf_schedule_program *program,
                                        const hf_schedule *schedule, const hf_fire *fire,
                                        bool latest_open, bool failed, hf_unit **out_unit,
                                        hf_fired *out_fired, hf_err *err);

#endif
