/* db.h: one database connection, SQLite or PostgreSQL, seen the same way. The row layer is written
   once above it.

   The two engines differ in one respect that this interface does not hide: SQLite answers a batch
   at once, PostgreSQL answers when the pipeline is flushed. So a batch reports one flag per row,
   and a flag may be HF_DB_PENDING until hf_db_flush or hf_db_commit returned. Code that must not
   write rows for a unit whose guard failed skips rows whose flag is known to be HF_DB_SKIPPED; on
   PostgreSQL the statement itself joins the guard, or, in an assured batch, fails with HF_CONFLICT.

   A connection belongs to one thread at a time. Every call may block. Statuses are those of
   status.def: HF_RETRY (serialisation failure or deadlock: roll back and run the transaction
   again), HF_CONSTRAINT, HF_TOOBIG and HF_INVALID (the rows are at fault), HF_FULL, HF_READONLY,
   HF_IO, HF_CORRUPT, HF_DENIED, HF_UNREACHABLE (the connection is gone, nothing was committed by
   this call), HF_UNKNOWN (it was lost while COMMIT was under way). */
#ifndef HF_STORE_DB_H
#define HF_STORE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/fault.h"
#include "base/slice.h"
#include "store/stmt.h"

typedef struct hf_db hf_db;
typedef struct hf_db_cursor hf_db_cursor;

typedef enum hf_db_type { HF_DB_INT, HF_DB_REAL, HF_DB_TEXT, HF_DB_BLOB } hf_db_type;

/* A parameter. The type is set even when it is null, because PostgreSQL needs it. Bytes are
   borrowed. Text is UTF-8 without NUL bytes and a real is not NaN, because only one of the engines
   could keep the others: anything else is HF_INVALID on both before it reaches a database, and the
   transaction stays as it was. */
typedef struct hf_db_value {
    hf_db_type type;
    bool null;
    int64_t number; /* HF_DB_INT */
    double real;    /* HF_DB_REAL */
    hf_slice bytes; /* HF_DB_TEXT, HF_DB_BLOB */
} hf_db_value;

static inline hf_db_value hf_db_int(int64_t number)
{
    return (hf_db_value){.type = HF_DB_INT, .number = number};
}

static inline hf_db_value hf_db_real(double real)
{
    return (hf_db_value){.type = HF_DB_REAL, .real = real};
}

static inline hf_db_value hf_db_text(hf_slice text)
{
    return (hf_db_value){.type = HF_DB_TEXT, .bytes = text};
}

static inline hf_db_value hf_db_blob(hf_slice bytes)
{
    return (hf_db_value){.type = HF_DB_BLOB, .bytes = bytes};
}

static inline hf_db_value hf_db_null(hf_db_type type)
{
    return (hf_db_value){.type = type, .null = true};
}

typedef enum hf_db_flag {
    HF_DB_SKIPPED = 0, /* the row changed nothing: its guard did not hold */
    HF_DB_APPLIED = 1,
    HF_DB_PENDING = 2 /* known after hf_db_flush or hf_db_commit */
} hf_db_flag;

/* Rows for one statement. Everything pointed to must stay until the flags are known.
   SQLite runs the statement once per row with parameters ?1..?columns.
   PostgreSQL runs it once with array parameters ?1..?columns, then, when guard_runs is set,
   ?columns+1 bigint[] of guard runs and ?columns+2 bytea[] of guard heads; `unnest(...) WITH
   ORDINALITY` gives the row number, and a statement that reports flags returns the numbers of the
   rows it applied in its first result column. */
typedef struct hf_db_rows {
    size_t columns;
    size_t count;
    const hf_db_value *cells;    /* row by row: cells[row * columns + column] */
    const int64_t *guard_runs;   /* per row, or NULL */
    const hf_slice *guard_heads; /* per row; head of the run after the guard held */
    bool assured;   /* a guard that does not hold ends the transaction with HF_CONFLICT */
    uint8_t *flags; /* per row an hf_db_flag, or NULL when nobody asks */
} hf_db_rows;

