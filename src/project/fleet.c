/* fleet.c: see fleet.h. */
#include "project/fleet.h"

#include <string.h>

#include "base/json.h"
#include "project/edge.h"

static hf_status text_take(hf_mem *mem, hf_db_cursor *cursor, size_t column, hf_slice *out_text,
                           hf_err *err)
{
    hf_slice text = hf_db_column_bytes(cursor, column);

    *out_text = (hf_slice){0};
    if (hf_db_column_null(cursor, column))
        return HF_OK;
    *out_text = hf_slice_from(hf_mem_text(mem, text), text.len);
    return out_text->ptr ? HF_OK : hf_err_nomem(err, "a worker");
}

static hf_status worker_take(hf_mem *mem, hf_db_cursor *cursor, hf_worker_row *worker, hf_err *err)
{
    hf_status st = text_take(mem, cursor, 0, &worker->name, err);

    if (!st)
        st = text_take(mem, cursor, 1, &worker->queue, err);
    if (!st)
        st = text_take(mem, cursor, 2, &worker->scope, err);
    if (!st)
        st = text_take(mem, cursor, 3, &worker->host, err);
    if (!st)
        st = text_take(mem, cursor, 5, &worker->build_id, err);
    if (!st)
        st = text_take(mem, cursor, 6, &worker->supported, err);
    worker->process = hf_db_column_int(cursor, 4);
    worker->recorded_us = hf_db_column_int(cursor, 7);
    worker->expires_us = hf_db_column_int(cursor, 8);
    return st;
}

hf_status hf_fleet_read(hf_db *db, hf_mem *mem, hf_slice scope, int64_t namespace_key,
                        int64_t now_us, hf_fleet *out_fleet, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(now_us), hf_db_text(scope), hf_db_int(namespace_key)};
    hf_worker_row *workers = NULL;
    hf_db_cursor *cursor = NULL;
    size_t count = 0;
    size_t room = 0;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_WORKER_LIST, params, 3, &cursor, err);

    while (!st && row) {
        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        if (count == room) {
            hf_worker_row *grown = hf_mem_array(mem, room ? room * 2 : 8, sizeof(*grown));

            if (!grown) {
                st = hf_err_nomem(err, "the fleet");
                break;
            }
            if (count)
                memcpy(grown, workers, count * sizeof(*grown));
            workers = grown;
            room = room ? room * 2 : 8;
        }
        st = worker_take(mem, cursor, &workers[count++], err);
    }
    hf_db_end(cursor);
    *out_fleet = (hf_fleet){.workers = workers, .count = st ? 0 : count};
    return st;
}

bool hf_fleet_supports(hf_slice supported, hf_slice marker)
{
    hf_slice one;

    if (!marker.ptr)
        return true;
    while (hf_slice_split(&supported, ',', &one)) {
        one = hf_slice_trim(one);
        if (hf_slice_equal(one, HF_SLICE("*")) || hf_slice_equal(one, marker))
            return true;
    }
    return false;
}

static bool worker_is_at(const hf_worker_row *worker, hf_slice queue)
{
    return hf_slice_equal(worker->queue, HF_SLICE("*")) || hf_slice_equal(worker->queue, queue);
}

bool hf_fleet_serves(const hf_fleet *fleet, hf_slice queue, hf_slice marker)
{
    for (size_t i = 0; i < fleet->count; i++)
        if (worker_is_at(&fleet->workers[i], queue) &&
            hf_fleet_supports(fleet->workers[i].supported, marker))
            return true;
    return false;
}

bool hf_fleet_has_build(const hf_fleet *fleet, hf_slice queue, hf_slice build)
{
    for (size_t i = 0; i < fleet->count; i++)
        if (worker_is_at(&fleet->workers[i], queue) &&
            hf_slice_equal(fleet->workers[i].build_id, build))
            return true;
    return false;
}

