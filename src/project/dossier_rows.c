/* dossier_rows.c: the rows of open work of a run, as they are. Whether they should be there is
   liveness.c's question. */
#include "project/dossier_impl.h"

static hf_status text_take(hf_mem *mem, hf_db_cursor *cursor, size_t column, hf_slice *out_text,
                           hf_err *err)
{
    hf_slice text = hf_db_column_bytes(cursor, column);

    *out_text = hf_slice_from(hf_mem_text(mem, text), text.len);
    return out_text->ptr ? HF_OK : hf_err_nomem(err, "open work");
}

/* One row of a list, taken from the cursor. */
typedef hf_status row_take(hf_mem *mem, hf_db_cursor *cursor, hf_dossier *dossier, hf_err *err);

static hf_status rows_read(hf_db *db, hf_mem *mem, hf_stmt stmt, row_take *take,
                           hf_dossier *dossier, hf_err *err)
{
    const hf_db_value key = hf_db_int(dossier->run.key);
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(db, stmt, &key, 1, &cursor, err);

    while (!st && row) {
        st = hf_db_step(cursor, &row, err);
        if (!st && row)
            st = take(mem, cursor, dossier, err);
    }
    hf_db_end(cursor);
    return st;
}

static hf_status activity_take(hf_mem *mem, hf_db_cursor *cursor, hf_dossier *dossier, hf_err *err)
{
    hf_dossier_activity *activity = hf_mem_alloc(mem, sizeof(*activity));
    hf_dossier_activity **tail = &dossier->activities;

    if (!activity)
        return hf_err_nomem(err, "open work");
    *activity = (hf_dossier_activity){.key = hf_db_column_int(cursor, 0),
                                      .step = hf_db_column_int(cursor, 1),
                                      .status = hf_db_column_int(cursor, 3),
                                      .attempt = hf_db_column_int(cursor, 4),
                                      .lost_attempts = hf_db_column_int(cursor, 5),
                                      .max_attempts = hf_column_or_none(cursor, 6),
                                      .available_us = hf_column_or_none(cursor, 7),
                                      .deadline_us = hf_column_or_none(cursor, 8),
                                      .scheduled_us = hf_db_column_int(cursor, 9),
                                      .started_us = hf_column_or_none(cursor, 10),
                                      .closed_us = hf_column_or_none(cursor, 11)};
    while (*tail)
        tail = &(*tail)->next;
    *tail = activity;
    return text_take(mem, cursor, 2, &activity->type, err);
}

static hf_status timer_take(hf_mem *mem, hf_db_cursor *cursor, hf_dossier *dossier, hf_err *err)
{
    hf_dossier_timer *timer = hf_mem_alloc(mem, sizeof(*timer));
    hf_dossier_timer **tail = &dossier->timers;

    if (!timer)
        return hf_err_nomem(err, "open work");
    *timer = (hf_dossier_timer){.key = hf_db_column_int(cursor, 0),
                                .step = hf_db_column_int(cursor, 1),
                                .kind = hf_db_column_int(cursor, 2),
                                .status = hf_db_column_int(cursor, 3),
                                .due_us = hf_db_column_int(cursor, 4),
                                .closed_us = hf_column_or_none(cursor, 5)};
    while (*tail)
        tail = &(*tail)->next;
    *tail = timer;
    return HF_OK;
}

static hf_status child_take(hf_mem *mem, hf_db_cursor *cursor, hf_dossier *dossier, hf_err *err)
{
    hf_dossier_child *child = hf_mem_alloc(mem, sizeof(*child));
    hf_dossier_child **tail = &dossier->children;
    hf_status st;

    if (!child)
        return hf_err_nomem(err, "open work");
    *child = (hf_dossier_child){.step = hf_db_column_int(cursor, 0),
                                .run = hf_db_column_int(cursor, 1),
                                .run_us = hf_db_column_int(cursor, 2),
                                .closed_us = hf_column_or_none(cursor, 3)};
    while (*tail)
        tail = &(*tail)->next;
    *tail = child;
    st = text_take(mem, cursor, 4, &child->id, err);
    return st ? st : text_take(mem, cursor, 5, &child->type, err);
}

static hf_status fact_take(hf_mem *mem, hf_db_cursor *cursor, hf_dossier *dossier, hf_err *err)
{
    hf_dossier_fact *fact = hf_mem_alloc(mem, sizeof(*fact));

    if (!fact)
        return hf_err_nomem(err, "open work");
    *fact = (hf_dossier_fact){.next = dossier->facts,
                              .key = hf_db_column_int(cursor, 0),
                              .kind = hf_db_column_int(cursor, 1),
                              .source_run = hf_column_or_none(cursor, 2)};
    dossier->facts = fact;
    return HF_OK;
}

hf_status hf_dossier_rows(hf_db *db, hf_mem *mem, hf_dossier *dossier, hf_err *err)
{
    static const struct {
        hf_stmt stmt;
        row_take *take;
    } lists[] = {{HF_STMT_ROWS_ACTIVITIES, activity_take},
                 {HF_STMT_ROWS_TIMERS, timer_take},
                 {HF_STMT_ROWS_CHILDREN, child_take},
                 {HF_STMT_INBOX_READ, fact_take}};
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < sizeof(lists) / sizeof(lists[0]); i++)
        st = rows_read(db, mem, lists[i].stmt, lists[i].take, dossier, err);
    return st;
}
