/* errand.c: see errand.h. */
#include "engine/errand.h"

#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/value.h"
#include "engine/attempt.h"
#include "engine/inquiry.h"
#include "engine/whereabouts.h"
#include "model/envelope.h"
#include "store/db.h"

#define LEASE_WORKFLOW_US INT64_C(60000000)
#define LEASE_ACTIVITY_US INT64_C(300000000)
#define RETRY_FIRST_US    INT64_C(1000000)
#define RETRY_MOST_US     INT64_C(60000000)
#define STICKY_US         INT64_C(300000000) /* a worker that had the run may know it so long */

enum { EARLY_TIMES = 100 }; /* turns of the core that a report waits for its run */

static void ticket_end(hf_ticket *ticket, hf_status st, const char *reason, const char *sentence)
{
    ticket->status = st ? hf_err_set(&ticket->err, st, "%s: %s", reason, sentence) : HF_OK;
    ticket->done(ticket);
}

/* Not a refusal: whoever has the run hears it, or says what became of it. */
static void elsewhere_tell(hf_ticket *ticket)
{
    ticket_end(ticket, HF_RETRY, "task_elsewhere",
               "the run is not with this server, or not any more: say it again");
}

static void id_print(int64_t time_us, int64_t key, uint32_t counter,
                     char out_text[HF_ULID_TEXT_SIZE])
{
    hf_ulid id = hf_decide_id(time_us, key, counter);

    hf_ulid_print(&id, out_text);
}

static hf_value id_value(hf_mem *mem, int64_t time_us, int64_t key, uint32_t counter)
{
    char text[HF_ULID_TEXT_SIZE];

    id_print(time_us, key, counter, text);
    return hf_value_string(mem, hf_slice_of(text));
}

static void text_set(hf_value_list *object, hf_mem *mem, const char *key, hf_slice text)
{
    hf_value_set(object, hf_slice_of(key), hf_value_string(mem, text));
}

static void int_set(hf_value_list *object, hf_mem *mem, const char *key, int64_t number)
{
    hf_value_set(object, hf_slice_of(key), hf_value_int(mem, number));
}

/* What both kinds of tasks say. */
static hf_value_list *task_begin(const live_run *run, hf_task_kind kind, const hf_waiter *waiter,
                                 hf_slice queue, int64_t until_us)
{
    hf_mem *mem = waiter->mem;
    hf_value_list *task = hf_value_object(mem);

    text_set(task, mem, "kind",
             kind == HF_TASK_WORKFLOW ? HF_SLICE("workflow") : HF_SLICE("activity"));
    text_set(task, mem, "workflow_id", run->info.instance_id);
    text_set(task, mem, "run_id", hf_slice_of(run->run_id));
    text_set(task, mem, "workflow_type", run->info.type);
    text_set(task, mem, "task_queue", queue);
    text_set(task, mem, "lease_owner", waiter->worker);
    int_set(task, mem, "lease_expires_at", until_us);
    return task;
}

/* ---- runs whose code is elsewhere */

static bool run_is_far(const live_run *run)
{
    return run->far && run->replay && hf_replay_is_far(run->replay);
}

bool hf_errand_wanted(const live_run *run)
{
    int64_t seen;

    if (!run_is_far(run))
        return false;
    seen = run->far->answer ? run->far->answer->answer.seen_seq : run->far->seen_seq;
    return hf_replay_news(run->replay) > seen;
}

static hf_value run_task(live_run *run, const hf_waiter *waiter)
{
    hf_mem *mem = waiter->mem;
    hf_value_list *task =
        task_begin(run, HF_TASK_WORKFLOW, waiter, run->info.queue, run->far->lease.until_us);
    const hf_open_message *update = NULL;
    int64_t update_seq = hf_replay_open_update(run->replay);

    hf_value_set(task, HF_SLICE("task_id"), id_value(mem, run->info.created_us, run->key, 1));
    int_set(task, mem, "workflow_task_attempt", run->far->lease.attempt);
    int_set(task, mem, "last_history_sequence", run->far->lease.seen_seq);
    int_set(task, mem, "known_history_sequence", run->far->lease.known_seq);
    text_set(task, mem, "sticky_replay_mode",
             run->far->lease.sticky ? HF_SLICE("sticky_hit_expected") : HF_SLICE("cold_replay"));
    if (update_seq)
        update = hf_live_message(run, update_seq);
    if (update) {
        char text[HF_ULID_TEXT_SIZE];

        hf_ulid_print(&update->command_id, text);
        text_set(task, mem, "workflow_update_id", hf_slice_of(text));
    }
    return hf_value_finish(task);
}

