/* detail_impl.h: a run while its page is put together, between the files that do it: detail.c opens
   it and joins the parts, detail_head.c says what it is and what can be done to it, detail_rows.c
   holds rows of open work against its history, detail_chain.c has the runs beside it. */
#ifndef HF_PROJECT_DETAIL_IMPL_H
#define HF_PROJECT_DETAIL_IMPL_H

#include "project/compose.h"
#include "project/detail.h"
#include "project/section.h"
#include "project/sheet.h"

/* A run of the same instance. */
typedef struct hf_detail_link {
    int64_t key;
    int64_t created_us;
    int64_t number;
    int64_t status;
    int64_t closed_reason; /* HF_NONE: open, so is the next */
    int64_t closed_us;
} hf_detail_link;

typedef struct hf_detail_view {
    hf_mem *mem;
    hf_dossier dossier; /* its events are those of the fold, up to `at` */
    hf_projection fold;
    hf_compose_run run;
    hf_compose *compose;
    hf_section section;
    bool now; /* not an earlier moment */
    hf_slice space;
    hf_detail_link *chain; /* the newest first */
    size_t chain_count;
} hf_detail_view;

/* Namespace and runs of the instance. */
HF_NODISCARD hf_status hf_detail_chain_read(hf_detail_view *v, hf_db *db, hf_err *err);

/* Which run is the current one, and the runs to go to from here. */
void hf_detail_chain_put(hf_sheet *sh, const hf_detail_view *v);

/* What the run is and what can be done to it: everything that is no list. */
void hf_detail_head_put(hf_sheet *sh, hf_detail_view *v, const hf_detail_query *q,
                        const hf_liveness *live);

/* Lists, with what only rows say marked as diagnostics; of an earlier moment no row says anything.
 */
HF_NODISCARD hf_status hf_detail_waits(hf_detail_view *v, hf_value *out_list, hf_err *err);
HF_NODISCARD hf_status hf_detail_activities(hf_detail_view *v, hf_value *out_list, hf_err *err);
HF_NODISCARD hf_status hf_detail_timers(hf_detail_view *v, hf_value *out_list, hf_err *err);
HF_NODISCARD hf_status hf_detail_tasks(hf_detail_view *v, const hf_liveness *live, int64_t now_us,
                                       hf_value *out_list, hf_err *err);

#endif
