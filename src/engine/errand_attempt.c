/* errand_attempt.c: attempts of activities that only a worker in another process knows. One is on
   the record before its worker gets it, and its report is acknowledged when that is on the record
   too. */
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/value.h"
#include "engine/attempt.h"
#include "engine/errand_impl.h"
#include "engine/whereabouts.h"
#include "model/envelope.h"
#include "model/limit.h"
#include "store/db.h"

enum { EARLY_TIMES = 100 }; /* turns of the core that a report waits for its run */

/* Whether an attempt is the worker's, and not reported on. */
static bool attempt_held(hf_core *core, const hf_job *job, int64_t namespace_key, hf_slice worker,
                         bool unheard)
{
    live_run *run =
        job->far && !job->ticket && (job->unheard || !unheard) && hf_slice_equal(job->owner, worker)
            ? hf_core_live(core, job->run)
            : NULL;

    return run && run->info.namespace_key == namespace_key;
}

/* Every attempt that the worker holds is lost. They are noted first: the next one to try may come
   at once. Without memory for the notes their leases find them. */
int64_t hf_errand_attempts_give_up(hf_core *core, int64_t namespace_key, hf_slice worker,
                                   bool unheard)
{
    uint64_t *held = hf_alloc_array(hf_map_int_count(core->jobs) + 1, sizeof(*held));
    size_t count = 0;
    size_t at = 0;
    uint64_t key;
    void *item;

    while (held && hf_map_int_next(core->jobs, &at, &key, &item))
        if (attempt_held(core, item, namespace_key, worker, unheard))
            held[count++] = key;
    for (size_t i = 0; i < count; i++)
        hf_attempt_lost(core, hf_map_int_get(core->jobs, held[i]));
    hf_alloc_free(held);
    return (int64_t)count;
}

/* What the desk says of the attempt, in the job's memory. False: there is none left. */
static bool start_describe(live_run *run, core_start *start)
{
    hf_errand *errand = &start->errand;
    hf_job *job = start->job;
    hf_slice queue = job->queue.ptr ? job->queue : run->info.queue;

    if (errand->core)
        return true;
    hf_list_init(&errand->place);
    errand->kind = HF_TASK_ACTIVITY;
    errand->run = run->key;
    errand->activity = job->activity;
    errand->namespace_key = run->info.namespace_key;
    errand->queue = hf_slice_from(hf_mem_text(job->mem, queue), queue.len);
    errand->type = job->name;
    errand->instance_id =
        hf_slice_from(hf_mem_text(job->mem, run->info.instance_id), run->info.instance_id.len);
    errand->run_id = hf_slice_of(run->run_id);
    memcpy(errand->task_id, job->idempotency_key, sizeof(errand->task_id));
    if (!errand->queue.ptr || !errand->instance_id.ptr)
        return false;
    errand->core = run->core;
    return true;
}

/* Offered at most once at a time; a start that a worker waits for already keeps that worker. */
bool hf_errand_place(live_run *run, core_start *start)
{
    hf_core *core = run->core;
    hf_err err;

    if (!core->o.desk)
        return false;
    if (start->waiter)
        return true;
    if (!start_describe(run, start))
        hf_core_fail(core, hf_err_nomem(&err, "a task"), &err);
    else if (hf_desk_offer(core->o.desk, &start->errand, (hf_slice){0}, &start->waiter, &err))
        hf_core_fail(core, HF_NOMEM, &err);
    return start->waiter != NULL;
}

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

