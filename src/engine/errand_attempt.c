/* errand_attempt.c: attempts of activities that only a worker in another process knows. One is on
   the record before its worker gets it, and its report is acknowledged when that is on the record
   too. */
#include <string.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/json.h"
#include "base/value.h"
#include "engine/attempt.h"
#include "engine/errand_impl.h"
#include "engine/whereabouts.h"
#include "model/envelope.h"
#include "model/limit.h"
#include "store/db.h"

enum { EARLY_TIMES = 100 }; /* turns of the core that a report waits for its run */

/* Of the attempt that a job is, or that is offered. */
static hf_task_key job_key(const hf_job *job)
{
    return (hf_task_key){.kind = HF_TASK_ACTIVITY,
                         .subject = job->activity,
                         .attempt = job->count.attempt,
                         .epoch = job->epoch};
}

static hf_slice job_queue(const live_run *run, const hf_job *job)
{
    return job->queue.ptr ? job->queue : run->info.queue;
}

static hf_task_offer job_offer(const live_run *run, const hf_job *job)
{
    return (hf_task_offer){.key = job_key(job),
                           .run = run->key,
                           .shard = run->base.shard,
                           .namespace_key = run->info.namespace_key,
                           .queue = job_queue(run, job),
                           .type = job->name,
                           .workflow_id = run->info.instance_id,
                           .run_id = hf_slice_of(run->run_id),
                           .task_id = hf_slice_of(job->idempotency_key)};
}

bool hf_errand_attempt_give_up(hf_core *core, const hf_task_lease *lease)
{
    hf_job *job = hf_map_int_get(core->jobs, (uint64_t)lease->key.subject);
    const hf_task_key key = job ? job_key(job) : (hf_task_key){0};

    if (!job || !job->far || job->ticket || !hf_task_key_equal(&key, &lease->key))
        return false;
    hf_attempt_lost(core, job);
    return true;
}

/* ---- starts */

bool hf_errand_place(live_run *run, core_start *start)
{
    hf_core *core = run->core;
    hf_job *job = start->job;
    hf_task_holder holder;
    hf_task_offer offer;
    hf_err err = {0};
    hf_status st;

    if (!core->o.matching)
        return false;
    job->epoch = run->epoch;
    job->namespace_key = run->info.namespace_key;
    offer = job_offer(run, job);
    st = hf_matching_offer(core->o.matching, &offer, &start->claimed, &holder, &err);
    start->offered = !st;
    if (!st && start->claimed) {
        hf_slice worker = hf_slice_of(holder.worker);

        start->lease_us = holder.lease_us;
        start->worker = hf_slice_from(hf_mem_text(job->mem, worker), worker.len);
        if (!start->worker.ptr)
            st = hf_err_nomem(&err, "a task");
    }
    if (st)
        hf_core_fail(core, st, &err);
    return !st && start->claimed;
}

/* Of an attempt that is handed out with the unit that schedules its activity. */
static hf_task_key effect_key(const hf_effect *effect)
{
    return (hf_task_key){
        .kind = HF_TASK_ACTIVITY, .subject = effect->key, .attempt = 1, .epoch = effect->epoch};
}

bool hf_errand_hand(live_run *run, hf_mem *mem, hf_effect *io_effect)
{
    hf_core *core = run->core;
    const hf_ulid id = hf_ulid_form(io_effect->scheduled_us, io_effect->key, 0);
    char task_id[HF_ULID_TEXT_SIZE];
    hf_task_holder holder;
    hf_task_offer offer;
    bool claimed = false;
    hf_slice worker;
    hf_err err;

    if (!core->o.matching || run->paused || io_effect->attempts)
        return false;
    hf_ulid_print(&id, task_id);
    io_effect->epoch = run->epoch;
    offer = (hf_task_offer){.key = effect_key(io_effect),
                            .run = run->key,
                            .shard = run->base.shard,
                            .namespace_key = run->info.namespace_key,
                            .queue = io_effect->queue.ptr ? io_effect->queue : run->info.queue,
                            .type = io_effect->name,
                            .workflow_id = run->info.instance_id,
                            .run_id = hf_slice_of(run->run_id),
                            .task_id = hf_slice_of(task_id),
                            .now = true};
    if (hf_matching_offer(core->o.matching, &offer, &claimed, &holder, &err) || !claimed)
        return false;
    worker = hf_slice_of(hf_mem_text(mem, hf_slice_of(holder.worker)));
    if (!worker.ptr) {
        hf_matching_withdraw(core->o.matching, &offer.key);
        return false;
    }
    io_effect->lease_us =
        holder.lease_us ? holder.lease_us : core->o.settings->activity_lease_ms * 1000;
    io_effect->lease = (hf_attempt_lease){
        .owner = worker, .until_us = io_effect->scheduled_us + io_effect->lease_us};
    return true;
}

