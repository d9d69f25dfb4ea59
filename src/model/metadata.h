/* metadata.h: memo and search attributes: what may be in them and how a change is merged. Pure. */
#ifndef HF_MODEL_METADATA_H
#define HF_MODEL_METADATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"
#include "model/limit.h"

/* Who knows which search attributes are registered as keywords. Asked only for a text that is
   longer than a keyword may be. */
typedef struct hf_metadata_types {
    const void *ctx;
    hf_status (*keyword)(const void *ctx, hf_slice name, bool *out_keyword, hf_err *err);
} hf_metadata_types;

/* A merge of metadata (`attributes`: search attributes, else the memo), JSON objects as text: null
   deletes, members are sorted. `current` may have ptr NULL; without types (NULL) no attribute is
   registered. *out_limit: the limit that the whole breaks, with the value measured; 0: none.
   HF_INVALID: the entries are not allowed. */
HF_NODISCARD hf_status hf_metadata_merge(hf_mem *mem, bool attributes,
                                         const hf_metadata_types *types, hf_slice current,
                                         hf_slice entries, hf_slice *out_merged,
                                         hf_limit *out_limit, int64_t *out_value, hf_err *err);

#endif
