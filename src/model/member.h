/* member.h: members of the objects in which programs of ours tell each other of decisions and steps
   (decision_codec.h, step_codec.h). What is not set is left out; what comes in is not trusted. Pure
   functions; what they make lives in the arena. */
#ifndef HF_MODEL_MEMBER_H
#define HF_MODEL_MEMBER_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"
#include "model/decision.h"

/* ---- out: nothing for a text or payload without ptr, or a number that is 0 */

void hf_member_text_set(hf_mem *mem, hf_value_list *object, const char *name, hf_slice text);
void hf_member_int_set(hf_mem *mem, hf_value_list *object, const char *name, int64_t number);
/* As the JSON it is. HF_INVALID: it is none. */
HF_NODISCARD hf_status hf_member_payload_set(hf_mem *mem, hf_value_list *object, const char *name,
                                             const hf_decision_payload *payload, hf_err *err);

/* ---- in: what is not there leaves the output as it is. HF_INVALID names the member. */

/* "NAME what"; HF_INVALID. */
HF_NODISCARD hf_status hf_member_bad(hf_err *err, const char *name, const char *what);

/* The text is borrowed from the object. */
HF_NODISCARD hf_status hf_member_text(hf_value object, const char *name, hf_slice *out_text,
                                      hf_err *err);
/* From -1 on. */
HF_NODISCARD hf_status hf_member_int(hf_value object, const char *name, int64_t *out_number,
                                     hf_err *err);
HF_NODISCARD hf_status hf_member_payload(hf_mem *mem, hf_value object, const char *name,
                                         hf_decision_payload *out_payload, hf_err *err);

#endif
