/* lib_floor_sqlite.c: the bare SQLite program. */
#include <sqlite3.h>

#include "base/alloc.h"
#include "lib_floor.h"
#include "lib_report.h"

typedef struct floor_sqlite {
    hf_floor base;
    sqlite3 *handle;
    sqlite3_stmt *begin;
    sqlite3_stmt *run;
    sqlite3_stmt *history;
    sqlite3_stmt *task;
    sqlite3_stmt *commit;
} floor_sqlite;

static void stmt_run(sqlite3_stmt *stmt)
{
    hf_bench_need(sqlite3_step(stmt) == SQLITE_DONE, "SQLite refuses a row of the floor");
    (void)sqlite3_reset(stmt);
}

static void run_write(sqlite3_stmt *stmt, const hf_floor_unit *unit, size_t body_bytes)
{
    const hf_run_base *base = &unit->run->base;

    (void)sqlite3_bind_int64(stmt, 1, base->run);
    (void)sqlite3_bind_int64(stmt, 2, base->last_seq);
    (void)sqlite3_bind_int64(stmt, 3, base->last_seq + 3);
    (void)sqlite3_bind_blob(stmt, 4, base->head, sizeof(base->head), SQLITE_STATIC);
    (void)sqlite3_bind_int64(stmt, 5, unit->time_us);
    (void)sqlite3_bind_int64(stmt, 6, base->history_bytes + (int64_t)body_bytes);
    (void)sqlite3_bind_int64(stmt, 7, base->command_seq);
    (void)sqlite3_bind_int64(stmt, 8, base->message_seq);
    (void)sqlite3_bind_int64(stmt, 9, base->message_cursor);
    (void)sqlite3_bind_int64(stmt, 10, base->status);
    (void)sqlite3_bind_null(stmt, 11);
    (void)sqlite3_bind_null(stmt, 12);
    stmt_run(stmt);
}

static void history_write(sqlite3_stmt *stmt, const hf_floor *floor, const hf_floor_unit *unit)
{
    (void)sqlite3_bind_int64(stmt, 1, unit->position);
    (void)sqlite3_bind_int64(stmt, 2, unit->run->base.run);
    (void)sqlite3_bind_int64(stmt, 3, unit->run->base.last_seq + 1);
    (void)sqlite3_bind_int64(stmt, 4, 3);
    (void)sqlite3_bind_int64(stmt, 5, 1);
    (void)sqlite3_bind_blob(stmt, 6, floor->body, (int)floor->body_bytes, SQLITE_STATIC);
    (void)sqlite3_bind_blob(stmt, 7, unit->run->base.head, sizeof(unit->run->base.head),
                            SQLITE_STATIC);
    stmt_run(stmt);
}

static void task_write(sqlite3_stmt *stmt, const hf_floor_unit *unit)
{
    (void)sqlite3_bind_int64(stmt, 1, unit->run->task);
    (void)sqlite3_bind_int64(stmt, 2, unit->time_us);
    stmt_run(stmt);
}

static void sqlite_begin(hf_floor *floor, const hf_floor_unit *units, size_t count)
{
    (void)units;
    (void)count;
    stmt_run(((floor_sqlite *)floor)->begin);
}

static void sqlite_write(hf_floor *floor, const hf_floor_unit *units, size_t count)
{
    floor_sqlite *mine = (floor_sqlite *)floor;

    for (size_t i = 0; i < count; i++)
        run_write(mine->run, &units[i], floor->body_bytes);
    for (size_t i = 0; i < count; i++)
        history_write(mine->history, floor, &units[i]);
    for (size_t i = 0; i < count; i++)
        task_write(mine->task, &units[i]);
}

static void sqlite_commit(hf_floor *floor, const hf_floor_unit *units, size_t count)
{
    (void)units;
    (void)count;
    stmt_run(((floor_sqlite *)floor)->commit);
}

static void sqlite_finish(hf_floor *floor)
{
    floor_sqlite *mine = (floor_sqlite *)floor;

    (void)sqlite3_finalize(mine->begin);
    (void)sqlite3_finalize(mine->run);
    (void)sqlite3_finalize(mine->history);
    (void)sqlite3_finalize(mine->task);
    (void)sqlite3_finalize(mine->commit);
    (void)sqlite3_close(mine->handle);
    hf_alloc_free(mine);
}

static sqlite3_stmt *stmt_make(sqlite3 *handle, const char *sql)
{
    sqlite3_stmt *stmt = NULL;

    hf_bench_need(sqlite3_prepare_v3(handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL) ==
                      SQLITE_OK,
                  "SQLite refuses a statement of the floor");
    return stmt;
}

hf_floor *hf_floor_open_sqlite(const char *path, hf_load *load)
{
    floor_sqlite *mine = hf_alloc(sizeof(*mine));
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;

    hf_bench_need(mine != NULL, "no memory");
    hf_floor_init(&mine->base, load);
    mine->base.begin = sqlite_begin;
    mine->base.write = sqlite_write;
    mine->base.commit = sqlite_commit;
    mine->base.close = sqlite_finish;
    hf_bench_need(sqlite3_open_v2(path, &mine->handle, flags, NULL) == SQLITE_OK &&
                      sqlite3_exec(mine->handle,
                                   "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                                   "PRAGMA cache_size = -65536; PRAGMA secure_delete = FAST",
                                   NULL, NULL, NULL) == SQLITE_OK,
                  "SQLite does not open the floor's store");
    mine->begin = stmt_make(mine->handle, "BEGIN IMMEDIATE");
    mine->run = stmt_make(
        mine->handle, "UPDATE run SET last_seq = ?3, head = ?4, last_us = ?5, history_bytes = ?6,"
                      " command_seq = ?7, message_seq = ?8, message_cursor = ?9, status = ?10,"
                      " closed_reason = ?11, closed_us = ?12 WHERE key = ?1 AND last_seq = ?2");
    mine->history = stmt_make(mine->handle,
                              "INSERT INTO history (position, run, first_seq, count, format, body,"
                              " hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
    mine->task =
        stmt_make(mine->handle, "UPDATE task SET status = 1, available_us = ?2, epoch = epoch + 1,"
                                " token = NULL, owner = NULL, lease_until_us = NULL, body = NULL,"
                                " repair_count = repair_count + 1, trouble = 0, repair_us = NULL"
                                " WHERE key = ?1");
    mine->commit = stmt_make(mine->handle, "COMMIT");
    return &mine->base;
}
