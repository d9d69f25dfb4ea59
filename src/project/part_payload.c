/* part_payload.c: a piece of the JSON text of one payload of an event, for values that are bigger
   than what pages show at once: see part.h. */
#include "base/buf.h"
#include "base/json.h"
#include "project/edge.h"
#include "project/part_impl.h"

/* No character is cut in half. */
static size_t whole_until(hf_slice text, size_t at)
{
    while (at > 0 && at < text.len && ((uint8_t)text.ptr[at] & 0xC0) == 0x80)
        at--;
    return at;
}

static hf_status piece_make(const hf_detail_view *v, const hf_part_query *q,
                            const hf_payload_value *payload, hf_value *out_part, hf_err *err)
{
    bool erased = payload->form == HF_PAYLOAD_FORM_ERASED;
    hf_value value = NULL;
    hf_value text = hf_value_null();
    hf_buf json = {0};
    size_t from = 0;
    size_t to = 0;
    hf_status st = erased ? HF_OK : hf_edge_plain(v->mem, payload, &value, err);
    hf_sheet sh;

    if (st)
        return st;
    if (!erased) {
        hf_json_write(&json, value);
        from = q->from < (int64_t)json.len ? (size_t)q->from : json.len;
        from = whole_until(hf_buf_slice(&json), from);
        to = json.len - from > (size_t)q->size ? from + (size_t)q->size : json.len;
        to = whole_until(hf_buf_slice(&json), to);
        if (to <= from && to < json.len) /* a character that is bigger than the piece */
            to = json.len - from < 4 ? json.len : whole_until(hf_buf_slice(&json), from + 4);
        text = hf_value_string(v->mem, hf_slice_from(hf_buf_text(&json) + from, to - from));
    }
    sh = hf_sheet_begin(&v->section, err);
    hf_sheet_run(&sh, "run_id", &v->dossier.run);
    hf_sheet_int(&sh, "event", q->event);
    hf_sheet_text(&sh, "key", q->key);
    hf_sheet_text(&sh, "codec",
                  payload->codec == HF_PAYLOAD_CODEC_AVRO ? HF_SLICE("avro") : HF_SLICE("json"));
    hf_sheet_int(&sh, "bytes", (int64_t)payload->size);
    hf_sheet_int(&sh, "size", (int64_t)json.len);
    hf_sheet_int(&sh, "from", (int64_t)from);
    hf_sheet_int(&sh, "to", (int64_t)to);
    hf_sheet_put(&sh, "text", text);
    st = hf_buf_ok(&json) ? hf_sheet_end(&sh, out_part) : hf_err_nomem(err, "a payload");
    hf_buf_fini(&json);
    return st;
}

hf_status hf_part_payload(hf_detail_view *v, const hf_part_query *query, hf_value *out_part,
                          hf_err *err)
{
    hf_payload_value payload;
    hf_event event;
    hf_status st;

    if (query->event < 1 || query->event > (int64_t)v->dossier.event_count)
        return hf_err_set(err, HF_NOTFOUND, "the run has no event %lld", (long long)query->event);
    st = hf_detail_event(v, v->mem, query->event, &event, err);
    for (size_t i = 0; !st && i < event.count; i++)
        if (hf_event_key_kind(event.fields[i].key) == HF_VALUE_KIND_PAYLOAD &&
            hf_slice_equal(hf_slice_of(hf_event_key_text(event.fields[i].key)), query->key)) {
            payload = event.fields[i].payload;
            return piece_make(v, query, &payload, out_part, err);
        }
    return st ? st
              : hf_err_set(err, HF_NOTFOUND, "event %lld has no payload %.*s",
                           (long long)query->event, query->key.len > 64 ? 64 : (int)query->key.len,
                           query->key.ptr ? query->key.ptr : "");
}
