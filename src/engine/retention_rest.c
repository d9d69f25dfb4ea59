/* retention_rest.c: see retention_rest.h. What is read may change before the unit commits; every
   row that removes something looks again. */
#include "engine/retention_rest.h"

#include <string.h>

#include "project/flow.h"
#include "store/row.h"
#include "store/stmt.h"

#define OVER_US INT64_C(3600000000) /* who comes back from a long sleep finds its row */
#define SEEN_US                                                                                    \
    INT64_C(604800000000) /* a worker that registered is heard of within a week; so long people    \
                             may ask what became of a link, and no session lives longer */

/* How one of a kind is listed and removed. */
static const struct {
    hf_stmt list;
    hf_op first;
    hf_op second; /* what hangs on it; the same as the first: nothing does */
} kinds[HF_REST_KINDS] = {
    [HF_REST_BATCHES] = {HF_STMT_RETENTION_BATCHES, HF_OP_RETIRE_BATCH, HF_OP_RETIRE_BATCH_ITEM},
    [HF_REST_SCHEDULES] = {HF_STMT_RETENTION_SCHEDULES, HF_OP_RETIRE_SCHEDULE,
                           HF_OP_RETIRE_SCHEDULE_EVENT},
    [HF_REST_IMPORTS] = {HF_STMT_RETENTION_IMPORTS, HF_OP_RETIRE_IMPORT, HF_OP_RETIRE_IMPORT},
    [HF_REST_BUCKETS] = {HF_STMT_RETENTION_BUCKETS, HF_OP_RETIRE_BUCKET, HF_OP_RETIRE_BUCKET},
    [HF_REST_DEFINITIONS] = {HF_STMT_RETENTION_DEFINITIONS, HF_OP_RETIRE_DEFINITION,
                             HF_OP_RETIRE_DEFINITION},
};

static size_t kind_rows(hf_rest_kind kind)
{
    return kinds[kind].first == kinds[kind].second ? 1 : 2;
}

static size_t params_fill(const hf_retention_rest *rest, hf_rest_kind kind, hf_db_value params[3])
{
    size_t count = 0;

    params[count++] = hf_db_int(kind == HF_REST_DEFINITIONS ? rest->definition : rest->now_us);
    if (kind != HF_REST_DEFINITIONS)
        params[count++] = hf_db_int(rest->namespace_key);
    params[count++] = hf_db_int(HF_RETENTION_KEYS);
    return count;
}

static void row_add(hf_retention_rest *rest, hf_unit *unit, hf_op op, const hf_db_value *cells,
                    size_t count)
{
    hf_unit_row(unit, 0, hf_row_cells(hf_unit_mem(unit), op, cells, count));
    rest->rows++;
}

/* The rows for one that was listed. */
static void key_add(hf_retention_rest *rest, hf_rest_kind kind, hf_db_cursor *row, hf_unit *unit)
{
    hf_db_value cells[3];
    size_t count = 1;

    if (kind == HF_REST_BUCKETS) {
        hf_slice key = hf_db_column_bytes(row, 0);

        cells[0] = hf_db_text(key); /* the row has a copy */
        cells[count++] = hf_db_int(hf_db_column_int(row, 1));
        cells[count++] = hf_db_int(rest->now_us);
    } else {
        cells[0] = hf_db_int(hf_db_column_int(row, 0));
    }
    row_add(rest, unit, kinds[kind].first, cells, count);
    if (kind_rows(kind) == 2)
        row_add(rest, unit, kinds[kind].second, cells, count);
    rest->drafted[kind]++;
}

static hf_status kind_draft(hf_db *db, hf_retention_rest *rest, hf_rest_kind kind, hf_unit *unit,
                            hf_err *err)
{
    hf_db_value params[3];
    size_t count = params_fill(rest, kind, params);
    hf_db_cursor *cursor = NULL;
    size_t read = 0;
    bool row = true;
    hf_status st = hf_db_query(db, kinds[kind].list, params, count, &cursor, err);

    while (!st && row && read < HF_RETENTION_KEYS) {
        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        read++;
        if (kind == HF_REST_DEFINITIONS) {
            rest->definition = hf_db_column_int(cursor, 0);
            if (hf_registry_has(rest->registry, rest->definition))
                continue;
        }
        key_add(rest, kind, cursor, unit);
    }
    hf_db_end(cursor);
    rest->ended &= read < HF_RETENTION_KEYS;
    return st;
}

/* What goes all at once: there is never much of it. */
static hf_status bulk_draft(hf_db *db, hf_retention_rest *rest, hf_unit *unit, hf_err *err)
{
    const hf_db_value before = hf_db_int(rest->now_us - OVER_US);
    const hf_db_value space = hf_db_int(rest->namespace_key);
    const hf_db_value ring = hf_db_int(rest->now_us - HF_FLOW_KEPT_US);
    const hf_db_value unseen = hf_db_int(rest->now_us - SEEN_US);
    const hf_db_value params[] = {before, space, ring, unseen};
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st = hf_db_query(db, HF_STMT_RETENTION_REST, params, 4, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &row, err);
    if (!st && row) {
        if (hf_db_column_int(cursor, 0))
            row_add(rest, unit, HF_OP_RETIRE_SLOT, &before, 1);
        if (hf_db_column_int(cursor, 1))
            row_add(rest, unit, HF_OP_RETIRE_WORKER, &before, 1);
        if (hf_db_column_int(cursor, 2))
            row_add(rest, unit, HF_OP_RETIRE_BUILD, &space, 1);
        if (hf_db_column_int(cursor, 3))
            row_add(rest, unit, HF_OP_METRIC_PRUNE, &ring, 1);
        if (hf_db_column_int(cursor, 4))
            row_add(rest, unit, HF_OP_RETIRE_REGISTRATION, &unseen, 1);
        if (hf_db_column_int(cursor, 5))
            row_add(rest, unit, HF_OP_RETIRE_ANSWER_LINK, &unseen, 1);
        if (hf_db_column_int(cursor, 6))
            row_add(rest, unit, HF_OP_RETIRE_SIGN_IN, &unseen, 1);
        if (hf_db_column_int(cursor, 7))
            row_add(rest, unit, HF_OP_RETIRE_BUILD_SEEN, &unseen, 1);
    }
    hf_db_end(cursor);
    return st;
}

hf_status hf_retention_rest_draft(hf_db *db, hf_retention_rest *rest, hf_unit *unit, hf_err *err)
{
    hf_status st = HF_OK;

    rest->rows = 0;
    rest->ended = true;
    memset(rest->drafted, 0, sizeof(rest->drafted));
    for (hf_rest_kind kind = 0; !st && kind < HF_REST_KINDS; kind++)
        if (kind != HF_REST_DEFINITIONS || rest->registry)
            st = kind_draft(db, rest, kind, unit, err);
    if (!st)
        st = bulk_draft(db, rest, unit, err);
    return hf_err_because(err, st, "look for what belongs to no run and is over");
}

void hf_retention_rest_count(const hf_unit *unit, const hf_retention_rest *rest,
                             int64_t counts[HF_REST_KINDS])
{
    size_t at = 0;

    for (hf_rest_kind kind = 0; kind < HF_REST_KINDS; kind++)
        for (size_t i = 0; i < rest->drafted[kind]; i++, at += kind_rows(kind))
            counts[kind] += hf_unit_row_applied(unit, at);
}
