/* sqlite_backup.h: an online copy of a SQLite store into a new file. */
#ifndef HF_STORE_SQLITE_BACKUP_H
#define HF_STORE_SQLITE_BACKUP_H

#include <sqlite3.h>

#include "base/err.h"
#include "store/db.h"

/* Copies what `source` sees into `path`, which must not exist (HF_EXISTS). `source` is in a read
   transaction, so that the copy is one moment of the store however much is written meanwhile. The
   bytes go to `path`.part, are synced and take their name last; on failure nothing is left.
   HF_CANCELLED when `progress` said stop. */
HF_NODISCARD hf_status hf_sqlite_backup(sqlite3 *source, const char *path, hf_db_progress *progress,
                                        void *ctx, hf_err *err);

#endif
