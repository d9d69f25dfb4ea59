/* ed25519.c: see ed25519.h. */
#include "base/ed25519.h"

#include <openssl/evp.h>

hf_status hf_ed25519_sign(const uint8_t seed[HF_ED25519_KEY_BYTES], hf_slice text,
                          uint8_t out_sign[HF_ED25519_SIGN_BYTES],
                          uint8_t out_public[HF_ED25519_KEY_BYTES], hf_err *err)
{
    EVP_PKEY *key =
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, HF_ED25519_KEY_BYTES);
    EVP_MD_CTX *state = EVP_MD_CTX_new();
    size_t sign_len = HF_ED25519_SIGN_BYTES;
    size_t key_len = HF_ED25519_KEY_BYTES;
    bool done = key && state && EVP_DigestSignInit(state, NULL, NULL, NULL, key) == 1 &&
                EVP_DigestSign(state, out_sign, &sign_len, (const unsigned char *)text.ptr,
                               text.len) == 1 &&
                EVP_PKEY_get_raw_public_key(key, out_public, &key_len) == 1;

    EVP_MD_CTX_free(state);
    EVP_PKEY_free(key);
    return done ? HF_OK : hf_err_set(err, HF_ERROR, "OpenSSL cannot sign with Ed25519");
}

hf_status hf_ed25519_check(const uint8_t key[HF_ED25519_KEY_BYTES], hf_slice text,
                           const uint8_t sign[HF_ED25519_SIGN_BYTES], bool *out_fits, hf_err *err)
{
    EVP_PKEY *public_key =
        EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key, HF_ED25519_KEY_BYTES);
    EVP_MD_CTX *state = EVP_MD_CTX_new();
    bool ready =
        public_key && state && EVP_DigestVerifyInit(state, NULL, NULL, NULL, public_key) == 1;

    *out_fits = ready && EVP_DigestVerify(state, sign, HF_ED25519_SIGN_BYTES,
                                          (const unsigned char *)text.ptr, text.len) == 1;
    EVP_MD_CTX_free(state);
    EVP_PKEY_free(public_key);
    return state ? HF_OK : hf_err_nomem(err, "a signature");
}
