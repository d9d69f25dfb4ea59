/* test_pg_loss.c: the PostgreSQL driver when things go away: the server, the connection around
   COMMIT, the primary; and refusals to connect. A proxy process between driver and server counts
   round trips and cuts the connection at a chosen moment, so that both outcomes of a lost COMMIT
   are met on purpose and not by luck. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "holdfast/host.h"
#include "lib/nap.h"
#include "lib/pg.h"
#include "store/db.h"

enum { ADDRESS_SIZE = 300, SCHEMA_SIZE = 40 };

enum { MARK_ADD, MARK_TOUCH, MARK_DIE, MARK_COUNT };

static const hf_stmt_text statements[] = {
    [MARK_ADD] = {"mark_add", "", "INSERT INTO mark SELECT * FROM unnest(?1::bigint[])", NULL,
                  NULL},
    [MARK_TOUCH] = {"mark_touch", "",
                    "UPDATE mark SET key = key FROM unnest(?1::bigint[]) AS u(k) WHERE key = u.k "
                    "RETURNING 1::bigint",
                    NULL, NULL},
    [MARK_DIE] = {"mark_die", "",
                  "SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(u.s) "
                  "FROM unnest(?1::bigint[]) AS u(s)",
                  NULL, NULL},
};

static void ok(hf_status st, const hf_err *err)
{
    ck_assert_msg(st == HF_OK, "%s: %s", hf_strstatus(st), err->text);
}

static const hf_db_driver *driver_get(void)
{
    const hf_db_driver *driver = NULL;
    hf_err err = {0};

    ok(hf_pg_driver(HF_BUILD_DIR, &driver, &err), &err);
    return driver;
}

static hf_status open_as(hf_db_mode mode, const char *address, const char *schema, hf_db **out_db,
                         hf_err *err)
{
    const hf_db_options options = {.address = address,
                                   .schema = schema,
                                   .mode = mode,
                                   .create = mode == HF_DB_WRITE,
                                   .statements = statements,
                                   .statement_count = MARK_COUNT};

    return hf_db_open(driver_get(), &options, out_db, err);
}

static hf_status open_at(const char *address, const char *schema, hf_db **out_db, hf_err *err)
{
    return open_as(HF_DB_WRITE, address, schema, out_db, err);
}

/* A connection to a schema of this case with the table mark in it. */
static hf_db *open_marks(const char *address, char *schema)
{
    hf_err err = {0};
    hf_db *db = NULL;

    (void)snprintf(schema, SCHEMA_SIZE, "t_loss_%d", (int)getpid());
    ok(open_at(address, schema, &db, &err), &err);
    ok(hf_db_script(db, "CREATE TABLE IF NOT EXISTS mark (key bigint PRIMARY KEY)", &err), &err);
    return db;
}

static void drop(hf_db *db, const char *schema)
{
    char sql[100];
    hf_err err = {0};

    (void)snprintf(sql, sizeof(sql), "DROP SCHEMA %s CASCADE", schema);
    ok(hf_db_script(db, sql, &err), &err);
    hf_db_close(db);
}

static int64_t number_of(hf_db *db, const char *sql, int64_t param)
{
    const hf_db_value value = hf_db_int(param);
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = false;
    int64_t number;

    ok(hf_db_query_text(db, sql, &value, 1, &cursor, &err), &err);
    ok(hf_db_step(cursor, &row, &err), &err);
    ck_assert(row);
    number = hf_db_column_int(cursor, 0);
    hf_db_end(cursor);
    return number;
}

static bool mark_there(hf_db *db, int64_t key)
{
    return number_of(db, "SELECT count(*) FROM mark WHERE key = ?1", key) == 1;
}

static hf_status batch(hf_db *db, int stmt, int64_t key, hf_err *err)
{
    const hf_db_value cell = hf_db_int(key);
    const hf_db_rows rows = {.columns = 1, .count = 1, .cells = &cell};

    return db->driver->batch(db, (hf_stmt)stmt, &rows, err);
}

