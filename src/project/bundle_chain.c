/* bundle_chain.c: see bundle_chain.h. Events, their stored keys and what our own section says of
   them are lists in the same order, walked side by side. */
#include "project/bundle_chain.h"

#include <string.h>

#include "model/event_codec.h"
#include "project/bundle.h"
#include "project/bundle_read.h"

enum { SMALL_MAX = 64 * 1024, UNIT_EVENTS_MAX = 8192, UNIT_BYTES_MAX = 64 << 20 };

/* A list of [sequence, key, ...], ordered by sequence; one item is looked at in advance. */
typedef struct notes {
    hf_bundle_list *list;
    hf_mem *mem; /* of the item */
    hf_value item;
} notes;

/* A chain in the making. */
typedef struct chain {
    const hf_bundle_file *file;
    hf_mem *mem;  /* of the unit at hand */
    hf_mem *kept; /* for all the time */
    hf_bundle_list *events;
    hf_bundle_list *stored;
    hf_bundle_list *units;
    notes own;
    notes avro;
    hf_event_builder builder;
    hf_sha256 *sha;
    hf_event_chunk_place place;
    uint8_t head[HF_SHA256_BYTES];
    hf_bundle_event event;
    int64_t time_us;
    int64_t unit; /* where the next one begins; 0: there is none */
} chain;

static hf_status notes_next(notes *n, hf_err *err)
{
    hf_mem_reset(n->mem);
    n->item = NULL;
    return n->list ? hf_bundle_list_next(n->list, n->mem, &n->item, err) : HF_OK;
}

static hf_status notes_open(chain *c, notes *n, const char *path, hf_err *err)
{
    hf_status st;

    n->mem = hf_mem_new();
    if (!n->mem)
        return hf_err_nomem(err, "a bundle");
    st = hf_bundle_list_open(c->file, hf_slice_of(path), &n->list, err);
    return st ? st : notes_next(n, err);
}

static void notes_close(notes *n)
{
    hf_bundle_list_close(n->list);
    if (n->mem)
        hf_mem_free(n->mem);
}

/* Those of one event, in the arena of its unit. */
static hf_status notes_take(chain *c, notes *n, int64_t seq, hf_value *out_list, hf_err *err)
{
    hf_value_list *list = hf_value_array(c->mem);
    hf_status st = HF_OK;

    while (!st && n->item && hf_int(n->item, "0", INT64_MAX) <= seq) {
        if (hf_int(n->item, "0", 0) == seq)
            hf_value_append(list, hf_value_copy(c->mem, n->item));
        st = notes_next(n, err);
    }
    *out_list = hf_value_finish(list);
    return st ? st : *out_list ? HF_OK : hf_err_nomem(err, "a bundle");
}

static hf_status unit_next(chain *c, hf_err *err)
{
    hf_value unit = NULL;
    hf_status st = hf_bundle_list_next(c->units, c->mem, &unit, err);

    c->unit = unit ? hf_int(unit, "", -1) : 0;
    return st;
}

/* The events since the last one, hashed. */
static hf_status unit_end(chain *c, hf_err *err)
{
    hf_event *events = NULL;
    size_t count = 0;
    hf_status st = hf_event_builder_done(&c->builder, &events, &count, err);

    for (size_t i = 0; !st && i < count; i++)
        st = hf_err_because(err, hf_event_check(&events[i], err), "event %lld",
                            (long long)c->place.first_seq + (long long)i);
    if (!st && count) {
        st = hf_event_chunk_hash(c->sha, events, count, &c->place, c->head, err);
        memcpy(c->place.previous, c->head, sizeof(c->head));
        c->place.first_seq += count;
    }
    hf_mem_reset(c->mem);
    hf_event_builder_init(&c->builder, c->mem);
    return st;
}

static hf_status event_add(chain *c, hf_value event, int64_t seq, hf_err *err)
{
    hf_status st;

    c->event.event = event;
    c->event.seq = seq;
    st = hf_bundle_list_next(c->stored, c->mem, &c->event.keys, err);
    if (!st && !c->event.keys)
        st = hf_err_set(err, HF_INVALID, "the bundle does not describe event %lld", (long long)seq);
    if (!st)
        st = notes_take(c, &c->own, seq, &c->event.own, err);
    if (!st)
        st = notes_take(c, &c->avro, seq, &c->event.avro, err);
    if (!st)
        st = hf_bundle_event_read(&c->builder, &c->event, &c->time_us, err);
    if (!st && (c->builder.count > UNIT_EVENTS_MAX || hf_mem_held(c->mem) > UNIT_BYTES_MAX))
        st =
            hf_err_set(err, HF_TOOBIG, "the unit of event %lld is bigger than any", (long long)seq);
    return st;
}

