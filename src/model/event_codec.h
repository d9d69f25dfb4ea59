/* event_codec.h: events as stored bytes. A unit of work appends one chunk: 1 to 256 events in at
   most 64 KiB. One chunk has exactly one encoding, so bytes can be compared and hashed. The layout
   and the recipe for changing it are in event_codec.c. Pure functions; any thread. */
#ifndef HF_MODEL_EVENT_CODEC_H
#define HF_MODEL_EVENT_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/crypto.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"
#include "model/event.h"

enum {
    HF_EVENT_CHUNK_FORMAT = 1,
    HF_EVENT_CHUNK_EVENTS_MAX = 256,
    HF_EVENT_CHUNK_BYTES_MAX = 64 * 1024,
};

/* Where a chunk stands in its run; all of it is covered by the chunk's hash. */
typedef struct hf_event_chunk_place {
    uint8_t previous[HF_SHA256_BYTES]; /* hash of the chunk before; zeros for the first */
    uint64_t run_key;
    uint64_t first_seq; /* history sequence of the chunk's first event */
} hf_event_chunk_place;

/* Replaces the content of `body`. HF_INVALID for an event that breaks a rule of event.h, for times
   that decrease and for no or too many events; HF_TOOBIG when the body would be too long: store
   payloads apart or use two chunks; HF_NOMEM. On failure `body` is empty. */
HF_NODISCARD hf_status hf_event_chunk_encode(const hf_event *events, size_t count, hf_buf *body,
                                             hf_err *err);

/* The events of a body, in the arena; texts, bytes and digests borrow from `body`, which must live
   as long as they are used. HF_NEWER for a format this program does not know, HF_CORRUPT, with what
   and where, for anything the encoder would not have written; HF_NOMEM. */
HF_NODISCARD hf_status hf_event_chunk_decode(hf_mem *mem, hf_slice body, hf_event **out_events,
                                             size_t *out_count, hf_err *err);

/* The link of the chain: SHA-256 over the place and the events, with each payload replaced by its
   codec, size and digest. So it does not change when a payload moves out of line or is erased, and
   changes with everything else. `sha` is the caller's, one per thread. */
HF_NODISCARD hf_status hf_event_chunk_hash(hf_sha256 *sha, const hf_event *events, size_t count,
                                           const hf_event_chunk_place *place,
                                           uint8_t out_hash[HF_SHA256_BYTES], hf_err *err);

/* Turns an inline payload into a reference or an erased one, or a reference into an erased one; the
   digest is put into the arena. Asking for the form it has does nothing. HF_INVALID for the way
   back; HF_NOMEM. On failure the payload is untouched. */
HF_NODISCARD hf_status hf_payload_detach(hf_sha256 *sha, hf_mem *mem, hf_payload_form form,
                                         hf_payload_value *payload, hf_err *err);

#endif
