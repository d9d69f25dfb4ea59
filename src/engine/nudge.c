/* nudge.c: see nudge.h. The signal's number is counted from the run as the core knows it, so the
   unit is never based anew: when something came in between, it is declined. */
#include "engine/nudge.h"

#include <string.h>

#include "engine/lent.h"
#include "engine/runner.h"

/* ---- the core's side */

static bool run_is_idle(const live_run *run)
{
    return run->replay && !run->dirty && !run->ready && !run->ended && !run->due && !run->look &&
           !run->stale && !run->foreign;
}

/* Whether its code may run, here and now. */
static bool run_may_turn(const hf_core *core, const live_run *run)
{
    return run->base.status == HF_RUN_STATUS_WAITING && !run->paused && !run->blocked &&
           !run->quarantined && !run->far && !run->doom.status &&
           run->info.parent_run == HF_NONE && /* else another may have taken the parent's place */
           !hf_live_overdue(run, hf_core_now(core)) &&
           (!core->o.shards || hf_shards_epoch(core->o.shards, run->base.shard) == run->epoch);
}

/* hf_lent_take */
static void nudge_take(hf_core *core, hf_lent *lent)
{
    const hf_run_base *base = &hf_lent_target(lent)->base;
    live_run *run = hf_map_int_get(core->runs, (uint64_t)base->run);
    bool misfit = false;
    hf_unit *unit;

    if (!run || !hf_lent_fits(core) || !run_is_idle(run) || !run_may_turn(core, run) ||
        run->base.last_seq != base->last_seq ||
        memcmp(run->base.head, base->head, sizeof(base->head)) != 0) {
        hf_lent_decline(lent);
        return;
    }
    run = hf_core_live(core, base->run); /* it is used */
    run->base = *base;                   /* commands that were refused may have been counted */
    run->lent = lent;
    unit = hf_lent_use(lent);
    hf_unit_claim(unit, run->epoch);
    (void)!hf_turn_lent(core, run, unit, &misfit);
}

/* ---- the caller's side */

bool hf_nudge_wanted(hf_engine *engine, const hf_intake_target *target)
{
    const hf_registry_workflow *workflow =
        hf_registry_find_workflow(engine->registry, target->instance.type);

    if (!workflow || workflow->machine || target->base.status != HF_RUN_STATUS_WAITING ||
        hf_core_lost(engine->core, NULL)) /* nobody might take its place, should it get lost, too */
        return false;
    return engine->nudges || (engine->mode == ENGINE_THREADS && hf_runner_idle(engine));
}

hf_status hf_nudge_commit(hf_engine *engine, hf_unit **unit, const hf_intake_target *target,
                          int64_t *out_command_seq, bool *out_taken, hf_err *err)
{
    hf_lent_outcome outcome = {0};
    hf_status st = hf_lent_commit(engine, nudge_take, unit, target, &outcome, err);

    *out_taken = !st && outcome.answered && !outcome.status;
    if (*out_taken)
        *out_command_seq = outcome.command_seq;
    return st; /* what is wrong with a unit that was refused is found out the plain way */
}
