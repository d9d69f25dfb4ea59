/* ed25519.h: public-key signatures over a whole text (RFC 8032). Pure functions. */
#ifndef HF_BASE_ED25519_H
#define HF_BASE_ED25519_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

enum { HF_ED25519_KEY_BYTES = 32, HF_ED25519_SIGN_BYTES = 64 };

/* The private key is the seed of 32 bytes. HF_ERROR when OpenSSL offers no Ed25519. */
HF_NODISCARD hf_status hf_ed25519_sign(const uint8_t seed[HF_ED25519_KEY_BYTES], hf_slice text,
                                       uint8_t out_sign[HF_ED25519_SIGN_BYTES],
                                       uint8_t out_public[HF_ED25519_KEY_BYTES], hf_err *err);

/* A signature that does not fit is no failure: *out_fits says so. HF_NOMEM. */
HF_NODISCARD hf_status hf_ed25519_check(const uint8_t key[HF_ED25519_KEY_BYTES], hf_slice text,
                                        const uint8_t sign[HF_ED25519_SIGN_BYTES], bool *out_fits,
                                        hf_err *err);

#endif
