/* part_impl.h: the parts of a run, between the files part*.c: each is made of a view whose events
   have not been let through yet. */
#ifndef HF_PROJECT_PART_IMPL_H
#define HF_PROJECT_PART_IMPL_H

#include "project/detail_impl.h"
#include "project/part.h"

typedef hf_status hf_part_fn(hf_detail_view *v, const hf_part_query *query, hf_value *out_part,
                             hf_err *err);

HF_NODISCARD hf_part_fn hf_part_head, hf_part_events, hf_part_step, hf_part_state, hf_part_blocked,
    hf_part_payload, hf_part_lineage;

/* The event gets the bytes that the fold left out, in `mem`. */
HF_NODISCARD hf_status hf_part_fill(const hf_detail_view *v, hf_mem *mem, int64_t seq, hf_err *err);

/* How many bytes of the event's payloads the fold left out. */
size_t hf_part_missing(const hf_event *event);

/* The steps, messages and failures of the run so far, counted. */
typedef struct hf_part_counts {
    int64_t commands, activities, activities_open, timers, failures, children, children_open;
    int64_t signals, updates;
} hf_part_counts;
hf_part_counts hf_part_count(const hf_detail_view *v);

#endif