void hf_errand_hand_back(hf_core *core, const hf_effect *effect)
{
    const hf_task_key key = effect_key(effect);

    if (effect->lease.owner.ptr)
        hf_matching_withdraw(core->o.matching, &key);
}

void hf_errand_handed(live_run *run, core_start *start, const hf_effect *effect)
{
    start->job->epoch = effect->epoch;
    start->job->namespace_key = run->info.namespace_key;
    start->lease_us = effect->lease_us;
    start->until_us = effect->lease.until_us;
    start->worker = effect->lease.owner;
    hf_errand_start(run, start);
}

bool hf_errand_attempt_claimed(live_run *run, const hf_task_key *key)
{
    core_start *start = hf_attempt_waiting(run, key->subject);
    const hf_task_key offered = start ? job_key(start->job) : (hf_task_key){0};

    if (!start || !start->offered || run->paused || !hf_task_key_equal(&offered, key))
        return false;
    start->claimed = true; /* the next turn puts it on the record */
    hf_core_ready(run->core, run);
    return true;
}

void hf_errand_release(hf_core *core, core_start *start)
{
    const hf_task_key key = job_key(start->job);

    if (start->offered)
        hf_matching_withdraw(core->o.matching, &key);
    start->offered = false;
    start->claimed = false;
}

void hf_errand_hold(live_run *run)
{
    for (core_start *start = run->starts; start; start = start->next)
        hf_errand_release(run->core, start);
}

/* ---- tasks */

static hf_status payload_value(hf_mem *mem, hf_payload_codec codec, hf_slice bytes,
                               hf_value *out_value)
{
    const hf_decision_payload payload = {.codec = codec ? codec : HF_PAYLOAD_CODEC_JSON,
                                         .bytes = bytes};
    hf_err err;

    return hf_envelope_write(mem, &payload, HF_PAYLOAD_CODEC_AVRO, out_value, &err);
}

static hf_value json_value(hf_mem *mem, hf_slice json)
{
    hf_value value = hf_value_null();
    hf_err err;

    if (json.len && hf_json_read(mem, json, NULL, &value, &err))
        return NULL;
    return value;
}

static hf_value attempt_task(hf_mem *mem, const live_run *run, const hf_job *job, hf_slice worker,
                             int64_t until_us)
{
    hf_value_list *task =
        hf_errand_task(mem, run, HF_TASK_ACTIVITY, worker, job_queue(run, job), until_us);
    hf_value arguments = NULL;
    hf_ulid id;

    hf_value_set_text(task, "task_id", hf_slice_of(job->idempotency_key));
    hf_value_set_text(task, "idempotency_key", hf_slice_of(job->idempotency_key));
    if (hf_ulid_parse(hf_slice_of(job->idempotency_key), &id))
        hf_value_set(task, HF_SLICE("activity_attempt_id"),
                     hf_errand_id(mem, hf_ulid_time_ms(&id) * 1000, job->activity,
                                  (uint32_t)job->count.attempt));
    hf_value_set_int(task, "attempt_number", job->count.attempt);
    hf_value_set_text(task, "activity_type", job->name);
    hf_value_set_text(task, "stored_codec",
                      job->input_codec == HF_PAYLOAD_CODEC_AVRO ? HF_SLICE("avro")
                                                                : HF_SLICE("json"));
    if (payload_value(mem, job->input_codec, job->input, &arguments))
        arguments = NULL;
    hf_value_set(task, HF_SLICE("arguments"), arguments);
    hf_value_set(task, HF_SLICE("retry_policy"), json_value(mem, job->policy));
    hf_value_set(task, HF_SLICE("last_progress"), json_value(mem, job->last_progress));
    return hf_value_finish(task);
}

