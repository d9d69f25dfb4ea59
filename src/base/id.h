/* id.h: ULIDs: 128 bits, the first 48 of them the time in milliseconds, written as 26 characters of
   Crockford's base 32. Byte order, text order and time order agree. */
#ifndef HF_BASE_ID_H
#define HF_BASE_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/slice.h"

enum { HF_ULID_BYTES = 16, HF_ULID_TEXT_LEN = 26, HF_ULID_TEXT_SIZE = 27 };

#define HF_ULID_TIME_MS_MAX ((INT64_C(1) << 48) - 1) /* in the year 10889 */
#define HF_ULID_KEY_MAX     ((INT64_C(1) << 48) - 1)

typedef struct hf_ulid {
    uint8_t bytes[HF_ULID_BYTES]; /* big endian */
} hf_ulid;

/* An id made of its parts, in this order: 48 bits of time, 48 bits of `key`, 32 bits of `counter`.
   A time before 1970 or beyond 48 bits becomes the nearest one that fits; the key must fit. This is
   the id of everything in a store: of its row's key and the moment it came to be. Ids of one
   millisecond are in the order of their keys, and keys are given out in rising order. */
hf_ulid hf_ulid_form(int64_t time_us, int64_t key, uint32_t counter);

/* The parts again. Any id has them, also one that was not formed. */
int64_t hf_ulid_time_ms(const hf_ulid *id);
int64_t hf_ulid_key(const hf_ulid *id);
uint32_t hf_ulid_counter(const hf_ulid *id);

int hf_ulid_compare(const hf_ulid *a, const hf_ulid *b); /* as memcmp */

/* 26 upper case characters and a NUL. */
void hf_ulid_print(const hf_ulid *id, char out_text[HF_ULID_TEXT_SIZE]);

/* Exactly 26 characters of the alphabet, in either case. I, L, O, U and a first character above 7
   are refused. On false *out_id is untouched. */
bool hf_ulid_parse(hf_slice text, hf_ulid *out_id);

#endif
