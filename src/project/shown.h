/* shown.h: a payload for people to read: {"codec": "avro", "text": its JSON text, "bytes": how big
   it is, "cut": whether there is more}. At most HF_SHOWN_TEXT_MAX bytes of text; numbers stay
   whole, because it is text. Bytes that are not at hand (big ones that a fold left out, erased
   ones) have the text null. Pure functions. */
#ifndef HF_PROJECT_SHOWN_H
#define HF_PROJECT_SHOWN_H

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"
#include "model/event.h"

enum { HF_SHOWN_TEXT_MAX = 16 * 1024 };

/* The payload must not be a reference. HF_CORRUPT when the bytes are not what their codec says. */
HF_NODISCARD hf_status hf_shown_payload(hf_mem *mem, const hf_payload_value *payload,
                                        hf_value *out_shown, hf_err *err);

/* The same of a value that is none of history: what a command brought. */
HF_NODISCARD hf_status hf_shown_value(hf_mem *mem, hf_value value, hf_value *out_shown,
                                      hf_err *err);

#endif
