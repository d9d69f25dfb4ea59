/* store.h: an opened store: its address, its driver, its schema at the right version, its owner's
   lock. It makes connections; what travels over them is the business of rows_*.c and apply.c. The
   handle may be used by several threads; each connection belongs to one. */
#ifndef HF_STORE_STORE_H
#define HF_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "store/db.h"

typedef struct hf_store hf_store;

typedef enum hf_store_role {
    HF_STORE_READER, /* looks only: never creates, locks, migrates or writes */
    HF_STORE_OWNER /* writes. SQLite: takes the ownership lock, HF_OWNED when another engine has it
                    */
} hf_store_role;

typedef struct hf_store_options {
    size_t size;
    hf_store_role role;
    bool create;           /* owner: make the store when the file, schema or tables do not exist */
    bool no_migrate;       /* owner: answer HF_OLDER instead of migrating an older store */
    const char *schema;    /* PostgreSQL schema, NULL for "holdfast"; [a-z_][a-z0-9_]{0,62} */
    const char *vfs;       /* SQLite VFS, NULL for the default */
    const hf_clock *clock; /* NULL for the real one; stamps migrations */
} hf_store_options;

/* Opens the store at `address`: PATH, sqlite:PATH or postgres://... (postgresql:// too).
   HF_NOTFOUND (no such file, database or schema), HF_NOTASTORE (a directory, not a database,
   someone else's database), HF_NEWER and HF_OLDER (both versions named), HF_OWNED, HF_READONLY,
   HF_DENIED, HF_UNREACHABLE, HF_CORRUPT, HF_FULL, HF_INVALID (bad address or schema name). On
   failure everything is as it was, but an empty PostgreSQL schema that was just made may stay:
   another node could be filling it. */
HF_NODISCARD hf_status hf_store_open(const char *address, const hf_store_options *options,
                                     hf_store **out_store, hf_err *err);
void hf_store_close(hf_store *store);

const char *hf_store_engine(const hf_store *store); /* "sqlite" or "postgres" */
const char *hf_store_address(const hf_store *store);
/* The owner's connection: lives as long as the store, used by the writer's thread alone. NULL for a
 * reader. */
hf_db *hf_store_writer(hf_store *store);

/* A new connection for reading (or, PostgreSQL only, for writing); the caller closes it. */
HF_NODISCARD hf_status hf_store_connect(hf_store *store, hf_db_mode mode, hf_db **out_db,
                                        hf_err *err);

/* The same for reading on the path of every turn: rows are found by keys and pages of keys alone,
   so that no plan depends on how big the tables were when it was made. */
HF_NODISCARD hf_status hf_store_connect_by_key(hf_store *store, hf_db **out_db, hf_err *err);

/* Versions found in the store, and the newest this program knows. */
typedef struct hf_store_versions {
    int64_t ground, ground_known;
    int64_t projection, projection_known;
} hf_store_versions;
HF_NODISCARD hf_status hf_store_versions_get(hf_db *db, hf_store_versions *out_versions,
                                             hf_err *err);

#endif
