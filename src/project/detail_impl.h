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
    hf_db *db;             /* where big values are; NULL: the run is of a bundle */
    const hf_event *whole; /* whose events with big values are these */
    hf_dossier dossier;    /* its events are those of the fold, up to `at` */
    hf_projection fold;
    hf_compose_run run;
    hf_compose *compose;
    hf_section section;
    bool now; /* not an earlier moment */
    hf_slice space;
    hf_detail_link *chain; /* the newest first */
    size_t chain_count;
} hf_detail_view;

/* Opens the run as it was after query->at, its events not yet let through; hf_detail_close it, also
   when this failed. */
HF_NODISCARD hf_status hf_detail_open(hf_detail_view *v, hf_db *db, hf_mem *mem,
                                      const hf_detail_query *query, hf_err *err);
void hf_detail_close(hf_detail_view *v);

/* One event with all its bytes; of a bundle they are not copied. */
HF_NODISCARD hf_status hf_detail_event(const hf_detail_view *v, hf_mem *mem, int64_t seq,
                                       hf_event *out_event, hf_err *err);

/* What went in and what came out are shown, however big they are: the fold keeps no big values. */
HF_NODISCARD hf_status hf_detail_ends(hf_detail_view *v, hf_err *err);

/* Lets all events through; none is shown. */
HF_NODISCARD hf_status hf_detail_pass(hf_detail_view *v, hf_err *err);

/* Whether it moves, and why not: by rows and whoever is there, or by history alone. All events went
   through. */
HF_NODISCARD hf_status hf_detail_state(hf_detail_view *v, const hf_why_world *now,
                                       hf_liveness *out_live, hf_value *out_why, hf_err *err);

/* Its steps as bars. */
HF_NODISCARD hf_status hf_detail_spans(const hf_detail_view *v, hf_value *out_spans, hf_err *err);

/* Namespace and runs of the instance. */
HF_NODISCARD hf_status hf_detail_chain_read(hf_detail_view *v, hf_err *err);

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
