/* bundle_read.c: see bundle_read.h. */
#include "project/bundle_read.h"

#include <string.h>

#include "base/avro.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/json.h"
#include "base/value.h"
#include "project/bundle.h"

/* A bundle while its events are read. */
typedef struct reader {
    hf_mem *mem;
    hf_bundle_event e; /* the one at hand; lists may say something of others as well */
    size_t own_at;
    size_t avro_at;
    hf_event_builder *builder;
} reader;

/* One event while it is read. */
typedef struct entry {
    int64_t seq;
    hf_event_type type;
    hf_value payload;
} entry;

static hf_status bad(hf_err *err, const entry *e, hf_event_key key, const char *what)
{
    return hf_err_set(err, HF_INVALID, "event %lld (%s): %s %s", (long long)e->seq,
                      hf_event_type_text(e->type), hf_event_key_text(key), what);
}

/* ---- payloads */

/* The first item of a list of [sequence, key, ...] that is of the event and the key. Lists are
   ordered by event, so *io_at only grows. */
static hf_value listed(hf_value list, size_t *io_at, int64_t seq, hf_event_key key)
{
    while (hf_at(list, *io_at) && hf_int(hf_at(list, *io_at), "0", INT64_MAX) < seq)
        ++*io_at;
    for (size_t i = *io_at; hf_at(list, i) && hf_int(hf_at(list, i), "0", 0) == seq; i++)
        if (strcmp(hf_str(hf_at(list, i), "1", ""), hf_event_key_text(key)) == 0)
            return hf_at(list, i);
    return NULL;
}

static hf_status json_payload(reader *r, hf_value value, hf_payload_value *out_payload, hf_err *err)
{
    hf_buf text = {0};
    char *kept;

    hf_json_write(&text, value);
    kept = hf_buf_ok(&text) ? hf_mem_text(r->mem, hf_buf_slice(&text)) : NULL;
    if (kept)
        *out_payload = hf_payload_inline(HF_PAYLOAD_CODEC_JSON, hf_slice_from(kept, text.len));
    hf_buf_fini(&text);
    return kept ? HF_OK : hf_err_nomem(err, "a payload");
}

/* What our own program stored as JSON becomes JSON again. */
static hf_status blob_payload(reader *r, const entry *e, hf_event_key key, hf_slice blob,
                              hf_slice codec, hf_payload_value *out_payload, hf_err *err)
{
    bool json = r->e.ours && !listed(r->e.avro, &r->avro_at, e->seq, key);
    hf_buf bytes = {0};
    hf_value value = NULL;
    char *kept = NULL;
    hf_status st;

    if (!hf_slice_equal(codec, HF_SLICE("avro")))
        return bad(err, e, key, "has a codec that is not known here");
    st = hf_base64_decode(&bytes, blob, err);
    if (!st)
        st = hf_avro_decode(r->mem, hf_buf_slice(&bytes), NULL, &value, err);
    if (!st && json) {
        st = json_payload(r, value, out_payload, err);
    } else if (!st) {
        kept = hf_mem_text(r->mem, hf_buf_slice(&bytes));
        if (kept)
            *out_payload = hf_payload_inline(HF_PAYLOAD_CODEC_AVRO, hf_slice_from(kept, bytes.len));
        else
            st = hf_err_nomem(err, "a payload");
    }
    hf_buf_fini(&bytes);
    return hf_err_because(err, st, "event %lld, %s", (long long)e->seq, hf_event_key_text(key));
}

