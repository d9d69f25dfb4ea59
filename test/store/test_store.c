/* test_store.c: opening stores: what works, and every wrong thing an operator can hand over. A
   refusal is one sentence with the right status and leaves every byte as it was. */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/rng.h"
#include "lib/engine.h"
#include "store/address.h"

enum { NOBODY = 65534 }; /* a user without privileges, when the tests run as root */

static hf_status try_open(const char *address, hf_store_role role, bool create,
                          hf_store **out_store, hf_err *err)
{
    const hf_store_options options = {.size = sizeof(options), .role = role, .create = create};

    return hf_store_open(address, &options, out_store, err);
}

/* One sentence: something is said, on one line, and it names the thing. */
static void sentence_check(const hf_err *err, const char *part)
{
    ck_assert_str_ne(err->text, "");
    ck_assert_msg(!strchr(err->text, '\n'), "more than one line: %s", err->text);
    ck_assert_msg(strstr(err->text, part) != NULL, "\"%s\" is not in: %s", part, err->text);
}

static void refused(const char *address, hf_store_role role, bool create, hf_status wanted,
                    const char *part)
{
    hf_store *store = NULL;
    hf_err err = {0};
    hf_status st = try_open(address, role, create, &store, &err);

    ck_assert_msg(st == wanted, "%s: status %d, not %d: %s", address, (int)st, (int)wanted,
                  err.text);
    ck_assert_ptr_null(store);
    ck_assert_int_eq(err.status, wanted);
    sentence_check(&err, part);
}

/* Refused in every role, and nothing is touched. */
static void refused_by_all(const hf_test_place *place, hf_status wanted, const char *part)
{
    char before[65];
    char after[65];
    const char *address = hf_test_place_address(place);

    hf_test_folder_digest(hf_test_place_folder(place), before);
    refused(address, HF_STORE_READER, false, wanted, part);
    refused(address, HF_STORE_OWNER, false, wanted, part);
    refused(address, HF_STORE_OWNER, true, wanted, part);
    hf_test_folder_digest(hf_test_place_folder(place), after);
    ck_assert_str_eq(before, after);
}

static void file_write(const char *path, const void *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, len, file), len);
    ck_assert_int_eq(fclose(file), 0);
}

static void value_get(hf_db *db, const char *name, char *out, size_t size)
{
    const hf_db_value param = hf_db_text(hf_slice_of(name));
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = false;
    hf_slice value;

    hf_test_ok(hf_db_query(db, HF_STMT_META_GET, &param, 1, &cursor, &err), &err, "meta");
    hf_test_ok(hf_db_step(cursor, &row, &err), &err, "meta");
    ck_assert_msg(row, "meta has no %s", name);
    value = hf_db_column_bytes(cursor, 0);
    (void)snprintf(out, size, "%.*s", (int)value.len, value.ptr);
    hf_db_end(cursor);
}

static void finding_count(void *ctx, const char *sentence)
{
    ck_assert_str_ne(sentence, "");
    (*(int *)ctx)++;
}

static void meta_put(hf_db *db, const char *name, const char *value)
{
    const hf_db_value params[] = {hf_db_text(hf_slice_of(name)), hf_db_text(hf_slice_of(value))};
    hf_err err = {0};

    hf_test_ok(hf_db_exec(db, HF_STMT_META_SET, params, 2, NULL, &err), &err, "meta");
}

/* ---- what works */

/* A new store knows who it is, when it was made and its versions, and is the same one when opened
   again. */