/* One transaction that writes one mark. */
static hf_status mark_write(hf_db *db, int64_t key, hf_err *err)
{
    hf_status st = hf_db_begin(db, HF_DB_WRITE, err);

    if (!st)
        st = batch(db, MARK_ADD, key, err);
    if (!st)
        return hf_db_commit(db, err);
    hf_db_rollback(db);
    return st;
}

/* Bounded: the server may need a moment to take connections again. */
static void reconnect(hf_db *db)
{
    const struct timespec pause = {.tv_nsec = 20 * 1000000};
    hf_err err = {0};
    hf_status st = HF_UNREACHABLE;

    for (int i = 0; i < 500 && st == HF_UNREACHABLE; i++) {
        st = hf_db_reconnect(db, &err);
        if (st)
            (void)nanosleep(&pause, NULL);
    }
    ok(st, &err);
}

/* ---- the proxy */

typedef enum proxy_cut {
    CUT_NONE,
    CUT_REQUEST, /* the next request is swallowed and the connection closed */
    CUT_ANSWER,  /* the next request is passed on, its answer swallowed, the connection closed */
    CUT_BEHIND   /* the next request is passed on and the connection to the client closed at once */
} proxy_cut;

typedef struct proxy {
    _Atomic int cut;
    _Atomic int round_trips; /* requests that followed an answer */
    int port;
    pid_t process;
} proxy;

/* Moves what is there from one side to the other; false at the end of the connection. */
static bool bytes_pass(int from, int to, bool swallow)
{
    char bytes[65536];
    ssize_t got = read(from, bytes, sizeof(bytes));

    for (ssize_t done = 0; got > 0 && !swallow && done < got;) {
        ssize_t put = send(to, bytes + done, (size_t)(got - done), MSG_NOSIGNAL);

        if (put <= 0)
            return false;
        done += put;
    }
    return got > 0;
}

static void proxy_serve(proxy *shared, int client, int server)
{
    struct pollfd ends[] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
    bool answered = true;
    bool alive = true;

    while (alive && poll(ends, 2, -1) > 0) {
        int cut = atomic_load(&shared->cut);

        if (ends[0].revents) {
            if (answered)
                atomic_fetch_add(&shared->round_trips, 1);
            answered = false;
            alive = bytes_pass(client, server, cut == CUT_REQUEST) && cut != CUT_REQUEST &&
                    cut != CUT_BEHIND;
        }
        if (alive && ends[1].revents) {
            answered = true;
            alive = bytes_pass(server, client, cut == CUT_ANSWER) && cut != CUT_ANSWER;
        }
    }
    atomic_store(&shared->cut, CUT_NONE);
}

static int socket_to(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
        _exit(1);
    return fd;
}

/* Serves one connection after the other on a port of its own, in a process that ends with the test.
 */
static proxy *proxy_start(int server_port)
{
    proxy *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pid_t process;

    ck_assert(shared != MAP_FAILED);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(listener, 4), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    shared->port = ntohs(address.sin_port);
    process = fork();
    if (process == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) {
            int client = accept(listener, NULL, NULL);
            int server = socket_to(server_port);

            proxy_serve(shared, client, server);
            (void)close(client);
            (void)close(server);
        }
    }
    shared->process = process; /* only here: the child shares the memory */
    (void)close(listener);
    return shared;
}

static void proxy_stop(proxy *shared)
{
    (void)kill(shared->process, SIGKILL);
    (void)waitpid(shared->process, NULL, 0);
    (void)munmap(shared, sizeof(*shared));
}

/* The shared server's address with the proxy's port in it. */
static proxy *proxy_before_server(char *address)
{
    const char *direct = getenv("HF_TEST_PG");
    const char *colon = strrchr(direct, ':');
    proxy *shared = proxy_start(atoi(colon + 1));

    (void)snprintf(address, ADDRESS_SIZE,
                   "postgresql://holdfast@127.0.0.1:%d/holdfast?sslmode=disable", shared->port);
    return shared;
}

/* ---- the cases */

/* Begin, many batches and commit cost one round trip, also the first time when the statements are
   prepared; a query takes the batches before it along. */
