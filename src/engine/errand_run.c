/* errand_run.c: runs whose code is in another process: when one is offered, which worker
   holds it and until when, and what its answer becomes. Of a step machine a task is one step. */
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "base/fault.h"
#include "base/value.h"
#include "engine/errand_impl.h"
#include "engine/machine.h"
#include "engine/shape.h"
#include "engine/sweep.h"
#include "engine/task_fault.h"
#include "engine/whereabouts.h"
#include "model/limit.h"
#include "store/db.h"

/* Numbers of loads have 20 bits, the first of which is set: webhooks put the attempt behind it. */
enum { NUMBER_LEAST = 1 << 19 };

enum { STEP_AGAIN_US = 200000 }; /* after the store or memory had no room for a step */

static bool run_is_far(const live_run *run)
{
    return run->far && run->replay && hf_replay_is_far(run->replay);
}

bool hf_errand_has_answer(const live_run *run)
{
    return run->far && run->far->answer && run->far->answer->what == HF_TICKET_ANSWER;
}

const hf_task_fault *hf_errand_fault(const live_run *run)
{
    bool returned = run->far && run->far->answer && run->far->answer->what == HF_TICKET_RETURN;

    return returned ? run->far->answer->fault : NULL;
}

bool hf_errand_wanted(const live_run *run)
{
    int64_t seen;

    if (!run_is_far(run))
        return false;
    if (run->far->steps)
        return hf_machine_runnable(run);
    seen = hf_errand_has_answer(run) ? run->far->answer->answer.seen_seq : run->far->seen_seq;
    return hf_replay_news(run->replay) > seen;
}

/* Of the task that is offered, or that a worker has. */
static hf_task_key run_key(const live_run *run)
{
    return (hf_task_key){.kind = run->far->steps ? HF_TASK_STEP : HF_TASK_WORKFLOW,
                         .subject = run->key,
                         .attempt = run->far->lease.attempt + !run->far->lease.held,
                         .epoch = run->epoch};
}