HF_BOTH_ENGINES(stores_are_made_once)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_clock *clock = hf_clock_new_virtual(1700000000123456);
    hf_store_options options = {
        .size = sizeof(options), .role = HF_STORE_OWNER, .create = true, .clock = clock};
    hf_store_versions versions;
    hf_store *store = NULL;
    hf_db *reader = NULL;
    hf_err err = {0};
    char id[64];
    char text[64];

    hf_test_ok(hf_store_open(hf_test_place_address(place), &options, &store, &err), &err, "make");
    ck_assert_str_eq(hf_store_engine(store), kind == HF_ENGINE_SQLITE ? "sqlite" : "postgres");
    value_get(hf_store_writer(store), "store_id", id, sizeof(id));
    ck_assert_uint_eq(strlen(id), 32);
    ck_assert_uint_eq(strspn(id, "0123456789abcdef"), 32);
    value_get(hf_store_writer(store), "created_us", text, sizeof(text));
    ck_assert_str_eq(text, "1700000000123456");
    hf_store_close(store);

    options.create = false;
    hf_test_ok(hf_store_open(hf_test_place_address(place), &options, &store, &err), &err,
               "open again");
    value_get(hf_store_writer(store), "store_id", text, sizeof(text));
    ck_assert_str_eq(text, id);
    hf_test_ok(hf_store_connect(store, HF_DB_READ, &reader, &err), &err, "connect");
    hf_test_ok(hf_store_versions_get(reader, &versions, &err), &err, "versions");
    ck_assert_int_eq(versions.ground, versions.ground_known);
    ck_assert_int_eq(versions.projection, versions.projection_known);
    ck_assert_int_ge(versions.ground, 2);
    ck_assert_int_ge(versions.projection, 1);
    hf_db_close(reader);
    hf_store_close(store);
    hf_clock_free_virtual(clock);
    hf_test_place_free(place);
}

/* A reader has no writer's connection and gets none; on SQLite an owner gets no second one. */
HF_BOTH_ENGINES(readers_only_read)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_store *owner = hf_test_place_store(place, HF_STORE_OWNER);
    hf_store *reader = hf_test_place_store(place, HF_STORE_READER);
    hf_db *db = NULL;
    hf_err err = {0};
    hf_status st;

    ck_assert_ptr_nonnull(hf_store_writer(owner));
    ck_assert_ptr_null(hf_store_writer(reader));
    ck_assert_int_ne(hf_store_connect(reader, HF_DB_WRITE, &db, &err), HF_OK);
    ck_assert_ptr_null(db);
    hf_test_ok(hf_store_connect(reader, HF_DB_READ, &db, &err), &err, "connect");
    st = hf_db_begin(db, HF_DB_WRITE, &err); /* refused now, or when it writes */
    if (!st)
        st = hf_db_exec(db, HF_STMT_META_SET,
                        (const hf_db_value[]){hf_db_text(HF_SLICE("a")), hf_db_text(HF_SLICE("b"))},
                        2, NULL, &err);
    ck_assert_int_eq(st, HF_READONLY);
    hf_db_close(db);
    st = hf_store_connect(owner, HF_DB_WRITE, &db, &err);
    ck_assert_int_eq(st, kind == HF_ENGINE_SQLITE ? HF_MISUSE : HF_OK);
    hf_db_close(db);
    hf_store_close(reader);
    hf_store_close(owner);
    hf_test_place_free(place);
}

/* An empty file is a place for a store; one in memory works, with one connection. */
START_TEST(empty_files_and_memory_will_do)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_store *store = NULL;
    hf_db *db = NULL;
    hf_err err = {0};

    file_write(hf_test_place_address(place), "", 0);
    refused(hf_test_place_address(place), HF_STORE_READER, false, HF_NOTASTORE, "empty");
    refused(hf_test_place_address(place), HF_STORE_OWNER, false, HF_NOTASTORE, "empty");
    store = hf_test_place_store(place, HF_STORE_OWNER);
    hf_store_close(store);
    hf_test_ok(try_open(":memory:", HF_STORE_OWNER, true, &store, &err), &err, "memory");
    ck_assert_int_eq(hf_store_connect(store, HF_DB_READ, &db, &err), HF_MISUSE);
    hf_store_close(store);
    hf_test_place_free(place);
}
END_TEST

/* Any file name works, also one that SQLite would give a meaning of its own; links lead to the one
   store. */
