/* schedule.h: what is done to a schedule becomes a unit: its own row, an event of its audit history
   and, when it fires, the run that it starts, all in one transaction. Every change moves the
   schedule's revision from the one that was read, so that of all who want to fire it for the same
   time, on however many nodes, one does. It does not commit.

   A draft changes the schedule that it is given to what it will be; read it again when the unit did
   not commit. */
#ifndef HF_INTAKE_SCHEDULE_H
#define HF_INTAKE_SCHEDULE_H

#include "intake/intake.h"
#include "model/schedule.h"

/* By id, a living one before a deleted one; or by key. Texts live in the arena. HF_NOTFOUND. */
HF_NODISCARD hf_status hf_schedule_get(hf_db *db, hf_mem *mem, int64_t namespace_key, hf_slice id,
                                       hf_schedule *out_schedule, hf_err *err);
HF_NODISCARD hf_status hf_schedule_read(hf_db *db, hf_mem *mem, int64_t key,
                                        hf_schedule *out_schedule, hf_err *err);

/* The schedule that a row of schedule_get, schedule_read or schedule_list describes. */
HF_NODISCARD hf_status hf_schedule_row_read(hf_db_cursor *row, hf_mem *mem,
                                            hf_schedule *out_schedule, hf_err *err);

/* The open run of an instance that a schedule started, be it the first or one that followed it; 0:
   there is none. */
HF_NODISCARD hf_status hf_schedule_open_run(hf_db *db, int64_t instance, int64_t *out_run,
                                            hf_err *err);

/* The start that its action describes, without id, definition and compatibility. Texts live in the
   arena and in the schedule. */
hf_intake_start hf_schedule_start(hf_mem *mem, const hf_schedule *schedule);

/* A new schedule: id, status, overlap, spec, action, note, jitter_s and max_runs are given.
   HF_INVALID, also for an action that no start could have. Whether the id was free shows after the
   commit: hf_unit_row_applied(unit, 0), as for all that starts no run. */
HF_NODISCARD hf_status hf_schedule_create_draft(const hf_intake *in, hf_schedule *schedule,
                                                hf_unit *unit, hf_err *err);

/* The members that a new one is given may have changed; `fields` is a list of their names. */
HF_NODISCARD hf_status hf_schedule_update_draft(const hf_intake *in, hf_schedule *schedule,
                                                hf_value fields, hf_unit *unit, hf_err *err);

HF_NODISCARD hf_status hf_schedule_pause_draft(const hf_intake *in, hf_schedule *schedule,
                                               const char *reason, hf_unit *unit, hf_err *err);
HF_NODISCARD hf_status hf_schedule_resume_draft(const hf_intake *in, hf_schedule *schedule,
                                                hf_unit *unit, hf_err *err);
HF_NODISCARD hf_status hf_schedule_delete_draft(const hf_intake *in, hf_schedule *schedule,
                                                hf_unit *unit, hf_err *err);

/* A time as it is published, NULL for none; and a public id. In the arena; NULL without memory. */
const char *hf_schedule_time_text(hf_mem *mem, int64_t at_us);
const char *hf_schedule_ulid_text(hf_mem *mem, int64_t time_us, int64_t key);

/* What came of firing. */
typedef struct hf_fired {
    hf_verdict verdict;
    bool made;            /* a run is started: hf_unit_row_applied does not apply */
    const char *id;       /* of its instance, in the unit's arena */
    hf_intake_target run; /* it */
    int64_t stops;        /* the instance that is to be told to stop, 0: none */
} hf_fired;

/* Fires. `start` has everything but the id; NULL: the start is known to fail, and that is recorded.
   HF_INVALID, HF_TOOBIG: the start fails; the unit is to be thrown away. */
HF_NODISCARD hf_status hf_schedule_fire_draft(const hf_intake *in, hf_schedule *schedule,
                                              const hf_fire *fire, bool latest_open,
                                              const hf_intake_start *start, hf_unit *unit,
                                              hf_fired *out_fired, hf_err *err);

#endif
