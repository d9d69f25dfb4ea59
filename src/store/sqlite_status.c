/* sqlite_status.c: the table behind sqlite_status.h. Extended codes are looked up before the
   primary code they belong to. */
#include "store/sqlite_status.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/assert.h"

typedef struct status_row {
    int code;
    hf_status status;
} status_row;

static const status_row status_rows[] = {
    {SQLITE_IOERR_NOMEM, HF_NOMEM},   {SQLITE_IOERR_CORRUPTFS, HF_CORRUPT},
    {SQLITE_BUSY_SNAPSHOT, HF_RETRY}, /* our snapshot is older than a foreign write */
    {SQLITE_BUSY, HF_BUSY},           /* the busy timeout has passed already */
    {SQLITE_LOCKED, HF_RETRY},        {SQLITE_SCHEMA, HF_RETRY},
    {SQLITE_PROTOCOL, HF_BUSY},       {SQLITE_NOMEM, HF_NOMEM},
    {SQLITE_READONLY_DBMOVED, HF_IO}, /* another file has its name: this one is nobody's */
    {SQLITE_READONLY, HF_READONLY},   {SQLITE_PERM, HF_READONLY},
    {SQLITE_INTERRUPT, HF_TIMEOUT},   {SQLITE_IOERR, HF_IO}, /* a failed sync is one of these */
    {SQLITE_CORRUPT, HF_CORRUPT},     {SQLITE_FORMAT, HF_CORRUPT},
    {SQLITE_NOTADB, HF_NOTASTORE},    {SQLITE_FULL, HF_FULL},
    {SQLITE_CANTOPEN, HF_IO},         {SQLITE_NOLFS, HF_IO},
    {SQLITE_TOOBIG, HF_TOOBIG},       {SQLITE_CONSTRAINT, HF_CONSTRAINT},
    {SQLITE_MISMATCH, HF_CONSTRAINT}, {SQLITE_MISUSE, HF_MISUSE},
    {SQLITE_RANGE, HF_MISUSE},        {SQLITE_AUTH, HF_DENIED},
};

/* What the operating system said, for the codes that only say that it said no. */
static hf_status errno_status(int number, hf_status otherwise)
{
    switch (number) {
    case ENOSPC:
    case EDQUOT:
        return HF_FULL;
    case EROFS:
        return HF_READONLY;
    case EACCES:
    case EPERM:
        return HF_DENIED;
    case ENOENT:
    case ENOTDIR:
        return HF_NOTFOUND;
    default: /* not an enum: every other number is an ordinary I/O error */
        return otherwise;
    }
}

hf_status hf_sqlite_status(sqlite3 *handle, int code)
{
    hf_status status = HF_ERROR;
    size_t count = sizeof(status_rows) / sizeof(status_rows[0]);
    size_t at = 0;
    hf_status said;

    HF_ASSERT(code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE);
    while (at < count && status_rows[at].code != code)
        at++;
    if (at == count)
        for (at = 0; at < count && status_rows[at].code != (code & 0xff);)
            at++;
    if (at < count)
        status = status_rows[at].status;
    if (handle && status == HF_IO && (code & 0xff) == SQLITE_CANTOPEN)
        return errno_status(sqlite3_system_errno(handle), HF_IO);
    if (!handle || status != HF_IO)
        return status;
    said = errno_status(sqlite3_system_errno(handle), HF_IO);
    /* After a sync that failed nothing more can be promised, whatever the reason. */
    if (said == HF_FULL || (said == HF_READONLY && code == SQLITE_IOERR_WRITE))
        return said;
    return status;
}

hf_status hf_sqlite_fail(sqlite3 *handle, int code, hf_err *err)
{
    hf_status status = hf_sqlite_status(handle, code);
    const char *words = handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
    int number = handle ? sqlite3_system_errno(handle) : 0;
    char reason[128] = "";
    bool from_system = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;

    if (from_system && number != 0 && strerror_r(number, reason, sizeof(reason)) == 0)
        return hf_err_set(err, status, "%s (SQLite code %d, %s)", words, code, reason);
    return hf_err_set(err, status, "%s (SQLite code %d)", words, code);
}
