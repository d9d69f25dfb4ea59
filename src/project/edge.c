/* edge.c: see edge.h. The one place where stored payloads are transcoded for readers outside. */
#include "project/edge.h"

#include "base/assert.h"
#include "base/avro.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"

hf_value hf_edge_text(hf_mem *mem, hf_slice text)
{
    return text.ptr ? hf_value_string(mem, text) : hf_value_null();
}

hf_value hf_edge_time(hf_mem *mem, int64_t time_us)
{
    char text[HF_CLOCK_TEXT_SIZE];

    if (time_us == HF_EDGE_NO_TIME || !hf_clock_print(time_us, text))
        return hf_value_null();
    return hf_value_string(mem, hf_slice_of(text));
}

hf_value hf_edge_id(hf_mem *mem, const hf_ulid *id)
{
    char text[HF_ULID_TEXT_SIZE];

    hf_ulid_print(id, text);
    return hf_value_string(mem, hf_slice_of(text));
}

/* A failure to read what the engine itself stored is not the caller's mistake. */
static hf_status stored_status(hf_status st)
{
    return st == HF_INVALID || st == HF_TOOBIG ? HF_CORRUPT : st;
}

hf_status hf_edge_json(hf_mem *mem, hf_slice json, hf_value *out_value, hf_err *err)
{
    hf_status st = stored_status(hf_json_read(mem, json, NULL, out_value, err));

    if (st && err)
        err->status = st;
    return hf_err_because(err, st, "read stored JSON");
}

hf_status hf_edge_plain(hf_mem *mem, const hf_payload_value *payload, hf_value *out_value,
                        hf_err *err)
{
    hf_status st;

    HF_ASSERT(payload->form != HF_PAYLOAD_FORM_REFERENCE);
    *out_value = hf_value_null();
    if (payload->form == HF_PAYLOAD_FORM_ERASED)
        return HF_OK;
    st = payload->codec == HF_PAYLOAD_CODEC_AVRO
             ? hf_avro_decode(mem, payload->bytes, NULL, out_value, err)
             : hf_json_read(mem, payload->bytes, NULL, out_value, err);
    st = stored_status(st);
    if (st && err)
        err->status = st;
    return hf_err_because(err, st, "read a stored payload");
}

hf_status hf_edge_blob(hf_mem *mem, const hf_payload_value *payload, hf_value *out_blob,
                       hf_err *err)
{
    hf_value value = NULL;
    hf_buf frame = {0};
    hf_buf text = {0};
    hf_status st = HF_OK;

    HF_ASSERT(payload->form != HF_PAYLOAD_FORM_REFERENCE);
    *out_blob = hf_value_null();
    if (payload->form == HF_PAYLOAD_FORM_ERASED)
        return HF_OK;
    if (payload->codec == HF_PAYLOAD_CODEC_AVRO) {
        hf_base64_encode(&text, payload->bytes);
    } else {
        st = hf_edge_plain(mem, payload, &value, err);
        if (st)
            goto done;
        hf_avro_encode(&frame, value);
        if (hf_buf_ok(&frame))
            hf_base64_encode(&text, hf_buf_slice(&frame));
    }
    if (hf_buf_ok(&frame) && hf_buf_ok(&text))
        *out_blob = hf_value_string(mem, hf_buf_slice(&text));
    else
        *out_blob = NULL;
    if (!*out_blob)
        st = hf_err_nomem(err, "a payload");
done:
    hf_buf_fini(&text);
    hf_buf_fini(&frame);
    return st;
}

hf_status hf_edge_envelope(hf_mem *mem, const hf_payload_value *payload, hf_value *out_envelope,
                           hf_err *err)
{
    hf_value_list *envelope;
    hf_value blob = NULL;
    hf_status st = hf_edge_blob(mem, payload, &blob, err);

    *out_envelope = hf_value_null();
    if (st || hf_value_kind_of(blob) == HF_VALUE_NULL)
        return st;
    envelope = hf_value_object(mem);
    hf_value_put(envelope, "codec", hf_value_string(mem, HF_SLICE("avro")));
    hf_value_put(envelope, "blob", blob);
    *out_envelope = hf_value_finish(envelope);
    return *out_envelope ? HF_OK : hf_err_nomem(err, "a payload");
}

hf_value hf_edge_merge(hf_mem *mem, hf_value before, hf_value changes)
{
    hf_value_list *object = hf_value_object(mem);
    hf_slice name;
    hf_value item;

    for (size_t i = 0; hf_value_member(before, i, &name, &item); i++)
        if (!hf_value_find(changes, name))
            hf_value_set(object, name, item);
    for (size_t i = 0; hf_value_member(changes, i, &name, &item); i++)
        if (hf_value_kind_of(item) != HF_VALUE_NULL)
            hf_value_set(object, name, item);
    return hf_value_finish(object);
}
