/* id.c: forming, printing and reading ULIDs. */
#include "base/id.h"

#include <string.h>

#include "base/assert.h"

enum { TIME_BYTES = 6, KEY_BYTES = 6, COUNTER_BYTES = 4, BITS_PER_CHARACTER = 5 };

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

/* 0 to 31, or -1. The letters left out of the alphabet are those people misread. */
static int character_value(char c)
{
    const char *found;

    if (c >= 'a' && c <= 'z')
        c = (char)(c - 'a' + 'A');
    found = c ? strchr(alphabet, c) : NULL;
    return found ? (int)(found - alphabet) : -1;
}

hf_ulid hf_ulid_form(int64_t time_us, int64_t key, uint32_t counter)
{
    int64_t time_ms = time_us < 0 ? 0 : time_us / 1000;
    hf_ulid id;

    HF_ASSERT(key >= 0 && key <= HF_ULID_KEY_MAX);
    if (time_ms > HF_ULID_TIME_MS_MAX)
        time_ms = HF_ULID_TIME_MS_MAX;
    big_endian_write(id.bytes, TIME_BYTES, (uint64_t)time_ms);
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