/* The worker that had the run last, while it may still know it; ptr NULL: nobody. */
static hf_slice sticky_worker(const hf_core *core, const live_run *run)
{
    bool fresh =
        run->far->lease.attempt > 0 && hf_core_now(core) - run->far->lease.taken_us < STICKY_US;

    return fresh ? hf_slice_of(run->far->lease.owner) : (hf_slice){0};
}

static bool lease_take(hf_core *core, live_run *run, const hf_waiter *waiter)
{
    const core_alarm end = {.kind = CORE_ALARM_ERRAND, .run = run->key, .key = -run->key};
    int64_t lease_us = waiter->lease_us ? waiter->lease_us : LEASE_WORKFLOW_US;

    if (waiter->worker.len >= sizeof(run->far->lease.owner))
        return false;
    run->far->lease.sticky = hf_slice_equal(sticky_worker(core, run), waiter->worker);
    run->far->lease.known_seq = run->far->lease.sticky ? run->far->lease.seen_seq : 0;
    memcpy(run->far->lease.owner, waiter->worker.ptr, waiter->worker.len);
    run->far->lease.owner[waiter->worker.len] = '\0';
    run->far->lease.lease_us = lease_us;
    run->far->lease.taken_us = hf_core_now(core);
    run->far->lease.until_us = run->far->lease.taken_us + lease_us;
    run->far->lease.attempt++;
    run->far->lease.seen_seq = run->base.last_seq;
    run->far->lease.held = hf_core_alarm_move(core, &end, run->far->lease.until_us);
    if (run->far->lease.held)
        hf_replay_handed(run->replay, run->far->lease.seen_seq);
    return run->far->lease.held;
}

/* Hands the run to the worker; false: the worker is gone, or was sent away for want of memory. */
static bool run_hand(hf_core *core, live_run *run, hf_waiter *waiter)
{
    hf_value task = NULL;
    bool took;

    if (lease_take(core, run, waiter))
        task = run_task(run, waiter);
    took = waiter->got(waiter, task) && task;
    if (!took)
        run->far->lease.held = false;
    return took;
}

static hf_slice text_put(char **at, hf_slice text)
{
    hf_slice copy = hf_slice_from(*at, text.len);

    memcpy(*at, text.ptr, text.len);
    *at += text.len;
    return copy;
}

/* What the desk says of the run; the same for all its tasks. False: no memory. */
static bool run_describe(hf_core *core, live_run *run)
{
    hf_errand *errand = &run->far->errand;
    const hf_decide_run *info = &run->info;
    char *at;

    if (run->far->texts)
        return true;
    at = hf_alloc(info->queue.len + info->type.len + info->instance_id.len);
    if (!at)
        return false;
    run->far->texts = at;
    errand->kind = HF_TASK_WORKFLOW;
    errand->core = core;
    errand->run = run->key;
    errand->namespace_key = info->namespace_key;
    errand->queue = text_put(&at, info->queue);
    errand->type = text_put(&at, info->type);
    errand->instance_id = text_put(&at, info->instance_id);
    errand->run_id = hf_slice_of(run->run_id);
    id_print(info->created_us, run->key, 1, errand->task_id);
    return true;
}

/* Nothing for a worker after all: it goes on waiting. NULL is allowed. */
static void waiter_return(hf_core *core, hf_waiter *waiter)
{
    hf_err err;

    if (waiter && (waiter->once || hf_errand_ask(core->o.desk, waiter, &err)))
        (void)waiter->got(waiter, NULL);
}

