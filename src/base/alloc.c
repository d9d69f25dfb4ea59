/* alloc.c: malloc and friends behind the fault hook; nobody else calls them. */
#include "base/alloc.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/fault.h"

#if defined(HF_FAULT) && defined(__GLIBC__)
static _Atomic size_t held;
static _Atomic size_t peak;

static void *bytes_came(void *memory)
{
    size_t came = memory ? malloc_usable_size(memory) : 0;
    size_t now = atomic_fetch_add(&held, came) + came;
    size_t most = peak;

    while (now > most && !atomic_compare_exchange_weak(&peak, &most, now))
        ;
    return memory;
}

static void bytes_go(void *memory)
{
    held -= memory ? malloc_usable_size(memory) : 0;
}

size_t hf_alloc_peak(void)
{
    size_t most = peak;

    return most > 0 ? most : 1;
}

void hf_alloc_peak_reset(void)
{
    peak = held;
}
#else
static void *bytes_came(void *memory)
{
    return memory;
}

static void bytes_go(void *memory)
{
    (void)memory;
}

size_t hf_alloc_peak(void)
{
    return 0;
}

void hf_alloc_peak_reset(void)
{
}
#endif

void *hf_alloc_array(size_t count, size_t bytes)
{
    if (bytes && count > SIZE_MAX / bytes)
        return NULL;
    if (hf_fault_hit(HF_FAULT_ALLOC))
        return NULL;
    return bytes_came(calloc(count && bytes ? count : 1, count && bytes ? bytes : 1));
}

void *hf_alloc(size_t bytes)
{
    return hf_alloc_array(1, bytes);
}

void *hf_alloc_resize(void *memory, size_t bytes)
{
    void *moved;

    if (hf_fault_hit(HF_FAULT_ALLOC))
        return NULL;
    bytes_go(memory);
    moved = realloc(memory, bytes ? bytes : 1);
    if (!moved)
        (void)bytes_came(memory); /* it is where it was */
    return bytes_came(moved);
}

void hf_alloc_free(void *memory)
{
    bytes_go(memory);
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
