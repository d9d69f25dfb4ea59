/* sign.h: requests signed as clients do it: signature.h from the other side. */
#ifndef HF_TEST_SERVER_SIGN_H
#define HF_TEST_SERVER_SIGN_H

#include <stdio.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "lib/engine.h"

/* What a request says of itself. */
typedef struct signed_request {
    const char *method, *target, *namespace, *body; /* "" for what is not there */
    int64_t time_us;                                /* 0: now */
    const char *nonce;                              /* NULL: none */
} signed_request;

/* Header lines: signature, time, nonce. */
static inline void sign(const char *secret, const signed_request *r, char *out, size_t room)
{
    int64_t time_us = r->time_us ? r->time_us : hf_clock_wall_us(hf_clock_system());
    uint8_t digest[HF_SHA256_BYTES];
    char hex[HF_SHA256_TEXT_SIZE];
    hf_hmac *key = NULL;
    hf_buf text = {0};
    hf_err err = {0};

    hf_buf_add_format(&text, "holdfast-signature-v1\n%s\n%s\n%s\n%lld\n%s\n%s", r->method,
                      r->target, r->namespace, (long long)time_us, r->nonce ? r->nonce : "",
                      r->body);
    hf_test_ok(hf_hmac_new(hf_slice_of(secret), &key, &err), &err, "key");
    hf_test_ok(hf_hmac_digest(key, hf_buf_slice(&text), digest, &err), &err, "sign");
    hf_hmac_free(key);
    hf_buf_fini(&text);
    hf_hex_print(hf_slice_from(digest, sizeof(digest)), hex);
    (void)snprintf(out, room, "X-Signature: %s\r\nX-Signature-Time: %lld\r\n", hex,
                   (long long)time_us);
    if (r->nonce)
        (void)snprintf(out + strlen(out), room - strlen(out), "X-Signature-Nonce: %s\r\n",
                       r->nonce);
    if (r->namespace[0])
        (void)snprintf(out + strlen(out), room - strlen(out), "X-Namespace: %s\r\n", r->namespace);
}

#endif