typedef enum hf_db_mode {
    HF_DB_READ, /* a consistent snapshot; writing fails */
    HF_DB_WRITE /* SQLite: BEGIN IMMEDIATE. PostgreSQL: READ COMMITTED */
} hf_db_mode;

/* How to connect. Texts are borrowed for the call. */
typedef struct hf_db_options {
    const char *address; /* SQLite: a path. PostgreSQL: a libpq URI or conninfo */
    const char *schema;  /* PostgreSQL: schema name, NULL for "holdfast" */
    hf_db_mode mode;     /* HF_DB_WRITE: the writer's connection */
    bool create;         /* HF_DB_WRITE: make the file or schema when it does not exist */
    bool primary;        /* HF_DB_READ, PostgreSQL: no standby will do, its rows may be old */
    bool by_key;         /* HF_DB_READ: every statement finds its rows by an index (writers do) */
    const char *vfs;     /* SQLite: VFS name, NULL for the default; tests bring their own */
    const hf_stmt_text
        *statements; /* hf_stmt_texts, handed over because a module cannot see the host's */
    size_t statement_count;
} hf_db_options;

/* One answer of hf_db_check: a sentence about what the engine's own integrity check found. */
typedef void hf_db_finding(void *ctx, const char *sentence);

/* Called about every 100 ms with pages done and pages in all; false stops the backup. */
typedef bool hf_db_progress(void *ctx, int64_t done, int64_t total);

/* What a driver implements. Functions have the contracts of the hf_db_ functions below. */
typedef struct hf_db_driver {
    size_t size;
    const char *name; /* "sqlite" or "postgres" */
    bool assures;     /* statements have assured forms */
    hf_status (*open)(const hf_db_options *options, hf_db **out_db, hf_err *err);
    void (*close)(hf_db *db);
    hf_status (*reconnect)(hf_db *db, hf_err *err);
    hf_status (*begin)(hf_db *db, hf_db_mode mode, hf_err *err);
    hf_status (*commit)(hf_db *db, hf_err *err);
    hf_status (*commit_send)(hf_db *db, hf_err *err); /* NULL with the next two: cannot */
    bool (*commit_await)(hf_db *db, int fd);
    hf_status (*commit_end)(hf_db *db, hf_err *err);
    void (*rollback)(hf_db *db);
    hf_status (*savepoint)(hf_db *db, hf_err *err);
    hf_status (*release)(hf_db *db, hf_err *err);
    hf_status (*rollback_to)(hf_db *db, hf_err *err);
    bool (*in_transaction)(hf_db *db);
    hf_status (*batch)(hf_db *db, hf_stmt stmt, const hf_db_rows *rows, hf_err *err);
    hf_status (*flush)(hf_db *db, hf_err *err);
    hf_status (*query)(hf_db *db, hf_stmt stmt, const hf_db_value *params, size_t count,
                       hf_db_cursor **out_cursor, hf_err *err);
    hf_status (*query_text)(hf_db *db, const char *sql, const hf_db_value *params, size_t count,
                            hf_db_cursor **out_cursor, hf_err *err);
    hf_status (*step)(hf_db_cursor *cursor, bool *out_row, hf_err *err);
    bool (*column_null)(hf_db_cursor *cursor, size_t column);
    int64_t (*column_int)(hf_db_cursor *cursor, size_t column);
    double (*column_real)(hf_db_cursor *cursor, size_t column);
    hf_slice (*column_bytes)(hf_db_cursor *cursor, size_t column);
    size_t (*column_count)(hf_db_cursor *cursor);
    const char *(*column_name)(hf_db_cursor *cursor, size_t column);
    void (*end)(hf_db_cursor *cursor);
    hf_status (*script)(hf_db *db, const char *sql, hf_err *err);
    hf_status (*now)(hf_db *db, int64_t *out_us, hf_err *err);
    hf_status (*check)(hf_db *db, hf_db_finding *found, void *ctx, hf_err *err);
    hf_status (*backup)(hf_db *db, const char *path, hf_db_progress *progress, void *ctx,
                        hf_err *err);
    hf_status (*checkpoint)(hf_db *db, hf_err *err);
    hf_status (*foreign_write)(hf_db *db, bool *out_seen, hf_err *err);
    hf_status (*limit)(hf_db *db, int64_t timeout_ms, hf_err *err);
    hf_status (*notify)(hf_db *db, hf_slice payload, hf_err *err);
    hf_status (*listen)(hf_db *db, hf_err *err);
    hf_status (*notified)(hf_db *db, int timeout_ms, hf_slice *out_payload, hf_err *err);
} hf_db_driver;

