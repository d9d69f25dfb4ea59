/* avro.h: the Avro Value payload codec. One fixed schema (durable_workflow.protocol.Value, version
   1), in single-object framing: c3 01, the fingerprint of the schema, one datum.

   Kinds survive both ways: long and double stay apart, -0.0 keeps its sign, bytes are bytes. Map
   entries are written in insertion order as one block, so the same value always gives the same
   bytes; any order and any blocks are read. */
#ifndef HF_BASE_AVRO_H
#define HF_BASE_AVRO_H

#include <stddef.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/slice.h"
#include "base/value.h"

/* Appends the frame; reports through the buffer's failed flag. No value is written as null. */
void hf_avro_encode(hf_buf *buf, hf_value value);

/* Reads one frame into the arena; `frame` is not kept. `limits` may be NULL and counts bytes of the
   frame. HF_INVALID with a text that begins "unsupported_payload_schema" when the fingerprint is
   another, "invalid_payload_framing" when anything else is wrong; HF_TOOBIG beyond a limit;
   HF_NOMEM. Numbers must have their shortest encoding, doubles must be finite, strings UTF-8, keys
   different. */
HF_NODISCARD hf_status hf_avro_decode(hf_mem *mem, hf_slice frame, const hf_json_limits *limits,
                                      hf_value *out_value, hf_err *err);

#endif
