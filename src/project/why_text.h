/* why_text.h: sentences from templates. {word} is replaced; [part] is left out when a word in it is
   not known, and [part|other] becomes `other` then. */
#ifndef HF_PROJECT_WHY_TEXT_H
#define HF_PROJECT_WHY_TEXT_H

#include <stddef.h>

#include "base/mem.h"
#include "base/slice.h"

typedef struct hf_why_word {
    const char *name;
    const char *text; /* NULL: not known */
} hf_why_word;

/* The sentence, in the arena; NULL: no memory. A word that is not known outside brackets becomes
   "unknown". */
const char *hf_why_text_make(hf_mem *mem, const char *form, const hf_why_word *words, size_t count);

/* Names of which one comes, in words: "fire, discard or opened" of "fire|discard|opened", in the
   arena; NULL: there is none, or no memory. */
const char *hf_why_text_choice(hf_mem *mem, hf_slice names);

/* A length of time for people: "3 s", "41 min", "7 h 19 min", "2 d 4 h". */
const char *hf_why_text_span(hf_mem *mem, int64_t us);

#endif