START_TEST(transaction_is_one_round_trip)
{
    char address[ADDRESS_SIZE];
    char schema[SCHEMA_SIZE];
    proxy *wire = proxy_before_server(address);
    hf_db *db = open_marks(address, schema);
    hf_err err = {0};

    for (int64_t round = 0; round < 3; round++) {
        atomic_store(&wire->round_trips, 0);
        ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
        for (int64_t i = 0; i < 10; i++) {
            ok(batch(db, MARK_ADD, round * 100 + i, &err), &err);
            ok(batch(db, MARK_TOUCH, round * 100 + i, &err), &err);
        }
        ok(hf_db_commit(db, &err), &err);
        ck_assert_int_eq(atomic_load(&wire->round_trips), 1);
    }
    atomic_store(&wire->round_trips, 0);
    ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
    ok(batch(db, MARK_ADD, 1000, &err), &err);
    ck_assert(mark_there(db, 1000));
    ck_assert_int_eq(atomic_load(&wire->round_trips), 1);
    hf_db_rollback(db);
    ck_assert_int_eq(atomic_load(&wire->round_trips), 2);
    drop(db, schema);
    proxy_stop(wire);
}
END_TEST

/* The request with COMMIT is lost, or only its answer: both times the outcome is unknown, and both
   times reading back tells. A connection that is lost before COMMIT was sent is a plain loss. */
START_TEST(lost_commit_is_unknown)
{
    char address[ADDRESS_SIZE];
    char schema[SCHEMA_SIZE];
    proxy *wire = proxy_before_server(address);
    hf_db *db = open_marks(address, schema);
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};

    ok(mark_write(db, 1, &err), &err);
    for (int64_t key = 2; key < 6; key++) {
        bool done = key % 2 == 0;

        atomic_store(&wire->cut, done ? CUT_ANSWER : CUT_REQUEST);
        ck_assert_msg(mark_write(db, key, &err) == HF_UNKNOWN, "%s", err.text);
        ck_assert(!hf_db_in_transaction(db));
        ck_assert_int_eq(hf_db_begin(db, HF_DB_WRITE, &err), HF_UNREACHABLE);
        ck_assert_int_eq(hf_db_query_text(db, "SELECT 1", NULL, 0, &cursor, &err), HF_UNREACHABLE);
        hf_db_rollback(db);
        reconnect(db);
        ck_assert_int_eq(mark_there(db, key), done);
    }
    for (int64_t key = 10; key < 12; key++) {
        ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
        ok(batch(db, MARK_ADD, key, &err), &err);
        atomic_store(&wire->cut, key % 2 == 0 ? CUT_ANSWER : CUT_REQUEST);
        ck_assert_int_eq(hf_db_flush(db, &err), HF_UNREACHABLE);
        ck_assert(!hf_db_in_transaction(db));
        ck_assert_int_eq(hf_db_commit(db, &err), HF_UNREACHABLE);
        reconnect(db);
        ck_assert(!mark_there(db, key));
        ok(mark_write(db, key, &err), &err);
    }
    drop(db, schema);
    proxy_stop(wire);
}
END_TEST

/* Who only reads has lost nothing: a connection that was cut off is there again when it is used,
   in a transaction or without one, and nobody has to ask for it. */
START_TEST(a_reader_comes_back_by_itself)
{
    const struct timespec pause = {.tv_nsec = 20 * 1000000};
    char address[ADDRESS_SIZE];
    char schema[SCHEMA_SIZE];
    proxy *wire = proxy_before_server(address);
    hf_db *db = open_marks(getenv("HF_TEST_PG"), schema);
    hf_db *reader = NULL;
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};

    ok(mark_write(db, 1, &err), &err);
    ok(open_as(HF_DB_READ, address, schema, &reader, &err), &err);
    for (int within = 0; within < 2; within++) {
        hf_status st = HF_UNREACHABLE;

        if (within)
            ok(hf_db_begin(reader, HF_DB_READ, &err), &err);
        atomic_store(&wire->cut, CUT_REQUEST);
        ck_assert_int_eq(hf_db_query_text(reader, "SELECT 1", NULL, 0, &cursor, &err),
                         HF_UNREACHABLE);
        hf_db_rollback(reader);
        for (int i = 0; i < 3000 && st == HF_UNREACHABLE; i++) {
            st = hf_db_begin(reader, HF_DB_READ, &err);
            if (st)
                (void)nanosleep(&pause, NULL);
        }
        ok(st, &err);
        ck_assert(mark_there(reader, 1));
        ok(hf_db_commit(reader, &err), &err);
    }
    hf_db_close(reader);
    drop(db, schema);
    proxy_stop(wire);
}
END_TEST

