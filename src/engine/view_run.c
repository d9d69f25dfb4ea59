/* view_run.c: holdfast/view.h: one run, as a whole and in parts. Each call reads into an arena of
   its own, in the snapshot in which the run was found, and hands the answer over. */
#include "base/json.h"
#include "engine/call.h"
#include "engine/look.h"
#include "engine/why_run.h"
#include "holdfast/view.h"
#include "project/detail.h"
#include "project/lineage.h"
#include "project/part.h"

typedef struct run_request {
    int64_t run;
    hf_slice type;
    int64_t at;
    int64_t limit;
} run_request;

/* The run that is asked for, in a view that is open unless this fails. */
static hf_status run_view(hf_call *c, hf_value request, run_request *out, hf_err *err)
{
    hf_intake_target target;
    hf_status st;

    if (!hf_look_member(request, "id").len)
        return hf_err_set(err, HF_INVALID, "the id of an instance is needed");
    st = hf_call_view_begin(c, hf_look_member(request, "id"), hf_look_member(request, "run_id"),
                            &target, err);
    if (st)
        return st;
    *out = (run_request){.run = target.base.run,
                         .type = target.instance.type,
                         .at = hf_int(request, "at", INT64_MAX),
                         .limit = hf_int(request, "limit", 0)};
    return HF_OK;
}

/* What is known of the world around a run, for a query of it: both live as long as the query. */
typedef struct around {
    hf_why_world world;
    hf_asker who;
} around;

static hf_status query_fill(hf_call *c, const run_request *wanted, around *a, hf_mem *work,
                            hf_detail_query *out, hf_err *err)
{
    hf_engine *engine = c->engine;
    const hf_registry_workflow *workflow =
        hf_registry_find_workflow(engine->registry, wanted->type);
    hf_status st;

    *a = (around){.who = {.engine = engine}};
    a->world.live.now_us = hf_clock_wall_us(engine->clock);
    a->world.stalled_run = hf_core_stalled(engine->core, wanted->run);
    *out = (hf_detail_query){.run = wanted->run,
                             .at = wanted->at,
                             .limit = wanted->limit,
                             .world = &a->world,
                             .fingerprint = workflow ? hf_slice_of(workflow->snapshot.fingerprint)
                                                     : (hf_slice){0},
                             .fleet = &a->who.fleet,
                             .pins = &a->who.pins,
                             .build = hf_slice_of(engine->app ? engine->app->build_id : NULL),
                             .scope = hf_engine_app_scope(engine->app)};
    st = hf_asker_begin(&a->who, c->in.db, work, c->in.namespace_key, a->world.live.now_us, err);
    hf_why_world_fill(&a->who, &a->world);
    return st ? st : hf_engine_app_markers(engine->app, work, &out->own, err);
}

/* Reads the run of a request in the snapshot in which it was found. */
typedef hf_status run_reader(hf_call *c, hf_value request, const hf_detail_query *query,
                             hf_mem *work, hf_value *out, hf_projection_state *out_state,
                             hf_err *err);

static hf_status run_look(hf_call *c, hf_value request, run_reader *read, hf_mem *mem,
                          hf_value *out)
{
    hf_projection_state state = HF_PROJECTION_IN_SYNC;
    hf_mem *work = hf_mem_new();
    hf_err *err = &c->slot->err;
    hf_detail_query query;
    run_request wanted = {0};
    hf_value answer = NULL;
    around a;
    hf_status st = work ? run_view(c, request, &wanted, err) : hf_err_nomem(err, "a run");

    if (st) {
        hf_mem_free(work);
        return st;
    }
    st = query_fill(c, &wanted, &a, work, &query, err);
    if (!st)
        st = read(c, request, &query, work, &answer, &state, err);
    hf_call_view_end(c);
    if (!st && state != HF_PROJECTION_IN_SYNC)
        hf_folder_want(c->engine->folder, wanted.run);
    return hf_look_give(mem, answer, st, out, work, err);
}

static hf_status detail_look(hf_call *c, hf_value request, const hf_detail_query *query,
                             hf_mem *work, hf_value *out, hf_projection_state *out_state,
                             hf_err *err)
{
    (void)request;
    return hf_detail_read(c->in.db, work, query, out, out_state, err);
}

hf_status hf_describe(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out)
{
    hf_call c;
    hf_status st = hf_look_begin(&c, engine, request, HF_LOOK_RUN, mem, out);

    return st ? st : run_look(&c, request, detail_look, mem, out);
}

/* ---- parts */

static hf_status part_look(hf_call *c, hf_value request, const hf_detail_query *query, hf_mem *work,
                           hf_value *out, hf_projection_state *out_state, hf_err *err)
{
    hf_part_query part;
    hf_status st = hf_look_part(request, query, &part, err);

    if (st)
        return st;
    if (hf_slice_equal(part.part, HF_SLICE("lineage")))
        return hf_lineage_read(c->in.db, work, query->run, hf_int(request, "depth", 2), out, err);
    return hf_part_read(c->in.db, work, &part, out, out_state, err);
}

hf_status hf_run_part(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out)
{
    hf_call c;
    hf_status st = hf_look_begin(&c, engine, request, HF_LOOK_PART, mem, out);

    return st ? st : run_look(&c, request, part_look, mem, out);
}

/* ---- bars */

static hf_status spans_look(hf_call *c, hf_value request, const hf_detail_query *query,
                            hf_mem *work, hf_value *out, hf_projection_state *out_state,
                            hf_err *err)
{
    (void)request;
    (void)out_state;
    return hf_detail_bars(c->in.db, work, query->run, query->at,
                          query->limit ? query->limit : HF_DETAIL_LIMIT_MAX, out, err);
}

hf_status hf_spans(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out)
{
    hf_call c;
    hf_status st = hf_look_begin(&c, engine, request, HF_LOOK_RUN, mem, out);

    return st ? st : run_look(&c, request, spans_look, mem, out);
}