hf_attempt_lease hf_errand_lease(const hf_core *core, core_start *start, int64_t now_us)
{
    if (!start->claimed)
        return (hf_attempt_lease){.until_us = HF_NONE};
    if (!start->lease_us)
        start->lease_us = core->o.settings->activity_lease_ms * 1000;
    start->until_us = now_us + start->lease_us;
    return (hf_attempt_lease){.owner = start->worker, .until_us = start->until_us};
}

void hf_errand_start(live_run *run, core_start *start)
{
    hf_core *core = run->core;
    hf_job *job = start->job;
    const hf_task_key key = job_key(job);
    hf_mem *mem = NULL;
    hf_value task = NULL;
    hf_err err = {0};

    job->far = true;
    job->lease_us = start->lease_us;
    if (hf_map_int_put(core->jobs, (uint64_t)job->activity, job, NULL, &err)) {
        hf_matching_withdraw(core->o.matching, &key);
        hf_job_free(job);
        hf_core_fail(core, HF_NOMEM, &err);
        return;
    }
    mem = hf_mem_new_small();
    if (mem)
        task = attempt_task(mem, run, job, start->worker, start->until_us);
    if (hf_matching_deliver(core->o.matching, &key, start->lease_us, start->until_us, mem, task))
        hf_attempt_arm(core, job);
    else
        hf_attempt_lost(core, job);
}

/* ---- leases */

hf_status hf_errand_found(live_run *run, hf_job *job, hf_slice owner, int64_t lease_until_us,
                          hf_err *err)
{
    hf_core *core = run->core;
    int64_t lease_us = core->o.settings->activity_lease_ms * 1000;
    int64_t until_us = lease_until_us == HF_NONE ? hf_core_now(core) + lease_us : lease_until_us;
    hf_task_offer offer;
    hf_status st;

    job->far = true;
    job->epoch = run->epoch;
    job->namespace_key = run->info.namespace_key;
    job->lease_us = lease_us;
    offer = job_offer(run, job);
    st = hf_matching_resume(core->o.matching, &offer, owner, lease_us, until_us, err);
    if (st)
        return st;
    st = hf_map_int_put(core->jobs, (uint64_t)job->activity, job, NULL, err);
    if (st)
        hf_errand_attempt_end(core, job, HF_TASK_WITHDRAW);
    else
        hf_attempt_arm(core, job);
    return st;
}

int64_t hf_errand_lease_end(const hf_core *core, const hf_job *job)
{
    const hf_task_key key = job_key(job);
    hf_task_holder holder;

    return job->far && hf_matching_leased(core->o.matching, &key, &holder) ? holder.until_us
                                                                           : (int64_t)HF_NONE;
}

hf_slice hf_errand_holder(const hf_core *core, const hf_job *job, hf_mem *mem)
{
    const hf_task_key key = job_key(job);
    hf_task_holder holder;

    return job->far && hf_matching_leased(core->o.matching, &key, &holder) && holder.worker[0]
               ? hf_slice_of(hf_mem_text(mem, hf_slice_of(holder.worker)))
               : (hf_slice){0};
}

void hf_errand_attempt_end(hf_core *core, const hf_job *job, hf_task_move how)
{
    const hf_task_key key = job_key(job);

    if (job->far)
        hf_matching_end(core->o.matching, &key, how);
}

void hf_errand_reported(hf_core *core, hf_job *job)
{
    hf_ticket *ticket = job->ticket;

    job->ticket = NULL;
    hf_errand_attempt_end(core, job, HF_TASK_REPORT);
    if (ticket)
        hf_ticket_end(ticket, HF_OK, "", "");
}