START_TEST(odd_names_are_names)
{
    static const char *const names[] = {"a b?c=d#e%41.db", ":memory: not", "file:x.db?mode=memory",
                                        "\xC3\xBC'\".db"};
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);

    ck_assert_int_eq(chdir(hf_test_place_folder(place)), 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char address[256];
        hf_store *store = NULL;
        hf_db *db = NULL;
        hf_err err = {0};

        (void)snprintf(address, sizeof(address), "sqlite:%s", names[i]);
        hf_test_ok(try_open(address, HF_STORE_OWNER, true, &store, &err), &err, address);
        ck_assert_int_eq(chdir("/"), 0); /* the store stays where it is */
        hf_test_ok(hf_store_connect(store, HF_DB_READ, &db, &err), &err, address);
        ck_assert_int_eq(chdir(hf_test_place_folder(place)), 0);
        ck_assert_int_eq(access(names[i], F_OK), 0);
        hf_db_close(db);
        hf_store_close(store);
    }
    ck_assert_int_eq(chdir("/"), 0);
    hf_test_place_free(place);
}
END_TEST

/* ---- what is refused */

/* No store: said so to everybody who may not make one, and none is made. */
HF_BOTH_ENGINES(absent_stores_are_not_made)
{
    hf_test_place *place = hf_test_place_new(kind);
    char before[65];
    char after[65];

    hf_test_folder_digest(hf_test_place_folder(place), before);
    for (int i = 0; i < 2; i++) {
        refused(hf_test_place_address(place), HF_STORE_READER, false, HF_NOTFOUND, "");
        refused(hf_test_place_address(place), HF_STORE_OWNER, false, HF_NOTFOUND, "");
    }
    hf_test_folder_digest(hf_test_place_folder(place), after);
    ck_assert_str_eq(before, after);
    hf_test_place_free(place);
}

/* Files that are no databases. */
START_TEST(garbage_is_refused)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    const char *path = hf_test_place_address(place);
    static unsigned char noise[65536];
    hf_rng rng;

    hf_rng_init_seeded(&rng, 7);
    hf_rng_fill(&rng, noise, sizeof(noise));
    file_write(path, "x", 1);
    refused_by_all(place, HF_NOTASTORE, "store.db");
    file_write(path, "SQLite format 3", 16);
    refused_by_all(place, HF_NOTASTORE, "store.db");
    file_write(path, "Dear diary, today I made a database.\n", 37);
    refused_by_all(place, HF_NOTASTORE, "not a Holdfast store");
    file_write(path, noise, sizeof(noise));
    refused_by_all(place, HF_NOTASTORE, "not a Holdfast store");
    memset(noise, 0, sizeof(noise));
    file_write(path, noise, sizeof(noise));
    refused_by_all(place, HF_NOTASTORE, "not a Holdfast store");
    hf_test_place_free(place);
}
END_TEST

/* Another program's SQLite database, plain, with an id of its own, and with a WAL that waits to be
   recovered. */
START_TEST(other_databases_are_refused)
{
    static const char *const scripts[] = {
        "CREATE TABLE customer (name); INSERT INTO customer VALUES ('x')",
        "PRAGMA application_id = 252006674; CREATE TABLE commits (id)",
        "PRAGMA journal_mode = WAL; CREATE TABLE meta (name, value)",
    };

    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
        sqlite3 *handle = NULL;

        ck_assert_int_eq(sqlite3_open(hf_test_place_address(place), &handle), SQLITE_OK);
        ck_assert_int_eq(sqlite3_exec(handle, scripts[i], NULL, NULL, NULL), SQLITE_OK);
        refused_by_all(place, HF_NOTASTORE, "another program"); /* while its owner works */
        (void)sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        ck_assert_int_eq(sqlite3_close(handle), SQLITE_OK);
        refused_by_all(place, HF_NOTASTORE, "another program");
        hf_test_place_free(place);
    }
}
END_TEST

/* A store that lost its end is damaged, one that lost nearly everything is none. */
START_TEST(truncated_stores_are_refused)
{
    static const struct {
        off_t size;
        hf_status status;
    } cuts[] = {
        {4096 * 5, HF_CORRUPT}, {4096 + 100, HF_CORRUPT}, {90, HF_CORRUPT}, {15, HF_NOTASTORE}};
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);

    hf_store_close(hf_test_place_store(place, HF_STORE_OWNER));
    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        char beside[512];

        ck_assert_int_eq(truncate(hf_test_place_address(place), cuts[i].size), 0);
        (void)snprintf(beside, sizeof(beside), "%s-shm", hf_test_place_address(place));
        (void)remove(beside);
        refused(hf_test_place_address(place), HF_STORE_OWNER, false, cuts[i].status, "store.db");
        refused(hf_test_place_address(place), HF_STORE_OWNER, true, cuts[i].status, "store.db");
        refused(hf_test_place_address(place), HF_STORE_READER, false, cuts[i].status, "store.db");
    }
    hf_test_place_free(place);
}
END_TEST

