/* payload.c: opening and sealing envelopes. */
#include "server/payload.h"

#include "base/avro.h"
#include "base/base64.h"
#include "base/json.h"

static bool is_envelope(hf_value sent)
{
    return hf_value_kind_of(sent) == HF_VALUE_OBJECT &&
           hf_value_find(sent, HF_SLICE("codec")) != NULL &&
           (hf_value_find(sent, HF_SLICE("blob")) != NULL ||
            hf_value_find(sent, HF_SLICE("external_storage")) != NULL);
}

static hf_status frame_open(hf_mem *mem, hf_slice blob, hf_value *out_value, hf_err *err)
{
    hf_buf frame = {0};
    hf_status st = hf_base64_decode(&frame, blob, err);

    if (!st)
        st = hf_avro_decode(mem, hf_buf_slice(&frame), NULL, out_value, err);
    hf_buf_fini(&frame);
    return st;
}

hf_status hf_payload_open(hf_mem *mem, hf_value sent, hf_value *out_value, hf_err *err)
{
    const char *codec = hf_str(sent, "codec", "");
    hf_slice blob = hf_value_slice(hf_value_find(sent, HF_SLICE("blob")));

    *out_value = sent;
    if (!is_envelope(sent))
        return HF_OK;
    if (hf_slice_equal(hf_slice_of(codec), HF_SLICE("avro")))
        return frame_open(mem, blob, out_value, err);
    if (hf_slice_equal(hf_slice_of(codec), HF_SLICE("json")))
        return hf_json_read(mem, blob, NULL, out_value, err);
    return hf_err_set(err, HF_INVALID, "unsupported_payload_codec: %s is not avro or json", codec);
}

hf_value hf_payload_seal(hf_mem *mem, hf_value value)
{
    hf_buf frame = {0};
    hf_buf text = {0};
    hf_value sealed = NULL;

    hf_avro_encode(&frame, value);
    hf_base64_encode(&text, hf_buf_slice(&frame));
    if (hf_buf_ok(&frame) && hf_buf_ok(&text))
        sealed = hf_json_(mem, "{'codec': 'avro', 'blob': %s}", hf_buf_text(&text));
    hf_buf_fini(&frame);
    hf_buf_fini(&text);
    return sealed;
}
