/* schedule_spec.h: when a schedule fires: cron expressions in a time zone, intervals, or both; the
   earliest of all counts. As JSON:
     {"cron_expressions": ["0 9 * * 1-5"], "timezone": "Europe/Berlin",
      "intervals": [{"every": "PT30M", "offset": "PT5M"}]}
   A duration is ISO 8601 (weeks, days, hours, minutes, seconds) or a number of seconds. Intervals
   are counted from 1970-01-01 UTC, so that every node computes the same times. */
#ifndef HF_MODEL_SCHEDULE_SPEC_H
#define HF_MODEL_SCHEDULE_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"
#include "holdfast/value.h"

typedef struct hf_schedule_spec hf_schedule_spec;

/* A time at which a schedule fires. */
typedef struct hf_schedule_slot {
    int64_t at_us; /* without jitter */
    hf_slice cron; /* the expression that names it; ptr NULL: an interval does */
} hf_schedule_slot;

/* Checks and reads a specification into the arena. HF_INVALID names what is wrong: an expression, a
   zone, an interval, an unknown key, nothing that ever fires. */
HF_NODISCARD hf_status hf_schedule_spec_parse(hf_mem *mem, hf_value spec,
                                              const hf_schedule_spec **out_spec, hf_err *err);

/* The earliest time after a moment; false: there is none. */
bool hf_schedule_spec_next(const hf_schedule_spec *spec, int64_t after_us,
                           hf_schedule_slot *out_slot);

/* The time zone's name, "UTC" when none was given. */
hf_slice hf_schedule_spec_zone(const hf_schedule_spec *spec);

#endif
