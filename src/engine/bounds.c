/* bounds.c: see bounds.h. */
#include "engine/bounds.h"

#include <string.h>

#include "base/json.h"
#include "base/options.h"
#include "base/utf8.h"
#include "base/value.h"
#include "model/limit.h"

enum { MESSAGE_MAX = 280, UNIT_MAX = 64, DETAILS_MAX = 20, KEY_MAX = 64, DETAIL_MAX = 191 };

/* Characters of a text; -1 when it is not UTF-8. */
static long text_length(hf_slice text)
{
    long count = 0;

    for (size_t at = 0; at < text.len; count++) {
        size_t size = hf_utf8_size(text.ptr + at, text.len - at);

        if (size == 0)
            return -1;
        at += size;
    }
    return count;
}

static hf_status text_check(const char *what, hf_slice text, long most, hf_err *err)
{
    long length = text_length(text);

    if (length < 0)
        return hf_err_set(err, HF_INVALID, "progress: the %s is not UTF-8", what);
    if (length > most)
        return hf_err_set(err, HF_INVALID, "progress: the %s has %ld characters; %ld are allowed",
                          what, length, most);
    return HF_OK;
}

static bool key_valid(hf_slice key)
{
    for (size_t i = 0; i < key.len; i++) {
        char c = key.ptr[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              (c && strchr("_.:-", c))))
            return false;
    }
    return key.len >= 1 && key.len <= KEY_MAX;
}

static hf_status details_check(hf_value details, hf_err *err)
{
    hf_slice key;
    hf_value item;

    if (!details)
        return HF_OK;
    if (hf_value_kind_of(details) != HF_VALUE_OBJECT)
        return hf_err_set(err, HF_INVALID, "progress: details must be an object");
    if (hf_len(details) > DETAILS_MAX)
        return hf_err_set(err, HF_INVALID, "progress: %zu details; %d are allowed", hf_len(details),
                          DETAILS_MAX);
    for (size_t i = 0; hf_value_member(details, i, &key, &item); i++) {
        hf_value_kind kind = hf_value_kind_of(item);
        hf_status st;

        if (!key_valid(key))
            return hf_err_set(err, HF_INVALID,
                              "progress: a detail's key must be [A-Za-z0-9_.:-]{1,64}");
        if (kind == HF_VALUE_ARRAY || kind == HF_VALUE_OBJECT || kind == HF_VALUE_BYTES)
            return hf_err_set(err, HF_INVALID, "progress: the detail %.*s is not flat",
                              (int)key.len, key.ptr);
        st = kind == HF_VALUE_STRING ? text_check("detail", hf_value_slice(item), DETAIL_MAX, err)
                                     : HF_OK;
        if (st)
            return st;
    }
    return HF_OK;
}

static hf_status progress_check(const hf_progress *progress, hf_err *err)
{
    hf_status st = HF_OK;

    if (progress->current < 0 || progress->total < 0)
        return hf_err_set(err, HF_INVALID, "progress: current and total must not be negative");
    if (progress->message)
        st = text_check("message", hf_slice_of(progress->message), MESSAGE_MAX, err);
    if (!st && progress->unit)
        st = text_check("unit", hf_slice_of(progress->unit), UNIT_MAX, err);
    return st ? st : details_check(progress->details, err);
}

static void text_add(hf_buf *json, const char *key, const char *text)
{
    if (!text)
        return;
    hf_buf_add_format(json, "%s\"%s\":\"", json->len ? "," : "{", key);
    hf_json_add_escaped(json, hf_slice_of(text));
    hf_buf_add_text(json, "\"");
}

hf_status hf_bounds_progress(const hf_progress *given, hf_buf *out_json, hf_err *err)
{
    hf_progress known = {0};
    const hf_progress *progress = &known;
    hf_status st = hf_options_take(&known, sizeof(known), given, err);

    if (!st)
        st = progress_check(progress, err);
    if (st)
        return st;
    if (progress->current || progress->total)
        hf_buf_add_format(out_json, "{\"current\":%lld", (long long)progress->current);
    if (progress->total)
        hf_buf_add_format(out_json, ",\"total\":%lld", (long long)progress->total);
    text_add(out_json, "unit", progress->unit);
    text_add(out_json, "message", progress->message);
    if (progress->details) {
        hf_buf_add_text(out_json, out_json->len ? ",\"details\":" : "{\"details\":");
        hf_json_write(out_json, progress->details);
    }
    if (out_json->len)
        hf_buf_add_text(out_json, "}");
    return hf_buf_ok(out_json) ? HF_OK : hf_err_nomem(err, "progress");
}

bool hf_bounds_payload(hf_mem *mem, int64_t most, int64_t bytes, hf_decision_failure *out_failure)
{
    const char *name = hf_limit_text(HF_LIMIT_PAYLOAD_SIZE_BYTES);
    const char *message;
    char *details;

    if (!hf_limit_trips(HF_LIMIT_PAYLOAD_SIZE_BYTES, most, bytes))
        return false;
    message = hf_mem_format(mem, "%s is limited to %lld, this value has %lld", name,
                            (long long)most, (long long)bytes);
    details = hf_mem_format(mem,
                            "{\"structural_limit_kind\":\"%s\",\"structural_limit_value\":%lld,"
                            "\"structural_limit_configured\":%lld}",
                            name, (long long)bytes, (long long)most);
    *out_failure = (hf_decision_failure){
        .category = HF_FAILURE_CATEGORY_STRUCTURAL_LIMIT,
        .type = HF_SLICE("structural_limit"),
        .message = message ? hf_slice_of(message) : HF_SLICE("payload_size_bytes"),
        .details = {.codec = HF_PAYLOAD_CODEC_JSON, .bytes = hf_slice_of(details)}};
    return true;
}

bool hf_bounds_broken(hf_mem *mem, int64_t most, hf_value value, hf_decision_failure *out_failure)
{
    int64_t bytes = 0;

    if (!hf_value_broken(value, &bytes))
        return false;
    if (bytes && hf_bounds_payload(mem, most, bytes, out_failure))
        return true;
    *out_failure = (hf_decision_failure){
        .category = HF_FAILURE_CATEGORY_TASK_FAILURE,
        .type = HF_SLICE("invalid_value"),
        .message = bytes
                       ? HF_SLICE("a value is longer than any may be")
                       : HF_SLICE("a value is no JSON: its text, its UTF-8 or a number is broken")};
    return true;
}
