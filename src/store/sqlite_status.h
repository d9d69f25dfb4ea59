/* sqlite_status.h: SQLite's result codes as statuses, in one table, so that the same failure never
   has two names. */
#ifndef HF_STORE_SQLITE_STATUS_H
#define HF_STORE_SQLITE_STATUS_H

#include <sqlite3.h>

#include "base/err.h"

/* The status of an (extended) result code. `handle` may be NULL; it tells a full disk and a missing
   file from other failures of the operating system. Not for OK, ROW and DONE. */
hf_status hf_sqlite_status(sqlite3 *handle, int code);

/* Records the newest failure of `handle` with SQLite's own words and returns its status. */
hf_status hf_sqlite_fail(sqlite3 *handle, int code, hf_err *err);

#endif