static hf_status payload_read(reader *r, const entry *e, hf_event_key key, hf_value value,
                              hf_payload_value *out_payload, hf_err *err)
{
    bool envelope = hf_value_kind_of(value) == HF_VALUE_OBJECT && hf_str(value, "blob", NULL) &&
                    hf_str(value, "codec", NULL);
    bool said = key != HF_KEY_ARGUMENTS || e->type != HF_EVENT_WORKFLOW_STARTED;
    hf_slice codec = r->e.codec;

    if (key == HF_KEY_EXCEPTION && hf_value_find(value, HF_SLICE("details"))) {
        value = hf_value_find(value, HF_SLICE("details"));
        envelope = hf_str(value, "blob", NULL) && hf_str(value, "codec", NULL);
    }
    if (envelope)
        return blob_payload(r, e, key, hf_value_slice(hf_value_find(value, HF_SLICE("blob"))),
                            hf_value_slice(hf_value_find(value, HF_SLICE("codec"))), out_payload,
                            err);
    if (hf_value_kind_of(value) != HF_VALUE_STRING)
        return json_payload(r, value, out_payload, err);
    if (said && hf_str(e->payload, "payload_codec", NULL))
        codec = hf_value_slice(hf_value_find(e->payload, HF_SLICE("payload_codec")));
    return blob_payload(r, e, key, hf_value_slice(value), codec, out_payload, err);
}

/* ---- fields */

static hf_status json_put(reader *r, hf_event_key key, hf_value value, hf_err *err)
{
    hf_buf text = {0};
    hf_status st = HF_OK;

    hf_json_write_canonical(&text, value);
    if (hf_buf_ok(&text))
        hf_event_put_json(r->builder, key, hf_buf_slice(&text));
    else
        st = hf_err_nomem(err, "a field");
    hf_buf_fini(&text);
    return st;
}

static hf_status field_put(reader *r, const entry *e, hf_event_key key, hf_value value, hf_err *err)
{
    hf_value_kind kind = hf_value_kind_of(value);
    hf_payload_value payload = {0};
    int64_t time_us = 0;
    hf_ulid id;
    hf_status st;

    switch (hf_event_key_kind(key)) {
    case HF_VALUE_KIND_TEXT:
        if (kind != HF_VALUE_STRING)
            return bad(err, e, key, "is no text");
        hf_event_put_text(r->builder, key, hf_value_slice(value));
        return HF_OK;
    case HF_VALUE_KIND_INT:
        if (kind != HF_VALUE_INT)
            return bad(err, e, key, "is no whole number");
        hf_event_put_int(r->builder, key, hf_int(value, "", 0));
        return HF_OK;
    case HF_VALUE_KIND_BOOL:
        if (kind != HF_VALUE_BOOL)
            return bad(err, e, key, "is neither true nor false");
        hf_event_put_bool(r->builder, key, hf_bool(value, "", false));
        return HF_OK;
    case HF_VALUE_KIND_TIME:
        if (kind != HF_VALUE_STRING || !hf_clock_parse(hf_value_slice(value), &time_us))
            return bad(err, e, key, "is no time");
        hf_event_put_time(r->builder, key, time_us);
        return HF_OK;
    case HF_VALUE_KIND_ID:
        if (kind != HF_VALUE_STRING || !hf_ulid_parse(hf_value_slice(value), &id))
            return bad(err, e, key, "is no id");
        hf_event_put_id(r->builder, key, id);
        return HF_OK;
    case HF_VALUE_KIND_JSON:
        return json_put(r, key, value, err);
    case HF_VALUE_KIND_PAYLOAD:
        st = payload_read(r, e, key, value, &payload, err);
        if (!st)
            hf_event_put_payload(r->builder, key, payload);
        return st;
    }
    return HF_OK;
}

/* Keys that are made up whenever an event is shown, and never stored. */
static bool key_is_composed(hf_event_key key)
{
    return key == HF_KEY_SEQUENCE || key == HF_KEY_PAYLOAD_CODEC || key == HF_KEY_ACTIVITY ||
           key == HF_KEY_ACTIVITY_ATTEMPT || key == HF_KEY_WORKFLOW_CLASS ||
           key == HF_KEY_ACTIVITY_CLASS || key == HF_KEY_CHILD_WORKFLOW_CLASS ||
           (key >= HF_KEY_DECLARED_QUERIES && key <= HF_KEY_DECLARED_ENTRY_DECLARING_CLASS);
}

