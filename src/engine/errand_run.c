/* errand_run.c: runs whose code is in another process: when one goes to the desk, which worker
   holds it and until when, and what its answer becomes. */
#include <string.h>

#include "base/alloc.h"
#include "base/value.h"
#include "engine/errand_impl.h"
#include "engine/whereabouts.h"
#include "model/limit.h"
#include "store/db.h"

#define RETRY_FIRST_US INT64_C(1000000)
#define RETRY_MOST_US  INT64_C(60000000)

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
        hf_errand_task(run, HF_TASK_WORKFLOW, waiter, run->info.queue, run->far->lease.until_us);
    const hf_open_message *update = NULL;
    int64_t update_seq = hf_replay_open_update(run->replay);

    hf_value_set(task, HF_SLICE("task_id"), hf_errand_id(mem, run->info.created_us, run->key, 1));
    hf_value_set_int(task, "workflow_task_attempt", run->far->lease.attempt);
    hf_value_set_int(task, "last_history_sequence", run->far->lease.seen_seq);
    hf_value_set_int(task, "known_history_sequence", run->far->lease.known_seq);
    hf_value_set_text(task, "sticky_replay_mode",
                      run->far->lease.sticky ? HF_SLICE("sticky_hit_expected")
                                             : HF_SLICE("cold_replay"));
    if (update_seq)
        update = hf_live_message(run, update_seq);
    if (update) {
        char text[HF_ULID_TEXT_SIZE];

        hf_ulid_print(&update->command_id, text);
        hf_value_set_text(task, "workflow_update_id", hf_slice_of(text));
    }
    return hf_value_finish(task);
}

/* The worker that had the run last, while it may still know it; ptr NULL: nobody. */
static hf_slice sticky_worker(const hf_core *core, const live_run *run)
{
    bool fresh = run->far->lease.attempt > 0 && hf_core_now(core) - run->far->lease.taken_us <
                                                    hf_limit_us(HF_LIMIT_STICKY_TTL_SECONDS);

    return fresh ? hf_slice_of(run->far->lease.owner) : (hf_slice){0};
}

static bool lease_take(hf_core *core, live_run *run, const hf_waiter *waiter)
{
    const core_alarm end = {.kind = CORE_ALARM_ERRAND, .run = run->key, .key = -run->key};
    int64_t lease_us =
        waiter->lease_us ? waiter->lease_us : hf_limit_us(HF_LIMIT_PROTOCOL_TASK_LEASE_SECONDS);

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

/* Whether the run is for workers of its build alone: one that was promoted at its queue. Others
   carry a build of a program that started them, which says nothing of workers. */
static bool run_is_pinned(hf_core *core, const live_run *run)
{
    const hf_db_value params[] = {hf_db_int(run->info.namespace_key), hf_db_text(run->info.queue),
                                  hf_db_text(run->info.compatibility)};
    int64_t promoted_us = 0;
    bool found = false;
    hf_err err;

    return run->info.compatibility.len &&
           !hf_db_number(core->db, HF_STMT_BUILD_PINS, params, 3, &found, &promoted_us, &err) &&
           found;
}

/* What the desk says of the run; the same for all its tasks. False: no memory. */
static bool run_describe(hf_core *core, live_run *run)
{
    hf_errand *errand = &run->far->errand;
    const hf_decide_run *info = &run->info;
    hf_ulid id;
    char *at;

    if (run->far->texts)
        return true;
    at = hf_alloc(info->queue.len + info->type.len + info->instance_id.len +
                  info->compatibility.len);
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
    if (run_is_pinned(core, run))
        errand->build = text_put(&at, info->compatibility);
    id = hf_ulid_form(info->created_us, run->key, 1);
    hf_ulid_print(&id, errand->task_id);
    return true;
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
        hf_errand_send_back(core, waiter);
        return;
    }
    if (!run_describe(core, run)) {
        hf_errand_send_back(core, waiter);
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
        hf_ticket_end(ticket, HF_REJECTED, "history_moved", why->text);
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
    hf_ticket_end(ticket, HF_OK, "", "");
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
    hf_errand_send_back(run->core, waiter);
    if (ticket && run->elsewhere)
        hf_ticket_elsewhere(ticket);
    else if (ticket)
        hf_ticket_end(ticket, HF_REJECTED, "run_closed", "the run is closed");
}

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

void hf_errand_run_report(hf_core *core, hf_ticket *ticket)
{
    live_run *run = hf_map_int_get(core->runs, (uint64_t)ticket->key);
    bool there = run && run->far && run->info.namespace_key == ticket->namespace_key;
    const char *wrong = there ? lease_wrong(core, run, ticket) : NULL;
    const core_alarm end = {.kind = CORE_ALARM_ERRAND, .run = ticket->key, .key = -ticket->key};

    if ((!there || wrong) && hf_whereabouts_elsewhere(core, ticket)) {
        hf_ticket_elsewhere(ticket);
        return;
    }
    if (!there) {
        hf_ticket_end(ticket, HF_REJECTED, "task_not_leased", "no worker holds this task");
        return;
    }
    if (wrong) {
        hf_ticket_end(ticket, HF_REJECTED, wrong, "the task is not this worker's");
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
        ticket->instance_id = hf_mem_text(ticket->mem, run->far->errand.instance_id);
        ticket->run_id = hf_mem_text(ticket->mem, hf_slice_of(run->run_id));
    }
    hf_ticket_end(ticket, HF_OK, "", "");
}

bool hf_errand_run_take(hf_core *core, live_run *run, hf_waiter *waiter)
{
    if (hf_errand_wanted(run) && !run->dirty && !run->far->lease.held && !run->far->answer) {
        if (!run_hand(core, run, waiter)) /* the worker is gone: offered again */
            hf_errand_dispatch(core, run);
        return true;
    }
    if (run->replay || !run->far || run->far->waiter)
        return false;
    run->far->waiter = waiter;
    hf_core_ready(core, run);
    return true;
}

int64_t hf_errand_runs_give_up(hf_core *core, int64_t namespace_key, hf_slice worker)
{
    int64_t count = 0;
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
