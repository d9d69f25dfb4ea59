/* engine.c: places for stores. A case's folder and schema carry the number of its process, so that
   cases and programs can run beside each other on one server. */
#define _GNU_SOURCE /* nftw */
#include "lib/engine.h"

#include "lib/check_store.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/crypto.h"
#include "store/address.h"
#include "store/module.h"
#include "store/stmt.h"

struct hf_test_place {
    hf_engine_kind kind;
    bool stocked;
    char folder[256];
    char address[1024];
    char schema[64];
    const hf_db_driver *driver;
};

hf_test_place_verify_fn *hf_test_place_verify = hf_check_place;

static int entry_remove(const char *path, const struct stat *found, int type, struct FTW *at)
{
    (void)found;
    (void)type;
    (void)at;
    return remove(path);
}

void hf_test_ok(hf_status st, const hf_err *err, const char *doing)
{
    ck_assert_msg(st == HF_OK, "%s: status %d: %s", doing, (int)st, err->text);
}

/* Test programs are in a folder of the build, the module is in the build itself. */
static void module_dir_set(void)
{
    char path[1024];
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
    char *slash;

    ck_assert(len > 0);
    path[len] = '\0';
    for (int i = 0; i < 2; i++) {
        slash = strrchr(path, '/');
        ck_assert_ptr_nonnull(slash);
        *slash = '\0';
    }
    ck_assert_int_eq(setenv("HF_MODULE_DIR", path, 0), 0);
}

static void postgres_fill(hf_test_place *place, int number)
{
    const char *server = getenv("HF_TEST_PG");
    hf_err err = {0};
    int len;

    ck_assert_msg(server && *server,
                  "HF_TEST_PG names no server: the program must end with HF_PG_SUITE_MAIN");
    module_dir_set();
    (void)snprintf(place->schema, sizeof(place->schema), "t_%ld_%d", (long)getpid(), number);
    len = snprintf(place->address, sizeof(place->address), "%s%chf_schema=%s", server,
                   strchr(server, '?') ? '&' : '?', place->schema);
    ck_assert(len > 0 && (size_t)len < sizeof(place->address));
    hf_test_ok(hf_module_postgres(&place->driver, &err), &err, "load the PostgreSQL driver");
}

hf_test_place *hf_test_place_new(hf_engine_kind kind)
{
    static int number; /* cases are processes of one thread */
    const char *base = getenv("TMPDIR");
    hf_test_place *place = hf_alloc(sizeof(*place));

    ck_assert_ptr_nonnull(place);
    place->kind = kind;
    (void)snprintf(place->folder, sizeof(place->folder), "%s/holdfast-test-XXXXXX",
                   base && *base ? base : "/tmp");
    ck_assert_msg(mkdtemp(place->folder) != NULL, "no folder for the case");
    switch (kind) {
    case HF_ENGINE_SQLITE:
        place->driver = &hf_db_sqlite;
        (void)snprintf(place->address, sizeof(place->address), "%s/store.db", place->folder);
        break;
    case HF_ENGINE_POSTGRES:
        postgres_fill(place, ++number);
        break;
    }
    return place;
}

static uint32_t shape_of_stores(void)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (size_t i = 0; i < hf_migration_texts_count; i++)
        for (const char *at = hf_migration_texts[i].postgres; at && *at; at++)
            hash = (hash ^ (unsigned char)*at) * 16777619u;
    return hash;
}

/* Runs a block of plpgsql on the place's schema; a connection below the store makes the schema when
   it is not there. Builds that share a server may differ in what a store is, and so may what one
   folder held before: each has spares of its own. */
static void schema_do(const hf_test_place *place, const char *block)
{
    char sql[2048];
    hf_db *db = NULL;
    hf_err err = {0};
    int len = snprintf(sql, sizeof(sql),
                       "DO $do$ DECLARE mine name := '%s';"
                       " spares text := 'spare_' || left(md5('%s %08x'), 8); %s $do$",
                       place->schema, HF_BUILD_DIR, (unsigned)shape_of_stores(), block);

    ck_assert(len > 0 && (size_t)len < sizeof(sql));
    hf_test_ok(hf_test_place_dial(place, HF_DB_WRITE, NULL, 0, &db, &err), &err,
               "connect to the schema");
    hf_test_ok(hf_db_script(db, sql, &err), &err, "make the schema ready");
    hf_db_close(db);
}

hf_test_place *hf_test_place_stocked(hf_engine_kind kind)
{
    hf_test_place *place = hf_test_place_new(kind);

    place->stocked = true;
    if (kind == HF_ENGINE_POSTGRES)
        schema_do(place, "spare name; BEGIN"
                         "  PERFORM pg_advisory_xact_lock(7271);"
                         "  SELECT nspname INTO spare FROM pg_namespace"
                         "   WHERE starts_with(nspname, spares) LIMIT 1;"
                         "  IF spare IS NOT NULL THEN"
                         "    EXECUTE format('DROP SCHEMA %I CASCADE', mine);"
                         "    EXECUTE format('ALTER SCHEMA %I RENAME TO %I', spare, mine);"
                         "  END IF; END");
    return place;
}

/* What the case wrote goes, what making the store wrote stays; a store that grew large is not worth
   the sweeping. Locks wait for what a killed process had under way. */
