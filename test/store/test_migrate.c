/* test_migrate.c: migrations run once, in order, together with their record; strange records stop
   everything. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/fault.h"
#include "lib/campaign.h"
#include "lib/engine.h"
#include "store/migrate.h"

enum { NODES = 6 };

static hf_db *dial(const hf_test_place *place)
{
    hf_db *db = NULL;
    hf_err err = {0};

    hf_test_ok(hf_test_place_dial(place, HF_DB_WRITE, NULL, 0, &db, &err), &err, "connect");
    return db;
}

static void migrate(hf_db *db)
{
    hf_err err = {0};

    hf_test_ok(hf_migrate(db, hf_clock_system(), &err), &err, "migrate");
}

static const char *text_of(const hf_db *db, size_t at)
{
    return strcmp(db->driver->name, "sqlite") == 0 ? hf_migration_texts[at].sqlite
                                                   : hf_migration_texts[at].postgres;
}

typedef struct seen {
    size_t count;
    const char *names[64];
} seen;

static void pending_note(void *ctx, const char *name, const char *sql)
{
    seen *list = ctx;

    ck_assert_ptr_nonnull(sql);
    ck_assert_uint_lt(list->count, 64);
    list->names[list->count++] = name;
}

static size_t pending_count(hf_db *db)
{
    seen list = {0};
    hf_err err = {0};

    hf_test_ok(hf_migrate_pending(db, pending_note, &list, &err), &err, "pending");
    return list.count;
}

static void checksum_of(const char *text, char out_text[HF_SHA256_TEXT_SIZE])
{
    uint8_t digest[HF_SHA256_BYTES];
    hf_sha256 *sha = NULL;
    hf_err err = {0};

    hf_test_ok(hf_sha256_new(&sha, &err), &err, "digest");
    hf_test_ok(hf_sha256_digest(sha, hf_slice_of(text), digest, &err), &err, "digest");
    hf_hex_print(hf_slice_from(digest, sizeof(digest)), out_text);
    hf_sha256_free(sha);
}

/* Counts the recorded migrations and compares every checksum. */
static size_t recorded_count(hf_db *db)
{
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = true;
    size_t count = 0;

    hf_test_ok(hf_db_query(db, HF_STMT_MIGRATION_LIST, NULL, 0, &cursor, &err), &err, "list");
    for (;;) {
        char checksum[HF_SHA256_TEXT_SIZE];

        hf_test_ok(hf_db_step(cursor, &row, &err), &err, "list");
        if (!row)
            break;
        ck_assert_uint_lt(count, hf_migration_texts_count);
        ck_assert(hf_slice_equal(hf_db_column_bytes(cursor, 0),
                                 hf_slice_of(hf_migration_texts[count].name)));
        checksum_of(text_of(db, count), checksum);
        ck_assert(hf_slice_equal(hf_db_column_bytes(cursor, 1), hf_slice_of(checksum)));
        count++;
    }
    hf_db_end(cursor);
    return count;
}

static hf_status migrate_fails(const hf_test_place *place, const char *script, hf_err *err)
{
    hf_db *db = dial(place);
    hf_err ok = {0};
    hf_status st;

    migrate(db);
    hf_test_ok(hf_db_script(db, script, &ok), &ok, "spoil");
    st = hf_migrate(db, hf_clock_system(), err);
    hf_db_close(db);
    return st;
}

/* All are pending in the order of their names, then all have run, also those without a text for the
   engine, and a second time nothing happens. */
HF_BOTH_ENGINES(migrations_run_once)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_db *db = dial(place);
    seen list = {0};
    hf_err err = {0};

    hf_test_ok(hf_migrate_pending(db, pending_note, &list, &err), &err, "pending");
    ck_assert_uint_eq(list.count, hf_migration_texts_count);
    for (size_t i = 0; i + 1 < list.count; i++)
        ck_assert_int_lt(strcmp(list.names[i], list.names[i + 1]), 0);
    migrate(db);
    ck_assert_uint_eq(pending_count(db), 0);
    ck_assert_uint_eq(recorded_count(db), hf_migration_texts_count);
    migrate(db);
    ck_assert_uint_eq(recorded_count(db), hf_migration_texts_count);
    hf_db_close(db);
    hf_test_place_free(place);
}

/* A migration that this program does not know comes from a newer one. */
HF_BOTH_ENGINES(unknown_migrations_are_newer)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_err err = {0};

    ck_assert_int_eq(
        migrate_fails(place, "INSERT INTO migration VALUES ('ground_0999_later', 'x', 1)", &err),
        HF_NEWER);
    ck_assert_msg(strstr(err.text, "ground version 999") != NULL, "%s", err.text);
    ck_assert_msg(strstr(err.text, "use a newer holdfast") != NULL, "%s", err.text);
    hf_test_place_verify = NULL; /* it is broken on purpose */
    hf_test_place_free(place);
}

/* A recorded migration whose text is another one now. */
HF_BOTH_ENGINES(edited_migrations_are_refused)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_err err = {0};

    ck_assert_int_eq(
        migrate_fails(
            place, "UPDATE migration SET checksum = 'edited' WHERE name LIKE 'projection%'", &err),
        HF_CORRUPT);
    ck_assert_msg(strstr(err.text, "projection_0001") != NULL, "%s", err.text);
    hf_test_place_verify = NULL; /* it is broken on purpose */
    hf_test_place_free(place);
}