hf_status hf_fleet_pins_read(hf_db *db, hf_mem *mem, int64_t namespace_key, hf_fleet_pins *out_pins,
                             hf_err *err)
{
    const hf_db_value param = hf_db_int(namespace_key);
    hf_fleet_pin *pins = NULL;
    hf_db_cursor *cursor = NULL;
    size_t count = 0;
    size_t room = 0;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_BUILD_PINNED, &param, 1, &cursor, err);

    while (!st && row) {
        hf_fleet_pin *grown = pins;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        if (count == room) {
            room = room ? room * 2 : 8;
            grown = hf_mem_array(mem, room, sizeof(*grown));
            if (grown && count)
                memcpy(grown, pins, count * sizeof(*grown));
        }
        pins = grown;
        st =
            pins ? text_take(mem, cursor, 0, &pins[count].queue, err) : hf_err_nomem(err, "builds");
        if (!st)
            st = text_take(mem, cursor, 1, &pins[count++].build, err);
    }
    hf_db_end(cursor);
    *out_pins = (hf_fleet_pins){.all = pins, .count = st ? 0 : count};
    return st;
}

bool hf_fleet_pinned(const hf_fleet_pins *pins, hf_slice queue, hf_slice marker)
{
    for (size_t i = 0; marker.ptr && i < pins->count; i++)
        if (hf_slice_equal(pins->all[i].queue, queue) && hf_slice_equal(pins->all[i].build, marker))
            return true;
    return false;
}

/* What it registered has two names; a registration that does not say is good for every type. */
static bool declared_has(hf_mem *mem, hf_slice body, const hf_fleet_work *work)
{
    hf_value said = NULL;
    hf_value types;

    if (hf_json_read(mem, body, NULL, &said, NULL))
        return true;
    types = hf_get(said, work->activity ? "supported_activity_types" : "supported_workflow_types");
    if (!types)
        types = hf_get(said, work->activity ? "activity_types" : "workflow_types");
    for (size_t i = 0; i < hf_len(types); i++)
        if (hf_slice_equal(hf_slice_of(hf_str(hf_at(types, i), "", "")), work->type))
            return true;
    return !types;
}

hf_status hf_fleet_knows(hf_db *db, hf_mem *mem, const hf_fleet_work *work, int64_t now_us,
                         bool *out_knows, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(now_us), hf_db_text(work->scope),
                                  hf_db_text(work->queue.ptr ? work->queue : HF_SLICE("")),
                                  hf_db_int(work->namespace_key)};
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_FLEET_DECLARED, params, 4, &cursor, err);

    *out_knows = false;
    while (!st && row && !*out_knows) {
        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        if (hf_slice_equal(hf_db_column_bytes(cursor, 0), work->self))
            continue;
        *out_knows = hf_db_column_null(cursor, 2)
                         ? !hf_db_column_int(cursor, 1)
                         : declared_has(mem, hf_db_column_bytes(cursor, 2), work);
    }
    hf_db_end(cursor);
    return st;
}

hf_value hf_fleet_value(const hf_fleet *fleet, hf_slice marker, hf_mem *mem)
{
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < fleet->count; i++) {
        const hf_worker_row *worker = &fleet->workers[i];
        hf_value_list *item = hf_value_object(mem);

        hf_value_set(item, HF_SLICE("worker_id"), hf_edge_text(mem, worker->name));
        hf_value_set(item, HF_SLICE("namespace"),
                     worker->scope.len ? hf_edge_text(mem, worker->scope) : hf_value_null());
        hf_value_set(item, HF_SLICE("host"), hf_edge_text(mem, worker->host));
        hf_value_set(item, HF_SLICE("process_id"), hf_value_int(mem, worker->process));
        hf_value_set(item, HF_SLICE("connection"), hf_value_null());
        hf_value_set(item, HF_SLICE("queue"), hf_edge_text(mem, worker->queue));
        hf_value_set(item, HF_SLICE("supported"), hf_edge_text(mem, worker->supported));
        hf_value_set(item, HF_SLICE("supports_required"),
                     hf_value_bool(hf_fleet_supports(worker->supported, marker)));
        hf_value_set(item, HF_SLICE("recorded_at"), hf_edge_time(mem, worker->recorded_us));
        hf_value_set(item, HF_SLICE("expires_at"), hf_edge_time(mem, worker->expires_us));
        hf_value_set(item, HF_SLICE("source"), hf_value_string(mem, HF_SLICE("database")));
        hf_value_append(list, hf_value_finish(item));
    }
    return hf_value_finish(list);
}
