/* span.c: see span.h. */
#include "verify/span.h"

#include <string.h>

enum { ROOM_FIRST = 8 };

void *hf_span_grow(hf_mem *mem, void *items, size_t count, size_t *room, size_t bytes)
{
    size_t wanted = *room ? *room * 2 : ROOM_FIRST;
    void *grown;

    if (count < *room)
        return items;
    grown = hf_mem_array(mem, wanted, bytes);
    if (!grown)
        return NULL;
    if (count)
        memcpy(grown, items, count * bytes);
    *room = wanted;
    return grown;
}

/* Index of the first span that ends at or behind the number. */
static size_t span_find(const hf_span_set *set, int64_t number)
{
    size_t low = 0;
    size_t high = set->count;

    if (set->count && set->spans[set->count - 1].last < number)
        return set->count; /* the usual case: numbers come in order */
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (set->spans[middle].last < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool hf_span_has(const hf_span_set *set, int64_t number)
{
    size_t at = span_find(set, number);

    return at < set->count && set->spans[at].first <= number;
}

bool hf_span_add(hf_span_set *set, hf_mem *mem, int64_t number)
{
    size_t at = span_find(set, number);
    bool joins_left = at > 0 && set->spans[at - 1].last + 1 == number;
    bool joins_right = at < set->count && set->spans[at].first - 1 == number;
    hf_span *grown;

    if (at < set->count && set->spans[at].first <= number)
        return true;
    if (joins_left && joins_right) {
        set->spans[at - 1].last = set->spans[at].last;
        memmove(&set->spans[at], &set->spans[at + 1], (set->count - at - 1) * sizeof(hf_span));
        set->count--;
    } else if (joins_left) {
        set->spans[at - 1].last = number;
    } else if (joins_right) {
        set->spans[at].first = number;
    } else {
        grown = hf_span_grow(mem, set->spans, set->count, &set->room, sizeof(hf_span));
        if (!grown)
            return false;
        set->spans = grown;
        memmove(&grown[at + 1], &grown[at], (set->count - at) * sizeof(hf_span));
        grown[at] = (hf_span){number, number};
        set->count++;
    }
    return true;
}