/* The client is cut off while its backend still waits on the way to COMMIT. After the reconnect
   nothing of it can come true any more, however late the backend gets what it waited for. */
START_TEST(an_orphan_does_not_commit_behind_our_back)
{
    char address[ADDRESS_SIZE];
    char schema[SCHEMA_SIZE];
    proxy *wire = proxy_before_server(address);
    hf_db *db = open_marks(address, schema);
    hf_db *other = open_marks(getenv("HF_TEST_PG"), schema);
    hf_err err = {0};

    ok(mark_write(other, 1, &err), &err);
    ok(hf_db_begin(other, HF_DB_WRITE, &err), &err);
    ok(batch(other, MARK_TOUCH, 1, &err), &err);
    ok(hf_db_flush(other, &err), &err);
    ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
    ok(batch(db, MARK_ADD, 2, &err), &err);
    ok(batch(db, MARK_TOUCH, 1, &err), &err);
    atomic_store(&wire->cut, CUT_BEHIND);
    ck_assert_int_eq(hf_db_commit(db, &err), HF_UNKNOWN);
    reconnect(db);
    ck_assert(!mark_there(db, 2));
    hf_db_rollback(other);
    ok(mark_write(db, 2, &err), &err); /* and it may be written anew */
    ck_assert(mark_there(db, 2));
    hf_db_close(other);
    drop(db, schema);
    proxy_stop(wire);
}
END_TEST

/* The server's last words answer a statement before COMMIT: then COMMIT was not reached, and that
 * is known. */
START_TEST(last_words_before_commit_are_no_commit)
{
    char schema[SCHEMA_SIZE];
    hf_db *db = open_marks(getenv("HF_TEST_PG"), schema);
    hf_err err = {0};

    ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
    ok(batch(db, MARK_ADD, 1, &err), &err);
    ok(batch(db, MARK_DIE, 10, &err), &err);
    ck_assert_msg(hf_db_commit(db, &err) == HF_UNREACHABLE, "%s", err.text);
    ck_assert_ptr_nonnull(strstr(err.text, "57P01"));
    reconnect(db);
    ck_assert(!mark_there(db, 1));
    drop(db, schema);
}
END_TEST

/* A server that crashes between begin and commit has not committed, and the driver knows it. */
START_TEST(crash_before_commit_is_no_commit)
{
    char schema[SCHEMA_SIZE];
    hf_pg_server *server = NULL;
    hf_err err = {0};
    hf_db *db;

    ok(hf_pg_start(&server, &err), &err);
    db = open_marks(hf_pg_uri(server), schema);
    ok(mark_write(db, 1, &err), &err);
    for (int flushed = 0; flushed < 2; flushed++) {
        ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
        ok(batch(db, MARK_ADD, 2, &err), &err);
        if (flushed)
            ok(hf_db_flush(db, &err), &err);
        ok(hf_pg_crash(server, &err), &err);
        ck_assert_msg(hf_db_commit(db, &err) == HF_UNREACHABLE, "%s", err.text);
        ck_assert(!hf_db_in_transaction(db));
        hf_db_rollback(db);
        ck_assert_int_eq(hf_db_reconnect(db, &err), HF_UNREACHABLE);
        ck_assert_int_eq(hf_db_notify(db, HF_SLICE("x"), &err), HF_UNREACHABLE);
        ok(hf_pg_restart(server, &err), &err);
        reconnect(db);
        ck_assert(mark_there(db, 1));
        ck_assert(!mark_there(db, 2));
        ok(hf_db_notify(db, HF_SLICE("x"), &err), &err);
        ok(mark_write(db, 3 + flushed, &err), &err);
    }
    hf_db_close(db);
    hf_pg_stop(server);
}
END_TEST

