/* buf.h: owned, growing bytes. A failed allocation makes the buffer "failed": later appends do
   nothing and the caller checks once, at the end (hf_buf_ok). Zero-initialise or hf_buf_init;
   hf_buf_fini frees. */
#ifndef HF_BASE_BUF_H
#define HF_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/slice.h"

typedef struct hf_buf {
    char *ptr; /* always followed by a NUL byte when not NULL */
    size_t len;
    size_t capacity; /* bytes allocated at ptr, the NUL included */
    bool failed;     /* an allocation failed; the content is incomplete */
} hf_buf;

void hf_buf_init(hf_buf *buf);
void hf_buf_fini(hf_buf *buf);
void hf_buf_clear(hf_buf *buf); /* empty and usable again, memory kept */
bool hf_buf_ok(const hf_buf *buf);
hf_slice hf_buf_slice(const hf_buf *buf);   /* borrowed until the buffer changes */
const char *hf_buf_text(const hf_buf *buf); /* NUL-terminated, "" when empty; borrowed */

/* Room for `bytes` more; returns where they go (advance with hf_buf_advance) or NULL. */
char *hf_buf_reserve(hf_buf *buf, size_t bytes);
void hf_buf_advance(hf_buf *buf, size_t bytes);

void hf_buf_add(hf_buf *buf, const void *bytes, size_t len);
void hf_buf_add_slice(hf_buf *buf, hf_slice bytes);
void hf_buf_add_text(hf_buf *buf, const char *text);
void hf_buf_add_byte(hf_buf *buf, uint8_t byte);
void hf_buf_add_format(hf_buf *buf, const char *format, ...) HF_FORMAT(2, 3);
void hf_buf_add_varint(hf_buf *buf, uint64_t number); /* LEB128, 1 to 10 bytes */

/* Reads what hf_buf_add_varint wrote from the front of *rest; false when cut short, over-long or
 * over 64 bits. */
bool hf_slice_take_varint(hf_slice *rest, uint64_t *out_number);
/* Takes `len` bytes from the front of *rest; false when there are fewer. */
bool hf_slice_take(hf_slice *rest, size_t len, hf_slice *out_bytes);

#endif
