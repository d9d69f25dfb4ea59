/* retention_api.c: retention as a call: a pass that removes what is over at once. The rules are in
   retention.h. */
#include <string.h>

#include "base/value.h"
#include "engine/call.h"
#include "engine/retention.h"
#include "holdfast/host.h"
#include "store/stmt.h"

enum { PAGE_KEYS = 64 };

/* A pass under way. */
typedef struct pass {
    hf_call call;
    int64_t namespace_key; /* 0: all */
    int64_t most;          /* runs; INT64_MAX: all */
    int64_t runs;
    int64_t instances;
    int64_t held;
    int64_t batches;
    int64_t schedules;
    int64_t definitions;
    bool more;
} pass;

static hf_status unit_commit(pass *p, hf_unit *unit)
{
    hf_status st = hf_unit_seal(unit, &p->call.slot->stager, &p->call.slot->err);

    return st ? st : hf_engine_commit(p->call.engine, unit, &p->call.slot->err);
}

/* ---- runs */

static hf_status walk_step(pass *p, hf_retention_walk *walk)
{
    hf_err *err = &p->call.slot->err;
    hf_unit *unit = hf_unit_new(NULL, NULL);
    hf_status st = unit ? HF_OK : hf_err_nomem(err, "retention");

    if (!st) {
        int64_t left = p->most - p->runs;

        walk->most = left < HF_RETENTION_RUNS ? (size_t)left : 0;
        hf_call_read_begin(&p->call);
        st = hf_retention_draft(p->call.in.db, walk, unit, err);
        hf_call_read_end(&p->call);
    }
    if (!st && walk->drafted) {
        st = unit_commit(p, unit);
        if (!st)
            hf_retention_count(unit, walk->drafted, &p->runs, &p->instances);
    }
    hf_unit_free(unit);
    return st;
}

/* Walks until one finds nothing more that may go. */
static hf_status runs_remove(pass *p)
{
    int64_t before;
    hf_status st = HF_OK;

    do {
        hf_retention_walk walk = {.now_us = p->call.in.now_us, .namespace_key = p->namespace_key};

        before = p->runs;
        while (!st && !walk.ended && p->runs < p->most)
            st = walk_step(p, &walk);
        p->held = walk.held;
        p->more = !walk.ended;
    } while (!st && p->runs > before && p->runs < p->most);
    return st;
}

/* ---- what belongs to no run */

static hf_row *key_row(hf_unit *unit, hf_op op, int64_t key)
{
    const hf_db_value cell = hf_db_int(key);

    return hf_row_cells(hf_unit_mem(unit), op, &cell, 1);
}

/* Removes what a statement lists, with a row of `first` and one of `second` for each. */
static hf_status keys_remove(pass *p, hf_stmt stmt, hf_op first, hf_op second, int64_t *out_count)
{
    hf_err *err = &p->call.slot->err;
    const hf_db_value params[] = {hf_db_int(p->call.in.now_us), hf_db_int(p->namespace_key),
                                  hf_db_int(PAGE_KEYS)};
    size_t count = PAGE_KEYS;
    hf_status st = HF_OK;

    while (!st && count == PAGE_KEYS) {
        hf_unit *unit = hf_unit_new(NULL, NULL);
        hf_db_cursor *cursor = NULL;
        bool row = unit != NULL;

        st = unit ? HF_OK : hf_err_nomem(err, "retention");
        count = 0;
        hf_call_read_begin(&p->call);
        if (!st)
            st = hf_db_query(p->call.in.db, stmt, params, 3, &cursor, err);
        while (!st && row && count < PAGE_KEYS) {
            st = hf_db_step(cursor, &row, err);
            if (!st && row) {
                int64_t key = hf_db_column_int(cursor, 0);

                count++;
                hf_unit_row(unit, 0, key_row(unit, first, key));
                hf_unit_row(unit, 0, key_row(unit, second, key));
            }
        }
        hf_db_end(cursor);
        hf_call_read_end(&p->call);
        if (!st && count)
            st = unit_commit(p, unit);
        for (size_t i = 0; !st && i < count; i++)
            *out_count += hf_unit_row_applied(unit, 2 * i);
        hf_unit_free(unit);
    }
    return st;
}

/* Definitions that no run has. Those of this program are about to be used; where programs share a
   store, so may be those of others, and all stay. */
