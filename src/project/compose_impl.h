/* compose_impl.h: the inside of a compose, for the files compose*.c alone. */
#ifndef HF_PROJECT_COMPOSE_IMPL_H
#define HF_PROJECT_COMPOSE_IMPL_H

#include "project/compose.h"

/* What many events show: made once. */
typedef struct hf_compose_kept {
    hf_value run_id;
    hf_value instance_id;
    hf_value type;
    hf_slice policy_json; /* as it is stored */
    hf_value policy;      /* of it; NULL: none was asked for yet */
} hf_compose_kept;

struct hf_compose {
    hf_mem *mem;
    hf_compose_kept *kept;
    const hf_compose_run *run;
    hf_track *track;
    const hf_event *started;
    hf_value memo;
    hf_value attributes;
    int64_t cursor; /* of the run's own messages */
    bool shown;     /* payloads as people read them */
};

/* One event while it is shown. */
typedef struct hf_compose_view {
    hf_compose *c;
    const hf_event *event;
    int64_t seq;
    const hf_ulid *task;
    const hf_track_step *step;       /* NULL: it is of none */
    const hf_track_message *message; /* NULL: it is of none */
    hf_err *err;
    hf_status st; /* the first failure */
} hf_compose_view;

/* The field of an event; NULL when it does not carry the key. */
const hf_event_field *hf_compose_find(const hf_event *event, hf_event_key key);

/* The value of a published key. NULL: see the view's status; HF_OK there means no memory. */
hf_value hf_compose_key(hf_compose_view *v, hf_event_key key);

/* The whole retry policy of an activity. HF_CORRUPT when what is stored is none. */
HF_NODISCARD hf_status hf_compose_policy(const hf_compose *compose, const hf_track_step *step,
                                         hf_value *out_policy, hf_err *err);

#endif
