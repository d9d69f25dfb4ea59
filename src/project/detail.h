/* detail.h: one run as a page shows it: the complete selected-run payload and its bars. Everything
   comes from the run's fold (projection.h), which is exact, and from rows; what only a row says is
   marked as a diagnostic. With `at` the run is shown as it was after that event. Reads only. */
#ifndef HF_PROJECT_DETAIL_H
#define HF_PROJECT_DETAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"
#include "project/fleet.h"
#include "project/opened.h"
#include "project/projection.h"
#include "project/why.h"

enum { HF_DETAIL_LIMIT = 100, HF_DETAIL_LIMIT_MAX = 100000 };

typedef struct hf_detail_query {
    int64_t run;
    const hf_opened *opened; /* the run of a bundle, and no database; NULL: `run` */
    int64_t at;              /* INT64_MAX: now */
    int64_t limit;           /* of the lists that grow with history; 0: HF_DETAIL_LIMIT */
    const hf_why_world *world;
    hf_slice fingerprint;      /* of the definition that this program has; ptr NULL: it has none */
    const hf_fleet *fleet;     /* the workers that are there; NULL: nobody looked */
    const hf_fleet_pins *pins; /* builds that were promoted; NULL: nobody looked */
    hf_slice build;            /* of this program; empty: it says none */
    hf_slice scope;            /* the compatibility namespace of this program */
    hf_slice own;              /* markers that it supports; ptr NULL: all */
} hf_detail_query;

/* *out_state says how the stored fold was found; unless it was in sync somebody should write it. */
HF_NODISCARD hf_status hf_detail_read(hf_db *db, hf_mem *mem, const hf_detail_query *query,
                                      hf_value *out_detail, hf_projection_state *out_state,
                                      hf_err *err);

/* The bars of the run. */
HF_NODISCARD hf_status hf_detail_bars(hf_db *db, hf_mem *mem, int64_t run, int64_t at,
                                      int64_t limit, hf_value *out_bars, hf_err *err);

/* What the run waits for and waited for, as the list `waits` of the detail has it. */
HF_NODISCARD hf_status hf_detail_wait_rows(hf_db *db, hf_mem *mem, int64_t run, hf_value *out_waits,
                                           hf_err *err);

#endif
