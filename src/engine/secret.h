/* secret.h: secrets that are handed out once, and of which only a digest is kept. */
#ifndef HF_ENGINE_SECRET_H
#define HF_ENGINE_SECRET_H

#include "base/crypto.h"
#include "base/err.h"

enum { HF_SECRET_SIZE = 48, HF_SECRET_HEAD = 3 };

/* 256 random bits as text behind `head` (three characters, so that scanners find one that leaked),
   and the digest of all of it. */
HF_NODISCARD hf_status hf_secret_make(const char *head, char out_secret[HF_SECRET_SIZE],
                                      uint8_t out_digest[HF_SHA256_BYTES], hf_err *err);

/* The digest of one that somebody shows. */
HF_NODISCARD hf_status hf_secret_digest(hf_slice secret, uint8_t out_digest[HF_SHA256_BYTES],
                                        hf_err *err);

#endif