typedef struct killer {
    pthread_t thread;
    hf_db *db;
    int64_t victim; /* backend to terminate */
    long delay_ns;
} killer;

static void *killer_run(void *ctx)
{
    killer *self = ctx;
    const struct timespec pause = {.tv_nsec = self->delay_ns};

    (void)nanosleep(&pause, NULL);
    (void)number_of(self->db, "SELECT pg_terminate_backend(?1::int)::int", self->victim);
    return NULL;
}

/* Writes marks, each after the one before, until the connection is gone; *key is the last. */
static hf_status marks_write(hf_db *db, int64_t *key, hf_err *err)
{
    hf_status st = HF_OK;

    while (!st)
        st = mark_write(db, ++*key, err);
    return st;
}

/* The same with each transaction begun behind the COMMIT of the one before. */
static hf_status marks_write_ahead(hf_db *db, int64_t *key, hf_err *err)
{
    hf_err later = {0};
    hf_status st = hf_db_begin(db, HF_DB_WRITE, err);

    if (!st)
        st = batch(db, MARK_ADD, ++*key, err);
    while (!st) {
        st = hf_db_commit_send(db, err);
        if (st)
            break;
        if (!hf_db_begin(db, HF_DB_WRITE, &later))
            (void)!batch(db, MARK_ADD, *key + 1, &later);
        st = hf_db_commit_end(db, err);
        if (!st)
            ++*key;
    }
    return st;
}

/* Connections terminated at any moment around COMMIT: what was confirmed is there, what was denied
   is not, and only HF_UNKNOWN may be either. */
static void termination_never_lies(hf_status (*write)(hf_db *, int64_t *, hf_err *))
{
    char schema[SCHEMA_SIZE];
    hf_db *db = open_marks(getenv("HF_TEST_PG"), schema);
    hf_db *observer = open_marks(getenv("HF_TEST_PG"), schema);
    killer kill = {.db = open_marks(getenv("HF_TEST_PG"), schema)};
    int64_t key = 0;

    for (int round = 0; round < 60; round++) {
        hf_err err = {0};
        hf_status st;

        kill.victim = number_of(db, "SELECT pg_backend_pid() + 0 * ?1", 0);
        kill.delay_ns = round * 50000L;
        ck_assert_int_eq(pthread_create(&kill.thread, NULL, killer_run, &kill), 0);
        st = write(db, &key, &err);
        ck_assert_msg(st == HF_UNREACHABLE || st == HF_UNKNOWN, "%s: %s", hf_strstatus(st),
                      err.text);
        ck_assert_int_eq(pthread_join(kill.thread, NULL), 0);
        reconnect(db);
        ck_assert(!mark_there(observer, key + 1));
        if (st == HF_UNREACHABLE)
            ck_assert(!mark_there(observer, key));
        ck_assert_int_eq(number_of(observer, "SELECT count(*) FROM mark WHERE key < ?1", key),
                         key - 1);
        if (!mark_there(observer, key)) {
            ok(mark_write(db, key, &err), &err);
        }
    }
    hf_db_close(kill.db);
    hf_db_close(observer);
    drop(db, schema);
}

START_TEST(termination_around_commit_never_lies)
{
    termination_never_lies(marks_write);
}
END_TEST

START_TEST(termination_with_the_next_begun_never_lies)
{
    termination_never_lies(marks_write_ahead);
}
END_TEST

/* The answer to COMMIT is lost when the next transaction has been sent behind it: the outcome of
   the first is unknown, and the second has not happened. One that loses the connection itself
   leaves the first as it is. */
