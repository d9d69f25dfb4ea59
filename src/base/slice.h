/* slice.h: borrowed bytes. A slice owns nothing and need not end in NUL; it lives as long as what
 * it borrows. */
#ifndef HF_BASE_SLICE_H
#define HF_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hf_slice {
    const char *ptr; /* NULL only when len is 0 */
    size_t len;
} hf_slice;

/* A slice over a string literal. */
#define HF_SLICE(literal) ((hf_slice){.ptr = ("" literal), .len = sizeof(literal) - 1})

hf_slice hf_slice_of(const char *text); /* NULL gives the empty slice */
hf_slice hf_slice_from(const void *bytes, size_t len);
bool hf_slice_equal(hf_slice a, hf_slice b);
int hf_slice_compare(hf_slice a, hf_slice b); /* by bytes, then by length */
bool hf_slice_starts(hf_slice text, hf_slice prefix);
/* Whether the words are somewhere in it; letters of ASCII are the same, large or small. */
bool hf_slice_has(hf_slice text, hf_slice words);
hf_slice hf_slice_trim(hf_slice text); /* without ASCII white space at both ends */

/* Takes the part of *rest before the next `separator` and moves *rest behind it. False when *rest
   is exhausted: its ptr becomes NULL. An empty part counts ("a,,b" has three), as does the one
   after a final separator. */
bool hf_slice_split(hf_slice *rest, char separator, hf_slice *out_part);

/* The value of a hexadecimal digit, in either case; -1 when it is none. */
int hf_hex_digit(char c);

/* A whole slice as a decimal number, no sign tricks, no white space, no overflow. */
bool hf_slice_int(hf_slice text, int64_t *out_number);

#endif
