/* test_pg_loss.c: the PostgreSQL driver when things go away: the server, the connection around
   COMMIT. A proxy process between driver and server counts round trips and cuts the connection at a
   chosen moment, so that both outcomes of a lost COMMIT are met on purpose and not by luck. Which
   server is taken, and which is refused, is in test_pg_connect.c. */
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

#include "store/pg_mark.h"

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

    ++*key;
    if (!st)
        st = batch(db, MARK_ADD, *key, err);
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
        hf_status st;

        ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
        ok(batch(db, MARK_ADD, key, &err), &err);
        if (!dies)
            atomic_store(&wire->cut, done ? CUT_ANSWER : CUT_REQUEST);
        ok(hf_db_commit_send(db, &err), &err);
        st = hf_db_begin(db, HF_DB_WRITE, &err); /* it may be known by now */
        if (!st)
            st = batch(db, MARK_ADD, key + 1, &err);
        if (dies)
            ok(st ? st : batch(db, MARK_DIE, 10, &err), &err);
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

/* The socket that leads to the server; the newest, when there are several. */
static int socket_of(int port)
{
    int found = -1;

    for (int fd = 3; fd < 256; fd++) {
        struct sockaddr_in peer = {0};
        socklen_t size = sizeof(peer);

        if (!getpeername(fd, (struct sockaddr *)&peer, &size) && ntohs(peer.sin_port) == port)
            found = fd;
    }
    ck_assert_int_ne(found, -1);
    return found;
}

/* COMMIT is on its way and waits for a lock when the connection takes nothing more: what is begun
   behind it cannot be sent. That says nothing about the first transaction, which comes true. */
START_TEST(what_cannot_be_sent_denies_nothing)
{
    const char *direct = getenv("HF_TEST_PG");
    char schema[SCHEMA_SIZE];
    hf_db *other = open_marks(direct, schema);
    hf_db *db = open_marks(direct, schema);
    int fd = socket_of(atoi(strrchr(direct, ':') + 1));
    hf_err err = {0};
    hf_status st;

    ok(mark_write(other, 1, &err), &err);
    ok(hf_db_begin(other, HF_DB_WRITE, &err), &err);
    ok(batch(other, MARK_TOUCH, 1, &err), &err);
    ok(hf_db_flush(other, &err), &err);
    ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
    ok(batch(db, MARK_ADD, 2, &err), &err);
    ok(batch(db, MARK_TOUCH, 1, &err), &err);
    ok(hf_db_commit_send(db, &err), &err);
    ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
    ok(hf_db_begin(db, HF_DB_WRITE, &err), &err);
    ok(batch(db, MARK_ADD, 3, &err), &err);
    ok(hf_db_commit(other, &err), &err);
    st = hf_db_commit_end(db, &err);
    ck_assert_msg(st == HF_OK || st == HF_UNKNOWN, "%s: %s", hf_strstatus(st), err.text);
    hf_db_rollback(db);
    reconnect(db);
    ck_assert(mark_there(db, 2));
    ck_assert(!mark_there(db, 3));
    hf_db_close(other);
    drop(db, schema);
}
END_TEST

HF_PG_SUITE_MAIN(
    "store/pg_loss", {transaction_is_one_round_trip, 0}, {lost_commit_is_unknown, 0},
    {a_reader_comes_back_by_itself, 120}, {an_orphan_does_not_commit_behind_our_back, 0},
    {last_words_before_commit_are_no_commit, 0}, {crash_before_commit_is_no_commit, 120},
    {termination_around_commit_never_lies, 120}, {termination_with_the_next_begun_never_lies, 120},
    {lost_commit_is_unknown_with_the_next_begun, 0}, {what_cannot_be_sent_denies_nothing, 0})
