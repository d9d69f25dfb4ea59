/* apply.h: writes the rows of several units in one transaction, operation by operation, so that
   PostgreSQL needs one pipelined round trip and SQLite stays in one prepared statement at a time.
   It decides nothing. */
#ifndef HF_STORE_APPLY_H
#define HF_STORE_APPLY_H

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"
#include "store/db.h"
#include "store/row.h"

/* The rows of one unit, ready to be written. */
typedef struct hf_apply_item {
    hf_row *const *rows; /* by ascending operation */
    size_t count;
    int64_t guard_run; /* run whose head proves that the guard held; 0 for a unit of bare rows */
    const uint8_t *guard_head; /* HF_SHA256_BYTES, after the unit */
    uint8_t *flags; /* out, per row an hf_db_flag; rows that report nothing get HF_DB_APPLIED */
    const struct hf_apply_item *guard; /* whose first row guards this one too; NULL: its own does */
    size_t at;                         /* apply's own: the next row to write */
} hf_apply_item;

/* Flags that PostgreSQL has not answered yet. */
typedef struct hf_apply_pending hf_apply_pending;

/* Writes all items inside the caller's transaction. `mem` must live until the transaction ended. A
   failed guard is not an error: the item's other rows are left out, and its flags say so. After the
   flush or commit that followed, hf_apply_settle(*pending) puts the flags that were still pending
   into the items; further calls in the same transaction add to *pending, which begins as NULL.
   Assured, for a driver that does: a failed guard ends the transaction with HF_CONFLICT, which
   shows at the flush or commit. */
HF_NODISCARD hf_status hf_apply(hf_db *db, hf_mem *mem, hf_apply_item *items, size_t count,
                                bool assured, hf_apply_pending **pending, hf_err *err);
void hf_apply_settle(const hf_apply_pending *pending);

/* Whether the unit's guard is known not to have held. Final after hf_apply_settle. */
bool hf_apply_refused(const hf_apply_item *item);

#endif
