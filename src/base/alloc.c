/* alloc.c: malloc and friends behind the fault hook; nobody else calls them. */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/fault.h"

void *hf_alloc_array(size_t count, size_t bytes)
{
    if (bytes && count > SIZE_MAX / bytes)
        return NULL;
    if (hf_fault_hit(HF_FAULT_ALLOC))
        return NULL;
    return calloc(count && bytes ? count : 1, count && bytes ? bytes : 1);
}

void *hf_alloc(size_t bytes)
{
    return hf_alloc_array(1, bytes);
}

void *hf_alloc_resize(void *memory, size_t bytes)
{
    if (hf_fault_hit(HF_FAULT_ALLOC))
        return NULL;
    return realloc(memory, bytes ? bytes : 1);
}

void hf_alloc_free(void *memory)
{
    free(memory);
}

void hf_alloc_trim(void)
{
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}

char *hf_alloc_text(const char *text, size_t len)
{
    char *copy = hf_alloc(len + 1);

    if (copy && len)
        memcpy(copy, text, len);
    return copy;
}
