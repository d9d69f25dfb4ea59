/* bundle_integrity.c: whether a bundle is what its maker sealed: checksum, signatures, and the hash
   chain of its history. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "project/bundle.h"
#include "project/bundle_chain.h"
#include "project/bundle_verify_impl.h"

static void checksum_check(bundle_check *c, hf_value seal)
{
    const char *said = hf_str(seal, "checksum", NULL);
    char why[256] = "";

    if (!said)
        (void)snprintf(why, sizeof(why), "the bundle carries no checksum");
    else if (strcmp(hf_str(seal, "checksum_algorithm", ""), "sha256") != 0)
        (void)snprintf(why, sizeof(why), "the bundle's checksum is made in an unknown way");
    else if (strcmp(said, c->file.checksum) != 0)
        (void)snprintf(why, sizeof(why),
                       "the bundle was changed: its checksum is %.64s, its content has %s", said,
                       c->file.checksum);
    if (why[0])
        hf_bundle_fails(c, "integrity.checksum_mismatch", "integrity.checksum", why);
}

static void signature_check(bundle_check *c, hf_value seal)
{
    const char *said = hf_str(seal, "signature", NULL);

    if (c->options->key.len && !said)
        hf_bundle_fails(c, "integrity.signature_missing", "integrity.signature",
                        "the bundle is not signed");
    else if (c->options->key.len &&
             !hf_crypto_equal(hf_slice_of(said), hf_slice_of(c->file.signature)))
        hf_bundle_fails(c, "integrity.signature_mismatch", "integrity.signature",
                        "the bundle was changed, or is signed with another key");
    else if (said && !c->options->key.len)
        hf_bundle_warns(c, "integrity.signature_key_unavailable", "integrity.signature",
                        "the bundle is signed, and no key is at hand to check it");
}

/* A signature of the whole text, as bundles had it first, needs the text. */
static hf_status public_whole(bundle_check *c, hf_value seal, hf_err *why, hf_err *err)
{
    hf_bundle_file again;
    hf_buf text = {0};
    hf_status st;

    if (hf_bundle_is_big(c))
        return hf_err_set(why, HF_INVALID,
                          "the signature is one of the whole text, which is too big for it");
    st = hf_bundle_file_open(&c->file.source, (hf_slice){0}, &text, &again, err);
    if (!st)
        st = hf_bundle_public_check(seal, c->options->public_key, hf_buf_slice(&text), why);
    hf_buf_fini(&text);
    return st;
}

static hf_status public_check(bundle_check *c, hf_value seal, hf_err *err)
{
    hf_err why = {0};
    hf_status st;

    if (!hf_str(seal, "ed25519_signature", NULL)) {
        if (c->options->public_key.len)
            hf_bundle_fails(c, "integrity.signature_missing", "integrity.ed25519_signature",
                            "the bundle has no public-key signature");
        return HF_OK;
    }
    st = hf_bundle_public_signs_checksum(seal)
             ? hf_bundle_public_check(seal, c->options->public_key, hf_slice_of(c->file.checksum),
                                      &why)
             : public_whole(c, seal, &why, err);
    if (st == HF_NOMEM || (st && !why.status))
        return st == HF_NOMEM ? hf_err_nomem(err, "a bundle") : st;
    if (st)
        hf_bundle_fails(c, "integrity.ed25519_mismatch", "integrity.ed25519_signature", why.text);
    else if (!c->options->public_key.len)
        hf_bundle_warns(c, "integrity.ed25519_key_unavailable", "integrity.ed25519_public_key",
                        "the signature fits the key in the bundle; whose key it is nobody said");
    return HF_OK;
}

hf_status hf_bundle_integrity(bundle_check *c, hf_err *err)
{
    hf_value seal = NULL;
    hf_status st = hf_bundle_small(c, "integrity", &seal, err);

    if (st)
        return st;
    if (hf_value_kind_of(seal) != HF_VALUE_OBJECT) {
        hf_bundle_fails(c, "integrity.missing", "integrity", "the bundle carries no checksum");
        return HF_OK;
    }
    if (strcmp(hf_str(seal, "canonicalization", ""), "json-recursive-ksort-v1") != 0) {
        hf_bundle_fails(c, "integrity.canonicalization_unsupported", "integrity.canonicalization",
                        "the checksum is made in an unknown way");
        return HF_OK;
    }
    checksum_check(c, seal);
    signature_check(c, seal);
    st = public_check(c, seal, err);
    if (!st && c->options->require_signature && !hf_str(seal, "signature", NULL) &&
        !hf_str(seal, "ed25519_signature", NULL))
        hf_bundle_fails(c, "integrity.signature_missing", "integrity", "the bundle is not signed");
    return st;
}

hf_status hf_bundle_chain_holds(bundle_check *c, hf_err *err)
{
    hf_value head = NULL;
    char computed[HF_SHA256_TEXT_SIZE];
    bool stored = false;
    hf_err why = {0};
    hf_status st = hf_bundle_small(c, "holdfast.history_head", &head, err);

    if (!st)
        st = hf_bundle_file_has(&c->file, HF_SLICE("holdfast.stored"), &stored, err);
    if (st)
        return st;
    if (!hf_str(head, "", NULL) || !stored) {
        hf_bundle_warns(c, "integrity.chain_unavailable", "holdfast",
                        "the bundle does not carry what the hash chain is made of");
        return HF_OK;
    }
    st = hf_bundle_chain(&c->file, computed, &why);
    if (st == HF_NOMEM || st == HF_IO)
        return hf_err_set(err, st, "%s", why.text);
    if (st)
        hf_bundle_fails(c, "history_events.unreadable", "history_events", why.text);
    else if (strcmp(computed, hf_str(head, "", "")) != 0)
        hf_bundle_fails(c, "integrity.chain_mismatch", "holdfast.history_head",
                        "the events do not give the hash that the run's history had");
    return HF_OK;
}