/* Things that are not files, and ways that lead nowhere. */
START_TEST(odd_places_are_refused)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    const char *folder = hf_test_place_folder(place);
    char path[512];
    char other[512];
    char name[400];

    ck_assert_int_eq(mkdir(hf_test_place_address(place), 0755), 0);
    refused_by_all(place, HF_NOTASTORE, "is a folder");
    ck_assert_int_eq(rmdir(hf_test_place_address(place)), 0);
    ck_assert_int_eq(mkfifo(hf_test_place_address(place), 0644), 0);
    refused_by_all(place, HF_NOTASTORE, "not a regular file");
    ck_assert_int_eq(unlink(hf_test_place_address(place)), 0);
    ck_assert_int_eq(symlink("nowhere.db", hf_test_place_address(place)), 0);
    refused_by_all(place, HF_NOTFOUND, "symbolic link");
    ck_assert_int_eq(unlink(hf_test_place_address(place)), 0);
    ck_assert_int_eq(symlink("store.db", hf_test_place_address(place)), 0);
    refused_by_all(place, HF_INVALID, "store.db");
    ck_assert_int_eq(unlink(hf_test_place_address(place)), 0);

    (void)snprintf(path, sizeof(path), "%s/no/store.db", folder);
    refused(path, HF_STORE_OWNER, true, HF_NOTFOUND, "does not exist");
    (void)snprintf(path, sizeof(path), "%s/", folder);
    refused(path, HF_STORE_OWNER, true, HF_NOTASTORE, "folder");
    (void)snprintf(other, sizeof(other), "%s/file", folder);
    file_write(other, "x", 1);
    (void)snprintf(path, sizeof(path), "%s/file/store.db", folder);
    refused(path, HF_STORE_OWNER, true, HF_NOTFOUND, "should be a folder");
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    refused(name, HF_STORE_OWNER, true, HF_INVALID, "nnn");

    hf_store_close(hf_test_place_store(place, HF_STORE_OWNER));
    (void)snprintf(path, sizeof(path), "%s/second.db", folder);
    ck_assert_int_eq(link(hf_test_place_address(place), path), 0);
    refused(path, HF_STORE_OWNER, false, HF_INVALID, "hard links");
    hf_test_place_free(place);
}
END_TEST

/* Files and folders that this user may not write or read. */
START_TEST(missing_permissions_are_named)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    const char *path = hf_test_place_address(place);
    const char *folder = hf_test_place_folder(place);
    hf_store *store = NULL;
    hf_err err = {0};
    bool root = geteuid() == 0;
    char before[65];
    char after[65];

    hf_store_close(hf_test_place_store(place, HF_STORE_OWNER));
    hf_test_folder_digest(folder, before);
    if (root) {
        ck_assert_int_eq(chown(folder, NOBODY, NOBODY), 0);
        ck_assert_int_eq(chown(path, NOBODY, NOBODY), 0);
        ck_assert_int_eq(seteuid(NOBODY), 0);
    }
    ck_assert_int_eq(chmod(path, 0444), 0);
    refused(path, HF_STORE_OWNER, true, HF_READONLY, "may not be written");
    ck_assert_int_eq(chmod(path, 0000), 0);
    refused(path, HF_STORE_OWNER, true, HF_DENIED, "may not be read");
    refused(path, HF_STORE_READER, false, HF_DENIED, "may not be read");
    ck_assert_int_eq(chmod(path, 0644), 0);
    ck_assert_int_eq(chmod(folder, 0555), 0);
    refused(path, HF_STORE_OWNER, true, HF_READONLY, "folder");
    hf_test_ok(try_open(path, HF_STORE_READER, false, &store, &err), &err,
               "read in a read-only folder");
    hf_store_close(store);
    ck_assert_int_eq(chmod(folder, 0000), 0);
    refused(path, HF_STORE_READER, false, HF_DENIED, "store.db");
    ck_assert_int_eq(chmod(folder, 0755), 0);
    if (root)
        ck_assert_int_eq(seteuid(0), 0);
    hf_test_folder_digest(folder, after);
    ck_assert_str_eq(before, after);
    hf_test_place_free(place);
}
END_TEST

