/* row_read.c: rows read back into structs. */
#include "store/row.h"

#include <string.h>

static int64_t int_or_none(hf_db_cursor *cursor, size_t column)
{
    return hf_db_column_null(cursor, column) ? HF_NONE : hf_db_column_int(cursor, column);
}

hf_status hf_run_base_get(hf_db *db, int64_t run, hf_run_base *out_base, hf_err *err)
{
    const hf_db_value key = hf_db_int(run);
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_slice head;
    hf_status st = hf_db_query(db, HF_STMT_RUN_GET, &key, 1, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (st)
        goto done;
    if (!found) {
        st = hf_err_set(err, HF_NOTFOUND, "there is no run with key %lld", (long long)run);
        goto done;
    }
    head = hf_db_column_bytes(cursor, 6);
    if (head.len != sizeof(out_base->head)) {
        st = hf_err_set(err, HF_CORRUPT, "the head of run %lld has %zu bytes instead of %zu",
                        (long long)run, head.len, sizeof(out_base->head));
        goto done;
    }
    *out_base = (hf_run_base){.run = run,
                              .instance = hf_db_column_int(cursor, 0),
                              .status = hf_db_column_int(cursor, 2),
                              .closed_reason = int_or_none(cursor, 3),
                              .last_seq = hf_db_column_int(cursor, 5),
                              .last_us = hf_db_column_int(cursor, 7),
                              .history_bytes = hf_db_column_int(cursor, 8),
                              .command_seq = hf_db_column_int(cursor, 9),
                              .message_seq = hf_db_column_int(cursor, 10),
                              .message_cursor = hf_db_column_int(cursor, 11),
                              .closed_us = int_or_none(cursor, 14),
                              .shard = hf_db_column_int(cursor, 18),
                              .open_signals = hf_db_column_int(cursor, 20),
                              .open_updates = hf_db_column_int(cursor, 21)};
    memcpy(out_base->head, head.ptr, sizeof(out_base->head));
done:
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

hf_status hf_instance_get(hf_db *db, hf_mem *mem, int64_t namespace_key, hf_slice id,
                          hf_instance_row *out_row, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(namespace_key), hf_db_text(id)};
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st = hf_db_query(db, HF_STMT_INSTANCE_GET, params, 2, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (st)
        goto done;
    if (!found) {
        st = hf_err_set(err, HF_NOTFOUND, "there is no instance with the id %.*s", (int)id.len,
                        id.ptr);
        goto done;
    }
    *out_row = (hf_instance_row){.key = hf_db_column_int(cursor, 0),
                                 .namespace_key = namespace_key,
                                 .shard = hf_db_column_int(cursor, 1),
                                 .current_run = int_or_none(cursor, 4),
                                 .run_count = hf_db_column_int(cursor, 5),
                                 .created_us = hf_db_column_int(cursor, 6)};
    out_row->id = hf_slice_from(hf_mem_text(mem, id), id.len);
    if (!out_row->id.ptr || !text_copy(mem, cursor, 2, &out_row->type) ||
        !text_copy(mem, cursor, 3, &out_row->business_key))
        st = hf_err_nomem(err, "an instance");
done:
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
