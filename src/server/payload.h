/* payload.h: values as they travel between the server and its clients: plain JSON, or an envelope
   {"codec": "avro", "blob": "<base64>"}. */
#ifndef HF_SERVER_PAYLOAD_H
#define HF_SERVER_PAYLOAD_H

#include "base/attr.h"
#include "base/err.h"
#include "base/mem.h"
#include "holdfast/value.h"

/* The plain value that was sent; one that is no envelope stays as it is. HF_INVALID for an unknown
   codec (the text begins with unsupported_payload_codec) and for a blob that cannot be read. */
HF_NODISCARD hf_status hf_payload_open(hf_mem *mem, hf_value sent, hf_value *out_value,
                                       hf_err *err);

/* The envelope of a value, in Avro. NULL when memory ran out. */
hf_value hf_payload_seal(hf_mem *mem, hf_value value);

#endif
