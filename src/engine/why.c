/* why.c: hf_why and what tools ask of a store without an engine: why a run is not moving. Reads
   what is committed and nothing else. */
#include "project/why.h"

#include "base/clock.h"
#include "engine/call.h"

static bool engine_knows_workflow(void *ctx, hf_slice type)
{
    const hf_engine *engine = ctx;

    return hf_registry_find_workflow(engine->registry, type) != NULL;
}

static bool engine_knows_activity(void *ctx, hf_slice name)
{
    const hf_engine *engine = ctx;

    return hf_registry_find_activity(engine->registry, name) != NULL;
}

/* Reads into an arena of its own; only the answer goes to the caller's. */
static hf_status why_read(hf_db *db, int64_t run, const hf_why_world *world, hf_mem *mem,
                          hf_value *out, hf_err *err)
{
    hf_mem *work = hf_mem_new();
    hf_value why = NULL;
    hf_dossier dossier;
    hf_status st =
        work ? hf_dossier_skim(db, work, run, &dossier, err) : hf_err_nomem(err, "an answer");

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
    hf_why_world world = {.knows_workflow = engine_knows_workflow,
                          .knows_activity = engine_knows_activity};
    hf_intake_target target;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!mem || !out)
        return hf_err_set(&c.slot->err, HF_MISUSE, "memory and a place for the answer are needed");
    *out = NULL;
    st = hf_call_find(&c, id, &target);
    if (st)
        return st;
    world.live = (hf_liveness_world){.now_us = hf_clock_wall_us(engine->clock), .ctx = engine};
    world.stalled_run = hf_core_stalled(engine->core, target.base.run);
    world.log_pages = hf_store_writer(engine->store)->log_pages;
    hf_call_read_begin(&c);
    st = why_read(c.in.db, target.base.run, &world, mem, out, &c.slot->err);
    hf_call_read_end(&c);
    return st;
}
