/* query_line.h: the line in which people say which runs they mean: `type:order is:open started<1h`.
   Words stand side by side and all of them count; query_line.def has the fields. A line becomes the
   filters that lists have (filter.h). A word that cannot be understood is left out and told, and
   the rest is asked. Pure functions; values live in the arena that is passed. */
#ifndef HF_PROJECT_QUERY_LINE_H
#define HF_PROJECT_QUERY_LINE_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"

enum { HF_QUERY_LINE_BYTES_MAX = 2000, HF_QUERY_LINE_TOKENS_MAX = 64 };

/* {"tokens": [{text, start, end, field, not, value, error}], "errors": [{text, start, end,
   message}], "filters": {...}}: what hf_filter_read returned. `now_us` is what ages count from.
   HF_INVALID: the line is too long. */
HF_NODISCARD hf_status hf_query_line_read(hf_mem *mem, hf_slice line, int64_t now_us,
                                          hf_value *out_read, hf_err *err);

/* A line that asks for the filters: a text, or null when the line has no words for one of them.
   NULL: no memory. */
hf_value hf_query_line_write(hf_mem *mem, hf_value filters);

/* The word at a place of a line, for those who propose how it could go on. */
typedef struct hf_query_focus {
    size_t start;
    size_t end;
    hf_slice head;  /* up to the colon, with it: "type:", "label.region:"; empty: no colon yet */
    hf_slice part;  /* what is written of the value up to the place, without quotes */
    hf_slice facet; /* by which a list knows values; empty: none does */
    hf_value words; /* [{"text", "help"}]: what the grammar itself could go on with */
    hf_value rest;  /* filters of the other words */
} hf_query_focus;

/* `at` beyond the line is its end. HF_INVALID: the line is too long. */
HF_NODISCARD hf_status hf_query_line_focus(hf_mem *mem, hf_slice line, size_t at, int64_t now_us,
                                           hf_query_focus *out_focus, hf_err *err);

/* `head` and a value behind it as they stand in a line: with quotes where they are needed. NULL: no
   memory. */
hf_value hf_query_line_word(hf_mem *mem, hf_slice head, hf_slice value);

#endif
