/* snapshot.h: what definitions declare, stored once per fingerprint. WorkflowStarted shows it; runs
 * refer to it. */
#ifndef HF_STORE_SNAPSHOT_H
#define HF_STORE_SNAPSHOT_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "model/definition.h"
#include "store/db.h"

/* The key of the snapshot's row, made when it is new; on the writer's connection, outside a
 * transaction. */
HF_NODISCARD hf_status hf_snapshot_make(hf_db *db, const char *type,
                                        const hf_definition_snapshot *snapshot, int64_t *out_key,
                                        hf_err *err);

/* The body of its row. */
void hf_snapshot_write(const hf_definition_snapshot *snapshot, hf_buf *out_body);

/* The newest snapshot of a type: its key and fingerprint (in the arena). *out_key is HF_NONE when
   there is none. */
HF_NODISCARD hf_status hf_snapshot_of_type(hf_db *db, hf_mem *mem, hf_slice type, int64_t *out_key,
                                           hf_slice *out_fingerprint, hf_err *err);

/* The type that the snapshot under a key is of; lives in the arena. HF_NOTFOUND. */
HF_NODISCARD hf_status hf_snapshot_type(hf_db *db, hf_mem *mem, int64_t key, hf_slice *out_type,
                                        hf_err *err);

/* The snapshot under a key; lives in the arena. HF_NOTFOUND. */
HF_NODISCARD hf_status hf_snapshot_read(hf_db *db, hf_mem *mem, int64_t key,
                                        hf_definition_snapshot *out_snapshot, hf_err *err);

#endif
