/* value_stack.c: growing and closing the scratch of decoders. Must never keep a pointer into the
   scratch in a value: the scratch moves when it grows. */
#include "base/value_stack.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

void hf_value_stack_init(hf_value_stack *stack, hf_mem *mem)
{
    stack->mem = mem;
    stack->nodes = stack->few;
    stack->used = 0;
    stack->capacity = HF_VALUE_STACK_FIRST;
    stack->depth = 0;
}

void hf_value_stack_fini(hf_value_stack *stack)
{
    if (stack->nodes != stack->few)
        hf_alloc_free(stack->nodes);
    stack->nodes = NULL;
}

bool hf_value_stack_grow(hf_value_stack *stack)
{
    size_t capacity = stack->capacity * 2;
    bool first = stack->nodes == stack->few;
    hf_json_node *grown = hf_alloc_resize(first ? NULL : stack->nodes, capacity * sizeof(*grown));

    if (!grown)
        return false;
    if (first)
        memcpy(grown, stack->few, sizeof(stack->few));
    stack->nodes = grown;
    stack->capacity = capacity;
    return true;
}

bool hf_value_stack_open(hf_value_stack *stack, bool is_object)
{
    if (stack->depth == HF_VALUE_DEPTH_MAX)
        return false;
    stack->frames[stack->depth++] = (hf_value_frame){.start = stack->used, .is_object = is_object};
    return true;
}

hf_status hf_value_stack_close(hf_value_stack *stack, const hf_json_node **out_duplicate)
{
    hf_value_frame *frame = &stack->frames[stack->depth - 1];
    hf_json_node *items = &stack->nodes[frame->start];
    size_t count = stack->used - frame->start;
    hf_json_node node;
    hf_json_node *place;
    size_t duplicate = 0;
    hf_status st;

    HF_ASSERT(stack->depth > 0);
    if (frame->is_object) {
        HF_ASSERT(count % 2 == 0);
        st = hf_node_object(stack->mem, items, count / 2, 0, &node, &duplicate);
        if (st == HF_EXISTS)
            *out_duplicate = &items[2 * duplicate];
    } else {
        st = hf_node_array(stack->mem, items, count, 0, &node);
    }
    if (st)
        return st;
    stack->depth--;
    stack->used = frame->start;
    place =
        hf_value_stack_push(stack); /* an empty container may be the node that fills the stack */
    if (!place)
        return HF_NOMEM;
    *place = node;
    return HF_OK;
}

hf_value hf_value_stack_take(hf_value_stack *stack)
{
    hf_json_node *kept = hf_mem_alloc(stack->mem, sizeof(*kept));

    HF_ASSERT(stack->used == 1 && stack->depth == 0);
    if (kept)
        *kept = stack->nodes[0];
    return kept;
}