static hf_status definitions_remove(pass *p)
{
    hf_err *err = &p->call.slot->err;
    int64_t after = 0;
    bool shared = strcmp(hf_store_engine(p->call.engine->store), "sqlite") != 0;
    size_t count = PAGE_KEYS;
    hf_status st = HF_OK;

    while (!st && count == PAGE_KEYS && !shared) {
        const hf_db_value params[] = {hf_db_int(after), hf_db_int(PAGE_KEYS)};
        hf_unit *unit = hf_unit_new(NULL, NULL);
        hf_db_cursor *cursor = NULL;
        size_t added = 0;
        bool row = unit != NULL;

        st = unit ? HF_OK : hf_err_nomem(err, "retention");
        count = 0;
        hf_call_read_begin(&p->call);
        if (!st)
            st = hf_db_query(p->call.in.db, HF_STMT_RETENTION_DEFINITIONS, params, 2, &cursor, err);
        while (!st && row && count < PAGE_KEYS) {
            st = hf_db_step(cursor, &row, err);
            if (st || !row)
                break;
            count++;
            after = hf_db_column_int(cursor, 0);
            if (hf_registry_has(p->call.engine->registry, after))
                continue;
            added++;
            hf_unit_row(unit, 0, key_row(unit, HF_OP_RETIRE_DEFINITION, after));
        }
        hf_db_end(cursor);
        hf_call_read_end(&p->call);
        if (!st && added)
            st = unit_commit(p, unit);
        for (size_t i = 0; !st && i < added; i++)
            p->definitions += hf_unit_row_applied(unit, i);
        hf_unit_free(unit);
    }
    return st;
}

/* ---- the calls */

static hf_value pass_value(const pass *p, hf_mem *mem)
{
    hf_value_list *out = hf_value_object(mem);

    hf_value_set(out, HF_SLICE("runs"), hf_value_int(mem, p->runs));
    hf_value_set(out, HF_SLICE("instances"), hf_value_int(mem, p->instances));
    hf_value_set(out, HF_SLICE("held"), hf_value_int(mem, p->held));
    hf_value_set(out, HF_SLICE("batches"), hf_value_int(mem, p->batches));
    hf_value_set(out, HF_SLICE("schedules"), hf_value_int(mem, p->schedules));
    hf_value_set(out, HF_SLICE("definitions"), hf_value_int(mem, p->definitions));
    hf_value_set(out, HF_SLICE("more"), hf_value_bool(p->more));
    return hf_value_finish(out);
}

static hf_status pass_begin(pass *p, hf_engine *engine, const hf_retention_opts *o)
{
    hf_retention_opts opts = {0};
    hf_err *err;
    hf_status st = hf_call_begin(&p->call, engine);

    if (st)
        return st;
    err = &p->call.slot->err;
    if (o)
        memcpy(&opts, o, o->size_ < sizeof(opts) ? o->size_ : sizeof(opts));
    if (opts.most < 0)
        return hf_err_set(err, HF_INVALID, "the number of runs to remove is negative");
    p->most = opts.most ? opts.most : INT64_MAX;
    p->call.in.now_us = hf_core_now(engine->core);
    if (!opts.name)
        return HF_OK;
    hf_call_read_begin(&p->call);
    st = hf_namespace_get(p->call.in.db, hf_slice_of(opts.name), &p->namespace_key, err);
    hf_call_read_end(&p->call);
    return st;
}

hf_status hf_retention_pass(hf_engine *engine, const hf_retention_opts *o, hf_mem *mem,
                            hf_value *out)
{
    pass p = {0};
    hf_status st;

    if (out)
        *out = NULL;
    st = pass_begin(&p, engine, o);
    if (!st)
        st = runs_remove(&p);
    if (!st)
        st = keys_remove(&p, HF_STMT_RETENTION_BATCHES, HF_OP_RETIRE_BATCH, HF_OP_RETIRE_BATCH_ITEM,
                         &p.batches);
    if (!st)
        st = keys_remove(&p, HF_STMT_RETENTION_SCHEDULES, HF_OP_RETIRE_SCHEDULE,
                         HF_OP_RETIRE_SCHEDULE_EVENT, &p.schedules);
    if (!st)
        st = definitions_remove(&p);
    if (st || !out)
        return st;
    *out = pass_value(&p, mem);
    return *out ? HF_OK : hf_err_nomem(&p.call.slot->err, "the counts of retention");
}
