/* machine.c: see machine.h. */
#include "engine/machine.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "engine/errand.h"
#include "engine/turnstile.h"
#include "engine/step.h"

bool hf_machine_runnable(const live_run *run)
{
    hf_step_work work;

    return run->replay && hf_replay_work(run->replay, &work);
}

/* Everything the step sees, copied: the run may change while it works. */
static hf_status job_fill(live_run *run, hf_job *job, const hf_step_work *work, hf_err *err)
{
    hf_step_job *step = hf_mem_alloc(job->mem, sizeof(*step));
    hf_status st;

    if (!step)
        return hf_err_nomem(err, "a step");
    step->definition = run->replay_info.machine;
    step->registry = run->core->o.registry;
    step->work = *work;
    st = hf_replay_work_fill(run->replay, job->mem, &step->work, err);
    if (st)
        return st;
    step->work.attempt += run->crashes;
    step->instance_id = hf_slice_of(hf_mem_text(job->mem, run->info.instance_id));
    step->presented = hf_mem_array(job->mem, step->work.signal_count + 1, sizeof(*step->presented));
    if (!step->instance_id.ptr || !step->presented)
        return hf_err_nomem(err, "a step");
    for (size_t i = 0; i < step->work.signal_count; i++)
        if (step->work.signals[i].awaited)
            step->presented[step->presented_count++] = step->work.signals[i].seq;
    (void)snprintf(step->key, sizeof(step->key), "%s-%lld", run->run_id, (long long)work->entry);
    job->run = run->key;
    job->activity = run->key; /* a run has one step at a time */
    job->step = work->number;
    job->name = step->work.name;
    job->machine = step;
    return HF_OK;
}

static void job_begin(hf_core *core, live_run *run, const hf_step_work *work)
{
    hf_job *job = hf_job_new();
    hf_err err = {0};
    hf_status st = job ? job_fill(run, job, work, &err) : hf_err_nomem(&err, "a step");

    if (!st)
        st = hf_map_int_put(core->jobs, (uint64_t)job->activity, job, NULL, &err);
    if (st) {
        const core_alarm later = {.kind = CORE_ALARM_TURN, .run = run->key};

        hf_pool_release(core->pool);
        hf_job_free(job);
        if (st == HF_NOMEM || st == HF_UNREACHABLE || st == HF_BUSY)
            (void)hf_core_alarm_set(core, &later, hf_core_now(core) + 200000);
        else
            hf_core_fail(core, st, &err);
        return;
    }
    run->stepping = true;
    job->machine->slot = run->slot;
    hf_pool_submit(core->pool, job);
}

void hf_machine_back(live_run *run, hf_job *job)
{
    run->stepping = false;
    if (!run->slot)
        run->slot = job->machine->slot;
    job->machine->slot = NULL;
}

void hf_machine_later(hf_core *core, live_run *run, int64_t due_us)
{
    const core_alarm due = {.kind = CORE_ALARM_STEP, .run = run->key, .key = -run->key};

    hf_core_remove(core, run); /* which takes alarms back that would stand for it */
    (void)hf_core_alarm_move(core, &due, due_us);
}

void hf_machine_dispatch(hf_core *core, live_run *run)
{
    core_alarm due = {.kind = CORE_ALARM_STEP, .run = run->key, .key = -run->key};
    const bool far = run->far != NULL; /* the code is elsewhere */
    hf_step_work work;
    hf_err err;
    bool runnable;

    if (!run->replay || run->dirty || run->ended || run->stepping || run->waits ||
        hf_errand_stepping(run) || hf_deadline_queued(&run->turn) ||
        hf_map_int_get(core->jobs, (uint64_t)run->key))
        return;
    runnable =
        !run->paused && hf_replay_work(run->replay, &work) &&
        (far || hf_step_code(run->replay_info.machine, work.name)); /* else another build's */
    if (!runnable || work.available_us > hf_core_now(core)) {
        hf_errand_step(core, run, false);
        hf_turnstile_leave(core, run);
        if (runnable) {
            due.retry = work.failed;
            (void)hf_core_alarm_move(core, &due, work.available_us);
        }
        return;
    }
    if (!hf_turnstile_pass(core, run, &work)) {
        hf_errand_step(core, run, false);
        return;
    }
    if (far) {
        hf_errand_step(core, run, true);
        return;
    }
    run->turn = (hf_deadline){
        .due_us = hf_turnstile_order(core, &work), .key = (uint64_t)run->key, .ref = run};
    if (hf_deadlines_push(core->steps, &run->turn, &err))
        hf_core_fail(core, HF_NOMEM, &err);
}

int64_t hf_machine_pause_end(hf_core *core)
{
    int64_t end_us = INT64_MAX;
    size_t at = 0;
    uint64_t key;
    void *value;

    while (hf_map_int_next(core->timers, &at, &key, &value)) {
        const core_alarm *alarm = value;

        if (alarm->kind == CORE_ALARM_STEP && alarm->retry && alarm->due_us < end_us)
            end_us = alarm->due_us;
    }
    return end_us;
}

void hf_machine_resume(hf_core *core, live_run *run)
{
    if (run->replay && !run->dirty && !run->look) {
        hf_machine_dispatch(core, run);
        return;
    }
    run->look = true;
    hf_core_ready(core, run);
}

bool hf_machine_serve(hf_core *core)
{
    hf_deadline *first;
    bool served = false;

    while ((first = hf_deadlines_peek(core->steps)) && hf_pool_reserve(core->pool)) {
        live_run *run = first->ref;
        hf_step_work work;

        hf_deadlines_remove(core->steps, first);
        served = true;
        if (run->replay && !run->dirty && !run->paused && hf_replay_work(run->replay, &work)) {
            job_begin(core, run, &work);
            continue;
        }
        hf_pool_release(core->pool);
        hf_machine_resume(core, run);
    }
    return served;
}

void hf_machine_ended(live_run *run, const hf_job *job)
{
    if (!hf_replay_step_ended(run->replay, &job->machine->end))
        run->core->stale_steps++;
}

void hf_machine_closed(hf_core *core, int64_t run)
{
    hf_job *job = hf_map_int_remove(core->jobs, (uint64_t)run);

    hf_core_disarm(core, -run);
    if (job)
        atomic_store(&job->stop, true);
}
