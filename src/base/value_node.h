/* value_node.h: how a value lies in memory. Only the files that make, read or write values node by
   node include this (value*.c, json_read.c, json_write.c); all others use value.h.

   A node is 16 bytes and is copied freely: containers hold their children by value, in one array,
   and share what strings and containers point to. An object's array alternates keys and values in
   insertion order; from HF_NODE_INDEX_MIN members on, it is followed by `len` positions (uint32_t)
   that list the members sorted by key bytes, for lookup by bisection. */
#ifndef HF_BASE_VALUE_NODE_H
#define HF_BASE_VALUE_NODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/slice.h"
#include "base/value.h"
#include "holdfast/mem.h"

typedef struct hf_json_node {
    uint8_t kind;  /* an hf_value_kind */
    uint8_t depth; /* levels of containers from here down: 0 for a scalar, 1 for [] */
    uint32_t len;  /* bytes of a string or of bytes, items of an array, members of an object;
                      a null has one when it stands for a value that could not be made */
    union {
        bool boolean;
        int64_t integer;
        double number;                    /* always finite */
        const char *text;                 /* followed by a NUL that `len` does not count */
        const struct hf_json_node *items; /* len nodes, or 2 * len for an object */
    } as;
} hf_json_node;

enum { HF_NODE_INDEX_MIN = 8 }; /* members from which an object carries an index */

static inline hf_slice hf_node_text(const hf_json_node *node)
{
    return hf_slice_from(node->as.text, node->len);
}

/* The sorted positions behind the members of an object with at least HF_NODE_INDEX_MIN of them. */
static inline const uint32_t *hf_node_index(const hf_json_node *object)
{
    return (const uint32_t *)(const void *)(object->as.items + 2 * (size_t)object->len);
}

/* Bytes of the array that a container node points to, the index included. */
size_t hf_node_items_bytes(const hf_json_node *container);

/* Make a container node from the nodes at `items`, which are copied unless there is `room`, in
   nodes, for the container itself: then it may stay where they are. The object takes `count` pairs
   and fails with HF_EXISTS when two keys are equal; *out_duplicate is then the later pair. Both
   fail with HF_NOMEM, and with HF_TOOBIG beyond HF_VALUE_DEPTH_MAX levels or UINT32_MAX children.
 */
HF_NODISCARD hf_status hf_node_array(hf_mem *mem, hf_json_node *items, size_t count, size_t room,
                                     hf_json_node *out_node);
HF_NODISCARD hf_status hf_node_object(hf_mem *mem, hf_json_node *pairs, size_t count, size_t room,
                                      hf_json_node *out_node, size_t *out_duplicate);

#endif