static hf_value run_task(live_run *run, hf_value step, hf_mem *mem, int64_t until_us)
{
    hf_value_list *task =
        hf_errand_task(mem, run, step ? HF_TASK_STEP : HF_TASK_WORKFLOW,
                       hf_slice_of(run->far->lease.owner), run->info.queue, until_us);
    const hf_open_message *update = NULL;
    int64_t update_seq = hf_replay_open_update(run->replay);

    hf_value_set(task, HF_SLICE("task_id"),
                 hf_errand_id(mem, run->info.created_us, run->key, run->far->number));
    hf_value_set_int(task, "workflow_task_attempt", run->far->lease.attempt);
    if (step) {
        hf_value_set(task, HF_SLICE("step"), step);
        return hf_value_finish(task);
    }
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

static bool lease_arm(hf_core *core, const live_run *run, int64_t until_us)
{
    const core_alarm end = {.kind = CORE_ALARM_ERRAND, .run = run->key, .key = -run->key};

    return hf_core_alarm_move(core, &end, until_us);
}

static void lease_take(hf_core *core, live_run *run, const hf_task_holder *holder)
{
    run->far->lease.sticky = hf_slice_equal(sticky_worker(core, run), hf_slice_of(holder->worker));
    run->far->lease.known_seq = run->far->lease.sticky ? run->far->lease.seen_seq : 0;
    memcpy(run->far->lease.owner, holder->worker, sizeof(holder->worker));
    run->far->lease.taken_us = hf_core_now(core);
    run->far->lease.attempt++;
    run->far->lease.seen_seq = run->base.last_seq;
    run->far->lease.held = true;
    run->far->lease.lost = false;
    hf_replay_handed(run->replay, run->far->lease.seen_seq);
}

/* What the step is to see cannot be had: another time. */
static void step_later(hf_core *core, live_run *run)
{
    const hf_task_key key = run_key(run);

    hf_matching_withdraw(core->o.matching, &key);
    run->far->offered = false;
    run->far->lease.again_us = hf_core_now(core) + STEP_AGAIN_US;
    (void)lease_arm(core, run, run->far->lease.again_us);
}

/* Hands the run to the worker that claimed it; false: that one is gone, or memory is, and it is to
   be offered again. */
static bool run_hand(hf_core *core, live_run *run, const hf_task_holder *holder)
{
    int64_t lease_us = holder->lease_us ? holder->lease_us : core->o.settings->task_lease_ms * 1000;
    int64_t until_us = hf_core_now(core) + lease_us;
    const hf_task_key key = run_key(run);
    hf_mem *mem = hf_mem_new_small();
    hf_value task = NULL;
    hf_value step = NULL;

    if (run->far->steps) {
        step = mem ? hf_errand_step_value(run, mem, lease_us) : NULL;
        if (!step) {
            hf_mem_free(mem);
            step_later(core, run);
            return true;
        }
    }
    lease_take(core, run, holder);
    if (mem && lease_arm(core, run, until_us))
        task = run_task(run, step, mem, until_us);
    run->far->offered = false;
    run->far->lease.held =
        hf_matching_deliver(core->o.matching, &key, lease_us, until_us, mem, task);
    return run->far->lease.held;
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

/* Its task is not to be had; it need not be offered. */
static void run_withdraw(live_run *run)
{
    const hf_task_key key = run_key(run);

    if (run->far->offered)
        hf_matching_withdraw(run->core->o.matching, &key);
    run->far->offered = false;
}

/* What is printed of an offer while it is made. */
typedef struct run_texts {
    char task_id[HF_ULID_TEXT_SIZE];
    char type[HF_ERRAND_TYPE_SIZE];
} run_texts;

/* What is said of it, partly in the caller's texts. */
static hf_task_offer run_said(const live_run *run, run_texts *texts)
{
    const hf_ulid id = hf_ulid_form(run->info.created_us, run->key, run->far->number);

    hf_ulid_print(&id, texts->task_id);
    return (hf_task_offer){.key = run_key(run),
                           .run = run->key,
                           .shard = run->base.shard,
                           .namespace_key = run->info.namespace_key,
                           .queue = run->info.queue,
                           .type =
                               run->far->steps ? hf_errand_step_type(run, texts->type) : run->code,
                           .workflow_id = run->info.instance_id,
                           .run_id = hf_slice_of(run->run_id),
                           .task_id = hf_slice_of(texts->task_id)};
}

/* *out_claimed: a worker has it. */
static hf_status run_offer(hf_core *core, live_run *run, bool *out_claimed,
                           hf_task_holder *out_holder, hf_err *err)
{
    run_texts texts;
    hf_task_offer offer = run_said(run, &texts);
    hf_status st;

    offer.prefers = sticky_worker(core, run);
    if (!run->far->offered || !run->far->pin_known)
        run->far->pinned = run_is_pinned(core, run);
    run->far->pin_known = true;
    if (run->far->pinned)
        offer.build = run->info.compatibility;
    st = hf_matching_offer(core->o.matching, &offer, out_claimed, out_holder, err);
    run->far->offered = !st;
    return st;
}

static void run_dispatch(hf_core *core, live_run *run, bool wanted)
{
    hf_task_holder holder;
    bool claimed = false;
    hf_err err;

    if (run->paused || run->far->answer || run->far->lease.held || !wanted ||
        run->far->lease.again_us > hf_core_now(core)) {
        run_withdraw(run);
        return;
    }
    do {
        if (run_offer(core, run, &claimed, &holder, &err)) {
            hf_core_fail(core, HF_NOMEM, &err);
            return;
        }
    } while (claimed && !run_hand(core, run, &holder));
}

void hf_errand_dispatch(hf_core *core, live_run *run)
{
    if (run->far && !run->far->steps && !run->dirty)
        run_dispatch(core, run, hf_errand_wanted(run));
}

void hf_errand_step(hf_core *core, live_run *run, bool may)
{
    if (run->far && run->far->steps && !run->dirty)
        run_dispatch(core, run, may);
}

bool hf_errand_stepping(const live_run *run)
{
    return run->far && run->far->steps && (run->far->lease.held || run->far->answer);
}

void hf_errand_turn(live_run *run)
{
    hf_ticket *ticket = run->far ? run->far->answer : NULL;

    if (!hf_errand_has_answer(run))
        return;
    if (run->far->steps) {
        run->far->drafted = hf_errand_step_ended(run, ticket);
        if (!run->far->drafted)
            run->far->answer = NULL;
        return;
    }
    hf_replay_answered(run->replay, &run->far->answer->answer);
    run->far->drafted = true;
}

static void lease_end(live_run *run, hf_task_move how)
{
    const hf_task_key key = run_key(run);

    hf_matching_end(run->core->o.matching, &key, how);
    run->far->lease.held = false;
    run->far->lease.lost = false;
    hf_core_disarm(run->core, -run->key);
    if (how != HF_TASK_EXPIRE)
        run->far->lease.again_us = 0;
}

/* Its holder is held for lost, and may report all the same until another has the task. */
static void lease_lose(live_run *run)
{
    lease_end(run, HF_TASK_EXPIRE);
    run->far->lease.lost = true;
    run->far->losses++;
}

void hf_errand_refuse(live_run *run, const hf_err *why)
{
    hf_ticket *ticket = run->far->answer;

    run->far->answer = NULL;
    if (why->status == HF_CONFLICT) { /* the code has to see more: another task, at once */
        lease_end(run, HF_TASK_WITHDRAW);
        hf_ticket_end(ticket, HF_REJECTED, "history_moved", why->text);
        return;
    }
    ticket->status = hf_err_set(&ticket->err, HF_INVALID, "%s", why->text);
    ticket->done(ticket);
}

void hf_errand_answered(live_run *run)
{
    hf_ticket *ticket =
        hf_errand_has_answer(run) && (run->far->drafted || hf_fault_planted(HF_PLANT_EARLY_ANSWER))
            ? run->far->answer
            : NULL;

    if (!ticket)
        return;
    run->far->answer = NULL;
    run->far->faulty = false;
    run->unshaped = false; /* it was done as what it was handed out as */
    run->far->seen_seq = ticket->answer.seen_seq;
    lease_end(run, HF_TASK_REPORT);
    hf_ticket_end(ticket, HF_OK, "", "");
}

static hf_status far_new(core_far **out_far, hf_err *err)
{
    core_far *far = hf_alloc(sizeof(*far));
    hf_rng rng;
    hf_status st = far ? hf_rng_init_system(&rng, err) : hf_err_nomem(err, "a live run");

    if (st) {
        hf_alloc_free(far);
        return st;
    }
    far->number = NUMBER_LEAST + (uint32_t)hf_rng_below(&rng, NUMBER_LEAST);
    *out_far = far;
    return HF_OK;
}

/* Its type may have become known as a machine's since it was offered. What failed of the tasks that
   it had before says nothing of those that it has now: they are not waited with. Nor does what a
   worker answered to one of them. */
static void far_shape_set(live_run *run)
{
    bool steps = hf_replay_is_machine(run->replay);
    hf_ticket *ticket = run->far->answer;

    if (run->far->steps == steps)
        return;
    run_withdraw(run);
    if (run->far->lease.held)
        lease_end(run, HF_TASK_WITHDRAW);
    run->far->steps = steps;
    run->far->lease.again_us = 0;
    run->far->answer = NULL;
    if (ticket)
        hf_ticket_end(ticket, HF_REJECTED, "task_not_leased", "the run has other tasks by now");
}

hf_status hf_errand_loaded(live_run *run, hf_err *err)
{
    const hf_db_value key = hf_db_int(run->key);
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st;

    if (!hf_replay_is_far(run->replay))
        return HF_OK;
    if (!run->far) {
        st = far_new(&run->far, err);
        if (st)
            return st;
        run->far->offered = !run->core->o.shards; /* it may have rested */
    }
    far_shape_set(run);
    if (run->far->seen_known)
        return HF_OK;
    st = hf_db_query(run->core->db, HF_STMT_TASK_OF_RUN, &key, 1, &cursor, err);
    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && found && hf_db_column_int(cursor, 1) == HF_TASK_TROUBLE_WORKER) {
        run->far->faulty = true;
        run->far->lease.again_us = hf_db_column_int(cursor, 2);
        (void)lease_arm(run->core, run, run->far->lease.again_us);
    }
    hf_db_end(cursor);
    run->far->seen_seq = found ? 0 : hf_replay_news(run->replay);
    run->far->seen_known = !st;
    return st;
}

bool hf_errand_rests(const live_run *run)
{
    return !run->core->o.shards && run->far && !run->far->steps && run->far->offered &&
           !run->far->faulty && !run->far->answer && !run->far->lease.held &&
           run->far->lease.attempt == 0;
}

void hf_errand_rest(live_run *run)
{
    hf_alloc_free(run->far);
    run->far = NULL;
}

live_run *hf_errand_run_wake(hf_core *core, const hf_task_key *key)
{
    live_run *run = core->o.shards ? NULL : hf_core_live(core, key->subject);

    if (!run)
        return NULL;
    run->far = hf_alloc(sizeof(*run->far));
    if (!run->far) {
        hf_core_remove(core, run);
        return NULL;
    }
    run->epoch = key->epoch;
    run->far->lease.attempt = key->attempt - 1;
    run->far->offered = true;
    return run;
}

void hf_errand_gone(live_run *run)
{
    hf_ticket *ticket = run->far ? run->far->answer : NULL;

    if (!run->far)
        return;
    run_withdraw(run);
    if (run->far->lease.held)
        lease_end(run, HF_TASK_WITHDRAW);
    hf_core_disarm(run->core, -run->key);
    hf_alloc_free(run->far);
    run->far = NULL;
    if (ticket && run->elsewhere) {
        ticket->shard = run->base.shard;
        hf_ticket_elsewhere(ticket);
    } else if (ticket) {
        hf_ticket_end(ticket, HF_REJECTED, "run_closed", "the run is closed");
    }
}

static const char *lease_wrong(const hf_core *core, const live_run *run, const hf_ticket *ticket)
{
    const hf_task_key key = run_key(run);
    hf_task_holder holder;

    if (!run->far->lease.held || run->far->answer ||
        !hf_matching_leased(core->o.matching, &key, &holder))
        return "task_not_leased";
    if (ticket->worker.ptr && !hf_slice_equal(ticket->worker, hf_slice_of(holder.worker)))
        return "lease_owner_mismatch";
    if (ticket->attempt != key.attempt || ticket->number != run->far->number)
        return "workflow_task_attempt_mismatch";
    return holder.until_us <= hf_core_now(core) ? "lease_expired" : NULL;
}

static void lease_extend(hf_core *core, const live_run *run, hf_ticket *ticket)
{
    const hf_task_key key = run_key(run);
    hf_task_holder holder;

    if (!hf_matching_leased(core->o.matching, &key, &holder))
        return;
    ticket->until_us = hf_core_now(core) + holder.lease_us;
    (void)hf_matching_extend(core->o.matching, &key, ticket->until_us);
    (void)lease_arm(core, run, ticket->until_us);
}

/* It is handed out again later. */
static void task_return(live_run *run, int64_t again_us)
{
    lease_end(run, HF_TASK_REPORT);
    run->far->lease.again_us = again_us;
    (void)lease_arm(run->core, run, again_us);
}

/* What is logged of it: the first of many, and then fewer and fewer. */
static void fault_log(const live_run *run, const hf_ticket *ticket, int64_t count, int64_t same)
{
    const hf_log_field fields[] = {hf_log_text("instance_id", run->info.instance_id),
                                   hf_log_text("run_id", hf_slice_of(run->run_id)),
                                   hf_log_text("workflow_type", run->info.type),
                                   hf_log_text("worker", hf_slice_of(run->far->lease.owner)),
                                   hf_log_text("failure", ticket->fault->type),
                                   hf_log_text("error", ticket->fault->message),
                                   hf_log_int("count", count)};

    if ((same & (same - 1)) == 0)
        hf_log_write(run->core->o.log, HF_LOG_WARN, "a worker could not do a workflow task", fields,
                     sizeof(fields) / sizeof(fields[0]));
}

/* What its row says so far, in the arena. */
static hf_status body_read(const live_run *run, hf_mem *mem, hf_slice *out_body, hf_err *err)
{
    const hf_db_value key = hf_db_int(run->key);
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st = hf_db_query(run->core->db, HF_STMT_TASK_OF_RUN, &key, 1, &cursor, err);

    *out_body = (hf_slice){0};
    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && found && hf_db_column_int(cursor, 1) == HF_TASK_TROUBLE_WORKER) {
        hf_slice body = hf_db_column_bytes(cursor, 3);

        *out_body = hf_slice_from(hf_mem_text(mem, body), body.len);
        st = out_body->ptr ? HF_OK : hf_err_nomem(err, "a failure");
    }
    hf_db_end(cursor);
    return st;
}

