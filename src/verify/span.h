/* span.h: a set of numbers kept as the spans they form, in an arena. Steps are numbered one after
   the other and mostly end in that order, so that a hundred thousand of them are a few spans. */
#ifndef HF_VERIFY_SPAN_H
#define HF_VERIFY_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

typedef struct hf_span {
    int64_t first;
    int64_t last;
} hf_span;

/* Zero-initialise. */
typedef struct hf_span_set {
    hf_span *spans; /* ascending, never touching each other */
    size_t count;
    size_t room;
} hf_span_set;

bool hf_span_has(const hf_span_set *set, int64_t number);

/* False when memory ran out; adding a member again changes nothing. */
HF_NODISCARD bool hf_span_add(hf_span_set *set, hf_mem *mem, int64_t number);

/* One more element at the end of an array in the arena: returns the array, grown when `count` has
   reached `*room`, or NULL when memory ran out. */
HF_NODISCARD void *hf_span_grow(hf_mem *mem, void *items, size_t count, size_t *room, size_t bytes);

#endif
