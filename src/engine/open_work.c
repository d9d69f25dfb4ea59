/* open_work.c: see open_work.h. */
#include "engine/open_work.h"

#include <string.h>

/* A list that grows in the arena. */
typedef struct work_list {
    hf_mem *mem;
    hf_open_work *items;
    size_t count;
    size_t room;
} work_list;

static hf_open_work *list_add(work_list *list)
{
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 8;
        hf_open_work *items = hf_mem_array(list->mem, room, sizeof(*items));

        if (!items)
            return NULL;
        if (list->count)
            memcpy(items, list->items, list->count * sizeof(*items));
        list->items = items;
        list->room = room;
    }
    return &list->items[list->count++];
}

static hf_status list_read(hf_db *db, hf_stmt stmt, int64_t run, bool timers, work_list *list,
                           hf_err *err)
{
    const hf_db_value key = hf_db_int(run);
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(db, stmt, &key, 1, &cursor, err);

    while (!st && row) {
        hf_open_work *work;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        work = list_add(list);
        if (!work) {
            st = hf_err_nomem(err, "open work");
            break;
        }
        *work = (hf_open_work){.is_timer = timers,
                               .key = hf_db_column_int(cursor, 0),
                               .step = hf_db_column_int(cursor, 1)};
        if (timers) {
            work->timer_kind = (hf_timer_kind)hf_db_column_int(cursor, 2);
            work->due_us = hf_db_column_int(cursor, 3);
        } else {
            work->attempt = hf_db_column_int(cursor, 4);
        }
    }
    hf_db_end(cursor);
    return st;
}

hf_status hf_open_work_read(hf_db *db, hf_mem *mem, int64_t run, hf_open_work **out_work,
                            size_t *out_count, int64_t *out_parent, hf_err *err)
{
    const hf_db_value key = hf_db_int(run);
    work_list list = {.mem = mem};
    bool found = false;
    hf_status st = list_read(db, HF_STMT_ACTIVITY_READ, run, false, &list, err);

    if (!st)
        st = list_read(db, HF_STMT_TIMER_READ, run, true, &list, err);
    *out_parent = HF_NONE;
    if (!st)
        st = hf_db_number(db, HF_STMT_LINK_PARENT, &key, 1, &found, out_parent, err);
    *out_work = list.items;
    *out_count = list.count;
    return st;
}
