/* filter.h: what a list is filtered by: read from a value that a caller or a saved view brings,
   merged, turned into conditions over the summary, and described for those who build forms. A
   filter that is not known or a value that cannot be is refused with a sentence that names it.
   Pure functions; values live in the arena that is passed. */
#ifndef HF_PROJECT_FILTER_H
#define HF_PROJECT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"
#include "store/db.h"

enum {
    HF_FILTER_VERSION = 6,        /* of the contract; views of 1 to 6 are read */
    HF_FILTER_DEPRECATED_MAX = 2, /* those up to here are reported as deprecated */
    HF_FILTER_VALUE_MAX = 191,
    HF_FILTER_PARAMS_MAX = 256
};

/* What a row shows and the conditions share. Numbers are those of run.def, wait.def, repair.def. */
#define HF_LIST_LIVENESS                                                                           \
    "CASE WHEN s.ended <> 0 THEN 1 WHEN r.blocked = 1 THEN 2 WHEN r.blocked = 2 THEN 22 "          \
    "WHEN r.blocked = 3 THEN 21 WHEN s.wait_kind = 5 THEN 5 WHEN s.wait_kind = 4 THEN 8 "          \
    "WHEN s.wait_kind = 7 THEN 7 WHEN s.wait_kind = 3 THEN 6 WHEN s.wait_kind = 1 THEN "           \
    "CASE WHEN EXISTS (SELECT 1 FROM activity a WHERE a.run = s.run AND a.started_us IS NOT NULL " \
    "AND a.available_us IS NULL AND a.closed_us IS NULL) THEN 15 ELSE 14 END "                     \
    "WHEN EXISTS (SELECT 1 FROM task t WHERE t.run = s.run AND t.kind = 1 AND t.owner IS NOT "     \
    "NULL) THEN 11 ELSE 10 END"
#define HF_LIST_REPAIR                                                                             \
    "CASE WHEN i.current_run <> s.run THEN 3 WHEN s.ended <> 0 THEN 4 WHEN r.blocked = 1 THEN "    \
    "NULL ELSE 5 END"
#define HF_LIST_PROBLEM                                                                            \
    "CASE WHEN s.ended = 0 AND (r.blocked = 1 OR EXISTS (SELECT 1 FROM task t WHERE t.run = "      \
    "s.run AND (t.repair_count > 0 OR t.trouble <> 0))) THEN 1 ELSE 0 END"

/* Conditions and their parameters, joined by AND. */
typedef struct hf_filter_sql {
    hf_buf text; /* begins with " AND " when there is any */
    hf_db_value params[HF_FILTER_PARAMS_MAX];
    size_t count;         /* of parameters; may begin above 0 */
    hf_slice run_id_part; /* run_id_contains, for the reader: ids are formed at the edge */
    bool never;           /* no run can be meant */
} hf_filter_sql;

/* Reads, trims and checks: an object {field: value, ..., "labels": {..}, "search_attributes": {..}}
   without what is empty. Also takes "label" and "search_attribute" for the last two. HF_INVALID
   names the field. */
HF_NODISCARD hf_status hf_filter_read(hf_mem *mem, hf_value given, hf_value *out_filters,
                                      hf_err *err);

/* What is in `later` wins; labels and search attributes are merged key by key and sorted. Both are
   what hf_filter_read returned. NULL: no memory. */
hf_value hf_filter_merge(hf_mem *mem, hf_value earlier, hf_value later);

/* Appends the conditions. `postgres` chooses between the engines where they differ. HF_INVALID when
   there are too many. */
HF_NODISCARD hf_status hf_filter_sql_make(hf_value filters, bool postgres, hf_mem *mem,
                                          hf_filter_sql *io_sql, hf_err *err);

/* The definition payload: versions, fields with their labels and options, labels, search
   attributes. NULL: no memory. */
hf_value hf_filter_definition(hf_mem *mem);

#endif