static bool key_is_stored(const reader *r, hf_event_key key)
{
    if (!r->e.keys)
        return !key_is_composed(key);
    for (size_t i = 0; i < hf_len(r->e.keys); i++)
        if (hf_int(hf_at(r->e.keys, i), "", 0) == (int64_t)key)
            return true;
    return false;
}

/* Where the bundle has the value of a key; NULL: nowhere. */
static hf_value value_find(reader *r, const entry *e, hf_event_key key)
{
    hf_value item = r->e.ours ? listed(r->e.own, &r->own_at, e->seq, key) : NULL;
    hf_slice name = hf_slice_of(hf_event_key_text(key));

    if (item)
        return hf_at(item, 2);
    if (e->type == HF_EVENT_WORKFLOW_STARTED && key == HF_KEY_ARGUMENTS)
        return r->e.input;
    if (e->type == HF_EVENT_ACTIVITY_SCHEDULED &&
        (key == HF_KEY_ARGUMENTS || key == HF_KEY_RETRY_POLICY))
        return hf_value_find(hf_value_find(e->payload, HF_SLICE("activity")), name);
    return hf_event_key_published(e->type, key) ? hf_value_find(e->payload, name) : NULL;
}

static hf_status fields_read(reader *r, const entry *e, hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < hf_event_key_list.count; i++) {
        hf_event_key key = (hf_event_key)hf_event_key_list.items[i].number;
        hf_value value;

        if (!hf_event_key_allowed(e->type, key) || !key_is_stored(r, key))
            continue;
        value = value_find(r, e, key);
        if (value && hf_value_kind_of(value) != HF_VALUE_NULL)
            st = field_put(r, e, key, value, err);
    }
    return st;
}

/* ---- events */

static hf_status event_read(reader *r, int64_t *io_time_us, hf_err *err)
{
    hf_value event = r->e.event;
    int64_t seq = r->e.seq;
    entry e = {.seq = seq, .payload = hf_value_find(event, HF_SLICE("payload"))};
    const char *type = hf_str(event, "type", hf_str(event, "event_type", NULL));
    int64_t step = hf_int(e.payload, "sequence", 0);
    int64_t time_us = 0;

    if (hf_value_kind_of(event) != HF_VALUE_OBJECT || !type)
        return hf_err_set(err, HF_INVALID, "event %lld has no type", (long long)seq);
    if (hf_int(event, "sequence", 0) != seq)
        return hf_err_set(err, HF_INVALID,
                          "event %lld stands in the place of %lld: the history has a gap",
                          (long long)hf_int(event, "sequence", 0), (long long)seq);
    if (!hf_event_type_parse(hf_slice_of(type), &e.type))
        return hf_err_set(err, HF_NEWER,
                          "event %lld has the type %s, which this program does not know",
                          (long long)seq, type);
    if (hf_value_kind_of(e.payload) != HF_VALUE_OBJECT)
        return hf_err_set(err, HF_INVALID, "event %lld (%s) has no payload", (long long)seq, type);
    if (!hf_clock_parse(hf_slice_of(hf_str(event, "recorded_at", "")), &time_us) ||
        time_us < *io_time_us)
        return hf_err_set(err, HF_INVALID,
                          "event %lld (%s) has no time, or one before that of the event before",
                          (long long)seq, type);
    if (step < 0)
        return hf_err_set(err, HF_INVALID, "event %lld (%s) is of step %lld", (long long)seq, type,
                          (long long)step);
    *io_time_us = time_us;
    hf_event_begin(r->builder, e.type, time_us, step);
    return fields_read(r, &e, err);
}

static hf_status events_read(reader *r, hf_value list, hf_value stored, hf_bundle_history *history,
                             hf_err *err)
{
    int64_t time_us = 0;
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < hf_len(list); i++) {
        r->e.event = hf_at(list, i);
        r->e.seq = (int64_t)i + 1;
        r->e.keys = stored ? hf_at(stored, i) : NULL;
        st = event_read(r, &time_us, err);
    }
    if (!st)
        st = hf_event_builder_done(r->builder, &history->events, &history->count, err);
    for (size_t i = 0; !st && i < history->count; i++)
        st = hf_err_because(err, hf_event_check(&history->events[i], err), "event %zu", i + 1);
    return st;
}

