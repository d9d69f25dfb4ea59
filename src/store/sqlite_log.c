/* sqlite_log.c: see sqlite_log.h. SQLite calls a file by the table of methods that the file points
   to; ours is a copy of that table with the few that matter replaced, and what they need behind it.
   It must never hold bytes back once SQLite could show them to another connection. */
#include "store/sqlite_log.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

enum { GATHERED_MAX = 128 * 1024, LOG_HEADER_BYTES = 32, FRAME_HEADER_BYTES = 24 };

struct hf_sqlite_log {
    sqlite3_io_methods methods; /* the first member: a file leads here */
    const sqlite3_io_methods *under;
    sqlite3_file *file; /* NULL: SQLite has closed it */
    sqlite3_int64 frame_bytes;
    bool ends; /* the frame being written is the last one of a transaction */
    sqlite3_int64 at;
    int len; /* gathered, for the place `at` */
    uint8_t bytes[GATHERED_MAX];
};

static hf_sqlite_log *log_of(sqlite3_file *file)
{
    return (hf_sqlite_log *)(uintptr_t)file->pMethods; /* ours, which nobody else changes */
}

/* A full disk has a code of its own in SQLite; a read-only one is an I/O error like any other, and
   at COMMIT nobody could tell them apart any more. */
static int under_write(const hf_sqlite_log *log, const void *bytes, int len, sqlite3_int64 at)
{
    int code = log->under->xWrite(log->file, bytes, len, at);
    int number = 0;

    if (code == SQLITE_IOERR_WRITE &&
        log->under->xFileControl(log->file, SQLITE_FCNTL_LAST_ERRNO, &number) == SQLITE_OK &&
        number == EROFS)
        return SQLITE_READONLY;
    return code;
}

/* What cannot be written is forgotten: SQLite hears of it and undoes the transaction. */
static int gathered_write(hf_sqlite_log *log)
{
    int len = log->len;

    log->len = 0;
    return len ? under_write(log, log->bytes, len, log->at) : SQLITE_OK;
}

static int log_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
    static const uint8_t none[4] = {0};
    hf_sqlite_log *log = log_of(file);
    bool header = len == FRAME_HEADER_BYTES && (at - LOG_HEADER_BYTES) % log->frame_bytes == 0;
    int code = SQLITE_OK;

    if (header) /* with the size of the database, in the last frame of a transaction */
        log->ends = memcmp((const uint8_t *)bytes + 4, none, sizeof(none)) != 0;
    if (at != log->at + log->len || len > GATHERED_MAX - log->len)
        code = gathered_write(log);
    if (code != SQLITE_OK)
        return code;
    if (len > GATHERED_MAX)
        return under_write(log, bytes, len, at);
    if (!log->len)
        log->at = at;
    memcpy(log->bytes + log->len, bytes, (size_t)len);
    log->len += len;
    return log->ends && !header ? gathered_write(log) : SQLITE_OK;
}

static int log_read(sqlite3_file *file, void *bytes, int len, sqlite3_int64 at)
{
    int code = gathered_write(log_of(file));

    return code == SQLITE_OK ? log_of(file)->under->xRead(file, bytes, len, at) : code;
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int code = gathered_write(log_of(file));

    return code == SQLITE_OK ? log_of(file)->under->xTruncate(file, size) : code;
}

static int log_sync(sqlite3_file *file, int flags)
{
    int code = gathered_write(log_of(file));

    return code == SQLITE_OK ? log_of(file)->under->xSync(file, flags) : code;
}

static int log_size(sqlite3_file *file, sqlite3_int64 *out_size)
{
    int code = gathered_write(log_of(file));

    return code == SQLITE_OK ? log_of(file)->under->xFileSize(file, out_size) : code;
}

static int log_close(sqlite3_file *file)
{
    hf_sqlite_log *log = log_of(file);

    (void)gathered_write(log); /* of a transaction that was not committed, if anything */
    log->file = NULL;
    file->pMethods = log->under;
    return log->under->xClose(file);
}

static hf_status page_bytes_read(sqlite3 *handle, sqlite3_int64 *out_bytes, hf_err *err)
{
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(handle, "PRAGMA page_size", -1, &stmt, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_step(stmt);
    if (code == SQLITE_ROW)
        *out_bytes = sqlite3_column_int64(stmt, 0);
    (void)sqlite3_finalize(stmt);
    if (code == SQLITE_NOMEM)
        return hf_err_nomem(err, "a connection");
    return code == SQLITE_ROW ? HF_OK
                              : hf_err_set(err, HF_ERROR, "the size of pages is not known: %s",
                                           sqlite3_errstr(code));
}

hf_status hf_sqlite_log_begin(sqlite3 *handle, hf_sqlite_log **out_log, hf_err *err)
{
    sqlite3_file *file = NULL;
    sqlite3_int64 page_bytes = 0;
    hf_sqlite_log *log;
    hf_status st;

    *out_log = NULL;
    if (sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, (void *)&file) !=
            SQLITE_OK ||
        !file || !file->pMethods)
        return HF_OK;
    st = page_bytes_read(handle, &page_bytes, err);
    if (st)
        return st;
    log = hf_alloc(sizeof(*log));
    if (!log)
        return hf_err_nomem(err, "a connection");
    log->under = file->pMethods;
    log->methods = *log->under;
    log->methods.xClose = log_close;
    log->methods.xRead = log_read;
    log->methods.xWrite = log_write;
    log->methods.xTruncate = log_truncate;
    log->methods.xSync = log_sync;
    log->methods.xFileSize = log_size;
    log->frame_bytes = FRAME_HEADER_BYTES + page_bytes;
    log->file = file;
    file->pMethods = &log->methods;
    *out_log = log;
    return HF_OK;
}

void hf_sqlite_log_end(hf_sqlite_log *log)
{
    if (log && log->file) {
        (void)gathered_write(log);
        log->file->pMethods = log->under;
    }
    hf_alloc_free(log);
}