/* The first member of every driver's connection struct. */
struct hf_db {
    const hf_db_driver *driver;
    /* Driver calls that reached the database; "zero queries at idle" is checked with it. */
    _Atomic uint64_t calls;
    _Atomic int64_t log_pages; /* SQLite's writer: pages in the WAL after the newest commit; the
                          writer checkpoints by it */
};

/* And of every driver's cursor struct. */
struct hf_db_cursor {
    hf_db *db;
};

extern const hf_db_driver hf_db_sqlite;

/* The symbol a driver module exports, and its type. `fault` is the host's fault state, NULL in
 * release builds. */
#define HF_DB_MODULE_SYMBOL "hf_db_module"
typedef const hf_db_driver *hf_db_module_fn(void *fault);

/* ---- the calls. Each counts itself and, in test builds, can be made to fail (HF_FAULT_DB). */

/* Opens a connection. The caller closes it with hf_db_close (NULL allowed). */
HF_NODISCARD hf_status hf_db_open(const hf_db_driver *driver, const hf_db_options *options,
                                  hf_db **out_db, hf_err *err);
void hf_db_close(hf_db *db);

/* After HF_UNREACHABLE or HF_UNKNOWN: one attempt at a new connection with the same options.
 * SQLite: nothing to do. A connection that was opened for reading also does so by itself, when it
 * is used again; no more than once a second. */
HF_NODISCARD hf_status hf_db_reconnect(hf_db *db, hf_err *err);

HF_NODISCARD hf_status hf_db_begin(hf_db *db, hf_db_mode mode, hf_err *err);

/* Ends the transaction. On any failure the transaction is over or rolled back, except HF_UNKNOWN:
 * read back. */
HF_NODISCARD hf_status hf_db_commit(hf_db *db, hf_err *err);

/* The same in two halves, for a driver that can: between them the next transaction may be begun and
   rows be written in it, and nothing else. When the first half fails there is no second. When the
   second fails, the transaction that was begun is over as well; one that failed on its own says so
   in its turn, and has to be rolled back. */
HF_NODISCARD hf_status hf_db_commit_send(hf_db *db, hf_err *err);
HF_NODISCARD hf_status hf_db_commit_end(hf_db *db, hf_err *err);

/* Between the two: waits until hf_db_commit_end would not wait, or `fd` can be read: then false. */
bool hf_db_commit_await(hf_db *db, int fd);

/* Gives the transaction up; safe when there is none. Cannot fail: a broken connection has no
 * transaction. */
void hf_db_rollback(hf_db *db);

/* One savepoint deep: set, then release or roll back to it; either ends it. Each flushes.
   After a call that failed inside a transaction only hf_db_rollback_to and hf_db_rollback help;
   everything else is refused, and hf_db_commit rolls back and fails. */
HF_NODISCARD hf_status hf_db_savepoint(hf_db *db, hf_err *err);
HF_NODISCARD hf_status hf_db_release(hf_db *db, hf_err *err);
HF_NODISCARD hf_status hf_db_rollback_to(hf_db *db, hf_err *err);

/* Whether the transaction still exists: SQLite ends it by itself on some errors. */
bool hf_db_in_transaction(hf_db *db);

/* Writes rows; see hf_db_rows. Only inside a transaction. */
HF_NODISCARD hf_status hf_db_batch(hf_db *db, hf_stmt stmt, const hf_db_rows *rows, hf_err *err);

/* Waits until every batch so far has answered. */
HF_NODISCARD hf_status hf_db_flush(hf_db *db, hf_err *err);

/* Reads. At most one cursor per connection is open at a time; rows stream, so that a scan needs
   constant memory. Works inside and outside a transaction. Bytes are borrowed until the next step.
   Always hf_db_end (NULL allowed). */