/* Each number begins a unit; they grow from 1. */
static hf_status units_read(reader *r, hf_value list, hf_bundle_history *history, hf_err *err)
{
    size_t at = 0;

    history->units = hf_mem_array(r->builder->mem, history->count + 1, sizeof(*history->units));
    if (!history->units)
        return hf_err_nomem(err, "a history");
    for (size_t i = 0; i < history->count; i++) {
        int64_t seq = (int64_t)i + 1;
        bool begins = hf_int(hf_at(list, at), "", 0) == seq;

        if (i == 0 && !begins)
            return hf_err_set(err, HF_INVALID, "the bundle's units do not begin at event 1");
        at += begins;
        history->units[i] = begins ? seq : history->units[i - 1];
    }
    return at == hf_len(list)
               ? HF_OK
               : hf_err_set(err, HF_INVALID, "the bundle's units do not fit its events");
}

/* ---- the whole */

static hf_status schema_check(hf_value bundle, hf_err *err)
{
    const char *schema = hf_str(bundle, "schema", NULL);
    int64_t version = hf_int(bundle, "schema_version", 0);
    int64_t format = hf_int(bundle, "holdfast.format", 0);

    if (!schema)
        return hf_err_set(err, HF_INVALID, "this is no history bundle: it names no schema");
    if (strcmp(schema, HF_BUNDLE_SCHEMA) != 0) {
        bool later = hf_slice_starts(hf_slice_of(schema), HF_SLICE("durable-workflow.v")) &&
                     strstr(schema, ".history-export");

        return hf_err_set(err, later ? HF_NEWER : HF_INVALID,
                          "the schema is %.80s, this program reads %s", schema, HF_BUNDLE_SCHEMA);
    }
    if (version != HF_BUNDLE_VERSION)
        return hf_err_set(err, version > HF_BUNDLE_VERSION ? HF_NEWER : HF_INVALID,
                          "the schema version is %lld, this program reads %d", (long long)version,
                          HF_BUNDLE_VERSION);
    if (format > HF_BUNDLE_FORMAT)
        return hf_err_set(err, HF_NEWER,
                          "the bundle was written by a newer program, in format %lld",
                          (long long)format);
    return HF_OK;
}

static hf_status sections_check(hf_value bundle, hf_err *err)
{
    static const struct {
        const char *name;
        hf_value_kind kind;
    } needed[] = {{"exported_at", HF_VALUE_STRING},    {"dedupe_key", HF_VALUE_STRING},
                  {"history_complete", HF_VALUE_BOOL}, {"workflow", HF_VALUE_OBJECT},
                  {"payloads", HF_VALUE_OBJECT},       {"history_events", HF_VALUE_ARRAY},
                  {"integrity", HF_VALUE_OBJECT}};

    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        hf_value found = hf_value_find(bundle, hf_slice_of(needed[i].name));

        if (!found)
            return hf_err_set(err, HF_INVALID, "the bundle has no section %s", needed[i].name);
        if (hf_value_kind_of(found) != needed[i].kind)
            return hf_err_set(err, HF_INVALID, "the section %s is of the wrong kind",
                              needed[i].name);
    }
    if (!hf_str(bundle, "workflow.workflow_type", NULL) ||
        !hf_str(bundle, "workflow.instance_id", NULL) || !hf_str(bundle, "workflow.run_id", NULL))
        return hf_err_set(err, HF_INVALID,
                          "the section workflow does not say which run of what it is");
    return HF_OK;
}

/* The part of a run id that says which run it is. */
static int64_t run_key_of(hf_slice run_id)
{
    hf_ulid id;

    return hf_ulid_parse(run_id, &id) ? hf_ulid_key(&id) : 0;
}

