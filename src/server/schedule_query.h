/* schedule_query.h: the published query language of schedule lists: equality predicates joined by
   AND, `WorkflowType = "order" AND Status = 'paused'`. Nothing else is accepted. */
#ifndef HF_SERVER_SCHEDULE_QUERY_H
#define HF_SERVER_SCHEDULE_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"
#include "holdfast/value.h"

enum { HF_SCHEDULE_PREDICATES_MAX = 16 };

typedef struct hf_schedule_query {
    struct {
        hf_slice field;
        hf_slice literal; /* without its quotes */
        bool quoted;
    } predicates[HF_SCHEDULE_PREDICATES_MAX];
    size_t count;
} hf_schedule_query;

/* NULL, or the published reason why it cannot be read. The query borrows the text. */
const char *hf_schedule_query_read(const char *text, hf_schedule_query *out_query);

/* Whether the schedule, as the wire shows it, fits. */
bool hf_schedule_query_fits(const hf_schedule_query *query, hf_value schedule);

#endif
