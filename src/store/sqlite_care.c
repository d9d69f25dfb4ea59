/* sqlite_care.c: looking after a SQLite file: integrity, copies, WAL, foreign writers. */
#include <string.h>

#include "store/sqlite_backup.h"
#include "base/clock.h"
#include "store/sqlite_db.h"
#include "store/sqlite_open.h"

enum { IDLE_LOG_PAGES_MAX = 1000 }; /* a checkpoint asked for below this is one of an idle writer */

hf_status hf_sqlite_check(hf_db *base, hf_db_finding *found, void *ctx, hf_err *err)
{
    hf_sqlite *db = hf_sqlite_of(base);
    sqlite3_stmt *stmt = NULL;
    hf_status st = hf_sqlite_ready(db, err);
    int code;

    if (st)
        return st;
    code = sqlite3_prepare_v2(db->handle, "PRAGMA integrity_check", -1, &stmt, NULL);
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(stmt);
        if (code == SQLITE_ROW) {
            const char *sentence = (const char *)sqlite3_column_text(stmt, 0);

            if (!sentence)
                code = SQLITE_NOMEM;
            else if (strcmp(sentence, "ok") != 0)
                found(ctx, sentence);
        }
    }
    if (code != SQLITE_DONE)
        st = hf_sqlite_spoil(db, code, err);
    (void)sqlite3_finalize(stmt);
    return hf_err_because(err, st, "integrity check");
}

hf_status hf_sqlite_copy(hf_db *base, const char *path, hf_db_progress *progress, void *ctx,
                         hf_err *err)
{
    hf_sqlite *db = hf_sqlite_of(base);
    hf_status st;

    if (hf_sqlite_busy(db))
        return hf_err_set(err, HF_MISUSE, "a backup is its own transaction");
    st = base->driver->begin(base, HF_DB_READ, err);
    if (!st) {
        /* The first read fixes the moment; without it the copy would begin again after every commit
           of the writer. */
        st = hf_sqlite_data_version(db, &(int64_t){0}, err);
        if (!st)
            st = hf_sqlite_backup(db->handle, path, progress, ctx, err);
        base->driver->rollback(base);
    }
    return st;
}

/* Not worth waiting for a reader: the next idle moment will do. */
static hf_status log_truncate(hf_sqlite *db, hf_err *err)
{
    int code;

    (void)sqlite3_busy_timeout(db->handle, 0);
    code = sqlite3_wal_checkpoint_v2(db->handle, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    (void)sqlite3_busy_timeout(db->handle, HF_SQLITE_BUSY_MS);
    if (code == SQLITE_OK)
        db->base.log_pages = 0;
    return code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY ? HF_OK
                                                             : hf_sqlite_spoil(db, code, err);
}

/* Under load the WAL is only copied back, and the next write reuses it from the start; that never
   waits for a reader. An idle writer, whose log is short, also gives the space back. */
hf_status hf_sqlite_checkpoint(hf_db *base, hf_err *err)
{
    hf_sqlite *db = hf_sqlite_of(base);
    bool idle = base->log_pages < IDLE_LOG_PAGES_MAX;
    int pages = 0;
    int copied = 0;
    hf_status st = hf_sqlite_ready(db, err);
    int code;

    if (!st && db->read_only)
        st = hf_err_set(err, HF_READONLY,
                        "the writer's connection is the only one that checkpoints");
    if (!st && hf_sqlite_busy(db))
        st = hf_err_set(err, HF_MISUSE, "a checkpoint waits for the end of the transaction");
    if (st)
        return st;
    code =
        sqlite3_wal_checkpoint_v2(db->handle, "main", SQLITE_CHECKPOINT_PASSIVE, &pages, &copied);
    if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY)
        return hf_sqlite_spoil(db, code, err);
    return idle && pages == copied ? log_truncate(db, err) : HF_OK;
}

hf_status hf_sqlite_foreign_write(hf_db *base, bool *out_seen, hf_err *err)
{
    hf_sqlite *db = hf_sqlite_of(base);
    int64_t version = 0;
    hf_status st = hf_sqlite_ready(db, err);

    if (!st)
        st = hf_sqlite_data_version(db, &version, err);
    if (!st) {
        *out_seen = version != db->data_version;
        db->data_version = version;
    }
    return st;
}

/* Called every thousand steps of a statement. The clock begins anew with each statement, which the
   cursor tells by setting limit_us to 0. */
static int limit_look(void *ctx)
{
    hf_sqlite *db = ctx;
    int64_t now_us = hf_clock_mono_us(hf_clock_system());

    if (!db->limit_us)
        db->limit_us = now_us + db->limit_ms * 1000;
    return now_us >= db->limit_us;
}

hf_status hf_sqlite_limit(hf_db *base, int64_t timeout_ms, hf_err *err)
{
    hf_sqlite *db = hf_sqlite_of(base);

    (void)err;
    db->limit_ms = timeout_ms;
    db->limit_us = 0;
    sqlite3_progress_handler(db->handle, timeout_ms ? 1000 : 0, timeout_ms ? limit_look : NULL, db);
    (void)sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, HF_DB_LIMIT_BYTES);
    return HF_OK;
}
