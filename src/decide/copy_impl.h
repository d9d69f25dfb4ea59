/* copy_impl.h: what is open at the cut, for copy.c, which finds it, and copy_draft.c, which makes
   it again in the new run. */
#ifndef HF_DECIDE_COPY_IMPL_H
#define HF_DECIDE_COPY_IMPL_H

#include "decide/copy.h"

typedef enum copy_kind {
    COPY_ACTIVITY,
    COPY_TIMER,
    COPY_CHILD,
    COPY_SIGNAL,
    COPY_UPDATE
} copy_kind;

/* Something that began before the cut and did not end there. */
typedef struct copy_open {
    copy_kind kind;
    size_t at;   /* the event that began it */
    int64_t key; /* of its row in the new run; 0: none yet */
    hf_ulid id;  /* messages */
    int64_t started;
    int64_t lost;
    bool running;
} copy_open;

/* The later event that ended the child call of a step, 0 when it is not on the record. */
size_t hf_copy_child_ended(const hf_copy *copy, int64_t step);

#endif
