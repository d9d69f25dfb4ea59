/* filter.h: what a list is filtered by: read from a value that a caller or a saved view brings,
   merged, turned into conditions over the summary, and described for those who build forms. A
   filter that is not known or a value that cannot be is refused with a sentence that names it.
   Pure functions; values live in the arena that is passed. */
#ifndef HF_PROJECT_FILTER_H
#define HF_PROJECT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"
#include "project/piece.h"

enum {
    HF_FILTER_VERSION = 6,        /* of the contract; views of 1 to 6 are read */
    HF_FILTER_DEPRECATED_MAX = 2, /* those up to here are reported as deprecated */
    HF_FILTER_VALUE_MAX = 191
};

/* What the conditions leave to whoever reads the rows. */
typedef struct hf_filter_rest {
    hf_slice run_id_part; /* run_id_contains: ids are formed at the edge */
    bool never;           /* no run can be meant */
    /* Of runs whose rows cannot say it, history can: */
    int64_t liveness; /* hf_liveness_state, 0: any */
    int64_t repair;   /* hf_repair_blocked_reason, 0: any */
    int64_t problem;  /* 0 or 1, -1: any; so is attention */
    int64_t attention;
} hf_filter_rest;

/* Reads, trims and checks: an object {field: value, ..., "labels": {..}, "search_attributes": {..},
   "not": {field: [value, ..], .., "labels": {name: [value, ..]}}} without what is empty. Also takes
   "label" and "search_attribute", and one value in place of a list. HF_INVALID names the field. */
HF_NODISCARD hf_status hf_filter_read(hf_mem *mem, hf_value given, hf_value *out_filters,
                                      hf_err *err);

/* What is in `later` wins; labels and search attributes are merged key by key and sorted, and what
   either leaves out is left out. Both are what hf_filter_read returned. NULL: no memory. */
hf_value hf_filter_merge(hf_mem *mem, hf_value earlier, hf_value later);

/* Adds the conditions to a statement that has come to them. `filters` NULL: none. */
void hf_filter_add(hf_value filters, hf_piece_sql *sql, hf_filter_rest *out_rest);

/* The moment that a filter such as started_from names; false: there is none. */
bool hf_filter_moment(hf_value filters, const char *name, int64_t *out_us);

/* The definition payload: versions, fields with their labels and options, labels, search
   attributes. NULL: no memory. */
hf_value hf_filter_definition(hf_mem *mem);

#endif
