/* fold.c: the log of a fold: see fold.h. Columns are in fold_columns.c.

   pack   = version:byte (1)  events:varint  frame*
   frame  = events:varint  raw:varint  packed:varint  zstd bytes of a chunk (event_codec.h)
   Every frame takes as many events as fit (256, and FRAME_BYTES by a simple estimate), so that
   where frames end depends on the events alone. The last frame is open: it is taken apart and made
   anew when events come; all others are copied as they are.

   To change it: raise HF_RUNFOLD_VERSION. Packs of another version are made anew from history. */
#include "project/fold.h"

#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "model/event_codec.h"

enum { FRAME_EVENTS = HF_EVENT_CHUNK_EVENTS_MAX, FRAME_BYTES = 48 * 1024, ZSTD_LEVEL = 1 };

struct hf_runfold {
    hf_buf frames; /* closed ones */
    int64_t closed_events;
    hf_mem *mem; /* of the open frame */
    hf_event open[FRAME_EVENTS];
    size_t open_count;
    size_t open_bytes; /* estimated */
    hf_buf chunk;      /* scratch */
    ZSTD_CCtx *press;  /* making one takes longer than packing a frame */
};

/* One frame as a pack has it. */
typedef struct fold_frame {
    uint64_t events;
    uint64_t raw;
    hf_slice packed;
    hf_slice whole; /* with its numbers */
} fold_frame;

static const uint8_t NO_DIGEST[HF_SHA256_BYTES];

void hf_runfold_free(hf_runfold *fold)
{
    if (!fold)
        return;
    hf_buf_fini(&fold->frames);
    hf_buf_fini(&fold->chunk);
    hf_mem_free(fold->mem);
    (void)ZSTD_freeCCtx(fold->press);
    hf_alloc_free(fold);
}

hf_status hf_runfold_new(hf_runfold **out_fold, hf_err *err)
{
    hf_runfold *fold = hf_alloc(sizeof(*fold));

    if (fold) {
        fold->mem = hf_mem_new();
        fold->press = ZSTD_createCCtx();
    }
    if (!fold || !fold->mem || !fold->press) {
        hf_runfold_free(fold);
        return hf_err_nomem(err, "a fold");
    }
    *out_fold = fold;
    return HF_OK;
}

int64_t hf_runfold_seq(const hf_runfold *fold)
{
    return fold->closed_events + (int64_t)fold->open_count;
}

/* ---- events without big payloads */

/* Shown as plain values in views: always kept. They are inline only when they are small. */
static bool key_stays(hf_event_key key)
{
    return key == HF_KEY_MEMO || key == HF_KEY_SEARCH_ATTRIBUTES || key == HF_KEY_ATTRIBUTES ||
           key == HF_KEY_ENTRIES || key == HF_KEY_PROGRESS;
}

static void payload_thin(hf_event_key key, hf_payload_value *payload)
{
    if (payload->form == HF_PAYLOAD_FORM_INLINE &&
        (payload->bytes.len <= HF_RUNFOLD_PAYLOAD_MAX || key_stays(key)))
        return;
    if (payload->form == HF_PAYLOAD_FORM_INLINE)
        payload->size = payload->bytes.len;
    payload->form = HF_PAYLOAD_FORM_ERASED;
    payload->bytes = (hf_slice){0};
    payload->digest = NO_DIGEST;
}

hf_status hf_runfold_thin(hf_mem *mem, const hf_event *whole, size_t count, hf_event **out_events,
                          hf_err *err)
{
    hf_event *events = hf_mem_array(mem, count + 1, sizeof(*events));

    if (!events)
        return hf_err_nomem(err, "a history");
    for (size_t i = 0; i < count; i++) {
        hf_event_field *fields = hf_mem_array(mem, whole[i].count + 1, sizeof(*fields));

        if (!fields)
            return hf_err_nomem(err, "a history");
        for (size_t j = 0; j < whole[i].count; j++) {
            fields[j] = whole[i].fields[j];
            if (hf_event_key_kind(fields[j].key) == HF_VALUE_KIND_PAYLOAD)
                payload_thin(fields[j].key, &fields[j].payload);
        }
        events[i] = whole[i];
        events[i].fields = fields;
    }
    *out_events = events;
    return HF_OK;
}

static bool slice_keep(hf_mem *mem, hf_slice *io_bytes)
{
    if (!io_bytes->ptr)
        return true;
    io_bytes->ptr = hf_mem_text(mem, *io_bytes);
    return io_bytes->ptr != NULL;
}