static hf_status events_add(chain *c, hf_err *err)
{
    hf_value event = NULL;
    int64_t seq = 0;
    hf_status st = HF_OK;

    if (!st && c->unit != 1)
        return hf_err_set(err, HF_INVALID, "the bundle's units do not begin at event 1");
    for (;;) {
        if (++seq == c->unit) {
            st = unit_end(c, err);
            if (!st)
                st = unit_next(c, err);
        }
        if (!st)
            st = hf_bundle_list_next(c->events, c->mem, &event, err);
        if (st || !event)
            break;
        st = event_add(c, event, seq, err);
        if (st)
            break;
    }
    if (!st)
        st = unit_end(c, err);
    if (!st && seq == 1)
        return hf_err_set(err, HF_INVALID, "the bundle has no events");
    if (!st)
        st = hf_bundle_list_next(c->stored, NULL, &event, err);
    if (!st && (event || c->unit))
        st = hf_err_set(err, HF_INVALID, "the bundle's units do not fit its events");
    return st;
}

static hf_status small_get(chain *c, const char *path, hf_value *out_value, hf_err *err)
{
    return hf_bundle_file_get(c->file, c->kept, hf_slice_of(path), SMALL_MAX, out_value, err);
}

static hf_status chain_open(chain *c, hf_err *err)
{
    hf_value format = NULL;
    hf_value key = NULL;
    hf_value codec = NULL;
    hf_status st = small_get(c, "holdfast.format", &format, err);

    if (!st && hf_int(format, "", 0) > HF_BUNDLE_FORMAT)
        return hf_err_set(err, HF_NEWER,
                          "the bundle was written by a newer program, in format %lld",
                          (long long)hf_int(format, "", 0));
    if (!st)
        st = small_get(c, "holdfast.run_key", &key, err);
    if (!st)
        st = small_get(c, "payloads.codec", &codec, err);
    if (!st)
        st = hf_bundle_file_get(c->file, c->kept, HF_SLICE("payloads.arguments.data"),
                                HF_BUNDLE_VALUE_MAX, &c->event.input, err);
    if (!st)
        st = hf_bundle_list_open(c->file, HF_SLICE("history_events"), &c->events, err);
    if (!st)
        st = hf_bundle_list_open(c->file, HF_SLICE("holdfast.stored"), &c->stored, err);
    if (!st)
        st = hf_bundle_list_open(c->file, HF_SLICE("holdfast.units"), &c->units, err);
    if (!st && (!c->events || !c->stored || !c->units))
        st = hf_err_set(err, HF_INVALID, "the bundle does not say what its events were made of");
    if (!st)
        st = notes_open(c, &c->own, "holdfast.own", err);
    if (!st)
        st = notes_open(c, &c->avro, "holdfast.avro", err);
    if (!st)
        st = hf_sha256_new(&c->sha, err);
    if (!st)
        st = unit_next(c, err);
    c->event.ours = true;
    c->event.codec = hf_slice_of(hf_str(codec, "", "avro"));
    c->place.run_key = (uint64_t)hf_int(key, "", 0);
    c->place.first_seq = 1;
    return st;
}

hf_status hf_bundle_chain(const hf_bundle_file *file, char out_head[HF_SHA256_TEXT_SIZE],
                          hf_err *err)
{
    chain c = {.file = file, .mem = hf_mem_new(), .kept = hf_mem_new()};
    hf_status st = c.mem && c.kept ? HF_OK : hf_err_nomem(err, "a bundle");

    if (!st) {
        hf_event_builder_init(&c.builder, c.mem);
        st = chain_open(&c, err);
    }
    if (!st)
        st = events_add(&c, err);
    hf_hex_print(hf_slice_from(c.head, sizeof(c.head)), out_head);
    hf_bundle_list_close(c.events);
    hf_bundle_list_close(c.stored);
    hf_bundle_list_close(c.units);
    notes_close(&c.own);
    notes_close(&c.avro);
    hf_sha256_free(c.sha);
    if (c.mem)
        hf_mem_free(c.mem);
    if (c.kept)
        hf_mem_free(c.kept);
    return st;
}
