/* words.h: what a failure says of itself, fit for the record. User code may say anything at any
   length; what is recorded is text and bounded, so that no event grows beyond what a chunk of
   history holds. Pure; the answers are parts of what was given, or constant. */
#ifndef HF_MODEL_WORDS_H
#define HF_MODEL_WORDS_H

#include "base/slice.h"

enum {
    HF_WORDS_TYPE_MAX = 191,     /* characters */
    HF_WORDS_MESSAGE_MAX = 8192, /* bytes */
};

/* "invalid_failure" for a type that is no text; cut when it is longer. */
hf_slice hf_words_type(hf_slice type);

/* Cut at the end of a character; bytes that are no text end it. */
hf_slice hf_words_message(hf_slice message);

#endif
