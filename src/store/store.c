/* store.c: opening a store. The order is: read the address, look at the path, take the ownership,
   connect, compare versions, migrate. A failure undoes what was done, last step first, so that
   everything is as it was. */
#include "store/store.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "store/address.h"
#include "store/migrate.h"
#include "store/module.h"
#include "store/owner.h"
#include "store/sqlite_open.h"
#include "store/sqlite_path.h"

struct hf_store {
    hf_address address;
    const hf_db_driver *driver;
    const hf_clock *clock;
    char *vfs;       /* or NULL */
    hf_owner *owner; /* SQLite's owner, or NULL */
    hf_db *writer;   /* the owner's connection, or NULL */
};

/* A store in memory, or in a file system of a test's own, has nobody to be protected from. */
static bool store_in_files(const hf_store *store)
{
    return store->address.kind == HF_ADDRESS_SQLITE && !store->vfs &&
           strcmp(store->address.target, HF_SQLITE_MEMORY_PATH) != 0;
}

/* What every connection to it has in common. */
static hf_db_options store_options(const hf_store *store, hf_db_mode mode)
{
    return (hf_db_options){
        .address = store->address.target,
        .schema = store->address.schema,
        .mode = mode,
        .primary = store->writer != NULL, /* what an engine decides by */
        .vfs = store->vfs,
        .statements = hf_stmt_texts,
        .statement_count = hf_stmt_texts_count,
    };
}

static hf_status store_dial(const hf_store *store, hf_db_mode mode, bool create, hf_db **out_db,
                            hf_err *err)
{
    hf_db_options options = store_options(store, mode);

    options.create = create;
    return hf_db_open(store->driver, &options, out_db, err);
}

/* ---- what is there */

typedef enum content {
    CONTENT_NOTHING, /* no tables at all */
    CONTENT_STORE,
    CONTENT_FOREIGN /* tables, but not ours */
} content;

static hf_status content_look(hf_db *db, content *out_content, hf_err *err)
{
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st = hf_db_query(db, HF_STMT_META_TABLES, NULL, 0, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &row, err);
    if (!st && !row)
        st = hf_err_set(err, HF_CORRUPT, "the catalogue gave no answer");
    if (!st) {
        bool ours = hf_db_column_int(cursor, 0) > 0;

        *out_content = ours                              ? CONTENT_STORE
                       : hf_db_column_int(cursor, 1) > 0 ? CONTENT_FOREIGN
                                                         : CONTENT_NOTHING;
    }
    hf_db_end(cursor);
    return st;
}

static hf_status version_fail(const hf_store *store, hf_status st, const char *kind, int64_t found,
                              int64_t known, hf_err *err)
{
    return hf_err_set(err, st, "%s has %s version %" PRId64 ", this program knows %" PRId64 ": %s",
                      store->address.shown, kind, found, known,
                      st == HF_NEWER ? "use a newer holdfast"
                                     : "it must be migrated first (holdfast migrate)");
}

static hf_status versions_compare(const hf_store *store, const hf_store_versions *found,
                                  hf_err *err)
{
    if (found->ground > found->ground_known)
        return version_fail(store, HF_NEWER, "ground", found->ground, found->ground_known, err);
    if (found->projection > found->projection_known)
        return version_fail(store, HF_NEWER, "projection", found->projection,
                            found->projection_known, err);
    if (found->ground < found->ground_known)
        return version_fail(store, HF_OLDER, "ground", found->ground, found->ground_known, err);
    if (found->projection < found->projection_known)
        return version_fail(store, HF_OLDER, "projection", found->projection,
                            found->projection_known, err);
    return HF_OK;
}

/* Where the tables of a store would be: for sentences. */
static const char *store_container(const hf_store *store)
{
    return store->address.schema ? store->address.schema : "the file";
}

/* HF_OK when the store has exactly the versions of this program, HF_OLDER when it can be brought to
   them. *out_absent says that there are no tables at all: HF_OK for one who may make them. */
static hf_status store_compare(const hf_store *store, hf_db *db, bool create, bool *out_absent,
                               hf_err *err)
{
    hf_store_versions versions;
    content found = CONTENT_NOTHING;
    hf_status st = content_look(db, &found, err);

    if (st)
        return hf_err_because(err, st, "%s", store->address.shown);
    *out_absent = found == CONTENT_NOTHING;
    switch (found) {
    case CONTENT_NOTHING:
        return create ? HF_OK
                      : hf_err_set(
                            err, HF_NOTFOUND,
                            "there is no store at %s yet: %s has no tables; start an engine on it",
                            store->address.shown, store_container(store));
    case CONTENT_FOREIGN:
        return hf_err_set(err, HF_NOTASTORE,
                          "%s is not a Holdfast store: %s has tables of something else",
                          store->address.shown, store_container(store));
    case CONTENT_STORE:
        break;
    }
    st = hf_store_versions_get(db, &versions, err);
    if (st)
        return hf_err_because(err, st, "%s", store->address.shown);
    return versions_compare(store, &versions, err);
}

