/* engine.h: one test source, two database engines. A place is somewhere a store can be: a file in a
   folder of its own, or a schema of its own in the PostgreSQL server of the run (HF_TEST_PG, see
   pg.h). A program that uses places ends with HF_PG_SUITE_MAIN; without a server its PostgreSQL
   cases fail, they are never skipped.

   HF_BOTH_ENGINES(commits_once)          defines the cases commits_once_sqlite and
   commits_once_postgres {                                      of one body, which has the parameter
   `kind`;
       ...
   }
   HF_PG_SUITE_MAIN("store/db", HF_BOTH(commits_once), HF_BOTH_SLOW(slow_one, 300)) */
#ifndef HF_TEST_LIB_ENGINE_H
#define HF_TEST_LIB_ENGINE_H

#include <stdbool.h>

#include "base/err.h"
#include "lib/pg.h"
#include "lib/suite.h"
#include "store/db.h"
#include "store/store.h"

typedef enum hf_engine_kind { HF_ENGINE_SQLITE, HF_ENGINE_POSTGRES } hf_engine_kind;

typedef struct hf_test_place hf_test_place;

/* A fresh, empty place. Fails the case when there is none to be had. */
hf_test_place *hf_test_place_new(hf_engine_kind kind);

/* A place for a case that is not about making a store: on PostgreSQL the schema may already hold an
   empty one, left by another case, because making some 130 relations takes longer than most cases.
   The case must not change the schema's shape. */
hf_test_place *hf_test_place_stocked(hf_engine_kind kind);

/* Removes it with everything in it, after hf_test_place_verify has seen it. */
void hf_test_place_free(hf_test_place *place);

/* Called by hf_test_place_free when set: checks the store that a case leaves behind, if it leaves
   one. */
typedef void hf_test_place_verify_fn(const hf_test_place *place);
extern hf_test_place_verify_fn *hf_test_place_verify;

hf_engine_kind hf_test_place_kind(const hf_test_place *place);
const char *hf_test_place_address(const hf_test_place *place); /* for hf_store_open */
const char *
hf_test_place_folder(const hf_test_place *place); /* its own folder, for any use; both engines */
const hf_db_driver *hf_test_place_driver(const hf_test_place *place);

/* A connection below the store, with a case's own statements (NULL: the program's). */
HF_NODISCARD hf_status hf_test_place_dial(const hf_test_place *place, hf_db_mode mode,
                                          const hf_stmt_text *statements, size_t count,
                                          hf_db **out_db, hf_err *err);

/* What dead processes held on a shared store is over at once: for cases that are not about how long
   a lease lasts. */
void hf_test_place_leases_end(const hf_test_place *place);

/* The store of the place, made when it is not there. Fails the case when that fails. */
hf_store *hf_test_place_store(const hf_test_place *place, hf_store_role role);

/* SHA-256 over the names and contents of a folder's files, in hexadecimal: equal before and after
   means untouched. */
void hf_test_folder_digest(const char *folder, char out_text[65]);

/* The case's mistake, with the text of the error. */
void hf_test_ok(hf_status st, const hf_err *err, const char *doing);

#define HF_BOTH_ENGINES(name)                                                                      \
    static void name##_on(hf_engine_kind kind);                                                    \
    START_TEST(name##_sqlite)                                                                      \
    {                                                                                              \
        name##_on(HF_ENGINE_SQLITE);                                                               \
    }                                                                                              \
    END_TEST                                                                                       \
    START_TEST(name##_postgres)                                                                    \
    {                                                                                              \
        name##_on(HF_ENGINE_POSTGRES);                                                             \
    }                                                                                              \
    END_TEST                                                                                       \
    static void name##_on(hf_engine_kind kind)

#define HF_BOTH(name)                                                                              \
    {name##_sqlite, 0},                                                                            \
    {                                                                                              \
        name##_postgres, 0                                                                         \
    }
#define HF_BOTH_SLOW(name, seconds)                                                                \
    {name##_sqlite, seconds},                                                                      \
    {                                                                                              \
        name##_postgres, seconds                                                                   \
    }

#endif
