/* storage.h: payloads outside of messages: a local directory, and references to what lies in it. A
   reference names file, size and SHA-256; what does not fit all three is refused. Files are named
   by their content, so that nothing is ever written over.

   Any thread; may block on the disk. */
#ifndef HF_SERVER_STORAGE_H
#define HF_SERVER_STORAGE_H

#include <limits.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"
#include "holdfast/value.h"

enum { HF_STORAGE_THRESHOLD = 65536 }; /* bytes, unless the policy of a namespace says otherwise */

/* Where a namespace's payloads lie; the directory is the host's. */
typedef struct hf_storage {
    const char *root;  /* absolute; NULL: there is none */
    const char *space; /* namespace */
    hf_mem *mem;       /* for what is returned */
} hf_storage;

/* The absolute path of a directory that is there. HF_INVALID. */
HF_NODISCARD hf_status hf_storage_find(const char *folder, char out_root[PATH_MAX], hf_err *err);

/* Keeps the payload (the text of an envelope's blob); the reference as the wire has it. */
HF_NODISCARD hf_status hf_storage_put(const hf_storage *storage, hf_slice blob,
                                      hf_value *out_reference, hf_err *err);

/* HF_INVALID: the reference is none of ours, or what it names is not what it says. */
HF_NODISCARD hf_status hf_storage_get(const hf_storage *storage, hf_value reference,
                                      hf_slice *out_blob, hf_err *err);

/* The value with a payload in the place of every reference, {codec, external_storage}. */
HF_NODISCARD hf_status hf_storage_inline(const hf_storage *storage, hf_value value,
                                         hf_value *out_value, hf_err *err);

/* The value with a reference in the place of every envelope {codec, blob} over `threshold` bytes.
 */
HF_NODISCARD hf_status hf_storage_outline(const hf_storage *storage, size_t threshold,
                                          hf_value value, hf_value *out_value, hf_err *err);

#endif
