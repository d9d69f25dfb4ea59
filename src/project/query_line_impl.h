/* query_line_impl.h: the words of the query line, between the file that reads lines and the one
   that writes them. */
#ifndef HF_PROJECT_QUERY_LINE_IMPL_H
#define HF_PROJECT_QUERY_LINE_IMPL_H

#include <stdbool.h>

#include "project/query_line.h"

/* What stands behind is: */
typedef struct hf_query_state {
    const char *word;
    const char *filter;
    const char *value;
    const char *help;
} hf_query_state;

/* What stands in front of a colon. */
typedef struct hf_query_field {
    const char *word;
    const char *filter;
    const char *part;  /* NULL: only the whole value */
    const char *facet; /* NULL: none */
    const char *help;
} hf_query_field;

/* What stands in front of < and >. */
typedef struct hf_query_time {
    const char *word;
    const char *from; /* the filter from which on */
    const char *to;   /* the filter before which */
} hf_query_time;

enum { HF_QUERY_STATES = 15, HF_QUERY_FIELDS = 11, HF_QUERY_TIMES = 2 };

extern const hf_query_state hf_query_states[HF_QUERY_STATES];
extern const hf_query_field hf_query_fields[HF_QUERY_FIELDS];
extern const hf_query_time hf_query_times[HF_QUERY_TIMES];

/* One word of a line. */
typedef struct hf_query_word {
    size_t start;
    size_t end;
    hf_slice text;    /* as it stands there */
    hf_slice field;   /* empty: none */
    const char *sign; /* ":", "<", ">", "<=" or ">="; NULL: none */
    hf_slice raw;     /* what stands behind the sign, or all of it */
    hf_slice value;   /* the same without quotes */
    bool quoted;
    bool not ;         /* a minus stands in front */
    const char *error; /* NULL: it is understood so far */
} hf_query_word;

bool hf_query_space(char c);

/* Behind the word that begins there; blanks between quotes belong to it. */
size_t hf_query_word_end(hf_slice line, size_t at);

/* The word that begins there. */
void hf_query_word_read(hf_mem *mem, hf_slice line, size_t start, hf_query_word *out_word);

/* The next word behind `at`; false: there is none. */
bool hf_query_word_next(hf_mem *mem, hf_slice line, size_t at, hf_query_word *out_word);

/* Whether the field is `prefix` and a name. */
bool hf_query_word_named(const hf_query_word *word, const char *prefix, hf_slice *out_name);

/* HF_INVALID: it is too long, or no text. */
HF_NODISCARD hf_status hf_query_line_check(hf_slice line, hf_err *err);

#endif
