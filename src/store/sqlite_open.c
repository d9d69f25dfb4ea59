/* sqlite_open.c: opening SQLite files. The rule: look at the header through SQLite's own file
   handle before the first statement runs, because a statement may roll back a journal, recover a
   WAL or change the header, and because opening and closing the file by other means would drop the
   locks of this process's other connections (POSIX locks belong to the process). */
#include "store/sqlite_open.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "store/sqlite_status.h"

enum {
    APPLICATION_ID = 0x48465354, /* "HFST" */
    HEADER_BYTES = 100,
    HEADER_ENCODING_AT = 56,
    HEADER_APPLICATION_AT = 68,
    ENCODING_UTF8 = 1,
    JOURNAL_HEADER_BYTES = 28,
    JOURNAL_PAGES_AT = 16,               /* how long the file was before the transaction */
    VALUE_BYTES_MAX = 256 * 1024 * 1024, /* above every limit of the engine, below what hurts */
    SQL_BYTES_MAX = 1000 * 1000,
    EXPRESSION_DEPTH_MAX = 200
};

static const char header_magic[16] = "SQLite format 3";
static const uint8_t journal_magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};

/* Said to every connection before the schema is read: the file may come from anywhere. */
static const char *const pragmas_all = "PRAGMA trusted_schema = OFF;"
                                       "PRAGMA cell_size_check = ON;"
                                       "PRAGMA mmap_size = 0;"
                                       "PRAGMA foreign_keys = OFF;"
                                       "PRAGMA temp_store = MEMORY;";
/* A reader begins with an empty cache whenever somebody has written since: a big one is never full
   of anything useful. */
static const char *const pragmas_reader = "PRAGMA query_only = ON;"
                                          "PRAGMA cache_size = -2048;";
/* secure_delete = FAST: some builds overwrite every deleted byte by default; finished tasks are
   deleted all the time. journal_size_limit: a WAL that grew under a long reader shrinks again. */
static const char *const pragmas_writer = "PRAGMA synchronous = FULL;"
                                          "PRAGMA secure_delete = FAST;"
                                          "PRAGMA journal_size_limit = 67108864;"
                                          "PRAGMA cache_size = -24576;";

static bool path_is_memory(const char *path)
{
    return strcmp(path, HF_SQLITE_MEMORY_PATH) == 0;
}

/* SQLite gives names that begin with a colon or with "file:" a meaning of their own; a path has
   none. */
static hf_status name_plain(const char *path, hf_buf *out_name, hf_err *err)
{
    bool special = path[0] == ':' || strncmp(path, "file:", 5) == 0;

    if (special && !path_is_memory(path))
        hf_buf_add_text(out_name, "./");
    hf_buf_add_text(out_name, path);
    return hf_buf_ok(out_name) ? HF_OK : hf_err_nomem(err, "the name of a file");
}

static hf_status name_immutable(const char *path, hf_buf *out_name, hf_err *err)
{
    hf_buf_clear(out_name);
    hf_buf_add_text(out_name, "file:");
    for (const char *at = path; *at; at++) {
        bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                     (*at >= '0' && *at <= '9') || strchr("/._-", *at);

        if (plain)
            hf_buf_add_byte(out_name, (uint8_t)*at);
        else
            hf_buf_add_format(out_name, "%%%02X", (unsigned)(unsigned char)*at);
    }
    hf_buf_add_text(out_name, "?immutable=1");
    return hf_buf_ok(out_name) ? HF_OK : hf_err_nomem(err, "the name of a file");
}

