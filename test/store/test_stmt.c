/* test_stmt.c: every statement of the program, given to its engine. How the databases find the rows
   is in test_plan.c. */
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "lib/engine.h"

/* ?1 becomes $1 outside quotes; returns the highest number. */
static int dollars_write(hf_buf *out, const char *sql)
{
    bool quoted = false;
    int highest = 0;

    for (; *sql; sql++) {
        bool mark = *sql == '?' && !quoted;

        if (*sql == '\'')
            quoted = !quoted;
        if (mark && atoi(sql + 1) > highest)
            highest = atoi(sql + 1);
        hf_buf_add_byte(out, (uint8_t)(mark ? '$' : *sql));
    }
    return highest;
}

/* The driver names the types of all parameters. Here the server is left to infer them; where it
   cannot, because parameters are only compared with each other, they are integers. */
static hf_status postgres_prepare(hf_db *db, const hf_stmt_text *stmt, hf_err *err)
{
    hf_buf text = {0};
    hf_buf sql = {0};
    int count = dollars_write(&text, stmt->postgres);
    hf_status st;

    hf_buf_add_format(&sql, "PREPARE test_%s AS %s", stmt->name, hf_buf_text(&text));
    st = hf_db_script(db, hf_buf_text(&sql), err);
    if (st && count > 0) {
        hf_buf_clear(&sql);
        hf_buf_add_format(&sql, "PREPARE test_%s (bigint", stmt->name);
        for (int i = 1; i < count; i++)
            hf_buf_add_text(&sql, ", bigint");
        hf_buf_add_format(&sql, ") AS %s", hf_buf_text(&text));
        st = hf_db_script(db, hf_buf_text(&sql), err);
    }
    hf_buf_fini(&sql);
    hf_buf_fini(&text);
    return st;
}

/* Each statement is understood by its engine, on the newest schema. */
HF_BOTH_ENGINES(every_statement_prepares)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_store *store = hf_test_place_store(place, HF_STORE_OWNER);
    sqlite3 *handle = NULL;

    ck_assert_uint_eq(hf_stmt_texts_count, HF_STMT_COUNT);
    if (kind == HF_ENGINE_SQLITE)
        ck_assert_int_eq(sqlite3_open(hf_test_place_address(place), &handle), SQLITE_OK);
    for (size_t i = 0; i < hf_stmt_texts_count; i++) {
        if (!(kind == HF_ENGINE_SQLITE ? hf_stmt_texts[i].sqlite : hf_stmt_texts[i].postgres))
            continue; /* a statement for the other engine only */
        if (kind == HF_ENGINE_SQLITE) {
            sqlite3_stmt *stmt = NULL;
            int code = sqlite3_prepare_v2(handle, hf_stmt_texts[i].sqlite, -1, &stmt, NULL);

            ck_assert_msg(code == SQLITE_OK, "%s: %s", hf_stmt_texts[i].name,
                          sqlite3_errmsg(handle));
            (void)sqlite3_finalize(stmt);
        } else {
            hf_err err = {0};

            hf_test_ok(postgres_prepare(hf_store_writer(store), &hf_stmt_texts[i], &err), &err,
                       hf_stmt_texts[i].name);
        }
    }
    (void)sqlite3_close(handle);
    hf_store_close(store);
    hf_test_place_free(place);
}

HF_PG_SUITE_MAIN("store/stmt", HF_BOTH(every_statement_prepares))
