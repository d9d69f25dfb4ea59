/* event_codec.c: chunks of history as bytes, format 1.
   It keeps one rule above all: for every body it accepts, encoding what it decoded gives the same
   bytes.

   body     = format:byte (1)  count:varint (1..256)  event*count, and nothing after it
   event    = type:varint  delta:varint  step:varint  fields:varint  field*fields
              delta is the time in microseconds since the event before; since 1970 for the first.
   field    = key:varint value, by ascending key number, each key once, only keys of the type
   value    by the kind of the key:
     text, json   length:varint bytes, well-formed UTF-8
     int          varint of the zigzag of the number
     bool         0 or 1:byte
     time         varint of the zigzag of (time - time of the event), in microseconds
     id           16 bytes
     payload      form * 16 + codec:byte, then
                  inline: length:varint bytes;  reference or erased: size:varint digest:32 bytes
   varint   = LEB128 in its shortest form; numbers are those of the .def files.

   The hash is over "holdfast.history.1" and a NUL, the previous hash, run key and first sequence (8
   bytes each, big endian), then the body without its format byte, in which every payload is written
   as codec:byte size:varint digest:32 bytes.

   To change the layout: keep decoding every format ever written; add format 2 beside format 1,
   chosen by the first byte; write only the newest; put golden bytes of the old one into the tests;
   leave the hash as it is, because it is not over the stored form but over the meaning. A new key
   or event type needs no new format, but older programs refuse such a chunk: it goes into the
   release notes. */
#include "model/event_codec.h"

#include <string.h>

#include "base/assert.h"

static const char HASH_DOMAIN[] = "holdfast.history.1"; /* hashed with its NUL */

/* How payloads are written: as stored, or as what the hash covers. */
typedef enum codec_mode {
    CODEC_STORED,
    CODEC_HASHED,
} codec_mode;

typedef struct codec_writer {
    hf_buf *buf;
    codec_mode mode;
    hf_sha256 *sha; /* CODEC_HASHED only */
} codec_writer;

typedef struct codec_reader {
    hf_slice rest;
    size_t size;  /* of the whole body, for positions in messages */
    size_t event; /* which event is being read, from 0 */
} codec_reader;

static uint64_t zigzag(int64_t number)
{
    return number < 0 ? ~((uint64_t)number << 1) : (uint64_t)number << 1;
}

static int64_t unzigzag(uint64_t coded)
{
    return coded & 1 ? -(int64_t)(coded >> 1) - 1 : (int64_t)(coded >> 1);
}

static hf_status payload_digest(hf_sha256 *sha, const hf_payload_value *payload,
                                uint8_t out_digest[HF_SHA256_BYTES], hf_err *err)
{
    if (payload->form == HF_PAYLOAD_FORM_INLINE)
        return hf_sha256_digest(sha, payload->bytes, out_digest, err);
    memcpy(out_digest, payload->digest, HF_SHA256_BYTES);
    return HF_OK;
}

static hf_status payload_write(codec_writer *writer, const hf_payload_value *payload, hf_err *err)
{
    uint8_t digest[HF_SHA256_BYTES];

    if (writer->mode == CODEC_HASHED) {
        hf_status st = payload_digest(writer->sha, payload, digest, err);

        hf_buf_add_byte(writer->buf, (uint8_t)payload->codec);
        hf_buf_add_varint(writer->buf, payload->size);
        hf_buf_add(writer->buf, digest, sizeof(digest));
        return st;
    }
    hf_buf_add_byte(writer->buf, (uint8_t)((int)payload->form * 16 + (int)payload->codec));
    hf_buf_add_varint(writer->buf, payload->size);
    if (payload->form == HF_PAYLOAD_FORM_INLINE)
        hf_buf_add_slice(writer->buf, payload->bytes);
    else
        hf_buf_add(writer->buf, payload->digest, HF_SHA256_BYTES);
    return HF_OK;
}

static hf_status field_write(codec_writer *writer, const hf_event *event,
                             const hf_event_field *field, hf_err *err)
{
    hf_buf *buf = writer->buf;

    hf_buf_add_varint(buf, (uint64_t)field->key);
    switch (hf_event_key_kind(field->key)) {
    case HF_VALUE_KIND_TEXT:
    case HF_VALUE_KIND_JSON:
        hf_buf_add_varint(buf, field->text.len);
        hf_buf_add_slice(buf, field->text);
        break;
    case HF_VALUE_KIND_INT:
        hf_buf_add_varint(buf, zigzag(field->number));
        break;
    case HF_VALUE_KIND_BOOL:
        hf_buf_add_byte(buf, field->flag ? 1 : 0);
        break;
    case HF_VALUE_KIND_TIME:
        hf_buf_add_varint(buf, zigzag(field->time_us - event->time_us));
        break;
    case HF_VALUE_KIND_ID:
        hf_buf_add(buf, field->id.bytes, sizeof(field->id.bytes));
        break;
    case HF_VALUE_KIND_PAYLOAD:
        return payload_write(writer, &field->payload, err);
    }
    return HF_OK;
}

