/* bundle.h: a run as the published history bundle (schema durable-workflow.v2.history-export,
   version 1): its history composed for readers outside, the sections that follow from it, a
   manifest of its payloads and a checksum over all.

   Beside the published sections stands one of our own, "holdfast": where each unit of work begins,
   which keys each event stores (the others are composed) and what it stores that has no published
   place. With it the events can be read back exactly as they were (bundle_read.h); without it they
   can still be replayed. Entries of its timeline do not repeat the payload of their event. */
#ifndef HF_PROJECT_BUNDLE_H
#define HF_PROJECT_BUNDLE_H

#include <stdint.h>

#include "base/crypto.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"
#include "base/value.h"
#include "project/dossier.h"
#include "project/redact.h"

#define HF_BUNDLE_SCHEMA "durable-workflow.v2.history-export"

enum {
    HF_BUNDLE_VERSION = 1,
    HF_BUNDLE_FORMAT = 1,                  /* of the section "holdfast" */
    HF_BUNDLE_BYTES_MAX = 64 * 1024 * 1024 /* of text that is read back */
};

typedef struct hf_bundle_options {
    int64_t now_us;
    hf_slice key;    /* signs the bundle; white space at its ends does not count; empty: unsigned */
    hf_slice key_id; /* which key; ptr NULL: not said */
    hf_slice seed;   /* Ed25519: the private key, 64 hexadecimal digits; empty: no such signature */
    hf_redact_fn *redact; /* NULL: nothing is redacted */
    void *redact_arg;
    hf_slice redact_policy; /* what the redactor calls itself */
} hf_bundle_options;

/* The bundle, in the arena. HF_CORRUPT when a stored value cannot be read, HF_NOMEM. Any thread. */
HF_NODISCARD hf_status hf_bundle_make(const hf_dossier *dossier, hf_mem *mem,
                                      const hf_bundle_options *options, hf_value *out_bundle,
                                      hf_err *err);

/* Whether the Ed25519 signature in the integrity block is one of the checksum. Else it is one of
   the whole canonical text, as bundles had it first. */
bool hf_bundle_public_signs_checksum(hf_value integrity);

/* Compares the Ed25519 signature with what it covers: the checksum as the content has it, or the
   canonical text. `key` is the signer's public key in hexadecimal; empty: the one that the bundle
   names. HF_INVALID with a sentence when it does not fit. */
HF_NODISCARD hf_status hf_bundle_public_check(hf_value integrity, hf_slice key, hf_slice covered,
                                              hf_err *err);

/* Compares the checksum, and with a key the signature, to what the bundle says. HF_INVALID with a
   sentence when they differ, are missing, or are made in a way that is not known here. */
HF_NODISCARD hf_status hf_bundle_check(hf_value bundle, hf_slice key, hf_err *err);

#endif
