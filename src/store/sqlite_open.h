/* sqlite_open.h: from a path to a SQLite connection that is safe to use: ours, hardened, in WAL
   mode. May block up to five seconds when another process holds a lock on the file. */
#ifndef HF_STORE_SQLITE_OPEN_H
#define HF_STORE_SQLITE_OPEN_H

#include <sqlite3.h>

#include "base/err.h"
#include "store/db.h"

enum { HF_SQLITE_BUSY_MS = 5000 }; /* how long a connection waits for a lock of another process */

#define HF_SQLITE_MEMORY_PATH ":memory:"

/* Opens the file of `options`. The writer's connection may create it and turns WAL mode on; a
   reader opens it read-only. A file that is not ours is refused before anything is written beside
   it or into it. A reader of a folder that it may not write to, where SQLite cannot keep its -shm
   file, takes the file as unchanging (immutable) when it has no -wal, and is refused with
   HF_READONLY when it has one. HF_NOTFOUND, HF_NOTASTORE, HF_CORRUPT, HF_READONLY, HF_DENIED,
   HF_BUSY, HF_FULL, HF_IO, HF_NOMEM. */
HF_NODISCARD hf_status hf_sqlite_open(const hf_db_options *options, sqlite3 **out_handle,
                                      hf_err *err);

#endif
