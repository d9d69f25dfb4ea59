/* batch_filter.h: a batch over whatever a filter finds: the request with the ids of today in it. */
#ifndef HF_ENGINE_BATCH_FILTER_H
#define HF_ENGINE_BATCH_FILTER_H

#include "engine/call.h"

/* Whether the request names runs by a filter or view. */
bool hf_batch_filtered(hf_value request);

/* The same request with workflow_ids: the instances whose current run matches now, at most `max`.
   HF_INVALID: both ids and a filter, a filter that cannot be, or more runs than that. HF_NOTFOUND:
   none. */
HF_NODISCARD hf_status hf_batch_expand(hf_call *call, hf_value request, int64_t max, hf_mem *mem,
                                       hf_value *out_request, hf_err *err);

#endif
