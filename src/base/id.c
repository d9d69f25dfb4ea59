/* id.c: forming, printing and reading ULIDs. */
#include "base/id.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/thread.h"

enum { TIME_BYTES = 6, KEY_BYTES = 6, COUNTER_BYTES = 4, BITS_PER_CHARACTER = 5 };

struct hf_ulid_source {
    const hf_clock *clock;
    hf_rng *rng;
    hf_mutex lock; /* guards rng and last */
    hf_ulid last;  /* all zero before the first */
};

static const char alphabet[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

static void big_endian_write(uint8_t *out, int bytes, uint64_t number)
{
    for (int i = bytes - 1; i >= 0; i--) {
        out[i] = (uint8_t)number;
        number >>= 8;
    }
}

static uint64_t big_endian_read(const uint8_t *in, int bytes)
{
    uint64_t number = 0;

    for (int i = 0; i < bytes; i++)
        number = number << 8 | in[i];
    return number;
}

static void time_write(hf_ulid *id, int64_t time_ms)
{
    if (time_ms < 0)
        time_ms = 0;
    if (time_ms > HF_ULID_TIME_MS_MAX)
        time_ms = HF_ULID_TIME_MS_MAX;
    big_endian_write(id->bytes, TIME_BYTES, (uint64_t)time_ms);
}

/* Adds one to the whole number. Should the random part overflow, the carry moves the id into the
   next millisecond, which keeps the order. */
static void ulid_increment(hf_ulid *id)
{
    int at = HF_ULID_BYTES - 1;

    while (at >= 0 && ++id->bytes[at] == 0)
        at--;
    HF_ASSERT(at >= 0); /* otherwise the last possible id has been given */
}

/* 0 to 31, or -1. The letters left out of the alphabet are those people misread. */
static int character_value(char c)
{
    const char *found;

    if (c >= 'a' && c <= 'z')
        c = (char)(c - 'a' + 'A');
    found = c ? strchr(alphabet, c) : NULL;
    return found ? (int)(found - alphabet) : -1;
}

hf_status hf_ulid_source_new(const hf_clock *clock, hf_rng *rng, hf_ulid_source **out_source,
                             hf_err *err)
{
    hf_ulid_source *source = hf_alloc(sizeof(*source));
    hf_status st;

    if (!source)
        return hf_err_nomem(err, "a source of ids");
    source->clock = clock;
    source->rng = rng;
    st = hf_mutex_init(&source->lock, err);
    if (st) {
        hf_alloc_free(source);
        return st;
    }
    *out_source = source;
    return HF_OK;
}

void hf_ulid_source_free(hf_ulid_source *source)
{
    if (!source)
        return;
    hf_mutex_fini(&source->lock);
    hf_alloc_free(source);
}

void hf_ulid_next(hf_ulid_source *source, hf_ulid *out_id)
{
    hf_ulid id;

    time_write(&id, hf_clock_wall_us(source->clock) / 1000);
    hf_mutex_lock(&source->lock);
    if (memcmp(id.bytes, source->last.bytes, TIME_BYTES) > 0) {
        hf_rng_fill(source->rng, id.bytes + TIME_BYTES, HF_ULID_BYTES - TIME_BYTES);
        source->last = id;
    } else {
        ulid_increment(&source->last);
    }
    *out_id = source->last;
    hf_mutex_unlock(&source->lock);
}

hf_ulid hf_ulid_form(int64_t time_us, int64_t key, uint32_t counter)
{
    hf_ulid id;

    HF_ASSERT(key >= 0 && key <= HF_ULID_KEY_MAX);
    time_write(&id, time_us / 1000);
    big_endian_write(id.bytes + TIME_BYTES, KEY_BYTES, (uint64_t)key);
    big_endian_write(id.bytes + TIME_BYTES + KEY_BYTES, COUNTER_BYTES, counter);
    return id;
}

int64_t hf_ulid_time_ms(const hf_ulid *id)
{
    return (int64_t)big_endian_read(id->bytes, TIME_BYTES);
}

int64_t hf_ulid_key(const hf_ulid *id)
{
    return (int64_t)big_endian_read(id->bytes + TIME_BYTES, KEY_BYTES);
}

uint32_t hf_ulid_counter(const hf_ulid *id)
{
    return (uint32_t)big_endian_read(id->bytes + TIME_BYTES + KEY_BYTES, COUNTER_BYTES);
}

int hf_ulid_compare(const hf_ulid *a, const hf_ulid *b)
{
    return memcmp(a->bytes, b->bytes, HF_ULID_BYTES);
}

void hf_ulid_print(const hf_ulid *id, char out_text[HF_ULID_TEXT_SIZE])
{
    unsigned bits = 0;
    int held = 2; /* 26 characters hold 130 bits: the first two are zero */
    char *at = out_text;

    for (int i = 0; i < HF_ULID_BYTES; i++) {
        bits = (bits << 8 | id->bytes[i]) & 0x1FFF;
        held += 8;
        while (held >= BITS_PER_CHARACTER) {
            held -= BITS_PER_CHARACTER;
            *at++ = alphabet[bits >> held & 31];
        }
    }
    *at = '\0';
}

bool hf_ulid_parse(hf_slice text, hf_ulid *out_id)
{
    hf_ulid id;
    unsigned bits = 0;
    int held = -2; /* the two zero bits in front belong to no byte */
    size_t at = 0;

    if (text.len != HF_ULID_TEXT_LEN || character_value(text.ptr[0]) > 7)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        int value = character_value(text.ptr[i]);

        if (value < 0)
            return false;
        bits = (bits << BITS_PER_CHARACTER | (unsigned)value) & 0x1FFF;
        held += BITS_PER_CHARACTER;
        if (held >= 8) {
            held -= 8;
            id.bytes[at++] = (uint8_t)(bits >> held);
        }
    }
    HF_ASSERT(at == HF_ULID_BYTES && held == 0);
    *out_id = id;
    return true;
}
