/* status.h: the statuses every Holdfast function returns. Zero is success, everything else is
 * negative. */
#ifndef HOLDFAST_STATUS_H
#define HOLDFAST_STATUS_H

#if defined(__GNUC__)
#define HF_API __attribute__((visibility("default")))
#else
#define HF_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hf_status {
#define HF_STATUS(name, value, text, sentence) name = (value),
#include "holdfast/status.def"
#undef HF_STATUS
} hf_status;

/* A failure and its text, owned by the caller: what happened, in one sentence that says what to do
   where it can. Every function that takes one accepts NULL. */
enum { HF_ERR_TEXT_MAX = 768 };

typedef struct hf_err {
    hf_status status;           /* HF_OK until something failed. */
    char text[HF_ERR_TEXT_MAX]; /* NUL-terminated UTF-8; cut at the end of a character when too
                                   long. */
} hf_err;

/* The stable text of a status ("not_found"); never NULL, "unknown" for a number that is no status.
 */
HF_API const char *hf_strstatus(hf_status status);

/* One sentence that explains a status to a person; never NULL. */
HF_API const char *hf_status_sentence(hf_status status);

#ifdef __cplusplus
}
#endif
#endif