static bool result_keep(hf_job *job, const hf_ticket *ticket)
{
    hf_mem *mem = job->mem;

    job->failed = ticket->what == HF_TICKET_FAILURE;
    job->result_codec = ticket->result.codec;
    if (ticket->result.bytes.ptr)
        job->result =
            hf_slice_from(hf_mem_text(mem, ticket->result.bytes), ticket->result.bytes.len);
    if (ticket->result.bytes.ptr && !job->result.ptr)
        return false;
    if (!job->failed)
        return true;
    job->failure = ticket->failure;
    job->failure.type =
        hf_slice_from(hf_mem_text(mem, ticket->failure.type), ticket->failure.type.len);
    job->failure.message =
        hf_slice_from(hf_mem_text(mem, ticket->failure.message), ticket->failure.message.len);
    if (ticket->failure.details.bytes.ptr)
        job->failure.details.bytes = hf_slice_from(hf_mem_text(mem, ticket->failure.details.bytes),
                                                   ticket->failure.details.bytes.len);
    return job->failure.type.ptr && job->failure.message.ptr &&
           (!ticket->failure.details.bytes.ptr || job->failure.details.bytes.ptr);
}

/* The run closed, or went to another node, before the report was committed. */
static void report_drop(hf_job *job)
{
    hf_ticket *ticket = job->ticket;
    hf_run_base base;
    hf_err err;

    job->ticket = NULL;
    if (!ticket)
        return;
    hf_errand_attempt_end(ticket->core, job, HF_TASK_WITHDRAW);
    if (hf_run_base_get(ticket->core->db, job->run, &base, &err)) {
        hf_ticket_elsewhere(ticket);
    } else if (base.closed_us != HF_NONE) {
        hf_ticket_end(ticket, HF_REJECTED, "run_closed", "the run is closed");
    } else {
        ticket->shard = base.shard;
        hf_ticket_elsewhere(ticket);
    }
}

/* The row of the attempt that is reported on: the run that it is of. False: that attempt is not the
   newest, or another node has it. */
static bool attempt_run(const hf_core *core, const hf_ticket *ticket, int64_t *out_run)
{
    const hf_db_value params[] = {hf_db_int(ticket->key), hf_db_int(ticket->namespace_key)};
    hf_db_cursor *cursor = NULL;
    bool row = false;
    bool ours;
    hf_err err;

    ours = !hf_db_query(core->db, HF_STMT_ACTIVITY_FIND, params, 2, &cursor, &err) &&
           !hf_db_step(cursor, &row, &err) && row && hf_db_column_null(cursor, 8) &&
           hf_db_column_int(cursor, 4) == ticket->attempt &&
           (!core->o.shards ||
            hf_shards_epoch(core->o.shards, hf_db_column_int(cursor, 9)) != HF_NONE);
    if (ours)
        *out_run = hf_db_column_int(cursor, 1);
    hf_db_end(cursor);
    return ours;
}

/* The start behind a lost attempt whose worker lives after all; NULL: it has begun, or the attempt
   is another's. */
static core_start *start_late(hf_core *core, const hf_ticket *ticket, live_run **out_run)
{
    int64_t key = 0;
    core_start *start;

    if (!attempt_run(core, ticket, &key))
        return NULL;
    *out_run = hf_map_int_get(core->runs, (uint64_t)key);
    start = *out_run ? hf_attempt_waiting(*out_run, ticket->key) : NULL;
    return start && start->former.ptr && start->job->count.attempt == ticket->attempt + 1 &&
                   (!ticket->worker.ptr || hf_slice_equal(start->former, ticket->worker))
               ? start
               : NULL;
}

/* The loss did not happen: the job that was to follow is the attempt that reports. */
static hf_job *start_take_back(live_run *run, core_start *start)
{
    core_start **at = &run->starts;
    hf_job *job = start->job;

    while (*at != start)
        at = &(*at)->next;
    *at = start->next;
    hf_errand_release(run->core, start);
    hf_alloc_free(start);
    job->count.attempt--;
    job->count.lost--;
    job->far = true;
    return job;
}

