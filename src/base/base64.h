/* base64.h: RFC 4648 base64 with the standard alphabet and padding. Decoding is strict: one byte
   string has exactly one accepted text, because texts are compared and hashed. */
#ifndef HF_BASE_BASE64_H
#define HF_BASE_BASE64_H

#include <stddef.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

/* Bytes of text that `bytes` bytes become. `bytes` must be below SIZE_MAX / 2. */
size_t hf_base64_size(size_t bytes);

/* Writes hf_base64_size(bytes.len) characters, no NUL. */
void hf_base64_put(hf_slice bytes, char *out_text);

void hf_base64_encode(hf_buf *buf, hf_slice bytes);

/* Appends the bytes `text` stands for. White space, missing padding, other alphabets and unused
   bits that are not zero are HF_INVALID, with the byte offset; then nothing is appended. */
HF_NODISCARD hf_status hf_base64_decode(hf_buf *buf, hf_slice text, hf_err *err);

#endif