static hf_status bundle_read(reader *r, hf_value bundle, hf_bundle_history *history, hf_err *err)
{
    hf_value events = hf_value_find(bundle, HF_SLICE("history_events"));
    hf_value stored = hf_get(bundle, "holdfast.stored");
    hf_value units = hf_get(bundle, "holdfast.units");
    hf_status st;

    r->e.codec = hf_slice_of(hf_str(bundle, "payloads.codec", "avro"));
    r->e.input = hf_get(bundle, "payloads.arguments.data");
    if (stored && hf_len(stored) != hf_len(events))
        return hf_err_set(err, HF_INVALID, "the bundle describes %zu events and has %zu",
                          hf_len(stored), hf_len(events));
    stored = hf_value_kind_of(stored) == HF_VALUE_ARRAY ? stored : NULL;
    r->e.ours = stored != NULL;
    r->e.own = hf_get(bundle, "holdfast.own");
    r->e.avro = hf_get(bundle, "holdfast.avro");
    history->instance_id = hf_slice_of(hf_str(bundle, "workflow.instance_id", ""));
    history->run_id = hf_slice_of(hf_str(bundle, "workflow.run_id", ""));
    history->workflow_type = hf_slice_of(hf_str(bundle, "workflow.workflow_type", ""));
    history->run_key = run_key_of(history->run_id);
    history->complete = hf_bool(bundle, "history_complete", false);
    st = events_read(r, events, stored, history, err);
    if (!st && !history->count)
        st = hf_err_set(err, HF_INVALID, "the bundle has no events");
    if (!st && hf_value_kind_of(units) == HF_VALUE_ARRAY)
        st = units_read(r, units, history, err);
    return st;
}

hf_status hf_bundle_event_read(hf_event_builder *builder, const hf_bundle_event *event,
                               int64_t *io_time_us, hf_err *err)
{
    reader r = {.mem = builder->mem, .e = *event, .builder = builder};

    return event_read(&r, io_time_us, err);
}

hf_status hf_bundle_open(hf_mem *mem, hf_slice text, hf_value *out_bundle, hf_err *err)
{
    const hf_json_limits limits = {.bytes_max = HF_BUNDLE_BYTES_MAX};
    hf_value bundle = NULL;
    hf_status st;

    *out_bundle = NULL;
    if (text.len > HF_BUNDLE_BYTES_MAX)
        return hf_err_set(err, HF_TOOBIG, "the bundle has %zu bytes, at most %d are read", text.len,
                          HF_BUNDLE_BYTES_MAX);
    st = hf_json_read(mem, text, &limits, &bundle, err);
    if (!st && hf_value_kind_of(bundle) != HF_VALUE_OBJECT)
        st = hf_err_set(err, HF_INVALID, "this is no history bundle: it is no object");
    if (!st)
        st = schema_check(bundle, err);
    if (!st)
        st = sections_check(bundle, err);
    if (!st)
        st = hf_bundle_check(bundle, (hf_slice){0}, err);
    if (!st)
        *out_bundle = bundle;
    return st;
}

hf_status hf_bundle_history_of(hf_mem *keep, hf_value bundle, hf_bundle_history *out_history,
                               hf_err *err)
{
    hf_event_builder builder;
    hf_mem *work = hf_mem_new();
    reader r = {.mem = work, .builder = &builder};
    hf_status st;

    hf_event_builder_init(&builder, keep);
    *out_history = (hf_bundle_history){0};
    st = work ? bundle_read(&r, bundle, out_history, err) : hf_err_nomem(err, "a bundle");
    hf_mem_free(work);
    return st;
}

hf_status hf_bundle_read(hf_mem *mem, hf_slice text, hf_bundle_history *out_history, hf_err *err)
{
    hf_value bundle = NULL;
    hf_status st = hf_bundle_open(mem, text, &bundle, err);

    *out_history = (hf_bundle_history){0};
    if (!st)
        st = hf_bundle_history_of(mem, bundle, out_history, err);
    return hf_err_because(err, st, "read a history bundle");
}