/* A read-only folder whose store has changes in its WAL cannot be read safely, and says so. */
START_TEST(unmerged_changes_need_a_writable_folder)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    const char *folder = hf_test_place_folder(place);
    bool root = geteuid() == 0;
    char shm[512];
    sqlite3 *handle = NULL;

    hf_store_close(hf_test_place_store(place, HF_STORE_OWNER));
    ck_assert_int_eq(sqlite3_open(hf_test_place_address(place), &handle), SQLITE_OK);
    (void)sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    ck_assert_int_eq(sqlite3_exec(handle, "INSERT INTO meta VALUES ('x', 'y')", NULL, NULL, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(sqlite3_close(handle), SQLITE_OK);
    (void)snprintf(shm, sizeof(shm), "%s-shm", hf_test_place_address(place));
    (void)unlink(shm);
    ck_assert_int_eq(chmod(folder, 0555), 0);
    if (root)
        ck_assert_int_eq(seteuid(NOBODY), 0);
    refused(hf_test_place_address(place), HF_STORE_READER, false, HF_READONLY, "-wal");
    if (root)
        ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(chmod(folder, 0755), 0);
    hf_test_place_free(place);
}
END_TEST

/* Texts that are no addresses, and schemas that are no names. */
START_TEST(wrong_addresses_are_refused)
{
    static const char *const wrong[] = {"http://127.0.0.1:7430",
                                        "mysql://root@localhost/x",
                                        "sqlite:",
                                        "sqlite://x.db",
                                        "postgres:x",
                                        "POSTGRES://h/d",
                                        "file:x.db",
                                        ""};
    static const char *const schemas[] = {
        "",
        "1a",
        "A",
        "a-b",
        "a\"b",
        "a.b",
        "a234567890123456789012345678901234567890123456789012345678901234"};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        refused(wrong[i], HF_STORE_OWNER, true, HF_INVALID, "sqlite:");
    refused(NULL, HF_STORE_OWNER, true, HF_INVALID, "postgres://");
    for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++) {
        const hf_store_options options = {.size = sizeof(options), .schema = schemas[i]};
        hf_store *store = NULL;
        hf_err err = {0};

        ck_assert_int_eq(hf_store_open("postgres://127.0.0.1:1/x", &options, &store, &err),
                         HF_INVALID);
        sentence_check(&err, "schema");
    }
    refused("postgres://127.0.0.1:1/x?hf_schema=x;y", HF_STORE_OWNER, true, HF_INVALID, "schema");
}
END_TEST

/* What a message shows of an address: everything but the passwords; what libpq gets: everything but
   our own. */
