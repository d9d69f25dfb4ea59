/* mem.c: arenas as a chain of blocks. Small pieces are cut from the newest block; a piece that
   would waste most of a block gets one of its own. Reset keeps one block, so that a steady workload
   stops calling malloc. */
#include "base/mem.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

enum {
    MEM_BLOCK_SMALL = 512,
    MEM_BLOCK_FIRST = 4096,
    MEM_BLOCK_MAX = 256 * 1024,
    MEM_ALIGN = alignof(max_align_t)
};

typedef struct mem_block {
    struct mem_block *next; /* older block */
    size_t capacity;        /* bytes behind this header */
    size_t used;
} mem_block;

struct hf_mem {
    mem_block *newest; /* pieces are cut from here; NULL until the first piece */
    size_t held;       /* bytes taken from the heap, headers included */
    size_t next_bytes; /* capacity of the next ordinary block */
};

/* Keeps the payload of a block aligned. */
static size_t header_bytes(void)
{
    return (sizeof(mem_block) + MEM_ALIGN - 1) / MEM_ALIGN * MEM_ALIGN;
}

static char *block_start(mem_block *block)
{
    return (char *)block + header_bytes();
}

static hf_mem *mem_new(size_t first_bytes)
{
    hf_mem *mem = hf_alloc(sizeof(*mem));

    if (mem)
        mem->next_bytes = first_bytes;
    return mem;
}

hf_mem *hf_mem_new(void)
{
    return mem_new(MEM_BLOCK_FIRST);
}

hf_mem *hf_mem_new_small(void)
{
    return mem_new(MEM_BLOCK_SMALL);
}

static mem_block *block_add(hf_mem *mem, size_t capacity)
{
    mem_block *block;

    if (capacity > SIZE_MAX / 2)
        return NULL;
    block = hf_alloc_resize(NULL, header_bytes() + capacity);
    if (!block)
        return NULL;
    *block = (mem_block){.capacity = capacity};
    mem->held += header_bytes() + capacity;
    return block;
}

static char *mem_take(hf_mem *mem, size_t bytes, size_t align)
{
    mem_block *block = mem->newest;
    size_t at;

    if (block) {
        at = (block->used + align - 1) / align * align;
        if (at <= block->capacity && bytes <= block->capacity - at) {
            block->used = at + bytes;
            return block_start(block) + at;
        }
    }
    if (bytes > mem->next_bytes / 4) { /* a block of its own, behind the newest one */
        block = block_add(mem, bytes);
        if (!block)
            return NULL;
        block->used = bytes;
        if (mem->newest) {
            block->next = mem->newest->next;
            mem->newest->next = block;
        } else {
            mem->newest = block;
        }
        return block_start(block);
    }
    block = block_add(mem, mem->next_bytes);
    if (!block)
        return NULL;
    if (mem->next_bytes < MEM_BLOCK_MAX)
        mem->next_bytes *= 2;
    block->next = mem->newest;
    mem->newest = block;
    block->used = bytes;
    return block_start(block);
}

void hf_mem_reset(hf_mem *mem)
{
    mem_block *keep = NULL;
    mem_block *block = mem ? mem->newest : NULL;

    if (!mem)
        return;

    while (block) {
        mem_block *next = block->next;

        if (!keep && block->capacity <= MEM_BLOCK_MAX) {
            keep = block;
        } else {
            mem->held -= header_bytes() + block->capacity;
            hf_alloc_free(block);
        }
        block = next;
    }
    if (keep) {
        keep->next = NULL;
        keep->used = 0;
    }
    mem->newest = keep;
}

void hf_mem_free(hf_mem *mem)
{
    if (!mem)
        return;
    for (mem_block *block = mem->newest; block;) {
        mem_block *next = block->next;

        hf_alloc_free(block);
        block = next;
    }
    hf_alloc_free(mem);
}

void *hf_mem_alloc(hf_mem *mem, size_t bytes)
{
    char *piece = mem_take(mem, bytes ? bytes : 1, MEM_ALIGN);

    if (piece)
        memset(piece, 0, bytes);
    return piece;
}

void *hf_mem_array(hf_mem *mem, size_t count, size_t bytes)
{
    if (bytes && count > SIZE_MAX / bytes)
        return NULL;
    return hf_mem_alloc(mem, count * bytes);
}

char *hf_mem_bytes(hf_mem *mem, size_t bytes)
{
    return mem_take(mem, bytes ? bytes : 1, 1);
}

char *hf_mem_text(hf_mem *mem, hf_slice text)
{
    char *copy = hf_mem_bytes(mem, text.len + 1);

    if (!copy)
        return NULL;
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}

char *hf_mem_format(hf_mem *mem, const char *format, ...)
{
    va_list args;
    va_list again;
    char *text = NULL;
    int len;

    va_start(args, format);
    va_copy(again, args);
    len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len >= 0)
        text = hf_mem_bytes(mem, (size_t)len + 1);
    if (text)
        (void)vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return text;
}

size_t hf_mem_held(const hf_mem *mem)
{
    return mem->held;
}
