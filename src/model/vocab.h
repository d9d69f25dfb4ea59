/* vocab.h: the words of the engine. For each list of vocab.def this header has, generated:
     enum hf_X                                    the words; 0 is none of them
     hf_X_list                                    the rows, for pages and checks; .count says how
   many const char *hf_X_text(hf_X)                  wire text; "unknown" for a number outside the
   list bool hf_X_parse(hf_slice, hf_X *out)         exact text; false and *out untouched otherwise
     bool hf_X_from(int64_t, hf_X *out)           a stored number; false and *out untouched
   otherwise Everything here is constant and safe from any thread. */
#ifndef HF_MODEL_VOCAB_H
#define HF_MODEL_VOCAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

typedef enum hf_vocab_origin {
    HF_CONTRACT,  /* a published word */
    HF_EXTENSION, /* Holdfast's own */
} hf_vocab_origin;

typedef struct hf_vocab_item {
    int number;             /* stored; never reused */
    const char *text;       /* on the wire */
    const char *name;       /* the C enumerator */
    hf_vocab_origin origin; /* whose word it is */
    const char *sentence;   /* for people */
} hf_vocab_item;

typedef struct hf_vocab {
    const char *name;     /* "run_status" */
    const char *title;    /* heading of its table in the reference page */
    const char *sentence; /* what the list is */
    const hf_vocab_item *items;
    size_t count;
} hf_vocab;

/* The i-th list in the order of vocab.def, NULL past the last. */
const hf_vocab *hf_vocab_at(size_t index);

/* The row of a number or a text, NULL when the list has none. */
const hf_vocab_item *hf_vocab_by_number(const hf_vocab *list, int64_t number);
const hf_vocab_item *hf_vocab_by_text(const hf_vocab *list, hf_slice text);

/* The text of a number, "unknown" when the list has none. */
const char *hf_vocab_text(const hf_vocab *list, int64_t number);

#define HF_LIST(list, title, sentence)                                                             \
    typedef enum hf_##list                                                                         \
    {
#define HF_ITEM(enumerator, number, text, origin, sentence) enumerator = (number),
#define HF_LIST_END(list)                                                                          \
    }                                                                                              \
    hf_##list;                                                                                     \
    extern const hf_vocab hf_##list##_list;                                                        \
    const char *hf_##list##_text(hf_##list value);                                                 \
    bool hf_##list##_parse(hf_slice text, hf_##list *out_value);                                   \
    bool hf_##list##_from(int64_t number, hf_##list *out_value);
#include "model/vocab.def"
#undef HF_LIST
#undef HF_ITEM
#undef HF_LIST_END

/* Outcomes of refused commands are numbered from here; those of accepted ones stay below. */
enum { HF_CMD_OUTCOME_REJECTED_FROM = 101 };

bool hf_cmd_outcome_rejected(hf_cmd_outcome outcome);

/* Which bucket a run's status falls into, and whether it is closed. */
hf_status_bucket hf_run_status_bucket(hf_run_status status);
bool hf_run_status_closed(hf_run_status status);

/* What an operator sees beside a repair blocked reason; NULL when `reason` is none of the list. */
typedef struct hf_repair_blocked_look {
    hf_repair_blocked_reason reason;
    const char *label; /* words of the badge */
    const char *tone;  /* colour word: dark, warning or secondary */
    bool badge;        /* shown in lists; it is also the value of repair_attention */
} hf_repair_blocked_look;

const hf_repair_blocked_look *hf_repair_blocked_look_get(hf_repair_blocked_reason reason);

#endif
