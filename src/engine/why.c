/* why.c: hf_why and what tools ask of a store without an engine: why a run is not moving. Reads
   what is committed and nothing else. */
#include "project/why.h"

#include "base/clock.h"
#include "engine/call.h"
#include "engine/fleet.h"
#include "engine/step.h"
#include "engine/tool_store.h"
#include "engine/why_run.h"
#include "holdfast/tool.h"
#include "task/matching.h"

/* Whether a worker of another program is there that has the type, at the queue or (ptr NULL) at
   any. When it cannot be found out, one may. */
static bool asker_others(const hf_asker *who, hf_slice queue, hf_slice type, bool activity)
{
    hf_fleet_work work = {.scope = hf_engine_app_scope(who->engine->app),
                          .queue = queue,
                          .namespace_key = who->namespace_key,
                          .type = type,
                          .activity = activity};
    bool knows = false;
    hf_fleet_self self;
    hf_err err;

    if (!who->fleet.count)
        return false;
    hf_fleet_self_fill(&self);
    work.self = hf_slice_of(self.name);
    return hf_fleet_knows(who->db, who->mem, &work, who->now_us, &knows, &err) || knows;
}

static bool asker_knows_workflow(void *ctx, hf_slice type)
{
    const hf_asker *who = ctx;

    return hf_registry_find_workflow(who->engine->registry, type) ||
           asker_others(who, who->queue, type, false);
}

/* A child may be at any queue. */
static bool asker_knows_child(void *ctx, hf_slice type)
{
    const hf_asker *who = ctx;

    return hf_registry_find_workflow(who->engine->registry, type) ||
           asker_others(who, (hf_slice){0}, type, false);
}

static bool asker_knows_step(void *ctx, hf_slice type, hf_slice step)
{
    const hf_asker *who = ctx;
    const hf_registry_workflow *found = hf_registry_find_workflow(who->engine->registry, type);

    return !found || !found->machine || hf_step_code(found->machine, step) ||
           hf_fleet_others(&who->fleet, who->queue);
}

static bool asker_knows_limit(void *ctx, hf_slice name)
{
    const hf_asker *who = ctx;
    hf_limit_def limit;

    return hf_registry_find_limit(who->engine->registry, who->namespace_key, name, true, &limit) ||
           hf_fleet_others(&who->fleet, who->queue);
}

static bool asker_knows_activity(void *ctx, hf_slice queue, hf_slice name)
{
    const hf_asker *who = ctx;

    return hf_registry_find_activity(who->engine->registry, name) ||
           asker_others(who, queue, name, true);
}

/* A program that serves workers and has code of its own is one of them. */
static bool asker_manned(void *ctx, hf_slice queue)
{
    const hf_asker *who = ctx;
    const hf_app *app = who->engine->app;

    return (app &&
            ((app->workflows && app->workflows->type) || (app->machines && app->machines->type))) ||
           hf_fleet_others(&who->fleet, queue);
}

static hf_slice asker_holder(void *ctx, int64_t run, hf_mem *mem, int64_t *out_until_us)
{
    const hf_asker *who = ctx;
    hf_task_holder holder;
    const char *name;

    if (!hf_matching_holder(who->engine->matching, HF_TASK_WORKFLOW, run, &holder) ||
        holder.until_us <= who->now_us || !*holder.worker)
        return (hf_slice){0};
    name = hf_mem_text(mem, hf_slice_of(holder.worker));
    *out_until_us = holder.until_us;
    return hf_slice_of(name);
}

static hf_slice asker_fingerprint(void *ctx, hf_slice type)
{
    const hf_asker *who = ctx;
    const hf_registry_workflow *found = hf_registry_find_workflow(who->engine->registry, type);

    return found ? hf_slice_of(found->snapshot.fingerprint) : (hf_slice){0};
}

void hf_why_world_fill(hf_asker *who, hf_why_world *world)
{
    bool engine = who->engine != NULL;

    world->live.ctx = who;
    world->live.served = hf_asker_served;
    world->live.holder = engine && who->engine->matching ? asker_holder : NULL;
    world->knows_workflow = engine ? asker_knows_workflow : NULL;
    world->knows_child = engine ? asker_knows_child : NULL;
    world->knows_step = engine ? asker_knows_step : NULL;
    world->knows_limit = engine ? asker_knows_limit : NULL;
    world->fingerprint = engine ? asker_fingerprint : NULL;
    world->knows_activity = engine ? asker_knows_activity : NULL;
    world->manned = engine && who->engine->matching ? asker_manned : NULL;
}

