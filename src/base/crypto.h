/* crypto.h: SHA-256, HMAC-SHA-256, comparison in constant time, and hexadecimal text. The two
   objects look their algorithm up once and are then used again and again; each belongs to one
   thread at a time. */
#ifndef HF_BASE_CRYPTO_H
#define HF_BASE_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

enum { HF_SHA256_BYTES = 32, HF_SHA256_TEXT_SIZE = 65 };

typedef struct hf_sha256 hf_sha256;
typedef struct hf_hmac hf_hmac;

HF_NODISCARD hf_status hf_sha256_new(hf_sha256 **out_sha, hf_err *err);
void hf_sha256_free(hf_sha256 *sha); /* NULL is allowed */

/* Piece by piece: begin, add, add, end. A failure on the way is reported by the end; beginning
   again is always possible. */
void hf_sha256_begin(hf_sha256 *sha);
void hf_sha256_add(hf_sha256 *sha, hf_slice bytes);
HF_NODISCARD hf_status hf_sha256_end(hf_sha256 *sha, uint8_t out_digest[HF_SHA256_BYTES],
                                     hf_err *err);

/* All in one. */
HF_NODISCARD hf_status hf_sha256_digest(hf_sha256 *sha, hf_slice bytes,
                                        uint8_t out_digest[HF_SHA256_BYTES], hf_err *err);

/* HMAC-SHA-256 under one key, which is copied; HF_INVALID for an empty key. */
HF_NODISCARD hf_status hf_hmac_new(hf_slice key, hf_hmac **out_hmac, hf_err *err);
void hf_hmac_free(hf_hmac *hmac); /* NULL is allowed */
/* In parts, as SHA-256; the key stays. */
void hf_hmac_begin(hf_hmac *hmac);
void hf_hmac_add(hf_hmac *hmac, hf_slice bytes);
HF_NODISCARD hf_status hf_hmac_end(hf_hmac *hmac, uint8_t out_digest[HF_SHA256_BYTES], hf_err *err);

HF_NODISCARD hf_status hf_hmac_digest(hf_hmac *hmac, hf_slice bytes,
                                      uint8_t out_digest[HF_SHA256_BYTES], hf_err *err);

/* Whether two secrets are equal, in a time that depends on their lengths only. */
bool hf_crypto_equal(hf_slice a, hf_slice b);

/* Writes 2 * bytes.len lower case digits and a NUL. */
void hf_hex_print(hf_slice bytes, char *out_text);

/* Reads exactly 2 * bytes digits of either case; false, and nothing written, for anything else. */
bool hf_hex_parse(hf_slice text, void *out, size_t bytes);

#endif
