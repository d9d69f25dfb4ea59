/* projection.h: the stored fold of a run: catching up with history, reading it exactly, telling
   whether it has drifted. The rows are written by whoever owns the writer; this side reads and
   drafts. A projection decides nothing and is never read by replay. */
#ifndef HF_PROJECT_PROJECTION_H
#define HF_PROJECT_PROJECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/event.h"
#include "project/flow.h"
#include "store/db.h"
#include "store/row.h"

/* How a stored projection stands to its run. */
typedef enum hf_projection_state {
    HF_PROJECTION_IN_SYNC,
    HF_PROJECTION_BEHIND,  /* events came since: folding them makes it whole */
    HF_PROJECTION_MISSING, /* there is none */
    HF_PROJECTION_STALE    /* of another version or of another history, or damaged */
} hf_projection_state;

typedef struct hf_projection_change {
    hf_row *rows; /* bare ones, linked by next; NULL: nothing is to be written */
    int64_t events;
    hf_projection_state summary; /* as they were found */
    hf_projection_state log;
    int64_t newest_us; /* of the events that points of the ring get; 0: there are none */
} hf_projection_change;

/* Drafts what brings the projections of a run up to its newest event. Without `whole` the log of an
   open run may stay behind by a third, so that a long run is not packed again for every step;
   with `anew` nothing stored is believed. HF_NOTFOUND when there is no such run. */
HF_NODISCARD hf_status hf_projection_catch_up(hf_db *db, hf_mem *mem, int64_t run, bool whole,
                                              bool anew, hf_projection_change *out_change,
                                              hf_err *err);

/* The same for several runs, read with a few statements for all of them. */
typedef struct hf_projection_task {
    int64_t run;
    bool whole;
    bool anew;
    hf_projection_change change;
    hf_err err; /* what went wrong with this run alone; status HF_OK: nothing */
} hf_projection_task;

/* The first *out_done of them, as many as have about `bytes_max` of history to fold and at least
   one. A failure is one of the database or of memory: nothing is done then. */
HF_NODISCARD hf_status hf_projection_catch_up_all(hf_db *db, hf_mem *mem, hf_projection_task *tasks,
                                                  size_t count, size_t bytes_max, size_t *out_done,
                                                  hf_err *err);

/* Whether a failure to fold or to write what was folded is the run's own: its history or a value in
   it. Whoever folds many goes on with the others then. */
bool hf_projection_run_at_fault(hf_status st);

/* Drafts the removal of everything that projections know of a run that is gone. */
HF_NODISCARD hf_status hf_projection_forget(hf_mem *mem, int64_t run, hf_row **out_rows,
                                            hf_err *err);

/* Compares what is stored with what folding all of history gives, byte by byte. */
HF_NODISCARD hf_status hf_projection_compare(hf_db *db, hf_mem *mem, int64_t run,
                                             hf_projection_change *out_found, hf_err *err);

/* A run's history as a view reads it: exact, whatever is stored. */
typedef struct hf_projection {
    hf_event *events; /* payloads over HF_RUNFOLD_PAYLOAD_MAX are erased ones with a size */
    size_t count;
    int64_t last_seq;          /* of the run; count is less when an earlier moment was asked for */
    hf_projection_state state; /* how the stored one was found: unless in sync it was rebuilt */
} hf_projection;

/* At most the first `at` events (INT64_MAX: all). HF_NOTFOUND, HF_CORRUPT when history is. */
HF_NODISCARD hf_status hf_projection_read(hf_db *db, hf_mem *mem, int64_t run, int64_t at,
                                          hf_projection *out_projection, hf_err *err);

#endif
