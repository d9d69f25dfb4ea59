/* turn_done.c: the unit of a turn is done. What a committed one promises to the world (activities
   that start, timers that are armed, other runs that are woken) happens here and never before; what
   one that failed had taken is given back, and its coroutine is thrown away. */
#include "base/alloc.h"
#include "base/assert.h"
#include "engine/attempt.h"
#include "engine/core_impl.h"
#include "engine/errand.h"
#include "engine/known.h"
#include "engine/lent.h"
#include "engine/machine.h"
#include "engine/schedule.h"
#include "engine/watchdog.h"

enum { RETRY_US = 200000 }; /* after a full disk or an empty key block */

void hf_turn_due_forget(live_run *run)
{
    while (run->staged_due) {
        core_due *due = run->staged_due;

        run->staged_due = due->next;
        hf_alloc_free(due);
    }
}

void hf_turn_return(live_run *run)
{
    hf_attempt_abandoned(run);
    while (run->staged_due) {
        core_due *due = run->staged_due;

        run->staged_due = due->next;
        due->late = NULL;
        due->next = run->due;
        run->due = due;
    }
}

void hf_turn_abandon(hf_core *core, live_run *run, hf_effect *effects)
{
    for (hf_effect *effect = effects; effect; effect = effect->next)
        if (effect->kind == HF_EFFECT_ACTIVITY && effect->started)
            hf_pool_release(core->pool);
        else if (effect->kind == HF_EFFECT_ACTIVITY)
            hf_errand_hand_back(core, effect);
    hf_turn_return(run);
    hf_live_forget(core, run);
}

void hf_turn_later(hf_core *core, live_run *run, hf_task_trouble trouble, hf_status st)
{
    const core_alarm later = {.kind = CORE_ALARM_TURN, .run = run->key};
    int64_t soon_us = hf_core_now(core) + RETRY_US;
    int64_t again_us = soon_us;

    if (st == HF_RETRY || st == HF_NOMEM || st == HF_TIMEOUT)
        again_us = hf_watchdog_trouble(core, run, trouble);
    (void)hf_core_alarm_set(core, &later, again_us < soon_us ? soon_us : again_us);
}

static void limit_warn(hf_core *core, const live_run *run, const hf_effect *effect)
{
    const hf_log_field fields[] = {
        hf_log_text("instance_id", run->info.instance_id),
        hf_log_text("run_id", hf_slice_of(run->run_id)),
        hf_log_text("limit", hf_slice_of(hf_limit_text(effect->limit))),
        hf_log_int("value", effect->key),
        hf_log_int("configured", hf_limits_get(core->o.limits, effect->limit))};

    hf_log_write(core->o.log, HF_LOG_WARN, "a run comes near a structural limit", fields,
                 sizeof(fields) / sizeof(fields[0]));
}

/* The promises of a committed unit. */
static void effects_keep(hf_core *core, live_run *run, const hf_effect *effect)
{
    for (; effect; effect = effect->next) {
        hf_open_work work = {.key = effect->key, .step = effect->step};
        core_alarm alarm = {.kind = CORE_ALARM_TIMER,
                            .run = effect->run,
                            .key = effect->key,
                            .step = effect->step,
                            .timer_kind = effect->timer_kind};
        hf_err err;

        switch (effect->kind) {
        case HF_EFFECT_TIMER:
            work.is_timer = true;
            work.due_us = effect->due_us;
            work.timer_kind = effect->timer_kind;
            if (hf_live_open_add(run, &work, &err))
                hf_core_fail(core, HF_NOMEM, &err);
            (void)hf_core_alarm_set(core, &alarm, effect->due_us);
            break;
        case HF_EFFECT_ACTIVITY:
            if (hf_live_open_add(run, &work, &err))
                hf_core_fail(core, HF_NOMEM, &err);
            hf_attempt_scheduled(run, effect);
            break;
        case HF_EFFECT_RUN:
            hf_core_look(core, effect->run);
            break;
        case HF_EFFECT_WARN:
            limit_warn(core, run, effect);
            break;
        }
    }
}

/* What an activity is called stands in the event that scheduled it alone; here it is with its job.
 */
static hf_slice activity_name(const void *ctx, int64_t step)
{
    const live_run *run = ctx;

    for (const hf_job *job = run->staged_ended; job; job = job->next)
        if (job->step == step)
            return job->name;
    for (const core_start *start = run->staged_starts; start; start = start->next)
        if (start->job->step == step)
            return start->job->name;
    for (const hf_effect *effect = run->effects; effect; effect = effect->next)
        if (effect->kind == HF_EFFECT_ACTIVITY && effect->step == step)
            return effect->name;
    for (size_t i = 0; i < run->open_count; i++) {
        const hf_job *job = run->open[i].is_timer || run->open[i].step != step
                                ? NULL
                                : hf_map_int_get(run->core->jobs, (uint64_t)run->open[i].key);

        if (job)
            return job->name;
    }
    return (hf_slice){0};
}