static void schema_spare(const hf_test_place *place)
{
    schema_do(place,
              "t name; BEGIN"
              "  IF to_regclass('meta') IS NULL OR (SELECT sum(pg_table_size(oid)) FROM pg_class"
              "     WHERE relnamespace = mine::regnamespace AND relkind = 'r') > 4000000 THEN"
              "    EXECUTE format('DROP SCHEMA %I CASCADE', mine);"
              "    RETURN;"
              "  END IF;"
              "  FOR t IN SELECT relname FROM pg_class"
              "     WHERE relnamespace = mine::regnamespace AND relkind = 'r' LOOP"
              "    EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', t);"
              "    CONTINUE WHEN t IN ('meta', 'migration', 'counter', 'shard');"
              "    EXECUTE format('DELETE FROM %I', t);"
              "  END LOOP;"
              "  UPDATE meta SET value = md5(random()::text) WHERE name = 'store_id';"
              "  UPDATE counter SET next = 1;"
              "  UPDATE shard SET node = NULL, former = NULL, epoch = 0 WHERE node IS NOT NULL OR "
              "former IS NOT NULL OR epoch > 0;"
              "  EXECUTE format('ALTER SCHEMA %I RENAME TO %I', mine, spares || mine); END");
}

/* Dropping what another connection holds would wait, so a case closes its own first. */
static void schema_drop(const hf_test_place *place)
{
    schema_do(place, "BEGIN EXECUTE format('DROP SCHEMA %I CASCADE', mine); END");
}

void hf_test_place_free(hf_test_place *place)
{
    if (hf_test_place_verify)
        hf_test_place_verify(place);
    if (place->kind == HF_ENGINE_POSTGRES && place->stocked)
        schema_spare(place);
    else if (place->kind == HF_ENGINE_POSTGRES)
        schema_drop(place);
    ck_assert_int_eq(nftw(place->folder, entry_remove, 16, FTW_DEPTH | FTW_PHYS), 0);
    hf_alloc_free(place);
}

hf_engine_kind hf_test_place_kind(const hf_test_place *place)
{
    return place->kind;
}

const char *hf_test_place_address(const hf_test_place *place)
{
    return place->address;
}

const char *hf_test_place_folder(const hf_test_place *place)
{
    return place->folder;
}

const hf_db_driver *hf_test_place_driver(const hf_test_place *place)
{
    return place->driver;
}

hf_status hf_test_place_dial(const hf_test_place *place, hf_db_mode mode,
                             const hf_stmt_text *statements, size_t count, hf_db **out_db,
                             hf_err *err)
{
    hf_address address;
    hf_status st = hf_address_parse(place->address, NULL, &address, err);

    *out_db = NULL;
    if (!st) {
        const hf_db_options options = {
            .address = address.target,
            .schema = address.schema,
            .mode = mode,
            .create = mode == HF_DB_WRITE,
            .statements = statements ? statements : hf_stmt_texts,
            .statement_count = statements ? count : hf_stmt_texts_count,
        };

        st = hf_db_open(place->driver, &options, out_db, err);
    }
    hf_address_fini(&address);
    return st;
}

void hf_test_folder_digest(const char *folder, char out_text[65])
{
    struct dirent **names = NULL;
    uint8_t digest[HF_SHA256_BYTES];
    hf_sha256 *sha = NULL;
    hf_err err = {0};
    int count = scandir(folder, &names, NULL, alphasort);

    ck_assert_int_ge(count, 0);
    hf_test_ok(hf_sha256_new(&sha, &err), &err, "digest");
    hf_sha256_begin(sha);
    for (int i = 0; i < count; i++) {
        char path[1024];
        char piece[4096];
        size_t got;
        FILE *file;

        (void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
        hf_sha256_add(sha, hf_slice_from(names[i]->d_name, strlen(names[i]->d_name) + 1));
        file = names[i]->d_type == DT_REG ? fopen(path, "rb") : NULL;
        while (file && (got = fread(piece, 1, sizeof(piece), file)) > 0)
            hf_sha256_add(sha, hf_slice_from(piece, got));
        if (file)
            (void)fclose(file);
        free(names[i]);
    }
    free(names);
    hf_test_ok(hf_sha256_end(sha, digest, &err), &err, "digest");
    hf_hex_print(hf_slice_from(digest, sizeof(digest)), out_text);
    hf_sha256_free(sha);
}

hf_store *hf_test_place_store(const hf_test_place *place, hf_store_role role)
{
    const hf_store_options options = {
        .size = sizeof(options), .role = role, .create = role == HF_STORE_OWNER};
    hf_store *store = NULL;
    hf_err err = {0};

    hf_test_ok(hf_store_open(place->address, &options, &store, &err), &err, "open the store");
    return store;
}

void hf_test_place_leases_end(const hf_test_place *place)
{
    hf_db *db = NULL;
    hf_err err = {0};

    if (hf_test_place_kind(place) != HF_ENGINE_POSTGRES)
        return;
    hf_test_ok(hf_test_place_dial(place, HF_DB_WRITE, NULL, 0, &db, &err), &err, "dial");
    hf_test_ok(hf_db_script(db, "UPDATE node SET lease_until_us = 0", &err), &err, "end leases");
    hf_db_close(db);
}