hf_status hf_errand_fault_write(live_run *run, hf_mem *mem, hf_buf *out_body, int64_t *out_again_us,
                                hf_err *err)
{
    const hf_ticket *ticket = run->far->answer;
    int64_t now_us = hf_core_now(run->core);
    hf_slice before;
    int64_t count = 0;
    int64_t same = 0;
    hf_status st = body_read(run, mem, &before, err);

    if (!st)
        st = hf_task_fault_write(mem, before, ticket->fault, hf_slice_of(run->far->lease.owner),
                                 now_us, out_body, &count, &same, err);
    if (st)
        return st;
    fault_log(run, ticket, count, same);
    *out_again_us = run->far->fault_again_us = hf_task_fault_again(count, now_us);
    return HF_OK;
}

void hf_errand_faulted(live_run *run)
{
    hf_ticket *ticket = run->far->answer;

    run->far->answer = NULL;
    if (run->blocked) {
        lease_end(run, HF_TASK_REPORT);
    } else {
        run->far->faulty = true;
        task_return(run, run->far->fault_again_us);
    }
    hf_ticket_end(ticket, HF_OK, "", "");
}

/* The holder was held for lost and lives, and nobody else has the task: its lease begins again. */
static void lease_revive(hf_core *core, live_run *run, const hf_ticket *ticket)
{
    int64_t lease_us = core->o.settings->task_lease_ms * 1000;
    int64_t until_us = hf_core_now(core) + lease_us;
    hf_slice owner = hf_slice_of(run->far->lease.owner);
    run_texts texts;
    hf_task_offer offer;
    hf_err err;

    if (run->dirty || !run->replay || run->far->lease.held || !run->far->lease.lost ||
        ticket->attempt != run->far->lease.attempt || ticket->number != run->far->number ||
        (ticket->worker.ptr && !hf_slice_equal(ticket->worker, owner)))
        return;
    run_withdraw(run);
    run->far->lease.held = true;
    offer = run_said(run, &texts);
    run->far->losses--;
    if (lease_arm(core, run, until_us) &&
        !hf_matching_resume(core->o.matching, &offer, owner, lease_us, until_us, &err))
        run->far->lease.lost = false;
    else
        lease_lose(run);
}