/* True when the run goes on living. */
static bool turn_keep(hf_core *core, live_run *run, hf_unit *unit)
{
    const hf_event_builder *events = hf_unit_events(unit, 0);
    const hf_run_base *after = hf_unit_after(unit, 0);
    bool rebased = after->last_seq != run->base.last_seq + run->unit_events;
    bool closed = after->closed_us != HF_NONE;
    const hf_core_facts facts = {.instance_id = run->info.instance_id,
                                 .run_id = hf_slice_of(run->run_id),
                                 .type = run->info.type,
                                 .events = events->events,
                                 .count = events->count,
                                 .first_seq = after->last_seq - (int64_t)events->count + 1,
                                 .begun = run->base.status == HF_RUN_STATUS_PENDING,
                                 .activity = activity_name,
                                 .ctx = run};

    if (core->o.observe)
        core->o.observe(core->o.ctx, &facts);
    if (closed) { /* whatever still runs is told to stop */
        hf_core_disarm(core, run->key);
        hf_machine_closed(core, run->key);
        for (size_t i = 0; i < run->open_count; i++) {
            hf_job *job = hf_map_int_remove(core->jobs, (uint64_t)run->open[i].key);

            hf_core_disarm(core, run->open[i].key);
            if (job)
                hf_attempt_stop(core, job);
        }
    }
    hf_live_settle(run, events->events, events->count);
    run->base = *after;
    hf_attempt_committed(run);
    hf_turn_due_forget(run);
    effects_keep(core, run, run->effects);
    hf_errand_answered(run); /* the effects spoke with the answer's words */
    if (core->o.changed)
        core->o.changed(core->o.ctx, run->key, closed);
    if (closed)
        hf_schedule_closed(core, run->base.instance);
    if (closed)
        return false;
    run->troubles = 0;
    run->stuck = false;
    run->unit_messages = 0; /* counted in the base now */
    run->check_ids = false;
    hf_core_in_time(core, run->key);
    if (run->again)
        hf_core_ready(core, run);
    if (rebased || run->foreign || hf_replay_spoiled(run->replay)) {
        hf_live_forget(core,
                       run); /* facts came in between: the replay must see them in their place */
        hf_core_ready(core, run);
    }
    return true;
}

/* The run is at rest: who signals it need not read where it stands. */
static void rest_tell(const hf_core *core, const live_run *run)
{
    const hf_decide_run *info = &run->info;
    const hf_intake_target target = {.instance = {.key = run->base.instance,
                                                  .namespace_key = info->namespace_key,
                                                  .id = info->instance_id,
                                                  .shard = run->base.shard,
                                                  .type = info->type,
                                                  .business_key = info->business_key,
                                                  .current_run = run->key,
                                                  .run_count = info->number,
                                                  .created_us = HF_NONE},
                                     .base = run->base,
                                     .created_us = info->created_us,
                                     .definition = info->definition,
                                     .queue = info->queue};

    if (core->o.known && run->replay && !run->ready)
        hf_known_put(core->o.known, &target);
}

void hf_turn_committed(hf_core *core, live_run *run, hf_unit *unit)
{
    const char *text = NULL;
    hf_status st = hf_unit_outcome(unit, &text);
    hf_err err;
    bool lives = true;
    bool lent;

    run->dirty = false;
    HF_ASSERT(core->flying > 0);
    core->flying--;
    core->flying_due -= run->due_unit;
    run->due_unit = false;
    run->unit = NULL;
    if (run->unborn && st) {
        hf_turn_abandon(core, run, run->effects);
        hf_unit_free(unit);
        hf_core_disarm(core, run->key);
        hf_core_remove(core, run);
        return;
    }
    run->unborn = false;
    lent = run->lent != NULL;
    hf_lent_end(run);
    if (st == HF_OK && !run->bare) {
        lives = turn_keep(core, run, unit);
    } else if (st == HF_OK) {
        hf_turn_return(run);
        if (hf_errand_fault(run))
            hf_errand_faulted(run);
        lives = !run->blocked;
    } else {
        hf_turn_abandon(core, run, run->effects);
        if (st == HF_CONFLICT ||
            (lent && st != HF_STOPPED)) /* its caller sees to what it brought */
            hf_core_ready(core, run);
        else if (st == HF_CONSTRAINT && run->makes_children && !run->check_ids)
            run->check_ids = true; /* a child's id was taken meanwhile: the next turn sees which */
        else if (st == HF_CONSTRAINT || st == HF_EXISTS || st == HF_INVALID || st == HF_TOOBIG)
            (void)hf_err_set(&run->doom, st, "%s", text);
        else if (st == HF_STOPPED)
            hf_core_fail(core, hf_err_set(&err, st, "%s", text), &err);
        else
            hf_turn_later(core, run, HF_TASK_TROUBLE_CLAIM, st);
        if (run->doom.status || run->check_ids)
            hf_core_ready(core, run);
    }
    run->effects = NULL;
    hf_unit_free(unit);
    if (run->foreign)
        hf_live_forget(core, run);
    if (!lives)
        hf_core_remove(core, run);
    else if (!st && (run->look || run->ended || run->due || run->missed))
        hf_core_ready(core, run);
    else if (!st) {
        rest_tell(core, run);
        hf_machine_dispatch(core, run);
        hf_errand_dispatch(core, run);
    }
}
