/* secret.c: see secret.h. */
#include "engine/secret.h"

#include <string.h>

#include "base/rng.h"

enum { SECRET_BYTES = 32 };

hf_status hf_secret_digest(hf_slice secret, uint8_t out_digest[HF_SHA256_BYTES], hf_err *err)
{
    hf_sha256 *sha = NULL;
    hf_status st = hf_sha256_new(&sha, err);

    if (!st)
        st = hf_sha256_digest(sha, secret, out_digest, err);
    hf_sha256_free(sha);
    return st;
}

hf_status hf_secret_make(const char *head, char out_secret[HF_SECRET_SIZE],
                         uint8_t out_digest[HF_SHA256_BYTES], hf_err *err)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint8_t bytes[SECRET_BYTES + 1] = {0};
    size_t len = HF_SECRET_HEAD;
    hf_rng rng;
    hf_status st = hf_rng_init_system(&rng, err);

    if (st)
        return st;
    hf_rng_fill(&rng, bytes, SECRET_BYTES);
    memcpy(out_secret, head, HF_SECRET_HEAD);
    for (size_t bit = 0; bit < SECRET_BYTES * 8; bit += 6) {
        unsigned pair = (unsigned)bytes[bit / 8] << 8 | bytes[bit / 8 + 1];

        out_secret[len++] = alphabet[pair >> (10 - bit % 8) & 63U];
    }
    out_secret[len] = '\0';
    return hf_secret_digest(hf_slice_from(out_secret, len), out_digest, err);
}
