/* webhook.c: see webhook.h. Secrets are compared in constant time. */
#include "server/webhook.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/mem.h"

enum { SECRET_BYTES_MIN = 16 };

static const char *const mode_texts[] = {
    [HF_WEBHOOK_OFF] = "off",     [HF_WEBHOOK_NONE] = "none",
    [HF_WEBHOOK_TOKEN] = "token", [HF_WEBHOOK_SIGNATURE] = "signature",
    [HF_WEBHOOK_BOUND] = "bound", [HF_WEBHOOK_CUSTOM] = "custom"};

bool hf_webhook_mode_parse(hf_slice text, hf_webhook_mode *out_mode)
{
    for (int mode = HF_WEBHOOK_NONE; mode <= HF_WEBHOOK_CUSTOM; mode++)
        if (hf_slice_equal(hf_slice_of(mode_texts[mode]), text)) {
            *out_mode = (hf_webhook_mode)mode;
            return true;
        }
    return false;
}

hf_status hf_webhook_check_options(const hf_webhook_options *options, hf_err *err)
{
    bool secret = options->mode == HF_WEBHOOK_TOKEN || options->mode == HF_WEBHOOK_SIGNATURE ||
                  options->mode == HF_WEBHOOK_BOUND;

    if (secret && (!options->secret || strlen(options->secret) < SECRET_BYTES_MIN))
        return hf_err_set(err, HF_INVALID, "webhooks in mode %s need a secret of at least %d bytes",
                          mode_texts[options->mode], SECRET_BYTES_MIN);
    if (options->mode == HF_WEBHOOK_CUSTOM && !options->check)
        return hf_err_set(err, HF_INVALID,
                          "webhooks in mode custom need a function, which a program of yours has "
                          "in hf_app.webhook");
    return HF_OK;
}

static bool token_fits(const hf_webhook_options *options, const hf_http_request *request)
{
    hf_slice sent;

    return hf_http_request_field(request, options->header ? options->header : "authorization",
                                 &sent) &&
           hf_crypto_equal(sent, hf_slice_of(options->secret));
}

/* Whether the digits are the HMAC of two texts, one behind the other. */
static bool mac_fits(const char *key, const char *before, hf_slice body, hf_slice digits)
{
    uint8_t sent[HF_SHA256_BYTES];
    uint8_t digest[HF_SHA256_BYTES];
    hf_buf text = {0};
    hf_hmac *hmac = NULL;
    bool good;

    if (before) {
        hf_buf_add_text(&text, before);
        hf_buf_add(&text, body.ptr, body.len);
        body = hf_buf_slice(&text);
    }
    good =
        hf_buf_ok(&text) && hf_hex_parse(digits, sent, sizeof(sent)) &&
        !hf_hmac_new(hf_slice_of(key), &hmac, NULL) && !hf_hmac_digest(hmac, body, digest, NULL) &&
        hf_crypto_equal(hf_slice_from(sent, sizeof(sent)), hf_slice_from(digest, sizeof(digest)));
    hf_hmac_free(hmac);
    hf_buf_fini(&text);
    return good;
}

static hf_status refuse(hf_err *err)
{
    return hf_err_set(err, HF_DENIED, "the webhook's credential does not hold");
}

/* The signature of the whole request, which is good once. */
static hf_status bound_check(const hf_webhook_options *options, const hf_http_request *request,
                             hf_slice value, hf_signatures *used, int64_t wall_us, hf_err *err)
{
    uint8_t sent[HF_SHA256_BYTES];
    uint8_t digest[HF_SHA256_BYTES];
    int64_t time_us = 0;
    hf_hmac *key = NULL;
    hf_status st = hf_hmac_new(hf_slice_of(options->secret), &key, err);

    if (!st)
        st = hf_signature_digest(key, request, digest, &time_us, err);
    if (!st && (!hf_hex_parse(value, sent, sizeof(sent)) ||
                !hf_crypto_equal(hf_slice_from(sent, sizeof(sent)),
                                 hf_slice_from(digest, sizeof(digest)))))
        st = refuse(err);
    if (!st)
        st = hf_signatures_use(used, digest, time_us, wall_us, err);
    hf_hmac_free(key);
    return st;
}

static hf_status signature_check(const hf_webhook_options *options, const hf_http_request *request,
                                 hf_signatures *used, int64_t wall_us, hf_err *err)
{
    hf_slice value;

    if (!hf_http_request_field(request, options->header ? options->header : "x-signature", &value))
        return refuse(err);
    if (options->mode == HF_WEBHOOK_BOUND || hf_signature_is_bound(request))
        return bound_check(options, request, value, used, wall_us, err);
    return mac_fits(options->secret, NULL, hf_buf_slice(&request->body), value) ? HF_OK
                                                                                : refuse(err);
}