/* A gap in the record: the missing one cannot run after its successor. */
HF_BOTH_ENGINES(gaps_are_refused)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_err err = {0};

    ck_assert_int_eq(
        migrate_fails(place, "DELETE FROM migration WHERE name LIKE 'ground_0001%'", &err),
        HF_CORRUPT);
    ck_assert_msg(strstr(err.text, "ground_0001") != NULL, "%s", err.text);
    hf_test_place_verify = NULL; /* it is broken on purpose */
    hf_test_place_free(place);
}

/* Brings the place to where a program that knew only the first migration left it. */
static void first_only(const hf_test_place *place)
{
    char checksum[HF_SHA256_TEXT_SIZE];
    char sql[512];
    hf_db *db = dial(place);
    hf_err err = {0};

    checksum_of(text_of(db, 0), checksum);
    (void)snprintf(sql, sizeof(sql),
                   "INSERT INTO migration VALUES ('%s', '%s', 1); INSERT INTO meta VALUES "
                   "('store_id', 'old'), "
                   "('created_us', '1'), ('ground_version', '1'), ('projection_version', '0')",
                   hf_migration_texts[0].name, checksum);
    hf_test_ok(hf_db_script(db, text_of(db, 0), &err), &err, "first migration");
    hf_test_ok(hf_db_script(db, sql, &err), &err, "record");
    hf_db_close(db);
}

/* An older store is named as such to readers and to owners who do not migrate; one who does brings
   it up. */
HF_BOTH_ENGINES(older_stores_are_brought_up)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_store_options options = {.size = sizeof(options), .role = HF_STORE_READER};
    hf_store *store = NULL;
    hf_err err = {0};

    first_only(place);
    ck_assert_int_eq(hf_store_open(hf_test_place_address(place), &options, &store, &err), HF_OLDER);
    ck_assert_msg(strstr(err.text, "ground version 1,") != NULL, "%s", err.text);
    options.role = HF_STORE_OWNER;
    options.no_migrate = true;
    ck_assert_int_eq(hf_store_open(hf_test_place_address(place), &options, &store, &err), HF_OLDER);
    options.no_migrate = false;
    hf_test_ok(hf_store_open(hf_test_place_address(place), &options, &store, &err), &err, "open");
    ck_assert_uint_eq(recorded_count(hf_store_writer(store)), hf_migration_texts_count);
    hf_store_close(store);
    hf_test_place_free(place);
}

/* Each allocation, each call and each lost answer on the way fails once: the store is at some whole
   version, and the next try finishes. */
HF_BOTH_ENGINES(migrating_survives_faults)
{
    static const hf_fault_kind kinds[] = {HF_FAULT_ALLOC, HF_FAULT_DB, HF_FAULT_DB_LOST};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        hf_status st = HF_ERROR;

        for (int64_t nth = 1; st; nth += hf_campaign_stride(7, 3)) {
            hf_test_place *place = hf_test_place_new(kind);
            hf_db *db = dial(place);
            hf_err err = {0};

            hf_fault_arm(kinds[i], nth, false);
            st = hf_migrate(db, hf_clock_system(), &err);
            hf_fault_arm(kinds[i], 0, false);
            ck_assert(!hf_db_in_transaction(db));
            ck_assert(!st || err.text[0]);
            migrate(db);
            ck_assert_uint_eq(recorded_count(db), hf_migration_texts_count);
            hf_db_close(db);
            hf_test_place_free(place);
            ck_assert_int_lt(nth, 400);
        }
    }
}

/* Several nodes find the same empty schema at once: each ends with a whole store, and each
   migration ran once. */
START_TEST(nodes_migrate_together)
{
    for (int round = 0; round < 5; round++) {
        hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
        pid_t nodes[NODES];
        hf_db *db;

        for (int i = 0; i < NODES; i++) {
            nodes[i] = fork();
            ck_assert_int_ge(nodes[i], 0);
            if (nodes[i] == 0) {
                const hf_store_options options = {
                    .size = sizeof(options), .role = HF_STORE_OWNER, .create = true};
                hf_store *store = NULL;
                hf_err err = {0};
                hf_status st = hf_store_open(hf_test_place_address(place), &options, &store, &err);

                if (st)
                    (void)fprintf(stderr, "node %d: %s\n", i, err.text);
                hf_store_close(store);
                _exit(st ? 1 : 0);
            }
        }
        for (int i = 0; i < NODES; i++) {
            int result = -1;

            ck_assert_int_eq(waitpid(nodes[i], &result, 0), nodes[i]);
            ck_assert(WIFEXITED(result) && WEXITSTATUS(result) == 0);
        }
        db = dial(place);
        ck_assert_uint_eq(recorded_count(db), hf_migration_texts_count);
        hf_db_close(db);
        hf_test_place_free(place);
    }
}
END_TEST

HF_PG_SUITE_MAIN("store/migrate", HF_BOTH(migrations_run_once),
                 HF_BOTH(unknown_migrations_are_newer), HF_BOTH(edited_migrations_are_refused),
                 HF_BOTH(gaps_are_refused), HF_BOTH(older_stores_are_brought_up),
                 HF_BOTH_SLOW(migrating_survives_faults, 300), {nodes_migrate_together, 120})
