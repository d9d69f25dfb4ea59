/* views.h: lists that are kept: the program's own, whose ids begin with `system:`, and those that
   people saved. A view belongs to its owner, who alone changes it; others of its scope see it when
   it is shared. Reads only. */
#ifndef HF_PROJECT_VIEWS_H
#define HF_PROJECT_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"
#include "store/db.h"

/* Whose eyes look. */
typedef struct hf_views_reader {
    int64_t namespace_key;
    hf_slice scope; /* empty: "default" */
    hf_slice owner; /* empty: nobody, who sees what is shared */
} hf_views_reader;

/* All of a bucket (empty: of every one), system views first. */
HF_NODISCARD hf_status hf_views_list(hf_db *db, hf_mem *mem, const hf_views_reader *reader,
                                     hf_slice bucket, hf_value *out_list, hf_err *err);

/* One, by id. HF_NOTFOUND also when the reader may not see it. */
HF_NODISCARD hf_status hf_views_get(hf_db *db, hf_mem *mem, const hf_views_reader *reader,
                                    hf_slice id, hf_value *out_view, hf_err *err);

/* The key and the time of creation in an id of a saved view; false for anything else. */
bool hf_views_key(hf_slice id, int64_t *out_key, int64_t *out_created_ms);

/* "running", "completed", "failed", "cancelled", "terminated". */
bool hf_views_bucket(hf_slice text);

/* What a bucket adds to the filters: an object. NULL: no memory. */
hf_value hf_views_bucket_filters(hf_mem *mem, hf_slice bucket);

#endif
