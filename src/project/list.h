/* list.h: runs as lists show them: filtered, newest first, page after page. The order is
   sort_timestamp descending, then run id descending, or both ascending: the orders that an index
   has. A page goes on behind the sort key of the last row, so that runs which start meanwhile move
   nothing. Rows come from the summary and the rows it
   is copied from; only where rows of open work are missing is history asked. Reads only. */
#ifndef HF_PROJECT_LIST_H
#define HF_PROJECT_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"
#include "project/filter.h"
#include "project/liveness.h"
#include "store/db.h"

enum {
    HF_LIST_LIMIT = 50,
    HF_LIST_LIMIT_MAX = 1000,
    HF_LIST_COUNT_MAX = 10000, /* rows that are counted; beyond it a count says it is not exact */
    HF_LIST_FACETS_MAX = 8,
    HF_LIST_FACET_VALUES = 50
};

typedef struct hf_list_query {
    int64_t namespace_key;
    hf_value filters; /* of hf_filter_read; NULL: none */
    int64_t limit;    /* 0: HF_LIST_LIMIT */
    bool oldest;      /* first; else the newest */
    hf_slice cursor;  /* a sort key; empty: from the first */
    hf_value facets;  /* names to count by; NULL: none */
    bool total;       /* count all that match */
    bool hist;        /* count them by when they started */
    /* For what moves runs on: the time (0: nothing is late) and who serves tasks; see piece.h. */
    hf_liveness_world live;
    hf_slice scope;
    hf_slice own;
    hf_slice build;
} hf_list_query;

/* {"items": [...], "cursor": sort key or null, "facets": {...}, "total": {"n", "exact"}, "hist":
   {"from", "step_seconds", "open": [n, ...], "over": [n, ...], "failed": [n, ...], "exact"}}, in
   which a run stands where it started, the newest HF_LIST_COUNT_MAX of them. HF_INVALID for a
   cursor or facet that cannot be. */
HF_NODISCARD hf_status hf_list_read(hf_db *db, hf_mem *mem, const hf_list_query *query,
                                    hf_value *out_page, hf_err *err);

/* What history says of a run whose rows cannot say what moves it on. Texts and lists in it are
   gone: states, moments and flags are what counts. HF_NOTFOUND. */
HF_NODISCARD hf_status hf_list_ask(hf_db *db, const hf_list_query *query, int64_t run,
                                   hf_liveness *out_liveness, hf_err *err);

/* The keys of the runs that match, in the order of the list, at most `room`; for commands that work
   on many. *io_cursor (in `mem`) is moved behind the last; empty when there are no more. */
HF_NODISCARD hf_status hf_list_keys(hf_db *db, hf_mem *mem, const hf_list_query *query,
                                    hf_slice *io_cursor, int64_t *out_keys, size_t room,
                                    size_t *out_count, hf_err *err);

#endif