START_TEST(lost_commit_is_unknown_with_the_next_begun)
{
    char address[ADDRESS_SIZE];
    char schema[SCHEMA_SIZE];
    proxy *wire = proxy_before_server(address);
    hf_db *db = open_marks(address, schema);
    hf_err err = {0};

    ok(mark_write(db, 1, &err), &err);
    for (int64_t key = 10; key < 50; key += 10) {
        bool done = key % 20 == 0;
        bool dies = key == 40;

        ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
        ok(batch(db, MARK_ADD, key, &err), &err);
        if (!dies)
            atomic_store(&wire->cut, done ? CUT_ANSWER : CUT_REQUEST);
        ok(hf_db_commit_send(db, &err), &err);
        ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
        ok(batch(db, MARK_ADD, key + 1, &err), &err);
        if (dies)
            ok(batch(db, MARK_DIE, 10, &err), &err);
        ck_assert_int_eq(hf_db_commit_end(db, &err), dies ? HF_OK : HF_UNKNOWN);
        ck_assert_int_eq(hf_db_commit(db, &err), HF_UNREACHABLE);
        ck_assert(!hf_db_in_transaction(db));
        hf_db_rollback(db);
        reconnect(db);
        ck_assert_int_eq(mark_there(db, key), done);
        ck_assert(!mark_there(db, key + 1));
        ok(mark_write(db, key + 1, &err), &err);
    }
    drop(db, schema);
    proxy_stop(wire);
}
END_TEST

/* Where an address that names both servers, the standby first, leads to. */
static int port_reached(hf_db_mode mode, const char *both, const char *schema)
{
    hf_err err = {0};
    hf_db *db = NULL;
    int port;

    ok(open_as(mode, both, schema, &db, &err), &err);
    port = (int)number_of(db, "SELECT inet_server_port() + 0 * ?1", 0);
    hf_db_close(db);
    return port;
}

/* A standby is refused for writing with words that help, and can be read. Of several servers the
   primary is taken, wherever it stands, and one that was told to take no changes is none. */
static void primary_is_taken(const hf_pg_server *primary, const hf_pg_server *standby,
                             const char *both, const char *schema)
{
    char fixed[2 * ADDRESS_SIZE];
    hf_err err = {0};
    hf_db *other = NULL;

    ck_assert_int_eq(open_at(hf_pg_uri(standby), schema, &other, &err), HF_READONLY);
    ck_assert_ptr_nonnull(strstr(err.text, "standby"));
    ok(open_as(HF_DB_READ, hf_pg_uri(standby), schema, &other, &err), &err);
    ck_assert(mark_there(other, 1));
    hf_db_close(other);
    ck_assert_int_eq(port_reached(HF_DB_WRITE, both, schema), hf_pg_port(primary));
    ck_assert_int_eq(port_reached(HF_DB_READ, both, schema), hf_pg_port(primary));
    (void)snprintf(fixed, sizeof(fixed), "%s?options=-c%%20default_transaction_read_only%%3Don",
                   both);
    ck_assert_int_eq(open_at(fixed, schema, &other, &err), HF_READONLY);
    ck_assert_ptr_nonnull(strstr(err.text, "takes no changes"));
    ok(open_as(HF_DB_READ, fixed, schema, &other, &err), &err);
    hf_db_close(other);
}

static hf_value echo(hf_ctx *w, hf_value in)
{
    (void)w;
    return in;
}

static const hf_app app = {
    .name = "follower", .workflows = (const hf_workflow_def[]){{.type = "echo", .run = echo}, {0}}};

/* The standby becomes the primary, and not at once. */
static void *promote(void *standby)
{
    hf_nap_ms(300);
    ck_assert_int_eq(number_of(standby, "SELECT pg_promote(true, 30)::int + 0 * ?1", 0), 1);
    return NULL;
}

/* The primary of a running engine goes, and a while later its standby is made the primary: the same
   engine goes on there, with everything that the standby had. What it was told in between is in, or
   was refused in so many words. */
