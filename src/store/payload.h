/* payload.h: payloads that are too big for a history chunk live in rows of their own, compressed
   when that helps, found by run and digest, and checked by size and digest whenever they are read.
 */
#ifndef HF_STORE_PAYLOAD_H
#define HF_STORE_PAYLOAD_H

#include "base/crypto.h"
#include "base/err.h"
#include "base/mem.h"
#include "model/event.h"
#include "store/db.h"
#include "store/keys.h"
#include "store/row.h"

enum { HF_PAYLOAD_INLINE_MAX = 1024 }; /* bytes; bigger ones get a row */

/* Bytes as they are stored, in the arena or as they came: packed when that helps. */
HF_NODISCARD hf_status hf_payload_pack(hf_mem *mem, hf_slice bytes, int64_t *out_compression,
                                       hf_slice *out_body, hf_err *err);

/* The same back, with a NUL behind them. `size` comes from elsewhere than the body, so that a lying
   one cannot make us allocate more. HF_CORRUPT when it has another. */
HF_NODISCARD hf_status hf_payload_unpack(hf_mem *mem, int64_t compression, hf_slice body,
                                         size_t size, hf_slice *out_bytes, hf_err *err);

/* The row for `bytes`, to which `reference` (form reference, with its digest) refers. */
HF_NODISCARD hf_status hf_payload_row_make(hf_mem *mem, hf_keys *keys, int64_t run,
                                           const hf_payload_value *reference, hf_slice bytes,
                                           hf_row **out_row, hf_err *err);

/* The bytes a reference stands for, in the arena. HF_NOTFOUND when the row is gone, HF_CORRUPT when
   size or digest differ from what history recorded. */
HF_NODISCARD hf_status hf_payload_get(hf_db *db, hf_mem *mem, hf_sha256 *sha, int64_t run,
                                      const hf_payload_value *reference, hf_slice *out_bytes,
                                      hf_err *err);

#endif
