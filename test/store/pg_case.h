/* pg_case.h: what every test program of the PostgreSQL driver needs, whatever its tables are: the
   driver, what must go well, and a schema that goes away. Included once per program. */
#ifndef HF_TEST_STORE_PG_CASE_H
#define HF_TEST_STORE_PG_CASE_H

#include <stdio.h>

#include "base/attr.h"
#include "lib/pg.h"
#include "store/db.h"

static HF_UNUSED void ok(hf_status st, const hf_err *err)
{
    ck_assert_msg(st == HF_OK, "%s: %s", hf_strstatus(st), err->text);
}

static HF_UNUSED const hf_db_driver *driver_get(void)
{
    const hf_db_driver *driver = NULL;
    hf_err err = {0};

    ok(hf_pg_driver(HF_BUILD_DIR, &driver, &err), &err);
    return driver;
}

static HF_UNUSED void drop(hf_db *db, const char *schema)
{
    char sql[100];
    hf_err err = {0};

    (void)snprintf(sql, sizeof(sql), "DROP SCHEMA %s CASCADE", schema);
    ok(hf_db_script(db, sql, &err), &err);
    hf_db_close(db);
}

#endif
