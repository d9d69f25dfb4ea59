/* bundle_verify_impl.h: what bundle_verify.c and bundle_integrity.c share. */
#ifndef HF_PROJECT_BUNDLE_VERIFY_IMPL_H
#define HF_PROJECT_BUNDLE_VERIFY_IMPL_H

#include "project/bundle_verify.h"

/* A check under way. */
typedef struct bundle_check {
    hf_mem *mem;  /* of the report */
    hf_mem *work; /* of the value at hand */
    hf_mem *side; /* of another one beside it */
    hf_bundle_file file;
    const hf_bundle_verify_options *options;
    hf_value_list *findings;
    size_t finding_count;
    int64_t events;
    bool open; /* the text could be read to its end */
    bool warned;
    bool failed;
} bundle_check;

/* ---- bundle_verify.c */

/* A rule does not hold: the bundle is not to be relied on, or something cannot be said of it. */
void hf_bundle_fails(bundle_check *c, const char *rule, const char *path, const char *message);
void hf_bundle_warns(bundle_check *c, const char *rule, const char *path, const char *message);

/* A small value of the bundle, kept for the report; NULL also for one that is too big to be what
   it should be. */
HF_NODISCARD hf_status hf_bundle_small(bundle_check *c, const char *path, hf_value *out_value,
                                       hf_err *err);

/* Whether the bundle is too big to be in memory. */
bool hf_bundle_is_big(const bundle_check *c);

/* ---- bundle_integrity.c */

/* Checksum and signatures. */
HF_NODISCARD hf_status hf_bundle_integrity(bundle_check *c, hf_err *err);

/* Whether the events give the hash that the run's history had. */
HF_NODISCARD hf_status hf_bundle_chain_holds(bundle_check *c, hf_err *err);

#endif
