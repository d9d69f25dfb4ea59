/* effects.h: what the activities of killed programs did to the world: one line an effect, which
   ends with the idempotency key of its activity. */
#ifndef HF_TEST_LIB_EFFECTS_H
#define HF_TEST_LIB_EFFECTS_H

#include <stddef.h>

enum { HF_EFFECT_KEY_BYTES = 27 /* a ULID and its NUL */ };

/* Orders keys, for bsearch. */
int hf_effects_compare(const void *a, const void *b);

/* The keys of all lines, sorted; the caller frees them. What a kill tore off stands in front of the
   key of its line. */
char (*hf_effects_read(const char *path, size_t *out_count))[HF_EFFECT_KEY_BYTES];

#endif
