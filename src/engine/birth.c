/* birth.c: see birth.h. */
#include "engine/birth.h"

#include "engine/fleet.h"
#include "engine/lent.h"

/* ---- the core's side */

static bool core_fits(hf_core *core, const hf_intake_target *made,
                      const hf_registry_workflow *workflow)
{
    return hf_lent_fits(core) && !hf_map_int_get(core->plain, (uint64_t)workflow->key) &&
           (!core->o.shards || hf_shards_epoch(core->o.shards, made->base.shard) == made->epoch);
}

/* What there is to know of the run, as its rows will have it. */
static hf_status run_fill(live_run *run, const hf_intake_target *made, hf_err *err)
{
    hf_ulid id = hf_ulid_form(made->created_us, run->key, 0);
    hf_status st;

    run->base = made->base;
    run->epoch = made->epoch;
    run->info = (hf_decide_run){.base = &run->base,
                                .namespace_key = made->instance.namespace_key,
                                .number = made->run.number,
                                .definition = made->definition,
                                .created_us = made->created_us,
                                .execution_deadline_us = made->run.execution_deadline_us,
                                .run_deadline_us = made->run.run_deadline_us,
                                .parent_run = HF_NONE};
    hf_ulid_print(&id, run->run_id);
    run->mem = hf_mem_new();
    if (!run->mem)
        return hf_err_nomem(err, "a live run");
    st = hf_live_text(run, made->instance.id, &run->info.instance_id, err);
    if (!st)
        st = hf_live_text(run, made->instance.type, &run->info.type, err);
    if (!st)
        st = hf_live_text(run, made->queue, &run->info.queue, err);
    if (!st && made->instance.business_key.ptr)
        st = hf_live_text(run, made->instance.business_key, &run->info.business_key, err);
    return st;
}

/* The run in memory, ready for its turn; NULL: the birth is declined. */
static live_run *run_make(hf_core *core, hf_lent *lent, const hf_registry_workflow *workflow)
{
    live_run *run = hf_core_live(core, hf_lent_target(lent)->base.run);
    hf_err err;
    hf_status st;

    if (!run) {
        hf_lent_decline(lent);
        return NULL;
    }
    run->lent = lent;
    run->unborn = true;
    st = run_fill(run, hf_lent_target(lent), &err);
    if (!st)
        st = hf_live_attach(core, run, workflow, &err);
    if (!st)
        st = hf_live_arm(core, run, &err);
    if (st) {
        hf_core_remove(core, run);
        return NULL;
    }
    hf_live_count(core, run);
    hf_list_add_last(&core->lru, &run->place);
    return run;
}

/* hf_lent_take */
static void birth_take(hf_core *core, hf_lent *lent)
{
    const hf_registry_workflow *workflow =
        hf_registry_find_workflow(core->o.registry, hf_lent_target(lent)->instance.type);
    live_run *run;
    bool misfit = false;

    if (!core_fits(core, hf_lent_target(lent), workflow)) {
        hf_lent_decline(lent);
        return;
    }
    run = run_make(core, lent, workflow);
    if (!run)
        return;
    if (!hf_turn_lent(core, run, hf_lent_use(lent), &misfit) && misfit)
        (void)!hf_map_int_put(core->plain, (uint64_t)workflow->key, core, NULL, NULL);
}

/* ---- the caller's side */

bool hf_birth_wanted(hf_engine *engine, const hf_intake_start *start)
{
    const hf_registry_workflow *workflow = hf_registry_find_workflow(engine->registry, start->type);

    if (!workflow || workflow->machine || start->available_us || start->priority ||
        start->concurrency_key.ptr || start->rate_limit.ptr ||
        !hf_engine_app_supports(engine->app, start->compatibility))
        return false;
    if (hf_core_lost(engine->core, NULL)) /* nobody might take its place, should it get lost, too */
        return false;
    return engine->births || (engine->mode == ENGINE_THREADS && hf_writer_busy(engine->writer));
}

hf_status hf_birth_commit(hf_engine *engine, hf_unit *unit, const hf_intake_target *target,
                          int64_t *out_command_seq, bool *out_born, hf_err *err)
{
    hf_lent_outcome outcome = {0};
    hf_status st = hf_lent_commit(engine, birth_take, &unit, target, &outcome, err);

    hf_unit_free(unit);
    *out_born = !st && outcome.answered && !outcome.status;
    if (*out_born)
        *out_command_seq = outcome.command_seq;
    else if (outcome.status == HF_EXISTS && target->epoch == HF_NONE)
        st = hf_err_set(err, HF_EXISTS, "the instance exists already");
    return st; /* what else is wrong with it is found out the plain way */
}
