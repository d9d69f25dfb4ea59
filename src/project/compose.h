/* compose.h: a stored event as the published formats show it. Stored events are compact; here each
   gets every key that the published registry lists for its type, from its own fields, from what
   earlier events of the run said, from the run and from the definition it was started with. What
   nobody knows is null; the six keys of a parallel group are there only when there is a group.

   Events go through in order, from the first. A payload with payload_codec beside it is the bare
   base64 text, any other {"codec": "avro", "blob": text}; after hf_compose_show all of them are as
   shown.h has them. Memo, search attributes and progress are plain values, because operators read
   them. Must never read a database. */
#ifndef HF_PROJECT_COMPOSE_H
#define HF_PROJECT_COMPOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/id.h"
#include "base/mem.h"
#include "base/value.h"
#include "model/definition.h"
#include "model/event.h"
#include "project/track.h"

typedef struct hf_compose hf_compose;

/* The run the events are of. Borrowed for the compose's life. */
typedef struct hf_compose_run {
    int64_t key;
    hf_ulid id;
    hf_slice instance_id;
    hf_slice type;
    hf_slice queue;
    int64_t number;
    hf_slice business_key;       /* ptr NULL: none */
    hf_slice parent_instance_id; /* ptr NULL: it is nobody's child */
    hf_ulid parent_run_id;
    int64_t parent_step;
    const hf_definition_snapshot *definition; /* NULL: not known */
} hf_compose_run;

/* Values are made in `mem`, which outlives the compose. */
HF_NODISCARD hf_status hf_compose_new(hf_mem *mem, const hf_compose_run *run,
                                      hf_compose **out_compose, hf_err *err);
void hf_compose_free(hf_compose *compose); /* NULL is allowed */

/* Payloads are for people from now on. Before the first event. */
void hf_compose_show(hf_compose *compose);
bool hf_compose_shows(const hf_compose *compose);

/* A payload with its codec beside it, in either way. */
HF_NODISCARD hf_status hf_compose_payload(const hf_compose *compose,
                                          const hf_payload_value *payload, hf_value *out_value,
                                          hf_err *err);

/* The next event, whose payloads are all inline or erased; it lives as long as the compose. `task`
   is the id of the turn that wrote it, NULL when no turn did. HF_CORRUPT when a stored value cannot
   be read, HF_NOMEM. */
HF_NODISCARD hf_status hf_compose_event(hf_compose *compose, const hf_event *event, int64_t seq,
                                        const hf_ulid *task, hf_value *out_event, hf_err *err);

/* The next event without showing it: what it says is known to those that follow. */
HF_NODISCARD hf_status hf_compose_pass(hf_compose *compose, const hf_event *event, int64_t seq,
                                       hf_err *err);

/* The id of the turn that wrote the unit of work which begins at event `unit`; false when no turn
   did: commands are recorded by whoever took them. */
bool hf_compose_turn(const hf_compose *compose, const hf_event *first, int64_t unit,
                     hf_ulid *out_task);

/* What the events so far say. */
const hf_track *hf_compose_track(const hf_compose *compose);
hf_value hf_compose_memo(const hf_compose *compose); /* objects */
hf_value hf_compose_attributes(const hf_compose *compose);
const hf_event *hf_compose_started(const hf_compose *compose); /* WorkflowStarted; NULL: not yet */

/* The whole activity or attempt as it is now; the step must be an activity's. */
HF_NODISCARD hf_status hf_compose_activity(const hf_compose *compose, const hf_track_step *step,
                                           hf_value *out_activity, hf_err *err);
hf_value hf_compose_attempt(const hf_compose *compose, const hf_track_step *step,
                            const hf_track_attempt *attempt);

/* One field of an event as it is shown; null when the event does not carry the key. */
HF_NODISCARD hf_status hf_compose_field(const hf_compose *compose, const hf_event *event,
                                        hf_event_key key, hf_value *out_value, hf_err *err);

#endif
