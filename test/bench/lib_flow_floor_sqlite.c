/* lib_flow_floor_sqlite.c: the bare SQLite program. */
#include <sqlite3.h>

#include "base/alloc.h"
#include "lib_flow_floor.h"
#include "lib_report.h"

enum {
    STMT_BEGIN,
    STMT_RUN,
    STMT_HISTORY,
    STMT_ENDS,
    STMT_BEGINS,
    STMT_JOB_CLOSE,
    STMT_JOB_INSTANCE,
    STMT_JOB_RUN,
    STMT_JOB_COMMAND,
    STMT_JOB_TASK_END,
    STMT_JOB_TASK,
    STMT_JOB_SUMMARY,
    STMT_JOB_ENDED,
    STMT_COMMIT,
    STMT_COUNT
};

static const char *const texts[STMT_COUNT] = {
    [STMT_BEGIN] = "BEGIN IMMEDIATE",
    [STMT_RUN] = "UPDATE run SET last_seq = ?3, head = ?4, last_us = ?5, history_bytes = ?6,"
                 " command_seq = 1, message_seq = 0, message_cursor = 0, status = 2,"
                 " closed_reason = NULL, closed_us = NULL WHERE key = ?1 AND last_seq = ?2",
    [STMT_HISTORY] = "INSERT INTO history (position, run, first_seq, count, format, body, hash)"
                     " VALUES (?1, ?2, ?3, 3, 1, ?4, ?5)",
    [STMT_ENDS] = "DELETE FROM activity WHERE key = ?1",
    [STMT_BEGINS] = "INSERT INTO activity (key, run, step, type, status, attempt, max_attempts,"
                    " lost_attempts, deadline_us, close_deadline_us, available_us, scheduled_us,"
                    " started_us, closed_us, policy) VALUES (?1, ?2, ?3, 'noop', 2, 1, 1, 0, NULL,"
                    " NULL, NULL, ?4, ?4, NULL, NULL)",
    /* ?1 the first of the job's keys, ?2 a time, ?3 a hash, ?4 bytes, ?5 a body */
    [STMT_JOB_CLOSE] = "UPDATE run SET last_seq = 4, head = ?3, last_us = ?2, history_bytes = ?4,"
                       " status = 6, closed_reason = 1, closed_us = ?2"
                       " WHERE key = ?1 + 1 AND last_seq = 2",
    [STMT_JOB_INSTANCE] = "INSERT INTO instance (key, namespace, id, shard, type, current_run,"
                          " run_count, created_us)"
                          " VALUES (?1, 1, printf('%026d', ?1), 0, 'noop', ?1 + 1, 1, ?2)",
    [STMT_JOB_RUN] = "INSERT INTO run (key, instance, number, status, last_seq, head, last_us,"
                     " history_bytes, command_seq, message_seq, message_cursor, created_us, queue)"
                     " VALUES (?1 + 1, ?1, 1, 1, 2, ?3, ?2, ?4, 1, 0, 0, ?2, 'default')",
    [STMT_JOB_COMMAND] = "INSERT INTO command (key, instance, run, type, status, outcome, scope,"
                         " source, command_seq, recorded_us, applied_us, closed_us, body)"
                         " VALUES (?1 + 2, ?1, ?1 + 1, 1, 1, 1, 1, 1, 1, ?2, ?2, ?2, ?5)",
    [STMT_JOB_TASK_END] = "DELETE FROM task WHERE run = ?1 + 1",
    [STMT_JOB_TASK] = "INSERT INTO task (key, run, kind, status, queue, priority, available_us,"
                      " epoch, attempt, repair_count, created_us)"
                      " VALUES (?1 + 3, ?1 + 1, 1, 1, 'default', 5, ?2, 0, 0, 0, ?2)",
    [STMT_JOB_SUMMARY] = "INSERT INTO run_summary (run, namespace, instance, status, sort_us, type,"
                         " queue) VALUES (?1 + 1, 1, ?1, 1, ?2, 'noop', 'default')",
    [STMT_JOB_ENDED] = "UPDATE run_summary SET status = 6, ended = 6, settled = 0"
                       " WHERE run = ?1 + 1",
    [STMT_COMMIT] = "COMMIT",
};

