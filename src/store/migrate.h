/* migrate.h: numbered migrations, ground truth and projections apart. Each runs in one transaction
   together with its row in `migration` and the new version in `meta`, so that a crash leaves the
   old schema or the new one. */
#ifndef HF_STORE_MIGRATE_H
#define HF_STORE_MIGRATE_H

#include "base/clock.h"
#include "base/err.h"
#include "store/db.h"

/* Brings the connection's schema to the newest version. Does nothing when it is there already.
   HF_NEWER when the store knows migrations that this program does not, HF_CORRUPT when a
   migration's checksum changed. Two nodes may call it at once: a row lock in `meta` lets one work
   and the other find it done. */
HF_NODISCARD hf_status hf_migrate(hf_db *db, const hf_clock *clock, hf_err *err);

/* Calls `show` with the name and text of each migration that hf_migrate would run. */
typedef void hf_migrate_show(void *ctx, const char *name, const char *sql);
HF_NODISCARD hf_status hf_migrate_pending(hf_db *db, hf_migrate_show *show, void *ctx, hf_err *err);

#endif
