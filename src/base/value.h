/* value.h: making and walking values inside the engine. The public side is holdfast/value.h.

   Values are immutable and at most HF_VALUE_DEPTH_MAX containers deep, so recursion over one is
   bounded. Integers and doubles are different kinds and stay so: 7 is not 7.0. Bytes exist for
   payloads that carry them (Avro); JSON writers print them as a base64 string, so JSON text does
   not bring them back. Doubles are finite and strings are well-formed UTF-8, always.

   A constructor that returns NULL ran out of memory or was given what JSON cannot hold (a double
   that is not finite, bad UTF-8, over 4 GiB). Containers share their children's memory: a child
   must live as long as the parent; hf_value_copy moves a value to another arena. */
#ifndef HF_BASE_VALUE_H
#define HF_BASE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/mem.h"
#include "base/slice.h"
#include "holdfast/value.h"

enum { HF_VALUE_DEPTH_MAX = 64 };

typedef enum hf_value_kind {
    HF_VALUE_NULL,
    HF_VALUE_BOOL,
    HF_VALUE_INT,    /* int64_t */
    HF_VALUE_DOUBLE, /* finite */
    HF_VALUE_STRING, /* UTF-8 */
    HF_VALUE_BYTES,
    HF_VALUE_ARRAY,
    HF_VALUE_OBJECT
} hf_value_kind;

/* Null and booleans need no memory and live for ever. */
hf_value hf_value_null(void);

/* A value that could not be made: it reads as null, but nobody may record it. `bytes`: how long it
   would have been, where that is why; else 0. Never NULL, also without an arena. */
hf_value hf_value_make_broken(hf_mem *mem, int64_t bytes);
/* Whether it is one; NULL and null are not. out_bytes may be NULL. */
bool hf_value_broken(hf_value value, int64_t *out_bytes);
/* A broken one that says nothing of what it was made from: memory ran out. */
hf_value hf_value_make_unmade(void);
bool hf_value_unmade(hf_value value);

hf_value hf_value_bool(bool boolean);
HF_NODISCARD hf_value hf_value_int(hf_mem *mem, int64_t integer);
HF_NODISCARD hf_value hf_value_double(hf_mem *mem, double number);
HF_NODISCARD hf_value hf_value_string(hf_mem *mem, hf_slice text);
HF_NODISCARD hf_value hf_value_bytes(hf_mem *mem, hf_slice bytes);

/* A container in the making, in the arena. A list that failed (no memory, an item that is NULL, a
   bad key, the wrong kind of append) stays failed, and a NULL list is a failed one, so that callers
   check once, at hf_value_finish. It must not be used after that. */
typedef struct hf_value_list hf_value_list;

hf_value_list *hf_value_array(hf_mem *mem);
hf_value_list *hf_value_object(hf_mem *mem);
/* With room for so many members from the beginning: more may come. */
hf_value_list *hf_value_object_of(hf_mem *mem, size_t members);
void hf_value_append(hf_value_list *array, hf_value item);
void hf_value_set(hf_value_list *object, hf_slice key, hf_value item); /* copies the key */
/* Keeps the key itself: a literal, or well-formed text that lives as long as the value. */
void hf_value_put(hf_value_list *object, const char *key, hf_value item);
void hf_value_set_text(hf_value_list *object, const char *key, hf_slice text);
void hf_value_set_int(hf_value_list *object, const char *key, int64_t integer);
/* NULL when the list failed, has two equal keys or would be too deep. */
HF_NODISCARD hf_value hf_value_finish(hf_value_list *list);

hf_value_kind hf_value_kind_of(hf_value value); /* HF_VALUE_NULL for no value */

/* The text of a string or the bytes of bytes; the empty slice for everything else. */
hf_slice hf_value_slice(hf_value value);

/* Member `i` of an object, in insertion order; false beyond the end or when it is no object. */
bool hf_value_member(hf_value object, size_t i, hf_slice *out_key, hf_value *out_item);

/* The value under `key`; NULL when there is none or `object` is no object. */
hf_value hf_value_find(hf_value object, hf_slice key);

/* The members of `object` with those of `more` in the place of equal ones or behind them; either
   may be no object. The members are shared, not copied. NULL when memory ran out. */
HF_NODISCARD hf_value hf_value_merge(hf_mem *mem, hf_value object, hf_value more);

/* Same kinds, same content. Members may come in any order; doubles are compared by their bits, so
   0.0 is not -0.0. No value equals only no value. */
bool hf_value_equal(hf_value a, hf_value b);

/* A copy that shares nothing with `value`. NULL when memory ran out or value is NULL. */
HF_NODISCARD hf_value hf_value_copy(hf_mem *mem, hf_value value);

/* A number of seconds as milliseconds; one that they cannot hold stays too big for whoever checks
   it. */
int64_t hf_value_seconds_ms(hf_value value, const char *path, int64_t otherwise);

#endif