void hf_errand_dispatch(hf_core *core, live_run *run)
{
    hf_waiter *waiter = run->far ? run->far->waiter : NULL;
    hf_err err;

    if (!run->far || run->dirty)
        return;
    run->far->waiter = NULL;
    if (run->paused || run->far->answer || run->far->lease.held || !hf_errand_wanted(run) ||
        run->far->lease.again_us > hf_core_now(core)) {
        waiter_return(core, waiter);
        return;
    }
    if (!run_describe(core, run)) {
        waiter_return(core, waiter);
        hf_core_fail(core, hf_err_nomem(&err, "a task"), &err);
        return;
    }
    while (!waiter || !run_hand(core, run, waiter)) {
        if (hf_desk_offer(core->o.desk, &run->far->errand, sticky_worker(core, run), &waiter,
                          &err)) {
            hf_core_fail(core, HF_NOMEM, &err);
            return;
        }
        if (!waiter)
            return; /* it lies there */
    }
}

void hf_errand_turn(live_run *run)
{
    if (run->far && run->far->answer)
        hf_replay_answered(run->replay, &run->far->answer->answer);
}

hf_status hf_errand_keep_task(live_run *run, hf_decide *decide, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(decide->unit);
    int64_t task = 0;
    hf_status st;

    if (!hf_errand_wanted(run)) {
        hf_unit_row(decide->unit, 0, hf_row_task_done(mem, run->key, run->base.message_seq));
        return HF_OK;
    }
    st = hf_keys_take(decide->keys, 1, &task, err);
    if (!st)
        hf_unit_row(
            decide->unit, 0,
            hf_row_task_tell(mem, task, run->key, HF_NONE, HF_NONE, HF_NONE, decide->now_us));
    return st;
}

static void lease_end(live_run *run)
{
    run->far->lease.held = false;
    run->far->lease.again_us = 0;
    run->far->lease.failures = 0;
    hf_core_disarm(run->core, -run->key);
}

void hf_errand_refuse(live_run *run, const hf_err *why)
{
    hf_ticket *ticket = run->far->answer;

    run->far->answer = NULL;
    if (why->status == HF_CONFLICT) { /* the code has to see more: another task, at once */
        lease_end(run);
        ticket_end(ticket, HF_REJECTED, "history_moved", why->text);
        return;
    }
    ticket->status = hf_err_set(&ticket->err, HF_INVALID, "%s", why->text);
    ticket->done(ticket);
}

void hf_errand_answered(live_run *run)
{
    hf_ticket *ticket = run->far ? run->far->answer : NULL;

    if (!ticket)
        return;
    run->far->answer = NULL;
    run->far->seen_seq = ticket->answer.seen_seq;
    lease_end(run);
    ticket_end(ticket, HF_OK, "", "");
}

hf_status hf_errand_loaded(live_run *run, hf_err *err)
{
    const hf_db_value key = hf_db_int(run->key);
    bool found = false;
    int64_t task = 0;
    hf_status st;

    if (!hf_replay_is_far(run->replay))
        return HF_OK;
    if (!run->far) {
        run->far = hf_alloc(sizeof(*run->far));
        if (!run->far)
            return hf_err_nomem(err, "a live run");
        hf_list_init(&run->far->errand.place);
    }
    if (run->far->seen_known)
        return HF_OK;
    st = hf_db_number(run->core->db, HF_STMT_TASK_OF_RUN, &key, 1, &found, &task, err);
    run->far->seen_seq = found ? 0 : hf_replay_news(run->replay);
    run->far->seen_known = !st;
    return st;
}

void hf_errand_gone(live_run *run)
{
    hf_ticket *ticket = run->far ? run->far->answer : NULL;
    hf_waiter *waiter = run->far ? run->far->waiter : NULL;

    if (!run->far)
        return;
    hf_desk_withdraw(run->core->o.desk, &run->far->errand);
    hf_core_disarm(run->core, -run->key);
    hf_alloc_free(run->far->texts);
    hf_alloc_free(run->far);
    run->far = NULL;
    waiter_return(run->core, waiter);
    if (ticket && run->elsewhere)
        elsewhere_tell(ticket);
    else if (ticket)
        ticket_end(ticket, HF_REJECTED, "run_closed", "the run is closed");
}