/* Its code killed the worker's process. The row of the run knows more than the run in memory then,
   which is loaded again. */
static void run_crashed(hf_core *core, live_run *run, hf_ticket *ticket)
{
    hf_err err = {0};
    hf_status st;

    lease_end(run, HF_TASK_EXPIRE); /* there is nobody who could report, */
    run->far->lease.taken_us = 0;   /* or who knows the run */
    st = hf_sweep_blame(core, run->key, run->epoch, &err);
    run->look = run->stale = true;
    hf_core_ready(core, run);
    if (st)
        hf_ticket_end(ticket, st, "not_recorded", err.text);
    else
        hf_ticket_end(ticket, HF_OK, "", "");
}

void hf_errand_run_report(hf_core *core, hf_ticket *ticket)
{
    live_run *run = hf_map_int_get(core->runs, (uint64_t)ticket->key);
    bool there = run && run->far && run->info.namespace_key == ticket->namespace_key;
    const char *wrong;
    hf_task_key key;

    if (there)
        lease_revive(core, run, ticket);
    wrong = there ? lease_wrong(core, run, ticket) : NULL;
    key = there ? run_key(run) : (hf_task_key){0};
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
        if (run->far->steps != (ticket->answer.ended != NULL)) {
            hf_ticket_end(ticket, HF_INVALID, "invalid_report",
                          run->far->steps ? "the task is a machine's step, which ends in one way"
                                          : "the task is no machine's step");
            return;
        }
        ticket->answer.seen_seq = run->far->lease.seen_seq;
        run->far->answer = ticket;
        run->far->drafted = false; /* a unit may be under way: it goes into the next */
        hf_core_ready(core, run);
        return;
    case HF_TICKET_RETURN:
        run->far->answer = ticket;
        hf_core_ready(core, run);
        return;
    case HF_TICKET_BEAT:
    case HF_TICKET_RESULT:
    case HF_TICKET_FAILURE:
    case HF_TICKET_BACK:
        lease_extend(core, run, ticket);
        break;
    case HF_TICKET_CRASH:
        run_crashed(core, run, ticket);
        return;
    }
    if (ticket->mem) {
        ticket->instance_id = hf_matching_workflow_id(core->o.matching, &key, ticket->mem);
        ticket->run_id = hf_mem_text(ticket->mem, hf_slice_of(run->run_id));
    }
    hf_ticket_end(ticket, HF_OK, "", "");
}

