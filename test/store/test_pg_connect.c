/* test_pg_connect.c: what the PostgreSQL driver connects to: the primary of several servers, also
   when it has moved, and a schema that many create at once; and refusals to connect. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "holdfast/host.h"
#include "lib/nap.h"
#include "store/pg_mark.h"

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

HF_PG_SUITE_MAIN("store/pg_connect", {a_failover_is_followed, 120},
                 {refusals_say_what_is_missing, 0}, {schema_is_created_once_by_many, 0})
