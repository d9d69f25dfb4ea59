/* signature.h: signatures that are good for one request: they cover method, target, namespace and
   time beside the body, for five minutes and for one use. What was used is remembered in bounded
   memory. When that is full the oldest are forgotten, and whatever is as old as they were is
   refused from then on; so is what was signed before this process began: nothing is taken twice
   here. Other servers on the same store remember their own. Belongs to one thread, the loop's. */
#ifndef HF_SERVER_SIGNATURE_H
#define HF_SERVER_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/crypto.h"
#include "base/err.h"
#include "http/request.h"

#define HF_SIGNATURE_WINDOW_US INT64_C(300000000)

/* What people are told to send. */
#define HF_SIGNATURE_ADVICE                                                                        \
    "Send X-Signature-Time, microseconds since 1970, and X-Signature, the HMAC-SHA-256 of "        \
    "\"holdfast-signature-v1\", method, target, X-Namespace, X-Signature-Time, "                   \
    "X-Signature-Nonce (each with a line feed behind it) and the body, as hexadecimal digits."

typedef struct hf_signatures hf_signatures;

/* `wall_us`: the time of now. At most `most` are remembered; 0: 262,144. */
HF_NODISCARD hf_status hf_signatures_open(int64_t wall_us, size_t most, hf_signatures **out,
                                          hf_err *err);
void hf_signatures_close(hf_signatures *signatures); /* NULL is allowed */

/* Whether the request says when it was signed, which the plain form does not. */
bool hf_signature_is_bound(const hf_http_request *request);

/* The time that it was signed at, and the digest that a key makes of it. HF_DENIED: there is no
   such time, with a sentence. */
HF_NODISCARD hf_status hf_signature_digest(hf_hmac *key, const hf_http_request *request,
                                           uint8_t out_digest[HF_SHA256_BYTES],
                                           int64_t *out_time_us, hf_err *err);

/* Uses up a signature that fits. HF_DENIED with a sentence: it is too old, too new or used. */
HF_NODISCARD hf_status hf_signatures_use(hf_signatures *signatures,
                                         const uint8_t digest[HF_SHA256_BYTES], int64_t time_us,
                                         int64_t wall_us, hf_err *err);

#endif
