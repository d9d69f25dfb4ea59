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

/* Reads the text into the arena and checks its checksum. HF_TOOBIG beyond HF_BUNDLE_BYTES_MAX,
   HF_NEWER for a schema, version or event type that a newer program wrote, HF_INVALID for anything
   else that is not a bundle, HF_NOMEM. */
HF_NODISCARD hf_status hf_bundle_read(hf_mem *mem, hf_slice text, hf_bundle_history *out_history,
                                      hf_err *err);

#endif
