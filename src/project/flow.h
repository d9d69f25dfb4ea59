/* flow.h: what happened when, minute by minute: the counts that events add to the points of the
   metrics ring. Pure but for the rows it drafts. */
#ifndef HF_PROJECT_FLOW_H
#define HF_PROJECT_FLOW_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/value.h"
#include "model/event.h"
#include "store/db.h"
#include "store/row.h"

/* Counts, in the order of the columns of metric_point. */
typedef enum hf_flow_count {
    HF_FLOW_STARTED,
    HF_FLOW_COMPLETED,
    HF_FLOW_FAILED,
    HF_FLOW_CANCELLED,
    HF_FLOW_TERMINATED,
    HF_FLOW_CONTINUED,
    HF_FLOW_FAILURES,
    HF_FLOW_ATTEMPTS,
    HF_FLOW_RETRIES,
    HF_FLOW_EVENTS,
    HF_FLOW_COUNTS
} hf_flow_count;

#define HF_FLOW_MINUTE_US (INT64_C(60) * 1000000)
#define HF_FLOW_HOUR_US   (INT64_C(3600) * 1000000)
/* Two weeks, so that one can be compared with the one before it, and a day. */
#define HF_FLOW_KEPT_US (INT64_C(15) * 86400 * 1000000)

/* One point in the making. */
typedef struct hf_flow {
    struct hf_flow *next;
    int64_t namespace_key;
    int64_t span_us;
    int64_t at_us;
    int64_t counts[HF_FLOW_COUNTS];
} hf_flow;

/* Adds the events to the points of their minutes and hours, newest point first in the list.
   HF_NOMEM. */
HF_NODISCARD hf_status hf_flow_add(hf_mem *mem, int64_t namespace_key, const hf_event *events,
                                   size_t count, hf_flow **io_flows, hf_err *err);

/* The row that adds a point of a run's events behind `behind` to the stored one, in the transaction
   that folds them and only while nobody has. NULL: no memory. */
hf_row *hf_flow_row(hf_mem *mem, const hf_flow *flow, int64_t run, int64_t behind);

/* Stored points from `from_us` on and before `to_us`, in the order of time: an array of {"at",
   counts}. */
HF_NODISCARD hf_status hf_flow_read(hf_db *db, hf_mem *mem, int64_t namespace_key, int64_t span_us,
                                    int64_t from_us, int64_t to_us, int64_t limit,
                                    hf_value *out_points, hf_err *err);

#endif