HF_NODISCARD hf_status hf_db_query(hf_db *db, hf_stmt stmt, const hf_db_value *params, size_t count,
                                   hf_db_cursor **out_cursor, hf_err *err);
/* The same for a text composed from named fragments (lists) or given by an operator (holdfast sql).
 */
HF_NODISCARD hf_status hf_db_query_text(hf_db *db, const char *sql, const hf_db_value *params,
                                        size_t count, hf_db_cursor **out_cursor, hf_err *err);
HF_NODISCARD hf_status hf_db_step(hf_db_cursor *cursor, bool *out_row, hf_err *err);
bool hf_db_column_null(hf_db_cursor *cursor, size_t column);
int64_t hf_db_column_int(hf_db_cursor *cursor, size_t column);    /* 0 for null */
double hf_db_column_real(hf_db_cursor *cursor, size_t column);    /* 0 for null */
hf_slice hf_db_column_bytes(hf_db_cursor *cursor, size_t column); /* text or blob; empty for null */
size_t hf_db_column_count(hf_db_cursor *cursor);
const char *hf_db_column_name(hf_db_cursor *cursor, size_t column); /* borrowed until hf_db_end */
void hf_db_end(hf_db_cursor *cursor);

/* From now on a statement of this connection ends with HF_TIMEOUT when it takes longer, and on
   SQLite, which works in this process, with HF_TOOBIG when it makes a value that is longer than
   HF_DB_LIMIT_BYTES. For connections that run what an operator wrote. */
enum { HF_DB_LIMIT_BYTES = 64 << 20 };
HF_NODISCARD hf_status hf_db_limit(hf_db *db, int64_t timeout_ms, hf_err *err);

/* Runs a statement to its end and counts the rows it returned (RETURNING); out_rows may be NULL. */
HF_NODISCARD hf_status hf_db_exec(hf_db *db, hf_stmt stmt, const hf_db_value *params, size_t count,
                                  int64_t *out_rows, hf_err *err);

/* The first column of the one row a statement returns, run to its end; *out_number is untouched
 * when there is none. */
HF_NODISCARD hf_status hf_db_number(hf_db *db, hf_stmt stmt, const hf_db_value *params,
                                    size_t count, bool *out_found, int64_t *out_number,
                                    hf_err *err);

/* Several statements separated by semicolons: migrations only. */
HF_NODISCARD hf_status hf_db_script(hf_db *db, const char *sql, hf_err *err);

/* The database's clock in microseconds since 1970 (PostgreSQL). SQLite: HF_MISUSE, the engine's
 * clock rules there. */
HF_NODISCARD hf_status hf_db_now(hf_db *db, int64_t *out_us, hf_err *err);

/* The engine's own integrity check (I37): integrity_check, or constraints and indexes of the schema
 * valid. */
HF_NODISCARD hf_status hf_db_check(hf_db *db, hf_db_finding *found, void *ctx, hf_err *err);

/* Online copy into a new file (SQLite). PostgreSQL: HF_MISUSE with the advice to use pg_dump. */
HF_NODISCARD hf_status hf_db_backup(hf_db *db, const char *path, hf_db_progress *progress,
                                    void *ctx, hf_err *err);

/* SQLite: moves the WAL into the file as far as readers allow. PostgreSQL: nothing. */
HF_NODISCARD hf_status hf_db_checkpoint(hf_db *db, hf_err *err);

/* SQLite: has another connection written since the last call (data_version)? PostgreSQL: always no.
 */
HF_NODISCARD hf_status hf_db_foreign_write(hf_db *db, bool *out_seen, hf_err *err);

/* PostgreSQL: NOTIFY on the schema's channel; LISTEN; wait for one notification (HF_TIMEOUT when
   none came). The payload is borrowed until the next call. SQLite: HF_MISUSE, wake-ups are in
   process there. */
HF_NODISCARD hf_status hf_db_notify(hf_db *db, hf_slice payload, hf_err *err);
HF_NODISCARD hf_status hf_db_listen(hf_db *db, hf_err *err);
HF_NODISCARD hf_status hf_db_notified(hf_db *db, int timeout_ms, hf_slice *out_payload,
                                      hf_err *err);

#endif