/* Whether an attempt is the worker's, and not reported on. */
static bool attempt_held(hf_core *core, const hf_job *job, int64_t namespace_key, hf_slice worker)
{
    live_run *run = job->far && !job->ticket && hf_slice_equal(job->owner, worker)
                        ? hf_core_live(core, job->run)
                        : NULL;

    return run && run->info.namespace_key == namespace_key;
}

/* Every attempt that the worker holds is lost. They are noted first: the next one to try may come
   at once. Without memory for the notes their leases find them. */
static int64_t attempts_give_up(hf_core *core, int64_t namespace_key, hf_slice worker)
{
    uint64_t *held = hf_alloc_array(hf_map_int_count(core->jobs) + 1, sizeof(*held));
    size_t count = 0;
    size_t at = 0;
    uint64_t key;
    void *item;

    while (held && hf_map_int_next(core->jobs, &at, &key, &item))
        if (attempt_held(core, item, namespace_key, worker))
            held[count++] = key;
    for (size_t i = 0; i < count; i++)
        hf_attempt_lost(core, hf_map_int_get(core->jobs, held[i]));
    hf_alloc_free(held);
    return (int64_t)count;
}

int64_t hf_errand_give_up(hf_core *core, int64_t namespace_key, hf_slice worker)
{
    int64_t count = attempts_give_up(core, namespace_key, worker);
    size_t at = 0;
    uint64_t key;
    void *item;

    while (hf_map_int_next(core->runs, &at, &key, &item)) {
        live_run *run = item;

        if (!run->far || !run->far->lease.held || run->far->answer ||
            run->info.namespace_key != namespace_key ||
            !hf_slice_equal(worker, hf_slice_of(run->far->lease.owner)))
            continue;
        lease_end(run);
        hf_core_ready(core, run);
        count++;
    }
    return count;
}

/* ---- attempts */

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
        task_begin(run, HF_TASK_ACTIVITY, waiter, job->queue.ptr ? job->queue : run->info.queue,
                   job->lease_until_us);
    hf_value arguments = NULL;
    hf_ulid id;

    text_set(task, mem, "task_id", hf_slice_of(job->idempotency_key));
    text_set(task, mem, "idempotency_key", hf_slice_of(job->idempotency_key));
    if (hf_ulid_parse(hf_slice_of(job->idempotency_key), &id)) {
        uint64_t key = 0;
        uint32_t counter = 0;
        int64_t time_ms = 0;

        hf_ulid_parts(&id, &time_ms, &key, &counter);
        hf_value_set(task, HF_SLICE("activity_attempt_id"),
                     id_value(mem, time_ms * 1000, job->activity, (uint32_t)job->count.attempt));
    }
    int_set(task, mem, "attempt_number", job->count.attempt);
    text_set(task, mem, "activity_type", job->name);
    text_set(task, mem, "stored_codec",
             job->input_codec == HF_PAYLOAD_CODEC_AVRO ? HF_SLICE("avro") : HF_SLICE("json"));
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
    job->lease_us = waiter->lease_us ? waiter->lease_us : LEASE_ACTIVITY_US;
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
    waiter_return(core, waiter);
}

hf_status hf_errand_found(live_run *run, hf_job *job, hf_err *err)
{
    hf_core *core = run->core;
    hf_status st;

    job->far = true;
    job->lease_us = LEASE_ACTIVITY_US;
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
        ticket_end(ticket, st, reason, "the attempt is over");
}

/* ---- messages */

typedef struct errand_message {
    hf_core_call call;
    hf_errand errand;
    hf_waiter *waiter;
} errand_message;

