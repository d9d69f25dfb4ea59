/* trouble.h: open runs of a namespace that do not move on by themselves, counted: repair needed, a
   claim that failed, nobody who may take their task; and what a repair would do about it, queue by
   queue. Looks at the oldest open runs, as many as one look affords: rows say what they can,
   history is asked where one is missing. Reads only. */
#ifndef HF_PROJECT_TROUBLE_H
#define HF_PROJECT_TROUBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"
#include "project/list.h"

enum { HF_TROUBLE_RUNS = 10000 }; /* that one look affords */

typedef struct hf_trouble_count {
    int64_t runs;
    int64_t oldest_us; /* when the one that stands longest moved last; HF_NONE: there is none */
} hf_trouble_count;

typedef struct hf_trouble {
    hf_trouble_count repair_needed;
    hf_trouble_count claim_failed;
    hf_trouble_count unserved;
    hf_trouble_count replay_blocked;
    hf_trouble_count quarantined;
    hf_trouble_count missing;  /* lack a row of open work; oldest_us: when they began */
    hf_trouble_count existing; /* tasks to be handed out again; oldest_us: when they were made */
    bool more;                 /* not all that lack a row were asked */
    hf_value scopes;           /* [{scope_key, queue, compatibility, counts, selected}] */
    int64_t selected_existing; /* what one pass of the watchdog would take */
    int64_t selected_missing;
} hf_trouble;

/* `query` says who asks; its filters do not count. */
HF_NODISCARD hf_status hf_trouble_read(hf_db *db, hf_mem *mem, const hf_list_query *query,
                                       hf_trouble *out_trouble, hf_err *err);

#endif
