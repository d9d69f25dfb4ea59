/* task_events.c: the history of a run as it is stored and the messages of its instance, for
   programs of ours in other processes. It reads what is committed and nothing else; big values
   travel beside their events. */
#include "base/base64.h"
#include "base/buf.h"
#include "base/value.h"
#include "engine/call.h"
#include "engine/stream.h"
#include "holdfast/worker.h"
#include "model/event_codec.h"
#include "model/name.h"
#include "project/dossier.h"

enum { INLINE_BYTES = 1024, CHUNK_EVENTS = 32 };

/* A value that would make its chunk too long travels beside it, under its digest. */
static hf_status payload_move(hf_call *c, hf_mem *mem, hf_value_list *payloads,
                              hf_payload_value *payload, hf_err *err)
{
    char name[2 * HF_SHA256_BYTES + 1];
    hf_slice bytes = payload->bytes;
    hf_buf text = {0};
    hf_status st;

    if (payload->form != HF_PAYLOAD_FORM_INLINE || bytes.len <= INLINE_BYTES)
        return HF_OK;
    st = hf_payload_detach(c->slot->stager.sha, mem, HF_PAYLOAD_FORM_REFERENCE, payload, err);
    if (st)
        return st;
    hf_hex_print(hf_slice_from(payload->digest, HF_SHA256_BYTES), name);
    hf_base64_encode(&text, bytes);
    if (hf_buf_ok(&text)) {
        hf_value_list *pair = hf_value_array(mem); /* it may be longer than a format makes */

        hf_value_append(pair, hf_value_string(mem, hf_slice_of(name)));
        hf_value_append(pair, hf_value_string(mem, hf_buf_slice(&text)));
        hf_value_append(payloads, hf_value_finish(pair));
    } else
        st = hf_err_nomem(err, "a payload");
    hf_buf_fini(&text);
    return st;
}

static hf_status payloads_move(hf_call *c, hf_mem *mem, hf_value_list *payloads, hf_event *event,
                               hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < event->count; i++)
        if (hf_event_key_kind(event->fields[i].key) == HF_VALUE_KIND_PAYLOAD)
            st = payload_move(c, mem, payloads, &event->fields[i].payload, err);
    return st;
}

static hf_status chunk_add(hf_mem *mem, hf_value_list *list, const hf_event *events, size_t count,
                           hf_err *err)
{
    hf_buf body = {0};
    hf_buf text = {0};
    hf_status st = hf_event_chunk_encode(events, count, &body, err);

    if (!st)
        hf_base64_encode(&text, hf_buf_slice(&body));
    if (!st && !hf_buf_ok(&text))
        st = hf_err_nomem(err, "a history");
    if (!st)
        hf_value_append(list, hf_value_string(mem, hf_buf_slice(&text)));
    hf_buf_fini(&body);
    hf_buf_fini(&text);
    return st;
}

/* Stored chunks fit into their bound, and so do parts of them; of several none might. */
static hf_status chunks_make(hf_call *c, hf_mem *mem, hf_event *events, size_t count, int64_t after,
                             hf_value *out, hf_err *err)
{
    hf_value_list *chunks = hf_value_array(mem);
    hf_value_list *payloads = hf_value_array(mem);
    hf_status st = HF_OK;
    hf_value made[2];

    for (size_t i = 0; !st && i < count; i++)
        st = payloads_move(c, mem, payloads, &events[i], err);
    for (size_t done = 0, part; !st && done < count; done += part) {
        part = count - done < CHUNK_EVENTS ? count - done : CHUNK_EVENTS;
        st = chunk_add(mem, chunks, events + done, part, err);
        if (st == HF_TOOBIG && part > 1) {
            part = 1;
            st = chunk_add(mem, chunks, events + done, part, err);
        }
    }
    made[0] = hf_value_finish(chunks);
    made[1] = hf_value_finish(payloads);
    if (st)
        return st;
    if (!made[0] || !made[1])
        return hf_err_nomem(err, "a history");
    *out = hf_json_(mem, "{'after': %lld, 'chunks': %p, 'payloads': %p, 'last_sequence': %lld}",
                    (long long)after, (const void *)made[0], (const void *)made[1],
                    (long long)(after + (int64_t)count));
    return *out ? HF_OK : hf_err_nomem(err, "a history");
}

hf_status hf_task_events(hf_engine *engine, const char *id, const char *run_id, int64_t after,
                         int64_t upto, hf_mem *mem, hf_value *out)
{
    hf_intake_target target;
    hf_event *events = NULL;
    size_t count = 0;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!id || after < 0 || !mem || !out)
        return hf_err_set(&c.slot->err, HF_MISUSE, "an id, memory and a place are needed");
    *out = NULL;
    st = hf_call_view_begin(&c, hf_slice_of(id), hf_slice_of(run_id), &target, &c.slot->err);
    if (st)
        return st;
    if (upto > after)
        st = hf_dossier_events(c.in.db, mem, target.base.run, after, upto, &events, &count,
                               &c.slot->err);
    hf_call_view_end(&c);
    return st ? st : chunks_make(&c, mem, events, count, after, out, &c.slot->err);
}

hf_status hf_task_messages(hf_engine *engine, const char *id, const char *stream, int64_t after,
                           int64_t max, hf_mem *mem, hf_value *out)
{
    hf_intake_target target;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!id || !stream || !mem || !out)
        return hf_err_set(&c.slot->err, HF_MISUSE,
                          "an id, a stream, memory and a place are needed");
    *out = NULL;
    if (after < 0 || max < 0)
        return hf_err_set(&c.slot->err, HF_INVALID, "after and max must not be negative");
    st = hf_name_check(HF_NAME_STREAM_KEY, hf_slice_of(stream), &c.slot->err);
    if (!st)
        st = hf_call_view_begin(&c, hf_slice_of(id), (hf_slice){0}, &target, &c.slot->err);
    if (st)
        return st;
    st = hf_stream_messages(c.in.db, target.instance.key, mem, hf_slice_of(stream), after,
                            (size_t)max, out, &c.slot->err);
    hf_call_view_end(&c);
    return st;
}
