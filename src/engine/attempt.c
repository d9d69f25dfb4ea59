/* attempt.c: see attempt.h. Who stands where. */
#include "engine/attempt_impl.h"

#include <string.h>

#include "base/alloc.h"
#include "engine/errand.h"
#include "model/policy.h"

#define BEAT_RECORD_US_MAX INT64_C(10000000)

/* ---- on the clock */

hf_attempt_clock hf_attempt_clock_job(const hf_job *job)
{
    return (hf_attempt_clock){.running = true,
                              .since_us = job->started_us,
                              .beat_us = atomic_load(&job->beat_us),
                              .close_deadline_us = job->close_deadline_us};
}

hf_attempt_clock hf_attempt_clock_start(const core_start *start)
{
    return (hf_attempt_clock){.since_us = start->available_us,
                              .close_deadline_us = start->job->close_deadline_us};
}

int64_t hf_attempt_record_due(const hf_job *job, int64_t now_us)
{
    int64_t pause_us = BEAT_RECORD_US_MAX;

    if (job->recorded_us == HF_NONE)
        return now_us;
    if (job->rules.heartbeat_ms && job->rules.heartbeat_ms * 1000 / 3 < pause_us)
        pause_us = job->rules.heartbeat_ms * 1000 / 3;
    if (job->far && job->lease_us / 3 < pause_us)
        pause_us = job->lease_us / 3;
    return job->recorded_us + pause_us;
}

static void activity_arm(hf_core *core, const hf_job *job, int64_t due_us)
{
    const core_alarm alarm = {
        .kind = CORE_ALARM_ATTEMPT, .run = job->run, .key = job->activity, .step = job->step};

    if (due_us == HF_NONE)
        hf_core_disarm(core, job->activity);
    else
        (void)hf_core_alarm_move(core, &alarm, due_us);
}

void hf_attempt_arm(hf_core *core, const hf_job *job)
{
    const hf_attempt_clock clock = hf_attempt_clock_job(job);
    int64_t lease_us = hf_errand_lease_end(core, job);
    int64_t due_us = hf_decide_due(&job->rules, &clock);

    if (job->beat_waits) {
        int64_t record_us = hf_attempt_record_due(job, hf_core_now(core));

        due_us = due_us == HF_NONE || record_us < due_us ? record_us : due_us;
    }
    if (lease_us != HF_NONE && (due_us == HF_NONE || lease_us < due_us))
        due_us = lease_us;
    activity_arm(core, job, due_us);
}

void hf_attempt_arm_start(hf_core *core, const core_start *start)
{
    const hf_attempt_clock clock = hf_attempt_clock_start(start);
    int64_t due_us = hf_decide_due(&start->job->rules, &clock);

    if (start->available_us > hf_core_now(core) &&
        (due_us == HF_NONE || start->available_us < due_us))
        due_us = start->available_us;
    activity_arm(core, start->job, due_us);
}

/* ---- jobs and starts */

/* Texts and policy of a job, in its own arena. */
static hf_status job_fill(hf_job *job, hf_slice name, hf_slice policy, hf_slice input, hf_err *err)
{
    job->name = hf_slice_of(hf_mem_text(job->mem, name));
    job->policy = hf_slice_from(hf_mem_text(job->mem, policy), policy.len);
    if (input.ptr)
        job->input = hf_slice_from(hf_mem_text(job->mem, input), input.len);
    if (!job->name.ptr || !job->policy.ptr || (input.ptr && !job->input.ptr))
        return hf_err_nomem(err, "an activity");
    return hf_policy_read(job->mem, job->policy, &job->rules, err);
}

static hf_status job_route(hf_job *job, hf_slice queue, hf_payload_codec codec, hf_err *err)
{
    job->input_codec = codec;
    if (queue.ptr)
        job->queue = hf_slice_from(hf_mem_text(job->mem, queue), queue.len);
    return queue.ptr && !job->queue.ptr ? hf_err_nomem(err, "an activity") : HF_OK;
}

