/* alloc.h: the only way to the C heap. Everything may return NULL; test builds make it so
 * (fault.h). */
#ifndef HF_BASE_ALLOC_H
#define HF_BASE_ALLOC_H

#include <stddef.h>

#include "base/attr.h"

/* Zeroed memory, or NULL. `bytes` may be 0, which still returns a pointer that must be freed. */
HF_NODISCARD void *hf_alloc(size_t bytes);

/* As calloc: refuses (NULL) when count * bytes overflows. */
HF_NODISCARD void *hf_alloc_array(size_t count, size_t bytes);

/* As realloc; on failure the old memory is untouched. New bytes are not zeroed. */
HF_NODISCARD void *hf_alloc_resize(void *memory, size_t bytes);

void hf_alloc_free(void *memory);

/* Gives what is free back to the system, where the C library keeps it. Slow: for quiet moments. */
void hf_alloc_trim(void);

/* The most bytes that were held at once since the last reset, as the C library rounds them. Counted
   in test builds on glibc; 0 elsewhere. */
size_t hf_alloc_peak(void);
void hf_alloc_peak_reset(void);

/* A NUL-terminated copy of `len` bytes, or NULL. */
HF_NODISCARD char *hf_alloc_text(const char *text, size_t len);

#endif
