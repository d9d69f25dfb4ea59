/* fold_read.h: what folds of runs are made from: rows, packs and chunks of history, of many runs
   with one statement each. Everything is copied into the arena, so that no cursor is open when it
   is used. Reads only, decides nothing. */
#ifndef HF_PROJECT_FOLD_READ_H
#define HF_PROJECT_FOLD_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/event.h"
#include "project/fold.h"
#include "store/db.h"

/* One row of history. */
typedef struct hf_fold_chunk {
    struct hf_fold_chunk *next;
    int64_t first;
    hf_slice body;
    hf_slice hash;
    hf_event *events; /* whoever decodes it fills them in */
    size_t count;
} hf_fold_chunk;

/* A run and what is stored of its folds. */
typedef struct hf_fold_source {
    int64_t run; /* given */
    bool found;  /* false: there is no such run */
    int64_t last_seq;
    hf_slice head;
    int64_t history_bytes;
    int64_t closed_us; /* HF_NONE: it is open */
    int64_t closed_reason;
    int64_t archived_us;
    bool declared;
    int64_t namespace_key;
    hf_slice type;
    int64_t folded_seq; /* HF_NONE: there is no summary */
    int64_t version;
    hf_runfold_columns columns;
    int64_t log_version; /* HF_NONE: there is no log */
    int64_t log_seq;
    hf_slice log_head;
    hf_slice pack;         /* of the log, once it was read */
    int64_t from;          /* given: chunks from the one with this event on are wanted */
    hf_fold_chunk *chunks; /* in order, up to last_seq */
    hf_fold_chunk *last;   /* of them */
} hf_fold_source;

/* The order of what is open in statements. */
extern const hf_runfold_open hf_fold_open_order[HF_RUNFOLD_OPEN_COUNT];

/* Fills in the rows of the runs; of one that does not exist nothing but `found`. */
HF_NODISCARD hf_status hf_fold_read_rows(hf_db *db, hf_mem *mem, hf_fold_source *const *sources,
                                         size_t count, hf_err *err);

/* Reads their logs anew: version, seq, head and pack. */
HF_NODISCARD hf_status hf_fold_read_packs(hf_db *db, hf_mem *mem, hf_fold_source *const *sources,
                                          size_t count, hf_err *err);

/* Reads the chunks that are wanted, in the place of those that are there. */
HF_NODISCARD hf_status hf_fold_read_chunks(hf_db *db, hf_mem *mem, hf_fold_source *const *sources,
                                           size_t count, hf_err *err);

#endif
