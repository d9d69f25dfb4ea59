/* sqlite_backup.c: online copies. What has the final name is whole and on disk, or is not there. */
#include "store/sqlite_backup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "store/sqlite_path.h"
#include "store/sqlite_status.h"

enum {
    PAGES_A_STEP = 256, /* 1 MiB: short enough to look at the clock between */
    PROGRESS_US = 100 * 1000
};

static hf_status errno_fail(hf_err *err, const char *doing, const char *path)
{
    char reason[128] = "unknown error";
    int number = errno;
    hf_status st = HF_IO;

    (void)strerror_r(number, reason, sizeof(reason));
    if (number == ENOSPC || number == EDQUOT)
        st = HF_FULL;
    else if (number == EACCES || number == EPERM)
        st = HF_DENIED;
    else if (number == EROFS)
        st = HF_READONLY;
    else if (number == ENOENT || number == ENOTDIR)
        st = HF_NOTFOUND;
    else if (number == EEXIST)
        st = HF_EXISTS;
    return hf_err_set(err, st, "cannot %s %s: %s", doing, path, reason);
}

/* Makes the file ourselves, so that an existing one is never written to. */
static hf_status file_create(const char *path, hf_err *err)
{
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

    if (fd < 0)
        return errno_fail(err, "create", path);
    (void)close(fd);
    return HF_OK;
}

static hf_status file_sync(const char *path, int flags, hf_err *err)
{
    int fd = open(path, flags | O_RDONLY | O_CLOEXEC);
    hf_status st = HF_OK;

    if (fd < 0)
        return errno_fail(err, "open", path);
    if (fsync(fd) != 0)
        st = errno_fail(err, "sync", path);
    (void)close(fd);
    return st;
}

/* A hard link refuses an existing name in one step; without links there is only the next best. */
static hf_status file_publish(const char *part, const char *path, hf_err *err)
{
    if (link(part, path) == 0) {
        (void)unlink(part);
        return HF_OK;
    }
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
        return errno_fail(err, "name the copy", path);
    return rename(part, path) == 0 ? HF_OK : errno_fail(err, "name the copy", path);
}

/* The bytes, the name and the folder that holds the name, in this order. */
static hf_status file_finish(const char *part, const char *path, hf_err *err)
{
    char *folder = hf_sqlite_folder(path);
    hf_status st = folder ? file_sync(part, 0, err) : hf_err_nomem(err, "the name of a folder");

    if (!st)
        st = file_publish(part, path, err);
    if (!st) {
        st = file_sync(folder, O_DIRECTORY, err);
        if (st)
            (void)unlink(path);
    }
    hf_alloc_free(folder);
    return st;
}

static hf_status pages_copy(sqlite3 *source, sqlite3 *target, hf_db_progress *progress, void *ctx,
                            hf_err *err)
{
    const hf_clock *clock = hf_clock_system();
    int64_t told_us = hf_clock_mono_us(clock);
    sqlite3_backup *backup = sqlite3_backup_init(target, "main", source, "main");
    hf_status st = HF_OK;
    int code = SQLITE_OK;

    if (!backup)
        return hf_sqlite_fail(target, sqlite3_extended_errcode(target), err);
    while (!st && code == SQLITE_OK) {
        int64_t now_us;

        code = sqlite3_backup_step(backup, PAGES_A_STEP);
        now_us = hf_clock_mono_us(clock);
        if (progress && (now_us - told_us >= PROGRESS_US || code == SQLITE_DONE)) {
            int64_t total = sqlite3_backup_pagecount(backup);

            told_us = now_us;
            if (!progress(ctx, total - sqlite3_backup_remaining(backup), total))
                st = hf_err_set(err, HF_CANCELLED, "the backup was stopped");
        }
    }
    code = sqlite3_backup_finish(backup);
    if (!st && code != SQLITE_OK)
        st = hf_sqlite_fail(target, code, err);
    return st;
}

static hf_status file_fill(sqlite3 *source, const char *part, hf_db_progress *progress, void *ctx,
                           hf_err *err)
{
    sqlite3 *target = NULL;
    hf_status st = HF_OK;
    int code = sqlite3_open_v2(part, &target, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

    if (code == SQLITE_OK) {
        (void)sqlite3_extended_result_codes(target, 1);
        /* Nobody reads it before it is whole, so it needs neither a journal nor a sync on the way.
         */
        code = sqlite3_exec(target, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL,
                            NULL, NULL);
    }
    if (code != SQLITE_OK)
        st = target ? hf_sqlite_fail(target, code, err) : hf_err_nomem(err, "a backup");
    else
        st = pages_copy(source, target, progress, ctx, err);
    code = sqlite3_close(target);
    if (!st && code != SQLITE_OK)
        st = hf_err_set(err, HF_IO, "closing %s: %s", part, sqlite3_errstr(code));
    return st;
}

hf_status hf_sqlite_backup(sqlite3 *source, const char *path, hf_db_progress *progress, void *ctx,
                           hf_err *err)
{
    hf_buf part = {0};
    struct stat found;
    bool created = false;
    hf_status st;

    hf_buf_add_text(&part, path[0] == ':' || strncmp(path, "file:", 5) == 0 ? "./" : "");
    hf_buf_add_text(&part, path);
    hf_buf_add_text(&part, ".part");
    if (!hf_buf_ok(&part))
        st = hf_err_nomem(err, "the name of a file");
    else if (lstat(path, &found) == 0)
        st = hf_err_set(err, HF_EXISTS, "%s exists already: name a new file", path);
    else
        st = file_create(hf_buf_text(&part), err);
    if (!st) {
        created = true;
        st = file_fill(source, hf_buf_text(&part), progress, ctx, err);
    }
    if (!st)
        st = file_finish(hf_buf_text(&part), path, err);
    if (st && created)
        (void)unlink(hf_buf_text(&part));
    hf_buf_fini(&part);
    return hf_err_because(err, st, "backup into %s", path);
}
