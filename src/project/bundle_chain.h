/* bundle_chain.h: the hash of the history in a bundle, link by link, with one unit of it in memory
   at a time. */
#ifndef HF_PROJECT_BUNDLE_CHAIN_H
#define HF_PROJECT_BUNDLE_CHAIN_H

#include "project/bundle_file.h"

/* What the events in the bundle say the head of the run's history is. HF_INVALID, HF_NEWER,
   HF_TOOBIG as hf_bundle_read, HF_NOMEM. */
HF_NODISCARD hf_status hf_bundle_chain(const hf_bundle_file *file,
                                       char out_head[HF_SHA256_TEXT_SIZE], hf_err *err);

#endif
