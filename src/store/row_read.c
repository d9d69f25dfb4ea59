/* row_read.c: rows read back into structs. */
#include "store/row.h"

#include <string.h>

int64_t hf_column_or_none(hf_db_cursor *cursor, size_t column)
{
    return hf_db_column_null(cursor, column) ? HF_NONE : hf_db_column_int(cursor, column);
}

hf_status hf_run_base_take(hf_db_cursor *cursor, size_t from, int64_t run, hf_run_base *out_base,
                           hf_err *err)
{
    hf_slice head = hf_db_column_bytes(cursor, from + 6);

    if (head.len != sizeof(out_base->head))
        return hf_err_set(err, HF_CORRUPT, "the head of run %lld has %zu bytes instead of %zu",
                          (long long)run, head.len, sizeof(out_base->head));
    *out_base = (hf_run_base){.run = run,
                              .instance = hf_db_column_int(cursor, from),
                              .status = hf_db_column_int(cursor, from + 2),
                              .closed_reason = hf_column_or_none(cursor, from + 3),
                              .last_seq = hf_db_column_int(cursor, from + 5),
                              .last_us = hf_db_column_int(cursor, from + 7),
                              .history_bytes = hf_db_column_int(cursor, from + 8),
                              .command_seq = hf_db_column_int(cursor, from + 9),
                              .message_seq = hf_db_column_int(cursor, from + 10),
                              .message_cursor = hf_db_column_int(cursor, from + 11),
                              .closed_us = hf_column_or_none(cursor, from + 14),
                              .shard = hf_db_column_int(cursor, from + 18),
                              .open_signals = hf_db_column_int(cursor, from + 20),
                              .open_updates = hf_db_column_int(cursor, from + 21)};
    memcpy(out_base->head, head.ptr, sizeof(out_base->head));
    return HF_OK;
}

hf_status hf_run_base_get(hf_db *db, int64_t run, hf_run_base *out_base, hf_err *err)
{
    const hf_db_value key = hf_db_int(run);
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st = hf_db_query(db, HF_STMT_RUN_GET, &key, 1, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && !found)
        st = hf_err_set(err, HF_NOTFOUND, "there is no run with key %lld", (long long)run);
    if (!st)
        st = hf_run_base_take(cursor, 0, run, out_base, err);
    hf_db_end(cursor);
    return hf_err_because(err, st, "read run %lld", (long long)run);
}

static bool text_copy(hf_mem *mem, hf_db_cursor *cursor, size_t column, hf_slice *out_text)
{
    hf_slice text = hf_db_column_bytes(cursor, column);

    *out_text = (hf_slice){0};
    if (hf_db_column_null(cursor, column))
        return true;
    *out_text = hf_slice_from(hf_mem_text(mem, text), text.len);
    return out_text->ptr != NULL;
}

/* Asks for the instance; the cursor stands on its row. */
static hf_status instance_find(hf_db *db, hf_stmt stmt, hf_mem *mem, int64_t namespace_key,
                               hf_slice id, hf_db_cursor **out_cursor, hf_instance_row *out_row,
                               hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(namespace_key), hf_db_text(id)};
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st = hf_db_query(db, stmt, params, 2, &cursor, err);

    *out_cursor = cursor;
    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && !found)
        st = hf_err_set(err, HF_NOTFOUND, "there is no instance with the id %.*s", (int)id.len,
                        id.ptr);
    if (st)
        return st;
    *out_row = (hf_instance_row){.key = hf_db_column_int(cursor, 0),
                                 .namespace_key = namespace_key,
                                 .shard = hf_db_column_int(cursor, 1),
                                 .current_run = hf_column_or_none(cursor, 4),
                                 .run_count = hf_db_column_int(cursor, 5),
                                 .created_us = hf_db_column_int(cursor, 6)};
    out_row->id = hf_slice_from(hf_mem_text(mem, id), id.len);
    if (!out_row->id.ptr || !text_copy(mem, cursor, 2, &out_row->type) ||
        !text_copy(mem, cursor, 3, &out_row->business_key))
        st = hf_err_nomem(err, "an instance");
    return st;
}

