/* pg_sql.h: the SQL that belongs to the driver, not to the store: session, transactions,
   notifications, checks; and the rewriting of ?1 to $1. The store's own statements arrive through
   hf_db_options.statements. */
#ifndef HF_STORE_PG_SQL_H
#define HF_STORE_PG_SQL_H

#include "base/buf.h"

/* Transactions. A writer's are READ COMMITTED because its session is, and READ WRITE unless the
   server was told to take no changes. A savepoint that
   was rolled back to is also removed: the interface knows one level. */
#define HF_PG_SQL_BEGIN_READ  "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
#define HF_PG_SQL_BEGIN_WRITE "BEGIN"
/* Plans are made anew as tables grow: one that was made for an emptied table reads it as a whole.
 */
#define HF_PG_SQL_REPLAN      "DISCARD PLANS"
#define HF_PG_SQL_COMMIT      "COMMIT"
#define HF_PG_SQL_ROLLBACK    "ROLLBACK"
#define HF_PG_SQL_SAVEPOINT   "SAVEPOINT holdfast"
#define HF_PG_SQL_RELEASE     "RELEASE SAVEPOINT holdfast"
#define HF_PG_SQL_ROLLBACK_TO "ROLLBACK TO SAVEPOINT holdfast"

/* $1 milliseconds. A server that can look for its client does, and ends the statement when there is
   none. */
#define HF_PG_SQL_LIMIT                                                                            \
    "SELECT set_config('statement_timeout', $1, false),"                                           \
    " (SELECT set_config(name, '1000', false) FROM pg_catalog.pg_settings"                         \
    " WHERE name = 'client_connection_check_interval')"

/* Session set-up in one round trip. $1 schema, $2 idle-in-transaction limit, $3 `on`
   for a reader, else null, $4 `key` for statements that find every row by a key, $5 how long a
   statement waits for a lock -> is it a
   standby, state of the schema (null: missing, 1: no privilege to use it, 2: usable), ..., which
   backend this is. A stricter synchronous_commit than `on` is kept. By a key, whatever the size of
   a batch, means that each statement is planned once and only by indexes, because a plan that was
   made for empty tables is kept while they grow. The server, too, notices a client whose machine is
   gone, and lets go of what its session has locked. In a pipeline that was cut off before its end a
   transaction is not idle: where the server can, it bounds the whole of it. */
#define HF_PG_SQL_SESSION                                                                          \
    "SELECT pg_is_in_recovery()::int,"                                                             \
    " (SELECT CASE WHEN has_schema_privilege(oid, 'USAGE') THEN 2 ELSE 1 END"                      \
    " FROM pg_catalog.pg_namespace WHERE nspname = $1),"                                           \
    " set_config('search_path', quote_ident($1), false),"                                          \
    " set_config('synchronous_commit', CASE current_setting('synchronous_commit')"                 \
    " WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),"                              \
    " set_config('standard_conforming_strings', 'on', false),"                                     \
    " set_config('TimeZone', 'UTC', false),"                                                       \
    " set_config('idle_in_transaction_session_timeout', $2, false),"                               \
    " set_config('lock_timeout', $5, false), set_config('tcp_keepalives_idle', '5', false),"       \
    " set_config('tcp_keepalives_interval', '5', false),"                                          \
    " set_config('tcp_keepalives_count', '3', false),"                                             \
    " set_config('tcp_user_timeout', '15000', false),"                                             \
    " (SELECT set_config(name, $2, false) FROM pg_catalog.pg_settings"                             \
    " WHERE name = 'transaction_timeout' AND $3 IS NULL),"                                         \
    " CASE $3 WHEN 'on' THEN set_config('default_transaction_read_only', $3, false) END,"          \
    " set_config('default_transaction_isolation', 'read committed', false),"                       \
    " set_config('plan_cache_mode', CASE $4 WHEN 'key' THEN 'force_generic_plan' ELSE 'auto' END," \
    " false),"                                                                                     \
    " (SELECT count(set_config(name, CASE $4 WHEN 'key' THEN 'off' ELSE setting END, false))"      \
    " FROM pg_catalog.pg_settings WHERE name IN"                                                   \
    " ('jit', 'enable_seqscan', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin')),"     \
    " (SELECT pid || ' ' || backend_start FROM pg_catalog.pg_stat_activity"                        \
    " WHERE pid = pg_backend_pid())"

/* $1 what the session before said of itself -> whether each backend that is it has ended. A backend
   whose client is gone may still be on its way to COMMIT: it is ended and waited for, so that what
   is read from now on stays true. */
#define HF_PG_SQL_SUCCEED                                                                          \
    "SELECT pg_terminate_backend(pid, 10000)::int FROM pg_catalog.pg_stat_activity"                \
    " WHERE pid || ' ' || backend_start = $1"

/* The hint connection: a notification that is lost in a crash had nobody left to hear it. */
#define HF_PG_SQL_NOTIFY_SESSION "SET synchronous_commit = off"
#define HF_PG_SQL_NOTIFY         "SELECT pg_notify($1, $2)"

#define HF_PG_SQL_NOW "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

/* $1 schema -> sentences. The unique indexes are the backstops of the fence; a store without one
   would not notice that it forked. */
#define HF_PG_SQL_CHECK                                                                            \
    "SELECT format('constraint %s of table %s is not validated', c.conname, c.conrelid::regclass)" \
    " FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_namespace n ON n.oid = c.connamespace"    \
    " WHERE n.nspname = $1 AND NOT c.convalidated"                                                 \
    " UNION ALL"                                                                                   \
    " SELECT format('index %s of table %s is not %s', r.relname, x.indrelid::regclass,"            \
    " CASE WHEN x.indisvalid THEN 'ready' ELSE 'valid' END)"                                       \
    " FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class r ON r.oid = x.indexrelid"               \
    " JOIN pg_catalog.pg_namespace n ON n.oid = r.relnamespace"                                    \
    " WHERE n.nspname = $1 AND NOT (x.indisvalid AND x.indisready)"                                \
    " UNION ALL"                                                                                   \
    " SELECT format('the unique index %s is missing', w.name)"                                     \
    " FROM unnest(ARRAY['run_open', 'history_run', 'payload_digest', 'command_run', "              \
    "'command_message',"                                                                           \
    " 'timer_step', 'activity_step', 'link_pair', 'task_workflow']) AS w(name)"                    \
    " WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class r ON r.oid = "  \
    "x.indexrelid"                                                                                 \
    " JOIN pg_catalog.pg_namespace n ON n.oid = r.relnamespace"                                    \
    " WHERE n.nspname = $1 AND r.relname = w.name AND x.indisunique)"

/* Appends `sql` with every ?N outside quotes and comments written as $N. */
void hf_pg_sql_rewrite(const char *sql, hf_buf *out);

#endif
