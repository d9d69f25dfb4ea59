/* bundle_read.h: a history bundle as events that can be replayed. What Holdfast exported comes back
   field by field as it was stored; of bundles that others wrote come the published keys, with
   payloads as the Avro they carry. Whatever is wrong with the text is said in one sentence; nothing
   in it is trusted. Pure functions. */
#ifndef HF_PROJECT_BUNDLE_READ_H
#define HF_PROJECT_BUNDLE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"
#include "base/value.h"
#include "model/event.h"

typedef struct hf_bundle_history {
    hf_slice instance_id;
    hf_slice run_id;
    hf_slice workflow_type;
    int64_t run_key; /* as the run id says: what a replay's randomness is seeded with */
    bool complete;   /* the run was closed */
    hf_event *events;
    size_t count;
    int64_t *units; /* of each event the sequence at which its unit begins; NULL: not said */
} hf_bundle_history;

/* What a bundle says of one event. Values are borrowed. */
typedef struct hf_bundle_event {
    hf_value event;
    int64_t seq;
    hf_slice codec; /* of payloads that do not say */
    bool ours;      /* the bundle is Holdfast's: what follows says what was stored, and how */
    hf_value keys;  /* of the stored fields; NULL: not said */
    hf_value own;   /* [sequence, key, value], ordered by event: fields without a published place */
    hf_value avro;  /* [sequence, key] of payloads that were stored as Avro; the same */
    hf_value input; /* the run's arguments */
} hf_bundle_event;

/* Adds the event as it was stored to the builder, in whose arena it lives; *io_time_us is the time
   of the one before it. HF_NEWER, HF_INVALID, HF_NOMEM. */
HF_NODISCARD hf_status hf_bundle_event_read(hf_event_builder *builder, const hf_bundle_event *event,
                                            int64_t *io_time_us, hf_err *err);

/* The text as a value: schema, version, sections and checksum are right. As hf_bundle_read. */
HF_NODISCARD hf_status hf_bundle_open(hf_mem *mem, hf_slice text, hf_value *out_bundle,
                                      hf_err *err);

/* What that value has of a history. Events and units are made in `keep`; names are the bundle's
   own. */
HF_NODISCARD hf_status hf_bundle_history_of(hf_mem *keep, hf_value bundle,
                                            hf_bundle_history *out_history, hf_err *err);

/* Reads the text into the arena and checks its checksum. HF_TOOBIG beyond HF_BUNDLE_BYTES_MAX,
   HF_NEWER for a schema, version or event type that a newer program wrote, HF_INVALID for anything
   else that is not a bundle, HF_NOMEM. */
HF_NODISCARD hf_status hf_bundle_read(hf_mem *mem, hf_slice text, hf_bundle_history *out_history,
                                      hf_err *err);

#endif
