/* cron.h: cron expressions. Five fields (minute, hour, day of month, month, day of week) or six,
   with seconds in front; or one of @yearly, @annually, @monthly, @weekly, @daily, @midnight,
   @hourly. A field is a list of values, ranges and steps (1,5-10,20-40/5; * is the whole range and
   may have a step, too), with names of months and days in any case, 7 for Sunday, ? for * in the
   two day fields. When both day fields are restricted (neither begins with * or ?), a day that fits
   one of them fits.

   Expressions speak of local times. A local time that clocks skip fires at the first moment after
   the gap, once however many fall into it; one that they show twice fires the first time only. */
#ifndef HF_MODEL_CRON_H
#define HF_MODEL_CRON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"
#include "base/zone.h"

/* One bit for each value that fits. */
typedef struct hf_cron {
    uint64_t seconds;
    uint64_t minutes;
    uint64_t hours;
    uint64_t days;   /* of the month, bits 1 to 31 */
    uint64_t months; /* bits 1 to 12 */
    uint64_t weekdays;
    bool either_day; /* both day fields are restricted */
} hf_cron;

/* HF_INVALID names the field and what is wrong with it. */
HF_NODISCARD hf_status hf_cron_parse(hf_slice text, hf_cron *out_cron, hf_err *err);

/* The first time it fires after a moment (seconds since 1970, UTC), in a zone. False: never within
   the next forty years, or not before the year 9999. */
bool hf_cron_next(const hf_cron *cron, const hf_zone *zone, int64_t after_s, int64_t *out_s);

#endif
