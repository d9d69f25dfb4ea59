/* overview.h: what an operator sees first of a namespace: its runs, how fast they come and go, what
   waits, what is due, who holds a record. Every number comes from a bounded read: of what there is
   too much of, from the newest or the first rows, which the answer tells. Reads only. */
#ifndef HF_PROJECT_OVERVIEW_H
#define HF_PROJECT_OVERVIEW_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"
#include "store/db.h"

enum {
    HF_OVERVIEW_ROWS = 10000, /* that one number is counted from */
    HF_OVERVIEW_TYPES = 20,   /* the most frequent ones */
    HF_OVERVIEW_MINUTES = 15, /* that rates are taken from */
    HF_OVERVIEW_LATE_S = 60   /* when a schedule counts as missed */
};

/* {runs, rates, backlog, timers_next_hour, types, records, failures, projections, schedules}. */
HF_NODISCARD hf_status hf_overview_read(hf_db *db, hf_mem *mem, int64_t namespace_key,
                                        int64_t now_us, hf_value *out_overview, hf_err *err);

#endif
