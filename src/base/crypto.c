/* crypto.c: OpenSSL behind base types. Algorithms are fetched when an object is made, never per
   digest: the lookup costs more than hashing a short text. */
#include "base/crypto.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "base/alloc.h"
#include "base/assert.h"

struct hf_sha256 {
    EVP_MD *algorithm;
    EVP_MD_CTX *state;
    bool failed; /* a step since the last begin failed */
};

struct hf_hmac {
    EVP_MAC *algorithm;
    EVP_MAC_CTX *state; /* holds the key */
    bool failed;
};

hf_status hf_sha256_new(hf_sha256 **out_sha, hf_err *err)
{
    hf_sha256 *sha = hf_alloc(sizeof(*sha));

    if (!sha)
        return hf_err_nomem(err, "a SHA-256 state");
    sha->algorithm = EVP_MD_fetch(NULL, "SHA256", NULL);
    sha->state = EVP_MD_CTX_new();
    if (!sha->algorithm || !sha->state) {
        hf_sha256_free(sha);
        return hf_err_set(err, HF_ERROR, "OpenSSL offers no SHA-256");
    }
    sha->failed = true; /* until it begins */
    *out_sha = sha;
    return HF_OK;
}

void hf_sha256_free(hf_sha256 *sha)
{
    if (!sha)
        return;
    EVP_MD_CTX_free(sha->state);
    EVP_MD_free(sha->algorithm);
    hf_alloc_free(sha);
}

void hf_sha256_begin(hf_sha256 *sha)
{
    sha->failed = EVP_DigestInit_ex2(sha->state, sha->algorithm, NULL) != 1;
}

void hf_sha256_add(hf_sha256 *sha, hf_slice bytes)
{
    if (!sha->failed && bytes.len)
        sha->failed = EVP_DigestUpdate(sha->state, bytes.ptr, bytes.len) != 1;
}

hf_status hf_sha256_end(hf_sha256 *sha, uint8_t out_digest[HF_SHA256_BYTES], hf_err *err)
{
    if (!sha->failed)
        sha->failed = EVP_DigestFinal_ex(sha->state, out_digest, NULL) != 1;
    if (sha->failed)
        return hf_err_set(err, HF_ERROR, "SHA-256 failed");
    sha->failed = true; /* a digest is taken once */
    return HF_OK;
}

hf_status hf_sha256_digest(hf_sha256 *sha, hf_slice bytes, uint8_t out_digest[HF_SHA256_BYTES],
                           hf_err *err)
{
    hf_sha256_begin(sha);
    hf_sha256_add(sha, bytes);
    return hf_sha256_end(sha, out_digest, err);
}

hf_status hf_hmac_new(hf_slice key, hf_hmac **out_hmac, hf_err *err)
{
    char name[] = "SHA256";
    OSSL_PARAM options[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0),
        OSSL_PARAM_construct_end(),
    };
    hf_hmac *hmac;

    if (key.len == 0)
        return hf_err_set(err, HF_INVALID, "the key of an HMAC is empty");
    hmac = hf_alloc(sizeof(*hmac));
    if (!hmac)
        return hf_err_nomem(err, "an HMAC state");
    hmac->algorithm = EVP_MAC_fetch(NULL, "HMAC", NULL);
    hmac->state = hmac->algorithm ? EVP_MAC_CTX_new(hmac->algorithm) : NULL;
    if (!hmac->state ||
        EVP_MAC_init(hmac->state, (const unsigned char *)key.ptr, key.len, options) != 1) {
        hf_hmac_free(hmac);
        return hf_err_set(err, HF_ERROR, "OpenSSL offers no HMAC with SHA-256");
    }
    *out_hmac = hmac;
    return HF_OK;
}

void hf_hmac_free(hf_hmac *hmac)
{
    if (!hmac)
        return;
    EVP_MAC_CTX_free(hmac->state);
    EVP_MAC_free(hmac->algorithm);
    hf_alloc_free(hmac);
}

void hf_hmac_begin(hf_hmac *hmac)
{
    hmac->failed = EVP_MAC_init(hmac->state, NULL, 0, NULL) != 1;
}

void hf_hmac_add(hf_hmac *hmac, hf_slice bytes)
{
    if (!hmac->failed && bytes.len)
        hmac->failed =
            EVP_MAC_update(hmac->state, (const unsigned char *)bytes.ptr, bytes.len) != 1;
}

hf_status hf_hmac_end(hf_hmac *hmac, uint8_t out_digest[HF_SHA256_BYTES], hf_err *err)
{
    size_t size = 0;

    if (!hmac->failed)
        hmac->failed = EVP_MAC_final(hmac->state, out_digest, &size, HF_SHA256_BYTES) != 1 ||
                       size != HF_SHA256_BYTES;
    return hmac->failed ? hf_err_set(err, HF_ERROR, "HMAC failed") : HF_OK;
}

hf_status hf_hmac_digest(hf_hmac *hmac, hf_slice bytes, uint8_t out_digest[HF_SHA256_BYTES],
                         hf_err *err)
{
    hf_hmac_begin(hmac);
    hf_hmac_add(hmac, bytes);
    return hf_hmac_end(hmac, out_digest, err);
}

bool hf_crypto_equal(hf_slice a, hf_slice b)
{
    return a.len == b.len && (a.len == 0 || CRYPTO_memcmp(a.ptr, b.ptr, a.len) == 0);
}

void hf_hex_print(hf_slice bytes, char *out_text)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char byte = (unsigned char)bytes.ptr[i];

        out_text[2 * i] = digits[byte >> 4];
        out_text[2 * i + 1] = digits[byte & 15];
    }
    out_text[2 * bytes.len] = '\0';
}

bool hf_hex_parse(hf_slice text, void *out, size_t bytes)
{
    uint8_t *at = out;

    if (text.len % 2 || text.len / 2 != bytes)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (hf_hex_digit(text.ptr[i]) < 0)
            return false;
    }
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(hf_hex_digit(text.ptr[2 * i]) << 4 | hf_hex_digit(text.ptr[2 * i + 1]));
    return true;
}
