/* deadline.h: a queue of deadlines, soonest first; equal times come in the order of their keys.
   The caller embeds an hf_deadline in whatever waits and keeps it in place while it is queued; the
   queue remembers where it stands, so that moving and removing cost as little as adding. Only a
   push allocates. Not thread-safe. */
#ifndef HF_BASE_DEADLINE_H
#define HF_BASE_DEADLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Zero-initialise. While it is queued, due_us and key are changed through hf_deadlines_move only.
 */
typedef struct hf_deadline {
    int64_t due_us; /* on whichever clock the owner uses */
    uint64_t key;   /* orders equal times */
    void *ref;      /* the caller's, never touched */
    size_t place;   /* the queue's: 0 when it is not queued, otherwise its position plus one */
} hf_deadline;

typedef struct hf_deadlines hf_deadlines;

HF_NODISCARD hf_deadlines *hf_deadlines_new(void); /* NULL when memory ran out */

/* NULL is allowed. What is still queued becomes unqueued and must therefore still exist. */
void hf_deadlines_free(hf_deadlines *queue);

size_t hf_deadlines_count(const hf_deadlines *queue);
bool hf_deadline_queued(const hf_deadline *deadline);

/* Queues a deadline that is not queued. HF_NOMEM leaves everything as it was. */
HF_NODISCARD hf_status hf_deadlines_push(hf_deadlines *queue, hf_deadline *deadline, hf_err *err);

/* The soonest deadline, or NULL; pop also takes it out. */
hf_deadline *hf_deadlines_peek(const hf_deadlines *queue);
hf_deadline *hf_deadlines_pop(hf_deadlines *queue);

/* Those that are queued, in no order that counts, by 0 to count - 1. */
const hf_deadline *hf_deadlines_at(const hf_deadlines *queue, size_t at);

/* Takes a deadline out; one that is not queued stays as it is. */
void hf_deadlines_remove(hf_deadlines *queue, hf_deadline *deadline);

/* Gives a queued deadline another time. */
void hf_deadlines_move(hf_deadlines *queue, hf_deadline *deadline, int64_t due_us);

#endif
