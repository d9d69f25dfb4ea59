/* metadata.h: memo and search attributes: what may be in them and how a change is merged. Pure. */
#ifndef HF_MODEL_METADATA_H
#define HF_MODEL_METADATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"
#include "model/limit.h"

/* A merge of metadata (`attributes`: search attributes, else the memo), JSON objects as text: null
   deletes, members are sorted. `current` may have ptr NULL. *out_limit: the limit that the whole
   breaks, with the value measured; 0: none. HF_INVALID: the entries are not allowed. */
HF_NODISCARD hf_status hf_metadata_merge(hf_mem *mem, bool attributes, hf_slice current,
                                         hf_slice entries, hf_slice *out_merged,
                                         hf_limit *out_limit, int64_t *out_value, hf_err *err);

#endif
