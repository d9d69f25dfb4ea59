/* random_value.h: values of every kind and shape from a seeded source, for property tests. The same
   seed gives the same value. Returns NULL only when memory ran out. */
#ifndef HF_TEST_BASE_RANDOM_VALUE_H
#define HF_TEST_BASE_RANDOM_VALUE_H

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "base/utf8.h"
#include "base/value.h"

enum { RANDOM_TEXT_MAX = 40, RANDOM_ITEMS_MAX = 12, RANDOM_DEPTH = 5 };

static inline uint32_t random_point(hf_rng *rng)
{
    static const uint32_t ranges[][2] = {{0, 0x20},        {0x20, 0x5F},       {0x20, 0x5F},
                                         {0x20, 0x5F},     {0x80, 0x700},      {0x800, 0xD000},
                                         {0xE000, 0x2000}, {0x10000, 0x100000}};
    const uint32_t *range = ranges[hf_rng_below(rng, sizeof(ranges) / sizeof(ranges[0]))];

    return range[0] + (uint32_t)hf_rng_below(rng, range[1]);
}

static inline hf_slice random_text(hf_rng *rng, char *room)
{
    size_t points = (size_t)hf_rng_below(rng, RANDOM_TEXT_MAX);
    size_t len = 0;

    for (size_t i = 0; i < points; i++)
        len += hf_utf8_put(random_point(rng), room + len);
    return hf_slice_from(room, len);
}

static inline double random_double(hf_rng *rng)
{
    uint64_t bits = hf_rng_next(rng);
    double number;

    switch (hf_rng_below(rng, 4)) {
    case 0:
        return (double)(int64_t)(bits >> 34) / 100.0; /* amounts */
    case 1:
        return (double)(bits >> 11) / 0x1p53;
    case 2:
        return -(double)(bits >> (bits & 63));
    default:
        memcpy(&number, &bits, sizeof(number));
        return isfinite(number) ? number : -0.0;
    }
}

static inline hf_value random_value(hf_rng *rng, hf_mem *mem, int depth)
{
    char room[RANDOM_TEXT_MAX * HF_UTF8_MAX + 1];
    hf_value_list *list;
    size_t count;
    /* Scalars only at the bottom, containers more often at the top. */
    uint64_t pick = hf_rng_below(rng, depth > 0 ? 10 : 6);

    switch (pick) {
    case 0:
        return hf_value_null();
    case 1:
        return hf_value_bool(hf_rng_below(rng, 2));
    case 2:
        return hf_value_int(mem, (int64_t)(0 - (hf_rng_next(rng) >> hf_rng_below(rng, 64))));
    case 3:
        return hf_value_double(mem, random_double(rng));
    case 4:
    case 5:
        return hf_value_string(mem, random_text(rng, room));
    default:
        break;
    }
    count = (size_t)hf_rng_below(rng, RANDOM_ITEMS_MAX);
    list = pick < 8 ? hf_value_array(mem) : hf_value_object(mem);
    for (size_t i = 0; i < count; i++) {
        hf_value item = random_value(rng, mem, depth - 1);
        hf_slice key = random_text(rng, room);

        room[key.len++] = (char)('A' + i); /* no two keys of one object are equal */
        if (pick < 8)
            hf_value_append(list, item);
        else
            hf_value_set(list, hf_slice_from(room, key.len), item);
    }
    return hf_value_finish(list);
}

#endif
