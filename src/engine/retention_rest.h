/* retention_rest.h: what belongs to no run leaves the store, too, when its time is over:

     batches that are done, schedules that were deleted and imported runs, after the days that their
       namespace keeps closed runs;
     definitions that no run has, where one program has the store to itself;
     token buckets that are full, which is as good as none;
     slots and workers whose lease ended an hour ago, builds that were drained and work again,
       registrations of workers that nobody heard of and points of charts when their week is over.

   Tokens, namespaces, saved views, search attributes and reservations are somebody's decisions:
   they stay until somebody takes them back. */
#ifndef HF_ENGINE_RETENTION_REST_H
#define HF_ENGINE_RETENTION_REST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "commit/unit.h"
#include "engine/registry.h"
#include "store/db.h"

enum { HF_RETENTION_KEYS = 64 }; /* of each kind in one unit */

typedef enum hf_rest_kind {
    HF_REST_BATCHES,
    HF_REST_SCHEDULES,
    HF_REST_IMPORTS,
    HF_REST_BUCKETS,
    HF_REST_DEFINITIONS,
    HF_REST_KINDS
} hf_rest_kind;

/* Begin with zeroes and the first three. */
typedef struct hf_retention_rest {
    int64_t now_us;
    int64_t namespace_key;       /* 0: all */
    const hf_registry *registry; /* definitions that are about to be used; NULL: all stay */
    int64_t definition;          /* those up to this key were looked at */
    size_t rows;                 /* in the unit at hand */
    size_t drafted[HF_REST_KINDS];
    bool ended; /* the unit at hand is the last */
} hf_retention_rest;

/* Adds rows that remove what may go; nothing when rest->rows is 0. */
HF_NODISCARD hf_status hf_retention_rest_draft(hf_db *db, hf_retention_rest *rest, hf_unit *unit,
                                               hf_err *err);

/* Adds what a committed unit removed. */
void hf_retention_rest_count(const hf_unit *unit, const hf_retention_rest *rest,
                             int64_t counts[HF_REST_KINDS]);

#endif
