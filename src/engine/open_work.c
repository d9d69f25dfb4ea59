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

hf_status hf_open_children_read(hf_db *db, hf_mem *mem, int64_t run, hf_open_child **out_children,
                                size_t *out_count, hf_err *err)
{
    const hf_db_value key = hf_db_int(run);
    hf_open_child *children = NULL;
    hf_db_cursor *cursor = NULL;
    size_t count = 0;
    size_t room = 0;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_LINK_OPEN, &key, 1, &cursor, err);

    while (!st && row) {
        hf_slice id;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        if (count == room) {
            hf_open_child *grown = hf_mem_array(mem, room ? room * 2 : 8, sizeof(*grown));

            if (grown && count)
                memcpy(grown, children, count * sizeof(*grown));
            children = grown;
            room = room ? room * 2 : 8;
        }
        id = hf_db_column_bytes(cursor, 7);
        id = hf_slice_from(hf_mem_text(mem, id), id.len);
        if (!children || !id.ptr) {
            st = hf_err_nomem(err, "open children");
            break;
        }
        children[count++] =
            (hf_open_child){.step = hf_column_or_none(cursor, 0),
                            .policy = (hf_parent_close_policy)hf_db_column_int(cursor, 1),
                            .call = hf_db_column_int(cursor, 2),
                            .call_us = hf_db_column_int(cursor, 3),
                            .instance = hf_db_column_int(cursor, 4),
                            .run = hf_db_column_int(cursor, 5),
                            .run_us = hf_db_column_int(cursor, 6),
                            .id = id};
    }
    hf_db_end(cursor);
    *out_children = children;
    *out_count = st ? 0 : count;
    return st;
}

hf_status hf_open_updates_read(hf_db *db, hf_mem *mem, int64_t run, hf_open_message **out_updates,
                               size_t *out_count, hf_err *err)
{
    const hf_db_value key = hf_db_int(run);
    hf_open_message *updates = NULL;
    hf_db_cursor *cursor = NULL;
    size_t count = 0;
    size_t room = 0;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_COMMAND_OPEN, &key, 1, &cursor, err);

    while (!st && row) {
        hf_slice name;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        if (hf_db_column_int(cursor, 1) != HF_COMMAND_TYPE_UPDATE)
            continue;
        if (count == room) {
            hf_open_message *grown = hf_mem_array(mem, room ? room * 2 : 8, sizeof(*grown));

            if (grown && count)
                memcpy(grown, updates, count * sizeof(*grown));
            updates = grown;
            room = room ? room * 2 : 8;
        }
        name = hf_db_column_bytes(cursor, 4);
        name = hf_slice_from(hf_mem_text(mem, name), name.len);
        if (!updates || !name.ptr) {
            st = hf_err_nomem(err, "open updates");
            break;
        }
        updates[count++] = (hf_open_message){
            .command = hf_db_column_int(cursor, 0),
            .command_id = hf_ulid_form(hf_db_column_int(cursor, 5), hf_db_column_int(cursor, 0), 0),
            .number = hf_db_column_int(cursor, 3),
            .update = true,
            .scope = (hf_target_scope)hf_db_column_int(cursor, 2),
            .name = name};
    }
    hf_db_end(cursor);
    *out_updates = updates;
    *out_count = st ? 0 : count;
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

hf_status hf_open_parent_read(hf_db *db, hf_mem *mem, int64_t run, hf_decide_run *out_info,
                              hf_err *err)
{
    const hf_db_value key = hf_db_int(run);
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st = hf_db_query(db, HF_STMT_LINK_PARENT, &key, 1, &cursor, err);

    out_info->parent_run = HF_NONE;
    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && found) {
        hf_slice id = hf_db_column_bytes(cursor, 8);

        out_info->parent_run = hf_db_column_int(cursor, 0);
        out_info->call =
            (hf_child_call_info){.step = hf_db_column_int(cursor, 1),
                                 .policy = (hf_parent_close_policy)hf_db_column_int(cursor, 2),
                                 .call = hf_db_column_int(cursor, 3),
                                 .call_us = hf_db_column_int(cursor, 4),
                                 .attempt = hf_db_column_int(cursor, 5),
                                 .max_attempts = hf_db_column_int(cursor, 6),
                                 .parent_us = hf_db_column_int(cursor, 7),
                                 .parent_id = hf_slice_from(hf_mem_text(mem, id), id.len)};
        if (!out_info->call.parent_id.ptr)
            st = hf_err_nomem(err, "a parent");
    }
    hf_db_end(cursor);
    return st;
}
