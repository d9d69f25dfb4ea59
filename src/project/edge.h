/* edge.h: stored things as the published formats show them: ids as ULID text, times as ISO 8601
   with microseconds, payloads as base64 of an Avro frame, whatever codec they were stored with.
   Everything lives in the arena that is passed. A NULL value means that memory ran out, as for all
   constructors of values. Pure functions. */
#ifndef HF_PROJECT_EDGE_H
#define HF_PROJECT_EDGE_H

#include <stdint.h>

#include "base/err.h"
#include "base/id.h"
#include "base/mem.h"
#include "base/slice.h"
#include "base/value.h"
#include "model/event.h"

#define HF_EDGE_NO_TIME INT64_MIN /* shown as null; equal to HF_NONE of the row layer */

/* The text, or null when ptr is NULL. */
hf_value hf_edge_text(hf_mem *mem, hf_slice text);

/* The moment as text, or null for HF_EDGE_NO_TIME. */
hf_value hf_edge_time(hf_mem *mem, int64_t time_us);

hf_value hf_edge_id(hf_mem *mem, const hf_ulid *id);

/* A payload as base64 of an Avro frame; null when its bytes are gone. The payload must not be a
   reference. HF_CORRUPT when the bytes are not what their codec says. */
HF_NODISCARD hf_status hf_edge_blob(hf_mem *mem, const hf_payload_value *payload,
                                    hf_value *out_blob, hf_err *err);

/* The same with its codec beside it: {"codec": "avro", "blob": text}. */
HF_NODISCARD hf_status hf_edge_envelope(hf_mem *mem, const hf_payload_value *payload,
                                        hf_value *out_envelope, hf_err *err);

/* What the payload says, as a plain value; null when its bytes are gone. */
HF_NODISCARD hf_status hf_edge_plain(hf_mem *mem, const hf_payload_value *payload,
                                     hf_value *out_value, hf_err *err);

/* JSON text as a value. HF_CORRUPT when it is none. */
HF_NODISCARD hf_status hf_edge_json(hf_mem *mem, hf_slice json, hf_value *out_value, hf_err *err);

/* Members of `changes` replace those of `before`; null takes one away. */
hf_value hf_edge_merge(hf_mem *mem, hf_value before, hf_value changes);

#endif