static uint32_t number_at(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static hf_status script_run(sqlite3 *handle, const char *sql, hf_err *err)
{
    int code = sqlite3_exec(handle, sql, NULL, NULL, NULL);

    return code == SQLITE_OK ? HF_OK : hf_sqlite_fail(handle, code, err);
}

/* Runs a statement with one row of one column to its end: what it changes is committed after the
   row. */
static hf_status value_read(sqlite3 *handle, const char *sql, int64_t *out_number,
                            char out_text[32], hf_err *err)
{
    sqlite3_stmt *stmt = NULL;
    bool row = false;
    hf_status st = HF_OK;
    int code = sqlite3_prepare_v2(handle, sql, -1, &stmt, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_step(stmt);
    if (code == SQLITE_ROW) {
        const unsigned char *text = sqlite3_column_text(stmt, 0);

        row = true;
        *out_number = sqlite3_column_int64(stmt, 0);
        (void)sqlite3_snprintf(32, out_text, "%s", text ? (const char *)text : "");
        code = sqlite3_step(stmt);
    }
    if (code != SQLITE_DONE)
        st = hf_sqlite_fail(handle, code, err);
    else if (!row)
        st = hf_err_set(err, HF_ERROR, "%s gave no answer", sql);
    (void)sqlite3_finalize(stmt);
    return st;
}

/* Whether the file has bytes only because a crash cut its very first transaction short: then a
   journal lies beside it that will make it empty again. Its own bytes may be anything by now. */
static hf_status first_transaction_cut(sqlite3 *handle, bool *out_cut, hf_err *err)
{
    const char *name = sqlite3_filename_journal(sqlite3_db_filename(handle, "main"));
    uint8_t header[JOURNAL_HEADER_BYTES] = {0};
    sqlite3_vfs *vfs = NULL;
    sqlite3_file *file;
    int exists = 0;
    int code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_VFS_POINTER, (void *)&vfs);

    *out_cut = false;
    if (code == SQLITE_OK)
        code = vfs->xAccess(vfs, name, SQLITE_ACCESS_EXISTS, &exists);
    if (code == SQLITE_OK && !exists)
        return HF_OK;
    file = hf_alloc((size_t)vfs->szOsFile);
    if (!file)
        return hf_err_nomem(err, "a file");
    if (code == SQLITE_OK)
        code = vfs->xOpen(vfs, name, file, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_JOURNAL, NULL);
    if (code == SQLITE_OK)
        code = file->pMethods->xRead(file, header, JOURNAL_HEADER_BYTES, 0);
    if (file->pMethods)
        (void)file->pMethods->xClose(file);
    hf_alloc_free(file);
    if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ)
        return hf_err_set(err, hf_sqlite_status(handle, code),
                          "its journal cannot be read: %s (SQLite code %d)", sqlite3_errstr(code),
                          code);
    *out_cut = memcmp(header, journal_magic, sizeof(journal_magic)) == 0 &&
               number_at(header + JOURNAL_PAGES_AT) == 0;
    return HF_OK;
}

/* Whether the file may be opened at all, by its first bytes. An empty file is one that nobody has
   begun. */
static hf_status header_check(sqlite3 *handle, const hf_db_options *options, hf_err *err)
{
    sqlite3_file *file = NULL;
    uint8_t header[HEADER_BYTES] = {0};
    bool empty = false;
    int code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, (void *)&file);

    if (code == SQLITE_OK && (!file || !file->pMethods))
        return hf_err_set(err, HF_IO, "it could not be opened");
    if (code == SQLITE_OK) { /* by reading: SQLite says that a file of one byte has none */
        code = file->pMethods->xRead(file, header, 1, 0);
        empty = code == SQLITE_IOERR_SHORT_READ;
    }
    if (code == SQLITE_OK)
        code = file->pMethods->xRead(file, header, HEADER_BYTES, 0);
    if (code == SQLITE_IOERR_SHORT_READ)
        code = SQLITE_OK; /* what is missing was filled with zeros and is no header */
    if (code != SQLITE_OK)
        return hf_err_set(err, hf_sqlite_status(handle, code),
                          "its header cannot be read: %s (SQLite code %d)", sqlite3_errstr(code),
                          code);
    if (empty)
        return options->create
                   ? HF_OK
                   : hf_err_set(err, HF_NOTASTORE, "it is an empty file, not a Holdfast store");
    if (memcmp(header, header_magic, sizeof(header_magic)) != 0) {
        bool cut = false;
        hf_status st = options->create ? first_transaction_cut(handle, &cut, err) : HF_OK;

        if (st || cut)
            return st;
        return hf_err_set(err, HF_NOTASTORE, "it is not a Holdfast store, nor any SQLite database");
    }
    if (number_at(header + HEADER_APPLICATION_AT) != APPLICATION_ID)
        return hf_err_set(err, HF_NOTASTORE,
                          "it is the SQLite database of another program, not a Holdfast store");
    if (number_at(header + HEADER_ENCODING_AT) >
        ENCODING_UTF8) /* 0 until the first table reaches the file */
        return hf_err_set(err, HF_CORRUPT,
                          "its header names a text encoding that no Holdfast store has");
    return HF_OK;
}