typedef struct floor_sqlite {
    hf_flow_floor base;
    sqlite3 *handle;
    sqlite3_stmt *stmts[STMT_COUNT];
} floor_sqlite;

static void stmt_run(sqlite3_stmt *stmt)
{
    hf_bench_need(sqlite3_step(stmt) == SQLITE_DONE, "SQLite refuses a row of the floor");
    (void)sqlite3_reset(stmt);
}

static void run_write(sqlite3_stmt *stmt, const hf_flow_floor_run *run, size_t body_bytes,
                      int64_t time_us)
{
    (void)sqlite3_bind_int64(stmt, 1, run->run);
    (void)sqlite3_bind_int64(stmt, 2, run->last_seq);
    (void)sqlite3_bind_int64(stmt, 3, run->last_seq + 3);
    (void)sqlite3_bind_blob(stmt, 4, run->head, sizeof(run->head), SQLITE_STATIC);
    (void)sqlite3_bind_int64(stmt, 5, time_us);
    (void)sqlite3_bind_int64(stmt, 6, run->history_bytes + (int64_t)body_bytes);
    stmt_run(stmt);
}

static void chunk_write(sqlite3_stmt *stmt, const hf_flow_floor *floor,
                        const hf_flow_floor_run *run, int64_t position, int64_t key, int64_t seq)
{
    (void)sqlite3_bind_int64(stmt, 1, position);
    (void)sqlite3_bind_int64(stmt, 2, key);
    (void)sqlite3_bind_int64(stmt, 3, seq);
    (void)sqlite3_bind_blob(stmt, 4, floor->body, (int)floor->body_bytes, SQLITE_STATIC);
    (void)sqlite3_bind_blob(stmt, 5, run->head, sizeof(run->head), SQLITE_STATIC);
    stmt_run(stmt);
}

static void begins_write(sqlite3_stmt *stmt, const hf_flow_floor_run *run, int64_t time_us)
{
    (void)sqlite3_bind_int64(stmt, 1, run->begins);
    (void)sqlite3_bind_int64(stmt, 2, run->run);
    (void)sqlite3_bind_int64(stmt, 3, run->step + 1);
    (void)sqlite3_bind_int64(stmt, 4, time_us);
    stmt_run(stmt);
}

static void sqlite_write(hf_flow_floor *floor, const hf_flow_floor_run *runs, int64_t time_us)
{
    sqlite3_stmt **stmts = ((floor_sqlite *)floor)->stmts;

    stmt_run(stmts[STMT_BEGIN]);
    for (const hf_flow_floor_run *run = runs; run; run = run->next)
        run_write(stmts[STMT_RUN], run, floor->body_bytes, time_us);
    for (const hf_flow_floor_run *run = runs; run; run = run->next)
        chunk_write(stmts[STMT_HISTORY], floor, run, run->position, run->run, run->last_seq + 1);
    for (const hf_flow_floor_run *run = runs; run; run = run->next) {
        (void)sqlite3_bind_int64(stmts[STMT_ENDS], 1, run->activity);
        stmt_run(stmts[STMT_ENDS]);
    }
    for (const hf_flow_floor_run *run = runs; run; run = run->next)
        begins_write(stmts[STMT_BEGINS], run, time_us);
    stmt_run(stmts[STMT_COMMIT]);
}