static bool field_keep(hf_mem *mem, hf_event_field *field)
{
    switch (hf_event_key_kind(field->key)) {
    case HF_VALUE_KIND_TEXT:
    case HF_VALUE_KIND_JSON:
        return slice_keep(mem, &field->text);
    case HF_VALUE_KIND_PAYLOAD:
        payload_thin(field->key, &field->payload);
        return slice_keep(mem, &field->payload.bytes);
    case HF_VALUE_KIND_INT:
    case HF_VALUE_KIND_BOOL:
    case HF_VALUE_KIND_TIME:
    case HF_VALUE_KIND_ID:
        return true;
    }
    return true;
}

static size_t event_estimate(const hf_event *event)
{
    size_t bytes = 24;

    for (size_t i = 0; i < event->count; i++) {
        const hf_event_field *field = &event->fields[i];
        hf_field_kind kind = hf_event_key_kind(field->key);

        bytes += 20;
        if (kind == HF_VALUE_KIND_TEXT || kind == HF_VALUE_KIND_JSON)
            bytes += field->text.len;
        else if (kind == HF_VALUE_KIND_PAYLOAD)
            bytes += 32 + (field->payload.form == HF_PAYLOAD_FORM_INLINE &&
                                   (field->payload.bytes.len <= HF_RUNFOLD_PAYLOAD_MAX ||
                                    key_stays(field->key))
                               ? field->payload.bytes.len
                               : 0);
    }
    return bytes;
}

/* ---- frames */

static hf_status frame_write(hf_runfold *fold, hf_buf *out, hf_err *err)
{
    size_t room;
    size_t packed;
    hf_buf body = {0};
    char *at;
    hf_status st = hf_event_chunk_encode(fold->open, fold->open_count, &fold->chunk, err);

    if (st)
        return hf_err_because(err, st, "pack a fold");
    room = ZSTD_compressBound(fold->chunk.len);
    at = hf_buf_reserve(&body, room);
    if (!at)
        return hf_err_nomem(err, "a fold");
    packed = ZSTD_compressCCtx(fold->press, at, room, fold->chunk.ptr, fold->chunk.len, ZSTD_LEVEL);
    if (ZSTD_isError(packed)) {
        st = hf_err_nomem(err, "a fold");
    } else {
        hf_buf_add_varint(out, fold->open_count);
        hf_buf_add_varint(out, fold->chunk.len);
        hf_buf_add_varint(out, packed);
        hf_buf_add(out, at, packed);
        st = hf_buf_ok(out) ? HF_OK : hf_err_nomem(err, "a fold");
    }
    hf_buf_fini(&body);
    return st;
}

static hf_status frame_close(hf_runfold *fold, hf_err *err)
{
    hf_status st = frame_write(fold, &fold->frames, err);

    if (st)
        return st;
    fold->closed_events += (int64_t)fold->open_count;
    fold->open_count = 0;
    fold->open_bytes = 0;
    hf_mem_reset(fold->mem);
    return HF_OK;
}

static hf_status event_add(hf_runfold *fold, const hf_event *event, hf_err *err)
{
    size_t bytes = event_estimate(event);
    hf_event *copy;
    hf_status st = HF_OK;

    if (fold->open_count == FRAME_EVENTS ||
        (fold->open_count && fold->open_bytes + bytes > FRAME_BYTES))
        st = frame_close(fold, err);
    if (st)
        return st;
    copy = &fold->open[fold->open_count];
    *copy = *event;
    copy->fields = hf_mem_array(fold->mem, event->count ? event->count : 1, sizeof(*copy->fields));
    if (!copy->fields)
        return hf_err_nomem(err, "a fold");
    for (size_t i = 0; i < event->count; i++) {
        copy->fields[i] = event->fields[i];
        if (!field_keep(fold->mem, &copy->fields[i]))
            return hf_err_nomem(err, "a fold");
    }
    fold->open_bytes += bytes;
    fold->open_count++;
    return HF_OK;
}

hf_status hf_runfold_add(hf_runfold *fold, const hf_event *events, size_t count, hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < count; i++)
        st = event_add(fold, &events[i], err);
    return st;
}

hf_status hf_runfold_pack(hf_runfold *fold, hf_buf *out, hf_err *err)
{
    hf_buf_add_byte(out, HF_RUNFOLD_VERSION);
    hf_buf_add_varint(out, (uint64_t)hf_runfold_seq(fold));
    hf_buf_add_slice(out, hf_buf_slice(&fold->frames));
    if (fold->open_count)
        return frame_write(fold, out, err);
    return hf_buf_ok(out) ? HF_OK : hf_err_nomem(err, "a fold");
}

/* ---- reading */

static hf_status pack_broken(hf_err *err)
{
    return hf_err_set(err, HF_CORRUPT, "the stored fold of the run is damaged");
}

