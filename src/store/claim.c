/* claim.c: see claim.h. Candidates are read and marked in the same transaction; a claim that did
 * not take is left out. */
#include "store/claim.h"

#include "base/assert.h"
#include "store/op.h"

static hf_status candidates_read(hf_db *db, const hf_claim_wanted *wanted, hf_claim *claims,
                                 size_t *out_count, hf_err *err)
{
    const hf_db_value params[] = {hf_db_text(wanted->queue), hf_db_int(wanted->kind),
                                  hf_db_int(HF_TASK_STATUS_READY), hf_db_int(wanted->now_us),
                                  hf_db_int((int64_t)wanted->count)};
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_TASK_READY, params, 5, &cursor, err);

    *out_count = 0;
    while (!st && *out_count < wanted->count) {
        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        claims[(*out_count)++] = (hf_claim){.task = hf_db_column_int(cursor, 0),
                                            .run = hf_db_column_int(cursor, 1),
                                            .epoch = hf_db_column_int(cursor, 2) + 1,
                                            .lease_until_us = wanted->now_us + wanted->lease_us};
    }
    hf_db_end(cursor);
    return st;
}

/* The cells of task_claim, in the order of its parameters. */
static void claim_cells(const hf_claim *claim, hf_slice owner, hf_db_value *cells)
{
    cells[0] = hf_db_int(claim->task);
    cells[1] = hf_db_int(claim->epoch - 1);
    cells[2] = hf_db_int(claim->epoch);
    cells[3] = hf_db_blob(hf_slice_from(claim->token, sizeof(claim->token)));
    cells[4] = hf_db_text(owner);
    cells[5] = hf_db_int(claim->lease_until_us);
    cells[6] = hf_db_int(HF_TASK_STATUS_READY);
    cells[7] = hf_db_int(HF_TASK_STATUS_LEASED);
}

hf_status hf_claim_ready(hf_db *db, hf_rng *rng, const hf_claim_wanted *wanted,
                         hf_claim *out_claims, size_t *out_count, hf_err *err)
{
    enum { CELLS = 8 };
    hf_db_value cells[HF_CLAIM_MAX * CELLS];
    uint8_t flags[HF_CLAIM_MAX];
    size_t found = 0;
    hf_db_rows rows = {.columns = CELLS, .cells = cells, .flags = flags};
    hf_status st;

    HF_ASSERT(wanted->count > 0 && wanted->count <= HF_CLAIM_MAX &&
              hf_op_infos[HF_OP_TASK_CLAIM].cells == CELLS);
    *out_count = 0;
    st = hf_db_begin(db, HF_DB_WRITE, err);
    if (st)
        return st;
    st = candidates_read(db, wanted, out_claims, &found, err);
    for (size_t i = 0; !st && i < found; i++) {
        hf_rng_fill(rng, out_claims[i].token, sizeof(out_claims[i].token));
        claim_cells(&out_claims[i], wanted->owner, &cells[i * CELLS]);
    }
    rows.count = found;
    if (!st && found)
        st = hf_db_batch(db, HF_STMT_TASK_CLAIM, &rows, err);
    if (st) {
        hf_db_rollback(db);
        return hf_err_because(err, st, "claim tasks of %.*s", (int)wanted->queue.len,
                              wanted->queue.ptr);
    }
    st = hf_db_commit(db, err);
    for (size_t i = 0; !st && i < found; i++)
        if (flags[i] == HF_DB_APPLIED)
            out_claims[(*out_count)++] = out_claims[i];
    return st;
}
