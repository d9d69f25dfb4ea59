/* projection_impl.h: a run while its projections are read or brought up to date, between the files
   that do it: projection_log.c reads its rows, its history and its log, projection.c folds the
   columns and plans what is to be done, projection_rows.c drafts the rows. */
#ifndef HF_PROJECT_PROJECTION_IMPL_H
#define HF_PROJECT_PROJECTION_IMPL_H

#include "base/crypto.h"
#include "project/fold.h"
#include "project/fold_read.h"
#include "project/projection.h"

/* A run while it is folded. */
typedef struct hf_projection_work {
    hf_db *db;
    hf_mem *mem;
    hf_fold_source s;
    hf_projection_state summary; /* how the stored parts stand to the run */
    hf_projection_state log;
    hf_sha256 *sha;   /* made when a payload that is stored apart is needed */
    hf_runfold *fold; /* borrowed: whoever has several runs to fold has one */
    int64_t counted;  /* events up to this one are in the ring; HF_NONE: that is not asked */
    hf_flow *flows;
    hf_row *rows, **tail;
    hf_err lost; /* why an earlier event could not be read */
    /* what catching up is going to do */
    int64_t expected; /* what the summary is known to have */
    int64_t behind;   /* columns go on behind this event */
    bool anew;        /* columns and what belongs to them are made anew */
    bool fresh;       /* nothing was ever folded: there is nothing to clear */
    bool logs;        /* the log is brought up to the end as well */
    bool planned;     /* there is something to do */
} hf_projection_work;

void hf_projection_begin(hf_projection_work *w, hf_db *db, hf_mem *mem, int64_t run);

/* ---- projection_log.c */

hf_status hf_projection_gone(int64_t run, hf_err *err);

/* Judges the rows that were read. */
void hf_projection_look(hf_projection_work *w);

/* One run for itself: reads and judges its rows, with a fold of its own. Closed in any case. */
HF_NODISCARD hf_status hf_projection_open(hf_projection_work *w, hf_db *db, hf_mem *mem,
                                          int64_t run, hf_err *err);
void hf_projection_close(hf_projection_work *w);

/* The chunks that were read become events, without a gap up to the newest; or the chunks of one run
   from the one with the event `from` on are read first. */
HF_NODISCARD hf_status hf_projection_decode(hf_projection_work *w, hf_err *err);
HF_NODISCARD hf_status hf_projection_history(hf_projection_work *w, int64_t from, hf_err *err);

/* The part of a chunk behind event `seq`. */
size_t hf_projection_behind(const hf_fold_chunk *c, int64_t seq, hf_event **out_events);

/* Whether the stored log can be gone on with, and how far it is good; 0 when it begins anew. */
bool hf_projection_log_usable(const hf_projection_work *w);
int64_t hf_projection_log_good(const hf_projection_work *w);

/* Whether the chunk that ends the log is the one it was folded from. */
bool hf_projection_log_fits(const hf_projection_work *w);
void hf_projection_log_restart(hf_projection_work *w);

/* Takes what is stored (and read, or reads it first) into w->fold; what cannot be used is stale,
   and the fold begins anew. */
HF_NODISCARD hf_status hf_projection_log_load(hf_projection_work *w, hf_err *err);
HF_NODISCARD hf_status hf_projection_log_read(hf_projection_work *w, hf_err *err);

/* Adds the events that were read; or brings w->fold to the end of history, reading all of it when
   the log turns out to be of no use. */
HF_NODISCARD hf_status hf_projection_log_add(hf_projection_work *w, hf_err *err);
HF_NODISCARD hf_status hf_projection_log_finish(hf_projection_work *w, hf_err *err);

/* ---- projection_rows.c */

/* The rows of what was folded, linked in w->rows. */
HF_NODISCARD hf_status hf_projection_rows(hf_projection_work *w, hf_err *err);

/* When the newest of the events happened that points of the ring get; 0: there are none. */
int64_t hf_projection_newest(const hf_flow *flows);

#endif
