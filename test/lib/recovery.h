/* recovery.h: what must hold of a store after a crash or a fault.

   A ledger notes every unit that was acknowledged. After the crash the store is opened again and
   must
     - hold every unit that had been acknowledged, each with its hash at the head of its run,
     - hold whole transactions only, in order: what is there of the units that nobody had been told
   about yet is all of the next transaction or nothing,
     - look the same when it is opened a second time,
     - let an engine go on: a new run starts and finishes,
     - and verify clean after that. */
#ifndef HF_TEST_LIB_RECOVERY_H
#define HF_TEST_LIB_RECOVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "store/db.h"
#include "store/row.h"

typedef struct hf_ledger_entry {
    int64_t run;
    int64_t seq; /* the run's last event after the unit */
    uint8_t head[HF_SHA256_BYTES];
    int64_t commit; /* units of one transaction have the same number; they grow */
    int64_t at;     /* when it was acknowledged, in the caller's own count */
} hf_ledger_entry;

/* Zero-initialise. The memory is SQLite's, so that faults in the engine's allocations do not hit
 * it. */
typedef struct hf_ledger {
    hf_ledger_entry *entries;
    size_t count;
    size_t room;
} hf_ledger;

void hf_ledger_note(hf_ledger *ledger, const hf_run_base *after, int64_t commit, int64_t at);
void hf_ledger_clear(hf_ledger *ledger); /* memory kept */
void hf_ledger_fini(hf_ledger *ledger);

/* The newest commit that was acknowledged when the caller's count stood at `at`; 0: none. */
int64_t hf_ledger_commit_at(const hf_ledger *ledger, int64_t at);

/* A sentence about what is wrong; empty while nothing is. */
typedef struct hf_complaint {
    char text[1024];
} hf_complaint;

typedef struct hf_recovery {
    const char *address;
    const char *vfs; /* NULL: the file system */
    const hf_ledger *ledger;
    int64_t commit; /* everything up to this commit was acknowledged */
    bool exact;     /* the ledger also knows all later units: whole commits only, in order */
    bool known;     /* and no run may be in a state that no unit of the ledger left */
    bool twice;     /* also compare with a second opening */
    const char *id; /* of the run that is started to go on; NULL: "after-the-crash" */
} hf_recovery;

/* Opens, checks, goes on, verifies and closes. False: see the complaint. */
bool hf_recovery_check(const hf_recovery *recovery, hf_complaint *out_complaint);

/* The parts of it, for stores that are open already. The first one takes HF_STORE_READER
 * connections too. */
bool hf_recovery_ledger(const hf_recovery *recovery, hf_db *db, hf_complaint *out_complaint);
bool hf_recovery_verify(const char *address, const char *vfs, hf_complaint *out_complaint);

/* A number made from every row of every table of a SQLite store. */
HF_NODISCARD hf_status hf_recovery_digest(hf_db *db, uint64_t *out_digest, hf_err *err);

#endif