static void engine_follows(hf_pg_server *primary, const hf_pg_server *standby, const char *both)
{
    hf_engine *engine = NULL;
    hf_err err = {0};
    hf_db *other = NULL;
    pthread_t thread;
    hf_status st;

    (void)setenv("HF_MODULE_DIR", HF_BUILD_DIR, 1);
    ck_assert_msg(!hf_open(both, &app, &engine), "%s", hf_errmsg(engine));
    ck_assert_int_eq(hf_start(engine, "echo", NULL, .id = "before"), HF_OK);
    ck_assert_int_eq(hf_result(engine, "before", hf_seconds(20), NULL, NULL), HF_OK);
    ok(open_as(HF_DB_READ, hf_pg_uri(standby), "holdfast", &other, &err), &err);
    for (int i = 0; i < 1000 && number_of(other,
                                          "SELECT count(*) FROM run WHERE closed_us IS NOT NULL "
                                          "AND ?1 = 0",
                                          0) == 0;
         i++)
        hf_nap_ms(10); /* it follows a little behind */
    ok(hf_pg_crash(primary, &err), &err);
    ck_assert_int_eq(pthread_create(&thread, NULL, promote, other), 0);
    while ((st = hf_start(engine, "echo", NULL, .id = "after")) == HF_READONLY)
        hf_nap_ms(10);
    ck_assert_msg(!st, "%s", hf_errmsg(engine));
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    hf_db_close(other);
    ck_assert_int_eq(hf_result(engine, "after", hf_seconds(60), NULL, NULL), HF_OK);
    ck_assert_int_eq(hf_result(engine, "before", 0, NULL, NULL), HF_OK);
    ck_assert_int_eq(hf_working(engine), HF_OK);
    hf_close(engine);
}

START_TEST(a_failover_is_followed)
{
    char schema[SCHEMA_SIZE];
    char both[ADDRESS_SIZE];
    hf_pg_server *primary = NULL;
    hf_pg_server *standby = NULL;
    hf_err err = {0};
    hf_db *db;

    ok(hf_pg_start(&primary, &err), &err);
    db = open_marks(hf_pg_uri(primary), schema);
    ok(mark_write(db, 1, &err), &err);
    ok(hf_pg_start_standby(primary, &standby, &err), &err);
    (void)snprintf(both, sizeof(both), "postgresql://holdfast@127.0.0.1:%d,127.0.0.1:%d/holdfast",
                   hf_pg_port(standby), hf_pg_port(primary));
    primary_is_taken(primary, standby, both, schema);
    engine_follows(primary, standby, both);
    hf_db_close(db);
    ok(open_at(both, schema, &db, &err), &err);
    ok(mark_write(db, 2, &err), &err);
    hf_db_close(db);
    hf_pg_stop(standby);
    hf_pg_stop(primary);
}
END_TEST

static void refused(const char *address, const char *schema, bool create, hf_status expected,
                    const char *words)
{
    const hf_db_options options = {.address = address,
                                   .schema = schema,
                                   .mode = HF_DB_WRITE,
                                   .create = create,
                                   .statements = statements,
                                   .statement_count = MARK_COUNT};
    hf_db *db = NULL;
    hf_err err = {0};
    hf_status st = hf_db_open(driver_get(), &options, &db, &err);

    ck_assert_msg(st == expected, "%s: %s instead of %s: %s", address, hf_strstatus(st),
                  hf_strstatus(expected), err.text);
    ck_assert_ptr_null(db);
    ck_assert_msg(strstr(err.text, words) != NULL, "'%s' is not in: %s", words, err.text);
    ck_assert_msg(strstr(err.text, "sesame") == NULL, "the password is in: %s", err.text);
}

/* Each way a connection can be refused has its own status and says what is missing; passwords are
 * never repeated. */
