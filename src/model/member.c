/* member.c: see member.h. */
#include "model/member.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/value.h"

/* ---- out */

void hf_member_text_set(hf_mem *mem, hf_value_list *object, const char *name, hf_slice text)
{
    if (text.ptr)
        hf_value_set(object, hf_slice_of(name), hf_value_string(mem, text));
}

void hf_member_int_set(hf_mem *mem, hf_value_list *object, const char *name, int64_t number)
{
    if (number)
        hf_value_set(object, hf_slice_of(name), hf_value_int(mem, number));
}

hf_status hf_member_payload_set(hf_mem *mem, hf_value_list *object, const char *name,
                                const hf_decision_payload *payload, hf_err *err)
{
    hf_value value = NULL;
    hf_status st;

    if (!payload->bytes.ptr)
        return HF_OK;
    if (payload->codec && payload->codec != HF_PAYLOAD_CODEC_JSON)
        return hf_err_set(err, HF_INVALID, "a payload is no JSON");
    st = hf_json_read(mem, payload->bytes, NULL, &value, err);
    if (!st)
        hf_value_set(object, hf_slice_of(name), value);
    return st;
}

/* ---- in */

hf_status hf_member_bad(hf_err *err, const char *name, const char *what)
{
    return hf_err_set(err, HF_INVALID, "%s %s", name, what);
}

hf_status hf_member_text(hf_value object, const char *name, hf_slice *out_text, hf_err *err)
{
    hf_value value = hf_value_find(object, hf_slice_of(name));

    if (!value)
        return HF_OK;
    if (hf_value_kind_of(value) != HF_VALUE_STRING ||
        memchr(hf_value_slice(value).ptr, '\0', hf_value_slice(value).len))
        return hf_member_bad(err, name, "is no text");
    *out_text = hf_value_slice(value);
    return HF_OK;
}

hf_status hf_member_int(hf_value object, const char *name, int64_t *out_number, hf_err *err)
{
    hf_value value = hf_value_find(object, hf_slice_of(name));

    if (!value)
        return HF_OK;
    if (hf_value_kind_of(value) != HF_VALUE_INT)
        return hf_member_bad(err, name, "is no whole number");
    *out_number = hf_int(value, "", 0);
    return *out_number < -1 ? hf_member_bad(err, name, "is below -1") : HF_OK;
}

hf_status hf_member_payload(hf_mem *mem, hf_value object, const char *name,
                            hf_decision_payload *out_payload, hf_err *err)
{
    hf_value value = hf_value_find(object, hf_slice_of(name));
    hf_buf text = {0};
    char *kept;

    if (!value)
        return HF_OK;
    hf_json_write(&text, value);
    kept = hf_buf_ok(&text) ? hf_mem_text(mem, hf_buf_slice(&text)) : NULL;
    *out_payload = (hf_decision_payload){.codec = HF_PAYLOAD_CODEC_JSON,
                                         .bytes = hf_slice_from(kept, kept ? text.len : 0)};
    hf_buf_fini(&text);
    return kept ? HF_OK : hf_err_nomem(err, "a decision");
}
