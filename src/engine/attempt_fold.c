/* attempt_fold.c: what happened to attempts, put into the unit of a turn: reports, deadlines, signs
   of life, and those that begin. What is put there comes true when the unit is committed
   (attempt.c). The rules of retries and timeouts are decide's. */
#include "base/assert.h"
#include "engine/attempt_impl.h"
#include "engine/errand.h"
#include "engine/machine.h"
#include "model/limit.h"

static hf_attempt_end end_of(const hf_job *job)
{
    return (hf_attempt_end){.activity = job->activity,
                            .step = job->step,
                            .count = job->count,
                            .close_deadline_us = job->close_deadline_us,
                            .name = job->name,
                            .policy = job->policy,
                            .codec = job->result_codec ? job->result_codec : HF_PAYLOAD_CODEC_JSON};
}

/* To begin once the unit is committed. */
static hf_status retry_add(live_run *run, hf_job *job, int64_t retry_us, hf_err *err)
{
    core_start *start = hf_attempt_after(run, job, retry_us, err);

    if (!start)
        return err->status;
    start->next = run->retries;
    run->retries = start;
    return HF_OK;
}

/* Records the newest sign of life when it is time to. */
static void beat_fold(live_run *run, hf_decide *decide, hf_job *job)
{
    hf_slice progress;

    if (hf_attempt_record_due(job, decide->now_us) > decide->now_us)
        return;
    job->beat_waits = false;
    if (!hf_pool_take_beat(run->core->pool, job, hf_unit_mem(decide->unit), &progress))
        return;
    job->recorded_us = decide->now_us;
    hf_decide_heartbeat(decide,
                        &(hf_attempt_sign){.activity = job->activity,
                                           .step = job->step,
                                           .attempt = job->count.attempt,
                                           .at_us = atomic_load(&job->beat_us),
                                           .lease_until_us = hf_errand_lease_end(run->core, job),
                                           .progress = progress});
}

hf_status hf_attempt_fold_ended(live_run *run, hf_decide *decide, hf_err *err)
{
    hf_status st = HF_OK;

    for (hf_job *job = run->staged_ended; !st && job; job = job->next) {
        hf_attempt_end end = end_of(job);
        int64_t retry_us = HF_NONE;

        if (job->machine) {
            hf_machine_ended(run, job);
            continue;
        }
        beat_fold(run, decide, job);
        end.failed = job->failed;
        end.result = job->result;
        end.failure = job->failure;
        st = hf_decide_attempt(decide, &end, &retry_us, err);
        if (!st && retry_us != HF_NONE)
            st = retry_add(run, job, retry_us, err);
    }
    return st;
}

static hf_slice timeout_message(hf_timeout_kind kind)
{
    switch (kind) {
    case HF_TIMEOUT_KIND_SCHEDULE_TO_START:
        return HF_SLICE("no worker began the activity in time");
    case HF_TIMEOUT_KIND_START_TO_CLOSE:
        return HF_SLICE("the attempt took too long");
    case HF_TIMEOUT_KIND_SCHEDULE_TO_CLOSE:
        return HF_SLICE("the activity took too long, all attempts together");
    case HF_TIMEOUT_KIND_HEARTBEAT:
        return HF_SLICE("the attempt showed no sign of life in time");
    case HF_TIMEOUT_KIND_EXECUTION_TIMEOUT:
    case HF_TIMEOUT_KIND_RUN_TIMEOUT:
        break;
    }
    HF_ASSERT(false); /* those are a run's */
    return (hf_slice){0};
}

/* A job's time may be up. */
static hf_status job_due(live_run *run, hf_decide *decide, core_due *due, hf_job *job, hf_err *err)
{
    const hf_attempt_clock clock = hf_attempt_clock_job(job);
    hf_attempt_end end = end_of(job);
    int64_t retry_us = HF_NONE;
    hf_status st;

    end.timeout = hf_decide_late(&job->rules, &clock, decide->now_us);
    beat_fold(run, decide, job);
    if (!end.timeout) {
        hf_attempt_arm(run->core, job);
        return HF_OK;
    }
    end.failure.message = timeout_message(end.timeout);
    due->late = job;
    st = hf_decide_attempt(decide, &end, &retry_us, err);
    return st || retry_us == HF_NONE ? st : retry_add(run, job, retry_us, err);
}

