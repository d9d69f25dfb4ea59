/* envelope.c: see envelope.h. Never guesses: a text is a blob only when a codec says so. */
#include "model/envelope.h"

#include "base/avro.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/value.h"

/* Moves what a buffer holds into the arena. */
static hf_status buf_keep(hf_mem *mem, hf_buf *buf, hf_slice *out_bytes, hf_err *err)
{
    const char *kept = hf_buf_ok(buf) ? hf_mem_text(mem, hf_buf_slice(buf)) : NULL;

    *out_bytes = hf_slice_from(kept, buf->len);
    hf_buf_fini(buf);
    return kept ? HF_OK : hf_err_nomem(err, "a payload");
}

static hf_status plain_read(hf_mem *mem, hf_value value, hf_decision_payload *out_payload,
                            hf_err *err)
{
    hf_buf text = {0};

    hf_json_write(&text, value);
    out_payload->codec = HF_PAYLOAD_CODEC_JSON;
    return buf_keep(mem, &text, &out_payload->bytes, err);
}

/* A blob is read once, so that what is stored can be read again. */
static hf_status blob_read(hf_mem *mem, hf_slice codec, hf_slice blob,
                           hf_decision_payload *out_payload, hf_err *err)
{
    hf_mem *scratch;
    hf_value value = NULL;
    hf_buf bytes = {0};
    hf_status st;

    if (!hf_payload_codec_parse(codec, &out_payload->codec))
        return hf_err_set(err, HF_INVALID, "unsupported_payload_codec: %.*s; send avro or json",
                          (int)codec.len, codec.ptr);
    scratch = hf_mem_new();
    if (!scratch)
        return hf_err_nomem(err, "a payload");
    if (out_payload->codec == HF_PAYLOAD_CODEC_AVRO) {
        st = hf_base64_decode(&bytes, blob, err);
        if (!st)
            st = hf_avro_decode(scratch, hf_buf_slice(&bytes), NULL, &value, err);
    } else {
        hf_buf_add_slice(&bytes, blob);
        st = hf_json_read(scratch, blob, NULL, &value, err);
    }
    hf_mem_free(scratch);
    if (st) {
        hf_buf_fini(&bytes);
        return st == HF_NOMEM ? st : hf_err_because(err, HF_INVALID, "payload");
    }
    return buf_keep(mem, &bytes, &out_payload->bytes, err);
}

hf_status hf_envelope_read(hf_mem *mem, hf_value value, hf_slice codec,
                           hf_decision_payload *out_payload, hf_err *err)
{
    hf_value named = hf_value_find(value, HF_SLICE("codec"));
    hf_value blob = hf_value_find(value, HF_SLICE("blob"));

    *out_payload = (hf_decision_payload){0};
    if (hf_value_kind_of(value) == HF_VALUE_NULL)
        return HF_OK;
    if (hf_value_kind_of(named) == HF_VALUE_STRING &&
        hf_value_find(value, HF_SLICE("external_storage")))
        return hf_err_set(err, HF_INVALID,
                          "unsupported_payload_codec: external payloads are not set up here");
    if (hf_value_kind_of(named) == HF_VALUE_STRING && hf_value_kind_of(blob) == HF_VALUE_STRING)
        return blob_read(mem, hf_value_slice(named), hf_value_slice(blob), out_payload, err);
    if (codec.ptr && hf_value_kind_of(value) == HF_VALUE_STRING)
        return blob_read(mem, codec, hf_value_slice(value), out_payload, err);
    return plain_read(mem, value, out_payload, err);
}

hf_status hf_envelope_value(hf_mem *mem, const hf_decision_payload *payload, hf_value *out_value,
                            hf_err *err)
{
    *out_value = hf_value_null();
    if (!payload->bytes.ptr)
        return HF_OK;
    return payload->codec == HF_PAYLOAD_CODEC_AVRO
               ? hf_avro_decode(mem, payload->bytes, NULL, out_value, err)
               : hf_json_read(mem, payload->bytes, NULL, out_value, err);
}

/* The payload in the wanted codec, bytes in the arena. */
static hf_status payload_transcode(hf_mem *mem, const hf_decision_payload *payload,
                                   hf_payload_codec wanted, hf_slice *out_bytes, hf_err *err)
{
    hf_value value = NULL;
    hf_buf bytes = {0};
    hf_status st;

    *out_bytes = payload->bytes;
    if (!payload->bytes.ptr || payload->codec == wanted)
        return HF_OK;
    st = hf_envelope_value(mem, payload, &value, err);
    if (st)
        return st;
    if (wanted == HF_PAYLOAD_CODEC_AVRO)
        hf_avro_encode(&bytes, value);
    else
        hf_json_write(&bytes, value);
    return buf_keep(mem, &bytes, out_bytes, err);
}

hf_status hf_envelope_write(hf_mem *mem, const hf_decision_payload *payload,
                            hf_payload_codec wanted, hf_value *out_value, hf_err *err)
{
    hf_value_list *envelope;
    hf_buf blob = {0};
    hf_slice bytes;
    hf_status st = payload_transcode(mem, payload, wanted, &bytes, err);

    *out_value = hf_value_null();
    if (st || !bytes.ptr)
        return st;
    if (wanted == HF_PAYLOAD_CODEC_AVRO)
        hf_base64_encode(&blob, bytes);
    else
        hf_buf_add_slice(&blob, bytes);
    envelope = hf_value_object(mem);
    hf_value_set(envelope, HF_SLICE("codec"),
                 hf_value_string(mem, hf_slice_of(hf_payload_codec_text(wanted))));
    hf_value_set(envelope, HF_SLICE("blob"),
                 hf_buf_ok(&blob) ? hf_value_string(mem, hf_buf_slice(&blob)) : NULL);
    hf_buf_fini(&blob);
    *out_value = hf_value_finish(envelope);
    return *out_value ? HF_OK : hf_err_nomem(err, "a payload");
}