START_TEST(refusals_say_what_is_missing)
{
    char schema[SCHEMA_SIZE];
    char address[ADDRESS_SIZE];
    hf_db *db = open_marks(getenv("HF_TEST_PG"), schema);
    int port = atoi(strrchr(getenv("HF_TEST_PG"), ':') + 1);
    hf_db *other = NULL;
    hf_err err = {0};

    (void)snprintf(address, sizeof(address),
                   "postgresql://hf_password:sesame@127.0.0.1:%d/holdfast", port);
    refused(address, schema, false, HF_DENIED, "password authentication failed");
    (void)snprintf(address, sizeof(address),
                   "postgresql://hf_password@127.0.0.1:%d/holdfast?passfile=/nowhere", port);
    refused(address, schema, false, HF_DENIED, "password");
    (void)snprintf(address, sizeof(address), "postgresql://holdfast:sesame@127.0.0.1:%d/nowhere",
                   port);
    refused(address, schema, false, HF_NOTFOUND, "nowhere");
    refused("postgresql://holdfast:sesame@127.0.0.1:1/holdfast", schema, false, HF_UNREACHABLE,
            "refused");
    refused("postgresql://holdfast:sesame@127.0.0.1:port/holdfast", schema, false, HF_INVALID,
            "port");
    refused("postgresql://holdfast:sesame%zz@127.0.0.1/holdfast", schema, false, HF_INVALID,
            "address");
    refused("host=127.0.0.1 password='sesame", schema, false, HF_INVALID, "address");
    refused("just words", schema, false, HF_INVALID, "address");
    refused(getenv("HF_TEST_PG"), "t_not_there", false, HF_NOTFOUND, "t_not_there");
    refused(getenv("HF_TEST_PG"), "", false, HF_INVALID, "schema");

    /* With the right password, but without privileges. */
    (void)snprintf(address, sizeof(address),
                   "postgresql://hf_password:correct%%20horse@127.0.0.1:%d/holdfast", port);
    refused(address, schema, false, HF_DENIED, "no privilege to use schema");
    refused(address, "t_not_mine", true, HF_DENIED, "create schema t_not_mine");

    /* The first host that answers is taken. */
    (void)snprintf(address, sizeof(address),
                   "postgresql://holdfast@127.0.0.1:1,127.0.0.1:%d/holdfast", port);
    ok(open_at(address, schema, &other, &err), &err);
    hf_db_close(other);
    drop(db, schema);
}
END_TEST

typedef struct opener {
    const hf_db_driver *driver; /* loaded before the threads start */
    hf_db_options options;
} opener;

static void *opener_run(void *ctx)
{
    const opener *self = ctx;
    hf_db *db = NULL;
    hf_err err = {0};

    if (hf_db_open(self->driver, &self->options, &db, &err))
        (void)fprintf(stderr, "%s\n", err.text);
    return db;
}

/* Nodes that start at the same moment all create the schema, and all succeed. */
START_TEST(schema_is_created_once_by_many)
{
    enum { OPENERS = 8 };
    char schema[SCHEMA_SIZE];
    pthread_t threads[OPENERS];
    void *opened[OPENERS];
    opener self = {.driver = driver_get(),
                   .options = {.address = getenv("HF_TEST_PG"),
                               .schema = schema,
                               .mode = HF_DB_WRITE,
                               .create = true,
                               .statements = statements,
                               .statement_count = MARK_COUNT}};

    (void)snprintf(schema, sizeof(schema), "T \"many\" %d", (int)getpid());
    for (int i = 0; i < OPENERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, opener_run, &self), 0);
    for (int i = 0; i < OPENERS; i++)
        ck_assert_int_eq(pthread_join(threads[i], &opened[i]), 0);
    for (int i = 0; i < OPENERS; i++)
        ck_assert_ptr_nonnull(opened[i]);
    for (int i = 1; i < OPENERS; i++)
        hf_db_close(opened[i]);
    (void)snprintf(schema, sizeof(schema), "\"T \"\"many\"\" %d\"", (int)getpid());
    drop(opened[0], schema);
}
END_TEST

HF_PG_SUITE_MAIN("store/pg_loss", {transaction_is_one_round_trip, 0}, {lost_commit_is_unknown, 0},
                 {a_reader_comes_back_by_itself, 120},
                 {an_orphan_does_not_commit_behind_our_back, 0},
                 {last_words_before_commit_are_no_commit, 0},
                 {crash_before_commit_is_no_commit, 120},
                 {termination_around_commit_never_lies, 120},
                 {termination_with_the_next_begun_never_lies, 120},
                 {lost_commit_is_unknown_with_the_next_begun, 0}, {a_failover_is_followed, 120},
                 {refusals_say_what_is_missing, 0}, {schema_is_created_once_by_many, 0})