core_start *hf_attempt_waiting(const live_run *run, int64_t activity)
{
    core_start *start = run->starts;

    while (start && start->job->activity != activity)
        start = start->next;
    return start;
}

static hf_job *ended_find(hf_job *job, int64_t activity)
{
    while (job && job->activity != activity)
        job = job->next;
    return job;
}

static void start_free(hf_core *core, core_start *start)
{
    hf_errand_release(core, start);
    hf_job_free(start->job);
    hf_alloc_free(start);
}

/* The start waits until it may begin, or for a place. */
static void start_wait(live_run *run, core_start *start)
{
    start->placed = false;
    start->next = run->starts;
    run->starts = start;
    hf_attempt_arm_start(run->core, start);
}

/* The same outside a turn: a start that may begin needs one. */
static void start_offer(live_run *run, core_start *start)
{
    start_wait(run, start);
    if (start->available_us <= hf_core_now(run->core))
        hf_core_ready(run->core, run);
}

bool hf_attempt_fault(hf_core_fault *fault, hf_job *job)
{
    for (; fault; fault = fault->next) {
        if (fault->times > 0 && hf_slice_equal(hf_slice_of(fault->activity), job->name)) {
            fault->times--;
            job->failed = true;
            job->failure = (hf_decision_failure){
                .category = HF_FAILURE_CATEGORY_ACTIVITY,
                .type = hf_slice_of(hf_mem_text(job->mem, hf_slice_of(fault->type))),
                .message = HF_SLICE("injected by a test"),
                .retryable = true};
            return true;
        }
    }
    return false;
}

static bool fault_take(hf_core *core, hf_job *job)
{
    return core->o.faults && hf_attempt_fault(*core->o.faults, job);
}

hf_status hf_attempt_local(live_run *run, const hf_decision_row *row, hf_ulid id, hf_job **out_job,
                           bool *out_lost, hf_err *err)
{
    hf_core *core = run->core;
    hf_job *job = hf_job_new();
    hf_status st = job ? job_fill(job, row->name, (hf_slice){0}, row->value.bytes, err)
                       : hf_err_nomem(err, "an activity");

    if (!st)
        st = job_route(job, (hf_slice){0}, row->value.codec, err);
    if (st) {
        hf_job_free(job);
        return st;
    }
    job->run = run->key;
    job->step = row->step;
    job->count.attempt = 1;
    job->payload_max = hf_limits_get(core->o.limits, HF_LIMIT_PAYLOAD_SIZE_BYTES);
    job->definition = hf_registry_find_activity(core->o.registry, row->name);
    hf_ulid_print(&id, job->idempotency_key);
    *out_job = job;
    if (fault_take(core, job))
        return HF_OK;
    hf_core_enter(core, run);
    hf_job_run(job);
    *out_lost = !hf_core_exit(core, run);
    return HF_OK;
}

/* The attempt is on the record: now it may run. */
static void job_start(live_run *run, hf_job *job)
{
    hf_core *core = run->core;
    hf_err err;

    if (fault_take(core, job)) {
        hf_pool_release(core->pool);
        job->next = run->ended;
        run->ended = job;
        hf_core_ready(core, run);
        return;
    }
    if (hf_map_int_put(core->jobs, (uint64_t)job->activity, job, NULL, &err)) {
        hf_pool_release(core->pool);
        hf_job_free(job);
        hf_core_fail(core, HF_NOMEM, &err);
        return;
    }
    hf_attempt_arm(core, job);
    hf_pool_submit(core->pool, job);
}