/* Somebody asked for work that lay on the desk. It may be gone meanwhile. */
static void errand_take(hf_core *core, hf_core_call *call)
{
    errand_message *message = (errand_message *)call;
    hf_waiter *waiter = message->waiter;
    live_run *run = core ? hf_map_int_get(core->runs, (uint64_t)message->errand.run) : NULL;
    core_start *start = NULL;
    bool taken = false; /* the waiter is somebody else's now */

    if (!core) {
        (void)waiter->got(waiter, NULL);
        hf_alloc_free(message);
        return;
    }
    if (run && message->errand.kind == HF_TASK_WORKFLOW && hf_errand_wanted(run) && !run->dirty &&
        !run->far->lease.held && !run->far->answer) {
        taken = true;
        if (!run_hand(core, run, waiter)) /* the worker is gone: offered again */
            hf_errand_dispatch(core, run);
    }
    if (run && message->errand.kind == HF_TASK_WORKFLOW && !run->replay && run->far &&
        !run->far->waiter) {
        taken = true;
        run->far->waiter = waiter;
        hf_core_ready(core, run);
    }
    if (run && message->errand.kind == HF_TASK_ACTIVITY) {
        start = hf_attempt_waiting(run, message->errand.activity);
        if (start && !start->waiter) {
            start->waiter = waiter;
            hf_core_ready(core, run);
            taken = true;
        }
    }
    if (!taken)
        waiter_return(core, waiter);
    hf_alloc_free(message);
}

hf_status hf_errand_ask(hf_desk *desk, hf_waiter *waiter, hf_err *err)
{
    errand_message *message = hf_alloc(sizeof(*message));
    bool found = false;
    hf_value task = NULL;
    hf_status st;

    if (!message)
        return hf_err_nomem(err, "a poll");
    message->waiter = waiter;
    message->call.run = errand_take;
    do {
        st = hf_desk_ask(desk, waiter, &found, &message->errand, err);
        if (st || !found || !message->errand.inquiries)
            break;
        task = hf_inquiry_take(message->errand.inquiries, message->errand.activity, waiter);
        if (task && !waiter->got(waiter, task))
            hf_inquiry_return(message->errand.inquiries, message->errand.activity);
        found = false; /* nothing for a core */
    } while (!task);   /* whoever asked has left */
    if (!st && found)
        st = hf_core_call_post(message->errand.core, &message->call, err);
    if (st || !found)
        hf_alloc_free(message);
    return st;
}

hf_status hf_errand_claim(hf_desk *desk, hf_waiter *waiter, int64_t run, int64_t activity,
                          hf_err *err)
{
    errand_message *message = hf_alloc(sizeof(*message));
    hf_status st;

    if (!message)
        return hf_err_nomem(err, "a claim");
    message->waiter = waiter;
    message->call.run = errand_take;
    st = hf_desk_claim(desk, waiter, run, activity, &message->errand)
             ? hf_core_call_post(message->errand.core, &message->call, err)
             : hf_err_set(err, HF_NOTFOUND, "task_not_found: no such task is to be had");
    if (st)
        hf_alloc_free(message);
    return st;
}

/* ---- reports */

static const char *lease_wrong(const hf_core *core, const live_run *run, const hf_ticket *ticket)
{
    if (!run->far->lease.held || run->far->answer)
        return "task_not_leased";
    if (ticket->worker.ptr && !hf_slice_equal(ticket->worker, hf_slice_of(run->far->lease.owner)))
        return "lease_owner_mismatch";
    if (ticket->attempt != run->far->lease.attempt)
        return "workflow_task_attempt_mismatch";
    return run->far->lease.until_us <= hf_core_now(core) ? "lease_expired" : NULL;
}

/* It is handed out again, later each time. */
static void task_return(hf_core *core, live_run *run)
{
    const core_alarm again = {.kind = CORE_ALARM_ERRAND, .run = run->key, .key = -run->key};
    int64_t pause_us = RETRY_FIRST_US
                       << (run->far->lease.failures < 6 ? run->far->lease.failures : 6);

    run->far->lease.held = false;
    run->far->lease.failures++;
    run->far->lease.again_us =
        hf_core_now(core) + (pause_us < RETRY_MOST_US ? pause_us : RETRY_MOST_US);
    (void)hf_core_alarm_move(core, &again, run->far->lease.again_us);
}

