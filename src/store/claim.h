/* claim.h: takes ready tasks of a queue for a worker. Each claim raises the task's epoch and sets a
   random token; only who shows both may report. On PostgreSQL any node may claim on a connection of
   its own: rows that another node is claiming at this moment are passed over, never waited for. On
   SQLite it runs on the writer's connection. */
#ifndef HF_STORE_CLAIM_H
#define HF_STORE_CLAIM_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/rng.h"
#include "model/vocab.h"
#include "store/db.h"

enum { HF_CLAIM_MAX = 100, HF_CLAIM_TOKEN_BYTES = 16 };

typedef struct hf_claim_wanted {
    hf_slice queue;
    hf_task_type kind;
    hf_slice owner;
    int64_t now_us;
    int64_t lease_us;
    size_t count; /* at most HF_CLAIM_MAX */
} hf_claim_wanted;

typedef struct hf_claim {
    int64_t task;
    int64_t run;
    int64_t epoch;
    uint8_t token[HF_CLAIM_TOKEN_BYTES];
    int64_t lease_until_us;
} hf_claim;

/* Claims up to `wanted->count` tasks that are due, highest priority first, in one transaction of
 * its own. */
HF_NODISCARD hf_status hf_claim_ready(hf_db *db, hf_rng *rng, const hf_claim_wanted *wanted,
                                      hf_claim *out_claims, size_t *out_count, hf_err *err);

#endif
