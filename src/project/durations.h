/* durations.h: how long runs were open that closed in a stretch of time, over its steps and for
   each type, as percentiles. Of the newest runs alone: what was started before those is not in it,
   which the answer tells. Reads only. */
#ifndef HF_PROJECT_DURATIONS_H
#define HF_PROJECT_DURATIONS_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"
#include "store/db.h"

enum { HF_DURATIONS_ROWS = 10000, HF_DURATIONS_TYPES = 50, HF_DURATIONS_POINTS = 240 };

/* {points: [{at, closed, p50_ms, p95_ms, p99_ms}], those steps in which runs closed, in their
   order; types: [{workflow_type, closed, completed, failed, p50_ms, p95_ms}], what closed most
   first; looked_at, exact}. `points` is how many equal steps there are. */
HF_NODISCARD hf_status hf_durations_read(hf_db *db, hf_mem *mem, int64_t namespace_key,
                                         int64_t from_us, int64_t to_us, int64_t points,
                                         hf_value *out, hf_err *err);

#endif