static void run_report(hf_core *core, hf_ticket *ticket)
{
    live_run *run = hf_map_int_get(core->runs, (uint64_t)ticket->key);
    bool there = run && run->far && run->info.namespace_key == ticket->namespace_key;
    const char *wrong = there ? lease_wrong(core, run, ticket) : NULL;
    const core_alarm end = {.kind = CORE_ALARM_ERRAND, .run = ticket->key, .key = -ticket->key};

    if ((!there || wrong) && hf_whereabouts_elsewhere(core, ticket)) {
        elsewhere_tell(ticket);
        return;
    }
    if (!there) {
        ticket_end(ticket, HF_REJECTED, "task_not_leased", "no worker holds this task");
        return;
    }
    if (wrong) {
        ticket_end(ticket, HF_REJECTED, wrong, "the task is not this worker's");
        return;
    }
    switch (ticket->what) {
    case HF_TICKET_ANSWER:
        ticket->answer.seen_seq = run->far->lease.seen_seq;
        run->far->answer = ticket;
        hf_core_ready(core, run);
        return;
    case HF_TICKET_RETURN:
        task_return(core, run);
        break;
    case HF_TICKET_BEAT:
    case HF_TICKET_RESULT:
    case HF_TICKET_FAILURE:
        run->far->lease.until_us = hf_core_now(core) + run->far->lease.lease_us;
        (void)hf_core_alarm_move(core, &end, run->far->lease.until_us);
        break;
    }
    if (ticket->mem) {
        ticket->instance_id = hf_mem_text(ticket->mem, run->info.instance_id);
        ticket->run_id = hf_mem_text(ticket->mem, hf_slice_of(run->run_id));
    }
    ticket_end(ticket, HF_OK, "", "");
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
        ticket_end(ticket, HF_REJECTED, "run_closed", "the run is closed");
    else
        elsewhere_tell(ticket);
}

static void attempt_report(hf_core *core, hf_ticket *ticket)
{
    hf_job *job = hf_map_int_get(core->jobs, (uint64_t)ticket->key);
    live_run *run = job && job->far ? hf_core_live(core, job->run) : NULL;

    if (!run && hf_whereabouts_elsewhere(core, ticket)) {
        elsewhere_tell(ticket);
        return;
    }
    if (!run || run->info.namespace_key != ticket->namespace_key) {
        ticket_end(ticket, HF_REJECTED, "attempt_closed", "nothing is known of a running attempt");
        return;
    }
    if (job->count.attempt != ticket->attempt ||
        (job->owner.ptr && ticket->worker.ptr && !hf_slice_equal(job->owner, ticket->worker))) {
        ticket_end(ticket, HF_REJECTED, "stale_attempt", "another attempt is running");
        return;
    }
    if (ticket->what == HF_TICKET_BEAT) {
        job->lease_until_us = hf_core_now(core) + job->lease_us;
        hf_pool_beat_far(core->pool, job, ticket->progress);
        hf_attempt_arm(core, job);
        ticket_end(ticket, HF_OK, "", "");
        return;
    }
    if (!result_keep(job, ticket)) {
        ticket_end(ticket, HF_NOMEM, "no_memory", "try again");
        return;
    }
    job->ticket = ticket;
    job->dropped = report_drop;
    hf_core_job_ended(core, job);
}

/* After a restart a worker may report before the run of its attempt is back in memory: then the run
   is to have its turn, and the report comes again. */
static bool attempt_is_early(hf_core *core, hf_ticket *ticket)
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

typedef struct report_message {
    hf_core_call call;
    hf_ticket *ticket;
} report_message;

static void report_take(hf_core *core, hf_core_call *call)
{
    report_message *message = (report_message *)call;
    hf_ticket *ticket = message->ticket;
    hf_err err;

    if (core && attempt_is_early(core, ticket) && !hf_core_call_post(core, call, &err))
        return;
    hf_alloc_free(message);
    ticket->core = core;
    if (!core)
        ticket_end(ticket, HF_STOPPED, "stopped", "the engine is closing");
    else if (ticket->kind == HF_TASK_WORKFLOW)
        run_report(core, ticket);
    else
        attempt_report(core, ticket);
}

hf_status hf_errand_report(hf_core *core, hf_ticket *ticket, hf_err *err)
{
    report_message *message = hf_alloc(sizeof(*message));
    hf_status st;

    if (!message)
        return hf_err_nomem(err, "a report");
    message->call.run = report_take;
    message->ticket = ticket;
    st = hf_core_call_post(core, &message->call, err);
    if (st)
        hf_alloc_free(message);
    return st;
}
