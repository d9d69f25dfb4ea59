/* name.h: what the names callers choose may look like; the kinds and their bounds are in name.def.
   Pure checks: nothing is trimmed, folded or shortened here. */
#ifndef HF_MODEL_NAME_H
#define HF_MODEL_NAME_H

#include "base/attr.h"
#include "base/err.h"
#include "base/slice.h"
#include "model/vocab.h"

typedef enum hf_name_alphabet {
    HF_NAME_ALPHABET_ID,
    HF_NAME_ALPHABET_LOWER,
    HF_NAME_ALPHABET_ALIAS,
    HF_NAME_ALPHABET_PART,
    HF_NAME_ALPHABET_TEXT,
} hf_name_alphabet;

/* HF_OK, or HF_INVALID with a text that names the kind and either the length or the first bad
   character and its position, counted from 1. */
HF_NODISCARD hf_status hf_name_check(hf_name_kind kind, hf_slice name, hf_err *err);

/* The same for a text that is no name and has no bound of its own, such as the value of a search
   attribute: well-formed, without control characters. It may be empty. `word` says what it is. */
HF_NODISCARD hf_status hf_name_check_text(const char *word, hf_slice text, hf_err *err);

/* The longest name of a kind in characters, and its alphabet; for pages and contracts. */
int hf_name_longest(hf_name_kind kind);
hf_name_alphabet hf_name_alphabet_of(hf_name_kind kind);

/* The alphabet in words. */
const char *hf_name_alphabet_text(hf_name_alphabet alphabet);

#endif