/* Takes a start out of the waiting ones until the unit's fate is known. */
static void start_stage(live_run *run, core_start *start, int64_t retry_us)
{
    core_start **at = &run->starts;

    while (*at != start)
        at = &(*at)->next;
    *at = start->next;
    hf_errand_release(run->core, start);
    start->retry_us = retry_us;
    start->next = run->staged_late;
    run->staged_late = start;
}

static hf_status start_due(live_run *run, hf_decide *decide, core_start *start, hf_err *err)
{
    const hf_attempt_clock clock = hf_attempt_clock_start(start);
    hf_attempt_end end = end_of(start->job);
    int64_t retry_us = HF_NONE;
    hf_status st;

    end.timeout = hf_decide_late(&start->job->rules, &clock, decide->now_us);
    if (!end.timeout) {
        hf_attempt_arm_start(run->core, start);
        return HF_OK;
    }
    end.count.attempt--; /* it never began */
    end.count.missed += end.timeout == HF_TIMEOUT_KIND_SCHEDULE_TO_START;
    end.failure.message = timeout_message(end.timeout);
    st = hf_decide_attempt(decide, &end, &retry_us, err);
    if (!st)
        start_stage(run, start, retry_us);
    return st;
}

hf_status hf_attempt_fold_due(live_run *run, hf_decide *decide, core_due *due, hf_err *err)
{
    hf_job *job = hf_map_int_get(run->core->jobs, (uint64_t)due->timer);
    core_start *start = job ? NULL : hf_attempt_waiting(run, due->timer);

    due->late = NULL;
    if (job)
        return job_due(run, decide, due, job, err);
    return start ? start_due(run, decide, start, err) : HF_OK; /* else it has reported meanwhile */
}

/* Code that killed its process as often as is allowed is not run again. */
static hf_status start_quarantine(live_run *run, hf_decide *decide, core_start *start, hf_err *err)
{
    hf_attempt_end end = end_of(start->job);
    int64_t retry_us = HF_NONE;
    hf_status st;

    end.count.attempt--;
    end.failed = true;
    end.failure = (hf_decision_failure){
        .category = HF_FAILURE_CATEGORY_ACTIVITY,
        .type = HF_SLICE("quarantined"),
        .message = HF_SLICE("the process died each time it ran this activity"),
    };
    st = hf_decide_attempt(decide, &end, &retry_us, err);
    if (!st)
        start_stage(run, start, HF_NONE);
    return st;
}

hf_status hf_attempt_fold_starts(live_run *run, hf_decide *decide, hf_err *err)
{
    hf_core *core = run->core;
    int64_t crash_limit = hf_limit_get(HF_LIMIT_CRASH_LIMIT)->standard;
    core_start **at = &run->starts;
    hf_status st = HF_OK;

    while (!st && *at) {
        core_start *start = *at;
        hf_job *job = start->job;
        hf_attempt_lease lease;

        if (hf_limit_trips(HF_LIMIT_CRASH_LIMIT, crash_limit, job->count.crashes)) {
            st = start_quarantine(run, decide, start, err);
            continue;
        }
        if (job->close_deadline_us != HF_NONE && job->close_deadline_us <= decide->now_us) {
            hf_errand_release(core, start);
            at = &start->next; /* too late to begin: its alarm is due and ends it */
            continue;
        }
        if (start->offered &&
            !start->claimed) { /* nobody here knew it, and nobody elsewhere came */
            at = &start->next;
            continue;
        }
        job->definition = hf_registry_find_activity(core->o.registry, job->name);
        if (start->available_us > hf_core_now(core) ||
            (!job->definition && !hf_errand_place(run, start))) {
            at = &start->next; /* an unknown type waits for a program that knows it */
            continue;
        }
        if (job->definition && !hf_pool_reserve(core->pool)) {
            if (!hf_list_linked(&run->hunger))
                hf_list_add_last(&core->hungry, &run->hunger);
            at = &start->next;
            continue;
        }
        start->placed = job->definition != NULL;
        *at = start->next;
        start->next = run->staged_starts;
        run->staged_starts = start;
        job->started_us = decide->now_us;
        atomic_store(&job->beat_us, decide->now_us);
        lease = hf_errand_lease(core, start, decide->now_us);
        st = hf_decide_start_attempt(decide, job->activity, job->step, &job->count, job->policy,
                                     job->close_deadline_us, &lease, err);
    }
    return st;
}
