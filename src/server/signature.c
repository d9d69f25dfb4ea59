/* signature.c: see signature.h. Used signatures stand in a map by their digest and in a queue by
   their time, so that those whose window is over are found first. */
#include "server/signature.h"

#include "base/alloc.h"
#include "base/deadline.h"
#include "base/map.h"

enum { USED_MAX = 262144, NONCE_MAX = 64 };

typedef struct used {
    hf_deadline at; /* when it was signed */
    uint8_t digest[HF_SHA256_BYTES];
} used;

struct hf_signatures {
    size_t most;
    int64_t floor_us; /* what was signed then or before cannot be told from what was used */
    hf_map *known;
    hf_deadlines *oldest;
};

hf_status hf_signatures_open(int64_t wall_us, size_t most, hf_signatures **out, hf_err *err)
{
    hf_signatures *signatures = hf_alloc(sizeof(*signatures));
    hf_map_seed seed;
    hf_status st;

    if (!signatures)
        return hf_err_nomem(err, "signatures");
    signatures->most = most ? most : USED_MAX;
    signatures->floor_us = wall_us;
    signatures->oldest = hf_deadlines_new();
    st = hf_map_seed_system(&seed, err);
    if (!st) {
        signatures->known = hf_map_new(seed);
        if (!signatures->known || !signatures->oldest)
            st = hf_err_nomem(err, "signatures");
    }
    if (st) {
        hf_signatures_close(signatures);
        return st;
    }
    *out = signatures;
    return HF_OK;
}

static void oldest_drop(hf_signatures *signatures)
{
    hf_deadline *at = hf_deadlines_pop(signatures->oldest);
    used *u = at->ref;

    (void)hf_map_remove(signatures->known, hf_slice_from(u->digest, sizeof(u->digest)));
    hf_alloc_free(u);
}

void hf_signatures_close(hf_signatures *signatures)
{
    if (!signatures)
        return;
    while (signatures->oldest && hf_deadlines_count(signatures->oldest))
        oldest_drop(signatures);
    hf_deadlines_free(signatures->oldest);
    hf_map_free(signatures->known);
    hf_alloc_free(signatures);
}

/* ---- what is signed */

bool hf_signature_is_bound(const hf_http_request *request)
{
    hf_slice time;

    return hf_http_request_field(request, "x-signature-time", &time);
}

static void line_add(hf_hmac *key, hf_slice text)
{
    hf_hmac_add(key, text);
    hf_hmac_add(key, HF_SLICE("\n"));
}

/* A header's text, empty when there is none. */
static hf_slice header(const hf_http_request *request, const char *name)
{
    hf_slice value = {0};

    (void)hf_http_request_field(request, name, &value);
    return value;
}

hf_status hf_signature_digest(hf_hmac *key, const hf_http_request *request,
                              uint8_t out_digest[HF_SHA256_BYTES], int64_t *out_time_us,
                              hf_err *err)
{
    hf_slice time = header(request, "x-signature-time");
    hf_slice nonce = header(request, "x-signature-nonce");

    if (!hf_slice_int(time, out_time_us) || *out_time_us <= 0)
        return hf_err_set(err, HF_DENIED,
                          "X-Signature-Time is the time of now in microseconds since 1970");
    if (nonce.len > NONCE_MAX)
        return hf_err_set(err, HF_DENIED, "X-Signature-Nonce is longer than %d bytes", NONCE_MAX);
    hf_hmac_begin(key);
    line_add(key, HF_SLICE("holdfast-signature-v1"));
    line_add(key, hf_slice_of(hf_http_method_text(request->method)));
    line_add(key, hf_http_request_part(request, request->target_at, request->target_len));
    line_add(key, header(request, "x-namespace"));
    line_add(key, time);
    line_add(key, nonce);
    hf_hmac_add(key, hf_buf_slice(&request->body));
    return hf_hmac_end(key, out_digest, err);
}

/* ---- what was used */

static hf_status used_add(hf_signatures *signatures, const uint8_t digest[HF_SHA256_BYTES],
                          int64_t time_us, hf_err *err)
{
    used *u = hf_alloc(sizeof(*u));
    hf_status st;

    if (!u)
        return hf_err_nomem(err, "a signature");
    for (size_t i = 0; i < sizeof(u->digest); i++)
        u->digest[i] = digest[i];
    u->at = (hf_deadline){.due_us = time_us, .ref = u};
    st = hf_map_put(signatures->known, hf_slice_from(u->digest, sizeof(u->digest)), u, NULL, err);
    if (!st) {
        st = hf_deadlines_push(signatures->oldest, &u->at, err);
        if (st)
            (void)hf_map_remove(signatures->known, hf_slice_from(u->digest, sizeof(u->digest)));
    }
    if (st)
        hf_alloc_free(u);
    return st;
}

hf_status hf_signatures_use(hf_signatures *signatures, const uint8_t digest[HF_SHA256_BYTES],
                            int64_t time_us, int64_t wall_us, hf_err *err)
{
    const hf_deadline *first;

    while ((first = hf_deadlines_peek(signatures->oldest)) &&
           first->due_us < wall_us - HF_SIGNATURE_WINDOW_US)
        oldest_drop(signatures);
    if (time_us < wall_us - HF_SIGNATURE_WINDOW_US || time_us > wall_us + HF_SIGNATURE_WINDOW_US)
        return hf_err_set(err, HF_DENIED,
                          "the signature is not of the last five minutes by this server's clock");
    if (hf_map_get(signatures->known, hf_slice_from(digest, HF_SHA256_BYTES)))
        return hf_err_set(err, HF_DENIED, "the signature was used before; sign the request anew");
    if (time_us <= signatures->floor_us)
        return hf_err_set(err, HF_DENIED,
                          "the signature is older than this server remembers; sign the request "
                          "anew");
    if (first && hf_deadlines_count(signatures->oldest) >= signatures->most) {
        if (time_us <= first->due_us)
            return hf_err_set(err, HF_DENIED,
                              "the signature is older than this server remembers; sign the request "
                              "anew");
        signatures->floor_us = first->due_us;
        oldest_drop(signatures);
    }
    return used_add(signatures, digest, time_us, err);
}
