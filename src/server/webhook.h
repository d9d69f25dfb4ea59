/* webhook.h: who may call the webhook routes. They have one credential of their own, in one of four
   modes, because those who send webhooks can rarely send anything else. Without a mode the routes
   are not served. */
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
    HF_WEBHOOK_SIGNATURE, /* a header has the HMAC-SHA-256 of the body, in hexadecimal digits */
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

/* "none", "token", "signature" or "custom". */
bool hf_webhook_mode_parse(hf_slice text, hf_webhook_mode *out_mode);

/* HF_INVALID: a mode without what it needs. */
HF_NODISCARD hf_status hf_webhook_check_options(const hf_webhook_options *options, hf_err *err);

/* Whether the mode has to see the body. */
bool hf_webhook_needs_body(hf_webhook_mode mode);

/* True: the request may pass, and *out_principal is who sent it. With the body, except for modes
   that do not need it. `mem` is for the call. */
bool hf_webhook_allows(const hf_webhook_options *options, const hf_http_request *request,
                       hf_mem *mem, hf_principal *out_principal);

#endif
