/* run_diff.h: two runs side by side for a page: each of a store or of a bundle. The whole of both
   is compared for every answer; what is shown of it is a window of steps. Reads only. */
#ifndef HF_PROJECT_RUN_DIFF_H
#define HF_PROJECT_RUN_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"
#include "project/opened.h"
#include "store/db.h"

enum { HF_RUN_DIFF_STEPS_MAX = 1000 };

typedef struct hf_run_diff_side {
    int64_t run;             /* of the store; not with a bundle */
    const hf_opened *opened; /* NULL: it is of the store */
    hf_slice bundle;         /* what the page calls the bundle; ptr NULL: none */
} hf_run_diff_side;

typedef struct hf_run_diff_query {
    hf_run_diff_side left;
    hf_run_diff_side right;
    int64_t after; /* steps behind this one */
    int64_t limit; /* 1 to HF_RUN_DIFF_STEPS_MAX */
    bool different_only;
} hf_run_diff_query;

/* {left, right, equal, different, first_difference, type, input, output, steps, next_after}; `db`
   may be NULL when both are of bundles. HF_INVALID for a window that cannot be, HF_NOTFOUND. */
HF_NODISCARD hf_status hf_run_diff_read(hf_db *db, hf_mem *mem, const hf_run_diff_query *query,
                                        hf_value *out_diff, hf_err *err);

#endif
