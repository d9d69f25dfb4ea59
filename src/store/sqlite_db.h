/* sqlite_db.h: the connection behind db_sqlite.c, shared by the driver's files and nobody else. */
#ifndef HF_STORE_SQLITE_DB_H
#define HF_STORE_SQLITE_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "store/db.h"
#include "store/sqlite_log.h"

/* Statements that do not depend on the schema. */
typedef enum hf_sqlite_fixed {
    HF_SQLITE_BEGIN,
    HF_SQLITE_BEGIN_WRITE,
    HF_SQLITE_COMMIT,
    HF_SQLITE_ROLLBACK,
    HF_SQLITE_SAVEPOINT,
    HF_SQLITE_RELEASE,
    HF_SQLITE_ROLLBACK_TO,
    HF_SQLITE_DATA_VERSION,
    HF_SQLITE_FIXED_COUNT
} hf_sqlite_fixed;

typedef struct hf_sqlite_cursor {
    hf_db_cursor base;
    sqlite3_stmt *stmt; /* NULL while no cursor is open */
    bool owned;         /* not from the cache: finalised at the end */
    bool on_row;
    bool done;
} hf_sqlite_cursor;

typedef struct hf_sqlite {
    hf_db base;
    sqlite3 *handle;
    const hf_stmt_text *texts;
    size_t text_count;
    sqlite3_stmt **cached;                         /* by hf_stmt, prepared when first used */
    sqlite3_stmt *prepared[HF_SQLITE_FIXED_COUNT]; /* prepared at the start: rolling back should
                                                      not need memory */
    hf_sqlite_log *log; /* the writer's; NULL: pages are written one by one */
    hf_sqlite_cursor cursor;
    int64_t data_version;
    int64_t limit_us; /* monotonic time at which a statement is interrupted; see limit */
    int64_t limit_ms; /* 0: none */
    bool read_only;   /* the connection */
    bool reading;     /* the transaction was begun for reading */
    bool failed;      /* something failed in the transaction, which now can only be rolled back */
    bool stuck;       /* it was rolled back, but SQLite lacked the memory to: see hf_sqlite_undo */
} hf_sqlite;

/* The connection of a db.h handle, and whether a transaction is open on it. */
hf_sqlite *hf_sqlite_of(hf_db *db);
bool hf_sqlite_busy(const hf_sqlite *db);

/* Records what SQLite says and remembers that the transaction, if it survived, is spoilt. */
hf_status hf_sqlite_spoil(hf_sqlite *db, int code, hf_err *err);

/* HF_MISUSE while a cursor is open, or while a spoilt transaction waits for its end; HF_NOMEM while
   SQLite cannot end one that was rolled back. */
HF_NODISCARD hf_status hf_sqlite_ready(hf_sqlite *db, hf_err *err);

/* Ends the transaction, if there is one. SQLite does so even when undoing meets an I/O error, but
   the statement is compiled anew after a change of the schema and may lack the memory for that.
   Then the transaction stays, and hf_sqlite_ready tries again before anything else happens. */
void hf_sqlite_undo(hf_sqlite *db);

hf_status hf_sqlite_fixed_run(hf_sqlite *db, hf_sqlite_fixed which, hf_err *err);
HF_NODISCARD hf_status hf_sqlite_data_version(hf_sqlite *db, int64_t *out_version, hf_err *err);

/* The statement, prepared when it is first asked for; it stays the connection's. */
HF_NODISCARD hf_status hf_sqlite_stmt(hf_sqlite *db, hf_stmt which, sqlite3_stmt **out_stmt,
                                      hf_err *err);
HF_NODISCARD hf_status hf_sqlite_stmt_takes(sqlite3_stmt *stmt, size_t count, hf_err *err);

/* Binds one value. The caller keeps its bytes (SQLITE_STATIC) or SQLite does (SQLITE_TRANSIENT). */
int hf_sqlite_bind(sqlite3_stmt *stmt, int at, const hf_db_value *value,
                   sqlite3_destructor_type life);

/* Driver functions that live in files of their own: sqlite_cursor.c and sqlite_care.c. */
hf_status hf_sqlite_query(hf_db *base, hf_stmt which, const hf_db_value *params, size_t count,
                          hf_db_cursor **out_cursor, hf_err *err);
hf_status hf_sqlite_query_text(hf_db *base, const char *sql, const hf_db_value *params,
                               size_t count, hf_db_cursor **out_cursor, hf_err *err);
hf_status hf_sqlite_step(hf_db_cursor *base, bool *out_row, hf_err *err);
bool hf_sqlite_column_null(hf_db_cursor *cursor, size_t column);
int64_t hf_sqlite_column_int(hf_db_cursor *cursor, size_t column);
double hf_sqlite_column_real(hf_db_cursor *cursor, size_t column);
hf_slice hf_sqlite_column_bytes(hf_db_cursor *cursor, size_t column);
size_t hf_sqlite_column_count(hf_db_cursor *cursor);
const char *hf_sqlite_column_name(hf_db_cursor *cursor, size_t column);
void hf_sqlite_end(hf_db_cursor *base);

hf_status hf_sqlite_check(hf_db *base, hf_db_finding *found, void *ctx, hf_err *err);
hf_status hf_sqlite_copy(hf_db *base, const char *path, hf_db_progress *progress, void *ctx,
                         hf_err *err);
hf_status hf_sqlite_checkpoint(hf_db *base, hf_err *err);
hf_status hf_sqlite_foreign_write(hf_db *base, bool *out_seen, hf_err *err);
hf_status hf_sqlite_limit(hf_db *base, int64_t timeout_ms, hf_err *err);

#endif
