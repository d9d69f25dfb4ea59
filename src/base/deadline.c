/* deadline.c: a heap with four children per node. Times and keys are repeated in the array, so that
   sifting compares neighbours in memory and touches an hf_deadline only to tell it its new place.
 */
#include "base/deadline.h"

#include "base/alloc.h"
#include "base/assert.h"

enum { HEAP_CHILDREN = 4, HEAP_CAPACITY_MIN = 16, HEAP_SHRINK_BELOW = 8 };

typedef struct heap_item {
    int64_t due_us;
    uint64_t key;
    hf_deadline *deadline;
} heap_item;

struct hf_deadlines {
    heap_item *items; /* items[0] is the soonest; no item comes before its parent */
    size_t count;
    size_t capacity;
};

static bool item_before(const heap_item *a, const heap_item *b)
{
    return a->due_us < b->due_us || (a->due_us == b->due_us && a->key < b->key);
}

static void item_place(hf_deadlines *queue, size_t at, heap_item item)
{
    queue->items[at] = item;
    item.deadline->place = at + 1;
}

/* Finds the place of `item`, starting with the hole `at`, towards the front. */
static void heap_sift_up(hf_deadlines *queue, size_t at, heap_item item)
{
    while (at > 0) {
        size_t parent = (at - 1) / HEAP_CHILDREN;

        if (!item_before(&item, &queue->items[parent]))
            break;
        item_place(queue, at, queue->items[parent]);
        at = parent;
    }
    item_place(queue, at, item);
}

/* The same towards the back. */
static void heap_sift_down(hf_deadlines *queue, size_t at, heap_item item)
{
    for (;;) {
        size_t first = at * HEAP_CHILDREN + 1;
        size_t best = first;

        if (first >= queue->count)
            break;
        for (size_t i = first + 1; i < first + HEAP_CHILDREN && i < queue->count; i++) {
            if (item_before(&queue->items[i], &queue->items[best]))
                best = i;
        }
        if (!item_before(&queue->items[best], &item))
            break;
        item_place(queue, at, queue->items[best]);
        at = best;
    }
    item_place(queue, at, item);
}

static void heap_fill(hf_deadlines *queue, size_t at, heap_item item)
{
    if (at > 0 && item_before(&item, &queue->items[(at - 1) / HEAP_CHILDREN]))
        heap_sift_up(queue, at, item);
    else
        heap_sift_down(queue, at, item);
}

static size_t deadline_place(const hf_deadlines *queue, const hf_deadline *deadline)
{
    HF_ASSERT(deadline->place > 0 && deadline->place <= queue->count);
    HF_ASSERT(queue->items[deadline->place - 1].deadline == deadline);
    return deadline->place - 1;
}

/* Gives memory back after a burst. Cannot fail: a failed attempt keeps the old array. */
static void heap_shrink(hf_deadlines *queue)
{
    size_t capacity = queue->capacity / 2;
    heap_item *items;

    if (capacity < HEAP_CAPACITY_MIN || queue->count >= queue->capacity / HEAP_SHRINK_BELOW)
        return;
    items = hf_alloc_resize(queue->items, capacity * sizeof(*items));
    if (!items)
        return;
    queue->items = items;
    queue->capacity = capacity;
}

hf_deadlines *hf_deadlines_new(void)
{
    return hf_alloc(sizeof(hf_deadlines));
}

void hf_deadlines_free(hf_deadlines *queue)
{
    if (!queue)
        return;
    for (size_t i = 0; i < queue->count; i++)
        queue->items[i].deadline->place = 0;
    hf_alloc_free(queue->items);
    hf_alloc_free(queue);
}

size_t hf_deadlines_count(const hf_deadlines *queue)
{
    return queue->count;
}

bool hf_deadline_queued(const hf_deadline *deadline)
{
    return deadline->place != 0;
}

hf_status hf_deadlines_push(hf_deadlines *queue, hf_deadline *deadline, hf_err *err)
{
    HF_ASSERT(deadline->place == 0);
    if (queue->count == queue->capacity) {
        size_t capacity = queue->capacity ? queue->capacity * 2 : HEAP_CAPACITY_MIN;
        heap_item *items = hf_alloc_resize(queue->items, capacity * sizeof(*items));

        if (!items)
            return hf_err_nomem(err, "a queue of deadlines");
        queue->items = items;
        queue->capacity = capacity;
    }
    queue->count++;
    heap_sift_up(
        queue, queue->count - 1,
        (heap_item){.due_us = deadline->due_us, .key = deadline->key, .deadline = deadline});
    return HF_OK;
}

const hf_deadline *hf_deadlines_at(const hf_deadlines *queue, size_t at)
{
    HF_ASSERT(at < queue->count);
    return queue->items[at].deadline;
}

hf_deadline *hf_deadlines_peek(const hf_deadlines *queue)
{
    return queue->count ? queue->items[0].deadline : NULL;
}

hf_deadline *hf_deadlines_pop(hf_deadlines *queue)
{
    hf_deadline *deadline = hf_deadlines_peek(queue);

    if (deadline)
        hf_deadlines_remove(queue, deadline);
    return deadline;
}

void hf_deadlines_remove(hf_deadlines *queue, hf_deadline *deadline)
{
    size_t at;

    if (deadline->place == 0)
        return;
    at = deadline_place(queue, deadline);
    queue->count--;
    if (at < queue->count)
        heap_fill(queue, at, queue->items[queue->count]);
    deadline->place = 0;
    heap_shrink(queue);
}

void hf_deadlines_move(hf_deadlines *queue, hf_deadline *deadline, int64_t due_us)
{
    size_t at = deadline_place(queue, deadline);

    deadline->due_us = due_us;
    heap_fill(queue, at, (heap_item){.due_us = due_us, .key = deadline->key, .deadline = deadline});
}