/* The body without its format byte. Checks all that can be wrong with the events. */
static hf_status events_write(codec_writer *writer, const hf_event *events, size_t count,
                              hf_err *err)
{
    int64_t last_us = 0;

    if (count < 1 || count > HF_EVENT_CHUNK_EVENTS_MAX)
        return hf_err_set(err, HF_INVALID, "a chunk holds 1 to %d events, not %zu",
                          HF_EVENT_CHUNK_EVENTS_MAX, count);
    hf_buf_add_varint(writer->buf, count);
    for (size_t i = 0; i < count; i++) {
        const hf_event *event = &events[i];
        hf_status st = hf_event_check(event, err);

        if (st)
            return hf_err_because(err, st, "event %zu of %zu", i + 1, count);
        if (event->time_us < last_us)
            return hf_err_set(err, HF_INVALID,
                              "event %zu of %zu: its time, %lld us, is before that of the event "
                              "before, %lld us",
                              i + 1, count, (long long)event->time_us, (long long)last_us);
        hf_buf_add_varint(writer->buf, (uint64_t)event->type);
        hf_buf_add_varint(writer->buf, (uint64_t)(event->time_us - last_us));
        hf_buf_add_varint(writer->buf, (uint64_t)event->step);
        hf_buf_add_varint(writer->buf, event->count);
        for (size_t j = 0; j < event->count; j++) {
            st = field_write(writer, event, &event->fields[j], err);
            if (st)
                return st;
        }
        if (writer->mode == CODEC_STORED && writer->buf->len > HF_EVENT_CHUNK_BYTES_MAX)
            return hf_err_set(err, HF_TOOBIG, "the chunk is over %d bytes at event %zu of %zu (%s)",
                              HF_EVENT_CHUNK_BYTES_MAX, i + 1, count,
                              hf_event_type_text(event->type));
        last_us = event->time_us;
    }
    return HF_OK;
}

/* A complaint with the place in the body where reading stopped. */
static hf_status reader_corrupt(const codec_reader *reader, const char *what, hf_err *err)
{
    return hf_err_set(err, HF_CORRUPT, "event %zu, at byte %zu of %zu: %s", reader->event + 1,
                      reader->size - reader->rest.len, reader->size, what);
}

/* A varint that must fit a signed number. */
static hf_status number_read(codec_reader *reader, const char *what, int64_t *out_number,
                             hf_err *err)
{
    codec_reader before = *reader;
    uint64_t number = 0;

    if (!hf_slice_take_varint(&reader->rest, &number) || number > INT64_MAX)
        return hf_err_because(err, reader_corrupt(&before, "no number in its shortest form", err),
                              "%s", what);
    *out_number = (int64_t)number;
    return HF_OK;
}

static hf_status bytes_read(codec_reader *reader, int64_t len, hf_slice *out_bytes, hf_err *err)
{
    if ((uint64_t)len > reader->rest.len || !hf_slice_take(&reader->rest, (size_t)len, out_bytes))
        return reader_corrupt(reader, "its bytes are cut short", err);
    return HF_OK;
}

static hf_status byte_read(codec_reader *reader, uint8_t *out_byte, hf_err *err)
{
    hf_slice bytes = {0};
    hf_status st = bytes_read(reader, 1, &bytes, err);

    if (st)
        return st;
    *out_byte = (uint8_t)bytes.ptr[0];
    return HF_OK;
}

static hf_status zigzag_read(codec_reader *reader, int64_t *out_number, hf_err *err)
{
    codec_reader before = *reader;
    uint64_t coded = 0;

    if (!hf_slice_take_varint(&reader->rest, &coded))
        return reader_corrupt(&before, "no number in its shortest form", err);
    *out_number = unzigzag(coded);
    return HF_OK;
}

static hf_status text_read(codec_reader *reader, hf_slice *out_text, hf_err *err)
{
    int64_t len = 0;
    hf_status st = number_read(reader, "length", &len, err);

    return st ? st : bytes_read(reader, len, out_text, err);
}

static hf_status payload_read(codec_reader *reader, hf_payload_value *out_payload, hf_err *err)
{
    hf_payload_value payload = {0};
    hf_slice bytes = {0};
    int64_t size = 0;
    uint8_t tag = 0;
    hf_status st = byte_read(reader, &tag, err);

    if (st)
        return st;
    if (!hf_payload_form_from(tag / 16, &payload.form) ||
        !hf_payload_codec_from(tag % 16, &payload.codec))
        return reader_corrupt(reader, "unknown payload form or codec", err);
    st = number_read(reader, "size", &size, err);
    if (st)
        return st;
    payload.size = (uint64_t)size;
    if (payload.form == HF_PAYLOAD_FORM_INLINE) {
        st = bytes_read(reader, size, &payload.bytes, err);
    } else {
        st = bytes_read(reader, HF_SHA256_BYTES, &bytes, err);
        payload.digest = (const uint8_t *)bytes.ptr;
    }
    if (st)
        return st;
    *out_payload = payload;
    return HF_OK;
}