core_start *hf_attempt_after(live_run *run, hf_job *job, int64_t available_us, hf_err *err)
{
    core_start *start = hf_alloc(sizeof(*start));
    hf_job *again = start ? hf_job_new() : NULL;
    hf_status st;

    if (!again) {
        hf_alloc_free(start);
        (void)hf_err_nomem(err, "another attempt");
        return NULL;
    }
    again->run = job->run;
    again->activity = job->activity;
    again->step = job->step;
    again->count = job->count;
    again->count.attempt++;
    again->close_deadline_us = job->close_deadline_us;
    again->last_progress = hf_pool_progress(run->core->pool, job, again->mem);
    again->definition = job->definition;
    memcpy(again->idempotency_key, job->idempotency_key, sizeof(again->idempotency_key));
    st = job_fill(again, job->name, job->policy, job->input, err);
    if (!st)
        st = job_route(again, job->queue, job->input_codec, err);
    if (st) {
        hf_job_free(again);
        hf_alloc_free(start);
        return NULL;
    }
    *start = (core_start){.job = again, .available_us = available_us};
    return start;
}

/* ---- after the unit */

/* A job of the pool comes back and is freed then; nobody brings one back that was handed out. */
void hf_attempt_stop(hf_core *core, hf_job *job)
{
    hf_errand_attempt_end(core, job, HF_TASK_WITHDRAW);
    if (job->far)
        hf_job_free(job);
    else
        atomic_store(&job->stop, true);
}

/* The attempt has timed out on the record. Its place in the pool stays taken until it returns. */
static void late_drop(live_run *run, const core_due *due)
{
    hf_core *core = run->core;
    hf_job **at = &run->ended;

    if (hf_map_int_get(core->jobs, (uint64_t)due->timer) == due->late) {
        (void)hf_map_int_remove(core->jobs, (uint64_t)due->timer);
        hf_attempt_stop(core, due->late);
        return;
    }
    while (*at && *at != due->late) /* it reported while the unit was under way: too late */
        at = &(*at)->next;
    if (*at) {
        *at = due->late->next;
        hf_job_free(due->late);
    }
}

void hf_attempt_committed(live_run *run)
{
    core_start *start;
    hf_job *job;

    while ((job = run->staged_ended)) {
        run->staged_ended = job->next;
        hf_errand_reported(run->core, job);
        hf_job_free(job);
    }
    for (core_due *due = run->staged_due; due; due = due->next)
        if (due->late)
            late_drop(run, due);
    while ((start = run->staged_starts)) {
        run->staged_starts = start->next;
        if (start->claimed)
            hf_errand_start(run, start);
        else
            job_start(run, start->job);
        hf_alloc_free(start);
    }
    while ((start = run->staged_late)) {
        run->staged_late = start->next;
        if (start->retry_us == HF_NONE) {
            start_free(run->core, start);
            continue;
        }
        start->job->count.missed++;
        start->available_us = start->retry_us;
        start_offer(run, start);
    }
    while ((start = run->retries)) {
        run->retries = start->next;
        start_offer(run, start);
    }
}

void hf_attempt_abandoned(live_run *run)
{
    core_start *start;
    hf_job *job;

    while ((job = run->staged_ended)) {
        run->staged_ended = job->next;
        job->next = run->ended;
        run->ended = job;
    }
    while ((start = run->staged_starts)) {
        run->staged_starts = start->next;
        if (start->placed)
            hf_pool_release(run->core->pool);
        start->placed = false;
        start->next = run->starts;
        run->starts = start;
    }
    while ((start = run->staged_late)) {
        run->staged_late = start->next;
        start->next = run->starts;
        run->starts = start;
    }
    while ((start = run->retries)) {
        run->retries = start->next;
        start_free(run->core, start);
    }
}

