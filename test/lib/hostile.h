/* hostile.h: requests that every part of the server must refuse, in one list: the 24 that tell
   strict servers from lenient ones, and a generated corpus. */
#ifndef HF_TEST_LIB_HOSTILE_H
#define HF_TEST_LIB_HOSTILE_H

#include <stddef.h>

#include "base/buf.h"

/* Puts hostile request `i` into `out_bytes` and names it; NULL beyond the last. */
const char *hf_hostile_at(size_t i, hf_buf *out_bytes);

/* Puts malformed request `i` of the corpus into `out_bytes`; false beyond the last. Each is a good
   request with one change that makes it bad wherever it is made. */
bool hf_hostile_malformed(size_t i, hf_buf *out_bytes);

#endif
