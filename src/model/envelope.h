/* envelope.h: values as they travel: {"codec": "avro", "blob": "<base64>"} between servers and
   workers, plain JSON where people write them. Bytes are kept as they came, tagged with their
   codec; they are transcoded only when somebody asks for the other form. */
#ifndef HF_MODEL_ENVELOPE_H
#define HF_MODEL_ENVELOPE_H

#include "base/err.h"
#include "base/mem.h"
#include "holdfast/value.h"
#include "model/decision.h"

/* What an envelope, a bare blob or a plain value stands for; bytes in the arena. `codec` says how a
   bare text is to be read: ptr NULL: it is a plain value; "avro": base64 of a frame; "json": JSON
   text. No value and null are no payload. HF_INVALID names the codec that is not known
   (unsupported_payload_codec), the blob that is no base64, or the frame that is malformed. */
HF_NODISCARD hf_status hf_envelope_read(hf_mem *mem, hf_value value, hf_slice codec,
                                        hf_decision_payload *out_payload, hf_err *err);

/* The plain value that a payload stands for; null when there is none. */
HF_NODISCARD hf_status hf_envelope_value(hf_mem *mem, const hf_decision_payload *payload,
                                         hf_value *out_value, hf_err *err);

/* {"codec", "blob"} in the wanted codec; null when there is no payload. */
HF_NODISCARD hf_status hf_envelope_write(hf_mem *mem, const hf_decision_payload *payload,
                                         hf_payload_codec wanted, hf_value *out_value, hf_err *err);

#endif
