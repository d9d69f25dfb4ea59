/* webhook.c: see webhook.h. Secrets are compared in constant time. */
#include "server/webhook.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"

enum { SECRET_BYTES_MIN = 16 };

static const char *const mode_texts[] = {[HF_WEBHOOK_OFF] = "off",
                                         [HF_WEBHOOK_NONE] = "none",
                                         [HF_WEBHOOK_TOKEN] = "token",
                                         [HF_WEBHOOK_SIGNATURE] = "signature",
                                         [HF_WEBHOOK_CUSTOM] = "custom"};

bool hf_webhook_mode_parse(hf_slice text, hf_webhook_mode *out_mode)
{
    for (int mode = HF_WEBHOOK_NONE; mode <= HF_WEBHOOK_SIGNATURE; mode++)
        if (hf_slice_equal(hf_slice_of(mode_texts[mode]), text)) {
            *out_mode = (hf_webhook_mode)mode;
            return true;
        }
    return false;
}

hf_status hf_webhook_check_options(const hf_webhook_options *options, hf_err *err)
{
    bool secret = options->mode == HF_WEBHOOK_TOKEN || options->mode == HF_WEBHOOK_SIGNATURE;

    if (secret && (!options->secret || strlen(options->secret) < SECRET_BYTES_MIN))
        return hf_err_set(err, HF_INVALID, "webhooks in mode %s need a secret of at least %d bytes",
                          mode_texts[options->mode], SECRET_BYTES_MIN);
    if (options->mode == HF_WEBHOOK_CUSTOM && !options->check)
        return hf_err_set(err, HF_INVALID, "webhooks in mode custom need a function");
    return HF_OK;
}

static bool token_fits(const hf_webhook_options *options, const hf_http_request *request)
{
    hf_slice sent;

    return hf_http_request_field(request, options->header ? options->header : "authorization",
                                 &sent) &&
           hf_crypto_equal(sent, hf_slice_of(options->secret));
}

static bool signature_fits(const hf_webhook_options *options, const hf_http_request *request)
{
    uint8_t sent[HF_SHA256_BYTES];
    uint8_t digest[HF_SHA256_BYTES];
    hf_hmac *hmac = NULL;
    hf_slice value;
    bool good =
        hf_http_request_field(request, options->header ? options->header : "x-signature", &value) &&
        hf_hex_parse(value, sent, sizeof(sent)) &&
        !hf_hmac_new(hf_slice_of(options->secret), &hmac, NULL) &&
        !hf_hmac_digest(hmac, hf_buf_slice(&request->body), digest, NULL) &&
        hf_crypto_equal(hf_slice_from(sent, sizeof(sent)), hf_slice_from(digest, sizeof(digest)));

    hf_hmac_free(hmac);
    return good;
}

static bool mode_allows(const hf_webhook_options *options, const hf_http_request *request)
{
    switch (options->mode) {
    case HF_WEBHOOK_OFF:
        return false;
    case HF_WEBHOOK_NONE:
        return true;
    case HF_WEBHOOK_TOKEN:
        return token_fits(options, request);
    case HF_WEBHOOK_SIGNATURE:
        return signature_fits(options, request);
    case HF_WEBHOOK_CUSTOM:
        return options->check(options->arg, request);
    }
    return false;
}

bool hf_webhook_allows(const hf_webhook_options *options, const hf_http_request *request,
                       hf_principal *out_principal)
{
    if (!mode_allows(options, request))
        return false;
    *out_principal = (hf_principal){.role = HF_ROLE_OPERATOR,
                                    .method = mode_texts[options->mode],
                                    .id = "webhook",
                                    .label = "webhook"};
    (void)snprintf(out_principal->namespaces, sizeof(out_principal->namespaces), "%s",
                   options->namespaces ? options->namespaces : "default");
    return true;
}
