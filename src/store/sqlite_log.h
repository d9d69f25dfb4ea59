/* sqlite_log.h: the writer's connection hands a transaction to the operating system in few pieces.
   SQLite writes its log page by page, in two system calls each; a commit that touches twenty pages
   spends as long on them as on everything else but the sync. Here pieces that follow each other are
   gathered and written together.

   Nothing that SQLite relies on changes: the same bytes reach the same places, the last frame of a
   transaction is in the file before SQLite goes on, and so is everything else before a sync, a
   read, or a look at the file's size. */
#ifndef HF_STORE_SQLITE_LOG_H
#define HF_STORE_SQLITE_LOG_H

#include <sqlite3.h>

#include "base/err.h"

typedef struct hf_sqlite_log hf_sqlite_log;

/* Steps between the connection and its log. *out_log is NULL when there is no log to write: a store
   in memory. HF_NOMEM, HF_ERROR. */
HF_NODISCARD hf_status hf_sqlite_log_begin(sqlite3 *handle, hf_sqlite_log **out_log, hf_err *err);

/* Steps aside again, before the connection is closed. NULL allowed. */
void hf_sqlite_log_end(hf_sqlite_log *log);

#endif
