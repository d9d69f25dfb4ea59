/* value_stack.h: the scratch a decoder builds values on. Finished nodes wait here until their
   container closes; then they move into the arena as one array. Open containers are frames, at most
   HF_VALUE_DEPTH_MAX of them, so that no decoder recurses over its input. Lives on the caller's
   stack: hf_value_stack_init, and hf_value_stack_fini whatever happened in between. */
#ifndef HF_BASE_VALUE_STACK_H
#define HF_BASE_VALUE_STACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/mem.h"
#include "base/value_node.h"

enum { HF_VALUE_STACK_FIRST = 128 }; /* nodes before the heap is asked */

typedef struct hf_value_frame {
    size_t start; /* its first node on the stack */
    bool is_object;
} hf_value_frame;

typedef struct hf_value_stack {
    hf_mem *mem;
    hf_json_node *nodes; /* `few` until that is full, then from the heap */
    size_t used;
    size_t capacity;
    size_t depth; /* frames in use */
    hf_value_frame frames[HF_VALUE_DEPTH_MAX];
    hf_json_node few[HF_VALUE_STACK_FIRST];
} hf_value_stack;

void hf_value_stack_init(hf_value_stack *stack, hf_mem *mem);
void hf_value_stack_fini(hf_value_stack *stack);

HF_NODISCARD bool hf_value_stack_grow(hf_value_stack *stack);

/* A place for one more node, to be filled at once; NULL when memory ran out. */
static inline hf_json_node *hf_value_stack_push(hf_value_stack *stack)
{
    if (stack->used == stack->capacity && !hf_value_stack_grow(stack))
        return NULL;
    return &stack->nodes[stack->used++];
}

/* Opens a container; false when HF_VALUE_DEPTH_MAX are open already. */
HF_NODISCARD bool hf_value_stack_open(hf_value_stack *stack, bool is_object);

/* Closes the innermost container: its nodes leave the stack and the container takes their place.
   Fails as hf_node_object does; *out_duplicate then points to the key that came twice, which stays
   readable until the next push. */
HF_NODISCARD hf_status hf_value_stack_close(hf_value_stack *stack,
                                            const hf_json_node **out_duplicate);

/* The one node that is left, moved into the arena; NULL when memory ran out. */
HF_NODISCARD hf_value hf_value_stack_take(hf_value_stack *stack);

#endif
