/* mem.h: arenas. Memory is taken piece by piece and given back all at once; whatever a function
   returns from an arena dies with it. Not thread-safe: an arena belongs to one thread at a time.
   Every allocation may be NULL. */
#ifndef HF_BASE_MEM_H
#define HF_BASE_MEM_H

#include <stddef.h>

#include "base/attr.h"
#include "base/slice.h"
#include "holdfast/mem.h"

/* An arena that begins with a small block: for what holds little, and there are many of. */
HF_NODISCARD hf_mem *hf_mem_new_small(void);

/* Zeroed, aligned for any type; NULL when memory ran out. */
HF_NODISCARD void *hf_mem_alloc(hf_mem *mem, size_t bytes);
HF_NODISCARD void *hf_mem_array(hf_mem *mem, size_t count, size_t bytes);

/* Unaligned, not zeroed: for text and bytes. */
HF_NODISCARD char *hf_mem_bytes(hf_mem *mem, size_t bytes);

/* A NUL-terminated copy. */
HF_NODISCARD char *hf_mem_text(hf_mem *mem, hf_slice text);
HF_NODISCARD char *hf_mem_format(hf_mem *mem, const char *format, ...) HF_FORMAT(2, 3);

/* Bytes held from the C heap, for caches that are bounded by memory. */
size_t hf_mem_held(const hf_mem *mem);

#endif