void hf_attempt_scheduled(live_run *run, const hf_effect *effect)
{
    hf_core *core = run->core;
    core_start *start = hf_alloc(sizeof(*start));
    hf_job *job = start ? hf_job_new() : NULL;
    hf_err err = {0};
    hf_status st;
    hf_ulid id;

    st = job ? job_fill(job, effect->name, effect->policy, effect->input, &err)
             : hf_err_nomem(&err, "an activity");
    if (!st)
        st = job_route(job, effect->queue, effect->codec, &err);
    if (st) {
        hf_errand_hand_back(core, effect);
        hf_job_free(job);
        hf_alloc_free(start);
        hf_core_fail(core, st, &err);
        return;
    }
    id = hf_ulid_form(effect->scheduled_us, effect->key, 0);
    hf_ulid_print(&id, job->idempotency_key);
    job->run = effect->run;
    job->activity = effect->key;
    job->step = effect->step;
    job->count.attempt = effect->attempts + 1;
    job->close_deadline_us = effect->close_deadline_us;
    job->started_us = effect->scheduled_us;
    atomic_store(&job->beat_us, effect->scheduled_us);
    job->definition = hf_registry_find_activity(core->o.registry, effect->name);
    *start = (core_start){
        .job = job, .available_us = effect->attempts ? effect->available_us : effect->scheduled_us};
    if (!effect->started && !effect->lease.owner.ptr) {
        start_offer(run, start);
        return;
    }
    if (effect->started)
        job_start(run, job);
    else
        hf_errand_handed(run, start, effect);
    hf_alloc_free(start);
}

/* ---- from outside a turn */

static void return_done(hf_unit *unit, void *ctx)
{
    (void)ctx;
    hf_unit_free(unit);
}

/* Says in the store that nobody has the attempt before this start. When that fails the row says so
   only once the start begins: a restart in between would wait for the worker. */
static void return_record(hf_core *core, const core_start *start)
{
    const hf_job *job = start->job;
    const hf_attempt_clock clock = hf_attempt_clock_start(start);
    hf_unit *unit = hf_unit_new(return_done, NULL);
    hf_status st;

    if (!unit)
        return;
    hf_unit_row(unit, 0,
                hf_row_activity_return(hf_unit_mem(unit), job->activity, job->count.attempt - 1,
                                       job->count.lost, hf_decide_due(&job->rules, &clock),
                                       start->available_us));
    st = hf_unit_seal(unit, &core->stager, NULL);
    if (!st)
        st = hf_writer_offer(core->o.writer, unit, NULL);
    if (st)
        hf_unit_free(unit);
}

void hf_attempt_crashed_late(live_run *run, core_start *start)
{
    start->job->count.crashes++;
    start->former = (hf_slice){0}; /* there is nobody who could report */
    hf_core_ready(run->core, run);
}

void hf_attempt_lost(hf_core *core, hf_job *job)
{
    live_run *run = hf_core_live(core, job->run);
    core_start *start = NULL;
    hf_err err = {0};

    if (run)
        start = hf_attempt_after(run, job, hf_core_now(core), &err);
    if (!start) {
        hf_core_fail(core, HF_NOMEM, &err);
        return;
    }
    start->job->count.lost++;
    start->former = hf_errand_holder(core, job, start->job->mem);
    return_record(core, start);
    hf_errand_attempt_end(core, job, HF_TASK_EXPIRE);
    (void)hf_map_int_remove(core->jobs, (uint64_t)job->activity);
    hf_job_free(job);
    start_offer(run, start);
}

void hf_attempt_crashed(hf_core *core, hf_job *job)
{
    job->count.crashes++;
    hf_attempt_lost(core, job);
}

bool hf_attempt_is_late(hf_core *core, int64_t run, int64_t activity)
{
    const hf_job *job = hf_map_int_get(core->jobs, (uint64_t)activity);
    live_run *live = hf_map_int_get(core->runs, (uint64_t)run);
    const core_start *start = !job && live ? hf_attempt_waiting(live, activity) : NULL;
    hf_attempt_clock clock;

    if (!job && !start)
        return true;
    clock = job ? hf_attempt_clock_job(job) : hf_attempt_clock_start(start);
    return hf_decide_late(job ? &job->rules : &start->job->rules, &clock, hf_core_now(core)) != 0;
}