/* One statement of a job, with what it takes of it. */
static void job_write(sqlite3_stmt *stmt, const hf_flow_floor *floor, const hf_flow_floor_run *run,
                      int64_t key, int64_t time_us)
{
    int last = sqlite3_bind_parameter_count(stmt);

    (void)sqlite3_bind_int64(stmt, 1, key);
    if (last >= 2)
        (void)sqlite3_bind_int64(stmt, 2, time_us);
    if (last >= 3)
        (void)sqlite3_bind_blob(stmt, 3, run->head, sizeof(run->head), SQLITE_STATIC);
    if (last >= 4)
        (void)sqlite3_bind_int64(stmt, 4, (int64_t)floor->body_bytes);
    if (last >= 5)
        (void)sqlite3_bind_blob(stmt, 5, floor->body, (int)floor->body_bytes, SQLITE_STATIC);
    stmt_run(stmt);
}

static void sqlite_jobs_write(hf_flow_floor *floor, const hf_flow_floor_run *runs, int64_t time_us)
{
    static const int ends[] = {STMT_JOB_CLOSE, STMT_JOB_TASK_END, STMT_JOB_ENDED};
    static const int begins[] = {STMT_JOB_INSTANCE, STMT_JOB_RUN, STMT_JOB_COMMAND, STMT_JOB_TASK,
                                 STMT_JOB_SUMMARY};
    sqlite3_stmt **stmts = ((floor_sqlite *)floor)->stmts;

    stmt_run(stmts[STMT_BEGIN]);
    for (size_t i = 0; runs->activity && i < sizeof(ends) / sizeof(ends[0]); i++)
        for (const hf_flow_floor_run *run = runs; run; run = run->next)
            job_write(stmts[ends[i]], floor, run, run->activity, time_us);
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
        for (const hf_flow_floor_run *run = runs; run; run = run->next)
            job_write(stmts[begins[i]], floor, run, run->begins, time_us);
    for (const hf_flow_floor_run *run = runs; run; run = run->next) {
        if (run->activity)
            chunk_write(stmts[STMT_HISTORY], floor, run, run->position, run->activity + 1, 3);
        chunk_write(stmts[STMT_HISTORY], floor, run, run->position + 1, run->begins + 1, 1);
    }
    stmt_run(stmts[STMT_COMMIT]);
}

static void sqlite_finish(hf_flow_floor *floor)
{
    floor_sqlite *mine = (floor_sqlite *)floor;

    for (size_t i = 0; i < STMT_COUNT; i++)
        (void)sqlite3_finalize(mine->stmts[i]);
    (void)sqlite3_close(mine->handle);
}

static void runs_make(sqlite3 *handle)
{
    hf_bench_need(sqlite3_exec(handle,
                               "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n"
                               " WHERE k < 512) INSERT INTO run (key, instance, number, status,"
                               " last_seq, head, last_us, history_bytes, command_seq, message_seq,"
                               " message_cursor, created_us, queue) SELECT k, k, 1, 2, 0,"
                               " zeroblob(32), 0, 0, 1, 0, 0, 0, 'default' FROM n",
                               NULL, NULL, NULL) == SQLITE_OK,
                  "SQLite refuses the runs of the floor");
}

hf_flow_floor *hf_flow_floor_sqlite(const char *path)
{
    floor_sqlite *mine = hf_alloc(sizeof(*mine));
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;

    hf_bench_need(mine != NULL, "no memory");
    mine->base.write = sqlite_write;
    mine->base.jobs_write = sqlite_jobs_write;
    mine->base.close = sqlite_finish;
    hf_bench_need(sqlite3_open_v2(path, &mine->handle, flags, NULL) == SQLITE_OK &&
                      sqlite3_exec(mine->handle,
                                   "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                                   "PRAGMA cache_size = -65536; PRAGMA secure_delete = FAST",
                                   NULL, NULL, NULL) == SQLITE_OK,
                  "SQLite does not open the floor's store");
    runs_make(mine->handle);
    for (size_t i = 0; i < STMT_COUNT; i++)
        hf_bench_need(sqlite3_prepare_v3(mine->handle, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                                         &mine->stmts[i], NULL) == SQLITE_OK,
                      "SQLite refuses a statement of the floor");
    return &mine->base;
}
