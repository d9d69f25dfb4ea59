/* check.c: see check.h. Order: what is cheap and tells most comes first, the reading of every page
   last. */
#include "verify/check.h"

#include <string.h>

static void engine_found(void *ctx, const char *sentence)
{
    hf_report_add(ctx, 37, NULL, 0, "%s", sentence);
}

/* The unique indexes of SQLite; the driver for PostgreSQL looks at its own. */
static hf_status indexes_check(hf_check *check, hf_err *err)
{
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st;

    if (strcmp(check->db->driver->name, "sqlite") != 0)
        return HF_OK;
    st = hf_db_query(check->db, HF_STMT_VERIFY_INDEX, NULL, 0, &cursor, err);
    if (!st)
        st = hf_db_step(cursor, &row, err);
    while (!st && row) {
        hf_slice name = hf_db_column_bytes(cursor, 0);

        hf_report_add(check->report, 37, NULL, 0, "the unique index %.*s is missing", (int)name.len,
                      name.ptr);
        st = hf_db_step(cursor, &row, err);
    }
    hf_db_end(cursor);
    return st;
}

static hf_status parts_run(hf_check *check, hf_err *err)
{
    hf_status st = hf_check_schema(check, err);

    if (!st)
        st = hf_check_rows(check, err);
    if (!st)
        st = hf_check_scan(check, err);
    if (!st && !check->quick)
        st = hf_check_bodies(check, err);
    if (!st && !check->quick)
        st = indexes_check(check, err);
    if (!st && !check->quick)
        st = hf_db_check(check->db, engine_found, check->report, err);
    return st ? st : hf_report_status(check->report, err);
}

hf_status hf_check_all(hf_check *check, hf_err *err)
{
    hf_err why = {0};
    hf_status st = hf_db_begin(check->db, HF_DB_READ, err);

    if (st)
        return st;
    st = parts_run(check, &why);
    hf_db_rollback(check->db);
    if (st == HF_CORRUPT) { /* that the engine cannot read a page is what was to be found out */
        hf_report_add(check->report, 37, NULL, 0, "the database is damaged: %s", why.text);
        return hf_report_status(check->report, err);
    }
    return st ? hf_err_set(err, st, "%s", why.text) : HF_OK;
}
