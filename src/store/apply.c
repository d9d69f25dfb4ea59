/* apply.c: see apply.h. The rule it keeps: a row of a unit is written only when the unit's guard
   held. SQLite says so at once, so refused units are left out here; on PostgreSQL the statements
   join the guard's row, or all of the transaction fails with the first guard that does not hold. */
#include "store/apply.h"

#include <string.h>

#include "base/assert.h"

static bool guard_failed(const hf_apply_item *item)
{
    for (size_t i = 0; i < item->count; i++) {
        hf_op_guard guard = hf_op_infos[item->rows[i]->op].guard;

        if (guard == HF_OP_GUARD_FENCE || guard == HF_OP_GUARD_MAKE)
            return item->flags[i] == HF_DB_SKIPPED;
    }
    return false;
}

bool hf_apply_refused(const hf_apply_item *item)
{
    return guard_failed(item) || (item->guard && guard_failed(item->guard));
}

/* Rows of one operation, side by side for the driver. */
typedef struct op_rows {
    hf_db_value *cells;
    int64_t *guard_runs;
    hf_slice *guard_heads;
    uint8_t *flags;
    uint8_t **homes; /* where each flag belongs */
} op_rows;

static size_t rows_of(const hf_apply_item *items, size_t count, hf_op op)
{
    size_t rows = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t at = items[i].at; at < items[i].count && items[i].rows[at]->op == op; at++)
            rows++;
    return rows;
}

static bool op_rows_init(op_rows *rows, hf_mem *mem, size_t count, size_t cells)
{
    rows->cells = hf_mem_array(mem, count * cells, sizeof(hf_db_value));
    rows->guard_runs = hf_mem_array(mem, count, sizeof(int64_t));
    rows->guard_heads = hf_mem_array(mem, count, sizeof(hf_slice));
    rows->flags = hf_mem_array(mem, count, 1);
    rows->homes = hf_mem_array(mem, count, sizeof(uint8_t *));
    return rows->cells && rows->guard_runs && rows->guard_heads && rows->flags && rows->homes;
}

/* Moves past the item's rows of this operation, collecting them unless the item is refused. */
static size_t rows_collect(hf_apply_item *item, hf_op op, op_rows *rows, size_t used)
{
    size_t cells = hf_op_infos[op].cells;
    bool refused = hf_apply_refused(item);

    for (; item->at < item->count && item->rows[item->at]->op == op; item->at++) {
        if (refused) {
            item->flags[item->at] = HF_DB_SKIPPED;
            continue;
        }
        memcpy(rows->cells + used * cells, item->rows[item->at]->cells,
               cells * sizeof(hf_db_value));
        rows->guard_runs[used] = item->guard_run;
        rows->guard_heads[used] = hf_slice_from(item->guard_head, HF_SHA256_BYTES);
        rows->homes[used] = &item->flags[item->at];
        used++;
    }
    return used;
}

/* The driver writes flags into an array of its operation; they belong to rows of different items.
 */
struct hf_apply_pending {
    hf_apply_pending *next;
    uint8_t *flags;
    uint8_t **homes;
    size_t count;
};

void hf_apply_settle(const hf_apply_pending *pending)
{
    for (; pending; pending = pending->next)
        for (size_t i = 0; i < pending->count; i++)
            *pending->homes[i] = pending->flags[i];
}

static hf_status op_apply(hf_db *db, hf_mem *mem, hf_op op, hf_apply_item *items, size_t count,
                          bool assured, hf_apply_pending **pending, hf_err *err)
{
    const hf_op_info *info = &hf_op_infos[op];
    size_t most = rows_of(items, count, op);
    bool reports = assured
                       ? info->guard == HF_OP_GUARD_BARE
                       : info->guard != HF_OP_GUARD_GUARDED && info->guard != HF_OP_GUARD_JOINED;
    op_rows rows;
    size_t used = 0;
    hf_db_rows batch;
    hf_status st;

    if (most == 0)
        return HF_OK;
    if (!op_rows_init(&rows, mem, most, info->cells))
        return hf_err_nomem(err, "the rows of a batch");
    for (size_t i = 0; i < count; i++)
        used = rows_collect(&items[i], op, &rows, used);
    batch = (hf_db_rows){
        .columns = info->cells, .count = used, .cells = rows.cells, .assured = assured};
    if (info->guard == HF_OP_GUARD_GUARDED) {
        batch.guard_runs = rows.guard_runs;
        batch.guard_heads = rows.guard_heads;
    }
    if (reports)
        batch.flags = rows.flags;
    st = hf_db_batch(db, info->stmt, &batch, err);
    if (st)
        return st;
    for (size_t i = 0; i < used; i++)
        *rows.homes[i] = reports ? rows.flags[i] : (uint8_t)HF_DB_APPLIED;
    if (reports && used && rows.flags[0] == HF_DB_PENDING) {
        hf_apply_pending *later = hf_mem_alloc(mem, sizeof(*later));

        if (!later)
            return hf_err_nomem(err, "the flags of a batch");
        *later = (hf_apply_pending){
            .next = *pending, .flags = rows.flags, .homes = rows.homes, .count = used};
        *pending = later;
    }
    return HF_OK;
}

hf_status hf_apply(hf_db *db, hf_mem *mem, hf_apply_item *items, size_t count, bool assured,
                   hf_apply_pending **pending, hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; i < count; i++) {
        items[i].at = 0;
        memset(items[i].flags, HF_DB_PENDING, items[i].count);
    }
    for (int op = 0; !st && op < HF_OP_COUNT; op++)
        st = op_apply(db, mem, (hf_op)op, items, count, assured, pending, err);
    for (size_t i = 0; !st && i < count; i++)
        HF_ASSERT(items[i].at == items[i].count);
    return st;
}