static hf_status pack_begin(hf_slice *io_rest, uint64_t *out_events, hf_err *err)
{
    hf_slice version;

    if (!hf_slice_take(io_rest, 1, &version))
        return pack_broken(err);
    if ((uint8_t)version.ptr[0] != HF_RUNFOLD_VERSION)
        return hf_err_set(err, HF_NEWER, "the stored fold has version %u, this program writes %d",
                          (unsigned)(uint8_t)version.ptr[0], HF_RUNFOLD_VERSION);
    return hf_slice_take_varint(io_rest, out_events) ? HF_OK : pack_broken(err);
}

static bool frame_take(hf_slice *io_rest, fold_frame *out_frame)
{
    hf_slice before = *io_rest;
    uint64_t packed = 0;

    if (!hf_slice_take_varint(io_rest, &out_frame->events) ||
        !hf_slice_take_varint(io_rest, &out_frame->raw) || !hf_slice_take_varint(io_rest, &packed))
        return false;
    if (out_frame->events == 0 || out_frame->events > FRAME_EVENTS ||
        out_frame->raw > HF_EVENT_CHUNK_BYTES_MAX || packed > io_rest->len ||
        !hf_slice_take(io_rest, (size_t)packed, &out_frame->packed))
        return false;
    out_frame->whole = hf_slice_from(before.ptr, before.len - io_rest->len);
    return true;
}

static hf_status frame_events(hf_mem *mem, const fold_frame *frame, hf_event **out_events,
                              hf_err *err)
{
    size_t size = (size_t)frame->raw;
    char *raw = hf_mem_bytes(mem, size + 1);
    size_t got;
    size_t count = 0;
    hf_status st;

    if (!raw)
        return hf_err_nomem(err, "a fold");
    got = ZSTD_decompress(raw, size, frame->packed.ptr, frame->packed.len);
    if (ZSTD_isError(got) || got != size)
        return pack_broken(err);
    st = hf_event_chunk_decode(mem, hf_slice_from(raw, size), out_events, &count, err);
    if (!st && count != frame->events)
        st = pack_broken(err);
    return st;
}

void hf_runfold_clear(hf_runfold *fold)
{
    hf_buf_clear(&fold->frames);
    hf_mem_reset(fold->mem);
    fold->closed_events = 0;
    fold->open_count = 0;
    fold->open_bytes = 0;
}

/* The last frame is opened again, all others stay as they are. */
static hf_status frames_load(hf_runfold *fold, hf_slice rest, uint64_t total, hf_err *err)
{
    fold_frame frame = {0};
    hf_event *events = NULL;
    hf_status st = HF_OK;

    while (rest.len) {
        if (!frame_take(&rest, &frame))
            return pack_broken(err);
        if (!rest.len)
            break;
        hf_buf_add_slice(&fold->frames, frame.whole);
        fold->closed_events += (int64_t)frame.events;
    }
    if (!hf_buf_ok(&fold->frames))
        return hf_err_nomem(err, "a fold");
    if (frame.events)
        st = frame_events(fold->mem, &frame, &events, err);
    for (uint64_t i = 0; !st && i < frame.events; i++) {
        fold->open[i] = events[i];
        fold->open_bytes += event_estimate(&events[i]);
        fold->open_count++;
    }
    if (!st && (uint64_t)hf_runfold_seq(fold) != total)
        st = pack_broken(err);
    return st;
}

hf_status hf_runfold_load(hf_runfold *fold, hf_slice pack, hf_err *err)
{
    uint64_t total = 0;
    hf_status st;

    hf_runfold_clear(fold);
    st = pack_begin(&pack, &total, err);
    if (!st)
        st = frames_load(fold, pack, total, err);
    if (st)
        hf_runfold_clear(fold);
    return st;
}

hf_status hf_runfold_events(hf_mem *mem, hf_slice pack, int64_t count, hf_event **out_events,
                            size_t *out_count, hf_err *err)
{
    uint64_t total = 0;
    uint64_t used = 0;
    hf_event *all;
    hf_status st = pack_begin(&pack, &total, err);

    if (st)
        return st;
    if (total > pack.len * FRAME_EVENTS)
        return pack_broken(err); /* before memory is taken for a number nobody could have packed */
    if (count >= 0 && (uint64_t)count < total)
        total = (uint64_t)count;
    all = hf_mem_array(mem, total ? (size_t)total : 1, sizeof(*all));
    if (!all)
        return hf_err_nomem(err, "a fold");
    while (!st && used < total) {
        fold_frame frame;
        hf_event *events = NULL;

        if (!frame_take(&pack, &frame))
            return pack_broken(err);
        st = frame_events(mem, &frame, &events, err);
        for (uint64_t i = 0; !st && i < frame.events && used < total; i++)
            all[used++] = events[i];
    }
    *out_events = all;
    *out_count = (size_t)used;
    return st;
}