/* Reads into an arena of its own; only the answer goes to the caller's. */
hf_status hf_why_run(hf_db *db, const hf_engine *engine, int64_t run, hf_why_world *world,
                     hf_mem *mem, hf_value *out, hf_err *err)
{
    hf_asker who = {.engine = engine};
    hf_mem *work = hf_mem_new();
    hf_value why = NULL;
    hf_dossier dossier;
    hf_status st =
        work ? hf_dossier_skim(db, work, run, &dossier, err) : hf_err_nomem(err, "an answer");

    if (!st) {
        who.queue = dossier.queue;
        st = hf_asker_begin(&who, db, work, dossier.namespace_key, world->live.now_us, err);
    }
    hf_why_world_fill(&who, world);
    if (!st)
        hf_liveness_hold(&dossier, &world->live, work);
    if (!st)
        st = hf_why_make(&dossier, world, work, &why, err);
    if (!st) {
        *out = hf_value_copy(mem, why);
        st = *out ? HF_OK : hf_err_nomem(err, "an answer");
    }
    hf_mem_free(work);
    return st;
}

hf_status hf_why(hf_engine *engine, const char *id, hf_mem *mem, hf_value *out)
{
    hf_why_world world = {0};
    hf_intake_target target;
    const char *name = NULL;
    int64_t number = 0;
    int64_t run = 0;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!id || !mem || !out)
        return hf_err_set(&c.slot->err, HF_MISUSE,
                          "an id, memory and a place for the answer are needed");
    *out = NULL;
    st = hf_tool_name_split(c.slot->mem, id, &name, &number, &c.slot->err);
    if (!st)
        st = hf_call_view_begin(&c, hf_slice_of(name), (hf_slice){0}, &target, &c.slot->err);
    if (st)
        return st;
    world.live = (hf_liveness_world){.now_us = hf_clock_wall_us(engine->clock)};
    world.stalled_run = hf_core_stalled(engine->core, target.base.run);
    world.log_pages = hf_store_writer(engine->store)->log_pages;
    st = hf_tool_run_pick(c.in.db, &target, number, &run, &c.slot->err);
    if (!st)
        st = hf_why_run(c.in.db, engine, run, &world, mem, out, &c.slot->err);
    hf_call_view_end(&c);
    return st;
}

/* ---- without an engine */

static hf_status tool_open(hf_tool_store *tool, const char *address, const hf_tool_options *options,
                           hf_err *err)
{
    if (options && options->size != sizeof(*options))
        return hf_err_set(err, HF_MISUSE, "the options of a tool have the wrong size");
    return hf_tool_store_open(tool, address, options ? options->schema : NULL,
                              options ? options->space : NULL, err);
}

static hf_why_world tool_world(void)
{
    return (hf_why_world){.live.now_us = hf_clock_wall_us(hf_clock_system())};
}

enum { LOOK_RUNS = 250 };

/* The next open runs behind a key. */
static hf_status runs_read(hf_db *db, int64_t after, int64_t *keys, size_t *out_count, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(after), hf_db_int(INT64_MAX), hf_db_int(LOOK_RUNS)};
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_SWEEP_RUNS, params, 3, &cursor, err);

    *out_count = 0;
    while (!st && row && *out_count < LOOK_RUNS) {
        st = hf_db_step(cursor, &row, err);
        if (!st && row)
            keys[(*out_count)++] = hf_db_column_int(cursor, 0);
    }
    hf_db_end(cursor);
    return st;
}

/* *out_more false: whoever asked has seen enough. A run that closed meanwhile needs nobody. */
static hf_status run_judge(hf_db *db, hf_mem *mem, int64_t run, hf_tool_why_fn *found, void *ctx,
                           bool *out_more, hf_err *err)
{
    hf_why_world world = tool_world();
    hf_value why = NULL;
    hf_status st;

    hf_mem_reset(mem);
    st = hf_why_run(db, NULL, run, &world, mem, &why, err);
    if (!st && hf_slice_equal(hf_slice_of(hf_str(why, "severity", "")),
                              hf_slice_of(hf_why_severity_text(HF_WHY_ATTENTION))))
        *out_more = found(ctx, why);
    return st;
}

hf_status hf_tool_attention(const char *address, const hf_tool_options *options,
                            hf_tool_why_fn *found, void *ctx, int64_t *out_runs, hf_err *err)
{
    hf_mem *mem = hf_mem_new();
    int64_t keys[LOOK_RUNS];
    size_t count = LOOK_RUNS;
    int64_t after = 0;
    int64_t runs = 0;
    bool more = true;
    hf_tool_store tool;
    hf_status st = mem ? tool_open(&tool, address, options, err) : hf_err_nomem(err, "an answer");

    if (st)
        goto done;
    while (!st && more && count == LOOK_RUNS) {
        st = runs_read(tool.db, after, keys, &count, err);
        for (size_t i = 0; !st && more && i < count; i++) {
            st = run_judge(tool.db, mem, keys[i], found, ctx, &more, err);
            after = keys[i];
            runs++;
        }
    }
    if (out_runs)
        *out_runs = runs;
    hf_tool_store_close(&tool);
done:
    hf_mem_free(mem);
    return st;
}