hf_status hf_instance_get(hf_db *db, hf_mem *mem, int64_t namespace_key, hf_slice id,
                          hf_instance_row *out_row, hf_err *err)
{
    hf_db_cursor *cursor = NULL;
    hf_status st =
        instance_find(db, HF_STMT_INSTANCE_GET, mem, namespace_key, id, &cursor, out_row, err);

    hf_db_end(cursor);
    return st;
}

hf_status hf_attribute_is_keyword(hf_db *db, int64_t namespace_key, hf_slice name,
                                  bool *out_keyword, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(namespace_key), hf_db_text(name)};
    int64_t type = 0;
    bool found = false;
    hf_status st = hf_db_number(db, HF_STMT_ATTRIBUTE_DEF_TYPE, params, 2, &found, &type, err);

    *out_keyword =
        !st && found &&
        (type == HF_SEARCH_ATTRIBUTE_TYPE_KEYWORD || type == HF_SEARCH_ATTRIBUTE_TYPE_KEYWORD_LIST);
    return st;
}

hf_status hf_instance_aim(hf_db *db, hf_mem *mem, int64_t namespace_key, hf_slice id,
                          hf_instance_row *out_row, hf_newest_run *out_newest, hf_err *err)
{
    enum { RUN = 7, CREATED = RUN + 13, DEFINITION = RUN + 22, QUEUE };
    hf_db_cursor *cursor = NULL;
    hf_status st =
        instance_find(db, HF_STMT_INSTANCE_AIM, mem, namespace_key, id, &cursor, out_row, err);

    *out_newest = (hf_newest_run){.base.run = HF_NONE};
    if (!st && !hf_db_column_null(cursor, RUN)) {
        st = hf_run_base_take(cursor, RUN, out_row->current_run, &out_newest->base, err);
        out_newest->created_us = hf_db_column_int(cursor, CREATED);
        out_newest->definition = hf_column_or_none(cursor, DEFINITION);
        if (!st && !text_copy(mem, cursor, QUEUE, &out_newest->queue))
            st = hf_err_nomem(err, "a run");
    }
    hf_db_end(cursor);
    return st;
}

hf_status hf_namespace_get(hf_db *db, hf_slice name, int64_t *out_key, hf_err *err)
{
    const hf_db_value param = hf_db_text(name);
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st = hf_db_query(db, HF_STMT_NAMESPACE_GET, &param, 1, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && !found)
        st = hf_err_set(err, HF_NOTFOUND, "there is no namespace called %.*s", (int)name.len,
                        name.ptr);
    if (!st)
        *out_key = hf_db_column_int(cursor, 0);
    hf_db_end(cursor);
    return st;
}

hf_status hf_namespace_make(hf_db *db, hf_slice name, int64_t now_us, int64_t *out_key, hf_err *err)
{
    const hf_db_value one[] = {hf_db_text(HF_SLICE("key")), hf_db_int(1)};
    hf_db_value made[] = {hf_db_int(0), hf_db_text(name), hf_db_int(now_us)};
    bool found = false;
    hf_status st = hf_db_number(db, HF_STMT_NAMESPACE_GET, &made[1], 1, &found, out_key, err);

    if (st || found)
        return st;
    st = hf_db_number(db, HF_STMT_COUNTER_TAKE, one, 2, &found, &made[0].number, err);
    if (!st)
        st = hf_db_number(db, HF_STMT_NAMESPACE_NEW, made, 3, &found, out_key, err);
    if (!st && !found) /* another node was faster */
        st = hf_namespace_get(db, name, out_key, err);
    return hf_err_because(err, st, "make the namespace %.*s", (int)name.len, name.ptr);
}