bool hf_errand_run_claimed(hf_core *core, live_run *run, const hf_task_key *key)
{
    const hf_task_key offered = run->far ? run_key(run) : (hf_task_key){0};

    if (!run->far || !run->far->offered || !hf_task_key_equal(&offered, key))
        return false;
    if (hf_shape_found(core, run)) /* who claims it may have declared what it is */
        run->stale = true;
    if (!run->replay || run->stale)
        hf_core_ready(core, run);
    else if (run->far->steps)
        hf_machine_dispatch(core, run); /* when its unit is under way: after that, here and below */
    else
        hf_errand_dispatch(core, run);
    return true;
}

void hf_errand_run_alarm(hf_core *core, live_run *run)
{
    const hf_task_key key = run->far ? run_key(run) : (hf_task_key){0};
    hf_task_holder holder;

    if (run->far && !run->far->answer && run->far->lease.held &&
        hf_matching_leased(core->o.matching, &key, &holder) && holder.until_us <= hf_core_now(core))
        lease_lose(run); /* another gets the task */
}

bool hf_errand_run_give_up(hf_core *core, const hf_task_lease *lease)
{
    live_run *run = hf_map_int_get(core->runs, (uint64_t)lease->key.subject);
    const hf_task_key key = run && run->far ? run_key(run) : (hf_task_key){0};

    if (!run || !run->far || !run->far->lease.held || run->far->answer ||
        !hf_task_key_equal(&key, &lease->key))
        return false;
    lease_lose(run);
    hf_core_ready(core, run);
    return true;
}

bool hf_errand_run_back(hf_core *core, const hf_ticket *ticket)
{
    live_run *run = hf_map_int_get(core->runs, (uint64_t)ticket->key);

    if (!run || !run->far || run->info.namespace_key != ticket->namespace_key ||
        lease_wrong(core, run, ticket))
        return false;
    lease_end(run, HF_TASK_WITHDRAW);
    run->far->lease.taken_us = 0; /* it has not seen what it was handed */
    hf_core_ready(core, run);
    return true;
}