/* Limits and switches that need no statement. */
static hf_status handle_harden(sqlite3 *handle, const hf_db_options *options, hf_err *err)
{
    bool reader = options->mode == HF_DB_READ;
    static const struct {
        int option;
        int value;
    } switches[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_DQS_DML, 0},
        {SQLITE_DBCONFIG_DQS_DDL, 0},
    };

    (void)sqlite3_extended_result_codes(handle, 1);
    (void)sqlite3_busy_timeout(handle, HF_SQLITE_BUSY_MS);
    (void)sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX);
    (void)sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, SQL_BYTES_MAX);
    (void)sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, EXPRESSION_DEPTH_MAX);
    (void)sqlite3_limit(handle, SQLITE_LIMIT_WORKER_THREADS, 0);
    if (reader) /* VACUUM attaches a file of its own, so the writer keeps one */
        (void)sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
    for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
        int code = sqlite3_db_config(handle, switches[i].option, switches[i].value, NULL);

        if (code != SQLITE_OK)
            return hf_err_set(err, HF_ERROR, "this SQLite cannot be hardened (option %d): %s",
                              switches[i].option, sqlite3_errstr(code));
    }
    if (reader) /* the writer is the only one that checkpoints */
        (void)sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return HF_OK;
}

/* Marks a new file as ours before anything else is in it. A journal or WAL from somewhere else can
   turn a file that looked like ours into another one. */
static hf_status file_mark(sqlite3 *handle, int64_t mark, hf_err *err)
{
    char text[32];
    int64_t tables = 0;
    hf_status st = value_read(handle, "SELECT count(*) FROM sqlite_schema", &tables, text, err);

    if (!st && (mark != 0 || tables != 0))
        st = hf_err_set(err, HF_NOTASTORE, "what lies beside it belongs to another database");
    return st ? st : script_run(handle, "PRAGMA application_id = 0x48465354", err);
}

/* Turns WAL mode on. */
static hf_status writer_prepare(sqlite3 *handle, bool in_memory, hf_err *err)
{
    char text[32];
    int64_t number = 0;
    hf_status st = script_run(handle, pragmas_writer, err);

    if (!st)
        st = value_read(handle, "PRAGMA application_id", &number, text, err);
    if (!st && number != APPLICATION_ID)
        st = file_mark(handle, number, err);
    if (!st)
        st = value_read(handle, "PRAGMA journal_mode = WAL", &number, text, err);
    if (!st && !in_memory && strcmp(text, "wal") != 0)
        st = hf_err_set(
            err, HF_IO,
            "it cannot be kept in WAL mode (SQLite stayed with \"%s\"): use a local file system",
            text);
    return st;
}

static hf_status handle_prepare(sqlite3 *handle, const hf_db_options *options, hf_err *err)
{
    bool in_memory = path_is_memory(options->address);
    int64_t number = 0;
    char text[32];
    hf_status st = handle_harden(handle, options, err);

    if (!st && !in_memory)
        st = header_check(handle, options, err);
    if (!st)
        st = script_run(handle, pragmas_all, err);
    if (!st && options->mode == HF_DB_WRITE)
        st = writer_prepare(handle, in_memory, err);
    if (!st && options->mode == HF_DB_READ)
        st = script_run(handle, pragmas_reader, err);
    if (!st) /* the first real read: finds a damaged file and a folder without room for -shm */
        st = value_read(handle, "SELECT count(*) FROM sqlite_schema", &number, text, err);
    if (!st && sqlite3_wal_autocheckpoint(handle, 0) != SQLITE_OK)
        st = hf_err_nomem(err, "a connection");
    return st;
}

