/* shown.c: see shown.h. */
#include "project/shown.h"

#include "base/buf.h"
#include "base/json.h"
#include "project/edge.h"

/* How much of a text is shown: no character is cut in half. */
static size_t shown_length(hf_slice text)
{
    size_t len = HF_SHOWN_TEXT_MAX;

    if (text.len <= len)
        return text.len;
    while (len && ((uint8_t)text.ptr[len] & 0xC0) == 0x80)
        len--;
    return len;
}

static hf_value shown_make(hf_mem *mem, hf_slice codec, hf_slice text, uint64_t bytes)
{
    hf_value_list *shown = hf_value_object_of(mem, 4);
    size_t len = shown_length(text);
    bool cut = text.ptr ? len < text.len : bytes > 0;

    hf_value_put(shown, "codec", hf_value_string(mem, codec));
    hf_value_put(shown, "text",
                 text.ptr ? hf_value_string(mem, hf_slice_from(text.ptr, len)) : hf_value_null());
    hf_value_put(shown, "bytes", hf_value_int(mem, (int64_t)bytes));
    hf_value_put(shown, "cut", hf_value_bool(cut));
    return hf_value_finish(shown);
}

/* The text of a value; `bytes` of it as it was stored, or of the text itself when that is 0. */
static hf_status text_show(hf_mem *mem, hf_slice codec, hf_value value, uint64_t bytes,
                           hf_value *out_shown, hf_err *err)
{
    hf_buf text = {0};

    *out_shown = NULL;
    hf_json_write(&text, value);
    if (hf_buf_ok(&text))
        *out_shown = shown_make(mem, codec, hf_buf_slice(&text), bytes ? bytes : text.len);
    hf_buf_fini(&text);
    return *out_shown ? HF_OK : hf_err_nomem(err, "a payload");
}

hf_status hf_shown_payload(hf_mem *mem, const hf_payload_value *payload, hf_value *out_shown,
                           hf_err *err)
{
    hf_slice codec = payload->codec == HF_PAYLOAD_CODEC_AVRO ? HF_SLICE("avro") : HF_SLICE("json");
    hf_value value = NULL;
    hf_status st;

    if (payload->form == HF_PAYLOAD_FORM_ERASED) {
        *out_shown = shown_make(mem, codec, (hf_slice){0}, payload->size);
        return *out_shown ? HF_OK : hf_err_nomem(err, "a payload");
    }
    st = hf_edge_plain(mem, payload, &value, err);
    return st ? st : text_show(mem, codec, value, payload->bytes.len, out_shown, err);
}

hf_status hf_shown_value(hf_mem *mem, hf_value value, hf_value *out_shown, hf_err *err)
{
    return text_show(mem, HF_SLICE("json"), value, 0, out_shown, err);
}
