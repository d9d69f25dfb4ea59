/* decide_meta.c: memo and search attributes. What is recorded is the change and the whole after it,
   so that nobody who reads the newest event needs the ones before. */
#include "decide/decide_impl.h"
#include "model/metadata.h"

static hf_status upsert(hf_decide *decide, bool attributes, const hf_decision_row *row, hf_err *err)
{
    hf_slice *now = attributes ? &decide->attributes : &decide->memo;
    hf_slice before = attributes ? decide->run->attributes : decide->run->memo;
    hf_decision_payload merged = {.codec = HF_PAYLOAD_CODEC_JSON};
    hf_limit limit;
    int64_t value = 0;
    hf_status st =
        hf_metadata_merge(hf_unit_mem(decide->unit), attributes, NULL, now->ptr ? *now : before,
                          row->value.bytes, &merged.bytes, &limit, &value, err);

    if (st)
        return st;
    *now = merged.bytes;
    (void)hf_decide_event(decide,
                          attributes ? HF_EVENT_SEARCH_ATTRIBUTES_UPSERTED : HF_EVENT_MEMO_UPSERTED,
                          row->step);
    hf_decide_payload(decide, attributes ? HF_KEY_ATTRIBUTES : HF_KEY_ENTRIES, &row->value);
    hf_decide_payload(decide, HF_KEY_MERGED, &merged);
    return HF_OK;
}

hf_status hf_decide_memo(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    return upsert(decide, false, row, err);
}

hf_status hf_decide_attributes(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    return upsert(decide, true, row, err);
}