static hf_value attempt_task(const live_run *run, const hf_job *job, const hf_waiter *waiter)
{
    hf_mem *mem = waiter->mem;
    hf_value_list *task =
        hf_errand_task(run, HF_TASK_ACTIVITY, waiter, job->queue.ptr ? job->queue : run->info.queue,
                       job->lease_until_us);
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

void hf_errand_start(live_run *run, core_start *start)
{
    hf_core *core = run->core;
    hf_waiter *waiter = start->waiter;
    hf_job *job = start->job;
    hf_value task;
    hf_err err = {0};

    start->waiter = NULL;
    job->far = true;
    job->lease_us =
        waiter->lease_us ? waiter->lease_us : hf_limit_us(HF_LIMIT_ACTIVITY_LEASE_SECONDS);
    job->lease_until_us = hf_core_now(core) + job->lease_us;
    job->owner = hf_slice_from(hf_mem_text(job->mem, waiter->worker), waiter->worker.len);
    if (!job->owner.ptr || hf_map_int_put(core->jobs, (uint64_t)job->activity, job, NULL, &err)) {
        (void)waiter->got(waiter, NULL);
        hf_job_free(job);
        hf_core_fail(core, HF_NOMEM, &err);
        return;
    }
    hf_attempt_arm(core, job);
    task = attempt_task(run, job, waiter);
    if (!waiter->got(waiter, task) || !task)
        hf_attempt_lost(core, job);
}

void hf_errand_release(hf_core *core, core_start *start)
{
    hf_waiter *waiter = start->waiter;

    start->waiter = NULL;
    if (!core->o.desk)
        return;
    if (start->errand.core)
        hf_desk_withdraw(core->o.desk, &start->errand);
    hf_errand_send_back(core, waiter);
}

hf_status hf_errand_found(live_run *run, hf_job *job, hf_slice owner, hf_err *err)
{
    hf_core *core = run->core;
    hf_status st;

    if (owner.len)
        job->owner = hf_slice_from(hf_mem_text(job->mem, owner), owner.len);
    if (owner.len && !job->owner.ptr)
        return hf_err_nomem(err, "an attempt");
    job->far = true;
    job->unheard = true;
    job->lease_us = hf_limit_us(HF_LIMIT_ACTIVITY_LEASE_SECONDS);
    job->lease_until_us = hf_core_now(core) + job->lease_us;
    st = hf_map_int_put(core->jobs, (uint64_t)job->activity, job, NULL, err);
    if (!st)
        hf_attempt_arm(core, job);
    return st;
}

bool hf_errand_lost(const hf_core *core, const hf_job *job)
{
    return job->far && job->lease_until_us <= hf_core_now(core);
}

void hf_errand_reported(hf_job *job, hf_status st, const char *reason)
{
    hf_ticket *ticket = job->ticket;

    job->ticket = NULL;
    if (ticket)
        hf_ticket_end(ticket, st, reason, "the attempt is over");
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
    if (!hf_run_base_get(ticket->core->db, job->run, &base, &err) && base.closed_us != HF_NONE)
        hf_ticket_end(ticket, HF_REJECTED, "run_closed", "the run is closed");
    else
        hf_ticket_elsewhere(ticket);
}

void hf_errand_attempt_report(hf_core *core, hf_ticket *ticket)
{
    hf_job *job = hf_map_int_get(core->jobs, (uint64_t)ticket->key);
    live_run *run = job && job->far ? hf_core_live(core, job->run) : NULL;

    if (!run && hf_whereabouts_elsewhere(core, ticket)) {
        hf_ticket_elsewhere(ticket);
        return;
    }
    if (!run || run->info.namespace_key != ticket->namespace_key) {
        hf_ticket_end(ticket, HF_REJECTED, "attempt_closed",
                      "nothing is known of a running attempt");
        return;
    }
    if (job->count.attempt != ticket->attempt ||
        (job->owner.ptr && ticket->worker.ptr && !hf_slice_equal(job->owner, ticket->worker))) {
        hf_ticket_end(ticket, HF_REJECTED, "stale_attempt", "another attempt is running");
        return;
    }
    job->unheard = false;
    if (ticket->what == HF_TICKET_BEAT) {
        job->lease_until_us = hf_core_now(core) + job->lease_us;
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
    const hf_db_value params[] = {hf_db_int(ticket->key), hf_db_int(ticket->namespace_key)};
    hf_db_cursor *cursor = NULL;
    live_run *run = NULL;
    bool row = false;
    hf_err err;

    if (ticket->kind == HF_TASK_WORKFLOW || hf_map_int_get(core->jobs, (uint64_t)ticket->key) ||
        ticket->early++ >= EARLY_TIMES)
        return false;
    if (!hf_db_query(core->db, HF_STMT_ACTIVITY_FIND, params, 2, &cursor, &err) &&
        !hf_db_step(cursor, &row, &err) && row &&
        hf_db_column_int(cursor, 6) == HF_ACTIVITY_STATUS_RUNNING &&
        hf_db_column_int(cursor, 4) == ticket->attempt &&
        (!core->o.shards ||
         hf_shards_epoch(core->o.shards, hf_db_column_int(cursor, 9)) != HF_NONE))
        run = hf_core_live(core, hf_db_column_int(cursor, 1));
    hf_db_end(cursor);
    if (!run || run->replay)
        return false;
    hf_core_ready(core, run);
    return true;
}

bool hf_errand_attempt_take(live_run *run, int64_t activity, hf_waiter *waiter)
{
    core_start *start = hf_attempt_waiting(run, activity);

    if (!start || start->waiter)
        return false;
    start->waiter = waiter;
    hf_core_ready(run->core, run);
    return true;
}