/* *out_no_shm: the file could be read, but what WAL mode needs beside it could not be made. */
static hf_status handle_open(const char *name, int flags, const hf_db_options *options,
                             sqlite3 **out_handle, bool *out_no_shm, hf_err *err)
{
    sqlite3 *handle = NULL;
    int code = sqlite3_open_v2(name, &handle, flags | SQLITE_OPEN_NOMUTEX, options->vfs);
    hf_status st;

    if (code != SQLITE_OK)
        st = handle ? hf_sqlite_fail(handle, code, err) : hf_err_nomem(err, "a connection");
    else if (options->mode == HF_DB_WRITE && sqlite3_db_readonly(handle, "main") == 1)
        st = hf_err_set(err, HF_READONLY,
                        "it may not be written: change its permissions, or open it read-only");
    else
        st = handle_prepare(handle, options, err);
    if (st && code == SQLITE_OK) {
        code = sqlite3_errcode(handle) & 0xff;
        *out_no_shm = code == SQLITE_CANTOPEN || code == SQLITE_READONLY;
    }
    if (st) {
        (void)sqlite3_close_v2(handle);
        handle = NULL;
    }
    *out_handle = handle;
    return st;
}

/* Whether changes wait in the WAL; nobody else's in-memory knowledge counts here. */
static hf_status wal_pending(const char *path, bool *out_pending, hf_err *err)
{
    hf_buf name = {0};
    struct stat found;
    hf_status st = HF_OK;

    hf_buf_add_text(&name, path);
    hf_buf_add_text(&name, "-wal");
    if (hf_buf_ok(&name))
        *out_pending = stat(hf_buf_text(&name), &found) == 0 && found.st_size > 0;
    else
        st = hf_err_nomem(err, "the name of a file");
    hf_buf_fini(&name);
    return st;
}

/* SQLite could not make the -shm file that a reader of a WAL file needs. */
static hf_status reader_open_frozen(const hf_db_options *options, hf_buf *name,
                                    sqlite3 **out_handle, hf_err *err)
{
    bool pending = true;
    bool no_shm = false;
    hf_status st = wal_pending(options->address, &pending, err);

    if (st)
        return st;
    if (pending)
        return hf_err_set(
            err, HF_READONLY,
            "its newest changes are in %s-wal, and reading them needs a folder that may be "
            "written: "
            "change the folder's permissions, or stop the engine that owns the store cleanly first",
            options->address);
    st = name_immutable(options->address, name, err);
    if (!st)
        st = handle_open(hf_buf_text(name), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, options,
                         out_handle, &no_shm, err);
    return st;
}

hf_status hf_sqlite_open(const hf_db_options *options, sqlite3 **out_handle, hf_err *err)
{
    hf_buf name = {0};
    int flags = SQLITE_OPEN_READONLY;
    bool no_shm = false;
    hf_status st;

    *out_handle = NULL;
    if (options->mode == HF_DB_READ && path_is_memory(options->address))
        return hf_err_set(err, HF_MISUSE, "a store in memory has one connection, its owner's");
    if (options->mode == HF_DB_WRITE)
        flags = SQLITE_OPEN_READWRITE | (options->create ? SQLITE_OPEN_CREATE : 0);
    st = name_plain(options->address, &name, err);
    if (!st)
        st = handle_open(hf_buf_text(&name), flags, options, out_handle, &no_shm, err);
    if (no_shm && options->mode == HF_DB_READ && !options->vfs)
        st = reader_open_frozen(options, &name, out_handle, err);
    hf_buf_fini(&name);
    return hf_err_because(err, st, "%s", options->address);
}