static hf_status time_read(codec_reader *reader, int64_t event_us, int64_t *out_time_us,
                           hf_err *err)
{
    int64_t delta = 0;
    hf_status st = zigzag_read(reader, &delta, err);

    if (st)
        return st;
    if (delta < -event_us || delta > HF_EVENT_TIME_MAX_US - event_us)
        return reader_corrupt(reader, "a time out of range", err);
    *out_time_us = event_us + delta;
    return HF_OK;
}

static hf_status value_read(codec_reader *reader, int64_t event_us, hf_event_field *field,
                            hf_err *err)
{
    hf_slice bytes = {0};
    uint8_t byte = 0;
    hf_status st = HF_OK;

    switch (hf_event_key_kind(field->key)) {
    case HF_VALUE_KIND_TEXT:
    case HF_VALUE_KIND_JSON:
        return text_read(reader, &field->text, err);
    case HF_VALUE_KIND_INT:
        return zigzag_read(reader, &field->number, err);
    case HF_VALUE_KIND_BOOL:
        st = byte_read(reader, &byte, err);
        if (!st && byte > 1)
            st = reader_corrupt(reader, "a bool that is neither 0 nor 1", err);
        field->flag = byte == 1;
        return st;
    case HF_VALUE_KIND_TIME:
        return time_read(reader, event_us, &field->time_us, err);
    case HF_VALUE_KIND_ID:
        st = bytes_read(reader, sizeof(field->id.bytes), &bytes, err);
        if (!st)
            memcpy(field->id.bytes, bytes.ptr, sizeof(field->id.bytes));
        return st;
    case HF_VALUE_KIND_PAYLOAD:
        return payload_read(reader, &field->payload, err);
    }
    return reader_corrupt(reader, "a key without a kind", err);
}

static hf_status field_read(codec_reader *reader, const hf_event *event, hf_event_field *field,
                            hf_err *err)
{
    int64_t number = 0;
    hf_status st = number_read(reader, "key", &number, err);

    if (st)
        return st;
    if (!hf_event_key_from(number, &field->key))
        return hf_err_because(err, reader_corrupt(reader, "unknown key", err), "key %lld",
                              (long long)number);
    st = value_read(reader, event->time_us, field, err);
    return hf_err_because(err, st, "%s, %s", hf_event_type_text(event->type),
                          hf_event_key_text(field->key));
}

static hf_status head_read(codec_reader *reader, int64_t last_us, hf_event *event,
                           size_t *out_fields, hf_err *err)
{
    int64_t type = 0;
    int64_t delta = 0;
    int64_t fields = 0;
    hf_status st = number_read(reader, "type", &type, err);

    if (!st && !hf_event_type_from(type, &event->type))
        st = hf_err_because(err, reader_corrupt(reader, "unknown event type", err), "type %lld",
                            (long long)type);
    if (!st)
        st = number_read(reader, "time", &delta, err);
    if (!st && delta > HF_EVENT_TIME_MAX_US - last_us)
        st = reader_corrupt(reader, "a time out of range", err);
    if (!st)
        st = number_read(reader, "step", &event->step, err);
    if (!st)
        st = number_read(reader, "count of fields", &fields, err);
    if (!st && (uint64_t)fields > hf_event_key_count(event->type))
        st = reader_corrupt(reader, "more fields than the event type has keys", err);
    if (st)
        return st;
    event->time_us = last_us + delta;
    *out_fields = (size_t)fields;
    return HF_OK;
}

static hf_status event_read(codec_reader *reader, hf_mem *mem, int64_t last_us, hf_event *event,
                            hf_err *err)
{
    size_t fields = 0;
    hf_status st = head_read(reader, last_us, event, &fields, err);

    if (st)
        return st;
    if (fields) {
        event->fields = hf_mem_array(mem, fields, sizeof(*event->fields));
        if (!event->fields)
            return hf_err_nomem(err, "the fields of an event");
    }
    for (; event->count < fields; event->count++) {
        st = field_read(reader, event, &event->fields[event->count], err);
        if (st)
            return st;
    }
    st = hf_event_check(event, err);
    return st ? hf_err_because(err, HF_CORRUPT, "event %zu", reader->event + 1) : HF_OK;
}