START_TEST(addresses_hide_passwords)
{
    static const struct {
        const char *text;
        const char *target;
        const char *shown;
        const char *schema;
    } rows[] = {
        {"postgres://u:secret@h/d", "postgres://u:secret@h/d", "postgres://u:***@h/d", "holdfast"},
        {"postgresql://u:se@cr/et@h:5432/d?hf_schema=a_1", "postgresql://u:se@cr/et@h:5432/d",
         "postgresql://u:***@h:5432/d?hf_schema=a_1", "a_1"},
        {"postgres://h:5432/d", "postgres://h:5432/d", "postgres://h:5432/d", "holdfast"},
        {"postgres://h/d?password=secret&hf_schema=x&application_name=y&sslpassword=secret",
         "postgres://h/d?password=secret&application_name=y&sslpassword=secret",
         "postgres://h/d?password=***&hf_schema=x&application_name=y&sslpassword=***", "x"},
        {"postgres:///d?hf_schema=x&host=/run", "postgres:///d?host=/run",
         "postgres:///d?hf_schema=x&host=/run", "x"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        hf_address address;
        hf_err err = {0};

        hf_test_ok(hf_address_parse(rows[i].text, NULL, &address, &err), &err, rows[i].text);
        ck_assert_int_eq(address.kind, HF_ADDRESS_POSTGRES);
        ck_assert_str_eq(address.target, rows[i].target);
        ck_assert_str_eq(address.shown, rows[i].shown);
        ck_assert_str_eq(address.schema, rows[i].schema);
        hf_address_fini(&address);
        for (int64_t nth = 1; nth < 20; nth++) {
            hf_fault_arm(HF_FAULT_ALLOC, nth, false);
            if (!hf_address_parse(rows[i].text, NULL, &address, &err))
                nth = 20;
            hf_fault_arm(HF_FAULT_ALLOC, 0, false);
            hf_address_fini(&address);
        }
    }
    {
        hf_address address;
        hf_err err = {0};

        hf_test_ok(hf_address_parse("postgres://h/d", "given", &address, &err), &err, "schema");
        ck_assert_str_eq(address.schema, "given");
        hf_address_fini(&address);
        ck_assert_int_eq(hf_address_parse("postgres://h/d?hf_schema=x", "y", &address, &err),
                         HF_INVALID);
        hf_address_fini(&address);
    }
}
END_TEST

/* ---- PostgreSQL */

/* Splits "scheme://user@host:port/db?rest" and puts the parts together anew. */
static void uri_with(const hf_test_place *place, const char *user, const char *database,
                     const char *port, char *out, size_t size)
{
    const char *server = getenv("HF_TEST_PG");
    char host[256] = "";
    char old_port[16] = "";
    char old_database[128] = "";
    char old_user[128] = "";
    const char *schema = strstr(hf_test_place_address(place), "hf_schema=");

    ck_assert_ptr_nonnull(server);
    ck_assert_ptr_nonnull(schema);
    ck_assert_msg(sscanf(server, "%*[a-z]://%127[^@]@%255[^:]:%15[0-9]/%127[^?]", old_user, host,
                         old_port, old_database) == 4,
                  "HF_TEST_PG must look like postgres://user@host:port/database, not %s", server);
    (void)snprintf(out, size, "postgres://%s@%s:%s/%s?%s", user ? user : old_user, host,
                   port ? port : old_port, database ? database : old_database, schema);
}

/* Wrong password, no such role, no such database, nobody there. The password never shows. */
START_TEST(postgres_refusals_are_named)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_store *store = NULL;
    hf_err err = {0};
    char address[1024];

    uri_with(place, "hf_password:battery-staple", NULL, NULL, address, sizeof(address));
    refused(address, HF_STORE_OWNER, true, HF_DENIED, "hf_password");
    (void)try_open(address, HF_STORE_OWNER, true, &store, &err);
    ck_assert_msg(!strstr(err.text, "battery-staple"), "%s", err.text);
    uri_with(place, "hf_nobody_knows", NULL, NULL, address, sizeof(address));
    refused(address, HF_STORE_READER, false, HF_DENIED, "hf_nobody_knows");
    uri_with(place, NULL, "no_such_database", NULL, address, sizeof(address));
    refused(address, HF_STORE_OWNER, true, HF_NOTFOUND, "no_such_database");
    uri_with(place, NULL, NULL, "1", address, sizeof(address));
    refused(address, HF_STORE_OWNER, true, HF_UNREACHABLE, "");
    hf_test_place_free(place);
}
END_TEST

/* A role that may connect but not create is told so; one that may only read is a good reader. */
START_TEST(missing_privileges_are_named)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    const char *schema = strstr(hf_test_place_address(place), "hf_schema=") + strlen("hf_schema=");
    char address[1024];
    char user[128];
    char sql[1024];
    hf_store *store;
    hf_store *reader = NULL;
    hf_err err = {0};

    (void)snprintf(user, sizeof(user), "hf_password:%s", "correct%20horse");
    uri_with(place, user, NULL, NULL, address, sizeof(address));
    refused(address, HF_STORE_OWNER, true, HF_DENIED, "permission");
    store = hf_test_place_store(place, HF_STORE_OWNER);
    refused(address, HF_STORE_READER, false, HF_DENIED, "privilege");
    (void)snprintf(sql, sizeof(sql),
                   "GRANT USAGE ON SCHEMA %s TO hf_password; GRANT SELECT ON ALL TABLES IN SCHEMA "
                   "%s TO hf_password",
                   schema, schema);
    hf_test_ok(hf_db_script(hf_store_writer(store), sql, &err), &err, "grant");
    hf_test_ok(try_open(address, HF_STORE_READER, false, &reader, &err), &err,
               "read with privileges to read");
    hf_store_close(reader);
    hf_store_close(store);
    hf_test_place_free(place);
}
END_TEST

