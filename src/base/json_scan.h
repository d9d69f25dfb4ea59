/* json_scan.h: JSON text token by token, from wherever it comes, in constant memory. As strict as
   json.h, except that it knows nothing of the keys before the one at hand: whoever minds two equal
   ones compares. Long strings come in pieces. One thread. */
#ifndef HF_BASE_JSON_SCAN_H
#define HF_BASE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

enum { HF_JSON_SCAN_KEY_MAX = 1024 }; /* bytes of a key; a longer one is HF_TOOBIG */

typedef enum hf_json_token {
    HF_JSON_TOKEN_END, /* of the text */
    HF_JSON_TOKEN_OBJECT,
    HF_JSON_TOKEN_OBJECT_END,
    HF_JSON_TOKEN_ARRAY,
    HF_JSON_TOKEN_ARRAY_END,
    HF_JSON_TOKEN_KEY,
    HF_JSON_TOKEN_STRING, /* or a piece of one */
    HF_JSON_TOKEN_NUMBER, /* as it stands in the text */
    HF_JSON_TOKEN_TRUE,
    HF_JSON_TOKEN_FALSE,
    HF_JSON_TOKEN_NULL
} hf_json_token;

/* Reads at most `size` bytes that begin at byte `at`; *out_got 0 is the end. */
typedef hf_status hf_json_scan_fn(void *ctx, int64_t at, char *room, size_t size, size_t *out_got,
                                  hf_err *err);

typedef struct hf_json_scan hf_json_scan;

/* Begins at byte `from`: with `whole` nothing but white space may follow the value there, else what
   follows is not looked at. */
HF_NODISCARD hf_status hf_json_scan_new(hf_json_scan_fn *read, void *ctx, int64_t from, bool whole,
                                        hf_json_scan **out_scan, hf_err *err);
void hf_json_scan_free(hf_json_scan *scan); /* NULL is allowed */

/* HF_INVALID with "byte N: ...", HF_TOOBIG for what is nested too deeply, what the source says. */
HF_NODISCARD hf_status hf_json_scan_next(hf_json_scan *scan, hf_json_token *out_token, hf_err *err);

/* Of the last token: unescaped text of a key or a string, digits of a number; until the next one.
 */
hf_slice hf_json_scan_text(const hf_json_scan *scan);

/* Where the next value begins, when one does: after a key, or before an item of an array that is
   there. HF_INVALID as above. */
HF_NODISCARD hf_status hf_json_scan_place(hf_json_scan *scan, int64_t *out_at, hf_err *err);

/* The first byte of it. */
HF_NODISCARD hf_status hf_json_scan_peek(hf_json_scan *scan, char *out_byte, hf_err *err);

/* Where a value may begin: false behind the last item of an array or member of an object, whose end
   is then passed. In an object a key is what comes next. */
HF_NODISCARD hf_status hf_json_scan_item(hf_json_scan *scan, bool *out_there, hf_err *err);

/* The whole of the next value: its text, appended to `text`. HF_TOOBIG over `most` bytes. NULL:
   it is passed over. */
HF_NODISCARD hf_status hf_json_scan_value(hf_json_scan *scan, size_t most, hf_buf *text,
                                          hf_err *err);

#endif
