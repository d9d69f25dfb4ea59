/* target.h: paths, patterns and query strings. Percent signs are decoded here and only once, after
   a path was cut into segments: a decoded slash, NUL, control character, dot segment or byte that
   is not part of well-formed UTF-8 is refused, so that one resource has one spelling and no segment
   can become two. */
#ifndef HF_HTTP_TARGET_H
#define HF_HTTP_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"

enum { HF_HTTP_PARAMS_MAX = 4, HF_HTTP_PAIRS_MAX = 64 };

/* What the {names} of a pattern stand for, in order. */
typedef struct hf_http_params {
    size_t count;
    hf_slice values[HF_HTTP_PARAMS_MAX]; /* decoded, in the arena, NUL behind each */
} hf_http_params;

/* Whether `path` has the form of `pattern`, "/api/workflows/{id}/signal/{name}", before anything is
   decoded: as many segments, equal where the pattern is literal, none empty. A star at the end of
   the pattern stands for whatever follows, also for nothing. */
bool hf_http_path_fits(const char *pattern, hf_slice path);

/* Decodes the parts of a fitting path. HF_INVALID for what the rule above refuses; HF_NOMEM. */
HF_NODISCARD hf_status hf_http_path_params(hf_mem *mem, const char *pattern, hf_slice path,
                                           hf_http_params *out_params, hf_err *err);

typedef struct hf_http_pair {
    hf_slice name;
    hf_slice value;
} hf_http_pair;

/* name=value pairs of a query, decoded, in order, in the arena; a plus sign is a space. */
typedef struct hf_http_query {
    size_t count;
    hf_http_pair *pairs; /* NULL when there are none */
} hf_http_query;

/* HF_INVALID for bad escapes, text that is not UTF-8, control characters and more than
   HF_HTTP_PAIRS_MAX pairs; HF_NOMEM. An empty query has none. */
HF_NODISCARD hf_status hf_http_query_read(hf_mem *mem, hf_slice text, hf_http_query *out_query,
                                          hf_err *err);

/* The same of a form that was sent, whose texts may have lines and tabs. */
HF_NODISCARD hf_status hf_http_form_read(hf_mem *mem, hf_slice text, hf_http_query *out_form,
                                         hf_err *err);

/* The only value called `name`; false when there is none or more than one. */
bool hf_http_query_find(const hf_http_query *query, const char *name, hf_slice *out_value);

#endif