/* A schema with someone else's tables is not taken over. */
START_TEST(other_schemas_are_refused)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_db *db = NULL;
    hf_err err = {0};

    hf_test_ok(hf_test_place_dial(place, HF_DB_WRITE, NULL, 0, &db, &err), &err, "connect");
    hf_test_ok(hf_db_script(db, "CREATE TABLE customer (name text)", &err), &err, "make a table");
    hf_db_close(db);
    refused_by_all(place, HF_NOTASTORE, "not a Holdfast store");
    hf_test_place_free(place);
}
END_TEST

/* ---- versions */

/* A newer store is refused, both versions named, and stays as it is. */
HF_BOTH_ENGINES(newer_stores_are_refused)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_store *store = hf_test_place_store(place, HF_STORE_OWNER);
    hf_store_versions versions;
    hf_err err = {0};
    char sentence[128];

    hf_test_ok(hf_store_versions_get(hf_store_writer(store), &versions, &err), &err, "versions");
    meta_put(hf_store_writer(store), "ground_version", "77");
    hf_store_close(store);
    (void)snprintf(sentence, sizeof(sentence),
                   "has ground version 77, this program knows %d: use a newer holdfast",
                   (int)versions.ground_known);
    refused_by_all(place, HF_NEWER, sentence);
    hf_test_place_free(place);
}

/* A store whose versions cannot be read is damaged. */
HF_BOTH_ENGINES(unreadable_versions_are_damage)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_store *store = hf_test_place_store(place, HF_STORE_OWNER);

    meta_put(hf_store_writer(store), "projection_version", "one");
    hf_store_close(store);
    refused_by_all(place, HF_CORRUPT, "projection version");
    hf_test_place_free(place);
}

/* ---- hostile files, missing modules */

/* A store with a few bytes changed at random: opened or refused, never a crash. */
START_TEST(changed_bytes_do_no_harm)
{
    enum { ROUNDS = 300, CHANGES = 8 };
    static unsigned char whole[512 * 1024];
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_rng rng;
    FILE *file;
    size_t size;
    int opened = 0;

    hf_store_close(hf_test_place_store(place, HF_STORE_OWNER));
    file = fopen(hf_test_place_address(place), "rb");
    ck_assert_ptr_nonnull(file);
    size = fread(whole, 1, sizeof(whole), file);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert(size > 4096 && size < sizeof(whole));
    hf_rng_init_seeded(&rng, 28);
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char saved[CHANGES];
        size_t at[CHANGES];
        hf_store *store = NULL;
        hf_err err = {0};
        int findings = 0;

        for (size_t i = 0; i < CHANGES; i++) { /* half of them where the schema is */
            at[i] = (size_t)hf_rng_below(&rng, i % 2 ? size : 4096);
            saved[i] = whole[at[i]];
            whole[at[i]] = (unsigned char)hf_rng_next(&rng);
        }
        file_write(hf_test_place_address(place), whole, size);
        if (!try_open(hf_test_place_address(place), HF_STORE_OWNER, true, &store, &err)) {
            opened++;
            if (hf_db_check(hf_store_writer(store), finding_count, &findings, &err))
                ck_assert_str_ne(err.text, "");
        } else {
            ck_assert_str_ne(err.text, "");
        }
        hf_store_close(store);
        for (size_t i = CHANGES; i > 0; i--)
            whole[at[i - 1]] = saved[i - 1];
    }
    ck_assert_int_lt(opened, ROUNDS);
    hf_test_place_free(place);
}
END_TEST

/* The WAL of another database beside a store: refused or ignored, never taken for the store's own.
 */
