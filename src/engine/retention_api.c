/* retention_api.c: retention as a call: a pass that removes what is over at once. The rules are in
   retention.h. */
#include <string.h>

#include "base/value.h"
#include "engine/call.h"
#include "engine/retention.h"
#include "engine/retention_rest.h"
#include "holdfast/host.h"

/* A pass under way. */
typedef struct pass {
    hf_call call;
    int64_t namespace_key; /* 0: all */
    int64_t most;          /* runs; INT64_MAX: all */
    int64_t runs;
    int64_t instances;
    int64_t held;
    int64_t rest[HF_REST_KINDS];
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

/* Where programs share a store, definitions that nobody here knows may be about to be used. */
static const hf_registry *known_definitions(const pass *p)
{
    bool shared = strcmp(hf_store_engine(p->call.engine->store), "sqlite") != 0;

    return shared ? NULL : p->call.engine->registry;
}

static hf_status rest_step(pass *p, hf_retention_rest *rest, int64_t *out_gone)
{
    hf_err *err = &p->call.slot->err;
    hf_unit *unit = hf_unit_new(NULL, NULL);
    int64_t counts[HF_REST_KINDS] = {0};
    hf_status st = unit ? HF_OK : hf_err_nomem(err, "retention");

    if (!st) {
        hf_call_read_begin(&p->call);
        st = hf_retention_rest_draft(p->call.in.db, rest, unit, err);
        hf_call_read_end(&p->call);
    }
    if (!st && rest->rows)
        st = unit_commit(p, unit);
    if (!st && rest->rows)
        hf_retention_rest_count(unit, rest, counts);
    hf_unit_free(unit);
    *out_gone = 0;
    for (size_t i = 0; i < HF_REST_KINDS; i++) {
        p->rest[i] += counts[i];
        *out_gone += counts[i];
    }
    return st;
}

static hf_status rest_remove(pass *p)
{
    hf_retention_rest rest = {.now_us = p->call.in.now_us,
                              .namespace_key = p->namespace_key,
                              .registry = known_definitions(p)};
    int64_t definition;
    int64_t gone;
    hf_status st;

    do {
        definition = rest.definition;
        st = rest_step(p, &rest, &gone);
    } while (!st && !rest.ended && (gone || rest.definition > definition));
    return st;
}

/* ---- the calls */

static const char *const rest_names[HF_REST_KINDS] = {[HF_REST_BATCHES] = "batches",
                                                      [HF_REST_SCHEDULES] = "schedules",
                                                      [HF_REST_IMPORTS] = "imports",
                                                      [HF_REST_BUCKETS] = "buckets",
                                                      [HF_REST_DEFINITIONS] = "definitions"};

static hf_value pass_value(const pass *p, hf_mem *mem)
{
    hf_value_list *out = hf_value_object(mem);

    hf_value_set(out, HF_SLICE("runs"), hf_value_int(mem, p->runs));
    hf_value_set(out, HF_SLICE("instances"), hf_value_int(mem, p->instances));
    hf_value_set(out, HF_SLICE("held"), hf_value_int(mem, p->held));
    for (size_t i = 0; i < HF_REST_KINDS; i++)
        hf_value_set(out, hf_slice_of(rest_names[i]), hf_value_int(mem, p->rest[i]));
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
    st = hf_options_take(&opts, sizeof(opts), o, err);
    if (st)
        return st;
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
        st = rest_remove(&p);
    if (st || !out)
        return st;
    *out = pass_value(&p, mem);
    return *out ? HF_OK : hf_err_nomem(&p.call.slot->err, "the counts of retention");
}
