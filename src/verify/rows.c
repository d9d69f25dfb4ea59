/* rows.c: runs the statements of rows.def; every row that one returns is a finding. */
#include <string.h>

#include "store/row.h"
#include "verify/check.h"

/* A sweep ends expired leases within seconds; a quarter of an hour is beyond every hiccup. */
#define SWEEP_BOUND_US (INT64_C(15) * 60 * 1000000)

enum { GENERATIONS_MAX = 1000, PARAMS_MAX = 3, COLUMNS_MAX = 8 };

typedef struct row_check {
    int invariant;
    hf_stmt stmt;
    const char *sentence;
    int64_t params[PARAMS_MAX]; /* 0 ends them: no word has that number */
} row_check;

static const row_check row_checks[] = {
#define HF_ROWS(invariant, stmt, sentence, ...) {invariant, stmt, sentence, {__VA_ARGS__}},
#include "verify/rows.def"
#undef HF_ROWS
};

static void row_report(hf_check *check, const row_check *what, hf_db_cursor *cursor)
{
    hf_report_key keys[COLUMNS_MAX] = {0};
    size_t count = hf_db_column_count(cursor);

    if (count > COLUMNS_MAX)
        count = COLUMNS_MAX;
    for (size_t i = 0; i < count; i++)
        if (!hf_db_column_null(cursor, i))
            keys[i] = (hf_report_key){.name = hf_db_column_name(cursor, i),
                                      .number = hf_db_column_int(cursor, i)};
    hf_report_add(check->report, what->invariant, keys, count, "%s", what->sentence);
}

static hf_status row_check_run(hf_check *check, const row_check *what, hf_err *err)
{
    hf_db_value params[2 + PARAMS_MAX] = {hf_db_int(check->low), hf_db_int(check->high)};
    size_t count = 2;
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st;

    for (size_t i = 0; i < PARAMS_MAX && what->params[i]; i++)
        params[count++] = hf_db_int(what->params[i]);
    st = hf_db_query(check->db, what->stmt, params, count, &cursor, err);
    if (!st)
        st = hf_db_step(cursor, &row, err);
    while (!st && row) {
        row_report(check, what, cursor);
        st = hf_db_step(cursor, &row, err);
    }
    hf_db_end(cursor);
    return st ? st : hf_report_status(check->report, err);
}

hf_status hf_check_rows(hf_check *check, hf_err *err)
{
    for (size_t i = 0; i < sizeof(row_checks) / sizeof(row_checks[0]); i++) {
        hf_status st = row_check_run(check, &row_checks[i], err);

        if (st)
            return st;
    }
    return HF_OK;
}
