/* webhook.h: who may call the webhook routes. They have one credential of their own, in one of
   these modes, because those who send webhooks can rarely send anything else. Without a mode the
   routes are not served. */
#ifndef HF_SERVER_WEBHOOK_H
#define HF_SERVER_WEBHOOK_H

#include "base/attr.h"
#include "base/err.h"
#include "holdfast/holdfast.h"
#include "http/request.h"
#include "server/auth.h"

typedef enum hf_webhook_mode {
    HF_WEBHOOK_OFF,
    HF_WEBHOOK_NONE,      /* everybody may */
    HF_WEBHOOK_TOKEN,     /* a header has exactly this value */
    HF_WEBHOOK_SIGNATURE, /* a header has the HMAC-SHA-256 of the body, in hexadecimal digits, or
                             with a time the one of signature.h */
    HF_WEBHOOK_BOUND,     /* the latter alone */
    HF_WEBHOOK_CUSTOM     /* a function says so */
} hf_webhook_mode;

typedef struct hf_webhook_options {
    hf_webhook_mode mode;
    const char *header; /* NULL: Authorization for a token, X-Signature for a signature */
    const char *secret; /* the token, or the key of the signature; at least 16 bytes */
    bool (*check)(void *arg, const hf_webhook *webhook); /* CUSTOM: hf_app.webhook */
    void *arg;
    const char *namespaces; /* that webhooks may reach, by commas; NULL: default alone */
} hf_webhook_options;

/* "none", "token", "signature", "bound" or "custom". */
bool hf_webhook_mode_parse(hf_slice text, hf_webhook_mode *out_mode);

/* HF_INVALID: a mode without what it needs. */
HF_NODISCARD hf_status hf_webhook_check_options(const hf_webhook_options *options, hf_err *err);

/* Whether the mode has to see the body. */
bool hf_webhook_needs_body(hf_webhook_mode mode);

/* HF_OK: the request may pass, and *out_principal is who sent it. With the body, except for modes
   that do not need it. HF_DENIED with a sentence that is safe to show. `used` and `wall_us` as of
   signature.h; `mem` is for the call. The loop's thread. */
HF_NODISCARD hf_status hf_webhook_check(const hf_webhook_options *options,
                                        const hf_http_request *request, hf_signatures *used,
                                        int64_t wall_us, hf_mem *mem, hf_principal *out_principal,
                                        hf_err *err);

/* What a caller that was refused should send. */
const char *hf_webhook_advice(const hf_webhook_options *options);

#endif
