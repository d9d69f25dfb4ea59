/* json.h: JSON text to values and back.

   The reader is strict: RFC 8259 and nothing more, well-formed UTF-8, no lone surrogates, no
   duplicate keys (compared after unescaping), bounded in size and depth. Whole numbers that fit an
   int64_t become integers, all others the nearest double; "-0" becomes the double -0.0, as no
   integer can hold it. A number too large for a double is refused, one too small becomes 0.0.

   The writers append to a buffer and report through its failed flag (hf_buf_ok). No value is
   written as null. None of them, nor the reader, depends on the locale. */
#ifndef HF_BASE_JSON_H
#define HF_BASE_JSON_H

#include <stddef.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"
#include "base/value.h"

enum { HF_JSON_BYTES_MAX = 2 * 1024 * 1024 };

typedef struct hf_json_limits {
    size_t bytes_max; /* of text; 0: HF_JSON_BYTES_MAX */
    size_t depth_max; /* containers inside each other; 0 or more than that: HF_VALUE_DEPTH_MAX */
} hf_json_limits;

/* Reads one value into the arena; `text` is not kept. `limits` may be NULL. HF_INVALID with "byte
   N: ..." when the text is not JSON, HF_TOOBIG beyond a limit, HF_NOMEM. */
HF_NODISCARD hf_status hf_json_read(hf_mem *mem, hf_slice text, const hf_json_limits *limits,
                                    hf_value *out_value, hf_err *err);

/* As hf_json_read, where each byte 0x01 in the place of a value stands for the next of `splices`.
   The spliced values are shared, not copied. */
HF_NODISCARD hf_status hf_json_read_spliced(hf_mem *mem, hf_slice text, const hf_value *splices,
                                            size_t splice_count, hf_value *out_value, hf_err *err);

/* Compact text, members in insertion order, UTF-8 as it is. Doubles keep a sign that they are
   doubles ("7.0"), so that reading gives an equal value, except that bytes come back as text. */
void hf_json_write(hf_buf *buf, hf_value value);

/* As hf_json_write, with the members of the outer two levels of objects ordered by key bytes, so
   that what reads it need not have it whole. */
void hf_json_write_outer(hf_buf *buf, hf_value value);

/* RFC 8785: members ordered by UTF-16 code units, numbers as ECMAScript prints them (7.0 is "7").
   One deviation: an integer beyond 2^53 is written exactly, where the RFC would round it to a
   double first. */
void hf_json_write_canonical(hf_buf *buf, hf_value value);

/* json-recursive-ksort-v1, the text under the checksums of history exports: members ordered by key
   bytes, non-ASCII as \uXXXX, doubles as PHP prints them with a zero fraction ("1.0", "1.0e+25"),
   and an empty object as []. */
void hf_json_write_ksort(hf_buf *buf, hf_value value);
/* The same in pieces, in order, for whoever needs no more than one at a time. False: no memory. */
typedef void hf_json_take(void *ctx, hf_slice piece);
HF_NODISCARD bool hf_json_ksort_pieces(hf_value value, hf_json_take *take, void *ctx);

/* `text` escaped for the inside of a JSON string, without the quotes. */
void hf_json_add_escaped(hf_buf *buf, hf_slice text);

/* The same as hf_json_write_ksort has it. */
void hf_json_add_escaped_ascii(hf_buf *buf, hf_slice text);

#endif
