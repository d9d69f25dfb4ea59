/* value_object.c: arrays and objects as nodes, and finding a member. Rules: the cost of making an
   object of n members stays O(n log n) whatever its keys are (nothing is hashed, so there is
   nothing to flood), and no object ever holds one key twice. */
#include "base/value_node.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

enum {
    SORT_RUN = 16,       /* members sorted by insertion before runs are merged */
    SORT_STACK_MAX = 64, /* members sorted without asking the heap */
};

typedef struct sort_entry {
    uint64_t prefix; /* the first eight key bytes, big end first: decides most comparisons */
    uint32_t pair;
} sort_entry;

static uint64_t key_prefix(const hf_json_node *key)
{
    uint64_t prefix = 0;
    size_t len = key->len < 8 ? key->len : 8;

    for (size_t i = 0; i < len; i++)
        prefix |= (uint64_t)(unsigned char)key->as.text[i] << (56 - 8 * i);
    return prefix;
}

static bool entry_less(const hf_json_node *pairs, sort_entry a, sort_entry b)
{
    int order;

    if (a.prefix != b.prefix)
        return a.prefix < b.prefix;
    order = hf_slice_compare(hf_node_text(&pairs[2 * (size_t)a.pair]),
                             hf_node_text(&pairs[2 * (size_t)b.pair]));
    return order < 0 || (order == 0 && a.pair < b.pair);
}

static void entries_insert(const hf_json_node *pairs, sort_entry *entries, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        sort_entry moving = entries[i];
        size_t hole = i;

        while (hole > 0 && entry_less(pairs, moving, entries[hole - 1])) {
            entries[hole] = entries[hole - 1];
            hole--;
        }
        entries[hole] = moving;
    }
}

static void entries_merge(const hf_json_node *pairs, const sort_entry *from, size_t middle,
                          size_t end, sort_entry *to)
{
    size_t left = 0;
    size_t right = middle;

    for (size_t i = 0; i < end; i++) {
        if (left < middle && (right >= end || !entry_less(pairs, from[right], from[left])))
            to[i] = from[left++];
        else
            to[i] = from[right++];
    }
}

/* Sorts `entries`, with as much room again behind them. Returns where the result is. */
static const sort_entry *entries_sort(const hf_json_node *pairs, sort_entry *entries, size_t count)
{
    sort_entry *from = entries;
    sort_entry *to = entries + count;

    for (size_t at = 0; at < count; at += SORT_RUN)
        entries_insert(pairs, from + at, count - at < SORT_RUN ? count - at : SORT_RUN);
    for (size_t run = SORT_RUN; run < count; run *= 2) {
        sort_entry *swap = from;

        for (size_t at = 0; at < count; at += 2 * run) {
            size_t end = count - at < 2 * run ? count - at : 2 * run;

            entries_merge(pairs, from + at, end < run ? end : run, end, to + at);
        }
        from = to;
        to = swap;
    }
    return from;
}

static bool pair_keys_equal(const hf_json_node *pairs, size_t a, size_t b)
{
    return hf_slice_equal(hf_node_text(&pairs[2 * a]), hf_node_text(&pairs[2 * b]));
}

static hf_status pairs_index(const hf_json_node *pairs, size_t count, uint32_t *out_index,
                             size_t *out_duplicate)
{
    sort_entry few[2 * SORT_STACK_MAX];
    sort_entry *entries = few;
    const sort_entry *sorted;
    hf_status st = HF_OK;

    if (count > SORT_STACK_MAX) {
        entries = hf_alloc_array(2 * count, sizeof(*entries));
        if (!entries)
            return HF_NOMEM;
    }
    for (size_t i = 0; i < count; i++)
        entries[i] = (sort_entry){.prefix = key_prefix(&pairs[2 * i]), .pair = (uint32_t)i};
    sorted = entries_sort(pairs, entries, count);
    for (size_t i = 0; i < count && !st; i++) {
        out_index[i] = sorted[i].pair;
        if (i > 0 && sorted[i].prefix == sorted[i - 1].prefix &&
            pair_keys_equal(pairs, sorted[i - 1].pair, sorted[i].pair)) {
            *out_duplicate = sorted[i].pair;
            st = HF_EXISTS;
        }
    }
    if (entries != few)
        hf_alloc_free(entries);
    return st;
}