/* ---- the two roles */

static hf_status owner_open(hf_store *store, const hf_store_options *options, hf_err *err)
{
    char *real = NULL;
    bool absent = false;
    hf_status st = HF_OK;

    if (store_in_files(store)) {
        st = hf_sqlite_path(store->address.target,
                            options->create ? HF_SQLITE_USE_CREATE : HF_SQLITE_USE_WRITE, &real,
                            err);
        if (!st)
            st = hf_owner_take(real, options->create, &store->owner, err);
        if (st) {
            hf_alloc_free(real);
            return st;
        }
        hf_alloc_free(store->address.target);
        store->address.target = real; /* the working directory may change, the store may not */
    }
    st = store_dial(store, HF_DB_WRITE, options->create, &store->writer, err);
    if (st)
        return st;
    st = store_compare(store, store->writer, options->create, &absent, err);
    if ((!st && absent) || (st == HF_OLDER && !options->no_migrate))
        st = hf_err_because(err, hf_migrate(store->writer, store->clock, err), "%s",
                            store->address.shown);
    return st;
}

static hf_status reader_open(hf_store *store, hf_err *err)
{
    hf_db *db = NULL;
    char *real = NULL;
    bool absent = false;
    hf_status st = HF_OK;

    if (store_in_files(store)) {
        st = hf_sqlite_path(store->address.target, HF_SQLITE_USE_READ, &real, err);
        if (st)
            return st;
        hf_alloc_free(store->address.target);
        store->address.target = real;
    }
    st = store_dial(store, HF_DB_READ, false, &db, err);
    if (!st)
        st = store_compare(store, db, false, &absent, err);
    hf_db_close(db);
    return st;
}

static hf_status store_fill(hf_store *store, const char *address, const hf_store_options *options,
                            hf_err *err)
{
    hf_status st = hf_address_parse(address, options->schema, &store->address, err);

    if (st)
        return st;
    store->clock = options->clock ? options->clock : hf_clock_system();
    if (options->vfs) {
        store->vfs = hf_alloc_text(options->vfs, strlen(options->vfs));
        if (!store->vfs)
            return hf_err_nomem(err, "a store");
    }
    if (store->address.kind == HF_ADDRESS_POSTGRES)
        return hf_module_postgres(&store->driver, err);
    store->driver = &hf_db_sqlite;
    return HF_OK;
}

hf_status hf_store_open(const char *address, const hf_store_options *options, hf_store **out_store,
                        hf_err *err)
{
    hf_store *store;
    hf_status st;

    *out_store = NULL;
    if (!options || options->size != sizeof(*options))
        return hf_err_set(err, HF_MISUSE, "the options of a store have the wrong size");
    store = hf_alloc(sizeof(*store));
    if (!store)
        return hf_err_nomem(err, "a store");
    st = store_fill(store, address, options, err);
    if (!st)
        st = options->role == HF_STORE_OWNER ? owner_open(store, options, err)
                                             : reader_open(store, err);
    if (st) {
        hf_db_close(store->writer);
        store->writer = NULL;
        if (store->owner)
            hf_owner_undo(store->owner);
        hf_store_close(store);
        return st;
    }
    *out_store = store;
    return HF_OK;
}

void hf_store_close(hf_store *store)
{
    if (!store)
        return;
    hf_db_close(store->writer);
    hf_owner_release(store->owner); /* after the connection: nobody may come in while it finishes */
    hf_address_fini(&store->address);
    hf_alloc_free(store->vfs);
    hf_alloc_free(store);
}

const char *hf_store_engine(const hf_store *store)
{
    return store->driver->name;
}

const char *hf_store_address(const hf_store *store)
{
    return store->address.shown;
}

hf_db *hf_store_writer(hf_store *store)
{
    return store->writer;
}

hf_status hf_store_connect(hf_store *store, hf_db_mode mode, hf_db **out_db, hf_err *err)
{
    *out_db = NULL;
    if (mode == HF_DB_WRITE && store->address.kind == HF_ADDRESS_SQLITE)
        return hf_err_set(err, HF_MISUSE,
                          "a SQLite store has one connection that writes: its owner's");
    if (mode == HF_DB_WRITE && !store->writer)
        return hf_err_set(err, HF_READONLY, "the store was opened for reading");
    return store_dial(store, mode, false, out_db, err);
}

hf_status hf_store_connect_by_key(hf_store *store, hf_db **out_db, hf_err *err)
{
    hf_db_options options = store_options(store, HF_DB_READ);

    *out_db = NULL;
    options.by_key = true;
    return hf_db_open(store->driver, &options, out_db, err);
}