/* True: the report is of an attempt that was held for lost, and is taken. */
static bool report_late(hf_core *core, hf_ticket *ticket)
{
    live_run *run = NULL;
    core_start *start = start_late(core, ticket, &run);
    hf_job *job;

    if (!start)
        return false;
    if (ticket->what == HF_TICKET_CRASH) {
        hf_attempt_crashed_late(run, start);
        hf_ticket_end(ticket, HF_OK, "", "");
        return true;
    }
    if (ticket->what == HF_TICKET_BEAT) { /* it may go on until somebody else begins */
        hf_ticket_end(ticket, HF_OK, "", "");
        return true;
    }
    if (!result_keep(start->job, ticket)) {
        hf_ticket_end(ticket, HF_NOMEM, "no_memory", "try again");
        return true;
    }
    job = start_take_back(run, start);
    job->ticket = ticket;
    job->dropped = report_drop;
    hf_core_job_ended(core, job);
    return true;
}

void hf_errand_attempt_report(hf_core *core, hf_ticket *ticket)
{
    hf_job *job = hf_map_int_get(core->jobs, (uint64_t)ticket->key);
    live_run *run = job && job->far ? hf_core_live(core, job->run) : NULL;
    const hf_task_key key = job ? job_key(job) : (hf_task_key){0};
    hf_task_holder holder;

    if (!job && report_late(core, ticket))
        return;
    if (!run && hf_whereabouts_elsewhere(core, ticket)) {
        hf_ticket_elsewhere(ticket);
        return;
    }
    if (!run || job->namespace_key != ticket->namespace_key ||
        !hf_matching_leased(core->o.matching, &key, &holder)) {
        hf_ticket_end(ticket, HF_REJECTED, "attempt_closed",
                      "nothing is known of a running attempt");
        return;
    }
    if (!hf_fault_planted(HF_PLANT_STALE_CLAIM) &&
        (job->count.attempt != ticket->attempt ||
         (holder.worker[0] && ticket->worker.ptr &&
          !hf_slice_equal(hf_slice_of(holder.worker), ticket->worker)))) {
        hf_ticket_end(ticket, HF_REJECTED, "stale_attempt", "another attempt is running");
        return;
    }
    if (ticket->what == HF_TICKET_CRASH && !job->ticket) {
        hf_attempt_crashed(core, job);
        hf_ticket_end(ticket, HF_OK, "", "");
        return;
    }
    (void)hf_matching_extend(core->o.matching, &key,
                             ticket->what == HF_TICKET_BEAT ? hf_core_now(core) + holder.lease_us
                                                            : holder.until_us);
    if (ticket->what == HF_TICKET_BEAT) {
        hf_pool_beat_far(core->pool, job, ticket->progress);
        hf_attempt_arm(core, job);
        hf_ticket_end(ticket, HF_OK, "", "");
        return;
    }
    if (!result_keep(job, ticket)) {
        hf_ticket_end(ticket, HF_NOMEM, "no_memory", "try again");
        return;
    }
    job->ticket = ticket;
    job->dropped = report_drop;
    hf_core_job_ended(core, job);
}

bool hf_errand_attempt_early(hf_core *core, hf_ticket *ticket)
{
    live_run *run;
    int64_t key = 0;

    if (ticket->kind == HF_TASK_WORKFLOW || hf_map_int_get(core->jobs, (uint64_t)ticket->key) ||
        ticket->early++ >= EARLY_TIMES || !attempt_run(core, ticket, &key))
        return false;
    run = hf_core_live(core, key);
    if (!run || run->replay)
        return false;
    hf_core_ready(core, run);
    return true;
}

bool hf_errand_attempt_back(hf_core *core, const hf_ticket *ticket)
{
    hf_job *job = hf_map_int_get(core->jobs, (uint64_t)ticket->key);
    const hf_task_key key = job ? job_key(job) : (hf_task_key){0};
    hf_task_holder holder;
    live_run *run;

    if (!job || !job->far || job->ticket || job->count.attempt != ticket->attempt ||
        !hf_matching_leased(core->o.matching, &key, &holder) ||
        !hf_slice_equal(hf_slice_of(holder.worker), ticket->worker))
        return false;
    run = hf_core_live(core, job->run);
    if (!run || job->namespace_key != ticket->namespace_key)
        return false;
    hf_attempt_lost(core, job);
    return true;
}
