/* bundle.c: what tool.h does with history bundles, without any store. */
#include "holdfast/tool.h"
#include "project/bundle_verify.h"

hf_status hf_bundle_verify(const char *text, size_t len, const hf_bundle_keys *keys, hf_mem *mem,
                           hf_value *out_report, hf_err *err)
{
    hf_bundle_verify_options options = {0};

    if (!text || !mem || !out_report || (keys && keys->size != sizeof(*keys)))
        return hf_err_set(err, HF_MISUSE, "a text, memory and a place for the report are needed");
    if (keys) {
        options.key = hf_slice_of(keys->key);
        options.public_key = hf_slice_of(keys->public_key);
        options.require_signature = keys->require_signature;
    }
    return hf_bundle_verify_text(mem, hf_slice_from(text, len), &options, out_report, err);
}

hf_status hf_bundle_diff(const char *a, size_t a_len, const char *b, size_t b_len, hf_mem *mem,
                         hf_value *out_diff, hf_err *err)
{
    if (!a || !b || !mem || !out_diff)
        return hf_err_set(err, HF_MISUSE,
                          "two texts, memory and a place for the answer are needed");
    return hf_bundle_diff_texts(mem, hf_slice_from(a, a_len), hf_slice_from(b, b_len), out_diff,
                                err);
}