/* What the function of a program is shown. */
typedef struct shown {
    const hf_http_request *request;
    hf_mem *mem;
} shown;

static bool custom_allows(const hf_webhook_options *options, const hf_http_request *request,
                          hf_mem *mem)
{
    const shown what = {request, mem};
    const hf_slice head = hf_buf_slice(&request->head);
    const hf_slice body = hf_buf_slice(&request->body);
    const hf_webhook webhook = {
        .size_ = sizeof(webhook),
        .method = hf_http_method_text(request->method),
        .target =
            hf_mem_text(mem, hf_slice_from(head.ptr + request->target_at, request->target_len)),
        .body = body.len ? hf_buf_text(&request->body) : "",
        .body_len = body.len,
        .impl_ = &what};

    return webhook.target && options->check(options->arg, &webhook);
}

bool hf_webhook_needs_body(hf_webhook_mode mode)
{
    return mode == HF_WEBHOOK_SIGNATURE || mode == HF_WEBHOOK_BOUND || mode == HF_WEBHOOK_CUSTOM;
}

static hf_status mode_check(const hf_webhook_options *options, const hf_http_request *request,
                            hf_signatures *used, int64_t wall_us, hf_mem *mem, hf_err *err)
{
    switch (options->mode) {
    case HF_WEBHOOK_OFF:
        break;
    case HF_WEBHOOK_NONE:
        return HF_OK;
    case HF_WEBHOOK_TOKEN:
        return token_fits(options, request) ? HF_OK : refuse(err);
    case HF_WEBHOOK_SIGNATURE:
    case HF_WEBHOOK_BOUND:
        return signature_check(options, request, used, wall_us, err);
    case HF_WEBHOOK_CUSTOM:
        return custom_allows(options, request, mem) ? HF_OK : refuse(err);
    }
    return refuse(err);
}

const char *hf_webhook_advice(const hf_webhook_options *options)
{
    switch (options->mode) {
    case HF_WEBHOOK_TOKEN:
        return "Send the secret that this server was given for webhooks in the header that it was "
               "given for them, which is Authorization if nothing was said.";
    case HF_WEBHOOK_SIGNATURE:
        return "Send X-Signature: the HMAC-SHA-256 of the body under the secret that this server "
               "was given for webhooks, as hexadecimal digits.";
    case HF_WEBHOOK_BOUND:
        return HF_SIGNATURE_ADVICE;
    case HF_WEBHOOK_CUSTOM:
        return "The program that serves judges webhooks by a function of its own: ask its owner.";
    case HF_WEBHOOK_OFF:
    case HF_WEBHOOK_NONE:
        break;
    }
    return NULL;
}

const char *hf_webhook_header(const hf_webhook *webhook, const char *name)
{
    const shown *what = webhook ? webhook->impl_ : NULL;
    char *lower = what && name ? hf_mem_text(what->mem, hf_slice_of(name)) : NULL;
    hf_slice value;

    for (size_t i = 0; lower && lower[i]; i++)
        if (lower[i] >= 'A' && lower[i] <= 'Z')
            lower[i] = (char)(lower[i] + ('a' - 'A'));
    return lower && hf_http_request_field(what->request, lower, &value)
               ? hf_mem_text(what->mem, value)
               : NULL;
}

bool hf_webhook_signed(const hf_webhook *webhook, const char *key, const char *before,
                       const char *signature)
{
    return webhook && key && *key && signature &&
           mac_fits(key, before, hf_slice_from(webhook->body, webhook->body_len),
                    hf_slice_of(signature));
}

hf_status hf_webhook_check(const hf_webhook_options *options, const hf_http_request *request,
                           hf_signatures *used, int64_t wall_us, hf_mem *mem,
                           hf_principal *out_principal, hf_err *err)
{
    hf_status st = mode_check(options, request, used, wall_us, mem, err);

    if (st)
        return st;
    *out_principal = (hf_principal){.role = HF_ROLE_OPERATOR,
                                    .method = mode_texts[options->mode],
                                    .id = "webhook",
                                    .label = "webhook"};
    (void)snprintf(out_principal->namespaces, sizeof(out_principal->namespaces), "%s",
                   options->namespaces ? options->namespaces : "default");
    return HF_OK;
}