static hf_status pairs_check_few(const hf_json_node *pairs, size_t count, size_t *out_duplicate)
{
    for (size_t i = 1; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (pairs[2 * i].len == pairs[2 * k].len && pair_keys_equal(pairs, i, k)) {
                *out_duplicate = i;
                return HF_EXISTS;
            }
        }
    }
    return HF_OK;
}

static hf_status container_start(hf_value_kind kind, const hf_json_node *items, size_t nodes,
                                 size_t count, hf_json_node *out_node)
{
    unsigned depth = 0;

    if (count > UINT32_MAX / 2)
        return HF_TOOBIG;
    for (size_t i = 0; i < nodes; i++)
        depth = items[i].depth > depth ? items[i].depth : depth;
    if (depth >= HF_VALUE_DEPTH_MAX)
        return HF_TOOBIG;
    *out_node = (hf_json_node){
        .kind = (uint8_t)kind, .depth = (uint8_t)(depth + 1), .len = (uint32_t)count};
    return HF_OK;
}

static hf_json_node *items_copy(hf_mem *mem, const hf_json_node *items, size_t nodes, size_t bytes)
{
    hf_json_node *copy = hf_mem_alloc(mem, bytes);

    if (copy && nodes)
        memcpy(copy, items, nodes * sizeof(*items));
    return copy;
}

size_t hf_node_items_bytes(const hf_json_node *container)
{
    size_t len = container->len;

    HF_ASSERT(container->kind == HF_VALUE_ARRAY || container->kind == HF_VALUE_OBJECT);
    if (container->kind == HF_VALUE_ARRAY)
        return len * sizeof(hf_json_node);
    return len * 2 * sizeof(hf_json_node) + (len >= HF_NODE_INDEX_MIN ? len * sizeof(uint32_t) : 0);
}

hf_status hf_node_array(hf_mem *mem, hf_json_node *items, size_t count, size_t room,
                        hf_json_node *out_node)
{
    hf_json_node node;
    hf_status st = container_start(HF_VALUE_ARRAY, items, count, count, &node);

    if (st)
        return st;
    node.as.items = room ? items : items_copy(mem, items, count, hf_node_items_bytes(&node));
    if (!node.as.items)
        return HF_NOMEM;
    *out_node = node;
    return HF_OK;
}

hf_status hf_node_object(hf_mem *mem, hf_json_node *pairs, size_t count, size_t room,
                         hf_json_node *out_node, size_t *out_duplicate)
{
    hf_json_node node;
    hf_json_node *copy = pairs;
    size_t bytes;
    hf_status st = container_start(HF_VALUE_OBJECT, pairs, 2 * count, count, &node);

    if (st)
        return st;
    bytes = hf_node_items_bytes(&node);
    if (!room || bytes > room * sizeof(*pairs))
        copy = items_copy(mem, pairs, 2 * count, bytes);
    if (!copy)
        return HF_NOMEM;
    if (count < HF_NODE_INDEX_MIN)
        st = pairs_check_few(pairs, count, out_duplicate);
    else
        st = pairs_index(pairs, count, (uint32_t *)(void *)(copy + 2 * count), out_duplicate);
    if (st)
        return st;
    node.as.items = copy;
    *out_node = node;
    return HF_OK;
}

hf_value hf_value_find(hf_value object, hf_slice key)
{
    const uint32_t *index;
    size_t low = 0;
    size_t high;

    if (!object || object->kind != HF_VALUE_OBJECT)
        return NULL;
    if (object->len < HF_NODE_INDEX_MIN) {
        for (size_t i = 0; i < object->len; i++) {
            if (hf_slice_equal(hf_node_text(&object->as.items[2 * i]), key))
                return &object->as.items[2 * i + 1];
        }
        return NULL;
    }
    index = hf_node_index(object);
    high = object->len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const hf_json_node *pair = &object->as.items[2 * (size_t)index[middle]];
        int order = hf_slice_compare(key, hf_node_text(pair));

        if (order == 0)
            return pair + 1;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}