static void number_be(uint64_t number, uint8_t out_bytes[8])
{
    for (int i = 7; i >= 0; i--) {
        out_bytes[i] = (uint8_t)(number & 0xFF);
        number >>= 8;
    }
}

hf_status hf_event_chunk_encode(const hf_event *events, size_t count, hf_buf *body, hf_err *err)
{
    codec_writer writer = {.buf = body, .mode = CODEC_STORED};
    hf_status st;

    hf_buf_clear(body);
    hf_buf_add_byte(body, HF_EVENT_CHUNK_FORMAT);
    st = events_write(&writer, events, count, err);
    if (!st && !hf_buf_ok(body))
        st = hf_err_nomem(err, "a chunk of history");
    if (st)
        hf_buf_clear(body);
    return hf_err_because(err, st, "encode a chunk of history");
}

hf_status hf_event_chunk_decode(hf_mem *mem, hf_slice body, hf_event **out_events,
                                size_t *out_count, hf_err *err)
{
    codec_reader reader = {.rest = body, .size = body.len};
    hf_event *events = NULL;
    int64_t count = 0;
    int64_t last_us = 0;
    uint8_t format = 0;
    hf_status st = HF_OK;

    if (body.len > HF_EVENT_CHUNK_BYTES_MAX)
        st = reader_corrupt(&reader, "the chunk is longer than any can be", err);
    if (!st)
        st = byte_read(&reader, &format, err);
    if (!st && format != HF_EVENT_CHUNK_FORMAT)
        st = hf_err_set(err, format > HF_EVENT_CHUNK_FORMAT ? HF_NEWER : HF_CORRUPT,
                        "format %d is not known; this program knows %d", (int)format,
                        HF_EVENT_CHUNK_FORMAT);
    if (!st)
        st = number_read(&reader, "count of events", &count, err);
    if (!st && (count < 1 || count > HF_EVENT_CHUNK_EVENTS_MAX))
        st = reader_corrupt(&reader, "the count of events is out of range", err);
    if (st)
        goto done;
    events = hf_mem_array(mem, (size_t)count, sizeof(*events));
    if (!events) {
        st = hf_err_nomem(err, "the events of a chunk");
        goto done;
    }
    for (; reader.event < (size_t)count; reader.event++) {
        st = event_read(&reader, mem, last_us, &events[reader.event], err);
        if (st)
            goto done;
        last_us = events[reader.event].time_us;
    }
    if (reader.rest.len) {
        reader.event--; /* the last one there is */
        st = reader_corrupt(&reader, "bytes follow the last event", err);
        goto done;
    }
    *out_events = events;
    *out_count = (size_t)count;
done:
    return hf_err_because(err, st, "decode a chunk of history");
}

hf_status hf_event_chunk_hash(hf_sha256 *sha, const hf_event *events, size_t count,
                              const hf_event_chunk_place *place, uint8_t out_hash[HF_SHA256_BYTES],
                              hf_err *err)
{
    hf_buf meaning = {0};
    codec_writer writer = {.buf = &meaning, .mode = CODEC_HASHED, .sha = sha};
    uint8_t number[8];
    hf_status st;

    HF_ASSERT(place->first_seq > 0);
    hf_buf_add(&meaning, HASH_DOMAIN, sizeof(HASH_DOMAIN));
    hf_buf_add(&meaning, place->previous, sizeof(place->previous));
    number_be(place->run_key, number);
    hf_buf_add(&meaning, number, sizeof(number));
    number_be(place->first_seq, number);
    hf_buf_add(&meaning, number, sizeof(number));
    st = events_write(&writer, events, count, err);
    if (!st && !hf_buf_ok(&meaning))
        st = hf_err_nomem(err, "a chunk of history");
    if (!st)
        st = hf_sha256_digest(sha, hf_buf_slice(&meaning), out_hash, err);
    hf_buf_fini(&meaning);
    return hf_err_because(err, st, "hash a chunk of history");
}

hf_status hf_payload_detach(hf_sha256 *sha, hf_mem *mem, hf_payload_form form,
                            hf_payload_value *payload, hf_err *err)
{
    char *digest;
    hf_status st;

    if (payload->form == form)
        return HF_OK;
    if (payload->form == HF_PAYLOAD_FORM_ERASED || form == HF_PAYLOAD_FORM_INLINE)
        return hf_err_set(err, HF_INVALID, "a payload that is %s cannot become %s again",
                          hf_payload_form_text(payload->form), hf_payload_form_text(form));
    digest = hf_mem_bytes(mem, HF_SHA256_BYTES);
    if (!digest)
        return hf_err_nomem(err, "a payload's digest");
    st = payload_digest(sha, payload, (uint8_t *)digest, err);
    if (st)
        return st;
    payload->form = form;
    payload->bytes = (hf_slice){0};
    payload->digest = (const uint8_t *)digest;
    return HF_OK;
}