bool hf_attempt_alarm(hf_core *core, int64_t activity)
{
    hf_job *job = hf_map_int_get(core->jobs, (uint64_t)activity);
    hf_attempt_clock clock;
    int64_t now_us = hf_core_now(core);
    int64_t lease_us;

    if (!job)
        return true; /* it waits, or its run has to be looked at */
    clock = hf_attempt_clock_job(job);
    lease_us = hf_errand_lease_end(core, job);
    if (!hf_decide_late(&job->rules, &clock, now_us) && lease_us != HF_NONE && lease_us <= now_us) {
        hf_attempt_lost(core, job);
        return false;
    }
    if (hf_decide_late(&job->rules, &clock, now_us) ||
        (job->beat_waits && hf_attempt_record_due(job, now_us) <= now_us))
        return true;
    hf_attempt_arm(core, job); /* a sign of life moved the deadline */
    return false;
}

void hf_attempt_beat(hf_core *core, int64_t activity, int64_t attempt)
{
    hf_job *job = hf_map_int_get(core->jobs, (uint64_t)activity);

    if (!job || job->count.attempt != attempt)
        return;
    job->beat_waits = true;
    hf_attempt_arm(core, job);
}

void hf_attempt_stop_all(hf_core *core, int64_t run)
{
    bool again = true;

    while (again) { /* a removal may move what is behind it */
        size_t at = 0;
        uint64_t key;
        void *item;

        again = false;
        while (!again && hf_map_int_next(core->jobs, &at, &key, &item)) {
            hf_job *job = item;

            again = job->run == run;
            if (!again)
                continue;
            (void)hf_map_int_remove(core->jobs, key);
            hf_core_disarm(core, job->activity);
            hf_attempt_stop(core, job);
        }
    }
}

hf_status hf_attempt_found(live_run *run, hf_db_cursor *row, hf_err *err)
{
    hf_core *core = run->core;
    int64_t activity = hf_db_column_int(row, 0);
    bool lost = hf_db_column_int(row, 3) == HF_ACTIVITY_STATUS_RUNNING;
    core_start *start;
    hf_job *job;
    hf_status st;

    if (hf_map_int_get(core->jobs, (uint64_t)activity) || hf_attempt_waiting(run, activity) ||
        ended_find(run->ended, activity))
        return HF_OK;
    start = hf_alloc(sizeof(*start));
    job = start ? hf_job_new() : NULL;
    st = job ? job_fill(job, hf_db_column_bytes(row, 2), hf_db_column_bytes(row, 7), (hf_slice){0},
                        err)
             : hf_err_nomem(err, "an activity");
    if (st) {
        hf_job_free(job);
        hf_alloc_free(start);
        return st;
    }
    job->run = run->key;
    job->activity = activity;
    job->step = hf_db_column_int(row, 1);
    job->count = (hf_attempt_count){.attempt = hf_db_column_int(row, 4) + 1,
                                    .lost = hf_db_column_int(row, 5) + lost,
                                    .crashes = hf_db_column_int(row, 10) +
                                               (lost && hf_breadcrumb_left(core->crumb, activity)),
                                    .missed = hf_db_column_int(row, 11)};
    job->close_deadline_us = hf_column_or_none(row, 6);
    if (lost && core->o.matching && !hf_registry_find_activity(core->o.registry, job->name)) {
        hf_alloc_free(start); /* its worker is in another process and may be alive */
        job->count.attempt--;
        job->count.lost--;
        job->started_us = hf_core_now(core);
        atomic_store(&job->beat_us, job->started_us);
        st =
            hf_errand_found(run, job, hf_db_column_bytes(row, 12), hf_column_or_none(row, 13), err);
        if (st)
            hf_job_free(job);
        return st;
    }
    start->job = job;
    if (!lost && !hf_db_column_null(row, 12))
        start->former = hf_slice_of(hf_mem_text(job->mem, hf_db_column_bytes(row, 12)));
    start->available_us = hf_db_column_null(row, 8) ? hf_core_now(core) : hf_db_column_int(row, 8);
    start_wait(run, start);
    return HF_OK;
}