START_TEST(swapped_logs_are_refused)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    char other[512];
    char log[600];
    char wanted[600];
    sqlite3 *handle = NULL;
    hf_store *store = NULL;
    hf_err err = {0};

    hf_store_close(hf_test_place_store(place, HF_STORE_OWNER));
    (void)snprintf(other, sizeof(other), "%s/other.db", hf_test_place_folder(place));
    ck_assert_int_eq(sqlite3_open(other, &handle), SQLITE_OK);
    (void)sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    ck_assert_int_eq(sqlite3_exec(handle,
                                  "PRAGMA journal_mode = WAL; PRAGMA application_id = 99; "
                                  "CREATE TABLE customer (name)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(sqlite3_close(handle), SQLITE_OK);
    (void)snprintf(log, sizeof(log), "%s-wal", other);
    (void)snprintf(wanted, sizeof(wanted), "%s-wal", hf_test_place_address(place));
    ck_assert_int_eq(rename(log, wanted), 0);
    if (try_open(hf_test_place_address(place), HF_STORE_OWNER, true, &store, &err))
        ck_assert_int_eq(err.status, HF_NOTASTORE);
    hf_store_close(store);
    hf_test_place_free(place);
}
END_TEST

/* Without its module PostgreSQL cannot be reached, and the sentence says what to install; a wrong
   file is named. */
START_TEST(missing_modules_are_named)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    char path[512];

    ck_assert_int_eq(unsetenv("HF_MODULE_DIR"), 0);
    refused("postgres://127.0.0.1:1/x", HF_STORE_OWNER, true, HF_NOTFOUND,
            "package holdfast-postgres");
    ck_assert_int_eq(setenv("HF_MODULE_DIR", hf_test_place_folder(place), 1), 0);
    (void)snprintf(path, sizeof(path), "%s/holdfast-postgres.so", hf_test_place_folder(place));
    file_write(path, "not a module", 12);
    refused("postgres://127.0.0.1:1/x", HF_STORE_OWNER, true, HF_ERROR, "cannot be loaded");
    hf_test_place_free(place);
}
END_TEST

/* ---- faults */

/* Each allocation and each database call of opening and making a store fails once: nothing is left
   behind on SQLite, and on both engines the next try succeeds. */
HF_BOTH_ENGINES(opening_survives_faults)
{
    static const hf_fault_kind kinds[] = {HF_FAULT_ALLOC, HF_FAULT_DB, HF_FAULT_DB_LOST};
    char before[65];
    char after[65];

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        hf_test_place *place = hf_test_place_new(kind);
        hf_status st = HF_ERROR;

        hf_test_folder_digest(hf_test_place_folder(place), before);
        for (int64_t nth = 1; st; nth++) {
            hf_store *store = NULL;
            hf_err err = {0};

            hf_fault_arm(kinds[i], nth, false);
            st = try_open(hf_test_place_address(place), HF_STORE_OWNER, true, &store, &err);
            hf_fault_arm(kinds[i], 0, false);
            if (st) {
                ck_assert_ptr_null(store);
                ck_assert_str_ne(err.text, "");
                hf_test_folder_digest(hf_test_place_folder(place), after);
                ck_assert_msg(strcmp(before, after) == 0, "fault %d of kind %zu left something",
                              (int)nth, i);
            }
            hf_store_close(store);
            ck_assert_int_lt(nth, 400);
        }
        hf_store_close(hf_test_place_store(place, HF_STORE_READER));
        hf_test_place_free(place);
    }
}

HF_PG_SUITE_MAIN("store/store", HF_BOTH(stores_are_made_once), HF_BOTH(readers_only_read),
                 {empty_files_and_memory_will_do, 0}, {odd_names_are_names, 0},
                 HF_BOTH(absent_stores_are_not_made), {garbage_is_refused, 0},
                 {other_databases_are_refused, 0}, {truncated_stores_are_refused, 0},
                 {odd_places_are_refused, 0}, {missing_permissions_are_named, 0},
                 {unmerged_changes_need_a_writable_folder, 0}, {wrong_addresses_are_refused, 0},
                 {addresses_hide_passwords, 0}, {postgres_refusals_are_named, 0},
                 {missing_privileges_are_named, 0}, {other_schemas_are_refused, 0},
                 HF_BOTH(newer_stores_are_refused), HF_BOTH(unreadable_versions_are_damage),
                 {changed_bytes_do_no_harm, 300}, {swapped_logs_are_refused, 0},
                 {missing_modules_are_named, 0}, HF_BOTH_SLOW(opening_survives_faults, 300))
