/* bundle_verify.h: whether a history bundle can be relied on, without the store it came from: its
   sections, its events, its manifest, checksum, signatures and the hash chain of its history. Every
   rule that does not hold becomes a finding; nothing in the bundle is trusted.

   Memory does not grow with the bundle: sections and their members ordered by name, as in every
   bundle that Holdfast writes, are read as they come. A bundle in another order is put in order
   first, which takes its size in memory and is refused over HF_BUNDLE_BYTES_MAX. */
#ifndef HF_PROJECT_BUNDLE_VERIFY_H
#define HF_PROJECT_BUNDLE_VERIFY_H

#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"
#include "base/value.h"
#include "project/bundle_file.h"

typedef struct hf_bundle_verify_options {
    hf_slice key;        /* HMAC; ptr NULL: none is at hand */
    hf_slice public_key; /* Ed25519, 64 hexadecimal digits; ptr NULL: the signature's own word */
    bool require_signature;
} hf_bundle_verify_options;

/* The report {"schema", "status": ok|warning|failed, "instance_id", "run_id", "workflow_type",
   "exported_at", "events", "complete", "findings": [...]}. HF_OK also for a bundle
   that is worth nothing: findings are data. HF_NOMEM, and what the source says. */
HF_NODISCARD hf_status hf_bundle_verify_source(hf_mem *mem, const hf_bundle_source *source,
                                               const hf_bundle_verify_options *options,
                                               hf_value *out_report, hf_err *err);
HF_NODISCARD hf_status hf_bundle_verify_text(hf_mem *mem, hf_slice text,
                                             const hf_bundle_verify_options *options,
                                             hf_value *out_report, hf_err *err);

/* Two bundles side by side, step by step: {"a", "b", "equal", "steps": [{"step", "state", ...}]}.
   HF_INVALID, HF_NEWER, HF_TOOBIG as hf_bundle_read. */
HF_NODISCARD hf_status hf_bundle_diff_texts(hf_mem *mem, hf_slice a, hf_slice b, hf_value *out_diff,
                                            hf_err *err);

#endif
