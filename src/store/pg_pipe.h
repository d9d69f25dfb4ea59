/* pg_pipe.h: one connection's session and its pipeline. Shared by the files of the driver, by
   nobody else.

   Statements are queued without waiting. Each leaves an entry in a ring; answers are matched to
   entries in order. The first error of a transaction is kept in `failure` until the transaction, or
   its savepoint, is rolled back; after it nothing more is sent. A lost connection sets `conn` to
   NULL; what is then known about COMMIT decides between HF_UNREACHABLE and HF_UNKNOWN. While data
   is being sent, answers are read, so neither side can block the other.

   Another transaction may be begun behind a COMMIT that is not answered. There is never more than
   one such COMMIT, and answers come in order: what fails before its answer is a failure of the
   first transaction, what fails after it one of the second. */
#ifndef HF_STORE_PG_PIPE_H
#define HF_STORE_PG_PIPE_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "store/db.h"
#include "store/pg_array.h"

/* Statements sent but not answered, before answers are waited for; and room for what one call adds.
 */
enum { HF_PG_IN_FLIGHT_MAX = 64, HF_PG_RING = HF_PG_IN_FLIGHT_MAX + 8 };

typedef enum hf_pg_kind {
    HF_PG_CONTROL, /* BEGIN, SAVEPOINT and the like */
    HF_PG_COMMIT,
    HF_PG_PREPARE,
    HF_PG_BATCH,
    HF_PG_QUERY, /* its rows are taken by the cursor */
    HF_PG_SYNC
} hf_pg_kind;

/* Which of a statement's texts, see stmt.h. */
typedef enum hf_pg_form { HF_PG_GUARDED, HF_PG_ASSURED, HF_PG_LONE, HF_PG_FORMS } hf_pg_form;

typedef struct hf_pg_entry {
    hf_pg_kind kind;
    bool assured;     /* an error may mean that a guard did not hold */
    bool answered;    /* it has had an answer; the last is followed by none */
    const char *name; /* put in front of an error; NULL when the caller does that */
    size_t stmt;      /* HF_PG_PREPARE */
    size_t rows;      /* HF_PG_BATCH */
    uint8_t *flags;   /* HF_PG_BATCH: borrowed, NULL when nobody asks */
} hf_pg_entry;

typedef struct hf_pg_cursor {
    hf_db_cursor base;
    const char *name; /* of the statement, for errors while stepping */
    PGresult *first;  /* the first answer; keeps the column names until the end */
    PGresult *row;    /* the current row; may be `first` */
    bool open;        /* between query and end */
    bool ahead;       /* `first` holds a row that was not yet stepped to */
    bool over;        /* the last row was seen, or the query failed */
} hf_pg_cursor;

typedef struct hf_pg {
    hf_db db;
    /* how to connect, kept for reconnecting */
    char *address;
    char *schema;
    char *channel; /* of notifications */
    hf_db_mode mode;
    bool primary;
    bool by_key;
    const hf_stmt_text *statements;
    size_t statement_count;
    /* the session */
    PGconn *conn;        /* NULL when lost */
    int64_t again_us;    /* a reader that is lost tries no earlier, on the monotonic clock */
    char backend[64];    /* who serves the session; of a writer that lost it, who served it last */
    bool *prepared;      /* per statement, once for each form */
    size_t planned_rows; /* written since the plans were made */
    size_t plan_rows;    /* that may be, before they are made anew */
    bool listening;
    bool in_transaction;
    hf_err failure; /* status HF_OK while nothing failed */
    /* the pipeline */
    hf_pg_entry ring[HF_PG_RING];
    size_t ring_first;
    size_t ring_count;
    bool unsynced;       /* statements were queued after the last sync */
    size_t unsent_bytes; /* queued since the socket last took everything */
    bool commit_open;    /* COMMIT was queued and not answered, and nothing before it failed */
    bool committed;      /* COMMIT was answered with COMMIT */
    bool ending;         /* COMMIT was sent, and its outcome not yet asked for */
    bool ahead;          /* and another transaction was begun behind it */
    size_t behind;       /* entries that were queued behind it */
    /* scratch */
    hf_pg_params params;
    hf_buf text;
    hf_pg_cursor cursor;
    /* notifications, see pg_listen.h */
    PGconn *notifier;
    PGnotify *note;
} hf_pg;

/* HF_OK when there is a connection and no open cursor. For what goes on with a transaction: the
   socket was looked at when it began, and is again before COMMIT. */
HF_NODISCARD hf_status hf_pg_pipe_usable(hf_pg *pg, hf_err *err);

/* The same, and there is nothing wrong with the socket, which costs a system call. */
HF_NODISCARD hf_status hf_pg_pipe_ready(hf_pg *pg, hf_err *err);

/* Queues a statement without parameters. BEGIN of a writer and COMMIT are prepared by the session.
 */
HF_NODISCARD hf_status hf_pg_pipe_control(hf_pg *pg, hf_pg_kind kind, const char *sql, hf_err *err);

/* Queues a prepared statement with pg->params, preparing it first when needed; another form of it
   when `stmt` is that many times statement_count more. Fills in the entry's kind, rows and flags.
   `name` is NULL when the caller names the statement in errors. */
HF_NODISCARD hf_status hf_pg_pipe_stmt(hf_pg *pg, size_t stmt, const hf_pg_entry *entry,
                                       hf_err *err);

/* Queues a text once with pg->params. */
HF_NODISCARD hf_status hf_pg_pipe_text(hf_pg *pg, const char *sql, const hf_pg_entry *entry,
                                       hf_err *err);

HF_NODISCARD hf_status hf_pg_pipe_sync(hf_pg *pg, hf_err *err);

/* Works until at most `leave` entries are unanswered. Fails only when the connection is lost; the
   failure of a statement goes to pg->failure. */
HF_NODISCARD hf_status hf_pg_pipe_wait(hf_pg *pg, size_t leave, hf_err *err);

/* The same, but gives up as soon as `fd` can be read: then false. A lost connection counts as an
   answer to everything. */
bool hf_pg_pipe_await(hf_pg *pg, size_t leave, int fd);

/* Waits for the next answer of the entry in front, which is a query; NULL when it has no more, and
   then the entry is gone. An answer that is an error went to pg->failure and is not handed out. */
HF_NODISCARD hf_status hf_pg_pipe_answer(hf_pg *pg, PGresult **out_result, hf_err *err);

/* Syncs when something is unsynced, waits for everything, and reports the first failure of the
 * transaction. */
HF_NODISCARD hf_status hf_pg_pipe_flush(hf_pg *pg, hf_err *err);

/* Copies the kept failure out. */
hf_status hf_pg_pipe_failure(const hf_pg *pg, hf_err *err);

/* Nobody waits for the flags of what is in flight any more. */
void hf_pg_pipe_forget_flags(hf_pg *pg);

/* Drops the connection. Returns HF_UNKNOWN while COMMIT is open, else HF_UNREACHABLE; the failure
   stays for whoever is still to ask for the outcome of a COMMIT. */
hf_status hf_pg_pipe_lost(hf_pg *pg, hf_err *err);

#endif
